/* SPDX-License-Identifier: MIT */
/* The command is started by posix_spawn(), with an environment of its own. */
#include "live/alert_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "codec/term.h"

extern char **environ; /* POSIX names no header that declares it */

#define PREFIX	  "TPUSIGHT_ALERT_"
#define NR_VALUES 9
#define MAX_VALUE 4096 /* characters; a system limits the size of an environment */
#define NAP_MS	  10

struct variables {
	struct ts_buf texts[NR_VALUES]; /* NAME=value with a NUL at the end */
	size_t nr;
	char **all; /* ours and those that we got ourselves */
};

static void alert_command_add(struct variables *vars, const char *name, struct ts_bytes value)
{
	TS_ASSERT(vars->nr < NR_VALUES);

	struct ts_buf *text = &vars->texts[vars->nr++];

	ts_buf_printf(text, PREFIX "%s=", name);
	ts_term_cut(text, value,
		    MAX_VALUE); /* the text then has no NUL and no control codes for a terminal */
	ts_buf_putc(text, '\0');
}

static void alert_command_add_number(struct variables *vars, const char *name, double value)
{
	char text[32] = "";

	if (isfinite(value))
		snprintf(text, sizeof(text), "%.6g", value);
	alert_command_add(vars, name, ts_bytes_of(text));
}

static enum ts_status alert_command_make_all(struct variables *vars, struct ts_error *err)
{
	size_t nr = 0, at = 0;

	while (environ && environ[nr])
		nr++;
	vars->all = calloc(nr + vars->nr + 1, sizeof(*vars->all));
	if (!vars->all)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++)
		if (strncmp(environ[i], PREFIX, strlen(PREFIX)) != 0)
			vars->all[at++] = environ[i];
	for (size_t i = 0; i < vars->nr; i++) {
		if (vars->texts[i].failed)
			return ts_fail_nomem(err);
		vars->all[at++] = (char *)vars->texts[i].p;
	}
	return TS_OK;
}

static enum ts_status make_variables(struct variables *vars, const struct ts_alert *alert,
				     const char *session, struct ts_error *err)
{
	alert_command_add(vars, "STATE", ts_bytes_of(alert->is_active ? "raised" : "cleared"));
	alert_command_add(vars, "RULE", ts_bytes_of(alert->rule));
	alert_command_add(vars, "SEVERITY", ts_bytes_of(ts_severity_name(alert->severity)));
	alert_command_add(vars, "MESSAGE", ts_buf_bytes(&alert->title));
	alert_command_add(vars, "EVIDENCE", ts_buf_bytes(&alert->evidence));
	alert_command_add(vars, "ADVICE", ts_buf_bytes(&alert->advice));
	alert_command_add_number(vars, "VALUE", alert->value);
	alert_command_add_number(vars, "THRESHOLD", alert->threshold);
	alert_command_add(vars, "SESSION", ts_bytes_of(session));
	TS_ASSERT(vars->nr == NR_VALUES);
	return alert_command_make_all(vars, err);
}

/* The child starts as any program of the user: it inherits no blocked or ignored signal from us. */
static int spawn(pid_t *pid, const struct ts_alert_command *command, char **variables)
{
	static const char there[] = "cd -- \"$0\" && eval \"$1\"";
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command->text, NULL, NULL, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, defaults;
	int bad = posix_spawn_file_actions_init(&files);

	if (bad)
		return bad;
	if (command->folder) {
		argv[2] = (char *)there;
		argv[3] = (char *)command->folder;
		argv[4] = (char *)command->text;
	}
	bad = posix_spawnattr_init(&attr);
	if (bad) {
		posix_spawn_file_actions_destroy(&files);
		return bad;
	}
	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
#ifdef SIGXFSZ
	sigaddset(&defaults, SIGXFSZ);
#endif
	bad = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	bad = bad ? bad : posix_spawnattr_setsigmask(&attr, &none);
	bad = bad ? bad : posix_spawnattr_setsigdefault(&attr, &defaults);
	bad = bad ? bad
		  : posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	bad = bad ? bad : posix_spawn(pid, "/bin/sh", &files, &attr, argv, variables);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return bad;
}

enum ts_status ts_alert_command_run(struct ts_alert_command *command, const struct ts_alert *alert,
				    struct ts_error *err)
{
	struct variables vars = { .nr = 0 };
	enum ts_status st = TS_OK;
	int bad;

	TS_ASSERT(command != NULL && command->text != NULL);
	TS_ASSERT(alert != NULL && alert->severity < TS_NR_SEVERITIES);
	ts_alert_command_reap(command);
	if (command->nr_running == TS_MAX_ALERT_COMMANDS) {
		command->nr_left_out++;
		return ts_fail(err, TS_LIMIT,
			       "--on-alert: %d commands still run, so none was started for "
			       "this alert (%s)",
			       TS_MAX_ALERT_COMMANDS, alert->rule);
	}
	st = make_variables(&vars, alert, command->session, err);
	if (st)
		goto done;
	bad = spawn(&command->running[command->nr_running], command, vars.all);
	if (bad)
		st = ts_fail(err, TS_IO, "--on-alert: cannot run /bin/sh: %s", strerror(bad));
	else
		command->nr_running++, command->nr_run++;
done:
	for (size_t i = 0; i < vars.nr; i++)
		ts_buf_release(&vars.texts[i]);
	free(vars.all);
	return st;
}

void ts_alert_command_reap(struct ts_alert_command *command)
{
	size_t nr = 0;

	TS_ASSERT(command != NULL);
	TS_ASSERT(command->nr_running <= TS_MAX_ALERT_COMMANDS);
	for (size_t i = 0; i < command->nr_running; i++) {
		int status;
		pid_t pid = waitpid(command->running[i], &status, WNOHANG);

		if (pid == 0)
			command->running[nr++] = command->running[i];
		else if (pid > 0)
			command->nr_failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	command->nr_running = nr;
}

void ts_alert_command_finish(struct ts_alert_command *command, int64_t patience_ms)
{
	TS_ASSERT(command != NULL && patience_ms >= 0);

	struct timespec nap = { .tv_nsec = NAP_MS * 1000000 };
	int64_t until_ms = ts_now_ms() + patience_ms;

	ts_alert_command_reap(command);
	while (command->nr_running > 0 && ts_now_ms() < until_ms) {
		nanosleep(&nap, NULL);
		ts_alert_command_reap(command);
	}
}
