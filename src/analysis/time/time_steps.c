/* SPDX-License-Identifier: MIT */
/*
 * Which ops took more time in a slow step than they do in others. During the pass a core adds up what
 * each op has in the step it is in; when a slow one ends, the few that exceed their mean of the steps
 * before most are kept. What they exceed is worked out anew at the end, against all other steps.
 * So memory is a few rows a slow step, and an event costs an addition.
 */
#include "analysis/time/time.h"

#include "base/check.h"

enum ts_status ts_time_steps_open(struct time_state *state, const struct ts_context *ctx,
				  struct ts_error *err)
{
	TS_ASSERT(ctx->outline && !state->touched);
	state->step = TS_NONE;
	state->step_until_ps = INT64_MIN;
	if (state->device.nr_steps == 0)
		return TS_OK;
	state->touched = ts_room_alloc(ctx->profile->rooms,
				       (ctx->profile->nr_ops + 1) * sizeof(*state->touched));
	if (!state->touched)
		return ts_fail_nomem(err);
	return ts_time_slow_open(&state->device, ctx, err);
}

static void keep_op(struct time_step_op *kept, struct time_step_op seen)
{
	size_t at = TIME_STEP_OPS;

	if (seen.excess_ps <= 0)
		return;
	while (at > 0 && kept[at - 1].excess_ps < seen.excess_ps)
		at--;
	if (at == TIME_STEP_OPS)
		return;
	memmove(&kept[at + 1], &kept[at], (TIME_STEP_OPS - 1 - at) * sizeof(*kept));
	kept[at] = seen;
}

/* KEPT: of a slow step; NULL: it is not slow. */
static void end_op(struct time_state *state, struct time_step_op *kept, uint32_t op)
{
	struct time_class *class = &state->classes[op];
	int64_t before_ps = class->total_ps - class->in_step_ps;

	if (kept) {
		int64_t mean_ps = state->nr_ended ? before_ps / state->nr_ended : 0;

		keep_op(kept, (struct time_step_op){ op, class->in_step_ps,
						     ts_i64_sub(class->in_step_ps, mean_ps) });
	}
	class->in_step_ps = 0;
}

static void time_steps_end_step(struct time_state *state)
{
	struct time_step_op *kept =
		state->slow < state->device.nr_slow ? state->device.slow[state->slow].ops : NULL;

	if (state->step == TS_NONE)
		return;
	for (size_t i = 0; i < state->nr_touched; i++)
		end_op(state, kept, state->touched[i]);
	for (uint32_t op = 0; !state->touched && op < state->nr_classes; op++)
		if (state->classes[op].in_step_ps > 0)
			end_op(state, kept, op);
	state->nr_touched = 0;
	state->nr_ended++;
}

void ts_time_steps_begin(struct time_state *state, const struct ts_context *ctx, int64_t start_ps)
{
	const struct ts_device_steps *steps =
		ts_steps_of(&ctx->outline->steps, state->device_index);

	time_steps_end_step(state);
	state->step = ts_steps_at(steps, start_ps, &state->ops_hint);
	state->step_until_ps = ts_steps_until(steps, state->step, state->ops_hint);
	state->slow = TS_NONE;
	if (state->step != TS_NONE)
		state->slow =
			ts_run_steps_slow_at(ctx->steps, ts_device_steps_row(steps, state->step));
}

void ts_time_steps_finish(struct time_state *state)
{
	struct time_device *device = &state->device;

	time_steps_end_step(state);
	for (size_t s = 0; s < device->nr_slow; s++)
		for (size_t i = 0; i < TIME_STEP_OPS; i++) {
			struct time_step_op *kept = &device->slow[s].ops[i];
			int64_t others_ps;

			if (kept->in_step_ps == 0 || device->nr_steps < 2)
				continue;
			others_ps = ts_i64_sub(state->classes[kept->op].total_ps, kept->in_step_ps);
			kept->excess_ps = ts_i64_sub(kept->in_step_ps,
						     others_ps / (int64_t)(device->nr_steps - 1));
		}
}

/* Streams of one GPU. */
void ts_time_steps_merge(struct time_device *into, struct time_device *from)
{
	for (size_t s = 0; s < TS_MIN(into->nr_slow, from->nr_slow); s++)
		for (size_t i = 0; i < TIME_STEP_OPS; i++)
			keep_op(into->slow[s].ops, from->slow[s].ops[i]);
	if (into->nr_slow > 0 || from->nr_slow == 0)
		return;
	free(into->slow);
	into->slow = from->slow;
	into->nr_slow = from->nr_slow;
	from->slow = NULL;
	from->nr_slow = 0;
}
