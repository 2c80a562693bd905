/* The Perfetto trace: what is chosen, nesting, arrows, bytes that threads do not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "codec/pb.h"
#include "io/gzip.h"
#include "trace_run.h"

#define NS     INT64_C(1000)
#define TARGET "trace_test.json.gz"

static struct ts_bytes packed_form(struct run *run, const struct ts_perfetto_form *form,
				   const struct ts_results *results, uint64_t max_events,
				   size_t nr_threads, struct ts_trace_report *report)
{
	struct ts_trace_options options = { .form = form,
					    .nr_threads = nr_threads,
					    .version = "1.2.3" };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_trace_plan plan;
	static uint8_t bytes[8 << 20];
	FILE *in;
	size_t n;

	assert_int_equal(run_count(run, &plan, max_events, &err), TS_OK);
	assert_int_equal(ts_newfile_open(&file, TARGET, &err), TS_OK);
	assert_int_equal(
		ts_trace_write(&file, &run->profile, results, &plan, &options, report, &err),
		TS_OK);
	assert_int_equal(ts_newfile_commit(&file, &err), TS_OK);
	ts_newfile_release(&file);
	ts_trace_plan_release(&plan);
	in = fopen(TARGET, "rb");
	assert_non_null(in);
	n = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	unlink(TARGET);
	assert_true(n < sizeof(bytes));
	return (struct ts_bytes){ bytes, n };
}

static struct ts_bytes packed_trace(struct run *run, const struct ts_results *results,
				    uint64_t max_events, size_t nr_threads,
				    struct ts_trace_report *report)
{
	return packed_form(run, &ts_perfetto_json, results, max_events, nr_threads, report);
}

static cJSON *trace_of(struct run *run, const struct ts_results *results, uint64_t max_events,
		       struct ts_trace_report *report)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_bytes packed = packed_trace(run, results, max_events, 2, report);
	cJSON *root;

	assert_true(ts_trace_is_ours(packed, &ts_perfetto_json));
	assert_false(ts_trace_is_ours(packed, &ts_perfetto_pb));
	assert_int_equal(ts_gunzip_head(packed, &text, 64 << 20, NULL), TS_OK);
	assert_true(ts_trace_is_ours(ts_buf_bytes(&text), &ts_perfetto_json));
	root = cJSON_ParseWithLength((const char *)text.p, text.n);
	assert_non_null(root);
	ts_buf_release(&text);
	return root;
}

static const char *text_of(const cJSON *event, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(event, key));

	return text ? text : "";
}

static double number_of(const cJSON *event, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItem(event, key));
}

static int64_t ns_of(const cJSON *event, const char *key)
{
	return (int64_t)(number_of(event, key) * 1000 + 0.5);
}

static size_t count_of(const cJSON *root, const char *phase)
{
	const cJSON *event;
	size_t nr = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents")) nr +=
		strcmp(text_of(event, "ph"), phase) == 0;
	return nr;
}

/* The NR-th slice of that name, in the order of the file. */
static const cJSON *slice(const cJSON *root, const char *name, size_t nr)
{
	const cJSON *event;

	cJSON_ArrayForEach(
		event,
		cJSON_GetObjectItem(root,
				    "traceEvents")) if (strcmp(text_of(event, "ph"), "X") == 0 &&
							strcmp(text_of(event, "name"), name) == 0 &&
							nr-- == 0) return event;
	return NULL;
}

static const char *meta(const cJSON *root, const char *what, const char *id, double value)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents")) if (
		strcmp(text_of(event, "name"), what) == 0 &&
		number_of(event, id) == value) return text_of(cJSON_GetObjectItem(event, "args"),
							      "name");
	return NULL;
}

/* Every slice that overlaps another of its thread lies in it, and a parent stands before it. */
static void assert_nests(const cJSON *root)
{
	struct {
		double tid;
		int64_t ends[64];
		size_t nr;
		int64_t last;
	} open[256] = { { 0 } };
	size_t nr = 0, i;
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		int64_t start, end;

		if (strcmp(text_of(event, "ph"), "X") != 0)
			continue;
		start = ns_of(event, "ts");
		end = start + ns_of(event, "dur");
		for (i = 0; i < nr && open[i].tid != number_of(event, "tid"); i++)
			;
		if (i == nr) {
			assert_true(nr < TS_NELEM(open));
			open[nr++].tid = number_of(event, "tid");
		}
		assert_true(start >= open[i].last);
		open[i].last = start;
		while (open[i].nr > 0 && open[i].ends[open[i].nr - 1] <= start)
			open[i].nr--;
		assert_true(open[i].nr == 0 || end <= open[i].ends[open[i].nr - 1]);
		assert_true(open[i].nr < TS_NELEM(open[i].ends));
		open[i].ends[open[i].nr++] = end;
	}
}

