/* SPDX-License-Identifier: MIT */
/*
 * Who held memory: traces written by hand, with answers worked out by hand. Times are microseconds.
 * (Random traces and real ones against another reading of them: tests/truth/memory_timeline.py.)
 */
#include <inttypes.h>

#include "tests/analysis/given.h"

#define CHROME memory_run_reader("chrome")
#define GIB (INT64_C(1) << 30)

struct taken { /* device 1 is the GPU, 0 the host's memory */
	int64_t at, thread, device, address, nr_bytes, allocated, reserved;
};

static void begin(struct given *given, int64_t memory)
{
	ts_buf_printf(&given->bytes,
		      "{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100\","
		      "\"totalGlobalMem\":%" PRId64 "}],\"traceEvents\":[\n"
		      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
		      "\"ts\":5,\"dur\":1,\"args\":{\"stream\":7}}",
		      memory);
}

static void call(struct given *given, const char *category, const char *name, int64_t thread,
		 int64_t from, int64_t to)
{
	ts_buf_printf(&given->bytes,
		      ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%" PRId64
		      ",\"ts\":%" PRId64 ",\"dur\":%" PRId64 "}",
		      category, name, thread, from, to - from);
}

static void op(struct given *given, const char *name, int64_t thread, int64_t from, int64_t to)
{
	call(given, "cpu_op", name, thread, from, to);
}

static void python(struct given *given, const char *name, int64_t thread, int64_t from, int64_t to)
{
	call(given, "python_function", name, thread, from, to);
}

static void step(struct given *given, int64_t number, int64_t from, int64_t to)
{
	char name[32];

	snprintf(name, sizeof(name), "ProfilerStep#%" PRId64, number);
	call(given, "user_annotation", name, 10, from, to);
}

static void block_event(struct given *given, const char *name, const struct taken *taken,
			int64_t index)
{
	ts_buf_printf(&given->bytes,
		      ",\n{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"%s\","
		      "\"pid\":1,\"tid\":%" PRId64 ",\"ts\":%" PRId64
		      ",\"args\":{\"Device Type\":%" PRId64 ",\"Device Id\":%d,\"Addr\":%" PRId64
		      ",\"Bytes\":%" PRId64,
		      name, taken->thread, taken->at, taken->device, taken->device == 0 ? -1 : 0,
		      taken->address, taken->nr_bytes);
	if (taken->allocated >= 0)
		ts_buf_printf(&given->bytes,
			      ",\"Total Allocated\":%" PRId64 ",\"Total Reserved\":%" PRId64,
			      taken->allocated, taken->reserved);
	if (index >= 0)
		ts_buf_printf(&given->bytes, ",\"Ev Idx\":%" PRId64, index);
	ts_buf_puts(&given->bytes, "}}");
}

static void take(struct given *given, const struct taken *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		block_event(given, "[memory]", &all[i], -1);
}

static void examine_with(struct given *given, size_t overlay_budget)
{
	struct ts_error err = TS_ERROR_INIT;

	ts_buf_puts(&given->bytes, "]}\n");
	assert_false(given->bytes.failed);
	if (memory_run_add_as(&given->mem, CHROME, ts_buf_bytes(&given->bytes), "host", &err) ||
	    memory_run_analyse(&given->mem, overlay_budget, &err))
		fail_msg("%s", err.text);
}

static void examine(struct given *given)
{
	examine_with(given, 0);
}

#define VIEW "memory_timeline"

static int64_t number(struct given *given, const char *table, size_t row, const char *column)
{
	return ts_value_int(cell(given, VIEW, table, row, column));
}

static void assert_holder(struct given *given, size_t row, int64_t nr_bytes, const char *what,
			  const char *module, const char *phase)
{
	assert_int_equal(number(given, "holders", row, "bytes"), nr_bytes);
	assert_text(cell(given, VIEW, "holders", row, "op"), what);
	assert_text(cell(given, VIEW, "holders", row, "module"), module);
	assert_text(cell(given, VIEW, "holders", row, "phase"), phase);
}

