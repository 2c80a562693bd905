/* SPDX-License-Identifier: MIT */
/* The table of kernels: a row for each kernel on each device, the costliest first. */
#include "analysis/gpu/kernels.h"

#include "base/units.h"
#include "model/kernel_name.h"
#include "base/order.h"
#include "result/schema/kernels.def"

#define MAX_CALLERS 5 /* ops listed of a kernel */

struct report {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_table *table;
	double total_ps;
};

static const struct ts_device *kernels_report_device_of(const struct report *report,
							const struct kernel_row *row)
{
	return &report->ctx->profile->devices[row->device];
}

static bool kernels_report_is_gpu(const struct report *report, const struct kernel_row *row)
{
	return kernels_report_device_of(report, row)->is_gpu;
}

static struct ts_value kernels_report_host_name(const struct report *report,
						const struct kernel_row *row)
{
	return ts_text_or_null(
		report->ctx->profile->hosts[kernels_report_device_of(report, row)->host].name);
}

static struct ts_bytes kernels_report_name_of(const struct report *report,
					      const struct kernel_row *row)
{
	return report->ctx->profile->ops[row->op].name;
}

static struct ts_value kernels_report_mean(double sum, int64_t weight_ps)
{
	return weight_ps > 0 ? ts_real(sum / (double)weight_ps) : ts_null();
}

/* "[24, 1, 1]" becomes "24,1,1". */
static struct ts_value kernels_report_shape(struct report *report, struct ts_bytes text)
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

static enum ts_kernel_type kernels_report_type_of(const struct report *report,
						  const struct kernel_row *row)
{
	const struct ts_op *op = &report->ctx->profile->ops[row->op];

	if (kernels_report_is_gpu(report, row))
		return ts_kernel_type_of(op);
	if (row->class == TS_TRACE_COMMUNICATION)
		return TS_KERNEL_COMMUNICATION;
	return row->class == TS_TRACE_MEMCPY || op->kind == TS_OP_MOVE ? TS_KERNEL_MEMORY
								       : TS_KERNEL_COMPUTATION;
}

static struct ts_value caller_name(const struct report *report, uint32_t index)
{
	const struct ts_op *op = &report->ctx->profile->ops[index];

	return ts_text_or_null(op->framework_op.n ? op->framework_op : op->name);
}

#define CALLER_ITEMS(X) \
	X(op, caller_name(report, callers[i].op)) \
	X(count, ts_int(callers[i].count)) \
	X(total_ps, ts_int(callers[i].total_ps))

static struct ts_value caller_list(const struct report *report, const struct kernel_caller *callers,
				   size_t nr)
{
	size_t nr_listed = TS_MIN(nr, MAX_CALLERS);
	struct ts_value list = TS_ITEMS(report->result, kernels_caller, nr_listed);
	struct ts_kernels_caller_row *row = TS_ITEM_ROWS(list, kernels_caller);

	for (size_t i = 0; row && i < nr_listed; i++)
		TS_ITEM_CELLS(&row[i], kernels_caller, CALLER_ITEMS);
	return list;
}

static struct ts_value tensor_core(const struct report *report, const struct kernel_row *row)
{
	if (!kernels_report_is_gpu(report, row) || row->class != TS_TRACE_KERNEL)
		return ts_null();
	return ts_bool(ts_kernel_uses_tensor_cores(kernels_report_name_of(report, row)));
}

static struct ts_value kernels_report_rate(const struct kernel_row *row)
{
	if (row->bytes_ps <= 0)
		return ts_null();
	return ts_real((double)row->nr_bytes / ((double)row->bytes_ps * 1e-12));
}

