/*
 * The rule about asynchronous copies within a device that the core waits for, and words about what
 * could cover the collectives. Facts are the view "async".
 *
 * Copies to and from the host have a rule of their own. What moving compute can give is the lesser of
 * the wait and the compute that does not depend on it.
 */
#include "analysis/doctor/doctor.h"

#define MAX_NAMED 3

static const struct ts_table *transfers(const struct ts_doctor *doctor)
{
	const struct ts_result *result = ts_results_find(doctor->ctx->results, "async");

	return result ? ts_result_find_table(result, "ops") : NULL;
}

static bool is_true(const struct ts_table *table, size_t row, const char *column)
{
	struct ts_value cell = ts_table_cell(table, row, ts_table_column(table, column));

	return cell.type == TS_VALUE_BOOL && cell.as.b;
}

static bool is_collective(const struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	int64_t op = ts_cell_int(table, row, "op_index");

	return op >= 0 && (uint64_t)op < doctor->ctx->profile->nr_ops &&
	       doctor->ctx->profile->ops[op].kind == TS_OP_COLLECTIVE;
}

/* The waits of one sort: rows come the most exposed first. */
struct waits {
	size_t row[MAX_NAMED], nr, nr_all;
	int64_t exposed_ps, hidden_ps, coverable_ps; /* coverable -1: no module says */
};

static struct waits find_waits(const struct ts_doctor *doctor, const struct ts_table *table,
			       bool collectives)
{
	struct waits waits = { .coverable_ps = -1 };

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		int64_t coverable_ps = ts_cell_int(table, i, "coverable_ps");

		if (is_collective(doctor, table, i) != collectives ||
		    is_true(table, i, "is_host") || ts_cell_int(table, i, "exposed_ps") <= 0)
			continue;
		if (waits.nr < MAX_NAMED)
			waits.row[waits.nr++] = i;
		waits.nr_all++;
		waits.exposed_ps =
			ts_i64_add(waits.exposed_ps, ts_cell_int(table, i, "exposed_ps"));
		waits.hidden_ps = ts_i64_add(waits.hidden_ps, ts_cell_int(table, i, "hidden_ps"));
		if (coverable_ps >= 0)
			waits.coverable_ps =
				ts_i64_add(TS_MAX(waits.coverable_ps, 0), coverable_ps);
	}
	return waits;
}

/* "copy-start.2 (88.0 s, 47 % hidden; fusion.3 could run meanwhile)" */
static void say_wait(struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	struct ts_bytes could = ts_cell_text(table, row, "could_hide");
	char time[TS_UNIT_MAX], share[TS_UNIT_MAX];

	ts_say_name(doctor, ts_cell_text(table, row, "name"));
	ts_buf_printf(&doctor->text, " (%s, %s hidden",
		      ts_fmt_ps(time, ts_cell_int(table, row, "exposed_ps")),
		      ts_fmt_share(share, ts_cell_number(table, row, "hidden_pct") / 100));
	if (could.n > 0) {
		ts_buf_puts(&doctor->text, "; ");
		ts_say_name(doctor, could);
		ts_buf_puts(&doctor->text, " could run meanwhile");
	}
	ts_buf_putc(&doctor->text, ')');
}

static void say_waits(struct ts_doctor *doctor, const struct ts_table *table,
		      const struct waits *waits)
{
	for (size_t i = 0; i < waits->nr; i++) {
		ts_buf_puts(&doctor->text, i > 0 ? ", " : "");
		say_wait(doctor, table, waits->row[i]);
	}
	if (waits->nr_all > waits->nr)
		ts_buf_printf(&doctor->text, " and %zu more", waits->nr_all - waits->nr);
	ts_buf_putc(&doctor->text, '.');
}

void ts_say_coverable(struct ts_doctor *doctor)
{
	const struct ts_table *table = transfers(doctor);
	struct waits waits = find_waits(doctor, table, true);
	char time[TS_UNIT_MAX];

	if (waits.coverable_ps < 0)
		return;
	ts_buf_printf(&doctor->text,
		      " By the compiled schedule, compute that does not depend on them could cover "
		      "%s of it at most: ",
		      ts_fmt_ps(time, waits.coverable_ps));
	say_waits(doctor, table, &waits);
}

static void add_places(struct ts_doctor *doctor, struct ts_finding *finding,
		       const struct ts_table *table, const struct waits *waits)
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
	const struct ts_table *table = transfers(doctor);
	struct waits waits = find_waits(doctor, table, false);
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
	say_waits(doctor, table, &waits);
	finding->evidence = ts_doctor_text(doctor);
	add_places(doctor, finding, table, &waits);
}

const struct ts_rule ts_rule_exposed_async = {
	.name = "exposed_async",
	.confidence = TS_LIKELY,
	.check = check_exposed_async,
};
