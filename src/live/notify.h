/*
 * A word from the system when something changes in folders: inotify, where there is one. It
 * shortens a wait and says no more than "look again": events can get lost (a full queue, a folder
 * that is not watched yet, a network's folder, a limit on watches), so who waits looks from time
 * to time anyway.
 */
#ifndef TS_LIVE_NOTIFY_H
#define TS_LIVE_NOTIFY_H

#include "base/bytes.h"

struct ts_notify {
	int fd;	   /* to poll() for reading; -1: the system gives no word */
	int last;  /* the newest watch */
	bool grew; /* folders were added: what happened in them before was missed */
};

#define TS_NOTIFY_INIT { -1, 0, false }

void ts_notify_open(struct ts_notify *notify);
/* Watches a folder too; one that is watched already costs a system call. */
void ts_notify_folder(struct ts_notify *notify, const char *path);
/* Takes all that was told. False: nothing was. Folders that were moved away, and a queue that ran
 * over, make it begin anew: .grew is set, and all folders are to be named again. */
bool ts_notify_drain(struct ts_notify *notify);
void ts_notify_close(struct ts_notify *notify); /* harmless when not open */

#endif