#define KERNEL_CELLS(X) \
	X(name, ts_text(kernels_report_name_of(report, row))) \
	X(kernel_type, ts_text(ts_bytes_of(ts_kernel_type_names[kernels_report_type_of(report, row)]))) \
	X(category, ts_text(ts_bytes_of(ts_kernel_category_names[class.category]))) \
	X(category_rule, ts_text_or_null(ts_bytes_of(class.rule))) \
	X(class, ts_text(ts_bytes_of(ts_trace_class_names[row->class]))) \
	X(device_id, ts_int(kernels_report_device_of(report, row)->ordinal)) \
	X(device, ts_text(kernels_report_device_of(report, row)->name)) \
	X(host, kernels_report_host_name(report, row)) \
	X(count, ts_int((int64_t)row->time.nr)) \
	X(total_ps, ts_int(row->time.sum)) \
	X(mean_ps, ts_int((int64_t)llround(row->time.mean))) \
	X(min_ps, ts_int(row->time.min)) \
	X(max_ps, ts_int(row->time.max)) \
	X(stddev_ps, \
	  row->time.nr > 1 ? ts_int((int64_t)llround(ts_spread_deviation(&row->time))) : ts_null()) \
	X(share_pct, ts_real(100 * (double)row->time.sum / report->total_ps)) \
	X(tensor_core, tensor_core(report, row)) \
	X(occupancy_pct, kernels_report_mean(row->occupancy, row->occupancy_ps)) \
	X(blocks_per_sm, kernels_report_mean(row->blocks, row->blocks_ps)) \
	X(grid, kernels_report_shape(report, row->longest.grid)) \
	X(block, kernels_report_shape(report, row->longest.block)) \
	X(registers_per_thread, ts_int_or_null(row->longest.registers)) \
	X(shared_memory_bytes, ts_int_or_null(row->longest.shared_bytes)) \
	X(bytes, ts_int_or_null(row->nr_bytes)) \
	X(bytes_per_s, kernels_report_rate(row)) \
	X(op, nr > 0 ? caller_name(report, callers[0].op) : ts_null()) \
	X(op_count, ts_int((int64_t)nr)) \
	X(ops, caller_list(report, callers, nr))

static void kernels_report_put_row(struct report *report, const struct kernel_row *row,
				   const struct kernel_caller *callers, size_t nr)
{
	struct ts_kernel_class class = ts_kernel_class_of(kernels_report_name_of(report, row));

	TS_CELLS(report->result, report->table, kernels_kernels, KERNEL_CELLS);
}

struct ranked {
	int64_t total_ps;
	struct ts_bytes name;
	uint32_t device, row;
};

TS_ORDER(kernels_report_costliest_first, struct ranked, TS_DOWN(total_ps) TS_UP(name) TS_UP(device))

TS_ORDER(by_row_and_time, struct kernel_caller, TS_UP(row) TS_DOWN(total_ps) TS_UP(op))

/* The callers of ROW, *NR of them; callers are sorted by row. */
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
	return *nr > 0 ? &table->callers[low] : NULL;
}

static enum ts_status kernels_report_put_rows(struct report *report, struct kernel_table *from,
					      struct ts_error *err)
{
	struct ranked *ranked = calloc(from->nr_rows + 1, sizeof(*ranked));
	size_t nr = 0;

	if (!ranked)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < from->nr_rows; i++)
		if (from->rows[i].time.nr > 0)
			ranked[nr++] =
				(struct ranked){ from->rows[i].time.sum,
						 report->ctx->profile->ops[from->rows[i].op].name,
						 from->rows[i].device, i };
	TS_SORT(ranked, nr, kernels_report_costliest_first);
	TS_SORT(from->callers, from->nr_callers, by_row_and_time);
	for (size_t i = 0; i < nr; i++) {
		size_t nr_callers;
		const struct kernel_caller *callers = callers_of(from, ranked[i].row, &nr_callers);

		kernels_report_put_row(report, &from->rows[ranked[i].row], callers, nr_callers);
	}
	free(ranked);
	return TS_OK;
}

/* Of the kernels of all GPUs, copies aside, and but for .launched also collectives. */
struct gpu_sums {
	int64_t count, launched;
	double launched_ps; /* collectives, too */
	double occupancy, occupancy_ps, tensor_ps, kernel_ps;
};

