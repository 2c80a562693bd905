/* SPDX-License-Identifier: MIT */
/* Counting separates the parts, merging sorts each of them, and a heap merges the runs. */
#include "io/sorter.h"

#include "base/check.h"

#define FEW 16 /* records that are sorted without merging */

static inline bool sorter_before(const struct ts_sort_kind *kind, const void *a, const void *b)
{
	const struct ts_sort_key *x = a, *y = b;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps;
	if (x->dur_ps != y->dur_ps)
		return x->dur_ps > y->dur_ps;
	return kind->before(a, b);
}

/* Here the compiler knows the sizes of the records that are many: it moves them without a call. */
static inline void sorter_copy(uint8_t *to, const uint8_t *from, size_t size)
{
	switch (size) {
	case 5 * sizeof(uint64_t): memcpy(to, from, 5 * sizeof(uint64_t)); break;
	case 6 * sizeof(uint64_t): memcpy(to, from, 6 * sizeof(uint64_t)); break;
	default:		   memcpy(to, from, size); break;
	}
}

void ts_sorter_init(struct ts_sorter *sorter, const struct ts_sort_kind *kind)
{
	TS_ASSERT(kind->size >= sizeof(struct ts_sort_key) && kind->size % sizeof(uint64_t) == 0);
	TS_ASSERT(kind->max > 0 && kind->before);
	*sorter = (struct ts_sorter){ .kind = kind, .max = kind->max, .scratch = TS_SCRATCH_INIT };
}

void ts_sorter_release(struct ts_sorter *sorter)
{
	TS_ASSERT(sorter);
	for (size_t i = 0; i < sorter->nr_runs; i++)
		free(sorter->runs[i].starts);
	free(sorter->runs);
	free(sorter->records);
	ts_scratch_release(&sorter->scratch);
	*sorter = (struct ts_sorter){ .kind = sorter->kind,
				      .max = sorter->max,
				      .scratch = TS_SCRATCH_INIT };
}

/* Sorts a few records: each moves before those that belong behind it. SPARE has room for one. */
static void sort_few(const struct ts_sort_kind *kind, uint8_t *records, const uint8_t *end,
		     uint8_t *spare)
{
	size_t size = kind->size;

	for (uint8_t *next = records + size; next < end; next += size) {
		uint8_t *hole = next;

		if (sorter_before(kind, next - size, next))
			continue;
		sorter_copy(spare, next, size);
		do {
			sorter_copy(hole, hole - size, size);
			hole -= size;
		} while (hole > records && !sorter_before(kind, hole - size, spare));
		sorter_copy(hole, spare, size);
	}
}

/* The first of the sorted records from FIRST to END that belongs behind RECORD, or END. */
static uint8_t *sorter_place_of(const struct ts_sort_kind *kind, const uint8_t *record,
				uint8_t *first, uint8_t *end)
{
	size_t low = 0, high = (size_t)(end - first) / kind->size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorter_before(kind, first + middle * kind->size, record))
			low = middle + 1;
		else
			high = middle;
	}
	return first + low * kind->size;
}

/* Merges two sorted stretches that meet at MIDDLE. It moves only what stands in the wrong place. */
static void sorter_merge(const struct ts_sort_kind *kind, uint8_t *first, uint8_t *middle,
			 const uint8_t *end, uint8_t *spare)
{
	size_t size = kind->size, nr_bytes;
	uint8_t *into, *a = spare, *b = middle;

	if (sorter_before(kind, middle - size, middle))
		return;
	into = sorter_place_of(kind, middle, first, middle);
	nr_bytes = (size_t)(middle - into);
	memcpy(spare, into, nr_bytes);
	for (; a < spare + nr_bytes && b < end; into += size) {
		if (sorter_before(kind, a, b)) {
			sorter_copy(into, a, size);
			a += size;
		} else {
			sorter_copy(into, b, size);
			b += size;
		}
	}
	memcpy(into, a, (size_t)(spare + nr_bytes - a));
}

