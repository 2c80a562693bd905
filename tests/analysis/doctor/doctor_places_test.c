/* SPDX-License-Identifier: MIT */
/* When findings happen and where viewers show them; ids that last. */
#include "tests/analysis/doctor/doctor_given.h"

#include <stdlib.h>

#include "result/view.h"

static const int64_t bound_ms[TS_NR_BUCKETS] = {
	[TS_BUCKET_COMPUTE] = 200, [TS_BUCKET_MEMORY_WAIT] = 800
};

/* One op that waits for memory, of program 7, with HLO. */
/* A clause of a finding's SQL. */
#define OF(key, value)                                   \
	" and coalesce(extract_arg(arg_set_id, 'args." key \
	"'), extract_arg(arg_set_id, 'debug." key "')) = '" value "'"

static void assert_is(struct ts_bytes text, const char *expected)
{
	char found[2048];

	snprintf(found, sizeof(found), "%.*s", TS_ARG(text));
	assert_string_equal(found, expected);
}

static void given_memory_run(struct given *run, const char *op)
{
	struct ts_hlo_module *module;

	given_nothing(run);
	given_devices(run, 1);
	given_op(run, (struct given_op){ "warm.1", "loop fusion", "", "a.py:1", TS_OP_OTHER,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 1, MS, 0, 0 });
	given_op(run,
		 (struct given_op){ op, "loop fusion", "", "a.py:2", TS_OP_OTHER, TS_ASYNC_NONE,
				    TS_BUCKET_MEMORY_WAIT, 10, 800 * MS, 0, 1e9 });
	module = ts_profile_add_module(&run->profile, 7);
	module->name = TS_LIT("jit_f");
	module->program_id = 7;
	run->profile.ops[1].module = 0;
	given_time(run, bound_ms);
	run->profile.hosts[0].name = TS_LIT("host0");
	run->profile.logdir = TS_LIT("/logs");
	run->profile.run = TS_LIT("my run/a&b");
	run->profile.session = TS_LIT("2026_01_01");
}

TEST(an_op_is_linked_by_module_and_program_and_by_its_first_execution)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_non_null(finding);
	assert_true(ts_bytes_is(finding->links.xprof,
				"?run=my%20run%2Fa%26b%2F2026_01_01&tag=graph_viewer&host=host0"
				"&module_name=jit_f%287%29&node_name=fusion.1#profile"));
	/* 1 to 1.5 ms, and a twentieth of that on either side */
	assert_true(ts_bytes_is(
		finding->links.xprof_trace,
		"data/plugin/profile/trace_viewer_index.html?is_streaming=true&is_oss=true"
		"&trace_data_url=%2Fdata%2Fplugin%2Fprofile%2Fdata%3Frun%3Dmy%2520run%252Fa%2526b"
		"%252F2026_01_01%26tag%3Dtrace_viewer%2540%26host%3Dhost0"
		"&view_start=0.975000&view_end=1.525000"));
	assert_int_equal(finding->nr_when, 1);
	assert_true(finding->when[0].is_example);
	assert_int_equal(finding->when[0].start_ps, MS);
	assert_int_equal(finding->when[0].end_ps, MS + MS / 2);
	given_release(&run);
}

/* XProf counts from the start of the host whose trace it shows. */
TEST(times_of_a_host_that_began_later_are_by_its_own_clock)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");
	run.profile.start_unix_ns = 1000000000;
	run.profile.hosts[0].start_unix_ns = 1000600000;

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_true(
		ts_bytes_has(finding->links.xprof_trace, "&view_start=0.375000&view_end=0.925000"));
	given_release(&run);
}

TEST(a_profile_outside_a_log_directory_has_no_links)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");
	run.profile.logdir = run.profile.run = run.profile.session = TS_LIT("");

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_int_equal(finding->links.xprof.n, 0);
	assert_int_equal(finding->links.xprof_trace.n, 0);
	assert_true(finding->links.perfetto_sql.n > 0);
	given_release(&run);
}

/* Other programs have ops of the same name, and one op can be named twice. */
TEST(slices_of_an_op_are_asked_for_by_its_program)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_is(finding->links.perfetto_sql,
		  "select id, ts, dur, track_id, name from slice where name in ('fusion.1')" OF(
			  "hlo_module", "jit_f") OF("program_id", "7") " order by ts");
	given_release(&run);
}

TEST(slices_of_several_programs_are_asked_for_one_program_after_the_other)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");
	given_op(&run,
		 (struct given_op){ "fusion.3", "loop fusion", "", "a.py:3", TS_OP_OTHER,
				    TS_ASYNC_NONE, TS_BUCKET_MEMORY_WAIT, 10, 100 * MS, 0, 1e9 });
	given_op(&run,
		 (struct given_op){ "fusion.2", "loop fusion", "", "a.py:4", TS_OP_OTHER,
				    TS_ASYNC_NONE, TS_BUCKET_MEMORY_WAIT, 10, 90 * MS, 0, 1e9 });
	run.profile.ops[2].program_id = 8;

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_is(finding->links.perfetto_sql,
		  "select id, ts, dur, track_id, name from slice where name in ('fusion.1', "
		  "'fusion.2')" OF("hlo_module", "jit_f")
			  OF("program_id", "7") " or name in ('fusion.3')" OF("hlo_module", "jit_f")
				  OF("program_id", "8") " order by ts");
	given_release(&run);
}

