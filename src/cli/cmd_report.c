/* SPDX-License-Identifier: MIT */
/* report: one report, to the console or a file. */
#include "cli/cli.h"
#include "cli/each_session.h"

#include "analysis/analysis.h"
#include "base/buf.h"
#include "base/check.h"
#include "run/annotate.h"
#include "picture/picture.h"
#include "run/run.h"
#include "cli/report.h"
#include "write/screen.h"
#include "write/summary.h"

const char *ts_format_at(const struct ts_command *command, size_t index)
{
	return ts_outputs[index] ? ts_outputs[index]->name : NULL;
}

static bool cmd_report_is_page(const struct ts_print_options *print)
{
	return print->format && strcmp(print->format, "html") == 0;
}

/* The page draws them; a program that reads JSON asks for them. */
static bool cmd_report_wants_tracks(const struct ts_print_options *print)
{
	return print->tracks || cmd_report_is_page(print);
}

static bool is_to_file(const struct ts_print_options *print)
{
	return print->output && strcmp(print->output, "-") != 0;
}

struct ts_report ts_report_form(const struct ts_cli *cli, const struct ts_print_options *print)
{
	struct ts_report form = print->form;

	TS_ASSERT(cli && print);
	form.generator = "tpusight";
	form.version = PACKAGE_VERSION;
	form.pretty = true;
	form.color = !is_to_file(print) && ts_use_color(cli);
	form.width = is_to_file(print) ? 0 : ts_terminal_width();
	form.max_track_items = cmd_report_wants_tracks(print) ? TS_MAX_TRACK_ITEMS : 0;
	if (print->all && !form.top && (form.view || cli->entry->suite))
		form.top = SIZE_MAX;
	return form;
}

enum ts_status ts_check_rows(const struct ts_print_options *print, struct ts_error *err)
{
	const char *format = print->format ? print->format : "text";

	TS_ASSERT(print);
	if ((!print->form.sort && !print->form.top) || strcmp(format, "text") == 0 ||
	    strcmp(format, "csv") == 0)
		return TS_OK;
	return ts_fail(err, TS_USAGE, "--%s goes with text and csv: %s has all rows",
		       print->form.sort ? "sort" : "top", format);
}

enum ts_status ts_emit_report(const struct ts_cli *cli, const struct ts_print_options *print,
			      const struct ts_results *results, struct ts_buf *out,
			      struct ts_error *err)
{
	const struct ts_output *output = ts_output_find(print->format ? print->format : "text");
	struct ts_report form = ts_report_form(cli, print);
	size_t before = out->n;
	enum ts_status st;

	TS_ASSERT(cli && print && results && out);
	TS_ASSERT(output); /* the option has let no other name through */
	st = ts_check_rows(print, err);
	if (st == TS_OK)
		st = output->emit(out, results, &form, err);
	if (st == TS_OK && form.brief && out->n == before && !out->failed)
		return ts_fail(err, TS_USAGE,
			       "--budget must be at least 300 for each session, not %zu",
			       form.budget);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

/* JSON and CSV are one document each: of several sessions, one must be chosen. */
static bool is_one_document(const struct ts_print_options *print)
{
	return print->format && strcmp(print->format, "text") != 0;
}

/* What is done for all sessions of the command line. */
struct reporting {
	const struct ts_cli *cli;
	const struct ts_door *door;
	struct ts_print_options print;
	const struct ts_runs *runs;
	struct ts_outcome outcome;
	bool several;
	bool has_screen; /* not all of a report was shown */
	struct ts_buf out;
	struct ts_printer printer;
};

/* Which run it is: above a whole report, and above each part where there are several. */
static void cmd_report_put_head(struct reporting *reporting, const struct ts_print_options *print,
				const struct ts_results *results)
{
	if (print->form.brief || is_one_document(print) ||
	    (print->form.view && !reporting->several))
		return; /* the short form has its own */
	if (reporting->out.n && !print->form.is_row)
		ts_buf_putc(&reporting->out, '\n');
	if (print->form.is_screen && !print->form.view)
		return; /* and so has the screen */
	ts_summary_head(&reporting->out, results, print->output ? 0 : ts_terminal_width());
	if (!print->form.view)
		ts_buf_putc(&reporting->out, '\n');
}

static struct ts_run_options run_options(const struct reporting *reporting, size_t nr_threads,
					 struct ts_meter *meter)
{
	const struct ts_door *door = reporting->door;

