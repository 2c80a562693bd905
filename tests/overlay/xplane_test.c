/* SPDX-License-Identifier: MIT */
/* Planes of ours: read back with the protobuf cursor, and found again at the end of a file. */
#include "tests/test.h"

#include <inttypes.h>

#include "codec/pb.h"
#include "overlay/xplane.h"
#include "sample.h"

/* A space written down as text, one thing a line, with names in place of ids. */

struct names {
	struct ts_bytes at[64];
};

static void read_names(struct names *names, struct ts_bytes plane, uint32_t field)
{
	struct ts_pb_error err = { 0 };
	struct ts_pb pb = ts_pb_of(plane, &err), entry, value;
	uint64_t key = 0;

	memset(names, 0, sizeof(*names));
	while (ts_pb_next(&pb)) {
		if (pb.field != field)
			continue;
		for (entry = ts_pb_enter(&pb); ts_pb_next(&entry);) {
			if (entry.field == 1)
				key = ts_pb_u64(&entry);
			assert_true(key < TS_NELEM(names->at));
			if (entry.field == 2)
				for (value = ts_pb_enter(&entry); ts_pb_next(&value);) {
					assert_true(value.field != 1 || ts_pb_u64(&value) == key);
					if (value.field == 2)
						names->at[key] = ts_pb_bytes(&value);
				}
		}
	}
	assert_null(err.cause);
}

static void say_stat(struct ts_buf *out, struct ts_pb stat, const struct names *names)
{
	while (ts_pb_next(&stat)) {
		if (stat.field == 1)
			ts_buf_printf(out, " %.*s=", TS_ARG(names->at[ts_pb_u64(&stat)]));
		if (stat.field == 2)
			ts_buf_printf(out, "%g", ts_pb_double(&stat));
		if (stat.field == 3)
			ts_buf_u64(out, ts_pb_u64(&stat));
		if (stat.field == 5)
			ts_buf_put(out, ts_pb_bytes(&stat));
	}
}

static void say_line(struct ts_buf *out, struct ts_pb line, const struct names *events,
		     const struct names *stats)
{
	int64_t timestamp_ns = 0, offset_ps = 0, dur_ps = 0;

	while (ts_pb_next(&line)) {
		if (line.field == 1)
			ts_buf_printf(out, "row %" PRIu64, ts_pb_u64(&line));
		if (line.field == 2)
			ts_buf_printf(out, " %.*s", TS_ARG(ts_pb_bytes(&line)));
		if (line.field == 3)
			ts_buf_printf(out, " @%" PRId64 "\n", timestamp_ns = ts_pb_i64(&line));
		if (line.field != 4)
			continue;
		for (struct ts_pb event = ts_pb_enter(&line); ts_pb_next(&event);) {
			if (event.field == 1)
				ts_buf_printf(out, "- %.*s", TS_ARG(events->at[ts_pb_u64(&event)]));
			if (event.field == 2)
				ts_buf_printf(out, " %" PRId64, offset_ps = ts_pb_i64(&event));
			if (event.field == 3)
				ts_buf_printf(out, " +%" PRId64, dur_ps = ts_pb_i64(&event));
			if (event.field == 4)
				say_stat(out, ts_pb_enter(&event), stats);
			assert_true(offset_ps >= 0 && dur_ps >= 0 && timestamp_ns >= 0);
		}
		ts_buf_putc(out, '\n');
	}
}

/* The args of an event's name. */
static void say_label(struct ts_buf *out, struct ts_pb entry, const struct names *stats)
{
	while (ts_pb_next(&entry))
		if (entry.field == 2)
			for (struct ts_pb value = ts_pb_enter(&entry); ts_pb_next(&value);) {
				if (value.field == 2)
					ts_buf_printf(out,
						      "label %.*s:", TS_ARG(ts_pb_bytes(&value)));
				if (value.field == 5)
					say_stat(out, ts_pb_enter(&value), stats);
			}
	ts_buf_putc(out, '\n');
}

