/*
 * Rules about PyTorch's compiler: graphs that break, frames compiled again and again, kernels that
 * nobody fused, launches that a CUDA graph would save.
 *
 * What was compiled is from "compile", kernels are the facts. Impacts are bounded by time that is
 * known: what the fused kernels took, or how long the devices had nothing to run.
 */
#include "analysis/doctor/doctor.h"

#define MAX_TOLD 3 /* places, frames */

static const struct ts_result *compile_of(const struct ts_doctor *doctor)
{
	const struct ts_result *compile = ts_results_find(doctor->ctx->results, "compile");
	struct ts_value name = compile ? ts_result_get(compile, "compiler") : ts_null();

	return name.type == TS_VALUE_TEXT && ts_bytes_is(name.as.s, "PyTorch") ? compile : NULL;
}

static bool has_gpu(const struct ts_doctor *doctor)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	for (size_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].is_gpu)
			return true;
	return false;
}

static void say_cell(struct ts_doctor *doctor, const char *before, struct ts_bytes text)
{
	if (text.n == 0)
		return;
	ts_buf_puts(&doctor->text, before);
	ts_say_name(doctor, ts_bytes_cut(text, 0, ts_bytes_find(text, "\n")));
}

/* --- torch_graph_breaks */

static void say_break(struct ts_doctor *doctor, const struct ts_table *places, size_t row)
{
	struct ts_bytes source = ts_cell_text(places, row, "source");
	struct ts_bytes function = ts_cell_text(places, row, "function");
	struct ts_bytes id = ts_cell_text(places, row, "compile_id");
	int64_t count = ts_cell_int(places, row, "count");

	if (source.n > 0)
		say_cell(doctor, " At ", source);
	else
		say_cell(doctor, " In region ", id);
	say_cell(doctor, " in ", function);
	say_cell(doctor, ": ", ts_cell_text(places, row, "reason"));
	if (count > 0)
		ts_buf_printf(&doctor->text, "%s run %" PRId64 " time%s",
			      source.n || id.n || function.n ? "," : "", count,
			      count == 1 ? "" : "s");
	ts_buf_putc(&doctor->text, '.');
}

static void check_breaks(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *compile = compile_of(doctor);
	const struct ts_table *places =
		compile ? ts_result_find_table(compile, "graph_break_places") : NULL;
	int64_t nr = compile ? ts_value_int(ts_result_get(compile, "graph_breaks")) : -1;
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (nr <= 0)
		return;
	finding = ts_doctor_report(doctor, rule, none, none, -1);
	if (!finding)
		return;
	finding->severity = TS_WARNING;
	ts_buf_printf(&doctor->text, "%" PRId64 " graph break%s in compiled code", nr,
		      nr == 1 ? "" : "s");
	finding->title = ts_doctor_text(doctor);
	ts_buf_puts(&doctor->text,
		    "Behind each the code goes on as a graph of its own: nothing is "
		    "fused across, guards are checked again, and Python runs between.");
	for (size_t i = 0; places && i < TS_MIN(places->nr_rows, MAX_TOLD); i++)
		say_break(doctor, places, i);
	finding->evidence = ts_doctor_text(doctor);
}

/* --- torch_recompilations */

static int64_t recompile_ps(const struct ts_table *rows)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; rows && i < rows->nr_rows; i++)
		sum_ps = ts_i64_add(sum_ps, TS_MAX(ts_cell_int(rows, i, "compile_ps"), 0));
	return sum_ps;
}

static void say_recompile(struct ts_doctor *doctor, const struct ts_table *rows, size_t row)
{
	struct ts_bytes function = ts_cell_text(rows, row, "function");

	say_cell(doctor, " ", ts_cell_text(rows, row, "compile_id"));
	say_cell(doctor, " is ", function);
	say_cell(doctor, " at ", ts_cell_text(rows, row, "source"));
	say_cell(doctor, ": ", ts_cell_text(rows, row, "reason"));
	ts_buf_putc(&doctor->text, '.');
}

