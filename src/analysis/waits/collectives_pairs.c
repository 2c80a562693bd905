/* SPDX-License-Identifier: MIT */
/*
 * How the clock of one host differs from another's, by one collective in which cores of both wait for
 * each other: they leave it together, so the ends of one execution are one moment on two clocks. The
 * difference is the median over executions; where it grows with time, a line through them.
 *
 * Which execution of one host is which of the other is not a matter of the clock, which may be off by
 * more than a step: work is never quite regular, so the right shift is the one under which all
 * differences agree. Steps that both hosts number say it too, and decide where all intervals are alike.
 */
#include "analysis/waits/collectives.h"

#include <float.h>

#include "analysis/kit/spread.h"

#define MIN_MATCHED  4
#define MIN_DRIFT    16	 /* executions that show a drift */
#define LOOKS	     64	 /* executions that are compared */
#define MAX_TRIED    24	 /* slots of a host */
#define MAX_SEARCHED 4	 /* of these searched through */
#define MAX_SHIFT    512 /* executions before and behind that are tried */
#define MIN_SHIFT    8
#define NEAR_PS	     (60 * TS_PS_PER_MS) /* clocks of hosts differ by less */
#define LOOSE	     4	 /* ends of one moment lie within this part of the collective's length */
#define DECISIVE     2	 /* times as far apart are the ends under the next best shift */
#define NOISE_PS     1000 /* ends are not known better */
#define MAX_DRIFT    1e-3 /* no clock is worse */
#define EARLY_SHARE  8	 /* one of so many may leave before another came */

static int64_t collectives_pairs_size_of(int64_t ps)
{
	return ps < 0 ? ts_i64_sub(0, ps) : ps;
}

/* Differences of one pair under one shift, in the order of time. */
struct samples {
	int64_t t_ps[LOOKS], diff_ps[LOOKS]; /* t: of HOST's clock */
	int64_t scratch[LOOKS];
	size_t nr, nr_early, nr_all;
};

static void collectives_pairs_add_core(struct collective_host *other,
				       const struct collective_seen *seen, int64_t shift)
{
	for (size_t i = 0; i < other->seen.nr; i++) {
		size_t at = ts_collective_at(
			seen, ts_i64_add(ts_collective_number(&other->seen, i), shift));
		struct collective_time *time = &other->seen.times[i];

		if (at == SIZE_MAX)
			continue;
		time->start_ps = TS_MAX(time->start_ps, seen->times[at].start_ps);
		time->end_ps = TS_MIN(time->end_ps, seen->times[at].end_ps);
	}
}

/* Fills OTHER from the devices of its host that begin at FIRST. */
static enum ts_status make_host(const struct collective_cores *cores, uint32_t first,
				struct collective_host *other, struct ts_error *err)
{
	const struct collective_seen *base = cores->seen[first];

	other->host = cores->host[first];
	other->device = first;
	other->seen = *base;
	other->seen.times = malloc((base->nr + 1) * sizeof(*base->times));
	if (!other->seen.times)
		return ts_fail_nomem(err);
	if (base->nr > 0)
		memcpy(other->seen.times, base->times, base->nr * sizeof(*base->times));
	for (uint32_t d = first + 1; d < cores->nr_devices && cores->host[d] == other->host; d++)
		if (cores->seen[d]->nr > 0)
			collectives_pairs_add_core(other, cores->seen[d],
						   ts_collective_shift(base, cores->seen[d], true));
	return TS_OK;
}

static void sample(const struct collective_host *base, const struct collective_host *other,
		   int64_t shift, struct samples *samples)
{
	size_t each = (base->seen.nr + LOOKS - 1) / LOOKS;

	samples->nr = samples->nr_early = samples->nr_all = 0;
	for (size_t i = 0; i < base->seen.nr; i++) {
		size_t at = ts_collective_at(
			&other->seen, ts_i64_add(ts_collective_number(&base->seen, i), shift));

		if (at == SIZE_MAX)
			continue;
		samples->nr_all++;
		if (i % each != 0)
			continue;
		samples->t_ps[samples->nr] = other->seen.times[at].end_ps;
		samples->diff_ps[samples->nr++] =
			ts_i64_sub(other->seen.times[at].end_ps, base->seen.times[i].end_ps);
	}
}

