/* SPDX-License-Identifier: MIT */
/* Which executions of a collective are kept, and which of one core is which of another. */
#include "analysis/waits/collectives.h"

#include <float.h>

#define SHIFT_LOOKS 64 /* executions by which a shift is judged */

static bool collectives_kept_is_kept(const struct collective_seen *seen, uint64_t number)
{
	uint64_t every = UINT64_C(1) << seen->level;

	return seen->level < COLLECTIVE_DROPPED && number / COLLECTIVE_BLOCK % every == 0;
}

enum ts_status ts_collective_keep(struct collective_seen *seen, int64_t start_ps, int64_t end_ps,
				  struct ts_error *err)
{
	seen->is_open_kept = false;
	if (!collectives_kept_is_kept(seen, seen->nr_all++))
		return TS_OK;
	if (seen->nr == seen->cap &&
	    !ts_grow(&seen->times, &seen->cap, seen->nr + 1, sizeof(*seen->times)))
		return ts_fail_nomem(err);
	seen->times[seen->nr++] = (struct collective_time){ start_ps, end_ps };
	seen->is_open_kept = seen->async.is_open;
	return TS_OK;
}

static void collectives_kept_drop(struct collective_seen *seen)
{
	seen->nr = 0;
	seen->level = COLLECTIVE_DROPPED;
	seen->is_open_kept = false;
}

/* Every second block stays. */
static void collectives_kept_halve(struct collective_seen *seen)
{
	size_t nr = 0;

	if (seen->nr > 0 && (seen->nr - 1) / COLLECTIVE_BLOCK % 2 != 0)
		seen->is_open_kept = false;
	for (size_t i = 0; i < seen->nr; i++)
		if (i / COLLECTIVE_BLOCK % 2 == 0)
			seen->times[nr++] = seen->times[i];
	seen->nr = nr;
	seen->level++;
}

void ts_collective_raise(struct collective_seen *seen, uint8_t level)
{
	TS_ASSERT(level <= COLLECTIVE_DROPPED);
	if (level == COLLECTIVE_DROPPED)
		collectives_kept_drop(seen);
	while (seen->level < level)
		collectives_kept_halve(seen);
}

void ts_collective_thin(struct collective_seen *seen)
{
	if (seen->nr <= COLLECTIVE_BLOCK)
		collectives_kept_drop(seen);
	else
		collectives_kept_halve(seen);
}

int64_t ts_collective_number(const struct collective_seen *seen, size_t i)
{
	uint64_t block = (uint64_t)(i / COLLECTIVE_BLOCK) << seen->level;

	return (int64_t)(block * COLLECTIVE_BLOCK + i % COLLECTIVE_BLOCK);
}

size_t ts_collective_at(const struct collective_seen *seen, int64_t number)
{
	uint64_t block = (uint64_t)number / COLLECTIVE_BLOCK, at;

	if (number < 0 || !collectives_kept_is_kept(seen, (uint64_t)number))
		return SIZE_MAX;
	at = (block >> seen->level) * COLLECTIVE_BLOCK + (uint64_t)number % COLLECTIVE_BLOCK;
	return at < seen->nr ? (size_t)at : SIZE_MAX;
}

static int64_t apart(int64_t a, int64_t b)
{
	int64_t d = ts_i64_sub(a, b);

	return d < 0 ? ts_i64_sub(0, d) : d;
}

size_t ts_collective_nearest(const struct collective_seen *seen, int64_t t_ps)
{
	size_t lo = 0, hi = seen->nr - 1;

	TS_ASSERT(seen->nr > 0);
	while (lo < hi) { /* the first that ended at T or later; else the last */
		size_t mid = lo + (hi - lo) / 2;

		if (seen->times[mid].end_ps < t_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo > 0 && apart(seen->times[lo - 1].end_ps, t_ps) < apart(seen->times[lo].end_ps, t_ps))
		lo--;
	return lo;
}

/* How far apart ends lie on average under this shift; DBL_MAX: too few are on both. */
static double mean_apart(const struct collective_seen *base, const struct collective_seen *other,
			 int64_t shift)
{
	size_t each = TS_MAX(base->nr / SHIFT_LOOKS, 1), nr = 0, nr_looks = 0;
	double sum = 0;

	for (size_t i = 0; i < base->nr; i += each, nr_looks++) {
		size_t k =
			ts_collective_at(other, ts_i64_add(ts_collective_number(base, i), shift));

		if (k == SIZE_MAX)
			continue;
		nr++;
		sum += (double)apart(base->times[i].end_ps, other->times[k].end_ps);
	}
	return nr > 0 && nr * 4 >= TS_MIN(nr_looks, other->nr) ? sum / (double)nr : DBL_MAX;
}

/* In the middle of a block, so that the neighbours of its like are kept as well. */
static size_t inside_block(const struct collective_seen *seen, size_t i)
{
	size_t mid = i / COLLECTIVE_BLOCK * COLLECTIVE_BLOCK + COLLECTIVE_BLOCK / 2;

	return seen->level > 0 && mid < seen->nr ? mid : i;
}

int64_t ts_collective_shift(const struct collective_seen *base, const struct collective_seen *other,
			    bool is_same_host)
{
	int64_t tried[5] = { 0, (int64_t)(other->nr_all - base->nr_all) }, best = 0;
	double best_ps;

	if (base->nr == 0 || other->nr == 0 || (is_same_host && base->nr_all == other->nr_all))
		return 0;
	for (size_t i = 0; i < 3; i++) {
		size_t at = inside_block(base, (base->nr - 1) * i / 2);
		size_t like = ts_collective_nearest(other, base->times[at].end_ps);

		tried[2 + i] = ts_collective_number(other, like) - ts_collective_number(base, at);
	}
	best_ps = mean_apart(base, other, 0);
	for (size_t i = 1; i < TS_NELEM(tried); i++) {
		double ps = mean_apart(base, other, tried[i]);

		if (ps < best_ps) {
			best_ps = ps;
			best = tried[i];
		}
	}
	return best;
}
