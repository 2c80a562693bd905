/* SPDX-License-Identifier: MIT */
/*
 * The causes for doubt, one check each, and the verdict: the worst of them. A check that lacks its
 * numbers reports nothing. Limits that are not settings are named here, with their reason.
 */
#include "analysis/run/capture.h"
#include "analysis/run/capture_seen.h"

#include <inttypes.h>

#include "analysis/kit/advice.h"
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "base/check.h"
#include "base/units.h"
#include "model/trace_class.h"
#include "result/impossible.h"
#include "result/schema/capture.def"

#define MAX_NAME	80    /* bytes of an op's name */
#define MAX_LISTED	3     /* messages, damages */
#define NEAR_END	10000 /* of the window: a device busy this near to its end was cut off */
#define QUIET_END	20    /* of the window: calls for so long, and nothing ran: it was cut */
#define TRACE_EVENTS	1000000 /* that JAX puts into a trace: convert_xplane_to_trace_events.cc of XLA */
#define PROTOBUF_LIMIT	INT32_MAX /* bytes that a viewer's parser takes at most */
#define HLO_MISSING_MIN 0.01	  /* of the time of ops */
#define OVERLAP_GOOD	0.9 /* share of a window of one host that all other hosts recorded too */
#define OVERLAP_USABLE	0.5
#define MAX_EPOCHS	2    /* the first may compile, the second does not */
#define MAX_CAUSES	32
#define MANY_LOST	20  /* one launch of so many without its kernel: figures of devices mislead */
#define FEW_LOST	100 /* of more one is nothing to speak of */
#define EARLY_PS	(10 * TS_PS_PER_US) /* but this is */

static const char *const verdicts[] = {
	[TS_CAPTURE_GOOD] = "good",
	[TS_CAPTURE_USABLE] = "usable",
	[TS_CAPTURE_MISLEADING] = "misleading",
	[TS_CAPTURE_EMPTY] = "empty",
};

struct report {
	const struct capture_state *sum;
	struct capture_pairs pairs;
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_capture_cause causes[MAX_CAUSES];
	size_t nr_causes;
	enum ts_capture_verdict verdict;
	size_t nr_ran; /* devices that ran something */
	struct ts_buf text;
	bool failed;
};

static bool has_run(const struct capture_device *device)
{
	return device->first_ps <= device->last_ps;
}

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static struct ts_bytes capture_causes_take_text(struct report *report)
{
	struct ts_bytes text =
		ts_result_text(report->result, "%.*s", TS_ARG(ts_buf_bytes(&report->text)));

	report->failed |= report->text.failed || !text.p;
	ts_buf_clear(&report->text);
	return text;
}

/* What to do about the cause: analysis/advice/FRAMEWORK/capture/ID.py. */
static const struct ts_advice *capture_causes_advice_of(const struct ts_profile *profile,
							const char *id)
{
	char name[64];

	snprintf(name, sizeof(name), "capture/%s", id);
	return ts_advice_find(ts_framework_of(profile), name);
}

/* The causes that are concluded from what is missing. All others are seen in the profile. */
static enum ts_confidence confidence_of(const char *id)
{
	static const char *const likely[] = { "ran_on_cpu",  "warm_up_only",	 "ops_missing",
					      "not_blocked", "device_trace_cut", "steps_inferred" };

	for (size_t i = 0; i < TS_NELEM(likely); i++)
		if (strcmp(likely[i], id) == 0)
			return TS_LIKELY;
	return TS_CERTAIN;
}

/* The causes that say that something is not there. Of a file that could not be read to its end that is not known. */
static bool needs_whole_input(const char *id)
{
	static const char *const absences[] = {
		"ran_on_cpu",	    "no_device",	  "not_read",
		"counters_only",    "device_ran_nothing", "only_compilation",
		"warm_up_only",	    "ops_missing",	  "not_blocked",
		"device_trace_cut", "unused_devices",	  "host_tracing_off",
		"no_hlo",	    "steps_inferred",	  "steps_missing",
	};

	for (size_t i = 0; i < TS_NELEM(absences); i++)
		if (strcmp(absences[i], id) == 0)
			return true;
	return false;
}

/* Reports a cause; the evidence is what was put into report->text. */
static void capture_causes_add(struct report *report, const char *id, enum ts_severity severity,
			       enum ts_capture_verdict verdict, struct ts_bytes what)
{
	const struct ts_advice *advice = capture_causes_advice_of(report->ctx->profile, id);

	if (ts_profile_is_damaged(report->ctx->profile) && needs_whole_input(id)) {
		ts_buf_clear(&report->text);
		return;
	}
	TS_ASSERT(advice->advice[0] && report->nr_causes < MAX_CAUSES);
	report->causes[report->nr_causes++] = (struct ts_capture_cause){
		.id = id,
		.severity = severity,
		.verdict = verdict,
		.confidence = confidence_of(id),
		.what = what,
		.evidence = capture_causes_take_text(report),
		.fix = ts_bytes_of(advice->advice),
		.code = ts_bytes_of(advice->code),
	};
	report->failed |= !what.p;
	report->verdict = TS_MAX(report->verdict, verdict);
}

/* Less those of an annotation, so that an annotated profile says the same. */
static size_t capture_causes_count_planes(const struct ts_profile *profile)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_planes; i++)
		nr += profile->planes[i].kind != TS_PLANE_OURS;
	return nr;
}

static void put_inventory(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	size_t nr_planes = capture_causes_count_planes(profile);

	ts_buf_printf(&report->text,
		      "The input has %zu host%s, %zu plane%s, %zu device plane%s and %zu compiled "
		      "module%s.",
		      profile->nr_hosts, plural(profile->nr_hosts), nr_planes, plural(nr_planes),
		      profile->nr_devices, plural(profile->nr_devices), profile->nr_modules,
		      plural(profile->nr_modules));
}

static void check_annotation(struct report *report)
{
	if (capture_causes_count_planes(report->ctx->profile) > 0)
		return;
	put_inventory(report);
	capture_causes_add(report, "only_annotation", TS_CRITICAL, TS_CAPTURE_EMPTY,
			   TS_LIT("This file holds TPUsight's own annotation and no profile"));
}

static bool any_host(const struct report *report, bool cpu)
{
	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++)
		if (cpu ? report->sum->hosts[i].ran_on_cpu : report->sum->hosts[i].ran_on_tpu)
			return true;
	return false;
}

