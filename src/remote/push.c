/* SPDX-License-Identifier: MIT */
/* What became of a folder's files goes back to the store, each object in one step. */
#include "remote/inside.h"

#include "base/arena.h"
#include "base/check.h"
#include "io/look.h"
#include "io/sys.h"
#include "io/url.h"
#include "base/order.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PIECE 262144

enum change_kind { CHANGE_DELETE, CHANGE_APPEND, CHANGE_CUT, CHANGE_PUT };

struct change {
	enum change_kind kind;
	unsigned rank;
	const char *path;	   /* the URL */
	const char *if_generation; /* "": it must not be there */
	char *file;		   /* absolute: what goes up */
	uint64_t base, size;	   /* of the first; of the file */
};

struct pushing {
	struct ts_remote *remote;
	const struct ts_remote_push_options *options;
	struct ts_remote_push *push;
	struct ts_arena arena;
	struct change *changes;
	size_t nr, cap;
	const struct change *now; /* of the rank whose turn it is */
	struct ts_error story;
	bool is_stale;
};

static enum ts_status push_add(struct pushing *pushing, struct change change, const char *name,
			       struct ts_error *err)
{
	if (!change.path || !change.if_generation ||
	    !ts_grow(&pushing->changes, &pushing->cap, pushing->nr + 1, sizeof(change)))
		return ts_fail_nomem(err);
	change.rank =
		pushing->options->rank(pushing->options->ctx, name, change.kind == CHANGE_DELETE);
	pushing->changes[pushing->nr++] = change;
	return TS_OK;
}

static const char *push_keep(struct pushing *pushing, const char *text)
{
	return (const char *)ts_arena_copy(&pushing->arena, ts_bytes_of(text)).p;
}

/* The end of the file at PATH from BASE on, as a file of its own. */
static enum ts_status push_make_tail(struct pushing *pushing, const char *path, uint64_t base,
				     char **file, struct ts_error *err)
{
	char *bytes = malloc(PIECE), name[64];
	int from = ts_sys_open(path, O_RDONLY | O_NOFOLLOW), to = -1;
	ssize_t n = -1;
	enum ts_status st = TS_OK;

	snprintf(name, sizeof(name), "tail-%llu", (unsigned long long)pushing->remote->clock);
	if (from >= 0)
		st = bytes ? ts_remote_absolute(pushing->remote, name, file, err)
			   : ts_fail_nomem(err);
	if (from >= 0 && st == TS_OK)
		to = ts_sys_make(AT_FDCWD, *file, O_WRONLY | O_CREAT | O_EXCL, 0600);
	while (to >= 0 && (n = ts_sys_pread(from, bytes, PIECE, (off_t)base)) > 0) {
		if (write(to, bytes, (size_t)n) != n) {
			n = -1;
			break;
		}
		base += (uint64_t)n;
	}
	if (st == TS_OK && n != 0)
		st = ts_fail_errno(err, errno ? errno : EIO, path, "read what was added");
	free(bytes);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return st;
}

/* An object that only got another tail, or lost one, is not sent again. */
static enum ts_status choose_kind(struct pushing *pushing, struct change *change,
				  const struct ts_object *object, struct ts_error *err)
{
	uint64_t base = pushing->options->base(change->path);

	change->kind = CHANGE_PUT;
	if (!object || base == UINT64_MAX || base == 0 || base > object->size)
		return ts_remote_absolute(pushing->remote, change->path, &change->file, err);
	change->base = base;
	if (base == change->size && base < object->size) {
		change->kind = CHANGE_CUT;
		return TS_OK;
	}
	if (base == change->size)
		return ts_remote_absolute(pushing->remote, change->path, &change->file, err);
	change->kind = CHANGE_APPEND;
	pushing->remote->clock++;
	return push_make_tail(pushing, change->path, base, &change->file, err);
}

static enum ts_status push_take_file(struct pushing *pushing, const char *dir, const char *name,
				     struct ts_error *err)
{
	struct change change = {
		.path = (const char *)ts_arena_printf(&pushing->arena, "%s/%s", dir, name).p
	};
	struct ts_object *object;
	struct stat now;
	enum ts_status st;

	if (!change.path)
		return ts_fail_nomem(err);
	if (name[0] == '.' || lstat(change.path, &now) != 0 || !S_ISREG(now.st_mode))
		return TS_OK;
	object = ts_remote_find(pushing->remote, change.path);
	if (object)
		object->is_met = true;
	if (object && ts_mirror_is_ours(object, &now))
		return TS_OK;
	change.size = (uint64_t)now.st_size;
	change.if_generation = object ? push_keep(pushing, object->generation) : "";
	st = choose_kind(pushing, &change, object, err);
	return st ? st : push_add(pushing, change, name, err);
}

