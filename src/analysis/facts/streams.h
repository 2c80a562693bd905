/* SPDX-License-Identifier: MIT */
/*
 * What the analysis streams knows: what ran on each stream of a GPU, and what the threads that launch did, moment by moment, and
 * what each moment waited for.
 */
#ifndef TS_ANALYSIS_FACTS_STREAMS_H
#define TS_ANALYSIS_FACTS_STREAMS_H

#include "analysis/analysis.h"

enum ts_stream_edge {
	TS_EDGE_NONE,
	TS_EDGE_LAUNCH, /* a kernel: the call that launched it, which began and goes on */
	TS_EDGE_END,	/* a call or a kernel: what ended; of a kernel, the call that launched it */
	TS_EDGE_LIKELY, /* likewise, inferred */
	TS_NR_EDGES
};

/* Of a stream a kernel or a copy; of a thread a call that launches or waits, or what it did up to the next call. */
struct ts_stream_moment {
	int64_t start_ps, end_ps;
	uint32_t op;	       /* TS_NONE: nothing that has a name */
	uint32_t lane, from;   /* the moment that it waited for; .from TS_NONE: none */
	uint8_t edge;	       /* enum ts_stream_edge */
	bool is_call, is_sync; /* of a thread; sync: it waits for the device */
	bool is_launched;      /* a kernel whose launch is known */
	bool is_late; /* of a kernel: its stream was done with all else when it was launched */
};

struct ts_stream_lane {
	uint32_t line;
	bool is_thread; /* whose moments follow one another without gaps */
	uint32_t first; /* its host's lanes begin here: .lane of a moment counts from it */
	struct ts_stream_moment *moments;
	size_t nr, cap;
};

struct ts_streams_facts {
	const struct ts_stream_lane *lanes;
	size_t nr_lanes;
	int64_t until_ps; /* what came later is left out; INT64_MAX: nothing is */
};

#endif
