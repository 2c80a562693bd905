#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints C with all advice: embed.sh FOLDER. The folder holds FRAMEWORK/RULE.py and FRAMEWORK/capture/CAUSE.py.
#
# Each file is a Python program. Its docstring is the advice: the lines are joined with spaces. What follows the docstring is
# the code that a report shows. The line "# include: FILE" stands for the program FILE of the same folder; a file whose name
# begins with _ is there to be included and is not advice itself.
set -eu
LC_ALL=C
export LC_ALL
cd "$1"

rows() {
	awk '
	function fail(what) {
		print "src/analysis/advice/" file ": " what | "cat >&2"
		failed = 1
		exit 1
	}
	function quoted(text, end) {
		gsub(/[\\"]/, "\\\\&", text)
		return "\"" text end "\""
	}
	function put_line(line) {
		print "\t  " quoted(line, "\\n")
	}
	function put_included(name, path, line, nr) {
		path = file
		sub(/[^\/]*$/, name, path)
		for (nr = 0; (getline line <path) > 0; nr++)
			put_line(line)
		close(path)
		if (nr == 0)
			fail("the file that it includes, " name ", is missing or empty")
	}
	function finish() {
		if (is_text)
			fail("the line that ends the docstring is missing")
		if (file != "")
			print "\t  \"\" },"
	}
	FNR == 1 {
		finish()
		name = file = FILENAME
		sub(/^[^\/]*\//, "", name)
		sub(/\.py$/, "", name)
		if (!sub(/^"""/, ""))
			fail("it does not begin with a docstring, which is the advice")
		text = $0
		is_text = is_start = 1
		next
	}
	is_text && $0 == "\"\"\"" {
		print "\t{ \"" name "\",\n\t  " quoted(text, "") ","
		is_text = 0
		next
	}
	is_text { text = text " " $0; next }
	is_start && $0 == "" { next }
	{ is_start = 0 }
	/^# include: / { put_included(substr($0, 12)); next }
	{ put_line($0) }
	END {
		if (!failed)
			finish()
		exit failed
	}' "$@"
}

echo '/* Made by src/analysis/advice/embed.sh. */'
echo '#include "analysis/kit/advice.h"'
for framework in jax torch; do
	echo "static const struct ts_advice ${framework}[] = {"
	# shellcheck disable=SC2046 # the names of these files have no spaces
	rows $(find "$framework" -name '[!_]*.py' | sort)
	echo '};'
done
echo 'const struct ts_advice_list ts_advice_lists[TS_NR_FRAMEWORKS] = {'
echo '	[TS_JAX] = { jax, sizeof(jax) / sizeof(*jax) },'
echo '	[TS_TORCH] = { torch, sizeof(torch) / sizeof(*torch) },'
echo '};'
