/* SPDX-License-Identifier: MIT */
/* All runs are open at once: a comparison looks into their profiles and results. */
#include "serve/comparison.h"

#include "base/check.h"
#include "compare/compare.h"
#include "run/run.h"
#include "io/rundir.h"
#include "write/report_json.h"

struct comparison {
	const struct ts_reports_options *options;
	const struct ts_session *sessions[TS_COMPARE_MAX];
	size_t nr;
	const struct ts_halt *halt;
};

/* The runs, analysed. */
struct opened {
	struct ts_run runs[TS_COMPARE_MAX];
	struct ts_buf names[TS_COMPARE_MAX];
	struct ts_compare_run compared[TS_COMPARE_MAX];
	size_t nr;
};

/* Each op finds its partner, and each step counts. */
static enum ts_status comparison_open_run(struct opened *opened,
					  const struct comparison *comparison, struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = comparison->options->nr_threads,
					  .settings = comparison->options->settings,
					  .max_ops = SIZE_MAX,
					  .max_steps = SIZE_MAX,
					  .halt = comparison->halt };
	size_t at = opened->nr++;
	const struct ts_session *session = comparison->sessions[at];
	struct ts_run *run = &opened->runs[at];
	enum ts_status st;

	ts_run_init(run);
	if (!ts_session_title(session, &opened->names[at]))
		return ts_fail_nomem(err);
	st = ts_run_open(run, session, &options, err);
	if (st == TS_OK)
		st = ts_run_analyse(run, &options, err);
	opened->compared[at] = (struct ts_compare_run){
		.name = ts_bytes_of((const char *)opened->names[at].p),
		.profile = &run->profile,
		.results = &run->results,
	};
	return st;
}

static enum ts_status comparison_compare(const struct comparison *comparison, struct opened *opened,
					 struct ts_buf *text, struct ts_error *err)
{
	const struct ts_compare_request request = { .runs = opened->compared,
						    .nr_runs = opened->nr };
	const struct ts_report form = { .generator = comparison->options->generator,
					.version = comparison->options->version };
	struct ts_results results;
	size_t nr_failed = 0;
	enum ts_status st;

	ts_results_init(&results);
	st = ts_compare(&request, &results, &nr_failed, err);
	if (st == TS_OK)
		st = ts_report_json(text, &results, &form, err);
	ts_results_release(&results);
	return st;
}

static enum ts_status comparison_compare_all(const struct comparison *comparison,
					     struct ts_buf *text, struct ts_error *err)
{
	struct opened *opened = calloc(1, sizeof(*opened));
	enum ts_status st = opened ? TS_OK : ts_fail_nomem(err);

	for (size_t i = 0; i < comparison->nr && st == TS_OK; i++)
		st = comparison_open_run(opened, comparison, err);
	if (st == TS_OK)
		st = comparison_compare(comparison, opened, text, err);
	if (opened) {
		for (size_t i = 0; i < opened->nr; i++) {
			ts_run_release(&opened->runs[i]);
			ts_buf_release(&opened->names[i]);
		}
		free(opened);
	}
	return st;
}

static enum ts_status comparison_add(struct comparison *comparison,
				     const struct ts_reports *reports, const struct ts_runs *runs,
				     const char *id, struct ts_error *err)
{
	const struct ts_session *session = ts_reports_session(reports, runs, id);

	if (!session)
		return ts_fail(err, TS_NOTFOUND, "no run has this id (/api/runs lists them)");
	if (session->kind == TS_SESSION_REPORT)
		return ts_fail(err, TS_NOTFOUND,
			       "a report that was made before has no profiles to compare");
	if (comparison->nr == TS_COMPARE_MAX)
		return ts_fail(err, TS_USAGE, "more than %d runs (name fewer)", TS_COMPARE_MAX);
	comparison->sessions[comparison->nr++] = session;
	return TS_OK;
}

static enum ts_status comparison_choose(struct comparison *comparison,
					const struct ts_reports *reports,
					const struct ts_runs *runs, const char *ids,
					struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (*ids && st == TS_OK) {
		size_t n = strcspn(ids, ",");
		char id[TS_REPORTS_ID];

		snprintf(id, sizeof(id), "%.*s", (int)TS_MIN(n, sizeof(id)), ids);
		st = comparison_add(comparison, reports, runs, n < sizeof(id) ? id : "", err);
		ids += n;
		ids += *ids == ',';
	}
	if (st == TS_OK && comparison->nr < 2)
		return ts_fail(err, TS_USAGE,
			       "which runs? (runs=ID,ID; the first is the baseline)");
	return st;
}

/* The text, in a child that finds the runs as the server did; IDS are a string. */
static enum ts_status comparison_make_asked(void *reports, struct ts_bytes ids,
					    const struct ts_halt *halt, struct ts_buf *text,
					    struct ts_error *err)
{
	struct comparison comparison = { .options = ts_reports_options(reports), .halt = halt };
	struct ts_runs runs = TS_RUNS_INIT;
	enum ts_status st = ts_reports_find(reports, &runs, err);

	if (st == TS_OK)
		st = comparison_choose(&comparison, reports, &runs, (const char *)ids.p, err);
	if (st == TS_OK)
		st = comparison_compare_all(&comparison, text, err);
	ts_runs_release(&runs);
	return st;
}

struct asking {
	struct ts_reports *reports;
	const char *ids;
	const struct ts_halt *halt;
};

static enum ts_status comparison_make(void *ctx, const struct ts_session *session,
				      struct ts_buf *text, struct ts_error *err)
{
	const struct asking *asking = ctx;
	struct ts_bytes ids = { (const uint8_t *)asking->ids, strlen(asking->ids) + 1 };

	return ts_reports_make(asking->reports, comparison_make_asked, ids, asking->halt, text,
			       err);
}

#define KEY "compare"

/* The ids alone: nothing else that a client sends is in a key. */
static struct ts_answer answer(struct ts_reports *reports, struct comparison *comparison)
{
	char key[TS_COMPARE_MAX * TS_REPORTS_ID + 16] = KEY, id[TS_REPORTS_ID];
	struct asking asking = { reports, key + sizeof(KEY), comparison->halt };
	struct ts_reports_job job = { reports,	       key,    comparison->sessions, comparison->nr,
				      comparison_make, &asking };

	for (size_t i = 0; i < comparison->nr; i++) {
		ts_reports_id(comparison->sessions[i], id);
		snprintf(key + strlen(key), sizeof(key) - strlen(key), "%c%s", i ? ',' : ' ', id);
	}
	return ts_reports_do(&job);
}

struct ts_answer ts_comparison_get(struct ts_reports *reports, const char *ids,
				   const struct ts_halt *halt)
{
	struct comparison comparison = { .options = ts_reports_options(reports), .halt = halt };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = ts_reports_find(reports, &runs, &err);
	struct ts_answer given;

	if (st == TS_OK)
		st = comparison_choose(&comparison, reports, &runs, ids ? ids : "", &err);
	if (st == TS_OK)
		given = answer(reports, &comparison);
	else
		given = ts_answer_error(st == TS_USAGE	    ? 400
					: st == TS_NOTFOUND ? 404
							    : 422,
					"%s", err.text);
	ts_runs_release(&runs);
	return given;
}
