#!/bin/sh
# tpusight hta against HolisticTraceAnalysis' own answers, kept beside the corpus' traces.
# Run by `make check`; skips where the corpus is absent.
corpus=${TS_CORPUS:-${srcdir:-.}/../shared/corpus}
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
[ -f "$corpus/truth/hta.json" ] || { echo "SKIP: no corpus here ($corpus)"; exit 77; }
exec "$python" "${srcdir:-.}/tests/truth/hta.py" "${TS_BIN:-bin}/tpusight" "$corpus"
