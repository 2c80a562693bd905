/* SPDX-License-Identifier: MIT */
/* Variants of one function: what makes them different, and the sizes that would end it. */
#include "analysis/compile/cache.h"
#include "tests/base/rng.h"
#include "tests/test.h"

struct module_given {
	const char *name;
	const char *parameters[3];
	const char *opcode; /* of the one instruction beside them */
	int32_t line;
	const char *result; /* NULL: a tuple of nothing */
};

static void add_module(struct ts_profile *profile, uint64_t id, const struct module_given *given)
{
	struct ts_hlo_module *module = ts_profile_add_module(profile, id);
	struct ts_arena *arena = &profile->arena;
	uint32_t nr = 0, *params = ts_arena_array(arena, 3, sizeof(*params));

	module->name = ts_bytes_of(given->name);
	module->program_id = id;
	module->comps = ts_arena_array(arena, 1, sizeof(*module->comps));
	module->instrs = ts_arena_array(arena, 4, sizeof(*module->instrs));
	module->nr_comps = 1;
	for (; nr < 3 && given->parameters[nr]; nr++) {
		params[nr] = nr;
		module->instrs[nr].opcode = TS_OPCODE_PARAMETER;
		assert_int_equal(ts_shape_parse(arena, ts_bytes_of(given->parameters[nr]),
						&module->instrs[nr].shape, NULL, NULL),
				 TS_OK);
	}
	module->instrs[nr].opcode_text = ts_bytes_of(given->opcode ? given->opcode : "add");
	module->instrs[nr].source_file = TS_LIT("step.py");
	module->instrs[nr].source_line = given->line;
	if (given->result)
		assert_int_equal(ts_shape_parse(arena, ts_bytes_of(given->result),
						&module->instrs[nr].shape, NULL, NULL),
				 TS_OK);
	module->comps[0].root = nr;
	module->nr_instrs = nr + 1;
	module->comps[0].nr_params = nr;
	module->comps[0].params = params;
}

struct difference_row {
	struct module_given modules[2];
	unsigned differences;
	size_t nr_families;
};

static const struct difference_row differences[] = {
	{ { { "jit_f", { "f32[8,64]" }, NULL, 1 }, { "jit_f", { "f32[16,64]" }, NULL, 1 } },
	  TS_DIFFERS_SHAPE,
	  1 },
	{ { { "jit_f", { "f32[8]" }, NULL, 1 }, { "jit_f.1", { "bf16[8]" }, NULL, 1 } },
	  TS_DIFFERS_DTYPE,
	  1 },
	{ { { "jit_f", { "f32[8]" }, NULL, 1 }, { "jit_f(77)", { "f32[8,1]" }, NULL, 1 } },
	  TS_DIFFERS_RANK,
	  1 },
	{ { { "jit_f", { "f32[8,4]{1,0}" }, NULL, 1 }, { "jit_f", { "f32[8,4]{0,1}" }, NULL, 1 } },
	  TS_DIFFERS_LAYOUT,
	  1 },
	{ { { "jit_f", { "f32[8]", "s32[]" }, NULL, 1 }, { "jit_f", { "f32[8]" }, NULL, 1 } },
	  TS_DIFFERS_COUNT,
	  1 },
	{ { { "jit_f", { "f32[8]" }, "add", 1 }, { "jit_f", { "f32[8]" }, "multiply", 1 } },
	  TS_DIFFERS_CODE,
	  1 },
	{ { { "jit_f", { "f32[8]" }, NULL, 1 }, { "jit_f", { "f32[8]" }, NULL, 1 } },
	  TS_DIFFERS_CONSTANT,
	  1 },
	{ { { "jit_f", { "f32[]" }, NULL, 1, "f32[100,8]" },
	    { "jit_f", { "f32[]" }, NULL, 1, "f32[260,8]" } },
	  TS_DIFFERS_RESULT,
	  1 },
	{ { { "jit__lambda_", { "f32[8]" }, NULL, 1 }, { "jit__lambda", { "f32[9]" }, NULL, 2 } },
	  TS_DIFFERS_FUNCTION,
	  1 },
	{ { { "jit_f", { "f32[8]", "f32[4]" }, NULL, 1 },
	    { "jit_f", { "f32[9]", "bf16[4]" }, NULL, 1 } },
	  TS_DIFFERS_SHAPE | TS_DIFFERS_DTYPE,
	  1 },
	{ { { "jit_f", { "f32[8]" }, NULL, 1 }, { "jit_g", { "f32[8]" }, NULL, 1 } }, 0, 2 },
};

TEST(variants_differ_in_what_was_made_different)
{
	for (size_t i = 0; i < TS_NELEM(differences); i++) {
		struct cache_state sum = { .line = 0 };
		struct ts_arena arena = TS_ARENA_INIT;
		struct cache_families families;
		struct ts_profile profile;

		ts_profile_init(&profile);
		add_module(&profile, 1, &differences[i].modules[0]);
		add_module(&profile, 2, &differences[i].modules[1]);
		assert_int_equal(ts_cache_families_make(&families, &sum, &profile, &arena, NULL),
				 TS_OK);
		assert_int_equal(families.nr, differences[i].nr_families);
		if (families.items[0].differences != differences[i].differences)
			fail_msg("row %zu: %u", i, families.items[0].differences);
		ts_arena_release(&arena);
		ts_profile_release(&profile);
	}
}

