/* SPDX-License-Identifier: MIT */
/*
 * The HLO reader: modules made here field by field, damaged ones, and those of the corpus held
 * against what libtpu says of them.
 */
#include "tests/test.h"

#include <inttypes.h>
#include <cjson/cJSON.h>
#include <math.h>

#include "codec/pb.h"
#include "tests/read/corpus.h"
#include "tests/read/hlo_make.h"
#include "tests/read/hlo_walk.h"

#define VEC "f32[8,128]{1,0:T(8,128)}"

struct input {
	struct make make;
	struct ts_arena arena;
	struct ts_hlo_module module;
	struct ts_error err;
};

#define INPUT_INIT { .make = MAKE_INIT, .arena = TS_ARENA_INIT, .err = TS_ERROR_INIT }

static enum ts_status read_bytes(struct input *input, struct ts_bytes bytes)
{
	return ts_hlo_read(&input->arena, bytes, TS_LIT("a.pb"), &input->module, &input->err);
}

static void read_module(struct input *input, int64_t entry)
{
	if (read_bytes(input, make_end(&input->make, entry)))
		fail_msg("%s", input->err.text);
}

static void input_release(struct input *input)
{
	ts_buf_release(&input->make.out);
	ts_arena_release(&input->arena);
}

static const struct ts_hlo_instr *instr_named(const struct input *input, const char *name)
{
	uint32_t i = ts_hlo_find(&input->module, ts_bytes_of(name));

	if (i == TS_NONE)
		fail_msg("no instruction %s", name);
	return &input->module.instrs[i];
}

/* main: p, q -> f = fusion(p, q) calling inner, f2 = add(f, f), ids far apart. */
static void make_small(struct make *make)
{
	size_t comp = make_comp(make, "inner");

	make_param(make, 1, VEC, 1001);
	make_param(make, 0, VEC, 1000);
	make_op(make, "mul", "multiply", VEC, 1002, 2, (int64_t[]){ 1000, 1001 });
	ts_pbw_u64(&make->out, 7, 1);
	make_end_comp(make, comp, 7, 1002);
	comp = make_comp(make, "main");
	make_param(make, 0, VEC, INT64_C(98784247808));
	make_param(make, 1, VEC, INT64_C(98784247809));
	make_caller(make, "f", "fusion", VEC, 5, 2,
		    (int64_t[]){ INT64_C(98784247808), INT64_C(98784247809) }, 7);
	make_op(make, "f2", "add", VEC, 6, 2, (int64_t[]){ 5, 5 });
	make_end_comp(make, comp, 9, 6);
}

static void check_small(const struct input *input)
{
	const struct ts_hlo_module *module = &input->module;
	const struct ts_hlo_instr *fusion = instr_named(input, "f"),
				  *add = instr_named(input, "f2");
	const struct ts_hlo_comp *inner = &module->comps[0];

	assert_int_equal(module->nr_comps, 2);
	assert_int_equal(module->nr_instrs, 7);
	assert_int_equal(module->entry, 1);
	assert_true(ts_bytes_is(module->name, "jit_test"));
	assert_true(inner->is_fusion);
	assert_int_equal(inner->nr_params, 2);
	assert_int_equal(module->instrs[inner->params[0]].id, 1000);
	assert_int_equal(module->instrs[inner->params[1]].id, 1001);
	assert_int_equal(fusion->nr_operands, 2);
	assert_int_equal(module->instrs[fusion->operands[1]].id, INT64_C(98784247809));
	assert_int_equal(fusion->called[0], 0);
	assert_int_equal(fusion->nr_users, 2); /* once for each place */
	assert_ptr_equal(&module->instrs[fusion->users[0]], add);
	assert_ptr_equal(&module->instrs[module->comps[1].root], add);
	assert_int_equal(ts_shape_bytes(&add->shape), 4096);
}

TEST(test_a_bare_module_is_read)
{
	struct input input = INPUT_INIT;

	make_small(&input.make);
	read_module(&input, 9);
	check_small(&input);
	input_release(&input);
}

