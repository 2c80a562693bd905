/* SPDX-License-Identifier: MIT */
/* The text of single trace events, against lines written by hand. */
#include "tests/test.h"
#include "trace/perfetto/perfetto.h"

static const struct ts_perfetto_form *const form = &ts_perfetto_json;

static void assert_text(struct ts_buf *buf, const char *want)
{
	ts_buf_putc(buf, '\0');
	assert_false(buf->failed);
	assert_string_equal((const char *)buf->p, want);
	ts_buf_release(buf);
}

/* A lane as the form makes it, without what it says of it. */
static struct ts_perfetto_lane lane_of(const struct ts_perfetto_row *row, uint32_t number)
{
	struct ts_perfetto_lane lane = { .row = row, .number = number };
	struct ts_buf said = TS_BUF_INIT;

	form->lane(&said, &lane);
	assert_false(said.failed);
	ts_buf_release(&said);
	return lane;
}

TEST(times_are_microseconds_with_three_decimals)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0.000" },
		{ 1, "0.001" },
		{ 999, "0.999" },
		{ 1000, "1.000" },
		{ 12345, "12.345" },
		{ 99999, "99.999" },
		{ 1234567890123, "1234567890.123" },
		{ -1, "-0.001" },
		{ -1500, "-1.500" },
		{ INT64_MAX, "9223372036854775.807" },
		{ INT64_MIN, "-9223372036854775.808" },
	};
	struct ts_perfetto_row row = { .pid = 1, .tid = 100 };
	struct ts_perfetto_lane lane = lane_of(&row, 0);

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct ts_perfetto_slice slice = { .start_ns = cases[i].ns,
						   .tail = TS_LIT("\"args\":{"),
						   .arrow = TS_ARROW_BEGINS,
						   .arrow_id = 7 };
		struct ts_buf got = TS_BUF_INIT, want = TS_BUF_INIT;

		form->op_slice(&got, &lane, &slice);
		ts_buf_printf(
			&want,
			",\n{\"ph\":\"X\",\"pid\":1,\"tid\":100,\"ts\":%s,\"dur\":0.000,"
			"\"args\":{\"self_ns\":0}},\n{\"ph\":\"s\",\"bp\":\"e\",\"cat\":"
			"\"async\",\"name\":\"async\",\"id\":7,\"pid\":1,\"tid\":100,\"ts\":%s}",
			cases[i].text, cases[i].text);
		ts_buf_putc(&want, '\0');
		assert_text(&got, (const char *)want.p);
		ts_buf_release(&want);
	}
}

TEST(a_slice_is_its_times_around_the_tail)
{
	struct ts_perfetto_row row = { .pid = UINT32_MAX, .tid = UINT32_MAX };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_perfetto_slice slice = { .start_ns = 1500,
					   .dur_ns = 10,
					   .tail = TS_LIT("\"name\":\"a\",\"args\":{"),
					   .own_ns = 7 };
	struct ts_buf buf = TS_BUF_INIT;

	form->op_slice(&buf, &lane, &slice);
	assert_text(&buf, ",\n{\"ph\":\"X\",\"pid\":4294967295,\"tid\":4294967295,\"ts\":1.500,"
			  "\"dur\":0.010,\"name\":\"a\",\"args\":{\"self_ns\":7}}");
}

TEST(every_event_begins_with_its_comma)
{
	static const struct ts_perfetto_fact facts[] = {
		{ .key = "chip", .text = TS_LIT("TPU v6e") },
		{ .key = "step_count", .number = 20 },
	};
	struct ts_perfetto_head head = { .version = "1.0",
					 .native_file = "n.gz",
					 .start_unix_ns = 1741722099081044120,
					 .events_total = 5,
					 .events_written = 3,
					 .facts = facts,
					 .nr_facts = TS_NELEM(facts) };
	struct ts_perfetto_process process = { 1, 0, TS_LIT("/device:TPU:0") };
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_bytes text;

	form->open(&buf, &head);
	form->process(&buf, &process);
	form->close(&buf);
	text = ts_buf_bytes(&buf);
	/* what viewers show stands in "metadata"; how a file begins is the same in every version */
	assert_true(ts_bytes_starts(text, "{\"otherData\":{\"generator\":\"tpusight\"},"
					  "\"metadata\":{\"generator\":\"tpusight\",\"version\":"
					  "\"1.0\",\"native_file\":\"n.gz\","
					  "\"start_unix_ns\":\"1741722099081044120\""));
	assert_true(ts_bytes_has(text, "\"events_left_out\":2"));
	assert_true(ts_bytes_has(text, ",\"chip\":\"TPU v6e\",\"step_count\":20,\"note\":"));
	/* the first one's comma is taken away by who knows that it is the first */
	assert_true(ts_bytes_ends(text, "\"traceEvents\":[,\n{\"ph\":\"M\",\"pid\":1,\"name\":"
					"\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},\n"
					"{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\","
					"\"args\":{\"sort_index\":0}}\n]}\n"));
	ts_buf_release(&buf);
}

