/*
 * Rules about GPUs and the host that feeds them, from the result "hta": time between kernels that
 * were launched in time, kernels too short for their launch, launches that block, and a rank that
 * the others wait for. That a GPU waits for its host altogether is what the rule idle reports.
 */
#include "analysis/doctor/doctor.h"

static const struct ts_table *table_of(const struct ts_doctor *doctor, const char *name)
{
	const struct ts_result *hta = ts_results_find(doctor->ctx->results, "hta");

	return hta ? ts_result_find_table(hta, name) : NULL;
}

static int64_t field(const struct ts_doctor *doctor, const char *name)
{
	const struct ts_result *hta = ts_results_find(doctor->ctx->results, "hta");

	return hta ? ts_value_int(ts_result_get(hta, name)) : -1;
}

static struct ts_finding *report(struct ts_doctor *doctor, const struct ts_rule *rule,
				 int64_t impact_ps)
{
	struct ts_bytes none = { NULL, 0 };

	return ts_doctor_report(doctor, rule, none, none, impact_ps);
}

static void check_kernel_gaps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_kernel_gaps gaps = ts_kernel_gaps_of(doctor);
	int64_t idle_ps = field(doctor, "exact.idle_ps"), gap_ps = TS_MIN(gaps.kernel_ps, idle_ps);
	double share = ts_doctor_share(doctor, gap_ps);
	char text[TS_UNIT_MAX], mean[TS_UNIT_MAX];
	struct ts_finding *finding;

	if (gap_ps <= 0 || gaps.nr_kernel == 0 ||
	    !(share * 100 > doctor->ctx->settings->kernel_gaps_high))
		return;
	finding = report(doctor, rule, gap_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%s of core time passes from one kernel to the next",
		      ts_fmt_share(text, share));
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text,
		      "%" PRId64
		      " gaps of %s on average between kernels that the host had launched "
		      "in time: what it takes to begin a kernel. %" PRId64 " of %" PRId64
		      " kernels are shorter than %.0f us.",
		      gaps.nr_kernel, ts_fmt_ps(mean, gaps.kernel_ps / gaps.nr_kernel),
		      field(doctor, "short_kernel_count"), field(doctor, "kernel_count"),
		      doctor->ctx->settings->kernel_short);
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_kernel_gaps = {
	.name = "kernel_gaps",
	.confidence = TS_LIKELY,
	.check = check_kernel_gaps,
	.ceiling = "the gaps of each GPU's busiest stream, and what the GPU is idle at most",
};

/* Launches whose kernel was over sooner than they were. */
static int64_t count_outrun(const struct ts_doctor *doctor)
{
	const struct ts_table *launches = table_of(doctor, "launches");
	int64_t nr = 0;

	for (size_t i = 0; launches && i < launches->nr_rows; i++)
		nr = ts_i64_add(nr, ts_cell_int(launches, i, "short_kernels"));
	return nr;
}

static void check_short_kernels(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	int64_t short_ps = field(doctor, "exact.short_ps");
	double share = ts_doctor_share(doctor, short_ps);
	char time[TS_UNIT_MAX], text[TS_UNIT_MAX];
	struct ts_finding *finding;

	if (short_ps <= 0 || !(share * 100 > doctor->ctx->settings->short_kernels_high))
		return;
	finding = report(doctor, rule, short_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%s of core time in kernels shorter than %.0f us",
		      ts_fmt_share(text, share), doctor->ctx->settings->kernel_short);
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text,
		      "%" PRId64 " of %" PRId64 " kernels, %s in all; %" PRId64
		      " were over sooner than the call that launched them.",
		      field(doctor, "short_kernel_count"), field(doctor, "kernel_count"),
		      ts_fmt_ps(time, short_ps), count_outrun(doctor));
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_short_kernels = {
	.name = "short_kernels",
	.confidence = TS_LIKELY,
	.check = check_short_kernels,
	.ceiling = "all of the time of these kernels, of which some remains when they are joined",
};

