/* SPDX-License-Identifier: MIT */
/* Sessions on threads (cli/each_session.h). */
#include "cli/each_session.h"

#include "base/check.h"
#include "base/ordered.h"

#define MAX_THREADS 32 /* each has a temporary or two (TS_TEMPS_MAX) */
#define MAX_FILES   4  /* of a small session; each is mapped, and the system counts them */
#define SMALL_BYTES (UINT64_C(32) << 20)
#define ALL_BYTES   (UINT64_C(256) << 20)
#define GZIP_RATIO  10 /* of traces */

struct each {
	const struct ts_cli *cli;
	const struct ts_runs *runs;
	const struct ts_session_work *work;
	struct ts_progress progress; /* shows the session that is to be finished next */
	uint8_t *slots;
};

/* As they are read. */
static uint64_t each_session_bytes_of(const struct ts_session *session)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < session->nr_files; i++) {
		const struct ts_hostfile *file = &session->files[i];
		bool is_packed = ts_bytes_ends(ts_bytes_of(file->name), ".gz");

		sum = ts_u64_add(sum, ts_u64_mul(file->nr_bytes, is_packed ? GZIP_RATIO : 1));
	}
	return sum;
}

/* They are in the order of their folders. */
static bool shares_folder(const struct ts_runs *runs, size_t i)
{
	const struct ts_session *one = &runs->sessions[i];

	return (i > 0 && strcmp(one[-1].dir, one->dir) == 0) ||
	       (i + 1 < runs->nr_sessions && strcmp(one[1].dir, one->dir) == 0);
}

/* What is not small is heavier than all that may be there at once. In a bucket the next session is fetched while one is read. */
static uint64_t each_session_weigh(void *ctx, size_t job)
{
	const struct each *each = ctx;
	const struct ts_session *session = &each->runs->sessions[job];
	uint64_t nr_bytes = each_session_bytes_of(session);

	if (each->runs->nr_sessions == 1 || session->kind == TS_SESSION_STREAM || session->remote ||
	    session->members || session->nr_files > MAX_FILES || nr_bytes > SMALL_BYTES ||
	    shares_folder(each->runs, job))
		return ALL_BYTES + 1;
	return nr_bytes;
}

static void *slot_of(const struct each *each, size_t slot)
{
	return each->slots + slot * each->work->slot_size;
}

static void each_session_run(void *ctx, size_t job, size_t slot)
{
	struct each *each = ctx;
	size_t nr_threads = each->cli->nr_threads;
	bool is_alone = each_session_weigh(each, job) > ALL_BYTES || nr_threads == 1;

	each->work->work(each->work->ctx, slot_of(each, slot), job,
			 is_alone ? nr_threads : TS_MAX(nr_threads / each->runs->nr_sessions, 1),
			 is_alone ? ts_progress_meter(&each->progress) : NULL);
}

static void show_next(struct each *each, size_t job)
{
	if (job < each->runs->nr_sessions)
		ts_progress_begin(&each->progress, each->cli, each->runs->sessions[job].dir);
}

static void each_session_finish(void *ctx, size_t job, size_t slot)
{
	struct each *each = ctx;

	ts_progress_end(&each->progress); /* before anything else is said */
	each->work->finish(each->work->ctx, slot_of(each, slot), job);
	show_next(each, job + 1);
}

enum ts_status ts_each_session(const struct ts_cli *cli, const struct ts_runs *runs,
			       const struct ts_session_work *work, struct ts_error *err)
{
	size_t nr_threads = TS_MIN(cli->nr_threads, MAX_THREADS);
	struct each each = { .cli = cli, .runs = runs, .work = work };
	struct ts_ordered ordered = { .nr_jobs = runs->nr_sessions,
				      .nr_threads = nr_threads,
				      .window = 2 * nr_threads,
				      .budget = ALL_BYTES,
				      .ctx = &each,
				      .weigh = each_session_weigh,
				      .run = each_session_run,
				      .finish = each_session_finish };
	enum ts_status st = TS_OK;

	TS_ASSERT(cli && runs && work);
	each.slots = calloc(ordered.window, work->slot_size);
	if (!each.slots)
		return ts_fail_nomem(err);
	show_next(&each, 0);
	st = ts_ordered_run(&ordered, err);
	free(each.slots);
	return st;
}