/* A GPU's kernels of a trace have no module, and may be drawn as render stages too. */
TEST(slices_without_a_module_are_asked_for_once)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");
	run.items[1].module = TS_LIT("");
	run.profile.ops[1].has_program = false;

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_is(finding->links.perfetto_sql,
		  "select id, ts, dur, track_id, name from slice where name in ('fusion.1') and "
		  "track_id not in (select id from track where type = 'gpu_render_stage') "
		  "order by ts");
	given_release(&run);
}

TEST(what_is_not_about_an_op_that_ran_is_found_by_its_id)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");
	run.items[1].first_start_ps = run.items[1].first_end_ps = 0;

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_int_equal(finding->nr_when, 0);
	assert_true(ts_bytes_starts(finding->links.perfetto_sql,
				    "select id, ts, dur, track_id, name from slice where "
				    "category = 'tpusight'" OF("finding", "memory_bound")));
	given_release(&run);
}

TEST(an_op_without_its_module_has_no_graph)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "fusion.1");
	run.profile.ops[1].module = TS_NONE;

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_int_equal(finding->links.xprof.n, 0);
	assert_true(finding->links.xprof_trace.n > 0);
	given_release(&run);
}

TEST(names_do_not_leave_their_place_in_an_address_or_in_sql)
{
	const struct ts_finding *finding;
	struct given run;

	given_memory_run(&run, "a'b&c=\"<d>#\xff");

	finding = finding_of(when_examined(&run), "memory_bound");

	assert_true(ts_bytes_has(finding->links.xprof,
				 "&node_name=a%27b%26c%3D%22%3Cd%3E%23%FF#profile"));
	assert_true(ts_bytes_has(finding->links.perfetto_sql, "('a''b&c=\"<d>#\xff')"));
	given_release(&run);
}

TEST(times_stand_in_order_and_the_longest_is_linked)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 600, [TS_BUCKET_IDLE] = 400
	};
	const struct ts_finding *finding;
	struct ts_when hull;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_time(&run, ms);
	run.profile.session = TS_LIT("s");
	given_gap(&run, 0, 100, 300, TS_BUCKET_IDLE);
	given_gap(&run, 0, 20, 60, TS_BUCKET_IDLE);
	given_gap(&run, 0, 500, 40, TS_BUCKET_IDLE);

	finding = finding_of(when_examined(&run), "idle");

	assert_int_equal(finding->nr_when, 3);
	for (size_t i = 0; i < 3; i++)
		assert_false(finding->when[i].is_example);
	assert_int_equal(finding->when[0].start_ps, 20 * MS);
	assert_int_equal(finding->when[2].end_ps, 540 * MS);
	assert_true(ts_finding_hull(finding, &hull));
	assert_int_equal(hull.start_ps, 20 * MS);
	assert_int_equal(hull.end_ps, 540 * MS);
	assert_true(ts_bytes_has(finding->links.xprof_trace,
				 "&view_start=85.000000&view_end=415.000000"));
	assert_is(finding->links.perfetto_sql,
		  "select id, ts, dur, track_id, name from slice where category = "
		  "'tpusight'" OF("finding", "idle") " order by ts");
	given_release(&run);
}

TEST(a_bounded_impact_says_how_and_an_unknown_one_does_not)
{
	const struct ts_result *doctor;
	struct given run;

	given_memory_run(&run, "fusion.1");
	run.outline.steps.source = TS_STEPS_INFERRED;

	doctor = when_examined(&run);

	for (size_t i = 0; i < doctor->nr_findings; i++)
		assert_int_equal(doctor->findings[i].impact_ps >= 0,
				 doctor->findings[i].ceiling != NULL);
	given_release(&run);
}

struct ids {
	char text[32][64];
	size_t nr;
};

/* Three badly filled products, in the order that FIRST begins. */
static struct ids ids_of(size_t first, double fill_low, double padding_high)
{
	static const char *const names[] = { "dot.1", "dot.2", "dot.3" };
	const struct ts_result *doctor;
	struct ids ids = { .nr = 0 };
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	for (size_t i = 0; i < 3; i++)
		given_op(&run, (struct given_op){ names[(first + i) % 3], "convolution", "", "",
						  TS_OP_MATRIX, TS_ASYNC_NONE, TS_BUCKET_COMPUTE,
						  10, 200 * MS, 1e9, 1e6 });
	for (size_t i = 0; i < 3; i++)
		given_product(&run, names[(first + i) % 3], 200, 10, 20, 80);
	run.matrix.utilization = 0.1;
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 600, [TS_BUCKET_IDLE] = 100 });
	run.settings.mxu_fill_low = fill_low;
	run.settings.padding_waste_high = padding_high;
	doctor = when_examined(&run);
	for (size_t i = 0; i < doctor->nr_findings && ids.nr < 32; i++)
		snprintf(ids.text[ids.nr++], sizeof(ids.text[0]), "%.*s",
			 TS_ARG(doctor->findings[i].id));
	given_release(&run);
	return ids;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

TEST(ids_do_not_depend_on_the_order_of_ops_or_on_thresholds)
{
	struct ids base = ids_of(0, 70, 30);

	assert_true(base.nr >= 4);
	qsort(base.text, base.nr, sizeof(base.text[0]), by_text);
	for (size_t first = 0; first < 3; first++) {
		struct ids other = ids_of(first, 50 + (double)first, 20);

		qsort(other.text, other.nr, sizeof(other.text[0]), by_text);
		assert_int_equal(other.nr, base.nr);
		assert_memory_equal(other.text, base.text, base.nr * sizeof(base.text[0]));
	}
}