TEST(test_a_module_inside_an_hlo_proto_is_read_alike)
{
	struct input input = INPUT_INIT;
	struct ts_buf outer = TS_BUF_INIT;

	make_small(&input.make);
	ts_pbw_bytes(&outer, 1, make_end(&input.make, 9));
	assert_int_equal(read_bytes(&input, ts_buf_bytes(&outer)), TS_OK);
	check_small(&input);
	ts_buf_release(&outer);
	input_release(&input);
}

TEST(test_what_is_no_module_is_refused)
{
	static const char *const texts[] = { "", "hello",
					     ("\x0a\x03" /* \x03abc is one letter */
					      "abc"),
					     "{}", "\x0a\xff\xff\xff\xff\x0f" };

	for (size_t i = 0; i < TS_NELEM(texts); i++) {
		struct input input = INPUT_INIT;

		assert_int_equal(read_bytes(&input, ts_bytes_of(texts[i])), TS_FORMAT);
		assert_int_equal(input.module.nr_instrs, 0);
		assert_true(strncmp(input.err.text, "a.pb: ", 6) == 0);
		input_release(&input);
	}
}

/* sequences: computation 1 -> ids in the given order. */
static void make_schedule(struct make *make, const int64_t *ids, size_t nr)
{
	size_t schedule = ts_pbw_begin(&make->out, 7), entry = ts_pbw_begin(&make->out, 1), value;

	ts_pbw_i64(&make->out, 1, 1);
	value = ts_pbw_begin(&make->out, 2);
	make_numbers(make, 1, ids, nr);
	ts_pbw_end(&make->out, value);
	ts_pbw_end(&make->out, entry);
	ts_pbw_end(&make->out, schedule);
}

static void make_three(struct make *make)
{
	size_t comp = make_comp(make, "main");

	make_op(make, "a", "constant", VEC, 10, 0, NULL);
	make_op(make, "b", "constant", VEC, 11, 0, NULL);
	make_op(make, "c", "add", VEC, 12, 2, (int64_t[]){ 10, 11 });
	make_end_comp(make, comp, 1, 12);
}

TEST(test_instructions_stand_in_the_order_of_the_schedule)
{
	struct input input = INPUT_INIT;

	make_three(&input.make);
	make_schedule(&input.make, (int64_t[]){ 11, 10, 12 }, 3);
	read_module(&input, 1);
	assert_true(input.module.is_scheduled);
	assert_true(ts_bytes_is(input.module.instrs[0].name, "b"));
	assert_int_equal(instr_named(&input, "c")->operands[0], 1);
	assert_int_equal(input.module.instrs[1].users[0], 2);
	assert_int_equal(input.module.comps[0].root, 2);
	input_release(&input);
}

TEST(test_a_schedule_that_does_not_fit_is_passed_over)
{
	static const int64_t wrong[][3] = { { 10, 10, 12 }, { 10, 11, 99 } };

	for (size_t i = 0; i < TS_NELEM(wrong); i++) {
		struct input input = INPUT_INIT;

		make_three(&input.make);
		make_schedule(&input.make, wrong[i], 3);
		read_module(&input, 1);
		assert_false(input.module.is_scheduled);
		assert_true(ts_bytes_is(input.module.instrs[0].name, "a"));
		input_release(&input);
	}
}

TEST(test_unknown_operands_end_the_list)
{
	struct input input = INPUT_INIT;
	size_t comp;

	comp = make_comp(&input.make, "main");
	make_op(&input.make, "a", "constant", VEC, 1, 0, NULL);
	make_op(&input.make, "b", "add", VEC, 2, 3, (int64_t[]){ 1, 77, 1 });
	make_op(&input.make, "c", "negate", VEC, 3, 1, (int64_t[]){ 3 }); /* itself */
	make_end_comp(&input.make, comp, 1, 55);
	read_module(&input, 1);
	assert_int_equal(instr_named(&input, "b")->nr_operands, 1);
	assert_int_equal(instr_named(&input, "c")->nr_operands, 0);
	assert_int_equal(input.module.comps[0].root, 2); /* no such root: the last */
	input_release(&input);
}

