/* SPDX-License-Identifier: MIT */
/* Steps by time, and how those of devices are paired. */
#include "base/units.h"
#include "model/outline.h"
#include "model/step_pairing.h"
#include "tests/base/rng.h"
#include "tests/test.h"

static uint32_t slow(const struct ts_device_steps *steps, int64_t t)
{
	for (uint32_t i = 0; i < steps->nr; i++)
		if (steps->items[i].start_ps <= t && t < steps->items[i].end_ps)
			return i;
	return TS_NONE;
}

/* Steps that touch, with gaps, and some of no length; asked in time and at random, with any hint. */
TEST(a_step_is_found_whatever_the_hint)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct ts_step items[40];
		struct ts_device_steps steps = { .items = items };
		struct rng rng = rng_of(seed);
		int64_t end = 0;
		size_t walk = 0, jump = 0;

		for (size_t nr = rng_below(&rng, 40); steps.nr < nr; steps.nr++) {
			int64_t start = end + (int64_t)rng_below(&rng, 3);

			end = start + (int64_t)rng_below(&rng, 6);
			items[steps.nr] = (struct ts_step){ start, end, steps.nr };
		}
		for (int64_t t = -3; t < end + 5; t++) {
			int64_t any = (int64_t)rng_below(&rng, (uint64_t)end + 5);

			assert_int_equal(ts_steps_at(&steps, t, &walk), slow(&steps, t));
			assert_int_equal(ts_steps_at(&steps, any, &jump), slow(&steps, any));
		}
	}
}

#define MAX_DEVICES 3
#define MAX_GIVEN   6

/* Numbers of the steps of each device, 0 at the end, and the rows they shall have. */
struct pairing {
	enum ts_steps_source source;
	uint64_t number[MAX_DEVICES][MAX_GIVEN];
	uint32_t row[MAX_DEVICES][MAX_GIVEN];
	size_t nr_steps;
};

static void check_pairing(const struct pairing *pairing)
{
	struct ts_step items[MAX_DEVICES][MAX_GIVEN];
	struct ts_device_steps devices[MAX_DEVICES] = { { .nr = 0 } };
	struct ts_steps steps = { .source = pairing->source,
				  .devices = devices,
				  .nr_devices = MAX_DEVICES };

	for (size_t d = 0; d < MAX_DEVICES; d++) {
		devices[d].items = items[d];
		for (size_t i = 0; i < MAX_GIVEN && pairing->number[d][i]; i++)
			items[d][devices[d].nr++] = (struct ts_step){ 0, 0, pairing->number[d][i] };
	}
	assert_int_equal(ts_steps_pair(&steps, NULL), TS_OK);
	assert_int_equal(steps.nr_steps, pairing->nr_steps);
	for (size_t d = 0; d < MAX_DEVICES; d++)
		for (size_t i = 0; i < devices[d].nr; i++)
			assert_int_equal(ts_device_steps_row(&devices[d], i), pairing->row[d][i]);
	for (size_t d = 0; d < MAX_DEVICES; d++)
		free(devices[d].rows);
}

TEST(steps_of_one_number_are_one_step)
{
	static const struct pairing pairings[] = {
		/* all the same, one device idle */
		{ TS_STEPS_MARKED,
		  { { 4, 5 }, { 0 }, { 4, 5 } },
		  { { 0, 1 }, { 0 }, { 0, 1 } },
		  2 },
		/* the second host's capture began a step later, the third's is short */
		{ TS_STEPS_MARKED,
		  { { 4, 5, 6 }, { 5, 6, 7 }, { 6 } },
		  { { 0, 1, 2 }, { 1, 2, 3 }, { 2 } },
		  4 },
		/* a step that one device did not mark */
		{ TS_STEPS_MARKED, { { 1, 3 }, { 1, 2, 3 } }, { { 0, 2 }, { 0, 1, 2 } }, 3 },
		/* numbers that begin anew name nothing: by place */
		{ TS_STEPS_MARKED, { { 1, 2, 1 }, { 1, 2 } }, { { 0, 1, 2 }, { 0, 1 } }, 3 },
		/* inferred ones only count */
		{ TS_STEPS_INFERRED, { { 1, 2 }, { 2, 3 } }, { { 0, 1 }, { 0, 1 } }, 2 },
		{ TS_STEPS_NONE, { { 0 } }, { { 0 } }, 0 },
	};

	for (size_t i = 0; i < TS_NELEM(pairings); i++)
		check_pairing(&pairings[i]);
}

