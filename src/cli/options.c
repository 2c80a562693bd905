/* SPDX-License-Identifier: MIT */
/*
 * Options. Long and short ones, as GNU programs have them: --name=value, --name value, -jN, -j N,
 * bundled letters, options after paths, -- ends them. A name may be cut as long as it is unique.
 */
#include "cli/cli.h"

#include "base/check.h"
#include "base/closest.h"
#include "cli/notices.h"

static void no_option(const struct ts_command *command, struct ts_bytes name, struct ts_error *err)
{
	const struct ts_option *lists[] = { command->options, ts_shared_options };
	struct ts_closest closest = ts_closest_to(name);

	for (size_t l = 0; l < TS_NELEM(lists); l++)
		for (const struct ts_option *option = lists[l]; option->name; option++)
			ts_closest_try(&closest, option->name);
	if (closest.name[0])
		ts_fail(err, TS_USAGE, "unknown option '--%.*s' (did you mean '--%s'?)",
			TS_ARG(name), closest.name);
	else
		ts_fail(err, TS_USAGE, "unknown option '--%.*s' (see --help)", TS_ARG(name));
}

/* The row of a long option; a cut name must fit one row only. */
static const struct ts_option *find_long(const struct ts_command *command, struct ts_bytes name,
					 struct ts_error *err)
{
	const struct ts_option *lists[] = { command->options, ts_shared_options };
	const struct ts_option *found = NULL;

	for (size_t l = 0; l < TS_NELEM(lists); l++)
		for (const struct ts_option *option = lists[l]; option->name; option++) {
			if (ts_bytes_is(name, option->name))
				return option;
			if (name.n == 0 || strncmp(option->name, (const char *)name.p, name.n) != 0)
				continue;
			if (found) {
				ts_fail(err, TS_USAGE, "--%.*s may be --%s or --%s", TS_ARG(name),
					found->name, option->name);
				return NULL;
			}
			found = option;
		}
	if (!found)
		no_option(command, name, err);
	return found;
}

static const struct ts_option *find_short(const struct ts_command *command, char letter,
					  struct ts_error *err)
{
	const struct ts_option *lists[] = { command->options, ts_shared_options };

	for (size_t l = 0; l < TS_NELEM(lists); l++)
		for (const struct ts_option *option = lists[l]; option->name; option++)
			if (option->letter == letter)
				return option;
	ts_fail(err, TS_USAGE, "unknown option '-%c' (see --help)", letter);
	return NULL;
}

static enum ts_status options_apply(struct ts_cli *cli, const struct ts_command *command,
				    const struct ts_option *option, const char *value,
				    struct ts_error *err)
{
	void *base = ts_option_is_shared(option) ? (void *)cli : cli->own;

	cli->needs |= option->needs;
	if (option->place != TS_NO_PLACE)
		cli->places[cli->nr_places++] = (struct ts_named_place){ value, option->place };

	if (option->kind == TS_OPTION_VERSION) {
		ts_print(TS_LIT("tpusight " PACKAGE_VERSION "\n"));
		return TS_NOTFOUND;
	}
	if (option->kind == TS_OPTION_LICENSES) {
		ts_print(ts_notices);
		return TS_NOTFOUND;
	}
	if (option->kind == TS_OPTION_HELP) {
		ts_print_help(cli->command, command);
		return TS_NOTFOUND;
	}
	return ts_option_read(option, command, base, value, err)
		       ? ts_fail_at(err, TS_USAGE, "--%s", option->name)
		       : TS_OK;
}

/* --name, --name=value, --name value. */
static enum ts_status parse_long(struct ts_cli *cli, const struct ts_command *command, char **argv,
				 int argc, int *at, struct ts_error *err)
{
	const char *text = argv[*at] + 2, *equal = strchr(text, '=');
	struct ts_bytes name = ts_bytes_of(text);
	const struct ts_option *option;

	if (equal)
		name.n = (size_t)(equal - text);
	option = find_long(command, name, err);
	if (!option)
		return TS_USAGE;
	if (!ts_option_has_value(option) && equal)
		return ts_fail(err, TS_USAGE, "--%s takes no value", option->name);
	if (!ts_option_has_value(option) || equal)
		return options_apply(cli, command, option, equal ? equal + 1 : NULL, err);
	if (*at + 1 >= argc)
		return ts_fail(err, TS_USAGE, "--%s needs %s", option->name, option->argument);
	return options_apply(cli, command, option, argv[++*at], err);
}

/* -q, -qv, -j4, -j 4. */
static enum ts_status parse_short(struct ts_cli *cli, const struct ts_command *command, char **argv,
				  int argc, int *at, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (const char *letter = argv[*at] + 1; *letter && st == TS_OK; letter++) {
		const struct ts_option *option = find_short(command, *letter, err);

		if (!option)
			return TS_USAGE;
		if (!ts_option_has_value(option)) {
			st = options_apply(cli, command, option, NULL, err);
			continue;
		}
		if (letter[1])
			return options_apply(cli, command, option, letter + 1, err);
		if (*at + 1 >= argc)
			return ts_fail(err, TS_USAGE, "-%c needs %s", *letter, option->argument);
		return options_apply(cli, command, option, argv[++*at], err);
	}
	return st;
}

enum ts_status ts_options_parse(struct ts_cli *cli, const struct ts_command *command, int argc,
				char **argv, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	bool only_paths = false;

	TS_ASSERT(cli && cli->own && cli->paths && cli->places && command && argv);
	cli->needs = command->needs;
	for (int i = 1; i < argc && st == TS_OK; i++) {
		if (only_paths || argv[i][0] != '-' || argv[i][1] == '\0')
			cli->paths[cli->nr_paths++] = argv[i];
		else if (strcmp(argv[i], "--") == 0)
			only_paths = true;
		else if (argv[i][1] == '-')
			st = parse_long(cli, command, argv, argc, &i, err);
		else
			st = parse_short(cli, command, argv, argc, &i, err);
	}
	return st;
}
