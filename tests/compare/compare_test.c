/* SPDX-License-Identifier: MIT */
/* Runs side by side, made by hand: which ops are the same, and what a difference is made of. */
#include "tests/test.h"
#include "compare/compare.h"
#include "result/schema/allocators.def"
#include "result/schema/compare.def"
#include "result/schema/ops.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"
#include "tests/result/named.h"

#define NR_STEPS 10
#define CORES	 2

struct op {
	const char *name, *module, *category, *scope, *shape;
	int64_t ps; /* of a step and core */
};

struct side {
	struct ts_profile profile;
	struct ts_results results;
};

static void put_op(struct side *side, struct ts_result *result, struct ts_table *table,
		   const struct op *op)
{
	struct ts_op draft;
	uint32_t index;

	ts_op_init(&draft);
	draft.name = ts_bytes_of(op->name);
	draft.shape = ts_bytes_of(op->shape);
	index = ts_profile_intern_op(&side->profile, &draft);
	TS_PUT_ROW(result, table, ops_ops, .module = ts_text(ts_bytes_of(op->module)),
		   .name = ts_text(ts_bytes_of(op->name)),
		   .category = ts_text(ts_bytes_of(op->category)),
		   .framework_op = ts_text_or_null(ts_bytes_of(op->scope)),
		   .occurrences = ts_int(NR_STEPS * CORES),
		   .exclusive_ps = ts_int(op->ps * NR_STEPS * CORES), .op_index = ts_int(index));
}

static void put_step(struct ts_result *result, struct ts_table *table, int64_t busy_ps,
		     int64_t idle_ps)
{
	const struct ts_value none = ts_int(0);

	TS_PUT_ROW(result, table, time_per_step, .cores = ts_int(CORES),
		   .total_ps = ts_int((busy_ps + idle_ps) * CORES),
		   .compute_ps = ts_int(busy_ps * CORES), .memory_wait_ps = none,
		   .communication_ps = none, .host_transfer_ps = none, .rematerialization_ps = none,
		   .compilation_ps = none, .input_ps = none, .idle_ps = ts_int(idle_ps * CORES));
}

/* All ops compute; a step is what they take and IDLE_PS, and 0 to 9 ps, in an order without stretches. */
static void given(struct side *side, const struct op *ops, size_t nr, int64_t idle_ps)
{
	struct ts_result *result;
	struct ts_table *table;
	int64_t busy_ps = 0;

	ts_profile_init(&side->profile);
	ts_results_init(&side->results);
	result = TS_ADD(&side->results, ops);
	table = TS_TABLE(result, ops_ops);
	for (size_t i = 0; i < nr; i++) {
		put_op(side, result, table, &ops[i]);
		busy_ps += ops[i].ps;
	}
	result = TS_ADD(&side->results, time);
	table = TS_TABLE(result, time_per_step);
	for (int i = 0; i < NR_STEPS; i++)
		put_step(result, table, busy_ps, idle_ps + i * 7 % NR_STEPS);
}

static void release(struct side *sides, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		ts_results_release(&sides[i].results);
		ts_profile_release(&sides[i].profile);
	}
}

static const struct ts_result *compare(const struct side *sides, size_t nr, struct ts_results *into)
{
	static const char *const names[] = { "runs/a", "runs/b", "runs/c" };
	struct ts_compare_run runs[3];
	struct ts_compare_request request = { .runs = runs, .nr_runs = nr };
	size_t nr_failed;

	for (size_t i = 0; i < nr; i++)
		runs[i] = (struct ts_compare_run){ ts_bytes_of(names[i]), &sides[i].profile,
						   &sides[i].results, NULL };
	ts_results_init(into);
	assert_int_equal(ts_compare(&request, into, &nr_failed, NULL), TS_OK);
	assert_int_equal(nr_failed, 0);
	return ts_results_find(into, "compare");
}

/* The row of the table whose first column is NAME. */
static size_t row_of(const struct ts_table *table, const char *name)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (ts_bytes_is(ts_table_cell(table, i, 0).as.s, name))
			return i;
	fail_msg("no row %s in %s", name, table->name);
	return 0;
}

