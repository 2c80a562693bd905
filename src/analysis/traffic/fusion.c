/*
 * Fusion: what the compiler joined into one kernel, and what it did not.
 *
 * Inside a fusion an intermediate stays in registers and on-chip memory; between two kernels it is
 * written to HBM and read again. Counted from the compiled modules of what ran, and multiplied by the
 * executions in the profile; without a run, of each module once.
 */
#include "analysis/traffic/fusion.h"

#include "analysis/settings.h"
#include "base/units.h"
#include "model/op_work.h"

#define MAX_ROWS 500

struct kind {
	int64_t nr_fusions, nr_ops, executions, self_ps;
	int64_t saved_bytes;
};

struct fusion {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_fusion_time **times; /* by module; NULL: it did not run */
	bool measured;
	double per_byte_ps, per_flop_ps, tiny_ps;
	struct kind kinds[TS_FUSION_CUSTOM + 1];
	size_t nr_modules;
	int64_t nr_before, nr_after; /* instructions inside and outside of fusions; kernels */
	struct ts_fusion_pairs pairs;
	struct ts_fusion_chains chains;
};

/* Picoseconds that a byte takes at HBM's peak, of the first device that has one; NaN unknown. */
static double per_byte(const struct ts_context *ctx)
{
	for (size_t i = 0; ctx->rates && i < ctx->profile->nr_devices; i++)
		if (ctx->rates[i].hbm_bytes_per_s > 0)
			return 1e12 / ctx->rates[i].hbm_bytes_per_s;
	if (ctx->chip && ctx->chip->hbm_bytes_per_s > 0)
		return 1e12 / ctx->chip->hbm_bytes_per_s;
	return NAN;
}

/* The same of a FLOP. */
static double per_flop(const struct ts_context *ctx)
{
	for (size_t i = 0; ctx->rates && i < ctx->profile->nr_devices; i++)
		if (ctx->rates[i].peak_flops_per_s > 0)
			return 1e12 / ctx->rates[i].peak_flops_per_s;
	return NAN;
}

/* A row of "ops", summed over its executions. */
struct op_row {
	int64_t index, occurrences, self_ps, total_ps, flops;
	double hbm_bytes_per_s;
};

/*
 * What fewer bytes can take away of an op's time. A product that keeps the matrix unit busy moves
 * its bytes meanwhile: by the roofline they cost what HBM needs beyond the FLOPs.
 */
static double spare_of(const struct fusion *fusion, const struct op_row *row)
{
	double work_ps = (double)row->flops * (double)row->occurrences * fusion->per_flop_ps;
	double hbm_ps = row->hbm_bytes_per_s * (double)row->total_ps / 1e12 * fusion->per_byte_ps;
	double self_ps = (double)TS_MAX(row->self_ps, 0);

	if (!(work_ps > 0))
		return self_ps;
	return fmax((isnan(hbm_ps) ? self_ps : fmin(self_ps, hbm_ps)) - work_ps, 0);
}

/* Its time goes to its instruction. */
static bool note_op(struct fusion *fusion, const struct op_row *row)
{
	const struct ts_profile *profile = fusion->ctx->profile;
	const struct ts_op *op;
	struct ts_fusion_time **times, *time;

	if (row->index < 0 || (uint64_t)row->index >= profile->nr_ops || row->occurrences <= 0)
		return true;
	fusion->measured = true;
	op = &profile->ops[row->index];
	if (op->module == TS_NONE || op->instr == TS_NONE)
		return true;
	times = &fusion->times[op->module];
	if (!*times)
		*times =
			calloc((size_t)profile->modules[op->module].nr_instrs + 1, sizeof(**times));
	if (!*times)
		return false;
	time = &(*times)[op->instr];
	time->occurrences = ts_i64_add(time->occurrences, row->occurrences);
	time->self_ps = ts_i64_add(time->self_ps, TS_MAX(row->self_ps, 0));
	time->spare_ps += spare_of(fusion, row);
	return true;
}

