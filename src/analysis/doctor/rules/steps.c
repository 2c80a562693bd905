/*
 * Rules about steps and about the host's part in them: input, and steps that take longer than the
 * others.
 */
#include "analysis/doctor/doctor.h"

/* The longest gaps under the input pipeline, each on its core. */
static void add_input_ranges(struct ts_doctor *doctor)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "idle_gaps");
	size_t nr = 0;

	for (size_t i = 0; table && i < table->nr_rows && nr < TS_MAX_RANGES; i++) {
		int64_t start_ps = ts_cell_int(table, i, "start_ps");
		int64_t duration_ps = ts_cell_int(table, i, "duration_ps");
		int64_t device = ts_cell_int(table, i, "device_id");

		if (device < 0 ||
		    !ts_bytes_is(ts_cell_text(table, i, "cause"), ts_bucket_name(TS_BUCKET_INPUT)))
			continue;
		ts_doctor_range(doctor, (uint32_t)device, start_ps,
				ts_i64_add(start_ps, duration_ps));
		nr++;
	}
}

static void check_input_bound(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	double share = ts_doctor_bucket_share(doctor, TS_BUCKET_INPUT);
	int64_t input_ps = doctor->bucket_ps[TS_BUCKET_INPUT];
	char text[TS_UNIT_MAX], part[TS_UNIT_MAX], total[TS_UNIT_MAX];
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->input_high))
		return;
	finding = ts_doctor_report(doctor, rule, none, none, input_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%s of core time waits for input", ts_fmt_share(text, share));
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text,
		      "%s of %s core time nothing runs while a host thread is in the "
		      "input pipeline or a transfer to the device.",
		      ts_fmt_ps(part, input_ps), ts_fmt_ps(total, doctor->total_ps));
	ts_say_host_events(doctor, TS_BUCKET_INPUT);
	ts_say_per_step(doctor, TS_BUCKET_INPUT);
	ts_say_cores(doctor, TS_BUCKET_INPUT);
	finding->evidence = ts_doctor_text(doctor);
	add_input_ranges(doctor);
}

#define MAX_TOLD 3

static void say_bucket(struct ts_doctor *doctor, struct ts_bytes name)
{
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (ts_bytes_is(name, ts_bucket_name((enum ts_bucket)b)))
			ts_buf_puts(&doctor->text, ts_bucket_title((enum ts_bucket)b));
}

/* " Step 216 takes 33.9 ms more: compilation, with the host in XLA::TPU run backend." */
static void say_step(struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	struct ts_bytes op = ts_cell_text(table, row, "op");
	struct ts_bytes event = ts_cell_text(table, row, "host_event");
	struct ts_bytes device = ts_cell_text(table, row, "device");
	struct ts_value late = ts_cell(table, row, "is_straggler");
	char more[TS_UNIT_MAX], grown[TS_UNIT_MAX];

	ts_buf_printf(&doctor->text,
		      " Step %" PRId64 " takes %s more: ", ts_cell_int(table, row, "step"),
		      ts_fmt_ps(more, ts_cell_int(table, row, "excess_ps")));
	say_bucket(doctor, ts_cell_text(table, row, "cause"));
	ts_buf_printf(&doctor->text, " grew by %s",
		      ts_fmt_ps(grown, ts_cell_int(table, row, "cause_excess_ps")));
	if (late.type == TS_VALUE_BOOL && late.as.b) {
		ts_buf_puts(&doctor->text, " on ");
		ts_say_name(doctor, device);
		ts_buf_puts(&doctor->text, ", which the other cores wait for");
	} else {
		ts_buf_puts(&doctor->text, " over all cores");
	}
	if (op.n > 0) {
		ts_buf_puts(&doctor->text, ", most in ");
		ts_say_name(doctor, op);
	}
	if (event.n > 0) {
		ts_buf_puts(&doctor->text, ", with the host in ");
		ts_say_name(doctor, event);
	}
	ts_buf_putc(&doctor->text, '.');
}

