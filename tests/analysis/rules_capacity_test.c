/* The doctor's rules about room in device memory. Total: 1000 ms of one core; 32 GiB of HBM. */
#include "doctor_given.h"

#define GIB (INT64_C(1) << 30)

static const struct ts_column buffer_columns[] = {
	{ "module", TS_COMPILED, NULL }, { "op", TS_COMPILED, NULL },
	{ "kind", TS_COMPILED, NULL },	 { "shape", TS_COMPILED, NULL },
	{ "bytes", TS_COMPILED, NULL },	 { "framework_op", TS_COMPILED, NULL },
};
static const struct ts_column pair_columns[] = {
	{ "module", TS_COMPILED, NULL }, { "parameter", TS_COMPILED, NULL },
	{ "output", TS_COMPILED, NULL }, { "bytes", TS_COMPILED, NULL },
	{ "framework_op", TS_COMPILED, NULL },
};

static struct ts_result *given_capacity(struct given *run, int64_t peak_bytes)
{
	static const int64_t ms[TS_NR_BUCKETS] = { 1000, 0, 0, 0, 0, 0, 0, 0 };
	struct ts_result *result;

	given_nothing(run);
	given_devices(run, 1);
	given_op(run, (struct given_op){ "big.1", "loop fusion", "", "a.py:1", TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 600 * MS, 0, 0 });
	given_time(run, ms);
	result = ts_results_add(&run->results, "capacity", "Capacity");
	ts_result_field(result, "peak_bytes", ts_int(peak_bytes), TS_MODELLED, NULL);
	ts_result_field(result, "hbm_bytes", ts_int(32 * GIB), TS_ASSUMED, NULL);
	ts_result_field(result, "peak_pct", ts_real(100.0 * (double)peak_bytes / (32.0 * GIB)),
			TS_MODELLED, NULL);
	ts_result_field(result, "peak_module", ts_text(TS_LIT("jit_f")), TS_MODELLED, NULL);
	ts_result_field(result, "peak_op", ts_text(TS_LIT("big.1")), TS_MODELLED, NULL);
	ts_result_field(result, "argument_bytes", ts_int(12 * GIB), TS_COMPILED, NULL);
	ts_result_field(result, "output_bytes", ts_int(8 * GIB), TS_COMPILED, NULL);
	ts_result_field(result, "alias_bytes", ts_int(8 * GIB), TS_COMPILED, NULL);
	ts_result_field(result, "temp_bytes", ts_int(18 * GIB), TS_MODELLED, NULL);
	return result;
}

static void given_buffer(struct ts_result *result)
{
	struct ts_value *row = ts_table_row(
		result, given_table(result, "buffers", buffer_columns, TS_NELEM(buffer_columns)));

	row[0] = ts_text(TS_LIT("jit_f"));
	row[1] = ts_text(TS_LIT("big.1"));
	row[2] = ts_text(TS_LIT("temp"));
	row[3] = ts_text(TS_LIT("f32[1048576,4096]"));
	row[4] = ts_int(16 * GIB);
	row[5] = ts_text(TS_LIT("jit(f)/dot_general"));
}

static void given_pair(struct ts_result *result, int64_t nr_bytes)
{
	struct ts_value *row = ts_table_row(
		result, given_table(result, "donations", pair_columns, TS_NELEM(pair_columns)));

	row[0] = ts_text(TS_LIT("jit_f"));
	row[1] = ts_int(2);
	row[2] = ts_int(1);
	row[3] = ts_int(nr_bytes);
	row[4] = ts_text(TS_LIT("params['w']"));
}

static void test_a_nearly_full_device_is_a_warning(void **state)
{
	struct given run;
	const struct ts_finding *finding;

	(void)state;
	given_buffer(given_capacity(&run, 30 * GIB)); /* 93.75 % */
	finding = finding_of(when_examined(&run), "hbm_capacity");
	assert_non_null(finding);
	assert_int_equal(finding->severity, TS_WARNING);
	assert_int_equal(finding->impact_ps, -1);
	assert_true(ts_bytes_has(finding->title, "94 %"));
	assert_true(ts_bytes_has(finding->evidence, "30.0 GiB of 32.0 GiB, at op big.1"));
	assert_true(ts_bytes_has(finding->evidence, "f32[1048576,4096], 16.0 GiB"));
	assert_int_equal(finding->nr_where, 1);
	given_release(&run);
}

static void test_a_full_device_is_critical(void **state)
{
	struct given run;
	const struct ts_finding *finding;

	(void)state;
	given_capacity(&run, 32 * GIB);
	finding = finding_of(when_examined(&run), "hbm_capacity");
	assert_non_null(finding);
	assert_int_equal(finding->severity, TS_CRITICAL);
	given_release(&run);
}

static void test_room_enough_is_no_finding(void **state)
{
	struct given run;

	(void)state;
	given_capacity(&run, 28 * GIB); /* 87.5 % */
	assert_null(finding_of(when_examined(&run), "hbm_capacity"));
	given_release(&run);
}

static void test_the_threshold_is_the_users(void **state)
{
	struct given run;

	(void)state;
	given_capacity(&run, 28 * GIB);
	run.settings.peak_memory_high = 80;
	assert_non_null(finding_of(when_examined(&run), "hbm_capacity"));
	given_release(&run);
}

static void test_donation_is_proposed_where_it_saves_much(void **state)
{
	struct given run;
	const struct ts_finding *finding;
	struct ts_result *capacity = given_capacity(&run, 8 * GIB);

	(void)state;
	given_pair(capacity, 2 * GIB);
	given_pair(capacity, 2 * GIB); /* together 12.5 % */
	finding = finding_of(when_examined(&run), "donation");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->title, "4.00 GiB"));
	assert_true(ts_bytes_has(finding->evidence, "argument 2 (params['w']) for result 1"));
	given_release(&run);
}

static void test_donation_that_saves_little_is_no_finding(void **state)
{
	struct given run;

	(void)state;
	given_pair(given_capacity(&run, 8 * GIB), GIB); /* 3.1 % */
	assert_null(finding_of(when_examined(&run), "donation"));
	given_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_nearly_full_device_is_a_warning),
		cmocka_unit_test(test_a_full_device_is_critical),
		cmocka_unit_test(test_room_enough_is_no_finding),
		cmocka_unit_test(test_the_threshold_is_the_users),
		cmocka_unit_test(test_donation_is_proposed_where_it_saves_much),
		cmocka_unit_test(test_donation_that_saves_little_is_no_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
