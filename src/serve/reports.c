/* Reports on demand. */
#include "serve/reports.h"

#include <inttypes.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/map.h"
#include "codec/json.h"
#include "flow/run.h"
#include "io/siblings.h"
#include "serve/roots.h"
#include "write/report_json.h"

#define ID_BYTES 17 /* 16 digits and a NUL */

struct kept {
	char id[ID_BYTES];
	const struct ts_reports_part *part;
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
};

struct ts_reports *ts_reports_new(const struct ts_reports_options *options)
{
	TS_ASSERT(options != NULL && options->settings != NULL);
	TS_ASSERT(options->paths != NULL || options->nr_paths == 0);

	struct ts_reports *reports = calloc(1, sizeof(*reports));

	if (!reports)
		return NULL;
	reports->options = *options;
	if (pthread_mutex_init(&reports->lock, NULL) != 0) {
		free(reports);
		return NULL;
	}
	if (pthread_mutex_init(&reports->maker, NULL) != 0) {
		pthread_mutex_destroy(&reports->lock);
		free(reports);
		return NULL;
	}
	return reports;
}

void ts_reports_free(struct ts_reports *reports)
{
	if (!reports)
		return;
	for (size_t i = 0; i < reports->nr_kept; i++)
		ts_body_drop(reports->kept[i].body);
	free(reports->kept);
	pthread_mutex_destroy(&reports->maker);
	pthread_mutex_destroy(&reports->lock);
	free(reports);
}

static enum ts_status find_runs(const struct ts_reports *reports, struct ts_runs *runs,
				struct ts_error *err)
{
	const struct ts_reports_options *options = &reports->options;

	for (size_t i = 0; i < options->nr_paths; i++) {
		struct ts_error story = TS_ERROR_INIT;

		if (ts_runs_find(runs, options->paths[i], &story) == TS_NOMEM)
			return ts_fail_nomem(err);
	}
	return options->join_sessions ? ts_runs_join(runs, err) : TS_OK;
}

static void id_of(const struct ts_session *session, char id[ID_BYTES])
{
	uint64_t hash = ts_hash(ts_bytes_of(session->dir), 1);

	if (session->kind != TS_SESSION_DIR) /* files of one folder */
		hash = ts_hash(ts_bytes_of(session->files[0].name), hash);
	snprintf(id, ID_BYTES, "%016" PRIx64, hash);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return ts_hash((struct ts_bytes){ (const uint8_t *)&value, sizeof(value) }, hash);
}

static uint64_t signature_of(const struct ts_session *session)
{
	uint64_t hash = session->nr_files;

	for (size_t i = 0; i < session->nr_files; i++) {
		struct stat st;

		hash = ts_hash(ts_bytes_of(session->files[i].name), hash);
		if (stat(session->files[i].path, &st) != 0)
			continue;
		hash = mix(hash, (uint64_t)st.st_size);
		hash = mix(hash, (uint64_t)st.st_mtim.tv_sec);
		hash = mix(hash, (uint64_t)st.st_mtim.tv_nsec);
		hash = mix(hash, (uint64_t)st.st_ino);
	}
	return hash;
}

static bool is_served(const struct ts_reports *reports, const struct ts_session *session)
{
	return ts_roots_hold(reports->options.paths, reports->options.nr_paths, session);
}

static int newest_first(const void *a, const void *b)
{
	const struct ts_session *x = *(const struct ts_session *const *)a;
	const struct ts_session *y = *(const struct ts_session *const *)b;
	int order = strcmp(y->session, x->session);

	return order ? order : strcmp(x->dir, y->dir);
}

static void put_session(struct ts_json *json, const struct ts_session *session)
{
	struct ts_buf title = TS_BUF_INIT;
	char id[ID_BYTES];
	int64_t nr_bytes = 0;

	id_of(session, id);
	ts_json_object(json);
	ts_json_key(json, "id");
	ts_json_text(json, id);
	ts_json_key(json, "title");
	ts_json_text(json, ts_session_title(session, &title));
	ts_json_key(json, "run");
	ts_json_text(json, session->run);
	ts_json_key(json, "session");
	ts_json_text(json, session->session);
	ts_json_key(json, "path");
	ts_json_text(json, ts_session_place(session));
	ts_json_key(json, "hosts");
	ts_json_array(json);
	for (size_t i = 0; i < session->nr_files; i++) {
		ts_json_text(json, session->files[i].host);
		nr_bytes = ts_i64_add(nr_bytes, (int64_t)session->files[i].nr_bytes);
	}
	ts_json_array_end(json);
	ts_json_key(json, "bytes");
	ts_json_i64(json, nr_bytes);
	ts_json_object_end(json);
	ts_buf_release(&title);
}

