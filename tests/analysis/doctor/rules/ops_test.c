/* SPDX-License-Identifier: MIT */
/* Rules about single ops: long executions, many executions, attention that is not fused. */
#include "analysis/facts/timeline.h"
#include "tests/analysis/doctor/doctor_given.h"

static struct given_op op_of(const char *name, enum ts_op_kind kind, int64_t occurrences,
			     int64_t ms)
{
	return (struct given_op){
		name,	     "kernel", "", NULL, kind, TS_ASYNC_NONE, TS_BUCKET_COMPUTE,
		occurrences, ms * MS,  0,  0
	};
}

static void given_seconds(struct given *run, int64_t seconds)
{
	given_nothing(run);
	given_devices(run, 1);
	given_time(run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = seconds * 1000 });
}

/* 10 x 50 ms are not reported, 10 x 50.1 are. */
TEST(one_execution_of_over_fifty_ms_is_reported)
{
	for (int over = 0; over <= 1; over++) {
		const struct ts_finding *finding;
		struct given run;

		given_seconds(&run, 10);
		run.settings.op_ms_high = 50;
		given_op(&run, op_of("sort.1", TS_OP_COMPUTE, 10, over ? 501 : 500));
		finding = finding_of(when_examined(&run), "long_op");
		assert_int_equal(finding != NULL, over);
		if (finding) {
			assert_true(ts_bytes_is(finding->title,
						"The longest execution of sort.1 takes 50.1 ms"));
			assert_int_equal(finding->impact_ps, -1);
			assert_int_equal(finding->severity, TS_INFO);
			assert_true(ts_bytes_is(finding->where[0].op, "sort.1"));
		}
		given_release(&run);
	}
}

/* Three of 1 ms and one of 300: the mean, 75.75 ms, is the length of none. */
TEST(a_long_execution_among_short_ones_is_told_beside_the_mean)
{
	struct given_op op = op_of("k", TS_OP_COMPUTE, 4, 303);
	const struct ts_finding *finding;
	struct given run;

	given_seconds(&run, 10);
	run.settings.op_ms_high = 50;
	op.longest_ps = 300 * MS;
	given_op(&run, op);
	finding = finding_of(when_examined(&run), "long_op");
	assert_non_null(finding);
	assert_true(ts_bytes_is(finding->title, "The longest execution of k takes 300 ms"));
	assert_true(ts_bytes_has(finding->evidence, "4 executions, 75.8 ms on average"));
	assert_false(ts_bytes_has(finding->evidence, "each"));
	given_release(&run);
}

/* A mean is given only where there are several executions. */
TEST(one_long_execution_is_told_as_one)
{
	const struct ts_finding *finding;
	struct given run;

	given_seconds(&run, 10);
	run.settings.op_ms_high = 50;
	given_op(&run, op_of("k", TS_OP_COMPUTE, 1, 303));
	finding = finding_of(when_examined(&run), "long_op");
	assert_non_null(finding);
	assert_true(ts_bytes_is(finding->title, "One execution of k takes 303 ms"));
	assert_false(ts_bytes_has(finding->evidence, "average"));
	given_release(&run);
}

/* 10 steps: 10 000 executions are 1000 a step. */
TEST(an_op_that_runs_very_often_in_a_step_is_reported)
{
	for (int over = 0; over <= 1; over++) {
		const struct ts_finding *finding;
		struct given run;

		given_seconds(&run, 10);
		run.outline.steps.nr_steps = 10;
		given_op(&run, op_of("add.1", TS_OP_COMPUTE, over ? 20000 : 10000, 900));
		finding = finding_of(when_examined(&run), "many_executions");
		assert_int_equal(finding != NULL, over);
		if (finding)
			assert_true(
				ts_bytes_is(finding->title, "add.1 is executed 2000 times a step"));
		given_release(&run);
	}
}

/* Softmax 1000 ms and two products of 500 ms, each 120 times; the third runs 60 times. */
TEST(softmax_between_products_is_attention_that_is_not_fused)
{
	for (int fused = 0; fused <= 1; fused++) {
		const struct ts_finding *finding;
		struct given run;

		given_seconds(&run, 10);
		given_op(&run, op_of(fused ? "flash_fwd" : "cunn_SoftMaxForward", TS_OP_COMPUTE,
				     120, 1000));
		given_op(&run, op_of("gemm_tn", TS_OP_COMPUTE, 120, 500));
		given_op(&run, op_of("dot.7", TS_OP_MATRIX, 120, 500));
		given_op(&run, op_of("gemm_nn", TS_OP_COMPUTE, 60, 900));
		finding = finding_of(when_examined(&run), "unfused_attention");
		assert_int_equal(finding != NULL, !fused);
		if (finding) {
			assert_int_equal(finding->impact_ps, 2000 * MS);
			assert_int_equal(finding->gain_ps, 2000 * MS);
			assert_int_equal(finding->nr_where, 3);
			assert_true(ts_bytes_has(finding->evidence,
						 "A softmax and 2 products run 120"));
		}
		given_release(&run);
	}
}

/* Of a run of 1 s on two cores that idle for 400 ms of core time: 9 ms and 100 ms on the CPU. */
TEST(programs_on_the_cpu_are_reported_beside_devices)
{
	for (int much = 0; much <= 1; much++) {
		const struct ts_finding *finding;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 2);
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){
					 [TS_BUCKET_COMPUTE] = 1600, [TS_BUCKET_IDLE] = 400 });
		run.capture.works[TS_WORK_CPU] =
			(struct ts_host_work_sum){ 3, (much ? 100 : 9) * MS };
		finding = finding_of(when_examined(&run), "cpu_fallback");
		assert_int_equal(finding != NULL, much);
		if (finding) {
			assert_int_equal(finding->impact_ps, 200 * MS);
			assert_true(
				ts_bytes_has(finding->title, "3 programs ran on the host's CPU"));
		}
		given_release(&run);
	}
}

TEST(logging_in_captured_steps_is_reported)
{
	for (int much = 0; much <= 1; much++) {
		const struct ts_finding *finding;
		struct given run;

		given_seconds(&run, 1);
		run.capture.works[TS_WORK_LOG] = (struct ts_host_work_sum){ 5, 4 * MS };
		run.capture.works[TS_WORK_SAVE] =
			(struct ts_host_work_sum){ 1, (much ? 56 : 4) * MS };
		finding = finding_of(when_examined(&run), "logging_in_steps");
		assert_int_equal(finding != NULL, much);
		if (finding) {
			assert_true(ts_bytes_has(finding->title, "logs or saves for 60.0 ms"));
			assert_int_equal(finding->gain_ps, 0); /* the device does not idle for it */
		}
		given_release(&run);
	}
}

/* 1 s of steps, of which 400 ms are in no class, and 250 ms of them with an idle device. */
TEST(time_of_no_class_is_reported)
{
	for (int much = 0; much <= 1; much++) {
		const struct ts_timeline_facts timeline = { .device_time_ps = -1,
							    .steps_ps = 1000 * MS,
							    .other_ps = (much ? 400 : 300) * MS };
		const struct ts_finding *finding;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){
					 [TS_BUCKET_COMPUTE] = 750, [TS_BUCKET_IDLE] = 250 });
		run.settings.idle_high = 100;
		run.ctx.facts[ts_id_timeline] = &timeline;
		finding = finding_of(when_examined(&run), "other_time");
		assert_int_equal(finding != NULL, much);
		if (finding) {
			assert_true(ts_bytes_starts(finding->title, "40 % of the steps"));
			assert_int_equal(finding->gain_ps, 250 * MS);
		}
		given_release(&run);
	}
}
