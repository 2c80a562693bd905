/* SPDX-License-Identifier: MIT */
/* Step times within samples and between them, by the numbers of the steps. */
#include "live/overhead.h"

#include "base/check.h"
#include "base/map.h"
#include "base/units.h"
#include "base/order.h"

#include <stdlib.h>

#define MEDIAN_OF 60 /* samples */

/* From the start of the step before to its start, a step; NaN: it has another number than it should, or is the first one. */
static double from_start_to_start(const struct ts_look *look, size_t i)
{
	const struct ts_look_step *step = &look->steps[i], *before = step - 1;

	if (i == 0 || step->number <= before->number)
		return NAN;
	return (double)(step->start_ps - before->start_ps) /
	       (double)(step->number - before->number);
}

static double within_the_mark(const struct ts_look *look, size_t i)
{
	return (double)(look->steps[i].end_ps - look->steps[i].start_ps);
}

/* The median of the steps whose time is known, of none NaN; STEPS has room for a number of each. */
static double median_step(const struct ts_look *look,
			  double (*of)(const struct ts_look *look, size_t i), double *steps)
{
	TS_ASSERT(look != NULL && steps != NULL);

	double median = NAN;
	size_t nr = 0;

	for (size_t i = 0; i < look->nr_steps; i++) {
		double step = of(look, i);

		if (isfinite(step))
			steps[nr++] = step;
	}
	if (nr > 0) {
		qsort(steps, nr, sizeof(*steps), ts_double_order);
		median = (steps[(nr - 1) / 2] + steps[nr / 2]) / 2;
	}
	return median;
}

static int64_t unix_ns(const struct ts_profile *profile, int64_t ps)
{
	return ts_i64_add(profile->start_unix_ns, ps / TS_PS_PER_NS);
}

static uint64_t overhead_series_of(const struct ts_look *look, const struct ts_profile *profile)
{
	TS_ASSERT(look->nr_steps > 0);

	const struct ts_look_step *step = look->steps;

	return ts_hash(profile->hosts[step->host].name, ts_hash(profile->ops[step->op].name, 0));
}

static double step_between(const struct ts_overhead *overhead, const struct ts_look *look,
			   const struct ts_profile *profile)
{
	const struct ts_look_step *first = look->steps;
	int64_t ns = ts_i64_sub(unix_ns(profile, first->start_ps), overhead->last_unix_ns);

	if (!overhead->has_last || overhead_series_of(look, profile) != overhead->last_series ||
	    first->number <= overhead->last_number || ns <= 0)
		return NAN; /* this is also a job that was started again */
	return (double)ns * (double)TS_PS_PER_NS / (double)(first->number - overhead->last_number);
}

static double sampled_pct(const struct ts_overhead *overhead, int64_t now_ms)
{
	if (now_ms <= overhead->first_ms)
		return NAN;
	return TS_MIN((double)overhead->sampled_ms / (double)(now_ms - overhead->first_ms), 1) *
	       100;
}

enum ts_status ts_overhead_sample(struct ts_overhead *overhead, const struct ts_look *look,
				  const struct ts_profile *profile, int64_t start_ms,
				  int64_t end_ms, double values[TS_NR_METRICS],
				  struct ts_error *err)
{
	double *steps;

	TS_ASSERT(overhead != NULL && values != NULL);
	TS_ASSERT(!look || profile != NULL);
	TS_ASSERT(start_ms <= end_ms);
	if (overhead->first_ms == 0)
		overhead->first_ms = start_ms;
	if (look && profile->capture_ps > 0)
		overhead->sampled_ms += profile->capture_ps / TS_PS_PER_MS;
	values[TS_METRIC_SAMPLED] = sampled_pct(overhead, end_ms);
	if (!look || look->nr_steps == 0 || profile->start_unix_ns <= 0)
		return TS_OK;
	steps = calloc(look->nr_steps, sizeof(*steps));
	if (!steps)
		return ts_fail_nomem(err);
	values[TS_METRIC_STEP_UNSAMPLED] = step_between(overhead, look, profile);
	values[TS_METRIC_STEP] = median_step(look, from_start_to_start, steps);
	values[TS_METRIC_STEP_MARKED] = median_step(look, within_the_mark, steps);
	free(steps);
	overhead->has_last = true;
	overhead->last_series = overhead_series_of(look, profile);
	overhead->last_number = look->steps[look->nr_steps - 1].number;
	overhead->last_unix_ns = unix_ns(profile, look->steps[look->nr_steps - 1].start_ps);
	return TS_OK;
}

double ts_overhead_pct(const struct ts_ring *ring, double sampled_pct)
{
	TS_ASSERT(ring != NULL);

	double within = ts_ring_median(ring, TS_METRIC_STEP, MEDIAN_OF);
	double between = ts_ring_median(ring, TS_METRIC_STEP_UNSAMPLED, MEDIAN_OF);

	/* steps that are shorter while they are sampled: other things made the difference */
	if (!(between > 0) || !(within >= between))
		return NAN;
	return (within / between - 1) * sampled_pct;
}

void ts_overhead_end(const struct ts_overhead *overhead, const struct ts_ring *ring, int64_t now_ms,
		     double values[TS_NR_METRICS])
{
	TS_ASSERT(overhead != NULL && ring != NULL && values != NULL);
	ts_metrics_read(values, NULL);
	if (overhead->first_ms == 0)
		return;
	values[TS_METRIC_SAMPLED] = sampled_pct(overhead, now_ms);
	values[TS_METRIC_STEP] = ts_ring_median(ring, TS_METRIC_STEP, TS_RING);
	values[TS_METRIC_STEP_UNSAMPLED] = ts_ring_median(ring, TS_METRIC_STEP_UNSAMPLED, TS_RING);
	values[TS_METRIC_COST] = ts_overhead_pct(ring, values[TS_METRIC_SAMPLED]);
}
