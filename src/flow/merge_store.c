/* Runs sorted by qsort, merged by a heap. */
#include "flow/merge_store.h"

static int compare(const void *a, const void *b)
{
	const struct merge_record *x = a, *y = b;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	if (x->dur_ps != y->dur_ps)
		return x->dur_ps > y->dur_ps ? -1 : 1; /* a parent before its child */
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->body.p != y->body.p)
		return (uintptr_t)x->body.p < (uintptr_t)y->body.p ? -1 : 1;
	return (x->body.n > y->body.n) - (x->body.n < y->body.n);
}

void merge_store_init(struct merge_store *store)
{
	*store = (struct merge_store){ .max = TS_MERGE_RECORDS, .scratch = TS_SCRATCH_INIT };
}

void merge_store_release(struct merge_store *store)
{
	free(store->records);
	free(store->runs);
	free(store->buffers);
	ts_scratch_release(&store->scratch);
	merge_store_init(store);
}

static void sort(struct merge_store *store)
{
	if (store->nr > 0)
		qsort(store->records, store->nr, sizeof(*store->records), compare);
}

static enum ts_status spill(struct merge_store *store, struct ts_error *err)
{
	struct ts_bytes bytes = { (const uint8_t *)store->records,
				  store->nr * sizeof(*store->records) };
	struct merge_run run = { .at = store->scratch.nr_bytes, .left = store->nr };
	enum ts_status st;

	if (!ts_grow(&store->runs, &store->cap_runs, store->nr_runs + 1, sizeof(run)))
		return ts_fail_nomem(err);
	sort(store);
	st = ts_scratch_put(&store->scratch, bytes, err);
	if (st)
		return st;
	store->runs[store->nr_runs++] = run;
	store->nr = 0;
	return TS_OK;
}

enum ts_status merge_store_put(struct merge_store *store, const struct merge_record *record,
			       struct ts_error *err)
{
	enum ts_status st = store->nr >= store->max ? spill(store, err) : TS_OK;

	if (st)
		return st;
	if (!ts_grow(&store->records, &store->cap, store->nr + 1, sizeof(*record)))
		return ts_fail_nomem(err);
	store->records[store->nr++] = *record;
	return TS_OK;
}

/* The run's next records, when its buffer is empty. */
static enum ts_status refill(const struct merge_store *store, struct merge_run *run,
			     struct ts_error *err)
{
	size_t nr = (size_t)TS_MIN(run->left, store->nr_buffer);
	enum ts_status st;

	if (run->next != run->end || nr == 0)
		return TS_OK;
	st = ts_scratch_read(&store->scratch, run->at, run->buffer, nr * sizeof(*run->buffer), err);
	run->next = run->buffer;
	run->end = st ? run->buffer : run->buffer + nr;
	run->left -= nr;
	run->at += nr * sizeof(*run->buffer);
	return st;
}

/* Puts the run at AT where it belongs among those below it. */
static void sift(struct merge_store *store, size_t at)
{
	struct merge_run *runs = store->runs, swap;

	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < store->nr_runs &&
			    compare(runs[child].next, runs[least].next) < 0)
				least = child;
		if (least == at)
			return;
		swap = runs[at];
		runs[at] = runs[least];
		runs[least] = swap;
		at = least;
	}
}

static enum ts_status close_runs(struct merge_store *store, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	free(store->records);
	store->records = NULL;
	store->cap = 0;
	store->nr_buffer = TS_MERGE_BUFFER / sizeof(*store->buffers) / store->nr_runs;
	store->nr_buffer = TS_MAX(store->nr_buffer, 16);
	store->buffers = calloc(store->nr_runs, store->nr_buffer * sizeof(*store->buffers));
	if (!store->buffers)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < store->nr_runs && st == TS_OK; i++) {
		store->runs[i].buffer = store->buffers + i * store->nr_buffer;
		st = refill(store, &store->runs[i], err);
	}
	for (size_t i = store->nr_runs; st == TS_OK && i-- > 0;)
		sift(store, i);
	return st;
}

enum ts_status merge_store_close(struct merge_store *store, struct ts_error *err)
{
	enum ts_status st;

	if (store->nr_runs > 0) {
		st = store->nr > 0 ? spill(store, err) : TS_OK;
		return st ? st : close_runs(store, err);
	}
	if (store->nr == 0)
		return TS_OK;
	if (!ts_grow(&store->runs, &store->cap_runs, 1, sizeof(*store->runs)))
		return ts_fail_nomem(err);
	sort(store);
	store->runs[store->nr_runs++] =
		(struct merge_run){ .next = store->records, .end = store->records + store->nr };
	return TS_OK;
}

bool merge_store_next(struct merge_store *store, struct merge_record *record, enum ts_status *st,
		      struct ts_error *err)
{
	struct merge_run *first = store->runs;

	if (store->nr_runs == 0)
		return false;
	*record = *first->next++;
	*st = refill(store, first, err);
	if (*st)
		return false;
	if (first->next == first->end)
		*first = store->runs[--store->nr_runs];
	sift(store, 0);
	return true;
}
