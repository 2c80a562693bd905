/* SPDX-License-Identifier: MIT */
/* Kinds of ops from categories, texts and compiled instructions; remat; partners of async pairs. */
#include <setjmp.h>
#include <stdarg.h>

#include <math.h>

#include "model/bucket.h"
#include "model/op_kind.h"
#include "model/traffic.h"
#include "tests/analysis/feed.h"

struct kind_row {
	const char *category;
	enum ts_op_kind kind;
	enum ts_op_async async;
};

/* Categories that libtpu and XLA write, and what a core does meanwhile (time.md). */
static const struct kind_row rows[] = {
	{ "convolution", TS_OP_MATRIX, TS_ASYNC_NONE },
	{ "convolution fusion", TS_OP_MATRIX, TS_ASYNC_NONE },
	{ "output fusion", TS_OP_MATRIX, TS_ASYNC_NONE },
	{ "dot", TS_OP_MATRIX, TS_ASYNC_NONE },
	{ "loop fusion", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "input fusion", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "custom fusion", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "custom-call", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "non-fusion elementwise", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "reduce", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "reduce-window", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "dynamic-slice", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "a word of a newer compiler", TS_OP_COMPUTE, TS_ASYNC_NONE },
	{ "copy", TS_OP_MOVE, TS_ASYNC_NONE },
	{ "copy-start", TS_OP_MOVE, TS_ASYNC_START },
	{ "copy-done", TS_OP_MOVE, TS_ASYNC_DONE },
	{ "data formatting", TS_OP_MOVE, TS_ASYNC_NONE },
	{ "slice-start", TS_OP_MOVE, TS_ASYNC_START },
	{ "dynamic-update-slice-done", TS_OP_MOVE, TS_ASYNC_DONE },
	{ "async-start", TS_OP_MOVE, TS_ASYNC_START },
	{ "async-done", TS_OP_MOVE, TS_ASYNC_DONE },
	{ "all-reduce", TS_OP_COLLECTIVE, TS_ASYNC_NONE },
	{ "all-reduce fusion", TS_OP_COLLECTIVE, TS_ASYNC_NONE },
	{ "all-reduce-start", TS_OP_COLLECTIVE, TS_ASYNC_START },
	{ "all-reduce-scatter fusion", TS_OP_COLLECTIVE, TS_ASYNC_NONE },
	{ "all-gather-done", TS_OP_COLLECTIVE, TS_ASYNC_DONE },
	{ "reduce-scatter", TS_OP_COLLECTIVE, TS_ASYNC_NONE },
	{ "all-to-all", TS_OP_COLLECTIVE, TS_ASYNC_NONE },
	{ "ragged-all-to-all", TS_OP_COLLECTIVE, TS_ASYNC_NONE },
	{ "collective-permute-done", TS_OP_COLLECTIVE, TS_ASYNC_DONE },
	{ "send", TS_OP_COLLECTIVE, TS_ASYNC_NONE },
	{ "recv-done", TS_OP_COLLECTIVE, TS_ASYNC_DONE },
	{ "host send", TS_OP_HOST, TS_ASYNC_NONE },
	{ "host recv-done", TS_OP_HOST, TS_ASYNC_DONE },
	{ "infeed", TS_OP_HOST, TS_ASYNC_NONE },
	{ "outfeed", TS_OP_HOST, TS_ASYNC_NONE },
	{ "while", TS_OP_CONTROL, TS_ASYNC_NONE },
	{ "conditional", TS_OP_CONTROL, TS_ASYNC_NONE },
	{ "call", TS_OP_CONTROL, TS_ASYNC_NONE },
	{ "megacore fusion", TS_OP_CONTROL, TS_ASYNC_NONE },
	{ "", TS_OP_OTHER, TS_ASYNC_NONE },
};

TEST(each_category_has_its_kind)
{
	struct ts_profile profile;

	ts_profile_init(&profile);
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_op op;

		ts_op_init(&op);
		op.name = TS_LIT("psum"); /* names lie */
		op.category = ts_bytes_of(rows[i].category);
		ts_op_classify(&profile, &op);
		if (op.kind != rows[i].kind || op.async != rows[i].async)
			fail_msg("%s: kind %d, async %d", rows[i].category, op.kind, op.async);
	}
	ts_profile_release(&profile);
}

static enum ts_op_kind kind_of(const char *category, const char *text)
{
	struct ts_profile profile;
	struct ts_op op;

