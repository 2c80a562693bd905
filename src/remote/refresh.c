/* SPDX-License-Identifier: MIT */
/* A listing of the store, and the mirrored files after it. */
#include "remote/inside.h"

#include "base/buf.h"
#include "base/check.h"
#include "base/limits.h"
#include "io/rundir.h"
#include "io/runpath.h"
#include "io/url.h"

#define HEAD_BYTES 65536 /* of a trace: which job it is of (io/captures.h) */
#define MAX_HEADS  4096
#define TAIL_MARK  ".tpusight-tail." /* in the name of what lies beside an object while a tail is added */

struct item {
	const char *path, *generation;
	uint64_t size;
	int64_t mtime_ns;
};

struct listing {
	const char *folder;
	bool is_recursive;
	struct ts_arena arena;
	struct item *items;
	size_t nr, cap;
	size_t nr_passed; /* names that no file can have */
	const char *passed;
	enum ts_status st;	       /* TS_NOMEM, or TS_LIMIT: there are too many */
	struct ts_strmap with_xplanes; /* folders */
};

static void refresh_pass_over(struct listing *listing, const char *name)
{
	if (listing->nr_passed++ > 0)
		return;
	listing->passed = (const char *)ts_arena_copy(&listing->arena, ts_bytes_of(name)).p;
	if (!listing->passed)
		listing->st = TS_NOMEM;
}

static void take_entry(void *ctx, const struct ts_remote_reply *entry)
{
	struct listing *listing = ctx;
	struct item item = { .size = entry->size, .mtime_ns = entry->mtime_ns };

	if (entry->is_folder || listing->st || strstr(entry->name, TAIL_MARK))
		return;
	if (!ts_url_name_is_good(ts_bytes_of(entry->name)) ||
	    (!listing->is_recursive && strchr(entry->name, '/'))) {
		refresh_pass_over(listing, entry->name);
		return;
	}
	if (listing->nr >= TS_LIMIT_REMOTE_OBJECTS) {
		listing->st = TS_LIMIT;
		return;
	}
	item.path = (const char *)ts_arena_printf(&listing->arena, "%s/%s", listing->folder,
						  entry->name)
			    .p;
	item.generation =
		(const char *)ts_arena_copy(&listing->arena, ts_bytes_of(entry->generation)).p;
	if (!item.path || !item.generation ||
	    !ts_grow(&listing->items, &listing->cap, listing->nr + 1, sizeof(item)))
		listing->st = TS_NOMEM;
	else
		listing->items[listing->nr++] = item;
}

static bool refresh_is_below(const struct ts_object *object, const struct listing *listing)
{
	size_t n = strlen(listing->folder);

	return strncmp(object->path, listing->folder, n) == 0 && object->path[n] == '/' &&
	       (listing->is_recursive || !strchr(object->path + n + 1, '/'));
}

/* What is in use stays as it is until the next look. */
static enum ts_status take_item(struct ts_remote *remote, struct listing *listing,
				const struct item *item, struct ts_error *err)
{
	struct ts_object *object = ts_remote_get(remote, item->path);
	bool is_same;
	enum ts_status st;

	if (!object)
		return ts_fail_nomem(err);
	is_same = !object->is_gone && object->size == item->size &&
		  strcmp(object->generation, item->generation) == 0;
	object->is_met = true;
	if (is_same || object->users > 0)
		return TS_OK;
	st = ts_object_set(object, item->size, item->mtime_ns, item->generation, err);
	if (st)
		return st;
	if (ts_mirror_make(object) !=
	    0) { /* a folder has this name, or a file that of its folder */
		refresh_pass_over(listing, item->path);
		object->is_gone = true;
	}
	return TS_OK;
}

static enum ts_status refresh_apply(struct ts_remote *remote, struct listing *listing,
				    struct ts_error *err)
{
	enum ts_status st = TS_OK;

