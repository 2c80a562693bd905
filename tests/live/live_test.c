/* SPDX-License-Identifier: MIT */
/* Test servers are watched: many samples, damaged samples, hosts that go and come back. */
#include <limits.h>
#include <sys/resource.h>

#include "tests/test.h"
#include "codec/pbw.h"

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "io/input.h"
#include "live/live.h"
#include "tests/live/fake_service.h"
#include "tests/overlay/folder.h"
#include "tests/turn.h"

#define PROFILE	   TS_SRCDIR "/tests/data/cpu_shapes.xplane.pb"
#define NR_SAMPLES (HAS_SANITIZER ? 200 : 1000) /* memory is looked at without sanitizers */
#define MAX_KIB	   (64 * 1024)
enum { RESPONSE_XSPACE = 8 };

struct watched {
	struct ts_live *live;
	struct fake_service *fakes[2];
	uint64_t until; /* stop after so many samples */
	uint64_t nr_events, nr_raised, nr_empty;
	const char *repository;
	void (*each)(struct watched *watched, const struct ts_feed_event *event);
};

static void on_event(void *ctx, const struct ts_feed_event *event)
{
	struct watched *watched = ctx;

	watched->nr_events++;
	watched->nr_raised += event->kind == TS_FEED_ALERT && event->alert->is_active;
	if (event->kind == TS_FEED_SAMPLE)
		watched->nr_empty += event->sample->nr_hosts == 0;
	if (watched->each)
		watched->each(watched, event);
	if (event->sample->number >= watched->until)
		ts_live_stop(watched->live);
}

static void watch(struct watched *watched, const char *const *addresses, size_t nr,
		  enum ts_hlo_choice hlo, struct ts_live_summary *summary)
{
	struct ts_settings settings;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_live_options options = {
		.sampler = { .addresses = addresses,
			     .nr_addresses = nr,
			     .sample_ms = 1,
			     .timeout_ms = 60000,
			     .hlo = hlo,
			     .max_bytes = 1 << 24,
			     .repository = watched->repository },
		.for_ms = 900000, /* .until ends it, however busy the machine is */
		.hold_ms = 1000,
		.clear_ms = 5000,
		.settings = &settings,
		.nr_threads = 1,
		.fail_on = TS_NR_SEVERITIES,
	};

	ts_settings_init(&settings);
	assert_int_equal(ts_live_new(&watched->live, &options, &err), TS_OK);
	assert_true(ts_feed_listen(ts_live_feed(watched->live), on_event, watched));
	assert_int_equal(ts_live_run(watched->live, summary, &err), TS_OK);
	ts_live_free(watched->live);
}

static void answer_of(struct ts_buf *out, struct ts_bytes xspace)
{
	ts_buf_clear(out);
	ts_pbw_bytes(out, RESPONSE_XSPACE, xspace);
	assert_false(out->failed);
}

static void read_profile(struct ts_buf *answer)
{
	struct ts_input input = TS_INPUT_INIT;

	assert_int_equal(ts_input_open(&input, PROFILE, NULL), TS_OK);
	answer_of(answer, input.bytes);
	ts_input_release(&input);
}

TEST(many_samples_take_no_more_memory_than_one)
{
	struct watched watched = { .until = NR_SAMPLES };
	struct ts_live_summary summary;
	struct ts_buf answer = TS_BUF_INIT;
	struct fake_service fake;
	struct rusage usage;
	const char *address;
	char text[32];

	read_profile(&answer);
	assert_true(fake_start(&fake, 0, ts_buf_bytes(&answer)));
	address = fake_address(&fake, text);
	watch(&watched, &address, 1, TS_HLO_ONCE, &summary);
	assert_int_equal(summary.nr_samples, NR_SAMPLES);
	/* it compiles in each sample (recompilation, compilation_time_high), and meanwhile its
	 * processor is idle: each alert is raised once */
	assert_in_range(watched.nr_raised, 1, 3);
	getrusage(RUSAGE_SELF, &usage);
	print_message("peak of %ld KiB after %d samples\n", usage.ru_maxrss, NR_SAMPLES);
#if !HAS_SANITIZER
	assert_in_range(usage.ru_maxrss, 1, MAX_KIB);
#endif
	fake_stop(&fake);
	ts_buf_release(&answer);
}

