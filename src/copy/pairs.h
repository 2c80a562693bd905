/* SPDX-License-Identifier: MIT */
/*
 * Events of a trace that belong together: async events (b, n, e) and flows (s, t, f), each known by
 * an id. Which of them stay is known when all were seen, so they are kept until then, numbered in
 * the order of the text: TS_PAIRS_MAX in memory, more of them in a temporary file. What stays is
 * one bit an event.
 *
 * Of async events a beginning and the next end of the same id are a pair (they nest), and stay if
 * the time between them lies in the cut; events in between stay if they lie in it themselves and one
 * of their pairs does. A flow's ends stay if they lie in the cut, and at least one of each does.
 */
#ifndef TS_COPY_PAIRS_H
#define TS_COPY_PAIRS_H

#include "base/map.h"
#include "copy/trim.h"
#include "io/scratch.h"

#define TS_PAIRS_MAX (256 * 1024)

enum ts_pair_kind { TS_PAIR_ASYNC, TS_PAIR_FLOW };
enum ts_pair_end { TS_PAIR_BEGIN, TS_PAIR_END, TS_PAIR_BETWEEN };

struct ts_pair_event {
	uint64_t key; /* a hash of what identifies its pair */
	uint64_t nr;  /* of the event, from ts_pairs_number() */
	int64_t ps;
	uint32_t plane; /* of ts_trim_keeps() */
	uint32_t track; /* the caller's number: given back when the event stays */
	uint8_t kind, end;
};

struct ts_pairs {
	const struct ts_trim *trim;
	struct ts_pair_event *events;
	size_t nr, cap, max; /* max: TS_PAIRS_MAX, less for tests */
	uint64_t nr_all;     /* in memory and in the file */
	uint64_t nr_numbers;
	struct ts_scratch scratch;
	uint8_t *stays; /* a bit a number */
	size_t cap_stays;
	void *ctx;
	void (*kept)(void *ctx, uint32_t track); /* for each event that stays */
};

void ts_pairs_init(struct ts_pairs *pairs, const struct ts_trim *trim);
void ts_pairs_release(struct ts_pairs *pairs);
/* The next event's number; *ST is TS_NOMEM when there is no room for its bit. */
uint64_t ts_pairs_number(struct ts_pairs *pairs, enum ts_status *st);
enum ts_status ts_pairs_put(struct ts_pairs *pairs, const struct ts_pair_event *event,
			    struct ts_error *err);
/* After the last event. */
enum ts_status ts_pairs_decide(struct ts_pairs *pairs, struct ts_error *err);

static inline void ts_pairs_keep(struct ts_pairs *pairs, uint64_t nr)
{
	pairs->stays[nr / 8] |= (uint8_t)(1u << nr % 8);
}

static inline bool ts_pairs_stays(const struct ts_pairs *pairs, uint64_t nr)
{
	return nr < pairs->nr_numbers && (pairs->stays[nr / 8] >> nr % 8 & 1);
}

#endif
