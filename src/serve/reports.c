/* SPDX-License-Identifier: MIT */
/* Reports on demand. */
#include "serve/reports.h"

#include <inttypes.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "run/run.h"
#include "io/look.h"
#include "io/siblings.h"
#include "model/part.h"
#include "remote/remote.h"
#include "serve/cards.h"
#include "serve/child.h"
#include "serve/made.h"
#include "serve/roots.h"
#include "write/report_json.h"

const struct ts_reports_part ts_reports_whole = { "report", NULL, true };

struct kept {
	char *key;	    /* id, view and part of the run */
	uint64_t signature; /* a hash of the session's files: it changes when one of them does */
	struct ts_body *body;
	uint64_t used; /* the larger it is, the later it was used */
};

struct ts_reports {
	struct ts_reports_options options;
	pthread_mutex_t lock;  /* guards what is kept */
	pthread_mutex_t maker; /* held while a run is analysed */
	struct kept *kept;
	size_t nr_kept, cap_kept, nr_waiting;
	uint64_t clock;
	int64_t looked_ms; /* into buckets; 0: never */
	struct ts_cards *cards;
	struct ts_helper *helper;
};

/* What a client asks for. */
struct question {
	struct ts_reports *reports;
	const struct ts_reports_part *part;
	const struct ts_part *of; /* NULL: the whole run */
	size_t nr_threads;
	const struct ts_halt *halt; /* NULL: it is wanted whoever leaves */
};

struct ts_reports *ts_reports_new(const struct ts_reports_options *options)
{
	TS_ASSERT(options != NULL && options->settings != NULL);
	TS_ASSERT(options->paths != NULL || options->nr_paths == 0);

	struct ts_reports *reports = calloc(1, sizeof(*reports));

	if (!reports)
		return NULL;
	reports->options = *options;
	reports->cards = ts_cards_new();
	if (!reports->cards) {
		free(reports);
		return NULL;
	}
	if (pthread_mutex_init(&reports->lock, NULL) != 0) {
		ts_cards_free(reports->cards);
		free(reports);
		return NULL;
	}
	if (pthread_mutex_init(&reports->maker, NULL) != 0) {
		pthread_mutex_destroy(&reports->lock);
		ts_cards_free(reports->cards);
		free(reports);
		return NULL;
	}
	reports->helper = ts_helper_new(reports);
	if (!reports->helper) {
		ts_reports_free(reports);
		return NULL;
	}
	return reports;
}

static void drop_kept(struct kept *kept)
{
	ts_body_drop(kept->body);
	free(kept->key);
}

void ts_reports_free(struct ts_reports *reports)
{
	if (!reports)
		return;
	for (size_t i = 0; i < reports->nr_kept; i++)
		drop_kept(&reports->kept[i]);
	free(reports->kept);
	ts_helper_free(reports->helper);
	pthread_mutex_destroy(&reports->maker);
	pthread_mutex_destroy(&reports->lock);
	ts_cards_free(reports->cards);
	free(reports);
}

/* What lies in buckets now; what is wrong with that look is seen when a run is asked for. */
static void look_into_buckets(struct ts_reports *reports)
{
	const struct ts_reports_options *options = &reports->options;
	int64_t now_ms = ts_now_ms();
	bool is_due;

	pthread_mutex_lock(&reports->lock);
	is_due = options->remote &&
		 (reports->looked_ms == 0 || now_ms - reports->looked_ms > TS_REPORTS_LOOK_MS);
	if (is_due)
		reports->looked_ms = now_ms;
	pthread_mutex_unlock(&reports->lock);
	for (size_t i = 0; is_due && i < options->nr_paths; i++)
		(void)ts_remote_refresh(options->remote, options->paths[i], NULL, NULL);
}

enum ts_status ts_reports_find(struct ts_reports *reports, struct ts_runs *runs,
			       struct ts_error *err)
{
	const struct ts_reports_options *options = &reports->options;
	enum ts_status st = TS_OK;

	look_into_buckets(reports);
	runs->remote = options->remote;
	runs->looker = ts_remote_looker(options->remote);
	for (size_t i = 0; i < options->nr_paths; i++) {
		struct ts_error story = TS_ERROR_INIT;

		if (!ts_made_is(options->paths[i]) &&
		    ts_roots_find(runs, options->paths, options->nr_paths, i, &story) == TS_NOMEM)
			return ts_fail_nomem(err);
	}
	if (options->join_sessions)
		st = ts_runs_join(runs, err);
	for (size_t i = 0; i < options->nr_paths && st == TS_OK; i++)
		if (ts_made_is(options->paths[i]))
			st = ts_made_add(runs, options->paths[i], err);
	return st ? st : ts_made_find(runs, err);
}

