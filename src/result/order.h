/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table in the order that a user asks for.
 *
 * By the values of one column: numbers, the largest first; texts by their letters; what is unknown last. Rows
 * that are equal stay in the table's own order. Sums of what is not listed stay at the end.
 */
#ifndef TS_RESULT_ORDER_H
#define TS_RESULT_ORDER_H

#include "result/result.h"

/* A column by its name or, in letters of either case, its label; -1: there is none. */
int ts_table_find_column(const struct ts_table *table, const char *name);
/* ROWS: table->nr_rows indices. COLUMN -1: in the table's own order. */
enum ts_status ts_table_order(const struct ts_table *table, int column, size_t *rows,
			      struct ts_error *err);

/* TS_USAGE: none of the NR tables has the column; the story names the closest, or all of them. */
enum ts_status ts_tables_need_column(const struct ts_table *tables, size_t nr, const char *name,
				     struct ts_error *err);

#endif
