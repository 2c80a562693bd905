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
/*
 * Has a program on this machine the file open for writing? The system is asked for a lease, which
 * works on Linux, on local file systems, for the user's own files; elsewhere the answer is no.
 */
bool ts_file_is_open_to_write(const char *path);
bool ts_fd_is_open_to_write(int fd); /* the same of an open file; FD may only read */
struct stat;
int64_t ts_stat_mtime_ns(const struct stat *st);

#endif
