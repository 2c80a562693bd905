/*
 * The user's command on every alert: a shell runs the command as it was given; what the alert says is
 * in the environment alone, so text out of a profile is never read by a shell.
 *
 *	TPUSIGHT_ALERT_STATE	raised, cleared
 *	TPUSIGHT_ALERT_RULE, _SEVERITY, _MESSAGE, _EVIDENCE, _ADVICE, _VALUE, _THRESHOLD
 *	TPUSIGHT_ALERT_SESSION	its folder, where a log directory is watched
 *
 * A value that is unknown is empty, one of more than 4096 characters is cut in the middle. The command
 * gets no input and runs beside us; TS_MAX_ALERT_COMMANDS at a time, beyond that alerts are not run and counted.
 */
#ifndef TS_LIVE_ALERT_COMMAND_H
#define TS_LIVE_ALERT_COMMAND_H

#include <sys/types.h>

#include "live/alert.h"

#define TS_MAX_ALERT_COMMANDS 8

struct ts_alert_command {
	const char *text;    /* what the shell runs */
	const char *session; /* that the next alert is of; NULL: of a job that runs */
	pid_t running[TS_MAX_ALERT_COMMANDS];
	size_t nr_running;
	uint64_t nr_run, nr_left_out, nr_failed; /* failed: ended with another status than 0 */
};

/* An alert was raised or cleared. */
enum ts_status ts_alert_command_run(struct ts_alert_command *command, const struct ts_alert *alert,
				    struct ts_error *err);
void ts_alert_command_reap(struct ts_alert_command *command); /* now and then */
/* Waits for those that still run, at most so long; then they are left alone. */
void ts_alert_command_finish(struct ts_alert_command *command, int64_t patience_ms);

#endif
