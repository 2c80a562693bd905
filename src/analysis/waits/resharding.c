/* SPDX-License-Identifier: MIT */
/*
 * Resharding: why each collective is in the program. What the compiled module says of it - kind, bytes, axes - is always there; who asks
 * for it is known where XLA's dumps of its partitioner were given (run/dumps.h, model/partition.h). Sees no events.
 */
#include "analysis/facts/resharding.h"

#include "analysis/facts/collectives.h"

#define TS_NEEDS(X) X(collectives)
#include "analysis/kit/needs.h"

#include "analysis/kit/source.h"
#include "base/order.h"
#include "result/schema/resharding.def"

struct resharding {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_resharding_op *items;
	size_t nr;
	struct ts_map by_instr; /* module and instruction -> place in the facts of collectives */
};

static const char *const cause_names[] = {
	[TS_CAUSE_UNKNOWN] = NULL,
	[TS_CAUSE_CONSTRAINT] = "constraint",
	[TS_CAUSE_ARGUMENT] = "argument",
	[TS_CAUSE_RESULT] = "result",
	[TS_CAUSE_OP] = "op",
};

static bool resharding_is_row(const struct ts_hlo_instr *instr)
{
	return ts_opcode_is_collective(instr->opcode) &&
	       !TS_OPCODE_IN(ts_opcode_whole(instr->opcode), TS_OPCODE_SEND, TS_OPCODE_RECV) &&
	       ts_opcode_phase(instr->opcode) != TS_PHASE_DONE;
}

/* --- which op ran it */

/* A collective that runs within an op (a fusion, an async-start) has this op's time. */
static bool map_op(struct resharding *all, uint32_t op, uint32_t at)
{
	const struct ts_profile *profile = all->ctx->profile;
	const struct ts_op *of = &profile->ops[op];
	const struct ts_hlo_instr *instr = ts_op_instr(profile, of);
	const struct ts_hlo_module *module;

	if (!instr)
		return true;
	module = &profile->modules[of->module];
	if (resharding_is_row(instr))
		return ts_map_set(&all->by_instr, ts_instr_key(of->module, of->instr), at);
	for (uint32_t c = 0; c < instr->nr_called; c++) {
		const struct ts_hlo_comp *comp = &module->comps[instr->called[c]];

		for (uint32_t i = comp->first_instr; i < comp->first_instr + comp->nr_instrs; i++)
			if (resharding_is_row(&module->instrs[i]) &&
			    !ts_map_set(&all->by_instr, ts_instr_key(of->module, i), at))
				return false;
	}
	return true;
}

static enum ts_status resharding_map_ops(struct resharding *all, struct ts_error *err)
{
	const struct ts_collectives_facts *collectives = ts_collectives_facts(all->ctx);

	for (size_t i = 0; i < collectives->nr; i++)
		if (!map_op(all, collectives->items[i].op, (uint32_t)i))
			return ts_fail_nomem(err);
	return TS_OK;
}

/* --- what the module says */

static int64_t bytes_moved(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr)
{
	int64_t bytes = 0;

	if (ts_opcode_whole(instr->opcode) == TS_OPCODE_ALL_GATHER)
		return ts_shape_logical_bytes(ts_hlo_given(instr));
	for (uint32_t i = 0; i < instr->nr_operands; i++)
		bytes = ts_i64_add(
			bytes, ts_shape_logical_bytes(&module->instrs[instr->operands[i]].shape));
	return bytes;
}

/* --- what the partitioner's modules say */

static struct ts_bytes kept_text(struct resharding *all, struct ts_buf *text)
{
	struct ts_bytes kept = ts_result_text(all->result, "%.*s", TS_ARG(ts_buf_bytes(text)));

	ts_buf_clear(text);
	return kept;
}

static struct ts_bytes spec_text(struct resharding *all, const struct ts_mesh *mesh,
				 const struct ts_spec *spec)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_bytes kept = { NULL, 0 };

	if (spec->is_known) {
		ts_spec_put(&text, mesh, spec);
		kept = kept_text(all, &text);
	}
	ts_buf_release(&text);
	return kept;
}

