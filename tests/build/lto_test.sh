#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs are optimized as one when they are linked (m4/lto.m4), where configure chose that: most functions of the library
# are then seen by no other file. Clang leaves them in the list of symbols, so its programs are passed over. Run in the build folder.
set -u
value() { sed -n "s/^$1 = *//p" Makefile; }
seen() { nm "$1" 2>/dev/null | grep -c ' T ts_'; }

[ -n "$(value LTO_CFLAGS)" ] || { echo "link-time optimization is off in this build"; exit 77; }
[ -n "$(value NO_LTO_LDFLAGS)" ] || { echo "this compiler's programs do not show it"; exit 77; }
command -v nm >/dev/null || { echo "nm is not installed"; exit 77; }
of_library=$(seen libtpusight.a)
[ "$of_library" -gt 1000 ] || { echo "libtpusight.a has $of_library functions that others may call"; exit 1; }
for program in bin/tpusight bin/tpusight-annotate; do
	n=$(seen $program)
	echo "$program: $n of $of_library functions are seen from outside their file"
	[ "$n" -lt $((of_library / 4)) ] || exit 1
done
