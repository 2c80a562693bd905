/* SPDX-License-Identifier: MIT */
/* serve: the pages and their API on this machine alone. */
#include "cli/cli.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "cli/ending.h"
#include "cli/mount.h"
#include "cli/serving.h"
#include "serve/made.h"
#include "serve/roots.h"

/* The signals that end the server are blocked before a thread is made, so that only this thread
 * gets them. */
static void cmd_serve_wait_for_end(sigset_t *ends)
{
	int number;

	while (sigwait(ends, &number) != 0)
		;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A path that does not exist is a mistake. An empty folder is not: runs may come later. */
static enum ts_exit check_paths(const struct ts_cli *cli)
{
	for (size_t i = 0; i < cli->nr_paths; i++) {
		struct ts_runs runs = TS_RUNS_INIT;
		struct ts_error err = TS_ERROR_INIT;
		enum ts_status st = ts_mount_look(cli, cli->paths[i], &err);
		bool is_empty_folder;

		if (st == TS_OK && !ts_made_is(cli->paths[i]))
			st = ts_roots_find(&runs, cli->paths, cli->nr_paths, i, &err);
		is_empty_folder = st == TS_NOTFOUND && is_folder(cli->paths[i]);

		ts_runs_release(&runs);
		if (st == TS_OK || is_empty_folder)
			continue;
		ts_complain(err.text);
		return TS_EXIT_NOTHING;
	}
	return TS_EXIT_DONE;
}

struct serve_options {
	struct ts_serving_at at;
};

static enum ts_status cmd_serve_start(struct ts_server **server, const struct ts_serving_at *at,
				      struct ts_api *api, struct ts_error *err)
{
	const struct ts_server_options options = ts_serving_server(at, api);

	return ts_server_start(server, &options, err);
}

static enum ts_status prepare_serve(struct ts_cli *cli, struct ts_error *err)
{
	const struct serve_options *own = cli->own;

	return ts_serving_check(&own->at, err);
}

static enum ts_exit run_serve(struct ts_cli *cli)
{
	const struct serve_options *own = cli->own;
	struct ts_api_options options = { .reports = ts_serving_reports(cli),
					  .perfetto_ui = own->at.perfetto_ui };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_server *server = NULL;
	enum ts_exit code = check_paths(cli);
	struct ts_api *api;
	sigset_t ends;

	if (code)
		return code;
	ts_block_endings(&ends);
	api = ts_api_new(&options);
	if (!api)
		ts_fail_nomem(&err);
	if (api && cmd_serve_start(&server, &own->at, api, &err) == TS_OK) {
		ts_serving_print(cli, &own->at, ts_server_port(server), false);
		cmd_serve_wait_for_end(&ends);
	}
	if (err.text[0])
		ts_complain(err.text);
	ts_remote_cancel(cli->remote); /* a client may wait for a profile that is on its way */
	ts_server_stop(server);
	ts_api_free(api);
	return err.text[0] ? TS_EXIT_NOTHING : TS_EXIT_DONE;
}

static const struct serve_options defaults = { .at = TS_SERVING_AT_INIT };

#define OWN struct serve_options
static const struct ts_option options[] = {
	TS_SERVING_OPTIONS(OWN, at),
	TS_OPT_END,
};

const struct ts_command ts_command_serve = {
	.name = "serve",
	.summary = "Show the reports of all runs below PATH in a browser.",
	.arguments = "PATH...",
	.help = "PATH is a log directory, a session, a profile file, a report in JSON that was "
		"made before (by a pod,\n"
		"say), or a folder with such reports. Nothing is written into it. Runs are "
		"analysed when they are\n"
		"looked at.\n\n"
		"The server listens on 127.0.0.1, where this machine alone can reach it, or at "
		"--host, where each\n"
		"request must show the --token.\n\n"
		"API: /api/runs and /api/report?run=ID, and parts of a report at "
		"/api/profiler/NAME?run=ID (memory,\n"
		"timeline, kernels, hta, compile, flame). Where there is one run, ?run=ID may be "
		"left out.",
	.options = options,
	.own_size = sizeof(OWN),
	.defaults = &defaults,
	.has_thresholds = true,
	.needs = TS_LISTENS,
	.goes_on = true,
	.prepare = prepare_serve,
	.run = run_serve,
};
