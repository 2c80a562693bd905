/* SPDX-License-Identifier: MIT */
/*
 * A JSON Schema of the report. Every figure may be null: unknown. A result, and a row, has what is declared and nothing
 * else: columns that a comparison has for each of its runs by the pattern of their names. Of lists the rest is free.
 */
#include "write/schema.h"

#include "base/check.h"
#include "codec/json.h"
#include "codec/markdown.h"
#include "result/view.h"
#include "write/output.h"

static const char *const type_names[] = {
	[TS_TYPE_UNKNOWN] = NULL,   [TS_TYPE_INT] = "integer", [TS_TYPE_REAL] = "number",
	[TS_TYPE_ID] = "string",    [TS_TYPE_TEXT] = "string", [TS_TYPE_NAME] = "string",
	[TS_TYPE_BOOL] = "boolean", [TS_TYPE_LIST] = "array",  [TS_TYPE_GROUP] = "object",
};

static void schema_json_put_pair(struct ts_json *json, const char *key, const char *value)
{
	ts_json_key(json, key);
	ts_json_text(json, value);
}

static void open_object(struct ts_json *json, const char *key)
{
	if (key)
		ts_json_key(json, key);
	ts_json_object(json);
}

/* A schema as the source has it, from here to the end of a list of them. */
static void put_free(struct ts_json *json, const char *key, const char *type)
{
	open_object(json, key);
	if (type)
		schema_json_put_pair(json, "type", type);
	ts_json_object_end(json);
}

static void schema_json_put_types(struct ts_json *json, const char *const *types, size_t nr)
{
	ts_json_key(json, "type");
	ts_json_array(json);
	for (size_t i = 0; i < nr; i++)
		if (types[i])
			ts_json_text(json, types[i]);
	ts_json_array_end(json);
}

static const struct ts_note *schema_json_note_in(const struct ts_schema *schema,
						 const struct ts_sheet *sheet,
						 const struct ts_column *column)
{
	const struct ts_column *columns = sheet ? sheet->columns : schema->fields;
	size_t nr = sheet ? sheet->nr_columns : schema->nr_fields;

	return column >= columns && column < columns + nr
		       ? ts_schema_note(schema, sheet, column->name)
		       : NULL;
}

static const struct ts_note *schema_json_note_of(const struct ts_column *column)
{
	const struct ts_note *note = NULL;

	for (size_t i = 0; ts_schemas[i] && !note; i++) {
		note = schema_json_note_in(ts_schemas[i], NULL, column);
		for (size_t k = 0; ts_schemas[i]->sheets[k] && !note; k++)
			note = schema_json_note_in(ts_schemas[i], ts_schemas[i]->sheets[k], column);
	}
	return note;
}

static void schema_json_put_label(struct ts_json *json, const struct ts_column *column)
{
	const struct ts_note *note = schema_json_note_of(column);
	struct ts_buf said = TS_BUF_INIT;

	if (!column->term)
		return;
	schema_json_put_pair(json, "title",
			     column->own_label ? column->own_label : column->term->label);
	ts_buf_puts(&said, column->term->meaning);
	for (int i = 0; i < 2 && note; i++) {
		const char *text = i == 0 ? note->how : note->wrong;

		if (!text)
			continue;
		ts_buf_puts(&said, i == 0 ? " Source: " : " Wrong when: ");
		ts_markdown_put_unlinked(&said, text);
		ts_buf_puts(&said, ts_bytes_ends(ts_bytes_of(text), ".") ? "" : ".");
	}
	ts_json_key(json, "description");
	ts_json_string(json, ts_buf_bytes(&said));
	json->out->failed |= said.failed;
	ts_buf_release(&said);
}

static void close_closed(struct ts_json *json)
{
	ts_json_key(json, "additionalProperties");
	ts_json_bool(json, false);
	ts_json_object_end(json);
}

/* Every row has every column. */
static void put_required(struct ts_json *json, const struct ts_sheet *sheet)
{
	ts_json_key(json, "required");
	ts_json_array(json);
	for (size_t i = 0; i < sheet->nr_columns; i++)
		ts_json_text(json, sheet->columns[i].name);
	ts_json_array_end(json);
}

/* The list that stands in a field, or in the column of a table; NULL: its items are plain values. */
static const struct ts_sheet *items_of(const struct ts_sheet *const *sheets, const char *table,
				       const char *name)
{
	size_t n = table ? strlen(table) + 1 : 0;

	for (size_t i = 0; sheets[i]; i++) {
		const char *path = sheets[i]->name;

		if (sheets[i]->is_items && strlen(path) > n && strcmp(path + n, name) == 0 &&
		    (!table || (strncmp(path, table, n - 1) == 0 && path[n - 1] == '.')))
			return sheets[i];
	}
	return NULL;
}

