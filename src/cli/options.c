/*
 * Options. Long and short ones, as GNU programs have them: --name=value, --name value, -jN, -j N,
 * bundled letters, options after paths, -- ends them. A name may be cut as long as it is unique.
 */
#include "cli/cli.h"

#include <math.h>

#include "base/check.h"
#include "cli/config.h"
#include "io/input.h"

static enum ts_status set_threshold(void *settings, const char *value, struct ts_error *err)
{
	const char *equal = strchr(value, '=');
	struct ts_bytes name = ts_bytes_of(value);
	char *end;
	double number;

	if (!equal)
		return ts_fail(err, TS_USAGE, "%s is not NAME=VALUE", value);
	name.n = (size_t)(equal - value);
	number = strtod(equal + 1, &end);
	if (end == equal + 1 || *end || !isfinite(number))
		return ts_fail(err, TS_USAGE, "%s: the value is not a number", value);
	if (!ts_settings_set(settings, name, number))
		return ts_fail(err, TS_USAGE, "no threshold is called %.*s (see --help)",
			       TS_ARG(name));
	return TS_OK;
}

static enum ts_status set_config(void *settings, const char *value, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open(&input, value, err);

	if (st)
		return st;
	st = ts_config_apply(input.bytes, settings, err);
	ts_input_release(&input);
	return st ? ts_fail_at(err, st, "%s", value) : TS_OK;
}

static const char *const color_names[] = { "auto", "always", "never", NULL };

#define SHARED struct ts_cli
const struct ts_option ts_shared_options[] = {
	TS_OPT_COUNT(SHARED, nr_threads, "threads", 'j', "N", 1, 256, "a number of threads",
		     .help = "use N threads (default: one a processor)"),
	TS_OPT_FLAG(SHARED, quiet, "quiet", 'q', "print errors only"),
	TS_OPT_FLAG(SHARED, verbose, "verbose", 'v', "print more"),
	TS_OPT_CHOICE(SHARED, color, enum ts_color, "color", "WHEN", color_names, true, "%s"),
	TS_OPT_FLAG(SHARED, join_sessions, "join-sessions", 0,
		    "sessions of one run begun together by other hosts are one"),
	TS_OPT_CALL(SHARED, settings, "threshold", "NAME=VALUE", set_threshold,
		    "set a threshold of the doctor (repeatable)"),
	TS_OPT_CALL(SHARED, settings, "config", "FILE", set_config,
		    "read thresholds from a JSON file"),
	{ .name = "version", .kind = TS_OPTION_VERSION, .help = "print the version and end" },
	{ .name = "help",
	  .letter = 'h',
	  .kind = TS_OPTION_HELP,
	  .help = "print this help and end" },
	TS_OPT_END,
};

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
		ts_fail(err, TS_USAGE, "no option is called --%.*s (see --help)", TS_ARG(name));
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
	ts_fail(err, TS_USAGE, "no option is called -%c (see --help)", letter);
	return NULL;
}

static bool is_shared(const struct ts_option *option)
{
	return option >= ts_shared_options &&
	       option < ts_shared_options + TS_NELEM(ts_shared_options);
}

static enum ts_status apply(struct ts_cli *cli, const struct ts_command *command,
			    const struct ts_option *option, const char *value, struct ts_error *err)
{
	void *base = is_shared(option) ? (void *)cli : cli->own;

	if (option->kind == TS_OPTION_VERSION) {
		ts_print(TS_LIT("tpusight " PACKAGE_VERSION "\n"));
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
		return apply(cli, command, option, equal ? equal + 1 : NULL, err);
	if (*at + 1 >= argc)
		return ts_fail(err, TS_USAGE, "--%s needs %s", option->name, option->argument);
	return apply(cli, command, option, argv[++*at], err);
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
			st = apply(cli, command, option, NULL, err);
			continue;
		}
		if (letter[1])
			return apply(cli, command, option, letter + 1, err);
		if (*at + 1 >= argc)
			return ts_fail(err, TS_USAGE, "-%c needs %s", *letter, option->argument);
		return apply(cli, command, option, argv[++*at], err);
	}
	return st;
}

enum ts_status ts_options_parse(struct ts_cli *cli, const struct ts_command *command, int argc,
				char **argv, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	bool only_paths = false;

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
