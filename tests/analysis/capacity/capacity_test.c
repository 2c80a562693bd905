/* SPDX-License-Identifier: MIT */
/*
 * Room in device memory. VEC is f32[1024,128] in whole tiles: N = 524 288 bytes. A run holds its
 * arguments and results from beginning to end; the answers beside the cases are counted by hand.
 */
#include "tests/test.h"
#include "analysis/analysis.h"
#include "analysis/facts/capacity.h"
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "result/schema/capacity.def"
#include "tests/analysis/facts_given.h"
#include "tests/result/values.h"
#include "read/hlo.h"
#include "tests/read/hlo_make.h"

#define VEC	"f32[1024,128]{1,0:T(8,128)}"
#define TURNED	"f32[1024,128]{0,1:T(8,128)}"
#define ON_CHIP "f32[1024,128]{1,0:T(8,128)S(1)}"
#define ON_HOST "f32[1024,128]{1,0:T(8,128)S(5)}"
#define THIN	"f32[1024,8]{1,0:T(8,128)}" /* 128 lanes a row all the same */
#define FLAG	"u32[]{:S(2)}"
#define COUNT	"s32[]{:T(128)}"
#define PAIR	"(" VEC ", " VEC ")"
#define N	INT64_C(524288)

extern const struct ts_analysis ts_analysis_capacity;

struct given {
	struct make make;
	struct ts_buf outer;
	size_t comp;
	struct ts_profile profile;
	struct ts_results results;
	struct ts_settings settings;
	struct ts_rates chip;
	struct ts_context ctx;
	struct ts_capacity_facts facts;
	const struct ts_result *result;
};

static struct given *given_new(void)
{
	struct given *given = calloc(1, sizeof(*given));

	assert_non_null(given);
	ts_profile_init(&given->profile);
	ts_results_init(&given->results);
	ts_settings_init(&given->settings);
	given->chip = (struct ts_rates){ .name = "a chip", .hbm_bytes = 10 * N };
	given->ctx = (struct ts_context){ .profile = &given->profile,
					  .settings = &given->settings,
					  .chip = &given->chip };
	facts_of_nothing(&given->ctx);
	return given;
}

static void done(struct given *given)
{
	ts_buf_release(&given->make.out);
	ts_buf_release(&given->outer);
	ts_results_release(&given->results);
	ts_profile_release(&given->profile);
	free(given);
}

static void op(struct given *given, const char *name, const char *opcode, const char *shape,
	       int64_t id, int64_t operand)
{
	make_op(&given->make, name, opcode, shape, id, operand ? 1 : 0, &operand);
}

static void op2(struct given *given, const char *name, const char *opcode, const char *shape,
		int64_t id, int64_t a, int64_t b)
{
	make_op(&given->make, name, opcode, shape, id, 2, (int64_t[]){ a, b });
}

static void element(struct given *given, const char *name, const char *shape, int64_t id,
		    int64_t of, int64_t index)
{
	make_begin_op(&given->make, name, "get-tuple-element", shape, id, 1, &of);
	ts_pbw_i64(&given->make.out, 13, index);
	make_end_op(&given->make);
}

static void read_proto(struct given *given, struct ts_bytes proto)
{
	struct ts_hlo_module *module =
		ts_profile_add_module(&given->profile, given->profile.nr_modules + 1);
	struct ts_error err = TS_ERROR_INIT;

	assert_non_null(module);
	if (ts_hlo_read(&given->profile.arena, proto, TS_LIT("a.pb"), module, &err))
		fail_msg("%s", err.text);
}

static void analyse(struct given *given)
{
	struct ts_result *result = TS_ADD(&given->results, capacity);

	assert_int_equal(ts_analysis_capacity.close(NULL, &given->ctx, &given->facts, result, NULL),
			 TS_OK);
	given->result = result;
}

/* Ends the entry and the module, and looks at it. */
static void end_and_analyse(struct given *given, int64_t id, int64_t root)
{
	make_end_comp(&given->make, given->comp, id, root);
	read_proto(given, make_end(&given->make, id));
	analyse(given);
}

static int64_t bytes_of(const struct given *given, const char *field)
{
	return ts_value_int(ts_result_get(given->result, field));
}

static struct ts_value in(const struct given *given, const char *name, size_t row,
			  const char *column)
{
	const struct ts_table *table = ts_result_find_table(given->result, name);

	assert_non_null(table);
	assert_true(row < table->nr_rows && ts_table_column(table, column) >= 0);
	return ts_table_cell(table, row, ts_table_column(table, column));
}

