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

static uint64_t key_of(uint32_t module, uint32_t instr)
{
	return (uint64_t)module << 32 | instr;
}

const struct ts_memory_op *ts_memory_op_at(const struct memory *memory, uint32_t module,
					   uint32_t instr)
{
	uint32_t at = ts_map_find(&memory->by_instr, key_of(module, instr));

	TS_ASSERT(at == TS_NONE || at < memory->nr_ops);
	return at == TS_NONE ? NULL : &memory->ops[at];
}

/* A new row, with nothing in it; NULL: no memory. */
static struct ts_memory_op *add_row(struct memory *memory, uint32_t module, uint32_t instr)
{
	struct ts_memory_op *row;

	if (!ts_grow(&memory->ops, &memory->cap_ops, memory->nr_ops + 1, sizeof(*memory->ops)))
		return NULL;
	if (module != TS_NONE && instr != TS_NONE &&
	    !ts_map_set(&memory->by_instr, key_of(module, instr), (uint32_t)memory->nr_ops))
		return NULL;
	row = &memory->ops[memory->nr_ops++];
	*row = (struct ts_memory_op){ .op = TS_NONE,
				      .module = module,
				      .instr = instr,
				      .executions = -1,
				      .time_ps = -1,
				      .self_ps = -1,
				      .hbm_bytes_per_s = NAN,
				      .hbm_share = NAN };
	return row;
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

static bool add_op(struct memory *memory, const struct ts_op_fact *fact)
{
	struct ts_memory_op *row = add_row(memory, fact->module_index, fact->instr);

	if (!row || !ts_map_set(&memory->by_op, fact->op, (uint32_t)memory->nr_ops - 1))
		return false;
	row->op = fact->op;
	row->name = fact->name;
	row->category = fact->category;
	row->source = fact->source;
	row->executions = fact->occurrences;
	row->time_ps = TS_MAX(fact->total_ps, 0);
	row->self_ps = TS_MAX(fact->self_ps, 0);
	row->all = traffic_of(memory, fact);
	return true;
}

/* A done goes to its start's row. */
static bool join_done(struct memory *memory, const struct ts_op_fact *fact, uint32_t at)
{
	struct ts_traffic traffic = traffic_of(memory, fact);
	struct ts_memory_op *row = &memory->ops[at];

	ts_traffic_add(&row->all, &traffic);
	row->executions = TS_MAX(row->executions, fact->occurrences);
	row->time_ps = ts_i64_add(row->time_ps, TS_MAX(fact->total_ps, 0));
	row->self_ps = ts_i64_add(row->self_ps, TS_MAX(fact->self_ps, 0));
	if (row->source.n == 0)
		row->source = fact->source;
	return fact->instr == TS_NONE ||
	       ts_map_set(&memory->by_instr, key_of(fact->module_index, fact->instr), at);
}

static bool is_done(const struct ts_op *op)
{
	return op->async == TS_ASYNC_DONE && op->partner != TS_NONE;
}

/* DONES: the second time round, when the starts have their rows. */
static bool add_ops(struct memory *memory, const struct ts_ops_facts *ops, bool dones)
{
	const struct ts_profile *profile = memory->ctx->profile;

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
		if (start == TS_NONE ? !add_op(memory, fact) : !join_done(memory, fact, start))
			return false;
	}
	return true;
}

/* The time of a pair is that of the copy, not of the two moments when the core looked at it. */
static void take_flights(struct memory *memory)
{
	for (size_t i = 0; i < memory->nr_ops; i++) {
		const struct ts_op_fact *fact =
			ts_op_fact_of(ts_ops_facts(memory->ctx), memory->ops[i].op);

		if (fact)
			memory->ops[i].time_ps = fact->work_ps;
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

static bool add_instr(struct memory *memory, uint32_t module_index, uint32_t index)
{
	const struct ts_hlo_module *module = &memory->ctx->profile->modules[module_index];
	const struct ts_hlo_instr *instr = &module->instrs[index];
	uint32_t start = start_of(module, index);
	struct ts_traffic traffic = ts_instr_traffic(module, index);
	struct ts_memory_op *row;

	if (start != index) {
		uint32_t at = ts_map_find(&memory->by_instr, key_of(module_index, start));

		if (at == TS_NONE)
			return true;
		ts_traffic_add(&memory->ops[at].all, &traffic);
		return ts_map_set(&memory->by_instr, key_of(module_index, index), at);
	}
	row = add_row(memory, module_index, index);
	if (!row)
		return false;
	row->name = instr->name;
	row->category = ts_hlo_category(instr);
	row->all = traffic;
	return true;
}

static bool add_module(struct memory *memory, uint32_t index)
{
	const struct ts_hlo_module *module = &memory->ctx->profile->modules[index];
	bool *inner = ts_hlo_inner_comps(module);
	bool good = inner != NULL;

	for (uint32_t i = 0; good && i < module->nr_instrs; i++)
		if (!inner[module->instrs[i].computation] && !ts_hlo_is_name(&module->instrs[i]))
			good = add_instr(memory, index, i);
	free(inner);
	return good;
}

static bool is_alone(const struct memory *memory)
{
	return !memory->measured && memory->ctx->profile->nr_lines == 0;
}

bool ts_memory_find_ops(struct memory *memory)
{
	const struct ts_ops_facts *ops = ts_ops_facts(memory->ctx);
	bool good = add_ops(memory, ops, false) && add_ops(memory, ops, true);

	take_flights(memory);
	for (uint32_t i = 0; good && is_alone(memory) && i < memory->ctx->profile->nr_modules; i++)
		good = add_module(memory, i);
	for (size_t i = 0; good && i < memory->nr_ops; i++)
		ts_traffic_add(&memory->total, &memory->ops[i].all);
	return good;
}

void ts_memory_release_ops(struct memory *memory)
{
	free(memory->ops);
	ts_map_release(&memory->by_op);
	ts_map_release(&memory->by_instr);
}
