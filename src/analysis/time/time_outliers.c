/*
 * Steps that take longer than the others: which bucket of time grew, on which core, in which op or
 * gap, and whether they come at regular intervals.
 *
 * Growth is against the median step, bucket by bucket. Where waiting in collectives grew most and
 * one core has more work of its own by half of what the step is longer, that core is the cause: the
 * others wait for it. Medians are the lower ones, so that each is a step's real time.
 */
#include "analysis/time/time.h"

#include "analysis/kit/spread.h"
#include "analysis/settings.h"

#define MIN_STEPS    4	 /* with fewer, a median means little */
#define MAX_SLOW     64	 /* the longest that are explained */
#define MIN_REPEATS  3	 /* of a period */
#define MIN_REGULAR  0.8 /* of the steps of a period that must be slow */
#define MAX_PERIODS  4
#define SLOW_DEFAULT 20 /* %; without settings */

struct slow {
	size_t row; /* of the steps */
	int64_t duration_ps, excess_ps;
	int64_t period; /* -1: none */
};

struct outliers {
	const struct time_state *sum;
	const struct ts_context *ctx;
	const struct ts_time_step *steps;
	size_t nr_steps, nr_ran;
	size_t *ran;	  /* by row: its index among the steps that ran */
	int64_t *scratch; /* one a step */
	int64_t median_ps, mad_ps, limit_ps;
	int64_t bucket_ps[TS_NR_BUCKETS];  /* of the median step, over all cores */
	int64_t (*core_ps)[TS_NR_BUCKETS]; /* likewise of each device */
	struct slow *slow;		   /* in the order of time */
	size_t nr_slow;
	int64_t period;
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

static int64_t duration_of(const struct ts_time_step *step)
{
	return step->total_ps / TS_MAX(step->cores, 1);
}

static void measure(struct outliers *all)
{
	const struct ts_settings *settings = all->ctx->settings;
	double over = 1 + (settings ? settings->slow_step_high : SLOW_DEFAULT) / 100;
	size_t nr = 0;

	for (size_t i = 0; i < all->nr_steps; i++)
		if (all->steps[i].cores > 0)
			all->scratch[nr++] = duration_of(&all->steps[i]);
	all->nr_ran = nr;
	all->median_ps = ts_median_of(all->scratch, nr);
	for (size_t i = 0; i < nr; i++)
		all->scratch[i] = llabs((long long)(all->scratch[i] - all->median_ps));
	all->mad_ps = ts_median_of(all->scratch, nr);
	all->limit_ps = (double)all->median_ps * over < (double)INT64_MAX
				? (int64_t)((double)all->median_ps * over)
				: INT64_MAX;
}

static void find_slow(struct outliers *all)
{
	for (size_t i = 0; i < all->nr_steps; i++) {
		int64_t duration_ps = duration_of(&all->steps[i]);

		if (all->steps[i].cores > 0 && duration_ps > all->limit_ps)
			all->slow[all->nr_slow++] =
				(struct slow){ i, duration_ps, duration_ps - all->median_ps, -1 };
	}
}

/* How many of the slow steps without a period yet are on this one's beat; 0: too few of its steps. */
static size_t count_beat(const struct outliers *all, size_t period, size_t phase)
{
	size_t nr_all = phase < all->nr_steps ? (all->nr_steps - phase - 1) / period + 1 : 0;
	size_t nr = 0;

	for (size_t i = 0; i < all->nr_slow; i++)
		nr += all->slow[i].period < 0 && all->slow[i].row % period == phase;
	return nr >= MIN_REPEATS && (double)nr >= MIN_REGULAR * (double)nr_all ? nr : 0;
}

/* The period that most slow steps keep. False: none. */
static bool find_period(struct outliers *all)
{
	size_t best = 0, best_period = 0, best_phase = 0;

	for (size_t i = 0; i < TS_MIN(all->nr_slow, MAX_SLOW); i++)
		for (size_t j = i + 1; j < TS_MIN(all->nr_slow, i + MAX_PERIODS + 1); j++) {
			size_t period = all->slow[j].row - all->slow[i].row;
			size_t phase = all->slow[i].row % TS_MAX(period, 1);
			size_t nr = period < 2 ? 0 : count_beat(all, period, phase);

			if (nr > best || (nr == best && nr > 0 && period > best_period)) {
				best = nr;
				best_period = period;
				best_phase = phase;
			}
		}
	for (size_t i = 0; best > 0 && i < all->nr_slow; i++)
		if (all->slow[i].period < 0 && all->slow[i].row % best_period == best_phase)
			all->slow[i].period = (int64_t)best_period;
	if (best > 0 && all->period < 0)
		all->period = (int64_t)best_period;
	return best > 0;
}

/* Medians of each bucket, over all cores and of each. */
static void measure_buckets(struct outliers *all)
{
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		size_t nr = 0;

		for (size_t i = 0; i < all->nr_steps; i++)
			if (all->steps[i].cores > 0)
				all->scratch[nr++] = all->steps[i].ps[b];
		all->bucket_ps[b] = ts_median_of(all->scratch, nr);
		for (size_t d = 0; d < all->sum->nr_devices; d++) {
			const struct time_device *device = &all->sum->devices[d];

			for (size_t i = 0; i < device->nr_steps; i++)
				all->scratch[i] = device->step_ps[i][b];
			all->core_ps[d][b] = ts_median_of(all->scratch, device->nr_steps);
		}
	}
}