/* Did PyTorch's operators run, and nothing was asked of a device? Gives how many. */
static uint64_t nr_cpu_operators(const struct report *report)
{
	uint64_t nr = 0, nr_calls = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++) {
		nr += report->sum->hosts[i].nr_operators;
		nr_calls += report->sum->hosts[i].nr_runtime_calls;
	}
	return nr_calls == 0 ? nr : 0;
}

/* What says that another device was meant; empty: nothing does. */
static struct ts_bytes meant_device(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		if (profile->hosts[i].meant.n > 0)
			return profile->hosts[i].meant;
	return any_host(report, false) ? TS_LIT("calls of the TPU's runtime")
				       : (struct ts_bytes){ NULL, 0 };
}

/* A run on a CPU is a run like any other, unless something says that it was to be another. */
static void add_ran_on_cpu(struct report *report, enum ts_capture_verdict verdict)
{
	struct ts_bytes meant = meant_device(report);

	if (meant.n == 0) {
		capture_causes_add(report, "ran_on_cpu", TS_INFO, verdict,
				   TS_LIT("CPU run: no TPU or GPU is in this profile"));
		return;
	}
	ts_buf_printf(&report->text, " The profile has %.*s.", TS_ARG(meant));
	capture_causes_add(report, "ran_on_cpu", TS_WARNING, TS_CAPTURE_MISLEADING,
			   TS_LIT("The job ran on the CPU, and another device was meant"));
}

static bool check_ran_on_cpu(struct report *report)
{
	uint64_t nr_operators = nr_cpu_operators(report);

	if (any_host(report, true))
		ts_buf_puts(&report->text,
			    "XLA's executor for CPUs was at work, and no device was.");
	else if (nr_operators > 0)
		ts_buf_printf(&report->text,
			      "%" PRIu64 " operator%s ran on host threads, and no call of a "
			      "device's runtime was recorded.",
			      nr_operators, plural(nr_operators));
	else
		return false;
	add_ran_on_cpu(report, TS_CAPTURE_USABLE);
	return true;
}

static void check_cpus(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;

	if (!ts_profile_is_of_cpus(profile) || report->nr_ran == 0)
		return;
	ts_buf_puts(&report->text,
		    "Times, steps and FLOP/s are measured as on any device. The peak rates of a "
		    "CPU are not known, so that no share of a peak and no roofline is given.");
	add_ran_on_cpu(report, TS_CAPTURE_GOOD);
}

static void check_no_device(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct capture_unread unread = ts_capture_unread(profile);

	if (profile->nr_devices > 0 || capture_causes_count_planes(profile) == 0 ||
	    report->pairs.nr_lost > 0)
		return;
	if (unread.nr_events > 0) {
		ts_capture_put_unread(&report->text, profile);
		capture_causes_add(report, "not_read", TS_CRITICAL, TS_CAPTURE_EMPTY,
				   ts_result_text(report->result,
						  "No device is known in this profile, and %" PRIu64
						  " event%s of it %s not read",
						  unread.nr_events, plural(unread.nr_events),
						  unread.nr_events == 1 ? "is" : "are"));
		return;
	}
	if (check_ran_on_cpu(report))
		return;
	put_inventory(report);
	if (any_host(report, false))
		ts_buf_puts(&report->text, " The host called the TPU's runtime, so a TPU was "
					   "there: only its trace is missing.");
	capture_causes_add(report, "no_device", TS_CRITICAL, TS_CAPTURE_EMPTY,
			   TS_LIT("No TPU or GPU is in this profile"));
}

/* Of all hosts together. */
static struct capture_pairs capture_causes_pairs(const struct report *report)
{
	struct capture_pairs all = { .nr_launches = 0 };

	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++) {
		struct capture_host *host = &report->sum->hosts[i];
		struct capture_pairs of = ts_capture_links_pair(&host->launches, &host->kernels);

		if (of.nr_lost > 0 && all.nr_lost == 0) {
			all.lost_from_ps = of.lost_from_ps;
			all.lost_until_ps = of.lost_until_ps;
		}
		all.nr_launches += of.nr_launches;
		all.nr_kernels += of.nr_kernels;
		all.nr_lost += of.nr_lost;
		all.nr_paired += of.nr_paired;
		all.nr_early += of.nr_early;
		all.early_ps = TS_MAX(all.early_ps, of.early_ps);
		all.is_sample |= of.is_sample;
	}
	return all;
}

static void check_lost_kernels(struct report *report)
{
	const struct capture_pairs *pairs = &report->pairs;
	bool all = pairs->nr_kernels == 0;
	bool many = pairs->nr_lost * MANY_LOST >= pairs->nr_launches;
	char from[TS_UNIT_MAX], until[TS_UNIT_MAX];

	if (pairs->nr_lost == 0 || pairs->nr_lost * FEW_LOST < pairs->nr_launches ||
	    ts_capture_unread(report->ctx->profile).nr_counters > 0)
		return; /* in the mode of counters kernels have no records of their own */
	ts_buf_printf(&report->text,
		      "%" PRIu64 " launch%s, %" PRIu64 " kernel%s: what the launches ran was not "
		      "recorded from %s to %s.",
		      pairs->nr_launches, pairs->nr_launches == 1 ? "" : "es", pairs->nr_kernels,
		      plural(pairs->nr_kernels), ts_fmt_ps(from, pairs->lost_from_ps),
		      ts_fmt_ps(until, pairs->lost_until_ps));
	capture_causes_add(report, "kernels_lost", all || many ? TS_CRITICAL : TS_WARNING,
			   all	  ? TS_CAPTURE_EMPTY
			   : many ? TS_CAPTURE_MISLEADING
				  : TS_CAPTURE_USABLE,
			   ts_result_text(report->result,
					  "%s%" PRIu64 " of %" PRIu64
					  " launches have no kernel in the "
					  "profile: their records were lost",
					  pairs->is_sample ? "About " : "", pairs->nr_lost,
					  pairs->nr_launches));
}

static void check_early_kernels(struct report *report)
{
	const struct capture_pairs *pairs = &report->pairs;
	char time[TS_UNIT_MAX];

	if (pairs->nr_early == 0 ||
	    (pairs->nr_early * FEW_LOST < pairs->nr_paired && pairs->early_ps < EARLY_PS))
		return;
	ts_buf_puts(&report->text,
		    "The clocks of host and device differ: what a device waited for, "
		    "and how long kernels are queued, is wrong by as much.");
	capture_causes_add(report, "kernels_early", TS_WARNING, TS_CAPTURE_USABLE,
			   ts_result_text(report->result,
					  "%s%" PRIu64 " of %" PRIu64 " kernels begin before their "
					  "launch, by up to %s",
					  pairs->is_sample ? "About " : "", pairs->nr_early,
					  pairs->nr_paired, ts_fmt_ps(time, pairs->early_ps)));
}

