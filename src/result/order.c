/* SPDX-License-Identifier: MIT */
/* The order of rows: a merge sort of their indices, because equal rows must stay as they are. */
#include "result/order.h"

#include <strings.h>

#include "base/check.h"
#include "base/closest.h"

int ts_table_find_column(const struct ts_table *table, const char *name)
{
	int column;

	TS_ASSERT(table && name);
	column = ts_table_column(table, name);
	for (size_t i = 0; column < 0 && i < table->nr_columns; i++)
		if (table->columns[i].label && strcasecmp(table->columns[i].label, name) == 0)
			column = (int)i;
	return column;
}

enum rank { NUMBER, TEXT, UNKNOWN };

static enum rank result_order_rank_of(struct ts_value value)
{
	if (!isnan(ts_value_number(value)))
		return NUMBER;
	return value.type == TS_VALUE_TEXT ? TEXT : UNKNOWN;
}

/* Whether row B belongs in front of row A, which stands before it in the table. */
static bool result_order_is_first(const struct ts_table *table, int column, size_t b, size_t a)
{
	struct ts_value of_b = ts_table_cell(table, b, column);
	struct ts_value of_a = ts_table_cell(table, a, column);

	if (result_order_rank_of(of_b) != result_order_rank_of(of_a))
		return result_order_rank_of(of_b) < result_order_rank_of(of_a);
	if (result_order_rank_of(of_b) == NUMBER)
		return ts_value_number(of_b) > ts_value_number(of_a);
	return result_order_rank_of(of_b) == TEXT && ts_bytes_cmp(of_b.as.s, of_a.as.s) < 0;
}

/* Two runs of WIDTH rows of FROM, from AT on, become one of INTO. */
static void join_runs(const struct ts_table *table, int column, const size_t *from, size_t *into,
		      size_t at, size_t width)
{
	size_t middle = TS_MIN(at + width, ts_table_nr_listed(table));
	size_t end = TS_MIN(at + 2 * width, ts_table_nr_listed(table));
	size_t a = at, b = middle;

	for (size_t i = at; i < end; i++)
		if (b < end &&
		    (a == middle || result_order_is_first(table, column, from[b], from[a])))
			into[i] = from[b++];
		else
			into[i] = from[a++];
}

enum ts_status ts_table_order(const struct ts_table *table, int column, size_t *rows,
			      struct ts_error *err)
{
	size_t *other, *from = rows, nr = ts_table_nr_listed(table);

	TS_ASSERT(table && rows);
	for (size_t i = 0; i < table->nr_rows; i++)
		rows[i] = i;
	if (column < 0)
		return TS_OK;
	other = calloc(nr + 1, sizeof(*other));
	if (!other)
		return ts_fail_nomem(err);
	for (size_t width = 1; width < nr; width *= 2) {
		size_t *into = from == rows ? other : rows;

		for (size_t at = 0; at < nr; at += 2 * width)
			join_runs(table, column, from, into, at, width);
		from = into;
	}
	if (from == other)
		memcpy(rows, other, nr * sizeof(*rows));
	free(other);
	return TS_OK;
}

static void result_order_put_columns(struct ts_buf *list, const struct ts_table *table)
{
	for (size_t i = 0; i < table->nr_columns; i++)
		ts_buf_printf(list, "%s%s", list->n ? ", " : "", table->columns[i].name);
}

enum ts_status ts_tables_need_column(const struct ts_table *tables, size_t nr, const char *name,
				     struct ts_error *err)
{
	struct ts_closest closest = ts_closest_to(ts_bytes_of(name));
	struct ts_buf list = TS_BUF_INIT;

	TS_ASSERT((tables || nr == 0) && name);
	for (size_t t = 0; t < nr; t++) {
		if (ts_table_find_column(&tables[t], name) >= 0)
			return TS_OK;
		for (size_t i = 0; i < tables[t].nr_columns; i++) {
			ts_closest_try(&closest, tables[t].columns[i].name);
			if (tables[t].columns[i].label)
				ts_closest_try(&closest, tables[t].columns[i].label);
		}
	}
	if (closest.name[0])
		return ts_fail(err, TS_USAGE, "unknown column '%.64s' (did you mean '%s'?)", name,
			       closest.name);
	if (nr > 0)
		result_order_put_columns(&list, &tables[0]);
	ts_fail(err, TS_USAGE, "unknown column '%.64s' (there are: %.*s)", name,
		TS_ARG(ts_buf_bytes(&list)));
	ts_buf_release(&list);
	return TS_USAGE;
}
