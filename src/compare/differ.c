/* SPDX-License-Identifier: MIT */
/* Whether steps differ, with no more certainty than their order allows. */
#include "compare/differ.h"

#include "base/check.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define CHANGES_FEW (-1.6449) /* of the normal distribution: 5 % lie below */
#define NEAR	    0.1 /* of the difference of the medians: what does not matter to it */
#define PI	    3.14159265358979323846

/* What counts once of a run: medians of its turns, or blocks. */
struct counted {
	double *ps;
	double *room; /* for sorting */
	size_t nr;
};

static double median_of(const double *ps, size_t nr, double *room)
{
	memcpy(room, ps, nr * sizeof(*ps));
	TS_SORT(room, nr, ts_double_order);
	return (room[(nr - 1) / 2] + room[nr / 2]) / 2;
}

static void count_once(struct counted *counted, const struct ts_step_times *steps, size_t from,
		       size_t to)
{
	counted->ps[counted->nr++] = median_of(steps->ps + from, to - from, counted->room);
}

static double middle_of(const struct ts_step_times *steps, double *room)
{
	return steps->nr ? median_of(steps->ps, steps->nr, room) : 0;
}

/* Steps in a block; 1: they do not come in stretches. Steps within NEAR of the median are on no side. */
static size_t block_length(const struct ts_step_times *steps, double near, double *room)
{
	double median = middle_of(steps, room);
	double above = 0, below = 0, changes = 0, few, mean, variance;
	int last = 0;

	for (size_t i = 0; i < steps->nr; i++) {
		int side = (steps->ps[i] > median + near) - (steps->ps[i] < median - near);

		above += side > 0;
		below += side < 0;
		changes += side != 0 && last != 0 && side != last;
		last = side ? side : last;
	}
	if (above < 1 || below < 1 || above + below < 3)
		return 1;
	mean = 2 * above * below / (above + below); /* changes are one fewer than runs */
	variance = mean * (mean - 1) / (above + below - 1);
	few = (changes + 0.5 - mean) / sqrt(variance);
	if (!(few < CHANGES_FEW))
		return 1;
	few = tan(PI / 4 * changes / mean);
	return (size_t)fmin(ceil(1 / (few * few)), (double)steps->nr);
}

static void take_blocks(struct counted *counted, const struct ts_step_times *steps, double near)
{
	size_t length = block_length(steps, near, counted->room);

	/* what is left over belongs to the last block */
	for (size_t from = 0; from + length <= steps->nr; from += length)
		count_once(counted, steps, from,
			   from + 2 * length <= steps->nr ? from + length : steps->nr);
}

/* The end of the turn of A that begins at its step FROM: B's step NEXT comes after it. */
static size_t turn_end(const struct ts_step_times *a, size_t from, const struct ts_step_times *b,
		       size_t next)
{
	while (from < a->nr && (next >= b->nr || a->start_ns[from] <= b->start_ns[next]))
		from++;
	return from;
}

static void take_turns(struct counted counted[2], const struct ts_step_times *const steps[2])
{
	size_t at[2] = { 0, 0 };
	int whose = steps[0]->start_ns[0] > steps[1]->start_ns[0];

	while (at[0] < steps[0]->nr || at[1] < steps[1]->nr) {
		size_t to = turn_end(steps[whose], at[whose], steps[!whose], at[!whose]);

		if (to > at[whose])
			count_once(&counted[whose], steps[whose], at[whose], to);
		at[whose] = to;
		whose = !whose;
	}
}

/* How many of NR sorted values to leave out at each end, so that their median lies between the others
 * with an error of at most ERROR; NR: there are too few. */
static size_t ends_of(size_t nr, double error)
{
	double tail = pow(0.5, (double)nr), term = tail;
	size_t out = 0;

	if (2 * tail > error)
		return nr;
	for (size_t k = 1; k < nr; k++) {
		term *= (double)(nr - k + 1) / (double)k;
		if (2 * (tail + term) > error)
			break;
		tail += term;
		out = k;
	}
	return out;
}

/* Sorts VALUES. False: there are too few. */
static bool differ_interval_of(double *values, size_t nr, double error, double *low, double *high)
{
	size_t out = ends_of(nr, error);

	if (out >= nr)
		return false;
	TS_SORT(values, nr, ts_double_order);
	*low = values[out];
	*high = values[nr - 1 - out];
	return true;
}

static void find_interval(struct ts_differ *differ, struct counted counted[2])
{
	double low[2], high[2];

	if (differ->turns > 1 && counted[0].nr == counted[1].nr) {
		for (size_t i = 0; i < counted[0].nr; i++)
			counted[0].ps[i] /= counted[1].ps[i];
		differ_interval_of(counted[0].ps, counted[0].nr, TS_DIFFER_ERROR,
				   &differ->ratio_low, &differ->ratio_high);
		return;
	}
	for (int i = 0; i < 2; i++)
		if (!differ_interval_of(counted[i].ps, counted[i].nr, TS_DIFFER_ERROR / 2, &low[i],
					&high[i]))
			return;
	differ->ratio_low = low[0] / high[1];
	differ->ratio_high = high[0] / low[1];
}

static enum ts_status differ_look(const struct ts_step_times *const steps[2],
				  struct counted counted[2], struct ts_differ *differ,
				  struct ts_error *err)
{
	double near = NEAR * fabs(middle_of(steps[0], counted[0].room) -
				  middle_of(steps[1], counted[1].room));
	bool one_clock = steps[0]->start_ns && steps[1]->start_ns && steps[0]->nr && steps[1]->nr;
	enum ts_status st;

	if (one_clock) {
		take_turns(counted, steps);
		differ->turns = TS_MIN(counted[0].nr, counted[1].nr);
	}
	for (int i = 0; i < 2 && differ->turns < 2; i++) {
		counted[i].nr = 0;
		take_blocks(&counted[i], steps[i], near);
	}
	st = ts_rank_test(counted[0].ps, counted[0].nr, counted[1].ps, counted[1].nr, &differ->rank,
			  err);
	for (int i = 0; i < 2; i++)
		differ->counted[i] = counted[i].nr;
	if (st == TS_OK)
		find_interval(differ, counted);
	return st;
}

enum ts_status ts_differ(const struct ts_step_times *a, const struct ts_step_times *b,
			 struct ts_differ *differ, struct ts_error *err)
{
	const struct ts_step_times *const steps[2] = { a, b };
	struct counted counted[2] = { { NULL, NULL, 0 }, { NULL, NULL, 0 } };
	enum ts_status st = TS_OK;

	TS_ASSERT(a && b && differ);
	TS_ASSERT((a->ps || a->nr == 0) && (b->ps || b->nr == 0));
	*differ = (struct ts_differ){ .ratio_low = NAN, .ratio_high = NAN };
	for (int i = 0; i < 2; i++) {
		counted[i].ps = calloc(steps[i]->nr + 1, sizeof(double));
		counted[i].room = calloc(steps[i]->nr + 1, sizeof(double));
		if (!counted[i].ps || !counted[i].room)
			st = ts_fail_nomem(err);
	}
	if (st == TS_OK)
		st = differ_look(steps, counted, differ, err);
	for (int i = 0; i < 2; i++) {
		free(counted[i].ps);
		free(counted[i].room);
	}
	return st;
}
