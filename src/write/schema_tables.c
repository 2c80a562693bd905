/* SPDX-License-Identifier: MIT */
/*
 * The tables of docs/analyses, each behind a line "<!-- schema RESULT.TABLE -->" (RESULT alone: its fields), by which cli/manual/pages.py puts
 * them into the pages. A row is a column, or those that share a note: names, labels, how, origins, when it is wrong.
 */
#include "write/schema.h"

#include "base/check.h"

struct place {
	struct ts_buf *out;
	const struct ts_schema *schema;
	const struct ts_sheet *sheet; /* NULL: the fields */
	const struct ts_column *columns;
	size_t nr;
};

/* The columns that share the note of one, in the order of its names; without a note, one. */
struct row {
	const struct ts_note *note; /* or NULL */
	const struct ts_column *columns[TS_MAX_COLUMNS];
	size_t nr;
};

static const struct ts_note *schema_tables_note_of(const struct place *place, size_t at)
{
	return ts_schema_note(place->schema, place->sheet, place->columns[at].name);
}

/* Each name is one of a column, so there are no more names than columns. */
static struct row row_of(const struct place *place, size_t at)
{
	struct row row = { schema_tables_note_of(place, at), { &place->columns[at] }, 1 };

	if (!row.note)
		return row;
	row.nr = 0;
	for (int name = 0; name < (int)place->nr; name++)
		for (size_t i = 0; i < place->nr; i++)
			if (schema_tables_note_of(place, i) == row.note &&
			    place->columns[i].type != TS_TYPE_GROUP &&
			    ts_note_place(row.note, place->columns[i].name) == name)
				row.columns[row.nr++] = &place->columns[i];
	return row;
}

/* At the first of its columns. */
static bool begins_row(const struct place *place, size_t at)
{
	const struct ts_note *note = schema_tables_note_of(place, at);

	for (size_t i = 0; i < at && note; i++)
		if (schema_tables_note_of(place, i) == note &&
		    place->columns[i].type != TS_TYPE_GROUP)
			return false;
	return place->columns[at].type != TS_TYPE_GROUP;
}

/* In a cell a | is the end of it. */
static void put_cell(struct ts_buf *out, const char *text)
{
	for (; text && *text; text++) {
		if (*text == '|')
			ts_buf_putc(out, '\\');
		ts_buf_putc(out, *text);
	}
}

static void put_row_names(const struct place *place, const struct row *row)
{
	const char *run = place->sheet && place->sheet->is_each ? "run_K" : "";

	for (size_t i = 0; i < row->nr; i++)
		ts_buf_printf(place->out, "%s`%s%s`", i > 0 ? ", " : "", run,
			      row->columns[i]->name);
}

static const char *schema_tables_label_of(const struct ts_column *column)
{
	if (column->own_label || !column->term)
		return column->own_label ? column->own_label : "";
	return column->term->label;
}

static const char *origin_of(const struct ts_column *column)
{
	return ts_origin_name(column->origin);
}

/* What OF says of the columns of a row, each text once. */
static void schema_tables_put_each(struct ts_buf *out, const struct row *row,
				   const char *(*of)(const struct ts_column *column))
{
	const char *between = "";

	for (size_t i = 0; i < row->nr; i++) {
		const char *text = of(row->columns[i]);
		size_t k = 0;

		while (k < i && strcmp(of(row->columns[k]), text) != 0)
			k++;
		if (k < i || !*text)
			continue;
		ts_buf_puts(out, between);
		put_cell(out, text);
		between = ", ";
	}
}

/* Without a note of it the term has all there is to say. */
static void put_how(struct ts_buf *out, const struct ts_column *column, const struct ts_note *note)
{
	if (note && note->how) {
		put_cell(out, note->how);
	} else if (column->term) {
		put_cell(out, column->term->meaning);
		if (column->term->formula)
			ts_buf_puts(out, " Formula: ");
		put_cell(out, column->term->formula);
	}
}

