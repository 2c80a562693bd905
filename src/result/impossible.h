/* SPDX-License-Identifier: MIT */
/*
 * Figures that cannot be true: shares and rates above the peak that they are held against. What a profile
 * says of an op's work, how long the op ran and what the chip can do contradict each other then, and no
 * output shows the figure as a fact. It stands apart, with its cause: `impossible[]` of the report.
 */
#ifndef TS_RESULT_IMPOSSIBLE_H
#define TS_RESULT_IMPOSSIBLE_H

#include "result/result.h"

/* A peak is known to two digits or three, and a time is rounded to a clock's tick: a figure that is above
 * its peak by no more than this is the peak. */
#define TS_ABOVE_PEAK 1.02
/* A sum of which a larger part is impossible is itself not to be believed. */
#define TS_IMPOSSIBLE_PART 0.1

/* False where one of them is unknown. */
static inline bool ts_is_impossible(double value, double peak)
{
	return value > TS_ABOVE_PEAK * peak;
}

/* A share of a peak that another analysis shows, too. */
struct ts_held {
	double share;	       /* 0..1; NaN: unknown */
	struct ts_bytes cause; /* why it cannot be true; .n 0: it can */
};

static inline double ts_held_known(struct ts_held held) /* NaN: unknown, or impossible */
{
	return held.cause.n > 0 ? NAN : held.share;
}

/* VALUE, and at most PEAK; impossible for CAUSE where it is above. An unknown peak holds nothing. */
struct ts_value ts_held_value(struct ts_result *result, double value, double peak,
			      struct ts_bytes cause);
/* In percent. */
struct ts_value ts_held_pct(struct ts_result *result, struct ts_held held);
/* Of a share of the peak that cannot be true above 1. */
struct ts_value ts_held_share_pct(struct ts_result *result, double share, struct ts_bytes cause);
/* Whatever VALUE is: what it was made of cannot be true. Null where it is unknown. */
struct ts_value ts_impossible_value(struct ts_result *result, double value, double peak,
				    struct ts_bytes cause);

/* Where one stands. */
struct ts_impossible_place {
	const struct ts_result *result;
	const struct ts_table *table; /* NULL: it is a field */
	size_t row;
	const char *name; /* of the field or column */
	bool in_list;	  /* the cell is a list, and the figure its item number INDEX */
	size_t index;
	const struct ts_impossible *figure;
};
typedef void ts_impossible_seen(void *arg, const struct ts_impossible_place *place);

/* Calls SEEN (or NULL) for each one of RESULT, of TABLE alone if that is not NULL. Gives how many. */
size_t ts_result_each_impossible(const struct ts_result *result, const struct ts_table *table,
				 ts_impossible_seen *seen, void *arg);
/* What the row is of, by the terms of its columns: an op, else a module, a category or a memory; .n 0: it has
 * none. */
struct ts_bytes ts_impossible_item(const struct ts_impossible_place *place);

#endif