static void check_recompilations(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *compile = compile_of(doctor);
	const struct ts_table *rows = compile ? ts_result_find_table(compile, "recompiles") : NULL;
	int64_t nr = compile ? ts_value_int(ts_result_get(compile, "recompilations")) : -1;
	int64_t lost_ps = doctor->bucket_ps[TS_BUCKET_COMPILATION], spent_ps = recompile_ps(rows);
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	char time[TS_UNIT_MAX];

	if (nr <= 0)
		return;
	finding = ts_doctor_report(doctor, rule, none, none,
				   spent_ps > 0 && lost_ps > 0 ? TS_MIN(spent_ps, lost_ps) : -1);
	if (!finding)
		return;
	if (finding->severity == TS_INFO)
		finding->severity = TS_WARNING;
	ts_buf_printf(&doctor->text, "Frames were compiled again %" PRId64 " time%s", nr,
		      nr == 1 ? "" : "s");
	finding->title = ts_doctor_text(doctor);
	if (spent_ps > 0)
		ts_buf_printf(&doctor->text, "The host spent %s on it.", ts_fmt_ps(time, spent_ps));
	else
		ts_buf_puts(&doctor->text, "They were compiled again before the profile began.");
	for (size_t i = 0; rows && i < TS_MIN(rows->nr_rows, MAX_TOLD); i++)
		say_recompile(doctor, rows, i);
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
	(void)doctor;
	(void)arg;
	for (size_t i = 0; i < TS_NELEM(eager_kernels); i++)
		if (ts_bytes_has(fact->name, eager_kernels[i]))
			return true;
	return false;
}

static void check_unfused(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_bytes none = { NULL, 0 };
	char share[TS_UNIT_MAX], time[TS_UNIT_MAX];
	struct ts_finding *finding;
	struct ts_selection ops;
	bool compiled = compile_of(doctor) != NULL;

	if (!has_gpu(doctor))
		return;
	ops = ts_doctor_select(doctor, is_eager, NULL);
	if (!(ts_doctor_share(doctor, ops.exclusive_ps) * 100 >=
	      doctor->ctx->settings->unfused_high))
		return;
	finding = ts_doctor_report(doctor, rule, none, none, ops.exclusive_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%s of device time is kernels of one op each",
		      ts_fmt_share(share, ts_doctor_share(doctor, ops.exclusive_ps)));
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text, "%s", ts_fmt_ps(time, ops.exclusive_ps));
	ts_say_executions(doctor, ops.occurrences);
	ts_buf_puts(&doctor->text,
		    compiled ? " beside compiled code: " : ", and nothing is compiled: ");
	ts_say_ops(doctor, &ops, MAX_TOLD);
	ts_buf_puts(&doctor->text, ". Each reads and writes its arrays through device memory.");
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &ops);
}

/* --- torch_cuda_graphs */

struct kernels {
	int64_t nr, time_ps;
};

static struct kernels kernels_of(const struct ts_doctor *doctor)
{
	struct kernels kernels = { 0, 0 };

	for (size_t i = 0; i < doctor->nr_facts; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];

		if (!ts_bytes_is(fact->category, "kernel") || fact->occurrences <= 0)
			continue;
		kernels.nr += fact->occurrences;
		kernels.time_ps = ts_i64_add(kernels.time_ps, fact->self_ps);
	}
	return kernels;
}

static void check_cuda_graphs(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_settings *settings = doctor->ctx->settings;
	const struct ts_result *compile = ts_results_find(doctor->ctx->results, "compile");
	int64_t graphs = compile ? ts_value_int(ts_result_get(compile, "cuda_graph_launches")) : -1;
	int64_t idle_ps = doctor->bucket_ps[TS_BUCKET_IDLE];
	double idle = ts_doctor_bucket_share(doctor, TS_BUCKET_IDLE), mean_ps;
	struct kernels kernels = kernels_of(doctor);
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	char mean[TS_UNIT_MAX], time[TS_UNIT_MAX], share[TS_UNIT_MAX];

	mean_ps = (double)kernels.time_ps / (double)TS_MAX(kernels.nr, 1);
	if (graphs != 0 || kernels.nr < (int64_t)settings->short_kernels_count ||
	    !(idle * 100 >= settings->idle_high) ||
	    !(mean_ps < settings->kernel_short * (double)TS_PS_PER_US))
		return;
	finding = ts_doctor_report(doctor, rule, none, none, idle_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%" PRId64 " short kernels are launched one by one",
		      kernels.nr);
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text,
		      "They take %s in the mean, less than many a launch, and the devices have "
		      "nothing to run for %s (%s of device time). No CUDA graph is launched.",
		      ts_fmt_ps(mean, (int64_t)mean_ps), ts_fmt_ps(time, idle_ps),
		      ts_fmt_share(share, idle));
	finding->evidence = ts_doctor_text(doctor);
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
};
const struct ts_rule ts_rule_torch_unfused = {
	.name = "torch_unfused",
	.confidence = TS_POSSIBLE,
	.ceiling = "all the time of these kernels: fused ones take some of it",
	.check = check_unfused,
};
const struct ts_rule ts_rule_torch_cuda_graphs = {
	.name = "torch_cuda_graphs",
	.confidence = TS_POSSIBLE,
	.ceiling = "the device time with nothing to run, of which some waits for launches",
	.check = check_cuda_graphs,
};
