#!/bin/sh
# SPDX-License-Identifier: MIT
# Hosts whose clocks differ: who was late, who meets and why steps are slow is what it is with equal clocks. python3 alone.
here=${srcdir:-.}/tests/truth
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
exec "$python" "$here/clocks.py" "${TS_BIN:-bin}/tpusight" "${srcdir:-.}"/tests/data/sample/*/plugins/profile/*/*.xplane.pb