	ts_profile_init(&profile);
	ts_op_init(&op);
	op.name = TS_LIT("x");
	op.category = ts_bytes_of(category);
	op.text = ts_bytes_of(text);
	ts_op_classify(&profile, &op);
	ts_profile_release(&profile);
	return op.kind;
}

/* S(5) is the host's memory; only what copies or slices is a transfer by it. */
TEST(copies_of_host_memory_are_transfers)
{
	const char *host = "%c = f32[8]{0:T(128)S(5)} copy(%p)",
		   *vmem = "%c = f32[8]{0:T(128)S(1)} copy(%p)";

	assert_int_equal(kind_of("copy", host), TS_OP_HOST);
	assert_int_equal(kind_of("copy-start", host), TS_OP_HOST);
	assert_int_equal(kind_of("copy-done", host), TS_OP_HOST);
	assert_int_equal(kind_of("dynamic-update-slice", host), TS_OP_HOST);
	assert_int_equal(kind_of("async-done", host), TS_OP_HOST);
	assert_int_equal(kind_of("copy", vmem), TS_OP_MOVE);
	assert_int_equal(kind_of("while", host), TS_OP_CONTROL);
	assert_int_equal(kind_of("loop fusion", host), TS_OP_COMPUTE);
}

/* On a v7x libtpu gives collectives to the SparseCores: async-start, around a call, around the all-reduce. */
TEST(an_async_call_is_what_it_calls)
{
	static const enum ts_opcode opcodes[] = { TS_OPCODE_ASYNC_START, TS_OPCODE_ASYNC_UPDATE,
						  TS_OPCODE_ASYNC_DONE, TS_OPCODE_CALL,
						  TS_OPCODE_ALL_REDUCE };
	uint32_t operands[] = { 0, 1 }, called[] = { 0, 1 };
	struct ts_hlo_comp comps[] = { { .root = 3 }, { .root = 4 } };
	struct ts_hlo_instr instrs[TS_NELEM(opcodes)];
	struct ts_hlo_module module = {
		.comps = comps, .nr_comps = 2, .instrs = instrs, .nr_instrs = TS_NELEM(opcodes)
	};

	memset(instrs, 0, sizeof(instrs));
	for (size_t i = 0; i < TS_NELEM(opcodes); i++)
		instrs[i].opcode = opcodes[i];
	instrs[0].called = &called[0];
	instrs[3].called = &called[1];
	instrs[0].nr_called = instrs[3].nr_called = 1;
	instrs[1].operands = &operands[0];
	instrs[2].operands = &operands[1];
	instrs[1].nr_operands = instrs[2].nr_operands = 1;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ts_hlo_wrapped(&module, i), 4);
	/* that calls by itself is not a wrapper */
	assert_int_equal(ts_hlo_wrapped(&module, 3), 3);
}

TEST(recomputed_ops_are_known_by_name_text_or_scope)
{
	struct ts_bytes none = { NULL, 0 };

	assert_true(ts_op_looks_remat(TS_LIT("fusion.12.remat"), none, none));
	assert_true(ts_op_looks_remat(TS_LIT("fusion.12.remat2.1"), none, none));
	assert_true(ts_op_looks_remat(TS_LIT("f"), TS_LIT("%f.remat3 = f32[] add()"), none));
	assert_true(
		ts_op_looks_remat(TS_LIT("f"), none, TS_LIT("jit(f)/rematted_computation/mul")));
	/* an operand that was recomputed does not make its user one */
	assert_false(ts_op_looks_remat(TS_LIT("f"), TS_LIT("%f = f32[] add(%g.remat)"), none));
	assert_false(ts_op_looks_remat(TS_LIT("f"), none, TS_LIT("jit(f)/checkpoint/mul")));
	assert_false(ts_op_looks_remat(none, none, none));
}

static uint32_t add_op(struct feed *feed, const char *name, const char *category, const char *text)
{
	uint32_t at;

	feed_op(feed, name, category, 7, &at)->text = ts_bytes_of(text);
	return at;
}

