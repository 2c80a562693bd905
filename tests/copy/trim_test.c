/* SPDX-License-Identifier: MIT */
/*
 * Trimming: what stays of a profile, by steps, time and plane. Profiles are written field by field,
 * and what must come out is worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>

#include "base/units.h"
#include "codec/jtok.h"
#include "copy/pairs.h"
#include "io/file.h"
#include "tests/copy/trimmed.h"
#include "tests/io/tmpdir.h"
#include "tests/read/mutate.h"
#include "tests/read/xplane_make.h"

#define XPLANE memory_run_reader("xplane")
#define CHROME memory_run_reader("chrome")
#define US(n)  ((n) * TS_PS_PER_US)

/* --- an xplane's bytes in words */

static struct ts_bytes field_of(struct ts_bytes message, uint32_t field)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(message, &error);

	while (ts_pb_next(&pb))
		if (pb.field == field)
			return ts_pb_bytes(&pb);
	return (struct ts_bytes){ NULL, 0 };
}

static int64_t number_of(struct ts_bytes message, uint32_t field)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(message, &error);

	while (ts_pb_next(&pb))
		if (pb.field == field)
			return ts_pb_i64(&pb);
	return -1;
}

/* The name of an id in a plane's metadata. */
static struct ts_bytes name_of(struct ts_bytes plane, uint32_t field, int64_t id)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(plane, &error);

	while (ts_pb_next(&pb))
		if (pb.field == field && number_of(ts_pb_bytes(&pb), MAP_KEY) == id)
			return field_of(field_of(ts_pb_bytes(&pb), MAP_VALUE), 2);
	return TS_LIT("MISSING");
}

static void put_line(struct ts_buf *out, struct ts_bytes plane, struct ts_bytes line)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(line, &error);

	ts_buf_printf(out, " %.*s[", TS_ARG(field_of(line, XLINE_NAME)));
	while (ts_pb_next(&pb)) {
		struct ts_bytes event = ts_pb_bytes(&pb);
		struct ts_bytes name;

		if (pb.field != XLINE_EVENTS)
			continue;
		name = name_of(plane, XPLANE_EVENT_METADATA, number_of(event, XEVENT_METADATA_ID));
		ts_buf_printf(out, " %.*s@%lld", TS_ARG(name),
			      (long long)(number_of(event, XEVENT_OFFSET_PS) / US(1)));
	}
	ts_buf_puts(out, " ]");
}

static void put_names(struct ts_buf *out, struct ts_bytes plane, uint32_t field)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(plane, &error);

	while (ts_pb_next(&pb))
		if (pb.field == field)
			ts_buf_printf(out, " %.*s",
				      TS_ARG(field_of(field_of(ts_pb_bytes(&pb), MAP_VALUE), 2)));
}

/* "PLANE: LINE[ event@us ... ] | names of events | names of stats" */
static void put_xspace(struct ts_buf *out, struct ts_bytes file)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(file, &error);

	while (ts_pb_next(&pb)) {
		struct ts_bytes plane = ts_pb_bytes(&pb);

		if (pb.field != XSPACE_PLANES)
			continue;
		ts_buf_printf(out, "%.*s:", TS_ARG(field_of(plane, XPLANE_NAME)));
		for (struct ts_pb lines = ts_pb_of(plane, &error); ts_pb_next(&lines);)
			if (lines.field == XPLANE_LINES)
				put_line(out, plane, ts_pb_bytes(&lines));
		ts_buf_puts(out, " |");
		put_names(out, plane, XPLANE_EVENT_METADATA);
		ts_buf_puts(out, " |");
		put_names(out, plane, XPLANE_STAT_METADATA);
		ts_buf_putc(out, '\n');
	}
	assert_null(error.cause);
}

static void put_program(struct xp *xp, int64_t key, const char *name)
{
	struct xp_meta meta = xp_meta(xp, key, name, NULL);

	xp_stat_bytes(xp, XP_META_STATS, "hlo_proto", TS_LIT("\x0a\x02\x0a\x00"));
	xp_meta_end(xp, meta);
}

