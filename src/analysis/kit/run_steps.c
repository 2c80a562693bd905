/* SPDX-License-Identifier: MIT */
/*
 * Steps of the run, row by row of the outline; which of them are slow, and which are listed.
 *
 * Slow is a step that takes longer than the median by the share of a threshold: the median of its kind, as steps that do
 * different work (other programs, other phases of a server) are not compared with each other.
 */
#include "analysis/kit/run_steps.h"

#include "analysis/kit/spread.h"
#include "analysis/settings_list.h"
#include "base/check.h"
#include "base/order.h"

#define MIN_STEPS    4	 /* with fewer, a median means little */
#define MIN_REPEATS  3	 /* of a period */
#define MIN_REGULAR  0.8 /* of the steps of a period that must be slow */
#define MAX_PERIODS  4
#define SLOW_DEFAULT 20 /* %; without settings */

enum ts_status ts_steps_walk_open(struct ts_steps_walk *walk, const struct ts_steps *steps,
				  struct ts_error *err)
{
	TS_ASSERT(walk && steps);
	*walk = (struct ts_steps_walk){ .steps = steps };
	walk->at = calloc(steps->nr_devices + 1, sizeof(*walk->at));
	return walk->at ? TS_OK : ts_fail_nomem(err);
}

void ts_steps_walk_close(struct ts_steps_walk *walk)
{
	TS_ASSERT(walk);
	free(walk->at);
	walk->at = NULL;
}

void ts_run_step_add(struct ts_run_step *sum, const struct ts_step *step, uint32_t work)
{
	TS_ASSERT_HOT(sum && step);
	if (sum->cores == 0)
		*sum = (struct ts_run_step){ .number = step->number,
					     .start_ps = step->start_ps,
					     .work = work };
	sum->cores++;
	sum->start_ps = TS_MIN(sum->start_ps, step->start_ps);
	sum->total_ps = ts_i64_add(sum->total_ps, step->end_ps - step->start_ps);
}

static void add_device(struct ts_run_step *sum, const struct ts_device_steps *device, size_t at)
{
	ts_run_step_add(sum, &device->items[at], ts_device_steps_work(device, at));
}

bool ts_steps_walk_next(struct ts_steps_walk *walk, struct ts_run_step *step)
{
	const struct ts_steps *steps = walk->steps;

	TS_ASSERT_HOT(walk->at && step);
	*step = (struct ts_run_step){ .cores = 0 };
	if (walk->row >= steps->nr_steps)
		return false;
	if (steps->rows) {
		*step = steps->rows[walk->row++];
		return true;
	}
	for (size_t d = 0; d < steps->nr_devices; d++) {
		const struct ts_device_steps *device = &steps->devices[d];

		if (walk->at[d] < device->nr &&
		    ts_device_steps_row(device, walk->at[d]) == walk->row)
			add_device(step, device, walk->at[d]++);
	}
	walk->row++;
	return true;
}

/* What a step of a kind is held against. */
struct kind_limit {
	uint32_t kind;
	int64_t median_ps, limit_ps;
};

struct kind_limits {
	struct kind_limit *items; /* by kind, rising */
	size_t nr;
};

static uint32_t kind_of_step(const struct ts_steps *steps, const struct ts_run_step *step)
{
	return ts_steps_work(steps, step->work).kind;
}

static const struct kind_limit *limit_of_kind(const struct kind_limits *limits, uint32_t kind)
{
	size_t lo = 0, hi = limits->nr - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (limits->items[mid].kind < kind)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &limits->items[lo];
}

/* Gives the number of those that take longer than their limits, and into SLOW, where there is room, which. */
static size_t run_steps_find_slow(const struct ts_steps *steps, const struct kind_limits *limits,
				  struct ts_slow_row *slow, struct ts_steps_walk *walk)
{
	struct ts_run_step step;
	size_t nr = 0;

	memset(walk->at, 0, steps->nr_devices * sizeof(*walk->at));
	for (walk->row = 0; ts_steps_walk_next(walk, &step);) {
		const struct kind_limit *limit = limit_of_kind(limits, kind_of_step(steps, &step));
		int64_t ps = ts_run_step_duration(&step);

		if (step.cores == 0 || ps <= limit->limit_ps)
			continue;
		if (slow)
			slow[nr] = (struct ts_slow_row){ walk->row - 1, ps, ps - limit->median_ps,
							 -1 };
		nr++;
	}
	return nr;
}