	return (struct ts_run_options){
		.nr_threads = nr_threads,
		.settings = reporting->cli->settings,
		.interleave = door->interleave,
		.no_python = door->no_python,
		.tree_rows = door->tree_rows,
		.max_ops = reporting->print.all ? SIZE_MAX : reporting->print.max_ops,
		.max_steps = reporting->print.all ? SIZE_MAX : reporting->print.max_steps,
		.torch_logs = door->torch_logs,
		.nr_torch_logs = door->nr_torch_logs,
		.xla_dump = door->dump.folder,
		.mesh = ts_mesh_given(&door->dump),
		.track_items = cmd_report_wants_tracks(&reporting->print) ? TS_MAX_TRACK_ITEMS : 0,
		.meter = meter,
	};
}

/* What a thread did with a session. */
struct analysed {
	struct ts_run run;
	struct ts_error err;
	enum ts_status st;
};

static void cmd_report_analyse_session(void *ctx, void *slot, size_t i, size_t nr_threads,
				       struct ts_meter *meter)
{
	const struct reporting *reporting = ctx;
	struct ts_run_options options = run_options(reporting, nr_threads, meter);
	struct analysed *analysed = slot;

	if (nr_threads == reporting->cli->nr_threads && i + 1 < reporting->runs->nr_sessions)
		options.next = &reporting->runs->sessions[i + 1];
	*analysed = (struct analysed){ .err = TS_ERROR_INIT };
	ts_run_init(&analysed->run);
	analysed->st = ts_run_open(&analysed->run, &reporting->runs->sessions[i], &options,
				   &analysed->err);
	if (analysed->st == TS_OK)
		analysed->st = ts_run_analyse(&analysed->run, &options, &analysed->err);
}

/* A page without a server has no events to ask for. */
static enum ts_status take_pictures(const struct reporting *reporting, const struct ts_run *run,
				    struct ts_buf *pictures, struct ts_error *err)
{
	if (!cmd_report_is_page(&reporting->print))
		return TS_OK;
	if (run->pictures.n > 0)
		return ts_picture_join(pictures, ts_buf_bytes(&run->pictures), err);
	return ts_picture_steps(pictures, &run->profile, &run->outline, 0,
				(uint32_t)run->profile.nr_hosts, reporting->cli->nr_threads, err);
}

/* A memory profile, alone, that was taken while no array was on a device. */
static bool holds_nothing(const struct ts_profile *profile)
{
	return profile->nr_hosts == 0 && profile->nr_sites == 0 && profile->torch_log.nr_files == 0;
}

static enum ts_status emit_run(struct reporting *reporting, const struct ts_run *run,
			       struct ts_error *err)
{
	struct ts_print_options print = reporting->print;
	struct ts_drain drain = { .take = ts_printer_take, .arg = &reporting->printer };
	struct ts_buf pictures = TS_BUF_INIT;
	enum ts_status st;

