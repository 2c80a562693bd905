/* What the compile analysis says of PyTorch's compiler. Also the fields that XLA's programs share. */
#include "analysis/compile/compile.h"

#include "base/units.h"

#include <inttypes.h>

#define MAX_ROWS 500 /* of regions and of breaks: the largest */

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
	double ratio =
		fusion->nr_after > 0 ? (double)fusion->nr_before / (double)fusion->nr_after : NAN;

	ts_result_field(result, "ops_before_fusion", ts_int_or_null(fusion->nr_before), TS_DERIVED,
			"ops before fusion");
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
	const struct compile_region *x = *(const struct compile_region *const *)a;
	const struct compile_region *y = *(const struct compile_region *const *)b;

	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	if (x->id.frame != y->id.frame)
		return x->id.frame < y->id.frame ? -1 : 1;
	return (x->id.compile > y->id.compile) - (x->id.compile < y->id.compile);
}

static bool sort_regions(struct compile_report *report)
{
	const struct compile_state *sum = report->sum;

	report->regions = calloc(sum->nr_regions + 1, sizeof(*report->regions));
	for (size_t i = 0; report->regions && i < sum->nr_regions; i++)
		report->regions[i] = &sum->regions[i];
	if (report->regions && sum->nr_regions > 1)
		qsort(report->regions, sum->nr_regions, sizeof(*report->regions), longest_first);
	return report->regions != NULL;
}

struct ts_value compile_id_cell(struct ts_result *result, struct ts_compile_id id)
{
	if (id.autograd >= 0 && id.frame >= 0)
		return ts_text(ts_result_text(result, "!%" PRId64 "/%" PRId64 "/%" PRId64,
					      id.autograd, id.frame, id.compile));
	if (id.autograd >= 0)
		return ts_text(ts_result_text(result, "!%" PRId64, id.autograd));
	if (id.frame >= 0)
		return ts_text(
			ts_result_text(result, "%" PRId64 "/%" PRId64, id.frame, id.compile));
	return ts_null();
}

bool compile_frame_of(const struct compile_report *report, const struct compile_region *region,
		      struct ts_torch_frame *frame)
{
	if (!region || region->frame_op == TS_NONE)
		return false;
	return ts_torch_frame_of(report->ctx->profile->ops[region->frame_op].name, frame);
}

struct ts_value compile_source_cell(struct ts_result *result, struct ts_bytes file, int64_t line)
{
	if (file.n == 0)
		return ts_null();
	if (line < 0)
		return ts_text(file);
	return ts_text(ts_result_text(result, "%.*s:%" PRId64, TS_ARG(file), line));
}

const struct compile_region *compile_region_of(const struct compile_report *report, uint64_t key)
{
	uint32_t at = ts_map_find(&report->sum->region_of_key, key);

	return at == TS_NONE ? NULL : &report->sum->regions[at];
}

/* By the Python tracer, else by the log. */
static void put_frame(const struct compile_report *report, const struct compile_region *region,
		      struct ts_value *function, struct ts_value *source)
{
	const struct ts_torch_compilation *logged = compile_logged(report, region->id);
	struct ts_torch_frame frame;

	if (compile_frame_of(report, region, &frame)) {
		*function = ts_text(frame.function);
		*source = compile_source_cell(report->result, frame.file, frame.line);
	} else if (logged) {
		*function = ts_text_or_null(logged->function);
		*source = compile_source_cell(report->result, logged->file, logged->line);
	}
}

enum {
	REG_ID,
	REG_FUNCTION,
	REG_SOURCE,
	REG_CALLS,
	REG_TIME,
	REG_SELF,
	REG_MEAN,
	REG_DEVICE,
	REG_BACKWARD,
	REG_KERNELS,
	REG_COMPILES,
	REG_COMPILE,
	REG_RESTARTS,
	REG_FIRST,
	NR_REG
};

static const struct ts_column region_columns[NR_REG] = {
	[REG_ID] = { "compile_id", TS_MEASURED, "region" },
	[REG_FUNCTION] = { "function", TS_MEASURED, "function" },
	[REG_SOURCE] = { "source", TS_MEASURED, "source" },
	[REG_CALLS] = { "calls", TS_MEASURED, "calls" },
	[REG_TIME] = { "time_ps", TS_MEASURED, "time" },
	[REG_SELF] = { "self_time_ps", TS_MEASURED, "self" },
	[REG_MEAN] = { "mean_self_ps", TS_MEASURED, "self a call" },
	[REG_DEVICE] = { "device_time_ps", TS_MEASURED, "on devices" },
	[REG_BACKWARD] = { "backward_device_time_ps", TS_MEASURED, NULL },
	[REG_KERNELS] = { "kernels", TS_MEASURED, "kernels" },
	[REG_COMPILES] = { "compilations", TS_MEASURED, "compiled" },
	[REG_COMPILE] = { "compile_ps", TS_MEASURED, "compile time" },
	[REG_RESTARTS] = { "restarts", TS_MEASURED, NULL },
	[REG_FIRST] = { "first_ps", TS_MEASURED, NULL },
};

