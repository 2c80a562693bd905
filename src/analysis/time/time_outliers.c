/* SPDX-License-Identifier: MIT */
/*
 * Steps that take longer than the others: which bucket of time grew, on which core, in which op or
 * gap, and whether they come at regular intervals.
 *
 * Growth is against the median step, bucket by bucket. Where waiting in collectives grew most and
 * one core has more work of its own by half of what the step is longer, that core is the cause: the
 * others wait for it. Which steps are slow is known before (kit/run_steps.h).
 */
#include "analysis/time/time.h"

#include "analysis/kit/spread.h"
#include "base/check.h"

struct outliers {
	const struct time_state *sum;
	const struct ts_context *ctx;
	const struct ts_time_facts *facts;
	int64_t bucket_ps[TS_NR_BUCKETS]; /* of the median step, over all cores */
};

/* What explains a slow step. */
struct cause {
	enum ts_bucket bucket;
	int64_t excess_ps, growth_ps[TS_NR_BUCKETS];
	uint32_t device;   /* TS_NONE: none stands out */
	bool is_straggler; /* the other cores wait for it */
	struct time_step_op op;
	struct time_gap gap;
	uint32_t gap_device; /* TS_NONE: no gap */
};

/* Medians of each bucket, over all cores. */
static enum ts_status measure_buckets(struct outliers *all, struct ts_error *err)
{
	size_t nr_steps = all->facts->nr_steps;
	int64_t *scratch = malloc((nr_steps + 1) * sizeof(*scratch));

	if (!scratch)
		return ts_fail_nomem(err);
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		struct ts_time_walk walk = { .time = all->facts };

		while (ts_time_next_step(&walk))
			scratch[walk.nr - 1] = walk.step.ps[b];
		all->bucket_ps[b] = ts_median_of(scratch, nr_steps);
	}
	free(scratch);
	return TS_OK;
}

/* What a device did in a slow step; NULL: it does not have that step. */
static const struct time_slow *time_outliers_slow_of(const struct outliers *all, size_t d,
						     size_t slow)
{
	const struct time_device *device = &all->sum->devices[d];

	return device->seen && slow < device->nr_slow && device->slow[slow].is_there
		       ? &device->slow[slow]
		       : NULL;
}

static int64_t time_outliers_growth_of(const struct outliers *all, size_t d,
				       const struct time_slow *slow, int b)
{
	return slow->ps[b] - all->sum->devices[d].median_ps[b];
}

/* The core with most growth in a bucket. */
static void find_core(const struct outliers *all, size_t slow, struct cause *cause)
{
	int64_t most_ps = 0;

	cause->device = TS_NONE;
	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		const struct time_slow *of = time_outliers_slow_of(all, d, slow);
		int64_t ps = of ? time_outliers_growth_of(all, d, of, (int)cause->bucket) : 0;

		if (ps > most_ps) {
			most_ps = ps;
			cause->device = d;
		}
	}
}

/* Is there a core whose own work grew, while the others waited for it? */
static void find_straggler(const struct outliers *all, size_t slow, struct cause *cause)
{
	int64_t most_ps = all->ctx->steps->slow[slow].excess_ps / 2;

	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		const struct time_slow *of = time_outliers_slow_of(all, d, slow);
		int64_t own_ps = 0;
		int top = -1;

		for (int b = 0; of && b < TS_NR_BUCKETS; b++) {
			int64_t ps = time_outliers_growth_of(all, d, of, b);

			if (b == TS_BUCKET_COMMUNICATION || ps <= 0)
				continue;
			own_ps += ps;
			if (top < 0 || ps > time_outliers_growth_of(all, d, of, top))
				top = b;
		}
		if (top < 0 || own_ps <= most_ps)
			continue;
		most_ps = own_ps;
		cause->is_straggler = true;
		cause->device = d;
		cause->bucket = (enum ts_bucket)top;
		cause->excess_ps = time_outliers_growth_of(all, d, of, top);
	}
}

/* Can the op's time lie in the bucket? */
static bool time_outliers_is_in(const struct outliers *all, uint32_t op, enum ts_bucket bucket)
{
	enum ts_bucket whole = ts_op_bucket(&all->ctx->profile->ops[op]);

	return whole == TS_NR_BUCKETS ? ts_bucket_is_divided(bucket) : whole == bucket;
}

/* Of the ops in the bucket that grew, the one that did most: over all cores, or the late one's. */
static void time_outliers_find_op(const struct outliers *all, size_t slow, struct cause *cause)
{
	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		const struct time_slow *of = time_outliers_slow_of(all, d, slow);

		if (!of || (cause->is_straggler && d != cause->device))
			continue;
		for (size_t i = 0; i < TIME_STEP_OPS; i++) {
			struct time_step_op seen = of->ops[i];

			if (seen.in_step_ps <= 0 || seen.excess_ps <= cause->op.excess_ps ||
			    !time_outliers_is_in(all, seen.op, cause->bucket))
				continue;
			cause->op = seen;
		}
	}
}

