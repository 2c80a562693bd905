/* SPDX-License-Identifier: MIT */
/*
 * Rules about memory: tile padding, ops that wait for HBM, and copies that only change a layout.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/memory.h"
#include "analysis/settings_list.h"

/* What padding costs, never more than the op takes; -1 in a module without a run. */
static int64_t padding_impact(const struct ts_doctor *doctor, const struct ts_padded_op *padded)
{
	const struct ts_op_fact *fact = ts_doctor_fact(doctor, padded->module, padded->name);
	int64_t cost = padded->waste_ps >= 0 ? padded->waste_ps : padded->best.gain_ps;

	if (doctor->total_ps <= 0)
		return -1;
	if (fact)
		cost = TS_MIN(cost, fact->exclusive_ps);
	return TS_MAX(cost, 0);
}

/* FLOPs that a matrix product loses are reported by the rule about its shape. */
static bool rules_memory_is_product(const struct ts_doctor *doctor,
				    const struct ts_padded_op *padded)
{
	const struct ts_systolic_facts *systolic = ts_systolic_facts(doctor->ctx);

	for (size_t i = 0; i < systolic->nr; i++)
		if (ts_bytes_eq(systolic->items[i].name, padded->name) &&
		    ts_bytes_eq(systolic->items[i].module, padded->module))
			return true;
	return false;
}

static void rules_memory_put_padding(struct ts_doctor *doctor, const struct ts_padded_op *padded,
				     const struct ts_padding_hint *hint)
{
	bool moves = padded->bytes_share > 0, issues = padded->flops_share > 0;

	TS_PUT(doctor,
	       "[{share} of the bytes it moves][{text}][{share} of the FLOPs it issues] are tile "
	       "padding[; that costs {core}]. {text}[, which saves {core}][{text}]",
	       TS_WHEN(moves, TS_SHARE(padded->bytes_share)),
	       TS_STRING(moves && issues ? " and " : ""),
	       TS_WHEN(issues, TS_SHARE(padded->flops_share)), TS_CORE(padded->waste_ps),
	       TS_PLAIN(hint->text),
	       TS_WHEN(hint->text.n > 0 && hint->gain_ps > 0, TS_CORE(hint->gain_ps)),
	       TS_STRING(hint->text.n > 0 ? "." : ""));
}

/* Of a product its bytes alone. */
static void report_padding(struct ts_doctor *doctor, const struct ts_rule *rule,
			   const struct ts_padded_op *padded, int64_t impact)
{
	bool product = rules_memory_is_product(doctor, padded);
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, padded->module, padded->name, impact);

	finding->title =
		TS_SENTENCE(doctor, "{share} of {name} is padding",
			    TS_SHARE(product ? padded->bytes_share : ts_padded_share(padded)),
			    TS_NAME(padded->name));
	rules_memory_put_padding(doctor, padded, product ? &padded->bytes : &padded->best);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where_one(doctor, finding, ts_doctor_fact(doctor, padded->module, padded->name));
}

static void report_total_padding(struct ts_doctor *doctor, const struct ts_rule *rule, double waste)
{
	int64_t cost = ts_padding_facts(doctor->ctx)->waste_ps;
	struct ts_finding *finding = ts_doctor_report_run(doctor, rule, cost);

	finding->title =
		TS_SENTENCE(doctor, "Tile padding takes {share} of device time", TS_SHARE(waste));
	finding->evidence = TS_SENTENCE(
		doctor,
		"No op alone is above the threshold; together they are[, at a cost of {core}].",
		TS_CORE(cost));
}

static bool is_padded(const struct ts_doctor *doctor, const struct ts_padded_op *padded,
		      double high)
{
	if (!(ts_padded_share(padded) > high))
		return false;
	return (padded->bytes_share > high && !padded->is_small) ||
	       !rules_memory_is_product(doctor, padded);
}

