/* SPDX-License-Identifier: MIT */
/* The link to the host, whose transfers are timed by two clocks. */
#include "tests/analysis/given.h"

static void put_half(struct xp *xp, int64_t id, const char *text, const char *name,
		     const char *category)
{
	struct xp_meta meta = xp_meta(xp, id, text, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", category);
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)id);
	xp_stat_int(xp, XP_META_STATS, "bytes_accessed", 4096);
	xp_meta_end(xp, meta);
}

static void timed_event(struct xp *xp, int64_t id, int64_t start_us, int64_t dur_us,
			int64_t device_us)
{
	size_t event = xp_begin_event(xp, id, start_us * US, dur_us * US);

	xp_stat_int(xp, XP_EVENT_STATS, "device_offset_ps", start_us * US);
	xp_stat_int(xp, XP_EVENT_STATS, "device_duration_ps", device_us * US);
	ts_pbw_end(xp->out, event);
}

/* Under way from 0 to 10 us; on the core's line 1 + 9 us, which its own clock counts as 1 + 30. */
TEST(a_transfer_is_not_waited_for_longer_than_it_is_under_way)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	put_half(&xp, 1,
		 "%copy-start.1 = (f32[1024]{0}, f32[1024]{0:S(5)}, u32[]) "
		 "copy-start(f32[1024]{0:S(5)} %x)",
		 "copy-start.1", "copy-start");
	put_half(&xp, 2,
		 "%copy-done.1 = f32[1024]{0} copy-done((f32[1024]{0}, f32[1024]{0:S(5)}, u32[]) "
		 "%copy-start.1)",
		 "copy-done.1", "copy-done");
	xp_line(&xp, "XLA Ops", 0);
	timed_event(&xp, 1, 0, 1, 1);
	timed_event(&xp, 2, 1, 9, 30);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "memory", "host_link"), 1);
	assert_int_equal(ts_value_int(cell(given, "memory", "host_link", 0, "time_ps")), 10 * US);
	assert_int_equal(ts_value_int(cell(given, "memory", "host_link", 0, "waited_ps")), 10 * US);
	done(given);
}
