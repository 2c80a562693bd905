/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table's columns and cells, declared once. The list has a line a column: its name, where its
 * numbers come from, its label for people (NULL: not in the text view; TS_KEY, TS_SPARE: below), and the
 * value of its cell, an expression over whatever stands around TS_CELLS:
 *
 *	#define OPS(X)                                                     \
 *		X(name, TS_MEASURED, "op", ts_text(op->name))              \
 *		X(time_ps, TS_MEASURED, "time", ts_int_or_null(op->time_ps))
 *
 *	static const struct ts_column op_columns[] = { OPS(TS_COLUMN) };
 *
 *	static void put_op(struct ts_result *result, struct ts_table *table, const struct op *op)
 *	{
 *		TS_CELLS(result, table, OPS)
 *	}
 */
#ifndef TS_ANALYSIS_KIT_TABLE_H
#define TS_ANALYSIS_KIT_TABLE_H

#include "result/result.h"

/* Labels of columns with a weight (struct ts_column): what the table is about, and what is least missed. */
#define TS_KEY(label) label, 1
#define TS_SPARE(label) label, -1

#define TS_COLUMN(name, origin, label, value) { #name, origin, label },
#define TS_CELL(name, origin, label, value) *ts_next_cell++ = (value);

/* Adds a row to TABLE with the cells of LIST. */
#define TS_CELLS(result, table, LIST) \
	do { \
		struct ts_value *ts_next_cell = ts_table_row(result, table); \
\
		LIST(TS_CELL) \
	} while (0)

/*
 * The fields of a result from a list of the same form. A field stands where it was put first.
 *
 *	TS_FIELDS(result, CACHE_FIELDS);
 */
#define TS_FIELD(name, origin, label, value) \
	ts_result_field(ts_field_result, #name, (value), origin, label);
#define TS_FIELDS(result, LIST) \
	do { \
		struct ts_result *ts_field_result = (result); \
\
		LIST(TS_FIELD) \
	} while (0)

#endif
