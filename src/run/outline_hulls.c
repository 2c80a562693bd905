/* SPDX-License-Identifier: MIT */
/* The hull of the events of devices: where the wall time of the whole run begins and ends. */
#include "base/check.h"
#include "base/work.h"
#include "run/outline_lines.h"
#include "read/stream.h"

struct hulls {
	struct ts_profile *profile;
	struct ts_outline_lines *lines;
	uint32_t *jobs;
	size_t nr_jobs;
};

static enum ts_status outline_hulls_widen(void *ctx, const struct ts_block *block,
					  struct ts_error *err)
{
	struct ts_outline_line *line = ctx;

	for (size_t i = 0; i < block->nr_events; i++) {
		int64_t end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);

		line->first_ps = line->has_hull ? TS_MIN(line->first_ps, block->start_ps[i])
						: block->start_ps[i];
		line->last_ps = line->has_hull ? TS_MAX(line->last_ps, end_ps) : end_ps;
		line->has_hull = true;
	}
	return TS_OK;
}

static enum ts_status outline_hulls_run_line(void *ctx, size_t job, size_t thread,
					     struct ts_error *err)
{
	struct hulls *hulls = ctx;
	uint32_t index = hulls->jobs[job];
	struct ts_sink sink = { .ctx = &hulls->lines->items[index], .block = outline_hulls_widen };
	enum ts_status st = ts_stream_line(hulls->profile, index, &sink, err);

	if (st == TS_UNSORTED) {
		hulls->profile->lines[index].unsorted = true;
		st = ts_stream_line(hulls->profile, index, &sink, err); /* the hull is the same */
	}
	return st == TS_FORMAT ? TS_OK : st; /* damage is noted where events are analysed */
}

/* The lines by which the analysis time knows the wall time. */
static bool has_hull(const struct ts_profile *profile, const struct ts_line *line)
{
	return profile->planes[line->plane].device != TS_NONE &&
	       (line->kind == TS_LINE_OPS || line->kind == TS_LINE_MODULES ||
		line->kind == TS_LINE_STEPS);
}

enum ts_status ts_outline_hulls(struct ts_profile *profile, size_t nr_threads,
				struct ts_outline_lines *lines, struct ts_error *err)
{
	struct hulls hulls = { .profile = profile, .lines = lines };
	enum ts_status st;

	TS_ASSERT(profile && lines && lines->nr == profile->nr_lines);
	hulls.jobs = calloc(lines->nr + 1, sizeof(*hulls.jobs));
	if (!hulls.jobs)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < lines->nr; i++)
		if (has_hull(profile, &profile->lines[i]))
			hulls.jobs[hulls.nr_jobs++] = i;
	st = ts_work_run(nr_threads, hulls.nr_jobs, outline_hulls_run_line, &hulls, err);
	free(hulls.jobs);
	return st;
}
