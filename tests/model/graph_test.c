/* SPDX-License-Identifier: MIT */
/*
 * Graphs of what waited for what: programs of several cores are run by a simulation that knows them, with a cause and without it. The
 * graph gets the recorded times alone, and its replay has to say what the simulation does.
 */
#include "tests/test.h"
#include "model/graph.h"

#include "base/arena.h"

#define CORES 6
#define STEPS 5
#define ITEMS 64 /* of a core in a step, at most */

enum item_kind { WORK, COLLECTIVE, SEND, RECV, START, DONE };

struct item {
	enum item_kind kind;
	int64_t ps;    /* of work: its time; of the others: their transfer */
	uint32_t with; /* RECV: the core that sends; DONE: its START, so many items before */
	int64_t start_ps, end_ps;
};

/* Each core runs its items in order; collectives, sends and receives are matched by their number. */
struct program {
	struct item items[CORES][STEPS * ITEMS + 1];
	size_t nr[CORES], nr_step[CORES], nr_cores; /* items, of which so many are a step's */
	uint32_t random, noise;
};

static uint32_t draw_from(uint32_t *random, uint32_t below)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) % below;
}

static uint32_t draw(struct program *program, uint32_t below)
{
	return draw_from(&program->random, below);
}

/* Work takes another time in each step; all else is the same. */
static int64_t work(struct program *program)
{
	int64_t ps = 1000 + draw(program, 100000);

	return ps + ps * draw_from(&program->noise, 30) / 100;
}

static struct item *put(struct program *program, size_t core, enum item_kind kind, int64_t ps)
{
	struct item *item = &program->items[core][program->nr[core]++];

	*item = (struct item){ .kind = kind, .ps = ps };
	return item;
}

/* Work on all cores, each with a time of its own; then something that joins them. */
static void put_stretch(struct program *program)
{
	uint32_t what = draw(program, 4);
	size_t from = draw(program, (uint32_t)program->nr_cores);
	size_t to = (from + 1) % program->nr_cores;

	for (size_t core = 0; core < program->nr_cores; core++) {
		size_t nr = 1 + draw(program, 4);

		if (what == 1)
			put(program, core, START, 0);
		for (size_t i = 0; i < nr; i++)
			put(program, core, WORK, work(program));
		if (what == 1) {
			put(program, core, DONE, 50000 + draw(program, 150000))->with =
				(uint32_t)nr + 1;
		}
		if (what == 0)
			put(program, core, COLLECTIVE, 5000);
	}
	if (what == 2 && from != to) {
		put(program, from, SEND, 0);
		put(program, to, RECV, 7000)->with = (uint32_t)from;
	}
}

static void make(struct program *program, uint32_t seed)
{
	memset(program, 0, sizeof(*program));
	program->noise = seed;
	for (int step = 0; step < STEPS; step++) {
		program->random = seed * 7919 + 1;
		program->nr_cores = 2 + draw(program, CORES - 1);
		for (size_t i = draw(program, 6) + 2; i > 0; i--)
			put_stretch(program);
		for (size_t core = 0; core < program->nr_cores; core++)
			put(program, core, COLLECTIVE, 3000);
	}
	for (size_t core = 0; core < program->nr_cores; core++)
		program->nr_step[core] = program->nr[core] / STEPS;
}

/* The NUMBER-th item of a kind on a core (of receives: from the core WITH); NULL: it has none. */
static struct item *find(struct program *program, size_t core, enum item_kind kind, size_t number,
			 uint32_t with)
{
	for (size_t i = 0; i < program->nr[core]; i++) {
		struct item *item = &program->items[core][i];

		if (item->kind == kind && (kind != RECV || item->with == with) && number-- == 0)
			return item;
	}
	return NULL;
}

static size_t number_of(const struct program *program, size_t core, size_t at)
{
	const struct item *item = &program->items[core][at];
	size_t number = 0;

	for (size_t i = 0; i < at; i++)
		number += program->items[core][i].kind == item->kind &&
			  (item->kind != RECV || program->items[core][i].with == item->with);
	return number;
}

