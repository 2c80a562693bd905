#!/bin/sh
# SPDX-License-Identifier: MIT
# Operators against torch.profiler's key_averages(), and those of the corpus against another reading of them and TraceLens. python3 alone.
here=${srcdir:-.}/tests/truth
data=${srcdir:-.}/tests/data
corpus=${TS_CORPUS:-${srcdir:-.}/../shared/corpus}
bin=${TS_BIN:-bin}
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
out=$(mktemp -d) || exit 99
trap 'rm -rf "$out"' EXIT
bad=0

trace=$data/torch_operators.pt.trace.json.gz
"$bin/tpusight" report --view operators --json -o "$out/ours.json" "$trace" &&
	"$python" "$here/operators.py" torch "$out/ours.json" "$data/torch_operators.json" "$trace" || bad=1
"$bin/tpusight" redact -o "$out/redacted.json.gz" "$trace" &&
	"$bin/tpusight" report --view operators --json -o "$out/redacted.json" "$out/redacted.json.gz" &&
	"$python" "$here/operators.py" same "$out/ours.json" "$out/redacted.json" || bad=1
if [ ! -d "$corpus/kineto" ]; then
	echo "the corpus is not here ($corpus): operators of GPUs were not compared"
	exit $bad
fi
"$python" "$here/operators.py" trace "$bin/tpusight" "$corpus/kineto/hta_mi250_minitoy_train_ROCm6_2_kineto.json.gz" \
	"$corpus/kineto/hta_trace_diff_control.json.gz" "$corpus/kineto/tracelens_h100_owlv2.json.gz" \
	"$corpus/kineto/tracelens_mi300_resnet_act_checkpoint.json.gz" || bad=1
"$python" "$here/tracelens.py" "$bin/tpusight" "$data/tracelens.json" "$corpus/kineto" || bad=1
exit $bad
