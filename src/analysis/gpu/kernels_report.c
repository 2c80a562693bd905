/* What is said of kernels: a row each and device, the costliest first. */
#include "analysis/gpu/kernels.h"

#define MAX_CALLERS 5 /* ops listed of a kernel */

enum column {
	COL_NAME,
	COL_TYPE,
	COL_CLASS,
	COL_DEVICE,
	COL_COUNT,
	COL_TOTAL,
	COL_MEAN,
	COL_MIN,
	COL_MAX,
	COL_STDDEV,
	COL_SHARE,
	COL_TENSOR_CORE,
	COL_OCCUPANCY,
	COL_BLOCKS,
	COL_GRID,
	COL_BLOCK,
	COL_REGISTERS,
	COL_SHARED,
	COL_BYTES,
	COL_RATE,
	COL_OP,
	COL_NR_OPS,
	COL_OPS,
	NR_COLS
};

static const struct ts_column columns[NR_COLS] = {
	[COL_NAME] = { "name", TS_MEASURED, "kernel" },
	[COL_TYPE] = { "kernel_type", TS_DERIVED, NULL },
	[COL_CLASS] = { "class", TS_DERIVED, "class" },
	[COL_DEVICE] = { "device_id", TS_DERIVED, "device" },
	[COL_COUNT] = { "count", TS_MEASURED, "count" },
	[COL_TOTAL] = { "total_ps", TS_MEASURED, "total" },
	[COL_MEAN] = { "mean_ps", TS_MEASURED, "mean" },
	[COL_MIN] = { "min_ps", TS_MEASURED, "min" },
	[COL_MAX] = { "max_ps", TS_MEASURED, "max" },
	[COL_STDDEV] = { "stddev_ps", TS_MEASURED, "stddev" },
	[COL_SHARE] = { "share_pct", TS_MEASURED, "share" },
	[COL_TENSOR_CORE] = { "tensor_core", TS_DERIVED, "tensor core" },
	[COL_OCCUPANCY] = { "occupancy_pct", TS_MEASURED, "occupancy" },
	[COL_BLOCKS] = { "blocks_per_sm", TS_MEASURED, NULL },
	[COL_GRID] = { "grid", TS_MEASURED, NULL },
	[COL_BLOCK] = { "block", TS_MEASURED, NULL },
	[COL_REGISTERS] = { "registers_per_thread", TS_MEASURED, NULL },
	[COL_SHARED] = { "shared_memory_bytes", TS_MEASURED, NULL },
	[COL_BYTES] = { "bytes", TS_MEASURED, NULL },
	[COL_RATE] = { "bytes_per_s", TS_MEASURED, "rate" },
	[COL_OP] = { "op", TS_MEASURED, "op" },
	[COL_NR_OPS] = { "op_count", TS_MEASURED, NULL },
	[COL_OPS] = { "ops", TS_MEASURED, NULL },
};

static const char *const caller_columns[] = { "op", "count", "total_ps" };

struct report {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_table *table;
	double total_ps;
};

static bool is_gpu(const struct report *report, const struct kernel_row *row)
{
	return report->ctx->profile->devices[row->device].is_gpu;
}

static struct ts_value mean(double sum, int64_t weight_ps)
{
	return weight_ps > 0 ? ts_real(sum / (double)weight_ps) : ts_null();
}

/* "[24, 1, 1]" and "24,1,1" are one. */
static struct ts_value shape(struct report *report, struct ts_bytes text)
{
	struct ts_arena *arena = &report->result->owner->arena;
	uint8_t *copy = text.n ? ts_arena_alloc(arena, text.n) : NULL;
	size_t n = 0;

	for (size_t i = 0; copy && i < text.n; i++)
		if (text.p[i] != '[' && text.p[i] != ']' && text.p[i] > ' ')
			copy[n++] = text.p[i];
	report->result->owner->failed |= text.n && !copy;
	return ts_text_or_null((struct ts_bytes){ copy, n });
}