/* 100 bytes are there before; a linear layer takes 300, a ReLU 200, then the 300 are given back. */
static struct given *given_two_layers(void)
{
	static const struct taken all[] = {
		{ 12, 10, 1, 1000, 300, 400, 600 },  { 22, 10, 1, 2000, 200, 600, 800 },
		{ 32, 10, 1, 1000, -300, 300, 800 }, { 45, 11, 1, 3000, 250, 550, 800 },
		{ 55, 11, 1, 3000, -250, 300, 800 }, { 120, 10, 1, 2000, -200, 100, 800 },
	};
	struct given *given = given_nothing();

	begin(given, 1000);
	step(given, 1, 0, 100);
	step(given, 2, 100, 200);
	python(given, "train.py(3): step", 10, 1, 90);
	python(given, "torch/nn/modules/module.py(1): _call_impl", 10, 9, 40);
	python(given, "nn.Module: Linear_0", 10, 10, 20);
	op(given, "aten::linear", 10, 11, 15);
	op(given, "aten::empty", 10, 11, 13);
	python(given, "nn.Module: ReLU_0", 10, 20, 30);
	op(given, "aten::relu", 10, 21, 25);
	op(given, "autograd::engine::evaluate_function: MulBackward0", 11, 40, 60);
	op(given, "aten::mul", 11, 42, 50);
	take(given, all, TS_NELEM(all));
	examine(given);
	return given;
}

TEST(test_the_peak_has_its_time_its_step_and_what_was_reserved)
{
	struct given *given = given_two_layers();

	assert_int_equal(ts_value_int(field(given, VIEW, "peak_bytes")), 600);
	assert_near(field(given, VIEW, "peak_memory_mb"), 600.0 / 1048576, 1e-12);
	assert_near(field(given, VIEW, "allocated_memory_mb"), 100.0 / 1048576, 1e-12);
	assert_near(field(given, VIEW, "reserved_memory_mb"), 800.0 / 1048576, 1e-12);
	assert_us(given, VIEW, "peak_time_ps", 22);
	assert_int_equal(ts_value_int(field(given, VIEW, "peak_step")), 1);
	assert_text(field(given, VIEW, "device"), "cuda:0");
	assert_near(field(given, VIEW, "fragmentation_pct"), 25, 1e-9);
	assert_int_equal(number(given, "devices", 0, "capacity_bytes"), 1000);
	assert_int_equal(number(given, "devices", 0, "first_bytes"), 100);
	assert_int_equal(number(given, "devices", 0, "allocations"), 3);
	assert_int_equal(number(given, "devices", 0, "frees"), 3);
	assert_int_equal(number(given, "devices", 0, "taken_bytes"), 750);
	done(given);
}

TEST(test_blocks_at_the_peak_belong_to_who_took_them)
{
	struct given *given = given_two_layers();

	assert_int_equal(nr_rows(given, VIEW, "holders"), 3);
	assert_holder(given, 0, 100, "(allocated before the capture)", NULL, NULL);
	assert_holder(given, 1, 300, "aten::linear", "Linear_0", "forward");
	assert_holder(given, 2, 200, "aten::relu", "ReLU_0", "forward");
	assert_text(cell(given, VIEW, "holders", 1, "source"), "train.py(3): step");
	assert_near(cell(given, VIEW, "holders", 1, "peak_pct"), 50, 1e-9);
	done(given);
}

TEST(test_what_another_thread_takes_is_its_own)
{
	struct given *given = given_two_layers();

	/* by size: 300, 250, 200 */
	assert_int_equal(number(given, "allocations", 1, "bytes"), 250);
	assert_text(cell(given, VIEW, "allocations", 1, "op"), "aten::mul");
	assert_text(cell(given, VIEW, "allocations", 1, "outer_op"),
		    "autograd::engine::evaluate_function: MulBackward0");
	assert_text(cell(given, VIEW, "allocations", 1, "phase"), "backward");
	assert_int_equal(number(given, "allocations", 1, "mean_lifetime_ps"), 10 * US);
	done(given);
}

