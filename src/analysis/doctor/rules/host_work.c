/* SPDX-License-Identifier: MIT */
/*
 * Rules about what hosts do while devices are there to be used: programs that the CPU runs, and
 * logging or saving in the steps that were captured. The sums are those of facts/capture.h; what the
 * devices lose by it is at most what they idle.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/capture.h"
#include "analysis/facts/timeline.h"
#include "analysis/settings_list.h"

static double host_work_wall_ps(const struct ts_doctor *doctor)
{
	return (double)doctor->total_ps / (double)TS_MAX(doctor->time->nr_cores, 1);
}

static bool is_much(const struct ts_doctor *doctor, int64_t host_ps, double limit_pct)
{
	return doctor->total_ps > 0 &&
	       (double)host_ps / host_work_wall_ps(doctor) * 100 > limit_pct;
}

static int64_t lost_ps(const struct ts_doctor *doctor, int64_t host_ps)
{
	int64_t cores = (int64_t)TS_MAX(doctor->time->nr_cores, 1);

	return TS_MIN(ts_i64_mul(host_ps, cores), TS_MAX(doctor->bucket_ps[TS_BUCKET_IDLE], 0));
}

/* --- cpu_fallback */

static void check_cpu_fallback(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_host_work_sum *cpu = &ts_capture_facts(doctor->ctx)->works[TS_WORK_CPU];
	struct ts_finding *finding;

	if (doctor->ctx->profile->nr_devices == 0 || ts_profile_is_of_cpus(doctor->ctx->profile) ||
	    !is_much(doctor, cpu->total_ps, doctor->ctx->settings->cpu_fallback_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, lost_ps(doctor, cpu->total_ps));
	finding->title =
		TS_SENTENCE(doctor, "{count} program{s} ran on the host's CPU, beside devices",
			    TS_COUNT(cpu->nr));
	finding->evidence =
		TS_SENTENCE(doctor,
			    "XLA's executor for CPUs is at work for {time} of a run of {time}, "
			    "over all threads: "
			    "these programs were placed on the CPU, or their arrays were.",
			    TS_TIME(cpu->total_ps), TS_TIME(ts_to_ps(host_work_wall_ps(doctor))));
}

const struct ts_rule ts_rule_cpu_fallback = {
	.name = "cpu_fallback",
	.confidence = TS_LIKELY,
	.keep = true,
	.check = check_cpu_fallback,
	.classes = TS_CLASS(TS_BUCKET_IDLE),
	.ceiling = "the time of the CPU's executor, and what the devices idle at most",
};

/* --- logging_in_steps */

static void check_logging_in_steps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_capture_facts *capture = ts_capture_facts(doctor->ctx);
	const struct ts_host_work_sum *log = &capture->works[TS_WORK_LOG];
	const struct ts_host_work_sum *save = &capture->works[TS_WORK_SAVE];
	int64_t host_ps = ts_i64_add(log->total_ps, save->total_ps);
	struct ts_finding *finding;

	if (!is_much(doctor, host_ps, doctor->ctx->settings->logging_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, lost_ps(doctor, host_ps));
	finding->title = TS_SENTENCE(
		doctor, "The host logs or saves for {time} in the steps that were captured",
		TS_TIME(host_ps));
	finding->evidence =
		TS_SENTENCE(doctor,
			    "[{count} call{s} of loggers take{v} {time}. ][{count} call{s} of code "
			    "that saves take{v} {time}. ]"
			    "They are a part of each figure of these steps.",
			    TS_WHEN(log->nr > 0, TS_COUNT(log->nr)), TS_TIME(log->total_ps),
			    TS_WHEN(save->nr > 0, TS_COUNT(save->nr)), TS_TIME(save->total_ps));
}

const struct ts_rule ts_rule_logging_in_steps = {
	.name = "logging_in_steps",
	.is_rest = true, /* idle says which event the launch waits for */
	.confidence = TS_LIKELY,
	.keep = true,
	.check = check_logging_in_steps,
	.classes = TS_CLASS(TS_BUCKET_IDLE),
	.ceiling = "the time of these calls, and what the devices idle at most",
};

/* --- other_time: of traces, the class Other of the view timeline */

static void check_other_time(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_timeline_facts *timeline = ts_timeline_facts(doctor->ctx);
	double share = timeline->steps_ps > 0
			       ? (double)timeline->other_ps / (double)timeline->steps_ps
			       : NAN;
	struct ts_finding *finding;

	if (doctor->ctx->profile->nr_devices == 0 ||
	    ts_profile_is_of_cpus(doctor->ctx->profile) || /* operators are what it runs */
	    !(share * 100 > doctor->ctx->settings->other_time_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, lost_ps(doctor, timeline->other_ps));
	finding->title =
		TS_SENTENCE(doctor, "{share} of the steps is in code that is not a class of work",
			    TS_SHARE(share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"For {time} of {time} in steps, over all ranks, no kernel, copy, launch, "
		"communication, "
		"data loading or operator runs: Python and other host code is what is left.",
		TS_TIME(timeline->other_ps), TS_TIME(timeline->steps_ps));
}

const struct ts_rule ts_rule_other_time = {
	.name = "other_time",
	.confidence = TS_LIKELY,
	.symptom = true,
	.check = check_other_time,
	.classes = TS_CLASS(TS_BUCKET_IDLE),
	.ceiling = "the time of that class, and what the devices idle at most",
};
