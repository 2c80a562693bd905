/* SPDX-License-Identifier: MIT */
/* Content of objects: read in parts, kept while it is held, and some of it for longer. */
#include "remote/inside.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/order.h"

#include <errno.h>

#define PART_BYTES   (UINT64_C(32) << 20)
#define ROOM_BYTES   (UINT64_C(64) << 20) /* that are left free on the disk */
#define LOOK_MS	     200
#define TRIES	     4 /* of reading what changes meanwhile */
#define AHEAD_FACTOR 2 /* room for what is held now, and for what it becomes */

struct part {
	struct ts_object *object;
	char *file; /* its absolute path */
	uint64_t at, n;
};

struct fetch {
	struct ts_remote *remote;
	struct ts_object **objects; /* that are coming */
	size_t nr, cap;
	struct part *parts;
	size_t nr_parts, cap_parts;
	struct ts_meter *meter;
	uint64_t nr_bytes;
};

static void make_part(void *ctx, size_t index, struct ts_remote_request *request)
{
	const struct fetch *fetch = ctx;
	const struct part *part = &fetch->parts[index];

	*request = (struct ts_remote_request){ .op = "read",
					       .url = part->object->path,
					       .file = part->file,
					       .offset = part->at,
					       .at = part->at,
					       .has_size = true,
					       .size = part->n,
					       .generation = part->object->generation };
}

static enum ts_status hold_take_part(void *ctx, size_t index, struct ts_remote_call *call,
				     enum ts_status st, struct ts_error *err)
{
	struct fetch *fetch = ctx;
	const struct part *part = &fetch->parts[index];

	part->object->is_outdated |= st && call->reply.code == TS_REMOTE_CHANGED;
	if (st)
		return st;
	if (call->reply.size != part->n)
		return ts_fail(err, TS_IO,
			       "%s: %llu bytes came where %llu were asked for (run again)",
			       part->object->path, (unsigned long long)call->reply.size,
			       (unsigned long long)part->n);
	ts_meter_add(fetch->meter, part->n);
	return TS_OK;
}

static enum ts_status add_parts(struct fetch *fetch, struct ts_object *object, struct ts_error *err)
{
	enum ts_status st;

	for (uint64_t at = 0; at < object->size; at += PART_BYTES) {
		struct part part = { .object = object,
				     .at = at,
				     .n = TS_MIN(object->size - at, PART_BYTES) };

		if (!ts_grow(&fetch->parts, &fetch->cap_parts, fetch->nr_parts + 1, sizeof(part)))
			return ts_fail_nomem(err);
		st = ts_remote_absolute(fetch->remote, object->path, &part.file, err);
		if (st)
			return st;
		fetch->parts[fetch->nr_parts++] = part;
	}
	return TS_OK;
}

/* With the lock held: the objects without content, which this fetch brings. */
static enum ts_status hold_choose(struct fetch *fetch, const char *const *paths, size_t nr,
				  bool *has_coming, struct ts_error *err)
{
	enum ts_status st;

	*has_coming = false;
	for (size_t i = 0; i < nr; i++) {
		struct ts_object *object = ts_remote_find(fetch->remote, paths[i]);

		*has_coming |= object && object->state == TS_OBJECT_COMING;
		if (!object || object->state != TS_OBJECT_EMPTY)
			continue;
		if (!ts_grow(&fetch->objects, &fetch->cap, fetch->nr + 1, sizeof(*fetch->objects)))
			return ts_fail_nomem(err);
		st = add_parts(fetch, object, err);
		if (st)
			return st;
		fetch->objects[fetch->nr++] = object;
		fetch->nr_bytes += object->size;
		object->state = TS_OBJECT_COMING;
	}
	return TS_OK;
}

static void hold_settle(struct fetch *fetch, bool good)
{
	struct ts_remote *remote = fetch->remote;

	pthread_mutex_lock(&remote->lock);
	for (size_t i = 0; i < fetch->nr; i++) {
		struct ts_object *object = fetch->objects[i];

		if (good)
			(void)ts_mirror_fill(object);
		else
			(void)ts_mirror_empty(object);
		object->state = good ? TS_OBJECT_HERE : TS_OBJECT_EMPTY;
	}
	pthread_cond_broadcast(&remote->news);
	pthread_mutex_unlock(&remote->lock);
	for (size_t i = 0; i < fetch->nr_parts; i++)
		free(fetch->parts[i].file);
	free(fetch->parts);
	free(fetch->objects);
}