static void say_plane(struct ts_buf *out, struct ts_pb pb, struct ts_bytes plane)
{
	struct names events, stats;

	read_names(&events, plane, 4);
	read_names(&stats, plane, 5);
	while (ts_pb_next(&pb)) {
		if (pb.field == 1)
			ts_buf_printf(out, "plane %" PRId64, ts_pb_i64(&pb));
		if (pb.field == 2)
			ts_buf_printf(out, " %.*s\n", TS_ARG(ts_pb_bytes(&pb)));
		if (pb.field == 3)
			say_line(out, ts_pb_enter(&pb), &events, &stats);
		if (pb.field == 4)
			say_label(out, ts_pb_enter(&pb), &stats);
	}
}

static void say(struct ts_buf *out, struct ts_bytes space)
{
	struct ts_pb_error err = { 0 };
	struct ts_pb pb = ts_pb_of(space, &err);

	while (ts_pb_next(&pb)) {
		assert_int_equal(pb.field, 1);
		say_plane(out, ts_pb_enter(&pb), ts_pb_bytes(&pb));
	}
	assert_null(err.cause);
	ts_buf_putc(out, '\0');
}

static void assert_planes(struct sample *s, uint32_t host, const char *expected)
{
	struct ts_buf planes = TS_BUF_INIT, text = TS_BUF_INIT;

	assert_int_equal(ts_overlay_planes(&planes, &s->profile, host, &s->results, 0, NULL),
			 TS_OK);
	say(&text, ts_buf_bytes(&planes));
	assert_string_equal((char *)text.p, expected);
	ts_buf_release(&planes);
	ts_buf_release(&text);
}

/* Each of PARTS stands in TEXT behind the one before it. */
static void assert_string_order(const char *text, const char *const *parts)
{
	for (; *parts; parts++) {
		const char *found = strstr(text, *parts);

		if (!found)
			print_error("not found in its place: %s\nin: %s\n", *parts, text);
		assert_non_null(found);
		text = found + strlen(*parts);
	}
}

TEST(a_plane_has_rows_in_order_labels_and_counters)
{
	struct ts_slice classes[] = { { 1000, 5000, 0, 1, 4000 },
				      { 5000, 9000, 1, 3, 1000 },
				      { 9000, 9000, 0, 2, 0 } };
	struct ts_slice findings[] = { { 2000, 8000, 1, 1, 6000 } };
	struct ts_point mxu[] = { { 1000, 50.5 }, { 4000, NAN }, { 7000, 0 } };
	struct ts_point hbm[] = { { 2000, 1e12 }, { 7000, INFINITY }, { 8000, 3 } };
	struct sample s;

	sample_init(&s);
	sample_host(&s, "h");
	sample_device(&s, "/device:TPU:0", 2);
	sample_line(&s, 0, 0);
	sample_counter(&s, 0, "MXU (%)", "%", mxu, 3);
	sample_slices(&s, 0, "Classes", 2, classes, 3);
	sample_slices(&s, 0, "Findings", 1, findings, 1);
	sample_counter(&s, 0, "\"HBM\" \\n\n", "GB/s", hbm, 3);
	sample_slices(&s, 0, "Nothing", 0, NULL, 0);
	assert_planes(&s, 0,
		      "plane -497 /device:CUSTOM:TPUsight TPU:0\n"
		      "row 1 Findings @0\n"
		      "- memory \xef\xbf\xbd wait 2000 +6000\n"
		      "row 2 Classes @0\n"
		      "- compute 1000 +3999\n"
		      "- memory \xef\xbf\xbd wait 5000 +3999 merged events=3 of this kind (%)=25\n"
		      "- compute 9000 +0 merged events=2\n"
		      "label compute:\n"
		      "label memory \xef\xbf\xbd wait: evidence=82 % waits Flow=f "
		      "program id=9646411105960254074 rank=3 time lost=2.31 ms impact=0 ps "
		      "impact share=12.3 % logical bytes=3.00 MiB\n"
		      "label compute:\n"
		      "label memory \xef\xbf\xbd wait: evidence=82 % waits Flow=f "
		      "program id=9646411105960254074 rank=3 time lost=2.31 ms impact=0 ps "
		      "impact share=12.3 % logical bytes=3.00 MiB\n"
		      "plane -496 /device:CUSTOM:TPUsight TPU:0 counters\n"
		      "label MXU (%):\n"
		      "label 'HBM' 'n :\n"
		      "row 1 _counters_ @0\n"
		      "- MXU (%) 1000 value=50.5\n"
		      "- 'HBM' 'n  2000 value=1e+12\n"
		      "- MXU (%) 7000 value=0\n"
		      "- 'HBM' 'n  8000 value=3\n");
	sample_release(&s);
}

