/* SPDX-License-Identifier: MIT */
/* The graph of a run: a row a core, tiled by what ran on it and the gaps between. */
#include "analysis/waits/critical_path.h"

#include "base/check.h"

const struct path_moment *ts_path_moment_behind(const struct path_graph *path, uint32_t node)
{
	const struct ts_graph_node *of = &path->graph.nodes[node];

	return &path->sum->cores[path->device[of->row]].moments[of->what];
}

int64_t ts_path_weight(const struct path_graph *path, uint32_t row)
{
	if (path->level == 0 || ts_run_steps_slow_at(path->ctx->steps, row) < PATH_SLOWEST)
		return 1;
	return INT64_C(1) << path->level;
}

/* What lies between the end of the row so far and START_PS. Nothing, where clocks drift into one another. */
static enum ts_status critical_path_graph_add_gap(struct path_graph *path, int64_t start_ps,
						  int64_t end_ps, size_t behind, bool is_hole,
						  struct ts_error *err)
{
	struct ts_graph_node node = { TS_GRAPH_MEETS_NOBODY, .start_ps = start_ps, .end_ps = end_ps,
				      .what = (uint32_t)behind,
				      .kind = is_hole ? PATH_HOLE : PATH_GAP };

	return end_ps > start_ps ? ts_graph_add(&path->graph, &node, err) : TS_OK;
}

static enum ts_status critical_path_graph_add_core(struct path_graph *path,
						   struct path_meeting *meeting, uint32_t device,
						   int64_t begin_ps, struct ts_error *err)
{
	const struct path_core *core = &path->sum->cores[device];
	int64_t at_ps = begin_ps;
	bool is_hole = false;
	enum ts_status st = ts_graph_add_row(&path->graph, err);

	if (st)
		return st;
	path->device[path->graph.nr_rows - 1] = device;
	ts_path_meeting_core(meeting, device);
	for (size_t i = 0; i < core->nr && st == TS_OK; i++) {
		const struct path_moment *moment = &core->moments[i];
		struct ts_graph_node node = { TS_GRAPH_MEETS_NOBODY, .what = moment->op,
					      .kind = PATH_OP };

		if (!ts_path_keeps(path->ctx, path->level, moment->row)) {
			is_hole = true;
			continue;
		}
		node.start_ps = TS_MAX(ts_path_align(path, device, moment->start_ps), at_ps);
		node.end_ps = TS_MAX(ts_path_align(path, device, moment->end_ps), node.start_ps);
		is_hole |= path->level > 0 && i > 0 && moment[-1].row != moment->row &&
			   moment[-1].row + 1 != moment->row;
		st = critical_path_graph_add_gap(path, at_ps, node.start_ps, i, is_hole, err);
		if (st == TS_OK)
			st = ts_path_meet(meeting, i, &node, err);
		if (st == TS_OK)
			st = ts_graph_add(&path->graph, &node, err);
		at_ps = node.end_ps;
		is_hole = false;
	}
	return st;
}

static int64_t critical_path_graph_begin(const struct path_graph *path)
{
	int64_t begin_ps = INT64_MAX;

	for (uint32_t i = 0; i < path->sum->nr_cores; i++) {
		const struct path_core *core = &path->sum->cores[i];

		if (core->nr > 0)
			begin_ps =
				TS_MIN(begin_ps, ts_path_align(path, i, core->moments[0].start_ps));
	}
	return begin_ps;
}

enum ts_status ts_path_graph_make(struct path_graph *path, const struct path_state *sum,
				  const struct ts_context *ctx, struct ts_error *err)
{
	struct path_meeting meeting = { .path = NULL };
	enum ts_status st;
	int64_t begin_ps;

	*path = (struct path_graph){ .ctx = ctx, .sum = sum };
	path->graph.rooms = ctx->profile->rooms;
	path->device = calloc(sum->nr_cores + 1, sizeof(*path->device));
	if (!path->device)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < sum->nr_cores; i++)
		path->level = TS_MAX(path->level, sum->cores[i].level);
	begin_ps = critical_path_graph_begin(path);
	st = ts_path_meeting_open(&meeting, path, err);
	for (uint32_t i = 0; i < sum->nr_cores && st == TS_OK; i++)
		if (sum->cores[i].nr > 0)
			st = critical_path_graph_add_core(path, &meeting, i, begin_ps, err);
	ts_path_meeting_close(&meeting);
	return st ? st : ts_graph_seal(&path->graph, err);
}

void ts_path_graph_release(struct path_graph *path)
{
	ts_graph_release(&path->graph);
	free(path->device);
	path->device = NULL;
}
