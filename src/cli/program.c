/* SPDX-License-Identifier: MIT */
/* The program: which command, with which options, under which signals. */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "analysis/settings_list.h"
#include "base/check.h"
#include "base/closest.h"
#include "base/work.h"
#include "cli/confined.h"
#include "cli/external.h"
#include "cli/format.h"
#include "cli/mount.h"
#include "cli/notices.h"
#include "io/temps.h"

/* A mapped profile that another program cuts short: the pages are gone, reading them is this. */
static void on_bus_error(int number)
{
	static const char text[] =
		"tpusight: the profile was cut short by another program while it was "
		"read; nothing was replaced (try again when it is complete)\n";

	ts_temps_remove_all();
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(TS_EXIT_NOTHING);
	_exit(TS_EXIT_NOTHING);
}

static void cli_program_set_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_bus_error;
	sigfillset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of the write */
#ifdef SIGXFSZ
	signal(SIGXFSZ, SIG_IGN); /* and so is a file-size limit */
#endif
	ts_temps_go_with_us();
}

/* A standard file that the caller closed: its number must not go to a profile that is opened. What
 * is put there fails when it is used. */
static void keep_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(TS_EXIT_NOTHING);
}

static enum ts_exit run_command(struct ts_cli *cli, const struct ts_command *command, int argc,
				char **argv)
{
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = ts_options_parse(cli, command, argc, argv, &err);
	enum ts_exit code;

	if (st == TS_NOTFOUND)
		return TS_EXIT_DONE;
	if (st) {
		ts_complain(err.text);
		return TS_EXIT_USAGE;
	}
	if (cli->nr_paths == 0 && !command->no_paths) {
		ts_fail(&err, TS_USAGE,
			"no path was given (usage: %s [OPTION]... %s; --help says more)",
			cli->command, command->arguments);
		ts_complain(err.text);
		return TS_EXIT_USAGE;
	}
	if ((command->prepare && command->prepare(cli, &err)) ||
	    ts_format_settle(cli, command, &err)) {
		ts_complain(err.text);
		return TS_EXIT_USAGE;
	}
	if (command->hand_over && command->hand_over(cli, &code))
		return code;
	st = ts_mount(cli, &err);
	if (st) {
		ts_complain(err.text);
		return ts_exit_of(st);
	}
	ts_confine_command(cli);
	return command->run(cli);
}

static void print_version(const char *program)
{
	ts_print(TS_LIT("tpusight " PACKAGE_VERSION "\n"));
}

static void print_notices(const char *program)
{
	ts_print(ts_notices);
}

static void print_help(const char *program)
{
	ts_print_help(program, NULL);
}

static const struct {
	const char *word;
	void (*print)(const char *program);
} answers[] = {
	{ "--version", print_version }, { "--licenses", print_notices }, { "--help", print_help },
	{ "-h", print_help },		{ "help", print_help },
};

/* `tpusight --help`, `tpusight --version`, or a word that is not a command. */
static enum ts_exit no_command(const char *program, const char *word)
{
	struct ts_closest closest = ts_closest_to(ts_bytes_of(word));
	struct ts_error err = TS_ERROR_INIT;

	for (size_t i = 0; i < TS_NELEM(answers); i++)
		if (strcmp(word, answers[i].word) == 0) {
			answers[i].print(program);
			return TS_EXIT_DONE;
		}
	for (size_t i = 0; ts_commands[i]; i++)
		ts_closest_try(&closest, ts_commands[i]->name);
	for (size_t i = 0; ts_externals[i].name; i++)
		ts_closest_try(&closest, ts_externals[i].name);
	if (closest.name[0])
		ts_fail(&err, TS_USAGE, "unknown command '%s' (did you mean '%s'?)", word,
			closest.name);
	else
		ts_fail(&err, TS_USAGE, "unknown command '%s' (see %s --help)", word, program);
	ts_complain(err.text);
	return TS_EXIT_USAGE;
}

/* The command's own options as they are when none is given. */
static void *own_options(const struct ts_command *command)
{
	void *own = calloc(1, TS_MAX(command->own_size, 1));

	if (own && command->defaults)
		memcpy(own, command->defaults, command->own_size);
	return own;
}

/* What was to be printed was not: the program has said so, and a script must notice. */
static int cli_program_settle(enum ts_exit code)
{
	return (int)(code == TS_EXIT_DONE && ferror(stdout) ? TS_EXIT_SOME : code);
}

/* `help COMMAND` is `COMMAND --help`. */
static void turn_help(int argc, char **argv)
{
	static char option[] = "--help";

	if (argc != 3 || strcmp(argv[1], "help") != 0 ||
	    !(ts_command_find(argv[2]) || ts_external_find(argv[2])))
		return;
	argv[1] = argv[2];
	argv[2] = option;
}

int ts_main(const char *program, const struct ts_command *command, int argc, char **argv)
{
	struct ts_sources sources = TS_SOURCES_INIT;
	struct ts_settings settings;
	struct ts_cli cli = { .nr_threads = ts_work_cpus(),
			      .settings = &settings,
			      .sources = &sources,
			      .commands = ts_commands };
	enum ts_exit code = TS_EXIT_NOTHING;
	char name[128];

	TS_ASSERT(program && argv);
	keep_standard_files();
	cli_program_set_signals();
	ts_settings_init(&settings);
	snprintf(name, sizeof(name), "%s", program);
	if (!command) {
		turn_help(argc, argv);
		command = argc > 1 ? ts_command_find(argv[1]) : NULL;
		if (!command && ts_external_find(argc > 1 ? argv[1] : NULL))
			return cli_program_settle(
				ts_external_run(ts_external_find(argv[1]), argv + 1));
		if (!command && argc > 1)
			return cli_program_settle(no_command(program, argv[1]));
		if (!command) {
			print_help(program);
			return TS_EXIT_USAGE;
		}
		snprintf(name, sizeof(name), "%s %s", program, command->name);
		argv++;
		argc--;
	}
	cli.command = name;
	cli.entry = command;
	cli.argv = argv;
	cli.paths = calloc((size_t)argc + 1, sizeof(*cli.paths));
	cli.places = calloc((size_t)argc + 1, sizeof(*cli.places));
	cli.own = own_options(command);
	if (cli.paths && cli.places && cli.own)
		code = run_command(&cli, command, argc, argv);
	else
		ts_complain("out of memory");
	ts_unmount(&cli);
	free(cli.paths);
	free(cli.places);
	free(cli.own);
	ts_sources_release(&sources);
	return cli_program_settle(code);
}
