/*
 * Records, sorted by track and by start, in memory while they are few and in runs on disk when they
 * are not. Tracks are parted by counting; within a track the records come nearly in order, so that
 * merging the stretches that rise already takes few passes.
 */
#include "read/chrome/chrome.h"

static inline bool before(const struct chrome_record *a, const struct chrome_record *b)
{
	if (a->start_ps != b->start_ps)
		return a->start_ps < b->start_ps;
	if (a->dur_ps != b->dur_ps)
		return a->dur_ps > b->dur_ps; /* a parent before its child */
	return a->at <= b->at;
}

static size_t rise(const struct chrome_record *records, size_t from, size_t nr)
{
	size_t to = from + 1;

	while (to < nr && before(&records[to - 1], &records[to]))
		to++;
	return to;
}

/* Merges neighbours of FROM pairwise into INTO; true when that made one of all. */
static bool merge_pass(const struct chrome_record *from, struct chrome_record *into, size_t nr)
{
	size_t at = 0, out = 0, nr_merges = 0;

	while (at < nr) {
		size_t middle = rise(from, at, nr), end = middle < nr ? rise(from, middle, nr) : nr;
		size_t a = at, b = middle;

		while (a < middle && b < end)
			into[out++] = before(&from[a], &from[b]) ? from[a++] : from[b++];
		while (a < middle)
			into[out++] = from[a++];
		while (b < end)
			into[out++] = from[b++];
		at = end;
		nr_merges++;
	}
	return nr_merges <= 1;
}

/* Sorts RECORDS with room for as many in SPARE. */
static void sort_track(struct chrome_record *records, struct chrome_record *spare, size_t nr)
{
	struct chrome_record *from = records, *into = spare, *swap;
	bool sorted = nr == 0 || rise(records, 0, nr) == nr;

	while (!sorted) {
		sorted = merge_pass(from, into, nr);
		swap = from;
		from = into;
		into = swap;
	}
	if (from != records)
		memcpy(records, from, nr * sizeof(*records));
}

/* Parts the records by track into PARTED; STARTS has room for NR_TRACKS + 1. */
static void part(const struct chrome_store *store, struct chrome_record *parted, uint32_t *starts,
		 uint32_t nr_tracks)
{
	memset(starts, 0, ((size_t)nr_tracks + 1) * sizeof(*starts));
	for (size_t i = 0; i < store->nr; i++)
		starts[store->records[i].track + 1]++;
	for (uint32_t t = 0; t < nr_tracks; t++)
		starts[t + 1] += starts[t];
	for (size_t i = 0; i < store->nr; i++)
		parted[starts[store->records[i].track]++] = store->records[i];
	for (uint32_t t = nr_tracks; t > 0; t--) /* each has moved to the start of the next */
		starts[t] = starts[t - 1];
	starts[0] = 0;
}

/* Sorts what is there and makes a run of it; PARTED holds it then. */
static enum ts_status make_run(struct chrome_store *store, uint32_t nr_tracks,
			       struct chrome_record **parted, struct ts_error *err)
{
	struct chrome_run *run;
	uint32_t *starts = malloc(((size_t)nr_tracks + 1) * sizeof(*starts));

	*parted = malloc((store->nr + 1) * sizeof(**parted));
	if (!starts || !*parted ||
	    !ts_grow(&store->runs, &store->cap_runs, store->nr_runs + 1, sizeof(*run))) {
		free(starts);
		free(*parted);
		*parted = NULL;
		return ts_fail_nomem(err);
	}
	part(store, *parted, starts, nr_tracks);
	for (uint32_t t = 0; t < nr_tracks && store->nr > 0; t++)
		sort_track(*parted + starts[t], store->records + starts[t],
			   starts[t + 1] - starts[t]);
	run = &store->runs[store->nr_runs++];
	*run = (struct chrome_run){ store->scratch.nr_bytes, starts, nr_tracks };
	return TS_OK;
}

static enum ts_status spill(struct chrome_store *store, uint32_t nr_tracks, struct ts_error *err)
{
	struct chrome_record *sorted;
	enum ts_status st = make_run(store, nr_tracks, &sorted, err);
	struct ts_bytes bytes;

	if (st)
		return st;
	bytes = (struct ts_bytes){ (const uint8_t *)sorted, store->nr * sizeof(*sorted) };
	st = ts_scratch_put(&store->scratch, bytes, err);
	free(sorted);
	store->nr = 0;
	return st;
}

enum ts_status chrome_store_put(struct chrome_store *store, const struct chrome_record *record,
				uint32_t nr_tracks, struct ts_error *err)
{
	enum ts_status st = store->nr >= store->max ? spill(store, nr_tracks, err) : TS_OK;

	if (st)
		return st;
	if (!ts_grow(&store->records, &store->cap, store->nr + 1, sizeof(*record)))
		return ts_fail_nomem(err);
	store->records[store->nr++] = *record;
	return TS_OK;
}

