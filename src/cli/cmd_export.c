/* SPDX-License-Identifier: MIT */
/* export: events, ops, steps and findings as files of columns. */
#include "cli/cli.h"

#include "base/units.h"
#include "codec/json.h"
#include "codec/term.h"
#include "run/export.h"
#include "run/run.h"
#include "io/file.h"
#include "write/output.h"

struct export_options {
	const char *format; /* NULL: as the name of the file says, else Parquet */
	const char *output;
	struct ts_texts tables;
	bool json;
};

struct exporting {
	const struct ts_cli *cli;
	const struct export_options *own;
	const struct ts_colfile_form *form;
	bool wants[TS_NR_EXPORT_TABLES];
	bool is_file; /* what -o names is one, and not a folder */
	bool several; /* sessions were found */
	struct ts_outcome outcome;
};

static bool cmd_export_is_console(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* The form that the name of the file says; NULL: it says none. */
static const struct ts_colfile_form *form_of(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (dot && strcmp(dot, ".feather") == 0)
		return &ts_colfile_arrow;
	return dot ? ts_colfile_form_find(dot + 1) : NULL;
}

/* The name of a file that a report would be: x.csv, x.html. */
static bool is_of_report(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	for (size_t i = 0; dot && ts_outputs[i]; i++)
		if (strcmp(ts_outputs[i]->extension, dot + 1) == 0)
			return true;
	return false;
}

static enum ts_status choose_form(struct exporting *exporting, struct ts_error *err)
{
	const struct export_options *own = exporting->own;
	const struct ts_colfile_form *named = form_of(own->output);
	const struct ts_colfile_form *asked = ts_colfile_form_find(own->format);

	if (is_of_report(own->output))
		return ts_fail(err, TS_USAGE,
			       "-o %s: export writes .parquet and .arrow (tpusight report writes "
			       "the others)",
			       own->output);
	exporting->is_file = named || cmd_export_is_console(own->output);
	exporting->form = asked ? asked : named ? named : &ts_colfile_parquet;
	if (asked && named && asked != named)
		return ts_fail(err, TS_USAGE,
			       "-o %s: the name says %s and the format is %s (change one)",
			       own->output, ts_colfile_form_name(named), own->format);
	return TS_OK;
}

static enum ts_status choose_tables(struct exporting *exporting, struct ts_error *err)
{
	const struct ts_texts *asked = &exporting->own->tables;

	if (exporting->is_file && asked->nr > 1)
		return ts_fail(err, TS_USAGE,
			       "-o %s: a file has one table (name a folder, or one --table)",
			       exporting->own->output);
	for (int i = 0; i < TS_NR_EXPORT_TABLES; i++)
		exporting->wants[i] =
			asked->nr == 0 && (!exporting->is_file || i == TS_EXPORT_EVENTS);
	for (size_t k = 0; k < asked->nr; k++) {
		int i = 0;

		while (i < TS_NR_EXPORT_TABLES && strcmp(ts_export_tables[i], asked->items[k]) != 0)
			i++;
		if (i == TS_NR_EXPORT_TABLES)
			return ts_fail(err, TS_USAGE,
				       "--table %s: not a table (events, ops, steps or findings)",
				       asked->items[k]);
		exporting->wants[i] = true;
	}
	return TS_OK;
}

/* Where a session's tables go. Without -o beside it: SESSION.export/ */
static void put_folder(struct ts_buf *out, const struct exporting *exporting,
		       const struct ts_session *session)
{
	const char *output = exporting->own->output;

	if (!output)
		ts_buf_printf(out, "%s.export",
			      session->kind == TS_SESSION_DIR ? session->dir
							      : session->files[0].path);
	else
		ts_buf_puts(out, output);
	if (output && exporting->several && strcmp(session->run, ".") != 0)
		ts_buf_printf(out, "/%s", session->run);
	if (output && exporting->several)
		ts_buf_printf(out, "/%s", session->session);
}

static enum ts_status cmd_export_put_path(struct ts_buf *out, const struct exporting *exporting,
					  const struct ts_session *session,
					  enum ts_export_table table, struct ts_error *err)
{
	if (exporting->is_file) {
		ts_buf_puts(out, exporting->own->output);
	} else {
		put_folder(out, exporting, session);
		ts_buf_printf(out, "/%s.%s", ts_export_tables[table],
			      ts_colfile_form_name(exporting->form));
	}
	ts_buf_putc(out, '\0');
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

/* What was written; on the console where that does not have the table itself. */
static bool cmd_export_print_written(const struct exporting *exporting, const char *path,
				     enum ts_export_table table, uint64_t nr_rows,
				     uint64_t nr_bytes)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&out, TS_JSON_COMPACT);
	char size[TS_UNIT_MAX];
	bool good;

	if (cmd_export_is_console(path) || (exporting->cli->quiet && !exporting->own->json))
		return true;
	if (exporting->own->json) {
		ts_json_object(&json);
		ts_json_put_text(&json, "table", ts_export_tables[table]);
		ts_json_put_text(&json, "path", path);
		ts_json_put_i64(&json, "rows", (int64_t)nr_rows);
		ts_json_put_i64(&json, "bytes", (int64_t)nr_bytes);
		ts_json_object_end(&json);
		ts_buf_putc(&out, '\n');
	} else {
		ts_term_text(&out, ts_bytes_of(path));
		ts_buf_printf(&out, ": %llu %s, %s\n", (unsigned long long)nr_rows,
			      ts_export_tables[table], ts_fmt_bytes(size, (double)nr_bytes));
	}
	good = !out.failed && ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
	return good;
}

