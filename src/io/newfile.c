/* SPDX-License-Identifier: MIT */
/*
 * Write to a temporary, fsync, rename, fsync of the folder. A living writer holds a lock (flock) on
 * its temporary; a program that finds a temporary and gets that lock may remove it.
 */
#include "io/newfile.h"

#include "base/check.h"
#include "base/map.h"
#include "io/links.h"
#include "io/replace.h"
#include "io/sys.h"
#include "io/temps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MARK	       ".tpusight-"
#define NR_RANDOM      3
#define NR_CHECK       3 /* letters behind these, by which a name is known to be ours */
#define TAIL_BYTES     (sizeof(MARK) - 1 + NR_RANDOM + NR_CHECK)
#define NAME_BYTES_MAX 255 /* of a file, on the file systems we know */
#define TRIES	       100
#define CHUNK_BYTES    (UINT64_C(8) << 20) /* after each, the disk gets work */
#define BOUNCE_BYTES   262144

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

static bool write_whole(int fd, struct ts_bytes bytes)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes = ts_bytes_cut(bytes, (size_t)n, bytes.n);
	}
	return true;
}

static enum ts_status open_folder(struct ts_newfile *file, struct ts_error *err)
{
	char *slash = strrchr(file->path, '/');

	file->name = slash ? slash + 1 : file->path;
	if (!slash) {
		file->dir_fd = ts_sys_open(".", O_RDONLY | O_DIRECTORY);
	} else if (slash == file->path) {
		file->dir_fd = ts_sys_open("/", O_RDONLY | O_DIRECTORY);
	} else {
		*slash = '\0';
		file->dir_fd = ts_sys_open(file->path, O_RDONLY | O_DIRECTORY);
		*slash = '/';
	}
	if (file->dir_fd < 0)
		return ts_fail_errno(err, errno, file->path, "write it");
	return TS_OK;
}

static enum ts_status refuse_kind(const char *path, const struct stat *st, struct ts_error *err)
{
	const char *dots = ts_path_tail(&path);

	if (S_ISDIR(st->st_mode))
		return ts_fail_errno(err, EISDIR, path, "write it");
	return ts_fail(err, TS_IO, "%s%s: cannot write it: %s is in its place (move it away)", dots,
		       path, ts_file_kind(st->st_mode));
}

static enum ts_status refuse_source(const char *path, struct ts_error *err)
{
	const char *dots = ts_path_tail(&path);

	return ts_fail(err, TS_USAGE,
		       "%s%s: that is one of the files that it is made of (name another)", dots,
		       path);
}

static bool newfile_is_source(const struct ts_newfile *file, const struct stat *st)
{
	return file->use.sources && ts_sources_have(file->use.sources, st);
}

/* What stands in the place now, and whether it may be replaced. */
static enum ts_status look_at_old(struct ts_newfile *file, bool *exists, struct ts_error *err)
{
	struct stat old;

	*exists = fstatat(file->dir_fd, file->name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*exists)
		return errno == ENOENT ? TS_OK : ts_fail_errno(err, errno, file->path, "write it");
	if (!S_ISREG(old.st_mode))
		return refuse_kind(file->path, &old, err);
	if (newfile_is_source(file, &old))
		return refuse_source(file->path, err);
	return ts_rights_of(&file->rights, file->path, &old, err);
}

static enum ts_status newfile_prepare(struct ts_newfile *file, struct ts_error *err)
{
	enum ts_status st;

	if (file->name[0] == '\0')
		return ts_fail_errno(err, EISDIR, file->path, "write it");
	st = look_at_old(file, &file->replaces, err);
	if (st == TS_OK && file->replaces && file->use.like)
		return ts_fail_errno(err, EEXIST, file->path, "write it");
	return st;
}

static void put_letters(char *to, size_t nr, uint64_t number)
{
	for (size_t i = 0; i < nr; i++, number /= sizeof(letters) - 1)
		to[i] = letters[number % (sizeof(letters) - 1)];
	to[nr] = '\0';
}

