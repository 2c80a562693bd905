/* SPDX-License-Identifier: MIT */
/*
 * The search is a walk with a list of folders yet to enter: no recursion, no descriptor stays open.
 * Links to folders wait until all real folders were entered, so that a run goes by its own name and
 * a link to it (`latest`) adds nothing. A folder has a place in TensorBoard's layout, which says
 * what its files mean.
 *
 * How TensorBoard and XProf name runs: plugin/xprof/profile_plugin.py of github.com/openxla/xprof.
 */
#include "io/rundir.h"

#include "base/check.h"
#include "io/captures.h"
#include "io/dropped.h"
#include "io/file.h"
#include "io/foreign.h"
#include "io/runpath.h"
#include "io/sys.h"
#include "io/tracefile.h"
#include "io/url.h"
#include "base/order.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define BARE_NAME "xplane.pb" /* some programs write this name: a profile without a host */

struct folder {
	const char *path; /* in the arena of the runs */
	size_t parent;	  /* index; its own for the root */
	unsigned depth;
	enum ts_place place;
	dev_t dev;
	ino_t ino;
};

struct finder {
	struct ts_runs *runs;
	const char *root;
	struct folder *folders; /* all that were met, so that each knows its parents */
	size_t nr_folders, folders_cap;
	size_t *todo, *links; /* indices: real folders, and those behind a link */
	size_t nr_todo, todo_cap, nr_links, links_cap;
	struct ts_hostfile *files; /* of the folder being read: its profiles, else its traces */
	size_t nr_files, files_cap;
	struct ts_hostfile *extras; /* memory profiles and logs of that folder */
	size_t nr_extras, extras_cap;
	bool are_traces;
	size_t nr_stray;		  /* profiles outside any session folder */
	size_t nr_summaries, nr_traces;	  /* files of TensorBoard's scalars; of trace viewers */
	const struct ts_foreign *foreign; /* the first that is known by its name and not read, */
	const char *foreign_path;
	bool known_before; /* found a folder that an earlier path had covered */
};

/* In the arena of the runs, as join() and others below; NULL: no memory. */
static const char *dup_arena(struct finder *finder, const char *s, size_t n)
{
	struct ts_bytes copy =
		ts_arena_copy(&finder->runs->arena, (struct ts_bytes){ (const uint8_t *)s, n });

	return (const char *)copy.p;
}

static const char *rundir_join(struct finder *finder, const char *dir, const char *name)
{
	bool slash = dir[0] && dir[strlen(dir) - 1] == '/';
	struct ts_bytes path = strcmp(dir, ".") == 0
				       ? ts_arena_printf(&finder->runs->arena, "%s", name)
				       : ts_arena_printf(&finder->runs->arena, "%s%s%s", dir,
							 slash ? "" : "/", name);

	return (const char *)path.p;
}

static enum ts_status add_problem(struct finder *finder, const char *line, struct ts_error *err)
{
	struct ts_runs *runs = finder->runs;
	const char *copy = dup_arena(finder, line, strlen(line));

	if (!copy || !ts_grow(&runs->problems, &runs->problems_cap, runs->nr_problems + 1,
			      sizeof(*runs->problems)))
		return ts_fail_nomem(err);
	runs->problems[runs->nr_problems++] = copy;
	return TS_OK;
}

/* PATH NULL: there was no memory for it. */
static enum ts_status problem(struct finder *finder, const char *path, const char *cause,
			      struct ts_error *err)
{
	struct ts_error story = TS_ERROR_INIT;

	if (!path)
		return ts_fail_nomem(err);
	ts_fail(&story, TS_IO, "%s%s: %s", ts_path_tail(&path), path, cause);
	return add_problem(finder, story.text, err);
}

static enum ts_status problem_errno(struct finder *finder, int errnum, const char *path,
				    const char *what, struct ts_error *err)
{
	struct ts_error story = TS_ERROR_INIT;

	if (!path || errnum == ENOMEM)
		return ts_fail_nomem(err);
	ts_fail_errno(&story, errnum, path, what);
	return add_problem(finder, story.text, err);
}

static const char *tidy(struct finder *finder, const char *path)
{
	struct ts_buf out = TS_BUF_INIT;
	const char *copy = NULL;

	ts_path_tidy(&out, path);
	if (!out.failed)
		copy = dup_arena(finder, (const char *)out.p, out.n);
	ts_buf_release(&out);
	return copy;
}

