/*
 * The collectives analysis' own header: what was seen of each collective on each core. Shared by
 * collectives.c (the pass), collectives_op.c (what an op is), collectives_groups.c (who meets),
 * collectives_skew.c (who waits for whom), collectives_facts.c (a row an op) and
 * collectives_report.c (the tables) only.
 *
 * A collective is a slot of model/async.h.
 */
#ifndef TS_ANALYSIS_COLLECTIVES_H
#define TS_ANALYSIS_COLLECTIVES_H

#include "analysis/analysis.h"
#include "analysis/facts/collectives.h"
#include "base/check.h"
#include "model/async.h"

#define COLLECTIVES_MAX_INSTANCES (1 << 20) /* instances kept of a run, 16 bytes each */

bool ts_collective_slots_make(struct ts_async_slots *slots, const struct ts_profile *profile);

/* When a core arrived, and when it was done. */
struct collective_time {
	int64_t start_ps, end_ps;
};

/* A slot on one core. */
struct collective_seen {
	struct ts_async_seen async;
	struct collective_time *times; /* instance by instance */
	size_t nr, cap;
	bool is_open_kept; /* a start without its done so far is the last of .times */
};

/* What the compiled module says of a collective; sizes and counts -1 where unknown. */
struct collective_op {
	struct ts_bytes kind; /* all-reduce, reduce-scatter, ...: less -start and -done */
	int64_t operand_bytes, output_bytes;
	int64_t bytes; /* that its bandwidth is reckoned by */
	int64_t group_size;
	double bus_factor; /* bytes a core sends over its links, for each of .bytes; NaN */
};

struct collective_op ts_collective_op_of(const struct ts_profile *profile, const struct ts_op *op);

/* Who came last, over the instances that could be matched. */
struct collective_skew {
	int64_t nr_matched, sum_ps, max_ps, wait_ps;
	struct ts_collective_core *cores; /* one a device; .device is not set */
};

enum collective_grouped { COLLECTIVE_UNGROUPED, COLLECTIVE_GROUPED, COLLECTIVE_NOMEM };
/* Which cores meet, by the times at which they leave. GROUP gets the first device of each device's group,
 * TS_NONE for those that did not run it. */
enum collective_grouped ts_collective_groups(struct collective_seen *const *seen, size_t nr_devices,
					     int64_t group_size, uint32_t *group);

/* SEEN: of each device, the slot. False: no memory. .cores is zeroed by the caller. */
void ts_collective_match(struct collective_seen *const *seen, size_t nr_devices, bool is_cut,
			 struct collective_skew *skew);
/* The one that comes last most often, or TS_NONE. */
uint32_t ts_collective_straggler(const struct ts_collective_core *cores, size_t nr);

struct collectives_state {
	/* of a line */
	uint32_t device_index;
	size_t nr_kept, max_kept;
	struct ts_async_slots slots; /* of a line, and of the sum */
	bool is_cut;		     /* more instances than are kept */
	/* by device and slot: of a line one device */
	struct collective_seen *seen;
	size_t nr_seen, nr_devices;
};

/* A slot over all cores. */
struct collective_row {
	uint32_t op;
	struct collective_op what;
	struct ts_async_seen sum;
	size_t nr_cores;
	uint32_t device; /* the first that ran it */
	struct collective_skew skew;
	bool is_unmatched;	/* its groups are smaller than the run, and unknown */
	struct ts_bytes groups; /* "{0,1},{2,3}" where they were found out; devices */
};

struct collective_rows {
	struct collective_row *items; /* the most exposed first */
	size_t nr;
	struct ts_collective_core *cores; /* of each row, one a device */
	struct ts_collective_core *all;	  /* over all rows, one a device */
};

/* collectives_facts.c: fills ROWS, which the caller releases, and FACTS. False: no memory. */
bool ts_collectives_read(const struct collectives_state *sum, const struct ts_context *ctx,
			 struct ts_arena *arena, struct collective_rows *rows,
			 struct ts_collectives_facts *facts);
void ts_collectives_release_rows(struct collective_rows *rows);

/* collectives_report.c */
void ts_collectives_report(const struct collectives_state *sum, const struct ts_context *ctx,
			   const struct collective_rows *rows,
			   const struct ts_collectives_facts *facts, struct ts_result *result);

#endif