static void assert_row(const struct ts_table *table, const char *op, int64_t base, int64_t other,
		       const char *state)
{
	size_t row = row_of(table, op);

	assert_int_equal(ts_cell_int(table, row, "run_0_ps"), base);
	assert_int_equal(ts_cell_int(table, row, "run_1_ps"), other);
	if (!ts_bytes_is(ts_cell_text(table, row, "run_1_state"), state))
		fail_msg("%s is %.*s", op, TS_ARG(ts_cell_text(table, row, "run_1_state")));
}

#define US  INT64_C(1000000)
#define RUN(row) TS_ROW(runs, compare_runs, row)
#define DOT "convolution fusion"

/* Ten steps of this source, one more picosecond each time. */
static void put_overview(struct side *side, const char *source, int64_t step_ps)
{
	struct ts_result *result = TS_ADD(&side->results, overview);
	struct ts_table *table = TS_TABLE(result, overview_steps);

	TS_SET(result, overview, overview.step_time_ps.median, ts_int(step_ps + 4));
	for (int i = 0; i < 10; i++)
		TS_PUT_ROW(result, table, overview_steps, .duration_ps = ts_int(step_ps + i),
			   .source = ts_text(ts_bytes_of(source)));
}

/* A job without a device: steps that its host marked. */
static void given_marked(struct side *side, int64_t step_ps)
{
	ts_profile_init(&side->profile);
	ts_results_init(&side->results);
	put_overview(side, "host", step_ps);
}

/* By the host's marks, which the buckets are of, the first run takes a tenth of the second; by the work that
 * its steps launched four times as long. */
TEST(steps_of_gpus_are_compared_by_the_work_that_they_launched)
{
	static const struct op base[] = { { "k", "", "kernel", "", "", US } };
	static const struct op other[] = { { "k", "", "kernel", "", "", 10 * US } };
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *runs;

	given(&sides[0], base, 1, 0);
	put_overview(&sides[0], "launched", 40 * US);
	given(&sides[1], other, 1, 0);
	put_overview(&sides[1], "launched", 10 * US);
	runs = ts_result_find_table(compare(sides, 2, &into), "runs");
	assert_int_equal(ts_value_int(RUN(1)->steps), 10);
	assert_true(ts_bytes_is(ts_value_text(RUN(1)->step_source), "launched"));
	assert_true(ts_bytes_is(ts_value_text(RUN(1)->verdict), "faster"));
	ts_results_release(&into);
	release(sides, 2);
}

TEST(jobs_without_a_device_are_compared_by_the_steps_they_marked)
{
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *runs;

	given_marked(&sides[0], 40 * US);
	given_marked(&sides[1], 10 * US);
	runs = ts_result_find_table(compare(sides, 2, &into), "runs");
	assert_int_equal(ts_value_int(RUN(1)->steps), 10);
	assert_true(ts_bytes_is(ts_value_text(RUN(1)->step_source), "host"));
	assert_true(ts_bytes_is(ts_value_text(RUN(1)->verdict), "faster"));
	ts_results_release(&into);
	release(sides, 2);
}

