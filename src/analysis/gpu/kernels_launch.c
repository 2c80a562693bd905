/* SPDX-License-Identifier: MIT */
/*
 * Which op launches a kernel, and with which launch. Kineto writes the launch in args of its own
 * (libkineto/src/output_json.cpp), XLA's profilers write it in one text (model/kernel_details.h).
 */
#include "analysis/gpu/kernels.h"

#include "base/check.h"
#include "model/kernel_details.h"

#define OPEN_MAX 1024 /* operators inside each other */

uint32_t ts_kernels_innermost(struct kernel_thread *thread, int64_t at_ps)
{
	while (thread->nr > 0 && thread->items[thread->nr - 1].end_ps <= at_ps)
		thread->nr--;
	return thread->nr > 0 ? thread->items[thread->nr - 1].op : TS_NONE;
}

enum ts_status ts_kernels_open_op(struct kernel_thread *thread, uint32_t op, int64_t start_ps,
				  int64_t end_ps, struct ts_error *err)
{
	ts_kernels_innermost(thread, start_ps);
	if (thread->nr >= OPEN_MAX)
		return TS_OK;
	if (!ts_grow(&thread->items, &thread->cap, thread->nr + 1, sizeof(*thread->items)))
		return ts_fail_nomem(err);
	thread->items[thread->nr++] = (struct kernel_open){ end_ps, op };
	return TS_OK;
}

static bool kernels_launch_number_of(const struct ts_interleaved *interleaved, size_t i,
				     const char *name, double *value)
{
	struct ts_stat stat;

	if (!ts_interleaved_stat(interleaved, i, name, &stat) || stat.type == TS_STAT_TEXT)
		return false;
	*value = stat.type == TS_STAT_INT ? (double)stat.number : stat.real;
	return isfinite(*value) && *value >= 0;
}

static struct ts_bytes kernels_launch_text_of(const struct ts_interleaved *interleaved, size_t i,
					      const char *name)
{
	struct ts_stat stat;

	if (!ts_interleaved_stat(interleaved, i, name, &stat) || stat.type != TS_STAT_TEXT)
		return (struct ts_bytes){ NULL, 0 };
	return stat.text;
}

static int64_t whole_of(const struct ts_interleaved *interleaved, size_t i, const char *name)
{
	double value;

	return kernels_launch_number_of(interleaved, i, name, &value) && value < 9e18
		       ? (int64_t)value
		       : TS_UNKNOWN;
}

static void take_weighted(double *sum, int64_t *weight_ps, double value, int64_t dur_ps)
{
	*sum += value * (double)dur_ps;
	*weight_ps = ts_i64_add(*weight_ps, dur_ps);
}

/* Of launches that take equally long, the first one stands for the row. */
static bool is_longest(const struct kernel_row *row, int64_t dur_ps)
{
	return row->time.nr == 0 || dur_ps > row->time.max;
}

static void take_bytes(struct kernel_row *row, int64_t nr_bytes, int64_t dur_ps)
{
	if (nr_bytes < 0)
		return;
	row->nr_bytes = ts_i64_add(TS_MAX(row->nr_bytes, 0), nr_bytes);
	row->bytes_ps = ts_i64_add(row->bytes_ps, dur_ps);
}

/* occ_pct is what the launch could have at most; a profiler that does not know it writes 0. */
static void add_compiled(struct kernel_row *row, const struct ts_interleaved *interleaved, size_t i)
{
	int64_t dur_ps = TS_MAX(interleaved->dur_ps[i], 0), dynamic_bytes, occupancy;
	struct ts_bytes details = kernels_launch_text_of(interleaved, i, "kernel_details");

	take_bytes(row,
		   ts_kernel_detail_number(kernels_launch_text_of(interleaved, i, "memcpy_details"),
					   "size"),
		   dur_ps);
	occupancy = ts_kernel_detail_number(details, "occ_pct");
	if (occupancy > 0)
		take_weighted(&row->occupancy, &row->occupancy_ps, (double)occupancy, dur_ps);
	if (details.n == 0 || !is_longest(row, dur_ps))
		return;
	dynamic_bytes = ts_kernel_detail_number(details, "dynamic_shared");
	row->longest = (struct kernel_shape){
		.grid = ts_kernel_detail(details, "grid"),
		.block = ts_kernel_detail(details, "block"),
		.registers = ts_kernel_detail_number(details, "regs"),
		.shared_bytes = ts_kernel_detail_number(details, "static_shared"),
	};
	if (row->longest.shared_bytes < 0)
		row->longest.shared_bytes =
			ts_kernel_detail_number(details, "group_mem"); /* AMD's word */
	else if (dynamic_bytes > 0)
		row->longest.shared_bytes = ts_i64_add(row->longest.shared_bytes, dynamic_bytes);
}

static void add_traced(struct kernel_row *row, const struct ts_interleaved *interleaved, size_t i)
{
	int64_t dur_ps = TS_MAX(interleaved->dur_ps[i], 0);
	double value;

	if (row->class == TS_TRACE_MEMCPY || row->class == TS_TRACE_MEMSET) {
		take_bytes(row, whole_of(interleaved, i, "bytes"), dur_ps);
		return;
	}
	/* Kineto writes 0 where it cannot tell, as for clusters of an H100. */
	if (kernels_launch_number_of(interleaved, i, "est. achieved occupancy %", &value) &&
	    value > 0)
		take_weighted(&row->occupancy, &row->occupancy_ps, value, dur_ps);
	if (kernels_launch_number_of(interleaved, i, "blocks per SM", &value))
		take_weighted(&row->blocks, &row->blocks_ps, value, dur_ps);
	if (!is_longest(row, dur_ps))
		return;
	row->longest = (struct kernel_shape){
		.grid = kernels_launch_text_of(interleaved, i, "grid"),
		.block = kernels_launch_text_of(interleaved, i, "block"),
		.registers = whole_of(interleaved, i, "registers per thread"),
		.shared_bytes = whole_of(interleaved, i, "shared memory"),
	};
}

void ts_kernels_add_launch(struct kernel_row *row, const struct ts_interleaved *interleaved,
			   size_t i)
{
	TS_ASSERT_HOT(i < interleaved->nr_events);
	if (interleaved->profile->ops[interleaved->op[i]].is_traced)
		add_traced(row, interleaved, i);
	else
		add_compiled(row, interleaved, i);
}
