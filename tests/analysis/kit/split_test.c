/* SPDX-License-Identifier: MIT */
/*
 * What explains an op's time. Chips: v5e, 197e12 FLOP/s, 819e9 B/s of HBM, 1.5 GHz, a 128 x 128
 * array; v6e, 918e12 FLOP/s, a 256 x 256 array. Expected values are worked out beside them.
 */
#include "analysis/kit/split.h"
#include "model/launched.h"
#include "tests/analysis/feed.h"

static struct ts_context context_of(const struct feed *feed)
{
	return (struct ts_context){ .profile = &feed->profile, .rates = feed->rates };
}

static struct ts_split split_of(struct feed *feed, uint32_t op)
{
	struct ts_context ctx = context_of(feed);

	return ts_split_of(&ctx, 0, &feed->profile.ops[op]);
}

static struct ts_rates h100(void)
{
	return (struct ts_rates){ .peak_flops_per_s = 989.4e12,
				  .peak_f32_per_s = 494.7e12,
				  .peak_int8_per_s = NAN,
				  .peak_fp8_per_s = NAN,
				  .hbm_bytes_per_s = 3.35e12 };
}

/* One product of bf16[M,K] and bf16[K,N], in a module, as the op dot.1. */
static uint32_t add_product(struct feed *feed, const char *lhs, const char *rhs, const char *out,
			    int64_t cycles)
{
	struct ts_hlo_module *module = feed_module(feed, "jit_step", 7);
	struct ts_hlo_instr *dot;
	uint32_t op;

	feed_instr(feed, module, "a", "parameter", lhs, TS_NONE, TS_NONE)->parameter_number = 0;
	feed_instr(feed, module, "b", "parameter", rhs, TS_NONE, TS_NONE)->parameter_number = 1;
	dot = feed_instr(feed, module, "dot.1", "dot", out, 0, 1);
	feed_dot(feed, dot, 2);
	dot->backend.estimated_cycles = cycles;
	feed_op(feed, "dot.1", "convolution", 7, &op);
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	return op;
}

/*
 * 2 x 8192^3 = 1.0995e12 FLOPs / 197e12 = 5 581 277 298 ps. Its bytes, 3 x 128 MiB / 819e9 = 0.49 ms,
 * need less than that: nothing beyond it. 9 557 312 cycles / 1.5 GHz = 6 371 541 333 ps: 790 264 035
 * beyond. Of 10 ms the rest, 3 628 458 667 ps, is below its roofline.
 */
TEST(a_product_needs_the_array_first)
{
	struct feed *feed = feed_new();
	int64_t parts[TS_NR_SPLITS];
	struct ts_split split;
	uint32_t op;

	feed_device(feed, "TPU v5 lite");
	op = add_product(feed, "bf16[8192,8192]{1,0:T(8,128)(2,1)}",
			 "bf16[8192,8192]{1,0:T(8,128)(2,1)}", "bf16[8192,8192]{1,0:T(8,128)(2,1)}",
			 9557312);
	split = split_of(feed, op);
	assert_int_equal(split.whole, TS_NR_BUCKETS);
	assert_int_equal(split.need_ps[TS_SPLIT_MATRIX], INT64_C(5581277298));
	assert_int_equal(split.need_ps[TS_SPLIT_HBM], 0);
	assert_int_equal(split.need_ps[TS_SPLIT_ESTIMATE], INT64_C(790264035));
	ts_split_time(&split, INT64_C(10000000000), parts);
	assert_int_equal(parts[TS_SPLIT_BELOW], INT64_C(3628458667));
	assert_int_equal(parts[TS_SPLIT_REST], 0);
	feed_free(feed);
}

/*
 * K = 64 fills a quarter of v6e's array: 2 x 1024 x 1024 x 64 = 134 217 728 FLOPs take the time of
 * 536 870 912, which is 584 827 ps at 918e12 (146 207 at the peak of a full array).
 */
TEST(a_product_that_leaves_the_array_empty_needs_longer)
{
	struct feed *feed = feed_new();
	uint32_t op;

	feed_device(feed, "TPU v6 lite");
	op = add_product(feed, "bf16[1024,64]{1,0:T(8,128)(2,1)}",
			 "bf16[64,1024]{1,0:T(8,128)(2,1)}", "bf16[1024,1024]{1,0:T(8,128)(2,1)}",
			 0);
	assert_int_equal(split_of(feed, op).need_ps[TS_SPLIT_MATRIX], 584827);
	feed_free(feed);
}