static bool note_ops(struct fusion *fusion)
{
	const struct ts_result *ops = ts_results_find(fusion->ctx->results, "ops");
	const struct ts_table *table = ops ? ts_result_find_table(ops, "ops") : NULL;
	int index, occurrences, self, total, flops, rate;

	if (!table)
		return true;
	index = ts_table_column(table, "op_index");
	occurrences = ts_table_column(table, "occurrences");
	self = ts_table_column(table, "self_time_ps");
	total = ts_table_column(table, "total_time_ps");
	flops = ts_table_column(table, "flops");
	rate = ts_table_column(table, "hbm_bytes_per_s");
	for (size_t i = 0; i < table->nr_rows; i++) {
		struct op_row row = { ts_value_int(ts_table_cell(table, i, index)),
				      ts_value_int(ts_table_cell(table, i, occurrences)),
				      ts_value_int(ts_table_cell(table, i, self)),
				      ts_value_int(ts_table_cell(table, i, total)),
				      ts_value_int(ts_table_cell(table, i, flops)),
				      ts_value_number(ts_table_cell(table, i, rate)) };

		if (!note_op(fusion, &row))
			return false;
	}
	return true;
}

/* Nobody would store these: each op that needs them makes them. */
static bool is_made_anywhere(const struct ts_hlo_instr *instr)
{
	return ts_hlo_is_name(instr) || ts_bytes_is(instr->opcode, "broadcast") ||
	       ts_bytes_is(instr->opcode, "iota");
}

static bool is_output(const struct ts_hlo_module *module, const struct ts_hlo_comp *comp,
		      uint32_t instr)
{
	const struct ts_hlo_instr *root = &module->instrs[comp->root];

	if (instr == comp->root)
		return true;
	for (uint32_t i = 0; ts_bytes_is(root->opcode, "tuple") && i < root->nr_operands; i++)
		if (root->operands[i] == instr)
			return true;
	return false;
}

/* What an intermediate inside a fusion would have cost in HBM: a write and a read by each user. */
static int64_t saved_by(const struct ts_hlo_module *module, const struct ts_hlo_comp *comp,
			uint32_t index)
{
	const struct ts_hlo_instr *instr = &module->instrs[index];
	int64_t nr = is_output(module, comp, index) ? 0 : 1;

	if (is_made_anywhere(instr) || instr->shape.memory_space != TS_SPACE_HBM ||
	    ts_shape_elements(&instr->shape) <= 1)
		return 0;
	for (uint32_t i = 0; i < instr->nr_users; i++)
		if ((i == 0 || instr->users[i] != instr->users[i - 1]) &&
		    !ts_bytes_is(module->instrs[instr->users[i]].opcode, "tuple"))
			nr++;
	return ts_i64_mul(ts_shape_bytes(&instr->shape), nr);
}

static void look_inside(const struct ts_hlo_module *module, uint32_t comp_index, unsigned depth,
			struct kind *kind)
{
	const struct ts_hlo_comp *comp = &module->comps[comp_index];

	for (uint32_t i = 0; i < comp->nr_instrs; i++) {
		uint32_t index = comp->first_instr + i;
		const struct ts_hlo_instr *instr = &module->instrs[index];

		kind->saved_bytes = ts_i64_add(kind->saved_bytes, saved_by(module, comp, index));
		if (ts_bytes_is(instr->opcode, "fusion") && instr->nr_called > 0 &&
		    depth < TS_FUSION_MAX_DEPTH)
			look_inside(module, instr->called[0], depth + 1, kind);
		else if (!ts_hlo_is_name(instr))
			kind->nr_ops++;
	}
}

static void count_fusion(struct fusion *fusion, const struct ts_fusion_walk *walk, uint32_t index)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[index];
	const struct ts_fusion_time *time = walk->times ? &walk->times[index] : NULL;
	struct kind one = { .nr_fusions = 1, .executions = 1 }, *sum;

	if (instr->nr_called > 0)
		look_inside(walk->module, instr->called[0], 0, &one);
	if (time) {
		one.executions = time->occurrences;
		one.self_ps = time->self_ps;
	}
	sum = &fusion->kinds[instr->fusion_kind];
	sum->nr_fusions++;
	sum->nr_ops = ts_i64_add(sum->nr_ops, one.nr_ops);
	sum->executions = ts_i64_add(sum->executions, one.executions);
	sum->self_ps = ts_i64_add(sum->self_ps, one.self_ps);
	sum->saved_bytes =
		ts_i64_add(sum->saved_bytes, ts_i64_mul(one.saved_bytes, one.executions));
	fusion->nr_before = ts_i64_add(fusion->nr_before, TS_MAX(one.nr_ops, 1));
}

