/* SPDX-License-Identifier: MIT */
/*
 * A run that is analysed where its files lie: each file by itself on whatever machine has it (map),
 * what came of that put together on one (reduce). From files to files:
 *
 *	map outline	a file of the run -> its outline: all but the events
 *	reduce outline	these -> the run's outline: one profile, as if all files had been read
 *	map pass	a file, the run's outline -> the states of its lines
 *	reduce report	the run's outline, these -> results
 *	map overlay	a file, the run's results -> what is drawn behind it, its part of the trace
 *	map tracks	a file, the run's results -> what the page draws of it
 *	reduce trace	the run's results, these -> the trace of the run
 *
 * The results are those of ts_run_analyse() on one machine with all files, to the last bit. For an
 * analysis sees the same on both: map pass reads its file into its place in the run's profile, where
 * ops, lines and devices have their numbers; and states are summed in the order of the run's lines.
 *
 * All take and give bytes; files are the caller's. Equal input gives equal bytes.
 */
#ifndef TS_POD_MAP_H
#define TS_POD_MAP_H

#include "analysis/settings.h"
#include "run/annotate.h"
#include "pod/saved.h"

/* Of the run as a whole; it goes from reduce outline to all that follows. */
struct ts_map_options {
	const struct ts_settings *settings;
	size_t max_ops, max_steps; /* as in struct ts_run_options */
	size_t overlay_budget;	   /* likewise, of map overlay; 0: nothing is drawn */
	bool has_max_trace_events;
	uint64_t max_trace_events; /* as in struct ts_annotate_options */
	bool interleave, no_python;
};

/*
 * The outline of the session's one file, appended to OUT. A file whose bytes cannot be read has an
 * outline, too: it says why (*PROBLEM, in the run; NULL: it was read), and the run goes on without it, as
 * it does on one machine. Of the SETTINGS those that say what is input count; the names must outlive the run. RUN
 * is only initialised; the caller's to release.
 */
enum ts_status ts_map_outline(struct ts_run *run, const struct ts_session *session,
			      const struct ts_settings *settings, size_t nr_threads,
			      struct ts_buf *out, const char **problem, struct ts_error *err);

/* A file that an earlier step wrote, and what messages call it. */
struct ts_map_input {
	struct ts_bytes bytes;
	const char *path;
};

/* The run's outline of those of its files, in any order. */
enum ts_status ts_reduce_outline(const struct ts_map_input *outlines, size_t nr,
				 const struct ts_map_options *options, struct ts_buf *out,
				 struct ts_error *err);

/* The states of the session's one file, appended to OUT. RUN is only initialised. */
enum ts_status ts_map_pass(struct ts_run *run, const struct ts_session *session,
			   const struct ts_map_input *outline, size_t nr_threads,
			   struct ts_buf *out, struct ts_error *err);

/* The run's results, of its outline and the states of all its files, in any order, and of their tracks, if any of them
 * are given. RUN is only initialised; its profile has no events. RESULTS gets what map overlay needs; NULL: nothing does. */
enum ts_status ts_reduce_report(struct ts_run *run, const struct ts_map_input *outline,
				const struct ts_map_input *states, size_t nr,
				struct ts_buf *results, struct ts_error *err);

/* What is drawn of a file goes to these. */
struct ts_map_drawing {
	struct ts_buf *tail;
	struct ts_buf *tracks;	 /* for the report; NULL: they are not asked for */
	struct ts_buf *trace;	 /* for reduce trace; likewise */
	enum ts_trace_kind kind; /* of it */
	const char *
		problem; /* in the run: the tail is left out, because the file would be too large; NULL: it is not */
};

/*
 * The overlay of the session's one file, appended to the tail: the bytes that ts_annotate() on one machine puts
 * behind it. They may be none. TS_UNSUPPORTED: the file is not an xplane. RUN is only initialised.
 */
enum ts_status ts_map_overlay(struct ts_run *run, const struct ts_session *session,
			      const struct ts_map_input *results, size_t nr_threads,
			      struct ts_map_drawing *drawing, struct ts_error *err);

/* What `tpusight report` on one machine draws on its page of the session's one file, of any kind, appended to OUT. RUN is
 * only initialised. */
enum ts_status ts_map_tracks(struct ts_run *run, const struct ts_session *session,
			     const struct ts_map_input *results, size_t nr_threads,
			     struct ts_buf *out, struct ts_error *err);

/* The trace of the run, of its results and the traces of all its files, in any order, into FILE, which the caller
 * opens and commits. RUN is only initialised. */
enum ts_status ts_reduce_trace(struct ts_run *run, const struct ts_map_input *results,
			       const struct ts_map_input *traces, size_t nr, const char *version,
			       struct ts_newfile *file, struct ts_error *err);

#endif
