/* SPDX-License-Identifier: MIT */
/* The bytes of single packets, against bytes worked out by hand from Perfetto's .proto files. */
#include "tests/test.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "overlay/apply.h"
#include "trace/perfetto/perfetto.h"

static const struct ts_perfetto_form *const form = &ts_perfetto_pb;

static void assert_bytes(struct ts_buf *buf, struct ts_bytes want)
{
	assert_false(buf->failed);
	assert_int_equal(buf->n, want.n);
	assert_memory_equal(buf->p, want.p, want.n);
	ts_buf_release(buf);
}

static struct ts_perfetto_lane lane_of(const struct ts_perfetto_row *row, uint32_t number)
{
	struct ts_perfetto_lane lane = { .row = row, .number = number };
	struct ts_buf said = TS_BUF_INIT;

	form->lane(&said, &lane);
	assert_false(said.failed);
	ts_buf_release(&said);
	return lane;
}

/* The first field at PATH (numbers, 0 at the end) of the message; fails where there is none. */
static struct ts_pb at_path(struct ts_bytes message, const uint32_t *path)
{
	static struct ts_pb_error err;
	struct ts_pb pb;

	err = (struct ts_pb_error){ 0 };
	pb = ts_pb_of(message, &err);
	for (; *path; path++) {
		while (ts_pb_next(&pb) && pb.field != *path)
			;
		assert_null(err.cause);
		assert_true(pb.field == *path);
		if (path[1])
			pb = ts_pb_enter(&pb);
	}
	return pb;
}

static uint64_t number_at(const struct ts_buf *buf, const uint32_t *path)
{
	struct ts_pb pb = at_path(ts_buf_bytes(buf), path);

	return ts_pb_u64(&pb);
}

static struct ts_bytes text_at(const struct ts_buf *buf, const uint32_t *path)
{
	struct ts_pb pb = at_path(ts_buf_bytes(buf), path);

	return ts_pb_bytes(&pb);
}

/* A path within the first packet. */
#define PACKET(...) (const uint32_t[]){ 1, __VA_ARGS__, 0 }

TEST(a_slice_is_a_begin_and_an_end)
{
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = 0, .pid = 1, .tid = 100, .last_ns = &last_ns };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_perfetto_slice slice = {
		.start_ns = 300, .dur_ns = 10, .tail = TS_LIT("\x50\x01"), .own_ns = 7
	};
	struct ts_buf buf = TS_BUF_INIT;

	form->op_slice(&buf, &lane, &slice);
	form->end(&buf, &lane, 310, false);
	/* packet { timestamp, sequence 2, needs state, event { type, name_iid, self_ns 7 } } */
	assert_bytes(&buf, TS_LIT("\x0a\x13\x40\xac\x02\x50\x02\x68\x02\x5a\x0a\x48\x01\x50\x01"
				  "\x22\x04\x08\x12\x20\x07"
				  "\x0a\x0a\x40\x0a\x50\x02\x68\x02\x5a\x02\x48\x02"));
}

/* Lanes end their slices when they are looked at again: then others of the row may be ahead. */
TEST(a_time_that_goes_back_is_told_as_it_is)
{
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = 0, .last_ns = &last_ns };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_buf buf = TS_BUF_INIT;

	form->end(&buf, &lane, 300, false);
	form->end(&buf, &lane, 299, false); /* on clock 6, the trace's */
	form->end(&buf, &lane, 301, false);
	assert_bytes(&buf, TS_LIT("\x0a\x0b\x40\xac\x02\x50\x02\x68\x02\x5a\x02\x48\x02"
				  "\x0a\x0e\x40\xab\x02\xd0\x03\x06\x50\x02\x68\x02\x5a\x02\x48\x02"
				  "\x0a\x0a\x40\x01\x50\x02\x68\x02\x5a\x02\x48\x02"));
}

