/* SPDX-License-Identifier: MIT */
/* The critical path of small runs, worked out beside them. Three steps each, of cores that meet at an all-reduce. */
#include "tests/analysis/cores_given.h"

#include "result/schema/critical_path.def"

#define STEPS 3

static void assert_cell_us(struct given *given, const char *table, size_t row, const char *column,
			   int64_t us)
{
	int64_t is = ts_value_int(cell(given, "critical_path", table, row, column));

	if (is != us * US)
		fail_msg("%s.%s[%zu] is %lld, not %lld us", table, column, row, (long long)is,
			 (long long)us);
}

static void assert_part(struct given *given, size_t row, const char *kind, const char *name,
			const char *device, int64_t us)
{
	assert_text(cell(given, "critical_path", "parts", row, "kind"), kind);
	assert_text(cell(given, "critical_path", "parts", row, "name"), name);
	assert_text(cell(given, "critical_path", "parts", row, "device"), device);
	assert_cell_us(given, "parts", row, "path_ps", us);
}

/*
 *	TPU:0  [work 100][all-reduce 210          ]
 *	TPU:1  [work 100][late 200    ][all-reduce]     both leave 10 us after TPU:1 came
 */
static void late_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	if (c == 1)
		run(core, LATE, 200);
	run(core, REDUCE, c == 1 ? 10 : 210);
	end_step(core, 310);
}

TEST(the_path_is_on_the_core_that_comes_last)
{
	struct given *given = given_cores(2, STEPS, late_step);

	analyse(given, 0);
	assert_us(given, "critical_path", "run.total_ps", 930);
	assert_us(given, "critical_path", "run.ops_ps", 900);
	assert_us(given, "critical_path", "run.collectives_ps", 30);
	assert_part(given, 0, "op", "fusion.2", "/device:TPU:1", 600);
	assert_part(given, 1, "op", "fusion.1", "/device:TPU:1", 300);
	for (size_t i = 0; i < STEPS; i++) {
		assert_cell_us(given, "steps", i, "duration_ps", 310);
		assert_cell_us(given, "steps", i, "ops_ps", 300);
		assert_cell_us(given, "steps", i, "collectives_ps", 10);
	}
	done(given);
}

/*
 *	TPU:0  [work 100][late 300      ]([send 0])[all-reduce 110    ]
 *	TPU:1  [work 100][recv-done 320     ][work 80][all-reduce 10  ]
 *	TPU:2  [work 100][all-reduce 410                              ]
 * What TPU:1 receives comes 20 us after late ended, whether the profile has the send or not.
 */
static void run_chain(struct core *core, int c, int64_t recv)
{
	if (c == 1) {
		run(core, recv, 320);
		run(core, WORK, 80);
	}
	run_until(core, REDUCE, 510);
	end_step(core, 510);
}

static void receive_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	if (c == 0)
		run(core, LATE, 300);
	run_chain(core, c, RECV);
}

static void send_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	if (c == 0) {
		run(core, LATE, 300);
		run(core, SEND, 1);
	}
	run_chain(core, c, RECV);
}

static void check_chain(core_step *step)
{
	struct given *given = given_cores(3, STEPS, step);

	analyse(given, 0);
	assert_us(given, "critical_path", "run.total_ps", 1530);
	assert_us(given, "critical_path", "run.ops_ps", 3 * 480);
	assert_us(given, "critical_path", "run.collectives_ps", 3 * 30);
	assert_part(given, 0, "op", "fusion.2", "/device:TPU:0", 900);
	assert_cell_us(given, "steps", 1, "collectives_ps", 30);
	done(given);
}

TEST(a_receive_leads_to_the_core_that_sends)
{
	check_chain(send_step);
	check_chain(receive_step);
}

/*
 * As above, but the module names no channels, and TPU:2 sends somewhere else at the start of each step: it is not what TPU:1 receives.
 */
static void plain_step(struct core *core, int c, int i)
{
	if (c == 2)
		run(core, PLAIN_SEND, 1);
	run(core, WORK, 100);
	if (c == 0)
		run(core, LATE, 300);
	run_chain(core, c, PLAIN_RECV);
}

TEST(a_send_without_a_channel_is_of_no_receive)
{
	struct given *given = given_cores(3, STEPS, plain_step);

	analyse(given, 0);
	assert_us(given, "critical_path", "run.ops_ps", 3 * 480);
	assert_part(given, 0, "op", "fusion.2", "/device:TPU:0", 900);
	done(given);
}