/* Sample by sample the answer is cut a little shorter. */
static struct ts_buf cut_answer;
static struct ts_bytes cut_xspace;

static void cut_more(struct watched *watched, const struct ts_feed_event *event)
{
	static uint64_t nr;

	if (event->kind != TS_FEED_SAMPLE)
		return;
	nr++;
	answer_of(&cut_answer,
		  ts_bytes_cut(cut_xspace, 0, cut_xspace.n - TS_MIN(nr * 997, cut_xspace.n)));
	fake_set_message(watched->fakes[0], ts_buf_bytes(&cut_answer));
	if (nr * 997 >= cut_xspace.n)
		ts_live_stop(watched->live);
}

TEST(a_sample_cut_anywhere_ends_nothing)
{
	struct watched watched = { .until = UINT64_MAX, .each = cut_more };
	struct ts_input input = TS_INPUT_INIT;
	struct ts_live_summary summary;
	struct fake_service fake;
	const char *address;
	char text[32];

	assert_int_equal(ts_input_open(&input, PROFILE, NULL), TS_OK);
	cut_xspace = input.bytes;
	answer_of(&cut_answer, cut_xspace);
	assert_true(fake_start(&fake, 0, ts_buf_bytes(&cut_answer)));
	watched.fakes[0] = &fake;
	address = fake_address(&fake, text);
	watch(&watched, &address, 1, TS_HLO_ALWAYS, &summary);
	assert_in_range(summary.nr_samples, 2, cut_xspace.n);
	fake_stop(&fake);
	ts_buf_release(&cut_answer);
	ts_input_release(&input);
}

/* The second host is gone for a while, and another process answers in its place. */
static struct ts_buf whole_answer;

static void go_and_come(struct watched *watched, const struct ts_feed_event *event)
{
	struct fake_service *fake = watched->fakes[1];
	uint16_t port = fake->port;

	if (event->kind != TS_FEED_SAMPLE)
		return;
	if (event->sample->number == 3)
		fake_stop(fake);
	if (event->sample->number == 5)
		assert_true(fake_start(fake, port, ts_buf_bytes(&whole_answer)));
	if (event->sample->services[1].nr_restarts == 1 && event->sample->nr_hosts == 2)
		ts_live_stop(watched->live);
}

TEST(a_host_that_goes_and_comes_is_watched_again)
{
	struct watched watched = { .until = UINT64_MAX, .each = go_and_come };
	struct ts_live_summary summary;
	struct fake_service fakes[2];
	const char *addresses[2];
	char text[2][32];

	read_profile(&whole_answer);
	for (size_t i = 0; i < 2; i++) {
		assert_true(fake_start(&fakes[i], 0, ts_buf_bytes(&whole_answer)));
		watched.fakes[i] = &fakes[i];
		addresses[i] = fake_address(&fakes[i], text[i]);
	}
	watch(&watched, addresses, 2, TS_HLO_ONCE, &summary);
	assert_in_range(summary.nr_samples, 6, 100000);
	assert_int_equal(summary.nr_silent, 0);
	assert_int_equal(watched.nr_empty, 0); /* the other host was there all the time */
	for (size_t i = 0; i < 2; i++)
		fake_stop(&fakes[i]);
	ts_buf_release(&whole_answer);
}

/* Another process answers in its place before the next request: no call of ours fails. */
static void come_at_once(struct watched *watched, const struct ts_feed_event *event)
{
	struct fake_service *fake = watched->fakes[0];
	const struct ts_service *service = event->sample->services;
	uint16_t port = fake->port;

	if (event->kind != TS_FEED_SAMPLE)
		return;
	assert_int_equal(service->state, TS_SERVICE_UP);
	assert_int_equal(service->nr_failed, 0);
	assert_int_equal(service->nr_restarts, event->sample->number > 3);
	if (event->sample->number != 3)
		return;
	fake_stop(fake);
	assert_true(fake_start(fake, port, ts_buf_bytes(&whole_answer)));
}