static void schema_json_put_column(struct ts_json *json, const char *key,
				   const struct ts_column *column, const struct ts_sheet *items,
				   bool may_count);

static void schema_json_put_items(struct ts_json *json, const struct ts_sheet *items)
{
	open_object(json, "items");
	schema_json_put_pair(json, "type", "object");
	open_object(json, "properties");
	for (size_t i = 0; i < items->nr_columns; i++)
		schema_json_put_column(json, items->columns[i].name, &items->columns[i], NULL,
				       false);
	ts_json_object_end(json);
	put_required(json, items);
	close_closed(json);
}

/* The first column of a row that is the sum of others says how many they are. */
static void schema_json_put_column(struct ts_json *json, const char *key,
				   const struct ts_column *column, const struct ts_sheet *items,
				   bool may_count)
{
	const char *name = type_names[column->type];
	const char *const types[] = { name, "null",
				      may_count && name && strcmp(name, "string") != 0 ? "string"
										       : NULL };

	open_object(json, key);
	schema_json_put_label(json, column);
	if (name)
		schema_json_put_types(json, types, TS_NELEM(types));
	if (column->type == TS_TYPE_ID && !may_count)
		schema_json_put_pair(json, "pattern", "^[0-9]+$");
	if (column->type == TS_TYPE_NAME)
		schema_json_put_pair(json, "$comment", "of the user's job: redact hashes it");
	if (items)
		schema_json_put_items(json, items);
	ts_json_object_end(json);
}

/* How many of the fields are in the group of the first, whose name is N letters with the dot. */
static size_t schema_json_nr_in_group(const struct ts_column *fields, size_t nr, const char *group,
				      size_t n)
{
	size_t found = 0;

	while (found < nr && fields[found].name && strncmp(fields[found].name, group, n) == 0 &&
	       fields[found].name[n] == '.')
		found++;
	return found;
}

static bool has_column(const struct ts_sheet *sheet, const char *name)
{
	for (size_t i = 0; i < sheet->nr_columns; i++)
		if (strcmp(sheet->columns[i].name, name) == 0)
			return true;
	return false;
}

/* A column that another form of the table had before; columns for each run are apart. */
static bool schema_json_is_known(const struct ts_sheet *const *sheets, size_t at, const char *name)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(sheets[i]->name, sheets[at]->name) == 0 &&
		    sheets[i]->is_each == sheets[at]->is_each && has_column(sheets[i], name))
			return true;
	return false;
}

/* Names in a row of a comparison: run_0 is the baseline. */
static void put_run_column(struct ts_json *json, const struct ts_column *column)
{
	char pattern[128];

	snprintf(pattern, sizeof(pattern), "^run_%s%s$",
		 column->of_others ? "[1-9][0-9]*" : "[0-9]+", column->name);
	schema_json_put_column(json, pattern, column, NULL, false);
}

/* Of all forms of a table the columns that it has once, or those FOR_EACH run. */
static void put_columns(struct ts_json *json, const struct ts_sheet *const *sheets,
			const char *table, bool for_each)
{
	for (size_t i = 0; sheets[i]; i++) {
		if (strcmp(sheets[i]->name, table) != 0 || sheets[i]->is_each != for_each)
			continue;
		for (size_t k = 0; k < sheets[i]->nr_columns; k++) {
			const struct ts_column *column = &sheets[i]->columns[k];

			if (schema_json_is_known(sheets, i, column->name))
				continue;
			if (for_each)
				put_run_column(json, column);
			else
				schema_json_put_column(json, column->name, column,
						       items_of(sheets, table, column->name),
						       k == 0);
		}
	}
}

/* What the table, or the object, so called has for each run of a comparison. */
static void put_runs(struct ts_json *json, const struct ts_sheet *const *sheets, const char *name)
{
	size_t i = 0;

	while (sheets[i] && !(sheets[i]->is_each && strcmp(sheets[i]->name, name) == 0))
		i++;
	if (!sheets[i])
		return;
	open_object(json, "patternProperties");
	put_columns(json, sheets, name, true);
	ts_json_object_end(json);
}

static void schema_json_put_fields(struct ts_json *json, const struct ts_sheet *const *sheets,
				   const struct ts_column *fields, size_t nr, size_t at);

/* An object of NR fields, whose names begin with a group's of N letters, AT of them that of the groups around it. */
static void schema_json_put_group(struct ts_json *json, const struct ts_sheet *const *sheets,
				  const struct ts_column *fields, size_t nr, size_t at, size_t n,
				  const char *name, bool may_be_null)
{
	static const char *const types[] = { "object", "null" };

	ts_json_key_bytes(json, (struct ts_bytes){ (const uint8_t *)name + at, n - at });
	ts_json_object(json);
	schema_json_put_types(json, types, may_be_null ? 2 : 1);
	open_object(json, "properties");
	schema_json_put_fields(json, sheets, fields, nr, n + 1);
	ts_json_object_end(json);
	put_runs(json, sheets, name);
	close_closed(json);
}

