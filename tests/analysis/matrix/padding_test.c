/* SPDX-License-Identifier: MIT */
/*
 * What tiles cost. bf16[500,100]{1,0:T(8,128)(2,1)} is stored as 504 x 128 x 2 = 129 024 bytes for
 * 100 000: 29 024 bytes, 22.495 %, are padding. Chip: v5e, 197e12 FLOP/s, 819e9 B/s, 128 x 128.
 */
#include "analysis/facts/padding.h"
#include "tests/analysis/feed.h"

extern const struct ts_analysis ts_analysis_ops, ts_analysis_padding;

/* The sums over the events of each op are those of the analysis ops. */
static const struct ts_result *run_after_ops(struct feed *feed)
{
	feed_run(feed, &ts_analysis_ops);
	return feed_run(feed, &ts_analysis_padding);
}

#define PADDED "bf16[500,100]{1,0:T(8,128)(2,1)}"

static void finish(struct feed *feed)
{
	assert_int_equal(ts_profile_finish(&feed->profile, NULL), TS_OK);
}

/* neg(a) of the padded array, memory bound on any chip. */
static uint32_t add_negate(struct feed *feed)
{
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	uint32_t op;

	feed_instr(feed, module, "a", "parameter", PADDED, TS_NONE, TS_NONE)->parameter_number = 0;
	feed_instr(feed, module, "neg.1", "negate", PADDED, 0, TS_NONE);
	feed_op(feed, "neg.1", "non-fusion elementwise", 7, &op);
	return op;
}

/*
 * 100 us of a memory-bound op: 22.495 us go with the padding. The lane dimension, 100 of 128, is the
 * worse one: making it fit saves 28/128 of one of its two arrays, 100 us x 28 224 / 258 048 = 10.9375
 * us. Both arrays share the time: 11.247 us each. Another 100 us of the wall are idle.
 */
TEST(test_bytes_cost_time_in_memory_bound_ops)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5e"), op = add_negate(feed);
	const struct ts_result *result;
	const struct ts_table *table;

	feed->profile.ops[op].hbm_read_bytes = 819 * 40000; /* 40 us of them */
	finish(feed);
	feed_event(feed, line, op, 0, 50);
	feed_event(feed, line, op, 150, 50);
	result = run_after_ops(feed);
	table = feed_table(result, "ops");
	assert_int_equal(table->nr_rows, 1);
	assert_text(feed_cell(table, 0, "op"), "neg.1");
	assert_text(feed_cell(table, 0, "module"), "jit_f");
	assert_near(feed_cell(table, 0, "waste_bytes_pct"), 22.49504, 1e-4);
	assert_no_value(feed_cell(table, 0, "waste_flops_pct"));
	assert_near(feed_cell(table, 0, "waste_ps"), 22495040, 1);
	assert_text(feed_cell(table, 0, "suggestion"),
		    "bf16[500,100]: 100 is stored as 128 already: up to 128 costs no more, "
		    "and a multiple of 128 has no padding");
	assert_no_value(feed_cell(table, 0, "predicted_gain_ps")); /* more work is not a saving */
	table = feed_table(result, "arrays");
	assert_int_equal(table->nr_rows, 2);
	assert_text(feed_cell(table, 0, "name"), "a");
	assert_text(feed_cell(table, 0, "role"), "parameter");
	assert_text(feed_cell(table, 0, "shape"), PADDED);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "logical_bytes")), 100000);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "allocated_bytes")), 129024);
	assert_near(feed_cell(table, 0, "waste_pct"), 22.49504, 1e-4);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "uses")), 1);
	assert_near(feed_cell(table, 0, "time_ps"), 11247520, 1);
	assert_text(feed_cell(table, 1, "name"), "neg.1");
	assert_text(feed_cell(table, 1, "role"), "output");
	assert_near(feed_cell(table, 1, "time_ps"), 11247520, 1);
	assert_near(ts_result_get(result, "waste_ps"), 22495040, 1);
	assert_near(ts_result_get(result, "waste_pct"), 11.24752, 1e-4);
	assert_int_equal(ts_value_int(ts_result_get(result, "logical_bytes")), 200000);
	assert_int_equal(ts_value_int(ts_result_get(result, "allocated_bytes")), 258048);
	feed_free(feed);
}

