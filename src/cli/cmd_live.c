/* SPDX-License-Identifier: MIT */
/* live: watches a running job, or a log directory. */
#include "cli/annotate.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/ending.h"
#include "cli/live_print.h"
#include "cli/mount.h"
#include "cli/serving.h"
#include "codec/term.h"
#include "io/file.h"
#include "io/input.h"
#include "io/rpc.h"
#include "io/url.h"
#include "live/alert_command.h"
#include "live/live.h"
#include "live/stall.h"
#include "serve/server.h"

#define MAX_SERVICES	    1024
#define COMMAND_PATIENCE_MS 5000
#define CAPTURE "capture" /* the word of --on-alert that is not a command */

struct live_options {
	const char *services;	/* HOST:PORT,... as given */
	const char *repository; /* a folder, as given */
	bool has_interval;
	int64_t interval_ms;
	int64_t sample_ms, for_ms, hold_ms, clear_ms, timeout_ms, settle_ms, stall_ms;
	bool told;
	bool new_only;
	enum ts_hlo_choice hlo;
	enum ts_severity fail_on; /* TS_NR_SEVERITIES: never */
	const char *on_alert;
	const char *capture_to;
	struct ts_annotate_choice annotate;
	bool json, serve;
	struct ts_serving_at at;
};

static enum ts_status set_repository(void *repository, const char *value, struct ts_error *err)
{
	if (!ts_dir_exists(value))
		return ts_fail(err, TS_USAGE,
			       "%s: not a folder (make it; the servers must see it too)", value);
	memcpy(repository, &value, sizeof(value));
	return TS_OK;
}

/* HOST:PORT,HOST:PORT... cut in place. */
static enum ts_status split(char *text, const char **addresses, size_t *nr, struct ts_error *err)
{
	for (char *at = text; at; at = *at ? at : NULL) {
		char *comma = strchr(at, ',');

		if (comma)
			*comma = '\0';
		if (*at == '\0' || *nr == MAX_SERVICES)
			return ts_fail(err, TS_USAGE,
				       "--service needs HOST:PORT[,HOST:PORT...], at most %d",
				       MAX_SERVICES);
		addresses[(*nr)++] = at;
		if (!comma)
			return TS_OK;
		at = comma + 1;
	}
	return ts_fail(err, TS_USAGE, "--service ends with a comma");
}

/* A server that is asked twice in a round would still be busy with the first question. */
static enum ts_status check_distinct(const char *const *addresses, size_t nr, struct ts_error *err)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(addresses[i], addresses[j]) == 0)
				return ts_fail(err, TS_USAGE, "--service names %s twice",
					       addresses[i]);
	return TS_OK;
}

/* A thread waits for the signals that end the watch; they are blocked in all other threads. */
struct ending {
	struct ts_live *live;
	struct ts_remote *remote;
	sigset_t signals;
	pthread_t thread;
};

static void *cmd_live_wait_for_end(void *arg)
{
	struct ending *ending = arg;
	int number;

	while (sigwait(&ending->signals, &number) != 0)
		;
	ts_live_stop(ending->live);
	ts_remote_cancel(ending->remote); /* a session may be on its way for long */
	return NULL;
}

static bool start_ending(struct ending *ending, struct ts_live *live)
{
	ending->live = live;
	return pthread_create(&ending->thread, NULL, cmd_live_wait_for_end, ending) == 0;
}

struct watching {
	struct ts_live *live;
	struct ts_live_print print;
	struct ts_alert_command command;
	struct ts_serving *serving; /* NULL: no page */
};

static void on_event(void *arg, const struct ts_feed_event *event)
{
	struct watching *watching = arg;
	struct ts_error problem = TS_ERROR_INIT;

	ts_live_print_event(&watching->print, event);
	if (watching->print.is_broken) /* `| head` has ended */
		ts_live_stop(watching->live);
	ts_alert_command_reap(&watching->command);
	watching->command.session = event->session ? event->session->path : NULL;
	if (event->kind == TS_FEED_ALERT && watching->command.text &&
	    strcmp(watching->command.text, CAPTURE) != 0 &&
	    ts_alert_command_run(&watching->command, event->alert, &problem))
		ts_complain(problem.text);
}

