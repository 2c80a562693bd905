/* SPDX-License-Identifier: MIT */
/*
 * Costs of single ops. Each expectation is worked out beside it by hand; the rules are those of
 * docs/analyses/cost-model.md. Whole modules are held against libtpu in tests/read/hlo_test.c.
 */
#include "tests/test.h"
#include "model/cost.h"
#include "read/hlo.h"
#include "tests/read/corpus.h"
#include "tests/read/hlo_make.h"

#define ADDER 50 /* computation ids */
#define INNER 60
#define MAIN  70

struct bench {
	struct make make;
	size_t comp;
	struct ts_arena arena;
	struct ts_hlo_module module;
};

/* Starts main; what it calls was made before. */
static void open_main(struct bench *bench)
{
	bench->comp = make_comp(&bench->make, "main");
}

static void open_bench(struct bench *bench)
{
	*bench = (struct bench){ .make = MAKE_INIT };
	make_reducer(&bench->make, "add", ADDER);
}

static uint32_t close_bench(struct bench *bench, const char *op)
{
	struct ts_error err = TS_ERROR_INIT;
	uint32_t at;

	make_end_comp(&bench->make, bench->comp, MAIN, 0);
	if (ts_hlo_read(&bench->arena, make_end(&bench->make, MAIN), TS_LIT("bench"),
			&bench->module, &err))
		fail_msg("%s", err.text);
	at = ts_hlo_find(&bench->module, ts_bytes_of(op));
	assert_int_not_equal(at, TS_NONE);
	return at;
}

static void release_bench(struct bench *bench)
{
	ts_buf_release(&bench->make.out);
	ts_arena_release(&bench->arena);
}

/* An op over operands of the given shapes (up to four), and what it costs. */
struct op_row {
	const char *opcode, *shape;
	const char *operands[4];
	int64_t called; /* 0: nothing */
	int64_t flops, transcendentals, bytes;
};

#define S8  "f32[8,128]{1,0:T(8,128)}" /* 4096 bytes */
#define S9  "f32[9,128]{1,0:T(8,128)}" /* 8192: a second tile */
#define IDX "s32[]{:T(128)}"	       /* 512 */

static const struct op_row op_rows[] = {
	{ "add", S8, { S8, S8 }, 0, 1024, 0, 12288 },
	{ "add", S9, { S9, S9 }, 0, 1152, 0, 24576 }, /* bytes with padding, flops without */
	{ "tanh", S8, { S8 }, 0, 0, 1024, 8192 },
	{ "convert", "bf16[8,128]{1,0:T(8,128)(2,1)}", { S8 }, 0, 1024, 0, 6144 },
	{ "copy", S8, { S8 }, 0, 0, 0, 8192 },
	{ "opcode-of-next-year", S8, { S8 }, 0, 0, 0, 8192 },
	{ "bitcast", S8, { S8 }, 0, 0, 0, 0 },
	{ "slice", S8, { S9 }, 0, 0, 0, 8192 }, /* 2 x out */
	{ "dynamic-slice", S8, { S9, IDX }, 0, 0, 0, 8192 + 512 },
	{ "dynamic-update-slice", S9, { S9, S8, IDX }, 0, 0, 0, 8192 + 512 }, /* 2 x update */
	{ "reduce",
	  "f32[128]{0:T(128)}",
	  { S8, "f32[]{:T(128)}" },
	  ADDER,
	  1024 - 128,
	  0,
	  4096 + 512 + 512 },
	{ "map", S8, { S8, S8 }, ADDER, 1024, 0, 12288 },
	{ "all-reduce", S8, { S8 }, ADDER, 1024, 0, 8192 },
	{ "scatter", S9, { S9, IDX, S8 }, ADDER, 1024, 0, 3 * 4096 + 512 },
	{ "sort",
	  "f32[1000]{0}",
	  { "f32[1000]{0}" },
	  ADDER,
	  10000,
	  0,
	  8000 },				  /* ceil(log2 1000) = 10 */
	{ "call", S8, { S8 }, ADDER, 1, 0, 12 },  /* f32[] without padding */
	{ "while", S8, { S8 }, ADDER, 1, 0, 12 }, /* one trip */
	{ "conditional", S8, { IDX, S8 }, ADDER, 1, 0, 12 },
	{ "all-gather-start", "(" S8 ", " S9 ")", { S8 }, 0, 0, 0, 4096 + 8192 },
	{ "collective-permute-start", "(" S8 ", " S8 ", u32[]{:S(2)})", { S8 }, 0, 0, 0, 8192 },
	{ "copy-start", "(" S8 ", " S8 ", u32[]{:S(2)})", { S8 }, 0, 0, 0, 4096 },
	{ "send", "(" S8 ", u32[]{:S(2)}, token[])", { S8 }, 0, 0, 0, 4096 },
	{ "recv", "(" S8 ", u32[]{:S(2)}, token[])", { NULL }, 0, 0, 0, 4096 },
	{ "rng", S8, { S8 }, 0, 0, 1024, 8192 },
	{ "cholesky", "f32[4,4]{1,0}", { "f32[4,4]{1,0}" }, 0, 21, 0, 64 }, /* 4 x 16 / 3 */
};

