/* SPDX-License-Identifier: MIT */
/*
 * For the tests of io/: real folders below TMPDIR, removed with all that is in them, and bodies run
 * in a child (as another user, under a limit), whose assertions come back as its exit status.
 */
#ifndef TS_TESTS_IO_TMPDIR_H
#define TS_TESTS_IO_TMPDIR_H

#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

#define SKIPPED 77
#define NOBODY	65534

static char tmp_root[256]; /* the folder of the test that runs: the current one, too */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static inline int make_tmpdir(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	snprintf(tmp_root, sizeof(tmp_root), "%s/tpusight-io-XXXXXX", base ? base : "/tmp");
	return mkdtemp(tmp_root) && chdir(tmp_root) == 0 ? 0 : -1;
}

static inline int drop_tmpdir(void **state)
{
	(void)state;
	if (chdir("/") != 0)
		return -1;
	return nftw(tmp_root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define TEST_IN_TMPDIR(name) TEST_WITH(name, make_tmpdir, drop_tmpdir)

static inline void make_dirs(const char *path)
{
	char part[512];

	for (size_t n = 1; n <= strlen(path); n++) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		assert_true(mkdir(part, 0777) == 0 || errno == EEXIST);
	}
}

/* Makes the folders above as well. */
static inline void make_file(const char *path, struct ts_bytes bytes)
{
	const char *slash = strrchr(path, '/');
	char dir[512];
	FILE *f;

	if (slash && slash != path) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
		make_dirs(dir);
	}
	f = fopen(path, "wb");
	assert_non_null(f);
	if (bytes.n)
		assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
	assert_int_equal(fclose(f), 0);
}

static inline struct ts_buf read_file(const char *path)
{
	struct ts_buf buf = TS_BUF_INIT;
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	do {
		assert_true(ts_buf_room(&buf, 65536));
		n = fread(buf.p + buf.n, 1, 65536, f);
		buf.n += n;
	} while (n > 0);
	fclose(f);
	return buf;
}

static inline void assert_file(const char *path, const char *expected)
{
	struct ts_buf buf = read_file(path);

	assert_int_equal(buf.n, strlen(expected));
	assert_memory_equal(buf.p, expected, buf.n);
	ts_buf_release(&buf);
}

/* Names in a folder, without "." and "..". */
static inline size_t count_names(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	size_t nr = 0;

	assert_non_null(d);
	while ((entry = readdir(d)) != NULL)
		nr += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(d);
	return nr;
}

static inline void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" lacks \"%s\"", text, part);
}

/* In a child no cmocka assertion works: this ends it, and says where. */
#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

static inline void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* BODY runs in a child without the rights of root (the folder of the test is given to it). */
static inline void run_unprivileged(void (*body)(void))
{
	pid_t pid;

	if (geteuid() == 0)
		assert_int_equal(chown(tmp_root, NOBODY, NOBODY), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
			_exit(SKIPPED);
		if (access(tmp_root, W_OK | X_OK) != 0) {
			fprintf(stderr,
				"skipped: TMPDIR cannot be reached without root's rights\n");
			_exit(SKIPPED);
		}
		body();
		_exit(0);
	}
	wait_for(pid);
}

static inline void run_in_child(void (*body)(void))
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		body();
		_exit(0);
	}
	wait_for(pid);
}

#endif