/*
 * Sorts RECORDS with room for as many in SPARE. They come nearly in order: a parent stands a little
 * behind its first child, or threads take turns. So most stretches meet in order, and others
 * overlap by a few records.
 */
static void sort_part(const struct ts_sort_kind *kind, uint8_t *records, uint8_t *spare, size_t nr)
{
	size_t size = kind->size;

	for (size_t i = 0; i < nr; i += FEW)
		sort_few(kind, records + size * i, records + size * TS_MIN(i + FEW, nr), spare);
	for (size_t width = FEW; width < nr; width *= 2)
		for (size_t i = 0; i + width < nr; i += 2 * width)
			sorter_merge(kind, records + size * i, records + size * (i + width),
				     records + size * TS_MIN(i + 2 * width, nr), spare);
}

static inline uint32_t sorter_part_of(const struct ts_sorter *sorter, const uint8_t *record)
{
	uint16_t part = 0;

	if (sorter->kind->part_at)
		memcpy(&part, record + sorter->kind->part_at, sizeof(part));
	return part;
}

/* Parts the records into PARTED; STARTS has room for nr_parts + 1. */
static void sorter_part(const struct ts_sorter *sorter, uint8_t *parted, uint32_t *starts)
{
	size_t size = sorter->kind->size;

	memset(starts, 0, ((size_t)sorter->nr_parts + 1) * sizeof(*starts));
	for (size_t i = 0; i < sorter->nr; i++)
		starts[sorter_part_of(sorter, sorter->records + i * size) + 1]++;
	for (uint32_t p = 0; p < sorter->nr_parts; p++)
		starts[p + 1] += starts[p];
	TS_ASSERT(starts[sorter->nr_parts] == sorter->nr);
	for (size_t i = 0; i < sorter->nr; i++) {
		const uint8_t *record = sorter->records + i * size;

		sorter_copy(parted + size * starts[sorter_part_of(sorter, record)]++, record, size);
	}
	for (uint32_t p = sorter->nr_parts; p > 0;
	     p--) /* each has moved to the start of the next */
		starts[p] = starts[p - 1];
	starts[0] = 0;
}

/* The same where there is one part: the records themselves become PARTED. */
static void swap_records(struct ts_sorter *sorter, uint8_t **spare, uint32_t *starts)
{
	uint8_t *records = sorter->records;

	sorter->records = *spare;
	sorter->cap = sorter->nr + 1;
	*spare = records;
	starts[0] = 0;
	if (sorter->nr_parts == 1)
		starts[1] = (uint32_t)sorter->nr;
}

/* Sorts what is there and makes a run of it; PARTED holds it then. */
static enum ts_status make_run(struct ts_sorter *sorter, uint8_t **parted, struct ts_error *err)
{
	size_t size = sorter->kind->size;
	uint32_t *starts = malloc(((size_t)sorter->nr_parts + 1) * sizeof(*starts));

	*parted = malloc((sorter->nr + 1) * size);
	if (!starts || !*parted ||
	    !ts_grow(&sorter->runs, &sorter->cap_runs, sorter->nr_runs + 1,
		     sizeof(*sorter->runs))) {
		free(starts);
		free(*parted);
		*parted = NULL;
		return ts_fail_nomem(err);
	}
	if (sorter->nr_parts > 1)
		sorter_part(sorter, *parted, starts);
	else
		swap_records(sorter, parted, starts);
	for (uint32_t p = 0; p < sorter->nr_parts && sorter->nr > 0; p++)
		sort_part(sorter->kind, *parted + size * starts[p],
			  sorter->records + size * starts[p], starts[p + 1] - starts[p]);
	sorter->runs[sorter->nr_runs++] =
		(struct ts_sort_run){ sorter->scratch.nr_bytes, starts, sorter->nr_parts };
	return TS_OK;
}

static enum ts_status sorter_spill(struct ts_sorter *sorter, struct ts_error *err)
{
	uint8_t *sorted;
	enum ts_status st = make_run(sorter, &sorted, err);
	struct ts_bytes bytes;

	if (st)
		return st;
	bytes = (struct ts_bytes){ sorted, sorter->nr * sorter->kind->size };
	st = ts_scratch_put(&sorter->scratch, bytes, err);
	free(sorted);
	sorter->nr = 0;
	return st;
}

