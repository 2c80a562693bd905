/* SPDX-License-Identifier: MIT */
/* Mapping and reading by POSIX; posix_madvise is a hint, and its answer is ignored. */
#include "io/input.h"

#include "base/check.h"
#include "base/buf.h"
#include "io/file.h"
#include "io/look.h"
#include "io/links.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (1 << 20)

/* A stream of more than half of the memory would only make the machine swap. */
static uint64_t stream_max(void)
{
#ifdef _SC_PHYS_PAGES
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	if (pages > 0 && page > 0)
		return TS_MIN(TS_LIMIT_STREAM, (uint64_t)pages * (uint64_t)page / 2);
#endif
	return TS_LIMIT_STREAM;
}

/* One read; *END when there is no more. */
static enum ts_status read_some(struct ts_buf *buf, int fd, const char *name, bool *end,
				struct ts_error *err)
{
	ssize_t n;

	if (!ts_buf_room(buf, READ_BYTES))
		return ts_fail_nomem(err);
	do {
		n = read(fd, buf->p + buf->n, READ_BYTES);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return ts_fail_errno(err, errno, name, "read it");
	buf->n += (size_t)n;
	*end = n == 0;
	return TS_OK;
}

enum ts_status ts_input_read(struct ts_input *in, int fd, const char *name, uint64_t max,
			     struct ts_error *err)
{
	struct ts_buf buf = TS_BUF_INIT;
	enum ts_status st = TS_OK;
	bool end = false;

	TS_ASSERT(in && name);
	*in = (struct ts_input)TS_INPUT_INIT;
	while (!st && !end) {
		st = read_some(&buf, fd, name, &end, err);
		if (!st && buf.n > max)
			st = ts_fail(err, TS_LIMIT,
				     "%s: more than %llu bytes in a stream; save it to a file "
				     "first " TS_OVER(TS_LIMIT_STREAM),
				     name, (unsigned long long)max);
	}
	if (!st && buf.n == 0)
		st = ts_fail(err, TS_FORMAT, "%s: empty (was it copied whole?)", name);
	if (st) {
		ts_buf_release(&buf);
		return st;
	}
	in->path = name;
	in->bytes = ts_buf_bytes(&buf);
	return TS_OK;
}

/* False when the system cannot map it: it can still be read. */
static bool map_whole(struct ts_input *in, int fd, const struct stat *st)
{
	void *p;

	if (!S_ISREG(st->st_mode) || st->st_size <= 0 || lseek(fd, 0, SEEK_CUR) != 0)
		return false; /* /proc says 0; of standard input a part may be read already */
	p = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	(void)posix_madvise(p, (size_t)st->st_size, POSIX_MADV_SEQUENTIAL);
	in->bytes = (struct ts_bytes){ p, (size_t)st->st_size };
	in->mapped = true;
	in->mtime_ns = ts_stat_mtime_ns(st);
	in->fd = fd;
	return true;
}

/* Takes FD over. */
static enum ts_status open_fd(struct ts_input *in, int fd, const char *name, struct ts_error *err)
{
	struct stat now;
	enum ts_status st;

	in->path = name;
	if (fstat(fd, &now) != 0)
		st = ts_fail_errno(err, errno, name, "look at it");
	else if (S_ISDIR(now.st_mode))
		st = ts_fail_errno(err, EISDIR, name, "read it");
	else if (S_ISBLK(now.st_mode) || (S_ISCHR(now.st_mode) && !isatty(fd)))
		st = ts_fail(err, TS_IO, "%s: a device, not a profile (name a file)", name);
	else if (map_whole(in, fd, &now))
		return TS_OK;
	else
		st = ts_input_read(in, fd, name, stream_max(), err);
	close(fd);
	return st;
}

enum ts_status ts_input_open(struct ts_input *in, const char *path, struct ts_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	int fd;

	TS_ASSERT(in && path);
	*in = (struct ts_input)TS_INPUT_INIT;
	if (standard)
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		fd = ts_sys_open(path, O_RDONLY | O_NOCTTY);
	if (standard)
		path = "standard input";
	if (fd < 0)
		return ts_fail_errno(err, errno, path, "open it");
	return open_fd(in, fd, path, err);
}

enum ts_status ts_input_open_plain(struct ts_input *in, const char *path, struct ts_error *err)
{
	int fd = ts_file_open_to_read(path);
	struct stat now;

	TS_ASSERT(in && path);
	*in = (struct ts_input)TS_INPUT_INIT;
	if (fd < 0 && errno != ENXIO) /* that is a socket */
		return ts_fail_errno(err, errno, path, "open it");
	if (fd >= 0 && (fstat(fd, &now) != 0 || S_ISREG(now.st_mode) || S_ISDIR(now.st_mode)))
		return open_fd(in, fd, path, err);
	if (fd >= 0)
		close(fd);
	return ts_fail(err, TS_IO, "%s: %s, not a plain file (move it away)", path,
		       fd < 0 ? "a socket" : ts_file_kind(now.st_mode));
}

enum ts_status ts_input_check(const struct ts_input *in, struct ts_error *err)
{
	struct stat now;

	TS_ASSERT(in);
	if (!in->mapped)
		return TS_OK;
	if (fstat(in->fd, &now) != 0)
		return ts_fail_errno(err, errno, in->path, "look at it");
	if ((uint64_t)now.st_size == in->bytes.n && ts_stat_mtime_ns(&now) == in->mtime_ns)
		return TS_OK;
	return ts_fail(err, TS_IO, "%s: changed while it was read (run again when it is complete)",
		       in->path);
}

void ts_input_release(struct ts_input *in)
{
	TS_ASSERT(in);
	if (in->mapped)
		munmap((void *)(uintptr_t)in->bytes.p, in->bytes.n);
	else
		free((void *)(uintptr_t)in->bytes.p);
	if (in->fd >= 0)
		close(in->fd);
	*in = (struct ts_input)TS_INPUT_INIT;
}

#if defined(BUS_ADRERR) && defined(MAP_ANONYMOUS)
/*
 * A page of zeros in place of the one that is gone. mmap() and sysconf() are plain calls into the
 * system where this works; neighbouring pages of zeros become one mapping.
 */
static void fill_page(int number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)info->si_addr & ~(page - 1);
	int errno_before = errno;

	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
		signal(number, SIG_DFL); /* it comes again, and ends the program */
	errno = errno_before;
}

bool ts_input_outlive_cuts(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = fill_page;
	action.sa_flags = SA_SIGINFO;
	return sigaction(SIGBUS, &action, NULL) == 0;
}
#else
bool ts_input_outlive_cuts(void)
{
	return false;
}
#endif
