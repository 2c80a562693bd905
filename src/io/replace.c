/* SPDX-License-Identifier: MIT */
/* renameat2() of Linux: rename(2), its flags RENAME_EXCHANGE and RENAME_NOREPLACE. */
#include "io/replace.h"

#include "base/check.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum way { EXCHANGE, NOREPLACE };

/* ENOSYS: the system, or this file system, has no such call. */
static int rename_by(enum way way, int dir_fd, const char *from, const char *to)
{
#ifdef HAVE_RENAMEAT2
	static const unsigned flags[] = {
		[EXCHANGE] = RENAME_EXCHANGE, [NOREPLACE] = RENAME_NOREPLACE
	};

	if (ts_sys_rename_with(dir_fd, from, to, flags[way]) == 0)
		return 0;
	return errno == EINVAL || errno == ENOTSUP || errno == EOPNOTSUPP ? ENOSYS : errno;
#else
	(void)way, (void)dir_fd, (void)from, (void)to;
	return ENOSYS;
#endif
}

static bool is_written(int dir_fd, const char *name)
{
	int fd = ts_sys_make(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	bool is_open = fd >= 0 && ts_fd_is_open_to_write(fd);

	if (fd >= 0)
		close(fd);
	return is_open;
}

/* The time of its last change of status does not count: renames and links change it. */
static bool is_as(const struct stat *now, const struct ts_file_look *old)
{
	return S_ISREG(now->st_mode) && (uint64_t)now->st_ino == old->inode &&
	       (uint64_t)now->st_size == old->nr_bytes && ts_stat_mtime_ns(now) == old->mtime_ns;
}

static enum ts_status replace_check(int dir_fd, const char *name, const char *path,
				    const struct ts_file_look *old, struct ts_error *err)
{
	struct stat now;
	bool is_there = fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0;

	if (!is_there && errno != ENOENT)
		return ts_fail_errno(err, errno, path, "look at it");
	if (!is_there || !is_as(&now, old))
		return ts_fail(err, TS_IO,
			       "%s: changed or replaced by another program meanwhile (run again "
			       "when it is complete)",
			       path);
	if (is_written(dir_fd, name))
		return ts_fail(err, TS_IO,
			       "%s: another program has it open for writing (run again when it "
			       "is complete)",
			       path);
	return TS_OK;
}

static enum ts_status plain_rename(int dir_fd, const char *temp, const char *name, const char *path,
				   struct ts_error *err)
{
	return ts_sys_rename(dir_fd, temp, dir_fd, name) == 0
		       ? TS_OK
		       : ts_fail_errno(err, errno, path, "write it");
}

static enum ts_status replace_put_new(int dir_fd, const char *temp, const char *name,
				      const char *path, struct ts_error *err)
{
	int errnum = rename_by(NOREPLACE, dir_fd, temp, name);
	struct stat now;

	if (errnum == ENOSYS)
		errnum = fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 ? EEXIST : ENOSYS;
	if (errnum == ENOSYS)
		return plain_rename(dir_fd, temp, name, path, err);
	if (errnum == EEXIST)
		return ts_fail(err, TS_IO, "%s: made by another program meanwhile (run again)",
			       path);
	return errnum ? ts_fail_errno(err, errnum, path, "write it") : TS_OK;
}

/*
 * The names were exchanged, and what came out is not the file that was looked at: it goes back. If
 * yet another file has the name by now, that one stays, and the one before it was replaced anyway.
 */
static void undo(int dir_fd, const char *temp, const char *name, ino_t ours)
{
	struct stat now;

	if (rename_by(EXCHANGE, dir_fd, temp, name) == 0 &&
	    fstatat(dir_fd, temp, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino != ours)
		(void)rename_by(EXCHANGE, dir_fd, temp, name);
}

enum ts_status ts_replace(int dir_fd, const char *temp, const char *name, const char *path,
			  const struct ts_file_look *old, struct ts_error *err)
{
	struct stat ours;
	enum ts_status st;
	int errnum;

	TS_ASSERT(temp && name && path);
	if (!old)
		return replace_put_new(dir_fd, temp, name, path, err);
	st = replace_check(dir_fd, name, path, old, err);
	if (st)
		return st;
	if (fstatat(dir_fd, temp, &ours, AT_SYMLINK_NOFOLLOW) != 0)
		return ts_fail_errno(err, errno, path, "write it");
	errnum = rename_by(EXCHANGE, dir_fd, temp, name);
	if (errnum == ENOSYS)
		return plain_rename(dir_fd, temp, name, path, err);
	if (errnum)
		return ts_fail_errno(err, errnum, path, "write it");
	st = replace_check(dir_fd, temp, path, old, err);
	if (st)
		undo(dir_fd, temp, name, ours.st_ino);
	else if (ts_sys_unlink(dir_fd, temp) != 0)
		st = ts_fail_errno(err, errno, path, "remove what it replaced");
	return st;
}
