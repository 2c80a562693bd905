/*
 * Steps that take longer than the others: which bucket of time grew, on which core, in which op or
 * gap, and whether they come at regular intervals.
 *
 * Growth is against the median step, bucket by bucket. Where waiting in collectives grew most and
 * one core has more work of its own by half of what the step is longer, that core is the cause: the
 * others wait for it. Medians are the lower ones, so that each is a step's real time.
 */
#include "analysis/time/time.h"

#include "analysis/settings.h"

#define MIN_STEPS    4	 /* below, a median says little */
#define MAX_ROWS     64	 /* the longest */
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
	const struct time_step *steps;
	size_t nr_steps, nr_ran;
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

static int64_t duration_of(const struct time_step *step)
{
	return step->total_ps / TS_MAX(step->cores, 1);
}

static int64_t median(int64_t *values, size_t nr)
{
	if (nr == 0)
		return 0;
	qsort(values, nr, sizeof(*values), ts_i64_order);
	return values[(nr - 1) / 2];
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
	all->median_ps = median(all->scratch, nr);
	for (size_t i = 0; i < nr; i++)
		all->scratch[i] = llabs((long long)(all->scratch[i] - all->median_ps));
	all->mad_ps = median(all->scratch, nr);
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

	for (size_t i = 0; i < TS_MIN(all->nr_slow, MAX_ROWS); i++)
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
		all->bucket_ps[b] = median(all->scratch, nr);
		for (size_t d = 0; d < all->sum->nr_devices; d++) {
			const struct time_device *device = &all->sum->devices[d];

			for (size_t i = 0; i < device->nr_steps; i++)
				all->scratch[i] = device->step_ps[i][b];
			all->core_ps[d][b] = median(all->scratch, device->nr_steps);
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
			    time_bucket_of(all->ctx, d, &all->ctx->profile->ops[seen.op]) !=
				    cause->bucket)
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

enum {
	COL_STEP,
	COL_START,
	COL_DURATION,
	COL_EXCESS,
	COL_EXCESS_SHARE,
	COL_DEVIATION,
	COL_PERIOD,
	COL_CAUSE,
	COL_CAUSE_EXCESS,
	COL_DEVICE,
	COL_DEVICE_ID,
	COL_STRAGGLER,
	COL_OP,
	COL_MODULE,
	COL_OP_EXCESS,
	COL_OP_INDEX,
	COL_GAP,
	COL_GAP_START,
	COL_GAP_DEVICE,
	COL_HOST_EVENT,
	COL_HOST_THREAD,
	COL_ENDED_BY,
	COL_GROWTH,
	NR_COLS = COL_GROWTH + TS_NR_BUCKETS
};

static const struct ts_column columns[NR_COLS] = {
	[COL_STEP] = { "step", TS_MEASURED, "step" },
	[COL_START] = { "start_ps", TS_MEASURED, NULL },
	[COL_DURATION] = { "duration_ps", TS_MEASURED, "duration" },
	[COL_EXCESS] = { "excess_ps", TS_MEASURED, "over the median" },
	[COL_EXCESS_SHARE] = { "excess_pct", TS_MEASURED, NULL },
	[COL_DEVIATION] = { "deviations", TS_MEASURED, NULL },
	[COL_PERIOD] = { "period", TS_DERIVED, "every" },
	[COL_CAUSE] = { "cause", TS_MEASURED, "grew" },
	[COL_CAUSE_EXCESS] = { "cause_excess_ps", TS_MEASURED, "by core time" },
	[COL_DEVICE] = { "device", TS_MEASURED, "most on" },
	[COL_DEVICE_ID] = { "device_id", TS_DERIVED, NULL },
	[COL_STRAGGLER] = { "is_straggler", TS_DERIVED, NULL },
	[COL_OP] = { "op", TS_MEASURED, "op" },
	[COL_MODULE] = { "module", TS_MEASURED, NULL },
	[COL_OP_EXCESS] = { "op_excess_ps", TS_MEASURED, NULL },
	[COL_OP_INDEX] = { "op_index", TS_DERIVED, NULL },
	[COL_GAP] = { "gap_ps", TS_MEASURED, NULL },
	[COL_GAP_START] = { "gap_start_ps", TS_MEASURED, NULL },
	[COL_GAP_DEVICE] = { "gap_device_id", TS_DERIVED, NULL },
	[COL_HOST_EVENT] = { "host_event", TS_MEASURED, "host was in" }, /* by the analysis gaps */
	[COL_HOST_THREAD] = { "host_thread", TS_MEASURED, NULL },
	[COL_ENDED_BY] = { "ended_by", TS_MEASURED, NULL },
	[COL_GROWTH + TS_BUCKET_COMPUTE] = { "compute_excess_ps", TS_MEASURED, NULL },
	[COL_GROWTH + TS_BUCKET_MEMORY_WAIT] = { "memory_wait_excess_ps", TS_MEASURED, NULL },
	[COL_GROWTH + TS_BUCKET_COMMUNICATION] = { "communication_excess_ps", TS_MEASURED, NULL },
	[COL_GROWTH + TS_BUCKET_HOST_TRANSFER] = { "host_transfer_excess_ps", TS_MEASURED, NULL },
	[COL_GROWTH +
		TS_BUCKET_REMATERIALIZATION] = { "rematerialization_excess_ps", TS_MEASURED, NULL },
	[COL_GROWTH + TS_BUCKET_COMPILATION] = { "compilation_excess_ps", TS_MEASURED, NULL },
	[COL_GROWTH + TS_BUCKET_INPUT] = { "input_excess_ps", TS_MEASURED, NULL },
	[COL_GROWTH + TS_BUCKET_IDLE] = { "idle_excess_ps", TS_MEASURED, NULL },
};

static void put_op(struct ts_value *row, const struct ts_profile *profile,
		   const struct cause *cause)
{
	const struct ts_op *op = &profile->ops[cause->op.op];

	if (cause->op.excess_ps <= 0)
		return;
	row[COL_OP] = ts_text(op->name);
	if (op->module != TS_NONE)
		row[COL_MODULE] = ts_text_or_null(profile->modules[op->module].name);
	row[COL_OP_EXCESS] = ts_int(cause->op.excess_ps);
	row[COL_OP_INDEX] = ts_int(cause->op.op);
}

static void put_row(const struct outliers *all, const struct slow *slow, struct ts_value *row)
{
	const struct ts_profile *profile = all->ctx->profile;
	struct cause cause = explain(all, slow);

	row[COL_STEP] = ts_int((int64_t)all->steps[slow->row].number);
	row[COL_START] = ts_int(all->steps[slow->row].start_ps);
	row[COL_DURATION] = ts_int(slow->duration_ps);
	row[COL_EXCESS] = ts_int(slow->excess_ps);
	row[COL_EXCESS_SHARE] = ts_share_pct((double)slow->excess_ps / (double)all->median_ps);
	row[COL_DEVIATION] = ts_real((double)slow->excess_ps / (double)all->mad_ps);
	row[COL_PERIOD] = ts_int_or_null(slow->period);
	row[COL_CAUSE] = ts_text(ts_bytes_of(ts_bucket_name(cause.bucket)));
	row[COL_CAUSE_EXCESS] = ts_int(cause.excess_ps);
	if (cause.device != TS_NONE) {
		row[COL_DEVICE] = ts_text(profile->devices[cause.device].name);
		row[COL_DEVICE_ID] = ts_int(cause.device);
	}
	row[COL_STRAGGLER] = ts_bool(cause.is_straggler);
	put_op(row, profile, &cause);
	if (cause.gap_device != TS_NONE) {
		row[COL_GAP] = ts_int(cause.gap.dur_ps);
		row[COL_GAP_START] = ts_int(cause.gap.start_ps);
		row[COL_GAP_DEVICE] = ts_int(cause.gap_device);
	}
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		row[COL_GROWTH + b] = ts_int(cause.growth_ps[b]);
}

static int longest_first(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	if (x->excess_ps != y->excess_ps)
		return x->excess_ps > y->excess_ps ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void put_fields(const struct outliers *all, struct ts_result *result)
{
	ts_result_field(result, "steps_median_ps", ts_int(all->median_ps), TS_MEASURED,
			"median step");
	ts_result_field(result, "steps_mad_ps", ts_int(all->mad_ps), TS_MEASURED,
			"median deviation from it");
	ts_result_field(result, "steps_slow_count", ts_int((int64_t)all->nr_slow), TS_MEASURED,
			"slow steps");
	ts_result_field(result, "steps_slow_period", ts_int_or_null(all->period), TS_DERIVED, NULL);
}

static bool put_rows(struct outliers *all, struct ts_result *result)
{
	struct ts_table *table =
		ts_result_table(result, "steps_outliers", "Slow steps", columns, NR_COLS);
	bool good = table != NULL;

	if (all->nr_slow > 1)
		qsort(all->slow, all->nr_slow, sizeof(*all->slow), longest_first);
	for (size_t i = 0; good && i < TS_MIN(all->nr_slow, MAX_ROWS); i++) {
		struct ts_value *row = ts_table_row(result, table);

		good = row != NULL;
		if (good)
			put_row(all, &all->slow[i], row);
	}
	return good;
}

static bool work_out(struct outliers *all, struct ts_result *result)
{
	if (!all->scratch || !all->slow || !all->core_ps)
		return false;
	measure(all);
	if (all->nr_ran == 0)
		return true;
	if (all->nr_ran >= MIN_STEPS && all->median_ps > 0)
		find_slow(all);
	for (int i = 0; i < MAX_PERIODS && find_period(all); i++)
		;
	if (all->nr_slow > 0)
		measure_buckets(all);
	put_fields(all, result);
	return put_rows(all, result);
}

enum ts_status time_outliers(const struct time_state *sum, const struct ts_context *ctx,
			     const struct time_step *steps, struct ts_result *result,
			     struct ts_error *err)
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
	good = work_out(&all, result);
	free(all.scratch);
	free(all.slow);
	free(all.core_ps);
	return good ? TS_OK : ts_fail_nomem(err);
}