/* The second and the third have lines of their own, not those of the first; each other's result they do not have either. */
TEST(variants_are_held_against_each_other)
{
	static const struct module_given modules[] = {
		{ "jit_f", { "f32[]" }, NULL, 1, "f32[100,8]" },
		{ "jit_f", { "f32[]" }, NULL, 2, "f32[180,8]" },
		{ "jit_f", { "f32[]" }, NULL, 2, "f32[260,8]" },
	};
	struct cache_state sum = { .line = 0 };
	struct ts_arena arena = TS_ARENA_INIT;
	struct cache_families families;
	struct ts_profile profile;

	ts_profile_init(&profile);
	for (size_t i = 0; i < TS_NELEM(modules); i++)
		add_module(&profile, i + 1, &modules[i]);
	assert_int_equal(ts_cache_families_make(&families, &sum, &profile, &arena, NULL), TS_OK);
	assert_int_equal(families.items[0].differences, TS_DIFFERS_FUNCTION | TS_DIFFERS_RESULT);
	ts_arena_release(&arena);
	ts_profile_release(&profile);
}

TEST(dimensions_that_change_together_are_one_axis)
{
	static const struct module_given modules[] = {
		{ "jit_f", { "f32[64,32]", "f32[100,64]", "s32[100,7]" }, NULL, 1 },
		{ "jit_f", { "f32[64,32]", "f32[200,64]", "s32[200,7]" }, NULL, 1 },
		{ "jit_f", { "f32[64,32]", "f32[200,64]", "s32[200,9]" }, NULL, 1 },
	};
	struct cache_state sum = { .line = 0 };
	struct ts_arena arena = TS_ARENA_INIT;
	struct cache_families families;
	const struct ts_cache_family *family;
	struct ts_profile profile;

	ts_profile_init(&profile);
	for (size_t i = 0; i < TS_NELEM(modules); i++)
		add_module(&profile, i + 1, &modules[i]);
	assert_int_equal(ts_cache_families_make(&families, &sum, &profile, &arena, NULL), TS_OK);
	family = &families.items[0];
	assert_int_equal(family->nr_axes, 2);
	assert_int_equal(family->axes[0].nr_places, 2);
	assert_int_equal(family->axes[0].places[1].parameter, 2);
	assert_int_equal(family->axes[0].places[1].dim, 0);
	assert_int_equal(family->axes[0].values[0], 100);
	assert_int_equal(family->axes[0].values[2], 200);
	assert_int_equal(family->axes[1].places[0].dim, 1);
	assert_int_equal(family->axes[0].nr_buckets, 1);
	assert_int_equal(family->axes[0].buckets[0], 224); /* 200 with three bits */
	ts_arena_release(&arena);
	ts_profile_release(&profile);
}

/* What ran of three programs: two of one name, of which one ran, and one alone. */
static struct cache_families chosen(struct ts_arena *arena, struct ts_profile *profile,
				    bool stranger_ran)
{
	static const struct module_given modules[] = {
		{ "jit_f", { "f32[8]" }, NULL, 1 },
		{ "jit_f.1", { "f32[16]" }, NULL, 1 },
		{ "jit_alone", { "f32[8]" }, NULL, 1 },
	};
	struct cache_program programs[] = {
		{ .id = 1, .module = 0, .op = TS_NONE, .first_ps = 70, .nr_runs = 2, .time_ps = 9 },
		{ .id = 99, .module = TS_NONE, .op = TS_NONE, .nr_runs = 1 },
	};
	struct cache_state sum = { .programs = programs,
				   .nr_programs = stranger_ran ? 2 : 1,
				   .cap_programs = 2 };
	struct cache_families families;

	for (size_t i = 0; i < TS_NELEM(modules); i++)
		add_module(profile, i + 1, &modules[i]);
	assert_int_equal(ts_cache_families_make(&families, &sum, profile, arena, NULL), TS_OK);
	assert_int_equal(families.nr, 2);
	ts_cache_families_choose(&families);
	assert_int_equal(ts_cache_describe(&families, profile, NULL), TS_OK);
	return families;
}

