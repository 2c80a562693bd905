/* SPDX-License-Identifier: MIT */
/* The schema of results: its names are unique and whole, and what is said by position is found by name. */
#include "tests/test.h"
#include "result/schema/ops.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

static bool is_name(const char *name, const char *letters)
{
	return name[0] >= 'a' && name[0] <= 'z' && strspn(name, letters) == strlen(name);
}

/* A part of an object stands behind its siblings and nowhere else; the whole, right in front of its parts. */
static bool follows_its_group(const struct ts_schema *schema, size_t at)
{
	const char *name = schema->fields[at].name, *dot = strrchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) + 1 : 0, i = at;

	while (i > 0 && strncmp(schema->fields[i - 1].name, name, n) == 0)
		i--;
	while (n > 0 && i-- > 0)
		if (strncmp(schema->fields[i].name, name, n) == 0)
			return false;
	return true;
}

static bool has_parts_behind(const struct ts_schema *schema, size_t at)
{
	size_t n = strlen(schema->fields[at].name);

	return at + 1 < schema->nr_fields &&
	       strncmp(schema->fields[at + 1].name, schema->fields[at].name, n) == 0 &&
	       schema->fields[at + 1].name[n] == '.';
}

static void check_column(const struct ts_schema *schema, const struct ts_column *column)
{
	if (column->origin < TS_MEASURED || column->origin > TS_DERIVED)
		fail_msg("%s.%s has no origin", schema->name, column->name);
	if (column->type <= TS_TYPE_UNKNOWN || column->type > TS_TYPE_GROUP)
		fail_msg("%s.%s has no type", schema->name, column->name);
	if (column->weight < -1 || column->weight > 1 || (column->weight && !column->label))
		fail_msg("%s.%s has a weight and is not shown", schema->name, column->name);
	if (column->type != TS_TYPE_GROUP && !column->term)
		fail_msg("%s.%s has no term", schema->name, column->name);
}

static void check_unique(const char *of, const struct ts_column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(columns[i].name, columns[k].name) == 0)
				fail_msg("%s has %s twice", of, columns[i].name);
}

TEST(results_have_names_of_their_own)
{
	assert_non_null(ts_schemas[0]);
	for (size_t i = 0; ts_schemas[i]; i++) {
		assert_true(is_name(ts_schemas[i]->name, LETTERS));
		assert_non_null(ts_schemas[i]->title);
		assert_int_equal(ts_schemas[i]->flags & ~(TS_TOP_LEVEL | TS_DRAWS_ONLY), 0);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ts_schemas[i]->name, ts_schemas[k]->name);
	}
}

/* An object whose members are named after the runs that are compared. */
static bool is_open(const struct ts_schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->nr_fields; i++)
		if (strcmp(schema->fields[i].name, name) == 0 &&
		    schema->fields[i].type == TS_TYPE_GROUP)
			for (size_t t = 0; schema->sheets[t]; t++)
				if (schema->sheets[t]->is_each &&
				    strcmp(schema->sheets[t]->name, name) == 0)
					return true;
	return false;
}

TEST(fields_are_unique_and_parts_of_an_object_stand_together)
{
	size_t nr = 0;

	for (size_t s = 0; ts_schemas[s]; s++) {
		const struct ts_schema *schema = ts_schemas[s];

		check_unique(schema->name, schema->fields, schema->nr_fields);
		for (size_t i = 0; i < schema->nr_fields; i++, nr++) {
			const struct ts_column *field = &schema->fields[i];

			check_column(schema, field);
			if (!is_name(field->name, LETTERS ".") || !follows_its_group(schema, i))
				fail_msg("%s.%s", schema->name, field->name);
			if ((field->type == TS_TYPE_GROUP) != has_parts_behind(schema, i) &&
			    !is_open(schema, field->name))
				fail_msg("%s.%s: is it an object?", schema->name, field->name);
		}
	}
	assert_true(nr > 100);
}

/* The columns of a run of a comparison begin with a _, behind the run's name; its value has that alone. */
TEST(columns_are_unique_and_whole)
{
	for (size_t s = 0; ts_schemas[s]; s++)
		for (size_t t = 0; ts_schemas[s]->sheets[t]; t++) {
			const struct ts_sheet *sheet = ts_schemas[s]->sheets[t];

			assert_in_range(sheet->nr_columns, 1, TS_MAX_COLUMNS);
			check_unique(sheet->name, sheet->columns, sheet->nr_columns);
			for (size_t i = 0; i < sheet->nr_columns; i++) {
				const struct ts_column *column = &sheet->columns[i];

				check_column(ts_schemas[s], column);
				if (sheet->is_each
					    ? strspn(column->name, LETTERS) != strlen(column->name)
					    : !is_name(column->name, LETTERS))
					fail_msg("%s.%s", sheet->name, column->name);
				assert_int_not_equal(column->type, TS_TYPE_GROUP);
			}
		}
}

