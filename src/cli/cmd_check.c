/* SPDX-License-Identifier: MIT */
/* check: can this profile be believed? A verdict for each session, and what to do about it. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/check.h"
#include "cli/check_notes.h"
#include "cli/each_session.h"
#include "cli/report.h"
#include "run/run.h"
#include "write/check.h"
#include "result/schema/capture.def"

struct check_options {
	struct ts_print_options print;
	struct ts_tensorboard tensorboard; /* looked for before the program is confined */
};

struct checking {
	const struct ts_cli *cli;
	const char *output;
	struct ts_report form;
	struct ts_buf out;
	struct ts_json json;
	bool is_json;
	const struct ts_runs *runs;
	size_t nr_read, nr_failed, nr_doubtful;
};

static void cmd_check_put_check(struct checking *checking, const struct ts_check *check)
{
	if (checking->is_json)
		ts_check_json(&checking->json, check);
	else if (check->capture) /* else a complaint was printed */
		ts_check_text(&checking->out, check, &checking->form);
}

static void no_session(void *ctx, const char *path, const char *problem)
{
	struct ts_check check = { .session = path, .cause = "no_profile", .problem = problem };

	cmd_check_put_check(ctx, &check);
}

static void check_results(struct checking *checking, const struct ts_run *run, const char *title,
			  const struct ts_check_notes *notes)
{
	struct ts_check check = { .session = title, .notes = notes->items, .nr_notes = notes->nr };

	for (size_t i = 0; i < run->nr_problems; i++)
		ts_complain(run->problems[i]);
	checking->nr_failed += run->nr_problems;
	checking->nr_read++;
	check.capture = TS_FIND(&run->results, capture);
	checking->nr_doubtful += !ts_check_holds(&check);
	cmd_check_put_check(checking, &check);
}

/* What a thread did with a session. */
struct analysed {
	struct ts_run run;
	struct ts_error err;
	enum ts_status st;
};

static void cmd_check_analyse_session(void *ctx, void *slot, size_t i, size_t nr_threads,
				      struct ts_meter *meter)
{
	const struct checking *checking = ctx;
	struct ts_run_options options = { .nr_threads = nr_threads,
					  .settings = checking->cli->settings,
					  .wants_strict = true,
					  .meter = meter };
	struct analysed *analysed = slot;

	*analysed = (struct analysed){ .err = TS_ERROR_INIT };
	ts_run_init(&analysed->run);
	analysed->st =
		ts_run_open(&analysed->run, &checking->runs->sessions[i], &options, &analysed->err);
	if (analysed->st == TS_OK)
		analysed->st = ts_run_analyse(&analysed->run, &options, &analysed->err);
}

static void check_session(void *ctx, void *slot, size_t i)
{
	struct checking *checking = ctx;
	struct analysed *analysed = slot;
	const struct ts_session *session = &checking->runs->sessions[i];
	struct ts_buf title = TS_BUF_INIT;
	const char *name = ts_session_title(session, &title);
	struct ts_check_notes notes;

	ts_check_notes_find(&notes, session);
	if (!name)
		analysed->st = ts_fail_nomem(&analysed->err);
	if (analysed->st == TS_OK) {
		ts_check_notes_add_run(&notes, &analysed->run);
		check_results(checking, &analysed->run, name, &notes);
	} else {
		struct ts_check check = { .session = name ? name : session->dir,
					  .cause = "unreadable",
					  .problem = analysed->err.text };

		ts_complain(analysed->err.text);
		checking->nr_failed++;
		cmd_check_put_check(checking, &check);
	}
	ts_check_notes_release(&notes);
	ts_run_release(&analysed->run);
	ts_buf_release(&title);
}