/* A queue that grows past the limit is another driver's: it does not block there. */
static bool blocks(const struct ts_doctor *doctor, const struct ts_table *queues, size_t row)
{
	const struct ts_settings *settings = doctor->ctx->settings;

	return ts_cell_number(queues, row, "full_pct") > settings->launch_queue_high &&
	       ts_cell_number(queues, row, "max") <= settings->launch_queue_full + 8;
}

static void check_launch_queue(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *queues = table_of(doctor, "queues");
	struct ts_finding *finding;
	char share[TS_UNIT_MAX];
	size_t most = 0;

	for (size_t i = 1; queues && i < queues->nr_rows; i++)
		if (ts_cell_number(queues, i, "full_pct") >
		    ts_cell_number(queues, most, "full_pct"))
			most = i;
	if (!queues || queues->nr_rows == 0 || !blocks(doctor, queues, most))
		return;
	finding = report(doctor, rule, -1);
	if (!finding)
		return;
	finding->severity = TS_INFO;
	ts_buf_puts(&doctor->text, "Launches block: the queue of ");
	ts_say_name(doctor, ts_cell_text(queues, most, "stream"));
	ts_buf_printf(&doctor->text, " is full for %s of the time",
		      ts_fmt_share(share, ts_cell_number(queues, most, "full_pct") / 100));
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text,
		      "Up to %" PRId64 " launches wait on it (rank %" PRId64
		      "), %.0f over time. The "
		      "host is far ahead of the GPU, which is what bounds this run; a thread that "
		      "launches one more waits until a kernel begins.",
		      ts_cell_int(queues, most, "max"), ts_cell_int(queues, most, "rank"),
		      ts_cell_number(queues, most, "time_mean"));
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_launch_queue = {
	.name = "launch_queue",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_launch_queue,
};

static void say_late(struct ts_doctor *doctor, const struct ts_table *late, size_t row)
{
	char caused[TS_UNIT_MAX], waited[TS_UNIT_MAX];

	ts_buf_printf(&doctor->text,
		      "Of %" PRId64 " collectives it came last to %" PRId64
		      ": its kernels were the shortest, as all end together. The others waited %s "
		      "for it on average, it waited %s for them.",
		      ts_cell_int(late, row, "collectives"), ts_cell_int(late, row, "last_count"),
		      ts_fmt_ps(caused, ts_cell_int(late, row, "caused_ps")),
		      ts_fmt_ps(waited, ts_cell_int(late, row, "waited_ps")));
}

/* What the last but one did not cause as well, on every rank but the late one itself. */
static void check_late_rank(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *late = table_of(doctor, "stragglers");
	struct ts_finding *finding;
	char share[TS_UNIT_MAX];
	int64_t lost_ps;
	size_t most = 0;

	for (size_t i = 1; late && i < late->nr_rows; i++)
		if (ts_cell_int(late, i, "excess_ps") > ts_cell_int(late, most, "excess_ps"))
			most = i;
	if (!late || late->nr_rows < 2)
		return;
	lost_ps = ts_i64_mul(ts_cell_int(late, most, "excess_ps"), (int64_t)late->nr_rows - 1);
	if (!(ts_doctor_share(doctor, lost_ps) * 100 > doctor->ctx->settings->late_rank_high))
		return;
	finding = report(doctor, rule, lost_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "Rank %" PRId64 " comes late: %s of core time waits for it",
		      ts_cell_int(late, most, "rank"),
		      ts_fmt_share(share, ts_doctor_share(doctor, lost_ps)));
	finding->title = ts_doctor_text(doctor);
	say_late(doctor, late, most);
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_late_rank = {
	.name = "late_rank",
	.confidence = TS_LIKELY,
	.check = check_late_rank,
	.ceiling = "what the others waited for this rank and for no other",
};
