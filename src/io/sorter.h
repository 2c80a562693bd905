/*
 * Records of events, put in any order, given back in the order of time: in memory while they are few,
 * else as sorted runs in a temporary file (io/scratch.h), of which a cursor reads a little of each
 * and merges.
 *
 * Records may be of several parts (tracks of a trace), each sorted for itself and read by cursors of
 * its own. Within a part they should come nearly in order: stretches that rise are merged, so that
 * takes few passes.
 *
 * Memory: KIND->max records, as much again while they are sorted, and KIND->merge_bytes for each
 * cursor over records on disk. Putting is one thread's; after ts_sorter_close() any number of threads
 * may have cursors.
 */
#ifndef TS_IO_SORTER_H
#define TS_IO_SORTER_H

#include "base/arena.h"
#include "io/scratch.h"

/* What a record begins with: it is sorted by start, and of two that start together the longer is first,
 * as a parent is before its child. */
struct ts_sort_key {
	int64_t start_ps, dur_ps;
};

struct ts_sort_kind {
	size_t size;	    /* of a record: a multiple of 8 */
	size_t max;	    /* records in memory at once */
	size_t merge_bytes; /* of buffers while a cursor reads from disk */
	/* Of two with one key: may A stand in front of B? Of two equal ones: yes. */
	bool (*before)(const void *a, const void *b);
	size_t part_at; /* where a record has its part, a uint16_t; 0: all are of part 0 */
};

struct ts_sort_run {	  /* sorted by part, then by time */
	uint64_t at;	  /* of its first record in the temporary file */
	uint32_t *starts; /* of each part, and behind the last: indices of records */
	uint32_t nr_parts;
};

struct ts_sorter {
	const struct ts_sort_kind *kind;
	uint8_t *records;
	size_t nr, cap, max; /* max: kind's, less for tests */
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

struct ts_sort_cursor; /* over one part; NULL after a failed open, which freeing takes */
enum ts_status ts_sort_cursor_open(const struct ts_sorter *sorter, uint32_t part,
				   struct ts_sort_cursor **cursor, struct ts_error *err);
/* The next record, good until the next call; NULL at the end, or with a bad *ST. */
const void *ts_sort_cursor_next(struct ts_sort_cursor *cursor, enum ts_status *st,
				struct ts_error *err);
void ts_sort_cursor_free(struct ts_sort_cursor *cursor);

#endif
