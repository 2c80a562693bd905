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
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->input_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, input_ps);
	finding->title =
		TS_SENTENCE(doctor, "{share} of core time waits for input", TS_SHARE(share));
	TS_PUT(doctor,
	       "{time} of {time} core time nothing runs while a host thread is in the input "
	       "pipeline or a transfer to the device.",
	       TS_TIME(input_ps), TS_TIME(doctor->total_ps));
	ts_put_host_events(doctor, TS_BUCKET_INPUT);
	ts_put_per_step(doctor, TS_BUCKET_INPUT);
	ts_put_cores(doctor, TS_BUCKET_INPUT);
	finding->evidence = ts_doctor_text(doctor);
	add_input_ranges(doctor);
}

#define MAX_SHOWN 3

static void put_bucket(struct ts_doctor *doctor, struct ts_bytes name)
{
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (ts_bytes_is(name, ts_bucket_name((enum ts_bucket)b)))
			ts_put(doctor, ts_bucket_title((enum ts_bucket)b));
}

/* " Step 216 takes 33.9 ms more: compilation, with the host in XLA::TPU run backend." */
static void put_step(struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	struct ts_value late = ts_cell(table, row, "is_straggler");

	TS_PUT(doctor,
	       " Step {count} takes {time} more: ", TS_COUNT(ts_cell_int(table, row, "step")),
	       TS_TIME(ts_cell_int(table, row, "excess_ps")));
	put_bucket(doctor, ts_cell_text(table, row, "cause"));
	TS_PUT(doctor, " grew by {time}", TS_TIME(ts_cell_int(table, row, "cause_excess_ps")));
	if (late.type == TS_VALUE_BOOL && late.as.b)
		TS_PUT(doctor, " on {name}, which the other cores wait for",
		       TS_NAME(ts_cell_text(table, row, "device")));
	else
		ts_put(doctor, " over all cores");
	TS_PUT(doctor, "[, most in {name}][, with the host in {name}].",
	       TS_NAME(ts_cell_text(table, row, "op")),
	       TS_NAME(ts_cell_text(table, row, "host_event")));
}

/* " Every 100th step is slow: 100, 200, 300 and 7 more." */
static void put_period(struct ts_doctor *doctor, const struct ts_table *table)
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
		TS_PUT(doctor,
		       " They come at a beat: every {count} steps from step {count} on ({count} of "
		       "them), as checkpoints, evaluation and logging do.",
		       TS_COUNT(period), TS_COUNT(first), TS_COUNT(nr));
}

static int64_t all_excess(const struct ts_table *table)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < table->nr_rows; i++)
		sum_ps = ts_i64_add(sum_ps, TS_MAX(ts_cell_int(table, i, "excess_ps"), 0));
	return sum_ps;
}

static void put_slow(struct ts_doctor *doctor, const struct ts_table *table, size_t nr_steps)
{
	TS_PUT(doctor, "The median of {count} steps is {time}, half of them are within {time}.",
	       TS_COUNT(nr_steps),
	       TS_TIME(ts_value_int(ts_result_get(doctor->time, "steps_median_ps"))),
	       TS_TIME(ts_value_int(ts_result_get(doctor->time, "steps_mad_ps"))));
	for (size_t i = 0; i < TS_MIN(table->nr_rows, MAX_SHOWN); i++)
		put_step(doctor, table, i);
	put_period(doctor, table);
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
		if (i < MAX_SHOWN && fact)
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
	struct ts_finding *finding;

	if (!table || !steps || table->nr_rows == 0)
		return;
	finding = ts_doctor_report_run(
		doctor, rule, ts_i64_mul(all_excess(table), (int64_t)TS_MAX(doctor->nr_cores, 1)));
	finding->title = TS_SENTENCE(
		doctor, "{count} of {count} steps {text} over {number} % longer than the median",
		TS_COUNT(nr), TS_COUNT(steps->nr_rows), TS_STRING(nr == 1 ? "takes" : "take"),
		TS_NUMBER(doctor->ctx->settings->slow_step_high));
	put_slow(doctor, table, steps->nr_rows);
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