/* Of the N bytes in front: a file that a user happens to call so has other letters. The Python
 * package names its temporaries likewise (plugin/tpusight/_whole.py). */
static void newfile_put_check(char to[NR_CHECK + 1], const char *name, size_t n)
{
	put_letters(to, NR_CHECK, crc32(0, (const uint8_t *)name, (unsigned)n));
}

/* `.NAME.tpusight-XXXXXX`, with NAME cut (between characters of UTF-8) where that is too long. */
static void name_temp(char out[NAME_BYTES_MAX + 1], const char *name, uint64_t random)
{
	size_t n = strlen(name), room = NAME_BYTES_MAX - 1 - TAIL_BYTES, at;

	if (n > room)
		for (n = room; n > 0 && ((uint8_t)name[n] & 0xc0) == 0x80;)
			n--;
	at = (size_t)snprintf(out, NAME_BYTES_MAX + 1, ".%.*s" MARK, (int)n, name);
	put_letters(out + at, NR_RANDOM, random);
	newfile_put_check(out + at + NR_RANDOM, out, at + NR_RANDOM);
}

static uint64_t random_u64(const struct ts_newfile *file, int attempt)
{
	struct {
		struct timespec now;
		const void *where;
		int64_t pid, attempt;
	} salt;

	memset(&salt, 0, sizeof(salt));
	clock_gettime(CLOCK_REALTIME, &salt.now);
	salt.where = file;
	salt.pid = getpid();
	salt.attempt = attempt;
	return ts_hash((struct ts_bytes){ (const uint8_t *)&salt, sizeof(salt) }, 0);
}

/*
 * False: a program that clears stale temporaries was faster than our lock, so another name is
 * needed. A file system without locks is fine: there, temporaries that are found are not removed.
 */
static bool newfile_hold(int fd)
{
	struct stat now;

	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK;
	return fstat(fd, &now) != 0 || now.st_nlink > 0;
}

bool ts_newfile_is_temp(const char *name)
{
	size_t n = strlen(name);
	char check[NR_CHECK + 1];

	TS_ASSERT(name);
	if (name[0] != '.' || n < TAIL_BYTES + 2 ||
	    memcmp(name + n - TAIL_BYTES, MARK, strlen(MARK)) != 0)
		return false;
	newfile_put_check(check, name, n - NR_CHECK);
	return strcmp(name + n - NR_CHECK, check) == 0 &&
	       strspn(name + n - NR_CHECK - NR_RANDOM, letters) == NR_RANDOM + NR_CHECK;
}

/*
 * Only a plain file that no living process holds. A file that we may not open is not ours to
 * remove.
 */
