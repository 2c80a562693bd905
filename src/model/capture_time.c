/* SPDX-License-Identifier: MIT */
#include "model/capture_time.h"

#include "base/check.h"
#include "model/nest.h"

const struct ts_capture_time ts_capture_time_any = { -TS_TIME_MAX, TS_TIME_MAX, TS_TIME_MAX };

static bool capture_time_is_near(const struct ts_time_groups *groups,
				 const struct ts_time_group *group, int64_t time)
{
	return time >= ts_i64_sub(group->first, groups->gap) &&
	       time <= ts_i64_add(group->last, groups->gap);
}

static uint32_t capture_time_find(const struct ts_time_groups *groups, int64_t time)
{
	uint32_t at = 0;

	while (at < groups->nr && !capture_time_is_near(groups, &groups->items[at], time))
		at++;
	return at;
}

uint32_t ts_time_groups_add(struct ts_time_groups *groups, int64_t time, uint64_t nr)
{
	struct ts_time_group *group = &groups->items[groups->at];

	TS_ASSERT_HOT(groups && groups->gap > 0);
	if (groups->nr == 0 || !capture_time_is_near(groups, group, time)) {
		uint32_t at = capture_time_find(groups, time);

		if (at == TS_TIME_GROUPS)
			return at;
		group = &groups->items[at];
		if (at == groups->nr) {
			groups->nr++;
			*group = (struct ts_time_group){ time, time, INT64_MIN, 0 };
		}
		groups->at = at;
	}
	group->first = TS_MIN(group->first, time);
	group->last = TS_MAX(group->last, time);
	group->nr += nr;
	return groups->at;
}

/* Times between two groups make them one: FROM has nothing any more. */
static bool capture_time_join(const struct ts_time_groups *groups, struct ts_time_group *into,
			      struct ts_time_group *from)
{
	if (from->nr == 0 || !(capture_time_is_near(groups, into, from->first) ||
			       capture_time_is_near(groups, into, from->last)))
		return false;
	into->first = TS_MIN(into->first, from->first);
	into->last = TS_MAX(into->last, from->last);
	into->end = TS_MAX(into->end, from->end);
	into->nr += from->nr;
	from->nr = 0;
	return true;
}

static bool capture_time_join_one(struct ts_time_groups *groups, struct ts_time_group *into)
{
	for (size_t i = 0; i < groups->nr; i++)
		if (&groups->items[i] != into && capture_time_join(groups, into, &groups->items[i]))
			return true;
	return false;
}

const struct ts_time_group *ts_time_groups_most(struct ts_time_groups *groups)
{
	struct ts_time_group *most = NULL;

	TS_ASSERT(groups);
	for (size_t i = 0; i < groups->nr; i++) {
		struct ts_time_group *group = &groups->items[i];

		if (group->nr > 0 && (!most || group->nr > most->nr ||
				      (group->nr == most->nr && group->first > most->first)))
			most = group;
	}
	while (most && capture_time_join_one(groups, most))
		; /* it reaches farther each time */
	return most;
}

static void capture_time_thin(struct ts_time_samples *samples)
{
	for (size_t i = 0; i < TS_TIME_SAMPLES / 2; i++)
		samples->items[i] = samples->items[2 * i];
	samples->nr = TS_TIME_SAMPLES / 2;
	samples->stride *= 2;
}

void ts_time_samples_add(struct ts_time_samples *samples, int64_t time)
{
	uint64_t at = samples->nr_all++;

	TS_ASSERT_HOT(samples);
	if (samples->stride == 0)
		samples->stride = 1;
	if ((at & (samples->stride - 1)) != 0)
		return;
	if (samples->nr == TS_TIME_SAMPLES)
		capture_time_thin(samples);
	if ((at & (samples->stride - 1)) == 0)
		samples->items[samples->nr++] = time;
}

bool ts_time_samples_are_in(const struct ts_time_samples *samples, int64_t first, int64_t last)
{
	size_t nr = 0;

	TS_ASSERT(samples);
	for (size_t i = 0; i < samples->nr; i++)
		nr += samples->items[i] >= first && samples->items[i] <= last;
	return nr * 10 >= samples->nr * 9;
}

struct ts_capture_time ts_capture_time_between(struct ts_capture_time time, int64_t start_ps,
					       int64_t stop_ps)
{
	int64_t slack_ps = ts_i64_add(ts_i64_sub(stop_ps, start_ps), TS_PS_PER_S);

	TS_ASSERT(start_ps <= stop_ps);
	if (stop_ps < time.first_ps || start_ps > time.last_ps)
		return time; /* they have clocks of their own */
	time.first_ps = TS_MAX(time.first_ps, ts_i64_sub(start_ps, slack_ps));
	time.last_ps = TS_MIN(time.last_ps, ts_i64_add(stop_ps, slack_ps));
	time.end_ps = TS_MIN(time.end_ps, time.last_ps);
	return time;
}