/* Where PATH stands; if its names say nothing (".", a link), by those the system knows it by. */
static enum ts_status locate(struct finder *finder, const char *path, enum ts_place *place,
			     const char **logdir, struct ts_error *err)
{
	size_t n;
	char *real;

	*place = ts_place_of(path, &n);
	real = *place == TS_PLACE_ANY ? realpath(path, NULL) : NULL;
	if (real)
		*place = ts_place_of(real, &n);
	if (*place == TS_PLACE_ANY)
		n = strlen(path);
	*logdir = dup_arena(finder, *place != TS_PLACE_ANY && real ? real : path, n);
	free(real);
	if (!*logdir)
		return ts_fail_nomem(err);
	if (n == 0)
		*logdir = ".";
	return TS_OK;
}

static enum ts_status rundir_push(size_t **list, size_t *nr, size_t *cap, size_t index,
				  struct ts_error *err)
{
	if (!ts_grow(list, cap, *nr + 1, sizeof(**list)))
		return ts_fail_nomem(err);
	(*list)[(*nr)++] = index;
	return TS_OK;
}

static enum ts_status add_folder(struct finder *finder, struct folder folder, bool is_link,
				 struct ts_error *err)
{
	size_t index = finder->nr_folders;

	if (!folder.path ||
	    !ts_grow(&finder->folders, &finder->folders_cap, index + 1, sizeof(*finder->folders)))
		return ts_fail_nomem(err);
	finder->folders[finder->nr_folders++] = folder;
	if (is_link)
		return rundir_push(&finder->links, &finder->nr_links, &finder->links_cap, index,
				   err);
	return rundir_push(&finder->todo, &finder->nr_todo, &finder->todo_cap, index, err);
}

static enum ts_status rundir_add_file(struct finder *finder, const char *dir, const char *name,
				      uint64_t nr_bytes, struct ts_error *err)
{
	struct ts_bytes host = ts_bytes_of(name);
	struct ts_hostfile file = { .nr_bytes = nr_bytes };

	if (ts_xplanefile_is(host))
		host = ts_xplanefile_host(host);
	else if (ts_bytes_is(host, BARE_NAME))
		host.n = strlen("xplane");
	else
		host = ts_tracefile_host(host);
	file.host = dup_arena(finder, name, host.n);
	file.path = rundir_join(finder, dir, name);
	file.name = dup_arena(finder, name, strlen(name));
	if (!file.host || !file.path || !file.name ||
	    !ts_grow(&finder->files, &finder->files_cap, finder->nr_files + 1,
		     sizeof(*finder->files)))
		return ts_fail_nomem(err);
	finder->files[finder->nr_files++] = file;
	return TS_OK;
}

static enum ts_status add_extra(struct finder *finder, const char *dir, const char *name,
				uint64_t nr_bytes, struct ts_error *err)
{
	struct ts_hostfile file = { .nr_bytes = nr_bytes };

	file.host = file.name = dup_arena(finder, name, strlen(name));
	file.path = rundir_join(finder, dir, name);
	if (!file.name || !file.path ||
	    !ts_grow(&finder->extras, &finder->extras_cap, finder->nr_extras + 1,
		     sizeof(*finder->extras)))
		return ts_fail_nomem(err);
	finder->extras[finder->nr_extras++] = file;
	return TS_OK;
}

TS_ORDER(by_host, struct ts_hostfile, TS_UP(host) TS_UP(name))

/* The folder's own name; for "." and ".." the one the system knows it by. */
static const char *folder_name(struct finder *finder, const char *dir)
{
	size_t n = strlen(dir);
	struct ts_bytes name = ts_path_last(dir, &n);
	char *real = NULL;
	const char *copy;

	if (name.n == 0 || ts_bytes_is(name, ".") || ts_bytes_is(name, "..")) {
		real = realpath(dir, NULL);
		n = real ? strlen(real) : 0;
		name = real ? ts_path_last(real, &n) : ts_bytes_of(dir);
	}
	if (name.n == 0)
		name = ts_bytes_of("/");
	copy = dup_arena(finder, (const char *)name.p, name.n);
	free(real);
	return copy;
}