/* An op of 788e6 FLOPs (4 us) and 4 914 000 bytes of HBM (6 us: 2 beyond), without a module. */
static uint32_t add_fusion(struct feed *feed)
{
	struct ts_op *fusion;
	uint32_t op;

	feed_device(feed, "TPU v5 lite");
	fusion = feed_op(feed, "fusion.1", "loop fusion", 7, &op);
	fusion->flops = 788000000;
	fusion->bytes_accessed = 4914000;
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	return op;
}

/* Each execution by itself, never more than it took. Its bytes need 6 us: 5.9 is what a peak is known to, 5 cannot be true. */
TEST(an_execution_has_no_more_than_its_time)
{
	static const struct {
		int64_t dur_ns, matrix_ns, hbm_ns, below_ns, rest_ns;
	} rows[] = { { 10000, 4000, 2000, 4000, 0 },
		     { 5900, 4000, 1900, 0, 0 },
		     { 5000, 0, 0, 0, 5000 },
		     { 0, 0, 0, 0, 0 } };
	struct feed *feed = feed_new();
	struct ts_split split = split_of(feed, add_fusion(feed));

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		int64_t parts[TS_NR_SPLITS];

		ts_split_time(&split, rows[i].dur_ns * TS_PS_PER_NS, parts);
		assert_int_equal(parts[TS_SPLIT_MATRIX], rows[i].matrix_ns * TS_PS_PER_NS);
		assert_int_equal(parts[TS_SPLIT_HBM], rows[i].hbm_ns * TS_PS_PER_NS);
		assert_int_equal(parts[TS_SPLIT_ESTIMATE], 0);
		assert_int_equal(parts[TS_SPLIT_KIND], 0);
		assert_int_equal(parts[TS_SPLIT_BELOW], rows[i].below_ns * TS_PS_PER_NS);
		assert_int_equal(parts[TS_SPLIT_REST], rows[i].rest_ns * TS_PS_PER_NS);
	}
	feed_free(feed);
}

/* VMEM's bytes are not HBM's: 819e6 bytes of VMEM (1 ms of HBM) need nothing of it. */
TEST(bytes_of_another_memory_need_nothing_of_hbm)
{
	struct feed *feed = feed_new();
	uint32_t op = add_fusion(feed);

	feed->profile.ops[op].hbm_read_bytes = 819000; /* 1 us, less than the product's 4 */
	feed->profile.ops[op].vmem_read_bytes = 819000000;
	feed->profile.ops[op].onchip_bytes = 819000000;
	assert_int_equal(split_of(feed, op).need_ps[TS_SPLIT_HBM], 0);
	feed->profile.ops[op].hbm_read_bytes = 5733000; /* 7 us: 3 beyond */
	assert_int_equal(split_of(feed, op).need_ps[TS_SPLIT_HBM], 3 * TS_PS_PER_US);
	feed_free(feed);
}

/* A kernel's events say 394e6 FLOPs (2 us) and 2 457 000 bytes (3 us: 1 beyond); its metadata nothing. */
TEST(a_kernel_is_explained_by_what_its_events_say)
{
	struct feed *feed = feed_new();
	struct ts_context ctx = context_of(feed);
	struct ts_split split;
	struct ts_op *kernel;
	uint32_t op;

	feed_device(feed, "TPU v5 lite");
	kernel = feed_op(feed, "kernel.1", "custom-call", 7, &op);
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	split = split_of(feed, op);
	for (int part = 0; part < TS_NR_NEEDS; part++)
		assert_int_equal(split.need_ps[part], 0);
	ctx.profile = &feed->profile;
	assert_int_equal(split.left, TS_SPLIT_REST);
	split = ts_split_of_call(&ctx, 0, kernel, 394000000, 2457000);
	assert_int_equal(split.left, TS_SPLIT_BELOW);
	assert_int_equal(split.need_ps[TS_SPLIT_MATRIX], 2 * TS_PS_PER_US);
	assert_int_equal(split.need_ps[TS_SPLIT_HBM], 1 * TS_PS_PER_US);
	feed_free(feed);
}

