/* annotate: analyse every session found and write the annotations beside the profiles. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/units.h"
#include "flow/run.h"
#include "flow/stream.h"
#include "flow/trace.h"
#include "overlay/apply.h"
#include "write/breakdown.h"
#include "write/report_json.h"
#include "write/summary.h"

/* The Perfetto file of one session: how it is made, and what became of it. */
struct trace_job {
	const struct ts_run *run;
	struct ts_trace_plan plan;
	struct ts_trace_options options;
	struct ts_trace_report report;
	bool made;
};

static enum ts_status write_trace(void *ctx, struct ts_newfile *file, struct ts_error *err)
{
	struct trace_job *job = ctx;

	job->made = true;
	return ts_trace_write(file, &job->run->profile, &job->run->results, &job->plan, ts_stream_line,
			      &job->options, &job->report, err);
}

/* A file whose bytes are damaged is not touched: who knows where its planes end. */
static bool is_damaged(const struct ts_profile *profile)
{
	struct ts_error err = TS_ERROR_INIT;
	bool damaged = false;

	for (size_t i = 0; i < profile->nr_damage; i++) {
		const struct ts_damage *damage = &profile->damage[i];

		if (damage->minor)
			continue;
		if (damage->offset)
			ts_fail(&err, TS_FORMAT, "%.*s: byte %llu: %.*s (copy the profile again)",
				TS_ARG(damage->file), (unsigned long long)damage->offset,
				TS_ARG(damage->cause));
		else
			ts_fail(&err, TS_FORMAT, "%.*s: %.*s (copy the profile again)",
				TS_ARG(damage->file), TS_ARG(damage->cause));
		ts_complain(err.text);
		damaged = true;
	}
	return damaged;
}

static const char *const thing_names[] = {
	[TS_THING_OVERLAY] = "xplane overlay",       [TS_THING_SUGGESTIONS] = "suggestions",
	[TS_THING_REPORT] = "report",		     [TS_THING_TRACE] = TS_TRACE_FILE,
	[TS_THING_CACHE_VERSION] = "cache_version.txt",
};

static const char *const deed_names[] = {
	[TS_DEED_WRITTEN] = "wrote",	 [TS_DEED_UNCHANGED] = "unchanged",
	[TS_DEED_RESTORED] = "restored", [TS_DEED_REMOVED] = "removed",
	[TS_DEED_SKIPPED] = "skipped",	 [TS_DEED_FAILED] = "failed",
};

struct deed_sum {
	size_t nr;
	uint64_t nr_bytes;
};

static struct deed_sum sum_of(const struct ts_overlay_report *report, enum ts_overlay_thing thing,
			      enum ts_overlay_deed deed)
{
	struct deed_sum sum = { 0, 0 };

	for (size_t i = 0; i < report->nr_entries; i++)
		if (report->entries[i].thing == thing && report->entries[i].deed == deed) {
			sum.nr++;
			sum.nr_bytes += report->entries[i].nr_bytes;
		}
	return sum;
}

/* "wrote 1 xplane overlay (1.1 MiB), perfetto_trace.json.gz (2.9 MiB), suggestions, report" */
static void put_deeds(struct ts_buf *out, const struct ts_overlay_report *report, enum ts_overlay_deed deed,
		      const char *verb)
{
	static const enum ts_overlay_thing order[] = { TS_THING_OVERLAY, TS_THING_TRACE,
						       TS_THING_SUGGESTIONS, TS_THING_REPORT };
	const char *separator = " ";
	bool any = false;

	for (size_t i = 0; i < TS_NELEM(order); i++) {
		struct deed_sum sum = sum_of(report, order[i], deed);
		char bytes[TS_UNIT_MAX];

		if (sum.nr == 0)
			continue;
		if (!any)
			ts_buf_puts(out, verb);
		any = true;
		ts_buf_puts(out, separator);
		separator = ", ";
		if (order[i] == TS_THING_OVERLAY)
			ts_buf_printf(out, "%zu ", sum.nr);
		ts_buf_puts(out, thing_names[order[i]]);
		if (order[i] == TS_THING_OVERLAY && sum.nr > 1)
			ts_buf_putc(out, 's');
		if (sum.nr_bytes && order[i] <= TS_THING_TRACE && order[i] != TS_THING_SUGGESTIONS &&
		    order[i] != TS_THING_REPORT)
			ts_buf_printf(out, " (%s)", ts_fmt_bytes(bytes, (double)sum.nr_bytes));
	}
	if (any)
		ts_buf_puts(out, ". ");
}

