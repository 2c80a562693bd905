/* SPDX-License-Identifier: MIT */
/* Replacement of files: whole or not at all, whatever happens on the way. */
#include "tmpdir.h"

#include "io/newfile.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#ifdef HAVE_LGETXATTR
#include <sys/xattr.h>
#endif
#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

static const struct ts_newfile_use named = { .is_named = true };

static void open_new(struct ts_newfile *file, const char *path)
{
	struct ts_error err = TS_ERROR_INIT;

	if (ts_newfile_open(file, path, &err))
		fail_msg("%s", err.text);
}

TEST_IN_TMPDIR(without_commit_the_old_file_stands)
{
	struct ts_newfile file;

	make_file("a.xplane.pb", TS_LIT("old"));
	open_new(&file, "a.xplane.pb");
	assert_int_equal(ts_newfile_put(&file, TS_LIT("new"), NULL), TS_OK);
	assert_file("a.xplane.pb", "old");
	assert_int_equal(count_names("."), 2);
	ts_newfile_release(&file);
	assert_file("a.xplane.pb", "old");
	assert_int_equal(count_names("."), 1);
}

TEST_IN_TMPDIR(commit_puts_the_new_file_in_place)
{
	struct ts_newfile file;

	make_file("a", TS_LIT("old"));
	open_new(&file, "a");
	assert_int_equal(ts_newfile_put(&file, TS_LIT("new "), NULL), TS_OK);
	assert_int_equal(ts_newfile_put(&file, TS_LIT("content"), NULL), TS_OK);
	assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
	ts_newfile_release(&file);
	ts_newfile_release(&file);
	assert_file("a", "new content");
	assert_int_equal(count_names("."), 1);
}

TEST_IN_TMPDIR(what_was_cut_off_is_not_in_the_file)
{
	struct ts_newfile file;
	struct ts_buf got;

	open_new(&file, "a");
	assert_int_equal(ts_newfile_put(&file, TS_LIT("abcdefgh"), NULL), TS_OK);
	assert_int_equal(ts_newfile_cut(&file, 3, NULL), TS_OK);
	assert_int_equal(file.nr_bytes, 3);
	assert_int_equal(ts_newfile_put(&file, TS_LIT("xy"), NULL), TS_OK);
	assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
	ts_newfile_release(&file);
	got = read_file("a");
	assert_true(ts_bytes_is(ts_buf_bytes(&got), "abcxy"));
	ts_buf_release(&got);
}

TEST_IN_TMPDIR(a_reader_of_the_old_file_keeps_it)
{
	char text[4] = "";
	int fd;

	make_file("a", TS_LIT("old"));
	fd = open("a", O_RDONLY);
	assert_int_equal(ts_newfile_save("a", TS_LIT("n"), NULL), TS_OK);
	assert_int_equal(read(fd, text, 3), 3);
	assert_string_equal(text, "old");
	close(fd);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

TEST_IN_TMPDIR(the_mode_of_the_old_file_is_kept)
{
	static const mode_t modes[] = { 0600, 0640, 0644, 0444, 0755, 0666 };

	for (size_t i = 0; i < TS_NELEM(modes); i++) {
		make_file("a", TS_LIT("old"));
		assert_int_equal(chmod("a", modes[i]), 0);
		assert_int_equal(ts_newfile_save("a", TS_LIT("new"), NULL), TS_OK);
		assert_int_equal(mode_of("a"), modes[i]);
		assert_int_equal(unlink("a"), 0);
	}
}

TEST_IN_TMPDIR(a_new_file_follows_the_umask)
{
	mode_t old = umask(0027);

	assert_int_equal(ts_newfile_save("a", TS_LIT("new"), NULL), TS_OK);
	umask(old);
	assert_int_equal(mode_of("a"), 0640);
}

TEST_IN_TMPDIR(the_owner_is_kept_by_root)
{
	struct stat st;

	if (geteuid() != 0)
		skip();
	make_file("a", TS_LIT("old"));
	assert_int_equal(chown("a", NOBODY, NOBODY), 0);
	assert_int_equal(ts_newfile_save("a", TS_LIT("new"), NULL), TS_OK);
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_gid, NOBODY);
}

