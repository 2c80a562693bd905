/* SPDX-License-Identifier: MIT */
/*
 * A look through the folder makes a list of sessions. What earlier looks found about a session is
 * kept under its name: numbers that stand for the state of its files, and since when they have been
 * so.
 */
#include "live/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "run/staged.h"
#include "io/file.h"
#include "io/siblings.h"
#include "live/notify.h"
#include "live/session_files.h"
#include "live/whole.h"

#define MIN_SPACING_MS 20 /* between two looks: a quarter of the settle time, within these */
#define MAX_SPACING_MS 500
#define WOKEN_TIMES    4  /* or so many times the length of the last look, */
#define POLL_TIMES     20 /* and so many of it when nothing has happened: the tree is large */
#define MAX_AGAIN_MS   60000
#define MAX_TROUBLES   256 /* problems of folders that are remembered */

/* What is known about a session. */
struct entry {
	char *key;
	uint64_t state, inputs; /* live/session_files.h, as of the last look */
	uint64_t done;		/* the state of the inputs for which there is nothing more to do */
	/* the state in which it was found not to be whole; broken_ms: when */
	uint64_t broken;
	int64_t broken_ms;
	uint64_t reported;	    /* a hash of the problem that was reported last; 0: none was */
	int64_t changed_ms;	    /* since when it has not changed */
	int64_t again_ms, pause_ms; /* after a failure that may pass */
	bool has_failed;
	bool is_met; /* in this look */
	struct ts_error problem;
	const struct ts_session *session; /* of this look */
};

/* A problem of a folder, which is reported when it lasts. */
struct trouble {
	uint64_t id;
	int64_t first_ms;
	bool is_reported, is_met;
};

struct ts_watch {
	struct ts_watch_options options;
	struct ts_runs runs;
	struct entry *entries;
	size_t nr, cap;
	struct ts_strmap by_key;
	struct trouble troubles[MAX_TROUBLES];
	size_t nr_troubles;
	struct ts_notify notify;
	int stop[2]; /* a pipe: a byte in it ends every wait */
	bool is_stopped;
	bool has_looked, is_woken;
	int64_t looked_ms, took_ms; /* the end of the last look; how long it was */
	size_t next;		    /* entry to be considered next, of this look */
	size_t next_problem;
	struct entry *current;		/* of the last event */
	struct ts_session_files before; /* of it, as it was found complete */
	bool was_absent, reported_absent;
	struct ts_error absence;
};

static int64_t watch_now_ms(const struct ts_watch *watch)
{
	return watch->options.clock_ms ? *watch->options.clock_ms : ts_now_ms();
}

enum ts_status ts_watch_new(struct ts_watch **out, const struct ts_watch_options *options,
			    struct ts_error *err)
{
	TS_ASSERT(out != NULL && options != NULL && options->logdir != NULL);
	TS_ASSERT(options->settle_ms >= 0 && options->poll_ms >= 0);

	struct ts_watch *watch = calloc(1, sizeof(*watch));

	*out = NULL;
	if (!watch)
		return ts_fail_nomem(err);
	watch->options = *options;
	watch->runs = (struct ts_runs)TS_RUNS_INIT;
	watch->before = (struct ts_session_files)TS_SESSION_FILES_INIT;
	watch->notify = (struct ts_notify)TS_NOTIFY_INIT;
	if (pipe(watch->stop) != 0) {
		free(watch);
		return ts_fail(err, TS_IO, "no pipe can be made (raise ulimit -n)");
	}
	for (int i = 0; i < 2; i++)
		fcntl(watch->stop[i], F_SETFD, FD_CLOEXEC);
	if (!options->only_poll)
		ts_notify_open(&watch->notify);
	*out = watch;
	return TS_OK;
}

void ts_watch_free(struct ts_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->nr; i++)
		free(watch->entries[i].key);
	free(watch->entries);
	ts_strmap_release(&watch->by_key);
	ts_session_files_release(&watch->before);
	ts_runs_release(&watch->runs);
	ts_notify_close(&watch->notify);
	close(watch->stop[0]);
	close(watch->stop[1]);
	free(watch);
}

