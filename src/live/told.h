/* SPDX-License-Identifier: MIT */
/*
 * What the job says of itself: lines of JSON that come through a pipe, from the process that is watched (the Python package's
 * LiveProfiler writes them, docs/live.md has them). A compilation that neither begins nor ends within a sample is not in the
 * sample; here it is known as a whole, and while it goes on.
 *
 * Lines are read when the watch asks, never waited for. What is not a line of ours is passed over.
 */
#ifndef TS_LIVE_TOLD_H
#define TS_LIVE_TOLD_H

#include "base/buf.h"
#include "base/spans.h"

#define TS_TOLD_OPEN 16 /* threads that compile at the same time */

struct ts_told_open {	  /* a compilation that goes on */
	int64_t start_ms; /* by ts_now_ms() */
	uint64_t thread;
	char function[64];
};

struct ts_told {
	int fd; /* -1: nobody says anything (any more) */
	struct ts_buf text;
	bool is_ready; /* it says when compilations begin: what it does not say does not happen */
	struct ts_spans
		compiled; /* when at least one compilation went on, until the last line; in ms */
	struct ts_told_open open[TS_TOLD_OPEN];
	size_t nr_open;
	double memory_bytes; /* in use on the process's devices; NaN */
};

void ts_told_init(struct ts_told *told, int fd); /* FD stays the caller's */
void ts_told_release(struct ts_told *told);

/* Takes in what has come. NOW_MS and NOW_UNIX_MS are one moment by both clocks. */
void ts_told_read(struct ts_told *told, int64_t now_ms, int64_t now_unix_ms);
/* For how long, of the time between the two, at least one compilation went on. */
int64_t ts_told_compiled_ms(const struct ts_told *told, int64_t from_ms, int64_t to_ms);
/* The compilation that has gone on for longest; NULL: there is none. */
const struct ts_told_open *ts_told_compiling(const struct ts_told *told);

#endif