TEST(a_family_has_several_variants_of_which_one_ran)
{
	for (int stranger_ran = 0; stranger_ran < 2; stranger_ran++) {
		struct ts_arena arena = TS_ARENA_INIT;
		const struct ts_cache_variant *ran, *other;
		const struct ts_cache_family *family;
		struct cache_families families;
		struct ts_profile profile;

		ts_profile_init(&profile);
		families = chosen(&arena, &profile, stranger_ran);
		assert_int_equal(families.nr, 1);
		family = families.items;
		ran = &family->variants[0];
		other = &family->variants[1];
		assert_true(ts_bytes_is(family->stem, "jit_f"));
		assert_int_equal(family->nr_runs, 2);
		assert_int_equal(family->time_ps, 9);
		assert_int_equal(ran->first_ps, 70);
		assert_int_equal(other->first_ps, -1);
		assert_int_equal(other->time_ps, -1);
		assert_int_equal(other->nr_runs, stranger_ran ? -1 : 0);
		assert_true(ts_bytes_is(family->differs, "shape"));
		assert_int_equal(family->nr_shapes, 2);
		assert_true(ts_bytes_is(family->shapes[1], "f32[16]"));
		assert_true(ts_bytes_is(family->axes[0].where, "parameter 0 dimension 0"));
		ts_arena_release(&arena);
		ts_profile_release(&profile);
	}
}

/* The next number of 8, 10, 12, 14, 16, 20, 24, ...; powers of two below 8. By counting up. */
static int64_t slow_round(int64_t value)
{
	static const int64_t small[] = { 0, 1, 2, 4, 8 };

	for (size_t i = 0; i < TS_NELEM(small); i++)
		if (small[i] >= value)
			return small[i];
	for (int64_t top = 8;; top *= 2)
		for (int64_t quarter = 4; quarter < 8; quarter++)
			if (top / 4 * quarter >= value)
				return top / 4 * quarter;
}

/* Padded work when the buckets are the ends of the sizes in MASK; INFINITY: one has no bucket. */
static double slow_cost(const int64_t *values, const int64_t *weights, size_t nr, unsigned mask)
{
	double work = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t best = INT64_MAX;

		for (size_t b = 0; b < nr; b++)
			if ((mask >> b & 1) && slow_round(values[b]) >= values[i])
				best = TS_MIN(best, slow_round(values[b]));
		if (best == INT64_MAX)
			return INFINITY;
		work += (double)best * (double)weights[i];
	}
	return work;
}

TEST(no_other_choice_of_buckets_pads_less)
{
	struct rng rng = { 7 };

	for (int round = 0; round < 300; round++) {
		int64_t values[8], weights[8];
		size_t nr = 2 + rng_below(&rng, 7), max = nr < 4 ? 1 : nr < 8 ? 2 : 3;
		struct ts_cache_axis axis = { .values = values };
		double best = INFINITY, work = 0;

		for (size_t i = 0; i < nr; i++) { /* all different */
			values[i] = (int64_t)(1 + i + 8 * rng_below(&rng, 60));
			weights[i] = (int64_t)(1 + rng_below(&rng, 9));
			work += (double)values[i] * (double)weights[i];
		}
		for (size_t i = 0; i < nr; i++)
			values[i] = values[i] * 8 + (int64_t)i;
		work = 0;
		for (size_t i = 0; i < nr; i++)
			work += (double)values[i] * (double)weights[i];
		for (unsigned mask = 1; mask < 1u << nr; mask++)
			if ((size_t)__builtin_popcount(mask) <= max)
				best = fmin(best, slow_cost(values, weights, nr, mask));
		ts_cache_axis_buckets(&axis, nr, weights);
		assert_true(axis.nr_buckets >= 1 && axis.nr_buckets <= max);
		if (fabs(axis.waste_share - (1 - work / best)) > 1e-9)
			fail_msg("round %d: %g, not %g", round, axis.waste_share, 1 - work / best);
		for (size_t b = 1; b < axis.nr_buckets; b++)
			assert_true(axis.buckets[b] > axis.buckets[b - 1]);
	}
}

TEST(extreme_sizes_have_no_overflow)
{
	static const int64_t huge[] = { INT64_MAX, INT64_MAX - 1, 1 }, negative[] = { -1, 5 };
	static const int64_t same[] = { 4, 4, 4 }, weights[] = { 1, INT64_MAX, 0 };
	struct ts_cache_axis axis = { .values = huge };

	ts_cache_axis_buckets(&axis, 3, weights);
	assert_int_equal(axis.nr_buckets, 1);
	axis.values = negative;
	ts_cache_axis_buckets(&axis, 2, weights);
	assert_int_equal(axis.nr_buckets, 0);
	axis.values = same;
	ts_cache_axis_buckets(&axis, 3, weights);
	assert_int_equal(axis.nr_buckets, 0);
}

TEST(stems_are_names_without_numbers)
{
	static const char *const rows[][2] = {
		{ "jit_step", "jit_step" },
		{ "jit_step.12", "jit_step" },
		{ "jit_step(345)", "jit_step" },
		{ "jit_step.1(2)", "jit_step" },
		{ "jit__lambda_", "jit__lambda" },
		{ "SyncTensorsGraph.88", "SyncTensorsGraph" },
		{ "jit_layer2", "jit_layer2" },
		{ "_", "_" },
		{ ".5", ".5" },
		{ "(3)", "(3)" },
		{ "", "" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (!ts_bytes_is(ts_module_stem(ts_bytes_of(rows[i][0])), rows[i][1]))
			fail_msg("\"%s\"", rows[i][0]);
}
