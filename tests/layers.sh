#!/bin/sh
# SPDX-License-Identifier: MIT
# The floors of src/ against the #include lines: who may include what (docs/architecture.md). layers.sh [TOP]
#
# Beside the floors: siblings in read/, write/ and analysis/ do not include one another. In read/ and write/ a sibling is
# the stem of a file up to its first _ (a split file and its private header), or a folder. In analysis/ it is an analysis:
# the folder, and the longest name of analysis/list.h that the stem begins with; the doctor is one with its rules.
top=${1:-${srcdir:-.}}
cd "$top/src" || exit 99

# floor: what it may include beside itself
floors='
base:
codec: base
io: base
model: base
hw: base
result: base
read: base codec io model
analysis: base model hw result
compare: base model result
write: base codec model result
overlay: base codec io model result
copy: base codec io model read
remote: base codec io
trace: base codec io model result read write
picture: base codec io model result read analysis
run: base codec io model hw result read analysis write overlay remote trace
pod: base codec io model result read analysis overlay write trace picture run
serve: base codec io model compare remote result write overlay trace picture run
live: base codec io model hw result read analysis write run remote
cli: base codec io model hw result read analysis compare write overlay copy remote trace picture run pod live serve
'

# Headers that belong to a whole floor: its interface, its lists, the pieces that text is made of.
public='
analysis/analysis.h analysis/settings.h analysis/settings_list.h analysis/list.h
read/reader.h read/stream.h read/list.h read/flows.h read/hlo.h read/seams.h read/trace.h read/walk.h
write/output.h write/page.h write/list.h write/text_table.h write/breakdown.h write/summary.h write/brief.h write/screen.h
write/json_head.h write/json_value.h
'

# What breaks a rule today, a line each: file, header, why. A line that nothing needs any more is an error, too.
allowed='
'

find . -name '*.[ch]' | sed 's|^\./||' | LC_ALL=C sort | xargs grep -H '^#include "[a-z]*/[^"]*\.h"\|^#include ".*\.pb-c\.h"\|^	*X([a-z_]*)' |
	awk -v floors="$floors" -v public="$public" -v allowed="$allowed" '
BEGIN {
	n = split(floors, line, "\n")
	for (i = 1; i <= n; i++) {
		m = split(line[i], word, ":* +|:$")
		for (j = 1; j <= m; j++)
			may[word[1], word[j]] = 1
	}
	n = split(public, word, "[ \n]+")
	for (i = 1; i <= n; i++)
		is_public[word[i]] = 1
	n = split(allowed, line, "\n")
	for (i = 1; i <= n; i++)
		if (split(line[i], word, " ") > 1)
			is_allowed[word[1] " " word[2]] = 1
}

function complain(file, header, why) {
	if ((file " " header) in is_allowed) {
		used[file " " header] = 1
		return
	}
	print "src/" file " includes " header ": " why
	bad = 1
}

function stem_of(path) {
	sub(/^.*\//, "", path)
	sub(/\.[ch]$/, "", path)
	return path
}

# The analysis that a file belongs to; none has its own for siblings.
function analysis_of(path,   folder, stem, name, best) {
	folder = path
	if (!sub(/\/[^\/]*$/, "", folder) || folder == "analysis")
		return path
	if (folder ~ /^analysis\/doctor/)
		return "analysis/doctor"
	stem = stem_of(path)
	for (name in analyses)
		if (index(stem "_", name "_") == 1 && length(name) > length(best))
			best = name
	if (best == "") {
		best = stem
		sub(/_.*/, "", best)
	}
	return folder "/" best
}

function sibling_of(path) {
	if (path ~ /^analysis\//)
		return analysis_of(path)
	sub(/\.[ch]$/, "", path)
	match(path, /^[a-z]*\/[a-z0-9]*/)
	return substr(path, 1, RLENGTH)
}

{
	at = index($0, ":")
	file[NR] = substr($0, 1, at - 1)
	text[NR] = substr($0, at + 1)
	if (file[NR] == "analysis/list.h" && match(text[NR], /X\([a-z_]*\)/))
		analyses[substr(text[NR], RSTART + 2, RLENGTH - 3)] = 1
}

END {
	for (i = 1; i <= NR; i++) {
		if (text[i] !~ /^#include/)
			continue
		split(text[i], part, "\"")
		header = part[2]
		floor = file[i]
		sub(/\/.*/, "", floor)
		other = header
		sub(/\/.*/, "", other)
		if (header ~ /\.pb-c\.h$/) {
			if (floor != "read" && floor != "overlay")
				complain(file[i], header, "only read/ and overlay/ may see generated protobuf code")
		} else if (!((floor, other) in may)) {
			complain(file[i], header, floor "/ may not look into " other "/")
		} else if (floor == other && floor ~ /^(read|write|analysis)$/ && !(header in is_public) &&
			   header !~ /^analysis\/(kit|facts)\// && sibling_of(file[i]) != sibling_of(header)) {
			complain(file[i], header, "a sibling (what two share goes one floor down)")
		}
	}
	for (pair in is_allowed)
		if (!(pair in used) && system("test -f " substr(pair, 1, index(pair, " ") - 1)) == 0) {
			print "tests/layers.sh: allowed, and not needed any more: " pair
			bad = 1
		}
	exit bad
}'
