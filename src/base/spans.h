/* SPDX-License-Identifier: MIT */
/*
 * Spans: a sorted list of intervals [start, end) of time that do not touch or overlap, in ps.
 *
 * Exact up to .max intervals; past it the smallest gaps are closed to halve the list, and
 * .closed_ps says how much time that added. So the memory is bounded whatever the input.
 */
#ifndef TS_BASE_SPANS_H
#define TS_BASE_SPANS_H

#include "base/bytes.h"

#define TS_SPANS_MAX 262144 /* 4 MiB */

struct ts_record;
struct ts_span {
	int64_t start_ps, end_ps;
};

struct ts_spans {
	struct ts_span *items;
	size_t nr, cap;
	size_t max;	   /* 0 means TS_SPANS_MAX */
	int64_t closed_ps; /* gaps given up to stay below max */
	int64_t *
		before_ps; /* of sealed spans: what lies before each, and behind the last; else NULL */
};

/* Adds one interval, best in the order of starts (any other order moves what lies behind). */
bool ts_spans_add(struct ts_spans *spans, int64_t start_ps, int64_t end_ps);
/* Adds all of OTHER; both are walked. */
bool ts_spans_union(struct ts_spans *spans, const struct ts_spans *other);
/* Takes all of OTHER out. */
bool ts_spans_subtract(struct ts_spans *spans, const struct ts_spans *other);
int64_t ts_spans_total(const struct ts_spans *spans);
/*
 * Time of [start, end) that lies in the spans. *HINT (0 at first) remembers where the last search
 * ended, so that a walk in the order of time costs nothing extra.
 */
int64_t ts_spans_covered(const struct ts_spans *spans, int64_t start_ps, int64_t end_ps,
			 size_t *hint);
/*
 * Makes covered() quick for long stretches too: it need not walk the spans in them. Until the next
 * change. False: no memory; the spans stand.
 */
bool ts_spans_seal(struct ts_spans *spans);
/* Index of the first span that ends after T; spans->nr when there is none. */
size_t ts_spans_seek(const struct ts_spans *spans, int64_t t, size_t hint);
void ts_spans_release(struct ts_spans *spans);

/*
 * The union of very many lists: each is walked once for every doubling of their number, not once
 * for every list behind it. A zeroed struct is the empty sum.
 */
struct ts_spans_sum {
	struct ts_spans levels[32];
	uint32_t nr; /* lists so far, below 2^32 */
};

/* LIST moves in, and is empty then. False: no memory; LIST is lost. */
bool ts_spans_sum_add(struct ts_spans_sum *sum, struct ts_spans *list);
/* Adds all of it to OUT and leaves the sum empty. */
bool ts_spans_sum_finish(struct ts_spans_sum *sum, struct ts_spans *out);
void ts_spans_sum_release(struct ts_spans_sum *sum);

/* What they are made of, for states (base/record.h). */
extern const struct ts_record ts_spans_record, ts_spans_sum_record;

#endif