static void rounds_both_ends_down_so_that_nesting_survives(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_WHILE, 999, 10001 },  /* 0.999 to 11 ns: 0 to 11 */
		{ LINE_OPS, OP_FUSION, 1999, 2000 }, /* 1 to 3 */
		{ LINE_OPS, OP_NASTY, 3999, 500 },   /* 3 to 4: shorter than a ns, but across one */
		{ LINE_OPS, OP_FUSION, 4500, 0 },    /* 4, no length */
		{ LINE_OPS, OP_FUSION, 10999, 1 },   /* 10 to 11: ends with its parent */
	};
	struct run run;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	assert_nests(root);
	assert_int_equal(ns_of(slice(root, "while.1", 0), "ts"), 0);
	assert_int_equal(ns_of(slice(root, "while.1", 0), "dur"), 11);
	assert_int_equal(ns_of(slice(root, "fusion.1", 0), "ts"), 1);
	assert_int_equal(ns_of(slice(root, "fusion.1", 0), "dur"), 2);
	assert_int_equal(ns_of(slice(root, "fusion.1", 1), "ts"), 4);
	assert_int_equal(ns_of(slice(root, "fusion.1", 1), "dur"), 0);
	assert_int_equal(ns_of(slice(root, "fusion.1", 2), "dur"), 1);
	cJSON_Delete(root);
	run_release(&run);
}

static void a_parent_stands_before_a_child_of_the_same_length(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_WHILE, 0, 5 * NS },
		{ LINE_OPS, OP_FUSION, 0, 5 * NS },
	};
	struct run run;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	assert_ptr_equal(slice(root, "while.1", 0)->next, slice(root, "fusion.1", 0));
	cJSON_Delete(root);
	run_release(&run);
}

/* "X fusion.1 5" for each event but metadata, in the order of the file. */
static void assert_events(struct run *run, const char *want)
{
	struct ts_buf got = TS_BUF_INIT;
	cJSON *root = trace_of(run, NULL, 0, NULL);
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		const char *phase = text_of(event, "ph");

		if (*phase != 'M')
			ts_buf_printf(&got, "%s %s %lld; ", phase, text_of(event, "name"),
				      (long long)ns_of(event, "ts"));
	}
	ts_buf_putc(&got, '\0');
	assert_string_equal((const char *)got.p, want);
	ts_buf_release(&got);
	cJSON_Delete(root);
}

static void ops_within_a_ns_keep_their_order_and_arrows(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_START, 5 * NS + 100, 300 }, /* 0 ns, and nothing is in it */
		{ LINE_OPS, OP_DONE, 5 * NS + 500, 20 * NS },
		{ LINE_OPS, OP_WHILE, 40 * NS + 100, 700 }, /* 0 ns, and holds the next */
		{ LINE_OPS, OP_FUSION, 40 * NS + 200, 100 },
		{ LINE_OPS, OP_FUSION, 50 * NS, 5 * NS },
	};
	struct run run;

	run_init(&run, events, TS_NELEM(events));
	assert_events(&run, "X copy-start.1 5; s async 5; B copy-done.1 5; f async 5; E  25; "
			    "X while.1 40; X fusion.1 40; X fusion.1 50; ");
	run_release(&run);
}

