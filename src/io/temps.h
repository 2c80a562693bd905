/* SPDX-License-Identifier: MIT */
/*
 * Temporaries of this process: they are known from the moment in which they have a name, so that a
 * signal that ends the program can remove them. Any thread may call; the handler removes what all
 * threads have, while they wait.
 *
 * Only their names are kept here. Who made one renames or removes it, and its folder's descriptor
 * stays open until then. More than TS_TEMPS_MAX at once are made all the same; a signal leaves
 * those to the next run (io/newfile.h).
 */
#ifndef TS_IO_TEMPS_H
#define TS_IO_TEMPS_H

#include <sys/types.h>

#include "base/status.h"

#define TS_TEMPS_MAX 64

/* A new file in the folder, to read and write; -1 with errno (EEXIST: it is another's). */
int ts_temps_make(int dir_fd, const char *name, mode_t mode);
/* The file gets its name; -1 with errno: it still is a temporary. */
int ts_temps_rename(int dir_fd, const char *name, const char *to);
/* FINISH gives the temporary its name in several calls, which no signal of the program's end parts;
 * TS_OK: it is not a temporary any more. FINISH calls nothing of this header. */
enum ts_status ts_temps_finish(int dir_fd, const char *name, enum ts_status (*finish)(void *ctx),
			       void *ctx);
void ts_temps_remove(int dir_fd, const char *name);

/*
 * From here on SIGINT, SIGTERM and SIGHUP remove the temporaries before they end the program as
 * ever. One that is ignored stays so (nohup), and a thread that blocks them to wait for them is
 * not disturbed.
 */
void ts_temps_go_with_us(void);
/* All of them, for good: no thread makes or renames one after it. To be called from a handler. */
void ts_temps_remove_all(void);

#endif
