/* SPDX-License-Identifier: MIT */
/* One look through a folder, for a strip of all that is in it. */
#include "overlay/folder.h"

#include "base/check.h"
#include "io/newfile.h"
#include "io/sys.h"
#include "io/tracefile.h"
#include "overlay/apply.h"
#include "overlay/cache.h"
#include "overlay/suggestions.h"
#include "base/order.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

static const struct {
	const char *suffix;
	enum ts_name_kind kind;
} suffixes[] = {
	{ TS_XPLANE_SUFFIX, TS_NAME_PROFILE },
	{ TS_RIEGELI_SUFFIX, TS_NAME_PROFILE },
	{ TS_ANNOTATED_SUFFIX, TS_NAME_COPY },
	{ TS_ANNOTATED_PFTRACE_SUFFIX, TS_NAME_COPY },
	{ TS_ANNOTATED_REPORT_SUFFIX, TS_NAME_REPORT },
	{ TS_ANNOTATED_SQL_SUFFIX, TS_NAME_SQL },
};

const char *const ts_overlay_shared_names[] = {
	TS_REPORT_FILE,		TS_TRACE_FILE,
	TS_TRACE_NATIVE_FILE,	TS_PFTRACE_FILE,
	TS_PFTRACE_NATIVE_FILE, TS_SUGGESTIONS_FILE,
	TS_CACHE_VERSION_FILE,	TS_SQL_FILE,
	TS_RANKS_FILE,		NULL,
};

enum ts_name_kind ts_overlay_name_kind(const char *name)
{
	struct ts_bytes bytes = ts_bytes_of(name);

	TS_ASSERT(name);
	for (size_t i = 0; ts_overlay_shared_names[i]; i++)
		if (ts_bytes_is(bytes, ts_overlay_shared_names[i]))
			return TS_NAME_SHARED;
	for (size_t i = 0; i < TS_NELEM(suffixes); i++)
		if (ts_bytes_ends(bytes, suffixes[i].suffix) && name[0] != '.')
			return suffixes[i].kind;
	return ts_newfile_is_temp(name) ? TS_NAME_TEMP : TS_NAME_OTHER;
}

static enum ts_status folder_keep(struct ts_arena *arena, struct ts_names *names, size_t *cap,
				  const char *name, struct ts_error *err)
{
	const char *copy = (const char *)ts_arena_copy(arena, ts_bytes_of(name)).p;

	if (!copy || !ts_grow(&names->items, cap, names->nr + 1, sizeof(*names->items)))
		return ts_fail_nomem(err);
	names->items[names->nr++] = copy;
	return TS_OK;
}

/* The list is gathered on the heap, where it can grow, and moves to the arena. */
static enum ts_status folder_settle(struct ts_arena *arena, struct ts_names *names,
				    struct ts_error *err)
{
	const char **kept = ts_arena_dup(arena, names->items, names->nr, sizeof(*kept));

	if (kept && names->nr > 0)
		qsort(kept, names->nr, sizeof(*kept), ts_text_order);
	free(names->items);
	names->items = kept;
	return kept ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_overlay_names(struct ts_arena *arena, const char *dir, struct ts_names *names,
				struct ts_error *err)
{
	const struct dirent *entry;
	enum ts_status st = TS_OK, settled;
	size_t cap = 0;
	int errnum;
	DIR *folder;

	TS_ASSERT(arena && dir && names);
	*names = (struct ts_names){ NULL, 0 };
	folder = ts_sys_opendir(dir);
	if (!folder)
		return ts_fail_errno(err, errno, dir, "read the folder");
	while (st == TS_OK && (errno = 0, entry = readdir(folder)) != NULL)
		if (ts_overlay_name_kind(entry->d_name) != TS_NAME_OTHER)
			st = folder_keep(arena, names, &cap, entry->d_name, err);
	errnum = st == TS_OK ? errno : 0;
	closedir(folder);
	settled = folder_settle(arena, names, err);
	if (st || settled)
		return st ? st : settled;
	return errnum ? ts_fail_errno(err, errnum, dir, "read the folder to its end") : TS_OK;
}

static enum ts_status add_profile(struct ts_arena *arena, struct ts_session *session,
				  struct ts_hostfile *files, const char *name, struct ts_error *err)
{
	struct ts_hostfile *file = &files[session->nr_files];
	struct ts_buf path = TS_BUF_INIT;
	struct stat now;
	enum ts_status st =
		ts_session_path(session, name, &path) && !path.failed ? TS_OK : ts_fail_nomem(err);

	if (st == TS_OK)
		*file = (struct ts_hostfile){
			.name = name,
			.host = (const char *)ts_arena_copy(arena,
							    ts_xplanefile_host(ts_bytes_of(name)))
					.p,
			.path = (const char *)ts_arena_copy(arena, ts_buf_bytes(&path)).p,
		};
	ts_buf_release(&path);
	if (st == TS_OK && (!file->host || !file->path))
		st = ts_fail_nomem(err);
	if (st == TS_OK && stat(file->path, &now) == 0 && S_ISREG(now.st_mode))
		session->nr_files++;
	return st;
}

enum ts_status ts_overlay_session_of(struct ts_arena *arena, const char *dir,
				     const struct ts_names *names, struct ts_session *session,
				     struct ts_error *err)
{
	struct ts_hostfile *files = ts_arena_array(arena, names->nr, sizeof(*files));
	enum ts_status st = files ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT(arena && dir && names && session);
	*session = (struct ts_session){ .kind = TS_SESSION_DIR,
					.dir = dir,
					.logdir = dir,
					.run = ".",
					.session = "",
					.owns_folder = true,
					.files = files };
	for (size_t i = 0; i < names->nr && st == TS_OK; i++)
		if (ts_overlay_name_kind(names->items[i]) == TS_NAME_PROFILE)
			st = add_profile(arena, session, files, names->items[i], err);
	return st;
}