static void replace_foreign(void)
{
	struct stat st;

	CHECK(ts_newfile_save("a", TS_LIT("new"), NULL) == TS_OK);
	CHECK(stat("a", &st) == 0);
	CHECK(st.st_uid == NOBODY);
	CHECK((st.st_mode & 07777) == 0644); /* our group gets what others have, no more */
}

TEST_IN_TMPDIR(rights_of_a_group_that_cannot_be_kept_do_not_go_to_another)
{
	if (geteuid() != 0)
		skip();
	make_file("a", TS_LIT("old"));
	assert_int_equal(chmod("a", 04674), 0);
	run_unprivileged(replace_foreign);
}

TEST_IN_TMPDIR(a_link_that_the_user_named_stays_and_what_is_behind_it_is_replaced)
{
	struct stat st;

	make_file("deep/down/real", TS_LIT("old"));
	assert_int_equal(symlink("down/real", "deep/second"), 0);
	assert_int_equal(symlink("deep/second", "first"), 0);
	assert_int_equal(ts_newfile_save_for("first", TS_LIT("new"), &named, NULL), TS_OK);
	assert_file("deep/down/real", "new");
	assert_int_equal(lstat("first", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("deep/second", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

TEST_IN_TMPDIR(a_link_that_the_user_named_to_no_file_makes_that_file)
{
	make_dirs("dir");
	assert_int_equal(symlink("dir/real", "link"), 0);
	assert_int_equal(ts_newfile_save_for("link", TS_LIT("new"), &named, NULL), TS_OK);
	assert_file("dir/real", "new");
}

/* Anybody may lay a link into /tmp; the system's own rule does not see links that are read. */
static void follow_foreign(void)
{
	static const char *const paths[] = { "own", "steps", "foreign" };
	static const enum ts_status expected[] = { TS_OK, TS_OK, TS_IO };

	CHECK(symlink("real", "open/own") == 0);
	CHECK(symlink("open/own", "steps") == 0);
	for (size_t i = 0; i < TS_NELEM(paths); i++) {
		struct ts_error err = TS_ERROR_INIT;
		char path[64];

		snprintf(path, sizeof(path), "%s%s", i == 1 ? "" : "open/", paths[i]);
		CHECK(ts_newfile_save_for(path, TS_LIT("new"), &named, &err) == expected[i]);
		CHECK(expected[i] == TS_OK || strstr(err.text, "another user's symbolic link"));
	}
}

TEST_IN_TMPDIR(a_link_that_somebody_laid_where_all_may_write_is_refused)
{
	if (geteuid() != 0)
		skip();
	make_file("open/real", TS_LIT("old"));
	make_file("victim", TS_LIT("old"));
	assert_int_equal(chown("open/real", NOBODY, NOBODY), 0);
	assert_int_equal(symlink("../victim", "open/foreign"), 0);
	assert_int_equal(lchown("open/foreign", NOBODY - 1, NOBODY - 1), 0);
	assert_int_equal(chmod("open", 01777), 0);
	run_unprivileged(follow_foreign);
	assert_file("open/real", "new");
	assert_file("victim", "old");
}

/* A name that we made ourselves: nobody has asked for what somebody else put there. */
TEST_IN_TMPDIR(only_a_plain_file_is_replaced_under_a_name_of_ours)
{
	static const struct {
		const char *path, *words;
	} cases[] = {
		{ "link", "link: cannot write it: a symbolic link is in its place" },
		{ "dangling", "dangling: cannot write it: a symbolic link is in its place" },
		{ "loop", "loop: cannot write it: a symbolic link is in its place" },
		{ "fifo", "fifo: cannot write it: a pipe (FIFO) is in its place" },
		{ "folder", "folder: cannot write it: it is a folder" },
		{ "/dev/null", "/dev/null: cannot write it: a device is in its place" },
	};

	make_file("elsewhere/victim", TS_LIT("old"));
	make_dirs("folder");
	assert_int_equal(symlink("elsewhere/victim", "link"), 0);
	assert_int_equal(symlink("elsewhere/made", "dangling"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct ts_error err = TS_ERROR_INIT;

		assert_int_equal(ts_newfile_save(cases[i].path, TS_LIT("new"), &err), TS_IO);
		assert_has(err.text, cases[i].words);
	}
	assert_file("elsewhere/victim", "old");
	assert_int_equal(count_names("elsewhere"), 1);
	assert_int_equal(count_names("."), 6);
}

TEST_IN_TMPDIR(what_comes_into_the_place_meanwhile_is_not_replaced)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_newfile file;

	open_new(&file, "a");
	assert_int_equal(ts_newfile_put(&file, TS_LIT("new"), NULL), TS_OK);
	make_file("a", TS_LIT("another program's"));
	assert_int_equal(ts_newfile_commit(&file, &err), TS_IO);
	assert_has(err.text, "a: another program made it just now");
	ts_newfile_release(&file);
	assert_file("a", "another program's");

	open_new(&file, "a");
	assert_int_equal(unlink("a"), 0);
	assert_int_equal(symlink("victim", "a"), 0);
	assert_int_equal(ts_newfile_commit(&file, &err), TS_IO);
	assert_has(err.text, "a symbolic link is in its place");
	ts_newfile_release(&file);
	assert_int_equal(count_names("."), 1);
}

TEST_IN_TMPDIR(what_cannot_be_written_is_named_with_its_cause)
{
	static const struct {
		const char *path;
		enum ts_status status;
		const char *words;
	} cases[] = {
		{ "dir", TS_IO, "dir: cannot write it: it is a folder" },
		{ "dir/", TS_IO, "dir/: cannot write it: it is a folder" },
		{ "none/a", TS_NOTFOUND, "none/a: cannot write it: no such file or folder" },
		{ "file/a", TS_IO, "file/a: cannot write it: a part of the path is not a folder" },
		{ "loop", TS_IO, "loop: cannot write it: its symbolic links go round" },
	};

	make_dirs("dir");
	make_file("file", TS_LIT("x"));
	assert_int_equal(symlink("loop", "loop"), 0);
	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_newfile file;

		assert_int_equal(ts_newfile_open_for(&file, cases[i].path, &named, &err),
				 cases[i].status);
		assert_has(err.text, cases[i].words);
		ts_newfile_release(&file);
	}
	assert_int_equal(count_names("."), 3);
	assert_int_equal(count_names("dir"), 0);
}

TEST_IN_TMPDIR(a_pipe_is_written_straight)
{
	struct ts_newfile file;
	char text[8] = "";
	int fd;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_int_equal(ts_newfile_open_for(&file, "fifo", &named, NULL), TS_OK);
	assert_int_equal(ts_newfile_put(&file, TS_LIT("through"), NULL), TS_OK);
	assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
	ts_newfile_release(&file);
	assert_int_equal(read(fd, text, 7), 7);
	assert_string_equal(text, "through");
	close(fd);
	assert_int_equal(ts_newfile_save_for("/dev/null", TS_LIT("x"), &named, NULL), TS_OK);
}

TEST_IN_TMPDIR(a_pipe_without_a_reader_is_not_waited_for)
{
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(ts_newfile_save_for("fifo", TS_LIT("x"), &named, &err), TS_IO);
	assert_has(err.text, "fifo: cannot write it: no program reads it");
}

TEST_IN_TMPDIR(a_socket_is_refused_by_its_kind)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "socket" };
	struct ts_error err = TS_ERROR_INIT;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(ts_newfile_save_for("socket", TS_LIT("x"), &named, &err), TS_IO);
	assert_has(err.text, "socket: cannot write it: a socket is in its place");
	assert_int_equal(ts_newfile_save("socket", TS_LIT("x"), &err), TS_IO);
	close(fd);
}

/* `-o /dev/stdout >>log`: what is behind the descriptor is added to, not replaced under its name. */
TEST_IN_TMPDIR(a_name_of_a_descriptor_is_that_descriptor)
{
	char path[32];
	int fd;

	make_file("log", TS_LIT("before "));
	fd = open("log", O_WRONLY | O_APPEND);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(ts_newfile_save_for(path, TS_LIT("behind"), &named, NULL), TS_OK);
	close(fd);
	assert_file("log", "before behind");
	assert_int_equal(ts_newfile_save_for(path, TS_LIT("behind"), &named, NULL), TS_IO);
}

/* Rights */

static struct ts_newfile_use made_of(struct ts_sources *sources, const char *const *paths)
{
	*sources = (struct ts_sources)TS_SOURCES_INIT;
	for (; *paths; paths++)
		assert_int_equal(ts_sources_add(sources, *paths, NULL), TS_OK);
	return (struct ts_newfile_use){ .sources = sources, .is_theirs = true };
}

TEST_IN_TMPDIR(no_user_gains_by_an_output)
{
	static const struct {
		mode_t first, second, old, umask, expected; /* old 0: there is none */
	} cases[] = {
		{ 0600, 0644, 0, 022, 0600 },	 { 0644, 0600, 0, 022, 0600 },
		{ 0640, 0644, 0, 022, 0640 },	 { 0664, 0660, 0, 002, 0660 },
		{ 0664, 0664, 0, 077, 0600 },	 { 0444, 0444, 0, 022, 0644 },
		{ 0755, 0755, 0, 022, 0644 },	 { 04666, 02666, 0, 000, 0666 },
		{ 0600, 0644, 0644, 022, 0600 }, { 0644, 0644, 0600, 022, 0600 },
		{ 0640, 0604, 0666, 022, 0600 }, { 0644, 0644, 0666, 077, 0644 },
		{ 0644, 0644, 0444, 022, 0444 },
	};
	static const char *const paths[] = { "one", "two", NULL };

	make_file("one", TS_LIT("x"));
	make_file("two", TS_LIT("x"));
	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		mode_t before = umask(cases[i].umask);
		struct ts_sources sources;
		struct ts_newfile_use use;

		assert_int_equal(chmod("one", cases[i].first), 0);
		assert_int_equal(chmod("two", cases[i].second), 0);
		if (cases[i].old) {
			make_file("out", TS_LIT("old"));
			assert_int_equal(chmod("out", cases[i].old), 0);
		}
		use = made_of(&sources, paths);
		assert_int_equal(ts_newfile_save_for("out", TS_LIT("new"), &use, NULL), TS_OK);
		umask(before);
		assert_int_equal(mode_of("out"), cases[i].expected);
		assert_int_equal(unlink("out"), 0);
		ts_sources_release(&sources);
	}
}

