/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capacity: what the programs need of device memory, how much of it is there, and what filled it.
 */
#include "analysis/capacity/capacity.h"
#include "result/schema/capacity.def"

/* The first libtpu whose temporaries keep out of the memory of results, as all later ones do. */
static const int64_t keeps_apart[] = { 0, 0, 46 };

/* "0.0.42.1" is older than 0.0.46. */
static bool is_older(struct ts_bytes version)
{
	size_t at = 0;

	for (size_t i = 0; i < TS_NELEM(keeps_apart); i++) {
		int64_t number = 0;

		for (; at < version.n && version.p[at] >= '0' && version.p[at] <= '9'; at++)
			number = ts_i64_add(ts_i64_mul(number, 10), version.p[at] - '0');
		if (number != keeps_apart[i])
			return number < keeps_apart[i];
		if (at < version.n && version.p[at] == '.')
			at++;
	}
	return false;
}

/* A module does not say which libtpu made it. */
static bool measure_older(struct program *program)
{
	struct program older = { .sum.module = program->sum.module };
	bool good = ts_capacity_simulate(&older, true);

	if (good && older.sum.peak_bytes != program->sum.peak_bytes)
		program->sum.older_peak_bytes = older.sum.peak_bytes;
	release_program(&older);
	return good;
}

static bool measure(const struct ts_context *ctx, const struct ts_hlo_module *module,
		    struct program *program)
{
	program->sum.module = module;
	program->sum.older_peak_bytes = -1;
	if (module->buffers.present && module->buffers.nr_allocations > 0)
		return ts_capacity_assigned(program);
	return ts_capacity_simulate(program, ctx->libtpu.n > 0 && is_older(ctx->libtpu)) &&
	       (ctx->libtpu.n > 0 || measure_older(program));
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

static bool measure_all(const struct ts_context *ctx, struct programs *programs)
{
	const struct ts_profile *profile = ctx->profile;
	bool good = true;

	programs->items = calloc(profile->nr_modules + 1, sizeof(*programs->items));
	if (!programs->items)
		return false;
	for (size_t i = 0; i < profile->nr_modules && good; i++)
		if (profile->modules[i].nr_comps > 0)
			good = measure(ctx, &profile->modules[i], &programs->items[programs->nr++]);
	if (programs->nr > 1)
		qsort(programs->items, programs->nr, sizeof(*programs->items), by_peak);
	return good;
}

static void release(struct programs *programs)
{
	for (size_t i = 0; i < programs->nr; i++)
		release_program(&programs->items[i]);
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
	good = measure_all(ctx, &programs) && report(ctx, &programs, facts, result);
	release(&programs);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_capacity = {
	.schema = &ts_schema_capacity,
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_capacity_facts),
	.close = capacity_close,
};
