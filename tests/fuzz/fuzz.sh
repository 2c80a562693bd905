#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs libFuzzer targets, so many seconds each and as many at a time as there are processors (TS_JOBS), from the seeds
# and the real profiles of the tree. What a campaign learns is kept in the build tree (tests/fuzz/corpus); what a target
# said is in tests/fuzz/NAME_fuzz.log, and shown where an input broke something: its file is named in the last lines.
#	fuzz.sh SECONDS TARGET...
srcdir=${srcdir:-.}
export ASAN_OPTIONS="${ASAN_OPTIONS:-allocator_may_return_null=1:detect_leaks=1}"

inputs() { sh "$srcdir/tests/fuzz/inputs.sh" "$1" "$target"; }

fuzz() {
	found=tests/fuzz/corpus/$target
	mkdir -p "$found" tests/fuzz/crashes
	dict=$(inputs dict)
	# shellcheck disable=SC2046 # names of folders here have no spaces
	"tests/fuzz/${target}_fuzz" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -verbosity=0 -artifact_prefix="tests/fuzz/crashes/$target-" ${dict:+-dict="$dict"} \
		"$found" $(inputs seeds) $(inputs real) >"tests/fuzz/${target}_fuzz.log" 2>&1
}

if [ "$1" = --one ]; then # of those that the other half of this file begins
	seconds=$2 target=$3
	if fuzz; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "tests/fuzz/${target}_fuzz.log")
		echo "$target: $seconds s, ${runs:-no} inputs"
		exit 0
	fi
	tail -n 60 "tests/fuzz/${target}_fuzz.log"
	echo "$target: broken (all of it is in tests/fuzz/${target}_fuzz.log)"
	exit 255 # xargs begins no more then
fi
seconds=$1
shift
export srcdir
printf '%s\n' "$@" | xargs -n 1 -P "${TS_JOBS:-$(getconf _NPROCESSORS_ONLN)}" sh "$0" --one "$seconds"
