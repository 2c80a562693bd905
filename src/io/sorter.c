/* Parts are told apart by counting, each is sorted by merging, runs are merged by a heap. */
#include "io/sorter.h"

#include "base/check.h"

static inline bool before(const struct ts_sort_kind *kind, const void *a, const void *b)
{
	const struct ts_sort_key *x = a, *y = b;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps;
	if (x->dur_ps != y->dur_ps)
		return x->dur_ps > y->dur_ps;
	return kind->before(a, b);
}

/* A record is five or six words: too few to call for. */
static inline void copy(uint8_t *to, const uint8_t *from, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(uint64_t))
		memcpy(to + i, from + i, sizeof(uint64_t));
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

/* Behind the records from P on that stand in order. */
static const uint8_t *rise(const struct ts_sort_kind *kind, const uint8_t *p, const uint8_t *end)
{
	if (p == end)
		return end;
	while (p + kind->size < end && before(kind, p, p + kind->size))
		p += kind->size;
	return p + kind->size;
}

/* Merges neighbours of FROM in pairs into INTO; true when that made one of all. */
static bool merge_pass(const struct ts_sort_kind *kind, const uint8_t *from, uint8_t *into,
		       size_t nr_bytes)
{
	const uint8_t *at = from, *end = from + nr_bytes;
	size_t nr_merges = 0;

	for (; at < end; nr_merges++) {
		const uint8_t *a = at, *middle = rise(kind, at, end), *b = middle;

		at = rise(kind, middle, end);
		while (a < middle && b < at) {
			const uint8_t **first = before(kind, a, b) ? &a : &b;

			copy(into, *first, kind->size);
			*first += kind->size;
			into += kind->size;
		}
		memcpy(into, a, (size_t)(middle - a));
		into += middle - a;
		memcpy(into, b, (size_t)(at - b));
		into += at - b;
	}
	return nr_merges <= 1;
}

/* Sorts RECORDS with room for as many in SPARE. */
static void sort_part(const struct ts_sort_kind *kind, uint8_t *records, uint8_t *spare, size_t nr)
{
	size_t nr_bytes = nr * kind->size;
	uint8_t *from = records, *into = spare, *swap;
	bool sorted = rise(kind, records, records + nr_bytes) == records + nr_bytes;

	while (!sorted) {
		sorted = merge_pass(kind, from, into, nr_bytes);
		swap = from;
		from = into;
		into = swap;
	}
	if (from != records)
		memcpy(records, from, nr_bytes);
}

static inline uint32_t part_of(const struct ts_sorter *sorter, const uint8_t *record)
{
	uint16_t part = 0;

	if (sorter->kind->part_at)
		memcpy(&part, record + sorter->kind->part_at, sizeof(part));
	return part;
}

/* Parts the records into PARTED; STARTS has room for nr_parts + 1. */
static void part(const struct ts_sorter *sorter, uint8_t *parted, uint32_t *starts)
{
	size_t size = sorter->kind->size;

	memset(starts, 0, ((size_t)sorter->nr_parts + 1) * sizeof(*starts));
	for (size_t i = 0; i < sorter->nr; i++)
		starts[part_of(sorter, sorter->records + i * size) + 1]++;
	for (uint32_t p = 0; p < sorter->nr_parts; p++)
		starts[p + 1] += starts[p];
	TS_ASSERT(starts[sorter->nr_parts] == sorter->nr);
	for (size_t i = 0; i < sorter->nr; i++) {
		const uint8_t *record = sorter->records + i * size;

		copy(parted + size * starts[part_of(sorter, record)]++, record, size);
	}
	for (uint32_t p = sorter->nr_parts; p > 0;
	     p--) /* each has moved to the start of the next */
		starts[p] = starts[p - 1];
	starts[0] = 0;
}

/* The same where there is one part: what will be PARTED is there already. */
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
		part(sorter, *parted, starts);
	else
		swap_records(sorter, parted, starts);
	for (uint32_t p = 0; p < sorter->nr_parts && sorter->nr > 0; p++)
		sort_part(sorter->kind, *parted + size * starts[p],
			  sorter->records + size * starts[p], starts[p + 1] - starts[p]);
	sorter->runs[sorter->nr_runs++] =
		(struct ts_sort_run){ sorter->scratch.nr_bytes, starts, sorter->nr_parts };
	return TS_OK;
}

static enum ts_status spill(struct ts_sorter *sorter, struct ts_error *err)
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
	st = sorter->nr >= sorter->max ? spill(sorter, err) : TS_OK;
	if (st)
		return st;
	if (!ts_grow(&sorter->records, &sorter->cap, sorter->nr + 1, size))
		return ts_fail_nomem(err);
	copy(sorter->records + size * sorter->nr++, record, size);
	sorter->nr_parts = TS_MAX(sorter->nr_parts, part_of(sorter, record) + 1);
	return TS_OK;
}

enum ts_status ts_sorter_close(struct ts_sorter *sorter, struct ts_error *err)
{
	uint8_t *sorted = NULL;
	enum ts_status st;

	TS_ASSERT(!sorter->closed);
	if (sorter->nr_runs > 0)
		st = spill(sorter, err);
	else
		st = make_run(sorter, &sorted, err);
	free(sorter->records);
	sorter->records = sorted;
	sorter->cap = 0;
	sorter->closed = st == TS_OK;
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

/* Puts the source at AT where it belongs among those below it. */
static void sift(struct ts_sort_cursor *cursor, size_t at)
{
	struct source *sources = cursor->sources, swap;

	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < cursor->nr_sources &&
			    !before(cursor->sorter->kind, sources[least].next, sources[child].next))
				least = child;
		if (least == at)
			return;
		swap = sources[at];
		sources[at] = sources[least];
		sources[least] = swap;
		at = least;
	}
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
	for (size_t i = cursor->nr_sources; st == TS_OK && i-- > 0;)
		sift(cursor, i);
	return st;
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

		made->buffer_bytes = TS_MAX(nr, 16) * kind->size;
		made->buffers = malloc(made->buffer_bytes * sorter->nr_runs);
		if (!made->buffers)
			return ts_fail_nomem(err);
	}
	return open_sources(made, part, err);
}

const void *ts_sort_cursor_next(struct ts_sort_cursor *cursor, enum ts_status *st,
				struct ts_error *err)
{
	struct source *first = cursor->sources;

	TS_ASSERT_HOT(cursor && st);
	if (cursor->given) {
		first->next += cursor->sorter->kind->size;
		*st = refill(cursor, first, err);
		if (*st)
			return NULL;
		if (first->next == first->end)
			*first = cursor->sources[--cursor->nr_sources];
		if (cursor->nr_sources > 1)
			sift(cursor, 0);
	}
	cursor->given = cursor->nr_sources > 0;
	return cursor->given ? first->next : NULL;
}

void ts_sort_cursor_free(struct ts_sort_cursor *cursor)
{
	if (!cursor)
		return;
	free(cursor->buffers);
	free(cursor);
}
