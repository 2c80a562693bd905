/* SPDX-License-Identifier: MIT */
/*
 * Steps that the outline knows before the walk: of a host's devices, each from the mean of their
 * starts and as long as the mean of their durations, so that steps follow one another and a moment
 * is of one step; of a host without such steps, what it marked itself. Shown is the earliest start,
 * which is that of the report's steps[].
 */
#include "analysis/gpu/timeline.h"

#include "base/check.h"

struct mean_step {
	uint64_t number;
	int64_t first_ps, behind_ps,
		total_ps; /* sums; behind: of the starts, after the first one's */
	int64_t earliest_ps, nr;
};

static void timeline_known_add_step(struct mean_step *mean, const struct ts_step *step)
{
	if (mean->nr++ == 0) {
		mean->number = step->number;
		mean->first_ps = mean->earliest_ps = step->start_ps;
	}
	mean->earliest_ps = TS_MIN(mean->earliest_ps, step->start_ps);
	mean->behind_ps = ts_i64_add(mean->behind_ps, ts_i64_sub(step->start_ps, mean->first_ps));
	mean->total_ps = ts_i64_add(mean->total_ps, ts_i64_sub(step->end_ps, step->start_ps));
}

static enum ts_status put_means(struct timeline_steps *steps, const struct mean_step *means,
				size_t nr, struct ts_error *err)
{
	int64_t behind_ps = INT64_MIN;
	enum ts_status st;

	for (size_t i = 0; i < nr; i++) {
		const struct mean_step *mean = &means[i];
		int64_t start_ps;

		if (mean->nr == 0)
			continue;
		start_ps = ts_i64_add(mean->first_ps, mean->behind_ps / mean->nr);
		start_ps = TS_MAX(start_ps,
				  behind_ps); /* where devices lack steps, means may overlap */
		behind_ps = ts_i64_add(start_ps, mean->total_ps / mean->nr);
		st = ts_timeline_steps_begin(steps, start_ps, behind_ps, mean->number, err);
		if (st)
			return st;
		steps->items[steps->nr - 1].earliest_ps = mean->earliest_ps;
	}
	return TS_OK;
}

/* The steps of those of KNOWN's devices that IS_OWN. */
static enum ts_status timeline_known_take(struct timeline_steps *steps,
					  const struct ts_steps *known, const bool *is_own,
					  struct ts_error *err)
{
	struct mean_step *means = calloc(known->nr_steps + 1, sizeof(*means));
	enum ts_status st;

	for (uint32_t d = 0; means && d < known->nr_devices; d++) {
		const struct ts_device_steps *own = is_own[d] ? ts_steps_of(known, d) : NULL;

		for (size_t i = 0; own && i < own->nr; i++)
			timeline_known_add_step(&means[ts_device_steps_row(own, i)],
						&own->items[i]);
	}
	st = means ? put_means(steps, means, known->nr_steps, err) : ts_fail_nomem(err);
	free(means);
	return st;
}

struct ts_step *ts_timeline_ranges(const struct ts_context *ctx, uint32_t host, size_t *nr)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	struct ts_step *ranges;

	TS_ASSERT(ctx && nr);
	*nr = 0;
	for (uint32_t d = 0; d < steps->nr_devices && steps->is_range; d++) {
		const struct ts_device_steps *of;

		if (ctx->profile->devices[d].host != host)
			continue;
		of = ts_steps_of(steps, d);
		*nr = of->nr;
		ranges = malloc((of->nr + 1) * sizeof(*ranges));
		if (ranges && of->nr > 0)
			memcpy(ranges, of->items, of->nr * sizeof(*ranges));
		return ranges;
	}
	return NULL;
}

enum ts_status ts_timeline_steps_known(struct timeline_steps *steps, const struct ts_context *ctx,
				       uint32_t host, struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	const struct ts_outline *outline = ctx->outline;
	size_t nr = TS_MAX(profile->nr_devices, profile->nr_hosts);
	bool *is_own = calloc(nr + 1, sizeof(*is_own));
	enum ts_status st;

	TS_ASSERT(steps && host < profile->nr_hosts);
	if (!is_own)
		return ts_fail_nomem(err);
	for (size_t d = 0; d < profile->nr_devices; d++)
		is_own[d] = profile->devices[d].host == host;
	st = timeline_known_take(steps, &outline->steps, is_own, err);
	steps->source = steps->nr > 0 ? TIMELINE_DEVICES : TIMELINE_NONE;
	if (!st && steps->nr == 0) {
		memset(is_own, 0, nr * sizeof(*is_own));
		is_own[host] = true;
		st = timeline_known_take(steps, &outline->host_steps, is_own, err);
		steps->source = steps->nr > 0 ? TIMELINE_HOST : TIMELINE_NONE;
	}
	steps->fixed = steps->nr > 0;
	free(is_own);
	return st;
}
