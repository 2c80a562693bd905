/* SPDX-License-Identifier: MIT */
/*
 * Causes for doubt in what ran: devices that ran nothing, runs on a CPU, compilation and warm-up alone, kernels that were lost, and
 * work that goes on behind the capture's end.
 */
#include "analysis/run/capture_checks.h"
#include "analysis/run/capture_seen.h"

#include <inttypes.h>

#include "analysis/settings_list.h"
#include "base/units.h"

#define MAX_NAME	80    /* bytes of an op's name */
#define NEAR_END	10000 /* of the window: a device busy this near to its end was cut off */
#define QUIET_END	20    /* of the window: calls for so long, and nothing ran: it was cut */
#define MANY_LOST	20  /* one launch of so many without its kernel: figures of devices mislead */
#define FEW_LOST	100 /* of more one is nothing to speak of */
#define EARLY_PS	(10 * TS_PS_PER_US) /* but this is */

/* Less those of an annotation, so that an annotated profile says the same. */
static size_t capture_ran_count_planes(const struct ts_profile *profile)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_planes; i++)
		nr += profile->planes[i].kind != TS_PLANE_OURS;
	return nr;
}

static void put_inventory(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	size_t nr_planes = capture_ran_count_planes(profile);

	ts_buf_printf(&report->text,
		      "The input has %zu host%s, %zu plane%s, %zu device plane%s and %zu compiled "
		      "module%s.",
		      profile->nr_hosts, capture_plural(profile->nr_hosts), nr_planes,
		      capture_plural(nr_planes), profile->nr_devices,
		      capture_plural(profile->nr_devices), profile->nr_modules,
		      capture_plural(profile->nr_modules));
}

void ts_capture_check_annotation(struct capture_report *report)
{
	if (capture_ran_count_planes(report->ctx->profile) > 0)
		return;
	put_inventory(report);
	ts_capture_add(report, "only_annotation", TS_CRITICAL, TS_CAPTURE_EMPTY,
		       TS_LIT("This file holds TPUsight's own annotation and no profile"));
}

static bool any_host(const struct capture_report *report, bool cpu)
{
	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++)
		if (cpu ? report->sum->hosts[i].ran_on_cpu : report->sum->hosts[i].ran_on_tpu)
			return true;
	return false;
}

/* Did PyTorch's operators run, and nothing was asked of a device? Gives how many. */
static uint64_t nr_cpu_operators(const struct capture_report *report)
{
	uint64_t nr = 0, ts_capture_nr_calls = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++) {
		nr += report->sum->hosts[i].nr_operators;
		ts_capture_nr_calls += report->sum->hosts[i].nr_runtime_calls;
	}
	return ts_capture_nr_calls == 0 ? nr : 0;
}

/* What says that another device was meant; empty: nothing does. */
static struct ts_bytes meant_device(const struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		if (profile->hosts[i].meant.n > 0)
			return profile->hosts[i].meant;
	return any_host(report, false) ? TS_LIT("calls of the TPU's runtime")
				       : (struct ts_bytes){ NULL, 0 };
}

/* A run on a CPU is a run like any other, unless something says that it was to be another. */
static void add_ran_on_cpu(struct capture_report *report, enum ts_capture_verdict verdict)
{
	struct ts_bytes meant = meant_device(report);

	if (meant.n == 0) {
		ts_capture_add(report, "ran_on_cpu", TS_INFO, verdict,
			       TS_LIT("CPU run: no TPU or GPU is in this profile"));
		return;
	}
	ts_buf_printf(&report->text, " The profile has %.*s.", TS_ARG(meant));
	ts_capture_add(report, "ran_on_cpu", TS_WARNING, TS_CAPTURE_MISLEADING,
		       TS_LIT("The job ran on the CPU, and another device was meant"));
}

static bool check_ran_on_cpu(struct capture_report *report)
{
	uint64_t nr_operators = nr_cpu_operators(report);

	if (any_host(report, true))
		ts_buf_puts(&report->text,
			    "XLA's executor for CPUs was at work, and no device was.");
	else if (nr_operators > 0)
		ts_buf_printf(&report->text,
			      "%" PRIu64 " operator%s ran on host threads, and no call of a "
			      "device's runtime was recorded.",
			      nr_operators, capture_plural(nr_operators));
	else
		return false;
	add_ran_on_cpu(report, TS_CAPTURE_USABLE);
	return true;
}