TEST(test_a_layout_that_is_no_permutation_is_none)
{
	struct input input = INPUT_INIT;
	struct ts_buf *out = &input.make.out;
	size_t comp, shape, layout;

	comp = make_comp(&input.make, "main");
	make_begin_op(&input.make, "a", "constant", "", 1, 0, NULL);
	shape = ts_pbw_begin(out, 3);
	ts_pbw_u64(out, 2, TS_F32);
	make_numbers(&input.make, 3, (int64_t[]){ 4, 6 }, 2);
	layout = ts_pbw_begin(out, 5);
	make_numbers(&input.make, 1, (int64_t[]){ 1, 1 }, 2);
	ts_pbw_end(out, layout);
	ts_pbw_end(out, shape);
	make_end_op(&input.make);
	make_end_comp(&input.make, comp, 1, 1);
	read_module(&input, 1);
	assert_false(input.module.instrs[0].shape.has_layout);
	assert_int_equal(ts_shape_logical_bytes(&input.module.instrs[0].shape), 96);
	input_release(&input);
}

/* Two files, two functions; frame 1 is main, frame 2 called by it, frame 3 its own parent. */
static void make_frames(struct make *make)
{
	static const int64_t places[][3] = { { 1, 1, 10 }, { 2, 2, 20 } };
	static const int64_t frames[][2] = { { 1, 0 }, { 2, 1 }, { 2, 3 } };
	size_t index = ts_pbw_begin(&make->out, 17), mark;

	ts_pbw_text(&make->out, 1, TS_LIT("train.py"));
	ts_pbw_text(&make->out, 1, TS_LIT("model.py"));
	ts_pbw_text(&make->out, 2, TS_LIT("main"));
	ts_pbw_text(&make->out, 2, TS_LIT("forward"));
	for (size_t i = 0; i < TS_NELEM(places); i++) {
		mark = ts_pbw_begin(&make->out, 3);
		ts_pbw_i64(&make->out, 1, places[i][0]);
		ts_pbw_i64(&make->out, 2, places[i][1]);
		ts_pbw_i64(&make->out, 3, places[i][2]);
		ts_pbw_end(&make->out, mark);
	}
	for (size_t i = 0; i < TS_NELEM(frames); i++) {
		mark = ts_pbw_begin(&make->out, 4);
		ts_pbw_i64(&make->out, 1, frames[i][0]);
		ts_pbw_i64(&make->out, 2, frames[i][1]);
		ts_pbw_end(&make->out, mark);
	}
	ts_pbw_end(&make->out, index);
}

static void make_op_at_frame(struct make *make, const char *name, int64_t id, int64_t frame)
{
	size_t metadata;

	make_begin_op(make, name, "constant", VEC, id, 0, NULL);
	metadata = ts_pbw_begin(&make->out, 7);
	ts_pbw_text(&make->out, 2, TS_LIT("jit(f)/dot_general"));
	ts_pbw_i64(&make->out, 15, frame);
	ts_pbw_end(&make->out, metadata);
	make_end_op(make);
}

TEST(test_source_lines_come_from_the_stack_frames)
{
	struct input input = INPUT_INIT;
	const struct ts_hlo_instr *instr;
	size_t comp;

	make_frames(&input.make);
	comp = make_comp(&input.make, "main");
	make_op_at_frame(&input.make, "deep", 1, 2);
	make_op_at_frame(&input.make, "circle", 2, 3);
	make_op_at_frame(&input.make, "nowhere", 3, 9);
	make_end_comp(&input.make, comp, 1, 3);
	read_module(&input, 1);
	instr = instr_named(&input, "deep");
	assert_true(ts_bytes_is(instr->op_name, "jit(f)/dot_general"));
	assert_true(ts_bytes_is(instr->source_file, "model.py"));
	assert_int_equal(instr->source_line, 20);
	assert_int_equal(instr->nr_frames, 2);
	assert_true(ts_bytes_is(instr->frames[1].function, "main"));
	assert_int_equal(instr->frames[1].line, 10);
	assert_in_range(instr_named(&input, "circle")->nr_frames, 1, 64);
	assert_int_equal(instr_named(&input, "nowhere")->nr_frames, 0);
	input_release(&input);
}

