/* SPDX-License-Identifier: MIT */
/*
 * What XProf keeps beside a profile: read from openxla/xprof at a27d00aa and its history
 * (xprof/convert/repository.cc and .h for the names, plugin/xprof/profile_plugin.py for
 * .cached_tools.json and for cache_version.txt: read, strip, compare as strings).
 */
#include "overlay/cache.h"

#include "base/check.h"
#include "io/file.h"
#include "io/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define MARK	    "\n\t\n" /* behind the version in a cache_version.txt of ours */
#define VERSION_MAX 64

/* kHostDataSuffixes of repository.cc, at every version since there is one. The suggestions are not in
 * the list (overlay/suggestions.h), nor is .xplane.riegeli, which is a profile. */
static const char *const suffixes[] = {
	".SSTABLE",	   ".metadata.SSTABLE", ".trie.SSTABLE",
	".op_stats_v2.pb", ".op_stats.pb",	".dcn_collective_stats.pb",
};

/* kAllHostsIdentifier and kNoHostIdentifier of repository.h stand for a host. */
static const char *const shared_hosts[] = { "ALL_HOSTS", "NO_HOST" };

#define TOOLS_CACHE ".cached_tools.json" /* ToolsCache.CACHE_FILE_NAME of profile_plugin.py */

static bool is_host_cache(const char *name, const char *host)
{
	size_t n = strlen(host);

	if (strncmp(name, host, n) != 0)
		return false;
	for (size_t i = 0; i < TS_NELEM(suffixes); i++)
		if (strcmp(name + n, suffixes[i]) == 0)
			return true;
	return false;
}

bool ts_cache_is(const struct ts_session *session, const char *name)
{
	TS_ASSERT(session && name);
	if (strcmp(name, TOOLS_CACHE) == 0)
		return true;
	for (size_t i = 0; i < TS_NELEM(shared_hosts); i++)
		if (is_host_cache(name, shared_hosts[i]))
			return true;
	for (size_t i = 0; i < session->nr_files; i++)
		if (is_host_cache(name, session->files[i].host))
			return true;
	return false;
}

/* XProf makes plain files: a folder or a link of that name is the user's. */
static bool overlay_cache_is_plain(int dir_fd, const char *name)
{
	struct stat now;

	return fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(now.st_mode);
}

static enum ts_status overlay_cache_remove_one(const struct ts_session *session, const char *name,
					       struct ts_error *err)
{
	struct ts_buf path = TS_BUF_INIT;
	enum ts_status st = TS_NOMEM;

	if (ts_session_path(session, name, &path) && !path.failed)
		st = ts_file_remove((const char *)path.p, err);
	else
		ts_fail_nomem(err);
	ts_buf_release(&path);
	return st;
}

enum ts_status ts_cache_remove(const struct ts_session *session, bool dry_run, size_t *nr_removed,
			       struct ts_error *err)
{
	DIR *dir = ts_sys_opendir(session->dir);
	enum ts_status st = TS_OK;
	const struct dirent *entry;

	TS_ASSERT(session && nr_removed);
	if (!dir)
		return ts_fail_errno(err, errno, session->dir, "open the folder");
	while (!st && (errno = 0, entry = readdir(dir)) != NULL) {
		if (!ts_cache_is(session, entry->d_name) ||
		    !overlay_cache_is_plain(dirfd(dir), entry->d_name))
			continue;
		if (!dry_run)
			st = overlay_cache_remove_one(session, entry->d_name, err);
		*nr_removed += !st;
	}
	if (!st && errno)
		st = ts_fail_errno(err, errno, session->dir, "read the folder to its end");
	closedir(dir);
	return st;
}

/* The installed version. */

static const char *const package_prefixes[] = { "xprof-", "xprof_nightly-",
						"tensorboard_plugin_profile-" };

static bool is_version(struct ts_bytes text)
{
	if (text.n == 0 || text.n > VERSION_MAX || text.p[0] < '0' || text.p[0] > '9')
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (!((text.p[i] >= '0' && text.p[i] <= '9') ||
		      (text.p[i] >= 'a' && text.p[i] <= 'z') || text.p[i] == '.' ||
		      text.p[i] == '+'))
			return false;
	return true;
}