static void check_row(const struct op_row *row)
{
	struct bench bench;
	int64_t ids[4];
	struct ts_cost cost;
	size_t n = 0;

	open_bench(&bench);
	open_main(&bench);
	for (; n < TS_NELEM(ids) && row->operands[n]; n++) {
		ids[n] = (int64_t)n + 1;
		make_param(&bench.make, (int64_t)n, row->operands[n], ids[n]);
	}
	if (row->called)
		make_caller(&bench.make, "op", row->opcode, row->shape, 9, n, ids, row->called);
	else
		make_op(&bench.make, "op", row->opcode, row->shape, 9, n, ids);
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	if (cost.flops != row->flops || cost.transcendentals != row->transcendentals ||
	    cost.bytes_accessed != row->bytes || cost.has_unknown)
		fail_msg("%s: %lld flops, %lld transcendentals, %lld bytes", row->opcode,
			 (long long)cost.flops, (long long)cost.transcendentals,
			 (long long)cost.bytes_accessed);
	release_bench(&bench);
}

TEST(test_ops_cost_what_the_rules_say)
{
	for (size_t i = 0; i < TS_NELEM(op_rows); i++)
		check_row(&op_rows[i]);
}

/* A convolution: dims of lhs, rhs and output are the places of b f 0, i o 0, b f 0. */
struct conv_row {
	const char *lhs, *rhs, *out;
	int64_t dims[9];   /* in b f s, kernel i o s, out b f s */
	int64_t window[7]; /* size stride low high window_dilation base_dilation reversal */
	int64_t feature_groups, batch_groups;
	int64_t flops, batch, m, n, k;
};

