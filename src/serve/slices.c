/* SPDX-License-Identifier: MIT */
/* Runs that are open, and what is asked of them. */
#include "serve/slices.h"

#include <pthread.h>

#include "base/check.h"
#include "picture/picture.h"
#include "run/run.h"
#include "io/rundir.h"
#include "serve/places.h"
#include "serve/query.h"

/* A run with its index; the last user closes it. */
struct opened {
	struct ts_run run;
	struct ts_slices_index *index;
	uint64_t key;
	unsigned nr_users; /* guarded by the pictures' lock; the place in .open is one */
};

struct ts_pictures {
	struct ts_reports *reports;
	pthread_mutex_t lock, maker;
	struct opened *open[TS_SLICES_OPEN]; /* the one that was asked for last stands first */
};

struct ts_pictures *ts_pictures_new(struct ts_reports *reports)
{
	struct ts_pictures *pictures = calloc(1, sizeof(*pictures));

	TS_ASSERT(reports);
	if (!pictures || pthread_mutex_init(&pictures->lock, NULL) != 0) {
		free(pictures);
		return NULL;
	}
	if (pthread_mutex_init(&pictures->maker, NULL) != 0) {
		pthread_mutex_destroy(&pictures->lock);
		free(pictures);
		return NULL;
	}
	pictures->reports = reports;
	return pictures;
}

static void close_opened(struct opened *opened)
{
	ts_slices_index_free(opened->index);
	ts_run_release(&opened->run);
	free(opened);
}

static void serve_slices_leave(struct ts_pictures *pictures, struct opened *opened)
{
	unsigned nr_left;

	pthread_mutex_lock(&pictures->lock);
	nr_left = --opened->nr_users;
	pthread_mutex_unlock(&pictures->lock);
	if (nr_left == 0)
		close_opened(opened);
}

void ts_pictures_free(struct ts_pictures *pictures)
{
	if (!pictures)
		return;
	for (size_t i = 0; i < TS_SLICES_OPEN; i++)
		if (pictures->open[i])
			serve_slices_leave(pictures, pictures->open[i]);
	pthread_mutex_destroy(&pictures->maker);
	pthread_mutex_destroy(&pictures->lock);
	free(pictures);
}

/* A use of the run with this key, which moves to the front; NULL: it is not open. */
static struct opened *serve_slices_find(struct ts_pictures *pictures, uint64_t key)
{
	struct opened *found = NULL;

	pthread_mutex_lock(&pictures->lock);
	for (size_t i = 0; i < TS_SLICES_OPEN && !found; i++) {
		if (!pictures->open[i] || pictures->open[i]->key != key)
			continue;
		found = pictures->open[i];
		memmove(&pictures->open[1], &pictures->open[0], i * sizeof(pictures->open[0]));
		pictures->open[0] = found;
		found->nr_users++;
	}
	pthread_mutex_unlock(&pictures->lock);
	return found;
}

/* One that is opened is used by the caller and by its place. */
static void put_first(struct ts_pictures *pictures, struct opened *opened)
{
	struct opened *last;

	pthread_mutex_lock(&pictures->lock);
	last = pictures->open[TS_SLICES_OPEN - 1];
	memmove(&pictures->open[1], &pictures->open[0],
		(TS_SLICES_OPEN - 1) * sizeof(pictures->open[0]));
	pictures->open[0] = opened;
	opened->nr_users = 2;
	pthread_mutex_unlock(&pictures->lock);
	if (last)
		serve_slices_leave(pictures, last);
}

static enum ts_status serve_slices_open_run(struct ts_pictures *pictures,
					    const struct ts_session *session, uint64_t key,
					    struct opened **out, struct ts_error *err)
{
	const struct ts_reports_options *options = ts_reports_options(pictures->reports);
	const struct ts_run_options how = { .nr_threads = options->nr_threads,
					    .settings = options->settings,
					    .no_stats = true };
	struct opened *opened = calloc(1, sizeof(*opened));
	enum ts_status st;

	if (!opened)
		return ts_fail_nomem(err);
	ts_run_init(&opened->run);
	opened->key = key;
	st = ts_run_open(&opened->run, session, &how, err);
	if (st == TS_OK)
		st = ts_slices_index_new(&opened->index, &opened->run.profile, TS_NONE,
					 options->nr_threads, err);
	if (st) {
		close_opened(opened);
		return st;
	}
	put_first(pictures, opened);
	*out = opened;
	return TS_OK;
}

