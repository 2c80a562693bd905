/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: the n-th of a program's calls into the system fails.
 *
 *	TS_FAIL=ENOSPC:17	the 17th call that can fail for want of room does
 *	TS_FAIL=ENOSPC:17+	so do all of them after it: the disk stays full
 *	TS_FAIL=short:3		the third call that may move fewer bytes than it was asked to moves one
 *	TS_FAIL_LOG=FILE	gets "CALL PATH" for the first that failed, and at the end "= ERROR CALLS" for each error: how
 *				many calls could have failed so
 *
 * What counts are the calls that the program and its libraries make by name. Those that libc makes itself are not seen:
 * what stdio writes (for that there are /dev/full and a closed pipe), and the loading of libraries. Programs that the
 * program starts are left alone.
 */
#ifdef __linux__
#undef _FORTIFY_SOURCE /* its inline functions have the names that are defined here */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
	OPENS = 1,
	MAKES = 2,
	WRITES = 4,
	READS = 8,
	SYNCS = 16,
	NAMES = 32, /* makes a name, and no descriptor */
	REMOVES = 64,
	LOOKS = 128,
	CLOSES = 256,
	OWNS = 512,
	MAPS = 1024,
	LISTS = 2048,
};

#define SHORT (-1)

/* What can happen to which calls. */
static const struct fault {
	const char *name;
	int number;
	unsigned kinds;
} faults[] = {
	{ "ENOSPC", ENOSPC, MAKES | NAMES | WRITES | SYNCS },
	{ "EDQUOT", EDQUOT, MAKES | NAMES | WRITES | SYNCS },
	{ "EIO", EIO,
	  OPENS | MAKES | NAMES | WRITES | READS | SYNCS | REMOVES | LOOKS | CLOSES | OWNS |
		  LISTS },
	{ "EINTR", EINTR,
	  OPENS | MAKES | NAMES | WRITES | READS | SYNCS | REMOVES | CLOSES | OWNS },
	{ "EMFILE", EMFILE, OPENS | MAKES },
	{ "EACCES", EACCES, OPENS | MAKES | NAMES | REMOVES | OWNS | LOOKS },
	{ "ENOMEM", ENOMEM, MAPS },
	{ "short", SHORT, WRITES | READS },
};

#define NR_FAULTS (sizeof(faults) / sizeof(faults[0]))

static const struct fault *fault; /* NULL: nothing was asked for */
static long first_at;
static bool is_for_good;
static int log_fd = -1;
static atomic_long nr_calls[NR_FAULTS];

static void tell(const char *text)
{
	if (log_fd >= 0)
		syscall(SYS_write, log_fd, text, strlen(text));
}

static void tell_failure(const char *call, const char *path, int fd)
{
	char link[64], target[4096] = "", line[4400];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!path && fd >= 0 &&
	    syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof(target) - 1) < 0)
		target[0] = '\0';
	snprintf(line, sizeof(line), "%s %s\n", call, path ? path : target);
	tell(line);
}

__attribute__((constructor)) static void begin(void)
{
	const char *setting = getenv("TS_FAIL"), *colon = setting ? strchr(setting, ':') : NULL;
	const char *log_path = getenv("TS_FAIL_LOG");

	unsetenv("LD_PRELOAD");
	if (log_path) /* now: the program may give up the right to make files */
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, log_path,
				      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	for (size_t i = 0; colon && i < NR_FAULTS; i++)
		if (strncmp(setting, faults[i].name, (size_t)(colon - setting)) == 0 &&
		    faults[i].name[colon - setting] == '\0')
			fault = &faults[i];
	first_at = colon ? strtol(colon + 1, NULL, 10) : 0;
	is_for_good = colon && strchr(colon, '+');
}

__attribute__((destructor)) static void end(void)
{
	char line[64];

	for (size_t i = 0; i < NR_FAULTS; i++) {
		snprintf(line, sizeof(line), "= %s %ld\n", faults[i].name,
			 atomic_load(&nr_calls[i]));
		tell(line);
	}
}

