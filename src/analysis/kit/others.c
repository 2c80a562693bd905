/* SPDX-License-Identifier: MIT */
/* The row of what a table does not list. */
#include "analysis/kit/others.h"

#include "base/check.h"

static bool is_sum(const char *column, const char *const *sums)
{
	for (; *sums; sums++)
		if (strcmp(column, *sums) == 0)
			return true;
	return false;
}

void ts_table_end_others(struct ts_result *result, struct ts_table *table, size_t nr,
			 const char *label, const char *const *sums)
{
	struct ts_value *row;

	TS_ASSERT(result && table && nr > 0 && sums);
	TS_ASSERT(ts_table_column(table, label) >= 0);
	if (table->nr_rows == 0)
		return; /* memory is out, as the results know */
	row = table->cells + (table->nr_rows - 1) * table->nr_columns;
	for (size_t i = 0; i < table->nr_columns; i++)
		if (!is_sum(table->columns[i].name, sums))
			row[i] = ts_null();
	row[ts_table_column(table, label)] = ts_text(ts_result_text(result, "%zu others", nr));
	table->nr_others++;
}
