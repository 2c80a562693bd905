/* SPDX-License-Identifier: MIT */
/*
 * The schema of results: each result, with its fields, tables and columns, is declared once, in
 * result/schema/NAME.def. From that come the rows and fields that an analysis fills and everybody else reads
 * (typed: a column that is renamed does not compile where its old name is wanted), and what the
 * program says of itself (`tpusight schema`): the glossary, a JSON Schema, types for the page and for Python.
 *
 * A row of a table is a struct of values, one a column, in the order of the columns:
 *
 *	#include "result/schema/ops.def"
 *	...
 *	const struct ts_table *modules = TS_FIND_TABLE(results, ops, modules);
 *
 *	for (size_t i = 0; i < ts_table_rows(modules); i++)
 *		use(ts_value_text(TS_ROW(modules, ops_modules, i)->name));
 *
 * An analysis fills a row from a list that has each column once, with the expression of its cell:
 *
 *	#define MODULE_CELLS(X)                  \
 *		X(name, ts_text(module->name))   \
 *		X(executions, ts_int(sum->nr))
 *
 *	struct ts_table *table = TS_TABLE(result, ops_modules);
 *	...
 *	TS_CELLS(result, table, ops_modules, MODULE_CELLS);
 *
 * and a field by TS_SET(result, time, buckets.idle_ps, ts_int(ps)).
 */
#ifndef TS_RESULT_SCHEMA_H
#define TS_RESULT_SCHEMA_H

#include <stddef.h>

#include "result/result.h"

/* What a result is beside its fields and tables. */
enum ts_schema_flags {
	TS_TOP_LEVEL = 1,  /* its fields and tables stand in the report itself, not in an object */
	TS_DRAWS_ONLY = 2, /* tracks for viewers and the page, not a view */
};

/* A table, and which columns it has. */
struct ts_sheet {
	const char *name, *title; /* of the text view; NULL: not shown there */
	const struct ts_column *columns;
	size_t nr_columns;
	bool is_each; /* its columns stand once for each run of a comparison, in the table named so */
	bool is_items; /* not a table: objects in the list that stands in the field, or column, named so */
};

/*
 * What the terms of fields and columns do not say, in Markdown: where a number comes from, and when it is wrong. In the notes of a
 * result one without names begins those of a table; in front stand those of its fields.
 */
struct ts_note {
	const struct ts_column *columns; /* of the table that begins here; or NULL */
	const char *
		names; /* ", " between them, a * for any letters; empty: the table, or the fields */
	const char *how, *wrong; /* or NULL */
};

struct ts_schema {
	const char *name, *title;
	unsigned flags;
	const struct ts_column *fields;
	size_t nr_fields;
	const struct ts_sheet *const *sheets; /* NULL at the end */
	const struct ts_note *notes;
};

extern const struct ts_schema *const ts_schemas[]; /* in the order of the report; NULL at the end */

/* The words that labels are explained by, in the order of the glossary. */
extern const struct ts_term *const ts_terms[]; /* NULL at the end */

/* Of a table; of the fields where SHEET is NULL. They end at the first without names. */
const struct ts_note *ts_schema_notes(const struct ts_schema *schema, const struct ts_sheet *sheet);
/* Of a column or a field; NULL: there is none. */
const struct ts_note *ts_schema_note(const struct ts_schema *schema, const struct ts_sheet *sheet,
				     const char *name);
/* Which of the note's names NAME is; -1: none. */
int ts_note_place(const struct ts_note *note, const char *name);

/* An index of a field: of struct ts_OF_fields, where groups are structs inside. */
#define TS_FIELD_AT(of, name) (offsetof(struct ts_##of##_fields, name) / sizeof(struct ts_value))
/* Of a column. */
#define TS_COLUMN_AT(row, name) (offsetof(struct ts_##row##_row, name) / sizeof(struct ts_value))

/* Names as texts, for tables that are constant; of what is not declared they do not compile. */
#define TS_NAME_THAT(text, is_there) (&(text)[0 * (is_there)])
#define TS_RESULT_NAME(of)		   TS_NAME_THAT(#of, sizeof(ts_schema_##of))
#define TS_TABLE_NAME(of, name)		   TS_NAME_THAT(#name, sizeof(ts_sheet_##of##_##name))
#define TS_COLUMN_NAME(row, name)	   TS_NAME_THAT(#name, TS_COLUMN_AT(row, name))
#define TS_FIELD_NAME(of, name)		   TS_NAME_THAT(#name, TS_FIELD_AT(of, name))
#define TS_GROUP_NAME(of, name)		   TS_NAME_THAT(#name, sizeof(((struct ts_##of##_fields *)0)->name))
#define TS_NAME_IN(of, group, name) TS_NAME_THAT(#name, TS_FIELD_AT(of, group.name))

