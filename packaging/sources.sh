#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Downloads the libraries that the static programs are made of: the source packages of Debian 12 with its security updates, checked
# by apt against the keys of Debian. Each is unpacked, with Debian's patches, into FOLDER/NAME-VERSION.
#
#   packaging/sources.sh FOLDER
#
# Needs apt-get, dpkg-source (Debian: dpkg-dev) and the keys of Debian (debian-archive-keyring); not root. What is there already is
# not downloaded again. FOLDER/sources.txt says afterwards which versions they are.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
keys=${TS_DEBIAN_KEYS:-/usr/share/keyrings/debian-archive-keyring.gpg}
mirror=${TS_DEBIAN_MIRROR:-http://deb.debian.org}

for tool in apt-get dpkg-source; do
	command -v "$tool" >/dev/null || { echo "sources.sh: $tool is missing (Debian, Ubuntu: apt-get install dpkg-dev)" >&2; exit 1; }
done
[ -r "$keys" ] || { echo "sources.sh: $keys is missing (apt-get install debian-archive-keyring)" >&2; exit 1; }

# An apt of its own, so that the lists of this machine stay as they are.
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
one_suite() { printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' "$1" "$2" "$keys"; }
{
	one_suite "$mirror/debian" "bookworm bookworm-updates"
	one_suite "$mirror/debian-security" bookworm-security
} >"$folder/apt/debian.sources"
apt_here() {
	apt-get -qq -o Dir::Etc::sourcelist="$folder/apt/debian.sources" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$folder/apt" -o Dir::State::status=/dev/null -o Dir::Cache="$folder/apt" -o APT::Sandbox::User=root "$@"
}

# The newest version; where a mirror names it and does not have it, that of the release, with a warning.
download() {
	apt_here source --download-only "$1" >"$folder/apt/$1.log" 2>&1 && return
	echo "sources.sh: the newest $1 is not on $mirror: the release's version is taken; look for security updates of it" >&2
	apt_here source --download-only "$1/bookworm" >"$folder/apt/$1.log" 2>&1 || { cat "$folder/apt/$1.log" >&2; return 1; }
}

unpack() {
	local dsc=$1 version
	version=$(sed -n "s/^Version: //p" "$dsc" | head -n 1)
	version=${version#*:}
	[ -d "$2-$version" ] || dpkg-source --no-check -x "$dsc" "$2-$version" >/dev/null
	echo "$2 $version" >>sources.txt.new
}

cd "$folder"
apt_here update
rm -f sources.txt.new
while IFS='|' read -r name package _; do
	ls "$package"_*.dsc >/dev/null 2>&1 || download "$package"
	unpack "$(find . -maxdepth 1 -name "${package}_*.dsc" | sort | tail -n 1)" "$name"
done < <(grep -v "^#" "$here/libraries.txt")
mv -f sources.txt.new sources.txt
