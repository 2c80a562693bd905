/* SPDX-License-Identifier: MIT */
/* Launches and kernels, paired by their numbers: by hand, and more of them than are kept. */
#include "analysis/run/capture_links.h"

#include <stdlib.h>

#include "base/units.h"
#include "tests/test.h"

struct given {
	struct capture_links launches, kernels;
};

static void launch(struct given *given, uint64_t link, int64_t us)
{
	assert_true(ts_capture_links_add(&given->launches, link, us * TS_PS_PER_US));
}

static void kernel(struct given *given, uint64_t link, int64_t us)
{
	assert_true(ts_capture_links_add(&given->kernels, link, us * TS_PS_PER_US));
}

static void done(struct given *given)
{
	free(given->launches.items);
	free(given->kernels.items);
}

TEST(launches_without_kernels_are_lost_but_for_the_last_ones)
{
	struct given given = { .launches = { .nr = 0 } };
	struct capture_pairs pairs;

	for (uint64_t i = 0; i < 10; i++)
		launch(&given, i, (int64_t)(10 * i));
	for (uint64_t i = 0; i < 8; i++)
		if (i < 2 || i > 4)
			kernel(&given, i, (int64_t)(10 * i + 5));
	pairs = ts_capture_links_pair(&given.launches, &given.kernels);
	assert_int_equal(pairs.nr_launches, 10);
	assert_int_equal(pairs.nr_kernels, 5);
	assert_int_equal(pairs.nr_lost, 3);
	assert_int_equal(pairs.lost_from_ps, 20 * TS_PS_PER_US);
	assert_int_equal(pairs.lost_until_ps, 40 * TS_PS_PER_US);
	assert_int_equal(pairs.nr_early, 0);
	done(&given);
}

TEST(all_are_lost_where_there_is_no_kernel)
{
	struct given given = { .launches = { .nr = 0 } };

	launch(&given, 1, 0);
	launch(&given, 2, 10);
	assert_int_equal(ts_capture_links_pair(&given.launches, &given.kernels).nr_lost, 2);
	done(&given);
}

TEST(kernels_before_their_launch_are_early_by_more_than_a_clock_is_read_in)
{
	struct given given = { .launches = { .nr = 0 } };
	struct capture_pairs pairs;

	for (uint64_t i = 0; i < 4; i++)
		launch(&given, i, 100);
	kernel(&given, 0, 120);
	kernel(&given, 1, 99);
	kernel(&given, 2, 80);
	kernel(&given, 3, 50);
	pairs = ts_capture_links_pair(&given.launches, &given.kernels);
	assert_int_equal(pairs.nr_paired, 4);
	assert_int_equal(pairs.nr_early, 2);
	assert_int_equal(pairs.early_ps, 50 * TS_PS_PER_US);
	done(&given);
}

/* The same numbers are kept of both, whatever line they come from: none is lost that is not. */
TEST(of_many_a_sample_pairs)
{
	struct given given = { .launches = { .nr = 0 } };
	struct capture_links other = { .nr = 0 };
	struct capture_pairs pairs;

	for (uint64_t i = 0; i < 100000; i++) {
		launch(&given, i, (int64_t)i);
		assert_true(ts_capture_links_add(i % 2 ? &given.kernels : &other, i,
						 (int64_t)i * TS_PS_PER_US));
	}
	assert_true(ts_capture_links_merge(&given.kernels, &other));
	assert_true(given.launches.nr <= CAPTURE_LINKS && given.kernels.nr <= CAPTURE_LINKS);
	pairs = ts_capture_links_pair(&given.launches, &given.kernels);
	assert_true(pairs.is_sample);
	assert_int_equal(pairs.nr_kernels, 100000);
	assert_int_equal(pairs.nr_lost, 0);
	assert_true(pairs.nr_paired > 95000 && pairs.nr_paired < 105000);
	free(other.items);
	done(&given);
}
