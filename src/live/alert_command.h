/* SPDX-License-Identifier: MIT */
/*
 * The command that the user wants to be run at every alert. A shell runs it as it was given. What
 * the alert says is in the environment only, so a shell never reads text out of a profile.
 *
 *	TPUSIGHT_ALERT_STATE	raised, cleared
 *	TPUSIGHT_ALERT_RULE, _SEVERITY, _MESSAGE, _EVIDENCE, _ADVICE, _VALUE, _THRESHOLD
 *	TPUSIGHT_ALERT_SESSION	the session's folder, where a log directory is watched
 *
 * An unknown value is empty. A value of more than 4096 characters is cut in the middle. The command
 * gets no input, and we do not wait for it. At most TS_MAX_ALERT_COMMANDS run at a time: while they
 * do, another alert starts none, and is counted.
 */
#ifndef TS_LIVE_ALERT_COMMAND_H
#define TS_LIVE_ALERT_COMMAND_H

#include <sys/types.h>

#include "live/alert.h"

#define TS_MAX_ALERT_COMMANDS 8

struct ts_alert_command {
	const char *text;   /* what the shell runs */
	const char *folder; /* in which; NULL: in the current one */
	/* the folder of the session that the next alert is about; NULL: the alert is about a
	 * running job */
	const char *session;
	pid_t running[TS_MAX_ALERT_COMMANDS];
	size_t nr_running;
	/* nr_failed: the command ended with a status other than 0 */
	uint64_t nr_run, nr_left_out, nr_failed;
};

/* Starts the command for an alert that was raised or cleared. TS_LIMIT: too many run. */
enum ts_status ts_alert_command_run(struct ts_alert_command *command, const struct ts_alert *alert,
				    struct ts_error *err);
/* To be called now and then: takes leave of commands that have ended. */
void ts_alert_command_reap(struct ts_alert_command *command);
/* Waits at most PATIENCE_MS for commands that still run; after that they are left alone. */
void ts_alert_command_finish(struct ts_alert_command *command, int64_t patience_ms);

#endif
