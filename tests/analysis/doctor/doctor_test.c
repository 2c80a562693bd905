/* SPDX-License-Identifier: MIT */
/* The doctor: rules at their thresholds, the order and bounds of findings, and the health score. */
#include "analysis/facts/async.h"
#include "analysis/facts/collectives.h"
#include "analysis/kit/rule.h"
#include "tests/analysis/doctor/doctor_given.h"

static bool contains(struct ts_bytes text, const char *part)
{
	if (ts_bytes_has(text, part))
		return true;
	print_error("missing \"%s\" in: %.*s\n", part, TS_ARG(text));
	return false;
}

/* Holds for every finding, whatever was given. */
static void then_findings_are_sound(const struct ts_result *doctor, int64_t total_ps)
{
	for (size_t i = 0; i < doctor->nr_findings; i++) {
		const struct ts_finding *finding = &doctor->findings[i];
		const struct ts_bytes texts[] = { finding->title, finding->evidence,
						  finding->advice };

		assert_true(finding->id.n > 0 && finding->title.n > 0 && finding->evidence.n > 0);
		assert_true(finding->advice.n > 0);
		for (size_t t = 0; t < TS_NELEM(texts); t++)
			assert_false(ts_bytes_has(texts[t], "nan") ||
				     ts_bytes_has(texts[t], "inf ") ||
				     ts_bytes_has(texts[t], "-nan") ||
				     ts_bytes_has(texts[t], "-9223372036854775808"));
		assert_true(finding->impact_ps >= -1 && finding->impact_ps <= total_ps);
		if (finding->impact_ps >= 0 && total_ps > 0)
			assert_true(finding->impact_share >= 0 && finding->impact_share <= 1);
		for (size_t j = 0; j < i; j++)
			assert_false(ts_bytes_eq(finding->id, doctor->findings[j].id));
		if (i > 0 && doctor->findings[i - 1].impact_ps >= 0)
			assert_true(doctor->findings[i - 1].impact_ps >= finding->impact_ps);
	}
}

static int64_t health_of(const struct ts_result *doctor)
{
	return ts_value_int(ts_result_get(doctor, "health_score"));
}

/* 4 cores, 10 steps: a fetch of 5 GiB and a send of 5 GiB a step, waited for 200 ms each; compute
 * streams at 80 % of HBM. Total 4 x 10 x 500 ms. */
static void given_host_offload(struct given *run)
{
	static const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_MEMORY_WAIT] = 400,
						   [TS_BUCKET_HOST_TRANSFER] = 16000,
						   [TS_BUCKET_IDLE] = 3600 };

	given_nothing(run);
	given_devices(run, 4);
	given_op(run, (struct given_op){ "copy-done", "copy-done",
					 "%copy-done = f32[5,1024,1024,256]{3,2,1,0:T(8,128)} "
					 "copy-done((f32[5,1024,1024,256]{3,2,1,0:T(8,128)}, "
					 "f32[5,1024,1024,256]{3,2,1,0:"
					 "T(8,128)S(5)}, u32[]{:S(2)}) %copy-start)",
					 "offload.py:29", TS_OP_HOST, TS_ASYNC_DONE,
					 TS_BUCKET_HOST_TRANSFER, 40, 8000 * MS, 0, 0 });
	given_op(run, (struct given_op){
			      "copy-done.1", "copy-done",
			      "%copy-done.1 = f32[5,1024,1024,256]{3,2,1,0:T(8,128)S(5)}"
			      " copy-done((f32[5]{0}, f32[5]{0}, u32[]{:S(2)}) %copy-start.1)",
			      NULL, TS_OP_HOST, TS_ASYNC_DONE, TS_BUCKET_HOST_TRANSFER, 40,
			      8000 * MS, 0, 0 });
	given_op(run, (struct given_op){ "copy-start", "copy-start", "", NULL, TS_OP_HOST,
					 TS_ASYNC_START, TS_BUCKET_HOST_TRANSFER, 40, 10, 0, 0 });
	given_op(run,
		 (struct given_op){ "fusion", "loop fusion", "", NULL, TS_OP_COMPUTE, TS_ASYNC_NONE,
				    TS_BUCKET_MEMORY_WAIT, 40, 400 * MS, 1e6, 8e9 });
	given_time(run, ms);
	run->outline.steps.nr_steps = 10;
}

TEST(host_copies_come_first_with_count_size_and_rate)
{
	const struct ts_finding *first;
	const struct ts_result *doctor;
	struct given run;

	given_host_offload(&run);

	doctor = when_examined(&run);

	then_findings_are_sound(doctor, 20000 * MS);
	first = &doctor->findings[0];
	assert_string_equal(first->rule, "host_copies");
	assert_int_equal(first->severity, TS_CRITICAL);
	assert_int_equal(first->impact_ps, 16000 * MS);
	/* 5 x 1024 x 1024 x 256 x 4 bytes = 5 GiB, in 200 ms: 26.8 GB/s */
	assert_true(contains(first->title, "take 80 % of device time"));
	assert_true(contains(first->title, "2 copies of 5.00 GiB a step at 26.8 GB/s"));
	assert_true(contains(first->evidence, "sends 5.00 GiB to the host and fetches 5.00 GiB"));
	assert_true(contains(first->evidence, "peak is 32.0 GB/s each way"));
	assert_int_equal(first->nr_where, 2);
	assert_true(ts_bytes_is(first->where[0].source, "offload.py:29"));
	assert_true(contains(first->code, "pinned_host"));
	/* ideal: 40 x 8 GB at 1 TB/s = 320 ms of 20 s: 100 x sqrt(0.016) = 12.6 */
	assert_int_equal(health_of(doctor), 13);
	given_release(&run);
}

TEST(host_copies_below_their_threshold_are_not_told)
{
	const struct ts_result *doctor;
	struct given run;

	given_host_offload(&run);
	run.settings.host_transfer_high = 80; /* exactly what is there */

	doctor = when_examined(&run);

	assert_null(finding_of(doctor, "host_copies"));
	given_release(&run);
}

