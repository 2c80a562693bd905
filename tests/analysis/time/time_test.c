/* SPDX-License-Identifier: MIT */
/* Time accounting by profiles drawn by hand, and that it adds up for any. */
#include "tests/analysis/given.h"
#include "tests/base/rng.h"

static const char *const buckets[] = { "compute_ps",	   "below_roofline_ps",
				       "memory_wait_ps",   "communication_ps",
				       "host_transfer_ps", "rematerialization_ps",
				       "unexplained_ps",   "compilation_ps",
				       "input_ps",	   "launch_ps",
				       "idle_ps" };

/* Buckets sum to wall x cores; those of a step to its time on all cores. */
static void assert_adds_up(struct given *given)
{
	int64_t sum = 0, wall = ts_value_int(field(given, "time", "wall_ps"));
	int64_t cores = ts_value_int(field(given, "time", "cores"));
	char name[64];

	for (size_t b = 0; b < TS_NELEM(buckets); b++) {
		snprintf(name, sizeof(name), "buckets.%s", buckets[b]);
		sum += TS_MAX(ts_value_int(field(given, "time", name)), 0); /* unknown: in idle */
	}
	assert_int_equal(sum, wall * cores);
	assert_int_equal(sum, ts_value_int(field(given, "time", "total_ps")));
	for (size_t i = 0; i < nr_rows(given, "time", "per_step"); i++) {
		int64_t step = 0;

		for (size_t b = 0; b < TS_NELEM(buckets); b++)
			step += TS_MAX(ts_value_int(cell(given, "time", "per_step", i, buckets[b])),
				       0);
		assert_int_equal(step,
				 ts_value_int(cell(given, "time", "per_step", i, "total_ps")));
	}
}

/* Ids of ops, one of each class. */
enum { COMPUTE = 1, BOUND, COPY, REDUCE, INFEED, REMAT, LOOP, MODULE, MARK };

/* At the peaks of given_core(), 10 us are 1.97e9 FLOPs or 8.19e6 bytes of HBM. */
static void op_of(struct xp *xp, int64_t id, const char *name, const char *category, int64_t flops,
		  int64_t bytes)
{
	struct xp_meta meta = xp_meta(xp, id, name, name);

	xp_stat_text(xp, XP_META_STATS, "hlo_category", category);
	xp_stat_uint(xp, XP_META_STATS, "program_id", PROGRAM);
	xp_stat_uint(xp, XP_META_STATS, "symbol_id", (uint64_t)id);
	xp_stat_int(xp, XP_META_STATS, "flops", flops);
	xp_stat_int(xp, XP_META_STATS, "bytes_accessed", bytes);
	xp_meta_end(xp, meta);
}

static void op_that_needs(struct xp *xp, int64_t id, const char *name, int64_t flops, int64_t bytes)
{
	op_of(xp, id, name, "loop fusion", flops, bytes);
}

static void classes(struct xp *xp)
{
	op_that_needs(xp, COMPUTE, "fusion.1", 0,
		      0); /* of unknown cost: its category says that it computes */
	op_that_needs(xp, BOUND, "fusion.2", 1, 8190000);
	xp_op(xp, COPY, "copy-done.3", "copy-done", PROGRAM, 3);
	xp_op(xp, REDUCE, "all-reduce.4", "all-reduce", PROGRAM, 4);
	xp_op(xp, INFEED, "infeed.5", "infeed", PROGRAM, 5);
	xp_op(xp, REMAT, "fusion.6.remat", "loop fusion", PROGRAM, 6);
	xp_op(xp, LOOP, "while.7", "while", PROGRAM, 7);
	xp_name(xp, MODULE, "jit_f(7)");
	xp_name(xp, MARK, "0");
}

/*
 * 788e6 FLOPs are 4 us at the peak, 4 914 000 bytes 6 us: 2 beyond. In 10 us 4 are left over, below the roofline; 6 us are explained; 5 us are
 * less than the bytes need, so the work is not believed. No class has 40 % of the 21 us.
 */
