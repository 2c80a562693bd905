/* SPDX-License-Identifier: MIT */
/*
 * The hta_critical_path analysis' own header: the longest path through what a step did. Shared by
 * hta_critical_path.c (the pass), hta_critical_path_steps.c (steps and their calls), hta_critical_path_sync.c (what the
 * trace says of waits), hta_critical_path_graph.c (nodes and edges of a step), hta_critical_path_path.c (the longest
 * path), hta_critical_path_state.c (what a state is made of) and hta_critical_path_report.c (the result) only.
 *
 * A node is the start or the end of an operator, of a call of the runtime or of a kernel. It is made when
 * all that leads to it is known, so it keeps the longest way to it and the node before it on that way,
 * and an edge is forgotten at once.
 *
 * Memory: the nodes of CP_LIVE steps at most, CP_NODES each, and CP_WAITS waits a stream; of a finished step CP_ROWS rows.
 */
#ifndef TS_ANALYSIS_CRITICAL_PATH_H
#define TS_ANALYSIS_CRITICAL_PATH_H

#include "analysis/analysis.h"
#include "model/launches.h"
#include "model/trace_class.h"

enum cp_kind { /* what the time of an edge is; the order of the report */
	       CP_OPERATOR,
	       CP_CALL,
	       CP_LAUNCH_DELAY,
	       CP_KERNEL,
	       CP_COPY,
	       CP_COMMUNICATION,
	       CP_QUEUE_DELAY,
	       CP_SYNC,
	       CP_DEPENDENCY, /* what follows another thing and takes no time */
	       CP_NR_KINDS
};
extern const char *const ts_cp_kind_names[];

#define CP_LIVE	     3 /* steps whose kernels may still come */
#define CP_NODES     (1U << 20)
#define CP_ROWS	     40
#define CP_STEPS     4096 /* finished ones of a host */
#define CP_WAITS     4096 /* of a stream, for events, whose kernels did not come yet */
#define CP_BEHIND    1024 /* kernels that a stream holds: what is further back ended long ago */

struct cp_node {
	int64_t at_ps, long_ps; /* long_ps: of the longest path to here */
	uint32_t before, op;	/* on that path, or TS_NONE; what the edge from there belongs to */
	uint32_t
		beside; /* a kernel's start: its launch; its end: that of the kernel before on its stream; or TS_NONE */
	uint8_t kind; /* enum cp_kind of that edge */
	bool waits; /* of a launch: its stream waits for another one, which the trace does not name */
};

enum cp_sync {
	CP_SYNC_NONE,
	CP_SYNC_NEXT,	/* what is launched next waits */
	CP_SYNC_BLOCKS, /* its own time is waiting, whatever for */
	CP_SYNC_EVENT,	/* and for a kernel that ended meanwhile */
	CP_SYNC_STREAM, /* and for the last kernel of a stream that is not named */
	CP_SYNC_DEVICE, /* and for the last kernels of all streams */
	CP_NR_SYNCS
};

struct cp_awaited {	   /* by an event that was recorded */
	uint32_t line;	   /* the stream; TS_NONE: nothing */
	int64_t before_ps; /* its last kernel that was launched until then */
};

struct cp_wait { /* of a stream: the next kernel that is launched after AT_PS does not start before WHAT ended */
	int64_t at_ps;
	struct cp_awaited what;
};

struct cp_open { /* an operator or a call that did not end yet */
	int64_t start_ps, end_ps;
	uint32_t op, node; /* its start */
	uint8_t kind;	   /* CP_OPERATOR or CP_CALL */
	uint8_t sync;	   /* enum cp_sync, by its name */
	bool launches;
	uint8_t told; /* likewise, by a synchronization event; CP_SYNC_NONE: there is none */
	struct cp_awaited what; /* of these CP_SYNC_STREAM and CP_SYNC_EVENT */
};

struct cp_lane { /* a thread or a stream, within a step */
	uint32_t line;
	uint32_t last; /* its latest node, or TS_NONE */
	bool is_thread;
	struct cp_open *open;
	size_t nr_open, cap_open;
	struct cp_wait *waits; /* in the order of their times */
	size_t nr_waits, cap_waits;
	bool next_waits; /* of a thread: what it launches next */
};

struct cp_graph {		    /* a step */
	uint64_t number;	    /* TS_NO_NUMBER: the whole trace */
	uint32_t id;		    /* of a host: counts up */
	int64_t start_ps, until_ps; /* what begins in here on a thread is the step's */
	struct cp_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct cp_lane *lanes;
	size_t nr_lanes, cap_lanes;
	bool is_cut; /* more nodes than are kept */
};

struct cp_row {
	uint32_t op;
	uint8_t kind;
	int64_t time_ps;
	uint64_t nr;
};