TEST_IN_TMPDIR(until_commit_it_is_open_to_nobody)
{
	static const char *const paths[] = { "one", NULL };
	struct ts_sources sources;
	struct ts_newfile file;
	struct ts_newfile_use use;
	mode_t before = umask(0);

	make_file("one", TS_LIT("x"));
	assert_int_equal(chmod("one", 0644), 0);
	use = made_of(&sources, paths);
	assert_int_equal(ts_newfile_open_for(&file, "out", &use, NULL), TS_OK);
	assert_int_equal(mode_of(file.temp), 0600);
	assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
	umask(before);
	assert_int_equal(mode_of("out"), 0644);
	ts_newfile_release(&file);
	ts_sources_release(&sources);
}

static void write_beside_foreign(void)
{
	static const char *const paths[] = { "one", NULL };
	struct ts_sources sources;
	struct ts_newfile_use use = made_of(&sources, paths);

	CHECK(ts_newfile_save_for("out", TS_LIT("new"), &use, NULL) == TS_OK);
	CHECK(mode_of("out") == 0600);
	ts_sources_release(&sources);
}

TEST_IN_TMPDIR(what_a_group_may_read_is_not_for_ours)
{
	if (geteuid() != 0)
		skip();
	make_file("one", TS_LIT("x"));
	assert_int_equal(chmod("one", 0640), 0); /* of root's group */
	run_unprivileged(write_beside_foreign);
}

