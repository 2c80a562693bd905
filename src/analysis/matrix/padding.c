/*
 * Padding: bytes and FLOPs lost to tiles, and the time that goes with them.
 *
 * An array is stored in tiles (8 x 128 and the like) and a product is worked off in pieces of the
 * array of the matrix unit; what does not fill the last tile is moved and multiplied all the same.
 * Sizes come from the compiled layouts, whose formula is ShapeUtil::ArraySize (openxla/xla,
 * xla/shape_util.cc). Formulas, and when they are wrong: docs/analyses/matrix/padding.md.
 */
#include "analysis/matrix/padding.h"

#include "model/op_kind.h"

#define MAX_ROWS    1000
#define ASSUMED_DIM 128	 /* where no device is named */
#define LEAST_SHARE 1e-3 /* wasted less than this: no row */
#define BINDING	    0.1	 /* a roofline below this share of the time taken bounds nothing */

struct state {
	struct ts_tally tally;
	uint32_t device; /* of a line; merged: of the line merged last */
	size_t nr_cores; /* devices whose lines had events; those of one device stand together */
};

static bool wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->profile->planes[line->plane].device != TS_NONE &&
	       ts_line_is_core(ctx->profile, line);
}

static enum ts_status open_line(void *ptr, const struct ts_context *ctx, const struct ts_line *line,
				struct ts_error *err)
{
	struct state *state = ptr;

	(void)err;
	state->device = ctx->profile->planes[line->plane].device;
	return TS_OK;
}

static enum ts_status add_block(void *ptr, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err)
{
	struct state *state = ptr;

	(void)ctx;
	return ts_tally_block(&state->tally, block, state->device) ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status merge(void *into_ptr, void *from_ptr, const struct ts_context *ctx,
			    struct ts_error *err)
{
	struct state *into = into_ptr;
	const struct state *from = from_ptr;

	(void)ctx;
	if (from->tally.nr_events == 0)
		return TS_OK;
	if (into->nr_cores == 0 || into->device != from->device)
		into->nr_cores++;
	into->device = from->device;
	return ts_tally_merge(&into->tally, &from->tally) ? TS_OK : ts_fail_nomem(err);
}

struct ts_padding ts_padding_of_shape(const struct ts_shape *shape)
{
	struct ts_padding sum = { 0, 0 };

	if (shape->dtype != TS_TUPLE && shape->memory_space == TS_SPACE_HBM)
		return (struct ts_padding){ ts_shape_logical_bytes(shape), ts_shape_bytes(shape) };
	for (uint32_t i = 0; i < shape->nr_parts; i++) {
		const struct ts_shape *part = &shape->parts[i];

		if (part->dtype == TS_TUPLE || part->memory_space != TS_SPACE_HBM)
			continue;
		sum.logical_bytes = ts_i64_add(sum.logical_bytes, ts_shape_logical_bytes(part));
		sum.allocated_bytes = ts_i64_add(sum.allocated_bytes, ts_shape_bytes(part));
	}
	return sum;
}

static int64_t round_up(int64_t n, int64_t unit)
{
	int64_t over = n % unit;

	return over ? ts_i64_add(n, unit - over) : n;
}

struct ts_stored ts_padding_stored(const struct ts_shape *shape, uint32_t minor)
{
	const struct ts_tile *tile = shape->nr_tiles > 0 ? &shape->tiles[0] : NULL;
	struct ts_stored out = { .size = 1, .unit = 1 };

	if (minor < shape->rank && shape->has_layout && shape->minor_to_major)
		out.size = shape->dims[shape->minor_to_major[minor]];
	if (tile && minor < tile->nr_dims && tile->dims[tile->nr_dims - 1 - minor] > 0)
		out.unit = tile->dims[tile->nr_dims - 1 - minor];
	out.stored = round_up(out.size, out.unit);
	return out;
}

static double wasted(double useful, double spent)
{
	return spent > 0 ? fmin(fmax(1 - useful / spent, 0), 1) : NAN;
}

/* "%f.1 = bf16[8,100]{...} fusion(...)": the result's shape stands behind the sign. */
static bool parse_shape(struct ts_arena *scratch, const struct ts_op *op, struct ts_shape *shape)
{
	size_t at = ts_bytes_find(op->text, " = ");

	if (op->shape.n > 0 && ts_shape_parse(scratch, op->shape, shape, NULL))
		return true;
	return at < op->text.n &&
	       ts_shape_parse(scratch, ts_bytes_cut(op->text, at + 3, op->text.n), shape, NULL);
}

/* Empty parts of the matrix unit count as work: they take as long. */
static struct ts_roofline roofline_of(const struct ts_padding_op *row, const struct ts_rates *rates)
{
	const struct ts_op_work *work = &row->work;
	double flops = ts_op_flops(row->op);