/* Steps of length 10 one after the other, from START on. */
static void make_steps(struct ts_device_steps *device, int64_t start, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(ts_device_steps_add(device, start + (int64_t)i * 10,
						     start + (int64_t)i * 10 + 10, i, NULL),
				 TS_OK);
}

/*
 * Inferred steps have no numbers of their own. The second device's capture began two steps later, the
 * third's clock is a little off, the fourth ran nothing, the fifth began one step before all.
 */
TEST(inferred_steps_that_run_together_are_one)
{
	static const struct {
		int64_t start;
		size_t nr, first_row;
	} given[] = { { 100, 6, 1 }, { 120, 4, 3 }, { 96, 6, 1 }, { 0, 0, 0 }, { 90, 3, 0 } };
	struct ts_device_steps devices[TS_NELEM(given)] = { { .nr = 0 } };
	struct ts_steps steps = { .source = TS_STEPS_INFERRED,
				  .devices = devices,
				  .nr_devices = TS_NELEM(given) };

	for (size_t d = 0; d < TS_NELEM(given); d++)
		make_steps(&devices[d], given[d].start, given[d].nr);
	assert_int_equal(ts_steps_pair(&steps, NULL), TS_OK);
	assert_int_equal(steps.nr_steps, 7);
	for (size_t d = 0; d < TS_NELEM(given); d++)
		for (size_t i = 0; i < devices[d].nr; i++) {
			assert_int_equal(ts_device_steps_row(&devices[d], i),
					 given[d].first_row + i);
			assert_int_equal(devices[d].items[i].number, given[d].first_row + i);
		}
	for (size_t d = 0; d < TS_NELEM(given); d++)
		free(devices[d].items);
}

/*
 * Steps of 1 ms more or less, the same on two hosts. The second host's clock is off by 20 us to 50 ms, so
 * that other steps run at the same time, and its capture began FROM steps later. Where all steps are alike
 * the time decides, as it does on one host.
 */
TEST(inferred_steps_of_hosts_are_paired_by_their_lengths)
{
	static const struct {
		int64_t offset_us;
		size_t from;
		uint32_t host;
		bool is_regular;
		int64_t first_row;
	} given[] = {
		{ 0, 0, 1, false, 0 },	    { 20, 0, 1, false, 0 },	{ 3000, 0, 1, false, 0 },
		{ 50000, 0, 1, false, 0 },  { -50000, 9, 1, false, 9 }, { 50000, 9, 1, false, 9 },
		{ 50000, 0, 0, false, 50 }, { 3000, 0, 1, true, 3 },
	};

	for (size_t n = 0; n < TS_NELEM(given); n++) {
		struct ts_device_steps devices[2] = { { .host = 0 }, { .host = given[n].host } };
		struct ts_steps steps = { .source = TS_STEPS_INFERRED,
					  .devices = devices,
					  .nr_devices = 2 };
		int64_t t_us = 100000;
		uint32_t seed = 3;

		for (size_t i = 0; i < 120; i++) {
			int64_t next_us = t_us + 1000;

			seed = seed * 1664525 + 1013904223;
			if (!given[n].is_regular)
				next_us += (int64_t)((seed >> 8) % 100) - 50;
			assert_int_equal(ts_device_steps_add(&devices[0], t_us * TS_PS_PER_US,
							     next_us * TS_PS_PER_US, i, NULL),
					 TS_OK);
			if (i >= given[n].from)
				assert_int_equal(
					ts_device_steps_add(
						&devices[1],
						(t_us + given[n].offset_us) * TS_PS_PER_US,
						(next_us + given[n].offset_us) * TS_PS_PER_US, i,
						NULL),
					TS_OK);
			t_us = next_us;
		}
		assert_int_equal(ts_steps_pair(&steps, NULL), TS_OK);
		assert_int_equal(devices[1].first_row - devices[0].first_row, given[n].first_row);
		free(devices[0].items);
		free(devices[1].items);
	}
}

