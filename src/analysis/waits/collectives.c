/* SPDX-License-Identifier: MIT */
/*
 * Collectives: what each one moved and how fast, how much of it nothing hid, and which core the
 * others had to wait for.
 *
 * Times are the timeline's: arrivals of different cores are compared. A start and its done are one
 * collective, from the start of the one to the end of the other; what they take on the line is
 * exposed, the rest is hidden. The k-th time one core comes to a collective is matched with the k-th
 * time of the others, so the pass keeps when each came and left: 16 bytes an instance. A host keeps so
 * many at most; beyond that each core keeps some executions of each collective, the same on all cores,
 * which stand for the others. The sums of times on the lines are of all.
 */
#include "analysis/waits/collectives.h"

#include "base/record.h"
#include "base/order.h"
#include "result/schema/collectives.def"

#define TS_SELF struct collective_time
static TS_RECORD(time, TS_NUMBER(1, start_ps, TS_BY_HAND), TS_NUMBER(2, end_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct collective_seen
static bool is_seen(const void *self)
{
	return ((const struct collective_seen *)self)->level <= COLLECTIVE_DROPPED;
}
static TS_RECORD_WITH(seen, TS_VALID_IF(is_seen), TS_STRUCT(1, async, ts_async_seen_record),
		      TS_RECORDS_CAP(2, times, nr, cap, time_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(3, nr_all, TS_BY_HAND), TS_NUMBER(4, level, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct collectives_state
static TS_RECORD(collectives, TS_INDEX_KNOWN(1, device_index, TS_BY_DEVICE, TS_BY_HAND),
		 TS_STRUCT(2, slots, ts_async_slots_record),
		 TS_RECORDS(4, seen, nr_seen, seen_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_SCRATCH(most));
#undef TS_SELF

static bool collectives_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line);
}

static enum ts_status collectives_open(void *arg, const struct ts_context *ctx,
				       const struct ts_line *line, struct ts_error *err)
{
	struct collectives_state *state = arg;
	const struct ts_plane *plane = &ctx->profile->planes[line->plane];
	enum ts_status st;

	state->device_index = plane->device;
	state->max_kept = COLLECTIVES_HOST_INSTANCES /
			  TS_MAX(ctx->profile->hosts[plane->host].nr_core_lines, 1);
	st = ts_collective_slots_make(&state->slots, ctx->profile, err);
	if (st)
		return st;
	state->seen = calloc(state->slots.nr + 1, sizeof(*state->seen));
	if (!state->seen)
		return ts_fail_nomem(err);
	state->nr_seen = state->slots.nr;
	state->nr_devices = 1;
	return TS_OK;
}

/* Of two slots the one with most instances; of equals the later one. */
static uint32_t waits_collectives_higher(const struct collectives_state *state, uint32_t a,
					 uint32_t b)
{
	if (a == TS_NONE || b == TS_NONE)
		return a == TS_NONE ? b : a;
	return state->seen[a].nr > state->seen[b].nr ? a : b;
}

static void waits_collectives_rank(struct collectives_state *state, size_t node)
{
	state->most[node] =
		waits_collectives_higher(state, state->most[2 * node], state->most[2 * node + 1]);
}

static bool waits_collectives_rank_all(struct collectives_state *state)
{
	state->nr_leaves = 1;
	while (state->nr_leaves < state->nr_seen)
		state->nr_leaves *= 2;
	state->most = malloc(2 * state->nr_leaves * sizeof(*state->most));
	for (size_t i = 0; state->most && i < state->nr_leaves; i++)
		state->most[state->nr_leaves + i] = i < state->nr_seen ? (uint32_t)i : TS_NONE;
	for (size_t node = state->nr_leaves; state->most && node-- > 1;)
		waits_collectives_rank(state, node);
	return state->most != NULL;
}

static void waits_collectives_rank_slot(struct collectives_state *state, size_t slot)
{
	for (size_t node = (state->nr_leaves + slot) / 2; node > 0; node /= 2)
		waits_collectives_rank(state, node);
}

/* Makes room for one more: the slot with most instances gives some of its up. */
static enum ts_status waits_collectives_make_room(struct collectives_state *state,
						  struct ts_error *err)
{
	struct collective_seen *most;
	size_t nr;

	if (!state->most && !waits_collectives_rank_all(state))
		return ts_fail_nomem(err);
	most = &state->seen[state->most[1]];
	nr = most->nr;
	ts_collective_thin(most);
	state->nr_kept -= nr - most->nr;
	waits_collectives_rank_slot(state, (size_t)(most - state->seen));
	return TS_OK;
}

static enum ts_status waits_collectives_keep_time(struct collectives_state *state,
						  struct collective_seen *seen, int64_t start_ps,
						  int64_t dur_ps, struct ts_error *err)
{
	size_t nr;
	enum ts_status st = TS_OK;

	while (state->nr_kept > 0 && state->nr_kept >= state->max_kept && st == TS_OK)
		st = waits_collectives_make_room(state, err);
	if (st)
		return st;
	nr = seen->nr;
	st = ts_collective_keep(seen, start_ps, ts_i64_add(start_ps, dur_ps), err);
	if (st)
		return st;
	state->nr_kept += seen->nr - nr;
	if (state->most && seen->nr != nr)
		waits_collectives_rank_slot(state, (size_t)(seen - state->seen));
	return TS_OK;
}

static enum ts_status waits_collectives_add_event(struct collectives_state *state,
						  const struct ts_block *block, size_t i,
						  uint32_t slot, struct ts_error *err)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	struct collective_seen *seen = &state->seen[slot];
	int64_t start_ps = block->start_ps[i], dur_ps = block->dur_ps[i];
	bool was_open = seen->async.is_open;

	ts_async_add(&seen->async, op, start_ps, dur_ps,
		     block->occurrences ? block->occurrences[i] : 1);
	if (op->partner == TS_NONE || op->async != TS_ASYNC_DONE)
		return waits_collectives_keep_time(state, seen, start_ps, dur_ps, err);
	if (was_open && seen->is_open_kept)
		seen->times[seen->nr - 1].end_ps = ts_i64_add(start_ps, dur_ps);
	return TS_OK;
}

static enum ts_status collectives_block(void *arg, const struct ts_context *ctx,
					const struct ts_block *block, struct ts_error *err)
{
	struct collectives_state *state = arg;
	enum ts_status st = TS_OK;

	for (size_t i = 0; state->slots.nr > 0 && i < block->nr_events && !st; i++) {
		uint32_t slot = state->slots.of_op[block->op[i]];

		if (slot != TS_NONE)
			st = waits_collectives_add_event(state, block, i, slot, err);
	}
	return st;
}

/* What a state of this profile has for each device and slot; a saved one may be of another profile. */
static enum ts_status waits_collectives_make_sum(struct collectives_state *sum,
						 const struct ts_context *ctx, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	size_t nr;

	if (!sum->slots.of_op)
		st = ts_collective_slots_make(&sum->slots, ctx->profile, err);
	if (st)
		return st;
	sum->nr_devices = ctx->profile->nr_devices;
	nr = sum->nr_devices * sum->slots.nr;
	if (sum->seen)
		return sum->nr_seen == nr
			       ? TS_OK
			       : ts_fail(err, TS_FORMAT, "a state of collectives has other ops");
	sum->seen = calloc(nr + 1, sizeof(*sum->seen));
	if (!sum->seen)
		return ts_fail_nomem(err);
	sum->nr_seen = nr;
	return TS_OK;
}

TS_ORDER(waits_collectives_by_time, struct collective_time, TS_UP(start_ps) TS_UP(end_ps))

/* What a line did not fill goes back: the sum holds those of all lines. */
static enum ts_status take_times(struct collective_seen *into, struct collective_seen *from,
				 struct ts_error *err)
{
	struct collective_time *exact = realloc(from->times, from->nr * sizeof(*from->times));

	if (!exact)
		return ts_fail_nomem(err);
	free(into->times);
	into->times = exact;
	into->nr = into->cap = from->nr;
	from->times = NULL;
	from->nr = from->cap = 0;
	return TS_OK;
}

/* Streams of one GPU are one core. */
static enum ts_status merge_seen(struct collective_seen *into, struct collective_seen *from,
				 struct ts_error *err)
{
	uint8_t level = TS_MAX(into->level, from->level);

	ts_async_end(&from->async);
	ts_async_merge(&into->async, &from->async);
	ts_collective_raise(into, level);
	ts_collective_raise(from, level);
	into->nr_all += from->nr_all;
	if (from->nr == 0)
		return TS_OK;
	if (into->nr == 0)
		return take_times(into, from, err);
	if (!ts_grow(&into->times, &into->cap, into->nr + from->nr, sizeof(*into->times)))
		return ts_fail_nomem(err);
	memcpy(&into->times[into->nr], from->times, from->nr * sizeof(*from->times));
	into->nr += from->nr;
	TS_SORT(into->times, into->nr, waits_collectives_by_time);
	return TS_OK;
}

static enum ts_status collectives_merge(void *arg_into, void *arg_from,
					const struct ts_context *ctx, struct ts_error *err)
{
	struct collectives_state *sum = arg_into, *line = arg_from;
	enum ts_status st = waits_collectives_make_sum(sum, ctx, err);

	if (st)
		return st;
	for (size_t i = 0; i < TS_MIN(line->nr_seen, sum->slots.nr) && !st; i++)
		st = merge_seen(&sum->seen[line->device_index * sum->slots.nr + i], &line->seen[i],
				err);
	return st;
}

static enum ts_status collectives_close(void *arg, const struct ts_context *ctx, void *facts,
					struct ts_result *result, struct ts_error *err)
{
	struct collectives_state *sum = arg;
	struct collective_rows rows = { .nr = 0 };
	enum ts_status st = waits_collectives_make_sum(sum, ctx, err);

	if (st || ctx->profile->nr_devices == 0) /* modules alone, or hosts alone: nothing ran */
		return st;
	st = ts_collectives_align(sum, ctx, &result->owner->arena, facts, err);
	if (st)
		return st;
	st = ts_collectives_read(sum, ctx, &result->owner->arena, &rows, facts, err);
	if (!st)
		ts_collectives_report(sum, ctx, &rows, facts, result);
	ts_collectives_release_rows(&rows);
	return st;
}

const struct ts_analysis ts_analysis_collectives = {
	.schema = &ts_schema_collectives,
	.pass = TS_PASS_FIRST,
	.state = &collectives_record,
	.facts_size = sizeof(struct ts_collectives_facts),
	.wants = collectives_wants,
	.open = collectives_open,
	.block = collectives_block,
	.merge = collectives_merge,
	.close = collectives_close,
};
