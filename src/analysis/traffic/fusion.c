/* SPDX-License-Identifier: MIT */
/*
 * Fusion: what the compiler joined into one kernel, and what it did not.
 *
 * Inside a fusion an intermediate stays in registers and on-chip memory; between two kernels it is
 * written to HBM and read again. Both are counted in the compiled modules of what ran, and
 * multiplied by the executions in the profile; without a run each module counts once.
 */
#include "analysis/traffic/fusion.h"

#include "analysis/facts/ops.h"
#include "analysis/kit/peaks.h"
#include "analysis/settings_list.h"
#include "base/units.h"
#include "model/op_work.h"
#include "base/order.h"
#include "result/schema/fusion.def"

static double per_flop(const struct ts_context *ctx)
{
	const struct ts_rates *rates = ts_flops_rates(ctx);

	return rates ? 1e12 / rates->peak_flops_per_s : NAN;
}

/*
 * What fewer bytes can take away of an op's time. A product that keeps the matrix unit busy moves
 * its bytes meanwhile: by the roofline they cost what HBM needs beyond the FLOPs.
 */
static double spare_of(const struct ts_fusion *fusion, const struct ts_op_fact *fact)
{
	double work_ps = fact->flops * (double)fact->occurrences * fusion->per_flop_ps;
	double hbm_ps = fact->hbm_bytes * (double)fact->occurrences * fusion->per_byte_ps;
	double self_ps = (double)TS_MAX(fact->self_ps, 0);

	if (!(work_ps > 0))
		return self_ps;
	return fmax((isnan(hbm_ps) ? self_ps : fmin(self_ps, hbm_ps)) - work_ps, 0);
}

/* Its time goes to its instruction. */
static enum ts_status note_op(struct ts_fusion *fusion, const struct ts_op_fact *fact,
			      struct ts_error *err)
{
	const struct ts_hlo_module *module;
	struct ts_fusion_time **times, *time;

	if (fact->op == TS_NONE || fact->occurrences <= 0)
		return TS_OK;
	fusion->measured = true;
	if (fact->module_index == TS_NONE || fact->instr == TS_NONE)
		return TS_OK;
	module = &fusion->ctx->profile->modules[fact->module_index];
	TS_ASSERT(fact->instr < module->nr_instrs);
	times = &fusion->times[fact->module_index];
	if (!*times)
		*times = calloc((size_t)module->nr_instrs + 1, sizeof(**times));
	if (!*times)
		return ts_fail_nomem(err);
	time = &(*times)[fact->instr];
	time->occurrences = ts_i64_add(time->occurrences, fact->occurrences);
	time->self_ps = ts_i64_add(time->self_ps, TS_MAX(fact->self_ps, 0));
	time->spare_ps += spare_of(fusion, fact);
	return TS_OK;
}

static enum ts_status note_ops(struct ts_fusion *fusion, struct ts_error *err)
{
	const struct ts_ops_facts *ops = ts_ops_facts(fusion->ctx);
	enum ts_status st;

	for (size_t i = 0; i < ops->nr; i++) {
		st = note_op(fusion, &ops->items[i], err);
		if (st)
			return st;
	}
	return TS_OK;
}

static bool is_output(const struct ts_hlo_module *module, const struct ts_hlo_comp *comp,
		      uint32_t instr)
{
	const struct ts_hlo_instr *root = &module->instrs[comp->root];

	if (instr == comp->root)
		return true;
	for (uint32_t i = 0; root->opcode == TS_OPCODE_TUPLE && i < root->nr_operands; i++)
		if (root->operands[i] == instr)
			return true;
	return false;
}