TEST(test_steps_have_a_peak_and_an_end)
{
	struct given *given = given_two_layers();

	assert_int_equal(nr_rows(given, VIEW, "steps"), 2);
	assert_int_equal(number(given, "steps", 0, "peak_bytes"), 600);
	assert_int_equal(number(given, "steps", 0, "end_bytes"), 300);
	assert_int_equal(number(given, "steps", 0, "taken_bytes"), 750);
	assert_int_equal(number(given, "steps", 1, "peak_bytes"), 300);
	assert_int_equal(number(given, "steps", 1, "end_bytes"), 100);
	done(given);
}

TEST(test_the_timeline_has_the_level_at_each_change)
{
	static const int64_t levels[][2] = { { 12, 400 }, { 22, 600 }, { 32, 300 },
					     { 45, 550 }, { 55, 300 }, { 120, 100 } };
	struct given *given = given_two_layers();
	size_t row = 0;

	for (size_t i = 0; i < nr_rows(given, VIEW, "timeline"); i++) {
		int64_t at = number(given, "timeline", i, "time_ps");

		/* a bin has the most of its stretch: a fall shows in the next one */
		if (row < TS_NELEM(levels) && at + US / 2 >= levels[row][0] * US &&
		    number(given, "timeline", i, "allocated_bytes") == levels[row][1])
			row++;
		assert_text(cell(given, VIEW, "timeline", i, "device"), "cuda:0");
	}
	assert_int_equal(row, TS_NELEM(levels));
	done(given);
}

TEST(test_an_address_may_be_taken_again_without_being_given_back)
{
	static const struct taken all[] = {
		{ 10, 10, 1, 1000, 300, 300, 800 },
		{ 20, 10, 1, 1000, 500, 500, 800 },
	};
	struct given *given = given_nothing();

	begin(given, 1000);
	op(given, "aten::zeros", 10, 5, 15);
	op(given, "aten::ones", 10, 16, 25);
	take(given, all, TS_NELEM(all));
	examine(given);
	assert_int_equal(nr_rows(given, VIEW, "holders"), 1);
	assert_holder(given, 0, 500, "aten::ones", NULL, NULL);
	assert_int_equal(view(given, VIEW)->nr_notes, 1); /* the totals moved without an event */
	done(given);
}

/* Two threads in one whole microsecond: the number says who was first, not the thread. */
TEST(test_events_of_one_moment_come_as_they_are_numbered)
{
	static const struct taken late = { 10, 10, 1, 1000, -300, 100, 800 };
	static const struct taken early = { 10, 11, 1, 1000, 300, 400, 800 };
	struct given *given = given_nothing();

	begin(given, 1000);
	op(given, "aten::ones", 11, 5, 15);
	op(given, "aten::zeros", 10, 5, 15);
	block_event(given, "[memory]", &late, 8);
	block_event(given, "[memory]", &early, 7);
	examine(given);
	assert_int_equal(ts_value_int(field(given, VIEW, "peak_bytes")), 400);
	assert_holder(given, 1, 300, "aten::ones", NULL, NULL);
	assert_int_equal(view(given, VIEW)->nr_notes, 0);
	done(given);
}

