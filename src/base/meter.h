/* SPDX-License-Identifier: MIT */
/*
 * How much of a long work is done, in percent, for somebody who waits: stages one after the other, each a part
 * of the whole, counted in a unit of its own.
 *
 *	ts_meter_begin(meter, 10, 50, nr_bytes);	one thread, between stages
 *	ts_meter_add(meter, n);				any thread
 *
 * A NULL meter counts nothing. The percentage never falls; .show is called when it has grown, by one thread at
 * a time.
 */
#ifndef TS_BASE_METER_H
#define TS_BASE_METER_H

#include <pthread.h>

#include "base/bytes.h"

struct ts_meter {
	void (*show)(void *ctx, unsigned percent);
	void *ctx;
	pthread_mutex_t lock; /* guards what follows */
	unsigned from, to, shown;
	uint64_t total, done;
};

#define TS_METER_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

/* The stage that is FROM to TO percent of all, and has TOTAL to do (0: nothing). */
void ts_meter_begin(struct ts_meter *meter, unsigned from, unsigned to, uint64_t total);
void ts_meter_add(struct ts_meter *meter, uint64_t nr);

#endif
