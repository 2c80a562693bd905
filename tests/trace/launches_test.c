/* SPDX-License-Identifier: MIT */
/* The Perfetto trace: arrows from launches to kernels. */
#define TARGET "trace_launches_test.json.gz"
#include "trace/layout.h"
#include "tests/trace/read.h"

/* Launches: a GPU with a stream and a host's thread; the stream is LINE_OPS. */

static void gpu_init(struct run *run, const struct run_event *events, size_t nr)
{
	run_init(run, events, nr);
	run->profile.planes[1].kind = TS_PLANE_GPU;
	run->profile.devices[0].is_gpu = true;
}

static bool is_launch(const cJSON *event, const char *phase)
{
	return strcmp(text_of(event, "ph"), phase) == 0 &&
	       strcmp(text_of(event, "cat"), "launch") == 0;
}

/* The NR-th end of a launch arrow in the file. */
static const cJSON *launch(const cJSON *root, const char *phase, size_t nr)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		if (is_launch(event, phase) && nr-- == 0)
			return event;
	}
	return NULL;
}

static const cJSON *other_end(const cJSON *root, const char *phase, double id)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		if (is_launch(event, phase) && number_of(event, "id") == id)
			return event;
	}
	return NULL;
}

/* Each launch arrow has one start and one end, the start first in time, each right behind its slice
 * or that slice's other arrow. How many there are. */
static size_t assert_launches(const cJSON *root)
{
	size_t nr = 0;

	for (const cJSON *s; (s = launch(root, "s", nr)) != NULL; nr++) {
		const cJSON *f = other_end(root, "f", number_of(s, "id"));

		assert_non_null(f);
		assert_true(ns_of(s, "ts") <= ns_of(f, "ts"));
		assert_ptr_equal(other_end(root, "s", number_of(s, "id")), s);
		assert_int_equal(ns_of(s->prev, "ts"), ns_of(s, "ts"));
		assert_int_equal(ns_of(f->prev, "ts"), ns_of(f, "ts"));
	}
	assert_null(launch(root, "f", nr));
	return nr;
}

TEST(an_arrow_leads_from_the_launch_to_its_kernel)
{
	static const struct run_event events[] = {
		{ LINE_THREAD, OP_WHILE, 0, 20 * NS, 0 },
		{ LINE_THREAD, OP_NASTY, 2 * NS, 3 * NS, 7 },
		{ LINE_THREAD, OP_NASTY, 6 * NS, 3 * NS, 8 }, /* its kernel is not in the profile */
		{ LINE_OPS, OP_FUSION, 5 * NS, 10 * NS, 9 },  /* its launch is not */
		{ LINE_OPS, OP_FUSION, 30 * NS, 10 * NS, 7 },
		{ LINE_OPS, OP_FUSION, 50 * NS, 10 * NS,
		  7 }, /* of the same launch: the first has it */
	};
	struct ts_trace_report report;
	struct run run;
	cJSON *root;

	gpu_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, &report);
	assert_int_equal(assert_launches(root), 1);
	assert_int_equal(report.flows, 1);
	assert_int_equal(ns_of(launch(root, "s", 0), "ts"), 2);
	assert_int_equal(ns_of(launch(root, "f", 0), "ts"), 30);
	assert_string_equal(text_of(launch(root, "f", 0)->prev, "name"), "fusion.1");
	assert_string_equal(text_of(launch(root, "f", 0), "bp"), "e");
	cJSON_Delete(root);
	run_release(&run);
}

TEST(clocks_that_disagree_do_not_lose_an_arrow)
{
	static const struct run_event events[] = {
		{ LINE_THREAD, OP_NASTY, 40 * NS, 3 * NS, 7 },
		{ LINE_THREAD, OP_NASTY, 60 * NS, 3 * NS, 8 },
		{ LINE_OPS, OP_FUSION, 30 * NS, 10 * NS, 7 },
		{ LINE_OPS, OP_FUSION, 60 * NS, 10 * NS, 8 }, /* at the same time */
	};
	struct run run;
	cJSON *root;

	gpu_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	assert_int_equal(assert_launches(root), 2);
	for (size_t i = 0; i < 2; i++) {
		const cJSON *s = launch(root, "s", i);
		const cJSON *f = other_end(root, "f", number_of(s, "id"));
		bool together = ns_of(s, "ts") == 60;

		assert_int_equal(ns_of(s, "ts"), together ? 60 : 30);
		assert_int_equal(ns_of(f, "ts"), together ? 60 : 40);
		for (; together && f; f = f->next)
			assert_ptr_not_equal(f, s); /* it stands before it in the file */
	}
	cJSON_Delete(root);
	run_release(&run);
}