static void put_table_row(const struct place *place, const struct row *row)
{
	ts_buf_puts(place->out, "| ");
	put_row_names(place, row);
	ts_buf_puts(place->out, " | ");
	schema_tables_put_each(place->out, row, schema_tables_label_of);
	ts_buf_puts(place->out, " | ");
	put_how(place->out, row->columns[0], row->note);
	ts_buf_puts(place->out, " | ");
	schema_tables_put_each(place->out, row, origin_of);
	ts_buf_puts(place->out, " | ");
	put_cell(place->out, row->note ? row->note->wrong : NULL);
	ts_buf_puts(place->out, " |\n");
}

/* A text is a sentence, or the start of one. */
static void put_sentence(struct ts_buf *out, const char *front, const char *text)
{
	if (!text)
		return;
	ts_buf_printf(out, "%s%s%s", front, text, ts_bytes_ends(ts_bytes_of(text), ".") ? "" : ".");
}

/* Of the table itself. */
static void put_about(struct ts_buf *out, const struct ts_sheet *sheet, const struct ts_note *note)
{
	if (sheet)
		ts_buf_printf(out, "\n**`%s[]`**", sheet->name);
	if (sheet && sheet->title)
		ts_buf_printf(out, ", *%s*", sheet->title);
	if (note) {
		put_sentence(out, sheet ? ": " : "\n", note->how);
		put_sentence(out, " Wrong when: ", note->wrong);
	}
	if (sheet || note)
		ts_buf_putc(out, '\n');
}

/* An earlier table with the same columns; NULL: there is none. */
static const struct ts_sheet *like(const struct place *place)
{
	const struct ts_sheet *const *sheets = place->schema->sheets;

	while (*sheets && *sheets != place->sheet && (*sheets)->columns != place->columns)
		sheets++;
	return *sheets == place->sheet ? NULL : *sheets;
}

/* An earlier form of the table says all of it. */
static bool is_said(const struct place *place)
{
	const struct ts_sheet *const *sheets = place->schema->sheets;

	for (; place->sheet && *sheets != place->sheet; sheets++) {
		size_t i = 0;

		if (strcmp((*sheets)->name, place->sheet->name) != 0 ||
		    (*sheets)->nr_columns != place->nr)
			continue;
		while (i < place->nr && (*sheets)->columns[i].term == place->columns[i].term &&
		       strcmp((*sheets)->columns[i].name, place->columns[i].name) == 0)
			i++;
		if (i == place->nr)
			return true;
	}
	return false;
}

static void put_rows(const struct place *place)
{
	ts_buf_printf(place->out,
		      "\n| %s | label | formula, source | origin | wrong when |\n"
		      "|---|---|---|---|---|\n",
		      place->sheet ? "column" : "field");
	for (size_t i = 0; i < place->nr; i++) {
		struct row row = row_of(place, i);

		if (begins_row(place, i))
			put_table_row(place, &row);
	}
}

static void put_place(const struct place *place)
{
	const struct ts_sheet *known = place->sheet ? like(place) : NULL;

	if (is_said(place))
		return;

	ts_buf_printf(place->out, "<!-- schema %s%s%s -->\n", place->schema->name,
		      place->sheet ? "." : "", place->sheet ? place->sheet->name : "");
	if (known) {
		ts_buf_printf(place->out, "\n**`%s[]`**: the columns of `%s[]`.\n",
			      place->sheet->name, known->name);
		return;
	}
	put_about(place->out, place->sheet, ts_schema_note(place->schema, place->sheet, ""));
	put_rows(place);
}

void ts_schema_tables(struct ts_buf *out)
{
	TS_ASSERT(out);
	for (size_t i = 0; ts_schemas[i]; i++) {
		const struct ts_schema *schema = ts_schemas[i];

		if (schema->nr_fields > 0)
			put_place(&(struct place){ out, schema, NULL, schema->fields,
						   schema->nr_fields });
		for (size_t k = 0; schema->sheets[k]; k++)
			put_place(&(struct place){ out, schema, schema->sheets[k],
						   schema->sheets[k]->columns,
						   schema->sheets[k]->nr_columns });
	}
}
