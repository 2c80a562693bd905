/* SPDX-License-Identifier: MIT */
/* Events of lines, counted -> of hosts. */
#include "trace/wants.h"

#include "base/check.h"
#include "base/limits.h"

#define TS_SELF struct ts_trace_wants
static bool are_wants(const void *self)
{
	const struct ts_trace_wants *wants = self;

	for (size_t i = 0; i < wants->nr; i++)
		if (wants->nr_events[i] > TS_LIMIT_HOST_EVENTS)
			return false;
	return wants->first_ps <= 0 && wants->last_ps >= 0;
}
TS_RECORD_AS(ts_trace_wants_record, wants, TS_VALID_IF(are_wants),
	     TS_ARRAY(1, nr_events, nr, TS_BY_NOTHING, TS_BY_HAND),
	     TS_NUMBER(2, first_ps, TS_BY_HAND), TS_NUMBER(3, last_ps, TS_BY_HAND));
#undef TS_SELF

enum ts_status ts_trace_wants_add(struct ts_trace_wants *wants, const struct ts_trace_wants *more,
				  struct ts_error *err)
{
	size_t nr = wants->nr + more->nr;
	uint64_t *all = realloc(wants->nr_events, (nr + 1) * sizeof(*all));

	if (!all)
		return ts_fail_nomem(err);
	if (more->nr > 0)
		memcpy(all + wants->nr, more->nr_events, more->nr * sizeof(*all));
	*wants = (struct ts_trace_wants){ .nr_events = all,
					  .nr = nr,
					  .first_ps = TS_MIN(wants->first_ps, more->first_ps),
					  .last_ps = TS_MAX(wants->last_ps, more->last_ps) };
	return TS_OK;
}

enum ts_status ts_wanting_init(struct ts_wanting *wanting, const struct ts_profile *profile,
			       struct ts_error *err)
{
	TS_ASSERT(wanting && profile);
	*wanting = (struct ts_wanting){ .lines = NULL };
	wanting->lines = calloc(profile->nr_lines + 1, sizeof(*wanting->lines));
	return wanting->lines ? TS_OK : ts_fail_nomem(err);
}

static bool wants_line(void *ctx, const struct ts_profile *profile, uint32_t line)
{
	struct ts_trace_plan plan = { .profile = profile };

	return ts_trace_wants(&plan, profile, line);
}

static void restart(void *ctx, uint32_t line)
{
	struct ts_wanting *wanting = ctx;

	wanting->lines[line] = (struct ts_line_want){ 0 };
}

static enum ts_status wants_count(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct ts_wanting *wanting = ctx;
	struct ts_line_want *line = &wanting->lines[block->line_index];

	for (size_t i = 0; i < block->nr_events; i++) {
		int64_t end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);

		line->first_ps = TS_MIN(line->first_ps, block->start_ps[i]);
		line->last_ps = TS_MAX(line->last_ps, end_ps);
	}
	line->nr_events += block->nr_events;
	return TS_OK;
}

struct ts_duration_counter ts_wanting_counter(struct ts_wanting *wanting)
{
	TS_ASSERT(wanting);
	return (struct ts_duration_counter){ wanting, wants_line, restart, wants_count };
}

enum ts_status ts_wanting_sum(const struct ts_wanting *wanting, const struct ts_profile *profile,
			      uint32_t first, uint32_t nr, struct ts_trace_wants *sum,
			      struct ts_error *err)
{
	TS_ASSERT(wanting && profile && sum);
	sum->nr_events = calloc((size_t)nr + 1, sizeof(*sum->nr_events));
	if (!sum->nr_events)
		return ts_fail_nomem(err);
	sum->nr = nr;
	for (size_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line_want *line = &wanting->lines[i];
		uint32_t host = profile->planes[profile->lines[i].plane].host;

		if (host < first || host - first >= nr)
			continue;
		sum->nr_events[host - first] += line->nr_events;
		sum->first_ps = TS_MIN(sum->first_ps, line->first_ps);
		sum->last_ps = TS_MAX(sum->last_ps, line->last_ps);
	}
	return TS_OK;
}

void ts_wanting_release(struct ts_wanting *wanting)
{
	TS_ASSERT(wanting);
	free(wanting->lines);
	wanting->lines = NULL;
}
