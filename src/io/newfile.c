/*
 * Write to a temporary, fsync, rename, fsync of the folder. A living writer holds a lock (flock) on
 * its temporary; a program that finds a temporary and gets that lock may remove it.
 */
#include "io/newfile.h"

#include "base/check.h"
#include "base/map.h"
#include "io/file.h"
#include "io/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK	       ".tpusight-"
#define NR_RANDOM      3
#define NR_CHECK       3 /* letters behind these, by which a name is known to be ours */
#define TAIL_BYTES     (sizeof(MARK) - 1 + NR_RANDOM + NR_CHECK)
#define NAME_BYTES_MAX 255 /* of a file, on the file systems we know */
#define LINKS_MAX      40
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

/* The path a link at PATH leads to, one step; NULL when out of memory. */
static char *beside(const char *path, const char *target)
{
	const char *slash = strrchr(path, '/');
	size_t n = target[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
	size_t m = strlen(target) + 1;
	char *joined = malloc(n + m);

	if (joined) {
		memcpy(joined, path, n);
		memcpy(joined + n, target, m);
	}
	return joined;
}

/* Follows links at the end of PATH, also to a file that is not there yet (realpath would not). */
static enum ts_status resolve(char **out, const char *path, struct ts_error *err)
{
	char target[4096];
	char *at = strdup(path);

	for (int hops = 0; at && hops <= LINKS_MAX; hops++) {
		ssize_t n = readlink(at, target, sizeof(target) - 1);
		char *next;

		if (n < 0) { /* not a link; any other failure will show when it is opened */
			*out = at;
			return TS_OK;
		}
		target[n] = '\0';
		next = beside(at, target);
		free(at);
		at = next;
	}
	if (!at)
		return ts_fail_nomem(err);
	free(at);
	return ts_fail_errno(err, ELOOP, path, "write it");
}

static enum ts_status open_folder(struct ts_newfile *file, struct ts_error *err)
{
	char *slash = strrchr(file->path, '/');

	file->name = slash ? slash + 1 : file->path;
	if (!slash) {
		file->dir_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else if (slash == file->path) {
		file->dir_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else {
		*slash = '\0';
		file->dir_fd = open(file->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*slash = '/';
	}
	if (file->dir_fd < 0)
		return ts_fail_errno(err, errno, file->path, "write it");
	return TS_OK;
}

static void take_owner(struct ts_newfile *file, const struct stat *old)
{
	file->replaces = true;
	file->mode = old->st_mode & 07777;
	file->uid = old->st_uid;
	file->gid = old->st_gid;
}

static enum ts_status look_at_old(struct ts_newfile *file, struct ts_error *err)
{
	struct stat old;

	if (file->name[0] == '\0')
		return ts_fail_errno(err, EISDIR, file->path, "write it");
	if (fstatat(file->dir_fd, file->name, &old, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? TS_OK : ts_fail_errno(err, errno, file->path, "write it");
	if (!S_ISREG(old.st_mode))
		return ts_fail_errno(err, S_ISDIR(old.st_mode) ? EISDIR : EINVAL, file->path,
				     "write it");
	take_owner(file, &old);
	return TS_OK;
}

static void put_letters(char *to, size_t nr, uint64_t number)
{
	for (size_t i = 0; i < nr; i++, number /= sizeof(letters) - 1)
		to[i] = letters[number % (sizeof(letters) - 1)];
	to[nr] = '\0';
}

/* Of the N bytes in front: a file that a user happens to call so has other letters. */
static void put_check(char to[NR_CHECK + 1], const char *name, size_t n)
{
	put_letters(to, NR_CHECK, ts_hash((struct ts_bytes){ (const uint8_t *)name, n }, 0));
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
	put_check(out + at + NR_RANDOM, out, at + NR_RANDOM);
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
static bool hold(int fd)
{
	struct stat now;

	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK;
	return fstat(fd, &now) == 0 && now.st_nlink > 0;
}

static enum ts_status open_temp(struct ts_newfile *file, struct ts_error *err)
{
	char name[NAME_BYTES_MAX + 1];
	mode_t mode = file->replaces ? 0600 : 0666; /* the latter less the umask: as any new file */

	for (int attempt = 0; attempt < TRIES; attempt++) {
		name_temp(name, file->name, random_u64(file, attempt));
		file->fd = openat(file->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (file->fd < 0 && errno != EEXIST)
			return ts_fail_errno(err, errno, file->path, "write it");
		if (file->fd >= 0 && hold(file->fd)) {
			file->temp = strdup(name);
			if (file->temp)
				return TS_OK;
			unlinkat(file->dir_fd, name, 0);
			return ts_fail_nomem(err);
		}
		if (file->fd >= 0)
			close(file->fd);
		file->fd = -1;
	}
	return ts_fail_errno(err, EEXIST, file->path, "make a temporary beside it");
}

/* Pipes, terminals and the like cannot be replaced: bytes written to them cannot be taken back. */
static bool is_straight(const char *path)
{
	struct stat now;

	return stat(path, &now) == 0 && !S_ISREG(now.st_mode) && !S_ISDIR(now.st_mode);
}

static enum ts_status open_straight(struct ts_newfile *file, const char *path, struct ts_error *err)
{
	file->straight = true;
	file->path = strdup(path);
	if (!file->path)
		return ts_fail_nomem(err);
	file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return file->fd < 0 ? ts_fail_errno(err, errno, path, "write it") : TS_OK;
}

enum ts_status ts_newfile_open(struct ts_newfile *file, const char *path, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(file && path);
	*file = (struct ts_newfile)TS_NEWFILE_INIT;
	if (is_straight(path))
		st = open_straight(file, path, err);
	else
		st = resolve(&file->path, path, err);
	if (!st && !file->straight)
		st = open_folder(file, err);
	if (!st && !file->straight)
		st = look_at_old(file, err);
	if (!st && !file->straight)
		st = open_temp(file, err);
	if (st)
		ts_newfile_release(file);
	return st;
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

static enum ts_status failed(struct ts_newfile *file, int errnum, struct ts_error *err)
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
			return failed(file, errno, err);
		note_written(file, part.n);
		bytes = ts_bytes_cut(bytes, part.n, bytes.n);
	}
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
	ssize_t got;

	do {
		got = pread(from, bounce, TS_MIN(n, BOUNCE_BYTES), (off_t)offset);
	} while (got < 0 && errno == EINTR);
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
			return failed(file, errno, err);
		if (n == 0) {
			file->failed = true;
			return ts_fail(err, TS_IO,
				       "%s: the original became shorter while it was copied "
				       "(run again; nothing was changed)",
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
		st = failed(file, EFBIG, err);
	else
		st = copy_loop(file, fd, offset, length, bounce, err);
	free(bounce);
	return st;
}

/*
 * The file keeps its owner, as far as we may set it. Where the group cannot be kept, the new group
 * must not get rights that were given to the old one.
 */
static enum ts_status keep_owner(struct ts_newfile *file, struct ts_error *err)
{
	uint32_t mode = file->mode;
	struct stat now;

	if (fstat(file->fd, &now) != 0)
		return failed(file, errno, err);
	if ((now.st_uid != file->uid || now.st_gid != file->gid) &&
	    fchown(file->fd, file->uid, file->gid) != 0) {
		mode &= 0777; /* set-user-id would now mean another user */
		if (now.st_gid != file->gid && fchown(file->fd, (uid_t)-1, file->gid) != 0)
			mode = (mode & 0707) | (mode & 07) << 3;
	}
	if (fchmod(file->fd, (mode_t)mode) != 0)
		return failed(file, errno, err);
	return TS_OK;
}

enum ts_status ts_newfile_like(struct ts_newfile *file, int fd, struct ts_error *err)
{
	struct stat old;

	TS_ASSERT(file && file->fd >= 0);
	if (file->straight)
		return TS_OK;
	/* Until it has its owner, no other user may read it. */
	if (fstat(fd, &old) != 0 || fchmod(file->fd, 0600) != 0)
		return failed(file, errno, err);
	take_owner(file, &old);
	return TS_OK;
}

static bool to_disk(int fd)
{
#ifdef F_FULLFSYNC
	if (fcntl(fd, F_FULLFSYNC) == 0) /* macOS: fsync leaves it in the drive's cache */
		return true;
#endif
	return fsync(fd) == 0;
}

static enum ts_status commit_straight(struct ts_newfile *file, struct ts_error *err)
{
	int fd = file->fd;

	file->fd = -1;
	return close(fd) != 0 && errno != EINTR ? failed(file, errno, err) : TS_OK;
}

void ts_newfile_expect(struct ts_newfile *file, const struct ts_file_look *old)
{
	TS_ASSERT(file);
	file->expects = old ? TS_EXPECTS_OLD : TS_EXPECTS_NOTHING;
	file->expected = old ? *old : (struct ts_file_look){ 0 };
}

static enum ts_status take_place(struct ts_newfile *file, struct ts_error *err)
{
	enum ts_status st;

	if (file->expects == TS_EXPECTS_ANYTHING)
		return renameat(file->dir_fd, file->temp, file->dir_fd, file->name) == 0
			       ? TS_OK
			       : failed(file, errno, err);
	st = ts_replace(file->dir_fd, file->temp, file->name, file->path,
			file->expects == TS_EXPECTS_OLD ? &file->expected : NULL, err);
	file->failed |= st != TS_OK;
	return st;
}

enum ts_status ts_newfile_commit(struct ts_newfile *file, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(file && file->fd >= 0);
	if (file->failed)
		return ts_fail(err, TS_IO, "%s: not written whole (nothing was changed)",
			       file->path);
	if (file->straight)
		return commit_straight(file, err);
	if (file->replaces)
		st = keep_owner(file, err);
	if (st)
		return st;
	if (!to_disk(file->fd))
		return failed(file, errno, err);
	st = take_place(file, err);
	if (st)
		return st;
	free(file->temp);
	file->temp = NULL;
	if (fsync(file->dir_fd) != 0 && errno == EIO) /* others: folders cannot be synced here */
		return failed(file, errno, err);
	return TS_OK;
}

void ts_newfile_release(struct ts_newfile *file)
{
	if (file->temp)
		unlinkat(file->dir_fd, file->temp,
			 0); /* before the lock goes with the descriptor */
	if (file->fd >= 0)
		close(file->fd);
	if (file->dir_fd >= 0)
		close(file->dir_fd);
	free(file->temp);
	free(file->path);
	*file = (struct ts_newfile)TS_NEWFILE_INIT;
}

enum ts_status ts_newfile_save(const char *path, struct ts_bytes bytes, struct ts_error *err)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	enum ts_status st = ts_newfile_open(&file, path, err);

	TS_ASSERT(path);
	TS_ASSERT(bytes.p || bytes.n == 0);
	if (st)
		return st;
	st = ts_newfile_put(&file, bytes, err);
	if (!st)
		st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	return st;
}

bool ts_newfile_is_temp(const char *name)
{
	size_t n = strlen(name);
	char check[NR_CHECK + 1];

	TS_ASSERT(name);
	if (name[0] != '.' || n < TAIL_BYTES + 2 ||
	    memcmp(name + n - TAIL_BYTES, MARK, strlen(MARK)) != 0)
		return false;
	put_check(check, name, n - NR_CHECK);
	return strcmp(name + n - NR_CHECK, check) == 0 &&
	       strspn(name + n - NR_CHECK - NR_RANDOM, letters) == NR_RANDOM + NR_CHECK;
}

/*
 * Only a plain file that no living process holds. A file that we may not open is not ours to
 * remove.
 */
static bool remove_stale(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat now;
	bool gone;

	if (fd < 0)
		return false;
	gone = fstat(fd, &now) == 0 && S_ISREG(now.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	       unlinkat(dir_fd, name, 0) == 0;
	close(fd);
	return gone;
}

enum ts_status ts_newfile_stale(const char *dir, size_t *nr_removed, struct ts_error *err)
{
	DIR *folder = opendir(dir);
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
