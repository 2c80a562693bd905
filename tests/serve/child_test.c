/* SPDX-License-Identifier: MIT */
/* Work in a child: its answer comes back whole, and when it dies, the next one is made all the same. */
#include "tests/test.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "serve/child.h"

#define LONG_BYTES (5 << 20)

/* What the helper knows of the program: pipes that children say something to. */
struct given {
	int pids[2], ends[2];
};

static enum ts_status repeat(void *ctx, struct ts_bytes question, const struct ts_halt *halt,
			     struct ts_buf *answer, struct ts_error *err)
{
	while (answer->n < LONG_BYTES)
		ts_buf_put(answer, question);
	return TS_OK;
}

static enum ts_status refuse(void *ctx, struct ts_bytes question, const struct ts_halt *halt,
			     struct ts_buf *answer, struct ts_error *err)
{
	ts_buf_puts(answer, "half of it");
	return ts_fail(err, TS_LIMIT, "%s: too deep", (const char *)question.p);
}

/* Says who it is, works until nobody waits, and says that. */
static enum ts_status work(void *ctx, struct ts_bytes question, const struct ts_halt *halt,
			   struct ts_buf *answer, struct ts_error *err)
{
	const struct given *given = ctx;
	pid_t pid = getpid();

	if (write(given->pids[1], &pid, sizeof(pid)) != sizeof(pid))
		return ts_fail(err, TS_IO, "a pipe");
	while (!ts_is_halted(halt))
		usleep(1000);
	if (write(given->ends[1], "", 1) != 1)
		return ts_fail(err, TS_IO, "a pipe");
	return ts_fail(err, TS_HALTED, "it was left");
}

static struct given given;

static struct ts_helper *helper_new(void)
{
	struct ts_helper *helper;

	assert_int_equal(pipe(given.pids), 0);
	assert_int_equal(pipe(given.ends), 0);
	helper = ts_helper_new(&given);
	assert_non_null(helper);
	return helper;
}

static void assert_answers(const struct ts_helper *helper)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_child_run(helper, repeat, TS_LIT("word"), NULL, &out, &err), TS_OK);
	assert_int_equal(out.n, LONG_BYTES);
	assert_memory_equal(out.p + out.n - 8, "wordword", 8);
	ts_buf_release(&out);
}

static pid_t next_child(void)
{
	pid_t pid = 0;

	assert_int_equal(read(given.pids[0], &pid, sizeof(pid)), sizeof(pid));
	return pid;
}

TEST(an_answer_comes_back_whole)
{
	struct ts_helper *helper = helper_new();

	for (int i = 0; i < 3; i++)
		assert_answers(helper);
	ts_helper_free(helper);
}

TEST(a_story_comes_back_without_an_answer)
{
	struct ts_helper *helper = helper_new();
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_bytes question = { (const uint8_t *)"a.pb", sizeof("a.pb") };

	assert_int_equal(ts_child_run(helper, refuse, question, NULL, &out, &err), TS_LIMIT);
	assert_string_equal(err.text, "a.pb: too deep");
	assert_int_equal(out.n, 0);
	ts_helper_free(helper);
}

static void *kill_next(void *arg)
{
	assert_int_equal(kill(next_child(), SIGKILL), 0);
	return NULL;
}

TEST(a_child_that_dies_is_an_error_and_the_next_one_answers)
{
	struct ts_helper *helper = helper_new();
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	pthread_t killer;

	assert_int_equal(pthread_create(&killer, NULL, kill_next, NULL), 0);
	assert_int_equal(ts_child_run(helper, work, TS_LIT(""), NULL, &out, &err), TS_IO);
	assert_int_equal(pthread_join(killer, NULL), 0);
	assert_non_null(strstr(err.text, "ended before it was done"));
	assert_int_equal(out.n, 0);
	assert_answers(helper);
	ts_helper_free(helper);
}

static bool is_asked(void *ctx)
{
	return true;
}

TEST(a_child_that_nobody_waits_for_ends)
{
	const struct ts_halt halt = { is_asked, NULL };
	struct ts_helper *helper = helper_new();
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	char end;

	assert_int_equal(ts_child_run(helper, work, TS_LIT(""), &halt, &out, &err), TS_HALTED);
	assert_int_equal(read(given.ends[0], &end, 1), 1);
	ts_helper_free(helper);
}