/* The same op with what its arrays really take, 0.3 us of 50: latency, and tiles cost no time. */
TEST(test_what_the_roofline_does_not_explain_is_no_padding)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5e"), op = add_negate(feed);
	const struct ts_result *result;

	finish(feed);
	feed_event(feed, line, op, 0, 50);
	result = run_after_ops(feed);
	assert_near(feed_cell(feed_table(result, "ops"), 0, "waste_bytes_pct"), 22.49504, 1e-4);
	assert_near(feed_cell(feed_table(result, "ops"), 0, "waste_ps"), 0, 0);
	assert_near(ts_result_get(result, "waste_ps"), 0, 0);
	feed_free(feed);
}

/* dot of [batch,m,k] x [batch,k,n] in a module of its own. */
static uint32_t add_product(struct feed *feed, const char *lhs, const char *rhs, const char *out,
			    uint32_t rank)
{
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	uint32_t op;

	feed_instr(feed, module, "a", "parameter", lhs, TS_NONE, TS_NONE)->parameter_number = 0;
	feed_instr(feed, module, "b", "parameter", rhs, TS_NONE, TS_NONE)->parameter_number = 1;
	feed_dot(feed, feed_instr(feed, module, "dot.1", "dot", out, 0, 1), rank);
	feed_op(feed, "dot.1", "convolution", 7, &op)->hbm_read_bytes = 0;
	feed->profile.ops[op].hbm_write_bytes = 0;
	return op;
}

/* K = 64 of 128, 8 heads, bound by the array: half of the time. */
TEST(test_the_empty_half_of_the_array_costs_half_the_time)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5e");
	uint32_t op = add_product(feed, "bf16[8,2048,64]{2,1,0:T(8,128)(2,1)}",
				  "bf16[8,64,2048]{2,1,0:T(8,128)(2,1)}",
				  "bf16[8,2048,2048]{2,1,0:T(8,128)(2,1)}", 3);
	const struct ts_padding_facts *facts;
	const struct ts_table *ops;

	finish(feed);
	feed_event(feed, line, op, 0, 100);
	ops = feed_table(run_after_ops(feed), "ops");
	assert_near(feed_cell(ops, 0, "waste_flops_pct"), 50, 1e-9);
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "waste_ps")), 50000000);
	assert_text(feed_cell(ops, 0, "suggestion"),
		    "K=64 fills half of 128: pack two of the 8 batches (heads) into one product, "
		    "or make it 128");
	assert_int_equal(ts_value_int(feed_cell(ops, 0, "predicted_gain_ps")), 50000000);
	facts = feed->facts[ts_id_padding];
	assert_int_equal(facts->nr, 1);
	assert_int_equal(facts->items[0].op, op);
	assert_true(fabs(facts->items[0].flops_share - 0.5) < 1e-9);
	assert_int_equal(facts->items[0].waste_ps, 50000000);
	assert_int_equal(facts->items[0].best.gain_ps, 50000000);
	feed_free(feed);
}

/* K = 130 takes two rounds of 128: without the last two it takes one, half the time. K = 500 wastes
 * 12 of 512, 2.34 %, which a larger size would use for nothing. */
