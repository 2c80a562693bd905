/* SPDX-License-Identifier: MIT */
/*
 * The xplane reader: what producers write and what they may write. Profiles are built field by field
 * (xplane_make.h); answers are worked out by hand.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "read/stream.h"
#include "tests/run/memory_run.h"
#include "tests/read/hlo_make.h"
#include "tests/read/mutate.h"
#include "tests/read/xplane_make.h"
#include "tests/test.h"

#define US	 TS_PS_PER_US
#define START_NS INT64_C(1700000000000000000)
#define PROGRAM	 UINT64_C(18446744073709551609)

/* A profile in the making, and then read. */
struct given {
	struct ts_buf bytes;
	struct memory_run mem;
};

static struct given *given_nothing(void)
{
	struct given *given = calloc(1, sizeof(*given));

	assert_non_null(given);
	memory_run_init(&given->mem);
	return given;
}

static const struct ts_profile *profile_of(struct given *given)
{
	return &given->mem.run.profile;
}

static void read_it(struct given *given)
{
	struct ts_error err = TS_ERROR_INIT;

	assert_false(given->bytes.failed);
	if (memory_run_add(&given->mem, ts_buf_bytes(&given->bytes), "host", &err))
		fail_msg("%s", err.text);
}

static void analyse(struct given *given)
{
	struct ts_error err = TS_ERROR_INIT;

	read_it(given);
	if (memory_run_analyse(&given->mem, 0, &err))
		fail_msg("%s", err.text);
}

static void done(struct given *given)
{
	memory_run_release(&given->mem);
	ts_buf_release(&given->bytes);
	free(given);
}

static const struct ts_table *table(struct given *given, const char *view, const char *name)
{
	const struct ts_result *result = ts_results_find(&given->mem.run.results, view);
	const struct ts_table *found = result ? ts_result_find_table(result, name) : NULL;

	assert_non_null(found);
	return found;
}

static int64_t field(struct given *given, const char *view, const char *name)
{
	const struct ts_result *result = ts_results_find(&given->mem.run.results, view);

	assert_non_null(result);
	return ts_value_int(ts_result_get(result, name));
}

/* Moments in which an op ran that works, whatever explains them. */
static int64_t working(struct given *given)
{
	return field(given, "time", "buckets.compute_ps") +
	       field(given, "time", "buckets.below_roofline_ps") +
	       field(given, "time", "buckets.unexplained_ps");
}

/* The row of an op in the report: occurrences, total and self time in us. */
static void assert_op(struct given *given, const char *name, int64_t nr, int64_t total_us,
		      int64_t self_us)
{
	const struct ts_table *ops = table(given, "ops", "ops");
	int column = ts_table_column(ops, "name");

	for (size_t i = 0; i < ops->nr_rows; i++) {
		if (!ts_bytes_is(ts_table_cell(ops, i, column).as.s, name))
			continue;
		assert_int_equal(
			ts_value_int(ts_table_cell(ops, i, ts_table_column(ops, "occurrences"))),
			nr);
		assert_int_equal(
			ts_value_int(ts_table_cell(ops, i, ts_table_column(ops, "total_time_ps"))),
			total_us * US);
		assert_int_equal(
			ts_value_int(ts_table_cell(ops, i, ts_table_column(ops, "self_time_ps"))),
			self_us * US);
		return;
	}
	fail_msg("no op %s", name);
}

static const struct ts_op *op_named(struct given *given, const char *name)
{
	const struct ts_profile *profile = profile_of(given);

	for (size_t i = 0; i < profile->nr_ops; i++)
		if (ts_bytes_is(profile->ops[i].name, name))
			return &profile->ops[i];
	fail_msg("no op %s", name);
	return NULL;
}

/* One device with a line of ops: what most tests add to. */
static struct xp tpu(struct given *given)
{
	struct xp xp = xp_plane(&given->bytes, "/device:TPU:0");

	xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", "TPU v5 lite");
	return xp;
}

