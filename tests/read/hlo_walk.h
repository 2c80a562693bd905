/* SPDX-License-Identifier: Apache-2.0 */
/* Asks everything of a module that was read: what other people's bytes must never break. */
#ifndef TS_TESTS_READ_HLO_WALK_H
#define TS_TESTS_READ_HLO_WALK_H

#include "base/buf.h"
#include "model/cost.h"
#include "read/hlo.h"

static inline int64_t walk_instr(const struct ts_hlo_module *module, uint32_t i)
{
	struct ts_matmul products[2];
	struct ts_buf text = TS_BUF_INIT;
	size_t nr = ts_hlo_matmuls(module, i, products, TS_NELEM(products));
	int64_t sum = ts_hlo_cost(module, i).flops ^ ts_hlo_padding(module, i).allocated_bytes;

	ts_shape_print(&text, &module->instrs[i].shape);
	for (size_t k = 0; k < TS_MIN(nr, TS_NELEM(products)); k++)
		sum ^= (int64_t)(ts_matmul_fill(&products[k], 128).share * 1000);
	sum ^= (int64_t)text.n ^ ts_shape_logical_bytes(&module->instrs[i].shape);
	for (uint32_t k = 0; k < module->instrs[i].nr_frames; k++)
		sum ^= module->instrs[i].frames[k].line;
	ts_buf_release(&text);
	return sum;
}

/* Reads BYTES and, when that went well, looks at everything. */
static inline enum ts_status walk_bytes(struct ts_bytes bytes)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_hlo_module module;
	enum ts_status st = ts_hlo_read(&arena, bytes, TS_LIT("test"), &module, &err);
	int64_t sum =
		st ? 0
		   : ts_hlo_module_cost(&module).flops ^ ts_hlo_module_bytes(&module).output_bytes;

	for (uint32_t i = 0; i < module.nr_instrs; i++)
		sum ^= walk_instr(&module, i);
	ts_arena_release(&arena);
	return sum == INT64_MIN && !st ? TS_FORMAT : st; /* the sum must not be optimised away */
}

#endif