static size_t rows(const struct given *given, const char *name)
{
	const struct ts_table *table = ts_result_find_table(given->result, name);

	return table ? table->nr_rows : 0;
}

TEST(test_a_buffer_is_alive_from_its_op_to_its_last_user)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "a", "reverse", VEC, 2, 1);
	op(given, "b", "reverse", VEC, 3, 2); /* a and b */
	op2(given, "c", "dot", VEC, 4, 3, 2); /* a, b and c */
	op(given, "d", "reverse", VEC, 5, 4); /* c and the result */
	end_and_analyse(given, 1, 5);
	assert_int_equal(bytes_of(given, "argument_bytes"), N);
	assert_int_equal(bytes_of(given, "output_bytes"), N);
	assert_int_equal(bytes_of(given, "temp_bytes"), 3 * N);
	assert_int_equal(bytes_of(given, "peak_bytes"), 5 * N);
	assert_text(ts_result_get(given->result, "peak_op"), "c");
	assert_int_equal(ts_value_int(in(given, "modules", 0, "peak_position")), 3);
	assert_int_equal(rows(given, "buffers"), 5);
	assert_true(fabs(ts_value_number(ts_result_get(given->result, "peak_pct")) - 50) < 1e-9);
	assert_int_equal(bytes_of(given, "headroom_bytes"), 5 * N);
	done(given);
}

TEST(test_names_of_a_buffer_are_one_buffer)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, PAIR, 1);
	element(given, "first", VEC, 2, 1, 0);
	op(given, "named", "bitcast", VEC, 3, 2);
	op(given, "a", "negate", VEC, 4, 3);
	op2(given, "pair", "tuple", PAIR, 5, 4, 3);
	element(given, "again", VEC, 6, 5, 0);
	op(given, "b", "negate", VEC, 7, 6);
	end_and_analyse(given, 1, 7);
	assert_int_equal(bytes_of(given, "argument_bytes"), 2 * N);
	assert_int_equal(bytes_of(given, "temp_bytes"), N); /* a alone */
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N);
	done(given);
}

TEST(test_padding_of_the_layout_takes_room)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, THIN, 1);
	op(given, "a", "negate", THIN, 2, 1);
	end_and_analyse(given, 1, 2);
	assert_int_equal(bytes_of(given, "peak_bytes"), 2 * N);
	assert_int_equal(ts_value_int(in(given, "buffers", 0, "logical_bytes")), N / 16);
	assert_true(fabs(ts_value_number(in(given, "buffers", 0, "padding_pct")) - 93.75) < 1e-9);
	done(given);
}

TEST(test_other_memories_are_not_hbm)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "fetch", "copy-start", "(" ON_CHIP ", " VEC ", " FLAG ")", 2, 1);
	op(given, "fetched", "copy-done", ON_CHIP, 3, 2);
	op(given, "a", "negate", ON_CHIP, 4, 3);
	op(given, "h", "copy", ON_HOST, 5, 4);
	op(given, "b", "negate", VEC, 6, 5);
	end_and_analyse(given, 1, 6);
	assert_int_equal(bytes_of(given, "temp_bytes"), 0);
	assert_int_equal(bytes_of(given, "peak_bytes"), 2 * N);
	assert_int_equal(ts_value_int(in(given, "modules", 0, "onchip_peak_bytes")), 2 * N);
	done(given);
}

/* The body doubles the second array by way of a temporary; the loop has two arrays, not six. */
TEST(test_a_loop_has_what_it_carries_once)
{
	struct given *given = given_new();
	size_t comp;

	comp = make_comp(&given->make, "body");
	make_param(&given->make, 0, PAIR, 1);
	element(given, "x", VEC, 2, 1, 0);
	element(given, "y", VEC, 3, 1, 1);
	op(given, "t", "negate", TURNED, 4, 3);
	op(given, "z", "negate", VEC, 5, 4);
	op2(given, "next", "tuple", PAIR, 6, 2, 5);
	make_end_comp(&given->make, comp, 1, 6);
	comp = make_comp(&given->make, "cond");
	make_param(&given->make, 0, PAIR, 11);
	op(given, "go", "constant", "pred[]", 12, 0);
	make_end_comp(&given->make, comp, 2, 12);
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 21);
	op(given, "a", "negate", VEC, 22, 21);
	op2(given, "init", "tuple", PAIR, 23, 21, 22);
	make_begin_op(&given->make, "loop", "while", PAIR, 24, 1, (int64_t[]){ 23 });
	make_numbers(&given->make, 38, (int64_t[]){ 1, 2 }, 2);
	make_end_op(&given->make);
	element(given, "out", VEC, 25, 24, 1);
	op(given, "b", "negate", VEC, 26, 25);
	end_and_analyse(given, 3, 26);
	/* parameter, a (carried), t, result; and the one byte of go */
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N + 1);
	assert_text(ts_result_get(given->result, "peak_op"), "t");
	done(given);
}

