/* SPDX-License-Identifier: Apache-2.0 */
/* check: can this profile be believed? A verdict for each session, and what to do about it. */
#include "cli/cli.h"

#include "base/buf.h"
#include "cli/each_session.h"
#include "cli/report.h"
#include "flow/run.h"
#include "write/check.h"

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

static void put_check(struct checking *checking, const struct ts_check *check)
{
	if (checking->is_json)
		ts_check_json(&checking->json, check);
	else if (check->capture) /* else the complaint has said it */
		ts_check_text(&checking->out, check, &checking->form);
}

static void no_session(void *ctx, const char *path, const char *problem)
{
	struct ts_check check = { .session = path, .cause = "no_profile", .problem = problem };

	put_check(ctx, &check);
}

static void check_results(struct checking *checking, const struct ts_run *run, const char *title)
{
	struct ts_check check = { .session = title };

	for (size_t i = 0; i < run->nr_problems; i++)
		ts_complain(run->problems[i]);
	checking->nr_failed += run->nr_problems;
	checking->nr_read++;
	check.capture = ts_results_find(&run->results, "capture");
	checking->nr_doubtful += !ts_check_holds(&check);
	put_check(checking, &check);
}

/* What a thread did with a session. */
struct analysed {
	struct ts_run run;
	struct ts_error err;
	enum ts_status st;
};

static void analyse_session(void *ctx, void *slot, size_t i, size_t nr_threads,
			    struct ts_meter *meter)
{
	const struct checking *checking = ctx;
	struct ts_run_options options = { .nr_threads = nr_threads,
					  .settings = &checking->cli->settings,
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

	if (!name)
		analysed->st = ts_fail_nomem(&analysed->err);
	if (analysed->st == TS_OK) {
		check_results(checking, &analysed->run, name);
	} else {
		struct ts_check check = { .session = name ? name : session->dir,
					  .cause = "unreadable",
					  .problem = analysed->err.text };

		ts_complain(analysed->err.text);
		checking->nr_failed++;
		put_check(checking, &check);
	}
	ts_run_release(&analysed->run);
	ts_buf_release(&title);
}

static enum ts_exit finish(struct checking *checking)
{
	if (checking->is_json)
		ts_check_json_end(&checking->json);
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
	const struct ts_print_options *own = cli->own;
	struct checking checking = {
		.cli = cli,
		.output = own->output,
		.form = ts_report_form(cli, own),
		.is_json = own->format && strcmp(own->format, "json") == 0,
	};
	struct ts_runs runs = TS_RUNS_INIT;
	const struct ts_session_work each = { .ctx = &checking,
					      .slot_size = sizeof(struct analysed),
					      .work = analyse_session,
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
		code = finish(&checking);
	}
	ts_buf_release(&checking.out);
	ts_runs_release(&runs);
	return code;
}

static const char *form_at(const struct ts_command *command, size_t index)
{
	static const char *const forms[] = { "text", "json", NULL };

	return forms[index];
}

#define OWN struct ts_print_options
static const struct ts_option options[] = {
	TS_OPT_NAME(OWN, format, "format", 'f', "FORMAT", form_at, true, "%s"),
	TS_OPT_TEXT(OWN, output, "output", 'o', "FILE", "write to FILE, not to the console",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_PRESET(OWN, format, "json", "the same as --format json", "json"),
	TS_OPT_END,
};

const struct ts_command ts_command_check = {
	.name = "check",
	.summary = "Say whether a profile shows what it is taken for, and if not, what to do.",
	.arguments = "PATH...",
	.help = "A verdict for each session, with its causes: good; usable (something is missing, "
		"what "
		"is there\n"
		"holds); misleading (the numbers are not those of the job); empty (no device "
		"time). "
		"Exit status\n"
		"1 when one is misleading or empty.",
	.options = options,
	.own_size = sizeof(OWN),
	.has_thresholds = true,
	.run = run_check,
};
