/* SPDX-License-Identifier: MIT */
/* What the user's program named on its threads: told from the runtime's own events, and summed. */
#include "tests/analysis/given.h"

struct mark {
	const char *name;
	int64_t start_us, dur_us, step; /* step: -1: it does not mark one */
};

/* Events of one thread, a child behind its parent. */
static void put_thread(struct given *given, const char *thread, const struct mark *marks, size_t nr)
{
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");

	for (size_t i = 0; i < nr; i++)
		xp_name(&xp, (int64_t)i + 1, marks[i].name);
	xp_line(&xp, thread, 0);
	for (size_t i = 0; i < nr; i++) {
		size_t event = xp_begin_event(&xp, (int64_t)i + 1, marks[i].start_us * US,
					      marks[i].dur_us * US);

		if (marks[i].step >= 0)
			xp_stat_int(&xp, XP_EVENT_STATS, "step_num", marks[i].step);
		ts_pbw_end(xp.out, event);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static void assert_row(struct given *given, size_t row, const char *name, int64_t count,
		       int64_t total_us)
{
	assert_true(ts_bytes_is(cell(given, "scopes", "named", row, "name").as.s, name));
	assert_int_equal(ts_value_int(cell(given, "scopes", "named", row, "count")), count);
	assert_int_equal(ts_value_int(cell(given, "scopes", "named", row, "total_ps")),
			 total_us * US);
}

/*
 *	0                                                      100
 *	PjitFunction(g)                                            (0-2: when the host was first seen)
 *	  epoch 0 [10                              60]  evaluate [60    90]
 *	   train  [10       30] train [30       60]                 train 5 [95 100] inside the runtime
 *	     load [10 14]        load [30 36]
 */
static const struct mark job[] = {
	{ "PjitFunction(g)", 0, 2, -1 },
	{ "epoch 0", 10, 50, -1 },
	{ "train", 10, 20, 3 },
	{ "load", 10, 4, -1 },
	{ "$train.py:7 step", 14, 6, -1 },
	{ "ParseArguments", 15, 1, -1 },
	{ "train", 30, 30, 4 },
	{ "load", 30, 6, -1 },
	{ "evaluate", 60, 30, -1 },
	{ "backend_compile", 92, 8, -1 },
	{ "fusion", 93, 2, -1 },
	{ "train", 95, 5, 5 },
};

TEST(names_of_the_user_are_told_from_the_runtimes)
{
	struct given *given = given_nothing();

	put_thread(given, "python", job, TS_NELEM(job));
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "scopes", "named"), 4);
	assert_row(given, 0, "epoch 0", 1, 50);
	assert_row(given, 1, "train", 2, 50);
	assert_row(given, 2, "evaluate", 1, 30);
	assert_row(given, 3, "load", 2, 10);
	assert_true(ts_bytes_is(cell(given, "scopes", "named", 3, "inside").as.s, "train"));
	assert_true(ts_bytes_is(cell(given, "scopes", "named", 1, "inside").as.s, "epoch 0"));
	assert_int_equal(cell(given, "scopes", "named", 0, "inside").type, TS_VALUE_NULL);
	assert_int_equal(ts_value_int(cell(given, "scopes", "named", 3, "mean_ps")), 5 * US);
	assert_int_equal(ts_value_int(cell(given, "scopes", "named", 3, "min_ps")), 4 * US);
	assert_int_equal(ts_value_int(cell(given, "scopes", "named", 3, "max_ps")), 6 * US);
	assert_near(cell(given, "scopes", "named", 2, "share_pct"), 30, 1e-9);
	done(given);
}

TEST(epochs_stand_one_by_one)
{
	struct given *given = given_nothing();

	put_thread(given, "python", job, TS_NELEM(job));
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "scopes", "epochs"), 1);
	assert_int_equal(ts_value_int(cell(given, "scopes", "epochs", 0, "epoch")), 0);
	assert_int_equal(ts_value_int(cell(given, "scopes", "epochs", 0, "start_ps")), 10 * US);
	assert_int_equal(ts_value_int(cell(given, "scopes", "epochs", 0, "duration_ps")), 50 * US);
	assert_int_equal(ts_value_int(cell(given, "scopes", "epochs", 0, "steps")), 2);
	done(given);
}

TEST(a_job_on_the_cpu_has_the_steps_it_marked)
{
	struct given *given = given_nothing();

	put_thread(given, "python", job, TS_NELEM(job));
	analyse(given, 0);
	assert_int_equal(ts_value_int(field(given, "overview", "overview.step_count")), 2);
	assert_us(given, "overview", "overview.step_time_ps.mean", 25);
	assert_us(given, "overview", "overview.host_step_time_ps.max", 30);
	assert_us(given, "overview", "run.duration_ps", 100);
	assert_true(ts_bytes_is(field(given, "overview", "run.duration_of").as.s, "hosts"));
	assert_true(ts_bytes_is(field(given, "overview", "overview.step_source").as.s,
				"marked on the host as train"));
	assert_int_equal(ts_value_int(cell(given, "overview", "steps", 1, "step")), 4);
	assert_int_equal(ts_value_int(cell(given, "overview", "steps", 1, "start_ps")), 30 * US);
	assert_int_equal(cell(given, "overview", "steps", 1, "cores").type, TS_VALUE_NULL);
	assert_true(ts_bytes_is(cell(given, "overview", "steps", 1, "source").as.s, "host"));
	done(given);
}

