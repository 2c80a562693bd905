/* SPDX-License-Identifier: MIT */
/*
 * The smallest period of a sequence of modules. For each period the longest stretch that keeps it is
 * weighed by its time; the smallest of those near the longest is taken, turned so that it begins
 * with the run of one module that takes most time, and held against the whole sequence.
 *
 * The sequence alone does not show two things: k trainings and an evaluation look like k gradients
 * and an update. There the modules' names decide; where they do not decide, the whole period is the
 * step.
 */
#include "model/step_pattern.h"

#include <math.h>

#include "base/check.h"

#define MATCHED_MIN 0.8 /* of the modules' time between the first and the last step */
#define HELD_MIN    0.5 /* of all time of modules that repeat */
#define NEAR_BEST   0.9
#define SMALL_MAX   0.1	  /* modules that may break the pattern have together less of the time */
#define TINY_MAX    0.005 /* of a period: what no update takes, but arithmetic for a log line does */
#define PAIRS_MAX   64	  /* modules tried beside the one that repeats */
#define CUT_ALIKE   3	  /* rounds between, of fewer the shortest says too little of the first and the last */
#define CUT_MIN	    0.1	  /* of the others' work: what a round that the capture cut misses at least */

struct finder {
	const struct ts_execution *all;
	size_t nr_all;
	const struct ts_bytes *names;
	size_t nr_symbols;
	int64_t *time_ps; /* by symbol */
	uint32_t *count;
	bool *left_out;
	uint32_t *rank; /* symbols that count, the one with the least time first */
	size_t nr_rank;
	int64_t total_ps;	   /* of these */
	struct ts_execution *kept; /* executions that were not left out */
	int64_t *before_ps;	   /* time of those before each, and of all */
	size_t nr;
};

static bool step_pattern_has_any(struct ts_bytes name, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (ts_bytes_has(name, words[i]))
			return true;
	return false;
}

/* Runs now and then beside the steps. */
static bool is_aside(struct ts_bytes name)
{
	static const char *const words[] = { "eval",	   "valid",    "metric",
					     "checkpoint", "snapshot", "test_step",
					     "predict",	   "generate", NULL };

	return step_pattern_has_any(name, words);
}

static bool step_pattern_is_step(struct ts_bytes name)
{
	static const char *const parts[] = { "micro", "accum", "grad", "forward", "backward",
					     "fwd",   "bwd",   "sub",  NULL };

	static const char *const words[] = { "step", "train", "update", NULL };

	return step_pattern_has_any(name, words) && !step_pattern_has_any(name, parts);
}

static bool is_update(struct ts_bytes name)
{
	static const char *const words[] = { "update", "apply", "optim", "accum", "grad", NULL };

	return step_pattern_has_any(name, words);
}

static int64_t step_pattern_length_ps(const struct ts_execution *execution)
{
	return TS_MAX(ts_i64_sub(execution->end_ps, execution->start_ps), 1);
}

static enum ts_status step_pattern_prepare(struct finder *finder, struct ts_error *err)
{
	size_t nr = finder->nr_symbols + 1;

	finder->time_ps = calloc(nr, sizeof(*finder->time_ps));
	finder->count = calloc(nr, sizeof(*finder->count));
	finder->left_out = calloc(nr, sizeof(*finder->left_out));
	finder->rank = calloc(nr, sizeof(*finder->rank));
	finder->kept = calloc(finder->nr_all + 1, sizeof(*finder->kept));
	finder->before_ps = calloc(finder->nr_all + 1, sizeof(*finder->before_ps));
	if (!finder->time_ps || !finder->count || !finder->left_out || !finder->rank ||
	    !finder->kept || !finder->before_ps)
		return ts_fail_nomem(err);
	return TS_OK;
}

