/*
 * Collectives: what each one moved and how fast, how much of it nothing hid, and which core the
 * others had to wait for.
 *
 * Times are the timeline's: arrivals of different cores are compared. A start and its done are one
 * collective, from the start of the one to the end of the other; what they take on the line is
 * exposed, the rest is hidden. The k-th time one core comes to a collective is matched with the k-th
 * time of the others, so the pass keeps when each came and left: 16 bytes an instance, so many at most.
 */
#include "analysis/waits/collectives.h"

static bool collectives_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line);
}

static enum ts_status collectives_open(void *arg, const struct ts_context *ctx,
				       const struct ts_line *line, struct ts_error *err)
{
	struct collectives_state *state = arg;

	state->device_index = ctx->profile->planes[line->plane].device;
	state->max_kept = COLLECTIVES_MAX_INSTANCES / TS_MAX(ctx->profile->nr_devices, 1);
	if (!ts_collective_slots_make(&state->slots, ctx->profile))
		return ts_fail_nomem(err);
	state->seen = calloc(state->slots.nr + 1, sizeof(*state->seen));
	state->nr_devices = 1;
	return state->seen ? TS_OK : ts_fail_nomem(err);
}

static bool keep_time(struct collectives_state *state, struct collective_seen *seen,
		      int64_t start_ps, int64_t dur_ps)
{
	seen->is_open_kept = false;
	if (state->nr_kept >= state->max_kept) {
		state->is_cut = true;
		return true;
	}
	if (seen->nr == seen->cap &&
	    !ts_grow(&seen->times, &seen->cap, seen->nr + 1, sizeof(*seen->times)))
		return false;
	seen->times[seen->nr++] =
		(struct collective_time){ start_ps, ts_i64_add(start_ps, dur_ps) };
	seen->is_open_kept = seen->async.is_open;
	state->nr_kept++;
	return true;
}

static bool add_event(struct collectives_state *state, const struct ts_block *block, size_t i,
		      uint32_t slot)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	struct collective_seen *seen = &state->seen[slot];
	int64_t start_ps = block->start_ps[i], dur_ps = block->dur_ps[i];
	bool was_open = seen->async.is_open;

	ts_async_add(&seen->async, op, start_ps, dur_ps,
		     block->occurrences ? block->occurrences[i] : 1);
	if (op->partner == TS_NONE || op->async != TS_ASYNC_DONE)
		return keep_time(state, seen, start_ps, dur_ps);
	if (was_open && seen->is_open_kept)
		seen->times[seen->nr - 1].end_ps = ts_i64_add(start_ps, dur_ps);
	return true;
}

static enum ts_status collectives_block(void *arg, const struct ts_context *ctx,
					const struct ts_block *block, struct ts_error *err)
{
	struct collectives_state *state = arg;

	for (size_t i = 0; state->slots.nr > 0 && i < block->nr_events; i++) {
		uint32_t slot = state->slots.of_op[block->op[i]];

		if (slot != TS_NONE && !add_event(state, block, i, slot))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status make_sum(struct collectives_state *sum, const struct ts_context *ctx,
			       struct ts_error *err)
{
	if (sum->seen)
		return TS_OK;
	if (!sum->slots.of_op && !ts_collective_slots_make(&sum->slots, ctx->profile))
		return ts_fail_nomem(err);
	sum->seen = calloc(ctx->profile->nr_devices * sum->slots.nr + 1, sizeof(*sum->seen));
	if (!sum->seen)
		return ts_fail_nomem(err);
	sum->nr_devices = ctx->profile->nr_devices;
	return TS_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct collective_time *x = a, *y = b;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return (x->end_ps > y->end_ps) - (x->end_ps < y->end_ps);
}

/* Streams of one GPU are one core. */
static bool merge_seen(struct collective_seen *into, struct collective_seen *from)
{
	ts_async_end(&from->async);
	ts_async_merge(&into->async, &from->async);
	if (from->nr == 0)
		return true;
	if (into->nr == 0) {
		free(into->times);
		into->times = from->times;
		into->nr = from->nr;
		into->cap = from->cap;
		from->times = NULL;
		return true;
	}
	if (!ts_grow(&into->times, &into->cap, into->nr + from->nr, sizeof(*into->times)))
		return false;
	memcpy(&into->times[into->nr], from->times, from->nr * sizeof(*from->times));
	into->nr += from->nr;
	qsort(into->times, into->nr, sizeof(*into->times), by_time);
	return true;
}

static enum ts_status collectives_merge(void *arg_into, void *arg_from,
					const struct ts_context *ctx, struct ts_error *err)
{
	struct collectives_state *sum = arg_into, *line = arg_from;
	enum ts_status st = make_sum(sum, ctx, err);

	if (st)
		return st;
	sum->is_cut |= line->is_cut;
	for (size_t i = 0; i < line->slots.nr; i++)
		if (!merge_seen(&sum->seen[line->device_index * sum->slots.nr + i], &line->seen[i]))
			return ts_fail_nomem(err);
	return TS_OK;
}

static void collectives_release(void *arg)
{
	struct collectives_state *state = arg;

	for (size_t i = 0; state->seen && i < state->nr_devices * state->slots.nr; i++)
		free(state->seen[i].times);
	free(state->seen);
	ts_async_slots_release(&state->slots);
}

static enum ts_status collectives_close(void *arg, const struct ts_context *ctx, void *facts,
					struct ts_result *result, struct ts_error *err)
{
	struct collectives_state *sum = arg;
	struct collective_rows rows = { .nr = 0 };
	enum ts_status st = make_sum(sum, ctx, err);
	bool good;

	if (st || ctx->profile->nr_devices == 0) /* modules alone, or hosts alone: nothing ran */
		return st;
	good = ts_collectives_read(sum, ctx, &result->owner->arena, &rows, facts);
	if (good)
		ts_collectives_report(sum, ctx, &rows, facts, result);
	ts_collectives_release_rows(&rows);
	return good ? TS_OK : ts_fail_nomem(err);
}

const struct ts_analysis ts_analysis_collectives = {
	.name = "collectives",
	.title = "Collectives",
	.top_level = true,
	.pass = TS_PASS_FIRST,
	.state_size = sizeof(struct collectives_state),
	.facts_size = sizeof(struct ts_collectives_facts),
	.wants = collectives_wants,
	.open = collectives_open,
	.block = collectives_block,
	.merge = collectives_merge,
	.close = collectives_close,
	.release = collectives_release,
};
