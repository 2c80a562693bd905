/* SPDX-License-Identifier: MIT */
/* Logs of PyTorch's compiler in a folder, and by name. */
#include "tmpdir.h"

#include "io/rundir.h"

#define LOG(name) "dedicated_log_torch_trace_" name ".log"

/* What is found at PATH, a name after the other, or the message. */
static void assert_logs(const char *path, const char *expected)
{
	struct ts_arena arena = TS_ARENA_INIT;
	const struct ts_hostfile *files;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf got = TS_BUF_INIT;
	size_t nr;

	if (ts_torch_logs_find(&arena, path, &files, &nr, &err))
		ts_buf_puts(&got, err.text);
	for (size_t i = 0; i < nr; i++)
		ts_buf_printf(&got, "%s at %s\n", files[i].name, files[i].path);
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, expected);
	ts_buf_release(&got);
	ts_arena_release(&arena);
}

TEST_IN_TMPDIR(those_of_a_folder_come_by_name)
{
	make_file("logs/" LOG("rank_1_b"), TS_LIT("x"));
	make_file("logs/" LOG("rank_0_a"), TS_LIT("x"));
	make_file("logs/notes.log", TS_LIT("x"));
	assert_logs("logs", LOG("rank_0_a") " at logs/" LOG("rank_0_a") "\n" LOG(
				    "rank_1_b") " at logs/" LOG("rank_1_b") "\n");
}

TEST_IN_TMPDIR(a_file_is_taken_by_whatever_name)
{
	make_file("mine.txt", TS_LIT("x"));
	assert_logs("mine.txt", "mine.txt at mine.txt\n");
}

TEST_IN_TMPDIR(what_is_not_there_is_said)
{
	make_file("logs/notes.log", TS_LIT("x"));
	assert_logs("logs", "logs: no dedicated_log_torch_trace_*.log in it (run with "
			    "TORCH_TRACE=logs)");
	assert_logs("none", "none: cannot look at it: no such file or folder (check the path)");
}

static void find_in_a_closed_folder(void)
{
	struct ts_arena arena = TS_ARENA_INIT;
	const struct ts_hostfile *files;
	struct ts_error err = TS_ERROR_INIT;
	size_t nr;

	CHECK(mkdir("closed", 0) == 0);
	CHECK(ts_torch_logs_find(&arena, "closed", &files, &nr, &err) == TS_IO);
	CHECK(strstr(err.text, "closed: cannot open the folder") && nr == 0);
	ts_arena_release(&arena);
}

TEST_IN_TMPDIR(a_closed_folder_is_said)
{
	run_unprivileged(find_in_a_closed_folder);
}