static void count_symbols(struct finder *finder)
{
	for (size_t i = 0; i < finder->nr_all; i++) {
		uint32_t symbol = finder->all[i].symbol;

		finder->count[symbol]++;
		finder->time_ps[symbol] = ts_i64_add(finder->time_ps[symbol],
						     step_pattern_length_ps(&finder->all[i]));
	}
	for (uint32_t s = 0; s < finder->nr_symbols; s++) {
		finder->left_out[s] = finder->count[s] < 2 || is_aside(finder->names[s]);
		/* Sorted in: there are few modules that repeat. */
		if (!finder->left_out[s]) {
			size_t at = finder->nr_rank++;

			for (; at > 0 && finder->time_ps[finder->rank[at - 1]] > finder->time_ps[s];
			     at--)
				finder->rank[at] = finder->rank[at - 1];
			finder->rank[at] = s;
			finder->total_ps = ts_i64_add(finder->total_ps, finder->time_ps[s]);
		}
	}
}

static void keep_executions(struct finder *finder)
{
	int64_t before_ps = 0;

	finder->nr = 0;
	for (size_t i = 0; i < finder->nr_all; i++) {
		if (finder->left_out[finder->all[i].symbol])
			continue;
		finder->kept[finder->nr] = finder->all[i];
		finder->before_ps[finder->nr++] = before_ps;
		before_ps = ts_i64_add(before_ps, step_pattern_length_ps(&finder->all[i]));
	}
	finder->before_ps[finder->nr] = before_ps;
}

struct stretch {
	size_t start, period;
	int64_t time_ps; /* 0: there is no period */
};

/* Three periods prove one; two only where hardly anything else ran. */
static bool is_long_enough(const struct finder *finder, size_t nr, size_t period)
{
	if (period == 1)
		return nr >= 2;
	return nr >= 3 * period ||
	       (nr >= 2 * period && (double)nr >= NEAR_BEST * (double)finder->nr);
}

static void take_stretch(const struct finder *finder, size_t start, size_t end,
			 struct stretch *best)
{
	int64_t time_ps = finder->before_ps[end] - finder->before_ps[start];

	if (!is_long_enough(finder, end - start, best->period) || time_ps <= best->time_ps)
		return;
	best->start = start;
	best->time_ps = time_ps;
}

static struct stretch longest_stretch(const struct finder *finder, size_t period)
{
	struct stretch best = { .period = period };
	size_t start = 0;

	for (size_t i = period; i < finder->nr; i++) {
		if (finder->kept[i].symbol == finder->kept[i - period].symbol)
			continue;
		take_stretch(finder, start, i, &best);
		start = i - period + 1;
	}
	if (finder->nr > period)
		take_stretch(finder, start, finder->nr, &best);
	return best;
}

static struct stretch smallest_period(const struct finder *finder)
{
	struct stretch found = { 0, 0, 0 };
	size_t max = TS_MIN(finder->nr / 2, TS_STEP_PERIOD_MAX);

	for (size_t period = 1; period <= max; period++) {
		struct stretch stretch = longest_stretch(finder, period);

		if ((double)stretch.time_ps * NEAR_BEST > (double)found.time_ps)
			found = stretch;
	}
	return found;
}

/* How long one of these takes on average, times their number. */
static double run_ps(const struct finder *finder, uint32_t symbol, size_t nr)
{
	return (double)finder->time_ps[symbol] / finder->count[symbol] * (double)nr;
}

/* The place in a cycle of modules where the run of one begins that takes most time. */
static size_t first_of_cycle(const struct finder *finder, const struct stretch *stretch)
{
	const struct ts_execution *at = &finder->kept[stretch->start];
	size_t period = stretch->period, best = 0;
	double best_ps = -1;

	for (size_t i = 0; i < period; i++) {
		size_t nr = 1;

		if (at[i].symbol == at[(i + period - 1) % period].symbol)
			continue; /* inside a run */
		while (nr < period && at[(i + nr) % period].symbol == at[i].symbol)
			nr++;
		if (run_ps(finder, at[i].symbol, nr) > best_ps * (1 + 1e-6)) {
			best_ps = run_ps(finder, at[i].symbol, nr);
			best = i;
		}
	}
	return best;
}

static void step_pattern_turn(const struct finder *finder, const struct stretch *stretch,
			      struct ts_step_pattern *pattern)
{
	size_t first = first_of_cycle(finder, stretch);

