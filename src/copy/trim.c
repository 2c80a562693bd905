/* SPDX-License-Identifier: MIT */
/* What stays: hosts, planes, and of each plane one stretch of time. */
#include "copy/trim.h"

#include "base/check.h"

#include <fnmatch.h>

#include "base/units.h"

static bool trim_matches(const char *pattern, struct ts_bytes name)
{
	char text[512];

	if (!pattern)
		return true;
	snprintf(text, sizeof(text), "%.*s", TS_ARG(name));
	return ts_bytes_is(name, pattern) || fnmatch(pattern, text, 0) == 0;
}

static bool trim_is_any(const bool *items, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (items[i])
			return true;
	return false;
}

static enum ts_status choose_hosts(struct ts_trim *trim, const char *pattern, struct ts_error *err)
{
	const struct ts_profile *profile = trim->profile;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		trim->hosts[i] = trim_matches(pattern, profile->hosts[i].name);
	if (profile->nr_hosts > 0 && !trim_is_any(trim->hosts, profile->nr_hosts))
		return ts_fail(err, TS_USAGE, "no host is called %s (the first of %zu is %.*s)",
			       pattern, profile->nr_hosts, TS_ARG(profile->hosts[0].name));
	return TS_OK;
}

static enum ts_status choose_planes(struct ts_trim *trim, const char *pattern, struct ts_error *err)
{
	const struct ts_profile *profile = trim->profile;
	bool *fitting = calloc(profile->nr_hosts + 1, sizeof(*fitting));

	if (!fitting)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_planes; i++) {
		const struct ts_plane *plane = &profile->planes[i];

		trim->planes[i] = trim_matches(pattern, plane->name) && trim->hosts[plane->host] &&
				  plane->kind != TS_PLANE_OURS;
		fitting[plane->host] |= trim->planes[i];
	}
	/* Planes that describe the others stay whatever is asked for. */
	for (size_t i = 0; i < profile->nr_planes; i++)
		trim->planes[i] |= (profile->planes[i].kind == TS_PLANE_METADATA ||
				    profile->planes[i].kind == TS_PLANE_TASK) &&
				   fitting[profile->planes[i].host];
	for (size_t h = 0; pattern && h < profile->nr_hosts; h++)
		trim->hosts[h] = fitting[h];
	trim->planes[profile->nr_planes] = !pattern;
	free(fitting);
	if (pattern && !trim_is_any(trim->hosts, profile->nr_hosts))
		return ts_fail(err, TS_USAGE, "no plane is called %s (/device:TPU:0, for instance)",
			       pattern);
	return TS_OK;
}

#define NO_NUMBER UINT64_MAX

/* The number of each step of the run, as reports have it: that of the first device which ran it.
 * NULL: no memory. */
static uint64_t *number_steps(const struct ts_steps *steps)
{
	uint64_t *numbers = malloc((steps->nr_steps + 1) * sizeof(*numbers));

	for (size_t i = 0; numbers && i < steps->nr_steps; i++)
		numbers[i] = NO_NUMBER;
	for (size_t d = 0; numbers && d < steps->nr_devices; d++)
		for (size_t i = 0; i < steps->devices[d].nr; i++) {
			uint64_t *number = &numbers[ts_device_steps_row(&steps->devices[d], i)];

			if (*number == NO_NUMBER)
				*number = steps->devices[d].items[i].number;
		}
	return numbers;
}

/* From the start of the first of these steps to the end of the last. */
static struct ts_span span_of(const struct ts_device_steps *steps, const uint64_t *numbers,
			      const struct ts_trim_choice *choice)
{
	struct ts_span span = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < steps->nr; i++) {
		const struct ts_step *step = &steps->items[i];
		uint64_t number = numbers[ts_device_steps_row(steps, i)];

		if (number < choice->first_step || number > choice->last_step)
			continue;
		span.start_ps = TS_MIN(span.start_ps, step->start_ps);
		span.end_ps = TS_MAX(span.end_ps, step->end_ps);
	}
	return span;
}

