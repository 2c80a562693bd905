/* check: can this profile be believed? A verdict for each session, and what to do about it. */
#include "cli/cli.h"

#include "base/buf.h"
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

static void check_session(struct checking *checking, const struct ts_session *session)
{
	struct ts_run_options options = { .nr_threads = checking->cli->nr_threads,
					  .settings = &checking->cli->settings };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf title = TS_BUF_INIT;
	const char *name = ts_session_title(session, &title);
	enum ts_status st;
	struct ts_progress progress;
	struct ts_run run;

	ts_run_init(&run);
	ts_progress_begin(&progress, checking->cli, session->dir);
	options.meter = ts_progress_meter(&progress);
	st = name ? ts_run_open(&run, session, &options, &err) : ts_fail_nomem(&err);
	if (st == TS_OK)
		st = ts_run_analyse(&run, &options, &err);
	ts_progress_end(&progress);
	if (st == TS_OK) {
		check_results(checking, &run, name);
	} else {
		struct ts_check check = { .session = name ? name : session->dir,
					  .cause = "unreadable",
					  .problem = err.text };

		ts_complain(err.text);
		checking->nr_failed++;
		put_check(checking, &check);
	}
	ts_run_release(&run);
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
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code;
	enum ts_status st;

	checking.json = ts_json_of(&checking.out, TS_JSON_PRETTY);
	if (checking.is_json)
		ts_check_json_begin(&checking.json, &checking.form);
	st = ts_find_sessions_or(cli, &runs, &checking.nr_failed, no_session, &checking, &err);
	if (st) {
		ts_complain(err.text);
		code = ts_exit_of(st);
	} else {
		for (size_t i = 0; i < runs.nr_sessions; i++)
			check_session(&checking, &runs.sessions[i]);
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