/* What its kernels took: the row of "compile_devices" of that id. */
static void put_device_time(const struct compile_report *report, struct ts_value *cells)
{
	const struct ts_result *devices = ts_results_find(report->ctx->results, "compile_devices");
	const struct ts_table *table = devices ? ts_result_find_table(devices, "regions") : NULL;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct ts_value id = ts_cell(table, i, "compile_id");

		if (id.type != cells[REG_ID].type ||
		    (id.type == TS_VALUE_TEXT && !ts_bytes_eq(id.as.s, cells[REG_ID].as.s)))
			continue;
		cells[REG_DEVICE] = ts_cell(table, i, "device_time_ps");
		cells[REG_BACKWARD] = ts_cell(table, i, "backward_device_time_ps");
		cells[REG_KERNELS] = ts_cell(table, i, "kernels");
	}
}

static void put_region(const struct compile_report *report, const struct compile_region *region,
		       struct ts_value *cells)
{
	cells[REG_ID] = compile_id_cell(report->result, region->id);
	put_frame(report, region, &cells[REG_FUNCTION], &cells[REG_SOURCE]);
	put_device_time(report, cells);
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

static bool put_regions(const struct compile_report *report)
{
	struct ts_table *table = ts_result_table(
		report->result, "regions", "Compiled regions by time", region_columns, NR_REG);
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

uint64_t compile_frame_key(struct ts_compile_id id)
{
	id.compile = -1;
	return ts_compile_id_key(id);
}

/* The second number says how often the frame had been compiled before, in the profile or not: of each
 * frame the highest. *NR is -1 without ids. False: no memory. */
static bool count_recompiles(const struct compile_report *report, int64_t *nr)
{
	const struct compile_state *sum = report->sum;
	struct ts_map highest = { NULL, 0, 0 };
	bool good = true;

	*nr = sum->nr_regions > 0 && has_frame(report->regions[0]) ? 0 : -1;
	for (size_t i = 0; i < sum->nr_regions && good && *nr >= 0; i++) {
		uint64_t key = compile_frame_key(sum->regions[i].id);
		uint32_t before = ts_map_find(&highest, key);
		int64_t compile = TS_MAX(sum->regions[i].id.compile, 0);

		if (before != TS_NONE && (int64_t)before >= compile)
			continue;
		*nr += compile - (before == TS_NONE ? 0 : (int64_t)before);
		good = ts_map_set(&highest, key, (uint32_t)compile);
	}
	ts_map_release(&highest);
	return good;
}

static int longest_phase(const void *a, const void *b)
{
	const struct compile_phase *x = a, *y = b;

	if (x->self_ps != y->self_ps)
		return x->self_ps > y->self_ps ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static bool put_phases(const struct compile_report *report)
{
	static const struct ts_column columns[] = {
		{ "phase", TS_MEASURED, "phase" },
		{ "count", TS_MEASURED, "count" },
		{ "time_ps", TS_MEASURED, "time" },
		{ "self_time_ps", TS_MEASURED, "self" },
	};
	const struct compile_state *sum = report->sum;
	struct ts_table *table =
		ts_result_table(report->result, "phases", "Phases of the compiler by self time",
				columns, TS_NELEM(columns));
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

static void put_counts(const struct compile_report *report)
{
	const struct compile_counts *counts = &report->sum->counts;
	struct ts_result *result = report->result;
	bool gpu = report->ctx->profile->nr_devices > 0;

	if (report->ctx->profile->nr_hosts == 0)
		return; /* a log alone: nothing ran */
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

static const char *compiler_name(const struct compile_report *report)
{
	const struct compile_state *sum = report->sum;
	const struct compile_counts *counts = &sum->counts;
	bool found = sum->nr_regions + sum->nr_phases + sum->nr_kernels > 0 ||
		     counts->nr_functions + counts->nr_backwards + counts->nr_graph_calls +
				     counts->nr_lookups + counts->nr_compiles >
			     0 ||
		     compile_has_log(report);

	return found ? "PyTorch" : NULL;
}

static void put_notes(const struct compile_report *report, int64_t breaks, int64_t recompiles)
{
	const struct compile_state *sum = report->sum;
	const struct ts_torch_log *log = &report->ctx->profile->torch_log;
	struct ts_result *result = report->result;
	bool ran = report->ctx->profile->nr_hosts > 0;

	if (!compiler_name(report)) {
		ts_result_note(result, "nothing of a compiler is in this trace: each kernel counts "
				       "as one op");
		return;
	}
	if (ran && sum->counts.nr_compiles == 0 && !compile_has_log(report))
		ts_result_note(result, "nothing was compiled while the profiler ran, so what "
				       "compiling took is not in it");
	if (ran && sum->nr_regions == 0)
		ts_result_note(result,
			       "the trace has no compiled regions (PyTorch before 2.2 writes "
			       "none): it tells of no graph breaks and recompilations");
	else if (ran && !has_frame(report->regions[0]))
		ts_result_note(result, "this version of PyTorch writes no compile ids: the trace "
				       "tells of no recompilations");
	if ((breaks > 0 || recompiles > 0) && !compile_has_log(report))
		ts_result_note(result,
			       "why a graph broke or was compiled again is in no trace: run "
			       "once more with TORCH_TRACE=FOLDER, and give the folder with "
			       "--torch-trace");
	if (log->nr_breaks > TS_TORCH_LOG_ROWS || log->nr_compilations > TS_TORCH_LOG_ROWS)
		ts_result_note(result,
			       "the log has more than %d records of a kind: those behind "
			       "were left out",
			       TS_TORCH_LOG_ROWS);
	if (log->nr_files > 1)
		ts_result_note(result,
			       "%zu logs were read: of ranks of one job these add up, of "
			       "runs on different days they should not",
			       log->nr_files);
}

/* Device time of all regions, and of all that was launched elsewhere. */
static void put_devices(const struct compile_report *report)
{
	const struct ts_result *devices = ts_results_find(report->ctx->results, "compile_devices");
	const struct ts_table *table = devices ? ts_result_find_table(devices, "regions") : NULL;
	double inside_ps = 0, outside_ps;

	if (!table)
		return;
	outside_ps = ts_value_number(ts_result_get(devices, "outside_device_time_ps"));
	for (size_t i = 0; i < table->nr_rows; i++)
		inside_ps += ts_cell_number(table, i, "device_time_ps");
	ts_result_field(report->result, "compiled_device_time_ps", ts_int((int64_t)inside_ps),
			TS_MEASURED, "device time of compiled code");
	ts_result_field(report->result, "compiled_device_time_pct",
			ts_share_pct(inside_ps / (inside_ps + outside_ps)), TS_MEASURED,
			"share of device time");
}

/* Time in the compiler: the log has all of the process, a trace what it happened to see. */
static void put_time(const struct compile_report *report)
{
	const struct compile_counts *counts = &report->sum->counts;
	int64_t traced_ps = counts->nr_compiles > 0 ? counts->compile_ps : -1;
	int64_t logged_ps = compile_log_ps(report);

	if (logged_ps >= 0)
		compile_put_time(report->result, logged_ps, "log");
	else
		compile_put_time(report->result, traced_ps, traced_ps < 0 ? NULL : "trace");
	ts_result_field(report->result, "compile_in_profile_ps", ts_int_or_null(traced_ps),
			TS_MEASURED, logged_ps < 0 ? NULL : "of it while the profiler ran");
}

static bool put_all(struct compile_report *report)
{
	const struct compile_state *sum = report->sum;
	struct ts_result *result = report->result;
	int64_t breaks, recompiles;
	struct compile_fusion fusion;
	bool good;

	if (!compile_nr_breaks(report, &breaks) || !count_recompiles(report, &recompiles))
		return false;
	recompiles = TS_MAX(recompiles, compile_log_recompiles(report));
	ts_result_field(result, "compiler", ts_text_or_null(ts_bytes_of(compiler_name(report))),
			TS_DERIVED, "compiler");
	put_time(report);
	ts_result_field(result, "graph_breaks", ts_int_or_null(breaks), TS_DERIVED, "graph breaks");
	ts_result_field(result, "recompilations", ts_int_or_null(recompiles), TS_MEASURED,
			"recompilations");
	good = compile_fusion_torch(sum, report->ctx, result, &fusion);
	compile_put_fusion(&fusion, result);
	put_counts(report);
	put_devices(report);
	good = good && put_regions(report) && compile_put_recompiles(report) &&
	       compile_put_breaks(report) && compile_put_log(report) && put_phases(report);
	put_notes(report, breaks, recompiles);
	return good;
}

enum ts_status compile_report(struct compile_state *sum, const struct ts_context *ctx,
			      struct ts_result *result, struct ts_error *err)
{
	struct compile_report report = { .sum = sum, .ctx = ctx, .result = result };
	bool good = sort_regions(&report) && compile_log_index(&report) && put_all(&report);

	free(report.regions);
	ts_map_release(&report.logged);
	ts_map_release(&report.reasons);
	return good ? TS_OK : ts_fail_nomem(err);
}
