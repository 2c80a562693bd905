/* SPDX-License-Identifier: MIT */
/*
 * Slices: what a picture of a stretch of time shows, whatever its zoom. A lane has what one line did, as moments that
 * do not overlap (segments, model/block.h), at most one slice for each of WIDTH places; where they are narrower
 * than a place, several are one slice that says how many it stands for, which class had most of its time, and how much of
 * it nothing ran in. It is never wider than a place, so it covers no gap that could be seen.
 *
 * The index makes that cheap: a line's bytes are cut into cells, and of each it is noted when its events begin and end
 * and what classes they are of. A cell that is narrower than a place is one slice, a cell outside of the stretch is
 * passed over, and only the cells that are left are read. There are TS_SLICES_CELLS at most, whatever the number of
 * events. Lines whose events are not in the order of time, and traces in JSON, have no cells and are read whole.
 *
 * Moments of ops that hold others (loops, calls) are left out on cores: their parts are there.
 */
#ifndef TS_PICTURE_SLICES_H
#define TS_PICTURE_SLICES_H

#include "model/bucket.h"
#include "model/part.h"

#define TS_SLICES_CELLS 131072 /* of a run: 16 MB */
#define TS_SLICES_MOST	400000 /* slices in all: of very many lanes each has fewer than it was asked for */

/* Classes are those of time (model/bucket.h); of what ran on no device: */
#define TS_SLICES_NO_CLASS TS_NR_BUCKETS

enum ts_lane_kind {
	TS_LANE_STEPS,
	TS_LANE_MODULES,
	TS_LANE_OPS,
	TS_LANE_COLLECTIVES, /* of the line of ops, by themselves */
	TS_LANE_ASYNC,	     /* of those that overlap, the one that began last */
	TS_LANE_SPARSECORE,
	TS_LANE_THREAD,
	TS_NR_LANES
};
extern const char *const ts_lane_names[TS_NR_LANES];

struct ts_lane_slice {
	int64_t start_ps, end_ps;
	int64_t class_ps[TS_SLICES_NO_CLASS + 1];
	uint64_t nr_events; /* it stands for */
	uint32_t op;	    /* TS_NONE: several */
};

unsigned ts_lane_slice_class(const struct ts_lane_slice *slice); /* with most time */
int64_t ts_lane_slice_idle(
	const struct ts_lane_slice *slice); /* of its time: in which none of its events was */

struct ts_lane {
	enum ts_lane_kind kind;
	uint32_t line;
	const struct ts_lane_slice *slices; /* in the order of time */
	size_t nr;
};

struct ts_slices_index;

/* Reads all lines that have a lane, of one host or of all (TS_NONE), once. PROFILE must live longer. */
enum ts_status ts_slices_index_new(struct ts_slices_index **index, const struct ts_profile *profile,
				   uint32_t host, size_t nr_threads, struct ts_error *err);
void ts_slices_index_free(struct ts_slices_index *index); /* NULL is fine */

struct ts_slices_wanted {
	struct ts_part part;
	size_t width;
};

/* Calls FN for each lane, in the order of the lines; empty lanes are left out. May be called on many threads. */
typedef enum ts_status ts_slices_fn(void *ctx, const struct ts_lane *lane, struct ts_error *err);
enum ts_status ts_slices_read(const struct ts_slices_index *index,
			      const struct ts_slices_wanted *wanted, ts_slices_fn *fn, void *ctx,
			      struct ts_error *err);

#endif