/* Median slope from one half of the samples to the other. */
static double drift_of(struct samples *samples)
{
	size_t half = samples->nr / 2;
	double rates[LOOKS];

	for (size_t i = 0; i < half; i++) {
		int64_t dt = ts_i64_sub(samples->t_ps[i + half], samples->t_ps[i]);
		int64_t dd = ts_i64_sub(samples->diff_ps[i + half], samples->diff_ps[i]);

		rates[i] = dt > 0 ? (double)dd / (double)dt : 0;
		rates[i] = TS_MAX(TS_MIN(rates[i], MAX_DRIFT), -MAX_DRIFT);
	}
	for (size_t i = 0; i < half; i++)
		samples->scratch[i] = (int64_t)(rates[i] * 1e15);
	return (double)ts_median_of(samples->scratch, half) / 1e15;
}

static struct collective_line line_with(struct samples *samples, double drift)
{
	struct collective_line line = { .drift = drift,
					.pivot_ps = samples->t_ps[samples->nr / 2] };
	double sum = 0;

#define LESS_DRIFT(i) \
	ts_i64_sub(samples->diff_ps[i], \
		   (int64_t)(drift * (double)ts_i64_sub(samples->t_ps[i], line.pivot_ps)))
	for (size_t i = 0; i < samples->nr; i++)
		samples->scratch[i] = LESS_DRIFT(i);
	line.offset_ps = ts_median_of(samples->scratch, samples->nr);
	for (size_t i = 0; i < samples->nr; i++)
		samples->scratch[i] =
			collectives_pairs_size_of(ts_i64_sub(LESS_DRIFT(i), line.offset_ps));
#undef LESS_DRIFT
	for (size_t i = 0; i < samples->nr; i++)
		sum += (double)samples->scratch[i];
	line.mean_ps = sum / (double)samples->nr;
	line.spread_ps = ts_median_of(samples->scratch, samples->nr);
	return line;
}

/* A drift is believed when it explains most of the spread. */
static struct collective_line collectives_pairs_line_of(struct samples *samples)
{
	struct collective_line flat = line_with(samples, 0), sloped;

	if (samples->nr < MIN_DRIFT)
		return flat;
	sloped = line_with(samples, drift_of(samples));
	return (sloped.spread_ps + NOISE_PS) * DECISIVE < flat.spread_ps ? sloped : flat;
}

static double spread_under(const struct collective_host *base, const struct collective_host *other,
			   int64_t shift, struct samples *samples, struct collective_line *line)
{
	sample(base, other, shift, samples);
	if (samples->nr < MIN_MATCHED ||
	    samples->nr * 4 < TS_MIN(TS_MIN(base->seen.nr, other->seen.nr), LOOKS))
		return DBL_MAX; /* what few have in common may be chance */
	*line = collectives_pairs_line_of(samples);
	return line->mean_ps + NOISE_PS;
}

bool ts_collective_line_of(const struct collective_host *base, const struct collective_host *other,
			   int64_t shift, struct collective_line *line)
{
	struct samples samples;

	return spread_under(base, other, shift, &samples, line) < DBL_MAX;
}

/* Median time from one execution to the next. */
static int64_t collectives_pairs_interval_of(const struct collective_host *other)
{
	int64_t gaps[LOOKS];
	size_t each = TS_MAX(other->seen.nr / LOOKS, 1), nr = 0;

	for (size_t i = 1; i < other->seen.nr && nr < LOOKS; i += each)
		if (i % COLLECTIVE_BLOCK != 0 || other->seen.level == 0)
			gaps[nr++] = ts_i64_sub(other->seen.times[i].end_ps,
						other->seen.times[i - 1].end_ps);
	return TS_MAX(ts_median_of(gaps, nr), 1);
}