void ts_watch_stop(struct ts_watch *watch)
{
	TS_ASSERT(watch != NULL);
	if (write(watch->stop[1], "", 1) != 1)
		return; /* the pipe is full of such bytes: the watch ends anyway */
}

/* The name of a session is its folder, or its first file where the folder is not its own. */
static struct entry *watch_get(struct ts_watch *watch, const struct ts_session *session)
{
	const char *key = ts_session_place(session);
	uint32_t at = ts_strmap_find(&watch->by_key, ts_bytes_of(key));
	struct entry *entry;

	if (at != TS_NONE)
		return &watch->entries[at];
	if (!ts_grow(&watch->entries, &watch->cap, watch->nr + 1, sizeof(*watch->entries)))
		return NULL;
	entry = &watch->entries[watch->nr];
	memset(entry, 0, sizeof(*entry));
	entry->key = strdup(key);
	if (!entry->key ||
	    !ts_strmap_set(&watch->by_key, ts_bytes_of(entry->key), (uint32_t)watch->nr)) {
		free(entry->key);
		return NULL;
	}
	watch->nr++;
	return entry;
}

static bool is_due(const struct entry *entry)
{
	return entry->inputs != entry->done;
}

/* Compares what is known about a session with what is there. */
static enum ts_status watch_meet(struct ts_watch *watch, const struct ts_session *session,
				 int64_t now_ms, struct ts_error *err)
{
	TS_ASSERT(session != NULL);

	size_t nr_before = watch->nr;
	struct entry *entry = watch_get(watch, session);
	struct ts_session_files files;
	uint64_t state;
	enum ts_status st;
	bool is_done;

	if (!entry)
		return ts_fail_nomem(err);
	st = ts_session_files_read(&files, session, err);
	state = ts_session_files_state(&files);
	entry->inputs = ts_session_files_inputs(&files, NULL, 0);
	entry->session = session;
	entry->is_met = true;
	if (state != entry->state || watch->nr > nr_before) {
		entry->state = state;
		entry->changed_ms = now_ms;
		entry->again_ms = entry->pause_ms = 0;
		entry->has_failed &= !is_due(entry);
		entry->problem.text[0] = '\0';
	}
	is_done = watch->options.new_only && !watch->has_looked;
	if (st == TS_OK && watch->nr > nr_before && !is_done)
		st = ts_session_files_are_annotated(&files, session, &is_done, err);
	if (watch->nr > nr_before && is_done)
		entry->done = entry->inputs;
	if (!is_due(entry))
		entry->reported = 0;
	ts_session_files_release(&files);
	return st;
}

/* Forgets the sessions that are not there any more. */
static enum ts_status watch_forget(struct ts_watch *watch, struct ts_error *err)
{
	size_t nr = 0;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < watch->nr; i++) {
		if (watch->entries[i].is_met)
			watch->entries[nr++] = watch->entries[i];
		else
			free(watch->entries[i].key);
	}
	if (nr == watch->nr)
		return TS_OK;
	watch->nr = nr;
	ts_strmap_release(&watch->by_key);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		if (!ts_strmap_set(&watch->by_key, ts_bytes_of(watch->entries[i].key), (uint32_t)i))
			st = ts_fail_nomem(err);
	return st;
}

static struct trouble *find_trouble(struct ts_watch *watch, const char *text)
{
	TS_ASSERT(text != NULL);

	uint64_t id = ts_hash(ts_bytes_of(text), 0);

	for (size_t i = 0; i < watch->nr_troubles; i++)
		if (watch->troubles[i].id == id)
			return &watch->troubles[i];
	if (watch->nr_troubles == MAX_TROUBLES)
		return NULL;
	watch->troubles[watch->nr_troubles] =
		(struct trouble){ .id = id, .first_ms = watch_now_ms(watch) };
	return &watch->troubles[watch->nr_troubles++];
}