TEST(other_lanes_name_their_track_and_arrows_their_ends)
{
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = 299, .pid = 1, .tid = 30000, .last_ns = &last_ns };
	struct ts_perfetto_lane lane = lane_of(&row, 3);
	struct ts_perfetto_slice slice = { .arrow = TS_ARROW_BEGINS,
					   .arrow_id = 0x0102030405060708 };
	struct ts_buf first = TS_BUF_INIT, last = TS_BUF_INIT;

	form->op_slice(&first, &lane, &slice);
	assert_true(number_at(&first, PACKET(10)) == 301);
	assert_true(number_at(&first, PACKET(11, 11)) == (0x5450800000000000 | 299 << 16 | 3));
	assert_true(number_at(&first, PACKET(11, 47)) == slice.arrow_id);
	slice.arrow = TS_ARROW_ENDS;
	form->op_slice(&last, &lane, &slice);
	assert_true(number_at(&last, PACKET(11, 48)) == slice.arrow_id);
	ts_buf_release(&first);
	ts_buf_release(&last);
}

/* Packets that can be read to the end, the times of each two, summed up, the powers of two. */
static size_t count_packets(const struct ts_buf *buf)
{
	struct ts_pb_error err = { 0 };
	struct ts_pb packet = ts_pb_of(ts_buf_bytes(buf), &err);
	uint64_t at_ns = 0;
	size_t nr = 0;

	for (; ts_pb_next(&packet); nr++) {
		struct ts_pb inner = ts_pb_enter(&packet);

		while (ts_pb_next(&inner)) {
			struct ts_pb event = ts_pb_enter(&inner);

			if (inner.field == 8)
				at_ns += inner.value;
			while (inner.field == 11 && ts_pb_next(&event))
				;
		}
		assert_true(at_ns == UINT64_C(1) << nr / 2);
	}
	assert_null(err.cause);
	return nr;
}

/* Every length that a varint can have: the packet's own length must still be right. */
TEST(lengths_are_right_for_every_size_of_number)
{
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = UINT32_MAX - 2, .last_ns = &last_ns };
	struct ts_perfetto_lane lane = lane_of(&row, 1);
	struct ts_buf buf = TS_BUF_INIT, tail = TS_BUF_INIT;

	for (unsigned bit = 0; bit < 63; bit++) {
		struct ts_perfetto_slice slice = { .start_ns = INT64_C(1) << bit,
						   .own_ns = (INT64_C(1) << bit) - 1,
						   .nr_events = UINT32_MAX };

		ts_buf_pad(&tail, '\x38', bit * 7 & ~1u); /* fields 7, of value 0x38 */
		slice.tail = ts_buf_bytes(&tail);
		form->label_slice(&buf, &lane, &slice);
		form->end(&buf, &lane, slice.start_ns, false);
		ts_buf_clear(&tail);
	}
	assert_int_equal(count_packets(&buf), 2 * 63);
	ts_buf_release(&buf);
	ts_buf_release(&tail);
}

TEST(what_an_op_refers_to_is_said_before_it)
{
	int64_t last_ns = 0;
	struct ts_perfetto_seen seen = { .scratch = TS_BUF_INIT };
	struct ts_perfetto_row row = { .number = 0, .last_ns = &last_ns, .seen = &seen };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_buf said = TS_BUF_INIT, tail = TS_BUF_INIT, again = TS_BUF_INIT;
	struct ts_profile profile;
	struct ts_perfetto_op shown = { .profile = &profile, .is_first = true, .has_stack = true };
	struct ts_op op;

	ts_profile_init(&profile);
	ts_op_init(&op);
	op.name = TS_LIT("bad \xff name");
	op.category = TS_LIT("loop fusion");
	op.framework_op = TS_LIT("jit(f)/dot");
	op.flops = 1000;
	op.text = TS_LIT("%f = f32[] f()");
	assert_int_not_equal(ts_profile_intern_op(&profile, &op), TS_NONE);
	form->op_tail(&said, &tail, &lane, &shown);
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 2, 2)), "bad \xef\xbf\xbd name"));
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 1, 2)), "loop fusion"));
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 29, 2)), "jit(f)/dot"));
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 43, 2)), "loop fusion"));
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 5, 2)), "jit(f)"));
	assert_true(number_at(&said, PACKET(12, 7, 2)) == 1); /* the outermost frame */
	/* category and correlation 1, call stack 4: the first of scopes; tf_op is string 1, op_id 0,
	 * flops is 1000, long_name is string 2; name 1 */
	assert_true(ts_bytes_eq(ts_buf_bytes(&tail), TS_LIT("\x18\x01\xb0\x03\x01\xc0\x03\x04"
							    "\x22\x05\x08\x02\x88\x01\x01"
							    "\x22\x04\x08\x01\x20\x00"
							    "\x22\x05\x08\x04\x20\xe8\x07"
							    "\x22\x05\x08\x08\x88\x01\x02"
							    "\x50\x01")));
	ts_buf_clear(&said);
	shown.is_first = false;
	form->op_tail(&said, &again, &lane, &shown);
	assert_int_equal(said.n, 0); /* and the same without the long text */
	assert_true(ts_bytes_eq(ts_buf_bytes(&again), TS_LIT("\x18\x01\xb0\x03\x01\xc0\x03\x04"
							     "\x22\x05\x08\x02\x88\x01\x01"
							     "\x22\x04\x08\x01\x20\x00"
							     "\x22\x05\x08\x04\x20\xe8\x07"
							     "\x50\x01")));
	ts_buf_release(&said);
	ts_buf_release(&tail);
	ts_buf_release(&again);
	ts_perfetto_seen_release(&seen);
	ts_profile_release(&profile);
}

