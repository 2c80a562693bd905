/* SPDX-License-Identifier: MIT */
/*
 * Our calls of malloc, calloc and realloc, one of which fails: the linker's --wrap sends them here;
 * libraries keep theirs. Any thread may allocate. cmocka.h is included before.
 */
#ifndef TESTS_OOM_FAILING_H
#define TESTS_OOM_FAILING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static inline long failing_setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

/*
 * Which allocations of a run fail, one after the other: FIRST, FIRST + STEP and so on. Each would take minutes,
 * so a day has one of STEP, and STEP days have all. TS_OOM_SEED is another day, TS_OOM_STEP another step, and
 * TS_OOM=all is each.
 */
struct failing_sample {
	long first, step;
};

static inline struct failing_sample failing_sample(void)
{
	const char *which = getenv("TS_OOM");
	bool is_all = which && strcmp(which, "all") == 0;
	long step = failing_setting("TS_OOM_STEP", is_all ? 1 : FAILING_STEP);
	long seed = failing_setting("TS_OOM_SEED", (long)(time(NULL) / (24 * 60 * 60)));

	assert_true(step > 0 && seed >= 0);
	print_message("one allocation of %ld, TS_OOM_SEED=%ld (TS_OOM=all: each)\n", step, seed);
	return (struct failing_sample){ .first = seed % step + 1, .step = step };
}

#endif
