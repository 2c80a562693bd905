/* Steps by time, and how those of devices are paired. */
#include <setjmp.h>
#include <stdarg.h>

#include "model/outline.h"
#include "tests/base/rng.h"

#include <cmocka.h>

static uint32_t slow(const struct ts_device_steps *steps, int64_t t)
{
	for (uint32_t i = 0; i < steps->nr; i++)
		if (steps->items[i].start_ps <= t && t < steps->items[i].end_ps)
			return i;
	return TS_NONE;
}

/* Steps that touch, with gaps, and some of no length; asked in time and at random, with any hint. */
static void a_step_is_found_whatever_the_hint(void **state)
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
			items[steps.nr] = (struct ts_step){ start, end, steps.nr, 0 };
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
	struct ts_device_steps devices[MAX_DEVICES] = { { NULL, 0, 0 } };
	struct ts_steps steps = { .source = pairing->source,
				  .devices = devices,
				  .nr_devices = MAX_DEVICES };

	for (size_t d = 0; d < MAX_DEVICES; d++) {
		devices[d].items = items[d];
		for (size_t i = 0; i < MAX_GIVEN && pairing->number[d][i]; i++)
			items[d][devices[d].nr++] =
				(struct ts_step){ 0, 0, pairing->number[d][i], TS_NONE };
	}
	assert_true(ts_steps_pair(&steps));
	assert_int_equal(steps.nr_steps, pairing->nr_steps);
	for (size_t d = 0; d < MAX_DEVICES; d++)
		for (size_t i = 0; i < devices[d].nr; i++)
			assert_int_equal(items[d][i].row, pairing->row[d][i]);
}

static void steps_of_one_number_are_one_step(void **state)
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
		assert_true(ts_device_steps_add(device, start + (int64_t)i * 10,
						start + (int64_t)i * 10 + 10, i));
}

/*
 * Inferred steps have no numbers of their own. The second device's capture began two steps later, the
 * third's clock is a little off, the fourth ran nothing, the fifth began one step before all.
 */
static void inferred_steps_that_run_together_are_one(void **state)
{
	static const struct {
		int64_t start;
		size_t nr, first_row;
	} given[] = { { 100, 6, 1 }, { 120, 4, 3 }, { 96, 6, 1 }, { 0, 0, 0 }, { 90, 3, 0 } };
	struct ts_device_steps devices[TS_NELEM(given)] = { { NULL, 0, 0 } };
	struct ts_steps steps = { .source = TS_STEPS_INFERRED,
				  .devices = devices,
				  .nr_devices = TS_NELEM(given) };

	for (size_t d = 0; d < TS_NELEM(given); d++)
		make_steps(&devices[d], given[d].start, given[d].nr);
	assert_true(ts_steps_pair(&steps));
	assert_int_equal(steps.nr_steps, 7);
	for (size_t d = 0; d < TS_NELEM(given); d++)
		for (size_t i = 0; i < devices[d].nr; i++) {
			assert_int_equal(devices[d].items[i].row, given[d].first_row + i);
			assert_int_equal(devices[d].items[i].number, given[d].first_row + i);
		}
	for (size_t d = 0; d < TS_NELEM(given); d++)
		free(devices[d].items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_of_one_number_are_one_step),
		cmocka_unit_test(inferred_steps_that_run_together_are_one),
		cmocka_unit_test(a_step_is_found_whatever_the_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