static uint64_t nr_calls(const struct report *report)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++)
		nr += report->sum->hosts[i].nr_calls;
	return nr;
}

static int64_t compile_ps(const struct report *report)
{
	return report->ctx->outline ? report->ctx->outline->compile_ps : 0;
}

/* Nothing was captured of a step that did not run (run/predict.h): advice on how would be wrong. */
static bool was_captured(const struct report *report)
{
	return ts_profile_predicted(report->ctx->profile).n == 0;
}

/* Counters of a device whose ops were not recorded. */
static void check_counters(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr = ts_capture_unread(profile).nr_counters;

	if (profile->nr_devices == 0 || report->nr_ran > 0 || nr == 0)
		return;
	ts_capture_put_unread(&report->text, profile);
	ts_buf_puts(&report->text, " Their values are not read, and no kernel or op has a time.");
	capture_causes_add(report, "counters_only", TS_WARNING, TS_CAPTURE_EMPTY,
			   ts_result_text(report->result,
					  "The profile has %" PRIu64
					  " event%s of the devices' counters, and no times",
					  nr, plural(nr)));
}

/* Beside devices that are read: what is there besides, and is not. */
static void check_not_read(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr = ts_capture_unread(profile).nr_events;

	if (report->nr_ran == 0 || nr == 0 || !was_captured(report))
		return;
	ts_capture_put_unread(&report->text, profile);
	capture_causes_add(report, "not_read", TS_INFO, TS_CAPTURE_GOOD,
			   ts_result_text(report->result,
					  "%" PRIu64 " event%s %s of a kind that is not read", nr,
					  plural(nr), nr == 1 ? "is" : "are"));
}

static void check_other_device(struct report *report)
{
	struct ts_bytes word = ts_capture_other_device(report->ctx->profile);

	if (word.n == 0 || report->nr_ran == 0)
		return;
	ts_buf_puts(&report->text,
		    "Times, streams, copies and communication are read. Their peak rates are "
		    "not known, so that no share of a peak and no roofline is given.");
	capture_causes_add(report, "other_device", TS_INFO, TS_CAPTURE_GOOD,
			   ts_result_text(report->result,
					  "The devices are %.*s: they are read as streams of "
					  "kernels",
					  TS_ARG(ts_bytes_cut(word, 0, MAX_NAME))));
}

static void check_nothing_ran(struct report *report)
{
	if (report->ctx->profile->nr_devices == 0 || report->nr_ran > 0 || compile_ps(report) > 0 ||
	    nr_calls(report) > 0 || ts_capture_unread(report->ctx->profile).nr_events > 0)
		return;
	put_inventory(report);
	capture_causes_add(report, "device_ran_nothing", TS_CRITICAL, TS_CAPTURE_EMPTY,
			   TS_LIT("The devices ran nothing while the profile was taken"));
}

/* Of core time; NaN: no device ran. */
static double compilation_share(const struct report *report)
{
	const struct ts_time_facts *time = ts_time_facts(report->ctx);

	return time->nr_cores == 0
		       ? NAN
		       : (double)time->bucket_ps[TS_BUCKET_COMPILATION] / (double)time->total_ps;
}

/* Compilation before the second step: later ones are what the job does. All of it, without
 * steps. */
static double warm_up_share(const struct report *report)
{
	const struct ts_outline *outline = report->ctx->outline;
	int64_t end_ps = INT64_MAX;
	size_t hint = 0;

	for (uint32_t i = 0; i < outline->steps.nr_devices; i++) {
		const struct ts_device_steps *steps = ts_steps_of(&outline->steps, i);

		if (steps->nr > 1)
			end_ps = TS_MIN(end_ps, steps->items[1].start_ps);
	}
	return (double)ts_spans_covered(&outline->compile, INT64_MIN, end_ps, &hint) /
	       (double)outline->compile_ps;
}

static void capture_causes_check_compilation(struct report *report)
{
	double share = compile_ps(report) > 0 ? warm_up_share(report) : 0;
	char time[TS_UNIT_MAX], part[TS_UNIT_MAX];
	bool alone = report->nr_ran == 0 && !any_host(report, true);

	share *= compilation_share(report);
	if (compile_ps(report) <= 0 ||
	    !(alone || share * 100 >= report->ctx->settings->capture_compilation_high))
		return;
	ts_buf_printf(&report->text, "A compiler was at work for %s.",
		      ts_fmt_ps(time, compile_ps(report)));
	if (alone)
		capture_causes_add(report, "only_compilation", TS_CRITICAL, TS_CAPTURE_EMPTY,
				   TS_LIT("Only compilation was captured: no device ran anything"));
	else
		capture_causes_add(
			report, "only_compilation", TS_CRITICAL, TS_CAPTURE_MISLEADING,
			ts_result_text(report->result,
				       "Compilation before the second step has %s of the core time "
				       "in this profile",
				       ts_fmt_pct(part, share * 100)));
}

/* A compilation, and no module that ran twice: what ran is what was just compiled. */
static void check_warm_up(struct report *report)
{
	uint64_t nr_most = 0, nr_modules = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_devices; i++) {
		nr_most = TS_MAX(nr_most, report->sum->devices[i].nr_most);
		nr_modules = TS_MAX(nr_modules, report->sum->devices[i].nr_modules);
	}
	if (compile_ps(report) <= 0 || nr_most != 1)
		return;
	ts_buf_printf(&report->text,
		      "On no device did a module run twice (%" PRIu64
		      " execution%s), and a compiler "
		      "was at work.",
		      nr_modules, plural(nr_modules));
	capture_causes_add(
		report, "warm_up_only", TS_WARNING, TS_CAPTURE_MISLEADING,
		TS_LIT("Only first executions were captured: the warm-up, not the work"));
}

static void check_ops_missing(struct report *report)
{
	size_t nr = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_devices; i++)
		nr += report->sum->devices[i].nr_modules > 0 && !report->sum->devices[i].has_ops;
	if (nr == 0 || report->nr_ran == 0)
		return;
	ts_buf_printf(&report->text, "%zu of %zu devices have executions of modules and no op.", nr,
		      report->ctx->profile->nr_devices);
	capture_causes_add(report, "ops_missing", nr == report->nr_ran ? TS_CRITICAL : TS_WARNING,
			   nr == report->nr_ran ? TS_CAPTURE_EMPTY : TS_CAPTURE_MISLEADING,
			   TS_LIT("Modules ran, and their ops were not recorded"));
}