	pattern->nr = stretch->period;
	for (size_t i = 0; i < pattern->nr; i++)
		pattern->symbols[i] =
			finder->kept[stretch->start + (first + i) % pattern->nr].symbol;
}

/*
 * k times one module, and others: when it calls itself a step or the others take hardly any time,
 * and not one of them is an update by its name, each of the k is a step.
 */
static void split_steps(const struct finder *finder, struct ts_step_pattern *pattern)
{
	uint32_t symbol = pattern->symbols[0];
	double rest_ps = 0;
	size_t k = 1;

	while (k < pattern->nr && pattern->symbols[k] == symbol)
		k++;
	if (k < 2 || k == pattern->nr)
		return;
	for (size_t i = k; i < pattern->nr; i++) {
		if (pattern->symbols[i] == symbol || is_update(finder->names[pattern->symbols[i]]))
			return;
		rest_ps += run_ps(finder, pattern->symbols[i], 1);
	}
	if (step_pattern_is_step(finder->names[symbol]) ||
	    rest_ps < TINY_MAX * run_ps(finder, symbol, k))
		pattern->nr = 1;
}

static bool step_pattern_is_in(const struct ts_step_pattern *pattern, uint32_t symbol)
{
	for (size_t i = 0; i < pattern->nr; i++)
		if (pattern->symbols[i] == symbol)
			return true;
	return false;
}

/* The next of the pattern's modules from AT on. */
static size_t step_pattern_next_of(const struct ts_step_pattern *pattern,
				   const struct ts_execution *executions, size_t nr, size_t at)
{
	while (at < nr && !step_pattern_is_in(pattern, executions[at].symbol))
		at++;
	return at;
}

/* Does a whole period begin at AT? *END is the place behind its last execution. */
static bool step_pattern_matches(const struct ts_step_pattern *pattern,
				 const struct ts_execution *executions, size_t nr, size_t at,
				 size_t *end)
{
	for (size_t i = 0; i < pattern->nr; i++) {
		at = i == 0 ? at : step_pattern_next_of(pattern, executions, nr, at);
		if (at >= nr || executions[at].symbol != pattern->symbols[i])
			return false;
		at++;
	}
	*end = at;
	return true;
}

/* Does the pattern hold most of what ran? */
static bool step_pattern_holds(const struct finder *finder, const struct ts_step_pattern *pattern)
{
	const struct ts_execution *all = finder->all;
	int64_t matched_ps = 0, between_ps = 0, hull_ps = 0;
	size_t nr_matches = 0, end;

	for (size_t i = 0; i < finder->nr_all;) {
		size_t from = i;
		bool match = step_pattern_is_in(pattern, all[i].symbol) &&
			     step_pattern_matches(pattern, all, finder->nr_all, i, &end);

		for (i = match ? end : i + 1; from < i; from++) {
			uint32_t symbol = all[from].symbol;

			if (step_pattern_is_in(pattern, symbol) && match)
				matched_ps =
					ts_i64_add(matched_ps, step_pattern_length_ps(&all[from]));
			if (finder->count[symbol] >= 2 && !is_aside(finder->names[symbol]))
				between_ps =
					ts_i64_add(between_ps, step_pattern_length_ps(&all[from]));
		}
		if (nr_matches == 0)
			between_ps = match ? matched_ps : 0;
		nr_matches += match;
		hull_ps = match ? between_ps : hull_ps;
	}
	return nr_matches >= 2 && (double)matched_ps >= MATCHED_MIN * (double)hull_ps &&
	       (double)matched_ps >= HELD_MIN * (double)finder->total_ps;
}

static bool try_period(struct finder *finder, struct ts_step_pattern *pattern)
{
	struct stretch stretch;

	keep_executions(finder);
	stretch = smallest_period(finder);
	pattern->nr = 0;
	if (stretch.time_ps == 0)
		return false;
	step_pattern_turn(finder, &stretch, pattern);
	split_steps(finder, pattern);
	return step_pattern_holds(finder, pattern);
}

