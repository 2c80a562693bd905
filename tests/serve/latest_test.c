/* SPDX-License-Identifier: MIT */
/* The report of a watched job is made only when a client waits for it, and the client never
 * waits too long. */
#include "tests/test.h"

#include <pthread.h>

#include "base/clock.h"
#include "serve/latest.h"

#define SOON_MS	 20
#define LATER_MS 60000

static void give(struct ts_latest *latest, const char *words)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_puts(&text, words);
	ts_latest_give(latest, &text);
	ts_buf_release(&text);
}

static void must_be(struct ts_answer answer, unsigned status, const char *words)
{
	struct ts_buf text = TS_BUF_INIT;

	assert_int_equal(answer.status, status);
	assert_non_null(answer.body);
	ts_buf_put(&text, ts_buf_bytes(&answer.body->text));
	ts_buf_putc(&text, '\0');
	assert_non_null(strstr((const char *)text.p, words));
	ts_buf_release(&text);
	ts_body_drop(answer.body);
}

static void *ask(void *arg)
{
	must_be(ts_latest_get(arg, TS_LATEST_ID), 200, "of now");
	return NULL;
}

TEST(a_client_gets_a_report_made_after_it_asked)
{
	struct ts_latest *latest = ts_latest_new("a job", LATER_MS);
	pthread_t thread;

	assert_false(ts_latest_is_wanted(latest));
	give(latest, "of before");
	assert_int_equal(pthread_create(&thread, NULL, ask, latest), 0);
	while (!ts_latest_is_wanted(latest))
		;
	give(latest, "of now");
	pthread_join(thread, NULL);
	assert_false(ts_latest_is_wanted(latest));
	ts_latest_free(latest);
}

TEST(when_none_comes_it_is_the_last_one)
{
	struct ts_latest *latest = ts_latest_new("a job", SOON_MS);

	must_be(ts_latest_get(latest, TS_LATEST_ID), 503, "no sample yet");
	give(latest, "of before");
	must_be(ts_latest_get(latest, TS_LATEST_ID), 200, "of before");
	ts_latest_free(latest);
}

static void *close_it(void *arg)
{
	while (!ts_latest_is_wanted(arg))
		;
	ts_latest_close(arg);
	return NULL;
}

TEST(no_client_waits_when_there_will_be_no_more)
{
	struct ts_latest *latest = ts_latest_new("a job", LATER_MS);
	int64_t begin_ms = ts_now_ms();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, close_it, latest), 0);
	must_be(ts_latest_get(latest, TS_LATEST_ID), 503, "no sample yet");
	pthread_join(thread, NULL);
	give(latest, "the last");
	must_be(ts_latest_get(latest, TS_LATEST_ID), 200, "the last");
	assert_in_range(ts_now_ms() - begin_ms, 0, LATER_MS / 2);
	ts_latest_free(latest);
}

TEST(it_is_one_run_with_one_name)
{
	struct ts_latest *latest = ts_latest_new("host0:9012 \"a\"", SOON_MS);

	must_be(ts_latest_list(latest), 200, "\"id\":\"live\"");
	must_be(ts_latest_list(latest), 200, "\"title\":\"host0:9012 \\\"a\\\"\"");
	must_be(ts_latest_get(latest, NULL), 400, "which run?");
	must_be(ts_latest_get(latest, "another"), 404, "?run=live");
	ts_latest_free(latest);
}