/* What one host asked for, and what its devices ran of it. */
struct work {
	const struct capture_host *host;
	bool has_devices, is_gpu;
	bool is_trace;		    /* its window is that of its events */
	uint64_t nr_modules;	    /* of the device that ran most */
	int64_t last_ps;	    /* end of the last op; INT64_MIN: none */
	int64_t window_ps, stop_ps; /* -1: the profile does not say */
};

static struct work capture_causes_work_of(const struct report *report, uint32_t host)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_host *of = &profile->hosts[host];
	struct work work = { .host = &report->sum->hosts[host],
			     .is_trace = of->trace_ps != TS_UNKNOWN,
			     .last_ps = INT64_MIN,
			     .window_ps = -1,
			     .stop_ps = -1 };

	for (size_t i = 0; i < profile->nr_devices; i++) {
		if (profile->devices[i].host != host)
			continue;
		work.has_devices = true;
		work.is_gpu |= profile->devices[i].is_gpu;
		work.nr_modules = TS_MAX(work.nr_modules, report->sum->devices[i].nr_modules);
		work.last_ps = TS_MAX(work.last_ps, report->sum->devices[i].last_ps);
	}
	if (of->start_unix_ns > 0 && of->stop_unix_ns > of->start_unix_ns) {
		work.window_ps = ts_i64_mul(of->stop_unix_ns - of->start_unix_ns, TS_PS_PER_NS);
		work.stop_ps = ts_i64_add(ts_host_lag_ps(profile, of), work.window_ps);
	}
	return work;
}

static uint64_t calls_after(const struct work *work, int64_t ps)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < work->host->nr_kept; i++)
		nr += work->host->call_ps[i] > ps;
	return nr;
}

static void capture_causes_put_calls(struct report *report, const struct work *work)
{
	ts_buf_printf(&report->text,
		      "The host called jitted functions %" PRIu64 " time%s; the device that ran "
		      "most of them ran %" PRIu64 " module%s.",
		      work->host->nr_calls, plural(work->host->nr_calls), work->nr_modules,
		      plural(work->nr_modules));
}

/* The host went on calling, for long, and the device had nothing to show: its trace was full. */
static bool check_cut(struct report *report, const struct work *work)
{
	const struct capture_host *host = work->host;
	uint64_t nr_after = calls_after(work, work->last_ps);
	char time[TS_UNIT_MAX];
	int64_t quiet_ps;

	if (work->window_ps <= 0 || nr_after < 2 || host->nr_calls <= work->nr_modules)
		return false;
	quiet_ps = ts_i64_sub(host->call_ps[host->nr_kept - 1], work->last_ps);
	if (quiet_ps < work->window_ps / QUIET_END)
		return false;
	capture_causes_put_calls(report, work);
	ts_buf_printf(&report->text, " Calls went on for %s after the device's last event.",
		      ts_fmt_ps(time, quiet_ps));
	capture_causes_add(
		report, "device_trace_cut", TS_CRITICAL, TS_CAPTURE_MISLEADING,
		TS_LIT("The devices' trace ends before the job does: its buffer was full"));
	return true;
}

static bool check_missing(struct report *report, const struct work *work)
{
	uint64_t missing = work->host->nr_calls - TS_MIN(work->host->nr_calls, work->nr_modules);
	bool nothing = work->last_ps == INT64_MIN;

	if (nothing ? missing == 0 : missing < 2 || missing * 2 <= work->host->nr_calls)
		return false;
	capture_causes_put_calls(report, work);
	capture_causes_add(
		report, "not_blocked", TS_CRITICAL,
		nothing ? TS_CAPTURE_EMPTY : TS_CAPTURE_MISLEADING,
		TS_LIT("The profile ended before the devices did what the host had asked for"));
	return true;
}

static bool check_busy_at_end(struct report *report, const struct work *work)
{
	char time[TS_UNIT_MAX];
	int64_t gap_ps = ts_i64_sub(work->stop_ps, work->last_ps);

	if (work->is_trace && gap_ps <= 0)
		return false; /* it ends with its last event, whatever that is */
	if (work->window_ps <= 0 || work->last_ps == INT64_MIN ||
	    gap_ps > TS_MAX(work->window_ps / NEAR_END, TS_PS_PER_US))
		return false;
	ts_buf_printf(&report->text, "The last op ended %s before the profile did.",
		      ts_fmt_ps(time, TS_MAX(gap_ps, 0)));
	capture_causes_add(report, "not_blocked", TS_INFO, TS_CAPTURE_USABLE,
			   TS_LIT("The profile stopped mid-step; the last step is incomplete"));
	return true;
}

/* One host is enough: the others have the same cause. */
static void check_not_blocked(struct report *report)
{
	for (uint32_t i = 0; i < report->ctx->profile->nr_hosts; i++) {
		struct work work = capture_causes_work_of(report, i);

		if (!work.has_devices)
			continue;
		if (!work.is_gpu && work.last_ps > INT64_MIN && check_cut(report, &work))
			return;
		if (!work.is_gpu && check_missing(report, &work))
			return;
		if (check_busy_at_end(report, &work))
			return;
	}
}

/* From the first mark's start to the last one's end, over all hosts; false: none was marked. */
static bool find_marks(const struct ts_steps *marked, struct ts_span *hull)
{
	*hull = (struct ts_span){ INT64_MAX, INT64_MIN };
	for (size_t h = 0; h < marked->nr_devices; h++) {
		const struct ts_device_steps *steps = &marked->devices[h];

		if (steps->nr == 0)
			continue;
		hull->start_ps = TS_MIN(hull->start_ps, steps->items[0].start_ps);
		hull->end_ps = TS_MAX(hull->end_ps, steps->items[steps->nr - 1].end_ps);
	}
	return hull->start_ps <= hull->end_ps;
}

/* Where the program's own marks are the steps: they say nothing about work that goes on behind the last one for longer than
 * all of them took. */
