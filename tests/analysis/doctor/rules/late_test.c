/* SPDX-License-Identifier: MIT */
/*
 * Who is to blame for waiting, and what the run would gain: small runs, each worked out beside the test. The gain is the
 * difference of the length to the same run without the cause.
 */
#include "tests/analysis/cores_given.h"

#define STEPS 12

static void assert_said(struct ts_bytes text, const char *what)
{
	if (!ts_bytes_has(text, what))
		fail_msg("\"%.*s\" does not say \"%s\"", TS_ARG(text), what);
}

static const struct ts_finding *assert_gain(struct given *given, const char *rule, int64_t us)
{
	const struct ts_finding *finding = finding_by(given, rule);

	if (!finding)
		fail_msg("no finding %s", rule);
	if (finding->gain_ps != us * US)
		fail_msg("%s gives %lld ps, not %lld us", rule, (long long)finding->gain_ps,
			 (long long)us);
	return finding;
}

/*
 *	TPU:0  [work 100][all-reduce 210          ]
 *	TPU:1  [work 100][late 200    ][all-reduce]	without late each step is 110
 */
static void late_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	if (c == 1)
		run(core, LATE, 200);
	run_until(core, REDUCE, 310);
	end_step(core, 310);
}

TEST(a_late_core_gives_all_of_its_lateness)
{
	struct given *given = given_cores(2, STEPS, late_step);
	const struct ts_finding *finding;

	analyse(given, 0);
	finding = assert_gain(given, "straggler", STEPS * 200);
	assert_said(finding->title, "/device:TPU:1 is a straggler: it alone runs fusion.2");
	assert_int_equal(finding->gain_alone_ps, finding->gain_ps);
	assert_int_equal(finding->gain_low_ps, finding->gain_ps);
	assert_false(finding->is_headroom);
	assert_string_equal(finding->root.kind, "core");
	assert_int_equal(finding->root.nr_chain, 1);
	assert_said(finding->root.chain[0], "1 core waits for /device:TPU:1 in all-reduce.4");
	assert_null(finding_by(given, "uneven_op"));
	assert_null(finding_by(given, "exposed_collectives"));
	done(given);
}

/*
 *	TPU:0  [work 100][late 300      ][all-reduce 110      ]
 *	TPU:1  [work 100][recv-done 320     ][work 80][all-reduce 10]
 *	TPU:2  [work 100][all-reduce 410                      ]
 * Who sends follows from the times alone, so all that TPU:1 waits for is inferred. Without late the step is 100 + 20 + 80 + 10.
 */
static void chain_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	if (c == 0)
		run(core, LATE, 300);
	if (c == 1) {
		run(core, RECV, 320);
		run(core, WORK, 80);
	}
	run_until(core, REDUCE, 510);
	end_step(core, 510);
}

TEST(a_chain_begins_with_the_core_that_sends)
{
	struct given *given = given_cores(3, STEPS, chain_step);
	const struct ts_finding *finding;

	analyse(given, 0);
	finding = assert_gain(given, "straggler", STEPS * 300);
	assert_said(finding->title, "/device:TPU:0 is a straggler");
	assert_int_equal(finding->root.nr_chain, 2);
	assert_said(finding->root.chain[0], "/device:TPU:1 waits for /device:TPU:0 in recv-done.3");
	assert_said(finding->root.chain[1], "2 cores wait for /device:TPU:1 in all-reduce.4");
	assert_true(finding->gain_low_ps < finding->gain_ps);
	assert_int_equal(finding->gain_high_ps, finding->gain_ps);
	done(given);
}

/*
 * Cores meet in pairs, as the op's text says, and then all of them:
 *	TPU:0, TPU:1  [work 100][all-reduce.5 10][all-reduce.4 220            ]
 *	TPU:2         [work 100][late 200       ][all-reduce.5 10][all-reduce.4 10]
 *	TPU:3         [work 100][all-reduce.5 210                ][all-reduce.4 10]
 */
static void pairs_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	if (c == 2)
		run(core, LATE, 200);
	run_until(core, PAIRS, c < 2 ? 110 : 310);
	run_until(core, REDUCE, 320 + i);
	end_step(core, 320 + i);
}

TEST(those_of_its_group_wait_first)
{
	struct given *given = given_cores(4, STEPS, pairs_step);
	const struct ts_finding *finding;

	analyse(given, 0);
	finding = finding_by(given, "straggler");
	assert_non_null(finding);
	assert_int_equal(finding->root.nr_chain, 1);
	assert_said(finding->root.chain[0], "1 core waits for /device:TPU:2 in all-reduce.5");
	done(given);
}

