/* SPDX-License-Identifier: MIT */
/*
 * Padding: bytes and FLOPs lost to tiles, and the time that goes with them.
 *
 * An array is stored in tiles (8 x 128 and the like) and a product is worked off in pieces of the
 * array of the matrix unit; what does not fill the last tile is moved and multiplied all the same.
 * Sizes come from the compiled layouts, whose formula is ShapeUtil::ArraySize (openxla/xla,
 * xla/shape_util.cc). Formulas, and when they are wrong: docs/analyses/matrix/padding.md.
 */
#include "analysis/matrix/padding.h"

#include "analysis/kit/others.h"
#include "base/order.h"
#include "base/record.h"
#include "model/op_kind.h"
#include "model/traffic.h"
#include "result/schema/padding.def"

#define MAX_ROWS    1000
#define ASSUMED_DIM 128	 /* where no device is named */
#define LEAST_SHARE 1e-3 /* wasted less than this: no row */
#define BINDING	    0.1	 /* a roofline below this share of the time taken bounds nothing */
#define SCRATCH	    (1 << 20) /* bytes of shapes that are held at once */

struct padding_state {
	struct ts_hull hull; /* of the cores' events */
	uint32_t device;     /* of a line; merged: of the line merged last */
	size_t nr_cores; /* devices whose lines had events; those of one device stand together */
};

#define TS_SELF struct padding_state
static TS_RECORD(padding, TS_INDEX(2, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(3, nr_cores, TS_BY_HAND), TS_STRUCT(4, hull, ts_hull_record));
#undef TS_SELF

static bool padding_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->profile->planes[line->plane].device != TS_NONE &&
	       ts_line_is_core(ctx->profile, line);
}

static enum ts_status padding_open(void *arg, const struct ts_context *ctx,
				   const struct ts_line *line, struct ts_error *err)
{
	struct padding_state *state = arg;

	state->device = ctx->profile->planes[line->plane].device;
	return TS_OK;
}

static enum ts_status padding_block(void *arg, const struct ts_context *ctx,
				    const struct ts_block *block, struct ts_error *err)
{
	struct padding_state *state = arg;

	ts_hull_block(&state->hull, block);
	return TS_OK;
}

static enum ts_status padding_merge(void *into_arg, void *from_arg, const struct ts_context *ctx,
				    struct ts_error *err)
{
	struct padding_state *into = into_arg;
	const struct padding_state *from = from_arg;

	if (from->hull.nr_events == 0)
		return TS_OK;
	if (into->nr_cores == 0 || into->device != from->device)
		into->nr_cores++;
	into->device = from->device;
	ts_hull_merge(&into->hull, &from->hull);
	return TS_OK;
}

static double wasted(double useful, double spent)
{
	return spent > 0 ? fmin(fmax(1 - useful / spent, 0), 1) : NAN;
}

/* Empty parts of the matrix unit count as work: they take as long. */
static struct ts_roofline padding_roofline_of(const struct ts_profile *profile,
					      const struct padding_op *row,
					      const struct ts_rates *rates)
{
	const struct ts_op_work *work = &row->work;
	double flops = ts_op_flops(row->op);

	if (isfinite(flops))
		flops = ts_bf16_flops(rates, flops, work->flops, work->int8_flops, work->fp8_flops);
	if (work->flops > 0 && isfinite(work->passes_flops))
		flops *= work->passes_flops / work->flops;
	return ts_roofline_of(rates, flops, ts_op_hbm_bytes(profile, row->op), NAN);
}

/* Whose waste costs time: the resource that needs longer by the roofline, when that explains the
 * time at all. Copies wait for memory, whatever is known of the chip. */
static enum padding_bound padding_bound_of(const struct ts_profile *profile,
					   const struct padding_op *row,
					   const struct ts_rates *rates, double mean_s)
{
	enum padding_bound unknown = row->op->kind == TS_OP_MOVE ? PADDING_BYTES : PADDING_UNKNOWN;
	struct ts_roofline line;

	if (!rates || ts_op_is_opaque(profile, row->op))
		return unknown;
	line = padding_roofline_of(profile, row, rates);
	if (isnan(line.least_s))
		return unknown;
	if (line.least_s < BINDING * mean_s)
		return PADDING_NEITHER;
	if (line.bound == TS_BOUND_HBM)
		return PADDING_BYTES;
	return row->work.nr_products > 0 ? PADDING_ARRAY : PADDING_NEITHER;
}

