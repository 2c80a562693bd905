/*
 * Names of temporaries: what gsutil, gcloud, curl, browsers and people's scripts put behind the
 * name. Those of rsync and our own begin with a dot, and are passed over as all hidden files are.
 */
#include "live/parts.h"

#include <dirent.h>

#include "base/map.h"
#include "flow/annotate.h"
#include "io/tracefile.h"
#include "live/whole.h"

static const char *const temporaries[] = { ".tmp",   ".temp",	".part",       ".partial",
					   ".gstmp", "_.gstmp", ".crdownload", ".filepart" };

/* Names that the user's trace and ours take turns in. */
static bool is_shared(struct ts_bytes name)
{
	return ts_tracefile_is_perfetto(name) || ts_bytes_is(name, TS_PFTRACE_FILE);
}

static bool is_input(struct ts_bytes name)
{
	return ts_bytes_ends(name, TS_XPLANE_SUFFIX) || ts_bytes_ends(name, TS_MEMORY_SUFFIX) ||
	       is_shared(name);
}

static enum ts_part_role role_of(struct ts_bytes name)
{
	if (name.n == 0 || name.p[0] == '.')
		return TS_PART_NONE;
	if (is_input(name))
		return TS_PART_INPUT;
	if (ts_tracefile_is(name))
		return TS_PART_BESIDE;
	for (size_t i = 0; i < TS_NELEM(temporaries); i++) {
		struct ts_bytes rest = name;

		if (!ts_bytes_ends(name, temporaries[i]))
			continue;
		rest.n -= strlen(temporaries[i]);
		if (is_input(rest) || ts_tracefile_is(rest))
			return TS_PART_TEMPORARY;
	}
	return TS_PART_NONE;
}

static bool is_known(const struct ts_parts *parts, const char *path)
{
	for (size_t i = 0; i < parts->nr; i++)
		if (strcmp(parts->items[i].path, path) == 0)
			return true;
	return false;
}

/* PATH and NAME are kept. One that is not there is no part. */
static void add(struct ts_parts *parts, const char *path, const char *name, enum ts_part_role role)
{
	struct ts_part part = { .name = name, .path = path, .role = role };

	if (!ts_file_look(path, &part.look))
		return;
	if (ts_grow(&parts->items, &parts->cap, parts->nr + 1, sizeof(part)))
		parts->items[parts->nr++] = part;
	else
		parts->failed = true;
}

static void add_files(struct ts_parts *parts, const struct ts_session *session)
{
	for (size_t i = 0; i < session->nr_files; i++)
		add(parts, session->files[i].path, session->files[i].name, TS_PART_INPUT);
	for (size_t i = 0; i < session->nr_extras; i++)
		if (!ts_tracefile_is_torch_log(ts_bytes_of(session->extras[i].name)))
			add(parts, session->extras[i].path, session->extras[i].name, TS_PART_INPUT);
}

/* What stands beside the files of a session that has the folder to itself. */
static void add_beside(struct ts_parts *parts, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && !parts->failed && (entry = readdir(dir)) != NULL) {
		enum ts_part_role role = role_of(ts_bytes_of(entry->d_name));
		struct ts_bytes path;

		if (role == TS_PART_NONE)
			continue;
		path = strcmp(folder, ".") == 0
			       ? ts_arena_printf(&parts->arena, "%s", entry->d_name)
			       : ts_arena_printf(&parts->arena, "%s/%s", folder, entry->d_name);
		parts->failed |= !path.p;
		if (path.p && !is_known(parts, (const char *)path.p))
			add(parts, (const char *)path.p,
			    (const char *)path.p + path.n - strlen(entry->d_name), role);
	}
	if (dir)
		closedir(dir);
}

bool ts_parts_read(struct ts_parts *parts, const struct ts_session *session)
{
	*parts = (struct ts_parts)TS_PARTS_INIT;
	add_files(parts, session);
	if (session->owns_folder && !session->members)
		add_beside(parts, session->dir);
	for (size_t i = 0; i < session->nr_members; i++)
		if (session->members[i].owns_folder)
			add_beside(parts, session->members[i].dir);
	return !parts->failed;
}