static uint64_t reports_hash_of(const struct ts_session *session)
{
	uint64_t hash = ts_hash(ts_bytes_of(session->dir), 1);

	if (session->kind != TS_SESSION_DIR) /* files of one folder */
		hash = ts_hash(ts_bytes_of(session->files[0].name), hash);
	return hash;
}

void ts_reports_id(const struct ts_session *session, char id[TS_REPORTS_ID])
{
	TS_ASSERT(session);
	snprintf(id, TS_REPORTS_ID, "%016" PRIx64, reports_hash_of(session));
}

static uint64_t reports_mix(uint64_t hash, uint64_t value)
{
	return ts_hash((struct ts_bytes){ (const uint8_t *)&value, sizeof(value) }, hash);
}

/* How one file looks: it changes when the file does. */
static uint64_t reports_look_at(const char *path, uint64_t hash)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return hash;
	hash = reports_mix(hash, (uint64_t)st.st_size);
	hash = reports_mix(hash, (uint64_t)ts_stat_mtime_ns(&st));
	return reports_mix(hash, (uint64_t)st.st_ino);
}

static uint64_t signature_of(const struct ts_session *session)
{
	uint64_t hash = session->nr_files;

	for (size_t i = 0; i < session->nr_files; i++) {
		hash = ts_hash(ts_bytes_of(session->files[i].name), hash);
		hash = reports_look_at(session->files[i].path, hash);
	}
	return hash;
}

bool ts_reports_serve(const struct ts_reports *reports, const struct ts_session *session)
{
	TS_ASSERT(reports && session);
	return ts_roots_hold(reports->options.paths, reports->options.nr_paths, session);
}

static struct kept *find_kept(struct ts_reports *reports, const char *key)
{
	for (size_t i = 0; i < reports->nr_kept; i++)
		if (strcmp(reports->kept[i].key, key) == 0)
			return &reports->kept[i];
	return NULL;
}

/* A use of the body that is kept for the files as they are, or NULL. */
static struct ts_body *take_kept(struct ts_reports *reports, const char *key, uint64_t signature)
{
	struct ts_body *body = NULL;
	struct kept *kept;

	pthread_mutex_lock(&reports->lock);
	kept = find_kept(reports, key);
	if (kept && kept->signature == signature) {
		kept->used = ++reports->clock;
		body = ts_body_use(kept->body);
	}
	pthread_mutex_unlock(&reports->lock);
	return body;
}

static size_t reports_size_of(const struct ts_body *body)
{
	return body->text.n + body->packed.n;
}

/* To be called with the lock held. Drops the reports that were not used for longest until there
 * is room for N more bytes. */
static void reports_make_room(struct ts_reports *reports, size_t n)
{
	for (;;) {
		size_t sum = 0, oldest = 0;

		for (size_t i = 0; i < reports->nr_kept; i++) {
			sum += reports_size_of(reports->kept[i].body);
			if (reports->kept[i].used < reports->kept[oldest].used)
				oldest = i;
		}
		if (reports->nr_kept == 0 || sum + n <= TS_REPORTS_BYTES)
			return;
		drop_kept(&reports->kept[oldest]);
		reports->kept[oldest] = reports->kept[--reports->nr_kept];
	}
}

/* Where there is no memory to keep it, it is made again the next time. */
static void reports_keep(struct ts_reports *reports, const char *key, uint64_t signature,
			 struct ts_body *body)
{
	char *own = strdup(key);
	struct kept *kept;

	TS_ASSERT(body != NULL);
	pthread_mutex_lock(&reports->lock);
	kept = find_kept(reports, key);
	if (kept) {
		drop_kept(kept);
		*kept = reports->kept[--reports->nr_kept];
	}
	reports_make_room(reports, reports_size_of(body));
	if (own &&
	    ts_grow(&reports->kept, &reports->cap_kept, reports->nr_kept + 1, sizeof(*kept))) {
		reports->kept[reports->nr_kept++] = (struct kept){ .key = own,
								   .signature = signature,
								   .body = ts_body_use(body),
								   .used = ++reports->clock };
		own = NULL;
	}
	pthread_mutex_unlock(&reports->lock);
	free(own);
}