/* " Every 100th step is slow: 100, 200, 300 and 7 more." */
static void say_period(struct ts_doctor *doctor, const struct ts_table *table)
{
	int64_t period = ts_value_int(ts_result_get(doctor->time, "steps_slow_period"));
	int64_t first = INT64_MAX;
	size_t nr = 0;

	for (size_t i = 0; period > 0 && i < table->nr_rows; i++)
		if (ts_cell_int(table, i, "period") == period) {
			first = TS_MIN(first, ts_cell_int(table, i, "step"));
			nr++;
		}
	if (nr > 0)
		ts_buf_printf(&doctor->text,
			      " They come at a beat: every %" PRId64 " steps from step %" PRId64
			      " on (%zu of them), as checkpoints, evaluation and logging do.",
			      period, first, nr);
}

static int64_t all_excess(const struct ts_table *table)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < table->nr_rows; i++)
		sum_ps = ts_i64_add(sum_ps, TS_MAX(ts_cell_int(table, i, "excess_ps"), 0));
	return sum_ps;
}

static void say_slow(struct ts_doctor *doctor, const struct ts_table *table, size_t nr_steps)
{
	char median[TS_UNIT_MAX], mad[TS_UNIT_MAX];

	ts_buf_printf(
		&doctor->text, "The median of %zu steps is %s, half of them are within %s.",
		nr_steps,
		ts_fmt_ps(median, ts_value_int(ts_result_get(doctor->time, "steps_median_ps"))),
		ts_fmt_ps(mad, ts_value_int(ts_result_get(doctor->time, "steps_mad_ps"))));
	for (size_t i = 0; i < TS_MIN(table->nr_rows, MAX_TOLD); i++)
		say_step(doctor, table, i);
	say_period(doctor, table);
}

static void add_slow_places(struct ts_doctor *doctor, struct ts_finding *finding,
			    const struct ts_table *table)
{
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < table->nr_rows; i++) {
		int64_t start_ps = ts_cell_int(table, i, "start_ps");
		const struct ts_op_fact *fact = ts_doctor_fact(
			doctor, ts_cell_text(table, i, "module"), ts_cell_text(table, i, "op"));

		ts_doctor_range(doctor, TS_NONE, start_ps,
				ts_i64_add(start_ps, ts_cell_int(table, i, "duration_ps")));
		if (i < MAX_TOLD && fact)
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
}

static void check_slow_steps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "steps_outliers");
	const struct ts_table *steps = ts_result_find_table(doctor->time, "per_step");
	int64_t nr = ts_value_int(ts_result_get(doctor->time, "steps_slow_count"));
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (!table || !steps || table->nr_rows == 0)
		return;
	finding = ts_doctor_report(
		doctor, rule, none, none,
		ts_i64_mul(all_excess(table), (int64_t)TS_MAX(doctor->nr_cores, 1)));
	if (!finding)
		return;
	ts_buf_printf(&doctor->text,
		      "%" PRId64 " of %zu steps take%s over %.0f %% longer than the median", nr,
		      steps->nr_rows, nr == 1 ? "s" : "", doctor->ctx->settings->slow_step_high);
	finding->title = ts_doctor_text(doctor);
	say_slow(doctor, table, steps->nr_rows);
	finding->evidence = ts_doctor_text(doctor);
	add_slow_places(doctor, finding, table);
}

const struct ts_rule ts_rule_input_bound = {
	.name = "input_bound",
	.confidence = TS_LIKELY,
	.check = check_input_bound,
	.ceiling = "the core time with nothing to run while the host prepares input",
};
const struct ts_rule ts_rule_slow_steps = {
	.name = "slow_steps",
	.confidence = TS_CERTAIN,
	.check = check_slow_steps,
	.ceiling = "what these steps take longer than the median one, on all cores",
};