static const struct conv_row conv_rows[] = {
	/* 0bf_io0->0bf, size 1: [4,64,256] x [256,512]: M = 4 x 64 */
	{ "f32[4,64,256]{2,1,0}",
	  "f32[256,512,1]{2,1,0}",
	  "f32[4,64,512]{2,1,0}",
	  { 1, 2, 0, 0, 1, 2, 1, 2, 0 },
	  { 1, 1, 0, 0, 1, 1, 0 },
	  1,
	  1,
	  67108864,
	  1,
	  256,
	  512,
	  256 },
	/* 0fb_0io->bf0, size 8, out 1: the spatial dimension is contracted: K = 16 x 8 */
	{ "f32[8,16,32]{2,1,0}",
	  "f32[8,16,64]{2,1,0}",
	  "f32[32,64,1]{2,1,0}",
	  { 2, 1, 0, 1, 2, 0, 0, 1, 2 },
	  { 8, 1, 0, 0, 1, 1, 0 },
	  1,
	  1,
	  524288,
	  1,
	  32,
	  64,
	  128 },
	/* 12 heads: size 12, stride 11, lhs dilated by 12: 12 products of 50 x 80 by 80 x 50 */
	{ "f32[12,50,80]{2,1,0}",
	  "f32[12,80,50]{2,1,0}",
	  "f32[12,50,50]{2,1,0}",
	  { 1, 2, 0, 1, 2, 0, 1, 2, 0 },
	  { 12, 11, 0, 0, 1, 12, 0 },
	  1,
	  1,
	  4800000,
	  12,
	  50,
	  50,
	  80 },
	/* the same by padding: size 12, stride 12, pad 11_11, lhs dilated by 11, reversed */
	{ "f32[12,50,80]{2,1,0}",
	  "f32[12,80,50]{2,1,0}",
	  "f32[12,50,50]{2,1,0}",
	  { 1, 2, 0, 1, 2, 0, 1, 2, 0 },
	  { 12, 12, 11, 11, 1, 11, 1 },
	  1,
	  1,
	  4800000,
	  12,
	  50,
	  50,
	  80 },
	/* genuine: 3 taps over 28, pad 1_1: 28 x 3 - 2 = 82 pairs; 2 x 16 x 48 x 96 x 82 */
	{ "f32[16,48,28]{2,1,0}",
	  "f32[48,96,3]{2,1,0}",
	  "f32[16,96,28]{2,1,0}",
	  { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
	  { 3, 1, 1, 1, 1, 1, 0 },
	  1,
	  1,
	  12091392,
	  1,
	  448,
	  96,
	  144 },
	/* stride 2, taps 2 apart: out 3: (0,2) (2,4) (4,6) of 7, all real: 6 pairs */
	{ "f32[1,1,7]{2,1,0}",
	  "f32[1,1,2]{2,1,0}",
	  "f32[1,1,3]{2,1,0}",
	  { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
	  { 2, 2, 0, 0, 2, 1, 0 },
	  1,
	  1,
	  12,
	  1,
	  3,
	  1,
	  2 },
	/* base dilated by 2: real elements at 0 2 4; windows of 2 over 0..4: one each, 4 in all */
	{ "f32[1,1,3]{2,1,0}",
	  "f32[1,1,2]{2,1,0}",
	  "f32[1,1,4]{2,1,0}",
	  { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
	  { 2, 1, 0, 0, 1, 2, 0 },
	  1,
	  1,
	  8,
	  4,
	  1,
	  1,
	  1 },
	/* cut off at the left: pad -1_0, 5 in, 3 taps, 2 out: positions 1..4, 6 pairs */
	{ "f32[1,1,5]{2,1,0}",
	  "f32[1,1,3]{2,1,0}",
	  "f32[1,1,2]{2,1,0}",
	  { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
	  { 3, 1, -1, 0, 1, 1, 0 },
	  1,
	  1,
	  12,
	  1,
	  2,
	  1,
	  3 },
	/* four feature groups: K = 32 / 4, N = 64 / 4, four products */
	{ "f32[2,32,10]{2,1,0}",
	  "f32[8,64,1]{2,1,0}",
	  "f32[2,64,10]{2,1,0}",
	  { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
	  { 1, 1, 0, 0, 1, 1, 0 },
	  4,
	  1,
	  20480,
	  4,
	  20,
	  16,
	  8 },
};

static void make_conv(struct make *make, const struct conv_row *row)
{
	static const uint32_t fields[9] = { 7, 8, 11, 3, 4, 6, 9, 10, 12 };
	size_t window, dim, numbers;

	make_begin_op(make, "conv", "convolution", row->out, 9, 2, (int64_t[]){ 1, 2 });
	window = ts_pbw_begin(&make->out, 15);
	dim = ts_pbw_begin(&make->out, 1);
	for (uint32_t i = 0; i < TS_NELEM(row->window); i++)
		ts_pbw_i64(&make->out, i + 1, row->window[i]);
	ts_pbw_end(&make->out, dim);
	ts_pbw_end(&make->out, window);
	numbers = ts_pbw_begin(&make->out, 16);
	for (size_t i = 0; i < TS_NELEM(fields); i++)
		ts_pbw_i64(&make->out, fields[i], row->dims[i]);
	ts_pbw_end(&make->out, numbers);
	ts_pbw_i64(&make->out, 50, row->feature_groups);
	ts_pbw_i64(&make->out, 58, row->batch_groups);
	make_end_op(make);
}

/* The convolution alone; returns its place in the module. */
static uint32_t open_conv(struct bench *bench, const struct conv_row *row)
{
	open_bench(bench);
	open_main(bench);
	make_param(&bench->make, 0, row->lhs, 1);
	make_param(&bench->make, 1, row->rhs, 2);
	make_conv(&bench->make, row);
	return close_bench(bench, "conv");
}

static void check_conv(const struct conv_row *row)
{
	struct bench bench;
	struct ts_matmul found = { .batch = 0 };
	uint32_t at = open_conv(&bench, row);

	assert_int_equal(ts_hlo_matmuls(&bench.module, at, &found, 1), 1);
	if (found.flops != row->flops || found.batch != row->batch || found.m != row->m ||
	    found.n != row->n || found.k != row->k ||
	    ts_hlo_cost(&bench.module, at).flops != row->flops)
		fail_msg("%s x %s: %lld flops, %lld x (%lld, %lld, %lld)", row->lhs, row->rhs,
			 (long long)found.flops, (long long)found.batch, (long long)found.m,
			 (long long)found.n, (long long)found.k);
	release_bench(&bench);
}

/*
 * 3 taps over 12 in 10 positions. Of eight features in two groups four belong to a group; a group of one feature is
 * depthwise by its shape, and an emitter knows better. The gradient of the first has its window as large as the image:
 * 10 positions are contracted, none of them is a tap.
 */
TEST(test_groups_taps_and_depthwise_convolutions)
{
	static const struct {
		const char *lhs, *rhs, *out;
		int64_t size, feature_groups, batch_groups, nr_products, groups, taps;
	} rows[] = {
		{ "f32[2,8,12]{2,1,0}", "f32[8,6,3]{2,1,0}", "f32[2,6,10]{2,1,0}", 3, 1, 1, 1, 1,
		  3 },
		{ "f32[2,8,12]{2,1,0}", "f32[4,6,3]{2,1,0}", "f32[2,6,10]{2,1,0}", 3, 2, 1, 1, 2,
		  3 },
		{ "f32[2,8,12]{2,1,0}", "f32[1,8,3]{2,1,0}", "f32[2,8,10]{2,1,0}", 3, 8, 1, 0, 0,
		  0 },
		{ "f32[8,2,12]{2,1,0}", "f32[2,8,3]{2,1,0}", "f32[1,8,10]{2,1,0}", 3, 1, 8, 0, 0,
		  0 },
		{ "f32[8,2,12]{2,1,0}", "f32[2,6,10]{2,1,0}", "f32[8,6,3]{2,1,0}", 10, 1, 1, 1, 1,
		  1 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct conv_row row = { .lhs = rows[i].lhs,
					.rhs = rows[i].rhs,
					.out = rows[i].out,
					.dims = { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
					.window = { rows[i].size, 1, 0, 0, 1, 1, 0 },
					.feature_groups = rows[i].feature_groups,
					.batch_groups = rows[i].batch_groups };
		struct ts_matmul found = { .batch = 0 };
		struct bench bench;
		uint32_t at = open_conv(&bench, &row);

		assert_int_equal(ts_hlo_matmuls(&bench.module, at, &found, 1), rows[i].nr_products);
		assert_int_equal(ts_hlo_depthwise(&bench.module, at), 1 - rows[i].nr_products);
		assert_int_equal(found.groups, rows[i].groups);
		assert_int_equal(found.taps, rows[i].taps);
		assert_true(ts_hlo_cost(&bench.module, at).flops > 0);
		release_bench(&bench);
	}
}

TEST(test_the_emitter_says_what_is_depthwise)
{
	static const struct {
		const char *emitter;
		int64_t groups;
		size_t nr_products;
	} rows[] = {
		{ "EmitDepthwiseInputBatchInSublanes", 8, 0 },
		{ "EmitBatchGroupDepthwiseInputBatchInLanesOutputBatchInSublanes", 8, 0 },
		{ "EmitAllBatchInSublanes", 8, 1 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct conv_row row = { "f32[2,8,12]{2,1,0}",
					"f32[1,8,3]{2,1,0}",
					"f32[2,8,10]{2,1,0}",
					{ 0, 1, 2, 0, 1, 2, 0, 1, 2 },
					{ 3, 1, 0, 0, 1, 1, 0 },
					rows[i].groups,
					1 };
		struct ts_matmul found;
		struct bench bench;
		uint32_t at = open_conv(&bench, &row);

		bench.module.instrs[at].backend.emitter = ts_bytes_of(rows[i].emitter);
		assert_int_equal(ts_hlo_matmuls(&bench.module, at, &found, 1), rows[i].nr_products);
		release_bench(&bench);
	}
}

TEST(test_convolutions_are_told_apart)
{
	for (size_t i = 0; i < TS_NELEM(conv_rows); i++)
		check_conv(&conv_rows[i]);
}

/* The count by the definition: every output with every tap. */
static int64_t count_pairs(const int64_t *window, int64_t in, int64_t out)
{
	int64_t sum = 0;

	for (int64_t o = 0; o < out; o++)
		for (int64_t tap = 0; tap < window[0]; tap++) {
			int64_t at = o * window[1] - window[2] + tap * window[4];

			sum += at >= 0 && at % window[5] == 0 && at / window[5] < in;
		}
	return sum;
}

TEST(test_positions_are_counted_as_if_one_by_one)
{
	uint64_t seed = 88172645463325252u;

	for (int i = 0; i < 300; i++) {
		struct conv_row row = { .dims = { 0, 1, 2, 0, 1, 2, 0, 1, 2 },
					.feature_groups = 1,
					.batch_groups = 1 };
		int64_t in, out, *w = row.window;
		struct ts_arena arena = TS_ARENA_INIT;
		struct bench bench;

		for (int k = 0; k < 20; k++)
			seed = seed * 6364136223846793005u + 1442695040888963407u;
		in = 1 + (int64_t)(seed >> 33 & 15);
		out = 1 + (int64_t)(seed >> 37 & 15);
		w[0] = 1 + (int64_t)(seed >> 41 & 7);
		w[1] = 1 + (int64_t)(seed >> 44 & 7);
		w[2] = (int64_t)(seed >> 47 & 15) - 4;
		w[4] = 1 + (int64_t)(seed >> 51 & 3);
		w[5] = 1 + (int64_t)(seed >> 53 & 7);
		row.lhs = (const char *)ts_arena_printf(&arena, "f32[1,1,%d]{2,1,0}", (int)in).p;
		row.rhs = (const char *)ts_arena_printf(&arena, "f32[1,1,%d]{2,1,0}", (int)w[0]).p;
		row.out = (const char *)ts_arena_printf(&arena, "f32[1,1,%d]{2,1,0}", (int)out).p;
		open_bench(&bench);
		open_main(&bench);
		make_param(&bench.make, 0, row.lhs, 1);
		make_param(&bench.make, 1, row.rhs, 2);
		make_conv(&bench.make, &row);
		assert_int_equal(ts_hlo_cost(&bench.module, close_bench(&bench, "conv")).flops,
				 2 * count_pairs(w, in, out));
		release_bench(&bench);
		ts_arena_release(&arena);
	}
}

static void make_dot(struct make *make, const char *shape)
{
	size_t dims;

	make_begin_op(make, "dot", "dot", shape, 9, 2, (int64_t[]){ 1, 2 });
	dims = ts_pbw_begin(&make->out, 30);
	ts_pbw_i64(&make->out, 1, 2); /* lhs contracting, rhs contracting, batches */
	ts_pbw_i64(&make->out, 2, 1);
	ts_pbw_i64(&make->out, 3, 0);
	ts_pbw_i64(&make->out, 4, 0);
	ts_pbw_end(&make->out, dims);
	dims = ts_pbw_begin(&make->out, 51); /* PrecisionConfig: HIGHEST, HIGHEST */
	ts_pbw_i64(&make->out, 1, 2);
	ts_pbw_i64(&make->out, 1, 2);
	ts_pbw_end(&make->out, dims);
	make_end_op(make);
}

/* [3,20,50] x [3,50,70]: 2 x 3 x 20 x 70 x 50 = 420000 */
TEST(test_a_dot_has_batch_m_n_and_k)
{
	struct bench bench;
	struct ts_matmul found;
	uint32_t at;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, "f32[3,20,50]{2,1,0}", 1);
	make_param(&bench.make, 1, "bf16[3,50,70]{2,1,0}", 2);
	make_dot(&bench.make, "f32[3,20,70]{2,1,0}");
	at = close_bench(&bench, "dot");
	assert_int_equal(ts_hlo_matmuls(&bench.module, at, &found, 1), 1);
	assert_int_equal(found.flops, 420000);
	assert_int_equal(found.batch, 3);
	assert_int_equal(found.m, 20);
	assert_int_equal(found.n, 70);
	assert_int_equal(found.k, 50);
	assert_int_equal(found.rhs, TS_BF16);
	assert_true(found.highest_precision);
	release_bench(&bench);
}

/* A library call on a GPU: its scratch memory, the second part of the result, is not work. */
TEST(test_a_library_product_counts_like_a_dot)
{
	const char *config =
		"{\"gemm_backend_config\":{\"dot_dimension_numbers\":{"
		"\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"]}}}";
	struct bench bench;
	struct ts_cost cost;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, "f16[10,20]{1,0}", 1);
	make_param(&bench.make, 1, "f16[20,30]{1,0}", 2);
	make_begin_op(&bench.make, "gemm", "custom-call", "(f16[10,30]{1,0}, s8[4096]{0})", 9, 2,
		      (int64_t[]){ 1, 2 });
	ts_pbw_text(&bench.make.out, 28, TS_LIT("__cublas$gemm"));
	ts_pbw_bytes(&bench.make.out, 43, ts_bytes_of(config));
	make_end_op(&bench.make);
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "gemm"));
	assert_int_equal(cost.flops, 12000); /* 2 x 10 x 30 x 20 */
	assert_int_equal(cost.bytes_accessed, 400 + 1200 + 600);
	release_bench(&bench);
}