static void put_failures(const struct ts_overlay_report *report)
{
	for (size_t i = 0; i < report->nr_entries; i++)
		if (report->entries[i].deed == TS_DEED_FAILED || report->entries[i].deed == TS_DEED_SKIPPED)
			ts_complain(report->entries[i].why);
}

static void put_details(struct ts_buf *out, const struct ts_overlay_report *report)
{
	for (size_t i = 0; i < report->nr_entries; i++)
		ts_buf_printf(out, "  %-9s %s\n", deed_names[report->entries[i].deed],
			      report->entries[i].name);
	if (report->nr_caches)
		ts_buf_printf(out, "  removed   %zu cache files of XProf's (it makes them anew)\n",
			      report->nr_caches);
	if (report->nr_stale)
		ts_buf_printf(out, "  removed   %zu temporary files of a run that was killed\n",
			      report->nr_stale);
}

static void put_left_out(struct ts_buf *out, const struct trace_job *job)
{
	if (job->made && job->report.events_left_out)
		ts_buf_printf(out, "%s holds the %llu longest of %llu events (--max-trace-events=0: all)\n",
			      TS_TRACE_FILE, (unsigned long long)job->report.events_written,
			      (unsigned long long)job->report.events_total);
}

static void say(const struct ts_cli *cli, const struct ts_session *session, const struct ts_run *run,
		const struct ts_overlay_report *report, const struct trace_job *job)
{
	struct ts_report form = { .width = ts_terminal_width(), .color = ts_use_color(cli) };
	struct ts_buf out = TS_BUF_INIT;
	const struct ts_result *time = ts_results_find(&run->results, "time");

	ts_summary_text(&out, &run->results, &form);
	if (cli->verbose && time)
		ts_breakdown_of_time(&out, time);
	put_deeds(&out, report, TS_DEED_WRITTEN, cli->dry_run ? "would write" : "wrote");
	put_deeds(&out, report, TS_DEED_UNCHANGED, "unchanged:");
	if (!cli->dry_run)
		ts_buf_printf(&out, "Undo: tpusight-annotate --strip %s", session->dir);
	ts_buf_putc(&out, '\n');
	put_left_out(&out, job);
	if (cli->verbose)
		put_details(&out, report);
	ts_buf_putc(&out, '\n');
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static enum ts_status apply(const struct ts_cli *cli, const struct ts_session *session, struct ts_run *run,
			    struct trace_job *job, struct ts_error *err)
{
	const struct ts_report form = { .generator = "tpusight", .version = PACKAGE_VERSION, .pretty = true };
	struct ts_overlay_options options = { .dry_run = cli->dry_run };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	struct ts_overlay_plan plan = {
		.profile = &run->profile,
		.results = &run->results,
		.inputs = run->inputs,
		.write_trace = cli->no_trace ? NULL : write_trace,
		.trace_ctx = job,
	};
	struct ts_buf json = TS_BUF_INIT;
	enum ts_status st = ts_report_json(&json, &run->results, &form, err);

	if (st == TS_OK && json.failed)
		st = ts_fail_nomem(err);
	if (st == TS_OK) {
		plan.report_json = ts_buf_bytes(&json);
		st = ts_overlay_apply(session, &plan, &options, &report, err);
		ts_progress(cli, NULL);
		put_failures(&report);
		if (!cli->quiet)
			say(cli, session, run, &report, job);
	}
	ts_buf_release(&json);
	ts_overlay_report_release(&report);
	return st;
}

static enum ts_status analyse(const struct ts_cli *cli, struct ts_run *run, struct trace_job *job,
			      struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = cli->nr_threads, .settings = &cli->settings,
					  .overlay_budget = (size_t)cli->max_overlay_events };
	struct ts_observer observer;
	enum ts_status st = TS_OK;

	if (!cli->no_trace) {
		st = ts_trace_plan_init(&job->plan, &run->profile, err);
		observer = ts_trace_plan_observer(&job->plan);
		options.observer = &observer;
	}
	if (st == TS_OK)
		st = ts_run_analyse(run, &options, err);
	if (st == TS_OK && !cli->no_trace)
		st = ts_trace_plan_close(&job->plan, cli->max_trace_events, err);
	return st;
}