enum ts_status ts_sorter_put(struct ts_sorter *sorter, const void *record, struct ts_error *err)
{
	size_t size = sorter->kind->size;
	enum ts_status st;

	TS_ASSERT_HOT(!sorter->closed);
	st = sorter->nr >= sorter->max ? sorter_spill(sorter, err) : TS_OK;
	if (st)
		return st;
	if (sorter->nr == sorter->cap &&
	    !ts_grow(&sorter->records, &sorter->cap, sorter->nr + 1, size))
		return ts_fail_nomem(err);
	sorter_copy(sorter->records + size * sorter->nr++, record, size);
	sorter->nr_parts = TS_MAX(sorter->nr_parts, sorter_part_of(sorter, record) + 1);
	return TS_OK;
}

enum ts_status ts_sorter_close(struct ts_sorter *sorter, struct ts_error *err)
{
	uint8_t *sorted = NULL;
	enum ts_status st;

	TS_ASSERT(!sorter->closed);
	if (sorter->nr_runs > 0)
		st = sorter_spill(sorter, err);
	else
		st = make_run(sorter, &sorted, err);
	free(sorter->records);
	sorter->records = sorted;
	sorter->cap = 0;
	sorter->closed = st == TS_OK;
	return st;
}

enum ts_status ts_sorter_rest(struct ts_sorter *sorter, struct ts_error *err)
{
	struct ts_bytes bytes = { sorter->records, sorter->nr * sorter->kind->size };
	enum ts_status st;

	TS_ASSERT(sorter->closed);
	if (sorter->scratch.fd >= 0 || bytes.n == 0)
		return TS_OK;
	st = ts_scratch_put(&sorter->scratch, bytes, err);
	if (st)
		ts_scratch_release(&sorter->scratch); /* they stay where they are */
	else
		free(sorter->records);
	sorter->records = st ? sorter->records : NULL;
	return st;
}

/* A run's share of a part. */
struct source {
	uint64_t at;   /* of what is not yet in the buffer, in the temporary file */
	uint64_t left; /* bytes of that */
	const uint8_t *next, *end;
	uint8_t *buffer;
};

struct ts_sort_cursor {
	const struct ts_sorter *sorter;
	uint8_t *buffers;
	size_t nr_sources, buffer_bytes; /* of a source */
	bool given;			 /* the first one's next was handed out */
	const struct source *second;	 /* the heap's second in order; NULL: there is one */
	struct source sources[];	 /* a heap, whose first is next */
};

/* The next records of SOURCE, when its buffer is empty. */
static enum ts_status refill(struct ts_sort_cursor *cursor, struct source *source,
			     struct ts_error *err)
{
	size_t n = (size_t)TS_MIN(source->left, cursor->buffer_bytes);
	enum ts_status st;

	if (source->next != source->end || n == 0)
		return TS_OK;
	st = ts_scratch_read(&cursor->sorter->scratch, source->at, source->buffer, n, err);
	source->next = source->buffer;
	source->end = st ? source->buffer : source->buffer + n;
	source->left -= n;
	source->at += n;
	return st;
}

/* Moves the source at AT down to its place in the heap. */
static void sorter_sift(struct ts_sort_cursor *cursor, size_t at)
{
	struct source *sources = cursor->sources, swap;

	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < cursor->nr_sources &&
			    !sorter_before(cursor->sorter->kind, sources[least].next,
					   sources[child].next))
				least = child;
		if (least == at)
			return;
		swap = sources[at];
		sources[at] = sources[least];
		sources[least] = swap;
		at = least;
	}
}

/* Puts the first source where it belongs, and finds the second: it is one of the two below. */
static void sorter_settle(struct ts_sort_cursor *cursor)
{
	struct source *sources = cursor->sources;

	sorter_sift(cursor, 0);
	cursor->second = cursor->nr_sources > 1 ? &sources[1] : NULL;
	if (cursor->nr_sources > 2 &&
	    !sorter_before(cursor->sorter->kind, sources[1].next, sources[2].next))
		cursor->second = &sources[2];
}

