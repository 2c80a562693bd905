#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints C with the SQL package: embed.sh FOLDER. rows.sql comes first, as all others include it.
set -eu
LC_ALL=C
export LC_ALL
cd "$1"

modules="rows $(for file in *.sql; do echo "${file%.sql}"; done | grep -v '^rows$')"
echo '/* Made by src/trace/perfetto/sql/embed.sh. */'
echo '#include "trace/perfetto/sql.h"'
for module in $modules; do
	echo "static const uint8_t ${module}[] = {"
	od -An -v -tx1 "$module.sql" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
	echo "0 };"
done
echo 'const struct ts_sql_module ts_sql_modules[] = {'
for module in $modules; do
	echo "	{ \"$module\", { $module, sizeof($module) - 1 } },"
done
echo '};'
echo 'const size_t ts_nr_sql_modules = sizeof(ts_sql_modules) / sizeof(*ts_sql_modules);'
