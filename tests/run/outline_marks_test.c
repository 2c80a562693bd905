/* SPDX-License-Identifier: MIT */
/* Marks of lines: what is packed comes back, in the order of time, and takes little. */
#include "run/outline_steps.h"
#include "tests/base/rng.h"
#include "tests/test.h"

#define NR 500

static void make_items(struct outline_mark *items, uint64_t seed)
{
	struct rng rng = rng_of(seed);
	unsigned wide = (unsigned)(seed % 60);

	for (size_t i = 0; i < NR; i++) {
		int64_t start_ps = (int64_t)(rng_next(&rng) >> (63 - wide));

		items[i] = (struct outline_mark){
			.start_ps = seed % 2 ? -start_ps : start_ps,
			.end_ps = start_ps + (int64_t)rng_below(&rng, 1000),
			.number = rng_below(&rng, 4) ? i : TS_NO_NUMBER,
			.op = (uint32_t)rng_below(&rng, 7),
		};
	}
}

static void assert_same(const struct outline_mark *items, const struct outline_mark *others)
{
	for (size_t i = 0; i < NR; i++) {
		assert_int_equal(items[i].start_ps, others[i].start_ps);
		assert_int_equal(items[i].end_ps, others[i].end_ps);
		assert_int_equal(items[i].number, others[i].number);
		assert_int_equal(items[i].op, others[i].op);
	}
}

TEST(any_marks_come_back_as_they_were)
{
	for (uint64_t seed = 0; seed < 120; seed++) {
		struct outline_mark items[NR], back[NR];
		struct outline_marks marks = { .nr = 0 };

		make_items(items, seed);
		assert_int_equal(ts_outline_marks_pack(&marks, items, NR, NULL), TS_OK);
		assert_int_equal(marks.nr, NR);
		ts_outline_marks_unpack(&marks, back);
		assert_same(items, back);
		ts_outline_marks_release(&marks);
	}
}

TEST(marks_are_renamed_moved_and_sorted)
{
	static const uint32_t ops[7] = { 6, 5, 4, 3, 2, 1, 0 };

	for (uint64_t seed = 0; seed < 120; seed++) {
		struct outline_mark items[NR], back[NR];
		struct outline_marks marks = { .nr = 0 };
		uint64_t sum = 0, sum_back = 0;

		make_items(items, seed);
		assert_int_equal(ts_outline_marks_pack(&marks, items, NR, NULL), TS_OK);
		assert_int_equal(ts_outline_marks_rename(&marks, ops, NULL), TS_OK);
		ts_outline_marks_move(&marks, 1000);
		assert_int_equal(ts_outline_marks_sort(&marks, NULL), TS_OK);
		ts_outline_marks_unpack(&marks, back);
		for (size_t i = 0; i < NR; i++) {
			sum += (uint64_t)items[i].start_ps + 1000 + ops[items[i].op];
			sum_back += (uint64_t)back[i].start_ps + back[i].op;
			assert_true(i == 0 || back[i - 1].start_ps <= back[i].start_ps);
		}
		assert_true(sum == sum_back);
		ts_outline_marks_release(&marks);
	}
}

#define MANY 100000
#define STEP 16900000000 /* 16.9 ms */

/* Steps of a training, each up to 3 % faster or slower, 2 us apart: packed they take a third of what they do unpacked. */
TEST(a_mark_takes_few_bytes_and_a_step_no_more_than_its_own)
{
	struct ts_profile profile = { .nr_devices = 1, .nr_planes = 1, .nr_lines = 1 };
	struct ts_plane plane = { .kind = TS_PLANE_TPU, .nr_lines = 1 };
	struct ts_line line = { .kind = TS_LINE_STEPS };
	struct ts_device device = { .host = 0 };
	struct outline_marks marks = { .nr = 0 }, *const all[] = { &marks };
	struct ts_steps steps = { .nr_steps = 0 };
	struct rng rng = rng_of(1);
	int64_t at = 0;

	profile.planes = &plane;
	profile.lines = &line;
	profile.devices = &device;
	for (uint64_t i = 0; i < MANY; i++) {
		int64_t end_ps = at + STEP + (int64_t)rng_below(&rng, STEP / 33);
		const struct outline_mark mark = { at, end_ps, i, 0 };

		assert_int_equal(ts_outline_marks_add(&marks, &mark, NULL), TS_OK);
		at = end_ps + 2000000;
	}
	assert_true(marks.packed.n <= 12 * MANY);
	assert_int_equal(ts_outline_steps_find(&profile, all, &steps, NULL), TS_OK);
	assert_int_equal(marks.packed.cap, 0); /* given back */
	assert_int_equal(steps.nr_steps, MANY);
	assert_int_equal(steps.devices[0].nr, MANY);
	assert_true(steps.devices[0].cap * sizeof(*steps.devices[0].items) <= 24 * MANY);
	assert_null(steps.devices[0].rows);
	ts_steps_release(&steps);
}
