/* SPDX-License-Identifier: MIT */
/* What is usual for a node of the run: how long the same takes on other cores, or in other steps. */
#include "analysis/doctor/replay.h"

#include "base/check.h"
#include "base/order.h"

/* A node and what it is compared by. */
struct like {
	uint64_t key;
	int64_t own_ps;
	uint32_t node;
};

TS_ORDER(replay_usual_by_key, struct like, TS_UP(key) TS_UP(own_ps) TS_UP(node))

/* Executions of each op in the step at hand, on the row at hand. */
struct count {
	uint32_t row, step, nr;
};

static uint32_t replay_usual_number(struct count *counts, uint32_t op, uint32_t row, uint32_t step)
{
	struct count *count = &counts[op];

	if (count->row != row || count->step != step)
		*count = (struct count){ row, step, 0 };
	return count->nr++;
}

struct like_key {
	uint64_t op, kind, number, row, step;
};

static uint64_t replay_usual_hash(const struct like_key *key)
{
	return ts_hash((struct ts_bytes){ (const uint8_t *)key, sizeof(*key) }, 0);
}

static bool replay_usual_asks(const struct ts_run_replay *run, uint32_t node)
{
	uint8_t kind = run->path.graph.nodes[node].kind;

	return (kind == TS_PATH_OP || kind == TS_PATH_GAP) && run->path.step[node] != TS_NONE;
}

/* All that does not await anything: ops, and gaps of cores. */
static size_t replay_usual_list(const struct ts_run_replay *run, enum ts_level level,
				struct count *counts, struct like *likes)
{
	const struct ts_graph *graph = &run->path.graph;
	size_t nr = 0;

	for (uint32_t i = 0; i < graph->nr_nodes; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];
		struct like_key key = { .kind = node->kind };
		uint32_t step = run->path.step[i];

		if (!replay_usual_asks(run, i))
			continue;
		key.op = node->kind == TS_PATH_OP ? node->what : ts_path_op_behind(&run->path, i);
		if (node->kind == TS_PATH_OP) /* the gap before it has its number, too */
			key.number = replay_usual_number(counts, (uint32_t)key.op, node->row, step);
		else if (counts[key.op].row == node->row && counts[key.op].step == step)
			key.number = counts[key.op].nr;
		if (node->awaits != TS_GRAPH_NONE || ts_graph_is_first(graph, i))
			continue;
		key.row = level == TS_LEVEL_STEPS ? node->row : 0;
		key.step = level == TS_LEVEL_STEPS ? 0 : step;
		likes[nr++] = (struct like){ replay_usual_hash(&key), run->replay.own_ps[i], i };
	}
	return nr;
}

/* The AT-th of the others' times, which are in order behind as many zeros as there are others without such a node. */
static int64_t replay_usual_at(const struct like *likes, size_t zeros, size_t self, size_t at)
{
	if (at < zeros)
		return 0;
	at -= zeros;
	return likes[at < self ? at : at + 1].own_ps;
}

static void replay_usual_mean(const struct like *likes, size_t nr, size_t nr_all, int64_t *usual_ps)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < nr; i++)
		sum_ps = ts_i64_add(sum_ps, likes[i].own_ps);
	for (size_t i = 0; i < nr; i++)
		usual_ps[likes[i].node] = sum_ps / (int64_t)TS_MAX(nr, nr_all);
}

static void replay_usual_fill(const struct like *likes, size_t nr, size_t nr_all, int64_t *usual_ps)
{
	size_t zeros = nr_all > nr ? nr_all - nr : 0, others = zeros + nr - 1;

	if (others == 0)
		return;
	for (size_t i = 0; i < nr; i++)
		usual_ps[likes[i].node] = (replay_usual_at(likes, zeros, i, (others - 1) / 2) +
					   replay_usual_at(likes, zeros, i, others / 2)) /
					  2;
}

/* On how many rows each program runs, by the hash of its id. */
struct programs {
	struct ts_map at;
	uint32_t *rows, *last; /* last: the row that counted it last */
	size_t nr, cap, cap_last, nr_gpus;
};

static uint64_t replay_usual_program(const struct ts_run_replay *run, uint32_t op)
{
	const struct ts_op *of = &run->path.ctx->profile->ops[op];

	return of->has_program ? of->program_id : 0;
}

static bool replay_usual_count_row(struct programs *programs, uint64_t program, uint32_t row)
{
	uint32_t at = ts_map_find(&programs->at, program);

	if (at == TS_NONE) {
		at = (uint32_t)programs->nr;
		if (!ts_grow(&programs->rows, &programs->cap, programs->nr + 1,
			     sizeof(*programs->rows)) ||
		    !ts_grow(&programs->last, &programs->cap_last, programs->nr + 1,
			     sizeof(*programs->last)) ||
		    !ts_map_set(&programs->at, program, at))
			return false;
		programs->rows[at] = 0;
		programs->last[programs->nr++] = TS_NONE;
	}
	programs->rows[at] += programs->last[at] != row;
	programs->last[at] = row;
	return true;
}

