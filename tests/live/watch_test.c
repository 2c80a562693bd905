/* SPDX-License-Identifier: MIT */
/* Which sessions of a folder are complete. The writer is the test itself, so what lies between its
 * writes is known, and the clock is the test's: waiting turns it, so nothing depends on how long
 * anything takes. A moment is long against the time at rest that is asked for. */
#include "tests/test.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <utime.h>

#include "codec/pbw.h"
#include "io/file.h"
#include "io/look.h"
#include "live/watch.h"
#include "tests/overlay/folder.h"

#define SESSION	  "run/plugins/profile/2026_01_02_03_04_05"
#define SETTLE_MS 60
#define MOMENT_MS 300
/* Longer than becomes_complete() waits: what it finds came by notice, not by the next look. */
#define NO_LOOK_MS 120000
#ifdef HAVE_SYS_INOTIFY_H
#define QUEUE "/proc/sys/fs/inotify/max_queued_events"
#else
#define QUEUE "/dev/null" /* nothing queues up where the system gives no notice */
#endif

struct given {
	struct folder folder;
	struct ts_watch *watch;
	struct ts_watch_options options;
	int64_t now_ms;
	time_t written_s;     /* of the last file */
	struct ts_buf xspace; /* two planes; the first ends at .boundary */
	size_t boundary;
	/* w: waits; p: and why; C: complete; A: complete, failed before; l: of the log directory */
	char events[256];
	char problem[600];     /* the last one */
	char path[600];	       /* of the last session */
	enum ts_status status; /* that complete sessions come to */
	const char *own;       /* the file that they get of us */
	void (*meanwhile)(struct given *given);
};

static void begin(struct given *given)
{
	memset(given, 0, sizeof(*given));
	folder_make(&given->folder);
	given->written_s = 1700000000;
	given->options = (struct ts_watch_options){ .logdir = given->folder.path,
						    .settle_ms = SETTLE_MS,
						    .poll_ms = 30,
						    .clock_ms = &given->now_ms };
	ts_pbw_text(&given->xspace, 1, TS_LIT("one plane, say"));
	given->boundary = given->xspace.n;
	ts_pbw_text(&given->xspace, 1, TS_LIT("and another"));
}

static void start(struct given *given)
{
	assert_int_equal(ts_watch_new(&given->watch, &given->options, NULL), TS_OK);
}

static void end(struct given *given)
{
	ts_watch_free(given->watch);
	folder_remove(&given->folder);
	ts_buf_release(&given->xspace);
}

static void annotate(struct given *given)
{
	const char *names[] = { given->own };
	struct ts_error problem = { given->status, "the problem" };
	struct ts_watch_deed deed = { .status = given->status,
				      .problem = given->status ? &problem : NULL,
				      .names = names,
				      .nr_names = given->own != NULL };

	if (given->meanwhile)
		given->meanwhile(given);
	assert_int_equal(ts_watch_done(given->watch, &deed, NULL), TS_OK);
}

static void note(struct given *given, const struct ts_watch_event *event)
{
	size_t n = strlen(given->events);
	char letter = 'w';

	if (event->kind == TS_WATCH_COMPLETE)
		letter = event->is_again ? 'A' : 'C';
	else if (!event->session)
		letter = 'l';
	else if (event->problem)
		letter = 'p';
	assert_in_range(n, 0, sizeof(given->events) - 2);
	given->events[n] = letter;
	given->events[n + 1] = '\0';
	if (event->problem)
		snprintf(given->problem, sizeof(given->problem), "%s", event->problem);
	if (event->session)
		snprintf(given->path, sizeof(given->path), "%s", ts_session_place(event->session));
}

/* What happens within MS; or up to the first complete session, when WANTED. */
static const char *see(struct given *given, int64_t ms, bool wanted)
{
	int64_t until_ms = given->now_ms + ms;
	struct ts_watch_event event;

	given->events[0] = given->problem[0] = '\0';
	for (;;) {
		assert_int_equal(ts_watch_next(given->watch, until_ms, &event, NULL), TS_OK);
		if (event.kind >= TS_WATCH_OVER)
			return given->events;
		note(given, &event);
		if (event.kind != TS_WATCH_COMPLETE)
			continue;
		annotate(given);
		if (wanted)
			return given->events;
	}
}

