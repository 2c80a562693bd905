/* live: watches a running job, or a log directory. */
#include "cli/annotate.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/live_print.h"
#include "cli/serving.h"
#include "codec/term.h"
#include "io/file.h"
#include "io/input.h"
#include "io/rpc.h"
#include "live/alert_command.h"
#include "live/live.h"

#define MAX_SERVICES	    1024
#define COMMAND_PATIENCE_MS 5000

/* "0.5", "500ms", "30s", "10m", "1h": a bare number counts seconds. */
static enum ts_status read_time(const char *value, int64_t *ms, struct ts_error *err)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = { { "", 1e3 }, { "ms", 1 }, { "s", 1e3 }, { "m", 6e4 }, { "h", 3.6e6 } };
	char *end;
	double number;

	errno = 0;
	number = strtod(value, &end);
	for (size_t i = 0; i < TS_NELEM(units) && end != value; i++)
		if (strcmp(end, units[i].name) == 0 && number >= 0 && number * units[i].ms < 1e12) {
			*ms = (int64_t)(number * units[i].ms + 0.5);
			return TS_OK;
		}
	return ts_fail(err, TS_USAGE, "%s is not a time (0.5, 500ms, 30s, 10m, 1h)", value);
}

static enum ts_status read_range(const char *value, int64_t low_ms, int64_t high_ms, int64_t *ms,
				 struct ts_error *err)
{
	enum ts_status st = read_time(value, ms, err);

	if (st == TS_OK && (*ms < low_ms || *ms > high_ms))
		return ts_fail(err, TS_USAGE, "%s is out of bounds (%lld ms to %lld ms)", value,
			       (long long)low_ms, (long long)high_ms);
	return st;
}

static enum ts_status set_services(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)err;
	cli->services = value;
	return TS_OK;
}

static enum ts_status set_interval(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return read_range(value, 0, 86400000, &cli->interval_ms, err);
}

static enum ts_status set_sample(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	uint64_t ms;

	if (!ts_bytes_u64(ts_bytes_of(value), &ms) || ms < 1 || ms > 60000)
		return ts_fail(err, TS_USAGE, "%s is not the length of a sample (1 to 60000 ms)",
			       value);
	cli->sample_ms = (int64_t)ms;
	return TS_OK;
}

static enum ts_status set_for(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return read_range(value, 1, INT64_C(1000000000000), &cli->for_ms, err);
}

static enum ts_status set_hold(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return read_range(value, 0, 86400000, &cli->hold_ms, err);
}

static enum ts_status set_clear(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return read_range(value, 0, 86400000, &cli->clear_ms, err);
}

static enum ts_status set_timeout(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return read_range(value, 100, 3600000, &cli->timeout_ms, err);
}

static enum ts_status set_hlo(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	static const char *const names[] = { "once", "always", "never" };

	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (strcmp(value, names[i]) == 0) {
			cli->hlo = (enum ts_hlo_choice)i;
			return TS_OK;
		}
	return ts_fail(err, TS_USAGE, "%s is neither once, always nor never", value);
}

static enum ts_status set_fail_on(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	for (int i = 0; i <= TS_WARNING; i++)
		if (strcmp(value, ts_severity_name((enum ts_severity)i)) == 0) {
			cli->fail_on = (enum ts_severity)i;
			return TS_OK;
		}
	return ts_fail(err, TS_USAGE, "%s is neither critical nor warning", value);
}

static enum ts_status set_repository(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	if (!ts_dir_exists(value))
		return ts_fail(err, TS_USAGE,
			       "%s: there is no such folder (make it; the servers must see it too)",
			       value);
	cli->repository = value;
	return TS_OK;
}

static enum ts_status set_settle(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return read_range(value, 0, 86400000, &cli->settle_ms, err);
}

static enum ts_status set_new_only(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->new_only = true;
	return TS_OK;
}

static enum ts_status set_json(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->json = true;
	return TS_OK;
}

static enum ts_status set_serve(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->serve = true;
	return TS_OK;
}

static enum ts_status set_on_alert(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)err;
	cli->on_alert = value;
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

/* A server that is asked twice in a round is busy with the first request. */
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
	sigset_t signals;
	pthread_t thread;
};

