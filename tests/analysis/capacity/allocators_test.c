/* SPDX-License-Identifier: MIT */
/*
 * Allocators' events: two threads that take and free blocks of GPU_0_bfc. The answers are counted by
 * hand: 4 bytes of stack; the heap goes 100, 300, 200, 250.
 */
#include "tests/analysis/given.h"

#define MANY 2000

struct taken {
	const char *op;
	int64_t at_us, address, nr_bytes, heap;
	bool is_free;
};

static void put_event(struct xp *xp, const struct taken *taken)
{
	size_t mark = xp_begin_event(xp, taken->is_free ? 2 : 1, taken->at_us * US, US);

	xp_stat_int(xp, XP_EVENT_STATS, "bytes_reserved", 4);
	xp_stat_int(xp, XP_EVENT_STATS, "bytes_allocated", taken->heap);
	xp_stat_int(xp, XP_EVENT_STATS, "bytes_available", 996 - taken->heap);
	xp_stat_real(xp, XP_EVENT_STATS, "fragmentation", 0.5);
	xp_stat_int(xp, XP_EVENT_STATS, "peak_bytes_in_use", 900);
	xp_stat_int(xp, XP_EVENT_STATS, "requested_bytes", taken->nr_bytes - 1);
	xp_stat_int(xp, XP_EVENT_STATS, "allocation_bytes", taken->nr_bytes);
	xp_stat_int(xp, XP_EVENT_STATS, "addr", taken->address);
	xp_stat_text(xp, XP_EVENT_STATS, "allocator_name", "GPU_0_bfc");
	if (!taken->is_free)
		xp_stat_text(xp, XP_EVENT_STATS, "tf_op", taken->op);
	ts_pbw_end(xp->out, mark);
}

/* The thread of rows FROM, FROM + 2 ...: events of one allocator come from several. */
static void put_thread(struct xp *xp, const struct taken *all, size_t nr, size_t from)
{
	xp_line(xp, "worker", 1000);
	for (size_t i = from; i < nr; i += 2)
		put_event(xp, &all[i]);
	xp_line_end(xp);
}

