#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints C with what the documents say of each word: embed.sh DOCS. DOCS is the folder docs/.
#
# Read are docs/words.md, where a row begins with a bold word; and the pages of docs/analyses, where a row begins with a name in
# backquotes (or has one behind its number), and where the title names the view. Of a row every cell is kept, behind the heading
# of its column. Marks of Markdown go. Labels and their names are those of the schema, and so is what the tables say that the
# schema fills, which are passed over.
set -eu
LC_ALL=C
export LC_ALL
cd "$1"

# shellcheck disable=SC2046 # names of pages are words
awk '
function quoted(text) {
	gsub(/[\\"]/, "\\\\&", text)
	gsub(/\n/, "\\n", text)
	return "\"" text "\""
}
function plain(text) {
	while (match(text, /\[[^]]*\]\([^)]*\)/)) {
		link = substr(text, RSTART, RLENGTH)
		sub(/^\[/, "", link)
		sub(/\]\(.*$/, "", link)
		text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
	}
	gsub(/[`*]/, "", text)
	gsub(/\001/, "|", text)
	gsub(/^ +| +$/, "", text)
	return text
}
function put(word, kind, text) {
	gsub(/\[\]|\[\{.*/, "", word)
	if (word != "" && text != "")
		print "\t{ " quoted(word) ", " quoted(kind) ", " quoted(view) ", " quoted("docs/" FILENAME) ", " quoted(text) " },"
}
function text_of(from, text, i, cell, head) {
	text = ""
	for (i = from; i <= nr; i++) {
		cell = plain(cells[i])
		head = plain(heads[i])
		if (cell != "" && head != "" && head != "formula" && head != "what it is")
			cell = head ": " cell
		if (cell != "")
			text = text (text == "" ? "" : "\n") cell
	}
	return text
}
# Every name in backquotes of a cell is explained by the cells behind it.
function put_names(at, kind, nr_parts, parts, i, name) {
	nr_parts = split(cells[at], parts, /`/)
	for (i = 2; i <= nr_parts; i += 2) {
		name = parts[i]
		if (name ~ /^[A-Za-z_][A-Za-z0-9_.\[\]]*$/)
			put_row(name, kind, at)
	}
}
function put_bold(nr_parts, parts, i) {
	nr_parts = split(cells[1], parts, /\*\*/)
	for (i = 2; i <= nr_parts; i += 2)
		put_row(parts[i], "word", 1)
}
function put_row(name, kind, at) {
	put(name, kind, text_of(at + 1))
}
BEGIN {
	print "/* Made by src/cli/explain/embed.sh from the documents. */"
	print "#include \"cli/explain/words.h\"\n"
	print "const struct ts_word ts_words[] = {"
}
FNR == 1 {
	view = FILENAME
	gsub(/^.*\/|\.md$/, "", view)
	nr_heads = 0
}
/^<!-- schema / { is_filled = 1 }
/^<!-- end -->/ { is_filled = 0 }
is_filled { next }
/^# `/ { title = $0; sub(/^# `[^`]*`: */, "", title) }
/^- \*\*Answers:\*\*/ { sub(/^- \*\*Answers:\*\* */, ""); put(view, "view", plain(title ": " $0)) }
!/^\|/ { nr_heads = 0; next }
/^\|[-|: ]*$/ { next }
{
	gsub(/\\\|/, "\001")
	sub(/^\| */, "")
	sub(/ *\|$/, "")
	nr = split($0, cells, / *\| */)
	if (nr_heads == 0) {
		nr_heads = nr
		split("", heads)
		for (i = 1; i <= nr; i++)
			heads[i] = cells[i]
		next
	}
	kind = heads[1] == "rule" ? "rule" : heads[2] == "bucket" ? "bucket" : "field"
	if (FILENAME == "words.md" && cells[1] ~ /^\*\*/)
		put_bold()
	else if (FILENAME != "words.md" && cells[1] ~ /`/)
		put_names(1, kind)
	else if (FILENAME != "words.md" && cells[1] ~ /^[0-9]+$/ && cells[2] ~ /^`/)
		put_names(2, kind)
}
END {
	print "\t{ 0 },\n};"
}' words.md $(find analyses -mindepth 2 -name '*.md' | sort)