/* A thread that never ran Python has the runtime's names alone. */
TEST(threads_of_the_runtime_have_no_scopes)
{
	static const struct mark pool[] = { { "dce", 0, 5, -1 }, { "algsimp", 5, 5, -1 } };
	struct given *given = given_nothing();

	put_thread(given, "tf_pool/12", pool, TS_NELEM(pool));
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "scopes", "named"), 0);
	assert_int_equal(field(given, "scopes", "step_count").type, TS_VALUE_NULL);
	done(given);
}

/* Two threads evaluate at once: 20 us of work in 12 us of time, of 20. */
TEST(a_share_counts_each_moment_once)
{
	static const struct mark one[] = { { "evaluate", 0, 10, -1 }, { "last", 19, 1, -1 } };
	static const struct mark two[] = { { "evaluate", 2, 10, -1 } };
	struct given *given = given_nothing();

	put_thread(given, "python", one, TS_NELEM(one));
	put_thread(given, "python", two, TS_NELEM(two));
	analyse(given, 0);
	assert_row(given, 0, "evaluate", 2, 20);
	assert_near(cell(given, "scopes", "named", 0, "share_pct"), 60, 1e-9);
	done(given);
}

/* The device's step 4 took 8 us, the host's mark of it 30; step 3 is not on the device. */
TEST(steps_of_hosts_and_devices_stand_side_by_side)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_name(&xp, 2, "4");
	xp_name(&xp, 3, "5");
	xp_line(&xp, "Steps", 0);
	given_event(&xp, 2, 40, 8);
	given_event(&xp, 3, 48, 4);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 40, 12);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	put_thread(given, "python", job, TS_NELEM(job));
	analyse(given, 0);
	assert_us(given, "overview", "overview.step_time_ps.mean", 6);
	assert_us(given, "overview", "overview.host_step_time_ps.mean", 25);
	assert_int_equal(ts_value_int(cell(given, "overview", "steps", 0, "host_duration_ps")),
			 30 * US);
	assert_int_equal(cell(given, "overview", "steps", 1, "host_duration_ps").type,
			 TS_VALUE_NULL);
	assert_true(ts_bytes_is(cell(given, "overview", "steps", 0, "source").as.s, "marked"));
	assert_true(ts_bytes_is(field(given, "overview", "run.duration_of").as.s, "devices"));
	done(given);
}

/*
 *	train            [0                                      100]
 *	 PjitFunction(f)     [10                        70]
 *	  trace_to_jaxpr     [10       30]                              with a call inside: [15 20]
 *	  backend_compile              [30      60]                     with a pass inside: [35 45]
 *	 shard_args                                     [70 80]
 */
TEST(the_parts_of_a_step_are_all_of_it)
{
	static const struct mark step[] = {
		{ "train", 0, 100, 1 },
		{ "PjitFunction(f)", 10, 60, -1 },
		{ "trace_to_jaxpr", 10, 20, -1 },
		{ "PjitFunction(g)", 15, 5, -1 },
		{ "backend_compile", 30, 30, -1 },
		{ "dce", 35, 10, -1 },
		{ "shard_args", 70, 10, -1 },
	};
	static const struct {
		const char *column, *layer;
		int64_t us;
	} parts[] = { { "total_ps", "train", 100 },
		      { "input_ps", "input", 10 },
		      { "trace_ps", "tracing and lowering", 20 },
		      { "compile_ps", "compilation", 30 },
		      { "dispatch_ps", "dispatch", 10 },
		      { "other_ps", "Python and other", 30 } };
	struct given *given = given_nothing();

	put_thread(given, "python", step, TS_NELEM(step));
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "scopes", "named"), 1);
	assert_int_equal(nr_rows(given, "scopes", "step_layers"), TS_NELEM(parts));
	for (size_t i = 0; i < TS_NELEM(parts); i++) {
		assert_int_equal(ts_value_int(cell(given, "scopes", "named", 0, parts[i].column)),
				 parts[i].us * US);
		assert_true(ts_bytes_is(cell(given, "scopes", "step_layers", i, "name").as.s,
					parts[i].layer));
		assert_int_equal(
			ts_value_int(cell(given, "scopes", "step_layers", i, "step_mean_ps")),
			parts[i].us * US);
	}
	done(given);
}

TEST(epochs_are_known_by_their_names)
{
	static const struct {
		const char *name;
		bool is_epoch;
		uint64_t number;
	} rows[] = {
		{ "epoch", true, UINT64_MAX }, { "Epoch 12", true, 12 },
		{ "epoch_3", true, 3 },	       { "train_epoch_3", true, 3 },
		{ "train/epoch=07", true, 7 }, { "epochs", false, 0 },
		{ "epoch_eval", false, 0 },    { "myepoch", false, 0 },
		{ "Epoch [1/10]", false, 0 },  { "", false, 0 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		uint64_t number;

		assert_int_equal(ts_scope_is_epoch(ts_bytes_of(rows[i].name), &number),
				 rows[i].is_epoch);
		if (rows[i].is_epoch)
			assert_int_equal(number, rows[i].number);
	}
}
