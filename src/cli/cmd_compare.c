/* SPDX-License-Identifier: MIT */
/* compare: runs side by side, who is faster, and what made the difference; gates for CI. */
#include "cli/cli.h"

#include "base/buf.h"
#include "cli/report.h"
#include "cli/open_runs.h"
#include "result/schema/compare.def"

#define MAX_GATES 32

struct compare_options {
	struct ts_print_options print;
	struct ts_texts gates;	/* expressions, as given */
	struct ts_texts labels; /* a name a run */
};

struct comparison {
	const struct compare_options *own;
	struct ts_open_runs runs;
	struct ts_gate gates[MAX_GATES];
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
	const struct ts_texts *gates = &comparison->own->gates;

	for (size_t i = 0; i < gates->nr; i++) {
		struct ts_error err = TS_ERROR_INIT;
		size_t at;

		if (ts_gate_parse(gates->items[i], &comparison->gates[i], &at, &err)) {
			complain_of_gate(gates->items[i], at, &err);
			return false;
		}
	}
	return true;
}

static bool needs_baseline(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->own->gates.nr; i++)
		if (comparison->gates[i].of_baseline)
			return true;
	return false;
}

static bool cmd_compare_is_page(const struct comparison *comparison)
{
	const char *format = comparison->own->print.format;

	return format && strcmp(format, "html") == 0;
}

/* What the page lacks is said before the runs are read. */
static enum ts_status cmd_compare_check_page(const struct comparison *comparison,
					     struct ts_error *err)
{
	if (cmd_compare_is_page(comparison) && comparison->own->print.form.view)
		return ts_fail(err, TS_USAGE,
			       "--view goes with text, json and csv: the page has all views");
	return TS_OK;
}

static enum ts_status cmd_compare_read_all(struct comparison *comparison, struct ts_error *err)
{
	enum ts_status st = cmd_compare_check_page(comparison, err);

	if (st == TS_OK)
		st = ts_open_runs_read(&comparison->runs, err);
	if (st == TS_OK && comparison->runs.nr_runs < 2 && cmd_compare_is_page(comparison))
		return ts_fail(err, TS_USAGE,
			       "one run cannot be compared (name another; tpusight report -o "
			       "FILE.html makes the page of one)");
	if (st == TS_OK && comparison->runs.nr_runs < 2 && comparison->own->gates.nr == 0)
		return ts_fail(err, TS_USAGE,
			       "one run cannot be compared (name another, or say --fail-if)");
	if (st == TS_OK && comparison->runs.nr_runs < 2 && needs_baseline(comparison))
		return ts_fail(err, TS_USAGE,
			       "--fail-if compares with a baseline, and there is only one run "
			       "(name the baseline first)");
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
static void complain_of_gates(const struct ts_results *results)
{
	const struct ts_table *gates = TS_FIND_TABLE(results, compare, gates);

	for (size_t i = 0; gates && i < gates->nr_rows; i++) {
		struct ts_bytes state = ts_value_text(TS_CELL_OF(gates, compare_gates, i, state));
		struct ts_error line = TS_ERROR_INIT;
		char value[NUMBER_MAX], limit[NUMBER_MAX];

		if (ts_bytes_is(state, "passed"))
			continue;
		ts_fail(&line, TS_USAGE, "gate %.*s: %.*s: %.*s has %.*s, the limit is %.*s",
			TS_ARG(state),
			TS_ARG(ts_value_text(TS_CELL_OF(gates, compare_gates, i, gate))),
			TS_ARG(ts_value_text(TS_CELL_OF(gates, compare_gates, i, run))),
			TS_ARG(number_text(TS_CELL_OF(gates, compare_gates, i, value), value)),
			TS_ARG(number_text(TS_CELL_OF(gates, compare_gates, i, limit), limit)));
		ts_complain(line.text);
	}
}

/* Views may be named without the result they stand in. */
static enum ts_status cmd_compare_emit(const struct comparison *comparison,
				       const struct ts_results *results, struct ts_buf *out,
				       struct ts_error *err)
{
	struct ts_print_options print = comparison->own->print;
	const char *name = print.form.view;
	struct ts_buf view = TS_BUF_INIT;
	enum ts_status st;

