/*
 * Records of events, put in any order, given back in the order of struct ts_merged: in memory while
 * they are few, else as sorted runs in a temporary file (io/scratch.h), of which a merge reads a
 * little of each. Memory: TS_MERGE_RECORDS of 48 bytes, or TS_MERGE_BUFFER while they are read.
 */
#ifndef TS_FLOW_MERGE_STORE_H
#define TS_FLOW_MERGE_STORE_H

#include "base/arena.h"
#include "io/scratch.h"

#define TS_MERGE_RECORDS (192 * 1024)
#define TS_MERGE_BUFFER	 (4 * 1024 * 1024)

struct merge_record {
	int64_t start_ps, dur_ps;
	uint64_t link;
	struct ts_bytes body;
	uint32_t line, op;
};

struct merge_run { /* sorted, in the temporary file or, where there is none, in memory */
	uint64_t at, left;
	const struct merge_record *next, *end;
	struct merge_record *buffer;
};

struct merge_store {
	struct merge_record *records;
	size_t nr, cap, max; /* max: TS_MERGE_RECORDS, less for tests */
	struct ts_scratch scratch;
	struct merge_run *runs; /* while they are read: a heap, whose first is next */
	size_t nr_runs, cap_runs;
	struct merge_record *buffers;
	size_t nr_buffer; /* records a run */
};

void merge_store_init(struct merge_store *store);
void merge_store_release(struct merge_store *store);
enum ts_status merge_store_put(struct merge_store *store, const struct merge_record *record,
			       struct ts_error *err);
/* After the last record, before the first is asked for. */
enum ts_status merge_store_close(struct merge_store *store, struct ts_error *err);
/* False at the end, or with a bad *ST. */
bool merge_store_next(struct merge_store *store, struct merge_record *record, enum ts_status *st,
		      struct ts_error *err);

#endif