static enum ts_status take_missing(struct pushing *pushing, const char *dir, struct ts_error *err)
{
	size_t n = strlen(dir);
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < pushing->remote->nr_objects && st == TS_OK; i++) {
		struct ts_object *object = pushing->remote->objects[i];

		if (object->is_gone || object->is_met || strncmp(object->path, dir, n) != 0 ||
		    object->path[n] != '/' || strchr(object->path + n + 1, '/'))
			continue;
		st = push_add(
			pushing,
			(struct change){ .kind = CHANGE_DELETE,
					 .path = object->path,
					 .if_generation = push_keep(pushing, object->generation) },
			object->path + n + 1, err);
	}
	return st;
}

/* With the lock held. */
static enum ts_status find_changes(struct pushing *pushing, const char *dir, struct ts_error *err)
{
	DIR *folder = ts_sys_opendir(dir);
	const struct dirent *entry;
	enum ts_status st = TS_OK;

	if (!folder)
		return errno == ENOENT ? TS_OK : ts_fail_errno(err, errno, dir, "read the folder");
	for (size_t i = 0; i < pushing->remote->nr_objects; i++)
		pushing->remote->objects[i]->is_met = false;
	while (st == TS_OK && (entry = readdir(folder)) != NULL)
		st = push_take_file(pushing, dir, entry->d_name, err);
	closedir(folder);
	if (st == TS_OK)
		st = take_missing(pushing, dir, err);
	return st;
}

TS_ORDER(by_rank, struct change, TS_UP(rank) TS_UP(path))

static void push_make_request(void *ctx, size_t index, struct ts_remote_request *request)
{
	static const char *const ops[] = { [CHANGE_DELETE] = "delete",
					   [CHANGE_APPEND] = "append",
					   [CHANGE_CUT] = "cut",
					   [CHANGE_PUT] = "put" };
	const struct pushing *pushing = ctx;
	const struct change *change = &pushing->now[index];

	*request = (struct ts_remote_request){
		.op = ops[change->kind],
		.url = change->path,
		.file = change->file,
		.has_size = change->kind == CHANGE_APPEND || change->kind == CHANGE_CUT,
		.size = change->base,
		.if_generation = change->if_generation,
	};
}

/* With the lock held. The file is the object's now. */
static enum ts_status adopt(struct pushing *pushing, const struct change *change,
			    const struct ts_remote_reply *reply, struct ts_error *err)
{
	struct ts_object *object = ts_remote_get(pushing->remote, change->path);
	struct stat now;
	enum ts_status st;

	if (!object)
		return ts_fail_nomem(err);
	if (change->kind == CHANGE_DELETE) {
		object->is_gone = true;
		object->state = TS_OBJECT_EMPTY;
		return TS_OK;
	}
	if (lstat(change->path, &now) != 0)
		return ts_fail_errno(err, errno, change->path, "look at it");
	st = ts_object_set(object, change->size, ts_stat_mtime_ns(&now), reply->generation, err);
	if (st)
		return st;
	object->state = TS_OBJECT_HERE;
	ts_mirror_remember(object);
	return TS_OK;
}

static void push_count(struct pushing *pushing, const struct change *change,
		       const struct ts_remote_reply *reply)
{
	struct ts_remote_push *push = pushing->push;

	push->nr_changed++;
	if (change->kind == CHANGE_APPEND || change->kind == CHANGE_CUT) {
		push->uploaded_bytes = ts_u64_add(push->uploaded_bytes, reply->uploaded);
		push->changed_bytes = ts_u64_add(push->changed_bytes, change->size);
		if (reply->how && !strstr(push->how, reply->how) &&
		    strlen(push->how) + strlen(reply->how) + 3 < sizeof(push->how))
			snprintf(push->how + strlen(push->how),
				 sizeof(push->how) - strlen(push->how), "%s%s",
				 push->how[0] ? ", " : "", reply->how);
	}
	if (change->kind == CHANGE_PUT) {
		push->uploaded_bytes = ts_u64_add(push->uploaded_bytes, change->size);
		push->changed_bytes = ts_u64_add(push->changed_bytes, change->size);
	}
}

