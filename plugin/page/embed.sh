#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints C with the bytes of the page's bundle and the notices of what others made of it: embed.sh [page.js page.css page.csp].
# Without files the page is empty, and the program says that it was built without it.
set -eu

bytes() {
	echo "static const uint8_t $1[] = {"
	[ $# -gt 1 ] && od -An -v -tx1 "$2" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
	echo "0 };"
}

echo '/* Made by plugin/page/embed.sh. */'
echo '#include "write/page.h"'
bytes script ${1:+"$1"}
bytes style ${2:+"$2"}
bytes policy ${3:+"$3"}
sh "$(dirname "$0")/../../notices/text.sh" --page | bytes notices ${1:+-}
echo 'const struct ts_page ts_page = { { script, sizeof(script) - 1 }, { style, sizeof(style) - 1 }, { policy, sizeof(policy) - 1 },'
echo '	{ notices, sizeof(notices) - 1 } };'
