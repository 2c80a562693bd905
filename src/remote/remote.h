/* SPDX-License-Identifier: MIT */
/*
 * Objects of a store (gs://, s3://, ...) as files, mirrored in a scratch folder.
 *
 * The scratch folder becomes the current folder of the process, and gs://bucket/logs/a.pb is the file of that very
 * relative path in it. So everything above opens a URL as it opens any path, and each message and report
 * names the URL. A mirrored file has the size and time of its object; its content is there only while
 * it is held:
 *
 *	ts_remote_refresh(remote, "gs://bucket/logs", err)	files for what is there, empty but of the right size
 *	ts_remote_hold(remote, paths, nr, meter, err)		their content, by several reads at once
 *	...							read, and write beside them
 *	ts_remote_push(remote, dir, &options, &push, err)	what changed goes back
 *	ts_remote_drop(remote, paths, nr)			their disk is free again
 *
 * Every write names the generation of the object that was read; where another program was faster nothing is
 * written, and .is_stale says so. What a program that was killed leaves is the keeper's (keeper.h).
 *
 * Bounds: TS_LIMIT_REMOTE_OBJECTS names; of content, what is held, and .keep_bytes of what was dropped last. Any
 * thread may call.
 */
#ifndef TS_REMOTE_REMOTE_H
#define TS_REMOTE_REMOTE_H

#include "base/meter.h"
#include "base/status.h"
#include "io/look.h"

struct ts_remote;

/* The part of a meter that reading takes. */
#define TS_REMOTE_PERCENT 40

struct ts_remote_options {
	const char *beside;  /* the folder of the program: a helper may be there */
	size_t nr_jobs;	     /* reads at once; 0: as many as the helper likes */
	uint64_t keep_bytes; /* of what is not held any more */
};

/*
 * Makes the scratch folder, goes there, and starts a helper for each scheme and bucket. To be called
 * before the program has threads and before it is confined. TS_USAGE for what cannot be a URL,
 * TS_NOTFOUND where a helper is missing.
 */
enum ts_status ts_remote_open(struct ts_remote **remote, char *const *urls, size_t nr,
			      const struct ts_remote_options *options, struct ts_error *err);
/* Everything is gone then. NULL is allowed. */
void ts_remote_close(struct ts_remote *remote);
/* All calls fail from now on: the program is to end. NULL is allowed. */
void ts_remote_cancel(struct ts_remote *remote);

/*
 * Looks what is at PATH now, a folder or an object (then at all of its folder), and below it. A file
 * whose object has changed is as that object is now. A path that is not a URL is fine. TS_NOTFOUND:
 * there is nothing. PROBLEM, which may be NULL, gets a sentence about what was passed over.
 */
enum ts_status ts_remote_refresh(struct ts_remote *remote, const char *path,
				 struct ts_error *problem, struct ts_error *err);

/* Has its helper ended? Then every call fails. */
bool ts_remote_is_dead(struct ts_remote *remote, const char *path);
/* Does a helper answer for PATH? */
bool ts_remote_reads(struct ts_remote *remote, const char *path);
/* Is it mirrored? */
bool ts_remote_has(struct ts_remote *remote, const char *path);
/* Calls EACH for each name (without folder) in the mirrored folder DIR. */
typedef enum ts_status ts_remote_name_fn(void *ctx, const char *name, struct ts_error *err);
enum ts_status ts_remote_names(struct ts_remote *remote, const char *dir, ts_remote_name_fn *each,
			       void *ctx, struct ts_error *err);

/* Looks at objects: their size and generation. */
const struct ts_looker *ts_remote_looker(const struct ts_remote *remote);
/*
 * The last bytes of files that are not held, at their place, so that these can be read; of those that cannot be, nothing is
 * there. By several reads at once.
 */
#define TS_REMOTE_TAIL 262144
enum ts_status ts_remote_tails(struct ts_remote *remote, const char *const *paths, size_t nr,
			       struct ts_error *err);

/*
 * The content of the files, held once more. All or none; TS_IO too where it has no room: it is looked for before
 * anything is read, also for MORE bytes that the caller will write. METER gets its first TS_REMOTE_PERCENT.
 */
enum ts_status ts_remote_hold(struct ts_remote *remote, const char *const *paths, size_t nr,
			      uint64_t more, struct ts_meter *meter, struct ts_error *err);
void ts_remote_drop(struct ts_remote *remote, const char *const *paths, size_t nr);
/* Holds them on a thread of its own, if there is room, until the next call; what is wrong is found by who
 * holds them next. NR 0 only ends what was held. */
void ts_remote_fetch_ahead(struct ts_remote *remote, const char *const *paths, size_t nr);

/* How a file goes back. */
struct ts_remote_push_options {
	/* How many of the file's first bytes are those that the object began with, if the file is that object with
	 * or without a tail; UINT64_MAX: it is not, and goes up whole. */
	uint64_t (*base)(const char *path);
	/* The order of files: lower ones are on the store before higher ones begin. */
	unsigned (*rank)(const void *ctx, const char *name, bool is_gone);
	/* Called when files of this rank are about to go, and all lower ones are there; may be NULL. It may
	 * write into those of this rank, and does not change their sizes. */
	void (*before)(const void *ctx, unsigned rank);
	const void *ctx;
};

struct ts_remote_push {
	bool is_stale; /* an object is not the one that was read: nothing was done to it */
	size_t nr_changed;
	uint64_t uploaded_bytes; /* through this machine, */
	uint64_t changed_bytes;	 /* of objects of so many */
	char how[64];		 /* the store added and cut: "compose"; empty: it did not */
};

/* Files of the mirrored folder DIR that are new, changed or gone since they were held. */
enum ts_status ts_remote_push(struct ts_remote *remote, const char *dir,
			      const struct ts_remote_push_options *options,
			      struct ts_remote_push *push, struct ts_error *err);
/* Files of DIR are as their objects are; what was not pushed is lost. */
void ts_remote_reset(struct ts_remote *remote, const char *dir);

#endif
