/* SPDX-License-Identifier: MIT */
/* What the analysis of collectives says: a row an op, and a row a core. */
#include "analysis/waits/collectives.h"
#include "result/impossible.h"
#include "result/schema/collectives.def"

struct report {
	const struct collectives_state *sum;
	const struct ts_context *ctx;
	struct ts_result *result;
};

/* Bytes a second that a user sees, over the whole of it. */
static double collectives_report_rate_of(const struct collective_row *row)
{
	double seconds = (double)row->sum.interval_ps * 1e-12;

	if (row->what.bytes <= 0)
		return NAN;
	return (double)row->what.bytes * (double)row->sum.occurrences / seconds;
}

/* The core that came last most often; all unknown where there is none. */
struct late_core {
	struct ts_bytes device, host;
	int64_t index, caused_ps, excess_ps; /* -1 */
	double last_share;		     /* of the executions that could be compared; NaN */
};

static struct late_core late_core_of(const struct report *report, const struct collective_row *row)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_collective_core *late = &row->late;

	if (row->skew.nr_matched == 0 || late->device == TS_NONE)
		return (struct late_core){
			.index = -1, .caused_ps = -1, .excess_ps = -1, .last_share = NAN
		};
	return (struct late_core){
		.device = profile->devices[late->device].name,
		.host = profile->hosts[profile->devices[late->device].host].name,
		.index = late->device,
		.caused_ps = late->caused_ps,
		.excess_ps = late->excess_ps,
		.last_share = (double)late->nr_last / (double)late->nr_matched,
	};
}

#define IF_MATCHED(value) (skew->nr_matched > 0 ? ts_int(value) : ts_null())
/* A GPU's streams run side by side: what stands beside a kernel is seen in the time buckets only. */
#define IF_NOT_TRACED(value) (op->is_traced ? ts_null() : (value))

#define MAX_LINKS 6 /* of a chip, in three dimensions: a share of one link is 600 % at most */

static const struct ts_bytes above =
	TS_LIT("its bytes and its time contradict the peak of all links of a chip");

#define OP_CELLS(X) \
	X(program_id, op->has_program ? ts_id(op->program_id) : ts_null()) \
	X(module, ts_text_or_null(fact->module)) \
	X(name, ts_text(fact->name)) \
	X(kind, ts_text_or_null(row->what.kind)) \
	X(group_size, ts_int_or_null(row->what.group_size)) \
	X(groups, ts_text_or_null(row->groups)) \
	X(operand_bytes, ts_int_or_null(row->what.operand_bytes)) \
	X(output_bytes, ts_int_or_null(row->what.output_bytes)) \
	X(bytes, ts_int_or_null(row->what.bytes)) \
	X(occurrences, ts_int(fact->occurrences)) \
	X(total_time_ps, ts_int(fact->total_ps)) \
	X(exposed_ps, ts_int_or_null(fact->exposed_ps)) \
	X(hidden_ps, IF_NOT_TRACED(ts_int(hidden_ps))) \
	X(hidden_pct, IF_NOT_TRACED(ts_share_pct((double)hidden_ps / (double)fact->total_ps))) \
	X(algorithm_bytes_per_s, ts_held_value(report->result, rate, MAX_LINKS * link_rate / row->what.bus_factor, above)) \
	X(bus_bytes_per_s, ts_held_value(report->result, bus_rate, MAX_LINKS * link_rate, above)) \
	X(link_bytes_per_s, ts_real(link_rate)) \
	X(link_pct, ts_held_value(report->result, 100 * bus_rate / link_rate, MAX_LINKS * 100, above)) \
	X(matched_count, IF_MATCHED(skew->nr_matched)) \
	X(mean_skew_ps, IF_MATCHED(skew->sum_ps / skew->nr_matched)) \
	X(max_skew_ps, IF_MATCHED(skew->max_ps)) \
	X(wait_ps, ts_int_or_null(fact->wait_ps)) \
	X(straggler, ts_text_or_null(late.device)) \
	X(straggler_host, ts_text_or_null(late.host)) \
	X(straggler_device_id, ts_int_or_null(late.index)) \
	X(straggler_last_pct, ts_share_pct(late.last_share)) \
	X(straggler_cost_ps, ts_int_or_null(late.caused_ps)) \
	X(straggler_excess_ps, ts_int_or_null(late.excess_ps)) \
	X(source, ts_text_or_null(op->source)) \
	X(op_index, ts_int(fact->op))

