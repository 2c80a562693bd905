#!/bin/sh
# SPDX-License-Identifier: MIT
# Flame graphs against sums made from the trace's JSON in Python. python3 alone; more with the corpus (TS_CORPUS).
here=${srcdir:-.}/tests/truth
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
set -- "${srcdir:-.}/tests/data/hand_made.pt.trace.json"
for trace in "${TS_CORPUS:-/nonexistent}"/kineto/*.json.gz; do
	[ -e "$trace" ] && set -- "$@" "$trace"
done
[ $# -gt 1 ] || echo "the corpus is not there (TS_CORPUS names it): our own trace alone"
exec "$python" "$here/flame.py" "${TS_BIN:-bin}/tpusight" "$@"