static void *wait_for_end(void *arg)
{
	struct ending *ending = arg;
	int number;

	while (sigwait(&ending->signals, &number) != 0)
		;
	ts_live_stop(ending->live);
	return NULL;
}

static bool start_ending(struct ending *ending, struct ts_live *live)
{
	ending->live = live;
	return pthread_create(&ending->thread, NULL, wait_for_end, ending) == 0;
}

static void stop_ending(struct ending *ending)
{
	pthread_kill(ending->thread, SIGTERM); /* it may still wait */
	pthread_join(ending->thread, NULL);
}

static void block_signals(struct ending *ending)
{
	sigemptyset(&ending->signals);
	sigaddset(&ending->signals, SIGINT);
	sigaddset(&ending->signals, SIGTERM);
	sigaddset(&ending->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ending->signals, NULL);
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
	    ts_alert_command_run(&watching->command, event->alert, &problem))
		ts_complain(problem.text);
}

/* Hosts that never answered, or sessions that were not annotated, are inputs that failed. */
static enum ts_exit exit_of(const struct ts_cli *cli, const struct ts_live_summary *summary,
			    bool is_mute)
{
	if (summary->has_failed)
		return TS_EXIT_GATE;
	if (summary->nr_samples + summary->nr_sessions == 0) {
		ts_complain(cli->nr_paths > 0 ? "no session came (does the job write there? "
						"jax.profiler.trace(LOGDIR))"
					      : "no host sent a sample (does the job run "
						"jax.profiler.start_server(PORT)?)");
		return TS_EXIT_NOTHING;
	}
	return summary->nr_silent + summary->nr_left > 0 || is_mute ? TS_EXIT_SOME : TS_EXIT_DONE;
}

/* It may take long until there is an event to print. */
static void print_folder(const struct ts_cli *cli)
{
	struct ts_buf line = TS_BUF_INIT;

	if (cli->nr_paths == 0 || cli->quiet || cli->json)
		return;
	ts_buf_puts(&line, "Watching ");
	ts_term_text(&line, ts_bytes_of(cli->paths[0]));
	ts_buf_puts(&line, " (Ctrl-C ends it)\n");
	ts_print(ts_buf_bytes(&line));
	ts_buf_release(&line);
}

static enum ts_exit watch(const struct ts_cli *cli, const struct ts_live_options *options,
			  struct ending *ending)
{
	struct watching watching = { .command = { .text = cli->on_alert } };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_live_summary summary;
	enum ts_exit code;
	enum ts_status st = ts_live_new(&watching.live, options, &err);

	if (st) {
		ts_complain(err.text);
		return st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
	}
	if (cli->serve)
		st = ts_serving_start(&watching.serving, cli, &err);
	if (st == TS_OK && !start_ending(ending, watching.live))
		st = ts_fail(&err, TS_IO, "a thread cannot be made");
	if (st) {
		ts_complain(err.text);
		ts_serving_stop(watching.serving);
		ts_live_free(watching.live);
		return TS_EXIT_NOTHING;
	}
	print_folder(cli);
	ts_live_print_init(&watching.print, cli);
	watching.print.port = ts_serving_port(watching.serving);
	ts_feed_listen(ts_live_feed(watching.live), on_event, &watching);
	if (watching.serving)
		ts_feed_listen(ts_live_feed(watching.live), ts_serving_event, watching.serving);
	st = ts_live_run(watching.live, &summary, &err);
	ts_live_print_release(&watching.print);
	code = st ? TS_EXIT_NOTHING : exit_of(cli, &summary, watching.print.is_mute);
	if (st)
		ts_complain(err.text);
	stop_ending(ending);
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
	if (strstr(path, "://"))
		return ts_fail(err, TS_USAGE,
			       "%s: remote storage is not watched from here (mount it, or watch "
			       "the job itself with --service)",
			       path);
	if (strcmp(path, "-") == 0 || (ts_file_exists(path) && !ts_dir_exists(path)))
		return ts_fail(err, TS_USAGE, "%s: not a folder (tpusight annotate takes files)",
			       path);
	if (ts_rpc_is_address(path) && !ts_dir_exists(path))
		return ts_fail(err, TS_USAGE, "%s: not a folder (a job's server: --service %s)",
			       path, path);
	return TS_OK;
}