static bool replay_usual_count(const struct ts_run_replay *run, struct programs *programs)
{
	const struct ts_graph *graph = &run->path.graph;
	bool good = true;

	for (uint32_t i = 0; good && i < graph->nr_nodes; i++)
		if (graph->nodes[i].kind == TS_PATH_OP)
			good = replay_usual_count_row(
				programs, replay_usual_program(run, graph->nodes[i].what),
				graph->nodes[i].row);
	return good;
}

/* Of a stream's row its GPU; TS_NONE: the row is something else. */
static uint32_t replay_usual_gpu(const struct ts_path *path, size_t row)
{
	const struct ts_stream_lane *lane = ts_path_lane(path, row);

	return lane && !lane->is_thread ? path->device[row] : TS_NONE;
}

/* How many GPUs run something. */
static size_t replay_usual_gpus(const struct ts_path *path)
{
	size_t nr = 0;

	for (size_t row = 0; row < path->graph.nr_rows; row++) {
		uint32_t gpu = replay_usual_gpu(path, row);
		size_t before = 0;

		while (before < row && replay_usual_gpu(path, before) != gpu)
			before++;
		nr += gpu != TS_NONE && before == row;
	}
	return nr;
}

/* How many nodes a group would have if no row lacked one. GPUs have no programs: each is taken to run what the others do. */
static size_t replay_usual_rows(const struct ts_run_replay *run, const struct programs *programs,
				uint32_t node)
{
	const struct ts_graph_node *of = &run->path.graph.nodes[node];
	uint32_t op = of->kind == TS_PATH_OP ? of->what : ts_path_op_behind(&run->path, node);

	if (ts_path_lane(&run->path, of->row))
		return programs->nr_gpus;
	return programs->rows[ts_map_find(&programs->at, replay_usual_program(run, op))];
}

/* How many steps the graph has. */
static size_t replay_usual_steps(const struct ts_run_replay *run)
{
	size_t nr = 0;

	for (uint32_t i = 1; i < run->path.graph.rows[0].nr; i++)
		nr += run->path.step[i] != TS_NONE && run->path.step[i] != run->path.step[i - 1];
	return nr + 1;
}

static void replay_usual_groups(const struct ts_run_replay *run, enum ts_level level,
				const struct programs *programs, struct like *likes, size_t nr,
				int64_t *usual_ps)
{
	size_t nr_steps = replay_usual_steps(run), nr_all;

	TS_SORT(likes, nr, replay_usual_by_key);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i; end < nr && likes[end].key == likes[i].key; end++)
			;
		nr_all = level == TS_LEVEL_STEPS ? nr_steps
						 : replay_usual_rows(run, programs, likes[i].node);
		if (level == TS_LEVEL_MEAN)
			replay_usual_mean(&likes[i], end - i, nr_all, usual_ps);
		else
			replay_usual_fill(&likes[i], end - i, nr_all, usual_ps);
	}
}

bool ts_run_replay_is_shared(const struct ts_run_replay *run, uint32_t node)
{
	static const char *const words[] = { "ragged", "gmm", "grouped_matmul", "megablox" };
	const struct ts_graph_node *of = &run->path.graph.nodes[node];

	for (size_t i = 0; of->kind == TS_PATH_OP && i < TS_NELEM(words); i++)
		if (ts_bytes_has(run->path.ctx->profile->ops[of->what].name, words[i]))
			return true;
	return false;
}

enum ts_status ts_run_replay_find_usual(struct ts_run_replay *run, enum ts_level level,
					struct ts_error *err)
{
	const struct ts_graph *graph = &run->path.graph;
	size_t nr_ops = run->path.ctx->profile->nr_ops + 1;
	struct programs programs = { .nr_gpus = replay_usual_gpus(&run->path) };
	struct count *counts = ts_room_array(graph->rooms, nr_ops, sizeof(*counts));
	struct like *likes = ts_room_array(graph->rooms, graph->nr_nodes + 1, sizeof(*likes));
	int64_t *usual_ps = ts_room_array(graph->rooms, graph->nr_nodes + 1, sizeof(*usual_ps));
	bool good = counts && likes && usual_ps && replay_usual_count(run, &programs);

	run->usual_ps[level] = usual_ps;
	for (size_t i = 0; good && i < graph->nr_nodes; i++)
		usual_ps[i] = TS_USUAL_UNKNOWN;
	if (good) {
		memset(counts, 0xff, nr_ops * sizeof(*counts));
		replay_usual_groups(run, level, &programs, likes,
				    replay_usual_list(run, level, counts, likes), usual_ps);
	}
	ts_room_free(counts);
	ts_room_free(likes);
	ts_map_release(&programs.at);
	free(programs.rows);
	free(programs.last);
	return good ? TS_OK : ts_fail_nomem(err);
}
