/* SPDX-License-Identifier: MIT */
/* The walk over a schedule, and trips of loops: modules made here, times worked out by hand. */
#include "tests/test.h"
#include "model/schedule.h"
#include "model/trips.h"
#include "read/hlo.h"
#include "tests/read/hlo_make.h"

#define VEC   "f32[8,128]{1,0:T(8,128)}"
#define COPY  "(" VEC ", " VEC ", u32[])"
#define NUM   "s32[]"
#define STATE "(" NUM ", " VEC ")"
#define ISSUE TS_SCHEDULE_ISSUE_PS

struct given {
	struct make make;
	struct ts_arena arena;
	struct ts_hlo_module module;
	struct ts_schedule_op *ops;
	struct ts_schedule_sum *sums;
	struct ts_schedule walk;
};

static void given_module(struct given *given, int64_t entry)
{
	struct ts_error err = TS_ERROR_INIT;

	if (ts_hlo_read(&given->arena, make_end(&given->make, entry), TS_LIT("a.pb"),
			&given->module, &err))
		fail_msg("%s", err.text);
	given->ops = calloc(given->module.nr_instrs + 1, sizeof(*given->ops));
	given->sums = calloc(given->module.nr_instrs + 1, sizeof(*given->sums));
	assert_true(given->ops && given->sums);
	for (uint32_t i = 0; i < given->module.nr_instrs; i++) {
		given->ops[i].start = ts_hlo_start_of(&given->module, i);
		given->ops[i].is_start = ts_hlo_is_start(&given->module.instrs[i]);
		if (given->module.instrs[i].opcode == TS_OPCODE_WHILE)
			given->ops[i].trips = ts_hlo_trips(&given->module, i);
	}
}

static uint32_t op(const struct given *given, const char *name)
{
	uint32_t found = ts_hlo_find(&given->module, ts_bytes_of(name));

	assert_true(found != UINT32_MAX);
	return found;
}

static void takes(struct given *given, const char *name, enum ts_lane lane, int64_t ps)
{
	struct ts_schedule_op *to = &given->ops[op(given, name)];

	to->lane = lane;
	for (int i = 0; i < TS_NR_CASES; i++)
		to->ps[i] = ps;
}

static void walk(struct given *given)
{
	given->walk = (struct ts_schedule){ .module = &given->module,
					    .ops = given->ops,
					    .sums = given->sums,
					    .with_events = true };
	assert_int_equal(ts_schedule_walk(&given->walk, NULL), TS_OK);
}

static void done(struct given *given)
{
	ts_schedule_release(&given->walk);
	free(given->ops);
	free(given->sums);
	ts_arena_release(&given->arena);
	ts_buf_release(&given->make.out);
}

static void assert_event(const struct ts_schedule_events *events, size_t at, uint32_t instr,
			 int64_t start_ps, int64_t dur_ps)
{
	assert_true(at < events->nr);
	assert_int_equal(events->items[at].instr, instr);
	assert_int_equal(events->items[at].start_ps, start_ps);
	assert_int_equal(events->items[at].dur_ps, dur_ps);
}

/*
 * Two products of 200 ns, and a copy of 300 ns that begins before the first and is needed by the second:
 *
 *	core	start 0-5	first 5-205	done 205-300	second 300-500
 *	DMA	copy 0-300
 */
TEST(a_copy_hides_behind_what_runs_meanwhile)
{
	struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };
	size_t comp = make_comp(&given.make, "main");

	make_param(&given.make, 0, VEC, 1);
	make_op(&given.make, "fetch", "copy-start", COPY, 2, 1, (int64_t[]){ 1 });
	make_op(&given.make, "first", "dot", VEC, 3, 2, (int64_t[]){ 1, 1 });
	make_op(&given.make, "fetched", "copy-done", VEC, 4, 1, (int64_t[]){ 2 });
	make_op(&given.make, "second", "dot", VEC, 5, 2, (int64_t[]){ 3, 4 });
	make_end_comp(&given.make, comp, 1, 5);
	given_module(&given, 1);
	takes(&given, "fetch", TS_LANE_DMA, 300000);
	takes(&given, "first", TS_LANE_CORE, 200000);
	takes(&given, "second", TS_LANE_CORE, 200000);
	walk(&given);
	assert_int_equal(given.walk.end_ps, 500000);
	assert_int_equal(given.walk.core_ps, 400000 + ISSUE);
	assert_int_equal(given.walk.lane_ps[TS_LANE_DMA], 300000);
	assert_int_equal(given.walk.exposed_ps[TS_LANE_DMA], 95000);
	assert_int_equal(given.walk.core.nr, 4);
	assert_event(&given.walk.core, 0, op(&given, "fetch"), 0, ISSUE);
	assert_event(&given.walk.core, 1, op(&given, "first"), ISSUE, 200000);
	assert_event(&given.walk.core, 2, op(&given, "fetched"), 205000, 95000);
	assert_event(&given.walk.core, 3, op(&given, "second"), 300000, 200000);
	assert_int_equal(given.walk.beside.nr, 1);
	assert_event(&given.walk.beside, 0, op(&given, "fetch"), 0, 300000);
	done(&given);
}

