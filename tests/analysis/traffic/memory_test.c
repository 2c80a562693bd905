/* SPDX-License-Identifier: MIT */
/*
 * What ops move, in which memory and how fast; copies and why; arrays stored wider than needed.
 * Chip: v5e, 819e9 B/s of HBM. VEC is f32[1024,128] in whole tiles: N = 524 288 bytes. Expected
 * values are worked out beside them.
 */
#include "tests/analysis/feed.h"

#include "analysis/facts/memory.h"
#include "read/hlo.h"
#include "result/schema/memory.def"
#include "tests/read/hlo_make.h"

#define VEC	"f32[1024,128]{1,0:T(8,128)}"
#define HALF	"bf16[1024,128]{1,0:T(8,128)(2,1)}"
#define TURNED	"f32[1024,128]{0,1:T(8,128)}"
#define ON_CHIP "f32[1024,128]{1,0:T(8,128)S(1)}"
#define ON_HOST "f32[1024,128]{1,0:T(8,128)S(5)}"
#define FLAG	"u32[]{:S(2)}"
#define N	INT64_C(524288)

extern const struct ts_analysis ts_analysis_ops, ts_analysis_rates, ts_analysis_memory;

static const struct ts_result *close_memory(struct feed *feed, const struct ts_rates *chip)
{
	struct ts_result *result = TS_ADD(&feed->results, memory);
	struct ts_context ctx = { .profile = &feed->profile,
				  .outline = &feed->outline,
				  .rates = feed->profile.nr_devices > 0 ? feed->rates : NULL,
				  .chip = chip };
	struct ts_memory_facts facts = { .nr_ops = 0 };
	struct ts_error err = TS_ERROR_INIT;

	feed_facts(feed, &ctx);
	if (ts_analysis_memory.close(NULL, &ctx, &facts, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static const struct ts_result *run(struct feed *feed)
{
	feed_run(feed, &ts_analysis_rates);
	feed_run(feed, &ts_analysis_ops);
	return close_memory(feed, NULL);
}

static size_t row_of(const struct ts_table *table, const char *op)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (ts_bytes_is(feed_cell(table, i, "op").as.s, op))
			return i;
	fail_msg("no row %s", op);
	return 0;
}

static int64_t int_at(const struct ts_table *table, size_t row, const char *column)
{
	return ts_value_int(feed_cell(table, row, column));
}

static int64_t field(const struct ts_result *result, const char *name)
{
	return ts_value_int(ts_result_get(result, name));
}

static struct ts_op *add_op(struct feed *feed, const char *name, const char *category, uint32_t *at)
{
	struct ts_op *op = feed_op(feed, name, category, 7, at);

	op->symbol_id = 1;
	op->kind = TS_OP_COMPUTE;
	return op;
}

/* Twice 60 bytes read and 40 written a microsecond: 100 bytes in 1 us is 1e8 B/s of 819e9. */
TEST(test_the_breakdown_gives_bytes_by_memory_and_way)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), at;
	struct ts_op *op = add_op(feed, "fusion.1", "loop fusion", &at);
	const struct ts_result *result;
	const struct ts_table *ops;

	op->bytes_accessed = 130;
	op->hbm_read_bytes = 60;
	op->hbm_write_bytes = 40;
	op->onchip_bytes = op->vmem_read_bytes = 30;
	feed_event(feed, line, at, 0, 1);
	feed_event(feed, line, at, 5, 1);
	result = run(feed);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 1);
	assert_int_equal(int_at(ops, 0, "executions"), 2);
	assert_int_equal(int_at(ops, 0, "hbm_read_bytes"), 120);
	assert_int_equal(int_at(ops, 0, "hbm_written_bytes"), 80);
	assert_int_equal(int_at(ops, 0, "vmem_read_bytes"), 60);
	assert_int_equal(int_at(ops, 0, "vmem_written_bytes"), 0);
	assert_int_equal(int_at(ops, 0, "host_bytes"), 0);
	assert_near(feed_cell(ops, 0, "hbm_bytes_per_s"), 1e8, 1);
	assert_near(feed_cell(ops, 0, "hbm_pct"), 100 * 1e8 / 819e9, 1e-9);
	assert_text(feed_cell(ops, 0, "bytes_from"), "breakdown");
	assert_int_equal(field(result, "hbm_read_bytes"), 120);
	assert_int_equal(field(result, "hbm_written_bytes"), 80);
	assert_int_equal(field(result, "unknown_op_count"), 0);
	assert_no_value(ts_result_get(result, "peak_bytes"));
	feed_free(feed);
}