static void find_shares(struct padding_op *row)
{
	if (row->module) {
		row->bytes = ts_hlo_padding(row->module, row->instr);
		row->work = ts_op_work_of(row->module, row->instr, row->dim);
	} else if (row->has_shape) {
		row->bytes = ts_padding_of_shape(&row->shape);
	}
	row->bytes_share =
		wasted((double)row->bytes.logical_bytes, (double)row->bytes.allocated_bytes);
	row->flops_share =
		row->work.nr_products > 0 ? wasted(row->work.flops, row->work.filled_flops) : NAN;
}

/* The share of its time that goes with what bounds it; NaN unknown. */
static double padding_time_share(const struct padding_op *row)
{
	bool in_hbm = !row->module || row->bytes.allocated_bytes > 0;

	switch (row->bound) {
	case PADDING_BYTES:   return in_hbm ? row->bytes_share : 0;
	case PADDING_ARRAY:   return row->flops_share;
	case PADDING_NEITHER: return 0;
	default:	      return NAN;
	}
}

static struct padding_op padding_measured_row(const struct ts_context *ctx, uint32_t op,
					      struct ts_arena *scratch)
{
	const struct ts_tally_row *sum = &ts_ops_facts(ctx)->tally[op];
	const struct ts_rates *rates = ctx->rates ? &ctx->rates[sum->device] : NULL;
	struct padding_op row = { .op = &ctx->profile->ops[op], .self_ps = sum->self_ps };

	row.dim = rates ? TS_MAX(rates->mxu_dim, 0) : 0;
	if (ts_op_instr(ctx->profile, row.op)) {
		row.module = &ctx->profile->modules[row.op->module];
		row.instr = row.op->instr;
	} else {
		row.has_shape = ts_padding_shape(scratch, row.op, &row.shape);
	}
	find_shares(&row);
	row.bound = padding_bound_of(ctx->profile, &row, rates,
				     (double)sum->self_ps * 1e-12 / (double)sum->occurrences);
	row.waste_ps = padding_time_share(&row) * (double)row.self_ps;
	return row;
}

/* Ops that work on their own: what holds others has no time of its own, and waiting for a copy or
 * for another chip is not a matter of tiles alone. */
static bool padding_is_candidate(const struct ts_op *op, const struct ts_tally_row *sum)
{
	return sum->occurrences > 0 && op->async == TS_ASYNC_NONE &&
	       (op->kind == TS_OP_COMPUTE || op->kind == TS_OP_MATRIX || op->kind == TS_OP_MOVE);
}

static double wasted_bytes(const struct padding_op *row)
{
	return (double)row->bytes.allocated_bytes - (double)row->bytes.logical_bytes;
}

static bool wastes(const struct padding_op *row)
{
	return row->bytes_share > LEAST_SHARE || row->flops_share > LEAST_SHARE;
}

/* What wastes nothing, or nothing that is known, is counted only. */
static enum ts_status padding_add_row(struct padding_list *list, const struct ts_profile *profile,
				      const struct padding_op *op, struct ts_error *err)
{
	struct padding_row row = {
		.op = op->op ? (uint32_t)(op->op - profile->ops) : TS_NONE,
		.module = op->module ? (uint32_t)(op->module - profile->modules) : TS_NONE,
		.instr = op->instr,
		.wastes = wastes(op),
		.waste_ps = op->waste_ps,
		.wasted_bytes = wasted_bytes(op),
		.flops_share = op->flops_share,
	};

	list->nr_all++;
	list->nr_loose += !op->module;
	list->is_judged |= isfinite(op->waste_ps) || op->module;
	if (!row.wastes && !(isfinite(row.waste_ps) && row.waste_ps != 0))
		return TS_OK;
	if (!ts_room_grow(profile->rooms, &list->items, &list->cap, list->nr + 1, sizeof(row)))
		return ts_fail_nomem(err);
	list->items[list->nr++] = row;
	return TS_OK;
}

