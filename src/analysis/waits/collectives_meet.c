/* SPDX-License-Identifier: MIT */
/*
 * Which cores of different hosts meet in a collective whose groups are smaller than the run, before the
 * clocks of the hosts are known. The time from one execution to the next is the same on all cores of a
 * group, whatever their clocks show and whenever their captures began. So intervals, three in a row, are
 * looked up; hosts that have many in common, always under the same shift of numbers, may share a group.
 *
 * Other groups of the same job run at nearly the same pace. So two hosts are held against each other
 * only where one core agrees much better with a core of the other host than with the next, which
 * leaves at another time; where there is no next, it stays unknown.
 */
#include "analysis/waits/collectives.h"

#define IN_A_ROW    3
#define QUANTUM_PS  TS_PS_PER_US
#define MAX_KEYS    512 /* of a core */
#define MIN_VOTES   6
#define MAX_CORES   8 /* of a host that are held against each other */
#define CONTRAST    4 /* times as far apart is the next core */
#define NOISE_PS    1000

/* Intervals that were seen first on DEVICE. */
struct heard {
	uint32_t device;
	int64_t number;
};

/* Two hosts that have intervals in common: the shift that most of them mean. */
struct vote {
	uint32_t base, other; /* first devices of the hosts */
	int64_t shift;
	size_t nr, lead; /* lead: of the shift over the others */
};

struct meeting {
	const struct collective_cores *cores;
	uint32_t *first; /* of each device: the first of its host */
	struct ts_map by_key, by_hosts;
	struct heard *heard;
	struct vote *votes;
	size_t nr_heard, cap_heard, nr_votes, cap_votes;
};

static enum ts_status vote(struct meeting *meeting, const struct heard *heard, uint32_t device,
			   int64_t number, struct ts_error *err)
{
	uint32_t base = meeting->first[heard->device], other = meeting->first[device];
	uint64_t key = (uint64_t)base << 32 | other;
	uint32_t at = ts_map_find(&meeting->by_hosts, key);
	int64_t shift = number - heard->number;
	struct vote *vote;

	if (at == TS_NONE) {
		at = (uint32_t)meeting->nr_votes;
		if (!ts_grow(&meeting->votes, &meeting->cap_votes, at + 1,
			     sizeof(*meeting->votes)) ||
		    !ts_map_set(&meeting->by_hosts, key, at))
			return ts_fail_nomem(err);
		meeting->votes[meeting->nr_votes++] = (struct vote){ base, other, shift, 0, 0 };
	}
	vote = &meeting->votes[at];
	vote->nr++;
	if (vote->shift == shift)
		vote->lead++;
	else if (vote->lead > 0)
		vote->lead--;
	else
		vote->shift = shift;
	return TS_OK;
}

static enum ts_status hear(struct meeting *meeting, uint64_t key, uint32_t device, int64_t number,
			   struct ts_error *err)
{
	uint32_t at = ts_map_find(&meeting->by_key, key);

	if (at != TS_NONE) {
		const struct heard *heard = &meeting->heard[at];

		if (meeting->first[heard->device] == meeting->first[device])
			return TS_OK;
		return vote(meeting, heard, device, number, err);
	}
	at = (uint32_t)meeting->nr_heard;
	if (!ts_grow(&meeting->heard, &meeting->cap_heard, at + 1, sizeof(*meeting->heard)) ||
	    !ts_map_set(&meeting->by_key, key, at))
		return ts_fail_nomem(err);
	meeting->heard[meeting->nr_heard++] = (struct heard){ device, number };
	return TS_OK;
}

/* The hash of the intervals behind execution I. */
static uint64_t collectives_meet_key_of(const struct collective_seen *seen, size_t i)
{
	int64_t intervals[IN_A_ROW];

	for (size_t k = 0; k < IN_A_ROW; k++)
		intervals[k] =
			ts_i64_sub(seen->times[i + k + 1].end_ps, seen->times[i + k].end_ps) /
			QUANTUM_PS;
	return ts_hash((struct ts_bytes){ (const void *)intervals, sizeof(intervals) }, 0);
}

/* Of many intervals those with the same hashes on all cores. */
static enum ts_status listen(struct meeting *meeting, uint32_t device, struct ts_error *err)
{
	const struct collective_seen *seen = meeting->cores->seen[device];
	uint64_t each = seen->nr / MAX_KEYS + 1;
	enum ts_status st = TS_OK;