static const char backend_text[] =
	"{\"window_config\":{\"estimated_cycles\":\"20182\",\"iteration_bounds\":[\"1\",\"4\"],"
	"\"output_window_bounds\":[\"2\",\"120\",\"1\"]},\"used_scoped_memory_configs\":["
	"{\"memory_space\":\"1\",\"offset\":\"0\",\"size\":\"880640\"},{\"memory_space\":\"0\","
	"\"size\":\"5\"}],"
	"\"convolution_algorithm_config\":{\"emitter\":\"EmitInputBatchInLanes\"},"
	"\"custom_call_config\":{\"body\":\"x\",\"cost_estimate\":{\"flops\":\"1000\",\"bytes_"
	"accessed\":\"64\"}}}";

static void make_op_with_backend(struct make *make, const char *name, int64_t id, const char *text)
{
	make_begin_op(make, name, "custom-call", VEC, id, 0, NULL);
	ts_pbw_bytes(&make->out, 43, ts_bytes_of(text));
	make_end_op(make);
}

TEST(test_what_the_backend_says_is_read)
{
	struct input input = INPUT_INIT;
	const struct ts_hlo_backend *backend;
	size_t comp;

	comp = make_comp(&input.make, "main");
	make_op_with_backend(&input.make, "good", 1, backend_text);
	make_op_with_backend(&input.make, "broken", 2,
			     "{\"window_config\":{\"estimated_cycles\":\"7\"");
	make_op_with_backend(&input.make, "text", 3, "opaque");
	make_end_comp(&input.make, comp, 1, 1);
	read_module(&input, 1);
	backend = &instr_named(&input, "good")->backend;
	assert_int_equal(backend->estimated_cycles, 20182);
	assert_int_equal(backend->nr_iteration_bounds, 2);
	assert_int_equal(backend->iteration_bounds[1], 4);
	assert_int_equal(backend->nr_output_bounds, 3);
	assert_int_equal(backend->output_bounds[1], 120);
	assert_true(ts_bytes_is(backend->emitter, "EmitInputBatchInLanes"));
	assert_int_equal(backend->scoped_vmem_bytes, 880640);
	assert_int_equal(backend->cost_flops, 1000);
	assert_int_equal(backend->cost_transcendentals, TS_HLO_UNKNOWN);
	assert_int_equal(backend->cost_bytes, 64);
	assert_int_equal(instr_named(&input, "broken")->backend.estimated_cycles, TS_HLO_UNKNOWN);
	assert_int_equal(instr_named(&input, "text")->backend.scoped_vmem_bytes, TS_HLO_UNKNOWN);
	input_release(&input);
}

static void make_buffer(struct ts_buf *out, int64_t size, uint32_t flag)
{
	size_t mark = ts_pbw_begin(out, 3);

	ts_pbw_i64(out, 2, size);
	if (flag)
		ts_pbw_u64(out, flag, 1);
	ts_pbw_end(out, mark);
}

TEST(test_buffers_are_summed_by_their_use)
{
	struct input input = INPUT_INIT;
	struct ts_buf outer = TS_BUF_INIT;
	size_t mark;

	make_three(&input.make);
	ts_pbw_bytes(&outer, 1, make_end(&input.make, 1));
	mark = ts_pbw_begin(&outer, 3);
	make_buffer(&outer, 100, 5); /* is_entry_computation_parameter */
	make_buffer(&outer, 10, 5);
	make_buffer(&outer, 7, 7);  /* maybe_live_out */
	make_buffer(&outer, 5, 12); /* is_constant */
	make_buffer(&outer, 3, 0);
	make_buffer(&outer, 1000, 3); /* is_thread_local: of no account */
	ts_pbw_end(&outer, mark);
	assert_int_equal(read_bytes(&input, ts_buf_bytes(&outer)), TS_OK);
	assert_true(input.module.buffers.present);
	assert_int_equal(input.module.buffers.argument_bytes, 110);
	assert_int_equal(input.module.buffers.output_bytes, 7);
	assert_int_equal(input.module.buffers.constant_bytes, 5);
	assert_int_equal(input.module.buffers.temp_bytes, 3);
	ts_buf_release(&outer);
	input_release(&input);
}