/* The viewer draws a group's counters above its rows, and people come for the rows. */
TEST(counters_stand_below_rows_and_few_of_them)
{
	static const char *const units[] = { "%", "%", "GB/s", "GB/s", "GiB", "launches", "%" };
	struct ts_slice slice = { 1000, 2000, 0, 1, 1000 };
	struct ts_point some[] = { { 1000, 1 } }, nothing[] = { { 1000, 0 }, { 2000, NAN } };
	struct ts_buf planes = TS_BUF_INIT, text = TS_BUF_INIT;
	struct sample s;

	sample_init(&s);
	sample_host(&s, "h");
	sample_device(&s, "/device:TPU:0", 2);
	sample_device(&s, "/device:TPU:1", 10);
	for (uint32_t device = 0; device < 2; device++) {
		for (size_t i = 0; i < TS_NELEM(units); i++)
			sample_counter(&s, device, units[i], units[i],
				       i + 1 < TS_NELEM(units) ? some : nothing, 1);
		sample_slices(&s, device, "R", 0, &slice, 1);
	}
	assert_int_equal(ts_overlay_planes(&planes, &s.profile, 0, &s.results, 0, NULL), TS_OK);
	say(&text, ts_buf_bytes(&planes));
	assert_string_order(
		(char *)text.p,
		(const char *const[]){ "plane -497 /device:CUSTOM:TPUsight TPU:0\nrow 1 R ",
				       "plane -496 /device:CUSTOM:TPUsight TPU:0 counters\nlabel "
				       "%:\nlabel GB/s:\nlabel GiB:\nrow 1",
				       "plane -489 /device:CUSTOM:TPUsight TPU:1\n",
				       "plane -488 /device:CUSTOM:TPUsight TPU:1 counters\n",
				       "plane 0 /device:CUSTOM:TPUsight TPU:0 more counters\nlabel "
				       "%:\nlabel GB/s:\nlabel launches:\nrow 1",
				       "plane 1 /device:CUSTOM:TPUsight TPU:1 more counters\n",
				       NULL });
	ts_buf_release(&planes);
	ts_buf_release(&text);
	sample_release(&s);
}

/* Each row: the native line's timestamp, where it is on the run's timeline, ours; what is written. */
TEST(times_are_on_the_clock_of_the_native_line)
{
	static const struct {
		int64_t timestamp_ns, start_ps, at_ps, line_ns, offset_ps;
	} rows[] = {
		{ 0, 0, 5353251593250, 0, 5353251593250 },   /* from the profile's start */
		{ 212990, 212990000, 212990001, 212990, 1 }, /* likewise, line by line */
		{ 0, 3000000, 3000007, 0, 7 },		     /* a host that started later */
		{ 1750000000000000000, 500, 1700, 1750000000000000000, 1200 }, /* the epoch */
		{ 212990, 212990000, 212989999, 212989, 999 }, /* ours before the line */
		{ 212990, 212990000, 212988000, 212988, 0 },
		{ 2, 2000, -9, 0, 0 }, /* before time 0: at 0 */
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_slice slice = { rows[i].at_ps, rows[i].at_ps + 10, 0, 1, 10 };
		struct sample s;
		char expected[512];

		sample_init(&s);
		sample_host(&s, "h");
		sample_device(&s, "/device:TPU:0", 2);
		sample_line(&s, rows[i].timestamp_ns, rows[i].start_ps);
		sample_slices(&s, 0, "R", 0, &slice, 1);
		snprintf(expected, sizeof(expected),
			 "plane -497 /device:CUSTOM:TPUsight TPU:0\nrow 1 R @%" PRId64
			 "\n- compute %" PRId64 " +%d\nlabel compute:\n"
			 "label memory \xef\xbf\xbd wait: evidence=82 %% waits Flow=f "
			 "program id=9646411105960254074 rank=3 time lost=2.31 ms impact=0 ps "
			 "impact share=12.3 %% logical bytes=3.00 MiB\n",
			 rows[i].line_ns, rows[i].offset_ps, rows[i].at_ps < 0 ? 1 : 10);
		assert_planes(&s, 0, expected);
		sample_release(&s);
	}
}