static void check_marks(struct report *report)
{
	const struct ts_steps *marked = &report->ctx->outline->host_steps;
	int64_t end_ps = INT64_MIN, behind_ps, marked_ps;
	char behind[TS_UNIT_MAX], all[TS_UNIT_MAX];
	struct ts_span hull;

	if (!ts_profile_is_of_cpus(report->ctx->profile) || !find_marks(marked, &hull))
		return;
	for (size_t i = 0; i < report->ctx->profile->nr_devices; i++)
		end_ps = TS_MAX(end_ps, report->sum->devices[i].last_ps);
	marked_ps = ts_i64_sub(hull.end_ps, hull.start_ps);
	behind_ps = ts_i64_sub(end_ps, hull.end_ps);
	if (end_ps == INT64_MIN || behind_ps <= marked_ps)
		return;
	ts_buf_printf(&report->text,
		      "The %zu marks of %s take %s in all, and ops run for %s behind the last one.",
		      marked->nr_steps, marked->made_of, ts_fmt_ps(all, marked_ps),
		      ts_fmt_ps(behind, behind_ps));
	capture_causes_add(
		report, "not_blocked", TS_CRITICAL, TS_CAPTURE_MISLEADING,
		TS_LIT("Steps are marked around calls, and their work ends after the marks"));
}

static void put_messages(struct report *report, const struct ts_bytes *items, size_t nr,
			 size_t *nr_listed, bool *dropped)
{
	for (size_t i = 0; i < TS_MIN(nr, TS_MAX_MESSAGES); i++) {
		*dropped |= ts_bytes_has(items[i], "drop") || ts_bytes_has(items[i], "overflow");
		if ((*nr_listed)++ >= MAX_LISTED)
			continue;
		ts_buf_puts(&report->text, *nr_listed > 1 ? " " : "");
		ts_buf_printf(&report->text, "\"%.*s\".", TS_ARG(ts_bytes_cut(items[i], 0, 200)));
	}
}

static void check_messages(struct report *report)
{
	size_t nr_errors = 0, nr_warnings = 0, nr_listed = 0;
	bool dropped = false;

	for (size_t i = 0; i < report->ctx->profile->nr_hosts && was_captured(report); i++) {
		const struct ts_host *host = &report->ctx->profile->hosts[i];

		put_messages(report, host->errors, host->nr_errors, &nr_listed, &dropped);
		put_messages(report, host->warnings, host->nr_warnings, &nr_listed, &dropped);
		nr_errors += host->nr_errors;
		nr_warnings += host->nr_warnings;
	}
	if (nr_errors + nr_warnings == 0)
		return;
	dropped |= nr_errors > 0;
	capture_causes_add(
		report, "profiler_messages", dropped ? TS_WARNING : TS_INFO,
		dropped ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
		ts_result_text(report->result,
			       "The profiler itself reported %zu error%s and %zu warning%s",
			       nr_errors, plural(nr_errors), nr_warnings, plural(nr_warnings)));
}

/* Of damage, or of events whose times cannot be: what the profile notes. */
struct capture_noted {
	size_t nr;
	uint64_t nr_events;
};

/* Lists the first few of them. */
static struct capture_noted put_noted(struct report *report, bool of_times)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct capture_noted noted = { 0, 0 };

	for (size_t i = 0; i < profile->nr_damage; i++) {
		const struct ts_damage *damage = &profile->damage[i];

		if ((damage->nr_events > 0) != of_times)
			continue;
		noted.nr_events = ts_u64_add(noted.nr_events, damage->nr_events);
		if (noted.nr++ < MAX_LISTED)
			ts_buf_printf(&report->text, "%s%.*s, byte %" PRIu64 ": %.*s.",
				      noted.nr > 1 ? " " : "", TS_ARG(damage->file), damage->offset,
				      TS_ARG(damage->cause));
	}
	if (noted.nr > MAX_LISTED)
		ts_buf_printf(&report->text, " And %zu more.", noted.nr - MAX_LISTED);
	return noted;
}

static void check_damage(struct report *report)
{
	struct capture_noted noted = put_noted(report, false);
	bool minor = !ts_profile_is_damaged(report->ctx->profile);

	if (noted.nr == 0)
		return;
	capture_causes_add(
		report, "damaged_input", minor ? TS_INFO : TS_WARNING,
		minor ? TS_CAPTURE_USABLE : TS_CAPTURE_MISLEADING,
		ts_result_text(
			report->result,
			"Part of the input could not be read (%zu place%s): the numbers miss it",
			noted.nr, plural(noted.nr)));
}

/* Events that were left out, or cut, as their times cannot be. */
static void check_impossible_times(struct report *report)
{
	struct capture_noted noted = put_noted(report, true);

	if (noted.nr == 0)
		return;
	capture_causes_add(report, "impossible_times", TS_WARNING, TS_CAPTURE_USABLE,
			   ts_result_text(report->result,
					  "%" PRIu64 " event%s a time that cannot be: left out, "
					  "or cut at what is known",
					  noted.nr_events,
					  noted.nr_events == 1 ? " has" : "s have"));
}

static uint64_t capture_causes_count_events(const struct ts_profile *profile, size_t host)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->planes[profile->lines[i].plane].host == host)
			nr += profile->lines[i].nr_events;
	return nr;
}

/* Texts that are read, and that viewers refuse. */
static void check_strict(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++) {
		const struct ts_host *host = &profile->hosts[i];

		if (host->not_strict.n > 0 && nr++ < MAX_LISTED)
			ts_buf_printf(&report->text, "%s%.*s, %.*s.", nr > 1 ? " " : "",
				      TS_ARG(host->file), TS_ARG(host->not_strict));
	}
	if (nr == 0)
		return;
	if (nr > MAX_LISTED)
		ts_buf_printf(&report->text, " And %zu more.", nr - MAX_LISTED);
	capture_causes_add(report, "not_strict_json", TS_WARNING, TS_CAPTURE_USABLE,
			   ts_result_text(report->result,
					  "%zu trace%s not valid JSON: Chrome, Perfetto and "
					  "json.load refuse %s",
					  nr, nr == 1 ? " is" : "s are", nr == 1 ? "it" : "them"));
}

/* A trace that was read in the place of an empty xplane. It is cut in time where it has as many events as it may. */
static void check_stand_in(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	size_t nr = 0, nr_full = 0, first = 0;

	for (size_t i = profile->nr_hosts; i-- > 0;) {
		if (profile->hosts[i].stands_for.n == 0)
			continue;
		nr++;
		nr_full += capture_causes_count_events(profile, i) >= TRACE_EVENTS;
		first = i;
	}
	if (nr == 0)
		return;
	ts_buf_printf(
		&report->text,
		"%.*s has no plane, as profilers leave it where a profile passes 2 GB. A trace "
		"holds 1,000,000 events at most, the earliest%s, and no compiled modules (HLO): "
		"shapes, FLOPs and bytes of ops are unknown.",
		TS_ARG(profile->hosts[first].stands_for),
		nr_full > 0 ? ", and this one is full: later ones are missing" : "");
	capture_causes_add(
		report, "trace_for_xplane", TS_WARNING,
		nr_full > 0 ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
		ts_result_text(report->result,
			       "The xplane of %zu host%s is empty: the trace beside it was read",
			       nr, plural(nr)));
}

