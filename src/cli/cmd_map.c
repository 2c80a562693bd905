/* SPDX-License-Identifier: MIT */
/* map: what is made of one file of a run, where that file lies. */
#include "cli/cli.h"

#include "base/check.h"
#include "cli/deeds.h"
#include "cli/steps.h"
#include "pod/beside.h"
#include "pod/map.h"
#include "io/url.h"

struct map_options {
	size_t step; /* of steps[] */
	const char *output, *outline, *results, *tracks, *trace, *report, *list, *held, *logdir;
	enum ts_trace_kind form; /* of the trace */
	size_t index;
	bool has_index, put;
};

static const char *const steps[] = { "outline", "pass", "overlay", "tracks", "beside", NULL };
enum { STEP_OUTLINE, STEP_PASS, STEP_OVERLAY, STEP_TRACKS, STEP_BESIDE };

/* What the step makes of the session's one file. */
struct made {
	struct ts_buf out, tracks, trace;
	bool damaged;
	size_t nr_failed;
};

/* Behind the file, where it lies. */
static enum ts_status put_overlay(const struct ts_session *session, const struct ts_run *run,
				  struct made *made, struct ts_error *err)
{
	const struct ts_bytes tail = ts_buf_bytes(&made->out);
	const struct ts_overlay_plan plan = { .inputs = run->inputs, .tail = &tail };
	const struct ts_overlay_options options = { .dry_run = false };
	struct ts_overlay_report report = TS_OVERLAY_REPORT_INIT;
	enum ts_status st = ts_overlay_apply(session, &plan, &options, &report, err);

	made->nr_failed = ts_deeds_failures(&report);
	ts_overlay_report_release(&report);
	return made->nr_failed ? TS_OK : st; /* else it is on the console already */
}

static enum ts_status cmd_map_draw(const struct ts_cli *cli, struct ts_run *run,
				   const struct ts_session *session,
				   const struct ts_map_input *results, struct made *made,
				   const char **problem, struct ts_error *err)
{
	const struct map_options *own = cli->own;
	struct ts_map_drawing drawing = { .tail = &made->out,
					  .tracks = own->tracks ? &made->tracks : NULL,
					  .trace = own->trace ? &made->trace : NULL,
					  .kind = own->form };
	enum ts_status st = ts_map_overlay(run, session, results, cli->nr_threads, &drawing, err);

	*problem = drawing.problem;
	return st;
}

static enum ts_status cmd_map_make(const struct ts_cli *cli, const struct ts_session *session,
				   struct made *made, struct ts_error *err)
{
	const struct map_options *own = cli->own;
	const char *before = own->step == STEP_PASS ? own->outline : own->results;
	struct ts_input input = TS_INPUT_INIT;
	struct ts_map_input from = { .path = before };
	const char *problem = NULL;
	struct ts_run run;
	enum ts_status st = TS_OK;

	ts_run_init(&run);
	if (before)
		st = ts_step_input(cli, before, &input, &from, err);
	if (st == TS_OK && before)
		st = ts_check_output(cli, err);
	if (st == TS_OK && own->step == STEP_OUTLINE)
		st = ts_map_outline(&run, session, cli->settings, cli->nr_threads, &made->out,
				    &problem, err);
	if (st == TS_OK && own->step == STEP_PASS)
		st = ts_map_pass(&run, session, &from, cli->nr_threads, &made->out, err);
	if (st == TS_OK && own->step == STEP_OVERLAY)
		st = cmd_map_draw(cli, &run, session, &from, made, &problem, err);
	if (st == TS_OK && own->step == STEP_TRACKS)
		st = ts_map_tracks(&run, session, &from, cli->nr_threads, &made->out, err);
	if (st == TS_OK && own->put)
		st = put_overlay(session, &run, made, err);
	if (problem)
		ts_complain(problem);
	made->damaged = problem != NULL;
	ts_run_release(&run);
	ts_input_release(&input);
	return st;
}

static bool cmd_map_write_all(const struct ts_cli *cli, const struct made *made)
{
	const struct map_options *own = cli->own;

	return (!own->output || ts_print_to(cli, own->output, ts_buf_bytes(&made->out))) &&
	       (!own->tracks || ts_print_to(cli, own->tracks, ts_buf_bytes(&made->tracks))) &&
	       (!own->trace || ts_print_to(cli, own->trace, ts_buf_bytes(&made->trace)));
}

static enum ts_exit map_session(const struct ts_cli *cli, const struct ts_session *session)
{
	struct made made = { .out = TS_BUF_INIT, .tracks = TS_BUF_INIT, .trace = TS_BUF_INIT };
	struct ts_outcome outcome = { .nr_bad = 0 };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_progress progress;
	enum ts_status st;

