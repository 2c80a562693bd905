/* SPDX-License-Identifier: MIT */
/* The list of runs, and the thread that fills it. */
#include "serve/listing.h"

#include <pthread.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/halt.h"
#include "io/look.h"
#include "io/rundir.h"
#include "serve/roots.h"
#include "serve/trend.h"
#include "base/order.h"

struct ts_listing {
	struct ts_reports *reports;
	pthread_mutex_t lock;
	pthread_t filler;
	bool is_filling; /* the thread runs, or waits to be joined */
	bool is_done, is_ending;
};

struct ts_listing *ts_listing_new(struct ts_reports *reports)
{
	struct ts_listing *listing = calloc(1, sizeof(*listing));

	TS_ASSERT(reports);
	if (!listing || pthread_mutex_init(&listing->lock, NULL) != 0) {
		free(listing);
		return NULL;
	}
	listing->reports = reports;
	return listing;
}

static bool listing_is_ending(void *ctx)
{
	struct ts_listing *listing = ctx;
	bool ending;

	pthread_mutex_lock(&listing->lock);
	ending = listing->is_ending;
	pthread_mutex_unlock(&listing->lock);
	return ending;
}

void ts_listing_free(struct ts_listing *listing)
{
	if (!listing)
		return;
	pthread_mutex_lock(&listing->lock);
	listing->is_ending = true;
	pthread_mutex_unlock(&listing->lock);
	if (listing->is_filling)
		pthread_join(listing->filler, NULL);
	pthread_mutex_destroy(&listing->lock);
	free(listing);
}

/* --- the runs */

static int64_t written_ms(const struct ts_session *session)
{
	struct stat st;

	if (stat(session->files[0].path, &st) != 0)
		return 0;
	return ts_stat_mtime_ns(&st) / 1000000;
}

TS_ORDER(newest_first, struct ts_listed,
	 TS_DOWN(when_ms) TS_DOWN(session->session) TS_UP(session->dir))

/* What lies in a bucket is not fetched for a list. */
static bool can_look(const struct ts_listed *listed)
{
	return !listed->is_known && !listed->session->remote &&
	       listed->session->kind != TS_SESSION_STREAM;
}

static void list_one(struct ts_listing *listing, const struct ts_session *session,
		     struct ts_listed_runs *runs)
{
	struct ts_listed *listed = &runs->items[runs->nr++];

	listed->session = session;
	ts_reports_id(session, listed->id);
	listed->is_known = ts_reports_card(listing->reports, session, &listed->card);
	if (!listed->is_known)
		ts_card_init(&listed->card);
	listed->when_ms = listed->card.when_unix_ms != TS_UNKNOWN ? listed->card.when_unix_ms
								  : written_ms(session);
	runs->is_known &= !can_look(listed);
}

static enum ts_status listing_list_all(struct ts_listing *listing, const struct ts_runs *found,
				       struct ts_listed_runs *runs, struct ts_error *err)
{
	*runs = (struct ts_listed_runs){
		.items = calloc(found->nr_sessions + 1, sizeof(*runs->items)), .is_known = true
	};
	if (!runs->items)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < found->nr_sessions; i++)
		if (ts_reports_serve(listing->reports, &found->sessions[i]))
			list_one(listing, &found->sessions[i], runs);
	if (runs->nr > 1)
		qsort(runs->items, runs->nr, sizeof(*runs->items), newest_first);
	return TS_OK;
}

/* --- the filler */

static const struct ts_listed *next_unknown(const struct ts_listed_runs *runs)
{
	for (size_t i = 0; i < runs->nr; i++)
		if (can_look(&runs->items[i]))
			return &runs->items[i];
	return NULL;
}

/* False: nothing is missing any more, or what is missing is the run LAST, whose files change while it is looked at. */
static bool fill_one(struct ts_listing *listing, char last[TS_REPORTS_ID])
{
	const struct ts_halt halt = { listing_is_ending, listing };
	struct ts_runs found = TS_RUNS_INIT;
	struct ts_listed_runs runs = { NULL, 0, true };
	const struct ts_listed *next = NULL;
	bool is_new;

	if (ts_reports_find(listing->reports, &found, NULL) == TS_OK &&
	    listing_list_all(listing, &found, &runs, NULL) == TS_OK)
		next = next_unknown(&runs);
	is_new = next && strcmp(next->id, last) != 0;
	if (is_new) {
		memcpy(last, next->id, TS_REPORTS_ID);
		ts_reports_look(listing->reports, next->session, &halt);
	}
	free(runs.items);
	ts_runs_release(&found);
	return is_new;
}

