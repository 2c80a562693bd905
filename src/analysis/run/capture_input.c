/* SPDX-License-Identifier: MIT */
/*
 * Causes for doubt in what the files hold: messages, damage, times that cannot be, windows that do not overlap, what was not recorded,
 * and figures above what the chip can do.
 */
#include "analysis/run/capture_checks.h"

#include <inttypes.h>

#include "base/units.h"
#include "result/impossible.h"

#define MAX_NAME	80    /* bytes of an op's name */
#define MAX_LISTED	3     /* messages, damages */
#define TRACE_EVENTS	1000000 /* that JAX puts into a trace: convert_xplane_to_trace_events.cc of XLA */
#define HLO_MISSING_MIN 0.01	  /* of the time of ops */
#define OVERLAP_GOOD	0.9 /* share of a window of one host that all other hosts recorded too */
#define OVERLAP_USABLE	0.5

static void put_messages(struct capture_report *report, const struct ts_bytes *items, size_t nr,
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

void ts_capture_check_messages(struct capture_report *report)
{
	size_t nr_errors = 0, nr_warnings = 0, nr_listed = 0;
	bool dropped = false;

	for (size_t i = 0; i < report->ctx->profile->nr_hosts && ts_capture_was_captured(report);
	     i++) {
		const struct ts_host *host = &report->ctx->profile->hosts[i];

		put_messages(report, host->errors, host->nr_errors, &nr_listed, &dropped);
		put_messages(report, host->warnings, host->nr_warnings, &nr_listed, &dropped);
		nr_errors += host->nr_errors;
		nr_warnings += host->nr_warnings;
	}
	if (nr_errors + nr_warnings == 0)
		return;
	dropped |= nr_errors > 0;
	ts_capture_add(report, "profiler_messages", dropped ? TS_WARNING : TS_INFO,
		       dropped ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
		       ts_result_text(report->result,
				      "The profiler itself reported %zu error%s and %zu warning%s",
				      nr_errors, capture_plural(nr_errors), nr_warnings,
				      capture_plural(nr_warnings)));
}

/* Of damage, or of events whose times cannot be: what the profile notes. */
struct capture_noted {
	size_t nr;
	uint64_t nr_events;
};

/* Lists the first few of them. */
static struct capture_noted put_noted(struct capture_report *report, bool of_times)
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

void ts_capture_check_damage(struct capture_report *report)
{
	struct capture_noted noted = put_noted(report, false);
	bool minor = !ts_profile_is_damaged(report->ctx->profile);

	if (noted.nr == 0)
		return;
	ts_capture_add(
		report, "damaged_input", minor ? TS_INFO : TS_WARNING,
		minor ? TS_CAPTURE_USABLE : TS_CAPTURE_MISLEADING,
		ts_result_text(
			report->result,
			"Part of the input could not be read (%zu place%s): the numbers miss it",
			noted.nr, capture_plural(noted.nr)));
}

/* Events that were left out, or cut, as their times cannot be. */
void ts_capture_check_impossible_times(struct capture_report *report)
{
	struct capture_noted noted = put_noted(report, true);

	if (noted.nr == 0)
		return;
	ts_capture_add(report, "impossible_times", TS_WARNING, TS_CAPTURE_USABLE,
		       ts_result_text(report->result,
				      "%" PRIu64 " event%s a time that cannot be: left out, "
				      "or cut at what is known",
				      noted.nr_events, noted.nr_events == 1 ? " has" : "s have"));
}

static uint64_t capture_input_count_events(const struct ts_profile *profile, size_t host)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->planes[profile->lines[i].plane].host == host)
			nr += profile->lines[i].nr_events;
	return nr;
}

/* Texts that are read, and that viewers refuse. */
void ts_capture_check_strict(struct capture_report *report)
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
	ts_capture_add(report, "not_strict_json", TS_WARNING, TS_CAPTURE_USABLE,
		       ts_result_text(report->result,
				      "%zu trace%s not valid JSON: Chrome, Perfetto and "
				      "json.load refuse %s",
				      nr, nr == 1 ? " is" : "s are", nr == 1 ? "it" : "them"));
}

