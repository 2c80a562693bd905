/*
 * The hta analysis' own header: what is kept of the kernels and launches of a host while its events
 * go by in the order of their starts. Shared by hta.c (the pass), hta_times.c (what ran together),
 * hta_stats.c (figures of many numbers), hta_launches.c (calls whose kernels are still to come),
 * hta_queue.c (how many those were) and hta_report.c (the tables) only.
 *
 * A rank is what HolisticTraceAnalysis calls so: a trace of one process, all its streams together;
 * in an xplane, which has all GPUs of a host, one GPU.
 *
 * Memory: tables that grow with names, streams and ranks, and the launches that wait for their
 * kernels, HTA_LAUNCHES_MAX at most. Nothing grows with events.
 */
#ifndef TS_ANALYSIS_HTA_H
#define TS_ANALYSIS_HTA_H

#include "analysis/analysis.h"
#include "model/trace_class.h"

/* --- hta_stats.c */

/* Numbers in bins of equal ratio: a percentile is off by 1.6 % at most; all else is exact. */
#define HTA_BINS (60 * 32)
struct hta_spread {
	uint64_t nr;
	int64_t sum, min, max; /* when nr > 0 */
	double mean, squares;  /* squares: sum of squared distances from the mean */
	uint64_t *bins;	       /* HTA_BINS; NULL: no percentiles are wanted */
};

void hta_spread_add(struct hta_spread *spread, int64_t number);
void hta_spread_merge(struct hta_spread *into, const struct hta_spread *from);
double hta_spread_mean(const struct hta_spread *spread); /* NaN when there is none */
double hta_spread_deviation(const struct hta_spread *spread); /* divisor n - 1; 0 of one */
/* The smallest number that SHARE of them do not pass; -1 when there is none. */
int64_t hta_spread_percentile(const struct hta_spread *spread, double share);

/* --- hta_times.c */

/* What ran at the same time. Kernels come in the order of their starts. */
struct hta_overlaps {
	bool begun;
	int64_t first, last, at;
	int64_t until[TS_NR_KERNEL_TYPES];	   /* no kernel of the type ends later */
	int64_t time[1 << TS_NR_KERNEL_TYPES]; /* by the set of types that ran; 0: none */
};

void hta_overlaps_add(struct hta_overlaps *overlaps, enum ts_kernel_type type, int64_t start,
		      int64_t end);
void hta_overlaps_finish(struct hta_overlaps *overlaps);
/* Time in which kernels of WITH ran (of any of these types). */
int64_t hta_overlaps_any(const struct hta_overlaps *overlaps, unsigned with);
/* Time in which kernels of both ran. */
int64_t hta_overlaps_both(const struct hta_overlaps *overlaps, unsigned a, unsigned b);

/* HTA's way to unite kernels, in its whole us: one that is shorter than 1 us may end before it
 * begins, and counts for less than nothing when it runs alone. */
struct hta_union {
	bool begun;
	int64_t first, start, end, total;
};

void hta_union_add(struct hta_union *un, int64_t start, int64_t end);
void hta_union_finish(struct hta_union *un);

/* --- what is known of a rank */

enum hta_idle { HTA_HOST_WAIT, HTA_KERNEL_WAIT, HTA_OTHER_WAIT, HTA_NR_IDLE };

struct hta_kernel {
	uint32_t op;
	struct hta_spread spread;
	int64_t sum_us; /* in HTA's whole us, of those that it counts */
};

struct hta_call { /* of the runtime, that launches */
	uint32_t op;
	struct hta_spread cpu, gpu, delay;
	uint64_t nr_short, nr_slow, nr_late; /* HTA's: see hta_launches.c */
};

/* --- hta_queue.c: launches of a stream that did not begin to run */

