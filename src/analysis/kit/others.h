/* SPDX-License-Identifier: MIT */
/*
 * Tables with a row for each op or step have a bound: what stands behind it is one row, "N others", with
 * its sums. Totals, findings and percentiles are of all rows: they are worked out before.
 *
 *	size_t nr = ts_listed_ops(ctx, list->nr, MAX_ROWS);
 *	...					rows 0 to nr - 1
 *	if (nr < list->nr)
 *		put_row(the sum of the others), TS_END_OTHERS(...);
 */
#ifndef TS_ANALYSIS_KIT_OTHERS_H
#define TS_ANALYSIS_KIT_OTHERS_H

#include "analysis/analysis.h"
#include "analysis/kit/run_steps.h"
#include "result/schema.h"

/* How many of NR rows a table of ops lists: what the user says, else USUAL. */
static inline size_t ts_listed_ops(const struct ts_context *ctx, size_t nr, size_t usual)
{
	return TS_MIN(nr, ctx->max_ops ? ctx->max_ops : usual);
}

/* Makes the last row of TABLE that of NR others: its column LABEL says so, the columns that the list SUMS
 * names stay, all else is null. */
#define TS_END_OTHERS(result, table, row, nr, label, SUMS) \
	ts_table_end_others(result, table, &ts_sheet_##row, nr, TS_COLUMN_AT(row, label), \
			    (const struct ts_value *)&(struct ts_##row##_row){ SUMS(TS_STAYS) })
#define TS_STAYS(name) .name = { .type = TS_VALUE_BOOL },

/* STAYS: a row that is null where a column does not stay. */
void ts_table_end_others(struct ts_result *result, struct ts_table *table,
			 const struct ts_sheet *sheet, size_t nr, size_t label,
			 const struct ts_value *stays);

#endif
