/* SPDX-License-Identifier: Apache-2.0 */
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

static struct ts_bytes key_of(const struct identity *identity)
{
	return (struct ts_bytes){ (const uint8_t *)identity, sizeof(*identity) };
}

static bool note(struct ts_sources *sources, const struct stat *st)
{
	struct identity identity = identity_of(st);
	struct ts_bytes key = ts_arena_copy(&sources->arena, key_of(&identity));

	return key.p && ts_strmap_set(&sources->files, key, 0);
}

static bool narrow(struct ts_sources *sources, const char *path, const struct stat *st)
{
	struct ts_rights rights = TS_RIGHTS_INIT;
	bool good;

	if (sources->files.nr == 0)
		return ts_rights_of(&sources->limit, path, st);
	good = ts_rights_of(&rights, path, st);
	if (good)
		ts_rights_narrow(&sources->limit, &rights);
	if (rights.uid != sources->limit.uid)
		sources->limit.uid = TS_NO_OWNER;
	ts_rights_release(&rights);
	return good;
}

bool ts_sources_add(struct ts_sources *sources, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	struct stat st;

	TS_ASSERT(sources && path);
	if ((standard ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 || !S_ISREG(st.st_mode) ||
	    ts_sources_have(sources, &st))
		return true;
	return narrow(sources, standard ? "/dev/stdin" : path, &st) && note(sources, &st);
}

bool ts_sources_have(const struct ts_sources *sources, const struct stat *st)
{
	struct identity identity = identity_of(st);

	TS_ASSERT(sources && st);
	return ts_strmap_find(&sources->files, key_of(&identity)) != TS_NONE;
}

void ts_sources_release(struct ts_sources *sources)
{
	TS_ASSERT(sources);
	ts_strmap_release(&sources->files);
	ts_arena_release(&sources->arena);
	ts_rights_release(&sources->limit);
	*sources = (struct ts_sources)TS_SOURCES_INIT;
}

bool ts_sources_add_session(struct ts_sources *sources, const struct ts_session *session)
{
	bool good = true;

	TS_ASSERT(sources && session);
	for (size_t i = 0; i < session->nr_files && good; i++)
		good = ts_sources_add(sources, session->files[i].path);
	for (size_t i = 0; i < session->nr_extras && good; i++)
		good = ts_sources_add(sources, session->extras[i].path);
	return good;
}