TEST(ops_are_known_by_scope_kind_and_shape)
{
	static const struct op base[] = {
		{ "fusion.1", "jit_f", DOT, "jit(f)/a/dot", "bf16[8,128]{1,0:T(8,128)(2,1)}",
		  50 * US },
		{ "fusion.2", "jit_f", DOT, "jit(f)/b/dot", "bf16[8,8]{1,0}", 20 * US },
		{ "fusion.3", "jit_f", "loop fusion", "jit(f)/c/add", "f32[8]{0}", 10 * US },
		{ "fusion.4", "jit_f", "loop fusion", "jit(f)/c/add", "f32[8]{0}", 5 * US },
		{ "copy.1", "jit_f", "copy", "", "f32[9]{0}", 4 * US },
	};
	static const struct op other[] = {
		/* another number, another layout */
		{ "fusion.7", "jit_f", DOT, "jit(f)/a/dot", "bf16[8,128]{0,1:T(8,128)(2,1)}",
		  60 * US },
		/* the number of another: the scope says what it is */
		{ "fusion.1", "jit_f", DOT, "jit(f)/b/dot", "bf16[8,8]{1,0}", 12 * US },
		/* two have become one */
		{ "fusion.9", "jit_f", "loop fusion", "jit(f)/c/add", "f32[8]{0}", 15 * US },
		{ "sort.1", "jit_f", "sort", "jit(f)/d/sort", "f32[8]{0}", 3 * US },
	};
	struct side sides[2];
	struct ts_results into;
	const struct ts_result *result;
	const struct ts_table *ops;

	given(&sides[0], base, TS_NELEM(base), US);
	given(&sides[1], other, TS_NELEM(other), US);
	result = compare(sides, 2, &into);
	ops = ts_result_find_table(result, "ops");
	assert_int_equal(ops->nr_rows, 5);
	assert_row(ops, "jit(f)/a/dot", 50 * US, 60 * US, "slower");
	assert_row(ops, "jit(f)/b/dot", 20 * US, 12 * US, "faster");
	assert_row(ops, "jit(f)/c/add", 15 * US, 15 * US, "same");
	assert_row(ops, "copy.1", 4 * US, -1, "gone");
	assert_row(ops, "jit(f)/d/sort", -1, 3 * US, "new");
	assert_true(ts_cell_text(ops, row_of(ops, "jit(f)/a/dot"), "other_shape").n == 0);
	ts_results_release(&into);
	release(sides, 2);
}

/* Kernels of a GPU's trace. */
TEST(ops_of_which_nothing_else_is_known_go_by_their_names)
{
	static const struct op base[] = { { "gemm", "", "kernel", "", "", 5 * US },
					  { "softmax", "", "kernel", "", "", 3 * US } };
	static const struct op other[] = { { "flash", "", "kernel", "", "", 2 * US },
					   { "gemm", "", "kernel", "", "", 4 * US } };
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *ops;

	given(&sides[0], base, 2, 0);
	given(&sides[1], other, 2, 0);
	ops = ts_result_find_table(compare(sides, 2, &into), "ops");
	assert_int_equal(ops->nr_rows, 3);
	assert_row(ops, "gemm", 5 * US, 4 * US, "faster");
	assert_row(ops, "softmax", 3 * US, -1, "gone");
	assert_row(ops, "flash", -1, 2 * US, "new");
	assert_int_equal(TS_CELL_OF(ops, compare_ops, 0, framework_op).type, TS_VALUE_NULL);
	ts_results_release(&into);
	release(sides, 2);
}

static size_t count_differences(const struct op *base, const struct op *other, size_t nr)
{
	struct side sides[2];
	struct ts_results into;
	size_t nr_rows;

	given(&sides[0], base, nr, 0);
	given(&sides[1], other, nr, 0);
	nr_rows = ts_result_find_table(compare(sides, 2, &into), "differences")->nr_rows;
	ts_results_release(&into);
	release(sides, 2);
	return nr_rows;
}

TEST(runs_that_share_few_kernels_are_compared_with_care)
{
	static const struct op base[] = { { "gemm", "", "kernel", "", "", 5 * US },
					  { "softmax", "", "kernel", "", "", 3 * US } };
	static const struct op most[] = { { "flash", "", "kernel", "", "", 2 * US },
					  { "gemm", "", "kernel", "", "", 4 * US } };
	static const struct op few[] = { { "flash", "", "kernel", "", "", 5 * US },
					 { "gemm", "", "kernel", "", "", 4 * US } };

	assert_int_equal(count_differences(base, most, 2), 0); /* 5 of 8, 4 of 6 */
	assert_int_equal(count_differences(base, few, 2), 1);  /* 5 of 8, 4 of 9 */
	assert_int_equal(count_differences(few, base, 2), 1);
}

