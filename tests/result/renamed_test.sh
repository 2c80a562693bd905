#!/bin/sh
# SPDX-License-Identifier: MIT
# A column that is gone does not compile where somebody still reads or fills it. Run in the build folder.
set -u
top=${srcdir:-.}
value() { sed -n "s/^$1 = *//p" Makefile; }
tree=$(mktemp -d) || exit 99
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/result/schema"
wrong=0

# compile FILE: with the schema of $tree in front of the real one
compile() {
	# shellcheck disable=SC2046 # words of the compiler and its flags
	LC_ALL=C $(value CC) $(value CPPFLAGS) -include config.h -I"$tree" -I. -I"$top/src" -I"$top" -Iproto \
		-fsyntax-only "$top/src/$1" >"$tree/said" 2>&1
}

# what becomes of ops.def, the file, what the compiler says; -: it compiles
while read -r change file says; do
	[ -n "$change" ] || continue
	sed "$change" "$top/src/result/schema/ops.def" >"$tree/result/schema/ops.def"
	if compile "$file"; then got=-; else got=failed; fi
	[ "$says" = - ] && [ "$got" = - ] && continue
	[ "$says" != - ] && [ "$got" = failed ] && grep -q "$says" "$tree/said" && continue
	echo "$file with $change: must say \"$says\", but"
	cat "$tree/said"
	wrong=1
done <<'ROWS'
s/^$//                                               compare/modules.c  -
s/^COLUMN(executions,/COLUMN(times,/                 compare/modules.c  executions
s/^$//                                               analysis/ops/ops.c  -
s/^COLUMN(executions,/COLUMN(times,/                 analysis/ops/ops.c  executions
s/^COLUMN(executions,.*/&COLUMN(more,INT,MEASURED,HIDE,T(count))/  analysis/ops/ops.c  a column has no cell, or two
s/^$//                                               run/export_tables.c  -
s/^COLUMN(op_index,/COLUMN(index,/                   run/export_tables.c  op_index
s/^$//                                               serve/card.c  -
s/^COLUMN(total_time_ps,/COLUMN(time_ps,/            serve/card.c  total_time_ps
ROWS
exit $wrong
