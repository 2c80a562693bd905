/* SPDX-License-Identifier: MIT */
/* annotate: analyse every session found and write the annotations beside the profiles. */
#include "cli/annotate.h"

#include <math.h>

#include "base/buf.h"
#include "cli/deeds.h"
#include "cli/each_session.h"
#include "codec/json.h"
#include "codec/term.h"
#include "cli/mount.h"
#include "run/strip.h"
#include "read/seams.h"
#include "overlay/cache.h"
#include "write/breakdown.h"
#include "write/screen.h"
#include "write/summary.h"
#include "result/schema/time.def"

static void cmd_annotate_put_left_out(struct ts_buf *out, const struct ts_annotation *one)
{
	for (size_t i = 0; i < TS_NR_TRACE_KINDS; i++) {
		const struct ts_annotated_trace *trace = &one->traces[i];

		if (trace->made && trace->report.events_left_out)
			ts_buf_printf(out,
				      "%s holds the %llu longest of %llu events "
				      "(--max-trace-events=0: all)\n",
				      trace->file, (unsigned long long)trace->report.events_written,
				      (unsigned long long)trace->report.events_total);
	}
}

/* Traces whose text strict readers of JSON refuse, and what became of that in their copies. */
static void cmd_annotate_put_refused(struct ts_buf *out, const struct ts_annotation *one,
				     enum ts_copy_form form)
{
	const struct ts_profile *profile = &one->run.profile;

	for (size_t i = 0; i < profile->nr_hosts; i++) {
		struct ts_bytes refused = profile->hosts[i].not_strict;

		if (refused.n == 0)
			continue;
		ts_term_text(out, profile->hosts[i].file);
		ts_buf_printf(out, ", %.*s: viewers refuse such JSON; %s\n", TS_ARG(refused),
			      form == TS_COPY_EXACT ? "the copy has it as it is"
						    : "it is mended in the copy "
						      "(--copy=exact keeps it)");
	}
}

/*
 * Traces with stamps since the epoch. Perfetto's importer of JSON reads them as doubles of microseconds, which are further
 * apart than a ns from 2^42 us on.
 */
static void cmd_annotate_put_coarse(struct ts_buf *out, const struct ts_annotation *one)
{
	const struct ts_profile *profile = &one->run.profile;
	struct ts_seams seams;

	for (uint32_t i = 0; i < profile->nr_hosts; i++) {
		double us, apart_us;

		if (!ts_seams_of(profile, i, &seams))
			continue;
		us = (double)seams.base_us;
		apart_us = nextafter(us, INFINITY) - us;
		if (us < (double)(INT64_C(1) << 42))
			continue;
		ts_term_text(out, profile->hosts[i].file);
		ts_buf_printf(out,
			      ": its stamps are so late that Perfetto reads them to %.0f ns; "
			      "--perfetto=pftrace keeps each nanosecond\n",
			      apart_us * 1000);
	}
}

struct annotate_options {
	bool strip, json;
	struct ts_annotate_choice choice;
};

/* What is done for all sessions of the command line. */
struct work {
	const struct ts_cli *cli;
	const struct annotate_options *own;
	const struct ts_runs *runs;
	struct ts_outcome outcome;
	bool can_undo; /* an annotation is there now */
	struct {
		const char *logdir;  /* for TensorBoard; NULL: there is no profile for it */
		struct ts_buf trace; /* for Perfetto; may be empty */
	} places;		     /* of the first annotated session */
	const char *xprof_version;   /* that is installed; NULL: no memory */
};

static const char *cmd_annotate_place_of(const struct ts_session *session)
{
	return session->kind == TS_SESSION_FILE ? session->files[0].path : session->dir;
}

