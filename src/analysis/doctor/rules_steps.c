/*
 * Rules about steps and about the host's part in them: input, compilation in the capture and inside
 * steps, and steps that take longer than the others.
 *
 * Compilation is measured on host threads (those at once count once); what it
 * costs is the core time with nothing to run meanwhile, and that is the impact.
 */
#include "analysis/doctor/doctor.h"

#define MIN_STEPS 4    /* below, a median says little */
#define MIN_COMPILE 0.01 /* of a step's core time: less is the edge of a compilation beside it */

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
	finding->evidence = ts_doctor_text(doctor);
}

static void add_compile_ranges(struct ts_doctor *doctor, int64_t from_ps)
{
	const struct ts_outline *outline = doctor->ctx->outline;

	for (size_t i = 0; outline && i < outline->compile.nr; i++)
		if (outline->compile.items[i].end_ps > from_ps)
			ts_doctor_range(doctor, TS_NONE, outline->compile.items[i].start_ps,
					outline->compile.items[i].end_ps);
}

static void say_compiles(struct ts_doctor *doctor, int64_t count, int64_t host_ps)
{
	char time[TS_UNIT_MAX];

	if (count > 0)
		ts_buf_printf(&doctor->text, "%" PRId64 " compilation%s take%s %s of host time",
			      count, count == 1 ? "" : "s", count == 1 ? "s" : "",
			      ts_fmt_ps(time, host_ps));
	else
		ts_buf_printf(&doctor->text, "Compilation takes %s of host time",
			      ts_fmt_ps(time, host_ps));
}

/* Core time of compilation in the steps after the first, and in how many of them. */
struct recompiles {
	int64_t lost_ps, from_ps;
	size_t nr_steps;
	int64_t first_step; /* the first one with a compilation */
};

static bool waits_for_compile(const struct ts_table *table, size_t row, size_t nr_cores)
{
	double step_ps = (double)TS_MAX(ts_cell_int(table, row, "duration_ps"), 0) *
			 (double)TS_MAX(nr_cores, 1);
	double lost_ps = ts_cell_number(table, row, "compilation_ps");

	return lost_ps > 0 && lost_ps >= MIN_COMPILE * step_ps;
}

static struct recompiles find_recompiles(const struct ts_table *table, size_t nr_cores)
{
	struct recompiles found = { .first_step = -1 };

	for (size_t i = 1; table && i < table->nr_rows; i++) {
		int64_t lost = ts_cell_int(table, i, "compilation_ps");

		if (!waits_for_compile(table, i, nr_cores))
			continue;
		if (found.nr_steps++ == 0) {
			found.first_step = ts_cell_int(table, i, "step");
			found.from_ps = ts_cell_int(table, i, "start_ps");
		}
		found.lost_ps = ts_i64_add(found.lost_ps, lost);
	}
	return found;
}

/* Share of core time lost to compilations that no finding about steps tells of. */
static double compile_share(const struct ts_doctor *doctor)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "per_step");
	struct recompiles told = find_recompiles(table, doctor->nr_cores);

	return ts_doctor_share(doctor, TS_MAX(ts_i64_sub(doctor->bucket_ps[TS_BUCKET_COMPILATION],
							 told.lost_ps), 0));
}

static void check_compilation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_settings *settings = doctor->ctx->settings;
	int64_t host_ps = ts_value_int(ts_result_get(doctor->time, "compilation_host_ps"));
	int64_t count = ts_value_int(ts_result_get(doctor->time, "compilation_count"));
	double share = ts_doctor_bucket_share(doctor, TS_BUCKET_COMPILATION);
	char wait[TS_UNIT_MAX], text[TS_UNIT_MAX];
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (!((double)host_ps > settings->compilation_time_high * (double)TS_PS_PER_MS) &&
	    !(compile_share(doctor) * 100 >= settings->impact_warning))
		return;
	finding = ts_doctor_report(doctor, rule, none, none,
				   doctor->bucket_ps[TS_BUCKET_COMPILATION]);
	if (!finding)
		return;
	if (finding->severity == TS_INFO)
		finding->severity = TS_WARNING;
	say_compiles(doctor, count, TS_MAX(host_ps, 0));
	ts_buf_puts(&doctor->text, " inside the profile");
	finding->title = ts_doctor_text(doctor);
	if (!isnan(share))
		ts_buf_printf(&doctor->text,
			      "Meanwhile the cores have nothing to run for %s (%s of "
			      "core time).",
			      ts_fmt_ps(wait, finding->impact_ps), ts_fmt_share(text, share));
	else
		ts_buf_puts(&doctor->text, "What the cores lost by it is unknown.");
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, INT64_MIN);
}

static void check_recompilation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "per_step");
	struct recompiles found = find_recompiles(table, doctor->nr_cores);
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	char lost[TS_UNIT_MAX];

	if (found.nr_steps == 0)
		return;
	finding = ts_doctor_report(doctor, rule, none, none, found.lost_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%zu step%s after the first wait%s for a compilation",
		      found.nr_steps, found.nr_steps == 1 ? "" : "s",
		      found.nr_steps == 1 ? "s" : "");
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text, "The cores lose %s by it", ts_fmt_ps(lost, found.lost_ps));
	if (found.first_step >= 0)
		ts_buf_printf(&doctor->text, "; the first is step %" PRId64, found.first_step);
	ts_buf_printf(&doctor->text, ". The profile has %zu steps.", table->nr_rows);
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, found.from_ps);
}