static void *listing_fill(void *arg)
{
	struct ts_listing *listing = arg;
	char last[TS_REPORTS_ID] = "";

	while (!listing_is_ending(listing) && fill_one(listing, last))
		;
	pthread_mutex_lock(&listing->lock);
	listing->is_done = true;
	pthread_mutex_unlock(&listing->lock);
	return NULL;
}

/* One thread at most; where there is none to be had, the next list tries again. */
static void start_filling(struct ts_listing *listing)
{
	pthread_mutex_lock(&listing->lock);
	if (listing->is_filling && listing->is_done) {
		pthread_join(listing->filler, NULL);
		listing->is_filling = false;
	}
	if (!listing->is_filling && !listing->is_ending) {
		listing->is_done = false;
		listing->is_filling =
			pthread_create(&listing->filler, NULL, listing_fill, listing) == 0;
	}
	pthread_mutex_unlock(&listing->lock);
}

/* --- writing */

static void listing_put_runs(struct ts_json *json, const struct ts_listed_runs *runs)
{
	ts_json_key(json, "runs");
	ts_json_array(json);
	for (size_t i = 0; i < runs->nr; i++) {
		ts_json_object(json);
		ts_listed_put(json, &runs->items[i]);
		ts_json_object_end(json);
	}
	ts_json_array_end(json);
	ts_json_put_bool(json, "is_known", runs->is_known);
}

static void put_outside(struct ts_json *json, const struct ts_session *session)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_printf(&text, "%s: " TS_ROOTS_OUTSIDE, ts_session_place(session));
	ts_json_string(json, ts_buf_bytes(&text));
	ts_buf_release(&text);
}

/* A session whose profiles are elsewhere is not a problem where its report is. */
static bool has_report(const struct ts_runs *runs, const char *problem)
{
	for (size_t i = 0; i < runs->nr_sessions; i++) {
		const struct ts_session *session = &runs->sessions[i];
		size_t n = strlen(session->dir);

		if (session->kind == TS_SESSION_REPORT && strncmp(problem, session->dir, n) == 0 &&
		    problem[n] == ':')
			return true;
	}
	return false;
}

static void put_problems(struct ts_json *json, const struct ts_reports *reports,
			 const struct ts_runs *runs)
{
	ts_json_key(json, "problems");
	ts_json_array(json);
	for (size_t i = 0; i < runs->nr_problems; i++)
		if (!has_report(runs, runs->problems[i]))
			ts_json_text(json, runs->problems[i]);
	for (size_t i = 0; i < runs->nr_sessions; i++)
		if (!ts_reports_serve(reports, &runs->sessions[i]))
			put_outside(json, &runs->sessions[i]);
	ts_json_array_end(json);
}

/* --- answers */

struct ts_answer ts_listing_runs(struct ts_listing *listing)
{
	struct ts_runs found = TS_RUNS_INIT;
	struct ts_listed_runs runs = { NULL, 0, true };
	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);
	enum ts_status st;

	TS_ASSERT(listing);
	st = ts_reports_find(listing->reports, &found, NULL);
	if (st == TS_OK)
		st = listing_list_all(listing, &found, &runs, NULL);
	text.failed = st != TS_OK;
	ts_json_object(&json);
	listing_put_runs(&json, &runs);
	put_problems(&json, listing->reports, &found);
	ts_json_object_end(&json);
	if (next_unknown(&runs))
		start_filling(listing);
	free(runs.items);
	ts_runs_release(&found);
	return ts_answer_json(&text);
}

struct ts_answer ts_listing_trend(struct ts_listing *listing, const struct ts_request *request)
{
	struct ts_runs found = TS_RUNS_INIT;
	struct ts_listed_runs runs = { NULL, 0, true };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);
	enum ts_status st;

	TS_ASSERT(listing && request);
	st = ts_reports_find(listing->reports, &found, &err);
	if (st == TS_OK)
		st = listing_list_all(listing, &found, &runs, &err);
	if (st == TS_OK)
		st = ts_trend_put(&json, &runs, request, &err);
	if (next_unknown(&runs))
		start_filling(listing);
	free(runs.items);
	ts_runs_release(&found);
	if (st == TS_OK)
		return ts_answer_json(&text);
	ts_buf_release(&text);
	return ts_answer_error(st == TS_USAGE	   ? 400
			       : st == TS_NOTFOUND ? 404
						   : 422,
			       "%s", err.text);
}
