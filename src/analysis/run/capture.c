/* SPDX-License-Identifier: MIT */
/*
 * Is this profile what its owner believes it is? Here: one pass over host threads, executions of
 * modules, and the ends of the device lines. What follows from it is in capture_causes.c and the checks.
 *
 * Names of host events: JAX and PyTorch/XLA (jaxlib's pjit.cc, xla/pjrt, torch_xla/csrc/runtime); of
 * threads: xla/pjrt/cpu. A call of a jitted function is seen on the host even where its result is
 * never waited for; what it ran is seen on the device, or is not.
 */
#include "analysis/run/capture.h"

#include "base/record.h"
#include "base/units.h"
#include "base/order.h"
#include "model/trace_class.h"
#include "result/schema/capture.def"

#define TS_SELF struct capture_work
static bool is_work(const void *self)
{
	return ((const struct capture_work *)self)->nr_kept <= CAPTURE_OPEN;
}
static TS_RECORD_WITH(work, TS_VALID_IF(is_work), TS_NUMBER(1, nr, TS_BY_HAND),
		      TS_NUMBER(2, total_ps, TS_BY_HAND), TS_NUMBERS(3, start_ps, TS_BY_HAND),
		      TS_NUMBERS(4, dur_ps, TS_BY_HAND), TS_NUMBER(5, nr_kept, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct capture_link
static TS_RECORD(link, TS_NUMBER(1, link, TS_BY_HAND), TS_NUMBER(2, start_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct capture_links
static bool run_capture_are_links(const void *self)
{
	return ((const struct capture_links *)self)->nr <= CAPTURE_LINKS &&
	       ((const struct capture_links *)self)->level < 64;
}
static TS_RECORD_WITH(links, TS_VALID_IF(run_capture_are_links),
		      TS_RECORDS_CAP(1, items, nr, cap, link_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(2, nr_all, TS_BY_HAND), TS_NUMBER(3, level, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct capture_host
static bool run_capture_is_host(const void *self)
{
	return ((const struct capture_host *)self)->nr_kept <= CAPTURE_CALLS;
}
static TS_RECORD_WITH(host, TS_VALID_IF(run_capture_is_host), TS_NUMBER(1, nr_events, TS_BY_HAND),
		      TS_NUMBER(2, nr_calls, TS_BY_HAND), TS_NUMBERS(3, call_ps, TS_BY_HAND),
		      TS_NUMBER(4, nr_kept, TS_BY_HAND), TS_NUMBER(5, ran_on_cpu, TS_BY_HAND),
		      TS_NUMBER(6, ran_on_tpu, TS_BY_HAND), TS_NUMBER(7, nr_cpu_runs, TS_BY_HAND),
		      TS_STRUCT(8, works, work_record), TS_STRUCT(9, launches, links_record),
		      TS_STRUCT(10, kernels, links_record), TS_NUMBER(11, nr_operators, TS_BY_HAND),
		      TS_NUMBER(12, nr_runtime_calls, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct capture_device
static TS_RECORD(device, TS_NUMBER(1, first_ps, TS_BY_HAND), TS_NUMBER(2, last_ps, TS_BY_HAND),
		 TS_NUMBER(3, has_ops, TS_BY_HAND), TS_NUMBER(4, nr_modules, TS_BY_HAND),
		 TS_NUMBER(5, nr_most, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct capture_state
static TS_RECORD_AS(capture_record, state, , TS_INDEX(1, plane, TS_BY_PLANE, TS_BY_HAND),
		    TS_STRUCT(2, host, host_record), TS_STRUCT(3, device, device_record),
		    TS_RECORDS(4, hosts, nr_hosts, host_record, TS_BY_HOST, TS_BY_HAND),
		    TS_RECORDS(5, devices, nr_devices, device_record, TS_BY_DEVICE, TS_BY_HAND),
		    TS_SCRATCH(classes), TS_SCRATCH(runs), TS_NUMBER(6, is_recording, TS_BY_HAND));
#undef TS_SELF

enum work_class {
	CLASS_UNKNOWN,
	CLASS_NONE,
	CLASS_CALL,
	CLASS_CPU,
	CLASS_CPU_RUN,
	CLASS_TPU,
	CLASS_LOG,
	CLASS_SAVE,
	CLASS_LAUNCH, /* of a kernel */
	CLASS_RECORD, /* into a graph: launches run nothing up to */
	CLASS_RECORDED,
	CLASS_KERNEL,
	CLASS_OPERATOR,
	CLASS_RUNTIME
};

static const struct class_row {
	const char *prefix;
	enum work_class class;
} class_rows[] = {
	{ "PjitFunction(", CLASS_CALL },
	{ "PjRtComputationClient::ExecuteComputation", CLASS_CALL },
	{ "PjRtComputationClient::ExecuteReplicated", CLASS_CALL },
	{ "ThunkExecutor::Execute", CLASS_CPU },
	{ "CommonPjRtLoadedExecutable::ExecuteHelper", CLASS_CPU_RUN }, /* once an execution */
	{ "TfrtCpuExecutable::ExecuteHelper", CLASS_CPU_RUN },
	{ "PjRtCpuExecutable::ExecuteHelper", CLASS_CPU_RUN },
	{ "TfrtCpuExecutable::", CLASS_CPU },
	{ "PjRtCpuExecutable::", CLASS_CPU },
	{ "TfrtTpuLoadedExecutable::Execute", CLASS_TPU },
	{ "tpu::System::Execute", CLASS_TPU },
	{ "cudaLaunchKernel", CLASS_LAUNCH },
	{ "cudaLaunchCooperativeKernel", CLASS_LAUNCH },
	{ "cudaGraphLaunch", CLASS_LAUNCH },
	{ "cuLaunchKernel", CLASS_LAUNCH },
	{ "cuLaunchCooperativeKernel", CLASS_LAUNCH },
	{ "cuGraphLaunch", CLASS_LAUNCH },
	{ "hipLaunchKernel", CLASS_LAUNCH },
	{ "hipLaunchCooperativeKernel", CLASS_LAUNCH },
	{ "hipExtLaunch", CLASS_LAUNCH },
	{ "hipModuleLaunch", CLASS_LAUNCH },
	{ "hipExtModuleLaunch", CLASS_LAUNCH },
	{ "hipGraphLaunch", CLASS_LAUNCH },
	{ "urEnqueueKernelLaunch", CLASS_LAUNCH },
	{ "cudaStreamBeginCapture", CLASS_RECORD },
	{ "cudaStreamEndCapture", CLASS_RECORDED },
	{ "cuStreamBeginCapture", CLASS_RECORD },
	{ "cuStreamEndCapture", CLASS_RECORDED },
	{ "hipStreamBeginCapture", CLASS_RECORD },
	{ "hipStreamEndCapture", CLASS_RECORDED },
};

/* Of loggers and of libraries that save: anywhere in a name, as Python frames begin with a path. */
static const struct class_row word_rows[] = {
	{ "logging/__init__.py", CLASS_LOG }, { "SummaryWriter", CLASS_LOG },
	{ "add_scalar", CLASS_LOG },	      { "wandb", CLASS_LOG },
	{ "log_metrics", CLASS_LOG },	      { "orbax", CLASS_SAVE },
	{ "CheckpointManager", CLASS_SAVE },  { "save_checkpoint", CLASS_SAVE },
	{ "save_pretrained", CLASS_SAVE },    { "torch/serialization.py", CLASS_SAVE },
};

static enum work_class run_capture_class_of(const struct ts_op *op)
{
	struct ts_bytes name = op->name;

	for (size_t i = 0; i < TS_NELEM(word_rows); i++)
		if (ts_bytes_has(name, word_rows[i].prefix))
			return word_rows[i].class;
	for (size_t i = 0; i < TS_NELEM(class_rows); i++)
		if (ts_bytes_starts(name, class_rows[i].prefix))
			return class_rows[i].class;
	switch (ts_trace_class_of_category(op->category_id)) {
	case TS_TRACE_CPU_EXEC: return CLASS_OPERATOR;
	case TS_TRACE_RUNTIME:	return CLASS_RUNTIME;
	default:		return CLASS_NONE;
	}
}

static void keep_call(struct capture_host *host, int64_t start_ps)
{
	if (host->nr_kept == CAPTURE_CALLS)
		memmove(host->call_ps, host->call_ps + 1, --host->nr_kept * sizeof(*host->call_ps));
	host->call_ps[host->nr_kept++] = start_ps;
}

/* Events come by their ends: those inside this one came before it. */
static void run_capture_add_work(struct capture_work *work, int64_t start_ps, int64_t dur_ps)
{
	while (work->nr_kept > 0 && work->start_ps[work->nr_kept - 1] >= start_ps) {
		work->nr--;
		work->total_ps -= work->dur_ps[--work->nr_kept];
	}
	if (work->nr_kept == CAPTURE_OPEN) {
		work->nr_kept--;
		memmove(work->start_ps, work->start_ps + 1, work->nr_kept * sizeof(int64_t));
		memmove(work->dur_ps, work->dur_ps + 1, work->nr_kept * sizeof(int64_t));
	}
	work->start_ps[work->nr_kept] = start_ps;
	work->dur_ps[work->nr_kept++] = dur_ps;
	work->nr++;
	work->total_ps = ts_i64_add(work->total_ps, dur_ps);
}

static bool is_in_steps(const struct ts_context *ctx, int64_t start_ps)
{
	const struct ts_steps *steps = &ctx->outline->steps;

	for (size_t i = 0; i < steps->nr_devices; i++) {
		int64_t from_ps, until_ps;

		ts_device_steps_hull(&steps->devices[i], &from_ps, &until_ps);
		if (start_ps >= from_ps && start_ps < until_ps)
			return true;
	}
	return false;
}

static void take_work(struct capture_host *host, const struct ts_context *ctx,
		      const struct ts_block *block, size_t i, enum work_class class)
{
	int64_t start_ps = block->start_ps[i];

	if (class == CLASS_CPU)
		run_capture_add_work(&host->works[TS_WORK_CPU], start_ps, block->dur_ps[i]);
	else if ((class == CLASS_LOG || class == CLASS_SAVE) && is_in_steps(ctx, start_ps))
		run_capture_add_work(&host->works[class == CLASS_LOG ? TS_WORK_LOG : TS_WORK_SAVE],
				     start_ps, block->dur_ps[i]);
}

static enum ts_status take_thread(struct capture_state *state, const struct ts_context *ctx,
				  const struct ts_block *block, struct ts_error *err)
{
	struct capture_host *host = &state->host;

	host->nr_events += block->nr_events;
	for (size_t i = 0; i < block->nr_events; i++) {
		uint8_t *class = &state->classes[block->op[i]];

		if (*class == CLASS_UNKNOWN)
			*class = (uint8_t)run_capture_class_of(&block->profile->ops[block->op[i]]);
		host->ran_on_cpu |= *class == CLASS_CPU;
		host->nr_cpu_runs += *class == CLASS_CPU_RUN;
		host->ran_on_tpu |= *class == CLASS_TPU;
		host->nr_operators += *class == CLASS_OPERATOR;
		host->nr_runtime_calls += *class == CLASS_RUNTIME ||
					  (*class >= CLASS_LAUNCH && *class <= CLASS_RECORDED);
		/* Events come by their ends: the calls inside this one are before it. */
		if (*class == CLASS_CALL) {
			while (host->nr_kept > 0 &&
			       host->call_ps[host->nr_kept - 1] >= block->start_ps[i]) {
				host->nr_kept--;
				host->nr_calls--;
			}
			host->nr_calls++;
			keep_call(host, block->start_ps[i]);
		}
		take_work(host, ctx, block, i, *class);
		if (*class == CLASS_RECORD || *class == CLASS_RECORDED)
			state->is_recording = *class == CLASS_RECORD;
		if (*class == CLASS_LAUNCH && !state->is_recording &&
		    block->link[i] != TS_NO_LINK &&
		    !ts_capture_links_add(&host->launches, block->link[i], block->start_ps[i]))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static void run_capture_take_modules(struct capture_state *state, const struct ts_block *block)
{
	struct capture_device *device = &state->device;

	device->nr_modules += block->nr_events;
	for (size_t i = 0; i < block->nr_events; i++) {
		int64_t end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);

		device->first_ps = TS_MIN(device->first_ps, block->start_ps[i]);
		device->last_ps = TS_MAX(device->last_ps, end_ps);
		state->runs[block->op[i]]++;
		device->nr_most = TS_MAX(device->nr_most, state->runs[block->op[i]]);
	}
}

static enum ts_status run_capture_take_kernels(struct capture_state *state,
					       const struct ts_block *block, struct ts_error *err)
{
	for (size_t i = 0; state->classes && i < block->nr_events; i++) {
		uint8_t *class = &state->classes[block->op[i]];

		if (*class == CLASS_UNKNOWN)
			*class = ts_kernel_type_of(&block->profile->ops[block->op[i]]) ==
						 TS_KERNEL_MEMORY
					 ? CLASS_NONE
					 : CLASS_KERNEL;
		if (*class == CLASS_KERNEL && block->link[i] != TS_NO_LINK &&
		    !ts_capture_links_add(&state->host.kernels, block->link[i], block->start_ps[i]))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* Events come in the order of their ends, but those of a stream may overlap: segments do not. */
static void run_capture_take_core(struct capture_state *state, const struct ts_block *block)
{
	struct capture_device *device = &state->device;

	if (block->nr_segments == 0)
		return;
	device->has_ops = true;
	device->first_ps = TS_MIN(device->first_ps, block->segment_start_ps[0]);
	device->last_ps = TS_MAX(device->last_ps, block->segment_end_ps[block->nr_segments - 1]);
}

static bool capture_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return line->kind == TS_LINE_THREAD ||
	       (ctx->profile->planes[line->plane].device != TS_NONE &&
		(line->kind == TS_LINE_MODULES || ts_line_is_core(ctx->profile, line)));
}

static enum ts_status capture_open(void *data, const struct ts_context *ctx,
				   const struct ts_line *line, struct ts_error *err)
{
	struct capture_state *state = data;
	size_t nr_ops = ctx->profile->nr_ops + 1;

	state->plane = line->plane;
	state->device = (struct capture_device){ .first_ps = INT64_MAX, .last_ps = INT64_MIN };
	if (line->kind == TS_LINE_THREAD) {
		state->classes = calloc(nr_ops, sizeof(*state->classes));
		state->host.ran_on_cpu = ts_bytes_starts(line->name, "tf_XLAPjRtCpuClient") ||
					 ts_bytes_starts(line->name, "tf_XLAEigen");
		return state->classes ? TS_OK : ts_fail_nomem(err);
	}
	if (ctx->profile->planes[line->plane].kind == TS_PLANE_GPU &&
	    line->kind != TS_LINE_MODULES) {
		state->classes = calloc(nr_ops, sizeof(*state->classes));
		return state->classes ? TS_OK : ts_fail_nomem(err);
	}
	if (line->kind == TS_LINE_MODULES) {
		state->runs = calloc(nr_ops, sizeof(*state->runs));
		return state->runs ? TS_OK : ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status capture_block(void *data, const struct ts_context *ctx,
				    const struct ts_block *block, struct ts_error *err)
{
	if (block->line->kind == TS_LINE_THREAD)
		return take_thread(data, ctx, block, err);
	if (block->line->kind == TS_LINE_MODULES) {
		run_capture_take_modules(data, block);
		return TS_OK;
	}
	run_capture_take_core(data, block);
	return run_capture_take_kernels(data, block, err);
}

static bool merge_host(struct capture_host *into, const struct capture_host *from)
{
	int64_t both[2 * CAPTURE_CALLS];
	size_t nr = into->nr_kept + from->nr_kept;

	memcpy(both, into->call_ps, into->nr_kept * sizeof(*both));
	memcpy(both + into->nr_kept, from->call_ps, from->nr_kept * sizeof(*both));
	TS_SORT(both, nr, ts_i64_order);
	into->nr_kept = TS_MIN(nr, CAPTURE_CALLS);
	memcpy(into->call_ps, both + nr - into->nr_kept, into->nr_kept * sizeof(*both));
	into->nr_events += from->nr_events;
	into->nr_calls += from->nr_calls;
	into->nr_cpu_runs += from->nr_cpu_runs;
	into->nr_operators += from->nr_operators;
	into->nr_runtime_calls += from->nr_runtime_calls;
	into->ran_on_cpu |= from->ran_on_cpu;
	into->ran_on_tpu |= from->ran_on_tpu;
	for (int w = 0; w < TS_NR_HOST_WORKS; w++) {
		into->works[w].nr += from->works[w].nr;
		into->works[w].total_ps =
			ts_i64_add(into->works[w].total_ps, from->works[w].total_ps);
	}
	return ts_capture_links_merge(&into->launches, &from->launches) &&
	       ts_capture_links_merge(&into->kernels, &from->kernels);
}

static void merge_device(struct capture_device *into, const struct capture_device *from)
{
	into->first_ps = TS_MIN(into->first_ps, from->first_ps);
	into->last_ps = TS_MAX(into->last_ps, from->last_ps);
	into->has_ops |= from->has_ops;
	into->nr_modules += from->nr_modules;
	into->nr_most = TS_MAX(into->nr_most, from->nr_most);
}

static enum ts_status run_capture_make_sums(struct capture_state *sum, const struct ts_context *ctx,
					    struct ts_error *err)
{
	sum->hosts = calloc(ctx->profile->nr_hosts + 1, sizeof(*sum->hosts));
	sum->devices = calloc(ctx->profile->nr_devices + 1, sizeof(*sum->devices));
	if (!sum->hosts || !sum->devices)
		return ts_fail_nomem(err);
	sum->nr_hosts = ctx->profile->nr_hosts;
	sum->nr_devices = ctx->profile->nr_devices;
	for (size_t i = 0; i < sum->nr_devices; i++)
		sum->devices[i] =
			(struct capture_device){ .first_ps = INT64_MAX, .last_ps = INT64_MIN };
	return TS_OK;
}

static enum ts_status capture_merge(void *into, void *data, const struct ts_context *ctx,
				    struct ts_error *err)
{
	struct capture_state *sum = into, *from = data;
	const struct ts_plane *plane = &ctx->profile->planes[from->plane];

	if (!sum->hosts && run_capture_make_sums(sum, ctx, err))
		return TS_NOMEM;
	if (!merge_host(&sum->hosts[plane->host], &from->host))
		return ts_fail_nomem(err);
	if (plane->device != TS_NONE)
		merge_device(&sum->devices[plane->device], &from->device);
	return TS_OK;
}

static enum ts_status capture_close(void *data, const struct ts_context *ctx, void *facts,
				    struct ts_result *result, struct ts_error *err)
{
	struct capture_state *sum = data;

	if (ctx->profile->nr_planes == 0)
		return TS_OK; /* compiled modules alone: nothing was captured */
	if (!sum->hosts && run_capture_make_sums(sum, ctx, err))
		return TS_NOMEM;
	if (ts_profile_predicted(ctx->profile).n > 0)
		TS_SET(result, capture, is_predicted, ts_bool(true));
	return ts_capture_report(sum, ctx, facts, result, err);
}

const struct ts_analysis ts_analysis_capture = {
	.schema = &ts_schema_capture,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_SEGMENTS | TS_COL_LINK,
	.state = &capture_record,
	.facts_size = sizeof(struct ts_capture_facts),
	.wants = capture_wants,
	.open = capture_open,
	.block = capture_block,
	.merge = capture_merge,
	.close = capture_close,
};
