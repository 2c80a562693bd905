/* SPDX-License-Identifier: MIT */
/*
 * The report as types of another language: one for each result, for each group of its fields, for the rows of each table
 * and for the objects of each list, called after where they stand (TimeBuckets, TimeStepsRow); and Results, which has all.
 */
#include "write/schema.h"

#include <ctype.h>

#include "base/check.h"

/* How a language says it. */
struct language {
	const char *head;
	const char *open, *opened, *close; /* around the name of a type, and behind its members */
	const char *indent, *of, *of_part,
		*end; /* of a member; a part is one that may be missing */
	const char *list, *list_end, *table, *table_end; /* around the type of an item */
	const char *maybe, *maybe_end;			 /* around what may be null */
	const char *others,
		*each;	      /* members of rows: of a sum of others; of runs that are compared */
	bool rows_are_plain;  /* lists in their cells are not of typed objects */
	const char *reserved; /* words that cannot be members, a space around each */
	const char *types[TS_TYPE_GROUP + 1];
};

static const struct language typescript = {
	.head = "// SPDX-License-Identifier: MIT\n"
		"// The results of a report, as tpusight schema --format typescript prints them. "
		"null: unknown; what a report does not have is undefined.\n",
	.open = "\nexport interface ",
	.opened = " {\n",
	.close = "}\n",
	.indent = "\t",
	.of = ": ",
	.of_part = "?: ",
	.end = ";\n",
	.list = "",
	.list_end = "[]",
	.table = "",
	.table_end = "[]",
	.maybe = "",
	.maybe_end = " | null",
	.others = "\tis_others?: true;\n",
	.each = "\t[of_a_run: string]: unknown;\n",
	.reserved = "",
	.types = { "unknown", "number", "number", "string", "string", "string", "boolean",
		   "unknown[]", "Record<string, unknown>" },
};

static const struct language python = {
	.head = "# SPDX-License-Identifier: MIT\n"
		"# The results of a report, as tpusight schema --format python prints them. None: "
		"unknown.\n"
		"from collections.abc import Iterator\n"
		"from typing import Any, Generic, TypeVar, overload\n"
		"\n"
		"from ._fields import Fields\n"
		"from .table import Table\n"
		"\n"
		"_Row = TypeVar(\"_Row\", bound=Fields)\n"
		"\n"
		"class Rows(Table, Generic[_Row]):\n"
		"    def __iter__(self) -> Iterator[_Row]: ...\n"
		"    @overload\n"
		"    def __getitem__(self, key: int) -> _Row: ...\n"
		"    @overload\n"
		"    def __getitem__(self, key: slice) -> Rows[_Row]: ...\n"
		"    @overload\n"
		"    def __getitem__(self, key: str) -> list[Any]: ...\n",
	.open = "\nclass ",
	.opened = "(Fields):\n",
	.close = "",
	.indent = "    ",
	.of = ": ",
	.of_part = ": ",
	.end = "\n",
	.list = "Rows[",
	.list_end = "]",
	.table = "Rows[",
	.table_end = "]",
	.maybe = "",
	.maybe_end = " | None",
	.others = "    is_others: bool\n",
	.each = "",
	.reserved = " async class from values ",
	.rows_are_plain = true,
	.types = { "Any", "int", "float", "str", "str", "str", "bool", "list[Any]", "Fields" },
};

struct types {
	struct ts_buf *out;
	const struct language *language;
	const struct ts_sheet *const *sheets; /* of the result */
};

/* "TimeBuckets" of time and buckets; a part of a name may be "gaps_by_event". */
static void put_name(struct ts_buf *out, struct ts_bytes words)
{
	bool begins = true;

	for (size_t i = 0; i < words.n; i++) {
		bool is_letter = isalnum(words.p[i]);

		if (is_letter)
			ts_buf_putc(out, begins ? (char)toupper(words.p[i]) : (char)words.p[i]);
		begins = !is_letter;
	}
}

static void open_type(const struct types *types, struct ts_bytes name, const char *suffix)
{
	ts_buf_puts(types->out, types->language->open);
	put_name(types->out, name);
	ts_buf_puts(types->out, suffix);
	ts_buf_puts(types->out, types->language->opened);
}

static bool is_reserved(const struct language *language, struct ts_bytes name)
{
	struct ts_buf word = TS_BUF_INIT;
	bool is;

	ts_buf_printf(&word, " %.*s ", TS_ARG(name));
	ts_buf_putc(&word, '\0');
	is = !word.failed && strstr(language->reserved, (const char *)word.p);
	ts_buf_release(&word);
	return is;
}

/* A member whose type stands between FRONT and BACK. */
static void put_member(struct ts_buf *out, const struct language *language, struct ts_bytes name,
		       const char *of, struct ts_bytes type, const char *front, const char *back)
{
	if (is_reserved(language, name))
		return;
	ts_buf_puts(out, language->indent);
	ts_buf_put(out, name);
	ts_buf_puts(out, of);
	ts_buf_puts(out, front);
	ts_buf_put(out, type);
	ts_buf_puts(out, back);
	ts_buf_puts(out, language->end);
}