/* The lower median of a column; unknown cells count as 0. SCRATCH has room for every row. */
static int64_t median_of(const struct ts_table *table, const char *column, int64_t *scratch)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		scratch[i] = TS_MAX(ts_cell_int(table, i, column), 0);
	qsort(scratch, table->nr_rows, sizeof(*scratch), ts_i64_order);
	return scratch[(table->nr_rows - 1) / 2];
}

struct slow_steps {
	int64_t median_ps, limit_ps;
	int64_t excess_ps; /* of wall time, all slow steps together */
	int64_t longest_ps, longest_step;
	size_t nr;
	int64_t more_ps[TS_NR_BUCKETS]; /* core time over that of median steps */
};

static void find_slow(const struct ts_table *table, struct slow_steps *slow)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		int64_t duration = ts_cell_int(table, i, "duration_ps");

		if (duration <= slow->limit_ps)
			continue;
		slow->nr++;
		slow->excess_ps = ts_i64_add(slow->excess_ps, duration - slow->median_ps);
		if (duration <= slow->longest_ps)
			continue;
		slow->longest_ps = duration;
		slow->longest_step = ts_cell_int(table, i, "step");
	}
}

/* What the slow steps have more of than the median one, bucket by bucket. */
static void explain_slow(const struct ts_table *table, struct slow_steps *slow, int64_t *scratch)
{
	char column[40];

	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		int64_t median;

		snprintf(column, sizeof(column), "%s_ps", ts_bucket_name((enum ts_bucket)b));
		if (ts_table_column(table, column) < 0)
			continue;
		median = median_of(table, column, scratch);
		for (size_t i = 0; i < table->nr_rows; i++)
			if (ts_cell_int(table, i, "duration_ps") > slow->limit_ps)
				slow->more_ps[b] = ts_i64_add(
					slow->more_ps[b],
					TS_MAX(ts_cell_int(table, i, column), 0) - median);
	}
}

/* The largest two or three, until they are too small to explain anything. */
static void say_more_of(struct ts_doctor *doctor, struct slow_steps *slow)
{
	char text[TS_UNIT_MAX];
	int64_t first_ps = 0;

	for (int nr = 0; nr < 3; nr++) {
		int most = 0;

		for (int b = 1; b < TS_NR_BUCKETS; b++)
			if (slow->more_ps[b] > slow->more_ps[most])
				most = b;
		first_ps = TS_MAX(first_ps, slow->more_ps[most]);
		if (slow->more_ps[most] <= first_ps / 10)
			break;
		ts_buf_puts(&doctor->text, nr > 0 ? ", " : " Against the median step the slow ones "
							    "have more time, over all cores, in: ");
		ts_buf_printf(&doctor->text, "%s (%s)", ts_bucket_title((enum ts_bucket)most),
			      ts_fmt_ps(text, slow->more_ps[most]));
		slow->more_ps[most] = 0;
	}
	ts_buf_puts(&doctor->text, first_ps > 0 ? "." : "");
}

static void say_slow(struct ts_doctor *doctor, const struct ts_table *table,
		     struct slow_steps *slow)
{
	char median[TS_UNIT_MAX], longest[TS_UNIT_MAX];

	ts_buf_printf(&doctor->text, "The median of %zu steps is %s; the longest, step %" PRId64
		      ", takes %s.", table->nr_rows, ts_fmt_ps(median, slow->median_ps),
		      slow->longest_step, ts_fmt_ps(longest, slow->longest_ps));
	say_more_of(doctor, slow);
}

static void add_slow_ranges(struct ts_doctor *doctor, const struct ts_table *table,
			    const struct slow_steps *slow)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		int64_t start = ts_cell_int(table, i, "start_ps");
		int64_t duration = ts_cell_int(table, i, "duration_ps");

		if (duration > slow->limit_ps && start >= 0)
			ts_doctor_range(doctor, TS_NONE, start, ts_i64_add(start, duration));
	}
}

static void check_slow_steps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "per_step");
	double limit = 1 + doctor->ctx->settings->slow_step_high / 100;
	struct slow_steps slow = { .nr = 0 };
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	int64_t *scratch;

	if (!table || table->nr_rows < MIN_STEPS)
		return;
	scratch = ts_arena_array(&doctor->scratch, table->nr_rows, sizeof(*scratch));
	doctor->failed |= !scratch;
	if (!scratch)
		return;
	slow.median_ps = median_of(table, "duration_ps", scratch);
	slow.limit_ps = ts_to_ps((double)slow.median_ps * limit);
	find_slow(table, &slow);
	if (slow.nr == 0 || slow.median_ps == 0)
		return;
	explain_slow(table, &slow, scratch);
	finding =
		ts_doctor_report(doctor, rule, none, none,
				 ts_i64_mul(slow.excess_ps, (int64_t)TS_MAX(doctor->nr_cores, 1)));
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%zu of %zu steps take%s over %.0f %% longer than the median",
		      slow.nr, table->nr_rows, slow.nr == 1 ? "s" : "",
		      doctor->ctx->settings->slow_step_high);
	finding->title = ts_doctor_text(doctor);
	say_slow(doctor, table, &slow);
	finding->evidence = ts_doctor_text(doctor);
	add_slow_ranges(doctor, table, &slow);
}

const struct ts_rule ts_rule_input_bound = {
	.name = "input_bound", .confidence = TS_LIKELY, .check = check_input_bound,
};
const struct ts_rule ts_rule_compilation = {
	.name = "compilation", .confidence = TS_CERTAIN, .keep = true, .check = check_compilation,
};
const struct ts_rule ts_rule_recompilation = {
	.name = "recompilation", .confidence = TS_LIKELY, .check = check_recompilation,
};
const struct ts_rule ts_rule_slow_steps = {
	.name = "slow_steps", .confidence = TS_CERTAIN, .check = check_slow_steps,
};
