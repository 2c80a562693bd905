/* SPDX-License-Identifier: MIT */
/*
 * Who waits for whom: the arrivals of each core at one execution of a collective, side by side. All
 * wait for the last one.
 *
 * A capture may begin or end between two cores' arrivals: collectives_kept.c says which of one core's
 * executions is which of another's. Where only some are kept, they stand for all.
 */
#include "analysis/waits/collectives.h"

struct arrivals {
	const struct collective_cores *cores;
	const uint32_t *devices;
	size_t nr;
	int64_t *shift;	      /* of each against the first */
	const int64_t *start; /* scratch: of each, in the execution that is looked at */
};

struct instance {
	int64_t first_ps, second_ps, last_ps; /* second: the last but one */
	size_t second, last;
	int64_t sum_ps; /* of the time each was before the last */
};

static bool find_arrivals(const struct arrivals *arrivals, int64_t number, int64_t *start)
{
	for (size_t i = 0; i < arrivals->nr; i++) {
		const struct collective_seen *seen = arrivals->cores->seen[arrivals->devices[i]];
		size_t at = ts_collective_at(seen, ts_i64_add(number, arrivals->shift[i]));

		if (at == SIZE_MAX)
			return false;
		start[i] = seen->times[at].start_ps;
	}
	return true;
}

static struct instance collectives_skew_look_at(const struct arrivals *arrivals)
{
	struct instance at = { .first_ps = INT64_MAX,
			       .second_ps = INT64_MIN,
			       .last_ps = INT64_MIN };

	for (size_t i = 0; i < arrivals->nr; i++) {
		int64_t t = arrivals->start[i];

		at.first_ps = TS_MIN(at.first_ps, t);
		if (t > at.last_ps) {
			at.second_ps = at.last_ps;
			at.second = at.last;
			at.last_ps = t;
			at.last = i;
		} else if (t > at.second_ps) {
			at.second_ps = t;
			at.second = i;
		}
	}
	for (size_t i = 0; i < arrivals->nr; i++)
		at.sum_ps = ts_i64_add(at.sum_ps, ts_i64_sub(at.last_ps, arrivals->start[i]));
	return at;
}

/* By how much arrivals of these two may be wrong against each other. */
static int64_t doubt_ps(const struct arrivals *arrivals, size_t a, size_t b)
{
	const struct collective_cores *cores = arrivals->cores;
	uint32_t x = cores->host[arrivals->devices[a]], y = cores->host[arrivals->devices[b]];

	if (x == y || !cores->clocks)
		return 0;
	return TS_MAX(cores->clocks[x].spread_ps, cores->clocks[y].spread_ps);
}

/* The largest sum of +1 (it came last) and -1 that ends with this execution. */
static void add_to_stretch(struct ts_collective_core *core, int64_t start_ps, int64_t excess_ps)
{
	bool is_late = excess_ps > 0;

	if (core->late_score == 0) {
		core->late_since_ps = start_ps;
		core->late_nr = core->late_excess_ps = core->late_most_ps = 0;
	}
	core->late_nr++;
	core->late_excess_ps = ts_i64_add(core->late_excess_ps, excess_ps);
	core->late_most_ps = TS_MAX(core->late_most_ps, excess_ps);
	core->late_score = is_late ? core->late_score + 1 : TS_MAX(core->late_score - 1, 0);
}

static void collectives_skew_count(const struct arrivals *arrivals, struct collective_skew *skew)
{
	struct instance at = collectives_skew_look_at(arrivals);
	int64_t spread_ps = ts_i64_sub(at.last_ps, at.first_ps);
	int64_t lead_ps = ts_i64_sub(at.last_ps, at.second_ps);
	struct ts_collective_core *late = &skew->cores[arrivals->devices[at.last]];
	int64_t excess_ps = ts_i64_mul(lead_ps, (int64_t)arrivals->nr - 1);
	bool is_one = lead_ps > doubt_ps(arrivals, at.last, at.second);

	skew->nr_matched++;
	skew->sum_ps = ts_i64_add(skew->sum_ps, spread_ps);
	skew->max_ps = TS_MAX(skew->max_ps, spread_ps);
	skew->wait_ps = ts_i64_add(skew->wait_ps, at.sum_ps);
	for (size_t i = 0; i < arrivals->nr; i++) {
		struct ts_collective_core *core = &skew->cores[arrivals->devices[i]];

		core->nr_matched++;
		core->waited_ps =
			ts_i64_add(core->waited_ps, ts_i64_sub(at.last_ps, arrivals->start[i]));
		add_to_stretch(core, arrivals->start[i], is_one && core == late ? excess_ps : 0);
	}
	if (!is_one)
		return; /* two came at once: neither is to blame */
	late->nr_last++;
	late->caused_ps = ts_i64_add(late->caused_ps, at.sum_ps);
	late->excess_ps = ts_i64_add(late->excess_ps, excess_ps);
	late->lead_ps = ts_i64_add(late->lead_ps, lead_ps);
}

static enum ts_status make_shifts(struct arrivals *arrivals, struct ts_error *err)
{
	const struct collective_cores *cores = arrivals->cores;
	uint32_t first = arrivals->devices[0];

	arrivals->shift = calloc(arrivals->nr + 1, sizeof(*arrivals->shift));
	for (size_t i = 1; arrivals->shift && i < arrivals->nr; i++) {
		uint32_t device = arrivals->devices[i];

		arrivals->shift[i] = ts_collective_shift(cores->seen[first], cores->seen[device],
							 cores->host[first] == cores->host[device]);
	}
	return arrivals->shift ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_collective_match(const struct collective_cores *cores, const uint32_t *devices,
				   size_t nr, struct collective_skew *skew, struct ts_error *err)
{
	struct arrivals arrivals = { .cores = cores, .devices = devices, .nr = nr };
	const struct collective_seen *base;
	enum ts_status st;
	int64_t *start;

	TS_ASSERT(cores && skew && skew->cores);
	if (nr < 2)
		return TS_OK;
	base = cores->seen[devices[0]];
	start = calloc(nr, sizeof(*start));
	arrivals.start = start;
	st = start ? make_shifts(&arrivals, err) : ts_fail_nomem(err);
	for (size_t i = 0; !st && i < base->nr; i++)
		if (find_arrivals(&arrivals, ts_collective_number(base, i), start))
			collectives_skew_count(&arrivals, skew);
	free(arrivals.shift);
	free(start);
	return st;
}

uint32_t ts_collective_straggler(const struct ts_collective_core *cores, size_t nr)
{
	uint32_t worst = TS_NONE;

	for (uint32_t i = 0; i < nr; i++) {
		if (cores[i].nr_last == 0)
			continue;
		if (worst == TS_NONE || cores[i].nr_last > cores[worst].nr_last ||
		    (cores[i].nr_last == cores[worst].nr_last &&
		     cores[i].caused_ps > cores[worst].caused_ps))
			worst = i;
	}
	return worst;
}
