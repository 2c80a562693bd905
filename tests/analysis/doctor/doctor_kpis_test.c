/* SPDX-License-Identifier: MIT */
/* Key figures and their bands, transfers by size, and the table of advice. */
#include "analysis/facts/memory.h"
#include "tests/analysis/doctor/doctor_given.h"

#include "analysis/doctor/doctor.h"

static size_t kpi_row(const struct ts_table *table, const char *name)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (ts_bytes_is(ts_cell_text(table, i, "name"), name))
			return i;
	fail_msg("no key figure is called %s", name);
	return 0;
}

static void then_kpi(const struct ts_result *doctor, const char *name, double value,
		     const char *band)
{
	const struct ts_table *table = ts_result_find_table(doctor, "kpis");
	size_t row;

	assert_non_null(table);
	row = kpi_row(table, name);
	if (isnan(value))
		assert_true(isnan(ts_cell_number(table, row, "value")));
	else
		assert_true(fabs(ts_cell_number(table, row, "value") - value) < 1e-9);
	assert_true(ts_bytes_is(ts_cell_text(table, row, "band"), band));
	assert_int_equal(ts_cell_text(table, row, "origin").n > 0, !isnan(value));
}

static void given_modules(struct given *run, int64_t executions, int64_t total_us)
{
	run->modules[run->ops.nr_modules++] =
		(struct ts_module_fact){ .executions = executions,
					 .total_ps = total_us * TS_PS_PER_US };
}

/* One core, a second: MS of each bucket. */
static void given_run(struct given *run, const int64_t ms[TS_NR_BUCKETS])
{
	given_nothing(run);
	given_devices(run, 1);
	given_time(run, ms);
}

/* 20 GB/s of 1 TB/s beside matrix units at 60 %, and at 40 %. */
TEST(the_bound_that_a_run_does_not_have_is_not_a_fault)
{
	const struct ts_memory_facts memory = { .hbm = { .share = 0.02 } };

	for (int bound = 0; bound <= 1; bound++) {
		const int64_t ms[TS_NR_BUCKETS] = { 1000 };
		const struct ts_result *doctor;
		const struct ts_table *table;
		struct given run;

		given_run(&run, ms);
		given_op(&run, (struct given_op){ "dot.1", "convolution", "", NULL, TS_OP_MATRIX,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 1, 1000 * MS,
						  0.4e14, 20e9 });
		run.ctx.facts[ts_id_memory] = &memory;
		run.matrix.utilization = bound ? 0.6 : 0.4;
		doctor = when_examined(&run);
		then_kpi(doctor, "memory_bandwidth", 2, bound ? "neutral" : "poor");
		table = ts_result_find_table(doctor, "kpis");
		assert_int_equal(
			ts_bytes_has(ts_cell_text(table, kpi_row(table, "memory_bandwidth"),
						  "band_reason"),
				     "bound by the matrix units"),
			bound);
		given_release(&run);
	}
}

TEST(figures_are_those_of_the_other_results)
{
	const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 500,	[TS_BUCKET_MEMORY_WAIT] = 100,
		[TS_BUCKET_HOST_TRANSFER] = 50, [TS_BUCKET_COMPILATION] = 40,
		[TS_BUCKET_INPUT] = 110,	[TS_BUCKET_IDLE] = 200
	};
	const struct ts_result *doctor;
	struct given run;

	given_run(&run, ms);
	ts_profile_add_line(&run.profile)->kind = TS_LINE_THREAD;
	run.time.duty_cycle = 0.66;
	given_modules(&run, 400, 120000); /* and 300 us each: */
	given_modules(&run, 100, 30000);

	doctor = when_examined(&run);

	then_kpi(doctor, "device_utilization", 66, "fair");
	then_kpi(doctor, "kernel_duration", 0.3, "fair");
	then_kpi(doctor, "host_overhead", 20, "fair"); /* 50 + 40 + 110 of 1000 ms */
	then_kpi(doctor, "idle", 35, "poor");	       /* 200 + 40 + 110: no op ran */
	given_release(&run);
}