/* When what the item waits for is there; -1: not yet known. .start_ps is known of what was reached. */
static int64_t there(struct program *program, const size_t *at, size_t core)
{
	const struct item *item = &program->items[core][at[core]];
	size_t number = number_of(program, core, at[core]);
	int64_t ps = 0;

	if (item->kind == DONE)
		return item[-(ptrdiff_t)item->with].start_ps;
	if (item->kind == RECV) {
		const struct item *send = find(program, item->with, SEND, number, 0);

		return send - program->items[item->with] <= (ptrdiff_t)at[item->with]
			       ? send->start_ps
			       : -1;
	}
	for (size_t other = 0; item->kind == COLLECTIVE && other < program->nr_cores; other++) {
		const struct item *of = find(program, other, COLLECTIVE, number, 0);

		if (of - program->items[other] > (ptrdiff_t)at[other])
			return -1;
		ps = TS_MAX(ps, of->start_ps);
	}
	return ps;
}

/* Runs the program, item by item, whoever can go on. Gives its length. */
static int64_t simulate(struct program *program)
{
	size_t at[CORES] = { 0 };
	int64_t now_ps[CORES] = { 0 }, length = 0;
	bool moves = true;

	while (moves) {
		moves = false;
		for (size_t core = 0; core < program->nr_cores; core++) {
			struct item *item = &program->items[core][at[core]];
			int64_t ps;

			if (at[core] == program->nr[core])
				continue;
			ps = item->kind == WORK ? 0 : there(program, at, core);
			if (ps < 0)
				continue;
			item->end_ps = item->kind == WORK ? now_ps[core] + item->ps
							  : TS_MAX(now_ps[core], ps + item->ps);
			if (item->kind == START || item->kind == SEND)
				item->end_ps = now_ps[core];
			now_ps[core] = item->end_ps;
			length = TS_MAX(length, item->end_ps);
			item[1].start_ps = now_ps[core]; /* it is reached */
			at[core]++;
			moves = true;
		}
	}
	for (size_t core = 0; core < program->nr_cores; core++)
		assert_int_equal(at[core], program->nr[core]);
	return length;
}

/* A number for each meeting, by what it is of. */
static uint32_t meeting(struct ts_graph *graph, uint32_t *known, size_t at)
{
	if (known[at] == 0)
		known[at] = ts_graph_add_meeting(graph) + 1;
	return known[at] - 1;
}

/* The graph of the recorded times; of the program's own only how long copies take goes in. */
static void record(const struct program *program, struct ts_graph *graph)
{
	static uint32_t known[CORES][3][STEPS * ITEMS];
	struct ts_error err = TS_ERROR_INIT;

	memset(graph, 0, sizeof(*graph));
	memset(known, 0, sizeof(known));
	for (size_t core = 0; core < program->nr_cores; core++) {
		assert_int_equal(ts_graph_add_row(graph, &err), TS_OK);
		for (size_t i = 0; i < program->nr[core]; i++) {
			const struct item *item = &program->items[core][i];
			size_t number = number_of(program, core, i);
			struct ts_graph_node node = {
				TS_GRAPH_MEETS_NOBODY, .start_ps = item->start_ps,
				.end_ps = item->end_ps,
				.what = (uint32_t)(core * ITEMS + i % program->nr_step[core])
			};

			if (item->kind == COLLECTIVE)
				node.joins = node.awaits = meeting(graph, known[0][0], number);
			if (item->kind == SEND)
				node.joins = meeting(graph, known[core][1], number);
			if (item->kind == RECV)
				node.awaits = meeting(graph, known[item->with][1], number);
			if (item->kind == START)
				node.joins = meeting(graph, known[core][2], i);
			if (item->kind == DONE) {
				node.awaits = meeting(graph, known[core][2], i - item->with);
				node.lag_ps = item->ps; /* its bytes are in the profile */
			}
			assert_int_equal(ts_graph_add(graph, &node, &err), TS_OK);
		}
	}
	assert_int_equal(ts_graph_seal(graph, &err), TS_OK);
	assert_int_equal(graph->nr_broken, 0);
}