TEST_IN_TMPDIR(what_root_writes_beside_a_users_files_is_the_users)
{
	static const char *const paths[] = { "one", "two", NULL };
	struct ts_sources sources;
	struct ts_newfile_use use;
	struct stat st;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; paths[i]; i++) {
		make_file(paths[i], TS_LIT("x"));
		assert_int_equal(chmod(paths[i], 0600), 0);
		assert_int_equal(chown(paths[i], NOBODY, NOBODY), 0);
	}
	use = made_of(&sources, paths);
	assert_int_equal(ts_newfile_save_for("out", TS_LIT("new"), &use, NULL), TS_OK);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(mode_of("out"), 0600);
	ts_sources_release(&sources);

	assert_int_equal(chown("two", NOBODY - 1, NOBODY), 0); /* whose is not the first one's */
	assert_int_equal(unlink("out"), 0);
	use = made_of(&sources, paths);
	assert_int_equal(ts_newfile_save_for("out", TS_LIT("new"), &use, NULL), TS_OK);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_uid, 0);
	ts_sources_release(&sources);
}

TEST_IN_TMPDIR(an_output_is_not_one_of_its_inputs)
{
	static const char *const inputs[] = { "one", NULL };
	static const char *const paths[] = { "one", "./one", "second", "link" };
	struct ts_sources sources;
	struct ts_newfile_use use;

	make_file("one", TS_LIT("precious"));
	assert_int_equal(link("one", "second"), 0);
	assert_int_equal(symlink("one", "link"), 0);
	use = made_of(&sources, inputs);
	use.is_named = true;
	for (size_t i = 0; i < TS_NELEM(paths); i++) {
		struct ts_error err = TS_ERROR_INIT;

		assert_int_equal(ts_newfile_save_for(paths[i], TS_LIT("new"), &use, &err),
				 TS_USAGE);
		assert_has(err.text, "that is one of the files that it is made of");
	}
	assert_file("one", "precious");
	ts_sources_release(&sources);
}