/* A collective that starts and is waited for has two arrows: its own, and that of its launch. */
TEST(an_async_start_has_its_launch_as_well)
{
	static const struct run_event events[] = {
		{ LINE_THREAD, OP_NASTY, 0, NS, 7 },
		{ LINE_THREAD, OP_NASTY, 2 * NS, NS, 8 },
		{ LINE_OPS, OP_START, 10 * NS, NS, 7 },
		{ LINE_OPS, OP_DONE, 20 * NS, 50 * NS, 8 },
	};
	struct ts_trace_report report;
	struct run run;
	cJSON *root;

	gpu_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, &report);
	assert_int_equal(assert_launches(root), 2);
	assert_int_equal(report.flows, 3);
	assert_int_equal(count_of(root, "s"), 3);
	assert_int_equal(count_of(root, "f"), 3);
	cJSON_Delete(root);
	run_release(&run);
}

/* Overlapping kernels of two lengths and their launches, behind one another on the thread. */
static size_t make_launches(struct run_event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int64_t at = (int64_t)i * 10 * NS;

		events[i] = (struct run_event){ LINE_THREAD, OP_NASTY, at,
						(int64_t)(i % 7 + 1) * NS, i + 1 };
		events[nr + i] = (struct run_event){ LINE_OPS, OP_FUSION, at + 5 * NS,
						     (int64_t)(i % 5 * 400 + 1) * NS, nr - i };
	}
	return 2 * nr;
}

TEST(no_launch_stands_in_a_file_with_one_end)
{
	static const uint64_t budgets[] = { 1, 2, 50, 299, 500, 0 };
	struct run_event events[2 * 300];
	struct run run;

	gpu_init(&run, events, make_launches(events, 300));
	for (size_t i = 0; i < TS_NELEM(budgets); i++) {
		struct ts_trace_report report;
		cJSON *root = trace_of(&run, NULL, budgets[i], &report);

		assert_int_equal(assert_launches(root), report.flows);
		assert_true(budgets[i] || report.flows > 200);
		assert_true(report.flows <= report.events_written / 2);
		cJSON_Delete(root);
	}
	run_release(&run);
}

TEST(a_kernel_without_a_lane_has_no_arrow)
{
	struct run_event events[2 * (TS_TRACE_TIDS + 7)];
	size_t nr = TS_NELEM(events) / 2;
	struct ts_trace_report report;
	struct run run;
	cJSON *root;

	for (size_t i = 0; i < nr; i++) {
		events[i] = (struct run_event){ LINE_THREAD, OP_NASTY, (int64_t)i * NS, NS, i + 1 };
		events[nr + i] = (struct run_event){ LINE_OPS, OP_FUSION, (int64_t)(nr + i) * NS,
						     1000 * NS, i + 1 };
	}
	gpu_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, &report);
	assert_int_equal(report.events_left_out, 7);
	assert_int_equal(assert_launches(root), TS_TRACE_TIDS);
	cJSON_Delete(root);
	run_release(&run);
}

TEST(threads_do_not_change_launches)
{
	static uint8_t first[1 << 20];
	struct run_event events[2 * 300];
	struct run run;
	size_t n = 0;

	gpu_init(&run, events, make_launches(events, 300));
	for (size_t threads = 1; threads <= 5; threads += 2) {
		struct ts_bytes packed = packed_trace(&run, NULL, 0, threads, NULL);

		if (threads == 1)
			memcpy(first, packed.p, n = packed.n);
		assert_int_equal(packed.n, n);
		assert_memory_equal(packed.p, first, n);
	}
	run_release(&run);
}
