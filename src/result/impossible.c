/* SPDX-License-Identifier: MIT */
/* Figures above their peak: made, and found again. */
#include "result/impossible.h"

#include "base/check.h"
#include "result/terms.h"

struct ts_value ts_impossible_value(struct ts_result *result, double value, double peak,
				    struct ts_bytes cause)
{
	struct ts_impossible *figure;

	TS_ASSERT(result && cause.n > 0);
	if (!isfinite(value))
		return ts_null();
	figure = ts_arena_zalloc(&result->owner->arena, sizeof(*figure));
	if (!figure) {
		result->owner->failed = true;
		return ts_null();
	}
	*figure = (struct ts_impossible){ value, peak, cause };
	return (struct ts_value){ .type = TS_VALUE_IMPOSSIBLE, .as.impossible = figure };
}

struct ts_value ts_held_value(struct ts_result *result, double value, double peak,
			      struct ts_bytes cause)
{
	if (ts_is_impossible(value, peak))
		return ts_impossible_value(result, value, peak, cause);
	return ts_real(value > peak ? peak : value);
}

struct ts_value ts_held_share_pct(struct ts_result *result, double share, struct ts_bytes cause)
{
	return ts_held_value(result, 100 * share, 100, cause);
}

struct ts_value ts_held_pct(struct ts_result *result, struct ts_held held)
{
	if (held.cause.n > 0)
		return ts_impossible_value(result, 100 * held.share, 100, held.cause);
	return ts_share_pct(held.share > 1 ? 1 : held.share);
}

static size_t each_field(const struct ts_result *result, ts_impossible_seen *seen, void *arg)
{
	size_t nr = 0;

	for (size_t i = 0; i < result->nr_fields; i++) {
		const struct ts_field *field = &result->fields[i];
		struct ts_impossible_place place = { .result = result, .name = field->name };

		if (field->value.type != TS_VALUE_IMPOSSIBLE)
			continue;
		nr++;
		place.figure = field->value.as.impossible;
		if (seen)
			seen(arg, &place);
	}
	return nr;
}

/* Of a cell that is a list. */
static size_t each_item(const struct ts_list *list, struct ts_impossible_place place,
			ts_impossible_seen *seen, void *arg)
{
	size_t nr = 0;

	place.in_list = true;
	for (place.index = 0; place.index < list->nr; place.index++) {
		const struct ts_value *item = &list->items[place.index];

		if (item->type != TS_VALUE_IMPOSSIBLE)
			continue;
		nr++;
		place.figure = item->as.impossible;
		if (seen)
			seen(arg, &place);
	}
	return nr;
}

static size_t each_cell(const struct ts_result *result, const struct ts_table *table,
			ts_impossible_seen *seen, void *arg)
{
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_rows * table->nr_columns; i++) {
		struct ts_impossible_place place = {
			.result = result,
			.table = table,
			.row = i / table->nr_columns,
			.name = table->columns[i % table->nr_columns].name,
		};

		if (table->cells[i].type == TS_VALUE_LIST && !table->cells[i].as.list->columns)
			nr += each_item(table->cells[i].as.list, place, seen, arg);
		if (table->cells[i].type != TS_VALUE_IMPOSSIBLE)
			continue;
		nr++;
		place.figure = table->cells[i].as.impossible;
		if (seen)
			seen(arg, &place);
	}
	return nr;
}

size_t ts_result_each_impossible(const struct ts_result *result, const struct ts_table *table,
				 ts_impossible_seen *seen, void *arg)
{
	size_t nr;

	TS_ASSERT(result);
	if (table)
		return each_cell(result, table, seen, arg);
	nr = each_field(result, seen, arg);
	for (size_t i = 0; i < result->nr_tables; i++)
		nr += each_cell(result, &result->tables[i], seen, arg);
	return nr;
}

/* The column of TABLE that means TERM; or -1. */
static int column_of_term(const struct ts_table *table, const struct ts_term *term)
{
	for (size_t i = 0; i < table->nr_columns; i++)
		if (table->columns[i].term == term)
			return (int)i;
	return -1;
}

struct ts_bytes ts_impossible_item(const struct ts_impossible_place *place)
{
	static const struct ts_term *const terms[] = {
		&ts_term_name,	 &ts_term_collective, &ts_term_custom_call,	 &ts_term_op,
		&ts_term_module, &ts_term_category,   &ts_term_kind_of_operator, &ts_term_memory,
	};
	const struct ts_table *table;
	struct ts_bytes text = { NULL, 0 };

	TS_ASSERT(place);
	table = place->table;
	for (size_t i = 0; i < TS_NELEM(terms) && table && text.n == 0; i++)
		text = ts_value_text(
			ts_table_cell(table, place->row, column_of_term(table, terms[i])));
	return text;
}
