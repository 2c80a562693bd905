/* SPDX-License-Identifier: MIT */
/*
 * Nesting: events of one line in the order of their starts become blocks with self times and
 * segments (model/block.h says what these are). Every reader of events ends here, so that nesting
 * means the same for all formats.
 *
 * The stack holds the open events only: memory is bounded by TS_LIMIT_NEST_DEPTH, not by the line. An event
 * nested deeper than that is handed over like any other, but what it holds counts as its parent's.
 */
#ifndef TS_MODEL_NEST_H
#define TS_MODEL_NEST_H

#include "base/limits.h"
#include "model/block.h"

struct ts_event {
	uint32_t op;
	int64_t start_ps, dur_ps;	   /* on the run's timeline */
	int64_t device_start_ps, total_ps; /* by the device's clock; the same where it has none */
	int64_t flops, bytes;		   /* TS_UNKNOWN: it has no number of its own */
	uint8_t how;			   /* that is known: model/launched.h */
	int64_t occurrences;
	uint64_t number;      /* TS_NO_NUMBER */
	uint64_t link;	      /* TS_NO_LINK */
	struct ts_bytes body; /* for .stat of the block */
};

/*
 * Times that a file may say but no run can have are cut to 26 days either side of its start. So
 * differences of times, and sums over what does not overlap, fit 64 bits. Readers bound every time
 * of an event before they push it.
 */
#define TS_TIME_MAX (INT64_C(1) << 61)

static inline int64_t ts_time_bound(int64_t ps)
{
	return ps > TS_TIME_MAX ? TS_TIME_MAX : ps < -TS_TIME_MAX ? -TS_TIME_MAX : ps;
}

struct ts_nest; /* one line's, one thread's */

/* NULL: no memory. The sink gets blocks from push and finish; its status ends the line. */
struct ts_nest *ts_nest_new(const struct ts_profile *profile, uint32_t line,
			    const struct ts_sink *sink);
/* How stats of a body are found; before the first push. */
void ts_nest_stats(struct ts_nest *nest, ts_stat_find *find, ts_stats_find *find_all,
		   ts_stats_each *each);
/*
 * For events that the sink does not look at, of a line whose events are in order and without a device's clock. One may
 * be passed over while none that is looked at is open: is_idle. Else close() closes those that do not hold it, and it
 * is pushed when one still is open.
 */
bool ts_nest_is_idle(const struct ts_nest *nest);
enum ts_status ts_nest_close(struct ts_nest *nest, int64_t start_ps, int64_t dur_ps,
			     struct ts_error *err);
/* TS_UNSORTED when the event starts before the one pushed last. */
enum ts_status ts_nest_push(struct ts_nest *nest, const struct ts_event *event,
			    struct ts_error *err);
/* Closes what is open and hands over the last block. */
enum ts_status ts_nest_finish(struct ts_nest *nest, struct ts_error *err);
void ts_nest_free(struct ts_nest *nest);

#endif
