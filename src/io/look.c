/* stat(2) and, for who writes, the leases of Linux: fcntl(2). */
#include "io/look.h"

#include "base/check.h"
#include "base/bytes.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#ifdef F_SETLEASE
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

static int64_t time_ns(struct timespec at)
{
	return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
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