	ts_progress_begin(&progress, cli, session->files[0].path);
	st = cmd_map_make(cli, session, &made, &err);
	ts_progress_end(&progress);
	ts_outcome_note(&outcome, st, &err);
	outcome.damaged = made.damaged;
	outcome.nr_bad += made.nr_failed;
	if (st == TS_OK && !cmd_map_write_all(cli, &made))
		outcome.nr_bad++;
	ts_buf_release(&made.out);
	ts_buf_release(&made.tracks);
	ts_buf_release(&made.trace);
	return ts_outcome_exit(&outcome);
}

static enum ts_exit cmd_map_put_beside(const struct ts_cli *cli, const struct ts_session *session)
{
	const struct map_options *own = cli->own;
	struct ts_input results = TS_INPUT_INIT, report = TS_INPUT_INIT;
	struct ts_beside beside = { .done = TS_OVERLAY_REPORT_INIT };
	struct ts_outcome outcome = { .nr_bad = 0 };
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = ts_step_input(cli, own->results, &results, &beside.results, &err);

	if (st == TS_OK)
		st = ts_step_input(cli, own->report, &report, &beside.report, &err);
	if (st == TS_OK)
		st = ts_beside_put(&beside, session, &err);
	if (ts_deeds_failures(&beside.done) > 0)
		err = (struct ts_error)TS_ERROR_INIT; /* is on the console already */
	outcome.unwritten = ts_deeds_nr(&beside.done, TS_DEED_FAILED) > 0;
	ts_outcome_note(&outcome, st, &err);
	ts_overlay_report_release(&beside.done);
	ts_input_release(&report);
	ts_input_release(&results);
	return ts_outcome_exit(&outcome);
}

static enum ts_status not_one(const struct ts_cli *cli, struct ts_error *err)
{
	const struct map_options *own = cli->own;

	if (own->step == STEP_BESIDE)
		return ts_fail(err, TS_USAGE,
			       "%s: a report stands beside one session (name its folder)",
			       cli->paths[0]);
	return ts_fail(err, TS_USAGE, "%s: a map is of one file (name a file of the session)",
		       cli->paths[0]);
}

static enum ts_exit run_map(struct ts_cli *cli)
{
	const struct map_options *own = cli->own;
	bool is_beside = own->step == STEP_BESIDE;
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code;
	size_t nr_bad = 0;
	enum ts_status st = ts_find_sessions(cli, &runs, &nr_bad, &err);

	if (st == TS_OK && runs.nr_sessions > 0 &&
	    (runs.sessions[0].kind != (is_beside ? TS_SESSION_DIR : TS_SESSION_FILE) ||
	     runs.nr_sessions > 1))
		st = not_one(cli, &err);
	if (st)
		ts_complain(err.text);
	code = st		       ? ts_exit_of(st)
	       : runs.nr_sessions == 0 ? TS_EXIT_NOTHING
	       : is_beside	       ? cmd_map_put_beside(cli, &runs.sessions[0])
				       : map_session(cli, &runs.sessions[0]);
	ts_runs_release(&runs);
	return code;
}

#define AT(step) (1u << STEP_##step)

/* Which options go with which steps. */
static enum ts_status check_options(const struct ts_cli *cli, struct ts_error *err)
{
	const struct map_options *own = cli->own;
	const struct {
		bool is_given, is_needed;
		unsigned steps;
		const char *words;
	} rules[] = {
		{ own->outline != NULL, true, AT(PASS),
		  "--outline goes with map pass, which needs it" },
		{ own->results != NULL, true, AT(OVERLAY) | AT(TRACKS) | AT(BESIDE),
		  "--results goes with map overlay, map tracks and map beside, which need it" },
		{ own->tracks || own->trace || own->put, false, AT(OVERLAY),
		  "--tracks, --trace and --put go with map overlay" },
		{ own->report != NULL, true, AT(BESIDE),
		  "--report goes with map beside, which needs it" },
		{ own->output != NULL, false, AT(OUTLINE) | AT(PASS) | AT(OVERLAY) | AT(TRACKS),
		  "map beside writes beside the profiles: -o is not for it" },
		{ own->put && ts_url_is(cli->paths[0]), false, 0,
		  "--put is for files of this machine (tpusight pod --annotate does it in a "
		  "bucket)" },
	};

	for (size_t i = 0; i < TS_NELEM(rules); i++) {
		bool fits = (rules[i].steps & 1u << own->step) != 0;

		if (rules[i].is_given ? !fits : fits && rules[i].is_needed)
			return ts_fail(err, TS_USAGE, "%s", rules[i].words);
	}
	return TS_OK;
}
#undef AT

/* The first word says which step it is; a list and a number in it may stand for the file. */
static enum ts_status cmd_map_prepare(struct ts_cli *cli, struct ts_error *err)
{
	struct map_options *own = cli->own;
	enum ts_status st = ts_step_take(cli, steps, &own->step, err);

