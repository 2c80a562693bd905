/* SPDX-License-Identifier: MIT */
/*
 * A file that never has a name, where the system makes these; else one whose name is removed at
 * once, which is the only way in POSIX that all systems know.
 */
#include "io/scratch.h"

#include "base/check.h"
#include "base/buf.h"
#include "io/file.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATTERN "/tpusight-XXXXXX"

static int open_nameless(const char *dir)
{
#ifdef O_TMPFILE
	return ts_sys_make(AT_FDCWD, dir, O_TMPFILE | O_RDWR, 0600);
#else
	(void)dir;
	return -1;
#endif
}

static int open_in(const char *dir, struct ts_error *err)
{
	struct ts_buf path = TS_BUF_INIT;
	int fd = open_nameless(dir);

	if (fd >= 0)
		return fd;
	ts_buf_puts(&path, dir);
	ts_buf_puts(&path, PATTERN);
	ts_buf_putc(&path, '\0');
	if (path.failed) {
		ts_fail_nomem(err);
		goto done;
	}
	fd = mkstemp((char *)path.p);
	if (fd < 0) {
		ts_fail_errno(err, errno, dir, "make a temporary file in it");
		goto done;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	unlink((const char *)path.p);
done:
	ts_buf_release(&path);
	return fd;
}

const char *ts_scratch_folder(size_t index)
{
	static const char *const usual[] = { "/var/tmp", "/tmp" };
	const char *own = getenv("TMPDIR");

	if (own && own[0] && index-- == 0)
		return own;
	return index < TS_NELEM(usual) ? usual[index] : NULL;
}

enum ts_status ts_scratch_open(struct ts_scratch *scratch, struct ts_error *err)
{
	struct ts_error story = TS_ERROR_INIT;

	TS_ASSERT(scratch);
	*scratch = (struct ts_scratch)TS_SCRATCH_INIT;
	for (size_t i = 0; ts_scratch_folder(i) && scratch->fd < 0; i++)
		scratch->fd = open_in(ts_scratch_folder(i), &story);
	if (scratch->fd >= 0)
		return TS_OK;
	if (err)
		*err = story;
	return story.status ? story.status : TS_IO;
}

enum ts_status ts_scratch_put(struct ts_scratch *scratch, struct ts_bytes bytes,
			      struct ts_error *err)
{
	enum ts_status st = scratch->fd < 0 ? ts_scratch_open(scratch, err) : TS_OK;

	TS_ASSERT(scratch && !scratch->map.p);
	TS_ASSERT(bytes.p || bytes.n == 0);
	while (st == TS_OK && bytes.n > 0) {
		ssize_t n = pwrite(scratch->fd, bytes.p, bytes.n, (off_t)scratch->nr_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ts_fail_errno(err, errno, "temporary file", "write it");
		bytes = ts_bytes_cut(bytes, (size_t)n, bytes.n);
		scratch->nr_bytes += (uint64_t)n;
	}
	return st;
}

enum ts_status ts_scratch_read(const struct ts_scratch *scratch, uint64_t at, void *p, size_t n,
			       struct ts_error *err)
{
	uint8_t *to = p;

	TS_ASSERT(scratch && (p || n == 0));
	while (n > 0) {
		ssize_t got = ts_sys_pread(scratch->fd, to, n, (off_t)at);

		if (got <= 0)
			return ts_fail_errno(err, got ? errno : EIO, "temporary file", "read it");
		to += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return TS_OK;
}

enum ts_status ts_scratch_map(struct ts_scratch *scratch, struct ts_bytes *bytes,
			      struct ts_error *err)
{
	void *p;

	TS_ASSERT(scratch && bytes);
	if (!scratch->map.p && scratch->nr_bytes > 0) {
		if (scratch->nr_bytes > SIZE_MAX)
			return ts_fail_nomem(err);
		p = mmap(NULL, (size_t)scratch->nr_bytes, PROT_READ, MAP_SHARED, scratch->fd, 0);
		if (p == MAP_FAILED)
			return ts_fail_errno(err, errno, "temporary file", "map it");
		scratch->map = (struct ts_bytes){ p, (size_t)scratch->nr_bytes };
	}
	*bytes = scratch->map;
	return TS_OK;
}

void ts_scratch_release(struct ts_scratch *scratch)
{
	TS_ASSERT(scratch);
	if (scratch->map.p)
		munmap((void *)(uintptr_t)scratch->map.p, scratch->map.n);
	if (scratch->fd >= 0)
		close(scratch->fd);
	*scratch = (struct ts_scratch)TS_SCRATCH_INIT;
}

/*
 * Arrays. A file gets its room on the disk before it is written to: memory that is written to where the disk is full
 * ends the program.
 */

/* FILE has bytes from HAS to NR_BYTES, and they have room on the disk. */
static bool scratch_lengthen(int file, size_t has, size_t nr_bytes)
{
#ifdef HAVE_POSIX_FALLOCATE
	return posix_fallocate(file, (off_t)has, (off_t)(nr_bytes - has)) == 0;
#else
	(void)file, (void)has, (void)nr_bytes; /* then all arrays lie in memory */
	return false;
#endif
}

/* FILE from its front, which had HAS bytes. NULL: the disk is full. */
static void *map_longer(int file, size_t has, size_t nr_bytes)
{
	void *map;

	if (!scratch_lengthen(file, has, nr_bytes))
		return NULL;
	map = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	return map == MAP_FAILED ? NULL : map;
}

static void *scratch_map_file(int *file, size_t nr_bytes)
{
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	void *map;

	TS_ASSERT(file);
	if (ts_scratch_open(&scratch, NULL))
		return NULL;
	map = map_longer(scratch.fd, 0, nr_bytes);
	if (map)
		*file = scratch.fd;
	else
		ts_scratch_release(&scratch);
	return map;
}

static void *remap_file(int file, void *p, size_t has, size_t nr_bytes)
{
	void *map = map_longer(file, has, nr_bytes);

	TS_ASSERT(p && nr_bytes > has);
	if (map)
		munmap(p, has);
	return map;
}

static void unmap_file(int file, void *p, size_t nr_bytes)
{
	munmap(p, nr_bytes);
	close(file);
}

static void rest_file(void *p, size_t nr_bytes)
{
#ifdef MADV_DONTNEED
	madvise(p, nr_bytes, MADV_DONTNEED); /* the file has the pages */
#else
	(void)p, (void)nr_bytes;
#endif
}

const struct ts_rooms ts_scratch_rooms = { scratch_map_file, remap_file, unmap_file, rest_file };
