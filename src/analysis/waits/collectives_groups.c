/* SPDX-License-Identifier: MIT */
/*
 * Which cores meet in a collective whose groups are smaller than the run.
 *
 * The module says how large a group is, but not which core of the profile is which partition: that
 * is the device assignment, which a profile lacks. The clock shows it: cores that wait for the same
 * last one leave at the same time. So cores whose ends lie together, instance by instance, are a
 * group; it is believed when they lie at least twice as close to each other as to all others, and no
 * member ever left before the last one came. Where work hides the collective its ends say little,
 * and the groups stay unknown.
 *
 * Cores are put in the order of one end, of the instance in which the ends lie farthest apart: who
 * belongs together stands together there, so each core is held against its neighbours alone, and each
 * group against the groups beside it.
 */
#include "analysis/waits/collectives.h"
#include "base/order.h"

#define MIN_INSTANCES 8	      /* fewer may lie together by chance */
#define MAX_LOOKS     1000000 /* arrivals and ends looked at, of one collective */
#define MIN_WINDOW    64      /* neighbours of a core that may be in its group; of a group, GROUP_WINDOW */
#define GROUP_WINDOW  32

/* What the members of a group have in common, look by look: the group lies from LO to HI. */
struct hull {
	int64_t lo_ps, hi_ps;	   /* of the ends */
	int64_t first_ps, last_ps; /* arrival */
};

struct neighbour {
	int64_t apart_ps;
	size_t core;
};

struct grouping {
	const struct collective_cores *all;
	uint32_t *devices;
	size_t nr_cores, group_size, nr_groups, nr_looks;
	struct collective_time *times; /* core by core, look by look */
	size_t telling;		       /* the look in which ends lie farthest apart */
	struct neighbour *order;       /* of the cores, by their ends in it */
	size_t *next;		/* in the order: the next that is not taken; one more than cores */
	struct neighbour *near; /* scratch: one a core of the window */
	struct hull *hulls;	/* group by group, look by look */
	uint32_t *members;	/* group by group */
};

static const struct collective_time *collectives_groups_times_of(const struct grouping *g,
								 size_t core)
{
	return &g->times[core * g->nr_looks];
}

/* Instances that all cores have, spread over the run; their times go into g->times. */
static void fill_times(struct grouping *g, const int64_t *shift)
{
	const struct collective_seen *base = g->all->seen[g->devices[0]];
	size_t each = TS_MAX(base->nr * g->nr_cores / MAX_LOOKS, 1), nr = 0;
	size_t room = g->nr_looks;

	for (size_t i = 0; i < base->nr && nr < room; i += each) {
		int64_t number = ts_collective_number(base, i);
		bool is_common = true;

		for (size_t c = 0; c < g->nr_cores && is_common; c++) {
			const struct collective_seen *seen = g->all->seen[g->devices[c]];
			size_t at = ts_collective_at(seen, ts_i64_add(number, shift[c]));

			is_common = at != SIZE_MAX;
			if (is_common)
				g->times[c * room + nr] = seen->times[at];
		}
		nr += is_common;
	}
	for (size_t c = 1; c < g->nr_cores; c++)
		memmove(&g->times[c * nr], &g->times[c * room], nr * sizeof(*g->times));
	g->nr_looks = nr;
}

static enum ts_status line_up(struct grouping *g, struct ts_error *err)
{
	uint32_t first = g->devices[0];
	const struct collective_seen *base = g->all->seen[first];
	int64_t *shift = calloc(g->nr_cores, sizeof(*shift));

	g->nr_looks = TS_MIN(base->nr, TS_MAX(MAX_LOOKS / g->nr_cores, MIN_INSTANCES));
	g->times = calloc(g->nr_cores * g->nr_looks + 1, sizeof(*g->times));
	for (size_t c = 1; shift && c < g->nr_cores; c++)
		shift[c] = ts_collective_shift(base, g->all->seen[g->devices[c]],
					       g->all->host[g->devices[c]] == g->all->host[first]);
	if (shift && g->times)
		fill_times(g, shift);
	free(shift);
	return shift && g->times ? TS_OK : ts_fail_nomem(err);
}