/* Both of 100 ns on one lane: the second begins when the first has ended; on two lanes at once. */
TEST(transfers_of_a_lane_take_turns)
{
	for (int two = 0; two < 2; two++) {
		struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };
		size_t comp = make_comp(&given.make, "main");

		make_param(&given.make, 0, VEC, 1);
		make_op(&given.make, "a", "copy-start", COPY, 2, 1, (int64_t[]){ 1 });
		make_op(&given.make, "b", "copy-start", COPY, 3, 1, (int64_t[]){ 1 });
		make_op(&given.make, "a2", "copy-done", VEC, 4, 1, (int64_t[]){ 2 });
		make_op(&given.make, "b2", "copy-done", VEC, 5, 1, (int64_t[]){ 3 });
		make_end_comp(&given.make, comp, 1, 5);
		given_module(&given, 1);
		takes(&given, "a", TS_LANE_DMA, 100000);
		takes(&given, "b", two ? TS_LANE_FROM_HOST : TS_LANE_DMA, 100000);
		walk(&given);
		assert_int_equal(given.walk.end_ps, two ? 100000 + ISSUE : 200000);
		done(&given);
	}
}

TEST(a_collective_that_is_one_op_is_waited_for)
{
	struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };
	size_t comp = make_comp(&given.make, "main");

	make_param(&given.make, 0, VEC, 1);
	make_op(&given.make, "sum", "all-reduce", VEC, 2, 1, (int64_t[]){ 1 });
	make_end_comp(&given.make, comp, 1, 2);
	given_module(&given, 1);
	takes(&given, "sum", TS_LANE_ICI, 70000);
	walk(&given);
	assert_int_equal(given.walk.end_ps, 70000);
	assert_int_equal(given.walk.exposed_ps[TS_LANE_ICI], 70000);
	assert_int_equal(given.walk.core_ps, 0);
	done(&given);
}

static void make_constant(struct make *make, const char *name, int64_t id, int64_t value)
{
	size_t literal;

	make_begin_op(make, name, "constant", NUM, id, 0, NULL);
	literal = ts_pbw_begin(&make->out, 8);
	ts_pbw_i64(&make->out, 4, value);
	ts_pbw_end(&make->out, literal);
	make_end_op(make);
}

static void make_part(struct make *make, const char *name, const char *shape, int64_t id,
		      int64_t tuple, int64_t part)
{
	make_begin_op(make, name, "get-tuple-element", shape, id, 1, &tuple);
	ts_pbw_i64(&make->out, 13, part);
	make_end_op(make);
}

/* for (i = FROM; i < BOUND; i += STEP) x = work(x); the compare says DIRECTION. */
static void make_loop(struct make *make, int64_t from, int64_t bound, int64_t step,
		      const char *direction)
{
	const int64_t called[] = { 2, 3 };
	size_t comp = make_comp(make, "body");

	make_param(make, 0, STATE, 20);
	make_part(make, "i", NUM, 21, 20, 0);
	make_part(make, "x", VEC, 22, 20, 1);
	make_constant(make, "step", 23, step);
	make_op(make, "next", "add", NUM, 24, 2, (int64_t[]){ 21, 23 });
	make_op(make, "work", "negate", VEC, 25, 1, (int64_t[]){ 22 });
	make_op(make, "out", "tuple", STATE, 26, 2, (int64_t[]){ 24, 25 });
	make_end_comp(make, comp, 2, 26);
	comp = make_comp(make, "condition");
	make_param(make, 0, STATE, 30);
	make_part(make, "i.2", NUM, 31, 30, 0);
	make_constant(make, "bound", 32, bound);
	make_begin_op(make, "below", "compare", "pred[]", 33, 2, (int64_t[]){ 31, 32 });
	ts_pbw_text(&make->out, 63, ts_bytes_of(direction));
	make_end_op(make);
	make_end_comp(make, comp, 3, 33);
	comp = make_comp(make, "main");
	make_param(make, 0, VEC, 40);
	make_constant(make, "from", 41, from);
	make_op(make, "in", "tuple", STATE, 42, 2, (int64_t[]){ 41, 40 });
	make_begin_op(make, "loop", "while", STATE, 43, 1, (int64_t[]){ 42 });
	make_numbers(make, 38, called, 2);
	make_end_op(make);
	make_end_comp(make, comp, 1, 43);
}

