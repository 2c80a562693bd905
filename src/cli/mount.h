/* SPDX-License-Identifier: MIT */
/* Paths of the command line that are URLs (io/url.h): helpers for them, and their objects as files (remote/remote.h). */
#ifndef TS_CLI_MOUNT_H
#define TS_CLI_MOUNT_H

#include <limits.h>

#include "cli/cli.h"
#include "remote/remote.h"

/*
 * To be called once, before the program is confined. Where a path is a URL, the current folder is another one
 * from then on, and relative paths of the command line have become absolute. TS_USAGE, TS_NOTFOUND: no helper is there.
 */
enum ts_status ts_mount(struct ts_cli *cli, struct ts_error *err);
/* What was mounted is gone; harmless without it. */
void ts_unmount(struct ts_cli *cli);
/* What is at PATH now; a path of this machine is left alone. What was passed over is on the console. */
enum ts_status ts_mount_look(const struct ts_cli *cli, const char *path, struct ts_error *err);
/* The same for one file that is no session's, and its content until the end. */
enum ts_status ts_mount_file(const struct ts_cli *cli, const char *path, struct ts_error *err);
/* What the change of a session in a bucket cost: a line for the console, or nothing. */
void ts_mount_cost(struct ts_buf *out, const struct ts_remote_push *push);
/* The folder of this program; empty where the system does not say. */
void ts_own_folder(char folder[PATH_MAX]);

#endif