static enum ts_status padding_list_measured(const struct ts_context *ctx, struct padding_list *list,
					    struct padding_arrays *arrays, struct ts_error *err)
{
	struct ts_arena scratch = TS_ARENA_INIT;
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < ctx->profile->nr_ops && st == TS_OK; i++) {
		struct padding_op row;

		if (!padding_is_candidate(&ctx->profile->ops[i], &ts_ops_facts(ctx)->tally[i]))
			continue;
		row = padding_measured_row(ctx, i, &scratch);
		st = padding_add_row(list, ctx->profile, &row, err);
		if (st == TS_OK)
			st = ts_padding_arrays_note(arrays, &row, err);
		if (scratch.total > SCRATCH)
			ts_arena_release(&scratch);
	}
	ts_arena_release(&scratch);
	return st;
}

/* Instructions that move no bytes, or whose inside has rows of its own. */
static bool padding_is_idle(const struct ts_hlo_instr *instr)
{
	if (TS_OPCODE_IN(instr->opcode, TS_OPCODE_PARAMETER, TS_OPCODE_CONSTANT, TS_OPCODE_TUPLE,
			 TS_OPCODE_GET_TUPLE_ELEMENT, TS_OPCODE_BITCAST, TS_OPCODE_WHILE,
			 TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL, TS_OPCODE_AFTER_ALL,
			 TS_OPCODE_OPT_BARRIER, TS_OPCODE_PARTITION_ID, TS_OPCODE_REPLICA_ID))
		return true;
	return ts_opcode_phase(instr->opcode) != TS_PHASE_WHOLE;
}

static struct padding_op module_row(const struct ts_context *ctx,
				    const struct ts_hlo_module *module, uint32_t instr)
{
	const struct ts_rates *rates =
		ctx->rates && ctx->profile->nr_devices > 0 ? ctx->rates : ctx->chip;
	struct padding_op row = {
		.module = module, .instr = instr, .self_ps = -1, .waste_ps = NAN
	};

	row.dim = rates ? TS_MAX(rates->mxu_dim, 0) : ASSUMED_DIM;
	find_shares(&row);
	return row;
}

static enum ts_status padding_list_module(const struct ts_context *ctx,
					  const struct ts_hlo_module *module,
					  struct padding_list *list, struct ts_error *err)
{
	bool *inner = ts_hlo_inner_comps(module);
	enum ts_status st = TS_OK;

	if (!inner)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < module->nr_instrs && st == TS_OK; i++) {
		struct padding_op row;

		if (inner[module->instrs[i].computation] || padding_is_idle(&module->instrs[i]))
			continue;
		row = module_row(ctx, module, i);
		st = padding_add_row(list, ctx->profile, &row, err);
	}
	free(inner);
	return st;
}