static void put_time(const struct report *report, const struct kernel_row *row,
		     struct ts_value *cells)
{
	cells[COL_COUNT] = ts_int((int64_t)row->time.nr);
	cells[COL_TOTAL] = ts_int(row->time.sum);
	cells[COL_MEAN] = ts_int((int64_t)llround(row->time.mean));
	cells[COL_MIN] = ts_int(row->time.min);
	cells[COL_MAX] = ts_int(row->time.max);
	if (row->time.nr > 1)
		cells[COL_STDDEV] = ts_int((int64_t)llround(ts_spread_deviation(&row->time)));
	if (report->total_ps > 0)
		cells[COL_SHARE] = ts_real(100 * (double)row->time.sum / report->total_ps);
}

static enum ts_kernel_type type_of(const struct report *report, const struct kernel_row *row)
{
	const struct ts_op *op = &report->ctx->profile->ops[row->op];

	if (is_gpu(report, row))
		return ts_kernel_type_of(op->name);
	if (row->class == TS_TRACE_COMMUNICATION)
		return TS_KERNEL_COMMUNICATION;
	return row->class == TS_TRACE_MEMCPY || op->kind == TS_OP_MOVE ? TS_KERNEL_MEMORY
								       : TS_KERNEL_COMPUTATION;
}

static void put_launch(struct report *report, const struct kernel_row *row, struct ts_value *cells)
{
	struct ts_bytes name = report->ctx->profile->ops[row->op].name;

	if (is_gpu(report, row) && row->class == TS_TRACE_KERNEL)
		cells[COL_TENSOR_CORE] = ts_bool(ts_kernel_uses_tensor_cores(name));
	cells[COL_OCCUPANCY] = mean(row->occupancy, row->occupancy_ps);
	cells[COL_BLOCKS] = mean(row->blocks, row->blocks_ps);
	cells[COL_GRID] = shape(report, row->longest.grid);
	cells[COL_BLOCK] = shape(report, row->longest.block);
	cells[COL_REGISTERS] = ts_int_or_null(row->longest.registers);
	cells[COL_SHARED] = ts_int_or_null(row->longest.shared_bytes);
	cells[COL_BYTES] = ts_int_or_null(row->nr_bytes);
	if (row->bytes_ps > 0)
		cells[COL_RATE] = ts_real((double)row->nr_bytes / ((double)row->bytes_ps * 1e-12));
}

static struct ts_value caller_name(const struct report *report, uint32_t index)
{
	const struct ts_op *op = &report->ctx->profile->ops[index];

	return ts_text_or_null(op->framework_op.n ? op->framework_op : op->name);
}

static void put_callers(const struct report *report, const struct kernel_caller *callers, size_t nr,
			struct ts_value *cells)
{
	size_t nr_listed = TS_MIN(nr, MAX_CALLERS);
	struct ts_value *items;

	cells[COL_NR_OPS] = ts_int((int64_t)nr);
	cells[COL_OPS] = ts_result_list(report->result, caller_columns, TS_NELEM(caller_columns),
					nr_listed, &items);
	if (cells[COL_OPS].type != TS_VALUE_LIST || nr == 0)
		return;
	cells[COL_OP] = caller_name(report, callers[0].op);
	for (size_t i = 0; i < nr_listed; i++) {
		items[3 * i] = caller_name(report, callers[i].op);
		items[3 * i + 1] = ts_int(callers[i].count);
		items[3 * i + 2] = ts_int(callers[i].total_ps);
	}
}

static bool put_row(struct report *report, const struct kernel_row *row,
		    const struct kernel_caller *callers, size_t nr_callers)
{
	struct ts_value *cells = ts_table_row(report->result, report->table);

	if (!cells)
		return false;
	cells[COL_NAME] = ts_text(report->ctx->profile->ops[row->op].name);
	cells[COL_TYPE] = ts_text(ts_bytes_of(ts_kernel_type_names[type_of(report, row)]));
	cells[COL_CLASS] = ts_text(ts_bytes_of(ts_trace_class_names[row->class]));
	cells[COL_DEVICE] = ts_int(row->device);
	put_time(report, row, cells);
	put_launch(report, row, cells);
	put_callers(report, callers, nr_callers, cells);
	return true;
}

struct ranked {
	int64_t total_ps;
	struct ts_bytes name;
	uint32_t device, row;
};

static int costliest_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order;

	if (x->total_ps != y->total_ps)
		return x->total_ps > y->total_ps ? -1 : 1;
	order = ts_bytes_cmp(x->name, y->name);
	return order ? order : (x->device > y->device) - (x->device < y->device);
}

