/* SPDX-License-Identifier: MIT */
/* Which files are held, and in which order they go back. */
#include "run/staged.h"

#include "base/check.h"
#include "io/input.h"
#include "io/rundir.h"
#include "io/tracefile.h"
#include "overlay/apply.h"
#include "overlay/cache.h"
#include "overlay/stand.h"
#include "overlay/xplane.h"

#define MODULE_SUFFIX ".hlo_proto.pb" /* XProf's; no command reads them here */

static enum ts_status staged_add(struct ts_staged *staged, const char *path, struct ts_error *err)
{
	if (!path || !ts_grow(&staged->paths, &staged->cap, staged->nr + 1, sizeof(*staged->paths)))
		return ts_fail_nomem(err);
	staged->paths[staged->nr++] = path;
	return TS_OK;
}

static enum ts_status staged_add_files(struct ts_staged *staged, const struct ts_hostfile *files,
				       size_t nr, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = staged_add(
			staged,
			(const char *)ts_arena_copy(&staged->arena, ts_bytes_of(files[i].path)).p,
			err);
	return st;
}

/* Bytes that a change of the session writes beside it: a profile is made anew and takes the old one's place. */
static uint64_t staged_largest(const struct ts_session *session)
{
	uint64_t most = 0;

	for (size_t i = 0; session && i < session->nr_files; i++)
		most = TS_MAX(most, session->files[i].nr_bytes);
	return most;
}

static enum ts_status staged_hold(struct ts_staged *staged, struct ts_remote *remote, uint64_t more,
				  struct ts_meter *meter, struct ts_error *err)
{
	enum ts_status st = ts_remote_hold(remote, staged->paths, staged->nr, more, meter, err);

	staged->remote = st ? NULL : remote;
	return st;
}

enum ts_status ts_staged_hold(struct ts_staged *staged, const struct ts_session *session,
			      struct ts_meter *meter, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(staged && session);
	if (!session->remote)
		return TS_OK;
	st = staged_add_files(staged, session->files, session->nr_files, err);
	if (st)
		return st;
	st = staged_add_files(staged, session->extras, session->nr_extras, err);
	if (st)
		return st;
	return staged_hold(staged, session->remote, 0, meter, err);
}

void ts_staged_release(struct ts_staged *staged)
{
	TS_ASSERT(staged);
	if (staged->remote)
		ts_remote_drop(staged->remote, staged->paths, staged->nr);
	free(staged->paths);
	ts_arena_release(&staged->arena);
	*staged = (struct ts_staged){ .remote = NULL };
}

void ts_staged_next(const struct ts_session *session, const struct ts_session *next)
{
	struct ts_staged staged = { .remote = NULL };

	TS_ASSERT(session);
	if (!session->remote)
		return;
	if (next && next->remote)
		(void)staged_add_files(&staged, next->files, next->nr_files, NULL);
	ts_remote_fetch_ahead(session->remote, staged.paths, staged.nr);
	ts_staged_release(&staged);
}

/* A folder whose content is held: all that decides what is ours. */
struct folder {
	struct ts_staged *staged;
	const struct ts_session *session;
	const char *dir;
	bool beside;
};

static bool is_cache(const struct ts_session *session, const char *name)
{
	struct ts_bytes bytes = ts_bytes_of(name);

	return (session && ts_cache_is(session, name)) || ts_bytes_ends(bytes, ".SSTABLE") ||
	       ts_bytes_ends(bytes, ".trie.SSTABLE") || ts_bytes_ends(bytes, ".op_stats_v2.pb");
}

static enum ts_status staged_add_name(void *ctx, const char *name, struct ts_error *err)
{
	struct folder *folder = ctx;
	struct ts_bytes path;

