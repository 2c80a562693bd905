/* SPDX-License-Identifier: MIT */
/* Objects as files below the current folder. */
#include "remote/inside.h"

#include "base/check.h"
#include "io/look.h"
#include "io/sys.h"
#include "io/url.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NS_PER_S 1000000000

struct ts_client *ts_remote_client(struct ts_remote *remote, const char *url)
{
	size_t n = ts_url_is(url) ? ts_url_bucket(url) : 0;

	for (size_t i = 0; n > 0 && i < remote->nr; i++)
		if (ts_url_bucket(remote->helpers[i].url) == n &&
		    strncmp(remote->helpers[i].url, url, n) == 0)
			return remote->clients[i];
	return NULL;
}

struct ts_object *ts_remote_find(struct ts_remote *remote, const char *path)
{
	uint32_t at = ts_strmap_find(&remote->by_path, ts_bytes_of(path));

	return at == TS_NONE || remote->objects[at]->is_gone ? NULL : remote->objects[at];
}

struct ts_object *ts_remote_get(struct ts_remote *remote, const char *path)
{
	uint32_t at = ts_strmap_find(&remote->by_path, ts_bytes_of(path));
	struct ts_object *object;

	if (at != TS_NONE)
		return remote->objects[at];
	object = calloc(1, sizeof(*object));
	if (object)
		object->path = strdup(path);
	if (!object || !object->path ||
	    !ts_grow(&remote->objects, &remote->cap_objects, remote->nr_objects + 1,
		     sizeof(*remote->objects)) ||
	    !ts_strmap_set(&remote->by_path, ts_bytes_of(object->path),
			   (uint32_t)remote->nr_objects)) {
		free(object ? object->path : NULL);
		free(object);
		return NULL;
	}
	object->is_gone = true;
	remote->objects[remote->nr_objects++] = object;
	return object;
}

enum ts_status ts_object_set(struct ts_object *object, uint64_t size, int64_t mtime_ns,
			     const char *generation, struct ts_error *err)
{
	char *copy = strdup(generation ? generation : "");

	if (!copy)
		return ts_fail_nomem(err);
	free(object->generation);
	object->generation = copy;
	object->size = size;
	object->mtime_ns = mtime_ns;
	object->is_gone = object->is_outdated = false;
	return TS_OK;
}

static int make_folders(const char *path)
{
	char *part = strdup(path);

	for (char *slash = part; slash && (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (part[0] && slash[-1] != '/' && ts_sys_mkdir(part, 0777) != 0 &&
		    errno != EEXIST) {
			free(part);
			return errno;
		}
		*slash = '/';
	}
	if (!part)
		return ENOMEM;
	free(part);
	return 0;
}

static int mirror_set_time(int fd, const struct ts_object *object)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
				     { .tv_sec = (time_t)(object->mtime_ns / NS_PER_S),
				       .tv_nsec = (long)(object->mtime_ns % NS_PER_S) } };

	return futimens(fd, times) == 0 ? 0 : errno;
}

bool ts_mirror_is_ours(const struct ts_object *object, const struct stat *now)
{
	return S_ISREG(now->st_mode) && now->st_ino == object->ino &&
	       (uint64_t)now->st_size == object->size && ts_stat_mtime_ns(now) == object->seen_ns;
}

void ts_mirror_remember(struct ts_object *object)
{
	struct stat now;

	if (lstat(object->path, &now) != 0)
		return;
	object->ino = now.st_ino;
	object->seen_ns = ts_stat_mtime_ns(&now);
}

/* The size and time of the object for FD, which is closed. */
static int mirror_shape(struct ts_object *object, int fd)
{
	int error = 0;

	if (fd < 0)
		return errno;
	if (ftruncate(fd, 0) != 0 || ftruncate(fd, (off_t)object->size) != 0)
		error = errno;
	if (!error)
		error = mirror_set_time(fd, object);
	close(fd);
	if (!error)
		ts_mirror_remember(object);
	object->state = TS_OBJECT_EMPTY;
	object->has_head = false;
	return error;
}

