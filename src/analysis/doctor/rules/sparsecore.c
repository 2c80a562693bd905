/* The rule about work that SparseCores do while the TensorCores wait for it. The numbers
 * are those of the view "sparsecore". */
#include "analysis/doctor/doctor.h"

#define MAX_NAMED 3

static struct ts_best largest_losses(const struct ts_table *offloads, int64_t *loss_ps,
				     int64_t *exposed_ps)
{
	struct ts_best best = { .nr = 0 };

	*loss_ps = *exposed_ps = 0;
	for (size_t i = 0; i < offloads->nr_rows; i++) {
		int64_t ps = ts_cell_int(offloads, i, "loss_ps");

		if (ps <= 0)
			continue;
		ts_best_add(&best, i, ps);
		*loss_ps = ts_i64_add(*loss_ps, ps);
		*exposed_ps = ts_i64_add(*exposed_ps,
					 TS_MAX(ts_cell_int(offloads, i, "exposed_wait_ps"), 0));
	}
	return best;
}

/* "call-start.3 waits 3.0 ms, on the TensorCore it would take 1.0 ms (linked by stats, ...)" */
static void put_offload(struct ts_doctor *doctor, const struct ts_table *offloads, size_t row)
{
	TS_PUT(doctor,
	       "{name}: {time} waited in {count} execution{s}, where a TensorCore would take "
	       "{time} "
	       "(linked by {text})",
	       TS_NAME(ts_cell_text(offloads, row, "op")),
	       TS_TIME(ts_cell_int(offloads, row, "exposed_wait_ps")),
	       TS_COUNT(ts_cell_int(offloads, row, "executions")),
	       TS_TIME(ts_cell_int(offloads, row, "tensorcore_estimate_ps")),
	       TS_TEXT(ts_cell_text(offloads, row, "linked_by")));
}

static void add_places(struct ts_doctor *doctor, struct ts_finding *finding,
		       const struct ts_table *offloads, const struct ts_best *best)
{
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < best->nr; i++) {
		struct ts_bytes module = ts_cell_text(offloads, best->row[i], "module");
		const struct ts_op_fact *fact = ts_doctor_fact(
			doctor, module, ts_cell_text(offloads, best->row[i], "done"));

		if (fact)
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
}

static void check_sparsecore_offload(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *result = ts_results_find(doctor->ctx->results, "sparsecore");
	const struct ts_table *offloads = result ? ts_result_find_table(result, "offloads") : NULL;
	struct ts_finding *finding;
	int64_t loss_ps, exposed_ps;
	struct ts_best best;

	if (!offloads)
		return;
	best = largest_losses(offloads, &loss_ps, &exposed_ps);
	if (best.nr == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, TS_MIN(loss_ps, exposed_ps));
	finding->title = TS_SENTENCE(
		doctor, "Offload to SparseCores costs {time} more than it saves", TS_TIME(loss_ps));
	for (size_t i = 0; i < TS_MIN(best.nr, MAX_NAMED); i++) {
		ts_put(doctor, i > 0 ? "; " : "");
		put_offload(doctor, offloads, best.row[i]);
	}
	ts_put(doctor, ".");
	finding->evidence = ts_doctor_text(doctor);
	add_places(doctor, finding, offloads, &best);
}

const struct ts_rule ts_rule_sparsecore_offload = {
	.name = "sparsecore_offload",
	.confidence = TS_POSSIBLE,
	.check = check_sparsecore_offload,
	.ceiling = "what is waited for, less what the work takes on a TensorCore at its peaks",
};