	if (is_cache(folder->session, name) || ts_bytes_ends(ts_bytes_of(name), MODULE_SUFFIX) ||
	    (folder->beside && ts_bytes_ends(ts_bytes_of(name), TS_XPLANE_SUFFIX)))
		return TS_OK;
	path = ts_arena_printf(&folder->staged->arena, "%s/%s", folder->dir, name);
	return staged_add(folder->staged, (const char *)path.p, err);
}

static const char *dir_of(const struct ts_staged_job *job, size_t i)
{
	if (!job->session)
		return i == 0 ? job->dir : NULL;
	if (!job->session->members)
		return i == 0 ? job->session->dir : NULL;
	return i < job->session->nr_members ? job->session->members[i].dir : NULL;
}

static enum ts_status hold_folders(struct ts_staged *staged, const struct ts_staged_job *job,
				   struct ts_remote *remote, struct ts_error *err)
{
	const char *dir;
	enum ts_status st = TS_OK;

	for (size_t i = 0; st == TS_OK && (dir = dir_of(job, i)) != NULL; i++) {
		struct folder folder = { staged, job->session, dir, job->beside };

		st = ts_remote_names(remote, dir, staged_add_name, &folder, err);
	}
	return st ? st
		  : staged_hold(staged, remote,
				job->dry_run || job->beside ? 0 : staged_largest(job->session),
				job->meter, err);
}

enum ts_status ts_staged_hold_folder(struct ts_staged *staged, const struct ts_session *session,
				     struct ts_error *err)
{
	const struct ts_staged_job job = { .session = session, .dry_run = true };

	TS_ASSERT(staged && session);
	return session->remote ? hold_folders(staged, &job, session->remote, err) : TS_OK;
}

/* The native bytes of a profile are those of the object, so only what follows them is sent. */
static uint64_t staged_base_of(const char *path)
{
	struct ts_input in = TS_INPUT_INIT;
	uint64_t base = UINT64_MAX;

	if (!ts_xplanefile_is(ts_bytes_of(path)))
		return base;
	if (ts_input_open_plain(&in, path, NULL) == TS_OK)
		base = ts_overlay_native_bytes(in.bytes);
	ts_input_release(&in);
	return base;
}

enum rank { CACHE, SECOND_NAME, PROFILE, OTHER, REPORT, GONE, GONE_REPORT };

static unsigned staged_rank_of(const void *ctx, const char *name, bool is_gone)
{
	const struct ts_staged_job *job = ctx;
	bool is_report = strcmp(name, TS_REPORT_FILE) == 0 ||
			 ts_bytes_ends(ts_bytes_of(name), TS_ANNOTATED_REPORT_SUFFIX);

	if (is_gone && is_cache(job->session, name))
		return CACHE;
	if (is_gone)
		return is_report ? GONE_REPORT : GONE;
	if (strcmp(name, TS_TRACE_NATIVE_FILE) == 0 || strcmp(name, TS_PFTRACE_NATIVE_FILE) == 0)
		return SECOND_NAME;
	if (ts_xplanefile_is(ts_bytes_of(name)))
		return PROFILE;
	return is_report ? REPORT : OTHER;
}

static void before_rank(const void *ctx, unsigned rank)
{
	const struct ts_staged_job *job = ctx;

	if (rank == REPORT && job->seal && job->session)
		job->seal(job->ctx, job->session);
}

static enum ts_status push_folders(struct ts_staged_job *job, struct ts_remote *remote,
				   struct ts_error *err)
{
	const struct ts_remote_push_options options = { staged_base_of, staged_rank_of, before_rank,
							job };
	enum ts_status st = TS_OK;
	const char *dir;

	for (size_t i = 0; (dir = dir_of(job, i)) != NULL && st == TS_OK; i++)
		st = ts_remote_push(remote, dir, &options, &job->push, err);
	for (size_t i = 0; (dir = dir_of(job, i)) != NULL && st; i++)
		ts_remote_reset(remote, dir);
	return st;
}

