/* SPDX-License-Identifier: MIT */
/*
 * Words about time without an op: what the hosts did meanwhile (facts of gaps and time), and
 * how it is spread over steps and cores.
 */
#include "analysis/doctor/doctor.h"

#include "base/check.h"

#define MAX_EVENTS   3
#define MIN_OF_FIRST 0.1 /* of the time of the first host event: one with less is left out */

void ts_put_host_events(struct ts_doctor *doctor, enum ts_bucket bucket)
{
	const struct ts_gaps_facts *gaps = ts_gaps_facts(doctor->ctx);
	double first_ps = 0;
	int nr = 0;

	for (size_t i = 0; i < gaps->nr_groups && nr < MAX_EVENTS; i++) {
		const struct ts_gap_group *group = &gaps->groups[i];
		double ps = (double)group->total_ps;

		if (group->event.n == 0 || ps < first_ps * MIN_OF_FIRST || group->cause != bucket)
			continue;
		first_ps = nr == 0 ? ps : first_ps;
		ts_put(doctor, nr++ ? ", " : " Meanwhile the host is in ");
		TS_PUT(doctor, "{name}[ on {name}] ({core} in {count} gap{s}[, ended by {name}])",
		       TS_NAME(group->event), TS_NAME(group->thread), TS_CORE(group->total_ps),
		       TS_COUNT(group->count), TS_NAME(group->ended));
	}
	ts_put(doctor, nr > 0 ? "." : "");
}

void ts_put_per_step(struct ts_doctor *doctor, enum ts_bucket bucket)
{
	const struct ts_time_facts *time = doctor->time;
	int64_t sum_ps = 0;
	size_t nr = 0;

	TS_ASSERT(bucket < TS_NR_BUCKETS);
	for (struct ts_time_walk walk = { .time = time }; ts_time_next_step(&walk);) {
		const struct ts_time_step *step = &walk.step;
		int64_t ps = step->ps[bucket];

		if (ps <= 0 || (double)ps < TS_MIN_STEP_SHARE * (double)step->total_ps)
			continue;
		nr++;
		sum_ps = ts_i64_add(sum_ps, ps / step->cores);
	}
	if (nr > 0)
		TS_PUT(doctor, " {count} of {count} steps wait for it, {time} each on a core.",
		       TS_COUNT(nr), TS_COUNT(time->nr_steps), TS_TIME(sum_ps / (int64_t)nr));
}

struct ts_bytes ts_doctor_host(const struct ts_doctor *doctor, uint32_t host)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	return profile->nr_hosts > 1 ? profile->hosts[host].name : (struct ts_bytes){ NULL, 0 };
}

static struct ts_bytes hosts_name_of(const struct ts_doctor *doctor,
				     const struct ts_time_core *core)
{
	return doctor->ctx->profile->devices[core->device].label;
}

void ts_put_cores(struct ts_doctor *doctor, enum ts_bucket bucket)
{
	const struct ts_time_core *cores = doctor->time->cores, *most = cores, *least = cores;

	TS_ASSERT(bucket < TS_NR_BUCKETS);
	if (doctor->time->nr_cores < 2)
		return;
	for (size_t i = 1; i < doctor->time->nr_cores; i++) {
		if (cores[i].ps[bucket] > most->ps[bucket])
			most = &cores[i];
		if (cores[i].ps[bucket] < least->ps[bucket])
			least = &cores[i];
	}
	TS_PUT(doctor, " Most on {name} ({time}), least on {name} ({time}).",
	       TS_NAME(hosts_name_of(doctor, most)), TS_TIME(most->ps[bucket]),
	       TS_NAME(hosts_name_of(doctor, least)), TS_TIME(least->ps[bucket]));
}
