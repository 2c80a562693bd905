#!/bin/sh
# SPDX-License-Identifier: MIT
# The planted profiles: what tests/fixtures/make_planted.py put in is found, with its size; nothing else is. python3 alone.
here=${srcdir:-.}/tests/truth
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
exec "$python" "$here/planted.py" "${TS_BIN:-bin}/tpusight" "${srcdir:-.}/tests/data/planted"