/* One matrix op of 900 of 1000 ms. */
static void given_matrix_run(struct given *run, double overall, double mxu, double fill,
			     double shape_loss)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 950, [TS_BUCKET_IDLE] = 50
	};

	given_nothing(run);
	given_devices(run, 1);
	given_op(run, (struct given_op){ "dot.1", "convolution fusion", "", "model.py:7",
					 TS_OP_MATRIX, TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10,
					 900 * MS, mxu / 100 * 0.09 * 1e14, 1e6 });
	given_time(run, ms);
	given_product(run, "dot.1", 900, mxu, fill, shape_loss);
	run->matrix.utilization = overall / 100;
}

TEST(mxu_utilization_is_told_below_its_threshold)
{
	static const struct {
		double overall;
		bool told;
	} rows[] = { { 29.9, true }, { 49.9, true }, { 50, false }, { NAN, false } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_finding *finding;
		const struct ts_result *doctor;
		struct given run;

		given_matrix_run(&run, rows[i].overall, 40, 100, 0);
		doctor = when_examined(&run);
		then_findings_are_sound(doctor, 1000 * MS);
		finding = finding_of(doctor, "mxu_utilization");
		assert_int_equal(finding != NULL, rows[i].told);
		if (finding) {
			assert_int_equal(finding->severity, TS_CRITICAL); /* 54 % of the run */
			/* 900 ms at 40 %: 540 ms are lost */
			assert_int_equal((finding->impact_ps + MS / 2) / MS, 540);
			assert_true(ts_bytes_is(finding->where[0].op, "dot.1"));
			assert_int_equal(finding->where[0].op_index, 0);
		}
		given_release(&run);
	}
}

/*
 * A product of 1000 ms that reads 10 x 92 GB: at 1 TB/s 920 of them are the memory's, and its FLOPs are 3 % of the peak.
 * No faster array helps, so nothing is said of it; at half the rate (10 x 46 GB) it has 540 ms above its roofline.
 */
TEST(a_product_at_the_rate_of_hbm_has_nothing_to_gain_from_the_array)
{
	static const struct {
		int64_t ms[TS_NR_BUCKETS];
		double bytes;
		int64_t lost_ms; /* above the roofline */
	} rows[] = {
		{ { [TS_BUCKET_COMPUTE] = 30, [TS_BUCKET_MEMORY_WAIT] = 900 }, 92e9, -1 },
		{ { [TS_BUCKET_COMPUTE] = 30,
		    [TS_BUCKET_MEMORY_WAIT] = 430,
		    [TS_BUCKET_IDLE] = 740 },
		  46e9,
		  540 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_finding *mxu, *memory;
		const struct ts_result *doctor;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run,
			 (struct given_op){ "dot.1", "convolution fusion", "", "decode.py:5",
					    TS_OP_MATRIX, TS_ASYNC_NONE, TS_BUCKET_MEMORY_WAIT, 10,
					    1000 * MS, 3e11, rows[i].bytes });
		given_time(&run, rows[i].ms);
		given_product(&run, "dot.1", 1000, 3, 12.5, 20);
		run.matrix.utilization = 0.03;
		doctor = when_examined(&run);
		mxu = finding_of(doctor, "mxu_utilization");
		memory = finding_of(doctor, "memory_bound");
		assert_int_equal(mxu != NULL, rows[i].lost_ms >= 0);
		assert_int_equal(memory != NULL, rows[i].lost_ms < 0);
		assert_int_equal(finding_of(doctor, "matmul_fill") != NULL, rows[i].lost_ms >= 0);
		if (mxu) {
			assert_int_equal((mxu->impact_ps + MS / 2) / MS, rows[i].lost_ms);
			assert_true(contains(mxu->evidence, "the memory keeps 430 core-ms of it"));
		} else {
			assert_int_equal(memory->severity, TS_INFO);
			assert_true(contains(memory->advice, "int8"));
			assert_true(contains(memory->advice, "larger batch"));
		}
		given_release(&run);
	}
}

TEST(without_matrix_work_nothing_is_said_of_the_mxu)
{
	static const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 1000 };
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_time(&run, ms);
	run.matrix.utilization = 0;

	doctor = when_examined(&run);

	assert_null(finding_of(doctor, "mxu_utilization"));
	given_release(&run);
}

TEST(a_badly_filled_product_names_its_dim)
{
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_matrix_run(&run, 60, 25, 25, 70);
	given_padding(&run, "dot.1", "jit_f", NAN, 100);
	run.padded_ops[0].flops_share = 0.75; /* the same loss, which is reported once */

	doctor = when_examined(&run);

	assert_null(finding_of(doctor, "padding_waste"));
	finding = finding_of(doctor, "matmul_fill");
	assert_non_null(finding);
	assert_true(contains(finding->title, "fill only 25 % of the matrix unit: K"));
	assert_true(contains(finding->evidence, "M 1024, N 1024, K 64"));
	assert_true(contains(finding->evidence, "256 x 256"));
	/* 4 x (512 x 256 + 256 x 512 + 512 x 512) bytes */
	assert_true(contains(finding->evidence, "M 512, N 512, K 256, 2.00 MiB of VMEM"));
	assert_true(contains(finding->evidence, "make K 128"));
	assert_int_equal((finding->impact_ps + MS / 2) / MS, 630); /* 70 % of 900 */
	given_release(&run);

	given_matrix_run(&run, 60, 25, 70, 70); /* at the threshold */
	assert_null(finding_of(when_examined(&run), "matmul_fill"));
	given_release(&run);
}

