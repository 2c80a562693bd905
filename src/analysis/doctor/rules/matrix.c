/* SPDX-License-Identifier: MIT */
/*
 * Rules about the matrix units: how much of their peak is used, which shapes leave them empty, what
 * f32 at highest precision costs, and kernels of unknown cost.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/settings_list.h"

#include "model/cost.h"

#define HIGHEST_PASSES 6.0 /* bf16 passes of an f32 product at highest precision (docs) */

static const struct ts_op_fact *matrix_fact_of(const struct ts_doctor *doctor,
					       const struct ts_matrix_op *product)
{
	return ts_doctor_fact(doctor, product->module, product->name);
}

/* What the op itself does, without ops nested in it: never more than its own moments. */
static double matrix_own_time(const struct ts_doctor *doctor, const struct ts_matrix_op *product)
{
	double time = (double)TS_MAX(product->time_ps, 0);
	const struct ts_op_fact *fact = matrix_fact_of(doctor, product);

	return fact ? fmin(time, (double)fact->exclusive_ps) : time;
}

static double matrix_utilization_of(const struct ts_matrix_op *product)
{
	return isnan(product->utilization) ? NAN : fmin(product->utilization, 1);
}

/* A matrix op, in its own moments. */
struct product_time {
	const struct ts_op_fact *fact; /* NULL: it is not in the op table */
	double time_ps, used_ps;       /* used: time x utilization; NaN: unknown */
	double lost_ps;		       /* that a better use of the array could save */
};

/* What is above the roofline. An op that moves its bytes at its memory's rate has nothing to gain from the array. */
static double matrix_lost(const struct ts_doctor *doctor, const struct product_time *product)
{
	double least = product->used_ps, low = doctor->ctx->settings->hbm_bandwidth_low / 100;
	struct ts_fact_work work;

	if (product->fact) {
		work = ts_fact_work(doctor, product->fact);
		least = fmax(least, ts_or_zero(work.least_ps));
		if (work.bound == TS_BOUND_HBM && least >= low * product->time_ps)
			return 0;
	}
	return fmax(product->time_ps - least, 0);
}

static struct product_time product_time_of(const struct ts_doctor *doctor,
					   const struct ts_matrix_op *product)
{
	double time = matrix_own_time(doctor, product);
	struct product_time of = { matrix_fact_of(doctor, product), time,
				   time * matrix_utilization_of(product), 0 };

	of.lost_ps = matrix_lost(doctor, &of);
	return of;
}

/* The matrix ops together. */
struct matrix {
	double time_ps, used_ps, lost_ps;
	double shape_ps, memory_ps;
	struct ts_selection ops; /* the time of each that is counted is what it loses */
};

static struct matrix sum_products(const struct ts_doctor *doctor)
{
	const struct ts_systolic_facts *systolic = ts_systolic_facts(doctor->ctx);
	struct matrix sum = { .time_ps = 0 };

	for (size_t i = 0; i < systolic->nr; i++) {
		const struct ts_matrix_op *product = &systolic->items[i];
		struct product_time of = product_time_of(doctor, product);

		if (isnan(of.used_ps) || of.time_ps <= 0)
			continue;
		sum.time_ps += of.time_ps;
		sum.used_ps += of.used_ps;
		sum.lost_ps += of.lost_ps;
		sum.shape_ps += of.time_ps * ts_or_zero(product->shape_loss);
		sum.memory_ps += of.time_ps * ts_or_zero(product->memory_loss);
		if (of.fact && of.lost_ps > 0)
			ts_selection_add(&sum.ops, of.fact, ts_to_ps(of.lost_ps));
	}
	return sum;
}

static void put_losses(struct ts_doctor *doctor, const struct matrix *sum)
{
	double lost = sum->time_ps - sum->used_ps, shape = fmin(sum->shape_ps, lost);
	double memory = fmin(sum->memory_ps, lost - shape);

	TS_PUT(doctor,
	       " Of {core} lost in them, {core} is shape (dims that do not fill the array), {core} "
	       "waiting for memory, {core} the rest[; the memory keeps "
	       "{core} of it].",
	       TS_CORE(ts_to_ps(lost)), TS_CORE(ts_to_ps(shape)), TS_CORE(ts_to_ps(memory)),
	       TS_CORE(ts_to_ps(lost - shape - memory)),
	       TS_WHEN(lost - sum->lost_ps >= 0.5, TS_CORE(ts_to_ps(lost - sum->lost_ps))));
}

static void put_utilization(struct ts_doctor *doctor, const struct matrix *sum)
{
	TS_PUT(doctor,
	       "Matrix ops take {core} ({share} of device time) and run at {share} of peak.",
	       TS_CORE(ts_to_ps(sum->time_ps)),
	       TS_SHARE(ts_doctor_share(doctor, ts_to_ps(sum->time_ps))),
	       TS_SHARE(sum->used_ps / sum->time_ps));
	put_losses(doctor, sum);
	TS_PUT(doctor, "[ Most is lost in {ops}.]", TS_OPS(&sum->ops, 3));
}

