/* SPDX-License-Identifier: MIT */
/*
 * Capacity: what the programs need of device memory, how much of it is there, and what filled it.
 */
#include "analysis/capacity/capacity.h"
#include "result/schema/capacity.def"

#include "base/order.h"
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
static enum ts_status measure_older(struct program *program, struct ts_error *err)
{
	struct program older = { .sum.module = program->sum.module };
	enum ts_status st = ts_capacity_simulate(&older, true, err);

	if (st == TS_OK && older.sum.peak_bytes != program->sum.peak_bytes)
		program->sum.older_peak_bytes = older.sum.peak_bytes;
	release_program(&older);
	return st;
}

static enum ts_status capacity_measure(const struct ts_context *ctx,
				       const struct ts_hlo_module *module, struct program *program,
				       struct ts_error *err)
{
	bool is_known = ctx->libtpu.n > 0;
	enum ts_status st;

	program->sum.module = module;
	program->sum.older_peak_bytes = -1;
	if (module->buffers.present && module->buffers.nr_allocations > 0)
		return ts_capacity_assigned(program, err);
	st = ts_capacity_simulate(program, is_known && is_older(ctx->libtpu), err);
	if (st)
		return st;
	return is_known ? TS_OK : measure_older(program, err);
}

TS_ORDER(by_peak, struct program, TS_DOWN(sum.peak_bytes) TS_UP(sum.module))

/* The modules of a run that have their instructions. */
struct programs {
	struct program *items;
	size_t nr;
};

static enum ts_status capacity_measure_all(const struct ts_context *ctx, struct programs *programs,
					   struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;

	programs->items = calloc(profile->nr_modules + 1, sizeof(*programs->items));
	if (!programs->items)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_modules; i++) {
		enum ts_status st;

		if (profile->modules[i].nr_comps == 0)
			continue;
		st = capacity_measure(ctx, &profile->modules[i], &programs->items[programs->nr++],
				      err);
		if (st)
			return st;
	}
	TS_SORT(programs->items, programs->nr, by_peak);
	return TS_OK;
}

static enum ts_status capacity_put_report(const struct ts_context *ctx,
					  const struct programs *programs,
					  struct ts_capacity_facts *facts, struct ts_result *result,
					  struct ts_error *err)
{
	enum ts_status st = ts_capacity_put_sites(ctx, facts->hbm_bytes, result, err);

	if (st || programs->nr == 0)
		return st;
	return ts_capacity_report(facts, &programs->items[0], result, err);
}

static enum ts_status capacity_close(void *state, const struct ts_context *ctx, void *facts,
				     struct ts_result *result, struct ts_error *err)
{
	struct programs programs = { .items = NULL };
	enum ts_status st;

	TS_ASSERT(ctx && facts && result);
	st = capacity_measure_all(ctx, &programs, err);
	if (st)
		goto done;
	st = ts_capacity_make_facts(ctx, programs.items, programs.nr, result, facts, err);
	if (st)
		goto done;
	st = capacity_put_report(ctx, &programs, facts, result, err);
done:
	for (size_t i = 0; i < programs.nr; i++)
		release_program(&programs.items[i]);
	free(programs.items);
	return st;
}

const struct ts_analysis ts_analysis_capacity = {
	.schema = &ts_schema_capacity,
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_capacity_facts),
	.close = capacity_close,
};
