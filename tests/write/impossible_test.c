/* SPDX-License-Identifier: MIT */
/* A figure that cannot be true, in each form: never its number where it stands, and its cause beside. */
#include "tests/test.h"
#include "result/terms.h"
#include "result/impossible.h"
#include "write/report_csv.h"
#include "write/report_json.h"
#include "write/report_text.h"

static const struct ts_column columns[] = {
	{ "op", TS_MEASURED, "op", .term = &ts_term_op },
	{ "hbm_bytes_per_s", TS_MODELLED, "HBM" },
};

/* A run whose copy would move 895 PB/s. */
static void make(struct ts_results *results)
{
	struct ts_result *result;
	struct ts_table *table;
	struct ts_value *row;

	ts_results_init(results);
	result = ts_results_add(results, "traffic", "Traffic");
	ts_result_field(result, "hbm_pct", ts_held_share_pct(result, 5.5, TS_LIT("bytes and time")),
			TS_MODELLED, "of its peak");
	table = ts_result_table(result, "ops", "Ops", columns, TS_NELEM(columns));
	row = ts_table_row(result, table);
	row[0] = ts_text(TS_LIT("copy-start.4"));
	row[1] = ts_held_value(result, 895e15, 1640e9, TS_LIT("5 GiB in 6 ns"));
	row = ts_table_row(result, table);
	row[0] = ts_text(TS_LIT("fusion"));
	row[1] = ts_real(1e9);
}

static void then_contains(const struct ts_buf *out, const char *what, bool is_there)
{
	if (ts_bytes_has(ts_buf_bytes(out), what) != is_there)
		fail_msg("%s: %.*s", what, TS_ARG(ts_buf_bytes(out)));
}

static const struct ts_report form = { .generator = "tpusight", .version = "0.1.0" };

TEST(json_has_null_and_the_list)
{
	struct ts_results results;
	struct ts_buf out = TS_BUF_INIT;

	make(&results);
	assert_int_equal(ts_report_json(&out, &results, &form, NULL), TS_OK);
	then_contains(&out, "\"hbm_pct\":null", true);
	then_contains(&out, "{\"op\":\"copy-start.4\",\"hbm_bytes_per_s\":null}", true);
	then_contains(&out, "\"impossible_count\":2", true);
	then_contains(
		&out,
		"{\"view\":\"traffic\",\"table\":null,\"row\":null,\"item\":null,"
		"\"field\":\"hbm_pct\",\"value\":550,\"peak\":100,\"cause\":\"bytes and time\"}",
		true);
	then_contains(&out,
		      "{\"view\":\"traffic\",\"table\":\"ops\",\"row\":0,\"item\":\"copy-start.4\","
		      "\"field\":\"hbm_bytes_per_s\",\"value\":8.95e+17,"
		      "\"peak\":1640000000000,\"cause\":\"5 GiB in 6 ns\"}",
		      true);
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(csv_has_an_empty_cell)
{
	const struct ts_report ops = { .view = "traffic.ops" };
	struct ts_results results;
	struct ts_buf out = TS_BUF_INIT;

	make(&results);
	assert_int_equal(ts_report_csv(&out, &results, &ops, NULL), TS_OK);
	then_contains(&out, "copy-start.4,\n", true);
	then_contains(&out, "895", false);
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(text_says_impossible_and_why)
{
	struct ts_results results;
	struct ts_buf out = TS_BUF_INIT;

	make(&results);
	assert_int_equal(ts_report_text(&out, &results, &form, NULL), TS_OK);
	then_contains(&out, "of its peak: impossible", true);
	then_contains(&out, "copy-start.4  impossible", true);
	then_contains(&out, "2 figures are above a peak and cannot be true", true);
	then_contains(&out, "bytes and time", true);
	then_contains(&out, "895", false);
	ts_buf_release(&out);
	ts_results_release(&results);
}