/* One byte of tag and the length in front of what is there, again and again. */
static struct ts_bytes nest(struct ts_buf *out, uint8_t tag, unsigned depth)
{
	uint8_t *p, *end;
	size_t n = 2;

	ts_buf_clear(out);
	ts_buf_pad(out, 0, (size_t)depth * 6 + 2);
	end = p = out->p + out->n;
	*--p = TS_F32;
	*--p = 0x10; /* element_type */
	for (unsigned i = 0; i < depth; i++) {
		uint8_t varint[10];
		unsigned len = 0;

		for (size_t rest = n; len == 0 || rest; rest >>= 7)
			varint[len++] = (uint8_t)((rest & 127) | (rest > 127 ? 128 : 0));
		p -= len;
		memcpy(p, varint, len);
		*--p = tag;
		n = (size_t)(end - p);
	}
	return (struct ts_bytes){ p, n };
}

TEST(test_shapes_nested_without_end_are_refused)
{
	struct input input = INPUT_INIT;
	struct ts_buf bomb = TS_BUF_INIT;
	size_t comp;

	comp = make_comp(&input.make, "main");
	make_begin_op(&input.make, "a", "constant", "", 1, 0, NULL);
	ts_pbw_bytes(&input.make.out, 3, nest(&bomb, 0x22, 200000)); /* tuple_shapes */
	make_end_op(&input.make);
	make_end_comp(&input.make, comp, 1, 1);
	assert_int_equal(read_bytes(&input, make_end(&input.make, 1)), TS_LIMIT);
	assert_non_null(strstr(input.err.text, "too deep"));
	ts_buf_release(&bomb);
	input_release(&input);
}

/* NR computations, each calling the one before TIMES times. */
static enum ts_status read_calls(int nr, int times)
{
	struct input input = INPUT_INIT;
	enum ts_status st;

	for (int i = 0; i < nr; i++) {
		size_t comp = make_comp(&input.make, "c");

		for (int k = 0; k < times; k++)
			make_caller(&input.make, "f", "call", VEC, i * 10 + k, 0, NULL,
				    i); /* itself: 1st */
		make_end_comp(&input.make, comp, i + 1, i * 10);
	}
	st = read_bytes(&input, make_end(&input.make, nr));
	input_release(&input);
	return st;
}

TEST(test_calls_that_would_never_end_are_refused)
{
	assert_int_equal(read_calls(30, 1), TS_OK);
	assert_int_equal(read_calls(100, 1), TS_LIMIT); /* deep */
	assert_int_equal(read_calls(50, 2), TS_LIMIT);	/* 2^50 */
}

TEST(test_a_computation_that_calls_itself_has_no_calls)
{
	struct input input = INPUT_INIT;
	size_t comp;

	comp = make_comp(&input.make, "main");
	make_caller(&input.make, "f", "call", VEC, 1, 0, NULL, 3);
	make_end_comp(&input.make, comp, 3, 1);
	read_module(&input, 3);
	assert_int_equal(input.module.instrs[0].nr_called, 0);
	input_release(&input);
}

/* The first N bytes, in memory of their own: a byte read too far is seen. */
static void walk_cut(struct ts_bytes whole, size_t n)
{
	uint8_t *cut = malloc(n + 1);

	assert_non_null(cut);
	memcpy(cut + 1, whole.p, n);
	assert_int_not_equal(walk_bytes((struct ts_bytes){ cut + 1, n }), TS_NOMEM);
	free(cut);
}

