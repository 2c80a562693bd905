/* SPDX-License-Identifier: MIT */
/*
 * The ops of the memory view: what each one moved and how long it took. Both halves of an
 * asynchronous op are one row, under the start's name. Without a run the instructions of the
 * modules stand for them.
 */
#include "analysis/facts/ops.h"
#include "analysis/traffic/memory.h"
#include "model/op_kind.h"
#include "model/op_work.h"

#define MAX_HOPS 64 /* from an end of an asynchronous op to its start */

double ts_memory_rate(const struct ts_memory_op *op)
{
	return ts_memory_is_known(op)
		       ? ts_memory_rate_of(ts_traffic_hbm_bytes(&op->all), op->time_ps)
		       : NAN;
}

static enum ts_status memory_ops_add_row(struct memory *memory, const struct memory_row *row,
					 struct ts_error *err)
{
	if (!ts_room_grow(memory->ctx->profile->rooms, &memory->ops, &memory->cap_ops,
			  memory->nr_ops + 1, sizeof(*row)))
		return ts_fail_nomem(err);
	memory->ops[memory->nr_ops++] = *row;
	if (row->module != TS_NONE && row->instr != TS_NONE &&
	    !ts_map_set(&memory->by_instr, ts_instr_key(row->module, row->instr),
			(uint32_t)memory->nr_ops - 1))
		return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status add_whole(struct memory *memory, const struct ts_memory_op *op,
				struct ts_error *err)
{
	struct memory_row row = {
		.op = op->op, .module = op->module, .instr = op->instr, .whole = TS_NONE
	};
	enum ts_status st;

	if (!ts_grow(&memory->whole, &memory->cap_whole, memory->nr_whole + 1, sizeof(*op)))
		return ts_fail_nomem(err);
	row.whole = (uint32_t)memory->nr_whole;
	memory->whole[memory->nr_whole++] = *op;
	st = memory_ops_add_row(memory, &row, err);
	if (st)
		return st;
	if (op->op != TS_NONE && !ts_map_set(&memory->by_op, op->op, (uint32_t)memory->nr_ops - 1))
		return ts_fail_nomem(err);
	return TS_OK;
}

/* A kernel's events may say what its metadata does not. */
static struct ts_traffic traffic_of(const struct memory *memory, const struct ts_op_fact *fact)
{
	const struct ts_profile *profile = memory->ctx->profile;
	struct ts_traffic traffic = ts_op_traffic(profile, &profile->ops[fact->op]);

	if (traffic.source == TS_TRAFFIC_UNKNOWN && fact->bytes > 0 && fact->bytes < 9e18) {
		traffic.source = TS_TRAFFIC_TOTAL;
		traffic.unsplit_bytes = (int64_t)fact->bytes;
	}
	return ts_traffic_times(&traffic, fact->occurrences);
}

static struct ts_memory_op memory_ops_op_of(const struct memory *memory,
					    const struct ts_op_fact *fact)
{
	return (struct ts_memory_op){
		.op = fact->op,
		.module = fact->module_index,
		.instr = fact->instr,
		.name = fact->name,
		.category = fact->category,
		.source = fact->source,
		.executions = fact->occurrences,
		.time_ps = fact->work_ps,
		.self_ps = TS_MAX(fact->self_ps, 0),
		.all = traffic_of(memory, fact),
		.hbm_bytes_per_s = NAN,
		.hbm_share = NAN,
	};
}

struct ts_memory_op ts_memory_row(const struct memory *memory, const struct memory_row *row)
{
	TS_ASSERT_HOT(memory && row);
	if (row->whole != TS_NONE)
		return memory->whole[row->whole];
	return memory_ops_op_of(memory, ts_op_fact_of(ts_ops_facts(memory->ctx), row->op));
}

bool ts_memory_op_at(const struct memory *memory, uint32_t module, uint32_t instr,
		     struct ts_memory_op *op)
{
	uint32_t at = ts_map_find(&memory->by_instr, ts_instr_key(module, instr));

	TS_ASSERT(at == TS_NONE || at < memory->nr_ops);
	if (at != TS_NONE)
		*op = ts_memory_row(memory, &memory->ops[at]);
	return at != TS_NONE;
}

static enum ts_status memory_ops_add_op(struct memory *memory, const struct ts_op_fact *fact,
					struct ts_error *err)
{
	struct memory_row row = {
		.op = fact->op, .module = fact->module_index, .instr = fact->instr, .whole = TS_NONE
	};
	struct ts_memory_op op;

