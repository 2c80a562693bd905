/* SPDX-License-Identifier: MIT */
/*
 * Names of sessions are times, YYYY_MM_DD_HH_MM_SS (JAX, TensorBoard) or with dashes; XProf's own
 * captures end so behind a prefix. A session whose name is not a time stays by itself.
 */
#include "io/siblings.h"

#include "base/check.h"
#include "io/tracefile.h"

#define NR_PARTS 6 /* year, month, day, hour, minute, second */

/* Days since 1970-03-01 of the proleptic Gregorian calendar, months counted from March. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month > 2 ? year : year - 1, m = (month + 9) % 12;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
}

static int64_t seconds_of(const int64_t part[NR_PARTS])
{
	return ((days_of(part[0], part[1], part[2]) * 24 + part[3]) * 60 + part[4]) * 60 + part[5];
}

/* The last six numbers of the name, when they have the digits of a time; else -1. */
static int64_t siblings_time_of(const char *name)
{
	static const size_t widths[NR_PARTS] = { 4, 2, 2, 2, 2, 2 };
	int64_t part[NR_PARTS];
	size_t at = strlen(name);

	for (size_t i = NR_PARTS; i-- > 0;) {
		int64_t value = 0, scale = 1;

		for (size_t n = 0; n < widths[i]; n++, scale *= 10) {
			if (at == 0 || name[at - 1] < '0' || name[at - 1] > '9')
				return -1;
			value += (name[--at] - '0') * scale;
		}
		part[i] = value;
		if (i > 0 && (at == 0 || (name[at - 1] != '_' && name[at - 1] != '-')))
			return -1;
		at -= i > 0;
	}
	return part[1] >= 1 && part[1] <= 12 ? seconds_of(part) : -1;
}

static bool share_a_host(const struct ts_session *a, const struct ts_session *b)
{
	for (size_t i = 0; i < a->nr_files; i++)
		for (size_t k = 0; k < b->nr_files; k++)
			if (strcmp(a->files[i].host, b->files[k].host) == 0)
				return true;
	return false;
}

/* Traces of one folder, each named by the user: the ranks of a job. */
static bool are_ranks(const struct ts_session *a, const struct ts_session *b)
{
	return a->kind == TS_SESSION_FILE && b->kind == TS_SESSION_FILE &&
	       strcmp(a->dir, b->dir) == 0 &&
	       ts_tracefile_is_named(ts_bytes_of(a->files[0].name)) &&
	       ts_tracefile_is_named(ts_bytes_of(b->files[0].name));
}

static bool begun_together(const struct ts_session *group, const struct ts_session *next)
{
	int64_t first_s = siblings_time_of(group->session),
		next_s = siblings_time_of(next->session);

	return group->kind == TS_SESSION_DIR && next->kind == TS_SESSION_DIR &&
	       strcmp(group->logdir, next->logdir) == 0 && strcmp(group->run, next->run) == 0 &&
	       first_s >= 0 && next_s >= first_s && next_s - first_s <= TS_SIBLING_S;
}

static bool belongs(const struct ts_session *group, size_t nr, const struct ts_session *next)
{
	if (!begun_together(group, next) && !are_ranks(group, next))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (share_a_host(&group[i], next))
			return false;
	return true;
}

/* Their memory profiles, one after the other. */
static enum ts_status join_extras(struct ts_arena *arena, struct ts_session *joined,
				  struct ts_error *err)
{
	struct ts_hostfile *extras;
	size_t nr = 0;

	for (size_t i = 0; i < joined->nr_members; i++)
		nr += joined->members[i].nr_extras;
	extras = ts_arena_array(arena, nr, sizeof(*extras));
	if (!extras)
		return ts_fail_nomem(err);
	joined->extras = extras;
	joined->nr_extras = 0;
	for (size_t i = 0; i < joined->nr_members; i++)
		for (size_t k = 0; k < joined->members[i].nr_extras; k++)
			extras[joined->nr_extras++] = joined->members[i].extras[k];
	return TS_OK;
}

/* One session of NR; its files and members are kept in the arena. */
static enum ts_status siblings_join(struct ts_arena *arena, const struct ts_session *group,
				    size_t nr, struct ts_session *joined, struct ts_error *err)
{
	struct ts_session *members = ts_arena_array(arena, nr, sizeof(*members));
	struct ts_hostfile *files;
	size_t nr_files = 0;

	for (size_t i = 0; i < nr; i++)
		nr_files += group[i].nr_files;
	files = ts_arena_array(arena, nr_files, sizeof(*files));
	if (!members || !files)
		return ts_fail_nomem(err);
	memcpy(members, group, nr * sizeof(*members));
	*joined = members[0];
	joined->files = files;
	joined->nr_files = 0;
	for (size_t i = 0; i < nr; i++) {
		memcpy(&files[joined->nr_files], members[i].files,
		       members[i].nr_files * sizeof(*files));
		joined->nr_files += members[i].nr_files;
	}
	joined->members = members;
	joined->nr_members = nr;
	return join_extras(arena, joined, err);
}

enum ts_status ts_runs_join(struct ts_runs *runs, struct ts_error *err)
{
	size_t nr_kept = 0;

	TS_ASSERT(runs);
	for (size_t i = 0, nr; i < runs->nr_sessions; i += nr) {
		struct ts_session joined = runs->sessions[i];
		enum ts_status st = TS_OK;

		nr = 1;
		while (i + nr < runs->nr_sessions &&
		       belongs(&runs->sessions[i], nr, &runs->sessions[i + nr]))
			nr++;
		if (nr > 1)
			st = siblings_join(&runs->arena, &runs->sessions[i], nr, &joined, err);
		if (st)
			return st;
		runs->sessions[nr_kept++] = joined;
	}
	runs->nr_sessions = nr_kept;
	return TS_OK;
}
