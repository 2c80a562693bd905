/* compare: runs side by side, who is faster, and what made the difference; gates for CI. */
#include "cli/cli.h"

#include "base/buf.h"
#include "cli/report.h"
#include "compare/compare.h"
#include "flow/run.h"

struct comparison {
	const struct ts_cli *cli;
	struct ts_run runs[TS_COMPARE_MAX];
	struct ts_compare_run sides[TS_COMPARE_MAX];
	struct ts_buf names[TS_COMPARE_MAX];
	struct ts_gate gates[TS_MAX_GATES];
	size_t nr_runs;
	bool damaged, missing;
};

/* The expression, and below it a caret where it is wrong. */
static void complain_of_gate(const char *text, size_t at, const struct ts_error *err)
{
	struct ts_error line = TS_ERROR_INIT;

	ts_fail(&line, TS_USAGE, "--fail-if: %s", err->text);
	ts_complain(line.text);
	line = (struct ts_error)TS_ERROR_INIT;
	ts_fail(&line, TS_USAGE, "  %s", text);
	ts_complain(line.text);
	line = (struct ts_error)TS_ERROR_INIT;
	ts_fail(&line, TS_USAGE, "  %*s^", (int)TS_MIN(at, 400), "");
	ts_complain(line.text);
}

static bool parse_gates(struct comparison *comparison)
{
	const struct ts_cli *cli = comparison->cli;

	for (size_t i = 0; i < cli->nr_gates; i++) {
		struct ts_error err = TS_ERROR_INIT;
		size_t at;

		if (ts_gate_parse(cli->gates[i], &comparison->gates[i], &at, &err)) {
			complain_of_gate(cli->gates[i], at, &err);
			return false;
		}
	}
	return true;
}

static enum ts_status read_session(struct comparison *comparison, const struct ts_session *session,
				   struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = comparison->cli->nr_threads,
					  .settings = &comparison->cli->settings };
	size_t at = comparison->nr_runs;
	struct ts_run *run = &comparison->runs[at];
	enum ts_status st;

	ts_progress(comparison->cli, session->dir);
	st = ts_session_title(session, &comparison->names[at]) ? TS_OK : ts_fail_nomem(err);
	if (st == TS_OK)
		st = ts_run_open(run, session, &options, err);
	if (st == TS_OK)
		st = ts_run_analyse(run, &options, err);
	ts_progress(comparison->cli, NULL);
	for (size_t i = 0; i < run->nr_problems; i++)
		ts_complain(run->problems[i]);
	for (size_t i = 0; st == TS_OK && i < run->profile.nr_damage; i++)
		ts_complain_of_damage(&run->profile.damage[i], "what stands before it was read");
	comparison->damaged |= run->nr_problems > 0 || run->profile.nr_damage > 0;
	if (st)
		return st;
	comparison->sides[comparison->nr_runs++] = (struct ts_compare_run){
		.name = ts_bytes_of((const char *)comparison->names[at].p),
		.profile = &run->profile,
		.results = &run->results,
	};
	return TS_OK;
}

/* Of one path all sessions; of several each must be one, or nobody knows which is the baseline. */
static enum ts_status read_path(struct comparison *comparison, char *path, struct ts_error *err)
{
	struct ts_cli one = *comparison->cli;
	struct ts_runs found = TS_RUNS_INIT;
	size_t nr_bad = 0;
	enum ts_status st;

	one.paths = &path;
	one.nr_paths = 1;
	st = ts_find_sessions(&one, &found, &nr_bad, err);
	comparison->damaged |= nr_bad > 0;
	comparison->missing |= st == TS_OK && found.nr_sessions == 0; /* and why was told */
	if (st == TS_OK && found.nr_sessions > 1 && comparison->cli->nr_paths > 1)
		st = ts_fail(err, TS_USAGE,
			     "%s has %zu sessions (name one of them, %s for instance)", path,
			     found.nr_sessions, found.sessions[found.nr_sessions - 1].dir);
	if (st == TS_OK && comparison->nr_runs + found.nr_sessions > TS_COMPARE_MAX)
		st = ts_fail(err, TS_USAGE, "more than %d runs (name fewer)", TS_COMPARE_MAX);
	for (size_t i = 0; st == TS_OK && i < found.nr_sessions; i++)
		st = read_session(comparison, &found.sessions[i], err);
	ts_runs_release(&found);
	return st;
}