TEST(a_server_that_is_another_process_by_the_next_sample_is_noticed)
{
	struct watched watched = { .until = 12, .each = come_at_once };
	struct ts_live_summary summary;
	struct fake_service fake;
	const char *address;
	char text[32];

	read_profile(&whole_answer);
	assert_true(fake_start(&fake, 0, ts_buf_bytes(&whole_answer)));
	watched.fakes[0] = &fake;
	address = fake_address(&fake, text);
	watch(&watched, &address, 1, TS_HLO_ONCE, &summary);
	assert_int_equal(summary.nr_samples, 12);
	fake_stop(&fake);
	ts_buf_release(&whole_answer);
}

TEST(a_silent_host_does_not_hold_up_the_others)
{
	struct watched watched = { .until = 2 };
	struct ts_live_summary summary;
	struct ts_buf answer = TS_BUF_INIT;
	struct fake_service fakes[2];
	const char *addresses[2];
	char text[2][32];

	read_profile(&answer);
	for (size_t i = 0; i < 2; i++) {
		assert_true(fake_start(&fakes[i], 0, ts_buf_bytes(&answer)));
		addresses[i] = fake_address(&fakes[i], text[i]);
	}
	atomic_store(&fakes[1].way, FAKE_SILENT);
	watch(&watched, addresses, 2, TS_HLO_NEVER, &summary);
	assert_int_equal(summary.nr_samples, 2);
	assert_int_equal(summary.nr_silent, 1);
	for (size_t i = 0; i < 2; i++)
		fake_stop(&fakes[i]);
	ts_buf_release(&answer);
}

/* One that sends, one that writes files: both are in the samples, and nothing is left in the
 * folder. */
TEST(a_server_that_writes_files_is_read_from_the_folder_that_both_see)
{
	struct watched watched = { .until = 3 };
	struct ts_live_summary summary;
	struct ts_input input = TS_INPUT_INIT;
	struct ts_buf answer = TS_BUF_INIT;
	struct fake_service fakes[2];
	struct folder folder;
	const char *addresses[2];
	char text[2][32];

	folder_make(&folder);
	watched.repository = folder.path;
	read_profile(&answer);
	assert_int_equal(ts_input_open(&input, PROFILE, NULL), TS_OK);
	for (size_t i = 0; i < 2; i++) {
		assert_true(fake_start(&fakes[i], 0, i ? input.bytes : ts_buf_bytes(&answer)));
		addresses[i] = fake_address(&fakes[i], text[i]);
	}
	atomic_store(&fakes[1].way, FAKE_FILE);
	watch(&watched, addresses, 2, TS_HLO_ONCE, &summary);
	assert_int_equal(summary.nr_samples, 3);
	assert_int_equal(summary.nr_silent, 0);
	assert_int_equal(watched.nr_empty, 0);
	for (size_t i = 0; i < 2; i++)
		fake_stop(&fakes[i]);
	assert_int_equal(rmdir(folder.path), 0); /* it is empty */
	ts_input_release(&input);
	ts_buf_release(&answer);
}

static void stop_at_third(struct watched *watched, const struct ts_feed_event *event)
{
	const struct ts_service *service = event->sample->services;

	if (event->kind != TS_FEED_SAMPLE || service->state == TS_SERVICE_LATE)
		return;
	assert_non_null(strstr(service->problem.text,
			       watched->repository ? "/tpusight_live_" : "--repository"));
	if (watched->nr_empty >= 3)
		ts_live_stop(watched->live);
}

/* Each request would start the job's profiler for nothing. */
TEST(without_such_a_folder_the_server_is_not_asked_on_and_on)
{
	struct watched watched = { .until = UINT64_MAX, .each = stop_at_third };
	struct ts_live_summary summary;
	struct fake_service fake;
	const char *address;
	char text[32];

	assert_true(fake_start(&fake, 0, TS_LIT("\x38\x00"))); /* empty_trace alone */
	address = fake_address(&fake, text);
	watch(&watched, &address, 1, TS_HLO_NEVER, &summary);
	assert_int_equal(summary.nr_samples, 0);
	assert_int_equal(atomic_load(&fake.nr_calls), 1);
	fake_stop(&fake);
}