/* A host's time on the clock that it shares with others, where that is known. */
static int64_t aligned(const struct report *report, uint32_t host, int64_t t_ps)
{
	const struct ts_collectives_facts *facts = ts_collectives_facts(report->ctx);

	return host < facts->nr_clocks ? ts_host_clock_align(&facts->clocks[host], t_ps) : t_ps;
}

/* From the first to the last thing that any device of a host ran; false: none did. */
static bool hull_of(const struct report *report, uint32_t host, int64_t *start_ps, int64_t *end_ps)
{
	const struct ts_profile *profile = report->ctx->profile;

	*start_ps = INT64_MAX;
	*end_ps = INT64_MIN;
	for (size_t i = 0; i < profile->nr_devices; i++) {
		const struct capture_device *device = &report->sum->devices[i];

		if (profile->devices[i].host != host || !has_run(device))
			continue;
		*start_ps = TS_MIN(*start_ps, device->first_ps);
		*end_ps = TS_MAX(*end_ps, device->last_ps);
	}
	if (*start_ps >= *end_ps)
		return false;
	*start_ps = aligned(report, host, *start_ps);
	*end_ps = aligned(report, host, *end_ps);
	return true;
}

/* What the devices of all hosts were seen at, of the longest that those of one were: 0..1, or
 * NaN. */
static double overlap_of(const struct report *report)
{
	int64_t first = INT64_MIN, last = INT64_MAX, longest = 0, start_ps, end_ps;
	size_t nr = 0;

	for (uint32_t i = 0; i < report->ctx->profile->nr_hosts; i++) {
		if (!hull_of(report, i, &start_ps, &end_ps))
			continue;
		first = TS_MAX(first, start_ps);
		last = TS_MIN(last, end_ps);
		longest = TS_MAX(longest, ts_i64_sub(end_ps, start_ps));
		nr++;
	}
	if (nr < 2)
		return NAN;
	return last <= first ? 0 : (double)(last - first) / (double)longest;
}

static void check_windows(struct report *report)
{
	double overlap = overlap_of(report);
	char share[TS_UNIT_MAX];
	bool bad = overlap < OVERLAP_USABLE;

	if (isnan(overlap) || overlap >= OVERLAP_GOOD)
		return;
	ts_buf_printf(&report->text,
		      "The devices of all hosts are seen together for %s of the longest time that "
		      "those of one are.",
		      ts_fmt_pct(share, overlap * 100));
	capture_causes_add(report, "host_windows_differ", bad ? TS_WARNING : TS_INFO,
			   bad ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
			   TS_LIT("The hosts of this session were not captured at the same time"));
}

static void check_unused_devices(struct report *report)
{
	size_t nr = report->ctx->profile->nr_devices;

	if (report->nr_ran == 0 || report->nr_ran == nr)
		return;
	ts_buf_puts(&report->text, "They count in no share of this report.");
	capture_causes_add(report, "unused_devices", TS_INFO, TS_CAPTURE_USABLE,
			   ts_result_text(report->result, "%zu of %zu devices ran nothing",
					  nr - report->nr_ran, nr));
}

static void check_host_tracing(struct report *report)
{
	if (report->nr_ran == 0 || !was_captured(report))
		return;
	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++)
		if (report->sum->hosts[i].nr_events > 0)
			return;
	ts_buf_puts(
		&report->text,
		"What the devices waited for on the host (input, compilation, transfers) cannot "
		"be told; such time counts as idle.");
	capture_causes_add(report, "host_tracing_off", TS_INFO, TS_CAPTURE_USABLE,
			   TS_LIT("The profile has no host events"));
}

/* Self time of ops whose module the profile does not have, of all that name a program: 0..1. */
static double share_without_module(const struct ts_context *ctx)
{
	const struct ts_ops_facts *ops = ts_ops_facts(ctx);
	double all = 0, without = 0;

	for (size_t i = 0; i < ops->nr; i++) {
		const struct ts_op_fact *fact = &ops->items[i];

		if (fact->op == TS_NONE || !ctx->profile->ops[fact->op].has_program)
			continue;
		all += (double)fact->self_ps;
		without += fact->module_index == TS_NONE ? (double)fact->self_ps : 0;
	}
	return without / all;
}

static void check_hlo(struct report *report)
{
	double share = share_without_module(report->ctx);
	char part[TS_UNIT_MAX];

	if (isnan(share) || share < HLO_MISSING_MIN)
		return;
	ts_buf_puts(&report->text,
		    "Without them fusion, padding and the shapes of products are not "
		    "known.");
	if (share > 1 - HLO_MISSING_MIN)
		capture_causes_add(report, "no_hlo", TS_INFO, TS_CAPTURE_USABLE,
				   TS_LIT("The profile has no compiled modules"));
	else
		capture_causes_add(
			report, "no_hlo", TS_INFO, TS_CAPTURE_USABLE,
			ts_result_text(report->result,
				       "The compiled modules of %s of the ops' time are missing",
				       ts_fmt_pct(part, share * 100)));
}

/* Ops whose work and time contradict the chip. */
struct impossible {
	const struct ts_op_fact *worst; /* the one with the most self time; NULL: there is none */
	size_t nr;
	double flops, all_flops, hbm_bytes, all_hbm_bytes;
};

static struct impossible find_impossible(const struct ts_ops_facts *ops)
{
	struct impossible of = { .worst = NULL };

	for (size_t i = ops->nr; i-- > 0;) { /* the largest self time last */
		const struct ts_op_fact *fact = &ops->items[i];
		double times = (double)fact->occurrences;
		double flops = isnan(fact->flops) ? 0 : fact->flops * times;
		double bytes = isnan(fact->hbm_bytes) ? 0 : fact->hbm_bytes * times;

		of.all_flops += flops;
		of.all_hbm_bytes += bytes;
		if (ts_op_fact_is_possible(fact))
			continue;
		of.flops += ts_op_flops_cause(fact).n > 0 ? flops : 0;
		of.hbm_bytes += ts_op_hbm_cause(fact).n > 0 ? bytes : 0;
		of.worst = fact;
		of.nr++;
	}
	return of;
}

