/* SPDX-License-Identifier: MIT */
/*
 * The hta analysis' own header: what is kept of the kernels and launches of a host while its events
 * go by in the order of their starts. Only hta*.c include it: hta.c (the pass), hta_times.c (what
 * ran together), hta_launches.c (calls whose kernels are still to come), hta_queue.c (how many
 * those were), hta_state.c (what a state is made of), hta_sequences.c (which kernels follow each
 * other), hta_collectives.c (what they send, and which rank is late), hta_facts.c (what other
 * analyses read), and hta_report.c with the hta_*_report.c (the result).
 *
 * Ranks are those of facts/hta.h.
 *
 * Memory: tables that grow with names, streams and ranks, and the launches that wait for their
 * kernels, HTA_LAUNCHES_MAX at most. Nothing grows with events.
 */
#ifndef TS_ANALYSIS_HTA_H
#define TS_ANALYSIS_HTA_H

#include "analysis/analysis.h"
#include "analysis/facts/hta.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(time)
#include "analysis/kit/needs.h"
#include "analysis/kit/spread.h"
#include "model/launches.h"
#include "model/trace_class.h"

/* --- hta_times.c */

/* What ran at the same time. Kernels come in the order of their starts. */
struct hta_overlaps {
	bool begun;
	int64_t first, last, at;
	int64_t until[TS_NR_KERNEL_TYPES];     /* no kernel of the type ends later */
	int64_t time[1 << TS_NR_KERNEL_TYPES]; /* by the set of types that ran; [0]: idle */
};

void ts_hta_overlaps_add(struct hta_overlaps *overlaps, enum ts_kernel_type type, int64_t start,
			 int64_t end);
void ts_hta_overlaps_finish(struct hta_overlaps *overlaps);
/* Time in which kernels of WITH ran (of any of these types). */
int64_t ts_hta_overlaps_any(const struct hta_overlaps *overlaps, unsigned with);
/* Time in which kernels of both ran. */
int64_t ts_hta_overlaps_both(const struct hta_overlaps *overlaps, unsigned a, unsigned b);

/* HTA's way to unite kernels, in its whole us: a kernel that is shorter than 1 us may end before it
 * begins, and then its time is negative when it runs alone. */
struct hta_union {
	bool begun;
	int64_t first, start, end, total;
};

void ts_hta_union_add(struct hta_union *un, int64_t start, int64_t end);
void ts_hta_union_finish(struct hta_union *un);

/* --- what is known of a rank */

struct hta_kernel {
	uint32_t op;
	struct ts_spread spread;
	int64_t sum_us; /* in HTA's whole us, of those that it counts */
};

struct hta_call { /* a call of the runtime that launches kernels */
	uint32_t op;
	struct ts_spread cpu, gpu, delay;
	uint64_t nr_short, nr_slow, nr_late; /* by HTA's limits: hta.c */
};

/* --- hta_queue.c: launches of a stream that did not begin to run */

#define HTA_QUEUE_MAX 4096 /* longer ones count as this length */
struct hta_queue {
	int64_t length, max;
	int64_t first_ps, last_ps;  /* of the changes, when nr > 0 */
	int64_t full_ps, queued_ps; /* time in which launches block; in which any wait */
	double length_ps;	    /* length times time */
	uint64_t nr;		    /* changes: launches and starts */
	double sum, squares;	    /* of the lengths after each change */
	uint64_t *lengths;	    /* changes by the length after them */
	size_t nr_lengths;	    /* more than .max, or HTA_QUEUE_MAX */
	int64_t *starts;	    /* a heap: when those that are queued begin to run */
	size_t nr_starts, cap_starts;
};

/* --- hta_collectives.c: kernels of NCCL and RCCL; equal ones share a row */

#define HTA_TEXT	  40
#define HTA_COLLECTIVES	  512	 /* rows of a rank; all others share one row */
#define HTA_INSTANCES_MAX 262144 /* of all ranks together, kept to compare the ranks */

struct hta_collective {
	uint64_t key;					      /* the same on all ranks */
	char name[HTA_TEXT], type[HTA_TEXT], group[HTA_TEXT]; /* empty: unknown */
	int64_t group_size, in_bytes, out_bytes;	      /* or TS_UNKNOWN */
	bool is_peer; /* from one rank to one other: ranks do not begin it together */
	struct ts_spread time;
};

struct hta_instance {
	uint64_t key;
	int64_t dur_ps;
	uint32_t rank, at; /* at: how many of its key came before it on this rank */
};

