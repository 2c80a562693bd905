/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what streams wait for: their idle time, the launches, and the queues of those. */
#include "analysis/gpu/hta.h"

#include "analysis/kit/cells.h"
#include "analysis/kit/table.h"

#define ORDER 50 /* of the counter, among a device's tracks */

static struct ts_value rank_of(const struct hta_report *report, const struct ts_hta_stream *stream)
{
	return ts_int(report->facts->ranks[stream->rank].number);
}

#define IDLE_COLUMNS(X) \
	X(rank, TS_MEASURED, "rank", rank_of(report, stream)) \
	X(stream, TS_MEASURED, "stream", ts_text_or_null(stream->name)) \
	X(idle_ps, TS_MEASURED, "between kernels", ts_int(stream->idle_ps)) \
	X(host_wait_ps, TS_MEASURED, "waits for the host", ts_int(ps[TS_HTA_HOST_WAIT])) \
	X(host_wait_pct, TS_MEASURED, NULL, ts_part_pct(ps[TS_HTA_HOST_WAIT], stream->idle_ps)) \
	X(kernel_wait_ps, TS_MEASURED, "between launches", ts_int(ps[TS_HTA_KERNEL_WAIT])) \
	X(kernel_wait_pct, TS_MEASURED, NULL, \
	  ts_part_pct(ps[TS_HTA_KERNEL_WAIT], stream->idle_ps)) \
	X(other_wait_ps, TS_MEASURED, "other", ts_int(ps[TS_HTA_OTHER_WAIT])) \
	X(other_wait_pct, TS_MEASURED, NULL, ts_part_pct(ps[TS_HTA_OTHER_WAIT], stream->idle_ps)) \
	X(host_wait_count, TS_MEASURED, NULL, ts_int(stream->nr_waits[TS_HTA_HOST_WAIT])) \
	X(kernel_wait_count, TS_MEASURED, NULL, ts_int(stream->nr_waits[TS_HTA_KERNEL_WAIT])) \
	X(other_wait_count, TS_MEASURED, NULL, ts_int(stream->nr_waits[TS_HTA_OTHER_WAIT]))

static const struct ts_column idle_columns[] = { IDLE_COLUMNS(TS_COLUMN) };

void ts_hta_put_idle(const struct hta_report *report)
{
	struct ts_table *table = ts_result_table(report->result, "idle", "Why streams are idle",
						 idle_columns, TS_NELEM(idle_columns));

	for (size_t i = 0; i < report->facts->nr_streams; i++) {
		const struct ts_hta_stream *stream = &report->facts->streams[i];
		const int64_t *ps = stream->wait_ps;

		TS_CELLS(report->result, table, IDLE_COLUMNS);
	}
}

#define QUEUE_COLUMNS(X) \
	X(rank, TS_MEASURED, "rank", rank_of(report, stream)) \
	X(stream, TS_MEASURED, "stream", ts_text_or_null(stream->name)) \
	X(changes, TS_MEASURED, NULL, ts_int(queue->nr)) \
	X(mean, TS_MEASURED, "mean length", ts_real(queue->mean)) \
	X(stddev, TS_MEASURED, NULL, ts_real(queue->deviation)) \
	X(median, TS_MEASURED, "median", ts_real(queue->median)) \
	X(p75, TS_MEASURED, "75 %", ts_real(queue->p75)) \
	X(max, TS_MEASURED, "most", ts_int(queue->max)) \
	X(time_mean, TS_MEASURED, "mean over time", ts_real(queue->time_mean)) \
	X(queued_ps, TS_MEASURED, "not empty", ts_int(queue->queued_ps)) \
	X(full_ps, TS_MEASURED, "full", ts_int(queue->full_ps)) \
	X(full_pct, TS_MEASURED, NULL, ts_part_pct(queue->full_ps, queue->span_ps))

static const struct ts_column queue_columns[] = { QUEUE_COLUMNS(TS_COLUMN) };