/* Makes a session of the files gathered. */
static enum ts_status add_session(struct finder *finder, enum ts_session_kind kind, const char *dir,
				  const char *logdir, struct ts_error *err)
{
	struct ts_runs *runs = finder->runs;
	struct ts_session session = { .kind = kind, .dir = dir, .logdir = logdir };
	struct ts_hostfile *files = ts_arena_array(&runs->arena, finder->nr_files, sizeof(*files));
	struct ts_hostfile *extras =
		ts_arena_array(&runs->arena, finder->nr_extras, sizeof(*extras));
	struct ts_bytes run;

	run = ts_path_run(logdir, dir);
	session.remote = ts_url_is(dir) ? runs->remote : NULL;
	session.looker = session.remote ? runs->looker : NULL;
	session.run = run.n ? dup_arena(finder, (const char *)run.p, run.n) : ".";
	session.session = folder_name(finder, dir);
	if (!session.run || !session.session || !files || !extras ||
	    !ts_grow(&runs->sessions, &runs->sessions_cap, runs->nr_sessions + 1, sizeof(session)))
		return ts_fail_nomem(err);
	qsort(finder->files, finder->nr_files, sizeof(*files), by_host);
	memcpy(files, finder->files, finder->nr_files * sizeof(*files));
	session.files = files;
	session.nr_files = finder->nr_files;
	if (finder->nr_extras > 0) {
		qsort(finder->extras, finder->nr_extras, sizeof(*extras), by_host);
		memcpy(extras, finder->extras, finder->nr_extras * sizeof(*extras));
	}
	session.extras = extras;
	session.nr_extras = finder->nr_extras;
	runs->sessions[runs->nr_sessions++] = session;
	finder->nr_files = 0;
	return TS_OK;
}

static bool rundir_is_profile(const char *name)
{
	struct ts_bytes bytes = ts_bytes_of(name);

	return ts_xplanefile_is(bytes) || ts_bytes_is(bytes, BARE_NAME);
}

static bool rundir_is_extra(const char *name)
{
	return ts_bytes_ends(ts_bytes_of(name), TS_MEMORY_SUFFIX) ||
	       ts_tracefile_is_torch_log(ts_bytes_of(name));
}

static enum ts_status meet_folder(struct finder *finder, size_t parent, const char *name,
				  bool is_link, struct ts_error *err)
{
	struct folder child = { .parent = parent, .depth = finder->folders[parent].depth + 1 };

	if (finder->folders[parent].place == TS_PLACE_SESSION)
		return TS_OK; /* nothing below a session is a session */
	child.place = ts_place_below(finder->folders[parent].place, name);
	child.path = rundir_join(finder, finder->folders[parent].path, name);
	if (child.depth > TS_LIMIT_FOLDER_DEPTH)
		return problem(finder, child.path,
			       "folders nested too deep; name a folder further down " TS_OVER(
				       TS_LIMIT_FOLDER_DEPTH),
			       err);
	return add_folder(finder, child, is_link, err);
}

/* Traces stand for a run without profiles. JAX makes two of one run: the viewer's own counts. */
static bool is_second_choice(struct finder *finder, const char *name)
{
	bool is_trace = !rundir_is_profile(name);
	bool worse = is_trace && ts_tracefile_is_perfetto(ts_bytes_of(name));

	if (finder->nr_files == 0 || (is_trace && !finder->are_traces))
		return is_trace && finder->nr_files > 0;
	if (!finder->are_traces)
		return false;
	if (worse)
		return true;
	if (!is_trace || ts_tracefile_is_perfetto(ts_bytes_of(finder->files[0].name)))
		finder->nr_files = 0;
	return false;
}

/* PyTorch's handler writes its traces into any folder; others have their place. */
static bool is_stray(const struct folder *folder, const char *name)
{
	return folder->place != TS_PLACE_SESSION && folder->depth > 0 &&
	       !ts_tracefile_is_pytorch(ts_bytes_of(name)) &&
	       ts_tracefile_rank(ts_bytes_of(name)) < 0;
}

static enum ts_status take_profile(struct finder *finder, const struct folder *folder,
				   const char *name, const struct stat *st, struct ts_error *err)
{
	if (!S_ISREG(st->st_mode))
		return problem(finder, rundir_join(finder, folder->path, name),
			       "no plain file, passed over (remove it)", err);
	if (is_second_choice(finder, name))
		return TS_OK;
	finder->are_traces = !rundir_is_profile(name);
	return rundir_add_file(finder, folder->path, name, (uint64_t)st->st_size, err);
}

/* Files that people take for a profile: they are named when there is no profile. */
static void note_other(struct finder *finder, const char *dir, const char *name)
{
	struct ts_bytes bytes = ts_bytes_of(name);
	const struct ts_foreign *foreign = ts_foreign_named(bytes);

	if (foreign && !finder->foreign) {
		finder->foreign = foreign;
		finder->foreign_path = rundir_join(finder, dir, name);
	}
	finder->nr_summaries += ts_bytes_has(bytes, ".tfevents.");
	finder->nr_traces +=
		ts_bytes_ends(bytes, "trace.json.gz") || ts_bytes_ends(bytes, "trace.json");
}

