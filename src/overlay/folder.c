/* SPDX-License-Identifier: Apache-2.0 */
/* One look through a folder, for a strip of all that is in it. */
#include "overlay/folder.h"

#include "base/check.h"
#include "io/newfile.h"
#include "io/sys.h"
#include "io/tracefile.h"
#include "overlay/apply.h"
#include "overlay/cache.h"
#include "overlay/suggestions.h"

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

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool keep(struct ts_arena *arena, struct ts_names *names, size_t *cap, const char *name)
{
	const char *copy = (const char *)ts_arena_copy(arena, ts_bytes_of(name)).p;

	if (!copy || !ts_grow(&names->items, cap, names->nr + 1, sizeof(*names->items)))
		return false;
	names->items[names->nr++] = copy;
	return true;
}

/* The list is gathered on the heap, where it can grow, and moves to the arena. */
static bool settle(struct ts_arena *arena, struct ts_names *names)
{
	const char **kept = ts_arena_dup(arena, names->items, names->nr, sizeof(*kept));

	if (kept && names->nr > 0)
		qsort(kept, names->nr, sizeof(*kept), by_text);
	free(names->items);
	names->items = kept;
	return kept != NULL;
}

enum ts_status ts_overlay_names(struct ts_arena *arena, const char *dir, struct ts_names *names,
				struct ts_error *err)
{
	const struct dirent *entry;
	bool good = true;
	size_t cap = 0;
	int errnum;
	DIR *folder;

	TS_ASSERT(arena && dir && names);
	*names = (struct ts_names){ NULL, 0 };
	folder = ts_sys_opendir(dir);
	if (!folder)
		return ts_fail_errno(err, errno, dir, "read the folder");
	while (good && (errno = 0, entry = readdir(folder)) != NULL)
		if (ts_overlay_name_kind(entry->d_name) != TS_NAME_OTHER)
			good = keep(arena, names, &cap, entry->d_name);
	errnum = good ? errno : 0;
	closedir(folder);
	good &= settle(arena, names);
	if (good && errnum)
		return ts_fail_errno(err, errnum, dir, "read the folder to its end");
	return good ? TS_OK : ts_fail_nomem(err);
}

static bool add_profile(struct ts_arena *arena, struct ts_session *session,
			struct ts_hostfile *files, const char *name)
{
	struct ts_hostfile *file = &files[session->nr_files];
	struct ts_buf path = TS_BUF_INIT;
	struct stat now;
	bool good = ts_session_path(session, name, &path) && !path.failed;

	if (good)
		*file = (struct ts_hostfile){
			.name = name,
			.host = (const char *)ts_arena_copy(arena,
							    ts_xplanefile_host(ts_bytes_of(name)))
					.p,
			.path = (const char *)ts_arena_copy(arena, ts_buf_bytes(&path)).p,
		};
	ts_buf_release(&path);
	good = good && file->host && file->path;
	if (good && stat(file->path, &now) == 0 && S_ISREG(now.st_mode))
		session->nr_files++;
	return good;
}

enum ts_status ts_overlay_session_of(struct ts_arena *arena, const char *dir,
				     const struct ts_names *names, struct ts_session *session,
				     struct ts_error *err)
{
	struct ts_hostfile *files = ts_arena_array(arena, names->nr, sizeof(*files));
	bool good = files != NULL;

	TS_ASSERT(arena && dir && names && session);
	*session = (struct ts_session){ .kind = TS_SESSION_DIR,
					.dir = dir,
					.logdir = dir,
					.run = ".",
					.session = "",
					.owns_folder = true,
					.files = files };
	for (size_t i = 0; i < names->nr && good; i++)
		if (ts_overlay_name_kind(names->items[i]) == TS_NAME_PROFILE)
			good = add_profile(arena, session, files, names->items[i]);
	return good ? TS_OK : ts_fail_nomem(err);
}
