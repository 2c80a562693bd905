/* SPDX-License-Identifier: MIT */
/* The graph of a run: a row a core, tiled by what ran on it and the gaps between. */
#include "analysis/waits/critical_path.h"

#include "base/check.h"

const struct path_moment *ts_path_moment_behind(const struct ts_path *path, uint32_t node)
{
	const struct ts_graph_node *of = &path->graph.nodes[node];

	return &path->sum->cores[path->device[of->row]].moments[of->what];
}

uint32_t ts_path_op_behind(const struct ts_path *path, uint32_t node)
{
	return ts_path_moment_behind(path, node)->op;
}

/* By how much the clock of a gap's host is ahead of that of the graph, there: spans of hosts are on their own clocks. */
static int64_t critical_path_graph_lag(const struct ts_path *path, uint32_t node)
{
	return ts_i64_sub(ts_path_moment_behind(path, node)->start_ps,
			  path->graph.nodes[node].end_ps);
}

struct ts_path_gap ts_path_gap_of(const struct ts_path *path, uint32_t node, int64_t start_ps,
				  int64_t end_ps)
{
	const struct ts_context *ctx = path->ctx;
	uint32_t device = path->device[path->graph.nodes[node].row];
	const struct ts_host_spans *host = &ctx->outline->hosts[ctx->profile->devices[device].host];
	struct ts_path_gap gap;
	int64_t lag_ps;

	if (path->graph.nodes[node].kind != TS_PATH_GAP)
		return ts_path_stream_gap(path, node, start_ps, end_ps);
	lag_ps = critical_path_graph_lag(path, node);
	ts_host_spans_divide(host, ts_i64_add(start_ps, lag_ps), ts_i64_add(end_ps, lag_ps),
			     end_ps - start_ps, gap.ps);
	return gap;
}

struct ts_time_gap ts_path_time_gap(const struct ts_path *path, uint32_t node)
{
	uint32_t device = path->device[path->graph.nodes[node].row];
	const struct path_moment *behind;
	bool is_first;

	if (path->graph.nodes[node].kind != TS_PATH_GAP)
		return (struct ts_time_gap){ .device = TS_NONE };
	behind = ts_path_moment_behind(path, node);
	is_first = behind == path->sum->cores[device].moments;
	return (struct ts_time_gap){ .device = device,
				     .start_ps = is_first ? INT64_MIN : behind[-1].end_ps };
}

int64_t ts_path_weight(const struct ts_path *path, uint32_t row)
{
	if (path->level == 0 || ts_run_steps_slow_at(path->ctx->steps, row) < PATH_SLOWEST)
		return 1;
	return INT64_C(1) << path->level;
}

/* What lies between the end of the row so far and START_PS. Nothing, where clocks drift into one another. */
static enum ts_status critical_path_graph_add_gap(struct ts_path *path, int64_t start_ps,
						  int64_t end_ps, size_t behind, bool is_hole,
						  uint32_t step, struct ts_error *err)
{
	struct ts_graph_node node = { TS_GRAPH_MEETS_NOBODY, .start_ps = start_ps, .end_ps = end_ps,
				      .what = (uint32_t)behind,
				      .kind = is_hole ? TS_PATH_HOLE : TS_PATH_GAP };

	return end_ps > start_ps ? ts_path_push(path, &node, step, err) : TS_OK;
}

static enum ts_status critical_path_graph_add_core(struct ts_path *path,
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
		struct ts_graph_node node = { TS_GRAPH_MEETS_NOBODY,
					      .start_ps =
						      ts_path_align(path, device, moment->start_ps),
					      .what = moment->op, .kind = TS_PATH_OP };

		if (node.start_ps >= path->until_ps)
			break;
		if (!ts_path_keeps(path->ctx, path->level, moment->row)) {
			is_hole = true;
			continue;
		}
		node.start_ps = TS_MAX(node.start_ps, at_ps);
		node.end_ps = TS_MAX(ts_path_align(path, device, moment->end_ps), node.start_ps);
		is_hole |= path->level > 0 && i > 0 && moment[-1].row != moment->row &&
			   moment[-1].row + 1 != moment->row;
		st = critical_path_graph_add_gap(path, at_ps, node.start_ps, i, is_hole,
						 moment->row, err);
		if (st == TS_OK)
			st = ts_path_meet(meeting, i, &node, err);
		if (st == TS_OK)
			st = ts_path_push(path, &node, moment->row, err);
		at_ps = node.end_ps;
		is_hole = false;
	}
	return st;
}

