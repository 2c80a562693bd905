/* SPDX-License-Identifier: MIT */
/*
 * Reports of the runs below the given paths. A report is made when it is asked for, and kept while
 * the files of its run do not change.
 *
 * A run has an id, a hash of its folder's path, so that no path comes from outside. The paths are
 * searched again for each list, so a new session is there at once. Many clients that ask for one
 * report wait for one analysis. One run is analysed at a time, as an analysis uses all threads, and in a process
 * of its own: a profile that breaks it breaks that report alone.
 * More than TS_REPORTS_WAITING clients do not wait for one; the next is told to come again (status 503).
 * What is kept is bounded by TS_REPORTS_BYTES; the report that was not used for longest is dropped
 * first.
 */
#ifndef TS_SERVE_REPORTS_H
#define TS_SERVE_REPORTS_H

#include "serve/answer.h"
#include "serve/child.h"

struct ts_part;
struct ts_remote;
struct ts_session;
struct ts_settings;

#define TS_REPORTS_BYTES   ((size_t)256 << 20)
#define TS_REPORTS_WAITING 256
#define TS_REPORTS_LOOK_MS 5000 /* between looks into a bucket */

struct ts_reports_options {
	char *const *paths; /* must outlive the reports */
	size_t nr_paths, nr_threads;
	const struct ts_settings *settings;
	const char *generator, *version;
	size_t max_track_items;
	bool join_sessions;
	struct ts_remote *remote; /* of paths that are URLs (remote/remote.h); NULL: none is */
};

/* A part of the report that has an address of its own. */
struct ts_reports_part {
	const char *name;
	const char *const *results; /* names of results, NULL at the end; NULL: all results */
	bool has_tracks;
	size_t tree_rows; /* run/run.h */
	bool interleave;  /* events of all lines as one, whatever the profile (run/run.h) */
};

extern const struct ts_reports_part ts_reports_whole;

struct ts_reports;

struct ts_reports *ts_reports_new(
	const struct ts_reports_options *options); /* before threads; NULL: no memory */
void ts_reports_free(struct ts_reports *reports);

/* May be called on any thread. */
/* OF: what of the run; NULL: all of it. HALT: whether its client is still there; NULL: that is not asked. */
struct ts_answer ts_reports_get(struct ts_reports *reports, const struct ts_reports_part *part,
				const struct ts_part *of, const char *id,
				const struct ts_halt *halt);
/* What FN answers of the session with this ID; of the only one, where ID is NULL. */
typedef struct ts_answer ts_reports_fn(void *ctx, const struct ts_session *session);
struct ts_answer ts_reports_ask(struct ts_reports *reports, const char *id, ts_reports_fn *fn,
				void *ctx);

/* --- what lists are made of */

#define TS_REPORTS_ID 17 /* 16 digits and a NUL */

struct ts_card;
struct ts_runs;

/* All sessions below the paths, those that may not be shown among them. */
enum ts_status ts_reports_find(struct ts_reports *reports, struct ts_runs *runs,
			       struct ts_error *err);
bool ts_reports_serve(const struct ts_reports *reports, const struct ts_session *session);
void ts_reports_id(const struct ts_session *session, char id[TS_REPORTS_ID]);
/* Of a run and how its files look, the report beside them too. */
uint64_t ts_reports_key(const struct ts_reports *reports, const struct ts_session *session);
/* What is known of a run without an analysis. False: nothing. */
bool ts_reports_card(struct ts_reports *reports, const struct ts_session *session,
		     struct ts_card *card);
/* Analyses a run for its card, on this thread alone: nobody who waits for a report is held up. */
void ts_reports_look(struct ts_reports *reports, const struct ts_session *session,
		     const struct ts_halt *halt);

/* --- for answers of other kinds that are made of runs */

const struct ts_reports_options *ts_reports_options(const struct ts_reports *reports);
/* The one with this id; NULL: none that may be shown has it. */
const struct ts_session *ts_reports_session(const struct ts_reports *reports,
					    const struct ts_runs *runs, const char *id);

/* An answer that is kept under a key while the sessions' files do not change. It is made when nothing else is. */
struct ts_reports_job {
	struct ts_reports *reports;
	const char *key;
	const struct ts_session *const *sessions; /* one at least */
	size_t nr_sessions;
	enum ts_status (*make)(void *ctx, const struct ts_session *session, struct ts_buf *text,
			       struct ts_error *err); /* SESSION: the first */
	void *ctx;
};
struct ts_answer ts_reports_do(const struct ts_reports_job *job);
/* FN makes the text of it, in a process of its own (child.h) unless it is of a bucket; its .ctx are the reports. */
enum ts_status ts_reports_make(struct ts_reports *reports, ts_child_fn *fn,
			       struct ts_bytes question, const struct ts_halt *halt,
			       struct ts_buf *text, struct ts_error *err);

#endif
