/* SPDX-License-Identifier: MIT */
/* What runs are called beside one another. */
#include "tests/test.h"
#include "compare/compare.h"

#define NR 3

struct label_row {
	const char *names[NR], *labels[NR]; /* up to the first NULL */
};

static const struct label_row rows[] = {
	{ { "runs/a", "runs/b" }, { "a", "b" } },
	/* sessions of one second each, in folders that people named */
	{ { "logs/adam_lr0.1/2026_11_22_09_06_03", "logs/muon_lr0.1/2026_11_22_09_07_41" },
	  { "adam_lr0.1", "muon_lr0.1" } },
	{ { "/home/me/logs/hyperspherical_descent_lr0.1_epochs2_seed42/2026_11_22_09_06_03",
	    "/home/me/logs/manifold_muon_lr0.1_epochs2_seed42/2026_11_22_09_07_41",
	    "/home/me/logs/adam_lr0.1_epochs2_seed42/2026_11_22_09_09_12" },
	  { "hyperspherical_descent_lr0.1_epochs2_seed42", "manifold_muon_lr0.1_epochs2_seed42",
	    "adam_lr0.1_epochs2_seed42" } },
	/* of one folder only the times differ: the folder stands in front */
	{ { "logs/adam/2026_11_22_09_06_03", "logs/adam/2026_11_22_09_07_41" },
	  { "adam/2026_11_22_09_06_03", "adam/2026_11_22_09_07_41" } },
	/* two of three in one folder: the times are needed */
	{ { "l/adam/2026_11_22_09_06_03", "l/adam/2026_11_22_09_06_03_2",
	    "l/sgd/2026_11_22_09_08_00" },
	  { "adam/2026_11_22_09_06_03", "adam/2026_11_22_09_06_03_2", "sgd/2026_11_22_09_08_00" } },
	/* a name that all sessions share */
	{ { "runs/adam/s", "runs/hyperspherical/s" }, { "adam", "hyperspherical" } },
	{ { "logs/step_1/a", "logs/step_2/b" }, { "step_1/a", "step_2/b" } },
	/* one run alone */
	{ { "logs/adam_lr0.1/2026_11_22_09_06_03" }, { "adam_lr0.1" } },
	{ { "2026_11_22_09_06_03" }, { "2026_11_22_09_06_03" } },   /* nothing else is known */
	{ { "a/x.json", "a/x.json" }, { "x.json", "x.json (2)" } }, /* one file, twice */
};

/* A run without anything in it, but for its name. */
static const struct ts_result *compare_named(struct ts_compare_run *runs, size_t nr,
					     struct ts_results *into)
{
	static const struct ts_profile nothing;
	static const struct ts_results none;
	struct ts_compare_request request = { .runs = runs, .nr_runs = nr };
	size_t nr_failed;

	for (size_t i = 0; i < nr; i++) {
		runs[i].profile = &nothing;
		runs[i].results = &none;
	}
	ts_results_init(into);
	assert_int_equal(ts_compare(&request, into, &nr_failed, NULL), TS_OK);
	return ts_results_find(into, "compare");
}

static void check_label(const struct ts_result *result, size_t run, const char *expected)
{
	struct ts_bytes label = ts_cell_text(ts_result_find_table(result, "runs"), run, "run");

	if (!ts_bytes_is(label, expected))
		fail_msg("the label is %.*s and not %s", TS_ARG(label), expected);
}

TEST(runs_go_by_the_folder_that_tells_them_apart)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_compare_run runs[NR] = { { .label = NULL } };
		struct ts_results into;
		const struct ts_result *result;
		size_t nr = 0;

		for (; nr < NR && rows[i].names[nr]; nr++)
			runs[nr].name = ts_bytes_of(rows[i].names[nr]);
		result = compare_named(runs, nr, &into);
		for (size_t r = 0; r < nr; r++)
			check_label(result, r, rows[i].labels[r]);
		ts_results_release(&into);
	}
}

TEST(a_label_that_is_given_stands)
{
	struct ts_compare_run runs[2] = {
		{ .name = TS_LIT("logs/a"),
		  .label = "a label that is much longer than forty letters" },
		{ .name = TS_LIT("logs/b"), .label = "after/all" },
	};
	struct ts_results into;
	const struct ts_result *result = compare_named(runs, 2, &into);

	check_label(result, 0, "a label that is much longer than forty letters");
	check_label(result, 1, "after/all");
	ts_results_release(&into);
}
