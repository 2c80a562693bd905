/* SPDX-License-Identifier: MIT */
/* Gaps and the host events that explain them, and steps that take long, by profiles drawn by hand. */
#include "tests/analysis/given.h"

enum { WORK = 1, REDUCE, MARK };

static void ops(struct xp *xp)
{
	xp_op(xp, WORK, "fusion.1", "loop fusion", PROGRAM, 1);
	xp_op(xp, REDUCE, "all-reduce.2", "all-reduce", PROGRAM, 2);
	xp_name(xp, MARK, "step");
}

struct spell {
	const char *name;
	int64_t start_us, dur_us;
};

/* A thread of the host; events in the order of their starts. */
static void thread(struct given *given, const char *name, const struct spell *spells, size_t nr)
{
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");

	for (size_t i = 0; i < nr; i++)
		xp_name(&xp, (int64_t)i + 1, spells[i].name);
	xp_line(&xp, name, 0);
	for (size_t i = 0; i < nr; i++)
		given_event(&xp, (int64_t)i + 1, spells[i].start_us, spells[i].dur_us);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static void assert_cell_us(struct given *given, const char *name, const char *table, size_t row,
			   const char *column, int64_t us)
{
	int64_t is = ts_value_int(cell(given, name, table, row, column));

	if (is != us * US)
		fail_msg("%s.%s[%zu] is %lld, not %lld us", table, column, row, (long long)is,
			 (long long)us);
}

/*
 *	         0    10                 110    130         170   190
 *	ops      work                    work               work
 *	main     [ train ........................................ ]
 *	           [ $load.py:7 read 12-80 ]     [PjitFunction 160-168]
 *	                       [PjitFunction 85-109 [Execute 90-108]]
 *	pool        [Threadpool wait 11-109]
 * The first gap passes in read (it covers 68 of 100 us; train more, but read is inside) and the
 * call begun last before the device runs again ends it; in the second no event but train has half.
 */
TEST(a_gap_is_explained_by_the_innermost_event_and_ended_by_the_last_call)
{
	static const struct spell main_thread[] = { { "train", 0, 200 },
						    { "$load.py:7 read", 12, 68 },
						    { "PjitFunction(f)", 85, 24 },
						    { "PjRtExecutable::Execute", 90, 18 },
						    { "PjitFunction(g)", 160, 8 } };
	static const struct spell pool[] = { { "Threadpool wait", 11, 98 } };
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	ops(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, WORK, 0, 10);
	given_event(&xp, WORK, 110, 20);
	given_event(&xp, WORK, 170, 20);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	thread(given, "main", main_thread, TS_NELEM(main_thread));
	thread(given, "pool", pool, TS_NELEM(pool));
	analyse(given, 0);
	assert_cell_us(given, "time", "idle_gaps", 0, "duration_ps", 100);
	assert_text(cell(given, "time", "idle_gaps", 0, "host_event"), "$load.py:7 read");
	assert_text(cell(given, "time", "idle_gaps", 0, "host_thread"), "main");
	assert_text(cell(given, "time", "idle_gaps", 0, "ended_by"), "PjitFunction(f)");
	assert_text(cell(given, "time", "idle_gaps", 1, "host_event"), "train");
	assert_text(cell(given, "time", "idle_gaps", 1, "ended_by"), "PjitFunction(g)");
	assert_us(given, "gaps", "gap_ps", 140);
	assert_us(given, "gaps", "listed_ps", 140);
	assert_us(given, "gaps", "explained_ps", 140);
	done(given);
}

/* A thread that waits explains a gap only where nothing else does, an event under the gap's cause
 * before a shorter one that is not; two gaps in one event are one row. */
TEST(causes_come_first_and_waiting_last)
{
	static const struct spell loader[] = { { "IteratorGetNext", 10, 60 },
					       { "IteratorGetNext", 90, 30 } };
	static const struct spell other[] = { { "gc", 15, 50 },
					      { "Threadpool wait", 91, 29 },
					      { "Threadpool wait", 141, 8 } };
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	ops(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, WORK, 0, 10);
	given_event(&xp, WORK, 70, 20);
	given_event(&xp, WORK, 120, 20);
	given_event(&xp, WORK, 150, 20);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	thread(given, "loader", loader, TS_NELEM(loader));
	thread(given, "other", other, TS_NELEM(other));
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "gaps", "gaps_by_event"), 2);
	assert_text(cell(given, "gaps", "gaps_by_event", 0, "host_event"), "IteratorGetNext");
	assert_text(cell(given, "gaps", "gaps_by_event", 0, "cause"), "input");
	assert_int_equal(ts_value_int(cell(given, "gaps", "gaps_by_event", 0, "count")), 2);
	assert_cell_us(given, "gaps", "gaps_by_event", 0, "total_ps", 90);
	assert_cell_us(given, "gaps", "gaps_by_event", 0, "longest_ps", 60);
	assert_text(cell(given, "gaps", "gaps_by_event", 1, "host_event"), "Threadpool wait");
	assert_text(cell(given, "gaps", "gaps_by_event", 1, "ended_by"), NULL);
	done(given);
}

