/* SPDX-License-Identifier: Apache-2.0 */
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

static int by_peak(const void *a, const void *b)
{
	const struct ts_capacity_program *x = &((const struct program *)a)->sum;
	const struct ts_capacity_program *y = &((const struct program *)b)->sum;

	if (x->peak_bytes != y->peak_bytes)
		return x->peak_bytes > y->peak_bytes ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

/* The modules of a run that have their instructions. */
struct programs {
	struct program *items;
	size_t nr;
};

static bool measure_all(const struct ts_profile *profile, struct programs *programs)
{
	bool good = true;

	programs->items = calloc(profile->nr_modules + 1, sizeof(*programs->items));
	if (!programs->items)
		return false;
	for (size_t i = 0; i < profile->nr_modules && good; i++)
		if (profile->modules[i].nr_comps > 0)
			good = measure(&profile->modules[i], &programs->items[programs->nr++]);
	if (programs->nr > 1)
		qsort(programs->items, programs->nr, sizeof(*programs->items), by_peak);
	return good;
}

static void release(struct programs *programs)
{
	for (size_t i = 0; i < programs->nr; i++) {
		free(programs->items[i].order);
		free(programs->items[i].buffers);
	}
	free(programs->items);
}

static bool report(const struct ts_context *ctx, const struct programs *programs,
		   struct ts_capacity_facts *facts, struct ts_result *result)
{
	if (!ts_capacity_make_facts(ctx, programs->items, programs->nr, result, facts) ||
	    !ts_capacity_put_sites(ctx, facts->hbm_bytes, result))
		return false;
	return programs->nr == 0 || ts_capacity_report(facts, &programs->items[0], result);
}

static enum ts_status capacity_close(void *state, const struct ts_context *ctx, void *facts,
				     struct ts_result *result, struct ts_error *err)
{
	struct programs programs = { .items = NULL };
	bool good;

	TS_ASSERT(ctx && facts && result);
	good = measure_all(ctx->profile, &programs) && report(ctx, &programs, facts, result);
	release(&programs);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_capacity = {
	.name = "capacity",
	.title = "Memory capacity",
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_capacity_facts),
	.close = capacity_close,
};