static void find_telling(struct grouping *g)
{
	int64_t widest_ps = -1;

	for (size_t k = 0; k < g->nr_looks; k++) {
		int64_t lo = INT64_MAX, hi = INT64_MIN;

		for (size_t c = 0; c < g->nr_cores; c++) {
			lo = TS_MIN(lo, collectives_groups_times_of(g, c)[k].end_ps);
			hi = TS_MAX(hi, collectives_groups_times_of(g, c)[k].end_ps);
		}
		if (ts_i64_sub(hi, lo) > widest_ps) {
			widest_ps = ts_i64_sub(hi, lo);
			g->telling = k;
		}
	}
}

TS_ORDER(by_distance, struct neighbour, TS_UP(apart_ps) TS_UP(core))

static void put_in_order(struct grouping *g)
{
	for (size_t c = 0; c < g->nr_cores; c++)
		g->order[c] =
			(struct neighbour){ collectives_groups_times_of(g, c)[g->telling].end_ps,
					    c };
	TS_SORT(g->order, g->nr_cores, by_distance);
	for (size_t i = 0; i <= g->nr_cores; i++)
		g->next[i] = i;
}

/* The first place from I on that is not taken. */
static size_t free_from(struct grouping *g, size_t i)
{
	while (g->next[i] != i) {
		g->next[i] = g->next[g->next[i]];
		i = g->next[i];
	}
	return i;
}

static int64_t collectives_groups_distance(const struct grouping *g, size_t a, size_t b)
{
	const struct collective_time *x = collectives_groups_times_of(g, a),
				     *y = collectives_groups_times_of(g, b);
	int64_t sum = 0;

	for (size_t k = 0; k < g->nr_looks; k++) {
		int64_t d = ts_i64_sub(x[k].end_ps, y[k].end_ps);

		sum = ts_i64_add(sum, d < 0 ? ts_i64_sub(0, d) : d);
	}
	return sum;
}

/* The first core that is left and those nearest to it among its neighbours. */
static void take_group(struct grouping *g, uint32_t *members)
{
	size_t window = TS_MAX(4 * g->group_size, MIN_WINDOW), nr = 0;
	size_t at = free_from(g, 0), first = g->order[at].core;

	for (; at < g->nr_cores && nr < window; at = free_from(g, at + 1))
		g->near[nr++] = (struct neighbour){
			collectives_groups_distance(g, first, g->order[at].core), at
		};
	TS_SORT(g->near, nr, by_distance);
	for (size_t i = 0; i < g->group_size; i++) {
		size_t place = g->near[i].core;

		g->next[place] = place + 1;
		members[i] = (uint32_t)g->order[place].core;
	}
}

static void make_hulls(struct grouping *g, size_t group)
{
	struct hull *hulls = &g->hulls[group * g->nr_looks];
	const uint32_t *members = &g->members[group * g->group_size];

	for (size_t k = 0; k < g->nr_looks; k++) {
		hulls[k] = (struct hull){ INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN };
		for (size_t i = 0; i < g->group_size; i++) {
			const struct collective_time *time =
				&collectives_groups_times_of(g, members[i])[k];

			hulls[k].lo_ps = TS_MIN(hulls[k].lo_ps, time->end_ps);
			hulls[k].hi_ps = TS_MAX(hulls[k].hi_ps, time->end_ps);
			hulls[k].first_ps = TS_MIN(hulls[k].first_ps, time->start_ps);
			hulls[k].last_ps = TS_MAX(hulls[k].last_ps, time->start_ps);
		}
	}
}

static bool collectives_groups_leaves_early(const struct grouping *g, const struct hull *hulls)
{
	for (size_t k = 0; k < g->nr_looks; k++)
		if (hulls[k].last_ps > hulls[k].lo_ps)
			return true;
	return false;
}

static int64_t width(const struct grouping *g, const struct hull *hulls)
{
	int64_t sum = 0;

	for (size_t k = 0; k < g->nr_looks; k++)
		sum = ts_i64_add(sum, ts_i64_sub(hulls[k].hi_ps, hulls[k].lo_ps));
	return sum;
}

