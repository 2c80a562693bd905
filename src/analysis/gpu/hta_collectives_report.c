/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of collectives, and of ranks that come late to them. */
#include "analysis/gpu/hta.h"

#include <inttypes.h>

#include "analysis/kit/cells.h"
#include "analysis/kit/table.h"

#define MAX_COLLECTIVES 1000 /* rows, of all ranks together */

static double rate(double bytes, double ps)
{
	return ps > 0 ? bytes / (ps * 1e-12) : NAN;
}

static struct ts_value text(struct ts_result *result, const char *text)
{
	return ts_text_or_null(ts_result_text(result, "%s", text));
}

#define COLLECTIVE_COLUMNS(X) \
	X(rank, TS_MEASURED, "rank", ts_int(rank)) \
	X(collective, TS_MEASURED, "collective", text(result, row->name)) \
	X(dtype, TS_MEASURED, "of", text(result, row->type)) \
	X(group, TS_MEASURED, NULL, text(result, row->group)) \
	X(group_size, TS_MEASURED, "ranks", ts_int_or_null(row->group_size)) \
	X(message_bytes, TS_MEASURED, "message", ts_int_or_null(message_bytes)) \
	X(in_bytes, TS_MEASURED, NULL, ts_int_or_null(row->in_bytes)) \
	X(out_bytes, TS_MEASURED, NULL, ts_int_or_null(row->out_bytes)) \
	X(count, TS_MEASURED, "count", ts_int((int64_t)row->time.nr)) \
	X(sum_ps, TS_MEASURED, "time", ts_int(row->time.sum)) \
	X(mean_ps, TS_MEASURED, "mean", ts_real(mean_ps)) \
	X(min_ps, TS_MEASURED, NULL, ts_int(row->time.min)) \
	X(max_ps, TS_MEASURED, NULL, ts_int(row->time.max)) \
	X(algorithm_bytes_per_s, TS_MODELLED, NULL, ts_real(rate(bytes, mean_ps))) \
	X(bus_bytes_per_s, TS_MODELLED, "bus", ts_real(rate(bytes * bus, mean_ps))) \
	X(best_bus_bytes_per_s, TS_MODELLED, "bus at best", \
	  ts_real(rate(bytes * bus, (double)row->time.min)))

static const struct ts_column collective_columns[] = { COLLECTIVE_COLUMNS(TS_COLUMN) };

static void put_collective(struct ts_result *result, struct ts_table *table, int64_t rank,
			   const struct hta_collective *row)
{
	int64_t message_bytes = ts_hta_collective_bytes(row);
	double bytes = message_bytes < 0 ? NAN : (double)message_bytes;
	double bus = ts_hta_collective_bus_factor(row), mean_ps = ts_spread_mean(&row->time);

	TS_CELLS(result, table, COLLECTIVE_COLUMNS);
}

static bool has_collectives(const struct hta_state *sum)
{
	for (size_t i = 0; i < sum->nr_ranks; i++)
		if (sum->ranks[i].collectives.nr > 0)
			return true;
	return false;
}

void ts_hta_put_collectives(const struct hta_report *report)
{
	const struct hta_state *sum = report->sum;
	struct ts_table *table;

	if (!has_collectives(sum))
		return;
	table = ts_result_table(report->result, "collectives", "Collectives", collective_columns,
				TS_NELEM(collective_columns));
	for (size_t i = 0; i < sum->nr_ranks; i++) {
		const struct hta_collectives *of = &sum->ranks[i].collectives;

		for (size_t k = 0; k < of->nr && table->nr_rows < MAX_COLLECTIVES; k++)
			put_collective(report->result, table, report->facts->ranks[i].number,
				       &of->rows[k]);
	}
}

/* --- ranks that come late */

#define STRAGGLER_COLUMNS(X) \
	X(rank, TS_MEASURED, "rank", ts_int(rank->number)) \
	X(host, TS_MEASURED, "host", ts_text_or_null(profile->hosts[rank->host].name)) \
	X(collectives, TS_MEASURED, "collectives", ts_int(arrival->nr)) \
	X(last_count, TS_MEASURED, "last at", ts_int(arrival->nr_last)) \
	X(last_pct, TS_MEASURED, NULL, ts_part_pct(arrival->nr_last, arrival->nr)) \
	X(caused_ps, TS_MEASURED, "others waited for it", ts_int(arrival->caused_ps)) \
	X(excess_ps, TS_MEASURED, "for it alone", ts_int(arrival->excess_ps)) \
	X(waited_ps, TS_MEASURED, "it waited", ts_int(arrival->waited_ps))

static const struct ts_column straggler_columns[] = { STRAGGLER_COLUMNS(TS_COLUMN) };

static bool are_compared(const struct ts_hta_facts *facts)
{
	for (size_t i = 0; i < facts->nr_ranks; i++)
		if (facts->ranks[i].arrival.nr > 0)
			return true;
	return false;
}

static void put_arrivals(const struct hta_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table =
		ts_result_table(report->result, "stragglers", "Who comes last to collectives",
				straggler_columns, TS_NELEM(straggler_columns));

	for (size_t i = 0; i < report->facts->nr_ranks; i++) {
		const struct ts_hta_rank *rank = &report->facts->ranks[i];
		const struct ts_hta_arrival *arrival = &rank->arrival;

		if (arrival->nr > 0)
			TS_CELLS(report->result, table, STRAGGLER_COLUMNS);
	}
}

void ts_hta_put_stragglers(const struct hta_report *report)
{
	bool is_cut = false;

	if (report->facts->nr_ranks < 2)
		return;
	if (are_compared(report->facts))
		put_arrivals(report);
	for (size_t i = 0; i < report->sum->nr_ranks; i++)
		is_cut |= report->sum->ranks[i].collectives.is_cut;
	if (report->facts->nr_unmatched > 0)
		ts_result_note(report->result,
			       "%" PRId64 " kernels of collectives could not be matched across "
			       "ranks, which have different numbers of them.",
			       report->facts->nr_unmatched);
	if (is_cut)
		ts_result_note(report->result,
			       "Ranks are compared by the first %d collectives of all "
			       "together.",
			       HTA_INSTANCES_MAX);
}