	pthread_mutex_lock(&remote->lock);
	for (size_t i = 0; i < remote->nr_objects; i++)
		remote->objects[i]->is_met = false;
	for (size_t i = 0; i < listing->nr && st == TS_OK; i++)
		st = take_item(remote, listing, &listing->items[i], err);
	for (size_t i = 0; i < remote->nr_objects && st == TS_OK; i++) {
		struct ts_object *object = remote->objects[i];

		if (!object->is_met && !object->is_gone && object->users == 0 &&
		    refresh_is_below(object, listing))
			ts_mirror_remove(object);
	}
	pthread_mutex_unlock(&remote->lock);
	return st;
}

/* Heads of traces, which say what job they are of, are read before a file is asked for. */
struct heads {
	struct ts_remote *remote;
	struct ts_object *objects[MAX_HEADS];
	char *files[MAX_HEADS];
	size_t nr;
};

static struct ts_bytes folder_of(const char *path)
{
	return (struct ts_bytes){ (const uint8_t *)path, (size_t)(strrchr(path, '/') - path) };
}

/* Beside xplanes traces are passed over, and so are their heads. */
static enum ts_status note_folders(struct listing *listing, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < listing->nr && st == TS_OK; i++)
		if (ts_xplanefile_is(ts_bytes_of(listing->items[i].path)))
			if (!ts_strmap_set(&listing->with_xplanes,
					   folder_of(listing->items[i].path), 0))
				st = ts_fail_nomem(err);
	return st;
}

/* A trace by its name, and not one that we made. */
static bool may_be_trace(const char *path)
{
	struct ts_bytes name = ts_bytes_of(strrchr(path, '/') + 1);

	return (ts_bytes_ends(name, ".json") || ts_bytes_ends(name, ".json.gz")) &&
	       !ts_bytes_has(name, ".tpusight.") && !ts_bytes_starts(name, "perfetto_trace.") &&
	       name.p[0] != '.';
}

static void refresh_make_head(void *ctx, size_t index, struct ts_remote_request *request)
{
	const struct heads *heads = ctx;
	const struct ts_object *object = heads->objects[index];

	*request = (struct ts_remote_request){ .op = "read",
					       .url = object->path,
					       .file = heads->files[index],
					       .has_size = true,
					       .size = TS_MIN(object->size, HEAD_BYTES),
					       .generation = object->generation };
}

/* A head that cannot be read is that of a trace by itself. */
static enum ts_status take_head(void *ctx, size_t index, struct ts_remote_call *call,
				enum ts_status st, struct ts_error *err)
{
	struct heads *heads = ctx;

	(void)call, (void)err;
	pthread_mutex_lock(&heads->remote->lock);
	heads->objects[index]->has_head = true;
	(void)ts_mirror_fill(heads->objects[index]);
	pthread_mutex_unlock(&heads->remote->lock);
	return st == TS_NOMEM ? st : TS_OK;
}

static enum ts_status choose_heads(struct heads *heads, const struct listing *listing,
				   struct ts_error *err)
{
	struct ts_remote *remote = heads->remote;
	enum ts_status st = TS_OK;

	pthread_mutex_lock(&remote->lock);
	for (size_t i = 0; i < listing->nr && heads->nr < MAX_HEADS && st == TS_OK; i++) {
		struct ts_object *object = ts_remote_find(remote, listing->items[i].path);

		if (!object || object->state != TS_OBJECT_EMPTY || object->has_head ||
		    object->size == 0 || !may_be_trace(object->path) ||
		    ts_strmap_find(&listing->with_xplanes, folder_of(object->path)) != TS_NONE)
			continue;
		st = ts_remote_absolute(remote, object->path, &heads->files[heads->nr], err);
		heads->objects[heads->nr] = object;
		heads->nr += st == TS_OK;
	}
	pthread_mutex_unlock(&remote->lock);
	return st;
}

static enum ts_status read_heads(struct ts_remote *remote, struct ts_client *client,
				 struct listing *listing, struct ts_error *err)
{
	struct heads *heads = calloc(1, sizeof(*heads));
	struct ts_batch batch = {
		.client = client, .make = refresh_make_head, .done = take_head, .ctx = heads
	};
	enum ts_status st = heads ? TS_OK : ts_fail_nomem(err);