TEST(a_call_stack_weighs_the_self_time)
{
	static const char weight[] = "\xc9\x03\0\0\0\0\0\0\x1c\x40"; /* field 57: 7.0 */
	int64_t last_ns = 0;
	struct ts_perfetto_seen seen = { .scratch = TS_BUF_INIT };
	struct ts_perfetto_row row = { .number = 0, .last_ns = &last_ns, .seen = &seen };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_perfetto_slice slice = { .own_ns = 7 };
	struct ts_buf plain = TS_BUF_INIT, stacked = TS_BUF_INIT;

	form->op_slice(&plain, &lane, &slice);
	slice.has_stack = true;
	last_ns = 0;
	form->op_slice(&stacked, &lane, &slice);
	assert_int_equal(stacked.n, plain.n + sizeof(weight) - 1);
	assert_non_null(memmem(stacked.p, stacked.n, weight, sizeof(weight) - 1));
	slice.own_ns = 0; /* weighs nothing, and says nothing */
	last_ns = 0;
	ts_buf_clear(&stacked);
	form->op_slice(&stacked, &lane, &slice);
	assert_null(memmem(stacked.p, stacked.n, weight, 2));
	ts_buf_release(&plain);
	ts_buf_release(&stacked);
	ts_perfetto_seen_release(&seen);
}

TEST(stats_are_typed_and_their_texts_stand_once_in_a_row)
{
	static const struct ts_perfetto_stat stats[] = {
		{ TS_LIT("size"), TS_ARG_COUNT, { .type = TS_STAT_INT, .number = 300 } },
		{ TS_LIT("kind"), TS_ARG_TEXT, { .type = TS_STAT_TEXT, .text = TS_LIT("copy") } },
		{ TS_LIT("share"), TS_ARG_REAL, { .type = TS_STAT_REAL, .real = 1.0 } },
		{ TS_LIT("run"), TS_ARG_ID, { .type = TS_STAT_INT, .number = -7 } },
	};
	int64_t last_ns = 0;
	struct ts_perfetto_seen seen = { .scratch = TS_BUF_INIT };
	struct ts_perfetto_row row = { .number = 0, .last_ns = &last_ns, .seen = &seen };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_perfetto_slice slice = { .stats = stats, .nr_stats = TS_NELEM(stats) };
	struct ts_buf first = TS_BUF_INIT, second = TS_BUF_INIT;

	form->op_slice(&first, &lane, &slice);
	assert_true(ts_bytes_is(text_at(&first, PACKET(12, 3, 2)), "size"));
	assert_true(ts_bytes_is(text_at(&first, PACKET(12, 29, 2)), "copy"));
	form->op_slice(&second, &lane, &slice);
	assert_true(ts_bytes_has(ts_buf_bytes(&second), "\x20\xac\x02")); /* 300 */
	assert_true(ts_bytes_has(ts_buf_bytes(&second), "\x88\x01\x01")); /* string 1 */
	assert_true(ts_bytes_has(ts_buf_bytes(&second), "\xf0\x3f"));	  /* 1.0 */
	assert_true(ts_bytes_has(ts_buf_bytes(&second), "\x32\x02-7"));
	assert_false(ts_bytes_has(ts_buf_bytes(&second), "copy"));
	ts_buf_release(&first);
	ts_buf_release(&second);
	ts_perfetto_seen_release(&seen);
}

