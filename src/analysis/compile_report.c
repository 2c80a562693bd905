/* What the compile analysis says of PyTorch's compiler. Also the fields that XLA's programs share. */
#include "analysis/compile.h"

#include "base/units.h"

#include <inttypes.h>

#define MAX_ROWS 500 /* of regions and of breaks: the largest */

struct report {
	const struct compile_state *sum;
	const struct ts_context *ctx;
	struct ts_result *result;
	struct compile_region **regions; /* the longest first */
};

void compile_put_time(struct ts_result *result, int64_t compile_ps, const char *source)
{
	double ms = compile_ps < 0 ? NAN : (double)compile_ps / (double)TS_PS_PER_MS;

	ts_result_field(result, "compile_time_ms", ts_real(ms), TS_MEASURED, NULL);
	ts_result_field(result, "compile_time_ps", ts_int_or_null(compile_ps), TS_MEASURED,
			"host time in the compiler");
	ts_result_field(result, "compile_time_from", ts_text_or_null(ts_bytes_of(source)),
			TS_DERIVED, NULL);
}

void compile_put_fusion(const struct compile_fusion *fusion, struct ts_result *result)
{
	double ratio = fusion->nr_after > 0 ?
			       (double)fusion->nr_before / (double)fusion->nr_after :
			       NAN;

	ts_result_field(result, "ops_before_fusion", ts_int_or_null(fusion->nr_before),
			TS_DERIVED, "ops before fusion");
	ts_result_field(result, "ops_after_fusion", ts_int_or_null(fusion->nr_after), TS_MEASURED,
			"kernels run");
	ts_result_field(result, "fusion_ratio", ts_real(ratio), TS_DERIVED, "ops a kernel");
	ts_result_field(result, "fused_kernel_runs",
			fusion->nr_after < 0 ? ts_null() : ts_int(fusion->nr_generated),
			TS_MEASURED, NULL);
	ts_result_field(result, "fused_kernel_count",
			fusion->nr_after < 0 ? ts_null() : ts_int(fusion->nr_kernels), TS_MEASURED,
			NULL);
}

static bool has_frame(const struct compile_region *region)
{
	return region->id.frame >= 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct compile_region *x = *(struct compile_region *const *)a;
	const struct compile_region *y = *(struct compile_region *const *)b;

	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	if (x->id.frame != y->id.frame)
		return x->id.frame < y->id.frame ? -1 : 1;
	return (x->id.compile > y->id.compile) - (x->id.compile < y->id.compile);
}

static bool sort_regions(struct report *report)
{
	const struct compile_state *sum = report->sum;

	report->regions = calloc(sum->nr_regions + 1, sizeof(*report->regions));
	for (size_t i = 0; report->regions && i < sum->nr_regions; i++)
		report->regions[i] = &sum->regions[i];
	if (report->regions && sum->nr_regions > 1)
		qsort(report->regions, sum->nr_regions, sizeof(*report->regions), longest_first);
	return report->regions != NULL;
}

static struct ts_value id_cell(struct ts_result *result, struct ts_compile_id id)
{
	if (id.autograd >= 0 && id.frame >= 0)
		return ts_text(ts_result_text(result, "!%" PRId64 "/%" PRId64 "/%" PRId64,
					      id.autograd, id.frame, id.compile));
	if (id.autograd >= 0)
		return ts_text(ts_result_text(result, "!%" PRId64, id.autograd));
	if (id.frame >= 0)
		return ts_text(ts_result_text(result, "%" PRId64 "/%" PRId64, id.frame,
					      id.compile));
	return ts_null();
}

static bool frame_of(const struct report *report, const struct compile_region *region,
		     struct ts_torch_frame *frame)
{
	if (!region || region->frame_op == TS_NONE)
		return false;
	return ts_torch_frame_of(report->ctx->profile->ops[region->frame_op].name, frame);
}

/* "train.py:12" */
static struct ts_value source_cell(const struct report *report, const struct ts_torch_frame *frame)
{
	return ts_text(ts_result_text(report->result, "%.*s:%" PRId64, TS_ARG(frame->file),
				      frame->line));
}

enum {
	REG_ID, REG_FUNCTION, REG_SOURCE, REG_CALLS, REG_TIME, REG_SELF, REG_MEAN, REG_DEVICE,
	REG_COMPILES, REG_COMPILE, REG_RESTARTS, REG_FIRST, NR_REG
};