static enum ts_status reports_analyse(const struct question *question,
				      const struct ts_session *session, struct ts_buf *text,
				      struct ts_error *err)
{
	const struct ts_reports_options *options = &question->reports->options;
	const struct ts_reports_part *part = question->part;
	struct ts_run_options how = { .nr_threads = question->nr_threads,
				      .interleave = part->interleave,
				      .tree_rows = part->tree_rows,
				      .settings = options->settings,
				      .part = question->of,
				      .halt = question->halt,
				      .track_items =
					      part->has_tracks ? options->max_track_items : 0 };
	struct ts_report form = { .generator = options->generator,
				  .version = options->version,
				  .only = part->results,
				  .part = question->of,
				  .max_track_items = how.track_items };
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	st = ts_run_open(&run, session, &how, err);
	if (st == TS_OK)
		st = ts_run_analyse(&run, &how, err);
	if (st == TS_OK)
		st = ts_report_json(text, &run.results, &form, err);
	ts_run_release(&run);
	return st;
}

/* What a child is asked; the names of host and device stand behind it. */
struct asked {
	char id[TS_REPORTS_ID];
	const struct ts_reports_part *part;
	size_t nr_threads;
	bool has_part, has_host, has_device;
	int64_t from_ps, to_ps;
};

static void put_asked(struct ts_buf *out, const struct question *question,
		      const struct ts_session *session)
{
	const struct ts_part none = TS_PART_ALL, *of = question->of ? question->of : &none;
	struct asked asked = { .part = question->part,
			       .nr_threads = question->nr_threads,
			       .has_part = question->of,
			       .has_host = of->host,
			       .has_device = of->device,
			       .from_ps = of->from_ps,
			       .to_ps = of->to_ps };

	ts_reports_id(session, asked.id);
	ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)&asked, sizeof(asked) });
	ts_buf_puts(out, of->host ? of->host : "");
	ts_buf_putc(out, '\0');
	ts_buf_puts(out, of->device ? of->device : "");
	ts_buf_putc(out, '\0');
}

/* In the child, which finds the session as the server did. */
static enum ts_status reports_make_asked(void *ctx, struct ts_bytes bytes,
					 const struct ts_halt *halt, struct ts_buf *text,
					 struct ts_error *err)
{
	struct ts_reports *reports = ctx;
	const struct ts_session *session;
	struct ts_runs runs = TS_RUNS_INIT;
	struct question question = { .reports = reports, .halt = halt };
	struct ts_part of;
	struct asked asked;
	const char *host;
	enum ts_status st;

	TS_ASSERT(bytes.n > sizeof(asked));
	memcpy(&asked, bytes.p, sizeof(asked));
	host = (const char *)bytes.p + sizeof(asked);
	of = (struct ts_part){ .from_ps = asked.from_ps,
			       .to_ps = asked.to_ps,
			       .host = asked.has_host ? host : NULL,
			       .device = asked.has_device ? host + strlen(host) + 1 : NULL };
	question.part = asked.part;
	question.nr_threads = asked.nr_threads;
	question.of = asked.has_part ? &of : NULL;
	st = ts_reports_find(reports, &runs, err);
	session = st == TS_OK ? ts_reports_session(reports, &runs, asked.id) : NULL;
	if (session)
		st = reports_analyse(&question, session, text, err);
	else if (st == TS_OK)
		st = ts_fail(err, TS_NOTFOUND, "the run is not there any more");
	ts_runs_release(&runs);
	return st;
}

/* What a bucket gives is fetched, and held, by the server, so it is made here. */
enum ts_status ts_reports_make(struct ts_reports *reports, ts_child_fn *fn,
			       struct ts_bytes question, const struct ts_halt *halt,
			       struct ts_buf *text, struct ts_error *err)
{
	TS_ASSERT(reports && fn);
	return reports->options.remote
		       ? fn(reports, question, halt, text, err)
		       : ts_child_run(reports->helper, fn, question, halt, text, err);
}

static enum ts_status reports_make_report(const struct question *question,
					  const struct ts_session *session, struct ts_buf *text,
					  struct ts_error *err)
{
	struct ts_buf asked = TS_BUF_INIT;
	enum ts_status st;

	if (session->kind == TS_SESSION_REPORT)
		return ts_made_read(session, text, err);
	put_asked(&asked, question, session);
	st = asked.failed ? ts_fail_nomem(err)
			  : ts_reports_make(question->reports, reports_make_asked,
					    ts_buf_bytes(&asked), question->halt, text, err);
	ts_buf_release(&asked);
	return st;
}

