/* SPDX-License-Identifier: MIT */
/*
 * The critical path analysis' own header: what ran on each core, and what waited for what. Shared by critical_path.c (the pass),
 * critical_path_graph.c (the graph of a run), critical_path_meet.c (its meetings), critical_path_send.c (who sends) and
 * critical_path_report.c (the result) only.
 */
#ifndef TS_ANALYSIS_CRITICAL_PATH_H
#define TS_ANALYSIS_CRITICAL_PATH_H

#include "analysis/facts/collectives.h"
#include "analysis/facts/critical_path.h"
#include "analysis/facts/gaps.h"
#include "analysis/facts/streams.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X)
#define TS_SHOWS(X) X(collectives) X(gaps) X(streams) X(time) X(doctor)
#include "analysis/kit/needs.h"
#include "analysis/kit/run_steps.h"

#define PATH_MOMENTS (1 << 18) /* kept of all cores of the run; a step is kept as a whole */
#define PATH_SLOWEST 8	       /* steps that are kept in any case */
#define PATH_DONE_PS TS_PS_PER_US /* what a wait takes when what it waits for is there: a look at a flag */

/* A moment that belongs to one op, by the clock of its host, and the step of the run that it lies in. */
struct path_moment {
	int64_t start_ps, end_ps;
	uint32_t op, row; /* .row TS_NONE: it lies in none */
};

/* Of a core's steps those are kept whose row 2^level divides, and the slowest of the run. */
struct path_core {
	struct path_moment *moments; /* in the order of time */
	size_t nr, cap;
	uint8_t level;
	bool is_cut; /* without steps: what came later is left out */
};

struct path_state {
	/* of a line */
	uint32_t device;
	struct path_core own;
	uint32_t
		row; /* the step that its moments are in, up to .row_until_ps, and whether it is kept */
	int64_t row_until_ps;
	bool keeps_row;
	size_t hint, max;
	/* of the sum */
	struct path_core *cores; /* by device */
	size_t nr_cores;
};

/* Whether a core keeps the moments of a step. */
static inline bool ts_path_keeps(const struct ts_context *ctx, uint8_t level, uint32_t row)
{
	return level == 0 ||
	       (row != TS_NONE && (row % (UINT32_C(1) << level) == 0 ||
				   ts_run_steps_slow_at(ctx->steps, row) < PATH_SLOWEST));
}

/* A node of the row at hand, which lies in STEP. */
static inline enum ts_status ts_path_push(struct ts_path *path, const struct ts_graph_node *node,
					  uint32_t step, struct ts_error *err)
{
	size_t at = path->graph.nr_nodes;

	if (!ts_room_grow(path->graph.rooms, &path->step, &path->cap_steps, at + 1,
			  sizeof(*path->step)))
		return ts_fail_nomem(err);
	path->step[at] = step;
	return ts_graph_add(&path->graph, node, err);
}

/* critical_path_graph.c */
const struct path_moment *ts_path_moment_behind(const struct ts_path *path, uint32_t node);

/* critical_path_meet.c: which meetings the ops of one core join and await. */
struct path_meeting {
	struct ts_path *path;
	struct ts_map met;     /* hash of what is met, step and number -> meeting */
	struct ts_map senders; /* channel -> the only device that sends over it, or MANY */
	struct ts_map sent,
		received; /* found out: a moment's place -> the meeting that it ends into, or awaits */
	/* Of the core at hand. */
	uint32_t device;
	uint32_t *
		group; /* by op: which of its groups the core is in; TS_NONE: it was not looked for */
	uint32_t *count; /* by op: executions in this step */
	uint32_t *count_row;
	uint32_t *open; /* by op: the meeting of a start that has no done yet */
};
enum ts_status ts_path_meeting_open(struct path_meeting *meeting, struct ts_path *path,
				    struct ts_error *err);
void ts_path_meeting_core(struct path_meeting *meeting, uint32_t device);
/* Fills what NODE, the AT-th moment of the core, joins and awaits. */
enum ts_status ts_path_meet(struct path_meeting *meeting, size_t at, struct ts_graph_node *node,
			    struct ts_error *err);
/* Of an op that all of a group of devices come to, where the meeting is; TS_GRAPH_NONE: it is not known who. */
enum ts_status ts_path_meet_collective(struct path_meeting *meeting,
				       const struct path_moment *moment, uint32_t *found,
				       struct ts_error *err);
/* A key for a moment of a core. */
static inline uint64_t ts_path_place(uint32_t device, size_t at)
{
	return (uint64_t)device << 32 | at;
}
void ts_path_meeting_close(struct path_meeting *meeting);

/* critical_path_send.c: fills .senders, .sent and .received. */
#define TS_PATH_MANY  (TS_NONE - 1) /* senders */
#define TS_PATH_NO_ID UINT64_MAX
/* A time of the device's host on the clock of all. */
int64_t ts_path_align(const struct ts_path *path, uint32_t device, int64_t t_ps);
/* The channel of a send or a receive between devices; TS_PATH_NO_ID: its module does not say, or it is one with the host. */
uint64_t ts_path_channel(const struct ts_profile *profile, const struct ts_op *op);
enum ts_status ts_path_find_senders(struct path_meeting *meeting, struct ts_error *err);

/* critical_path_streams.c: rows of GPUs */
enum ts_status ts_path_add_streams(struct ts_path *path, size_t max_moments, struct ts_error *err);
/* The moment of a thread's node, or the kernel behind a stream's idle time; of a tail the last one. */
const struct ts_stream_moment *ts_path_stream_moment(const struct ts_path *path, uint32_t node);
/* As ts_path_gap_of(): of the time that is no kernel's, what the devices of its host had nothing to run. */
struct ts_path_gap ts_path_stream_gap(const struct ts_path *path, uint32_t node, int64_t start_ps,
				      int64_t end_ps);

/* critical_path_report.c */
enum ts_status ts_path_report(void *state, const struct ts_context *ctx, struct ts_result *result,
			      struct ts_error *err);

#endif