static const struct ts_column region_columns[NR_REG] = {
	[REG_ID] = { "compile_id", TS_MEASURED, "region" },
	[REG_FUNCTION] = { "function", TS_MEASURED, "function" },
	[REG_SOURCE] = { "source", TS_MEASURED, "source" },
	[REG_CALLS] = { "calls", TS_MEASURED, "calls" },
	[REG_TIME] = { "time_ps", TS_MEASURED, "time" },
	[REG_SELF] = { "self_time_ps", TS_MEASURED, "self" },
	[REG_MEAN] = { "mean_self_ps", TS_MEASURED, "self a call" },
	[REG_DEVICE] = { "device_time_ps", TS_MEASURED, NULL },
	[REG_COMPILES] = { "compilations", TS_MEASURED, "compiled" },
	[REG_COMPILE] = { "compile_ps", TS_MEASURED, "compile time" },
	[REG_RESTARTS] = { "restarts", TS_MEASURED, NULL },
	[REG_FIRST] = { "first_ps", TS_MEASURED, NULL },
};

static void put_region(const struct report *report, const struct compile_region *region,
		       struct ts_value *cells)
{
	struct ts_torch_frame frame;

	cells[REG_ID] = id_cell(report->result, region->id);
	if (frame_of(report, region, &frame)) {
		cells[REG_FUNCTION] = ts_text(frame.function);
		cells[REG_SOURCE] = source_cell(report, &frame);
	}
	cells[REG_CALLS] = ts_int(region->nr_calls);
	cells[REG_TIME] = ts_int(region->time_ps);
	cells[REG_SELF] = ts_int(region->self_ps);
	if (region->nr_calls > 0)
		cells[REG_MEAN] = ts_int(region->self_ps / region->nr_calls);
	cells[REG_COMPILES] = ts_int(region->nr_compiles);
	cells[REG_COMPILE] = region->nr_compiles > 0 ? ts_int(region->compile_ps) : ts_null();
	cells[REG_RESTARTS] = region->nr_compiles > 0 ? ts_int(region->nr_restarts) : ts_null();
	if (region->first_ps < INT64_MAX)
		cells[REG_FIRST] = ts_int(region->first_ps);
}