static const char *in_a_moment(struct given *given)
{
	return see(given, MOMENT_MS, false);
}

static bool becomes_complete(struct given *given)
{
	const char *events = see(given, 20000, true);

	return events[0] && strchr("CA", events[strlen(events) - 1]);
}

/* Two files in one tick of the system's clock would have the same time. */
static void put(struct given *given, const char *name, struct ts_bytes bytes)
{
	struct timespec written[2] = { 0 };
	char path[200];

	make_dirs(&given->folder, SESSION);
	snprintf(path, sizeof(path), SESSION "/%s", name);
	put_file(&given->folder, path, bytes);
	written[0].tv_sec = written[1].tv_sec = ++given->written_s;
	assert_int_equal(utimensat(AT_FDCWD, in_folder(&given->folder, path), written, 0), 0);
}

static void put_whole(struct given *given, const char *name)
{
	put(given, name, ts_buf_bytes(&given->xspace));
}

TEST(a_session_that_is_written_byte_by_byte_is_complete_at_the_end)
{
	struct given given;
	FILE *f;

	begin(&given);
	start(&given);
	make_dirs(&given.folder, SESSION);
	f = fopen(in_folder(&given.folder, SESSION "/h.xplane.pb"), "wb");
	assert_non_null(f);
	for (size_t i = 0; i < given.xspace.n; i++) {
		fputc(given.xspace.p[i], f);
		fflush(f);
		assert_null(strchr(see(&given, SETTLE_MS / 4, false), 'C'));
	}
	fclose(f);
	assert_true(becomes_complete(&given));
	assert_string_equal(in_a_moment(&given), ""); /* and once */
	end(&given);
}

TEST(a_half_that_stays_is_waited_for_and_reported_once)
{
	struct given given;
	struct ts_watch_counts counts;
	const char *path, *problem;
	size_t at = 0;

	begin(&given);
	start(&given);
	put(&given, "h.xplane.pb",
	    ts_bytes_cut(ts_buf_bytes(&given.xspace), 0, given.xspace.n - 3));
	assert_string_equal(in_a_moment(&given), "wp");
	assert_non_null(strstr(given.problem, SESSION "/h.xplane.pb: byte 17 of 26: "));
	assert_string_equal(in_a_moment(&given), "");
	counts = ts_watch_count(given.watch);
	assert_int_equal(counts.nr_known, 1);
	assert_int_equal(counts.nr_waiting, 1);
	assert_true(ts_watch_left(given.watch, &at, &path, &problem));
	assert_non_null(strstr(path, SESSION));
	assert_non_null(strstr(problem, "byte 17"));
	assert_false(ts_watch_left(given.watch, &at, &path, &problem));
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	assert_int_equal(ts_watch_count(given.watch).nr_waiting, 0);
	end(&given);
}

/* Between two planes the bytes do not show that more is to come. */
TEST(a_pause_between_planes_is_waited_for_while_the_file_is_open)
{
	struct given given;
	FILE *f;

	begin(&given);
	start(&given);
	make_dirs(&given.folder, SESSION);
	f = fopen(in_folder(&given.folder, SESSION "/h.xplane.pb"), "wb");
	assert_non_null(f);
	fwrite(given.xspace.p, 1, given.boundary, f);
	fflush(f);
	if (!ts_file_is_open_to_write(in_folder(&given.folder, SESSION "/h.xplane.pb"))) {
		fclose(f);
		end(&given);
		print_message("no leases on this system: passed over\n");
		skip();
	}
	assert_string_equal(in_a_moment(&given), "wp");
	assert_non_null(strstr(given.problem, "open for writing"));
	fwrite(given.xspace.p + given.boundary, 1, given.xspace.n - given.boundary, f);
	fclose(f);
	assert_true(becomes_complete(&given));
	end(&given);
}