TEST(partners_from_the_text)
{
	struct feed *feed = feed_new();
	uint32_t start = add_op(feed, "copy-start.4", "copy-start",
				"%copy-start.4 = (f32[2]) copy-start(%p)");
	uint32_t end = add_op(
		feed, "copy-done.4", "copy-done",
		"%copy-done.4 = f32[2] copy-done((f32[2], u32[]) %copy-start.4), metadata={}");
	uint32_t alone =
		add_op(feed, "copy-done.5", "copy-done", "%copy-done.5 = f32[2] copy-done(%gone)");
	uint32_t odd = add_op(feed, "copy-done.6", "copy-done", "copy-done(");

	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	assert_int_equal(feed->profile.ops[start].partner, end);
	assert_int_equal(feed->profile.ops[end].partner, start);
	assert_int_equal(feed->profile.ops[alone].partner, TS_NONE);
	assert_int_equal(feed->profile.ops[odd].partner, TS_NONE);
	feed_free(feed);
}

/* The same names in two programs: each -done finds the -start of its own. */
TEST(partners_from_the_module)
{
	struct feed *feed = feed_new();
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	uint32_t start, end, foreign;

	feed_instr(feed, module, "p", "parameter", "f32[8]{0}", TS_NONE, TS_NONE);
	feed_instr(feed, module, "begin", "copy-start", "f32[8]{0}", 0, TS_NONE);
	feed_instr(feed, module, "end", "copy-done", "f32[8]{0}", 1, TS_NONE);
	feed_op(feed, "begin", "copy-start", 8, &foreign);
	feed_op(feed, "end", "copy-done", 7, &end);
	feed_op(feed, "begin", "copy-start", 7, &start);
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	assert_int_equal(feed->profile.ops[end].partner, start);
	assert_int_equal(feed->profile.ops[start].partner, end);
	assert_int_equal(feed->profile.ops[foreign].partner, TS_NONE);
	feed_free(feed);
}

/* What the profile leaves out, as a GPU's does, the compiled instruction says. */
TEST(the_module_decides_where_the_profile_is_silent)
{
	struct feed *feed = feed_new();
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	uint32_t copy, sum, send;

	feed_instr(feed, module, "p", "parameter", "f32[8]{0:S(5)}", TS_NONE, TS_NONE);
	feed_instr(feed, module, "c", "copy", "f32[8]{0}", 0, TS_NONE)->op_name =
		TS_LIT("jit(f)/copy");
	feed_instr(feed, module, "sum", "all-reduce", "f32[8]{0}", 1, TS_NONE);
	feed_instr(feed, module, "out", "send", "f32[8]{0}", 1, TS_NONE)->is_host_transfer = true;
	feed_op(feed, "c", "", 7, &copy);
	feed_op(feed, "sum", "", 7, &sum);
	feed_op(feed, "out", "", 7, &send);
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	assert_int_equal(feed->profile.ops[copy].kind, TS_OP_HOST); /* its operand is the host's */
	assert_true(ts_bytes_is(feed->profile.ops[copy].framework_op, "jit(f)/copy"));
	assert_int_equal(feed->profile.ops[sum].kind, TS_OP_COLLECTIVE);
	assert_true(ts_bytes_is(feed->profile.ops[send].category, "host send"));
	assert_int_equal(feed->profile.ops[send].kind, TS_OP_HOST);
	feed_free(feed);
}

static void call_comp(struct feed *feed, struct ts_hlo_instr *instr, uint32_t comp)
{
	uint32_t *called = ts_arena_array(&feed->profile.arena, 1, sizeof(*called));

	called[0] = comp;
	instr->called = called;
	instr->nr_called = 1;
}

/* The compiler calls a reduction of exponentials an output fusion too. */
TEST(a_fusion_without_a_product_is_not_a_matrix_op)
{
	struct feed *feed = feed_new();
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	uint32_t softmax, product, gone;

	feed_instr(feed, module, "x", "parameter", "f32[8,8]{1,0}", TS_NONE, TS_NONE);
	feed_instr(feed, module, "e", "exponential", "f32[8,8]{1,0}", 0, TS_NONE);
	feed_next_comp(module);
	feed_instr(feed, module, "y", "parameter", "f32[8,8]{1,0}", TS_NONE, TS_NONE);
	feed_dot(feed, feed_instr(feed, module, "d", "dot", "f32[8,8]{1,0}", 2, 2), 2);
	feed_next_comp(module);
	feed_instr(feed, module, "p", "parameter", "f32[8,8]{1,0}", TS_NONE, TS_NONE);
	call_comp(feed, feed_instr(feed, module, "a", "fusion", "f32[8,8]{1,0}", 4, TS_NONE), 0);
	call_comp(feed, feed_instr(feed, module, "b", "fusion", "f32[8,8]{1,0}", 4, TS_NONE), 1);
	feed_instr(feed, module, "c", "fusion", "f32[8,8]{1,0}", 4, TS_NONE);
	feed_op(feed, "a", "output fusion", 7, &softmax);
	feed_op(feed, "b", "output fusion", 7, &product);
	feed_op(feed, "c", "output fusion", 7, &gone);
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
	assert_int_equal(feed->profile.ops[softmax].kind, TS_OP_COMPUTE);
	assert_int_equal(feed->profile.ops[product].kind, TS_OP_MATRIX);
	assert_int_equal(feed->profile.ops[gone].kind,
			 TS_OP_MATRIX); /* what is inside is unknown */
	feed_free(feed);
}