/* The path of the report beside the profiles, if it is served. */
static bool own_report(const struct ts_reports *reports, const struct ts_session *session,
		       struct ts_buf *path)
{
	const struct ts_reports_options *options = &reports->options;

	return !session->remote && ts_cards_path(session, path) &&
	       ts_roots_hold_beside(options->paths, options->nr_paths, (const char *)path->p);
}

uint64_t ts_reports_key(const struct ts_reports *reports, const struct ts_session *session)
{
	uint64_t key = reports_mix(signature_of(session), reports_hash_of(session));
	struct ts_buf path = TS_BUF_INIT;

	TS_ASSERT(reports && session);
	if (own_report(reports, session, &path))
		key = reports_look_at((const char *)path.p, key);
	ts_buf_release(&path);
	return key;
}

bool ts_reports_card(struct ts_reports *reports, const struct ts_session *session,
		     struct ts_card *card)
{
	uint64_t key = ts_reports_key(reports, session);
	struct ts_buf path = TS_BUF_INIT;
	bool good = ts_cards_find(reports->cards, key, card);

	TS_ASSERT(reports && session && card);
	if (!good && session->kind == TS_SESSION_REPORT)
		good = ts_cards_read(session, session->files[0].path, card);
	else if (!good && own_report(reports, session, &path))
		good = ts_cards_read(session, (const char *)path.p, card);
	ts_buf_release(&path);
	if (good)
		ts_cards_keep(reports->cards, key, card);
	return good;
}

/* A place among those that wait for an analysis. False: all are taken. */
static bool queue_up(struct ts_reports *reports)
{
	bool has_room;

	pthread_mutex_lock(&reports->lock);
	has_room = reports->nr_waiting < TS_REPORTS_WAITING;
	reports->nr_waiting += has_room;
	pthread_mutex_unlock(&reports->lock);
	return has_room;
}

/* What a report is kept under. */
static bool reports_put_key(struct ts_buf *key, const struct question *question,
			    const struct ts_session *session)
{
	const struct ts_part *of = question->of;
	char id[TS_REPORTS_ID];

	ts_reports_id(session, id);
	ts_buf_printf(key, "%s %s", id, question->part->name);
	if (of) /* a text of the client's stands last, with its length in front */
		ts_buf_printf(key, " %" PRId64 " %" PRId64 " %zu %s/%s", of->from_ps, of->to_ps,
			      of->host ? strlen(of->host) : 0, of->host ? of->host : "",
			      of->device ? of->device : "");
	ts_buf_putc(key, '\0');
	return !key->failed;
}

/* Of a report; without one, of WHY there is none. */
static void keep_card(struct ts_reports *reports, const struct ts_session *session,
		      struct ts_bytes report, const struct ts_error *why)
{
	struct ts_card card;

	if (why || !ts_card_read(&card, report)) {
		ts_card_init(&card);
		snprintf(card.problem, sizeof(card.problem), "%s",
			 why && why->text[0] ? why->text : "out of memory");
	}
	ts_cards_keep(reports->cards, ts_reports_key(reports, session), &card);
}

/* Makes the text of a report, and notes what a list wants to know of it. */
static enum ts_status reports_make(void *ctx, const struct ts_session *session, struct ts_buf *text,
				   struct ts_error *err)
{
	const struct question *question = ctx;
	enum ts_status st = reports_make_report(question, session, text, err);

	if (st == TS_OK && !question->of && !question->part->results)
		keep_card(question->reports, session, ts_buf_bytes(text), NULL);
	return st;
}

static struct ts_body *make_kept(const struct ts_reports_job *job, uint64_t signature,
				 struct ts_error *err)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_body *body = NULL;

	if (job->make(job->ctx, job->sessions[0], &text, err) == TS_OK)
		body = ts_body_new(&text, true);
	if (body)
		reports_keep(job->reports, job->key, signature, body);
	ts_buf_release(&text);
	return body;
}

/* One analysis runs at a time; a client that waited for it finds the report kept. */
struct ts_answer ts_reports_do(const struct ts_reports_job *job)
{
	struct ts_answer answer = { 200, "application/json", NULL };
	struct ts_reports *reports = job->reports;
	struct ts_error err = TS_ERROR_INIT;
	uint64_t signature = 0;

