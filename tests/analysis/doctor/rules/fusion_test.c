/* The doctor's rules about fusion, from the result of that analysis. Total: 1000 ms of one core. */
#include "tests/analysis/doctor/doctor_given.h"

static const struct ts_column pair_columns[] = {
	{ "producer", TS_COMPILED, NULL },   { "consumer", TS_COMPILED, NULL },
	{ "module", TS_COMPILED, NULL },     { "reason", TS_DERIVED, NULL },
	{ "bytes", TS_COMPILED, NULL },	     { "impact_ps", TS_MODELLED, NULL },
	{ "reason_code", TS_DERIVED, NULL }, { "advice", TS_DERIVED, NULL },
	{ "confidence", TS_DERIVED, NULL },
};
static const struct ts_column chain_columns[] = {
	{ "module", TS_COMPILED, NULL },  { "first", TS_COMPILED, NULL },
	{ "last", TS_COMPILED, NULL },	  { "ops", TS_COMPILED, NULL },
	{ "time_ps", TS_MEASURED, NULL },
};

static void given_ops(struct given *run, int64_t small_ms)
{
	static const int64_t ms[TS_NR_BUCKETS] = { 990, 0, 0, 0, 0, 0, 0, 10 };

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
	ts_results_add(&run->results, "fusion", "Fusion");
}

static struct ts_result *fusion_of(struct given *run)
{
	return run->results.items[run->results.nr - 1];
}

static void given_pair(struct given *run, const char *code, const char *advice, int64_t impact_ms)
{
	struct ts_result *fusion = fusion_of(run);
	struct ts_value *row = ts_table_row(
		fusion, given_table(fusion, "unfused", pair_columns, TS_NELEM(pair_columns)));

	row[0] = ts_text(TS_LIT("first.1"));
	row[1] = ts_text(TS_LIT("second.2"));
	row[2] = ts_text(TS_LIT("jit_f"));
	row[3] = ts_text(TS_LIT("these are the words"));
	row[4] = ts_int(1048576);
	row[5] = impact_ms < 0 ? ts_null() : ts_int(impact_ms * MS);
	row[6] = ts_text(ts_bytes_of(code));
	row[7] = ts_text_or_null(ts_bytes_of(advice));
	row[8] = ts_text(TS_LIT("likely"));
}

static void given_chain(struct given *run, int64_t ms)
{
	struct ts_result *fusion = fusion_of(run);
	struct ts_value *row = ts_table_row(
		fusion, given_table(fusion, "chains", chain_columns, TS_NELEM(chain_columns)));

	row[0] = ts_text(TS_LIT("jit_f"));
	row[1] = ts_text(TS_LIT("first.1"));
	row[2] = ts_text(TS_LIT("tiny.3"));
	row[3] = ts_int(7);
	row[4] = ts_int(ms * MS);
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
static void test_pairs_of_one_reason_are_one_finding(void **state)
{
	const struct ts_finding *finding;
	struct given run;
	size_t nr;

	(void)state;
	given_ops(&run, 0);
	given_pair(&run, "several_users", "Bring them together.", 40);
	given_pair(&run, "reduce", "In one pass.", 40);
	given_pair(&run, "several_users", "Bring them together.", 30);
	finding = findings_of(when_examined(&run), "unfused", &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(finding->impact_ps, 70 * MS);
	assert_int_equal(finding->severity, TS_WARNING);
	assert_int_equal(finding->confidence, TS_LIKELY);
	assert_true(ts_bytes_has(finding->title, "several users"));
	assert_true(ts_bytes_has(finding->evidence, "2 pairs"));
	assert_true(ts_bytes_has(finding->evidence, "these are the words"));
	assert_true(ts_bytes_has(finding->evidence, "40.0 ms, 1.00 MiB"));
	assert_true(ts_bytes_is(finding->advice, "Bring them together."));
	assert_true(finding->code.n > 0);
	assert_int_equal(finding->nr_where, 2);
	assert_true(ts_bytes_is(finding->where[0].op, "first.1"));
	assert_true(ts_bytes_is(finding->where[0].source, "a.py:1"));
	assert_true(ts_bytes_is(finding->where[1].op, "second.2"));
	given_release(&run);
}

static void test_what_nobody_can_change_or_others_tell_is_no_finding(void **state)
{
	struct given run;
	size_t nr;

	(void)state;
	given_ops(&run, 0);
	given_pair(&run, "async", NULL, 400);
	given_pair(&run, "layout", "Leave out transposes.", 400);
	given_pair(&run, "host_transfer", "Keep it here.", 400);
	given_pair(&run, "unknown", "One expression.", -1);
	findings_of(when_examined(&run), "unfused", &nr);
	assert_int_equal(nr, 0);
	given_release(&run);
}

/* 30 ms of 1000 are above 2 %. With 200 ms in tiny ops in all, that finding says it. */
static void test_tiny_ops_in_series_are_told_once(void **state)
{
	const struct ts_finding *finding;
	const struct ts_result *doctor;
	struct given run;
	size_t nr;

	(void)state;
	given_ops(&run, 50);
	given_chain(&run, 30);
	doctor = when_examined(&run);
	finding = findings_of(doctor, "op_chains", &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(finding->impact_ps, 30 * MS);
	assert_true(ts_bytes_has(finding->evidence, "7 ops from first.1 to tiny.3 (30.0 ms)"));
	assert_int_equal(finding->nr_where, 2);
	given_release(&run);
	given_ops(&run, 200);
	given_chain(&run, 30);
	doctor = when_examined(&run);
	findings_of(doctor, "op_chains", &nr);
	assert_int_equal(nr, 0);
	findings_of(doctor, "small_ops", &nr);
	assert_int_equal(nr, 1);
	given_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_of_one_reason_are_one_finding),
		cmocka_unit_test(test_what_nobody_can_change_or_others_tell_is_no_finding),
		cmocka_unit_test(test_tiny_ops_in_series_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
