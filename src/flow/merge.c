/* Blocks of lines -> the store, sorted -> blocks of all. */
#include "flow/merge.h"

#include <pthread.h>

#include "base/work.h"
#include "flow/merge_store.h"
#include "flow/stream.h"

#define MERGED_EVENTS 2048

struct columns { /* of what is handed over */
	uint32_t line[MERGED_EVENTS], op[MERGED_EVENTS];
	int64_t start_ps[MERGED_EVENTS], dur_ps[MERGED_EVENTS];
	uint64_t link[MERGED_EVENTS];
	struct ts_bytes body[MERGED_EVENTS];
};

struct merging {
	struct ts_profile *profile;
	uint32_t *lines;
	size_t nr_lines;
	struct ts_merged_look *look; /* by line of the profile */
	bool again; /* a line was found unsorted: what the store has counts for nothing */
	struct merge_store store;
	pthread_mutex_t lock; /* guards the store and .again */
};

static enum ts_status put_block(struct merging *merging, const struct ts_block *block,
				struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++) {
		struct merge_record record = {
			.start_ps = block->start_ps[i],
			.dur_ps = block->dur_ps[i],
			.link = block->link[i],
			.body = block->body[i],
			.line = block->line_index,
			.op = block->op[i],
		};

		st = merge_store_put(&merging->store, &record, err);
	}
	return st;
}

static enum ts_status take_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct merging *merging = ctx;
	enum ts_status st;

	pthread_mutex_lock(&merging->lock);
	merging->look[block->line_index] = (struct ts_merged_look){ block->stat, block->stats };
	st = merging->again ? TS_OK : put_block(merging, block, err);
	pthread_mutex_unlock(&merging->lock);
	return st;
}

static enum ts_status run_line(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct merging *merging = ctx;
	struct ts_sink sink = { merging, TS_COL_LINK | TS_COL_STATS, take_block };
	uint32_t line = merging->lines[job];
	enum ts_status st = ts_stream_line(merging->profile, line, &sink, err);

	(void)thread;
	if (st == TS_UNSORTED) {
		pthread_mutex_lock(&merging->lock);
		merging->profile->lines[line].unsorted = true;
		merging->again = true;
		pthread_mutex_unlock(&merging->lock);
	}
	return st == TS_UNSORTED || st == TS_FORMAT ? TS_OK : st;
}

/* Until no line is found unsorted any more: at most once again for all of them. */
static enum ts_status fill(struct merging *merging, size_t nr_threads, struct ts_error *err)
{
	enum ts_status st;

	do {
		merging->again = false;
		merge_store_release(&merging->store);
		st = ts_work_run(nr_threads, merging->nr_lines, run_line, merging, err);
	} while (st == TS_OK && merging->again);
	return st ? st : merge_store_close(&merging->store, err);
}

static enum ts_status hand_over(struct merging *merging, uint32_t host,
				const struct ts_merged_sink *sink, struct ts_error *err)
{
	struct columns *columns = malloc(sizeof(*columns));
	struct ts_merged merged = { .profile = merging->profile,
				    .host = host,
				    .look = merging->look };
	struct merge_record record;
	enum ts_status st = TS_OK;

	if (!columns)
		return ts_fail_nomem(err);
	merged.line = columns->line;
	merged.op = columns->op;
	merged.start_ps = columns->start_ps;
	merged.dur_ps = columns->dur_ps;
	merged.link = columns->link;
	merged.body = columns->body;
	while (st == TS_OK && merge_store_next(&merging->store, &record, &st, err)) {
		size_t at = merged.nr_events++;

		columns->line[at] = record.line;
		columns->op[at] = record.op;
		columns->start_ps[at] = record.start_ps;
		columns->dur_ps[at] = record.dur_ps;
		columns->link[at] = record.link;
		columns->body[at] = record.body;
		if (merged.nr_events < MERGED_EVENTS)
			continue;
		st = sink->block(sink->ctx, &merged, err);
		merged.nr_events = 0;
	}
	if (st == TS_OK && merged.nr_events > 0)
		st = sink->block(sink->ctx, &merged, err);
	free(columns);
	return st;
}

static void choose(struct merging *merging, uint32_t host, const bool *wanted)
{
	const struct ts_profile *profile = merging->profile;

	for (uint32_t i = 0; i < profile->nr_lines; i++)
		if (wanted[i] && profile->planes[profile->lines[i].plane].host == host)
			merging->lines[merging->nr_lines++] = i;
}

enum ts_status ts_merge_host(struct ts_profile *profile, uint32_t host, const bool *wanted,
			     size_t nr_threads, const struct ts_merged_sink *sink,
			     struct ts_error *err)
{
	struct merging merging = { .profile = profile };
	enum ts_status st = TS_OK;

	if (pthread_mutex_init(&merging.lock, NULL) != 0)
		return ts_fail_nomem(err);
	merge_store_init(&merging.store);
	merging.lines = calloc(profile->nr_lines + 1, sizeof(*merging.lines));
	merging.look = calloc(profile->nr_lines + 1, sizeof(*merging.look));
	if (!merging.lines || !merging.look)
		st = ts_fail_nomem(err);
	else
		choose(&merging, host, wanted);
	if (st == TS_OK)
		st = fill(&merging, nr_threads, err);
	if (st == TS_OK)
		st = hand_over(&merging, host, sink, err);
	merge_store_release(&merging.store);
	free(merging.lines);
	free(merging.look);
	pthread_mutex_destroy(&merging.lock);
	return st;
}