void ts_staged_look_at_reports(const struct ts_runs *runs)
{
	struct ts_staged staged = { .remote = NULL };
	struct ts_remote *remote = NULL;

	TS_ASSERT(runs);
	for (size_t i = 0; i < runs->nr_sessions; i++) {
		const struct ts_session *session = &runs->sessions[i];
		struct ts_stand stand = TS_STAND_INIT;

		if (!session->remote)
			continue;
		remote = session->remote;
		if (ts_stand_look(&stand, session, NULL) == TS_OK)
			(void)staged_add(&staged,
					 (const char *)ts_arena_copy(&staged.arena,
								     ts_bytes_of(stand.report))
						 .p,
					 NULL);
		ts_stand_release(&stand);
	}
	if (remote)
		(void)ts_remote_tails(remote, staged.paths, staged.nr, NULL);
	ts_staged_release(&staged);
}

/* The session as it is now, among those of its folder. */
static const struct ts_session *find_again(struct ts_runs *runs, const struct ts_session *old)
{
	if (old->members)
		return NULL;
	for (size_t i = 0; i < runs->nr_sessions; i++) {
		const struct ts_session *one = &runs->sessions[i];

		if (one->kind == old->kind && strcmp(one->dir, old->dir) == 0 &&
		    (old->owns_folder || strcmp(one->files[0].name, old->files[0].name) == 0))
			return one;
	}
	return NULL;
}

static enum ts_status staged_look_again(struct ts_staged_job *job, struct ts_remote *remote,
					struct ts_runs *runs, struct ts_error *err)
{
	const struct ts_session *old = job->session, *now;
	const char *logdir = old ? old->logdir : NULL;
	enum ts_status st = ts_remote_refresh(remote, dir_of(job, 0), NULL, err);

	if (st || !old)
		return st;
	ts_runs_release(runs);
	runs->remote = remote;
	runs->looker = ts_remote_looker(remote);
	st = ts_runs_find(runs, old->kind == TS_SESSION_FILE ? old->files[0].path : old->dir, err);
	if (!st)
		st = ts_runs_name(runs, logdir, err);
	now = st ? NULL : find_again(runs, old);
	if (!st && !now)
		st = ts_fail(err, TS_IO, "%s: changed while it was worked on (run again)",
			     old->dir);
	job->session = now;
	return st;
}

static enum ts_status try_once(struct ts_staged_job *job, struct ts_remote *remote,
			       struct ts_error *err)
{
	struct ts_staged staged = { .remote = NULL };
	struct ts_error story = TS_ERROR_INIT;
	enum ts_status st = hold_folders(&staged, job, remote, err), pushed = TS_OK;

	if (st == TS_OK) {
		st = job->work(job->ctx, job->session, err);
		if (!job->dry_run)
			pushed = push_folders(job, remote, &story);
	}
	if (pushed && err)
		*err = story;
	ts_staged_release(&staged);
	return pushed ? pushed : st;
}

enum ts_status ts_staged_do(struct ts_staged_job *job, struct ts_error *err)
{
	const struct ts_session *given = job->session;
	struct ts_remote *remote = given ? given->remote : job->remote;
	struct ts_runs runs = TS_RUNS_INIT, last = TS_RUNS_INIT;
	enum ts_status st;

	TS_ASSERT(job->work && (given || job->dir));
	if (!remote || !ts_remote_reads(remote, dir_of(job, 0)))
		return job->work(job->ctx, given, err);
	st = try_once(job, remote, err);
	for (int i = 1; i < TS_STAGED_TRIES && st && job->push.is_stale; i++) {
		job->again(job->ctx); /* what it holds would stay as it is */
		last = runs;	      /* the session of the last try is in it */
		runs = (struct ts_runs)TS_RUNS_INIT;
		st = staged_look_again(job, remote, &runs, err);
		ts_runs_release(&last);
		if (st)
			break;
		job->push = (struct ts_remote_push){ .is_stale = false };
		st = try_once(job, remote, err);
	}
	ts_runs_release(&runs);
	job->session = given;
	return st;
}
