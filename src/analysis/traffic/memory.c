/*
 * Memory traffic: what each op reads and writes, in which memory, how fast against the chip, and which
 * of it nobody asked for.
 *
 * Times and executions are those of the result "ops", bytes those of model/traffic.h; so no event is
 * looked at again. Both halves of an asynchronous op are one row here, under the start's name, with
 * the time from start to done that the result "rates" has measured.
 */
#include "analysis/traffic/memory.h"

#include "analysis/kit/cells.h"

#include "model/op_kind.h"
#include "model/op_work.h"

static uint64_t key_of(uint32_t module, uint32_t instr)
{
	return (uint64_t)module << 32 | instr;
}

const struct memory_op *memory_op_at(const struct memory *memory, uint32_t module, uint32_t instr)
{
	uint32_t at = ts_map_find(&memory->by_instr, key_of(module, instr));

	return at == TS_NONE ? NULL : &memory->ops[at];
}

double memory_per_byte_ps(const struct memory *memory)
{
	return memory->rates ? 1e12 / memory->rates->hbm_bytes_per_s : NAN;
}

int64_t memory_to_ps(double ps)
{
	return isfinite(ps) && ps < 9e18 ? llround(ps) : -1;
}

struct ts_value memory_source(struct memory *memory, const struct ts_hlo_instr *instr)
{
	if (instr->source_file.n == 0)
		return ts_null();
	return ts_text(ts_result_text(memory->result, "%.*s:%d", TS_ARG(instr->source_file),
				      (int)instr->source_line));
}

struct ts_value memory_shape(struct memory *memory, const struct ts_shape *shape)
{
	return shape ? ts_shape_cell(memory->result, shape) : ts_null();
}

static const struct ts_rates *first_rates(const struct ts_context *ctx)
{
	for (size_t i = 0; ctx->rates && i < ctx->profile->nr_devices; i++)
		if (ctx->rates[i].hbm_bytes_per_s > 0)
			return &ctx->rates[i];
	return ctx->chip && ctx->chip->hbm_bytes_per_s > 0 ? ctx->chip : NULL;
}

/* A new row, with nothing in it; NULL: no memory. */
static struct memory_op *add_row(struct memory *memory, uint32_t module, uint32_t instr)
{
	struct memory_op *row;

	if (!ts_grow(&memory->ops, &memory->cap_ops, memory->nr_ops + 1, sizeof(*memory->ops)))
		return NULL;
	if (module != TS_NONE && instr != TS_NONE &&
	    !ts_map_set(&memory->by_instr, key_of(module, instr), (uint32_t)memory->nr_ops))
		return NULL;
	row = &memory->ops[memory->nr_ops++];
	*row = (struct memory_op){ .op = TS_NONE,
				   .module = module,
				   .instr = instr,
				   .executions = -1,
				   .time_ps = -1,
				   .self_ps = -1 };
	return row;
}

/* The columns of a row of "ops". */
struct seen {
	int64_t op, occurrences, total_ps, self_ps;
	double bytes; /* of one execution, as its events say; NaN */
};

static struct seen seen_at(const struct ts_table *table, size_t row)
{
	return (struct seen){
		ts_cell_int(table, row, "op_index"),
		ts_cell_int(table, row, "occurrences"),
		ts_cell_int(table, row, "total_time_ps"),
		ts_cell_int(table, row, "self_time_ps"),
		ts_cell_number(table, row, "bytes_accessed"),
	};
}

/* A kernel's events may say what its metadata does not. */
static struct ts_traffic traffic_of(const struct ts_profile *profile, const struct ts_op *op,
				    const struct seen *seen)
{
	struct ts_traffic traffic = ts_op_traffic(profile, op);

	if (traffic.source == TS_TRAFFIC_UNKNOWN && seen->bytes > 0 && seen->bytes < 9e18) {
		traffic.source = TS_TRAFFIC_TOTAL;
		traffic.unsplit_bytes = (int64_t)seen->bytes;
	}
	return ts_traffic_times(&traffic, seen->occurrences);
}

static bool add_op(struct memory *memory, const struct seen *seen)
{
	const struct ts_profile *profile = memory->ctx->profile;
	const struct ts_op *op = &profile->ops[seen->op];
	struct memory_op *row = add_row(memory, op->module, op->instr);

	if (!row || !ts_map_set(&memory->by_op, (uint64_t)seen->op, (uint32_t)memory->nr_ops - 1))
		return false;
	row->op = (uint32_t)seen->op;
	row->name = op->name;
	row->category = op->category;
	row->source = op->source;
	row->executions = seen->occurrences;
	row->time_ps = TS_MAX(seen->total_ps, 0);
	row->self_ps = TS_MAX(seen->self_ps, 0);
	row->all = traffic_of(profile, op, seen);
	return true;
}