/* Read or written is unknown: the sum is known, the ways are not. Nor is a kernel of 0 bytes. */
TEST(test_what_is_not_known_is_not_made_up)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), plain, kernel;
	const struct ts_result *result;
	const struct ts_table *ops;
	size_t row;

	add_op(feed, "add.1", "loop fusion", &plain)->bytes_accessed = 1000;
	add_op(feed, "kernel.2", "custom-call", &kernel)->bytes_accessed = 0;
	feed_event(feed, line, plain, 0, 1);
	feed_event(feed, line, kernel, 2, 3);
	result = run(feed);
	ops = feed_table(result, "ops");
	row = row_of(ops, "add.1");
	assert_no_value(feed_cell(ops, row, "hbm_read_bytes"));
	assert_no_value(feed_cell(ops, row, "hbm_written_bytes"));
	assert_int_equal(int_at(ops, row, "hbm_bytes"), 1000);
	assert_text(feed_cell(ops, row, "bytes_from"), "bytes_accessed");
	row = row_of(ops, "kernel.2");
	assert_no_value(feed_cell(ops, row, "hbm_bytes"));
	assert_no_value(feed_cell(ops, row, "hbm_bytes_per_s"));
	assert_no_value(ts_result_get(result, "hbm_read_bytes"));
	assert_int_equal(field(result, "hbm_unsplit_bytes"), 1000);
	assert_int_equal(field(result, "unknown_op_count"), 1);
	assert_int_equal(field(result, "unknown_ps"), 3 * TS_PS_PER_US);
	assert_true(feed_has_note(result, "lower bounds"));
	feed_free(feed);
}

/*
 * A fetch from the host, as libtpu has it: the done says what it writes to HBM, and neither says
 * that it came over the link. Under way for 10 us in each of two runs: 4096 bytes in 10 us is
 * 4.096e8 B/s.
 */
TEST(test_a_fetch_from_the_host_is_one_row_with_its_whole_time)
{
	struct feed *feed = feed_new();
	uint32_t line = feed_device(feed, "TPU v5 lite"), start, done;
	const struct ts_result *result;
	const struct ts_table *ops, *link, *sums;
	struct ts_op *op;

	add_op(feed, "copy-start.1", "copy-start", &start);
	add_op(feed, "copy-done.1", "copy-done", &done);
	op = &feed->profile.ops[start];
	op->kind = TS_OP_HOST;
	op->async = TS_ASYNC_START;
	op->partner = done;
	op->bytes_accessed = 0;
	op = &feed->profile.ops[done];
	op->kind = TS_OP_HOST;
	op->async = TS_ASYNC_DONE;
	op->partner = start;
	op->bytes_accessed = 4096;
	for (int64_t at = 0; at < 40; at += 20) {
		feed_event(feed, line, start, at, 1);
		feed_event(feed, line, done, at + 7, 3);
	}
	result = run(feed);
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 1);
	assert_text(feed_cell(ops, 0, "op"), "copy-start.1");
	assert_int_equal(int_at(ops, 0, "executions"), 2);
	assert_int_equal(int_at(ops, 0, "hbm_read_bytes"), 0);
	assert_int_equal(int_at(ops, 0, "hbm_written_bytes"), 8192);
	sums = feed_table(result, "categories"); /* 1 + 3 us of the core, twice; 10 us under way */
	assert_int_equal(int_at(sums, 0, "self_time_ps"), 8 * TS_PS_PER_US);
	assert_int_equal(int_at(sums, 0, "time_ps"), 20 * TS_PS_PER_US);
	link = feed_table(result, "host_link");
	assert_int_equal(link->nr_rows, 1);
	assert_int_equal(int_at(link, 0, "from_host_bytes"), 8192);
	assert_int_equal(int_at(link, 0, "to_host_bytes"), 0);
	assert_int_equal(int_at(link, 0, "waited_ps"), 8 * TS_PS_PER_US);
	assert_near(feed_cell(link, 0, "bytes_per_s"), 4.096e8, 1);
	assert_int_equal(field(result, "from_host_bytes"), 8192);
	feed_free(feed);
}

/* Of a module alone: x -> first -> second; what comes of it is looked up by the caller. */
static const struct ts_result *module_alone(struct feed *feed, struct make *make)
{
	struct ts_hlo_module *module = ts_profile_add_module(&feed->profile, 1);
	struct ts_error err = TS_ERROR_INIT;

	assert_non_null(module);
	if (ts_hlo_read(&feed->profile.arena, make_end(make, 1), TS_LIT("a.pb"), module, &err))
		fail_msg("%s", err.text);
	return close_memory(feed, NULL);
}

