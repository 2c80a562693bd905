/* SPDX-License-Identifier: MIT */
/* Names of files: removed, renamed, doubled, compared; and the lock on a session. */
#include "tmpdir.h"

#include "io/file.h"

TEST_IN_TMPDIR(removing_what_is_gone_is_fine)
{
	struct ts_error err = TS_ERROR_INIT;

	make_file("dir/a", TS_LIT("x"));
	assert_int_equal(ts_file_remove("dir/a", NULL), TS_OK);
	assert_int_equal(ts_file_remove("dir/a", NULL), TS_OK);
	assert_int_equal(count_names("dir"), 0);
	assert_int_equal(ts_file_remove("dir", &err), TS_IO);
	assert_has(err.text, "dir: cannot remove it: ");
}

TEST_IN_TMPDIR(a_file_is_renamed_over_another)
{
	make_file("a", TS_LIT("new"));
	make_file("dir/b", TS_LIT("old"));
	assert_int_equal(ts_file_rename("a", "dir/b", NULL), TS_OK);
	assert_false(ts_file_exists("a"));
	assert_file("dir/b", "new");
	assert_int_equal(ts_file_rename("a", "c", NULL), TS_NOTFOUND);
}

TEST_IN_TMPDIR(a_second_name_is_a_hard_link)
{
	struct ts_error err = TS_ERROR_INIT;
	struct stat a, b;

	make_file("a", TS_LIT("content"));
	assert_int_equal(ts_file_link_or_copy("a", "b", NULL), TS_OK);
	assert_int_equal(stat("a", &a), 0);
	assert_int_equal(stat("b", &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_equal(ts_file_link_or_copy("a", "b", &err), TS_IO);
	assert_has(err.text, "b: cannot give it a second name: ");
	assert_int_equal(ts_file_link_or_copy("none", "c", &err), TS_NOTFOUND);
}

TEST_IN_TMPDIR(the_second_name_of_a_link_is_that_of_its_content)
{
	struct stat st;

	make_file("real", TS_LIT("content"));
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(ts_file_link_or_copy("link", "b", NULL), TS_OK);
	assert_int_equal(lstat("b", &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

/* Another file system is where hard links end; most machines have one in memory. */
TEST_IN_TMPDIR(where_no_link_is_possible_there_is_a_copy)
{
	char far[64] = "/dev/shm/tpusight-io-XXXXXX";
	struct stat here, there;
	bool same;
	int fd = mkstemp(far);

	if (fd < 0)
		skip();
	make_file("a", TS_LIT("content"));
	assert_int_equal(chmod("a", 0640), 0);
	assert_int_equal(stat("a", &here), 0);
	assert_int_equal(fstat(fd, &there), 0);
	close(fd);
	assert_int_equal(ts_file_link_or_copy("a", far, NULL), TS_IO); /* it exists */
	unlink(far);
	if (here.st_dev == there.st_dev)
		skip();
	assert_int_equal(ts_file_link_or_copy("a", far, NULL), TS_OK);
	assert_int_equal(ts_file_same("a", far, &same, NULL), TS_OK);
	assert_int_equal(stat(far, &there), 0);
	unlink(far);
	assert_true(same);
	assert_int_equal(there.st_mode & 07777, 0640);
}

TEST_IN_TMPDIR(content_is_compared)
{
	static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, 200000 };
	bool same;

	for (size_t i = 0; i < TS_NELEM(sizes); i++) {
		struct ts_buf text = TS_BUF_INIT;

		ts_buf_pad(&text, 'x', sizes[i]);
		make_file("a", ts_buf_bytes(&text));
		make_file("b", ts_buf_bytes(&text));
		assert_int_equal(ts_file_same("a", "b", &same, NULL), TS_OK);
		assert_true(same);
		ts_buf_putc(&text, 'x'); /* longer by one */
		make_file("b", ts_buf_bytes(&text));
		assert_int_equal(ts_file_same("a", "b", &same, NULL), TS_OK);
		assert_false(same);
		text.n = sizes[i];
		if (text.n) /* the last byte is another */
			text.p[text.n - 1] = 'y';
		make_file("b", ts_buf_bytes(&text));
		assert_int_equal(ts_file_same("a", "b", &same, NULL), TS_OK);
		assert_int_equal(same, sizes[i] == 0);
		ts_buf_release(&text);
	}
}

TEST_IN_TMPDIR(what_is_not_there_equals_nothing)
{
	bool same = true;

	make_file("a", TS_LIT("x"));
	assert_int_equal(ts_file_same("a", "none", &same, NULL), TS_OK);
	assert_false(same);
	assert_int_equal(ts_file_same("none", "none", &same, NULL), TS_OK);
	assert_false(same);
	assert_int_equal(ts_file_same("a", "a", &same, NULL), TS_OK);
	assert_true(same);
}

/* A folder can be opened, and not read. */
TEST_IN_TMPDIR(what_cannot_be_read_is_an_error)
{
	struct ts_error err = TS_ERROR_INIT;
	bool same = true;

	make_dirs("dir");
	make_dirs("other");
	make_file("a", TS_LIT("x"));
	assert_int_equal(ts_file_same("dir", "other", &same, &err), TS_IO);
	assert_has(err.text, "dir: cannot read it");
	assert_int_equal(ts_file_same("a/b", "a", &same, NULL), TS_IO);
	assert_int_equal(ts_file_same("a", "a/b", &same, NULL), TS_IO);
}

TEST_IN_TMPDIR(a_folder_that_is_not_there_is_not_brought_to_disk)
{
	struct ts_error err = TS_ERROR_INIT;

	assert_int_not_equal(ts_dir_sync("none", &err), TS_OK);
	assert_has(err.text, "none: cannot open the folder");
}

TEST_IN_TMPDIR(one_run_at_a_time_holds_a_session)
{
	struct ts_dirlock first = TS_DIRLOCK_INIT, second = TS_DIRLOCK_INIT;
	struct ts_error err = TS_ERROR_INIT;

	make_dirs("run");
	for (enum ts_dirlock_of of = TS_DIRLOCK_OF_ALL; of <= TS_DIRLOCK_OF_A_FILE; of++) {
		assert_int_equal(ts_dir_lock(&first, "run", of, NULL), TS_OK);
		assert_int_equal(ts_dir_lock(&second, "run", TS_DIRLOCK_OF_ALL, &err), TS_IO);
		assert_has(err.text, "run: another tpusight is writing to this session (");
		ts_dir_unlock(&second);
		ts_dir_unlock(&first);
	}
	assert_int_equal(ts_dir_lock(&second, "run", TS_DIRLOCK_OF_ALL, NULL), TS_OK);
	assert_int_equal(ts_dir_lock(&first, "run", TS_DIRLOCK_OF_A_FILE, &err), TS_IO);
	ts_dir_unlock(&second);
	ts_dir_unlock(&second);
	assert_int_equal(count_names("run"), 0);
	assert_int_equal(ts_dir_lock(&first, "none", TS_DIRLOCK_OF_ALL, NULL), TS_NOTFOUND);
}

TEST_IN_TMPDIR(files_of_a_session_may_change_at_once)
{
	struct ts_dirlock first = TS_DIRLOCK_INIT, second = TS_DIRLOCK_INIT;

	make_dirs("run");
	assert_int_equal(ts_dir_lock(&first, "run", TS_DIRLOCK_OF_A_FILE, NULL), TS_OK);
	assert_int_equal(ts_dir_lock(&second, "run", TS_DIRLOCK_OF_A_FILE, NULL), TS_OK);
	ts_dir_unlock(&second);
	ts_dir_unlock(&first);
}

TEST_IN_TMPDIR(a_cause_fits_behind_the_longest_path)
{
	struct ts_error err = TS_ERROR_INIT;
	char path[4096];

	memset(path, 'p', sizeof(path) - 1);
	memcpy(path + sizeof(path) - 6, "/tail", 6);
	assert_int_equal(ts_fail_errno(&err, ENOSPC, path, "write it"), TS_IO);
	assert_true(ts_bytes_starts(ts_bytes_of(err.text), "...ppp"));
	assert_has(err.text, "p/tail: cannot write it: the disk is full (");
	assert_true(ts_bytes_ends(ts_bytes_of(err.text), ")"));
}
