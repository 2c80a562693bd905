/* SPDX-License-Identifier: MIT */
/*
 * The collectives analysis' own header: what was seen of each collective on each core. Shared by
 * collectives.c (the pass), collectives_kept.c (which arrivals are kept), collectives_op.c (what an op
 * is), collectives_clocks.c, collectives_pairs.c, collectives_meet.c and collectives_tree.c (hosts' clocks), collectives_groups.c
 * (who meets), collectives_skew.c (who waits for whom), collectives_facts.c (a row an op) and
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

#define COLLECTIVES_HOST_INSTANCES 24576 /* arrivals kept of a host, 16 bytes each */

enum ts_status ts_collective_slots_make(struct ts_async_slots *slots,
					const struct ts_profile *profile, struct ts_error *err);

/* When a core arrived, and when it was done. */
struct collective_time {
	int64_t start_ps, end_ps;
};

/*
 * A slot on one core. Of its executions, numbered from 0, those are kept whose block of
 * COLLECTIVE_BLOCK has a number that 2^level divides: neighbours stay beside each other, and what one
 * core keeps another keeps too, once both have the higher level of the two.
 */
#define COLLECTIVE_BLOCK   16
#define COLLECTIVE_DROPPED 40 /* the level at which nothing is kept */

struct collective_seen {
	struct ts_async_seen async;
	struct collective_time *times; /* instance by instance */
	size_t nr, cap;
	uint64_t nr_all; /* executions, kept or not */
	uint8_t level;
	bool is_open_kept; /* a start without its done so far is the last of .times */
};

/* collectives_kept.c. */
enum ts_status ts_collective_keep(struct collective_seen *seen, int64_t start_ps, int64_t end_ps,
				  struct ts_error *err);
/* Thins what is kept up to LEVEL. */
void ts_collective_raise(struct collective_seen *seen, uint8_t level);
/* Thins by one level; a single block is dropped. */
void ts_collective_thin(struct collective_seen *seen);
/* The number of a kept execution, and where in .times the one with NUMBER is; SIZE_MAX: it is not kept. */
int64_t ts_collective_number(const struct collective_seen *seen, size_t i);
size_t ts_collective_at(const struct collective_seen *seen, int64_t number);
/* The kept execution that ended nearest to T. .nr > 0. */
size_t ts_collective_nearest(const struct collective_seen *seen, int64_t t_ps);
/*
 * How much higher OTHER numbers an execution than BASE, of one level and one clock: captures may begin
 * and end between two cores' executions. On one host equal counts mean 0.
 */
int64_t ts_collective_shift(const struct collective_seen *base, const struct collective_seen *other,
			    bool is_same_host);

/* A slot on each device of the run, and the devices' hosts. */
struct collective_cores {
	struct collective_seen *const *seen;
	const uint32_t *host;
	const struct ts_host_clock *clocks; /* by host; NULL: one clock */
	size_t nr_devices;
};

/* What the compiled module says of a collective; sizes and counts -1 where unknown. */
struct collective_op {
	struct ts_bytes kind; /* all-reduce, reduce-scatter, ...: less -start and -done */
	int64_t operand_bytes, output_bytes;
	int64_t bytes; /* that its bandwidth is reckoned by */
	int64_t group_size, nr_devices;
	double bus_factor; /* bytes a core sends over its links, for each of .bytes; NaN */
};

struct collective_op ts_collective_op_of(const struct ts_profile *profile, const struct ts_op *op);

/* Who came last, over the instances that could be matched. */
struct collective_skew {
	int64_t nr_matched, sum_ps, max_ps, wait_ps;
	struct ts_collective_core *cores; /* one a device; .device is not set */
};

/* Which cores meet, by the times at which they leave: DEVICES (rising) is sorted so that each GROUP_SIZE
 * of them are a group, in the order of their first ones; *FOUND: the groups stand out. */
enum ts_status ts_collective_groups(const struct collective_cores *cores, uint32_t *devices,
				    size_t nr, int64_t group_size, bool *found,
				    struct ts_error *err);

/* Adds what the DEVICES waited for each other. .cores is zeroed by the caller. */
enum ts_status ts_collective_match(const struct collective_cores *cores, const uint32_t *devices,
				   size_t nr, struct collective_skew *skew, struct ts_error *err);
/* The one that comes last most often, or TS_NONE. */
uint32_t ts_collective_straggler(const struct ts_collective_core *cores, size_t nr);