	if (isfinite(flops))
		flops = ts_bf16_flops(rates, flops, work->flops, work->int8_flops, work->fp8_flops);
	if (work->flops > 0 && isfinite(work->passes_flops))
		flops *= work->passes_flops / work->flops;
	return ts_roofline_of(rates, flops, ts_op_hbm_bytes(row->op), NAN);
}

/* Whose waste costs time: the resource that needs longer by the roofline, when that explains the
 * time at all. Copies wait for memory, whatever is known of the chip. */
static enum ts_padding_bound bound_of(const struct ts_profile *profile,
				      const struct ts_padding_op *row, const struct ts_rates *rates,
				      double mean_s)
{
	enum ts_padding_bound unknown =
		row->op->kind == TS_OP_MOVE ? TS_PADDING_BYTES : TS_PADDING_UNKNOWN;
	struct ts_roofline line;

	if (!rates || ts_op_is_opaque(profile, row->op))
		return unknown;
	line = roofline_of(row, rates);
	if (isnan(line.least_s))
		return unknown;
	if (line.least_s < BINDING * mean_s)
		return TS_PADDING_NEITHER;
	if (line.bound == TS_BOUND_HBM)
		return TS_PADDING_BYTES;
	return row->work.nr_products > 0 ? TS_PADDING_ARRAY : TS_PADDING_NEITHER;
}

static void find_shares(struct ts_padding_op *row)
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

static bool add_row(struct ts_padding_list *list, const struct ts_padding_op *row)
{
	if (!ts_grow(&list->items, &list->cap, list->nr + 1, sizeof(*list->items)))
		return false;
	list->items[list->nr++] = *row;
	return true;
}

/* The share of its time that goes with what bounds it; NaN unknown. */
static double time_share(const struct ts_padding_op *row)
{
	bool in_hbm = !row->module || row->bytes.allocated_bytes > 0;

	switch (row->bound) {
	case TS_PADDING_BYTES:	 return in_hbm ? row->bytes_share : 0;
	case TS_PADDING_ARRAY:	 return row->flops_share;
	case TS_PADDING_NEITHER: return 0;
	default:		 return NAN;
	}
}

static struct ts_padding_op measured_row(const struct state *state, const struct ts_context *ctx,
					 uint32_t op, struct ts_arena *scratch)
{
	const struct ts_tally_row *sum = &state->tally.rows[op];
	const struct ts_rates *rates = ctx->rates ? &ctx->rates[sum->device] : NULL;
	struct ts_padding_op row = { .op = &ctx->profile->ops[op], .self_ps = sum->self_ps };

	row.dim = rates ? TS_MAX(rates->mxu_dim, 0) : 0;
	if (ts_op_instr(ctx->profile, row.op)) {
		row.module = &ctx->profile->modules[row.op->module];
		row.instr = row.op->instr;
	} else {
		row.has_shape = parse_shape(scratch, row.op, &row.shape);
	}
	find_shares(&row);
	row.bound = bound_of(ctx->profile, &row, rates,
			     (double)sum->self_ps * 1e-12 / (double)sum->occurrences);
	row.waste_ps = time_share(&row) * (double)row.self_ps;
	return row;
}

/* Ops that work on their own: what holds others has no time of its own, and waiting for a copy or
 * for another chip is not a matter of tiles alone. */
static bool is_candidate(const struct ts_op *op, const struct ts_tally_row *sum)
{
	return sum->occurrences > 0 && op->async == TS_ASYNC_NONE &&
	       (op->kind == TS_OP_COMPUTE || op->kind == TS_OP_MATRIX || op->kind == TS_OP_MOVE);
}

static bool list_measured(const struct state *state, const struct ts_context *ctx,
			  struct ts_padding_list *list, struct ts_arena *scratch)
{
	for (uint32_t i = 0; i < state->tally.nr; i++) {
		struct ts_padding_op row;

		if (!is_candidate(&ctx->profile->ops[i], &state->tally.rows[i]))
			continue;
		row = measured_row(state, ctx, i, scratch);
		if (!add_row(list, &row))
			return false;
	}
	return true;
}

/* Instructions that move no bytes, or whose inside has rows of its own. */
static bool is_idle(const struct ts_hlo_instr *instr)
{
	static const char *const opcodes[] = { "parameter",
					       "constant",
					       "tuple",
					       "get-tuple-element",
					       "bitcast",
					       "while",
					       "conditional",
					       "call",
					       "after-all",
					       "opt-barrier",
					       "optimization-barrier",
					       "partition-id",
					       "replica-id" };

	for (size_t i = 0; i < TS_NELEM(opcodes); i++)
		if (ts_bytes_is(instr->opcode, opcodes[i]))
			return true;
	return ts_bytes_ends(instr->opcode, "-start") || ts_bytes_ends(instr->opcode, "-done") ||
	       ts_bytes_ends(instr->opcode, "-update");
}

static bool list_module(const struct ts_context *ctx, const struct ts_hlo_module *module,
			struct ts_padding_list *list)
{
	bool *inner = ts_hlo_inner_comps(module), good = inner != NULL;
	const struct ts_rates *rates =
		ctx->rates && ctx->profile->nr_devices > 0 ? ctx->rates : ctx->chip;

