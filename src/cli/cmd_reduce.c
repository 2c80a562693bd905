/* SPDX-License-Identifier: MIT */
/* reduce: what the maps of a run's files made, put together. */
#include "cli/cli.h"

#include "base/check.h"
#include "cli/report.h"
#include "cli/steps.h"
#include "run/annotate.h"
#include "pod/map.h"
#include "pod/parcel.h"

struct reduce_options {
	struct ts_print_options print;
	size_t step; /* of steps[] */
	const char *outline, *results;
	uint64_t max_overlay_events, max_trace_events;
	bool has_max_trace_events, if_whole;
};

static const char *const steps[] = { "outline", "report", "trace", NULL };
enum { STEP_OUTLINE, STEP_REPORT, STEP_TRACE };

/* The files of the command line, open. */
struct inputs {
	struct ts_input *files;
	struct ts_map_input *items;
	size_t nr;
};

static enum ts_status open_inputs(const struct ts_cli *cli, struct inputs *inputs,
				  struct ts_error *err)
{
	enum ts_status st = TS_OK;

	inputs->files = calloc(cli->nr_paths + 1, sizeof(*inputs->files));
	inputs->items = calloc(cli->nr_paths + 1, sizeof(*inputs->items));
	if (!inputs->files || !inputs->items)
		return ts_fail_nomem(err);
	for (; inputs->nr < cli->nr_paths && st == TS_OK; inputs->nr++) {
		inputs->files[inputs->nr] = (struct ts_input)TS_INPUT_INIT;
		st = ts_step_input(cli, cli->paths[inputs->nr], &inputs->files[inputs->nr],
				   &inputs->items[inputs->nr], err);
	}
	return st;
}

static void close_inputs(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->nr; i++)
		ts_input_release(&inputs->files[i]);
	free(inputs->files);
	free(inputs->items);
}

static enum ts_exit reduce_outline(const struct ts_cli *cli)
{
	const struct reduce_options *own = cli->own;
	const struct ts_print_options *print = &own->print;
	const struct ts_map_options options = {
		.settings = cli->settings,
		.max_ops = print->all ? SIZE_MAX : print->max_ops,
		.max_steps = print->all ? SIZE_MAX : print->max_steps,
		.overlay_budget = (size_t)own->max_overlay_events,
		.has_max_trace_events = own->has_max_trace_events,
		.max_trace_events = own->max_trace_events,
	};
	struct ts_outcome outcome = { .nr_bad = 0 };
	struct ts_error err = TS_ERROR_INIT;
	struct inputs inputs = { .nr = 0 };
	struct ts_buf out = TS_BUF_INIT;
	enum ts_status st = open_inputs(cli, &inputs, &err);

	if (st == TS_OK)
		st = ts_check_output(cli, &err);
	if (st == TS_OK)
		st = ts_reduce_outline(inputs.items, inputs.nr, &options, &out, &err);
	ts_outcome_note(&outcome, st, &err);
	if (st == TS_OK && !ts_print_to(cli, own->print.output, ts_buf_bytes(&out)))
		outcome.nr_bad++;
	ts_buf_release(&out);
	close_inputs(&inputs);
	return ts_outcome_exit(&outcome);
}

/* The report names the damage. */
static void say_nothing_is_annotated(const char *results)
{
	struct ts_error story = TS_ERROR_INIT;

	ts_fail(&story, TS_OK,
		"%s: not written, because a file of the run is damaged, and nothing of such a run "
		"is annotated (copy the file again)",
		results);
	ts_complain(story.text);
}

/* The page draws tracks, which need the events again. */
static enum ts_status cmd_reduce_check_page(const struct reduce_options *own,
					    const struct inputs *inputs, struct ts_error *err)
{
	if (!own->print.format || strcmp(own->print.format, "html") != 0)
		return TS_OK;
	for (size_t i = 0; i < inputs->nr; i++)
		if (ts_parcel_is(inputs->items[i].bytes, TS_PARCEL_PAGE) ||
		    ts_parcel_is(inputs->items[i].bytes, TS_PARCEL_TRACKS))
			return TS_OK;
	return ts_fail(err, TS_USAGE,
		       "the page draws tracks, and none are here (run tpusight map tracks on all "
		       "files, and name what it writes)");
}

static enum ts_status cmd_reduce_sum_up(struct ts_run *run, void *ctx, struct ts_error *err)
{
	const struct ts_cli *cli = ctx;
	const struct reduce_options *own = cli->own;
	struct ts_input input = TS_INPUT_INIT;
	struct ts_map_input outline;
	const struct ts_newfile_use use = { .is_named = true, .sources = cli->sources };
	struct inputs inputs = { .nr = 0 };
	struct ts_buf results = TS_BUF_INIT;
	enum ts_status st = ts_step_input(cli, own->outline, &input, &outline, err);

	if (st == TS_OK)
		st = open_inputs(cli, &inputs, err);
	if (st == TS_OK)
		st = cmd_reduce_check_page(own, &inputs, err);
	if (st == TS_OK)
		st = ts_check_output(cli, err);
	if (st == TS_OK)
		st = ts_reduce_report(run, &outline, inputs.items, inputs.nr,
				      own->results ? &results : NULL, err);
	if (st == TS_OK && own->if_whole && ts_profile_is_damaged(&run->profile))
		say_nothing_is_annotated(own->results);
	else if (st == TS_OK && own->results)
		st = ts_newfile_save_for(own->results, ts_buf_bytes(&results), &use, err);
	ts_buf_release(&results);
	close_inputs(&inputs);
	ts_input_release(&input);
	return st;
}

