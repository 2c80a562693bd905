/* SPDX-License-Identifier: MIT */
/*
 * The keeper: a process that starts the helpers, and outlives this program by a moment to end them and to remove
 * the scratch folder, however the program ended: by itself, by a signal, by SIGKILL.
 *
 * It is started before the program is confined (io/confine.h) and before it has threads; from then on it waits
 * for the end of a pipe, which comes when this program has gone. It and the helpers are in process groups
 * of their own, so that a key on the terminal goes to this program alone.
 */
#ifndef TS_REMOTE_KEEPER_H
#define TS_REMOTE_KEEPER_H

#include <sys/types.h>

#include "base/status.h"

/* A helper: descriptors of this program. */
struct ts_helper {
	const char *program, *url; /* set by the caller */
	int to, from, words;	   /* its standard input, output and error; -1: not open */
};

struct ts_keeper {
	pid_t pid; /* 0: it is not there */
	int life;
};

/* Starts it, and it starts the helpers. SCRATCH is a folder that it removes. */
enum ts_status ts_keeper_start(struct ts_keeper *keeper, const char *scratch,
			       struct ts_helper *helpers, size_t nr, struct ts_error *err);
/* Waits until the helpers have ended, by force after a moment, and the folder is gone. Harmless twice. */
void ts_keeper_end(struct ts_keeper *keeper);

#endif