/* True when the system's answer shows that NAME can be of no interest, without a stat. */
static bool is_dull(const struct dirent *entry)
{
	if (entry->d_name[0] == '.')
		return true;
#ifdef DT_REG
	return entry->d_type == DT_REG && !rundir_is_profile(entry->d_name) &&
	       !rundir_is_extra(entry->d_name) &&
	       !ts_tracefile_is_named(ts_bytes_of(entry->d_name));
#else
	return false;
#endif
}

/* HTA's users name traces as they like. Deeper than a run's folder in the one that was named, only names with a
 * rank are looked into: there may be any number of files. */
static enum ts_status look_for_rank(struct finder *finder, const struct folder *folder,
				    const char *name, bool *is_rank, struct ts_error *err)
{
	bool any_name = folder->depth <= 1 || folder->place == TS_PLACE_SESSION;
	const char *path = rundir_join(finder, folder->path, name);

	if (!path)
		return ts_fail_nomem(err);
	return ts_captures_is_rank(path, ts_bytes_of(name), any_name, is_rank, err);
}

static enum ts_status problem_of_link(struct finder *finder, int errnum, const char *path,
				      struct ts_error *err)
{
	if (errnum == ENOENT)
		return problem(finder, path, "a link that leads nowhere (remove or correct it)",
			       err);
	return problem_errno(finder, errnum, path, "follow it", err);
}

static enum ts_status meet_file(struct finder *finder, const struct folder *folder,
				const char *name, const struct stat *st, struct ts_error *err)
{
	enum ts_status status;
	bool is_rank;

	if (rundir_is_profile(name) || ts_tracefile_is(ts_bytes_of(name))) {
		if (!is_stray(folder, name))
			return take_profile(finder, folder, name, st, err);
		finder->nr_stray += rundir_is_profile(name);
		return TS_OK;
	}
	if (!S_ISREG(st->st_mode))
		return TS_OK;
	status = look_for_rank(finder, folder, name, &is_rank, err);
	if (status == TS_OK && is_rank)
		status = take_profile(finder, folder, name, st, err);
	else if (status == TS_OK && rundir_is_extra(name))
		status = add_extra(finder, folder->path, name, (uint64_t)st->st_size, err);
	return status;
}

static enum ts_status rundir_meet(struct finder *finder, size_t index, int fd, const char *name,
				  struct ts_error *err)
{
	const char *dir = finder->folders[index].path;
	struct stat st;
	bool is_link;
	int errnum;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		errnum = errno;
		if (errnum == ENOENT) /* that is: gone since it was listed */
			return TS_OK;
		return problem_errno(finder, errnum, rundir_join(finder, dir, name), "look at it",
				     err);
	}
	is_link = S_ISLNK(st.st_mode);
	if (is_link && fstatat(fd, name, &st, 0) != 0) {
		errnum = errno;
		return problem_of_link(finder, errnum, rundir_join(finder, dir, name), err);
	}
	if (S_ISDIR(st.st_mode))
		return meet_folder(finder, index, name, is_link, err);
	return meet_file(finder, &finder->folders[index], name, &st, err);
}

static enum ts_status rundir_read_folder(struct finder *finder, size_t index, DIR *dir,
					 struct ts_error *err)
{
	struct dirent *entry;
	enum ts_status st = TS_OK;

	errno = 0;
	while (st == TS_OK && (entry = readdir(dir)) != NULL) {
		note_other(finder, finder->folders[index].path, entry->d_name);
		if (!is_dull(entry))
			st = rundir_meet(finder, index, dirfd(dir), entry->d_name, err);
		errno = 0;
	}
	if (st == TS_OK && errno)
		st = problem_errno(finder, errno, finder->folders[index].path,
				   "read the folder to its end", err);
	return st;
}

static bool leads_back(const struct finder *finder, size_t index)
{
	const struct folder *self = &finder->folders[index];

	while (finder->folders[index].parent != index) {
		index = finder->folders[index].parent;
		if (finder->folders[index].dev == self->dev &&
		    finder->folders[index].ino == self->ino)
			return true;
	}
	return false;
}

/* What runs->seen keeps: which path of the user's led there first, and whether it is a session. */
static uint32_t seen_value(const struct finder *finder, bool is_session)
{
	return (finder->runs->nr_paths & 0x3fffffff) << 1 | is_session;
}

/* The key of a folder in runs->seen, in the arena; .p NULL: no memory. */
static struct ts_bytes identity(struct finder *finder, const struct stat *st)
{
	uint64_t id[2] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino };
	struct ts_bytes key = { (const uint8_t *)id, sizeof(id) };

	return ts_arena_copy(&finder->runs->arena, key);
}