static bool needs_baseline(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->cli->nr_gates; i++)
		if (comparison->gates[i].of_baseline)
			return true;
	return false;
}

static enum ts_status read_all(struct comparison *comparison, struct ts_error *err)
{
	const struct ts_cli *cli = comparison->cli;
	enum ts_status st = TS_OK;

	for (size_t i = 0; st == TS_OK && i < cli->nr_paths; i++)
		st = read_path(comparison, cli->paths[i], err);
	if (st == TS_OK && comparison->missing)
		return ts_fail(
			err, TS_NOTFOUND,
			"nothing is compared when a run is missing (name runs that are there)");
	if (st == TS_OK && comparison->nr_runs < 2 && cli->nr_gates == 0)
		return ts_fail(err, TS_USAGE,
			       "one run cannot be compared (name another, or say --fail-if)");
	if (st == TS_OK && comparison->nr_runs < 2 && needs_baseline(comparison))
		return ts_fail(err, TS_USAGE,
			       "--fail-if speaks of a baseline, and there is one run only (name "
			       "the baseline first)");
	return st;
}

#define NUMBER_MAX 32

static struct ts_bytes number_text(struct ts_value value, char text[NUMBER_MAX])
{
	if (value.type == TS_VALUE_NULL)
		return TS_LIT("an unknown value");
	snprintf(text, NUMBER_MAX, "%.6g", ts_value_number(value));
	return ts_bytes_of(text);
}

/* Where the report goes to a file, CI's log still says what did not hold. */
static void tell_gates(const struct ts_results *results)
{
	const struct ts_table *gates =
		ts_result_find_table(ts_results_find(results, "compare"), "gates");

	for (size_t i = 0; gates && i < gates->nr_rows; i++) {
		struct ts_bytes state = ts_cell_text(gates, i, "state");
		struct ts_error line = TS_ERROR_INIT;
		char value[NUMBER_MAX], limit[NUMBER_MAX];

		if (ts_bytes_is(state, "passed"))
			continue;
		ts_fail(&line, TS_USAGE, "gate %.*s: %.*s: %.*s has %.*s, the limit is %.*s",
			TS_ARG(state), TS_ARG(ts_cell_text(gates, i, "gate")),
			TS_ARG(ts_cell_text(gates, i, "run")),
			TS_ARG(number_text(ts_cell(gates, i, "value"), value)),
			TS_ARG(number_text(ts_cell(gates, i, "limit"), limit)));
		ts_complain(line.text);
	}
}

/* Views may be named without the result they stand in. */
static enum ts_status emit(const struct ts_cli *cli, const struct ts_results *results,
			   struct ts_buf *out, struct ts_error *err)
{
	struct ts_buf view = TS_BUF_INIT;
	struct ts_cli form = *cli;
	enum ts_status st;

	if (cli->view && strncmp(cli->view, "compare", strlen("compare")) != 0) {
		ts_buf_printf(&view, "compare.%s", cli->view);
		ts_buf_putc(&view, '\0');
		form.view = view.failed ? cli->view : (const char *)view.p;
	}
	st = ts_emit_report(&form, results, out, err);
	ts_buf_release(&view);
	return st;
}

static enum ts_exit compare_runs(struct comparison *comparison)
{
	const struct ts_compare_request request = {
		.runs = comparison->sides,
		.nr_runs = comparison->nr_runs,
		.gates = comparison->gates,
		.nr_gates = comparison->cli->nr_gates,
	};
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	enum ts_exit code = TS_EXIT_DONE;
	size_t nr_failed = 0;
	enum ts_status st;