static void collectives_report_put_op(const struct report *report, struct ts_table *table,
				      const struct collective_row *row,
				      const struct ts_collective *fact)
{
	const struct ts_op *op = &report->ctx->profile->ops[row->op];
	const struct collective_skew *skew = &row->skew;
	struct late_core late = late_core_of(report, row);
	int64_t hidden_ps = ts_i64_sub(row->sum.interval_ps, row->sum.exposed_ps);
	double rate = collectives_report_rate_of(row), bus_rate = rate * row->what.bus_factor;
	double link_rate = report->ctx->rates[row->device].link_bytes_per_s;

	TS_CELLS(report->result, table, collectives_collectives, OP_CELLS);
}

static void collectives_report_put_notes(const struct report *report,
					 const struct collective_rows *rows)
{
	size_t nr_unmatched = 0, nr_unaligned = 0, nr_thinned = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		nr_unmatched += rows->items[i].is_unmatched;
		nr_unaligned += rows->items[i].is_unaligned;
		nr_thinned += rows->items[i].is_thinned;
	}
	if (nr_unmatched > 0)
		ts_result_note(report->result,
			       "in %zu collective%s some cores do not wait for the others, and the "
			       "profile does not say which: who was late is not known",
			       nr_unmatched, nr_unmatched == 1 ? "" : "s");
	if (nr_unaligned > 0)
		ts_result_note(
			report->result,
			"%zu collective%s ran on hosts whose clocks cannot be compared (view "
			"capture, table clocks): who was late is not known",
			nr_unaligned, nr_unaligned == 1 ? "" : "s");
	if (nr_thinned > 0)
		ts_result_note(report->result,
			       "of %zu collectives some executions are compared, and stand for "
			       "the others: a host keeps %d arrivals",
			       nr_thinned, COLLECTIVES_HOST_INSTANCES);
}

static void collectives_report_put_ops(const struct report *report,
				       const struct collective_rows *rows,
				       const struct ts_collectives_facts *facts)
{
	struct ts_table *table = TS_TABLE(report->result, collectives_collectives);

	for (size_t i = 0; i < rows->nr; i++)
		collectives_report_put_op(report, table, &rows->items[i], &facts->items[i]);
	collectives_report_put_notes(report, rows);
}

#define CORE_CELLS(X) \
	X(device, ts_text(device->name)) \
	X(host, ts_text_or_null(profile->hosts[device->host].name)) \
	X(device_id, ts_int(core->device)) \
	X(matched_count, ts_int(core->nr_matched)) \
	X(last_count, ts_int(core->nr_last)) \
	X(last_pct, ts_share_pct((double)core->nr_last / (double)core->nr_matched)) \
	X(since_step, ts_int_or_null(core->since_step)) \
	X(cost_ps, ts_int(core->caused_ps)) \
	X(excess_ps, ts_int(core->excess_ps)) \
	X(waited_ps, ts_int(core->waited_ps))

static void collectives_report_put_cores(const struct report *report,
					 const struct ts_collectives_facts *facts)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TABLE(report->result, collectives_collective_cores);

	for (size_t i = 0; i < facts->nr_cores; i++) {
		const struct ts_collective_core *core = &facts->cores[i];
		const struct ts_device *device = &profile->devices[core->device];

		TS_CELLS(report->result, table, collectives_collective_cores, CORE_CELLS);
	}
}

void ts_collectives_report(const struct collectives_state *sum, const struct ts_context *ctx,
			   const struct collective_rows *rows,
			   const struct ts_collectives_facts *facts, struct ts_result *result)
{
	struct report report = { sum, ctx, result };

	TS_ASSERT(rows->nr == facts->nr);
	collectives_report_put_ops(&report, rows, facts);
	collectives_report_put_cores(&report, facts);
}
