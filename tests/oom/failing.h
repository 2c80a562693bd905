/* SPDX-License-Identifier: MIT */
/*
 * Our calls of malloc, calloc and realloc, one of which fails: the linker's --wrap sends them here;
 * libraries keep theirs. Any thread may allocate. cmocka.h is included before.
 */
#ifndef TESTS_OOM_FAILING_H
#define TESTS_OOM_FAILING_H

#include "tests/turn.h"

#include <stdatomic.h>
#include <stddef.h>

#define FAILING_STEP 8

void *__real_malloc(size_t n);
void *__real_calloc(size_t nr, size_t n);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t nr, size_t n);
void *__wrap_realloc(void *p, size_t n);

static atomic_long failing_countdown; /* allocations until one fails; 0 and below: none does */
static atomic_long failing_allocations;

/* noinline: or the compiler sees that a NULL may come, and drops what tests for it */
static __attribute__((noinline)) bool failing_now(void)
{
	atomic_fetch_add(&failing_allocations, 1);
	return atomic_fetch_sub(&failing_countdown, 1) == 1;
}

void *__wrap_malloc(size_t n)
{
	return failing_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t nr, size_t n)
{
	return failing_now() ? NULL : __real_calloc(nr, n);
}

void *__wrap_realloc(void *p, size_t n)
{
	return failing_now() ? NULL : __real_realloc(p, n);
}

/* Allocation number AT from here on fails; 0: none does. */
static inline void failing_begin(long at)
{
	atomic_store(&failing_allocations, 0);
	atomic_store(&failing_countdown, at);
}

/* No more; has one failed? */
static inline bool failing_end(void)
{
	bool has_failed = atomic_load(&failing_countdown) <= 0;

	atomic_store(&failing_countdown, 0);
	return has_failed;
}

/* Which allocations of a run fail, one after the other: FIRST, FIRST + STEP and so on; TS_STEP is another step. */
struct failing_sample {
	long first, step;
};

static inline struct failing_sample failing_sample(void)
{
	long step = turn_setting("TS_STEP", turn_is_all() ? 1 : FAILING_STEP);
	long day = turn_day();

	assert_true(step > 0 && day >= 0);
	print_message("one allocation of %ld, TS_DAY=%ld (TS_TURNS=all: each)\n", step, day);
	return (struct failing_sample){ .first = day % step + 1, .step = step };
}

#endif
