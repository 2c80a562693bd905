/* SPDX-License-Identifier: MIT */
/* The Perfetto trace: nesting, lanes, what slices say, arrows, tracks and findings. */
#define TARGET "trace_test.json.gz"
#include "result/schema/doctor.def"
#include "result/schema/time.def"
#include "trace/layout.h"
#include "tests/trace/read.h"

TEST(rounds_both_ends_down_so_that_nesting_survives)
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

TEST(a_parent_stands_before_a_child_of_the_same_length)
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

TEST(ops_within_a_ns_keep_their_order_and_arrows)
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

TEST(of_equal_starts_the_devices_clock_decides)
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

TEST(what_overlaps_gets_lanes_with_names)
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

TEST(more_overlaps_than_lanes_are_counted_as_left_out)
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

TEST(times_before_the_start_move_everything)
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

TEST(foreign_text_is_escaped_and_args_tell_of_the_op)
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

TEST(what_an_event_says_of_itself_is_an_arg)
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

TEST(an_arrow_leads_from_the_start_to_its_wait)
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

TEST(a_start_is_as_long_as_its_wait_when_events_are_chosen)
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

TEST(our_tracks_stand_in_the_devices_process)
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
	result = TS_ADD(&results, time);
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
	assert_string_equal(meta(root, "process_name", "pid", number_of(found, "pid")), "TPUsight");
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

TEST(each_finding_has_a_row_as_long_as_its_time_or_the_run)
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
	doctor = TS_ADD(&results, doctor);
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