static void check_padding_waste(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_padding_facts *padding = ts_padding_facts(doctor->ctx);
	double high = doctor->ctx->settings->padding_waste_high / 100;
	struct ts_best best = { .nr = 0 };

	if (ts_doctor_no_device(doctor))
		return;
	for (size_t i = 0; i < padding->nr; i++)
		if (is_padded(doctor, &padding->items[i], high))
			ts_best_add(&best, i, padding_impact(doctor, &padding->items[i]));
	for (size_t i = 0; i < best.nr; i++)
		report_padding(doctor, rule, &padding->items[best.row[i]], best.impact[i]);
	if (best.nr == 0 && padding->waste_share > high)
		report_total_padding(doctor, rule, padding->waste_share);
}

static bool is_move(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	return (op && op->kind == TS_OP_MOVE) || fact->category_id == TS_XLA_DATA_FORMATTING;
}

static bool is_wait(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	return op && op->async != TS_ASYNC_NONE;
}

static bool match_stream(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			 const void *arg)
{
	return !is_move(doctor, fact) && !is_wait(doctor, fact);
}

static bool match_layout(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			 const void *arg)
{
	return ts_op_fact_works(fact) && fact->exclusive_ps > 0 && is_move(doctor, fact) &&
	       !is_wait(doctor, fact);
}

static bool match_wait(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
		       const void *arg)
{
	return is_wait(doctor, fact);
}

/* Bytes of HBM over the whole time of the ops that read and write them. */
static double stream_rate(const struct ts_doctor *doctor, const struct ts_selection *streams)
{
	double bytes = 0, time = 0;

	for (size_t i = 0; i < streams->nr; i++) {
		const struct ts_op_fact *fact = streams->items[i];

		if (isnan(fact->hbm_bytes) || !ts_op_fact_is_possible(fact))
			continue;
		bytes += fact->hbm_bytes * (double)fact->occurrences;
		time += (double)fact->total_ps / (double)TS_PS_PER_S;
	}
	return time > 0 && bytes > 0 ? bytes / time : NAN;
}

static void rules_memory_put_streams(struct ts_doctor *doctor, const struct ts_selection *streams)
{
	double peak = doctor->rates ? doctor->rates->hbm_bytes_per_s : NAN;
	double rate = stream_rate(doctor, streams);

	if (streams->nr == 0)
		return;
	TS_PUT(doctor,
	       "{core} is what HBM needs at its peak for the operands of ops, most in {ops}[; over "
	       "all their time these reach {rate} of HBM][ (peak {rate})]. ",
	       TS_CORE(streams->exclusive_ps), TS_OPS(streams, 3), TS_RATE(rate),
	       TS_WHEN(isfinite(rate) && peak > 0, TS_RATE(peak)));
}

static void rules_memory_put_part(struct ts_doctor *doctor, const struct ts_selection *ops,
				  const char *what)
{
	if (ops->nr > 0)
		TS_PUT(doctor, "{core} in {text}, most in {ops}. ", TS_CORE(ops->exclusive_ps),
		       TS_STRING(what), TS_OPS(ops, 2));
}

/* Of HBM's peak, as far as programs come that only read and write: the memory refreshes its cells and turns round. */
#define AT_RATE 0.85

static bool match_product(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			  const void *arg)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	return op && op->kind == TS_OP_MATRIX;
}

/* Products that wait for memory read weights for few rows, as decoding does: they have an advice of their own. */
static void choose_memory_advice(struct ts_doctor *doctor, struct ts_finding *finding,
				 int64_t wait_ps)
{
	struct ts_selection products =
		ts_doctor_select_in(doctor, TS_BUCKET_MEMORY_WAIT, match_product, NULL);
	const struct ts_advice *advice = ts_advice_find(doctor->framework, "memory_bound_products");

	if (products.exclusive_ps <= wait_ps / 2)
		return;
	finding->advice = ts_bytes_of(advice->advice);
	finding->code = ts_bytes_of(advice->code);
}

