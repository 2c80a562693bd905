/* SPDX-License-Identifier: MIT */
/*
 * Rules about PyTorch's compiler: graphs that break, frames compiled again and again, kernels that
 * were not fused, launches that a CUDA graph would save.
 *
 * What was compiled is from the facts of compile, kernels from those of ops. Impacts are bounded by
 * time that is known: what the fused kernels took, or how long the devices had nothing to run.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/compile.h"
#include "analysis/settings_list.h"

#define MAX_SHOWN 3 /* places, frames */

/* NULL: PyTorch's compiler left nothing. */
static const struct ts_compile_facts *torch_of(const struct ts_doctor *doctor)
{
	const struct ts_compile_facts *compile = ts_compile_facts(doctor->ctx);

	return compile->compiler == TS_COMPILER_TORCH ? compile : NULL;
}

static bool torch_compile_has_gpu(const struct ts_doctor *doctor)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	for (size_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].is_gpu)
			return true;
	return false;
}

static struct ts_bytes torch_compile_first_line(struct ts_bytes text)
{
	return ts_bytes_cut(text, 0, ts_bytes_find(text, "\n"));
}

/* --- torch_graph_breaks */

static void put_break(struct ts_doctor *doctor, const struct ts_compile_break *row)
{
	bool placed = row->source.n || row->region.n || row->function.n;

	TS_PUT(doctor, "[ At {name}][ In region {name}][ in {name}][: {name}]",
	       TS_NAME(torch_compile_first_line(row->source)),
	       TS_WHEN(row->source.n == 0, TS_NAME(torch_compile_first_line(row->region))),
	       TS_NAME(torch_compile_first_line(row->function)),
	       TS_NAME(torch_compile_first_line(row->reason)));
	if (row->nr_runs > 0)
		TS_PUT(doctor, "{text} run {count} time{s}", TS_STRING(placed ? "," : ""),
		       TS_COUNT(row->nr_runs));
	ts_put(doctor, ".");
}

static void check_breaks(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_compile_facts *compile = torch_of(doctor);
	struct ts_finding *finding;

	if (!compile || compile->nr_breaks <= 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, -1);
	ts_doctor_lift(doctor, TS_WARNING, "a profile does not show what a graph break costs");
	finding->title = TS_SENTENCE(doctor, "{count} graph break{s} in compiled code",
				     TS_COUNT(compile->nr_breaks));
	ts_put(doctor, "Behind each the code goes on as a graph of its own: nothing is fused "
		       "across, guards are checked again, and Python runs between.");
	for (size_t i = 0; i < TS_MIN(compile->nr_listed_breaks, MAX_SHOWN); i++)
		put_break(doctor, &compile->breaks[i]);
	finding->evidence = ts_doctor_text(doctor);
}

/* --- torch_recompilations */

static int64_t recompile_ps(const struct ts_compile_facts *compile)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < compile->nr_listed_recompiles; i++)
		sum_ps = ts_i64_add(sum_ps, TS_MAX(compile->recompiles[i].compile_ps, 0));
	return sum_ps;
}

static void put_recompile(struct ts_doctor *doctor, const struct ts_compile_recompile *row)
{
	TS_PUT(doctor, "[ {name}][ is {name}][ at {name}][: {name}].",
	       TS_NAME(torch_compile_first_line(row->region)),
	       TS_NAME(torch_compile_first_line(row->function)),
	       TS_NAME(torch_compile_first_line(row->source)),
	       TS_NAME(torch_compile_first_line(row->reason)));
}

static void check_recompilations(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_compile_facts *compile = torch_of(doctor);
	int64_t lost_ps = doctor->bucket_ps[TS_BUCKET_COMPILATION], spent_ps;
	struct ts_finding *finding;

	if (!compile || compile->nr_recompiles <= 0)
		return;
	spent_ps = recompile_ps(compile);
	finding = ts_doctor_report_run(
		doctor, rule, spent_ps > 0 && lost_ps > 0 ? TS_MIN(spent_ps, lost_ps) : -1);
	ts_doctor_lift(doctor, TS_WARNING,
		       "compilations before the profile cost time that it does not show");
	finding->title = TS_SENTENCE(doctor, "Frames were recompiled {count} time{s}",
				     TS_COUNT(compile->nr_recompiles));
	if (spent_ps > 0)
		TS_PUT(doctor, "The host spent {time} on it.", TS_TIME(spent_ps));
	else
		ts_put(doctor, "They were recompiled before the profile began.");
	for (size_t i = 0; i < TS_MIN(compile->nr_listed_recompiles, MAX_SHOWN); i++)
		put_recompile(doctor, &compile->recompiles[i]);
	finding->evidence = ts_doctor_text(doctor);
}

/* --- torch_unfused: kernels of one pointwise op or one reduction each */