/* Is the folder to be read? Each is once; the root again, unless all of it became a session. */
static enum ts_status look_if_new(struct finder *finder, size_t index, const struct stat *st,
				  bool *is_new, struct ts_error *err)
{
	struct folder *folder = &finder->folders[index];
	struct ts_bytes key = identity(finder, st);
	uint32_t seen;

	*is_new = false;
	if (!key.p)
		return ts_fail_nomem(err);
	folder->dev = st->st_dev;
	folder->ino = st->st_ino;
	if (leads_back(finder, index))
		return problem(finder, folder->path,
			       "a link that leads back to a folder above it (remove it)", err);
	seen = ts_strmap_find(&finder->runs->seen, key);
	if (seen != TS_NONE) {
		finder->known_before |= seen >> 1 != finder->runs->nr_paths;
		*is_new = folder->depth == 0 && !(seen & 1);
		return TS_OK;
	}
	if (!ts_strmap_set(&finder->runs->seen, key, seen_value(finder, false)))
		return ts_fail_nomem(err);
	*is_new = true;
	return TS_OK;
}

/* The files of one capture, out of ALL. A capture of one worker has the name of its file. */
static enum ts_status add_capture(struct finder *finder, const struct ts_hostfile *all,
				  const uint32_t *captures, uint32_t capture, const char *dir,
				  const char *logdir, struct ts_error *err)
{
	size_t nr = finder->nr_files, nr_of_it = 0;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr; i++)
		if (captures[i] == capture)
			finder->files[nr_of_it++] = all[i];
	finder->nr_files = nr_of_it;
	if (nr_of_it > 0)
		st = add_session(finder, nr_of_it == 1 && nr > 1 ? TS_SESSION_FILE : TS_SESSION_DIR,
				 dir, logdir, err);
	finder->nr_files = nr;
	return st;
}

/* Traces of several captures in one folder are a session each (io/captures.h). */
static enum ts_status add_captures(struct finder *finder, const struct folder *folder,
				   const char *logdir, struct ts_error *err)
{
	size_t nr = finder->nr_files;
	struct ts_hostfile *all = calloc(nr, sizeof(*all));
	uint32_t *captures = calloc(nr, sizeof(*captures)), last = 0;
	enum ts_status st = TS_OK;

	qsort(finder->files, nr, sizeof(*all), by_host);
	if (!all || !captures)
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = ts_captures_tell(finder->files, nr, folder->place == TS_PLACE_SESSION,
				      captures, err);
	if (st == TS_OK)
		memcpy(all, finder->files, nr * sizeof(*all));
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		last = TS_MAX(last, captures[i]);
	for (uint32_t c = 0; c <= last && st == TS_OK; c++)
		st = add_capture(finder, all, captures, c, folder->path, logdir, err);
	free(all);
	free(captures);
	return st;
}

static enum ts_status problem_without(struct finder *finder, const char *path, struct ts_error *err)
{
	finder->runs->nr_empty++;
	if (finder->runs->empty_is_fine)
		return TS_OK;
	return problem(
		finder, path,
		"a session without profiles: no *" TS_XPLANE_SUFFIX
		" and no trace in it (profile again, and wait for the step before the profiler "
		"stops; create_perfetto_trace=True of jax.profiler.trace writes a trace, too)",
		err);
}

static bool has_records(const struct finder *finder, const char *host)
{
	for (size_t i = 0; i < finder->nr_files; i++)
		if (strcmp(finder->files[i].host, host) == 0 &&
		    ts_bytes_ends(ts_bytes_of(finder->files[i].name), TS_RIEGELI_SUFFIX))
			return true;
	return false;
}

/* An empty xplane is not a profile of its own where the same host's is there as records, or as a trace (io/dropped.h). */
static enum ts_status drop_empty(struct finder *finder, struct ts_error *err)
{
	size_t nr = 0, nr_traces = 0;

	for (size_t i = 0; i < finder->nr_files && !finder->are_traces; i++) {
		struct ts_hostfile file = finder->files[i];
		bool is_xplane = ts_bytes_ends(ts_bytes_of(file.name), TS_XPLANE_SUFFIX);
		bool found = false;
		enum ts_status st;

		if (is_xplane && file.nr_bytes == 0 && has_records(finder, file.host))
			continue;
		st = ts_dropped_find_trace(&finder->runs->arena, &file, &file, &found, err);
		if (st)
			return st;
		nr_traces += found;
		finder->files[nr++] = file;
	}
	if (finder->are_traces)
		return TS_OK;
	finder->nr_files = nr;
	finder->are_traces = nr > 0 && nr_traces == nr;
	return TS_OK;
}

