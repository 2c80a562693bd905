#!/bin/sh
# The floors of src/ against the #include lines: who may include what (docs/architecture.md). Also:
# siblings in read/, analysis/ and write/ do not include one another; a folder of one format and the
# private header of a split file (time.h of time*.c) are one sibling.
top=${1:-${srcdir:-.}}
cd "$top/src" || exit 99

may() { # floor -> the floors it may include
	case $1 in
	base) echo base ;;
	codec | io | model | hw | result) echo base "$1" ;;
	read) echo base codec io model read ;;
	analysis) echo base model hw result analysis ;;
	compare) echo base model result compare ;;
	write) echo base codec model result write ;;
	overlay) echo base codec io model result overlay ;;
	copy) echo base codec io model read copy ;;
	flow) echo base codec io model hw result read analysis compare write overlay copy flow ;;
	serve) echo base codec io flow result write serve ;;
	live) echo base codec io model hw result analysis write flow live ;;
	cli) echo base codec io model hw result read analysis compare write overlay copy flow live serve cli ;;
	esac
}

# Headers that belong to a whole floor: its interface, its lists, the pieces text is made of.
is_public() {
	case $1 in
	analysis/analysis.h | analysis/settings.h | analysis/list.h | analysis/facts/*.h | analysis/kit/*.h | read/reader.h | read/list.h | read/hlo.h | \
		read/seams.h | read/trace.h | \
		write/output.h | write/page.h | write/list.h | write/text_table.h | write/breakdown.h | \
		write/summary.h | write/brief.h | write/json_head.h) return 0 ;;
	esac
	return 1
}

family() { # the stem a split file shares with its private header
	echo "$1" | sed -e 's|\.[ch]$||' -e 's|^\([a-z]*/[a-z0-9]*\).*|\1|'
}

bad=0
for file in $(find . -name '*.[ch]' | sed 's|^\./||' | sort); do
	floor=${file%%/*}
	for header in $(sed -n 's|^#include "\([a-z]*/[^"]*\.h\)".*|\1|p' "$file"); do
		other=${header%%/*}
		case $header in
		*.pb-c.h) continue ;;
		esac
		case " $(may "$floor") " in
		*" $other "*) ;;
		*)
			echo "src/$file includes $header: $floor/ may not look into $other/"
			bad=1
			;;
		esac
		case $floor in
		read | analysis | write) ;;
		*) continue ;;
		esac
		[ "$floor" = "$other" ] && ! is_public "$header" || continue
		[ "$(family "$file")" = "$(family "$header")" ] || {
			echo "src/$file includes $header: a sibling (what two share goes one floor down)"
			bad=1
		}
	done
	grep -n '#include ".*\.pb-c\.h"' "$file" >/dev/null && case $floor in
	read | overlay) ;;
	*)
		echo "src/$file includes generated protobuf code: only read/ and overlay/ may"
		bad=1
		;;
	esac
done
exit $bad
