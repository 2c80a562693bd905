/* SPDX-License-Identifier: MIT */
/* Tables of what streams wait for: their idle time, the launches, and the queues of those. */
#include "analysis/gpu/hta.h"

#include "analysis/kit/cells.h"
#include "result/schema/hta.def"

#define ORDER 50 /* of the counter, among a device's tracks */

static struct ts_value hta_launches_report_rank_of(const struct hta_report *report,
						   const struct ts_hta_stream *stream)
{
	return ts_int(report->facts->ranks[stream->rank].number);
}

#define IDLE_CELLS(X) \
	X(rank, hta_launches_report_rank_of(report, stream)) \
	X(stream, ts_text_or_null(stream->name)) \
	X(idle_ps, ts_int(stream->idle_ps)) \
	X(host_wait_ps, ts_int(ps[TS_HTA_HOST_WAIT])) \
	X(host_wait_pct, ts_part_pct(ps[TS_HTA_HOST_WAIT], stream->idle_ps)) \
	X(kernel_wait_ps, ts_int(ps[TS_HTA_KERNEL_WAIT])) \
	X(kernel_wait_pct, ts_part_pct(ps[TS_HTA_KERNEL_WAIT], stream->idle_ps)) \
	X(other_wait_ps, ts_int(ps[TS_HTA_OTHER_WAIT])) \
	X(other_wait_pct, ts_part_pct(ps[TS_HTA_OTHER_WAIT], stream->idle_ps)) \
	X(host_wait_count, ts_int(stream->nr_waits[TS_HTA_HOST_WAIT])) \
	X(kernel_wait_count, ts_int(stream->nr_waits[TS_HTA_KERNEL_WAIT])) \
	X(other_wait_count, ts_int(stream->nr_waits[TS_HTA_OTHER_WAIT]))

void ts_hta_put_idle(const struct hta_report *report)
{
	struct ts_table *table = TS_TABLE(report->result, hta_idle);

	for (size_t i = 0; i < report->facts->nr_streams; i++) {
		const struct ts_hta_stream *stream = &report->facts->streams[i];
		const int64_t *ps = stream->wait_ps;

		TS_CELLS(report->result, table, hta_idle, IDLE_CELLS);
	}
}

#define QUEUE_CELLS(X) \
	X(rank, hta_launches_report_rank_of(report, stream)) \
	X(stream, ts_text_or_null(stream->name)) \
	X(changes, ts_int(queue->nr)) \
	X(mean, ts_real(queue->mean)) \
	X(stddev, ts_real(queue->deviation)) \
	X(median, ts_real(queue->median)) \
	X(p75, ts_real(queue->p75)) \
	X(max, ts_int(queue->max)) \
	X(time_mean, ts_real(queue->time_mean)) \
	X(queued_ps, ts_int(queue->queued_ps)) \
	X(full_ps, ts_int(queue->full_ps)) \
	X(full_pct, ts_part_pct(queue->full_ps, queue->span_ps))

void ts_hta_put_queues(const struct hta_report *report)
{
	struct ts_table *table = TS_TABLE(report->result, hta_queues);

	for (size_t i = 0; i < report->facts->nr_streams; i++) {
		const struct ts_hta_stream *stream = &report->facts->streams[i];
		const struct ts_hta_queue *queue = &stream->queue;

		if (queue->nr > 0)
			TS_CELLS(report->result, table, hta_queues, QUEUE_CELLS);
	}
}

/* The names begin with PREFIX. */
#define SPREAD_CELLS(X, prefix, mean, most, spread) \
	X(prefix##_sum_ps, ts_int((spread)->sum)) \
	X(prefix##_mean_ps, ts_real(ts_spread_mean(spread))) \
	X(prefix##_median_ps, ts_int(ts_spread_percentile(spread, 0.5))) \
	X(prefix##_p90_ps, ts_int(ts_spread_percentile(spread, 0.9))) \
	X(prefix##_p99_ps, ts_int(ts_spread_percentile(spread, 0.99))) \
	X(prefix##_max_ps, ts_int((spread)->max))

#define LAUNCH_CELLS(X) \
	X(rank, ts_int(report->facts->ranks[i].number)) \
	X(call, ts_text_or_null(report->ctx->profile->ops[call->op].name)) \
	X(count, ts_int((int64_t)call->cpu.nr)) \
	SPREAD_CELLS(X, cpu, "on the host", "longest", &call->cpu) \
	SPREAD_CELLS(X, gpu, "its kernel", NULL, &call->gpu) \
	SPREAD_CELLS(X, delay, "delay", "longest delay", &call->delay) \
	X(short_kernels, ts_int((int64_t)call->nr_short)) \
	X(runtime_outliers, ts_int((int64_t)call->nr_slow)) \
	X(delay_outliers, ts_int((int64_t)call->nr_late))

void ts_hta_put_launches(const struct hta_report *report)
{
	struct ts_table *table = TS_TABLE(report->result, hta_launches);

	for (size_t i = 0; i < report->sum->nr_ranks; i++)
		for (size_t k = 0; k < report->sum->ranks[i].nr_calls; k++) {
			const struct hta_call *call = &report->sum->ranks[i].calls[k];

			TS_CELLS(report->result, table, hta_launches, LAUNCH_CELLS);
		}
}

/* On the first of the rank's devices. */
enum ts_status ts_hta_put_tracks(const struct hta_report *report, struct ts_error *err)
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
			return ts_fail_nomem(err);
		track->unit = "launches";
		track->description = "launches whose kernels did not begin, of all streams";
		if (!ts_bins_finish(rank->queued, report->result, track, 1))
			return ts_fail_nomem(err);
		rank->queued->nr = 0; /* one track a rank */
	}
	return TS_OK;
}