TEST(test_sizes_just_over_a_tile_are_brought_down)
{
	static const struct {
		const char *lhs, *rhs, *suggestion;
		int64_t waste_ps, gain_ps;
	} rows[] = {
		{ "bf16[2048,130]{1,0:T(8,128)(2,1)}", "bf16[130,2048]{1,0:T(8,128)(2,1)}",
		  "K=130 takes as long as 256: bring it down to 128", 49218750, 50000000 },
		{ "bf16[2048,500]{1,0:T(8,128)(2,1)}", "bf16[500,2048]{1,0:T(8,128)(2,1)}",
		  "K=500 takes as long as 512: use it up to 512, which costs no more", 2343750,
		  -1 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct feed *feed = feed_new();
		uint32_t line = feed_device(feed, "TPU v5e");
		uint32_t op = add_product(feed, rows[i].lhs, rows[i].rhs,
					  "bf16[2048,2048]{1,0:T(8,128)(2,1)}", 2);
		const struct ts_table *ops;

		finish(feed);
		feed_event(feed, line, op, 0, 100);
		ops = feed_table(run_after_ops(feed), "ops");
		assert_text(feed_cell(ops, 0, "suggestion"), rows[i].suggestion);
		assert_int_equal(ts_value_int(feed_cell(ops, 0, "waste_ps")), rows[i].waste_ps);
		if (rows[i].gain_ps < 0)
			assert_no_value(feed_cell(ops, 0, "predicted_gain_ps"));
		else
			assert_int_equal(ts_value_int(feed_cell(ops, 0, "predicted_gain_ps")),
					 rows[i].gain_ps);
		feed_free(feed);
	}
}

/*
 * K = 32 of 128 leaves 75 % of the array empty, and N = 500 streams through as 504: 1 - 0.25 x 500/504 = 75.2 % of the
 * FLOPs. Of the bytes, which bound the op, 500 stored as 512 is 2.3 %. What is suggested is about the 75.2 %, and gains
 * no time.
 */
TEST(test_a_suggestion_is_about_the_larger_share)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5e");
	uint32_t op = add_product(feed, "bf16[2048,32]{0,1:T(8,128)(2,1)}",
				  "bf16[32,500]{1,0:T(8,128)(2,1)}",
				  "bf16[2048,500]{1,0:T(8,128)(2,1)}", 2);
	const struct ts_padding_facts *facts;
	const struct ts_table *ops;

	feed->profile.ops[op].hbm_read_bytes = 819 * 90000; /* 90 us of them */
	finish(feed);
	feed_event(feed, line, op, 0, 100);
	ops = feed_table(run_after_ops(feed), "ops");
	assert_near(feed_cell(ops, 0, "waste_flops_pct"), 100 * (1 - 0.25 * 500 / 504), 1e-9);
	assert_text(feed_cell(ops, 0, "suggestion"),
		    "K=32 takes as long as 128: use it up to 128, which costs no more");
	assert_no_value(feed_cell(ops, 0, "predicted_gain_ps"));
	facts = feed->facts[ts_id_padding];
	assert_true(ts_bytes_starts(facts->items[0].bytes.text,
				    "bf16[2048,500]: 500 is stored as 512"));
	assert_false(facts->items[0].is_small);
	feed_free(feed);
}

/* A scalar is stored as 128 words, and f32[3,100] as 8 x 128 of them: 4096 bytes, that nothing makes fewer. */
TEST(test_arrays_of_a_few_bytes_are_no_matter)
{
	static const struct {
		const char *shape;
		double pct;
		bool is_small;
	} rows[] = {
		{ "f32[]{:T(128)}", 100. * 127 / 128, true },
		{ "f32[3,100]{1,0:T(8,128)}", 100. * 724 / 1024, true },
		{ "f32[3,130]{1,0:T(8,128)}", 100. * 1658 / 2048, false },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct feed *feed = feed_new();
		struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
		const struct ts_padding_facts *facts;
		const struct ts_table *ops;

		feed_instr(feed, module, "a", "parameter", rows[i].shape, TS_NONE, TS_NONE)
			->parameter_number = 0;
		feed_instr(feed, module, "neg.1", "negate", rows[i].shape, 0, TS_NONE);
		finish(feed);
		ops = feed_table(run_after_ops(feed), "ops");
		assert_near(feed_cell(ops, 0, "waste_bytes_pct"), rows[i].pct, 1e-9);
		facts = feed->facts[ts_id_padding];
		assert_int_equal(facts->items[0].is_small, rows[i].is_small);
		assert_int_equal(isnan(ts_padded_share(&facts->items[0])), rows[i].is_small);
		if (rows[i].is_small)
			assert_no_value(feed_cell(ops, 0, "suggestion"));
		feed_free(feed);
	}
}

/* No module: the result's layout is in the op's text. f32[1000,3] is stored as 1000 x 128. */
TEST(test_a_layout_in_the_text_is_enough_for_the_result)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5e"), op;
	const struct ts_result *result;
	const struct ts_table *table;

	feed_op(feed, "copy.3", "copy", 7, &op)->text =
		TS_LIT("%copy.3 = f32[1000,3]{1,0:T(8,128)} copy(f32[1000,3]{0,1:T(4,128)} %p)");
	finish(feed);
	feed_event(feed, line, op, 0, 100);
	result = run_after_ops(feed);
	table = feed_table(result, "ops");
	assert_no_value(feed_cell(table, 0, "module"));
	assert_near(feed_cell(table, 0, "waste_bytes_pct"), 100. * 125 / 128, 1e-9);
	assert_int_equal(ts_value_int(feed_cell(table, 0, "waste_ps")), 97656250);
	assert_text(feed_cell(table, 0, "suggestion"),
		    "f32[1000,3]: only 3 of 128 lanes hold data: let a larger dimension lie there "
		    "(transpose), or merge it with its neighbour");
	table = feed_table(result, "arrays");
	assert_int_equal(table->nr_rows, 1);
	assert_text(feed_cell(table, 0, "name"), "copy.3");
	assert_int_equal(ts_value_int(feed_cell(table, 0, "allocated_bytes")), 512000);
	assert_true(feed_has_note(result, "no compiled module"));
	feed_free(feed);
}

