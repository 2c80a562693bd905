/* SPDX-License-Identifier: MIT */
/* Steps without markers: sequences of modules written as letters, and the steps that are in them. */
#include <stdlib.h>

#include "tests/test.h"
#include "model/step_pattern.h"

#define MAX_RUNS 512

/*
 * A letter is a module, what it takes stands in .time (by letter, 10 if 0), and a gap of 1 behind
 * each. REPEAT times the sequence, between HEAD and TAIL.
 */
struct given_run {
	const char *head, *round, *tail;
	int repeat;
	struct {
		const char *name;
		int64_t time;
	} module[4];	     /* A, B, C, D */
	const char *made_of; /* "": no steps */
	size_t nr_steps;
	int64_t first_start, first_end;
};

static const struct given_run runs[] = {
	/* one module */
	{ "", "A", "", 5, { { "jit_f", 10 } }, "jit_f", 5, 0, 11 },
	/* once is not a pattern */
	{ "", "A", "", 1, { { "jit_f", 10 } }, "", 0, 0, 0 },
	/* set-up that ran once each, and a one-off between */
	{ "BC",
	  "A",
	  "D",
	  4,
	  { { "jit_f", 10 }, { "jit_init", 500 }, { "jit_g", 3 }, { "jit_h", 900 } },
	  "jit_f",
	  4,
	  505,
	  516 },
	/* two modules in turn; begun in the middle of a step */
	{ "B",
	  "AB",
	  "",
	  4,
	  { { "jit_grad", 10 }, { "jit_update", 4 } },
	  "jit_grad + jit_update",
	  4,
	  5,
	  21 },
	/* cut in the middle of the last step: it is not a step */
	{ "",
	  "AB",
	  "A",
	  4,
	  { { "jit_grad", 10 }, { "jit_update", 4 } },
	  "jit_grad + jit_update",
	  4,
	  0,
	  16 },
	/* gradients four times, then an update: the step is the period, whatever the capture cut */
	{ "AB",
	  "AAAAB",
	  "AA",
	  3,
	  { { "jit_grad", 10 }, { "jit_update", 4 } },
	  "4 x jit_grad + jit_update",
	  3,
	  16,
	  65 },
	/* the same, and a short module that comes when it likes */
	{ "AAAABCAAAABAAAABAAAABC",
	  "AAAAB",
	  "C",
	  4,
	  { { "jit_grad", 100 }, { "jit_update", 40 }, { "jit_log", 1 } },
	  "4 x jit_grad + jit_update",
	  8,
	  0,
	  447 },
	/* names that say nothing: what repeats is the step */
	{ "", "AAB", "", 4, { { "jit_f", 10 }, { "jit_g", 4 } }, "2 x jit_f + jit_g", 4, 0, 27 },
	/* every fifth step an evaluation: each training is a step, the evaluation part of none */
	{ "",
	  "AAAAAB",
	  "",
	  3,
	  { { "jit_train_step", 10 }, { "jit_eval_step", 9 } },
	  "jit_train_step",
	  15,
	  0,
	  11 },
	/* evaluations when they like */
	{ "AB",
	  "AAAB",
	  "ABAAAAA",
	  2,
	  { { "jit_f", 10 }, { "jit_evaluate", 9 } },
	  "jit_f",
	  13,
	  0,
	  11 },
	/* five steps and arithmetic for a line of the log */
	{ "",
	  "AAAAAB",
	  "",
	  4,
	  { { "jit_train_step", 10 }, { "jit__mean", 1 } },
	  "jit_train_step",
	  20,
	  0,
	  11 },
	{ "", "AAAAAB", "", 4, { { "jit_f", 1000 }, { "jit__mean", 1 } }, "jit_f", 20, 0, 1001 },
	/* two that come as they like, and both take long: nothing is known */
	{ "ABBABAAABBABABBBAAB",
	  "A",
	  "BABBAABABB",
	  1,
	  { { "jit_f", 10 }, { "jit_g", 11 } },
	  "",
	  0,
	  0,
	  0 },
	/* set-up that repeats, but shortly */
	{ "BBBBBBBBBBBBBBBB",
	  "A",
	  "",
	  3,
	  { { "jit_f", 100 }, { "jit_normal", 1 } },
	  "jit_f",
	  3,
	  32,
	  133 },
	/* most of the time went into set-up that repeats: it alone keeps no pattern with the rest */
	{ "BCBBCCBCBCCB",
	  "A",
	  "",
	  3,
	  { { "jit_f", 10 }, { "jit_a", 90 }, { "jit_b", 70 } },
	  "",
	  0,
	  0,
	  0 },
	/* three modules a step, the longest first */
	{ "",
	  "CAB",
	  "",
	  5,
	  { { "jit_fwd", 10 }, { "jit_bwd", 20 }, { "jit_opt", 2 } },
	  "jit_bwd + jit_opt + jit_fwd",
	  4,
	  14,
	  49 },
};

struct sequence {
	struct ts_execution items[MAX_RUNS];
	struct ts_bytes names[4];
	size_t nr, nr_names;
	int64_t at;
};

static void put(struct sequence *sequence, const struct given_run *run, const char *letters)
{
	for (; *letters; letters++) {
		uint32_t symbol = (uint32_t)(*letters - 'A');
		int64_t time = run->module[symbol].time ? run->module[symbol].time : 10;

		assert_true(sequence->nr < MAX_RUNS);
		sequence->items[sequence->nr++] =
			(struct ts_execution){ sequence->at, sequence->at + time, symbol, 0 };
		sequence->at += time + 1;
	}
}

