/* SPDX-License-Identifier: MIT */
/* The columns of a heap's growth, which the tables of two analyses have. */
#ifndef TS_ANALYSIS_KIT_GROWTH_H
#define TS_ANALYSIS_KIT_GROWTH_H

#include "analysis/facts/heap.h"
#include "result/schema.h"

static inline struct ts_value ts_growth_cell(const struct ts_heap_growth *growth, int64_t value)
{
	return growth->nr_steps < 2 ? ts_null() : ts_int(value);
}

#define TS_GROWTH_CELLS(X, growth) \
	X(steps, ts_growth_cell(growth, (growth)->nr_steps)) \
	X(rising_steps, ts_growth_cell(growth, (growth)->nr_rising)) \
	X(first_step_heap_bytes, ts_growth_cell(growth, (growth)->first_bytes)) \
	X(last_step_heap_bytes, ts_growth_cell(growth, (growth)->last_bytes))

#endif