TEST(hbm_bytes_are_the_breakdowns_or_all)
{
	const struct ts_profile none = { .nr_ops = 0 };
	struct ts_op op;

	ts_op_init(&op);
	assert_true(isnan(ts_op_hbm_bytes(&none, &op)) && isnan(ts_op_vmem_bytes(&op)) &&
		    isnan(ts_op_flops(&op)));
	op.bytes_accessed = 100;
	assert_true(ts_op_hbm_bytes(&none, &op) == 100);
	op.onchip_bytes = 60;
	assert_true(ts_op_hbm_bytes(&none, &op) == 0); /* a breakdown without HBM */
	op.hbm_read_bytes = 30;
	assert_true(ts_op_hbm_bytes(&none, &op) == 30);
	op.hbm_write_bytes = 10;
	assert_true(ts_op_hbm_bytes(&none, &op) == 40 && ts_op_vmem_bytes(&op) == 60);
}

struct bucket_row {
	const char *name, *category;
	bool remat;
	enum ts_bucket bucket;
};

static const struct bucket_row bucket_rows[] = {
	{ "f", "loop fusion", false, TS_NR_BUCKETS }, /* what it needs divides its time */
	{ "f", "convolution fusion", false, TS_NR_BUCKETS },
	{ "f", "loop fusion", true, TS_BUCKET_REMATERIALIZATION },
	{ "f", "all-reduce", true, TS_BUCKET_REMATERIALIZATION }, /* recomputed comes first */
	{ "f", "all-reduce", false, TS_BUCKET_COMMUNICATION },
	{ "f", "infeed", false, TS_BUCKET_HOST_TRANSFER },
	{ "copy-done.1", "copy-done", false, TS_BUCKET_MEMORY_WAIT },
	{ "while", "while", false, TS_NR_BUCKETS },
	{ "ncclDevKernel_AllReduce", "", false, TS_BUCKET_COMMUNICATION },
	{ "MemcpyH2D", "", false, TS_BUCKET_HOST_TRANSFER },
	{ "MemcpyD2D", "", false, TS_BUCKET_MEMORY_WAIT },
	{ "Memset", "", false, TS_BUCKET_MEMORY_WAIT },
	{ "gemm_kernel", "", false, TS_NR_BUCKETS },
};

/* A copy of a program works, unless it is half of an asynchronous one; without a program it is a GPU's. */
TEST(a_copy_of_a_program_is_divided)
{
	struct ts_profile profile;
	struct ts_op op;

	ts_profile_init(&profile);
	ts_op_init(&op);
	op.name = TS_LIT("copy.1");
	op.category = TS_LIT("data formatting");
	op.has_program = true;
	ts_op_classify(&profile, &op);
	assert_int_equal(ts_op_bucket(&op), TS_NR_BUCKETS);
	op.async = TS_ASYNC_DONE;
	assert_int_equal(ts_op_bucket(&op), TS_BUCKET_MEMORY_WAIT);
	ts_profile_release(&profile);
}

TEST(each_op_has_its_bucket)
{
	struct ts_profile profile;

	ts_profile_init(&profile);
	for (size_t i = 0; i < TS_NELEM(bucket_rows); i++) {
		const struct bucket_row *row = &bucket_rows[i];
		struct ts_op op;

		ts_op_init(&op);
		op.name = ts_bytes_of(row->name);
		op.category = ts_bytes_of(row->category);
		ts_op_classify(&profile, &op);
		op.is_remat = row->remat;
		if (ts_op_bucket(&op) != row->bucket)
			fail_msg("%s, %s", row->name, row->category);
	}
	ts_profile_release(&profile);
}