static void put_stat_event(struct xp *xp, int64_t key, int64_t offset_ps, int64_t dur_ps)
{
	size_t event = xp_begin_event(xp, key, offset_ps, dur_ps);

	xp_stat_ref(xp, XP_EVENT_STATS, "why", "because");
	ts_pbw_end(xp->out, event);
}

/* A core with three steps of 10 us, an op of its own program in each; and a host thread. */
static void put_device(struct ts_buf *out)
{
	struct xp xp = xp_plane(out, "/device:TPU:0");

	xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", "TPU v5 lite");
	xp_line(&xp, "Steps", 0);
	for (int64_t i = 0; i < 3; i++)
		xp_event(&xp, 10 + i, US(10 * i), US(10));
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 3; i++)
		xp_event(&xp, 1 + i, US(10 * i + 1), US(8));
	xp_line_end(&xp);
	xp_line(&xp, "Async XLA Ops", 0);
	xp_event(&xp, 5, US(1), US(2));
	xp_line_end(&xp);
	xp_op(&xp, 1, "op.a", "loop fusion", 71, 11);
	xp_op(&xp, 2, "op.b", "loop fusion", 72, 12);
	xp_op(&xp, 3, "op.c", "loop fusion", 73, 13);
	xp_name(&xp, 5, "early");
	xp_name(&xp, 10, "5");
	xp_name(&xp, 11, "6");
	xp_name(&xp, 12, "7");
	xp_plane_end(&xp);
}

static void put_host(struct ts_buf *out)
{
	struct xp xp = xp_plane(out, "/host:CPU");

	xp_line(&xp, "main", 0);
	xp_event(&xp, 1, US(0), US(40));
	xp_event(&xp, 2, US(2), US(3));
	put_stat_event(&xp, 3, US(12), 0);
	xp_event(&xp, 2, US(25), US(3));
	xp_line_end(&xp);
	xp_name(&xp, 1, "whole");
	xp_name(&xp, 2, "part");
	xp_name(&xp, 3, "moment");
	xp_plane_end(&xp);
	xp = xp_plane(out, "/host:metadata");
	put_program(&xp, 71, "jit_a(71)");
	put_program(&xp, 72, "jit_b(72)");
	put_program(&xp, 73, "jit_c(73)");
	xp_name(&xp, 1, "SYMBOL_MAP");
	xp_plane_end(&xp);
}

static void given_run(struct ts_buf *out)
{
	put_device(out);
	put_host(out);
	xp_task(out, 0, 0);
	ts_pbw_text(out, XSPACE_HOSTNAMES, TS_LIT("worker-0"));
}

static void expect_run(const struct ts_trim_choice *choice, const char *expected)
{
	struct ts_buf run = TS_BUF_INIT, out = TS_BUF_INIT, words = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_trim_report report;

	given_run(&run);
	assert_int_equal(trimmed_as(XPLANE, ts_buf_bytes(&run), choice, &out, &report, &err),
			 TS_OK);
	put_xspace(&words, ts_buf_bytes(&out));
	ts_buf_putc(&words, '\0');
	assert_string_equal((const char *)words.p, expected);
	assert_string_equal(report.damage.text, "");
	assert_true(is_sound_xspace(ts_buf_bytes(&out)));
	assert_true(ts_bytes_ends(ts_buf_bytes(&out), "worker-0"));
	ts_buf_release(&run);
	ts_buf_release(&out);
	ts_buf_release(&words);
}

TEST(a_step_stays_with_what_overlaps_it_and_nothing_else)
{
	struct ts_trim_choice choice = TRIM_ALL;

	choice.has_steps = true;
	choice.first_step = choice.last_step = 6;
	expect_run(&choice, "/device:TPU:0: Steps[ 6@10 ] XLA Ops[ op.b@11 ] | op.b 6 |"
			    " device_type_string hlo_category program_id symbol_id flops\n"
			    "/host:CPU: main[ whole@0 moment@12 ] | whole moment | why because\n"
			    "/host:metadata: | jit_b(72) SYMBOL_MAP | hlo_proto\n"
			    "Task Environment: | | profile_start_time profile_stop_time\n");
}