/* Steps of 145 ms whose device works 92, then 85, then 70 % of the time. */
TEST(a_step_is_judged_by_what_of_it_is_work)
{
	static const struct {
		int64_t ms[TS_NR_BUCKETS];
		const char *band;
	} rows[] = { { { [TS_BUCKET_COMPUTE] = 600,
			 [TS_BUCKET_MEMORY_WAIT] = 320,
			 [TS_BUCKET_HOST_TRANSFER] = 20,
			 [TS_BUCKET_COMPILATION] = 10,
			 [TS_BUCKET_INPUT] = 10,
			 [TS_BUCKET_IDLE] = 40 },
		       "good" },
		     { { [TS_BUCKET_COMPUTE] = 500,
			 [TS_BUCKET_MEMORY_WAIT] = 350,
			 [TS_BUCKET_HOST_TRANSFER] = 20,
			 [TS_BUCKET_COMPILATION] = 10,
			 [TS_BUCKET_INPUT] = 20,
			 [TS_BUCKET_IDLE] = 100 },
		       "fair" },
		     { { [TS_BUCKET_COMPUTE] = 400,
			 [TS_BUCKET_MEMORY_WAIT] = 300,
			 [TS_BUCKET_HOST_TRANSFER] = 50,
			 [TS_BUCKET_COMPILATION] = 40,
			 [TS_BUCKET_INPUT] = 110,
			 [TS_BUCKET_IDLE] = 100 },
		       "poor" } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_result *doctor;
		const struct ts_table *table;
		struct given run;
		size_t row;

		given_run(&run, rows[i].ms);
		run.time.median_step_ps = 145 * TS_PS_PER_MS;
		doctor = when_examined(&run);
		then_kpi(doctor, "step_time", 145, rows[i].band);
		table = ts_result_find_table(doctor, "kpis");
		row = kpi_row(table, "step_time");
		if (i == 0) /* 145 x 0.92 / 0.9, and / 0.8 */
			assert_true(fabs(ts_cell_number(table, row, "good") - 148.2222222) < 1e-6 &&
				    fabs(ts_cell_number(table, row, "fair") - 166.75) < 1e-6);
		given_release(&run);
	}
}

TEST(the_top_op_is_named_with_its_share)
{
	const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 900, [TS_BUCKET_IDLE] = 100 };
	const struct ts_result *doctor;
	const struct ts_table *table;
	struct given run;

	given_run(&run, ms);
	given_op(&run, (struct given_op){ .name = "dot_general.1",
					  .category = "fusion",
					  .exclusive_ps = 600 * TS_PS_PER_MS,
					  .occurrences = 1 });
	given_op(&run, (struct given_op){ .name = "add.2",
					  .category = "fusion",
					  .exclusive_ps = 300 * TS_PS_PER_MS,
					  .occurrences = 1 });
	doctor = when_examined(&run);
	then_kpi(doctor, "top_op", 60, "poor");
	table = ts_result_find_table(doctor, "kpis");
	assert_true(ts_bytes_has(ts_cell_text(table, kpi_row(table, "top_op"), "meaning"),
				 "dot_general.1, 600"));
	given_release(&run);
}

TEST(what_is_not_known_is_null_and_has_no_band)
{
	static const char *const names[] = { "device_utilization", "kernel_duration",
					     "host_overhead",	   "memory_bandwidth",
					     "compilation_time",   "idle",
					     "peak_memory",	   "occupancy",
					     "mxu_utilization",	   "padding_waste",
					     "step_time",	   "top_op" };
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);

	doctor = when_examined(&run);

	for (size_t i = 0; i < TS_NELEM(names); i++)
		then_kpi(doctor, names[i], NAN, "unknown");
	assert_int_equal(ts_result_find_table(doctor, "kpis")->nr_rows, TS_NELEM(names));
	given_release(&run);
}

TEST(compilation_is_unknown_where_no_host_thread_was_recorded)
{
	const int64_t ms[TS_NR_BUCKETS] = { 1000 };
	const struct ts_result *doctor;
	struct given run;

	given_run(&run, ms);
	doctor = when_examined(&run);
	then_kpi(doctor, "compilation_time", NAN, "unknown");
	given_release(&run);

	given_run(&run, ms);
	run.outline.compile_ps = 3000 * MS;
	ts_profile_add_line(&run.profile)->kind = TS_LINE_THREAD;
	doctor = when_examined(&run);
	then_kpi(doctor, "compilation_time", 3, "fair");
	given_release(&run);
}