static bool is_outrun(const struct change *change, const struct ts_remote_call *call)
{
	enum ts_remote_code code = call->reply.code;

	return code == TS_REMOTE_CHANGED || code == TS_REMOTE_EXISTS ||
	       (code == TS_REMOTE_NOT_FOUND && change->kind != CHANGE_DELETE);
}

static enum ts_status take_reply(void *ctx, size_t index, struct ts_remote_call *call,
				 enum ts_status st, struct ts_error *err)
{
	struct pushing *pushing = ctx;
	const struct change *change = &pushing->now[index];

	if (st && is_outrun(change, call)) {
		pushing->is_stale = true;
		return st;
	}
	if (st == TS_NOTFOUND)
		st = TS_OK; /* it is gone already */
	if (st)
		return st;
	push_count(pushing, change, &call->reply);
	pthread_mutex_lock(&pushing->remote->lock);
	st = adopt(pushing, change, &call->reply, err);
	pthread_mutex_unlock(&pushing->remote->lock);
	return st;
}

static enum ts_status send_all(struct pushing *pushing, struct ts_client *client,
			       struct ts_error *err)
{
	struct ts_batch batch = {
		.client = client, .make = push_make_request, .done = take_reply, .ctx = pushing
	};
	enum ts_status st = TS_OK;

	batch.nr_jobs = ts_remote_jobs(pushing->remote, client, err);
	if (batch.nr_jobs == 0)
		return TS_IO;
	for (size_t i = 0; i < pushing->nr && st == TS_OK; i += batch.nr) {
		pushing->now = &pushing->changes[i];
		batch.nr = 1;
		while (i + batch.nr < pushing->nr &&
		       pushing->changes[i + batch.nr].rank == pushing->changes[i].rank)
			batch.nr++;
		if (pushing->options->before)
			pushing->options->before(pushing->options->ctx, pushing->changes[i].rank);
		st = ts_batch_run(&batch, err);
	}
	return st;
}

static void push_release(struct pushing *pushing)
{
	for (size_t i = 0; i < pushing->nr; i++) {
		if (pushing->changes[i].kind == CHANGE_APPEND)
			(void)ts_sys_unlink(AT_FDCWD, pushing->changes[i].file);
		free(pushing->changes[i].file);
	}
	free(pushing->changes);
	ts_arena_release(&pushing->arena);
}

enum ts_status ts_remote_push(struct ts_remote *remote, const char *dir,
			      const struct ts_remote_push_options *options,
			      struct ts_remote_push *push, struct ts_error *err)
{
	struct pushing pushing = { .remote = remote, .options = options, .push = push };
	struct ts_client *client;
	enum ts_status st;

	TS_ASSERT(remote && dir && options && push);
	client = ts_remote_client(remote, dir);
	if (!client)
		return TS_OK;
	pthread_mutex_lock(&remote->lock);
	st = find_changes(&pushing, dir, err);
	pthread_mutex_unlock(&remote->lock);
	if (pushing.nr > 1)
		qsort(pushing.changes, pushing.nr, sizeof(*pushing.changes), by_rank);
	if (!st && pushing.nr > 0)
		st = send_all(&pushing, client, err);
	push->is_stale |= pushing.is_stale;
	push_release(&pushing);
	return st;
}

/* Files that no object stands for are removed; those that are not as their object is become so. */
void ts_remote_reset(struct ts_remote *remote, const char *dir)
{
	DIR *folder = ts_sys_opendir(dir);
	const struct dirent *entry;
	struct ts_arena arena = TS_ARENA_INIT;

	TS_ASSERT(remote && dir);
	pthread_mutex_lock(&remote->lock);
	while (folder && (entry = readdir(folder)) != NULL) {
		const char *path =
			(const char *)ts_arena_printf(&arena, "%s/%s", dir, entry->d_name).p;
		struct stat now;

		if (path && lstat(path, &now) == 0 && S_ISREG(now.st_mode) &&
		    !ts_remote_find(remote, path))
			(void)ts_sys_unlink(AT_FDCWD, path);
	}
	for (size_t i = 0; i < remote->nr_objects; i++) {
		struct ts_object *object = remote->objects[i];
		struct stat now;

		if (!object->is_gone && strncmp(object->path, dir, strlen(dir)) == 0 &&
		    (lstat(object->path, &now) != 0 || !ts_mirror_is_ours(object, &now)))
			(void)ts_mirror_make(object);
	}
	pthread_mutex_unlock(&remote->lock);
	if (folder)
		closedir(folder);
	ts_arena_release(&arena);
}
