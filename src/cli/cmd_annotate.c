/* annotate: analyse every session found and write the annotations beside the profiles. */
#include "cli/annotate.h"

#include "base/buf.h"
#include "cli/deeds.h"
#include "codec/json.h"
#include "codec/term.h"
#include "write/breakdown.h"
#include "write/summary.h"

static void put_left_out(struct ts_buf *out, const struct ts_annotation *one)
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

struct annotate_options {
	bool strip, json;
	struct ts_annotate_choice choice;
};

/* What is done for all sessions of the command line. */
struct work {
	const struct ts_cli *cli;
	const struct annotate_options *own;
	struct ts_progress progress;
	size_t nr_bad, nr_done;
	size_t nr_shown; /* sessions with a summary on the console */
	bool can_undo;	 /* an annotation is there now */
};

static const char *place_of(const struct ts_session *session)
{
	return session->kind == TS_SESSION_FILE ? session->files[0].path : session->dir;
}

/* A session as a line of JSON. DOCTOR NULL: it was not analysed. */
static void print_json(struct work *work, const char *place, const struct ts_result *doctor,
		       const struct ts_overlay_report *report)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&out, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_key(&json, "session");
	ts_json_text(&json, place);
	ts_json_key(&json, "is_dry_run");
	ts_json_bool(&json, work->own->choice.dry_run);
	ts_json_key(&json, "health_score");
	ts_json_double(&json, ts_value_number(ts_result_get(doctor, "health_score")));
	ts_json_key(&json, "finding_count");
	if (doctor)
		ts_json_i64(&json, (int64_t)doctor->nr_findings);
	else
		ts_json_null(&json);
	ts_deeds_json(&json, report);
	ts_json_object_end(&json);
	ts_buf_putc(&out, '\n');
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static void print_summary(struct work *work, const struct ts_annotation *one)
{
	const struct ts_cli *cli = work->cli;
	struct ts_report form = { .width = ts_terminal_width(), .color = ts_use_color(cli) };
	struct ts_buf out = TS_BUF_INIT;
	const struct ts_result *time = ts_results_find(&one->run.results, "time");

	ts_buf_puts(&out, work->nr_shown++ ? "\n" : "");
	ts_summary_text(&out, &one->run.results, &form);
	if (cli->verbose && time)
		ts_breakdown_of_time(&out, time);
	ts_deeds_line(&out, &one->report, work->own->choice.dry_run);
	put_left_out(&out, one);
	if (cli->verbose)
		ts_deeds_list(&out, &one->report);
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static enum ts_status annotate_session(struct work *work, const struct ts_session *session,
				       struct ts_error *err)
{
	const struct ts_cli *cli = work->cli;
	struct ts_annotate_options options = ts_annotate_options_of(cli, &work->own->choice);
	struct ts_annotation one;
	enum ts_status st;

	options.meter = ts_progress_meter(&work->progress);
	ts_annotation_init(&one);
	st = ts_annotate(&one, session, &options, err);
	ts_progress_end(&work->progress);
	if (ts_annotation_complain(&one))
		*err = (struct ts_error)TS_ERROR_INIT; /* is on the console already */
	work->can_undo |= !options.dry_run && ts_deeds_stand(&one.report);
	if (one.is_applied && work->own->json)
		print_json(work, place_of(session), ts_results_find(&one.run.results, "doctor"),
			   &one.report);
	else if (one.is_applied && !cli->quiet)
		print_summary(work, &one);
	ts_annotation_release(&one);
	return st;
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
			const struct ts_overlay_report *report, enum ts_status st)
{
	size_t nr_left = ts_deeds_nr(report, TS_DEED_SKIPPED),
	       nr_failed = ts_deeds_nr(report, TS_DEED_FAILED);
	struct ts_buf out = TS_BUF_INIT;

	ts_term_text(&out, ts_bytes_of(place));
	ts_buf_printf(&out, ": %s\n",
		      strip_words(work->own->choice.dry_run, st,
				  report->nr_entries - nr_left - nr_failed, nr_left));
	if (work->cli->verbose)
		ts_deeds_list(&out, report);
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static void say_strip(struct work *work, const char *place, const struct ts_overlay_report *report,
		      enum ts_status st, struct ts_error *err)
{
	ts_progress_end(&work->progress);
	if (ts_deeds_failures(report) > 0)
		*err = (struct ts_error)TS_ERROR_INIT; /* is on the console already */
	if (work->own->json)
		print_json(work, place, NULL, report);
	else if (!work->cli->quiet)
		print_strip(work, place, report, st);
}

/* All of its folder where it is alone there, else what belongs to its files. */
static enum ts_status strip_session(struct work *work, const struct ts_session *session,
				    bool is_alone, struct ts_error *err)
{
	struct ts_overlay_options options = { .dry_run = work->own->choice.dry_run };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	enum ts_status st;

	if (is_alone)
		st = ts_overlay_strip_folder(session->dir, &options, &report, err);
	else
		st = ts_overlay_strip(session, &options, &report, err);
	say_strip(work, place_of(session), &report, st, err);
	ts_overlay_report_release(&report);
	return st;
}

static void count(struct work *work, enum ts_status st, const struct ts_error *err)
{
	work->nr_done += st == TS_OK;
	work->nr_bad += st != TS_OK;
	if (st && err->text[0])
		ts_complain(err->text);
}

/* Sessions of DIR are done by then; what they did not know of may be left. Is there nothing, then
 * nothing is said, and nothing counts. */
static void strip_rest(struct work *work, const char *dir)
{
	struct ts_overlay_options options = { .dry_run = work->own->choice.dry_run };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = ts_overlay_strip_folder(dir, &options, &report, &err);

	if (report.nr_entries > 0)
		say_strip(work, dir, &report, st, &err);
	if (st || report.nr_entries > 0)
		count(work, st, &err);
	ts_overlay_report_release(&report);
}

static void print_undo(struct work *work)
{
	struct ts_buf out = TS_BUF_INIT;

	if (!work->can_undo || work->cli->quiet || work->own->json)
		return;
	ts_buf_puts(&out, work->nr_shown > 1 ? "\n" : "");
	ts_deeds_undo(&out, work->cli->paths, work->cli->nr_paths);
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

/* Is the session the only one of its folder, and was the folder searched? They are in its order. */
static bool is_alone(const struct ts_runs *runs, size_t i)
{
	const struct ts_session *one = &runs->sessions[i];

	return one->kind == TS_SESSION_DIR && (i == 0 || strcmp(one[-1].dir, one->dir) != 0) &&
	       (i + 1 == runs->nr_sessions || strcmp(one[1].dir, one->dir) != 0);
}

static void do_session(struct work *work, const struct ts_runs *runs, size_t i)
{
	const struct ts_session *session = &runs->sessions[i];
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st;

	ts_progress_begin(&work->progress, work->cli, session->dir);
	st = work->own->strip ? strip_session(work, session, is_alone(runs, i), &err)
			      : annotate_session(work, session, &err);
	ts_progress_end(&work->progress);
	count(work, st, &err);
}

static int by_dir(const void *key, const void *session)
{
	return strcmp(key, ((const struct ts_session *)session)->dir);
}

/* All folders that were searched, but for those that a session has to itself. */
static void strip_folders(struct work *work, const struct ts_runs *runs)
{
	for (size_t i = 0; i < runs->nr_folders; i++) {
		const struct ts_session *one =
			runs->nr_sessions ? bsearch(runs->folders[i], runs->sessions,
						    runs->nr_sessions, sizeof(*one), by_dir)
					  : NULL;

		if (!one || !is_alone(runs, (size_t)(one - runs->sessions)))
			strip_rest(work, runs->folders[i]);
	}
}

static enum ts_exit run_annotate(struct ts_cli *cli)
{
	const struct annotate_options *own = cli->own;
	struct work work = { .cli = cli, .own = own };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status found = ts_find_sessions(cli, &runs, &work.nr_bad, &err);

	if (found) {
		ts_complain(err.text);
		work.nr_bad++;
	}
	for (size_t i = 0; i < runs.nr_sessions; i++)
		do_session(&work, &runs, i);
	if (own->strip)
		strip_folders(&work, &runs);
	print_undo(&work);
	ts_runs_release(&runs);
	if (work.nr_done == 0)
		return found ? ts_exit_of(found) : TS_EXIT_NOTHING;
	return work.nr_bad ? TS_EXIT_SOME : TS_EXIT_DONE;
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
		"and for "
		"traces of\n"
		"PyTorch), one session directory, or one profile file. Written beside each xplane: "
		"an "
		"overlay behind\n"
		"its own bytes (XProf's trace viewer), suggestions (XProf's overview), "
		"perfetto_trace.json.gz\n"
		"(ui.perfetto.dev; --perfetto=pftrace: perfetto_trace.pftrace, Perfetto's own "
		"form, with "
		"every event)\n"
		"and ALL_HOSTS.tpusight.json, the whole report. A trace (NAME.json, NAME.json.gz) "
		"stays as "
		"it is: beside\n"
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
