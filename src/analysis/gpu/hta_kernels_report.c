/* SPDX-License-Identifier: MIT */
/* Tables of kernels: those that take most, of all ranks and of each, and those that come
 * together. */
#include "analysis/gpu/hta.h"

#include "analysis/kit/cells.h"
#include "model/kernel_name.h"
#include "base/order.h"
#include "result/schema/hta.def"

#define MAX_KERNELS	 200 /* rows, of all ranks together */
#define MAX_RANK_KERNELS 50  /* rows of each rank */
#define MAX_RANKS	 1024
#define MAX_SEQUENCES	 50

TS_ORDER(by_sum, struct hta_kernel, TS_DOWN(spread.sum) TS_UP(op))

/* Those of several ranks have one order, whatever qsort() does with equal ones: sums of doubles hang on it. */
TS_ORDER(hta_kernels_report_by_op, struct hta_kernel,
	 TS_UP(op) TS_UP(spread.sum) TS_UP(spread.nr) TS_UP(spread.squares))

#define KERNEL_CELLS(X) \
	X(name, ts_text_or_null(name)) \
	X(kernel_type, ts_text(ts_bytes_of(ts_kernel_type_names[ts_kernel_type_of(op)]))) \
	X(category, ts_text(ts_bytes_of(ts_kernel_category_names[class.category]))) \
	X(category_rule, ts_text_or_null(ts_bytes_of(class.rule))) \
	X(count, ts_int((int64_t)time->nr)) \
	X(sum_ps, ts_int(time->sum)) \
	X(share_pct, ts_part_pct(time->sum, all_ps)) \
	X(mean_ps, ts_real(ts_spread_mean(time))) \
	X(min_ps, ts_int(time->min)) \
	X(max_ps, ts_int(time->max)) \
	X(stddev_ps, ts_real(time->nr > 1 ? ts_spread_deviation(time) : NAN)) \
	X(sum_us, report->facts->all.kernel_us > 0 ? ts_int(kernel->sum_us) : ts_null()) \
	X(rank, rank)

static void hta_kernels_report_put_kernel(const struct hta_report *report, struct ts_table *table,
					  const struct hta_kernel *kernel, struct ts_value rank,
					  int64_t all_ps)
{
	const struct ts_op *op = &report->ctx->profile->ops[kernel->op];
	struct ts_bytes name = op->name;
	struct ts_kernel_class class = ts_kernel_class_of(name);
	const struct ts_spread *time = &kernel->spread;

	TS_CELLS(report->result, table, hta_top_kernels, KERNEL_CELLS);
}

static int64_t hta_kernels_report_sum_of(const struct hta_kernel *kernels, size_t nr)
{
	int64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum = ts_i64_add(sum, kernels[i].spread.sum);
	return sum;
}

/* The kernels of all ranks, those of one name together. NULL: no memory. */
static struct hta_kernel *hta_kernels_report_gather(const struct hta_state *sum, size_t *nr)
{
	struct hta_kernel *all;
	size_t nr_all = 0, kept = 0;

	for (size_t i = 0; i < sum->nr_ranks; i++)
		nr_all += sum->ranks[i].nr_ops;
	all = malloc((nr_all + 1) * sizeof(*all));
	*nr = nr_all = 0;
	for (size_t i = 0; i < sum->nr_ranks && all; i++)
		for (size_t k = 0; k < sum->ranks[i].nr_ops; k++)
			all[nr_all++] = sum->ranks[i].kernels[k];
	if (nr_all == 0)
		return all;
	TS_SORT(all, nr_all, hta_kernels_report_by_op);
	for (size_t i = 1; i < nr_all; i++) {
		if (all[i].op != all[kept].op) {
			all[++kept] = all[i];
			continue;
		}
		ts_spread_merge(&all[kept].spread, &all[i].spread);
		all[kept].sum_us = ts_i64_add(all[kept].sum_us, all[i].sum_us);
	}
	*nr = kept + 1;
	TS_SORT(all, *nr, by_sum);
	return all;
}

struct by_category {
	int64_t nr, sum_ps;
};

#define CATEGORY_CELLS(X) \
	X(category, ts_text(ts_bytes_of(ts_kernel_category_names[i]))) \
	X(count, ts_int(sums[i].nr)) \
	X(sum_ps, ts_int(sums[i].sum_ps)) \
	X(share_pct, ts_part_pct(sums[i].sum_ps, all_ps))