static struct gpu_sums kernels_report_sums_of(const struct report *report,
					      const struct kernel_table *table)
{
	struct gpu_sums sums = { .count = 0 };

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct kernel_row *row = &table->rows[i];
		double total_ps = (double)row->time.sum;

		if ((row->class != TS_TRACE_KERNEL && row->class != TS_TRACE_COMMUNICATION) ||
		    !kernels_report_is_gpu(report, row))
			continue;
		sums.launched += (int64_t)row->time.nr;
		sums.launched_ps += total_ps;
		if (row->class != TS_TRACE_KERNEL)
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

/* Copies between a device and its host, as CUPTI, XLA and ROCm name them. */
static const char *const from_host[] = { "HtoD", "H2D", "HToD", "HostToDevice" };
static const char *const to_host[] = { "DtoH", "D2H", "DToH", "DeviceToHost" };

static bool has_one_of(struct ts_bytes name, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_has(name, words[i]))
			return true;
	return false;
}

static void add_copied(int64_t *sum, const struct kernel_row *row)
{
	*sum = ts_i64_add(*sum, TS_MAX(row->nr_bytes, 0));
}

static void sum_copies(const struct report *report, const struct kernel_table *table,
		       struct ts_kernels_facts *facts)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct kernel_row *row = &table->rows[i];
		struct ts_bytes name = report->ctx->profile->ops[row->op].name;

		if (row->class != TS_TRACE_MEMCPY || !kernels_report_is_gpu(report, row))
			continue;
		if (has_one_of(name, from_host, TS_NELEM(from_host)))
			add_copied(&facts->from_host_bytes, row);
		else if (has_one_of(name, to_host, TS_NELEM(to_host)))
			add_copied(&facts->to_host_bytes, row);
	}
}

/* Null where the timeline does not know it. */
static struct ts_value kernels_report_ms(int64_t ps)
{
	return ps < 0 ? ts_null() : ts_real((double)ps / (double)TS_PS_PER_MS);
}

static void kernels_report_put_times(const struct report *report)
{
	const struct ts_timeline_facts *timeline = ts_timeline_facts(report->ctx);
	struct ts_result *result = report->result;

	TS_SET(result, kernels, total_time_ms, kernels_report_ms(timeline->total_ps));
	TS_SET(result, kernels, cuda_time_ms, kernels_report_ms(timeline->device_time_ps));
	TS_SET(result, kernels, cpu_time_ms, kernels_report_ms(timeline->cpu_time_ps));
}

static void kernels_report_put_gpu(const struct report *report, const struct gpu_sums *sums,
				   const struct ts_kernels_facts *facts)
{
	struct ts_result *result = report->result;

	TS_SET(result, kernels, gpu.kernel_count, ts_int(sums->count));
	TS_SET(result, kernels, gpu.tensor_core_pct,
	       ts_real(100 * sums->tensor_ps / sums->kernel_ps));
	TS_SET(result, kernels, gpu.occupancy_pct, ts_real(facts->occupancy_pct));
}

enum ts_status ts_kernels_report(struct kernels_state *sum, const struct ts_context *ctx,
				 struct ts_kernels_facts *facts, struct ts_result *result,
				 struct ts_error *err)
{
	struct report report = { .ctx = ctx, .result = result };
	struct gpu_sums sums = kernels_report_sums_of(&report, &sum->table);

	enum ts_status st;

	/* NaN where no kernel says it */
	facts->occupancy_pct = sums.occupancy / sums.occupancy_ps;
	sum_copies(&report, &sum->table, facts);
	facts->mean_ps = sums.launched_ps / (double)sums.launched;
	for (size_t i = 0; i < sum->table.nr_rows; i++)
		report.total_ps += (double)sum->table.rows[i].time.sum;
	if (!(report.total_ps > 0))
		return TS_OK;
	report.table = TS_TABLE(result, kernels_kernels);
	st = kernels_report_put_rows(&report, &sum->table, err);
	if (st)
		return st;
	kernels_report_put_times(&report);
	if (sums.count > 0)
		kernels_report_put_gpu(&report, &sums, facts);
	return TS_OK;
}
