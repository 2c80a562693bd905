/* SPDX-License-Identifier: MIT */
/*
 * Rules about single ops and how they belong together: an execution that takes long, an op that is
 * executed very often, and attention that is not fused. Waits have rules of their own; these are for
 * ops that work.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/facts/operators.h"
#include "analysis/settings_list.h"
#include "model/attention.h"

static bool works(const struct ts_op_fact *fact)
{
	return fact->occurrences > 0 && fact->exclusive_ps > 0 && ts_op_fact_works(fact);
}

/* What the op takes above its roofline; all of it where that is unknown. */
static int64_t above_ps(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	double least_ps = ts_fact_work(doctor, fact).least_ps;

	return ts_to_ps((double)fact->exclusive_ps - ts_or_zero(least_ps));
}

/* --- long_op: what a shorter form would save is unknown */

static void report_long(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct ts_op_fact *fact)
{
	struct ts_finding *finding = ts_doctor_report(doctor, rule, fact->module, fact->name, -1);
	bool is_one = fact->occurrences == 1;

	finding->title =
		is_one ? TS_SENTENCE(doctor, "One execution of {name} takes {time}",
				     TS_NAME(fact->name), TS_TIME(fact->longest_ps))
		       : TS_SENTENCE(doctor, "The longest execution of {name} takes {time}",
				     TS_NAME(fact->name), TS_TIME(fact->longest_ps));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{core} of its own in {count} execution{s}[, {time} on average]; the limit for one "
		"is {number} ms.",
		TS_CORE(fact->exclusive_ps), TS_COUNT(fact->occurrences),
		TS_WHEN(!is_one, TS_TIME(fact->exclusive_ps / fact->occurrences)),
		TS_ROUNDED(doctor->ctx->settings->op_ms_high));
	ts_doctor_where_one(doctor, finding, fact);
}

static void check_long_op(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	double limit_ps = doctor->ctx->settings->op_ms_high * (double)TS_PS_PER_MS;
	struct ts_best best = { .nr = 0 };

	for (size_t i = 0; i < doctor->nr_facts; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];

		if (works(fact) && (double)fact->longest_ps > limit_ps)
			ts_best_add(&best, i, fact->exclusive_ps);
	}
	for (size_t i = 0; i < best.nr; i++)
		report_long(doctor, rule, &doctor->facts[best.row[i]]);
}

const struct ts_rule ts_rule_long_op = {
	.name = "long_op",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.check = check_long_op,
};

/* --- many_executions */

/* Of an op, on one core; NaN: the run has no steps. */
static double per_step(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	double steps = (double)doctor->nr_steps, cores = (double)TS_MAX(doctor->time->nr_cores, 1);

	return steps > 0 ? (double)fact->occurrences / steps / cores : NAN;
}

static void report_many(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct ts_op_fact *fact)
{
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, fact->module, fact->name, above_ps(doctor, fact));

	finding->title = TS_SENTENCE(doctor, "{name} is executed {number} times a step",
				     TS_NAME(fact->name), TS_ROUNDED(per_step(doctor, fact)));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} execution{s} of {time} each on average, {core} in all: a loop "
		"that does little at a time, or one that was unrolled.",
		TS_COUNT(fact->occurrences), TS_TIME(fact->exclusive_ps / fact->occurrences),
		TS_CORE(fact->exclusive_ps));
	ts_doctor_where_one(doctor, finding, fact);
}

static void check_many_executions(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_best best = { .nr = 0 };

	for (size_t i = 0; i < doctor->nr_facts; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];

		if (works(fact) && per_step(doctor, fact) > doctor->ctx->settings->op_count_high)
			ts_best_add(&best, i, above_ps(doctor, fact));
	}
	for (size_t i = 0; i < best.nr; i++)
		report_many(doctor, rule, &doctor->facts[best.row[i]]);
}

const struct ts_rule ts_rule_many_executions = {
	.name = "many_executions",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.symptom = true,
	.check = check_many_executions,
	.ceiling = "the op's core time less what it needs by the roofline",
};

/* --- unfused_attention: by the modules, by PyTorch's shapes, or where neither is known by names and counts */

static bool is_softmax(const struct ts_op_fact *fact)
{
	static const char *const words[] = { "softmax", "SoftMax", "Softmax" };

	for (size_t i = 0; i < TS_NELEM(words); i++)
		if (ts_bytes_has(fact->name, words[i]) ||
		    ts_bytes_has(fact->framework_op, words[i]))
			return true;
	return false;
}

static bool rules_ops_is_product(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	return (op && op->kind == TS_OP_MATRIX) || ts_bytes_has(fact->name, "gemm") ||
	       ts_bytes_has(fact->name, "bmm");
}

/* The softmax itself, and products that run as often as it does. */
static bool match_attention(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			    const void *arg)
{
	const struct ts_op_fact *softmax = arg;

	if (!works(fact) || fact->occurrences != softmax->occurrences ||
	    !ts_bytes_eq(fact->module, softmax->module))
		return false;
	return fact == softmax || rules_ops_is_product(doctor, fact);
}

/* The largest, or NULL. */
static const struct ts_op_fact *largest_softmax(const struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (works(&doctor->facts[i]) && is_softmax(&doctor->facts[i]))
			return &doctor->facts[i];
	return NULL;
}

