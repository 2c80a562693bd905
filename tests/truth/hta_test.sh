#!/bin/sh
# SPDX-License-Identifier: MIT
# tpusight hta against HolisticTraceAnalysis' own answers, kept beside the corpus' traces, and against the traces' JSON; against
# HTA itself where $TS_HTA_PYTHON has it. Run by `make check`; skips where the corpus is absent.
here=${srcdir:-.}/tests/truth
corpus=${TS_CORPUS:-${srcdir:-.}/../shared/corpus}
tpusight=${TS_BIN:-bin}/tpusight
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
[ -f "$corpus/truth/hta.json" ] || { echo "SKIP: no corpus here ($corpus)"; exit 77; }
bad=0
"$python" "$here/hta_answers.py" "$tpusight" "$corpus" || bad=1
"$python" "$here/hta_raw.py" "$tpusight" "$corpus"/kineto/*.gz || bad=1
if [ -n "$TS_HTA_PYTHON" ]; then
	"$TS_HTA_PYTHON" "$here/hta_live.py" "$tpusight" "$corpus"/kineto/*.gz || bad=1
fi
exit $bad
