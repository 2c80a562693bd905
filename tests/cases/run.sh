#!/bin/sh
# Golden runs, several at a time. A case is a folder here: `cmd` is run by the shell in an empty folder of its own; what
# it prints and its exit status must be expect.out, expect.err and expect.status (missing: empty, and 0). Or it is a file
# NAME.rows: each command behind a $, in an empty folder of its own, what it prints, and [its status] where that is not 0.
#	run.sh [CASE...]		compares, all cases or these
#	run.sh --golden [CASE...]	writes the expectations anew (make golden); read the diff as code
# In cmd: `edge NAME FILE` puts one of the hard cases of tests/fixtures/edge.py at FILE, `sample FOLDER` a
# copy of the bundled run, `module FILE` a compiled module; $DATA is tests/data. The programs are in the PATH.
# TS_JOBS: how many run at a time (as many as there are processors).
srcdir=$(cd "${srcdir:-.}" && pwd)
builddir=$(pwd)
cases=$srcdir/tests/cases

edge() {
	mkdir -p "$(dirname "$2")" && cp "$srcdir/tests/fuzz/seeds/xplane/$1" "$2" && chmod u+w "$2"
}

sample() {
	mkdir -p "$1" && cp -R "$DATA"/sample/* "$1" && chmod -R u+w "$1"
}

module() {
	mkdir -p "$(dirname "$1")" && cp "$srcdir/tests/fuzz/seeds/hlo/${2:-add}" "$1" && chmod u+w "$1"
}

# Folders, the version, how well ISA-L packs and what a kernel confines differ from machine to machine.
normal() {
	sed -e '/^tpusight: \(not \)*confined: /d' -e "s|$work/[^/]*/tree|TMP|g" -e "s|$srcdir|SRC|g" -e 's|tpusight \([0-9][0-9.]*\)$|tpusight VERSION|' \
		-e 's|"version": *"[0-9][^"]*"|"version": "VERSION"|' \
		-e 's|\(perfetto_trace[.a-z]*\) ([0-9.]* [KMG]\{0,1\}i\{0,1\}B)|\1 (SIZE)|' \
		-e 's|\(tpusight\.[a-z.]*\) ([0-9.]* [KMG]\{0,1\}i\{0,1\}B)|\1 (SIZE)|' \
		-e 's|\(annotated traces*\) ([0-9.]* [KMG]\{0,1\}i\{0,1\}B)|\1 (SIZE)|'
}

# base/status.h holds 511 bytes of a message; one that is as long was cut.
whole() {
	! grep -q 'tpusight: .\{511\}' "$1" || echo "FAIL: $name (a message was cut)"
}

# The files of a folder. The last words of what is said are FAIL: NAME (WHAT), a line each.
compare() {
	whole "$here/raw.err"
	for what in out err status; do
		want=$dir/expect.$what
		if [ -n "$TS_GOLDEN" ]; then
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
		diff -u "$want" "$here/$what" || echo "FAIL: $name ($what)"
	done
}

run_folder() {
	dir=$cases/$name
	mkdir -p "$here/tree"
	(cd "$here/tree" && . "$dir/cmd") >"$here/raw.out" 2>"$here/raw.err" </dev/null
	echo $? >"$here/status"
	normal <"$here/raw.out" >"$here/out"
	normal <"$here/raw.err" >"$here/err"
	compare
}

run_rows() {
	while IFS= read -r line; do
		case $line in
		'$ '*)
			echo "$line"
			rm -rf "$here/tree"
			mkdir -p "$here/tree"
			(cd "$here/tree" && eval "${line#??}") >"$here/raw" 2>&1 </dev/null
			status=$?
			normal <"$here/raw"
			whole "$here/raw" >&2
			[ $status = 0 ] || echo "[$status]"
			;;
		'' | '#'*) echo "$line" ;;
		esac
	done <"$cases/$name.rows" >"$here/rows"
	if [ -n "$TS_GOLDEN" ]; then
		cp "$here/rows" "$cases/$name.rows"
	else
		diff -u "$cases/$name.rows" "$here/rows" || echo "FAIL: $name (rows)"
	fi
}

if [ "$1" = --one ]; then # of those that the other half of this file begins
	name=$2 work=$TS_CASES_WORK here=$TS_CASES_WORK/$2
	mkdir -p "$here"
	if [ -f "$cases/$name/cmd" ]; then
		run_folder
	elif [ -f "$cases/$name.rows" ]; then
		run_rows
	else
		echo "FAIL: $name (there is no such case)"
	fi >"$work/$name.said" 2>&1
	rm -rf "$here"
	exit 0
fi

export TS_GOLDEN=
[ "$1" = --golden ] && TS_GOLDEN=yes && shift
all_cases() { (cd "$cases" && for case in */ ./*.rows; do basename "$case" .rows; done); }
# shellcheck disable=SC2046 # a word a case
[ $# -gt 0 ] || set -- $(all_cases)

# Without the programs of this build there is nothing to compare, and nothing to write down.
for program in tpusight tpusight-annotate; do
	[ -x "$builddir/bin/$program" ] || { echo "bin/$program is not built" >&2; exit 99; }
done
export PATH="$builddir/bin:$PATH" LC_ALL=C TZ=UTC DATA="$srcdir/tests/data" srcdir
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}"
unset COLUMNS NO_COLOR TERM TPUSIGHT_CONFINE
work=$(mktemp -d "${TMPDIR:-/tmp}/tpusight-cases.XXXXXX") || exit 99
TS_CASES_WORK=$(cd "$work" && pwd -P)
export TS_CASES_WORK
trap 'rm -rf "$work"' EXIT
export TMPDIR="$TS_CASES_WORK/temporary" # a case is not below it, so what a command does not name is closed to it
mkdir "$TMPDIR"
# A TensorBoard of this machine would be a part of what `check` prints: this one has no packages beside it.
mkdir "$TS_CASES_WORK/shadow" && printf '#!/bin/sh\n' >"$TS_CASES_WORK/shadow/tensorboard" && chmod +x "$TS_CASES_WORK/shadow/tensorboard"
PATH="$TS_CASES_WORK/shadow:$PATH"

printf '%s\n' "$@" | xargs -n 1 -P "${TS_JOBS:-$(getconf _NPROCESSORS_ONLN)}" sh "$cases/run.sh" --one
for name; do
	cat "$work/$name.said"
done >"$work/said"
cat "$work/said"
failed=$(grep -c '^FAIL: ' "$work/said")
[ "$failed" = 0 ] || echo "$failed expectations do not hold (make golden writes them anew)"
[ "$failed" = 0 ]