/* A trace that was read in the place of an empty xplane. It is cut in time where it has as many events as it may. */
void ts_capture_check_stand_in(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	size_t nr = 0, nr_full = 0, first = 0;

	for (size_t i = profile->nr_hosts; i-- > 0;) {
		if (profile->hosts[i].stands_for.n == 0)
			continue;
		nr++;
		nr_full += capture_input_count_events(profile, i) >= TRACE_EVENTS;
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
	ts_capture_add(
		report, "trace_for_xplane", TS_WARNING,
		nr_full > 0 ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
		ts_result_text(report->result,
			       "The xplane of %zu host%s is empty: the trace beside it was read",
			       nr, capture_plural(nr)));
}

/* A host's time on the clock that it shares with others, where that is known. */
static int64_t aligned(const struct capture_report *report, uint32_t host, int64_t t_ps)
{
	const struct ts_collectives_facts *facts = ts_collectives_facts(report->ctx);

	return host < facts->nr_clocks ? ts_host_clock_align(&facts->clocks[host], t_ps) : t_ps;
}

/* From the first to the last thing that any device of a host ran; false: none did. */
static bool hull_of(const struct capture_report *report, uint32_t host, int64_t *start_ps,
		    int64_t *end_ps)
{
	const struct ts_profile *profile = report->ctx->profile;

	*start_ps = INT64_MAX;
	*end_ps = INT64_MIN;
	for (size_t i = 0; i < profile->nr_devices; i++) {
		const struct capture_device *device = &report->sum->devices[i];

		if (profile->devices[i].host != host || !capture_has_run(device))
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
static double overlap_of(const struct capture_report *report)
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

void ts_capture_check_windows(struct capture_report *report)
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
	ts_capture_add(report, "host_windows_differ", bad ? TS_WARNING : TS_INFO,
		       bad ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
		       TS_LIT("The hosts of this session were not captured at the same time"));
}

void ts_capture_check_unused_devices(struct capture_report *report)
{
	size_t nr = report->ctx->profile->nr_devices;

	if (report->nr_ran == 0 || report->nr_ran == nr)
		return;
	ts_buf_puts(&report->text, "They count in no share of this report.");
	ts_capture_add(report, "unused_devices", TS_INFO, TS_CAPTURE_USABLE,
		       ts_result_text(report->result, "%zu of %zu devices ran nothing",
				      nr - report->nr_ran, nr));
}

void ts_capture_check_host_tracing(struct capture_report *report)
{
	if (report->nr_ran == 0 || !ts_capture_was_captured(report))
		return;
	for (size_t i = 0; i < report->ctx->profile->nr_hosts; i++)
		if (report->sum->hosts[i].nr_events > 0)
			return;
	ts_buf_puts(
		&report->text,
		"What the devices waited for on the host (input, compilation, transfers) cannot "
		"be told; such time counts as idle.");
	ts_capture_add(report, "host_tracing_off", TS_INFO, TS_CAPTURE_USABLE,
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

void ts_capture_check_hlo(struct capture_report *report)
{
	double share = share_without_module(report->ctx);
	char part[TS_UNIT_MAX];

	if (isnan(share) || share < HLO_MISSING_MIN)
		return;
	ts_buf_puts(&report->text,
		    "Without them fusion, padding and the shapes of products are not "
		    "known.");
	if (share > 1 - HLO_MISSING_MIN)
		ts_capture_add(report, "no_hlo", TS_INFO, TS_CAPTURE_USABLE,
			       TS_LIT("The profile has no compiled modules"));
	else
		ts_capture_add(
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

static void capture_input_put_impossible(struct capture_report *report, const struct impossible *of)
{
	struct ts_bytes cause = ts_op_flops_cause(of->worst).n > 0 ? ts_op_flops_cause(of->worst)
								   : ts_op_hbm_cause(of->worst);

	ts_buf_printf(&report->text, "%.*s: %.*s.",
		      TS_ARG(ts_bytes_cut(of->worst->name, 0, MAX_NAME)), TS_ARG(cause));
	if (of->nr > 1)
		ts_buf_printf(&report->text, " And %zu more.", of->nr - 1);
}

/* Of a step that did not run no figure was measured, so it is the prediction that is too good. */
void ts_capture_check_impossible(struct capture_report *report)
{
	struct impossible of = find_impossible(ts_ops_facts(report->ctx));
	bool much = of.flops > TS_IMPOSSIBLE_PART * of.all_flops ||
		    of.hbm_bytes > TS_IMPOSSIBLE_PART * of.all_hbm_bytes;
	const char *are = of.nr == 1 ? " is" : "s are";

	if (of.nr == 0)
		return;
	capture_input_put_impossible(report, &of);
	if (!ts_capture_was_captured(report))
		ts_capture_add(
			report, "predicted_rate", TS_INFO, TS_CAPTURE_GOOD,
			ts_result_text(report->result,
				       "%zu op%s predicted faster than the chip's peaks allow",
				       of.nr, are));
	else
		ts_capture_add(
			report, "impossible_rate", much ? TS_WARNING : TS_INFO,
			much ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
			ts_result_text(
				report->result,
				"%zu op%s above what the chip can do: work and time contradict "
				"each other",
				of.nr, are));
}