TEST(metadata_ids_of_any_sign_and_size)
{
	static const int64_t ids[] = { INT64_MIN, -1, 0, 5, INT64_C(1) << 40, INT64_MAX, 70000, 3 };
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct given *given = given_nothing();
	struct xp xp = tpu(given);

	for (size_t i = 0; i < TS_NELEM(ids); i++)
		xp_op(&xp, ids[i], names[i], "loop fusion", PROGRAM, i + 1);
	xp_line(&xp, "XLA Ops", 0);
	for (size_t i = 0; i < TS_NELEM(ids); i++)
		xp_event(&xp, ids[i], (int64_t)i * 10 * US, (int64_t)(i + 1) * US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	for (size_t i = 0; i < TS_NELEM(ids); i++)
		assert_op(given, names[i], 1, (int64_t)i + 1, (int64_t)i + 1);
	done(given);
}

/* Tens of thousands of ids, close together, then far apart: none is mixed up with another. */
TEST(ids_dense_and_sparse)
{
	enum { NR = 3000 };
	struct given *given = given_nothing();
	struct xp xp = tpu(given);
	char name[32];

	for (int64_t i = 0; i < NR; i++) {
		int64_t id = i % 3 == 0 ? i : i % 3 == 1 ? i * 1000 : -i;

		snprintf(name, sizeof(name), "op.%lld", (long long)i);
		xp_op(&xp, id, name, "loop fusion", PROGRAM, (uint64_t)i + 1);
	}
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < NR; i++)
		xp_event(&xp, i % 3 == 0 ? i : i % 3 == 1 ? i * 1000 : -i, i * US, US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	/* op.1 has id 1000 and op.1000 id 1000 x 1000; 3000 = id of op.3000, which is not there, and of op.3 */
	assert_op(given, "op.1", 1, 1, 1);
	assert_op(given, "op.1000", 1, 1, 1);
	assert_op(given, "op.2999", 1, 1, 1);
	done(given);
}

TEST(strings_by_reference)
{
	struct given *given = given_nothing();
	struct xp xp = tpu(given);
	struct xp_meta meta = xp_meta(&xp, 1, "%f = f32[] add()", "f");
	size_t nowhere;

	xp_stat_ref(&xp, XP_META_STATS, "hlo_category", "loop fusion");
	xp_stat_ref(&xp, XP_META_STATS, "tf_op", "jit(f)/add:Add");
	nowhere = xp_stat(&xp, XP_META_STATS, "source");
	ts_pbw_u64(&given->bytes, 7, 987654);
	ts_pbw_end(&given->bytes, nowhere);
	xp_meta_end(&xp, meta);
	xp_plane_end(&xp);
	analyse(given);
	assert_true(ts_bytes_is(op_named(given, "f")->category, "loop fusion"));
	assert_true(ts_bytes_is(op_named(given, "f")->framework_op, "jit(f)/add"));
	assert_int_equal(op_named(given, "f")->source.n, 0);
	assert_true(ts_bytes_is(op_named(given, "f")->text, "%f = f32[] add()"));
	done(given);
}

/* Numbers come as signed, unsigned or real; as text they are none. */
TEST(numbers_of_any_type)
{
	struct given *given = given_nothing();
	struct xp xp = tpu(given);
	struct xp_meta meta = xp_meta(&xp, 1, "f", NULL);

	xp_stat_real(&xp, XP_META_STATS, "flops", 1234.9);
	xp_stat_uint(&xp, XP_META_STATS, "bytes_accessed", 77);
	xp_stat_int(&xp, XP_META_STATS, "model_flops", 5);
	xp_stat_int(&xp, XP_META_STATS, "program_id", -9); /* the 64 bits are what counts */
	xp_meta_end(&xp, meta);
	meta = xp_meta(&xp, 2, "g", NULL);
	xp_stat_real(&xp, XP_META_STATS, "flops", NAN);
	xp_stat_real(&xp, XP_META_STATS, "model_flops", 1e300);
	xp_meta_end(&xp, meta);
	xp_plane_end(&xp);
	analyse(given);
	assert_int_equal(op_named(given, "f")->flops, 1234);
	assert_int_equal(op_named(given, "f")->bytes_accessed, 77);
	assert_int_equal(op_named(given, "f")->model_flops, 5);
	assert_true(op_named(given, "f")->program_id == UINT64_MAX - 8);
	assert_int_equal(op_named(given, "g")->flops, TS_UNKNOWN);
	assert_int_equal(op_named(given, "g")->model_flops, TS_UNKNOWN);
	done(given);
}

/* What a line's blocks left behind: the first event's body, to be looked at when they are gone. */
struct kept_body {
	struct ts_bytes body;
	ts_stats_each *each;
};

static enum ts_status keep_body(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	*(struct kept_body *)ctx = (struct kept_body){ block->body[0], block->each };
	return TS_OK;
}

static void print_stat(void *ctx, struct ts_bytes name, const struct ts_stat *stat)
{
	ts_buf_printf(ctx, "%.*s=", TS_ARG(name));
	if (stat->type == TS_STAT_TEXT)
		ts_buf_printf(ctx, "'%.*s' ", TS_ARG(stat->text));
	else if (stat->type == TS_STAT_REAL)
		ts_buf_printf(ctx, "%g ", stat->real);
	else if (stat->is_unsigned)
		ts_buf_printf(ctx, "%lluu ", (unsigned long long)stat->number);
	else
		ts_buf_printf(ctx, "%lld ", (long long)stat->number);
}

TEST(every_stat_of_an_event_is_visited)
{
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");
	struct kept_body kept = { { NULL, 0 }, NULL };
	struct ts_sink sink = { &kept, TS_COL_STATS, keep_body };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf seen = TS_BUF_INIT;
	size_t event;

	xp_name(&xp, 1, "copy");
	xp_line(&xp, "thread", 0);
	event = xp_begin_event(&xp, 1, 0, US);
	xp_stat_int(&xp, XP_EVENT_STATS, "size", -2);
	xp_stat_uint(&xp, XP_EVENT_STATS, "run_id", UINT64_MAX);
	xp_stat_real(&xp, XP_EVENT_STATS, "fragmentation", 0.25);
	xp_stat_text(&xp, XP_EVENT_STATS, "shape", "f32[8]");
	xp_stat_ref(&xp, XP_EVENT_STATS, "hlo_module", "jit_f");
	ts_pbw_end(&given->bytes, xp_stat(&xp, XP_EVENT_STATS, "without a value"));
	xp_stat_uint(&xp, XP_EVENT_STATS, "device_offset_ps", 7);
	xp_stat_int(&xp, XP_EVENT_STATS, "size", 3);
	ts_pbw_end(&given->bytes, event);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	read_it(given);

	assert_int_equal(ts_stream_line(profile_of(given), 0, &sink, &err), TS_OK);
	kept.each(profile_of(given), &profile_of(given)->lines[0], kept.body, print_stat, &seen);

	ts_buf_putc(&seen, '\0');
	assert_string_equal((const char *)seen.p,
			    "size=-2 run_id=18446744073709551615u fragmentation=0.25 "
			    "shape='f32[8]' hlo_module='jit_f' size=3 ");
	ts_buf_release(&seen);
	done(given);
}

TEST(events_without_metadata_have_time_and_no_name)
{
	struct given *given = given_nothing();
	struct xp xp = tpu(given);

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	xp_event(&xp, 1, 0, US);
	xp_event(&xp, 404, 2 * US, 3 * US);
	xp_event(&xp, -404, 6 * US, US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	assert_op(given, "f", 1, 1, 1);
	assert_int_equal(table(given, "ops", "ops")->nr_rows, 1);
	assert_int_equal(working(given), 5 * US);
	assert_int_equal(field(given, "time", "total_ps"), 7 * US);
	done(given);
}

/* Every order of the same five events: the one in order, and those that are found unsorted. */
TEST(unsorted_lines_are_the_sorted_ones)
{
	static const struct {
		int64_t id, at, dur;
	} events[] = {
		{ 1, 0, 50 }, { 2, 5, 10 }, { 2, 30, 10 }, { 2, 55, 1 }, { 2, 60, 1 },
	};
	for (uint64_t seed = 0; seed < 30; seed++) {
		struct given *given = given_nothing();
		struct rng rng = rng_of(seed);
		size_t order[5] = { 0, 1, 2, 3, 4 };
		struct xp xp = tpu(given);

		for (size_t i = 4; seed > 0 && i > 0; i--) {
			size_t k = (size_t)rng_below(&rng, i + 1), swap = order[i];

			order[i] = order[k];
			order[k] = swap;
		}
		xp_op(&xp, 1, "while", "while", PROGRAM, 1);
		xp_op(&xp, 2, "f", "loop fusion", PROGRAM, 2);
		xp_line(&xp, "XLA Ops", 0);
		for (size_t i = 0; i < 5; i++)
			xp_event(&xp, events[order[i]].id, events[order[i]].at * US,
				 events[order[i]].dur * US);
		xp_line_end(&xp);
		xp_plane_end(&xp);
		analyse(given);
		assert_op(given, "while", 1, 50, 30);
		assert_op(given, "f", 4, 22, 22);
		assert_int_equal(working(given), 52 * US);
		assert_int_equal(field(given, "time", "buckets.idle_ps"), 9 * US);
		done(given);
	}
}

/* Every wire type at every level, in fields that do not exist yet. */
struct counted {
	size_t nr, nr_wanted;
	int64_t self_ps, segments_ps; /* of what is wanted */
	const bool *wanted;
};

static enum ts_status count_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct counted *counted = ctx;

	counted->nr += block->nr_events;
	for (size_t i = 0; i < block->nr_events; i++)
		if (counted->wanted[block->op[i]]) {
			counted->nr_wanted++;
			counted->self_ps += block->self_ps[i];
		}
	for (size_t i = 0; i < block->nr_segments; i++)
		if (counted->wanted[block->segment_op[i]])
			counted->segments_ps +=
				block->segment_end_ps[i] - block->segment_start_ps[i];
	return TS_OK;
}

static struct counted count(struct given *given, const bool *wanted)
{
	struct counted counted = { .wanted = wanted };
	struct ts_sink sink = { .ctx = &counted,
				.columns = TS_COL_SEGMENTS,
				.block = count_block,
				.looks_at = wanted };
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_stream_line(profile_of(given), 0, &sink, &err), TS_OK);
	return counted;
}