static void put_outside(struct ts_json *json, const struct ts_session *session)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_printf(&text,
		      "%s: a link leads out of what is served (give tpusight serve the folder that "
		      "it leads to, too)",
		      ts_session_place(session));
	ts_json_string(json, ts_buf_bytes(&text));
	ts_buf_release(&text);
}

/* Those that are served, the newest first. False: no memory. */
static bool put_runs(struct ts_json *json, const struct ts_reports *reports,
		     const struct ts_runs *runs)
{
	const struct ts_session **sorted = calloc(runs->nr_sessions + 1, sizeof(*sorted));
	size_t nr = 0;

	if (!sorted)
		return false;
	for (size_t i = 0; i < runs->nr_sessions; i++)
		if (is_served(reports, &runs->sessions[i]))
			sorted[nr++] = &runs->sessions[i];
	if (nr > 1)
		qsort(sorted, nr, sizeof(*sorted), newest_first);
	for (size_t i = 0; i < nr; i++)
		put_session(json, sorted[i]);
	free(sorted);
	return true;
}

static void put_problems(struct ts_json *json, const struct ts_reports *reports,
			 const struct ts_runs *runs)
{
	for (size_t i = 0; i < runs->nr_problems; i++)
		ts_json_text(json, runs->problems[i]);
	for (size_t i = 0; i < runs->nr_sessions; i++)
		if (!is_served(reports, &runs->sessions[i]))
			put_outside(json, &runs->sessions[i]);
}

struct ts_answer ts_reports_list(struct ts_reports *reports)
{
	TS_ASSERT(reports != NULL);

	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = find_runs(reports, &runs, &err);

	ts_json_object(&json);
	ts_json_key(&json, "runs");
	ts_json_array(&json);
	text.failed |= !put_runs(&json, reports, &runs);
	ts_json_array_end(&json);
	ts_json_key(&json, "problems");
	ts_json_array(&json);
	put_problems(&json, reports, &runs);
	ts_json_array_end(&json);
	ts_json_object_end(&json);
	text.failed |= st != TS_OK;
	ts_runs_release(&runs);
	return ts_answer_json(&text);
}

static struct kept *find_kept(struct ts_reports *reports, const struct ts_reports_part *part,
			      const char *id)
{
	for (size_t i = 0; i < reports->nr_kept; i++)
		if (reports->kept[i].part == part && strcmp(reports->kept[i].id, id) == 0)
			return &reports->kept[i];
	return NULL;
}

/* A use of the body that is kept for the files as they are, or NULL. */
static struct ts_body *take_kept(struct ts_reports *reports, const struct ts_reports_part *part,
				 const char *id, uint64_t signature)
{
	struct ts_body *body = NULL;
	struct kept *kept;

	pthread_mutex_lock(&reports->lock);
	kept = find_kept(reports, part, id);
	if (kept && kept->signature == signature) {
		kept->used = ++reports->clock;
		body = ts_body_use(kept->body);
	}
	pthread_mutex_unlock(&reports->lock);
	return body;
}

static size_t size_of(const struct ts_body *body)
{
	return body->text.n + body->packed.n;
}

/* To be called with the lock held. Drops the reports that were not used for longest until there
 * is room for N more bytes. */
static void make_room(struct ts_reports *reports, size_t n)
{
	for (;;) {
		size_t sum = 0, oldest = 0;

		for (size_t i = 0; i < reports->nr_kept; i++) {
			sum += size_of(reports->kept[i].body);
			if (reports->kept[i].used < reports->kept[oldest].used)
				oldest = i;
		}
		if (reports->nr_kept == 0 || sum + n <= TS_REPORTS_BYTES)
			return;
		ts_body_drop(reports->kept[oldest].body);
		reports->kept[oldest] = reports->kept[--reports->nr_kept];
	}
}