struct cp_path { /* of a finished step */
	uint32_t host;
	uint64_t number, nr_nodes;
	int64_t start_ps, end_ps;
	int64_t kind_ps[CP_NR_KINDS];
	uint64_t nr_edges[CP_NR_KINDS];
	struct cp_row rows[CP_ROWS]; /* the largest first */
	uint32_t nr_rows;
	int64_t others_ps;  /* of the path's rows that are not kept */
	uint64_t nr_others; /* in them */
	uint64_t nr_other_rows;
	bool is_cut;
};

struct cp_state {
	/* of a host */
	uint32_t host, mark_line; /* TS_NONE: no mark was seen */
	uint32_t nr_ids;
	bool has_marks, has_syncs; /* the trace says what waits for what */
	uint8_t *sides;		   /* of lines */
	uint8_t *kinds, *syncs;	   /* of ops: what was found out of their names */
	uint8_t *kernels;	   /* likewise: an enum cp_kind and 1; 0: not seen yet */
	uint32_t *streams; /* of lines with synchronization events: the kernels' line, or TS_NONE */
	int64_t *busy_ps;  /* of lines: the end of the kernels so far */
	struct ts_launches launches;
	struct cp_graph *live;
	size_t nr_live, cap_live;
	/* of the sum */
	struct cp_path *paths;
	size_t nr_paths, cap_paths;
	uint64_t nr_dropped; /* steps that are not kept */
};

/* hta_critical_path_state.c */
extern const struct ts_record ts_hta_critical_path_record;

/* hta_critical_path_steps.c */

enum ts_status ts_cp_begin_step(struct cp_state *state, uint64_t number, int64_t start_ps,
				int64_t until_ps, struct ts_error *err);
/* The oldest of the live steps is done with: its path is kept. */
enum ts_status ts_cp_finish_oldest(struct cp_state *state, struct ts_error *err);
/* The step that began last of those that AT_PS lies in; NULL. */
struct cp_graph *ts_cp_step_at(struct cp_state *state, int64_t at_ps);
/* The node of the call that has this link, and its step; NULL. */
struct cp_graph *ts_cp_call(struct cp_state *state, uint64_t link, uint32_t *node);
/* What has this link later was asked for by NODE. */
enum ts_status ts_cp_note_call(struct cp_state *state, uint64_t link, const struct cp_graph *graph,
			       uint32_t node, struct ts_error *err);

/* hta_critical_path_sync.c */

bool ts_cp_has_syncs(const struct ts_profile *profile);
bool ts_cp_is_sync_line(const struct ts_profile *profile, const struct ts_line *line);
/* The line of the stream that LINE has synchronization events of, or TS_NONE. */
uint32_t ts_cp_stream_of(const struct ts_profile *profile, const struct ts_line *line, int64_t id);
/* What a synchronization event says. */
enum ts_status ts_cp_take_sync(struct cp_state *state, const struct ts_interleaved *interleaved,
			       size_t i, struct ts_error *err);

/* hta_critical_path_graph.c; from the moment that .is_cut nothing is added */

/* An operator or a call begins on LINE: its node; TS_NONE: the step is cut. */
enum ts_status ts_cp_begin(struct cp_graph *graph, uint32_t line, const struct cp_open *open,
			   uint32_t *node, struct ts_error *err);
/* A kernel of LINE, launched by the call whose node is LAUNCH; until BUSY_PS the stream had others. */
enum ts_status ts_cp_kernel(struct cp_graph *graph, uint32_t line, uint32_t launch, uint32_t op,
			    enum cp_kind kind, int64_t start_ps, int64_t end_ps, int64_t busy_ps,
			    struct ts_error *err);
/* The call whose node is CALL waits for TOLD; if it ended already, that comes too late. */
void ts_cp_call_waits(struct cp_graph *graph, uint32_t call, enum cp_sync told,
		      struct cp_awaited what);
/* So does the stream LINE. */
enum ts_status ts_cp_stream_waits(struct cp_graph *graph, uint32_t line, struct cp_wait wait,
				  struct ts_error *err);
/* What the thread LINE launches next waits for another stream, which is not named. */
void ts_cp_next_waits(struct cp_graph *graph, uint32_t line);
/* The latest node of a thread; TS_NONE: there is none. */
uint32_t ts_cp_latest(const struct cp_graph *graph, uint32_t line);
/* Nothing comes any more: what is open ends. */
enum ts_status ts_cp_end(struct cp_graph *graph, struct ts_error *err);

/* hta_critical_path_path.c: the longest path of an ended step */
enum ts_status ts_cp_path(const struct cp_graph *graph, struct cp_path *path, struct ts_error *err);

/* hta_critical_path_report.c */
enum ts_status ts_cp_report(const struct cp_state *sum, const struct ts_context *ctx,
			    struct ts_result *result, struct ts_error *err);

#endif