void ts_capture_check_cpus(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;

	if (!ts_profile_is_of_cpus(profile) || report->nr_ran == 0)
		return;
	ts_buf_puts(&report->text,
		    "Times, steps and FLOP/s are measured as on any device. The peak rates of a "
		    "CPU are not known, so that no share of a peak and no roofline is given.");
	add_ran_on_cpu(report, TS_CAPTURE_GOOD);
}

void ts_capture_check_no_device(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct capture_unread unread = ts_capture_unread(profile);

	if (profile->nr_devices > 0 || capture_ran_count_planes(profile) == 0 ||
	    report->pairs.nr_lost > 0)
		return;
	if (unread.nr_events > 0) {
		ts_capture_put_unread(&report->text, profile);
		ts_capture_add(report, "not_read", TS_CRITICAL, TS_CAPTURE_EMPTY,
			       ts_result_text(report->result,
					      "No device is known in this profile, and %" PRIu64
					      " event%s of it %s not read",
					      unread.nr_events, capture_plural(unread.nr_events),
					      unread.nr_events == 1 ? "is" : "are"));
		return;
	}
	if (check_ran_on_cpu(report))
		return;
	put_inventory(report);
	if (any_host(report, false))
		ts_buf_puts(&report->text, " The host called the TPU's runtime, so a TPU was "
					   "there: only its trace is missing.");
	ts_capture_add(report, "no_device", TS_CRITICAL, TS_CAPTURE_EMPTY,
		       TS_LIT("No TPU or GPU is in this profile"));
}

/* Of all hosts together. */
struct capture_pairs ts_capture_pairs_of(const struct capture_report *report)
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

void ts_capture_check_lost_kernels(struct capture_report *report)
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
		      capture_plural(pairs->nr_kernels), ts_fmt_ps(from, pairs->lost_from_ps),
		      ts_fmt_ps(until, pairs->lost_until_ps));
	ts_capture_add(report, "kernels_lost", all || many ? TS_CRITICAL : TS_WARNING,
		       all    ? TS_CAPTURE_EMPTY
		       : many ? TS_CAPTURE_MISLEADING
			      : TS_CAPTURE_USABLE,
		       ts_result_text(report->result,
				      "%s%" PRIu64 " of %" PRIu64 " launches have no kernel in the "
				      "profile: their records were lost",
				      pairs->is_sample ? "About " : "", pairs->nr_lost,
				      pairs->nr_launches));
}

void ts_capture_check_early_kernels(struct capture_report *report)
{
	const struct capture_pairs *pairs = &report->pairs;
	char time[TS_UNIT_MAX];

	if (pairs->nr_early == 0 ||
	    (pairs->nr_early * FEW_LOST < pairs->nr_paired && pairs->early_ps < EARLY_PS))
		return;
	ts_buf_puts(&report->text,
		    "The clocks of host and device differ: what a device waited for, "
		    "and how long kernels are queued, is wrong by as much.");
	ts_capture_add(report, "kernels_early", TS_WARNING, TS_CAPTURE_USABLE,
		       ts_result_text(report->result,
				      "%s%" PRIu64 " of %" PRIu64 " kernels begin before their "
				      "launch, by up to %s",
				      pairs->is_sample ? "About " : "", pairs->nr_early,
				      pairs->nr_paired, ts_fmt_ps(time, pairs->early_ps)));
}

uint64_t ts_capture_nr_calls(const struct capture_report *report)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++)
		nr += report->sum->hosts[i].nr_calls;
	return nr;
}

static int64_t compile_ps(const struct capture_report *report)
{
	return report->ctx->outline ? report->ctx->outline->compile_ps : 0;
}

/* Nothing was captured of a step that did not run (run/predict.h): advice on how would be wrong. */
bool ts_capture_was_captured(const struct capture_report *report)
{
	return ts_profile_predicted(report->ctx->profile).n == 0;
}

