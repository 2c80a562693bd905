/* SPDX-License-Identifier: MIT */
/* The Perfetto trace as a file: never more than its budget, bytes that neither threads nor a pipe change, both forms. */
#include <fcntl.h>

#define TARGET "trace_file_test.out"
#include "codec/pb.h"
#include "trace/layout.h"
#include "tests/trace/read.h"

/* Nested loops of random lengths on two lines, pairs among them, and async ops that overlap. */
#define MANY 80000 /* more than are kept at once */
static struct run_event many[2 * MANY];

static uint32_t roll(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void make_many(void)
{
	uint32_t seed = 7;
	int64_t now = -5 * NS, loop_end = 0;

	for (size_t i = 0; i < MANY; i++) {
		int64_t dur = (int64_t)(roll(&seed) % 4 == 0 ? roll(&seed) % 900000 : 1000);
		uint32_t op = roll(&seed) % 4;

		if (now >= loop_end && op == OP_WHILE) {
			many[i] = (struct run_event){ LINE_OPS, OP_WHILE, now, 9000000 };
			loop_end = now + 9000000;
			continue;
		}
		op = op == OP_WHILE ? OP_FUSION : op;
		dur = now < loop_end ? TS_MIN(dur, loop_end - now) : dur;
		many[i] = (struct run_event){ LINE_OPS, op, now, dur };
		now += dur;
	}
	for (size_t i = 0; i < MANY; i++)
		many[MANY + i] = (struct run_event){ i % 50 ? LINE_ASYNC : LINE_MODULES, OP_FUSION,
						     (int64_t)i * 100000, roll(&seed) % 400000 };
}

/* A pipe's bytes cannot be taken back, so its head is made last; a file's is made first, and once more where it
 * was wrong. */
static void assert_a_pipe_gets_the_bytes_of_a_file(struct run *run,
						   const struct ts_perfetto_form *form)
{
	struct ts_trace_options options = { .form = form, .nr_threads = 2, .version = "1.2.3" };
	const struct ts_newfile_use use = { .is_named = true };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_trace_plan plan;
	static uint8_t bytes[1 << 20];
	struct ts_bytes packed;
	char path[32];
	int ends[2];

	assert_int_equal(run_count(run, &plan, 0, NULL), TS_OK);
	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, (int)sizeof(bytes)) >= 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	assert_int_equal(ts_newfile_open_for(&file, path, &use, NULL), TS_OK);
	assert_true(file.straight);
	assert_int_equal(ts_trace_write(&file, &run->profile, NULL, &plan, &options, NULL, NULL),
			 TS_OK);
	assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
	ts_newfile_release(&file);
	close(ends[1]);
	packed = packed_form(run, form, NULL, 0, 2, NULL);
	assert_true(packed.n > 0 && packed.n < sizeof(bytes));
	assert_int_equal(read(ends[0], bytes, sizeof(bytes)), packed.n);
	assert_memory_equal(bytes, packed.p, packed.n);
	close(ends[0]);
	ts_trace_plan_release(&plan);
}

TEST(a_pipe_gets_the_bytes_of_a_file)
{
	static struct run_event events[2000];

	for (size_t overlaps = 0; overlaps < 2; overlaps++) {
		struct run run;

		for (size_t i = 0; i < TS_NELEM(events); i++)
			events[i] =
				(struct run_event){ LINE_ASYNC, (uint32_t)(i % 2), (int64_t)i * NS,
						    overlaps ? 5000 * NS : NS };
		run_init(&run, events, TS_NELEM(events));
		assert_a_pipe_gets_the_bytes_of_a_file(&run, &ts_perfetto_json);
		assert_a_pipe_gets_the_bytes_of_a_file(&run, &ts_perfetto_pb);
		run_release(&run);
	}
}

/* What this process has handed to the kernel to write, copies inside it included; -1: it does not count. */
static long long nr_written(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	char line[128];
	long long nr = -1;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "wchar:", 6) == 0)
			nr = strtoll(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return nr;
}

TEST(one_thread_writes_each_byte_once)
{
	struct ts_trace_report report;
	struct run run;
	long long before, after;

	make_many();
	run_init(&run, many, TS_NELEM(many));
	before = nr_written();
	packed_trace(&run, NULL, 0, 1, &report);
	after = nr_written();
	run_release(&run);
	if (before < 0)
		skip();
	assert_true(after - before >= (long long)report.bytes);
	assert_true(after - before < (long long)report.bytes * 3 / 2);
}

