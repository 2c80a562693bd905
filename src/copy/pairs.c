/* SPDX-License-Identifier: MIT */
/*
 * Events are dealt out by their key's hash to as many hands as it takes for one hand to fit into
 * memory; each hand is one read of the temporary file. All events of a key are in one hand, in the
 * order of the text.
 */
#include "copy/pairs.h"

#include "base/check.h"

void ts_pairs_init(struct ts_pairs *pairs, const struct ts_trim *trim)
{
	TS_ASSERT(pairs && trim);
	*pairs = (struct ts_pairs){ .trim = trim, .max = TS_PAIRS_MAX, .scratch = TS_SCRATCH_INIT };
}

void ts_pairs_release(struct ts_pairs *pairs)
{
	TS_ASSERT(pairs);
	ts_scratch_release(&pairs->scratch);
	free(pairs->events);
	free(pairs->stays);
	memset(pairs, 0, sizeof(*pairs));
	pairs->scratch = (struct ts_scratch)TS_SCRATCH_INIT;
}

uint64_t ts_pairs_number(struct ts_pairs *pairs, enum ts_status *st)
{
	TS_ASSERT_HOT(pairs && st);
	if (!ts_grow(&pairs->stays, &pairs->cap_stays, pairs->nr_numbers / 8 + 1, 1)) {
		*st = TS_NOMEM;
		return 0;
	}
	return pairs->nr_numbers++;
}

static enum ts_status to_disk(struct ts_pairs *pairs, struct ts_error *err)
{
	struct ts_bytes bytes = { (const uint8_t *)pairs->events,
				  pairs->nr * sizeof(*pairs->events) };
	enum ts_status st = pairs->nr ? ts_scratch_put(&pairs->scratch, bytes, err) : TS_OK;

	pairs->nr = 0;
	return st;
}

enum ts_status ts_pairs_put(struct ts_pairs *pairs, const struct ts_pair_event *event,
			    struct ts_error *err)
{
	enum ts_status st = pairs->nr == pairs->max ? to_disk(pairs, err) : TS_OK;

	TS_ASSERT_HOT(pairs && event);
	if (st)
		return st;
	if (!ts_grow(&pairs->events, &pairs->cap, pairs->nr + 1, sizeof(*event)))
		return ts_fail_nomem(err);
	pairs->events[pairs->nr++] = *event;
	pairs->nr_all++;
	return TS_OK;
}

/* What is known of a key. */
struct chain {
	bool begins, ends; /* a flow: an end of each sort lies in the cut; async: a pair stays */
	struct ts_pair_event *open; /* async beginnings that wait for their ends */
	size_t nr_open, cap_open;
};

struct hand {
	struct ts_pairs *pairs;
	struct ts_map keys;
	struct chain *chains;
	size_t nr_chains, cap_chains;
};

static bool is_inside(const struct hand *hand, const struct ts_pair_event *event)
{
	return ts_trim_keeps(hand->pairs->trim, event->plane, event->ps, 0);
}

static void pairs_keep(struct hand *hand, const struct ts_pair_event *event)
{
	ts_pairs_keep(hand->pairs, event->nr);
	if (hand->pairs->kept)
		hand->pairs->kept(hand->pairs->ctx, event->track);
}

/* NULL: no memory. */
static struct chain *chain_of(struct hand *hand, const struct ts_pair_event *event)
{
	uint32_t at = ts_map_find(&hand->keys, event->key);

	if (at != TS_NONE)
		return &hand->chains[at];
	if (!ts_grow(&hand->chains, &hand->cap_chains, hand->nr_chains + 1,
		     sizeof(*hand->chains)) ||
	    !ts_map_set(&hand->keys, event->key, (uint32_t)hand->nr_chains))
		return NULL;
	return &hand->chains[hand->nr_chains++];
}

