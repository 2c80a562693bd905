/* SPDX-License-Identifier: MIT */
/*
 * Jobs on threads that end in order: each runs on any thread, and is finished - what it says printed, what it holds let go -
 * when all before it are. So the outcome looks as if one thread had done them one after the other.
 *
 * What is held at once is bounded: jobs begin in their order, at most .window of them are begun and not finished,
 * and their weights are not above .budget together. A heavier one runs alone, when all before it are finished and
 * before any other begins: it may use all threads itself.
 */
#ifndef TS_BASE_ORDERED_H
#define TS_BASE_ORDERED_H

#include "base/bytes.h"

struct ts_ordered {
	size_t nr_jobs, nr_threads;
	size_t window; /* at least 1 */
	uint64_t budget;
	void *ctx;
	uint64_t (*weigh)(void *ctx, size_t job);
	/* SLOT is 0..window-1, and no other job's until this one is finished. */
	void (*run)(void *ctx, size_t job, size_t slot);
	void (*finish)(void *ctx, size_t job, size_t slot); /* one at a time, in order */
};

/* TS_NOMEM alone: then nothing was begun. */
enum ts_status ts_ordered_run(const struct ts_ordered *ordered, struct ts_error *err);

#endif
