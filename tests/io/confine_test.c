/* SPDX-License-Identifier: MIT */
/* What a confined process can still do, and what not: in a child, because it cannot be taken back. */
#include "tmpdir.h"

#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "io/confine.h"
#include "io/newfile.h"
#include "io/scratch.h"

#define GOOD "inside/file"

static struct ts_confine confine;

/* Ends the child with SKIPPED where the system cannot do it. */
static void enter(unsigned needs, const char *writable)
{
	if (!ts_confine_is_possible())
		_exit(SKIPPED);
	ts_confine_init(&confine, needs);
	ts_confine_allow(&confine, "inside", TS_ACCESS_READ);
	if (writable)
		ts_confine_allow(&confine, writable, TS_ACCESS_WRITE);
	ts_confine_allow(&confine, "not there", TS_ACCESS_WRITE);
	ts_confine_enter(&confine);
}

static void need_landlock(void)
{
	if (confine.landlock == 0)
		_exit(SKIPPED);
}

static void need_seccomp(void)
{
	if (!confine.seccomp)
		_exit(SKIPPED);
}

static bool can_open(const char *path, int how)
{
	int fd = open(path, how, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void read_only(void)
{
	enter(0, NULL);
	need_landlock();
	CHECK(can_open(GOOD, O_RDONLY));
	CHECK(!can_open("outside/file", O_RDONLY) && errno == EACCES);
	CHECK(!can_open("inside/link", O_RDONLY) && errno == EACCES); /* it leads out */
	CHECK(!can_open("inside/../outside/file", O_RDONLY) && errno == EACCES);
	CHECK(!can_open(GOOD, O_WRONLY) && errno == EACCES);
	CHECK(!can_open("inside/new", O_CREAT | O_WRONLY) && errno == EACCES);
	CHECK(truncate(GOOD, 0) != 0 || confine.landlock < 3);
	CHECK(unlink(GOOD) != 0 && errno == EACCES);
	CHECK(rename("outside/file", "inside/stolen") != 0);
	CHECK(access("outside/file", F_OK) == 0); /* names are not confined */
}

static void written(void)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_error err = TS_ERROR_INIT;

	enter(TS_WRITES_INSIDE, "results");
	need_landlock();
	CHECK(ts_newfile_open(&file, "results/file", &err) == TS_OK);
	CHECK(ts_newfile_put(&file, TS_LIT("new"), &err) == TS_OK);
	CHECK(ts_newfile_commit(&file, &err) == TS_OK);
	ts_newfile_release(&file);
	CHECK(mkdir("results/folder", 0700) == 0);
	CHECK(unlink("results/file") == 0);
	CHECK(!can_open("inside/new", O_CREAT | O_WRONLY) && errno == EACCES);
}

static void one_file(void)
{
	enter(0, "outside/file");
	need_landlock();
	CHECK(can_open("outside/file", O_RDWR));
	CHECK(!can_open("outside/other", O_RDONLY) && errno == EACCES);
	CHECK(!can_open("outside/new", O_CREAT | O_WRONLY) && errno == EACCES);
}

static void *open_outside(void *arg)
{
	*(bool *)arg = can_open("outside/file", O_RDONLY);
	return NULL;
}

static void thread(void)
{
	pthread_t id;
	bool could = true;

	enter(0, NULL);
	need_landlock();
	CHECK(pthread_create(&id, NULL, open_outside, &could) == 0);
	CHECK(pthread_join(id, NULL) == 0);
	CHECK(!could);
}

static void temporary_files(void)
{
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	struct ts_error err = TS_ERROR_INIT;

	if (!ts_confine_is_possible())
		_exit(SKIPPED);
	CHECK(mkdir("temporary", 0700) == 0 && setenv("TMPDIR", "temporary", 1) == 0);
	ts_confine_init(&confine, 0);
	ts_confine_allow_system(&confine);
	ts_confine_enter(&confine);
	need_landlock();
	CHECK(ts_scratch_put(&scratch, TS_LIT("bytes"), &err) == TS_OK);
	ts_scratch_release(&scratch);
	CHECK(can_open("/dev/null", O_RDWR));
	CHECK(!can_open("/tmp/tpusight-confine-test", O_CREAT | O_WRONLY) && errno == EACCES);
}

static bool is_denied(long number, long a, long b, long c)
{
	return syscall(number, a, b, c, 0, 0, 0) < 0 && errno == EPERM;
}

static void calls(void)
{
	char *const nothing[] = { NULL };

	enter(0, NULL);
	need_seccomp();
	CHECK(is_denied(SYS_socket, AF_INET, SOCK_STREAM, 0));
	CHECK(is_denied(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
	CHECK(is_denied(SYS_ptrace, PTRACE_TRACEME, 0, 0));
	CHECK(is_denied(SYS_bpf, 0, 0, 0));
	CHECK(is_denied(425 /* io_uring_setup */, 1, 0, 0));
	CHECK(is_denied(SYS_unshare, 0, 0, 0));
	CHECK(is_denied(SYS_mount, 0, 0, 0));
	CHECK(is_denied(SYS_keyctl, 0, 0, 0));
	CHECK(execve("/bin/true", nothing, nothing) != 0 && errno == EPERM);
	CHECK(getpid() > 0 && can_open(GOOD, O_RDONLY));
#ifdef __x86_64__
	CHECK(is_denied(0x40000000 | SYS_getpid, 0, 0, 0)); /* the same call by another number */
#endif
}

static void listening(void)
{
	int fd;

	enter(TS_LISTENS, NULL);
	need_seccomp();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(fd >= 0 && listen(fd, 1) == 0);
	CHECK(is_denied(SYS_connect, fd, 0, 0));
}

static void connecting(void)
{
	int fd;

	enter(TS_CONNECTS, NULL);
	need_seccomp();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(fd >= 0 && !is_denied(SYS_connect, fd, 0, 0));
	CHECK(is_denied(SYS_listen, fd, 1, 0));
}

/* As in a container that knows neither. */
static void not_there(void)
{
	if (!ts_confine_is_possible())
		_exit(SKIPPED);
	enter(0, NULL);
	ts_confine_init(&confine, 0);
	close(confine.ruleset);
	confine.ruleset = -1;
	ts_confine_allow(&confine, "inside", TS_ACCESS_READ);
	ts_confine_enter(&confine);
	CHECK(confine.landlock == 0);
	CHECK(can_open(GOOD, O_RDONLY));
}

static void in_folders(void (*body)(void))
{
	make_file(GOOD, TS_LIT("x"));
	make_file("outside/file", TS_LIT("x"));
	make_file("outside/other", TS_LIT("x"));
	make_file("results/file", TS_LIT("old"));
	assert_int_equal(symlink("../outside/file", "inside/link"), 0);
	run_in_child(body);
}

#define TEST_IN_FOLDERS(name, body)   \
	TEST_IN_TMPDIR(name)          \
	{                             \
		in_folders(body);     \
	}
TEST_IN_FOLDERS(content_outside_is_closed_and_content_inside_is_read_only, read_only)
TEST_IN_FOLDERS(a_place_that_is_written_takes_new_files_and_others_do_not, written)
TEST_IN_FOLDERS(a_single_file_can_be_allowed, one_file)
TEST_IN_FOLDERS(threads_are_confined_too, thread)
TEST_IN_FOLDERS(temporary_files_stay_possible_in_their_folder, temporary_files)
TEST_IN_FOLDERS(calls_that_no_reader_needs_are_denied, calls)
TEST_IN_FOLDERS(a_server_listens_and_cannot_connect, listening)
TEST_IN_FOLDERS(a_client_connects_and_cannot_listen, connecting)
TEST_IN_FOLDERS(without_landlock_the_program_goes_on, not_there)
