/*
 * The rule about collectives: a core that the others wait for.
 *
 * The impact is what this core alone costs: until the second latest core arrives the others would
 * wait anyway. The view "collectives" knows which core arrives when.
 */
#include "analysis/doctor/doctor.h"

#define MAX_NAMED 3

static size_t worst_core(const struct ts_table *cores)
{
	size_t worst = 0;

	for (size_t i = 1; i < cores->nr_rows; i++)
		if (ts_cell_int(cores, i, "excess_ps") > ts_cell_int(cores, worst, "excess_ps"))
			worst = i;
	return worst;
}

/* The collectives with the most waiting. */
static void add_where(struct ts_doctor *doctor, struct ts_finding *finding,
		      const struct ts_table *ops)
{
	struct ts_best best = { .nr = 0 };
	struct ts_selection selection = { .nr = 0 };

	for (size_t i = 0; i < ops->nr_rows; i++)
		if (ts_cell_int(ops, i, "wait_ps") > 0)
			ts_best_add(&best, i, ts_cell_int(ops, i, "wait_ps"));
	for (size_t i = 0; i < TS_MIN(best.nr, MAX_NAMED); i++) {
		const struct ts_op_fact *fact =
			ts_doctor_fact(doctor, ts_cell_text(ops, best.row[i], "module"),
				       ts_cell_text(ops, best.row[i], "name"));

		if (fact)
			selection.items[selection.nr++] = fact;
	}
	selection.nr_all = selection.nr;
	ts_doctor_where(doctor, finding, &selection);
}

/* What all cores together spend in collectives: no lateness can cost more. */
static int64_t exposed(const struct ts_table *ops)
{
	int64_t sum = 0;

	for (size_t i = 0; i < ops->nr_rows; i++)
		if (ts_cell_int(ops, i, "matched_count") > 0)
			sum = ts_i64_add(sum, TS_MAX(ts_cell_int(ops, i, "exposed_ps"), 0));
	return sum;
}

static void put_core(struct ts_doctor *doctor, const struct ts_table *cores, size_t at)
{
	TS_PUT(doctor,
	       "It [(of host {name}) ]comes last to {share} of the {count} collectives in which it "
	       "meets others; the others wait {time} for it, {time} of that for it alone. Itself "
	       "it "
	       "waits {time}.",
	       TS_NAME(ts_cell_text(cores, at, "host")),
	       TS_SHARE(ts_cell_number(cores, at, "last_pct") / 100),
	       TS_COUNT(ts_cell_int(cores, at, "matched_count")),
	       TS_TIME(ts_cell_int(cores, at, "cost_ps")),
	       TS_TIME(ts_cell_int(cores, at, "excess_ps")),
	       TS_TIME(ts_cell_int(cores, at, "waited_ps")));
}

static void check_straggler(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *result = ts_results_find(doctor->ctx->results, "collectives");
	const struct ts_table *cores, *ops;
	struct ts_finding *finding;
	int64_t impact_ps;
	size_t at;

	cores = result ? ts_result_find_table(result, "collective_cores") : NULL;
	ops = result ? ts_result_find_table(result, "collectives") : NULL;
	if (!cores || !ops || cores->nr_rows < 2)
		return;
	at = worst_core(cores);
	impact_ps = TS_MIN(ts_cell_int(cores, at, "excess_ps"), exposed(ops));
	if (impact_ps <= 0)
		return;
	finding = ts_doctor_report(doctor, rule, (struct ts_bytes){ NULL, 0 },
				   ts_cell_text(cores, at, "device"), impact_ps);
	finding->title = TS_SENTENCE(doctor, "{name} keeps the other cores waiting at collectives",
				     TS_NAME(ts_cell_text(cores, at, "device")));
	put_core(doctor, cores, at);
	finding->evidence = ts_doctor_text(doctor);
	add_where(doctor, finding, ops);
}

const struct ts_rule ts_rule_straggler = {
	.name = "straggler",
	.confidence = TS_LIKELY,
	.check = check_straggler,
	.ceiling = "what the others wait for this core, and never more than the collectives took",
};