/* A host that never answered, or a session that was not annotated, is an input that failed. */
static enum ts_exit exit_of(const struct ts_cli *cli, const struct ts_live_summary *summary,
			    bool is_mute)
{
	if (summary->has_failed)
		return TS_EXIT_GATE;
	if (summary->nr_samples + summary->nr_sessions == 0) {
		ts_complain(cli->nr_paths > 0 ? "no session came (does the job write profiles "
						"there? jax.profiler.trace(LOGDIR))"
					      : "no host sent a sample (does the job run "
						"jax.profiler.start_server(PORT)?)");
		return TS_EXIT_NOTHING;
	}
	return summary->nr_silent + summary->nr_left > 0 || is_mute ? TS_EXIT_SOME : TS_EXIT_DONE;
}

/* The first session may be a long time away. */
static void print_folder(const struct ts_cli *cli)
{
	const struct live_options *own = cli->own;
	struct ts_buf line = TS_BUF_INIT;

	if (cli->nr_paths == 0 || cli->quiet || own->json)
		return;
	ts_buf_puts(&line, "Watching ");
	ts_term_text(&line, ts_bytes_of(cli->paths[0]));
	ts_buf_puts(&line, " (Ctrl-C ends it)\n");
	ts_print(ts_buf_bytes(&line));
	ts_buf_release(&line);
}

static enum ts_status start_serving(struct watching *watching, const struct ts_cli *cli,
				    struct ts_error *err)
{
	const struct live_options *own = cli->own;
	const struct ts_serving_options options = { .at = &own->at,
						    .services = own->services,
						    .json = own->json };

	return ts_serving_start(&watching->serving, cli, &options, err);
}

static enum ts_exit watch(const struct ts_cli *cli, const struct ts_live_options *options,
			  struct ending *ending)
{
	const struct live_options *own = cli->own;
	struct watching watching = { .command = { .text = own->on_alert, .folder = cli->folder } };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_live_summary summary;
	enum ts_exit code;
	enum ts_status st = ts_live_new(&watching.live, options, &err);

	if (st) {
		ts_complain(err.text);
		return st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
	}
	if (own->serve)
		st = start_serving(&watching, cli, &err);
	if (st == TS_OK && !start_ending(ending, watching.live))
		st = ts_fail(&err, TS_IO, "a thread cannot be made");
	if (st) {
		ts_complain(err.text);
		ts_serving_stop(watching.serving);
		ts_live_free(watching.live);
		return TS_EXIT_NOTHING;
	}
	print_folder(cli);
	ts_live_print_init(&watching.print, cli, own->json);
	watching.print.page = ts_serving_page(watching.serving);
	ts_feed_listen(ts_live_feed(watching.live), on_event, &watching);
	if (watching.serving)
		ts_feed_listen(ts_live_feed(watching.live), ts_serving_event, watching.serving);
	st = ts_live_run(watching.live, &summary, &err);
	ts_live_print_release(&watching.print);
	code = st ? TS_EXIT_NOTHING : exit_of(cli, &summary, watching.print.is_mute);
	if (st)
		ts_complain(err.text);
	pthread_kill(ending->thread, SIGTERM); /* it may still wait */
	pthread_join(ending->thread, NULL);
	ts_serving_stop(watching.serving);
	ts_alert_command_finish(&watching.command, COMMAND_PATIENCE_MS);
	ts_live_free(watching.live);
	return code;
}

/* LOGDIR is a folder that is there, or that will be. */
static enum ts_status check_folder(const struct ts_cli *cli, struct ts_error *err)
{
	const char *path = cli->paths[0];

	if (cli->nr_paths > 1)
		return ts_fail(err, TS_USAGE,
			       "one log directory at a time (name the folder above them)");
	if (ts_url_is(path))
		return TS_OK;
	if (strcmp(path, "-") == 0 || (ts_file_exists(path) && !ts_dir_exists(path)))
		return ts_fail(err, TS_USAGE, "%s: not a folder (tpusight annotate takes files)",
			       path);
	if (ts_rpc_is_address(path) && !ts_dir_exists(path))
		return ts_fail(err, TS_USAGE, "%s: not a folder (a job's server: --service %s)",
			       path, path);
	return TS_OK;
}

static enum ts_status cmd_live_check_inputs(const struct ts_cli *cli, struct ts_error *err)
{
	const struct live_options *own = cli->own;