/* The device did nothing: the trace saw no compilation, and nothing that would have needed one. One that it saw is known. */
TEST(compilation_is_unknown_where_no_device_ran)
{
	const struct ts_result *doctor;
	struct given run;

	for (int64_t seconds = 0; seconds <= 3; seconds += 3) {
		given_nothing(&run);
		given_devices(&run, 1);
		ts_profile_add_line(&run.profile)->kind = TS_LINE_THREAD;
		run.outline.compile_ps = seconds * 1000 * MS;
		doctor = when_examined(&run);
		then_kpi(doctor, "compilation_time", seconds ? 3 : NAN,
			 seconds ? "fair" : "unknown");
		given_release(&run);
	}
}

/* The value on the limit is on the better side. */
TEST(bands_end_at_their_limits)
{
	static const struct {
		double duty;
		const char *band;
	} cases[] = { { 100, "good" }, { 80, "good" },	 { 79.9, "fair" },
		      { 50, "fair" },  { 49.9, "poor" }, { 0, "poor" } };
	const int64_t ms[TS_NR_BUCKETS] = { 1000 };

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct given run;

		given_run(&run, ms);
		run.time.duty_cycle = cases[i].duty / 100;
		then_kpi(when_examined(&run), "device_utilization", cases[i].duty, cases[i].band);
		given_release(&run);
	}
}

TEST(bands_are_settable)
{
	const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 800, [TS_BUCKET_IDLE] = 200 };
	const struct ts_result *doctor;
	struct given run;

	given_run(&run, ms);
	run.time.duty_cycle = 0.66;
	assert_true(ts_settings_set(&run.settings, TS_LIT("device_utilization_good"), 60));
	assert_true(ts_settings_set(&run.settings, TS_LIT("idle_high"), 25));

	doctor = when_examined(&run);

	then_kpi(doctor, "device_utilization", 66, "good");
	then_kpi(doctor, "idle", 20, "good");
	given_release(&run);
}

TEST(modules_alone_have_no_key_figures)
{
	struct given run;

	given_nothing(&run);
	assert_int_equal(ts_result_find_table(when_examined(&run), "kpis")->nr_rows, 0);
	given_release(&run);
}

static struct given_op transfer(const char *name, const char *text, int64_t times, int64_t ms)
{
	return (struct given_op){ name,
				  "copy",
				  text,
				  "feed.py:3",
				  TS_OP_MOVE,
				  TS_ASYNC_NONE,
				  TS_BUCKET_HOST_TRANSFER,
				  times,
				  ms * MS,
				  0,
				  0 };
}

TEST(a_large_transfer_is_told_where_transfers_cost_little_in_all)
{
	const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 960, [TS_BUCKET_HOST_TRANSFER] = 40
	};
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_run(&run, ms);
	/* 256 x 1024 x 1024 bytes in f32: 256 MiB */
	given_op(&run,
		 transfer("copy.1", "%copy.1 = f32[64,1024,1024]{2,1,0:S(5)} copy(%a)", 2, 30));
	given_op(&run, transfer("copy.2", "%copy.2 = f32[1024]{0:S(5)} copy(%b)", 2, 10));

	doctor = when_examined(&run);

	finding = finding_of(doctor, "large_transfers");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->title, "256"));
	assert_int_equal(finding->impact_ps, 30 * MS);
	assert_int_equal(finding->nr_where, 1);
	assert_true(ts_bytes_is(finding->where[0].op, "copy.1"));
	given_release(&run);
}

TEST(large_transfers_are_not_told_twice)
{
	const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 800, [TS_BUCKET_HOST_TRANSFER] = 200
	};
	const struct ts_result *doctor;
	struct given run;

	given_run(&run, ms);
	given_op(&run,
		 transfer("copy.1", "%copy.1 = f32[64,1024,1024]{2,1,0:S(5)} copy(%a)", 2, 200));

	doctor = when_examined(&run);

	assert_non_null(finding_of(doctor, "host_copies"));
	assert_null(finding_of(doctor, "large_transfers"));
	given_release(&run);
}

