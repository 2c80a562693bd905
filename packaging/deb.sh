#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the package tpusight_VERSION_MACHINE.deb of this Debian, by dpkg-buildpackage from the tarball of `make dist-gzip`.
#
#   packaging/deb.sh BUILD FOLDER       BUILD: a configured build folder (it makes the tarball); FOLDER: where the package goes
#
# Needs dpkg-dev, debhelper, fakeroot, and what debian/control names. TPUSIGHT_BUILD=BUILD packages the programs of that folder, which
# saves compiling them again. TS_MAINTAINER="NAME <ADDRESS>" is who answers for the package: lintian refuses the one at localhost.
# One made on Debian 12 installs on Debian 13 too (packaging/try.sh shows it).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
maintainer=${TS_MAINTAINER:-TPUsight developers <tpusight@localhost>}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A native package's changelog has the versions that NEWS has; its newest entry is all that dpkg asks for.
changelog() {
	printf 'tpusight (%s) unstable; urgency=medium\n\n  * See /usr/share/doc/tpusight/NEWS.gz.\n\n -- %s  %s\n' \
		"$1" "$maintainer" "$(date -R -d "@$(stat -c %Y NEWS)")"
}

make -C "$build" -s --no-print-directory dist-gzip
version=$(sed -n 's/^PACKAGE_VERSION = //p' "$build/Makefile")
tar -xzf "$build/tpusight-$version.tar.gz" -C "$work"
cd "$work/tpusight-$version"
cp -R "$here/debian" debian
sed -i "s|^Maintainer: .*|Maintainer: $maintainer|" debian/control
changelog "$version" >debian/changelog
dpkg-buildpackage --build=binary --no-sign ${TPUSIGHT_BUILD:+-d}
cp "$work"/tpusight_*.deb "$work"/tpusight_*.changes "$work"/tpusight_*.buildinfo "$folder"
ls -l "$folder"/tpusight_*.deb
