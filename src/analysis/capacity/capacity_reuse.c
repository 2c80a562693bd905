/* SPDX-License-Identifier: MIT */
/*
 * Live ranges, before those that may share: what stands in the memory of a result until that is
 * there. A run holds its results' memory from the beginning; what fits into such a place, and is gone
 * when the place is needed, takes it and asks for none of its own. So does what fits where a donated
 * argument stood, between its last use and the result.
 *
 * The largest come first, of one size results before others, then in the order of the schedule; each
 * takes the smallest place that is free, an operand's own before the others.
 *
 * Facts: openxla/xla, BufferAssigner (AssignSingleHloBuffer, LiveRangeInterferes), checked against
 * the buffer assignments that libtpu dumps.
 */
#include "analysis/capacity/capacity_ranges.h"
#include "base/order.h"

#define MAX_HOLDS 16384 /* of one place: what comes after them stands elsewhere */

/* A value of a set, and when it is there. */
struct hold {
	uint32_t set, value, from, to;
	uint32_t reach; /* in a place: the last position of this one and those before it */
};

/* The memory of a result. */
struct place {
	uint32_t set;
	struct hold *holds; /* in order of time */
	size_t nr, cap;
	uint32_t gap;	 /* its longest free stretch has so many positions, or fewer */
	size_t measured; /* that is found again when it has so many holds */
};

/* A set, in the order in which places are given. */
struct candidate {
	uint32_t set, maker_at;
	const struct hold *holds;
	size_t nr_holds;
	uint32_t longest;
	int64_t nr_bytes;
	bool is_output;
};

struct reuse {
	struct ranges *ranges;
	struct hold *holds; /* of all sets, each set's together */
	size_t nr_holds;
	struct candidate *candidates;
	size_t nr_candidates;
	struct place *places; /* the largest first */
	size_t nr_places;
	uint32_t *place_of; /* of each root: its place, or TS_NONE */
};

/* Sets of HBM that take memory and may come and go, and the results. */
static bool capacity_reuse_is_candidate(const struct ranges *ranges, uint32_t root)
{
	const struct range_set *set = &ranges->sets[root];

	return set->used && set->nr_bytes > 0 && set->maker != TS_NONE &&
	       set->space == TS_SPACE_HBM && !set->is_constant &&
	       (!set->is_parameter || set->is_output);
}

TS_ORDER(by_set_and_time, struct hold, TS_UP(set) TS_UP(from) TS_UP(value))

static void list_holds(struct reuse *reuse)
{
	struct ranges *ranges = reuse->ranges;

	for (uint32_t v = 0; v < ranges->nr_values; v++) {
		const struct span *span = &ranges->spans[v];
		uint32_t root = find_root(ranges, v);

		if (ranges->same[v] == v && span->used && capacity_reuse_is_candidate(ranges, root))
			reuse->holds[reuse->nr_holds++] =
				(struct hold){ .set = root, v, span->from, span->to, 0 };
	}
	TS_SORT(reuse->holds, reuse->nr_holds, by_set_and_time);
}

static void list_candidates(struct reuse *reuse)
{
	for (size_t i = 0; i < reuse->nr_holds;) {
		struct candidate *to = &reuse->candidates[reuse->nr_candidates++];
		const struct hold *first = &reuse->holds[i];
		const struct range_set *set = &reuse->ranges->sets[first->set];

		*to = (struct candidate){ .set = first->set,
					  .maker_at = first->from,
					  .holds = first,
					  .nr_bytes = set->nr_bytes,
					  .is_output = set->is_output };
		for (; i < reuse->nr_holds && reuse->holds[i].set == to->set; i++) {
			to->longest =
				TS_MAX(to->longest, reuse->holds[i].to - reuse->holds[i].from + 1);
			to->nr_holds++;
		}
	}
}

TS_ORDER(by_turn, struct candidate, TS_DOWN(nr_bytes) TS_DOWN(is_output) TS_UP(maker_at) TS_UP(set))