/* How far apart two groups lie, at least. */
static int64_t collectives_groups_between(const struct grouping *g, const struct hull *x,
					  const struct hull *y)
{
	int64_t sum = 0;

	for (size_t k = 0; k < g->nr_looks; k++) {
		int64_t gap = TS_MAX(ts_i64_sub(x[k].lo_ps, y[k].hi_ps),
				     ts_i64_sub(y[k].lo_ps, x[k].hi_ps));

		sum = ts_i64_add(sum, TS_MAX(gap, 0));
	}
	return sum;
}

/* How far apart members came. */
static int64_t arrivals_apart(const struct grouping *g, const struct hull *hulls)
{
	int64_t sum = 0;

	for (size_t k = 0; k < g->nr_looks; k++)
		sum = ts_i64_add(sum, ts_i64_sub(hulls[k].last_ps, hulls[k].first_ps));
	return sum;
}

/* A group without others beside it: its members do not leave as they came. */
static bool is_believed(const struct grouping *g)
{
	int64_t inside = 0, outside = INT64_MAX;

	for (size_t a = 0; a < g->nr_groups; a++) {
		const struct hull *hulls = &g->hulls[a * g->nr_looks];

		if (collectives_groups_leaves_early(g, hulls))
			return false;
		inside = TS_MAX(inside, width(g, hulls));
		for (size_t b = a + 1; b < TS_MIN(g->nr_groups, a + 1 + GROUP_WINDOW); b++)
			outside = TS_MIN(outside, collectives_groups_between(
							  g, hulls, &g->hulls[b * g->nr_looks]));
	}
	if (g->nr_groups == 1)
		outside = arrivals_apart(g, g->hulls);
	return outside > 0 && inside <= outside / 2;
}

/* Devices in place of cores; groups by their first ones, whose numbers are the smallest. */
static void collectives_groups_put_groups(struct grouping *g)
{
	for (size_t i = 0; i < g->nr_cores; i++)
		g->members[i] = g->devices[g->members[i]];
	for (size_t i = 0; i < g->nr_groups; i++)
		qsort(&g->members[i * g->group_size], g->group_size, sizeof(*g->members),
		      ts_u32_order);
	qsort(g->members, g->nr_groups, g->group_size * sizeof(*g->members), ts_u32_order);
	memcpy(g->devices, g->members, g->nr_cores * sizeof(*g->members));
}

/* Whether they stand out. */
static bool collectives_groups_find_groups(struct grouping *g)
{
	find_telling(g);
	put_in_order(g);
	for (size_t i = 0; i < g->nr_groups; i++) {
		take_group(g, &g->members[i * g->group_size]);
		make_hulls(g, i);
	}
	if (!is_believed(g))
		return false;
	collectives_groups_put_groups(g);
	return true;
}

static enum ts_status collectives_groups_make_room(struct grouping *g, struct ts_error *err)
{
	g->order = calloc(g->nr_cores, sizeof(*g->order));
	g->next = calloc(g->nr_cores + 1, sizeof(*g->next));
	g->near = calloc(g->nr_cores, sizeof(*g->near));
	g->members = calloc(g->nr_cores, sizeof(*g->members));
	g->hulls = calloc(g->nr_groups * g->nr_looks, sizeof(*g->hulls));
	return g->order && g->next && g->near && g->members && g->hulls ? TS_OK
									: ts_fail_nomem(err);
}

enum ts_status ts_collective_groups(const struct collective_cores *cores, uint32_t *devices,
				    size_t nr, int64_t group_size, bool *found,
				    struct ts_error *err)
{
	struct grouping g = { .all = cores, .devices = devices, .nr_cores = nr };
	enum ts_status st;

	TS_ASSERT(cores && devices && found);
	*found = false;
	if (group_size < 2 || nr == 0 || nr % (uint64_t)group_size != 0)
		return TS_OK;
	g.group_size = (size_t)group_size;
	g.nr_groups = nr / g.group_size;
	st = line_up(&g, err);
	if (st || g.nr_looks < MIN_INSTANCES)
		goto done;
	st = collectives_groups_make_room(&g, err);
	if (!st)
		*found = collectives_groups_find_groups(&g);
done:
	free(g.times);
	free(g.order);
	free(g.next);
	free(g.near);
	free(g.members);
	free(g.hulls);
	return st;
}
