/* SPDX-License-Identifier: Apache-2.0 */
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
static bool *find_modules(const struct memory *memory)
{
	bool *ran = calloc(memory->ctx->profile->nr_modules + 1, sizeof(*ran));

	for (size_t i = 0; ran && i < memory->nr_ops; i++)
		if (memory->ops[i].module != TS_NONE)
			ran[memory->ops[i].module] = true;
	return ran;
}

static bool look_into(struct memory *memory, uint32_t index, struct memory_copies *copies,
		      struct memory_upcasts *upcasts)
{
	const struct ts_hlo_module *module = &memory->ctx->profile->modules[index];
	bool *inner = ts_hlo_inner_comps(module);
	uint32_t *caller = ts_hlo_callers(module);
	struct memory_walk walk = { memory, module, index, inner, caller };
	bool good = inner && caller;

	if (good && module->nr_comps > 0)
		good = ts_memory_find_copies(&walk, copies) &&
		       ts_memory_find_upcasts(&walk, upcasts);
	free(inner);
	free(caller);
	return good;
}

static bool put_modules(struct memory *memory)
{
	struct memory_copies copies = { .nr = 0 };
	struct memory_upcasts upcasts = { .nr = 0 };
	bool *ran = find_modules(memory);
	bool good = ran != NULL;

	for (uint32_t i = 0; good && i < memory->ctx->profile->nr_modules; i++)
		if (ran[i])
			good = look_into(memory, i, &copies, &upcasts);
	good = good && ts_memory_put_copies(memory, &copies) &&
	       ts_memory_put_upcasts(memory, &upcasts);
	free(ran);
	free(copies.items);
	free(upcasts.items);
	return good;
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
	bool good =
		ts_memory_find_ops(&memory) && ts_memory_put_ops(&memory) && put_modules(&memory);

	ts_memory_release_ops(&memory);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_memory = {
	.schema = &ts_schema_memory,
	.needs = TS_NEEDED,
	.pass = TS_PASS_INTERLEAVED, /* the kernels' */
	.facts_size = sizeof(struct ts_memory_facts),
	.close = memory_close,
};