/* Those that are read are what the capture was made for. */
static void check_read_counters(struct capture_report *report,
				const struct capture_counters *counters)
{
	uint64_t nr = ts_u64_add(counters->nr_ended, counters->nr_sampled);

	ts_buf_printf(&report->text,
		      "%" PRIu64 " counter%s at the end of the capture and %" PRIu64
		      " sample%s of counters over time",
		      counters->nr_ended, capture_plural(counters->nr_ended), counters->nr_sampled,
		      capture_plural(counters->nr_sampled));
	if (counters->chip.n > 0)
		ts_buf_printf(&report->text, ", of %.*s",
			      TS_ARG(ts_bytes_cut(counters->chip, 0, MAX_NAME)));
	ts_buf_puts(&report->text, ": --view counters shows them. No op has a time.");
	ts_capture_add(report, "counters_only", TS_INFO, TS_CAPTURE_USABLE,
		       ts_result_text(report->result,
				      "The profile holds %" PRIu64
				      " value%s of the devices' counters, and no ops",
				      nr, capture_plural(nr)));
}

/* Counters of a device whose ops were not recorded. */
void ts_capture_check_counters(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr = ts_capture_unread(profile).nr_counters;
	struct capture_counters counters = ts_capture_counters(profile);

	if (profile->nr_devices == 0 || report->nr_ran > 0)
		return;
	if (counters.nr_ended > 0 || counters.nr_sampled > 0)
		check_read_counters(report, &counters);
	if (nr == 0)
		return;
	ts_capture_put_unread(&report->text, profile);
	ts_buf_puts(&report->text, " Their values are not read, and no kernel or op has a time.");
	ts_capture_add(report, "counters_only", TS_WARNING, TS_CAPTURE_EMPTY,
		       ts_result_text(report->result,
				      "The profile has %" PRIu64
				      " event%s of the devices' counters, and no times",
				      nr, capture_plural(nr)));
}

/* Beside devices that are read: what is there besides, and is not. */
void ts_capture_check_not_read(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr = ts_capture_unread(profile).nr_events;

	if (report->nr_ran == 0 || nr == 0 || !ts_capture_was_captured(report))
		return;
	ts_capture_put_unread(&report->text, profile);
	ts_capture_add(report, "not_read", TS_INFO, TS_CAPTURE_GOOD,
		       ts_result_text(report->result,
				      "%" PRIu64 " event%s %s of a kind that is not read", nr,
				      capture_plural(nr), nr == 1 ? "is" : "are"));
}

void ts_capture_check_other_device(struct capture_report *report)
{
	struct ts_bytes word = ts_capture_other_device(report->ctx->profile);

	if (word.n == 0 || report->nr_ran == 0)
		return;
	ts_buf_puts(&report->text,
		    "Times, streams, copies and communication are read. Their peak rates are "
		    "not known, so that no share of a peak and no roofline is given.");
	ts_capture_add(report, "other_device", TS_INFO, TS_CAPTURE_GOOD,
		       ts_result_text(report->result,
				      "The devices are %.*s: they are read as streams of "
				      "kernels",
				      TS_ARG(ts_bytes_cut(word, 0, MAX_NAME))));
}

void ts_capture_check_nothing_ran(struct capture_report *report)
{
	struct capture_counters counters = ts_capture_counters(report->ctx->profile);

	if (counters.nr_ended > 0 || counters.nr_sampled > 0)
		return;
	if (report->ctx->profile->nr_devices == 0 || report->nr_ran > 0 || compile_ps(report) > 0 ||
	    ts_capture_nr_calls(report) > 0 ||
	    ts_capture_unread(report->ctx->profile).nr_events > 0)
		return;
	put_inventory(report);
	ts_capture_add(report, "device_ran_nothing", TS_CRITICAL, TS_CAPTURE_EMPTY,
		       TS_LIT("The devices ran nothing while the profile was taken"));
}

/* Of core time; NaN: no device ran. */
static double compilation_share(const struct capture_report *report)
{
	const struct ts_time_facts *time = ts_time_facts(report->ctx);

	return time->nr_cores == 0
		       ? NAN
		       : (double)time->bucket_ps[TS_BUCKET_COMPILATION] / (double)time->total_ps;
}

