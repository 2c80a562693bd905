/* SPDX-License-Identifier: MIT */
/* Inputs: what is mapped, what is read, and what is refused with which words. */
#include "tmpdir.h"

#include "io/input.h"

#include <sys/socket.h>
#include <sys/un.h>

TEST_IN_TMPDIR(a_file_is_mapped_whole)
{
	struct ts_input in;

	make_file("a", TS_LIT("hello\0world"));
	assert_int_equal(ts_input_open(&in, "a", NULL), TS_OK);
	assert_true(in.mapped);
	assert_true(in.fd >= 0);
	assert_true(ts_bytes_eq(in.bytes, TS_LIT("hello\0world")));
	assert_int_equal(ts_input_check(&in, NULL), TS_OK);
	ts_input_release(&in);
	ts_input_release(&in);
}

TEST_IN_TMPDIR(what_cannot_be_read_is_named_with_its_cause)
{
	static const struct {
		const char *path;
		enum ts_status status;
		const char *words;
	} cases[] = {
		{ "missing", TS_NOTFOUND, "missing: cannot open it: no such file or folder (" },
		{ "file/x", TS_IO, "file/x: cannot open it: a part of the path is not a folder" },
		{ "dir", TS_IO, "dir: cannot read it: it is a folder (name a file)" },
		{ "empty", TS_FORMAT, "empty: empty (" },
		{ "loop", TS_IO, "loop: cannot open it: its symbolic links go round" },
		{ "dangling", TS_NOTFOUND, "dangling: cannot open it: no such file" },
		{ "/dev/zero", TS_IO, "/dev/zero: a device" },
	};

	make_file("file", TS_LIT("x"));
	make_file("empty", TS_LIT(""));
	make_dirs("dir");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_input in;

		assert_int_equal(ts_input_open(&in, cases[i].path, &err), cases[i].status);
		assert_has(err.text, cases[i].words);
		ts_input_release(&in);
	}
}

/* In a folder anybody's files may lie; what is named by the user may be a pipe. */
TEST_IN_TMPDIR(of_what_was_found_only_plain_files_are_read)
{
	static const struct {
		const char *path;
		enum ts_status status;
		const char *words;
	} cases[] = {
		{ "link", TS_OK, "" },
		{ "fifo", TS_IO, "fifo: a pipe (FIFO), not a plain file (move it away)" },
		{ "socket", TS_IO, "socket: a socket, not a plain file (move it away)" },
		{ "/dev/null", TS_IO, "/dev/null: a device, not a plain file (move it away)" },
		{ "dir", TS_IO, "dir: cannot read it: it is a folder (name a file)" },
		{ "missing", TS_NOTFOUND, "missing: cannot open it: no such file or folder (" },
	};
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	make_file("file", TS_LIT("x"));
	make_dirs("dir");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_input in;

		assert_int_equal(ts_input_open_plain(&in, cases[i].path, &err), cases[i].status);
		assert_has(err.text, cases[i].words);
		ts_input_release(&in);
	}
	close(fd);
}

static void open_unreadable(void)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_input in;
	int fd = open("secret", O_WRONLY | O_CREAT, 0000);

	CHECK(fd >= 0);
	CHECK(ts_input_open(&in, "secret", &err) == TS_IO);
	CHECK(strstr(err.text, "secret: cannot open it: permission denied ("));
}

TEST_IN_TMPDIR(an_unreadable_file_is_an_error)
{
	run_unprivileged(open_unreadable);
}

/* A pipe with CONTENT in it and its writing end closed. */
static int pipe_of(struct ts_bytes content)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], content.p, content.n), (ssize_t)content.n);
	close(ends[1]);
	return ends[0];
}

TEST_IN_TMPDIR(a_stream_is_read_to_its_end)
{
	int fd = pipe_of(TS_LIT("from a pipe"));
	struct ts_input in;

	assert_int_equal(ts_input_read(&in, fd, "pipe", 11, NULL), TS_OK);
	assert_false(in.mapped);
	assert_true(ts_bytes_eq(in.bytes, TS_LIT("from a pipe")));
	assert_int_equal(ts_input_check(&in, NULL), TS_OK);
	ts_input_release(&in);
	close(fd);
}

TEST_IN_TMPDIR(a_stream_has_a_bound)
{
	int fd = pipe_of(TS_LIT("from a pipe"));
	struct ts_error err = TS_ERROR_INIT;
	struct ts_input in;

	assert_int_equal(ts_input_read(&in, fd, "pipe", 10, &err), TS_LIMIT);
	assert_has(err.text, "pipe: more than 10 bytes in a stream");
	close(fd);
}

static void read_standard_input(void)
{
	int fd = pipe_of(TS_LIT("standard"));
	struct ts_input in;

	CHECK(dup2(fd, 0) == 0);
	CHECK(ts_input_open(&in, "-", NULL) == TS_OK);
	CHECK(ts_bytes_eq(in.bytes, TS_LIT("standard")));
	CHECK(strcmp(in.path, "standard input") == 0);
	ts_input_release(&in);
	CHECK(fcntl(0, F_GETFD) >= 0); /* it is not ours to close */
}

TEST_IN_TMPDIR(a_dash_is_standard_input)
{
	run_in_child(read_standard_input);
}

TEST_IN_TMPDIR(a_file_that_cannot_be_mapped_is_read)
{
	struct ts_input in;

	if (access("/proc/self/stat", R_OK) != 0)
		skip();
	assert_int_equal(ts_input_open(&in, "/proc/self/stat", NULL), TS_OK);
	assert_false(in.mapped);
	assert_true(in.bytes.n > 10);
	ts_input_release(&in);
}

TEST_IN_TMPDIR(a_change_under_way_is_seen)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_input in;

	make_file("a", TS_LIT("0123456789"));
	assert_int_equal(ts_input_open(&in, "a", NULL), TS_OK);
	assert_int_equal(truncate("a", 5), 0);
	assert_int_equal(ts_input_check(&in, &err), TS_IO);
	assert_has(err.text, "a: changed while it was read");
	ts_input_release(&in);
}

/* From three pages to one and a bit: the rest of that one is zeros in any case, the others are gone. */
TEST_IN_TMPDIR(a_file_that_is_cut_short_can_be_outlived)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *text = malloc(page * 3);
	struct ts_input in;
	size_t sum = 0;

	assert_non_null(text);
	memset(text, 1, page * 3);
	if (!ts_input_outlive_cuts())
		skip();
	make_file("cut", (struct ts_bytes){ text, page * 3 });
	assert_int_equal(ts_input_open(&in, "cut", NULL), TS_OK);
	assert_int_equal(truncate("cut", (off_t)page + 10), 0);
	for (size_t i = 0; i < in.bytes.n; i++)
		sum += in.bytes.p[i];
	assert_int_equal(sum, page + 10);
	assert_int_equal(ts_input_check(&in, NULL), TS_IO);
	ts_input_release(&in);
	signal(SIGBUS, SIG_DFL);
	free(text);
}
