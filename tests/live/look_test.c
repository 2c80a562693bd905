/* SPDX-License-Identifier: MIT */
/* What is read from a sample besides the analyses, and what is asked of a server: look,
 * kept_modules, profiler. */
#include "tests/test.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "codec/xspace.h"
#include "io/input.h"
#include "live/kept_modules.h"
#include "live/look.h"
#include "live/profiler.h"
#include "tests/run/memory_run.h"

#define DATA TS_SRCDIR "/tests/data/"

static struct ts_input open_data(const char *path)
{
	struct ts_input input = TS_INPUT_INIT;

	assert_int_equal(ts_input_open(&input, path, NULL), TS_OK);
	return input;
}

static void look_at(struct memory_run *mem, struct ts_look *look, struct ts_bytes bytes)
{
	struct ts_error err = TS_ERROR_INIT;

	memory_run_init(mem);
	assert_int_equal(memory_run_add(mem, bytes, "host", &err), TS_OK);
	assert_int_equal(ts_profile_finish(&mem->run.profile, &err), TS_OK);
	memset(look, 0, sizeof(*look));
	assert_int_equal(ts_look_make(look, &mem->run.profile, &err), TS_OK);
}

/* cpu_steps.json: ten calls, numbered from 0. */
TEST(the_jobs_own_steps_are_seen_in_order)
{
	struct ts_input input = open_data(DATA "cpu_steps.xplane.pb");
	struct memory_run mem;
	struct ts_look look;

	look_at(&mem, &look, input.bytes);
	assert_int_equal(look.nr_steps, 10);
	for (size_t i = 0; i < look.nr_steps; i++) {
		assert_int_equal(look.steps[i].number, i);
		assert_true(look.steps[i].end_ps > look.steps[i].start_ps);
		if (i > 0)
			assert_true(look.steps[i].start_ps >= look.steps[i - 1].end_ps);
	}
	ts_look_release(&look);
	memory_run_release(&mem);
	ts_input_release(&input);
}

/* cpu_shapes.json: a function with five shapes, so five programs, each run at least once. */
TEST(the_programs_that_ran_on_the_cpu_are_seen_once)
{
	struct ts_input input = open_data(DATA "cpu_shapes.xplane.pb");
	struct memory_run mem;
	struct ts_look look;
	size_t nr = 0;

	look_at(&mem, &look, input.bytes);
	for (size_t i = 0; i < look.nr_programs; i++) {
		nr += ts_bytes_starts(look.programs[i].module, "jit_scale");
		for (size_t j = 0; j < i; j++)
			assert_true(look.programs[i].id != look.programs[j].id ||
				    !ts_bytes_eq(look.programs[i].module, look.programs[j].module));
	}
	assert_int_equal(nr, 5);
	assert_int_equal(look.nr_steps, 0);
	ts_look_release(&look);
	memory_run_release(&mem);
	ts_input_release(&input);
}

/* A host plane whose threads count steps: series of NR events, by name; the n-th event is step
 * n. */
static void put_steps(struct ts_buf *out, uint64_t line, uint64_t name, unsigned nr)
{
	size_t mark = ts_pbw_begin(out, XPLANE_LINES);

	ts_pbw_u64(out, XLINE_ID, line);
	ts_pbw_text(out, XLINE_NAME, TS_LIT("python"));
	ts_pbw_u64(out, XLINE_TIMESTAMP_NS, 1000);
	for (unsigned i = 0; i < nr; i++) {
		size_t event = ts_pbw_begin(out, XLINE_EVENTS), stat;

		ts_pbw_u64(out, XEVENT_METADATA_ID, name);
		ts_pbw_u64(out, XEVENT_OFFSET_PS, (uint64_t)i * 1000);
		ts_pbw_u64(out, XEVENT_DURATION_PS, 500);
		stat = ts_pbw_begin(out, XEVENT_STATS);
		ts_pbw_u64(out, XSTAT_METADATA_ID, 1);
		ts_pbw_u64(out, XSTAT_INT64, i);
		ts_pbw_end(out, stat);
		ts_pbw_end(out, event);
	}
	ts_pbw_end(out, mark);
}

static void put_name(struct ts_buf *out, uint32_t map, uint64_t id, const char *name)
{
	size_t entry = ts_pbw_begin(out, map), value;

	ts_pbw_u64(out, 1, id);
	value = ts_pbw_begin(out, 2);
	ts_pbw_u64(out, 1, id);
	ts_pbw_text(out, 2, ts_bytes_of(name));
	ts_pbw_end(out, value);
	ts_pbw_end(out, entry);
}