	if (memory->ctx->profile->ops[fact->op].async == TS_ASYNC_NONE)
		return memory_ops_add_row(memory, &row, err);
	op = memory_ops_op_of(memory, fact);
	return add_whole(memory, &op, err);
}

/* A done goes to its start's row. */
static enum ts_status memory_ops_join_done(struct memory *memory, const struct ts_op_fact *fact,
					   uint32_t at, struct ts_error *err)
{
	struct ts_traffic traffic = traffic_of(memory, fact);
	struct ts_memory_op *row = &memory->whole[memory->ops[at].whole];

	ts_traffic_add(&row->all, &traffic);
	row->executions = TS_MAX(row->executions, fact->occurrences);
	row->self_ps = ts_i64_add(row->self_ps, TS_MAX(fact->self_ps, 0));
	if (row->source.n == 0)
		row->source = fact->source;
	if (fact->instr != TS_NONE &&
	    !ts_map_set(&memory->by_instr, ts_instr_key(fact->module_index, fact->instr), at))
		return ts_fail_nomem(err);
	return TS_OK;
}

static bool is_done(const struct ts_op *op)
{
	return op->async == TS_ASYNC_DONE && op->partner != TS_NONE;
}

/* DONES: the second time round, when the starts have their rows. */
static enum ts_status memory_ops_add_ops(struct memory *memory, const struct ts_ops_facts *ops,
					 bool dones, struct ts_error *err)
{
	const struct ts_profile *profile = memory->ctx->profile;
	enum ts_status st;

	for (size_t i = 0; i < ops->nr; i++) {
		const struct ts_op_fact *fact = &ops->items[i];
		uint32_t start = TS_NONE;

		if (fact->op == TS_NONE || fact->occurrences <= 0)
			continue;
		memory->measured = true;
		if (is_done(&profile->ops[fact->op]) != dones)
			continue;
		if (dones)
			start = ts_map_find(&memory->by_op, profile->ops[fact->op].partner);
		st = start == TS_NONE ? memory_ops_add_op(memory, fact, err)
				      : memory_ops_join_done(memory, fact, start, err);
		if (st)
			return st;
	}
	return TS_OK;
}

/* What the rows sum up to, when all are there. */
static void memory_ops_sum_up(struct memory *memory)
{
	for (size_t i = 0; i < memory->nr_ops; i++) {
		struct memory_row *row = &memory->ops[i];
		struct ts_memory_op op = ts_memory_row(memory, row);

		row->hbm_bytes = ts_traffic_hbm_bytes(&op.all);
		row->time_ps = op.time_ps;
		ts_traffic_add(&memory->total, &op.all);
		memory->uses_host |= ts_traffic_host_bytes(&op.all) > 0;
		if (memory->rates &&
		    ts_is_impossible(ts_memory_rate(&op), memory->rates->hbm_bytes_per_s))
			memory->impossible_bytes += (double)row->hbm_bytes;
		if (op.all.source != TS_TRAFFIC_UNKNOWN)
			continue;
		memory->nr_unknown++;
		memory->unknown_ps = ts_i64_add(memory->unknown_ps, TS_MAX(op.self_ps, 0));
	}
}

/* The start of an asynchronous op, from its end. */
static uint32_t start_of(const struct ts_hlo_module *module, uint32_t index)
{
	for (int i = 0; i < MAX_HOPS && ts_hlo_is_done(&module->instrs[index]); i++) {
		if (module->instrs[index].nr_operands == 0)
			break;
		index = module->instrs[index].operands[0];
	}
	return index;
}

static enum ts_status memory_ops_add_instr(struct memory *memory, uint32_t module_index,
					   uint32_t index, struct ts_error *err)
{
	const struct ts_hlo_module *module = &memory->ctx->profile->modules[module_index];
	const struct ts_hlo_instr *instr = &module->instrs[index];
	uint32_t start = start_of(module, index);
	struct ts_traffic traffic = ts_instr_traffic(module, index);
	struct ts_memory_op op = { .op = TS_NONE,
				   .module = module_index,
				   .instr = index,
				   .name = instr->name,
				   .category = ts_hlo_category(instr),
				   .executions = -1,
				   .time_ps = -1,
				   .self_ps = -1,
				   .all = traffic,
				   .hbm_bytes_per_s = NAN,
				   .hbm_share = NAN };

	if (start != index) {
		uint32_t at = ts_map_find(&memory->by_instr, ts_instr_key(module_index, start));

		if (at == TS_NONE)
			return TS_OK;
		ts_traffic_add(&memory->whole[memory->ops[at].whole].all, &traffic);
		return ts_map_set(&memory->by_instr, ts_instr_key(module_index, index), at)
			       ? TS_OK
			       : ts_fail_nomem(err);
	}
	return add_whole(memory, &op, err);
}

static enum ts_status memory_ops_add_module(struct memory *memory, uint32_t index,
					    struct ts_error *err)
{
	const struct ts_hlo_module *module = &memory->ctx->profile->modules[index];
	bool *inner = ts_hlo_inner_comps(module);
	enum ts_status st = TS_OK;

	if (!inner)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < module->nr_instrs && st == TS_OK; i++)
		if (!inner[module->instrs[i].computation] && !ts_hlo_is_name(&module->instrs[i]))
			st = memory_ops_add_instr(memory, index, i, err);
	free(inner);
	return st;
}

enum ts_status ts_memory_find_ops(struct memory *memory, struct ts_error *err)
{
	const struct ts_ops_facts *ops = ts_ops_facts(memory->ctx);
	enum ts_status st = memory_ops_add_ops(memory, ops, false, err);

	if (st)
		return st;
	st = memory_ops_add_ops(memory, ops, true, err);
	if (st)
		return st;
	for (uint32_t i = 0; !memory->measured && memory->ctx->profile->nr_lines == 0 &&
			     i < memory->ctx->profile->nr_modules;
	     i++) {
		st = memory_ops_add_module(memory, i, err);
		if (st)
			return st;
	}
	memory_ops_sum_up(memory);
	return TS_OK;
}

void ts_memory_release_ops(struct memory *memory)
{
	ts_room_free(memory->ops);
	free(memory->whole);
	ts_map_release(&memory->by_op);
	ts_map_release(&memory->by_instr);
}