#ifdef HAVE_LGETXATTR
/* u::rw- u:1234:rw- g::--- m::rw- o::--- as the kernel keeps it. */
static const uint8_t acl[] = { 2, 0,   0,   0,	 1,   0,   6,  0, 255, 255, 255, 255, 2,   0,  6,
			       0, 210, 4,   0,	 0,   4,   0,  0, 0,   255, 255, 255, 255, 16, 0,
			       6, 0,   255, 255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255 };
#define ACL "system.posix_acl_access"

static void set_or_skip(const char *path, const char *name, const void *value, size_t n)
{
	if (setxattr(path, name, value, n, 0) != 0) {
		print_message("%s cannot be set here: %s\n", name, strerror(errno));
		skip();
	}
}

static void assert_attribute(const char *path, const char *name, const void *value, size_t n)
{
	uint8_t found[256];

	assert_int_equal(getxattr(path, name, found, sizeof(found)), n);
	assert_memory_equal(found, value, n);
}

TEST_IN_TMPDIR(an_acl_and_attributes_of_the_old_file_are_kept)
{
	make_file("a", TS_LIT("old"));
	assert_int_equal(chmod("a", 0600), 0);
	set_or_skip("a", ACL, acl, sizeof(acl));
	set_or_skip("a", "user.checksum", "12 34", 5);
	set_or_skip("a", "user.empty", "", 0);
	assert_int_equal(ts_newfile_save("a", TS_LIT("new"), NULL), TS_OK);
	assert_file("a", "new");
	assert_attribute("a", ACL, acl, sizeof(acl));
	assert_attribute("a", "user.checksum", "12 34", 5);
	assert_attribute("a", "user.empty", "", 0);
}

/* The mode of a file with an ACL says more than its group may do: rw- here, which is ---. */
TEST_IN_TMPDIR(an_acl_of_an_input_lets_nobody_gain)
{
	static const char *const paths[] = { "one", NULL }, *const both[] = { "one", "two", NULL };
	struct ts_sources sources;
	struct ts_newfile_use use;

	make_file("one", TS_LIT("x"));
	make_file("two", TS_LIT("x"));
	assert_int_equal(chmod("one", 0600), 0);
	assert_int_equal(chmod("two", 0666), 0);
	set_or_skip("one", ACL, acl, sizeof(acl));
	use = made_of(&sources, paths);
	assert_int_equal(ts_newfile_save_for("out", TS_LIT("new"), &use, NULL), TS_OK);
	assert_int_equal(mode_of("out") & 0707, 0600);
	ts_sources_release(&sources);
	assert_int_equal(unlink("out"), 0);

	use = made_of(&sources, both);
	assert_int_equal(ts_newfile_save_for("out", TS_LIT("new"), &use, NULL), TS_OK);
	assert_int_equal(mode_of("out"), 0600);
	assert_int_equal(getxattr("out", ACL, NULL, 0), -1);
	ts_sources_release(&sources);
}

