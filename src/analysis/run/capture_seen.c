/* SPDX-License-Identifier: MIT */
/*
 * Readers say of a line that no rule takes what it holds (struct ts_line, .unread): a category of Kineto's that has no
 * times, a process that is neither a host nor a device, a line of an xplane. Here they are counted and named.
 */
#include "analysis/run/capture_seen.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/check.h"
#include "model/plane_kind.h"

#define MAX_LISTED 3
#define MAX_NAME   100 /* bytes of a name */

static bool is_unread(const struct ts_line *line)
{
	return line->unread.n > 0 && line->nr_events > 0;
}

/* Of a device's counters: libtpu's line, and the categories of CUPTI's, XPUPTI's and MTIA's profilers. */
static bool capture_seen_is_counters(const struct ts_line *line)
{
	static const char *const names[] = {
		("line " TS_COUNTER_LINE), /* of a GPU; clang takes two texts in a row for a forgotten comma */
		"category cuda_profiler_range",
		"category xpu_scope_profiler",
		"category mtia_counters",
	};

	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_bytes_is(line->unread, names[i]))
			return true;
	return false;
}

struct capture_unread ts_capture_unread(const struct ts_profile *profile)
{
	struct capture_unread unread = { 0, 0 };

	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];

		if (!is_unread(line))
			continue;
		unread.nr_events += line->nr_events;
		unread.nr_counters += capture_seen_is_counters(line) ? line->nr_events : 0;
	}
	return unread;
}

struct capture_counters ts_capture_counters(const struct ts_profile *profile)
{
	struct capture_counters counters = { 0 };

	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];
		const struct ts_device *device = ts_line_device(profile, line);

		if (line->kind == TS_LINE_COUNTERS)
			counters.nr_ended += line->nr_events;
		else if (line->kind == TS_LINE_SAMPLES)
			counters.nr_sampled += line->nr_events;
		else
			continue;
		if (device && counters.chip.n == 0)
			counters.chip = device->kind;
	}
	return counters;
}

/* Events of one plane that are not read for one reason. */
struct kind {
	const struct ts_line *line; /* the first of them */
	uint64_t nr_events;
};

static struct kind *find_kind(struct kind *kinds, size_t nr, const struct ts_line *line)
{
	for (size_t i = 0; i < nr; i++)
		if (kinds[i].line->plane == line->plane &&
		    ts_bytes_eq(kinds[i].line->unread, line->unread))
			return &kinds[i];
	return NULL;
}

static void put_kind(struct ts_buf *text, const struct ts_profile *profile, const struct kind *kind)
{
	struct ts_bytes plane = profile->planes[kind->line->plane].name;

	ts_buf_printf(text, "%" PRIu64 " event%s of %.*s", kind->nr_events,
		      kind->nr_events == 1 ? "" : "s",
		      TS_ARG(ts_bytes_cut(kind->line->unread, 0, MAX_NAME)));
	if (plane.n > 0)
		ts_buf_printf(text, " on %.*s", TS_ARG(ts_bytes_cut(plane, 0, MAX_NAME)));
}

void ts_capture_put_unread(struct ts_buf *text, const struct ts_profile *profile)
{
	struct kind kinds[MAX_LISTED], *kind;
	uint64_t nr_more = 0;
	size_t nr = 0;

	TS_ASSERT(text && profile);
	for (size_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];

		if (!is_unread(line))
			continue;
		kind = find_kind(kinds, nr, line);
		if (!kind && nr < MAX_LISTED) {
			kinds[nr] = (struct kind){ line, 0 };
			kind = &kinds[nr++];
		}
		*(kind ? &kind->nr_events : &nr_more) += line->nr_events;
	}
	for (size_t i = 0; i < nr; i++) {
		ts_buf_puts(text, i > 0 ? ", " : "");
		put_kind(text, profile, &kinds[i]);
	}
	if (nr_more > 0)
		ts_buf_printf(text, ", and %" PRIu64 " more", nr_more);
	ts_buf_puts(text, nr > 0 ? "." : "");
}

struct ts_bytes ts_capture_other_device(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_devices; i++) {
		struct ts_bytes name = profile->devices[i].name;
		struct ts_bytes word = ts_bytes_cut(name, strlen("/device:"), name.n);

		word = ts_bytes_cut(word, 0, ts_bytes_find(word, ":"));
		if (ts_bytes_starts(name, "/device:") && !ts_bytes_is(word, "GPU") &&
		    !ts_bytes_is(word, "TPU") && !ts_bytes_is(word, "CPU"))
			return word;
	}
	return (struct ts_bytes){ NULL, 0 };
}
