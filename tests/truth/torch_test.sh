#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces that the torch of TS_TORCH_PYTHON writes now, against what it counts itself: memory, and torch.compile with its log. (Those
# of tests/data/torch were written once; truth_test.sh has them.)
here=${srcdir:-.}/tests
bin=${TS_BIN:-bin}
torch=${TS_TORCH_PYTHON:-none}
"$torch" -c 'import torch' 2>/dev/null || { echo "SKIP: TS_TORCH_PYTHON names no Python with torch"; exit 77; }
"$torch" -c 'import sys, torch; sys.exit(not torch.autograd.kineto_available())' ||
	{ echo "SKIP: this torch was built without Kineto, so its traces have no memory"; exit 77; }
out=$(mktemp -d) || exit 99
trap 'rm -rf "$out"' EXIT
bad=0

"$torch" "$here/fixtures/make_torch_memory.py" "$out" >"$out/memory.log" 2>&1 || { cat "$out/memory.log"; exit 1; }
"$bin/tpusight" memory --json -o "$out/memory.json" "$out/torch_memory.pt.trace.json.gz" &&
	"$torch" "$here/truth/memory_timeline.py" torch "$out/memory.json" "$out/torch_memory.json" || bad=1

case=breaks
"$torch" -c 'import sys, torch; sys.exit(tuple(map(int, torch.__version__.split(".")[:2])) < (2, 5))' || case=old # without ids
"$torch" "$here/fixtures/make_torch_traces.py" --case $case "$out" >"$out/compile.log" 2>&1 || { cat "$out/compile.log"; exit 1; }
set -- "$out/$case.pt.trace.json.gz"
"$bin/tpusight" compile --json -o "$out/compile.json" "$@" &&
	"$torch" "$here/truth/torch_compile.py" "$out/compile.json" "$out/$case.json" || bad=1
[ $case = old ] && exit $bad
"$bin/tpusight" compile --json -o "$out/log.json" --torch-trace "$out" "$@" &&
	"$torch" "$here/truth/torch_compile.py" "$out/log.json" "$out/$case.json" || bad=1
exit $bad