static bool match_opaque(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			 const void *arg)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	if (!ts_bytes_has(fact->category, "custom-call") || fact->exclusive_ps <= 0)
		return false;
	return !(fact->flops > 0) && !(op && op->model_flops > 0);
}

/* With more core time than this in ops of unknown cost, the utilization is a lower bound. */
#define MUCH_UNKNOWN 0.1

static void matrix_put_unknown(struct ts_doctor *doctor)
{
	struct ts_selection opaque = ts_doctor_select(doctor, match_opaque, NULL);
	double share = ts_doctor_share(doctor, opaque.exclusive_ps);

	if (!(share > MUCH_UNKNOWN))
		return;
	TS_PUT(doctor,
	       " The figure is a lower bound: {share} of core time is in ops of unknown cost, and "
	       "what the matrix units do there counts as nothing.",
	       TS_SHARE(share));
	ts_doctor_cap(doctor, TS_WARNING, "the cost of much of the run is unknown");
}

static void claim_products(struct ts_doctor *doctor)
{
	const struct ts_systolic_facts *systolic = ts_systolic_facts(doctor->ctx);

	for (size_t i = 0; i < systolic->nr; i++) {
		struct product_time of = product_time_of(doctor, &systolic->items[i]);

		if (of.lost_ps > 0)
			ts_doctor_claim(doctor, of.fact);
	}
}

static void check_mxu_utilization(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_settings *settings = doctor->ctx->settings;
	double overall = ts_systolic_facts(doctor->ctx)->utilization;
	struct matrix sum = sum_products(doctor);
	struct ts_finding *finding;

	if (!(overall * 100 < settings->mxu_utilization_warning) || !(sum.lost_ps > 0) ||
	    doctor->total_ps <= 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, ts_to_ps(sum.lost_ps));
	finding->title = TS_SENTENCE(doctor, "Matrix units run at {share} of peak over the run",
				     TS_SHARE(overall));
	put_utilization(doctor, &sum);
	matrix_put_unknown(doctor);
	finding->evidence = ts_doctor_text(doctor);
	claim_products(doctor);
	ts_doctor_where(doctor, finding, &sum.ops);
}

static void put_size(struct ts_doctor *doctor, const struct ts_matrix_op *product)
{
	int dim = doctor->rates ? doctor->rates->mxu_dim : -1;

	TS_PUT(doctor, "[ (M {count}, N {count}, K {count})][ on an array of {count} x {count}]",
	       TS_COUNT(product->m), TS_COUNT(product->n), TS_COUNT(product->k),
	       TS_WHEN(dim > 0, TS_COUNT(dim)), TS_COUNT(dim));
}

/* The padding analysis knows better sizes, and what they would gain. */
static void put_suggestion(struct ts_doctor *doctor, const struct ts_matrix_op *product)
{
	const struct ts_padding_facts *padding = ts_padding_facts(doctor->ctx);

	for (size_t i = 0; i < padding->nr; i++) {
		const struct ts_padded_op *padded = &padding->items[i];

		if (!ts_bytes_eq(padded->name, product->name) ||
		    !ts_bytes_eq(padded->module, product->module))
			continue;
		TS_PUT(doctor, "[{text}][, which saves {core}][{text}]",
		       TS_PLAIN(padded->flops.text),
		       TS_WHEN(padded->flops.gain_ps > 0, TS_CORE(padded->flops.gain_ps)),
		       TS_STRING(padded->flops.text.n > 0 ? ". " : ""));
		return;
	}
}

#define MAX_BLOCK   512
#define BLOCK_UNITS 8 /* rows: of sublanes */
#define SUM_BYTES   4 /* of an element, at most */

/* A part of a dimension: whole UNITs, and no more of them than the dimension has. */
static int64_t matrix_block_of(int64_t size, int64_t unit)
{
	return TS_MAX(TS_MIN(ts_i64_add(size, unit - 1) / unit * unit, MAX_BLOCK), unit);
}

/* Blocks of the product for a kernel: they fill the array, and all three fit into half of VMEM. */
static void matrix_put_blocks(struct ts_doctor *doctor, const struct ts_matrix_op *product)
{
	const struct ts_rates *rates = doctor->rates;
	int64_t m, n, k, dim = rates ? rates->mxu_dim : -1, bytes;

	if (dim <= 0 || product->m <= 0 || product->n <= 0 || product->k <= 0)
		return;
	m = matrix_block_of(product->m, BLOCK_UNITS);
	n = matrix_block_of(product->n, dim);
	k = matrix_block_of(product->k, dim);
	bytes = SUM_BYTES * (m * k + k * n + m * n);
	if (rates->vmem_bytes > 0 && bytes > rates->vmem_bytes / 2)
		return;
	TS_PUT(doctor,
	       "Blocks for a kernel of your own: M {count}, N {count}, K {count}, {bytes} of VMEM "
	       "at "
	       "a time.",
	       TS_COUNT(m), TS_COUNT(n), TS_COUNT(k), TS_BYTES(bytes));
}

