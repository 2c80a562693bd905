#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# quickstart.sh installs what apt-get refuses as a whole list package by package, and names those that cannot be had. apt-get, id and
# sudo are ours here.
set -u
top=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
	echo "$*"
	cat "$work/said"
	failed=1
}

# Notes each package that it installs; no list of several, and never the package bad.
cat >"$work/apt-get" <<-'APT'
	#!/bin/sh
	[ "$1" = install ] || exit 0
	shift 3
	[ $# = 1 ] && [ "$1" != bad ] && echo "$1" >>"${0%/*}/installed"
APT
printf '#!/bin/sh\necho 0\n' >"$work/id"
printf '#!/bin/sh\nexec "$@"\n' >"$work/sudo"
chmod +x "$work/apt-get" "$work/id" "$work/sudo"

installs() {
	rm -f "$work/installed"
	PATH=$work:$PATH bash "$top/quickstart.sh" --install-only "$@" >"$work/said" 2>&1
}

installs good better || complain "two packages, each of which can be had alone, are not installed"
{ grep -qx good "$work/installed" && grep -qx better "$work/installed"; } || complain "a package was left out"
! installs good bad better || complain "a package that cannot be had is passed over"
grep -qx better "$work/installed" || complain "what stands behind a package that cannot be had is left out"
grep -qx 'quickstart: apt-get cannot install: bad' "$work/said" || complain "the package that cannot be had is not named alone"
exit $failed