static struct ts_bytes axes_text(struct resharding *all, const struct ts_mesh *mesh,
				 const struct ts_hlo_instr *instr)
{
	struct ts_buf text = TS_BUF_INIT;
	ts_axes axes = ts_mesh_axes_of(mesh, &instr->group);
	struct ts_bytes kept = { NULL, 0 };

	if (axes) {
		ts_axes_put(&text, mesh, axes);
		kept = kept_text(all, &text);
	}
	ts_buf_release(&text);
	return kept;
}

/* Does it move what another sharding would leave where it is? Sums are needed, and so are a weight's parts (FSDP). */
static const char *reason_of(const struct ts_hlo_instr *instr, const struct ts_resharding *found)
{
	if (!TS_OPCODE_IN(ts_opcode_whole(instr->opcode), TS_OPCODE_ALL_GATHER,
			  TS_OPCODE_ALL_TO_ALL, TS_OPCODE_COLLECTIVE_PERMUTE) ||
	    !found->is_found || found->was_there)
		return NULL;
	if (found->is_cut_again)
		return "what is gathered is cut into the same parts again";
	if (found->cause == TS_CAUSE_CONSTRAINT && found->mend.is_known && !found->is_weight)
		return "a constraint asks for another sharding than the array has by itself";
	return NULL;
}

static void add_reason(struct resharding *all, const struct ts_partition *partition,
		       const struct ts_hlo_instr *instr, struct ts_resharding_op *op)
{
	struct ts_resharding found = ts_partition_reason(partition, instr);
	const struct ts_hlo_instr *cause =
		found.cause_instr == TS_NONE ? NULL : &partition->before->instrs[found.cause_instr];

	op->from = spec_text(all, &partition->mesh, &found.from);
	op->to = spec_text(all, &partition->mesh, &found.to);
	op->cause = found.cause;
	op->cause_instr = found.cause_instr;
	op->reason = ts_bytes_of(reason_of(instr, &found));
	op->is_suspicious = op->reason.n > 0;
	if (op->is_suspicious)
		op->mend = spec_text(all, &partition->mesh, &found.mend);
	if (cause) {
		op->cause_source = ts_instr_source(all->result, cause);
		op->cause_op = cause->op_name;
	}
}

static void add_row(struct resharding *all, uint32_t module, uint32_t at,
		    const struct ts_partition *partition)
{
	const struct ts_hlo_module *of = &all->ctx->profile->modules[module];
	const struct ts_collectives_facts *collectives = ts_collectives_facts(all->ctx);
	uint32_t ran = ts_map_find(&all->by_instr, ts_instr_key(module, at));
	struct ts_resharding_op *op = &all->items[all->nr++];

	*op = (struct ts_resharding_op){ .module = module,
					 .instr = at,
					 .op = TS_NONE,
					 .bytes = bytes_moved(of, &of->instrs[at]),
					 .time_ps = -1,
					 .hidden_ps = -1,
					 .cause_instr = TS_NONE };
	op->axes = axes_text(all, partition ? &partition->mesh : &all->ctx->mesh, &of->instrs[at]);
	if (ran != TS_NONE) {
		const struct ts_collective *seen = &collectives->items[ran];

		op->op = seen->op;
		op->time_ps = seen->total_ps;
		if (seen->exposed_ps >= 0)
			op->hidden_ps = ts_i64_sub(seen->total_ps, seen->exposed_ps);
	}
	if (partition)
		add_reason(all, partition, &of->instrs[at], op);
}

static enum ts_status add_module(struct resharding *all, uint32_t module, struct ts_error *err)
{
	const struct ts_hlo_module *of = &all->ctx->profile->modules[module];
	bool has_both = of->unpartitioned && of->partitioned;
	struct ts_partition partition = { .before = NULL };
	enum ts_status st = TS_OK;

	if (has_both)
		st = ts_partition_make(&partition, of->unpartitioned, of->partitioned,
				       &all->ctx->mesh, err);
	for (uint32_t i = 0; i < of->nr_instrs && st == TS_OK; i++)
		if (resharding_is_row(&of->instrs[i]))
			add_row(all, module, i, has_both ? &partition : NULL);
	ts_partition_release(&partition);
	return st;
}

/* --- the report */