static struct given *given_events_with_steps(size_t nr_steps)
{
	static const struct taken all[] = {
		{ "small", 10, 1000, 100, 100, false },
		{ "large", 20, 2000, 200, 300, false },
		{ NULL, 30, 1000, 100, 200, true },
		{ "late", 40, 3000, 50, 250, false },
	};
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_name(&xp, 1, "0");
	xp_line(&xp, "Steps", 1000);
	for (size_t i = 0; i < nr_steps; i++)
		given_event(&xp, 1, 2 + 10 * (int64_t)i, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp = xp_plane(&given->bytes, "/host:CPU");
	xp_name(&xp, 1, "MemoryAllocation");
	xp_name(&xp, 2, "MemoryDeallocation");
	put_thread(&xp, all, TS_NELEM(all), 0);
	put_thread(&xp, all, TS_NELEM(all), 1);
	xp_plane_end(&xp);
	return given;
}

static struct given *given_events(void)
{
	return given_events_with_steps(0);
}

static int64_t allocator(struct given *given, const char *column)
{
	return ts_value_int(cell(given, "allocators", "allocators", 0, column));
}

TEST(test_the_peak_is_found_across_threads)
{
	struct given *given = given_events();

	analyse(given, 0);
	assert_int_equal(nr_rows(given, "allocators", "allocators"), 1);
	assert_int_equal(allocator(given, "peak_bytes"), 304);
	assert_int_equal(allocator(given, "capacity_bytes"), 1000);
	assert_int_equal(allocator(given, "heap_bytes"), 300);
	assert_int_equal(allocator(given, "lifetime_peak_bytes"), 900);
	assert_int_equal(allocator(given, "events"), 4);
	assert_int_equal(allocator(given, "unfreed_bytes"), 250);
	assert_int_equal(allocator(given, "growth_bytes"), 150);
	assert_near(cell(given, "allocators", "allocators", 0, "fragmentation_pct"), 50, 1e-9);
	done(given);
}

/* The core's steps end at 12, 22, 32 and 42 us: with 100, 300, 200 and 250 bytes. */
TEST(test_the_heap_is_known_at_the_ends_of_steps)
{
	struct given *given = given_events_with_steps(4);

	analyse(given, 0);
	assert_int_equal(allocator(given, "steps"), 4);
	assert_int_equal(allocator(given, "rising_steps"), 2);
	assert_int_equal(allocator(given, "first_step_heap_bytes"), 100);
	assert_int_equal(allocator(given, "last_step_heap_bytes"), 250);
	done(given);
}

TEST(test_without_steps_nothing_is_said_of_them)
{
	struct given *given = given_events();

	analyse(given, 0);
	assert_int_equal(cell(given, "allocators", "allocators", 0, "steps").type, TS_VALUE_NULL);
	done(given);
}

TEST(test_blocks_alive_at_the_peak_are_listed)
{
	struct given *given = given_events();

	analyse(given, 0);
	assert_int_equal(nr_rows(given, "allocators", "allocations"), 2);
	assert_int_equal(ts_value_int(cell(given, "allocators", "allocations", 0, "bytes")), 200);
	assert_int_equal(ts_value_int(cell(given, "allocators", "allocations", 1, "bytes")), 100);
	done(given);
}

static int64_t moment(struct given *given, size_t row, const char *column)
{
	return ts_value_int(cell(given, "memory_timeline", "timeline", row, column));
}

/* 4 bytes of stack beside 100, 300, 200, 250 of heap. */
TEST(test_the_memory_view_has_the_curve)
{
	static const struct {
		int64_t at_us, bytes;
	} expected[] = { { 10, 104 }, { 20, 304 }, { 30, 204 }, { 40, 254 } };
	struct given *given = given_events();

	analyse(given, 0);
	assert_int_equal(nr_rows(given, "memory_timeline", "timeline"), TS_NELEM(expected));
	for (size_t i = 0; i < TS_NELEM(expected); i++) {
		assert_int_equal(moment(given, i, "time_ps") - moment(given, 0, "time_ps"),
				 (expected[i].at_us - expected[0].at_us) * US);
		assert_int_equal(moment(given, i, "allocated_bytes"), expected[i].bytes);
	}
	assert_int_equal(
		ts_value_int(ts_result_get(view(given, "memory_timeline"), "allocated_bytes")),
		254);
	done(given);
}

/* Thousands of small blocks hold less than one large one, and more than one of their size. */
TEST(test_blocks_are_ordered_by_what_they_hold_together)
{
	static struct taken all[MANY + 2];
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	int64_t heap = 0;

	xp_plane_end(&xp);
	for (size_t i = 0; i < TS_NELEM(all); i++) {
		int64_t nr_bytes = i < MANY ? 256 : i == MANY ? 1000000 : 5000;

		heap += nr_bytes;
		all[i] = (struct taken){ i < MANY    ? "small"
					 : i == MANY ? "large"
						     : "middle",
					 10 + (int64_t)i,
					 1000 + (int64_t)i * 1000,
					 nr_bytes,
					 heap,
					 false };
	}
	xp = xp_plane(&given->bytes, "/host:CPU");
	xp_name(&xp, 1, "MemoryAllocation");
	xp_name(&xp, 2, "MemoryDeallocation");
	put_thread(&xp, all, TS_NELEM(all), 0);
	put_thread(&xp, all, TS_NELEM(all), 1);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "allocators", "allocations"), 3);
	for (size_t i = 0; i < 3; i++) {
		static const int64_t held[] = { 1000000, 256 * MANY, 5000 };

		assert_int_equal(
			ts_value_int(cell(given, "allocators", "allocations", i, "total_bytes")),
			held[i]);
	}
	assert_true(nr_rows(given, "memory_timeline", "timeline") <= 513);
	assert_int_equal(
		moment(given, nr_rows(given, "memory_timeline", "timeline") - 1, "allocated_bytes"),
		heap + 4);
	done(given);
}

TEST(test_counters_stand_under_the_device_of_the_name)
{
	struct given *given = given_events();
	const struct ts_result *result;

	analyse(given, 1000);
	result = view(given, "allocators");
	assert_int_equal(result->nr_tracks, 2);
	assert_int_equal(result->tracks[0].nr_points, 4);
	assert_true(fabs(result->tracks[0].points[1].value * 1073741824.0 - 304) < 1e-6);
	assert_true(fabs(result->tracks[1].points[0].value - 50) < 1e-9);
	done(given);
}
