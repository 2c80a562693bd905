/* SPDX-License-Identifier: MIT */
/* Asynchronous ops: what is waited for, what is hidden, and what could hide the rest. By hand. */
#include "analysis/facts/async.h"
#include "tests/analysis/feed.h"

extern const struct ts_analysis ts_analysis_ops, ts_analysis_async;

#define PROGRAM 7

enum { P, NEED, FREE_BEFORE, START, BEHIND, DONE, USE, LATE, FREE_AFTER, NR };

static const struct {
	const char *name, *opcode;
	uint32_t a, b;
} rows[NR] = {
	[P] = { "p", "parameter", TS_NONE, TS_NONE },
	[NEED] = { "need.1", "add", P, P },	   /* feeds the copy */
	[FREE_BEFORE] = { "free.2", "add", P, P }, /* could as well run after its start */
	[START] = { "copy-start.3", "copy-start", NEED, TS_NONE },
	[BEHIND] = { "behind.4", "add", P, P },
	[DONE] = { "copy-done.5", "copy-done", START, TS_NONE },
	[USE] = { "use.6", "add", DONE, P },
	[LATE] = { "late.7", "add", USE, P },	       /* uses it through use.6 */
	[FREE_AFTER] = { "free.8", "add", BEHIND, P }, /* could as well run before the done */
};

static const uint32_t users[NR][4] = { [NEED] = { START },
				       [START] = { DONE },
				       [BEHIND] = { FREE_AFTER },
				       [DONE] = { USE },
				       [USE] = { LATE } };
static const uint32_t nr_users[NR] = {
	[NEED] = 1, [START] = 1, [BEHIND] = 1, [DONE] = 1, [USE] = 1
};

static void given_module(struct feed *feed, uint32_t op[NR])
{
	struct ts_hlo_module *module = feed_module(feed, "jit_f", PROGRAM);

	module->is_scheduled = true;
	for (uint32_t i = 0; i < NR; i++) {
		struct ts_hlo_instr *instr =
			feed_instr(feed, module, rows[i].name, rows[i].opcode,
				   "f32[256,128]{1,0:T(8,128)}", rows[i].a, rows[i].b);

		instr->id = i + 1;
		instr->users = users[i];
		instr->nr_users = nr_users[i];
		if (i != P)
			feed_op(feed, rows[i].name, rows[i].opcode, PROGRAM, &op[i])->symbol_id =
				i + 1;
	}
}

static const struct ts_result *run(struct feed *feed)
{
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	feed_run(feed, &ts_analysis_ops);
	return feed_run(feed, &ts_analysis_async);
}

static int64_t us(struct ts_value value)
{
	int64_t ps = ts_value_int(value);

	assert_int_equal(ps % TS_PS_PER_US, 0);
	return ps / TS_PS_PER_US;
}

/*
 *	need 20, free.2 15, start 1, behind 40, done WAIT, use 25, late 5, free.8 30, in us
 * Waited for: 1 + WAIT. Under way: 41 + WAIT. Could be covered: 15 + 30, or all of it where that is less.
 */
static void given_run(struct feed *feed, const uint32_t op[NR], uint32_t line, int64_t at,
		      int64_t wait)
{
	static const struct {
		uint32_t what;
		int64_t us;
	} spells[] = { { NEED, 20 }, { FREE_BEFORE, 15 }, { START, 1 }, { BEHIND, 40 },
		       { DONE, 0 },  { USE, 25 },	  { LATE, 5 },	{ FREE_AFTER, 30 } };

	for (size_t i = 0; i < TS_NELEM(spells); i++) {
		int64_t dur = spells[i].what == DONE ? wait : spells[i].us;

		feed_event(feed, line, op[spells[i].what], at, dur);
		at += dur;
	}
}