TEST(an_ops_time_is_divided_by_what_explains_it)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	op_that_needs(&xp, COMPUTE, "fusion.1", 788000000, 4914000);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, COMPUTE, 0, 10);
	given_event(&xp, COMPUTE, 10, 6);
	given_event(&xp, COMPUTE, 16, 5);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "time", "buckets.compute_ps", 8);
	assert_us(given, "time", "buckets.memory_wait_ps", 4);
	assert_us(given, "time", "buckets.below_roofline_ps", 4);
	assert_us(given, "time", "buckets.unexplained_ps", 5);
	assert_us(given, "time", "explained.matrix_ps", 8);
	assert_us(given, "time", "explained.hbm_ps", 4);
	assert_true(ts_bytes_has(field(given, "time", "bottleneck").as.s,
				 "Nothing dominates: compute 38.1 %, "));
	assert_adds_up(given);
	done(given);
}

/*
 *	       0      10      20     30        40       50         60     70
 *	ops    compute bound   copy   reduce    infeed   remat      -      compute
 */
TEST(each_class_has_its_bucket)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	classes(&xp);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 6; i++)
		given_event(&xp, COMPUTE + i, i * 10, 10);
	given_event(&xp, COMPUTE, 70, 5);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "time", "wall_ps", 75);
	assert_us(given, "time", "buckets.compute_ps", 15);
	assert_us(given, "time", "explained.kind_ps", 15);
	assert_us(given, "time", "buckets.memory_wait_ps", 20);
	assert_us(given, "time", "buckets.communication_ps", 10);
	assert_us(given, "time", "buckets.host_transfer_ps", 10);
	assert_us(given, "time", "buckets.rematerialization_ps", 10);
	assert_us(given, "time", "buckets.idle_ps", 10);
	/* 65 us of ops, 10 of them an infeed, of 75: XProf's duty cycle */
	assert_near(field(given, "time", "duty_cycle_pct"), 55. / 75 * 100, 1e-9);
	assert_adds_up(given);
	done(given);
}

/* A loop has the moments in which nothing inside it runs. */
TEST(the_innermost_op_has_the_moment)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	classes(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, LOOP, 0, 100);
	given_event(&xp, REDUCE, 10, 30);
	given_event(&xp, COPY, 50, 20);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "time", "buckets.unexplained_ps", 50); /* the loop's own */
	assert_us(given, "time", "buckets.communication_ps", 30);
	assert_us(given, "time", "buckets.memory_wait_ps", 20);
	assert_adds_up(given);
	done(given);
}

