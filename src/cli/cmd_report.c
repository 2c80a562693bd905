/* report: one report, to the console or a file. */
#include "cli/cli.h"

#include "base/buf.h"
#include "flow/run.h"
#include "cli/report.h"
#include "write/summary.h"

enum ts_status ts_set_format(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	struct ts_buf names = TS_BUF_INIT;

	if (ts_output_find(value)) {
		cli->format = value;
		return TS_OK;
	}
	for (size_t i = 0; ts_outputs[i]; i++)
		ts_buf_printf(&names, "%s%s", i ? ", " : "", ts_outputs[i]->name);
	ts_fail(err, TS_USAGE, "%s is no format (%.*s)", value, TS_ARG(ts_buf_bytes(&names)));
	ts_buf_release(&names);
	return TS_USAGE;
}

enum ts_status ts_set_output(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)err;
	cli->output = value;
	return TS_OK;
}

enum ts_status ts_set_view(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)err;
	cli->view = value;
	return TS_OK;
}

static enum ts_status set_budget(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	cli->brief = true;
	if (!ts_bytes_u64(ts_bytes_of(value), &cli->budget) || cli->budget > SIZE_MAX)
		return ts_fail(err, TS_USAGE, "%s is no number of bytes", value);
	return TS_OK;
}

/* The page draws them; who reads JSON asks for them. */
static bool wants_tracks(const struct ts_cli *cli)
{
	return cli->tracks || (cli->format && strcmp(cli->format, "html") == 0);
}

struct ts_report ts_report_form(const struct ts_cli *cli)
{
	bool to_file = cli->output && strcmp(cli->output, "-") != 0;

	return (struct ts_report){
		.generator = "tpusight",
		.version = PACKAGE_VERSION,
		.view = cli->view,
		.pretty = true,
		.brief = cli->brief,
		.budget = (size_t)cli->budget,
		.color = !to_file && ts_use_color(cli),
		.width = to_file ? 0 : ts_terminal_width(),
		.tree = cli->tree,
		.weight = cli->weight,
		.max_depth = cli->max_depth,
		.group_small = cli->group_small,
		.max_track_items = wants_tracks(cli) ? TS_MAX_TRACK_ITEMS : 0,
	};
}

enum ts_status ts_emit_report(const struct ts_cli *cli, const struct ts_results *results,
			      struct ts_buf *out, struct ts_error *err)
{
	const struct ts_output *output = ts_output_find(cli->format ? cli->format : "text");
	struct ts_report form = ts_report_form(cli);
	enum ts_status st = output->emit(out, results, &form, err);

	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

static void tell_damage(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_damage; i++)
		ts_complain_of_damage(&profile->damage[i], "what stands before it was read");
}

/* JSON and CSV are one document each: of several sessions, one must be chosen. */
static bool is_one_document(const struct ts_cli *cli)
{
	return cli->format && strcmp(cli->format, "text") != 0;
}

/* Which run it is: above a whole report, and above each part where there are several. */
static void put_head(const struct ts_cli *cli, const struct ts_results *results, bool several,
		     struct ts_buf *out)
{
	if (cli->brief || is_one_document(cli) || (cli->view && !several))
		return; /* the short form has its own */
	if (out->n)
		ts_buf_putc(out, '\n');
	ts_summary_head(out, results, cli->output ? 0 : ts_terminal_width());
	if (!cli->view)
		ts_buf_putc(out, '\n');
}