/* What was gathered in the folder becomes a session, or the lack of it a problem. */
static enum ts_status close_folder(struct finder *finder, size_t index, const struct stat *st,
				   const char *logdir, struct ts_error *err)
{
	const struct folder *folder = &finder->folders[index];
	struct ts_runs *runs = finder->runs;
	size_t nr_before = runs->nr_sessions;
	struct ts_bytes key;
	enum ts_status status;

	if (finder->nr_files == 0)
		return folder->place == TS_PLACE_SESSION
			       ? problem_without(finder, folder->path, err)
			       : TS_OK;
	if (finder->are_traces)
		status = add_captures(finder, folder, logdir, err);
	else
		status = add_session(finder, TS_SESSION_DIR, folder->path, logdir, err);
	if (status)
		return status;
	if (runs->nr_sessions == nr_before + 1)
		runs->sessions[nr_before].owns_folder = folder->place == TS_PLACE_SESSION;
	key = identity(finder, st);
	if (!key.p || !ts_strmap_set(&runs->seen, key, seen_value(finder, true)))
		return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status note_folder(struct finder *finder, const char *path, struct ts_error *err)
{
	struct ts_runs *runs = finder->runs;

	if (!ts_grow(&runs->folders, &runs->folders_cap, runs->nr_folders + 1,
		     sizeof(*runs->folders)))
		return ts_fail_nomem(err);
	runs->folders[runs->nr_folders++] = path;
	return TS_OK;
}

static enum ts_status rundir_gather(struct finder *finder, size_t index, DIR *dir,
				    const char *logdir, struct ts_error *err)
{
	const char *path = finder->folders[index].path;
	struct stat st;
	enum ts_status status;
	bool is_new;

	if (fstat(dirfd(dir), &st) != 0)
		return problem_errno(finder, errno, path, "look at it", err);
	status = look_if_new(finder, index, &st, &is_new, err);
	if (status || !is_new)
		return status;
	finder->nr_files = 0;
	finder->nr_extras = 0;
	finder->are_traces = false;
	status = note_folder(finder, path, err);
	if (status == TS_OK)
		status = rundir_read_folder(finder, index, dir, err);
	if (status)
		return status;
	status = drop_empty(finder, err);
	if (status)
		return status;
	return close_folder(finder, index, &st, logdir, err);
}

static enum ts_status rundir_enter(struct finder *finder, size_t index, const char *logdir,
				   struct ts_error *err)
{
	const char *path = finder->folders[index].path;
	int fd = ts_sys_open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK), errnum;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	enum ts_status st;

	if (!dir) {
		errnum = errno;
		if (fd >= 0)
			close(fd);
		return problem_errno(finder, errnum, path, "read the folder", err);
	}
	st = rundir_gather(finder, index, dir, logdir, err);
	closedir(dir);
	return st;
}

static enum ts_status enter_link(struct finder *finder, size_t index, const char *logdir,
				 struct ts_error *err)
{
	const struct ts_runs *runs = finder->runs;
	const char *path = finder->folders[index].path;

	if (runs->enters && !runs->enters(runs->enters_ctx, path))
		return problem(finder, path, runs->outside, err);
	return rundir_enter(finder, index, logdir, err);
}

static enum ts_status rundir_walk(struct finder *finder, struct ts_error *err)
{
	struct folder root = { .path = finder->root };
	const char *logdir;
	enum ts_status st = locate(finder, finder->root, &root.place, &logdir, err);

	if (st == TS_OK)
		st = add_folder(finder, root, false, err);
	while (st == TS_OK && finder->nr_todo + finder->nr_links > 0) {
		if (finder->nr_todo > 0)
			st = rundir_enter(finder, finder->todo[--finder->nr_todo], logdir, err);
		else
			st = enter_link(finder, finder->links[--finder->nr_links], logdir, err);
	}
	return st;
}

/* A file that the user named, of any kind: its reader knows better. */
static enum ts_status rundir_take_file(struct finder *finder, const struct stat *st,
				       struct ts_error *err)
{
	bool plain = S_ISREG(st->st_mode);
	size_t n = strlen(finder->root);
	struct ts_bytes name = ts_path_last(finder->root, &n);
	const char *dir = n ? dup_arena(finder, finder->root, n) : ".";
	const char *logdir = ".";
	enum ts_place place;
	enum ts_status status = TS_OK;
	struct stat above;