/* before compiles JAX programs for the TPUs that libtpu knows, and for nothing else. */
TEST(the_command_that_tries_is_of_a_known_tpu_under_jax)
{
	static const struct {
		const char *chip, *category, *topology; /* NULL: no command */
	} rows[] = {
		{ "TPU v6e", "convolution fusion", "v6e:1x1" },
		{ "TPU v5p", "convolution fusion", "v5p:2x2x1" },
		{ "TPU v3", "convolution fusion", "v3:2x2" },
		{ "TPU v6e", "python_function", NULL }, /* of PyTorch */
		{ "TPU v2", "convolution fusion", NULL },
		{ "NVIDIA H100", "convolution fusion", NULL },
		{ "AMD Instinct MI300X", "convolution fusion", NULL },
		{ NULL, "convolution fusion", NULL },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_result *doctor;
		struct ts_value said;
		struct given run;

		given_matrix_run(&run, 60, 25, 25, 70);
		run.rates[0].name = rows[i].chip;
		run.profile.ops[0].category = ts_bytes_of(rows[i].category);
		run.profile.ops[0].category_id = ts_opcode_of(run.profile.ops[0].category);
		run.profile.ops[0].is_event = true;
		doctor = when_examined(&run);
		assert_non_null(finding_of(doctor, "matmul_fill"));
		said = ts_result_get(doctor, "what_if");
		assert_int_equal(said.type, rows[i].topology ? TS_VALUE_TEXT : TS_VALUE_NULL);
		if (rows[i].topology)
			assert_true(contains(said.as.s, rows[i].topology));
		given_release(&run);
	}
}

TEST(nothing_is_named_to_try_where_nothing_could_be_mended)
{
	struct given run;

	given_matrix_run(&run, 60, 60, 100, 0);
	assert_int_equal(ts_result_get(when_examined(&run), "what_if").type, TS_VALUE_NULL);
	given_release(&run);
}

TEST(padding_is_told_above_its_threshold_largest_first)
{
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_matrix_run(&run, 60, 60, 100, 0);
	run.settings.dominant_op_high = 100;
	given_padding(&run, "dot.1", "jit_f", 30, 100);	 /* at the threshold */
	given_padding(&run, "other", "jit_f", 97, 2000); /* more than there is */
	given_padding(&run, "small", "jit_f", 97, 200);
	given_padding(&run, "scalar", "jit_f", 99.2, 300);
	run.padded_ops[3].is_small = true;

	doctor = when_examined(&run);

	then_findings_are_sound(doctor, 1000 * MS);
	finding = finding_of(doctor, "padding_waste");
	assert_true(contains(finding->title, "97 % of other is padding"));
	assert_int_equal(finding->impact_ps, 1000 * MS);
	assert_true(contains(finding->evidence, "pad dim 1 from 4 to 128"));
	assert_true(contains(finding[1].title, "97 % of small"));
	for (size_t i = 0; i < doctor->nr_findings; i++)
		assert_false(ts_bytes_has(doctor->findings[i].title, "dot.1") ||
			     ts_bytes_has(doctor->findings[i].title, "scalar"));
	given_release(&run);
}

TEST(a_module_without_a_run_has_findings_of_unknown_impact)
{
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	ts_profile_add_module(&run.profile, 1);
	given_padding(&run, "fusion", "jit_f", 90, -1);
	given_product(&run, "dot", 1, NAN, 25, 0);

	doctor = when_examined(&run);

	then_findings_are_sound(doctor, INT64_MAX);
	finding = finding_of(doctor, "padding_waste");
	assert_non_null(finding);
	assert_int_equal(finding->impact_ps, -1);
	assert_true(isnan(finding->impact_share));
	assert_non_null(finding_of(doctor, "matmul_fill"));
	assert_int_equal(ts_result_get(doctor, "health_score").type, TS_VALUE_NULL);
	given_release(&run);
}

struct bucket_row {
	const char *rule;
	enum ts_bucket bucket;
	double limit; /* %, by default */
};

static const struct bucket_row bucket_rows[] = {
	{ "memory_bound", TS_BUCKET_MEMORY_WAIT, 40 },
	{ "exposed_collectives", TS_BUCKET_COMMUNICATION, 10 },
	{ "rematerialization", TS_BUCKET_REMATERIALIZATION, 10 },
	{ "input_bound", TS_BUCKET_INPUT, 5 },
	{ "launch_bound", TS_BUCKET_LAUNCH, 5 },
	{ "idle", TS_BUCKET_IDLE, 10 },
};

/* 10 000 ms, PCT of them in one bucket, the rest compute. */
static const struct ts_result *when_bucket_has(struct given *run, enum ts_bucket bucket, double pct)
{
	int64_t ms[TS_NR_BUCKETS] = { 0 };

	given_nothing(run);
	given_devices(run, 2);
	ms[bucket] = (int64_t)(pct * 100);
	ms[TS_BUCKET_COMPUTE] = 10000 - ms[bucket];
	given_time(run, ms);
	return when_examined(run);
}

TEST(bucket_rules_fire_above_their_threshold_with_all_of_it_as_ceiling)
{
	for (size_t i = 0; i < TS_NELEM(bucket_rows); i++) {
		const struct bucket_row *row = &bucket_rows[i];
		const struct ts_finding *finding;
		struct given run;

		assert_null(finding_of(when_bucket_has(&run, row->bucket, row->limit), row->rule));
		given_release(&run);
		finding =
			finding_of(when_bucket_has(&run, row->bucket, row->limit + 0.5), row->rule);
		assert_non_null(finding);
		assert_int_equal(finding->impact_ps, (int64_t)((row->limit + 0.5) * 100) * MS);
		assert_int_equal(finding->severity,
				 row->limit + 0.5 >= 25 ? TS_CRITICAL : TS_WARNING);
		given_release(&run);
	}
}