/* inner(p0, p1): add(slice(p0), p1), with p1 read twice; p0 is read of the slice alone. */
TEST(test_a_fusion_reads_what_its_parameters_are_read_of)
{
	struct bench bench;
	struct ts_cost cost;
	size_t inner;

	open_bench(&bench);
	inner = make_comp(&bench.make, "inner");
	make_param(&bench.make, 0, "f32[64,128]{1,0:T(8,128)S(1)}", 101);
	make_param(&bench.make, 1, S8, 102);
	make_op(&bench.make, "s", "slice", S8, 103, 1, (int64_t[]){ 101 });
	make_op(&bench.make, "m", "multiply", S8, 104, 2, (int64_t[]){ 103, 102 });
	make_op(&bench.make, "e", "exponential", S8, 105, 1, (int64_t[]){ 102 });
	make_op(&bench.make, "a", "add", S8, 106, 2, (int64_t[]){ 104, 105 });
	make_end_comp(&bench.make, inner, INNER, 106);
	open_main(&bench);
	make_param(&bench.make, 0, "f32[64,128]{1,0:T(8,128)S(1)}", 1);
	make_param(&bench.make, 1, S8, 2);
	make_caller(&bench.make, "op", "fusion", S8, 9, 2, (int64_t[]){ 1, 2 }, INNER);
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	assert_int_equal(cost.flops, 2048);
	assert_int_equal(cost.transcendentals, 1024);
	assert_int_equal(cost.bytes_accessed, 3 * 4096);
	assert_int_equal(cost.hbm_bytes, 2 * 4096); /* the slice comes from VMEM */
	release_bench(&bench);
}

