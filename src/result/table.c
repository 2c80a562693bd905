/* SPDX-License-Identifier: MIT */
/* Tables, lists and single values. */
#include "result/result.h"

#include "base/check.h"

/* A table's address holds until the result's list of tables grows; an old one would lose rows. */
static bool is_live(const struct ts_result *result, const struct ts_table *table)
{
	return result->tables && table >= result->tables &&
	       table < result->tables + result->nr_tables;
}

/* On the heap and not in the arena, which would keep every smaller copy; freed with the results. */
static bool grow_rows(struct ts_result *result, struct ts_table *table)
{
	size_t width = TS_MAX(table->nr_columns, 1) * sizeof(*table->cells);

	if (width / sizeof(*table->cells) <= SIZE_MAX / sizeof(*table->cells) &&
	    ts_grow(&table->cells, &table->cap_rows, table->nr_rows + 1, width))
		return true;
	result->owner->failed = true;
	return false;
}

struct ts_value *ts_table_row(struct ts_result *result, struct ts_table *table)
{
	struct ts_results *owner = result->owner;

	TS_ASSERT(is_live(result, table) || table == &owner->spare_table);
	if (table == &owner->spare_table ||
	    (table->nr_rows == table->cap_rows && !grow_rows(result, table)))
		return memset(owner->spare_row, 0, sizeof(owner->spare_row));
	return &table->cells[table->nr_rows++ * table->nr_columns];
}

struct ts_value ts_result_list(struct ts_result *result, const struct ts_column *columns,
			       size_t nr_columns, size_t nr, struct ts_value **items)
{
	struct ts_arena *arena = &result->owner->arena;
	struct ts_list *list = ts_arena_zalloc(arena, sizeof(*list));
	size_t width = columns ? nr_columns : 1;

	TS_ASSERT(result && items);
	TS_ASSERT(columns || nr_columns == 0);
	*items = NULL;
	if (list && (width == 0 || nr <= SIZE_MAX / width))
		*items = ts_arena_array(arena, nr * width, sizeof(**items));
	if (!*items) {
		result->owner->failed = true;
		return ts_null();
	}
	*list = (struct ts_list){ columns, columns ? nr_columns : 0, nr, *items };
	return (struct ts_value){ .type = TS_VALUE_LIST, .as.list = list };
}

const struct ts_table *ts_result_find_table(const struct ts_result *result, const char *table)
{
	TS_ASSERT(table);
	for (size_t i = 0; result && i < result->nr_tables; i++)
		if (strcmp(result->tables[i].name, table) == 0)
			return &result->tables[i];
	return NULL;
}

int ts_table_column(const struct ts_table *table, const char *name)
{
	TS_ASSERT(name);
	for (size_t i = 0; table && i < table->nr_columns; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

struct ts_value ts_table_cell(const struct ts_table *table, size_t row, int column)
{
	if (!table || row >= table->nr_rows || column < 0 || (size_t)column >= table->nr_columns)
		return ts_null();
	return table->cells[row * table->nr_columns + (size_t)column];
}

enum ts_origin ts_column_origin(const struct ts_table *table, size_t column)
{
	const enum ts_origin of_column = table->columns[column].origin;
	enum ts_origin origin = of_column;

	TS_ASSERT(table && column < table->nr_columns);
	for (size_t row = 0; row < table->nr_rows; row++) {
		enum ts_origin own = ts_table_cell(table, row, (int)column).origin;

		own = own ? own : of_column;
		if (row > 0 && own != origin)
			return TS_AS_FIELD;
		origin = own;
	}
	return origin;
}

struct ts_value ts_cell(const struct ts_table *table, size_t row, const char *column)
{
	TS_ASSERT(column);
	return ts_table_cell(table, row, ts_table_column(table, column));
}

struct ts_bytes ts_cell_text(const struct ts_table *table, size_t row, const char *column)
{
	struct ts_value cell = ts_cell(table, row, column);

	TS_ASSERT(column);
	return cell.type == TS_VALUE_TEXT ? cell.as.s : (struct ts_bytes){ NULL, 0 };
}

double ts_cell_number(const struct ts_table *table, size_t row, const char *column)
{
	TS_ASSERT(column);
	return ts_value_number(ts_cell(table, row, column));
}

int64_t ts_cell_int(const struct ts_table *table, size_t row, const char *column)
{
	TS_ASSERT(column);
	return ts_value_int(ts_cell(table, row, column));
}

struct ts_bytes ts_value_text(struct ts_value value)
{
	return value.type == TS_VALUE_TEXT ? value.as.s : (struct ts_bytes){ NULL, 0 };
}

double ts_value_number(struct ts_value value)
{
	switch (value.type) {
	case TS_VALUE_INT:  return (double)value.as.i;
	case TS_VALUE_ID:   return (double)value.as.u;
	case TS_VALUE_REAL: return value.as.r;
	default:	    return NAN;
	}
}

int64_t ts_value_int(struct ts_value value)
{
	switch (value.type) {
	case TS_VALUE_INT: return value.as.i;
	case TS_VALUE_ID:  return value.as.u > INT64_MAX ? -1 : (int64_t)value.as.u;
	case TS_VALUE_REAL: /* to the nearest; the limit is 2^63 */
		return fabs(value.as.r) < 9223372036854775808.0 ? (int64_t)llround(value.as.r) : -1;
	default: return -1;
	}
}
