/* SPDX-License-Identifier: MIT */
/* How a file looks from outside, whatever is in it: whether another program changed it, or is about to. */
#ifndef TS_IO_LOOK_H
#define TS_IO_LOOK_H

#include <stdbool.h>
#include <stdint.h>

/* What a file looks like from outside: a program that changes the file changes this. */
struct ts_file_look {
	uint64_t nr_bytes, inode;
	int64_t mtime_ns, ctime_ns;
};
/* False: no plain file is there. */
bool ts_file_look(const char *path, struct ts_file_look *look);
bool ts_fd_look(int fd, struct ts_file_look *look);
/* How a file looks that stands for something else, an object of a store: its own look says nothing of that. */
struct ts_looker {
	bool (*look)(void *ctx, const char *path, struct ts_file_look *look);
	void *ctx;
};
/*
 * Would a change of the file from now on show in its look? Times come from a clock that ticks every few milliseconds (of some
 * file systems every second or two), so a file that changed in this tick can change again and look the same. Waits
 * for a tick to end, and not longer: false where it does not, or where the file's time is ahead of ours.
 */
bool ts_look_settle(const struct ts_file_look *look);
/* The time now, finer than that clock: of a file that was given this time, each change shows. */
int64_t ts_look_now_ns(void);
/*
 * Has a program on this machine the file open for writing? The system is asked for a lease, which
 * works on Linux, on local file systems, for the user's own files; elsewhere the answer is no.
 */
bool ts_file_is_open_to_write(const char *path);
bool ts_fd_is_open_to_write(int fd); /* the same of an open file; FD may only read */
struct stat;
int64_t ts_stat_mtime_ns(const struct stat *st);

#endif