static bool has_table(const struct ts_schema *schema, const char *name, size_t nr)
{
	for (size_t t = 0; t < nr; t++)
		if (!schema->sheets[t]->is_each && strcmp(schema->sheets[t]->name, name) == 0)
			return true;
	return false;
}

static bool has_field(const struct ts_schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->nr_fields; i++)
		if (strcmp(schema->fields[i].name, name) == 0)
			return true;
	return false;
}

/* The list that items stand in: a field, or a column behind the name of its table. */
static bool has_list(const struct ts_schema *schema, const char *path)
{
	const char *dot = strrchr(path, '.');

	if (has_field(schema, path))
		return true;
	for (size_t t = 0; dot && schema->sheets[t]; t++)
		if (strncmp(schema->sheets[t]->name, path, (size_t)(dot - path)) == 0)
			for (size_t i = 0; i < schema->sheets[t]->nr_columns; i++)
				if (strcmp(schema->sheets[t]->columns[i].name, dot + 1) == 0)
					return true;
	return false;
}

/* A table is a member of the object that the fields are members of. */
TEST(tables_have_names_that_no_field_has)
{
	for (size_t s = 0; ts_schemas[s]; s++)
		for (size_t t = 0; ts_schemas[s]->sheets[t]; t++) {
			const struct ts_sheet *sheet = ts_schemas[s]->sheets[t];

			if (sheet->is_items) {
				assert_true(is_name(sheet->name, LETTERS "."));
				assert_true(has_list(ts_schemas[s], sheet->name));
				continue;
			}
			if (sheet->is_each && is_open(ts_schemas[s], sheet->name))
				continue;
			if (!is_name(sheet->name, LETTERS) || has_field(ts_schemas[s], sheet->name))
				fail_msg("%s.%s", ts_schemas[s]->name, sheet->name);
			if (sheet->is_each && !has_table(ts_schemas[s], sheet->name, t))
				fail_msg("%s.%s is of no table", ts_schemas[s]->name, sheet->name);
		}
}

static bool is_used_in(const struct ts_column *columns, size_t nr, const struct ts_term *term)
{
	for (size_t i = 0; i < nr; i++)
		if (columns[i].term == term)
			return true;
	return false;
}

static bool is_used(const struct ts_term *term)
{
	for (size_t s = 0; ts_schemas[s]; s++) {
		if (is_used_in(ts_schemas[s]->fields, ts_schemas[s]->nr_fields, term))
			return true;
		for (size_t t = 0; ts_schemas[s]->sheets[t]; t++)
			if (is_used_in(ts_schemas[s]->sheets[t]->columns,
				       ts_schemas[s]->sheets[t]->nr_columns, term))
				return true;
	}
	return false;
}

/* By a column, or by what it names itself: a track, a part of a list. */
TEST(each_term_explains_something)
{
	for (size_t i = 0; ts_terms[i]; i++) {
		assert_true(*ts_terms[i]->label && *ts_terms[i]->meaning && *ts_terms[i]->page);
		if (!ts_terms[i]->also && !is_used(ts_terms[i]))
			fail_msg("%s is the label of nothing", ts_terms[i]->label);
	}
}

/* Each of the names is that of a column that has this note and no other. */
static void check_names(const struct ts_schema *schema, const struct ts_sheet *sheet,
			const struct ts_note *note)
{
	const struct ts_column *columns = sheet ? sheet->columns : schema->fields;
	size_t nr = sheet ? sheet->nr_columns : schema->nr_fields;
	size_t n;

	for (const char *at = note->names; *at; at += n + strspn(at + n, ", ")) {
		char name[64];
		const struct ts_note one = { .names = name };
		size_t i = 0;

		n = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		while (i < nr && (ts_note_place(&one, columns[i].name) < 0 ||
				  ts_schema_note(schema, sheet, columns[i].name) != note))
			i++;
		if (i == nr)
			fail_msg("%s.%s: %s", schema->name, sheet ? sheet->name : "", name);
	}
}

static size_t check_notes(const struct ts_schema *schema, const struct ts_sheet *sheet)
{
	size_t nr = 0;

	for (const struct ts_note *note = ts_schema_notes(schema, sheet); note->names; note++) {
		assert_true(note->how || note->wrong);
		if (!*note->names)
			assert_ptr_equal(ts_schema_note(schema, sheet, ""), note);
		check_names(schema, sheet, note);
		nr++;
	}
	return nr;
}