TEST(without_native_lines_time_counts_from_the_hosts_start)
{
	struct ts_slice slice = { 7500, 7600, 0, 1, 100 };
	struct ts_buf planes = TS_BUF_INIT, text = TS_BUF_INIT;
	struct sample s;

	sample_init(&s);
	sample_host(&s, "h")->start_unix_ns = 1000005;
	s.profile.start_unix_ns = 1000000;
	sample_device(&s, "/device:TPU:0", 2);
	sample_slices(&s, 0, "R", 0, &slice, 1);
	assert_int_equal(ts_overlay_planes(&planes, &s.profile, 0, &s.results, 0, NULL), TS_OK);
	say(&text, ts_buf_bytes(&planes));
	assert_non_null(strstr((char *)text.p, "row 1 R @0\n- compute 2500 +100\n"));
	ts_buf_release(&planes);
	ts_buf_release(&text);
	sample_release(&s);
}

/* Where the groups stand: process ids, in the order of the devices of host 0. */
static void assert_places(struct sample *s, const int64_t *pids, size_t nr)
{
	struct ts_slice slice = { 0, 1, 0, 1, 1 };
	struct ts_buf planes = TS_BUF_INIT;
	struct ts_pb_error err = { 0 };
	struct ts_pb pb, plane;

	for (uint32_t i = 0; i < nr; i++)
		sample_slices(s, i, "R", 0, &slice, 1);
	assert_int_equal(ts_overlay_planes(&planes, &s->profile, 0, &s->results, 0, NULL), TS_OK);
	pb = ts_pb_of(ts_buf_bytes(&planes), &err);
	for (size_t i = 0; i < nr; i++) {
		assert_true(ts_pb_next(&pb));
		plane = ts_pb_enter(&pb);
		assert_true(ts_pb_next(&plane) && plane.field == 1);
		assert_int_equal(501 + ts_pb_i64(&plane), pids[i]);
	}
	assert_false(ts_pb_next(&pb));
	ts_buf_release(&planes);
}

TEST(a_group_stands_right_under_its_device_where_there_is_room)
{
	struct sample s;

	sample_init(&s);
	sample_host(&s, "tpu");
	sample_device(&s, "/device:TPU:0", 2);
	sample_device(&s, "/device:TPU:1", 10);
	sample_device(&s, "/device:TPU:2", 9999);	/* the viewer puts it at 1 */
	sample_plane(&s, "/device:CUSTOM:Other", -489); /* at 12 */
	sample_plane(&s, "/device:CUSTOM:TPUsight TPU:0",
		     -497); /* an older overlay: does not count */
	sample_plane(&s, "/host:CPU", 0);
	assert_places(&s, (const int64_t[]){ 4, 501, 2 }, 3);
	sample_release(&s);

	sample_init(&s);
	sample_host(&s, "gpu");
	for (int i = 0; i < 8; i++)
		sample_device(&s, "/device:GPU:0", i);
	sample_plane(&s, "/device:CUSTOM:Other", 1); /* at 502 */
	assert_places(&s, (const int64_t[]){ 501, 503, 504, 505, 506, 507, 508, 9 }, 8);
	sample_release(&s);
}