TEST(idle_names_the_longest_gap_and_marks_it)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 600, [TS_BUCKET_IDLE] = 400
	};
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	const struct ts_table *ranges;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 2);
	given_time(&run, ms);
	given_gap(&run, 0, 0, 900, TS_BUCKET_COMPILATION);
	given_gap(&run, 1, 50, 20, TS_BUCKET_IDLE);
	given_gap(&run, 1, 100, 300, TS_BUCKET_IDLE);

	doctor = when_examined(&run);

	finding = finding_of(doctor, "idle");
	assert_true(contains(finding->evidence,
			     "longest gap lasts 300 ms, at 100 ms on /device:TPU:1"));
	ranges = ts_result_find_table(doctor, "ranges");
	assert_int_equal(ranges->nr_rows, 2); /* the compile is not idling */
	assert_true(ts_bytes_eq(ranges->cells[0].as.s, finding->id));
	assert_int_equal(ranges->cells[1].as.i, 1);
	assert_int_equal(ranges->cells[3].as.i, 400 * MS);
	given_release(&run);
}

TEST(compilation_is_told_above_five_seconds_whatever_it_cost)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 1000000, [TS_BUCKET_COMPILATION] = 1
	};
	const struct ts_finding *finding;
	struct given run;

	for (int over = 0; over <= 1; over++) {
		given_nothing(&run);
		given_devices(&run, 1);
		given_time(&run, ms);
		run.outline.compile_ps = 5000 * MS + over;
		run.outline.nr_compiles = 3;
		finding = finding_of(when_examined(&run), "compilation");
		assert_int_equal(finding != NULL, over);
		if (finding) {
			assert_int_equal(finding->severity, TS_WARNING);
			assert_int_equal(finding->impact_ps, MS);
			assert_true(contains(finding->title,
					     "3 compilations take 5.00 s of host time"));
		}
		given_release(&run);
	}
}

TEST(compiling_in_the_first_step_is_no_recompilation)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 900, [TS_BUCKET_COMPILATION] = 100
	};
	const struct ts_finding *finding;
	struct given run;

	for (int later = 0; later <= 1; later++) {
		given_nothing(&run);
		given_devices(&run, 1);
		given_time(&run, ms);
		given_step(&run, 10, 0, 300, 0, 50);
		given_step(&run, 11, 300, 300, 0, 0);
		given_step(&run, 12, 600, 400, 0, later ? 50 : 0);
		finding = finding_of(when_examined(&run), "recompilation");
		assert_int_equal(finding != NULL, later);
		if (finding) {
			assert_int_equal(finding->impact_ps, 50 * MS);
			assert_true(contains(finding->evidence, "the first is step 12"));
		}
		given_release(&run);
	}
}

TEST(the_advice_for_slow_steps_follows_what_grew)
{
	static const struct {
		enum ts_bucket cause;
		const char *event, *advice;
		enum ts_host_owner owner;
		bool is_awaited;
	} rows[] = {
		{ TS_BUCKET_COMPILATION, "compile", "A step compiles again" },
		{ TS_BUCKET_IDLE, "save_checkpoint", "Save checkpoints beside the steps" },
		{ TS_BUCKET_IDLE, "train", "Compare a slow step with its neighbours" },
		{ TS_BUCKET_IDLE, "log_metrics", "Profile steps without logging" },
		{ TS_BUCKET_IDLE, "evaluate", "The host is in evaluate. Take that out of the loop",
		  TS_HOST_OF_USER, true },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_finding *finding;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = 400,
								 [TS_BUCKET_COMPILATION] = 50,
								 [TS_BUCKET_IDLE] = 50 });
		run.settings.idle_high = 100;
		run.settings.impact_warning = 100;
		for (int64_t k = 0; k < 5; k++)
			given_step(&run, k, k * 100, 100, 10, 0);
		given_slow_step(&run, 4, 50, -1);
		run.slow[0].cause = rows[i].cause;
		run.witnesses[0].event = ts_bytes_of(rows[i].event);
		run.witnesses[0].owner = rows[i].owner;
		run.witnesses[0].is_awaited = rows[i].is_awaited;
		finding = finding_of(when_examined(&run), "slow_steps");
		assert_non_null(finding);
		assert_true(contains(finding->advice, rows[i].advice));
		assert_int_equal(ts_bytes_has(finding->code, "gc.freeze"), i == 2);
		given_release(&run);
	}
}

TEST(a_slow_step_is_told_with_what_it_has_more_of)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 800, [TS_BUCKET_COMMUNICATION] = 200
	};
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	for (int slow = 0; slow <= 1; slow++) {
		given_nothing(&run);
		given_devices(&run, 2);
		given_time(&run, ms);
		for (int64_t i = 0; i < 5; i++)
			given_step(&run, i, i * 100, 100, 10, 0);
		if (slow)
			given_slow_step(&run, 4, 50, 2);
		doctor = when_examined(&run);
		finding = finding_of(doctor, "slow_steps");
		assert_int_equal(finding != NULL, slow);
		if (finding) {
			/* 50 ms over the median, on two cores */
			assert_int_equal(finding->impact_ps, 100 * MS);
			assert_true(
				contains(finding->title, "1 of 5 steps is slow (more than 20 %"));
			assert_true(contains(finding->evidence, "half of them are within 3.00 ms"));
			assert_true(contains(finding->evidence,
					     "Step 4 takes 50.0 ms more: Idle grew by 100 core-ms "
					     "over all cores, with the host in save_checkpoint."));
			assert_true(contains(finding->evidence, "every 2 steps from step 4 on"));
			assert_int_equal(ts_result_find_table(doctor, "ranges")->nr_rows, 1);
		}
		given_release(&run);
	}
}

/* Two of eight cores ran: a step that takes 50 ms more costs the run 50 ms, 100 of core time. */
TEST(cores_that_ran_nothing_count_in_no_finding)
{
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 2);
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 900, [TS_BUCKET_IDLE] = 100 });
	for (int64_t i = 0; i < 5; i++)
		given_step(&run, i, i * 100, i == 4 ? 150 : 100, 0, 0);
	given_slow_step(&run, 4, 50, -1);
	given_devices(&run, 6);
	run.settings.idle_high = 100;
	finding = finding_of(when_examined(&run), "slow_steps");
	assert_int_equal(finding->impact_ps, 100 * MS);
	assert_int_equal(finding->gain_ps, 50 * MS);
	given_release(&run);
}

