/* SPDX-License-Identifier: MIT */
/*
 * Rules about GPUs and the host that feeds them, from the facts of hta: time between kernels that
 * were launched in time, kernels too short for their launch, launches that block, and a rank that
 * the others wait for. That a GPU waits for its host altogether is what the rule idle reports.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/hta.h"
#include "analysis/settings_list.h"

static void check_kernel_gaps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_hta_figures *all = &ts_hta_facts(doctor->ctx)->all;
	struct ts_kernel_gaps gaps = ts_kernel_gaps_of(doctor);
	int64_t gap_ps = TS_MIN(gaps.kernel_ps, all->idle_ps);
	double share = ts_doctor_share(doctor, gap_ps);
	struct ts_finding *finding;

	if (gap_ps <= 0 || gaps.nr_kernel == 0 ||
	    !(share * 100 > doctor->ctx->settings->kernel_gaps_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, gap_ps);
	finding->title = TS_SENTENCE(doctor, "Gaps between kernels take {share} of device time",
				     TS_SHARE(share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} gaps of {time} on average between kernels that the host had launched in "
		"time: what it takes to begin a kernel. {count} of {count} kernels are shorter "
		"than {number} us.",
		TS_COUNT(gaps.nr_kernel), TS_TIME(gaps.kernel_ps / gaps.nr_kernel),
		TS_COUNT(all->nr_short), TS_COUNT(all->nr_kernels),
		TS_ROUNDED(doctor->ctx->settings->kernel_short));
}

const struct ts_rule ts_rule_kernel_gaps = {
	.name = "kernel_gaps",
	.confidence = TS_LIKELY,
	.check = check_kernel_gaps,
	.classes = TS_CLASS(TS_BUCKET_IDLE) | TS_CLASS(TS_BUCKET_LAUNCH),
	.ceiling = "the gaps of each GPU's busiest stream, and what the GPU is idle at most",
};

static void check_short_kernels(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_hta_facts *hta = ts_hta_facts(doctor->ctx);
	int64_t short_ps = hta->all.short_ps;
	double share = ts_doctor_share(doctor, short_ps);
	struct ts_finding *finding;

	if (short_ps <= 0 || !(share * 100 > doctor->ctx->settings->short_kernels_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, short_ps);
	finding->title = TS_SENTENCE(
		doctor, "Kernels shorter than {number} \u00b5s take {share} of device time",
		TS_ROUNDED(doctor->ctx->settings->kernel_short), TS_SHARE(share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} of {count} kernels, {core} in all; {count} were over sooner than the call "
		"that launched them.",
		TS_COUNT(hta->all.nr_short), TS_COUNT(hta->all.nr_kernels), TS_CORE(short_ps),
		TS_COUNT(hta->nr_outrun));
}

const struct ts_rule ts_rule_short_kernels = {
	.name = "short_kernels",
	.symptom = true,
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_short_kernels,
	.classes = TS_CLASSES_OF_WORK,
	.ceiling = "all of the time of these kernels, of which some remains when they are joined",
};

/* Of the time; NaN: unknown. */
static double full_share(const struct ts_hta_queue *queue)
{
	return queue->span_ps > 0 ? (double)queue->full_ps / (double)queue->span_ps : NAN;
}

/* A queue that grows past the limit is another driver's: it does not block there. */
static bool blocks(const struct ts_doctor *doctor, const struct ts_hta_queue *queue)
{
	const struct ts_settings *settings = doctor->ctx->settings;

	return 100 * full_share(queue) > settings->launch_queue_high &&
	       (double)queue->max <= settings->launch_queue_full + 8;
}

/* Or NULL. */
static const struct ts_hta_stream *fullest_stream(const struct ts_hta_facts *hta)
{
	const struct ts_hta_stream *most = NULL;

	for (size_t i = 0; i < hta->nr_streams; i++)
		if (hta->streams[i].queue.span_ps > 0 &&
		    (!most || full_share(&hta->streams[i].queue) > full_share(&most->queue)))
			most = &hta->streams[i];
	return most;
}