static void report_fill(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct ts_matrix_op *product, int64_t impact)
{
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, product->module, product->name, impact);

	finding->title = TS_SENTENCE(
		doctor, "{name} can fill only {share} of the matrix unit[: {name}]",
		TS_NAME(product->name), TS_SHARE(product->fill), TS_NAME(product->limit));
	ts_put(doctor, "The product");
	put_size(doctor, product);
	TS_PUT(doctor, " fills {share} at best[; it takes {core}]", TS_SHARE(product->fill),
	       TS_CORE(product->time_ps));
	if (product->time_ps >= 0)
		TS_PUT(doctor, " and reaches {share} of the peak",
		       TS_SHARE(matrix_utilization_of(product)));
	ts_put(doctor, ". ");
	put_suggestion(doctor, product);
	matrix_put_blocks(doctor, product);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where_one(doctor, finding, matrix_fact_of(doctor, product));
}

/* Above the roofline. -1 where the run has no times: a module alone. */
static int64_t fill_impact(const struct ts_doctor *doctor, const struct ts_matrix_op *product)
{
	struct product_time of = product_time_of(doctor, product);

	if (doctor->total_ps <= 0)
		return -1;
	return ts_to_ps(fmin(of.time_ps * ts_or_zero(product->shape_loss), of.lost_ps));
}

static void check_matmul_fill(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_systolic_facts *systolic = ts_systolic_facts(doctor->ctx);
	double low = doctor->ctx->settings->mxu_fill_low / 100;
	struct ts_best best = { .nr = 0 };

	if (ts_doctor_no_device(doctor))
		return;
	for (size_t i = 0; i < systolic->nr; i++)
		if (systolic->items[i].fill < low)
			ts_best_add(&best, i, fill_impact(doctor, &systolic->items[i]));
	for (size_t i = 0; i < best.nr; i++)
		report_fill(doctor, rule, &systolic->items[best.row[i]], best.impact[i]);
}

static bool match_highest(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			  const void *arg)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	const struct ts_op *op = ts_fact_op(doctor, fact);
	struct ts_matmul product;

	if (!op || op->kind != TS_OP_MATRIX || fact->exclusive_ps <= 0 || !ts_op_instr(profile, op))
		return false;
	return ts_hlo_matmuls(&profile->modules[op->module], op->instr, &product, 1) > 0 &&
	       product.highest_precision;
}

static void check_highest_precision(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_selection ops = ts_doctor_select(doctor, match_highest, NULL);
	struct ts_finding *finding;

	if (ops.nr == 0 || doctor->total_ps <= 0)
		return;
	finding = ts_doctor_report_run(
		doctor, rule,
		ts_to_ps(fmin((double)ops.exclusive_ps * (1 - 1 / HIGHEST_PASSES),
			      (double)ops.exclusive_ps - ops.least_ps)));
	finding->title =
		TS_SENTENCE(doctor, "f32 products at highest precision take {share} of device time",
			    TS_SHARE(ts_doctor_share(doctor, ops.exclusive_ps)));
	finding->evidence = TS_SENTENCE(
		doctor, "{ops}: {core}. Each is made of six bf16 passes; the default is one.",
		TS_OPS(&ops, 3), TS_CORE(ops.exclusive_ps));
	ts_doctor_where(doctor, finding, &ops);
}

static void check_unknown_cost(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_selection ops = ts_doctor_select(doctor, match_opaque, NULL);
	double share = ts_doctor_share(doctor, ops.exclusive_ps);
	struct ts_finding *finding;

	if (!(share * 100 >= doctor->ctx->settings->finding_min) || ops.nr == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, -1);
	finding->title =
		TS_SENTENCE(doctor, "Custom calls of unknown cost take {share} of device time",
			    TS_SHARE(share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{ops}: {core}. Their FLOPs and bytes are in neither the profile nor the module, "
		"so they count in no utilization.",
		TS_OPS(&ops, 3), TS_CORE(ops.exclusive_ps));
	ts_doctor_where(doctor, finding, &ops);
}

const struct ts_rule ts_rule_mxu_utilization = {
	.name = "mxu_utilization",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.symptom = true,
	.check = check_mxu_utilization,
	.ceiling = "the time of matrix ops, less what their FLOPs and bytes need at the peaks",
};
const struct ts_rule ts_rule_matmul_fill = {
	.name = "matmul_fill",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_matmul_fill,
	.ceiling = "the product's time by the share of the array that its shape leaves empty, "
		   "above its roofline",
};
const struct ts_rule ts_rule_highest_precision = {
	.name = "highest_precision",
	.confidence = TS_CERTAIN,
	.is_headroom = true,
	.check = check_highest_precision,
	.ceiling = "five of six passes of these products: one pass in bf16 is what is left",
};
const struct ts_rule ts_rule_unknown_cost = {
	.name = "unknown_cost",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_unknown_cost,
};