TEST(numbers_of_a_label_are_numbers)
{
	static const struct ts_arg args[] = {
		{ "title", { TS_VALUE_TEXT, .as.s = { (const uint8_t *)"b", 1 } } },
		{ "unknown", { TS_VALUE_NULL } },
		{ "impact_ns", { TS_VALUE_INT, .as.i = 300 } },
		{ "impact_pct", { TS_VALUE_REAL, .as.r = 1.0 } },
	};
	static const struct ts_label label = { TS_LIT("a"), args, TS_NELEM(args) };
	struct ts_track track = { .labels = &label, .nr_labels = 1 };
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = 0, .track = &track, .last_ns = &last_ns };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_buf said = TS_BUF_INIT, tail = TS_BUF_INIT;

	form->label_tail(&said, &tail, &lane, 0);
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 3, 2)), "title"));
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 29, 2)), "b"));
	/* category 1, name 1; keys are 256, 258 and 259: a string, an int, a double */
	assert_bytes(&tail, TS_LIT("\x18\x01\x50\x01"
				   "\x22\x07\x08\x80\x02\x88\x01\x80\x02"
				   "\x22\x06\x08\x82\x02\x20\xac\x02"
				   "\x22\x0c\x08\x83\x02\x29\x00\x00\x00\x00\x00\x00\xf0\x3f"));
	ts_buf_release(&said);
}

/* A copy of it, tag and length and all. */
static struct ts_buf second_packet(const struct ts_buf *buf)
{
	struct ts_pb_error err = { 0 };
	struct ts_pb pb = ts_pb_of(ts_buf_bytes(buf), &err);
	struct ts_buf copy = TS_BUF_INIT;

	assert_true(ts_pb_next(&pb) && ts_pb_next(&pb));
	ts_pbw_bytes(&copy, 1, ts_pb_bytes(&pb));
	assert_false(copy.failed);
	return copy;
}

TEST(a_counter_has_its_unit_and_what_it_is)
{
	struct ts_track track = { .kind = TS_TRACK_COUNTER,
				  .name = "HBM bandwidth (GB/s)",
				  .description = "read and written" };
	int64_t last_ns = 0;
	struct ts_perfetto_row row = {
		.number = 0, .pid = 1, .order = 4, .track = &track, .last_ns = &last_ns
	};
	struct ts_buf buf = TS_BUF_INIT, rest;

	form->row(&buf, &row);
	assert_true(number_at(&buf, PACKET(13)) == 1); /* state cleared */
	rest = second_packet(&buf);
	assert_true(ts_bytes_is(text_at(&rest, PACKET(60, 2)), track.name));
	assert_true(ts_bytes_is(text_at(&rest, PACKET(60, 8, 6)), "GB/s"));
	assert_true(ts_bytes_is(text_at(&rest, PACKET(60, 8, 7)), "GB/s"));
	assert_true(ts_bytes_is(text_at(&rest, PACKET(60, 14)), track.description));
	ts_buf_clear(&buf);
	ts_buf_release(&rest);
	track.axis = "VMEM"; /* has a scale of its own */
	form->row(&buf, &row);
	rest = second_packet(&buf);
	assert_true(ts_bytes_is(text_at(&rest, PACKET(60, 8, 7)), "VMEMGB/s"));
	ts_buf_clear(&buf);
	form->counter(&buf, &row, 300, 1.0);
	form->counter(&buf, &row, 300, NAN); /* is not written */
	assert_bytes(&buf, TS_LIT("\x0a\x15\x50\x02\x68\x02\x40\xac\x02\x5a\x0c\x48\x04\xe1\x02"
				  "\x00\x00\x00\x00\x00\x00\xf0\x3f"));
	ts_buf_release(&rest);
}

#define UUID_BASE 0x5450000000000000

