/*
 * Capacity: what the programs need of device memory, how much of it is there, and what filled it.
 */
#include "analysis/capacity/capacity.h"

struct state {
	int unused;
};

static bool measure(const struct ts_hlo_module *module, struct ts_capacity_program *program)
{
	program->module = module;
	if (module->buffers.present && module->buffers.nr_allocations > 0)
		return ts_capacity_assigned(program);
	return ts_capacity_simulate(program);
}

static enum ts_status close_state(void *ptr, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	struct ts_capacity_program *programs = calloc(profile->nr_modules + 1, sizeof(*programs));
	size_t nr = 0;
	bool good = programs != NULL;
	enum ts_status st;

	(void)ptr;
	for (size_t i = 0; i < profile->nr_modules && good; i++) {
		if (profile->modules[i].nr_comps == 0)
			continue;
		good = measure(&profile->modules[i], &programs[nr++]);
	}
	if (good && nr > 1)
		qsort(programs, nr, sizeof(*programs), ts_capacity_by_peak);
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
	.state_size = sizeof(struct state),
	.close = close_state,
};
