/* Steps by time, and what names of host events mean. */
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
	(void)state;
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

struct name_row {
	const char *name;
	enum ts_host_activity activity;
};

static const struct name_row names[] = {
	{ "backend_compile", TS_HOST_COMPILE },
	{ "backend_compile_and_load", TS_HOST_COMPILE },
	{ "TfrtTpuCompiler::Compile", TS_HOST_COMPILE },
	{ "XLAGraphExecutor::Compile", TS_HOST_COMPILE },
	{ "XlaCompile", TS_HOST_COMPILE },
	{ "shard_args", TS_HOST_INPUT },
	{ "Iterator::Model::Prefetch", TS_HOST_INPUT },
	{ "H2D Dispatch", TS_HOST_INPUT },
	{ "TransferToDevice", TS_HOST_INPUT },
	{ "InfeedEnqueueTuple", TS_HOST_INPUT },
	{ "shard_args_and_more", TS_HOST_OTHER },
	{ "PjitFunction(f)", TS_HOST_OTHER },
	{ "my backend_compile", TS_HOST_OTHER },
	{ "", TS_HOST_OTHER },
};

static void names_say_what_a_host_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_host_activity_of(ts_bytes_of(names[i].name)) != names[i].activity)
			fail_msg("\"%s\"", names[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_found_whatever_the_hint),
		cmocka_unit_test(names_say_what_a_host_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
