/* SPDX-License-Identifier: MIT */
/*
 * Kernels: how often each ran on each device, for how long, with which launch, and for which op. On
 * GPUs these are the kernels of traces and xplanes, on TPUs the ops.
 *
 * Sources: XProf's kernel_stats, torch_tb_profiler's kernel view (kernel_parser.py,
 * tensor_core.py).
 */
#include "analysis/gpu/kernels.h"

#include "base/record.h"
#include "result/schema/kernels.def"

#define CLASS_UNSEEN UINT8_MAX

#define TS_SELF struct kernel_shape
static TS_RECORD(shape, TS_TEXT(1, grid), TS_TEXT(2, block), TS_NUMBER(3, registers, TS_BY_HAND),
		 TS_NUMBER(4, shared_bytes, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct kernel_row
static bool gpu_kernels_is_row(const void *self)
{
	const struct kernel_row *row = self;

	return row->op != TS_NONE && row->device != TS_NONE &&
	       (row->time.nr == 0 || row->class < TS_NR_TRACE_CLASSES);
}
static TS_RECORD_WITH(row, TS_VALID_IF(gpu_kernels_is_row), TS_INDEX(1, op, TS_BY_OP, TS_BY_HAND),
		      TS_INDEX(2, device, TS_BY_DEVICE, TS_BY_HAND),
		      TS_NUMBER(3, class, TS_BY_HAND), TS_NUMBER(4, is_compiled, TS_BY_HAND),
		      TS_STRUCT(5, time, ts_spread_record), TS_STRUCT(6, longest, shape_record),
		      TS_NUMBER(7, occupancy, TS_BY_HAND), TS_NUMBER(8, blocks, TS_BY_HAND),
		      TS_NUMBER(9, occupancy_ps, TS_BY_HAND), TS_NUMBER(10, blocks_ps, TS_BY_HAND),
		      TS_NUMBER(11, nr_bytes, TS_BY_HAND), TS_NUMBER(12, bytes_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct kernel_caller
static TS_RECORD(caller, TS_NUMBER(1, row, TS_BY_HAND), TS_INDEX_KNOWN(2, op, TS_BY_OP, TS_BY_HAND),
		 TS_NUMBER(3, count, TS_BY_HAND), TS_NUMBER(4, total_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct kernel_table
static bool is_table(const void *self)
{
	const struct kernel_table *table = self;

	for (size_t i = 0; i < table->nr_callers; i++)
		if (table->callers[i].row >= table->nr_rows)
			return false;
	return true;
}
static TS_RECORD_WITH(table, TS_VALID_IF(is_table), TS_LIST(1, rows, row_record, TS_APPEND),
		      TS_LIST(2, callers, caller_record, TS_APPEND));
#undef TS_SELF

#define TS_SELF struct kernel_thread
static TS_RECORD(thread, TS_SCRATCH(items));
#undef TS_SELF

#define TS_SELF struct kernels_state
static TS_RECORD(kernels, TS_STRUCT(1, table, table_record), TS_SCRATCH(row_ids.slots),
		 TS_SCRATCH(caller_ids.slots),
		 TS_SCRATCH_RECORDS(threads, nr_threads, thread_record), TS_SCRATCH(launches.slots),
		 TS_SCRATCH(sides), TS_SCRATCH(classes));
#undef TS_SELF

static bool gpu_kernels_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->profile->nr_devices > 0 && ts_trace_side_of(ctx->profile, line) != TS_SIDE_NONE;
}

static enum ts_status kernels_open(void *ptr, const struct ts_context *ctx,
				   const struct ts_line *line, struct ts_error *err)
{
	struct kernels_state *state = ptr;
	const struct ts_profile *profile = ctx->profile;

	state->threads = calloc(profile->nr_lines + 1, sizeof(*state->threads));
	state->sides = malloc(profile->nr_lines + 1);
	state->classes = malloc(profile->nr_ops + 1);
	if (!state->threads || !state->sides || !state->classes)
		return ts_fail_nomem(err);
	state->nr_threads = profile->nr_lines;
	for (size_t i = 0; i < profile->nr_lines; i++)
		state->sides[i] = (uint8_t)ts_trace_side_of(profile, &profile->lines[i]);
	memset(state->classes, CLASS_UNSEEN, profile->nr_ops + 1);
	return TS_OK;
}

static enum ts_trace_class class_on_host(struct kernels_state *state,
					 const struct ts_profile *profile, uint32_t line,
					 uint32_t op)
{
	uint8_t *class = &state->classes[op];

	if (*class == CLASS_UNSEEN)
		*class = (uint8_t)ts_trace_class_of(profile, &profile->lines[line],
						    &profile->ops[op]);
	return *class;
}

static enum ts_status gpu_kernels_take_host_event(struct kernels_state *state,
						  const struct ts_interleaved *interleaved,
						  size_t i, struct ts_error *err)
{
	uint32_t line = interleaved->line[i], op = interleaved->op[i];
	struct kernel_thread *thread = &state->threads[line];
	int64_t start_ps = interleaved->start_ps[i];

	switch (class_on_host(state, interleaved->profile, line, op)) {
	case TS_TRACE_CPU_EXEC:
		return ts_kernels_open_op(thread, op, start_ps, start_ps + interleaved->dur_ps[i],
					  err);
	case TS_TRACE_RUNTIME:
		return interleaved->link[i] == TS_NO_LINK
			       ? TS_OK
			       : ts_launches_note(&state->launches, interleaved->link[i],
						  ts_kernels_innermost(thread, start_ps), err);
	default: return TS_OK;
	}
}

/* A kernel that an XLA op launches has the op's name: its own name is in a stat. */
static uint32_t gpu_kernels_kernel_of(const struct ts_interleaved *interleaved, size_t i)
{
	uint32_t op = interleaved->op[i];
	struct ts_stat name;

	if (!interleaved->profile->ops[op].has_program)
		return op;
	return ts_interleaved_stat(interleaved, i, TS_STAT_KERNEL, &name) ? (uint32_t)name.number
									  : op;
}

static struct kernel_row *gpu_kernels_add_row(struct kernel_table *table,
					      const struct ts_interleaved *interleaved, size_t i,
					      uint32_t op)
{
	const struct ts_profile *profile = interleaved->profile;
	const struct ts_line *line = &profile->lines[interleaved->line[i]];
	struct kernel_row *row;

	if (!ts_grow(&table->rows, &table->cap_rows, table->nr_rows + 1, sizeof(*row)))
		return NULL;
	row = &table->rows[table->nr_rows];
	*row = (struct kernel_row){
		.op = op,
		.device = profile->planes[line->plane].device,
		.class = (uint8_t)ts_trace_class_of(profile, line, &profile->ops[op]),
		.is_compiled = profile->ops[interleaved->op[i]].has_program,
		.longest = { .registers = TS_UNKNOWN, .shared_bytes = TS_UNKNOWN },
		.nr_bytes = TS_UNKNOWN,
	};
	return row;
}

/* The row of an event; NULL: no memory. */
static struct kernel_row *gpu_kernels_row_of(struct kernels_state *state,
					     const struct ts_interleaved *interleaved, size_t i,
					     uint32_t *at)
{
	uint32_t op = gpu_kernels_kernel_of(interleaved, i);
	uint32_t device = interleaved->profile
				  ->planes[interleaved->profile->lines[interleaved->line[i]].plane]
				  .device;
	uint64_t key = (uint64_t)op << 32 | device;
	struct kernel_row *row;

	*at = ts_map_find(&state->row_ids, key);
	if (*at != TS_NONE)
		return &state->table.rows[*at];
	*at = (uint32_t)state->table.nr_rows;
	row = gpu_kernels_add_row(&state->table, interleaved, i, op);
	if (!row || !ts_map_set(&state->row_ids, key, *at))
		return NULL;
	state->table.nr_rows++;
	return row;
}

static enum ts_status add_caller(struct kernels_state *state, uint32_t row, uint32_t op,
				 int64_t dur_ps, struct ts_error *err)
{
	struct kernel_table *table = &state->table;
	uint64_t key = (uint64_t)row << 32 | op;
	uint32_t at;

	if (op == TS_NONE)
		return TS_OK;
	at = ts_map_find(&state->caller_ids, key);
	if (at == TS_NONE) {
		at = (uint32_t)table->nr_callers;
		if (!ts_grow(&table->callers, &table->cap_callers, table->nr_callers + 1,
			     sizeof(*table->callers)) ||
		    !ts_map_set(&state->caller_ids, key, at))
			return ts_fail_nomem(err);
		table->callers[table->nr_callers++] = (struct kernel_caller){ row, op, 0, 0 };
	}
	table->callers[at].count++;
	table->callers[at].total_ps = ts_i64_add(table->callers[at].total_ps, dur_ps);
	return TS_OK;
}

static enum ts_status gpu_kernels_take_device_event(struct kernels_state *state,
						    const struct ts_interleaved *interleaved,
						    size_t i, struct ts_error *err)
{
	int64_t dur_ps = TS_MAX(interleaved->dur_ps[i], 0);
	uint32_t at, caller;
	struct kernel_row *row = gpu_kernels_row_of(state, interleaved, i, &at);

	if (!row)
		return ts_fail_nomem(err);
	if (row->class >= TS_NR_TRACE_CLASSES)
		return TS_OK; /* a TPU's loop: the ops in it have rows */
	if (interleaved->profile->devices[row->device].is_gpu)
		ts_kernels_add_launch(row, interleaved, i);
	ts_spread_add(&row->time, dur_ps);
	caller = row->is_compiled ? interleaved->op[i]
				  : ts_launches_find(&state->launches, interleaved->link[i]);
	return add_caller(state, at, caller, dur_ps, err);
}

static enum ts_status kernels_interleaved(void *ptr, const struct ts_context *ctx,
					  const struct ts_interleaved *interleaved,
					  struct ts_error *err)
{
	struct kernels_state *state = ptr;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && !st; i++)
		switch (state->sides[interleaved->line[i]]) {
		case TS_SIDE_DEVICE:
			st = gpu_kernels_take_device_event(state, interleaved, i, err);
			break;
		case TS_SIDE_HOST:
			st = gpu_kernels_take_host_event(state, interleaved, i, err);
			break;
		default: break;
		}
	return st;
}

/* Hosts have different devices: the rows of FROM stand behind those of INTO. */
static enum ts_status kernels_merge(void *into, void *from, const struct ts_context *ctx,
				    struct ts_error *err)
{
	const struct kernel_table *before = &((struct kernels_state *)into)->table;
	struct kernel_table *table = &((struct kernels_state *)from)->table;

	for (size_t i = 0; i < table->nr_callers; i++)
		table->callers[i].row += (uint32_t)before->nr_rows;
	return ts_record_merge(&kernels_record, into, from, err);
}

static enum ts_status kernels_close(void *state, const struct ts_context *ctx, void *facts,
				    struct ts_result *result, struct ts_error *err)
{
	return ts_kernels_report(state, ctx, facts, result, err);
}

const struct ts_analysis ts_analysis_kernels = {
	.schema = &ts_schema_kernels,
	.needs = TS_NEEDED,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK | TS_COL_STATS,
	.state = &kernels_record,
	.facts_size = sizeof(struct ts_kernels_facts),
	.wants = gpu_kernels_wants,
	.open = kernels_open,
	.interleaved = kernels_interleaved,
	.merge = kernels_merge,
	.close = kernels_close,
};
