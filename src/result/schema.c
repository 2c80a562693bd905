/* SPDX-License-Identifier: MIT */
/* The constant tables of the schema: the lists are read once a pass (result/schema/begin.h). */
#include "result/schema.h"

#include "base/check.h"
#include "result/terms.h"

#define TERM(id, label, meaning, formula, unit, page, also) \
	const struct ts_term ts_term_##id = { label, meaning, formula, unit, page, also };
#include "result/schema/terms.def"
#undef TERM

const struct ts_term *const ts_terms[] = {
#define TERM(id, ...) &ts_term_##id,
#include "result/schema/terms.def"
#undef TERM
	NULL
};

#include "result/schema/all.def"

#define TS_SCHEMA_PASS 1
#include "result/schema/all.def"
#undef TS_SCHEMA_PASS
#define TS_SCHEMA_PASS 2
#include "result/schema/all.def"
#undef TS_SCHEMA_PASS
#define TS_SCHEMA_PASS 3
#include "result/schema/all.def"
#undef TS_SCHEMA_PASS

#define TS_SCHEMA_PASS 4
#include "result/schema/all.def"
#undef TS_SCHEMA_PASS

/* Of a result without fields, the struct is less than one. */
#define TS_NR_FIELDS(of) (sizeof(struct ts_##of##_fields) / sizeof(struct ts_value))
#define TS_SCHEMA_PASS 5
#define RESULT(of, title, flags) \
	const struct ts_schema ts_schema_##of = { #of, title, flags, fields_##of, \
						  TS_NR_FIELDS(of), sheets_##of, notes_##of };
#include "result/schema/all.def"
#undef RESULT

const struct ts_schema *const ts_schemas[] = {
#define RESULT(of, title, flags) &ts_schema_##of,
#include "result/schema/all.def"
	NULL
};

struct ts_field *ts_result_put(struct ts_result *result, const struct ts_column *field,
			       struct ts_value value)
{
	TS_ASSERT(result && field);
	return ts_result_field(result, field->name, value, field->origin, field->label);
}

struct ts_field *ts_result_field_of(struct ts_result *result, const struct ts_column *field)
{
	struct ts_field *found;

	TS_ASSERT(result && field);
	found = ts_result_find_field(result, field->name);
	return found ? found : &result->owner->spare_field;
}

struct ts_value ts_result_value(const struct ts_result *result, const struct ts_column *field)
{
	TS_ASSERT(field);
	return ts_result_get(result, field->name);
}

struct ts_result *ts_results_of(struct ts_results *results, const struct ts_schema *schema)
{
	struct ts_result *result = ts_results_add(results, schema->name, schema->title);

	if (result)
		result->top_level = schema->flags & TS_TOP_LEVEL;
	return result;
}

struct ts_table *ts_result_titled(struct ts_result *result, const struct ts_sheet *sheet,
				  const char *title)
{
	TS_ASSERT(result && sheet);
	return ts_result_table(result, sheet->name, title, sheet->columns, sheet->nr_columns);
}

struct ts_table *ts_result_sheet(struct ts_result *result, const struct ts_sheet *sheet)
{
	return ts_result_titled(result, sheet, sheet->title);
}

/* Forms of one table have columns of the same names; behind those of a comparison stand columns of the runs. */
static bool begins_with(const struct ts_table *table, const struct ts_sheet *sheet)
{
	if (table->columns == sheet->columns)
		return true;
	for (size_t i = 0; i < sheet->nr_columns; i++)
		if (i >= table->nr_columns ||
		    strcmp(table->columns[i].name, sheet->columns[i].name) != 0)
			return false;
	return true;
}

static bool result_schema_is_form(const struct ts_table *table, const struct ts_sheet *sheet)
{
	return table->nr_columns == sheet->nr_columns && begins_with(table, sheet);
}

struct ts_value *ts_result_row(struct ts_result *result, struct ts_table *table,
			       const struct ts_sheet *sheet)
{
	TS_ASSERT(result_schema_is_form(table, sheet) || table == &result->owner->spare_table);
	return ts_table_row(result, table);
}

const struct ts_value *ts_table_row_at(const struct ts_table *table, const struct ts_sheet *sheet,
				       size_t index)
{
	TS_ASSERT(table && index < table->nr_rows);
	TS_ASSERT(result_schema_is_form(table, sheet));
	return table->cells + index * table->nr_columns;
}

struct ts_value ts_table_cell_of(const struct ts_table *table, const struct ts_sheet *sheet,
				 size_t index, size_t column)
{
	TS_ASSERT(!table || begins_with(table, sheet));
	return ts_table_cell(table, index, (int)column);
}

struct ts_value ts_result_items(struct ts_result *result, const struct ts_sheet *sheet, size_t nr)
{
	struct ts_value *items;

	TS_ASSERT(result && sheet && sheet->is_items);
	return ts_result_list(result, sheet->columns, sheet->nr_columns, nr, &items);
}

struct ts_value *ts_list_rows(struct ts_value list, const struct ts_sheet *sheet)
{
	TS_ASSERT(sheet && sheet->is_items);
	if (list.type != TS_VALUE_LIST)
		return NULL;
	TS_ASSERT(list.as.list->columns == sheet->columns);
	return list.as.list->items;
}

/* NAME is NR letters; one * of PATTERN stands for any. */
static bool schema_is_named(struct ts_bytes pattern, struct ts_bytes name)
{
	size_t star = ts_bytes_find(pattern, "*");

	if (star == pattern.n)
		return ts_bytes_eq(pattern, name);
	return name.n + 1 >= pattern.n &&
	       ts_bytes_eq(ts_bytes_cut(pattern, 0, star), ts_bytes_cut(name, 0, star)) &&
	       ts_bytes_eq(ts_bytes_cut(pattern, star + 1, pattern.n),
			   ts_bytes_cut(name, name.n - (pattern.n - star - 1), name.n));
}

int ts_note_place(const struct ts_note *note, const char *name)
{
	struct ts_bytes rest = ts_bytes_of(note->names);
	int place = 0;

	if (rest.n == 0 && *name == '\0')
		return 0;
	for (; rest.n > 0; place++) {
		size_t n = ts_bytes_find(rest, ", ");

		if (schema_is_named(ts_bytes_cut(rest, 0, n), ts_bytes_of(name)))
			return place;
		rest = ts_bytes_cut(rest, n + strlen(", "), rest.n);
	}
	return -1;
}

const struct ts_note *ts_schema_notes(const struct ts_schema *schema, const struct ts_sheet *sheet)
{
	const struct ts_note *note = schema->notes;

	if (!sheet)
		return note;
	while (note->columns != sheet->columns)
		note++; /* each sheet has its place */
	return note + 1;
}

const struct ts_note *ts_schema_note(const struct ts_schema *schema, const struct ts_sheet *sheet,
				     const char *name)
{
	const struct ts_note *note = ts_schema_notes(schema, sheet);

	while (note->names && ts_note_place(note, name) < 0)
		note++;
	return note->names ? note : NULL;
}
