/* SPDX-License-Identifier: MIT */
/*
 * Why collectives are in programs: those of tests/fixtures/resharding_programs.py, compiled by libtpu for v5e:2x2, whose lines are known.
 * What each constraint should say stands beside it there.
 */
#include "tests/test.h"
#include "tests/run/memory_run.h"

#define DATA TS_SRCDIR "/tests/data/resharding"
#define MAX  4

struct expected {
	const char *op;
	int64_t bytes;
	const char *axes, *from, *to; /* from, to: NULL where it is not told */
	const char *cause, *source;   /* source: NULL for an argument */
	const char *mend;	      /* NULL: it is not suspicious */
};

static const struct {
	const char *name;
	struct expected rows[MAX];
} programs[] = {
	{ "hidden",
	  { { "all-gather.5", 4 << 20, "model", "P(\"data\", \"model\")", "P(\"data\", None)",
	      "constraint", "programs.py:11", "P(\"data\", \"model\")" },
	    { "all-reduce", 1 << 20, "model", NULL, "P(\"data\", None)", "argument", NULL,
	      NULL } } },
	{ "heads",
	  { { "all-to-all", 4 << 20, "model", "P(\"data\", \"model\", None, None)",
	      "P(\"data\", None, \"model\", None)", "constraint", "programs.py:17",
	      "P(\"data\", \"model\", None, None)" },
	    { "all-gather.6", 1 << 20, "model", "P(\"data\", None, \"model\", None)",
	      "P(\"data\", None, None, None)", "constraint", "programs.py:17",
	      "P(\"data\", \"model\", None, None)" } } },
	{ "lookup",
	  { { "all-gather.9", 512 << 10, "data, model", "P(None, None, (\"data\", \"model\"))",
	      "P(\"data\", \"model\", None)", "constraint", "programs.py:24",
	      "P(None, None, (\"data\", \"model\"))" },
	    { "all-gather.4", 2048, "data, model", "P(\"data\", \"model\", None)",
	      "P(None, None, None)", "argument", NULL, NULL } } },
	{ "parts",
	  { { "all-to-all", 512 << 10, "model", "P(\"data\", \"model\", None)",
	      "P(\"data\", None, \"model\")", "constraint", "programs.py:30",
	      "P(\"data\", \"model\", None)" } } },
	/* needed: none of these is a fault */
	{ "columns_then_rows",
	  { { "all-reduce", 1 << 20, "model", NULL, "P(\"data\", None)", "constraint",
	      "programs.py:35", NULL } } },
	{ "sequence",
	  { { "all-reduce.2", 4 << 20, "model", NULL, "P(\"data\", \"model\", None)", "constraint",
	      "programs.py:42", NULL },
	    { "all-gather.5", 4 << 20, "model", "P(\"data\", \"model\", None)",
	      "P(\"data\", None, None)", "argument", NULL, NULL } } },
	{ "sharded_weights",
	  { { "all-gather.13", 8 << 20, "data, model", "P((\"data\", \"model\"), None)",
	      "P(None, None)", "constraint", "programs.py:48", NULL },
	    { "all-gather.18", 8 << 20, "data, model", "P((\"data\", \"model\"), None)",
	      "P(None, None)", "argument", NULL, NULL } } },
};

static void analysed(struct memory_run *mem, const char *name, const char *mesh, const char *dump)
{
	struct ts_run_options options = { .nr_threads = 1, .xla_dump = dump };
	struct ts_error err = TS_ERROR_INIT;
	char path[256];

	memory_run_init(mem);
	options.settings = &mem->settings;
	snprintf(path, sizeof(path), DATA "/%s.hlo.pb", name);
	if (mesh)
		assert_int_equal(ts_mesh_parse(ts_bytes_of(mesh), &options.mesh, &err), TS_OK);
	if (ts_run_open_module(&mem->run, path, &err) || ts_run_analyse(&mem->run, &options, &err))
		fail_msg("%s", err.text);
}