/* That so much core time, of which LEAST_PS is needed, is in attention; NULL: it is not much. */
static struct ts_finding *report_attention(struct ts_doctor *doctor, const struct ts_rule *rule,
					   int64_t ps, double least_ps)
{
	double share = ts_doctor_share(doctor, ps);
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->attention_high))
		return NULL;
	finding = ts_doctor_report_run(doctor, rule, ts_to_ps((double)ps - least_ps));
	finding->title =
		TS_SENTENCE(doctor, "Attention that is not fused takes {share} of device time",
			    TS_SHARE(share));
	return finding;
}

/* Where PyTorch's trace has the shapes of operators: kernels of one shape may have several names. */
static void check_attention_by_shapes(struct ts_doctor *doctor, const struct ts_rule *rule,
				      const struct ts_operators_facts *facts,
				      const struct ts_selection *ops)
{
	double least_ps = doctor->rates ? facts->product_flops / doctor->rates->peak_flops_per_s *
						  (double)TS_PS_PER_S
					: 0;
	struct ts_finding *finding = report_attention(
		doctor, rule, ts_i64_add(facts->softmax_ps, facts->product_ps), least_ps);

	if (!finding)
		return;
	finding->evidence = TS_SENTENCE(
		doctor,
		"Calls of a softmax over {count} queries and {count} keys ({count} of them) take "
		"{core}, the "
		"products that make its input and take its output {core}. Between them the scores "
		"go through memory.",
		TS_COUNT(facts->scores[0]), TS_COUNT(facts->scores[1]),
		TS_COUNT(facts->softmax_calls), TS_CORE(facts->softmax_ps),
		TS_CORE(facts->product_ps));
	if (ops->nr_all > 0)
		ts_doctor_where(doctor, finding, ops);
}

static void check_attention_by_counts(struct ts_doctor *doctor, const struct ts_rule *rule,
				      const struct ts_op_fact *softmax,
				      const struct ts_selection *ops)
{
	struct ts_finding *finding =
		ops->nr_all < 3 ? NULL
				: report_attention(doctor, rule, ops->exclusive_ps, ops->least_ps);

	if (!finding)
		return;
	finding->evidence = TS_SENTENCE(doctor,
					"A softmax and {count} products run {count} times each, "
					"one after the other: {ops}. "
					"Between them the scores go through memory.",
					TS_COUNT(ops->nr_all - 1), TS_COUNT(softmax->occurrences),
					TS_OPS(ops, 3));
	ts_doctor_where(doctor, finding, ops);
}

/* What each instruction of each module does in attention, by the flow of data. */
struct attention {
	const uint8_t **parts; /* of each module, or NULL */
	enum ts_attention_part least;
	bool is_there;
};

/* Is it known what the op does with whose data? */
static bool has_instr(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	return op && ts_op_instr(doctor->ctx->profile, op);
}

static bool has_part(const struct ts_doctor *doctor, const struct ts_op_fact *fact, const void *arg)
{
	const struct attention *attention = arg;
	const struct ts_op *op = ts_fact_op(doctor, fact);
	const uint8_t *parts = has_instr(doctor, fact) ? attention->parts[op->module] : NULL;

	return works(fact) && parts && parts[op->instr] >= attention->least;
}

static struct attention attention_of(struct ts_doctor *doctor)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	struct attention found = { .least = TS_ATTENTION_SOFTMAX };

	found.parts =
		ts_arena_array(&doctor->scratch, profile->nr_modules + 1, sizeof(*found.parts));
	for (size_t i = 0; found.parts && i < profile->nr_modules; i++) {
		found.parts[i] = ts_hlo_attention(&doctor->scratch, &profile->modules[i]);
		found.is_there |= found.parts[i] != NULL;
	}
	return found;
}

static void check_attention_by_modules(struct ts_doctor *doctor, const struct ts_rule *rule,
				       const struct attention *attention)
{
	const struct attention of_products = { .parts = attention->parts,
					       .least = TS_ATTENTION_PRODUCT };
	struct ts_selection ops = ts_doctor_select(doctor, has_part, attention);
	struct ts_finding *finding = report_attention(doctor, rule, ops.exclusive_ps, ops.least_ps);

	if (!finding)
		return;
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} product{s} and the softmax between them, each in an op of its own, take "
		"{core}: {ops}. Between them the scores go through memory.",
		TS_COUNT(ts_doctor_select(doctor, has_part, &of_products).nr_all),
		TS_CORE(ops.exclusive_ps), TS_OPS(&ops, 3));
	ts_doctor_where(doctor, finding, &ops);
}

static void check_unfused_attention(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_operators_facts *by_shapes = ts_operators_facts(doctor->ctx);
	const struct ts_op_fact *softmax = largest_softmax(doctor);
	struct attention attention = attention_of(doctor);
	struct ts_selection ops = { .nr_all = 0 };

	if (softmax)
		ops = ts_doctor_select(doctor, match_attention, softmax);
	if (attention.is_there)
		check_attention_by_modules(doctor, rule, &attention);
	else if (by_shapes->softmax_calls > 0)
		check_attention_by_shapes(doctor, rule, by_shapes, &ops);
	else if (softmax && !has_instr(doctor, softmax))
		check_attention_by_counts(doctor, rule, softmax, &ops);
}

const struct ts_rule ts_rule_unfused_attention = {
	.name = "unfused_attention",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_unfused_attention,
	.ceiling = "the core time of softmax and products, less what their rooflines need",
};