static void meet_troubles(struct ts_watch *watch)
{
	size_t nr = 0;

	for (size_t i = 0; i < watch->nr_troubles; i++)
		watch->troubles[i].is_met = false;
	for (size_t i = 0; i < watch->runs.nr_problems; i++) {
		struct trouble *trouble = find_trouble(watch, watch->runs.problems[i]);

		if (trouble)
			trouble->is_met = true;
	}
	for (size_t i = 0; i < watch->nr_troubles; i++)
		if (watch->troubles[i].is_met)
			watch->troubles[nr++] = watch->troubles[i];
	watch->nr_troubles = nr;
}

/* Asks for notice of all folders; where the log directory is not there yet, of the nearest one
 * above it. */
static void watch_folders(struct ts_watch *watch)
{
	char *path = watch->runs.nr_folders == 0 ? strdup(watch->options.logdir) : NULL;

	for (size_t i = 0; i < watch->runs.nr_folders; i++)
		ts_notify_folder(&watch->notify, watch->runs.folders[i]);
	while (path && !ts_dir_exists(path)) {
		char *slash = strrchr(path, '/');

		if (!slash) {
			ts_notify_folder(&watch->notify, ".");
			break;
		}
		*(slash == path ? slash + 1 : slash) = '\0';
		if (slash == path)
			break;
	}
	if (path && ts_dir_exists(path))
		ts_notify_folder(&watch->notify, path);
	free(path);
}

/* A store that does not answer now may do so later, and FAILED has the cause; a helper that has ended will not. */
static enum ts_status look_into_bucket(struct ts_watch *watch, struct ts_error *failed,
				       struct ts_error *err)
{
	struct ts_remote *remote = watch->options.remote;
	const char *logdir = watch->options.logdir;

	if (!remote || ts_remote_refresh(remote, logdir, NULL, failed) == TS_OK)
		return TS_OK;
	if (!ts_remote_is_dead(remote, logdir))
		return TS_OK;
	return ts_fail(err, TS_IO, "%s", failed->text);
}

static enum ts_status watch_look(struct ts_watch *watch, struct ts_error *err)
{
	const char *logdir = watch->options.logdir;
	struct ts_error story = TS_ERROR_INIT, failed = TS_ERROR_INIT;
	int64_t now_ms = watch_now_ms(watch);
	enum ts_status st;

	watch->is_woken = false;
	ts_notify_drain(&watch->notify); /* what happens from here on gives notice again */
	ts_runs_release(&watch->runs);
	watch->runs.remote = watch->options.remote;
	watch->runs.looker = ts_remote_looker(watch->options.remote);
	st = look_into_bucket(watch, &failed, err);
	if (st)
		return st;
	st = ts_runs_find(&watch->runs, logdir, &story);
	if (st == TS_OK && watch->options.join_sessions)
		st = ts_runs_join(&watch->runs, &story);
	if (st == TS_NOMEM)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < watch->nr; i++)
		watch->entries[i].is_met = false;
	st = TS_OK; /* what else was wrong with the folder is a problem of its own */
	for (size_t i = 0; i < watch->runs.nr_sessions && st == TS_OK; i++)
		st = watch_meet(watch, &watch->runs.sessions[i], now_ms, err);
	if (st == TS_OK)
		st = watch_forget(watch, err);
	if (st)
		return st;
	meet_troubles(watch);
	watch->was_absent = !ts_dir_exists(logdir) || failed.status;
	if (watch->was_absent && !watch->reported_absent)
		watch->absence = failed.status ? failed : story;
	watch->reported_absent &= watch->was_absent;
	watch_folders(watch);
	watch->is_woken = watch->notify.grew;
	watch->notify.grew = false;
	watch->has_looked = true;
	watch->looked_ms = watch_now_ms(watch);
	watch->took_ms = watch->looked_ms - now_ms;
	watch->next = watch->next_problem = 0;
	watch->current = NULL;
	return TS_OK;
}