TEST(test_an_update_in_place_takes_no_room)
{
	struct given *given = given_new();
	size_t comp;

	comp = make_comp(&given->make, "fused");
	make_param(&given->make, 0, VEC, 1);
	make_param(&given->make, 1, THIN, 2);
	op2(given, "u", "dynamic-update-slice", VEC, 3, 1, 2);
	make_end_comp(&given->make, comp, 1, 3);
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 11);
	make_param(&given->make, 1, THIN, 12);
	op(given, "a", "copy", VEC, 13, 11);
	make_caller(&given->make, "update", "fusion", VEC, 14, 2, (int64_t[]){ 13, 12 }, 1);
	op(given, "b", "negate", VEC, 15, 14);
	end_and_analyse(given, 2, 15);
	assert_int_equal(bytes_of(given, "temp_bytes"), N);
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N);
	done(given);
}

/* Each op makes its result of its operand's elements, one of one: a, b and c are one buffer. */
TEST(test_an_elementwise_op_writes_over_its_operand)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "a", "reverse", VEC, 2, 1);
	op(given, "b", "negate", VEC, 3, 2);
	op(given, "c", "tanh", VEC, 4, 3);
	op(given, "d", "reverse", VEC, 5, 4);
	end_and_analyse(given, 1, 5);
	assert_int_equal(bytes_of(given, "temp_bytes"), N);
	assert_int_equal(rows(given, "buffers"), 3);
	done(given);
}

/* b is a again, as another op reads a later; and on the chip operand and result both count. */
TEST(test_an_operand_that_lives_on_is_not_written_over)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "a", "reverse", VEC, 2, 1);
	op(given, "b", "negate", VEC, 3, 2);
	op(given, "f", "reverse", ON_CHIP, 4, 1);
	op(given, "g", "negate", ON_CHIP, 5, 4);
	op2(given, "c", "dot", VEC, 6, 2, 3);
	op2(given, "d", "dot", VEC, 7, 6, 5);
	end_and_analyse(given, 1, 7);
	assert_int_equal(bytes_of(given, "temp_bytes"), 3 * N);
	assert_int_equal(given->facts.programs[0].onchip_peak_bytes, 2 * N);
	done(given);
}

/* Each op of the fusion takes the one before it twice: as many ways through it as 2 to the 60th. */
TEST(test_a_fusion_of_many_ways_is_looked_at_once)
{
	struct given *given = given_new();
	size_t comp = make_comp(&given->make, "fused");

	make_param(&given->make, 0, VEC, 100);
	for (int64_t i = 100; i < 160; i++)
		op2(given, "x", "add", VEC, i + 1, i, i);
	make_end_comp(&given->make, comp, 1, 160);
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "a", "reverse", VEC, 2, 1);
	make_begin_op(&given->make, "f", "fusion", VEC, 3, 1, (int64_t[]){ 2 });
	ts_pbw_text(&given->make.out, 11, TS_LIT("kLoop"));
	ts_pbw_i64(&given->make.out, 38, 1);
	make_end_op(&given->make);
	op(given, "b", "reverse", VEC, 4, 3);
	end_and_analyse(given, 2, 4);
	assert_int_equal(bytes_of(given, "temp_bytes"), N);
	done(given);
}

/* n reads an element of what "two" made, not what an op of its own gave it. */
TEST(test_an_element_of_a_tuple_is_not_written_over)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "two", "split", PAIR, 2, 1);
	element(given, "e", VEC, 3, 2, 0);
	element(given, "f", VEC, 4, 2, 1);
	op(given, "n", "negate", VEC, 5, 3);
	op2(given, "d", "dot", VEC, 6, 5, 4);
	end_and_analyse(given, 1, 6);
	assert_int_equal(bytes_of(given, "temp_bytes"), 3 * N);
	done(given);
}