/* Of lane NUMBER of the row, what form->lane() says. */
static struct ts_buf said_of_lane(const struct ts_perfetto_row *row, uint32_t number)
{
	struct ts_perfetto_lane lane = { .row = row, .number = number };
	struct ts_buf said = TS_BUF_INIT;

	form->lane(&said, &lane);
	assert_false(said.failed);
	return said;
}

TEST(a_process_has_a_group_of_ours_and_one_of_lines)
{
	struct ts_perfetto_process process = { .pid = 7,
					       .name = TS_LIT("/device:TPU:0"),
					       .has_tracks = true,
					       .has_lines = true,
					       .events_total = 12,
					       .events_left_out = 5 };
	struct ts_buf buf = TS_BUF_INIT, ours;
	struct ts_bytes text;

	form->process(&buf, &process);
	ours = second_packet(&buf);
	assert_true(number_at(&ours, PACKET(60, 1)) == (UUID_BASE | UINT64_C(1) << 32 | 7));
	assert_true(number_at(&ours, PACKET(60, 5)) == (UUID_BASE | 7));
	assert_true(ts_bytes_is(text_at(&ours, PACKET(60, 2)), "TPUsight"));
	assert_true(number_at(&ours, PACKET(60, 11)) == 3); /* children in explicit order */
	text = ts_buf_bytes(&buf);
	assert_true(ts_bytes_has(text, "lines of the profile"));
	assert_true(ts_bytes_has(text, "; 5 of 12 events are left out of this file"));
	ts_buf_clear(&buf);
	process.events_left_out = 0;
	form->process(&buf, &process);
	assert_false(ts_bytes_has(ts_buf_bytes(&buf), "left out"));
	ts_buf_clear(&buf);
	process.has_tracks = process.has_lines = false;
	form->process(&buf, &process);
	assert_false(ts_bytes_has(ts_buf_bytes(&buf), "lines of"));
	ts_buf_release(&ours);
	ts_buf_release(&buf);
}

/* A row is not a thread, and its lanes are one row in viewers. */
TEST(lanes_of_a_row_have_one_merge_key)
{
	struct ts_track track = { .kind = TS_TRACK_SLICES, .description = "what it is" };
	struct ts_perfetto_row rows[] = {
		{ .number = 4,
		  .pid = 7,
		  .order = 2,
		  .name = TS_LIT("XLA Ops"),
		  .about = "what ran" },
		{ .number = 5, .pid = 7, .order = 3, .name = TS_LIT("a"), .track = &track },
	};

	for (uint32_t i = 0; i < 4; i++) {
		const struct ts_perfetto_row *row = &rows[i / 2];
		struct ts_buf said = said_of_lane(row, i % 2);
		uint64_t group = row->track ? 1 : 2;

		assert_true((number_at(&said, PACKET(60, 1)) & 0xffff) == i % 2);
		assert_true(number_at(&said, PACKET(60, 5)) == (UUID_BASE | group << 32 | 7));
		assert_true(number_at(&said, PACKET(60, 15)) == 3); /* merged by the key */
		assert_true(number_at(&said, PACKET(60, 17)) == row->number);
		assert_true(number_at(&said, PACKET(60, 12)) == row->order);
		assert_true(ts_bytes_is(text_at(&said, PACKET(60, 14)),
					row->track ? "what it is" : "what ran"));
		ts_buf_release(&said);
	}
}

TEST(a_hosts_thread_has_the_systems_number)
{
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = 1,
				       .pid = 7,
				       .tid = 200,
				       .order = 3,
				       .thread = 4242,
				       .name = TS_LIT("main/4242"),
				       .last_ns = &last_ns };
	struct ts_buf buf = TS_BUF_INIT, thread, lane = said_of_lane(&row, 0);

	form->row(&buf, &row);
	thread = second_packet(&buf);
	assert_true(number_at(&thread, PACKET(60, 4, 1)) == 7);
	assert_true(number_at(&thread, PACKET(60, 4, 2)) == 4242);
	assert_true(ts_bytes_is(text_at(&thread, PACKET(60, 4, 5)), "main/4242"));
	assert_true(number_at(&thread, PACKET(60, 12)) == 3);
	assert_true(number_at(&lane, PACKET(60, 5)) == number_at(&thread, PACKET(60, 1)));
	ts_buf_release(&lane);
	ts_buf_release(&thread);
	ts_buf_release(&buf);
}