struct hta_collectives {
	struct hta_collective *rows;
	struct ts_map by_key;
	struct hta_instance *instances;
	size_t nr, cap, nr_instances, cap_instances, max_instances;
	uint64_t nr_asked, nr_answered; /* events whose args were asked for; that had them */
	bool is_cut;			/* more instances than are kept */
};

/* Event I of MERGED is a kernel of a collective. */
enum ts_status ts_hta_collectives_add(struct hta_collectives *collectives,
				      const struct ts_interleaved *interleaved, size_t i,
				      struct ts_error *err);
/* The bytes from which nccl-tests computes the bandwidth, or TS_UNKNOWN; and the part of them that
 * each rank sends over its links, or NaN. */
int64_t ts_hta_collective_bytes(const struct hta_collective *collective);
double ts_hta_collective_bus_factor(const struct hta_collective *collective);

struct hta_rank;
/* Fills the arrivals of RESULTS, one a rank, and counts kernels that could not be matched. A single
 * rank is not compared. */
enum ts_status ts_hta_collectives_match(const struct hta_rank *ranks, size_t nr_ranks,
					struct ts_hta_rank *results, int64_t *nr_unmatched,
					struct ts_error *err);

/* --- hta_sequences.c: the kernels that one outermost operator of the host launches */

#define HTA_NAMED    24	  /* kernels of a sequence that are named */
#define HTA_PATTERNS 4096 /* that are kept apart */

struct hta_root { /* an execution of an operator whose kernels did not all begin yet */
	uint32_t op, nr_kernels;
	uint32_t nr_waiting; /* calls that may still have kernels; plus 1 while it runs */
	uint64_t hash;
	int64_t cpu_ps, gpu_ps;
	uint32_t kernels[HTA_NAMED];
};

struct hta_roots {
	struct hta_root *items;
	uint32_t *unused;
	size_t nr, cap, nr_unused, cap_unused;
};

struct hta_pattern {
	uint64_t hash, count;
	uint64_t missed; /* the count may be too low by so much */
	uint32_t op, nr_kernels;
	int64_t cpu_ps, gpu_ps;
	uint32_t kernels[HTA_NAMED];
};

struct hta_patterns {
	struct hta_pattern *items;
	struct ts_map by_hash;
	size_t nr, cap;
	uint64_t missed; /* how often the most frequent dropped one was seen */
};

/* AT: its index. */
enum ts_status ts_hta_roots_add(struct hta_roots *roots, uint32_t op, int64_t cpu_ps, uint32_t *at,
				struct ts_error *err);
void ts_hta_root_kernel(struct hta_root *root, uint32_t op, int64_t dur_ps);
/* ROOT waits for one call less; after the last one it counts as a pattern. */
enum ts_status ts_hta_roots_drop(struct hta_roots *roots, uint32_t root,
				 struct hta_patterns *patterns, struct ts_error *err);
enum ts_status ts_hta_patterns_merge(struct hta_patterns *into, const struct hta_patterns *from,
				     struct ts_error *err);
void ts_hta_patterns_sort(struct hta_patterns *patterns); /* the most frequent first */

/* --- */

struct hta_stream {
	uint32_t line, rank;
	bool begun;
	int64_t end_ps; /* of its kernels so far */
	int64_t wait_ps[TS_HTA_NR_WAITS];
	uint64_t nr_waits[TS_HTA_NR_WAITS];
	struct hta_queue queue;
};

struct hta_rank {
	uint32_t host, device;	/* device TS_NONE: a trace, all its devices */
	uint64_t nr_kernels;	/* that are counted */
	uint64_t nr_unlaunched; /* of them: the trace does not have their launch, */
	uint64_t nr_early;	/* or has it behind them */
	uint64_t nr_late,
		nr_short; /* left out: of the last step; counted, but shorter than kernel_short */
	int64_t short_ps; /* of the short ones */
	struct hta_overlaps us, ps; /* HTA's kernels in whole us; all that are counted */
	struct hta_union all, computing, communicating;
	struct hta_kernel *kernels;
	struct hta_call *calls;
	size_t nr_ops, cap_ops, nr_calls, cap_calls;
	struct ts_map by_op, by_call;
	struct hta_collectives collectives;
	struct ts_bins *queued; /* launches waiting, over time; NULL: no track is wanted */
};

/* --- hta_launches.c */

#define HTA_LAUNCHES_MAX 16384
struct hta_launch {
	uint64_t link;
	int64_t start_ps, dur_ps;
	int64_t kernel_ps; /* when its kernel began */
	uint32_t op;
	uint32_t stream; /* of its first kernel; TS_NONE: it did not begin so far */
	uint32_t root;	 /* the operator that it stands in; TS_NONE: it stands in no operator */
};

