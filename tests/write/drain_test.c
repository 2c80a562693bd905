/* SPDX-License-Identifier: MIT */
/* A report that goes away in pieces is the same as one that is held as one text. */
#include "tests/test.h"
#include "write/report_json.h"

#define NR_ROWS 20000

static const struct ts_column columns[] = { { "number", TS_MEASURED, NULL, 0 },
					    { "text", TS_MEASURED, NULL, 0 } };

static void given_results(struct ts_results *results)
{
	struct ts_result *result;
	struct ts_table *table;

	ts_results_init(results);
	result = ts_results_add(results, "large", "Large");
	table = ts_result_table(result, "rows", "Rows", columns, TS_NELEM(columns));
	for (int64_t i = 0; i < NR_ROWS; i++) {
		struct ts_value *row = ts_table_row(result, table);

		row[0] = ts_int(i);
		row[1] = ts_text(TS_LIT("a text of some length, as names of ops have"));
	}
}

struct taken {
	struct ts_buf all;
	size_t nr_pieces, most;
	size_t nr_good; /* so many pieces are taken */
};

static enum ts_status take(void *arg, struct ts_bytes piece, struct ts_error *err)
{
	struct taken *taken = arg;

	if (taken->nr_pieces == taken->nr_good)
		return ts_fail(err, TS_IO, "it is full");
	taken->nr_pieces++;
	taken->most = TS_MAX(taken->most, piece.n);
	ts_buf_put(&taken->all, piece);
	return TS_OK;
}

TEST(the_pieces_are_the_whole_text)
{
	struct taken taken = { .all = TS_BUF_INIT, .nr_good = SIZE_MAX };
	struct ts_drain drain = { .take = take, .arg = &taken };
	struct ts_report form = { .generator = "tpusight", .version = "0", .pretty = true };
	struct ts_buf whole = TS_BUF_INIT, last = TS_BUF_INIT;
	struct ts_results results;

	given_results(&results);
	assert_int_equal(ts_report_json(&whole, &results, &form, NULL), TS_OK);
	form.drain = &drain;
	assert_int_equal(ts_report_json(&last, &results, &form, NULL), TS_OK);
	assert_true(taken.nr_pieces >= 4);
	assert_in_range(taken.most, TS_DRAIN_PIECE, TS_DRAIN_PIECE + 4096);
	assert_true(last.n < TS_DRAIN_PIECE);
	ts_buf_put(&taken.all, ts_buf_bytes(&last));
	assert_int_equal(taken.all.n, whole.n);
	assert_memory_equal(taken.all.p, whole.p, whole.n);
	ts_buf_release(&whole);
	ts_buf_release(&last);
	ts_buf_release(&taken.all);
	ts_results_release(&results);
}

TEST(a_piece_that_is_not_taken_ends_the_report)
{
	struct ts_error err = TS_ERROR_INIT;
	struct taken taken = { .all = TS_BUF_INIT, .nr_good = 2 };
	struct ts_drain drain = { .take = take, .arg = &taken, .err = &err };
	const struct ts_report form = { .generator = "tpusight", .version = "0", .drain = &drain };
	struct ts_buf last = TS_BUF_INIT;
	struct ts_results results;

	given_results(&results);
	assert_int_equal(ts_report_json(&last, &results, &form, &err), TS_IO);
	assert_string_equal(err.text, "it is full");
	assert_int_equal(taken.nr_pieces, 2);
	ts_buf_release(&last);
	ts_buf_release(&taken.all);
	ts_results_release(&results);
}
