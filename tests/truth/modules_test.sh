#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiled modules: their peak, temporaries, bytes and FLOPs against what libtpu says of them. python3 alone.
here=${srcdir:-.}/tests/truth
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
exec "$python" "$here/modules.py" "${TS_BIN:-bin}/tpusight" "${srcdir:-.}/tests/data/modules.tar.xz" --off
