/* SPDX-License-Identifier: MIT */
/* What a server waits for requests is taken out of the idle time before rules look at it. */
#include "analysis/doctor/doctor.h"

#define MOST 0.9 /* of the listed idle time: then the gaps that are not listed are waits for requests, too */

static bool requests_is_wait(const struct ts_doctor *doctor, size_t gap)
{
	const struct ts_gaps_facts *gaps = ts_gaps_facts(doctor->ctx);

	return doctor->time->gaps[gap].cause == TS_BUCKET_IDLE &&
	       ts_host_awaits_request(gaps->witnesses[gap].event);
}

/* In the graph the gaps are known by their starts. */
static bool requests_is_free(const void *arg, uint32_t node)
{
	const struct ts_doctor *doctor = arg;
	struct ts_time_gap gap = ts_path_time_gap(&doctor->run->path, node);
	struct ts_gap_witness witness =
		ts_gap_witness_of(ts_gaps_facts(doctor->ctx), doctor->time, &gap);

	return doctor->bucket_ps[TS_BUCKET_IDLE] == 0 || ts_host_awaits_request(witness.event);
}

/* What of a gap no other class has. */
static int64_t requests_idle(const struct ts_doctor *doctor, const struct ts_time_gap *gap)
{
	const struct ts_context *ctx = doctor->ctx;
	uint32_t host = ctx->profile->devices[gap->device].host;
	int64_t ps[TS_NR_PAUSES];

	if (!ctx->outline || host >= ctx->outline->nr_hosts)
		return gap->dur_ps;
	ts_host_spans_divide(&ctx->outline->hosts[host], gap->start_ps,
			     ts_i64_add(gap->start_ps, gap->dur_ps), gap->dur_ps, ps);
	return ps[TS_BUCKET_IDLE - TS_FIRST_PAUSE];
}

void ts_doctor_find_requests(struct ts_doctor *doctor)
{
	const struct ts_time_facts *time = doctor->time;
	int64_t listed_ps = 0, waited_ps = 0;

	for (size_t i = 0; i < time->nr_gaps; i++) {
		int64_t idle_ps = requests_idle(doctor, &time->gaps[i]);

		if (time->gaps[i].cause == TS_BUCKET_IDLE)
			listed_ps = ts_i64_add(listed_ps, idle_ps);
		if (requests_is_wait(doctor, i))
			waited_ps = ts_i64_add(waited_ps, idle_ps);
	}
	if (waited_ps == 0)
		return;
	if ((double)waited_ps >= MOST * (double)listed_ps)
		waited_ps = TS_MAX(doctor->bucket_ps[TS_BUCKET_IDLE], 0);
	waited_ps = TS_MIN(waited_ps, doctor->bucket_ps[TS_BUCKET_IDLE]);
	doctor->requests_ps = waited_ps;
	doctor->bucket_ps[TS_BUCKET_IDLE] -= waited_ps;
	if (doctor->run->is_known)
		ts_run_replay_free_gaps(doctor->run, requests_is_free, doctor);
}
