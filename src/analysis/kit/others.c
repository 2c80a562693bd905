/* SPDX-License-Identifier: MIT */
/* The row of what a table does not list. */
#include "analysis/kit/others.h"

#include "base/check.h"

void ts_table_end_others(struct ts_result *result, struct ts_table *table,
			 const struct ts_sheet *sheet, size_t nr, size_t label,
			 const struct ts_value *stays)
{
	struct ts_value *row;

	TS_ASSERT(result && table && nr > 0 && label < sheet->nr_columns && stays);
	if (table->nr_rows == 0)
		return; /* memory is out, as the results know */
	TS_ASSERT(ts_table_row_at(table, sheet, table->nr_rows - 1));
	row = table->cells + (table->nr_rows - 1) * table->nr_columns;
	for (size_t i = 0; i < table->nr_columns; i++)
		if (stays[i].type == TS_VALUE_NULL)
			row[i] = ts_null();
	row[label] = ts_text(ts_result_text(result, "%zu others", nr));
	table->nr_others++;
}
