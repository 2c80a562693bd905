/* SPDX-License-Identifier: MIT */
/*
 * What the analysis critical_path knows: what ran on each core and what waited for what, as a graph (model/graph.h) that
 * others may replay with other times. A row is a core; a node is a moment of one op, or a gap between two.
 */
#ifndef TS_ANALYSIS_FACTS_CRITICAL_PATH_H
#define TS_ANALYSIS_FACTS_CRITICAL_PATH_H

#include "analysis/analysis.h"
#include "analysis/facts/streams.h"
#include "analysis/facts/time.h"
#include "model/graph.h"

struct path_state;
struct ts_critical_path_facts {
	const struct path_state *sum; /* what the pass kept; NULL: no core of a TPU ran */
};

/* What a node of the graph is. */
enum ts_path_kind {
	TS_PATH_OP,
	TS_PATH_GAP,
	TS_PATH_HOLE,  /* steps that are not kept */
	TS_PATH_QUEUE, /* a stream, before a kernel: it has nothing to run */
	TS_PATH_THREAD /* a call of a thread that launches, or what it did up to the next one */
};

/* A node's .what: of an op its index; of a gap the index of the moment behind it. */
struct ts_path {
	struct ts_graph graph;
	uint32_t *device; /* of each row; of a thread the one that it launches to */
	uint32_t *lane;	  /* of each row in .streams; TS_NONE: it is a core of a TPU */
	uint32_t *step;	  /* of each node: the row of the step that it lies in; TS_NONE: in none */
	size_t cap_steps;
	const struct ts_context *ctx;
	const struct path_state *sum;		/* NULL: no core of a TPU ran */
	const struct ts_streams_facts *streams; /* NULL: no stream of a GPU did */
	struct ts_spans *busy; /* of each host: when any of its streams ran something */
	uint8_t level;	       /* steps are kept whose row 2^level divides, and the slowest */
	int64_t until_ps; /* of a run without steps: what begins later is left out; INT64_MAX: nothing is */
};

/*
 * The graph of a run. SUM may be NULL. MAX_MOMENTS: at most about so many moments are taken: of a run with steps those of some steps, as with what
 * the pass keeps; of others those of its beginning.
 * The caller releases it, also when it fails.
 */
enum ts_status ts_path_make(struct ts_path *path, const struct path_state *sum,
			    const struct ts_context *ctx, size_t max_moments, struct ts_error *err);
void ts_path_release(struct ts_path *path);
/* How many steps of the run a moment of this step stands for. */
int64_t ts_path_weight(const struct ts_path *path, uint32_t step);
/* The op behind a gap of a core. */
uint32_t ts_path_op_behind(const struct ts_path *path, uint32_t node);
/* What a row is of a GPU; NULL: it is a core of a TPU. */
static inline const struct ts_stream_lane *ts_path_lane(const struct ts_path *path, size_t row)
{
	return path->lane[row] == TS_NONE ? NULL : &path->streams->lanes[path->lane[row]];
}
/* Whether what the node took may be taken out of it by its classes. */
static inline bool ts_path_is_gap(const struct ts_path *path, uint32_t node)
{
	uint8_t kind = path->graph.nodes[node].kind;

	return kind != TS_PATH_OP && kind != TS_PATH_HOLE;
}
/* A gap as facts/time.h has it, by its device and its start on the host's clock. */
struct ts_time_gap ts_path_time_gap(const struct ts_path *path, uint32_t node);
/* What passed of a gap, from START_PS to END_PS on the graph's clock, under each class, from TS_FIRST_PAUSE on. */
struct ts_path_gap {
	int64_t ps[TS_NR_PAUSES];
};
static inline int64_t ts_path_gap_sum(const struct ts_path_gap *gap)
{
	int64_t sum_ps = 0;

	for (int i = 0; i < TS_NR_PAUSES; i++)
		sum_ps += gap->ps[i];
	return sum_ps;
}
struct ts_path_gap ts_path_gap_of(const struct ts_path *path, uint32_t node, int64_t start_ps,
				  int64_t end_ps);

#endif