static void put_categories(const struct hta_report *report, const struct hta_kernel *all, size_t nr,
			   int64_t all_ps)
{
	struct by_category sums[TS_NR_KERNEL_CATEGORIES] = { { 0, 0 } };
	struct ts_table *table = TS_TABLE(report->result, hta_kernel_categories);

	for (size_t i = 0; i < nr; i++) {
		struct ts_bytes name = report->ctx->profile->ops[all[i].op].name;
		struct by_category *sum = &sums[ts_kernel_class_of(name).category];

		sum->nr = ts_i64_add(sum->nr, (int64_t)all[i].spread.nr);
		sum->sum_ps = ts_i64_add(sum->sum_ps, all[i].spread.sum);
	}
	for (size_t i = 0; i < TS_NR_KERNEL_CATEGORIES; i++)
		if (sums[i].nr > 0)
			TS_CELLS(report->result, table, hta_kernel_categories, CATEGORY_CELLS);
}

enum ts_status ts_hta_put_kernels(const struct hta_report *report, struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(report->result, hta_top_kernels);
	size_t nr;
	struct hta_kernel *all = hta_kernels_report_gather(report->sum, &nr);
	int64_t all_ps;

	if (!all)
		return ts_fail_nomem(err);
	all_ps = hta_kernels_report_sum_of(all, nr);
	for (size_t i = 0; i < TS_MIN(nr, MAX_KERNELS); i++)
		hta_kernels_report_put_kernel(report, table, &all[i], ts_null(), all_ps);
	if (nr > MAX_KERNELS)
		ts_result_note(report->result,
			       "%zu more kernels by name, with %.1f %% of their time, are "
			       "not in the table.",
			       nr - MAX_KERNELS,
			       100 * (1 - (double)hta_kernels_report_sum_of(all, MAX_KERNELS) /
						  (double)all_ps));
	put_categories(report, all, nr, all_ps);
	free(all);
	return TS_OK;
}

void ts_hta_put_rank_kernels(const struct hta_report *report)
{
	struct hta_state *sum = report->sum;
	struct ts_table *table;

	if (sum->nr_ranks < 2)
		return;
	table = TS_TABLE(report->result, hta_rank_kernels);
	for (size_t i = 0; i < TS_MIN(sum->nr_ranks, MAX_RANKS); i++) {
		struct hta_rank *rank = &sum->ranks[i];
		struct ts_value number = ts_int(report->facts->ranks[i].number);
		int64_t all_ps = hta_kernels_report_sum_of(rank->kernels, rank->nr_ops);

		TS_SORT(rank->kernels, rank->nr_ops, by_sum);
		for (size_t k = 0; k < TS_MIN(rank->nr_ops, MAX_RANK_KERNELS); k++)
			hta_kernels_report_put_kernel(report, table, &rank->kernels[k], number,
						      all_ps);
	}
}

/* --- sequences */

static struct ts_value hta_kernels_report_kernels_of(const struct hta_report *report,
						     const struct hta_pattern *pattern)
{
	size_t nr = TS_MIN(pattern->nr_kernels, HTA_NAMED);
	struct ts_value *items, list = ts_result_list(report->result, NULL, 0, nr, &items);

	for (size_t i = 0; i < nr && list.type == TS_VALUE_LIST; i++)
		items[i] = ts_text(report->ctx->profile->ops[pattern->kernels[i]].name);
	return list;
}

#define SEQUENCE_CELLS(X) \
	X(operator, ts_text_or_null(profile->ops[pattern->op].name)) \
	X(kernel_count, ts_int(pattern->nr_kernels)) \
	X(count, ts_int((int64_t)pattern->count)) \
	X(missed, ts_int((int64_t)pattern->missed)) \
	X(gpu_ps, ts_int(pattern->gpu_ps)) \
	X(cpu_ps, ts_int(pattern->cpu_ps)) \
	X(kernels, hta_kernels_report_kernels_of(report, pattern))

void ts_hta_put_sequences(const struct hta_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct hta_patterns *patterns = &report->sum->patterns;
	struct ts_table *table;

	if (patterns->nr == 0)
		return;
	ts_hta_patterns_sort(patterns);
	table = TS_TABLE(report->result, hta_kernel_sequences);
	for (size_t i = 0; i < TS_MIN(patterns->nr, MAX_SEQUENCES); i++) {
		const struct hta_pattern *pattern = &patterns->items[i];

		TS_CELLS(report->result, table, hta_kernel_sequences, SEQUENCE_CELLS);
	}
}