TEST(test_a_copy_says_what_it_is_for)
{
	static const struct {
		const char *from, *to, *opcode, *reader, *code;
	} rows[] = {
		{ VEC, TURNED, "copy", "negate", "argument_layout" },
		{ VEC, ON_CHIP, "copy", "negate", "memory_space" },
		{ ON_HOST, VEC, "copy", "negate", "host" },
		{ VEC, "f32[128,1024]{1,0:T(8,128)}", "transpose", "negate", "transpose" },
		{ VEC, "f32[512,256]{1,0:T(8,128)}", "reshape", "negate", "reshape" },
		{ VEC, VEC, "copy", "dynamic-update-slice", "argument_kept" },
		{ VEC, VEC, "copy", "negate", "alias" },
		{ VEC, VEC, "copy", NULL, "argument_returned" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct feed *feed = feed_new();
		struct make make = MAKE_INIT;
		size_t comp = make_comp(&make, "main");
		const struct ts_table *copies;

		make_param(&make, 0, rows[i].from, 10);
		make_op(&make, "moved", rows[i].opcode, rows[i].to, 11, 1, (int64_t[]){ 10 });
		if (rows[i].reader)
			make_op(&make, "reader", rows[i].reader, rows[i].to, 12, 1,
				(int64_t[]){ 11 });
		make_end_comp(&make, comp, 1, rows[i].reader ? 12 : 11);
		copies = feed_table(module_alone(feed, &make), "layout_copies");
		assert_int_equal(copies->nr_rows, 1);
		assert_text(feed_cell(copies, 0, "reason_code"), rows[i].code);
		assert_text(feed_cell(copies, 0, "producer"), "(argument)");
		assert_text(feed_cell(copies, 0, "consumer"),
			    rows[i].reader ? "reader" : "(result)");
		assert_text(feed_cell(copies, 0, "from"), rows[i].from);
		assert_text(feed_cell(copies, 0, "to"), rows[i].to);
		assert_int_equal(int_at(copies, 0, "bytes"), 2 * N);
		assert_no_value(feed_cell(copies, 0, "time_ps"));
		ts_buf_release(&make.out);
		feed_free(feed);
	}
}

/* maker -> bitcast -> copy-start -> copy-done -> tuple -> element -> reader */
TEST(test_neighbours_are_found_behind_names_and_halves)
{
	struct feed *feed = feed_new();
	struct make make = MAKE_INIT;
	size_t comp = make_comp(&make, "main");
	const struct ts_result *result;
	const struct ts_table *copies, *ops;

	make_param(&make, 0, VEC, 10);
	make_op(&make, "maker", "negate", VEC, 11, 1, (int64_t[]){ 10 });
	make_op(&make, "name", "bitcast", VEC, 12, 1, (int64_t[]){ 11 });
	make_op(&make, "start", "copy-start", "(" ON_CHIP ", " VEC ", " FLAG ")", 13, 1,
		(int64_t[]){ 12 });
	make_op(&make, "done", "copy-done", ON_CHIP, 14, 1, (int64_t[]){ 13 });
	make_op(&make, "pair", "tuple", "(" ON_CHIP ", " VEC ")", 15, 2, (int64_t[]){ 14, 11 });
	make_op(&make, "element", "get-tuple-element", ON_CHIP, 16, 1, (int64_t[]){ 15 });
	make_op(&make, "reader", "negate", VEC, 17, 1, (int64_t[]){ 16 });
	make_end_comp(&make, comp, 1, 17);
	result = module_alone(feed, &make);
	copies = feed_table(result, "layout_copies");
	assert_int_equal(copies->nr_rows, 1);
	assert_text(feed_cell(copies, 0, "producer"), "maker");
	assert_text(feed_cell(copies, 0, "consumer"), "reader");
	assert_text(feed_cell(copies, 0, "reason_code"), "memory_space");
	assert_int_equal(int_at(copies, 0, "bytes"), 2 * N);
	assert_int_equal(field(result, "layout_copy_count"), 0); /* it changes no layout */
	/* the start reads HBM, the done writes VMEM: one row */
	ops = feed_table(result, "ops");
	assert_int_equal(ops->nr_rows, 3);
	assert_int_equal(int_at(ops, row_of(ops, "start"), "hbm_read_bytes"), N);
	assert_int_equal(int_at(ops, row_of(ops, "start"), "hbm_written_bytes"), 0);
	assert_int_equal(int_at(ops, row_of(ops, "start"), "vmem_written_bytes"), N);
	assert_int_equal(int_at(ops, row_of(ops, "reader"), "vmem_read_bytes"), N);
	assert_int_equal(int_at(ops, row_of(ops, "reader"), "hbm_written_bytes"), N);
	ts_buf_release(&make.out);
	feed_free(feed);
}

/* A fusion of one operand; INSIDE is the op that its parameter goes into. */
static void make_fused(struct make *make, int64_t id, const char *in, const char *inside,
		       const char *out)
{
	const int64_t base = id * 1000;
	size_t comp = make_comp(make, "fused");

	make_param(make, 0, in, base);
	make_op(make, "inside", inside, out, base + 1, 1, (int64_t[]){ base });
	make_end_comp(make, comp, id, base + 1);
}

struct widening {
	const char *maker_inside, *maker_from; /* of the fusion that writes VEC */
	const char *reader, *reader_shape;
	const char *second_reader; /* NULL: there is none */
	bool is_given_out;
};

static const struct ts_result *given_widening(struct feed *feed, struct make *make,
					      const struct widening *what)
{
	size_t comp;

	make_fused(make, 2, what->maker_from, what->maker_inside, VEC);
	make_fused(make, 3, VEC, what->reader, what->reader_shape);
	comp = make_comp(make, "main");
	make_param(make, 0, what->maker_from, 10);
	make_caller(make, "maker", "fusion", VEC, 11, 1, (int64_t[]){ 10 }, 2);
	make_caller(make, "reader", "fusion", what->reader_shape, 12, 1, (int64_t[]){ 11 }, 3);
	make_op(make, "second", what->second_reader ? what->second_reader : "negate", HALF, 13, 1,
		(int64_t[]){ what->second_reader ? 11 : 12 });
	make_op(make, "all", "tuple", "(" HALF ", " VEC ")", 14, 2,
		(int64_t[]){ 13, what->is_given_out ? 11 : 10 });
	make_end_comp(make, comp, 1, what->is_given_out ? 14 : 13);
	return module_alone(feed, make);
}

/*
 * maker writes VEC, N bytes of f32. As bf16 it would be N/2: N/2 less written, N/2 less read by
 * each reader. It is listed where all readers round it first, and never where one of them needs
 * f32.
 */
TEST(test_an_array_that_all_readers_round_is_stored_too_wide)
{
	static const struct {
		struct widening what;
		const char *confidence; /* NULL: nothing is said */
		int64_t bytes;
		const char *was;
	} rows[] = {
		{ { "convert", HALF, "convert", HALF, NULL, false }, "certain", N, "bf16" },
		{ { "negate", VEC, "convert", HALF, NULL, false }, "certain", N, NULL },
		{ { "convert", HALF, "convert", HALF, "convert", false },
		  "certain",
		  N + N / 2,
		  "bf16" },
		{ { "convert", HALF, "dot", VEC, NULL, false }, "likely", N, "bf16" },
		{ { "convert", HALF, "negate", VEC, NULL, false }, NULL, 0, NULL },
		{ { "convert", HALF, "convert", HALF, "negate", false }, NULL, 0, NULL },
		{ { "convert", HALF, "convert", HALF, NULL, true }, NULL, 0, NULL },
		{ { "convert", HALF, "convert", "f64[1024,128]{1,0:T(8,128)}", NULL, false },
		  NULL,
		  0,
		  NULL },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct feed *feed = feed_new();
		struct make make = MAKE_INIT;
		const struct ts_result *result = given_widening(feed, &make, &rows[i].what);
		const struct ts_table *upcasts = feed_table(result, "upcasts");

		assert_int_equal(upcasts->nr_rows, rows[i].confidence ? 1 : 0);
		assert_int_equal(field(result, "upcast_bytes"), rows[i].bytes);
		if (rows[i].confidence) {
			assert_text(feed_cell(upcasts, 0, "op"), "maker");
			assert_text(feed_cell(upcasts, 0, "enough"), "bf16");
			assert_text(feed_cell(upcasts, 0, "confidence"), rows[i].confidence);
			if (rows[i].was)
				assert_text(feed_cell(upcasts, 0, "widened_from"), rows[i].was);
			else
				assert_no_value(feed_cell(upcasts, 0, "widened_from"));
		}
		ts_buf_release(&make.out);
		feed_free(feed);
	}
}

TEST(test_nothing_is_said_of_nothing)
{
	struct feed *feed = feed_new();
	const struct ts_result *result = close_memory(feed, NULL);

	assert_no_value(ts_result_get(result, "hbm_read_bytes"));
	assert_no_value(ts_result_get(result, "hbm_bytes_per_s"));
	assert_null(ts_result_find_table(result, "ops"));
	feed_free(feed);
}