/* A writer that opens and closes for every plane: whole each time, and closed. */
TEST(whole_planes_in_quick_succession_are_one_session)
{
	struct given given;

	begin(&given);
	given.options.settle_ms = 2000;
	start(&given);
	make_dirs(&given.folder, SESSION);
	for (int i = 0; i < 10; i++) {
		FILE *f = fopen(in_folder(&given.folder, SESSION "/h.xplane.pb"), "ab");

		assert_non_null(f);
		fwrite(given.xspace.p, 1, given.xspace.n, f);
		fclose(f);
		assert_null(strchr(see(&given, 100, false), 'C'));
	}
	assert_true(becomes_complete(&given));
	end(&given);
}

/* What was written on into a file that we have replaced would be lost. */
TEST(a_file_that_stays_open_is_waited_for)
{
	struct given given;
	FILE *f;

	begin(&given);
	given.options.settle_ms = 20;
	start(&given);
	put_whole(&given, "h.xplane.pb");
	f = fopen(in_folder(&given.folder, SESSION "/h.xplane.pb"), "ab");
	assert_non_null(f);
	if (!ts_file_is_open_to_write(in_folder(&given.folder, SESSION "/h.xplane.pb"))) {
		fclose(f);
		end(&given);
		print_message("no leases on this system: passed over\n");
		skip();
	}
	assert_string_equal(see(&given, 20 * TS_WATCH_PATIENCE * 2, false), "wp");
	assert_non_null(strstr(given.problem, "open for writing"));
	assert_int_equal(ts_watch_count(given.watch).nr_waiting, 1);
	fclose(f);
	assert_true(becomes_complete(&given));
	end(&given);
}

/* As a network's folder does it: bytes change, and nothing about the file. A mapping's first write
 * sets its time, those that follow do not. */
