#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the image of packaging/Containerfile with the programs of FOLDER and tries them in it.
#
#   packaging/try_image.sh FOLDER      FOLDER: where static.sh put tpusight and tpusight-annotate
#
# Needs buildah and root; no daemon, no registry, nothing of the machine's own images: they lie in a folder that is removed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
[ $# = 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command -v buildah >/dev/null || { echo "try_image.sh: buildah is missing (Debian, Ubuntu: apt-get install buildah)" >&2; exit 1; }
work=$(mktemp -d)
export BUILDAH_ISOLATION=chroot TS_TRY_AT=$work/try
buildah=(buildah --storage-driver vfs --root "$work/images" --runroot "$work/run")
trap '"${buildah[@]}" rm --all >/dev/null; rm -rf "$work"' EXIT
mkdir -p "$work/context/programs" "$work/bin" "$TS_TRY_AT/out"
cp "$1/tpusight" "$1/tpusight-annotate" "$work/context/programs"
ln -s "$root" "$TS_TRY_AT/source"

"${buildah[@]}" build --quiet -f "$here/Containerfile" --build-arg PROGRAMS=programs -t tpusight "$work/context"
container=$("${buildah[@]}" from tpusight)
printf 'try_image.sh: the image has %s\n' "$("${buildah[@]}" images --json | sed -n 's/.*"size": "\([^"]*\)".*/\1/p')"
for name in tpusight tpusight-annotate; do # what is typed here runs in there, with the files of the trial
	printf '#!/bin/sh\nexec %s run -v "%s:%s" %s -- %s "$@"\n' "${buildah[*]}" "$TS_TRY_AT" "$TS_TRY_AT" "$container" "$name" >"$work/bin/$name"
	chmod +x "$work/bin/$name"
done
PATH=$work/bin:$PATH bash "$here/installed.sh" --programs "$(sed -n 's/^AC_INIT(\[tpusight\], \[\([^]]*\)\].*/\1/p' "$root/configure.ac")"
