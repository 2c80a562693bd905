/* SPDX-License-Identifier: MIT */
/*
 * timeline: when the host and the devices worked, alone and at once. As `chrome` the events themselves,
 * those that are long enough, written row by row (trace/trace.h): memory does not grow with them.
 */
#include "cli/suite.h"

#include "base/buf.h"
#include "codec/term.h"
#include "run/annotate.h"
#include "run/run.h"
#include "trace/trace.h"
#include "model/trace_class.h"
#include "result/schema/timeline.def"

static const struct ts_suite suite = { .results = { &ts_schema_timeline },
				       .file_format = "chrome" };

struct timeline_options {
	struct ts_print_options print;
	bool no_python; /* without the frames of Python's tracer */
	uint64_t max_events;
};

static const struct timeline_options defaults = {
	.print.form.min_duration_ps = TS_PS_PER_US,
	.max_events = TS_MAX_TRACE_EVENTS,
};

struct drawing {
	const struct ts_cli *cli;
	const struct timeline_options *own;
	struct ts_run run;
	struct ts_trace_plan plan;
	bool *unwanted; /* of each op */
};

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
			drawing->own->no_python && ts_trace_is_python(&profile->ops[i]);
	drawing->plan.min_ps =
		drawing->own->print.form.min_duration_ps; /* shorter ones are not drawn */
	drawing->plan.unwanted = drawing->unwanted;
	return TS_OK;
}

static enum ts_status cmd_timeline_read_session(struct drawing *drawing,
						const struct ts_session *session,
						struct ts_error *err)
{
	const struct ts_cli *cli = drawing->cli;
	struct ts_run_options options = { .nr_threads = cli->nr_threads,
					  .settings = cli->settings,
					  .interleave = true,
					  .no_python = drawing->own->no_python,
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
	return st ? st : ts_trace_plan_close(&drawing->plan, drawing->own->max_events, err);
}

/* TS_IO: it is on the console. */
static enum ts_status print_counts(const struct drawing *drawing,
				   const struct ts_trace_report *report)
{
	const struct timeline_options *own = drawing->own;
	int64_t least_ps = own->print.form.min_duration_ps;
	uint64_t unwanted = drawing->plan.nr_left_out;
	uint64_t crowded = report->events_left_out - TS_MIN(report->events_left_out, unwanted);
	struct ts_buf out = TS_BUF_INIT;
	bool good;

	ts_term_text(&out, ts_bytes_of(own->print.output));
	ts_buf_printf(&out, ": %llu of %llu events", (unsigned long long)report->events_written,
		      (unsigned long long)report->events_total);
	if (unwanted)
		ts_buf_printf(&out, "; left out: %llu", (unsigned long long)unwanted);
	if (unwanted && least_ps > 0)
		ts_buf_printf(&out, " shorter than %g \u00b5s",
			      (double)least_ps / (double)TS_PS_PER_US);
	if (unwanted && own->no_python)
		ts_buf_printf(&out, "%s of Python's tracer", least_ps > 0 ? " or" : "");
	if (crowded)
		ts_buf_printf(&out, "%s %llu that are the shortest (--max-events=0: all)",
			      unwanted ? "," : "; left out:", (unsigned long long)crowded);
	ts_buf_putc(&out, '\n');
	good = drawing->cli->quiet || ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
	return good ? TS_OK : TS_IO;
}

/* Packed where the file's name says so. */
static enum ts_status cmd_timeline_write_events(struct drawing *drawing, struct ts_error *err)
{
	const char *path = drawing->own->print.output;
	bool packed = ts_bytes_ends(ts_bytes_of(path), ".gz");
	struct ts_trace_options options = { .form = &ts_perfetto_json,
					    .nr_threads = drawing->cli->nr_threads,
					    .is_plain = !packed,
					    .version = PACKAGE_VERSION };
	const struct ts_newfile_use use = { .is_named = true, .sources = drawing->cli->sources };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_trace_report report;
	enum ts_status st = ts_newfile_open_for(&file, path, &use, err);

	if (st == TS_OK)
		st = ts_trace_write(&file, &drawing->run.profile, &drawing->run.results,
				    &drawing->plan, &options, &report, err);
	if (st == TS_OK)
		st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	return st ? st : print_counts(drawing, &report);
}

/* DAMAGED: it was read in part, or could not be written. */
static enum ts_status cmd_timeline_draw(const struct ts_cli *cli, const struct ts_session *session,
					bool *damaged, struct ts_error *err)
{
	struct ts_error story = TS_ERROR_INIT;
	struct drawing drawing = { .cli = cli, .own = cli->own };
	enum ts_status st;

	ts_run_init(&drawing.run);
	st = cmd_timeline_read_session(&drawing, session, err);
	*damaged = ts_complain_of_run(&drawing.run, st == TS_OK);
	if (st == TS_OK && cmd_timeline_write_events(&drawing, &story)) {
		if (story.text[0])
			ts_complain(story.text);
		*damaged = true;
	}
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
		st = cmd_timeline_draw(cli, &runs.sessions[0], &damaged, &err);
	ts_runs_release(&runs);
	if (st) {
		ts_complain(err.text);
		return ts_exit_of(st);
	}
	return nr_bad || damaged ? TS_EXIT_SOME : TS_EXIT_DONE;
}

static enum ts_exit run_timeline(struct ts_cli *cli)
{
	const struct timeline_options *own = cli->own;
	const struct ts_door door = { .no_python = own->no_python };

	if (!own->print.format || strcmp(own->print.format, "chrome") != 0)
		return ts_suite_report(cli, &own->print, door);
	if (own->print.output && strcmp(own->print.output, "-") != 0)
		return run_chrome(cli);
	ts_complain("chrome is written to a file (-o FILE; packed when it ends in .gz)");
	return TS_EXIT_USAGE;
}

#define OWN struct timeline_options
static const struct ts_option options[] = {
	TS_SUITE_OPTIONS(OWN, print),
	TS_MIN_DURATION(
		OWN, print,
		"chrome: events that are shorter are not drawn (default 1); figures count all"),
	TS_OPT_FLAG(OWN, no_python, "no-python", 0,
		    "frames of Python's tracer do not count as activity and are not drawn"),
	TS_OPT_COUNT(OWN, max_events, "max-events", 0, "N", 0, TS_OPTION_ANY, "a number of events",
		     .help = "chrome: the N longest (default 1000000; 0: all)"),
	TS_OPT_END,
};

const struct ts_command ts_command_timeline = {
	.name = "timeline",
	.summary = "Print when the CPU and the GPU (or TPU) were active, alone and at once.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever "
		"report takes.\n"
		"Each step's time is parted into Kernel, Memcpy, Memset, Communication, Runtime,\n"
		"DataLoader, CPU Exec and Other, which sum to it. With --format chrome -o FILE the "
		"events\n"
		"go into a trace for ui.perfetto.dev: devices and hosts, their streams and "
		"threads.",
	.options = options,
	.own_size = sizeof(OWN),
	.defaults = &defaults,
	.has_thresholds = true,
	.suite = &suite,
	.run = run_timeline,
};