/* The shift that a difference of the clocks means. */
static int64_t shift_at(const struct collective_host *base, const struct collective_host *other,
			int64_t offset_ps)
{
	size_t mid = base->seen.nr / 2;
	size_t like = ts_collective_nearest(&other->seen,
					    ts_i64_add(base->seen.times[mid].end_ps, offset_ps));

	return ts_collective_number(&other->seen, like) - ts_collective_number(&base->seen, mid);
}

/* Executions that begin a step: of two steps of the run, which ones. */
struct places {
	uint32_t row[2];
	int64_t number[2];
	size_t nr;
};

static struct places collectives_pairs_places_of(const struct ts_context *ctx,
						 const struct collective_host *other)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	struct places places = { .nr = 0 };
	uint32_t row = TS_NONE;
	size_t hint = 0;

	if (other->device >= steps->nr_devices)
		return places;
	for (size_t i = 0; i < other->seen.nr; i++) {
		const struct ts_device_steps *own = ts_steps_of(steps, other->device);
		uint32_t step = ts_steps_at(own, other->seen.times[i].start_ps, &hint);
		uint32_t now = step == TS_NONE ? TS_NONE : ts_device_steps_row(own, step);
		bool is_next = i % COLLECTIVE_BLOCK != 0 || other->seen.level == 0;

		if (i > 0 && is_next && now != TS_NONE && row != TS_NONE && now != row) {
			places.row[TS_MIN(places.nr, 1)] = now;
			places.number[TS_MIN(places.nr, 1)] = ts_collective_number(&other->seen, i);
			places.nr++;
		}
		row = now;
	}
	return places;
}

/* The shift by the steps' rows: executions a step must be the same number on both. */
static bool shift_by_steps(const struct ts_context *ctx, const struct collective_host *base,
			   const struct collective_host *other, int64_t *shift)
{
	struct places x = collectives_pairs_places_of(ctx, base),
		      y = collectives_pairs_places_of(ctx, other);
	int64_t steps, numbers;

	if (x.nr < 2 || y.nr < 2)
		return false;
	steps = (int64_t)x.row[1] - (int64_t)x.row[0];
	numbers = x.number[1] - x.number[0];
	if (steps <= 0 || numbers % steps != 0 ||
	    ts_i64_mul(y.number[1] - y.number[0], steps) !=
		    ts_i64_mul(numbers, (int64_t)y.row[1] - (int64_t)y.row[0]))
		return false;
	*shift = ts_i64_sub(y.number[0] - x.number[0],
			    ts_i64_mul((int64_t)y.row[0] - (int64_t)x.row[0], numbers / steps));
	return true;
}

struct search {
	const struct collective_host *base, *other;
	struct samples *samples;
	int64_t best, calm; /* calm: of shifts about as good the one that changes the clock least */
	double best_ps, next_ps, calm_ps; /* how far apart ends lie */
};

static void try_shifts(struct search *search, int64_t from, int64_t to)
{
	struct collective_line line;

	search->best_ps = search->next_ps = DBL_MAX;
	for (int64_t shift = from; shift <= to; shift++) {
		double ps =
			spread_under(search->base, search->other, shift, search->samples, &line);

		if (ps < search->best_ps) {
			search->next_ps = search->best_ps;
			search->best_ps = ps;
			search->best = shift;
		} else {
			search->next_ps = TS_MIN(search->next_ps, ps);
		}
	}
}

static int64_t calmest(struct search *search, int64_t from, int64_t to)
{
	int64_t best = search->best, best_ps = INT64_MAX;
	struct collective_line line;

	for (int64_t shift = from; shift <= to; shift++) {
		double ps =
			spread_under(search->base, search->other, shift, search->samples, &line);

		if (ps > search->best_ps * DECISIVE || ps == DBL_MAX ||
		    collectives_pairs_size_of(line.offset_ps) >= best_ps)
			continue;
		best_ps = collectives_pairs_size_of(line.offset_ps);
		best = shift;
	}
	return best;
}