static enum ts_status no_steps(const struct ts_steps *steps, const uint64_t *numbers,
			       const struct ts_trim_choice *choice, struct ts_error *err)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < steps->nr_steps; i++) {
		first = TS_MIN(first, numbers[i]);
		last = TS_MAX(last, numbers[i]);
	}
	if (steps->nr_steps == 0)
		return ts_fail(
			err, TS_USAGE,
			"--steps: this run has no steps (--from-ms and --to-ms cut by time)");
	return ts_fail(
		err, TS_USAGE, "--steps %llu-%llu: out of range; this run has steps %llu-%llu",
		(unsigned long long)choice->first_step, (unsigned long long)choice->last_step,
		(unsigned long long)first, (unsigned long long)last);
}

static enum ts_status cut_by_numbers(struct ts_trim *trim, const struct ts_steps *steps,
				     const uint64_t *numbers, const struct ts_trim_choice *choice,
				     struct ts_error *err)
{
	const struct ts_profile *profile = trim->profile;
	struct ts_span all = { INT64_MAX, INT64_MIN };

	for (size_t d = 0; d < steps->nr_devices; d++) {
		struct ts_span span = span_of(&steps->devices[d], numbers, choice);

		all.start_ps = TS_MIN(all.start_ps, span.start_ps);
		all.end_ps = TS_MAX(all.end_ps, span.end_ps);
	}
	if (all.start_ps > all.end_ps)
		return no_steps(steps, numbers, choice, err);
	for (size_t i = 0; i < profile->nr_planes; i++) {
		/* that a plane shows, or works for */
		uint32_t device = profile->planes[i].kind == TS_PLANE_SPARSECORE
					  ? profile->planes[i].tensor_core
					  : profile->planes[i].device;

		trim->spans[i] = all;
		if (device != TS_NONE && device < steps->nr_devices &&
		    steps->devices[device].nr > 0)
			trim->spans[i] = span_of(&steps->devices[device], numbers, choice);
	}
	trim->spans[profile->nr_planes] = all;
	return TS_OK;
}

enum ts_status ts_trim_plan(struct ts_trim *trim, const struct ts_profile *profile,
			    const struct ts_steps *steps, const struct ts_trim_choice *choice,
			    struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(trim && profile && steps && choice);
	*trim = (struct ts_trim){
		.profile = profile,
		.spans = calloc(profile->nr_planes + 1, sizeof(*trim->spans)),
		.planes = calloc(profile->nr_planes + 1, sizeof(*trim->planes)),
		.hosts = calloc(profile->nr_hosts + 1, sizeof(*trim->hosts)),
	};
	if (!trim->spans || !trim->planes || !trim->hosts)
		return ts_fail_nomem(err);
	for (size_t i = 0; i <= profile->nr_planes; i++)
		trim->spans[i] = (struct ts_span){ INT64_MIN, INT64_MAX };
	st = choose_hosts(trim, choice->host, err);
	if (st == TS_OK)
		st = choose_planes(trim, choice->plane, err);
	if (st == TS_OK && choice->has_steps) {
		uint64_t *numbers = number_steps(steps);

		st = numbers ? cut_by_numbers(trim, steps, numbers, choice, err)
			     : ts_fail_nomem(err);
		free(numbers);
	}
	for (size_t i = 0; i <= trim->profile->nr_planes; i++) {
		struct ts_span *span = &trim->spans[i];

		span->start_ps = TS_MAX(span->start_ps, choice->from_ps);
		span->end_ps = TS_MIN(span->end_ps, choice->to_ps);
	}
	return st;
}

void ts_trim_release(struct ts_trim *trim)
{
	TS_ASSERT(trim);
	free(trim->spans);
	free(trim->planes);
	free(trim->hosts);
	memset(trim, 0, sizeof(*trim));
}

bool ts_trim_keeps(const struct ts_trim *trim, uint32_t plane, int64_t start_ps, int64_t dur_ps)
{
	const struct ts_span *span = &trim->spans[plane];

	TS_ASSERT_HOT(trim);
	if (!trim->planes[plane] || start_ps >= span->end_ps)
		return false;
	return start_ps >= span->start_ps ||
	       (dur_ps > 0 && ts_i64_add(start_ps, dur_ps) > span->start_ps);
}
