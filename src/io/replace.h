/* SPDX-License-Identifier: MIT */
/*
 * A new file takes the place of one that was looked at, and of no other: what a program wrote or
 * put there in the meantime is never lost.
 *
 * On Linux the two names are exchanged, and what came out is looked at again before it goes: there
 * is no moment between the look and the change. Elsewhere, and on file systems that cannot do that,
 * the look comes right before the rename. A program that has the old file open for writing is asked
 * for where the system can tell (ts_file_is_open_to_write).
 */
#ifndef TS_IO_REPLACE_H
#define TS_IO_REPLACE_H

#include "base/status.h"
#include "io/look.h"

/*
 * NAME becomes what TEMP is, both in the folder DIR_FD; TEMP is gone then. OLD: how the file NAME
 * looked; NULL: there was none. PATH is NAME for messages. TS_IO: another program changed it, has it
 * open for writing or made it; NAME and TEMP are then what they were.
 */
enum ts_status ts_replace(int dir_fd, const char *temp, const char *name, const char *path,
			  const struct ts_file_look *old, struct ts_error *err);

#endif