	ts_results_init(&results);
	st = ts_compare(&request, &results, &nr_failed, &err);
	if (st == TS_OK)
		st = emit(comparison->cli, &results, &out, &err);
	if (st) {
		ts_complain(err.text);
		code = st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
	} else {
		tell_gates(&results);
		if (!ts_print_to(comparison->cli->output, ts_buf_bytes(&out)) ||
		    comparison->damaged)
			code = TS_EXIT_SOME;
		code = nr_failed > 0 ? TS_EXIT_GATE : code;
	}
	ts_buf_release(&out);
	ts_results_release(&results);
	return code;
}

static enum ts_exit run_compare(struct ts_cli *cli)
{
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code = TS_EXIT_USAGE;
	enum ts_status st;

	if (!comparison) {
		ts_complain("out of memory");
		return TS_EXIT_NOTHING;
	}
	comparison->cli = cli;
	for (size_t i = 0; i < TS_COMPARE_MAX; i++)
		ts_run_init(&comparison->runs[i]);
	if (parse_gates(comparison)) {
		st = read_all(comparison, &err);
		if (st) {
			ts_complain(err.text);
			code = st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
		} else {
			code = compare_runs(comparison);
		}
	}
	for (size_t i = 0; i < TS_COMPARE_MAX; i++) {
		ts_run_release(&comparison->runs[i]);
		ts_buf_release(&comparison->names[i]);
	}
	free(comparison);
	return code;
}

static enum ts_status set_gate(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	if (cli->nr_gates == TS_MAX_GATES)
		return ts_fail(err, TS_USAGE, "more than %d of them", TS_MAX_GATES);
	cli->gates[cli->nr_gates++] = value;
	return TS_OK;
}

/* The page draws one run. */
static enum ts_status set_format(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	static const char *const formats[] = { "text", "json", "csv" };

	for (size_t i = 0; i < TS_NELEM(formats); i++)
		if (strcmp(value, formats[i]) == 0) {
			cli->format = formats[i];
			return TS_OK;
		}
	return ts_fail(err, TS_USAGE, "%s is no format (text, json, csv)", value);
}

static const struct ts_option options[] = {
	{ "fail-if", 0, "EXPR", "exit with 1 when EXPR is so, or cannot be known (repeatable)",
	  set_gate },
	{ "format", 'f', "FORMAT", "text (default), json or csv", set_format },
	{ "output", 'o', "FILE", "write to FILE, not to the console", ts_set_output },
	{ "view", 0, "NAME",
	  "one view: gates, runs, differences, figures, buckets, difference, ops, modules, "
	  "findings",
	  ts_set_view },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_compare = {
	.name = "compare",
	.summary = "Say which of several runs is faster, whether that may be chance, and what made "
		   "it so.",
	.arguments = "BASE [OTHER...]",
	.help = "BASE and OTHER are sessions, profile files, log directories with one session, or "
		"archives; one\n"
		"log directory alone gives all its sessions, the first being the baseline.\n\n"
		"EXPR is NAME OP NUMBER, or NAME OP baseline [* NUMBER | + NUMBER[%] | - "
		"NUMBER[%]]; "
		"OP is one of\n"
		"> >= < <= == !=. It is asked of every run but the baseline. NAME is "
		"step_time_ms.mean "
		"(median, p90,\n"
		"p99, min, max), wall_ms, peak_memory_mb, mxu_utilization_pct, "
		"hbm_utilization_pct, "
		"duty_cycle_pct,\n"
		"health_score, buckets.idle_ms or buckets.idle_pct (or another bucket), or the "
		"path of "
		"any number in\n"
		"the JSON report, as capacity.headroom_bytes. For instance\n"
		"  tpusight compare --fail-if 'step_time_ms.median > baseline * 1.05' BASE OTHER",
	.options = options,
	.run = run_compare,
};
