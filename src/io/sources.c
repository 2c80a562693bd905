/* SPDX-License-Identifier: MIT */
/* Files are known by device and inode, as the system knows them. */
#include "io/sources.h"

#include "base/check.h"
#include "io/rundir.h"

#include <sys/stat.h>
#include <unistd.h>

struct identity {
	uint64_t dev, ino;
};

static struct identity identity_of(const struct stat *st)
{
	return (struct identity){ (uint64_t)st->st_dev, (uint64_t)st->st_ino };
}

static struct ts_bytes sources_key_of(const struct identity *identity)
{
	return (struct ts_bytes){ (const uint8_t *)identity, sizeof(*identity) };
}

static enum ts_status sources_note(struct ts_sources *sources, const struct stat *st,
				   struct ts_error *err)
{
	struct identity identity = identity_of(st);
	struct ts_bytes key = ts_arena_copy(&sources->arena, sources_key_of(&identity));

	if (!key.p || !ts_strmap_set(&sources->files, key, 0))
		return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status narrow(struct ts_sources *sources, const char *path, const struct stat *st,
			     struct ts_error *err)
{
	struct ts_rights rights = TS_RIGHTS_INIT;
	enum ts_status status;

	if (sources->files.nr == 0)
		return ts_rights_of(&sources->limit, path, st, err);
	status = ts_rights_of(&rights, path, st, err);
	if (status == TS_OK)
		ts_rights_narrow(&sources->limit, &rights);
	if (rights.uid != sources->limit.uid)
		sources->limit.uid = TS_NO_OWNER;
	ts_rights_release(&rights);
	return status;
}

enum ts_status ts_sources_add(struct ts_sources *sources, const char *path, struct ts_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	enum ts_status status;
	struct stat st;

	TS_ASSERT(sources && path);
	if ((standard ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 || !S_ISREG(st.st_mode) ||
	    ts_sources_have(sources, &st))
		return TS_OK;
	status = narrow(sources, standard ? "/dev/stdin" : path, &st, err);
	return status ? status : sources_note(sources, &st, err);
}

bool ts_sources_have(const struct ts_sources *sources, const struct stat *st)
{
	struct identity identity = identity_of(st);

	TS_ASSERT(sources && st);
	return ts_strmap_find(&sources->files, sources_key_of(&identity)) != TS_NONE;
}

void ts_sources_release(struct ts_sources *sources)
{
	TS_ASSERT(sources);
	ts_strmap_release(&sources->files);
	ts_arena_release(&sources->arena);
	ts_rights_release(&sources->limit);
	*sources = (struct ts_sources)TS_SOURCES_INIT;
}

enum ts_status ts_sources_add_session(struct ts_sources *sources, const struct ts_session *session,
				      struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(sources && session);
	for (size_t i = 0; i < session->nr_files && st == TS_OK; i++)
		st = ts_sources_add(sources, session->files[i].path, err);
	for (size_t i = 0; i < session->nr_extras && st == TS_OK; i++)
		st = ts_sources_add(sources, session->extras[i].path, err);
	return st;
}