TS_ORDER(resharding_order, struct ts_resharding_op,
	 TS_DOWN(time_ps) TS_DOWN(bytes) TS_UP(module) TS_UP(instr))

#define INSERTED(row, instr) \
	((row)->cause != TS_CAUSE_UNKNOWN || (instr)->is_spmd_generated ? ts_bool(true) : ts_null())

#define RESHARDING_CELLS(X) \
	X(module, ts_text(module->name)) \
	X(op, ts_text(instr->name)) \
	X(kind, ts_text(ts_bytes_of(ts_opcode_text(ts_opcode_whole(instr->opcode))))) \
	X(shape, ts_text_or_null(ts_shape_text(arena, ts_hlo_given(instr)))) \
	X(bytes, ts_int(row->bytes)) \
	X(axes, ts_text_or_null(row->axes)) \
	X(op_name, ts_text_or_null(instr->op_name)) \
	X(source, ts_text_or_null(ts_instr_source(all->result, instr))) \
	X(spmd_generated, INSERTED(row, instr)) \
	X(from, ts_text_or_null(row->from)) \
	X(to, ts_text_or_null(row->to)) \
	X(cause, ts_text_or_null(ts_bytes_of(cause_names[row->cause]))) \
	X(cause_source, ts_text_or_null(row->cause_source)) \
	X(cause_op_name, ts_text_or_null(row->cause_op)) \
	X(suspicious, module->unpartitioned ? ts_bool(row->is_suspicious) : ts_null()) \
	X(reason, ts_text_or_null(row->reason)) \
	X(mend, ts_text_or_null(row->mend)) \
	X(time_ps, ts_int_or_null(row->time_ps)) \
	X(hidden_ps, ts_int_or_null(row->hidden_ps)) \
	X(op_index, row->op == TS_NONE ? ts_null() : ts_int(row->op))

static void resharding_put_row(struct resharding *all, const struct ts_resharding_op *row,
			       struct ts_table *table)
{
	const struct ts_hlo_module *module = &all->ctx->profile->modules[row->module];
	const struct ts_hlo_instr *instr = &module->instrs[row->instr];
	struct ts_arena *arena = &all->result->owner->arena;
	struct ts_result *result = all->result;

	TS_CELLS(result, table, resharding_resharding, RESHARDING_CELLS);
}

/* Of a run without dumps `collectives` has all that is known. */
static size_t count_rows(const struct ts_profile *profile)
{
	bool has_dumps = profile->nr_devices == 0;
	size_t nr = 0;

	for (size_t m = 0; m < profile->nr_modules; m++)
		has_dumps |= profile->modules[m].unpartitioned != NULL;
	if (!has_dumps)
		return 0;
	for (size_t m = 0; m < profile->nr_modules; m++)
		for (uint32_t i = 0; i < profile->modules[m].nr_instrs; i++)
			nr += resharding_is_row(&profile->modules[m].instrs[i]);
	return nr;
}

static enum ts_status resharding_close(void *state, const struct ts_context *ctx, void *facts_arg,
				       struct ts_result *result, struct ts_error *err)
{
	struct ts_resharding_facts *facts = facts_arg;
	struct resharding all = { .ctx = ctx, .result = result };
	size_t nr = count_rows(ctx->profile);
	struct ts_table *table = nr > 0 ? TS_TABLE(result, resharding_resharding) : NULL;
	enum ts_status st = TS_OK;

	all.items = ts_arena_array(&result->owner->arena, nr + 1, sizeof(*all.items));
	if (!all.items)
		return ts_fail_nomem(err);
	if (nr > 0)
		st = resharding_map_ops(&all, err);
	for (uint32_t m = 0; m < ctx->profile->nr_modules && nr > 0 && st == TS_OK; m++)
		st = add_module(&all, m, err);
	TS_SORT(all.items, all.nr, resharding_order);
	for (size_t i = 0; i < all.nr && st == TS_OK; i++)
		resharding_put_row(&all, &all.items[i], table);
	ts_map_release(&all.by_instr);
	facts->items = all.items;
	facts->nr = all.nr;
	return st;
}

const struct ts_analysis ts_analysis_resharding = {
	.schema = &ts_schema_resharding,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.facts_size = sizeof(struct ts_resharding_facts),
	.close = resharding_close,
};