	if (!own->services == (cli->nr_paths == 0))
		return ts_fail(
			err, TS_USAGE,
			"which job? (tpusight live LOGDIR, or tpusight live --service HOST:PORT)");
	if ((own->on_alert && strcmp(own->on_alert, CAPTURE) == 0) != (own->capture_to != NULL) ||
	    (own->capture_to && cli->nr_paths > 0))
		return ts_fail(err, TS_USAGE,
			       "--on-alert=capture and --capture-to=DIR belong together, and to "
			       "--service");
	return cli->nr_paths > 0 ? check_folder(cli, err) : TS_OK;
}

static enum ts_exit run_live(struct ts_cli *cli)
{
	const struct live_options *own = cli->own;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code = TS_EXIT_USAGE;
	const char **addresses = calloc(MAX_SERVICES, sizeof(*addresses));
	char *services = strdup(own->services ? own->services : "");
	char *repository = own->repository ? realpath(own->repository, NULL) : NULL;
	struct ts_live_options options = {
		.sampler = { .addresses = addresses,
			     .sample_ms = own->sample_ms,
			     .timeout_ms = own->timeout_ms,
			     .hlo = own->hlo,
			     .max_bytes = TS_LIVE_MAX_BYTES,
			     .repository = repository },
		.watch = { .logdir = cli->nr_paths > 0 ? cli->paths[0] : NULL,
			   .settle_ms = own->settle_ms,
			   .poll_ms = own->has_interval ? own->interval_ms : TS_WATCH_POLL_MS,
			   .new_only = own->new_only,
			   .join_sessions = cli->join_sessions,
			   .remote = cli->remote },
		.annotate = ts_annotate_options_of(cli, &own->annotate),
		.interval_ms = own->has_interval ? own->interval_ms : TS_LIVE_INTERVAL_MS,
		.for_ms = own->for_ms,
		.hold_ms = own->hold_ms,
		.clear_ms = own->clear_ms,
		.stall_ms = own->stall_ms,
		.is_told = own->told,
		.capture_to = own->capture_to,
		.settings = cli->settings,
		.nr_threads = cli->nr_threads,
		.fail_on = own->fail_on,
	};
	struct ending ending = { .remote = cli->remote };

	if (!addresses || !services || (own->repository && !repository))
		ts_fail_nomem(&err);
	else if (cmd_live_check_inputs(cli, &err) == TS_OK && own->services &&
		 split(services, addresses, &options.sampler.nr_addresses, &err) == TS_OK)
		check_distinct(addresses, options.sampler.nr_addresses, &err);
	ts_block_endings(&ending.signals);
	/* otherwise a file that is cut ends the watch, with a message */
	(void)ts_input_outlive_cuts();
	if (err.text[0])
		ts_complain(err.text);
	else
		code = watch(cli, &options, &ending);
	free(addresses);
	free(services);
	free(repository);
	return code;
}

static const char *const hlo_names[] = {
	[TS_HLO_ONCE] = "once", [TS_HLO_ALWAYS] = "always", [TS_HLO_NEVER] = "never", NULL
};
static const char *const severity_names[] = {
	[TS_CRITICAL] = "critical", [TS_WARNING] = "warning", NULL
};

static const struct live_options defaults = {
	.sample_ms = TS_LIVE_SAMPLE_MS,
	.timeout_ms = TS_LIVE_TIMEOUT_MS,
	.settle_ms = TS_WATCH_SETTLE_MS,
	.hold_ms = TS_ALERT_HOLD_MS,
	.clear_ms = TS_ALERT_CLEAR_MS,
	.stall_ms = TS_STALL_MS,
	.fail_on = TS_NR_SEVERITIES,
	.annotate = TS_ANNOTATE_CHOICE_INIT,
	.at = TS_SERVING_AT_INIT,
};