/* The objects of the list that stands at PATH; NULL: it is one of plain values, or none. */
static const struct ts_sheet *items_at(const struct types *types, struct ts_bytes path)
{
	for (size_t i = 0; types->sheets[i]; i++)
		if (types->sheets[i]->is_items && ts_bytes_is(path, types->sheets[i]->name))
			return types->sheets[i];
	return NULL;
}

static void put_value(const struct types *types, struct ts_buf *out, const char *of,
		      struct ts_bytes place, struct ts_bytes path, const struct ts_column *column,
		      const char *name)
{
	const struct language *language = types->language;
	struct ts_buf type = TS_BUF_INIT;

	if (items_at(types, path)) {
		ts_buf_puts(&type, language->list);
		put_name(&type, place);
		ts_buf_puts(&type, "Item");
		ts_buf_puts(&type, language->list_end);
	} else {
		ts_buf_puts(&type, language->types[column->type]);
	}
	put_member(out, language, ts_bytes_of(name), of, ts_buf_bytes(&type), language->maybe,
		   language->maybe_end);
	out->failed |= type.failed;
	ts_buf_release(&type);
}

/* PREFIX and PATH with a _ between them are what a type is called after. */
static void join(struct ts_buf *out, const char *prefix, struct ts_bytes path)
{
	ts_buf_clear(out);
	ts_buf_printf(out, "%s_%.*s", prefix, TS_ARG(path));
}

static void schema_types_put_columns(const struct types *types, const char *prefix,
				     const struct ts_sheet *sheet)
{
	struct ts_buf path = TS_BUF_INIT, place = TS_BUF_INIT;

	for (size_t i = 0; i < sheet->nr_columns; i++) {
		ts_buf_clear(&path);
		ts_buf_printf(&path, "%s.%s", sheet->name, sheet->columns[i].name);
		join(&place, prefix, ts_buf_bytes(&path));
		put_value(types, types->out, types->language->of, ts_buf_bytes(&place),
			  types->language->rows_are_plain ? (struct ts_bytes){ NULL, 0 }
							  : ts_buf_bytes(&path),
			  &sheet->columns[i], sheet->columns[i].name);
	}
	types->out->failed |= path.failed || place.failed;
	ts_buf_release(&path);
	ts_buf_release(&place);
}

/* The type of a row or an item; one of several forms of a table is the first. */
static void put_sheet(const struct types *types, const char *prefix, const struct ts_sheet *sheet,
		      bool is_compared)
{
	struct ts_buf place = TS_BUF_INIT;

	join(&place, prefix, ts_bytes_of(sheet->name));
	open_type(types, ts_buf_bytes(&place), sheet->is_items ? "Item" : "Row");
	schema_types_put_columns(types, prefix, sheet);
	if (!sheet->is_items)
		ts_buf_puts(types->out, types->language->others);
	if (is_compared)
		ts_buf_puts(types->out, types->language->each);
	ts_buf_puts(types->out, types->language->close);
	types->out->failed |= place.failed;
	ts_buf_release(&place);
}

/* An earlier sheet declares the table already, or the sheet does not declare one. */
static bool schema_types_is_known(const struct types *types, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(types->sheets[i]->name, types->sheets[at]->name) == 0)
			return true;
	return types->sheets[at]->is_each;
}

static bool is_compared(const struct types *types, const char *name)
{
	for (size_t i = 0; types->sheets[i]; i++)
		if (types->sheets[i]->is_each && strcmp(types->sheets[i]->name, name) == 0)
			return true;
	return false;
}

/* Types of rows and items go to the output, members for the tables into MEMBERS. Items before what has them. */
static void put_sheets(const struct types *types, struct ts_buf *members, const char *prefix)
{
	const struct language *language = types->language;
	struct ts_buf type = TS_BUF_INIT, place = TS_BUF_INIT;

	for (size_t i = 0; types->sheets[i]; i++)
		if (types->sheets[i]->is_items)
			put_sheet(types, prefix, types->sheets[i], false);
	for (size_t i = 0; types->sheets[i]; i++) {
		const struct ts_sheet *sheet = types->sheets[i];

		if (sheet->is_items || schema_types_is_known(types, i))
			continue;
		put_sheet(types, prefix, sheet, is_compared(types, sheet->name));
		ts_buf_clear(&type);
		join(&place, prefix, ts_bytes_of(sheet->name));
		put_name(&type, ts_buf_bytes(&place));
		ts_buf_puts(&type, "Row");
		put_member(members, language, ts_bytes_of(sheet->name), language->of_part,
			   ts_buf_bytes(&type), language->table, language->table_end);
	}
	members->failed |= type.failed || place.failed;
	ts_buf_release(&type);
	ts_buf_release(&place);
}

