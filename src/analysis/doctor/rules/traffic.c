/* SPDX-License-Identifier: MIT */
/*
 * Rules about traffic with HBM: arrays stored wider than any reader needs, and ops that the memory
 * bounds and that do not come near its peak.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/memory.h"
#include "analysis/kit/cells.h"
#include "analysis/settings_list.h"

#define MAX_NAMED    3
#define SHORT_FACTOR 10 /* times small_op_time: latency, not bandwidth, makes these slow */

static void rules_traffic_add_place(struct ts_selection *ops, const struct ts_op_fact *fact)
{
	if (fact && ops->nr < MAX_NAMED)
		ops->items[ops->nr++] = fact;
	ops->nr_all = ops->nr;
}

static const struct ts_op_fact *fact_of_upcast(const struct ts_doctor *doctor,
					       const struct ts_memory_upcast *upcast)
{
	return ts_doctor_fact(doctor, upcast->module->name,
			      upcast->module->instrs[upcast->instr].name);
}

static void put_upcasts(struct ts_doctor *doctor, const struct ts_memory_facts *memory,
			const struct ts_best *best)
{
	for (size_t i = 0; i < best->nr; i++) {
		const struct ts_memory_upcast *upcast = &memory->upcasts[best->row[i]];

		TS_PUT(doctor, "{name} writes {text} ({text}); as {text} it would save {bytes}. ",
		       TS_NAME(upcast->module->instrs[upcast->instr].name),
		       TS_PLAIN(upcast->stored), TS_STRING(upcast->reason),
		       TS_STRING(ts_dtype_name(upcast->enough)), TS_BYTES(upcast->saved_bytes));
	}
}

static void check_upcasts(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_memory_facts *memory = ts_memory_facts(doctor->ctx);
	struct ts_selection ops = { .nr = 0 };
	struct ts_best best = { .nr = 0 };
	struct ts_finding *finding;
	int64_t impact_ps = 0;

	for (size_t i = 0; i < memory->nr_upcasts; i++) {
		int64_t ps = ts_whole(memory->upcasts[i].impact_ps);

		if (ps <= 0)
			continue;
		impact_ps = ts_i64_add(impact_ps, ps);
		ts_best_add(&best, i, ps);
	}
	if (!(ts_doctor_share(doctor, impact_ps) * 100 > doctor->ctx->settings->upcasts_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, impact_ps);
	finding->title = TS_SENTENCE(doctor, "Narrower arrays could save {share} of device time",
				     TS_SHARE(ts_doctor_share(doctor, impact_ps)));
	put_upcasts(doctor, memory, &best);
	finding->evidence = ts_doctor_text(doctor);
	for (size_t i = 0; i < memory->nr_upcasts; i++)
		ts_doctor_claim(doctor, fact_of_upcast(doctor, &memory->upcasts[i]));
	for (size_t i = 0; i < best.nr; i++)
		rules_traffic_add_place(&ops,
					fact_of_upcast(doctor, &memory->upcasts[best.row[i]]));
	ts_doctor_where(doctor, finding, &ops);
}

/* Ops that go through their bytes once: not sorts, solvers, kernels. */
static bool is_single_pass(enum ts_opcode category)
{
	return TS_OPCODE_IN(category, TS_XLA_LOOP_FUSION, TS_XLA_INPUT_FUSION, TS_XLA_CUSTOM_FUSION,
			    TS_XLA_DATA_FORMATTING, TS_OPCODE_COPY, TS_OPCODE_TRANSPOSE,
			    TS_OPCODE_RESHAPE, TS_OPCODE_BROADCAST, TS_OPCODE_CONCATENATE,
			    TS_OPCODE_PAD, TS_OPCODE_SLICE, TS_OPCODE_DYNAMIC_SLICE,
			    TS_OPCODE_GATHER, TS_OPCODE_SCATTER, TS_OPCODE_REDUCE,
			    TS_OPCODE_DYNAMIC_UPDATE_SLICE, TS_XLA_NON_FUSION_ELEMENTWISE);
}

/* Products wait for the array too, short ops for the memory's latency. */
static bool rules_traffic_is_stream(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);
	double least_us = SHORT_FACTOR * doctor->ctx->settings->small_op_time;

	if (ts_fact_work(doctor, fact).bound != TS_BOUND_HBM || !ts_op_fact_works(fact) ||
	    fact->occurrences <= 0 || !is_single_pass(fact->category_id))
		return false;
	if (op && (op->async != TS_ASYNC_NONE || op->kind == TS_OP_MATRIX))
		return false;
	return (double)fact->exclusive_ps / (double)fact->occurrences >=
	       least_us * (double)TS_PS_PER_US;
}

