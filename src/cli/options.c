/*
 * Options. Long and short ones, as GNU programs have them: --name=value, --name value, -jN, -j N,
 * bundled letters, options after paths, -- ends them. A name may be cut as long as it is unique.
 */
#include "cli/cli.h"

#include <errno.h>

#include "base/units.h"
#include "base/work.h"
#include "cli/config.h"
#include "io/input.h"

static enum ts_status set_threads(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	uint64_t n;

	if (!ts_bytes_u64(ts_bytes_of(value), &n) || n < 1 || n > 256)
		return ts_fail(err, TS_USAGE, "%s is no number of threads (1 to 256)", value);
	cli->nr_threads = (size_t)n;
	return TS_OK;
}

static enum ts_status set_quiet(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->quiet = true;
	return TS_OK;
}

static enum ts_status set_verbose(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->verbose = true;
	return TS_OK;
}

static enum ts_status set_join(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->join_sessions = true;
	return TS_OK;
}

static enum ts_status set_color(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (strcmp(value, names[i]) == 0) {
			cli->color = (enum ts_color)i;
			return TS_OK;
		}
	return ts_fail(err, TS_USAGE, "%s is neither auto, always nor never", value);
}

static enum ts_status set_threshold(struct ts_cli *cli, const char *value, struct ts_error *err)
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
		return ts_fail(err, TS_USAGE, "%s: the value is no number", value);
	if (!ts_settings_set(&cli->settings, name, number))
		return ts_fail(err, TS_USAGE, "no threshold is called %.*s (see --help)",
			       TS_ARG(name));
	return TS_OK;
}

static enum ts_status set_config(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open(&input, value, err);

	if (st)
		return st;
	st = ts_config_apply(input.bytes, &cli->settings, err);
	ts_input_release(&input);
	return st ? ts_fail_at(err, st, "%s", value) : TS_OK;
}

const struct ts_option ts_shared_options[] = {
	{ "threads", 'j', "N", "use N threads (default: one a processor)", set_threads },
	{ "quiet", 'q', NULL, "print errors only", set_quiet },
	{ "verbose", 'v', NULL, "print more", set_verbose },
	{ "color", 0, "WHEN", "auto, always or never", set_color },
	{ "join-sessions", 0, NULL, "sessions of one run begun together by other hosts are one",
	  set_join },
	{ "threshold", 0, "NAME=VALUE", "set a threshold of the doctor (repeatable)",
	  set_threshold },
	{ "config", 0, "FILE", "read thresholds from a JSON file", set_config },
	{ "version", 0, NULL, "print the version and end", NULL },
	{ "help", 'h', NULL, "print this help and end", NULL },
	{ NULL, 0, NULL, NULL, NULL },
};

static void print_options(struct ts_buf *out, const struct ts_option *options)
{
	for (; options->name; options++) {
		char letter[8] = "", name[64];

		if (options->letter)
			snprintf(letter, sizeof(letter), "-%c, ", options->letter);
		snprintf(name, sizeof(name), "%4s--%s%s%s", letter, options->name,
			 options->argument ? "=" : "", options->argument ? options->argument : "");
		ts_buf_printf(out, "  %-30s %s\n", name, options->help);
	}
}

static void print_settings(struct ts_buf *out)
{
	ts_buf_puts(out, "\nThresholds (--threshold NAME=VALUE):\n");
	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		ts_buf_printf(out, "  %-28s %7g %-3s %s\n", setting->name, setting->value,
			      setting->unit, setting->help);
}

void ts_print_help(const char *program, const struct ts_command *command)
{
	struct ts_buf out = TS_BUF_INIT;

	if (command) {
		ts_buf_printf(&out, "Usage: %s [OPTION]... %s\n%s\n\n%s\n\n", program,
			      command->arguments, command->summary, command->help);
		if (command->options[0].name)
			ts_buf_puts(&out, "Options:\n");
		print_options(&out, command->options);
	} else {
		ts_buf_printf(
			&out,
			"Usage: %s COMMAND [OPTION]... PATH...\nProfile analysis of TPU and GPU "
			"jobs.\n\nCommands:\n",
			program);
		for (size_t i = 0; ts_commands[i]; i++)
			ts_buf_printf(&out, "  %-10s %s\n", ts_commands[i]->name,
				      ts_commands[i]->summary);
		ts_buf_printf(&out, "\n`%s COMMAND --help` tells more.\n", program);
	}
	ts_buf_puts(&out, command ? "\nShared options:\n" : "\nOptions shared by all:\n");
	print_options(&out, ts_shared_options);
	if (command)
		print_settings(&out);
	ts_buf_puts(
		&out,
		"\nExit status: 0 done; 1 a gate did not hold; 2 wrong usage; 3 no input could be "
		"read; 4 some inputs failed.\n");
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
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

static enum ts_status apply(struct ts_cli *cli, const struct ts_command *command,
			    const struct ts_option *option, const char *value, struct ts_error *err)
{
	if (option->set)
		return option->set(cli, value, err)
			       ? ts_fail_at(err, TS_USAGE, "--%s", option->name)
			       : TS_OK;
	if (strcmp(option->name, "version") == 0)
		ts_print(TS_LIT("tpusight " PACKAGE_VERSION "\n"));
	else
		ts_print_help(cli->command, command);
	return TS_NOTFOUND;
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
	if (!option->argument && equal)
		return ts_fail(err, TS_USAGE, "--%s takes no value", option->name);
	if (!option->argument || equal)
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
		if (!option->argument) {
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
