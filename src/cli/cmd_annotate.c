/* annotate: analyse every session found and write the annotations beside the profiles. */
#include "cli/deeds.h"

#include "base/buf.h"
#include "codec/term.h"
#include "flow/annotated.h"
#include "flow/run.h"
#include "flow/stream.h"
#include "flow/trace.h"
#include "overlay/apply.h"
#include "read/reader.h"
#include "write/breakdown.h"
#include "write/report_json.h"
#include "write/summary.h"

/* What --perfetto may be, the default first. */
static const struct ts_trace_choice {
	const char *name;
	bool wants[TS_NR_TRACE_KINDS];
} choices[] = {
	{ "json", { [TS_TRACE_JSON] = true } },
	{ "pftrace", { [TS_TRACE_PFTRACE] = true } },
	{ "both", { [TS_TRACE_JSON] = true, [TS_TRACE_PFTRACE] = true } },
	{ "none", { false } },
};

/* The JSON that viewers take has a limit in practice; Perfetto's own form is for all there is. */
static const struct trace_kind {
	const struct ts_perfetto_form *form;
	const char *file;
	uint64_t max_events; /* where the user does not say; 0: all */
} trace_kinds[TS_NR_TRACE_KINDS] = {
	[TS_TRACE_JSON] = { &ts_perfetto_json, TS_TRACE_FILE, TS_MAX_TRACE_EVENTS },
	[TS_TRACE_PFTRACE] = { &ts_perfetto_pb, TS_PFTRACE_FILE, 0 },
};

/* The Perfetto files of one session: how they are made, and what became of them. */
struct trace_job {
	const struct ts_cli *cli;
	const struct ts_run *run;
	struct ts_trace_plan plan;
	struct trace_file {
		struct trace_job *job;
		const struct trace_kind *kind;
		struct ts_trace_report report;
		bool made;
	} files[TS_NR_TRACE_KINDS];
};

static bool wants_trace(const struct ts_cli *cli, int kind)
{
	const struct ts_trace_choice *choice = cli->traces ? cli->traces : &choices[0];

	return choice->wants[kind];
}

static bool wants_any_trace(const struct ts_cli *cli)
{
	return wants_trace(cli, TS_TRACE_JSON) || wants_trace(cli, TS_TRACE_PFTRACE);
}

static void init_job(struct trace_job *job, const struct ts_cli *cli, const struct ts_run *run)
{
	*job = (struct trace_job){ .cli = cli, .run = run };
	for (int i = 0; i < TS_NR_TRACE_KINDS; i++)
		job->files[i] = (struct trace_file){ .job = job, .kind = &trace_kinds[i] };
}

static size_t nr_read_by(const struct ts_profile *profile, const char *reader)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		nr += strcmp(ts_readers[profile->hosts[i].reader]->name, reader) == 0;
	return nr;
}

/* Traces in JSON are never written into: copies of them stand beside. */
static bool is_of_traces(const struct ts_profile *profile)
{
	return profile->nr_hosts > 0 && nr_read_by(profile, "chrome") == profile->nr_hosts;
}

static enum ts_status write_trace(void *ctx, struct ts_newfile *file, struct ts_error *err)
{
	struct trace_file *trace = ctx;
	struct trace_job *job = trace->job;
	const struct ts_cli *cli = job->cli;
	struct ts_trace_options options = { .form = trace->kind->form,
					    .nr_threads = cli->nr_threads,
					    .version = PACKAGE_VERSION };
	uint64_t max_events = cli->has_max_trace_events ? cli->max_trace_events :
							  trace->kind->max_events;
	enum ts_status st = ts_trace_plan_close(&job->plan, max_events, err);

	trace->made = true;
	return st ? st :
		    ts_trace_write(file, &job->run->profile, &job->run->results, &job->plan,
				   ts_stream_line, &options, &trace->report, err);
}

static bool tell_damage(const struct ts_profile *profile, const char *remedy)
{
	bool damaged = false;

	for (size_t i = 0; i < profile->nr_damage; i++) {
		if (profile->damage[i].minor)
			continue;
		ts_complain_of_damage(&profile->damage[i], remedy);
		damaged = true;
	}
	return damaged;
}