/* How many of the slow steps without a period yet are on this one's beat; 0: too few of its steps. */
static size_t count_beat(const struct ts_run_steps *all, size_t period, size_t phase)
{
	size_t nr_all = phase < all->nr_rows ? (all->nr_rows - phase - 1) / period + 1 : 0;
	size_t nr = 0;

	for (size_t i = 0; i < all->nr_all_slow; i++)
		nr += all->slow[i].period < 0 && all->slow[i].row % period == phase;
	return nr >= MIN_REPEATS && (double)nr >= MIN_REGULAR * (double)nr_all ? nr : 0;
}

/* The period that most slow steps keep. False: none. */
static bool find_period(struct ts_run_steps *all)
{
	size_t best = 0, best_period = 0, best_phase = 0;

	for (size_t i = 0; i < TS_MIN(all->nr_all_slow, TS_MAX_SLOW); i++)
		for (size_t j = i + 1; j < TS_MIN(all->nr_all_slow, i + MAX_PERIODS + 1); j++) {
			size_t period = all->slow[j].row - all->slow[i].row;
			size_t phase = all->slow[i].row % TS_MAX(period, 1);
			size_t nr = period < 2 ? 0 : count_beat(all, period, phase);

			if (nr > best || (nr == best && nr > 0 && period > best_period)) {
				best = nr;
				best_period = period;
				best_phase = phase;
			}
		}
	for (size_t i = 0; best > 0 && i < all->nr_all_slow; i++)
		if (all->slow[i].period < 0 && all->slow[i].row % best_period == best_phase)
			all->slow[i].period = (int64_t)best_period;
	if (best > 0 && all->period < 0)
		all->period = (int64_t)best_period;
	return best > 0;
}

TS_ORDER(run_steps_longest_first, struct ts_slow_row, TS_DOWN(excess_ps) TS_UP(row))

static enum ts_status run_steps_list_slow(const struct ts_steps *steps,
					  const struct kind_limits *limits,
					  struct ts_run_steps *all, struct ts_steps_walk *walk,
					  struct ts_error *err)
{
	all->nr_all_slow = run_steps_find_slow(steps, limits, NULL, walk);
	all->slow = calloc(all->nr_all_slow + 1, sizeof(*all->slow));
	if (!all->slow)
		return ts_fail_nomem(err);
	run_steps_find_slow(steps, limits, all->slow, walk);
	for (int i = 0; i < MAX_PERIODS && find_period(all); i++)
		;
	TS_SORT(all->slow, all->nr_all_slow, run_steps_longest_first);
	all->nr_slow = TS_MIN(all->nr_all_slow, TS_MAX_SLOW);
	return TS_OK;
}

static int64_t run_steps_limit_of(const struct ts_settings *settings, int64_t median_ps)
{
	double over = 1 + (settings ? settings->slow_step_high : SLOW_DEFAULT) / 100;

	return (double)median_ps * over < (double)INT64_MAX ? (int64_t)((double)median_ps * over)
							    : INT64_MAX;
}

struct timed_step {
	uint32_t kind;
	int64_t ps;
};

TS_ORDER(run_steps_by_kind, struct timed_step, TS_UP(kind) TS_UP(ps))

/* Of the NR steps of one kind, by their length. */
static struct kind_limit run_steps_limit_of_kind(const struct timed_step *steps, size_t nr,
						 const struct ts_settings *settings)
{
	int64_t low_ps = steps[(nr - 1) / 2].ps, high_ps = steps[nr / 2].ps;
	struct kind_limit limit = { steps[0].kind, low_ps + (high_ps - low_ps) / 2, INT64_MAX };

	if (nr >= MIN_STEPS && limit.median_ps > 0)
		limit.limit_ps = run_steps_limit_of(settings, limit.median_ps);
	return limit;
}

static bool has_kinds(struct ts_steps_walk *walk)
{
	struct ts_run_step step;
	uint32_t kind = 0;
	bool is_first = true, differ = false;

	memset(walk->at, 0, walk->steps->nr_devices * sizeof(*walk->at));
	for (walk->row = 0; !differ && ts_steps_walk_next(walk, &step);) {
		if (step.cores == 0)
			continue;
		differ = !is_first && kind_of_step(walk->steps, &step) != kind;
		kind = kind_of_step(walk->steps, &step);
		is_first = false;
	}
	return differ;
}

static void list_timed(struct timed_step *timed, struct ts_steps_walk *walk)
{
	struct ts_run_step step;
	size_t nr = 0;

	memset(walk->at, 0, walk->steps->nr_devices * sizeof(*walk->at));
	for (walk->row = 0; ts_steps_walk_next(walk, &step);)
		if (step.cores > 0)
			timed[nr++] = (struct timed_step){ kind_of_step(walk->steps, &step),
							   ts_run_step_duration(&step) };
}