static void host_line(struct given *given, const char *name, int64_t start_us, int64_t dur_us)
{
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");

	xp_name(&xp, 1, name);
	xp_line(&xp, "python", 0);
	given_event(&xp, 1, start_us, dur_us);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

/*
 *	           0      10               60      80   100
 *	ops        compute                 compute      compute (100-110)
 *	compile       [5          30]
 *	input                [20      50]
 *	gap 10-60: compilation 10-30, input 30-50, launch 50-60; gap 80-100: launch
 */
TEST(gaps_belong_to_what_the_hosts_did)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	classes(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, COMPUTE, 0, 10);
	given_event(&xp, COMPUTE, 60, 20);
	given_event(&xp, COMPUTE, 100, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	host_line(given, "backend_compile", 5, 25);
	host_line(given, "shard_args", 20, 30);
	host_line(given, "PjitFunction(f)", 0, 110); /* what is left of it */
	analyse(given, 0);
	assert_us(given, "time", "buckets.compute_ps", 40);
	assert_us(given, "time", "buckets.compilation_ps", 20);
	assert_us(given, "time", "buckets.input_ps", 20);
	assert_us(given, "time", "buckets.launch_ps", 30);
	assert_us(given, "time", "buckets.idle_ps", 0);
	assert_us(given, "time", "compilation_host_ps", 25);
	assert_int_equal(ts_value_int(field(given, "time", "compilation_count")), 1);
	assert_int_equal(ts_value_int(cell(given, "time", "idle_gaps", 0, "start_ps")), 10 * US);
	assert_int_equal(ts_value_int(cell(given, "time", "idle_gaps", 0, "duration_ps")), 50 * US);
	assert_int_equal(ts_value_int(cell(given, "time", "idle_gaps", 1, "start_ps")), 80 * US);
	assert_true(ts_bytes_is(cell(given, "time", "idle_gaps", 1, "cause").as.s, "launch"));
	assert_adds_up(given);
	done(given);
}

/*
 *	         0       20     30       60
 *	steps    [0      20]    [30      60]
 *	ops      copy 0-10   compute 15-45     reduce 50-70
 *	step 0: memory 10, idle 5, compute 5; step 1: compute 15, idle 5, communication 10
 */
TEST(what_crosses_a_step_is_cut_there)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	classes(&xp);
	xp_line(&xp, "Steps", 0);
	given_event(&xp, MARK, 0, 20);
	given_event(&xp, MARK, 30, 30);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, COPY, 0, 10);
	given_event(&xp, COMPUTE, 15, 30);
	given_event(&xp, REDUCE, 50, 20);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "time", "per_step"), 2);
	assert_int_equal(ts_value_int(cell(given, "time", "per_step", 0, "memory_wait_ps")),
			 10 * US);
	assert_int_equal(ts_value_int(cell(given, "time", "per_step", 0, "compute_ps")), 5 * US);
	assert_int_equal(ts_value_int(cell(given, "time", "per_step", 0, "idle_ps")), 5 * US);
	assert_int_equal(ts_value_int(cell(given, "time", "per_step", 1, "compute_ps")), 15 * US);
	assert_int_equal(ts_value_int(cell(given, "time", "per_step", 1, "idle_ps")), 5 * US);
	assert_int_equal(ts_value_int(cell(given, "time", "per_step", 1, "communication_ps")),
			 10 * US);
	assert_us(given, "time", "buckets.communication_ps", 20);
	assert_us(given, "time", "wall_ps", 70);
	assert_adds_up(given);
	done(given);
}

/* Steps and modules widen the wall; a core that waits for the other is idle. */
TEST(two_cores_share_the_wall)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	classes(&xp);
	xp_line(&xp, "XLA Modules", 0);
	given_event(&xp, MODULE, 5, 20);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, COMPUTE, 10, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp = given_core(given, "/device:TPU:1");
	classes(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, REDUCE, 30, 15);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp = given_core(given, "/device:TPU:2"); /* nothing ran on it: it is no core of this run */
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "time", "wall_start_ps", 5);
	assert_us(given, "time", "wall_ps", 40);
	assert_int_equal(ts_value_int(field(given, "time", "cores")), 2);
	assert_us(given, "time", "total_ps", 80);
	assert_us(given, "time", "buckets.compute_ps", 10);
	assert_us(given, "time", "buckets.communication_ps", 15);
	assert_us(given, "time", "buckets.idle_ps", 55);
	assert_adds_up(given);
	done(given);
}

/*
 * Three streams. A moment belongs to the first of compute, memory, communication, host transfer.
 *	gemm      [0   20]
 *	nccl         [10      40]
 *	D2D                [30      60]
 *	H2D      [0                             90]
 */