/* Where there is no memory to keep it, it is made again the next time. */
static void keep(struct ts_reports *reports, const struct ts_reports_part *part, const char *id,
		 uint64_t signature, struct ts_body *body)
{
	struct kept *kept;

	TS_ASSERT(body != NULL);
	pthread_mutex_lock(&reports->lock);
	kept = find_kept(reports, part, id);
	if (kept) {
		ts_body_drop(kept->body);
		*kept = reports->kept[--reports->nr_kept];
	}
	make_room(reports, size_of(body));
	if (ts_grow(&reports->kept, &reports->cap_kept, reports->nr_kept + 1, sizeof(*kept))) {
		kept = &reports->kept[reports->nr_kept++];
		*kept = (struct kept){ .part = part,
				       .signature = signature,
				       .body = ts_body_use(body),
				       .used = ++reports->clock };
		memcpy(kept->id, id, ID_BYTES);
	}
	pthread_mutex_unlock(&reports->lock);
}

static enum ts_status make_report(const struct ts_reports *reports,
				  const struct ts_reports_part *part,
				  const struct ts_session *session, struct ts_buf *text,
				  struct ts_error *err)
{
	const struct ts_reports_options *options = &reports->options;
	struct ts_run_options how = { .nr_threads = options->nr_threads,
				      .interleave = part->interleave,
				      .tree_rows = part->tree_rows,
				      .settings = options->settings,
				      .overlay_budget =
					      part->has_tracks ? options->max_track_items : 0 };
	struct ts_report form = { .generator = options->generator,
				  .version = options->version,
				  .only = part->results,
				  .max_track_items = how.overlay_budget };
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

static void leave_queue(struct ts_reports *reports)
{
	pthread_mutex_lock(&reports->lock);
	TS_ASSERT(reports->nr_waiting > 0);
	reports->nr_waiting--;
	pthread_mutex_unlock(&reports->lock);
}

/* One analysis runs at a time; a client that waited for it finds the report kept. */
static struct ts_answer answer_session(struct ts_reports *reports,
				       const struct ts_reports_part *part,
				       const struct ts_session *session, const char *id)
{
	struct ts_answer answer = { 200, "application/json", NULL };
	uint64_t signature = signature_of(session);
	struct ts_buf text = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	answer.body = take_kept(reports, part, id, signature);
	if (answer.body)
		return answer;
	if (!queue_up(reports))
		return ts_answer_error(503, "%d clients wait for a report already (try again)",
				       TS_REPORTS_WAITING);
	pthread_mutex_lock(&reports->maker);
	answer.body = take_kept(reports, part, id, signature);
	if (!answer.body && make_report(reports, part, session, &text, &err) == TS_OK) {
		answer.body = ts_body_new(&text, true);
		if (answer.body)
			keep(reports, part, id, signature, answer.body);
	}
	pthread_mutex_unlock(&reports->maker);
	leave_queue(reports);
	ts_buf_release(&text);
	if (!answer.body)
		answer = ts_answer_error(422, "%s", err.text[0] ? err.text : "out of memory");
	return answer;
}

/* The session with this id; without an id the only one. */
static const struct ts_session *find_session(const struct ts_runs *runs, const char *id)
{
	if (!id)
		return runs->nr_sessions == 1 ? &runs->sessions[0] : NULL;
	for (size_t i = 0; i < runs->nr_sessions; i++) {
		char own[ID_BYTES];

		id_of(&runs->sessions[i], own);
		if (strcmp(own, id) == 0)
			return &runs->sessions[i];
	}
	return NULL;
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
	if (find_runs(reports, &runs, &err) == TS_OK)
		session = find_session(&runs, id);
	is_found = session && is_served(reports, session);
	if (is_found)
		answer = fn(ctx, session);
	ts_runs_release(&runs);
	if (is_found)
		return answer;
	return id ? ts_answer_error(404, "no run has this id (/api/runs lists them)")
		  : ts_answer_error(400, "which run? (?run=ID; /api/runs lists them)");
}

struct question {
	struct ts_reports *reports;
	const struct ts_reports_part *part;
};

static struct ts_answer answer_question(void *ctx, const struct ts_session *session)
{
	const struct question *question = ctx;
	char id[ID_BYTES];

	id_of(session, id);
	return answer_session(question->reports, question->part, session, id);
}

struct ts_answer ts_reports_get(struct ts_reports *reports, const struct ts_reports_part *part,
				const char *id)
{
	struct question question = { reports, part };

	TS_ASSERT(part != NULL);
	return ts_reports_ask(reports, id, answer_question, &question);
}