TEST(a_host_without_tracks_gets_nothing)
{
	struct ts_slice slice = { 0, 1, 0, 1, 1 };
	struct ts_buf planes = TS_BUF_INIT;
	struct sample s;

	sample_init(&s);
	sample_host(&s, "a");
	sample_device(&s, "/device:TPU:0", 2);
	sample_host(&s, "b");
	sample_device(&s, "/device:TPU:0", 2);
	sample_slices(&s, 1, "R", 0, &slice, 1);
	assert_int_equal(ts_overlay_planes(&planes, &s.profile, 0, &s.results, 0, NULL), TS_OK);
	assert_int_equal(planes.n, 0);
	assert_int_equal(ts_overlay_planes(&planes, &s.profile, 1, &s.results, 0, NULL), TS_OK);
	assert_true(planes.n > 0);
	ts_buf_release(&planes);
	sample_release(&s);
}

/* Files: native planes N, overlays O that say where they stand, and what else may follow. */

static void put_native(struct ts_buf *out)
{
	size_t plane = ts_pbw_begin(out, 1);

	ts_pbw_i64(out, 1, 2);
	ts_pbw_text(out, 2, TS_LIT("/device:TPU:0"));
	ts_buf_puts(out, "\x1a\x02\x08\x07");
	ts_pbw_end(out, plane);
}

static void put_overlay(struct ts_buf *out, size_t native_bytes)
{
	struct ts_slice slice = { 0, 1, 0, 1, 1 };
	struct sample s;

	sample_init(&s);
	sample_host(&s, "h");
	sample_device(&s, "/device:TPU:0", 2);
	sample_device(&s, "/device:TPU:1", 10);
	sample_slices(&s, 0, "R", 0, &slice, 1);
	sample_slices(&s, 1, "R", 0, &slice, 1);
	assert_int_equal(ts_overlay_planes(out, &s.profile, 0, &s.results, native_bytes, NULL),
			 TS_OK);
	sample_release(&s);
}

TEST(an_overlay_is_found_where_it_says_it_stands)
{
	struct ts_buf file = TS_BUF_INIT;
	size_t native, first;

	assert_int_equal(ts_overlay_native_bytes((struct ts_bytes){ NULL, 0 }), 0);
	put_native(&file);
	ts_pbw_text(&file, 4, TS_LIT("hostname"));
	native = file.n;
	assert_int_equal(ts_overlay_native_bytes(ts_buf_bytes(&file)), native);
	put_overlay(&file, native);
	assert_int_equal(ts_overlay_native_bytes(ts_buf_bytes(&file)), native);
	put_native(&file); /* somebody appended: nothing is cut any more */
	first = file.n;
	assert_int_equal(ts_overlay_native_bytes(ts_buf_bytes(&file)), first);
	put_overlay(&file, first); /* annotated again: only the new one */
	assert_int_equal(ts_overlay_native_bytes(ts_buf_bytes(&file)), first);
	ts_buf_release(&file);
}

TEST(planes_that_stand_elsewhere_are_not_ours)
{
	struct ts_buf file = TS_BUF_INIT;

	put_native(&file);
	put_overlay(&file, file.n + 1);
	assert_int_equal(ts_overlay_native_bytes(ts_buf_bytes(&file)), file.n);
	ts_buf_clear(&file);
	put_overlay(&file, 0); /* a file that is an overlay and nothing else */
	assert_int_equal(ts_overlay_native_bytes(ts_buf_bytes(&file)), 0);
	ts_buf_clear(&file);
	put_native(&file);
	for (int i = 0; i < 2; i++) { /* our name alone is not a proof */
		size_t plane = ts_pbw_begin(&file, 1);

		ts_pbw_text(&file, 2, TS_LIT("/device:CUSTOM:TPUsight TPU:0"));
		ts_pbw_end(&file, plane);
		assert_int_equal(ts_overlay_native_bytes(ts_buf_bytes(&file)), file.n);
	}
	ts_buf_release(&file);
}

