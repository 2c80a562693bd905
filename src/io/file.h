/* SPDX-License-Identifier: MIT */
/*
 * Files that are there: remove, rename, keep a second name, compare; and one run at a time in a
 * folder. Each change is on disk (the folder is synced) when the function comes back. No function
 * follows a link to change what is behind it.
 */
#ifndef TS_IO_FILE_H
#define TS_IO_FILE_H

#include "base/bytes.h"

/* A descriptor, or -1 with errno. Whatever came into the file's place, a pipe for instance, is not waited for. */
int ts_file_open_to_read(const char *path);
bool ts_file_exists(const char *path); /* a link that leads nowhere does not */
/* A file that is not there is fine: it is gone. Never removes a folder. */
enum ts_status ts_file_remove(const char *path, struct ts_error *err);
/* Replaces NEW_PATH in one step if it is there. */
enum ts_status ts_file_rename(const char *old_path, const char *new_path, struct ts_error *err);
/*
 * A second name for the content of OLD_PATH: a hard link, or a full copy where the system has no
 * hard links. An existing NEW_PATH is an error and stays.
 */
enum ts_status ts_file_link_or_copy(const char *old_path, const char *new_path,
				    struct ts_error *err);
/* Equal content? A file that is not there equals nothing. */
enum ts_status ts_file_same(const char *a, const char *b, bool *same, struct ts_error *err);
bool ts_dir_exists(const char *path);

/*
 * Makes the folders that lead to the file PATH, those that are missing; MODE less the umask. Each is on
 * disk then. *MADE is for ts_dir_unmake_for(), also after a failure: it removes those that were made and
 * are empty.
 */
enum ts_status ts_dir_make_for(const char *path, uint32_t mode, size_t *made, struct ts_error *err);
void ts_dir_unmake_for(const char *path, size_t made);
/* Brings a folder's names to disk; it is not an error where a file system cannot do that. */
enum ts_status ts_dir_sync(const char *dir, struct ts_error *err);

/*
 * A lock on a folder, against a second tpusight that changes the same session: alone, or of one
 * file beside others that change other files. Does not wait: a lock that another holds is TS_IO,
 * and the story says so. It goes with the process; nothing is left behind. Where the file system
 * has no locks, the lock is taken for granted.
 */
struct ts_dirlock {
	int fd;
};

enum ts_dirlock_of {
	TS_DIRLOCK_OF_ALL,
	TS_DIRLOCK_OF_A_FILE,
};

#define TS_DIRLOCK_INIT { -1 }

enum ts_status ts_dir_lock(struct ts_dirlock *lock, const char *dir, enum ts_dirlock_of of,
			   struct ts_error *err);
void ts_dir_unlock(struct ts_dirlock *lock); /* harmless when not held, or twice */

#endif
