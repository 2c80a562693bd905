/* SPDX-License-Identifier: MIT */
/*
 * The system's notice that something in folders has changed: inotify, where the system has it. It
 * shortens a wait and means no more than "look again". Events can get lost (a full queue, a folder
 * that is not watched yet, a network's folder, a limit on watches), so the caller looks from time
 * to time anyway.
 */
#ifndef TS_LIVE_NOTIFY_H
#define TS_LIVE_NOTIFY_H

#include "base/bytes.h"

struct ts_notify {
	int fd;	   /* to be polled for reading; -1: the system gives no notice */
	int last;  /* the number of the newest watch */
	bool grew; /* folders were added, and what happened in them before that was missed */
};

#define TS_NOTIFY_INIT { -1, 0, false }

void ts_notify_open(struct ts_notify *notify);
/* Watches one more folder. Where it is watched already, that costs a system call. */
void ts_notify_folder(struct ts_notify *notify, const char *path);
/* Takes all events that are there. False: there are none. When a folder was moved away, or the
 * queue ran over, it begins anew: .grew is set, and all folders are to be named again. */
bool ts_notify_drain(struct ts_notify *notify);
void ts_notify_close(struct ts_notify *notify); /* harmless when not open */

#endif