/* Sets a field; said again, the newest wins. Never NULL: its label and origin may be set from what it gives. */
#define TS_SET(result, of, name, value) \
	ts_result_put(result, &ts_schema_##of.fields[TS_FIELD_AT(of, name)], value)
/* By its index, of a table of them. */
#define TS_SET_AT(result, of, index, value) \
	ts_result_put(result, &ts_schema_##of.fields[index], value)
/* One that was set. */
#define TS_FIELD_OF(result, of, name) \
	ts_result_field_of(result, &ts_schema_##of.fields[TS_FIELD_AT(of, name)])
#define TS_GET_AT(result, of, index) ts_result_value(result, &ts_schema_##of.fields[index])
/* The value of a field; null: RESULT is NULL, or does not have it. */
#define TS_GET(result, of, name) \
	ts_result_value(result, &ts_schema_##of.fields[TS_FIELD_AT(of, name)])

/* A result that is not that of an analysis. NULL: no memory. */
#define TS_ADD(results, of) ts_results_of(results, &ts_schema_##of)

/* NULL: there is none. */
#define TS_FIND(results, of)		    ts_results_find(results, ts_schema_##of.name)
#define TS_RESULT_TABLE(result, row)	    ts_result_find_table(result, ts_sheet_##row.name)
#define TS_FIND_TABLE(results, of, name) \
	TS_RESULT_TABLE(TS_FIND(results, of), of##_##name)

/* Adds a table to RESULT. */
#define TS_TABLE(result, row) ts_result_sheet(result, &ts_sheet_##row)
/* Under another title, or under none where TITLE is NULL. */
#define TS_TITLED_TABLE(result, row, title_) ts_result_titled(result, &ts_sheet_##row, title_)

/* A row that is there. */
#define TS_ROW(table, row, index) \
	((const struct ts_##row##_row *)ts_table_row_at(table, &ts_sheet_##row, index))
/* A cell; null where the table is NULL. */
#define TS_CELL_OF(table, row, index, name) \
	ts_table_cell_of(table, &ts_sheet_##row, index, TS_COLUMN_AT(row, name))

#define TS_CELL(name, value)	.name = (value),
#define TS_COUNT_ONE(name, value) +1
#define TS_ROW_OF(row, LIST) ((struct ts_##row##_row){ LIST(TS_CELL) })
#define TS_CHECK_LIST(row, LIST) \
	_Static_assert(0 LIST(TS_COUNT_ONE) == \
			       sizeof(struct ts_##row##_row) / sizeof(struct ts_value), \
		       "a column has no cell, or two")

/* A list of NR objects, all null, and the first of them. NULL: there is no memory, as the results know. */
#define TS_ITEMS(result, row, nr) ts_result_items(result, &ts_sheet_##row, nr)
#define TS_ITEM_ROWS(list, row) ((struct ts_##row##_row *)ts_list_rows(list, &ts_sheet_##row))
/* One that is there. */
#define TS_ITEM(value, row, index) ((const struct ts_##row##_row *)TS_ITEM_ROWS(value, row) + (index))

/* Adds a row to TABLE with the cells of LIST, which names each column once. */
#define TS_CELLS(result, table, row, LIST) \
	do { \
		struct ts_##row##_row *ts_row = \
			(struct ts_##row##_row *)ts_result_row(result, table, &ts_sheet_##row); \
\
		TS_CHECK_LIST(row, LIST); \
		*ts_row = TS_ROW_OF(row, LIST); \
	} while (0)

/* Fills ITEM, of TS_ITEM_ROWS, likewise. */
#define TS_ITEM_CELLS(item, row, LIST) \
	do { \
		TS_CHECK_LIST(row, LIST); \
		*(item) = TS_ROW_OF(row, LIST); \
	} while (0)

/* Adds a row to TABLE with the cells that are said, `.name = value`; the others are null. */
#define TS_PUT_ROW(result, table, row, ...) \
	(*(struct ts_##row##_row *)ts_result_row(result, table, &ts_sheet_##row) = \
		 (struct ts_##row##_row){ __VA_ARGS__ })

struct ts_field *ts_result_put(struct ts_result *result, const struct ts_column *field,
			       struct ts_value value);
struct ts_field *ts_result_field_of(struct ts_result *result, const struct ts_column *field);
struct ts_value ts_result_value(const struct ts_result *result, const struct ts_column *field);
struct ts_result *ts_results_of(struct ts_results *results, const struct ts_schema *schema);
struct ts_table *ts_result_sheet(struct ts_result *result, const struct ts_sheet *sheet);
struct ts_table *ts_result_titled(struct ts_result *result, const struct ts_sheet *sheet,
				  const char *title);
/* A new row, all null; TABLE has the columns of SHEET. */
struct ts_value *ts_result_row(struct ts_result *result, struct ts_table *table,
			       const struct ts_sheet *sheet);
struct ts_value ts_result_items(struct ts_result *result, const struct ts_sheet *sheet, size_t nr);
struct ts_value *ts_list_rows(struct ts_value list, const struct ts_sheet *sheet);
struct ts_value ts_table_cell_of(const struct ts_table *table, const struct ts_sheet *sheet,
				 size_t index, size_t column);
const struct ts_value *ts_table_row_at(const struct ts_table *table, const struct ts_sheet *sheet,
				       size_t index);

static inline size_t ts_list_length(struct ts_value list) /* null has none */
{
	return list.type == TS_VALUE_LIST ? list.as.list->nr : 0;
}

static inline size_t ts_table_rows(const struct ts_table *table) /* NULL has none */
{
	return table ? table->nr_rows : 0;
}

#endif
