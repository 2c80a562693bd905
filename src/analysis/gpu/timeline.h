/* SPDX-License-Identifier: MIT */
/*
 * The timeline analysis' own header: what the moments of a host were spent on. Shared by timeline.c
 * (the pass), timeline_state.c (what a state is made of), timeline_steps.c (which step a moment
 * belongs to), timeline_known.c (the steps that the outline knows) and timeline_report.c (the
 * result) only.
 */
#ifndef TS_ANALYSIS_TIMELINE_H
#define TS_ANALYSIS_TIMELINE_H

#include "analysis/analysis.h"
#include "analysis/facts/timeline.h"
#include "model/launches.h"
#include "model/sweep.h"
#include "model/trace_class.h"

/*
 * Kinds of a sweep. Events of devices come first. Communication is one class and two kinds: what
 * the devices do, and what the host calls.
 */
enum timeline_kind {
	KIND_KERNEL,
	KIND_MEMCPY,
	KIND_MEMSET,
	KIND_DEVICE_COMMUNICATION,
	KIND_COMMUNICATION,
	KIND_RUNTIME,
	KIND_DATALOADER,
	KIND_CPU_EXEC,
	KIND_HOST,   /* anything else that a thread does */
	KIND_PYTHON, /* frames of Python's tracer */
	NR_KINDS,
	KIND_RANGE = NR_KINDS, /* a name for a stretch of time, in which nothing runs by itself */
	KIND_NOTHING	       /* not yet looked at */
};
#define DEVICE_KINDS ((1u << KIND_COMMUNICATION) - 1)

/* Time by class; .before is what a step gives up if a device was busy with older work until
 * then. */
struct timeline_share {
	int64_t ps[TS_NR_TRACE_CLASSES], before_ps[TS_NR_TRACE_CLASSES];
};

struct timeline_step {
	uint64_t number;
	int64_t start_ps, host_end_ps; /* as the profile has it */
	int64_t end_ps;		       /* of the host's part or of its last kernel: the later one */
	int64_t mark_ps;	       /* the mark's start, whatever ran before it */
	int64_t kernel_ps;	       /* the start of its first one; INT64_MAX: no kernel so far */
	uint64_t nr_kernels, nr_launches;
	struct timeline_share own, gap; /* gap: between the step before and this */
	int64_t earliest_ps;		/* of devices: where the first of them begins it */
};

#define TIMELINE_LEFTOVERS 64

/* Whose steps they are. */
enum timeline_source {
	TIMELINE_NONE,	  /* there are none: all is one step */
	TIMELINE_MARKS,	  /* the host's marks, each to its last kernel */
	TIMELINE_DEVICES, /* the devices', their mean */
	TIMELINE_HOST,	  /* the host's marks, as they are */
};

struct timeline_steps {
	struct timeline_step *items;  /* in the order of starts */
	size_t nr, cap, live;	      /* live: all steps before it have ended */
	bool fixed;		      /* known from the start */
	uint32_t line;		      /* of the thread that marks them; TS_NONE: not seen yet */
	struct timeline_share behind; /* after the last step; in a trace without steps, all */
	/* Ends of kernels that no step launched, until the first step has a kernel. */
	int64_t leftovers[TIMELINE_LEFTOVERS];
	size_t nr_leftovers;
	int64_t first_ps; /* where the first step begins for devices */
	uint8_t source;	  /* enum timeline_source */
};

struct timeline_rank { /* a host */
	uint32_t host;
	int64_t first_ps, last_ps; /* first > last: no events */
	int64_t cpu_ps, device_ps, both_ps;
	int64_t cpu_time_ps, device_time_ps;
	struct timeline_steps steps;
	struct ts_slices slices;
};

struct timeline_stream { /* a stream of a GPU, a row of ops of another device */
	uint32_t line;
	uint64_t nr_events;
	int64_t busy_ps;
};

struct timeline_state {
	/* of a host */
	const struct ts_context *ctx;
	struct ts_sweep sweep;
	uint8_t *host_kinds, *device_kinds; /* of each op, once it was met: enum timeline_kind */
	uint8_t *sides;			    /* of each line: enum ts_trace_side */
	int64_t *until_ps;		    /* of each line: the end of what it did so far */
	struct timeline_stream *of_lines;   /* of each line; only those of devices are counted */
	size_t nr_lines;
	struct ts_launches launches; /* which step asked for it */
	struct ts_step *ranges; /* steps that are ranges of a thread, as the outline has them */
	size_t nr_ranges, nr_begun;
	bool failed; /* a moment could not be drawn for want of memory */
	struct timeline_rank rank;
	/* of the sum */
	struct timeline_rank *ranks;
	size_t nr_ranks, cap_ranks;
	struct timeline_stream *streams; /* those with events, of all ranks */
	size_t nr_streams, cap_streams;
};

/* timeline_state.c */
extern const struct ts_record ts_timeline_record;

/* timeline_steps.c */

/* What happens in [from, to) is of this class. */
void ts_timeline_steps_give(struct timeline_steps *steps, int64_t from_ps, int64_t to_ps,
			    enum ts_trace_class class);
/* A step that begins now. */
enum ts_status ts_timeline_steps_begin(struct timeline_steps *steps, int64_t start_ps,
				       int64_t end_ps, uint64_t number, struct ts_error *err);
/* The step that a call lies in, from start to end; TS_NONE: it lies in no step. */
uint32_t ts_timeline_steps_of_call(const struct timeline_steps *steps, int64_t start_ps,
				   int64_t end_ps);
/* A kernel that begins now; STEP launched it (TS_NONE: no step did). */
void ts_timeline_steps_kernel(struct timeline_steps *steps, uint32_t step, int64_t start_ps,
			      int64_t end_ps);
/* After the last moment. */
void ts_timeline_steps_finish(struct timeline_steps *steps);
/* A call launches a kernel in the step. */
void ts_timeline_steps_launch(struct timeline_steps *steps, uint32_t step);
/* How many steps count: of the last steps the profiler may have missed kernels. One that launched none is whole. */
size_t ts_timeline_steps_whole(const struct timeline_steps *steps);

/* timeline_known.c: the steps of HOST that the outline knows, if any. */
enum ts_status ts_timeline_steps_known(struct timeline_steps *steps, const struct ts_context *ctx,
				       uint32_t host, struct ts_error *err);

/* Those of HOST that are ranges of a thread: a copy, for the walk; NULL: there are none, or no memory (*NR above 0). */
struct ts_step *ts_timeline_ranges(const struct ts_context *ctx, uint32_t host, size_t *nr);

/* timeline_report.c */
enum ts_status ts_timeline_report(struct timeline_state *sum, const struct ts_context *ctx,
				  struct ts_timeline_facts *facts, struct ts_result *result,
				  struct ts_error *err);

#endif