/* Who waited for another's index finds it. */
static enum ts_status serve_slices_use(struct ts_pictures *pictures,
				       const struct ts_session *session, struct opened **out,
				       struct ts_error *err)
{
	uint64_t key = ts_reports_key(pictures->reports, session);
	enum ts_status st = TS_OK;

	*out = serve_slices_find(pictures, key);
	if (*out)
		return TS_OK;
	pthread_mutex_lock(&pictures->maker);
	*out = serve_slices_find(pictures, key);
	if (!*out)
		st = serve_slices_open_run(pictures, session, key, out, err);
	pthread_mutex_unlock(&pictures->maker);
	return st;
}

/* Where the request does not say: from the run's start to the end of the capture. */
static enum ts_status set_ends(struct ts_part *part, const struct ts_profile *profile,
			       struct ts_error *err)
{
	part->from_ps = part->from_ps == INT64_MIN ? 0 : part->from_ps;
	if (part->to_ps == INT64_MAX && profile->capture_ps == TS_UNKNOWN)
		return ts_fail(err, TS_USAGE,
			       "to_ps= is missing, and the profile does not say how long it is");
	part->to_ps = part->to_ps == INT64_MAX ? profile->capture_ps : part->to_ps;
	if (part->from_ps >= part->to_ps)
		return ts_fail(err, TS_USAGE, "from_ps= is not before to_ps=");
	return TS_OK;
}

struct asking {
	struct ts_pictures *pictures;
	struct ts_slices_wanted wanted;
	struct ts_places places;
};

static enum ts_status serve_slices_draw(const struct opened *opened, struct asking *asking,
					struct ts_buf *text, struct ts_error *err)
{
	struct ts_json json = ts_json_of(text, TS_JSON_COMPACT);
	struct ts_picture picture = { .profile = &opened->run.profile,
				      .index = opened->index,
				      .findings = asking->places.items,
				      .nr_findings = asking->places.nr };
	enum ts_status st = set_ends(&asking->wanted.part, picture.profile, err);

	picture.wanted = asking->wanted;
	return st ? st : ts_picture_put(&json, &picture, err);
}

static struct ts_answer answer_session(void *ctx, const struct ts_session *session)
{
	struct asking *asking = ctx;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct opened *opened;
	enum ts_status st;

	if (session->kind == TS_SESSION_REPORT)
		return ts_answer_error(404, "a report that was made before has no events");
	st = serve_slices_use(asking->pictures, session, &opened, &err);
	if (st == TS_OK) {
		st = serve_slices_draw(opened, asking, &text, &err);
		serve_slices_leave(asking->pictures, opened);
	}
	if (st == TS_OK)
		return ts_answer_json(&text);
	ts_buf_release(&text);
	return ts_answer_error(st == TS_USAGE	   ? 400
			       : st == TS_NOTFOUND ? 404
						   : 422,
			       "%s", err.text);
}

/* The findings of the report; where there is none, *ANSWER says why. */
static bool take_findings(struct asking *asking, const struct ts_request *request,
			  const struct ts_halt *halt, struct ts_answer *answer)
{
	struct ts_answer report = ts_reports_get(asking->pictures->reports, &ts_reports_whole, NULL,
						 request->argument(request, "run"), halt);
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st;

	if (report.status != 200) {
		*answer = report;
		return false;
	}
	st = ts_places_read(&asking->places, ts_buf_bytes(&report.body->text), &err);
	ts_body_drop(report.body);
	if (st)
		*answer = ts_answer_error(422, "%s", err.text);
	return st == TS_OK;
}

struct ts_answer ts_pictures_get(struct ts_pictures *pictures, const struct ts_request *request,
				 const struct ts_halt *halt)
{
	struct asking asking = { .pictures = pictures };
	struct ts_error err = TS_ERROR_INIT;
	int64_t width = TS_SLICES_WIDTH, findings = 0;
	struct ts_answer answer;

	TS_ASSERT(pictures && request);
	if (ts_query_part(request, &asking.wanted.part, &err) ||
	    ts_query_number(request, "width", 1, TS_SLICES_MAX_WIDTH, &width, &err) ||
	    ts_query_number(request, "findings", 0, 1, &findings, &err))
		return ts_answer_error(400, "%s", err.text);
	asking.wanted.width = (size_t)width;
	if (!findings || take_findings(&asking, request, halt, &answer))
		answer = ts_reports_ask(pictures->reports, request->argument(request, "run"),
					answer_session, &asking);
	ts_places_release(&asking.places);
	return answer;
}