TEST(never_more_than_the_budget_and_exactly_it)
{
	static const uint64_t budgets[] = { 0, 1, MANY / 50, 77777, 3 * MANY };
	struct run run;

	make_many();
	run_init(&run, many, TS_NELEM(many));
	for (size_t i = 0; i < TS_NELEM(budgets); i++) {
		uint64_t want = budgets[i] ? TS_MIN(budgets[i], 2 * MANY) : 2 * MANY;
		struct ts_trace_report report;
		cJSON *root = trace_of(&run, NULL, budgets[i], &report);

		assert_int_equal(report.events_total, 2 * MANY);
		assert_int_equal(report.events_written, want);
		assert_int_equal(report.events_left_out, 2 * MANY - want);
		assert_int_equal(count_of(root, "X") + count_of(root, "B"),
				 want + (want < 2 * MANY));
		assert_int_equal(count_of(root, "B"), count_of(root, "E"));
		assert_true((slice(root, "left out", 0) != NULL) == (want < 2 * MANY));
		assert_int_equal(count_of(root, "s"), report.flows);
		assert_int_equal(count_of(root, "f"), report.flows);
		assert_nests(root);
		cJSON_Delete(root);
	}
	run_release(&run);
}

TEST(one_event_may_hold_all_others)
{
	struct ts_trace_report report;
	struct run run;
	cJSON *root;

	many[0] = (struct run_event){ LINE_OPS, OP_WHILE, 0, MANY * NS };
	for (size_t i = 1; i < MANY; i++)
		many[i] = (struct run_event){ LINE_OPS, OP_FUSION, (int64_t)i * NS, NS };
	run_init(&run, many, MANY);
	root = trace_of(&run, NULL, MANY - 5, &report);
	assert_nests(root);
	assert_int_equal(report.events_written, MANY - 5);
	assert_int_equal(ns_of(slice(root, "while.1", 0), "dur"), MANY);
	assert_int_equal(
		number_of(cJSON_GetObjectItem(slice(root, "while.1", 0), "args"), "self_ns"), 1);
	cJSON_Delete(root);
	run_release(&run);
}

static void assert_threads_do_not_matter(const struct ts_perfetto_form *form)
{
	static const size_t threads[] = { 2, 4, 9 };
	struct ts_bytes packed;
	struct run run;
	uint8_t *one;
	size_t n;

	make_many();
	run_init(&run, many, TS_NELEM(many));
	packed = packed_form(&run, form, NULL, 90000, 1, NULL);
	n = packed.n;
	one = malloc(n);
	assert_non_null(one);
	memcpy(one, packed.p, n);
	for (size_t i = 0; i < TS_NELEM(threads); i++) {
		packed = packed_form(&run, form, NULL, 90000, threads[i], NULL);
		assert_int_equal(packed.n, n);
		assert_memory_equal(packed.p, one, n);
	}
	free(one);
	run_release(&run);
}

TEST(threads_do_not_change_a_byte)
{
	assert_threads_do_not_matter(&ts_perfetto_json);
	assert_threads_do_not_matter(&ts_perfetto_pb);
}

/* What one track's events of a protobuf trace say: each end ends the innermost open slice. */
struct pb_track {
	uint64_t uuid, last_ns;
	size_t nr_open;
};

struct pb_seen {
	size_t nr_slices, nr_tracks;
	struct pb_track tracks[1024];
	uint64_t default_uuid, last_ns; /* of the sequence: times are differences */
};

static struct pb_track *pb_track(struct pb_seen *seen, uint64_t uuid)
{
	for (size_t i = seen->nr_tracks; i-- > 0;)
		if (seen->tracks[i].uuid == uuid)
			return &seen->tracks[i];
	assert_true(seen->nr_tracks < TS_NELEM(seen->tracks));
	seen->tracks[seen->nr_tracks] = (struct pb_track){ .uuid = uuid };
	return &seen->tracks[seen->nr_tracks++];
}

static void see_pb_event(struct pb_seen *seen, struct ts_pb event, uint64_t at_ns)
{
	uint64_t type = 0, uuid = seen->default_uuid;
	struct pb_track *track;

	while (ts_pb_next(&event)) {
		type = event.field == 9 ? event.value : type;
		uuid = event.field == 11 ? event.value : uuid;
	}
	track = pb_track(seen, uuid);
	assert_true(at_ns >= track->last_ns);
	track->last_ns = at_ns;
	if (type == 1) {
		seen->nr_slices++;
		track->nr_open++;
	} else {
		assert_int_equal(type, 2);
		assert_true(track->nr_open-- > 0);
	}
}

