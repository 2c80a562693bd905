/* SPDX-License-Identifier: MIT */
/* One loop for each call. close() is not here: after EINTR the descriptor is closed all the same. */
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGAIN(result, call)                         \
	do {                                        \
		(result) = (call);                  \
	} while ((result) < 0 && errno == EINTR)

int ts_sys_open(const char *path, int flags)
{
	int fd;

	AGAIN(fd, open(path, flags | O_CLOEXEC));
	return fd;
}

int ts_sys_make(int dir_fd, const char *name, int flags, mode_t mode)
{
	int fd;

	AGAIN(fd, openat(dir_fd, name, flags | O_CLOEXEC, mode));
	return fd;
}

ssize_t ts_sys_pread(int fd, void *to, size_t n, off_t at)
{
	ssize_t got;

	AGAIN(got, pread(fd, to, n, at));
	return got;
}

DIR *ts_sys_opendir(const char *path)
{
	DIR *dir;

	do {
		dir = opendir(path);
	} while (!dir && errno == EINTR);
	return dir;
}

int ts_sys_sync(int fd)
{
	int answer;

#ifdef F_FULLFSYNC
	if (fcntl(fd, F_FULLFSYNC) == 0) /* macOS: fsync leaves it in the drive's cache */
		return 0;
#endif
	AGAIN(answer, fsync(fd));
	return answer;
}

int ts_sys_mkdir(const char *path, mode_t mode)
{
	int answer;

	AGAIN(answer, mkdir(path, mode));
	return answer;
}

int ts_sys_rename(int dir_fd, const char *from, int to_dir_fd, const char *to)
{
	int answer;

	AGAIN(answer, renameat(dir_fd, from, to_dir_fd, to));
	return answer;
}

#ifdef HAVE_RENAMEAT2
int ts_sys_rename_with(int dir_fd, const char *from, const char *to, unsigned flags)
{
	int answer;

	AGAIN(answer, renameat2(dir_fd, from, dir_fd, to, flags));
	return answer;
}
#endif

int ts_sys_link(const char *from, const char *to)
{
	int answer;

	AGAIN(answer, linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW));
	return answer;
}

int ts_sys_unlink(int dir_fd, const char *name)
{
	int answer;

	AGAIN(answer, unlinkat(dir_fd, name, 0));
	return answer;
}

int ts_sys_chmod(int fd, mode_t mode)
{
	int answer;

	AGAIN(answer, fchmod(fd, mode));
	return answer;
}

int ts_sys_chown(int fd, uid_t uid, gid_t gid)
{
	int answer;

	AGAIN(answer, fchown(fd, uid, gid));
	return answer;
}