void ts_hta_put_queues(const struct hta_report *report)
{
	struct ts_table *table =
		ts_result_table(report->result, "queues", "Launches waiting on streams",
				queue_columns, TS_NELEM(queue_columns));

	for (size_t i = 0; i < report->facts->nr_streams; i++) {
		const struct ts_hta_stream *stream = &report->facts->streams[i];
		const struct ts_hta_queue *queue = &stream->queue;

		if (queue->nr > 0)
			TS_CELLS(report->result, table, QUEUE_COLUMNS);
	}
}

/* The names begin with PREFIX. */
#define SPREAD_COLUMNS(X, prefix, mean, most, spread) \
	X(prefix##_sum_ps, TS_MEASURED, NULL, ts_int((spread)->sum)) \
	X(prefix##_mean_ps, TS_MEASURED, mean, ts_real(ts_spread_mean(spread))) \
	X(prefix##_median_ps, TS_MEASURED, NULL, ts_int(ts_spread_percentile(spread, 0.5))) \
	X(prefix##_p90_ps, TS_MEASURED, NULL, ts_int(ts_spread_percentile(spread, 0.9))) \
	X(prefix##_p99_ps, TS_MEASURED, NULL, ts_int(ts_spread_percentile(spread, 0.99))) \
	X(prefix##_max_ps, TS_MEASURED, most, ts_int((spread)->max))

#define LAUNCH_COLUMNS(X) \
	X(rank, TS_MEASURED, "rank", ts_int(report->facts->ranks[i].number)) \
	X(call, TS_MEASURED, "call", ts_text_or_null(report->ctx->profile->ops[call->op].name)) \
	X(count, TS_MEASURED, "count", ts_int((int64_t)call->cpu.nr)) \
	SPREAD_COLUMNS(X, cpu, "on the host", "longest", &call->cpu) \
	SPREAD_COLUMNS(X, gpu, "its kernel", NULL, &call->gpu) \
	SPREAD_COLUMNS(X, delay, "delay", "longest delay", &call->delay) \
	X(short_kernels, TS_MEASURED, "kernel shorter than call", ts_int((int64_t)call->nr_short)) \
	X(runtime_outliers, TS_MEASURED, "calls over 50 \u00b5s", ts_int((int64_t)call->nr_slow)) \
	X(delay_outliers, TS_MEASURED, "delays over 100 \u00b5s", ts_int((int64_t)call->nr_late))

static const struct ts_column launch_columns[] = { LAUNCH_COLUMNS(TS_COLUMN) };

void ts_hta_put_launches(const struct hta_report *report)
{
	struct ts_table *table = ts_result_table(report->result, "launches", "Launches",
						 launch_columns, TS_NELEM(launch_columns));

	for (size_t i = 0; i < report->sum->nr_ranks; i++)
		for (size_t k = 0; k < report->sum->ranks[i].nr_calls; k++) {
			const struct hta_call *call = &report->sum->ranks[i].calls[k];

			TS_CELLS(report->result, table, LAUNCH_COLUMNS);
		}
}

/* On the first of the rank's devices. */
bool ts_hta_put_tracks(const struct hta_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct hta_state *sum = report->sum;

	for (size_t i = 0; i < sum->nr_streams; i++) {
		struct hta_rank *rank = &sum->ranks[sum->streams[i].rank];
		const struct ts_line *line = &profile->lines[sum->streams[i].line];
		struct ts_track *track;

		if (!rank->queued || rank->queued->nr == 0)
			continue;
		track = ts_result_track(report->result, TS_TRACK_COUNTER, "Launch queue (launches)",
					profile->planes[line->plane].device, ORDER);
		if (!track)
			return false;
		track->unit = "launches";
		track->description = "launches whose kernels did not begin, of all streams";
		if (!ts_bins_finish(rank->queued, report->result, track, 1))
			return false;
		rank->queued->nr = 0; /* one track a rank */
	}
	return true;
}
