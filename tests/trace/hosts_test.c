/* SPDX-License-Identifier: MIT */
/* The Perfetto trace of several hosts: their order, numbers and parts, and the budget that they share. */
#include <zlib.h>

#define TARGET "trace_hosts_test.json.gz"
#include "trace/layout.h"
#include "tests/trace/read.h"

/* One on a device, one on its host. */
static const struct run_event one_each[] = {
	{ LINE_OPS, OP_FUSION, 0, NS },
	{ LINE_THREAD, OP_NASTY, 0, NS },
};

TEST(the_host_stands_above_gpus)
{
	struct run run;
	cJSON *root;

	run_init(&run, one_each, TS_NELEM(one_each));
	run.profile.planes[1].kind = TS_PLANE_GPU;
	run.profile.planes[1].name = ts_bytes_of("/device:GPU:0");
	run.profile.devices[0].is_gpu = true;
	root = trace_of(&run, NULL, 0, NULL);
	assert_string_equal(meta(root, "process_name", "pid", 1), "/host:CPU");
	assert_string_equal(meta(root, "process_name", "pid", 2), "/device:GPU:0");
	cJSON_Delete(root);
	run_release(&run);
}

TEST(devices_come_first_and_hosts_are_named_when_there_are_two)
{
	struct run run;
	cJSON *root;

	run_init(&run, one_each, TS_NELEM(one_each));
	root = trace_of(&run, NULL, 0, NULL);
	assert_string_equal(meta(root, "process_name", "pid", 1), "/device:TPU:0");
	assert_string_equal(meta(root, "process_name", "pid", 2), "/host:CPU");
	assert_true(number_of(slice(root, "fusion.1", 0), "pid") == 1);
	cJSON_Delete(root);
	ts_profile_add_host(&run.profile)->name = ts_bytes_of("host1");
	root = trace_of(&run, NULL, 0, NULL);
	assert_string_equal(meta(root, "process_name", "pid", 1), "host0 /device:TPU:0");
	assert_string_equal(meta(root, "process_name", "pid", 2), "host0 /host:CPU");
	cJSON_Delete(root);
	run_release(&run);
}

/* A second host, with a TPU whose ops are a line of their own and a thread. */
enum { LINE_OPS_1 = NR_RUN_LINES, LINE_THREAD_1 };

static void add_second_host(struct run *run)
{
	struct ts_device *device;

	ts_profile_add_host(&run->profile)->name = ts_bytes_of("host1");
	add_plane(run, "/host:CPU", TS_PLANE_HOST, LINE_THREAD_1, 1, TS_NONE);
	add_plane(run, "/device:TPU:1", TS_PLANE_TPU, LINE_OPS_1, 1, 1);
	add_line(run, 3, "XLA Ops", TS_LINE_OPS);
	add_line(run, 2, "python", TS_LINE_THREAD);
	run->profile.planes[2].host = run->profile.planes[3].host = 1;
	device = ts_profile_add_device(&run->profile);
	device->host = 1;
	device->plane = 3;
	device->ordinal = 1;
	device->name = ts_bytes_of("/device:TPU:1");
}

TEST(each_host_has_its_numbers_and_stands_behind_the_one_before)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_FUSION, 0, NS },
		{ LINE_THREAD, OP_NASTY, 0, NS },
		{ LINE_OPS_1, OP_WHILE, 0, NS },
		{ LINE_THREAD_1, OP_MODULE, 0, NS },
	};
	static const uint32_t pids[] = { 1, 2, 10001, 10002 };
	struct run run;
	const cJSON *event;
	size_t nr = 0;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
	add_second_host(&run);
	root = trace_of(&run, NULL, 0, NULL);
	assert_string_equal(meta(root, "process_name", "pid", 1), "host0 /device:TPU:0");
	assert_string_equal(meta(root, "process_name", "pid", 2), "host0 /host:CPU");
	assert_string_equal(meta(root, "process_name", "pid", 10001), "host1 /device:TPU:1");
	assert_string_equal(meta(root, "process_name", "pid", 10002), "host1 /host:CPU");
	assert_string_equal(meta(root, "thread_name", "tid", 1000100), "XLA Ops");
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		if (strcmp(text_of(event, "ph"), "X") != 0)
			continue;
		assert_true(nr < TS_NELEM(pids));
		assert_true(number_of(event, "pid") == pids[nr++]);
	}
	assert_int_equal(nr, TS_NELEM(pids));
	cJSON_Delete(root);
	run_release(&run);
}

/* The text of the member that begins at *AT, which is moved behind it. */
static struct ts_buf next_member(struct ts_bytes packed, size_t *at)
{
	struct ts_buf text = TS_BUF_INIT;
	z_stream z = { .next_in = (Bytef *)(uintptr_t)packed.p + *at,
		       .avail_in = (uInt)(packed.n - *at) };
	int rc = inflateInit2(&z, 31);

