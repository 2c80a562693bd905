/* SPDX-License-Identifier: MIT */
/* Whatever the other results say, however they contradict each other: no finding promises more than
 * there is. Runs of random numbers, a thousand of them, each named by its seed. */
#include "tests/analysis/doctor/doctor_given.h"

#include "tests/base/rng.h"

#define NR_RUNS 1000

static int64_t some_ms(struct rng *rng)
{
	static const int64_t sizes[] = { 1, 10, 1000, 100000 };

	return (int64_t)rng_below(rng, (uint64_t)sizes[rng_below(rng, 4)] + 1);
}

static const char *const names[] = { "fusion.1",      "copy.2",	  "all-reduce.3", "dot.4",
				     "custom-call.5", "infeed.6", "copy-done.7",  "add.8" };
static const char *const categories[] = { "loop fusion",	"copy",		  "all-reduce",
					  "convolution fusion", "custom-call",	  "infeed",
					  "copy-done",		"data formatting" };

static void given_random_op(struct given *run, struct rng *rng, size_t i)
{
	given_op(run,
		 (struct given_op){
			 .name = names[i],
			 .category = categories[rng_below(rng, TS_NELEM(categories))],
			 .text = rng_below(rng, 2) ? "%x = f32[64,1024,1024]{2,1,0:S(5)} copy(%a)"
						   : "%x = f32[8,128]{1,0:T(8,128)} add(%a, %b)",
			 .source = rng_below(rng, 2) ? "model.py:3" : "",
			 .kind = (enum ts_op_kind)rng_below(rng, TS_OP_MODULE),
			 .async = (enum ts_op_async)rng_below(rng, 3),
			 .bucket = (enum ts_bucket)rng_below(rng, TS_NR_BUCKETS),
			 .occurrences = (int64_t)rng_below(rng, 100000),
			 .exclusive_ps = some_ms(rng) * MS,
			 .flops = (double)rng_below(rng, 1000000000000),
			 .bytes = (double)rng_below(rng, 10000000000),
		 });
}

static void given_random_run(struct given *run, struct rng *rng)
{
	int64_t ms[TS_NR_BUCKETS];

	given_nothing(run);
	given_devices(run, 1 + rng_below(rng, 4));
	for (int i = 0; i < TS_NR_BUCKETS; i++)
		ms[i] = rng_below(rng, 2) ? some_ms(rng) : 0;
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (rng_below(rng, 4) > 0)
			given_random_op(run, rng, i);
	given_time(run, ms);
	run->outline.compile_ps = some_ms(rng) * MS;
	for (size_t i = 0; i < rng_below(rng, 8); i++) {
		given_product(run, names[rng_below(rng, 8)], some_ms(rng),
			      (double)rng_below(rng, 101), (double)rng_below(rng, 101),
			      (double)rng_below(rng, 101));
		given_padding(run, names[rng_below(rng, 8)], "jit_f", (double)rng_below(rng, 101),
			      some_ms(rng));
	}
	if (run->matrix.nr > 0)
		run->matrix.utilization = (double)rng_below(rng, 101) / 100;
	for (size_t i = 0; i < rng_below(rng, 10); i++)
		given_step(run, (int64_t)i, some_ms(rng), some_ms(rng), some_ms(rng), some_ms(rng));
	run->settings.finding_min = 0;
	run->settings.max_findings = 1000;
}

/* What the op has by the facts: of the timeline, or of its products. */
static int64_t time_of(const struct given *run, struct ts_bytes name)
{
	int64_t most = 0;

	for (size_t i = 0; i < run->ops.nr; i++)
		if (ts_bytes_eq(run->items[i].name, name))
			most = TS_MAX(most, run->items[i].exclusive_ps);
	for (size_t i = 0; i < run->matrix.nr; i++)
		if (ts_bytes_eq(run->products[i].name, name))
			most = TS_MAX(most, run->products[i].time_ps);
	return most;
}

static bool is_of_one_op(const char *rule)
{
	static const char *const rules[] = { "matmul_fill", "dominant_op", "padding_waste" };

	for (size_t i = 0; i < TS_NELEM(rules); i++)
		if (strcmp(rule, rules[i]) == 0)
			return true;
	return false;
}

static void then_bounded(const struct given *run, const struct ts_result *doctor, unsigned seed)
{
	int64_t gains_ps = 0;

	for (size_t i = 0; i < doctor->nr_findings; i++)
		gains_ps += TS_MAX(doctor->findings[i].gain_ps, 0);
	if (gains_ps * (int64_t)run->time.nr_cores > run->time.total_ps)
		fail_msg("seed %u: all findings promise more than the run", seed);
	for (size_t i = 0; i < doctor->nr_findings; i++) {
		const struct ts_finding *finding = &doctor->findings[i];

		assert_int_equal(finding->gain_ps >= 0,
				 finding->impact_ps >= 0 && run->time.total_ps > 0);
		if (finding->gain_ps > finding->impact_ps / (int64_t)run->time.nr_cores)
			fail_msg("seed %u: %s gains more than its impact", seed, finding->rule);
		if (finding->impact_ps > run->time.total_ps)
			fail_msg("seed %u: %s promises more than there is", seed, finding->rule);
		if (finding->nr_where == 1 && is_of_one_op(finding->rule) &&
		    finding->impact_ps > time_of(run, finding->where[0].op))
			fail_msg("seed %u: %s promises more than its op took", seed, finding->rule);
		assert_int_equal(finding->impact_ps >= 0, finding->ceiling != NULL);
		assert_true(isnan(finding->impact_share) ||
			    (finding->impact_share >= 0 && finding->impact_share <= 1));
		for (size_t k = 0; k < i; k++)
			assert_false(ts_bytes_eq(finding->id, doctor->findings[k].id));
	}
}

TEST(no_finding_promises_more_than_there_is)
{
	size_t nr = 0;

	for (unsigned seed = 1; seed <= NR_RUNS; seed++) {
		struct rng rng = rng_of(seed);
		const struct ts_result *doctor;
		struct given run;
		int64_t score;

		given_random_run(&run, &rng);
		doctor = when_examined(&run);
		then_bounded(&run, doctor, seed);
		score = ts_value_int(ts_result_get(doctor, "health_score"));
		assert_true(score >= -1 && score <= 100);
		nr += doctor->nr_findings;
		given_release(&run);
	}
	assert_true(nr > NR_RUNS); /* it was not for want of findings */
}
