/* SPDX-License-Identifier: MIT */
/* Files that are reports already. */
#include "serve/made.h"

#include "base/check.h"
#include "io/input.h"
#include "io/sys.h"
#include "io/tracefile.h"
#include "serve/reports.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING	    ".json"

static bool made_has_mark(int fd)
{
	struct ts_bytes head;
	uint8_t bytes[TS_REPORT_HEAD];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	n = ts_sys_pread(fd, bytes, sizeof(bytes), 0);
	head = (struct ts_bytes){ bytes, n > 0 ? (size_t)n : 0 };
	return ts_report_is_ours(head);
}

bool ts_made_is(const char *path)
{
	int fd = -1;
	bool is;

	TS_ASSERT(path);
	if (ts_bytes_ends(ts_bytes_of(path), ENDING))
		fd = ts_sys_open(path, O_RDONLY | O_NONBLOCK);
	is = fd >= 0 && made_has_mark(fd);
	if (fd >= 0)
		close(fd);
	return is;
}

static const char *made_keep(struct ts_runs *runs, struct ts_bytes text)
{
	return (const char *)ts_arena_copy(&runs->arena, text).p;
}

enum ts_status ts_made_add(struct ts_runs *runs, const char *path, struct ts_error *err)
{
	struct ts_bytes all = ts_bytes_of(path), name, dir;
	struct ts_hostfile *file = ts_arena_zalloc(&runs->arena, sizeof(*file));
	struct ts_session *session;
	size_t n = all.n;
	struct stat st;

	TS_ASSERT(runs && path);
	while (n > 0 && path[n - 1] != '/')
		n--;
	name = ts_bytes_cut(all, n, all.n);
	dir = n > 1 ? ts_bytes_cut(all, 0, n - 1) : ts_bytes_of(n == 1 ? "/" : ".");
	if (!file || !ts_grow(&runs->sessions, &runs->sessions_cap, runs->nr_sessions + 1,
			      sizeof(*runs->sessions)))
		return ts_fail_nomem(err);
	file->name = made_keep(runs, name);
	file->path = made_keep(runs, all);
	file->host = made_keep(runs, ts_bytes_cut(name, 0, name.n - (sizeof(ENDING) - 1)));
	file->nr_bytes = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
	session = &runs->sessions[runs->nr_sessions];
	*session = (struct ts_session){ .kind = TS_SESSION_REPORT,
					.dir = made_keep(runs, dir),
					.files = file,
					.nr_files = 1,
					.session = file->host };
	session->logdir = session->dir;
	session->run = ".";
	runs->nr_sessions += !runs->arena.failed;
	return runs->arena.failed ? ts_fail_nomem(err) : TS_OK;
}

static bool has_session(const struct ts_runs *runs, size_t nr, const char *dir)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(runs->sessions[i].dir, dir) == 0)
			return true;
	return false;
}

static enum ts_status add_of_folder(struct ts_runs *runs, const char *folder, struct ts_error *err)
{
	DIR *dir = ts_sys_opendir(folder);
	const struct dirent *entry;
	enum ts_status st = TS_OK;

	while (dir && st == TS_OK && (entry = readdir(dir)) != NULL) {
		const char *path;

		if (entry->d_name[0] == '.' || !ts_bytes_ends(ts_bytes_of(entry->d_name), ENDING))
			continue;
		path = (const char *)ts_arena_printf(&runs->arena, "%s/%s", folder, entry->d_name)
			       .p;
		st = path ? TS_OK : ts_fail_nomem(err);
		if (st == TS_OK && ts_made_is(path))
			st = ts_made_add(runs, path, err);
	}
	if (dir)
		closedir(dir);
	return st;
}

enum ts_status ts_made_find(struct ts_runs *runs, struct ts_error *err)
{
	size_t nr = runs->nr_sessions;
	enum ts_status st = TS_OK;

	TS_ASSERT(runs);
	for (size_t i = 0; i < runs->nr_folders && st == TS_OK; i++)
		if (!has_session(runs, nr, runs->folders[i]))
			st = add_of_folder(runs, runs->folders[i], err);
	return st;
}

enum ts_status ts_made_read(const struct ts_session *session, struct ts_buf *text,
			    struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open_plain(&input, session->files[0].path, err);

	TS_ASSERT(session && text && session->kind == TS_SESSION_REPORT);
	if (st == TS_OK && input.bytes.n > TS_REPORTS_BYTES)
		st = ts_fail(err, TS_LIMIT,
			     "%s: larger than the %zu MiB that are kept of reports (make it "
			     "without --all)",
			     session->files[0].path, TS_REPORTS_BYTES >> 20);
	if (st == TS_OK)
		ts_buf_put(text, input.bytes);
	if (st == TS_OK)
		st = text->failed ? ts_fail_nomem(err) : ts_input_check(&input, err);
	ts_input_release(&input);
	return st;
}