TEST(of_a_gpus_streams_what_hides_has_the_moment)
{
	static const char *const kernels[] = { "gemm", "ncclDevKernel_AllReduce", "MemcpyD2D",
					       "MemcpyH2D" };
	static const int64_t spans[][2] = { { 0, 20 }, { 10, 30 }, { 30, 30 }, { 0, 90 } };
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/device:GPU:0");

	for (int64_t i = 0; i < 4; i++) {
		char stream[32];

		xp_name(&xp, i, kernels[i]);
		snprintf(stream, sizeof(stream), "Stream #%d(x)", (int)i);
		xp_line(&xp, stream, 0);
		given_event(&xp, i, spans[i][0], spans[i][1]);
		xp_line_end(&xp);
	}
	xp_plane_end(&xp);
	analyse(given, 1000);
	assert_us(given, "time", "buckets.compute_ps", 20); /* gemm, by its name */
	assert_us(given, "time", "buckets.communication_ps", 10);
	assert_us(given, "time", "buckets.memory_wait_ps", 30);
	assert_us(given, "time", "buckets.host_transfer_ps", 30);
	assert_us(given, "time", "buckets.idle_ps", 0);
	assert_adds_up(given);
	done(given);
}

static void random_line(struct given *given, struct xp *xp, struct rng *rng, const char *name)
{
	int64_t at = 0;

	xp_line(xp, name, 0);
	for (uint64_t i = rng_below(rng, 60); i > 0; i--) {
		at += (int64_t)rng_below(rng, 12) * (rng_below(rng, 5) != 0) -
		      (rng_below(rng, 20) == 0);
		given_event(xp, COMPUTE + (int64_t)rng_below(rng, 7), TS_MAX(at, 0),
			    (int64_t)rng_below(rng, 25));
	}
	xp_line_end(xp);
}

/* Any lines, overlapping, unsorted, with steps that are marked or not, on TPUs and GPUs: it adds up,
 * with the row for viewers and without, on the same numbers. */
TEST(it_adds_up_whatever_ran)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct given *given = given_nothing();
		struct rng rng = rng_of(seed);
		bool gpu = rng_below(&rng, 3) == 0;

		for (uint64_t cores = 1 + rng_below(&rng, 3); cores > 0; cores--) {
			struct xp xp = given_core(given, gpu ? "/device:GPU:0" : "/device:TPU:0");
			int64_t at = (int64_t)rng_below(&rng, 10);

			classes(&xp);
			xp_line(&xp, rng_below(&rng, 2) ? "Steps" : "XLA Modules", 0);
			for (uint64_t i = rng_below(&rng, 8); i > 0; i--, at += 40)
				given_event(&xp, MODULE, at, (int64_t)rng_below(&rng, 60));
			xp_line_end(&xp);
			for (uint64_t i = 1 + (gpu ? rng_below(&rng, 4) : 0); i > 0; i--)
				random_line(given, &xp, &rng,
					    gpu ? "Stream #1(Compute)" : "XLA Ops");
			xp_plane_end(&xp);
		}
		host_line(given, "backend_compile", (int64_t)rng_below(&rng, 200), 50);
		host_line(given, "shard_args", (int64_t)rng_below(&rng, 200), 80);
		analyse(given, seed % 2 ? 0 : 100);
		if (ts_value_int(field(given, "time", "cores")) > 0)
			assert_adds_up(given);
		done(given);
	}
}

TEST(without_devices_there_is_no_time)
{
	struct given *given = given_nothing();

	host_line(given, "backend_compile", 0, 10);
	analyse(given, 0);
	assert_int_equal(field(given, "time", "total_ps").type, TS_VALUE_NULL);
	assert_int_equal(field(given, "time", "duty_cycle_pct").type, TS_VALUE_NULL);
	assert_us(given, "time", "compilation_host_ps", 10);
	done(given);
}