#define HTA_QUEUE_MAX 4096 /* lengths told apart */
struct hta_queue {
	int64_t length, max;
	int64_t first_ps, last_ps; /* of the changes, when nr > 0 */
	int64_t full_ps, queued_ps; /* time with so many that launches block; with any */
	double length_ps;	    /* length times time */
	uint64_t nr;		    /* changes: launches and starts */
	double sum, squares;	    /* of the lengths behind each change */
	uint64_t *lengths;	    /* changes by the length behind them; HTA_QUEUE_MAX */
	int64_t *starts;	    /* a heap: when those that are queued begin to run */
	size_t nr_starts, cap_starts;
};

struct hta_stream {
	uint32_t line, rank;
	bool begun;
	int64_t end_ps; /* of its kernels so far */
	int64_t idle_ps[HTA_NR_IDLE];
	uint64_t nr_idle[HTA_NR_IDLE];
	struct hta_queue queue;
};

struct hta_rank {
	uint32_t host, device; /* device TS_NONE: a trace, all its devices */
	uint64_t nr_kernels;   /* all that are counted */
	uint64_t nr_unlaunched; /* of them, those whose launch the trace does not have */
	uint64_t nr_late, nr_short; /* left out: of the last step; shorter than tiny_ps */
	struct hta_overlaps us, ps; /* HTA's kernels in whole us; all that are counted */
	struct hta_union all, computing, talking, moving;
	struct hta_kernel *kernels;
	struct hta_call *calls;
	size_t nr_ops, cap_ops, nr_calls, cap_calls;
	struct ts_map by_op, by_call;
	struct ts_bins *queued; /* launches waiting, over time; NULL: no track is wanted */
};

/* --- hta_launches.c */

#define HTA_LAUNCHES_MAX 65536
struct hta_launch {
	uint64_t link;
	int64_t start_ps, dur_ps;
	int64_t kernel_ps; /* when its kernel began */
	uint32_t op;
	uint32_t stream; /* of its first kernel; TS_NONE: none began so far */
};

/* Calls in the order of their starts, and by link. A zeroed struct is empty. */
struct hta_launches {
	struct hta_launch *ring; /* HTA_LAUNCHES_MAX */
	uint32_t *slots;	 /* twice as many: 1 + a place in the ring */
	uint64_t first, next;	 /* of those that wait: serial numbers */
};

bool hta_launches_init(struct hta_launches *launches);
void hta_launches_release(struct hta_launches *launches);
/* NULL: there is none. Good until the next add or pop. */
struct hta_launch *hta_launches_find(const struct hta_launches *launches, uint64_t link);
/* The oldest, when the ring is full or its kernel began; else false. ANY: whatever it is. */
bool hta_launches_pop(struct hta_launches *launches, bool any, struct hta_launch *out);
/* There must be room. */
void hta_launches_add(struct hta_launches *launches, const struct hta_launch *launch);
bool hta_launches_full(const struct hta_launches *launches);

bool hta_queue_init(struct hta_queue *queue);
void hta_queue_release(struct hta_queue *queue);
/* One was launched at LAUNCH and began at START. They come in the order of launches. False: no memory. */
bool hta_queue_add(struct hta_queue *queue, int64_t launch_ps, int64_t start_ps, int64_t full);
void hta_queue_finish(struct hta_queue *queue, int64_t full);
/* The smallest length that SHARE of the changes do not pass. */
int64_t hta_queue_percentile(const struct hta_queue *queue, double share);

/* --- the state */

struct hta_line {
	uint32_t stream; /* index, or TS_NONE */
	bool is_thread;
};

struct hta_state {
	/* of a host */
	uint32_t host;
	struct hta_line *lines; /* by line of the profile */
	uint8_t *types;		/* by op: enum ts_kernel_type */
	bool is_cut;		/* a last step is left out, from: */
	int64_t cut_ps;
	int64_t lag_ps;		/* of this host's own time behind the run's */
	struct hta_launches launches;
	/* of a host, and of all */
	struct hta_rank *ranks;
	struct hta_stream *streams;
	size_t nr_ranks, nr_streams;
};

/* hta_report.c */
enum ts_status hta_report(struct hta_state *sum, const struct ts_context *ctx,
			  struct ts_result *result, struct ts_error *err);

#endif
