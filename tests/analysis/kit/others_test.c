/* SPDX-License-Identifier: MIT */
/* Tables with a bound: what they list, the row of the others, and that nothing else changes with it. */
#include "tests/analysis/given.h"

#include "analysis/kit/spread.h"
#include "tests/base/rng.h"
#include "base/order.h"

enum { FIRST_OP = 1, NR_OPS = 9, MODULE = 20, MARK };
#define NR_STEPS 60
#define SLOW	 37 /* this step takes three times the others' time */

static void given_program(struct xp *xp)
{
	char name[32];

	for (int op = 0; op < NR_OPS; op++) {
		struct xp_meta meta;

		snprintf(name, sizeof(name), "fusion.%d", op);
		meta = xp_meta(xp, FIRST_OP + op, name, name);
		xp_stat_text(xp, XP_META_STATS, "hlo_category", "loop fusion");
		xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
		xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)op + 1);
		xp_stat_int(xp, XP_META_STATS, "flops", 1000000 * (op + 1));
		xp_stat_int(xp, XP_META_STATS, "bytes_accessed", 4000 * (op + 1));
		xp_meta_end(xp, meta);
	}
	xp_name(xp, MARK, "step"); /* not a number: they are counted */
}

/* Ops of 1 to NR_OPS us a step, with 1 us between steps; LATE_US: of this core's every step. */
static void given_steps(struct given *given, const char *core, int64_t late_us)
{
	struct xp xp = given_core(given, core);
	int64_t at = late_us;

	given_program(&xp);
	xp_line(&xp, "Steps", 0);
	for (int step = 0; step < NR_STEPS; step++) {
		int64_t us = NR_OPS * (NR_OPS + 1) / 2 * (step == SLOW ? 3 : 1);

		given_event(&xp, MARK, at, us);
		at += us + 1;
	}
	xp_line_end(&xp);
	at = late_us;
	xp_line(&xp, "XLA Ops", 0);
	for (int step = 0; step < NR_STEPS; step++, at++)
		for (int op = 0; op < NR_OPS; op++) {
			int64_t us = (op + 1) * (step == SLOW ? 3 : 1);

			given_event(&xp, FIRST_OP + op, at, us);
			at += us;
		}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static struct given *given_run(size_t max_ops, size_t max_steps)
{
	struct given *given = given_nothing();

	given_steps(given, "/device:TPU:0", 0);
	given_steps(given, "/device:TPU:1", 2);
	given->mem.max_ops = max_ops;
	given->mem.max_steps = max_steps;
	analyse(given, 0);
	return given;
}

static const struct ts_table *table_of(struct given *given, const char *name, const char *table)
{
	const struct ts_table *found = ts_result_find_table(view(given, name), table);

	assert_non_null(found);
	return found;
}

static int64_t sum_of(const struct ts_table *table, const char *column)
{
	int64_t sum = 0;

	for (size_t i = 0; i < table->nr_rows; i++)
		sum += ts_cell_int(table, i, column);
	return sum;
}

static const struct bounded {
	const char *name, *table, *label, *sums[4];
	bool of_steps;
} bounded[] = {
	{ "ops", "ops", "name", { "occurrences", "self_time_ps", "exclusive_ps" }, false },
	{ "ops",
	  "ops",
	  "name",
	  { "compute_ps", "below_roofline_ps", "memory_wait_ps", "unexplained_ps" },
	  false },
	{ "memory", "ops", "op", { "executions", "hbm_bytes", "time_ps" }, false },
	{ "overview", "steps", "step", { "duration_ps" }, true },
	{ "time", "per_step", "step", { "duration_ps", "total_ps", "below_roofline_ps" }, true },
	{ "systolic", "steps", "step", { "flops", "time_ps" }, true },
};

TEST(the_last_row_has_the_sums_of_what_is_not_listed)
{
	struct given *all = given_run(SIZE_MAX, SIZE_MAX), *some = given_run(4, 10);

	for (size_t i = 0; i < TS_NELEM(bounded); i++) {
		const struct bounded *of = &bounded[i];
		const struct ts_table *whole = table_of(all, of->name, of->table);
		const struct ts_table *cut = table_of(some, of->name, of->table);
		size_t nr = of->of_steps ? NR_STEPS : NR_OPS;
		char label[32];

		assert_int_equal(whole->nr_others, 0);
		assert_int_equal(whole->nr_rows, nr);
		assert_int_equal(cut->nr_others, 1);
		assert_true(ts_table_nr_listed(cut) <= (of->of_steps ? 10 : 4));
		snprintf(label, sizeof(label), "%zu others", nr - ts_table_nr_listed(cut));
		assert_true(ts_bytes_is(ts_cell_text(cut, cut->nr_rows - 1, of->label), label));
		for (size_t s = 0; s < TS_NELEM(of->sums) && of->sums[s]; s++)
			assert_int_equal(sum_of(cut, of->sums[s]), sum_of(whole, of->sums[s]));
	}
	done(all);
	done(some);
}

TEST(figures_of_the_run_do_not_depend_on_the_bound)
{
	static const char *const fields[] = { "overview.step_count", "overview.step_time_ps.mean",
					      "overview.step_time_ps.p99",
					      "overview.step_time_ps.stddev" };
	struct given *all = given_run(0, 0), *some = given_run(1, 2);
	struct ts_value row[2];

	for (size_t i = 0; i < TS_NELEM(fields); i++)
		assert_int_equal(ts_value_int(field(all, "overview", fields[i])),
				 ts_value_int(field(some, "overview", fields[i])));
	assert_int_equal(ts_value_int(field(some, "overview", fields[0])), NR_STEPS);
	assert_int_equal(view(all, "doctor")->nr_findings, view(some, "doctor")->nr_findings);
	for (size_t i = 0; i < view(all, "doctor")->nr_findings; i++)
		assert_int_equal(view(all, "doctor")->findings[i].impact_ps,
				 view(some, "doctor")->findings[i].impact_ps);
	row[0] = cell(all, "time", "steps_outliers", 0, "cause_excess_ps");
	row[1] = cell(some, "time", "steps_outliers", 0, "cause_excess_ps");
	assert_int_equal(ts_value_int(row[0]), ts_value_int(row[1]));
	done(all);
	done(some);
}

TEST(a_slow_step_is_listed_whatever_the_bound)
{
	struct given *given = given_run(0, 1);
	const struct ts_table *steps = table_of(given, "time", "per_step");
	bool found = false;

	for (size_t i = 0; i < ts_table_nr_listed(steps); i++)
		found |= ts_cell_int(steps, i, "step") == SLOW;
	assert_true(found);
	assert_true(ts_table_nr_listed(steps) < NR_STEPS);
	done(given);
}

TEST(json_marks_the_row_and_no_other)
{
	struct given *given = given_run(4, NR_STEPS);
	struct ts_buf json = TS_BUF_INIT;
	const char *mark;

	assert_int_equal(memory_run_report(&given->mem, &json, NULL), TS_OK);
	ts_buf_putc(&json, '\0');
	mark = strstr((const char *)json.p, "\"is_others\":true");
	assert_non_null(mark);
	assert_non_null(strstr((const char *)json.p, "\"name\":\"5 others\""));
	assert_null(strstr((const char *)json.p, "\"is_others\":false"));
	assert_null(strstr((const char *)json.p, "\"step\":\"")); /* all steps are listed */
	ts_buf_release(&json);
	done(given);
}

TEST(rows_are_the_largest_and_some_at_equal_distances)
{
	int64_t numbers[100];
	uint32_t *rows;
	size_t nr;

	for (int i = 0; i < 100; i++)
		numbers[i] = i == 31 || i == 77 ? 1000 : 10 + i % 3;
	rows = ts_choose_rows(numbers, 100, 10, &nr);
	assert_non_null(rows);
	assert_in_range(nr, 8, 10);
	for (size_t i = 1; i < nr; i++)
		assert_true(rows[i] > rows[i - 1]);
	assert_int_equal(rows[0], 0); /* of the first of equal distances */
	for (size_t at = 0, wanted = 31; wanted <= 77; wanted += 46) {
		while (at < nr && rows[at] != wanted)
			at++;
		assert_true(at < nr);
	}
	free(rows);
	rows = ts_choose_rows(numbers, 100, 100, &nr);
	assert_int_equal(nr, 100);
	free(rows);
}

TEST(the_selected_number_is_the_sorted_one)
{
	struct rng rng = rng_of(5);

	for (int round = 0; round < 3000; round++) {
		size_t nr = 1 + rng_below(&rng, 60), at = rng_below(&rng, nr);
		uint64_t range = 1 + rng_below(&rng, round % 2 ? 4 : 1000);
		int64_t numbers[60], sorted[60];

		for (size_t i = 0; i < nr; i++)
			numbers[i] = sorted[i] = (int64_t)rng_below(&rng, range);
		qsort(sorted, nr, sizeof(*sorted), ts_i64_order);
		assert_int_equal(ts_select(numbers, nr, at), sorted[at]);
	}
}
