/* SPDX-License-Identifier: MIT */
/* Rematerialization by a module and events written down by hand. */
#include "tests/analysis/feed.h"

#include "analysis/facts/remat.h"

extern const struct ts_analysis ts_analysis_ops, ts_analysis_remat;

#define PROGRAM 7
#define SCOPE	"jit(f)/transpose(jvp(block))/checkpoint"

/*
 * Forward: product.1 = dot(x, w), tanh.2 of it. Backward: the product again (product.1b), tanh.2b
 * of it, which gradient.3 uses. All f32[256,128]: 131072 bytes.
 */
static struct ts_hlo_module *given_module(struct feed *feed)
{
	struct ts_hlo_module *module = feed_module(feed, "jit_f", PROGRAM);
	static const struct {
		const char *name, *opcode, *scope;
		uint32_t a, b;
	} rows[] = {
		{ "x", "parameter", "", TS_NONE, TS_NONE },
		{ "w", "parameter", "", TS_NONE, TS_NONE },
		{ "product.1", "dot", "jit(f)/jvp(block)/dot_general", 0, 1 },
		{ "tanh.2", "tanh", "jit(f)/jvp(block)/tanh", 2, TS_NONE },
		{ "product.1b", "dot", SCOPE "/rematted_computation/dot_general", 0, 1 },
		{ "tanh.2b", "tanh", SCOPE "/rematted_computation/tanh", 4, TS_NONE },
		{ "copy.9", "copy", "", 5, TS_NONE },
		{ "gradient.3", "multiply", SCOPE "/mul", 3, 6 },
		{ "norm.4.remat", "add", "jit(f)/jvp(norm)/add", 0, 1 },
		{ "norm.4", "add", "jit(f)/jvp(norm)/add", 0, 1 },
		{ "end.5", "add", "jit(f)/add", 7, 8 },
	};
	static const uint32_t users[][2] = { { 2, 1 },	{ 0, 0 }, { 3, 1 }, { 7, 1 },
					     { 5, 1 },	{ 6, 1 }, { 7, 1 }, { 10, 1 },
					     { 10, 1 }, { 0, 0 }, { 0, 0 } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_hlo_instr *instr =
			feed_instr(feed, module, rows[i].name, rows[i].opcode,
				   "f32[256,128]{1,0:T(8,128)}", rows[i].a, rows[i].b);

		instr->op_name = ts_bytes_of(rows[i].scope);
		instr->source_line = 4;
		instr->users = &users[i][0];
		instr->nr_users = users[i][1];
	}
	return module;
}

static void link_op(struct ts_op *op, uint32_t instr, const char *scope)
{
	op->module = 0;
	op->instr = instr;
	op->framework_op = ts_bytes_of(scope);
	op->is_remat = true;
	op->symbol_id = instr + 1;
	op->flops = 1000;
	op->bytes_accessed = 3000;
}

static size_t row_of(const struct ts_table *table, const char *name)
{
	size_t i = 0;

	while (i < table->nr_rows && !ts_bytes_is(feed_cell(table, i, "name").as.s, name))
		i++;
	assert_true(i < table->nr_rows);
	return i;
}

/* Two trips a run: 2 runs, 4 executions of 30 and 10 us; product 120, tanh 40, norm 6 us. */
static void given_run(struct feed *feed)
{
	uint32_t line, modules, op[3], run;

	given_module(feed);
	line = feed_device(feed, "TPU v5 lite");
	modules = feed_line(feed, TS_LINE_MODULES);
	feed->profile.lines[modules].plane = feed->profile.lines[line].plane;
	link_op(feed_op(feed, "product.1b", "dot", PROGRAM, &op[0]), 4,
		SCOPE "/rematted_computation/dot_general");
	link_op(feed_op(feed, "tanh.2b", "tanh", PROGRAM, &op[1]), 5,
		SCOPE "/rematted_computation/tanh");
	link_op(feed_op(feed, "norm.4.remat", "add", PROGRAM, &op[2]), 8, "jit(f)/jvp(norm)/add");
	feed_op(feed, "jit_f", "", PROGRAM, &run)->kind = TS_OP_MODULE;
	feed->profile.ops[run].module = 0;
	for (int64_t i = 0; i < 2; i++) {
		feed_event(feed, modules, run, i * 100, 90);
		for (int64_t trip = 0; trip < 2; trip++) {
			feed_event(feed, line, op[0], i * 100 + trip * 40, 30);
			feed_event(feed, line, op[1], i * 100 + trip * 40 + 30, 10);
		}
		feed_event(feed, line, op[2], i * 100 + 80, 3);
	}
}