TEST(no_host_event_is_unknown_and_no_gap_is_no_row)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	ops(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, WORK, 0, 10);
	given_event(&xp, WORK, 30, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_text(cell(given, "time", "idle_gaps", 0, "host_event"), NULL);
	assert_int_equal(field(given, "gaps", "explained_ps").type, TS_VALUE_NULL);
	assert_int_equal(cell(given, "gaps", "gaps_by_event", 0, "host_event").type, TS_VALUE_NULL);
	done(given);
}

/* Steps of 100 us; those in SLOW have a second, longer op; a core of steps at DEVICE only. */
static void step_line(struct xp *xp, size_t nr, size_t every, int64_t more_us)
{
	int64_t at = 0;

	ops(xp);
	xp_line(xp, "Steps", 0);
	for (size_t i = 0; i < nr; i++) {
		bool slow = every > 0 && i % every == every - 1;
		int64_t dur = 100 + (slow ? more_us : 0);
		size_t event = xp_begin_event(xp, MARK, at * US, dur * US);

		xp_stat_int(xp, XP_EVENT_STATS, "step_num", (int64_t)i);
		ts_pbw_end(xp->out, event);
		at += dur;
	}
	xp_line_end(xp);
	at = 0;
	xp_line(xp, "XLA Ops", 0);
	for (size_t i = 0; i < nr; i++) {
		bool slow = every > 0 && i % every == every - 1;
		int64_t dur = 90 + (slow ? more_us : 0);

		given_event(xp, WORK, at, dur);
		at += dur + 10;
	}
	xp_line_end(xp);
	xp_plane_end(xp);
}

TEST(slow_steps_at_a_beat_have_its_period_and_the_op_that_grew)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	step_line(&xp, 12, 4, 50);
	analyse(given, 0);
	assert_us(given, "time", "steps_median_ps", 100);
	assert_us(given, "time", "steps_mad_ps", 0);
	assert_int_equal(ts_value_int(field(given, "time", "steps_slow_count")), 3);
	assert_int_equal(ts_value_int(field(given, "time", "steps_slow_period")), 4);
	assert_int_equal(nr_rows(given, "time", "steps_outliers"), 3);
	for (size_t i = 0; i < 3; i++) {
		int64_t step = 3 + 4 * (int64_t)i;

		assert_int_equal(ts_value_int(cell(given, "time", "steps_outliers", i, "step")),
				 step);
		assert_cell_us(given, "time", "steps_outliers", i, "excess_ps", 50);
		assert_cell_us(given, "time", "steps_outliers", i, "below_roofline_excess_ps", 50);
		assert_text(cell(given, "time", "steps_outliers", i, "cause"), "below_roofline");
		assert_text(cell(given, "time", "steps_outliers", i, "op"), "fusion.1");
		/* 140 us, in the other eleven steps 9 x 90 + 2 x 140 */
		assert_int_equal(
			ts_value_int(cell(given, "time", "steps_outliers", i, "op_excess_ps")),
			140 * US - 1090 * US / 11);
	}
	done(given);
}

