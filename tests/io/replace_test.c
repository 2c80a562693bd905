/* SPDX-License-Identifier: MIT */
/* A new file takes the place of what was looked at, and of nothing else. */
#include "tests/test.h"

#include <fcntl.h>
#include <poll.h>

#include "../overlay/folder.h"
#include "io/newfile.h"

#define NR_ROUNDS 400

static void assert_holds(const struct folder *folder, const char *name, const char *text)
{
	struct ts_buf now = TS_BUF_INIT;

	get_file(folder, name, &now);
	assert_true(ts_bytes_is(ts_buf_bytes(&now), text));
	ts_buf_release(&now);
}

static size_t nr_files(const struct folder *folder)
{
	DIR *dir = opendir(folder->path);
	size_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

/* A new "name" with the text "ours", made while MEANWHILE happens. */
static enum ts_status write_over(const struct folder *folder, bool expects_old,
				 void (*meanwhile)(const struct folder *), struct ts_error *err)
{
	const char *path = in_folder(folder, "name");
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_file_look look;
	enum ts_status st;

	if (expects_old)
		assert_true(ts_file_look(path, &look));
	assert_int_equal(ts_newfile_open(&file, path, err), TS_OK);
	assert_int_equal(ts_newfile_put(&file, TS_LIT("ours"), err), TS_OK);
	if (meanwhile)
		meanwhile(folder);
	ts_newfile_expect(&file, expects_old ? &look : NULL);
	st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	return st;
}

static void grow(const struct folder *folder)
{
	put_text(folder, "name", "theirs, and longer");
}

static void replace(const struct folder *folder)
{
	put_text(folder, "new", "theirs");
	assert_int_equal(rename(in_folder(folder, "new"), in_folder(folder, "name")), 0);
}

static void take_away(const struct folder *folder)
{
	assert_int_equal(remove(in_folder(folder, "name")), 0);
}

TEST(what_was_looked_at_is_replaced)
{
	struct ts_error err = TS_ERROR_INIT;
	struct folder folder;

	(void)state;
	folder_make(&folder);
	assert_int_equal(write_over(&folder, false, NULL, &err), TS_OK);
	assert_holds(&folder, "name", "ours");
	put_text(&folder, "name", "old");
	assert_int_equal(write_over(&folder, true, NULL, &err), TS_OK);
	assert_holds(&folder, "name", "ours");
	assert_int_equal(nr_files(&folder), 1);
	folder_remove(&folder);
}

TEST(what_came_meanwhile_stays)
{
	static const struct {
		bool exists;
		void (*meanwhile)(const struct folder *);
		const char *stays;
	} rows[] = {
		{ true, grow, "theirs, and longer" },
		{ true, replace, "theirs" },
		{ true, take_away, NULL },
		{ false, replace, "theirs" },
	};

	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct folder folder;

		folder_make(&folder);
		if (rows[i].exists)
			put_text(&folder, "name", "old");
		assert_int_equal(write_over(&folder, rows[i].exists, rows[i].meanwhile, &err),
				 TS_IO);
		assert_non_null(strstr(err.text, "/name: "));
		assert_int_equal(nr_files(&folder), rows[i].stays ? 1 : 0);
		if (rows[i].stays)
			assert_holds(&folder, "name", rows[i].stays);
		folder_remove(&folder);
	}
}

static int held;

static void hold_open(const struct folder *folder)
{
	held = open(in_folder(folder, "name"), O_WRONLY | O_APPEND);
	assert_true(held >= 0);
}

TEST(a_file_that_a_program_still_writes_stays)
{
	struct ts_error err = TS_ERROR_INIT;
	struct folder folder;
	enum ts_status st;

	(void)state;
	folder_make(&folder);
	put_text(&folder, "name", "old");
	hold_open(&folder);
	if (!ts_file_is_open_to_write(in_folder(&folder, "name"))) {
		close(held);
		folder_remove(&folder);
		skip(); /* this file system does not say who writes */
	}
	close(held);
	st = write_over(&folder, true, hold_open, &err);
	assert_int_equal(write(held, " and new", 8), 8);
	close(held);
	assert_int_equal(st, TS_IO);
	assert_non_null(strstr(err.text, "open for writing"));
	assert_holds(&folder, "name", "old and new");
	folder_remove(&folder);
}

static bool begins_with(const struct folder *folder, const char *text)
{
	char now[64] = "";
	int fd = open(in_folder(folder, "name"), O_RDONLY);
	bool begins = fd >= 0 && read(fd, now, sizeof(now) - 1) > 0 &&
		      strncmp(now, text, strlen(text)) == 0;

	if (fd >= 0)
		close(fd);
	return begins;
}

/*
 * A job puts a new number there again and again. Ours is only ever made of what is there, so each
 * number stands at the front until the job puts the next; for a moment, between two renames, an
 * older one may be seen.
 */
static _Noreturn void run_job(const struct folder *folder, int pipe_end)
{
	time_t limit = time(NULL) + 100;
	char text[32], end;

	for (int i = 1; read(pipe_end, &end, 1) != 0; i++) {
		snprintf(text, sizeof(text), "theirs %d.", i);
		put_text(folder, "new", text);
		if (rename(in_folder(folder, "new"), in_folder(folder, "name")) != 0)
			_exit(1);
		while (!begins_with(folder, text))
			if (time(NULL) > limit)
				_exit(2);
		(void)poll(NULL, 0, i % 3); /* ours has its turn, too */
	}
	_exit(0);
}

/* What is there, and "ours" behind it. */
static enum ts_status add_ours(const struct folder *folder)
{
	const char *path = in_folder(folder, "name");
	struct ts_newfile file = TS_NEWFILE_INIT;
	int fd = open(path, O_RDONLY);
	struct ts_file_look look;
	enum ts_status st;

	assert_true(fd >= 0 && ts_fd_look(fd, &look));
	st = ts_newfile_open(&file, path, NULL);
	if (!st)
		st = ts_newfile_copy(&file, fd, 0, look.nr_bytes, NULL);
	if (!st)
		st = ts_newfile_put(&file, TS_LIT(" ours"), NULL);
	ts_newfile_expect(&file, &look);
	if (!st)
		st = ts_newfile_commit(&file, NULL);
	ts_newfile_release(&file);
	close(fd);
	return st;
}

TEST(a_job_that_replaces_the_file_all_the_time_loses_nothing)
{
	struct folder folder;
	int pipes[2], status;
	pid_t child;

	(void)state;
	folder_make(&folder);
	put_text(&folder, "name", "old");
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fcntl(pipes[0], F_SETFL, O_NONBLOCK), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(pipes[1]);
		run_job(&folder, pipes[0]);
	}
	close(pipes[0]);
	for (int i = 0; i < NR_ROUNDS; i++)
		(void)add_ours(&folder);
	close(pipes[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(add_ours(&folder), TS_OK);
	assert_int_equal(nr_files(&folder), 1); /* no temporary is left */
	folder_remove(&folder);
}