/* The device's own step of this row, or TS_NONE. Rows rise with its steps. */
static uint32_t step_of(const struct outliers *all, size_t d, size_t row)
{
	const struct ts_device_steps *steps = &all->ctx->outline->steps.devices[d];
	size_t lo = 0, hi = steps->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (steps->items[mid].row < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return all->sum->devices[d].seen && lo < steps->nr && steps->items[lo].row == row
		       ? (uint32_t)lo
		       : TS_NONE;
}

static int64_t growth_of(const struct outliers *all, size_t d, uint32_t step, int b)
{
	return all->sum->devices[d].step_ps[step][b] - all->core_ps[d][b];
}

/* The core with most growth in a bucket. */
static void find_core(const struct outliers *all, size_t row, struct cause *cause)
{
	int64_t most_ps = 0;

	cause->device = TS_NONE;
	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		uint32_t step = step_of(all, d, row);
		int64_t ps = step == TS_NONE ? 0 : growth_of(all, d, step, (int)cause->bucket);

		if (ps > most_ps) {
			most_ps = ps;
			cause->device = d;
		}
	}
}

/* Is there a core whose own work grew, while the others waited for it? */
static void find_straggler(const struct outliers *all, const struct slow *slow, struct cause *cause)
{
	int64_t most_ps = slow->excess_ps / 2;

	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		uint32_t step = step_of(all, d, slow->row);
		int64_t own_ps = 0;
		int top = -1;

		for (int b = 0; step != TS_NONE && b < TS_NR_BUCKETS; b++) {
			int64_t ps = growth_of(all, d, step, b);

			if (b == TS_BUCKET_COMMUNICATION || ps <= 0)
				continue;
			own_ps += ps;
			if (top < 0 || ps > growth_of(all, d, step, top))
				top = b;
		}
		if (top < 0 || own_ps <= most_ps)
			continue;
		most_ps = own_ps;
		cause->is_straggler = true;
		cause->device = d;
		cause->bucket = (enum ts_bucket)top;
		cause->excess_ps = growth_of(all, d, step, top);
	}
}

/* Can the op's time lie in the bucket? */
static bool is_in(const struct outliers *all, uint32_t op, enum ts_bucket bucket)
{
	enum ts_bucket whole = ts_op_bucket(&all->ctx->profile->ops[op]);

	return whole == TS_NR_BUCKETS ? ts_bucket_is_divided(bucket) : whole == bucket;
}

static bool is_gap(enum ts_bucket bucket)
{
	return bucket >= TS_BUCKET_COMPILATION;
}

/* Of the ops in the bucket that grew, the one that did most: over all cores, or the late one's. */
static void find_op(const struct outliers *all, size_t row, struct cause *cause)
{
	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		uint32_t step = step_of(all, d, row);

		if (step == TS_NONE || !all->sum->devices[d].step_ops ||
		    (cause->is_straggler && d != cause->device))
			continue;
		for (size_t i = 0; i < TIME_STEP_OPS; i++) {
			struct time_step_op seen = all->sum->devices[d].step_ops[step][i];

			if (seen.in_step_ps <= 0 || seen.excess_ps <= cause->op.excess_ps ||
			    !is_in(all, seen.op, cause->bucket))
				continue;
			cause->op = seen;
		}
	}
}

static int64_t overlap(const struct time_gap *gap, const struct ts_step *step)
{
	return TS_MIN(gap->start_ps + gap->dur_ps, step->end_ps) -
	       TS_MAX(gap->start_ps, step->start_ps);
}

