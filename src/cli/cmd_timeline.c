/*
 * timeline: when the host and the devices worked, alone and at once. As `chrome` the events themselves,
 * those that are long enough, written row by row (flow/trace.h): memory does not grow with them.
 */
#include "cli/suite.h"

#include "base/buf.h"
#include "flow/run.h"
#include "flow/trace.h"
#include "model/trace_class.h"

static enum ts_status set_no_python(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->no_python = true;
	return TS_OK;
}

static enum ts_status set_max_events(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	cli->has_max_trace_events = true;
	if (!ts_bytes_u64(ts_bytes_of(value), &cli->max_trace_events))
		return ts_fail(err, TS_USAGE, "%s is no number", value);
	return TS_OK;
}

struct drawing {
	const struct ts_cli *cli;
	struct ts_run run;
	struct ts_trace_plan plan;
	bool *unwanted; /* of each op */
};

/* What is shorter than this is not drawn. */
static int64_t least_ps(const struct ts_cli *cli)
{
	return cli->has_min_duration ? cli->min_duration_ps : TS_PS_PER_US;
}

/* Streams, threads, steps and what viewers made of them; no instants, counters, spans of the profiler. */
static bool draws(void *plan, const struct ts_profile *profile, uint32_t line)
{
	return profile->lines[line].kind != TS_LINE_OTHER && ts_trace_wants(plan, profile, line);
}

static enum ts_status plan_events(struct drawing *drawing, struct ts_error *err)
{
	const struct ts_profile *profile = &drawing->run.profile;
	enum ts_status st = ts_trace_plan_init(&drawing->plan, profile, err);

	drawing->unwanted = calloc(profile->nr_ops + 1, sizeof(*drawing->unwanted));
	if (st == TS_OK && !drawing->unwanted)
		st = ts_fail_nomem(err);
	if (st)
		return st;
	for (size_t i = 0; i < profile->nr_ops; i++)
		drawing->unwanted[i] =
			drawing->cli->no_python && ts_trace_is_python(&profile->ops[i]);
	drawing->plan.min_ps = least_ps(drawing->cli);
	drawing->plan.unwanted = drawing->unwanted;
	return TS_OK;
}

static enum ts_status read_session(struct drawing *drawing, const struct ts_session *session,
				   struct ts_error *err)
{
	const struct ts_cli *cli = drawing->cli;
	struct ts_run_options options = { .nr_threads = cli->nr_threads,
					  .settings = &cli->settings,
					  .merge = true,
					  .no_python = cli->no_python,
					  .overlay_budget = TS_MAX_OVERLAY_EVENTS };
	struct ts_duration_counter counter;
	enum ts_status st = ts_run_open(&drawing->run, session, &options, err);

	if (st == TS_OK)
		st = plan_events(drawing, err);
	if (st)
		return st;
	counter = ts_trace_plan_counter(&drawing->plan);
	counter.wants = draws;
	options.counter = &counter;
	st = ts_run_analyse(&drawing->run, &options, err);
	return st ? st
		  : ts_trace_plan_close(&drawing->plan,
					cli->has_max_trace_events ? cli->max_trace_events
								  : TS_MAX_TRACE_EVENTS,
					err);
}