static void open_replay(struct ts_replay *replay, const struct ts_graph *graph)
{
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_replay_open(replay, graph, &err), TS_OK);
}

TEST(a_replay_of_what_was_recorded_is_what_was_recorded)
{
	static struct program program;

	for (uint32_t seed = 0; seed < 60; seed++) {
		struct ts_graph graph;
		struct ts_replay replay;
		int64_t length;

		make(&program, seed);
		length = simulate(&program);
		record(&program, &graph);
		open_replay(&replay, &graph);
		assert_int_equal(ts_replay_run(&replay), length);
		assert_int_equal(replay.nr_cut, 0);
		assert_int_equal(replay.nr_order, graph.nr_nodes);
		for (size_t i = 0; i < graph.nr_nodes; i++)
			assert_int_equal(replay.end_ps[i], graph.nodes[i].end_ps);
		ts_replay_close(&replay);
		ts_graph_release(&graph);
	}
}

/* One core's work of a stretch of the program, or of all of it, takes PART of its time. */
static size_t change(const struct program *program, uint32_t seed, size_t *core)
{
	*core = seed % program->nr_cores;
	return seed % 3 == 0 ? 1 : 2 + seed % 7; /* every so many items */
}

TEST(a_replay_without_a_cause_is_as_long_as_a_run_without_it)
{
	static struct program program;
	size_t nr = 0, nr_near = 0;

	for (uint32_t seed = 0; seed < 400; seed++) {
		struct ts_graph graph;
		struct ts_replay replay;
		size_t core, every;
		int64_t with, without, gain, told;

		make(&program, seed);
		every = change(&program, seed, &core);
		with = simulate(&program);
		record(&program, &graph);
		open_replay(&replay, &graph);
		for (size_t i = 0; i < program.nr[core]; i += every)
			if (program.items[core][i].kind == WORK) {
				program.items[core][i].ps /= 4;
				replay.own_ps[graph.rows[core].first + i] /= 4;
			}
		without = simulate(&program);
		gain = with - without;
		told = with - ts_replay_run(&replay);
		assert_true(told >= 0);
		if (gain > with / 200) {
			nr++;
			nr_near += llabs(told - gain) <= gain * 15 / 100;
		}
		assert_true(told <= gain + with / 100);
		ts_replay_close(&replay);
		ts_graph_release(&graph);
	}
	assert_true(nr > 100);
	assert_true(nr_near * 10 >= nr * 9);
}

struct walked {
	const struct ts_replay *replay;
	int64_t at_ps, sum_ps;
	size_t nr;
};

static void walk_part(void *ctx, const struct ts_graph_part *part)
{
	struct walked *walked = ctx;

	assert_int_equal(part->end_ps, walked->at_ps);
	assert_true(part->start_ps <= part->end_ps);
	walked->at_ps = part->start_ps;
	walked->sum_ps += part->end_ps - part->start_ps;
	walked->nr++;
}

static void no_slack(void *ctx, const struct ts_graph_part *part)
{
	const int64_t *slack_ps = ctx;

	if (part->node != TS_GRAPH_NONE)
		assert_int_equal(slack_ps[part->node], 0);
}

TEST(the_path_is_as_long_as_the_run_and_has_no_slack)
{
	static struct program program;

	for (uint32_t seed = 0; seed < 60; seed++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_graph graph;
		struct ts_replay replay;
		struct walked walked;
		int64_t length, *slack_ps;

		make(&program, seed);
		simulate(&program);
		record(&program, &graph);
		open_replay(&replay, &graph);
		length = ts_replay_run(&replay);
		walked = (struct walked){ &replay, graph.begin_ps + length, 0, 0 };
		ts_replay_path(&replay, walk_part, &walked);
		assert_int_equal(walked.sum_ps, length);
		assert_int_equal(walked.at_ps, graph.begin_ps);
		slack_ps = calloc(graph.nr_nodes, sizeof(*slack_ps));
		assert_int_equal(ts_replay_slack(&replay, slack_ps, &err), TS_OK);
		ts_replay_path(&replay, no_slack, slack_ps);
		free(slack_ps);
		ts_replay_close(&replay);
		ts_graph_release(&graph);
	}
}

