/* SPDX-License-Identifier: MIT */
/* Scratch files: what was put is read and mapped, and nothing is left in the folder. */
#include "tmpdir.h"

#include "io/scratch.h"

#include <sys/resource.h>

static size_t nr_files(void)
{
	DIR *dir = opendir(".");
	size_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

/* TMPDIR is FOLDER while a scratch file is opened with a byte in it. */
static enum ts_status open_in(const char *folder, struct ts_scratch *scratch)
{
	const char *before = getenv("TMPDIR");
	char kept[512] = "";
	enum ts_status st;

	snprintf(kept, sizeof(kept), "%s", before ? before : "");
	setenv("TMPDIR", folder, 1);
	st = ts_scratch_put(scratch, TS_LIT("h"), NULL);
	if (before)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	return st;
}

TEST_IN_TMPDIR(what_was_put_is_read_and_mapped)
{
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	struct ts_bytes all;
	char piece[5] = "";

	assert_int_equal(open_in(tmp_root, &scratch), TS_OK);
	assert_int_equal(ts_scratch_put(&scratch, TS_LIT("ello "), NULL), TS_OK);
	assert_int_equal(ts_scratch_put(&scratch, TS_LIT("world"), NULL), TS_OK);
	assert_int_equal(nr_files(), 0);
	assert_int_equal(ts_scratch_read(&scratch, 3, piece, 5, NULL), TS_OK);
	assert_memory_equal(piece, "lo wo", 5);
	assert_int_equal(ts_scratch_read(&scratch, 9, piece, 5, NULL), TS_IO);
	assert_int_equal(ts_scratch_map(&scratch, &all, NULL), TS_OK);
	assert_true(ts_bytes_is(all, "hello world"));
	ts_scratch_release(&scratch);
	ts_scratch_release(&scratch);
}

TEST_IN_TMPDIR(an_empty_one_maps_to_nothing)
{
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	struct ts_bytes all;

	assert_int_equal(ts_scratch_map(&scratch, &all, NULL), TS_OK);
	assert_int_equal(all.n, 0);
	ts_scratch_release(&scratch);
}

TEST_IN_TMPDIR(without_a_folder_the_next_one_serves)
{
	struct ts_scratch scratch = TS_SCRATCH_INIT;

	assert_int_equal(open_in("/does/not/exist", &scratch), TS_OK);
	assert_int_equal(scratch.nr_bytes, 1);
	ts_scratch_release(&scratch);
}

TEST_IN_TMPDIR(a_full_disk_is_told)
{
	struct rlimit before, none;
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	st = ts_scratch_put(&scratch, TS_LIT("x"), &err);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(st, TS_IO);
	assert_non_null(strstr(err.text, "temporary file"));
	ts_scratch_release(&scratch);
}