/* The annotated copies of a session's traces, one a file. */
struct copy_job {
	const struct ts_cli *cli;
	const struct ts_run *run;
	uint32_t host;
	const char *source;
};

static enum ts_status write_copy(void *ctx, struct ts_newfile *file, struct ts_error *err)
{
	const struct copy_job *job = ctx;
	struct ts_annotated_options options = { .nr_threads = job->cli->nr_threads,
						.version = PACKAGE_VERSION,
						.source = job->source };

	return ts_annotated_write(file, &job->run->profile, job->host, &job->run->results,
				  &options, NULL, err);
}

static uint32_t host_of(const struct ts_profile *profile, const char *path)
{
	uint32_t host = 0;

	while (host < profile->nr_hosts && !ts_bytes_is(profile->hosts[host].file, path))
		host++;
	return host;
}

/* COPIES and JOBS: one for each file of the session; of those that could not be read none is made. */
static void plan_copies(const struct ts_cli *cli, const struct ts_session *session,
			const struct ts_run *run, struct copy_job *jobs,
			struct ts_overlay_trace *copies)
{
	for (size_t i = 0; i < session->nr_files; i++) {
		const struct ts_hostfile *file = &session->files[i];
		uint32_t host = host_of(&run->profile, file->path);

		if (host == run->profile.nr_hosts)
			continue;
		jobs[i] = (struct copy_job){ cli, run, host, file->name };
		copies[i] = (struct ts_overlay_trace){ write_copy, &jobs[i] };
	}
}

static void put_left_out(struct ts_buf *out, const struct trace_job *job)
{
	for (size_t i = 0; i < TS_NR_TRACE_KINDS; i++) {
		const struct trace_file *trace = &job->files[i];

		if (trace->made && trace->report.events_left_out)
			ts_buf_printf(out,
				      "%s holds the %llu longest of %llu events "
				      "(--max-trace-events=0: all)\n",
				      trace->kind->file,
				      (unsigned long long)trace->report.events_written,
				      (unsigned long long)trace->report.events_total);
	}
}

/* What is done for all sessions of the command line. */
struct work {
	const struct ts_cli *cli;
	size_t nr_shown; /* sessions with a summary on the console */
	bool can_undo;	 /* an annotation is there now */
	bool is_mute;	 /* standard output cannot be written */
};

