/* SPDX-License-Identifier: MIT */
/*
 * The run replayed without a cause: what a finding gains is the length of the run less its length when the times that the
 * cause adds are gone. Of runs whose graph the analysis critical_path makes; of others nothing is replayed (.is_known).
 *
 * A cure changes times: it takes a share of the time of ops and classes (struct ts_shares), or brings nodes to what is
 * usual for them (.usual_ps). What is changed stays, until it is undone.
 */
#ifndef TS_ANALYSIS_DOCTOR_REPLAY_H
#define TS_ANALYSIS_DOCTOR_REPLAY_H

#include "analysis/facts/critical_path.h"
#include "analysis/facts/ops.h"

/*
 * What is usual for a node: how long its peers take, the same execution of the same op (or the gap before it) in the same step
 * on other cores that run the program; or its likes, the same on the same core in other steps. It is the median of the others:
 * where there is no such node it counts as nothing. TS_USUAL_UNKNOWN: there are no others.
 */
enum ts_level {
	TS_LEVEL_PEERS,
	TS_LEVEL_MEAN, /* the mean of it and its peers, instead of a median: of what is shared out among cores */
	TS_LEVEL_STEPS,
	TS_NR_LEVELS
};
#define TS_USUAL_UNKNOWN INT64_MAX

/* All that a cure changes. */
struct ts_replay_times {
	int64_t *own_ps, *lag_ps; /* by node */
	struct ts_path_gap *gaps; /* by gap */
};

struct ts_run_replay {
	bool is_known;
	struct ts_path path;
	struct ts_replay replay;
	uint32_t *fact; /* by node: of an op its place in facts/ops.h, of a gap in .gaps; TS_NONE */
	int64_t *exposed_ps; /* by node: what it waited for a transfer alone, once all had come */
	struct ts_path_gap *gaps;
	int64_t *free_ps; /* by gap: of its idle time, that which no finding may take */
	size_t nr_gaps, nr_facts, nr_inferred; /* inferred: nodes */
	int64_t *usual_ps[TS_NR_LEVELS];       /* of each node; NULL: nobody asks */
	struct ts_replay_times kept, aside;
	int64_t recorded_ps, length_ps; /* the run's length; and of what was kept last */
	double scale;			/* of the whole run to what the graph has of it */
	int64_t measured_ps;		/* the same, if no node waited for what is only inferred */
	/* Of each op and each class, over all nodes: what it has without waiting for others, and what of that is left. */
	double *op_ps, *op_left_ps, *op_recorded_ps; /* recorded: with waiting */
	double class_ps[TS_NR_BUCKETS], class_left_ps[TS_NR_BUCKETS];
};

/* What a cure takes of the time that is left: 0..1 of each op, by its place in facts/ops.h, and of gaps of each class. */
struct ts_shares {
	double *ops;
	double classes[TS_NR_BUCKETS];
};

/* WALL_PS: what the run takes, of which the graph may have the beginning alone; lengths are of the whole. */
enum ts_status ts_run_replay_open(struct ts_run_replay *run, const struct ts_context *ctx,
				  const struct ts_critical_path_facts *facts,
				  const struct ts_ops_facts *ops, int64_t wall_ps,
				  struct ts_error *err);
void ts_run_replay_close(struct ts_run_replay *run);

void ts_run_replay_take(struct ts_run_replay *run, const struct ts_shares *shares);
/* What of a gap may be taken is KEEP of what it was. */
void ts_run_replay_shorten(struct ts_run_replay *run, uint32_t node, double keep);
/* Of the gaps for which IS_FREE the idle time is no loss. Before anything is taken. */
void ts_run_replay_free_gaps(struct ts_run_replay *run,
			     bool (*is_free)(const void *arg, uint32_t node), const void *arg);
/* Whether the node waits for what another core sends. */
bool ts_run_replay_receives(const struct ts_run_replay *run, uint32_t node);
/* The length of the run as it is now. */
int64_t ts_run_replay_length(struct ts_run_replay *run);
/* The node takes OWN_PS, whatever it awaits. */
void ts_run_replay_stop_waiting(struct ts_run_replay *run, uint32_t node, int64_t own_ps);
/* The same length, if no node waited for what is only inferred: such a node takes as long as it did. Where none is, LENGTH_PS. */
int64_t ts_run_replay_length_measured(struct ts_run_replay *run, int64_t length_ps);
/* Everything that was changed since then stays, and what is left follows. */
void ts_run_replay_keep(struct ts_run_replay *run, int64_t length_ps, int64_t measured_ps);
/* Back to what was kept last. */
void ts_run_replay_undo(struct ts_run_replay *run);

/* replay_usual.c: fills .usual_ps of a level. */
enum ts_status ts_run_replay_find_usual(struct ts_run_replay *run, enum ts_level level,
					struct ts_error *err);
/* Whether the node is an op whose work the data shares out among the cores, as tokens among experts. */
bool ts_run_replay_is_shared(const struct ts_run_replay *run, uint32_t node);

#endif