/* The gap under the cause that has most of the step. */
static void find_gap(const struct outliers *all, size_t row, struct cause *cause)
{
	int64_t most_ps = 0;

	for (uint32_t d = 0; d < all->sum->nr_devices; d++) {
		const struct time_device *device = &all->sum->devices[d];
		uint32_t step = step_of(all, d, row);

		for (size_t g = 0; step != TS_NONE && g < device->nr_gaps; g++) {
			int64_t ps = overlap(&device->gaps[g],
					     &all->ctx->outline->steps.devices[d].items[step]);

			if (ps <= most_ps || device->gaps[g].cause != cause->bucket)
				continue;
			most_ps = ps;
			cause->gap = device->gaps[g];
			cause->gap_device = d;
		}
	}
}

static struct cause explain(const struct outliers *all, const struct slow *slow)
{
	struct cause cause = { .gap_device = TS_NONE };

	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		cause.growth_ps[b] = all->steps[slow->row].ps[b] - all->bucket_ps[b];
		if (cause.growth_ps[b] > cause.growth_ps[cause.bucket])
			cause.bucket = (enum ts_bucket)b;
	}
	cause.excess_ps = cause.growth_ps[cause.bucket];
	find_core(all, slow->row, &cause);
	if (cause.bucket == TS_BUCKET_COMMUNICATION && all->sum->nr_devices > 1)
		find_straggler(all, slow, &cause);
	if (is_gap(cause.bucket))
		find_gap(all, slow->row, &cause);
	else
		find_op(all, slow->row, &cause);
	return cause;
}

static struct ts_slow_step slow_step(const struct outliers *all, const struct slow *slow,
				     const struct cause *cause)
{
	struct ts_slow_step step = {
		.step = all->ran[slow->row],
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

	memcpy(step.growth_ps, cause->growth_ps, sizeof(step.growth_ps));
	return step;
}

static int longest_first(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	if (x->excess_ps != y->excess_ps)
		return x->excess_ps > y->excess_ps ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static bool list_slow(struct outliers *all, struct ts_arena *arena, struct ts_time_facts *facts)
{
	size_t nr = TS_MIN(all->nr_slow, MAX_SLOW);
	struct ts_slow_step *slow = ts_arena_array(arena, nr + 1, sizeof(*slow));

	if (all->nr_slow > 1)
		qsort(all->slow, all->nr_slow, sizeof(*all->slow), longest_first);
	for (size_t i = 0; i < nr && slow; i++) {
		struct cause cause = explain(all, &all->slow[i]);

		slow[i] = slow_step(all, &all->slow[i], &cause);
	}
	facts->slow = slow;
	facts->nr_slow = nr;
	facts->nr_slow_steps = (int64_t)all->nr_slow;
	facts->slow_period = all->period;
	facts->median_step_ps = all->median_ps;
	facts->step_mad_ps = all->mad_ps;
	return slow != NULL;
}

/* Index among the steps that ran, by row. */
static void number_steps(struct outliers *all)
{
	size_t nr = 0;

	for (size_t i = 0; i < all->nr_steps; i++) {
		all->ran[i] = nr;
		nr += all->steps[i].cores > 0;
	}
}

static bool work_out(struct outliers *all, struct ts_arena *arena, struct ts_time_facts *facts)
{
	if (!all->scratch || !all->slow || !all->core_ps || !all->ran)
		return false;
	measure(all);
	if (all->nr_ran == 0)
		return true;
	number_steps(all);
	if (all->nr_ran >= MIN_STEPS && all->median_ps > 0)
		find_slow(all);
	for (int i = 0; i < MAX_PERIODS && find_period(all); i++)
		;
	if (all->nr_slow > 0)
		measure_buckets(all);
	return list_slow(all, arena, facts);
}

enum ts_status ts_time_outliers(const struct time_state *sum, const struct ts_context *ctx,
				const struct ts_time_step *steps, struct ts_arena *arena,
				struct ts_time_facts *facts, struct ts_error *err)
{
	size_t nr_steps = ctx->outline->steps.nr_steps, room = nr_steps;
	struct outliers all = {
		.sum = sum, .ctx = ctx, .steps = steps, .nr_steps = nr_steps, .period = -1
	};
	bool good;

	for (size_t d = 0; d < sum->nr_devices; d++)
		room = TS_MAX(room, sum->devices[d].nr_steps);
	all.scratch = calloc(room + 1, sizeof(*all.scratch));
	all.slow = calloc(nr_steps + 1, sizeof(*all.slow));
	all.core_ps = calloc(sum->nr_devices + 1, sizeof(*all.core_ps));
	all.ran = calloc(nr_steps + 1, sizeof(*all.ran));
	good = work_out(&all, arena, facts);
	free(all.scratch);
	free(all.slow);
	free(all.core_ps);
	free(all.ran);
	return good ? TS_OK : ts_fail_nomem(err);
}