	if (name && strncmp(name, "compare", strlen("compare")) != 0) {
		ts_buf_printf(&view, "compare.%s", name);
		ts_buf_putc(&view, '\0');
		print.form.view = view.failed ? name : (const char *)view.p;
	}
	st = ts_emit_report(comparison->runs.cli, &print, results, out, err);
	ts_buf_release(&view);
	return st;
}

static enum ts_exit compare_runs(struct comparison *comparison)
{
	const struct ts_compare_request request = {
		.runs = comparison->runs.compared,
		.nr_runs = comparison->runs.nr_runs,
		.gates = comparison->gates,
		.nr_gates = comparison->own->gates.nr,
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
		st = cmd_compare_emit(comparison, &results, &out, &err);
	if (st) {
		ts_complain(err.text);
		code = ts_exit_of(st);
	} else {
		complain_of_gates(&results);
		if (!ts_print_to(comparison->runs.cli, comparison->own->print.output,
				 ts_buf_bytes(&out)) ||
		    comparison->runs.damaged)
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
	comparison->own = cli->own;
	ts_open_runs_init(&comparison->runs, cli);
	comparison->runs.labels = &comparison->own->labels;
	if (parse_gates(comparison)) {
		st = cmd_compare_read_all(comparison, &err);
		if (st) {
			ts_complain(err.text);
			code = ts_exit_of(st);
		} else {
			code = compare_runs(comparison);
		}
	}
	ts_open_runs_release(&comparison->runs);
	free(comparison);
	return code;
}

static const char *cmd_compare_view_at(const struct ts_command *command, size_t index)
{
	return ts_compare_views[index];
}

#define OWN struct compare_options
static const struct ts_option options[] = {
	TS_OPT_TEXTS(OWN, gates, "fail-if", "EXPR", MAX_GATES,
		     "exit with 1 when EXPR is true or unknown (repeatable)"),
	TS_OPT_TEXTS(OWN, labels, "label", "NAME", TS_COMPARE_MAX,
		     "a run's name, in the order of PATHs (repeatable; default: its folder)"),
	TS_OPTION_FORMAT(OWN, print, ts_format_at),
	TS_OPTION_OUTPUT(OWN, print),
	TS_OPTION_JSON(OWN, print),
	TS_OPTION_ALL(OWN, print, "with --view: every row"),
	TS_OPTION_ROWS(OWN, print),
	TS_OPT_TEXT(OWN, print.form.view, "view", 0, "NAME", "one view: %s",
		    .name_at = cmd_compare_view_at),
	TS_OPT_END,
};

const struct ts_command ts_command_compare = {
	.name = "compare",
	.summary = "Say which of several runs is faster, whether that may be chance, and what made "
		   "it so.",
	.arguments = "BASE [OTHER...]",
	.help = "BASE and OTHER are sessions, profile files, log directories with one session, or "
		"archives; one\n"
		"log directory alone gives all its sessions, the first being the baseline. -o "
		"FILE.html writes\n"
		"the page that tpusight serve shows of them.\n\n"
		"EXPR is NAME OP NUMBER, or NAME OP baseline [* NUMBER | + NUMBER[%] | - "
		"NUMBER[%]]; OP is one of\n"
		"> >= < <= == !=. It is asked of every run but the baseline. NAME is "
		"step_time_ms.mean (median, p90,\n"
		"p99, min, max), wall_ms, peak_memory_mb, mxu_utilization_pct, "
		"hbm_utilization_pct, duty_cycle_pct,\n"
		"health_score, buckets.idle_ms or buckets.idle_pct (or another bucket), or the "
		"path of any number in\n"
		"the JSON report, as capacity.headroom_bytes. For instance\n"
		"  tpusight compare --fail-if 'step_time_ms.median > baseline * 1.05' BASE OTHER",
	.options = options,
	.own_size = sizeof(OWN),
	.has_thresholds = true,
	.run = run_compare,
};