/* Without the chip's rates what bounds an op is unknown: its time is null, not 0. */
TEST(test_what_is_unknown_stays_unknown)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v99"), op = add_negate(feed);
	const struct ts_result *result;
	const struct ts_table *table;

	finish(feed);
	feed_event(feed, line, op, 0, 100);
	result = run_after_ops(feed);
	table = feed_table(result, "ops");
	assert_near(feed_cell(table, 0, "waste_bytes_pct"), 22.49504, 1e-4);
	assert_no_value(feed_cell(table, 0, "waste_ps"));
	assert_no_value(feed_cell(table, 0, "predicted_gain_ps"));
	feed_free(feed);
}

/* Arrays that lie in VMEM, S(1), take no HBM. */
TEST(test_vmem_is_not_counted)
{
	struct feed *feed = feed_new();
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	const struct ts_result *result;

	feed_instr(feed, module, "a", "parameter", "f32[8,128]{1,0:T(8,128)}", TS_NONE, TS_NONE)
		->parameter_number = 0;
	feed_instr(feed, module, "neg.1", "negate", "f32[8,3]{1,0:T(8,128)S(1)}", 0, TS_NONE);
	finish(feed);
	result = run_after_ops(feed);
	assert_int_equal(feed_table(result, "ops")->nr_rows, 0);
	assert_int_equal(feed_table(result, "arrays")->nr_rows,
			 1); /* the parameter, without padding */
	assert_int_equal(ts_value_int(ts_result_get(result, "allocated_bytes")), 4096);
	feed_free(feed);
}

/*
 * A loop carries the padded array through a tuple, its body reads it through another, and the entry
 * gives it back: one array of many names, a, read by one op (the body's negate); the body's own
 * result is the second.
 */
TEST(test_an_array_of_many_names_is_listed_once)
{
	struct feed *feed = feed_new();
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	static const uint32_t called[] = { 0 };
	struct ts_hlo_instr *loop;
	const struct ts_table *arrays;

	feed_instr(feed, module, "p", "parameter", "(" PADDED ")", TS_NONE, TS_NONE)
		->parameter_number = 0;
	feed_instr(feed, module, "x", "get-tuple-element", PADDED, 0, TS_NONE)->tuple_index = 0;
	feed_instr(feed, module, "neg.1", "negate", PADDED, 1, TS_NONE);
	feed_instr(feed, module, "t", "tuple", "(" PADDED ")", 2, TS_NONE);
	feed_next_comp(module);
	feed_instr(feed, module, "a", "parameter", PADDED, TS_NONE, TS_NONE)->parameter_number = 0;
	feed_instr(feed, module, "init", "tuple", "(" PADDED ")", 4, TS_NONE);
	loop = feed_instr(feed, module, "while.1", "while", "(" PADDED ")", 5, TS_NONE);
	loop->called = called;
	loop->nr_called = 1;
	feed_instr(feed, module, "out", "get-tuple-element", PADDED, 6, TS_NONE)->tuple_index = 0;
	finish(feed);
	arrays = feed_table(run_after_ops(feed), "arrays");
	assert_int_equal(arrays->nr_rows, 2);
	assert_text(feed_cell(arrays, 0, "name"), "neg.1");
	assert_text(feed_cell(arrays, 0, "role"), "intermediate");
	assert_text(feed_cell(arrays, 1, "name"), "a");
	assert_text(feed_cell(arrays, 1, "role"), "parameter");
	assert_int_equal(ts_value_int(feed_cell(arrays, 1, "uses")), 1);
	feed_free(feed);
}