static void of_equal_starts_the_devices_clock_decides(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_DONE, 9 * NS, 9 * NS, 0, { RUN_INT("device_offset_ps", 700) } },
		{ LINE_OPS, OP_NASTY, 9 * NS, 0, 0, { RUN_INT("device_offset_ps", 650) } },
		{ LINE_OPS, OP_START, 9 * NS, 0, 0, { RUN_INT("device_offset_ps", 600) } },
		{ LINE_OPS, OP_WHILE, 20 * NS, 9 * NS, 0, { RUN_INT("device_offset_ps", 800) } },
		{ LINE_OPS, OP_FUSION, 20 * NS, 0, 0, { RUN_INT("device_offset_ps", 801) } },
		{ LINE_OPS, OP_WHILE, 40 * NS, 9 * NS },
		{ LINE_OPS, OP_FUSION, 40 * NS, 0 }, /* no clock: a child of what is longer */
	};
	struct run run;

	run_init(&run, events, TS_NELEM(events));
	assert_events(&run, "X copy-start.1 9; s async 9; X </script>\"\\\n\x01\xef\xbf\xbd 9; "
			    "B copy-done.1 9; f async 9; E  18; X while.1 20; X fusion.1 20; "
			    "X while.1 40; X fusion.1 40; ");
	run_release(&run);
}

static void what_overlaps_gets_lanes_with_names(void **state)
{
	static const struct run_event events[] = {
		{ LINE_ASYNC, OP_START, 0, 10 * NS },
		{ LINE_ASYNC, OP_FUSION, 2 * NS, 18 * NS }, /* crosses the first: lane 2 */
		{ LINE_ASYNC, OP_WHILE, 4 * NS, 20 * NS },  /* crosses both: lane 3 */
		{ LINE_ASYNC, OP_DONE, 10 * NS, 4 * NS },   /* the first is over: lane 1 */
	};
	struct run run;
	cJSON *root;
	double first, second, third;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	assert_nests(root);
	first = number_of(slice(root, "copy-start.1", 0), "tid");
	second = number_of(slice(root, "fusion.1", 0), "tid");
	third = number_of(slice(root, "while.1", 0), "tid");
	assert_true(number_of(slice(root, "copy-done.1", 0), "tid") == first);
	assert_string_equal(meta(root, "thread_name", "tid", first), "Async XLA Ops");
	assert_string_equal(meta(root, "thread_name", "tid", second), "Async XLA Ops (2)");
	assert_string_equal(meta(root, "thread_name", "tid", third), "Async XLA Ops (3)");
	cJSON_Delete(root);
	run_release(&run);
}

static void more_overlaps_than_lanes_are_counted_as_left_out(void **state)
{
	struct run_event events[TS_TRACE_TIDS + 7];
	struct ts_trace_report report;
	struct run run;
	cJSON *root;

	for (size_t i = 0; i < TS_NELEM(events); i++)
		events[i] = (struct run_event){ LINE_ASYNC, OP_FUSION, (int64_t)i * NS, 1000 * NS };
	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, &report);
	assert_nests(root);
	assert_int_equal(report.events_left_out, 7);
	assert_int_equal(count_of(root, "X"), TS_TRACE_TIDS + 1); /* and the row that says so */
	assert_true(number_of(cJSON_GetObjectItem(root, "metadata"), "events_left_out") == 7);
	assert_true(number_of(cJSON_GetObjectItem(root, "metadata"), "own_events") == 1);
	assert_string_equal(
		meta(root, "thread_name", "tid", number_of(slice(root, "left out", 0), "tid")),
		"TPUsight: 7 of 107 events are left out");
	cJSON_Delete(root);
	run_release(&run);
}

static void times_before_the_start_move_everything(void **state)
{
	static const struct run_event events[] = {
		{ LINE_THREAD, OP_FUSION, -2500, 1000 }, /* -3 to -2 ns */
		{ LINE_OPS, OP_WHILE, 0, 4 * NS },
	};
	struct run run;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	assert_int_equal(ns_of(slice(root, "fusion.1", 0), "ts"), 0);
	assert_int_equal(ns_of(slice(root, "fusion.1", 0), "dur"), 1);
	assert_int_equal(ns_of(slice(root, "while.1", 0), "ts"), 3);
	assert_true(number_of(cJSON_GetObjectItem(root, "metadata"), "shift_ns") == 3);
	cJSON_Delete(root);
	run_release(&run);
}

static void the_host_stands_above_gpus(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_FUSION, 0, NS },
		{ LINE_THREAD, OP_NASTY, 0, NS },
	};
	struct run run;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
	run.profile.planes[1].kind = TS_PLANE_GPU;
	run.profile.planes[1].name = ts_bytes_of("/device:GPU:0");
	run.profile.devices[0].is_gpu = true;
	root = trace_of(&run, NULL, 0, NULL);
	assert_string_equal(meta(root, "process_name", "pid", 1), "/host:CPU");
	assert_string_equal(meta(root, "process_name", "pid", 2), "/device:GPU:0");
	cJSON_Delete(root);
	run_release(&run);
}