TEST(executions_are_counted_on_the_cores_that_ran)
{
	const struct ts_finding *finding;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 2);
	given_op(&run,
		 (struct given_op){ "add.1", "loop fusion", "", NULL, TS_OP_COMPUTE, TS_ASYNC_NONE,
				    TS_BUCKET_COMPUTE, 12000, 900 * MS, 0, 0 });
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = 1000 });
	run.outline.steps.nr_steps = 5;
	run.settings.dominant_op_high = 100;
	given_devices(&run, 6);
	finding = finding_of(when_examined(&run), "many_executions");
	assert_non_null(finding); /* 12,000 / 5 / 2 is above op_count_high, 12,000 / 5 / 8 is not */
	assert_true(contains(finding->title, "executed 1200 times a step"));
	given_release(&run);
}

/* Step 4 of 5 takes 150 ms, the median is 100: its op is of program 8, whose executions take 60, 40 or 25 ms. What is
 * longer by no more than slow_step_high, 20 ms, beside that is not slow. A program that runs in 3 of 5 steps, or whose
 * variants do, is not another one than most. */
TEST(a_step_that_runs_another_program_loses_nothing_by_that)
{
	static const struct {
		int64_t executions, total_ms, of_variant, impact_ms;
	} rows[] = {
		{ 1, 60, 0, 0 },  { 1, 40, 0, 0 },   { 1, 25, 0, 25 },
		{ 2, 120, 0, 0 }, { 3, 180, 0, 50 }, { 2, 120, 1, 50 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_finding *finding;
		struct given run;
		uint32_t op;

		given_nothing(&run);
		given_devices(&run, 1);
		op = given_op(&run, (struct given_op){ "fusion.9", "loop fusion", "", NULL,
						       TS_OP_COMPUTE, TS_ASYNC_NONE,
						       TS_BUCKET_COMPUTE, 1, 60 * MS, 0, 0 });
		run.profile.ops[op].program_id = 8;
		run.modules[0] =
			(struct ts_module_fact){ 8, TS_LIT("jit_eval_step(8)"), rows[i].executions,
						 rows[i].total_ms * MS };
		run.modules[1] = (struct ts_module_fact){ 9, TS_LIT("jit_eval_step(9)"),
							  rows[i].of_variant, 60 * MS };
		run.ops.nr_modules = 2;
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = 550 });
		for (int64_t k = 0; k < 5; k++)
			given_step(&run, k, k * 100, k == 4 ? 150 : 100, 0, 0);
		given_slow_step(&run, 4, 50, -1);
		run.slow[0].cause = TS_BUCKET_COMPUTE;
		run.slow[0].op = op;
		finding = finding_of(when_examined(&run), "slow_steps");
		assert_non_null(finding);
		assert_int_equal(finding->impact_ps, rows[i].impact_ms * MS);
		assert_int_equal(
			contains(finding->title, "1 step takes longer because of jit_eval_step"),
			rows[i].impact_ms == 0);
		if (rows[i].impact_ms == 0)
			assert_int_equal(finding->severity, TS_INFO);
		given_release(&run);
	}
}

/* 100 ms of a copy are waited for, of 1 s; other compute could cover 40 of them. */
TEST(a_copy_that_is_waited_for_is_worth_what_compute_could_cover)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 900, [TS_BUCKET_MEMORY_WAIT] = 100
	};
	const struct ts_finding *finding;
	struct given run;

	for (int host = 0; host <= 1; host++) {
		struct ts_async_op transfer;
		const struct ts_async_facts async = { &transfer, 1 };
		uint32_t done;

		given_nothing(&run);
		given_devices(&run, 1);
		given_time(&run, ms);
		done = given_op(&run,
				(struct given_op){ "copy-done.2", "copy-done", "", "m.py:3",
						   TS_OP_MOVE, TS_ASYNC_DONE, TS_BUCKET_MEMORY_WAIT,
						   10, 100 * MS, 0, 0 });
		transfer = (struct ts_async_op){
			.op = done,
			.name = TS_LIT("copy-start.2"),
			.done = TS_LIT("copy-done.2"),
			.module = TS_LIT("jit_f"),
			.is_host = host,
			.occurrences = 10,
			.interval_ps = 400 * MS,
			.exposed_ps = 100 * MS,
			.hidden_ps = 300 * MS,
			.could_hide = TS_LIT("fusion.9"),
			.coverable_ps = 40 * MS,
		};
		run.ctx.facts[ts_id_async] = &async;
		finding = finding_of(when_examined(&run), "exposed_async");
		assert_int_equal(finding != NULL, !host); /* host copies have a rule of their own */
		if (finding) {
			assert_int_equal(finding->impact_ps, 40 * MS);
			assert_true(
				contains(finding->title, "10 % of device time waits for copies"));
			assert_true(
				contains(finding->evidence, "wait 100 core-ms; 300 core-ms more"));
			assert_true(contains(finding->evidence,
					     "copy-start.2 (100 core-ms, 75 % hidden; fusion.9 "));
			assert_true(ts_bytes_is(finding->where[0].op, "copy-done.2"));
		}
		given_release(&run);
	}
}

struct arrivals {
	struct ts_collective op;
	struct ts_collective_core cores[2];
	struct ts_collectives_facts facts;
};

/* Two cores, one op: 200 ms of it are exposed, and 40 of 50 times it waits for core 1. */
static void given_arrivals(struct given *run, struct arrivals *arrivals, int64_t excess_ms)
{
	arrivals->op = (struct ts_collective){
		.op = TS_NONE,
		.name = TS_LIT("psum.1"),
		.module = TS_LIT("jit_step"),
		.exposed_ps = 200 * MS,
		.nr_matched = 50,
		.wait_ps = excess_ms * MS,
	};
	for (uint32_t i = 0; i < 2; i++)
		arrivals->cores[i] = (struct ts_collective_core){
			.device = i,
			.nr_matched = 50,
			.nr_last = i ? 40 : 10,
			.caused_ps = i ? excess_ms * MS : 1 * MS,
			.excess_ps = i ? excess_ms * MS : 1 * MS,
			.lead_ps = i ? excess_ms * MS : 1 * MS, /* one other core waits */
			.waited_ps = i ? 1 * MS : excess_ms * MS,
		};
	arrivals->facts = (struct ts_collectives_facts){ &arrivals->op, 1, arrivals->cores, 2 };
	run->ctx.facts[ts_id_collectives] = &arrivals->facts;
}