TEST(what_a_difference_is_made_of_sums_to_it)
{
	static const struct op base[] = { { "f.1", "m", DOT, "jit(f)/a", "f32[8]", 50 * US },
					  { "f.2", "m", DOT, "jit(f)/b", "f32[8]", 20 * US } };
	static const struct op other[] = { { "f.1", "m", DOT, "jit(f)/a", "f32[8]", 40 * US },
					   { "f.3", "m", DOT, "jit(f)/c", "f32[8]", 5 * US } };
	static const struct {
		const char *part;
		int64_t ps;
	} expected[] = {
		{ "slower", 0 },    { "faster", -10 * US }, { "new", 5 * US }, { "gone", -20 * US },
		{ "same", 0 },	    { "compilation", 0 },   { "input", 0 },    { "idle", 7 * US },
		{ "left_over", 0 }, { "all", -18 * US },
	};
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *table;

	given(&sides[0], base, 2, US);
	given(&sides[1], other, 2, 8 * US);
	table = ts_result_find_table(compare(sides, 2, &into), "difference");
	for (size_t i = 0; i < TS_NELEM(expected); i++) {
		struct ts_value cell =
			ts_cell(table, row_of(table, expected[i].part), "run_1_change_ps");

		assert_int_equal(cell.as.i, expected[i].ps);
	}
	ts_results_release(&into);
	release(sides, 2);
}

/* The function has another name now: the same shape and scope below it are the same op. */
TEST(ops_of_a_renamed_function_are_found)
{
	static const struct op base[] = { { "f.1", "jit_f", DOT, "jit(f)/jit(main)/a", "f32[8]",
					    US } };
	static const struct op other[] = { { "f.1", "jit_g", DOT, "jit(g)/a", "f32[8]", US } };
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *ops;

	given(&sides[0], base, 1, 0);
	given(&sides[1], other, 1, 0);
	ops = ts_result_find_table(compare(sides, 2, &into), "ops");
	assert_int_equal(ops->nr_rows, 1);
	assert_row(ops, "jit(f)/jit(main)/a", US, US, "same");
	ts_results_release(&into);
	release(sides, 2);
}

TEST(an_op_with_another_shape_is_found_when_there_is_no_doubt)
{
	static const struct op base[] = { { "f.1", "m", DOT, "jit(f)/a", "f32[8]", 10 * US },
					  { "f.2", "m", DOT, "jit(f)/b", "f32[8]", 10 * US },
					  { "f.3", "m", DOT, "jit(f)/b", "f32[9]", 10 * US } };
	static const struct op other[] = { { "f.1", "m", DOT, "jit(f)/a", "f32[16]", 20 * US },
					   { "f.2", "m", DOT, "jit(f)/b", "f32[16]", 20 * US },
					   { "f.3", "m", DOT, "jit(f)/b", "f32[18]", 20 * US } };
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *ops;
	size_t row;

	given(&sides[0], base, 3, 0);
	given(&sides[1], other, 3, 0);
	ops = ts_result_find_table(compare(sides, 2, &into), "ops");
	assert_int_equal(ops->nr_rows, 1 + 4); /* which of b's two is which, nobody can say */
	assert_row(ops, "jit(f)/a", 10 * US, 20 * US, "slower");
	row = row_of(ops, "jit(f)/a");
	assert_true(ts_bytes_is(ts_value_text(TS_CELL_OF(ops, compare_ops, row, shape)), "f32[8]"));
	assert_true(ts_bytes_is(ts_value_text(TS_CELL_OF(ops, compare_ops, row, other_shape)),
				"f32[16]"));
	ts_results_release(&into);
	release(sides, 2);
}