/* A node may take so much longer, and no more. */
TEST(slack_is_what_a_node_may_take_longer)
{
	static struct program program;

	for (uint32_t seed = 0; seed < 20; seed++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_graph graph;
		struct ts_replay replay;
		int64_t length, *slack_ps;

		make(&program, seed);
		simulate(&program);
		record(&program, &graph);
		open_replay(&replay, &graph);
		length = ts_replay_run(&replay);
		slack_ps = calloc(graph.nr_nodes, sizeof(*slack_ps));
		assert_int_equal(ts_replay_slack(&replay, slack_ps, &err), TS_OK);
		for (size_t i = 0; i < graph.nr_nodes; i += 7) {
			if (graph.nodes[i].awaits != TS_GRAPH_NONE)
				continue;
			replay.own_ps[i] += slack_ps[i];
			assert_int_equal(ts_replay_run(&replay), length);
			replay.own_ps[i] += 1;
			assert_int_equal(ts_replay_run(&replay), length + 1);
			replay.own_ps[i] -= slack_ps[i] + 1;
		}
		free(slack_ps);
		ts_replay_close(&replay);
		ts_graph_release(&graph);
	}
}

static void add(struct ts_graph *graph, int64_t start_ps, int64_t end_ps, uint32_t joins,
		uint32_t awaits)
{
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_graph_add(graph,
				      &(struct ts_graph_node){ .start_ps = start_ps,
							       .end_ps = end_ps,
							       .joins = joins,
							       .ends = TS_GRAPH_NONE,
							       .awaits = awaits },
				      &err),
			 TS_OK);
}

TEST(a_clock_that_contradicts_a_meeting_breaks_the_wait)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_graph graph = { .nr_rows = 0 };
	struct ts_replay replay;
	uint32_t m = ts_graph_add_meeting(&graph);

	assert_int_equal(ts_graph_add_row(&graph, &err), TS_OK);
	add(&graph, 0, 10, TS_GRAPH_NONE, TS_GRAPH_NONE);
	add(&graph, 10, 20, m, m);
	assert_int_equal(ts_graph_add_row(&graph, &err), TS_OK);
	add(&graph, 0, 30, TS_GRAPH_NONE, TS_GRAPH_NONE);
	add(&graph, 30, 40, m, m);
	assert_int_equal(ts_graph_seal(&graph, &err), TS_OK);
	assert_int_equal(graph.nr_broken, 1);
	open_replay(&replay, &graph);
	assert_int_equal(ts_replay_run(&replay), 40);
	assert_int_equal(replay.end_ps[1], 20);
	ts_replay_close(&replay);
	ts_graph_release(&graph);
}

/* Each core sends behind what it receives from the other: no run can have been so. */
TEST(a_circle_is_cut_and_counted)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_graph graph = { .nr_rows = 0 };
	struct ts_replay replay;
	uint32_t a = ts_graph_add_meeting(&graph), b = ts_graph_add_meeting(&graph);

	assert_int_equal(ts_graph_add_row(&graph, &err), TS_OK);
	add(&graph, 0, 10, TS_GRAPH_NONE, b);
	add(&graph, 10, 10, a, TS_GRAPH_NONE);
	assert_int_equal(ts_graph_add_row(&graph, &err), TS_OK);
	add(&graph, 0, 10, TS_GRAPH_NONE, a);
	add(&graph, 10, 10, b, TS_GRAPH_NONE);
	assert_int_equal(ts_graph_seal(&graph, &err), TS_OK);
	open_replay(&replay, &graph);
	assert_int_equal(ts_replay_run(&replay), 10);
	assert_int_equal(replay.nr_cut, 1);
	assert_int_equal(replay.nr_order, graph.nr_nodes);
	ts_replay_close(&replay);
	ts_graph_release(&graph);
}