/* Where one module repeats: a second one at a fixed beat between makes the step, as an update does. */
static void try_pairs(struct finder *finder, struct ts_step_pattern *pattern)
{
	uint32_t main = pattern->symbols[0];
	struct ts_step_pattern pair;
	size_t nr_tried = 0;

	for (size_t i = finder->nr_rank; i > 0 && nr_tried < PAIRS_MAX; i--) {
		uint32_t other = finder->rank[i - 1];

		if (other == main)
			continue;
		nr_tried++;
		for (size_t s = 0; s < finder->nr_rank; s++)
			finder->left_out[finder->rank[s]] =
				finder->rank[s] != main && finder->rank[s] != other;
		if (try_period(finder, &pair) && pair.nr > 1) {
			*pattern = pair;
			return;
		}
	}
}

static void step_pattern_find(struct finder *finder, struct ts_step_pattern *pattern)
{
	int64_t small_ps = 0;
	bool found = finder->nr_rank > 0 && try_period(finder, pattern);

	for (size_t i = 0; !found && i + 1 < finder->nr_rank; i++) {
		small_ps = ts_i64_add(small_ps, finder->time_ps[finder->rank[i]]);
		if ((double)small_ps > SMALL_MAX * (double)finder->total_ps)
			break;
		finder->left_out[finder->rank[i]] = true;
		found = try_period(finder, pattern);
	}
	if (!found)
		pattern->nr = 0;
	else if (pattern->nr == 1)
		try_pairs(finder, pattern);
}

enum ts_status ts_step_pattern_find(const struct ts_execution *executions, size_t nr,
				    const struct ts_bytes *names, size_t nr_symbols,
				    struct ts_step_pattern *pattern, struct ts_error *err)
{
	struct finder finder = {
		.all = executions, .nr_all = nr, .names = names, .nr_symbols = nr_symbols
	};
	enum ts_status st = step_pattern_prepare(&finder, err);

	TS_ASSERT(executions && pattern);
	pattern->nr = 0;
	if (st == TS_OK) {
		count_symbols(&finder);
		step_pattern_find(&finder, pattern);
	}
	free(finder.time_ps);
	free(finder.count);
	free(finder.left_out);
	free(finder.rank);
	free(finder.kept);
	free(finder.before_ps);
	return st;
}

/* Until where a step that began at FROM lasts, when the executions up to END belong to it. */
static int64_t end_of_step(const struct ts_execution *executions, size_t from, size_t end,
			   size_t until, const struct ts_bytes *names, bool is_next)
{
	int64_t end_ps = executions[end - 1].end_ps;

	for (size_t i = end; i < until; i++)
		if (is_aside(names[executions[i].symbol]))
			return TS_MAX(end_ps, executions[from].start_ps) > executions[i].start_ps
				       ? end_ps
				       : executions[i].start_ps;
	return is_next ? executions[until].start_ps : end_ps;
}

/* A period that the pattern matches. */
struct round {
	int64_t start_ps, end_ps, work_ps; /* work: of its executions */
	uint64_t programs;		   /* a hash of them, in their order */
};

static void step_pattern_add_work(const struct ts_step_pattern *pattern,
				  const struct ts_execution *executions, size_t from, size_t end,
				  struct round *round)
{
	for (size_t i = from; i < end; i++)
		if (step_pattern_is_in(pattern, executions[i].symbol)) {
			round->work_ps =
				ts_i64_add(round->work_ps, step_pattern_length_ps(&executions[i]));
			round->programs = (round->programs ^ executions[i].program) *
					  UINT64_C(0x9e3779b97f4a7c15);
		}
}