	for (size_t i = 0; !st && i + IN_A_ROW < seen->nr; i++) {
		bool is_row =
			seen->level == 0 || i % COLLECTIVE_BLOCK + IN_A_ROW < COLLECTIVE_BLOCK;
		uint64_t key = is_row ? collectives_meet_key_of(seen, i) : 1;

		if (is_row && key % each == 0)
			st = hear(meeting, key, device, ts_collective_number(seen, i), err);
	}
	return st;
}

/* All cores of two hosts, each against each. */
struct rivals {
	struct collective_host cores[2][MAX_CORES];
	size_t nr[2];
	struct collective_line lines[MAX_CORES][MAX_CORES];
	bool is_known[MAX_CORES][MAX_CORES];
	size_t a, b; /* those that agree best */
};

static size_t collectives_meet_list_cores(const struct collective_cores *cores, uint32_t first,
					  struct collective_host *list)
{
	size_t nr = 0;

	for (uint32_t d = first;
	     d < cores->nr_devices && cores->host[d] == cores->host[first] && nr < MAX_CORES; d++)
		if (cores->seen[d]->nr > 0)
			list[nr++] = (struct collective_host){ cores->host[d], d, *cores->seen[d] };
	return nr;
}

static bool find_best(struct rivals *rivals, int64_t shift)
{
	bool found = false;

	for (size_t a = 0; a < rivals->nr[0]; a++)
		for (size_t b = 0; b < rivals->nr[1]; b++) {
			rivals->is_known[a][b] =
				ts_collective_line_of(&rivals->cores[0][a], &rivals->cores[1][b],
						      shift, &rivals->lines[a][b]);
			if (!rivals->is_known[a][b] ||
			    (found && rivals->lines[a][b].mean_ps >=
					      rivals->lines[rivals->a][rivals->b].mean_ps))
				continue;
			found = true;
			rivals->a = a;
			rivals->b = b;
		}
	return found;
}

/* Does this pair of cores, one of the two that agree best among them, leave at another time and agree worse? */
static bool is_worse(const struct rivals *rivals, size_t a, size_t b)
{
	const struct collective_line *best = &rivals->lines[rivals->a][rivals->b];
	const struct collective_line *line = &rivals->lines[a][b];

	return rivals->is_known[a][b] &&
	       line->mean_ps + NOISE_PS > CONTRAST * (best->mean_ps + NOISE_PS);
}

/* A core that leaves together with the one that agrees best is of its group: then it agrees as well. */
static bool has_contrast(const struct rivals *rivals)
{
	bool found = false;

	for (size_t b = 0; b < rivals->nr[1]; b++)
		found |= is_worse(rivals, rivals->a, b);
	for (size_t a = 0; a < rivals->nr[0]; a++)
		found |= is_worse(rivals, a, rivals->b);
	return found;
}

static enum ts_status collectives_meet_settle(struct collective_pairs *pairs,
					      const struct collective_cores *cores,
					      const struct vote *vote, struct ts_error *err)
{
	struct rivals rivals = { .nr = { 0, 0 } };

	if (vote->lead < MIN_VOTES || vote->lead * 2 < vote->nr)
		return TS_OK;
	rivals.nr[0] = collectives_meet_list_cores(cores, vote->base, rivals.cores[0]);
	rivals.nr[1] = collectives_meet_list_cores(cores, vote->other, rivals.cores[1]);
	if (!find_best(&rivals, vote->shift) || !has_contrast(&rivals))
		return TS_OK;
	return ts_collective_pair_add(pairs, &rivals.cores[0][rivals.a], &rivals.cores[1][rivals.b],
				      vote->shift, TS_CLOCK_COLLECTIVES, err);
}

static enum ts_status make_first(struct meeting *meeting, struct ts_error *err)
{
	const struct collective_cores *cores = meeting->cores;

	meeting->first = calloc(cores->nr_devices + 1, sizeof(*meeting->first));
	for (uint32_t d = 1; meeting->first && d < cores->nr_devices; d++)
		meeting->first[d] =
			cores->host[d] == cores->host[d - 1] ? meeting->first[d - 1] : d;
	return meeting->first ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_collective_pairs_meet(struct collective_pairs *pairs,
					const struct collective_cores *cores, struct ts_error *err)
{
	struct meeting meeting = { .cores = cores };
	enum ts_status st = make_first(&meeting, err);

	for (uint32_t d = 0; !st && d < cores->nr_devices; d++)
		st = listen(&meeting, d, err);
	for (size_t i = 0; !st && i < meeting.nr_votes; i++)
		st = collectives_meet_settle(pairs, cores, &meeting.votes[i], err);
	free(meeting.first);
	free(meeting.heard);
	free(meeting.votes);
	ts_map_release(&meeting.by_key);
	ts_map_release(&meeting.by_hosts);
	return st;
}