static int by_row_and_time(const void *a, const void *b)
{
	const struct kernel_caller *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->total_ps != y->total_ps)
		return x->total_ps > y->total_ps ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

/* Callers stand by row: *NR of ROW's, from the first on. */
static const struct kernel_caller *callers_of(const struct kernel_table *table, uint32_t row,
					      size_t *nr)
{
	size_t low = 0, high = table->nr_callers, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->callers[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < table->nr_callers && table->callers[end].row == row; end++)
		;
	*nr = end - low;
	return table->callers + low;
}

static bool put_rows(struct report *report, struct kernel_table *from)
{
	struct ranked *ranked = calloc(from->nr_rows + 1, sizeof(*ranked));
	bool good = ranked != NULL;
	size_t nr = 0;

	for (uint32_t i = 0; good && i < from->nr_rows; i++)
		if (from->rows[i].time.nr > 0)
			ranked[nr++] =
				(struct ranked){ from->rows[i].time.sum,
						 report->ctx->profile->ops[from->rows[i].op].name,
						 from->rows[i].device, i };
	if (nr > 1)
		qsort(ranked, nr, sizeof(*ranked), costliest_first);
	if (from->nr_callers > 1)
		qsort(from->callers, from->nr_callers, sizeof(*from->callers), by_row_and_time);
	for (size_t i = 0; good && i < nr; i++) {
		size_t nr_callers;
		const struct kernel_caller *callers = callers_of(from, ranked[i].row, &nr_callers);

		good = put_row(report, &from->rows[ranked[i].row], callers, nr_callers);
	}
	free(ranked);
	return good;
}

/* Of the kernels of all GPUs, copies and collectives aside. */
struct gpu_sums {
	int64_t count;
	double occupancy, occupancy_ps, tensor_ps, kernel_ps;
};

static struct gpu_sums sums_of(const struct report *report, const struct kernel_table *table)
{
	struct gpu_sums sums = { .count = 0 };

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct kernel_row *row = &table->rows[i];
		double total_ps = (double)row->time.sum;

		if (row->class != TS_TRACE_KERNEL || !is_gpu(report, row))
			continue;
		sums.count += (int64_t)row->time.nr;
		sums.kernel_ps += total_ps;
		sums.occupancy += row->occupancy;
		sums.occupancy_ps += (double)row->occupancy_ps;
		if (ts_kernel_uses_tensor_cores(report->ctx->profile->ops[row->op].name))
			sums.tensor_ps += total_ps;
	}
	return sums;
}

static void put_fields(const struct report *report, const struct kernel_table *table)
{
	static const char *const taken[] = { "total_time_ms", "cuda_time_ms", "cpu_time_ms" };
	const struct ts_result *timeline = ts_results_find(report->ctx->results, "timeline");
	struct gpu_sums sums = sums_of(report, table);

	for (size_t i = 0; i < TS_NELEM(taken); i++)
		ts_result_field(report->result, taken[i], ts_result_get(timeline, taken[i]),
				TS_MEASURED, NULL);
	if (sums.count == 0)
		return;
	ts_result_field(report->result, "gpu.kernel_count", ts_int(sums.count), TS_MEASURED,
			"kernels launched");
	ts_result_field(report->result, "gpu.tensor_core_pct",
			ts_real(100 * sums.tensor_ps / sums.kernel_ps), TS_DERIVED,
			"time in tensor cores' kernels");
	ts_result_field(report->result, "gpu.occupancy_pct",
			ts_real(sums.occupancy / sums.occupancy_ps), TS_MEASURED, "occupancy");
}

enum ts_status kernels_report(struct kernels_state *sum, const struct ts_context *ctx,
			      struct ts_result *result, struct ts_error *err)
{
	struct report report = { .ctx = ctx, .result = result };

	for (size_t i = 0; i < sum->table.nr_rows; i++)
		report.total_ps += (double)sum->table.rows[i].time.sum;
	if (!(report.total_ps > 0))
		return TS_OK;
	report.table = ts_result_table(result, "kernels", "Kernels", columns, NR_COLS);
	if (!report.table || !put_rows(&report, &sum->table))
		return ts_fail_nomem(err);
	put_fields(&report, &sum->table);
	return TS_OK;
}