static void see_pb_packet(struct pb_seen *seen, struct ts_pb packet)
{
	struct ts_pb defaults;
	uint64_t time = 0;
	bool is_absolute = false;

	while (ts_pb_next(&packet)) {
		if (packet.field == 8)
			time = packet.value;
		if (packet.field == 58)
			is_absolute = true;
		if (packet.field == 11 && !is_absolute)
			seen->last_ns += time;
		if (packet.field == 11)
			see_pb_event(seen, ts_pb_enter(&packet),
				     is_absolute ? time : seen->last_ns);
		if (packet.field != 59)
			continue;
		seen->last_ns = 0;
		defaults = ts_pb_enter(&packet);
		assert_true(ts_pb_next(&defaults) && defaults.field == 11);
		defaults = ts_pb_enter(&defaults);
		assert_true(ts_pb_next(&defaults) && defaults.field == 11);
		seen->default_uuid = defaults.value;
	}
}

static size_t pb_slices(struct run *run, uint64_t max_events, struct ts_trace_report *report)
{
	struct ts_bytes packed = packed_form(run, &ts_perfetto_pb, NULL, max_events, 2, report);
	struct ts_buf text = TS_BUF_INIT;
	struct pb_seen seen = { .nr_slices = 0 };
	struct ts_pb_error err = { 0 };
	struct ts_pb pb;

	assert_true(ts_trace_is_ours(packed, &ts_perfetto_pb));
	assert_false(ts_trace_is_ours(packed, &ts_perfetto_json));
	assert_int_equal(ts_gunzip_head(packed, &text, 64 << 20, NULL), TS_OK);
	pb = ts_pb_of(ts_buf_bytes(&text), &err);
	while (ts_pb_next(&pb))
		see_pb_packet(&seen, ts_pb_enter(&pb));
	assert_null(err.cause);
	for (size_t i = 0; i < seen.nr_tracks; i++)
		assert_int_equal(seen.tracks[i].nr_open, 0);
	ts_buf_release(&text);
	return seen.nr_slices;
}

TEST(a_protobuf_trace_has_each_slices_begin_and_end)
{
	static const uint64_t budgets[] = { 77777, 0, 5, 0 }; /* chosen anew for each file */
	struct ts_trace_report report;
	struct run run;

	make_many();
	run_init(&run, many, TS_NELEM(many));
	for (size_t i = 0; i < TS_NELEM(budgets); i++) {
		assert_int_equal(pb_slices(&run, budgets[i], &report),
				 budgets[i] ? budgets[i] + 1 : 2 * MANY);
		assert_int_equal(report.events_total, 2 * MANY);
	}
	run_release(&run);
}

TEST(a_protobuf_trace_has_lanes_for_all_overlaps)
{
	struct run_event events[TS_TRACE_TIDS + 7];
	struct ts_trace_report report;
	struct run run;

	for (size_t i = 0; i < TS_NELEM(events); i++)
		events[i] = (struct run_event){ LINE_ASYNC, OP_FUSION, (int64_t)i * NS, 1000 * NS };
	run_init(&run, events, TS_NELEM(events));
	assert_int_equal(pb_slices(&run, 0, &report), TS_NELEM(events));
	assert_int_equal(report.events_left_out, 0);
	run_release(&run);
}

TEST(a_run_without_events_is_a_whole_file)
{
	struct run run;
	cJSON *root;

	run_init(&run, NULL, 0);
	root = trace_of(&run, NULL, 0, NULL);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "traceEvents")), 0);
	cJSON_Delete(root);
	run_release(&run);
}

TEST(a_failure_on_a_thread_ends_all_with_its_story)
{
	struct ts_trace_options options = { .form = &ts_perfetto_json,
					    .nr_threads = 3,
					    .version = "1" };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_trace_plan plan;
	struct run run;

	make_many();
	run_init(&run, many, TS_NELEM(many));
	assert_int_equal(run_count(&run, &plan, 0, &err), TS_OK);
	assert_int_equal(ts_newfile_open(&file, TARGET, &err), TS_OK);
	broken_line = LINE_OPS;
	assert_int_equal(ts_trace_write(&file, &run.profile, NULL, &plan, &options, NULL, &err),
			 TS_IO);
	broken_line = TS_NONE;
	assert_non_null(strstr(err.text, "gone"));
	ts_newfile_release(&file);
	ts_trace_plan_release(&plan);
	run_release(&run);
	assert_int_not_equal(access(TARGET, F_OK), 0);
}

TEST(others_files_are_not_ours)
{
	assert_false(ts_trace_is_ours(TS_LIT("{\"displayTimeUnit\":\"ns\"}"), &ts_perfetto_json));
	assert_false(ts_trace_is_ours(TS_LIT(""), &ts_perfetto_json));
	assert_false(ts_trace_is_ours(TS_LIT("\x1f\x8b\x08"), &ts_perfetto_json));
	assert_false(ts_trace_is_ours(TS_LIT("\x0a\x1e\x50\x01"), &ts_perfetto_pb));
	assert_false(ts_trace_is_ours(TS_LIT(""), &ts_perfetto_pb));
}