static void close_pair(struct hand *hand, struct chain *chain, const struct ts_pair_event *end)
{
	const struct ts_pair_event *begin;

	if (chain->nr_open == 0)
		return; /* its beginning is before the trace */
	begin = &chain->open[--chain->nr_open];
	if (!ts_trim_keeps(hand->pairs->trim, begin->plane, begin->ps,
			   TS_MAX(ts_i64_sub(end->ps, begin->ps), 0)))
		return;
	pairs_keep(hand, begin);
	pairs_keep(hand, end);
	chain->begins = chain->ends = true;
}

/* First look: pairs, and what lies in the cut. */
static enum ts_status pairs_look(struct hand *hand, const struct ts_pair_event *event,
				 struct ts_error *err)
{
	struct chain *chain = chain_of(hand, event);

	if (!chain)
		return ts_fail_nomem(err);
	if (event->kind == TS_PAIR_FLOW) {
		chain->begins |= event->end == TS_PAIR_BEGIN && is_inside(hand, event);
		chain->ends |= event->end == TS_PAIR_END && is_inside(hand, event);
	} else if (event->end == TS_PAIR_END) {
		close_pair(hand, chain, event);
	} else if (event->end == TS_PAIR_BEGIN) {
		if (!ts_grow(&chain->open, &chain->cap_open, chain->nr_open + 1, sizeof(*event)))
			return ts_fail_nomem(err);
		chain->open[chain->nr_open++] = *event;
	}
	return TS_OK;
}

/* Second look: those that only stay with others. */
static enum ts_status pairs_settle(struct hand *hand, const struct ts_pair_event *event,
				   struct ts_error *err)
{
	const struct chain *chain = chain_of(hand, event);

	if (!chain)
		return ts_fail_nomem(err);
	if (chain->begins && chain->ends && is_inside(hand, event) &&
	    (event->kind == TS_PAIR_FLOW || event->end == TS_PAIR_BETWEEN))
		pairs_keep(hand, event);
	return TS_OK;
}

typedef enum ts_status event_fn(struct hand *hand, const struct ts_pair_event *event,
				struct ts_error *err);

/* All events whose keys are in this hand of NR_HANDS, in the order of the text. */
static enum ts_status each_event(struct hand *hand, uint64_t which, uint64_t nr_hands, event_fn *fn,
				 struct ts_error *err)
{
	struct ts_pairs *pairs = hand->pairs;
	uint64_t nr_there = pairs->nr_all - pairs->nr;
	struct ts_pair_event some[256];
	enum ts_status st = TS_OK;

	for (uint64_t at = 0; at < nr_there && st == TS_OK;) {
		size_t n = (size_t)TS_MIN(nr_there - at, TS_NELEM(some));

		st = ts_scratch_read(&pairs->scratch, at * sizeof(*some), some, n * sizeof(*some),
				     err);
		for (size_t i = 0; st == TS_OK && i < n; i++)
			if (some[i].key % nr_hands == which)
				st = fn(hand, &some[i], err);
		at += n;
	}
	for (size_t i = 0; i < pairs->nr && st == TS_OK; i++)
		if (pairs->events[i].key % nr_hands == which)
			st = fn(hand, &pairs->events[i], err);
	return st;
}

static enum ts_status play(struct ts_pairs *pairs, uint64_t which, uint64_t nr_hands,
			   struct ts_error *err)
{
	struct hand hand = { .pairs = pairs };
	enum ts_status st = each_event(&hand, which, nr_hands, pairs_look, err);

	if (st == TS_OK)
		st = each_event(&hand, which, nr_hands, pairs_settle, err);
	for (size_t i = 0; i < hand.nr_chains; i++)
		free(hand.chains[i].open);
	free(hand.chains);
	ts_map_release(&hand.keys);
	return st;
}

enum ts_status ts_pairs_decide(struct ts_pairs *pairs, struct ts_error *err)
{
	uint64_t nr_hands = pairs->nr_all / pairs->max + 1;
	enum ts_status st = TS_OK;

	TS_ASSERT(pairs);
	for (uint64_t i = 0; i < nr_hands && st == TS_OK; i++)
		st = play(pairs, i, nr_hands, err);
	return st;
}