static void tell(const struct drawing *drawing, const struct ts_trace_report *report)
{
	const struct ts_cli *cli = drawing->cli;
	uint64_t unwanted = drawing->plan.nr_left_out;
	uint64_t crowded = report->events_left_out - TS_MIN(report->events_left_out, unwanted);
	struct ts_buf out = TS_BUF_INIT;

	ts_buf_printf(&out, "%s: %llu of %llu events", cli->output,
		      (unsigned long long)report->events_written,
		      (unsigned long long)report->events_total);
	if (unwanted)
		ts_buf_printf(&out, "; left out: %llu", (unsigned long long)unwanted);
	if (unwanted && least_ps(cli) > 0)
		ts_buf_printf(&out, " shorter than %g us",
			      (double)least_ps(cli) / (double)TS_PS_PER_US);
	if (unwanted && cli->no_python)
		ts_buf_printf(&out, "%s of Python's tracer", least_ps(cli) > 0 ? " or" : "");
	if (crowded)
		ts_buf_printf(&out, "%s %llu that are the shortest (--max-events=0: all)",
			      unwanted ? "," : "; left out:", (unsigned long long)crowded);
	ts_buf_putc(&out, '\n');
	if (!cli->quiet)
		ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

/* Packed where the file's name says so. */
static enum ts_status write_events(struct drawing *drawing, struct ts_error *err)
{
	const struct ts_cli *cli = drawing->cli;
	bool packed = ts_bytes_ends(ts_bytes_of(cli->output), ".gz");
	struct ts_trace_options options = { .form = &ts_perfetto_json,
					    .nr_threads = cli->nr_threads,
					    .level = packed ? TS_TRACE_LEVEL : TS_TRACE_PLAIN,
					    .version = PACKAGE_VERSION };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_trace_report report;
	enum ts_status st = ts_newfile_open(&file, cli->output, err);

	if (st == TS_OK)
		st = ts_trace_write(&file, &drawing->run.profile, &drawing->run.results,
				    &drawing->plan, &options, &report, err);
	if (st == TS_OK)
		st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	if (st == TS_OK)
		tell(drawing, &report);
	return st;
}

static enum ts_status draw(const struct ts_cli *cli, const struct ts_session *session,
			   bool *damaged, struct ts_error *err)
{
	struct drawing drawing = { .cli = cli };
	enum ts_status st;

	ts_run_init(&drawing.run);
	st = read_session(&drawing, session, err);
	for (size_t i = 0; i < drawing.run.nr_problems; i++)
		ts_complain(drawing.run.problems[i]);
	for (size_t i = 0; st == TS_OK && i < drawing.run.profile.nr_damage; i++)
		ts_complain_of_damage(&drawing.run.profile.damage[i],
				      "what stands before it was read");
	*damaged = drawing.run.nr_problems > 0 || drawing.run.profile.nr_damage > 0;
	if (st == TS_OK)
		st = write_events(&drawing, err);
	ts_trace_plan_release(&drawing.plan);
	free(drawing.unwanted);
	ts_run_release(&drawing.run);
	return st;
}

static enum ts_exit run_chrome(const struct ts_cli *cli)
{
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	size_t nr_bad = 0;
	bool damaged = false;
	enum ts_status st = ts_find_sessions(cli, &runs, &nr_bad, &err);

	if (st == TS_OK && runs.nr_sessions != 1)
		st = ts_fail(&err, runs.nr_sessions ? TS_USAGE : TS_NOTFOUND,
			     "%zu sessions were found, and a trace is of one (name it)",
			     runs.nr_sessions);
	if (st == TS_OK)
		st = draw(cli, &runs.sessions[0], &damaged, &err);
	ts_runs_release(&runs);
	if (st) {
		ts_complain(err.text);
		return st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
	}
	return nr_bad || damaged ? TS_EXIT_SOME : TS_EXIT_DONE;
}

static enum ts_exit run_timeline(struct ts_cli *cli)
{
	if (!cli->format || strcmp(cli->format, "chrome") != 0)
		return ts_suite_run(cli);
	if (cli->output && strcmp(cli->output, "-") != 0)
		return run_chrome(cli);
	ts_complain("chrome is written to a file (-o FILE; packed when it ends in .gz)");
	return TS_EXIT_USAGE;
}

static const struct ts_option options[] = {
	TS_SUITE_OPTIONS,
	{ "min-duration-us", 0, "N",
	  "chrome: events that are shorter are not drawn (default 1); figures count all",
	  ts_set_min_duration },
	{ "no-python", 0, NULL, "frames of Python's tracer are no activity, and are not drawn",
	  set_no_python },
	{ "max-events", 0, "N", "chrome: the N longest (default 1000000; 0: all)", set_max_events },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_timeline = {
	.name = "timeline",
	.summary = "Print when the CPU and the GPU (or TPU) were active, alone and at once.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever "
		"report "
		"takes.\n"
		"Each step's time is parted into Kernel, Memcpy, Memset, Communication, Runtime,\n"
		"DataLoader, CPU Exec and Other, which sum to it. With --format chrome -o FILE the "
		"events\n"
		"go into a trace for ui.perfetto.dev: devices and hosts, their streams and "
		"threads.",
	.options = options,
	.run = run_timeline,
};