/* A folder's default ACL goes to every file that is made in it. */
TEST_IN_TMPDIR(an_acl_of_the_folder_lets_nobody_gain)
{
	static const char *const paths[] = { "one", NULL };
	struct ts_sources sources;
	struct ts_newfile_use use;

	make_file("one", TS_LIT("x"));
	assert_int_equal(chmod("one", 0640), 0);
	make_file("old", TS_LIT("x"));
	assert_int_equal(chmod("old", 0640), 0);
	set_or_skip(".", "system.posix_acl_default", acl, sizeof(acl));
	use = made_of(&sources, paths);
	assert_int_equal(ts_newfile_save_for("out", TS_LIT("new"), &use, NULL), TS_OK);
	assert_int_equal(getxattr("out", ACL, NULL, 0), -1);
	assert_int_equal(mode_of("out"), 0640);
	ts_sources_release(&sources);
	assert_int_equal(ts_newfile_save("old", TS_LIT("new"), NULL), TS_OK);
	assert_int_equal(getxattr("old", ACL, NULL, 0), -1);
	assert_int_equal(mode_of("old"), 0640);
}
#endif

static void fill(struct ts_buf *buf, size_t n)
{
	assert_true(ts_buf_room(buf, n));
	for (size_t i = 0; i < n; i++)
		buf->p[i] = (uint8_t)(i * 2654435761u >> 13);
	buf->n = n;
}

TEST_IN_TMPDIR(parts_of_other_files_are_copied)
{
	static const size_t ranges[][2] = { { 0, 0 },		{ 0, 1 },	 { 1, 4095 },
					    { 4097, 20000000 }, { 19999999, 1 }, { 0, 20000001 } };
	struct ts_buf big = TS_BUF_INIT;
	int fd;

	fill(&big, 20004097);
	make_file("big", ts_buf_bytes(&big));
	fd = open("big", O_RDONLY);
	for (size_t i = 0; i < TS_NELEM(ranges); i++) {
		struct ts_newfile file;
		struct ts_buf got;

		open_new(&file, "copy");
		assert_int_equal(ts_newfile_put(&file, TS_LIT("head"), NULL), TS_OK);
		assert_int_equal(ts_newfile_copy(&file, fd, ranges[i][0], ranges[i][1], NULL),
				 TS_OK);
		assert_int_equal(ts_newfile_put(&file, TS_LIT("tail"), NULL), TS_OK);
		assert_int_equal(file.nr_bytes, ranges[i][1] + 8);
		assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
		ts_newfile_release(&file);
		got = read_file("copy");
		assert_int_equal(got.n, ranges[i][1] + 8);
		assert_memory_equal(got.p, "head", 4);
		assert_int_equal(memcmp(got.p + 4, big.p + ranges[i][0], ranges[i][1]), 0);
		assert_memory_equal(got.p + got.n - 4, "tail", 4);
		ts_buf_release(&got);
	}
	close(fd);
	ts_buf_release(&big);
}

TEST_IN_TMPDIR(a_copy_past_the_end_of_the_original_is_refused)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_newfile file;
	int fd;

	make_file("short", TS_LIT("0123456789"));
	make_file("a", TS_LIT("old"));
	fd = open("short", O_RDONLY);
	open_new(&file, "a");
	assert_int_equal(ts_newfile_copy(&file, fd, 0, 11, &err), TS_IO);
	assert_has(err.text, "a: the original became shorter");
	assert_int_equal(ts_newfile_copy(&file, fd, UINT64_MAX - 3, 11, &err), TS_IO);
	assert_int_equal(ts_newfile_commit(&file, &err),
			 TS_IO); /* what failed once is not put in place */
	ts_newfile_release(&file);
	assert_file("a", "old");
	close(fd);
}

static void write_past_the_limit(void)
{
	const struct rlimit limit = { 100000, 100000 };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf big = TS_BUF_INIT;
	struct ts_newfile file;

	CHECK(ts_buf_room(&big, 200000));
	memset(big.p, 'x', 200000);
	big.n = 200000;
	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(ts_newfile_open(&file, "a", &err) == TS_OK);
	CHECK(ts_newfile_put(&file, ts_buf_bytes(&big), &err) == TS_IO);
	CHECK(strstr(err.text, "a: cannot write it: larger than a file may be (raise ulimit -f"));
	ts_newfile_release(&file);
}

