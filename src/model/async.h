/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous ops as the cores saw them: a start and its done count as one op, from the start of
 * the one to the end of the other. What the two take on the core's line is exposed: the core did
 * nothing else. The rest of the interval is hidden.
 *
 * That is a slot: one op that stands for itself, or a start with its done. Slots are numbered by
 * the profile's op table, so that all lines agree.
 */
#ifndef TS_MODEL_ASYNC_H
#define TS_MODEL_ASYNC_H

#include "model/profile.h"

struct ts_record;

/* Which slot an op belongs to. */
struct ts_async_slots {
	uint32_t *of_op; /* TS_NONE: none */
	uint32_t *op;	 /* of each slot: the start, or the op itself */
	size_t nr;
};

/* Slots of the ops that WANTED is true of; a done has that of its start. */
enum ts_status ts_async_slots_make(struct ts_async_slots *slots, const struct ts_profile *profile,
				   bool (*wanted)(const struct ts_op *op), struct ts_error *err);

/* A slot on one core. For every instance exposed <= interval. */
struct ts_async_seen {
	int64_t occurrences, exposed_ps, interval_ps;
	bool is_open; /* a start without its done so far */
	int64_t open_ps, open_dur_ps;
};

/* An event of a slot's op, in the order of time. A done without a start (it was before the capture)
 * counts alone and is not an occurrence. */
void ts_async_add(struct ts_async_seen *seen, const struct ts_op *op, int64_t start_ps,
		  int64_t dur_ps, int64_t occurrences);
/* At the end of a line: a start whose done never came was as long as it was seen. */
void ts_async_end(struct ts_async_seen *seen);
/* FROM was ended. */
void ts_async_merge(struct ts_async_seen *into, const struct ts_async_seen *from);

/* For states. Slots follow from the profile: they are freed, and not saved. */
extern const struct ts_record ts_async_seen_record, ts_async_slots_record;

#endif