	for (size_t i = 0; i < run->profile.nr_damage; i++)
		ts_complain_of_damage(&run->profile.damage[i], "what stands before it was read");
	if (holds_nothing(&run->profile) && !is_one_document(&print))
		return ts_fail(err, TS_NOTFOUND,
			       "the memory profile holds nothing: no array was on a device when it "
			       "was taken (take it while the arrays of the job are alive)");
	st = take_pictures(reporting, run, &pictures, err);
	/* A memory profile or a compiler's log alone: nothing ran. */
	if (run->profile.nr_hosts == 0 && !is_one_document(&print) && !print.form.view)
		print.form.view = run->profile.torch_log.nr_files > 0 ? "compile" : "capacity";
	reporting->has_screen |= print.form.is_screen && !print.form.view;
	cmd_report_put_head(reporting, &print, &run->results);
	if (print.format && strcmp(print.format, "json") == 0)
		print.form.drain = &drain;
	print.form.pictures = ts_buf_bytes(&pictures);
	if (st == TS_OK)
		st = reporting->door->emit(reporting->cli, &print, &run->results, &reporting->out,
					   err);
	ts_buf_release(&pictures);
	return st;
}

static void report_session(void *ctx, void *slot, size_t i)
{
	struct reporting *reporting = ctx;
	struct analysed *analysed = slot;
	const struct ts_run *run = &analysed->run;

	for (size_t k = 0; k < run->nr_problems; k++)
		ts_complain(run->problems[k]);
	if (analysed->st == TS_OK)
		analysed->st = emit_run(reporting, run, &analysed->err);
	reporting->outcome.damaged |= run->nr_problems > 0 || !ts_profile_is_whole(&run->profile);
	ts_outcome_note(&reporting->outcome, analysed->st, &analysed->err);
	ts_run_release(&analysed->run);
}

/* Below what fits a screen: how to see the rest of it. */
static void put_hint(struct reporting *reporting)
{
	if (!reporting->has_screen)
		return;
	if (reporting->several)
		ts_outcome_line(&reporting->out, &reporting->outcome, "read");
	ts_buf_puts(&reporting->out,
		    reporting->print.form.is_row
			    ? "\nMore: tpusight report with the path of one of them\n"
			    : "More: tpusight report --view doctor (advice), --view ops, --all; "
			      "see --help\n");
}

static enum ts_exit cmd_report_finish(struct reporting *reporting)
{
	struct ts_outcome *outcome = &reporting->outcome;

	put_hint(reporting);
	if (outcome->nr_done > 0 &&
	    !ts_printer_end(&reporting->printer, ts_buf_bytes(&reporting->out)))
		outcome->nr_bad++;
	ts_printer_release(&reporting->printer);
	ts_buf_release(&reporting->out);
	return ts_outcome_exit(outcome);
}

static enum ts_exit report_all(struct reporting *reporting)
{
	const struct ts_session_work each = { .ctx = reporting,
					      .slot_size = sizeof(struct analysed),
					      .work = cmd_report_analyse_session,
					      .finish = report_session };
	struct ts_error err = TS_ERROR_INIT;

	if (ts_each_session(reporting->cli, reporting->runs, &each, &err))
		ts_outcome_note(&reporting->outcome, err.status, &err);
	return cmd_report_finish(reporting);
}

enum ts_exit ts_report_sessions(const struct ts_cli *cli, const struct ts_print_options *print,
				const struct ts_door *door)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct reporting reporting = { .cli = cli,
				       .door = door,
				       .print = *print,
				       .runs = &runs,
				       .printer = TS_PRINTER_INIT(cli, print->output) };
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code;
	enum ts_status st;

	TS_ASSERT(cli && print && door && door->emit);
	st = ts_find_sessions(cli, &runs, &reporting.outcome.nr_bad, &err);
	reporting.outcome.nr_empty = runs.nr_empty;
	if (st) {
		ts_complain(err.text);
		code = ts_exit_of(st);
	} else if (runs.nr_sessions > 1 && is_one_document(print)) {
		ts_fail(&err, TS_USAGE,
			"%zu sessions were found, and %s is one report (name one of them, %s for "
			"instance)",
			runs.nr_sessions, print->format, runs.sessions[runs.nr_sessions - 1].dir);
		ts_complain(err.text);
		code = TS_EXIT_USAGE;
	} else {
		reporting.several = runs.nr_sessions > 1;
		/* The limit is of all of them together. */
		reporting.print.form.budget /= TS_MAX(runs.nr_sessions, 1);
		reporting.print.form.is_row = reporting.several && print->form.is_screen;
		code = report_all(&reporting);
	}
	ts_runs_release(&runs);
	return code;
}

enum ts_exit ts_report_run(const struct ts_cli *cli, const struct ts_print_options *print,
			   ts_report_make *make, void *ctx)
{
	const struct ts_door door = { .emit = ts_emit_report };
	struct reporting reporting = { .cli = cli,
				       .door = &door,
				       .print = *print,
				       .printer = TS_PRINTER_INIT(cli, print->output) };
	struct analysed analysed = { .err = TS_ERROR_INIT };

	TS_ASSERT(cli && print && make);
	ts_run_init(&analysed.run);
	analysed.st = make(&analysed.run, ctx, &analysed.err);
	report_session(&reporting, &analysed, 0);
	return cmd_report_finish(&reporting);
}