TEST_IN_TMPDIR(a_file_size_limit_leaves_the_old_file)
{
	make_file("a", TS_LIT("old"));
	run_in_child(write_past_the_limit);
	assert_file("a", "old");
	assert_int_equal(count_names("."), 1);
}

#ifdef __linux__
static void write_to_a_full_disk(void)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf big = TS_BUF_INIT;
	struct ts_newfile file;
	int fd;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "disk", "tmpfs", 0, "size=256k") != 0) {
		fprintf(stderr, "skipped: no right to mount a small file system\n");
		_exit(SKIPPED);
	}
	make_file("disk/a", TS_LIT("old"));
	CHECK(ts_buf_room(&big, 1 << 20));
	memset(big.p, 'x', 1 << 20);
	big.n = 1 << 20;
	make_file("source", ts_buf_bytes(&big));
	CHECK(ts_newfile_save("disk/a", ts_buf_bytes(&big), &err) == TS_IO);
	CHECK(strstr(err.text, "disk/a: cannot write it: the disk is full (free some space"));
	fd = open("source", O_RDONLY);
	CHECK(ts_newfile_open(&file, "disk/a", &err) == TS_OK);
	CHECK(ts_newfile_copy(&file, fd, 0, 1 << 20, &err) == TS_IO);
	CHECK(strstr(err.text, "the disk is full"));
	ts_newfile_release(&file);
	assert_file("disk/a", "old");
	CHECK(count_names("disk") == 1);
}

TEST_IN_TMPDIR(a_full_disk_leaves_the_old_file)
{
	make_dirs("disk");
	run_in_child(write_to_a_full_disk);
}
#endif

static void write_to_a_closed_folder(void)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_newfile file;

	make_file("dir/a", TS_LIT("old"));
	CHECK(chmod("dir", 0555) == 0);
	CHECK(ts_newfile_open(&file, "dir/a", &err) == TS_IO);
	CHECK(strstr(err.text, "dir/a: cannot write it: permission denied ("));
	CHECK(chmod("dir", 0755) == 0);
	assert_file("dir/a", "old");
}

TEST_IN_TMPDIR(a_read_only_folder_is_an_error)
{
	run_unprivileged(write_to_a_closed_folder);
}