static enum ts_status take_to_console(void *arg, struct ts_bytes piece, struct ts_error *err)
{
	return ts_print(piece) ? TS_OK : ts_fail(err, TS_IO, "standard output: not written");
}

static enum ts_status write_to(struct exporting *exporting, const struct ts_run *run,
			       enum ts_export_table table, struct ts_newfile *file,
			       uint64_t *nr_rows, struct ts_error *err)
{
	struct ts_drain drain = { .take = file ? ts_newfile_take : take_to_console,
				  .arg = file,
				  .err = err };
	const struct ts_export_options options = { .form = exporting->form,
						   .version = PACKAGE_VERSION,
						   .nr_threads = exporting->cli->nr_threads,
						   .drain = &drain };
	struct ts_buf rest = TS_BUF_INIT;
	enum ts_status st = ts_export_write(run, table, &options, &rest, nr_rows, err);

	if (st == TS_OK)
		st = drain.take(file, ts_buf_bytes(&rest), err);
	ts_buf_release(&rest);
	return st;
}

/* A file, and the folders that lead to it; these go again where the file did not come. */
static enum ts_status write_file(struct exporting *exporting, const struct ts_run *run,
				 enum ts_export_table table, const char *path, struct ts_error *err)
{
	const struct ts_newfile_use use = { .is_named = exporting->is_file,
					    .sources = exporting->cli->sources };
	struct ts_newfile file = TS_NEWFILE_INIT;
	uint64_t nr_rows = 0;
	size_t made = 0;
	enum ts_status st = exporting->is_file ? TS_OK : ts_dir_make_for(path, 0777, &made, err);

	if (st == TS_OK)
		st = ts_newfile_open_for(&file, path, &use, err);
	if (st == TS_OK)
		st = write_to(exporting, run, table, &file, &nr_rows, err);
	for (size_t i = 0; i < run->nr_inputs && st == TS_OK; i++)
		st = ts_input_check(&run->inputs[i], err);
	if (st == TS_OK)
		st = ts_newfile_commit(&file, err);
	if (st)
		ts_dir_unmake_for(path, made);
	else if (!cmd_export_print_written(exporting, path, table, nr_rows, file.nr_bytes))
		exporting->outcome.damaged = true;
	ts_newfile_release(&file);
	return st;
}

static enum ts_status cmd_export_write_table(struct exporting *exporting, const struct ts_run *run,
					     const struct ts_session *session,
					     enum ts_export_table table, struct ts_error *err)
{
	struct ts_buf path = TS_BUF_INIT;
	uint64_t nr_rows;
	enum ts_status st = cmd_export_put_path(&path, exporting, session, table, err);

	if (st == TS_OK && cmd_export_is_console((const char *)path.p))
		st = write_to(exporting, run, table, NULL, &nr_rows, err);
	else if (st == TS_OK)
		st = write_file(exporting, run, table, (const char *)path.p, err);
	ts_buf_release(&path);
	return st;
}

/* Events need no analysis. */
static bool wants_report(const struct exporting *exporting)
{
	for (int i = TS_EXPORT_EVENTS + 1; i < TS_NR_EXPORT_TABLES; i++)
		if (exporting->wants[i])
			return true;
	return false;
}

static enum ts_status cmd_export_read_run(const struct exporting *exporting, struct ts_run *run,
					  const struct ts_session *session, struct ts_meter *meter,
					  struct ts_error *err)
{
	const struct ts_run_options options = { .nr_threads = exporting->cli->nr_threads,
						.settings = exporting->cli->settings,
						.max_ops = SIZE_MAX,
						.max_steps = SIZE_MAX,
						.meter = meter };
	enum ts_status st = ts_run_open(run, session, &options, err);