/* A core that is late by 120 ms costs both cores 120 ms; the wait is never more than all that was spent in these
 * collectives. Nothing is told where nobody is late. */
TEST(a_core_that_comes_late_is_told)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 1800, [TS_BUCKET_COMMUNICATION] = 200
	};
	static const struct {
		int64_t excess_ms, impact_ms;
	} rows[] = { { 0, -1 }, { 120, 240 }, { 900, 400 } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_finding *finding;
		struct arrivals arrivals;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 2);
		given_time(&run, ms);
		given_arrivals(&run, &arrivals, rows[i].excess_ms);
		finding = finding_of(when_examined(&run), "straggler");
		assert_int_equal(finding != NULL, rows[i].impact_ms > 0);
		if (finding) {
			assert_int_equal(finding->impact_ps, rows[i].impact_ms * MS);
			assert_int_equal(finding->gain_ps, rows[i].impact_ms * MS / 2);
			assert_true(contains(finding->title, "/device:TPU:1 is a straggler"));
			assert_true(contains(finding->evidence, "of host host0"));
			assert_true(
				contains(finding->evidence, "last to 80 % of the 50 collectives"));
		}
		given_release(&run);
	}
}

TEST(one_op_over_half_of_the_time_is_told)
{
	static const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 1000 };
	struct given run;

	for (int over = 0; over <= 1; over++) {
		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "sort.1", "sort", "", NULL, TS_OP_COMPUTE,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10,
						  500 * MS + over, 0, 0 });
		given_time(&run, ms);
		assert_int_equal(finding_of(when_examined(&run), "dominant_op") != NULL, over);
		given_release(&run);
	}
}

TEST(many_tiny_ops_are_told)
{
	static const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 1000 };
	const struct ts_finding *finding;
	struct given run;

	for (int tiny = 0; tiny <= 1; tiny++) {
		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "add.1", "loop fusion", "", NULL, TS_OP_COMPUTE,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE,
						  tiny ? 100001 : 100000, 200 * MS, 0, 0 });
		given_time(&run, ms);
		finding = finding_of(when_examined(&run), "small_ops");
		assert_int_equal(finding != NULL, tiny); /* 2 us each is not below 2 us */
		given_release(&run);
	}
}

/* 200,000 ops of 1 us in 1 s. HBM of 1 TB/s needs 0.25 us for 250 kB, so 150 of the 200 ms can be had; for 600 kB it
 * needs 0.6 us: from hbm_bandwidth_low, 60 %, on an op is near its roofline. A loop is not a tiny op. */
TEST(tiny_ops_near_their_roofline_have_nothing_to_give)
{
	static const struct {
		double bytes;
		enum ts_op_kind kind;
		int64_t impact_ms;
	} rows[] = { { 0, TS_OP_COMPUTE, 200 },
		     { 250e3, TS_OP_COMPUTE, 150 },
		     { 600e3, TS_OP_COMPUTE, -1 },
		     { 0, TS_OP_CONTROL, -1 } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_finding *finding;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "op.1", "loop fusion", "", NULL, rows[i].kind,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 200000,
						  200 * MS, 0, rows[i].bytes });
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){ [TS_BUCKET_COMPUTE] = 1000 });
		finding = finding_of(when_examined(&run), "small_ops");
		assert_int_equal(finding ? finding->impact_ps : -1,
				 rows[i].impact_ms < 0 ? -1 : rows[i].impact_ms * MS);
		given_release(&run);
	}
}

TEST(layout_copies_and_unknown_kernels_are_told_by_category)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 800, [TS_BUCKET_MEMORY_WAIT] = 200
	};
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_op(&run,
		 (struct given_op){ "copy.3", "data formatting", "", NULL, TS_OP_MOVE,
				    TS_ASYNC_NONE, TS_BUCKET_MEMORY_WAIT, 10, 200 * MS, 0, 1e6 });
	given_op(&run, (struct given_op){ "kernel.1", "custom-call", "", NULL, TS_OP_COMPUTE,
					  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 100 * MS, 0, 0 });
	given_time(&run, ms);

	doctor = when_examined(&run);

	assert_int_equal(finding_of(doctor, "layout_copies")->impact_ps, 200 * MS);
	finding = finding_of(doctor, "unknown_cost");
	assert_int_equal(finding->impact_ps, -1);
	assert_int_equal(finding->severity, TS_INFO);
	assert_true(contains(finding->evidence, "kernel.1"));
	given_release(&run);
}

TEST(a_profile_without_devices_is_critical_and_has_no_health)
{
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	ts_profile_add_host(&run.profile);
	ts_profile_add_plane(&run.profile);
	given_padding(&run, "fusion", "jit_f", 90, -1); /* of what ran on the host */
	given_product(&run, "dot", 1, NAN, 25, 0);

	given_cause(&run, "no_device", TS_CRITICAL);
	doctor = when_examined(&run);

	assert_int_equal(doctor->nr_findings, 1);
	assert_string_equal(doctor->findings[0].rule, "no_device");
	assert_int_equal(doctor->findings[0].severity, TS_CRITICAL);
	assert_int_equal(doctor->findings[0].impact_ps, -1);
	assert_int_equal(ts_result_get(doctor, "health_score").type, TS_VALUE_NULL);
	given_release(&run);
}

