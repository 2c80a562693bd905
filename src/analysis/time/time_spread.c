/* SPDX-License-Identifier: MIT */
/* A span of a device's time given to a bucket. */
#include "analysis/time/time.h"

#include "base/check.h"

/* The step that START_PS lies in, or the time up to the next one, is at hand for what comes next. */
static bool find_near(const struct ts_device_steps *steps, struct time_device *device,
		      int64_t start_ps)
{
	uint32_t at = ts_steps_at(steps, start_ps, &device->step_hint);

	device->near_step = at;
	device->near_from_ps = start_ps;
	device->near_until_ps = ts_steps_until(steps, at, device->step_hint);
	return device->near_until_ps > start_ps;
}

void ts_time_spread_any(const struct ts_context *ctx, uint32_t device_index,
			struct time_device *device, int64_t start_ps, int64_t end_ps,
			enum ts_bucket bucket)
{
	const struct ts_device_steps *steps = ts_steps_of(&ctx->outline->steps, device_index);

	TS_ASSERT_HOT(device_index < ctx->outline->steps.nr_devices && bucket < TS_NR_BUCKETS);
	TS_ASSERT_HOT(start_ps <= end_ps);
	device->total_ps[bucket] += end_ps - start_ps;
	while (steps->nr > 0 && start_ps < end_ps) {
		int64_t until_ps;

		if ((start_ps < device->near_from_ps || start_ps >= device->near_until_ps) &&
		    !find_near(steps, device, start_ps))
			return;
		until_ps = TS_MIN(end_ps, device->near_until_ps);
		if (device->near_step != TS_NONE)
			ts_time_add_to_step(ctx, device_index, device, device->near_step,
					    (int)bucket, until_ps - start_ps);
		start_ps = until_ps;
	}
}

/* Mostly a gap lies inside one step, or outside of all, and no host was seen at work in it. */
static bool time_spread_is_plain(const struct ts_host_spans *host, const struct time_device *device,
				 int64_t start_ps, int64_t end_ps)
{
	return host->compile.nr == 0 && host->input.nr == 0 && host->launch.nr == 0 &&
	       (device->nr_steps == 0 ||
		(start_ps >= device->near_from_ps && end_ps <= device->near_until_ps));
}

/* A part of a gap, inside one step or outside of all, by what the hosts did. Gives what most of it is. */
static enum ts_bucket divide(const struct ts_host_spans *host, struct time_device *device,
			     int64_t start_ps, int64_t end_ps, int64_t ps[TS_NR_BUCKETS])
{
	enum ts_bucket most = TS_BUCKET_IDLE;

	ps[TS_BUCKET_COMPILATION] =
		ts_spans_covered(&host->compile, start_ps, end_ps, &device->compile_hint);
	ps[TS_BUCKET_INPUT] = ts_spans_covered(&host->input, start_ps, end_ps, &device->input_hint);
	ps[TS_BUCKET_LAUNCH] =
		ts_spans_covered(&host->launch, start_ps, end_ps, &device->launch_hint);
	ps[TS_BUCKET_IDLE] = end_ps - start_ps - ps[TS_BUCKET_COMPILATION] - ps[TS_BUCKET_INPUT] -
			     ps[TS_BUCKET_LAUNCH];
	for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
		if (ps[b] > ps[most])
			most = b;
	return most;
}

/* Where the part of a gap ends that begins at START_PS: at a border of a step, whose place is in *STEP. */
static int64_t part_end(const struct ts_device_steps *steps, struct time_device *device,
			int64_t start_ps, int64_t end_ps, uint32_t *step)
{
	*step = ts_steps_at(steps, start_ps, &device->step_hint);
	return TS_MIN(end_ps, ts_steps_until(steps, *step, device->step_hint));
}

static const struct ts_host_spans *time_spread_host_of(const struct ts_context *ctx,
						       uint32_t device_index)
{
	return &ctx->outline->hosts[ctx->profile->devices[device_index].host];
}

static void add_gap_to_step(const struct ts_context *ctx, uint32_t device_index,
			    struct time_device *device, uint32_t step,
			    const int64_t ps[TS_NR_BUCKETS])
{
	for (int b = TS_BUCKET_COMPILATION; step != TS_NONE && b <= TS_BUCKET_IDLE; b++)
		ts_time_add_to_step(ctx, device_index, device, step, b, ps[b]);
}

static void keep_gap(struct time_device *device, struct time_gap gap)
{
	size_t at = device->nr_gaps;

	while (at > 0 && device->gaps[at - 1].dur_ps < gap.dur_ps)
		at--;
	if (at >= TIME_GAPS)
		return;
	device->nr_gaps = TS_MIN(device->nr_gaps + 1, TIME_GAPS);
	memmove(&device->gaps[at + 1], &device->gaps[at], (device->nr_gaps - 1 - at) * sizeof(gap));
	device->gaps[at] = gap;
}

enum ts_bucket ts_time_spread_gap(const struct ts_context *ctx, uint32_t device_index,
				  struct time_device *device, int64_t start_ps, int64_t end_ps)
{
	const struct ts_device_steps *steps = ts_steps_of(&ctx->outline->steps, device_index);
	const struct ts_host_spans *host = time_spread_host_of(ctx, device_index);
	struct time_gap gap = { start_ps, end_ps - start_ps, TS_BUCKET_IDLE };
	int64_t longest = 0;

	if (start_ps > end_ps) /* the ops of a saved state may lie outside the run */
		return TS_BUCKET_IDLE;
	if (time_spread_is_plain(host, device, start_ps, end_ps)) {
		ts_time_spread(ctx, device_index, device, start_ps, end_ps, TS_BUCKET_IDLE);
		start_ps = end_ps;
	}
	while (start_ps < end_ps) {
		int64_t ps[TS_NR_BUCKETS] = { 0 };
		uint32_t step;
		int64_t until = part_end(steps, device, start_ps, end_ps, &step);
		enum ts_bucket most = divide(host, device, start_ps, until, ps);

		for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
			device->total_ps[b] += ps[b];
		add_gap_to_step(ctx, device_index, device, step, ps);
		if (until - start_ps > longest) {
			longest = until - start_ps;
			gap.cause = most;
		}
		start_ps = until;
	}
	keep_gap(device, gap);
	return gap.cause;
}

void ts_time_spread_edge(const struct ts_context *ctx, uint32_t device_index,
			 struct time_device *device, int64_t start_ps, int64_t end_ps)
{
	const struct ts_device_steps *steps = ts_steps_of(&ctx->outline->steps, device_index);

	while (start_ps < end_ps) {
		int64_t ps[TS_NR_BUCKETS] = { 0 };
		uint32_t step;
		int64_t until = part_end(steps, device, start_ps, end_ps, &step);

		divide(time_spread_host_of(ctx, device_index), device, start_ps, until, ps);
		add_gap_to_step(ctx, device_index, device, step, ps);
		start_ps = until;
	}
}
