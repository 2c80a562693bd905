/* SPDX-License-Identifier: MIT */
/* Offloads to SparseCores: what was waited for them, and what the same work would cost a TensorCore. */
#include "analysis/waits/sparsecore.h"

#include "model/cost.h"
#include "model/op_kind.h"
#include "model/traffic.h"
#include "base/order.h"

#define MAX_ESTIMATE_PS 4e18 /* more is not a time, and does not fit into an int64_t */

struct reading {
	const struct sparsecore_state *sum;
	const struct ts_context *ctx;
};

/* FLOPs and bytes of HBM, both ways, of one execution; NaN: unknown. A start that is said to move no
 * bytes was not looked into. */
struct work {
	double flops, hbm_bytes;
};

static struct work sparsecore_facts_work_of(const struct ts_profile *profile,
					    const struct ts_op *op)
{
	struct work work = { ts_op_flops(op), ts_op_hbm_bytes(profile, op) };
	struct ts_cost cost;

	if (ts_op_instr(profile, op)) {
		cost = ts_hlo_cost(&profile->modules[op->module], op->instr);
		if (!cost.has_unknown && cost.hbm_bytes > 0)
			work = (struct work){ (double)cost.flops, (double)cost.hbm_bytes };
	}
	if (!(work.hbm_bytes > 0))
		work.hbm_bytes = NAN;
	return work;
}

static uint32_t sparsecore_facts_first_device(const struct reading *reading, uint32_t slot)
{
	const struct sparsecore_state *sum = reading->sum;
	size_t nr = reading->ctx->profile->nr_devices;

	for (uint32_t i = 0; i < nr; i++)
		if (sum->seen[i * sum->slots.nr + slot].occurrences > 0)
			return i;
	return TS_NONE;
}

/* Of one execution on a TensorCore, in s; NaN unknown. */
static double estimate(const struct reading *reading, uint32_t slot)
{
	uint32_t index = reading->sum->slots.op[slot],
		 device = sparsecore_facts_first_device(reading, slot);
	const struct ts_profile *profile = reading->ctx->profile;
	const struct ts_op *op = &profile->ops[index];
	struct work work = sparsecore_facts_work_of(profile, op);
	const struct ts_rates *rates;
	double least_s;

	if (device == TS_NONE || isnan(work.hbm_bytes))
		return NAN;
	rates = &reading->ctx->rates[device];
	if (!(rates->hbm_bytes_per_s > 0))
		return NAN;
	if (op->kind == TS_OP_COLLECTIVE) {
		const struct ts_collective *collective =
			ts_collective_of(ts_collectives_facts(reading->ctx), index);
		double link_s = collective ? collective->link_s : NAN;

		least_s = work.hbm_bytes / rates->hbm_bytes_per_s;
		return isnan(link_s) ? NAN : TS_MAX(least_s, link_s);
	}
	return ts_roofline_of(rates, work.flops, work.hbm_bytes, NAN).least_s;
}

/* Of all executions; -1: unknown. */
static int64_t estimate_ps(const struct reading *reading, uint32_t slot, int64_t executions)
{
	double ps = estimate(reading, slot) * 1e12 * (double)executions;

	return ps < MAX_ESTIMATE_PS ? (int64_t)(ps + 0.5) : -1; /* false for NaN too */
}

static struct ts_offload sparsecore_facts_fact_of(const struct reading *reading, uint32_t slot,
						  const struct sparsecore_offload *offload)
{
	static const char *const links[] = { [SPARSECORE_STATS] = "stats",
					     [SPARSECORE_HLO] = "hlo",
					     [SPARSECORE_OVERLAP] = "overlap" };
	const struct ts_profile *profile = reading->ctx->profile;
	const struct ts_op *op = &profile->ops[reading->sum->slots.op[slot]];
	bool is_pair = op->partner != TS_NONE; /* without its done the wait was not seen */
	struct ts_offload fact = {
		.op = reading->sum->slots.op[slot],
		.name = op->name,
		.executions = offload->executions,
		.work_ps = offload->work_ps,
		.exposed_ps = is_pair ? offload->exposed_ps : -1,
		.hidden_ps = is_pair ? offload->hidden_ps : -1,
		.estimate_ps = estimate_ps(reading, slot, offload->executions),
		.loss_ps = -1,
		.linked_by = links[offload->link],
	};

	if (is_pair)
		fact.done = profile->ops[op->partner].name;
	if (op->module != TS_NONE)
		fact.module = profile->modules[op->module].name;
	if (is_pair && fact.estimate_ps >= 0)
		fact.loss_ps = TS_MAX(ts_i64_sub(fact.exposed_ps, fact.estimate_ps), 0);
	return fact;
}

/* The largest loss first, then the longest wait; unknown ones behind. */
TS_ORDER(sparsecore_facts_by_loss, struct ts_offload,
	 TS_DOWN(loss_ps) TS_DOWN(exposed_ps) TS_UP(op))

static enum ts_status list_offloads(const struct reading *reading,
				    const struct sparsecore_offload *slots, struct ts_arena *arena,
				    struct ts_sparsecore_facts *facts, struct ts_error *err)
{
	struct ts_offload *items =
		ts_arena_array(arena, reading->sum->slots.nr + 1, sizeof(*items));

	if (!items)
		return ts_fail_nomem(err);
	for (uint32_t slot = 0; slot < reading->sum->slots.nr; slot++) {
		const struct sparsecore_offload *offload = &slots[slot];

		if (offload->link != SPARSECORE_NO_LINK &&
		    (offload->executions != 0 || offload->exposed_ps != 0))
			items[facts->nr_offloads++] =
				sparsecore_facts_fact_of(reading, slot, offload);
	}
	TS_SORT(items, facts->nr_offloads, sparsecore_facts_by_loss);
	facts->offloads = items;
	return TS_OK;
}

enum ts_status ts_sparsecore_read(const struct sparsecore_state *sum, const struct ts_context *ctx,
				  struct ts_arena *arena, struct sparsecore_offload *devices,
				  struct ts_sparsecore_facts *facts, struct ts_error *err)
{
	struct reading reading = { sum, ctx };
	struct sparsecore_offload *slots = calloc(sum->slots.nr + 1, sizeof(*slots));
	enum ts_status st;

	TS_ASSERT(devices && facts && sum->nr_seen == ctx->profile->nr_devices * sum->slots.nr);
	if (!slots)
		return ts_fail_nomem(err);
	st = ts_sparsecore_link_all(sum, ctx->profile, slots, devices, err);
	if (!st)
		st = list_offloads(&reading, slots, arena, facts, err);
	free(slots);
	return st;
}