static void count_kernels(struct fusion *fusion, const struct ts_fusion_walk *walk)
{
	for (uint32_t i = 0; i < walk->module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &walk->module->instrs[i];

		if (walk->inner[instr->computation] || ts_hlo_is_name(instr) ||
		    ts_hlo_is_control(instr) || ts_hlo_is_done(instr))
			continue;
		fusion->nr_after++;
		if (ts_bytes_is(instr->opcode, "fusion"))
			count_fusion(fusion, walk, i);
		else
			fusion->nr_before++;
	}
}

static uint32_t *find_traits(const struct ts_hlo_module *module, const bool *inner)
{
	uint32_t *traits = calloc((size_t)module->nr_instrs + 1, sizeof(*traits));

	for (uint32_t i = 0; traits && i < module->nr_instrs; i++)
		if (!inner[module->instrs[i].computation])
			traits[i] = ts_fusion_traits(module, i);
	return traits;
}

static bool add_module(struct fusion *fusion, uint32_t index)
{
	const struct ts_hlo_module *module = &fusion->ctx->profile->modules[index];
	bool *inner = ts_hlo_inner_comps(module), good;
	uint32_t *caller = ts_hlo_callers(module);
	uint32_t *traits = inner ? find_traits(module, inner) : NULL;
	struct ts_fusion_walk walk = { module, inner, caller, traits, fusion->times[index] };

	good = inner && caller && traits;
	if (good && module->nr_comps > 0) {
		fusion->nr_modules++;
		count_kernels(fusion, &walk);
		good = ts_fusion_find_chains(&walk, fusion->tiny_ps, &fusion->chains) &&
		       ts_fusion_find_pairs(&walk, fusion->per_byte_ps, &fusion->pairs);
	}
	free(inner);
	free(caller);
	free(traits);
	return good;
}

static bool add_modules(struct fusion *fusion)
{
	const struct ts_profile *profile = fusion->ctx->profile;
	bool alone = !fusion->measured && profile->nr_lines == 0;

	for (uint32_t i = 0; i < profile->nr_modules; i++)
		if ((alone || fusion->times[i]) && !add_module(fusion, i))
			return false;
	return true;
}

/* Most time first, then bytes; equal ones in the order of the program. */
static int by_impact(const void *a, const void *b)
{
	const struct ts_fusion_pair *x = a, *y = b;
	double p = isnan(x->impact_ps) ? 0 : x->impact_ps,
	       q = isnan(y->impact_ps) ? 0 : y->impact_ps;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->total_bytes != y->total_bytes)
		return x->total_bytes > y->total_bytes ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->producer != y->producer)
		return x->producer < y->producer ? -1 : 1;
	return (x->consumer > y->consumer) - (x->consumer < y->consumer);
}

