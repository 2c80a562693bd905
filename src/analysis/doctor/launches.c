/* SPDX-License-Identifier: MIT */
/*
 * What a GPU's streams wait for between their kernels: the host, or the kernel before.
 *
 * Each rank is judged by the stream that is idle the least. The GPU waits when that stream waits,
 * while a stream beside it may have nothing to do.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/hta.h"

static int64_t least_idle_ps(const struct ts_hta_facts *hta, uint32_t rank)
{
	int64_t least_ps = INT64_MAX;

	for (size_t i = 0; i < hta->nr_streams; i++)
		if (hta->streams[i].rank == rank)
			least_ps = TS_MIN(least_ps, hta->streams[i].idle_ps);
	return least_ps;
}

struct ts_kernel_gaps ts_kernel_gaps_of(const struct ts_doctor *doctor)
{
	const struct ts_hta_facts *hta = ts_hta_facts(doctor->ctx);
	struct ts_kernel_gaps gaps = { 0 };
	uint32_t rank = TS_NONE;
	int64_t least_ps = INT64_MAX;

	for (size_t i = 0; i < hta->nr_streams; i++) {
		const struct ts_hta_stream *stream = &hta->streams[i];

		if (i == 0 || stream->rank != rank) { /* a rank may have very many */
			rank = stream->rank;
			least_ps = least_idle_ps(hta, rank);
		}
		if (stream->idle_ps > least_ps)
			continue;
		gaps.all_ps = ts_i64_add(gaps.all_ps, stream->idle_ps);
		gaps.host_ps = ts_i64_add(gaps.host_ps, stream->wait_ps[TS_HTA_HOST_WAIT]);
		gaps.kernel_ps = ts_i64_add(gaps.kernel_ps, stream->wait_ps[TS_HTA_KERNEL_WAIT]);
		gaps.nr_kernel = ts_i64_add(gaps.nr_kernel, stream->nr_waits[TS_HTA_KERNEL_WAIT]);
	}
	return gaps;
}

void ts_put_launches(struct ts_doctor *doctor)
{
	struct ts_kernel_gaps gaps = ts_kernel_gaps_of(doctor);

	if (gaps.all_ps > 0)
		TS_PUT(doctor,
		       " Of the time between the kernels of a stream {share} waits for a launch "
		       "that came too late, {share} passes from one kernel to the next.",
		       TS_SHARE((double)gaps.host_ps / (double)gaps.all_ps),
		       TS_SHARE((double)gaps.kernel_ps / (double)gaps.all_ps));
}