static void devices_come_first_and_hosts_are_named_when_there_are_two(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_FUSION, 0, NS },
		{ LINE_THREAD, OP_NASTY, 0, NS },
	};
	struct run run;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
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

static void foreign_text_is_escaped_and_args_tell_of_the_op(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_FUSION, 0, 4 * NS },
		{ LINE_OPS, OP_NASTY, 4 * NS, NS },
		{ LINE_OPS, OP_FUSION, 5 * NS, 4 * NS },
	};
	const cJSON *first, *second;
	struct run run;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	assert_non_null(slice(root, "</script>\"\\\n\x01\xef\xbf\xbd", 0));
	first = cJSON_GetObjectItem(slice(root, "fusion.1", 0), "args");
	second = cJSON_GetObjectItem(slice(root, "fusion.1", 1), "args");
	assert_string_equal(text_of(first, "long_name"), "%fusion.1 = f32[8] fusion()");
	assert_string_equal(text_of(first, "program_id"), "18446744073709551615");
	assert_null(cJSON_GetObjectItem(second, "long_name"));
	assert_string_equal(text_of(second, "tf_op"), "jit(f)/dot_general");
	assert_string_equal(text_of(second, "source"), "train.py:12");
	assert_true(number_of(second, "flops") == 1000);
	assert_true(number_of(second, "bytes_accessed") == 64);
	assert_int_equal(number_of(second, "self_ns"), 4);
	cJSON_Delete(root);
	run_release(&run);
}

static void what_an_event_says_of_itself_is_an_arg(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS,
		  OP_FUSION,
		  0,
		  4 * NS,
		  0,
		  { RUN_INT("step_num", 3), RUN_INT("run_id", INT64_MAX), RUN_INT("step_num", 4),
		    RUN_INT("program_id", 15), RUN_INT("flops", 1000), RUN_TEXT("tf_op", "f:") } },
	};
	struct run run;
	cJSON *root;
	const cJSON *args;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	args = cJSON_GetObjectItem(slice(root, "fusion.1", 0), "args");
	assert_int_equal(number_of(args, "op_id"), OP_FUSION);
	assert_int_equal(number_of(args, "step_num"), 3); /* the first of a name */
	assert_string_equal(text_of(args, "run_id"), "9223372036854775807");
	assert_string_equal(text_of(args, "program_id"), "18446744073709551615"); /* the op's */
	assert_string_equal(text_of(args, "event_program_id"), "15");
	assert_string_equal(text_of(args, "tf_op"), "jit(f)/dot_general");
	assert_string_equal(text_of(args, "event_tf_op"), "f:");
	assert_int_equal(number_of(args, "flops"), 1000);
	assert_null(cJSON_GetObjectItem(args, "event_flops")); /* it says the same */
	cJSON_Delete(root);
	run_release(&run);
}

static void an_arrow_leads_from_the_start_to_its_wait(void **state)
{
	static const struct run_event events[] = {
		{ LINE_OPS, OP_START, 0, 10 }, /* two in flight: first in, first out */
		{ LINE_OPS, OP_START, NS, 10 },
		{ LINE_OPS, OP_FUSION, 2 * NS, 50 * NS },
		{ LINE_OPS, OP_DONE, 60 * NS, 30 * NS },
		{ LINE_OPS, OP_DONE, 90 * NS, 40 * NS },
		{ LINE_OPS, OP_DONE, 200 * NS, 50 * NS }, /* its start was before the profile */
		{ LINE_OPS, OP_START, 300 * NS, 10 },
		{ LINE_OPS, OP_DONE, 1298 * NS, 2 * NS }, /* hidden: it waited 2 of 1000 ns */
	};
	const cJSON *event;
	struct run run;
	cJSON *root;
	int64_t begin[2], end[2];
	size_t nr = 0;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 0, NULL);
	assert_int_equal(count_of(root, "s"), 2);
	assert_int_equal(count_of(root, "f"), 2);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		bool is_flow = strchr("sf", *text_of(event, "ph")) != NULL;
		size_t id = is_flow && (size_t)number_of(event, "id") & 1 ? 0 : 1; /* from 1 on */

		if (strcmp(text_of(event, "ph"), "s") == 0)
			begin[id] = ns_of(event, "ts");
		else if (strcmp(text_of(event, "ph"), "f") == 0)
			end[id] = ns_of(event, "ts");
		else
			continue;
		assert_string_equal(text_of(event, "bp"), "e");
		assert_string_equal(text_of(event->prev, "ph"), "X"); /* right behind its slice */
		assert_int_equal(ns_of(event->prev, "ts"), ns_of(event, "ts"));
		nr++;
	}
	assert_int_equal(nr, 4);
	assert_int_equal(begin[0], 0);
	assert_int_equal(end[0], 60);
	assert_int_equal(begin[1], 1);
	assert_int_equal(end[1], 90);
	cJSON_Delete(root);
	run_release(&run);
}

