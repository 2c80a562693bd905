/* SPDX-License-Identifier: MIT */
/*
 * Sessions in a bucket: their content on this machine while it is needed, and changes back (remote/remote.h).
 *
 * A session of this machine passes through all of it at once.
 */
#ifndef TS_RUN_STAGED_H
#define TS_RUN_STAGED_H

#include "base/arena.h"
#include "remote/remote.h"

struct ts_session;

#define TS_STAGED_TRIES 4 /* of work that another program's writes make void */

/* Paths that are held. */
struct ts_staged {
	struct ts_remote *remote; /* NULL: nothing is held */
	const char **paths;
	size_t nr, cap;
	struct ts_arena arena;
};

/* The profiles of the session, and what is read along with them. */
enum ts_status ts_staged_hold(struct ts_staged *staged, const struct ts_session *session,
			      struct ts_meter *meter, struct ts_error *err);
/* All files of its folders that decide what is ours and what is complete. */
enum ts_status ts_staged_hold_folder(struct ts_staged *staged, const struct ts_session *session,
				     struct ts_error *err);
void ts_staged_release(struct ts_staged *staged); /* harmless when nothing is held, or twice */
/* While this session is worked on, that one's content may come. NULL: there is no further one. */
void ts_staged_next(const struct ts_session *session, const struct ts_session *next);

struct ts_runs;
/* What says whether the annotations of sessions stand (overlay/stand.h), read for all of them at once. */
void ts_staged_look_at_reports(const struct ts_runs *runs);

/*
 * Work that changes a session, done in its folders as if they were this machine's. Then what changed goes back:
 * XProf's caches are gone before a profile changes, a second name of a user's file is there before the first one
 * has other content, and the report comes last. When an object is not the one that was read, all of it is
 * done again, TS_STAGED_TRIES times.
 */
struct ts_staged_job {
	const struct ts_session *session; /* or */
	struct ts_remote *remote;	  /* with */
	const char *dir;		  /* a folder alone */
	bool dry_run;
	bool beside; /* the work reads no profile, so that none is held */
	struct ts_meter *meter;
	enum ts_status (*work)(void *ctx, const struct ts_session *session, struct ts_error *err);
	void (*again)(void *ctx); /* forgets what the work found */
	/* All but the report is on the store: it may get its last bytes. May be NULL. */
	void (*seal)(void *ctx, const struct ts_session *session);
	void *ctx;
	struct ts_remote_push push; /* what it cost */
};
enum ts_status ts_staged_do(struct ts_staged_job *job, struct ts_error *err);

#endif