TEST(test_every_truncation_of_a_small_module_is_survived)
{
	struct make make = MAKE_INIT;
	struct ts_bytes whole;

	make_frames(&make);
	make_small(&make);
	whole = make_end(&make, 9);
	for (size_t n = 0; n < whole.n; n++)
		walk_cut(whole, n);
	ts_buf_release(&make.out);
}

static uint64_t xorshift(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Up to four bytes of a copy changed, NR times. */
static void mutate(struct ts_bytes whole, unsigned nr)
{
	uint8_t *copy = malloc(whole.n);
	uint64_t seed = 88172645463325252u;

	assert_non_null(copy);
	for (unsigned i = 0; i < nr; i++) {
		memcpy(copy, whole.p, whole.n);
		for (uint64_t k = 0; k <= (xorshift(&seed) & 3); k++)
			copy[xorshift(&seed) % whole.n] ^= (uint8_t)(1u << (xorshift(&seed) & 7));
		walk_bytes((struct ts_bytes){ copy, whole.n });
	}
	free(copy);
}

TEST(test_mutations_of_a_small_module_are_survived)
{
	struct make make = MAKE_INIT;

	make_frames(&make);
	make_small(&make);
	make_schedule(&make, (int64_t[]){ 5, 6 }, 2);
	mutate(make_end(&make, 9), 5000);
	ts_buf_release(&make.out);
}

/* A collective says with whom in one of four ways, by the year of its compiler; without any: 0. */
TEST(test_the_size_of_a_collectives_groups)
{
	static const struct {
		unsigned field;
		const char *bytes; /* of the message in it */
		int32_t size, all;
	} rows[] = {
		{ 0, "", 0, 0 },
		{ 49, "\x0a\x03\x04\x05\x06", 3, 3 },			      /* {4, 5, 6} */
		{ 87, "\x0a\x04\x0a\x02\x02\x03", 2, 2 },		      /* {2, 3} */
		{ 87, "\x12\x04\x08\x02\x10\x04", 4, 8 },		      /* 2 groups of 4 */
		{ 92, "\x08\x02\x10\x08", 8, 16 },			      /* 2 groups of 8 */
		{ 92, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, 0 }, /* of -1 */
		/* a mesh of 4 x 2: along its second axis, along both, along half of the first */
		{ 93, "\x0a\x08\x0a\x02\x10\x04\x0a\x02\x10\x02\x12\x02\x08\x01", 2, 8 },
		{ 93, "\x0a\x08\x0a\x02\x10\x04\x0a\x02\x10\x02\x12\x02\x08\x00\x12\x02\x08\x01", 8,
		  8 },
		{ 93, "\x0a\x08\x0a\x02\x10\x04\x0a\x02\x10\x02\x12\x04\x12\x02\x10\x02", 2, 8 },
		{ 93, "\x0a\x04\x0a\x02\x10\x04\x12\x02\x08\x07", 0,
		  0 }, /* an axis that is not there */
	};
	static const size_t lengths[] = { 0, 5, 6, 6, 4, 11, 14, 18, 16, 10 };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct input input = INPUT_INIT;
		size_t comp = make_comp(&input.make, "main");
		const struct ts_hlo_instr *psum;

		make_param(&input.make, 0, VEC, 1);
		make_begin_op(&input.make, "psum", "all-reduce", VEC, 2, 1, (int64_t[]){ 1 });
		if (rows[i].field)
			ts_pbw_bytes(
				&input.make.out, rows[i].field,
				(struct ts_bytes){ (const uint8_t *)rows[i].bytes, lengths[i] });
		make_end_op(&input.make);
		make_end_comp(&input.make, comp, 1, 2);
		read_module(&input, 1);
		psum = instr_named(&input, "psum");
		if (psum->group_size != rows[i].size || psum->nr_devices != rows[i].all)
			fail_msg("row %zu: groups of %" PRId32 ", %" PRId32 " in all", i,
				 psum->group_size, psum->nr_devices);
		input_release(&input);
	}
}

