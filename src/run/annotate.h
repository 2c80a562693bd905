/* SPDX-License-Identifier: MIT */
/*
 * One session, from its files to its annotation: read, see that it can be annotated, analyse, write.
 *
 *	struct ts_annotation one;
 *
 *	ts_annotation_init(&one);
 *	st = ts_annotate(&one, session, &options, err);
 *	... .run has the results, its problems and what is damaged, .report what became of each file
 *	ts_annotation_release(&one);
 */
#ifndef TS_RUN_ANNOTATE_H
#define TS_RUN_ANNOTATE_H

#include "run/run.h"
#include "trace/trace.h"
#include "overlay/apply.h"

#define TS_MAX_OVERLAY_EVENTS 200000
#define TS_MAX_TRACE_EVENTS   1000000 /* of JSON; the default of Perfetto's own form is all */
#define TS_MAX_TRACK_ITEMS    10000   /* in the JSON that pages draw */

struct ts_annotate_options {
	size_t nr_threads;
	const struct ts_settings *settings;
	uint64_t max_overlay_events;	/* a host */
	size_t max_ops, max_steps;	/* in the report (run/run.h) */
	bool traces[TS_NR_TRACE_KINDS]; /* the Perfetto files that are wanted */
	bool ranks;			/* and one of all ranks, where the files are traces */
	bool has_max_trace_events;
	uint64_t max_trace_events; /* 0: all */
	bool exact_copies; /* of traces: what strict readers of JSON refuse stays as it is */
	bool dry_run;
	struct ts_meter *
		meter; /* how much of the analysis is done (run/run.h); NULL: it is not asked for */
	const struct ts_session *next; /* see struct ts_run_options */
	const char *version;	       /* of the program */
	const char *xprof_version;     /* see struct ts_overlay_options */
};

const struct ts_perfetto_form *ts_trace_form(enum ts_trace_kind kind);
/* How many events a file of this kind may have, where the user gave no number, or this one. 0: all. */
uint64_t ts_trace_budget(enum ts_trace_kind kind, bool is_given, uint64_t max_events);

/* A Perfetto file: how many of the events it has. */
struct ts_annotated_trace {
	const char *file;
	bool made;
	struct ts_trace_report report;
};

struct ts_annotation {
	struct ts_run run;
	struct ts_overlay_report report;
	struct ts_annotated_trace traces[TS_NR_TRACE_KINDS];
	bool stands; /* there was nothing to do; .summary is what is known */
	struct ts_stand_summary summary;
	bool is_analysed; /* the results are there, and .run.profile's damage is all there is */
	bool is_applied;  /* .report says what became of the files */
	struct ts_remote_push push; /* of a session in a bucket: what went back */
	bool of_traces;		    /* the files are traces in JSON, which are never written into */
};

void ts_annotation_init(struct ts_annotation *one);
void ts_annotation_release(struct ts_annotation *one);

/*
 * TS_FORMAT: an xplane is damaged, and nothing was written; or some of the files could not be read,
 * and the others are annotated. Files that could not be written are in the report too.
 */
enum ts_status ts_annotate(struct ts_annotation *one, const struct ts_session *session,
			   const struct ts_annotate_options *options, struct ts_error *err);

/*
 * Is the session annotated already, by this program with these options, and has nothing changed since? Then .stands is set,
 * and .report names the files. It looks at sizes and times alone (overlay/stand.h); in doubt it is not.
 */
bool ts_annotation_stands(struct ts_annotation *one, const struct ts_session *session,
			  const struct ts_annotate_options *options);

#endif
