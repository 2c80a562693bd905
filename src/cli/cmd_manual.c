/* SPDX-License-Identifier: MIT */
/* manual: manual pages and completions, made of the tables of commands and options. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/closest.h"
#include "cli/manual/manual.h"

struct manual_options {
	const char *shell; /* NULL: a manual page is asked for */
	const char *output;
};

static const char *shell_at(const struct ts_command *command, size_t index)
{
	return ts_shells[index].name;
}

static enum ts_status no_page(ts_command_list commands, const char *word, struct ts_error *err)
{
	struct ts_closest closest = ts_closest_to(ts_bytes_of(word));

	for (size_t i = 0; commands[i]; i++)
		ts_closest_try(&closest, commands[i]->name);
	if (closest.name[0])
		return ts_fail(err, TS_USAGE, "unknown command '%s' (did you mean '%s'?)", word,
			       closest.name);
	return ts_fail(err, TS_USAGE, "unknown command '%s' (see tpusight --help)", word);
}

static const struct ts_command *find_command(ts_command_list commands, const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static enum ts_status put_manual(struct ts_buf *out, const struct ts_cli *cli, struct ts_error *err)
{
	const struct manual_options *own = cli->own;
	const struct ts_command *command;

	if (own->shell && cli->nr_paths > 0)
		return ts_fail(err, TS_USAGE, "--completion is of all commands (leave out %s)",
			       cli->paths[0]);
	if (cli->nr_paths > 1)
		return ts_fail(err, TS_USAGE, "one page is printed at a time (leave out %s)",
			       cli->paths[1]);
	if (own->shell) {
		for (size_t i = 0; ts_shells[i].name; i++)
			if (strcmp(ts_shells[i].name, own->shell) == 0)
				ts_shells[i].put(out, cli->commands);
		return TS_OK;
	}
	if (cli->nr_paths == 0) {
		ts_manual_program(out, cli->commands);
		return TS_OK;
	}
	command = find_command(cli->commands, cli->paths[0]);
	if (!command)
		return no_page(cli->commands, cli->paths[0], err);
	ts_manual_command(out, command);
	return TS_OK;
}

static enum ts_exit run_manual(struct ts_cli *cli)
{
	const struct manual_options *own = cli->own;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	enum ts_status st = put_manual(&out, cli, &err);
	bool good;

	if (st == TS_OK && out.failed)
		st = ts_fail_nomem(&err);
	if (st)
		ts_complain(err.text);
	good = st == TS_OK && ts_print_to(cli, own->output, ts_buf_bytes(&out));
	ts_buf_release(&out);
	if (st)
		return ts_exit_of(st);
	return good ? TS_EXIT_DONE : TS_EXIT_SOME;
}

#define OWN struct manual_options
static const struct ts_option options[] = {
	TS_OPT_NAME(OWN, shell, "completion", 0, "SHELL", shell_at, false,
		    "what a shell completes, instead of a page: %s"),
	TS_OPT_TEXT(OWN, output, "output", 'o', "FILE", "write to FILE, not to the console",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_END,
};

const struct ts_command ts_command_manual = {
	.name = "manual",
	.summary = "Print the manual page of a command, or what bash, zsh and fish complete.",
	.arguments = "[COMMAND]",
	.help = "Without COMMAND, the page of tpusight itself. It is text for man, and both are "
		"installed by\n"
		"make install; a program that is installed otherwise brings them along:\n"
		"  tpusight manual report | man -l -\n"
		"  eval \"$(tpusight manual --completion=bash)\"         (in ~/.bashrc)\n"
		"  source <(tpusight manual --completion=zsh)          (in ~/.zshrc, behind "
		"compinit)\n"
		"  tpusight manual --completion=fish | source          (in config.fish)",
	.options = options,
	.own_size = sizeof(OWN),
	.no_paths = true,
	.run = run_manual,
};
