/* SPDX-License-Identifier: MIT */
/* compile: what was compiled, what it became, and what went past the compiler; modes side by side. */
#include "cli/open_runs.h"
#include "cli/suite.h"
#include "compare/modes.h"
#include "write/report_json.h"
#include "result/schema/compile.def"
#include "result/schema/cache.def"
#include "result/schema/compile_modes.def"

static const struct ts_suite suite = { .results = { &ts_schema_compile, &ts_schema_cache } };

struct compile_options {
	struct ts_print_options print;
	struct ts_texts torch_logs; /* files or folders */
	struct ts_texts labels;	    /* a mode a run */
	bool compare;
};

static bool cmd_compile_is_page(const struct ts_print_options *print)
{
	return print->format && strcmp(print->format, "html") == 0;
}

/* One row a run: as text and CSV the table, as JSON one object; the page has it above the comparison of the runs. */
static enum ts_status cmd_compile_emit(const struct ts_cli *cli,
				       const struct ts_print_options *print,
				       const struct ts_results *results, struct ts_buf *out,
				       struct ts_error *err)
{
	static const struct ts_schema *const schemas[] = { &ts_schema_compile_modes, NULL };
	struct ts_report form = ts_report_form(cli, print);
	const struct ts_output *output = ts_output_find(print->format ? print->format : "text");

	if (ts_check_rows(print, err))
		return TS_USAGE;
	if (strcmp(output->name, "json") == 0)
		return ts_report_object(out, results, schemas, &form, err);
	form.view = cmd_compile_is_page(print) ? NULL : schemas[0]->name;
	return output->emit(out, results, &form, err);
}

static enum ts_status cmd_compile_compare(const struct ts_open_runs *runs, struct ts_buf *out,
					  struct ts_error *err)
{
	const struct ts_compare_request request = { .runs = runs->compared,
						    .nr_runs = runs->nr_runs };
	const struct compile_options *own = runs->cli->own;
	struct ts_results results;
	size_t nr_failed;
	enum ts_status st = TS_OK;

	ts_results_init(&results);
	if (cmd_compile_is_page(&own->print))
		st = ts_compare(&request, &results, &nr_failed, err);
	if (st == TS_OK)
		st = ts_compare_modes(&request, &results, err);
	if (st == TS_OK)
		st = cmd_compile_emit(runs->cli, &own->print, &results, out, err);
	ts_results_release(&results);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

static enum ts_status read_runs(struct ts_open_runs *runs, struct ts_error *err)
{
	const struct ts_cli *cli = runs->cli;
	const struct compile_options *own = cli->own;
	enum ts_status st;

	if (own->torch_logs.nr > 0 && own->torch_logs.nr != cli->nr_paths)
		return ts_fail(err, TS_USAGE,
			       "%zu logs for %zu runs (give each run's, in their order)",
			       own->torch_logs.nr, cli->nr_paths);
	st = ts_open_runs_read(runs, err);
	if (st == TS_OK && runs->nr_runs < 2)
		return ts_fail(err, TS_USAGE, "one run cannot be compared (name another)");
	return st;
}

static enum ts_exit compare_modes(struct ts_cli *cli)
{
	const struct compile_options *own = cli->own;
	struct ts_open_runs *runs = calloc(1, sizeof(*runs));
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	enum ts_exit code = TS_EXIT_DONE;
	enum ts_status st;

	if (!runs) {
		ts_complain("out of memory");
		return TS_EXIT_NOTHING;
	}
	ts_open_runs_init(runs, cli);
	runs->torch_logs = &own->torch_logs;
	runs->labels = &own->labels;
	st = read_runs(runs, &err);
	if (st == TS_OK)
		st = cmd_compile_compare(runs, &out, &err);
	if (st) {
		ts_complain(err.text);
		code = ts_exit_of(st);
	} else if (!ts_print_to(cli, own->print.output, ts_buf_bytes(&out)) || runs->damaged) {
		code = TS_EXIT_SOME;
	}
	ts_buf_release(&out);
	ts_open_runs_release(runs);
	free(runs);
	return code;
}

/* What is wrong with a log, its reader will say. */
static enum ts_status note_logs(const struct ts_cli *cli, const char *path, struct ts_error *err)
{
	struct ts_arena arena = TS_ARENA_INIT;
	const struct ts_hostfile *files;
	enum ts_status st = TS_OK;
	size_t nr;

	ts_torch_logs_find(&arena, path, &files, &nr, NULL);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = ts_note_input(cli, files[i].path, err);
	ts_arena_release(&arena);
	return st;
}

static enum ts_exit run_compile(struct ts_cli *cli)
{
	const struct compile_options *own = cli->own;
	const struct ts_door door = { .torch_logs = own->torch_logs.items,
				      .nr_torch_logs = own->torch_logs.nr };
	struct ts_error err = TS_ERROR_INIT;

	for (size_t i = 0; i < own->torch_logs.nr; i++)
		if (note_logs(cli, own->torch_logs.items[i], &err)) {
			ts_complain(err.text);
			return TS_EXIT_NOTHING;
		}
	if (cli->nr_paths > 1 || own->compare)
		return compare_modes(cli);
	return ts_suite_report(cli, &own->print, door);
}

#define OWN struct compile_options
static const struct ts_option options[] = {
	TS_SUITE_OPTIONS(OWN, print),
	TS_OPT_TEXTS(OWN, torch_logs, "torch-trace", "PATH", TS_TEXTS_MAX,
		     "a log of TORCH_TRACE, or its folder: why graphs broke (repeatable)",
		     .place = TS_PLACE_READ),
	TS_OPT_TEXTS(OWN, labels, "label", "MODE", TS_COMPARE_MAX,
		     "the mode of a run, in the order of PATHs (repeatable; default: by its name)"),
	TS_OPT_FLAG(OWN, compare, "compare", 0, "all sessions below one PATH side by side"),
	TS_OPT_END,
};

const struct ts_command ts_command_compile = {
	.name = "compile",
	.summary =
		"Print what compilers made of a run: regions, graph breaks, fusion; compare modes.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's profiler (.json, .json.gz) with code of "
		"torch.compile in it, or whatever report takes. Several are one program in several "
		"modes of the compiler (default, reduce-overhead, max-autotune ...), the first "
		"being the baseline: a row each, with speed-up, time to compile, graph breaks and "
		"fusion; -o FILE.html has it above the page of tpusight compare.\n\n"
		"Why a graph broke or was compiled again is in no trace: run once more with "
		"TORCH_TRACE=FOLDER and give the folder with --torch-trace (of several PATHs one "
		"each); logs in a folder that is PATH are read along, and one can be given alone "
		"as PATH.",
	.options = options,
	.own_size = sizeof(OWN),
	.has_thresholds = true,
	.suite = &suite,
	.run = run_compile,
};