TEST(each_note_is_of_something)
{
	size_t nr = 0;

	for (size_t s = 0; ts_schemas[s]; s++) {
		nr += check_notes(ts_schemas[s], NULL);
		for (size_t t = 0; ts_schemas[s]->sheets[t]; t++)
			nr += check_notes(ts_schemas[s], ts_schemas[s]->sheets[t]);
	}
	assert_true(nr > 100);
}

TEST(a_star_stands_for_any_letters)
{
	const struct ts_note note = { .names = "buckets.*, *_excess_ps, idle" };

	assert_int_equal(ts_note_place(&note, "buckets.idle_ps"), 0);
	assert_int_equal(ts_note_place(&note, "input_excess_ps"), 1);
	assert_int_equal(ts_note_place(&note, "idle"), 2);
	assert_int_equal(ts_note_place(&note, "bucket"), -1);
	assert_int_equal(ts_note_place(&note, "excess_ps"), -1);
	assert_int_equal(ts_note_place(&note, "idle_ps"), -1);
	assert_int_equal(ts_note_place(&note, ""), -1);
}

TEST(a_field_is_where_its_name_says)
{
	struct ts_results results;
	struct ts_result *result;

	ts_results_init(&results);
	result = TS_ADD(&results, overview);
	assert_true(result->top_level);
	TS_SET(result, overview, overview.step_time_ps.p90, ts_int(90));
	TS_SET(result, overview, overview.health_score, ts_int(14));
	TS_SET(result, overview, overview.host_step_time_ps.stddev, ts_int(3));
	assert_int_equal(ts_result_get(result, "overview.step_time_ps.p90").as.i, 90);
	assert_int_equal(ts_result_get(result, "overview.health_score").as.i, 14);
	assert_int_equal(ts_result_get(result, "overview.host_step_time_ps.stddev").as.i, 3);
	assert_int_equal(TS_GET(result, overview, overview.step_time_ps.p90).as.i, 90);
	assert_int_equal(TS_GET(result, overview, overview.step_time_ps.max).type, TS_VALUE_NULL);
	assert_int_equal(TS_GET(TS_FIND(&results, time), time, wall_ps).type, TS_VALUE_NULL);
	assert_string_equal(TS_FIELD_OF(result, overview, overview.health_score)->label, "health");
	result = TS_ADD(&results, time);
	assert_false(result->top_level);
	TS_SET(result, time, buckets.idle_ps, ts_int(1));
	TS_SET(result, time, buckets.idle_ps, ts_int(7)); /* the newest wins */
	TS_SET(result, time, bottleneck_evidence, ts_bool(true));
	assert_int_equal(ts_result_get(result, "buckets.idle_ps").as.i, 7);
	assert_true(ts_result_get(result, "bottleneck_evidence").as.b);
	assert_int_equal(result->nr_fields, 2);
	ts_results_release(&results);
}

#define MODULE_CELLS(X)                        \
	X(program_id, ts_id(7))                \
	X(name, ts_text(TS_LIT("jit_f")))      \
	X(executions, ts_int(2))               \
	X(total_time_ps, ts_int(3))            \
	X(flops, ts_int(4))                    \
	X(bytes_accessed, ts_int(5))           \
	X(parameter_bytes, ts_int(6))          \
	X(output_bytes, ts_int(8))             \
	X(output_logical_bytes, ts_int(10))    \
	X(parameter_logical_bytes, ts_int(9))

TEST(a_cell_is_where_its_column_says)
{
	struct ts_results results;
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(&results);
	result = TS_ADD(&results, ops);
	table = TS_TABLE(result, ops_modules);
	assert_string_equal(table->title, "Modules");
	TS_CELLS(result, table, ops_modules, MODULE_CELLS);
	TS_PUT_ROW(result, table, ops_modules, .executions = ts_int(11));
	assert_ptr_equal(TS_FIND_TABLE(&results, ops, modules), table);
	assert_int_equal(ts_table_rows(table), 2);
	assert_int_equal(ts_cell_int(table, 0, "executions"), 2);
	assert_int_equal(ts_cell_int(table, 0, "parameter_logical_bytes"), 9);
	assert_int_equal(ts_cell_int(table, 0, "output_logical_bytes"), 10);
	assert_int_equal(TS_ROW(table, ops_modules, 1)->executions.as.i, 11);
	assert_int_equal(TS_CELL_OF(table, ops_modules, 1, flops).type, TS_VALUE_NULL);
	assert_int_equal(TS_CELL_OF(NULL, ops_modules, 1, flops).type, TS_VALUE_NULL);
	assert_int_equal(ts_table_rows(NULL), 0);
	ts_results_release(&results);
}
