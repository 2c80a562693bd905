/* SPDX-License-Identifier: MIT */
/* PyTorch's operators of two runs, made by hand: what became of each, and by how much. */
#include "tests/test.h"
#include "compare/compare.h"
#include "result/schema/compare.def"
#include "result/schema/operators.def"
#include "result/schema/time.def"

struct operator
{
	const char *name, *shapes; /* NULL: by name alone */
	int64_t calls, self_gpu_ps, self_cpu_ps;
};

struct side {
	struct ts_profile profile;
	struct ts_results results;
};

static struct ts_value gpu_time(const struct operator* operator, bool has_gpu)
{
	return has_gpu ? ts_int(operator->self_gpu_ps) : ts_null();
}

static void put_names(struct ts_result *result, const struct operator* operators, size_t nr,
		      bool has_gpu)
{
	struct ts_table *table = TS_TABLE(result, operators_by_name);

	for (size_t i = 0; i < nr; i++) {
		const struct operator* it = & operators[i];

		if (!it->shapes)
			TS_PUT_ROW(result, table, operators_by_name,
				   .name = ts_text(ts_bytes_of(it->name)),
				   .calls = ts_int(it->calls), .self_gpu_ps = gpu_time(it, has_gpu),
				   .self_cpu_ps = ts_int(it->self_cpu_ps));
	}
}

static void put_shapes(struct ts_result *result, const struct operator* operators, size_t nr,
		       bool has_gpu)
{
	struct ts_table *table = TS_TABLE(result, operators_by_shape);

	for (size_t i = 0; i < nr; i++) {
		const struct operator* it = & operators[i];

		if (it->shapes)
			TS_PUT_ROW(result, table, operators_by_shape,
				   .name = ts_text(ts_bytes_of(it->name)),
				   .input_shapes = ts_text(ts_bytes_of(it->shapes)),
				   .calls = ts_int(it->calls), .self_gpu_ps = gpu_time(it, has_gpu),
				   .self_cpu_ps = ts_int(it->self_cpu_ps));
	}
}

/* Wall time and two cores: sums are halved. */
static void given(struct side *side, const struct operator* operators, size_t nr, bool has_gpu)
{
	struct ts_result *result;

	ts_profile_init(&side->profile);
	ts_results_init(&side->results);
	result = TS_ADD(&side->results, time);
	TS_SET(result, time, cores, ts_int(2));
	TS_SET(result, time, wall_ps, ts_int(1000000));
	result = TS_ADD(&side->results, operators);
	TS_SET(result, operators, gpu_ps, has_gpu ? ts_int(1) : ts_null());
	put_names(result, operators, nr, has_gpu);
	put_shapes(result, operators, nr, has_gpu);
}

static const struct ts_result *compare(const struct side sides[2], struct ts_results *into)
{
	struct ts_compare_run runs[] = {
		{ TS_LIT("runs/a"), &sides[0].profile, &sides[0].results, NULL },
		{ TS_LIT("runs/b"), &sides[1].profile, &sides[1].results, NULL },
	};
	struct ts_compare_request request = { .runs = runs, .nr_runs = 2 };
	size_t nr_failed;

	ts_results_init(into);
	assert_int_equal(ts_compare(&request, into, &nr_failed, NULL), TS_OK);
	return ts_results_find(into, "compare");
}

static void release(struct side sides[2], struct ts_results *into)
{
	ts_results_release(into);
	for (size_t i = 0; i < 2; i++) {
		ts_results_release(&sides[i].results);
		ts_profile_release(&sides[i].profile);
	}
}

static void assert_row(const struct ts_table *table, size_t row, const char *name,
		       const char *change, int64_t ps, const char *state)
{
	int column = ts_table_column(table, change);

	assert_true(
		ts_bytes_is(ts_value_text(TS_CELL_OF(table, compare_operators, row, name)), name));
	assert_int_equal(ts_table_cell(table, row, column).as.i, ps);
	assert_true(ts_bytes_is(ts_cell_text(table, row, "run_1_state"), state));
}

static const struct operator base[] = {
	{ "aten::mm", NULL, 10, 400000, 2000 },
	{ "aten::add", NULL, 4, 1000, 9000 },
	{ "aten::gone", NULL, 2, 30000, 10 },
	{ "aten::mm", "[[8, 8], [8, 8]]", 10, 400000, 2000 },
};
static const struct operator other[] = {
	{ "aten::mm", NULL, 10, 100000, 2000 },
	{ "aten::add", NULL, 4, 1000, 9000 },
	{ "aten::new", NULL, 2, 50000, 10 },
	{ "aten::mm", "[[8, 4], [4, 8]]", 10, 100000, 2000 },
};

/* The largest change of time on GPUs first, of a core each. */
TEST(operators_are_compared_by_their_time_on_gpus)
{
	static const char change[] = "run_1_change_self_gpu_ps";
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *table;

	given(&sides[0], base, TS_NELEM(base), true);
	given(&sides[1], other, TS_NELEM(other), true);
	table = ts_result_find_table(compare(sides, &into), "operators");
	assert_int_equal(table->nr_rows, 4);
	assert_row(table, 0, "aten::mm", change, -150000, "faster");
	assert_row(table, 1, "aten::new", change, 25000, "new");
	assert_row(table, 2, "aten::gone", change, -15000, "gone");
	assert_row(table, 3, "aten::add", change, 0, "same");
	assert_true(ts_cell_number(table, 0, "run_0_calls") == 5);
	assert_int_equal(ts_cell_int(table, 0, "run_0_self_gpu_ps"), 200000);
	assert_int_equal(ts_cell_int(table, 0, "run_1_self_cpu_ps"), 1000);
	release(sides, &into);
}

TEST(an_operator_with_another_shape_is_another_row)
{
	static const char change[] = "run_1_change_self_gpu_ps";
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *table;

	given(&sides[0], base, TS_NELEM(base), true);
	given(&sides[1], other, TS_NELEM(other), true);
	table = ts_result_find_table(compare(sides, &into), "operator_shapes");
	assert_int_equal(table->nr_rows, 2);
	assert_row(table, 0, "aten::mm", change, -200000, "gone");
	assert_true(
		ts_bytes_is(ts_value_text(TS_CELL_OF(table, compare_operators, 0, input_shapes)),
			    "[[8, 8], [8, 8]]"));
	assert_row(table, 1, "aten::mm", change, 50000, "new");
	release(sides, &into);
}

/* One of them has none: then all are compared by the time on hosts. */
TEST(without_gpus_hosts_are_compared)
{
	static const struct operator slow[] = { { "aten::mm", NULL, 10, 0, 8000 } };
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *table;

	given(&sides[0], base, TS_NELEM(base), true);
	given(&sides[1], slow, TS_NELEM(slow), false);
	table = ts_result_find_table(compare(sides, &into), "operators");
	assert_row(table, 0, "aten::add", "run_1_change_self_cpu_ps", -4500, "gone");
	assert_row(table, 1, "aten::mm", "run_1_change_self_cpu_ps", 3000, "slower");
	release(sides, &into);
}

TEST(runs_without_operators_have_no_such_table)
{
	struct side sides[2];
	struct ts_results into;
	const struct ts_result *result;

	given(&sides[0], NULL, 0, false);
	given(&sides[1], NULL, 0, false);
	result = compare(sides, &into);
	assert_null(ts_result_find_table(result, "operators"));
	assert_null(ts_result_find_table(result, "operator_shapes"));
	release(sides, &into);
}
