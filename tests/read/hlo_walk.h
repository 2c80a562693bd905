/* SPDX-License-Identifier: MIT */
/* Asks everything of a module that was read: what other people's bytes must never break. */
#ifndef TS_TESTS_READ_HLO_WALK_H
#define TS_TESTS_READ_HLO_WALK_H

#include "analysis/kit/op_time.h"
#include "base/buf.h"
#include "model/cost.h"
#include "model/partition.h"
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

/* A step of it on eight chips of a v5e, with each op as it is expected, at the least and at the most. */
static inline int64_t walk_prediction(const struct ts_hlo_module *module)
{
	struct ts_chip_query query = { .kind = TS_LIT("v5e") };
	struct ts_rates rates = ts_rates_of(&query, NAN, NAN, NAN, -1);
	struct ts_op_times times = { .module = NULL };
	struct ts_topology topology;
	struct ts_profile profile;
	struct ts_hlo_module *kept;
	int64_t sum = 0;

	ts_profile_init(&profile);
	kept = ts_profile_add_module(&profile, 1);
	ts_topology_parse(TS_LIT("2x4"), rates.name, &topology);
	if (kept)
		*kept = *module;
	if (kept && ts_op_times_make(&times, &profile, 0, &rates, &topology, NULL) == TS_OK)
		for (int which = 0; which < TS_NR_CASES; which++) {
			struct ts_schedule walk = { .module = kept,
						    .ops = times.walked,
						    .which = (enum ts_case)which,
						    .with_events = true };

			if (ts_schedule_walk(&walk, NULL) == TS_OK)
				sum ^= walk.end_ps ^ (int64_t)walk.core.nr;
			TS_ASSERT(walk.end_ps >= 0 && walk.core_ps >= 0 && walk.left_out_ps >= 0);
			ts_schedule_release(&walk);
		}
	ts_op_times_release(&times);
	ts_profile_release(&profile);
	return sum;
}

/* As if the partitioner had left it as it got it: why are its collectives there? */
static inline int64_t walk_partition(const struct ts_hlo_module *module)
{
	struct ts_partition partition;
	struct ts_mesh mesh = { .nr = 0 };
	int64_t sum = 0;

	if (ts_partition_make(&partition, module, module, &mesh, NULL) == TS_OK)
		for (uint32_t i = 0; i < module->nr_instrs; i++)
			if (ts_opcode_is_collective(module->instrs[i].opcode))
				sum ^= ts_partition_reason(&partition, &module->instrs[i]).cause;
	ts_partition_release(&partition);
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
	if (!st)
		sum ^= walk_prediction(&module) ^ walk_partition(&module);
	ts_arena_release(&arena);
	return sum == INT64_MIN && !st ? TS_FORMAT : st; /* the sum must not be optimised away */
}

#endif
