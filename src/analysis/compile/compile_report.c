/* SPDX-License-Identifier: MIT */
/* What the compile analysis reports of PyTorch's compiler. */
#include "analysis/compile/compile.h"

#include "analysis/facts/compile_devices.h"
#include "analysis/kit/source.h"
#include "base/order.h"
#include "result/schema/compile.def"

#define MAX_ROWS 500 /* of regions and of phases: the largest */

TS_ORDER_AT(compile_report_longest_first, struct compile_region,
	    TS_DOWN(time_ps) TS_UP(id.frame) TS_UP(id.compile))

static enum ts_status sort_regions(struct compile_report *report, struct ts_error *err)
{
	const struct compile_state *sum = report->sum;

	report->regions = calloc(sum->nr_regions + 1, sizeof(*report->regions));
	for (size_t i = 0; report->regions && i < sum->nr_regions; i++)
		report->regions[i] = &sum->regions[i];
	if (report->regions)
		TS_SORT(report->regions, sum->nr_regions, compile_report_longest_first);
	return report->regions ? TS_OK : ts_fail_nomem(err);
}

/* Where a region's code is: by the Python tracer, else by the log. */
struct place {
	struct ts_bytes function, source;
};

static struct place compile_report_place_of(const struct compile_report *report,
					    const struct compile_region *region)
{
	const struct ts_torch_compilation *logged = ts_compile_logged(report, region->id);
	struct place place = { { NULL, 0 }, { NULL, 0 } };
	struct ts_torch_frame frame;

	if (ts_compile_frame_of(report, region, &frame)) {
		place.function = frame.function;
		place.source = ts_source_text(report->result, frame.file, frame.line);
	} else if (logged) {
		place.function = logged->function;
		place.source = ts_source_text(report->result, logged->file, logged->line);
	}
	return place;
}

/* What its kernels took. */
static struct ts_compile_device_region on_devices(const struct compile_report *report,
						  const struct compile_region *region)
{
	const struct ts_compile_devices_facts *devices = ts_compile_devices_facts(report->ctx);
	uint64_t key = ts_compile_id_key(region->id);

	for (size_t i = 0; i < devices->nr_regions; i++)
		if (ts_compile_id_key(devices->regions[i].id) == key)
			return devices->regions[i];
	return (struct ts_compile_device_region){
		.nr_launches = -1, .nr_kernels = -1, .device_ps = -1, .backward_ps = -1
	};
}

#define IF_COMPILED(value) (region->nr_compiles > 0 ? ts_int(value) : ts_null())
#define REGION_CELLS(X) \
	X(compile_id, ts_text_or_null(ts_compile_id_text(result, region->id))) \
	X(function, ts_text_or_null(place.function)) \
	X(source, ts_text_or_null(place.source)) \
	X(calls, ts_int(region->nr_calls)) \
	X(time_ps, ts_int(region->time_ps)) \
	X(self_time_ps, ts_int(region->self_ps)) \
	X(mean_self_ps, region->nr_calls > 0 ? ts_int(region->self_ps / region->nr_calls) : ts_null()) \
	X(device_time_ps, ts_int_or_null(device.device_ps)) \
	X(backward_device_time_ps, ts_int_or_null(device.backward_ps)) \
	X(kernels, ts_int_or_null(device.nr_kernels)) \
	X(compilations, ts_int(region->nr_compiles)) \
	X(compile_ps, IF_COMPILED(region->compile_ps)) \
	X(restarts, IF_COMPILED(region->nr_restarts)) \
	X(first_ps, region->first_ps < INT64_MAX ? ts_int(region->first_ps) : ts_null())

static void compile_report_put_regions(const struct compile_report *report)
{
	struct ts_result *result = report->result;
	struct ts_table *table = TS_TABLE(result, compile_regions);
	size_t nr = report->sum->nr_regions;

	for (size_t i = 0; i < TS_MIN(nr, MAX_ROWS); i++) {
		const struct compile_region *region = report->regions[i];
		struct ts_compile_device_region device = on_devices(report, region);
		struct place place = compile_report_place_of(report, region);

		TS_CELLS(result, table, compile_regions, REGION_CELLS);
	}
	if (nr > MAX_ROWS)
		ts_result_note(result, "the %d longest of %zu regions are listed", MAX_ROWS, nr);
}