/* LIMITS has room for one a step. */
static enum ts_status limit_kinds(const struct ts_run_steps *all,
				  const struct ts_settings *settings, struct ts_steps_walk *walk,
				  struct kind_limits *limits, struct ts_error *err)
{
	struct timed_step *timed = malloc((all->nr_ran + 1) * sizeof(*timed));
	size_t from, end;

	if (!timed)
		return ts_fail_nomem(err);
	list_timed(timed, walk);
	TS_SORT(timed, all->nr_ran, run_steps_by_kind);
	for (from = 0; from < all->nr_ran; from = end) {
		for (end = from + 1; end < all->nr_ran && timed[end].kind == timed[from].kind;)
			end++;
		limits->items[limits->nr++] =
			run_steps_limit_of_kind(timed + from, end - from, settings);
	}
	free(timed);
	return TS_OK;
}

static enum ts_status run_steps_judge(const struct ts_steps *steps,
				      const struct ts_settings *settings, struct ts_run_steps *all,
				      struct ts_steps_walk *walk, struct ts_error *err)
{
	bool kinds = has_kinds(walk);
	struct kind_limits limits = {
		.items = malloc((kinds ? all->nr_ran : 1) * sizeof(*limits.items)), .nr = 0
	};
	enum ts_status st = limits.items ? TS_OK : ts_fail_nomem(err);

	if (st == TS_OK && kinds)
		st = limit_kinds(all, settings, walk, &limits, err);
	else if (st == TS_OK)
		limits.items[limits.nr++] =
			(struct kind_limit){ 0, all->median_ps,
					     run_steps_limit_of(settings, all->median_ps) };
	if (st == TS_OK)
		st = run_steps_list_slow(steps, &limits, all, walk, err);
	free(limits.items);
	return st;
}

static void list_durations(struct ts_run_steps *all, struct ts_steps_walk *walk)
{
	struct ts_run_step step;

	while (ts_steps_walk_next(walk, &step))
		if (step.cores > 0)
			all->durations_ps[all->nr_ran++] = ts_run_step_duration(&step);
}

static enum ts_status run_steps_measure(struct ts_run_steps *all, struct ts_error *err)
{
	int64_t *scratch = malloc((all->nr_ran + 1) * sizeof(*scratch));

	if (!scratch)
		return ts_fail_nomem(err);
	memcpy(scratch, all->durations_ps, all->nr_ran * sizeof(*scratch));
	all->median_ps = ts_median_of(scratch, all->nr_ran);
	for (size_t i = 0; i < all->nr_ran; i++)
		scratch[i] = llabs((long long)(all->durations_ps[i] - all->median_ps));
	all->mad_ps = ts_median_of(scratch, all->nr_ran);
	free(scratch);
	return TS_OK;
}

/* Marks the NR_MARKED largest numbers; of equal ones the first. SCRATCH has room for all. */
static void mark_largest(const int64_t *numbers, size_t nr, size_t nr_marked, int64_t *scratch,
			 bool *marks)
{
	size_t nr_equal = nr_marked;
	int64_t least;

	memcpy(scratch, numbers, nr * sizeof(*scratch));
	least = ts_select(scratch, nr, nr - nr_marked);
	for (size_t i = 0; i < nr; i++)
		nr_equal -= numbers[i] > least;
	for (size_t i = 0; i < nr; i++) {
		bool is_first = numbers[i] == least && nr_equal > 0;

		marks[i] |= numbers[i] > least || is_first;
		nr_equal -= is_first;
	}
}

uint32_t *ts_choose_rows(const int64_t *numbers, size_t nr, size_t max, size_t *nr_kept)
{
	size_t largest = TS_MIN(max / 2, nr), spread = TS_MIN(max - max / 2, nr);
	uint32_t *rows = malloc((TS_MIN(nr, max) + 1) * sizeof(*rows));
	int64_t *scratch = malloc((nr + 1) * sizeof(*scratch));
	bool *marks = calloc(nr + 1, sizeof(*marks));

	TS_ASSERT(numbers && nr_kept && nr < UINT32_MAX);
	*nr_kept = 0;
	if (!rows || !scratch || !marks) {
		free(rows);
		rows = NULL;
		goto done;
	}
	if (nr > max && largest > 0)
		mark_largest(numbers, nr, largest, scratch, marks);
	for (size_t i = 0; nr > max && i < spread; i++)
		marks[(size_t)((double)i * (double)nr / (double)spread)] = true;
	for (size_t i = 0; i < nr; i++)
		if (nr <= max || marks[i])
			rows[(*nr_kept)++] = (uint32_t)i;
done:
	free(scratch);
	free(marks);
	return rows;
}