static void a_start_is_as_long_as_its_wait_when_events_are_chosen(void **state)
{
	static const struct run_event events[] = {
		{ LINE_MODULES, OP_MODULE, 0, NS },
		{ LINE_OPS, OP_START, 0, 10 },
		{ LINE_OPS, OP_FUSION, NS, 50 * NS },
		{ LINE_OPS, OP_FUSION, 51 * NS, 50 * NS },
		{ LINE_OPS, OP_DONE, 200 * NS, 300 * NS },
	};
	struct ts_trace_report report;
	struct run run;
	cJSON *root;

	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, NULL, 3, &report); /* the module first, short as it is */
	assert_int_equal(report.events_total, 5);
	assert_int_equal(report.events_written, 3);
	assert_non_null(slice(root, "jit_f(1)", 0));
	assert_non_null(slice(root, "copy-start.1", 0));
	assert_non_null(slice(root, "copy-done.1", 0));
	assert_int_equal(count_of(root, "s"), 1);
	cJSON_Delete(root);
	run_release(&run);
}

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

static void never_more_than_the_budget_and_exactly_it(void **state)
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

static void one_event_may_hold_all_others(void **state)
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

static void threads_do_not_change_a_byte(void **state)
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

static void a_protobuf_trace_has_each_slices_begin_and_end(void **state)
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

static void a_protobuf_trace_has_lanes_for_all_overlaps(void **state)
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

static void our_tracks_stand_in_the_devices_process(void **state)
{
	static const struct run_event events[] = { { LINE_OPS, OP_FUSION, 0, 9 * NS } };
	static const struct ts_arg args[] = {
		{ "advice", { TS_VALUE_TEXT, .as.s = { (const uint8_t *)"do <b>", 6 } } }
	};
	static const struct ts_label labels[] = { { { (const uint8_t *)"compute", 7 }, args, 1 } };
	struct ts_slice slices[] = { { 0, 5 * NS, 0, 3, 4 * NS },
				     { 5 * NS, 7 * NS, 0, 1, 2 * NS } };
	struct ts_point points[] = { { 0, 12.5 }, { 2 * NS, NAN }, { 4 * NS, 0 } };
	const cJSON *event, *ours;
	struct ts_trace_report report;
	struct ts_results results;
	struct ts_result *result;
	struct ts_track *track;
	struct run run;
	cJSON *root;

	ts_results_init(&results);
	result = ts_results_add(&results, "time", "Time");
	track = ts_result_track(result, TS_TRACK_COUNTER, "MXU utilization (%)", 0, 2);
	track->points = points;
	track->nr_points = 3;
	track = ts_result_track(result, TS_TRACK_SLICES, "Time classes", 0, 1);
	track->labels = labels;
	track->nr_labels = 1;
	track->slices = slices;
	track->nr_slices = 2;
	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, &results, 1, &report);
	ours = slice(root, "compute", 0);
	assert_non_null(ours);
	assert_true(number_of(ours, "pid") == number_of(slice(root, "fusion.1", 0), "pid"));
	assert_string_equal(meta(root, "thread_name", "tid", number_of(ours, "tid")),
			    "TPUsight: Time classes");
	assert_string_equal(text_of(cJSON_GetObjectItem(ours, "args"), "advice"), "do <b>");
	assert_true(number_of(cJSON_GetObjectItem(ours, "args"), "own_ns") == 4);
	assert_true(number_of(cJSON_GetObjectItem(ours, "args"), "events") == 3);
	assert_int_equal(report.events_written, 1);
	assert_int_equal(report.own_events, 5);
	assert_int_equal(count_of(root, "C"), 2); /* a value that is not a number is not drawn */
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		if (strcmp(text_of(event, "ph"), "C") != 0)
			continue;
		assert_string_equal(text_of(event, "name"), "MXU utilization");
		assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"), "(%)"));
	}
	cJSON_Delete(root);
	run_release(&run);
	ts_results_release(&results);
}

