/* SPDX-License-Identifier: MIT */
/*
 * The system's calls on files. A call that a signal broke off is made again: network file systems
 * and FUSE may give EINTR to any of them, also where POSIX does not. Otherwise they are what their
 * names say, with errno.
 */
#ifndef TS_IO_SYS_H
#define TS_IO_SYS_H

#include <dirent.h>
#include <sys/types.h>

int ts_sys_open(const char *path, int flags);			       /* O_CLOEXEC is added */
int ts_sys_make(int dir_fd, const char *name, int flags, mode_t mode); /* openat() to write */
ssize_t ts_sys_pread(int fd, void *to, size_t n, off_t at); /* may give less, as pread() */
DIR *ts_sys_opendir(const char *path);
int ts_sys_sync(int fd); /* to the disk itself, where the system knows the difference */
int ts_sys_mkdir(const char *path, mode_t mode);
int ts_sys_rename(int dir_fd, const char *from, int to_dir_fd, const char *to);
#ifdef HAVE_RENAMEAT2
int ts_sys_rename_with(int dir_fd, const char *from, const char *to, unsigned flags);
#endif
int ts_sys_link(const char *from, const char *to); /* a link at FROM is followed */
int ts_sys_unlink(int dir_fd, const char *name);
int ts_sys_chmod(int fd, mode_t mode);
int ts_sys_chown(int fd, uid_t uid, gid_t gid);

#endif
