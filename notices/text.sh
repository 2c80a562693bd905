#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the licence of TPUsight and the notices of what others made: text.sh [--c | --page]. It is what `tpusight --licenses` says;
# with --c it is the C that the program has it from, with --page the notices alone of what is bundled into the page, for its foot.
set -eu
cd "$(dirname "$0")"

rows() { sed -n 's/ *| */|/g; /^[^#]/p' list; }

head_of() {
	cat <<-'HEAD'
		TPUsight is licensed under the MIT License. Its text stands at the end.

		Parts that others made, and whose licences follow:

	HEAD
	rows | while IFS='|' read -r name how licence purpose address; do
		case $how in
		linked) how="linked with the programs" ;;
		static) how="in programs that are one file" ;;
		page) how="bundled into the page" ;;
		esac
		printf '  %-14s %s: %s; %s; %s\n' "$name" "$licence" "$purpose" "$how" "$address"
	done
}

part() {
	printf '\n==== %s ====\n\n' "$1"
	cat "$2"
}

text() {
	head_of
	rows | while IFS='|' read -r name _; do part "$name" "$name.txt"; done
	part "TPUsight: MIT License" ../LICENSE
}

of_page() {
	rows | while IFS='|' read -r name how _; do
		[ "$how" != page ] || part "$name" "$name.txt"
	done
}

case ${1:-} in
--c) ;;
--page) of_page; exit ;;
*) text; exit ;;
esac
echo '/* Made by notices/text.sh. */'
echo '#include "cli/notices.h"'
echo 'static const uint8_t text[] = {'
text | od -An -v -tx1 | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
echo '0 };'
echo 'const struct ts_bytes ts_notices = { text, sizeof(text) - 1 };'