TEST(equal_steps_have_no_outlier)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	step_line(&xp, 12, 4, 20); /* not over 20 % */
	analyse(given, 0);
	assert_int_equal(ts_value_int(field(given, "time", "steps_slow_count")), 0);
	assert_int_equal(nr_rows(given, "time", "steps_outliers"), 0);
	assert_int_equal(field(given, "time", "steps_slow_period").type, TS_VALUE_NULL);
	done(given);
}

/*
 * Two cores, five steps of 100 us: 60 of work, 40 of all-reduce. In step 2 core 1 works 160 us, and core
 * 0 waits for it: over both cores the collective grew as much as the work did.
 */
TEST(a_late_core_is_the_cause_and_not_the_waiting_of_the_others)
{
	struct given *given = given_nothing();

	for (int d = 0; d < 2; d++) {
		struct xp xp = given_core(given, d ? "/device:TPU:1" : "/device:TPU:0");
		int64_t at = 0;

		ops(&xp);
		xp_line(&xp, "Steps", 0);
		for (int64_t i = 0; i < 5; i++) {
			given_event(&xp, MARK, at, i == 2 ? 210 : 100);
			at += i == 2 ? 210 : 100;
		}
		xp_line_end(&xp);
		at = 0;
		xp_line(&xp, "XLA Ops", 0);
		for (int64_t i = 0; i < 5; i++) {
			int64_t work = i == 2 && d == 1 ? 160 : 60;
			int64_t all = i == 2 ? 210 : 100;

			given_event(&xp, WORK, at, work);
			given_event(&xp, REDUCE, at + work, all - work);
			at += all;
		}
		xp_line_end(&xp);
		xp_plane_end(&xp);
	}
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "time", "steps_outliers"), 1);
	assert_cell_us(given, "time", "steps_outliers", 0, "excess_ps", 110);
	assert_cell_us(given, "time", "steps_outliers", 0, "communication_excess_ps", 120);
	assert_cell_us(given, "time", "steps_outliers", 0, "below_roofline_excess_ps", 100);
	assert_text(cell(given, "time", "steps_outliers", 0, "cause"), "below_roofline");
	assert_text(cell(given, "time", "steps_outliers", 0, "device"), "/device:TPU:1");
	assert_true(cell(given, "time", "steps_outliers", 0, "is_straggler").as.b);
	assert_text(cell(given, "time", "steps_outliers", 0, "op"), "fusion.1");
	assert_cell_us(given, "time", "steps_outliers", 0, "op_excess_ps", 100);
	done(given);
}

/* Step 3 has a gap of 80 us more, in which the host saves a checkpoint. */
TEST(a_step_with_a_gap_has_the_words_of_the_host)
{
	static const struct spell saver[] = { { "save_checkpoint", 391, 80 } };
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	int64_t at = 0;

	ops(&xp);
	xp_line(&xp, "Steps", 0);
	for (int64_t i = 0; i < 6; i++) {
		given_event(&xp, MARK, at, i == 3 ? 180 : 100);
		at += i == 3 ? 180 : 100;
	}
	xp_line_end(&xp);
	at = 0;
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 6; i++) {
		given_event(&xp, WORK, at, 90);
		at += i == 3 ? 180 : 100;
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
	thread(given, "main", saver, 1);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "time", "steps_outliers"), 1);
	assert_int_equal(ts_value_int(cell(given, "time", "steps_outliers", 0, "step")), 3);
	assert_text(cell(given, "time", "steps_outliers", 0, "cause"), "idle");
	assert_cell_us(given, "time", "steps_outliers", 0, "cause_excess_ps", 80);
	assert_cell_us(given, "time", "steps_outliers", 0, "gap_ps", 90);
	assert_text(cell(given, "time", "steps_outliers", 0, "host_event"), "save_checkpoint");
	assert_int_equal(cell(given, "time", "steps_outliers", 0, "op").type, TS_VALUE_NULL);
	done(given);
}
