/* SPDX-License-Identifier: MIT */
/*
 * A compiled module's schedule, walked in the order in which a core runs it, with the time that each op
 * takes given from outside: what runs when, what a transfer hides behind and what the core waits for.
 *
 * The core does one op after the other. A transfer (a -start) takes its turn on a lane of its own and goes
 * on beside the core; the -done waits until it has ended. A loop runs as often as is said, a conditional
 * takes its most expensive branch. So one execution of the module is one pass over its schedule.
 *
 * The walk is bounded: TS_SCHEDULE_OPS ops. From then on a trip of a loop stands for all that are left, so
 * sums are of all trips (as if each left out went like the last that was walked), events of those walked.
 */
#ifndef TS_MODEL_SCHEDULE_H
#define TS_MODEL_SCHEDULE_H

#include "model/hlo.h"

#define TS_SCHEDULE_OPS	 UINT64_C(100000)
#define TS_SCHEDULE_ISSUE_PS INT64_C(5000) /* of a start, and of a done that need not wait; measured: 2 to 6 ns (v6e) */

enum ts_lane {
	TS_LANE_CORE,
	TS_LANE_DMA, /* between the memories of a chip */
	TS_LANE_TO_HOST,
	TS_LANE_FROM_HOST,
	TS_LANE_ICI, /* between chips */
	TS_NR_LANES,
};

/* Three times of the same program: as it is expected, and the least and the most that is thought possible. */
enum ts_case { TS_CASE_LIKELY, TS_CASE_LOW, TS_CASE_HIGH, TS_NR_CASES };

/* What the walk is told of each instruction of the module, by their indices. */
struct ts_schedule_op {
	int64_t ps
		[TS_NR_CASES]; /* alone; of a start its transfer; 0: it takes no time. Not below 0 */
	int64_t trips;	       /* of a loop, 0 or more */
	enum ts_lane
		lane; /* not the core's: it is a transfer, or a collective that the core waits for */
	bool is_start;
	uint32_t start; /* of a done: where it began; TS_NONE: it is no done, or that is unknown */
};

/* What came of an instruction, over all its executions. */
struct ts_schedule_sum {
	int64_t runs;
	int64_t core_ps; /* of the core, waits among it; not that of ops inside a loop */
	int64_t lane_ps; /* of its lane, where that is not the core's */
};

struct ts_schedule_event {
	uint32_t instr;
	int64_t start_ps, dur_ps;
};

struct ts_schedule_events {
	struct ts_schedule_event
		*items; /* in the order of starts, whoever holds others first; free() */
	size_t nr, cap;
};

/* Filled by ts_schedule_walk(). .ops, .sums and .with_events are the caller's. */
struct ts_schedule {
	const struct ts_hlo_module *module;
	const struct ts_schedule_op *ops;
	enum ts_case which;
	struct ts_schedule_sum *sums; /* one an instruction, zeroed; or NULL */
	bool with_events;

	int64_t end_ps;				/* of the execution, which begins at 0 */
	int64_t core_ps;			/* of ops that the core works on */
	int64_t lane_ps[TS_NR_LANES];		/* of transfers */
	int64_t exposed_ps[TS_NR_LANES];	/* of them, what the core waited */
	int64_t left_out_trips, left_out_ps;	/* without events of their own */
	struct ts_schedule_events core, beside; /* of the core's line; transfers */
};

enum ts_status ts_schedule_walk(struct ts_schedule *walk, struct ts_error *err);
void ts_schedule_release(struct ts_schedule *walk);

bool ts_hlo_is_start(const struct ts_hlo_instr *instr);
/* The start that a done waits for, through the updates between; TS_NONE: it is not known. */
uint32_t ts_hlo_start_of(const struct ts_hlo_module *module, uint32_t done);

#endif