/* The NR-th packet alone. */
static struct ts_buf packet_of(const struct ts_buf *buf, size_t nr)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_pb_error err = { 0 };
	struct ts_pb pb = ts_pb_of(ts_buf_bytes(buf), &err);

	do
		assert_true(ts_pb_next(&pb));
	while (nr-- > 0);
	ts_pbw_bytes(&out, 1, ts_pb_bytes(&pb));
	return out;
}

TEST(a_kernel_is_a_render_stage_beside_its_slice)
{
	static const struct ts_perfetto_gpu gpu = { .number = 3, .pid = 9 };
	static const struct ts_perfetto_kernel kernel = {
		.op = 4,
		.name = { (const uint8_t *)"saxpy", 5 },
		.is_compute = true,
		.grid = { 16, 2, 1 },
		.block = { 256, 1, 1 },
		.registers = 32,
		.static_shared = TS_UNKNOWN,
		.dynamic_shared = 1024,
	};
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = 5, .pid = 9, .last_ns = &last_ns, .gpu = &gpu };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_buf said = TS_BUF_INIT, tail = TS_BUF_INIT, buf = TS_BUF_INIT, stage;
	struct ts_perfetto_slice slice = { .start_ns = 300, .dur_ns = 10, .stage_id = 77 };

	form->kernel_tail(&said, &tail, &lane, &kernel, 8);
	assert_true(number_at(&said, PACKET(12, 1000, 1)) == 8);
	assert_true(ts_bytes_is(text_at(&said, PACKET(12, 1000, 2)), "saxpy"));
	assert_true(number_at(&said, PACKET(12, 1000, 5, 4)) == 32); /* blocks */
	slice.kernel = ts_buf_bytes(&tail);
	form->op_slice(&buf, &lane, &slice);
	assert_true(number_at(&buf, PACKET(8)) == 300);
	assert_true(number_at(&buf, PACKET(11, 9)) == 1);
	stage = packet_of(&buf, 1);
	assert_true(number_at(&stage, PACKET(8)) == 0); /* since the packet before it */
	assert_true(number_at(&stage, PACKET(53, 1)) == 77);
	assert_true(number_at(&stage, PACKET(53, 2)) == 10);
	assert_true(number_at(&stage, PACKET(53, 11)) == 3);
	assert_true(number_at(&stage, PACKET(53, 19)) == 8);
	assert_true(number_at(&stage, PACKET(53, 20)) == 5);
	assert_true(number_at(&stage, PACKET(53, 21, 1, 2)) == 2);
	assert_true(number_at(&stage, PACKET(53, 21, 2, 1)) == 256);
	ts_buf_release(&said);
	ts_buf_release(&tail);
	ts_buf_release(&buf);
	ts_buf_release(&stage);
}

TEST(a_launch_names_the_render_stage_and_has_an_arrow)
{
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = 5, .last_ns = &last_ns };
	struct ts_perfetto_lane lane = lane_of(&row, 0);
	struct ts_perfetto_slice slice = { .arrow = TS_ARROW_ENDS,
					   .arrow_id = 1,
					   .launch = TS_ARROW_BEGINS,
					   .launch_id = 2,
					   .stage_id = UINT64_MAX };
	struct ts_buf buf = TS_BUF_INIT;

	form->op_slice(&buf, &lane, &slice);
	assert_true(number_at(&buf, PACKET(11, 48)) == 1);
	assert_true(number_at(&buf, PACKET(11, 47)) == 2);
	assert_true(number_at(&buf, PACKET(11, 3000, 1)) == UINT64_MAX);
	ts_buf_release(&buf);
}

