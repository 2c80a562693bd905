/* SPDX-License-Identifier: MIT */
/* Blocks of lines -> records, sorted -> blocks of all. */
#include "run/interleave.h"

#include "base/check.h"

#include <pthread.h>

#include "base/work.h"
#include "read/stream.h"
#include "io/sorter.h"

#define MERGED_EVENTS 2048
#define MAX_RECORDS   (192 * 1024) /* in memory at once */
#define MERGE_BYTES   (4 * 1024 * 1024)

struct record { /* begins as struct ts_sort_key */
	int64_t start_ps, dur_ps;
	uint64_t link;
	struct ts_bytes body;
	uint32_t line, op;
};

/* The order of struct ts_interleaved. */
static bool interleave_before(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line;
	if (x->body.p != y->body.p)
		return (uintptr_t)x->body.p < (uintptr_t)y->body.p;
	return x->body.n <= y->body.n;
}

static const struct ts_sort_kind sort_kind = {
	.size = sizeof(struct record),
	.max = MAX_RECORDS,
	.merge_bytes = MERGE_BYTES,
	.before = interleave_before,
};

struct columns { /* of what is handed over */
	uint32_t line[MERGED_EVENTS], op[MERGED_EVENTS];
	int64_t start_ps[MERGED_EVENTS], dur_ps[MERGED_EVENTS];
	uint64_t link[MERGED_EVENTS];
	struct ts_bytes body[MERGED_EVENTS];
};

struct host_lines {
	struct ts_profile *profile;
	uint32_t *lines;
	size_t nr_lines;
	struct ts_interleaved_look *look; /* by line of the profile */
	bool again;		/* a line was found unsorted: the records so far do not count */
	struct ts_sorter store; /* of struct record */
	pthread_mutex_t lock;	/* guards the store and .again */
};

static enum ts_status interleave_put_block(struct host_lines *lines, const struct ts_block *block,
					   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++) {
		struct record record = {
			.start_ps = block->start_ps[i],
			.dur_ps = block->dur_ps[i],
			.link = block->link[i],
			.body = block->body[i],
			.line = block->line_index,
			.op = block->op[i],
		};

		st = ts_sorter_put(&lines->store, &record, err);
	}
	return st;
}

static enum ts_status interleave_take_block(void *ctx, const struct ts_block *block,
					    struct ts_error *err)
{
	struct host_lines *lines = ctx;
	enum ts_status st;

	pthread_mutex_lock(&lines->lock);
	lines->look[block->line_index] = (struct ts_interleaved_look){ block->stat, block->stats };
	st = lines->again ? TS_OK : interleave_put_block(lines, block, err);
	pthread_mutex_unlock(&lines->lock);
	return st;
}

static enum ts_status interleave_run_line(void *ctx, size_t job, size_t thread,
					  struct ts_error *err)
{
	struct host_lines *lines = ctx;
	struct ts_sink sink = { lines, TS_COL_LINK | TS_COL_STATS, interleave_take_block };
	uint32_t line = lines->lines[job];
	enum ts_status st = ts_stream_line(lines->profile, line, &sink, err);

	if (st == TS_UNSORTED) {
		pthread_mutex_lock(&lines->lock);
		lines->profile->lines[line].unsorted = true;
		lines->again = true;
		pthread_mutex_unlock(&lines->lock);
	}
	return st == TS_UNSORTED || st == TS_FORMAT ? TS_OK : st;
}

/*
 * Repeats until all lines are known to be sorted, or are marked: at most once more for all of them.
 */
static enum ts_status interleave_fill(struct host_lines *lines, size_t nr_threads,
				      struct ts_error *err)
{
	enum ts_status st;

	do {
		lines->again = false;
		ts_sorter_release(&lines->store);
		st = ts_work_run(nr_threads, lines->nr_lines, interleave_run_line, lines, err);
	} while (st == TS_OK && lines->again);
	return st ? st : ts_sorter_close(&lines->store, err);
}

static enum ts_status interleave_hand_over(struct host_lines *lines, uint32_t host,
					   const struct ts_interleaved_sink *sink,
					   struct ts_error *err)
{
	struct columns *columns = malloc(sizeof(*columns));
	struct ts_interleaved interleaved = { .profile = lines->profile,
					      .host = host,
					      .look = lines->look };
	struct ts_sort_cursor *cursor = NULL;
	const struct record *record;
	enum ts_status st = TS_OK;

	if (!columns)
		return ts_fail_nomem(err);
	interleaved.line = columns->line;
	interleaved.op = columns->op;
	interleaved.start_ps = columns->start_ps;
	interleaved.dur_ps = columns->dur_ps;
	interleaved.link = columns->link;
	interleaved.body = columns->body;
	st = ts_sort_cursor_open(&lines->store, 0, &cursor, err);
	while (st == TS_OK && (record = ts_sort_cursor_next(cursor, &st, err))) {
		size_t at = interleaved.nr_events++;

		columns->line[at] = record->line;
		columns->op[at] = record->op;
		columns->start_ps[at] = record->start_ps;
		columns->dur_ps[at] = record->dur_ps;
		columns->link[at] = record->link;
		columns->body[at] = record->body;
		if (interleaved.nr_events < MERGED_EVENTS)
			continue;
		st = sink->block(sink->ctx, &interleaved, err);
		interleaved.nr_events = 0;
	}
	if (st == TS_OK && interleaved.nr_events > 0)
		st = sink->block(sink->ctx, &interleaved, err);
	ts_sort_cursor_free(cursor);
	free(columns);
	return st;
}

static void interleave_choose(struct host_lines *lines, uint32_t host, const bool *wanted)
{
	const struct ts_profile *profile = lines->profile;

	for (uint32_t i = TS_NONE; ts_host_next_line(profile, host, &i);)
		if (wanted[i])
			lines->lines[lines->nr_lines++] = i;
}

enum ts_status ts_interleave_host(struct ts_profile *profile, uint32_t host, const bool *wanted,
				  size_t nr_threads, const struct ts_interleaved_sink *sink,
				  struct ts_error *err)
{
	struct host_lines lines = { .profile = profile };
	enum ts_status st = TS_OK;

	TS_ASSERT(profile && sink);
	TS_ASSERT(host < profile->nr_hosts);
	if (pthread_mutex_init(&lines.lock, NULL) != 0)
		return ts_fail_nomem(err);
	ts_sorter_init(&lines.store, &sort_kind);
	lines.lines = calloc(profile->nr_lines + 1, sizeof(*lines.lines));
	lines.look = calloc(profile->nr_lines + 1, sizeof(*lines.look));
	if (!lines.lines || !lines.look)
		st = ts_fail_nomem(err);
	else
		interleave_choose(&lines, host, wanted);
	if (st == TS_OK)
		st = interleave_fill(&lines, nr_threads, err);
	if (st == TS_OK)
		st = interleave_hand_over(&lines, host, sink, err);
	ts_sorter_release(&lines.store);
	free(lines.lines);
	free(lines.look);
	pthread_mutex_destroy(&lines.lock);
	return st;
}
