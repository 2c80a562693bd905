/* SPDX-License-Identifier: MIT */
/*
 * What could hide a wait: the compute of the same computation that the compiled module does not
 * order against it. An op before the start that the start does not need, however indirectly, may as
 * well run after it; an op after the done that does not use what came may as well run before it. So
 * their time is what can be covered at most. What else speaks against a move (memory, other waits
 * that they hide now) is not looked at.
 */
#include "analysis/waits/async.h"

enum { MARK_NEEDED = 1, MARK_USES = 2 };

/* A loop has the time of all that runs in it; a -start or -done has none. */
static void read_means(struct async_schedule *schedule, const struct ts_context *ctx,
		       uint32_t module)
{
	const struct ts_ops_facts *ops = ts_ops_facts(ctx);

	for (size_t i = 0; i < ops->nr; i++) {
		const struct ts_op_fact *fact = &ops->items[i];
		const struct ts_op *op = fact->op == TS_NONE ? NULL : &ctx->profile->ops[fact->op];

		/* Ops that work and can be moved: not transfers, waits or collectives. */
		if (!op || op->module != module || op->instr == TS_NONE || fact->occurrences <= 0 ||
		    op->async != TS_ASYNC_NONE ||
		    (op->kind != TS_OP_COMPUTE && op->kind != TS_OP_MATRIX &&
		     op->kind != TS_OP_CONTROL))
			continue;
		schedule->mean_ps[op->instr] =
			TS_MAX(op->kind == TS_OP_CONTROL ? fact->total_ps : fact->self_ps, 0) /
			fact->occurrences;
	}
}

enum ts_status ts_async_schedule_init(struct async_schedule *schedule, const struct ts_context *ctx,
				      uint32_t module, struct ts_error *err)
{
	size_t nr = ctx->profile->modules[module].nr_instrs + 1;

	TS_ASSERT(module < ctx->profile->nr_modules);
	*schedule = (struct async_schedule){
		.module = &ctx->profile->modules[module],
		.mean_ps = calloc(nr, sizeof(*schedule->mean_ps)),
		.marks = malloc(nr * sizeof(*schedule->marks)),
		.queue = malloc(nr * sizeof(*schedule->queue)),
		.is_free = calloc(nr, sizeof(*schedule->is_free)),
	};
	if (!schedule->mean_ps || !schedule->marks || !schedule->queue || !schedule->is_free)
		return ts_fail_nomem(err);
	read_means(schedule, ctx, module);
	return TS_OK;
}

void ts_async_schedule_release(struct async_schedule *schedule)
{
	free(schedule->mean_ps);
	free(schedule->marks);
	free(schedule->queue);
	free(schedule->is_free);
}

/* Marks all that FROM needs, or all that uses it; operands and users stay in the computation. */
static void async_cover_mark(struct async_schedule *schedule, uint32_t from, uint8_t bit)
{
	const struct ts_hlo_instr *instrs = schedule->module->instrs;
	size_t nr = 0;

	schedule->queue[nr++] = from;
	schedule->marks[from] |= bit;
	for (size_t at = 0; at < nr; at++) {
		const struct ts_hlo_instr *instr = &instrs[schedule->queue[at]];
		uint32_t nr_next = bit == MARK_NEEDED ? instr->nr_operands : instr->nr_users;
		const uint32_t *next = bit == MARK_NEEDED ? instr->operands : instr->users;

		for (uint32_t i = 0; i < nr_next; i++) {
			if (schedule->marks[next[i]] & bit)
				continue;
			schedule->marks[next[i]] |= bit;
			schedule->queue[nr++] = next[i];
		}
	}
}

static void add_free(struct async_cover *cover, struct async_schedule *schedule, uint32_t instr)
{
	if (cover->free == TS_NONE || schedule->mean_ps[instr] > schedule->mean_ps[cover->free])
		cover->free = instr;
	cover->free_ps = ts_i64_add(cover->free_ps, schedule->mean_ps[instr]);
	cover->nr_free++;
	schedule->is_free[instr] = true;
}

struct async_cover ts_async_cover_of(struct async_schedule *schedule, uint32_t start, uint32_t done)
{
	const struct ts_hlo_module *module = schedule->module;
	const struct ts_hlo_comp *comp = &module->comps[module->instrs[start].computation];
	struct async_cover cover = { .between = TS_NONE, .free = TS_NONE };

	TS_ASSERT(start < module->nr_instrs && done < module->nr_instrs);
	if (!module->is_scheduled ||
	    module->instrs[done].computation != module->instrs[start].computation || done < start)
		return cover;
	cover.known = true;
	memset(&schedule->marks[comp->first_instr], 0, comp->nr_instrs);
	async_cover_mark(schedule, start, MARK_NEEDED);
	async_cover_mark(schedule, done, MARK_USES);
	for (uint32_t i = comp->first_instr; i < comp->first_instr + comp->nr_instrs; i++) {
		if (schedule->mean_ps[i] <= 0)
			continue;
		if (i > start && i < done) {
			if (cover.between == TS_NONE ||
			    schedule->mean_ps[i] > schedule->mean_ps[cover.between])
				cover.between = i;
			cover.between_ps = ts_i64_add(cover.between_ps, schedule->mean_ps[i]);
		} else if (i < start ? !(schedule->marks[i] & MARK_NEEDED)
				     : i > done && !(schedule->marks[i] & MARK_USES))
			add_free(&cover, schedule, i);
	}
	return cover;
}