TEST(causes_for_doubt_of_the_capture_are_findings_in_their_own_words)
{
	const struct ts_finding *finding;
	struct given run;

	given_matrix_run(&run, 80, 80, 100, 0);
	given_cause(&run, "damaged_input", TS_WARNING);
	given_cause(&run, "steps_inferred", TS_INFO);

	finding = finding_of(when_examined(&run), "damaged_input");

	assert_non_null(finding);
	assert_true(ts_bytes_is(finding->id, "damaged_input"));
	assert_int_equal(finding->severity, TS_WARNING);
	assert_int_equal(finding->confidence, TS_LIKELY);
	assert_int_equal(finding->impact_ps, -1);
	assert_true(ts_bytes_is(finding->title, "what is wrong"));
	assert_true(ts_bytes_is(finding->evidence, "how it is known"));
	assert_true(ts_bytes_is(finding->advice, "what to do"));
	given_release(&run);
}

TEST(a_well_running_job_is_healthy_and_has_no_findings)
{
	const struct ts_result *doctor;
	struct given run;

	given_matrix_run(&run, 72, 80, 95, 5);
	run.settings.dominant_op_high = 100;

	doctor = when_examined(&run);

	assert_int_equal(doctor->nr_findings, 0);
	/* ideal: 900 ms x 80 %; 100 x sqrt(0.72) = 84.9 */
	assert_int_equal(health_of(doctor), 85);
	given_release(&run);
}

TEST(health_falls_as_waiting_grows)
{
	int64_t before = 101;

	for (int64_t idle = 0; idle <= 9; idle++) {
		int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 1000,
					      [TS_BUCKET_IDLE] = idle * 500 },
			now;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "dot", "convolution", "", NULL, TS_OP_MATRIX,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 1, 1000 * MS,
						  1e14, 1 });
		given_time(&run, ms);
		now = health_of(when_examined(&run));
		assert_true(now <= before && now >= 0);
		if (idle == 0 || idle > 6) /* below the cap of a critical finding */
			assert_true(now < before);
		before = now;
		given_release(&run);
	}
}

/* 3 % of the peak and 31 % of it are both critical: 100 x sqrt(0.03) and sqrt(0.31). */
TEST(health_tells_bad_from_worse)
{
	static const struct {
		double mxu;
		int64_t score;
	} rows[] = { { 3, 17 }, { 31, 56 } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "dot.1", "convolution", "", NULL, TS_OP_MATRIX,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 1000 * MS,
						  rows[i].mxu / 100 * 0.1 * 1e14, 1 });
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){ 1000 });
		given_product(&run, "dot.1", 1000, rows[i].mxu, 100, 0);
		run.matrix.utilization = rows[i].mxu / 100;
		assert_int_equal(health_of(when_examined(&run)), rows[i].score);
		given_release(&run);
	}
}

/* Twice the chip's peak: the FLOPs or the time are wrong, so the op is one of unknown cost. */
TEST(an_impossible_rate_does_not_count)
{
	const struct ts_op_doubt doubt = { .flops = TS_LIT("twice the peak") };

	for (int twice = 0; twice <= 1; twice++) {
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "dot.1", "convolution", "", NULL, TS_OP_MATRIX,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 1, 500 * MS,
						  twice ? 1e14 : 0.5e14, 1 });
		given_op(&run, (struct given_op){ "add.1", "loop fusion", "", NULL, TS_OP_COMPUTE,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 1, 500 * MS, 1,
						  0.125e12 });
		if (twice)
			run.items[0].doubt = &doubt;
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){ 1000 });
		/* 0.5 + 0.125 of 1 s; or 0.125 of 0.5 s, and the rest as near as that */
		assert_int_equal(health_of(when_examined(&run)), twice ? 50 : 79);
		given_release(&run);
	}
}

TEST(a_critical_finding_of_unknown_gain_keeps_the_score_at_fifty)
{
	for (int doubt = 0; doubt <= 1; doubt++) {
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "dot", "convolution", "", NULL, TS_OP_MATRIX,
						  TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 1, 740 * MS,
						  0.74e14, 1 });
		given_time(&run, (const int64_t[TS_NR_BUCKETS]){
					 [TS_BUCKET_COMPUTE] = 740, [TS_BUCKET_IDLE] = 260 });
		run.settings.dominant_op_high = 100;
		if (doubt)
			given_cause(&run, "no_device", TS_CRITICAL);
		/* of idling the gain is known: 100 x sqrt(0.74) */
		assert_int_equal(health_of(when_examined(&run)), doubt ? 50 : 86);
		given_release(&run);
	}
}

TEST(unknown_peaks_give_an_assumed_score_and_say_so)
{
	const struct ts_result *doctor;
	struct given run;

	given_matrix_run(&run, NAN, NAN, NAN, 0);
	run.rates[0] = (struct ts_rates){ .peak_flops_per_s = NAN,
					  .hbm_bytes_per_s = NAN,
					  .host_bytes_per_s = NAN,
					  .mxu_dim = -1,
					  .hbm_bytes = -1 };
	run.settings.dominant_op_high = 100;

	doctor = when_examined(&run);

	then_findings_are_sound(doctor, 1000 * MS);
	assert_non_null(finding_of(doctor, "unknown_chip"));
	assert_int_equal(health_of(doctor), 73); /* 100 x sqrt(0.9 x 0.6) */
	assert_true(contains(doctor->notes[0], "60 % of it"));
	given_release(&run);
}

TEST(noise_is_dropped_and_the_rest_is_cut_to_the_largest)
{
	const struct ts_result *doctor;
	struct given run;

	given_matrix_run(&run, 60, 60, 100, 0);
	given_padding(&run, "tiny", "jit_f", 90, 4); /* 0.4 % of 1000 ms */
	assert_null(finding_of(when_examined(&run), "padding_waste"));
	given_release(&run);

	given_matrix_run(&run, 20, 20, 25, 70);
	run.settings.max_findings = 1;
	doctor = when_examined(&run);
	assert_int_equal(doctor->nr_findings, 1);
	/* the fill gives 630 ms back; of the 720 that the matrix units could, the symptom, 90 are left */
	assert_string_equal(doctor->findings[0].rule, "matmul_fill");
	assert_int_equal(doctor->findings[0].gain_ps, 630 * MS);
	assert_true(contains(doctor->notes[0], "smaller findings are left out"));
	given_release(&run);
}