static void skip_without_corpus(struct ts_bytes bytes)
{
	if (bytes.p)
		return;
	print_message("skipped: no corpus (set TS_CORPUS)\n");
	skip();
}

TEST(test_damaged_modules_of_a_compiler_are_survived)
{
	static const char *const files[] = { "hlo/v5e_f32mm.hlo_proto.pb",
					     "hlo/v6e_scan.hlo_proto.pb",
					     "hlo/v5e_conv.hlo_proto.pb" };
	struct ts_arena arena = TS_ARENA_INIT;

	for (size_t i = 0; i < TS_NELEM(files); i++) {
		struct ts_bytes whole = corpus_file(&arena, files[i]);

		skip_without_corpus(whole);
		for (size_t n = 0; n < whole.n; n++)
			walk_cut(whole, n);
		mutate(whole, 2000);
	}
	ts_arena_release(&arena);
}

static double truth_of(const cJSON *row, const char *name)
{
	const cJSON *item = cJSON_GetObjectItem(row, name);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* The pointer table of one tuple, which libtpu counts and we do not (the README of the corpus). */
static double table_bytes(const char *module)
{
	return strncmp(module, "v5e", 3) == 0 ? 512 : 32;
}

/* Sizes exact; FLOPs to the seven digits of libtpu's float; bytes but for pointer tables. */
static bool module_agrees(const struct ts_hlo_module *module, const cJSON *row)
{
	struct ts_module_bytes bytes = ts_hlo_module_bytes(module);
	struct ts_cost cost = ts_hlo_module_cost(module);
	bool is_tuple = module->instrs[module->comps[module->entry].root].shape.dtype == TS_TUPLE;
	double table = table_bytes(row->string), flops = truth_of(row, "flops");
	double output = truth_of(row, "output_size") - (is_tuple ? table : 0);
	double missing = truth_of(row, "bytes_accessed") - (double)cost.bytes_accessed;
	int64_t tables = (int64_t)missing / (int64_t)table;

	return (double)bytes.parameter_bytes == truth_of(row, "argument_size") &&
	       (double)bytes.output_bytes == output && (double)cost.flops > flops * (1 - 1e-6) &&
	       (double)cost.flops < flops * (1 + 1e-6) && !cost.has_unknown &&
	       (double)cost.transcendentals == truth_of(row, "transcendentals") && tables >= 0 &&
	       tables < 64 && (double)tables * table == missing;
}

TEST(test_modules_cost_what_libtpu_says)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes text = corpus_file(&arena, "truth/libtpu_modules.json");
	cJSON *table, *row;
	int nr = 0, nr_good = 0;

	skip_without_corpus(text);
	table = cJSON_ParseWithLength((const char *)text.p, text.n);
	cJSON_ArrayForEach(row, table)
	{
		struct ts_bytes path = ts_arena_printf(&arena, "hlo/%s.hlo_proto.pb", row->string);
		struct ts_bytes bytes = corpus_file(&arena, (const char *)path.p);
		struct ts_hlo_module module;

		nr++;
		if (!ts_hlo_read(&arena, bytes, path, &module, NULL) && module_agrees(&module, row))
			nr_good++;
		else
			print_error("%s: not what libtpu says\n", row->string);
	}
	cJSON_Delete(table);
	ts_arena_release(&arena);
	assert_int_equal(nr, 20);
	assert_int_equal(nr_good, 20);
}

/* XSpace.planes, XPlane.event_metadata and what is in it (tsl, xplane.proto). */
enum {
	SPACE_PLANES = 1,
	PLANE_EVENTS = 4,
	ENTRY_VALUE = 2,
	EVENT_NAME = 2,
	EVENT_STATS = 5,
	STAT_BYTES = 6
};

static struct ts_bytes field_of(struct ts_bytes message, uint32_t field)
{
	struct ts_pb_error bad = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(message, &bad);

	while (ts_pb_next(&pb))
		if (pb.field == field && pb.wire == TS_PB_BYTES)
			return ts_pb_bytes(&pb);
	return (struct ts_bytes){ NULL, 0 };
}

