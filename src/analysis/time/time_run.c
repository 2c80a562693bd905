/* SPDX-License-Identifier: MIT */
/*
 * The steps of one device, packed in the order of time, and their sum with those of the run. The sum has
 * a place for every row of the outline, so it grows with the steps of the run and not with its devices.
 */
#include "analysis/time/time.h"

#include "analysis/kit/spread.h"
#include "base/check.h"

enum ts_status ts_time_slow_open(struct time_device *device, const struct ts_context *ctx,
				 struct ts_error *err)
{
	device->nr_slow = ctx->steps ? ctx->steps->nr_slow : 0;
	device->slow = calloc(device->nr_slow + 1, sizeof(*device->slow));
	return device->slow ? TS_OK : ts_fail_nomem(err);
}

/* Where what the device did in a step is kept; NULL: the step is not slow. */
static struct time_slow *time_run_slow_of(const struct ts_context *ctx,
					  const struct ts_device_steps *steps,
					  struct time_device *device, uint64_t step)
{
	uint32_t at = ts_run_steps_slow_at(ctx->steps, ts_device_steps_row(steps, step));

	return at < device->nr_slow ? &device->slow[at] : NULL;
}

static void time_run_end_steps(const struct ts_context *ctx, const struct ts_device_steps *steps,
			       struct time_device *device, uint64_t until)
{
	for (; device->open_step < TS_MIN(until, device->nr_steps); device->open_step++) {
		struct time_slow *slow = time_run_slow_of(ctx, steps, device, device->open_step);

		if (slow) {
			slow->is_there = true;
			slow->from_ps = steps->items[device->open_step].start_ps;
			slow->until_ps = steps->items[device->open_step].end_ps;
			memcpy(slow->ps, device->open_ps, sizeof(slow->ps));
		}
		ts_time_pack(&device->steps, device->open_ps);
		memset(device->open_ps, 0, sizeof(device->open_ps));
	}
}

void ts_time_add_to_step(const struct ts_context *ctx, uint32_t device_index,
			 struct time_device *device, uint32_t step, int bucket, int64_t ps)
{
	TS_ASSERT_HOT(step < device->nr_steps && bucket < TS_NR_BUCKETS);
	if (device->step_ps) {
		device->step_ps[step][bucket] += ps;
		return;
	}
	if (!device->is_open)
		return;
	TS_ASSERT_HOT(step >= device->open_step); /* segments come in the order of time */
	if (step > device->open_step)
		time_run_end_steps(ctx, ts_steps_of(&ctx->outline->steps, device_index), device,
				   step);
	device->open_ps[bucket] += ps;
}

void ts_time_put_step(const struct ts_context *ctx, uint32_t device_index,
		      struct time_device *device, const int64_t ps[TS_NR_BUCKETS])
{
	memcpy(device->open_ps, ps, sizeof(device->open_ps));
	time_run_end_steps(ctx, ts_steps_of(&ctx->outline->steps, device_index), device,
			   device->open_step + 1);
}

static enum ts_status find_medians(struct time_device *device, struct ts_error *err)
{
	int64_t *scratch = malloc((device->nr_steps + 1) * sizeof(*scratch));

	if (!scratch)
		return ts_fail_nomem(err);
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		struct ts_bytes in = ts_buf_bytes(&device->steps);

		for (size_t i = 0; i < device->nr_steps; i++) {
			int64_t ps[TS_NR_BUCKETS];

			ts_time_unpack(&in, ps);
			scratch[i] = ps[b];
		}
		device->median_ps[b] = ts_median_of(scratch, device->nr_steps);
	}
	free(scratch);
	return TS_OK;
}

/* Row by row, what the run has and what the device has. */
static enum ts_status time_run_add_rows(struct ts_buf *run, size_t nr_rows,
					const struct ts_device_steps *steps,
					const struct ts_buf *device, struct ts_error *err)
{
	struct ts_bytes had = ts_buf_bytes(run), more = ts_buf_bytes(device);
	struct ts_buf both = TS_BUF_INIT;
	size_t at = 0;

	for (size_t row = 0; row < nr_rows; row++) {
		int64_t ps[TS_NR_BUCKETS] = { 0 }, own[TS_NR_BUCKETS];

		if (had.n > 0)
			ts_time_unpack(&had, ps);
		if (at < steps->nr && ts_device_steps_row(steps, at) == row) {
			ts_time_unpack(&more, own);
			for (int b = 0; b < TS_NR_BUCKETS; b++)
				ps[b] = ts_i64_add(ps[b], own[b]);
			at++;
		}
		ts_time_pack(&both, ps);
	}
	ts_buf_release(run);
	*run = both;
	return both.failed ? ts_fail_nomem(err) : TS_OK;
}

enum ts_status ts_time_add_steps(struct time_state *sum, const struct ts_context *ctx,
				 uint32_t index, struct time_device *device, struct ts_error *err)
{
	const struct ts_device_steps *steps;
	enum ts_status st = TS_OK;

	if (device->is_added || device->nr_steps == 0)
		return TS_OK;
	steps = ts_steps_of(&ctx->outline->steps, index);
	if (steps->nr != device->nr_steps)
		return ts_fail(err, TS_FORMAT, "a state of the time is of another run");
	device->is_open = false;
	device->is_added = true;
	time_run_end_steps(ctx, steps, device, device->nr_steps);
	if (device->steps.failed)
		st = ts_fail_nomem(err);
	else if (device->nr_slow > 0)
		st = find_medians(device, err);
	if (st == TS_OK)
		st = time_run_add_rows(&sum->steps, ctx->outline->steps.nr_steps, steps,
				       &device->steps, err);
	ts_buf_release(&device->steps);
	return st;
}
