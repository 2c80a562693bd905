#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernels of the corpus against another reading of them, and against XProf. python3 alone.
here=${srcdir:-.}/tests/truth
corpus=${TS_CORPUS:-${srcdir:-.}/../shared/corpus}
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
[ -d "$corpus/kineto" ] || { echo "SKIP: no corpus here (TS_CORPUS)"; exit 77; }
exec "$python" "$here/kernels.py" "${TS_BIN:-bin}/tpusight" "$corpus"