/* May the failure pass? It is the system's, not the file's: a full disk, another tpusight at
 * work. */
static bool may_pass(enum ts_status st)
{
	return st == TS_IO || st == TS_NOMEM || st == TS_NOTFOUND;
}

/* Is the problem a new one? Each is reported once. */
static bool watch_is_news(struct entry *entry, const struct ts_error *problem)
{
	uint64_t id = ts_hash(ts_bytes_of(problem->text), 1) | 1;

	if (entry->reported == id)
		return false;
	entry->reported = id;
	entry->problem = *problem;
	return true;
}

/* Is the session complete at this moment? If not, *STORY has the reason. TS_NOMEM. */
static enum ts_status watch_is_complete(struct ts_watch *watch, struct entry *entry, bool *complete,
					struct ts_error *story)
{
	TS_ASSERT(entry->session != NULL);

	int64_t now_ms = watch_now_ms(watch), rest_ms = now_ms - entry->changed_ms;
	int64_t patience_ms = ts_i64_mul(watch->options.settle_ms, TS_WATCH_PATIENCE);
	struct ts_session_files files;
	struct ts_staged staged = { .remote = NULL };
	enum ts_status st;

	*complete = false;
	if (rest_ms < watch->options.settle_ms)
		return TS_OK;
	if (ts_staged_hold_folder(&staged, entry->session, story))
		return story->status == TS_NOMEM ? TS_NOMEM : TS_OK;
	st = ts_session_files_read(&files, entry->session, story);
	if (st)
		goto done;
	if (ts_session_files_state(&files) != entry->state) {
		watch->is_woken = true; /* it has changed since the look */
	} else if (entry->broken == entry->state && now_ms - entry->broken_ms < patience_ms) {
		*story = entry->problem; /* a network's folder may show the rest later */
	} else if ((st = ts_session_files_are_whole(&files, story)) != TS_OK) {
		entry->broken = st == TS_FORMAT ? entry->state : 0;
		entry->broken_ms = now_ms;
	} else {
		/* a program that goes on writing into a file that we have replaced loses what it
		 * writes */
		*complete =
			!ts_session_files_are_open(&files, story) &&
			(rest_ms >= patience_ms || !ts_session_files_have_temporary(&files, story));
	}
done:
	ts_staged_release(&staged);
	if (*complete) {
		ts_session_files_release(&watch->before);
		watch->before = files;
		return TS_OK;
	}
	ts_session_files_release(&files);
	return st == TS_NOMEM ? TS_NOMEM : TS_OK;
}

/* Makes an event of ENTRY where there is something to report. */
static enum ts_status consider(struct ts_watch *watch, struct entry *entry,
			       struct ts_watch_event *event, bool *is_event)
{
	struct ts_error story = TS_ERROR_INIT;
	bool complete;
	enum ts_status st;

	*is_event = false;
	if (!is_due(entry) || watch_now_ms(watch) < entry->again_ms)
		return TS_OK;
	st = watch_is_complete(watch, entry, &complete, &story);
	if (st)
		return st;
	if (complete) {
		watch->current = entry;
		*event = (struct ts_watch_event){ .kind = TS_WATCH_COMPLETE,
						  .session = entry->session,
						  .is_again = entry->has_failed };
		*is_event = true;
	} else if ((story.text[0] || entry->reported == 0) && !entry->has_failed &&
		   watch_is_news(entry, &story)) {
		*event = (struct ts_watch_event){ .kind = TS_WATCH_WAITS,
						  .session = entry->session,
						  .problem = story.text[0] ? entry->problem.text
									   : NULL };
		*is_event = true;
	}
	return TS_OK;
}