	while (rc == Z_OK) {
		assert_true(ts_buf_room(&text, 65536));
		z.next_out = text.p + text.n;
		z.avail_out = 65536;
		rc = inflate(&z, Z_NO_FLUSH);
		text.n += 65536 - z.avail_out;
	}
	assert_int_equal(rc, Z_STREAM_END);
	*at = packed.n - z.avail_in;
	inflateEnd(&z);
	return text;
}

/* The members of the second host's part, as they are in the file: from its processes on up to the tail. */
static struct ts_buf second_part(struct run *run, uint64_t max_events)
{
	static const char first[] = "\n{\"ph\":\"M\",\"pid\":10001,";
	struct ts_bytes packed = packed_trace(run, NULL, max_events, 2, NULL);
	struct ts_buf part = TS_BUF_INIT;

	for (size_t at = 0, before = 0; at < packed.n; before = at) {
		struct ts_buf text = next_member(packed, &at);
		struct ts_bytes bytes = ts_buf_bytes(&text);

		if (part.n > 0 && (ts_bytes_is(bytes, "\n]}\n") || ts_bytes_is(bytes, ",")))
			at = packed.n;
		else if (part.n > 0 || ts_bytes_starts(bytes, first))
			ts_buf_put(&part, ts_bytes_cut(packed, before, at - before));
		ts_buf_release(&text);
	}
	assert_true(part.n > 0);
	return part;
}

TEST(the_part_of_a_host_does_not_depend_on_what_others_have)
{
	static struct run_event events[400];
	static const uint64_t budgets[] = { 0, 100 };

	for (size_t i = 0; i < TS_NELEM(events); i++)
		events[i] = (struct run_event){ i < 200 ? LINE_OPS_1 : LINE_OPS, OP_FUSION,
						(int64_t)(i % 200) * 1000 * NS,
						(int64_t)(1 + i % 100) * NS };
	for (size_t i = 0; i < TS_NELEM(budgets); i++) {
		struct ts_buf part[3];

		for (size_t k = 0; k < TS_NELEM(part); k++) {
			struct run run;

			/* the first host: as long, a hundred times as long, on two lines */
			for (size_t e = 200; e < 400; e++) {
				events[e].dur_ps = (int64_t)(1 + e % 100) * NS * (k == 1 ? 100 : 1);
				events[e].line = k == 2 && e % 2 ? LINE_ASYNC : LINE_OPS;
			}
			run_init(&run, events, TS_NELEM(events));
			add_second_host(&run);
			part[k] = second_part(&run, budgets[i]);
			run_release(&run);
		}
		for (size_t k = 1; k < TS_NELEM(part); k++)
			assert_true(ts_bytes_eq(ts_buf_bytes(&part[0]), ts_buf_bytes(&part[k])));
		for (size_t k = 0; k < TS_NELEM(part); k++)
			ts_buf_release(&part[k]);
	}
}

TEST(hosts_share_the_budget)
{
	static const struct {
		uint64_t budget, wants[3], shares[3];
	} rows[] = {
		{ 0, { 1, 2, 3 }, { 0, 0, 0 } },
		{ 1, { 9, 9, 9 }, { 0, 0, 1 } },
		{ 9, { 1, 2, 3 }, { 1, 2, 3 } },
		{ 30, { 100, 100, 100 }, { 10, 10, 10 } },
		{ 32, { 100, 100, 100 }, { 10, 11, 11 } },
		{ 30, { 100, 2, 100 }, { 14, 2, 14 } },
		{ 30, { 12, 2, 100 }, { 12, 2, 16 } },
		{ 30, { 0, 0, 100 }, { 0, 0, 30 } },
		{ UINT64_MAX, { UINT64_C(1) << 40, 0, 7 }, { UINT64_C(1) << 40, 0, 7 } },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		uint64_t shares[3];

		ts_trace_shares(rows[i].wants, shares, 3, rows[i].budget);
		assert_memory_equal(shares, rows[i].shares, sizeof(shares));
	}
}

TEST(a_host_with_more_rows_than_numbers_leaves_some_out)
{
	static struct run_event events[TS_TRACE_HOST_NUMBERS + 50];
	struct ts_trace_report report;
	struct run run;
	cJSON *root;

	for (uint32_t i = 0; i < TS_NELEM(events); i++)
		events[i] = (struct run_event){ NR_RUN_LINES + 2 + i, OP_FUSION, 0, NS };
	run_init(&run, events, TS_NELEM(events));
	add_second_host(&run);
	add_plane(&run, "/host:many", TS_PLANE_HOST, NR_RUN_LINES + 2, TS_NELEM(events), TS_NONE);
	for (uint32_t i = 0; i < TS_NELEM(events); i++)
		add_line(&run, 4, "thread", TS_LINE_THREAD);
	root = trace_of(&run, NULL, 0, &report);
	assert_int_equal(report.events_written, TS_TRACE_HOST_NUMBERS - 1);
	assert_int_equal(report.events_left_out, TS_NELEM(events) - report.events_written);
	assert_non_null(slice(root, "left out", 0));
	cJSON_Delete(root);
	run_release(&run);
}
