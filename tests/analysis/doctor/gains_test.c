/* SPDX-License-Identifier: MIT */
/* Gains: time of the run, which no two findings count twice; and severities, which follow from it. */
#include "analysis/facts/async.h"
#include "tests/analysis/doctor/doctor_given.h"

static struct given_op op_of(const char *name, enum ts_op_kind kind, enum ts_bucket bucket,
			     int64_t ms, double bytes)
{
	return (struct given_op){ name, "loop fusion", "", NULL, kind, TS_ASYNC_NONE, bucket,
				  10,	ms * MS,       0,  bytes };
}

static int64_t all_gains(const struct ts_result *doctor)
{
	int64_t sum = 0;

	for (size_t i = 0; i < doctor->nr_findings; i++)
		sum += TS_MAX(doctor->findings[i].gain_ps, 0);
	return sum;
}

/* 4 cores, 1 s each: 1.6 s of core time waits for input, which is 400 ms of the run. */
TEST(a_gain_is_time_of_the_run)
{
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 4);
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 2400, [TS_BUCKET_INPUT] = 1600 });
	finding = finding_of(when_examined(&run), "input_bound");
	assert_int_equal(finding->impact_ps, 1600 * MS);
	assert_int_equal(finding->gain_ps, 400 * MS);
	assert_true(fabs(finding->gain_share - 0.4) < 1e-9);
	assert_int_equal(finding->severity, TS_CRITICAL);
	assert_null(finding->severity_reason);
	given_release(&run);
}

/* One op of 900 of 1000 ms: 600 ms of it are copies of padding and 700 of it a bad shape. The larger
 * takes 700 ms, the other the 200 that are left. */
TEST(what_one_finding_takes_another_does_not_get)
{
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_op(&run, op_of("dot.1", TS_OP_MATRIX, TS_BUCKET_COMPUTE, 900, 0));
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = 1000 });
	given_padding(&run, "dot.1", "jit_f", 67, 700);
	run.padded_ops[0].waste_ps = 700 * MS;
	given_padding(&run, "dot.1", "jit_f", 60, 600);
	run.settings.dominant_op_high = 100;
	doctor = when_examined(&run);
	assert_int_equal(doctor->nr_findings, 2);
	assert_int_equal(doctor->findings[0].gain_ps, 700 * MS);
	assert_int_equal(doctor->findings[1].impact_ps, 600 * MS);
	assert_int_equal(doctor->findings[1].gain_ps, 200 * MS);
	assert_int_equal(all_gains(doctor), 900 * MS);
	given_release(&run);
}

/* scan.1 waits for memory for 900 of 1000 ms and needs 90 of them by the roofline: "waits for memory"
 * and "takes 90 %" are one thing. */
TEST(one_cause_is_one_finding)
{
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_op(&run, op_of("scan.1", TS_OP_COMPUTE, TS_BUCKET_MEMORY_WAIT, 900, 9e9));
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 100, [TS_BUCKET_MEMORY_WAIT] = 900 });
	run.settings.hbm_bandwidth_low = 0;
	doctor = when_examined(&run);
	assert_null(finding_of(doctor, "dominant_op"));
	finding = finding_of(doctor, "memory_bound");
	assert_int_equal(finding->impact_ps, 900 * MS);
	assert_int_equal(finding->gain_ps, 810 * MS);
	assert_int_equal(finding->nr_merged, 1);
	assert_string_equal(finding->merged[0].rule, "dominant_op");
	assert_int_equal(finding->merged[0].impact_ps, 810 * MS);
	assert_true(ts_bytes_has(finding->evidence,
				 "It shows in this too: scan.1 alone takes 90 % of device time."));
	given_release(&run);
}

/* Step 4 is 50 ms longer on each of two cores, because of a compilation that step 4 waits for. */
TEST(a_slow_step_that_recompiles_is_one_finding)
{
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 2);
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 900, [TS_BUCKET_COMPILATION] = 100 });
	for (int64_t i = 0; i < 5; i++)
		given_step(&run, i, i * 100, 100, 0, i == 4 ? 100 : 0);
	given_slow_step(&run, 4, 50, -1);
	run.slow[0].cause = TS_BUCKET_COMPILATION;
	doctor = when_examined(&run);
	assert_null(finding_of(doctor, "slow_steps"));
	finding = finding_of(doctor, "recompilation");
	assert_int_equal(finding->gain_ps, 50 * MS);
	assert_string_equal(finding->merged[0].rule, "slow_steps");
	given_release(&run);
}

/* Matrix units at 5 %, in ops that take 4 % of the run: not much can be gained there. */
TEST(a_severity_follows_from_the_gain_alone)
{
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_op(&run, op_of("dot.1", TS_OP_MATRIX, TS_BUCKET_COMPUTE, 40, 0));
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = 1000 });
	given_product(&run, "dot.1", 40, 5, 100, 0);
	run.matrix.utilization = 0.002;
	finding = finding_of(when_examined(&run), "mxu_utilization");
	assert_int_equal(finding->gain_ps, 38 * MS);
	assert_int_equal(finding->severity, TS_INFO);
	given_release(&run);
}

TEST(a_lifted_severity_says_why)
{
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 100000, [TS_BUCKET_COMPILATION] = 1 });
	run.outline.compile_ps = 6000 * MS;
	finding = finding_of(when_examined(&run), "compilation");
	assert_int_equal(finding->severity, TS_WARNING);
	assert_string_equal(finding->severity_reason,
			    "the hosts compile for longer than compilation_time_high");
	given_release(&run);
}