#define NR_BROUGHT 5

/* Steps that are in memory a host at a time. */
struct bringing {
	struct ts_device_steps given[NR_BROUGHT], devices[NR_BROUGHT];
	struct ts_steps steps;
	struct ts_steps_bringer bringer;
	struct ts_step_pairing pairing;
	bool is_paired;
};

static void bring(void *ctx, uint32_t host)
{
	struct bringing *bringing = ctx;

	for (uint32_t d = 0; d < NR_BROUGHT; d++) {
		struct ts_device_steps *device = &bringing->devices[d];

		ts_device_steps_release(device);
		device->nr_elsewhere = bringing->given[d].nr;
		for (size_t i = 0; device->host == host && i < bringing->given[d].nr; i++) {
			struct ts_step step = bringing->given[d].items[i];

			assert_int_equal(ts_device_steps_add(device, step.start_ps, step.end_ps,
							     step.number, NULL),
					 TS_OK);
		}
		if (device->host == host && bringing->is_paired)
			assert_int_equal(ts_step_pairing_apply(&bringing->pairing, &bringing->steps,
							       d, NULL),
					 TS_OK);
	}
	bringing->bringer.host = host;
}

static void give_steps(struct bringing *bringing, uint64_t seed)
{
	struct rng rng = rng_of(seed);

	for (uint32_t d = 0; d < NR_BROUGHT; d++) {
		struct ts_device_steps *given = &bringing->given[d];
		uint64_t number = rng_below(&rng, 4), each = 1 + rng_below(&rng, 2);
		int64_t at = (int64_t)rng_below(&rng, 30);

		given->host = bringing->devices[d].host = d / 2;
		for (size_t i = rng_below(&rng, 12); i-- > 0; number += 1 + rng_below(&rng, each)) {
			assert_int_equal(ts_device_steps_add(given, at, at + 10, number, NULL),
					 TS_OK);
			at += 10 + (int64_t)rng_below(&rng, 2);
		}
	}
}

/* Rows and numbers are those that the same steps get when all are in memory. */
TEST(steps_that_are_brought_a_host_at_a_time_are_paired_alike)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct bringing bringing = { .is_paired = false };
		struct ts_steps all = { .source = seed % 2 ? TS_STEPS_MARKED : TS_STEPS_INFERRED,
					.devices = bringing.given,
					.nr_devices = NR_BROUGHT };

		give_steps(&bringing, seed);
		bringing.bringer = (struct ts_steps_bringer){ &bringing, bring, TS_NONE };
		bring(&bringing, TS_NONE);
		bringing.steps = all;
		bringing.steps.devices = bringing.devices;
		bringing.steps.bringer = &bringing.bringer;
		assert_int_equal(ts_step_pairing_find(&bringing.pairing, &bringing.steps, NULL),
				 TS_OK);
		bringing.is_paired = true;
		bring(&bringing, TS_NONE);
		for (uint32_t d = 0; d < NR_BROUGHT; d++) {
			const struct ts_device_steps *own = ts_steps_of(&bringing.steps, d);

			if (d == 0)
				assert_int_equal(ts_steps_pair(&all, NULL), TS_OK);
			assert_int_equal(own->nr, bringing.given[d].nr);
			for (size_t i = 0; i < own->nr; i++) {
				assert_int_equal(ts_device_steps_row(own, i),
						 ts_device_steps_row(&bringing.given[d], i));
				assert_true(all.source == TS_STEPS_MARKED ||
					    own->items[i].number ==
						    bringing.given[d].items[i].number);
			}
		}
		assert_int_equal(bringing.steps.nr_steps, all.nr_steps);
		for (uint32_t d = 0; d < NR_BROUGHT; d++) {
			ts_device_steps_release(&bringing.given[d]);
			ts_device_steps_release(&bringing.devices[d]);
		}
		ts_step_pairing_release(&bringing.pairing);
	}
}