static void cmd_check_put_viewer(struct checking *checking, const struct ts_tensorboard *found)
{
	struct ts_check_viewer viewer = { .program = NULL };
	struct ts_check_notes notes;

	ts_check_notes_of_viewer(&notes, found);
	if (found->program[0])
		viewer = (struct ts_check_viewer){ found->program, found->packages, notes.items,
						   notes.nr };
	if (checking->is_json)
		ts_check_json_end(&checking->json, &viewer);
	else if (checking->nr_read > 0) /* else nothing is said of a viewer of it */
		ts_check_viewer_text(&checking->out, &viewer, &checking->form);
	ts_check_notes_release(&notes);
}

static enum ts_exit cmd_check_finish(struct checking *checking, const struct ts_tensorboard *found)
{
	cmd_check_put_viewer(checking, found);
	if (checking->out.failed) {
		ts_complain("out of memory");
		return TS_EXIT_NOTHING;
	}
	if (!ts_print_to(checking->cli, checking->output, ts_buf_bytes(&checking->out)))
		return TS_EXIT_SOME;
	if (checking->nr_read == 0)
		return TS_EXIT_NOTHING;
	if (checking->nr_failed > 0)
		return TS_EXIT_SOME;
	return checking->nr_doubtful > 0 ? TS_EXIT_GATE : TS_EXIT_DONE;
}

static enum ts_exit run_check(struct ts_cli *cli)
{
	const struct check_options *options = cli->own;
	const struct ts_print_options *own = &options->print;
	struct checking checking = {
		.cli = cli,
		.output = own->output,
		.form = ts_report_form(cli, own),
		.is_json = own->format && strcmp(own->format, "json") == 0,
	};
	struct ts_runs runs = TS_RUNS_INIT;
	const struct ts_session_work each = { .ctx = &checking,
					      .slot_size = sizeof(struct analysed),
					      .work = cmd_check_analyse_session,
					      .finish = check_session };
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code;
	enum ts_status st;

	checking.runs = &runs;
	checking.json = ts_json_of(&checking.out, TS_JSON_PRETTY);
	if (checking.is_json)
		ts_check_json_begin(&checking.json, &checking.form);
	st = ts_find_sessions_or(cli, &runs, &checking.nr_failed, no_session, &checking, &err);
	if (st == TS_OK)
		st = ts_each_session(cli, &runs, &each, &err);
	if (st) {
		ts_complain(err.text);
		code = ts_exit_of(st);
	} else {
		code = cmd_check_finish(&checking, &options->tensorboard);
	}
	ts_buf_release(&checking.out);
	ts_runs_release(&runs);
	return code;
}

static enum ts_status prepare_check(struct ts_cli *cli, struct ts_error *err)
{
	struct check_options *own = cli->own;

	ts_tensorboard_find(&own->tensorboard, getenv("PATH"));
	return TS_OK;
}

static const char *cmd_check_form_at(const struct ts_command *command, size_t index)
{
	static const char *const forms[] = { "text", "json", NULL };

	return forms[index];
}

#define OWN struct check_options
static const struct ts_option options[] = {
	TS_OPT_NAME(OWN, print.format, "format", 'f', "FORMAT", cmd_check_form_at, true, "%s"),
	TS_OPT_TEXT(OWN, print.output, "output", 'o', "FILE", "write to FILE, not to the console",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_PRESET(OWN, print.format, "json", "the same as --format json", "json"),
	TS_OPT_END,
};

const struct ts_command ts_command_check = {
	.name = "check",
	.summary = "Say whether a profile shows what it is taken for, and if not, what to do.",
	.arguments = "PATH...",
	.help = "A verdict for each session, with its causes: good; usable (something is missing, "
		"what is there\n"
		"holds); misleading (the numbers are not those of the job); empty (no device "
		"time). Exit status\n"
		"1 when one is misleading or empty. Behind them is what would keep a viewer from "
		"showing it, or\n"
		"show it to others: a place where TensorBoard does not look, a drive of Windows, a "
		"Share button,\n"
		"a TensorBoard in PATH without the plugins.",
	.options = options,
	.own_size = sizeof(OWN),
	.has_thresholds = true,
	.prepare = prepare_check,
	.run = run_check,
};
