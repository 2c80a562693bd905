/* SPDX-License-Identifier: MIT */
/* The logs that TORCH_TRACE=FOLDER wrote: one a process. */
#include "io/file.h"

#include "base/check.h"
#include "base/limits.h"
#include "io/rundir.h"

#include "io/tracefile.h"
#include "base/order.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

struct finding {
	struct ts_arena *arena;
	const char *path;
	struct ts_hostfile *files;
	size_t nr, cap;
};

/* NAME NULL: the path itself. */
static enum ts_status torch_logs_add(struct finding *finding, const char *name,
				     struct ts_error *err)
{
	struct ts_bytes path = name ? ts_arena_printf(finding->arena, "%s/%s", finding->path, name)
				    : ts_arena_copy(finding->arena, ts_bytes_of(finding->path));
	struct ts_hostfile file = { .path = (const char *)path.p };

	if (!path.p || !ts_grow(&finding->files, &finding->cap, finding->nr + 1, sizeof(file)))
		return ts_fail_nomem(err);
	file.name = name ? file.path + strlen(finding->path) + 1 : file.path;
	file.host = file.name;
	finding->files[finding->nr++] = file;
	return TS_OK;
}

TS_ORDER(torch_logs_by_name, struct ts_hostfile, TS_UP(name))

static bool torch_logs_is_log(DIR *dir, const char *name)
{
	struct stat st;

	return ts_tracefile_is_torch_log(ts_bytes_of(name)) &&
	       fstatat(dirfd(dir), name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

static enum ts_status torch_logs_read_folder(struct finding *finding, DIR *dir,
					     struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct dirent *entry;

	while (st == TS_OK && finding->nr < TS_LIMIT_TORCH_LOGS && (entry = readdir(dir)) != NULL)
		if (torch_logs_is_log(dir, entry->d_name))
			st = torch_logs_add(finding, entry->d_name, err);
	if (finding->nr > 1)
		qsort(finding->files, finding->nr, sizeof(*finding->files), torch_logs_by_name);
	return st;
}

static enum ts_status torch_logs_find(struct finding *finding, struct ts_error *err)
{
	struct stat st;
	enum ts_status status;
	DIR *dir;

	if (stat(finding->path, &st) != 0)
		return ts_fail_errno(err, errno, finding->path, "look at it");
	if (!S_ISDIR(st.st_mode))
		return torch_logs_add(finding, NULL, err);
	dir = opendir(finding->path);
	if (!dir)
		return ts_fail_errno(err, errno, finding->path, "open the folder");
	status = torch_logs_read_folder(finding, dir, err);
	closedir(dir);
	if (status)
		return status;
	if (finding->nr == 0)
		return ts_fail(err, TS_NOTFOUND,
			       "%s: no dedicated_log_torch_trace_*.log in it (run with "
			       "TORCH_TRACE=%s)",
			       finding->path, finding->path);
	return TS_OK;
}

enum ts_status ts_torch_logs_find(struct ts_arena *arena, const char *path,
				  const struct ts_hostfile **files, size_t *nr,
				  struct ts_error *err)
{
	struct finding finding = { .arena = arena, .path = path };
	enum ts_status st = torch_logs_find(&finding, err);
	struct ts_hostfile *kept = st ? NULL : ts_arena_array(arena, finding.nr + 1, sizeof(*kept));

	TS_ASSERT(arena && path && files && nr);
	if (st == TS_OK && !kept)
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		memcpy(kept, finding.files, finding.nr * sizeof(*kept));
	*files = kept;
	*nr = st ? 0 : finding.nr;
	free(finding.files);
	return st;
}