/* Goes on to the next record. Runs follow one another in time, so the same source is mostly next. */
static enum ts_status sorter_advance(struct ts_sort_cursor *cursor, struct ts_error *err)
{
	const struct ts_sort_kind *kind = cursor->sorter->kind;
	struct source *first = cursor->sources;
	enum ts_status st;

	first->next += kind->size;
	if (first->next < first->end &&
	    (!cursor->second || sorter_before(kind, first->next, cursor->second->next)))
		return TS_OK;
	st = refill(cursor, first, err);
	if (st)
		return st;
	if (first->next == first->end)
		*first = cursor->sources[--cursor->nr_sources];
	sorter_settle(cursor);
	return TS_OK;
}

static enum ts_status open_sources(struct ts_sort_cursor *cursor, uint32_t part,
				   struct ts_error *err)
{
	const struct ts_sorter *sorter = cursor->sorter;
	size_t size = sorter->kind->size;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < sorter->nr_runs && st == TS_OK; i++) {
		const struct ts_sort_run *run = &sorter->runs[i];
		struct source *source = &cursor->sources[cursor->nr_sources];
		uint64_t from = part < run->nr_parts ? run->starts[part] * (uint64_t)size : 0;
		uint64_t to = part < run->nr_parts ? run->starts[part + 1] * (uint64_t)size : 0;

		if (from == to)
			continue;
		*source = (struct source){ .at = run->at + from, .left = to - from };
		if (cursor->buffers) {
			source->buffer = cursor->buffers + i * cursor->buffer_bytes;
			st = refill(cursor, source, err);
		} else {
			source->next = sorter->records + from;
			source->end = sorter->records + to;
			source->left = 0;
		}
		cursor->nr_sources++;
	}
	for (size_t i = cursor->nr_sources; st == TS_OK && i-- > 1;)
		sorter_sift(cursor, i);
	if (st == TS_OK)
		sorter_settle(cursor);
	return st;
}

/* Of the part, in a run. */
static size_t largest_share(const struct ts_sorter *sorter, uint32_t part)
{
	size_t most = 0;

	for (size_t i = 0; i < sorter->nr_runs; i++) {
		const struct ts_sort_run *run = &sorter->runs[i];

		if (part < run->nr_parts)
			most = TS_MAX(most, run->starts[part + 1] - run->starts[part]);
	}
	return most;
}

enum ts_status ts_sort_cursor_open(const struct ts_sorter *sorter, uint32_t part,
				   struct ts_sort_cursor **cursor, struct ts_error *err)
{
	const struct ts_sort_kind *kind = sorter->kind;
	struct ts_sort_cursor *made =
		calloc(1, sizeof(*made) + sorter->nr_runs * sizeof(made->sources[0]));

	TS_ASSERT(sorter->closed);
	*cursor = made;
	if (!made)
		return ts_fail_nomem(err);
	made->sorter = sorter;
	if (sorter->scratch.fd >= 0) {
		size_t nr = kind->merge_bytes / kind->size / sorter->nr_runs;

		nr = TS_MIN(TS_MAX(nr, 16), largest_share(sorter, part));
		made->buffer_bytes = TS_MAX(nr, 1) * kind->size;
		made->buffers = malloc(made->buffer_bytes * sorter->nr_runs);
		if (!made->buffers)
			return ts_fail_nomem(err);
	}
	return open_sources(made, part, err);
}

const void *ts_sort_cursor_next(struct ts_sort_cursor *cursor, enum ts_status *st,
				struct ts_error *err)
{
	TS_ASSERT_HOT(cursor && st);
	if (cursor->given) {
		*st = sorter_advance(cursor, err);
		if (*st)
			return NULL;
	}
	cursor->given = cursor->nr_sources > 0;
	return cursor->given ? cursor->sources[0].next : NULL;
}

void ts_sort_cursor_free(struct ts_sort_cursor *cursor)
{
	if (!cursor)
		return;
	free(cursor->buffers);
	free(cursor);
}