/* A session as a line of JSON. SUMMARY NULL: it was not analysed. */
static void cmd_annotate_print_json(struct work *work, const char *place,
				    const struct ts_stand_summary *summary,
				    const struct ts_overlay_report *report)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&out, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_put_text(&json, "session", place);
	ts_json_put_bool(&json, "is_dry_run", work->own->choice.dry_run);
	ts_json_put_double(&json, "health_score", summary ? summary->health_score : NAN);
	ts_json_key(&json, "finding_count");
	if (summary)
		ts_json_i64(&json, summary->nr_findings);
	else
		ts_json_null(&json);
	ts_deeds_json(&json, report);
	ts_json_object_end(&json);
	ts_buf_putc(&out, '\n');
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static bool is_one_of_several(const struct work *work)
{
	return work->runs->nr_sessions > 1;
}

static void print_summary(struct work *work, const struct ts_annotation *one)
{
	const struct ts_cli *cli = work->cli;
	struct ts_report form = { .width = ts_terminal_width(), .color = ts_use_color(cli) };
	struct ts_buf out = TS_BUF_INIT;
	const struct ts_result *time = TS_FIND(&one->run.results, time);

	if (is_one_of_several(work))
		ts_summary_row(&out, &one->run.results, &form);
	else
		ts_screen_text(&out, &one->run.results, &form);
	ts_buf_puts(&out, is_one_of_several(work) ? "  " : "\n");
	if (cli->verbose && time) {
		ts_buf_puts(&out, "Time breakdown\n");
		ts_breakdown_of_time(&out, time, form.width);
	}
	ts_deeds_line(&out, &one->report, work->own->choice.dry_run);
	cmd_annotate_put_left_out(&out, one);
	if (work->own->choice.perfetto == TS_PERFETTO_JSON ||
	    work->own->choice.perfetto == TS_PERFETTO_BOTH)
		cmd_annotate_put_refused(&out, one, work->own->choice.copy);
	if (work->own->choice.perfetto == TS_PERFETTO_JSON)
		cmd_annotate_put_coarse(&out, one);
	ts_mount_cost(&out, &one->push);
	if (cli->verbose)
		ts_deeds_list(&out, &one->report);
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

/* It was annotated before, and there is nothing to do. */
static void print_standing(struct work *work, const char *place, const struct ts_annotation *one)
{
	const struct ts_stand_summary *summary = &one->summary;
	struct ts_buf out = TS_BUF_INIT;

	ts_term_text(&out, ts_bytes_of(place));
	ts_buf_puts(&out, ": annotated already, and nothing has changed");
	if (isfinite(summary->health_score))
		ts_buf_printf(&out, "; health %.0f/100, %lld finding%s (tpusight report)",
			      summary->health_score, (long long)summary->nr_findings,
			      summary->nr_findings == 1 ? "" : "s");
	ts_buf_putc(&out, '\n');
	if (work->cli->verbose)
		ts_deeds_list(&out, &one->report);
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static void say_standing(struct work *work, const char *place, const struct ts_annotation *one)
{
	if (work->own->json)
		cmd_annotate_print_json(work, place, &one->summary, &one->report);
	else if (!work->cli->quiet)
		print_standing(work, place, one);
}

/* What a thread did with a session. */
struct done {
	struct ts_annotation one; /* of a strip only .report */
	struct ts_error err;
	enum ts_status st;
};

/* What a session that has all threads may bring along: the one behind it, unless nothing is to be done there. */
static const struct ts_session *cmd_annotate_next_of(const struct work *work,
						     const struct ts_session *session,
						     const struct ts_annotate_options *options)
{
	const struct ts_session *next = session + 1;
	struct ts_annotation one;
	bool stands;

	if (!session->remote || options->nr_threads < work->cli->nr_threads ||
	    next == work->runs->sessions + work->runs->nr_sessions)
		return NULL;
	ts_annotation_init(&one);
	stands = ts_annotation_stands(&one, next, options);
	ts_annotation_release(&one);
	return stands ? NULL : next;
}

static void annotate_session(const struct work *work, struct done *done,
			     const struct ts_session *session, size_t nr_threads,
			     struct ts_meter *meter)
{
	struct ts_annotate_options options = ts_annotate_options_of(work->cli, &work->own->choice);

	options.nr_threads = nr_threads;
	options.meter = meter;
	options.xprof_version = work->xprof_version;
	if (ts_annotation_stands(&done->one, session, &options))
		return;
	options.next = cmd_annotate_next_of(work, session, &options);
	done->st = ts_annotate(&done->one, session, &options, &done->err);
}

/* What to open of the first session that is annotated now: the others lie beside it. */
static void note_places(struct work *work, const struct ts_session *session,
			const struct ts_annotation *one)
{
	static const enum ts_overlay_thing traces[] = { TS_THING_TRACE, TS_THING_PFTRACE,
							TS_THING_COPY };
	const struct ts_overlay_report *report = &one->report;

	work->can_undo = true;
	if (work->places.logdir || work->places.trace.n > 0)
		return;
	if (!one->of_traces)
		work->places.logdir = session->logdir;
	for (size_t i = 0; i < report->nr_entries && work->places.trace.n == 0; i++)
		for (size_t k = 0; k < TS_NELEM(traces); k++)
			if (report->entries[i].thing == traces[k])
				ts_buf_printf(&work->places.trace, "%s/%s", session->dir,
					      report->entries[i].name);
}

static void say_annotation(struct work *work, const struct ts_session *session, struct done *done)
{
	const struct ts_annotation *one = &done->one;

	if (one->stands) {
		note_places(work, session, one);
		say_standing(work, cmd_annotate_place_of(session), one);
		return;
	}
	if (ts_annotation_complain(one))
		done->err = (struct ts_error)TS_ERROR_INIT; /* is on the console already */
	if (!work->own->choice.dry_run && ts_deeds_stand(&one->report))
		note_places(work, session, one);
	if (one->is_applied && work->own->json)
		cmd_annotate_print_json(work, cmd_annotate_place_of(session), &one->summary,
					&one->report);
	else if (one->is_applied && !work->cli->quiet)
		print_summary(work, one);
}

/* LEFT: things that look like ours and stay, each named on the console. */
static const char *strip_words(bool dry_run, enum ts_status st, size_t nr_out, size_t nr_left)
{
	if (nr_out == 0)
		return st || nr_left ? "nothing was removed" : "no annotation was there";
	if (st)
		return "not all of the annotation is out";
	if (dry_run)
		return "would remove the annotation";
	return nr_left ? "annotation removed, but for what is named above"
		       : "annotation removed, every file is as it was";
}

static void print_strip(struct work *work, const char *place,
			const struct ts_overlay_report *report, const struct ts_remote_push *push,
			enum ts_status st)
{
	size_t nr_left = ts_deeds_nr(report, TS_DEED_SKIPPED),
	       nr_failed = ts_deeds_nr(report, TS_DEED_FAILED);
	struct ts_buf out = TS_BUF_INIT;

	ts_term_text(&out, ts_bytes_of(place));
	ts_buf_printf(&out, ": %s\n",
		      strip_words(work->own->choice.dry_run, st,
				  report->nr_entries - nr_left - nr_failed, nr_left));
	ts_mount_cost(&out, push);
	if (work->cli->verbose)
		ts_deeds_list(&out, report);
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static void say_strip(struct work *work, const char *place, const struct ts_overlay_report *report,
		      const struct ts_remote_push *push, enum ts_status st, struct ts_error *err)
{
	if (ts_deeds_failures(report) > 0)
		*err = (struct ts_error)TS_ERROR_INIT; /* is on the console already */
	if (work->own->json)
		cmd_annotate_print_json(work, place, NULL, report);
	else if (!work->cli->quiet)
		print_strip(work, place, report, push, st);
}

/* All of its folder where it is alone there, else what belongs to its files. */
static void strip_session(const struct work *work, struct done *done,
			  const struct ts_session *session, bool is_alone)
{
	struct ts_strip strip = TS_STRIP_INIT;

	strip.dry_run = work->own->choice.dry_run;
	done->st = is_alone ? ts_strip_folder(&strip, session->remote, session->dir, &done->err)
			    : ts_strip(&strip, session, &done->err);
	done->one.report = strip.report;
	done->one.push = strip.push;
}

/* Sessions of DIR are done by then; what they did not know of may be left. Is there nothing, then
 * nothing is said, and nothing counts. */
static void strip_rest(struct work *work, const char *dir)
{
	struct ts_strip strip = TS_STRIP_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st;

	strip.dry_run = work->own->choice.dry_run;
	st = ts_strip_folder(&strip, work->cli->remote, dir, &err);
	if (strip.report.nr_entries > 0)
		say_strip(work, dir, &strip.report, &strip.push, st, &err);
	work->outcome.unwritten |=
		st != TS_FORMAT && ts_deeds_nr(&strip.report, TS_DEED_FAILED) > 0;
	if (st || strip.report.nr_entries > 0)
		ts_outcome_note(&work->outcome, st, &err);
	ts_strip_release(&strip);
}

/* One line for several sessions; what to open, and how to undo it. */
static void print_end(struct work *work)
{
	const struct annotate_options *own = work->own;
	struct ts_buf out = TS_BUF_INIT;

	if (!work->cli->quiet && !own->json) {
		ts_outcome_line(&out, &work->outcome, own->strip ? "stripped" : "annotated");
		if (work->can_undo) {
			ts_buf_putc(&out, '\n');
			ts_deeds_open(&out, work->places.logdir, ts_buf_bytes(&work->places.trace));
			ts_deeds_undo(&out, work->cli->paths, work->cli->nr_paths);
		}
		ts_print(ts_buf_bytes(&out));
	}
	ts_buf_release(&out);
	ts_buf_release(&work->places.trace);
}

/* Is the session the only one of its folder, and was the folder searched? They are in its order. */
static bool cmd_annotate_is_alone(const struct ts_runs *runs, size_t i)
{
	const struct ts_session *one = &runs->sessions[i];

	return one->kind == TS_SESSION_DIR && (i == 0 || strcmp(one[-1].dir, one->dir) != 0) &&
	       (i + 1 == runs->nr_sessions || strcmp(one[1].dir, one->dir) != 0);
}

static void do_session(void *ctx, void *slot, size_t i, size_t nr_threads, struct ts_meter *meter)
{
	const struct work *work = ctx;
	struct done *done = slot;

	const struct ts_session *session = &work->runs->sessions[i];

	*done = (struct done){ .err = TS_ERROR_INIT };
	ts_annotation_init(&done->one);
	if (work->own->strip)
		strip_session(work, done, session, cmd_annotate_is_alone(work->runs, i));
	else
		annotate_session(work, done, session, nr_threads, meter);
}

/* Was it the writing alone that failed? A damaged profile cannot be read, whatever was to be done with it. */
static bool is_unwritten(const struct done *done)
{
	return (done->st != TS_FORMAT && ts_deeds_nr(&done->one.report, TS_DEED_FAILED) > 0) ||
	       (done->st == TS_IO && (done->one.is_analysed || done->one.report.nr_entries > 0));
}

static void say_session(void *ctx, void *slot, size_t i)
{
	const struct ts_session *session;
	struct work *work = ctx;
	struct done *done = slot;

	session = &work->runs->sessions[i];
	if (work->own->strip)
		say_strip(work, cmd_annotate_place_of(session), &done->one.report, &done->one.push,
			  done->st, &done->err);
	else
		say_annotation(work, session, done);
	work->outcome.unwritten |= is_unwritten(done);
	ts_outcome_note(&work->outcome, done->st, &done->err);
	ts_annotation_release(&done->one);
}

static int cmd_annotate_by_dir(const void *key, const void *session)
{
	return strcmp(key, ((const struct ts_session *)session)->dir);
}

/* All folders that were searched, but for those that a session has to itself. */
static void strip_folders(struct work *work, const struct ts_runs *runs)
{
	for (size_t i = 0; i < runs->nr_folders; i++) {
		const struct ts_session *one =
			runs->nr_sessions
				? bsearch(runs->folders[i], runs->sessions, runs->nr_sessions,
					  sizeof(*one), cmd_annotate_by_dir)
				: NULL;

		if (!one || !cmd_annotate_is_alone(runs, (size_t)(one - runs->sessions)))
			strip_rest(work, runs->folders[i]);
	}
}

static void do_sessions(struct work *work)
{
	const struct ts_session_work each = { .ctx = work,
					      .slot_size = sizeof(struct done),
					      .work = do_session,
					      .finish = say_session };
	struct ts_buf version = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	ts_cache_installed(getenv("PATH"), getenv("HOME"), &version);
	ts_buf_putc(&version, '\0');
	work->xprof_version = version.failed ? NULL : (const char *)version.p;
	if (ts_each_session(work->cli, work->runs, &each, &err))
		ts_outcome_note(&work->outcome, err.status, &err);
	ts_buf_release(&version);
}

static enum ts_exit run_annotate(struct ts_cli *cli)
{
	const struct annotate_options *own = cli->own;
	struct ts_runs runs = { .empty_is_fine = own->strip };
	struct work work = { .cli = cli, .own = own, .runs = &runs };
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status found = ts_find_sessions(cli, &runs, &work.outcome.nr_bad, &err);

	work.outcome.nr_empty = own->strip ? 0 : runs.nr_empty;
	if (found) {
		ts_complain(err.text);
		work.outcome.nr_bad++;
	}
	if (!own->strip)
		ts_staged_look_at_reports(&runs);
	do_sessions(&work);
	if (own->strip)
		strip_folders(&work, &runs);
	print_end(&work);
	ts_runs_release(&runs);
	return found && work.outcome.nr_done == 0 ? ts_exit_of(found)
						  : ts_outcome_exit(&work.outcome);
}

static const struct annotate_options defaults = { .choice = TS_ANNOTATE_CHOICE_INIT };

#define OWN struct annotate_options
static const struct ts_option options[] = {
	TS_OPT_FLAG(OWN, strip, "strip", 0,
		    "remove every annotation: all files are again as they were"),
	TS_OPT_FLAG(OWN, json, "json", 0, "print a line of JSON for each session"),
	TS_ANNOTATE_OPTIONS(OWN, choice),
	TS_OPT_END,
};

const struct ts_command ts_command_annotate = {
	.name = "annotate",
	.summary = "Analyse profile sessions and write the findings into them, for XProf and "
		   "Perfetto to show.",
	.arguments = "PATH...",
	.help = "PATH is a TensorBoard log directory (searched for **/plugins/profile/<session>/ "
		"and for traces of\n"
		"PyTorch), one session directory, or one profile file. Written beside each xplane: "
		"an overlay behind\n"
		"its own bytes (XProf's trace viewer), suggestions (XProf's overview), "
		"perfetto_trace.json.gz\n"
		"(ui.perfetto.dev; --perfetto=pftrace: perfetto_trace.pftrace, Perfetto's own "
		"form, with every event)\n"
		"and ALL_HOSTS.tpusight.json, the whole report. A trace (NAME.json, NAME.json.gz) "
		"stays as it is: beside\n"
		"it come NAME.tpusight.json.gz, the trace with our findings and rows in it "
		"(--perfetto=pftrace:\n"
		"NAME.tpusight.pftrace, where no slice is lost on import), and the report. Files "
		"are replaced\n"
		"whole or not at all; --strip brings back every byte. ui.perfetto.dev reads a "
		"trace on your machine;\n"
		"its Share button uploads it.",
	.options = options,
	.own_size = sizeof(OWN),
	.defaults = &defaults,
	.has_thresholds = true,
	.needs = TS_WRITES_INSIDE,
	.run = run_annotate,
};
