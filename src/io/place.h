/* SPDX-License-Identifier: MIT */
/*
 * Where a profile lies, as viewers and the system see it: whether TensorBoard finds it there, and whether Linux keeps
 * the folder itself or, under WSL, Windows does.
 */
#ifndef TS_IO_PLACE_H
#define TS_IO_PLACE_H

#include <stdbool.h>

#include "base/buf.h"

/* Is DIR, links followed, plugins/profile/SESSION? False where it is not there. */
bool ts_place_is_session(const char *dir);

/*
 * MOUNTS is the text of /proc/self/mountinfo, PATH an absolute path without links. If the mount that has PATH is a
 * drive of Windows, *POINT becomes the folder where it is mounted, as it stands in MOUNTS; else false.
 */
bool ts_place_windows_mount(struct ts_bytes mounts, const char *path, struct ts_bytes *point);
/* The same of this machine; POINT gets the folder behind what it has. */
bool ts_place_is_windows(const char *path, struct ts_buf *point);

#endif