/* Counts the call for each error that it can have; is it this one's turn to fail? */
static bool is_hit(unsigned kind, bool moves_less, const char *call, const char *path, int fd)
{
	int before = errno;
	long mine = 0;

	for (size_t i = 0; i < NR_FAULTS; i++) {
		if (!(faults[i].kinds & kind) || (faults[i].number == SHORT) != moves_less)
			continue;
		long number = atomic_fetch_add(&nr_calls[i], 1) + 1;
		if (fault == &faults[i])
			mine = number;
	}
	if (mine > 0 && mine == first_at)
		tell_failure(call, path, fd);
	errno = before;
	return mine > 0 && first_at > 0 && (mine == first_at || (is_for_good && mine > first_at));
}

static bool fails(unsigned kind, const char *call, const char *path, int fd)
{
	if (!is_hit(kind, false, call, path, fd))
		return false;
	errno = fault->number;
	return true;
}

/* How many of N bytes the call may move. */
static size_t cut(unsigned kind, const char *call, int fd, size_t n)
{
	return n > 1 && is_hit(kind, true, call, NULL, fd) ? 1 : n;
}

/* A call that fails by itself, with its errno and its own sign of failure, or is passed on. */
#define WRAP(kind, type, bad, name, path, fd, params, args)              \
	type name params                                                 \
	{                                                                \
		static type(*next) params;                               \
                                                                         \
		if (!next)                                               \
			next = (type(*) params)dlsym(RTLD_NEXT, #name);  \
		return fails(kind, #name, path, fd) ? (bad) : next args; \
	}

/* The same of a call that moves N bytes. */
#define WRAP_BYTES(kind, name, params, args)                                  \
	ssize_t name params                                                   \
	{                                                                     \
		static ssize_t(*next) params;                                 \
                                                                              \
		if (!next)                                                    \
			next = (ssize_t(*) params)dlsym(RTLD_NEXT, #name);    \
		n = cut(kind, #name, fd, n);                                  \
		return fails(kind, #name, NULL, fd) ? (ssize_t)-1 : next args; \
	}

/* A call of open's family, whose mode is there only when a file may be made. */
#define WRAP_OPEN(name, params, args)                                                   \
	int name params                                                                      \
	{                                                                                    \
		static int(*next) params;                                                    \
		bool makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;          \
		mode_t mode = 0;                                                             \
		va_list more;                                                                \
                                                                                             \
		if (!next)                                                                   \
			next = (int(*) params)dlsym(RTLD_NEXT, #name);                       \
		va_start(more, flags);                                                       \
		if (makes)                                                                   \
			mode = va_arg(more, mode_t);                                         \
		va_end(more);                                                                \
		return fails(makes ? MAKES : OPENS, #name, path, -1) ? -1 : next args;       \
	}

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
WRAP_OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
WRAP(OPENS, int, -1, __open_2, path, -1, (const char *path, int flags), (path, flags))
WRAP(OPENS, int, -1, __openat_2, path, -1, (int dir, const char *path, int flags),
     (dir, path, flags))
WRAP(OPENS, FILE *, NULL, fopen, path, -1, (const char *path, const char *mode), (path, mode))
WRAP(OPENS, DIR *, NULL, opendir, path, -1, (const char *path), (path))
WRAP(LISTS, DIR *, NULL, fdopendir, NULL, fd, (int fd), (fd))
WRAP(LISTS, struct dirent *, NULL, readdir, NULL, dirfd(dir), (DIR * dir), (dir))
WRAP(MAKES, int, -1, mkstemp, path, -1, (char *path), (path))
WRAP(MAKES, FILE *, NULL, tmpfile, "tmpfile", -1, (void), ())

WRAP_BYTES(READS, read, (int fd, void *p, size_t n), (fd, p, n))
WRAP_BYTES(READS, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
WRAP_BYTES(READS, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))
WRAP_BYTES(READS, __read_chk, (int fd, void *p, size_t n, size_t room), (fd, p, n, room))
WRAP_BYTES(READS, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t room),
	   (fd, p, n, at, room))
WRAP_BYTES(WRITES, write, (int fd, const void *p, size_t n), (fd, p, n))
WRAP_BYTES(WRITES, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
WRAP_BYTES(WRITES, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
WRAP_BYTES(WRITES, copy_file_range,
	   (int from, off64_t *from_at, int fd, off64_t *at, size_t n, unsigned flags),
	   (from, from_at, fd, at, n, flags))
WRAP(WRITES, ssize_t, -1, writev, NULL, fd, (int fd, const struct iovec *parts, int nr),
     (fd, parts, nr))
WRAP(WRITES, int, -1, ftruncate, NULL, fd, (int fd, off_t n), (fd, n))
WRAP(SYNCS, int, -1, fsync, NULL, fd, (int fd), (fd))
WRAP(SYNCS, int, -1, fdatasync, NULL, fd, (int fd), (fd))

WRAP(NAMES, int, -1, mkdir, path, -1, (const char *path, mode_t mode), (path, mode))
WRAP(NAMES, int, -1, rename, from, -1, (const char *from, const char *to), (from, to))
WRAP(NAMES, int, -1, renameat, to, -1, (int dir, const char *from, int to_dir, const char *to),
     (dir, from, to_dir, to))
WRAP(NAMES, int, -1, renameat2, to, -1,
     (int dir, const char *from, int to_dir, const char *to, unsigned flags),
     (dir, from, to_dir, to, flags))
WRAP(NAMES, int, -1, link, to, -1, (const char *from, const char *to), (from, to))
WRAP(NAMES, int, -1, linkat, to, -1,
     (int dir, const char *from, int to_dir, const char *to, int flags),
     (dir, from, to_dir, to, flags))
WRAP(NAMES, int, -1, symlink, to, -1, (const char *from, const char *to), (from, to))
WRAP(REMOVES, int, -1, unlink, path, -1, (const char *path), (path))
WRAP(REMOVES, int, -1, unlinkat, path, -1, (int dir, const char *path, int flags),
     (dir, path, flags))
WRAP(REMOVES, int, -1, rmdir, path, -1, (const char *path), (path))

WRAP(LOOKS, int, -1, stat, path, -1, (const char *path, struct stat *out), (path, out))
WRAP(LOOKS, int, -1, lstat, path, -1, (const char *path, struct stat *out), (path, out))
WRAP(LOOKS, int, -1, fstat, NULL, fd, (int fd, struct stat *out), (fd, out))
WRAP(LOOKS, int, -1, fstatat, path, -1, (int dir, const char *path, struct stat *out, int flags),
     (dir, path, out, flags))
WRAP(LOOKS, ssize_t, -1, readlink, path, -1, (const char *path, char *out, size_t n),
     (path, out, n))
WRAP(OWNS, int, -1, fchmod, NULL, fd, (int fd, mode_t mode), (fd, mode))
WRAP(OWNS, int, -1, fchown, NULL, fd, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP(OWNS, int, -1, fsetxattr, NULL, fd,
     (int fd, const char *name, const void *value, size_t n, int flags),
     (fd, name, value, n, flags))
WRAP(MAPS, void *, MAP_FAILED, mmap, NULL, fd,
     (void *at, size_t n, int access, int flags, int fd, off_t offset),
     (at, n, access, flags, fd, offset))

/* What it closes is closed all the same: so Linux has it. */
int close(int fd)
{
	bool is_hit_now = fails(CLOSES, "close", NULL, fd);
	int before = errno, answer = (int)syscall(SYS_close, fd);

	if (!is_hit_now)
		return answer;
	errno = before;
	return -1;
}
#endif