	if (!dir)
		return ts_fail_nomem(err);
	if (plain && stat(dir, &above) == 0) {
		struct ts_bytes key = identity(finder, &above);
		uint32_t seen = key.p ? ts_strmap_find(&finder->runs->seen, key) : TS_NONE;

		if (!key.p)
			return ts_fail_nomem(err);
		finder->known_before =
			seen != TS_NONE && (seen & 1) && rundir_is_profile((const char *)name.p);
		if (finder->known_before)
			return TS_OK;
		status = locate(finder, dir, &place, &logdir, err);
	}
	if (status == TS_OK)
		status = rundir_add_file(finder, dir, (const char *)name.p,
					 plain ? (uint64_t)st->st_size : 0, err);
	if (status)
		return status;
	finder->files[0].path = finder->root; /* "./-" is a file, "-" would not be */
	if (plain)
		status = ts_dropped_find_trace(&finder->runs->arena, &finder->files[0],
					       &finder->files[0], &finder->are_traces, err);
	if (status)
		return status;
	return add_session(finder, plain ? TS_SESSION_FILE : TS_SESSION_STREAM, dir, logdir, err);
}

static enum ts_status take_standard_input(struct finder *finder, struct ts_error *err)
{
	static const struct ts_hostfile file = { "standard input", "-", "-", 0, NULL };
	struct ts_session session = { .kind = TS_SESSION_STREAM,
				      .dir = ".",
				      .logdir = ".",
				      .run = ".",
				      .session = "standard input",
				      .nr_files = 1 };
	struct ts_runs *runs = finder->runs;

	session.files = &file;
	if (!ts_grow(&runs->sessions, &runs->sessions_cap, runs->nr_sessions + 1, sizeof(session)))
		return ts_fail_nomem(err);
	runs->sessions[runs->nr_sessions++] = session;
	return TS_OK;
}

TS_ORDER(rundir_by_dir, struct ts_session, TS_UP(dir) TS_UP(files[0].path))

/* Is the given path itself the only problem? Then that is the error. */
static bool root_failed(struct finder *finder, size_t nr_before, struct ts_error *err)
{
	struct ts_runs *runs = finder->runs;
	const char *line = runs->nr_problems == nr_before + 1 ? runs->problems[nr_before] : NULL;
	size_t n = strlen(finder->root);

	if (!line || strncmp(line, finder->root, n) != 0 || line[n] != ':')
		return false;
	runs->nr_problems--;
	ts_fail(err, TS_NOTFOUND, "%s", line);
	return true;
}

static enum ts_status nothing_found(const struct finder *finder, struct ts_error *err)
{
	if (finder->nr_stray > 0)
		return ts_fail(err, TS_NOTFOUND,
			       "%s: no session found, but %zu *" TS_XPLANE_SUFFIX
			       " elsewhere below it (name their folders)",
			       finder->root, finder->nr_stray);
	if (finder->nr_traces > 0)
		return ts_fail(
			err, TS_NOTFOUND,
			"%s: no profile found, only %zu trace%s further down, made for a viewer "
			"(name them, or copy the whole session folder, with its *" TS_XPLANE_SUFFIX
			")",
			finder->root, finder->nr_traces, finder->nr_traces == 1 ? "" : "s");
	if (finder->foreign && finder->foreign_path)
		return ts_fail(err, TS_NOTFOUND, "%s: no profile found, but %s: %s (%s)",
			       finder->root, finder->foreign_path, finder->foreign->what,
			       finder->foreign->give);
	if (finder->nr_summaries > 0)
		return ts_fail(err, TS_NOTFOUND,
			       "%s: no profile found, only %zu event file%s with TensorBoard's "
			       "scalars (take a profile with jax.profiler.trace)",
			       finder->root, finder->nr_summaries,
			       finder->nr_summaries == 1 ? "" : "s");
	return ts_fail(err, TS_NOTFOUND,
		       "%s: no profile found (a log directory has them in "
		       "plugins/profile/SESSION/HOST" TS_XPLANE_SUFFIX
		       "; traces of PyTorch are NAME.pt.trace.json or rank0.json, packed or not; "
		       "any other name must be given itself)",
		       finder->root);
}

static enum ts_status rundir_find(struct finder *finder, const char *path, struct ts_error *err)
{
	size_t nr_before = finder->runs->nr_sessions, nr_problems = finder->runs->nr_problems;
	enum ts_status status;
	struct stat st;

	finder->root = tidy(finder, path);
	if (finder->root && strcmp(finder->root, "-") == 0)
		finder->root = "./-";
	if (!finder->root)
		return ts_fail_nomem(err);
	if (stat(path, &st) != 0)
		return ts_fail_errno(err, errno, path, "open it");
	status =
		S_ISDIR(st.st_mode) ? rundir_walk(finder, err) : rundir_take_file(finder, &st, err);
	if (status)
		return status;
	if (finder->runs->nr_sessions > nr_before || finder->known_before)
		return TS_OK;
	return root_failed(finder, nr_problems, err) ? TS_NOTFOUND : nothing_found(finder, err);
}

