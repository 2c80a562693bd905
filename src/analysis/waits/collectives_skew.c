/*
 * Who waits for whom: the k-th arrival of each core at a collective, side by side. All wait for the
 * last one.
 *
 * A capture may begin or end between two cores' arrivals, so that one has an instance more than
 * another: then they are matched from the front and from the back, and the closer of the two holds.
 */
#include "analysis/waits/collectives.h"

struct arrivals {
	struct collective_seen *const *seen;
	size_t nr_devices, nr; /* instances that all of them have */
	bool from_back;
};

static int64_t arrival(const struct arrivals *arrivals, size_t device, size_t k)
{
	const struct collective_seen *seen = arrivals->seen[device];

	return seen->times[arrivals->from_back ? seen->nr - arrivals->nr + k : k].start_ps;
}

static bool takes_part(const struct arrivals *arrivals, size_t device)
{
	return arrivals->seen[device]->nr > 0;
}

struct instance {
	int64_t first_ps, second_ps, last_ps; /* second: the last but one */
	size_t last;
	int64_t nr, sum_ps; /* of the time each was before the last */
};

static struct instance look_at(const struct arrivals *arrivals, size_t k)
{
	struct instance at = { .first_ps = INT64_MAX,
			       .second_ps = INT64_MIN,
			       .last_ps = INT64_MIN };

	for (size_t i = 0; i < arrivals->nr_devices; i++) {
		int64_t t;

		if (!takes_part(arrivals, i))
			continue;
		t = arrival(arrivals, i, k);
		at.nr++;
		at.first_ps = TS_MIN(at.first_ps, t);
		at.second_ps = TS_MAX(at.second_ps, TS_MIN(t, at.last_ps));
		if (t > at.last_ps) {
			at.last_ps = t;
			at.last = i;
		}
	}
	for (size_t i = 0; i < arrivals->nr_devices; i++)
		if (takes_part(arrivals, i))
			at.sum_ps = ts_i64_add(at.sum_ps,
					       ts_i64_sub(at.last_ps, arrival(arrivals, i, k)));
	return at;
}

static int64_t total_spread(const struct arrivals *arrivals)
{
	int64_t sum = 0;

	for (size_t k = 0; k < arrivals->nr; k++) {
		struct instance at = look_at(arrivals, k);

		sum = ts_i64_add(sum, ts_i64_sub(at.last_ps, at.first_ps));
	}
	return sum;
}

static void count(const struct arrivals *arrivals, size_t k, struct collective_skew *skew)
{
	struct instance at = look_at(arrivals, k);
	int64_t spread_ps = ts_i64_sub(at.last_ps, at.first_ps);
	struct ts_collective_core *late = &skew->cores[at.last];

	skew->nr_matched++;
	skew->sum_ps = ts_i64_add(skew->sum_ps, spread_ps);
	skew->max_ps = TS_MAX(skew->max_ps, spread_ps);
	skew->wait_ps = ts_i64_add(skew->wait_ps, at.sum_ps);
	for (size_t i = 0; i < arrivals->nr_devices; i++) {
		struct ts_collective_core *core = &skew->cores[i];

		if (!takes_part(arrivals, i))
			continue;
		core->nr_matched++;
		core->waited_ps = ts_i64_add(core->waited_ps,
					     ts_i64_sub(at.last_ps, arrival(arrivals, i, k)));
	}
	if (at.second_ps == at.last_ps) /* two came at once: neither is to blame */
		return;
	late->nr_last++;
	late->caused_ps = ts_i64_add(late->caused_ps, at.sum_ps);
	late->excess_ps = ts_i64_add(late->excess_ps,
				     ts_i64_mul(ts_i64_sub(at.last_ps, at.second_ps), at.nr - 1));
}

void ts_collective_match(struct collective_seen *const *seen, size_t nr_devices, bool is_cut,
			 struct collective_skew *skew)
{
	struct arrivals front = { seen, nr_devices, SIZE_MAX, false }, back;
	size_t most = 0, nr_cores = 0;

	TS_ASSERT(seen && skew && skew->cores);
	for (size_t i = 0; i < nr_devices; i++) {
		if (!takes_part(&front, i))
			continue;
		nr_cores++;
		front.nr = TS_MIN(front.nr, seen[i]->nr);
		most = TS_MAX(most, seen[i]->nr);
	}
	if (nr_cores < 2)
		return;
	back = front;
	back.from_back = true;
	if (most > front.nr && !is_cut && total_spread(&back) < total_spread(&front))
		front = back;
	for (size_t k = 0; k < front.nr; k++)
		count(&front, k, skew);
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
