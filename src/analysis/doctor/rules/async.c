/* SPDX-License-Identifier: MIT */
/*
 * The rule about asynchronous copies within a device that the core waits for. The numbers are those
 * of facts/async.h.
 *
 * Copies to and from the host have a rule of their own. What moving compute can give is the lesser
 * of the wait and the compute that does not depend on it.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/async.h"
#include "analysis/settings_list.h"

static void rules_async_add_places(struct ts_doctor *doctor, struct ts_finding *finding,
				   const struct ts_waits *waits)
{
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < waits->nr; i++) {
		const struct ts_async_op *op = waits->items[i];
		const struct ts_op_fact *fact =
			ts_doctor_fact(doctor, op->module, op->done.n > 0 ? op->done : op->name);

		if (fact)
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
}

static void check_exposed_async(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_waits waits = ts_waits_find(doctor, false);
	double share = ts_doctor_share(doctor, waits.exposed_ps);
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->async_exposed_high))
		return;
	finding = ts_doctor_report_run(doctor, rule,
				       waits.coverable_ps < 0
					       ? waits.exposed_ps
					       : TS_MIN(waits.exposed_ps, waits.coverable_ps));
	finding->title =
		TS_SENTENCE(doctor, "{share} of device time waits for copies within the device",
			    TS_SHARE(share));
	TS_PUT(doctor,
	       "The cores wait {core}; {core} more are hidden behind compute. [Compute that does "
	       "not depend on them could cover {core} at most. ]Most in ",
	       TS_CORE(waits.exposed_ps), TS_CORE(waits.hidden_ps), TS_CORE(waits.coverable_ps));
	ts_put_waits(doctor, &waits);
	finding->evidence = ts_doctor_text(doctor);
	rules_async_add_places(doctor, finding, &waits);
}

const struct ts_rule ts_rule_exposed_async = {
	.name = "exposed_async",
	.confidence = TS_LIKELY,
	.check = check_exposed_async,
	.classes = TS_CLASS(TS_BUCKET_MEMORY_WAIT),
};
