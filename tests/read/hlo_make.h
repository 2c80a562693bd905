/* SPDX-License-Identifier: MIT */
/*
 * Compiled modules for tests, written field by field: an HloModuleProto with one or more
 * computations. Field numbers: openxla/xla, xla/service/hlo.proto.
 *
 *	struct make make = MAKE_INIT;
 *	size_t comp = make_comp(&make, "main", 1);
 *	make_op(&make, "a", "parameter", "f32[8,128]{1,0:T(8,128)}", 10, 0, NULL);
 *	make_op(&make, "b", "negate", "f32[8,128]{1,0:T(8,128)}", 11, 1, (int64_t[]){ 10 });
 *	make_end_comp(&make, comp, 1, 11);
 *	make_end(&make, 1);
 */
#ifndef TS_TESTS_READ_HLO_MAKE_H
#define TS_TESTS_READ_HLO_MAKE_H

#include "codec/pbw.h"
#include "model/hlo.h"

struct make {
	struct ts_buf out;
	size_t instr; /* the mark of the instruction that is open */
};

#define MAKE_INIT { TS_BUF_INIT, 0 }

static inline void make_numbers(struct make *make, uint32_t field, const int64_t *numbers,
				size_t nr)
{
	for (size_t i = 0; i < nr; i++) /* one by one: readers take packed and unpacked alike */
		ts_pbw_i64(&make->out, field, numbers[i]);
}

static inline void make_layout(struct make *make, const struct ts_shape *shape)
{
	size_t mark = ts_pbw_begin(&make->out, 5);

	for (uint32_t i = 0; i < shape->rank; i++)
		ts_pbw_u64(&make->out, 1, shape->minor_to_major[i]);
	for (uint32_t i = 0; i < shape->nr_tiles; i++) {
		size_t tile = ts_pbw_begin(&make->out, 6);

		make_numbers(make, 1, shape->tiles[i].dims, shape->tiles[i].nr_dims);
		ts_pbw_end(&make->out, tile);
	}
	ts_pbw_i64(&make->out, 7, shape->element_bits);
	ts_pbw_i64(&make->out, 8, shape->memory_space);
	ts_pbw_end(&make->out, mark);
}

static inline void make_shape(struct make *make, uint32_t field, const struct ts_shape *shape)
{
	size_t mark = ts_pbw_begin(&make->out, field);

	ts_pbw_u64(&make->out, 2, shape->dtype);
	make_numbers(make, 3, shape->dims, shape->rank);
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		make_shape(make, 4, &shape->parts[i]);
	if (shape->has_layout)
		make_layout(make, shape);
	ts_pbw_end(&make->out, mark);
}

/* Opens an instruction; what the caller writes next belongs to it, until make_end_op(). */
static inline void make_begin_op(struct make *make, const char *name, const char *opcode,
				 const char *shape_text, int64_t id, size_t nr,
				 const int64_t *operands)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_shape shape;

	make->instr = ts_pbw_begin(&make->out, 2);
	ts_pbw_text(&make->out, 1, ts_bytes_of(name));
	ts_pbw_text(&make->out, 2, ts_bytes_of(opcode));
	if (ts_shape_parse(&arena, ts_bytes_of(shape_text), &shape, NULL, NULL) == TS_OK)
		make_shape(make, 3, &shape);
	ts_pbw_i64(&make->out, 35, id);
	make_numbers(make, 36, operands, nr);
	ts_arena_release(&arena);
}

static inline void make_end_op(struct make *make)
{
	ts_pbw_end(&make->out, make->instr);
}

static inline void make_op(struct make *make, const char *name, const char *opcode,
			   const char *shape_text, int64_t id, size_t nr, const int64_t *operands)
{
	make_begin_op(make, name, opcode, shape_text, id, nr, operands);
	make_end_op(make);
}

static inline void make_param(struct make *make, int64_t number, const char *shape_text, int64_t id)
{
	make_begin_op(make, "param", "parameter", shape_text, id, 0, NULL);
	ts_pbw_i64(&make->out, 9, number);
	make_end_op(make);
}

/* An op that calls the computation CALLED: fusion, while, reduce ... */
static inline void make_caller(struct make *make, const char *name, const char *opcode,
			       const char *shape_text, int64_t id, size_t nr,
			       const int64_t *operands, int64_t called)
{
	make_begin_op(make, name, opcode, shape_text, id, nr, operands);
	ts_pbw_i64(&make->out, 38, called);
	make_end_op(make);
}

static inline size_t make_comp(struct make *make, const char *name)
{
	size_t mark = ts_pbw_begin(&make->out, 3);

	ts_pbw_text(&make->out, 1, ts_bytes_of(name));
	return mark;
}

static inline void make_end_comp(struct make *make, size_t mark, int64_t id, int64_t root)
{
	ts_pbw_i64(&make->out, 5, id);
	ts_pbw_i64(&make->out, 6, root);
	ts_pbw_end(&make->out, mark);
}

/* A reducer of two scalars. */
static inline void make_reducer(struct make *make, const char *opcode, int64_t id)
{
	const int64_t base = id * 1000;
	size_t comp = make_comp(make, "reducer");

	make_param(make, 0, "f32[]", base);
	make_param(make, 1, "f32[]", base + 1);
	make_op(make, "r", opcode, "f32[]", base + 2, 2, (int64_t[]){ base, base + 1 });
	make_end_comp(make, comp, id, base + 2);
}

static inline struct ts_bytes make_end(struct make *make, int64_t entry)
{
	ts_pbw_text(&make->out, 1, TS_LIT("jit_test"));
	ts_pbw_i64(&make->out, 6, entry);
	return ts_buf_bytes(&make->out);
}

#endif