TEST(a_wait_is_covered_by_what_neither_feeds_nor_uses_it)
{
	static const struct {
		int64_t wait, coverable;
	} cases[] = { { 35, 36 }, { 60, 45 } };

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct feed *feed = feed_new();
		const struct ts_async_facts *facts;
		const struct ts_result *result;
		const struct ts_table *table;
		uint32_t op[NR], line;

		given_module(feed, op);
		line = feed_device(feed, "TPU v5 lite");
		given_run(feed, op, line, 0, cases[i].wait);
		result = run(feed);
		table = feed_table(result, "ops");
		assert_int_equal(table->nr_rows, 1);
		facts = feed->facts[ts_id_async];
		assert_int_equal(facts->nr, 1);
		assert_int_equal(facts->items[0].op, op[START]);
		assert_true(ts_bytes_is(facts->items[0].could_hide, "free.8"));
		assert_int_equal(facts->items[0].coverable_ps, cases[i].coverable * TS_PS_PER_US);
		assert_false(facts->items[0].is_collective || facts->items[0].is_host);
		assert_text(feed_cell(table, 0, "name"), "copy-start.3");
		assert_text(feed_cell(table, 0, "done"), "copy-done.5");
		assert_text(feed_cell(table, 0, "kind"), "copy");
		assert_int_equal(us(feed_cell(table, 0, "exposed_ps")), 1 + cases[i].wait);
		assert_int_equal(us(feed_cell(table, 0, "interval_ps")), 41 + cases[i].wait);
		assert_int_equal(us(feed_cell(table, 0, "hidden_ps")), 40);
		assert_int_equal(us(feed_cell(table, 0, "between_ps")), 40);
		assert_text(feed_cell(table, 0, "hidden_by"), "behind.4");
		assert_int_equal(us(feed_cell(table, 0, "independent_ps")), 45);
		assert_int_equal(ts_value_int(feed_cell(table, 0, "independent_ops")), 2);
		assert_text(feed_cell(table, 0, "could_hide"), "free.8");
		assert_int_equal(us(feed_cell(table, 0, "coverable_ps")), cases[i].coverable);
		assert_int_equal(ts_value_int(feed_cell(table, 0, "bytes")), 131072);
		assert_int_equal(us(ts_result_get(result, "coverable_ps")), cases[i].coverable);
		feed_free(feed);
	}
}

/* Two cores: sums of both. The line of async ops of the first agrees with its starts and dones. */
TEST(the_line_of_async_ops_is_a_second_account)
{
	struct feed *feed = feed_new();
	const struct ts_result *result;
	uint32_t op[NR], lines[2], async, shown;

	given_module(feed, op);
	lines[0] = feed_device(feed, "TPU v5 lite");
	async = feed_line(feed, TS_LINE_ASYNC);
	lines[1] = feed_device(feed, "TPU v5 lite");
	given_run(feed, op, lines[0], 0, 35);
	given_run(feed, op, lines[1], 0, 45);
	feed_op(feed, "async-copy", "", PROGRAM, &shown);
	feed_event(feed, async, shown, 35, 76);
	result = run(feed);
	assert_int_equal(us(ts_result_get(result, "interval_ps")), 76 + 86);
	assert_int_equal(us(ts_result_get(result, "exposed_ps")), 36 + 46);
	assert_int_equal(us(ts_result_get(result, "hidden_ps")), 80);
	assert_int_equal(us(ts_result_get(result, "async_line_ps")), 76);
	assert_int_equal(us(ts_result_get(result, "async_line_interval_ps")), 76);
	assert_int_equal(ts_value_int(feed_cell(feed_table(result, "ops"), 0, "occurrences")), 2);
	feed_free(feed);
}

/* The start was before the capture; the last start's done after it. */
TEST(halves_count_as_long_as_they_were_seen)
{
	struct feed *feed = feed_new();
	const struct ts_result *result;
	const struct ts_table *table;
	uint32_t op[NR], line;

	given_module(feed, op);
	line = feed_device(feed, "TPU v5 lite");
	feed_event(feed, line, op[DONE], 0, 7);
	feed_event(feed, line, op[START], 10, 1);
	feed_event(feed, line, op[DONE], 20, 5);
	feed_event(feed, line, op[START], 30, 2);
	result = run(feed);
	table = feed_table(result, "ops");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "occurrences")), 2);
	assert_int_equal(us(feed_cell(table, 0, "interval_ps")), 7 + 15 + 2);
	assert_int_equal(us(feed_cell(table, 0, "exposed_ps")), 7 + 6 + 2);
	assert_int_equal(us(feed_cell(table, 0, "hidden_ps")), 9);
	feed_free(feed);
}

/* Without a schedule what could be moved is unknown. */
TEST(without_a_module_what_could_hide_it_is_unknown)
{
	struct feed *feed = feed_new();
	const struct ts_table *table;
	uint32_t op[NR], line;

	given_module(feed, op);
	feed->profile.modules[0].is_scheduled = false;
	line = feed_device(feed, "TPU v5 lite");
	given_run(feed, op, line, 0, 35);
	table = feed_table(run(feed), "ops");
	assert_int_equal(us(feed_cell(table, 0, "exposed_ps")), 36);
	assert_no_value(feed_cell(table, 0, "coverable_ps"));
	assert_no_value(feed_cell(table, 0, "could_hide"));
	assert_no_value(ts_result_get(feed->result, "coverable_ps"));
	feed_free(feed);
}
