/* compare: runs side by side, who is faster, and what made the difference; gates for CI. */
#include "cli/cli.h"

#include "base/buf.h"
#include "cli/report.h"
#include "cli/sides.h"

struct comparison {
	struct ts_sides sides;
	struct ts_gate gates[TS_MAX_GATES];
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
	const struct ts_cli *cli = comparison->sides.cli;

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

static bool needs_baseline(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->sides.cli->nr_gates; i++)
		if (comparison->gates[i].of_baseline)
			return true;
	return false;
}

static enum ts_status read_all(struct comparison *comparison, struct ts_error *err)
{
	const struct ts_cli *cli = comparison->sides.cli;
	enum ts_status st = ts_sides_read(&comparison->sides, err);

	if (st == TS_OK && comparison->sides.nr_runs < 2 && cli->nr_gates == 0)
		return ts_fail(err, TS_USAGE,
			       "one run cannot be compared (name another, or say --fail-if)");
	if (st == TS_OK && comparison->sides.nr_runs < 2 && needs_baseline(comparison))
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
		.runs = comparison->sides.sides,
		.nr_runs = comparison->sides.nr_runs,
		.gates = comparison->gates,
		.nr_gates = comparison->sides.cli->nr_gates,
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
		st = emit(comparison->sides.cli, &results, &out, &err);
	if (st) {
		ts_complain(err.text);
		code = st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
	} else {
		tell_gates(&results);
		if (!ts_print_to(comparison->sides.cli->output, ts_buf_bytes(&out)) ||
		    comparison->sides.damaged)
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
	ts_sides_init(&comparison->sides, cli);
	if (parse_gates(comparison)) {
		st = read_all(comparison, &err);
		if (st) {
			ts_complain(err.text);
			code = st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
		} else {
			code = compare_runs(comparison);
		}
	}
	ts_sides_release(&comparison->sides);
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