TEST(time_cuts_at_its_bounds)
{
	struct ts_trim_choice choice = TRIM_ALL;

	choice.from_ps = US(3); /* where "early" ends */
	choice.to_ps = US(12);	/* where "moment" stands */
	expect_run(&choice,
		   "/device:TPU:0: Steps[ 5@0 6@10 ] XLA Ops[ op.a@1 op.b@11 ] | op.a op.b 5 6 |"
		   " device_type_string hlo_category program_id symbol_id flops\n"
		   "/host:CPU: main[ whole@0 part@2 ] | whole part |\n"
		   "/host:metadata: | jit_a(71) jit_b(72) SYMBOL_MAP | hlo_proto\n"
		   "Task Environment: | | profile_start_time profile_stop_time\n");
}

TEST(a_plane_stays_with_what_describes_it)
{
	struct ts_trim_choice choice = TRIM_ALL;

	choice.plane = "/host:C*";
	expect_run(&choice, "/host:CPU: main[ whole@0 part@2 moment@12 part@25 ] |"
			    " whole part moment | why because\n"
			    "/host:metadata: | SYMBOL_MAP |\n"
			    "Task Environment: | | profile_start_time profile_stop_time\n");
}

TEST(what_is_not_there_cannot_be_asked_for)
{
	struct ts_trim_choice steps = TRIM_ALL, plane = TRIM_ALL, host = TRIM_ALL;
	const struct {
		const struct ts_trim_choice *choice;
		const char *words;
	} rows[] = {
		{ &steps, "--steps 9-10: out of range; this run has steps 5-7" },
		{ &plane, "no plane is called /device:TPU:9 (/device:TPU:0, for instance)" },
		{ &host, "no host is called other (the first of 1 is host)" },
	};
	struct ts_buf run = TS_BUF_INIT, out = TS_BUF_INIT;
	struct ts_trim_report report;

	steps.has_steps = true;
	steps.first_step = 9;
	steps.last_step = 10;
	plane.plane = "/device:TPU:9";
	host.host = "other";
	given_run(&run);
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_error err = TS_ERROR_INIT;

		assert_int_equal(
			trimmed_as(XPLANE, ts_buf_bytes(&run), rows[i].choice, &out, &report, &err),
			TS_USAGE);
		assert_string_equal(err.text, rows[i].words);
		assert_int_equal(out.n, 0);
	}
	ts_buf_release(&run);
	ts_buf_release(&out);
}

/* Each of two cores has its own step 1; their hosts' threads are cut by both. */
TEST(each_core_is_cut_by_its_own_steps)
{
	struct ts_trim_choice choice = TRIM_ALL;
	struct ts_buf run = TS_BUF_INIT, out = TS_BUF_INIT, words = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_trim_report report;

	for (int64_t core = 0; core < 2; core++) {
		struct xp xp = xp_plane(&run, core ? "/device:TPU:1" : "/device:TPU:0");

		xp_line(&xp, "Steps", 0);
		for (int64_t i = 0; i < 3; i++)
			xp_event(&xp, 1 + i, US(10 * i + 4 * core), US(10));
		xp_line_end(&xp);
		xp_name(&xp, 1, "0");
		xp_name(&xp, 2, "1");
		xp_name(&xp, 3, "2");
		xp_plane_end(&xp);
	}
	choice.has_steps = true;
	choice.first_step = choice.last_step = 1;
	assert_int_equal(trimmed_as(XPLANE, ts_buf_bytes(&run), &choice, &out, &report, &err),
			 TS_OK);
	put_xspace(&words, ts_buf_bytes(&out));
	ts_buf_putc(&words, '\0');
	assert_string_equal((const char *)words.p, "/device:TPU:0: Steps[ 1@10 ] | 1 |\n"
						   "/device:TPU:1: Steps[ 1@14 ] | 1 |\n");
	ts_buf_release(&run);
	ts_buf_release(&out);
	ts_buf_release(&words);
}