/* Two halves are one whole that a loop carries: it is counted, and they are not beside it. */
TEST(test_pieces_of_what_a_loop_carries_count_once)
{
	static const char half[] = "f32[512,128]{1,0:T(8,128)S(1)}";
	struct given *given = given_new();
	size_t comp;

	comp = make_comp(&given->make, "body");
	make_param(&given->make, 0, "(" ON_CHIP ")", 1);
	element(given, "x", ON_CHIP, 2, 1, 0);
	op(given, "next", "tuple", "(" ON_CHIP ")", 3, 2);
	make_end_comp(&given->make, comp, 1, 3);
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 21);
	op(given, "h", "slice", half, 22, 21);
	op(given, "i", "slice", half, 23, 21);
	make_begin_op(&given->make, "whole", "custom-call", ON_CHIP, 24, 2, (int64_t[]){ 22, 23 });
	ts_pbw_text(&given->make.out, 28, TS_LIT("ConcatBitcast"));
	make_end_op(&given->make);
	op(given, "init", "tuple", "(" ON_CHIP ")", 25, 24);
	make_caller(&given->make, "loop", "while", "(" ON_CHIP ")", 26, 1, (int64_t[]){ 25 }, 1);
	element(given, "out", ON_CHIP, 27, 26, 0);
	op(given, "b", "reverse", ON_CHIP, 28, 27);
	op(given, "c", "reverse", VEC, 29, 28);
	end_and_analyse(given, 2, 29);
	assert_int_equal(given->facts.programs[0].onchip_peak_bytes, 2 * N); /* with b, not 3 N */
	assert_int_equal(bytes_of(given, "peak_bytes"), 2 * N);
	done(given);
}

/*
 * The body reads what it carries at its beginning and makes the next at its end: u and v, which are
 * between, may have that memory.
 */
TEST(test_what_a_loop_carries_is_away_between_its_last_use_and_the_next)
{
	struct given *given = given_new();
	size_t comp;

	comp = make_comp(&given->make, "body");
	make_param(&given->make, 0, "(" VEC ")", 1);
	element(given, "x", VEC, 2, 1, 0);
	op(given, "thin", "slice", THIN, 3, 2);
	op(given, "u", "broadcast", VEC, 4, 3);
	op(given, "v", "reverse", VEC, 5, 4);
	op(given, "thinner", "slice", THIN, 6, 5);
	op(given, "y", "broadcast", VEC, 7, 6);
	op(given, "next", "tuple", "(" VEC ")", 8, 7);
	make_end_comp(&given->make, comp, 1, 8);
	comp = make_comp(&given->make, "cond");
	make_param(&given->make, 0, "(" VEC ")", 11);
	op(given, "go", "constant", "pred[]", 12, 0);
	make_end_comp(&given->make, comp, 2, 12);
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 21);
	op(given, "a", "reverse", VEC, 22, 21);
	op(given, "init", "tuple", "(" VEC ")", 23, 22);
	make_begin_op(&given->make, "loop", "while", "(" VEC ")", 24, 1, (int64_t[]){ 23 });
	make_numbers(&given->make, 38, (int64_t[]){ 1, 2 }, 2);
	make_end_op(&given->make);
	element(given, "out", VEC, 25, 24, 0);
	op(given, "b", "reverse", VEC, 26, 25);
	end_and_analyse(given, 3, 26);
	/* thin is stored as VEC is: u and v, or v and thinner; never with what is carried */
	assert_int_equal(bytes_of(given, "temp_bytes"), 2 * N);
	done(given);
}

/* A loop over what BODY carries, an array of SHAPE; the entry makes it, and reads what is left of it. */
static void given_loop(struct given *given, const char *shape, void (*body)(struct given *given))
{
	char tuple[128];
	size_t comp = make_comp(&given->make, "body");

	snprintf(tuple, sizeof(tuple), "(%s)", shape);
	make_param(&given->make, 0, tuple, 1);
	element(given, "x", shape, 2, 1, 0);
	body(given);
	op(given, "next", "tuple", tuple, 8, 7);
	make_end_comp(&given->make, comp, 1, 8);
	comp = make_comp(&given->make, "cond");
	make_param(&given->make, 0, tuple, 11);
	op(given, "go", "constant", "pred[]", 12, 0);
	make_end_comp(&given->make, comp, 2, 12);
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 21);
	op(given, "a", "reverse", shape, 22, 21);
	op(given, "init", "tuple", tuple, 23, 22);
	make_begin_op(&given->make, "loop", "while", tuple, 24, 1, (int64_t[]){ 23 });
	make_numbers(&given->make, 38, (int64_t[]){ 1, 2 }, 2);
	make_end_op(&given->make);
	element(given, "out", shape, 25, 24, 0);
	op(given, "b", "reverse", VEC, 26, 25);
	end_and_analyse(given, 3, 26);
}

static void body_that_reads_late(struct given *given)
{
	op(given, "t", "iota", VEC, 3, 0);
	op(given, "u", "reverse", VEC, 4, 3);
	op(given, "k", "reduce", COUNT, 5, 4);
	op2(given, "y", "dot", VEC, 7, 2, 5);
}