static bool put_regions(const struct report *report)
{
	struct ts_table *table = ts_result_table(report->result, "regions",
						 "Compiled regions by time", region_columns, NR_REG);
	size_t nr = report->sum->nr_regions;

	for (size_t i = 0; table && i < TS_MIN(nr, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(report->result, table);

		if (!cells)
			return false;
		put_region(report, report->regions[i], cells);
	}
	if (nr > MAX_ROWS)
		ts_result_note(report->result, "the %d longest of %zu regions are listed", MAX_ROWS,
			       nr);
	return table != NULL;
}

/* A frame that was compiled before is compiled again: ids whose second number is above 0. */
static bool is_recompile(const struct compile_region *region)
{
	return region->id.compile > 0;
}

static bool same_frame(const struct compile_region *a, const struct compile_region *b)
{
	return a->id.frame == b->id.frame && a->id.autograd == b->id.autograd;
}

/* The second number says how often the frame had been compiled before, in the profile or not. */
static int64_t nr_recompiles(const struct compile_state *sum)
{
	int64_t nr = 0;

	for (size_t i = 0; i < sum->nr_regions; i++) {
		int64_t most = sum->regions[i].id.compile;
		bool first = true;

		for (size_t k = 0; k < sum->nr_regions && first; k++) {
			if (!same_frame(&sum->regions[i], &sum->regions[k]))
				continue;
			first = k >= i;
			most = TS_MAX(most, sum->regions[k].id.compile);
		}
		nr += first ? TS_MAX(most, 0) : 0;
	}
	return nr;
}

static bool put_recompiles(const struct report *report)
{
	static const struct ts_column columns[] = {
		{ "compile_id", TS_MEASURED, "recompiled" },
		{ "function", TS_MEASURED, "function" },
		{ "source", TS_MEASURED, "source" },
		{ "calls", TS_MEASURED, "calls" },
		{ "compile_ps", TS_MEASURED, "compile time" },
		{ "reason", TS_MEASURED, "because" },
	};
	struct ts_table *table = ts_result_table(report->result, "recompiles", "Recompilations",
						 columns, TS_NELEM(columns));

	for (size_t i = 0; table && i < report->sum->nr_regions; i++) {
		const struct compile_region *region = report->regions[i];
		struct ts_torch_frame frame;
		struct ts_value *cells;

		if (!is_recompile(region) || table->nr_rows >= MAX_ROWS)
			continue;
		cells = ts_table_row(report->result, table);
		if (!cells)
			return false;
		cells[0] = id_cell(report->result, region->id);
		if (frame_of(report, region, &frame)) {
			cells[1] = ts_text(frame.function);
			cells[2] = source_cell(report, &frame);
		}
		cells[3] = ts_int(region->nr_calls);
		if (region->nr_compiles > 0)
			cells[4] = ts_int(region->compile_ps);
	}
	return table != NULL;
}

static struct compile_region *region_of(const struct report *report, uint64_t key)
{
	uint32_t at = ts_map_find(&report->sum->region_of_key, key);

	return at == TS_NONE ? NULL : &report->sum->regions[at];
}

/* Was the child's frame met as a child before, in another compilation of it? */
static bool is_first_of_frame(const struct report *report, size_t at)
{
	const struct compile_nesting *nestings = report->sum->nestings;
	const struct compile_region *child = region_of(report, nestings[at].child);

	for (size_t i = 0; child && i < at; i++) {
		const struct compile_region *other = region_of(report, nestings[i].child);

		if (other && same_frame(other, child))
			return false;
	}
	return child != NULL;
}

/* Frames that run inside another's compiled code; without ids, regions inside one call. */
static int64_t nr_breaks(const struct report *report)
{
	const struct compile_state *sum = report->sum;
	int64_t nr = 0;

	if (sum->nr_regions == 0)
		return -1;
	if (!has_frame(report->regions[0]))
		return sum->counts.max_nested;
	for (size_t i = 0; i < sum->nr_nestings; i++)
		nr += is_first_of_frame(report, i);
	return nr;
}

enum {
	BREAK_SOURCE, BREAK_FUNCTION, BREAK_REASON, BREAK_STACK, BREAK_PARENT, BREAK_CHILD,
	BREAK_COUNT, BREAK_TIME, BREAK_FROM, NR_BREAK
};

static const struct ts_column break_columns[NR_BREAK] = {
	[BREAK_SOURCE] = { "source", TS_MEASURED, "graph break at" },
	[BREAK_FUNCTION] = { "function", TS_MEASURED, "in" },
	[BREAK_REASON] = { "reason", TS_MEASURED, "because" },
	[BREAK_STACK] = { "stack", TS_MEASURED, NULL },
	[BREAK_PARENT] = { "compile_id", TS_MEASURED, "region" },
	[BREAK_CHILD] = { "continued_as", TS_MEASURED, "goes on as" },
	[BREAK_COUNT] = { "count", TS_MEASURED, "times" },
	[BREAK_TIME] = { "continued_ps", TS_MEASURED, NULL },
	[BREAK_FROM] = { "known_from", TS_DERIVED, NULL },
};

static void put_nesting(const struct report *report, const struct compile_nesting *nesting,
			struct ts_value *cells)
{
	const struct compile_region *parent = region_of(report, nesting->parent);
	const struct compile_region *child = region_of(report, nesting->child);
	struct ts_torch_frame frame;
	struct ts_bytes broken;
	int64_t line;

	if (frame_of(report, child, &frame) &&
	    ts_torch_resume_of(frame.function, &broken, &line)) {
		frame.line = line;
		cells[BREAK_SOURCE] = source_cell(report, &frame);
		cells[BREAK_FUNCTION] = ts_text(broken);
	} else if (frame_of(report, parent, &frame)) {
		cells[BREAK_FUNCTION] = ts_text(frame.function);
	}
	if (parent)
		cells[BREAK_PARENT] = id_cell(report->result, parent->id);
	if (child)
		cells[BREAK_CHILD] = id_cell(report->result, child->id);
	cells[BREAK_COUNT] = ts_int(nesting->nr);
	cells[BREAK_TIME] = ts_int(nesting->time_ps);
	cells[BREAK_FROM] = ts_text(TS_LIT("nested regions"));
}

static bool put_breaks(const struct report *report)
{
	struct ts_table *table = ts_result_table(report->result, "graph_break_places",
						 "Graph breaks", break_columns, NR_BREAK);

	for (size_t i = 0; table && i < TS_MIN(report->sum->nr_nestings, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(report->result, table);

		if (!cells)
			return false;
		put_nesting(report, &report->sum->nestings[i], cells);
	}
	return table != NULL;
}

static int longest_phase(const void *a, const void *b)
{
	const struct compile_phase *x = a, *y = b;

	if (x->self_ps != y->self_ps)
		return x->self_ps > y->self_ps ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static bool put_phases(const struct report *report)
{
	static const struct ts_column columns[] = {
		{ "phase", TS_MEASURED, "phase" },
		{ "count", TS_MEASURED, "count" },
		{ "time_ps", TS_MEASURED, "time" },
		{ "self_time_ps", TS_MEASURED, "self" },
	};
	const struct compile_state *sum = report->sum;
	struct ts_table *table = ts_result_table(report->result, "phases",
						 "Phases of the compiler by self time", columns,
						 TS_NELEM(columns));
	struct compile_phase *order = calloc(sum->nr_phases + 1, sizeof(*order));
	bool good = table && order;

	if (good && sum->nr_phases > 0)
		memcpy(order, sum->phases, sum->nr_phases * sizeof(*order));
	if (good && sum->nr_phases > 1)
		qsort(order, sum->nr_phases, sizeof(*order), longest_phase);
	for (size_t i = 0; good && i < TS_MIN(sum->nr_phases, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(report->result, table);

		good = cells != NULL;
		if (!good)
			break;
		cells[0] = ts_text(ts_torch_phase(report->ctx->profile->ops[order[i].op].name));
		cells[1] = ts_int(order[i].nr);
		cells[2] = ts_int(order[i].time_ps);
		cells[3] = ts_int(order[i].self_ps);
	}
	free(order);
	return good;
}

static int64_t nr_compiles(const struct compile_state *sum)
{
	int64_t nr = 0;

	for (size_t i = 0; i < sum->nr_regions; i++)
		nr += sum->regions[i].nr_compiles > 0;
	return nr > 0 || sum->counts.nr_compiles == 0 ? nr : -1; /* older ones say no ids */
}

static void put_counts(const struct report *report)
{
	const struct compile_counts *counts = &report->sum->counts;
	struct ts_result *result = report->result;
	bool gpu = report->ctx->profile->nr_devices > 0;

	ts_result_field(result, "compiled_graphs", ts_int_or_null(nr_compiles(report->sum)),
			TS_MEASURED, "compiled in the profile");
	ts_result_field(result, "region_calls", ts_int(counts->nr_regions), TS_MEASURED,
			"calls of compiled regions");
	ts_result_field(result, "forward_calls", ts_int(counts->nr_functions), TS_MEASURED, NULL);
	ts_result_field(result, "backward_calls", ts_int(counts->nr_backwards), TS_MEASURED, NULL);
	ts_result_field(result, "backward_ps", ts_int(counts->backward_ps), TS_MEASURED, NULL);
	ts_result_field(result, "graph_calls", ts_int(counts->nr_graph_calls), TS_MEASURED, NULL);
	ts_result_field(result, "guard_checks", ts_int(counts->nr_lookups), TS_MEASURED, NULL);
	ts_result_field(result, "guard_ps", ts_int(counts->lookup_ps), TS_MEASURED,
			"host time checking guards");
	ts_result_field(result, "runtime_overhead_ps", ts_int(counts->overhead_ps), TS_MEASURED,
			NULL);
	ts_result_field(result, "cuda_graph_launches",
			gpu ? ts_int(counts->nr_graph_launches) : ts_null(), TS_MEASURED,
			"launches of CUDA graphs");
	ts_result_field(result, "kernel_launches",
			gpu ? ts_int(counts->nr_kernel_launches) : ts_null(), TS_MEASURED,
			"launches of single kernels");
}

static void put_notes(const struct report *report, int64_t breaks)
{
	const struct compile_state *sum = report->sum;
	struct ts_result *result = report->result;

	if (sum->counts.nr_compiles == 0)
		ts_result_note(result, "nothing was compiled while the profiler ran, so what "
				       "compiling took is not in it");
	if (sum->nr_regions == 0)
		ts_result_note(result, "this version of PyTorch writes no compiled regions: graph "
				       "breaks and recompilations cannot be known");
	else if (!has_frame(report->regions[0]))
		ts_result_note(result, "this version of PyTorch writes no compile ids: "
				       "recompilations cannot be known");
	if (breaks > 0 || nr_recompiles(sum) > 0)
		ts_result_note(result, "why a graph broke or was compiled again is in no trace: run "
				       "once more with TORCH_TRACE=FOLDER");
}

enum ts_status compile_report(struct compile_state *sum, const struct ts_context *ctx,
			      struct ts_result *result, struct ts_error *err)
{
	struct report report = { sum, ctx, result, NULL };
	struct compile_fusion fusion;
	int64_t breaks;
	bool good = sort_regions(&report), ids;

	if (!good)
		return ts_fail_nomem(err);
	breaks = nr_breaks(&report);
	ids = sum->nr_regions > 0 && has_frame(report.regions[0]);
	ts_result_field(result, "compiler", ts_text(TS_LIT("PyTorch")), TS_DERIVED, "compiler");
	compile_put_time(result, sum->counts.nr_compiles > 0 ? sum->counts.compile_ps : -1,
			 sum->counts.nr_compiles > 0 ? "trace" : NULL);
	ts_result_field(result, "graph_breaks", ts_int_or_null(breaks), TS_DERIVED, "graph breaks");
	ts_result_field(result, "recompilations", ids ? ts_int(nr_recompiles(sum)) : ts_null(),
			TS_MEASURED, "recompilations");
	good = compile_fusion_torch(sum, ctx, result, &fusion);
	compile_put_fusion(&fusion, result);
	put_counts(&report);
	good = good && put_regions(&report) && put_recompiles(&report) && put_breaks(&report) &&
	       put_phases(&report);
	put_notes(&report, breaks);
	free(report.regions);
	return good ? TS_OK : ts_fail_nomem(err);
}
