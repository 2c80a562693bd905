/* SPDX-License-Identifier: MIT */
/*
 * What is read and what is written, in which memory: against libtpu's own count of what its programs
 * write (tests/data/traffic, made by tests/fixtures/make_traffic.py), and by hand.
 */
#include "tests/test.h"
#include "io/input.h"
#include "model/traffic.h"
#include "read/hlo.h"
#include "tests/read/hlo_make.h"

#define VEC		    "f32[1024,128]{1,0:T(8,128)}"
#define ON_CHIP		    "f32[1024,128]{1,0:T(8,128)S(1)}"
#define ON_HOST		    "f32[1024,128]{1,0:T(8,128)S(5)}"
#define N		    INT64_C(524288)

#define SYNC_FLAG_BYTES	    4096 /* libtpu's size of a copy's semaphore */
#define POINTER_TABLE_BYTES 512	 /* of a tuple, v5e */

static void read_module(struct ts_arena *arena, struct ts_bytes proto, struct ts_hlo_module *module)
{
	struct ts_error err = TS_ERROR_INIT;

	memset(module, 0, sizeof(*module));
	if (ts_hlo_read(arena, proto, TS_LIT("a.pb"), module, &err))
		fail_msg("%s", err.text);
}

static int64_t sum_of(const int64_t *bytes)
{
	int64_t sum = 0;

	for (int i = 0; i < TS_NR_MEMORIES; i++)
		sum += bytes[i];
	return sum;
}

/* libtpu takes the whole tuple of a copy-start for its output: the source and the semaphore too. */
static int64_t copy_extras(const struct ts_hlo_module *module)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (module->instrs[i].opcode == TS_OPCODE_COPY_START)
			sum += ts_shape_bytes(&module->instrs[i].shape.parts[1]) + SYNC_FLAG_BYTES;
	return sum;
}

static int64_t nr_of(const struct ts_hlo_module *module, const char *opcode)
{
	int64_t nr = 0;

	for (uint32_t i = 0; i < module->nr_instrs; i++)
		nr += ts_bytes_is(module->instrs[i].opcode_text, opcode);
	return nr;
}

static int64_t nr_tuples(const struct ts_hlo_module *module)
{
	int64_t nr = 0;

	for (uint32_t i = 0; i < module->nr_instrs; i++)
		nr += module->instrs[i].shape.dtype == TS_TUPLE;
	return nr;
}

/* The numbers of tests/data/traffic/libtpu.json. */
TEST(test_reads_and_writes_are_libtpus)
{
	static const struct {
		const char *name;
		int64_t all, written;
	} programs[] = {
		{ "turned", 12321280, 6160896 },   { "heads", 37798912, 22880256 },
		{ "parts", 10441728, 5209600 },	   { "steps", 12866560, 4733440 },
		{ "widened", 27005440, 15470592 },
	};

	for (size_t i = 0; i < TS_NELEM(programs); i++) {
		struct ts_arena arena = TS_ARENA_INIT;
		struct ts_input input;
		struct ts_error err = TS_ERROR_INIT;
		struct ts_hlo_module module;
		struct ts_cost cost;
		int64_t tables, flags, read, written;
		char path[512];

		snprintf(path, sizeof(path), TS_SRCDIR "/tests/data/traffic/%s.hlo_proto.pb",
			 programs[i].name);
		if (ts_input_open(&input, path, &err))
			fail_msg("%s", err.text);
		read_module(&arena, input.bytes, &module);
		cost = ts_hlo_module_cost(&module);
		tables = nr_tuples(&module) * POINTER_TABLE_BYTES;
		written = programs[i].written - copy_extras(&module);
		flags = nr_of(&module, "copy-start") * SYNC_FLAG_BYTES;
		read = programs[i].all - written - flags;
		print_message("%s: written %lld of %lld, read %lld of %lld\n", programs[i].name,
			      (long long)sum_of(cost.written_bytes), (long long)written,
			      (long long)sum_of(cost.read_bytes), (long long)read);
		assert_in_range(written - sum_of(cost.written_bytes), 0, (uintmax_t)tables);
		assert_in_range(read - sum_of(cost.read_bytes), 0, (uintmax_t)tables);
		ts_input_release(&input);
		ts_arena_release(&arena);
	}
}