/* x, t and u at u, though x is first read at y. */
TEST(test_what_a_loop_carries_is_there_from_its_bodys_first_op)
{
	struct given *given = given_new();

	given_loop(given, VEC, body_that_reads_late);
	assert_int_equal(bytes_of(given, "temp_bytes"), 3 * N);
	done(given);
}

static void body_that_hands_on(struct given *given)
{
	op(given, "k", "reduce", COUNT, 3, 2);
	op(given, "same", "bitcast", ON_CHIP, 7, 2);
}

/* What the loop begins with, what it carries and what it leaves are one array. */
TEST(test_what_a_loop_carries_on_the_chip_counts_once)
{
	struct given *given = given_new();

	given_loop(given, ON_CHIP, body_that_hands_on);
	assert_int_equal(given->facts.programs[0].onchip_peak_bytes, N);
	done(given);
}

#define UPDATE "((" VEC "), " VEC ", (" FLAG ", " VEC "))"

/*
 * Started before its operand is there, which comes with the update: the result begins then. The
 * context, which is there from the start, is not the program's.
 */
TEST(test_what_waits_is_started_without_operands)
{
	struct given *given = given_new();
	size_t comp;

	comp = make_comp(&given->make, "wrapped");
	make_param(&given->make, 0, VEC, 1);
	op(given, "r", "reverse", VEC, 2, 1);
	make_end_comp(&given->make, comp, 1, 2);
	given->comp = make_comp(&given->make, "main");
	make_caller(&given->make, "start", "async-start", "((), (), (" FLAG ", " VEC "))", 11, 0,
		    NULL, 1);
	make_param(&given->make, 0, VEC, 12);
	op(given, "a", "reverse", VEC, 13, 12);
	op(given, "b", "reverse", VEC, 14, 13);
	op2(given, "update", "async-update", UPDATE, 15, 11, 14);
	op(given, "end", "async-done", VEC, 16, 15);
	op(given, "c", "reverse", VEC, 17, 16);
	end_and_analyse(given, 2, 17);
	assert_int_equal(bytes_of(given, "temp_bytes"), 2 * N); /* a and b, b and end */
	done(given);
}

TEST(test_arrays_on_the_host_are_counted_apart)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, ON_HOST, 1);
	op(given, "a", "copy", VEC, 2, 1);
	op(given, "h", "copy", ON_HOST, 3, 2);
	op(given, "b", "copy", VEC, 4, 3);
	end_and_analyse(given, 1, 4);
	assert_int_equal(bytes_of(given, "peak_bytes"), 2 * N);
	assert_int_equal(given->facts.programs[0].host_argument_bytes, N);
	assert_int_equal(given->facts.programs[0].host_temp_bytes, N);
	done(given);
}

/* Shapes of the two operands; the results are in HBM. ROOT: the op whose result the program gives. */
static struct given *given_sort(const char *keys, const char *values, int64_t root)
{
	struct given *given = given_new();

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "keys", "reverse", keys, 2, 1);
	op(given, "values", "reverse", values, 3, 1);
	op2(given, "sorted", "sort", PAIR, 4, 2, 3);
	element(given, "order", VEC, 5, 4, 1);
	op(given, "out", "reverse", VEC, 6, 5);
	end_and_analyse(given, 1, root);
	return given;
}

TEST(test_a_sort_writes_over_its_operands_in_hbm)
{
	struct given *given = given_sort(VEC, VEC, 6);

	assert_int_equal(bytes_of(given, "temp_bytes"), 2 * N);
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N);
	done(given);
}

/* The result is in HBM and the operand is not: they cannot be one. */
TEST(test_a_sort_does_not_write_over_operands_on_the_chip)
{
	struct given *given = given_sort(ON_CHIP, ON_CHIP, 6);

	assert_int_equal(bytes_of(given, "temp_bytes"), 2 * N);
	assert_int_equal(given->facts.programs[0].onchip_peak_bytes, 2 * N);
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N);
	done(given);
}

/* The values go into a result of the program, which has its memory from the beginning. */
TEST(test_a_sort_into_a_result_of_the_program_keeps_its_operand)
{
	struct given *given = given_sort(VEC, VEC, 5);

	assert_int_equal(bytes_of(given, "temp_bytes"), 2 * N); /* keys, values */
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N);
	done(given);
}

