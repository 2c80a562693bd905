/* SPDX-License-Identifier: MIT */
/* The rule about work that SparseCores do while the TensorCores wait for it. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/sparsecore.h"

#define MAX_NAMED 3

static struct ts_best largest_losses(const struct ts_sparsecore_facts *facts, int64_t *loss_ps,
				     int64_t *exposed_ps)
{
	struct ts_best best = { .nr = 0 };

	*loss_ps = *exposed_ps = 0;
	for (size_t i = 0; i < facts->nr_offloads; i++) {
		const struct ts_offload *offload = &facts->offloads[i];

		if (offload->loss_ps <= 0)
			continue;
		ts_best_add(&best, i, offload->loss_ps);
		*loss_ps = ts_i64_add(*loss_ps, offload->loss_ps);
		*exposed_ps = ts_i64_add(*exposed_ps, TS_MAX(offload->exposed_ps, 0));
	}
	return best;
}

/* "call-start.3 waits 3.0 ms, on the TensorCore it would take 1.0 ms (linked by stats, ...)" */
static void put_offload(struct ts_doctor *doctor, const struct ts_offload *offload)
{
	TS_PUT(doctor,
	       "{name}: {core} waited in {count} execution{s}, where a TensorCore would take "
	       "{core} (linked by {text})",
	       TS_NAME(offload->name), TS_CORE(offload->exposed_ps), TS_COUNT(offload->executions),
	       TS_CORE(offload->estimate_ps), TS_STRING(offload->linked_by));
}

static void rules_sparsecore_add_places(struct ts_doctor *doctor, struct ts_finding *finding,
					const struct ts_sparsecore_facts *facts,
					const struct ts_best *best)
{
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < best->nr; i++) {
		const struct ts_offload *offload = &facts->offloads[best->row[i]];
		const struct ts_op_fact *fact =
			ts_doctor_fact(doctor, offload->module, offload->done);

		if (fact)
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
}

static void check_sparsecore_offload(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_sparsecore_facts *facts = ts_sparsecore_facts(doctor->ctx);
	int64_t loss_ps, exposed_ps;
	struct ts_best best = largest_losses(facts, &loss_ps, &exposed_ps);
	struct ts_finding *finding;

	if (best.nr == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, TS_MIN(loss_ps, exposed_ps));
	finding->title = TS_SENTENCE(
		doctor, "Offload to SparseCores costs {core} more than it saves", TS_CORE(loss_ps));
	for (size_t i = 0; i < TS_MIN(best.nr, MAX_NAMED); i++) {
		ts_put(doctor, i > 0 ? "; " : "");
		put_offload(doctor, &facts->offloads[best.row[i]]);
	}
	ts_put(doctor, ".");
	finding->root.kind = "op";
	finding->root.op = facts->offloads[best.row[0]].name;
	finding->evidence = ts_doctor_text(doctor);
	for (size_t i = 0; i < facts->nr_offloads; i++)
		if (facts->offloads[i].loss_ps > 0)
			ts_doctor_claim(doctor, ts_doctor_fact(doctor, facts->offloads[i].module,
							       facts->offloads[i].done));
	rules_sparsecore_add_places(doctor, finding, facts, &best);
}

const struct ts_rule ts_rule_sparsecore_offload = {
	.name = "sparsecore_offload",
	.confidence = TS_POSSIBLE,
	.check = check_sparsecore_offload,
	.ceiling = "what is waited for, less what the work takes on a TensorCore at its peaks",
};