TEST(very_many_small_transfers_are_told_with_their_own_advice)
{
	const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 960, [TS_BUCKET_HOST_TRANSFER] = 40
	};
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_run(&run, ms);
	given_op(&run, transfer("copy.2", "%copy.2 = f32[256]{0:S(5)} copy(%b)", 1500, 40));

	doctor = when_examined(&run);

	finding = finding_of(doctor, "large_transfers");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->title, "1500 small transfers"));
	assert_true(ts_bytes_has(finding->title, "1.00 KiB"));
	assert_true(ts_bytes_has(finding->advice, "Pack"));
	given_release(&run);

	given_run(&run, ms);
	given_op(&run, transfer("copy.2", "%copy.2 = f32[256]{0:S(5)} copy(%b)", 999, 40));
	assert_null(finding_of(when_examined(&run), "large_transfers"));
	given_release(&run);
}

static const char *const rule_names[] = {
#define NAME(name) #name,
	TS_RULES(NAME)
#undef NAME
};

/* Is it of a rule that an analysis brings along? */
static bool is_of_an_analysis(const char *row)
{
	for (size_t i = 0; ts_analyses[i]; i++)
		for (size_t k = 0; ts_analyses[i]->rules && ts_analyses[i]->rules[k]; k++)
			if (strcmp(ts_analyses[i]->rules[k]->name, row) == 0)
				return true;
	return false;
}

/* A row is of a rule, or of one of its cases: "unfused_collective". */
static bool is_of(const char *row, const char *rule)
{
	size_t n = strlen(rule);

	return strncmp(row, rule, n) == 0 && (row[n] == '\0' || row[n] == '_');
}

/* "capture/no_device" is of a cause, which the rule "capture" reports. */
static void assert_rows_are_of_rules(const struct ts_advice_list *list)
{
	for (size_t at = 0; at < list->nr; at++) {
		const char *name = list->rows[at].name;
		bool found = strncmp(name, "capture/", strlen("capture/")) == 0 ||
			     is_of_an_analysis(name);

		for (size_t i = 0; i < TS_NELEM(rule_names); i++)
			found |= is_of(name, rule_names[i]);
		if (!found)
			fail_msg("advice of %s, which is not a rule", name);
		if (at > 0 && strcmp(list->rows[at - 1].name, name) >= 0)
			fail_msg("%s is not in its place: rows are sorted by name", name);
	}
}

TEST(every_rule_has_advice_and_every_row_a_rule)
{
	for (size_t i = 0; i < TS_NELEM(rule_names); i++) {
		for (int f = 0; f < TS_NR_FRAMEWORKS; f++) {
			const struct ts_advice *advice =
				ts_advice_find((enum ts_framework)f, rule_names[i]);

			if (strlen(advice->advice) < 20)
				fail_msg("%s has no advice", rule_names[i]);
			assert_string_equal(advice->name, rule_names[i]);
		}
	}
	for (int f = 0; f < TS_NR_FRAMEWORKS; f++)
		assert_rows_are_of_rules(&ts_advice_lists[f]);
}

/* What looks into XLA's programs, or at a TPU, has nothing to say of a profile of PyTorch's; a
 * cause of the capture brings words of its own. */
TEST(users_of_pytorch_are_not_told_of_jax)
{
	static const char *const of_xla[] = { "capture",       "infeed_outfeed",
					      "exposed_async", "sparsecore_offload",
					      "matmul_fill",   "padding_waste",
					      "unfused",       "donation",
					      "unknown_cost",  "resharding" };
	size_t nr_of_xla = 0;

	for (size_t i = 0; i < TS_NELEM(rule_names); i++) {
		const struct ts_advice *advice = ts_advice_find(TS_TORCH, rule_names[i]);
		bool is_of_xla = false;

		for (size_t k = 0; k < TS_NELEM(of_xla); k++)
			is_of_xla |= strcmp(of_xla[k], rule_names[i]) == 0;
		nr_of_xla += is_of_xla;
		if (is_of_xla)
			continue;
		if (!strstr(advice->code, "import torch") || strstr(advice->code, "jax"))
			fail_msg("%s: no code of PyTorch's", rule_names[i]);
		assert_null(strstr(advice->advice, "jit"));
	}
	assert_int_equal(nr_of_xla, TS_NELEM(of_xla));
}