	TS_ASSERT(reports && job->key && job->nr_sessions > 0);
	for (size_t i = 0; i < job->nr_sessions; i++)
		signature = reports_mix(signature, signature_of(job->sessions[i]));
	answer.body = take_kept(reports, job->key, signature);
	if (answer.body)
		return answer;
	if (!queue_up(reports))
		return ts_answer_error(503, "%d clients wait for a report already (try again)",
				       TS_REPORTS_WAITING);
	pthread_mutex_lock(&reports->maker);
	answer.body = take_kept(reports, job->key, signature);
	if (!answer.body)
		answer.body = make_kept(job, signature, &err);
	pthread_mutex_unlock(&reports->maker);
	pthread_mutex_lock(&reports->lock);
	TS_ASSERT(reports->nr_waiting > 0);
	reports->nr_waiting--;
	pthread_mutex_unlock(&reports->lock);
	if (!answer.body)
		answer = ts_answer_error(err.status == TS_NOTFOUND ? 404
					 : err.status == TS_HALTED ? 503
								   : 422,
					 "%s", err.text[0] ? err.text : "out of memory");
	return answer;
}

/* The session with this id; without an id the only one. */
static const struct ts_session *find_session(const struct ts_runs *runs, const char *id)
{
	if (!id)
		return runs->nr_sessions == 1 ? &runs->sessions[0] : NULL;
	for (size_t i = 0; i < runs->nr_sessions; i++) {
		char own[TS_REPORTS_ID];

		ts_reports_id(&runs->sessions[i], own);
		if (strcmp(own, id) == 0)
			return &runs->sessions[i];
	}
	return NULL;
}

const struct ts_session *ts_reports_session(const struct ts_reports *reports,
					    const struct ts_runs *runs, const char *id)
{
	const struct ts_session *session = find_session(runs, id);

	TS_ASSERT(reports && runs && id);
	return session && ts_reports_serve(reports, session) ? session : NULL;
}

const struct ts_reports_options *ts_reports_options(const struct ts_reports *reports)
{
	TS_ASSERT(reports);
	return &reports->options;
}

struct ts_answer ts_reports_ask(struct ts_reports *reports, const char *id, ts_reports_fn *fn,
				void *ctx)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_answer answer = { .body = NULL };
	const struct ts_session *session = NULL;
	bool is_found;

	TS_ASSERT(reports != NULL && fn != NULL);
	id = id && id[0] ? id : NULL;
	if (ts_reports_find(reports, &runs, &err) == TS_OK)
		session = find_session(&runs, id);
	is_found = session && ts_reports_serve(reports, session);
	if (is_found)
		answer = fn(ctx, session);
	ts_runs_release(&runs);
	if (is_found)
		return answer;
	return id ? ts_answer_error(404, "no run has this id (/api/runs lists them)")
		  : ts_answer_error(400, "which run? (?run=ID; /api/runs lists them)");
}

static struct ts_answer reports_answer_question(void *ctx, const struct ts_session *session)
{
	struct question *question = ctx;
	struct ts_buf key = TS_BUF_INIT;
	struct ts_reports_job job = {
		question->reports, NULL, &session, 1, reports_make, question
	};
	struct ts_answer answer;

	if (session->kind == TS_SESSION_REPORT && (question->part->results || question->of))
		return ts_answer_error(404, "a report that was made before has no parts "
					    "(/api/report?run=ID is the whole report)");
	if (reports_put_key(&key, question, session)) {
		job.key = (const char *)key.p;
		answer = ts_reports_do(&job);
	} else {
		answer = ts_answer_error(422, "out of memory");
	}
	ts_buf_release(&key);
	return answer;
}

struct ts_answer ts_reports_get(struct ts_reports *reports, const struct ts_reports_part *part,
				const struct ts_part *of, const char *id,
				const struct ts_halt *halt)
{
	struct question question = { reports, part, of && !ts_part_is_all(of) ? of : NULL,
				     reports->options.nr_threads, halt };

	TS_ASSERT(part != NULL);
	return ts_reports_ask(reports, id, reports_answer_question, &question);
}

void ts_reports_look(struct ts_reports *reports, const struct ts_session *session,
		     const struct ts_halt *halt)
{
	static const struct ts_reports_part figures = { "figures", NULL, false };
	const struct question question = { reports, &figures, NULL, 1, halt };
	struct ts_buf text = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = reports_make_report(&question, session, &text, &err);

	TS_ASSERT(reports && session);
	if (st != TS_HALTED)
		keep_card(reports, session, ts_buf_bytes(&text), st ? &err : NULL);
	ts_buf_release(&text);
}
