/* SPDX-License-Identifier: MIT */
/* Points of a line -> a list for each counter and key -> tracks. */
#include "trace/counters.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "read/stream.h"
#include "model/block.h"

struct counter {
	uint32_t op;
	struct ts_bytes key;
	struct ts_point *points; /* on the heap */
	size_t nr, cap;
};

struct counters {
	struct ts_arena *arena;
	struct counter *items;
	size_t nr, cap, nr_points;
	struct ts_map ids;
	uint64_t seed;
	enum ts_status st; /* of what was taken */
	/* of the event at work */
	uint32_t op;
	int64_t at_ps;
};

static struct counter *add_counter(struct counters *counters, struct ts_bytes key, uint64_t id)
{
	struct counter counter = { .op = counters->op, .key = ts_arena_copy(counters->arena, key) };

	if (!counter.key.p ||
	    !ts_grow(&counters->items, &counters->cap, counters->nr + 1, sizeof(counter)) ||
	    !ts_map_set(&counters->ids, id, (uint32_t)counters->nr))
		return NULL;
	counters->items[counters->nr] = counter;
	return &counters->items[counters->nr++];
}

static struct counter *counter_of(struct counters *counters, struct ts_bytes key)
{
	uint64_t id = ts_hash(key, counters->seed + counters->op);
	uint32_t at;

	while ((at = ts_map_find(&counters->ids, id)) != TS_NONE) {
		struct counter *counter = &counters->items[at];

		if (counter->op == counters->op && ts_bytes_eq(counter->key, key))
			return counter;
		id++; /* another one has the same hash */
	}
	return add_counter(counters, key, id);
}

static void counters_take_value(void *ctx, struct ts_bytes name, const struct ts_stat *stat)
{
	struct counters *counters = ctx;
	struct counter *counter;

	if (stat->type == TS_STAT_TEXT || counters->nr_points >= TS_LIMIT_TRACE_POINTS)
		return;
	counter = counter_of(counters, name);
	if (!counter ||
	    !ts_grow(&counter->points, &counter->cap, counter->nr + 1, sizeof(*counter->points))) {
		counters->st = TS_NOMEM;
		return;
	}
	counter->points[counter->nr++] = (struct ts_point){ counters->at_ps, stat->real };
	counters->nr_points++;
}

static enum ts_status counters_take_block(void *ctx, const struct ts_block *block,
					  struct ts_error *err)
{
	struct counters *counters = ctx;

	for (size_t i = 0; i < block->nr_events && block->each && counters->st == TS_OK; i++) {
		counters->op = block->op[i];
		counters->at_ps = block->start_ps[i];
		block->each(block->profile, block->line, block->body[i], counters_take_value,
			    counters);
	}
	return counters->st ? ts_fail_nomem(err) : TS_OK;
}

static enum ts_status to_track(struct counters *counters, const struct counter *counter,
			       struct ts_bytes name, struct ts_track *track, struct ts_error *err)
{
	struct ts_point *points = ts_arena_array(counters->arena, counter->nr, sizeof(*points));
	struct ts_bytes whole =
		ts_arena_printf(counters->arena, "%.*s %.*s", TS_ARG(name), TS_ARG(counter->key));

	if (!points || !whole.p)
		return ts_fail_nomem(err);
	memcpy(points, counter->points, counter->nr * sizeof(*points));
	*track = (struct ts_track){ .kind = TS_TRACK_COUNTER,
				    .name = (const char *)whole.p,
				    .unit = "",
				    .axis = (const char *)whole.p,
				    .description = "a counter of the trace",
				    .device = TS_NONE,
				    .points = points,
				    .nr_points = counter->nr };
	return TS_OK;
}

static enum ts_status to_tracks(struct counters *counters, const struct ts_profile *profile,
				const struct ts_track **tracks, struct ts_error *err)
{
	struct ts_track *all = ts_arena_array(counters->arena, counters->nr + 1, sizeof(*all));
	enum ts_status st = all ? TS_OK : ts_fail_nomem(err);

	for (size_t i = 0; i < counters->nr && st == TS_OK; i++) {
		const struct counter *counter = &counters->items[i];

		st = to_track(counters, counter, profile->ops[counter->op].name, &all[i], err);
	}
	*tracks = all;
	return st;
}

enum ts_status ts_trace_counters(const struct ts_profile *profile, uint32_t line,
				 struct ts_arena *arena, const struct ts_track **tracks, size_t *nr,
				 struct ts_error *err)
{
	struct counters counters = { .arena = arena, .seed = profile->op_seed };
	struct ts_sink sink = { &counters, TS_COL_STATS, counters_take_block };
	enum ts_status st = ts_stream_line(profile, line, &sink, err);

	TS_ASSERT(profile && tracks && nr);
	*tracks = NULL;
	if (st == TS_OK)
		st = to_tracks(&counters, profile, tracks, err);
	*nr = st == TS_OK ? counters.nr : 0;
	for (size_t i = 0; i < counters.nr; i++)
		free(counters.items[i].points);
	free(counters.items);
	ts_map_release(&counters.ids);
	return st;
}