/* The gap under the cause that has most of the step. */
static void find_gap(const struct outliers *all, size_t slow, struct cause *cause)
{
	int64_t most_ps = 0;

	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		const struct time_device *device = &all->sum->devices[d];
		const struct time_slow *step = time_outliers_slow_of(all, d, slow);

		for (size_t g = 0; step && g < device->nr_gaps; g++) {
			int64_t ps = ts_i64_sub(
				TS_MIN(ts_i64_add(device->gaps[g].start_ps, device->gaps[g].dur_ps),
				       step->until_ps),
				TS_MAX(device->gaps[g].start_ps, step->from_ps));

			if (ps <= most_ps || device->gaps[g].cause != cause->bucket)
				continue;
			most_ps = ps;
			cause->gap = device->gaps[g];
			cause->gap_device = d;
		}
	}
}

static struct cause time_outliers_explain(const struct outliers *all, size_t slow,
					  const struct ts_time_step *step)
{
	struct cause cause = { .gap_device = TS_NONE };

	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		cause.growth_ps[b] = step->ps[b] - all->bucket_ps[b];
		if (cause.growth_ps[b] > cause.growth_ps[cause.bucket])
			cause.bucket = (enum ts_bucket)b;
	}
	cause.excess_ps = cause.growth_ps[cause.bucket];
	find_core(all, slow, &cause);
	if (cause.bucket == TS_BUCKET_COMMUNICATION && all->sum->nr_devices > 1)
		find_straggler(all, slow, &cause);
	if (cause.bucket >= TS_BUCKET_COMPILATION)
		find_gap(all, slow, &cause);
	else
		time_outliers_find_op(all, slow, &cause);
	return cause;
}

static struct ts_slow_step slow_step(const struct ts_slow_row *slow, size_t step,
				     const struct cause *cause)
{
	struct ts_slow_step found = {
		.step = step,
		.duration_ps = slow->duration_ps,
		.excess_ps = slow->excess_ps,
		.period = slow->period,
		.cause = cause->bucket,
		.cause_excess_ps = cause->excess_ps,
		.device = cause->device,
		.is_straggler = cause->is_straggler,
		.op = cause->op.excess_ps > 0 ? cause->op.op : TS_NONE,
		.op_excess_ps = cause->op.excess_ps,
		.gap = { cause->gap_device, cause->gap.start_ps, cause->gap.dur_ps,
			 cause->gap.cause },
	};

	memcpy(found.growth_ps, cause->growth_ps, sizeof(found.growth_ps));
	return found;
}

/* Where a step of the run stands among those that are listed: rows without a step are not. */
static enum ts_status listed_at(const struct ts_context *ctx, const struct ts_time_facts *facts,
				const struct ts_slow_row *slow, size_t *at, struct ts_error *err)
{
	struct ts_steps_walk walk;
	struct ts_run_step step;
	enum ts_status st;

	*at = ts_run_steps_at(ctx->steps, slow->row);
	if (facts->nr_listed == ctx->steps->nr_kept)
		return TS_OK;
	st = ts_steps_walk_open(&walk, &ctx->outline->steps, err);
	if (st)
		return st;
	for (*at = 0; walk.row < slow->row && ts_steps_walk_next(&walk, &step);)
		*at += step.cores > 0;
	ts_steps_walk_close(&walk);
	return TS_OK;
}

static enum ts_status time_outliers_list_slow(struct outliers *all, struct ts_arena *arena,
					      struct ts_time_facts *facts, struct ts_error *err)
{
	const struct ts_run_steps *steps = all->ctx->steps;
	struct ts_slow_step *slow = ts_arena_array(arena, steps->nr_slow + 1, sizeof(*slow));

	if (!slow)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < steps->nr_slow; i++) {
		struct cause cause;
		size_t at;
		enum ts_status st = listed_at(all->ctx, facts, &steps->slow[i], &at, err);

		if (st)
			return st;
		if (at >= facts->nr_listed)
			return ts_fail(err, TS_FORMAT, "a state of the time is of another run");
		cause = time_outliers_explain(all, i, &facts->steps[at]);
		slow[i] = slow_step(&steps->slow[i], at, &cause);
	}
	facts->slow = slow;
	facts->nr_slow = steps->nr_slow;
	facts->nr_slow_steps = (int64_t)steps->nr_all_slow;
	facts->slow_period = steps->period;
	facts->median_step_ps = steps->median_ps;
	facts->step_mad_ps = steps->mad_ps;
	return TS_OK;
}

enum ts_status ts_time_outliers(const struct time_state *sum, const struct ts_context *ctx,
				struct ts_arena *arena, struct ts_time_facts *facts,
				struct ts_error *err)
{
	struct outliers all = { .sum = sum, .ctx = ctx, .facts = facts };

	TS_ASSERT(ctx->steps);
	if (facts->nr_steps == 0)
		return TS_OK;
	if (ctx->steps->nr_slow > 0) {
		enum ts_status st = measure_buckets(&all, err);

		if (st)
			return st;
	}
	return time_outliers_list_slow(&all, arena, facts, err);
}
