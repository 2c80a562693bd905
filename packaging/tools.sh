#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Says which of the tools are missing that programs and wheels are made with, all at once, and how to get each.
#
#   packaging/tools.sh MACHINE... [wheel]      MACHINE: as for static.sh; wheel: also what wheels.sh needs
#
# Ends with 1 if one is missing. TS_ZIG, TS_SOURCES_ARE_THERE, TS_WHEEL_PYTHON: as for static.sh and wheels.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
machines=" $* $(uname -m)-linux " # manual pages are printed by a program of this machine, which is made, too
missing=0

# A tool, the package of Debian and Ubuntu that has it, and a command that ends well where it is there.
need() {
	local tool=$1 package=$2
	shift 2
	"$@" >/dev/null 2>&1 && return
	printf '%s is missing (Debian, Ubuntu: apt-get install %s)\n' "$tool" "$package" >&2
	missing=1
}
on_path() { need "$1" "$2" command -v "$1"; }
# shellcheck disable=SC2317 # need calls it
has_strip() {
	local strip
	for strip in llvm-strip /usr/lib/llvm-*/bin/llvm-strip; do
		! command -v "$strip" || return 0
	done
	return 1
}
# A wheel is made with these; a Python that is not the system's gets them by pip.
need_module() {
	local python=${TS_WHEEL_PYTHON:-python3}
	"$python" -c "import $1" >/dev/null 2>&1 && return
	printf "%s has no %s (%s -m pip install %s)\n" "$python" "$1" "$python" "$1" >&2
	missing=1
}

on_path python3 python3
[ -n "${TS_ZIG:-}" ] || need "venv of python3" python3-venv python3 -c 'import venv, ensurepip'
on_path pkg-config pkg-config
on_path protoc-c protobuf-c-compiler
on_path make make
[ -x "$root/configure" ] || { on_path autoconf autoconf; on_path automake automake; }
[ -d "$root/plugin/page/dist" ] || on_path npm npm
if [ -z "${TS_SOURCES_ARE_THERE:-}" ]; then
	on_path apt-get apt
	on_path dpkg-source dpkg-dev
	keys=${TS_DEBIAN_KEYS:-/usr/share/keyrings/debian-archive-keyring.gpg}
	need "$keys" debian-archive-keyring test -r "$keys"
fi
need llvm-strip llvm has_strip
case $machines in *" x86_64-linux "*) on_path nasm nasm ;; esac
case $machines in
*" wheel "*) need_module pip; need_module setuptools; need_module wheel ;;
esac
exit $missing
