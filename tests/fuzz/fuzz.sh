#!/bin/sh
# Runs libFuzzer targets one after the other, so many seconds each, from the seeds and the real profiles
# of the tree. What a campaign learns is kept in the build tree (tests/fuzz/corpus), and the first input
# that breaks something ends it: its file is named in the last lines.
#	fuzz.sh SECONDS TARGET...
srcdir=${srcdir:-.}
seconds=$1
shift
export ASAN_OPTIONS="${ASAN_OPTIONS:-allocator_may_return_null=1:detect_leaks=1}"
for target in "$@"; do
	found=tests/fuzz/corpus/$target
	mkdir -p "$found" tests/fuzz/crashes
	set_of=$srcdir/tests/fuzz/seeds/$target
	more=
	case $target in
	xplane | overlay | pb | pprof) more=$srcdir/tests/data ;;
	hlo) [ -d "$srcdir/../shared/corpus/hlo" ] && more=$srcdir/../shared/corpus/hlo ;;
	esac
	echo "== $target, $seconds s"
	"tests/fuzz/${target}_fuzz" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -verbosity=0 -artifact_prefix="tests/fuzz/crashes/$target-" \
		"$found" "$set_of" ${more:+"$more"} || exit 1
done