static void make_plane(struct ts_buf *out, unsigned nr_train, unsigned nr_eval)
{
	size_t plane = ts_pbw_begin(out, XSPACE_PLANES);

	ts_pbw_text(out, XPLANE_NAME, TS_LIT("/host:CPU"));
	put_steps(out, 1, 1, nr_train);
	put_steps(out, 2, 2, nr_eval);
	put_name(out, XPLANE_EVENT_METADATA, 1, "train");
	put_name(out, XPLANE_EVENT_METADATA, 2, "eval");
	put_name(out, XPLANE_STAT_METADATA, 1, "step_num");
	ts_pbw_end(out, plane);
	assert_false(out->failed);
}

/* How many steps are kept of threads that count so many, of "train" and of "eval". */
static void must_keep(unsigned nr_train, unsigned nr_eval, unsigned nr_kept)
{
	struct ts_buf space = TS_BUF_INIT;
	struct memory_run mem;
	struct ts_look look;

	make_plane(&space, nr_train, nr_eval);
	look_at(&mem, &look, ts_buf_bytes(&space));
	assert_int_equal(look.nr_steps, nr_kept);
	for (size_t i = 0; i < look.nr_steps; i++) {
		assert_int_equal(look.steps[i].op, look.steps[0].op);
		assert_int_equal(look.steps[i].number, i);
	}
	ts_look_release(&look);
	memory_run_release(&mem);
	ts_buf_release(&space);
}

TEST(of_two_series_one_that_counts_often_is_kept)
{
	must_keep(7, 30, 30);
	must_keep(30, 7, 30);
	must_keep(14, 30, 30);
	must_keep(15, 30,
		  15); /* equals: the first, also when the other one has a step more by chance */
	must_keep(30, 31, 30);
	must_keep(0, 3, 3);
	must_keep(0, 0, 0);
}

TEST(more_steps_than_are_kept_do_no_harm)
{
	struct ts_buf space = TS_BUF_INIT;
	struct memory_run mem;
	struct ts_look look;

	make_plane(&space, TS_LOOK_MAX_STEPS + 1000, 0);
	look_at(&mem, &look, ts_buf_bytes(&space));
	assert_int_equal(look.nr_steps, TS_LOOK_MAX_STEPS);
	ts_look_release(&look);
	memory_run_release(&mem);
	ts_buf_release(&space);
}

/* The planes of an XSpace that are not /host:metadata. */
static void without_modules(struct ts_buf *out, struct ts_bytes space)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(space, &error);

	while (ts_pb_next(&pb)) {
		struct ts_bytes plane = ts_pb_bytes(&pb);

		if (ts_bytes_find(plane, "/host:metadata") == plane.n)
			ts_pbw_bytes(out, pb.field, plane);
	}
	assert_null(error.cause);
	assert_false(out->failed);
}