TEST(trips_follow_from_the_condition)
{
	static const struct {
		int64_t from, bound, step;
		const char *direction;
		int64_t trips;
	} rows[] = {
		{ 0, 8, 1, "LT", 8 },
		{ 0, 8, 1, "LE", 9 },
		{ 3, 10, 2, "LT", 4 },
		{ 10, 3, 1, "LT", 0 },
		{ -4, 4, 3, "LT", 3 },
		{ 0, 8, 0, "LT", TS_HLO_UNKNOWN },
		{ 0, 8, -1, "LT", TS_HLO_UNKNOWN },
		{ 0, 8, 1, "NE", TS_HLO_UNKNOWN },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };

		make_loop(&given.make, rows[i].from, rows[i].bound, rows[i].step,
			  rows[i].direction);
		given_module(&given, 1);
		if (ts_hlo_trips(&given.module, op(&given, "loop")) != rows[i].trips)
			fail_msg("row %zu: %lld", i,
				 (long long)ts_hlo_trips(&given.module, op(&given, "loop")));
		done(&given);
	}
}

TEST(a_loop_holds_its_trips)
{
	struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };

	make_loop(&given.make, 0, 3, 1, "LT");
	given_module(&given, 1);
	takes(&given, "work", TS_LANE_CORE, 100);
	takes(&given, "below", TS_LANE_CORE, 10);
	walk(&given);
	assert_int_equal(given.walk.end_ps, 330);
	assert_int_equal(given.sums[op(&given, "work")].runs, 3);
	assert_int_equal(given.walk.core.nr, 7);
	assert_event(&given.walk.core, 0, op(&given, "loop"), 0, 330);
	assert_event(&given.walk.core, 1, op(&given, "below"), 0, 10);
	assert_event(&given.walk.core, 2, op(&given, "work"), 10, 100);
	assert_int_equal(given.walk.left_out_trips, 0);
	done(&given);
}

/* A billion trips: events of those that were walked, sums of all. */
TEST(a_long_loop_is_bounded)
{
	struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };
	const int64_t trips = 1000000000;

	make_loop(&given.make, 0, trips, 1, "LT");
	given_module(&given, 1);
	takes(&given, "work", TS_LANE_CORE, 100);
	walk(&given);
	assert_int_equal(given.walk.end_ps, trips * 100);
	assert_int_equal(given.walk.core_ps, trips * 100);
	assert_int_equal(given.sums[op(&given, "work")].runs, trips);
	assert_int_equal(given.sums[op(&given, "work")].core_ps, trips * 100);
	assert_true(given.walk.core.nr < 2 * TS_SCHEDULE_OPS);
	assert_int_equal(given.walk.left_out_trips + (int64_t)given.walk.core.nr - 1, trips);
	assert_int_equal(given.walk.left_out_ps, given.walk.left_out_trips * 100);
	done(&given);
}

/* Times near the end of what a number holds saturate. */
TEST(times_do_not_overflow)
{
	struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };

	make_loop(&given.make, 0, INT64_MAX, 1, "LT");
	given_module(&given, 1);
	takes(&given, "work", TS_LANE_CORE, INT64_MAX / 2);
	walk(&given);
	assert_int_equal(given.walk.end_ps, INT64_MAX);
	assert_int_equal(given.walk.core_ps, INT64_MAX);
	done(&given);
}

TEST(the_dearest_branch_is_taken)
{
	struct given given = { .make = MAKE_INIT, .arena = TS_ARENA_INIT };
	const int64_t called[] = { 2, 3 };
	size_t comp;

	for (int i = 0; i < 2; i++) {
		comp = make_comp(&given.make, i ? "yes" : "no");
		make_param(&given.make, 0, VEC, 20 + 10 * i);
		make_op(&given.make, i ? "dear" : "cheap", "negate", VEC, 21 + 10 * i, 1,
			(int64_t[]){ 20 + 10 * i });
		make_end_comp(&given.make, comp, 2 + i, 21 + 10 * i);
	}
	comp = make_comp(&given.make, "main");
	make_param(&given.make, 0, "pred[]", 40);
	make_param(&given.make, 1, VEC, 41);
	make_begin_op(&given.make, "either", "conditional", VEC, 42, 3, (int64_t[]){ 40, 41, 41 });
	make_numbers(&given.make, 38, called, 2);
	make_end_op(&given.make);
	make_end_comp(&given.make, comp, 1, 42);
	given_module(&given, 1);
	takes(&given, "dear", TS_LANE_CORE, 300);
	takes(&given, "cheap", TS_LANE_CORE, 20);
	walk(&given);
	assert_int_equal(given.walk.end_ps, 300);
	assert_int_equal(given.sums[op(&given, "dear")].runs, 1);
	assert_int_equal(given.sums[op(&given, "cheap")].runs, 0);
	done(&given);
}
