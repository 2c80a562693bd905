/* SPDX-License-Identifier: MIT */
/*
 * Rows of GPUs in the graph of a run: streams, and the threads that launch.
 *
 *	stream	before each kernel the time in which the stream had nothing to run, at least none; it waits for the launch, or
 *		for another stream
 *	thread	calls, and what was done between them. A call that waits for the device takes PATH_DONE_PS when that is done
 */
#include "analysis/waits/critical_path.h"

#include "base/check.h"
#include "base/units.h"

/* For each moment of a lane the meeting that its start joins and the one that its end does; TS_GRAPH_NONE where nothing waits for it. */
struct path_lane {
	uint32_t *joins, *ends;
	size_t nr; /* moments that are taken */
};

struct path_lanes {
	struct ts_path *path;
	const struct ts_streams_facts *facts;
	struct path_lane *lanes;
	uint32_t *tail;		     /* of the first lane of each host: the one that ends last */
	struct path_meeting meeting; /* of collectives */
	int64_t begin_ps, end_ps;    /* of the run */
	size_t hint;		     /* of the lane at hand: its step */
};

static size_t critical_path_streams_until(const struct ts_stream_lane *lane, int64_t until_ps)
{
	size_t lo = 0, hi = lane->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (lane->moments[mid].start_ps < until_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static size_t critical_path_streams_count(const struct ts_streams_facts *facts, int64_t until_ps)
{
	size_t nr = 0;

	for (size_t i = 0; i < facts->nr_lanes; i++)
		nr += critical_path_streams_until(&facts->lanes[i], until_ps);
	return nr;
}

/* Up to when at most MAX moments begin: lanes are cut at one moment. */
static int64_t critical_path_streams_cut(const struct ts_streams_facts *facts, size_t max)
{
	int64_t lo = 0, hi = 0;

	if (critical_path_streams_count(facts, INT64_MAX) <= max)
		return INT64_MAX;
	for (size_t i = 0; i < facts->nr_lanes; i++)
		if (facts->lanes[i].nr > 0)
			hi = TS_MAX(hi, facts->lanes[i].moments[facts->lanes[i].nr - 1].start_ps);
	while (lo < hi) { /* the last moment up to which there are no more */
		int64_t mid = lo + (hi - lo + 1) / 2;

		if (critical_path_streams_count(facts, mid) <= max)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* Where the meeting stands that the moment waits for; NULL: it waits for nothing that is taken. */
static uint32_t *critical_path_streams_place(const struct path_lanes *lanes,
					     const struct ts_stream_lane *lane,
					     const struct ts_stream_moment *moment)
{
	const struct path_lane *from;

	if (moment->from == TS_NONE)
		return NULL;
	from = &lanes->lanes[lane->first + moment->lane];
	if (moment->from >= from->nr)
		return NULL;
	return moment->edge == TS_EDGE_LAUNCH ? &from->joins[moment->from]
					      : &from->ends[moment->from];
}

/* Who is waited for meets. */
static void critical_path_streams_meet(struct path_lanes *lanes, size_t at)
{
	const struct ts_stream_lane *lane = &lanes->facts->lanes[at];

	for (size_t i = 0; i < lanes->lanes[at].nr; i++) {
		uint32_t *place = critical_path_streams_place(lanes, lane, &lane->moments[i]);

		if (place && *place == TS_GRAPH_NONE)
			*place = ts_graph_add_meeting(&lanes->path->graph);
	}
}

static uint32_t critical_path_streams_awaited(const struct path_lanes *lanes,
					      const struct ts_stream_lane *lane,
					      const struct ts_stream_moment *moment)
{
	const uint32_t *place = critical_path_streams_place(lanes, lane, moment);

	return place ? *place : TS_GRAPH_NONE;
}

static uint32_t critical_path_streams_device(const struct ts_profile *profile,
					     const struct ts_stream_lane *lane)
{
	const struct ts_plane *plane = &profile->planes[profile->lines[lane->line].plane];

	if (plane->device != TS_NONE)
		return plane->device;
	for (uint32_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].host == plane->host)
			return i;
	return TS_NONE;
}

/* The step of the run in which a moment of the lane at hand begins. */
static uint32_t critical_path_streams_step(struct path_lanes *lanes, uint32_t device,
					   int64_t start_ps)
{
	const struct ts_device_steps *steps =
		ts_steps_of(&lanes->path->ctx->outline->steps, device);
	uint32_t at = ts_steps_at(steps, start_ps, &lanes->hint);

	return at == TS_NONE ? TS_NONE : ts_device_steps_row(steps, at);
}

/* The I-th moment of a lane, on the clock of all. */
struct path_placed {
	size_t lane, i;
	uint32_t step;
	int64_t begin_ps, start_ps, end_ps; /* begin: the end of the one before it */
};

static enum ts_status critical_path_streams_add_kernel(struct path_lanes *lanes,
						       const struct path_placed *placed,
						       struct ts_error *err)
{
	const struct ts_profile *profile = lanes->path->ctx->profile;
	const struct ts_stream_lane *lane = &lanes->facts->lanes[placed->lane];
	const struct ts_stream_moment *moment = &lane->moments[placed->i];
	const struct path_moment of = { placed->start_ps, placed->end_ps, moment->op,
					placed->step };
	struct ts_graph_node idle = { TS_GRAPH_MEETS_NOBODY, .start_ps = placed->begin_ps,
				      .end_ps = placed->start_ps,
				      .what = (uint32_t)(profile->nr_ops + placed->lane),
				      .kind = TS_PATH_QUEUE };
	struct ts_graph_node kernel = { TS_GRAPH_MEETS_NOBODY, .start_ps = placed->start_ps,
					.end_ps = placed->end_ps, .what = moment->op,
					.kind = TS_PATH_OP };
	enum ts_status st = TS_OK;

	kernel.ends = lanes->lanes[placed->lane].ends[placed->i];
	if (profile->ops[moment->op].kind == TS_OP_COLLECTIVE)
		st = ts_path_meet_collective(&lanes->meeting, &of, &kernel.joins, err);
	kernel.awaits = kernel.joins;
	idle.awaits = critical_path_streams_awaited(lanes, lane, moment);
	idle.is_inferred = moment->edge == TS_EDGE_LIKELY;
	if (moment->edge != TS_EDGE_LIKELY && !moment->is_late)
		idle.own_ps = placed->start_ps - placed->begin_ps;
	if (st == TS_OK)
		st = ts_path_push(lanes->path, &idle, placed->step, err);
	return st ? st : ts_path_push(lanes->path, &kernel, placed->step, err);
}

static enum ts_status critical_path_streams_add_moment(struct path_lanes *lanes,
						       const struct path_placed *placed,
						       struct ts_error *err)
{
	const struct ts_stream_lane *lane = &lanes->facts->lanes[placed->lane];
	const struct ts_stream_moment *moment = &lane->moments[placed->i];
	struct ts_graph_node node = { TS_GRAPH_MEETS_NOBODY, .start_ps = placed->start_ps,
				      .end_ps = placed->end_ps, .what = TS_GRAPH_NONE,
				      .kind = TS_PATH_THREAD };

	node.own_ps = node.end_ps - node.start_ps;
	node.joins = lanes->lanes[placed->lane].joins[placed->i];
	node.ends = lanes->lanes[placed->lane].ends[placed->i];
	node.awaits = critical_path_streams_awaited(lanes, lane, moment);
	node.is_inferred = moment->edge == TS_EDGE_LIKELY;
	if (node.awaits != TS_GRAPH_NONE)
		node.own_ps = TS_MIN(node.own_ps, PATH_DONE_PS);
	return ts_path_push(lanes->path, &node, placed->step, err);
}

static int64_t critical_path_streams_clip(const struct path_lanes *lanes, uint32_t device,
					  int64_t t_ps)
{
	t_ps = TS_MIN(ts_path_align(lanes->path, device, t_ps), lanes->end_ps);
	return TS_MAX(t_ps, lanes->begin_ps);
}

/* After the last moment of a host nothing of it runs up to the end of the run: the tail of the lane that ends last. */
static enum ts_status critical_path_streams_add_tail(struct path_lanes *lanes, size_t at,
						     struct ts_error *err)
{
	struct ts_path *path = lanes->path;
	struct ts_graph_node node = { TS_GRAPH_MEETS_NOBODY, .end_ps = lanes->end_ps,
				      .what = TS_GRAPH_NONE, .kind = TS_PATH_QUEUE };

	if (lanes->tail[lanes->facts->lanes[at].first] != at || path->until_ps < INT64_MAX)
		return TS_OK;
	node.start_ps = path->graph.nodes[path->graph.nr_nodes - 1].end_ps;
	node.own_ps = node.end_ps - node.start_ps;
	return node.own_ps > 0 ? ts_path_push(path, &node, TS_NONE, err) : TS_OK;
}

/* What lies outside of the run has its node too, of no length: a node's place says which moment it is. */
static enum ts_status critical_path_streams_add_lane(struct path_lanes *lanes, size_t at,
						     uint32_t device, struct ts_error *err)
{
	const struct ts_stream_lane *lane = &lanes->facts->lanes[at];
	struct path_placed placed = { .lane = at, .end_ps = lanes->begin_ps };
	struct ts_path *path = lanes->path;
	enum ts_status st = ts_graph_add_row(&path->graph, err);

	if (st)
		return st;
	path->device[path->graph.nr_rows - 1] = device;
	path->lane[path->graph.nr_rows - 1] = (uint32_t)at;
	ts_path_meeting_core(&lanes->meeting, device);
	lanes->hint = 0;
	for (; placed.i < lanes->lanes[at].nr && st == TS_OK; placed.i++) {
		const struct ts_stream_moment *moment = &lane->moments[placed.i];
		int64_t start_ps = critical_path_streams_clip(lanes, device, moment->start_ps);
		int64_t end_ps = critical_path_streams_clip(lanes, device, moment->end_ps);

		placed.step = critical_path_streams_step(lanes, device, moment->start_ps);
		placed.begin_ps = placed.end_ps;
		placed.start_ps =
			lane->is_thread ? placed.begin_ps : TS_MAX(start_ps, placed.begin_ps);
		placed.end_ps = TS_MAX(end_ps, placed.start_ps);
		st = lane->is_thread ? critical_path_streams_add_moment(lanes, &placed, err)
				     : critical_path_streams_add_kernel(lanes, &placed, err);
	}
	return st ? st : critical_path_streams_add_tail(lanes, at, err);
}

static bool critical_path_streams_ends_later(const struct ts_stream_lane *x,
					     const struct ts_stream_lane *y)
{
	return x->nr > 0 &&
	       (y->nr == 0 || x->moments[x->nr - 1].end_ps > y->moments[y->nr - 1].end_ps);
}

static bool critical_path_streams_find_tails(struct path_lanes *lanes)
{
	const struct ts_stream_lane *all = lanes->facts->lanes;

	lanes->tail = calloc(lanes->facts->nr_lanes + 1, sizeof(*lanes->tail));
	for (uint32_t i = 0; lanes->tail && i < lanes->facts->nr_lanes; i++) {
		uint32_t *tail = &lanes->tail[all[i].first];

		if (i == all[i].first || critical_path_streams_ends_later(&all[i], &all[*tail]))
			*tail = i;
	}
	return lanes->tail;
}

static bool critical_path_streams_open(struct path_lanes *lanes)
{
	const struct ts_rooms *rooms = lanes->path->graph.rooms;

	lanes->lanes = calloc(lanes->facts->nr_lanes + 1, sizeof(*lanes->lanes));
	for (size_t i = 0; lanes->lanes && i < lanes->facts->nr_lanes; i++) {
		struct path_lane *lane = &lanes->lanes[i];

		lane->nr =
			critical_path_streams_until(&lanes->facts->lanes[i], lanes->path->until_ps);
		lane->joins = ts_room_array(rooms, lane->nr + 1, sizeof(*lane->joins));
		lane->ends = ts_room_array(rooms, lane->nr + 1, sizeof(*lane->ends));
		if (!lane->joins || !lane->ends)
			return false;
		memset(lane->joins, 0xff, lane->nr * sizeof(*lane->joins));
		memset(lane->ends, 0xff, lane->nr * sizeof(*lane->ends));
	}
	return lanes->lanes && critical_path_streams_find_tails(lanes);
}

static void critical_path_streams_close(struct path_lanes *lanes)
{
	for (size_t i = 0; lanes->lanes && i < lanes->facts->nr_lanes; i++) {
		ts_room_free(lanes->lanes[i].joins);
		ts_room_free(lanes->lanes[i].ends);
	}
	free(lanes->lanes);
	free(lanes->tail);
}

static bool critical_path_streams_add_busy(struct ts_path *path, const struct ts_stream_lane *lane)
{
	struct ts_spans *busy =
		&path->busy[path->ctx->profile->planes[path->ctx->profile->lines[lane->line].plane]
				    .host];
	struct ts_spans own = { .nr = 0 };
	bool good = true;

	for (size_t i = 0; good && i < lane->nr; i++)
		good = ts_spans_add(&own, lane->moments[i].start_ps, lane->moments[i].end_ps);
	good = good && ts_spans_union(busy, &own);
	ts_spans_release(&own);
	return good;
}

enum ts_status ts_path_add_streams(struct ts_path *path, size_t max_moments, struct ts_error *err)
{
	const struct ts_time_facts *time = ts_time_facts(path->ctx);
	struct path_lanes lanes = { .path = path,
				    .facts = ts_streams_facts(path->ctx),
				    .begin_ps = time->wall_start_ps,
				    .end_ps = time->wall_start_ps + time->wall_ps };
	enum ts_status st = TS_OK;
	bool good;

	if (lanes.facts->nr_lanes == 0 || time->nr_cores == 0)
		return TS_OK;
	st = ts_path_meeting_open(&lanes.meeting, path, err);
	path->streams = lanes.facts;
	path->busy = calloc(path->ctx->profile->nr_hosts + 1, sizeof(*path->busy));
	path->until_ps =
		TS_MIN(lanes.facts->until_ps, critical_path_streams_cut(lanes.facts, max_moments));
	good = path->busy && critical_path_streams_open(&lanes);
	for (size_t i = 0; good && i < lanes.facts->nr_lanes; i++) {
		critical_path_streams_meet(&lanes, i);
		if (!lanes.facts->lanes[i].is_thread)
			good = critical_path_streams_add_busy(path, &lanes.facts->lanes[i]);
	}
	for (size_t i = 0; good && st == TS_OK && i < lanes.facts->nr_lanes; i++) {
		uint32_t device =
			critical_path_streams_device(path->ctx->profile, &lanes.facts->lanes[i]);

		if (lanes.lanes[i].nr > 0 && device != TS_NONE)
			st = critical_path_streams_add_lane(&lanes, i, device, err);
	}
	ts_path_meeting_close(&lanes.meeting);
	critical_path_streams_close(&lanes);
	return good ? st : ts_fail_nomem(err);
}

const struct ts_stream_moment *ts_path_stream_moment(const struct ts_path *path, uint32_t node)
{
	const struct ts_graph_node *of = &path->graph.nodes[node];
	const struct ts_stream_lane *lane = ts_path_lane(path, of->row);
	size_t at = node - path->graph.rows[of->row].first;

	TS_ASSERT_HOT(of->kind != TS_PATH_GAP && lane->nr > 0);
	return &lane->moments[TS_MIN(lane->is_thread ? at : at / 2, lane->nr - 1)];
}

struct ts_path_gap ts_path_stream_gap(const struct ts_path *path, uint32_t node, int64_t start_ps,
				      int64_t end_ps)
{
	const struct ts_context *ctx = path->ctx;
	uint32_t device = path->device[path->graph.nodes[node].row];
	uint32_t host = ctx->profile->devices[device].host;
	int64_t at_ps = ts_path_stream_moment(path, node)->end_ps;
	const struct ts_host_spans *spans = &ctx->outline->hosts[host];
	int64_t lag_ps = ts_i64_sub(at_ps, ts_path_align(path, device, at_ps)); /* of clocks */
	int64_t from_ps = ts_i64_add(start_ps, lag_ps), to_ps = ts_i64_add(end_ps, lag_ps);
	struct ts_path_gap gap;
	size_t hint = 0;
	int64_t busy_ps = ts_spans_covered(&path->busy[host], from_ps, to_ps, &hint);

	ts_host_spans_divide(spans, from_ps, to_ps, end_ps - start_ps - busy_ps, gap.ps);
	return gap;
}
