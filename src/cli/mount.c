/* SPDX-License-Identifier: MIT */
/* URLs on the command line. */
#include "cli/mount.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/units.h"
#include "cli/confined.h"
#include "io/url.h"

#define KEEP_BYTES (UINT64_C(4) << 30) /* of sessions that a server was asked for last */

static enum ts_status mount_check(const struct ts_cli *cli, struct ts_error *err)
{
	for (size_t i = 0; i < cli->nr_places; i++)
		if (ts_url_is(cli->places[i].path))
			return ts_fail(err, TS_USAGE,
				       "%s: an option takes a file of this machine (give its path)",
				       cli->places[i].path);
	for (size_t i = 0; i < cli->nr_paths; i++)
		if (ts_url_is(cli->paths[i]) && (cli->needs & TS_WRITES_BESIDE) &&
		    !ts_names_output(cli))
			return ts_fail(err, TS_USAGE,
				       "%s: the copy is written on this machine (name its place "
				       "with -o)",
				       cli->paths[i]);
	return TS_OK;
}

/* As seen from the folder where the program was started, which may be gone. */
static enum ts_status make_absolute(struct ts_cli *cli, const char **path, struct ts_error *err)
{
	char folder[PATH_MAX];

	if ((*path)[0] == '/' || ts_url_is(*path) || strcmp(*path, "-") == 0)
		return TS_OK;
	if (!getcwd(folder, sizeof(folder)))
		return ts_fail(err, TS_IO, "the current folder is not known (go to another)");
	*path = (const char *)ts_arena_printf(&cli->arena, "%s/%s", folder, *path).p;
	return *path ? TS_OK : ts_fail_nomem(err);
}

/* The option's own member names the same place. */
static void replace_own(const struct ts_cli *cli, const char *from, const char *to)
{
	for (const struct ts_option *option = cli->entry->options; option && option->name;
	     option++) {
		void *place = (char *)cli->own + option->offset;
		const char **own = place;
		struct ts_texts *texts = place;

		if (option->place == TS_NO_PLACE)
			continue;
		if (option->kind == TS_OPTION_TEXT && *own == from)
			*own = to;
		for (size_t i = 0; option->kind == TS_OPTION_TEXTS && i < texts->nr; i++)
			if (texts->items[i] == from)
				texts->items[i] = to;
	}
}

static enum ts_status make_all_absolute(struct ts_cli *cli, struct ts_error *err)
{
	enum ts_status st;

	cli->folder = ".";
	st = make_absolute(cli, &cli->folder, err);
	for (size_t i = 0; i < cli->nr_paths && st == TS_OK; i++)
		st = make_absolute(cli, (const char **)&cli->paths[i], err);
	for (size_t i = 0; i < cli->nr_places && st == TS_OK; i++) {
		const char *from = cli->places[i].path;

		st = make_absolute(cli, &cli->places[i].path, err);
		if (st == TS_OK)
			replace_own(cli, from, cli->places[i].path);
	}
	return st;
}

void ts_own_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[n > 0 ? n : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

enum ts_status ts_mount(struct ts_cli *cli, struct ts_error *err)
{
	char **urls = calloc(cli->nr_paths + 1, sizeof(*urls));
	char beside[PATH_MAX];
	struct ts_remote_options options = { .beside = beside,
					     .nr_jobs = cli->nr_jobs,
					     .keep_bytes = cli->entry->goes_on ? KEEP_BYTES : 0 };
	enum ts_status st = urls ? mount_check(cli, err) : ts_fail_nomem(err);
	size_t nr = 0;

	for (size_t i = 0; urls && i < cli->nr_paths; i++)
		if (ts_url_is(cli->paths[i]))
			urls[nr++] = cli->paths[i];
	if (!st && nr > 0)
		st = make_all_absolute(cli, err);
	ts_own_folder(beside);
	/* A URL is the path of the object's file, as seen from there. */
	if (!st && nr > 0 && cli->held && chdir(cli->held) != 0)
		st = ts_fail_errno(err, errno, cli->held, "enter it");
	else if (!st && nr > 0 && !cli->held)
		st = ts_remote_open(&cli->remote, urls, nr, &options, err);
	free(urls);
	return st;
}

void ts_unmount(struct ts_cli *cli)
{
	TS_ASSERT(cli);
	ts_remote_close(cli->remote);
	cli->remote = NULL;
	ts_arena_release(&cli->arena);
}

enum ts_status ts_mount_look(const struct ts_cli *cli, const char *path, struct ts_error *err)
{
	struct ts_error problem = TS_ERROR_INIT;
	enum ts_status st = ts_remote_refresh(cli->remote, path, &problem, err);

	if (problem.text[0])
		ts_complain(problem.text);
	return st;
}

enum ts_status ts_mount_file(const struct ts_cli *cli, const char *path, struct ts_error *err)
{
	enum ts_status st = ts_mount_look(cli, path, err);

	if (st || !cli->remote || !ts_remote_has(cli->remote, path))
		return st;
	return ts_remote_hold(cli->remote, &path, 1, 0, NULL, err);
}

void ts_mount_cost(struct ts_buf *out, const struct ts_remote_push *push)
{
	char sent[TS_UNIT_MAX], all[TS_UNIT_MAX];

	TS_ASSERT(out && push);
	if (push->nr_changed == 0)
		return;
	ts_buf_printf(out, "sent %s for %zu changed object%s of %s",
		      ts_fmt_bytes(sent, (double)push->uploaded_bytes), push->nr_changed,
		      push->nr_changed == 1 ? "" : "s",
		      ts_fmt_bytes(all, (double)push->changed_bytes));
	if (push->how[0])
		ts_buf_printf(out, " (%s)", push->how);
	ts_buf_putc(out, '\n');
}
