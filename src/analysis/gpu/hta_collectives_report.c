/* Tables of collectives, of ranks that come late to them, and of sequences of kernels. */
#include "analysis/gpu/hta.h"

#define MAX_COLLECTIVES 1000 /* rows, of all ranks together */
#define MAX_SEQUENCES	50

static double rate(double bytes, double ps)
{
	return ps > 0 ? bytes / (ps * 1e-12) : NAN;
}

static void fill_collective(struct ts_result *result, struct ts_value *cells,
			    const struct hta_collective *row)
{
	int64_t bytes = hta_collective_bytes(row);
	double bus = hta_collective_bus_factor(row), mean = ts_spread_mean(&row->time);
	double size = bytes < 0 ? NAN : (double)bytes;

	cells[0] = ts_text_or_null(ts_result_text(result, "%s", row->name));
	cells[1] = ts_text_or_null(ts_result_text(result, "%s", row->type));
	cells[2] = ts_text_or_null(ts_result_text(result, "%s", row->group));
	cells[3] = ts_int_or_null(row->group_size);
	cells[4] = ts_int_or_null(bytes);
	cells[5] = ts_int_or_null(row->in_bytes);
	cells[6] = ts_int_or_null(row->out_bytes);
	cells[7] = ts_int((int64_t)row->time.nr);
	cells[8] = ts_int(row->time.sum);
	cells[9] = ts_real(mean);
	cells[10] = ts_int(row->time.min);
	cells[11] = ts_int(row->time.max);
	cells[12] = ts_real(rate(size, mean));
	cells[13] = ts_real(rate(size * bus, mean));
	cells[14] = ts_real(rate(size * bus, (double)row->time.min));
}

bool hta_put_collectives(struct ts_result *result, const struct ts_context *ctx,
			 const struct hta_state *sum)
{
	static const struct ts_column columns[] = {
		{ "rank", TS_MEASURED, "rank" },
		{ "collective", TS_MEASURED, "collective" },
		{ "dtype", TS_MEASURED, "of" },
		{ "group", TS_MEASURED, NULL },
		{ "group_size", TS_MEASURED, "ranks" },
		{ "message_bytes", TS_MEASURED, "message" },
		{ "in_bytes", TS_MEASURED, NULL },
		{ "out_bytes", TS_MEASURED, NULL },
		{ "count", TS_MEASURED, "count" },
		{ "sum_ps", TS_MEASURED, "time" },
		{ "mean_ps", TS_MEASURED, "mean" },
		{ "min_ps", TS_MEASURED, NULL },
		{ "max_ps", TS_MEASURED, NULL },
		{ "algorithm_bytes_per_s", TS_MODELLED, NULL },
		{ "bus_bytes_per_s", TS_MODELLED, "bus" },
		{ "best_bus_bytes_per_s", TS_MODELLED, "bus at best" },
	};
	struct ts_table *table = NULL;

	for (size_t i = 0; i < sum->nr_ranks; i++)
		for (size_t k = 0; k < sum->ranks[i].collectives.nr; k++) {
			struct ts_value *cells;

			if (!table)
				table = ts_result_table(result, "collectives", "Collectives",
							columns, TS_NELEM(columns));
			if (table && table->nr_rows >= MAX_COLLECTIVES)
				return true;
			cells = table ? ts_table_row(result, table) : NULL;
			if (!cells)
				return false;
			cells[0] = ts_int(hta_rank_number(ctx, &sum->ranks[i]));
			fill_collective(result, &cells[1], &sum->ranks[i].collectives.rows[k]);
		}
	return true;
}

/* --- who comes late */

