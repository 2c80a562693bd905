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

static void check_kernel_gaps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_kernel_gaps gaps = ts_kernel_gaps_of(doctor);
	int64_t idle_ps = field(doctor, "exact.idle_ps"), gap_ps = TS_MIN(gaps.kernel_ps, idle_ps);
	double share = ts_doctor_share(doctor, gap_ps);
	struct ts_finding *finding;

	if (gap_ps <= 0 || gaps.nr_kernel == 0 ||
	    !(share * 100 > doctor->ctx->settings->kernel_gaps_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, gap_ps);
	finding->title = TS_SENTENCE(
		doctor, "{share} of core time passes from one kernel to the next", TS_SHARE(share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} gaps of {time} on average between kernels that the host had launched in "
		"time: what it takes to begin a kernel. {count} of {count} kernels are shorter "
		"than {number} us.",
		TS_COUNT(gaps.nr_kernel), TS_TIME(gaps.kernel_ps / gaps.nr_kernel),
		TS_COUNT(field(doctor, "short_kernel_count")),
		TS_COUNT(field(doctor, "kernel_count")),
		TS_NUMBER(doctor->ctx->settings->kernel_short));
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
	struct ts_finding *finding;

	if (short_ps <= 0 || !(share * 100 > doctor->ctx->settings->short_kernels_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, short_ps);
	finding->title =
		TS_SENTENCE(doctor, "{share} of core time in kernels shorter than {number} us",
			    TS_SHARE(share), TS_NUMBER(doctor->ctx->settings->kernel_short));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} of {count} kernels, {time} in all; {count} were over sooner than the call "
		"that launched them.",
		TS_COUNT(field(doctor, "short_kernel_count")),
		TS_COUNT(field(doctor, "kernel_count")), TS_TIME(short_ps),
		TS_COUNT(count_outrun(doctor)));
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
	size_t most = 0;

	for (size_t i = 1; queues && i < queues->nr_rows; i++)
		if (ts_cell_number(queues, i, "full_pct") >
		    ts_cell_number(queues, most, "full_pct"))
			most = i;
	if (!queues || queues->nr_rows == 0 || !blocks(doctor, queues, most))
		return;
	finding = ts_doctor_report_run(doctor, rule, -1);
	finding->severity = TS_INFO;
	finding->title = TS_SENTENCE(
		doctor, "Launches block: the queue of {name} is full for {share} of the time",
		TS_NAME(ts_cell_text(queues, most, "stream")),
		TS_SHARE(ts_cell_number(queues, most, "full_pct") / 100));
	finding->evidence = TS_SENTENCE(
		doctor,
		"Up to {count} launches wait on it (rank {count}), {number} over time. The host is "
		"far ahead of the GPU, which is what bounds this run; a thread that launches one "
		"more waits until a kernel begins.",
		TS_COUNT(ts_cell_int(queues, most, "max")),
		TS_COUNT(ts_cell_int(queues, most, "rank")),
		TS_NUMBER(ts_cell_number(queues, most, "time_mean")));
}

const struct ts_rule ts_rule_launch_queue = {
	.name = "launch_queue",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_launch_queue,
};

static void put_late(struct ts_doctor *doctor, const struct ts_table *late, size_t row)
{
	TS_PUT(doctor,
	       "Of {count} collectives it came last to {count}: its kernels were the shortest, as "
	       "all end together. The others waited {time} for it on average, it waited {time} for "
	       "them.",
	       TS_COUNT(ts_cell_int(late, row, "collectives")),
	       TS_COUNT(ts_cell_int(late, row, "last_count")),
	       TS_TIME(ts_cell_int(late, row, "caused_ps")),
	       TS_TIME(ts_cell_int(late, row, "waited_ps")));
}

/* What every other rank waited for the latest rank alone: the time that it would have waited for
 * the second latest one anyway is not counted. */
static void check_late_rank(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *late = table_of(doctor, "stragglers");
	struct ts_finding *finding;
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
	finding = ts_doctor_report_run(doctor, rule, lost_ps);
	finding->title =
		TS_SENTENCE(doctor, "Rank {count} comes late: {share} of core time waits for it",
			    TS_COUNT(ts_cell_int(late, most, "rank")),
			    TS_SHARE(ts_doctor_share(doctor, lost_ps)));
	put_late(doctor, late, most);
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_late_rank = {
	.name = "late_rank",
	.confidence = TS_LIKELY,
	.check = check_late_rank,
	.ceiling = "what the others waited for this rank and for no other",
};