static void capture_causes_put_impossible(struct report *report, const struct impossible *of)
{
	struct ts_bytes cause = ts_op_flops_cause(of->worst).n > 0 ? ts_op_flops_cause(of->worst)
								   : ts_op_hbm_cause(of->worst);

	ts_buf_printf(&report->text, "%.*s: %.*s.",
		      TS_ARG(ts_bytes_cut(of->worst->name, 0, MAX_NAME)), TS_ARG(cause));
	if (of->nr > 1)
		ts_buf_printf(&report->text, " And %zu more.", of->nr - 1);
}

/* Of a step that did not run no figure was measured, so it is the prediction that is too good. */
static void check_impossible(struct report *report)
{
	struct impossible of = find_impossible(ts_ops_facts(report->ctx));
	bool much = of.flops > TS_IMPOSSIBLE_PART * of.all_flops ||
		    of.hbm_bytes > TS_IMPOSSIBLE_PART * of.all_hbm_bytes;
	const char *are = of.nr == 1 ? " is" : "s are";

	if (of.nr == 0)
		return;
	capture_causes_put_impossible(report, &of);
	if (!was_captured(report))
		capture_causes_add(
			report, "predicted_rate", TS_INFO, TS_CAPTURE_GOOD,
			ts_result_text(report->result,
				       "%zu op%s predicted faster than the chip's peaks allow",
				       of.nr, are));
	else
		capture_causes_add(
			report, "impossible_rate", much ? TS_WARNING : TS_INFO,
			much ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
			ts_result_text(
				report->result,
				"%zu op%s above what the chip can do: work and time contradict "
				"each other",
				of.nr, are));
}

static void capture_causes_put_step_source(struct report *report, const struct ts_steps *steps)
{
	if (steps->source == TS_STEPS_NONE) {
		ts_buf_puts(&report->text,
			    "The profile has no step markers and no modules repeat in a pattern.");
		if (report->ctx->outline->host_steps.source == TS_STEPS_MARKED)
			ts_buf_printf(&report->text, " The hosts marked %zu as %s.",
				      report->ctx->outline->host_steps.nr_steps,
				      report->ctx->outline->host_steps.made_of);
		return;
	}
	if (steps->is_range) {
		ts_buf_printf(&report->text,
			      "%zu step%s taken from the ranges %s of the host. The profile has no "
			      "step markers; --step-mark names another range.",
			      steps->nr_steps, steps->nr_steps == 1 ? " is" : "s are",
			      steps->made_of);
		return;
	}
	ts_buf_printf(&report->text,
		      "%zu step%s taken from the executions of %s, each to the start of the next. "
		      "The profile has no step markers.",
		      steps->nr_steps, steps->nr_steps == 1 ? " is" : "s are", steps->made_of);
}

static void capture_causes_check_steps(struct report *report)
{
	const struct ts_outline *outline = report->ctx->outline;

	if (report->nr_ran == 0 || !outline || outline->steps.source == TS_STEPS_MARKED)
		return;
	capture_causes_put_step_source(report, &outline->steps);
	if (outline->steps.source == TS_STEPS_NONE)
		capture_causes_add(report, "steps_inferred", TS_INFO, TS_CAPTURE_USABLE,
				   TS_LIT("No steps are known"));
	else
		capture_causes_add(report, "steps_inferred", TS_INFO, TS_CAPTURE_GOOD,
				   TS_LIT("Steps are inferred, not marked"));
}

static size_t nr_steps_of(const struct ts_outline *outline)
{
	if (!outline)
		return 0;
	return outline->steps.source == TS_STEPS_NONE ? outline->host_steps.nr_steps
						      : outline->steps.nr_steps;
}

static void check_epochs(struct report *report)
{
	const struct ts_outline *outline = report->ctx->outline;
	size_t nr = outline ? outline->scopes.nr_epochs : 0;
	int64_t all_ps = 0;
	char text[TS_UNIT_MAX];

	if (nr <= MAX_EPOCHS)
		return;
	for (size_t i = 0; i < nr; i++)
		all_ps = ts_i64_add(all_ps, ts_i64_sub(outline->scopes.epochs[i].end_ps,
						       outline->scopes.epochs[i].start_ps));
	ts_buf_printf(
		&report->text,
		"They last %s on average; one or two show what an epoch does, and the profile "
		"stays small.",
		ts_fmt_ps(text, all_ps / (int64_t)nr));
	capture_causes_add(report, "too_many_epochs", TS_INFO, TS_CAPTURE_GOOD,
			   ts_result_text(report->result, "%zu epochs are in this profile", nr));
}

/* What of a file its planes have: the lines' bytes, of the plane with the most. */
static void put_largest_plane(struct report *report, uint32_t host)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_plane *largest = NULL;
	char size[TS_UNIT_MAX];
	uint64_t most = 0;

	for (size_t i = 0; i < profile->nr_planes; i++) {
		const struct ts_plane *plane = &profile->planes[i];
		uint64_t nr = 0;

		for (uint32_t k = 0; k < plane->nr_lines && plane->host == host; k++)
			nr += profile->lines[plane->first_line + k].body.n;
		if (nr > most)
			largest = plane;
		most = TS_MAX(most, nr);
	}
	if (!largest)
		return;
	ts_buf_printf(
		&report->text, " The events of %.*s have %s of it%s.",
		TS_ARG(ts_bytes_cut(largest->name, 0, MAX_NAME)), ts_fmt_bytes(size, (double)most),
		largest->kind == TS_PLANE_HOST
			? ": a lower host_tracer_level or python_tracer_level makes it smaller"
			: ": fewer steps make it smaller");
}

/* Ranks of a job whose traces are not among those that were given. One alone is what most people look at. */
static void check_ranks(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	int64_t all = 0;
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++) {
		all = TS_MAX(all, profile->hosts[i].world_size);
		nr += profile->hosts[i].rank >= 0;
	}
	if (nr < 2 || nr != profile->nr_hosts || all <= (int64_t)nr)
		return;
	ts_buf_puts(&report->text, "What the others did and whom they waited for is not known.");
	capture_causes_add(report, "ranks_missing", TS_INFO, TS_CAPTURE_USABLE,
			   ts_result_text(report->result,
					  "%zu of the job's %" PRId64 " ranks are in this profile",
					  nr, all));
}

/* Steps that the host marked and no device has: what is there says nothing about them. The first and the last may
 * reach over the profile's ends. */