/* h runs inside of g. What is wanted comes whole, and all comes of a line that was never read. */
TEST(events_that_nobody_looks_at_are_passed_over)
{
	static const char *const names[] = { "f", "g", "h", "i" };
	struct given *given = given_nothing();
	bool wanted[16] = { false };
	struct counted counted;
	struct xp xp = tpu(given);

	for (size_t i = 0; i < TS_NELEM(names); i++)
		xp_op(&xp, (int64_t)i + 1, names[i], "loop fusion", PROGRAM, i + 1);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 100; i++) {
		xp_event(&xp, 1, i * 100 * US, 10 * US);
		xp_event(&xp, 2, (i * 100 + 20) * US, 30 * US);
		xp_event(&xp, 3, (i * 100 + 30) * US, 10 * US);
		xp_event(&xp, 4, (i * 100 + 60) * US, 10 * US);
		xp_event(&xp, 404, (i * 100 + 80) * US, 10 * US);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
	read_it(given);
	assert_true(profile_of(given)->nr_ops < TS_NELEM(wanted));
	wanted[op_named(given, "g") - profile_of(given)->ops] = true;

	counted = count(given, wanted);
	assert_int_equal(counted.nr, 500);
	given->mem.run.profile.lines[0].is_plain = true;
	counted = count(given, wanted);
	assert_int_equal(counted.nr, 200); /* with what is inside */
	assert_int_equal(counted.nr_wanted, 100);
	assert_int_equal(counted.self_ps, 2000 * US);
	assert_int_equal(counted.segments_ps, 2000 * US);
	done(given);
}

static void odd_fields(struct ts_buf *out)
{
	ts_pbw_u64(out, 900, 1);
	ts_pbw_double(out, 901, 1.5);
	ts_pbw_bytes(out, 902, TS_LIT("\xff\xff\xff"));
	ts_pbw_u64(out, 100000, UINT64_MAX);
}

TEST(unknown_fields_are_passed_over)
{
	struct given *given = given_nothing();
	struct ts_buf *out = &given->bytes;
	struct xp xp;
	size_t event;

	odd_fields(out);
	xp = tpu(given);
	odd_fields(out);
	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	odd_fields(out);
	event = ts_pbw_begin(out, 4);
	odd_fields(out);
	ts_pbw_i64(out, 3, 2 * US); /* fields in another order than usual */
	ts_pbw_i64(out, 1, 1);
	odd_fields(out);
	ts_pbw_i64(out, 2, US);
	ts_pbw_end(out, event);
	odd_fields(out);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	odd_fields(out);
	analyse(given);
	assert_op(given, "f", 1, 2, 2);
	assert_int_equal(profile_of(given)->nr_damage, 0);
	done(given);
}