TEST(test_without_totals_the_events_are_added_up)
{
	static const struct taken all[] = {
		{ 10, 10, 1, 1000, 300, -1, -1 },
		{ 20, 10, 1, 2000, 100, -1, -1 },
		{ 30, 10, 1, 1000, -300, -1, -1 },
	};
	struct given *given = given_nothing();

	begin(given, 1000);
	take(given, all, TS_NELEM(all));
	examine(given);
	assert_int_equal(ts_value_int(field(given, VIEW, "peak_bytes")), 400);
	assert_int_equal(ts_value_int(field(given, VIEW, "allocated_bytes")), 100);
	assert_int_equal(field(given, VIEW, "reserved_memory_mb").type, TS_VALUE_NULL);
	assert_int_equal(cell(given, VIEW, "devices", 0, "first_bytes").type, TS_VALUE_NULL);
	assert_int_equal(view(given, VIEW)->nr_notes, 1);
	done(given);
}

TEST(test_gpus_come_before_the_hosts_memory)
{
	static const struct taken all[] = {
		{ 10, 10, 0, 1000, 900, 900, 0 },
		{ 20, 10, 1, 1000, 100, 100, 200 },
	};
	struct given *given = given_nothing();

	begin(given, 1000);
	take(given, all, TS_NELEM(all));
	examine(given);
	assert_text(field(given, VIEW, "device"), "cuda:0");
	assert_text(cell(given, VIEW, "devices", 1, "device"), "cpu");
	assert_int_equal(number(given, "devices", 1, "peak_bytes"), 900);
	assert_int_equal(cell(given, VIEW, "devices", 1, "max_reserved_bytes").type, TS_VALUE_NULL);
	done(given);
}

/* Each step keeps 20 bytes more than the one before, and takes 50 that it gives back. */
static struct given *given_leak(int64_t nr_steps)
{
	struct given *given = given_nothing();

	begin(given, 1000);
	op(given, "aten::cat", 10, 1, nr_steps * 100);
	for (int64_t i = 0; i < nr_steps; i++) {
		struct taken kept = { 100 * i + 10, 10, 1, 1000 + i, 20, 20 * i + 20, 800 };
		struct taken used = { 100 * i + 20, 10, 1, 9000, 50, 20 * i + 70, 800 };
		struct taken back = { 100 * i + 30, 10, 1, 9000, -50, 20 * i + 20, 800 };

		step(given, i + 1, 100 * i, 100 * i + 100);
		take(given, &kept, 1);
		take(given, &used, 1);
		take(given, &back, 1);
	}
	return given;
}

TEST(test_what_every_step_keeps_is_reported)
{
	struct given *given = given_leak(6);
	const struct ts_finding *found;

	examine(given);
	assert_int_equal(nr_rows(given, VIEW, "unfreed"), 1);
	assert_int_equal(number(given, "unfreed", 0, "bytes"),
			 100); /* the last step's may yet go */
	assert_int_equal(number(given, "unfreed", 0, "steps"), 5);
	assert_int_equal(number(given, "devices", 0, "rising_steps"), 5);
	found = finding_by(given, "memory_growth");
	assert_non_null(found);
	assert_true(ts_bytes_has(found->title, "grows by 20 B a step"));
	assert_true(ts_bytes_has(found->evidence, "Kept from the steps: aten::cat (5 x 20 B)."));
	assert_true(ts_bytes_has(found->code, "import torch"));
	done(given);
}

TEST(test_a_failed_allocation_is_critical)
{
	static const struct taken all[] = { { 10, 10, 1, 1000, 700, 700, 900 } };
	static const struct taken failed = { 20, 10, 1, 0, 400, 700, 900 };
	struct given *given = given_nothing();
	const struct ts_finding *found;

	begin(given, 1000);
	op(given, "aten::zeros", 10, 5, 15);
	op(given, "aten::bmm", 10, 16, 25);
	take(given, all, TS_NELEM(all));
	block_event(given, "[OutOfMemory]", &failed, -1);
	examine(given);
	found = finding_by(given, "out_of_memory");
	assert_non_null(found);
	assert_int_equal(found->severity, TS_CRITICAL);
	assert_int_equal(found->impact_ps, -1);
	assert_true(ts_bytes_has(found->evidence, "400 B were asked for"));
	assert_true(ts_bytes_has(found->evidence, "by aten::bmm"));
	assert_true(ts_bytes_has(found->evidence, "aten::zeros (700 B)"));
	assert_int_equal(ts_value_int(field(given, VIEW, "peak_bytes")), 700);
	done(given);
}

