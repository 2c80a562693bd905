/* SPDX-License-Identifier: MIT */
/* The doctor's rules about fusion, from the facts of that analysis. Total: 1000 ms of one core. */
#include "tests/analysis/doctor/doctor_given.h"

#include "analysis/facts/fusion.h"

enum { FIRST, SECOND, TINY };
static struct ts_hlo_instr instrs[] = { [FIRST] = { .name = TS_LIT("first.1") },
					[SECOND] = { .name = TS_LIT("second.2") },
					[TINY] = { .name = TS_LIT("tiny.3") } };
static struct ts_hlo_module module = { .name = TS_LIT("jit_f"),
				       .instrs = instrs,
				       .nr_instrs = TS_NELEM(instrs) };

#define MAX_PAIRS 4
static struct ts_fusion_pair pairs[MAX_PAIRS];
static struct ts_fusion_chain chain;
static struct ts_fusion_facts fusion;

static void given_ops(struct given *run, int64_t small_ms)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 990, [TS_BUCKET_IDLE] = 10
	};

	given_nothing(run);
	given_devices(run, 1);
	given_op(run, (struct given_op){ "first.1", "loop fusion", "", "a.py:1", TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 600 * MS, 0, 0 });
	given_op(run, (struct given_op){ "second.2", "loop fusion", "", "a.py:2", TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 300 * MS, 0, 0 });
	given_op(run, (struct given_op){ "tiny.3", "loop fusion", "", "a.py:3", TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 1000000, small_ms * MS,
					 0, 0 });
	given_time(run, ms);
	fusion = (struct ts_fusion_facts){ .pairs = pairs, .chains = &chain };
	run->ctx.facts[ts_id_fusion] = &fusion;
}

static void given_pair(const struct ts_reason *reason, int64_t impact_ms)
{
	assert_true(fusion.nr_pairs < MAX_PAIRS);
	pairs[fusion.nr_pairs++] = (struct ts_fusion_pair){
		.module = &module,
		.producer = FIRST,
		.consumer = SECOND,
		.reason = reason,
		.read_bytes = 1048576,
		.impact_ps = impact_ms < 0 ? NAN : (double)(impact_ms * MS),
	};
}

static void given_chain(int64_t ms)
{
	chain = (struct ts_fusion_chain){
		.module = &module, .first = FIRST, .last = TINY, .nr_ops = 7, .time_ps = ms * MS
	};
	fusion.nr_chains = 1;
}

static const struct ts_finding *findings_of(const struct ts_result *doctor, const char *rule,
					    size_t *nr)
{
	const struct ts_finding *first = NULL;

	*nr = 0;
	for (size_t i = 0; i < doctor->nr_findings; i++) {
		if (strcmp(doctor->findings[i].rule, rule) != 0)
			continue;
		if (!first)
			first = &doctor->findings[i];
		++*nr;
	}
	return first;
}

/* 40 + 30 ms of one reason are 7 %; 40 ms of another are below the threshold of 5 %. */
TEST(test_pairs_of_one_reason_are_one_finding)
{
	static const struct ts_reason several = { "several_users", "these are the words",
						  "Bring them together.", TS_LIKELY,
						  "read by several ops" };
	static const struct ts_reason reduce = { "reduce", "others", "In one pass.", TS_LIKELY,
						 "behind reductions" };
	const struct ts_finding *finding;
	struct given run;
	size_t nr;

	given_ops(&run, 0);
	given_pair(&several, 40);
	given_pair(&reduce, 40);
	given_pair(&several, 30);
	finding = findings_of(when_examined(&run), "unfused", &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(finding->impact_ps, 70 * MS);
	assert_int_equal(finding->severity, TS_WARNING);
	assert_int_equal(finding->confidence, TS_LIKELY);
	assert_true(ts_bytes_has(finding->title, "read by several ops"));
	assert_true(ts_bytes_starts(finding->title, "2 op pairs are not fused"));
	assert_true(ts_bytes_has(finding->evidence, "these are the words"));
	assert_true(ts_bytes_has(finding->evidence, "40.0 core-ms, 1.00 MiB"));
	assert_true(ts_bytes_is(finding->advice, "Bring them together."));
	assert_true(finding->code.n > 0);
	assert_int_equal(finding->nr_where, 2);
	assert_true(ts_bytes_is(finding->where[0].op, "first.1"));
	assert_true(ts_bytes_is(finding->where[0].source, "a.py:1"));
	assert_true(ts_bytes_is(finding->where[1].op, "second.2"));
	given_release(&run);
}

TEST(test_what_cannot_be_changed_or_has_a_rule_is_not_a_finding)
{
	static const struct ts_reason async = { "async", "a", NULL, TS_LIKELY };
	static const struct ts_reason layout = { "layout", "b", "Do not transpose.", TS_LIKELY };
	static const struct ts_reason host = { "host_transfer", "c", "Keep it here.", TS_LIKELY };
	static const struct ts_reason unknown = { "unknown", "d", "One expression.", TS_LIKELY };
	struct given run;
	size_t nr;

	given_ops(&run, 0);
	given_pair(&async, 400);
	given_pair(&layout, 400);
	given_pair(&host, 400);
	given_pair(&unknown, -1);
	findings_of(when_examined(&run), "unfused", &nr);
	assert_int_equal(nr, 0);
	given_release(&run);
}

/* 30 ms of 1000 are above 2 %. With 200 ms in tiny ops in all, that finding says it. */
TEST(test_tiny_ops_in_series_have_one_finding)
{
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;
	size_t nr;

	given_ops(&run, 50);
	given_chain(30);
	doctor = when_examined(&run);
	finding = findings_of(doctor, "op_chains", &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(finding->impact_ps, 30 * MS);
	assert_true(ts_bytes_has(finding->evidence, "7 ops from first.1 to tiny.3 (30.0 core-ms)"));
	assert_int_equal(finding->nr_where, 2);
	given_release(&run);
	given_ops(&run, 200);
	given_chain(30);
	doctor = when_examined(&run);
	findings_of(doctor, "op_chains", &nr);
	assert_int_equal(nr, 0);
	findings_of(doctor, "small_ops", &nr);
	assert_int_equal(nr, 1);
	given_release(&run);
}
