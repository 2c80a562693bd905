/* SPDX-License-Identifier: MIT */
/*
 * Names of temporaries are what gsutil, gcloud, curl, browsers and scripts put behind a name. The
 * temporaries of rsync and our own begin with a dot, and are passed over as all hidden files are.
 */
#include "live/session_files.h"

#include <dirent.h>

#include "base/check.h"
#include "base/map.h"
#include "run/annotate.h"
#include "io/sys.h"
#include "io/tracefile.h"
#include "live/whole.h"

static const char *const temporaries[] = { ".tmp",   ".temp",	".part",       ".partial",
					   ".gstmp", "_.gstmp", ".crdownload", ".filepart" };

/* Names that either the user's trace or ours has. */
static bool is_shared(struct ts_bytes name)
{
	return ts_tracefile_is_perfetto(name) || ts_bytes_is(name, TS_PFTRACE_FILE);
}

static bool is_input(struct ts_bytes name)
{
	return ts_xplanefile_is(name) || ts_bytes_ends(name, TS_MEMORY_SUFFIX) || is_shared(name);
}

static enum ts_session_file_role session_files_role_of(struct ts_bytes name)
{
	if (name.n == 0 || name.p[0] == '.')
		return TS_SESSION_FILE_NONE;
	if (is_input(name))
		return TS_SESSION_FILE_INPUT;
	if (ts_tracefile_is(name))
		return TS_SESSION_FILE_BESIDE;
	for (size_t i = 0; i < TS_NELEM(temporaries); i++) {
		struct ts_bytes rest = name;

		if (!ts_bytes_ends(name, temporaries[i]))
			continue;
		rest.n -= strlen(temporaries[i]);
		if (is_input(rest) || ts_tracefile_is(rest))
			return TS_SESSION_FILE_TEMPORARY;
	}
	return TS_SESSION_FILE_NONE;
}

static bool session_files_is_known(const struct ts_session_files *files, const char *path)
{
	for (size_t i = 0; i < files->nr; i++)
		if (strcmp(files->items[i].path, path) == 0)
			return true;
	return false;
}

/* PATH and NAME are not copied. A file that is not there is left out. */
static enum ts_status session_files_add(struct ts_session_files *files, const char *path,
					const char *name, enum ts_session_file_role role,
					struct ts_error *err)
{
	struct ts_session_file file = { .name = name, .path = path, .role = role };

	TS_ASSERT(path != NULL && name != NULL);
	TS_ASSERT(role != TS_SESSION_FILE_NONE);
	if (!ts_file_look(path, &file.look))
		return TS_OK;
	if (!ts_grow(&files->items, &files->cap, files->nr + 1, sizeof(file)))
		return ts_fail_nomem(err);
	files->items[files->nr++] = file;
	return TS_OK;
}

static enum ts_status session_files_add_files(struct ts_session_files *files,
					      const struct ts_session *session,
					      struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < session->nr_files && st == TS_OK; i++)
		st = session_files_add(files, session->files[i].path, session->files[i].name,
				       TS_SESSION_FILE_INPUT, err);
	for (size_t i = 0; i < session->nr_extras && st == TS_OK; i++)
		if (!ts_tracefile_is_torch_log(ts_bytes_of(session->extras[i].name)))
			st = session_files_add(files, session->extras[i].path,
					       session->extras[i].name, TS_SESSION_FILE_INPUT, err);
	return st;
}

/* Adds what stands beside the files of a session that has the folder to itself. */
static enum ts_status add_beside(struct ts_session_files *files, const char *folder,
				 struct ts_error *err)
{
	DIR *dir = ts_sys_opendir(folder);
	struct dirent *entry;
	enum ts_status st = TS_OK;

	while (dir && st == TS_OK && (entry = readdir(dir)) != NULL) {
		enum ts_session_file_role role = session_files_role_of(ts_bytes_of(entry->d_name));
		struct ts_bytes path;

		if (role == TS_SESSION_FILE_NONE)
			continue;
		path = strcmp(folder, ".") == 0
			       ? ts_arena_printf(&files->arena, "%s", entry->d_name)
			       : ts_arena_printf(&files->arena, "%s/%s", folder, entry->d_name);
		if (!path.p)
			st = ts_fail_nomem(err);
		else if (!session_files_is_known(files, (const char *)path.p))
			st = session_files_add(
				files, (const char *)path.p,
				(const char *)path.p + path.n - strlen(entry->d_name), role, err);
	}
	if (dir)
		closedir(dir);
	return st;
}

enum ts_status ts_session_files_read(struct ts_session_files *files,
				     const struct ts_session *session, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(files != NULL && session != NULL);
	*files = (struct ts_session_files)TS_SESSION_FILES_INIT;
	st = session_files_add_files(files, session, err);
	if (st == TS_OK && session->owns_folder && !session->members)
		st = add_beside(files, session->dir, err);
	for (size_t i = 0; i < session->nr_members && st == TS_OK; i++)
		if (session->members[i].owns_folder)
			st = add_beside(files, session->members[i].dir, err);
	return st;
}

