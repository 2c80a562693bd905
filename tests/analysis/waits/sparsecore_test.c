/* SPDX-License-Identifier: MIT */
/*
 * SparseCores on a simulated timeline (no profile with them is published; planes, lines and stats
 * are named as XProf's readers expect them). Answers by hand.
 *
 * The chip's HBM moves 819 GB/s, so an op of 81.9 MB takes a TensorCore 100 us.
 */
#include "tests/analysis/given.h"

#define BYTES_100_US 81900000

enum { FUSION = 1, WAITED, WAITED_DONE, HIDDEN, HIDDEN_DONE };

struct offload_op {
	int64_t id;
	const char *name, *category, *text;
	int64_t bytes;
};

static void given_op(struct xp *xp, struct offload_op op)
{
	struct xp_meta meta = xp_meta(xp, op.id, op.text, op.name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", op.category);
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)op.id);
	if (op.bytes > 0)
		xp_stat_int(xp, XP_META_STATS, "bytes_accessed", op.bytes);
	xp_meta_end(xp, meta);
}

#define THREAD ", async_execution_thread=\"sparsecore\""

/* What the compiler says of its starts: THREAD, or nothing. */
static void given_ops(struct xp *xp, bool is_named, int64_t bytes)
{
	given_op(xp, (struct offload_op){ FUSION, "fusion.1", "loop fusion", "%fusion.1 = f32[8]",
					  1000 });
	given_op(xp, (struct offload_op){
			     WAITED, "call-start.1", "async-start",
			     is_named ? "%call-start.1 = ((f32[8]), f32[8]) call-start(%p)" THREAD
				      : "%call-start.1 = ((f32[8]), f32[8]) call-start(%p)",
			     bytes });
	given_op(xp, (struct offload_op){ WAITED_DONE, "call-done.1", "async-done",
					  "%call-done.1 = f32[8] call-done(%call-start.1)", 0 });
	given_op(xp, (struct offload_op){
			     HIDDEN, "call-start.2", "async-start",
			     is_named ? "%call-start.2 = ((f32[8]), f32[8]) call-start(%q)" THREAD
				      : "%call-start.2 = ((f32[8]), f32[8]) call-start(%q)",
			     bytes });
	given_op(xp, (struct offload_op){ HIDDEN_DONE, "call-done.2", "async-done",
					  "%call-done.2 = f32[8] call-done(%call-start.2)", 0 });
}

static void marked(struct xp *xp, int64_t id, int64_t start_us, int64_t dur_us, int64_t mark)
{
	size_t event = xp_begin_event(xp, id, start_us * US, dur_us * US);

	if (mark) {
		xp_stat_int(xp, XP_EVENT_STATS, "tc_offload_start_id", mark);
		xp_stat_int(xp, XP_EVENT_STATS, "offload_core_id", 0);
	}
	ts_pbw_end(xp->out, event);
}

/*
 * Two turns of 1000 us: a start of 1 us, 300 us of waiting for it; another start, 400 us of a fusion,
 * a done of 1 us. So the first waits 301 us an execution and the second 2 us of 402.
 */