struct collectives_state {
	/* of a line */
	uint32_t device_index;
	size_t nr_kept, max_kept;
	struct ts_async_slots slots; /* of a line, and of the sum */
	/* by device and slot: of a line one device */
	struct collective_seen *seen;
	size_t nr_seen, nr_devices;
	/* Of a line that has more than may be kept: a tree over .seen, of which each node is the slot below it that has most; node 1 is
	 * the root, and the leaves are from nr_leaves on. */
	uint32_t *most;
	size_t nr_leaves;
};

/* A slot over all cores. */
struct collective_row {
	uint32_t op;
	struct collective_op what;
	struct ts_async_seen sum;
	size_t nr_cores;
	uint32_t device;		/* the first that ran it */
	struct collective_skew skew;	/* .cores: scratch, of the row that is read */
	struct ts_collective_core late; /* the one that came last most often; .device TS_NONE */
	bool is_unmatched;		/* its groups are smaller than the run, and unknown */
	bool is_unaligned;		/* it ran on hosts whose clocks are not known */
	bool is_thinned;		/* not all executions are compared */
	struct ts_bytes groups;		/* "{0,1},{2,3}" where they were found out; devices */
	const uint32_t *members;	/* as facts/collectives.h has them */
	size_t nr_members, group_size;
};

struct collective_rows {
	struct collective_row *items; /* the most exposed first */
	size_t nr;
	struct ts_collective_core *all; /* over all rows, one a device */
};

/* Whether each core that ran the collective waits for each other, where NR_CORES ran it. */
bool ts_collective_is_common(const struct collective_op *what, size_t nr_cores);

/*
 * collectives_pairs.c: how the clock of a host differs from that of another, by the ends of one
 * collective. Times of a host are those of its cores together: the last arrival, the first end.
 */
struct collective_pair {
	uint32_t host, base; /* HOST's clock against BASE's */
	enum ts_clock_source source;
	int64_t offset_ps, pivot_ps, spread_ps, nr_matched;
	double drift;
};

/* Pairs of hosts that ran a slot. */
struct collective_pairs {
	const struct ts_context *ctx;
	struct collective_pair *items;
	size_t nr, cap;
	struct ts_map by_hosts;	   /* host and base -> item */
	uint32_t *nr_tried;	   /* of each host: slots that were looked at */
	enum ts_clock_source *why; /* of each host: why it is in no pair */
};
/* CORES: a slot for which all cores wait. */
enum ts_status ts_collective_pairs_add(struct collective_pairs *pairs,
				       const struct collective_cores *cores, struct ts_error *err);

/* A slot on a host: the executions of its cores as one, or of one core, numbered as those of DEVICE. */
struct collective_host {
	uint32_t host, device;
	struct collective_seen seen;
};

/* How one clock stands to another; MEAN: the mean distance of executions from it. */
struct collective_line {
	int64_t offset_ps, pivot_ps, spread_ps;
	double drift, mean_ps;
};

/* The line under a shift of the numbers; false: too few executions are on both. */
bool ts_collective_line_of(const struct collective_host *base, const struct collective_host *other,
			   int64_t shift, struct collective_line *line);
/* Adds the pair under this shift, unless the ends speak against it. */
enum ts_status ts_collective_pair_add(struct collective_pairs *pairs,
				      const struct collective_host *base,
				      const struct collective_host *other, int64_t shift,
				      enum ts_clock_source source, struct ts_error *err);

/* collectives_meet.c: the same of a slot whose groups are smaller than the run, and not known yet. */
enum ts_status ts_collective_pairs_meet(struct collective_pairs *pairs,
					const struct collective_cores *cores, struct ts_error *err);

/* collectives_tree.c: each host's clock from the pairs that agree best. CLOCKS: one a host. */
enum ts_status ts_collective_clocks_solve(struct collective_pairs *pairs, size_t nr_hosts,
					  struct ts_host_clock *clocks, struct ts_error *err);

/* collectives_clocks.c: finds the clocks of the hosts (FACTS) and puts the kept times of SUM on those of
 * their reference hosts. */
enum ts_status ts_collectives_align(struct collectives_state *sum, const struct ts_context *ctx,
				    struct ts_arena *arena, struct ts_collectives_facts *facts,
				    struct ts_error *err);

/* collectives_facts.c: fills ROWS, which the caller releases, and FACTS. */
enum ts_status ts_collectives_read(const struct collectives_state *sum,
				   const struct ts_context *ctx, struct ts_arena *arena,
				   struct collective_rows *rows, struct ts_collectives_facts *facts,
				   struct ts_error *err);
void ts_collectives_release_rows(struct collective_rows *rows);

/* collectives_report.c */
void ts_collectives_report(const struct collectives_state *sum, const struct ts_context *ctx,
			   const struct collective_rows *rows,
			   const struct ts_collectives_facts *facts, struct ts_result *result);

#endif
