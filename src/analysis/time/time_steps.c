/*
 * Which ops took more time in a step than they do in others. During the pass a core adds up what
 * each op has in the step it is in; when the step ends, the few that exceed their mean of the steps
 * before most are kept. What they exceed is worked out anew at the end, against all other steps.
 * So memory is a few rows a step, and an event costs an addition.
 */
#include "analysis/time/time.h"

bool time_steps_open(struct time_state *state, const struct ts_context *ctx)
{
	state->step = TS_NONE;
	state->step_until_ps = INT64_MIN;
	if (state->device.nr_steps == 0)
		return true;
	state->touched = malloc((ctx->profile->nr_ops + 1) * sizeof(*state->touched));
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

static void end_step(struct time_state *state)
{
	for (size_t i = 0; i < state->nr_touched; i++) {
		struct time_class *class = &state->classes[state->touched[i]];
		int64_t mean_ps = state->nr_ended ? class->before_ps / state->nr_ended : 0;
		struct time_step_op seen = { state->touched[i], class->in_step_ps,
					     ts_i64_sub(class->in_step_ps, mean_ps) };

		keep_op(state->device.step_ops[state->step], seen);
		class->before_ps = ts_i64_add(class->before_ps, class->in_step_ps);
		class->in_step_ps = 0;
	}
	state->nr_touched = 0;
	if (state->step != TS_NONE)
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

void time_steps_add(struct time_state *state, const struct ts_context *ctx, uint32_t op,
		    int64_t start_ps, int64_t dur_ps)
{
	struct time_class *class = &state->classes[op];

	if (start_ps >= state->step_until_ps)
		begin_step(state, ctx, start_ps);
	if (state->step == TS_NONE || dur_ps <= 0)
		return;
	if (class->in_step_ps == 0)
		state->touched[state->nr_touched++] = op;
	class->in_step_ps = ts_i64_add(class->in_step_ps, dur_ps);
}

void time_steps_finish(struct time_state *state)
{
	struct time_device *device = &state->device;

	if (!device->step_ops)
		return;
	end_step(state);
	for (size_t s = 0; s < device->nr_steps; s++)
		for (size_t i = 0; i < TIME_STEP_OPS; i++) {
			struct time_step_op *kept = &device->step_ops[s][i];
			int64_t others_ps =
				ts_i64_sub(state->classes[kept->op].before_ps, kept->in_step_ps);

			if (kept->in_step_ps > 0 && device->nr_steps > 1)
				kept->excess_ps =
					ts_i64_sub(kept->in_step_ps,
						   others_ps / (int64_t)(device->nr_steps - 1));
		}
}

/* Streams of one GPU. */
void time_steps_merge(struct time_device *into, struct time_device *from)
{
	if (!from->step_ops)
		return;
	if (!into->step_ops) {
		into->step_ops = from->step_ops;
		from->step_ops = NULL;
		return;
	}
	for (size_t s = 0; s < into->nr_steps; s++)
		for (size_t i = 0; i < TIME_STEP_OPS; i++)
			keep_op(into->step_ops[s], from->step_ops[s][i]);
}
