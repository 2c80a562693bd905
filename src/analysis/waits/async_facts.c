/* SPDX-License-Identifier: MIT */
/* Transfers over all cores: what each was waited for, and what could be computed meanwhile. */
#include "analysis/waits/async.h"
#include "base/order.h"

struct reading {
	const struct ts_context *ctx;
	struct async_rows *rows;
};

TS_ORDER(async_facts_by_exposed, struct async_row, TS_DOWN(seen.exposed_ps) TS_UP(op))

static bool is_mine(const struct reading *reading, size_t i, uint32_t module)
{
	return i < TS_MIN(reading->rows->nr, ASYNC_MAX_COVERED) &&
	       reading->ctx->profile->ops[reading->rows->items[i].op].module == module;
}

static void cover_row(const struct reading *reading, struct async_schedule *schedule,
		      struct async_row *row)
{
	const struct ts_op *op = &reading->ctx->profile->ops[row->op];
	const struct ts_op *done =
		op->partner == TS_NONE ? op : &reading->ctx->profile->ops[op->partner];

	if (op->instr == TS_NONE || done->instr == TS_NONE || done->module != op->module)
		return;
	row->cover = ts_async_cover_of(schedule, op->instr, done->instr);
	if (row->cover.known)
		row->coverable_ps =
			TS_MIN(row->seen.exposed_ps,
			       ts_i64_mul(row->cover.free_ps, TS_MAX(row->seen.occurrences, 0)));
}

/*
 * An op can hide only so much: the waits in one computation together cannot be covered by more than
 * what all ops take that could cover some of them. Cuts the rows down in proportion.
 */
static void share_out(const struct reading *reading, const struct async_schedule *schedule,
		      uint32_t module, uint32_t comp)
{
	const struct ts_hlo_comp *within = &schedule->module->comps[comp];
	int64_t free_ps = 0, wanted_ps = 0, runs = 0;
	const struct ts_profile *profile = reading->ctx->profile;

	for (uint32_t i = within->first_instr; i < within->first_instr + within->nr_instrs; i++)
		if (schedule->is_free[i])
			free_ps = ts_i64_add(free_ps, schedule->mean_ps[i]);
	for (size_t i = 0; i < TS_MIN(reading->rows->nr, ASYNC_MAX_COVERED); i++) {
		const struct async_row *row = &reading->rows->items[i];

		if (!is_mine(reading, i, module) || !row->cover.known ||
		    schedule->module->instrs[profile->ops[row->op].instr].computation != comp)
			continue;
		wanted_ps = ts_i64_add(wanted_ps, row->coverable_ps);
		runs = TS_MAX(runs, row->seen.occurrences);
	}
	free_ps = ts_i64_mul(free_ps, runs);
	for (size_t i = 0; wanted_ps > free_ps && i < TS_MIN(reading->rows->nr, ASYNC_MAX_COVERED);
	     i++) {
		struct async_row *row = &reading->rows->items[i];

		if (is_mine(reading, i, module) && row->cover.known &&
		    schedule->module->instrs[profile->ops[row->op].instr].computation == comp)
			row->coverable_ps = (int64_t)((double)row->coverable_ps /
						      (double)wanted_ps * (double)free_ps);
	}
}

static enum ts_status cover_module(const struct reading *reading, uint32_t module,
				   struct ts_error *err)
{
	struct async_schedule schedule;
	enum ts_status st = ts_async_schedule_init(&schedule, reading->ctx, module, err);
	bool *asked = calloc(reading->ctx->profile->modules[module].nr_comps + 1, sizeof(*asked));

	if (!st && !asked)
		st = ts_fail_nomem(err);
	for (size_t i = 0; !st && i < TS_MIN(reading->rows->nr, ASYNC_MAX_COVERED); i++)
		if (is_mine(reading, i, module))
			cover_row(reading, &schedule, &reading->rows->items[i]);
	for (size_t i = 0; !st && i < TS_MIN(reading->rows->nr, ASYNC_MAX_COVERED); i++) {
		uint32_t comp;

		if (!is_mine(reading, i, module) || !reading->rows->items[i].cover.known)
			continue;
		comp = schedule.module
			       ->instrs[reading->ctx->profile->ops[reading->rows->items[i].op]
						.instr]
			       .computation;
		if (!asked[comp])
			share_out(reading, &schedule, module, comp);
		asked[comp] = true;
	}
	free(asked);
	ts_async_schedule_release(&schedule);
	return st;
}

static enum ts_status async_facts_cover_all(const struct reading *reading, struct ts_error *err)
{
	const struct ts_profile *profile = reading->ctx->profile;
	bool *asked = calloc(profile->nr_modules + 1, sizeof(*asked));
	enum ts_status st = asked ? TS_OK : ts_fail_nomem(err);

	for (size_t i = 0; !st && i < TS_MIN(reading->rows->nr, ASYNC_MAX_COVERED); i++) {
		uint32_t module = profile->ops[reading->rows->items[i].op].module;

		if (module == TS_NONE || asked[module])
			continue;
		asked[module] = true;
		st = cover_module(reading, module, err);
	}
	free(asked);
	return st;
}

static struct ts_async_op async_facts_fact_of(const struct ts_profile *profile,
					      const struct async_row *row)
{
	const struct ts_op *op = &profile->ops[row->op];
	const struct ts_hlo_module *module =
		op->module == TS_NONE ? NULL : &profile->modules[op->module];
	struct ts_async_op fact = {
		.op = row->op,
		.name = op->name,
		.is_collective = op->kind == TS_OP_COLLECTIVE,
		.is_host = op->kind == TS_OP_HOST,
		.occurrences = row->seen.occurrences,
		.interval_ps = row->seen.interval_ps,
		.exposed_ps = row->seen.exposed_ps,
		.hidden_ps = ts_i64_sub(row->seen.interval_ps, row->seen.exposed_ps),
		.coverable_ps = row->coverable_ps,
	};

	if (op->partner != TS_NONE)
		fact.done = profile->ops[op->partner].name;
	if (module)
		fact.module = module->name;
	if (module && row->cover.known && row->cover.free != TS_NONE)
		fact.could_hide = module->instrs[row->cover.free].name;
	return fact;
}

enum ts_status ts_async_read(const struct async_state *sum, const struct ts_context *ctx,
			     struct ts_arena *arena, struct async_rows *rows,
			     struct ts_async_facts *facts, struct ts_error *err)
{
	struct reading reading = { ctx, rows };
	struct ts_async_op *items;
	enum ts_status st;

	TS_ASSERT(sum->nr_seen == sum->slots.nr && facts && !rows->items);
	rows->items = calloc(sum->slots.nr + 1, sizeof(*rows->items));
	if (!rows->items)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < sum->slots.nr; i++)
		if (sum->seen[i].occurrences > 0 || sum->seen[i].exposed_ps > 0)
			rows->items[rows->nr++] = (struct async_row){ .op = sum->slots.op[i],
								      .seen = sum->seen[i],
								      .coverable_ps = -1 };
	TS_SORT(rows->items, rows->nr, async_facts_by_exposed);
	items = ts_arena_array(arena, rows->nr + 1, sizeof(*items));
	if (!items)
		return ts_fail_nomem(err);
	st = async_facts_cover_all(&reading, err);
	if (st)
		return st;
	for (size_t i = 0; i < rows->nr; i++)
		items[i] = async_facts_fact_of(ctx->profile, &rows->items[i]);
	facts->items = items;
	facts->nr = TS_MIN(rows->nr, ASYNC_MAX_LISTED);
	return TS_OK;
}