static void stop_when_down(struct watched *watched, const struct ts_feed_event *event)
{
	const struct ts_service *service = event->sample->services;

	if (event->kind != TS_FEED_SAMPLE)
		return;
	assert_int_equal(service->state, TS_SERVICE_DOWN); /* not busy */
	assert_non_null(strstr(service->problem.text, "older than XLA's emit_xspace"));
	assert_non_null(strstr(service->problem.text, "--repository"));
	if (watched->nr_empty >= 3)
		ts_live_stop(watched->live);
}

/* The server and this test have one working directory, which stands for the job's: an empty
 * repository in the request would show as a folder in it. */
TEST(a_server_that_writes_files_writes_none_without_a_repository)
{
	struct watched watched = { .until = UINT64_MAX, .each = stop_when_down };
	struct ts_live_summary summary;
	struct fake_service fake;
	struct folder folder;
	const char *address;
	char text[32], before[4096];

	folder_make(&folder);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder.path), 0);
	assert_true(fake_start(&fake, 0, TS_LIT("a profile")));
	atomic_store(&fake.way, FAKE_FILE);
	address = fake_address(&fake, text);
	watch(&watched, &address, 1, TS_HLO_NEVER, &summary);
	assert_int_equal(summary.nr_samples, 0);
	assert_int_equal(atomic_load(&fake.nr_calls), 1); /* and it is not asked on and on */
	fake_stop(&fake);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(folder.path), 0); /* it is empty */
}

/* It writes somewhere else, or half of it. */
TEST(a_file_that_does_not_come_whole_is_reported)
{
	struct watched watched = { .until = UINT64_MAX, .each = stop_at_third };
	struct ts_live_summary summary;
	struct fake_service fake;
	struct folder folder;
	const char *address;
	char text[32];

	folder_make(&folder);
	watched.repository = folder.path;
	for (int half = 0; half < 2; half++) {
		watched.nr_empty = 0;
		assert_true(
			fake_start(&fake, 0, half ? TS_LIT("\x0a\x7f half") : TS_LIT("\x38\x00")));
		atomic_store(&fake.way, half ? FAKE_FILE : FAKE_ANSWER);
		address = fake_address(&fake, text);
		watch(&watched, &address, 1, TS_HLO_NEVER, &summary);
		assert_int_equal(summary.nr_samples, 0);
		fake_stop(&fake);
	}
	assert_int_equal(rmdir(folder.path), 0);
}

/*
 * A job that hangs is reported as late every two seconds, and what it answers at last is taken. It
 * is the second report that ends the hanging, not a time: a busy machine makes the reports come
 * later, never sooner, and what is asserted holds for every such delay.
 */
#define NR_LATE	       2
#define REPORT_EACH_MS 2000 /* PATIENCE_MS of sampler.c */

static void note_late(struct watched *watched, const struct ts_feed_event *event)
{
	const struct ts_live_sample *sample = event->sample;

	if (event->kind != TS_FEED_SAMPLE)
		return;
	assert_int_equal(atomic_load(&watched->fakes[0]->nr_calls), 1);
	if (sample->nr_hosts > 0)
		return;
	assert_int_equal(sample->services[0].state, TS_SERVICE_LATE);
	assert_true(sample->elapsed_ms >= (int64_t)watched->nr_empty * REPORT_EACH_MS);
	if (watched->nr_empty == NR_LATE)
		atomic_store(&watched->fakes[0]->delay_ms, 0);
}

TEST(a_job_that_hangs_is_reported_and_taken_when_it_answers)
{
	struct watched watched = { .until = 1, .each = note_late };
	struct ts_live_summary summary;
	struct ts_buf answer = TS_BUF_INIT;
	struct fake_service fake;
	const char *address;
	char text[32];

	read_profile(&answer);
	assert_true(fake_start(&fake, 0, ts_buf_bytes(&answer)));
	watched.fakes[0] = &fake;
	atomic_store(&fake.delay_ms, UINT_MAX);
	address = fake_address(&fake, text);
	watch(&watched, &address, 1, TS_HLO_NEVER, &summary);
	assert_int_equal(summary.nr_samples, 1);
	assert_true(watched.nr_empty >= NR_LATE);
	fake_stop(&fake);
	ts_buf_release(&answer);
}