static bool remove_stale(int dir_fd, const char *name)
{
	int fd = ts_sys_make(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct stat now;
	bool gone;

	if (fd < 0)
		return false;
	gone = fstat(fd, &now) == 0 && S_ISREG(now.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	       ts_sys_unlink(dir_fd, name) == 0;
	close(fd);
	return gone;
}

/* Those of killed runs that were to become this file. What cannot be listed is left alone. */
static void newfile_sweep(const struct ts_newfile *file)
{
	char mine[NAME_BYTES_MAX + 1];
	int fd = ts_sys_make(file->dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	name_temp(mine, file->name, 0);
	while (folder && (entry = readdir(folder)) != NULL)
		if (ts_newfile_is_temp(entry->d_name) &&
		    strncmp(entry->d_name, mine, strlen(mine) - NR_RANDOM - NR_CHECK) == 0)
			remove_stale(fd, entry->d_name);
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
}

static bool has_sources(const struct ts_newfile *file)
{
	return file->use.sources && file->use.sources->files.nr > 0;
}

static bool is_kept_closed(const struct ts_newfile *file)
{
	return file->replaces || file->use.like || has_sources(file);
}

static enum ts_status open_temp(struct ts_newfile *file, struct ts_error *err)
{
	char name[NAME_BYTES_MAX + 1];
	/* What is not to be open to all is open to nobody until commit; else it is as any new file. */
	mode_t mode = is_kept_closed(file) ? 0600 : 0666;

	for (int attempt = 0; attempt < TRIES; attempt++) {
		name_temp(name, file->name, random_u64(file, attempt));
		file->fd = ts_temps_make(file->dir_fd, name, mode);
		if (file->fd < 0 && errno != EEXIST)
			return ts_fail_errno(err, errno, file->path, "write it");
		if (file->fd >= 0 && newfile_hold(file->fd)) {
			file->temp = strdup(name);
			if (file->temp)
				return TS_OK;
			ts_temps_remove(file->dir_fd, name);
			return ts_fail_nomem(err);
		}
		if (file->fd >= 0)
			close(file->fd);
		file->fd = -1;
	}
	return ts_fail_errno(err, EEXIST, file->path, "make a temporary beside it");
}

/* The descriptor that PATH is another name of (/dev/stdout); -1: it is not one. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	struct ts_bytes text = ts_bytes_of(path);
	uint64_t number;

	if (ts_bytes_is(text, "/dev/stdout"))
		return STDOUT_FILENO;
	if (ts_bytes_is(text, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < TS_NELEM(folders); i++) {
		size_t n = strlen(folders[i]);

		if (ts_bytes_starts(text, folders[i]) &&
		    ts_bytes_u64(ts_bytes_cut(text, n, text.n), &number) && number <= INT_MAX)
			return (int)number;
	}
	return -1;
}

/* Pipes, terminals and the like cannot be replaced: bytes written to them cannot be taken back. */
static bool is_straight(const char *path)
{
	struct stat now;

	return descriptor_of(path) >= 0 ||
	       (stat(path, &now) == 0 && !S_ISREG(now.st_mode) && !S_ISDIR(now.st_mode));
}

/* Does not wait for a program that reads the pipe. */
static int open_pipe(const char *path)
{
	int fd = ts_sys_open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	return fd;
}

static enum ts_status open_straight(struct ts_newfile *file, const char *path, struct ts_error *err)
{
	int given = descriptor_of(path);
	struct stat now;

	file->straight = true;
	file->path = strdup(path);
	if (!file->path)
		return ts_fail_nomem(err);
	if (given < 0 && stat(path, &now) == 0 && (S_ISBLK(now.st_mode) || S_ISSOCK(now.st_mode)))
		return refuse_kind(path, &now, err);
	file->fd = given < 0 ? open_pipe(path) : fcntl(given, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0 && errno == ENXIO)
		return ts_fail(err, TS_IO,
			       "%s: cannot write it: no program reads it (start the reader first)",
			       path);
	if (file->fd < 0 || fstat(file->fd, &now) != 0)
		return ts_fail_errno(err, errno, path, "write it");
	if (given < 0 && (S_ISREG(now.st_mode) || S_ISBLK(now.st_mode)))
		return refuse_kind(path, &now, err); /* it came there just now */
	return newfile_is_source(file, &now) ? refuse_source(path, err) : TS_OK;
}

static enum ts_status newfile_find_place(struct ts_newfile *file, const char *path,
					 struct ts_error *err)
{
	if (file->use.is_named)
		return ts_links_follow(&file->path, path, err);
	file->path = strdup(path);
	return file->path ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_newfile_open_for(struct ts_newfile *file, const char *path,
				   const struct ts_newfile_use *use, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(file && path && use);
	*file = (struct ts_newfile)TS_NEWFILE_INIT;
	file->use = *use;
	if (use->is_named && is_straight(path)) {
		st = open_straight(file, path, err);
	} else {
		st = newfile_find_place(file, path, err);
		if (!st)
			st = open_folder(file, err);
		if (!st)
			st = newfile_prepare(file, err);
		if (!st) {
			newfile_sweep(file);
			st = open_temp(file, err);
		}
	}
	if (st)
		ts_newfile_release(file);
	return st;
}

enum ts_status ts_newfile_open(struct ts_newfile *file, const char *path, struct ts_error *err)
{
	return ts_newfile_open_for(file, path, &(struct ts_newfile_use){ .is_named = false }, err);
}

/* The disk starts early, so that the fsync at the end has little left to wait for. */
static void note_written(struct ts_newfile *file, uint64_t nr_bytes)
{
	TS_ASSERT(file && file->fd >= 0);
	file->nr_bytes += nr_bytes;
	if (file->straight || file->nr_bytes - file->nr_started < CHUNK_BYTES)
		return;
#ifdef HAVE_SYNC_FILE_RANGE
	(void)sync_file_range(file->fd, (off_t)file->nr_started,
			      (off_t)(file->nr_bytes - file->nr_started), SYNC_FILE_RANGE_WRITE);
#endif
	file->nr_started = file->nr_bytes;
}

static enum ts_status newfile_failed(struct ts_newfile *file, int errnum, struct ts_error *err)
{
	file->failed = true;
	return ts_fail_errno(err, errnum, file->path, "write it");
}

enum ts_status ts_newfile_put(struct ts_newfile *file, struct ts_bytes bytes, struct ts_error *err)
{
	TS_ASSERT(file && file->fd >= 0);
	TS_ASSERT(bytes.p || bytes.n == 0);
	while (bytes.n > 0) {
		struct ts_bytes part = ts_bytes_cut(bytes, 0, CHUNK_BYTES);

		if (!write_whole(file->fd, part))
			return newfile_failed(file, errno, err);
		note_written(file, part.n);
		bytes = ts_bytes_cut(bytes, part.n, bytes.n);
	}
	return TS_OK;
}

enum ts_status ts_newfile_take(void *file, struct ts_bytes piece, struct ts_error *err)
{
	return ts_newfile_put(file, piece, err);
}

enum ts_status ts_newfile_cut(struct ts_newfile *file, uint64_t size, struct ts_error *err)
{
	TS_ASSERT(file && file->fd >= 0 && !file->straight);
	TS_ASSERT(size <= file->nr_bytes);
	if (ftruncate(file->fd, (off_t)size) != 0 || lseek(file->fd, (off_t)size, SEEK_SET) < 0)
		return newfile_failed(file, errno, err);
	file->nr_bytes = size;
	file->nr_started = TS_MIN(file->nr_started, size);
	return TS_OK;
}

/*
 * Inside the kernel, or not at all. -1: this pair of files cannot do that, and reading will show
 * whether there is a real failure.
 */
static ssize_t copy_inside(int to, int from, uint64_t offset, size_t n)
{
#ifdef HAVE_COPY_FILE_RANGE
	off_t at = (off_t)offset;

	return copy_file_range(from, &at, to, NULL, n, 0);
#else
	(void)to, (void)from, (void)offset, (void)n;
	return -1;
#endif
}

/* Through memory of ours. 0 is the end of FROM; -1 with errno. */
static ssize_t copy_across(int to, int from, uint64_t offset, uint8_t *bounce, size_t n)
{
	ssize_t got = ts_sys_pread(from, bounce, TS_MIN(n, BOUNCE_BYTES), (off_t)offset);

	if (got > 0 && !write_whole(to, (struct ts_bytes){ bounce, (size_t)got }))
		return -1;
	return got;
}

static enum ts_status copy_loop(struct ts_newfile *file, int fd, uint64_t offset, uint64_t length,
				uint8_t *bounce, struct ts_error *err)
{
	bool inside = true;

	while (length > 0) {
		size_t want = (size_t)TS_MIN(length, CHUNK_BYTES);
		ssize_t n = inside ? copy_inside(file->fd, fd, offset, want) : -1;

		inside = n > 0; /* an early end is believed only when reading meets it */
		if (!inside)
			n = copy_across(file->fd, fd, offset, bounce, want);
		if (n < 0)
			return newfile_failed(file, errno, err);
		if (n == 0) {
			file->failed = true;
			return ts_fail(err, TS_IO,
				       "%s: the original became shorter while it was copied "
				       "(run again; this file was not changed)",
				       file->path);
		}
		note_written(file, (uint64_t)n);
		offset += (uint64_t)n;
		length -= (uint64_t)n;
	}
	return TS_OK;
}

enum ts_status ts_newfile_copy(struct ts_newfile *file, int fd, uint64_t offset, uint64_t length,
			       struct ts_error *err)
{
	uint8_t *bounce = malloc(BOUNCE_BYTES);
	enum ts_status st;

	TS_ASSERT(file && file->fd >= 0);
	if (!bounce) {
		file->failed = true;
		return ts_fail_nomem(err);
	}
	if (offset > INT64_MAX || length > INT64_MAX - offset)
		st = newfile_failed(file, EFBIG, err);
	else
		st = copy_loop(file, fd, offset, length, bounce, err);
	free(bounce);
	return st;
}

static enum ts_status choose_rights(struct ts_newfile *file, struct stat *like,
				    struct ts_error *err)
{
	const struct ts_sources *sources = file->use.sources;
	enum ts_status st;

	if (file->use.like) {
		/* rights now, times when all is written */
		if (stat(file->use.like, like) != 0)
			return ts_fail_errno(err, errno, file->use.like, "look at it");
		return ts_rights_of(&file->rights, file->use.like, like, err);
	}
	if (file->replaces) {
		if (has_sources(file))
			ts_rights_narrow(&file->rights, &sources->limit);
		return TS_OK;
	}
	st = ts_rights_copy(&file->rights, &sources->limit, err);
	if (st)
		return st;
	ts_rights_renew(&file->rights);
	return TS_OK;
}

static enum ts_status keep_attributes(struct ts_newfile *file, struct ts_error *err)
{
	const char *from = file->use.like ? file->use.like : file->replaces ? file->path : NULL;
	enum ts_status st = from ? ts_attributes_copy(file->fd, from, file->path, err) : TS_OK;

	file->failed |= st != TS_OK;
	return st;
}

/* Rights, attributes and times, of a file that nobody else can open until here. */
static enum ts_status newfile_settle(struct ts_newfile *file, struct ts_error *err)
{
	bool takes_owner = file->replaces || file->use.like || file->use.is_theirs;
	struct stat like;
	enum ts_status st = choose_rights(file, &like, err);

	if (!st)
		st = keep_attributes(file, err);
	if (st)
		return st;
	if (!ts_rights_give(&file->rights, file->fd, takes_owner))
		return newfile_failed(file, errno, err);
	if (file->use.like && !ts_times_give(file->fd, &like))
		return newfile_failed(file, errno, err);
	return TS_OK;
}

/* Since the file was opened, others may have changed what stands in its place. */
static enum ts_status newfile_check_place(struct ts_newfile *file, struct ts_error *err)
{
	enum ts_status st;
	bool exists;

	st = look_at_old(file, &exists, err);
	if (st == TS_OK && exists && !file->replaces && !file->use.is_named &&
	    file->expects == TS_EXPECTS_ANYTHING)
		st = ts_fail(err, TS_IO,
			     "%s: another program made it just now (run again; nothing was "
			     "changed)",
			     file->path);
	file->replaces |= exists;
	return st;
}

static void give_time(const struct ts_newfile *file)
{
	const int64_t second = INT64_C(1000000000);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };

	times[1].tv_sec = (time_t)(file->use.mtime_ns / second);
	times[1].tv_nsec = (long)(file->use.mtime_ns % second);
	(void)futimens(file->fd, times);
}

static enum ts_status commit_straight(struct ts_newfile *file, struct ts_error *err)
{
	int fd = file->fd;

	file->fd = -1;
	return close(fd) != 0 && errno != EINTR ? newfile_failed(file, errno, err) : TS_OK;
}

void ts_newfile_expect(struct ts_newfile *file, const struct ts_file_look *old)
{
	TS_ASSERT(file);
	file->expects = old ? TS_EXPECTS_OLD : TS_EXPECTS_NOTHING;
	file->expected = old ? *old : (struct ts_file_look){ 0 };
}

struct place {
	struct ts_newfile *file;
	struct ts_error *err;
};

static enum ts_status replace_expected(void *ctx)
{
	const struct place *place = ctx;
	const struct ts_newfile *file = place->file;

	return ts_replace(file->dir_fd, file->temp, file->name, file->path,
			  file->expects == TS_EXPECTS_OLD ? &file->expected : NULL, place->err);
}

static enum ts_status newfile_take_place(struct ts_newfile *file, struct ts_error *err)
{
	struct place place = { file, err };
	enum ts_status st;

	if (file->expects == TS_EXPECTS_ANYTHING)
		return ts_temps_rename(file->dir_fd, file->temp, file->name) == 0
			       ? TS_OK
			       : newfile_failed(file, errno, err);
	st = ts_temps_finish(file->dir_fd, file->temp, replace_expected, &place);
	file->failed |= st != TS_OK;
	return st;
}

enum ts_status ts_newfile_commit(struct ts_newfile *file, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(file && file->fd >= 0);
	if (file->failed)
		return ts_fail(err, TS_IO, "%s: not written whole (this file was not changed)",
			       file->path);
	if (file->straight)
		return commit_straight(file, err);
	st = newfile_check_place(file, err);
	if (!st && is_kept_closed(file))
		st = newfile_settle(file, err);
	if (st)
		return st;
	if (file->use.mtime_ns)
		give_time(file);
	if (ts_sys_sync(file->fd) != 0)
		return newfile_failed(file, errno, err);
	st = newfile_take_place(file, err);
	if (st)
		return st;
	free(file->temp);
	file->temp = NULL;
	if (ts_sys_sync(file->dir_fd) != 0 &&
	    errno == EIO) /* others: folders cannot be synced here */
		return newfile_failed(file, errno, err);
	return TS_OK;
}

void ts_newfile_release(struct ts_newfile *file)
{
	if (file->temp)
		ts_temps_remove(file->dir_fd,
				file->temp); /* before the lock goes with the descriptor */
	if (file->fd >= 0)
		close(file->fd);
	if (file->dir_fd >= 0)
		close(file->dir_fd);
	free(file->temp);
	free(file->path);
	ts_rights_release(&file->rights);
	*file = (struct ts_newfile)TS_NEWFILE_INIT;
}

enum ts_status ts_newfile_save_for(const char *path, struct ts_bytes bytes,
				   const struct ts_newfile_use *use, struct ts_error *err)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = ts_newfile_open_for(&file, path, use, err);

	TS_ASSERT(bytes.p || bytes.n == 0);
	if (st)
		return st;
	st = ts_newfile_put(&file, bytes, err);
	if (!st)
		st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	return st;
}

enum ts_status ts_newfile_save(const char *path, struct ts_bytes bytes, struct ts_error *err)
{
	return ts_newfile_save_for(path, bytes, &(struct ts_newfile_use){ .is_named = false }, err);
}

enum ts_status ts_newfile_stale(const char *dir, size_t *nr_removed, struct ts_error *err)
{
	DIR *folder = ts_sys_opendir(dir);
	struct dirent *entry;
	size_t nr = 0;

	TS_ASSERT(dir);
	if (nr_removed)
		*nr_removed = 0;
	if (!folder)
		return ts_fail_errno(err, errno, dir, "read the folder");
	while ((entry = readdir(folder)) != NULL)
		if (ts_newfile_is_temp(entry->d_name))
			nr += remove_stale(dirfd(folder), entry->d_name);
	closedir(folder);
	if (nr_removed)
		*nr_removed = nr;
	return TS_OK;
}
