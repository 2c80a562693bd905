/* SPDX-License-Identifier: MIT */
/*
 * What the analysis hta knows: what the GPUs did and waited for, by rank and by stream.
 *
 * A rank is what HolisticTraceAnalysis calls so: a trace of one process, all its streams together;
 * in an xplane, which has all GPUs of a host, one GPU. Times that end in _us are HTA's own, made of
 * whole microseconds; they are 0 where HTA cannot read the profile, stops at it, or cuts it elsewhere.
 */
#ifndef TS_ANALYSIS_FACTS_HTA_H
#define TS_ANALYSIS_FACTS_HTA_H

#include "base/bytes.h"

/* Of a rank, or of several together. Kernels are those that are counted, but for nr_late. */
#define TS_HTA_FIGURES(X) \
	X(kernel_us) /* from the first kernel to the end of the last one */ \
	X(idle_us) \
	X(compute_us) \
	X(communication_us) \
	X(overlap_us) /* communication and compute at once */ \
	X(kernel_ps) \
	X(idle_ps) \
	X(compute_ps) \
	X(communication_ps) \
	X(memory_ps) \
	X(overlap_ps) \
	X(exposed_ps) /* communication alone */ \
	X(short_ps)   /* of short kernels */ \
	X(nr_kernels) \
	X(nr_short) \
	X(nr_unlaunched) /* the trace does not have their launch */ \
	X(nr_early)	 /* it begins behind them: their delays are not known */ \
	X(nr_late)	 /* left out: of the last step */

#define TS_HTA_FIGURE(name) int64_t name;
struct ts_hta_figures {
	TS_HTA_FIGURES(TS_HTA_FIGURE)
};
#undef TS_HTA_FIGURE

/* How a rank stands to the others, over the collectives that could be matched. */
struct ts_hta_arrival {
	int64_t nr, nr_last; /* collectives; those to which it came last. nr 0: not compared */
	int64_t caused_ps;   /* while it came last: what the others waited on average */
	int64_t excess_ps;   /* caused_ps without the wait for the last but one */
	int64_t waited_ps;   /* what it waited for others */
};

struct ts_hta_rank {
	int64_t number;	       /* as the profile has it, else that of the host or device */
	uint32_t host, device; /* device TS_NONE: a trace, all its devices */
	struct ts_hta_figures figures;
	struct ts_hta_arrival arrival;
};

/* The launches that wait on a stream; figures over the changes of their number. */
struct ts_hta_queue {
	int64_t nr;		/* changes: launches and starts; 0: nothing is known */
	double mean, deviation; /* deviation NaN: one change */
	double median, p75;	/* linear between the closest, as numpy has them */
	int64_t max;
	double time_mean;		     /* over time; NaN: all at one moment */
	int64_t span_ps, queued_ps, full_ps; /* all of it; not empty; so long that launches block */
};

enum ts_hta_wait {
	TS_HTA_HOST_WAIT,   /* the launch came too late */
	TS_HTA_KERNEL_WAIT, /* launched in time: what it takes to begin a kernel */
	TS_HTA_OTHER_WAIT,
	TS_HTA_NR_WAITS
};

struct ts_hta_stream { /* on which a kernel ran */
	struct ts_bytes name;
	size_t rank;	 /* index into the ranks */
	int64_t idle_ps; /* between its kernels; the sum of .wait_ps */
	int64_t wait_ps[TS_HTA_NR_WAITS], nr_waits[TS_HTA_NR_WAITS];
	struct ts_hta_queue queue;
};

struct ts_hta_facts {
	struct ts_hta_figures all; /* .nr_kernels 0: no kernel ran, and all else is 0 */
	const struct ts_hta_rank *ranks;
	size_t nr_ranks;
	const struct ts_hta_stream *streams;
	size_t nr_streams;
	int64_t nr_outrun;    /* launches whose kernel was over sooner than the call */
	int64_t nr_unmatched; /* kernels of collectives that could not be matched across ranks */
};

#endif