TEST(a_counters_key_is_its_unit)
{
	struct ts_track hbm = { .kind = TS_TRACK_COUNTER, .name = "HBM bandwidth (GB/s)" };
	struct ts_track plain = { .kind = TS_TRACK_COUNTER, .name = "plain" };
	struct ts_perfetto_row rows[] = { { .pid = 2, .track = &hbm },
					  { .pid = 2, .track = &plain } };
	struct ts_buf buf = TS_BUF_INIT;

	form->counter(&buf, &rows[0], 2000, 26.5);
	form->counter(&buf, &rows[1], 2000, 1);
	form->counter(&buf, &rows[1], 2000, INFINITY);
	assert_text(&buf, ",\n{\"ph\":\"C\",\"pid\":2,\"ts\":2.000,\"name\":\"HBM bandwidth\","
			  "\"args\":{\"(GB/s)\":26.5}}"
			  ",\n{\"ph\":\"C\",\"pid\":2,\"ts\":2.000,\"name\":\"plain\",\"args\":{"
			  "\"value\":1}}");
}

TEST(numbers_of_a_label_are_numbers)
{
	static const struct ts_arg args[] = {
		{ "title", { TS_VALUE_TEXT, .as.s = { (const uint8_t *)"a \"b\"", 5 } } },
		{ "impact_ns", { TS_VALUE_INT, .as.i = INT64_C(304300000000) } },
		{ "impact_pct", { TS_VALUE_REAL, .as.r = 50 } },
		{ "gain_pct", { TS_VALUE_REAL, .as.r = 0.125 } },
		{ "share", { TS_VALUE_REAL, .as.r = 1e-20 } },
		{ "unknown", { TS_VALUE_NULL } },
		{ "empty", { TS_VALUE_TEXT } },
	};
	static const struct ts_label label = { TS_LIT("a"), args, TS_NELEM(args) };
	struct ts_track track = { .labels = &label, .nr_labels = 1 };
	struct ts_perfetto_row row = { .track = &track };
	struct ts_perfetto_lane lane = { .row = &row };
	struct ts_buf buf = TS_BUF_INIT;

	form->label_tail(NULL, &buf, &lane, 0);
	assert_text(&buf, "\"name\":\"a\",\"cat\":\"tpusight\",\"args\":{\"title\":\"a \\\"b\\\"\","
			  "\"impact_ns\":304300000000,\"impact_pct\":50.0,\"gain_pct\":0.125,"
			  "\"share\":1e-20,");
}

TEST(long_texts_are_cut_between_characters)
{
	struct ts_profile profile;
	struct ts_buf text = TS_BUF_INIT, buf = TS_BUF_INIT;
	struct ts_op op;

	ts_buf_pad(&text, 'x', 4095);
	ts_buf_puts(&text, "\xc3\xa9 and more"); /* its second byte is the 4097th */
	ts_profile_init(&profile);
	ts_op_init(&op);
	op.name = ts_buf_bytes(&text);
	assert_int_not_equal(ts_profile_intern_op(&profile, &op), TS_NONE);
	form->op_tail(NULL, &buf, NULL, &(struct ts_perfetto_op){ .profile = &profile });
	assert_int_equal(buf.n, strlen("\"name\":\"") + 4095 + strlen("\",\"args\":{\"op_id\":0,"));
	ts_buf_release(&buf);
	ts_buf_release(&text);
	ts_profile_release(&profile);
}
