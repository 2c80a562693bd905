/* The doctor's rules about traffic with HBM, from the result "memory". Total: 1000 ms of one core.
 * */
#include "tests/analysis/doctor/doctor_given.h"

static const struct ts_column upcast_columns[] = {
	{ "op", TS_COMPILED, NULL },	    { "module", TS_COMPILED, NULL },
	{ "stored", TS_COMPILED, NULL },    { "enough", TS_COMPILED, NULL },
	{ "reason", TS_DERIVED, NULL },	    { "total_bytes", TS_COMPILED, NULL },
	{ "impact_ps", TS_MODELLED, NULL },
};
static const struct ts_column copy_columns[] = {
	{ "op", TS_COMPILED, NULL },	   { "producer", TS_COMPILED, NULL },
	{ "consumer", TS_COMPILED, NULL }, { "from", TS_COMPILED, NULL },
	{ "to", TS_COMPILED, NULL },	   { "reason_code", TS_DERIVED, NULL },
	{ "reason", TS_DERIVED, NULL },	   { "advice", TS_DERIVED, NULL },
	{ "time_ps", TS_MEASURED, NULL },
};

static const struct ts_column stream_columns[] = {
	{ "op", TS_MEASURED, NULL },
	{ "module", TS_MEASURED, NULL },
	{ "hbm_bytes_per_s", TS_MODELLED, NULL },
	{ "hbm_pct", TS_MODELLED, NULL },
};

static struct ts_result *given_ops(struct given *run)
{
	static const int64_t ms[TS_NR_BUCKETS] = { 700, 200, 0, 0, 0, 0, 0, 100 };

	given_nothing(run);
	given_devices(run, 1);
	given_op(run, (struct given_op){ "maker.1", "loop fusion", "", "a.py:1", TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 700 * MS, 0, 0 });
	given_op(run,
		 (struct given_op){ "copy.2", "data formatting", "", "a.py:2", TS_OP_MOVE,
				    TS_ASYNC_NONE, TS_BUCKET_MEMORY_WAIT, 10, 200 * MS, 0, 0 });
	given_time(run, ms);
	return ts_results_add(&run->results, "memory", "Memory");
}

static void given_upcast(struct ts_result *memory, int64_t impact_ps)
{
	struct ts_value *row = ts_table_row(
		memory, given_table(memory, "upcasts", upcast_columns, TS_NELEM(upcast_columns)));

	row[0] = ts_text(TS_LIT("maker.1"));
	row[1] = ts_text(TS_LIT("jit_f"));
	row[2] = ts_text(TS_LIT("f32[1024,128]"));
	row[3] = ts_text(TS_LIT("bf16"));
	row[4] = ts_text(TS_LIT("these are the words"));
	row[5] = ts_int(1048576);
	row[6] = ts_int(impact_ps);
}

static void test_wide_arrays_are_told_from_a_share_of_the_time(void **state)
{
	static const struct {
		int64_t impact_ms;
		bool told;
	} rows[] = { { 50, true }, { 9, false } }; /* of 1000; the threshold is 1 % */

	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given run;
		const struct ts_finding *finding;

		given_upcast(given_ops(&run), rows[i].impact_ms * MS);
		finding = finding_of(when_examined(&run), "upcasts");
		assert_int_equal(finding != NULL, rows[i].told);
		if (finding) {
			assert_int_equal(finding->impact_ps, rows[i].impact_ms * MS);
			assert_true(
				ts_bytes_has(finding->evidence, "maker.1 writes f32[1024,128]"));
			assert_true(ts_bytes_has(finding->evidence, "as bf16 it would spare"));
			assert_true(finding->advice.n > 0 && finding->code.n > 0);
		}
		given_release(&run);
	}
}

static void test_a_layout_finding_names_layouts_and_neighbours(void **state)
{
	struct given run;
	struct ts_result *memory = given_ops(&run);
	struct ts_value *row = ts_table_row(
		memory, given_table(memory, "layout_copies", copy_columns, TS_NELEM(copy_columns)));
	const struct ts_finding *finding;

	(void)state;
	row[0] = ts_text(TS_LIT("copy.2"));
	row[1] = ts_text(TS_LIT("maker.1"));
	row[2] = ts_text(TS_LIT("reader.3"));
	row[3] = ts_text(TS_LIT("f32[8,128]{0,1}"));
	row[4] = ts_text(TS_LIT("f32[8,128]{1,0}"));
	row[5] = ts_text(TS_LIT("layout"));
	row[6] = ts_text(TS_LIT("they want different layouts"));
	row[7] = ts_text(TS_LIT("agree on one"));
	row[8] = ts_int(200 * MS);
	finding = finding_of(when_examined(&run), "layout_copies");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->evidence,
				 "copy.2 turns f32[8,128]{0,1} into f32[8,128]{1,0}, made by "
				 "maker.1, for reader.3: they want different layouts."));
	assert_true(ts_bytes_is(finding->advice, "agree on one"));
	given_release(&run);
}

/* 10 executions of 2 GB take 200 ms, where HBM at 1 TB/s needs 20. */
static void test_a_stream_below_hbms_rate_is_reported(void **state)
{
	static const struct {
		const char *category;
		double hbm_pct;
		bool told;
	} rows[] = {
		{ "loop fusion", 10, true },
		{ "loop fusion", 70, false }, /* the threshold is 60 % */
		{ "sort", 10, false },	      /* goes over its bytes several times */
	};

	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		static const int64_t ms[TS_NR_BUCKETS] = { 700, 200, 0, 0, 0, 0, 0, 100 };
		struct given run;
		struct ts_result *memory;
		struct ts_value *row;
		const struct ts_finding *finding;

		given_nothing(&run);
		given_devices(&run, 1);
		given_op(&run, (struct given_op){ "stream.1", rows[i].category, "", "a.py:1",
						  TS_OP_COMPUTE, TS_ASYNC_NONE,
						  TS_BUCKET_MEMORY_WAIT, 10, 200 * MS, 0, 2e9 });
		given_time(&run, ms);
		memory = ts_results_add(&run.results, "memory", "Memory");
		row = ts_table_row(memory, given_table(memory, "ops", stream_columns,
						       TS_NELEM(stream_columns)));
		row[0] = ts_text(TS_LIT("stream.1"));
		row[1] = ts_text(TS_LIT("jit_f"));
		row[2] = ts_real(1e11);
		row[3] = ts_real(rows[i].hbm_pct);
		finding = finding_of(when_examined(&run), "hbm_bandwidth");
		assert_int_equal(finding != NULL, rows[i].told);
		if (finding)
			assert_int_equal(finding->impact_ps, 180 * MS);
		given_release(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide_arrays_are_told_from_a_share_of_the_time),
		cmocka_unit_test(test_a_layout_finding_names_layouts_and_neighbours),
		cmocka_unit_test(test_a_stream_below_hbms_rate_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