/*
 *	TPU:0  [copy-start 1][work 50][copy-done 149  ]	the copy takes 200 from its start
 *	then a copy that is there when it is asked for: [copy-start 1][work 299][copy-done 0]
 */
static void copy_step(struct core *core, int c, int i)
{
	run(core, START, 1);
	run(core, WORK, i == 2 ? 198 : 50);
	run(core, DONE, i == 2 ? 1 : 149);
	end_step(core, 200);
}

TEST(a_done_that_waits_leads_to_its_start)
{
	struct given *given = given_cores(1, STEPS, copy_step);

	analyse(given, 0);
	assert_us(given, "critical_path", "run.total_ps", 600);
	assert_us(given, "critical_path", "run.transfers_ps", 402);
	assert_us(given, "critical_path", "run.ops_ps", 198);
	done(given);
}

/* Between steps nothing runs for 40 us: the host loads for 30 of them. */
static void gap_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	core->at_us += 40;
	end_step(core, 140);
}

TEST(a_gap_is_what_the_host_did)
{
	struct given *given = given_cores(1, STEPS, gap_step);
	struct xp xp;

	xp = xp_plane(&given->bytes, "/host:CPU");
	xp_name(&xp, 1, "save");
	xp_line(&xp, "main", 0);
	for (int i = 0; i < STEPS; i++)
		given_event(&xp, 1, 140 * i + 102, 36);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "critical_path", "run.total_ps", 380);
	assert_us(given, "critical_path", "run.ops_ps", 300);
	assert_us(given, "critical_path", "run.host_ps", 80);
	assert_part(given, 1, "host", "save", "/device:TPU:0", 80);
	assert_cell_us(given, "steps", 0, "duration_ps", 140);
	assert_cell_us(given, "steps", 0, "host_ps", 40);
	done(given);
}

/* The spans of a step stand in the order of time, without a gap. */
static void span_step(struct core *core, int c, int i)
{
	run(core, WORK, c == 0 ? 50 : 70);
	run(core, REDUCE, c == 0 ? 30 : 10);
	run(core, LATE, c == 0 ? 90 : 40);
	run(core, REDUCE, c == 0 ? 10 : 60);
	end_step(core, 180);
}

TEST(spans_follow_one_another)
{
	struct given *given = given_cores(2, STEPS, span_step);
	struct ts_value list;
	int64_t at_ps;

	analyse(given, 0);
	list = cell(given, "critical_path", "steps", 1, "spans");
	assert_int_equal(list.type, TS_VALUE_LIST);
	at_ps = 180 * US;
	for (size_t i = 0; i < ts_list_length(list); i++) {
		const struct ts_critical_path_span_row *span = TS_ITEM(list, critical_path_span, i);

		assert_int_equal(ts_value_int(span->start_ps), at_ps);
		at_ps += ts_value_int(span->dur_ps);
	}
	assert_int_equal(at_ps, 360 * US);
	assert_text(TS_ITEM(list, critical_path_span, 0)->op, "fusion.1");
	assert_text(TS_ITEM(list, critical_path_span, 0)->row, "/device:TPU:1");
	assert_text(TS_ITEM(list, critical_path_span, 2)->op, "fusion.2");
	assert_text(TS_ITEM(list, critical_path_span, 2)->row, "/device:TPU:0");
	done(given);
}

/*
 * 3,001 steps of 100 ops of 1 us on one core, the last but one with an op that takes 500 us more: more moments than are kept, so every
 * second step is, and the slow one: 1,501 steps of even number stand for two each, the slow one for itself.
 */
enum { MANY_STEPS = 3001, OPS = 100, SLOW = 2999 };

static void many_step(struct core *core, int c, int i)
{
	for (int k = 0; k < OPS; k++)
		run(core, k == 50 ? LATE : WORK, i == SLOW && k == 50 ? 501 : 1);
	end_step(core, i == SLOW ? OPS + 500 : OPS);
}

TEST(of_many_steps_some_stand_for_the_others)
{
	struct given *given = given_cores(1, MANY_STEPS, many_step);

	analyse(given, 0);
	assert_int_equal(nr_rows(given, "critical_path", "steps"), 1502);
	assert_cell_us(given, "steps", 1, "duration_ps", OPS);
	assert_cell_us(given, "steps", 1500, "ops_ps", OPS + 500);
	assert_us(given, "critical_path", "run.total_ps", 1501 * 2 * OPS + OPS + 500);
	assert_part(given, 1, "op", "fusion.2", "/device:TPU:0", 1501 * 2 + 501);
	done(given);
}
