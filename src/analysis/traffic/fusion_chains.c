/* SPDX-License-Identifier: MIT */
/*
 * Tiny ops in series: kernels that follow each other in the compiled schedule, each with a mean
 * time below the threshold. A loop or a branch between them ends a chain; both halves of an
 * asynchronous op do not, and are not part of it: they only start something, or wait.
 */
#include "analysis/traffic/fusion.h"

#define MIN_OPS 4 /* in series: fewer are not a chain */

static enum ts_status end_chain(struct ts_fusion_chains *chains, struct ts_fusion_chain *chain,
				struct ts_error *err)
{
	if (chain->nr_ops >= MIN_OPS) {
		if (!ts_grow(&chains->items, &chains->cap, chains->nr + 1, sizeof(*chain)))
			return ts_fail_nomem(err);
		chains->items[chains->nr++] = *chain;
	}
	*chain = (struct ts_fusion_chain){ .module = chain->module };
	return TS_OK;
}

static enum ts_status fusion_chains_walk_comp(const struct ts_fusion_walk *walk,
					      const struct ts_hlo_comp *comp, double limit_ps,
					      struct ts_fusion_chains *chains, struct ts_error *err)
{
	struct ts_fusion_chain chain = { .module = walk->module };

	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t index = comp->first_instr + i;
		const struct ts_hlo_instr *instr = &walk->module->instrs[index];
		const struct ts_fusion_time *time = &walk->times[index];

		if (ts_hlo_is_name(instr) || ts_hlo_is_done(instr) ||
		    ts_opcode_phase(instr->opcode) == TS_PHASE_START)
			continue;
		if (!ts_hlo_is_control(instr) && time->occurrences > 0 &&
		    (double)time->self_ps < limit_ps * (double)time->occurrences) {
			if (chain.nr_ops++ == 0)
				chain.first = index;
			chain.last = index;
			chain.executions = TS_MAX(chain.executions, time->occurrences);
			chain.occurrences = ts_i64_add(chain.occurrences, time->occurrences);
			chain.time_ps = ts_i64_add(chain.time_ps, time->self_ps);
		} else if (ts_hlo_is_control(instr) || time->occurrences > 0) {
			enum ts_status st = end_chain(chains, &chain, err);

			if (st)
				return st;
		}
	}
	return end_chain(chains, &chain, err);
}

enum ts_status ts_fusion_find_chains(const struct ts_fusion_walk *walk, double limit_ps,
				     struct ts_fusion_chains *chains, struct ts_error *err)
{
	const struct ts_hlo_module *module = walk->module;
	enum ts_status st;

	TS_ASSERT(walk->module && walk->inner);
	if (!module->is_scheduled || !walk->times)
		return TS_OK;
	for (uint32_t c = 0; c < module->nr_comps; c++) {
		if (walk->inner[c])
			continue;
		st = fusion_chains_walk_comp(walk, &module->comps[c], limit_ps, chains, err);
		if (st)
			return st;
	}
	return TS_OK;
}