static const struct ts_table *rows_of(const struct memory_run *mem)
{
	const struct ts_table *table = ts_result_find_table(
		ts_results_find(&mem->run.results, "resharding"), "resharding");

	assert_non_null(table);
	return table;
}

static void assert_text(const struct ts_table *table, size_t row, const char *column,
			const char *expected)
{
	struct ts_bytes text = ts_cell_text(table, row, column);

	if (!ts_bytes_is(text, expected ? expected : ""))
		fail_msg("%.*s: %s is \"%.*s\", not \"%s\"", TS_ARG(ts_cell_text(table, row, "op")),
			 column, TS_ARG(text), expected ? expected : "");
}

static size_t find_row(const struct ts_table *table, const char *op)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (ts_bytes_is(ts_cell_text(table, i, "op"), op))
			return i;
	fail_msg("no row %s", op);
	return 0;
}

static void assert_row(const struct ts_table *table, const struct expected *expected)
{
	size_t row = find_row(table, expected->op);

	assert_int_equal(ts_cell_int(table, row, "bytes"), expected->bytes);
	assert_text(table, row, "axes", expected->axes);
	assert_text(table, row, "from", expected->from);
	assert_text(table, row, "to", expected->to);
	assert_text(table, row, "cause", expected->cause);
	assert_text(table, row, "cause_source", expected->source);
	assert_text(table, row, "mend", expected->mend);
	assert_int_equal(ts_table_cell(table, row, ts_table_column(table, "suspicious")).as.b,
			 expected->mend != NULL);
}

TEST(each_collective_is_told_with_the_line_that_asks_for_it)
{
	for (size_t i = 0; i < TS_NELEM(programs); i++) {
		struct memory_run mem;

		analysed(&mem, programs[i].name, "data=2,model=2", DATA);
		for (size_t k = 0; k < MAX && programs[i].rows[k].op; k++)
			assert_row(rows_of(&mem), &programs[i].rows[k]);
		memory_run_release(&mem);
	}
}

/* Without names the axes are numbered; without a dump the module's own words are all there is. */
TEST(what_is_not_given_is_not_made_up)
{
	struct memory_run mem;
	size_t row;

	analysed(&mem, "hidden", NULL, DATA);
	row = find_row(rows_of(&mem), "all-gather.5");
	assert_text(rows_of(&mem), row, "from", "P(\"axis0\", \"axis1\")");
	assert_text(rows_of(&mem), row, "axes", "axis1");
	memory_run_release(&mem);
	analysed(&mem, "hidden", NULL, NULL);
	row = find_row(rows_of(&mem), "all-gather.5");
	assert_text(rows_of(&mem), row, "cause", NULL);
	assert_text(rows_of(&mem), row, "axes", NULL);
	assert_int_equal(ts_cell_int(rows_of(&mem), row, "bytes"), 4 << 20);
	memory_run_release(&mem);
}

/* A mesh of other axes than those that the program was split by. */
TEST(a_mesh_that_does_not_fit_is_not_used)
{
	struct memory_run mem;

	analysed(&mem, "hidden", "all=4", DATA);
	assert_text(rows_of(&mem), find_row(rows_of(&mem), "all-gather.5"), "from",
		    "P(\"axis0\", \"axis1\")");
	memory_run_release(&mem);
}

TEST(a_folder_without_dumps_is_an_error)
{
	struct ts_run_options options = { .nr_threads = 1,
					  .xla_dump = TS_SRCDIR "/tests/data/traffic" };
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	options.settings = &mem.settings;
	assert_int_equal(ts_run_open_module(&mem.run, DATA "/hidden.hlo.pb", &err), TS_OK);
	assert_int_equal(ts_run_analyse(&mem.run, &options, &err), TS_NOTFOUND);
	assert_non_null(strstr(err.text, "xla_dump_hlo_pass_re"));
	memory_run_release(&mem);
}