/* Each of two cores is late in every second step, by 150 us. */
static void turns_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	run(core, LATE, i % 2 == c ? 200 : 50);
	run_until(core, REDUCE, 310);
	end_step(core, 310);
}

TEST(nobody_is_to_blame_for_an_op_that_is_long_in_turns)
{
	struct given *given = given_cores(2, STEPS, turns_step);
	const struct ts_finding *finding;

	analyse(given, 0);
	finding = assert_gain(given, "uneven_op", STEPS * 150);
	assert_said(finding->title, "fusion.2 takes longer on one core now and on another then");
	assert_null(finding_by(given, "straggler"));
	done(given);
}

/* Two cores that meet nowhere, one of which runs more: no core waits for it. */
static void apart_step(struct core *core, int c, int i)
{
	run(core, WORK, 100);
	run(core, LATE, c == 1 ? 200 : 20);
	end_step(core, c == 1 ? 300 : 120);
}

TEST(a_core_that_nobody_waits_for_is_not_late)
{
	struct given *given = given_cores(2, STEPS, apart_step);

	analyse(given, 0);
	assert_null(finding_by(given, "straggler"));
	assert_null(finding_by(given, "uneven_op"));
	done(given);
}

/*
 * Four stages, four microbatches of 100 us; a stage is done with one and the next one has it. The last one begins 300 us after the first, so
 * each of the 12 steps is 700 and a collective of 10 long, and 400 and 10 without waiting. The bubble is 3 of 7.
 */
static void stage_step(struct core *core, int c, int i)
{
	run(core, RECV, c * 100);
	for (int k = 0; k < 4; k++)
		run(core, WORK, 100);
	run_until(core, REDUCE, 710);
	end_step(core, 710);
}

TEST(a_pipeline_of_stages_has_a_bubble)
{
	struct given *given = given_cores(4, STEPS, stage_step);
	const struct ts_finding *finding;

	analyse(given, 0);
	finding = assert_gain(given, "pipeline_bubble", STEPS * 300);
	assert_said(finding->title, "pipeline of 4 stages takes 43 %");
	assert_said(finding->evidence, "there are 4 microbatches");
	assert_null(finding_by(given, "straggler"));
	done(given);
}

/* The same, but the third core receives as early as the second: no stages follow one another. */
static void together_step(struct core *core, int c, int i)
{
	run(core, RECV, c == 0 ? 0 : 100);
	for (int k = 0; k < 4; k++)
		run(core, WORK, 100);
	run_until(core, REDUCE, 510);
	end_step(core, 510);
}

TEST(cores_that_begin_together_are_no_stages)
{
	struct given *given = given_cores(4, STEPS, together_step);

	analyse(given, 0);
	assert_null(finding_by(given, "pipeline_bubble"));
	done(given);
}

/*
 * One core; step 5 takes 400 us instead of 200, as work takes 300 there: slower than a step of its own, by 200. And fusion.2, of 100 us in
 * each step.
 */
static void slow_step(struct core *core, int c, int i)
{
	run(core, WORK, i == 5 ? 300 : 100);
	run(core, LATE, 100);
	end_step(core, i == 5 ? 400 : 200);
}

TEST(a_slow_step_gives_what_it_takes_longer_than_others)
{
	struct given *given = given_cores(1, STEPS, slow_step);
	const struct ts_finding *finding;

	analyse(given, 0);
	finding = assert_gain(given, "slow_steps", 200);
	assert_false(finding->is_headroom);
	done(given);
}

/*
 * One core without steps: 40,000 times 1 us of work and 1 us of nothing. The replay takes the first 2^15 of them, whose 32,767 gaps
 * stand for 39,999.
 */
static void unmarked_step(struct core *core, int c, int i)
{
	run(core, WORK, 1);
	core->at_us++;
}

TEST(of_a_run_without_steps_the_beginning_stands_for_all)
{
	enum { MANY = 40000 };
	struct given *given = given_cores(1, MANY, unmarked_step);
	const struct ts_finding *finding;

	analyse(given, 0);
	finding = finding_by(given, "idle");
	assert_non_null(finding);
	assert_in_range(finding->gain_ps / US, MANY - 10, MANY);
	done(given);
}
