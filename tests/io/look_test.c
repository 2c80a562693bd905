/* SPDX-License-Identifier: MIT */
/* Whether a change of a file would show from outside. */
#include "tests/test.h"
#include "io/look.h"

#define SECOND INT64_C(1000000000)

static bool settles(int64_t mtime_ns, int64_t ctime_ns)
{
	return ts_look_settle(&(struct ts_file_look){ .mtime_ns = mtime_ns, .ctime_ns = ctime_ns });
}

TEST(a_file_of_long_ago_is_settled)
{
	int64_t now = ts_look_now_ns();

	assert_true(settles(now - SECOND / 2, now - SECOND / 2));
	assert_true(
		settles(now / SECOND * SECOND - 5 * SECOND, now / SECOND * SECOND - 5 * SECOND));
}

TEST(a_file_of_this_tick_is_waited_for)
{
	for (int i = 0; i < 20; i++) {
		int64_t now = ts_look_now_ns();

		assert_true(settles(now, now));
		assert_true(ts_look_now_ns() > now);
	}
}

/* Of FAT and others with a clock of seconds it is not waited for. */
TEST(a_time_of_whole_seconds_may_be_of_a_slow_clock)
{
	int64_t second = ts_look_now_ns() / SECOND * SECOND;

	assert_false(settles(second, second));
	/* put there by a copying tool: the time of change says when */
	assert_true(settles(second - 5 * SECOND, ts_look_now_ns() - SECOND / 3 - 1));
}

/* A clock ahead of ours, on another machine; a time that a tool gave shows by itself. */
TEST(a_time_to_come_is_not_waited_for)
{
	int64_t now = ts_look_now_ns();

	assert_false(settles(now, now + 100 * SECOND + 1));
	assert_true(settles(now + 100 * SECOND + 1, now - SECOND / 3));
}
