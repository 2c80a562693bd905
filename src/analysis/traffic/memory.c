/* SPDX-License-Identifier: MIT */
/*
 * Memory traffic: what each op reads and writes, in which memory, how fast against the chip, and
 * which of it no result needed.
 *
 * Times and executions are those that ops and rates found, bytes those of model/traffic.h; so no
 * event is looked at again.
 */
#include "analysis/traffic/memory.h"

#include "analysis/facts/time.h"
#include "analysis/kit/peaks.h"
#include "model/op_work.h"
#include "result/schema/memory.def"

/* Did anything of it run? */
static enum ts_status find_modules(const struct memory *memory, bool **ran, struct ts_error *err)
{
	*ran = calloc(memory->ctx->profile->nr_modules + 1, sizeof(**ran));
	if (!*ran)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < memory->nr_ops; i++)
		if (memory->ops[i].module != TS_NONE)
			(*ran)[memory->ops[i].module] = true;
	return TS_OK;
}

static enum ts_status traffic_memory_look_into(struct memory *memory, uint32_t index,
					       struct memory_copies *copies,
					       struct memory_upcasts *upcasts, struct ts_error *err)
{
	const struct ts_hlo_module *module = &memory->ctx->profile->modules[index];
	bool *inner = ts_hlo_inner_comps(module);
	uint32_t *caller = ts_hlo_callers(module);
	struct memory_walk walk = { memory, module, index, inner, caller };
	enum ts_status st = TS_OK;

	if (!inner || !caller) {
		st = ts_fail_nomem(err);
		goto done;
	}
	if (module->nr_comps == 0)
		goto done;
	st = ts_memory_find_copies(&walk, copies, err);
	if (st)
		goto done;
	st = ts_memory_find_upcasts(&walk, upcasts, err);
done:
	free(inner);
	free(caller);
	return st;
}

static enum ts_status traffic_memory_put_modules(struct memory *memory, struct ts_error *err)
{
	struct memory_copies copies = { .nr = 0 };
	struct memory_upcasts upcasts = { .nr = 0 };
	bool *ran;
	enum ts_status st = find_modules(memory, &ran, err);

	for (uint32_t i = 0; i < memory->ctx->profile->nr_modules && st == TS_OK; i++)
		if (ran[i])
			st = traffic_memory_look_into(memory, i, &copies, &upcasts, err);
	if (st == TS_OK)
		st = ts_memory_put_copies(memory, &copies, err);
	if (st == TS_OK)
		st = ts_memory_put_upcasts(memory, &upcasts, err);
	free(ran);
	free(copies.items);
	free(upcasts.items);
	return st;
}

static enum ts_status memory_close(void *state, const struct ts_context *ctx, void *facts,
				   struct ts_result *result, struct ts_error *err)
{
	struct memory memory = { .ctx = ctx,
				 .result = result,
				 .facts = facts,
				 .rates = ts_hbm_rates(ctx),
				 .byte_ps = ts_hbm_byte_ps(ctx),
				 .core_ps = ts_time_facts(ctx)->total_ps };
	enum ts_status st = ts_memory_find_ops(&memory, err);

	if (st)
		goto done;
	st = ts_memory_put_ops(&memory, err);
	if (st)
		goto done;
	st = traffic_memory_put_modules(&memory, err);
done:
	ts_memory_release_ops(&memory);
	return st;
}

const struct ts_analysis ts_analysis_memory = {
	.schema = &ts_schema_memory,
	.needs = TS_NEEDED,
	.pass = TS_PASS_INTERLEAVED, /* the kernels' */
	.facts_size = sizeof(struct ts_memory_facts),
	.close = memory_close,
};
