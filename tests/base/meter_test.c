/* SPDX-License-Identifier: MIT */
/* How much of a long work is done. */
#include "tests/test.h"
#include "base/meter.h"

struct seen {
	unsigned percent[16];
	size_t nr;
};

static void note(void *ctx, unsigned percent)
{
	struct seen *seen = ctx;

	seen->percent[seen->nr++] = percent;
}

TEST(stages_are_parts_of_the_whole)
{
	static const unsigned expected[] = { 10, 30, 50, 75, 100 };
	struct seen seen = { .nr = 0 };
	struct ts_meter meter = TS_METER_INIT;

	meter.show = note;
	meter.ctx = &seen;
	ts_meter_begin(&meter, 0, 10, 0); /* it has nothing to do */
	ts_meter_begin(&meter, 10, 50, 1000);
	ts_meter_add(&meter, 500);
	ts_meter_add(&meter, 1);	    /* not a percent more */
	ts_meter_add(&meter, 700);	    /* more than was said: still its own stage */
	ts_meter_begin(&meter, 40, 100, 2); /* never back */
	ts_meter_add(&meter, 0);
	ts_meter_begin(&meter, 50, 100, 2);
	ts_meter_add(&meter, 1);
	ts_meter_add(&meter, 1);
	assert_int_equal(seen.nr, 5);
	assert_memory_equal(seen.percent, expected, sizeof(expected));
}

TEST(no_meter_counts_nothing)
{
	ts_meter_begin(NULL, 0, 100, 1);
	ts_meter_add(NULL, 1);
}