/* Names of ATen's kernels: aten/src/ATen/native/cuda of PyTorch (Loops.cuh, Reduce.cuh ...). */
static const char *const eager_kernels[] = {
	"elementwise_kernel",	 "reduce_kernel",	  "CatArrayBatchedCopy",
	"vectorized_layer_norm", "layer_norm_grad",	  "GammaBetaBackward",
	"softmax_warp_forward",	 "softmax_warp_backward", "cunn_SoftMax",
	"fused_dropout_kernel",	 "batch_norm_",		  "indexSelect",
	"masked_scale_kernel",
};

static bool is_eager(const struct ts_doctor *doctor, const struct ts_op_fact *fact, const void *arg)
{
	for (size_t i = 0; i < TS_NELEM(eager_kernels); i++)
		if (ts_bytes_has(fact->name, eager_kernels[i]))
			return true;
	return false;
}

static void torch_compile_check_unfused(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	bool compiled = torch_of(doctor) != NULL;
	struct ts_finding *finding;
	struct ts_selection ops;
	double share;

	if (!torch_compile_has_gpu(doctor))
		return;
	ops = ts_doctor_select(doctor, is_eager, NULL);
	share = ts_doctor_share(doctor, ops.exclusive_ps);
	if (!(share * 100 >= doctor->ctx->settings->unfused_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, ops.exclusive_ps);
	finding->title =
		TS_SENTENCE(doctor, "{share} of device time is in single ops that are not fused",
			    TS_SHARE(share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{core} in {count} execution{s}{text}: {ops}. Each reads and writes its arrays "
		"through device memory.",
		TS_CORE(ops.exclusive_ps), TS_COUNT(ops.occurrences),
		TS_STRING(compiled ? " beside compiled code" : ", and nothing is compiled"),
		TS_OPS(&ops, MAX_SHOWN));
	ts_doctor_where(doctor, finding, &ops);
}

/* --- torch_cuda_graphs */

struct kernels {
	int64_t nr, time_ps;
};

static struct kernels torch_compile_kernels_of(const struct ts_doctor *doctor)
{
	struct kernels kernels = { 0, 0 };

	for (size_t i = 0; i < doctor->nr_facts; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];

		if (fact->category_id != TS_KINETO_KERNEL || fact->occurrences <= 0)
			continue;
		kernels.nr += fact->occurrences;
		kernels.time_ps = ts_i64_add(kernels.time_ps, fact->self_ps);
	}
	return kernels;
}

static void check_cuda_graphs(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_settings *settings = doctor->ctx->settings;
	int64_t graphs = ts_compile_facts(doctor->ctx)->nr_cuda_graph_launches;
	int64_t idle_ps =
		ts_i64_add(doctor->bucket_ps[TS_BUCKET_IDLE], doctor->bucket_ps[TS_BUCKET_LAUNCH]);
	double idle = ts_doctor_share(doctor, idle_ps), mean_ps;
	struct kernels kernels = torch_compile_kernels_of(doctor);
	struct ts_finding *finding;

	mean_ps = (double)kernels.time_ps / (double)TS_MAX(kernels.nr, 1);
	if (graphs != 0 || kernels.nr < (int64_t)settings->short_kernels_count ||
	    !(idle * 100 >= settings->idle_high) ||
	    !(mean_ps < settings->kernel_short * (double)TS_PS_PER_US))
		return;
	finding = ts_doctor_report_run(doctor, rule, idle_ps);
	finding->title = TS_SENTENCE(doctor, "{count} short kernels are launched one by one",
				     TS_COUNT(kernels.nr));
	finding->evidence = TS_SENTENCE(
		doctor,
		"They take {time} on average, less than many a launch, and the devices have "
		"nothing to run for {core} ({share} of device time). No CUDA graph is launched.",
		TS_TIME((int64_t)mean_ps), TS_CORE(idle_ps), TS_SHARE(idle));
}

const struct ts_rule ts_rule_torch_graph_breaks = {
	.name = "torch_graph_breaks",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_breaks,
};
const struct ts_rule ts_rule_torch_recompilations = {
	.name = "torch_recompilations",
	.confidence = TS_CERTAIN,
	.keep = true,
	.ceiling = "the device time with nothing to run while frames were compiled again",
	.check = check_recompilations,
	.classes = TS_CLASS(TS_BUCKET_COMPILATION),
};
const struct ts_rule ts_rule_torch_unfused = {
	.name = "torch_unfused",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.ceiling = "all the time of these kernels: fused ones take some of it",
	.check = torch_compile_check_unfused,
};
const struct ts_rule ts_rule_torch_cuda_graphs = {
	.name = "torch_cuda_graphs",
	.confidence = TS_POSSIBLE,
	.is_rest = true,
	.keep = true, /* beside idle, as an advice */
	.ceiling = "the device time with nothing to run, of which some waits for launches",
	.check = check_cuda_graphs,
	.classes = TS_CLASS(TS_BUCKET_IDLE) | TS_CLASS(TS_BUCKET_LAUNCH),
};