TEST(an_annotation_goes)
{
	struct ts_trim_choice choice = TRIM_ALL;
	struct ts_buf run = TS_BUF_INIT, out = TS_BUF_INIT, again = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_trim_report report;
	struct xp xp;

	choice.to_ps = US(1000);
	given_run(&run);
	assert_int_equal(trimmed_as(XPLANE, ts_buf_bytes(&run), &choice, &out, &report, &err),
			 TS_OK);
	xp = xp_plane(&run, "/device:CUSTOM:TPUsight findings");
	xp_line(&xp, "findings", 0);
	xp_event(&xp, 1, 0, US(5));
	xp_line_end(&xp);
	xp_plane_end(&xp);
	assert_int_equal(trimmed_as(XPLANE, ts_buf_bytes(&run), &choice, &again, &report, &err),
			 TS_OK);
	assert_int_equal(out.n, again.n);
	assert_memory_equal(out.p, again.p, out.n);
	ts_buf_release(&run);
	ts_buf_release(&out);
	ts_buf_release(&again);
}

/* However it is damaged, what comes out is whole. */
static void take_damaged(struct ts_bytes bytes, const struct ts_trim_choice *choice)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_trim_report report;
	enum ts_status st = trimmed_as(XPLANE, bytes, choice, &out, &report, NULL);

	assert_true(st == TS_OK || st == TS_FORMAT || st == TS_USAGE);
	assert_true(st != TS_OK || is_sound_xspace(ts_buf_bytes(&out)));
	ts_buf_release(&out);
}

TEST(damaged_xplanes_give_sound_ones)
{
	struct ts_buf run = TS_BUF_INIT, bad = TS_BUF_INIT;
	struct ts_trim_choice choice = TRIM_ALL;
	struct rng rng = { 17 };

	choice.from_ps = US(5);
	choice.to_ps = US(15);
	given_run(&run);
	for (size_t n = 0; n <= run.n; n++)
		take_damaged(ts_bytes_cut(ts_buf_bytes(&run), 0, n), &choice);
	for (int i = 0; i < 4000; i++) {
		mutate(&rng, ts_buf_bytes(&run), &bad);
		take_damaged(ts_buf_bytes(&bad), &choice);
	}
	ts_buf_release(&run);
	ts_buf_release(&bad);
}

/* --- traces */

#define HEAD "{\"deviceProperties\": [{\"id\": 0}], \"traceEvents\": [\n"
#define TAIL "\n], \"displayTimeUnit\": \"ms\"}"

/* Which events are left, by their "k". */
static void put_keys(struct ts_buf *out, struct ts_bytes trace)
{
	struct ts_jtok members = ts_jtok_enter(trace);
	struct ts_jtok events = members;

	while (trace.n && trace.p[0] == '{' && ts_jtok_member(&members))
		if (ts_bytes_is(members.key, "traceEvents"))
			events = ts_jtok_enter(members.value);
	while (ts_jtok_element(&events)) {
		struct ts_jtok event = ts_jtok_enter(events.value);

		while (ts_jtok_member(&event))
			if (ts_bytes_is(event.key, "k"))
				ts_buf_put(out, ts_jtok_text(event.value));
	}
	ts_buf_putc(out, '\0');
}

static void expect_keys(const char *text, const struct ts_trim_choice *choice, const char *keys)
{
	struct ts_buf out = TS_BUF_INIT, left = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_trim_report report;
	enum ts_status st = trimmed_as(CHROME, ts_bytes_of(text), choice, &out, &report, &err);

	assert_string_equal(err.text, "");
	assert_int_equal(st, TS_OK);
	put_keys(&left, ts_buf_bytes(&out));
	assert_string_equal((const char *)left.p, keys);
	ts_buf_release(&out);
	ts_buf_release(&left);
}

/* Time 0 is the first event, at 100 us. */
#define X(k, pid, tid, ts, dur)                                                                 \
	"{\"ph\": \"X\", \"k\": \"" k "\", \"name\": \"n\", \"cat\": \"cpu_op\", \"pid\": " pid \
	", \"tid\": " tid ", \"ts\": " ts ", \"dur\": " dur "}"
