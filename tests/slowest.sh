#!/bin/sh
# SPDX-License-Identifier: MIT
# slowest.sh LOG...: which of these tests took longest, of one or more.
[ $# -gt 1 ] || exit 0
for log; do
	sed -n 's/^:seconds: //p' "${log%.log}.trs"
done | sort -rn | awk '
	NR <= 10 { top[NR] = sprintf("%7.1f s %7.1f s  %s", $1, $2, $3) }
	{ wall += $1; cpu += $2 }
	END {
		printf "%7.1f s %7.1f s  all %d: of the clock one after the other, of processors\n", wall, cpu, NR
		for (i = 1; i in top; i++)
			print top[i]
	}'