/* Makes an event of a problem of the folder itself that lasts. */
static bool report_trouble(struct ts_watch *watch, struct ts_watch_event *event)
{
	if (watch->was_absent && !watch->reported_absent) {
		watch->reported_absent = true;
		*event = (struct ts_watch_event){ .kind = TS_WATCH_WAITS,
						  .problem = watch->absence.text };
		return true;
	}
	while (watch->next_problem < watch->runs.nr_problems) {
		const char *text = watch->runs.problems[watch->next_problem++];
		struct trouble *trouble = find_trouble(watch, text);

		if (!trouble || trouble->is_reported ||
		    watch_now_ms(watch) - trouble->first_ms < watch->options.settle_ms)
			continue;
		trouble->is_reported = true;
		*event = (struct ts_watch_event){ .kind = TS_WATCH_WAITS, .problem = text };
		return true;
	}
	return false;
}

/* When to look again if nothing happens. */
static int64_t next_look(const struct ts_watch *watch)
{
	int64_t spacing_ms =
		TS_MIN(TS_MAX(watch->options.settle_ms / 4, MIN_SPACING_MS), MAX_SPACING_MS);
	int64_t first_ms = watch->looked_ms + TS_MAX(spacing_ms, watch->took_ms * WOKEN_TIMES);
	int64_t next_ms =
		watch->looked_ms + TS_MAX(watch->options.poll_ms, watch->took_ms * POLL_TIMES);

	if (watch->is_woken)
		return first_ms;
	for (size_t i = 0; i < watch->nr; i++) {
		const struct entry *entry = &watch->entries[i];
		int64_t rested_ms = entry->changed_ms + watch->options.settle_ms;

		if (is_due(entry) && rested_ms > watch->looked_ms)
			next_ms = TS_MIN(next_ms, rested_ms);
		if (is_due(entry) && entry->again_ms > watch->looked_ms)
			next_ms = TS_MIN(next_ms, entry->again_ms);
	}
	return TS_MAX(next_ms, first_ms);
}

/* Returns when FDS have something to read, or MS later. */
static bool watch_poll(struct ts_watch *watch, struct pollfd *fds, nfds_t nr, int64_t ms)
{
	int64_t *clock_ms = watch->options.clock_ms;
	bool has_some = poll(fds, nr, clock_ms ? 0 : (int)ms) > 0;

	if (clock_ms && !has_some)
		*clock_ms += ms;
	return has_some;
}

/* Waits until UNTIL_MS, or until something happens: then a look is due, but not at once. */
static void doze(struct ts_watch *watch, int64_t until_ms)
{
	struct pollfd fds[] = { { watch->stop[0], POLLIN, 0 }, { watch->notify.fd, POLLIN, 0 } };
	nfds_t nr = watch->notify.fd >= 0 && !watch->is_woken ? 2 : 1;
	int64_t left_ms = TS_MIN(TS_MAX(until_ms - watch_now_ms(watch), 0), 60000);

	if (!watch_poll(watch, fds, nr, left_ms))
		return;
	watch->is_stopped |= fds[0].revents != 0;
	if (nr == 2 && fds[1].revents && ts_notify_drain(&watch->notify))
		watch->is_woken = true;
}

/* The next event after the last look. */
static enum ts_status watch_next_event(struct ts_watch *watch, struct ts_watch_event *event,
				       bool *is_event)
{
	enum ts_status st = TS_OK;

	*is_event = report_trouble(watch, event);
	while (!*is_event && st == TS_OK && watch->next < watch->nr)
		st = consider(watch, &watch->entries[watch->next++], event, is_event);
	return st;
}

enum ts_status ts_watch_next(struct ts_watch *watch, int64_t until_ms, struct ts_watch_event *event,
			     struct ts_error *err)
{
	bool is_event = false;

	TS_ASSERT(watch != NULL && event != NULL);
	*event = (struct ts_watch_event){ .kind = TS_WATCH_STOPPED };
	for (;;) {
		int64_t now_ms = watch_now_ms(watch);

		doze(watch, 0); /* was it stopped? */
		if (watch->is_stopped)
			return TS_OK;
		if (now_ms >= until_ms) {
			event->kind = TS_WATCH_OVER;
			return TS_OK;
		}
		if (!watch->has_looked || now_ms >= next_look(watch)) {
			enum ts_status st = watch_look(watch, err);

			if (st)
				return st;
		}
		if (watch_next_event(watch, event, &is_event))
			return ts_fail_nomem(err);
		if (is_event)
			return TS_OK;
		doze(watch, TS_MIN(next_look(watch), until_ms));
	}
}