TS_ORDER_AT(by_use, struct ts_object, TS_UP(used))

/* Content that is held no more: what was dropped first goes first, until at most KEEP bytes are left. */
static void evict(struct ts_remote *remote, uint64_t keep)
{
	struct ts_object **idle = calloc(remote->nr_objects + 1, sizeof(*idle));
	uint64_t sum = 0;
	size_t nr = 0;

	for (size_t i = 0; idle && i < remote->nr_objects; i++) {
		struct ts_object *object = remote->objects[i];

		if (object->is_gone || object->users > 0 || object->state != TS_OBJECT_HERE)
			continue;
		idle[nr++] = object;
		sum = ts_u64_add(sum, object->size);
	}
	if (nr > 1)
		qsort(idle, nr, sizeof(struct ts_object *), by_use);
	for (size_t i = 0; i < nr && sum > keep; i++) {
		sum -= TS_MIN(idle[i]->size, sum);
		(void)ts_mirror_empty(idle[i]);
		idle[i]->state = TS_OBJECT_EMPTY;
	}
	free(idle);
}

static enum ts_status look_for_room(struct ts_remote *remote, const char *path, uint64_t need,
				    struct ts_error *err)
{
	char needed[TS_UNIT_MAX], free_now[TS_UNIT_MAX];

	if (need == 0 || ts_mirror_free(remote) >= ts_u64_add(need, ROOM_BYTES))
		return TS_OK;
	evict(remote, 0);
	if (ts_mirror_free(remote) >= ts_u64_add(need, ROOM_BYTES))
		return TS_OK;
	return ts_fail(err, TS_IO,
		       "%s: %s are needed for temporary files, and %s are free (set TMPDIR to a "
		       "larger disk)",
		       path, ts_fmt_bytes(needed, (double)need),
		       ts_fmt_bytes(free_now, (double)ts_mirror_free(remote)));
}

static enum ts_status hold_bring(struct fetch *fetch, struct ts_error *err)
{
	struct ts_remote *remote = fetch->remote;
	struct ts_batch batch = {
		.nr = fetch->nr_parts, .make = make_part, .done = hold_take_part, .ctx = fetch
	};

	if (fetch->nr_parts == 0)
		return TS_OK;
	batch.client = ts_remote_client(remote, fetch->objects[0]->path);
	batch.nr_jobs = ts_remote_jobs(remote, batch.client, err);
	return batch.nr_jobs ? ts_batch_run(&batch, err) : TS_IO;
}

/* What changed since it was listed, as it is now. True: all of it can be read again. */
static bool hold_look_again(const struct fetch *fetch)
{
	struct ts_remote *remote = fetch->remote;
	size_t nr_outdated = 0, nr_new = 0;

	for (size_t i = 0; i < fetch->nr; i++) {
		struct ts_object *object = fetch->objects[i];
		struct ts_remote_call call = TS_REMOTE_CALL_INIT;

		if (!object->is_outdated)
			continue;
		nr_outdated++;
		if (ts_client_ask(ts_remote_client(remote, object->path), &call,
				  &(struct ts_remote_request){ .op = "stat", .url = object->path },
				  NULL) == TS_OK) {
			pthread_mutex_lock(&remote->lock);
			nr_new += ts_object_set(object, call.reply.size, call.reply.mtime_ns,
						call.reply.generation, NULL) == TS_OK &&
				  ts_mirror_make(object) == 0;
			pthread_mutex_unlock(&remote->lock);
		}
		ts_remote_call_release(&call);
	}
	return nr_outdated > 0 && nr_new == nr_outdated;
}

