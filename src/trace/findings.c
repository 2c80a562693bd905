/* SPDX-License-Identifier: MIT */
/* A label, a slice and a track for each finding of the doctor. */
#include "trace/findings.h"

#include "base/check.h"
#include "base/map.h"
#include "result/view.h"
#include "result/schema/doctor.def"

#define MAX_ARGS (TS_FINDING_ARGS + 1)

/* What all of a finding's times lie in. The first execution of an op is an example, not its time. */
static bool findings_own_time(const struct ts_finding *finding, struct ts_when *hull)
{
	for (size_t i = 0; i < finding->nr_when; i++)
		if (finding->when[i].is_example)
			return false;
	return ts_finding_hull(finding, hull);
}

static struct ts_slice findings_slice_of(const struct ts_finding *finding,
					 struct ts_trace_extent extent)
{
	struct ts_slice slice = { .start_ps = extent.first_ps,
				  .end_ps = extent.last_ps,
				  .nr_events = 1 };
	struct ts_when hull;

	if (findings_own_time(finding, &hull) && hull.start_ps < extent.last_ps &&
	    hull.end_ps > extent.first_ps) {
		slice.start_ps = TS_MAX(slice.start_ps, hull.start_ps);
		slice.end_ps = TS_MIN(slice.end_ps, hull.end_ps);
	}
	slice.own_ps = ts_i64_sub(slice.end_ps, slice.start_ps);
	return slice;
}

static enum ts_status make_track(const struct ts_finding *finding, size_t rank,
				 struct ts_trace_extent extent, struct ts_arena *arena,
				 struct ts_track *track, struct ts_error *err)
{
	struct ts_arg *args = ts_arena_array(arena, MAX_ARGS, sizeof(*args));
	struct ts_label *label = ts_arena_array(arena, 1, sizeof(*label));
	struct ts_slice *slice = ts_arena_array(arena, 1, sizeof(*slice));
	struct ts_bytes name =
		ts_arena_printf(arena, "%zu %s", rank, ts_severity_name(finding->severity));
	struct ts_bytes title = ts_arena_copy(arena, finding->title);

	if (!args || !label || !slice || !name.p || !title.p)
		return ts_fail_nomem(err);
	*label = (struct ts_label){ .name = finding->title,
				    .args = args,
				    .nr_args = ts_finding_args(finding, rank, args) };
	args[label->nr_args++] = (struct ts_arg){ "code", ts_text_or_null(finding->code) };
	*slice = findings_slice_of(finding, extent);
	*track = (struct ts_track){ .kind = TS_TRACK_SLICES,
				    .name = (const char *)name.p,
				    .description = (const char *)title.p,
				    .device = TS_NONE,
				    .labels = label,
				    .nr_labels = 1,
				    .slices = slice,
				    .nr_slices = 1 };
	return TS_OK;
}

enum ts_status ts_trace_findings(const struct ts_results *results, struct ts_trace_extent extent,
				 struct ts_arena *arena, const struct ts_track **tracks, size_t *nr,
				 struct ts_error *err)
{
	const struct ts_result *doctor = results ? TS_FIND(results, doctor) : NULL;
	struct ts_track *all;
	enum ts_status st = TS_OK;

	TS_ASSERT(arena && tracks && nr);
	*nr = doctor ? doctor->nr_findings : 0;
	extent.last_ps = TS_MAX(extent.last_ps, extent.first_ps);
	all = ts_arena_array(arena, *nr + 1, sizeof(*all));
	if (!all)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < *nr && st == TS_OK; i++)
		st = make_track(&doctor->findings[i], i + 1, extent, arena, &all[i], err);
	*tracks = all;
	return st;
}