/* inner(p0, p1, i): dynamic-update-slice(p0, p1, i): reads and writes the update, not the array. */
TEST(test_an_update_in_place_costs_the_update)
{
	struct bench bench;
	struct ts_cost cost;
	size_t inner;

	open_bench(&bench);
	inner = make_comp(&bench.make, "inner");
	make_param(&bench.make, 0, "f32[64,128]{1,0:T(8,128)}", 101);
	make_param(&bench.make, 1, S8, 102);
	make_param(&bench.make, 2, IDX, 103);
	make_op(&bench.make, "u", "dynamic-update-slice", "f32[64,128]{1,0:T(8,128)}", 104, 3,
		(int64_t[]){ 101, 102, 103 });
	make_end_comp(&bench.make, inner, INNER, 104);
	open_main(&bench);
	make_param(&bench.make, 0, "f32[64,128]{1,0:T(8,128)}", 1);
	make_param(&bench.make, 1, S8, 2);
	make_param(&bench.make, 2, IDX, 3);
	make_caller(&bench.make, "op", "fusion", "f32[64,128]{1,0:T(8,128)}", 9, 3,
		    (int64_t[]){ 1, 2, 3 }, INNER);
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	assert_int_equal(cost.bytes_accessed, 2 * 4096 + 512);
	release_bench(&bench);
}

