/* compile: what was compiled, what it became, and what went past the compiler; modes side by side. */
#include "cli/sides.h"
#include "cli/suite.h"
#include "compare/modes.h"
#include "write/report_json.h"

static enum ts_status add_torch_log(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	if (cli->nr_torch_logs == TS_MAX_TORCH_LOGS)
		return ts_fail(err, TS_USAGE, "more than %d logs (name their folder)",
			       TS_MAX_TORCH_LOGS);
	cli->torch_logs[cli->nr_torch_logs++] = value;
	return TS_OK;
}

static enum ts_status add_label(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	if (cli->nr_labels == TS_MAX_LABELS)
		return ts_fail(err, TS_USAGE, "more than %d of them", TS_MAX_LABELS);
	cli->labels[cli->nr_labels++] = value;
	return TS_OK;
}

static enum ts_status set_compare(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->compare = true;
	return TS_OK;
}

/* One row a run: as text and CSV the table, as JSON one object. */
static enum ts_status emit(const struct ts_cli *cli, const struct ts_results *results,
			   struct ts_buf *out, struct ts_error *err)
{
	static const char *const names[] = { "compile_modes", NULL };
	struct ts_report form = ts_report_form(cli);
	const char *format = cli->format ? cli->format : "text";

	form.view = names[0];
	if (strcmp(format, "json") == 0)
		return ts_report_object(out, results, names, &form, err);
	if (strcmp(format, "html") == 0)
		return ts_fail(err, TS_USAGE,
			       "html draws one run (text, json and csv tell of several)");
	return ts_output_find(format)->emit(out, results, &form, err);
}

static enum ts_status compare(const struct ts_sides *sides, struct ts_buf *out,
			      struct ts_error *err)
{
	const struct ts_compare_request request = { .runs = sides->sides,
						    .nr_runs = sides->nr_runs };
	struct ts_results results;
	enum ts_status st;

	ts_results_init(&results);
	st = ts_compare_modes(&request, sides->cli->nr_labels ? sides->cli->labels : NULL, &results,
			      err);
	if (st == TS_OK)
		st = emit(sides->cli, &results, out, err);
	ts_results_release(&results);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

static enum ts_status read_runs(struct ts_sides *sides, struct ts_error *err)
{
	const struct ts_cli *cli = sides->cli;
	enum ts_status st;

	if (cli->nr_torch_logs > 0 && cli->nr_torch_logs != cli->nr_paths)
		return ts_fail(err, TS_USAGE,
			       "%zu logs for %zu runs (give each run's, in their order)",
			       cli->nr_torch_logs, cli->nr_paths);
	st = ts_sides_read(sides, err);
	if (st == TS_OK && sides->nr_runs < 2)
		return ts_fail(err, TS_USAGE, "one run cannot be compared (name another)");
	if (st == TS_OK && cli->nr_labels > 0 && cli->nr_labels != sides->nr_runs)
		return ts_fail(err, TS_USAGE, "%zu labels for %zu runs (give each its own)",
			       cli->nr_labels, sides->nr_runs);
	return st;
}

static enum ts_exit compare_modes(struct ts_cli *cli)
{
	struct ts_sides *sides = calloc(1, sizeof(*sides));
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	enum ts_exit code = TS_EXIT_DONE;
	enum ts_status st;

	if (!sides) {
		ts_complain("out of memory");
		return TS_EXIT_NOTHING;
	}
	ts_sides_init(sides, cli);
	st = read_runs(sides, &err);
	if (st == TS_OK)
		st = compare(sides, &out, &err);
	if (st) {
		ts_complain(err.text);
		code = st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
	} else if (!ts_print_to(cli->output, ts_buf_bytes(&out)) || sides->damaged) {
		code = TS_EXIT_SOME;
	}
	ts_buf_release(&out);
	ts_sides_release(sides);
	free(sides);
	return code;
}

static enum ts_exit run_compile(struct ts_cli *cli)
{
	return cli->nr_paths > 1 || cli->compare ? compare_modes(cli) : ts_suite_run(cli);
}

static const struct ts_option options[] = {
	TS_SUITE_OPTIONS,
	{ "torch-trace", 0, "PATH",
	  "a log of TORCH_TRACE, or its folder: why graphs broke (repeatable)", add_torch_log },
	{ "label", 0, "MODE",
	  "the mode of a run, in the order of PATHs (repeatable; default: by its name)",
	  add_label },
	{ "compare", 0, NULL, "all sessions below one PATH side by side", set_compare },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_compile = {
	.name = "compile",
	.summary =
		"Print what compilers made of a run: regions, graph breaks, fusion; compare modes.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's profiler (.json, .json.gz) with code of "
		"torch.compile in it, "
		"or whatever report takes. Several are one program in several modes of the "
		"compiler "
		"(default, reduce-overhead, max-autotune ...), the first being the baseline: a row "
		"each, "
		"with speed-up, time to compile, graph breaks and fusion.\n\n"
		"Why a graph broke or was compiled again is in no trace: run once more with "
		"TORCH_TRACE=FOLDER and give the folder with --torch-trace (of several PATHs one "
		"each); "
		"logs in a folder that is PATH are read along, and one can be given alone as PATH.",
	.options = options,
	.run = run_compile,
};
