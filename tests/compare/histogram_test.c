/* SPDX-License-Identifier: MIT */
/* Steps of several runs in bins that all share, and as many runs as a comparison takes. */
#include "tests/test.h"
#include "compare/compare.h"
#include "result/schema/compare.def"
#include "result/schema/ops.def"
#include "result/schema/time.def"

struct side {
	struct ts_profile profile;
	struct ts_results results;
};

/* One core, one op of half of the first step. */
static void given(struct side *side, const int64_t *step_ps, size_t nr_steps)
{
	struct ts_result *result;
	struct ts_table *table;

	ts_profile_init(&side->profile);
	ts_results_init(&side->results);
	result = TS_ADD(&side->results, ops);
	table = TS_TABLE(result, ops_ops);
	TS_PUT_ROW(result, table, ops_ops, .module = ts_text(TS_LIT("jit_f")),
		   .name = ts_text(TS_LIT("fusion")), .category = ts_text(TS_LIT("loop fusion")),
		   .framework_op = ts_text(TS_LIT("jit(f)/add")),
		   .occurrences = ts_int((int64_t)nr_steps),
		   .exclusive_ps = ts_int(nr_steps ? step_ps[0] / 2 : 0));
	result = TS_ADD(&side->results, time);
	table = TS_TABLE(result, time_per_step);
	for (size_t i = 0; i < nr_steps; i++)
		TS_PUT_ROW(result, table, time_per_step, .cores = ts_int(1),
			   .total_ps = ts_int(step_ps[i]), .compute_ps = ts_int(step_ps[i]));
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
	static const char *const names[TS_COMPARE_MAX] = { "a", "b", "c", "d", "e", "f", "g", "h",
							   "i", "j", "k", "l", "m", "n", "o", "p" };
	struct ts_compare_run runs[TS_COMPARE_MAX];
	struct ts_compare_request request = { .runs = runs, .nr_runs = nr };
	size_t nr_failed;

	for (size_t i = 0; i < nr; i++)
		runs[i] = (struct ts_compare_run){ ts_bytes_of(names[i]), &sides[i].profile,
						   &sides[i].results, NULL };
	ts_results_init(into);
	assert_int_equal(ts_compare(&request, into, &nr_failed, NULL), TS_OK);
	return ts_results_find(into, "compare");
}

static int64_t sum_of(const struct ts_table *bins, const char *column)
{
	int64_t sum = 0;

	for (size_t i = 0; i < bins->nr_rows; i++)
		sum += ts_cell_int(bins, i, column);
	return sum;
}

/* Each bin begins where the one before it ends. */
static void assert_bins(const struct ts_table *bins, size_t most)
{
	assert_in_range(bins->nr_rows, 1, most + 2);
	for (size_t i = 1; i < bins->nr_rows; i++)
		assert_int_equal(ts_value_int(TS_CELL_OF(bins, compare_histogram, i, from_ps)),
				 ts_value_int(TS_CELL_OF(bins, compare_histogram, i - 1, to_ps)));
}

TEST(every_step_is_in_one_bin)
{
	static const int64_t base[] = { 1000, 1010, 1020, 1030 }, other[] = { 1500, 1510, 1000 };
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *bins;

	given(&sides[0], base, TS_NELEM(base));
	given(&sides[1], other, TS_NELEM(other));
	bins = ts_result_find_table(compare(sides, 2, &into), "histogram");
	assert_bins(bins, 30);
	assert_int_equal(ts_value_int(TS_CELL_OF(bins, compare_histogram, 0, from_ps)), 1000);
	assert_int_equal(sum_of(bins, "run_0_steps"), TS_NELEM(base));
	assert_int_equal(sum_of(bins, "run_1_steps"), TS_NELEM(other));
	ts_results_release(&into);
	release(sides, 2);
}

TEST(a_step_far_off_does_not_make_one_bin_of_the_others)
{
	int64_t steps[40];
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *bins;
	size_t last;

	for (size_t i = 0; i < TS_NELEM(steps); i++)
		steps[i] = 100000 + 100 * (int64_t)i;
	steps[0] = 90000000;
	given(&sides[0], steps, TS_NELEM(steps));
	given(&sides[1], steps, TS_NELEM(steps));
	bins = ts_result_find_table(compare(sides, 2, &into), "histogram");
	assert_bins(bins, 30);
	last = bins->nr_rows - 1;
	assert_int_equal(TS_CELL_OF(bins, compare_histogram, last, to_ps).type, TS_VALUE_NULL);
	assert_int_equal(ts_cell_int(bins, last, "run_0_steps"), 1);
	assert_true(ts_value_int(TS_CELL_OF(bins, compare_histogram, last, from_ps)) < 200000);
	assert_int_equal(sum_of(bins, "run_1_steps"), TS_NELEM(steps));
	ts_results_release(&into);
	release(sides, 2);
}

TEST(steps_that_are_alike_are_one_bin)
{
	static const int64_t steps[] = { 0, 0, 0 };
	struct side sides[2];
	struct ts_results into;
	const struct ts_table *bins;

	given(&sides[0], steps, TS_NELEM(steps));
	given(&sides[1], steps, TS_NELEM(steps));
	bins = ts_result_find_table(compare(sides, 2, &into), "histogram");
	assert_int_equal(bins->nr_rows, 1);
	assert_int_equal(ts_cell_int(bins, 0, "run_0_steps"), 3);
	ts_results_release(&into);
	release(sides, 2);
}

TEST(a_run_without_steps_has_no_histogram)
{
	static const int64_t steps[] = { 5, 6 };
	struct side sides[2];
	struct ts_results into;

	given(&sides[0], steps, TS_NELEM(steps));
	given(&sides[1], NULL, 0);
	assert_int_equal(ts_result_find_table(compare(sides, 2, &into), "histogram")->nr_rows, 0);
	ts_results_release(&into);
	release(sides, 2);
}

/* Each run has columns of its own: the table of ops becomes the widest that there is. */
TEST(as_many_runs_as_may_be)
{
	static const int64_t steps[] = { 1000, 1100, 1200, 1300 };
	struct side sides[TS_COMPARE_MAX];
	const struct ts_table *ops, *bins;
	const struct ts_result *result;
	struct ts_results into;

	for (size_t i = 0; i < TS_COMPARE_MAX; i++)
		given(&sides[i], steps, TS_NELEM(steps));
	for (size_t nr = 2; nr <= TS_COMPARE_MAX; nr++) {
		char last[32];

		result = compare(sides, nr, &into);
		ops = ts_result_find_table(result, "ops");
		snprintf(last, sizeof(last), "run_%zu_ps", nr - 1);
		assert_int_equal(ops->nr_rows, 1);
		assert_int_equal(ts_cell_int(ops, 0, last), steps[0] / 2 / 4);
		bins = ts_result_find_table(result, "histogram");
		assert_bins(bins, nr > 2 ? 120 : 30);
		snprintf(last, sizeof(last), "run_%zu_steps", nr - 1);
		assert_int_equal(sum_of(bins, last), TS_NELEM(steps));
		ts_results_release(&into);
	}
	release(sides, TS_COMPARE_MAX);
}
