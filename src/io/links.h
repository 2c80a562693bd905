/* SPDX-License-Identifier: MIT */
/* What stands at the end of a path: links that the user named, and things that are not a plain file. */
#ifndef TS_IO_LINKS_H
#define TS_IO_LINKS_H

#include "base/status.h"

#include <stdint.h>

/*
 * *OUT, which the caller frees, is PATH with the links at its end followed (realpath would not go to a
 * file that is not there). In a folder where everybody may write and only owners may remove (/tmp), a link
 * is followed only if it is the user's own or the folder owner's, as Linux does (fs.protected_symlinks):
 * anybody may have laid it there.
 */
enum ts_status ts_links_follow(char **out, const char *path, struct ts_error *err);

/* "a folder", "a symbolic link", ...: what a file of this mode is, if it is not a plain file. */
const char *ts_file_kind(uint32_t mode);

#endif