static enum ts_status report_session(const struct ts_cli *cli, const struct ts_door *door,
				     const struct ts_session *session, bool several,
				     struct ts_buf *out, bool *damaged, struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = cli->nr_threads,
					  .settings = &cli->settings,
					  .merge = door->merge,
					  .no_python = cli->no_python,
					  .tree_rows = door->tree_rows,
					  .torch_logs = cli->torch_logs,
					  .nr_torch_logs = cli->nr_torch_logs,
					  .overlay_budget =
						  wants_tracks(cli) ? TS_MAX_TRACK_ITEMS : 0 };
	struct ts_cli form = *cli;
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	st = ts_run_open(&run, session, &options, err);
	if (st == TS_OK)
		st = ts_run_analyse(&run, &options, err);
	for (size_t i = 0; i < run.nr_problems; i++)
		ts_complain(run.problems[i]);
	if (st == TS_OK) {
		tell_damage(&run.profile);
		/* A memory profile or a compiler's log alone: nothing ran. */
		if (run.profile.nr_hosts == 0 && !is_one_document(cli) && !cli->view)
			form.view = run.profile.torch_log.nr_files > 0 ? "compile" : "capacity";
		put_head(&form, &run.results, several, out);
		st = door->emit(&form, &run.results, out, err);
	}
	*damaged |= run.nr_problems > 0 || run.profile.nr_damage > 0;
	ts_run_release(&run);
	return st;
}

static enum ts_exit report_all(const struct ts_cli *cli, const struct ts_door *door,
			       const struct ts_runs *runs, size_t nr_bad)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_outcome outcome = { .nr_bad = nr_bad };

	for (size_t i = 0; i < runs->nr_sessions; i++) {
		enum ts_status st;

		ts_progress(cli, runs->sessions[i].dir);
		st = report_session(cli, door, &runs->sessions[i], runs->nr_sessions > 1, &out,
				    &outcome.damaged, &err);
		ts_progress(cli, NULL);
		ts_outcome_note(&outcome, st, &err);
	}
	if (outcome.nr_done > 0 && !ts_print_to(cli->output, ts_buf_bytes(&out)))
		outcome.nr_bad++;
	ts_buf_release(&out);
	return ts_outcome_exit(&outcome);
}

enum ts_exit ts_report_sessions(struct ts_cli *cli, const struct ts_door *door)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code = TS_EXIT_NOTHING;
	size_t nr_bad = 0;

	if (ts_find_sessions(cli, &runs, &nr_bad, &err)) {
		ts_complain(err.text);
	} else if (runs.nr_sessions > 1 && is_one_document(cli)) {
		ts_fail(&err, TS_USAGE,
			"%zu sessions were found, and %s is one report (name one of them, "
			"%s for instance)",
			runs.nr_sessions, cli->format, runs.sessions[runs.nr_sessions - 1].dir);
		ts_complain(err.text);
		code = TS_EXIT_USAGE;
	} else {
		cli->budget /= TS_MAX(runs.nr_sessions, 1); /* of all of them together */
		code = report_all(cli, door, &runs, nr_bad);
	}
	ts_runs_release(&runs);
	return code;
}

static enum ts_exit run_report(struct ts_cli *cli)
{
	const struct ts_door door = { .emit = ts_emit_report };

	return ts_report_sessions(cli, &door);
}

static enum ts_status set_logdir(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)err;
	cli->logdir = value;
	return TS_OK;
}

static enum ts_status set_tracks(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->tracks = true;
	return TS_OK;
}

static const struct ts_option options[] = {
	{ "format", 'f', "FORMAT", "text (default), json, html or csv", ts_set_format },
	{ "output", 'o', "FILE", "write to FILE, not to the console", ts_set_output },
	{ "view", 0, "NAME",
	  "one view: overview, capture, ops, modules, steps, time, systolic, padding, fusion, "
	  "memory, capacity, doctor",
	  ts_set_view },
	{ "budget", 0, "BYTES",
	  "the findings in at most BYTES bytes, most valuable first (text or json)", set_budget },
	{ "tracks", 0, NULL, "JSON: with what the viewers draw over time", set_tracks },
	{ "logdir", 0, "DIR", "the log directory that TensorBoard was given, for names and links",
	  set_logdir },
	{ NULL, 0, NULL, NULL, NULL },
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
	.run = run_report,
};
