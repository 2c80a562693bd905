/* SPDX-License-Identifier: MIT */
/*
 * Each allocation fails in turn while a log directory is watched: it is said, by TS_NOMEM or of the
 * session, which is tried again then; the session's own bytes are there at any time, and nothing is
 * left behind (the sanitizer build looks for leaks).
 */
#include "tests/test.h"
#include "io/input.h"

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "live/live.h"
#include "tests/oom/failing.h"
#include "tests/overlay/folder.h"

#define PROFILE "tests/data/cpu_steps.xplane.pb"
#define SESSION "plugins/profile/now"
#define FILE_OF SESSION "/host.xplane.pb"

struct watching {
	struct ts_live *live;
	bool is_told; /* a session says that memory was out */
	uint64_t nr_annotated;
};

static void on_event(void *ctx, const struct ts_feed_event *event)
{
	struct watching *watching = ctx;
	const struct ts_live_session *session = event->session;

	if (event->kind != TS_FEED_SESSION)
		return;
	if (session->state == TS_SESSION_FAILED)
		assert_non_null(strstr(session->problem, "memory"));
	watching->is_told |= session->state == TS_SESSION_FAILED;
	watching->nr_annotated += session->state == TS_SESSION_ANNOTATED;
	if (watching->nr_annotated > 0)
		ts_live_stop(watching->live);
}

static enum ts_status watch(const struct folder *folder, struct watching *watching,
			    struct ts_error *err)
{
	struct ts_settings settings;
	struct ts_live_summary summary;
	struct ts_live_options options = {
		.watch = { .logdir = folder->path, .poll_ms = 1 },
		.annotate = { .nr_threads = 1,
			      .settings = &settings,
			      .max_overlay_events = 1000,
			      .version = "test" },
		.for_ms = 20000,
		.settings = &settings,
		.fail_on = TS_NR_SEVERITIES,
	};
	enum ts_status st;

	ts_settings_init(&settings);
	memset(watching, 0, sizeof(*watching));
	st = ts_live_new(&watching->live, &options, err);
	if (st)
		return st;
	assert_true(ts_feed_listen(ts_live_feed(watching->live), on_event, watching));
	st = ts_live_run(watching->live, &summary, err);
	ts_live_free(watching->live);
	return st;
}

TEST(every_allocation_of_watching_a_folder_may_fail)
{
	struct failing_sample sample = failing_sample();
	long at = sample.first;
	struct ts_input input = TS_INPUT_INIT;
	const char *top = getenv("srcdir");
	bool has_failed = true;
	char path[512];

	snprintf(path, sizeof(path), "%s/" PROFILE, top ? top : ".");
	assert_int_equal(ts_input_open(&input, path, NULL), TS_OK);
	for (; has_failed; at += sample.step) {
		struct ts_error err = TS_ERROR_INIT;
		struct watching watching;
		struct ts_buf now = TS_BUF_INIT;
		struct folder folder;
		enum ts_status st;

		folder_make(&folder);
		make_dirs(&folder, SESSION);
		put_file(&folder, FILE_OF, input.bytes);
		failing_begin(at);
		st = watch(&folder, &watching, &err);
		has_failed = failing_end();
		if (st != (has_failed && !watching.is_told ? TS_NOMEM : TS_OK))
			fail_msg("allocation %ld failed and watching said %d (%s)", at, (int)st,
				 err.text);
		assert_true(st == TS_NOMEM || watching.nr_annotated == 1);
		get_file(&folder, FILE_OF, &now);
		assert_true(now.n >= input.bytes.n);
		assert_memory_equal(now.p, input.bytes.p, input.bytes.n);
		ts_buf_release(&now);
		folder_remove(&folder);
	}
	print_message("%ld allocations\n", at);
	assert_true(at > 200);
	ts_input_release(&input);
}