static size_t schema_types_nr_in_group(const struct ts_column *fields, size_t nr,
				       struct ts_bytes group)
{
	size_t found = 0;

	while (found < nr && fields[found].name &&
	       strncmp(fields[found].name, (const char *)group.p, group.n) == 0 &&
	       fields[found].name[group.n] == '.')
		found++;
	return found;
}

static void schema_types_put_fields(const struct types *types, struct ts_buf *members,
				    const char *prefix, const struct ts_column *fields, size_t nr,
				    size_t at);

/* A type for a group of NR fields, and the member that has it. */
static void schema_types_put_group(const struct types *types, struct ts_buf *members,
				   const char *prefix, const struct ts_column *fields, size_t nr,
				   struct ts_bytes path, size_t at, bool may_be_null)
{
	const struct language *language = types->language;
	struct ts_buf place = TS_BUF_INIT, type = TS_BUF_INIT, inside = TS_BUF_INIT;

	join(&place, prefix, path);
	schema_types_put_fields(types, &inside, prefix, fields, nr, path.n + 1);
	open_type(types, ts_buf_bytes(&place), "");
	ts_buf_put(types->out, ts_buf_bytes(&inside));
	ts_buf_puts(types->out, language->close);
	put_name(&type, ts_buf_bytes(&place));
	put_member(members, language, ts_bytes_cut(path, at, path.n), language->of_part,
		   ts_buf_bytes(&type), may_be_null ? language->maybe : "",
		   may_be_null ? language->maybe_end : "");
	members->failed |= place.failed || type.failed || inside.failed;
	ts_buf_release(&place);
	ts_buf_release(&type);
	ts_buf_release(&inside);
}

/* Fields whose names are the same up to AT. */
static void schema_types_put_fields(const struct types *types, struct ts_buf *members,
				    const char *prefix, const struct ts_column *fields, size_t nr,
				    size_t at)
{
	struct ts_buf place = TS_BUF_INIT;

	for (size_t i = 0; i < nr && fields[i].name;) {
		const char *name = fields[i].name, *dot = strchr(name + at, '.');
		struct ts_bytes path = { (const uint8_t *)name,
					 dot ? (size_t)(dot - name) : strlen(name) };
		size_t first = i + (!dot && fields[i].type == TS_TYPE_GROUP);
		size_t inside = schema_types_nr_in_group(fields + first, nr - first, path);

		if (inside > 0) {
			schema_types_put_group(types, members, prefix, fields + first, inside, path,
					       at, first > i);
			i = first + inside;
			continue;
		}
		join(&place, prefix, path);
		put_value(types, members, types->language->of_part, ts_buf_bytes(&place), path,
			  &fields[i++], name + at);
	}
	members->failed |= place.failed;
	ts_buf_release(&place);
}

static void schema_types_put_result(const struct types *types, struct ts_buf *members,
				    const struct ts_schema *schema)
{
	const struct language *language = types->language;
	struct ts_buf inside = TS_BUF_INIT, type = TS_BUF_INIT;
	bool is_top = schema->flags & TS_TOP_LEVEL;
	struct ts_buf *own = is_top ? members : &inside;
	const char *prefix = is_top ? "" : schema->name;

	put_sheets(types, own, prefix);
	schema_types_put_fields(types, own, prefix, schema->fields, schema->nr_fields, 0);
	if (!is_top && inside.n > 0) { /* one that is drawn only may have none */
		open_type(types, ts_bytes_of(schema->name), "");
		ts_buf_put(types->out, ts_buf_bytes(&inside));
		ts_buf_puts(types->out, language->close);
		put_name(&type, ts_bytes_of(schema->name));
		put_member(members, language, ts_bytes_of(schema->name), language->of_part,
			   ts_buf_bytes(&type), "", "");
	}
	members->failed |= inside.failed || type.failed;
	ts_buf_release(&inside);
	ts_buf_release(&type);
}

static void put_all(struct ts_buf *out, const struct language *language)
{
	struct types types = { .out = out, .language = language };
	struct ts_buf members = TS_BUF_INIT;

	TS_ASSERT(out);
	ts_buf_puts(out, language->head);
	for (size_t i = 0; ts_schemas[i]; i++) {
		types.sheets = ts_schemas[i]->sheets;
		schema_types_put_result(&types, &members, ts_schemas[i]);
	}
	open_type(&types, TS_LIT("results"), "");
	ts_buf_put(out, ts_buf_bytes(&members));
	ts_buf_puts(out, language->close);
	out->failed |= members.failed;
	ts_buf_release(&members);
}

void ts_schema_typescript(struct ts_buf *out)
{
	put_all(out, &typescript);
}

void ts_schema_python(struct ts_buf *out)
{
	put_all(out, &python);
}