#define P(ph, k, id, ts)                                                                          \
	"{\"ph\": \"" ph "\", \"k\": \"" k "\", \"id\": " id ", \"cat\": \"c\", \"name\": \"n\"," \
	" \"pid\": 1, \"tid\": 1, \"ts\": " ts "}"
#define M(k, what, pid, tid)                                                      \
	"{\"ph\": \"M\", \"k\": \"" k "\", \"name\": \"" what "\", \"pid\": " pid \
	", \"tid\": " tid ", \"args\": {\"name\": \"x\"}}"

TEST(events_of_a_trace_stay_whole_if_they_overlap)
{
	struct ts_trim_choice choice = TRIM_ALL;

	choice.from_ps = US(10);
	choice.to_ps = US(20);
	expect_keys(HEAD X("a", "1", "1", "100", "5") "," X("b", "1", "1", "105", "6") "," X(
			    "c", "1", "1", "104",
			    "6") "," X("d", "1", "1", "119.999",
				       "9") "," X("e", "1", "1", "120",
						  "1") "," X("f", "1", "1", "110",
							     "0") "," X("g", "1", "2", "100", "100")
			    TAIL,
		    &choice, "bdfg");
}

TEST(names_stay_with_their_threads)
{
	struct ts_trim_choice choice = TRIM_ALL;

	choice.from_ps = US(10);
	expect_keys(
		HEAD M("a", "process_name", "1", "0") "," M("b", "process_name", "2", "0") "," M(
			"c", "thread_name", "1",
			"1") "," M("d", "thread_name", "1",
				   "2") "," X("x", "1", "1", "100",
					      "50") "," X("y", "1", "2", "100",
							  "5") "," X("z", "2", "1", "100",
								     "5") "," M("e",
										"thread_sort_index",
										"1", "1") TAIL,
		&choice, "acxe");
}

TEST(pairs_stay_or_go_together)
{
	struct ts_trim_choice choice = TRIM_ALL;

	choice.from_ps = US(10);
	choice.to_ps = US(20);
	/* flows: 1 in the cut, 2 begins before it, 3 has no end */
	expect_keys(HEAD X("x", "1", "1", "100", "50") "," P("s", "a", "1", "112") "," P(
			    "f", "b", "1", "118") "," P("s", "c", "2",
							"105") "," P("f", "d", "2",
								     "115") "," P("s", "e", "3",
										  "115") TAIL,
		    &choice, "xab");
	/* async: 1 lies around the cut, 2 before it, 3 never ends; n only in the cut */
	expect_keys(
		HEAD X("x", "1", "1", "100", "50") "," P("b", "a", "1", "105") "," P(
			"n", "b", "1",
			"106") "," P("n", "c", "1",
				     "115") "," P("e", "d", "1",
						  "130") "," P("b", "e", "2",
							       "101") "," P("e", "f", "2",
									    "104") "," P("b", "g",
											 "3", "115")
			TAIL,
		&choice, "xacd");
	/* B and E nest, and an E without a B does not count; what never ends lasts on */
	expect_keys(HEAD X("x", "1", "2", "100", "50") "," P("B", "a", "0", "101") "," P(
			    "B", "b", "0",
			    "102") "," P("E", "c", "0",
					 "104") "," P("E", "d", "0",
						      "111") "," P("E", "e", "0",
								   "112") "," P("B", "f", "0",
										"119") TAIL,
		    &choice, "xadf");
}