static void given_tensor_core(struct given *given, const char *name, bool is_named, bool has_marks,
			      int64_t bytes)
{
	struct xp xp = given_core(given, name);

	given_ops(&xp, is_named, bytes);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t at = 0; at < 2000; at += 1000) {
		marked(&xp, WAITED, at, 1, has_marks ? 0x8f30a352 : 0);
		marked(&xp, WAITED_DONE, at + 1, 300, 0);
		marked(&xp, HIDDEN, at + 301, 1, has_marks ? 0x77 : 0);
		marked(&xp, FUSION, at + 302, 400, 0);
		marked(&xp, HIDDEN_DONE, at + 702, 1, 0);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

/* It works 290 us at the one and 380 us at the other, the ops 10 us less. */
static void given_sparse_core(struct given *given, const char *name, bool has_marks)
{
	struct xp xp = xp_plane(&given->bytes, name);

	given_op(&xp, (struct offload_op){ 1, "gather.1", "gather", "%gather.1 = f32[8]", 1000 });
	given_op(&xp, (struct offload_op){ 2, "all-gather.2", "all-gather", "%all-gather.2", 0 });
	xp_name(&xp, 3, "offloaded(7)");
	xp_line(&xp, "Sparse Core Modules", 0);
	for (int64_t at = 0; at < 2000; at += 1000) {
		marked(&xp, 3, at + 10, 290, has_marks ? 0x8f30a352 : 0);
		marked(&xp, 3, at + 305, 380, has_marks ? 0x77 : 0);
	}
	xp_line_end(&xp);
	xp_line(&xp, "Sparse Core Ops", 0);
	for (int64_t at = 0; at < 2000; at += 1000) {
		given_event(&xp, 1, at + 15, 280);
		given_event(&xp, 2, at + 310, 370);
	}
	xp_line_end(&xp);
	xp_line(&xp, "Sparse Core Steps", 0);
	given_event(&xp, 3, 0, 2000);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static struct given *given_run(bool is_named, bool has_marks, int64_t bytes)
{
	struct given *given = given_nothing();

	given_tensor_core(given, "/device:TPU:0", is_named, has_marks, bytes);
	given_sparse_core(given, "/device:TPU:0 SparseCore 0", has_marks);
	analyse(given, 1000);
	return given;
}

static struct ts_value offload(struct given *given, const char *op, const char *column)
{
	for (size_t i = 0; i < nr_rows(given, "sparsecore", "offloads"); i++)
		if (ts_bytes_is(cell(given, "sparsecore", "offloads", i, "op").as.s, op))
			return cell(given, "sparsecore", "offloads", i, column);
	fail_msg("%s is not an offload", op);
	return ts_null();
}

static void assert_offload_us(struct given *given, const char *op, const char *column, int64_t us)
{
	assert_int_equal(ts_value_int(offload(given, op, column)), us * US);
}

static const struct ts_finding *finding(struct given *given)
{
	const struct ts_result *doctor = view(given, "doctor");

	for (size_t i = 0; i < doctor->nr_findings; i++)
		if (strcmp(doctor->findings[i].rule, "sparsecore_offload") == 0)
			return &doctor->findings[i];
	return NULL;
}

TEST(a_mark_on_both_sides_says_what_an_offload_costs)
{
	struct given *given = given_run(false, true, BYTES_100_US);

	assert_int_equal(nr_rows(given, "sparsecore", "offloads"), 2);
	assert_text(offload(given, "call-start.1", "linked_by"), "stats");
	assert_int_equal(ts_value_int(offload(given, "call-start.1", "executions")), 2);
	assert_offload_us(given, "call-start.1", "sparsecore_ps", 2 * 290);
	assert_offload_us(given, "call-start.1", "exposed_wait_ps", 2 * 301);
	assert_offload_us(given, "call-start.1", "hidden_ps", 0);
	assert_offload_us(given, "call-start.1", "tensorcore_estimate_ps", 2 * 100);
	assert_offload_us(given, "call-start.1", "loss_ps", 2 * 201);
	assert_offload_us(given, "call-start.2", "sparsecore_ps", 2 * 380);
	assert_offload_us(given, "call-start.2", "exposed_wait_ps", 2 * 2);
	assert_offload_us(given, "call-start.2", "hidden_ps", 2 * 400);
	assert_offload_us(given, "call-start.2", "loss_ps", 0);
	assert_us(given, "sparsecore", "exposed_wait_ps", 2 * 303);
	assert_us(given, "sparsecore", "loss_ps", 2 * 201);
	assert_us(given, "sparsecore", "unlinked_ps", 0);
	done(given);
}

TEST(the_doctor_names_the_one_that_is_waited_for)
{
	struct given *given = given_run(false, true, BYTES_100_US);
	const struct ts_finding *found = finding(given);

	assert_non_null(found);
	assert_int_equal(found->impact_ps, 2 * 201 * US);
	assert_int_equal(found->nr_where, 1);
	assert_true(ts_bytes_is(found->where[0].op, "call-done.1"));
	assert_true(ts_bytes_has(found->evidence, "call-start.1"));
	assert_false(ts_bytes_has(found->evidence, "call-start.2"));
	done(given);
}

TEST(busy_time_and_ops_of_a_sparse_core_are_its_own)
{
	struct given *given = given_run(false, true, BYTES_100_US);

	assert_us(given, "sparsecore", "busy_ps", 2 * (280 + 370));
	assert_int_equal(ts_value_int(cell(given, "sparsecore", "cores", 0, "device_id")), 0);
	assert_int_equal(ts_value_int(cell(given, "sparsecore", "cores", 0, "module_count")), 4);
	assert_text(cell(given, "sparsecore", "ops", 0, "name"), "all-gather.2");
	assert_int_equal(ts_value_int(cell(given, "sparsecore", "ops", 0, "self_time_ps")),
			 2 * 370 * US);
	assert_int_equal(cell(given, "sparsecore", "ops", 0, "bytes_accessed").type, TS_VALUE_NULL);
	assert_int_equal(ts_value_int(cell(given, "sparsecore", "ops", 1, "bytes_accessed")), 2000);
	assert_int_equal(nr_rows(given, "sparsecore", "waits"), 1);
	assert_int_equal(ts_value_int(cell(given, "sparsecore", "waits", 0, "exposed_wait_ps")),
			 2 * 303 * US);
	done(given);
}

/* Its time is not the cores' time: with and without it, the run takes as long on as many cores. */
TEST(a_sparse_core_is_no_core_of_the_run)
{
	static const char *const fields[] = { "total_ps",
					      "wall_ps",
					      "cores",
					      "buckets.idle_ps",
					      "buckets.compute_ps",
					      "buckets.memory_wait_ps",
					      "duty_cycle_pct" };
	struct given *with = given_run(false, true, BYTES_100_US), *without = given_nothing();

	given_tensor_core(without, "/device:TPU:0", false, true, BYTES_100_US);
	analyse(without, 1000);
	for (size_t i = 0; i < TS_NELEM(fields); i++)
		assert_near(field(with, "time", fields[i]),
			    ts_value_number(field(without, "time", fields[i])), 0);
	assert_int_equal(nr_rows(with, "ops", "ops"), nr_rows(without, "ops", "ops"));
	assert_int_equal(with->mem.run.profile.nr_devices, 1);
	assert_int_equal(view(without, "sparsecore")->nr_tables, 0);
	assert_int_equal(view(without, "sparsecore")->nr_fields, 0);
	done(with);
	done(without);
}

TEST(the_compilers_word_and_the_clock_do_without_marks)
{
	struct given *given = given_run(true, false, BYTES_100_US);

	assert_text(offload(given, "call-start.1", "linked_by"), "hlo");
	assert_offload_us(given, "call-start.1", "sparsecore_ps", 2 * 290);
	assert_offload_us(given, "call-start.1", "loss_ps", 2 * 201);
	assert_text(offload(given, "call-start.2", "linked_by"), "hlo");
	assert_offload_us(given, "call-start.2", "sparsecore_ps", 2 * 380);
	assert_offload_us(given, "call-start.2", "hidden_ps", 2 * 400);
	done(given);
}

/* Of the 300 us at the done it was busy from 10 to 300: the wait starts at 1, so 290 are its. */
TEST(the_clock_alone_finds_what_is_waited_for)
{
	struct given *given = given_run(false, false, BYTES_100_US);

	assert_int_equal(nr_rows(given, "sparsecore", "offloads"), 1);
	assert_text(offload(given, "call-start.1", "linked_by"), "overlap");
	assert_offload_us(given, "call-start.1", "exposed_wait_ps", 2 * 290);
	assert_offload_us(given, "call-start.1", "loss_ps", 2 * 190);
	done(given);
}

TEST(without_bytes_the_estimate_and_the_loss_are_unknown)
{
	struct given *given = given_run(false, true, 0);

	assert_int_equal(offload(given, "call-start.1", "tensorcore_estimate_ps").type,
			 TS_VALUE_NULL);
	assert_int_equal(offload(given, "call-start.1", "loss_ps").type, TS_VALUE_NULL);
	assert_offload_us(given, "call-start.1", "exposed_wait_ps", 2 * 301);
	assert_null(finding(given));
	done(given);
}

/* SparseCore 1 of TPU:1 and "SparseCore" of TPU:10 are not TPU:1's neighbours by name alone. */
TEST(a_sparse_core_belongs_to_the_device_of_its_number)
{
	struct given *given = given_nothing();
	const struct ts_profile *profile = &given->mem.run.profile;

	given_tensor_core(given, "/device:TPU:1", false, true, BYTES_100_US);
	given_sparse_core(given, "/device:TPU:10 SparseCore 0", true);
	given_sparse_core(given, "/device:TPU:1 SparseCore 1", true);
	analyse(given, 1000);
	assert_int_equal(profile->planes[1].tensor_core, TS_NONE);
	assert_int_equal(profile->planes[2].tensor_core, 0);
	assert_int_equal(profile->planes[2].device, TS_NONE);
	assert_int_equal(cell(given, "sparsecore", "cores", 0, "device_id").type, TS_VALUE_NULL);
	done(given);
}

TEST(a_device_has_a_row_for_each_of_its_sparse_cores)
{
	struct given *given = given_run(false, true, BYTES_100_US);
	const struct ts_result *result = view(given, "sparsecore");

	assert_int_equal(result->nr_tracks, 1);
	assert_string_equal(result->tracks[0].name, "SparseCore 0");
	assert_int_equal(result->tracks[0].device, 0);
	assert_int_equal(result->tracks[0].nr_slices, 4);
	assert_int_equal(result->tracks[0].slices[0].start_ps, 15 * US);
	assert_int_equal(result->tracks[0].slices[0].end_ps, 295 * US);
	done(given);
}

/* Its bytes over links of unknown number take an unknown time: HBM alone would promise too much. */
TEST(a_collective_whose_links_are_unknown_has_no_estimate)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	given_op(&xp, (struct offload_op){ WAITED, "all-gather-start.1", "all-gather-start",
					   "%all-gather-start.1 = all-gather-start(%p)" THREAD,
					   BYTES_100_US });
	given_op(&xp, (struct offload_op){ WAITED_DONE, "all-gather-done.1", "all-gather-done",
					   "%d = f32[8] all-gather-done(%all-gather-start.1)", 0 });
	xp_line(&xp, "XLA Ops", 0);
	marked(&xp, WAITED, 0, 1, 0x8f30a352);
	marked(&xp, WAITED_DONE, 1, 300, 0);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	given_sparse_core(given, "/device:TPU:0 SparseCore 0", true);
	analyse(given, 0);
	assert_offload_us(given, "all-gather-start.1", "exposed_wait_ps", 301);
	assert_int_equal(offload(given, "all-gather-start.1", "loss_ps").type, TS_VALUE_NULL);
	assert_null(finding(given));
	done(given);
}

/* A start that is not followed by a done in the profile: no wait was seen. */
TEST(without_its_done_a_wait_is_unknown)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	given_op(&xp, (struct offload_op){ WAITED, "call-start.1", "async-start",
					   "%call-start.1 = call-start(%p)", BYTES_100_US });
	xp_line(&xp, "XLA Ops", 0);
	marked(&xp, WAITED, 0, 1, 9);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	given_sparse_core(given, "/device:TPU:0 SparseCore 0", true);
	analyse(given, 0);
	assert_int_equal(offload(given, "call-start.1", "exposed_wait_ps").type, TS_VALUE_NULL);
	assert_int_equal(offload(given, "call-start.1", "loss_ps").type, TS_VALUE_NULL);
	assert_int_equal(offload(given, "call-start.1", "sparsecore_ps").type, TS_VALUE_NULL);
	assert_us(given, "sparsecore", "unlinked_ps", 2 * (290 + 380));
	done(given);
}