/* One op behind a parameter (or two): what it reads and writes, memory by memory. */
TEST(test_each_memory_has_its_bytes)
{
	static const struct {
		const char *opcode, *from, *to;
		enum ts_memory read, written;
		int64_t read_bytes, written_bytes;
	} rows[] = {
		{ "negate", VEC, VEC, TS_MEMORY_HBM, TS_MEMORY_HBM, N, N },
		{ "copy", VEC, ON_CHIP, TS_MEMORY_HBM, TS_MEMORY_VMEM, N, N },
		{ "copy", ON_HOST, VEC, TS_MEMORY_HOST, TS_MEMORY_HBM, N, N },
		{ "slice", VEC, "f32[8,128]{1,0:T(8,128)S(1)}", TS_MEMORY_HBM, TS_MEMORY_VMEM, 4096,
		  4096 },
		{ "copy-done", "(" ON_CHIP ", " VEC ", u32[]{:S(2)})", ON_CHIP, TS_MEMORY_HBM,
		  TS_MEMORY_VMEM, 0, N },
		{ "infeed", VEC, VEC, TS_MEMORY_HOST, TS_MEMORY_HBM, N, N },
		{ "outfeed", VEC, "token[]", TS_MEMORY_HBM, TS_MEMORY_HOST, N, N },
		{ "bitcast", VEC, VEC, TS_MEMORY_HBM, TS_MEMORY_HBM, 0, 0 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_arena arena = TS_ARENA_INIT;
		struct make make = MAKE_INIT;
		size_t comp = make_comp(&make, "main");
		struct ts_hlo_module module;
		struct ts_traffic traffic;

		make_param(&make, 0, rows[i].from, 10);
		make_op(&make, "op", rows[i].opcode, rows[i].to, 11, 1, (int64_t[]){ 10 });
		make_end_comp(&make, comp, 1, 11);
		read_module(&arena, make_end(&make, 1), &module);
		traffic = ts_instr_traffic(&module, ts_hlo_find(&module, TS_LIT("op")));
		assert_int_equal(traffic.source, TS_TRAFFIC_MODULE);
		assert_int_equal(traffic.read_bytes[rows[i].read], rows[i].read_bytes);
		assert_int_equal(traffic.written_bytes[rows[i].written], rows[i].written_bytes);
		assert_int_equal(sum_of(traffic.read_bytes), rows[i].read_bytes);
		assert_int_equal(sum_of(traffic.written_bytes), rows[i].written_bytes);
		ts_buf_release(&make.out);
		ts_arena_release(&arena);
	}
}

/*
 * A fusion round a gather, all in VMEM: inside, the shapes on the way do not say so. Eight rows of
 * 128 f32, each read with its tile of 8 x 128: 32768 bytes; 8 indices in a tile of 128: 512 bytes.
 */
TEST(test_a_fused_gather_reads_where_its_operands_lie)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct make make = MAKE_INIT;
	size_t comp = make_comp(&make, "fused");
	struct ts_hlo_module module;
	struct ts_traffic traffic;

	make_param(&make, 0, ON_CHIP, 20);
	make_param(&make, 1, "s32[8]{0:T(128)S(1)}", 21);
	make_op(&make, "reshaped", "reshape", "s32[8]{0:T(128)}", 22, 1, (int64_t[]){ 21 });
	make_begin_op(&make, "rows", "gather", "f32[8,128]{1,0:T(8,128)}", 23, 2,
		      (int64_t[]){ 20, 22 });
	ts_pbw_i64(&make.out, 34, 1); /* dynamic_slice_sizes */
	ts_pbw_i64(&make.out, 34, 128);
	make_end_op(&make);
	make_end_comp(&make, comp, 2, 23);
	comp = make_comp(&make, "main");
	make_param(&make, 0, ON_CHIP, 10);
	make_param(&make, 1, "s32[8]{0:T(128)S(1)}", 11);
	make_begin_op(&make, "fusion", "fusion", "f32[8,128]{1,0:T(8,128)S(1)}", 12, 2,
		      (int64_t[]){ 10, 11 });
	ts_pbw_i64(&make.out, 38, 2);
	ts_pbw_text(&make.out, 11, TS_LIT("kCustom"));
	make_end_op(&make);
	make_end_comp(&make, comp, 1, 12);
	read_module(&arena, make_end(&make, 1), &module);
	traffic = ts_instr_traffic(&module, ts_hlo_find(&module, TS_LIT("fusion")));
	assert_int_equal(traffic.read_bytes[TS_MEMORY_VMEM], 8 * 8 * 128 * 4 + 512);
	assert_int_equal(traffic.written_bytes[TS_MEMORY_VMEM], 4096);
	assert_int_equal(ts_traffic_hbm_bytes(&traffic), 0);
	ts_buf_release(&make.out);
	ts_arena_release(&arena);
}
