/* SPDX-License-Identifier: MIT */
/* Tables of collectives, and of ranks that come late to them. */
#include "analysis/gpu/hta.h"

#include <inttypes.h>

#include "analysis/kit/cells.h"
#include "result/schema/hta.def"

#define MAX_COLLECTIVES 1000 /* rows, of all ranks together */

static double hta_collectives_report_rate(double bytes, double ps)
{
	return ps > 0 ? bytes / (ps * 1e-12) : NAN;
}

static struct ts_value text(struct ts_result *result, const char *text)
{
	return ts_text_or_null(ts_result_text(result, "%s", text));
}

#define COLLECTIVE_CELLS(X) \
	X(rank, ts_int(rank)) \
	X(collective, text(result, row->name)) \
	X(dtype, text(result, row->type)) \
	X(group, text(result, row->group)) \
	X(group_size, ts_int_or_null(row->group_size)) \
	X(message_bytes, ts_int_or_null(message_bytes)) \
	X(in_bytes, ts_int_or_null(row->in_bytes)) \
	X(out_bytes, ts_int_or_null(row->out_bytes)) \
	X(count, ts_int((int64_t)row->time.nr)) \
	X(sum_ps, ts_int(row->time.sum)) \
	X(mean_ps, ts_real(mean_ps)) \
	X(min_ps, ts_int(row->time.min)) \
	X(max_ps, ts_int(row->time.max)) \
	X(algorithm_bytes_per_s, ts_real(hta_collectives_report_rate(bytes, mean_ps))) \
	X(bus_bytes_per_s, ts_real(hta_collectives_report_rate(bytes * bus, mean_ps))) \
	X(best_bus_bytes_per_s, ts_real(hta_collectives_report_rate(bytes * bus, (double)row->time.min)))

static void put_collective(struct ts_result *result, struct ts_table *table, int64_t rank,
			   const struct hta_collective *row)
{
	int64_t message_bytes = ts_hta_collective_bytes(row);
	double bytes = message_bytes < 0 ? NAN : (double)message_bytes;
	double bus = ts_hta_collective_bus_factor(row), mean_ps = ts_spread_mean(&row->time);

	TS_CELLS(result, table, hta_collectives, COLLECTIVE_CELLS);
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
	table = TS_TABLE(report->result, hta_collectives);
	for (size_t i = 0; i < sum->nr_ranks; i++) {
		const struct hta_collectives *of = &sum->ranks[i].collectives;

		for (size_t k = 0; k < of->nr && table->nr_rows < MAX_COLLECTIVES; k++)
			put_collective(report->result, table, report->facts->ranks[i].number,
				       &of->rows[k]);
	}
}

/* --- ranks that come late */

#define STRAGGLER_CELLS(X) \
	X(rank, ts_int(rank->number)) \
	X(host, ts_text_or_null(profile->hosts[rank->host].name)) \
	X(collectives, ts_int(arrival->nr)) \
	X(last_count, ts_int(arrival->nr_last)) \
	X(last_pct, ts_part_pct(arrival->nr_last, arrival->nr)) \
	X(caused_ps, ts_int(arrival->caused_ps)) \
	X(excess_ps, ts_int(arrival->excess_ps)) \
	X(waited_ps, ts_int(arrival->waited_ps))

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
	struct ts_table *table = TS_TABLE(report->result, hta_stragglers);

	for (size_t i = 0; i < report->facts->nr_ranks; i++) {
		const struct ts_hta_rank *rank = &report->facts->ranks[i];
		const struct ts_hta_arrival *arrival = &rank->arrival;

		if (arrival->nr > 0)
			TS_CELLS(report->result, table, hta_stragglers, STRAGGLER_CELLS);
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
