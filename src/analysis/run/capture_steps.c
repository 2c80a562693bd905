/* SPDX-License-Identifier: MIT */
/* Causes for doubt in steps, ranks and length. */
#include "analysis/run/capture_checks.h"

#include <inttypes.h>

#include "analysis/facts/collectives.h"
#include "analysis/settings_list.h"
#include "base/units.h"
#include "model/trace_class.h"

#define MAX_NAME	80    /* bytes of an op's name */
#define PROTOBUF_LIMIT	INT32_MAX /* bytes that a viewer's parser takes at most */
#define MAX_EPOCHS	2    /* the first may compile, the second does not */

static void capture_steps_put_step_source(struct capture_report *report,
					  const struct ts_steps *steps)
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

void ts_capture_check_steps(struct capture_report *report)
{
	const struct ts_outline *outline = report->ctx->outline;

	if (report->nr_ran == 0 || !outline || outline->steps.source == TS_STEPS_MARKED)
		return;
	capture_steps_put_step_source(report, &outline->steps);
	if (outline->steps.source == TS_STEPS_NONE)
		ts_capture_add(report, "steps_inferred", TS_INFO, TS_CAPTURE_USABLE,
			       TS_LIT("No steps are known"));
	else
		ts_capture_add(report, "steps_inferred", TS_INFO, TS_CAPTURE_GOOD,
			       TS_LIT("Steps are inferred, not marked"));
}

static size_t nr_steps_of(const struct ts_outline *outline)
{
	if (!outline)
		return 0;
	return outline->steps.source == TS_STEPS_NONE ? outline->host_steps.nr_steps
						      : outline->steps.nr_steps;
}

void ts_capture_check_epochs(struct capture_report *report)
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
	ts_capture_add(report, "too_many_epochs", TS_INFO, TS_CAPTURE_GOOD,
		       ts_result_text(report->result, "%zu epochs are in this profile", nr));
}

/* What of a file its planes have: the lines' bytes, of the plane with the most. */
static void put_largest_plane(struct capture_report *report, uint32_t host)
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
void ts_capture_check_ranks(struct capture_report *report)
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
	ts_capture_add(report, "ranks_missing", TS_INFO, TS_CAPTURE_USABLE,
		       ts_result_text(report->result,
				      "%zu of the job's %" PRId64 " ranks are in this profile", nr,
				      all));
}

/*
 * Devices that a collective goes over and that are not in the profile: files of other hosts were left behind. Most people capture a single
 * host, so there it does not make the profile doubtful.
 */
void ts_capture_check_devices(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_collectives_facts *facts = ts_collectives_facts(report->ctx);
	const struct ts_collective *widest = NULL;

	for (size_t i = 0; i < facts->nr; i++)
		if (!widest || facts->items[i].nr_devices > widest->nr_devices)
			widest = &facts->items[i];
	if (!widest || widest->nr_devices <= (int64_t)profile->nr_devices ||
	    ts_profile_predicted(profile).n > 0)
		return;
	ts_buf_printf(&report->text,
		      "%.*s goes over %" PRId64 " devices. What the others did and whom they "
		      "waited for is not known.",
		      TS_ARG(widest->name), widest->nr_devices);
	ts_capture_add(report, "devices_missing", TS_INFO,
		       profile->nr_hosts > 1 ? TS_CAPTURE_USABLE : TS_CAPTURE_GOOD,
		       ts_result_text(report->result,
				      "%zu of the job's %" PRId64 " devices %s in this profile",
				      profile->nr_devices, widest->nr_devices,
				      profile->nr_devices == 1 ? "is" : "are"));
}

/* Steps that the host marked and no device has: what is there says nothing about them. The first and the last may
 * reach over the profile's ends. */
void ts_capture_check_steps_missing(struct capture_report *report)
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
	ts_capture_add(report, "steps_missing", TS_WARNING,
		       seen * 2 < marked ? TS_CAPTURE_MISLEADING : TS_CAPTURE_USABLE,
		       ts_result_text(report->result, "%zu of %zu steps have no device part",
				      marked - seen, marked));
}

void ts_capture_check_length(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	size_t nr_steps = nr_steps_of(report->ctx->outline);
	char size[TS_UNIT_MAX];

	if ((double)nr_steps > report->ctx->settings->capture_steps_high) {
		ts_buf_printf(&report->text, "More than %g make it longer, not better.",
			      report->ctx->settings->capture_steps_high);
		ts_capture_add(
			report, "too_many_steps", TS_INFO, TS_CAPTURE_GOOD,
			ts_result_text(report->result, "%zu steps are in this profile", nr_steps));
	}
	for (size_t i = 0; i < profile->nr_hosts; i++) {
		if (profile->hosts[i].file_bytes <= PROTOBUF_LIMIT || ts_profile_is_torch(profile))
			continue; /* a trace in JSON is not a protobuf message */
		ts_buf_puts(&report->text, "They take 2 GiB of one message at most.");
		put_largest_plane(report, (uint32_t)i);
		ts_capture_add(
			report, "file_too_large", TS_INFO, TS_CAPTURE_USABLE,
			ts_result_text(report->result, "%.*s has %s: viewers cannot open it",
				       TS_ARG(ts_bytes_cut(profile->hosts[i].file, 0, 200)),
				       ts_fmt_bytes(size, (double)profile->hosts[i].file_bytes)));
		return;
	}
}
