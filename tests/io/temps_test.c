/* SPDX-License-Identifier: MIT */
/* Temporaries when a signal ends the program. */
#include "tmpdir.h"

#include "io/newfile.h"
#include "io/temps.h"

#include <pthread.h>

#define NR_WRITERS 4

static const int endings[] = { SIGINT, SIGTERM, SIGHUP };

/* Replaces a file of its own again and again. */
static void *write_for_ever(void *ctx)
{
	char name[16];

	snprintf(name, sizeof(name), "file%d", *(int *)ctx);
	for (;;)
		CHECK(ts_newfile_save(name, TS_LIT("content"), NULL) == TS_OK);
	return NULL;
}

/* A child whose threads write; NUMBER is ignored when it begins. */
static pid_t writers(int number)
{
	static int ids[NR_WRITERS] = { 0, 1, 2, 3 };
	pthread_t thread;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	for (size_t i = 0; i < TS_NELEM(endings); i++) /* a test in the background ignores some */
		signal(endings[i], endings[i] == number ? SIG_IGN : SIG_DFL);
	ts_temps_go_with_us();
	for (int i = 0; i < NR_WRITERS; i++)
		CHECK(pthread_create(&thread, NULL, write_for_ever, &ids[i]) == 0);
	for (;;)
		pause();
}

static bool is_there(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && st.st_size > 0;
}

static void wait_for_files(void)
{
	const struct timespec nap = { 0, 1000000 };

	while (!is_there("file0") || !is_there("file1") || !is_there("file2") || !is_there("file3"))
		nanosleep(&nap, NULL);
}

static void end_by(pid_t pid, int number)
{
	int status;

	assert_int_equal(kill(pid, number), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
}

TEST_IN_TMPDIR(no_temporary_outlives_a_signal)
{
	for (size_t turn = 0; turn < 30; turn++) {
		pid_t pid = writers(0);

		wait_for_files();
		end_by(pid, endings[turn % TS_NELEM(endings)]);
		assert_int_equal(count_names("."), NR_WRITERS);
		for (int i = 0; i < NR_WRITERS; i++) {
			char name[16];

			snprintf(name, sizeof(name), "file%d", i);
			assert_file(name, "content");
			assert_int_equal(unlink(name), 0);
		}
	}
}

TEST_IN_TMPDIR(a_signal_that_is_ignored_stays_so)
{
	pid_t pid = writers(SIGHUP);

	wait_for_files();
	assert_int_equal(kill(pid, SIGHUP), 0);
	assert_int_equal(unlink("file0"), 0);
	wait_for_files(); /* it still writes */
	end_by(pid, SIGTERM);
	assert_int_equal(count_names("."), NR_WRITERS);
}

TEST_IN_TMPDIR(more_than_the_table_holds_are_made_all_the_same)
{
	struct ts_newfile files[TS_TEMPS_MAX + 2];
	char name[16];

	for (size_t i = 0; i < TS_NELEM(files); i++) {
		snprintf(name, sizeof(name), "file%zu", i);
		assert_int_equal(ts_newfile_open(&files[i], name, NULL), TS_OK);
	}
	for (size_t i = 0; i < TS_NELEM(files); i++) {
		assert_int_equal(ts_newfile_put(&files[i], TS_LIT("x"), NULL), TS_OK);
		if (i % 2)
			assert_int_equal(ts_newfile_commit(&files[i], NULL), TS_OK);
		ts_newfile_release(&files[i]);
	}
	assert_int_equal(count_names("."), TS_NELEM(files) / 2);
}