static bool may_live_there(const struct ranges *ranges, const struct candidate *candidate)
{
	/*
	 * What other chips write into keeps away from the memory of results, which may stand
	 * elsewhere on each of them.
	 */
	for (size_t i = 0; i < candidate->nr_holds; i++)
		if (TS_OPCODE_IN(instr_at(ranges, ranges->owner[candidate->holds[i].value])->opcode,
				 TS_OPCODE_ALL_GATHER, TS_OPCODE_ALL_GATHER_START,
				 TS_OPCODE_ALL_TO_ALL, TS_XLA_ALL_TO_ALL_START,
				 TS_OPCODE_COLLECTIVE_PERMUTE, TS_OPCODE_COLLECTIVE_PERMUTE_START))
			return false;
	return true;
}

/* Both are there at one time; not where one ends in the op that writes the other over it. */
static bool is_in_the_way(struct ranges *ranges, const struct hold *a, const struct hold *b)
{
	if (a->from > b->to || b->from > a->to)
		return false;
	if (a->to == b->from)
		return !ts_range_writes_over(ranges, b->value, a->value);
	if (b->to == a->from)
		return !ts_range_writes_over(ranges, a->value, b->value);
	return true;
}

/* The first hold of the place that reaches POSITION, or its end. */
static size_t first_at(const struct place *place, uint32_t position)
{
	size_t low = 0, high = place->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (place->holds[middle].reach < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool capacity_reuse_is_free(struct ranges *ranges, const struct place *place,
				   const struct hold *hold)
{
	for (size_t i = first_at(place, hold->from);
	     i < place->nr && place->holds[i].from <= hold->to; i++)
		if (is_in_the_way(ranges, &place->holds[i], hold))
			return false;
	return true;
}

static bool fits(struct reuse *reuse, const struct place *place, const struct candidate *candidate)
{
	const struct range_set *sets = reuse->ranges->sets;

	/* what is written over an operand begins, and an operand ends, in a position that is taken */
	if (candidate->nr_bytes > sets[place->set].nr_bytes ||
	    candidate->longest > (uint64_t)place->gap + 2 ||
	    place->nr + candidate->nr_holds > MAX_HOLDS)
		return false;
	for (size_t i = 0; i < candidate->nr_holds; i++)
		if (!capacity_reuse_is_free(reuse->ranges, place, &candidate->holds[i]))
			return false;
	return true;
}

/* The longest free stretch of the place. */
static uint32_t longest_gap(const struct ranges *ranges, const struct place *place)
{
	uint32_t free_from = 0, gap = 0;

	for (size_t i = 0; i < place->nr; i++) {
		const struct hold *hold = &place->holds[i];

		if (hold->from > free_from)
			gap = TS_MAX(gap, hold->from - free_from);
		free_from = hold->reach + 1;
	}
	return ranges->next > free_from ? TS_MAX(gap, ranges->next - free_from) : gap;
}

/* The first hold of the place that begins behind this one. */
static size_t capacity_reuse_behind(const struct place *place, const struct hold *hold)
{
	size_t low = 0, high = place->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (place->holds[middle].from <= hold->from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void capacity_reuse_insert(struct place *place, const struct hold *hold)
{
	size_t at = capacity_reuse_behind(place, hold);
	uint32_t reach = hold->to;

	memmove(&place->holds[at + 1], &place->holds[at], (place->nr - at) * sizeof(*place->holds));
	place->holds[at] = *hold;
	place->nr++;
	if (at > 0)
		reach = TS_MAX(reach, place->holds[at - 1].reach);
	place->holds[at].reach = reach;
	for (size_t i = at + 1; i < place->nr && place->holds[i].reach < reach; i++)
		place->holds[i].reach = reach;
}

static enum ts_status capacity_reuse_take_place(struct reuse *reuse, struct place *place,
						const struct candidate *candidate,
						struct ts_error *err)
{
	if (!ts_grow(&place->holds, &place->cap, place->nr + candidate->nr_holds,
		     sizeof(*place->holds)))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < candidate->nr_holds; i++)
		capacity_reuse_insert(place, &candidate->holds[i]);
	if (place->nr >= place->measured) { /* else what it was is still no less than what it is */
		place->gap = longest_gap(reuse->ranges, place);
		place->measured = place->nr + place->nr / 8 + 1;
	}
	reuse->place_of[candidate->set] = (uint32_t)(place - reuse->places);
	return TS_OK;
}

/* The place of an operand of what makes one of the candidate's values, where it is free; or NULL. */
static struct place *operands_place(struct reuse *reuse, const struct candidate *candidate)
{
	struct ranges *ranges = reuse->ranges;

	for (size_t i = 0; i < candidate->nr_holds; i++) {
		uint32_t maker = ranges->owner[candidate->holds[i].value];
		const struct ts_hlo_instr *instr = instr_at(ranges, maker);

		for (uint32_t k = 0; k < instr->nr_operands && nr_leaves(ranges, maker) == 1; k++) {
			uint32_t operand = instr->operands[k], at;

			if (nr_leaves(ranges, operand) != 1)
				continue;
			at = reuse->place_of[find_root(ranges, ranges->first[operand])];
			if (at != TS_NONE && fits(reuse, &reuse->places[at], candidate))
				return &reuse->places[at];
		}
	}
	return NULL;
}

static struct place *capacity_reuse_find_place(struct reuse *reuse,
					       const struct candidate *candidate)
{
	struct place *found;

	if (!may_live_there(reuse->ranges, candidate))
		return NULL;
	found = operands_place(reuse, candidate);
	for (size_t p = reuse->nr_places; !found && p-- > 0;)
		if (fits(reuse, &reuse->places[p], candidate))
			found = &reuse->places[p];
	return found;
}

static enum ts_status give_places(struct reuse *reuse, struct ts_error *err)
{
	struct range_set *sets = reuse->ranges->sets;
	enum ts_status st;

	for (size_t i = 0; i < reuse->nr_candidates; i++) {
		const struct candidate *candidate = &reuse->candidates[i];
		struct place *place;

		if (candidate->is_output) {
			place = &reuse->places[reuse->nr_places++];
			place->set = candidate->set;
		} else {
			place = capacity_reuse_find_place(reuse, candidate);
			if (!place)
				continue;
			sets[candidate->set].used = false; /* the result's memory has it */
		}
		st = capacity_reuse_take_place(reuse, place, candidate, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status capacity_reuse_make_room(struct reuse *reuse, struct ts_error *err)
{
	size_t nr = (size_t)reuse->ranges->nr_values + 1;

	reuse->holds = calloc(nr, sizeof(*reuse->holds));
	reuse->candidates = calloc(nr, sizeof(*reuse->candidates));
	reuse->places = calloc(nr, sizeof(*reuse->places));
	reuse->place_of = malloc(nr * sizeof(*reuse->place_of));
	if (!reuse->holds || !reuse->candidates || !reuse->places || !reuse->place_of)
		return ts_fail_nomem(err);
	memset(reuse->place_of, 0xff, nr * sizeof(*reuse->place_of));
	return TS_OK;
}

enum ts_status ts_ranges_reuse(struct ranges *ranges, struct ts_error *err)
{
	struct reuse reuse = { .ranges = ranges };
	enum ts_status st = capacity_reuse_make_room(&reuse, err);

	if (st)
		goto done;
	list_holds(&reuse);
	list_candidates(&reuse);
	TS_SORT(reuse.candidates, reuse.nr_candidates, by_turn);
	st = give_places(&reuse, err);
done:
	for (size_t p = 0; p < reuse.nr_places; p++)
		free(reuse.places[p].holds);
	free(reuse.holds);
	free(reuse.candidates);
	free(reuse.places);
	free(reuse.place_of);
	return st;
}
