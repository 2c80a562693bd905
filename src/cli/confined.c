/* SPDX-License-Identifier: MIT */
/*
 * Which places a command opens. Links below a path are looked for before anything there is read: they
 * may lead out of it, and a run that they lead to is read as any other.
 */
#include "cli/confined.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/limits.h"
#include "io/file.h"
#include "io/sys.h"

#define OFF_SWITCH "TPUSIGHT_CONFINE" /* 0: nothing is given up */
#define MAX_ROOTS  1024		      /* with more, files are not confined */

/* What the paths lead to, by the names the system knows it by; none is below another one before it. */
struct roots {
	char **items;
	size_t nr, cap;
	bool is_whole; /* all are there */
};

static bool confined_is_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && (n <= 1 || path[n] == '/' || path[n] == '\0');
}

/* Takes REAL over; NULL is a path that leads nowhere. */
static void add_root(struct roots *roots, char *real)
{
	bool is_known = !real;

	for (size_t i = 0; i < roots->nr && !is_known; i++)
		is_known = confined_is_below(real, roots->items[i]);
	if (!is_known && roots->nr < MAX_ROOTS &&
	    ts_grow(&roots->items, &roots->cap, roots->nr + 1, sizeof(*roots->items))) {
		roots->items[roots->nr++] = real;
		return;
	}
	roots->is_whole &= is_known;
	free(real);
}

static bool is_link(int dir_fd, const struct dirent *entry, bool *is_folder)
{
	struct stat st = { .st_mode = entry->d_type == DT_LNK ? S_IFLNK : S_IFREG };

	if (entry->d_type == DT_DIR)
		st.st_mode = S_IFDIR;
	if (entry->d_type == DT_UNKNOWN)
		(void)fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW);
	*is_folder = S_ISDIR(st.st_mode);
	return S_ISLNK(st.st_mode);
}

static void add_links(struct roots *roots, struct ts_buf *path, unsigned depth);

static void confined_add_entry(struct roots *roots, struct ts_buf *path, int dir_fd,
			       const struct dirent *entry, unsigned depth)
{
	size_t keep = path->n;
	bool is_folder, leads_on = is_link(dir_fd, entry, &is_folder);

	if (entry->d_name[0] == '.' || (!leads_on && !is_folder))
		return;
	ts_buf_printf(path, "/%s", entry->d_name);
	ts_buf_putc(path, '\0');
	path->n = path->failed ? path->n : path->n - 1;
	roots->is_whole &= !path->failed;
	if (!path->failed && leads_on)
		add_root(roots, realpath((const char *)path->p, NULL));
	else if (!path->failed)
		add_links(roots, path, depth + 1);
	path->n = keep;
}

/* PATH has a NUL behind it. The search for runs goes as deep. */
static void add_links(struct roots *roots, struct ts_buf *path, unsigned depth)
{
	DIR *dir = depth > TS_LIMIT_FOLDER_DEPTH ? NULL : ts_sys_opendir((const char *)path->p);
	const struct dirent *entry;

	while (dir && roots->is_whole && (entry = readdir(dir)) != NULL)
		confined_add_entry(roots, path, dirfd(dir), entry, depth);
	if (dir)
		closedir(dir);
}

/* A link adds roots at the end, which are looked through in turn. */
static void find_roots(struct roots *roots, const struct ts_cli *cli)
{
	struct ts_buf path = TS_BUF_INIT;

	roots->is_whole = true;
	for (size_t i = 0; i < cli->nr_paths; i++)
		add_root(roots, realpath(cli->paths[i], NULL));
	for (size_t i = 0; i < roots->nr && roots->is_whole; i++) {
		ts_buf_clear(&path);
		ts_buf_puts(&path, roots->items[i]);
		ts_buf_putc(&path, '\0');
		roots->is_whole &= !path.failed;
		if (path.failed)
			break;
		path.n--;
		if (ts_dir_exists(roots->items[i]))
			add_links(roots, &path, 0);
	}
	ts_buf_release(&path);
}

/* The folder so many LEVELS above PATH, or the next above that is there. */
static void allow_above(struct ts_confine *confine, const char *path, unsigned levels,
			enum ts_access access)
{
	char *above = strdup(path), *slash = above;

