#!/bin/sh
# SPDX-License-Identifier: MIT
# Timelines as traces: do they open, and say the same? python3 alone.
here=${srcdir:-.}/tests
corpus=${TS_CORPUS:-${srcdir:-.}/../shared/corpus}
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
[ -d "$corpus/kineto" ] || { echo "SKIP: no corpus here (TS_CORPUS)"; exit 77; }
exec "$python" "$here/truth/timeline.py" "${TS_BIN:-bin}/tpusight" "$corpus" "$here/viewers/perfetto_check.py"