enum ts_status chrome_store_close(struct chrome_store *store, uint32_t nr_tracks,
				  struct ts_error *err)
{
	struct chrome_record *sorted = NULL;
	enum ts_status st;

	if (store->nr_runs > 0)
		st = spill(store, nr_tracks, err);
	else
		st = make_run(store, nr_tracks, &sorted, err);
	free(store->records);
	store->records = sorted;
	return st;
}

void chrome_store_release(struct chrome_store *store)
{
	for (size_t i = 0; i < store->nr_runs; i++)
		free(store->runs[i].starts);
	free(store->runs);
	free(store->records);
	ts_scratch_release(&store->scratch);
	memset(store, 0, sizeof(*store));
	store->scratch.fd = -1;
}

/* A run's part of a track. */
struct source {
	uint64_t at;   /* of what is not yet in the buffer, in the scratch file */
	uint64_t left; /* records of that */
	const struct chrome_record *next, *end;
	struct chrome_record *buffer;
};

struct chrome_cursor {
	const struct chrome_store *store;
	size_t nr_sources, nr_buffer;
	struct chrome_record *buffers;
	struct source *best, *second; /* whose next one is first, and which comes after it */
	struct source sources[];
};

/* The next records of SOURCE, when its buffer is empty. */
static enum ts_status refill(struct chrome_cursor *cursor, struct source *source,
			     struct ts_error *err)
{
	size_t nr = (size_t)TS_MIN(source->left, cursor->nr_buffer);
	enum ts_status st;

	if (nr == 0)
		return TS_OK;
	st = ts_scratch_read(&cursor->store->scratch, source->at, source->buffer,
			     nr * sizeof(*source->buffer), err);
	source->next = source->buffer;
	source->end = st ? source->buffer : source->buffer + nr;
	source->left -= nr;
	source->at += nr * sizeof(*source->buffer);
	return st;
}

static void rank(struct chrome_cursor *cursor)
{
	cursor->best = cursor->second = NULL;
	for (size_t i = 0; i < cursor->nr_sources; i++) {
		struct source *source = &cursor->sources[i];

		if (source->next == source->end)
			continue;
		if (!cursor->best || !before(cursor->best->next, source->next)) {
			cursor->second = cursor->best;
			cursor->best = source;
		} else if (!cursor->second || !before(cursor->second->next, source->next)) {
			cursor->second = source;
		}
	}
}

static enum ts_status open_sources(struct chrome_cursor *cursor, uint32_t track,
				   struct ts_error *err)
{
	const struct chrome_store *store = cursor->store;
	bool in_memory = store->scratch.fd < 0;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < store->nr_runs && st == TS_OK; i++) {
		const struct chrome_run *run = &store->runs[i];
		struct source *source = &cursor->sources[cursor->nr_sources];
		uint32_t from, nr;

		if (track >= run->nr_tracks)
			continue;
		from = run->starts[track];
		nr = run->starts[track + 1] - from;
		if (nr == 0)
			continue;
		cursor->nr_sources++;
		*source = (struct source){ .left = in_memory ? 0 : nr };
		if (in_memory) {
			source->next = store->records + from;
			source->end = source->next + nr;
			continue;
		}
		source->at = run->at + (uint64_t)from * sizeof(struct chrome_record);
		source->buffer = cursor->buffers + i * cursor->nr_buffer;
		st = refill(cursor, source, err);
	}
	return st;
}

enum ts_status chrome_cursor_open(const struct chrome_store *store, uint32_t track,
				  struct chrome_cursor **cursor, struct ts_error *err)
{
	struct chrome_cursor *made =
		calloc(1, sizeof(*made) + store->nr_runs * sizeof(made->sources[0]));
	enum ts_status st;

	*cursor = made;
	if (!made)
		return ts_fail_nomem(err);
	made->store = store;
	if (store->scratch.fd >= 0) {
		made->nr_buffer = CHROME_MERGE / sizeof(struct chrome_record) / store->nr_runs;
		made->nr_buffer = TS_MAX(made->nr_buffer, 16);
		made->buffers =
			malloc(made->nr_buffer * store->nr_runs * sizeof(struct chrome_record));
		if (!made->buffers)
			return ts_fail_nomem(err);
	}
	st = open_sources(made, track, err);
	rank(made);
	return st;
}

bool chrome_cursor_next(struct chrome_cursor *cursor, struct chrome_record *record,
			enum ts_status *st, struct ts_error *err)
{
	struct source *best = cursor->best;

	if (!best)
		return false;
	*record = *best->next++;
	if (best->next == best->end) {
		*st = refill(cursor, best, err);
		if (*st)
			return false;
	}
	if (best->next == best->end ||
	    (cursor->second && !before(best->next, cursor->second->next)))
		rank(cursor);
	return true;
}

void chrome_cursor_free(struct chrome_cursor *cursor)
{
	if (!cursor)
		return;
	free(cursor->buffers);
	free(cursor);
}
