/* SPDX-License-Identifier: MIT */
/*
 * A graph of what waited for what: its critical path, the slack of what is off it, and how long it is with other times.
 *
 * A row is what does one thing after another: a core, a stream, a thread. Nodes tile it from its first moment to its last;
 * a time in which nothing runs is a node too. What goes from row to row goes over meetings:
 *
 *	met = the latest start of the nodes that join the meeting, and the latest end of those that end into it
 *	end = max(start + own, met + lag)	of a node that awaits it; of all others start + own
 *
 * A collective is a meeting that each of its ops joins and awaits: .lag_ps is the transfer. A receive awaits what the send
 * joins, a -done what its -start joins, and a core that had nothing to do the end of the launch.
 *
 * Who adds a node says how long it is when it waits for nothing (.own_ps, at most); ts_graph_seal() finds the rest from
 * the recorded times, so that a replay with these gives the recorded ends. Where a node did not wait, its recorded times bound its lag
 * from above alone: it is what the adder said (.lag_ps, from bytes and a bandwidth), and at most the least that nodes of the same
 * .what show, as executions of one op move the same bytes. A node that ends before its meeting (the clocks of two hosts are off)
 * does not await it.
 */
#ifndef TS_MODEL_GRAPH_H
#define TS_MODEL_GRAPH_H

#include "base/bytes.h"
#include "base/room.h"
#include "base/status.h"

#define TS_GRAPH_NONE	 UINT32_MAX
#define TS_GRAPH_UNKNOWN INT64_MAX /* a lag */

struct ts_graph_node {
	int64_t start_ps, end_ps; /* as recorded */
	/* What it takes once it has begun and what it awaits is there; all, where it awaits nothing. */
	int64_t own_ps;
	int64_t lag_ps;		      /* from the meeting to its end */
	uint32_t joins, ends, awaits; /* meetings; TS_GRAPH_NONE */
	uint32_t row;
	uint32_t what;	  /* the caller's: an op, a cause; small numbers, or TS_GRAPH_NONE */
	uint8_t kind;	  /* likewise */
	bool is_inferred; /* whom it awaits */
};

/* For the initializer of a node, which may go on to say whom it meets. */
#define TS_GRAPH_MEETS_NOBODY                                      \
	.lag_ps = TS_GRAPH_UNKNOWN, .joins = TS_GRAPH_NONE, \
	.ends = TS_GRAPH_NONE, .awaits = TS_GRAPH_NONE

struct ts_graph_row {
	uint32_t first, nr; /* in .nodes */
};

struct ts_graph {
	const struct ts_rooms *rooms; /* where large arrays lie; NULL: in memory */
	struct ts_graph_node *nodes;  /* row after row */
	struct ts_graph_row *rows;
	size_t nr_nodes, nr_rows, cap_nodes, cap_rows;
	uint32_t nr_meetings;
	/* What ts_graph_seal() makes. */
	uint32_t *nr_members;	  /* of each meeting */
	int64_t begin_ps, end_ps; /* of the whole */
	size_t nr_broken;	  /* nodes whose recorded time contradicts what they await */
};

/* A new row, and a node at the end of the newest: it begins where the one before it ends. */
enum ts_status ts_graph_add_row(struct ts_graph *graph, struct ts_error *err);
enum ts_status ts_graph_add(struct ts_graph *graph, const struct ts_graph_node *node,
			    struct ts_error *err);
uint32_t ts_graph_add_meeting(struct ts_graph *graph);
/* Once all is added; before it nothing of the below may be asked. */
enum ts_status ts_graph_seal(struct ts_graph *graph, struct ts_error *err);
void ts_graph_release(struct ts_graph *graph);

static inline bool ts_graph_is_first(const struct ts_graph *graph, uint32_t node)
{
	return graph->rows[graph->nodes[node].row].first == node;
}

/*
 * A replay: when each node ends, with times that may be other than the recorded ones. Its arrays are made once and serve
 * any number of runs.
 */
struct ts_replay {
	const struct ts_graph *graph;
	int64_t *own_ps,
		*lag_ps; /* by node; the recorded ones at first, and the caller's to change */
	int64_t *end_ps; /* by node: what the last run found */
	int64_t *met_ps; /* by meeting: likewise */
	uint32_t *last;	 /* by meeting: the node that came last to it, TS_GRAPH_NONE: none did */
	uint32_t *order; /* nodes, each behind all that it waits for */
	size_t nr_order;
	size_t nr_cut; /* meetings that were not waited for, as they wait for those who would */
	/* Scratch. */
	uint32_t *missing; /* of each meeting: members that did not come yet */
	uint32_t *waiting,
		*next; /* the first row that waits for a meeting; the one that waits for the same */
	uint32_t *at, *ready; /* of each row its next node; rows that can go on */
	bool *has_come;	      /* of each row: its next node has come to what it joins, and waits */
	size_t nr_ready;
};

enum ts_status ts_replay_open(struct ts_replay *replay, const struct ts_graph *graph,
			      struct ts_error *err);
/* Gives the length: from the graph's begin to the last end. */
int64_t ts_replay_run(struct ts_replay *replay);
void ts_replay_close(struct ts_replay *replay);
/* When the node began in the last run. */
static inline int64_t ts_replay_start(const struct ts_replay *replay, uint32_t node)
{
	return ts_graph_is_first(replay->graph, node) ? replay->graph->nodes[node].start_ps
						      : replay->end_ps[node - 1];
}

/* Of each node, how much later it could end without making the last run longer. SLACK_PS: one a node. */
enum ts_status ts_replay_slack(const struct ts_replay *replay, int64_t *slack_ps,
			       struct ts_error *err);

/*
 * The critical path of the last run: the chain of what had to end for the last node to end when it did, from its end back. Parts
 * come in that order, do not overlap, and sum up to the length; IS_TRANSFER: between the meeting and the node's end. Where a row
 * begins later than the graph, a last part with NODE TS_GRAPH_NONE is the time before it.
 */
struct ts_graph_part {
	uint32_t node;
	bool is_transfer;
	int64_t start_ps, end_ps;
};
typedef void ts_graph_part_seen(void *ctx, const struct ts_graph_part *part);
void ts_replay_path(const struct ts_replay *replay, ts_graph_part_seen *seen, void *ctx);
/* The same of a part of the run: from END_PS on a row back to BEGIN_PS. */
void ts_replay_path_within(const struct ts_replay *replay, uint32_t row, int64_t begin_ps,
			   int64_t end_ps, ts_graph_part_seen *seen, void *ctx);
/* The node of the row that runs up to T or is about to; TS_GRAPH_NONE: the row begins later, or ended before. */
uint32_t ts_replay_node_at(const struct ts_replay *replay, uint32_t row, int64_t t_ps);

#endif