/* A child that has begun to replace PATH and waits to be killed. */
static pid_t half_done(const char *path)
{
	int ends[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct ts_newfile file;

		CHECK(ts_newfile_open(&file, path, NULL) == TS_OK);
		CHECK(ts_newfile_put(&file, TS_LIT("half of the new"), NULL) == TS_OK);
		CHECK(write(ends[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 1);
	close(ends[0]);
	return pid;
}

TEST_IN_TMPDIR(a_killed_run_leaves_the_old_file_and_a_temporary_that_can_be_cleared)
{
	pid_t pid;
	size_t nr;

	make_file("run/host.xplane.pb", TS_LIT("old"));
	make_file("run/.host.xplane.pb.swp", TS_LIT("somebody's"));
	pid = half_done("run/host.xplane.pb");
	assert_int_equal(ts_newfile_stale("run", &nr, NULL), TS_OK);
	assert_int_equal(nr, 0); /* its writer lives */
	assert_int_equal(count_names("run"), 3);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_file("run/host.xplane.pb", "old");
	assert_int_equal(count_names("run"), 3);
	assert_int_equal(ts_newfile_stale("run", &nr, NULL), TS_OK);
	assert_int_equal(nr, 1);
	assert_int_equal(count_names("run"), 2);
}

TEST_IN_TMPDIR(the_next_try_sweeps_what_a_kill_left_of_the_same_file)
{
	pid_t pid;

	make_file("out.html", TS_LIT("old"));
	make_file(".out.html.tpusight-", TS_LIT("somebody's"));
	make_file(".out.json.tpusight-abcdef", TS_LIT("of another file"));
	pid = half_done("out.html");
	assert_int_equal(ts_newfile_save("out.html", TS_LIT("new"), NULL), TS_OK);
	assert_int_equal(count_names("."), 4); /* its writer lives */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(ts_newfile_save("out.html", TS_LIT("newer"), NULL), TS_OK);
	assert_int_equal(count_names("."), 3);
	assert_file("out.html", "newer");
	assert_file(".out.json.tpusight-abcdef", "of another file");
}

/* Replaces the file for ever, with 'a' x 300000 and 'b' x 200000 in turn. */
static void replace_for_ever(void)
{
	struct ts_buf text = TS_BUF_INIT;

	for (unsigned turn = 0;; turn++) {
		ts_buf_clear(&text);
		ts_buf_pad(&text, turn % 2 ? 'b' : 'a', turn % 2 ? 200000 : 300000);
		CHECK(ts_newfile_save("f", ts_buf_bytes(&text), NULL) == TS_OK);
	}
}

TEST_IN_TMPDIR(a_kill_at_any_moment_leaves_one_whole_file)
{
	struct ts_buf buf;
	size_t nr;

	make_file("f", TS_LIT("bb"));
	for (unsigned i = 0; i < 40; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			replace_for_ever();
		usleep(500 + i * 331);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		buf = read_file("f");
		assert_true(buf.n == 2 || buf.n == (buf.p[0] == 'a' ? 300000 : 200000));
		for (size_t at = 1; at < buf.n; at++)
			if (buf.p[at] != buf.p[0])
				fail_msg("two contents in one file at byte %zu", at);
		ts_buf_release(&buf);
		assert_int_equal(ts_newfile_stale(".", &nr, NULL), TS_OK);
		assert_int_equal(count_names("."), 1);
	}
}

TEST_IN_TMPDIR(temporaries_are_told_by_their_names)
{
	static const char *const others[] = {
		".a.xplane.pb.tpusight-abc123", /* the last letters do not fit the others */
		".a.xplane.pb.tpusight-backup",
		"a.tpusight-abc123",
		".tpusight-abc123",
		".a.tpusight-abc12",
		".a.tpusight-ABC123",
		".a.tpusight_abc123",
		"",
		".",
	};
	struct ts_newfile file;
	char name[256];

	for (size_t i = 0; i < TS_NELEM(others); i++)
		assert_false(ts_newfile_is_temp(others[i]));
	open_new(&file, "a.xplane.pb");
	snprintf(name, sizeof(name), "%s", file.temp);
	assert_true(ts_newfile_is_temp(name));
	assert_false(ts_newfile_is_temp(name + 1));
	for (size_t i = 0; name[i]; i++) { /* no letter of it may differ */
		name[i] = name[i] == 'q' ? 'r' : 'q';
		assert_false(ts_newfile_is_temp(name));
		name[i] = file.temp[i];
	}
	ts_newfile_release(&file);
}

TEST_IN_TMPDIR(the_name_of_the_temporary_is_no_host_of_xprof)
{
	struct ts_newfile file;

	open_new(&file, "a.xplane.pb");
	assert_true(ts_newfile_is_temp(file.temp));
	assert_false(ts_bytes_ends(ts_bytes_of(file.temp), ".xplane.pb"));
	ts_newfile_release(&file);
}

TEST_IN_TMPDIR(the_longest_name_can_be_replaced)
{
	char name[256];

	memset(name, 'n', 255);
	for (size_t at = 200; at < 254; at += 2)
		memcpy(name + at, "\xc3\xa9", 2); /* e with acute: a cut must not halve one */
	name[255] = '\0';
	assert_int_equal(ts_newfile_save(name, TS_LIT("new"), NULL), TS_OK);
	assert_file(name, "new");
}

/* A name that a temporary had. */
static const char *temp_name(char name[256])
{
	struct ts_newfile file;

	open_new(&file, "x");
	snprintf(name, 256, "%s", file.temp);
	ts_newfile_release(&file);
	return name;
}

TEST_IN_TMPDIR(only_plain_files_are_cleared)
{
	char name[256];
	size_t nr;

	make_dirs(temp_name(name));
	make_file("precious", TS_LIT("x"));
	assert_int_equal(symlink("precious", temp_name(name)), 0);
	assert_int_equal(mkfifo(temp_name(name), 0600), 0);
	make_file(".precious.tpusight-backup", TS_LIT("x")); /* a name that only looks like one */
	assert_int_equal(ts_newfile_stale(".", &nr, NULL), TS_OK);
	assert_int_equal(nr, 0);
	assert_int_equal(count_names("."), 5);
	make_file(temp_name(name), TS_LIT("x"));
	assert_int_equal(ts_newfile_stale(".", &nr, NULL), TS_OK);
	assert_int_equal(nr, 1);
}