static enum ts_status check_inputs(const struct ts_cli *cli, struct ts_error *err)
{
	if (!cli->services == (cli->nr_paths == 0))
		return ts_fail(err, TS_USAGE,
			       "which job? (tpusight live LOGDIR, or tpusight live "
			       "--service HOST:PORT)");
	return cli->nr_paths > 0 ? check_folder(cli, err) : TS_OK;
}

static enum ts_exit run_live(struct ts_cli *cli)
{
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code = TS_EXIT_USAGE;
	const char **addresses = calloc(MAX_SERVICES, sizeof(*addresses));
	char *services = strdup(cli->services ? cli->services : "");
	char *repository = cli->repository ? realpath(cli->repository, NULL) : NULL;
	struct ts_live_options options = {
		.sampler = { .addresses = addresses,
			     .sample_ms = cli->sample_ms,
			     .timeout_ms = cli->timeout_ms,
			     .hlo = cli->hlo,
			     .max_bytes = TS_LIVE_MAX_BYTES,
			     .repository = repository },
		.watch = { .logdir = cli->nr_paths > 0 ? cli->paths[0] : NULL,
			   .settle_ms = cli->settle_ms,
			   .poll_ms = cli->interval_ms < 0 ? TS_WATCH_POLL_MS : cli->interval_ms,
			   .new_only = cli->new_only,
			   .join_sessions = cli->join_sessions },
		.annotate = ts_annotate_options_of(cli),
		.interval_ms = cli->interval_ms < 0 ? TS_LIVE_INTERVAL_MS : cli->interval_ms,
		.for_ms = cli->for_ms,
		.hold_ms = cli->hold_ms,
		.clear_ms = cli->clear_ms,
		.settings = &cli->settings,
		.nr_threads = cli->nr_threads,
		.fail_on = cli->fail_on,
	};
	struct ending ending;

	if (!addresses || !services || (cli->repository && !repository))
		ts_fail_nomem(&err);
	else if (check_inputs(cli, &err) == TS_OK && cli->services &&
		 split(services, addresses, &options.sampler.nr_addresses, &err) == TS_OK)
		check_distinct(addresses, options.sampler.nr_addresses, &err);
	block_signals(&ending);
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

static const struct ts_option options[] = {
	{ "service", 0, "HOST:PORT,...", "the profiler servers of the job's hosts", set_services },
	{ "repository", 0, "DIR",
	  "a folder that servers see too, for servers that only write files", set_repository },
	{ "interval", 0, "TIME", "between samples (default 0.5 seconds), or looks at LOGDIR (5)",
	  set_interval },
	{ "sample-ms", 0, "N", "length of a sample (default 100)", set_sample },
	{ "hlo", 0, "WHEN", "ask for compiled modules once, always or never", set_hlo },
	{ "timeout", 0, "TIME", "how long an answer may take after the sample (default 30 s)",
	  set_timeout },
	{ "hold", 0, "TIME", "an alert is raised when it has held for so long (default 1 s)",
	  set_hold },
	{ "clear-after", 0, "TIME", "and is over when it has not held for so long (default 5 s)",
	  set_clear },
	{ "for", 0, "TIME", "end after so long (10m, 30s)", set_for },
	{ "fail-on", 0, "SEVERITY", "end with status 1 at the first such alert: critical, warning",
	  set_fail_on },
	{ "on-alert", 0, "COMMAND", "run it for each alert, with TPUSIGHT_ALERT_* set",
	  set_on_alert },
	{ "settle", 0, "TIME",
	  "a session of LOGDIR is complete after so long at rest (default 3 s)", set_settle },
	{ "new-only", 0, NULL, "leave alone the sessions that are in LOGDIR at first",
	  set_new_only },
	TS_ANNOTATE_OPTIONS,
	{ "json", 0, NULL, "print JSON lines", set_json },
	{ "serve", 0, NULL, "show it in a browser too, on this machine only", set_serve },
	TS_OPTION_PORT,
	{ NULL, 0, NULL, NULL, NULL },
};

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
	.run = run_live,
	.no_paths = true,
};
