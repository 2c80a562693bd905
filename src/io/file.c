/* SPDX-License-Identifier: MIT */
/* Changes of names as POSIX has them, made durable: the folder is synced after each. */
#include "io/file.h"

#include "base/check.h"
#include "io/newfile.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPARE_BYTES 65536

bool ts_dir_exists(const char *path)
{
	struct stat st;

	TS_ASSERT(path);
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool ts_file_exists(const char *path)
{
	struct stat st;

	TS_ASSERT(path);
	return stat(path, &st) == 0;
}

/* Some file systems (network, FUSE) have no fsync for folders, and say so in several ways. */
static bool no_such_thing(int errnum)
{
	return errnum == EINVAL || errnum == ENOTSUP || errnum == EOPNOTSUPP || errnum == EBADF ||
	       errnum == ENOSYS || errnum == EROFS;
}

enum ts_status ts_dir_sync(const char *dir, struct ts_error *err)
{
	int fd = ts_sys_open(dir, O_RDONLY | O_DIRECTORY);
	enum ts_status st = TS_OK;

	TS_ASSERT(dir);
	if (fd < 0)
		return ts_fail_errno(err, errno, dir, "open the folder");
	if (ts_sys_sync(fd) != 0 && !no_such_thing(errno))
		st = ts_fail_errno(err, errno, dir, "bring the folder to disk");
	close(fd);
	return st;
}

static enum ts_status sync_parent(const char *path, struct ts_error *err)
{
	const char *slash = strrchr(path, '/');
	enum ts_status st;
	char *dir;

	if (!slash)
		return ts_dir_sync(".", err);
	if (slash == path)
		return ts_dir_sync("/", err);
	dir = strndup(path, (size_t)(slash - path));
	if (!dir)
		return ts_fail_nomem(err);
	st = ts_dir_sync(dir, err);
	free(dir);
	return st;
}

/* A folder is on the disk when the folder above it is. */
static enum ts_status make_dir(const char *path, uint32_t mode, bool *made, struct ts_error *err)
{
	int errnum;

	*made = ts_sys_mkdir(path, (mode_t)mode) == 0;
	if (*made)
		return sync_parent(path, err);
	errnum = errno;
	return errnum == EEXIST || ts_dir_exists(path)
		       ? TS_OK
		       : ts_fail_errno(err, errnum, path, "make it");
}

enum ts_status ts_dir_make_for(const char *path, uint32_t mode, size_t *made, struct ts_error *err)
{
	char *copy = strdup(path);
	enum ts_status st = copy ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT(path && made);
	*made = 0;
	for (char *at = copy; st == TS_OK && *at && (at = strchr(at + 1, '/'));) {
		bool is_new;

		*at = '\0';
		st = make_dir(copy, mode, &is_new, err);
		if (is_new && *made == 0)
			*made = (size_t)(at - copy);
		*at = '/';
	}
	free(copy);
	return st;
}

void ts_dir_unmake_for(const char *path, size_t made)
{
	char *copy = made > 0 ? strdup(path) : NULL;
	char *slash = copy ? strrchr(copy, '/') : NULL;

	TS_ASSERT(path || made == 0);
	while (slash && (size_t)(slash - copy) >= made) {
		*slash = '\0';
		slash = rmdir(copy) == 0 || errno == ENOENT ? strrchr(copy, '/') : NULL;
	}
	free(copy);
}

enum ts_status ts_file_remove(const char *path, struct ts_error *err)
{
	TS_ASSERT(path);
	if (ts_sys_unlink(AT_FDCWD, path) != 0) {
		if (errno == ENOENT)
			return TS_OK;
		return ts_fail_errno(err, errno, path, "remove it");
	}
	return sync_parent(path, err);
}

enum ts_status ts_file_rename(const char *old_path, const char *new_path, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(old_path && new_path);
	if (ts_sys_rename(AT_FDCWD, old_path, AT_FDCWD, new_path) != 0)
		return ts_fail_errno(err, errno, old_path, "rename it");
	st = sync_parent(new_path, err);
	return st ? st : sync_parent(old_path, err);
}

/* A file server may hold a lease, and gives it back when it is waited for. */
int ts_file_open_to_read(const char *path)
{
	int flags = O_RDONLY | O_NOCTTY;
	int fd = ts_sys_open(path, flags | O_NONBLOCK);
	struct stat st;

	TS_ASSERT(path);
	if (fd < 0 && errno == EWOULDBLOCK && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		fd = ts_sys_open(path, flags);
	return fd;
}

static enum ts_status copy_whole(const char *old_path, const char *new_path, struct ts_error *err)
{
	const struct ts_newfile_use use = { .like = old_path };
	struct ts_newfile file = TS_NEWFILE_INIT;
	int fd = ts_file_open_to_read(old_path);
	struct stat was;
	enum ts_status st;

	if (fd < 0)
		return ts_fail_errno(err, errno, old_path, "open it");
	if (fstat(fd, &was) != 0) {
		st = ts_fail_errno(err, errno, old_path, "look at it");
		goto done;
	}
	st = ts_newfile_open_for(&file, new_path, &use, err);
	if (st)
		goto done;
	st = ts_newfile_copy(&file, fd, 0, (uint64_t)was.st_size, err);
	if (st)
		goto done;
	st = ts_newfile_commit(&file, err);
done:
	ts_newfile_release(&file);
	close(fd);
	return st;
}

static bool has_no_links(int errnum)
{
	return errnum == EPERM || errnum == EXDEV || errnum == EMLINK || errnum == EACCES ||
	       no_such_thing(errnum);
}

enum ts_status ts_file_link_or_copy(const char *old_path, const char *new_path,
				    struct ts_error *err)
{
	struct stat st;

	TS_ASSERT(old_path && new_path);
	/* With AT_SYMLINK_FOLLOW a link's content gets the second name, not the link. */
	if (ts_sys_link(old_path, new_path) == 0)
		return sync_parent(new_path, err);
	if (!has_no_links(errno))
		return ts_fail_errno(err, errno, errno == EEXIST ? new_path : old_path,
				     "give it a second name");
	if (lstat(new_path, &st) == 0)
		return ts_fail_errno(err, EEXIST, new_path, "give it a second name");
	return copy_whole(old_path, new_path, err);
}

/* As much of N bytes as there is; -1 with errno. */
static ssize_t read_full(int fd, uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		ssize_t got = read(fd, p + at, n - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		at += (size_t)got;
	}
	return (ssize_t)at;
}

static enum ts_status same_content(int a, int b, const char *path, bool *same, struct ts_error *err)
{
	uint8_t x[COMPARE_BYTES], y[COMPARE_BYTES];
	ssize_t nx, ny;

	do {
		nx = read_full(a, x, sizeof(x));
		ny = read_full(b, y, sizeof(y));
		if (nx < 0 || ny < 0)
			return ts_fail_errno(err, errno, path, "read it");
		*same = nx == ny && memcmp(x, y, (size_t)nx) == 0;
	} while (*same && nx == (ssize_t)sizeof(x));
	return TS_OK;
}

enum ts_status ts_file_same(const char *a, const char *b, bool *same, struct ts_error *err)
{
	int fa = ts_file_open_to_read(a), error_a = errno;
	int fb = ts_file_open_to_read(b), error_b = errno;
	enum ts_status st = TS_OK;
	struct stat sa, sb;

	TS_ASSERT(a && b && same);
	*same = false;
	if (fa < 0 && error_a != ENOENT)
		st = ts_fail_errno(err, error_a, a, "open it");
	else if (fb < 0 && error_b != ENOENT)
		st = ts_fail_errno(err, error_b, b, "open it");
	else if (fa < 0 || fb < 0)
		;
	else if (fstat(fa, &sa) != 0 || fstat(fb, &sb) != 0)
		st = ts_fail_errno(err, errno, a, "look at it");
	else if (sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino)
		*same = true;
	else if (sa.st_size == sb.st_size)
		st = same_content(fa, fb, a, same, err);
	if (fa >= 0)
		close(fa);
	if (fb >= 0)
		close(fb);
	return st;
}

enum ts_status ts_dir_lock(struct ts_dirlock *lock, const char *dir, enum ts_dirlock_of of,
			   struct ts_error *err)
{
	int kind = of == TS_DIRLOCK_OF_A_FILE ? LOCK_SH : LOCK_EX;

	TS_ASSERT(lock && dir);
	lock->fd = ts_sys_open(dir, O_RDONLY | O_DIRECTORY);
	if (lock->fd < 0)
		return ts_fail_errno(err, errno, dir, "open the folder");
	if (flock(lock->fd, kind | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return TS_OK;
	ts_dir_unlock(lock);
	return ts_fail(
		err, TS_IO,
		"%s: another tpusight is writing to this session (run again when it is done)", dir);
}

void ts_dir_unlock(struct ts_dirlock *lock)
{
	TS_ASSERT(lock);
	if (lock->fd >= 0)
		close(lock->fd); /* the lock goes with the descriptor */
	lock->fd = -1;
}