TEST(test_a_module_alone_gives_the_static_part)
{
	struct feed *feed = feed_new();
	const struct ts_result *result;
	const struct ts_table *ops;

	add_negate(feed);
	finish(feed);
	result = run_after_ops(feed);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 1);
	assert_near(feed_cell(ops, 0, "waste_bytes_pct"), 22.49504, 1e-4);
	assert_no_value(feed_cell(ops, 0, "waste_ps"));
	assert_no_value(feed_cell(ops, 0, "predicted_gain_ps"));
	assert_text(feed_cell(ops, 0, "suggestion"),
		    "bf16[500,100]: 100 is stored as 128 already: up to 128 costs no more, "
		    "and a multiple of 128 has no padding");
	assert_no_value(feed_cell(feed_table(result, "arrays"), 0, "time_ps"));
	assert_no_value(ts_result_get(result, "waste_pct"));
	assert_no_value(ts_result_get(result, "waste_ps"));
	assert_near(ts_result_get(result, "allocated_waste_pct"), 22.49504, 1e-4);
	feed_free(feed);
}

/* bf16[8,LHS features,58] by three positions of a kernel, without a chip: an array of 128 x 128. */
static const struct ts_padded_op *when_convolved(struct feed *feed, const char *lhs,
						 const char *rhs, const char *out, int64_t groups)
{
	static const int64_t spatial[] = { 2 };
	static const struct ts_window_dim window = {
		.size = 3, .stride = 1, .window_dilation = 1, .base_dilation = 1
	};
	static const struct ts_conv_dims dims = { 0, 1, 0, 1, 0, 1, 1, spatial, spatial, spatial };
	struct ts_hlo_module *module = feed_module(feed, "jit_f", 7);
	const struct ts_padding_facts *facts;
	struct ts_hlo_instr *conv;

	feed_instr(feed, module, "a", "parameter", lhs, TS_NONE, TS_NONE)->parameter_number = 0;
	feed_instr(feed, module, "b", "parameter", rhs, TS_NONE, TS_NONE)->parameter_number = 1;
	conv = feed_instr(feed, module, "conv.1", "convolution", out, 0, 1);
	conv->conv = &dims;
	conv->window = &window;
	conv->nr_window = 1;
	conv->feature_group_count = groups;
	finish(feed);
	run_after_ops(feed);
	facts = feed->facts[ts_id_padding];
	return facts->nr > 0 ? &facts->items[0] : NULL;
}

/*
 * K = 16 features x 3 positions, of 128: what fills the array are features. In two groups of 32 features it is wider
 * groups. A depthwise convolution is no product on the array at all.
 */
TEST(test_what_is_said_of_a_convolution_follows_its_groups)
{
	static const struct {
		const char *lhs, *rhs, *out, *text;
		int64_t groups;
	} rows[] = {
		{ "bf16[8,16,58]{2,1,0}", "bf16[16,256,3]{2,1,0}", "bf16[8,256,56]{2,1,0}",
		  "K=48 is 16 features at 3 positions of the kernel: more features fill the array, "
		  "a "
		  "larger kernel takes longer",
		  1 },
		{ "bf16[8,64,58]{2,1,0}", "bf16[32,64,3]{2,1,0}", "bf16[8,64,56]{2,1,0}",
		  "each of the 2 groups has 32 x 32 features for an array of 128 x 128: fewer, "
		  "wider "
		  "groups fill more of it",
		  2 },
		{ "bf16[8,64,58]{2,1,0}", "bf16[1,64,3]{2,1,0}", "bf16[8,64,56]{2,1,0}", NULL, 64 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct feed *feed = feed_new();
		const struct ts_padded_op *op =
			when_convolved(feed, rows[i].lhs, rows[i].rhs, rows[i].out, rows[i].groups);

		assert_int_equal(op != NULL, rows[i].text != NULL);
		if (op && !ts_bytes_is(op->best.text, rows[i].text))
			fail_msg("%.*s", TS_ARG(op->best.text));
		feed_free(feed);
	}
}

TEST(test_an_empty_profile_says_nothing)
{
	struct feed *feed = feed_new();
	const struct ts_result *result = run_after_ops(feed);

	assert_no_value(ts_result_get(result, "waste_pct"));
	assert_no_value(ts_result_get(result, "allocated_bytes"));
	assert_int_equal(feed_table(result, "arrays")->nr_rows, 0);
	assert_int_equal(result->nr_notes, 0);
	feed_free(feed);
}
