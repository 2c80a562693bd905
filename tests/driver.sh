#!/bin/sh
# SPDX-License-Identifier: MIT
# Automake's driver of a test (the first argument), and the seconds it took, of the clock and of processors: at the
# end of its line, and in its .trs for tests/slowest.sh. Where TS_UNTIL is a time, in seconds since 1970, as check.sh sets it,
# what would begin behind it skips and says so, and what has not ended after TS_LIMIT seconds (1,200) fails.
driver=$1
shift
trs='' name='' want=''
for word; do
	case $want in
	--trs-file) trs=$word ;;
	--test-name) name=$word ;;
	esac
	want=$word
	[ "$word" != -- ] || break
done

if [ -n "${TS_UNTIL:-}" ]; then
	for word; do # around once: what follows "--" gets a limit, or is passed over
		shift
		if [ "$word" = -- ] && [ "$(date +%s)" -ge "$TS_UNTIL" ]; then
			set -- "$@" -- sh -c 'echo "no time was left (TS_MINUTES)"; exit 77'
		elif [ "$word" = -- ]; then
			set -- "$@" -- timeout -k 10 "${TS_LIMIT:-1200}"
		else
			set -- "$@" "$word"
		fi
	done
fi

now() { date +%s.%N | sed 's/\.*N$//'; } # a date without %N knows whole seconds
begin=$(now)
sh "$driver" "$@" >"$trs.line" || exit
times >"$trs.times" # not in a $(...), which has children of its own
end=$(now)
seconds=$(awk -v begin="$begin" -v end="$end" -v times="$trs.times" 'BEGIN {
	getline line < times
	getline line < times # of the children: user and system, 1m2.5s 0m0.1s
	split(line, word, "[ms ]+")
	printf "%.1f %.1f", end - begin, word[1] * 60 + word[2] + word[3] * 60 + word[4]
}')
echo ":seconds: $seconds $name" >>"$trs"
echo "$(cat "$trs.line")  ${seconds% *} s"
rm -f "$trs.line" "$trs.times"