/* A capture that begins where it ends: nothing was allocated in it. Found by fuzzing. */
TEST(test_a_device_may_have_failed_allocations_alone)
{
	static const struct taken failed = { 20, 10, 1, 0, 400, 700, 900 };
	struct given *given = given_nothing();

	begin(given, 1000);
	block_event(given, "[OutOfMemory]", &failed, -1);
	examine_with(given, 500);
	assert_int_equal(ts_value_int(field(given, VIEW, "peak_bytes")), 700);
	assert_int_equal(ts_value_int(field(given, VIEW, "reserved_bytes")), 900);
	assert_int_equal(number(given, "devices", 0, "first_bytes"), 700);
	assert_int_equal(number(given, "devices", 0, "out_of_memory_bytes"), 400);
	assert_holder(given, 0, 700, "(allocated before the capture)", NULL, NULL);
	assert_true(view(given, VIEW)->tracks[0].nr_points > 0);
	done(given);
}

TEST(test_a_device_that_is_nearly_full_is_reported_with_its_share)
{
	static const struct {
		int64_t peak;
		bool reported;
		enum ts_severity severity;
	} rows[] = { { 890, false, TS_INFO },
		     { 950, true, TS_WARNING },
		     { 990, true, TS_CRITICAL } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct taken all = { 10, 10, 1, 1000, rows[i].peak, rows[i].peak, rows[i].peak };
		struct given *given = given_nothing();
		const struct ts_finding *found;

		begin(given, 1000);
		take(given, &all, 1);
		examine(given);
		found = finding_by(given, "device_memory");
		assert_int_equal(found != NULL, rows[i].reported);
		if (found)
			assert_int_equal(found->severity, rows[i].severity);
		done(given);
	}
}

TEST(test_reserved_memory_without_use_is_reported_where_there_is_much)
{
	static const struct {
		int64_t allocated, reserved;
		bool reported;
		enum ts_severity severity;
	} rows[] = {
		{ 400, 500, false, TS_INFO }, /* 20 % unused */
		{ 50, 100, false, TS_INFO },  /* half, but of little */
		{ 300, 600, true, TS_INFO },
		{ 500, 950, true, TS_WARNING }, /* and nothing is left */
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct taken all = {
			10, 10, 1, 1000, rows[i].allocated, rows[i].allocated, rows[i].reserved
		};
		struct given *given = given_nothing();
		const struct ts_finding *found;

		begin(given, 1000);
		take(given, &all, 1);
		examine(given);
		found = finding_by(given, "fragmentation");
		assert_int_equal(found != NULL, rows[i].reported);
		if (found)
			assert_int_equal(found->severity, rows[i].severity);
		done(given);
	}
}

/* cudaMalloc in the first step is a warm-up; in the second it holds the device up. */
TEST(test_calls_of_the_driver_in_later_steps_are_reported)
{
	static const struct taken all[] = { { 10, 10, 1, 1000, 100, 100, 200 } };
	struct given *given = given_nothing();
	const struct ts_finding *found;

	begin(given, 1000);
	step(given, 1, 0, 100);
	step(given, 2, 100, 200);
	take(given, all, TS_NELEM(all));
	call(given, "cuda_runtime", "cudaMalloc", 10, 20, 60);
	call(given, "cuda_runtime", "cudaMalloc", 10, 120, 150);
	call(given, "cuda_runtime", "cudaFree", 10, 160, 170);
	call(given, "cuda_runtime", "cudaLaunchKernel", 10, 180, 190);
	examine(given);
	assert_int_equal(nr_rows(given, VIEW, "allocator_calls"), 2);
	assert_int_equal(number(given, "allocator_calls", 0, "count"), 2);
	assert_int_equal(number(given, "allocator_calls", 0, "in_steps_count"), 1);
	assert_int_equal(number(given, "allocator_calls", 0, "max_time_ps"), 40 * US);
	found = finding_by(given, "allocator_calls");
	assert_non_null(found);
	assert_int_equal(found->impact_ps, 40 * US);
	assert_true(ts_bytes_has(found->title, "2 times"));
	done(given);
}