void ts_session_files_release(struct ts_session_files *files)
{
	TS_ASSERT(files != NULL);
	free(files->items);
	ts_arena_release(&files->arena);
	*files = (struct ts_session_files)TS_SESSION_FILES_INIT;
}

/* The number of one file. They are added up, so the order in which a folder is read does not
 * matter. */
static uint64_t session_files_mix(const struct ts_session_file *file, int64_t ctime_ns)
{
	uint64_t numbers[] = { file->look.nr_bytes, file->look.inode, (uint64_t)file->look.mtime_ns,
			       (uint64_t)ctime_ns };

	return ts_hash((struct ts_bytes){ (const uint8_t *)numbers, sizeof(numbers) },
		       ts_hash(ts_bytes_of(file->path), file->role));
}

uint64_t ts_session_files_state(const struct ts_session_files *files)
{
	uint64_t state = 0;

	TS_ASSERT(files != NULL);
	for (size_t i = 0; i < files->nr; i++)
		state += session_files_mix(&files->items[i], files->items[i].look.ctime_ns);
	return state;
}

static bool is_among(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

uint64_t ts_session_files_inputs(const struct ts_session_files *files, const char *const *names,
				 size_t nr)
{
	uint64_t state = 0;

	TS_ASSERT(files != NULL);
	TS_ASSERT(names != NULL || nr == 0);
	for (size_t i = 0; i < files->nr; i++)
		if (files->items[i].role == TS_SESSION_FILE_INPUT &&
		    !is_among(files->items[i].name, names, nr))
			state += session_files_mix(&files->items[i], 0);
	return state;
}

enum ts_status ts_session_files_are_whole(const struct ts_session_files *files,
					  struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(files != NULL);
	for (size_t i = 0; i < files->nr && st == TS_OK; i++)
		if (files->items[i].role != TS_SESSION_FILE_TEMPORARY)
			st = ts_file_is_whole(files->items[i].path, err);
	return st;
}

bool ts_session_files_are_open(const struct ts_session_files *files, struct ts_error *story)
{
	TS_ASSERT(files != NULL);
	for (size_t i = 0; i < files->nr; i++) {
		const char *path = files->items[i].path;

		if (!ts_file_is_open_to_write(path))
			continue;
		ts_fail(story, TS_IO, "%s%s: a program has it open for writing",
			ts_path_tail(&path), path);
		return true;
	}
	return false;
}

bool ts_session_files_have_temporary(const struct ts_session_files *files, struct ts_error *story)
{
	TS_ASSERT(files != NULL);
	for (size_t i = 0; i < files->nr; i++) {
		const char *path = files->items[i].path;

		if (files->items[i].role != TS_SESSION_FILE_TEMPORARY)
			continue;
		ts_fail(story, TS_IO, "%s%s: a temporary name (remove it if no program writes it)",
			ts_path_tail(&path), path);
		return true;
	}
	return false;
}

/* When the report was written; INT64_MIN: there is none. Its names are those of overlay/apply.h. */
static enum ts_status report_time(const struct ts_session *session, int64_t *ns,
				  struct ts_error *err)
{
	struct ts_buf path = TS_BUF_INIT, name = TS_BUF_INIT;
	struct ts_bytes stem = ts_tracefile_stem(ts_bytes_of(session->files[0].name));
	struct ts_file_look look;
	const char *names[] = { TS_REPORT_FILE, NULL };
	bool is_there = false, failed;

	ts_buf_put(&name, stem);
	ts_buf_puts(&name, TS_ANNOTATED_REPORT_SUFFIX);
	ts_buf_putc(&name, '\0');
	names[1] = name.failed ? NULL : (const char *)name.p;
	failed = name.failed;
	for (size_t i = 0; i < TS_NELEM(names) && names[i] && !is_there; i++) {
		ts_buf_clear(&path);
		is_there = ts_session_path(session, names[i], &path) != NULL &&
			   ts_file_look((const char *)path.p, &look);
		failed |= path.failed;
	}
	*ns = is_there ? look.mtime_ns : INT64_MIN;
	ts_buf_release(&path);
	ts_buf_release(&name);
	return failed ? ts_fail_nomem(err) : TS_OK;
}

/* The one of sibling sessions whose report comes last; in a folder of the user's the first has the
 * only one. */
static const struct ts_session *last_written(const struct ts_session *session)
{
	if (!session->members)
		return session;
	return &session->members[session->owns_folder ? session->nr_members - 1 : 0];
}

enum ts_status ts_session_files_are_annotated(const struct ts_session_files *files,
					      const struct ts_session *session, bool *are,
					      struct ts_error *err)
{
	int64_t ns;
	enum ts_status st = report_time(last_written(session), &ns, err);

	TS_ASSERT(files != NULL && session != NULL && are != NULL);
	*are = st == TS_OK && ns != INT64_MIN;
	for (size_t i = 0; i < files->nr && *are; i++) {
		const struct ts_session_file *file = &files->items[i];

		*are = file->role != TS_SESSION_FILE_INPUT || is_shared(ts_bytes_of(file->name)) ||
		       file->look.mtime_ns <= ns;
	}
	return st;
}