/* Compilation before the second step: later ones are what the job does. All of it, without
 * steps. */
static double warm_up_share(const struct capture_report *report)
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

void ts_capture_check_compilation(struct capture_report *report)
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
		ts_capture_add(report, "only_compilation", TS_CRITICAL, TS_CAPTURE_EMPTY,
			       TS_LIT("Only compilation was captured: no device ran anything"));
	else
		ts_capture_add(
			report, "only_compilation", TS_CRITICAL, TS_CAPTURE_MISLEADING,
			ts_result_text(report->result,
				       "Compilation before the second step has %s of the core time "
				       "in this profile",
				       ts_fmt_pct(part, share * 100)));
}

/* A compilation, and no module that ran twice: what ran is what was just compiled. */
void ts_capture_check_warm_up(struct capture_report *report)
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
		      nr_modules, capture_plural(nr_modules));
	ts_capture_add(report, "warm_up_only", TS_WARNING, TS_CAPTURE_MISLEADING,
		       TS_LIT("Only first executions were captured: the warm-up, not the work"));
}

void ts_capture_check_ops_missing(struct capture_report *report)
{
	size_t nr = 0;

	for (size_t i = 0; i < report->ctx->profile->nr_devices; i++)
		nr += report->sum->devices[i].nr_modules > 0 && !report->sum->devices[i].has_ops;
	if (nr == 0 || report->nr_ran == 0)
		return;
	ts_buf_printf(&report->text, "%zu of %zu devices have executions of modules and no op.", nr,
		      report->ctx->profile->nr_devices);
	ts_capture_add(report, "ops_missing", nr == report->nr_ran ? TS_CRITICAL : TS_WARNING,
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

static struct work capture_ran_work_of(const struct capture_report *report, uint32_t host)
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

static void capture_ran_put_calls(struct capture_report *report, const struct work *work)
{
	ts_buf_printf(&report->text,
		      "The host called jitted functions %" PRIu64 " time%s; the device that ran "
		      "most of them ran %" PRIu64 " module%s.",
		      work->host->nr_calls, capture_plural(work->host->nr_calls), work->nr_modules,
		      capture_plural(work->nr_modules));
}

/* The host went on calling, for long, and the device had nothing to show: its trace was full. */
static bool check_cut(struct capture_report *report, const struct work *work)
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
	capture_ran_put_calls(report, work);
	ts_buf_printf(&report->text, " Calls went on for %s after the device's last event.",
		      ts_fmt_ps(time, quiet_ps));
	ts_capture_add(report, "device_trace_cut", TS_CRITICAL, TS_CAPTURE_MISLEADING,
		       TS_LIT("The devices' trace ends before the job does: its buffer was full"));
	return true;
}

static bool check_missing(struct capture_report *report, const struct work *work)
{
	uint64_t missing = work->host->nr_calls - TS_MIN(work->host->nr_calls, work->nr_modules);
	bool nothing = work->last_ps == INT64_MIN;

	if (nothing ? missing == 0 : missing < 2 || missing * 2 <= work->host->nr_calls)
		return false;
	capture_ran_put_calls(report, work);
	ts_capture_add(
		report, "not_blocked", TS_CRITICAL,
		nothing ? TS_CAPTURE_EMPTY : TS_CAPTURE_MISLEADING,
		TS_LIT("The profile ended before the devices did what the host had asked for"));
	return true;
}

static bool check_busy_at_end(struct capture_report *report, const struct work *work)
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
	ts_capture_add(report, "not_blocked", TS_INFO, TS_CAPTURE_USABLE,
		       TS_LIT("The profile stopped mid-step; the last step is incomplete"));
	return true;
}

/* One host is enough: the others have the same cause. */
void ts_capture_check_not_blocked(struct capture_report *report)
{
	for (uint32_t i = 0; i < report->ctx->profile->nr_hosts; i++) {
		struct work work = capture_ran_work_of(report, i);

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
void ts_capture_check_marks(struct capture_report *report)
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
	ts_capture_add(
		report, "not_blocked", TS_CRITICAL, TS_CAPTURE_MISLEADING,
		TS_LIT("Steps are marked around calls, and their work ends after the marks"));
}