static void alias(struct given *given, int64_t output, int64_t parameter)
{
	size_t all = ts_pbw_begin(&given->make.out, 8), one = ts_pbw_begin(&given->make.out, 1);

	if (output >= 0)
		ts_pbw_i64(&given->make.out, 1, output);
	ts_pbw_i64(&given->make.out, 2, parameter);
	ts_pbw_end(&given->make.out, one);
	ts_pbw_end(&given->make.out, all);
}

/* The argument {} to the result {}. */
static void donate_whole(struct given *given)
{
	alias(given, -1, 0);
}

/* Two arguments that are replaced, the first of them donated. */
static void given_step(struct given *given, bool donates)
{
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	make_param(&given->make, 1, VEC, 2);
	op(given, "a", "negate", VEC, 3, 1);
	op(given, "b", "negate", VEC, 4, 2);
	op2(given, "out", "tuple", PAIR, 5, 3, 4);
	make_end_comp(&given->make, given->comp, 1, 5);
	if (donates)
		alias(given, 0, 0);
	read_proto(given, make_end(&given->make, 1));
	analyse(given);
}

TEST(test_a_donated_argument_is_its_result)
{
	struct given *given = given_new();

	given_step(given, true);
	assert_int_equal(bytes_of(given, "argument_bytes"), 2 * N);
	assert_int_equal(bytes_of(given, "output_bytes"), 2 * N);
	assert_int_equal(bytes_of(given, "alias_bytes"), N);
	assert_int_equal(bytes_of(given, "peak_bytes"), 3 * N);
	assert_int_equal(bytes_of(given, "donation_bytes"), N); /* the other one */
	assert_int_equal(rows(given, "donations"), 1);
	assert_int_equal(ts_value_int(in(given, "donations", 0, "parameter")), 1);
	assert_int_equal(ts_value_int(in(given, "donations", 0, "output")), 1);
	done(given);
}

TEST(test_donation_is_proposed_where_shapes_are_equal)
{
	struct given *given = given_new();

	given_step(given, false);
	assert_int_equal(bytes_of(given, "alias_bytes"), 0);
	assert_int_equal(bytes_of(given, "donation_bytes"), 2 * N);
	assert_int_equal(rows(given, "donations"), 2);
	done(given);
}

static void buffer(struct ts_buf *out, int64_t id, int64_t size, int64_t instr)
{
	size_t mark = ts_pbw_begin(out, 1), at;

	ts_pbw_i64(out, 1, id);
	ts_pbw_i64(out, 2, size);
	at = ts_pbw_begin(out, 3);
	ts_pbw_i64(out, 4, instr);
	ts_pbw_end(out, at);
	ts_pbw_end(out, mark);
}

/* FLAG is a field of BufferAllocationProto, or 0: temporaries. */
static void allocation(struct ts_buf *out, int64_t size, uint32_t flag, int64_t first, int64_t last)
{
	size_t mark = ts_pbw_begin(out, 3);

	ts_pbw_i64(out, 2, size);
	if (flag)
		ts_pbw_u64(out, flag, 1);
	for (int64_t id = first; id <= last; id++) {
		size_t one = ts_pbw_begin(out, 9);

		ts_pbw_i64(out, 1, id);
		ts_pbw_end(out, one);
	}
	ts_pbw_end(out, mark);
}

static void event(struct ts_buf *out, uint64_t kind, int64_t id, const char *op_name, int64_t with)
{
	size_t mark = ts_pbw_begin(out, 1);

	ts_pbw_u64(out, 1, kind);
	ts_pbw_i64(out, 2, id);
	ts_pbw_text(out, 4, ts_bytes_of(op_name));
	if (with)
		ts_pbw_i64(out, 5, with);
	ts_pbw_end(out, mark);
}

/*
 * A compiler's plan: 1000 bytes of argument, 500 of result, 64 of constants, temporaries of 900 with
 * a gap. x takes 300; y 400; x is freed and z takes its place, then grows nothing; y is freed.
 */
static void given_assignment(struct given *given)
{
	struct ts_buf *out = &given->outer;
	size_t all, heap;

	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, "f32[250]", 1);
	op(given, "x", "negate", "f32[75]", 2, 1);
	op(given, "y", "negate", "f32[100]", 3, 2);
	op(given, "z", "negate", "f32[75]", 4, 3);
	op(given, "r", "negate", "f32[125]", 5, 4);
	make_end_comp(&given->make, given->comp, 1, 5);
	ts_pbw_bytes(out, 1, make_end(&given->make, 1));
	all = ts_pbw_begin(out, 3);
	buffer(out, 10, 1000, 1);
	buffer(out, 11, 300, 2);
	buffer(out, 12, 400, 3);
	buffer(out, 13, 300, 4);
	buffer(out, 14, 500, 5);
	allocation(out, 1000, 5, 10, 10);
	allocation(out, 500, 7, 14, 14);
	allocation(out, 64, 12, 1, 0);
	allocation(out, 777, 3, 1, 0); /* of a thread: not of the program */
	allocation(out, 900, 0, 11, 13);
	heap = ts_pbw_begin(out, 4);
	event(out, 0, 11, "x", 0);
	event(out, 0, 12, "y", 0);
	event(out, 1, 11, "z", 0);
	event(out, 2, 13, "z", 11);
	event(out, 1, 12, "r", 0);
	event(out, 1, 13, "r", 0);
	ts_pbw_end(out, heap);
	ts_pbw_end(out, all);
}