/* What an intermediate inside a fusion would have cost in HBM: a write and a read by each user. */
static int64_t saved_by(const struct ts_hlo_module *module, const struct ts_hlo_comp *comp,
			uint32_t index)
{
	const struct ts_hlo_instr *instr = &module->instrs[index];
	int64_t nr = is_output(module, comp, index) ? 0 : 1;

	/* Each op that needs these makes them: they would not be stored. */
	if (ts_hlo_is_name(instr) || instr->opcode == TS_OPCODE_BROADCAST ||
	    instr->opcode == TS_OPCODE_IOTA || instr->shape.memory_space != TS_SPACE_HBM ||
	    ts_shape_elements(&instr->shape) <= 1)
		return 0;
	for (uint32_t i = 0; i < instr->nr_users; i++)
		if ((i == 0 || instr->users[i] != instr->users[i - 1]) &&
		    module->instrs[instr->users[i]].opcode != TS_OPCODE_TUPLE)
			nr++;
	return ts_i64_mul(ts_shape_bytes(&instr->shape), nr);
}

static void traffic_fusion_look_inside(const struct ts_hlo_module *module, uint32_t comp_index,
				       unsigned depth, struct ts_fusion_kind_sum *kind)
{
	const struct ts_hlo_comp *comp = &module->comps[comp_index];

	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t index = comp->first_instr + i;
		const struct ts_hlo_instr *instr = &module->instrs[index];

		kind->saved_bytes = ts_i64_add(kind->saved_bytes, saved_by(module, comp, index));
		if (instr->opcode == TS_OPCODE_FUSION && instr->nr_called > 0 &&
		    depth < TS_FUSION_MAX_DEPTH)
			traffic_fusion_look_inside(module, instr->called[0], depth + 1, kind);
		else if (!ts_hlo_is_name(instr))
			kind->nr_ops++;
	}
}

static void count_fusion(struct ts_fusion *fusion, const struct ts_fusion_walk *walk,
			 uint32_t index)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[index];
	const struct ts_fusion_time *time = walk->times ? &walk->times[index] : NULL;
	struct ts_fusion_kind_sum one = { .nr_fusions = 1, .executions = 1 }, *sum;

	if (instr->nr_called > 0)
		traffic_fusion_look_inside(walk->module, instr->called[0], 0, &one);
	if (time) {
		one.executions = time->occurrences;
		one.self_ps = time->self_ps;
	}
	sum = &fusion->kinds[instr->fusion_kind];
	sum->nr_fusions++;
	sum->nr_ops = ts_i64_add(sum->nr_ops, one.nr_ops);
	sum->executions = ts_i64_add(sum->executions, one.executions);
	sum->self_ps = ts_i64_add(sum->self_ps, one.self_ps);
	sum->saved_bytes =
		ts_i64_add(sum->saved_bytes, ts_i64_mul(one.saved_bytes, one.executions));
	fusion->nr_before = ts_i64_add(fusion->nr_before, TS_MAX(one.nr_ops, 1));
}

static void count_kernels(struct ts_fusion *fusion, const struct ts_fusion_walk *walk)
{
	for (uint32_t i = 0; i < walk->module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &walk->module->instrs[i];

		if (walk->inner[instr->computation] || ts_hlo_is_name(instr) ||
		    ts_hlo_is_control(instr) || ts_hlo_is_done(instr))
			continue;
		fusion->nr_after++;
		if (instr->opcode == TS_OPCODE_FUSION)
			count_fusion(fusion, walk, i);
		else
			fusion->nr_before++;
	}
}

static uint32_t *find_traits(const struct ts_hlo_module *module, const bool *inner)
{
	uint32_t *traits = calloc((size_t)module->nr_instrs + 1, sizeof(*traits));

	for (uint32_t i = 0; traits && i < module->nr_instrs; i++)
		if (!inner[module->instrs[i].computation])
			traits[i] = ts_fusion_traits(module, i);
	return traits;
}

static enum ts_status traffic_fusion_add_module(struct ts_fusion *fusion, uint32_t index,
						struct ts_error *err)
{
	const struct ts_hlo_module *module = &fusion->ctx->profile->modules[index];
	bool *inner = ts_hlo_inner_comps(module);
	uint32_t *caller = ts_hlo_callers(module);
	uint32_t *traits = inner ? find_traits(module, inner) : NULL;
	struct ts_fusion_walk walk = { module, inner, caller, traits, fusion->times[index] };
	enum ts_status st = TS_OK;

