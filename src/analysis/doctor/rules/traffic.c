/*
 * Rules about traffic with HBM: arrays stored wider than any reader needs, and ops that the memory
 * bounds and that do not come near its peak.
 */
#include "analysis/doctor/doctor.h"

#define MAX_NAMED    3
#define SHORT_FACTOR 10 /* times small_op_time: latency, not bandwidth, makes these slow */

static const struct ts_table *table_of(const struct ts_doctor *doctor, const char *name)
{
	const struct ts_result *memory = ts_results_find(doctor->ctx->results, "memory");

	return memory ? ts_result_find_table(memory, name) : NULL;
}

static const struct ts_op_fact *fact_at(const struct ts_doctor *doctor,
					const struct ts_table *table, size_t row)
{
	return ts_doctor_fact(doctor, ts_cell_text(table, row, "module"),
			      ts_cell_text(table, row, "op"));
}

/* The rows by impact, named in the text and in the places. */
static void add_places(struct ts_doctor *doctor, struct ts_finding *finding,
		       const struct ts_table *table, const struct ts_best *best)
{
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < TS_MIN(best->nr, MAX_NAMED); i++) {
		const struct ts_op_fact *fact = fact_at(doctor, table, best->row[i]);

		if (fact)
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
}

static void put_upcasts(struct ts_doctor *doctor, const struct ts_table *table,
			const struct ts_best *best)
{
	for (size_t i = 0; i < best->nr; i++) {
		size_t row = best->row[i];

		TS_PUT(doctor, "{name} writes {text} ({text}); as {text} it would spare {bytes}. ",
		       TS_NAME(ts_cell_text(table, row, "op")),
		       TS_TEXT(ts_cell_text(table, row, "stored")),
		       TS_TEXT(ts_cell_text(table, row, "reason")),
		       TS_TEXT(ts_cell_text(table, row, "enough")),
		       TS_BYTES(ts_cell_number(table, row, "total_bytes")));
	}
}

static void check_upcasts(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = table_of(doctor, "upcasts");
	struct ts_best best = { .nr = 0 };
	struct ts_finding *finding;
	int64_t impact_ps = 0;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		int64_t ps = ts_cell_int(table, i, "impact_ps");

		if (ps <= 0)
			continue;
		impact_ps = ts_i64_add(impact_ps, ps);
		ts_best_add(&best, i, ps);
	}
	if (!(ts_doctor_share(doctor, impact_ps) * 100 > doctor->ctx->settings->upcasts_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, impact_ps);
	finding->title = TS_SENTENCE(
		doctor, "{share} of core time may go with arrays stored wider than needed",
		TS_SHARE(ts_doctor_share(doctor, impact_ps)));
	put_upcasts(doctor, table, &best);
	finding->evidence = ts_doctor_text(doctor);
	add_places(doctor, finding, table, &best);
}

/* Ops that go through their bytes once: not sorts, solvers, kernels. */
static bool is_single_pass(struct ts_bytes category)
{
	static const char *const names[] = { "loop fusion",
					     "input fusion",
					     "custom fusion",
					     "data formatting",
					     "copy",
					     "transpose",
					     "reshape",
					     "broadcast",
					     "concatenate",
					     "pad",
					     "slice",
					     "dynamic-slice",
					     "gather",
					     "scatter",
					     "reduce",
					     "dynamic-update-slice",
					     "non-fusion elementwise" };

	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_bytes_is(category, names[i]))
			return true;
	return false;
}

/* Products wait for the array too, short ops for the memory's latency. */
static bool is_stream(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);
	double least_us = SHORT_FACTOR * doctor->ctx->settings->small_op_time;

	if (ts_fact_work(doctor, fact).bound != TS_BOUND_HBM ||
	    fact->bucket != TS_BUCKET_MEMORY_WAIT || fact->occurrences <= 0 ||
	    !is_single_pass(fact->category))
		return false;
	if (op && (op->async != TS_ASYNC_NONE || op->kind == TS_OP_MATRIX))
		return false;
	return (double)fact->exclusive_ps / (double)fact->occurrences >=
	       least_us * (double)TS_PS_PER_US;
}

/* Time above what the bytes need at the peak; 0: fast enough, or not bound by HBM. */
static int64_t lag_of(const struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	const struct ts_op_fact *fact = fact_at(doctor, table, row);
	double pct = ts_cell_number(table, row, "hbm_pct"), least_ps;

	if (!fact || !is_stream(doctor, fact))
		return 0;
	least_ps = ts_fact_work(doctor, fact).least_ps;
	if (!isfinite(least_ps) || !(pct < doctor->ctx->settings->hbm_bandwidth_low))
		return 0;
	return TS_MAX(fact->exclusive_ps - ts_to_ps(least_ps), 0);
}

static void put_slow(struct ts_doctor *doctor, const struct ts_table *table,
		     const struct ts_best *best)
{
	for (size_t i = 0; i < best->nr; i++) {
		size_t row = best->row[i];

		TS_PUT(doctor, "{text}{name} at {rate}, {share} of the peak",
		       TS_STRING(i > 0 ? ", " : ""), TS_NAME(ts_cell_text(table, row, "op")),
		       TS_RATE(ts_cell_number(table, row, "hbm_bytes_per_s")),
		       TS_SHARE(ts_cell_number(table, row, "hbm_pct") / 100));
	}
	ts_put(doctor, ". The time above what their bytes need is what is at stake.");
}

static void check_hbm_bandwidth(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = table_of(doctor, "ops");
	struct ts_best best = { .nr = 0 };
	struct ts_finding *finding;
	int64_t impact_ps = 0;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		int64_t ps = lag_of(doctor, table, i);

		if (ps <= 0)
			continue;
		impact_ps = ts_i64_add(impact_ps, ps);
		ts_best_add(&best, i, ps);
	}
	if (impact_ps == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, impact_ps);
	finding->title = TS_SENTENCE(
		doctor, "{share} of core time is lost in ops that use little of HBM's rate",
		TS_SHARE(ts_doctor_share(doctor, impact_ps)));
	put_slow(doctor, table, &best);
	finding->evidence = ts_doctor_text(doctor);
	add_places(doctor, finding, table, &best);
}

const struct ts_rule ts_rule_upcasts = {
	.name = "upcasts",
	.confidence = TS_LIKELY,
	.check = check_upcasts,
};
const struct ts_rule ts_rule_hbm_bandwidth = {
	.name = "hbm_bandwidth",
	.confidence = TS_POSSIBLE,
	.check = check_hbm_bandwidth,
};
