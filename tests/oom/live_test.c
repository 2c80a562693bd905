/* SPDX-License-Identifier: MIT */
/*
 * Each allocation fails in turn while a job is watched: what is out of memory must be said - by
 * TS_NOMEM, or by the host whose answer found no room - and nothing may crash or be left behind
 * (the sanitizer build looks for leaks). The server is another process, so that its memory is its
 * own.
 */
#include <signal.h>
#include <sys/wait.h>

#include "codec/pbw.h"
#include "tests/test.h"
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "io/input.h"
#include "live/alert_command.h"
#include "live/live.h"
#include "tests/live/fake_service.h"
#include "tests/oom/failing.h"

#define PROFILE	   "tests/data/cpu_steps.xplane.pb"
#define NR_SAMPLES 2 /* the second one completes its modules from memory */
enum { RESPONSE_XSPACE = 8 };

struct server {
	pid_t pid;
	char address[32];
};

/* In the other process. */
static void serve(int out)
{
	struct ts_input input = TS_INPUT_INIT;
	struct ts_buf answer = TS_BUF_INIT;
	const char *top = getenv("srcdir");
	struct fake_service fake;
	char path[512];

	snprintf(path, sizeof(path), "%s/" PROFILE, top ? top : ".");
	if (ts_input_open(&input, path, NULL))
		_exit(1);
	ts_pbw_bytes(&answer, RESPONSE_XSPACE, input.bytes);
	if (!fake_start(&fake, 0, ts_buf_bytes(&answer)) ||
	    write(out, &fake.port, sizeof(fake.port)) != sizeof(fake.port))
		_exit(1);
	for (;;)
		pause();
}

static int start_server(void **state)
{
	static struct server server;
	uint16_t port;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	server.pid = fork();
	if (server.pid == 0)
		serve(ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &port, sizeof(port)), sizeof(port));
	close(ends[0]);
	snprintf(server.address, sizeof(server.address), "127.0.0.1:%u", port);
	*state = &server;
	return 0;
}

static int end_server(void **state)
{
	struct server *server = *state;

	kill(server->pid, SIGKILL);
	return waitpid(server->pid, NULL, 0) == server->pid ? 0 : -1;
}

struct watching {
	struct ts_live *live;
	bool is_reported; /* a host says that its answer found no memory */
};

static void on_event(void *ctx, const struct ts_feed_event *event)
{
	struct watching *watching = ctx;
	const struct ts_live_sample *sample = event->sample;

	if (event->kind == TS_FEED_SAMPLE && strstr(sample->services[0].problem.text, "memory"))
		watching->is_reported = true;
	if (sample->number >= NR_SAMPLES || watching->is_reported)
		ts_live_stop(watching->live);
}

static enum ts_status watch(const char *address, struct ts_error *err)
{
	struct watching watching = { .is_reported = false };
	struct ts_settings settings;
	struct ts_live_summary summary;
	struct ts_live_options options = {
		.sampler = { .addresses = &address,
			     .nr_addresses = 1,
			     .sample_ms = 1,
			     .timeout_ms = 5000,
			     .max_bytes = 1 << 24 },
		.for_ms = 20000,
		.settings = &settings,
		.nr_threads = 1,
		.fail_on = TS_NR_SEVERITIES,
	};
	enum ts_status st;

	ts_settings_init(&settings);
	st = ts_live_new(&watching.live, &options, err);
	if (st)
		return st;
	assert_true(ts_feed_listen(ts_live_feed(watching.live), on_event, &watching));
	st = ts_live_run(watching.live, &summary, err);
	if (st == TS_OK && !watching.is_reported)
		assert_int_equal(summary.nr_samples, NR_SAMPLES);
	ts_live_free(watching.live);
	return watching.is_reported ? TS_NOMEM : st;
}

/* The number of allocations depends on the pieces in which an answer comes: the test ends when none
 * failed. */
TEST_WITH(every_allocation_of_watching_may_fail, start_server, end_server)
{
	const struct server *server = *state;
	struct failing_sample sample = failing_sample();
	long at = sample.first;
	bool has_failed = true;

	for (; has_failed; at += sample.step) {
		struct ts_error err = TS_ERROR_INIT;
		enum ts_status st;

		failing_begin(at);
		st = watch(server->address, &err);
		has_failed = failing_end();
		if (st != (has_failed ? TS_NOMEM : TS_OK))
			fail_msg("allocation %ld failed and watching said %d (%s)", at, (int)st,
				 err.text);
	}
	print_message("%ld allocations\n", at);
	assert_true(at > 100);
}

static enum ts_status run_command(struct ts_error *err)
{
	struct ts_alert_command runner = { .text = "exit 0" };
	struct ts_alert alert = { .rule = "idle", .severity = TS_WARNING, .value = 1 };
	enum ts_status st = ts_alert_command_run(&runner, &alert, err);

	ts_alert_command_finish(&runner, 5000);
	return st;
}

TEST(every_allocation_of_a_command_may_fail)
{
	bool has_failed = true;
	long at = 1;

	for (; has_failed; at++) {
		struct ts_error err = TS_ERROR_INIT;
		enum ts_status st;

		failing_begin(at);
		st = run_command(&err);
		has_failed = failing_end();
		assert_int_equal(st, has_failed ? TS_NOMEM : TS_OK);
	}
	assert_true(at > 8);
}