static void make_kernel(struct make *make, const char *config)
{
	make_begin_op(make, "op", "custom-call", S8, 9, 1, (int64_t[]){ 1 });
	ts_pbw_text(&make->out, 28, TS_LIT("tpu_custom_call"));
	ts_pbw_bytes(&make->out, 43, ts_bytes_of(config));
	make_end_op(make);
}

static struct ts_cost kernel_cost(const char *config, bool whole)
{
	struct bench bench;
	struct ts_cost cost;
	uint32_t at;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, S8, 1);
	make_kernel(&bench.make, config);
	if (whole)
		make_op(&bench.make, "n", "negate", S8, 10, 1, (int64_t[]){ 9 });
	at = close_bench(&bench, "op");
	cost = whole ? ts_hlo_module_cost(&bench.module) : ts_hlo_cost(&bench.module, at);
	release_bench(&bench);
	return cost;
}

TEST(test_a_kernel_without_an_estimate_is_unknown_not_free)
{
	const char *estimate = "{\"custom_call_config\":{\"cost_estimate\":{\"flops\":\"77\","
			       "\"transcendentals\":\"5\",\"bytes_accessed\":\"99\"}}}";
	struct ts_cost cost = kernel_cost("{}", false);

	assert_int_equal(cost.flops, TS_HLO_UNKNOWN);
	assert_int_equal(cost.bytes_accessed, TS_HLO_UNKNOWN);
	assert_true(cost.has_unknown);
	cost = kernel_cost("{}", true); /* beside something that is known */
	assert_int_equal(cost.flops, 1024);
	assert_true(cost.has_unknown);
	cost = kernel_cost(estimate, false);
	assert_int_equal(cost.flops, 77);
	assert_int_equal(cost.transcendentals, 5);
	assert_int_equal(cost.bytes_accessed, 99);
	assert_false(cost.has_unknown);
}

/* Rows of 128 lanes in tiles of 8: each of the ten rows, stored as 16, brings its tile. */
TEST(test_a_gather_reads_whole_tiles)
{
	struct bench bench;
	struct ts_cost cost;
	size_t dims;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, "f32[1000,128]{1,0:T(8,128)}", 1);
	make_param(&bench.make, 1, "s32[10]{0:T(128)}", 2);
	make_begin_op(&bench.make, "op", "gather", "f32[10,128]{1,0:T(8,128)}", 9, 2,
		      (int64_t[]){ 1, 2 });
	dims = ts_pbw_begin(&bench.make.out, 33);
	ts_pbw_i64(&bench.make.out, 1, 1); /* offset_dims */
	ts_pbw_end(&bench.make.out, dims);
	make_numbers(&bench.make, 34, (int64_t[]){ 1, 128 }, 2);
	make_end_op(&bench.make);
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	assert_int_equal(cost.bytes_accessed, 16 * 4096 + 512 + 8192);
	release_bench(&bench);
}

/*
 * Ten rows of 128 go into tiles of 8 rows. The updates are read, 16 rows as they lie; for each row a
 * tile is read and written. An adder of one FLOP for each of 1280 elements.
 */
