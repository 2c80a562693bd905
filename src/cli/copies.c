/* SPDX-License-Identifier: MIT */
/* Paths of copies. */
#include "cli/copies.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "codec/json.h"
#include "io/file.h"
#include "io/runpath.h"
#include "io/tracefile.h"

const char *const ts_copy_forms[] = { "strict", "exact", NULL };

static bool is_session_dir(const char *path)
{
	size_t n;

	return ts_place_of(path, &n) == TS_PLACE_SESSION;
}

static void put_below(struct ts_buf *out, const char *name)
{
	if (out->n > 0 && out->p[out->n - 1] != '/')
		ts_buf_putc(out, '/');
	ts_buf_puts(out, name);
}

/* The name of a profile or trace, less what says which it is. */
static struct ts_bytes stem_of(struct ts_bytes file)
{
	struct ts_bytes stem = ts_tracefile_host(file);

	if (ts_bytes_ends(file, TS_XPLANE_SUFFIX))
		stem.n = file.n - strlen(TS_XPLANE_SUFFIX);
	else if (stem.n == file.n)
		stem.n = ts_bytes_find(file, ".json");
	return stem;
}

/* NAME.trimmed.ENDING */
static void cli_copies_put_beside(struct ts_buf *out, const char *dir,
				  const struct ts_copy_name *name)
{
	struct ts_bytes file = ts_bytes_of(name->file), stem = stem_of(file);

	ts_buf_puts(out, dir);
	put_below(out, "");
	ts_buf_put(out, stem);
	ts_buf_printf(out, ".%s", name->word);
	ts_buf_put(out, ts_bytes_cut(file, stem.n, file.n));
}

/* A name without an ending gets the input's: without one no program would take the copy for a profile. */
static void cli_copies_put_file(struct ts_buf *out, const struct ts_copy_name *name)
{
	struct ts_bytes file = ts_bytes_of(name->file);
	const char *slash = strrchr(name->output, '/');

	ts_buf_puts(out, name->output);
	if (!strchr(slash ? slash : name->output, '.'))
		ts_buf_put(out, ts_bytes_cut(file, stem_of(file).n, file.n));
}

static void put_default(struct ts_buf *out, const struct ts_session *session, const char *dir,
			const struct ts_copy_name *name)
{
	if (session->kind == TS_SESSION_FILE && !is_session_dir(dir)) {
		cli_copies_put_beside(out, dir, name);
		return;
	}
	ts_buf_printf(out, "%s.%s", dir, name->word);
	put_below(out, name->file);
}

/* Below OUT, which is a folder. */
static void put_laid_out(struct ts_buf *out, const char *dir, const struct ts_copy_name *name)
{
	bool session;

	ts_path_tidy(out, name->output);
	ts_buf_putc(out, '\0');
	if (out->failed)
		return;
	session = is_session_dir((const char *)out->p);
	out->n--;
	if (is_session_dir(dir) && (name->several || !session)) {
		if (strcmp(name->run, ".") != 0)
			put_below(out, name->run);
		put_below(out, "plugins/profile");
		put_below(out, name->session);
	} else if (name->several) {
		put_below(out, name->session);
	}
	put_below(out, name->file);
}

static bool is_file_name(const struct ts_session *session, const struct ts_copy_name *name)
{
	return session->kind != TS_SESSION_DIR && !name->several &&
	       !ts_bytes_ends(ts_bytes_of(name->output), "/") && !ts_dir_exists(name->output);
}

static enum ts_status cli_copies_put_path(struct ts_buf *out, const struct ts_session *session,
					  const struct ts_copy_name *name, struct ts_error *err)
{
	char *dir = realpath(session->dir, NULL); /* "." says nothing */

	if (!dir && !(dir = strdup(session->dir)))
		return ts_fail_nomem(err);
	if (!name->output)
		put_default(out, session, dir, name);
	else if (is_file_name(session, name))
		cli_copies_put_file(out, name);
	else
		put_laid_out(out, session->kind == TS_SESSION_DIR ? dir : ".", name);
	free(dir);
	ts_buf_putc(out, '\0');
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

static enum ts_status not_an_input(const struct ts_cli *cli, const char *path, struct ts_error *err)
{
	struct stat now;

	if (stat(path, &now) != 0 || !ts_sources_have(cli->sources, &now))
		return TS_OK;
	return ts_fail(err, TS_USAGE,
		       "%s: this command reads that file, or has just written it (name another "
		       "place with -o)",
		       path);
}

enum ts_status ts_copy_place_find(struct ts_copy_place *place, const struct ts_cli *cli,
				  const struct ts_session *session, const struct ts_copy_name *name,
				  const char *from, struct ts_error *err)
{
	struct stat now;
	enum ts_status st;

	TS_ASSERT(place && cli && session && name && from);
	TS_ASSERT(name->word && name->run && name->session && name->file);
	*place = (struct ts_copy_place)TS_COPY_PLACE_INIT;
	st = cli_copies_put_path(&place->text, session, name, err);
	if (st)
		return st;
	place->path = (const char *)place->text.p;
	place->use = (struct ts_newfile_use){
		.is_named = name->output && is_file_name(session, name),
		.sources = &place->source,
		.is_theirs = !name->output,
	};
	st = ts_sources_add(&place->source, from, err);
	if (st == TS_OK)
		st = not_an_input(cli, place->path, err);
	if (st)
		return st;
	/* a folder that hides what lies in it gets no copy that does not */
	return ts_dir_make_for(place->path,
			       stat(session->dir, &now) == 0 ? (now.st_mode | 0700) & 0777 : 0700,
			       &place->made_dirs, err);
}

void ts_copy_place_release(struct ts_copy_place *place)
{
	TS_ASSERT(place);
	if (place->path)
		ts_dir_unmake_for(place->path, place->made_dirs);
	ts_buf_release(&place->text);
	ts_sources_release(&place->source);
}

enum ts_status ts_copy_place_done(struct ts_copy_place *place, const struct ts_cli *cli,
				  struct ts_error *err)
{
	TS_ASSERT(place && cli);
	place->made_dirs = 0;
	return ts_note_input(cli, place->path, err);
}

bool ts_copied_print(const struct ts_copied *copied)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&out, TS_JSON_COMPACT);
	bool good;

	TS_ASSERT(copied);
	ts_json_object(&json);
	ts_json_put_text(&json, "path", copied->path);
	ts_json_put_count(&json, "bytes", copied->nr_bytes);
	ts_json_put_count(&json, "input_bytes", copied->nr_input_bytes);
	ts_json_put_count(&json, "events", copied->nr_events);
	ts_json_put_count(&json, "input_events", copied->nr_input_events);
	ts_json_object_end(&json);
	ts_buf_putc(&out, '\n');
	good = ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
	return good;
}

enum ts_status ts_copy_refuse_records(struct ts_bytes path, const char *done, struct ts_error *err)
{
	TS_ASSERT(path.p && done);
	return ts_fail(err, TS_UNSUPPORTED,
		       "%.*s: a profile in records is not %s (profile again with fewer steps, so "
		       "that the profiler writes *" TS_XPLANE_SUFFIX ")",
		       TS_ARG(path), done);
}