static void put_finding(struct ts_result *doctor, const char *title, const struct ts_when *when)
{
	struct ts_finding *finding = ts_result_finding(doctor);

	finding->id = TS_LIT("idle-1");
	finding->rule = "idle";
	finding->title = ts_bytes_of(title);
	finding->evidence = TS_LIT("82 % waits");
	finding->advice = TS_LIT("do <b>");
	finding->code = TS_LIT("jax.jit(f)");
	finding->severity = TS_WARNING;
	finding->impact_ps = 7 * NS + 1;
	finding->impact_share = 0.5;
	finding->when = when;
	finding->nr_when = when != NULL;
}

/* [ts, ts + dur) of the finding's slice, and that its row stands in the process for findings. */
static void assert_finding(const cJSON *root, const char *title, const char *row, int64_t ts_ns,
			   int64_t dur_ns)
{
	const cJSON *found = slice(root, title, 0);

	assert_non_null(found);
	assert_null(slice(root, title, 1));
	assert_string_equal(meta(root, "thread_name", "tid", number_of(found, "tid")), row);
	assert_string_equal(meta(root, "process_name", "pid", number_of(found, "pid")),
			    "TPUsight: findings of the run");
	assert_int_equal(ns_of(found, "ts"), ts_ns);
	assert_int_equal(ns_of(found, "dur"), dur_ns);
}

static double place_of(const cJSON *root, double pid)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents")) if (
		strcmp(text_of(event, "name"), "process_sort_index") == 0 &&
		number_of(event, "pid") == pid) return number_of(cJSON_GetObjectItem(event, "args"),
								 "sort_index");
	return -1;
}

static void each_finding_has_a_row_as_long_as_its_time_or_the_run(void **state)
{
	static const struct run_event events[] = { { LINE_OPS, OP_FUSION, 2 * NS, 9 * NS },
						   { LINE_THREAD, OP_WHILE, 5 * NS, 15 * NS } };
	static const struct ts_when own = { 0, false, 3 * NS, 4 * NS };
	static const struct ts_when late = { 0, false, 15 * NS, 40 * NS };
	static const struct ts_when outside = { 0, false, 40 * NS, 50 * NS };
	static const struct ts_when example = { 0, true, 3 * NS, 4 * NS };
	struct ts_trace_report report;
	struct ts_results results;
	struct ts_result *doctor;
	struct run run;
	const cJSON *args;
	cJSON *root;

	ts_results_init(&results);
	doctor = ts_results_add(&results, "doctor", "Doctor");
	put_finding(doctor, "of no time", NULL);
	put_finding(doctor, "of a time", &own);
	put_finding(doctor, "of a time that was cut", &late);
	put_finding(doctor, "of a time that is not there", &outside);
	put_finding(doctor, "of an op", &example);
	run_init(&run, events, TS_NELEM(events));
	root = trace_of(&run, &results, 0, &report);
	assert_int_equal(report.own_events, 5);
	assert_finding(root, "of no time", "TPUsight: 1 warning", 0, 20);
	assert_finding(root, "of a time", "TPUsight: 2 warning", 3, 1);
	assert_finding(root, "of a time that was cut", "TPUsight: 3 warning", 15, 5);
	assert_finding(root, "of a time that is not there", "TPUsight: 4 warning", 0, 20);
	assert_finding(root, "of an op", "TPUsight: 5 warning", 0, 20);
	assert_true(place_of(root, number_of(slice(root, "of no time", 0), "pid")) == 0);
	assert_true(place_of(root, number_of(slice(root, "fusion.1", 0), "pid")) == 1);
	args = cJSON_GetObjectItem(slice(root, "of a time", 0), "args");
	assert_string_equal(text_of(args, "finding"), "idle-1");
	assert_string_equal(text_of(args, "rule"), "idle");
	assert_string_equal(text_of(args, "severity"), "warning");
	assert_string_equal(text_of(args, "title"), "of a time");
	assert_string_equal(text_of(args, "evidence"), "82 % waits");
	assert_string_equal(text_of(args, "advice"), "do <b>");
	assert_string_equal(text_of(args, "code"), "jax.jit(f)");
	assert_true(number_of(args, "rank") == 2);
	assert_true(number_of(args, "impact_ns") == 7);
	assert_true(number_of(args, "impact_pct") == 50);
	assert_null(cJSON_GetObjectItem(args, "gain_ns")); /* unknown */
	cJSON_Delete(root);
	run_release(&run);
	ts_results_release(&results);
}