static int longest_first(const void *a, const void *b)
{
	const struct ts_fusion_chain *x = a, *y = b;

	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static struct ts_value source_of(struct ts_result *result, const struct ts_hlo_instr *instr)
{
	if (instr->source_file.n == 0)
		return ts_null();
	return ts_text(ts_result_text(result, "%.*s:%d", TS_ARG(instr->source_file),
				      (int)instr->source_line));
}

static struct ts_value whole(double value)
{
	return isfinite(value) && value < 9e18 ? ts_int(llround(value)) : ts_null();
}

static void put_pair(struct ts_result *result, struct ts_value *cells,
		     const struct ts_fusion_pair *pair)
{
	const struct ts_hlo_instr *producer = &pair->module->instrs[pair->producer];
	const struct ts_hlo_instr *consumer = &pair->module->instrs[pair->consumer];

	cells[0] = ts_text(producer->name);
	cells[1] = ts_text(consumer->name);
	cells[2] = ts_text_or_null(pair->module->name);
	cells[3] = ts_text(ts_bytes_of(pair->reason->words));
	cells[4] = ts_int(ts_i64_add(pair->read_bytes, pair->write_bytes));
	cells[5] = whole(pair->impact_ps);
	cells[6] = ts_text(ts_bytes_of(pair->reason->code));
	cells[7] = source_of(result, producer);
	cells[8] = source_of(result, consumer);
	cells[9] = ts_text_or_null(ts_bytes_of(pair->reason->advice));
	cells[10] = ts_text(ts_bytes_of(ts_confidence_name(pair->reason->confidence)));
	cells[11] = ts_int_or_null(pair->executions);
	cells[12] = pair->executions < 0 ? ts_null() : ts_int(pair->total_bytes);
}

static void put_pairs(struct fusion *fusion)
{
	static const struct ts_column columns[] = {
		{ "producer", TS_COMPILED, "from" },
		{ "consumer", TS_COMPILED, "to" },
		{ "module", TS_COMPILED, NULL },
		{ "reason", TS_DERIVED, NULL },
		{ "bytes", TS_COMPILED, NULL },
		{ "impact_ps", TS_MODELLED, "time at stake" },
		{ "reason_code", TS_DERIVED, "why" },
		{ "producer_source", TS_COMPILED, NULL },
		{ "consumer_source", TS_COMPILED, "source" },
		{ "advice", TS_DERIVED, NULL },
		{ "confidence", TS_DERIVED, NULL },
		{ "executions", TS_MEASURED, NULL },
		{ "total_bytes", TS_MODELLED, "bytes" },
	};
	struct ts_table *table = ts_result_table(
		fusion->result, "unfused", "Through HBM, not fused", columns, TS_NELEM(columns));

	for (size_t i = 0; table && i < TS_MIN(fusion->pairs.nr, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(fusion->result, table);

		if (cells)
			put_pair(fusion->result, cells, &fusion->pairs.items[i]);
	}
	if (fusion->pairs.nr > MAX_ROWS)
		ts_result_note(fusion->result,
			       "%zu more pairs have less at stake and are not listed.",
			       fusion->pairs.nr - MAX_ROWS);
}

static void put_kinds(struct fusion *fusion)
{
	static const char *const names[] = { "none", "loop", "input", "output", "custom" };
	static const struct ts_column columns[] = {
		{ "kind", TS_COMPILED, "fusions" },
		{ "fusions", TS_COMPILED, "count" },
		{ "ops", TS_COMPILED, "ops inside" },
		{ "executions", TS_MEASURED, "times" },
		{ "saved_bytes", TS_MODELLED, "kept out of HBM" },
		{ "time_ps", TS_MEASURED, "time" },
	};
	struct ts_table *table = ts_result_table(fusion->result, "kinds", "Fusions by kind",
						 columns, TS_NELEM(columns));

	for (size_t i = 0; table && i < TS_NELEM(names); i++) {
		const struct kind *kind = &fusion->kinds[i];
		struct ts_value *cells =
			kind->nr_fusions > 0 ? ts_table_row(fusion->result, table) : NULL;

		if (!cells)
			continue;
		cells[0] = ts_text(ts_bytes_of(names[i]));
		cells[1] = ts_int(kind->nr_fusions);
		cells[2] = ts_int(kind->nr_ops);
		cells[4] = ts_int(kind->saved_bytes);
		if (!fusion->measured)
			continue;
		cells[3] = ts_int(kind->executions);
		cells[5] = ts_int(kind->self_ps);
	}
}

static void put_chain(struct ts_result *result, struct ts_value *cells,
		      const struct ts_fusion_chain *chain)
{
	const struct ts_hlo_instr *first = &chain->module->instrs[chain->first];
	const struct ts_hlo_instr *last = &chain->module->instrs[chain->last];

	cells[0] = ts_text_or_null(chain->module->name);
	cells[1] = ts_text(first->name);
	cells[2] = ts_text(last->name);
	cells[3] = ts_int(chain->nr_ops);
	cells[4] = ts_int(chain->executions);
	cells[5] = ts_int(chain->time_ps);
	cells[6] = ts_int(chain->time_ps / chain->occurrences);
	cells[7] = source_of(result, first);
	cells[8] = source_of(result, last);
}

static void put_chains(struct fusion *fusion)
{
	static const struct ts_column columns[] = {
		{ "module", TS_COMPILED, NULL },	{ "first", TS_COMPILED, "first" },
		{ "last", TS_COMPILED, "last" },	{ "ops", TS_COMPILED, "tiny ops" },
		{ "executions", TS_MEASURED, "times" }, { "time_ps", TS_MEASURED, "time" },
		{ "mean_ps", TS_MEASURED, "an op" },	{ "first_source", TS_COMPILED, "source" },
		{ "last_source", TS_COMPILED, NULL },
	};
	struct ts_table *table;

	if (!fusion->measured)
		return;
	table = ts_result_table(fusion->result, "chains", "Tiny ops in series", columns,
				TS_NELEM(columns));
	for (size_t i = 0; table && i < TS_MIN(fusion->chains.nr, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(fusion->result, table);

		if (cells)
			put_chain(fusion->result, cells, &fusion->chains.items[i]);
	}
}

static void put_fields(struct fusion *fusion)
{
	struct kind all = { .nr_fusions = 0 };
	double impact_ps = 0;
	int64_t bytes = 0;

	for (size_t i = 0; i < TS_NELEM(fusion->kinds); i++) {
		all.nr_fusions += fusion->kinds[i].nr_fusions;
		all.saved_bytes = ts_i64_add(all.saved_bytes, fusion->kinds[i].saved_bytes);
	}
	for (size_t i = 0; i < fusion->pairs.nr; i++) {
		impact_ps += fusion->pairs.items[i].impact_ps;
		bytes = ts_i64_add(bytes, fusion->pairs.items[i].total_bytes);
	}
	ts_result_field(fusion->result, "fused_count", ts_int(all.nr_fusions), TS_COMPILED,
			"fusions");
	ts_result_field(fusion->result, "unfused_count", ts_int((int64_t)fusion->pairs.nr),
			TS_COMPILED, "pairs of ops that meet in HBM");
	ts_result_field(fusion->result, "fusion_ratio",
			fusion->nr_after > 0
				? ts_real((double)fusion->nr_before / (double)fusion->nr_after)
				: ts_null(),
			TS_COMPILED, "ops a kernel");
	ts_result_field(fusion->result, "saved_bytes", ts_int(all.saved_bytes), TS_MODELLED,
			"bytes kept out of HBM");
	ts_result_field(fusion->result, "unfused_bytes", ts_int(bytes), TS_MODELLED,
			"bytes that pass through HBM between ops");
	ts_result_field(fusion->result, "unfused_ps", whole(impact_ps), TS_MODELLED,
			"time of that at most");
}

/* Nothing ran that there is a module of. */
static void put_nothing(struct ts_result *result)
{
	static const char *const names[] = { "fused_count", "unfused_count", "fusion_ratio",
					     "saved_bytes", "unfused_bytes", "unfused_ps" };

	for (size_t i = 0; i < TS_NELEM(names); i++)
		ts_result_field(result, names[i], ts_null(), TS_COMPILED, NULL);
}

static void put_result(struct fusion *fusion)
{
	if (fusion->nr_modules == 0) {
		put_nothing(fusion->result);
		return;
	}
	if (fusion->pairs.nr > 1)
		qsort(fusion->pairs.items, fusion->pairs.nr, sizeof(*fusion->pairs.items),
		      by_impact);
	if (fusion->chains.nr > 1)
		qsort(fusion->chains.items, fusion->chains.nr, sizeof(*fusion->chains.items),
		      longest_first);
	put_fields(fusion);
	put_pairs(fusion);
	put_kinds(fusion);
	put_chains(fusion);
	if (fusion->pairs.nr > 0)
		ts_result_note(fusion->result,
			       "A compiled module does not say why ops were not fused: "
			       "reasons are inferred from users, opcodes and layouts.");
	if (!fusion->measured)
		ts_result_note(fusion->result,
			       "Without a run each op counts once, those of a loop too.");
}

static enum ts_status fusion_close(void *state, const struct ts_context *ctx, void *facts,
				   struct ts_result *result, struct ts_error *err)
{
	struct fusion fusion = { .ctx = ctx,
				 .result = result,
				 .per_byte_ps = per_byte(ctx),
				 .per_flop_ps = per_flop(ctx) };
	bool good;

	(void)state;
	fusion.tiny_ps = ctx->settings ? ctx->settings->small_op_time * (double)TS_PS_PER_US : 0;
	fusion.times = calloc(ctx->profile->nr_modules + 1, sizeof(*fusion.times));
	good = fusion.times && note_ops(&fusion) && add_modules(&fusion);
	if (good)
		put_result(&fusion);
	for (size_t i = 0; fusion.times && i < ctx->profile->nr_modules; i++)
		free(fusion.times[i]);
	free(fusion.times);
	free(fusion.pairs.items);
	free(fusion.chains.items);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_fusion = {
	.name = "fusion",
	.title = "Fusion",
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.close = fusion_close,
};
