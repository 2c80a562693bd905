#!/bin/sh
# SPDX-License-Identifier: MIT
# How many lines of each file the tests run, in a build with gcc's counters:
#	./configure CC=gcc CFLAGS="-g -O0 --coverage"
#	make coverage				the unit tests and the seeds of the fuzz targets, then the table
#	tests/coverage.sh [--lines] FOLDER...	the table alone, of what has run so far; --lines: which lines did not
# A folder is one of src; by default those that read foreign bytes. Lines that several objects have count once.
set -e
lines=
if [ "$1" = --lines ]; then lines=1 && shift; fi
[ $# -gt 0 ] || set -- src/read src/codec src/io
notes=$(find "$@" -name '*.gcda')
[ -n "$notes" ] || {
	echo "coverage: nothing was counted (CFLAGS=\"-g -O0 --coverage\", then make coverage)" >&2
	exit 1
}
top=$(cd "${srcdir:-.}" && pwd)

# One line a counted line of a source: path, number, how often.
counted() {
	for note in $notes; do
		gcov --stdout --preserve-paths "$note" 2>/dev/null
	done | awk -F: -v top="$top/" '
		$3 == "Source" { path = $4; sub(/^(\.\.\/)+/, "", path); if (index(path, top) == 1) path = substr(path, length(top) + 1); next }
		{ count = $1; gsub(/[ \t*]/, "", count); number = $2 + 0 }
		number == 0 || count == "-" { next }
		path !~ /^src\// { next }
		{ print path, number, count ~ /^[#=]/ ? 0 : count + 0 }' | awk '
		{ key = $1 " " $2; if ($3 > most[key]) most[key] = $3; seen[key] = 1 }
		END { for (key in seen) print key, most[key] + 0 }' | sort -k1,1 -k2,2n
}

folders=$(printf '%s|' "$@")
counted | awk -v folders="^(${folders%|})/" '$1 ~ folders' | awk -v lines="$lines" '
	function end() { if (path != "" && !lines) printf "%-36s %6d %6d %6.1f\n", path, run, all, 100 * run / all }
	$1 != path { end(); path = $1; run = all = 0 }
	{ all++; sum_all[folder = substr(path, 1, index(substr(path, 5), "/") + 3)]++
	  if ($3 > 0) { run++; sum_run[folder]++ } else if (lines) print path ":" $2 }
	END { end(); if (!lines) for (folder in sum_all)
		printf "%-36s %6d %6d %6.1f\n", "all of " folder, sum_run[folder], sum_all[folder], 100 * sum_run[folder] / sum_all[folder] }'