/* 10 against 10 steps, all later ones longer: 2 of the C(20, 10) = 184756 ways. */
TEST(the_verdict_is_that_of_the_steps)
{
	static const struct op base[] = { { "f.1", "m", DOT, "jit(f)/a", "f32[8]", 10 * US } };
	static const struct op other[] = { { "f.1", "m", DOT, "jit(f)/a", "f32[8]", 11 * US } };
	struct side sides[3];
	struct ts_results into;
	const struct ts_table *runs;

	given(&sides[0], base, 1, 0);
	given(&sides[1], other, 1, 0);
	given(&sides[2], base, 1, 0);
	runs = ts_result_find_table(compare(sides, 3, &into), "runs");
	assert_true(ts_bytes_is(ts_value_text(RUN(1)->verdict), "slower"));
	assert_true(fabs(ts_value_number(RUN(1)->p_value) - 2.0 / 184756) < 1e-15);
	assert_true(ts_value_number(RUN(1)->effect) == 1);
	assert_true(fabs(ts_value_number(RUN(1)->speed_up) - 10.0 / 11) < 1e-5);
	assert_true(ts_value_number(RUN(2)->p_value) == 1);
	assert_true(ts_bytes_is(ts_value_text(RUN(2)->verdict), "no clear difference"));
	assert_true(ts_bytes_is(ts_value_text(RUN(0)->run), "a"));
	ts_results_release(&into);
	release(sides, 3);
}

/* What the short names of gates are: 1 ms, 3 MiB, half a step idle. */
TEST(figures_are_found_by_name)
{
	static const struct op ops[] = { { "f.1", "m", DOT, "jit(f)/a", "f32[8]", 9 * US } };
	static const struct {
		const char *name;
		bool found;
		double value;
	} rows[] = {
		{ "step_time_ms.mean", true, 1 },
		{ "step_time_ms.median", true, NAN }, /* a name, but nobody knows it here */
		{ "overview.step_time_ps.mean", true, 1e9 },
		{ "peak_memory_mb", true, 3 }, /* of the larger allocator: no program is known */
		{ "allocator_peak_mb", true, 3 },
		{ "buckets.compute_ms", true, 0.009 },
		{ "buckets.compute_pct", true, 100 * 9.0 / (18 + 4.5e-6) },
		{ "buckets.computes_ms", false, 0 },
		{ "time.wall", false, 0 },
		{ "time", false, 0 },
		{ "wall_ps", true, 5 }, /* of the report itself */
		{ "time.wall_ps", true, 7 },
	};
	struct side side;
	struct ts_measured opened;
	struct ts_result *result;
	struct ts_table *table;

	given(&side, ops, 1, 9 * US);
	TS_SET(result_named(&side.results, "time"), time, wall_ps, ts_int(7));
	result = TS_ADD(&side.results, overview);
	TS_SET(result, overview, overview.step_time_ps.mean, ts_int(1000000000));
	ts_result_field(result, "wall_ps", ts_int(5), TS_MEASURED, NULL);
	result = TS_ADD(&side.results, allocators);
	table = TS_TABLE(result, allocators_allocators);
	TS_PUT_ROW(result, table, allocators_allocators, .peak_bytes = ts_int(1 << 20));
	TS_PUT_ROW(result, table, allocators_allocators, .peak_bytes = ts_int(3 << 20));
	assert_int_equal(ts_measured_init(&opened, &side.results, true, NULL), TS_OK);
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		double value = -1;
		bool found = ts_measured_value(&opened, &side.results, ts_bytes_of(rows[i].name),
					       &value);

		if (found != rows[i].found || (found && isnan(value) != isnan(rows[i].value)) ||
		    (found && fabs(value - rows[i].value) > 1e-9 * rows[i].value))
			fail_msg("%s is %g", rows[i].name, value);
	}
	ts_measured_release(&opened);
	release(&side, 1);
}

/* The help of --view names them. */
TEST(each_table_is_in_the_list_of_views)
{
	static const struct op ops[] = { { "gemm", "", "kernel", "", "", 5 * US } };
	struct side sides[2];
	struct ts_results into;
	const struct ts_result *result;
	size_t at = 0;

	given(&sides[0], ops, 1, 0);
	given(&sides[1], ops, 1, 0);
	result = compare(sides, 2, &into);
	for (size_t i = 0; i < result->nr_tables; i++, at++) {
		while (ts_compare_views[at] && /* a table that these runs have no rows for */
		       strcmp(ts_compare_views[at], result->tables[i].name) != 0)
			at++;
		assert_non_null(ts_compare_views[at]);
	}
	ts_results_release(&into);
	release(sides, 2);
}