static enum ts_status annotate_session(const struct ts_cli *cli, const struct ts_session *session,
				       struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = cli->nr_threads, .settings = &cli->settings };
	struct ts_run run;
	struct trace_job job = { .run = &run };
	enum ts_status st;

	job.options = (struct ts_trace_options){ .nr_threads = cli->nr_threads, .version = PACKAGE_VERSION };
	if (session->kind == TS_SESSION_STREAM)
		return ts_fail(err, TS_USAGE, "standard input cannot be annotated (tpusight report reads it)");
	ts_run_init(&run);
	st = ts_run_open(&run, session, &options, err);
	if (st == TS_OK && run.nr_unpacked > 0)
		st = ts_fail(err, TS_UNSUPPORTED, "%s: a profile inside an archive cannot be annotated "
			     "(unpack it first; tpusight report reads it)", session->files[0].path);
	for (size_t i = 0; i < run.nr_problems; i++)
		ts_complain(run.problems[i]);
	if (st == TS_OK)
		st = analyse(cli, &run, &job, err);
	if (st == TS_OK && is_damaged(&run.profile))
		st = ts_fail(err, TS_FORMAT, "%s: nothing was written", session->dir);
	if (st == TS_OK)
		st = apply(cli, session, &run, &job, err);
	if (st == TS_OK && run.nr_problems > 0)
		st = ts_fail(err, TS_FORMAT, "%s: %zu profiles could not be read", session->dir,
			     run.nr_problems);
	ts_trace_plan_release(&job.plan);
	ts_run_release(&run);
	return st;
}

static enum ts_status strip_session(const struct ts_cli *cli, const struct ts_session *session,
				    struct ts_error *err)
{
	struct ts_overlay_options options = { .dry_run = cli->dry_run };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	struct ts_buf out = TS_BUF_INIT;
	enum ts_status st = ts_overlay_strip(session, &options, &report, err);

	put_failures(&report);
	if (!cli->quiet) {
		size_t nr = report.nr_entries;

		ts_buf_printf(&out, "%s: %s\n", session->dir,
			      nr == 0	     ? "no annotation was there" :
			      st	     ? "not all of the annotation is out" :
			      cli->dry_run ? "would remove the annotation" :
					     "annotation removed, every file is as it was");
		if (cli->verbose)
			put_details(&out, &report);
		ts_print(ts_buf_bytes(&out));
	}
	ts_buf_release(&out);
	ts_overlay_report_release(&report);
	return st;
}

static enum ts_exit run_annotate(struct ts_cli *cli)
{
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
		st = cli->strip ? strip_session(cli, &runs.sessions[i], &err) :
				  annotate_session(cli, &runs.sessions[i], &err);
		ts_progress(cli, NULL);
		nr_done += st == TS_OK;
		nr_bad += st != TS_OK;
		if (st)
			ts_complain(err.text);
	}
	ts_runs_release(&runs);
	if (nr_done == 0)
		return TS_EXIT_NOTHING;
	return nr_bad ? TS_EXIT_SOME : TS_EXIT_DONE;
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
	if (strcmp(value, "json") != 0 && strcmp(value, "none") != 0)
		return ts_fail(err, TS_USAGE, "%s is neither json nor none (this version writes no other)",
			       value);
	cli->no_trace = strcmp(value, "none") == 0;
	return TS_OK;
}

static enum ts_status set_count(uint64_t *count, const char *value, struct ts_error *err)
{
	if (!ts_bytes_u64(ts_bytes_of(value), count) || *count > INT64_MAX)
		return ts_fail(err, TS_USAGE, "%s is no number of events", value);
	return TS_OK;
}

static enum ts_status set_trace_events(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return set_count(&cli->max_trace_events, value, err);
}

static enum ts_status set_overlay_events(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return set_count(&cli->max_overlay_events, value, err);
}

static const struct ts_option options[] = {
	{ "strip", 0, NULL, "remove every annotation: all files are again as they were", set_strip },
	{ "dry-run", 'n', NULL, "say what would be done, write nothing", set_dry_run },
	{ "perfetto", 0, "FORM", "json (default) or none", set_perfetto },
	{ "max-trace-events", 0, "N", "events in the Perfetto file (default 1000000; 0: all)", set_trace_events },
	{ "max-overlay-events", 0, "N", "events in the overlay, a host (default 200000)", set_overlay_events },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_annotate = {
	.name = "annotate",
	.summary = "Analyse profile sessions and write the findings into them, for XProf and Perfetto to show.",
	.arguments = "PATH...",
	.help = "PATH is a TensorBoard log directory (searched for **/plugins/profile/<session>/), one session\n"
		"directory, or one profile file. Written beside each profile: an overlay behind the xplane's own\n"
		"bytes (XProf's trace viewer), suggestions (XProf's overview), perfetto_trace.json.gz\n"
		"(ui.perfetto.dev) and ALL_HOSTS.tpusight.json, the whole report. Files are replaced whole or not\n"
		"at all; --strip brings back every byte.",
	.options = options,
	.run = run_annotate,
};