	for (uint32_t i = 0; i < module->nr_instrs && good; i++) {
		struct ts_padding_op row = { .module = module, .instr = i, .self_ps = -1 };

		if (inner[module->instrs[i].computation] || is_idle(&module->instrs[i]))
			continue;
		row.dim = rates ? TS_MAX(rates->mxu_dim, 0) : ASSUMED_DIM;
		row.waste_ps = NAN;
		find_shares(&row);
		good = add_row(list, &row);
	}
	free(inner);
	return good;
}

static bool list_modules(const struct ts_context *ctx, struct ts_padding_list *list)
{
	for (size_t i = 0; i < ctx->profile->nr_modules; i++)
		if (!list_module(ctx, &ctx->profile->modules[i], list))
			return false;
	return true;
}

static double wasted_bytes(const struct ts_padding_op *row)
{
	return (double)row->bytes.allocated_bytes - (double)row->bytes.logical_bytes;
}

static double known(double value)
{
	return isnan(value) ? -1 : value;
}

static int down(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_waste(const void *a, const void *b)
{
	const struct ts_padding_op *x = a, *y = b;
	int order = down(known(x->waste_ps), known(y->waste_ps));

	if (order == 0)
		order = down(wasted_bytes(x), wasted_bytes(y));
	if (order == 0)
		order = down(known(x->flops_share), known(y->flops_share));
	if (order == 0 && x->op && y->op)
		order = (x->op > y->op) - (x->op < y->op);
	if (order == 0 && x->module != y->module)
		order = x->module < y->module ? -1 : 1;
	return order ? order : (x->instr > y->instr) - (x->instr < y->instr);
}

static bool wastes(const struct ts_padding_op *row)
{
	return row->bytes_share > LEAST_SHARE || row->flops_share > LEAST_SHARE;
}

static struct ts_value rounded(double value)
{
	return isfinite(value) && fabs(value) < 9e18 ? ts_int(llround(value)) : ts_null();
}

static void put_row(struct ts_result *result, struct ts_value *cells,
		    const struct ts_padding_op *row)
{
	double gain_ps = NAN;

	cells[0] = ts_text(row->op ? row->op->name : row->module->instrs[row->instr].name);
	if (row->module)
		cells[1] = ts_text_or_null(row->module->name);
	cells[2] = ts_share_pct(row->bytes_share);
	cells[3] = ts_share_pct(row->flops_share);
	cells[4] = rounded(row->waste_ps);
	cells[5] = ts_text_or_null(ts_padding_advice(result, row, &gain_ps));
	cells[6] = rounded(gain_ps);
	if (row->self_ps >= 0)
		cells[7] = ts_int(row->self_ps);
}

static void put_ops(struct ts_result *result, const struct ts_padding_list *list)
{
	static const struct ts_column columns[] = {
		{ "op", TS_MEASURED, "op" },
		{ "module", TS_MEASURED, NULL },
		{ "waste_bytes_pct", TS_COMPILED, "bytes" },
		{ "waste_flops_pct", TS_MODELLED, "FLOPs" },
		{ "waste_ps", TS_MODELLED, "time lost" },
		{ "suggestion", TS_MODELLED, "suggestion" },
		{ "predicted_gain_ps", TS_MODELLED, "gain" },
		{ "self_time_ps", TS_MEASURED, NULL },
	};
	struct ts_table *table =
		ts_result_table(result, "ops", "Padding by op", columns, TS_NELEM(columns));
	size_t nr = 0, left_out = 0;

	for (size_t i = 0; i < list->nr && table; i++) {
		struct ts_value *cells = NULL;

		if (!wastes(&list->items[i]))
			continue;
		if (nr < MAX_ROWS)
			cells = ts_table_row(result, table);
		else
			left_out++;
		if (cells)
			put_row(result, cells, &list->items[i]);
		nr++;
	}
	if (left_out > 0)
		ts_result_note(result, "%zu more ops lose less to padding and are not listed.",
			       left_out);
}

/* Core time of the run as the analysis of time has it; else the hull of the events times the
 * cores that had any; -1: no run. */
static int64_t core_time(const struct state *state, const struct ts_context *ctx)
{
	int64_t total_ps = ts_time_facts(ctx)->total_ps;

	if (total_ps > 0 || state->tally.nr_events == 0)
		return total_ps;
	return ts_i64_mul((int64_t)state->nr_cores, state->tally.last_ps - state->tally.first_ps);
}

static void add_fields(struct ts_result *result, const struct ts_padding_list *list,
		       const struct ts_padding *arrays, int64_t total_ps)
{
	double waste_ps = 0;
	bool any = arrays->allocated_bytes > 0, is_judged = list->nr == 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (isfinite(list->items[i].waste_ps))
			waste_ps += list->items[i].waste_ps;
		is_judged |= isfinite(list->items[i].waste_ps) || list->items[i].module;
	}
	if (total_ps <= 0 || !is_judged)
		waste_ps = NAN;
	ts_result_field(result, "waste_pct", ts_share_pct(waste_ps / (double)total_ps), TS_MODELLED,
			"core time lost to padding");
	ts_result_field(result, "waste_ps", rounded(waste_ps), TS_MODELLED,
			"time lost on all cores");
	ts_result_field(result, "logical_bytes", any ? ts_int(arrays->logical_bytes) : ts_null(),
			TS_COMPILED, "arrays without padding");
	ts_result_field(result, "allocated_bytes",
			any ? ts_int(arrays->allocated_bytes) : ts_null(), TS_COMPILED,
			"arrays as stored");
	ts_result_field(result, "allocated_waste_pct",
			ts_share_pct(wasted((double)arrays->logical_bytes,
					    (double)arrays->allocated_bytes)),
			TS_COMPILED, "padding in stored arrays");
}

static void add_notes(struct ts_result *result, const struct ts_context *ctx,
		      const struct ts_padding_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += !list->items[i].module;
	if (nr > 0)
		ts_result_note(
			result,
			"%zu ops have no compiled module in the profile: only their results' "
			"layouts, where the profile has them, are judged.",
			nr);
	if (ctx->profile->nr_devices == 0 && !ctx->chip && list->nr > 0)
		ts_result_note(result, "No chip is named: a matrix unit of 128 x 128 is assumed.");
}

static enum ts_status close_state(void *ptr, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct state *state = ptr;
	bool measured = state->tally.nr_events > 0;
	struct ts_padding_list list = { NULL, 0, 0 };
	struct ts_arena scratch = TS_ARENA_INIT;
	struct ts_padding arrays = { 0, 0 };
	enum ts_status st = TS_NOMEM;

	if (!(measured ? list_measured(state, ctx, &list, &scratch) : list_modules(ctx, &list)))
		goto done;
	if (list.nr > 1)
		qsort(list.items, list.nr, sizeof(*list.items), by_waste);
	st = ts_padding_arrays(ctx, &list, measured, result, &arrays, err);
	if (st)
		goto done;
	add_fields(result, &list, &arrays, core_time(state, ctx));
	put_ops(result, &list);
	add_notes(result, ctx, &list);
	if (result->owner->failed)
		st = TS_NOMEM;
done:
	free(list.items);
	ts_arena_release(&scratch);
	return st == TS_NOMEM ? ts_fail_nomem(err) : st;
}

static void release(void *ptr)
{
	struct state *state = ptr;

	ts_tally_release(&state->tally);
}

const struct ts_analysis ts_analysis_padding = {
	.name = "padding",
	.title = "Padding waste",
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_DEVICE_CLOCK,
	.state_size = sizeof(struct state),
	.wants = wants,
	.open = open_line,
	.block = add_block,
	.merge = merge,
	.close = close_state,
	.release = release,
};