TEST(test_the_compilers_own_plan_is_replayed)
{
	struct given *given = given_new();

	given_assignment(given);
	read_proto(given, ts_buf_bytes(&given->outer));
	analyse(given);
	assert_int_equal(bytes_of(given, "argument_bytes"), 1000);
	assert_int_equal(bytes_of(given, "output_bytes"), 500);
	assert_int_equal(bytes_of(given, "temp_bytes"), 900);
	assert_int_equal(bytes_of(given, "peak_bytes"), 1000 + 500 + 64 + 300 + 400);
	assert_int_equal(bytes_of(given, "reserved_bytes"), 1000 + 500 + 64 + 900);
	assert_text(ts_result_get(given->result, "peak_op"), "y");
	assert_text(in(given, "modules", 0, "buffers"), "assigned");
	assert_int_equal(rows(given, "buffers"), 5);
	assert_text(in(given, "buffers", 2, "op"), "y");
	assert_text(in(given, "buffers", 2, "kind"), "temp");
	assert_text(in(given, "buffers", 3, "op"), "x");
	assert_int_equal(ts_value_int(in(given, "buffers", 3, "to_position")), 1);
	done(given);
}

TEST(test_every_truncation_of_a_plan_is_survived)
{
	struct given *given = given_new();
	struct ts_bytes whole;

	given_assignment(given);
	whole = ts_buf_bytes(&given->outer);
	for (size_t n = 0; n < whole.n; n++) {
		struct given *cut = given_new();
		struct ts_hlo_module *module = ts_profile_add_module(&cut->profile, 1);
		uint8_t *copy = malloc(n + 1); /* so that a read behind the end is seen */

		assert_true(copy && module);
		memcpy(copy, whole.p, n);
		if (ts_hlo_read(&cut->profile.arena, (struct ts_bytes){ copy, n }, TS_LIT("a.pb"),
				module, NULL) == TS_OK)
			analyse(cut);
		free(copy);
		done(cut);
	}
	done(given);
}

/* Three arrays one after the other, the last of them the result; op 2 is FIRST, the others turn. */
static void given_chain(struct given *given, const char *libtpu, const char *first,
			const char *last)
{
	given->ctx.libtpu = ts_bytes_of(libtpu);
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "a", first, VEC, 2, 1);
	op(given, "b", "reverse", VEC, 3, 2);
	op(given, "c", last, VEC, 4, 3);
	end_and_analyse(given, 1, 4);
}

static int64_t peak_of_chain(const char *libtpu, const char *first, const char *last)
{
	struct given *given = given_new();
	int64_t peak;

	given_chain(given, libtpu, first, last);
	peak = bytes_of(given, "peak_bytes");
	assert_int_equal(in(given, "modules", 0, "older_peak_bytes").type, TS_VALUE_NULL);
	done(given);
	return peak;
}

/* The argument and the result, and beside them a (at 1 and 2) and b (at 2 and 3); c is there from 3 on. */
TEST(test_temporaries_stand_in_the_memory_of_a_result_until_it_is_there)
{
	static const char *const older[] = { "0.0.42.1", "0.0.45", "0.0.9", "0.0.43.2" };
	static const char *const newer[] = { "0.0.46", "0.0.46.3", "0.0.51", "0.1.0", "1.0" };

	for (size_t i = 0; i < TS_NELEM(older); i++)
		assert_int_equal(peak_of_chain(older[i], "reverse", "reverse"),
				 3 * N); /* a is in c */
	for (size_t i = 0; i < TS_NELEM(newer); i++)
		assert_int_equal(peak_of_chain(newer[i], "reverse", "reverse"), 4 * N);
	/* a is in c, and b as well where c is written over it: but both are there at 2 */
	assert_int_equal(peak_of_chain("0.0.42", "reverse", "negate"), 3 * N);
}