TEST(more_pairs_than_memory_holds_are_dealt_out)
{
	struct ts_trim trim = { .profile = NULL };
	struct ts_span span = { 10, 20 };
	bool plane = true;
	struct ts_pairs pairs;
	enum ts_status st = TS_OK;

	trim.spans = &span;
	trim.planes = &plane;
	ts_pairs_init(&pairs, &trim);
	pairs.max = 7;
	for (uint64_t i = 0; i < 1000; i++) /* beginnings at 0..29, each with an end 5 later */
		for (uint8_t end = TS_PAIR_BEGIN; end <= TS_PAIR_END; end++) {
			struct ts_pair_event event = { .key = i * 977,
						       .nr = ts_pairs_number(&pairs, &st),
						       .ps = (int64_t)(i % 30) + 5 * end,
						       .track = TS_NONE,
						       .kind = i % 2 ? TS_PAIR_FLOW : TS_PAIR_ASYNC,
						       .end = end };

			assert_int_equal(ts_pairs_put(&pairs, &event, NULL), TS_OK);
		}
	assert_int_equal(ts_pairs_decide(&pairs, NULL), TS_OK);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = i % 30;
		bool stays = i % 2 ? at >= 10 && at < 15 : at > 5 && at < 20;

		assert_int_equal(ts_pairs_stays(&pairs, 2 * i), stays);
		assert_int_equal(ts_pairs_stays(&pairs, 2 * i + 1), stays);
	}
	ts_pairs_release(&pairs);
}

#define KERNEL(k, pid, ts)                                                                         \
	"{\"ph\": \"X\", \"k\": \"" k "\", \"name\": \"gemm\", \"cat\": \"kernel\", \"pid\": " pid \
	", \"tid\": 7, \"ts\": " ts ", \"dur\": 4}"

/* PyTorch numbers GPUs from 0, and a process may go by the same number. */
TEST(a_gpu_is_a_plane_of_its_own)
{
	static const char text[] =
		HEAD X("a", "0", "0", "100", "5") "," KERNEL("b", "0", "101") "," M(
			"m", "process_name", "0", "0") "," KERNEL("c", "1", "101") TAIL;
	struct ts_trim_choice choice = TRIM_ALL;

	choice.plane = "/device:GPU:0";
	expect_keys(text, &choice, "bm");
	choice.plane = "/device:*";
	expect_keys(text, &choice, "bmc");
	choice.plane = "x"; /* the process's name */
	expect_keys(text, &choice, "am");
}

TEST(steps_of_the_profiler_cut_a_trace)
{
	static const char step[] =
		"{\"ph\": \"X\", \"k\": \"%s\", \"name\": \"ProfilerStep#%d\", \"cat\": "
		"\"user_annotation\", \"pid\": 9, \"tid\": 9, \"ts\": %d, \"dur\": 10},";
	struct ts_trim_choice choice = TRIM_ALL;
	struct ts_buf text = TS_BUF_INIT;
	static const char *const keys[] = { "a", "b", "c", "d" };

	ts_buf_puts(&text, HEAD);
	for (int i = 0; i < 4; i++)
		ts_buf_printf(&text, step, keys[i], 7 + i, 100 + 10 * i); /* 7 to 10 */
	ts_buf_puts(&text, KERNEL("e", "0", "108") "," KERNEL("f", "0", "121") "," KERNEL(
				   "g", "0", "131") TAIL);
	ts_buf_putc(&text, '\0');
	choice.has_steps = true;
	choice.first_step = 8;
	choice.last_step = 9;
	expect_keys((const char *)text.p, &choice, "bcef");
	ts_buf_release(&text);
}

static void expect_text(const char *text, const char *expected)
{
	struct ts_trim_choice choice = TRIM_ALL;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_trim_report report;

	choice.to_ps = US(1000);
	assert_int_equal(trimmed_as(CHROME, ts_bytes_of(text), &choice, &out, &report, NULL),
			 TS_OK);
	ts_buf_putc(&out, '\0');
	assert_string_equal((const char *)out.p, expected);
	ts_buf_release(&out);
}

#define EVENT X("a", "1", "1", "100", "5")

TEST(what_is_no_event_is_copied_and_what_is_open_is_closed)
{
	expect_text(HEAD EVENT TAIL,
		    "{\n\"deviceProperties\": [{\"id\": 0}],\n\"traceEvents\": [\n" EVENT
		    "\n],\n\"displayTimeUnit\": \"ms\"\n}\n");
	expect_text("[" EVENT ", " EVENT "]", "[\n" EVENT ",\n" EVENT "\n]\n");
	expect_text("[" EVENT ",", "[\n" EVENT "\n]\n");
	expect_text(HEAD EVENT ", {\"ph\": \"X\", ",
		    "{\n\"deviceProperties\": [{\"id\": 0}],\n\"traceEvents\": [\n" EVENT
		    "\n]\n}\n");
	expect_text(HEAD EVENT "], \"traceName\": \"/tmp/",
		    "{\n\"deviceProperties\": [{\"id\": 0}],\n\"traceEvents\": [\n" EVENT
		    "\n]\n}\n");
}

