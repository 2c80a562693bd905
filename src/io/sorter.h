/* SPDX-License-Identifier: MIT */
/*
 * Sorts records of events by time. They are put in any order. A few are kept and sorted in memory;
 * more become sorted runs in a temporary file (io/scratch.h), and a cursor reads a little of each
 * run at a time and merges them.
 *
 * Records may belong to several parts (tracks of a trace): each part is sorted alone and has
 * cursors of its own. Records that come nearly in order are sorted fastest. Records of five or six
 * 64-bit words are moved fastest.
 *
 * Memory: KIND->max records, as much again while they are sorted, and KIND->merge_bytes for each
 * cursor over records on disk. One thread at a time may put records; after ts_sorter_close() any
 * number of threads may have cursors.
 */
#ifndef TS_IO_SORTER_H
#define TS_IO_SORTER_H

#include "base/arena.h"
#include "io/scratch.h"

/* A record begins with this. Records are sorted by start; where two start together, the longer one
 * is first, as a parent comes before its child. */
struct ts_sort_key {
	int64_t start_ps, dur_ps;
};

struct ts_sort_kind {
	size_t size;	    /* of a record: a multiple of 8 */
	size_t max;	    /* records in memory at once */
	size_t merge_bytes; /* of buffers while a cursor reads from disk */
	/* A and B have the same key: may A stand in front of B? Yes where they are equal. */
	bool (*before)(const void *a, const void *b);
	size_t part_at; /* offset of the record's part, a uint16_t; 0: all records are in part 0 */
};

struct ts_sort_run { /* sorted by part, then by time */
	uint64_t at; /* where its first record is in the temporary file */
	uint32_t
		*starts; /* index of each part's first record, and one index behind the last part */
	uint32_t nr_parts;
};

struct ts_sorter {
	const struct ts_sort_kind *kind;
	uint8_t *records;
	size_t nr, cap, max; /* max: the kind's; tests set a smaller one */
	uint32_t nr_parts;   /* seen so far */
	struct ts_scratch scratch;
	struct ts_sort_run *runs;
	size_t nr_runs, cap_runs;
	bool closed;
};

void ts_sorter_init(struct ts_sorter *sorter, const struct ts_sort_kind *kind);
void ts_sorter_release(struct ts_sorter *sorter); /* it can be filled again then */
enum ts_status ts_sorter_put(struct ts_sorter *sorter, const void *record, struct ts_error *err);
/* After the last record, before the first cursor. */
enum ts_status ts_sorter_close(struct ts_sorter *sorter, struct ts_error *err);

/* What was closed goes to disk, where it is not there already: for later. No cursor is open. */
enum ts_status ts_sorter_rest(struct ts_sorter *sorter, struct ts_error *err);

struct ts_sort_cursor; /* over one part; NULL after an open that failed, and NULL may be freed */
enum ts_status ts_sort_cursor_open(const struct ts_sorter *sorter, uint32_t part,
				   struct ts_sort_cursor **cursor, struct ts_error *err);
/* The next record, valid until the next call; NULL at the end, or with a bad *ST. */
const void *ts_sort_cursor_next(struct ts_sort_cursor *cursor, enum ts_status *st,
				struct ts_error *err);
void ts_sort_cursor_free(struct ts_sort_cursor *cursor);

#endif
