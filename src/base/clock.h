/* SPDX-License-Identifier: MIT */
/* Time that passes, and waiting for it. */
#ifndef TS_BASE_CLOCK_H
#define TS_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

int64_t ts_now_ms(void);  /* of a clock that only goes forward */
int64_t ts_unix_us(void); /* of the one on the wall, since 1970 */

/* Sleeps until UNTIL_MS by ts_now_ms(), until WOKEN is signalled, or a second at most: ask again. */
void ts_doze(pthread_cond_t *woken, pthread_mutex_t *lock, int64_t until_ms);

#endif
