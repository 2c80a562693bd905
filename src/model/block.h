/* SPDX-License-Identifier: MIT */
/*
 * A block: a few thousand events of one line, one array a column. Owned by the reader, valid during
 * the call. Columns that the sink did not ask for, and that the line or the block does not have, are NULL.
 *
 * Events come in the order of their ends (an event is handed over when it is closed and its self
 * time is known; a child before its parent). Within a line that nests properly that is also the
 * order of the ends on the clock.
 *
 * Two clocks: start_ps and dur_ps are where the event stands on the run's timeline, as viewers draw
 * it. total_ps and self_ps are the op's time as XProf counts it: by the device's own clock
 * (device_offset_ps, device_duration_ps) where the profile has it, and nested by that clock; a sink
 * that does not ask for TS_COL_DEVICE_CLOCK gets the timeline's instead, and is served faster.
 *
 * Segments are the line cut into the moments that belong to one event each, the innermost that
 * runs: in the order of time, never overlapping, the gaps between them idle. Where two events
 * overlap without nesting, the later one has the moment. So the sum of segments is the time the
 * line was busy, exactly, whatever the input.
 */
#ifndef TS_MODEL_BLOCK_H
#define TS_MODEL_BLOCK_H

#include "model/profile.h"

/* A stat: a value of an event beside its columns. A text looks into the input. */
enum ts_stat_type { TS_STAT_INT, TS_STAT_REAL, TS_STAT_TEXT };
struct ts_stat {
	enum ts_stat_type type;
	int64_t number;
	double real;
	struct ts_bytes text;
	bool is_unsigned; /* the number is the bits of a uint64_t */
};

/* Not a stat of the event but its own name, where its op goes by another: of kernels that XLA's ops
 * launch. The number is the index of the op that would go by it. */
#define TS_STAT_KERNEL ""

/* Of lines of counters: the first stat of the event, whatever its name; and the number of the event's metadata. Any other stat
 * of theirs is that of the event, else of its metadata. */
#define TS_STAT_FIRST	 "#first"
#define TS_STAT_METADATA "#metadata"

struct ts_block;
/* The stat of this name of an event of the block; false: it has no such stat. */
typedef bool ts_stat_find(const struct ts_block *block, size_t event, const char *name,
			  struct ts_stat *stat);

/* The same of NR names (64 at most) in one look, for readers that must search the event for each: a stat that it
 * has not keeps what it was. How many it has. */
typedef size_t ts_stats_find(const struct ts_block *block, size_t event, const char *const *names,
			     size_t nr, struct ts_stat *stats);

/*
 * All stats of an event, one call of VISIT for each, in the order of the file; names may repeat. A
 * stat without a value is left out, and so are those of the device's clock. BODY is the block's of that
 * event; it may be kept as long as the profile, so the block need not be there any more. Names and texts
 * last as long as bodies. What is nested in a value (JSON) is stats of their own, "outer.inner"; lists are text.
 */
typedef void ts_stat_visit(void *ctx, struct ts_bytes name, const struct ts_stat *stat);
typedef void ts_stats_each(const struct ts_profile *profile, const struct ts_line *line,
			   struct ts_bytes body, ts_stat_visit *visit, void *ctx);

struct ts_block {
	const struct ts_profile *profile;
	const struct ts_line *line;
	uint32_t line_index;

	size_t nr_events;
	const uint32_t *op; /* index into profile->ops */
	const int64_t *start_ps, *dur_ps;
	const int64_t *total_ps, *self_ps;
	const uint16_t *depth; /* 0: not inside another event of the line */
	const int64_t
		*flops; /* per event, TS_UNKNOWN where it has none of its own; NULL: none has */
	const int64_t *bytes; /* likewise */
	const uint8_t *
		how; /* of these two, for kernels of a trace: bits of model/launched.h; NULL: of no event */
	const int64_t *occurrences; /* NULL: one each; 0: a kernel of the execution before it */
	const uint64_t *number;	    /* step_num of a step, run_id of a module; else TS_NO_NUMBER */
	const uint64_t *link;	    /* the number that a launch and its kernel share; TS_NO_LINK */

	/* For stats, which are looked for one by one: cheap for host threads, expensive for ops. */
	const struct ts_bytes *body; /* the undecoded event, for its reader */
	ts_stat_find *stat;
	ts_stats_find *stats; /* NULL: a look for each name costs no more */
	ts_stats_each *each;  /* NULL: its reader cannot */

	/* By the device's clock (as total_ps): from the first start to the last end of the line's
	 * events that were read so far, those of this block among them. */
	int64_t device_first_ps, device_last_ps;

	/* On the timeline, too, none of the line's events that were read so far begins before the one read before it. */
	bool is_in_order;

	size_t nr_segments;
	const uint32_t *segment_op;
	const int64_t *segment_start_ps, *segment_end_ps;
	/* Of the event that a segment is of, where events have such columns. */
	const int64_t *segment_flops, *segment_bytes;
	const uint8_t *segment_how;
};

#define TS_NO_NUMBER UINT64_MAX
#define TS_NO_LINK   UINT64_MAX

enum ts_columns { /* bits: what a sink wants filled beside op, start, dur, total, self, depth */
		  TS_COL_SEGMENTS = 1,
		  TS_COL_COSTS = 2, /* flops, bytes, how; also those of segments */
		  TS_COL_NUMBER = 4,
		  TS_COL_DEVICE_CLOCK =
			  8, /* total_ps, self_ps and nesting; without it: the timeline's clock */
		  TS_COL_STATS = 16, /* body, stat, each */
		  TS_COL_LINK = 32,
};

/* What an event says of its time and cannot be. */
enum ts_fault {
	TS_FAULT_OUTSIDE, /* it begins where the capture is not: it is left out */
	TS_FAULT_ENDLESS, /* it lasts longer than the capture, and ends with it */
	TS_FAULT_OVER,	  /* on a stream, it goes on while what follows it runs, and is cut there */
	TS_FAULT_NEGATIVE, /* its length is below 0, and counts as 0 */
	TS_NR_FAULTS
};

/* Of a line: how many events have the fault, and the first of them. */
struct ts_faults {
	struct {
		uint64_t nr;
		uint32_t op;
		struct ts_bytes body;
		int64_t ps; /* how far outside, beyond the capture's end or over what follows; below 0: before */
		uint64_t nr_over; /* events that it goes on over */
	} of[TS_NR_FAULTS];
};

/* Where blocks go. A status other than TS_OK ends the line and is given back by the reader. */
struct ts_sink {
	void *ctx;
	unsigned columns;
	enum ts_status (*block)(void *ctx, const struct ts_block *block, struct ts_error *err);
	/*
	 * By op of the profile: whether the sink looks at its events and segments; NULL: at all. A reader may
	 * pass over the others where they are inside of none that is looked at: what it hands over of an op that is
	 * looked at stays the same but for its depth.
	 */
	const bool *looks_at;
	struct ts_faults *faults; /* of all events of the line, zeroed before; NULL: nobody asks */
};

#endif