	if (st == TS_OK && wants_report(exporting))
		st = ts_run_analyse(run, &options, err);
	if (st == TS_OK && exporting->wants[TS_EXPORT_EVENTS])
		st = ts_export_look(&run->profile, options.nr_threads, err);
	return st;
}

static enum ts_status export_session(struct exporting *exporting, const struct ts_session *session,
				     struct ts_error *err)
{
	struct ts_progress progress;
	struct ts_run run;
	enum ts_status st;

	if (!exporting->own->output && session->kind == TS_SESSION_STREAM)
		return ts_fail(err, TS_USAGE,
			       "standard input has no place beside it (say -o FOLDER)");
	ts_progress_begin(&progress, exporting->cli, session->dir);
	ts_run_init(&run);
	st = cmd_export_read_run(exporting, &run, session, ts_progress_meter(&progress), err);
	ts_progress_end(&progress);
	exporting->outcome.damaged |= ts_complain_of_run(&run, true);
	for (int i = 0; i < TS_NR_EXPORT_TABLES && st == TS_OK; i++)
		if (exporting->wants[i]) {
			st = cmd_export_write_table(exporting, &run, session, i, err);
			ts_outcome_of_output(&exporting->outcome, st);
		}
	ts_run_release(&run);
	return st;
}

static enum ts_exit export_all(struct exporting *exporting, const struct ts_runs *runs)
{
	struct ts_error err = TS_ERROR_INIT;

	exporting->several = runs->nr_sessions > 1;
	if (exporting->several && exporting->is_file) {
		ts_fail(&err, TS_USAGE,
			"-o %s: %zu sessions were found, and a file is of one (name a folder)",
			exporting->own->output, runs->nr_sessions);
		ts_complain(err.text);
		return TS_EXIT_USAGE;
	}
	for (size_t i = 0; i < runs->nr_sessions; i++) {
		struct ts_error story = TS_ERROR_INIT;
		enum ts_status st = export_session(exporting, &runs->sessions[i], &story);

		ts_outcome_note(&exporting->outcome, st, &story);
	}
	return ts_outcome_exit(&exporting->outcome);
}

static enum ts_exit run_export(struct ts_cli *cli)
{
	struct exporting exporting = { .cli = cli, .own = cli->own };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = choose_form(&exporting, &err);
	enum ts_exit code;

	if (st == TS_OK)
		st = choose_tables(&exporting, &err);
	if (st == TS_OK)
		st = ts_find_sessions(cli, &runs, &exporting.outcome.nr_bad, &err);
	if (st)
		ts_complain(err.text);
	code = st ? ts_exit_of(st) : export_all(&exporting, &runs);
	ts_runs_release(&runs);
	return code;
}

/* What -o names is not a report. */
static enum ts_status cmd_export_prepare(struct ts_cli *cli, struct ts_error *err)
{
	cli->has_no_format = true;
	return TS_OK;
}

static const char *cmd_export_form_at(const struct ts_command *command, size_t index)
{
	static const char *const names[] = { "parquet", "arrow" };

	return index < TS_NELEM(names) ? names[index] : NULL;
}

#define OWN struct export_options
static const struct ts_option options[] = {
	TS_OPT_NAME(OWN, format, "format", 'f', "FORMAT", cmd_export_form_at, true, "%s"),
	TS_OPT_TEXT(OWN, output, "output", 'o', "FILE|FOLDER",
		    "write to FILE (.parquet, .arrow; - is standard output), one table; else into "
		    "FOLDER",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_TEXTS(OWN, tables, "table", "NAME", TS_NR_EXPORT_TABLES,
		     "this table: events, ops, steps or findings (repeatable; default: all into a "
		     "folder, events into a file)"),
	TS_OPT_FLAG(OWN, json, "json", 0, "print a line of JSON for each file"),
	TS_OPT_END,
};

const struct ts_command ts_command_export = {
	.name = "export",
	.summary = "Write all events, ops, steps and findings as tables for SQL and data frames.",
	.arguments = "PATH...",
	.help = "PATH is a log directory, a session, a profile file or a trace. Parquet is read by "
		"DuckDB, pandas,\n"
		"polars and Spark, Arrow (IPC files, Feather) by pandas and polars. Times are "
		"integers in picoseconds; an\n"
		"unknown value is null. Without -o the tables of a session go into the folder "
		"SESSION.export beside it.",
	.options = options,
	.own_size = sizeof(OWN),
	.needs = TS_WRITES_BESIDE,
	.prepare = cmd_export_prepare,
	.run = run_export,
};