/* One round: brings what nobody else does, and says whether another one does the rest. */
static enum ts_status bring_some(struct ts_remote *remote, const char *const *paths, size_t nr,
				 uint64_t more, struct ts_meter *meter, bool *has_coming,
				 bool *again, struct ts_error *err)
{
	struct fetch fetch = { .remote = remote, .meter = meter };
	enum ts_status st;

	pthread_mutex_lock(&remote->lock);
	st = hold_choose(&fetch, paths, nr, has_coming, err);
	if (!st && nr > 0)
		st = look_for_room(remote, paths[0],
				   ts_u64_add(fetch.nr_bytes, fetch.nr ? more : 0), err);
	pthread_mutex_unlock(&remote->lock);
	ts_meter_begin(meter, 0, TS_REMOTE_PERCENT, fetch.nr_bytes);
	if (!st)
		st = hold_bring(&fetch, err);
	*again = st && hold_look_again(&fetch);
	hold_settle(&fetch, st == TS_OK);
	return st;
}

static bool is_coming(struct ts_remote *remote, const char *const *paths, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct ts_object *object = ts_remote_find(remote, paths[i]);

		if (object && object->state == TS_OBJECT_COMING)
			return true;
	}
	return false;
}

static void hold_use(struct ts_remote *remote, const char *const *paths, size_t nr)
{
	pthread_mutex_lock(&remote->lock);
	for (size_t i = 0; i < nr; i++) {
		struct ts_object *object = ts_remote_find(remote, paths[i]);

		if (object)
			object->users++;
	}
	pthread_mutex_unlock(&remote->lock);
}

enum ts_status ts_remote_hold(struct ts_remote *remote, const char *const *paths, size_t nr,
			      uint64_t more, struct ts_meter *meter, struct ts_error *err)
{
	bool has_coming = true, again = false;
	enum ts_status st = TS_OK;

	TS_ASSERT(remote && (paths || nr == 0));
	hold_use(remote, paths, nr);
	for (int i = 0; st == TS_OK && has_coming;) {
		st = bring_some(remote, paths, nr, more, meter, &has_coming, &again, err);
		if (again && ++i < TRIES) {
			has_coming = true;
			st = TS_OK;
			continue;
		}
		pthread_mutex_lock(&remote->lock);
		while (has_coming && is_coming(remote, paths, nr))
			ts_doze(&remote->news, &remote->lock, ts_now_ms() + LOOK_MS);
		pthread_mutex_unlock(&remote->lock);
	}
	if (st)
		ts_remote_drop(remote, paths, nr);
	return st;
}

void ts_remote_drop(struct ts_remote *remote, const char *const *paths, size_t nr)
{
	TS_ASSERT(remote && (paths || nr == 0));
	pthread_mutex_lock(&remote->lock);
	remote->clock++;
	for (size_t i = 0; i < nr; i++) {
		uint32_t at = ts_strmap_find(&remote->by_path, ts_bytes_of(paths[i]));
		struct ts_object *object = at == TS_NONE ? NULL : remote->objects[at];

		if (!object || object->users == 0)
			continue;
		object->users--; /* also of one that is gone by now */
		object->used = remote->clock;
	}
	evict(remote, remote->options.keep_bytes);
	pthread_mutex_unlock(&remote->lock);
}

/* Is there room beside what is held now and what may be written? */
static bool has_room_ahead(struct ts_remote *remote)
{
	uint64_t need = 0;

	pthread_mutex_lock(&remote->lock);
	for (size_t i = 0; i < remote->nr_ahead; i++) {
		const struct ts_object *object = ts_remote_find(remote, remote->ahead[i]);

		need = ts_u64_add(need, object ? object->size : 0);
	}
	pthread_mutex_unlock(&remote->lock);
	return ts_mirror_free(remote) >= ts_u64_add(ts_u64_mul(need, AHEAD_FACTOR), ROOM_BYTES);
}

static void *fetch_ahead(void *arg)
{
	struct ts_remote *remote = arg;

	if (ts_remote_hold(remote, (const char *const *)remote->ahead, remote->nr_ahead, 0, NULL,
			   NULL) == TS_OK)
		return arg;
	return NULL;
}