TEST(bytes_that_come_without_a_trace_are_found)
{
	struct given given;
	uint8_t *map;
	int fd;

	begin(&given);
	given.options.settle_ms = 20;
	put_whole(&given, "h.xplane.pb");
	fd = open(in_folder(&given.folder, SESSION "/h.xplane.pb"), O_RDWR);
	assert_true(fd >= 0);
	map = mmap(NULL, given.xspace.n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	map[0] = 0;
	start(&given);
	assert_string_equal(see(&given, 200, false), "wp");
	map[0] = given.xspace.p[0];
	munmap(map, given.xspace.n);
	close(fd);
	assert_true(becomes_complete(&given));
	end(&given);
}

TEST(hosts_that_wrote_a_session_each_are_one_when_asked_for)
{
	struct given given;

	begin(&given);
	given.options.join_sessions = true;
	start(&given);
	put_whole(&given, "h0.xplane.pb");
	assert_true(becomes_complete(&given));
	make_dirs(&given.folder, "run/plugins/profile/2026_01_02_03_04_07");
	put_file(&given.folder, "run/plugins/profile/2026_01_02_03_04_07/h1.xplane.pb",
		 ts_buf_bytes(&given.xspace));
	assert_true(becomes_complete(&given)); /* the first one's folder, now of two */
	assert_non_null(strstr(given.path, SESSION));
	assert_int_equal(ts_watch_count(given.watch).nr_known, 1);
	assert_string_equal(in_a_moment(&given), "");
	end(&given);
}

TEST(a_host_that_comes_later_makes_the_session_due_again)
{
	struct given given;

	begin(&given);
	start(&given);
	put_whole(&given, "h0.xplane.pb");
	assert_true(becomes_complete(&given));
	assert_string_equal(in_a_moment(&given), "");
	put(&given, "h1.xplane.pb", ts_bytes_cut(ts_buf_bytes(&given.xspace), 0, 5));
	assert_string_equal(in_a_moment(&given), "wp");
	put_whole(&given, "h1.xplane.pb");
	assert_true(becomes_complete(&given));
	assert_string_equal(in_a_moment(&given), "");
	end(&given);
}

static void rewrite_it(struct given *given)
{
	put(given, "h.xplane.pb", ts_bytes_cut(ts_buf_bytes(&given->xspace), 0, given->boundary));
	put(given, "perfetto_trace.json", TS_LIT("{}"));
	given->meanwhile = NULL;
}

TEST(what_we_write_is_not_a_change)
{
	struct given given;

	begin(&given);
	given.meanwhile = rewrite_it;
	given.own = "h.xplane.pb";
	start(&given);
	put_whole(&given, "h.xplane.pb");
	put(&given, "perfetto_trace.json", TS_LIT("{\"a\":1}"));
	assert_true(becomes_complete(&given));
	/* the trace is not among what was said to be ours */
	assert_true(becomes_complete(&given));
	assert_string_equal(in_a_moment(&given), "");
	given.meanwhile = rewrite_it;
	given.own = NULL;
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	assert_true(becomes_complete(&given));
	end(&given);
}

/* Caches of viewers, reports, logs that grow. */
TEST(other_files_are_not_a_change)
{
	struct given given;

	begin(&given);
	start(&given);
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	put(&given, "ALL_HOSTS.op_stats_v2.pb", TS_LIT("x"));
	put(&given, "h.SSTABLE", TS_LIT("x"));
	put(&given, ".h.xplane.pb.tpusight-abc", TS_LIT("x"));
	put(&given, "h.trace.json.gz", TS_LIT("x"));
	put(&given, "dedicated_log_torch_trace_rank_0_x.log", TS_LIT("x"));
	assert_string_equal(in_a_moment(&given), "");
	end(&given);
}

TEST(a_temporary_name_is_waited_for)
{
	struct given given;

	begin(&given);
	start(&given);
	put_whole(&given, "h0.xplane.pb");
	put_whole(&given, "h1.xplane.pb.partial");
	assert_string_equal(in_a_moment(&given), "wp");
	assert_non_null(strstr(given.problem, "h1.xplane.pb.partial"));
	assert_int_equal(rename(in_folder(&given.folder, SESSION "/h1.xplane.pb.partial"),
				in_folder(&given.folder, SESSION "/h1.xplane.pb")),
			 0);
	assert_true(becomes_complete(&given));
	assert_string_equal(in_a_moment(&given), "");
	end(&given);
}

TEST(a_temporary_that_is_left_behind_holds_nothing_up_for_ever)
{
	struct given given;

	begin(&given);
	given.options.settle_ms = 20;
	start(&given);
	put_whole(&given, "h0.xplane.pb");
	put_whole(&given, "h1.xplane.pb.tmp");
	assert_string_equal(see(&given, 20 * TS_WATCH_PATIENCE / 4, false), "wp");
	assert_true(becomes_complete(&given));
	end(&given);
}

TEST(a_folder_that_is_not_there_is_waited_for)
{
	struct given given;
	char path[600];

	begin(&given);
	snprintf(path, sizeof(path), "%s/run", given.folder.path);
	given.options.logdir = path;
	start(&given);
	assert_string_equal(in_a_moment(&given), "l");
	assert_non_null(strstr(given.problem, "no such file or folder"));
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	assert_string_equal(in_a_moment(&given), "l");
	assert_int_equal(ts_watch_count(given.watch).nr_known, 0);
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	end(&given);
}

TEST(what_was_there_is_annotated_unless_only_new_ones_are_wanted)
{
	struct given given;

	begin(&given);
	put_whole(&given, "h.xplane.pb");
	start(&given);
	assert_true(becomes_complete(&given));
	ts_watch_free(given.watch);
	given.options.new_only = true;
	start(&given);
	assert_string_equal(in_a_moment(&given), "");
	put(&given, "h.xplane.pb", ts_bytes_cut(ts_buf_bytes(&given.xspace), 0, given.boundary));
	assert_true(becomes_complete(&given));
	end(&given);
}

TEST(what_has_an_annotation_is_left_alone)
{
	struct given given;
	struct utimbuf long_ago = { 1000000000, 1000000000 };

	begin(&given);
	put_whole(&given, "h.xplane.pb");
	put(&given, "ALL_HOSTS.tpusight.json", TS_LIT("{}"));
	start(&given);
	assert_string_equal(in_a_moment(&given), "");
	assert_int_equal(ts_watch_count(given.watch).nr_known, 1);
	assert_int_equal(ts_watch_count(given.watch).nr_waiting, 0);
	ts_watch_free(given.watch);
	assert_int_equal(
		utime(in_folder(&given.folder, SESSION "/ALL_HOSTS.tpusight.json"), &long_ago), 0);
	start(&given);
	assert_true(becomes_complete(&given)); /* the profile is newer */
	end(&given);
}

TEST(a_failure_of_the_system_is_tried_again_one_of_the_file_is_not)
{
	struct given given;

	begin(&given);
	given.status = TS_IO;
	start(&given);
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	assert_int_equal(ts_watch_count(given.watch).nr_failed, 1);
	given.status = TS_OK;
	assert_string_equal(see(&given, 20000, true), "A");
	assert_int_equal(ts_watch_count(given.watch).nr_failed, 0);
	given.status = TS_FORMAT;
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	assert_string_equal(in_a_moment(&given), "");
	assert_int_equal(ts_watch_count(given.watch).nr_failed, 1);
	given.status = TS_OK;
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	assert_int_equal(ts_watch_count(given.watch).nr_failed, 0);
	end(&given);
}

TEST(without_notice_of_the_system_looking_is_enough)
{
	struct given given;

	begin(&given);
	given.options.only_poll = true;
	start(&given);
	assert_string_equal(in_a_moment(&given), "");
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	end(&given);
}

TEST(notice_of_the_system_shortens_the_wait)
{
	struct given given;
	int64_t start_ms;

#ifndef HAVE_SYS_INOTIFY_H
	skip();
#endif
	begin(&given);
	given.options.poll_ms = NO_LOOK_MS;
	start(&given);
	assert_string_equal(in_a_moment(&given), "");
	start_ms = given.now_ms;
	put_whole(&given, "h.xplane.pb"); /* in folders that are new */
	assert_true(becomes_complete(&given));
	assert_true(given.now_ms - start_ms >= SETTLE_MS);
	end(&given);
}

/* More happens than the system keeps: a look shows all the same. */
TEST(a_queue_that_ran_over_loses_nothing)
{
	struct given given;
	FILE *f = fopen(QUEUE, "r");
	long max = 0;
	int64_t start_ms;

	if (!f || fscanf(f, "%ld", &max) != 1 || max > 100000) {
		if (f)
			fclose(f);
		print_message("no queue that can be filled: passed over\n");
		skip();
	}
	fclose(f);
	begin(&given);
	given.options.poll_ms = NO_LOOK_MS;
	make_dirs(&given.folder, SESSION);
	start(&given);
	assert_string_equal(in_a_moment(&given), "");
	start_ms = given.now_ms;
	for (long i = 0; i < max; i++) { /* each two events */
		int fd = open(in_folder(&given.folder, i % 2 ? "run/a" : "run/b"),
			      O_CREAT | O_WRONLY, 0600);

		close(fd);
		unlink(in_folder(&given.folder, i % 2 ? "run/a" : "run/b"));
	}
	put_whole(&given, "h.xplane.pb");
	assert_true(becomes_complete(&given));
	put_whole(&given, "h1.xplane.pb"); /* notice comes again */
	assert_true(becomes_complete(&given));
	assert_true(given.now_ms - start_ms >= SETTLE_MS);
	end(&given);
}

TEST(to_stop_ends_the_wait)
{
	struct given given;
	struct ts_watch_event event;

	begin(&given);
	start(&given);
	ts_watch_stop(given.watch);
	assert_int_equal(ts_watch_next(given.watch, INT64_MAX, &event, NULL), TS_OK);
	assert_int_equal(event.kind, TS_WATCH_STOPPED);
	end(&given);
}
