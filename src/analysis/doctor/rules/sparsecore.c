/* The rule about work that SparseCores do while the TensorCores wait for it. Facts are the view
 * "sparsecore". */
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
static void say_offload(struct ts_doctor *doctor, const struct ts_table *offloads, size_t row)
{
	char wait[TS_UNIT_MAX], estimate[TS_UNIT_MAX];

	ts_say_name(doctor, ts_cell_text(offloads, row, "op"));
	ts_buf_printf(&doctor->text, ": %s waited",
		      ts_fmt_ps(wait, ts_cell_int(offloads, row, "exposed_wait_ps")));
	ts_say_executions(doctor, ts_cell_int(offloads, row, "executions"));
	ts_buf_printf(&doctor->text, ", where a TensorCore would take %s (linked by ",
		      ts_fmt_ps(estimate, ts_cell_int(offloads, row, "tensorcore_estimate_ps")));
	ts_buf_put(&doctor->text, ts_cell_text(offloads, row, "linked_by"));
	ts_buf_putc(&doctor->text, ')');
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
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	int64_t loss_ps, exposed_ps;
	struct ts_best best;
	char text[TS_UNIT_MAX];

	if (!offloads)
		return;
	best = largest_losses(offloads, &loss_ps, &exposed_ps);
	if (best.nr == 0)
		return;
	finding = ts_doctor_report(doctor, rule, none, none, TS_MIN(loss_ps, exposed_ps));
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "Offload to SparseCores costs %s more than it saves",
		      ts_fmt_ps(text, loss_ps));
	finding->title = ts_doctor_text(doctor);
	for (size_t i = 0; i < TS_MIN(best.nr, MAX_NAMED); i++) {
		ts_buf_puts(&doctor->text, i > 0 ? "; " : "");
		say_offload(doctor, offloads, best.row[i]);
	}
	ts_buf_putc(&doctor->text, '.');
	finding->evidence = ts_doctor_text(doctor);
	add_places(doctor, finding, offloads, &best);
}

const struct ts_rule ts_rule_sparsecore_offload = {
	.name = "sparsecore_offload",
	.confidence = TS_POSSIBLE,
	.check = check_sparsecore_offload,
	.ceiling = "what is waited for, less what the work takes on a TensorCore at its peaks",
};