TEST(ids_are_the_same_from_run_to_run)
{
	struct ts_bytes first;
	char kept[64] = "";
	struct given run;

	for (int i = 0; i < 2; i++) {
		given_matrix_run(&run, 60, 25, 25, 70 - i);
		first = finding_of(when_examined(&run), "matmul_fill")->id;
		if (i == 0)
			memcpy(kept, first.p, TS_MIN(first.n, sizeof(kept) - 1));
		else
			assert_true(ts_bytes_is(first, kept));
		given_release(&run);
	}
}

TEST(hostile_names_pass_through_as_data)
{
	static const char name[] = "<script>%n%s%d\x01\x1b[31m\xff\"'&";
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 1);
	given_op(&run, (struct given_op){ name, "<b>", name, name, TS_OP_HOST, TS_ASYNC_DONE,
					  TS_BUCKET_HOST_TRANSFER, 1, 100 * MS, 0, 0 });
	run.items[0].module = (struct ts_bytes){ (const uint8_t *)"a\0b", 3 };
	given_time(&run, (const int64_t[TS_NR_BUCKETS]){
				 [TS_BUCKET_COMPUTE] = 900, [TS_BUCKET_HOST_TRANSFER] = 100 });

	doctor = when_examined(&run);

	then_findings_are_sound(doctor, 1000 * MS);
	finding = finding_of(doctor, "host_copies");
	assert_non_null(finding);
	assert_true(ts_bytes_is(finding->where[0].op, name));
	assert_true(contains(finding->evidence, name));
	assert_int_equal(finding->where[0].module.n, 3);
	assert_true(memcmp(finding->where[0].module.p, "a\0b", 3) == 0);
	given_release(&run);
}

TEST(long_names_are_cut_at_a_character)
{
	static char name[400];
	const struct ts_finding *finding;
	struct given run;

	for (size_t i = 0; i + 2 < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	given_matrix_run(&run, 60, 60, 100, 0);
	given_padding(&run, name, "jit_f", 97, 200);
	finding = finding_of(when_examined(&run), "padding_waste");
	assert_true(contains(finding->title, "\xc3\xa4... is padding"));
	assert_true(finding->title.n < 130);
	given_release(&run);
}

TEST(empty_results_and_odd_numbers_do_no_harm)
{
	static const int64_t ms[TS_NR_BUCKETS] = { 0 };
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	run.ctx.rates = NULL;
	doctor = when_examined(&run);
	then_findings_are_sound(doctor, INT64_MAX);
	given_release(&run);

	given_nothing(&run); /* devices, and nothing ran on them */
	given_devices(&run, 1);
	given_time(&run, ms);
	given_product(&run, "dot", 0, NAN, NAN, NAN);
	given_padding(&run, "", "", NAN, -1);
	given_op(&run, (struct given_op){ "", "", "", NULL, TS_OP_HOST, TS_ASYNC_NONE,
					  TS_BUCKET_HOST_TRANSFER, 0, 0, 0, 0 });
	for (int64_t i = 0; i < 8; i++)
		given_step(&run, 0, 0, 0, 0, 0);
	given_cause(&run, "device_ran_nothing", TS_CRITICAL);
	doctor = when_examined(&run);
	then_findings_are_sound(doctor, 0);
	assert_string_equal(doctor->findings[0].rule, "device_ran_nothing");
	given_release(&run);
}

static const void *seen;

static void see_own(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	seen = doctor->own;
}

TEST(a_rule_beside_its_analysis_has_its_facts)
{
	static const struct ts_rule rule = { .name = "seen", .check = see_own };
	static const struct ts_rule *const rules[] = { &rule, NULL };
	static const struct ts_analysis none, one = { .rules = rules };
	static const struct ts_analysis *const analyses[] = { &none, &one, NULL };
	struct given run;

	given_nothing(&run);
	run.ctx.analyses = analyses;
	when_examined(&run);
	assert_non_null(seen);
	assert_ptr_equal(seen, run.ctx.facts[1]);
	given_release(&run);
}

TEST(numbers_that_contradict_each_other_stay_in_bounds)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 1, [TS_BUCKET_HOST_TRANSFER] = 1
	};
	const struct ts_result *doctor;
	struct given run;

	given_nothing(&run);
	given_devices(&run, 2);
	given_op(&run,
		 (struct given_op){ "copy", "copy", "", NULL, TS_OP_HOST, TS_ASYNC_NONE,
				    TS_BUCKET_HOST_TRANSFER, INT64_MAX, INT64_MAX, 0, 1e300 });
	given_op(&run,
		 (struct given_op){ "copy.1", "copy", "", NULL, TS_OP_HOST, TS_ASYNC_NONE,
				    TS_BUCKET_HOST_TRANSFER, INT64_MAX, INT64_MAX, 0, 1e300 });
	given_op(&run,
		 (struct given_op){ "dot", "convolution", "", NULL, TS_OP_MATRIX, TS_ASYNC_NONE,
				    TS_BUCKET_COMPUTE, INT64_MAX, INT64_MAX, 1e300, 1e300 });
	given_time(&run, ms);
	given_product(&run, "dot", INT64_MAX / MS, 1, 1, 99);
	run.matrix.utilization = 1e-11;
	for (int64_t i = 0; i < 8; i++)
		given_step(&run, i, 0, i == 7 ? INT64_MAX / MS : 1, INT64_MAX / MS, INT64_MAX / MS);

	doctor = when_examined(&run);

	then_findings_are_sound(doctor, 2 * MS);
	assert_true(health_of(doctor) >= 0 && health_of(doctor) <= 100);
	given_release(&run);
}