void ts_parts_release(struct ts_parts *parts)
{
	free(parts->items);
	ts_arena_release(&parts->arena);
	*parts = (struct ts_parts)TS_PARTS_INIT;
}

/* Of one file; sums do not depend on the order in which a folder is read. */
static uint64_t mix(const struct ts_part *part, int64_t ctime_ns)
{
	uint64_t numbers[] = { part->look.nr_bytes, part->look.inode, (uint64_t)part->look.mtime_ns,
			       (uint64_t)ctime_ns };

	return ts_hash((struct ts_bytes){ (const uint8_t *)numbers, sizeof(numbers) },
		       ts_hash(ts_bytes_of(part->path), part->role));
}

uint64_t ts_parts_state(const struct ts_parts *parts)
{
	uint64_t state = 0;

	for (size_t i = 0; i < parts->nr; i++)
		state += mix(&parts->items[i], parts->items[i].look.ctime_ns);
	return state;
}

static bool is_among(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

uint64_t ts_parts_inputs(const struct ts_parts *parts, const char *const *names, size_t nr)
{
	uint64_t state = 0;

	for (size_t i = 0; i < parts->nr; i++)
		if (parts->items[i].role == TS_PART_INPUT &&
		    !is_among(parts->items[i].name, names, nr))
			state += mix(&parts->items[i], 0);
	return state;
}

enum ts_status ts_parts_are_whole(const struct ts_parts *parts, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < parts->nr && st == TS_OK; i++)
		if (parts->items[i].role != TS_PART_TEMPORARY)
			st = ts_file_is_whole(parts->items[i].path, err);
	return st;
}

bool ts_parts_are_open(const struct ts_parts *parts, struct ts_error *story)
{
	for (size_t i = 0; i < parts->nr; i++) {
		const char *path = parts->items[i].path;

		if (!ts_file_is_open_to_write(path))
			continue;
		ts_fail(story, TS_IO, "%s%s: a program has it open for writing",
			ts_path_tail(&path), path);
		return true;
	}
	return false;
}

bool ts_parts_have_temporary(const struct ts_parts *parts, struct ts_error *story)
{
	for (size_t i = 0; i < parts->nr; i++) {
		const char *path = parts->items[i].path;

		if (parts->items[i].role != TS_PART_TEMPORARY)
			continue;
		ts_fail(story, TS_IO, "%s%s: a temporary name (remove it if nobody writes it)",
			ts_path_tail(&path), path);
		return true;
	}
	return false;
}

/* The report's names: overlay/apply.h. */
static bool report_time(struct ts_parts *parts, const struct ts_session *session, int64_t *ns)
{
	struct ts_buf path = TS_BUF_INIT, name = TS_BUF_INIT;
	struct ts_bytes stem = ts_tracefile_stem(ts_bytes_of(session->files[0].name));
	struct ts_file_look look;
	const char *names[] = { TS_REPORT_FILE, NULL };
	bool is_there = false;

	ts_buf_put(&name, stem);
	ts_buf_puts(&name, TS_ANNOTATED_REPORT_SUFFIX);
	ts_buf_putc(&name, '\0');
	names[1] = name.failed ? NULL : (const char *)name.p;
	for (size_t i = 0; i < TS_NELEM(names) && names[i] && !is_there; i++) {
		ts_buf_clear(&path);
		is_there = ts_session_path(session, names[i], &path) != NULL &&
			   ts_file_look((const char *)path.p, &look);
		parts->failed |= path.failed;
	}
	if (is_there)
		*ns = look.mtime_ns;
	parts->failed |= name.failed;
	ts_buf_release(&path);
	ts_buf_release(&name);
	return is_there;
}

bool ts_parts_are_annotated(struct ts_parts *parts, const struct ts_session *session)
{
	int64_t ns;

	if (!report_time(parts, session->members ? &session->members[0] : session, &ns))
		return false;
	for (size_t i = 0; i < parts->nr; i++) {
		const struct ts_part *part = &parts->items[i];

		if (part->role == TS_PART_INPUT && !is_shared(ts_bytes_of(part->name)) &&
		    part->look.mtime_ns > ns)
			return false;
	}
	return true;
}