	if (st == TS_OK && (own->list != NULL) != own->has_index)
		st = ts_fail(err, TS_USAGE, "--list and --index go together");
	if (st == TS_OK && own->list)
		st = ts_step_take_line(cli, own->list, own->index, err);
	if (st == TS_OK && cli->nr_paths != 1)
		st = ts_fail(err, TS_USAGE, "a map is of one file (%zu were named)", cli->nr_paths);
	if (st == TS_OK)
		st = check_options(cli, err);
	cli->held = own->held;
	cli->logdir = own->logdir;
	return st == TS_OK && !own->output && !own->put && own->step != STEP_BESIDE
		       ? ts_step_no_output(err)
		       : st;
}

static const char *const forms[] = {
	[TS_TRACE_JSON] = "json", [TS_TRACE_PFTRACE] = "pftrace", NULL
};

#define OWN struct map_options
static const struct ts_option options[] = {
	TS_OPT_TEXT(OWN, output, "output", 'o', "OUT", "write to OUT, whole or not at all",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_TEXT(OWN, outline, "outline", 0, "RUN", "pass: what reduce outline has written",
		    .place = TS_PLACE_READ),
	TS_OPT_TEXT(OWN, results, "results", 0, "RESULTS",
		    "overlay, tracks, beside: what reduce report --results has written",
		    .place = TS_PLACE_READ),
	TS_OPT_FLAG(OWN, put, "put", 0, "overlay: put it behind FILE, as tpusight annotate does",
		    .needs = TS_WRITES_INSIDE),
	TS_OPT_TEXT(OWN, tracks, "tracks", 0, "TRACKS",
		    "overlay: also write what is drawn to TRACKS, for the report",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_TEXT(OWN, report, "report", 0, "REPORT",
		    "beside: the report that reduce report has written of the tracks",
		    .place = TS_PLACE_READ, .needs = TS_WRITES_INSIDE),
	TS_OPT_TEXT(OWN, trace, "trace", 0, "TRACE",
		    "overlay: also write its part of the Perfetto trace to TRACE, for reduce trace",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_CHOICE(OWN, form, enum ts_trace_kind, "perfetto", "FORM", forms, true,
		      "overlay: the form of that trace: %s"),
	TS_OPT_TEXT(OWN, list, "list", 0, "LIST", "a file with a path a line, for array jobs",
		    .place = TS_PLACE_READ),
	TS_OPT_COUNT(OWN, index, "index", 0, "N", 0, TS_OPTION_ANY, "a number of a line",
		     .help = "takes line N of LIST, counted from 0, in place of FILE",
		     TS_OPTION_GIVEN(OWN, has_index)),
	TS_OPT_TEXT(OWN, held, "held", 0, "FOLDER",
		    "FILE is a URL, and its content lies in FOLDER already, as SCHEME:/BUCKET/NAME",
		    .place = TS_PLACE_READ),
	TS_OPT_TEXT(OWN, logdir, "logdir", 0, "DIR",
		    "the log directory that the run is named from, in all steps (default: the "
		    "run's folder)"),
	TS_OPT_END,
};

const struct ts_command ts_command_map = {
	.name = "map",
	.summary =
		"One file of a run, analysed where it lies: its outline, states, overlay, tracks.",
	.arguments = "outline|pass|overlay|tracks FILE | beside SESSION",
	.help = "A run of many hosts is analysed by files, on any machines, in four steps:\n"
		"  tpusight map outline HOST.xplane.pb -o HOST.outline             on each file\n"
		"  tpusight reduce outline *.outline -o run.outline                once\n"
		"  tpusight map pass HOST.xplane.pb --outline run.outline -o HOST.states\n"
		"  tpusight reduce report *.states --outline run.outline -o report.json\n"
		"The report is the one that tpusight report prints of all files on one machine, "
		"byte for byte. With\n"
		"--results run.results the last step also leaves what a fifth one needs:\n"
		"  tpusight map overlay HOST.xplane.pb --results run.results -o HOST.tail\n"
		"These are the bytes that tpusight annotate puts behind the profile; --put puts "
		"them there. What it\n"
		"writes beside them, once all tracks are together (docs/map.md), is put by\n"
		"  tpusight map beside SESSION --results run.results --report REPORT.json\n"
		"With --trace HOST.trace it also writes the host's part of the Perfetto trace, and "
		"the whole one is\n"
		"made of these:\n"
		"  tpusight reduce trace *.trace --results run.results -o perfetto_trace.json.gz\n"
		"The page draws, too; what it draws of a file is made by\n"
		"  tpusight map tracks HOST.xplane.pb --results run.results -o HOST.page\n"
		"  tpusight reduce report *.states *.page --outline run.outline -o report.html\n"
		"A step may be run again at any time: equal files give equal bytes.",
	.options = options,
	.own_size = sizeof(OWN),
	.prepare = cmd_map_prepare,
	.run = run_map,
};
