#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes all targets, or those that are named, for so many hours: in turns, so that each gets the same time, on as many
# processors as there are (TS_JOBS). It runs in a build folder of ./configure CC=clang --enable-fuzz --enable-sanitize.
#	campaign.sh HOURS [TARGET...]		HOURS may be a part of one: 0.5
#
# The corpus (tests/fuzz/corpus) is made small at the end: of inputs that reach the same, one stays. Inputs that broke
# something stay in tests/fuzz/crashes. A table says how much was run and reached; the exit status is 1 when something
# broke, also in a campaign before whose input is still there.
srcdir=${srcdir:-..}
here=$(dirname "$0")
turn=300 # seconds at most that a target runs before the next one does
export srcdir

# What one turn of a target did, as a line of tests/fuzz/campaign/NAME: executions and seconds.
if [ "$1" = --turn ]; then
	seconds=$2 target=$3
	begin=$(date +%s)
	sh "$here/fuzz.sh" --one "$seconds" "$target" >"tests/fuzz/campaign/$target.log" 2>&1 || tail -n 1 "tests/fuzz/campaign/$target.log"
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "tests/fuzz/${target}_fuzz.log")
	echo "${runs:-0} $(($(date +%s) - begin))" >>"tests/fuzz/campaign/$target"
	exit 0
fi

files_of() { find "$1" -type f 2>/dev/null | wc -l; }
bytes_of() { find "$1" -type f -exec cat {} + 2>/dev/null | wc -c; }

# Of inputs that reach the same, one stays.
if [ "$1" = --merge ]; then
	target=$2 old=tests/fuzz/corpus/$2
	new=$old.merged
	rm -rf "$new"
	mkdir -p "$new"
	# shellcheck disable=SC2046 # names of folders here have no spaces
	"tests/fuzz/${target}_fuzz" -merge=1 -max_len=65536 -timeout=30 -rss_limit_mb=2048 -artifact_prefix=tests/fuzz/campaign/ \
		"$new" "$old" $(sh "$here/inputs.sh" seeds "$target") >"tests/fuzz/campaign/$target.merge.log" 2>&1
	echo "$target: $(files_of "$old") files, $(bytes_of "$old") bytes; now $(files_of "$new") files, $(bytes_of "$new") bytes"
	[ "$(files_of "$new")" = 0 ] || { rm -rf "$old" && mv "$new" "$old"; }
	exit 0
fi

# What the corpus reaches, as libFuzzer counts it: edges and features.
reached() {
	"tests/fuzz/$1_fuzz" -runs=0 -max_len=65536 "tests/fuzz/corpus/$1" 2>&1 |
		sed -n 's/.*INITED cov: \([0-9]*\) ft: \([0-9]*\).*/\1 \2/p' | tail -n 1
}

row() {
	# shellcheck disable=SC2046 # two numbers each
	set -- "$1" $(awk '{ runs += $1; seconds += $2 } END { print runs + 0, seconds + 0 }' "tests/fuzz/campaign/$1") $(reached "$1")
	printf '%-14s %12d %9d %7d %9d %6d %9d %7d\n' "$1" "$2" $(($2 / ($3 > 0 ? $3 : 1))) "${4:-0}" "${5:-0}" \
		"$(files_of "tests/fuzz/corpus/$1")" "$(bytes_of "tests/fuzz/corpus/$1")" "$(broken "$1")"
}

# Inputs of a target that broke something; another target's name may begin with this one's.
broken() { find tests/fuzz/crashes -type f 2>/dev/null | grep -c "/$1-\(crash\|leak\|oom\|timeout\)-"; }

hours=$1
case $hours in
'' | *[!0-9.]* | .) sed -n '3,/^srcdir/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
shift
# shellcheck disable=SC2046 # names of targets and programs have no spaces
[ $# -gt 0 ] || set -- $(sed -n 's|^fuzz_replays += tests/fuzz/\(.*\)_replay$|\1|p' "$srcdir/tests/fuzz/files.mk")
jobs=${TS_JOBS:-$(getconf _NPROCESSORS_ONLN)}
# shellcheck disable=SC2046
make -s -j"$jobs" $(printf 'tests/fuzz/%s_fuzz ' "$@") || exit 1
rm -rf tests/fuzz/campaign
mkdir -p tests/fuzz/campaign tests/fuzz/crashes
each=$(awk "BEGIN { printf \"%d\", $hours * 3600 * $jobs / $# }")
nr=$((each / turn + 1))
seconds=$((each / nr > 0 ? each / nr : 1))
echo "$# targets, $nr turns of $seconds s each, $jobs at a time"
while [ "$nr" -gt 0 ]; do
	printf '%s\n' "$@" | xargs -n 1 -P "$jobs" sh "$0" --turn "$seconds"
	nr=$((nr - 1))
done
printf '%s\n' "$@" | xargs -n 1 -P "$jobs" sh "$0" --merge
printf '\n%-14s %12s %9s %7s %9s %6s %9s %7s\n' target executions exec/s edges features files bytes broken
for target in "$@"; do row "$target"; done
for target in "$@"; do cat "tests/fuzz/campaign/$target"; done | awk '{ runs += $1 } END { printf "%-14s %12d\n", "all", runs }'
! find tests/fuzz/crashes -type f | grep .