TS_ORDER_AT(longest_phase, struct compile_phase, TS_DOWN(self_ps) TS_UP(op))

#define PHASE_CELLS(X) \
	X(phase, ts_text(ts_torch_phase(ops[phase->op].name))) \
	X(count, ts_int(phase->nr)) \
	X(time_ps, ts_int(phase->time_ps)) \
	X(self_time_ps, ts_int(phase->self_ps))

static bool put_phases(const struct compile_report *report)
{
	const struct compile_state *sum = report->sum;
	const struct ts_op *ops = report->ctx->profile->ops;
	struct ts_table *table = TS_TABLE(report->result, compile_phases);
	const struct compile_phase **order =
		calloc(sum->nr_phases + 1, sizeof(const struct compile_phase *));

	if (!order)
		return false;
	for (size_t i = 0; i < sum->nr_phases; i++)
		order[i] = &sum->phases[i];
	TS_SORT(order, sum->nr_phases, longest_phase);
	for (size_t i = 0; i < TS_MIN(sum->nr_phases, MAX_ROWS); i++) {
		const struct compile_phase *phase = order[i];

		TS_CELLS(report->result, table, compile_phases, PHASE_CELLS);
	}
	free(order);
	return true;
}

static int64_t nr_compiled(const struct compile_state *sum)
{
	int64_t nr = 0;

	for (size_t i = 0; i < sum->nr_regions; i++)
		nr += sum->regions[i].nr_compiles > 0;
	return nr > 0 || sum->counts.nr_compiles == 0 ? nr : -1; /* older ones write no ids */
}

#define IF_GPU(value) (has_gpu ? ts_int(value) : ts_null())
static void put_counts(const struct compile_report *report)
{
	const struct compile_counts *counts = &report->sum->counts;
	bool has_gpu = report->ctx->profile->nr_devices > 0;

	if (report->ctx->profile->nr_hosts == 0)
		return; /* a log alone: nothing ran */
	if (has_gpu)
		report->facts->nr_cuda_graph_launches = counts->nr_graph_launches;
	TS_SET(report->result, compile, compiled_graphs, ts_int_or_null(nr_compiled(report->sum)));
	TS_SET(report->result, compile, region_calls, ts_int(counts->nr_regions));
	TS_SET(report->result, compile, forward_calls, ts_int(counts->nr_functions));
	TS_SET(report->result, compile, backward_calls, ts_int(counts->nr_backwards));
	TS_SET(report->result, compile, backward_ps, ts_int(counts->backward_ps));
	TS_SET(report->result, compile, graph_calls, ts_int(counts->nr_graph_calls));
	TS_SET(report->result, compile, guard_checks, ts_int(counts->nr_lookups));
	TS_SET(report->result, compile, guard_ps, ts_int(counts->lookup_ps));
	TS_SET(report->result, compile, runtime_overhead_ps, ts_int(counts->overhead_ps));
	TS_SET(report->result, compile, cuda_graph_launches, IF_GPU(counts->nr_graph_launches));
	TS_SET(report->result, compile, kernel_launches, IF_GPU(counts->nr_kernel_launches));
}

static void note_missing(const struct compile_report *report)
{
	const struct compile_state *sum = report->sum;
	struct ts_result *result = report->result;

	if (sum->counts.nr_compiles == 0 && !compile_has_log(report))
		ts_result_note(result, "nothing was compiled while the profiler ran, so what "
				       "compiling took is not in it");
	if (sum->nr_regions == 0)
		ts_result_note(result,
			       "the trace has no compiled regions (PyTorch before 2.2 writes "
			       "none): it does not show graph breaks and recompilations");
	else if (report->regions[0]->id.frame < 0)
		ts_result_note(result, "this version of PyTorch writes no compile ids: the trace "
				       "does not show recompilations");
}