/* Is a file that we wrote still as we wrote it, as far as one look shows? */
static bool watch_is_ours(const struct ts_session_file *part, const struct ts_watch_deed *deed)
{
	bool is_named = false;

	TS_ASSERT(part != NULL && deed != NULL);
	for (size_t i = 0; i < deed->nr_names; i++)
		is_named |= strcmp(part->name, deed->names[i]) == 0;
	return !is_named || !ts_xplanefile_is(ts_bytes_of(part->name)) ||
	       ts_file_is_whole(part->path, NULL) == TS_OK;
}

/* Compares the files with those before the annotation. Changes that are not ours make the
 * session due once more. */
static void take_over(struct ts_watch *watch, struct entry *entry,
		      const struct ts_session_files *after, struct ts_watch_deed *deed)
{
	uint64_t before = ts_session_files_inputs(&watch->before, deed->names, deed->nr_names);

	entry->inputs = ts_session_files_inputs(after, NULL, 0);
	entry->state = ts_session_files_state(after);
	deed->is_stale = ts_session_files_inputs(after, deed->names, deed->nr_names) != before;
	for (size_t i = 0; i < after->nr; i++)
		deed->is_stale |= !watch_is_ours(&after->items[i], deed);
	if (deed->is_stale) {
		entry->changed_ms = watch_now_ms(watch);
		entry->has_failed = false;
		entry->reported = 0;
	} else if (may_pass(deed->status)) {
		entry->pause_ms =
			TS_MIN(TS_MAX(entry->pause_ms * 2, watch->options.poll_ms), MAX_AGAIN_MS);
		entry->again_ms = watch_now_ms(watch) + entry->pause_ms;
	} else {
		entry->done = entry->inputs;
	}
}

enum ts_status ts_watch_done(struct ts_watch *watch, struct ts_watch_deed *deed,
			     struct ts_error *err)
{
	TS_ASSERT(watch != NULL && deed != NULL);
	TS_ASSERT(deed->names != NULL || deed->nr_names == 0);
	TS_ASSERT((deed->status == TS_OK) == (deed->problem == NULL));

	struct entry *entry = watch->current;
	struct ts_session_files after;
	enum ts_status st;

	if (!entry)
		return TS_OK;
	watch->current = NULL;
	entry->has_failed = deed->status != TS_OK;
	if (deed->problem)
		entry->problem = *deed->problem;
	st = ts_session_files_read(&after, entry->session, err);
	if (st == TS_OK)
		take_over(watch, entry, &after, deed);
	ts_session_files_release(&after);
	return st;
}

struct ts_watch_counts ts_watch_count(const struct ts_watch *watch)
{
	TS_ASSERT(watch != NULL);

	struct ts_watch_counts counts = { .nr_known = watch->nr };

	for (size_t i = 0; i < watch->nr; i++) {
		counts.nr_failed += watch->entries[i].has_failed;
		counts.nr_waiting += !watch->entries[i].has_failed && is_due(&watch->entries[i]);
	}
	return counts;
}

bool ts_watch_left(const struct ts_watch *watch, size_t *at, const char **path,
		   const char **problem)
{
	TS_ASSERT(watch != NULL && at != NULL);
	TS_ASSERT(path != NULL && problem != NULL);
	while (*at < watch->nr) {
		const struct entry *entry = &watch->entries[(*at)++];

		if (!entry->has_failed && !is_due(entry))
			continue;
		*path = entry->key;
		*problem = entry->problem.text[0] ? entry->problem.text : NULL;
		return true;
	}
	return false;
}