/* Fields whose names are the same up to AT. */
static void schema_json_put_fields(struct ts_json *json, const struct ts_sheet *const *sheets,
				   const struct ts_column *fields, size_t nr, size_t at)
{
	for (size_t i = 0; i < nr && fields[i].name;) {
		const char *name = fields[i].name, *dot = strchr(name + at, '.');
		size_t n = dot ? (size_t)(dot - name) : strlen(name);
		bool is_whole = !dot && fields[i].type == TS_TYPE_GROUP;
		size_t first = i + is_whole,
		       inside = schema_json_nr_in_group(fields + first, nr - first, name, n);

		if (dot || is_whole)
			schema_json_put_group(json, sheets, fields + first, inside, at, n, name,
					      is_whole);
		else
			schema_json_put_column(json, name + at, &fields[i],
					       items_of(sheets, NULL, name), false);
		i = dot || is_whole ? first + inside : i + 1;
	}
}

static bool schema_json_is_form(const struct ts_sheet *a, const struct ts_sheet *b)
{
	return a != b && strcmp(a->name, b->name) == 0;
}

static void put_row(struct ts_json *json, const struct ts_sheet *const *sheets, size_t first)
{
	bool is_one = true;

	for (size_t i = first + 1; sheets[i]; i++)
		is_one &= sheets[i]->is_each || !schema_json_is_form(sheets[i], sheets[first]);
	schema_json_put_pair(json, "type", "object");
	open_object(json, "properties");
	put_columns(json, sheets, sheets[first]->name, false);
	put_free(json, "is_others", "boolean");
	ts_json_object_end(json);
	put_runs(json, sheets, sheets[first]->name);
	if (is_one)
		put_required(json, sheets[first]);
	close_closed(json);
}

static void schema_json_put_tables(struct ts_json *json, const struct ts_sheet *const *sheets)
{
	for (size_t i = 0; sheets[i]; i++) {
		bool is_known_form = sheets[i]->is_items || sheets[i]->is_each;

		for (size_t k = 0; k < i; k++)
			is_known_form |= schema_json_is_form(sheets[k], sheets[i]);
		if (is_known_form)
			continue;
		open_object(json, sheets[i]->name);
		schema_json_put_pair(json, "type", "array");
		open_object(json, "items");
		put_row(json, sheets, i);
		ts_json_object_end(json);
	}
}

/* A name of the schema that stands once, below $defs. */
static void put_reference(struct ts_json *json, const char *key, const char *name, bool is_list)
{
	struct ts_buf path = TS_BUF_INIT;

	ts_buf_printf(&path, "#/$defs/%s", name);
	open_object(json, key);
	if (is_list) {
		schema_json_put_pair(json, "type", "array");
		open_object(json, "items");
	}
	ts_json_key(json, "$ref");
	ts_json_string(json, ts_buf_bytes(&path));
	if (is_list)
		ts_json_object_end(json);
	ts_json_object_end(json);
	json->out->failed |= path.failed;
	ts_buf_release(&path);
}

static void put_texts(struct ts_json *json, const char *key)
{
	open_object(json, key);
	schema_json_put_pair(json, "type", "array");
	put_free(json, "items", "string");
	ts_json_object_end(json);
}

static bool has_sheet(const struct ts_sheet *const *sheets, const char *name)
{
	for (size_t i = 0; sheets && sheets[i]; i++)
		if (strcmp(sheets[i]->name, name) == 0)
			return true;
	return false;
}

/* What stands at the end of a result and of the report. */
static void put_tail(struct ts_json *json, const struct ts_sheet *const *sheets)
{
	if (!has_sheet(sheets, "findings"))
		put_reference(json, "findings", "finding", true);
	put_texts(json, "notes");
	open_object(json, "provenance");
	schema_json_put_pair(json, "type", "object");
	put_free(json, "additionalProperties", "string");
	ts_json_object_end(json);
}

/* A number where the name ends in a unit; else a word, a number or a truth. */
static void put_named(struct ts_json *json, const char *const *names, size_t nr)
{
	static const char *const types[] = { "number", "null", "string", "boolean" };

	for (size_t i = 0; i < nr; i++) {
		struct ts_bytes name = ts_bytes_of(names[i]);
		bool is_number = ts_bytes_ends(name, "_ps") || ts_bytes_ends(name, "_pct");

		open_object(json, names[i]);
		schema_json_put_types(json, types, is_number ? 2 : TS_NELEM(types));
		ts_json_object_end(json);
	}
}

static void schema_json_put_plain(struct ts_json *json, const char *key, const char *const *names,
				  size_t nr)
{
	open_object(json, key);
	schema_json_put_pair(json, "type", "object");
	open_object(json, "properties");
	put_named(json, names, nr);
	ts_json_object_end(json);
	close_closed(json);
}

