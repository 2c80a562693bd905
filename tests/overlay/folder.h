/* SPDX-License-Identifier: MIT */
/* A folder for a test: made, filled, compared, removed. */
#ifndef TESTS_OVERLAY_FOLDER_H
#define TESTS_OVERLAY_FOLDER_H

#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

struct folder {
	char path[256];
};

static inline const char *in_folder(const struct folder *folder, const char *name)
{
	static char paths[4][512];
	static int which;
	char *path = paths[which++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder->path, name);
	return path;
}

static inline void folder_make(struct folder *folder)
{
	const char *base = getenv("TMPDIR");

	snprintf(folder->path, sizeof(folder->path), "%s/tpusight-test-XXXXXX",
		 base ? base : "/tmp");
	assert_non_null(mkdtemp(folder->path));
}

static inline int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
	(void)st, (void)flag, (void)walk;
	return remove(path);
}

static inline void folder_remove(struct folder *folder)
{
	nftw(folder->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void put_file(const struct folder *folder, const char *name, struct ts_bytes content)
{
	FILE *f = fopen(in_folder(folder, name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(content.p ? content.p : (const uint8_t *)"", 1, content.n, f),
			 content.n);
	assert_int_equal(fclose(f), 0);
}

static inline void put_text(const struct folder *folder, const char *name, const char *text)
{
	put_file(folder, name, ts_bytes_of(text));
}

/* The caller releases OUT. */
static inline void get_file(const struct folder *folder, const char *name, struct ts_buf *out)
{
	FILE *f = fopen(in_folder(folder, name), "rb");
	uint8_t part[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		ts_buf_put(out, (struct ts_bytes){ part, n });
	fclose(f);
}

static inline bool has_file(const struct folder *folder, const char *name)
{
	struct stat st;

	return lstat(in_folder(folder, name), &st) == 0;
}

static inline void make_dirs(const struct folder *folder, const char *below)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder->path, below);
	for (char *at = path + strlen(folder->path) + 1;; at++) {
		char was = *at;

		if (was != '/' && was != '\0')
			continue;
		*at = '\0';
		mkdir(path, 0777);
		*at = was;
		if (was == '\0')
			break;
	}
}

/* A child does WORK over and over until it is killed after NS nanoseconds. */
static inline void kill_at(void (*work)(void *ctx), void *ctx, long ns)
{
	struct timespec wait = { 0, ns };
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	while (child == 0)
		work(ctx);
	nanosleep(&wait, NULL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
}

#endif