/* Which execution is which when nothing is known of the clocks. False: there are too few. */
static bool collectives_pairs_find_shift(const struct ts_context *ctx,
					 const struct collective_host *base,
					 const struct collective_host *other,
					 struct samples *samples, int64_t *shift,
					 enum ts_clock_source *source)
{
	struct search search = { .base = base, .other = other, .samples = samples };
	int64_t near = shift_at(base, other, 0), by_steps;
	int64_t reach = TS_MIN(TS_MAX(NEAR_PS / collectives_pairs_interval_of(base) + 1, MIN_SHIFT),
			       MAX_SHIFT);
	bool is_stepped = shift_by_steps(ctx, base, other, &by_steps);
	struct collective_line line;

	try_shifts(&search, near - reach, near + reach);
	*shift = search.best;
	*source = TS_CLOCK_COLLECTIVES;
	if (search.best_ps < DBL_MAX && search.next_ps > DECISIVE * search.best_ps)
		return true;
	if (is_stepped && spread_under(base, other, by_steps, samples, &line) <=
				  DECISIVE * TS_MIN(search.best_ps, DBL_MAX / DECISIVE)) {
		*shift = by_steps;
		if (ctx->outline->steps.source != TS_STEPS_MARKED)
			*source = TS_CLOCK_REGULAR;
		return samples->nr >= MIN_MATCHED;
	}
	*shift = calmest(&search, near - reach, near + reach);
	*source = TS_CLOCK_REGULAR;
	return search.best_ps < DBL_MAX;
}

/* No core leaves a collective before the last one came. */
static bool collectives_pairs_leaves_early(const struct collective_host *base,
					   const struct collective_host *other, int64_t shift,
					   const struct collective_line *line)
{
	size_t nr = 0, nr_early = 0;

	for (size_t i = 0; i < base->seen.nr; i++) {
		size_t at = ts_collective_at(
			&other->seen, ts_i64_add(ts_collective_number(&base->seen, i), shift));
		const struct collective_time *x = &base->seen.times[i], *y;
		int64_t by_ps;

		if (at == SIZE_MAX)
			continue;
		y = &other->seen.times[at];
		by_ps = ts_i64_add(
			line->offset_ps,
			(int64_t)(line->drift * (double)ts_i64_sub(y->end_ps, line->pivot_ps)));
		nr++;
		nr_early += ts_i64_sub(ts_i64_sub(y->start_ps, by_ps), x->end_ps) >
				    line->spread_ps + NOISE_PS ||
			    ts_i64_sub(x->start_ps, ts_i64_sub(y->end_ps, by_ps)) >
				    line->spread_ps + NOISE_PS;
	}
	return nr_early * EARLY_SHARE > nr;
}

static int64_t median_length(const struct collective_host *other, struct samples *samples)
{
	size_t each = (other->seen.nr + LOOKS - 1) / LOOKS, nr = 0;

	for (size_t i = 0; i < other->seen.nr; i += each)
		samples->scratch[nr++] =
			ts_i64_sub(other->seen.times[i].end_ps, other->seen.times[i].start_ps);
	return ts_median_of(samples->scratch, nr);
}

static double score_of(const struct collective_pair *pair)
{
	return (double)(pair->spread_ps + NOISE_PS) / sqrt((double)pair->nr_matched);
}

static enum ts_status keep_pair(struct collective_pairs *pairs, uint32_t at,
				const struct collective_pair *pair, struct ts_error *err)
{
	if (at != TS_NONE) {
		bool is_better = pair->source < pairs->items[at].source ||
				 (pair->source == pairs->items[at].source &&
				  score_of(pair) < score_of(&pairs->items[at]));

		if (is_better)
			pairs->items[at] = *pair;
		return TS_OK;
	}
	if (!ts_grow(&pairs->items, &pairs->cap, pairs->nr + 1, sizeof(*pairs->items)) ||
	    !ts_map_set(&pairs->by_hosts, (uint64_t)pair->base << 32 | pair->host,
			(uint32_t)pairs->nr))
		return ts_fail_nomem(err);
	pairs->items[pairs->nr++] = *pair;
	return TS_OK;
}

