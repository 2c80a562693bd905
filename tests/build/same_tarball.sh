#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two people build the tarball of the last commit, and get the same bytes: same_tarball.sh WORK [PROGRAM]
# They have other folders, times of files, umasks, locales and time zones; one builds below the sources, one elsewhere. At the
# end a third one has another commit's time, so that the test is seen to find a difference. PROGRAM is a tpusight that prints the
# manual pages, so that nobody has to compile one.
# Exit: 0 the same, 1 not, 77 outside of a checkout, or where tar or npm is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$1
manual_by=${2:+MANUAL_BY=$(realpath "$2")}
git -C "$here" rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: not a checkout"; exit 77; }
command -v npm >/dev/null || { echo "skipped: npm is missing, and the page belongs to the tarball"; exit 77; }
tar --sort=name -cf /dev/null -C "$here" NEWS 2>/dev/null || { echo "skipped: this tar has no --sort"; exit 77; }

pack_again() { make -s ${manual_by:+"$manual_by"} dist-gzip && make -s ${manual_by:+"$manual_by"} dist-xz; }

# SOURCES BUILD UMASK: a clone, and its tarballs in BUILD.
pack() {
	umask "$3"
	rm -rf "$1" "$2"
	mkdir -p "$(dirname "$1")"
	git clone -q "$here" "$1"
	(cd "$1" && ./bootstrap && mkdir -p "$2" && cd "$2" && "$1/configure" --quiet && pack_again) >"$work/$3.log" 2>&1 ||
		{ tail -n 30 "$work/$3.log"; exit 1; }
}

mkdir -p "$work"
work=$(cd "$work" && pwd)
(TZ=UTC LC_ALL=C pack "$work/one" "$work/one/build" 022) &
(TZ=Asia/Kathmandu LC_ALL=$(locale -a | grep -iE '^(de_DE|en_US|C)\.utf' | tail -n 1) pack "$work/further/down/two" "$work/build_of_two" 077)
wait $!
find "$work/one" -name '*.md' -exec touch -d '2001-01-01' {} +
(cd "$work/one/build" && pack_again >"$work/same.log" 2>&1) # packed again, with other times
wrong=0
for tarball in "$work"/one/build/tpusight-*.tar.*; do
	cmp "$tarball" "$work/build_of_two/$(basename "$tarball")" || wrong=1
	[ "$(tar -tf "$tarball" | grep -c '/src/.*\.c$')" -gt 100 ] || { echo "$tarball has no sources"; wrong=1; }
	sha256sum "$tarball"
done
(cd "$work/one/build" && cp tpusight-*.tar.xz before && SOURCE_DATE_EPOCH=1 pack_again >"$work/same.log" 2>&1)
! cmp -s "$work/one/build/before" "$work"/one/build/tpusight-*.tar.xz || { echo "another time does not make another tarball"; wrong=1; }
exit $wrong