enum ts_status ts_runs_find(struct ts_runs *runs, const char *path, struct ts_error *err)
{
	struct finder finder = { .runs = runs };
	size_t nr_before = runs->nr_problems;
	enum ts_status st;

	TS_ASSERT(runs && path);
	runs->nr_paths++;
	if (strcmp(path, "-") == 0)
		st = take_standard_input(&finder, err);
	else
		st = rundir_find(&finder, path, err);
	free(finder.folders);
	free(finder.todo);
	free(finder.links);
	free(finder.files);
	free(finder.extras);
	if (runs->nr_sessions > 1)
		qsort(runs->sessions, runs->nr_sessions, sizeof(*runs->sessions), rundir_by_dir);
	if (runs->nr_problems - nr_before > 1)
		qsort(runs->problems + nr_before, runs->nr_problems - nr_before,
		      sizeof(*runs->problems), ts_text_order);
	return st;
}

void ts_runs_release(struct ts_runs *runs)
{
	TS_ASSERT(runs);
	free(runs->sessions);
	free(runs->problems);
	free(runs->folders);
	ts_arena_release(&runs->arena);
	ts_strmap_release(&runs->seen);
	*runs = (struct ts_runs)TS_RUNS_INIT;
}

static const char *terminated(struct ts_buf *out, size_t start)
{
	ts_buf_putc(out, '\0');
	if (out->failed)
		return NULL;
	out->n--;
	return (const char *)out->p + start;
}

static void rundir_put_part(struct ts_buf *out, size_t start, const char *part)
{
	if (out->n > start && out->p[out->n - 1] != '/')
		ts_buf_putc(out, '/');
	ts_buf_puts(out, part);
}

static enum ts_status name_session(struct ts_runs *runs, struct ts_session *session,
				   const char *logdir, struct ts_error *err)
{
	size_t n = strlen(logdir);
	struct ts_bytes run = ts_path_run(logdir, session->dir);

	if (strncmp(session->dir, logdir, n) != 0 || session->dir[n] != '/')
		return TS_OK; /* it stands somewhere else */
	run = run.n ? ts_arena_copy(&runs->arena, run) : TS_LIT(".");
	session->logdir = logdir;
	session->run = (const char *)run.p;
	return run.p ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_runs_name(struct ts_runs *runs, const char *logdir, struct ts_error *err)
{
	struct ts_buf tidy = TS_BUF_INIT;
	struct ts_bytes kept = { NULL, 0 };
	enum ts_status st = TS_OK;

	TS_ASSERT(runs && logdir);
	ts_path_tidy(&tidy, logdir);
	if (!tidy.failed)
		kept = ts_arena_copy(&runs->arena, ts_buf_bytes(&tidy));
	ts_buf_release(&tidy);
	if (!kept.p)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < runs->nr_sessions && st == TS_OK; i++)
		st = name_session(runs, &runs->sessions[i], (const char *)kept.p, err);
	return st;
}

const char *ts_session_place(const struct ts_session *session)
{
	TS_ASSERT(session);
	return session->owns_folder ? session->dir : session->files[0].path;
}

const char *ts_session_path(const struct ts_session *session, const char *name, struct ts_buf *out)
{
	size_t start = out->n;

	TS_ASSERT(session && name && out);
	if (strcmp(session->dir, ".") != 0)
		rundir_put_part(out, start, session->dir);
	rundir_put_part(out, start, name);
	return terminated(out, start);
}

const char *ts_session_title(const struct ts_session *session, struct ts_buf *out)
{
	size_t start = out->n;

	TS_ASSERT(session && out);
	if (session->kind == TS_SESSION_STREAM) {
		ts_buf_puts(out, strcmp(session->files[0].path, "-") == 0 ? "standard input"
									  : session->files[0].path);
		return terminated(out, start);
	}
	if (strcmp(session->logdir, ".") != 0)
		rundir_put_part(out, start, session->logdir);
	if (strcmp(session->run, ".") != 0)
		rundir_put_part(out, start, session->run);
	if (strcmp(session->dir, session->logdir) != 0 || out->n == start)
		rundir_put_part(out, start, session->session);
	if (session->kind == TS_SESSION_FILE || session->kind == TS_SESSION_REPORT)
		rundir_put_part(out, start, session->files[0].name);
	return terminated(out, start);
}
