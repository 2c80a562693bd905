/* The program: which command, with which options, under which signals. */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/work.h"
#include "cli/list.h"
#include "live/live.h"
#include "serve/server.h"

#define DECLARE(name) extern const struct ts_command ts_command_##name;
#define ADDRESS(name) &ts_command_##name,
TS_COMMANDS(DECLARE)
const struct ts_command *const ts_commands[] = { TS_COMMANDS(ADDRESS) NULL };

/* A mapped profile that another program cuts short: the pages are gone, reading them is this. */
static void on_bus_error(int number)
{
	static const char text[] =
		"tpusight: the profile was cut short by another program while it was "
		"read; nothing was replaced (try again when it is complete)\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(TS_EXIT_NOTHING);
	_exit(TS_EXIT_NOTHING);
}

static void set_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_bus_error;
	sigaction(SIGBUS, &action, NULL);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of the write */
#ifdef SIGXFSZ
	signal(SIGXFSZ, SIG_IGN); /* and so is a file-size limit */
#endif
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

static const struct ts_command *find_command(const char *name)
{
	for (size_t i = 0; ts_commands[i]; i++)
		if (strcmp(ts_commands[i]->name, name) == 0)
			return ts_commands[i];
	return NULL;
}

static enum ts_exit run_command(struct ts_cli *cli, const struct ts_command *command, int argc,
				char **argv)
{
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = ts_options_parse(cli, command, argc, argv, &err);

	if (st == TS_NOTFOUND)
		return TS_EXIT_DONE;
	if (st) {
		ts_complain(err.text);
		return TS_EXIT_USAGE;
	}
	if (cli->nr_paths == 0 && !command->no_paths) {
		ts_fail(&err, TS_USAGE,
			"no path was given (usage: %s [OPTION]... %s; --help tells more)",
			cli->command, command->arguments);
		ts_complain(err.text);
		return TS_EXIT_USAGE;
	}
	return command->run(cli);
}

/* `tpusight --help`, `tpusight --version`, or a word that is no command. */
static enum ts_exit no_command(const char *program, const char *word)
{
	struct ts_error err = TS_ERROR_INIT;

	if (word && strcmp(word, "--version") == 0) {
		ts_print(TS_LIT("tpusight " PACKAGE_VERSION "\n"));
		return TS_EXIT_DONE;
	}
	if (word &&
	    (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)) {
		ts_print_help(program, NULL);
		return TS_EXIT_DONE;
	}
	if (word)
		ts_fail(&err, TS_USAGE, "no command is called %s (see %s --help)", word, program);
	else
		ts_fail(&err, TS_USAGE, "which command? (see %s --help)", program);
	ts_complain(err.text);
	return TS_EXIT_USAGE;
}

int ts_main(const char *program, const struct ts_command *command, int argc, char **argv)
{
	struct ts_cli cli = {
		.nr_threads = ts_work_cpus(),
		.traces = { [TS_TRACE_JSON] = true },
		.max_overlay_events = TS_MAX_OVERLAY_EVENTS,
		.port = TS_SERVER_PORT,
		.interval_ms = -1,
		.sample_ms = TS_LIVE_SAMPLE_MS,
		.timeout_ms = TS_LIVE_TIMEOUT_MS,
		.settle_ms = TS_WATCH_SETTLE_MS,
		.hold_ms = TS_ALERT_HOLD_MS,
		.clear_ms = TS_ALERT_CLEAR_MS,
		.fail_on = TS_NR_SEVERITIES,
		.trim = { .from_ps = INT64_MIN, .to_ps = INT64_MAX },
	};
	char name[128];
	enum ts_exit code;

	keep_standard_files();
	set_signals();
	ts_settings_init(&cli.settings);
	snprintf(name, sizeof(name), "%s", program);
	if (!command) {
		command = argc > 1 ? find_command(argv[1]) : NULL;
		if (!command)
			return no_command(program, argc > 1 ? argv[1] : NULL);
		snprintf(name, sizeof(name), "%s %s", program, command->name);
		argv++;
		argc--;
	}
	cli.command = name;
	cli.paths = calloc((size_t)argc + 1, sizeof(*cli.paths));
	if (!cli.paths) {
		ts_complain("out of memory");
		return TS_EXIT_NOTHING;
	}
	code = run_command(&cli, command, argc, argv);
	free(cli.paths);
	return (int)code;
}
