/* SPDX-License-Identifier: MIT */
/* The doctor's rules about traffic with HBM, from the facts of memory. Total: 1000 ms of a core. */
#include "tests/analysis/doctor/doctor_given.h"

#include "analysis/facts/memory.h"

enum { MAKER, COPY, READER };
static struct ts_hlo_instr instrs[] = { [MAKER] = { .name = TS_LIT("maker.1") },
					[COPY] = { .name = TS_LIT("copy.2") },
					[READER] = { .name = TS_LIT("reader.3") } };
static struct ts_hlo_module module = { .name = TS_LIT("jit_f"),
				       .instrs = instrs,
				       .nr_instrs = TS_NELEM(instrs) };

static void given_ops(struct given *run, const struct ts_memory_facts *memory)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 700, [TS_BUCKET_MEMORY_WAIT] = 200, [TS_BUCKET_IDLE] = 100
	};

	given_nothing(run);
	given_devices(run, 1);
	given_op(run, (struct given_op){ "maker.1", "loop fusion", "", "a.py:1", TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 700 * MS, 0, 0 });
	given_op(run,
		 (struct given_op){ "copy.2", "data formatting", "", "a.py:2", TS_OP_MOVE,
				    TS_ASYNC_NONE, TS_BUCKET_MEMORY_WAIT, 10, 200 * MS, 0, 0 });
	given_time(run, ms);
	run->ctx.facts[ts_id_memory] = memory;
}

TEST(test_wide_arrays_are_a_finding_from_a_share_of_the_time)
{
	static const struct {
		int64_t impact_ms;
		bool is_finding;
	} rows[] = { { 50, true }, { 9, false } }; /* of 1000; the threshold is 1 % */

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct ts_memory_upcast upcast = {
			.module = &module,
			.instr = MAKER,
			.consumer = READER,
			.stored = TS_LIT("f32[1024,128]"),
			.enough = TS_BF16,
			.reason = "these are the words",
			.saved_bytes = 1048576,
			.impact_ps = (double)(rows[i].impact_ms * MS),
		};
		const struct ts_memory_facts memory = { .upcasts = &upcast, .nr_upcasts = 1 };
		const struct ts_finding *finding;
		struct given run;

		given_ops(&run, &memory);
		finding = finding_of(when_examined(&run), "upcasts");
		assert_int_equal(finding != NULL, rows[i].is_finding);
		if (finding) {
			assert_int_equal(finding->impact_ps, rows[i].impact_ms * MS);
			assert_true(
				ts_bytes_has(finding->evidence, "maker.1 writes f32[1024,128]"));
			assert_true(ts_bytes_has(finding->evidence, "as bf16 it would save"));
			assert_true(finding->advice.n > 0 && finding->code.n > 0);
		}
		given_release(&run);
	}
}

TEST(test_a_layout_finding_names_layouts_and_neighbours)
{
	static const struct ts_reason reason = { "layout", "they want different layouts",
						 "agree on one", TS_LIKELY };
	const struct ts_memory_copy copy = {
		.module = &module,
		.instr = COPY,
		.producer = TS_LIT("maker.1"),
		.consumer = TS_LIT("reader.3"),
		.from = TS_LIT("f32[8,128]{0,1}"),
		.to = TS_LIT("f32[8,128]{1,0}"),
		.reason = &reason,
		.self_ps = 200 * MS,
	};
	const struct ts_memory_facts memory = { .copies = &copy, .nr_copies = 1 };
	const struct ts_finding *finding;
	struct given run;

	given_ops(&run, &memory);
	finding = finding_of(when_examined(&run), "layout_copies");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->evidence,
				 "copy.2 turns f32[8,128]{0,1} into f32[8,128]{1,0}, made by "
				 "maker.1, for reader.3: they want different layouts."));
	assert_true(ts_bytes_is(finding->advice, "agree on one"));
	given_release(&run);
}

/* 10 executions of 2 GB take 200 ms, where HBM at 1 TB/s needs 20. */
TEST(test_a_stream_below_hbms_rate_is_reported)
{
	static const struct {
		const char *category;
		double hbm_pct;
		bool is_finding;
	} rows[] = {
		{ "loop fusion", 10, true },
		{ "loop fusion", 70, false }, /* the threshold is 60 % */
		{ "sort", 10, false },	      /* goes over its bytes several times */
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		static const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 700,
							   [TS_BUCKET_MEMORY_WAIT] = 200,
							   [TS_BUCKET_IDLE] = 100 };
		const struct ts_memory_op op = { .name = TS_LIT("stream.1"),
						 .hbm_bytes_per_s = 1e11,
						 .hbm_share = rows[i].hbm_pct / 100 };
		const struct ts_memory_facts memory = { .ops = &op, .nr_ops = 1 };
		const struct ts_finding *finding;
		struct given run;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "stream.1", rows[i].category, "", "a.py:1",
						  TS_OP_COMPUTE, TS_ASYNC_NONE,
						  TS_BUCKET_MEMORY_WAIT, 10, 200 * MS, 0, 2e9 });
		given_time(&run, ms);
		ts_profile_add_module(&run.profile, 7)->name = TS_LIT("jit_f");
		run.ctx.facts[ts_id_memory] = &memory;
		finding = finding_of(when_examined(&run), "hbm_bandwidth");
		assert_int_equal(finding != NULL, rows[i].is_finding);
		if (finding)
			assert_int_equal(finding->impact_ps, 180 * MS);
		given_release(&run);
	}
}
