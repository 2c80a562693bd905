/* SPDX-License-Identifier: MIT */
/* Runs that are held against each other: read, in the order of the command line. */
#include "cli/open_runs.h"

#include "base/check.h"

void ts_open_runs_init(struct ts_open_runs *runs, const struct ts_cli *cli)
{
	TS_ASSERT(runs && cli);
	memset(runs, 0, sizeof(*runs));
	runs->cli = cli;
	for (size_t i = 0; i < TS_COMPARE_MAX; i++)
		ts_run_init(&runs->items[i]);
}

void ts_open_runs_release(struct ts_open_runs *runs)
{
	TS_ASSERT(runs);
	for (size_t i = 0; i < TS_COMPARE_MAX; i++) {
		ts_run_release(&runs->items[i]);
		ts_buf_release(&runs->names[i]);
	}
}

/* LOG: of PyTorch's compiler, that belongs to this run; NULL: none. */
static enum ts_status open_runs_read_session(struct ts_open_runs *runs,
					     const struct ts_session *session,
					     const char *const *log, struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = runs->cli->nr_threads,
					  .settings = runs->cli->settings,
					  .interleave = runs->interleave,
					  .max_ops = SIZE_MAX, /* each op finds its partner */
					  .max_steps = SIZE_MAX,
					  .torch_logs = log,
					  .nr_torch_logs = log != NULL };
	size_t at = runs->nr_runs;
	struct ts_run *run = &runs->items[at];
	struct ts_progress progress;
	enum ts_status st;

	TS_ASSERT(at < TS_COMPARE_MAX);
	ts_progress_begin(&progress, runs->cli, session->dir);
	options.meter = ts_progress_meter(&progress);
	st = ts_session_title(session, &runs->names[at]) ? TS_OK : ts_fail_nomem(err);
	if (st == TS_OK)
		st = ts_run_open(run, session, &options, err);
	if (st == TS_OK)
		st = ts_run_analyse(run, &options, err);
	ts_progress_end(&progress);
	runs->damaged |= ts_complain_of_run(run, st == TS_OK);
	if (st)
		return st;
	runs->compared[runs->nr_runs++] = (struct ts_compare_run){
		.name = ts_bytes_of((const char *)runs->names[at].p),
		.profile = &run->profile,
		.results = &run->results,
	};
	return TS_OK;
}

static enum ts_status open_runs_read_path(struct ts_open_runs *runs, size_t at,
					  struct ts_error *err)
{
	const struct ts_texts *logs = runs->torch_logs;
	const char *const *log = logs && logs->nr > at ? &logs->items[at] : NULL;
	struct ts_cli one = *runs->cli;
	struct ts_runs found = TS_RUNS_INIT;
	size_t nr_bad = 0;
	enum ts_status st;

	one.paths = &runs->cli->paths[at];
	one.nr_paths = 1;
	st = ts_find_sessions(&one, &found, &nr_bad, err);
	runs->damaged |= nr_bad > 0;
	runs->missing |=
		st == TS_OK && found.nr_sessions == 0; /* and the reason is on the console */
	if (st == TS_OK && found.nr_sessions > 1 && runs->cli->nr_paths > 1)
		st = ts_fail(err, TS_USAGE,
			     "%s has %zu sessions (name one of them, %s for instance)",
			     runs->cli->paths[at], found.nr_sessions,
			     found.sessions[found.nr_sessions - 1].dir);
	if (st == TS_OK && runs->nr_runs + found.nr_sessions > TS_COMPARE_MAX)
		st = ts_fail(err, TS_USAGE, "more than %d runs (name fewer)", TS_COMPARE_MAX);
	for (size_t i = 0; st == TS_OK && i < found.nr_sessions; i++)
		st = open_runs_read_session(runs, &found.sessions[i], log, err);
	ts_runs_release(&found);
	return st;
}

static enum ts_status open_runs_put_labels(struct ts_open_runs *runs, struct ts_error *err)
{
	size_t nr = runs->labels ? runs->labels->nr : 0;

	if (nr > 0 && nr != runs->nr_runs)
		return ts_fail(err, TS_USAGE, "%zu labels for %zu runs (give each its own)", nr,
			       runs->nr_runs);
	for (size_t i = 0; i < nr; i++)
		runs->compared[i].label = runs->labels->items[i];
	return TS_OK;
}

enum ts_status ts_open_runs_read(struct ts_open_runs *runs, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(runs);
	for (size_t i = 0; st == TS_OK && i < runs->cli->nr_paths; i++)
		st = open_runs_read_path(runs, i, err);
	if (st == TS_OK && runs->missing)
		return ts_fail(
			err, TS_NOTFOUND,
			"nothing is compared when a run is missing (name runs that are there)");
	return st ? st : open_runs_put_labels(runs, err);
}