static void end_ahead(struct ts_remote *remote)
{
	void *has_held = NULL;

	if (remote->has_thread)
		pthread_join(remote->thread, &has_held);
	remote->has_thread = false;
	if (has_held)
		ts_remote_drop(remote, (const char *const *)remote->ahead, remote->nr_ahead);
	for (size_t i = 0; i < remote->nr_ahead; i++)
		free(remote->ahead[i]);
	free(remote->ahead);
	remote->ahead = NULL;
	remote->nr_ahead = 0;
}

void ts_remote_fetch_ahead(struct ts_remote *remote, const char *const *paths, size_t nr)
{
	TS_ASSERT(remote && (paths || nr == 0));
	pthread_mutex_lock(&remote->ahead_lock);
	end_ahead(remote);
	remote->ahead = nr ? calloc(nr, sizeof(*remote->ahead)) : NULL;
	for (size_t i = 0; remote->ahead && i < nr; i++) {
		remote->ahead[i] = strdup(paths[i]);
		if (!remote->ahead[i])
			break;
		remote->nr_ahead++;
	}
	if (remote->nr_ahead > 0 && has_room_ahead(remote))
		remote->has_thread =
			pthread_create(&remote->thread, NULL, fetch_ahead, remote) == 0;
	pthread_mutex_unlock(&remote->ahead_lock);
}

struct tails {
	struct ts_remote *remote;
	struct part *parts;
	size_t nr, cap;
};

static void hold_make_tail(void *ctx, size_t index, struct ts_remote_request *request)
{
	const struct tails *tails = ctx;
	struct fetch fetch = { .parts = tails->parts };

	make_part(&fetch, index, request);
}

/* What cannot be read is not there; who needs it holds the file. */
static enum ts_status take_tail(void *ctx, size_t index, struct ts_remote_call *call,
				enum ts_status st, struct ts_error *err)
{
	const struct tails *tails = ctx;

	(void)call, (void)err;
	pthread_mutex_lock(&tails->remote->lock);
	(void)ts_mirror_fill(tails->parts[index].object);
	pthread_mutex_unlock(&tails->remote->lock);
	return st == TS_NOMEM ? st : TS_OK;
}

static enum ts_status add_tail(struct tails *tails, const char *path, struct ts_error *err)
{
	struct ts_object *object = ts_remote_find(tails->remote, path);
	struct part part = { .object = object };
	enum ts_status st;

	if (!object || object->state != TS_OBJECT_EMPTY || object->size == 0)
		return TS_OK;
	part.n = TS_MIN(object->size, TS_REMOTE_TAIL);
	part.at = object->size - part.n;
	if (!ts_grow(&tails->parts, &tails->cap, tails->nr + 1, sizeof(part)))
		return ts_fail_nomem(err);
	st = ts_remote_absolute(tails->remote, path, &part.file, err);
	if (st)
		return st;
	tails->parts[tails->nr++] = part;
	return TS_OK;
}

/* Those of one helper. */
static enum ts_status hold_read_tails(struct ts_remote *remote, struct ts_client *client,
				      const char *const *paths, size_t nr, struct ts_error *err)
{
	struct tails tails = { .remote = remote };
	struct ts_batch batch = {
		.client = client, .make = hold_make_tail, .done = take_tail, .ctx = &tails
	};
	enum ts_status st = TS_OK;

	pthread_mutex_lock(&remote->lock);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		if (ts_remote_client(remote, paths[i]) == client)
			st = add_tail(&tails, paths[i], err);
	pthread_mutex_unlock(&remote->lock);
	batch.nr = tails.nr;
	batch.nr_jobs = tails.nr ? ts_remote_jobs(remote, client, err) : 0;
	if (!st && batch.nr_jobs > 0)
		st = ts_batch_run(&batch, err);
	for (size_t i = 0; i < tails.nr; i++)
		free(tails.parts[i].file);
	free(tails.parts);
	return st;
}

enum ts_status ts_remote_tails(struct ts_remote *remote, const char *const *paths, size_t nr,
			       struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(remote && (paths || nr == 0));
	for (size_t i = 0; i < remote->nr && !st; i++)
		st = hold_read_tails(remote, remote->clients[i], paths, nr, err);
	return st;
}