/* The traces of the command line, put together into -o. */
static enum ts_status join_traces(const struct ts_cli *cli, struct ts_error *err)
{
	const struct reduce_options *own = cli->own;
	const struct ts_newfile_use use = { .is_named = true, .sources = cli->sources };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_input input = TS_INPUT_INIT;
	struct ts_map_input results;
	struct inputs inputs = { .nr = 0 };
	struct ts_run run;
	enum ts_status st = ts_step_input(cli, own->results, &input, &results, err);

	ts_run_init(&run);
	if (st == TS_OK)
		st = open_inputs(cli, &inputs, err);
	if (st == TS_OK)
		st = ts_check_output(cli, err);
	if (st == TS_OK)
		st = ts_newfile_open_for(&file, own->print.output, &use, err);
	if (st == TS_OK)
		st = ts_reduce_trace(&run, &results, inputs.items, inputs.nr, PACKAGE_VERSION,
				     &file, err);
	if (st == TS_OK)
		st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	ts_run_release(&run);
	close_inputs(&inputs);
	ts_input_release(&input);
	return st;
}

static enum ts_exit run_reduce(struct ts_cli *cli)
{
	struct reduce_options *own = cli->own;

	if (own->step == STEP_TRACE) {
		struct ts_outcome outcome = { .nr_bad = 0 };
		struct ts_error err = TS_ERROR_INIT;

		ts_outcome_note(&outcome, join_traces(cli, &err), &err);
		return ts_outcome_exit(&outcome);
	}
	if (own->step == STEP_OUTLINE)
		return reduce_outline(cli);
	own->print.tracks = true; /* where there are some */
	if (!ts_report_settle(&own->print))
		return TS_EXIT_USAGE;
	return ts_report_run(cli, &own->print, cmd_reduce_sum_up, cli);
}

static enum ts_status cmd_reduce_prepare(struct ts_cli *cli, struct ts_error *err)
{
	struct reduce_options *own = cli->own;
	enum ts_status st = ts_step_take(cli, steps, &own->step, err);

	if (st)
		return st;
	cli->has_no_format = own->step != STEP_REPORT;
	if ((own->outline != NULL) != (own->step == STEP_REPORT))
		return ts_fail(err, TS_USAGE, "--outline goes with reduce report, which needs it");
	if (own->results && own->step == STEP_OUTLINE)
		return ts_fail(err, TS_USAGE, "--results goes with reduce report and trace");
	if (!own->results && own->step == STEP_TRACE)
		return ts_fail(err, TS_USAGE, "reduce trace needs --results");
	if (own->if_whole && (!own->results || own->step != STEP_REPORT))
		return ts_fail(err, TS_USAGE, "--if-whole goes with --results of reduce report");
	return own->step != STEP_REPORT && !own->print.output ? ts_step_no_output(err) : TS_OK;
}

static const struct reduce_options defaults = { .max_overlay_events = TS_MAX_OVERLAY_EVENTS };

#define OWN struct reduce_options
static const struct ts_option options[] = {
	TS_OPT_TEXT(OWN, outline, "outline", 0, "RUN", "report: what reduce outline has written",
		    .place = TS_PLACE_READ),
	TS_OPT_TEXT(OWN, results, "results", 0, "RESULTS",
		    "report: write what map overlay and map tracks need to RESULTS; trace: these",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_FLAG(OWN, if_whole, "if-whole", 0,
		    "report: write RESULTS only if no file is damaged (else nothing is annotated)"),
	TS_OPTION_FORMAT(OWN, print, ts_format_at),
	TS_OPTION_OUTPUT(OWN, print),
	TS_OPTION_JSON(OWN, print),
	TS_OPTION_ALL(OWN, print,
		      "report: every view, where a screen has the first findings; with --view "
		      "every row. outline: ops and steps without a bound"),
	TS_OPT_MAX_ROWS(OWN, print.max_ops, print.max_steps),
	TS_OPTION_ROWS(OWN, print),
	TS_OPT_COUNT(OWN, max_overlay_events, "max-overlay-events", 0, "N", 0, TS_OPTION_ANY,
		     "a number of events",
		     .help = "outline: events in the overlay, a host (default 200000)"),
	TS_OPT_COUNT(
		OWN, max_trace_events, "max-trace-events", 0, "N", 0, TS_OPTION_ANY,
		"a number of events",
		.help = "outline: events in a Perfetto file (default 1000000, pftrace all; 0: all)",
		TS_OPTION_GIVEN(OWN, has_max_trace_events)),
	TS_OPT_TEXT(OWN, print.form.view, "view", 0, "NAME",
		    "one view: %s; or a table of one (steps, modules, time.per_step ...)",
		    .name_at = ts_view_at),
	TS_OPT_END,
};

const struct ts_command ts_command_reduce = {
	.name = "reduce",
	.summary = "Put together what the maps of a run's files made: its outline, report, trace.",
	.arguments = "outline|report|trace FILE...",
	.help = "reduce outline takes what tpusight map outline wrote of each file of the run; "
		"reduce report what\n"
		"tpusight map pass wrote, and tracks, where tpusight map overlay or map tracks "
		"wrote some; reduce\n"
		"trace what tpusight map overlay --trace wrote, and what reduce report --results "
		"did. The files may\n"
		"be named in any order; all must be there. Thresholds, how many ops and steps are "
		"listed, and how\n"
		"much is drawn, are given to reduce outline and hold for all that follows.\n"
		"tpusight map --help has all steps.",
	.options = options,
	.own_size = sizeof(OWN),
	.defaults = &defaults,
	.has_thresholds = true,
	.prepare = cmd_reduce_prepare,
	.run = run_reduce,
};