static enum ts_status padding_list_modules(const struct ts_context *ctx, struct padding_list *list,
					   struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < ctx->profile->nr_modules; i++) {
		st = padding_list_module(ctx, &ctx->profile->modules[i], list, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static double padding_known(double value)
{
	return isnan(value) ? -1 : value;
}

TS_ORDER(by_waste, struct padding_row,
	 TS_DOWN_OF(padding_known, waste_ps) TS_DOWN(wasted_bytes)
		 TS_DOWN_OF(padding_known, flops_share) TS_UP(op) TS_UP(module) TS_UP(instr))

static int64_t whole_ps(double ps)
{
	return isfinite(ps) && ps < 9e18 ? llround(ps) : -1;
}

/* About the larger share; where that gains nothing and the other does, both. */
static struct ts_padding_hint best_hint(struct ts_result *result, const struct ts_padded_op *fact)
{
	bool flops = !(fact->bytes_share >= fact->flops_share) && !isnan(fact->flops_share);
	const struct ts_padding_hint *main = flops ? &fact->flops : &fact->bytes;
	const struct ts_padding_hint *other = flops ? &fact->bytes : &fact->flops;

	if (other->gain_ps <= 0 || main->gain_ps > 0)
		return *main;
	if (main->text.n == 0)
		return *other;
	return (struct ts_padding_hint){ ts_result_text(result, "%.*s; %.*s", TS_ARG(main->text),
							TS_ARG(other->text)),
					 other->gain_ps };
}

static struct ts_padded_op padding_fact_of(const struct ts_profile *profile,
					   struct ts_result *result, const struct padding_op *row)
{
	struct ts_padded_op fact = {
		.op = row->op ? (uint32_t)(row->op - profile->ops) : TS_NONE,
		.module_index = row->module ? (uint32_t)(row->module - profile->modules) : TS_NONE,
		.instr = row->module ? row->instr : TS_NONE,
		.name = row->op ? row->op->name : row->module->instrs[row->instr].name,
		.module = row->module ? row->module->name : (struct ts_bytes){ NULL, 0 },
		.bytes_share = row->bytes_share,
		.flops_share = row->flops_share,
		.is_small = ts_padding_is_small(row),
		.waste_ps = whole_ps(row->waste_ps),
		.bytes = ts_padding_hint(result, row, PADDING_BYTES),
		.flops = ts_padding_hint(result, row, PADDING_ARRAY),
		.self_ps = row->self_ps,
	};

	fact.best = best_hint(result, &fact);
	return fact;
}

#define OP_CELLS(X) \
	X(op, ts_text(fact->name)) \
	X(module, ts_text_or_null(fact->module)) \
	X(waste_bytes_pct, ts_share_pct(fact->bytes_share)) \
	X(waste_flops_pct, ts_share_pct(fact->flops_share)) \
	X(waste_ps, ts_int_or_null(fact->waste_ps)) \
	X(suggestion, ts_text_or_null(fact->best.text)) \
	X(predicted_gain_ps, ts_int_or_null(fact->best.gain_ps)) \
	X(self_time_ps, ts_int_or_null(fact->self_ps))

static void padding_put_op(struct ts_result *result, struct ts_table *table,
			   const struct ts_padded_op *fact)
{
	TS_CELLS(result, table, padding_ops, OP_CELLS);
}

static void padding_add_to_others(const struct ts_context *ctx, struct ts_padded_op *others,
				  const struct padding_row *row)
{
	int64_t self_ps = row->op == TS_NONE ? 0 : ts_ops_facts(ctx)->tally[row->op].self_ps;

	others->waste_ps = ts_i64_add(others->waste_ps, TS_MAX(whole_ps(row->waste_ps), 0));
	others->self_ps = ts_i64_add(others->self_ps, TS_MAX(self_ps, 0));
}

static struct ts_padded_op fact_of_row(const struct ts_context *ctx, struct ts_result *result,
				       const struct padding_row *row)
{
	struct ts_arena scratch = TS_ARENA_INIT;
	struct padding_op op =
		row->op == TS_NONE
			? module_row(ctx, &ctx->profile->modules[row->module], row->instr)
			: padding_measured_row(ctx, row->op, &scratch);
	struct ts_padded_op fact = padding_fact_of(ctx->profile, result, &op);

	ts_arena_release(&scratch);
	return fact;
}

#define OP_SUMS(X) X(waste_ps) X(self_time_ps)

/* The worst ops into the table and into FACTS. */
static enum ts_status padding_put_ops(const struct ts_context *ctx, struct ts_result *result,
				      const struct padding_list *list,
				      struct ts_padding_facts *facts, struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(result, padding_ops);
	size_t listed = ts_listed_ops(ctx, list->nr, MAX_ROWS), nr = 0;
	size_t nr_facts = TS_MAX(TS_MIN(list->nr, MAX_ROWS), listed);
	struct ts_padded_op *items =
		ts_arena_array(&result->owner->arena, nr_facts + 1, sizeof(*items));
	struct ts_padded_op others = { .op = TS_NONE };

	if (!items)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < list->nr; i++) {
		const struct padding_row *row = &list->items[i];

		if (!row->wastes)
			continue;
		if (nr < nr_facts)
			items[nr] = fact_of_row(ctx, result, row);
		if (nr < listed)
			padding_put_op(result, table, &items[nr]);
		else
			padding_add_to_others(ctx, &others, row);
		nr++;
	}
	if (nr > listed) {
		padding_put_op(result, table, &others);
		TS_END_OTHERS(result, table, padding_ops, nr - listed, op, OP_SUMS);
	}
	facts->items = items;
	facts->nr = TS_MIN(nr, MAX_ROWS);
	return TS_OK;
}

/* Core time of the run as the analysis of time has it; else the hull of the events times the
 * cores that had any; -1: no run. */
static int64_t padding_core_time(const struct padding_state *state, const struct ts_context *ctx)
{
	int64_t total_ps = ts_time_facts(ctx)->total_ps;

	if (total_ps > 0 || state->hull.nr_events == 0)
		return total_ps;
	return ts_i64_mul((int64_t)state->nr_cores, state->hull.last_ps - state->hull.first_ps);
}

/* Of the run; NaN where no op could be judged. */
static double wasted_time(const struct padding_list *list, int64_t total_ps)
{
	double waste_ps = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (isfinite(list->items[i].waste_ps))
			waste_ps += list->items[i].waste_ps;
	return total_ps > 0 && (list->nr_all == 0 || list->is_judged) ? waste_ps : NAN;
}

static void padding_add_fields(struct ts_result *result, const struct ts_padding_facts *facts,
			       const struct ts_padding *arrays)
{
	bool any = arrays->allocated_bytes > 0;
	TS_SET(result, padding, waste_pct, ts_share_pct(facts->waste_share));
	TS_SET(result, padding, waste_ps, ts_int_or_null(facts->waste_ps));
	TS_SET(result, padding, logical_bytes, any ? ts_int(arrays->logical_bytes) : ts_null());
	TS_SET(result, padding, allocated_bytes, any ? ts_int(arrays->allocated_bytes) : ts_null());
	TS_SET(result, padding, allocated_waste_pct,
	       ts_share_pct(
		       wasted((double)arrays->logical_bytes, (double)arrays->allocated_bytes)));
}

static void padding_add_notes(struct ts_result *result, const struct ts_context *ctx,
			      const struct padding_list *list)
{
	if (list->nr_loose > 0)
		ts_result_note(
			result,
			"%zu ops have no compiled module in the profile: only their results' "
			"layouts, where the profile has them, are judged.",
			list->nr_loose);
	if (ctx->profile->nr_devices == 0 && !ctx->chip && list->nr_all > 0)
		ts_result_note(result, "No chip is named: a matrix unit of 128 x 128 is assumed.");
}

static enum ts_status padding_close(void *arg, const struct ts_context *ctx, void *facts_arg,
				    struct ts_result *result, struct ts_error *err)
{
	struct padding_state *state = arg;
	struct ts_padding_facts *facts = facts_arg;
	bool measured = state->hull.nr_events > 0;
	int64_t total_ps = padding_core_time(state, ctx);
	struct padding_list list = { .items = NULL };
	struct padding_arrays *arrays = ts_padding_arrays_new(ctx, measured);
	struct ts_padding sum = { 0, 0 };
	enum ts_status st;
	double waste_ps;

	if (!arrays)
		return ts_fail_nomem(err);
	st = measured ? padding_list_measured(ctx, &list, arrays, err)
		      : padding_list_modules(ctx, &list, err);
	if (st)
		goto done;
	TS_SORT(list.items, list.nr, by_waste);
	waste_ps = wasted_time(&list, total_ps);
	facts->waste_ps = whole_ps(waste_ps);
	facts->waste_share = waste_ps / (double)total_ps;
	st = ts_padding_arrays_put(arrays, result, &sum, err);
	if (st)
		goto done;
	padding_add_fields(result, facts, &sum);
	st = padding_put_ops(ctx, result, &list, facts, err);
	if (st)
		goto done;
	padding_add_notes(result, ctx, &list);
done:
	ts_room_free(list.items);
	ts_padding_arrays_free(arrays);
	return st;
}

const struct ts_analysis ts_analysis_padding = {
	.schema = &ts_schema_padding,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_DEVICE_CLOCK,
	.state = &padding_record,
	.facts_size = sizeof(struct ts_padding_facts),
	.wants = padding_wants,
	.open = padding_open,
	.block = padding_block,
	.merge = padding_merge,
	.close = padding_close,
};