/* The version in NAME when it is PREFIX-VERSION.dist-info; empty when it is not. */
static struct ts_bytes version_in(const char *name, const char *prefix)
{
	struct ts_bytes all = ts_bytes_of(name);
	size_t front = strlen(prefix), back = sizeof(".dist-info") - 1;

	if (!ts_bytes_starts(all, prefix) || !ts_bytes_ends(all, ".dist-info") ||
	    all.n <= front + back)
		return (struct ts_bytes){ NULL, 0 };
	all = ts_bytes_cut(all, front, all.n - front - back);
	return is_version(all) ? all : (struct ts_bytes){ NULL, 0 };
}

/* The best package in a folder of packages: the first of the prefixes, the highest name. */
static bool packages_version(const char *packages, struct ts_buf *version)
{
	DIR *dir = ts_sys_opendir(packages);
	size_t best = TS_NELEM(package_prefixes);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		for (size_t i = 0; i < TS_NELEM(package_prefixes) && i <= best; i++) {
			struct ts_bytes found = version_in(entry->d_name, package_prefixes[i]);

			if (found.n == 0 ||
			    (i == best && ts_bytes_cmp(found, ts_buf_bytes(version)) < 0))
				continue;
			best = i;
			version->n = 0; /* what has failed stays so */
			ts_buf_put(version, found);
		}
	}
	if (dir)
		closedir(dir);
	return best < TS_NELEM(package_prefixes);
}

static bool folder_version(struct ts_buf *path, const char *child, struct ts_buf *version)
{
	static const char *const kinds[] = { "site-packages", "dist-packages" };
	size_t keep = path->n;
	bool found = false;

	for (size_t i = 0; i < TS_NELEM(kinds) && !found; i++) {
		path->n = keep;
		ts_buf_printf(path, "/%s/%s", child, kinds[i]);
		ts_buf_putc(path, '\0');
		found = !path->failed && packages_version((const char *)path->p, version);
	}
	path->n = keep;
	return found;
}

/* LIB is a lib folder; looks into each python3* of it. */
static bool lib_version(struct ts_buf *lib, struct ts_buf *version)
{
	size_t keep = lib->n;
	bool found = false;
	const struct dirent *entry;
	DIR *dir;

	ts_buf_putc(lib, '\0');
	dir = lib->failed ? NULL : ts_sys_opendir((const char *)lib->p);
	lib->n = keep;
	while (dir && !found && (entry = readdir(dir)) != NULL)
		if (ts_bytes_starts(ts_bytes_of(entry->d_name), "python3"))
			found = folder_version(lib, entry->d_name, version);
	if (dir)
		closedir(dir);
	return found;
}

static bool prefix_version(struct ts_bytes prefix, const char *below, struct ts_buf *version)
{
	static const char *const libs[] = { "lib", "lib64", "local/lib" };
	struct ts_buf path = TS_BUF_INIT;
	bool found = false;

	for (size_t i = 0; i < TS_NELEM(libs) && !found && prefix.n; i++) {
		ts_buf_clear(&path);
		ts_buf_put(&path, prefix);
		ts_buf_printf(&path, "%s/%s", below, libs[i]);
		found = lib_version(&path, version);
		version->failed |= path.failed;
	}
	ts_buf_release(&path);
	return found;
}

bool ts_cache_installed(const char *path, const char *home, struct ts_buf *version)
{
	struct ts_bytes rest = ts_bytes_of(path);

	TS_ASSERT(version);
	while (rest.n) {
		size_t n = ts_bytes_find(rest, ":");

		if (prefix_version(ts_bytes_cut(rest, 0, n), "/..", version))
			return true;
		rest = ts_bytes_cut(rest, n + 1, rest.n);
	}
	if (prefix_version(ts_bytes_of(home), "/.local", version))
		return true;
	version->n = 0;
	ts_buf_puts(version, TS_XPROF_VERSION);
	return false;
}

void ts_cache_version_make(struct ts_buf *out, struct ts_bytes version)
{
	TS_ASSERT(out);
	TS_ASSERT(version.p || version.n == 0);
	ts_buf_put(out, version);
	ts_buf_puts(out, MARK);
}

bool ts_cache_version_ours(struct ts_bytes file)
{
	TS_ASSERT(file.p || file.n == 0);
	return ts_bytes_ends(file, MARK) &&
	       is_version(ts_bytes_cut(file, 0, file.n - sizeof(MARK) + 1));
}
