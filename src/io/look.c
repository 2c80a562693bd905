/* SPDX-License-Identifier: MIT */
/* stat(2) and, for who writes, the leases of Linux: fcntl(2). */
#include "io/look.h"

#include "base/check.h"
#include "base/bytes.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#if defined(F_SETLEASE) && defined(F_SETSIG) /* macOS has the first, with another meaning */
#include <sys/vfs.h>
#endif
#include <unistd.h>

#ifdef __APPLE__
#define MTIME st_mtimespec
#define CTIME st_ctimespec
#else
#define MTIME st_mtim
#define CTIME st_ctim
#endif

#define SECOND_NS INT64_C(1000000000)
#define TICK_NS	  INT64_C(20000000) /* no system has longer ones */

static int64_t time_ns(struct timespec at)
{
	return ts_i64_add(ts_i64_mul(at.tv_sec, SECOND_NS), at.tv_nsec);
}

int64_t ts_stat_mtime_ns(const struct stat *st)
{
	TS_ASSERT(st);
	return time_ns(st->MTIME);
}

static bool take_look(const struct stat *st, struct ts_file_look *look)
{
	*look = (struct ts_file_look){ .nr_bytes = (uint64_t)st->st_size,
				       .inode = (uint64_t)st->st_ino,
				       .mtime_ns = time_ns(st->MTIME),
				       .ctime_ns = time_ns(st->CTIME) };
	return S_ISREG(st->st_mode);
}

bool ts_file_look(const char *path, struct ts_file_look *look)
{
	struct stat st;

	TS_ASSERT(path && look);
	return stat(path, &st) == 0 && take_look(&st, look);
}

bool ts_fd_look(int fd, struct ts_file_look *look)
{
	struct stat st;

	TS_ASSERT(look);
	return fstat(fd, &st) == 0 && take_look(&st, look);
}

/* The clock of the system's own times, or one as late as that may be. */
static int64_t tick_ns(void)
{
	struct timespec now = { 0, 0 };

#ifdef CLOCK_REALTIME_COARSE
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return time_ns(now);
#else
	clock_gettime(CLOCK_REALTIME, &now);
	return time_ns(now) - TICK_NS;
#endif
}

bool ts_look_settle(const struct ts_file_look *look)
{
	const struct timespec nap = { 0, 1000000 };
	int64_t last_ns, until_ns;

	TS_ASSERT(look);
	last_ns = look->ctime_ns;
	if (look->mtime_ns <= ts_look_now_ns()) /* else a change would bring it back to now */
		last_ns = TS_MAX(last_ns, look->mtime_ns);
	until_ns = last_ns % SECOND_NS == 0 ? last_ns + 2 * SECOND_NS : last_ns;
	for (int64_t now = tick_ns(); now <= until_ns; now = tick_ns())
		if (until_ns - now > 2 * TICK_NS || nanosleep(&nap, NULL) != 0)
			return false;
	return true;
}

int64_t ts_look_now_ns(void)
{
	struct timespec now = { 0, 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return time_ns(now) / 1000 *
	       1000; /* as fine as every file system keeps that is finer than a second */
}

#if defined(F_SETLEASE) && defined(F_SETSIG)
/* Others (NFS, SMB) refuse a lease for reasons of their own: ext2 to ext4, XFS, Btrfs, tmpfs,
 * overlayfs, F2FS, ZFS; their numbers are in statfs(2). */
static const uint32_t leasers[] = { 0xef53,	0x58465342, 0x9123683e, 0x01021994,
				    0x794c7630, 0xf2f52010, 0x2fc12fc1 };

static bool tells_by_leases(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	for (size_t i = 0; i < TS_NELEM(leasers); i++)
		if ((uint32_t)fs.f_type == leasers[i])
			return true;
	return false;
}
#endif

/*
 * A lease to read is refused while a program has the file open for writing. It is given back at
 * once. A program that opens the file in that moment waits until then, and the signal that we get
 * does nothing by itself.
 */
bool ts_fd_is_open_to_write(int fd)
{
#if defined(F_SETLEASE) && defined(F_SETSIG)
	if (!tells_by_leases(fd) || fcntl(fd, F_SETSIG, SIGURG) != 0)
		return false;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
#else
	(void)fd;
#endif
	return false;
}

bool ts_file_is_open_to_write(const char *path)
{
	int fd = ts_sys_open(path, O_RDONLY | O_NONBLOCK);
	bool is_open = fd >= 0 && ts_fd_is_open_to_write(fd);

	TS_ASSERT(path);
	if (fd >= 0)
		close(fd);
	return is_open;
}