TEST(test_a_trace_without_events_says_nothing)
{
	struct given *given = given_nothing();

	begin(given, 1000);
	op(given, "aten::zeros", 10, 5, 15);
	examine(given);
	assert_int_equal(field(given, VIEW, "peak_memory_mb").type, TS_VALUE_NULL);
	assert_int_equal(field(given, VIEW, "source").type, TS_VALUE_NULL);
	assert_null(ts_result_find_table(view(given, VIEW), "holders"));
	done(given);
}

TEST(test_viewers_get_counters_of_the_device)
{
	static const struct taken all[] = {
		{ 10, 10, 0, 1000, 900, 900, 0 },
		{ 20, 10, 1, 1000, GIB, GIB, 2 * GIB },
	};
	struct given *given = given_nothing();
	const struct ts_result *result;

	begin(given, 4 * GIB);
	take(given, all, TS_NELEM(all));
	examine_with(given, 500);
	result = view(given, VIEW);
	assert_int_equal(result->nr_tracks, 2); /* the host's memory has no row of its own */
	assert_string_equal(result->tracks[0].name, "Allocated memory (GiB)");
	assert_true(result->tracks[0].points[0].value == 1);
	assert_string_equal(result->tracks[1].name, "Reserved memory (GiB)");
	assert_true(result->tracks[1].points[0].value == 2);
	done(given);
}

/* Numbers of a hostile file: sums saturate, nothing overflows. */
TEST(test_absurd_numbers_do_no_harm)
{
	static const struct taken all[] = {
		{ 10, 10, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX, INT64_MAX },
		{ 11, 10, INT64_MAX, INT64_MIN, INT64_MIN, 0, INT64_MAX },
		{ 12, 10, INT64_MIN, 5, INT64_MAX, 1, 1 },
		{ 13, 10, INT64_MIN, 6, INT64_MAX, INT64_MAX, 1 },
		{ 14, 10, 1, 7, INT64_MIN, -1, -1 },
		{ 14, 10, 1, 7, 0, 0, 0 },
	};
	struct given *given = given_nothing();

	begin(given, INT64_MAX);
	take(given, all, TS_NELEM(all));
	examine_with(given, 500);
	assert_int_equal(nr_rows(given, VIEW, "devices"), 3);
	done(given);
}

/* 1 GiB before the capture; 1 GiB more, given back in the same stretch of time, where the capture ends:
 * the stretch shows its most, and a last point where the level is at the end. */
TEST(test_a_counter_ends_where_the_capture_ends)
{
	static const struct taken all[] = {
		{ 1, 10, 1, 1000, 1024, GIB + 1024, 2 * GIB },
		{ 100000, 10, 1, 2000, GIB, 2 * GIB + 1024, 2 * GIB },
		{ 100001, 10, 1, 2000, -GIB, GIB + 1024, 2 * GIB },
	};
	struct given *given = given_nothing();
	const struct ts_track *track;
	const struct ts_point *last;

	begin(given, 4 * GIB);
	step(given, 1, 0, 100002);
	take(given, all, TS_NELEM(all));
	examine_with(given, 500);
	track = &view(given, VIEW)->tracks[0];
	assert_int_equal(track->nr_points, 3);
	last = &track->points[2];
	assert_int_equal(last->at_ps, 100001 * US);
	assert_true(last->value < 1.1 && track->points[1].value > 1.9);
	assert_true(track->points[1].at_ps < last->at_ps);
	done(given);
}