static bool put_arrivals(struct ts_result *result, const struct ts_context *ctx,
			 const struct hta_state *sum, const struct hta_arrival *arrivals)
{
	static const struct ts_column columns[] = {
		{ "rank", TS_MEASURED, "rank" },
		{ "host", TS_MEASURED, "host" },
		{ "collectives", TS_MEASURED, "collectives" },
		{ "last_count", TS_MEASURED, "last at" },
		{ "last_pct", TS_MEASURED, NULL },
		{ "caused_ps", TS_MEASURED, "others waited for it" },
		{ "excess_ps", TS_MEASURED, "for it alone" },
		{ "waited_ps", TS_MEASURED, "it waited" },
	};
	struct ts_table *table = ts_result_table(
		result, "stragglers", "Who comes last to collectives", columns, TS_NELEM(columns));

	for (size_t i = 0; i < sum->nr_ranks && table; i++) {
		const struct hta_arrival *arrival = &arrivals[i];
		struct ts_value *cells;

		if (arrival->nr == 0)
			continue;
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		cells[0] = ts_int(hta_rank_number(ctx, &sum->ranks[i]));
		cells[1] = ts_text_or_null(ctx->profile->hosts[sum->ranks[i].host].name);
		cells[2] = ts_int((int64_t)arrival->nr);
		cells[3] = ts_int((int64_t)arrival->nr_last);
		cells[4] = hta_pct((int64_t)arrival->nr_last, (int64_t)arrival->nr);
		cells[5] = ts_int(arrival->caused_ps);
		cells[6] = ts_int(arrival->excess_ps);
		cells[7] = ts_int(arrival->waited_ps);
	}
	return table != NULL;
}

static void note_arrivals(struct ts_result *result, const struct hta_state *sum,
			  const struct hta_arrivals *all)
{
	bool is_cut = false;

	for (size_t i = 0; i < sum->nr_ranks; i++)
		is_cut |= sum->ranks[i].collectives.is_cut;
	if (all->nr_unmatched > 0)
		ts_result_note(result,
			       "%llu kernels of collectives could not be matched across ranks, "
			       "which have different numbers of them.",
			       (unsigned long long)all->nr_unmatched);
	if (is_cut)
		ts_result_note(result,
			       "Ranks are compared by the first %d collectives of all "
			       "together.",
			       HTA_INSTANCES_MAX);
}

bool hta_put_stragglers(struct ts_result *result, const struct ts_context *ctx,
			const struct hta_state *sum)
{
	struct hta_arrivals all = { 0, 0 };
	struct hta_arrival *arrivals;
	bool good;

	if (sum->nr_ranks < 2)
		return true;
	arrivals = calloc(sum->nr_ranks, sizeof(*arrivals));
	good = arrivals && hta_collectives_match(sum->ranks, sum->nr_ranks, arrivals, &all);
	if (good && all.nr > 0)
		good = put_arrivals(result, ctx, sum, arrivals);
	if (good)
		note_arrivals(result, sum, &all);
	free(arrivals);
	return good;
}

/* --- sequences */

static struct ts_value kernels_of(struct ts_result *result, const struct ts_context *ctx,
				  const struct hta_pattern *pattern)
{
	size_t nr = TS_MIN(pattern->nr_kernels, HTA_NAMED);
	struct ts_value *items, list = ts_result_list(result, NULL, 0, nr, &items);

	for (size_t i = 0; i < nr && list.type == TS_VALUE_LIST; i++)
		items[i] = ts_text(ctx->profile->ops[pattern->kernels[i]].name);
	return list;
}

bool hta_put_sequences(struct ts_result *result, const struct ts_context *ctx,
		       struct hta_state *sum)
{
	static const struct ts_column columns[] = {
		{ "operator", TS_MEASURED, "operator" },
		{ "kernel_count", TS_MEASURED, "kernels" },
		{ "count", TS_MEASURED, "count" },
		{ "missed", TS_MEASURED, NULL },
		{ "gpu_ps", TS_MEASURED, "its kernels" },
		{ "cpu_ps", TS_MEASURED, "on the host" },
		{ "kernels", TS_MEASURED, NULL },
	};
	struct ts_table *table;

	if (sum->patterns.nr == 0)
		return true;
	hta_patterns_sort(&sum->patterns);
	table = ts_result_table(result, "kernel_sequences",
				"Sequences of kernels that come most often", columns,
				TS_NELEM(columns));
	for (size_t i = 0; i < TS_MIN(sum->patterns.nr, MAX_SEQUENCES) && table; i++) {
		const struct hta_pattern *pattern = &sum->patterns.items[i];
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return false;
		cells[0] = ts_text_or_null(ctx->profile->ops[pattern->op].name);
		cells[1] = ts_int(pattern->nr_kernels);
		cells[2] = ts_int((int64_t)pattern->count);
		cells[3] = ts_int((int64_t)pattern->missed);
		cells[4] = ts_int(pattern->gpu_ps);
		cells[5] = ts_int(pattern->cpu_ps);
		cells[6] = kernels_of(result, ctx, pattern);
	}
	return table != NULL;
}
