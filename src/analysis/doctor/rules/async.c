/*
 * The rule about asynchronous copies within a device that the core waits for. Facts are the view
 * "async".
 *
 * Copies to and from the host have a rule of their own. What moving compute can give is the lesser
 * of the wait and the compute that does not depend on it.
 */
#include "analysis/doctor/doctor.h"

static void add_places(struct ts_doctor *doctor, struct ts_finding *finding,
		       const struct ts_table *table, const struct ts_waits *waits)
{
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < waits->nr; i++) {
		struct ts_bytes done = ts_cell_text(table, waits->row[i], "done");
		const struct ts_op_fact *fact = ts_doctor_fact(
			doctor, ts_cell_text(table, waits->row[i], "module"),
			done.n > 0 ? done : ts_cell_text(table, waits->row[i], "name"));

		if (fact)
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
}

static void check_exposed_async(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_waits_table(doctor);
	struct ts_waits waits = ts_waits_find(doctor, table, false);
	double share = ts_doctor_share(doctor, waits.exposed_ps);
	char text[TS_UNIT_MAX], hidden[TS_UNIT_MAX], cover[TS_UNIT_MAX];
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->async_exposed_high))
		return;
	finding = ts_doctor_report(doctor, rule, none, none,
				   waits.coverable_ps < 0
					   ? waits.exposed_ps
					   : TS_MIN(waits.exposed_ps, waits.coverable_ps));
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%s of core time waits for copies within the device",
		      ts_fmt_share(text, share));
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text, "The cores wait %s; %s more are hidden behind compute. ",
		      ts_fmt_ps(text, waits.exposed_ps), ts_fmt_ps(hidden, waits.hidden_ps));
	if (waits.coverable_ps >= 0)
		ts_buf_printf(&doctor->text,
			      "Compute that does not depend on them could cover %s at most. ",
			      ts_fmt_ps(cover, waits.coverable_ps));
	ts_buf_puts(&doctor->text, "Most in ");
	ts_say_waits(doctor, table, &waits);
	finding->evidence = ts_doctor_text(doctor);
	add_places(doctor, finding, table, &waits);
}

const struct ts_rule ts_rule_exposed_async = {
	.name = "exposed_async",
	.confidence = TS_LIKELY,
	.check = check_exposed_async,
};