static const struct part {
	const char *name;
	const char *const *names;
	size_t nr;
	bool is_list;
} finding_parts[] = {
	{ "where", ts_where_columns, TS_WHERE_COLUMNS, true },
	{ "time_ranges", ts_when_columns, TS_WHEN_COLUMNS, true },
	{ "merged", ts_merged_columns, TS_MERGED_COLUMNS, true },
	{ "links", ts_link_columns, TS_LINK_COLUMNS, false },
};

/* What a finding begins with, where that is known. */
static void schema_json_put_cause(struct ts_json *json)
{
	static const char *const types[] = { "object", "null" };

	open_object(json, "cause");
	schema_json_put_types(json, types, TS_NELEM(types));
	open_object(json, "properties");
	put_named(json, ts_root_columns, TS_ROOT_COLUMNS);
	put_texts(json, "chain");
	ts_json_object_end(json);
	close_closed(json);
}

static void put_finding(struct ts_json *json)
{
	open_object(json, "finding");
	schema_json_put_pair(json, "type", "object");
	open_object(json, "properties");
	put_named(json, ts_finding_columns, TS_FINDING_COLUMNS);
	for (const struct part *part = finding_parts;
	     part < finding_parts + TS_NELEM(finding_parts); part++) {
		if (!part->is_list) {
			schema_json_put_plain(json, part->name, part->names, part->nr);
			continue;
		}
		open_object(json, part->name);
		schema_json_put_pair(json, "type", "array");
		schema_json_put_plain(json, "items", part->names, part->nr);
		ts_json_object_end(json);
	}
	schema_json_put_cause(json);
	ts_json_object_end(json);
	close_closed(json);
}

static void schema_json_put_result(struct ts_json *json, const struct ts_schema *schema)
{
	open_object(json, schema->name);
	schema_json_put_pair(json, "title", schema->title);
	schema_json_put_pair(json, "type", "object");
	open_object(json, "properties");
	schema_json_put_fields(json, schema->sheets, schema->fields, schema->nr_fields, 0);
	schema_json_put_tables(json, schema->sheets);
	put_tail(json, schema->sheets);
	ts_json_object_end(json);
	close_closed(json);
}

static void put_head(struct ts_json *json)
{
	static const char *const generator[] = { "name", "version" };
	static const char *const part[] = { "from_ps", "to_ps", "device", "host" };

	open_object(json, "schema");
	schema_json_put_pair(json, "const", TS_REPORT_SCHEMA);
	ts_json_object_end(json);
	schema_json_put_plain(json, "generator", generator, TS_NELEM(generator));
	schema_json_put_plain(json, "part", part, TS_NELEM(part));
	put_free(json, "impossible_count", "integer");
	put_free(json, "impossible", "array");
	put_free(json, "tracks", "array");
	put_texts(json, "bottlenecks"); /* of a command that is about one result */
	put_texts(json, "recommendations");
}

static void schema_json_put_report(struct ts_json *json)
{
	open_object(json, "properties");
	put_head(json);
	for (size_t i = 0; ts_schemas[i]; i++) {
		if (ts_schemas[i]->flags & TS_TOP_LEVEL) {
			schema_json_put_fields(json, ts_schemas[i]->sheets, ts_schemas[i]->fields,
					       ts_schemas[i]->nr_fields, 0);
			schema_json_put_tables(json, ts_schemas[i]->sheets);
		} else {
			put_reference(json, ts_schemas[i]->name, ts_schemas[i]->name, false);
		}
	}
	put_tail(json, NULL);
	ts_json_object_end(json);
}

void ts_schema_json(struct ts_buf *out)
{
	struct ts_json json = ts_json_of(out, TS_JSON_PRETTY);

	TS_ASSERT(out);
	open_object(&json, NULL);
	schema_json_put_pair(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	schema_json_put_pair(&json, "title", TS_REPORT_SCHEMA);
	schema_json_put_pair(&json, "description",
			     "The report that tpusight report --format json prints.");
	schema_json_put_pair(&json, "type", "object");
	schema_json_put_report(&json);
	ts_json_key(&json, "required");
	ts_json_array(&json);
	ts_json_text(&json, "schema");
	ts_json_text(&json, "generator");
	ts_json_array_end(&json);
	ts_json_key(&json, "additionalProperties");
	ts_json_bool(&json, false);
	open_object(&json, "$defs");
	put_finding(&json);
	for (size_t i = 0; ts_schemas[i]; i++)
		if (!(ts_schemas[i]->flags & TS_TOP_LEVEL))
			schema_json_put_result(&json, ts_schemas[i]);
	ts_json_object_end(&json);
	ts_json_object_end(&json);
	ts_buf_putc(out, '\n');
}