/* Of a kernel without a cost its operands are known, 819 000 bytes (1 us): they say nothing of what it computes. */
TEST(a_kernel_without_a_cost_has_no_roofline)
{
	struct feed *feed = feed_new();
	struct ts_op *kernel;
	uint32_t op;

	feed_device(feed, "TPU v5 lite");
	kernel = feed_op(feed, "kernel.1", "custom-call", 7, &op);
	kernel->bytes_accessed = 819000;
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	assert_int_equal(split_of(feed, op).need_ps[TS_SPLIT_HBM], 1 * TS_PS_PER_US);
	assert_int_equal(split_of(feed, op).left, TS_SPLIT_REST);
	feed_free(feed);
}

/* Of unknown work the kind is left: that of what XLA compiled is its category, of what a library wrote a part of its name. */
TEST(an_op_of_unknown_work_is_what_its_kind_is)
{
	static const struct {
		const char *name, *category;
		enum ts_split_part left;
	} rows[] = {
		{ "fusion.1", "loop fusion", TS_SPLIT_KIND },
		{ "sort.2", "sort", TS_SPLIT_KIND },
		{ "transpose.3", "transpose", TS_SPLIT_MOVE },
		{ "while.4", "while", TS_SPLIT_REST },
		{ "kernel.5", "custom-call", TS_SPLIT_REST },
		{ "flash_attention.6", "custom-call", TS_SPLIT_KIND },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct feed *feed = feed_new();
		int64_t parts[TS_NR_SPLITS];
		struct ts_split split;
		uint32_t op;

		feed_device(feed, "TPU v5 lite");
		feed_op(feed, rows[i].name, rows[i].category, 7, &op);
		assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
		split = split_of(feed, op);
		ts_split_time(&split, 1000, parts);
		assert_int_equal(parts[rows[i].left], 1000);
		feed_free(feed);
	}
}

/* H100: 989.4e12 FLOP/s of bf16, half of it of TF32; 3.35e12 B/s. */
TEST(a_kernel_is_split_by_its_operator)
{
	const struct {
		int64_t flops, bytes;
		uint8_t how;
		enum ts_split_part left;
		int64_t matrix_ps, hbm_ps;
	} rows[] = {
		/* 9.894e9 FLOPs: 10 us, of f32 20; 33.5e6 bytes: 10 us, and none beyond the product's */
		{ INT64_C(9894000000), 33500000, TS_HOW_KIND | TS_ATEN_BF16, TS_SPLIT_BELOW,
		  10000000, 0 },
		{ INT64_C(9894000000), 33500000, TS_HOW_KIND | TS_ATEN_F32, TS_SPLIT_BELOW,
		  20000000, 0 },
		{ TS_UNKNOWN, 33500000, TS_HOW_KIND | TS_HOW_NO_MATRIX, TS_SPLIT_BELOW, 0,
		  10000000 },
		{ TS_UNKNOWN, TS_UNKNOWN, TS_HOW_KIND, TS_SPLIT_KIND, 0, 0 },
		{ TS_UNKNOWN, TS_UNKNOWN, 0, TS_SPLIT_REST, 0, 0 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct feed *feed = feed_new();
		struct ts_context ctx;
		struct ts_split split;
		uint32_t op;

		feed_device(feed, "NVIDIA H100 80GB HBM3");
		feed->profile.devices[0].is_gpu = true;
		feed_op(feed, "somebodys_kernel", "", 0, &op)->has_program = false;
		assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
		feed->rates[0] = h100();
		ctx = context_of(feed);
		split = split_of(feed, op);
		split = ts_split_of_kernel(&ctx, 0, &split, rows[i].flops, rows[i].bytes,
					   rows[i].how);
		assert_int_equal(split.left, rows[i].left);
		assert_int_equal(split.need_ps[TS_SPLIT_MATRIX], rows[i].matrix_ps);
		assert_int_equal(split.need_ps[TS_SPLIT_HBM], rows[i].hbm_ps);
		feed_free(feed);
	}
}

/* On a chip that the table does not have work needs nothing that is known: what is known to work computes. */
TEST(an_unknown_chip_has_no_roofline)
{
	struct feed *feed = feed_new();
	struct ts_op *fusion;
	uint32_t op;
	struct ts_split split;

	feed_device(feed, "TPU v99");
	fusion = feed_op(feed, "fusion.1", "loop fusion", 7, &op);
	fusion->flops = fusion->bytes_accessed = INT64_MAX;
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	split = split_of(feed, op);
	assert_int_equal(split.whole, TS_NR_BUCKETS);
	for (int part = 0; part < TS_NR_NEEDS; part++)
		assert_int_equal(split.need_ps[part], 0);
	assert_int_equal(split.left, TS_SPLIT_KIND);
	feed_free(feed);
}
