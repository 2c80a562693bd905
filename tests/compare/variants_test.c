/* SPDX-License-Identifier: MIT */
/* Programs that were compiled for several shapes: what two runs have in common is a set. */
#include "tests/test.h"
#include "compare/compare.h"

#define MOST 4

/* A program jit_f that takes in f32[SIZE]. */
struct program {
	int64_t size;
	struct ts_hlo_comp comp;
	struct ts_hlo_instr parameter;
	uint32_t param;
};

struct side {
	struct ts_profile profile;
	struct ts_results results;
	struct program programs[MOST];
};

/* SIZES end with 0. */
static void given(struct side *side, const int64_t *sizes)
{
	memset(side, 0, sizeof(*side));
	ts_profile_init(&side->profile);
	ts_results_init(&side->results);
	for (size_t i = 0; sizes[i]; i++) {
		struct program *program = &side->programs[i];
		struct ts_hlo_module *module = ts_profile_add_module(&side->profile, i + 1);

		program->size = sizes[i];
		program->parameter.shape =
			(struct ts_shape){ .dtype = TS_F32, .rank = 1, .dims = &program->size };
		program->comp = (struct ts_hlo_comp){ .nr_params = 1,
						      .nr_instrs = 1,
						      .params = &program->param };
		module->name = TS_LIT("jit_f");
		module->comps = &program->comp;
		module->nr_comps = 1;
		module->instrs = &program->parameter;
		module->nr_instrs = 1;
	}
}

struct row {
	int64_t base[MOST], other[MOST];
	const char *what, *ours, *theirs; /* NULL: nothing differs */
};

static const struct row rows[] = {
	{ { 8 }, { 8 }, NULL, NULL, NULL },
	{ { 8, 16 }, { 16, 8 }, NULL, NULL, NULL }, /* both have both, in another order */
	{ { 8 }, { 16 }, "parameter 0 of jit_f", "f32[8]", "f32[16]" },
	{ { 8, 16 }, { 32, 8 }, "parameter 0 of jit_f", "f32[16]", "f32[32]" },
	{ { 8 }, { 16, 8 }, "variants of jit_f", "1", "2" },
	{ { 16, 8, 16 }, { 8 }, "variants of jit_f", "2", "1" }, /* compiled twice, one variant */
};

static void check(const struct row *row)
{
	struct side sides[2];
	struct ts_compare_run runs[2];
	struct ts_compare_request request = { .runs = runs, .nr_runs = 2 };
	struct ts_results into;
	const struct ts_table *table;
	size_t nr_failed;

	given(&sides[0], row->base);
	given(&sides[1], row->other);
	for (size_t i = 0; i < 2; i++)
		runs[i] = (struct ts_compare_run){ .name = i ? TS_LIT("b") : TS_LIT("a"),
						   .profile = &sides[i].profile,
						   .results = &sides[i].results };
	ts_results_init(&into);
	assert_int_equal(ts_compare(&request, &into, &nr_failed, NULL), TS_OK);
	table = ts_result_find_table(ts_results_find(&into, "compare"), "differences");
	assert_int_equal(table->nr_rows, row->what ? 1 : 0);
	if (row->what) {
		assert_true(ts_bytes_is(ts_cell_text(table, 0, "what"), row->what));
		assert_true(ts_bytes_is(ts_cell_text(table, 0, "baseline"), row->ours));
		assert_true(ts_bytes_is(ts_cell_text(table, 0, "other"), row->theirs));
	}
	ts_results_release(&into);
	for (size_t i = 0; i < 2; i++) {
		ts_results_release(&sides[i].results);
		ts_profile_release(&sides[i].profile);
	}
}

TEST(shapes_are_compared_as_sets)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		check(&rows[i]);
}
