#!/bin/sh
# SPDX-License-Identifier: MIT
# Planted profiles against each other: what was put in is the difference. python3 alone.
here=${srcdir:-.}/tests/truth
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
exec "$python" "$here/compare.py" "${TS_BIN:-bin}/tpusight" "${srcdir:-.}/tests/data/planted"