/* Ops by the words XLA has for them, 10 us each in turn, and the bucket of each. */
TEST(an_ops_category_and_memory_say_its_bucket)
{
	static const struct {
		const char *name, *text, *category, *bucket;
	} given_ops[] = {
		{ "send.1", NULL, "host send", "host_transfer" },
		{ "send-done.2", NULL, "host send-done", "host_transfer" },
		{ "recv-done.3", NULL, "host recv-done", "host_transfer" },
		{ "outfeed.4", NULL, "outfeed", "host_transfer" },
		{ "recv-done.5", NULL, "recv-done", "communication" }, /* from another chip */
		{ "psum.6", NULL, "all-reduce-done", "communication" },
		{ "copy-done.7", "%copy-done.7 = f32[8]{0:S(5)} copy-done(%a)", "copy-done",
		  "host_transfer" },
		{ "copy-done.8", "%copy-done.8 = f32[8]{0} copy-done(%a)", "copy-done",
		  "memory_wait" },
		{ "slice-done.9", "%slice-done.9 = f32[8]{0:S(5)} async-done(%a)", "slice-done",
		  "host_transfer" },
		{ "transpose.10", NULL, "data formatting", "memory_wait" }, /* of unknown bytes */
		{ "all-reduce.11.remat", NULL, "all-reduce", "rematerialization" },
		{ "copy.12.remat", NULL, "copy", "rematerialization" },
		{ "kernel.13", NULL, "custom-call", "unexplained" }, /* of unknown cost */
	};
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	int64_t expected[TS_NELEM(buckets)] = { 0 };

	for (size_t i = 0; i < TS_NELEM(given_ops); i++) {
		struct xp_meta meta =
			xp_meta(&xp, (int64_t)i + 1,
				given_ops[i].text ? given_ops[i].text : given_ops[i].name,
				given_ops[i].name);

		xp_stat_text(&xp, XP_META_STATS, "hlo_category", given_ops[i].category);
		xp_stat_uint(&xp, XP_META_STATS, "program_id", PROGRAM);
		xp_stat_uint(&xp, XP_META_STATS, "symbol_id", i + 1);
		xp_meta_end(&xp, meta);
		for (size_t b = 0; b < TS_NELEM(buckets); b++)
			if (strncmp(buckets[b], given_ops[i].bucket, strlen(given_ops[i].bucket)) ==
			    0)
				expected[b] += 10;
	}
	xp_line(&xp, "XLA Ops", 0);
	for (size_t i = 0; i < TS_NELEM(given_ops); i++)
		given_event(&xp, (int64_t)i + 1, (int64_t)i * 10, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	for (size_t b = 0; b < TS_NELEM(buckets); b++) {
		char name[64];

		snprintf(name, sizeof(name), "buckets.%s", buckets[b]);
		if (expected[b] > 0) /* what hosts did is unknown here */
			assert_us(given, "time", name, expected[b]);
	}
	assert_adds_up(given);
	done(given);
}

/*
 * A loop that waits for its input inside, and a host at work all the time: an op that runs has the
 * moment, whatever the host does.
 *	loop      [0                     60]
 *	infeed       [10  30]
 *	compute               [35  50]
 *	compile [0                             80]
 *	input   [0                                   100]
 *	ops                                       [90  100]
 */
TEST(an_op_that_runs_has_the_moment_whatever_the_host_does)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	classes(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, LOOP, 0, 60);
	given_event(&xp, INFEED, 10, 20);
	given_event(&xp, COMPUTE, 35, 15);
	given_event(&xp, COPY, 90, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	host_line(given, "backend_compile", 0, 80);
	host_line(given, "InfeedEnqueue", 0, 100);
	analyse(given, 0);
	assert_us(given, "time", "buckets.host_transfer_ps", 20);
	assert_us(given, "time", "buckets.compute_ps", 15);
	assert_us(given, "time", "buckets.unexplained_ps", 25); /* the loop's own */
	assert_us(given, "time", "buckets.compilation_ps", 20);
	assert_us(given, "time", "buckets.input_ps", 10);
	assert_us(given, "time", "buckets.memory_wait_ps", 10);
	assert_us(given, "time", "buckets.idle_ps", 0);
	assert_adds_up(given);
	done(given);
}

/* One core that computes 0-10 and 50-60, into a file of its own. */
static void core_with_a_gap(struct given *given)
{
	struct xp xp = given_core(given, "/device:TPU:0");

	classes(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, COMPUTE, 0, 10);
	given_event(&xp, COMPUTE, 50, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static void add_host(struct given *given, const struct given *other, const char *name)
{
	assert_int_equal(memory_run_add(&given->mem, ts_buf_bytes(&other->bytes), name, NULL),
			 TS_OK);
}

/*
 * The first host compiles 10-30, the second feeds input 20-40: the gap of the first's core is 20
 * compilation and 20 idle, that of the second's 20 input and 20 idle.
 */
TEST(a_cores_gaps_belong_to_its_own_host)
{
	struct given *given = given_nothing(), *other = given_nothing();

	core_with_a_gap(given);
	host_line(given, "backend_compile", 10, 20);
	core_with_a_gap(other);
	host_line(other, "InfeedEnqueue", 20, 20);
	add_host(given, other, "other");
	analyse(given, 0);
	assert_int_equal(nr_rows(given, "time", "per_core"), 2);
	for (size_t i = 0; i < 2; i++) {
		/* the other host was read first */
		assert_int_equal(ts_value_int(cell(given, "time", "per_core", i, "compilation_ps")),
				 i == 1 ? 20 * US : 0);
		assert_int_equal(ts_value_int(cell(given, "time", "per_core", i, "input_ps")),
				 i == 0 ? 20 * US : 0);
		assert_int_equal(ts_value_int(cell(given, "time", "per_core", i, "idle_ps")),
				 20 * US);
	}
	/* one core a host: the hosts' sums are the cores' */
	assert_int_equal(nr_rows(given, "time", "per_host"), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ts_value_int(cell(given, "time", "per_host", i, "cores")), 1);
		assert_int_equal(ts_value_int(cell(given, "time", "per_host", i, "compilation_ps")),
				 i == 1 ? 20 * US : 0);
		assert_int_equal(ts_value_int(cell(given, "time", "per_host", i, "idle_ps")),
				 20 * US);
		assert_true(ts_bytes_eq(cell(given, "time", "per_host", i, "host").as.s,
					cell(given, "time", "per_core", i, "host").as.s));
	}
	assert_us(given, "time", "compilation_host_ps", 20);
	assert_adds_up(given);
	done(given);
	done(other);
}

/* A controller that has no cores works for all hosts that do; compilation before input there too. */
TEST(a_host_without_cores_works_for_all)
{
	struct given *given = given_nothing(), *other = given_nothing();

	core_with_a_gap(given);
	host_line(given, "InfeedEnqueue", 10, 40);
	host_line(other, "backend_compile", 20, 10);
	add_host(given, other, "controller");
	analyse(given, 0);
	assert_us(given, "time", "buckets.compilation_ps", 10);
	assert_us(given, "time", "buckets.input_ps", 30);
	assert_us(given, "time", "buckets.idle_ps", 0);
	assert_adds_up(given);
	done(given);
	done(other);
}

/* A GPU's gap, in which no stream runs anything, goes by its host as a core's does. */
TEST(a_gpus_gaps_belong_to_its_host)
{
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/device:GPU:0");

	xp_name(&xp, 1, "gemm");
	xp_line(&xp, "Stream #1(Compute)", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 1, 60, 10);
	xp_line_end(&xp);
	xp_line(&xp, "Stream #2(Compute)", 0);
	given_event(&xp, 1, 5, 15);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	host_line(given, "backend_compile", 0, 30);
	host_line(given, "shard_args", 25, 25);
	analyse(given, 0);
	assert_us(given, "time", "buckets.compute_ps", 30);
	assert_us(given, "time", "buckets.compilation_ps", 10);
	assert_us(given, "time", "buckets.input_ps", 20);
	assert_us(given, "time", "buckets.idle_ps", 10);
	assert_adds_up(given);
	done(given);
}

static void ops_with_costs(struct xp *xp)
{
	classes(xp);
	op_that_needs(xp, MARK + 1, "fusion.9", 1, 819000);	  /* 1 us of HBM */
	op_that_needs(xp, MARK + 2, "fusion.10", 19700000000, 0); /* 100 us of the matrix unit */
	op_that_needs(xp, MARK + 3, "fusion.11", 0, 81900000);	  /* 100 us of HBM */
	op_of(xp, MARK + 4, "kernel.12", "custom-call", 0, 0);
}

static void then_verdict(struct given *given, const char *verdict, const char *bucket)
{
	analyse(given, 0);
	assert_true(ts_bytes_is(field(given, "time", "bottleneck").as.s, verdict));
	assert_true(ts_bytes_is(field(given, "time", "bottleneck_bucket").as.s, bucket));
	done(given);
}

static void assert_verdict_on(const char *device, const char *line, int64_t op, const char *verdict,
			      const char *bucket)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, device);

	ops_with_costs(&xp);
	xp_line(&xp, line, 0);
	given_event(&xp, op, 0, 100);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	then_verdict(given, verdict, bucket);
}