TEST(test_what_other_chips_write_keeps_out_of_the_memory_of_results)
{
	static const char *const opcodes[] = { "all-to-all", "all-gather", "collective-permute" };

	for (size_t i = 0; i < TS_NELEM(opcodes); i++)
		assert_int_equal(peak_of_chain("0.0.42", opcodes[i], "reverse"), 4 * N);
	assert_int_equal(peak_of_chain("0.0.42", "all-reduce", "reverse"), 3 * N);
}

TEST(test_where_the_compilers_version_is_unknown_both_peaks_are_told)
{
	struct given *given = given_new();

	given_chain(given, "", "reverse", "reverse");
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N);
	assert_int_equal(ts_value_int(in(given, "modules", 0, "older_peak_bytes")), 3 * N);
	done(given);
}

static int64_t peak_of_pair(const char *last)
{
	struct given *given = given_new();
	int64_t peak;

	given->ctx.libtpu = TS_LIT("0.0.42");
	given->comp = make_comp(&given->make, "main");
	make_param(&given->make, 0, VEC, 1);
	op(given, "a", "reverse", VEC, 2, 1);
	op(given, "b", last, VEC, 3, 2);
	end_and_analyse(given, 1, 3);
	peak = bytes_of(given, "peak_bytes");
	done(given);
	return peak;
}

/* a ends in the op that makes the result: only one that writes over it has its place. */
TEST(test_a_result_that_is_written_over_its_operand_takes_its_place)
{
	assert_int_equal(peak_of_pair("negate"), 2 * N);
	assert_int_equal(peak_of_pair("reverse"), 3 * N);
	assert_int_equal(peak_of_pair("copy"), 3 * N); /* a copy stands beside what it is of */
}

/*
 * The argument is gone behind a, and its result is there from d on. Between them b (at 2 and 3) has
 * the place; a (at 1 and 2) and c (at 3 and 4) never are there at one time.
 */
TEST(test_what_fits_stands_where_a_donated_argument_was)
{
	static const struct {
		const char *libtpu;
		int64_t peak;
	} cases[] = { { "0.0.42", 2 * N }, { "0.0.46", 3 * N } };

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct given *given = given_new();

		given->ctx.libtpu = ts_bytes_of(cases[i].libtpu);
		given->comp = make_comp(&given->make, "main");
		make_param(&given->make, 0, VEC, 1);
		op(given, "a", "reverse", VEC, 2, 1);
		op(given, "b", "reverse", VEC, 3, 2);
		op(given, "c", "reverse", VEC, 4, 3);
		op(given, "d", "reverse", VEC, 5, 4);
		make_end_comp(&given->make, given->comp, 1, 5);
		donate_whole(given);
		read_proto(given, make_end(&given->make, 1));
		analyse(given);
		assert_int_equal(bytes_of(given, "peak_bytes"), cases[i].peak);
		done(given);
	}
}

/*
 * On the chip: x (from 1 on), what a call makes of it at 2, and y (at 4, beside x). Where the module
 * says that the call's result stands in the place of x, they are one array while it runs, and that
 * place is x's again behind it, until y.
 */
TEST(test_a_place_that_the_module_names_counts_once_and_stays)
{
	for (int64_t told = 0; told < 2; told++) {
		struct given *given = given_new();

		given->comp = make_comp(&given->make, "main");
		make_param(&given->make, 0, VEC, 1);
		op(given, "x", "copy", ON_CHIP, 2, 1);
		make_begin_op(&given->make, "made", "custom-call", ON_CHIP, 3, 1, (int64_t[]){ 2 });
		if (told) /* {}: (0, {}), whose zero is not written */
			ts_pbw_end(&given->make.out, ts_pbw_begin(&given->make.out, 74));
		make_end_op(&given->make);
		op(given, "used", "reverse", VEC, 4, 3);
		op2(given, "y", "dot", told ? ON_CHIP : VEC, 5, 2, 2);
		op2(given, "out", "dot", VEC, 6, 4, 5);
		end_and_analyse(given, 1, 6);
		assert_int_equal(ts_value_int(in(given, "modules", 0, "onchip_peak_bytes")), 2 * N);
		done(given);
	}
}

TEST(test_an_unknown_chip_leaves_the_share_unknown)
{
	struct given *given = given_new();

	given->ctx.chip = NULL;
	given_step(given, false);
	assert_int_equal(bytes_of(given, "peak_bytes"), 4 * N);
	assert_int_equal(ts_result_get(given->result, "peak_pct").type, TS_VALUE_NULL);
	assert_int_equal(ts_result_get(given->result, "hbm_bytes").type, TS_VALUE_NULL);
	done(given);
}