#define OWN	   struct live_options
#define DAY_MS	   86400000
#define LONGEST_MS 1e12
static const struct ts_option options[] = {
	TS_OPT_TEXT(OWN, services, "service", 0, "HOST:PORT,...",
		    "the profiler servers of the job's hosts", .needs = TS_CONNECTS),
	TS_OPT_CALL(OWN, repository, "repository", "DIR", set_repository,
		    "a folder that the servers see too, for servers that can only write files",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_TIME(OWN, interval_ms, "interval", 0, DAY_MS,
		    "time between samples (default 0.5 seconds), or between looks at LOGDIR (5)",
		    TS_OPTION_GIVEN(OWN, has_interval)),
	TS_OPT_COUNT(OWN, sample_ms, "sample-ms", 0, "N", 1, 60000, "a length of a sample",
		     .unit = " ms", .help = "length of a sample (default 100)"),
	TS_OPT_CHOICE(OWN, hlo, enum ts_hlo_choice, "hlo", "WHEN", hlo_names, true,
		      "ask for compiled modules %s"),
	TS_OPT_TIME(OWN, timeout_ms, "timeout", 100, 3600000,
		    "time for an answer, beyond the length of the sample (default 30 s)"),
	TS_OPT_TIME(OWN, hold_ms, "hold", 0, DAY_MS,
		    "an alert is raised when it has held for this time (default 1 s)"),
	TS_OPT_TIME(OWN, clear_ms, "clear-after", 0, DAY_MS,
		    "an alert is over when it has not held for this time (default 5 s)"),
	TS_OPT_TIME(OWN, stall_ms, "stall", 0, DAY_MS,
		    "a job without a step for this time, and ten of its steps, is an alert "
		    "(default 10 s; 0: never)"),
	TS_OPT_FLAG(OWN, told, "told", 0,
		    "the job says on standard input when it compiles, and how much memory it uses"),
	TS_OPT_TIME(OWN, for_ms, "for", 1, LONGEST_MS, "end after this time (10m, 30s)"),
	TS_OPT_CHOICE(OWN, fail_on, enum ts_severity, "fail-on", "SEVERITY", severity_names, false,
		      "end with status 1 at the first such alert: %s"),
	TS_OPT_TEXT(
		OWN, on_alert, "on-alert", 0, "COMMAND",
		"run it for each alert, with TPUSIGHT_ALERT_* set; capture: take a profile of 2 s",
		.needs = TS_RUNS_PROGRAMS),
	TS_OPT_TEXT(OWN, capture_to, "capture-to", 0, "DIR",
		    "the log directory for the profiles that --on-alert=capture takes",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_TIME(
		OWN, settle_ms, "settle", 0, DAY_MS,
		"a session of LOGDIR is complete when nothing changed for this time (default 3 s)"),
	TS_OPT_FLAG(OWN, new_only, "new-only", 0, "leave alone what is in LOGDIR at the start"),
	TS_ANNOTATE_OPTIONS(OWN, annotate),
	TS_OPT_FLAG(OWN, json, "json", 0, "print JSON lines"),
	TS_OPT_FLAG(OWN, serve, "serve", 0,
		    "show it in a browser too, on this machine alone without --host",
		    .needs = TS_LISTENS),
	TS_SERVING_OPTIONS(OWN, at),
	TS_OPT_END,
};

static enum ts_status prepare_live(struct ts_cli *cli, struct ts_error *err)
{
	const struct live_options *own = cli->own;

	return own->serve ? ts_serving_check(&own->at, err) : TS_OK;
}

const struct ts_command ts_command_live = {
	.name = "live",
	.summary = "Watch a running job, or the folder it writes profiles to, with alerts.",
	.arguments = "--service=HOST:PORT[,HOST:PORT...] | LOGDIR",
	.help = "With --service, the job runs a profiler server (jax.profiler.start_server(PORT)); "
		"nothing else of\n"
		"it is touched, and no file is written unless --repository names a folder. A short "
		"sample of all\n"
		"hosts is taken again and again, and analysed as a profile is. Thresholds and "
		"findings of the\n"
		"doctor become alerts when they hold; a function that is compiled again and again "
		"is one at once.\n\n"
		"With LOGDIR, a TensorBoard log directory, sessions are waited for. Each is "
		"annotated, as\n"
		"tpusight-annotate does it, when it is complete, and never while it is written. "
		"Sessions that are\n"
		"there already and have no annotation come first. TIME is in seconds, or 500ms, "
		"30s, 10m, 1h.",
	.options = options,
	.own_size = sizeof(OWN),
	.defaults = &defaults,
	.has_thresholds = true,
	.needs = TS_WRITES_INSIDE,
	.goes_on = true,
	.prepare = prepare_live,
	.run = run_live,
	.no_paths = true,
};
