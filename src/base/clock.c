/* SPDX-License-Identifier: MIT */
/* Clocks. */
#include "base/clock.h"

#include <time.h>

#include "base/bytes.h"

#define LONGEST_MS 1000

int64_t ts_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t ts_unix_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/*
 * Not every system can wait by the clock that only goes forward. So it waits a piece at a time:
 * when the other clock is set, that costs a second at most.
 */
void ts_doze(pthread_cond_t *woken, pthread_mutex_t *lock, int64_t until_ms)
{
	int64_t now_ms = ts_now_ms();
	int64_t left_ms = until_ms > now_ms ? TS_MIN(until_ms - now_ms, LONGEST_MS) : 0;
	int64_t until_us = ts_unix_us() + left_ms * 1000;
	struct timespec until = { (time_t)(until_us / 1000000), (long)(until_us % 1000000) * 1000 };

	pthread_cond_timedwait(woken, lock, &until);
}