static void check_steps_missing(struct report *report)
{
	const struct ts_outline *outline = report->ctx->outline;
	size_t marked, seen;

	if (report->nr_ran == 0 || !outline || outline->steps.source != TS_STEPS_MARKED ||
	    outline->host_steps.source != TS_STEPS_MARKED)
		return;
	marked = outline->host_steps.nr_steps;
	seen = outline->steps.nr_steps;
	if (marked <= seen + 2)
		return;
	ts_buf_printf(
		&report->text,
		"The hosts marked %zu steps as %s, and the devices have %zu. Figures of steps "
		"are those of what was recorded.",
		marked, outline->host_steps.made_of, seen);
	capture_causes_add(report, "steps_missing", TS_WARNING,
			   seen * 2 < marked ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
			   ts_result_text(report->result, "%zu of %zu steps have no device part",
					  marked - seen, marked));
}

static void check_length(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	size_t nr_steps = nr_steps_of(report->ctx->outline);
	char size[TS_UNIT_MAX];

	if ((double)nr_steps > report->ctx->settings->capture_steps_high) {
		ts_buf_printf(&report->text, "More than %g make it longer, not better.",
			      report->ctx->settings->capture_steps_high);
		capture_causes_add(
			report, "too_many_steps", TS_INFO, TS_CAPTURE_GOOD,
			ts_result_text(report->result, "%zu steps are in this profile", nr_steps));
	}
	for (size_t i = 0; i < profile->nr_hosts; i++) {
		if (profile->hosts[i].file_bytes <= PROTOBUF_LIMIT || ts_profile_is_torch(profile))
			continue; /* a trace in JSON is not a protobuf message */
		ts_buf_puts(&report->text, "They take 2 GiB of one message at most.");
		put_largest_plane(report, (uint32_t)i);
		capture_causes_add(
			report, "file_too_large", TS_INFO, TS_CAPTURE_USABLE,
			ts_result_text(report->result, "%.*s has %s: viewers cannot open it",
				       TS_ARG(ts_bytes_cut(profile->hosts[i].file, 0, 200)),
				       ts_fmt_bytes(size, (double)profile->hosts[i].file_bytes)));
		return;
	}
}

/* In the order in which they are reported. */
static void (*const checks[])(struct report *report) = {
	check_annotation,
	check_damage,
	check_lost_kernels,
	check_no_device,
	check_cpus,
	check_counters,
	check_nothing_ran,
	capture_causes_check_compilation,
	check_warm_up,
	check_ops_missing,
	check_not_blocked,
	check_marks,
	check_messages,
	check_impossible_times,
	check_early_kernels,
	check_stand_in,
	check_strict,
	check_windows,
	check_unused_devices,
	check_not_read,
	check_other_device,
	check_host_tracing,
	check_hlo,
	check_impossible,
	capture_causes_check_steps,
	check_steps_missing,
	check_ranks,
	check_length,
	check_epochs,
};

/* Of devices, by their lines of modules; without devices, of the hosts' own executor. -1: devices or a
 * CPU ran something, and the profile does not say what. */
static int64_t nr_executions(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr = 0;
	bool ran = report->nr_ran > 0;

	for (size_t i = 0; i < profile->nr_devices; i++)
		nr += report->sum->devices[i].nr_modules;
	for (size_t i = 0; i < profile->nr_hosts && profile->nr_devices == 0; i++) {
		nr += report->sum->hosts[i].nr_cpu_runs;
		ran |= report->sum->hosts[i].ran_on_cpu;
	}
	return nr == 0 && ran ? TS_UNKNOWN : (int64_t)nr;
}

static void capture_causes_put_fields(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr_events = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		nr_events += report->sum->hosts[i].nr_events;
	TS_SET(report->result, capture, verdict, ts_text(ts_bytes_of(verdicts[report->verdict])));
	TS_SET(report->result, capture, active_device_count, ts_int((int64_t)report->nr_ran));
	TS_SET(report->result, capture, host_event_count, ts_int((int64_t)nr_events));
	TS_SET(report->result, capture, call_count,
	       nr_events > 0 ? ts_int((int64_t)nr_calls(report)) : ts_null());
	TS_SET(report->result, capture, execution_count, ts_int_or_null(nr_executions(report)));
}

#define CAUSE_CELLS(X) \
	X(id, ts_text(ts_bytes_of(cause->id))) \
	X(severity, ts_text(ts_bytes_of(ts_severity_name(cause->severity)))) \
	X(verdict, ts_text(ts_bytes_of(verdicts[cause->verdict]))) \
	X(confidence, ts_text(ts_bytes_of(ts_confidence_name(cause->confidence)))) \
	X(what, ts_text(cause->what)) \
	X(evidence, ts_text_or_null(cause->evidence)) \
	X(fix, ts_text(cause->fix)) \
	X(code, ts_text_or_null(cause->code))

static void put_causes(const struct ts_capture_facts *facts, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, capture_causes);

	for (size_t i = 0; i < facts->nr_causes; i++) {
		const struct ts_capture_cause *cause = &facts->causes[i];

		TS_CELLS(result, table, capture_causes, CAUSE_CELLS);
	}
}

enum ts_status ts_capture_report(const struct capture_state *sum, const struct ts_context *ctx,
				 struct ts_capture_facts *facts, struct ts_result *result,
				 struct ts_error *err)
{
	struct report report = { .sum = sum, .ctx = ctx, .result = result };
	struct ts_capture_cause *causes =
		ts_arena_array(&result->owner->arena, MAX_CAUSES, sizeof(*causes));

	TS_ASSERT(facts && sum->nr_hosts == ctx->profile->nr_hosts);
	for (size_t i = 0; i < ctx->profile->nr_devices; i++)
		report.nr_ran += has_run(&sum->devices[i]);
	report.pairs = capture_causes_pairs(&report);
	for (size_t i = 0; i < TS_NELEM(checks) && !report.failed; i++)
		checks[i](&report);
	ts_buf_release(&report.text);
	if (report.failed || !causes)
		return ts_fail_nomem(err);
	memcpy(causes, report.causes, report.nr_causes * sizeof(*causes));
	*facts = (struct ts_capture_facts){ causes, report.nr_causes, report.verdict,
					    verdicts[report.verdict] };
	for (size_t i = 0; i < sum->nr_hosts; i++)
		for (int w = 0; w < TS_NR_HOST_WORKS; w++) {
			facts->works[w].nr += sum->hosts[i].works[w].nr;
			facts->works[w].total_ps = ts_i64_add(facts->works[w].total_ps,
							      sum->hosts[i].works[w].total_ps);
		}
	put_causes(facts, result);
	ts_capture_put_clocks(ctx, result);
	capture_causes_put_fields(&report);
	return TS_OK;
}