static void a_run_without_events_is_a_whole_file(void **state)
{
	struct run run;
	cJSON *root;

	run_init(&run, NULL, 0);
	root = trace_of(&run, NULL, 0, NULL);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "traceEvents")), 0);
	cJSON_Delete(root);
	run_release(&run);
}

static void a_failure_on_a_thread_ends_all_with_its_story(void **state)
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

static void others_files_are_not_ours(void **state)
{
	assert_false(ts_trace_is_ours(TS_LIT("{\"displayTimeUnit\":\"ns\"}"), &ts_perfetto_json));
	assert_false(ts_trace_is_ours(TS_LIT(""), &ts_perfetto_json));
	assert_false(ts_trace_is_ours(TS_LIT("\x1f\x8b\x08"), &ts_perfetto_json));
	assert_false(ts_trace_is_ours(TS_LIT("\x0a\x1e\x50\x01"), &ts_perfetto_pb));
	assert_false(ts_trace_is_ours(TS_LIT(""), &ts_perfetto_pb));
}

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

static void an_arrow_leads_from_the_launch_to_its_kernel(void **state)
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

static void clocks_that_disagree_do_not_lose_an_arrow(void **state)
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
static void an_async_start_has_its_launch_as_well(void **state)
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

static void no_launch_stands_in_a_file_with_one_end(void **state)
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

static void a_kernel_without_a_lane_has_no_arrow(void **state)
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

static void threads_do_not_change_launches(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_both_ends_down_so_that_nesting_survives),
		cmocka_unit_test(a_parent_stands_before_a_child_of_the_same_length),
		cmocka_unit_test(ops_within_a_ns_keep_their_order_and_arrows),
		cmocka_unit_test(of_equal_starts_the_devices_clock_decides),
		cmocka_unit_test(what_overlaps_gets_lanes_with_names),
		cmocka_unit_test(more_overlaps_than_lanes_are_counted_as_left_out),
		cmocka_unit_test(times_before_the_start_move_everything),
		cmocka_unit_test(devices_come_first_and_hosts_are_named_when_there_are_two),
		cmocka_unit_test(the_host_stands_above_gpus),
		cmocka_unit_test(foreign_text_is_escaped_and_args_tell_of_the_op),
		cmocka_unit_test(what_an_event_says_of_itself_is_an_arg),
		cmocka_unit_test(an_arrow_leads_from_the_start_to_its_wait),
		cmocka_unit_test(a_start_is_as_long_as_its_wait_when_events_are_chosen),
		cmocka_unit_test(never_more_than_the_budget_and_exactly_it),
		cmocka_unit_test(one_event_may_hold_all_others),
		cmocka_unit_test(threads_do_not_change_a_byte),
		cmocka_unit_test(a_protobuf_trace_has_each_slices_begin_and_end),
		cmocka_unit_test(a_protobuf_trace_has_lanes_for_all_overlaps),
		cmocka_unit_test(our_tracks_stand_in_the_devices_process),
		cmocka_unit_test(each_finding_has_a_row_as_long_as_its_time_or_the_run),
		cmocka_unit_test(a_run_without_events_is_a_whole_file),
		cmocka_unit_test(a_failure_on_a_thread_ends_all_with_its_story),
		cmocka_unit_test(others_files_are_not_ours),
		cmocka_unit_test(an_arrow_leads_from_the_launch_to_its_kernel),
		cmocka_unit_test(clocks_that_disagree_do_not_lose_an_arrow),
		cmocka_unit_test(an_async_start_has_its_launch_as_well),
		cmocka_unit_test(no_launch_stands_in_a_file_with_one_end),
		cmocka_unit_test(a_kernel_without_a_lane_has_no_arrow),
		cmocka_unit_test(threads_do_not_change_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
