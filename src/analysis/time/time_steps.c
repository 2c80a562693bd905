/*
 * Which ops took more time in a step than they do in others. During the pass a core adds up what
 * each op has in the step it is in; when the step ends, the few that exceed their mean of the steps
 * before most are kept. What they exceed is worked out anew at the end, against all other steps.
 * So memory is a few rows a step, and an event costs an addition.
 */
#include "analysis/time/time.h"

#include "base/check.h"
bool ts_time_steps_open(struct time_state *state, const struct ts_context *ctx)
{
	TS_ASSERT(ctx->outline && !state->touched);
	state->step = TS_NONE;
	state->step_until_ps = INT64_MIN;
	if (state->device.nr_steps == 0)
		return true;
	state->touched = malloc((ctx->profile->nr_ops + 1) * sizeof(*state->touched));
	state->device.nr_step_ops = state->device.nr_steps;
	state->device.step_ops = calloc(state->device.nr_steps, sizeof(*state->device.step_ops));
	return state->touched && state->device.step_ops;
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

static void end_op(struct time_state *state, uint32_t op)
{
	struct time_class *class = &state->classes[op];
	int64_t before_ps = class->total_ps - class->in_step_ps;
	int64_t mean_ps = state->nr_ended ? before_ps / state->nr_ended : 0;
	struct time_step_op seen = { op, class->in_step_ps,
				     ts_i64_sub(class->in_step_ps, mean_ps) };

	keep_op(state->device.step_ops[state->step], seen);
	class->in_step_ps = 0;
}

static void end_step(struct time_state *state)
{
	if (state->step == TS_NONE)
		return;
	for (size_t i = 0; i < state->nr_touched; i++)
		end_op(state, state->touched[i]);
	for (uint32_t op = 0; !state->touched && op < state->nr_classes; op++)
		if (state->classes[op].in_step_ps > 0)
			end_op(state, op);
	state->nr_touched = 0;
	state->nr_ended++;
}

static void begin_step(struct time_state *state, const struct ts_context *ctx, int64_t start_ps)
{
	const struct ts_device_steps *steps = &ctx->outline->steps.devices[state->device_index];

	end_step(state);
	state->step = ts_steps_at(steps, start_ps, &state->ops_hint);
	if (state->step != TS_NONE)
		state->step_until_ps = steps->items[state->step].end_ps;
	else
		state->step_until_ps = state->ops_hint < steps->nr
					       ? steps->items[state->ops_hint].start_ps
					       : INT64_MAX;
}

void ts_time_steps_add(struct time_state *state, const struct ts_context *ctx, uint32_t op,
		       int64_t start_ps, int64_t dur_ps)
{
	struct time_class *class = &state->classes[op];

	TS_ASSERT_HOT(op < state->nr_classes);
	if (start_ps >= state->step_until_ps)
		begin_step(state, ctx, start_ps);
	if (state->step == TS_NONE || dur_ps <= 0)
		return;
	if (class->in_step_ps == 0)
		state->touched[state->nr_touched++] = op;
	class->in_step_ps = ts_i64_add(class->in_step_ps, dur_ps);
	class->total_ps = ts_i64_add(class->total_ps, dur_ps);
}

void ts_time_steps_finish(struct time_state *state)
{
	struct time_device *device = &state->device;

	if (device->nr_step_ops == 0)
		return;
	end_step(state);
	for (size_t s = 0; s < device->nr_step_ops; s++)
		for (size_t i = 0; i < TIME_STEP_OPS; i++) {
			struct time_step_op *kept = &device->step_ops[s][i];
			int64_t others_ps =
				ts_i64_sub(state->classes[kept->op].total_ps, kept->in_step_ps);

			if (kept->in_step_ps > 0 && device->nr_step_ops > 1)
				kept->excess_ps =
					ts_i64_sub(kept->in_step_ps,
						   others_ps / (int64_t)(device->nr_step_ops - 1));
		}
}

/* Streams of one GPU. */
void ts_time_steps_merge(struct time_device *into, struct time_device *from)
{
	if (from->nr_step_ops == 0)
		return;
	if (into->nr_step_ops == 0) {
		into->step_ops = from->step_ops;
		into->nr_step_ops = from->nr_step_ops;
		from->step_ops = NULL;
		from->nr_step_ops = 0;
		return;
	}
	for (size_t s = 0; s < TS_MIN(into->nr_step_ops, from->nr_step_ops); s++)
		for (size_t i = 0; i < TIME_STEP_OPS; i++)
			keep_op(into->step_ops[s], from->step_ops[s][i]);
}
