/* SPDX-License-Identifier: MIT */
/*
 * XProf's caches in a session's folder, kept in a state in which XProf shows what was written.
 *
 * XProf answers from its caches for as long as they are there, whatever became of the profile:
 * when a profile is replaced they have to go, and XProf makes them anew. They are never the user's.
 * And it throws all of them away, our suggestions with them, at the first request in a folder whose
 * cache_version.txt is missing or holds a version lower (as a string) than its own. So that file is
 * written when it is missing, and one that is there and not ours stays as it is.
 *
 * Our file is known by the bytes behind the version: white space that XProf strips before it
 * compares, and that neither XProf nor a text editor puts there.
 */
#ifndef TS_OVERLAY_CACHE_H
#define TS_OVERLAY_CACHE_H

#include "io/rundir.h"

#define TS_CACHE_VERSION_FILE "cache_version.txt"
#define TS_XPROF_VERSION      "2.24.2" /* taken where XProf is not installed */

/*
 * Is NAME (without folder) one that XProf gives to a cache of this session? Those of a host, of
 * ALL_HOSTS and of NO_HOST: .SSTABLE, .metadata.SSTABLE, .trie.SSTABLE, .op_stats_v2.pb,
 * .op_stats.pb (of older versions), .dcn_collective_stats.pb; and .cached_tools.json. No other
 * name: it may be a file of the user's. Not the suggestions and not HLO protos: both stay good.
 */
bool ts_cache_is(const struct ts_session *session, const char *name);

/* Removes the caches that are plain files, or with DRY_RUN only counts them; NR_REMOVED is added to. */
enum ts_status ts_cache_remove(const struct ts_session *session, bool dry_run, size_t *nr_removed,
			       struct ts_error *err);

/*
 * The version of the XProf that belongs to the first folder of PATH (as the environment has it)
 * that has one: xprof-*.dist-info or tensorboard_plugin_profile-*.dist-info in ../lib/python3*;
 * then of HOME/.local. It does not start a program. An argument may be NULL. False: it was not
 * found, and TS_XPROF_VERSION is written. Without a NUL.
 */
bool ts_cache_installed(const char *path, const char *home, struct ts_buf *version);

/* The content of our cache_version.txt. */
void ts_cache_version_make(struct ts_buf *out, struct ts_bytes version);
/* Is this content one that we wrote, for whatever version? */
bool ts_cache_version_ours(struct ts_bytes file);

#endif