TEST(each_op_has_its_original_its_cost_and_what_keeping_it_takes)
{
	struct feed *feed = feed_new();
	const struct ts_table *ops;
	const struct ts_result *result;
	size_t product, tanh_row, norm;

	given_run(feed);
	feed_run(feed, &ts_analysis_ops);
	result = feed_run(feed, &ts_analysis_remat);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 3);
	product = row_of(ops, "product.1b");
	tanh_row = row_of(ops, "tanh.2b");
	norm = row_of(ops, "norm.4.remat");
	assert_text(feed_cell(ops, product, "original"), "product.1");
	assert_text(feed_cell(ops, tanh_row, "original"), "tanh.2");
	assert_text(feed_cell(ops, norm, "original"), "norm.4");
	assert_text(feed_cell(ops, product, "kind"), "checkpoint");
	assert_text(feed_cell(ops, norm, "kind"), "xla");
	/* two trips: two arrays would live; only tanh's are used by an op that is not recomputed */
	assert_int_equal(ts_value_int(feed_cell(ops, product, "kept_bytes")), 2 * 131072);
	assert_int_equal(ts_value_int(feed_cell(ops, product, "saved_bytes")), 0);
	assert_int_equal(ts_value_int(feed_cell(ops, tanh_row, "saved_bytes")), 2 * 131072);
	assert_int_equal(ts_value_int(feed_cell(ops, norm, "saved_bytes")), 131072);
	assert_int_equal(ts_value_int(ts_result_get(result, "saved_bytes")), 3 * 131072);
	assert_int_equal(ts_value_int(ts_result_get(result, "op_count")), 3);
	assert_near(ts_result_get(result, "flops"), 10 * 1000, 0);
	feed_free(feed);
}

/* The doctor reads them: the costliest op first, its original, and what it takes to keep it. */
TEST(the_facts_name_the_costliest_op_first)
{
	struct feed *feed = feed_new();
	const struct ts_remat_facts *facts;

	given_run(feed);
	feed_run(feed, &ts_analysis_ops);
	feed_run(feed, &ts_analysis_remat);
	facts = feed->facts[ts_id_remat];
	assert_int_equal(facts->nr_ops, 3);
	assert_int_equal(facts->saved_bytes, 3 * 131072);
	for (size_t i = 0; i + 1 < facts->nr_ops; i++)
		assert_true(facts->ops[i].time_ps >= facts->ops[i + 1].time_ps);
	for (size_t i = 0; i < facts->nr_ops; i++)
		if (ts_bytes_is(facts->ops[i].name, "product.1b")) {
			assert_true(ts_bytes_is(facts->ops[i].original, "product.1"));
			assert_int_equal(facts->ops[i].kept_bytes, 2 * 131072);
			assert_false(facts->ops[i].by_xla);
		}
	feed_free(feed);
}

TEST(a_block_is_what_stands_before_the_recomputation)
{
	struct feed *feed = feed_new();
	const struct ts_table *regions;
	const struct ts_result *result;
	size_t block = 0;

	given_run(feed);
	feed_run(feed, &ts_analysis_ops);
	result = feed_run(feed, &ts_analysis_remat);
	regions = feed_table(result, "regions");
	assert_int_equal(regions->nr_rows, 2);
	if (!ts_bytes_is(feed_cell(regions, 0, "region").as.s, SCOPE))
		block = 1;
	assert_text(feed_cell(regions, block, "region"), SCOPE);
	assert_text(feed_cell(regions, 1 - block, "region"), "jit(f)/jvp(norm)");
	assert_int_equal(ts_value_int(feed_cell(regions, block, "ops")), 2);
	assert_int_equal(ts_value_int(feed_cell(regions, block, "executions")), 2);
	assert_int_equal(ts_value_int(feed_cell(regions, block, "saved_bytes")), 2 * 131072);
	assert_near(feed_cell(regions, block, "flops"), 8 * 1000, 0);
	assert_near(feed_cell(regions, block, "bytes_accessed"), 8 * 3000, 0);
	feed_free(feed);
}

/* Without a run: one trip each, no time, and the ops of the module alone. */
TEST(a_module_alone_has_what_is_saved)
{
	struct feed *feed = feed_new();
	const struct ts_result *result;
	const struct ts_table *ops;

	given_module(feed);
	feed_run(feed, &ts_analysis_ops);
	result = feed_run(feed, &ts_analysis_remat);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 3);
	assert_int_equal(ts_value_int(feed_cell(ops, row_of(ops, "tanh.2b"), "saved_bytes")),
			 131072);
	assert_no_value(feed_cell(ops, 0, "time_ps"));
	assert_no_value(ts_result_get(result, "time_ps"));
	feed_free(feed);
}

TEST(a_run_without_recomputation_says_nothing)
{
	struct feed *feed = feed_new();
	const struct ts_result *result;

	feed_device(feed, "TPU v5 lite");
	feed_run(feed, &ts_analysis_ops);
	result = feed_run(feed, &ts_analysis_remat);
	assert_int_equal(ts_value_int(ts_result_get(result, "op_count")), 0);
	assert_int_equal(ts_value_int(ts_result_get(result, "time_ps")), 0);
	assert_int_equal(feed_table(result, "ops")->nr_rows, 0);
	feed_free(feed);
}