static void make(struct sequence *sequence, const struct given_run *run)
{
	memset(sequence, 0, sizeof(*sequence));
	put(sequence, run, run->head);
	for (int i = 0; i < run->repeat; i++)
		put(sequence, run, run->round);
	put(sequence, run, run->tail);
	for (; sequence->nr_names < 4 && run->module[sequence->nr_names].name; sequence->nr_names++)
		sequence->names[sequence->nr_names] =
			ts_bytes_of(run->module[sequence->nr_names].name);
}

static void check(const struct given_run *run)
{
	struct sequence sequence;
	struct ts_step_pattern pattern;
	struct ts_device_steps steps = { .nr = 0 };
	struct ts_steps all = { .nr_steps = 0 };
	char text[128];

	make(&sequence, run);
	assert_int_equal(ts_step_pattern_find(sequence.items, sequence.nr, sequence.names,
					      sequence.nr_names, &pattern, NULL),
			 TS_OK);
	assert_int_equal(ts_step_pattern_apply(&pattern, sequence.items, sequence.nr,
					       sequence.names, &all, &steps, NULL),
			 TS_OK);
	ts_step_pattern_text(&pattern, sequence.names, text, sizeof(text));
	if (strcmp(text, run->made_of) != 0 || steps.nr != run->nr_steps)
		fail_msg("%s(%s)%s: %zu steps of \"%s\", not %zu of \"%s\"", run->head, run->round,
			 run->tail, steps.nr, text, run->nr_steps, run->made_of);
	if (steps.nr > 0 && (steps.items[0].start_ps != run->first_start ||
			     steps.items[0].end_ps != run->first_end))
		fail_msg("%s(%s)%s: the first step is %lld to %lld", run->head, run->round,
			 run->tail, (long long)steps.items[0].start_ps,
			 (long long)steps.items[0].end_ps);
	ts_device_steps_release(&steps);
	ts_steps_release(&all);
}

TEST(a_step_is_the_smallest_period)
{
	for (size_t i = 0; i < TS_NELEM(runs); i++)
		check(&runs[i]);
}

/* After the last training of a round the step ends where the evaluation begins. */
TEST(an_evaluation_is_part_of_no_step)
{
	static const struct given_run run = {
		"", "AAB", "", 2, { { "jit_train", 10 }, { "jit_eval", 30 } }, "jit_train", 4, 0, 11
	};
	static const int64_t expected[][2] = { { 0, 11 }, { 11, 22 }, { 53, 64 }, { 64, 75 } };
	struct sequence sequence;
	struct ts_step_pattern pattern;
	struct ts_device_steps steps = { .nr = 0 };
	struct ts_steps all = { .nr_steps = 0 };

	make(&sequence, &run);
	assert_int_equal(ts_step_pattern_find(sequence.items, sequence.nr, sequence.names, 2,
					      &pattern, NULL),
			 TS_OK);
	assert_int_equal(ts_step_pattern_apply(&pattern, sequence.items, sequence.nr,
					       sequence.names, &all, &steps, NULL),
			 TS_OK);
	assert_int_equal(steps.nr, TS_NELEM(expected));
	for (size_t i = 0; i < steps.nr; i++) {
		assert_int_equal(steps.items[i].start_ps, expected[i][0]);
		assert_int_equal(steps.items[i].end_ps, expected[i][1]);
	}
	ts_device_steps_release(&steps);
	ts_steps_release(&all);
}

/* Six executions of jit_f, 100 behind one another: a first or last one that takes less than all between runs on outside the
 * capture. Not so where it is shorter by a tenth only, by no more than those between differ (7 to 10 on average), where
 * it is another variant - a last batch of fewer rows - or where only two are between. */
TEST(a_step_that_the_capture_cut_is_not_a_step)
{
	static const struct {
		int64_t length[6];
		uint32_t last_program;
		size_t nr, nr_steps;
		int64_t first_start;
	} rows[] = {
		{ { 3, 10, 10, 10, 10, 4 }, 0, 6, 4, 100 },
		{ { 10, 10, 10, 10, 10, 4 }, 0, 6, 5, 0 },
		{ { 9, 10, 10, 10, 10, 11 }, 0, 6, 6, 0 },
		{ { 6, 7, 10, 13, 10, 5 }, 0, 6, 6, 0 },
		{ { 3, 10, 10, 10, 10, 4 }, 1, 6, 5, 100 },
		{ { 3, 10, 10, 4 }, 0, 4, 4, 0 },
	};
	static const struct ts_bytes name = { (const uint8_t *)"jit_f", 5 };
	const struct ts_step_pattern pattern = { { 0 }, 1 };

	for (size_t r = 0; r < TS_NELEM(rows); r++) {
		struct ts_device_steps steps = { .nr = 0 };
		struct ts_steps all = { .nr_steps = 0 };
		struct ts_execution items[6];

		for (size_t i = 0; i < rows[r].nr; i++) {
			int64_t start = (int64_t)i * 100;

			items[i] = (struct ts_execution){ start, start + rows[r].length[i], 0,
							  i + 1 == rows[r].nr ? rows[r].last_program
									      : 0 };
		}
		assert_int_equal(ts_step_pattern_apply(&pattern, items, rows[r].nr, &name, &all,
						       &steps, NULL),
				 TS_OK);
		assert_int_equal(steps.nr, rows[r].nr_steps);
		assert_int_equal(steps.items[0].start_ps, rows[r].first_start);
		ts_device_steps_release(&steps);
		ts_steps_release(&all);
	}
}

TEST(a_long_list_of_modules_is_cut)
{
	struct ts_step_pattern pattern = { .symbols = { 0, 1, 1, 0 }, .nr = 4 };
	struct ts_bytes names[] = { TS_LIT("jit_forward"), TS_LIT("jit_backward") };
	char text[20];

	ts_step_pattern_text(&pattern, names, text, sizeof(text));
	assert_string_equal(text, "jit_forward + 2 x j");
}
