/* Replacement of files: whole or not at all, whatever happens on the way. */
#include "tmpdir.h"

#include "io/newfile.h"

#include <sys/resource.h>
#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

static void open_new(struct ts_newfile *file, const char *path)
{
	struct ts_error err = TS_ERROR_INIT;

	if (ts_newfile_open(file, path, &err))
		fail_msg("%s", err.text);
}

static void without_commit_the_old_file_stands(void **state)
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

static void commit_puts_the_new_file_in_place(void **state)
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

static void a_reader_of_the_old_file_keeps_it(void **state)
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

static void the_mode_of_the_old_file_is_kept(void **state)
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

static void a_new_file_follows_the_umask(void **state)
{
	mode_t old = umask(0027);

	assert_int_equal(ts_newfile_save("a", TS_LIT("new"), NULL), TS_OK);
	umask(old);
	assert_int_equal(mode_of("a"), 0640);
}

static void the_owner_is_kept_by_root(void **state)
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

static void rights_of_a_group_that_cannot_be_kept_do_not_go_to_another(void **state)
{
	if (geteuid() != 0)
		skip();
	make_file("a", TS_LIT("old"));
	assert_int_equal(chmod("a", 04674), 0);
	run_unprivileged(replace_foreign);
}

static void a_link_stays_and_what_is_behind_it_is_replaced(void **state)
{
	struct stat st;

	make_file("deep/down/real", TS_LIT("old"));
	assert_int_equal(symlink("down/real", "deep/second"), 0);
	assert_int_equal(symlink("deep/second", "first"), 0);
	assert_int_equal(ts_newfile_save("first", TS_LIT("new"), NULL), TS_OK);
	assert_file("deep/down/real", "new");
	assert_int_equal(lstat("first", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("deep/second", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void a_link_to_a_file_that_is_not_there_makes_that_file(void **state)
{
	make_dirs("dir");
	assert_int_equal(symlink("dir/real", "link"), 0);
	assert_int_equal(ts_newfile_save("link", TS_LIT("new"), NULL), TS_OK);
	assert_file("dir/real", "new");
}

static void what_cannot_be_written_is_named_with_its_cause(void **state)
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

		assert_int_equal(ts_newfile_open(&file, cases[i].path, &err), cases[i].status);
		assert_has(err.text, cases[i].words);
		ts_newfile_release(&file);
	}
	assert_int_equal(count_names("."), 3);
	assert_int_equal(count_names("dir"), 0);
}

static void a_pipe_is_written_straight(void **state)
{
	struct ts_newfile file;
	char text[8] = "";
	int fd;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	open_new(&file, "fifo");
	assert_int_equal(ts_newfile_put(&file, TS_LIT("through"), NULL), TS_OK);
	assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
	ts_newfile_release(&file);
	assert_int_equal(read(fd, text, 7), 7);
	assert_string_equal(text, "through");
	close(fd);
	assert_int_equal(ts_newfile_save("/dev/null", TS_LIT("x"), NULL), TS_OK);
}

static void fill(struct ts_buf *buf, size_t n)
{
	assert_true(ts_buf_room(buf, n));
	for (size_t i = 0; i < n; i++)
		buf->p[i] = (uint8_t)(i * 2654435761u >> 13);
	buf->n = n;
}

static void parts_of_other_files_are_copied(void **state)
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

static void a_copy_past_the_end_of_the_original_is_refused(void **state)
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

static void a_file_size_limit_leaves_the_old_file(void **state)
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

static void a_full_disk_leaves_the_old_file(void **state)
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

static void a_read_only_folder_is_an_error(void **state)
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

static void a_killed_run_leaves_the_old_file_and_a_temporary_that_can_be_cleared(void **state)
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

static void a_kill_at_any_moment_leaves_one_whole_file(void **state)
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

static void temporaries_are_told_by_their_names(void **state)
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

static void the_name_of_the_temporary_is_no_host_of_xprof(void **state)
{
	struct ts_newfile file;

	open_new(&file, "a.xplane.pb");
	assert_true(ts_newfile_is_temp(file.temp));
	assert_false(ts_bytes_ends(ts_bytes_of(file.temp), ".xplane.pb"));
	ts_newfile_release(&file);
}

static void the_longest_name_can_be_replaced(void **state)
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

static void only_plain_files_are_cleared(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_tmpdir(without_commit_the_old_file_stands),
		in_tmpdir(commit_puts_the_new_file_in_place),
		in_tmpdir(a_reader_of_the_old_file_keeps_it),
		in_tmpdir(the_mode_of_the_old_file_is_kept),
		in_tmpdir(a_new_file_follows_the_umask),
		in_tmpdir(the_owner_is_kept_by_root),
		in_tmpdir(rights_of_a_group_that_cannot_be_kept_do_not_go_to_another),
		in_tmpdir(a_link_stays_and_what_is_behind_it_is_replaced),
		in_tmpdir(a_link_to_a_file_that_is_not_there_makes_that_file),
		in_tmpdir(what_cannot_be_written_is_named_with_its_cause),
		in_tmpdir(a_pipe_is_written_straight),
		in_tmpdir(parts_of_other_files_are_copied),
		in_tmpdir(a_copy_past_the_end_of_the_original_is_refused),
		in_tmpdir(a_file_size_limit_leaves_the_old_file),
#ifdef __linux__
		in_tmpdir(a_full_disk_leaves_the_old_file),
#endif
		in_tmpdir(a_read_only_folder_is_an_error),
		in_tmpdir(a_killed_run_leaves_the_old_file_and_a_temporary_that_can_be_cleared),
		in_tmpdir(a_kill_at_any_moment_leaves_one_whole_file),
		in_tmpdir(temporaries_are_told_by_their_names),
		in_tmpdir(the_name_of_the_temporary_is_no_host_of_xprof),
		in_tmpdir(the_longest_name_can_be_replaced),
		in_tmpdir(only_plain_files_are_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