TEST(gpus_are_told_in_the_order_of_their_numbers)
{
	static const struct ts_perfetto_gpu gpus[] = {
		{ .name = { (const uint8_t *)"H100 #0", 7 } },
		{ .number = 1, .name = { (const uint8_t *)"H100 #1", 7 } },
	};
	struct ts_perfetto_head head = { .version = "1.0",
					 .start_unix_ns = TS_UNKNOWN,
					 .gpus = gpus,
					 .nr_gpus = TS_NELEM(gpus) };
	struct ts_buf with = TS_BUF_INIT, without = TS_BUF_INIT;

	form->open(&with, &head);
	head.nr_gpus = 0;
	form->open(&without, &head);
	assert_true(with.n > without.n);
	with.p += without.n; /* the last packet */
	with.n -= without.n;
	assert_true(ts_bytes_is(text_at(&with, PACKET(128, 1, 1)), "H100 #0"));
	with.p -= without.n;
	ts_buf_release(&with);
	ts_buf_release(&without);
}

TEST(a_file_begins_with_its_mark)
{
	static const struct ts_perfetto_machine machine = { UINT32_MAX, { NULL, 0 } };
	struct ts_perfetto_head head = { .version = "1.0", .start_unix_ns = TS_UNKNOWN };
	struct ts_buf buf = TS_BUF_INIT;

	form->open(&buf, &head);
	assert_true(ts_bytes_starts(ts_buf_bytes(&buf), form->older_mark));
	assert_string_equal(form->older_mark, TS_PFTRACE_OLDER_MARK);
	ts_buf_clear(&buf);
	head.machines = &machine;
	head.nr_machines = 1;
	form->open(&buf, &head);
	assert_true(ts_bytes_starts(ts_buf_bytes(&buf), form->mark));
	assert_true(strlen(form->mark) <= TS_MARK_MAX);
	assert_true(ts_bytes_is(text_at(&buf, PACKET(126, 1, 3)), "tpusight"));
	/* the overlay, which knows no formats, looks for the same */
	assert_string_equal(form->mark, TS_PFTRACE_MARK);
	assert_true(ts_bytes_starts(ts_bytes_of(ts_perfetto_json.mark), TS_TRACE_MARK));
	ts_buf_release(&buf);
}

/* Every packet of the file says the same machine. */
static size_t packets_of(const struct ts_buf *buf, uint64_t machine)
{
	struct ts_pb_error err = { 0 };
	struct ts_pb packet = ts_pb_of(ts_buf_bytes(buf), &err);
	size_t nr = 0, nr_said = 0;

	for (; ts_pb_next(&packet); nr++) {
		struct ts_pb inner = ts_pb_enter(&packet);

		while (ts_pb_next(&inner))
			nr_said += inner.field == 98 && inner.value == machine;
	}
	assert_null(err.cause);
	assert_int_equal(nr_said, nr);
	return nr;
}

TEST(all_packets_of_a_host_name_its_machine)
{
	static const struct ts_perfetto_machine machine = { TS_MACHINE_MIN,
							    { (const uint8_t *)"h", 1 } };
	struct ts_perfetto_head head = {
		.version = "1.0", .start_unix_ns = 5, .machines = &machine, .nr_machines = 1
	};
	struct ts_perfetto_process process = { .pid = 1, .machine = machine.id };
	struct ts_track track = { .kind = TS_TRACK_COUNTER, .name = "HBM (GB/s)" };
	int64_t last_ns = 0;
	struct ts_perfetto_row row = {
		.pid = 1, .tid = 100, .machine = machine.id, .track = &track, .last_ns = &last_ns
	};
	struct ts_perfetto_gpu gpu = { .pid = 1, .machine = machine.id };
	struct ts_perfetto_row stream = { .machine = machine.id, .gpu = &gpu, .last_ns = &last_ns };
	struct ts_perfetto_lane lane = { .row = &row }, on_gpu = { .row = &stream };
	struct ts_perfetto_slice slice = { .dur_ns = 1, .tail = TS_LIT("\x50\x01") };
	struct ts_perfetto_kernel kernel = { .name = TS_LIT("k") };
	struct ts_buf buf = TS_BUF_INIT, tail = TS_BUF_INIT;

	head.gpus = &gpu;
	head.nr_gpus = 1;
	form->open(&buf, &head);
	form->process(&buf, &process);
	form->row(&buf, &stream);
	form->lane(&buf, &on_gpu);
	form->kernel_tail(&buf, &tail, &on_gpu, &kernel, 0);
	slice.kernel = ts_buf_bytes(&tail);
	form->op_slice(&buf, &on_gpu, &slice);
	assert_true(packets_of(&buf, machine.id) > 12);
	ts_buf_clear(&buf);
	head.nr_gpus = 0;
	slice.kernel.n = 0;
	form->open(&buf, &head);
	form->process(&buf, &process);
	form->row(&buf, &row);
	form->lane(&buf, &lane);
	form->op_slice(&buf, &lane, &slice);
	form->end(&buf, &lane, 1, false);
	form->counter(&buf, &row, 2, 3.0);
	/* mark, attributes, clocks, name, root; process; row and its counter; lane; begin, end; point */
	assert_int_equal(packets_of(&buf, machine.id), 12);
	ts_buf_release(&buf);
	ts_buf_release(&tail);
}