int ts_mirror_make(struct ts_object *object)
{
	int error = make_folders(object->path);

	if (error)
		return error;
	(void)ts_sys_unlink(AT_FDCWD, object->path);
	return mirror_shape(object, ts_sys_make(AT_FDCWD, object->path,
						O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666));
}

int ts_mirror_empty(struct ts_object *object)
{
	struct stat now;

	if (lstat(object->path, &now) != 0 || !S_ISREG(now.st_mode) || now.st_ino != object->ino)
		return ts_mirror_make(object);
	return mirror_shape(object, ts_sys_open(object->path, O_WRONLY | O_NOFOLLOW));
}

void ts_mirror_remove(struct ts_object *object)
{
	(void)ts_sys_unlink(AT_FDCWD, object->path);
	object->is_gone = true;
	object->state = TS_OBJECT_EMPTY;
}

int ts_mirror_fill(struct ts_object *object)
{
	int fd = ts_sys_open(object->path, O_WRONLY | O_NOFOLLOW);
	int error = fd < 0 ? errno : mirror_set_time(fd, object);

	if (fd >= 0)
		close(fd);
	ts_mirror_remember(object);
	return error;
}

uint64_t ts_mirror_free(const struct ts_remote *remote)
{
	struct statvfs disk;

	if (statvfs(remote->scratch, &disk) != 0)
		return UINT64_MAX; /* what it has is found out by writing */
	return ts_u64_mul(disk.f_bavail, disk.f_frsize);
}

enum ts_status ts_remote_absolute(const struct ts_remote *remote, const char *path, char **absolute,
				  struct ts_error *err)
{
	size_t n = strlen(remote->scratch) + strlen(path) + 2;

	*absolute = malloc(n);
	if (*absolute)
		snprintf(*absolute, n, "%s/%s", remote->scratch, path);
	return *absolute ? TS_OK : ts_fail_nomem(err);
}

bool ts_remote_has(struct ts_remote *remote, const char *path)
{
	bool has;

	TS_ASSERT(remote && path);
	pthread_mutex_lock(&remote->lock);
	has = ts_remote_find(remote, path) != NULL;
	pthread_mutex_unlock(&remote->lock);
	return has;
}

/* NAME in DIR, of PATH; NULL: it is not directly in it. */
static const char *mirror_name_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (strncmp(path, dir, n) != 0 || path[n] != '/' || strchr(path + n + 1, '/'))
		return NULL;
	return path + n + 1;
}

enum ts_status ts_remote_names(struct ts_remote *remote, const char *dir, ts_remote_name_fn *each,
			       void *ctx, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(remote && dir && each);
	pthread_mutex_lock(&remote->lock);
	for (size_t i = 0; i < remote->nr_objects && st == TS_OK; i++) {
		const struct ts_object *object = remote->objects[i];
		const char *name = object->is_gone ? NULL : mirror_name_in(object->path, dir);

		if (name)
			st = each(ctx, name, err);
	}
	pthread_mutex_unlock(&remote->lock);
	return st;
}

const struct ts_looker *ts_remote_looker(const struct ts_remote *remote)
{
	return remote ? &remote->looker : NULL;
}

/* The generation says whether it changed. Times would say when it was sent. */
bool ts_mirror_look(void *ctx, const char *path, struct ts_file_look *look)
{
	struct ts_remote *remote = ctx;
	const struct ts_object *object;

	pthread_mutex_lock(&remote->lock);
	object = ts_remote_find(remote, path);
	if (object)
		*look = (struct ts_file_look){
			.nr_bytes = object->size,
			.inode = ts_hash(ts_bytes_of(object->generation), 1),
		};
	pthread_mutex_unlock(&remote->lock);
	return object != NULL;
}