/* Products at 10 % for 480 of 1000 ms, and 520 ms in a kernel whose FLOPs are unknown. */
TEST(a_utilization_of_half_the_work_is_a_lower_bound)
{
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_op(&run, op_of("dot.1", TS_OP_MATRIX, TS_BUCKET_COMPUTE, 480, 0));
	given_op(&run, (struct given_op){ "te_fused_attn", "custom-call", "", NULL, TS_OP_COMPUTE,
					  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 520 * MS, 0, 0 });
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = 1000 });
	given_product(&run, "dot.1", 480, 10, 100, 0);
	run.matrix.utilization = 0.048;
	finding = finding_of(when_examined(&run), "mxu_utilization");
	assert_int_equal(finding->gain_ps, 432 * MS);
	assert_int_equal(finding->severity, TS_WARNING);
	assert_string_equal(finding->severity_reason, "the cost of much of the run is unknown");
	assert_true(ts_bytes_has(finding->evidence,
				 "lower bound: 52 % of core time is in ops of unknown cost"));
	given_release(&run);
}

/* 400 ms wait in collectives on two cores; compute could cover 200 of the 300 that are judged. */
TEST(what_compute_can_cover_bounds_a_gain)
{
	struct ts_async_op op = { .name = TS_LIT("all-reduce.1"),
				  .module = TS_LIT("jit_f"),
				  .is_collective = true,
				  .interval_ps = 300 * MS,
				  .exposed_ps = 300 * MS,
				  .coverable_ps = 200 * MS };
	const struct ts_async_facts async = { &op, 1 };
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 2);
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 1600, [TS_BUCKET_COMMUNICATION] = 400 });
	run.ctx.facts[ts_id_async] = &async;
	finding = finding_of(when_examined(&run), "exposed_collectives");
	assert_int_equal(finding->impact_ps, 400 * MS);
	assert_int_equal(finding->gain_ps, 150 * MS); /* (200 + 100 that nothing is known of) / 2 */
	given_release(&run);
}

/* dot.1 takes 900 ms, of which one loss is 700 and another 600, and 300 ms nothing runs. By impact the order is 700,
 * 600, 300; the second loss gets the 200 that the first leaves, so by gain it is 700, 300, 200. */
TEST(findings_stand_in_the_order_of_their_gains)
{
	static const struct {
		const char *rule;
		int64_t gain_ps;
		enum ts_severity severity;
	} rows[] = {
		{ "no_device", -1, TS_CRITICAL },      { "padding_waste", 700 * MS, TS_CRITICAL },
		{ "idle", 300 * MS, TS_WARNING },      { "padding_waste", 200 * MS, TS_WARNING },
		{ "host_clock_skew", -1, TS_WARNING },
	};
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_op(&run, op_of("dot.1", TS_OP_MATRIX, TS_BUCKET_COMPUTE, 900, 0));
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 1000, [TS_BUCKET_IDLE] = 300 });
	given_padding(&run, "dot.1", "jit_f", 60, 600);
	given_padding(&run, "dot.1", "jit_f", 67, 700);
	given_cause(&run, "host_clock_skew", TS_WARNING);
	given_cause(&run, "no_device", TS_CRITICAL);
	run.settings.dominant_op_high = 100;
	doctor = when_examined(&run);
	assert_int_equal(doctor->nr_findings, TS_NELEM(rows));
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		assert_string_equal(doctor->findings[i].rule, rows[i].rule);
		assert_int_equal(doctor->findings[i].gain_ps, rows[i].gain_ps);
		assert_int_equal(doctor->findings[i].severity, rows[i].severity);
	}
	given_release(&run);
}

/* An op of 810 of 1,000 ms needs 640 of them, and for 190 nothing runs. Both figures of the formula bound the score:
 * 100 x sqrt(0.64) is 80, and 100 x sqrt(1 - 0.19 of idling - 0.17 of the op) is as much; with an op that needs 720
 * it is sqrt(0.72), 85. */
TEST(health_is_the_root_of_what_ideal_and_gains_leave)
{
	static const struct {
		double bytes;
		int64_t ideal_ms, score;
	} rows[] = { { 640e9, 640, 80 }, { 720e9, 720, 85 } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_result *doctor;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "scan.1", "loop fusion", "", NULL, TS_OP_COMPUTE,
						  TS_ASYNC_NONE, TS_BUCKET_MEMORY_WAIT, 1, 810 * MS,
						  0, rows[i].bytes });
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){
					 [TS_BUCKET_MEMORY_WAIT] = 810, [TS_BUCKET_IDLE] = 190 });
		doctor = when_examined(&run);
		assert_int_equal(ts_result_get(doctor, "ideal_ps").as.i, rows[i].ideal_ms * MS);
		assert_int_equal(ts_result_get(doctor, "health_score").as.i, rows[i].score);
		given_release(&run);
	}
}

TEST(gaps_of_no_length_are_not_listed)
{
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 600, [TS_BUCKET_IDLE] = 400 });
	run.gaps[run.time.nr_gaps++] = (struct ts_time_gap){ 0, 5 * MS, MS / 1000, TS_BUCKET_IDLE };
	given_gap(&run, 0, 100, 300, TS_BUCKET_IDLE);
	given_gap(&run, 0, 500, 100, TS_BUCKET_IDLE);
	finding = finding_of(when_examined(&run), "idle");
	assert_int_equal(finding->nr_when, 2);
	assert_int_equal(finding->when[0].start_ps, 100 * MS);
	assert_int_equal(finding->when[1].start_ps, 500 * MS);
	given_release(&run);
}