static void check_launch_queue(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_hta_facts *hta = ts_hta_facts(doctor->ctx);
	const struct ts_hta_stream *stream = fullest_stream(hta);
	struct ts_finding *finding;

	if (!stream || !blocks(doctor, &stream->queue))
		return;
	finding = ts_doctor_report_run(doctor, rule, -1);
	finding->title = TS_SENTENCE(
		doctor, "Launches block: the queue of {name} is full for {share} of the time",
		TS_NAME(stream->name), TS_SHARE(full_share(&stream->queue)));
	finding->evidence = TS_SENTENCE(
		doctor,
		"Up to {count} launches wait on it (rank {count}), {number} over time. The host is "
		"far ahead of the GPU, which is what bounds this run; a thread that launches one "
		"more waits until a kernel begins.",
		TS_COUNT(stream->queue.max), TS_COUNT(hta->ranks[stream->rank].number),
		TS_ROUNDED(stream->queue.time_mean));
}

const struct ts_rule ts_rule_launch_queue = {
	.name = "launch_queue",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_launch_queue,
};

/* The rank that the others wait for the most, or NULL: fewer than two are compared. */
static const struct ts_hta_rank *latest_rank(const struct ts_hta_facts *hta, int64_t *nr_compared)
{
	const struct ts_hta_rank *most = NULL;

	*nr_compared = 0;
	for (size_t i = 0; i < hta->nr_ranks; i++) {
		const struct ts_hta_rank *rank = &hta->ranks[i];

		if (rank->arrival.nr == 0)
			continue;
		++*nr_compared;
		if (!most || rank->arrival.excess_ps > most->arrival.excess_ps)
			most = rank;
	}
	return *nr_compared < 2 ? NULL : most;
}

/* As early as the others. */
static struct ts_cure rank_cure(struct ts_doctor *doctor, const struct ts_hta_rank *late)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	uint32_t *devices =
		ts_arena_array(&doctor->scratch, profile->nr_devices + 1, sizeof(*devices));
	struct ts_cure cure = { .kind = TS_CURE_RANK, .devices = devices };

	doctor->failed |= !devices;
	for (uint32_t i = 0; devices && i < profile->nr_devices; i++)
		if (late->device == TS_NONE ? profile->devices[i].host == late->host
					    : i == late->device)
			devices[cure.nr_devices++] = i;
	return cure;
}

/* What every other rank waited for the latest rank alone: the time that it would have waited for
 * the second latest one anyway is not counted. */
static void check_late_rank(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	int64_t nr_compared, lost_ps;
	const struct ts_hta_rank *late = latest_rank(ts_hta_facts(doctor->ctx), &nr_compared);
	struct ts_finding *finding;

	if (!late || (doctor->roots && doctor->roots->nr_devices > 0)) /* straggler tells it */
		return;
	lost_ps = ts_i64_mul(late->arrival.excess_ps, nr_compared - 1);
	if (!(ts_doctor_share(doctor, lost_ps) * 100 > doctor->ctx->settings->late_rank_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, lost_ps);
	ts_doctor_cures(doctor, rank_cure(doctor, late));
	finding->title = TS_SENTENCE(
		doctor, "Rank {count} is a straggler: {share} of device time waits for it",
		TS_COUNT(late->number), TS_SHARE(ts_doctor_share(doctor, lost_ps)));
	finding->evidence = TS_SENTENCE(
		doctor,
		"Of {count} collectives it came last to {count}: its kernels were the shortest, as "
		"all end together. The others waited {time} for it on average, it waited {time} "
		"for them.",
		TS_COUNT(late->arrival.nr), TS_COUNT(late->arrival.nr_last),
		TS_TIME(late->arrival.caused_ps), TS_TIME(late->arrival.waited_ps));
}

const struct ts_rule ts_rule_late_rank = {
	.name = "late_rank",
	.confidence = TS_LIKELY,
	.symptom = true,
	.check = check_late_rank,
	.classes = TS_CLASS(TS_BUCKET_COMMUNICATION) | TS_CLASS(TS_BUCKET_COMPILATION) |
		   TS_CLASS(TS_BUCKET_INPUT) | TS_CLASS(TS_BUCKET_LAUNCH) |
		   TS_CLASS(TS_BUCKET_IDLE),
	.ceiling = "what the others waited for this rank and for no other",
};
