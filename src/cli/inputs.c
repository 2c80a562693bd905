/* SPDX-License-Identifier: MIT */
/* What a command reads: the sessions below its paths; and that it does not write over them. */
#include "cli/cli.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/format.h"
#include "cli/mount.h"
#include "io/siblings.h"

enum ts_status ts_note_input(const struct ts_cli *cli, const char *path, struct ts_error *err)
{
	TS_ASSERT(cli && path);
	return ts_sources_add(cli->sources, path, err);
}

enum ts_status ts_check_output(const struct ts_cli *cli, struct ts_error *err)
{
	const char *path = ts_output_path(cli);
	bool is_file = path && strcmp(path, "-") != 0;
	struct stat now;

	TS_ASSERT(cli);
	if ((is_file ? stat(path, &now) : fstat(STDOUT_FILENO, &now)) != 0 ||
	    !ts_sources_have(cli->sources, &now))
		return TS_OK;
	if (!is_file)
		return ts_fail(err, TS_USAGE,
			       "standard output: this command reads that file (print to another)");
	return ts_fail(err, TS_USAGE, "-o %s: this command reads that file (name another)", path);
}

static enum ts_status note_sessions(const struct ts_cli *cli, const struct ts_runs *runs,
				    struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < runs->nr_sessions && st == TS_OK; i++)
		st = ts_sources_add_session(cli->sources, &runs->sessions[i], err);
	return st ? st : ts_check_output(cli, err);
}

enum ts_status ts_find_sessions(const struct ts_cli *cli, struct ts_runs *runs, size_t *nr_bad,
				struct ts_error *err)
{
	TS_ASSERT(cli && runs && nr_bad);
	return ts_find_sessions_or(cli, runs, nr_bad, NULL, NULL, err);
}

enum ts_status ts_find_sessions_or(const struct ts_cli *cli, struct ts_runs *runs, size_t *nr_bad,
				   ts_no_session *none, void *ctx, struct ts_error *err)
{
	struct ts_error problem = TS_ERROR_INIT;

	TS_ASSERT(cli && runs && nr_bad);
	*nr_bad = 0;
	runs->remote = cli->remote;
	runs->looker = ts_remote_looker(cli->remote);
	for (size_t i = 0; i < cli->nr_paths; i++) {
		size_t before = runs->nr_problems;
		enum ts_status st = ts_mount_look(cli, cli->paths[i], &problem);

		if (st == TS_OK)
			st = ts_runs_find(runs, cli->paths[i], &problem);

		if (st == TS_NOMEM)
			return ts_fail_nomem(err);
		if (st && none)
			none(ctx, cli->paths[i],
			     runs->nr_problems > before ? runs->problems[before] : problem.text);
		if (st && runs->nr_problems == before) { /* else these are why nothing was found */
			ts_complain(problem.text);
			(*nr_bad)++;
		}
	}
	for (size_t i = 0; i < runs->nr_problems; i++)
		ts_complain(runs->problems[i]);
	*nr_bad += runs->nr_problems;
	if (cli->logdir && ts_runs_name(runs, cli->logdir, err))
		return TS_NOMEM;
	if (cli->join_sessions && ts_runs_join(runs, err))
		return TS_NOMEM; /* that is all that can be wrong with it */
	return note_sessions(cli, runs, err);
}