/* From places among those that ran to rows. */
static enum ts_status place_rows(const struct ts_steps *steps, struct ts_run_steps *all,
				 struct ts_error *err)
{
	struct ts_steps_walk walk;
	struct ts_run_step step;
	uint32_t nr_ran = 0;
	enum ts_status st;

	if (all->nr_ran == all->nr_rows)
		return TS_OK;
	st = ts_steps_walk_open(&walk, steps, err);
	if (st)
		return st;
	for (size_t at = 0; at < all->nr_kept && ts_steps_walk_next(&walk, &step);)
		if (step.cores > 0 && nr_ran++ == all->kept[at])
			all->kept[at++] = walk.row - 1;
	ts_steps_walk_close(&walk);
	return TS_OK;
}

static enum ts_status run_steps_choose(const struct ts_steps *steps, size_t max,
				       struct ts_run_steps *all, struct ts_error *err)
{
	all->nr_kept = all->nr_rows;
	if (max == 0)
		max = TS_USUAL_STEPS;
	if (all->nr_ran <= max)
		return TS_OK;
	max = TS_MAX(max, 2 * all->nr_slow); /* half of them are the longest */
	all->kept = ts_choose_rows(all->durations_ps, all->nr_ran, max, &all->nr_kept);
	if (!all->kept)
		return ts_fail_nomem(err);
	return place_rows(steps, all, err);
}

enum ts_status ts_run_steps_find(const struct ts_steps *steps, const struct ts_settings *settings,
				 size_t max, struct ts_run_steps *found, struct ts_error *err)
{
	struct ts_steps_walk walk;
	enum ts_status st;

	TS_ASSERT(steps && found);
	*found = (struct ts_run_steps){ .nr_rows = steps->nr_steps, .period = -1 };
	found->durations_ps = malloc((steps->nr_steps + 1) * sizeof(*found->durations_ps));
	if (!found->durations_ps)
		return ts_fail_nomem(err);
	st = ts_steps_walk_open(&walk, steps, err);
	if (st)
		return st;
	list_durations(found, &walk);
	st = run_steps_measure(found, err);
	if (st)
		goto done;
	if (found->nr_ran >= MIN_STEPS && found->median_ps > 0) {
		st = run_steps_judge(steps, settings, found, &walk, err);
		if (st)
			goto done;
	}
	st = run_steps_choose(steps, max, found, err);
done:
	ts_steps_walk_close(&walk);
	return st;
}

void ts_run_steps_release(struct ts_run_steps *steps)
{
	TS_ASSERT(steps);
	free(steps->durations_ps);
	free(steps->kept);
	free(steps->slow);
	memset(steps, 0, sizeof(*steps));
}

size_t ts_run_steps_at(const struct ts_run_steps *steps, uint32_t row)
{
	size_t lo = 0, hi = steps ? steps->nr_kept : 0;

	if (!steps || !steps->kept)
		return row;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (steps->kept[mid] < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < steps->nr_kept && steps->kept[lo] == row ? lo : steps->nr_kept;
}

uint32_t ts_run_steps_slow_at(const struct ts_run_steps *steps, uint32_t row)
{
	for (uint32_t i = 0; steps && i < steps->nr_slow; i++)
		if (steps->slow[i].row == row)
			return i;
	return TS_NONE;
}

const char *ts_step_phase_name(size_t phase)
{
	static const char *const names[] = {
		[TS_DOES_PREFILL] = "prefill",
		[TS_DOES_DECODE] = "decode",
		[TS_DOES_MIXED] = "mixed",
	};

	return phase < TS_NELEM(names) ? names[phase] : NULL;
}

static uint64_t tokens_of(uint32_t tokens)
{
	return tokens == TS_TOKENS_UNKNOWN ? 0 : tokens;
}

enum ts_status ts_steps_count_phases(const struct ts_steps *steps, struct ts_phases *phases,
				     struct ts_error *err)
{
	struct ts_steps_walk walk;
	struct ts_run_step step;
	enum ts_status st = ts_steps_walk_open(&walk, steps, err);

	TS_ASSERT(phases);
	*phases = (struct ts_phases){ .nr_known = 0 };
	while (st == TS_OK && ts_steps_walk_next(&walk, &step)) {
		struct ts_step_work work = ts_steps_work(steps, step.work);

		if (step.cores == 0 || work.phase == TS_DOES_ANYTHING || work.phase > TS_DOES_MIXED)
			continue;
		phases->nr[work.phase]++;
		phases->nr_known++;
		phases->prefill_tokens += tokens_of(work.prefill_tokens);
		phases->decode_tokens += tokens_of(work.decode_tokens);
	}
	if (st == TS_OK)
		ts_steps_walk_close(&walk);
	return st;
}