static const struct ts_op_fact *fact_of_op(const struct ts_doctor *doctor,
					   const struct ts_memory_op *op)
{
	return ts_doctor_fact(doctor, ts_module_name(doctor->ctx->profile, op->module), op->name);
}

/* Time above what the bytes need at the peak; 0: fast enough, or not bound by HBM. */
static int64_t lag_of(const struct ts_doctor *doctor, const struct ts_memory_op *op)
{
	const struct ts_op_fact *fact = fact_of_op(doctor, op);
	double least_ps;

	if (!fact || !rules_traffic_is_stream(doctor, fact))
		return 0;
	least_ps = ts_fact_work(doctor, fact).least_ps;
	if (!isfinite(least_ps) ||
	    !(op->hbm_share * 100 < doctor->ctx->settings->hbm_bandwidth_low))
		return 0;
	return TS_MAX(fact->exclusive_ps - ts_to_ps(least_ps), 0);
}

static void rules_traffic_put_slow(struct ts_doctor *doctor, const struct ts_memory_facts *memory,
				   const struct ts_best *best)
{
	for (size_t i = 0; i < best->nr; i++) {
		const struct ts_memory_op *op = &memory->ops[best->row[i]];

		TS_PUT(doctor, "{text}{name} at {rate}, {share} of the peak",
		       TS_STRING(i > 0 ? ", " : ""), TS_NAME(op->name),
		       TS_RATE(op->hbm_bytes_per_s), TS_SHARE(op->hbm_share));
	}
	ts_put(doctor, ". The time above what their bytes need is what is at stake.");
}

static void check_hbm_bandwidth(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_memory_facts *memory = ts_memory_facts(doctor->ctx);
	struct ts_selection ops = { .nr = 0 };
	struct ts_best best = { .nr = 0 };
	struct ts_finding *finding;
	int64_t impact_ps = 0;

	for (size_t i = 0; i < memory->nr_ops; i++) {
		int64_t ps = lag_of(doctor, &memory->ops[i]);

		if (ps <= 0)
			continue;
		impact_ps = ts_i64_add(impact_ps, ps);
		ts_best_add(&best, i, ps);
	}
	if (impact_ps == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, impact_ps);
	finding->title = TS_SENTENCE(doctor, "Ops far below HBM's rate lose {share} of device time",
				     TS_SHARE(ts_doctor_share(doctor, impact_ps)));
	rules_traffic_put_slow(doctor, memory, &best);
	finding->evidence = ts_doctor_text(doctor);
	for (size_t i = 0; i < memory->nr_ops; i++)
		if (lag_of(doctor, &memory->ops[i]) > 0)
			ts_doctor_claim(doctor, fact_of_op(doctor, &memory->ops[i]));
	for (size_t i = 0; i < best.nr; i++)
		rules_traffic_add_place(&ops, fact_of_op(doctor, &memory->ops[best.row[i]]));
	ts_doctor_where(doctor, finding, &ops);
}

const struct ts_rule ts_rule_upcasts = {
	.name = "upcasts",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_upcasts,
};
const struct ts_rule ts_rule_hbm_bandwidth = {
	.name = "hbm_bandwidth",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.check = check_hbm_bandwidth,
};