static void blame(struct collective_pairs *pairs, const struct collective_host *base,
		  const struct collective_host *other, enum ts_clock_source why)
{
	pairs->why[base->host] = TS_MAX(pairs->why[base->host], why);
	pairs->why[other->host] = TS_MAX(pairs->why[other->host], why);
}

enum ts_status ts_collective_pair_add(struct collective_pairs *pairs,
				      const struct collective_host *base,
				      const struct collective_host *other, int64_t shift,
				      enum ts_clock_source source, struct ts_error *err)
{
	uint32_t known = ts_map_find(&pairs->by_hosts, (uint64_t)base->host << 32 | other->host);
	struct samples samples = { .nr = 0 };
	struct collective_line line;
	struct collective_pair pair;

	if (spread_under(base, other, shift, &samples, &line) == DBL_MAX)
		return TS_OK;
	if (line.spread_ps > median_length(base, &samples) / LOOSE + NOISE_PS ||
	    collectives_pairs_leaves_early(base, other, shift, &line)) {
		blame(pairs, base, other, TS_CLOCK_TOO_WIDE);
		return TS_OK;
	}
	pair = (struct collective_pair){ .host = other->host,
					 .base = base->host,
					 .source = source,
					 .offset_ps = line.offset_ps,
					 .pivot_ps = line.pivot_ps,
					 .spread_ps = line.spread_ps,
					 .drift = line.drift,
					 .nr_matched = (int64_t)samples.nr_all };
	return keep_pair(pairs, known, &pair, err);
}

/* What another collective showed of the clocks says which execution is which; but for whole intervals,
 * then it is asked again. */
static enum ts_status collectives_pairs_add_pair(struct collective_pairs *pairs,
						 const struct collective_host *base,
						 const struct collective_host *other,
						 struct ts_error *err)
{
	uint32_t known = ts_map_find(&pairs->by_hosts, (uint64_t)base->host << 32 | other->host);
	enum ts_clock_source source = TS_CLOCK_COLLECTIVES;
	struct samples samples = { .nr = 0 };
	int64_t shift;

	if (known != TS_NONE && (pairs->items[known].source == TS_CLOCK_COLLECTIVES ||
				 pairs->nr_tried[other->host] > MAX_SEARCHED)) {
		source = pairs->items[known].source;
		shift = shift_at(base, other, pairs->items[known].offset_ps);
	} else if (!collectives_pairs_find_shift(pairs->ctx, base, other, &samples, &shift,
						 &source)) {
		blame(pairs, base, other, TS_CLOCK_TOO_FEW);
		return TS_OK;
	}
	return ts_collective_pair_add(pairs, base, other, shift, source, err);
}

enum ts_status ts_collective_pairs_add(struct collective_pairs *pairs,
				       const struct collective_cores *cores, struct ts_error *err)
{
	struct collective_host base = { .host = TS_NONE }, other = { .host = TS_NONE };
	enum ts_status st = TS_OK;

	for (uint32_t d = 0; !st && d < cores->nr_devices; d++) {
		if (cores->seen[d]->nr == 0 || cores->host[d] == other.host ||
		    cores->host[d] == base.host)
			continue;
		if (base.host == TS_NONE) {
			st = make_host(cores, d, &base, err);
			continue;
		}
		other.host = cores->host[d];
		if (pairs->nr_tried[other.host]++ >= MAX_TRIED)
			continue;
		st = make_host(cores, d, &other, err);
		if (!st)
			st = collectives_pairs_add_pair(pairs, &base, &other, err);
		free(other.seen.times);
	}
	free(base.seen.times);
	return st;
}
