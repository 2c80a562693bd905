/* SPDX-License-Identifier: MIT */
/* Transfers between slices: stalls, bytes and the network of each collective on each device. */
#include "tests/analysis/given.h"

/* The four ops of a transfer: they stall 5 + 5 + 10 + LAST us, from START to START + 100 + LAST. */
static void given_transfer(struct xp *xp, int64_t start, int64_t last)
{
	given_event(xp, 1, start, 5);
	given_event(xp, 2, start + 10, 5);
	given_event(xp, 3, start + 80, 10);
	given_event(xp, 4, start + 100, last);
}

static void given_tpu(struct given *given, const char *name, int64_t slow)
{
	static const char *const ops[] = { "send", "recv", "send-done", "recv-done" };
	struct xp xp = given_core(given, name);

	for (int64_t i = 0; i < 4; i++)
		xp_op(&xp, i + 1, ops[i], ops[i], PROGRAM, (uint64_t)i + 1);
	xp_line(&xp, "XLA Ops", 0);
	given_transfer(&xp, 100, 20);
	given_transfer(&xp, 1100, 20);
	given_transfer(&xp, 2100, slow);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static void given_traced(struct xp *xp, int64_t key, const char *graph_key, int64_t start,
			 int64_t dur, const char *sizes, int64_t latency)
{
	size_t event = xp_begin_event(xp, key, start * US, dur * US);

	xp_stat_text(xp, XP_EVENT_STATS, "graph_key", graph_key);
	if (sizes)
		xp_stat_text(xp, XP_EVENT_STATS, "buffer_sizes", sizes);
	if (sizes)
		xp_stat_uint(xp, XP_EVENT_STATS, "network_transport_latency_us", (uint64_t)latency);
	ts_pbw_end(xp->out, event);
}

/* Device 7 is the second TPU, device 3 the first. */
static void given_megascale(struct given *given)
{
	static const char *const keys[] = { "device_7_gid_all-reduce.5_1$l0^i0",
					    "device_7_gid_all-reduce.5_1$l0^i1",
					    "device_7_gid_all-reduce.5_1$l0^i2" };
	struct xp xp = xp_plane(&given->bytes, "/device:CUSTOM:Megascale Trace");

	xp_name(&xp, 1, "device_7_gid_all-reduce.5_1");
	xp_name(&xp, 2, "NetworkReceive END");
	xp_name(&xp, 3, "device_3_gid_all-gather.8_2");
	xp_line(&xp, "Megascale", 0);
	given_traced(&xp, 3, "device_3_gid_all-gather.8_2$l0^i0", 100, 120, NULL, 0);
	for (int64_t i = 0; i < 3; i++) {
		given_traced(&xp, 1, keys[i], 100 + 1000 * i, 500, NULL, 0);
		given_traced(&xp, 2, keys[i], 130 + 1000 * i, 10,
			     i == 1 ? "s7->7d|$c0=99,s1->7d|$c0=1000,$c1=24" : "s1->7d|$c0=1024",
			     i == 2 ? 900 : 300);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

TEST(a_collective_between_slices_has_its_stall_bytes_and_network)
{
	struct given *given = given_nothing();

	given_tpu(given, "/device:TPU:0", 20);
	given_tpu(given, "/device:TPU:1", 320);
	given_megascale(given);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "dcn", "dcn"), 2);
	assert_text(cell(given, "dcn", "dcn", 0, "name"), "all-reduce.5");
	assert_int_equal(ts_value_int(cell(given, "dcn", "dcn", 0, "device")), 1);
	assert_int_equal(ts_value_int(cell(given, "dcn", "dcn", 0, "occurrences")), 3);
	assert_int_equal(ts_value_int(cell(given, "dcn", "dcn", 0, "stall_ps")), 420 * US);
	assert_int_equal(ts_value_int(cell(given, "dcn", "dcn", 0, "observed_ps")), 220 * US);
	assert_int_equal(ts_value_int(cell(given, "dcn", "dcn", 0, "bytes")), 1024);
	assert_near(cell(given, "dcn", "dcn", 0, "network_latency_us"), 300, 0);
	assert_near(cell(given, "dcn", "dcn", 0, "network_latency_max_us"), 900, 0);
	assert_text(cell(given, "dcn", "dcn", 1, "name"), "all-gather.8");
	assert_int_equal(ts_value_int(cell(given, "dcn", "dcn", 1, "stall_ps")), 40 * US);
	assert_no_value(cell(given, "dcn", "dcn", 1, "bytes"));
	done(given);
}

TEST(a_profile_of_one_slice_has_no_transfers)
{
	struct given *given = given_nothing();

	given_tpu(given, "/device:TPU:0", 20);
	analyse(given, 0);
	assert_null(ts_result_find_table(view(given, "dcn"), "dcn"));
	done(given);
}