/* A done goes to its start's row. */
static bool join_done(struct memory *memory, const struct seen *seen, uint32_t at)
{
	const struct ts_profile *profile = memory->ctx->profile;
	const struct ts_op *op = &profile->ops[seen->op];
	struct ts_traffic traffic = traffic_of(profile, op, seen);
	struct memory_op *row = &memory->ops[at];

	ts_traffic_add(&row->all, &traffic);
	row->executions = TS_MAX(row->executions, seen->occurrences);
	row->time_ps = ts_i64_add(row->time_ps, TS_MAX(seen->total_ps, 0));
	row->self_ps = ts_i64_add(row->self_ps, TS_MAX(seen->self_ps, 0));
	if (row->source.n == 0)
		row->source = op->source;
	return op->instr == TS_NONE || op->module == TS_NONE ||
	       ts_map_set(&memory->by_instr, key_of(op->module, op->instr), at);
}

static bool is_done(const struct ts_op *op)
{
	return op->async == TS_ASYNC_DONE && op->partner != TS_NONE;
}

/* DONES: the second time round, when the starts have their rows. */
static bool add_ops(struct memory *memory, const struct ts_table *table, bool dones)
{
	const struct ts_profile *profile = memory->ctx->profile;

	for (size_t i = 0; i < table->nr_rows; i++) {
		struct seen seen = seen_at(table, i);
		uint32_t start = TS_NONE;

		if (seen.op < 0 || (uint64_t)seen.op >= profile->nr_ops || seen.occurrences <= 0)
			continue;
		memory->measured = true;
		if (is_done(&profile->ops[seen.op]) != dones)
			continue;
		if (dones)
			start = ts_map_find(&memory->by_op, profile->ops[seen.op].partner);
		if (start == TS_NONE ? !add_op(memory, &seen) : !join_done(memory, &seen, start))
			return false;
	}
	return true;
}

/* The time of a pair is that of the copy, not of the two moments when the core looked at it. */
static void take_flights(struct memory *memory)
{
	const struct ts_result *rates = ts_results_find(memory->ctx->results, "rates");
	const struct ts_table *table = rates ? ts_result_find_table(rates, "async") : NULL;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		int64_t op = ts_cell_int(table, i, "op_index");
		int64_t span_ps = ts_cell_int(table, i, "span_ps");
		uint32_t at = op < 0 ? TS_NONE : ts_map_find(&memory->by_op, (uint64_t)op);

		if (at != TS_NONE && span_ps > 0)
			memory->ops[at].time_ps = span_ps;
	}
}

/* The start of an asynchronous op, from its end. */
static uint32_t start_of(const struct ts_hlo_module *module, uint32_t index)
{
	for (int i = 0; i < 64 && ts_hlo_is_done(&module->instrs[index]); i++) {
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
	struct memory_op *row;

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

static bool gather(struct memory *memory)
{
	const struct ts_result *ops = ts_results_find(memory->ctx->results, "ops");
	const struct ts_table *table = ops ? ts_result_find_table(ops, "ops") : NULL;
	bool good = true;

	if (table)
		good = add_ops(memory, table, false) && add_ops(memory, table, true);
	take_flights(memory);
	for (uint32_t i = 0; good && is_alone(memory) && i < memory->ctx->profile->nr_modules; i++)
		good = add_module(memory, i);
	for (size_t i = 0; good && i < memory->nr_ops; i++)
		ts_traffic_add(&memory->total, &memory->ops[i].all);
	return good;
}

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
		good = memory_find_copies(&walk, copies) && memory_find_upcasts(&walk, upcasts);
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
	good = good && memory_put_copies(memory, &copies) && memory_put_upcasts(memory, &upcasts);
	free(ran);
	free(copies.items);
	free(upcasts.items);
	return good;
}

static enum ts_status memory_close(void *state, const struct ts_context *ctx, void *facts,
				   struct ts_result *result, struct ts_error *err)
{
	struct memory memory = { .ctx = ctx, .result = result, .rates = first_rates(ctx) };
	bool good;

	(void)state;
	memory.core_ps = ts_time_facts(ctx)->total_ps;
	good = gather(&memory) && memory_put(&memory) && put_modules(&memory);
	free(memory.ops);
	ts_map_release(&memory.by_op);
	ts_map_release(&memory.by_instr);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_memory = {
	.name = "memory",
	.title = "Memory traffic",
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.close = memory_close,
};