TEST(test_a_scatter_touches_whole_tiles)
{
	struct bench bench;
	struct ts_cost cost;
	size_t dims;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, "f32[1000,128]{1,0:T(8,128)}", 1);
	make_param(&bench.make, 1, "s32[10]{0:T(128)}", 2);
	make_param(&bench.make, 2, "f32[10,128]{1,0:T(8,128)}", 3);
	make_begin_op(&bench.make, "op", "scatter", "f32[1000,128]{1,0:T(8,128)}", 9, 3,
		      (int64_t[]){ 1, 2, 3 });
	make_numbers(&bench.make, 38, (int64_t[]){ ADDER }, 1);
	dims = ts_pbw_begin(&bench.make.out, 48);
	ts_pbw_i64(&bench.make.out, 1, 1); /* update_window_dims */
	ts_pbw_u64(&bench.make.out, 2, 0); /* inserted_window_dims */
	ts_pbw_end(&bench.make.out, dims);
	make_end_op(&bench.make);
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	assert_int_equal(cost.flops, 1280);
	assert_int_equal(cost.bytes_accessed, 512 + 8192 + 2 * 16 * 4096);
	release_bench(&bench);
}

/* Of the outer fusion: the result; what the inner one reads of x (8192) has no user to count for. */
TEST(test_a_fusion_that_makes_the_result_of_one_reads_nothing)
{
	struct bench bench;
	struct ts_cost cost;
	uint32_t at;
	size_t comp;

	open_bench(&bench);
	comp = make_comp(&bench.make, "inner");
	make_param(&bench.make, 0, S9, 50);
	make_op(&bench.make, "i", "negate", S9, 51, 1, (int64_t[]){ 50 });
	make_end_comp(&bench.make, comp, 500, 51);
	comp = make_comp(&bench.make, "outer");
	make_param(&bench.make, 0, S9, 60);
	make_caller(&bench.make, "nested", "fusion", S9, 61, 1, (int64_t[]){ 60 }, 500);
	make_end_comp(&bench.make, comp, 600, 61);
	open_main(&bench);
	make_param(&bench.make, 0, S9, 1);
	make_caller(&bench.make, "op", "fusion", S9, 9, 1, (int64_t[]){ 1 }, 600);
	at = close_bench(&bench, "op");
	cost = ts_hlo_cost(&bench.module, at);
	assert_int_equal(cost.flops, 9 * 128);
	assert_int_equal(cost.bytes_accessed, 8192);
	assert_int_equal(ts_hlo_read_bytes(&bench.module, at, 0), 8192); /* it does pass */
	release_bench(&bench);
}

/* Start: 4096 read, twice 4096 written, two semaphores of 4096. Done: 4096 again. */
TEST(test_libtpus_sum_has_all_parts_of_a_collectives_start)
{
	struct bench bench;
	struct ts_cost cost;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, S8, 1);
	make_op(&bench.make, "op", "collective-permute-start",
		"(" S8 ", " S8 ", u32[]{:S(2)}, u32[]{:S(2)})", 2, 1, (int64_t[]){ 1 });
	make_op(&bench.make, "end", "collective-permute-done", S8, 3, 1, (int64_t[]){ 2 });
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	assert_int_equal(cost.bytes_accessed, 2 * 4096);
	cost = ts_hlo_module_cost(&bench.module);
	assert_int_equal(cost.bytes_accessed, 6 * 4096);
	release_bench(&bench);
}

/* The update brings x (4096) to what waits; its result is x again, 8192 that were made, and 512. */
TEST(test_what_waits_on_a_sparsecore_counts_at_the_update)
{
	struct bench bench;
	struct ts_cost cost;

	open_bench(&bench);
	open_main(&bench);
	make_op(&bench.make, "begin", "async-start", "((), (), (" IDX "))", 1, 0, NULL);
	make_param(&bench.make, 0, S8, 2);
	make_op(&bench.make, "op", "async-update", "((" S8 "), " S9 ", (" IDX "))", 3, 2,
		(int64_t[]){ 1, 2 });
	make_op(&bench.make, "end", "async-done", S9, 4, 1, (int64_t[]){ 3 });
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	assert_int_equal(cost.bytes_accessed, 0);
	cost = ts_hlo_module_cost(&bench.module);
	assert_int_equal(cost.bytes_accessed, 4096 + 4096 + 8192 + 512 + 8192);
	release_bench(&bench);
}

/* Three of 128 in each of eight rows. */
TEST(test_top_k_chooses_each_among_all)
{
	struct bench bench;
	struct ts_cost cost;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, S8, 1);
	make_begin_op(&bench.make, "op", "custom-call",
		      "(f32[8,3]{1,0:T(8,128)}, s32[8,3]{1,0:T(8,128)})", 9, 1, (int64_t[]){ 1 });
	ts_pbw_text(&bench.make.out, 28, TS_LIT("TopK"));
	make_end_op(&bench.make);
	cost = ts_hlo_cost(&bench.module, close_bench(&bench, "op"));
	assert_int_equal(cost.flops, 8 * 128 * 3);
	assert_int_equal(cost.bytes_accessed, 3 * 4096);
	release_bench(&bench);
}

