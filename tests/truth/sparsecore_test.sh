#!/bin/sh
# SPDX-License-Identifier: MIT
# Offload to SparseCores, simulated: what is waited for is found with its loss, what is hidden is not. python3 alone.
here=${srcdir:-.}/tests/truth
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
exec "$python" "$here/sparsecore.py" "${TS_BIN:-bin}/tpusight"