/* Braces and quotes pair up, and nothing follows: what a strict reader needs at least. */
static bool is_closed(struct ts_bytes text)
{
	const uint8_t *end = text.n ? ts_jtok_value_end(text.p, text.p + text.n) : NULL;

	return end && ts_jtok_space(end, text.p + text.n) == text.p + text.n;
}

static void take_damaged_trace(struct ts_bytes bytes)
{
	struct ts_trim_choice choice = TRIM_ALL;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_trim_report report;
	enum ts_status st;

	choice.from_ps = US(3);
	choice.to_ps = US(40);
	st = trimmed_as(CHROME, bytes, &choice, &out, &report, NULL);
	assert_true(st == TS_OK || st == TS_FORMAT || st == TS_USAGE);
	assert_true(st != TS_OK || is_closed(ts_buf_bytes(&out)));
	ts_buf_release(&out);
}

TEST(damaged_traces_give_closed_ones)
{
	static const char text[] =
		HEAD EVENT "," P("s", "b", "1", "112") "," P("f", "c", "1", "118") "," P(
			"B", "d", "0",
			"101") "," P("E", "e", "0",
				     "110") "," KERNEL("f", "0",
						       "108") "," M("g", "process_name", "1",
								    "0") "," P("b", "h", "\"x\"",
									       "101") "," P("e",
											    "i",
											    "\"x\"",
											    "130")
			TAIL;
	struct ts_bytes bytes = { (const uint8_t *)text, sizeof(text) - 1 };
	struct ts_buf bad = TS_BUF_INIT;
	struct rng rng = { 23 };

	for (size_t n = 0; n <= bytes.n; n++)
		take_damaged_trace(ts_bytes_cut(bytes, 0, n));
	for (int i = 0; i < 4000; i++) {
		mutate(&rng, bytes, &bad);
		take_damaged_trace(ts_buf_bytes(&bad));
	}
	ts_buf_release(&bad);
}

/* --- files */

static const struct ts_newfile_use use = { .is_named = true };

TEST_IN_TMPDIR(a_copy_is_packed_when_its_name_says_so)
{
	static const uint8_t piece[4096] = "all work and no play";
	struct ts_bytes bytes = { piece, sizeof(piece) };
	struct ts_copy_out out;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_input input = TS_INPUT_INIT;

	assert_int_equal(ts_copy_open(&out, "a.json.gz", &use, &err), TS_OK);
	for (int i = 0; i < 1000; i++)
		ts_copy_put(&out, bytes);
	assert_int_equal(ts_copy_commit(&out, &err), TS_OK);
	ts_copy_release(&out);
	assert_int_equal(ts_input_open(&input, "a.json.gz", &err), TS_OK);
	assert_int_equal(ts_gunzip_head(input.bytes, &text, 8 << 20, &err), TS_OK);
	assert_int_equal(text.n, 1000 * sizeof(piece));
	for (size_t i = 0; i < 1000; i++)
		assert_memory_equal(text.p + i * sizeof(piece), piece, sizeof(piece));
	ts_input_release(&input);
	ts_buf_release(&text);
}

TEST_IN_TMPDIR(a_copy_that_is_not_finished_is_not_there)
{
	struct ts_copy_out out;
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_copy_open(&out, "b.json", &use, &err), TS_OK);
	ts_copy_puts(&out, "half");
	ts_copy_release(&out);
	assert_false(ts_file_exists("b.json"));
	assert_int_equal(ts_copy_open(&out, "nowhere/b.json", &use, &err), TS_NOTFOUND);
	ts_copy_release(&out);
}
