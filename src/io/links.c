/* SPDX-License-Identifier: MIT */
/* One step a link, by readlink. */
#include "io/links.h"

#include "base/check.h"
#include "base/bytes.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX    40
#define TARGET_BYTES 4096

static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The path a link at PATH leads to, one step; NULL when out of memory. */
static char *beside(const char *path, const char *target)
{
	size_t n = target[0] == '/' ? 0 : folder_length(path);
	size_t m = strlen(target) + 1;
	char *joined = malloc(n + m);

	if (joined) {
		memcpy(joined, path, n);
		memcpy(joined + n, target, m);
	}
	return joined;
}

static enum ts_status io_links_refuse(const char *path, const char *link, struct ts_error *err)
{
	const char *dots = ts_path_tail(&path);

	return ts_fail(err, TS_IO,
		       "%s%s: %s is another user's symbolic link, in a folder where everybody may "
		       "write (name another file)",
		       dots, path, strcmp(path, link) == 0 ? "it" : link);
}

/* Whose link may be trusted: that of the folder's owner, or of the user. */
static enum ts_status check_trust(const char *path, const char *link, struct ts_error *err)
{
	size_t n = folder_length(link);
	char *folder = n > 0 ? strndup(link, n) : strdup(".");
	struct stat self, above;
	bool is_trusted;

	if (!folder)
		return ts_fail_nomem(err);
	is_trusted = lstat(link, &self) == 0 && stat(folder, &above) == 0 &&
		     (!(above.st_mode & S_ISVTX) || !(above.st_mode & S_IWOTH) ||
		      self.st_uid == geteuid() || self.st_uid == above.st_uid);
	free(folder);
	return is_trusted ? TS_OK : io_links_refuse(path, link, err);
}

enum ts_status ts_links_follow(char **out, const char *path, struct ts_error *err)
{
	char target[TARGET_BYTES];
	char *at = strdup(path);

	TS_ASSERT(out && path);
	for (int hops = 0; at && hops <= LINKS_MAX; hops++) {
		ssize_t n = readlink(at, target, sizeof(target) - 1);
		enum ts_status st;
		char *next;

		if (n < 0) { /* not a link; any other failure will show when it is opened */
			*out = at;
			return TS_OK;
		}
		st = check_trust(path, at, err);
		target[n] = '\0';
		next = st ? NULL : beside(at, target);
		free(at);
		if (st)
			return st;
		at = next;
	}
	if (!at)
		return ts_fail_nomem(err);
	free(at);
	return ts_fail_errno(err, ELOOP, path, "write it");
}

const char *ts_file_kind(uint32_t mode)
{
	static const struct {
		mode_t type;
		const char *words;
	} kinds[] = {
		{ S_IFDIR, "a folder" },      { S_IFLNK, "a symbolic link" },
		{ S_IFIFO, "a pipe (FIFO)" }, { S_IFSOCK, "a socket" },
		{ S_IFCHR, "a device" },      { S_IFBLK, "a block device" },
	};

	for (size_t i = 0; i < TS_NELEM(kinds); i++)
		if ((mode & S_IFMT) == kinds[i].type)
			return kinds[i].words;
	return "a plain file";
}
