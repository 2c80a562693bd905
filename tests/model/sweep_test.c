/* SPDX-License-Identifier: MIT */
/* The sweep against counting moment by moment. */
#include "tests/test.h"
#include "model/sweep.h"

#define SPAN  400
#define KINDS 5

struct seen {
	int64_t next_ps;
	unsigned running[SPAN];
};

static void take(void *ctx, int64_t from_ps, int64_t to_ps, unsigned running)
{
	struct seen *seen = ctx;

	assert_int_equal(from_ps, seen->next_ps);
	assert_true(from_ps < to_ps && to_ps <= SPAN);
	for (int64_t t = from_ps; t < to_ps; t++)
		seen->running[t] = running;
	seen->next_ps = to_ps;
}

TEST(every_moment_has_the_kinds_that_run)
{
	uint32_t random = 1;

	for (int round = 0; round < 200; round++) {
		struct seen seen = { .next_ps = 0 };
		unsigned expected[SPAN] = { 0 };
		struct ts_sweep sweep = { .ctx = &seen, .moment = take };

		ts_sweep_to(&sweep, 0);
		for (int64_t start = 0; start < SPAN; start += random >> 28) {
			int64_t dur;
			unsigned kind;

			random = random * 1664525 + 1013904223;
			kind = (random >> 16) % KINDS;
			dur = TS_MIN((random >> 8) % 40, SPAN - start);
			ts_sweep_add(&sweep, kind, start, dur);
			for (int64_t t = start; t < start + dur; t++)
				expected[t] |= 1u << kind;
			random += random >> 28 == 0;
		}
		ts_sweep_to(&sweep, SPAN);
		assert_int_equal(seen.next_ps, SPAN);
		assert_memory_equal(seen.running, expected, sizeof(expected));
	}
}