static void say(struct work *work, const struct ts_run *run, const struct ts_overlay_report *report,
		const struct trace_job *job)
{
	const struct ts_cli *cli = work->cli;
	struct ts_report form = { .width = ts_terminal_width(), .color = ts_use_color(cli) };
	struct ts_buf out = TS_BUF_INIT;
	const struct ts_result *time = ts_results_find(&run->results, "time");

	ts_buf_puts(&out, work->nr_shown++ ? "\n" : "");
	ts_summary_text(&out, &run->results, &form);
	if (cli->verbose && time)
		ts_breakdown_of_time(&out, time);
	ts_deeds_line(&out, report, cli->dry_run);
	put_left_out(&out, job);
	if (cli->verbose)
		ts_deeds_list(&out, report);
	work->is_mute |= !ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

/* Each of sibling sessions gets the overlays of its own hosts, and the report of all; the first one has
 * the Perfetto files of all. */
static enum ts_status apply_to_all(const struct ts_session *session,
				   const struct ts_overlay_plan *plan,
				   const struct ts_overlay_options *options,
				   struct ts_overlay_report *report, struct ts_error *err)
{
	struct ts_overlay_plan part = *plan;
	enum ts_status st = TS_OK;

	if (!session->members)
		return ts_overlay_apply(session, plan, options, report, err);
	for (size_t i = 0; i < session->nr_members; i++) {
		const struct ts_session *member = &session->members[i];
		struct ts_error story = TS_ERROR_INIT;
		enum ts_status one = ts_overlay_apply(member, &part, options, report, &story);

		if (one && !st) {
			st = one;
			*err = story;
		}
		part.inputs += member->nr_files;
		part.copies += part.copies ? member->nr_files : 0;
		memset(part.traces, 0, sizeof(part.traces));
		if (part.of_traces && !session->owns_folder)
			part.report_json = (struct ts_bytes){ NULL, 0 }; /* the first has it */
	}
	return st;
}

/* What shall be there, as far as it is not written yet. */
static enum ts_status apply_plan(struct work *work, const struct ts_session *session,
				 struct ts_run *run, const struct ts_overlay_plan *plan,
				 struct trace_job *job, struct ts_error *err)
{
	const struct ts_cli *cli = work->cli;
	struct ts_overlay_options options = { .dry_run = cli->dry_run };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	enum ts_status st = apply_to_all(session, plan, &options, &report, err);

	ts_progress(cli, NULL);
	if (ts_deeds_failures(&report) > 0)
		*err = (struct ts_error)TS_ERROR_INIT; /* has been told */
	work->can_undo |= !cli->dry_run && ts_deeds_stand(&report);
	if (!cli->quiet)
		say(work, run, &report, job);
	ts_overlay_report_release(&report);
	return st;
}

static enum ts_status apply(struct work *work, const struct ts_session *session, struct ts_run *run,
			    struct trace_job *job, struct ts_error *err)
{
	const struct ts_report form = { .generator = "tpusight",
					.version = PACKAGE_VERSION,
					.pretty = true,
					.max_track_items = TS_MAX_TRACK_ITEMS };
	struct ts_overlay_plan plan = {
		.profile = &run->profile,
		.results = &run->results,
		.inputs = run->inputs,
		.of_traces = is_of_traces(&run->profile),
	};
	struct ts_overlay_trace *copies = calloc(session->nr_files, sizeof(*copies));
	struct copy_job *jobs = calloc(session->nr_files, sizeof(*jobs));
	struct ts_buf json = TS_BUF_INIT;
	enum ts_status st = copies && jobs ? TS_OK : ts_fail_nomem(err);

	for (int i = 0; i < TS_NR_TRACE_KINDS; i++)
		if (wants_trace(work->cli, i) && !plan.of_traces)
			plan.traces[i] = (struct ts_overlay_trace){ write_trace, &job->files[i] };
	if (st == TS_OK && plan.of_traces && wants_trace(work->cli, TS_TRACE_JSON)) {
		plan_copies(work->cli, session, run, jobs, copies);
		plan.copies = copies;
	}
	if (st == TS_OK)
		st = ts_report_json(&json, &run->results, &form, err);
	if (st == TS_OK && json.failed)
		st = ts_fail_nomem(err);
	plan.report_json = ts_buf_bytes(&json);
	if (st == TS_OK)
		st = apply_plan(work, session, run, &plan, job, err);
	ts_buf_release(&json);
	free(copies);
	free(jobs);
	return st;
}

static enum ts_status analyse(const struct ts_cli *cli, struct ts_run *run, struct trace_job *job,
			      struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = cli->nr_threads, .settings = &cli->settings,
					  .overlay_budget = (size_t)cli->max_overlay_events };
	struct ts_observer observer;
	enum ts_status st = TS_OK;

	if (wants_any_trace(cli) && !is_of_traces(&run->profile)) {
		st = ts_trace_plan_init(&job->plan, &run->profile, err);
		observer = ts_trace_plan_observer(&job->plan);
		options.observer = &observer;
	}
	return st ? st : ts_run_analyse(run, &options, err);
}

static enum ts_status cannot_annotate(const struct ts_session *session, struct ts_error *err)
{
	const char *path = session->files[0].path;

	if (strcmp(path, "-") == 0)
		return ts_fail(err, TS_USAGE,
			       "standard input cannot be annotated (name a file; tpusight "
			       "report reads standard input)");
	return ts_fail(err, TS_USAGE,
		       "%s: no plain file, so it cannot be annotated (name a profile, a "
		       "session or a log directory)",
		       path);
}