	while (above && levels > 0 && (slash = strrchr(above, '/')) != NULL && slash > above) {
		*slash = '\0';
		levels -= ts_dir_exists(above);
	}
	ts_confine_allow(confine, !above || !slash ? "." : slash == above ? "/" : above, access);
	free(above);
}

/* A file is read together with what lies beside it. Beside a session, of which the file may be a part,
 * is the folder above that. */
static void allow_input(struct ts_confine *confine, const char *path)
{
	bool inside = confine->needs & TS_WRITES_INSIDE, beside = confine->needs & TS_WRITES_BESIDE;
	enum ts_access access = inside || beside ? TS_ACCESS_WRITE : TS_ACCESS_READ;
	unsigned levels = (ts_dir_exists(path) ? 0 : 1) + (beside ? 1 : 0);

	ts_confine_allow(confine, path, access);
	if (levels > 0)
		allow_above(confine, path, levels, access);
}

/* A new file is made beside the one it replaces, which links may lead to; a device or a pipe is
 * written as it is. */
static void allow_output(struct ts_confine *confine, const char *path)
{
	struct stat st;
	bool is_there = stat(path, &st) == 0;
	char *real = realpath(path, NULL);

	ts_confine_allow(confine, path, TS_ACCESS_WRITE);
	if (!is_there || S_ISREG(st.st_mode)) {
		allow_above(confine, path, 1, TS_ACCESS_WRITE);
		allow_above(confine, real ? real : path, 1, TS_ACCESS_WRITE);
	}
	free(real);
}

static void allow_places(struct ts_confine *confine, const struct ts_cli *cli)
{
	struct roots roots = { .items = NULL };

	find_roots(&roots, cli);
	if (!roots.is_whole)
		ts_confine_allow(confine, "/", TS_ACCESS_WRITE);
	for (size_t i = 0; i < cli->nr_paths; i++)
		allow_input(confine, cli->paths[i]);
	for (size_t i = 0; i < roots.nr; i++)
		allow_input(confine, roots.items[i]);
	for (size_t i = 0; i < cli->nr_places; i++) {
		if (cli->places[i].kind == TS_PLACE_WRITTEN)
			allow_output(confine, cli->places[i].path);
		else
			ts_confine_allow(confine, cli->places[i].path, TS_ACCESS_READ);
	}
	for (size_t i = 0; i < roots.nr; i++)
		free(roots.items[i]);
	free(roots.items);
}

/* Why nothing is given up; NULL: it can be. */
static const char *reason_not_to(const struct ts_cli *cli)
{
	const char *wish = getenv(OFF_SWITCH);

	if (wish && strcmp(wish, "0") == 0)
		return OFF_SWITCH "=0";
	if (cli->needs & TS_RUNS_PROGRAMS)
		return "the program that it runs would be confined as well";
	if (!ts_confine_is_possible())
		return "not on this system, or not with a sanitizer";
	return NULL;
}

static void say(const struct ts_confine *confine)
{
	bool connected = confine->needs & (TS_LISTENS | TS_CONNECTS);
	struct ts_error err = TS_ERROR_INIT;
	char files[64] = "not (the system has no Landlock)";

	if (confine->landlock)
		snprintf(files, sizeof(files), "by Landlock %d", confine->landlock);
	ts_fail(&err, TS_OK, "confined: files %s; system calls %s; network: %s; programs: none",
		files, confine->seccomp ? "by seccomp" : "not (the system has no seccomp)",
		connected ? "what it needs" : "none");
	ts_complain(err.text);
}

bool ts_names_output(const struct ts_cli *cli)
{
	for (size_t i = 0; i < cli->nr_places; i++)
		if (cli->places[i].kind == TS_PLACE_WRITTEN)
			return true;
	return false;
}

void ts_confine_command(const struct ts_cli *cli)
{
	const char *reason = reason_not_to(cli);
	struct ts_confine confine;
	struct ts_error err = TS_ERROR_INIT;

	TS_ASSERT(cli);
	if (reason) {
		ts_fail(&err, TS_OK, "not confined: %s", reason);
		if (cli->verbose)
			ts_complain(err.text);
		return;
	}
	ts_confine_init(&confine, ts_names_output(cli) ? cli->needs & ~(unsigned)TS_WRITES_BESIDE
						       : cli->needs);
	allow_places(&confine, cli);
	ts_confine_allow_system(&confine);
	ts_confine_enter(&confine);
	if (cli->verbose)
		say(&confine);
}
