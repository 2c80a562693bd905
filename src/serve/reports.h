/*
 * Reports of the runs below the given paths. A report is made when it is asked for, and kept while
 * the files of its run do not change.
 *
 * A run has an id, a hash of its folder's path, so that no path comes from outside. The paths are
 * searched again for each list, so a new session is there at once. Many clients that ask for one
 * report wait for one analysis. One run is analysed at a time, as an analysis uses all threads.
 * More than TS_REPORTS_WAITING clients do not wait for one; the next is told to come again (status 503).
 * What is kept is bounded by TS_REPORTS_BYTES; the report that was not used for longest is dropped
 * first.
 */
#ifndef TS_SERVE_REPORTS_H
#define TS_SERVE_REPORTS_H

#include "serve/answer.h"

struct ts_session;
struct ts_settings;

#define TS_REPORTS_BYTES   ((size_t)256 << 20)
#define TS_REPORTS_WAITING 256

struct ts_reports_options {
	char *const *paths; /* must outlive the reports */
	size_t nr_paths, nr_threads;
	const struct ts_settings *settings;
	const char *generator, *version;
	size_t max_track_items;
	bool join_sessions;
};

/* A part of the report that has an address of its own. */
struct ts_reports_part {
	const char *name;
	const char *const *results; /* names of results, NULL at the end; NULL: all results */
	bool has_tracks;
	size_t tree_rows; /* flow/run.h */
	bool interleave;  /* events of all lines as one, whatever the profile (flow/run.h) */
};

struct ts_reports;

struct ts_reports *ts_reports_new(const struct ts_reports_options *options); /* NULL: no memory */
void ts_reports_free(struct ts_reports *reports);

/* May be called on any thread. */
struct ts_answer ts_reports_list(struct ts_reports *reports);
struct ts_answer ts_reports_get(struct ts_reports *reports, const struct ts_reports_part *part,
				const char *id);
/* What FN answers of the session with this ID; of the only one, where ID is NULL. */
typedef struct ts_answer ts_reports_fn(void *ctx, const struct ts_session *session);
struct ts_answer ts_reports_ask(struct ts_reports *reports, const char *id, ts_reports_fn *fn,
				void *ctx);

#endif