/* What has no place for an annotation, or none of the kind that is asked for. */
static enum ts_status can_annotate(const struct ts_cli *cli, const struct ts_session *session,
				   const struct ts_run *run, struct ts_error *err)
{
	const struct ts_profile *profile = &run->profile;
	const char *path = session->files[0].path;
	size_t nr_xplanes = nr_read_by(profile, "xplane"), nr_traces = nr_read_by(profile, "chrome");

	if (run->nr_unpacked > 0)
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: a profile inside an archive cannot be annotated "
			       "(unpack it first; tpusight report reads it)",
			       path);
	if (nr_xplanes + nr_traces < profile->nr_hosts)
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: only xplanes and traces are annotated (tpusight report reads it)",
			       path);
	if (nr_xplanes > 0 && nr_traces > 0)
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: xplanes and traces are not annotated as one run (leave out "
			       "--join-sessions)",
			       path);
	if (nr_traces > 0 && wants_trace(cli, TS_TRACE_PFTRACE))
		return ts_fail(err, TS_USAGE,
			       "%s: the annotated copy of a trace is JSON, as the trace is "
			       "(--perfetto=json, or none)",
			       path);
	for (size_t i = 0; nr_traces > 0 && i < run->nr_inputs; i++)
		if (ts_trace_is_ours(run->inputs[i].bytes, &ts_perfetto_json))
			return ts_fail(err, TS_UNSUPPORTED,
				       "%s: made by TPUsight from an xplane that is gone "
				       "(profile again)",
				       session->files[i].path);
	return TS_OK;
}

/* An xplane whose bytes are damaged is not touched: who knows where its planes end. A trace is only
 * read, and its copy is closed where it ends. */
static enum ts_status check_damage(const struct ts_session *session,
				   const struct ts_profile *profile, struct ts_error *err)
{
	if (is_of_traces(profile)) {
		tell_damage(profile, "copy it again; the annotated trace ends there too");
		return TS_OK;
	}
	if (tell_damage(profile, "copy the profile again"))
		return ts_fail(err, TS_FORMAT, "%s: nothing was written", session->dir);
	return TS_OK;
}

static enum ts_status annotate_session(struct work *work, const struct ts_session *session,
				       struct ts_error *err)
{
	const struct ts_cli *cli = work->cli;
	struct ts_run_options options = { .nr_threads = cli->nr_threads,
					  .settings = &cli->settings };
	struct ts_run run;
	struct trace_job job;
	enum ts_status st;

	init_job(&job, cli, &run);
	if (session->kind == TS_SESSION_STREAM)
		return cannot_annotate(session, err);
	ts_run_init(&run);
	st = ts_run_open(&run, session, &options, err);
	if (st == TS_OK)
		st = can_annotate(cli, session, &run, err);
	for (size_t i = 0; i < run.nr_problems; i++)
		ts_complain(run.problems[i]);
	if (st == TS_OK)
		st = analyse(cli, &run, &job, err);
	if (st == TS_OK)
		st = check_damage(session, &run.profile, err);
	if (st == TS_OK)
		st = apply(work, session, &run, &job, err);
	if (st == TS_OK && run.nr_problems > 0)
		st = ts_fail(err, TS_FORMAT, "%s: %zu profiles could not be read", session->dir,
			     run.nr_problems);
	ts_trace_plan_release(&job.plan);
	ts_run_release(&run);
	return st;
}

static const char *strip_words(const struct ts_cli *cli, enum ts_status st, size_t nr_entries)
{
	if (nr_entries == 0)
		return st ? "nothing was removed" : "no annotation was there";
	if (st)
		return "not all of the annotation is out";
	return cli->dry_run ? "would remove the annotation" :
			      "annotation removed, every file is as it was";
}

static enum ts_status strip_session(struct work *work, const struct ts_session *session,
				    struct ts_error *err)
{
	const struct ts_cli *cli = work->cli;
	struct ts_overlay_options options = { .dry_run = cli->dry_run };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	struct ts_buf out = TS_BUF_INIT;
	enum ts_status st = ts_overlay_strip(session, &options, &report, err);

	ts_progress(cli, NULL);
	if (ts_deeds_failures(&report) > 0)
		*err = (struct ts_error)TS_ERROR_INIT; /* has been told */
	if (!cli->quiet) {
		ts_term_text(&out, ts_bytes_of(session->kind == TS_SESSION_FILE ?
						       session->files[0].path :
						       session->dir));
		ts_buf_printf(&out, ": %s\n", strip_words(cli, st, report.nr_entries));
		if (cli->verbose)
			ts_deeds_list(&out, &report);
		work->is_mute |= !ts_print(ts_buf_bytes(&out));
	}
	ts_buf_release(&out);
	ts_overlay_report_release(&report);
	return st;
}

