/* SPDX-License-Identifier: MIT */
/*
 * The streams analysis' own header: what ran on the streams of GPUs and on the threads that launch, moment by moment. Shared by
 * streams.c (the pass), streams_thread.c (what a thread did between its calls) and streams_state.c (what a state is made of) only.
 *
 * Memory: STREAMS_MOMENTS moments of a host; what comes later is left out.
 */
#ifndef TS_ANALYSIS_STREAMS_H
#define TS_ANALYSIS_STREAMS_H

#include "analysis/facts/streams.h"
#include "model/launches.h"

#define STREAMS_MOMENTS (1 << 18)
#define STREAMS_LANES	256 /* of a host; a call's number has 8 bits for its lane */
#define STREAMS_OPEN	64  /* events of work inside one another; deeper ones are not looked at */

enum streams_call {
	STREAMS_PLACE, /* no call: says where a thread is, or that it waits */
	STREAMS_WORK,  /* no call either */
	STREAMS_LAUNCH,
	STREAMS_COPY,  /* a launch that may wait for what it launched */
	STREAMS_SYNC,  /* waits for what is on the device */
	STREAMS_ORDER, /* what is launched next waits for another stream */
	STREAMS_UNSEEN = 255
};

/* What a thread was seen doing. */
struct streams_event {
	int64_t start_ps, end_ps;
	uint32_t op;
};

/* Of a thread, between its calls. */
struct streams_thread {
	uint32_t lane; /* TS_NONE: it has launched nothing so far */
	struct streams_event open[STREAMS_OPEN];
	size_t nr_open;
	struct streams_event best; /* that ended since the last call; .op TS_NONE: none */
	int64_t since_ps; /* the end of the last call, or when its host's first event began */
	bool orders;	  /* what it launches next waits for another stream */
};

struct streams_state {
	/* of a host */
	int64_t begin_ps;	       /* of its first event */
	uint8_t *sides, *calls;	       /* of lines: enum ts_trace_side; of ops: enum streams_call */
	uint32_t *lane_of, *thread_of; /* of lines; TS_NONE: none so far */
	struct streams_thread *threads;
	size_t nr_threads, cap_threads;
	struct ts_launches launches;
	size_t nr_moments;
	/* of the sum */
	struct ts_stream_lane *lanes;
	size_t nr_lanes, cap_lanes;
	int64_t until_ps; /* by when a host had as many moments as are kept; INT64_MAX: none had */
};

/* streams_state.c */
extern const struct ts_record ts_streams_record;

/* streams_thread.c */
/* An event begins: what ended before it is looked at. */
void ts_streams_thread_begin(struct streams_thread *thread, const struct streams_event *event);
/* What the thread did from the end of its last call until AT_PS; TS_NONE: nothing that has a name. */
uint32_t ts_streams_thread_work(struct streams_thread *thread, int64_t at_ps);

#endif
