#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make install` puts where: programs, the licence and the notices, manual pages, completions of shells; `make uninstall` takes
# all of it away. Run in the build folder.
set -eu
[ -f Makefile ] || { echo "there is no Makefile here: run it in the build folder"; exit 77; }
root=$PWD/install_test.dir
failed=0
trap 'rm -rf "$root"' EXIT
rm -rf "$root"

complain() {
	echo "$*"
	failed=1
}

make -s install DESTDIR="$root" prefix=/usr >install_test.out 2>&1 || { cat install_test.out; exit 1; }
rm -f install_test.out
for path in bin/tpusight bin/tpusight-annotate share/doc/tpusight/LICENSE share/doc/tpusight/THIRD-PARTY-NOTICES \
	share/man/man1/tpusight.1 share/man/man1/tpusight-annotate.1 share/man/man1/tpusight-report.1 \
	share/bash-completion/completions/tpusight share/bash-completion/completions/tpusight-annotate \
	share/zsh/site-functions/_tpusight share/fish/vendor_completions.d/tpusight.fish \
	share/fish/vendor_completions.d/tpusight-annotate.fish; do
	[ -s "$root/usr/$path" ] || complain "make install leaves out $path"
done
for command in $("$root/usr/bin/tpusight" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	case $command in pod | profile | mcp | before) continue ;; esac # commands of the Python package
	[ -s "$root/usr/share/man/man1/tpusight-$command.1" ] || complain "there is no manual page of $command"
done
"$root/usr/bin/tpusight" --licenses | cmp - "$root/usr/share/doc/tpusight/THIRD-PARTY-NOTICES" || complain "the notices differ"
if command -v man >/dev/null; then
	MANPATH=$root/usr/share/man man -P cat tpusight-compare 2>/dev/null | grep -q -e '--fail-if' || complain "man does not show tpusight-compare"
fi
make -s uninstall DESTDIR="$root" prefix=/usr >/dev/null
left=$(find "$root" -type f)
[ -z "$left" ] || complain "make uninstall leaves $left"
exit $failed