/* A known field of another wire type than today's: nothing of it, and no damage. */
TEST(fields_of_another_type_are_empty)
{
	struct given *given = given_nothing();
	struct ts_buf *out = &given->bytes;
	struct xp xp = tpu(given);

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	ts_pbw_u64(out, 3, 7);	    /* a line */
	ts_pbw_double(out, 4, 1.5); /* event metadata */
	ts_pbw_u64(out, 5, 9);	    /* stat metadata */
	ts_pbw_double(out, 6, 2.5); /* a stat */
	xp_line(&xp, "XLA Ops", 0);
	ts_pbw_u64(out, 4, 3); /* an event */
	xp_event(&xp, 1, 0, US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	ts_pbw_u64(out, 1, 4); /* a plane */
	analyse(given);
	assert_op(given, "f", 1, 1, 1);
	done(given);
}

TEST(planes_of_one_name_are_two_devices)
{
	struct given *given = given_nothing();

	for (int64_t i = 0; i < 2; i++) {
		struct xp xp = tpu(given);

		xp_op(&xp, 1 + i, "f", "loop fusion", PROGRAM, 1);
		xp_line(&xp, "XLA Ops", 0);
		xp_event(&xp, 1 + i, i * 10 * US, US);
		xp_line_end(&xp);
		xp_plane_end(&xp);
	}
	analyse(given);
	assert_int_equal(profile_of(given)->nr_devices, 2);
	assert_op(given, "f", 2, 2, 2);
	assert_int_equal(field(given, "time", "cores"), 2);
	assert_int_equal(field(given, "time", "total_ps"), 2 * 11 * US);
	done(given);
}

struct clock_row {
	int64_t timestamp_ns, offset_ps, task_start_ns, task_stop_ns;
	int64_t first_ps, start_unix_ns; /* expected */
};

static const struct clock_row clocks[] = {
	{ 0, 5 * US, START_NS, START_NS + 1000, 5 * US, START_NS },
	{ START_NS + 5000, 0, START_NS, START_NS + 9000, 5 * US, START_NS },
	{ START_NS + 5000, US, 0, 0, US,
	  START_NS + 5000 }, /* no Task Environment: the earliest line */
	{ 0, 7 * US, 0, 0, 7 * US, TS_UNKNOWN },
	{ 1000, US, 0, 0, 2 * US, TS_UNKNOWN }, /* ns since some start */
	{ START_NS - 1000, 0, START_NS, START_NS + 9000, -US,
	  START_NS },					    /* before the profiler's start */
	{ START_NS + 5000, US, 5, 6, US, START_NS + 5000 }, /* a start that is not a time of ours */
};

TEST(lines_count_from_the_epoch_or_the_start)
{
	for (size_t i = 0; i < TS_NELEM(clocks); i++) {
		const struct clock_row *row = &clocks[i];
		struct given *given = given_nothing();
		struct xp xp = tpu(given);

		xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
		xp_line(&xp, "XLA Ops", row->timestamp_ns);
		xp_event(&xp, 1, row->offset_ps, US);
		xp_line_end(&xp);
		xp_plane_end(&xp);
		if (row->task_start_ns)
			xp_task(&given->bytes, row->task_start_ns, row->task_stop_ns);
		analyse(given);
		if (field(given, "time", "wall_start_ps") != row->first_ps &&
		    !(row->first_ps < 0 && row->first_ps == -US))
			fail_msg("row %zu: first event at %lld", i,
				 (long long)field(given, "time", "wall_start_ps"));
		if (profile_of(given)->start_unix_ns != row->start_unix_ns)
			fail_msg("row %zu: start %lld", i,
				 (long long)profile_of(given)->start_unix_ns);
		done(given);
	}
}

static void clocked_event(struct xp *xp, int64_t id, int64_t at, int64_t dur, int64_t clock,
			  int64_t own)
{
	size_t mark = xp_begin_event(xp, id, at * US, dur * US);

	if (clock >= 0)
		xp_stat_uint(xp, XP_EVENT_STATS, "device_offset_ps", (uint64_t)(clock * US));
	if (own >= 0)
		xp_stat_uint(xp, XP_EVENT_STATS, "device_duration_ps", (uint64_t)(own * US));
	ts_pbw_end(xp->out, mark);
}

/* Op times are the device's, the wall is the timeline's; half a clock is not a clock. */
TEST(the_devices_clock_counts_for_ops)
{
	struct given *given = given_nothing();
	struct xp xp = tpu(given);

	xp_op(&xp, 1, "while", "while", PROGRAM, 1);
	xp_op(&xp, 2, "f", "loop fusion", PROGRAM, 2);
	xp_op(&xp, 3, "half", "loop fusion", PROGRAM, 3);
	xp_line(&xp, "XLA Ops", 0);
	clocked_event(&xp, 1, 0, 50, 100, 40);
	clocked_event(&xp, 2, 10, 20, 105, 15);
	clocked_event(&xp, 3, 200, 7, -1, 3);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	assert_op(given, "while", 1, 40, 25);
	assert_op(given, "f", 1, 15, 15);
	assert_op(given, "half", 1, 7, 7);
	assert_int_equal(field(given, "time", "wall_ps"), 207 * US);
	assert_int_equal(working(given), 57 * US);
	done(given);
}

/* Only of such a line may events be passed over: the devices' clock may have them in another order. */
TEST(a_line_in_order_on_the_timeline_is_plain)
{
	for (int64_t place = 5; place <= 15; place += 10) {
		struct given *given = given_nothing();
		struct xp xp = tpu(given);

		xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
		xp_line(&xp, "XLA Ops", 0);
		clocked_event(&xp, 1, 10, 2, 100, 2);
		clocked_event(&xp, 1, place, 2, 105, 2);
		xp_line_end(&xp);
		xp_plane_end(&xp);
		analyse(given);
		assert_int_equal(profile_of(given)->lines[0].is_plain, place > 10);
		done(given);
	}
}

TEST(hosts_are_put_on_one_timeline)
{
	struct given *first = given_nothing(), *second = given_nothing();
	struct memory_run *mem = &first->mem;
	struct xp xp = tpu(first);
	struct ts_error err = TS_ERROR_INIT;

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", START_NS + 100000);
	xp_event(&xp, 1, 0, 10 * US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp_task(&first->bytes, START_NS + 90000, START_NS + 200000);
	xp = tpu(second);
	xp_op(&xp, 9, "f", "loop fusion", PROGRAM, 1); /* another id there */
	xp_line(&xp, "XLA Ops", 0);
	xp_event(&xp, 9, 40 * US, 10 * US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp_task(&second->bytes, START_NS, START_NS + 150000);
	assert_int_equal(memory_run_add(mem, ts_buf_bytes(&first->bytes), "a", &err), TS_OK);
	assert_int_equal(memory_run_add(mem, ts_buf_bytes(&second->bytes), "b", &err), TS_OK);
	assert_int_equal(memory_run_analyse(mem, 0, &err), TS_OK);
	assert_op(first, "f", 2, 20, 20);
	assert_int_equal(field(first, "time", "wall_start_ps"), 40 * US);
	assert_int_equal(field(first, "time", "wall_ps"), 70 * US); /* 40 us on b to 110 us on a */
	assert_int_equal(field(first, "time", "total_ps"), 140 * US);
	assert_int_equal(profile_of(first)->capture_ps, 200 * US);
	done(first);
	done(second);
}

static void gpu_event(struct xp *xp, int64_t kernel, const char *op, int64_t at, int64_t dur)
{
	size_t mark = xp_begin_event(xp, kernel, at * US, dur * US);

	if (op) {
		xp_stat_ref(xp, XP_EVENT_STATS, "hlo_op", op);
		xp_stat_uint(xp, XP_EVENT_STATS, "program_id", 7);
	}
	ts_pbw_end(xp->out, mark);
}

/* Kernels are named by their metadata, ops by the events; streams run side by side. */
TEST(a_gpus_ops_are_told_by_its_events)
{
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/device:GPU:0");

	xp_stat_text(&xp, XP_PLANE_STATS, "device_vendor", "Nvidia");
	xp_stat_int(&xp, XP_PLANE_STATS, "compute_cap_major", 9);
	xp_name(&xp, 1, "gemm_kernel");
	xp_name(&xp, 2, "MemcpyD2D");
	xp_line(&xp, "Stream #1(Compute)", 0);
	gpu_event(&xp, 1, "fusion.1", 0, 10);
	gpu_event(&xp, 1, "fusion.2", 20, 10);
	gpu_event(&xp, 1, "outer::inner", 40, 5);
	xp_line_end(&xp);
	xp_line(&xp, "Stream #2(MemcpyD2D)", 0);
	gpu_event(&xp, 2, NULL, 5, 10);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0); /* drawn from the same events: not counted twice */
	gpu_event(&xp, 1, "fusion.1", 0, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	assert_true(op_named(given, "fusion.1")->has_program);
	assert_true(op_named(given, "inner")->has_program);
	assert_false(op_named(given, "MemcpyD2D")->has_program);
	assert_true(profile_of(given)->devices[0].is_gpu);
	assert_int_equal(profile_of(given)->devices[0].cc_major, 9);
	assert_int_equal(field(given, "time", "total_ps"), 45 * US);
	assert_int_equal(working(given), 25 * US);
	assert_int_equal(field(given, "time", "buckets.memory_wait_ps"),
			 5 * US); /* 10, half hidden */
	assert_int_equal(field(given, "time", "buckets.idle_ps"), 15 * US);
	done(given);
}

static void cpu_event(struct xp *xp, const char *op, unsigned run, unsigned ordinal, int64_t at,
		      int64_t dur)
{
	size_t mark = xp_begin_event(xp, 1, at * US, dur * US);

	xp_stat_ref(xp, XP_EVENT_STATS, "hlo_op", op);
	xp_stat_ref(xp, XP_EVENT_STATS, "hlo_module", "jit_step");
	xp_stat_uint(xp, XP_EVENT_STATS, "program_id", 7);
	xp_stat_uint(xp, XP_EVENT_STATS, "run_id", run);
	xp_stat_uint(xp, XP_EVENT_STATS, "device_ordinal", ordinal);
	ts_pbw_end(xp->out, mark);
}

static void cpu_mark(struct xp *xp, unsigned step, int64_t at, int64_t dur)
{
	size_t mark = xp_begin_event(xp, 2, at * US, dur * US);

	xp_stat_uint(xp, XP_EVENT_STATS, "step_num", step);
	ts_pbw_end(xp->out, mark);
}

/* Two steps on two threads, a loop around its body, and a device more. */
static void given_cpus(struct given *given)
{
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");

	xp_name(&xp, 1, "thunk");
	xp_name(&xp, 2, "train");
	xp_line(&xp, "python", 0);
	cpu_mark(&xp, 5, 0, 20);
	cpu_mark(&xp, 6, 100, 20);
	xp_line_end(&xp);
	xp_line(&xp, "tf_XLAPjRtCpuClient/1", 0);
	cpu_event(&xp, "while.1", 1, 0, 10, 40);
	cpu_event(&xp, "dot.1", 1, 0, 20, 10);
	xp_event(&xp, 1, 60 * US, 5 * US); /* not an op */
	cpu_event(&xp, "while.1", 2, 0, 110, 40);
	xp_line_end(&xp);
	xp_line(&xp, "tf_XLAEigen/2", 0);
	cpu_event(&xp, "add.1", 1, 0, 40, 20);
	cpu_event(&xp, "add.1", 9, 1, 0, 30);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static uint64_t executions_on(struct given *given, uint32_t device)
{
	const struct ts_profile *profile = profile_of(given);

	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->lines[i].kind == TS_LINE_MODULES &&
		    profile->planes[profile->lines[i].plane].device == device)
			return profile->lines[i].nr_events;
	return 0;
}

TEST(a_profile_without_a_device_has_the_cpus_that_ran_its_ops)
{
	struct given *given = given_nothing();
	const struct ts_profile *profile;

	given_cpus(given);
	analyse(given);
	profile = profile_of(given);
	assert_int_equal(profile->nr_devices, 2);
	assert_true(profile->devices[0].is_cpu && !profile->devices[0].is_gpu);
	assert_true(ts_bytes_is(profile->devices[1].name, "/device:CPU:1"));
	/* The union of threads: 10 to 60 and 110 to 150, and 0 to 30 on the other. */
	assert_int_equal(working(given), 50 * US + 40 * US + 30 * US);
	assert_op(given, "while.1", 2, 80, 70);
	assert_op(given, "dot.1", 1, 10, 10);
	assert_op(given, "add.1", 2, 50, 50);
	assert_int_equal(executions_on(given, 0), 2);
	assert_int_equal(executions_on(given, 1), 1);
	done(given);
}

/* From mark to mark, and the last to the end of what ran. */
TEST(the_steps_of_a_cpu_are_the_marks_of_its_host)
{
	struct given *given = given_nothing();
	const struct ts_device_steps *steps;

	given_cpus(given);
	analyse(given);
	steps = &given->mem.run.outline.steps.devices[0];
	assert_int_equal(steps->nr, 2);
	assert_int_equal(steps->items[0].number, 5);
	assert_int_equal(steps->items[0].end_ps, 100 * US);
	assert_int_equal(steps->items[1].end_ps, 150 * US);
	done(given);
}

TEST(a_cpu_beside_another_device_is_its_host_alone)
{
	struct given *given = given_nothing();
	struct xp xp;

	given_cpus(given);
	xp = xp_plane(&given->bytes, "/device:GPU:0");
	xp_name(&xp, 1, "gemm_kernel");
	xp_line(&xp, "Stream #1(Compute)", 0);
	gpu_event(&xp, 1, "fusion.1", 0, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	assert_int_equal(profile_of(given)->nr_devices, 1);
	assert_true(profile_of(given)->devices[0].is_gpu);
	done(given);
}

/* Of each op of the profile. */
static enum ts_status sum_occurrences(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	int64_t *executions = ctx;

	(void)err;
	for (size_t i = 0; i < block->nr_events; i++)
		executions[block->op[i]] += block->occurrences ? block->occurrences[i] : 1;
	return TS_OK;
}

/* conv: im2col and gemm, twice, then a gemm alone (its im2col does not name its op): 3 executions of 5 kernels. loop: the same
 * kernel twice is two executions. The events stand in the file in another order. */
TEST(kernels_of_one_op_that_follow_each_other_are_one_execution)
{
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/device:GPU:0");
	int64_t executions[16] = { 0 };
	struct ts_sink sink = { .ctx = executions, .block = sum_occurrences };
	struct ts_error err = TS_ERROR_INIT;
	const struct ts_op *ops;

	xp_name(&xp, 1, "im2col_kernel");
	xp_name(&xp, 2, "gemm_kernel");
	xp_name(&xp, 3, "loop_kernel");
	xp_line(&xp, "Stream #1(Compute)", 0);
	gpu_event(&xp, 1, "conv", 20, 5);
	gpu_event(&xp, 1, "conv", 0, 5);
	gpu_event(&xp, 2, "conv", 10, 5);
	gpu_event(&xp, 2, "conv", 30, 5);
	gpu_event(&xp, 1, NULL, 40, 5);
	gpu_event(&xp, 2, "conv", 50, 5);
	gpu_event(&xp, 3, "loop", 60, 5);
	gpu_event(&xp, 3, "loop", 70, 5);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	ops = profile_of(given)->ops;
	assert_in_range(profile_of(given)->nr_ops, 1, TS_NELEM(executions));
	assert_int_equal(ts_stream_line(profile_of(given), 0, &sink, &err), TS_OK);
	assert_int_equal(executions[op_named(given, "conv") - ops], 3);
	assert_int_equal(executions[op_named(given, "loop") - ops], 2);
	done(given);
}

static void put_module(struct xp *xp, int64_t key, const char *name, struct ts_bytes proto)
{
	struct xp_meta meta = xp_meta(xp, key, name, NULL);

	xp_stat_bytes(xp, XP_META_STATS, "hlo_proto", proto);
	xp_meta_end(xp, meta);
}

/* The key is the program's id, as a signed number; the name may say it too. */
TEST(modules_with_negative_keys_and_entries_that_are_none)
{
	struct given *given = given_nothing();
	struct make make = MAKE_INIT;
	struct ts_buf proto = TS_BUF_INIT;
	size_t comp = make_comp(&make, "main"), hlo;
	struct xp xp;
	uint32_t module;

	make_param(&make, 0, "f32[8,128]{1,0:T(8,128)}", 10);
	make_op(&make, "neg.1", "negate", "f32[8,128]{1,0:T(8,128)}", 11, 1, (int64_t[]){ 10 });
	make_end_comp(&make, comp, 1, 11);
	make_end(&make, 1);
	hlo = ts_pbw_begin(&proto, 1); /* HloProto { hlo_module } */
	ts_buf_put(&proto, ts_buf_bytes(&make.out));
	ts_pbw_end(&proto, hlo);
	xp = xp_plane(&given->bytes, "/host:metadata");
	put_module(&xp, (int64_t)PROGRAM, "jit_f(18446744073709551609)", ts_buf_bytes(&proto));
	put_module(&xp, -3, "jit_g", ts_buf_bytes(&proto));
	put_module(&xp, 5, "broken", TS_LIT("\x0a\xff\xff\xff\xff\x0f"));
	xp_name(&xp, 6, "no module at all");
	xp_plane_end(&xp);
	xp = tpu(given);
	xp_op(&xp, 1, "neg.1", "non-fusion elementwise", PROGRAM, 11);
	xp_op(&xp, 2, "gone.1", "loop fusion", 12345, 12);
	xp_line(&xp, "XLA Ops", 0);
	xp_event(&xp, 1, 0, US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	assert_int_equal(profile_of(given)->nr_modules, 2);
	module = op_named(given, "neg.1")->module;
	assert_int_not_equal(module, TS_NONE);
	assert_true(profile_of(given)->modules[module].program_id == PROGRAM);
	assert_true(ts_bytes_is(
		ts_op_instr(profile_of(given), op_named(given, "neg.1"))->opcode_text, "negate"));
	assert_int_not_equal(ts_profile_module_of(profile_of(given), (uint64_t)-3), TS_NONE);
	assert_int_equal(op_named(given, "gone.1")->module, TS_NONE);
	assert_int_equal(profile_of(given)->nr_damage, 1);
	assert_true(profile_of(given)->damage[0].minor);
	ts_buf_release(&make.out);
	ts_buf_release(&proto);
	done(given);
}

static void marked(struct xp *xp, int64_t id, int64_t number, int64_t at, int64_t dur)
{
	size_t mark = xp_begin_event(xp, id, at * US, dur * US);

	xp_stat_int(xp, XP_EVENT_STATS, "step_num", number);
	ts_pbw_end(xp->out, mark);
}

static void runs_of_a_module(struct xp *xp, const char *line)
{
	xp_line(xp, line, 0);
	for (int64_t i = 0; i < 3; i++)
		xp_event(xp, 10, i * 20 * US, 10 * US);
	xp_line_end(xp);
}

TEST(steps_are_marked_or_inferred)
{
	for (int with_marks = 0; with_marks < 2; with_marks++) {
		struct given *given = given_nothing();
		struct xp xp = tpu(given);
		const struct ts_device_steps *steps;

		xp_op(&xp, 1, "f", "loop fusion", 7, 1);
		xp_name(&xp, 10, "jit_f(7)");
		xp_name(&xp, 20, "7");
		runs_of_a_module(&xp, "XLA Modules");
		xp_line(&xp, "Steps", 0);
		for (int64_t i = 0; with_marks && i < 2; i++)
			marked(&xp, 20, 7 + i, i * 30, 25);
		xp_line_end(&xp);
		xp_line(&xp, "XLA Ops", 0);
		xp_event(&xp, 1, 0, 50 * US);
		xp_line_end(&xp);
		xp_plane_end(&xp);
		analyse(given);
		steps = &given->mem.run.outline.steps.devices[0];
		assert_int_equal(steps->nr, with_marks ? 2 : 3);
		assert_int_equal(steps->items[0].number, with_marks ? 7 : 0);
		assert_int_equal(steps->items[0].end_ps, (with_marks ? 25 : 20) * US);
		assert_int_equal(steps->items[1].start_ps, (with_marks ? 30 : 20) * US);
		assert_int_equal(steps->items[steps->nr - 1].end_ps, (with_marks ? 55 : 50) * US);
		done(given);
	}
}

/* Two lines of modules on one core tell of the same runs: the steps stay in order and apart. */
TEST(steps_of_two_lines_do_not_overlap)
{
	struct given *given = given_nothing();
	struct xp xp = tpu(given);
	const struct ts_device_steps *steps;

	xp_op(&xp, 1, "f", "loop fusion", 7, 1);
	xp_name(&xp, 10, "jit_f(7)");
	runs_of_a_module(&xp, "XLA Modules");
	runs_of_a_module(&xp, "XLA Modules");
	xp_line(&xp, "XLA Ops", 0);
	xp_event(&xp, 1, 0, 50 * US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given);
	steps = &given->mem.run.outline.steps.devices[0];
	for (size_t i = 0; i < steps->nr; i++) {
		assert_true(steps->items[i].start_ps <= steps->items[i].end_ps);
		assert_true(i == 0 || steps->items[i - 1].end_ps <= steps->items[i].start_ps);
	}
	assert_int_equal(steps->nr, 3);
	done(given);
}

/* A second line of ops on a core, with nothing that takes time: the first one is the core's. */
TEST(a_second_line_of_ops_does_not_count_twice)
{
	struct given *given = given_nothing();
	struct xp xp = tpu(given);

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	for (int64_t i = 0; i < 3; i++) {
		xp_line(&xp, "XLA Ops", 0);
		xp_event(&xp, 1, 2 * i * US, (i == 1 ? 10 : 0) * US);
		xp_line_end(&xp);
	}
	xp_plane_end(&xp);
	analyse(given);
	assert_int_equal(field(given, "time", "total_ps"), 12 * US);
	assert_int_equal(working(given), 10 * US);
	assert_int_equal(field(given, "time", "buckets.idle_ps"), 2 * US);
	done(given);
}

/* Times at both ends of 64 bits: no answer is right, and none may break. */
TEST(times_that_cannot_be)
{
	static const int64_t odd[] = { INT64_MIN, INT64_MAX,	    -1,
				       0,	  INT64_C(1) << 62, INT64_C(1) << 61 };

	for (size_t i = 0; i < TS_NELEM(odd) * TS_NELEM(odd); i++) {
		struct given *given = given_nothing();
		int64_t a = odd[i / TS_NELEM(odd)], b = odd[i % TS_NELEM(odd)];
		struct ts_buf json = TS_BUF_INIT;

		for (int devices = 0; devices < 3; devices++) {
			struct xp xp = tpu(given);

			xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
			xp_name(&xp, 10, "jit_f(7)");
			xp_line(&xp, "Steps", b);
			marked(&xp, 10, a, 0, 1);
			xp_event(&xp, 10, a, b);
			xp_line_end(&xp);
			xp_line(&xp, "XLA Modules", a);
			xp_event(&xp, 10, a, b);
			xp_event(&xp, 10, b, a);
			xp_line_end(&xp);
			xp_line(&xp, "XLA Ops", 0);
			xp_event(&xp, 1, a, b);
			xp_event(&xp, 1, b, a);
			clocked_event(&xp, 1, 5, 5, a / US, b / US);
			xp_line_end(&xp);
			xp_plane_end(&xp);
		}
		xp_task(&given->bytes, a, b);
		read_it(given);
		assert_int_equal(memory_run_analyse(&given->mem, 1000, NULL), TS_OK);
		assert_int_equal(memory_run_report(&given->mem, &json, NULL), TS_OK);
		ts_buf_release(&json);
		done(given);
	}
}

static void a_little_of_everything(struct given *given)
{
	struct xp xp = tpu(given);

	xp_op(&xp, 1, "while", "while", PROGRAM, 1);
	xp_op(&xp, -7, "f", "loop fusion", PROGRAM, 2);
	xp_name(&xp, 10, "jit_f(7)");
	runs_of_a_module(&xp, "XLA Modules");
	xp_line(&xp, "XLA Ops", 0);
	clocked_event(&xp, 1, 0, 50, 100, 40);
	clocked_event(&xp, -7, 10, 20, 105, 15);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp = xp_plane(&given->bytes, "/host:CPU");
	xp_name(&xp, 1, "backend_compile");
	xp_line(&xp, "python", 0);
	xp_event(&xp, 1, 51 * US, 5 * US);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp_task(&given->bytes, START_NS, START_NS + 100000);
}

/* At every byte: what was whole before the cut counts, and damage is told unless a plane ends there. */
TEST(every_truncation)
{
	struct given *given = given_nothing();
	struct ts_bytes whole;
	size_t report_size;

	a_little_of_everything(given);
	whole = ts_buf_bytes(&given->bytes);
	for (size_t n = 0; n < whole.n; n++) {
		uint8_t *copy = malloc(n ? n : 1); /* so that a read behind it is seen */

		assert_non_null(copy);
		memcpy(copy, whole.p, n);
		memory_run_whole((struct ts_bytes){ copy, n }, &report_size);
		free(copy);
	}
	assert_int_equal(memory_run_whole(whole, &report_size), TS_OK);
	assert_true(report_size > 1000);
	done(given);
}

TEST(thousands_of_mutations)
{
	struct given *given = given_nothing();
	struct ts_buf damaged = TS_BUF_INIT;
	size_t report_size, nr_read = 0;

	a_little_of_everything(given);
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct rng rng = rng_of(seed);

		mutate(&rng, ts_buf_bytes(&given->bytes), &damaged);
		nr_read += memory_run_whole(ts_buf_bytes(&damaged), &report_size) == TS_OK;
	}
	assert_true(nr_read > 1000); /* most damage leaves something to read */
	ts_buf_release(&damaged);
	done(given);
}

TEST(damage_names_the_byte)
{
	struct given *given = given_nothing();
	size_t whole;

	a_little_of_everything(given);
	whole = given->bytes.n;
	ts_buf_put(&given->bytes, TS_LIT("\x0a\xff\x01"
					 "yes"));
	analyse(given);
	assert_int_equal(profile_of(given)->nr_damage, 1);
	assert_true(profile_of(given)->damage[0].offset >= whole &&
		    profile_of(given)->damage[0].offset < whole + 3);
	assert_false(profile_of(given)->damage[0].minor);
	assert_op(given, "f", 1, 15, 15);
	done(given);
}

TEST(what_is_no_profile_is_refused)
{
	static const char *const texts[] = { "", "plain text, no protobuf",
					     ("\x12\x03" /* \x03abc is one letter */
					      "abc"),
					     "{\"a\":1}" };

	for (size_t i = 0; i < TS_NELEM(texts); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct memory_run mem;

		memory_run_init(&mem);
		assert_int_equal(memory_run_add(&mem, ts_bytes_of(texts[i]), "h", &err), TS_FORMAT);
		if (!ts_bytes_has(ts_bytes_of(err.text), "byte "))
			fail_msg("row %zu: %s", i, err.text);
		memory_run_release(&mem);
	}
}

/* A profile behind 4 GiB of an unknown field: takes no room where the file system has holes. */
TEST(a_file_above_4_gib)
{
	const char *folder = getenv("TMPDIR");
	const uint64_t zeros = (UINT64_C(4) << 30) + (1 << 20);
	struct given *given = given_nothing();
	struct ts_buf head = TS_BUF_INIT;
	struct ts_input input = TS_INPUT_INIT;
	struct memory_run mem;
	struct stat st;
	char path[4096];
	int fd;

	a_little_of_everything(given);
	snprintf(path, sizeof(path), "%s/tpusight-large-XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	/* field 1000, length-delimited */
	ts_buf_put(&head, TS_LIT("\xc2\x3e"));
	for (uint64_t n = zeros; n; n >>= 7)
		ts_buf_putc(&head, (char)((n & 127) | (n > 127 ? 128 : 0)));
	if (write(fd, head.p, head.n) != (ssize_t)head.n || lseek(fd, (off_t)zeros, SEEK_CUR) < 0 ||
	    write(fd, given->bytes.p, given->bytes.n) != (ssize_t)given->bytes.n ||
	    fstat(fd, &st) != 0 || st.st_blocks * 512 > 1 << 24 ||
	    ts_input_open(&input, path, NULL) != TS_OK) {
		print_message("no room for a sparse file of 4 GiB in TMPDIR: skipped\n");
	} else {
		memory_run_init(&mem);
		assert_true(input.bytes.n > UINT64_C(4) << 30);
		assert_int_equal(memory_run_add(&mem, input.bytes, "h", NULL), TS_OK);
		assert_int_equal(memory_run_analyse(&mem, 0, NULL), TS_OK);
		assert_int_equal(mem.run.profile.nr_devices, 1);
		assert_int_equal(mem.run.profile.nr_damage, 0);
		memory_run_release(&mem);
	}
	ts_input_release(&input);
	close(fd);
	ts_buf_release(&head);
	done(given);
}
