#!/bin/sh
# Golden runs: each folder here is a case. `cmd` is run by the shell in an empty folder of its own; what it
# prints and its exit status must be expect.out, expect.err and expect.status (missing: empty, and 0).
#	run.sh [CASE...]		compares, all cases or these
#	run.sh --golden [CASE...]	writes the expectations anew (make golden); read the diff as code
# In cmd: `edge NAME FILE` puts one of the hard cases of tests/fixtures/edge.py at FILE, `sample FOLDER` a
# copy of the bundled run, `module FILE` a compiled module; $DATA is tests/data. The programs are in the PATH.
srcdir=$(cd "${srcdir:-.}" && pwd)
builddir=$(pwd)
cases=$srcdir/tests/cases
golden=
[ "$1" = --golden ] && golden=yes && shift
[ $# -gt 0 ] || set -- $(cd "$cases" && ls -d */ | tr -d /)

# Without the programs of this build there is nothing to compare, and nothing to write down.
for program in tpusight tpusight-annotate; do
	[ -x "$builddir/bin/$program" ] || { echo "bin/$program is not built" >&2; exit 99; }
done
export PATH="$builddir/bin:$PATH" LC_ALL=C TZ=UTC DATA="$srcdir/tests/data"
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}"
unset COLUMNS NO_COLOR TERM
work=$(mktemp -d "${TMPDIR:-/tmp}/tpusight-cases.XXXXXX") || exit 99
work=$(cd "$work" && pwd -P)
trap 'rm -rf "$work"' EXIT

edge() {
	mkdir -p "$(dirname "$2")" && cp "$srcdir/tests/fuzz/seeds/xplane/$1" "$2" && chmod u+w "$2"
}

sample() {
	mkdir -p "$1" && cp -R "$DATA"/sample/* "$1" && chmod -R u+w "$1"
}

module() {
	mkdir -p "$(dirname "$1")" && cp "$srcdir/tests/fuzz/seeds/hlo/${2:-add}" "$1" && chmod u+w "$1"
}

# Folders, the version and how well zlib packs differ from machine to machine.
normal() {
	sed -e "s|$work/[^/]*/tree|TMP|g" -e "s|$srcdir|SRC|g" -e 's|tpusight \([0-9][0-9.]*\)$|tpusight VERSION|' \
		-e 's|"version": *"[0-9][^"]*"|"version": "VERSION"|' \
		-e 's|\(perfetto_trace[.a-z]*\) ([0-9.]* [KMG]\{0,1\}i\{0,1\}B)|\1 (SIZE)|' \
		-e 's|\(tpusight.json.gz\) ([0-9.]* [KMG]\{0,1\}i\{0,1\}B)|\1 (SIZE)|' \
		-e 's|\(annotated traces*\) ([0-9.]* [KMG]\{0,1\}i\{0,1\}B)|\1 (SIZE)|'
}

failed=0
for name; do
	dir=$cases/$name
	[ -f "$dir/cmd" ] || continue
	here=$work/$name
	mkdir -p "$here/tree"
	(cd "$here/tree" && . "$dir/cmd") >"$here/raw.out" 2>"$here/raw.err" </dev/null
	echo $? >"$here/status"
	normal <"$here/raw.out" >"$here/out"
	normal <"$here/raw.err" >"$here/err"
	# base/status.h holds 511 bytes of a message; one that is as long was cut.
	if grep -q 'tpusight: .\{511\}' "$here/raw.err"; then
		echo "FAIL: $name (a message was cut)"
		failed=$((failed + 1))
	fi
	for what in out err status; do
		want=$dir/expect.$what
		if [ -n "$golden" ]; then
			rm -f "$want"
			case $what in
			status) [ "$(cat "$here/status")" = 0 ] || cp "$here/status" "$want" ;;
			*) [ ! -s "$here/$what" ] || cp "$here/$what" "$want" ;;
			esac
			continue
		fi
		if [ ! -f "$want" ]; then
			want=$here/nothing
			: >"$want"
			[ "$what" = status ] && echo 0 >"$want"
		fi
		if ! diff -u "$want" "$here/$what"; then
			echo "FAIL: $name ($what)"
			failed=$((failed + 1))
		fi
	done
	rm -rf "$here"
done
[ "$failed" = 0 ] || echo "$failed expectations do not hold (make golden writes them anew)"
[ "$failed" = 0 ]