/* Every truncation: either a field is cut, and that is said, or whole planes are gone. */
TEST(a_cut_file_keeps_everything)
{
	struct ts_buf file = TS_BUF_INIT;
	size_t native, nr_whole = 0;

	put_native(&file);
	native = file.n;
	put_overlay(&file, native);
	for (size_t n = 0; n <= file.n; n++) {
		uint8_t *copy = malloc(n + !n); /* so that a read past the end is seen */
		struct ts_error err = TS_ERROR_INIT;
		size_t found = 0;

		assert_non_null(copy);
		memcpy(copy, file.p, n);
		if (ts_overlay_find((struct ts_bytes){ copy, n }, &found, &err)) {
			assert_int_equal(found, n);
			assert_non_null(strstr(err.text, "at byte"));
		} else {
			assert_int_equal(found, TS_MIN(n, native));
			nr_whole++;
		}
		free(copy);
	}
	assert_int_equal(nr_whole, 4); /* empty, native, one plane, both */
	ts_buf_release(&file);
}

/* What a strip makes of FILE: cut at NATIVE, or refused, or said to hold more of ours. */
struct fate {
	bool back, refused, remains;
};

static struct fate fate_of(struct ts_bytes file, size_t native)
{
	uint8_t *copy = malloc(file.n + !file.n); /* so that a read past the end is seen */
	struct ts_error err = TS_ERROR_INIT;
	size_t cut = 0;
	struct fate fate = { false, false, false };

	assert_non_null(copy);
	memcpy(copy, file.p, file.n);
	fate.refused =
		ts_overlay_cut((struct ts_bytes){ copy, file.n }, &cut, &fate.remains, &err) != 0;
	fate.back = !fate.refused && cut == native;
	assert_true(fate.refused || fate.remains || fate.back); /* never a false word */
	assert_true(fate.refused || cut == native || cut == file.n);
	free(copy);
	return fate;
}

TEST(ours_that_were_cut_go_to_their_beginning_or_are_refused)
{
	struct ts_buf file = TS_BUF_INIT;
	size_t native, nr_back = 0;

	put_native(&file);
	native = file.n;
	put_overlay(&file, native);
	for (size_t n = native + 1; n < file.n; n++)
		nr_back += fate_of(ts_bytes_cut(ts_buf_bytes(&file), 0, n), native).back;
	/* of the two planes, the first 150 bytes do not say whose they are */
	assert_true(nr_back > file.n - native - 300);
	ts_buf_release(&file);
}

TEST(ours_with_a_changed_byte_are_known_or_refused)
{
	struct ts_buf file = TS_BUF_INIT;
	size_t native, nr_back = 0, nr = 0;

	put_native(&file);
	native = file.n;
	put_overlay(&file, native);
	for (size_t at = native; at < file.n; at++)
		for (unsigned bit = 0; bit < 8; bit++, nr++) {
			file.p[at] ^= (uint8_t)(1u << bit);
			nr_back += fate_of(ts_buf_bytes(&file), native).back;
			file.p[at] ^= (uint8_t)(1u << bit);
		}
	assert_true(nr_back > nr / 2);
	ts_buf_release(&file);
}

TEST(a_strip_knows_what_is_not_ours)
{
	struct ts_buf file = TS_BUF_INIT;
	size_t native, first;

	put_native(&file);
	native = file.n;
	assert_true(fate_of(ts_buf_bytes(&file), native).back);
	assert_true(fate_of(ts_bytes_cut(ts_buf_bytes(&file), 0, native - 1), native).refused);
	put_overlay(&file, native);
	first = file.n;
	put_overlay(&file, first); /* one behind the other: both go */
	assert_true(fate_of(ts_buf_bytes(&file), native).back);
	file.n = first;
	put_native(&file); /* the user's bytes behind ours stay */
	assert_true(fate_of(ts_buf_bytes(&file), file.n).remains);
	first = file.n;
	put_overlay(&file, first);
	assert_true(fate_of(ts_buf_bytes(&file), first).remains);
	ts_buf_release(&file);
}