/* Compute has the most core time, yet the matrix units have less than half of it. */
TEST(a_verdict_praises_only_half_of_core_time)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	ops_with_costs(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, MARK + 2, 0, 100);
	given_event(&xp, COPY, 100, 60);
	given_event(&xp, MARK + 1, 160, 60);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	then_verdict(given, "Your workload is compute-bound", "compute");
}

static void assert_verdict(int64_t op, const char *verdict, const char *bucket)
{
	assert_verdict_on("/device:TPU:0", "XLA Ops", op, verdict, bucket);
}

/* Not the larger side of a roofline: what explains the time, or what it is beyond. */
TEST(a_verdict_says_no_more_than_a_rate_shows)
{
	assert_verdict(MARK + 2, "Your workload is compute-bound (good for TPU!)", "compute");
	/* a verdict names the limit; findings, which may be many, judge it */
	assert_verdict_on("/device:GPU:0", "Stream #1(Compute)", MARK + 2,
			  "Your workload is compute-bound", "compute");
	assert_verdict(MARK + 3, "Memory-bound: devices wait for HBM 100.0 % of the time",
		       "memory_wait");
	assert_verdict(COPY, "Waiting for copies within the device takes 100.0 % of device time",
		       "memory_wait");
	assert_verdict(
		MARK + 1,
		"Ops run below their rooflines: 99.0 % of device time is beyond what their work "
		"needs, most of it in fusion.9 (99.0 %)",
		"below_roofline");
	assert_verdict(MARK + 4,
		       "No limit is known: 100.0 % of device time is explained by neither the "
		       "work nor the kind of its ops, most of it in kernel.12 (100.0 %)",
		       "unexplained");
}

/* Half of the time computes what is not known: the whole is inferred, and no limit. */
TEST(compute_of_unknown_work_is_inferred_and_no_limit)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	ops_with_costs(&xp);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, COMPUTE, 0, 50);
	given_event(&xp, MARK + 3, 50, 50); /* too fast for its bytes: unexplained */
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_us(given, "time", "buckets.compute_ps", 50);
	assert_int_equal(field(given, "time", "buckets.compute_ps").origin, TS_INFERRED);
	assert_int_equal(cell(given, "time", "per_core", 0, "compute_ps").origin, TS_INFERRED);
	assert_int_equal(cell(given, "ops", "ops", 0, "compute_ps").origin, TS_INFERRED);
	assert_int_equal(field(given, "time", "bottleneck_bucket").type, TS_VALUE_NULL);
	assert_true(ts_bytes_is(field(given, "time", "bottleneck").as.s,
				"Nothing dominates: compute 50.0 %, unexplained 50.0 %"));
	done(given);
}