static bool is_screen(const struct ts_print_options *print)
{
	return !print->form.view && !print->form.brief && !is_one_document(print) && !print->all &&
	       !is_to_file(print);
}

bool ts_report_settle(struct ts_print_options *print)
{
	TS_ASSERT(print);
	print->form.is_screen = is_screen(print);
	if (!print->form.is_screen || !print->form.sort)
		return true;
	ts_complain("--sort is of a table (name it with --view, or say --all)");
	return false;
}

struct report_options {
	struct ts_print_options print;
	const char *logdir;
	struct ts_dump_options dump;
};

static enum ts_exit run_report(struct ts_cli *cli)
{
	const struct report_options *own = cli->own;
	const struct ts_door door = { .emit = ts_emit_report, .dump = own->dump };
	struct ts_print_options print = own->print;

	cli->logdir = own->logdir;
	if (!ts_report_settle(&print))
		return TS_EXIT_USAGE;
	return ts_report_sessions(cli, &print, &door);
}

enum ts_status ts_set_mesh(void *mesh, const char *value, struct ts_error *err)
{
	struct ts_mesh parsed;

	TS_ASSERT(mesh && value);
	memcpy(mesh, &value, sizeof(value));
	return ts_mesh_parse(ts_bytes_of(value), &parsed, err);
}

struct ts_mesh ts_mesh_given(const struct ts_dump_options *options)
{
	struct ts_mesh mesh = { .nr = 0 };

	TS_ASSERT(options);
	if (options->mesh)
		ts_mesh_parse(ts_bytes_of(options->mesh), &mesh, NULL);
	return mesh;
}

const char *ts_view_at(const struct ts_command *command, size_t index)
{
	for (size_t i = 0; ts_analyses[i]; i++)
		if (!(ts_analyses[i]->schema->flags & TS_DRAWS_ONLY) && index-- == 0)
			return ts_analyses[i]->schema->name;
	return NULL;
}

#define OWN struct report_options
static const struct ts_option options[] = {
	TS_OPTION_FORMAT(OWN, print, ts_format_at),
	TS_OPTION_OUTPUT(OWN, print),
	TS_OPTION_JSON(OWN, print),
	TS_OPTION_ALL(OWN, print,
		      "every view, where a screen has the first findings; with --view every row; "
		      "and ops and steps without a bound"),
	TS_OPTION_ROWS(OWN, print),
	TS_OPT_MAX_ROWS(OWN, print.max_ops, print.max_steps),
	TS_OPT_TEXT(OWN, print.form.view, "view", 0, "NAME",
		    "one view: %s; or a table of one (steps, modules, time.per_step ...)",
		    .name_at = ts_view_at),
	TS_OPT_COUNT(
		OWN, print.form.budget, "budget", 0, "BYTES", 0, TS_OPTION_ANY, "a number of bytes",
		.help = "the findings in at most BYTES bytes, most valuable first (text or json)",
		TS_OPTION_GIVEN(OWN, print.form.brief)),
	TS_OPT_FLAG(OWN, print.tracks, "tracks", 0, "JSON: with what the viewers draw over time"),
	TS_OPT_TEXT(OWN, logdir, "logdir", 0, "DIR",
		    "the log directory that TensorBoard was given, for names and links"),
	TS_OPTION_XLA_DUMP(OWN, dump),
	TS_OPT_END,
};

const struct ts_command ts_command_report = {
	.name = "report",
	.summary = "Print the report of a profile session; nothing is written into it.",
	.arguments = "PATH...",
	.help = "PATH is a log directory, a session, a profile file, a trace of PyTorch's or JAX's "
		"profiler (.json,\n"
		".json.gz), a .tar.gz or .zip with profiles inside, or - for standard input; or a "
		"memory profile\n"
		"(memory_profile.prof), which is also read along where it lies in a session.",
	.options = options,
	.own_size = sizeof(OWN),
	.has_thresholds = true,
	.run = run_report,
};