/* The first packet from packet NR on that has FIELD, a copy. */
static struct ts_buf packet_with(const struct ts_buf *buf, uint32_t field, size_t nr)
{
	struct ts_pb_error err = { 0 };
	struct ts_pb packet = ts_pb_of(ts_buf_bytes(buf), &err);
	struct ts_buf copy = TS_BUF_INIT;

	while (copy.n == 0 && ts_pb_next(&packet)) {
		struct ts_pb inner = ts_pb_enter(&packet);
		bool found = false;

		while (ts_pb_next(&inner))
			found |= inner.field == field;
		if (found && nr-- == 0)
			ts_pbw_bytes(&copy, 1, ts_pb_bytes(&packet));
	}
	assert_true(copy.n > 0);
	return copy;
}

TEST(other_hosts_read_the_first_ones_clock)
{
	static const struct ts_perfetto_machine machines[] = {
		{ TS_MACHINE_MIN + 1, { (const uint8_t *)"a", 1 } },
		{ TS_MACHINE_MIN + 2, { (const uint8_t *)"b", 1 } },
	};
	struct ts_perfetto_head head = { .version = "1.0",
					 .start_unix_ns = 5000,
					 .shift_ns = 7,
					 .machines = machines,
					 .nr_machines = 2 };
	struct ts_buf buf = TS_BUF_INIT, found;

	form->open(&buf, &head);
	for (size_t i = 0; i < 2; i++) {
		found = packet_with(&buf, 45, i); /* system_info { machine_name } */
		assert_true(number_at(&found, PACKET(98)) == machines[i].id);
		assert_true(ts_bytes_eq(text_at(&found, PACKET(45, 17)), machines[i].name));
		ts_buf_release(&found);
		found = packet_with(&buf, 60, i); /* a root with the order of processes */
		assert_true(number_at(&found, PACKET(98)) == machines[i].id);
		ts_buf_release(&found);
	}
	found = packet_with(&buf, 107,
			    0); /* remote_clock_sync: { client_clocks, host_clocks } twice */
	assert_true(number_at(&found, PACKET(98)) == machines[1].id);
	/* clock 6 reads 8, clock 1 reads 5001; on both sides */
	assert_true(ts_bytes_is(text_at(&found, PACKET(107, 1, 2)),
				"\x0a\x04\x08\x06\x10\x08\x0a\x05\x08\x01\x10\x89\x27"));
	assert_true(ts_bytes_eq(text_at(&found, PACKET(107, 1, 2)),
				text_at(&found, PACKET(107, 1, 3))));
	ts_buf_release(&found);
	ts_buf_release(&buf);
}

TEST(a_host_keeps_its_id_and_no_other_has_it)
{
	struct ts_host host = { .name = TS_LIT("a"), .start_unix_ns = 5, .rank = TS_UNKNOWN };
	struct ts_host name = host, session = host, rank = host;
	uint32_t id = ts_perfetto_machine_id(&host);

	assert_int_equal(ts_perfetto_machine_id(&host), id);
	assert_true(id >= TS_MACHINE_MIN);
	name.name = TS_LIT("b");
	session.start_unix_ns = 6;
	rank.rank = 0;
	assert_int_not_equal(ts_perfetto_machine_id(&name), id);
	assert_int_not_equal(ts_perfetto_machine_id(&session), id);
	assert_int_not_equal(ts_perfetto_machine_id(&rank), id);
}