static size_t nr_modules(struct ts_bytes space)
{
	struct memory_run mem;
	size_t nr;

	memory_run_init(&mem);
	assert_int_equal(memory_run_add(&mem, space, "host", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	nr = mem.run.profile.nr_modules;
	memory_run_release(&mem);
	return nr;
}

TEST(modules_that_are_remembered_complete_a_sample)
{
	struct ts_input input = open_data(DATA "cpu_shapes.xplane.pb");
	struct ts_kept_modules kept = { .is_too_large = false };
	struct ts_buf bare = TS_BUF_INIT;

	without_modules(&bare, input.bytes);
	assert_true(bare.n < input.bytes.n);
	assert_true(ts_xspace_has_modules(input.bytes));
	assert_false(ts_xspace_has_modules(ts_buf_bytes(&bare)));
	assert_int_equal(nr_modules(ts_buf_bytes(&bare)), 0);
	assert_int_equal(ts_kept_modules_take(&kept, input.bytes, NULL), TS_OK);
	assert_int_equal(ts_kept_modules_take(&kept, ts_buf_bytes(&bare), NULL),
			 TS_OK); /* it has no modules: changes nothing */
	ts_buf_put(&bare, ts_buf_bytes(&kept.planes));
	assert_int_equal(nr_modules(ts_buf_bytes(&bare)), nr_modules(input.bytes));
	assert_true(nr_modules(input.bytes) >= 5);
	ts_kept_modules_forget(&kept);
	assert_int_equal(kept.planes.n, 0);
	ts_kept_modules_release(&kept);
	ts_buf_release(&bare);
	ts_input_release(&input);
}

/* Some profilers write the plane of the modules even when they were not asked for them. */
TEST(a_plane_of_modules_without_any_changes_nothing)
{
	struct ts_input input = open_data(DATA "cpu_steps.xplane.pb");
	struct ts_kept_modules kept = { .is_too_large = false };
	struct ts_buf space = TS_BUF_INIT;
	size_t plane = ts_pbw_begin(&space, XSPACE_PLANES), full;

	ts_pbw_text(&space, XPLANE_NAME, TS_LIT("/host:metadata"));
	ts_pbw_end(&space, plane);
	assert_int_equal(ts_kept_modules_take(&kept, input.bytes, NULL), TS_OK);
	full = kept.planes.n;
	assert_int_equal(ts_kept_modules_take(&kept, ts_buf_bytes(&space), NULL), TS_OK);
	assert_int_equal(kept.planes.n, full);
	assert_false(ts_xspace_has_modules(ts_buf_bytes(&space)));
	ts_kept_modules_release(&kept);
	ts_buf_release(&space);
	ts_input_release(&input);
}

/* Damage never harms what is remembered, and what is taken is whole planes. */
TEST(a_sample_cut_anywhere_leaves_whole_modules)
{
	struct ts_input input = open_data(DATA "cpu_steps.xplane.pb");
	struct ts_kept_modules kept = { .is_too_large = false };
	size_t full;

	assert_int_equal(ts_kept_modules_take(&kept, input.bytes, NULL), TS_OK);
	full = kept.planes.n;
	assert_true(full > 0);
	for (size_t n = 0; n < input.bytes.n; n += 7) {
		assert_int_equal(ts_kept_modules_take(&kept, ts_bytes_cut(input.bytes, 0, n), NULL),
				 TS_OK);
		assert_int_equal(kept.planes.n, full);
	}
	ts_kept_modules_release(&kept);
	ts_input_release(&input);
}

/* By hand from profiler_service.proto and profiler_options.proto: field << 3 | wire type. */
TEST(the_request_is_what_the_schema_says)
{
	static const uint8_t expect[] = {
		0x08, 100,				    /* 1 duration_ms */
		0x10, 0xC0, 0x84, 0x3D,			    /* 2 max_events: 1000000 */
		0x22, 12,				    /* 4 opts */
		0x10, 2,    0x18, 1,	0x20, 0,   0x28, 1, /* host 2, device 1, python 0, version 1 */
		0x38, 1,    0x48, 100,			    /* 7 enable_hlo_proto, 9 duration_ms */
		0x2A, 9,    '/',  'd',	'e',  'v', '/',	 'n', 'u',
		'l',  'l', /* 5 repository_root: a path where nothing can be made */
		0x32, 1,    's',  0x3A, 1,    'h', /* 6 session_id, 7 host_name */
		0x48, 1,			   /* 9 emit_xspace */
	};
	const struct ts_profiler_request request = { 100, true, "s", "h", TS_PROFILER_NO_FOLDER };
	struct ts_buf out = TS_BUF_INIT;

	ts_profiler_put_request(&out, &request);
	assert_int_equal(out.n, sizeof(expect));
	assert_memory_equal(out.p, expect, sizeof(expect));
	ts_buf_release(&out);
}

TEST(the_answer_is_its_xspace_or_nothing)
{
	static const uint8_t whole[] = {
		0x0A, 1, 'x', 0x38, 1, 0x42, 3, 'a', 'b', 'c', 0x98, 1, 5
	};
	static const uint8_t empty[] = { 0x38, 1 };
	static const uint8_t number[] = { 0x40, 7 }; /* field 8, but no bytes */
	const struct ts_bytes message = { whole, sizeof(whole) };
	struct ts_profiler_answer answer;
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_profiler_read(message, &answer, &err), TS_OK);
	assert_true(answer.has_xspace);
	assert_true(ts_bytes_is(answer.xspace, "abc"));
	assert_int_equal(ts_profiler_read((struct ts_bytes){ empty, 2 }, &answer, &err), TS_OK);
	assert_false(answer.has_xspace);
	assert_int_equal(ts_profiler_read((struct ts_bytes){ number, 2 }, &answer, &err), TS_OK);
	assert_false(answer.has_xspace);
	/* a cut between fields (after 3, 5 and 10 bytes) cannot be seen; every other one can */
	for (size_t n = 1; n < sizeof(whole); n++) {
		bool between = n == 3 || n == 5 || n == 10;

		assert_int_equal(ts_profiler_read(ts_bytes_cut(message, 0, n), &answer, &err),
				 between ? TS_OK : TS_FORMAT);
	}
}
