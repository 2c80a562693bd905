/*
 * Capacity: what the programs need of device memory, how much of it is there, and what filled it.
 */
#include "analysis/capacity/capacity.h"

static bool measure(const struct ts_hlo_module *module, struct program *program)
{
	program->sum.module = module;
	if (module->buffers.present && module->buffers.nr_allocations > 0)
		return ts_capacity_assigned(program);
	return ts_capacity_simulate(program);
}

static bool make_facts(const struct program *programs, size_t nr, struct ts_result *result,
		       struct ts_capacity_facts *facts)
{
	struct ts_capacity_program *made =
		ts_arena_array(&result->owner->arena, nr + 1, sizeof(*made));

	for (size_t i = 0; made && i < nr; i++)
		made[i] = programs[i].sum;
	*facts = (struct ts_capacity_facts){ .programs = made, .nr_programs = nr };
	return made != NULL;
}

static enum ts_status close_state(void *ptr, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	struct program *programs = calloc(profile->nr_modules + 1, sizeof(*programs));
	size_t nr = 0;
	bool good = programs != NULL;
	enum ts_status st;

	for (size_t i = 0; i < profile->nr_modules && good; i++) {
		if (profile->modules[i].nr_comps == 0)
			continue;
		good = measure(&profile->modules[i], &programs[nr++]);
	}
	if (good && nr > 1)
		qsort(programs, nr, sizeof(*programs), ts_capacity_by_peak);
	good = good && make_facts(programs, nr, result, facts);
	st = good ? ts_capacity_rows(ctx, programs, nr, result, err) : ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++)
		ts_capacity_program_release(&programs[i]);
	free(programs);
	return st;
}

const struct ts_analysis ts_analysis_capacity = {
	.name = "capacity",
	.title = "Memory capacity",
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_capacity_facts),
	.close = close_state,
};