static size_t step_pattern_list_rounds(const struct ts_step_pattern *pattern,
				       const struct ts_execution *executions, size_t nr,
				       const struct ts_bytes *names, struct round *rounds)
{
	size_t at = step_pattern_next_of(pattern, executions, nr, 0), nr_rounds = 0, end, next_end;

	while (pattern->nr > 0 && at < nr) {
		size_t next;
		bool is_next;

		if (!step_pattern_matches(pattern, executions, nr, at, &end)) {
			at = step_pattern_next_of(pattern, executions, nr, at + 1);
			continue;
		}
		next = step_pattern_next_of(pattern, executions, nr, end);
		is_next =
			next < nr && step_pattern_matches(pattern, executions, nr, next, &next_end);
		rounds[nr_rounds] = (struct round){
			.start_ps = executions[at].start_ps,
			.end_ps =
				end_of_step(executions, at, end, TS_MIN(next, nr), names, is_next),
		};
		step_pattern_add_work(pattern, executions, at, end, &rounds[nr_rounds++]);
		at = next;
	}
	return nr_rounds;
}

/*
 * The first and the last round are the ones that a capture can cut. One is cut where it works less than
 * the shortest of those between that run the same programs, by more than CUT_MIN and by more than what
 * these differ: what lies from the shortest to their mean.
 */
static bool is_cut(const struct round *rounds, size_t nr, size_t at)
{
	int64_t least_ps = INT64_MAX;
	double sum_ps = 0, mean_ps;
	size_t nr_alike = 0;

	for (size_t i = 1; i + 1 < nr; i++) {
		if (rounds[i].programs != rounds[at].programs)
			continue;
		nr_alike++;
		least_ps = TS_MIN(least_ps, rounds[i].work_ps);
		sum_ps += (double)rounds[i].work_ps;
	}
	if (nr_alike < CUT_ALIKE)
		return false;
	mean_ps = sum_ps / (double)nr_alike;
	return (double)(least_ps - rounds[at].work_ps) >
	       fmax(mean_ps - (double)least_ps, CUT_MIN * mean_ps);
}

/* Rounds that run the same programs are of one kind. */
static enum ts_status add_round(struct ts_steps *all, struct ts_device_steps *steps,
				const struct round *round, struct ts_error *err)
{
	const struct ts_step_work work = { .kind = (uint32_t)(round->programs >> 32) | 1 };
	enum ts_status st =
		ts_device_steps_add(steps, round->start_ps, round->end_ps, steps->nr, err);

	return st ? st : ts_steps_note_work(all, steps, &work, err);
}

enum ts_status ts_step_pattern_apply(const struct ts_step_pattern *pattern,
				     const struct ts_execution *executions, size_t nr,
				     const struct ts_bytes *names, struct ts_steps *all,
				     struct ts_device_steps *steps, struct ts_error *err)
{
	struct round *rounds = malloc((nr + 1) * sizeof(*rounds));
	enum ts_status st = rounds ? TS_OK : ts_fail_nomem(err);
	size_t nr_rounds, first, end;

	TS_ASSERT(pattern && executions && steps);
	if (st)
		return st;
	nr_rounds = step_pattern_list_rounds(pattern, executions, nr, names, rounds);
	first = nr_rounds > 0 && is_cut(rounds, nr_rounds, 0);
	end = nr_rounds - (nr_rounds > 0 && is_cut(rounds, nr_rounds, nr_rounds - 1));
	for (size_t i = first; i < end && st == TS_OK; i++)
		st = add_round(all, steps, &rounds[i], err);
	free(rounds);
	return st;
}

void ts_step_pattern_text(const struct ts_step_pattern *pattern, const struct ts_bytes *names,
			  char *out, size_t size)
{
	size_t n = 0, k;

	TS_ASSERT(pattern);
	out[0] = '\0';
	for (size_t i = 0; i < pattern->nr && n + 1 < size; i += k) {
		uint32_t symbol = pattern->symbols[i];
		int more;

		for (k = 1; i + k < pattern->nr && pattern->symbols[i + k] == symbol; k++)
			;
		more = k == 1 ? snprintf(out + n, size - n, "%s%.*s", i ? " + " : "",
					 TS_ARG(names[symbol]))
			      : snprintf(out + n, size - n, "%s%zu x %.*s", i ? " + " : "", k,
					 TS_ARG(names[symbol]));
		n += more > 0 ? (size_t)more : size;
	}
}