/* The module a plane's metadata keeps under a name that ends in "(PROGRAM)". */
static struct ts_bytes module_in(struct ts_bytes plane, const char *program)
{
	struct ts_pb_error bad = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(plane, &bad);

	while (ts_pb_next(&pb)) {
		struct ts_bytes event, stat;

		if (pb.field != PLANE_EVENTS)
			continue;
		event = field_of(ts_pb_bytes(&pb), ENTRY_VALUE);
		stat = field_of(field_of(event, EVENT_STATS), STAT_BYTES);
		if (stat.n > 0 && ts_bytes_has(field_of(event, EVENT_NAME), program))
			return stat;
	}
	return (struct ts_bytes){ NULL, 0 };
}

static struct ts_bytes module_of_program(struct ts_bytes space, const char *program)
{
	struct ts_pb_error bad = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(space, &bad);
	struct ts_bytes module = { NULL, 0 };

	while (module.n == 0 && ts_pb_next(&pb))
		if (pb.field == SPACE_PLANES)
			module = module_in(ts_pb_bytes(&pb), program);
	return module;
}

static const cJSON *cell(const cJSON *table, const cJSON *row, const char *column)
{
	const cJSON *col, *cols = cJSON_GetObjectItem(table, "cols");
	int at = 0;

	cJSON_ArrayForEach(col, cols)
	{
		if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(col, "id")), column) == 0)
			break;
		at++;
	}
	return cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(row, "c"), at), "v");
}

static bool is_near(double ours, double theirs)
{
	return fabs(ours - theirs) <= 1e-6 * fabs(theirs);
}

/* XProf gives rates: per second of one execution; bytes in GiB. */
static bool op_agrees(struct ts_bytes space, const cJSON *table, const cJSON *row)
{
	double time_s = cell(table, row, "total_time")->valuedouble * 1e-6 /
			cell(table, row, "occurrences")->valuedouble;
	double flops = cell(table, row, "model_flop_rate")->valuedouble * 1e9 * time_s;
	double bytes = cell(table, row, "measured_memory_bw")->valuedouble * 0x1p30 * time_s;
	struct input input = INPUT_INIT;
	struct ts_bytes program =
		ts_arena_printf(&input.arena, "(%s)", cell(table, row, "program_id")->valuestring);
	struct ts_bytes proto = module_of_program(space, (const char *)program.p);
	struct ts_cost cost = { .flops = 0 };

	assert_int_equal(read_bytes(&input, proto), TS_OK);
	cost = ts_hlo_cost(
		&input.module,
		(uint32_t)(instr_named(&input, cell(table, row, "hlo_op_name")->valuestring) -
			   input.module.instrs));
	input_release(&input);
	return is_near((double)cost.flops, flops) && is_near((double)cost.bytes_accessed, bytes);
}

TEST(test_ops_cost_what_xprof_says)
{
	static const char *const profiles[] = { "gpu_mi300x_jax_conv", "tpu_v6e_host_offload" };
	struct ts_arena arena = TS_ARENA_INIT;
	int nr = 0, nr_good = 0;

	for (size_t i = 0; i < TS_NELEM(profiles); i++) {
		struct ts_bytes path = ts_arena_printf(&arena, "xplane/%s.xplane.pb", profiles[i]);
		struct ts_bytes truth =
			ts_arena_printf(&arena, "truth/xprof_%s.hlo_stats.json", profiles[i]);
		struct ts_bytes space = corpus_file(&arena, (const char *)path.p);
		struct ts_bytes text = corpus_file(&arena, (const char *)truth.p);
		cJSON *table = cJSON_ParseWithLength((const char *)text.p, text.n), *row;

		skip_without_corpus(space);
		cJSON_ArrayForEach(row, cJSON_GetObjectItem(table, "rows"))
		{
			nr++;
			nr_good += op_agrees(space, table, row);
		}
		cJSON_Delete(table);
	}
	ts_arena_release(&arena);
	assert_int_equal(nr, 21);
	assert_int_equal(nr_good, nr);
}