static void cap_at_rate(struct ts_doctor *doctor, const struct ts_selection *streams,
			int64_t wait_ps)
{
	double peak = doctor->rates ? doctor->rates->hbm_bytes_per_s : NAN;

	if (streams->exclusive_ps > wait_ps / 2 && stream_rate(doctor, streams) >= AT_RATE * peak)
		ts_doctor_cap(doctor, TS_INFO,
			      "its ops move their bytes at HBM's rate: only fewer bytes help");
}

static void check_memory_bound(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	enum ts_bucket bucket = TS_BUCKET_MEMORY_WAIT;
	double share = ts_doctor_bucket_share(doctor, bucket);
	struct ts_selection all, streams, layouts, waits;
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->memory_wait_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, doctor->bucket_ps[bucket]);
	all = ts_doctor_select_in(doctor, bucket, NULL, NULL);
	streams = ts_doctor_select_in(doctor, bucket, match_stream, NULL);
	layouts = ts_doctor_select_in(doctor, bucket, match_layout, NULL);
	waits = ts_doctor_select_in(doctor, bucket, match_wait, NULL);
	finding->title =
		TS_SENTENCE(doctor, "{share} of device time waits for memory", TS_SHARE(share));
	rules_memory_put_streams(doctor, &streams);
	rules_memory_put_part(doctor, &layouts, "copies and data formatting");
	rules_memory_put_part(doctor, &waits, "waits for asynchronous copies");
	finding->evidence = ts_doctor_text(doctor);
	choose_memory_advice(doctor, finding, all.exclusive_ps);
	cap_at_rate(doctor, &streams, all.exclusive_ps);
	ts_doctor_where(doctor, finding, &all);
}

/* The longest copy that changes a layout or a place; NULL: there is none. */
static const struct ts_memory_copy *longest_copy(const struct ts_memory_facts *memory)
{
	for (size_t i = 0; i < memory->nr_copies; i++)
		if (memory->copies[i].self_ps > 0 && !memory->copies[i].is_transfer)
			return &memory->copies[i];
	return NULL;
}

/* The longest, with its layouts and neighbours; its advice is the finding's. */
static void rules_memory_put_copy(struct ts_doctor *doctor, struct ts_finding *finding)
{
	const struct ts_memory_copy *copy = longest_copy(ts_memory_facts(doctor->ctx));

	if (!copy)
		return;
	TS_PUT(doctor, " {name} turns {text} into {text}[, made by {name}][, for {name}]: {text}.",
	       TS_NAME(copy->module->instrs[copy->instr].name), TS_PLAIN(copy->from),
	       TS_PLAIN(copy->to), TS_NAME(copy->producer), TS_NAME(copy->consumer),
	       TS_STRING(copy->reason->words));
	if (copy->reason->advice)
		finding->advice = ts_bytes_of(copy->reason->advice);
}

static void check_layout_copies(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_selection ops = ts_doctor_select(doctor, match_layout, NULL);
	double share = ts_doctor_share(doctor, ops.exclusive_ps);
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->layout_copy_high) || ops.nr == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, ops.exclusive_ps);
	finding->title =
		TS_SENTENCE(doctor, "Copies and transposes on the device take {share} of its time",
			    TS_SHARE(share));
	TS_PUT(doctor,
	       "{core} in {count} execution{s}[, most in {ops}]. They compute nothing: they bring "
	       "arrays into another layout or place.",
	       TS_CORE(ops.exclusive_ps), TS_COUNT(ops.occurrences), TS_OPS(&ops, 4));
	rules_memory_put_copy(doctor, finding);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &ops);
}

const struct ts_rule ts_rule_padding_waste = {
	.name = "padding_waste",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_padding_waste,
	.ceiling = "the op's time by its share of padding, and never more than its own core time",
};
const struct ts_rule ts_rule_memory_bound = {
	.name = "memory_bound",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.symptom = true,
	.check = check_memory_bound,
	.ceiling = "the core time of ops that wait for memory; what they must read stays",
};
const struct ts_rule ts_rule_layout_copies = {
	.name = "layout_copies",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_layout_copies,
	.ceiling = "the core time of these copies; some are needed",
};
