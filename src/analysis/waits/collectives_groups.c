/*
 * Which cores meet in a collective whose groups are smaller than the run.
 *
 * The module says how large a group is, but not which core of the profile is which partition: that
 * is the device assignment, which a profile lacks. The clock shows it: cores that wait for the same
 * last one leave at the same time. So cores whose ends lie together, instance by instance, are a
 * group; it is believed when they lie at least twice as close to each other as to all others, and no
 * member ever left before the last one came. Where work hides the collective its ends say little,
 * and the groups stay unknown.
 */
#include "analysis/waits/collectives.h"

#define MIN_INSTANCES 8 /* fewer may lie together by chance */
#define MAX_CORES     1024
#define MAX_LOOKS     50000000 /* ends compared, of one collective */

struct grouping {
	struct collective_seen *const *seen;
	uint32_t *cores; /* the devices that ran it */
	size_t nr_cores, group_size, nr_looks;
	int64_t *apart; /* core by core: how far their ends lie apart, in all */
	bool *is_taken;
};

static bool find_cores(struct grouping *g, size_t nr_devices)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < nr_devices; i++) {
		if (g->seen[i]->nr == 0)
			continue;
		if (nr > 0 && g->seen[i]->nr != nr) /* cut off by the capture's edges */
			return false;
		nr = g->seen[i]->nr;
		g->cores[g->nr_cores++] = i;
	}
	if (nr < MIN_INSTANCES || g->nr_cores > MAX_CORES || g->group_size < 2 ||
	    g->nr_cores % g->group_size != 0)
		return false;
	g->nr_looks = TS_MIN(nr, MAX_LOOKS / (g->nr_cores * g->nr_cores));
	return true;
}

static int64_t distance(const struct grouping *g, size_t a, size_t b)
{
	const struct collective_time *x = g->seen[g->cores[a]]->times;
	const struct collective_time *y = g->seen[g->cores[b]]->times;
	int64_t sum = 0;

	for (size_t k = 0; k < g->nr_looks; k++) {
		int64_t d = ts_i64_sub(x[k].end_ps, y[k].end_ps);

		sum = ts_i64_add(sum, d < 0 ? -d : d);
	}
	return sum;
}

static void measure(struct grouping *g)
{
	for (size_t a = 0; a < g->nr_cores; a++)
		for (size_t b = a + 1; b < g->nr_cores; b++)
			g->apart[a * g->nr_cores + b] = g->apart[b * g->nr_cores + a] =
				distance(g, a, b);
}

static size_t nearest(const struct grouping *g, size_t core)
{
	size_t best = g->nr_cores;

	for (size_t i = 0; i < g->nr_cores; i++)
		if (!g->is_taken[i] &&
		    (best == g->nr_cores ||
		     g->apart[core * g->nr_cores + i] < g->apart[core * g->nr_cores + best]))
			best = i;
	return best;
}

/* Each core that is left and those nearest to it; a group goes by its first device. */
static void gather(struct grouping *g, uint32_t *group)
{
	for (size_t first = 0; first < g->nr_cores; first++) {
		if (g->is_taken[first])
			continue;
		g->is_taken[first] = true;
		group[g->cores[first]] = g->cores[first];
		for (size_t n = 1; n < g->group_size; n++) {
			size_t next = nearest(g, first);

			g->is_taken[next] = true;
			group[g->cores[next]] = g->cores[first];
		}
	}
}

static bool never_leaves_early(const struct grouping *g, uint32_t a, uint32_t b)
{
	for (size_t k = 0; k < g->nr_looks; k++)
		if (g->seen[a]->times[k].start_ps > g->seen[b]->times[k].end_ps)
			return false;
	return true;
}

static bool is_believed(const struct grouping *g, const uint32_t *group)
{
	int64_t inside = 0, outside = INT64_MAX;

	for (size_t a = 0; a < g->nr_cores; a++)
		for (size_t b = 0; b < g->nr_cores; b++) {
			int64_t apart = g->apart[a * g->nr_cores + b];

			if (a == b)
				continue;
			if (group[g->cores[a]] != group[g->cores[b]]) {
				outside = TS_MIN(outside, apart);
				continue;
			}
			inside = TS_MAX(inside, apart);
			if (!never_leaves_early(g, g->cores[a], g->cores[b]))
				return false;
		}
	return outside > 0 && inside <= outside / 2;
}

enum collective_grouped ts_collective_groups(struct collective_seen *const *seen, size_t nr_devices,
					     int64_t group_size, uint32_t *group)
{
	struct grouping g = { .seen = seen, .group_size = (size_t)TS_MAX(group_size, 0) };
	enum collective_grouped found = COLLECTIVE_UNGROUPED;

	TS_ASSERT(seen && group);
	for (size_t i = 0; i < nr_devices; i++)
		group[i] = TS_NONE;
	g.cores = calloc(nr_devices + 1, sizeof(*g.cores));
	if (!g.cores)
		return COLLECTIVE_NOMEM;
	if (!find_cores(&g, nr_devices))
		goto done;
	g.apart = calloc(g.nr_cores * g.nr_cores, sizeof(*g.apart));
	g.is_taken = calloc(g.nr_cores, sizeof(*g.is_taken));
	if (g.apart && g.is_taken) {
		measure(&g);
		gather(&g, group);
		found = is_believed(&g, group) ? COLLECTIVE_GROUPED : COLLECTIVE_UNGROUPED;
	} else {
		found = COLLECTIVE_NOMEM;
	}
done:
	free(g.apart);
	free(g.is_taken);
	free(g.cores);
	return found;
}