	if (!st) {
		heads->remote = remote;
		st = note_folders(listing, err);
		if (!st)
			st = choose_heads(heads, listing, err);
		batch.nr = heads->nr;
		batch.nr_jobs = ts_remote_jobs(remote, client, err);
	}
	if (!st && batch.nr > 0)
		st = ts_batch_run(&batch, err);
	for (size_t i = 0; heads && i < heads->nr; i++)
		free(heads->files[i]);
	free(heads);
	return st;
}

/* Is there an object at URL itself? Then its folder is looked at. */
static enum ts_status find_folder(struct ts_client *client, char *url, bool *is_object,
				  struct ts_error *err)
{
	struct ts_remote_call call = TS_REMOTE_CALL_INIT;
	struct ts_error story = TS_ERROR_INIT;
	enum ts_status st;

	*is_object = false;
	if (strlen(url) == ts_url_bucket(url))
		return TS_OK;
	st = ts_client_ask(client, &call, &(struct ts_remote_request){ .op = "stat", .url = url },
			   &story);
	ts_remote_call_release(&call);
	*is_object = st == TS_OK;
	if (*is_object)
		*strrchr(url, '/') = '\0';
	if (st == TS_OK || st == TS_NOTFOUND)
		return TS_OK;
	return ts_fail(err, st, "%s", story.text);
}

static enum ts_status refresh_list(struct ts_client *client, struct listing *listing,
				   struct ts_error *err)
{
	struct ts_remote_request request = { .op = "list",
					     .url = listing->folder,
					     .is_recursive = listing->is_recursive };
	struct ts_remote_call call = TS_REMOTE_CALL_INIT;
	enum ts_status st;

	call.entry = take_entry;
	call.ctx = listing;
	st = ts_client_ask(client, &call, &request, err);
	ts_remote_call_release(&call);
	if (st && st != TS_NOTFOUND)
		return st;
	if (listing->st == TS_NOMEM)
		return ts_fail_nomem(err);
	if (listing->st == TS_LIMIT)
		return ts_fail(err, TS_LIMIT,
			       "%s: more than %d objects; name a folder further down " TS_OVER(
				       TS_LIMIT_REMOTE_OBJECTS),
			       listing->folder, TS_LIMIT_REMOTE_OBJECTS);
	return TS_OK;
}

static void describe_passed(const struct listing *listing, struct ts_error *problem)
{
	if (listing->nr_passed > 0)
		ts_fail(problem, TS_OK,
			"%s: %zu object%s passed over, the first is %s: no file can have this name "
			"(rename it)",
			listing->folder, listing->nr_passed,
			listing->nr_passed == 1 ? " was" : "s were",
			listing->passed ? listing->passed : "?");
}

static enum ts_status refresh_look(struct ts_remote *remote, struct ts_client *client, char *url,
				   struct ts_error *problem, struct ts_error *err)
{
	struct listing listing = { .folder = url };
	enum ts_status st = ts_remote_jobs(remote, client, err) ? TS_OK : TS_IO;
	bool is_object = false;

	if (!st)
		st = find_folder(client, url, &is_object, err);
	listing.is_recursive = !is_object;
	if (!st)
		st = refresh_list(client, &listing, err);
	if (!st)
		st = refresh_apply(remote, &listing, err);
	if (!st && listing.nr == 0)
		st = ts_fail(err, TS_NOTFOUND,
			     "%s: there is no object of this name, and none below it (list the "
			     "bucket)",
			     listing.folder);
	if (!st)
		st = read_heads(remote, client, &listing, err);
	describe_passed(&listing, problem);
	free(listing.items);
	ts_strmap_release(&listing.with_xplanes);
	ts_arena_release(&listing.arena);
	return st;
}

enum ts_status ts_remote_refresh(struct ts_remote *remote, const char *path,
				 struct ts_error *problem, struct ts_error *err)
{
	struct ts_client *client;
	struct ts_buf url = TS_BUF_INIT;
	enum ts_status st;

	TS_ASSERT(path);
	client = remote && ts_url_is(path) ? ts_remote_client(remote, path) : NULL;
	if (!client)
		return TS_OK;
	ts_path_tidy(&url, path);
	ts_buf_putc(&url, '\0');
	st = url.failed ? ts_fail_nomem(err)
			: refresh_look(remote, client, (char *)url.p, problem, err);
	ts_buf_release(&url);
	return st;
}
