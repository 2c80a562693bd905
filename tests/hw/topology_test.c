/* SPDX-License-Identifier: MIT */
/* Slices, and what a collective takes on them: by hand, with links of 100 bytes a second. */
#include "tests/test.h"

#include <math.h>

#include "hw/topology.h"

TEST(slices_are_read)
{
	struct ts_topology topology;

	assert_true(ts_topology_parse(TS_LIT("v5e:2x4"), "TPU v5e", &topology));
	assert_int_equal(topology.nr_dims, 2);
	assert_int_equal(topology.nr_chips, 8);
	assert_int_equal(topology.nr_cores, 8);
	assert_false(topology.is_ring[0] || topology.is_ring[1]);
	assert_true(ts_topology_parse(TS_LIT("16x16"), "TPU v5e", &topology));
	assert_true(topology.is_ring[0] && topology.is_ring[1]);
	assert_true(ts_topology_parse(TS_LIT("4x4x8"), "TPU v5p", &topology));
	assert_true(topology.is_ring[0] && topology.is_ring[2]);
	assert_true(ts_topology_parse(TS_LIT("2x2x1"), "TPU v7x", &topology));
	assert_int_equal(topology.nr_chips, 4);
	assert_int_equal(topology.nr_cores, 8); /* two a chip */
	assert_true(ts_bytes_is(ts_topology_chip(TS_LIT("v5e:2x4")), "v5e"));
	assert_int_equal(ts_topology_chip(TS_LIT("2x4")).n, 0);
	assert_int_equal(topology.nr_slices, 1);
	assert_true(ts_bytes_is(ts_topology_chip(TS_LIT("2xv5e:4x4")), "v5e"));
	assert_true(ts_topology_parse(TS_LIT("2xv5e:4x4"), "TPU v5e", &topology));
	assert_int_equal(topology.nr_slices, 2);
	assert_int_equal(topology.nr_chips, 16); /* of one */
}

TEST(what_is_no_slice_is_refused)
{
	static const char *const texts[] = {
		"",	"x",	     "2x",	   "0x4",
		"-2x2", "2x2x2x2",   "1025x1025",  "9223372036854775807x2",
		"two",	"0xv5e:2x2", "-1xv5e:2x2", "9999999xv5e:2x2",
		"v5e:"
	};
	struct ts_topology topology;

	for (size_t i = 0; i < TS_NELEM(texts); i++) {
		if (ts_topology_parse(ts_bytes_of(texts[i]), NULL, &topology))
			fail_msg("%s", texts[i]);
		assert_int_equal(topology.nr_dims, 0);
	}
}

static struct ts_exchange_time on(const char *slice, const char *chip, enum ts_exchange_kind what,
				  int64_t group, double bytes)
{
	struct ts_exchange exchange = { what, group, bytes };
	struct ts_topology topology;

	ts_topology_parse(ts_bytes_of(slice), chip, &topology);
	return ts_exchange_time_of(&topology, 100, &exchange);
}

static void near(double is, double expected)
{
	if (!(fabs(is - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", is, expected);
}

TEST(collectives_send_what_the_least_algorithm_sends)
{
	/* 4 chips of 2x2: 2 x 3/4 x 800 = 1200 bytes, over a link along each of two axes */
	near(on("2x2", "TPU v6e", TS_ALL_REDUCE, 4, 800).likely_s, 1200 / 200.);
	/* 2 of them: 2 x 1/2 x 800 over one link; at best over both of a chip; at worst at half the rate of one */
	near(on("2x2", "TPU v6e", TS_ALL_REDUCE, 2, 800).likely_s, 8);
	near(on("2x2", "TPU v6e", TS_ALL_REDUCE, 2, 800).low_s, 4);
	near(on("2x2", "TPU v6e", TS_ALL_REDUCE, 2, 800).high_s, 16);
	/* 3/4 x 800 over the two directions of two rings */
	near(on("4x4x4", "TPU v4", TS_ALL_GATHER, 16, 800).likely_s, 800 * 15 / 16. / 400);
	near(on("16x16", "TPU v5e", TS_REDUCE_SCATTER, 16, 1600).likely_s, 1500 / 200.);
	/* all to all of a ring of 16: each byte goes 4 links on average */
	near(on("16x16", "TPU v5e", TS_ALL_TO_ALL, 16, 1600).likely_s, 1500 * 4 / 200.);
	near(on("2x4", "TPU v5e", TS_PERMUTE, 8, 700).likely_s, 7);
	/* alone there is nothing to send */
	near(on("2x4", "TPU v5e", TS_ALL_REDUCE, 1, 800).likely_s, 0);
}

TEST(what_is_not_known_stays_unknown)
{
	struct ts_exchange exchange = { TS_ALL_REDUCE, 4, 800 };
	struct ts_topology topology = { .nr_dims = 0 };

	assert_true(isnan(ts_exchange_time_of(&topology, NAN, &exchange).likely_s));
	near(ts_exchange_time_of(&topology, 100, &exchange).likely_s, 12); /* over one link */
	exchange.group = 0;
	assert_true(isnan(ts_exchange_time_of(&topology, 100, &exchange).likely_s));
	exchange.what = TS_COLLECTIVE_NONE;
	assert_true(isnan(ts_exchange_time_of(&topology, 100, &exchange).likely_s));
}