TEST(test_the_largest_products_come_first)
{
	struct bench bench;
	struct ts_matmul found[2];
	size_t inner;
	uint32_t at;

	open_bench(&bench);
	inner = make_comp(&bench.make, "inner");
	for (int i = 0; i < 3; i++) { /* n of 30, 50, 40: 2 x 10 x n x 20 */
		static const char *const rhs[] = { "f32[1,20,30]{2,1,0}", "f32[1,20,50]{2,1,0}",
						   "f32[1,20,40]{2,1,0}" };
		static const char *const out[] = { "f32[1,10,30]{2,1,0}", "f32[1,10,50]{2,1,0}",
						   "f32[1,10,40]{2,1,0}" };
		int64_t id = 100 + i * 10;
		size_t dims;

		make_param(&bench.make, i * 2, "f32[1,10,20]{2,1,0}", id);
		make_param(&bench.make, i * 2 + 1, rhs[i], id + 1);
		make_begin_op(&bench.make, "d", "dot", out[i], id + 2, 2,
			      (int64_t[]){ id, id + 1 });
		dims = ts_pbw_begin(&bench.make.out, 30);
		ts_pbw_i64(&bench.make.out, 1, 2);
		ts_pbw_i64(&bench.make.out, 2, 1);
		ts_pbw_end(&bench.make.out, dims);
		make_end_op(&bench.make);
	}
	make_end_comp(&bench.make, inner, INNER, 122);
	open_main(&bench);
	make_caller(&bench.make, "op", "fusion", "f32[1,10,40]{2,1,0}", 9, 0, NULL, INNER);
	at = close_bench(&bench, "op");
	assert_int_equal(ts_hlo_matmuls(&bench.module, at, found, 2), 3);
	assert_int_equal(found[0].n, 50);
	assert_int_equal(found[1].n, 40);
	assert_int_equal(ts_hlo_matmuls(&bench.module, at, NULL, 0), 3);
	release_bench(&bench);
}

/* m 100 of 104, n 64 of 128, k 256 of 256; the other way round it is 100 of 128 and 64 of 64. */
TEST(test_the_better_order_of_operands_fills_the_array)
{
	struct ts_matmul product = { .m = 100, .n = 64, .k = 256 };
	struct ts_fill fill = ts_matmul_fill(&product, 128);

	assert_true(fill.m_share == 100.0 / 128); /* m lies on the lanes */
	assert_true(fill.n_share == 1.0);
	assert_true(fill.k_share == 1.0);
	assert_true(fill.share == 100.0 / 128);
	product = (struct ts_matmul){ .m = 4096, .n = 4096, .k = 4096 };
	assert_true(ts_matmul_fill(&product, 256).share == 1.0);
	product = (struct ts_matmul){ .m = 0, .n = 8, .k = 8 };
	assert_true(ts_matmul_fill(&product, 128).share == 0);
}

/* Operand 8192 for 4608 logical bytes; VMEM does not count; a start reads, a done writes. */
TEST(test_padding_is_counted_in_hbm)
{
	struct bench bench;
	struct ts_padding padding;

	open_bench(&bench);
	open_main(&bench);
	make_param(&bench.make, 0, S9, 1);
	make_op(&bench.make, "v", "copy", "f32[9,128]{1,0:T(8,128)S(1)}", 2, 1, (int64_t[]){ 1 });
	make_op(&bench.make, "start", "copy-start",
		"(f32[9,128]{1,0:T(8,128)S(1)}, " S9 ", u32[]{:S(2)})", 3, 1, (int64_t[]){ 1 });
	make_op(&bench.make, "done", "copy-done", "f32[9,128]{1,0:T(8,128)S(1)}", 4, 1,
		(int64_t[]){ 3 });
	padding = ts_hlo_padding(&bench.module, close_bench(&bench, "v"));
	assert_int_equal(padding.logical_bytes, 4608);
	assert_int_equal(padding.allocated_bytes, 8192);
	padding = ts_hlo_padding(&bench.module, ts_hlo_find(&bench.module, TS_LIT("start")));
	assert_int_equal(padding.allocated_bytes, 8192);
	padding = ts_hlo_padding(&bench.module, ts_hlo_find(&bench.module, TS_LIT("done")));
	assert_int_equal(padding.allocated_bytes, 0);
	padding = ts_hlo_padding(&bench.module, ts_hlo_find(&bench.module, TS_LIT("param")));
	assert_int_equal(padding.allocated_bytes, 0);
	release_bench(&bench);
}
