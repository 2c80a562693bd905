/* SPDX-License-Identifier: MIT */
/* What the parts of remote/ share (remote.h). Objects are guarded by the lock. */
#ifndef TS_REMOTE_INSIDE_H
#define TS_REMOTE_INSIDE_H

#include <pthread.h>
#include <sys/stat.h>

#include "base/map.h"
#include "remote/client.h"
#include "remote/remote.h"

enum ts_object_state { TS_OBJECT_EMPTY, TS_OBJECT_COMING, TS_OBJECT_HERE };

struct ts_object {
	char *path, *generation;
	uint64_t size;
	int64_t mtime_ns;
	enum ts_object_state state; /* of its content */
	unsigned users;
	bool is_gone; /* there is no such object; its file is not there */
	bool is_met;  /* in the listing that is applied */
	bool has_head;
	bool is_outdated; /* the store has another one: it must be looked at again */
	uint64_t used;	  /* the larger it is, the later it was dropped */
	/* of the file as it was made: another one is there when something else wrote it */
	ino_t ino;
	int64_t seen_ns;
};

struct ts_remote {
	struct ts_remote_options options;
	struct ts_looker looker;
	char *scratch;
	struct ts_keeper keeper;
	struct ts_helper *helpers;
	struct ts_client **clients;
	size_t nr;
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct ts_object **objects;
	size_t nr_objects, cap_objects;
	struct ts_strmap by_path;
	uint64_t clock;
	pthread_mutex_t ahead_lock; /* guards the next four */
	pthread_t thread;	    /* that fetches ahead */
	bool has_thread;
	char **ahead; /* what it holds */
	size_t nr_ahead;
};

/* NULL: no helper was started for it. */
struct ts_client *ts_remote_client(struct ts_remote *remote, const char *url);

/* With the lock held. */
struct ts_object *ts_remote_find(struct ts_remote *remote, const char *path);
/* NULL: no memory. */
struct ts_object *ts_remote_get(struct ts_remote *remote, const char *path);
enum ts_status ts_object_set(struct ts_object *object, uint64_t size, int64_t mtime_ns,
			     const char *generation, struct ts_error *err);

/* mirror.c: the object's file, without content. 0, or errno. */
int ts_mirror_make(struct ts_object *object);
/* Gives its disk back; readers that have it mapped must have gone. */
int ts_mirror_empty(struct ts_object *object);
void ts_mirror_remove(struct ts_object *object);
/* The content is written; the file gets the object's time. */
int ts_mirror_fill(struct ts_object *object);
/* The file as it is now is the object's. */
void ts_mirror_remember(struct ts_object *object);
/* Has nothing else written the file, or removed it? */
bool ts_mirror_is_ours(const struct ts_object *object, const struct stat *now);
bool ts_mirror_look(void *remote, const char *path, struct ts_file_look *look);
uint64_t ts_mirror_free(const struct ts_remote *remote); /* bytes of the disk */

/*
 * Calls that go out together, at most as many at once as the store likes. MAKE says what the call at
 * INDEX is; its texts must stand until the call is done. DONE gets each call's end; its status is the batch's.
 */
struct ts_batch {
	struct ts_client *client;
	size_t nr, nr_jobs;
	void (*make)(void *ctx, size_t index, struct ts_remote_request *request);
	enum ts_status (*done)(void *ctx, size_t index, struct ts_remote_call *call,
			       enum ts_status st, struct ts_error *err);
	void *ctx;
};
enum ts_status ts_batch_run(const struct ts_batch *batch, struct ts_error *err);
size_t ts_remote_jobs(const struct ts_remote *remote, struct ts_client *client,
		      struct ts_error *err);
/* The absolute path of a mirrored file, for the helper. */
enum ts_status ts_remote_absolute(const struct ts_remote *remote, const char *path, char **absolute,
				  struct ts_error *err);

#endif