static int64_t critical_path_graph_begin(const struct ts_path *path)
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

/* The level at which about MAX moments are taken, of a run with steps. */
static uint8_t critical_path_graph_level(const struct path_state *sum, const struct ts_context *ctx,
					 size_t max)
{
	size_t nr = 0;
	uint8_t level = 0, more = 0;

	for (size_t i = 0; i < sum->nr_cores; i++) {
		level = TS_MAX(level, sum->cores[i].level);
		nr += sum->cores[i].nr;
	}
	while (nr >> more > max && ctx->outline->steps.nr_steps >> (level + more) > PATH_SLOWEST)
		more++;
	return level + more;
}

/* Without steps: up to when all cores have their moments, of each one at most so many. */
static int64_t critical_path_graph_until(const struct ts_path *path, size_t max)
{
	size_t most = max / TS_MAX(path->sum->nr_cores, 1);
	int64_t until_ps = INT64_MAX;

	for (uint32_t i = 0; i < path->sum->nr_cores; i++) {
		const struct path_core *core = &path->sum->cores[i];
		size_t nr = core->nr;

		if (path->ctx->outline->steps.nr_steps == 0)
			nr = TS_MIN(nr, TS_MAX(most, 1));
		if (nr > 0 && (nr < core->nr || core->is_cut))
			until_ps = TS_MIN(until_ps,
					  ts_path_align(path, i, core->moments[nr - 1].end_ps));
	}
	return until_ps;
}

/* Rows of TPUs: a core each. */
static enum ts_status critical_path_graph_add_cores(struct ts_path *path, size_t max_moments,
						    struct ts_error *err)
{
	struct path_meeting meeting = { .path = NULL };
	const struct path_state *sum = path->sum;
	enum ts_status st;
	int64_t begin_ps;

	path->level = critical_path_graph_level(sum, path->ctx, max_moments);
	path->until_ps = critical_path_graph_until(path, max_moments);
	begin_ps = critical_path_graph_begin(path);
	st = ts_path_meeting_open(&meeting, path, err);
	for (uint32_t i = 0; i < sum->nr_cores && st == TS_OK; i++)
		if (sum->cores[i].nr > 0)
			st = critical_path_graph_add_core(path, &meeting, i, begin_ps, err);
	ts_path_meeting_close(&meeting);
	return st;
}

enum ts_status ts_path_make(struct ts_path *path, const struct path_state *sum,
			    const struct ts_context *ctx, size_t max_moments, struct ts_error *err)
{
	size_t nr_rows = ctx->profile->nr_devices + ts_streams_facts(ctx)->nr_lanes + 1;
	enum ts_status st = TS_OK;

	*path = (struct ts_path){ .ctx = ctx, .sum = sum, .until_ps = INT64_MAX };
	path->graph.rooms = ctx->profile->rooms;
	path->device = calloc(nr_rows, sizeof(*path->device));
	path->lane = malloc(nr_rows * sizeof(*path->lane));
	if (!path->device || !path->lane)
		return ts_fail_nomem(err);
	memset(path->lane, 0xff, nr_rows * sizeof(*path->lane));
	if (sum)
		st = critical_path_graph_add_cores(path, max_moments, err);
	if (st == TS_OK)
		st = ts_path_add_streams(path, max_moments, err);
	return st ? st : ts_graph_seal(&path->graph, err);
}

void ts_path_release(struct ts_path *path)
{
	for (size_t i = 0; path->busy && i < path->ctx->profile->nr_hosts; i++)
		ts_spans_release(&path->busy[i]);
	ts_graph_release(&path->graph);
	free(path->busy);
	free(path->device);
	free(path->lane);
	ts_room_free(path->step);
	path->busy = NULL;
	path->device = path->lane = NULL;
	path->step = NULL;
}
