#!/bin/sh
# SPDX-License-Identifier: MIT
# Times tpusight-annotate on a large profile: bench/run.sh [STEPS [NAME=CMD...]], from the build folder.
#
# STEPS defaults to 9100 (10 million events, 400 MB). Further commands are timed in turn with ours; in them SESSION stands for
# the session's folder: bench/run.sh 9100 'xprof-rs=xprof-rs get_overview SESSION'
# The profile is kept in $BENCH_DIR (default: bench/data in the build folder) between runs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
steps=${1:-9100}
[ $# -gt 0 ] && shift
dir=${BENCH_DIR:-bench/data}
session=$dir/$steps/run/plugins/profile/2026_01_01_00_00_00
sample=$here/../tests/data/sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb

for program in bin/tpusight-annotate bench/make_big; do
	if [ ! -x "$program" ]; then
		echo "bench/run.sh: $program is not here (run in the build folder, after: make all bench/make_big)" >&2
		exit 3
	fi
done
if [ ! -f "$session/host0.xplane.pb" ]; then
	mkdir -p "$session"
	bench/make_big "$sample" "$session/host0.xplane.pb" "$steps" 4
fi

ours="bin/tpusight-annotate -q -j 2 $dir/$steps"
for other in "$@"; do
	set -- "$@" "$(printf '%s' "$other" | sed "s|SESSION|$session|g")"
	shift
done
exec python3 "$here/compare.py" --reset "bin/tpusight-annotate -q --strip $dir/$steps" \
	"annotate=$ours --perfetto=none" "annotate+perfetto=$ours" "$@"