static void say_undo(struct work *work)
{
	struct ts_buf out = TS_BUF_INIT;

	if (!work->can_undo || work->cli->quiet)
		return;
	ts_buf_puts(&out, work->nr_shown > 1 ? "\n" : "");
	ts_deeds_undo(&out, work->cli->paths, work->cli->nr_paths);
	work->is_mute |= !ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static enum ts_exit run_annotate(struct ts_cli *cli)
{
	struct work work = { .cli = cli };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	size_t nr_bad = 0, nr_done = 0;

	if (ts_find_sessions(cli, &runs, &nr_bad, &err)) {
		ts_complain(err.text);
		nr_bad++;
	}
	for (size_t i = 0; i < runs.nr_sessions; i++) {
		enum ts_status st;

		ts_progress(cli, runs.sessions[i].dir);
		st = cli->strip ? strip_session(&work, &runs.sessions[i], &err) :
				  annotate_session(&work, &runs.sessions[i], &err);
		ts_progress(cli, NULL);
		nr_done += st == TS_OK;
		nr_bad += st != TS_OK;
		if (st && err.text[0])
			ts_complain(err.text);
	}
	say_undo(&work);
	ts_runs_release(&runs);
	if (nr_done == 0)
		return TS_EXIT_NOTHING;
	return nr_bad || work.is_mute ? TS_EXIT_SOME : TS_EXIT_DONE;
}

static enum ts_status set_strip(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->strip = true;
	return TS_OK;
}

static enum ts_status set_dry_run(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->dry_run = true;
	return TS_OK;
}

static enum ts_status set_perfetto(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	for (size_t i = 0; i < TS_NELEM(choices); i++) {
		if (strcmp(value, choices[i].name) == 0) {
			cli->traces = &choices[i];
			return TS_OK;
		}
	}
	return ts_fail(err, TS_USAGE, "%s is none of json, pftrace, both and none", value);
}

static enum ts_status set_count(uint64_t *count, const char *value, struct ts_error *err)
{
	if (!ts_bytes_u64(ts_bytes_of(value), count) || *count > INT64_MAX)
		return ts_fail(err, TS_USAGE, "%s is no number of events", value);
	return TS_OK;
}

static enum ts_status set_trace_events(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	cli->has_max_trace_events = true;
	return set_count(&cli->max_trace_events, value, err);
}

static enum ts_status set_overlay_events(struct ts_cli *cli, const char *value,
					 struct ts_error *err)
{
	return set_count(&cli->max_overlay_events, value, err);
}

static const struct ts_option options[] = {
	{ "strip", 0, NULL, "remove every annotation: all files are again as they were",
	  set_strip },
	{ "dry-run", 'n', NULL, "say what would be done, write nothing", set_dry_run },
	{ "perfetto", 0, "FORM", "json (default), pftrace, both or none", set_perfetto },
	{ "max-trace-events", 0, "N",
	  "events in a Perfetto file (default 1000000, pftrace all; 0: all)", set_trace_events },
	{ "max-overlay-events", 0, "N", "events in the overlay, a host (default 200000)",
	  set_overlay_events },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_annotate = {
	.name = "annotate",
	.summary = "Analyse profile sessions and write the findings into them, for XProf and "
		   "Perfetto to show.",
	.arguments = "PATH...",
	.help = "PATH is a TensorBoard log directory (searched for **/plugins/profile/<session>/ and for "
		"traces of\n"
		"PyTorch), one session directory, or one profile file. Written beside each xplane: an "
		"overlay behind\n"
		"its own bytes (XProf's trace viewer), suggestions (XProf's overview), "
		"perfetto_trace.json.gz\n"
		"(ui.perfetto.dev; --perfetto=pftrace: perfetto_trace.pftrace, Perfetto's own form, with "
		"every event)\n"
		"and ALL_HOSTS.tpusight.json, the whole report. A trace (NAME.json, NAME.json.gz) stays as "
		"it is: beside\n"
		"it come NAME.tpusight.json.gz, the trace with our findings and rows in it, and the report. "
		"Files are\n"
		"replaced whole or not at all; --strip brings back every byte.",
	.options = options,
	.run = run_annotate,
};