/* Calls in the order of their starts, and by link. A zeroed struct is empty. */
struct hta_launches {
	struct hta_launch *ring;
	size_t nr_ring;	      /* HTA_LAUNCHES_MAX */
	uint32_t *slots;      /* twice as many: 1 + a place in the ring */
	uint64_t first, next; /* of those that wait: serial numbers */
};

enum ts_status ts_hta_launches_init(struct hta_launches *launches, struct ts_error *err);
/* Or NULL. Good until the next add or pop. */
struct hta_launch *ts_hta_launches_find(const struct hta_launches *launches, uint64_t link);
/* Takes the oldest; false: there are no launches. */
bool ts_hta_launches_pop(struct hta_launches *launches, struct hta_launch *out);
/* It must not be full. */
void ts_hta_launches_add(struct hta_launches *launches, const struct hta_launch *launch);
bool ts_hta_launches_full(const struct hta_launches *launches);

/* One was launched at LAUNCH_PS and began at START_PS; they come in the order of launches. FULL:
 * the length from which launches block. */
enum ts_status ts_hta_queue_add(struct hta_queue *queue, int64_t launch_ps, int64_t start_ps,
				int64_t full, struct ts_error *err);
void ts_hta_queue_finish(struct hta_queue *queue, int64_t full);
/* The length that SHARE (0..1) of the changes do not pass, linear between the closest two, as numpy and
 * HTA have it. There must be changes. */
double ts_hta_queue_quantile(const struct hta_queue *queue, double share);

/* --- the state */

struct hta_line {
	uint32_t stream; /* index, or TS_NONE */
	bool is_thread;
	/* of a thread: the outermost operator that began last */
	uint32_t op, root; /* root TS_NONE: it made no call so far that may have a kernel */
	int64_t cpu_ps, end_ps;
};

enum hta_op { HTA_OPERATOR = 1, HTA_NO_LAUNCH = 2 };

struct hta_state {
	/* of a host */
	uint32_t host;
	struct hta_line *lines; /* by line of the profile */
	size_t nr_lines;
	uint8_t *types;	    /* by op: enum ts_kernel_type */
	uint8_t *hta_types; /* the same by HTA's own rule */
	uint8_t *kinds;	    /* by op: bits of enum hta_op */
	bool is_cut;	    /* the last step is left out, from cut_ps on */
	bool can_round;	    /* HTA's own figures can be made */
	int64_t cut_ps;
	int64_t lag_ps; /* of this host's own time behind the run's */
	struct hta_launches launches;
	struct ts_launches early; /* kernels whose launch did not come so far: their rank */
	struct hta_roots roots;
	/* of a host, and of all */
	struct hta_patterns patterns;
	struct hta_rank *ranks;
	struct hta_stream *streams;
	size_t nr_ranks, nr_streams;
};

/* hta_state.c: what it is made of */
extern const struct ts_record ts_hta_record;

/* hta_facts.c: FACTS, zeroed, in ARENA. They stay zero when no kernel ran. */
enum ts_status ts_hta_make_facts(const struct hta_state *sum, const struct ts_context *ctx,
				 struct ts_arena *arena, struct ts_hta_facts *facts,
				 struct ts_error *err);

/* --- the result */

struct hta_report {
	struct hta_state *sum; /* its kernels and patterns are sorted */
	const struct ts_context *ctx;
	const struct ts_hta_facts *facts;
	struct ts_result *result;
};

/* hta_kernels_report.c */
enum ts_status ts_hta_put_kernels(const struct hta_report *report, struct ts_error *err);
void ts_hta_put_rank_kernels(const struct hta_report *report);
void ts_hta_put_sequences(const struct hta_report *report);

/* hta_launches_report.c */
void ts_hta_put_idle(const struct hta_report *report);
void ts_hta_put_launches(const struct hta_report *report);
void ts_hta_put_queues(const struct hta_report *report);
enum ts_status ts_hta_put_tracks(const struct hta_report *report, struct ts_error *err);

/* hta_collectives_report.c */
void ts_hta_put_collectives(const struct hta_report *report);
void ts_hta_put_stragglers(const struct hta_report *report);

/* hta_report.c */
enum ts_status ts_hta_report(struct hta_state *sum, const struct ts_context *ctx,
			     struct ts_hta_facts *facts, struct ts_result *result,
			     struct ts_error *err);

#endif