static void compile_report_put_notes(const struct compile_report *report,
				     const struct compile_fusion *fusion)
{
	const struct ts_torch_log *log = compile_log(report);
	const struct ts_compile_facts *facts = report->facts;
	struct ts_result *result = report->result;

	if (facts->compiler == TS_COMPILER_UNKNOWN) {
		ts_result_note(
			result,
			fusion->nr_generated > 0
				? "of the compiler only kernels that Inductor generated are in "
				  "this trace: their names say how many ops they hold, and each "
				  "other kernel counts as one op"
				: "nothing of a compiler is in this trace: each kernel counts "
				  "as one op");
		return;
	}
	if (report->ctx->profile->nr_hosts > 0)
		note_missing(report);
	if ((facts->nr_breaks > 0 || facts->nr_recompiles > 0) && !compile_has_log(report))
		ts_result_note(result,
			       "why a graph broke or was compiled again is in no trace: run "
			       "once more with TORCH_TRACE=FOLDER, and give the folder with "
			       "--torch-trace");
	if (log->nr_breaks > TS_LIMIT_TORCH_ROWS || log->nr_compilations > TS_LIMIT_TORCH_ROWS)
		ts_result_note(result,
			       "the log has more than %d records of a kind: those behind "
			       "were left out",
			       TS_LIMIT_TORCH_ROWS);
	if (log->nr_files > 1)
		ts_result_note(result,
			       "%zu logs were read: of ranks of one job these add up, of "
			       "runs on different days they should not",
			       log->nr_files);
}

/* Device time of all regions, of all that was launched. */
static void compile_report_put_devices(const struct compile_report *report)
{
	const struct ts_compile_devices_facts *devices = ts_compile_devices_facts(report->ctx);
	double inside_ps = 0;

	if (devices->nr_regions == 0)
		return;
	for (size_t i = 0; i < devices->nr_regions; i++)
		inside_ps += (double)devices->regions[i].device_ps;
	TS_SET(report->result, compile, compiled_device_time_ps, ts_int((int64_t)inside_ps));
	TS_SET(report->result, compile, compiled_device_time_pct,
	       ts_share_pct(inside_ps / (inside_ps + (double)devices->outside_ps)));
}

/* Time in the compiler: the log has all of the process, a trace what happened while it was recorded. */
static void compile_report_put_time(const struct compile_report *report)
{
	const struct compile_counts *counts = &report->sum->counts;
	int64_t traced_ps = counts->nr_compiles > 0 ? counts->compile_ps : -1;
	int64_t logged_ps = ts_compile_log_ps(report);

	if (logged_ps >= 0)
		ts_compile_put_time(report->result, logged_ps, "log");
	else
		ts_compile_put_time(report->result, traced_ps, traced_ps < 0 ? NULL : "trace");
	TS_SET(report->result, compile, compile_in_profile_ps, ts_int_or_null(traced_ps))->label =
		logged_ps < 0 ? NULL : "of it while the profiler ran";
}

static void compile_report_put_head(const struct compile_report *report)
{
	const struct ts_compile_facts *facts = report->facts;
	struct ts_result *result = report->result;
	bool is_torch = facts->compiler == TS_COMPILER_TORCH;

	TS_SET(result, compile, compiler, is_torch ? ts_text(TS_LIT("PyTorch")) : ts_null());
	compile_report_put_time(report);
	TS_SET(result, compile, graph_breaks, ts_int_or_null(facts->nr_breaks));
	TS_SET(result, compile, recompilations, ts_int_or_null(facts->nr_recompiles));
}

static enum ts_status compile_report_put_all(const struct compile_report *report,
					     struct ts_error *err)
{
	struct compile_fusion fusion;
	enum ts_status st;

	compile_report_put_head(report);
	st = ts_compile_fusion_torch(report->sum, report->ctx, report->result, &fusion, err);
	if (st)
		return st;
	ts_compile_put_fusion(&fusion, report->result);
	put_counts(report);
	compile_report_put_devices(report);
	compile_report_put_regions(report);
	ts_compile_put_recompiles(report);
	ts_compile_put_breaks(report);
	ts_compile_put_log(report);
	compile_report_put_notes(report, &fusion);
	return put_phases(report) ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_compile_report(struct compile_report *report, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(report->sum && report->facts && !report->regions);
	if (ts_compile_is_seen(report->sum, report->ctx->profile))
		report->facts->compiler = TS_COMPILER_TORCH;
	st = sort_regions(report, err);
	if (st)
		return st;
	st = ts_compile_log_index(report, err);
	if (st)
		goto done;
	st = ts_compile_find_breaks(report, err);
	if (st)
		goto done;
	st = ts_compile_find_recompiles(report, err);
	if (st)
		goto done;
	st = compile_report_put_all(report, err);
done:
	free(report->regions);
	ts_map_release(&report->logged);
	ts_map_release(&report->reasons);
	return st;
}