	if (!inner || !caller || !traits) {
		st = ts_fail_nomem(err);
		goto done;
	}
	if (module->nr_comps == 0)
		goto done;
	fusion->nr_modules++;
	count_kernels(fusion, &walk);
	st = ts_fusion_find_chains(&walk, fusion->tiny_ps, &fusion->chains, err);
	if (st)
		goto done;
	st = ts_fusion_find_pairs(&walk, fusion->per_byte_ps, &fusion->pairs, err);
done:
	free(inner);
	free(caller);
	free(traits);
	return st;
}

static enum ts_status traffic_fusion_add_modules(struct ts_fusion *fusion, struct ts_error *err)
{
	const struct ts_profile *profile = fusion->ctx->profile;
	bool alone = !fusion->measured && profile->nr_lines == 0;

	for (uint32_t i = 0; i < profile->nr_modules; i++) {
		enum ts_status st;

		if (!alone && !fusion->times[i])
			continue;
		st = traffic_fusion_add_module(fusion, i, err);
		if (st)
			return st;
	}
	return TS_OK;
}

/* Most time first, then bytes; equal ones in the order of the program. */
TS_ORDER(traffic_fusion_by_impact, struct ts_fusion_pair,
	 TS_DOWN_OF(ts_or_zero, impact_ps) TS_DOWN(total_bytes) TS_UP(module) TS_UP(producer)
		 TS_UP(consumer))

TS_ORDER(traffic_fusion_longest_first, struct ts_fusion_chain,
	 TS_DOWN(time_ps) TS_UP(module) TS_UP(first))

/* Puts the lists into the order of the facts and of the tables. */
static void traffic_fusion_sort(struct ts_fusion *fusion)
{
	TS_SORT(fusion->pairs.items, fusion->pairs.nr, traffic_fusion_by_impact);
	TS_SORT(fusion->chains.items, fusion->chains.nr, traffic_fusion_longest_first);
}

static enum ts_status traffic_fusion_publish(const struct ts_fusion *fusion,
					     struct ts_fusion_facts *facts, struct ts_error *err)
{
	struct ts_arena *arena = &fusion->result->owner->arena;
	size_t nr_pairs = TS_MIN(fusion->pairs.nr, TS_FUSION_MAX_ROWS);
	size_t nr_chains = TS_MIN(fusion->chains.nr, TS_FUSION_MAX_ROWS);
	struct ts_fusion_pair *pairs =
		ts_arena_dup(arena, fusion->pairs.items, nr_pairs, sizeof(*pairs));
	struct ts_fusion_chain *chains =
		ts_arena_dup(arena, fusion->chains.items, nr_chains, sizeof(*chains));

	if (!pairs || !chains)
		return ts_fail_nomem(err);
	*facts = (struct ts_fusion_facts){ pairs, nr_pairs, chains, nr_chains };
	return TS_OK;
}

static enum ts_status fusion_close(void *state, const struct ts_context *ctx, void *facts,
				   struct ts_result *result, struct ts_error *err)
{
	struct ts_fusion fusion = { .ctx = ctx,
				    .result = result,
				    .per_byte_ps = ts_hbm_byte_ps(ctx),
				    .per_flop_ps = per_flop(ctx) };
	enum ts_status st;

	fusion.tiny_ps = ctx->settings ? ctx->settings->small_op_time * (double)TS_PS_PER_US : 0;
	fusion.times = calloc(ctx->profile->nr_modules + 1, sizeof(*fusion.times));
	if (!fusion.times)
		return ts_fail_nomem(err);
	st = note_ops(&fusion, err);
	if (st)
		goto done;
	st = traffic_fusion_add_modules(&fusion, err);
	if (st)
		goto done;
	traffic_fusion_sort(&fusion);
	ts_fusion_report(&fusion);
	st = traffic_fusion_publish(&fusion, facts, err);
done:
	for (size_t i = 0; i < ctx->profile->nr_modules; i++)
		free(fusion.times[i]);
	free(fusion.times);
	free(fusion.pairs.items);
	free(fusion.chains.items);
	return st;
}

const struct ts_analysis ts_analysis_fusion = {
	.schema = &ts_schema_fusion,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_fusion_facts),
	.close = fusion_close,
};
