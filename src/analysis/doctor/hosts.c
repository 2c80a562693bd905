/* SPDX-License-Identifier: MIT */
/*
 * Words about time without an op: what the hosts did meanwhile (facts of gaps and time), and
 * how it is spread over steps and cores.
 */
#include "analysis/doctor/doctor.h"

#include "base/check.h"

#define MAX_EVENTS   3
#define ALIKE	     0.95 /* cores that differ by less are not told apart */
#define MIN_OF_FIRST 0.1 /* of the time of the first host event: one with less is left out */

/* Where the gaps of one host event are. */
struct event_hosts {
	uint32_t most; /* the host with most of their time */
	size_t nr;
};

static struct event_hosts hosts_of(struct ts_doctor *doctor, struct ts_bytes event)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	const struct ts_gaps_facts *gaps = ts_gaps_facts(doctor->ctx);
	int64_t *host_ps =
		ts_arena_array(&doctor->scratch, profile->nr_hosts + 1, sizeof(*host_ps));
	struct event_hosts found = { .most = 0 };

	doctor->failed |= !host_ps;
	for (size_t i = 0; host_ps && i < doctor->time->nr_gaps; i++) {
		const struct ts_time_gap *gap = &doctor->time->gaps[i];
		uint32_t host = profile->devices[gap->device].host;

		if (!ts_bytes_eq(gaps->witnesses[i].event, event))
			continue;
		found.nr += host_ps[host] == 0;
		host_ps[host] = ts_i64_add(host_ps[host], gap->dur_ps);
		if (host_ps[host] > host_ps[found.most])
			found.most = host;
	}
	return found;
}

static void put_host_event(struct ts_doctor *doctor, const struct ts_gap_group *group)
{
	struct event_hosts hosts = hosts_of(doctor, group->witness.event);
	struct ts_bytes host = ts_doctor_host(doctor, hosts.most);

	TS_PUT(doctor, "{name}[ on {name}][ of {name}][ and of {count} more host{s}]",
	       TS_NAME(group->witness.event), TS_NAME(group->witness.thread), TS_NAME(host),
	       TS_WHEN(hosts.nr > 1, TS_COUNT(hosts.nr - 1)));
	TS_PUT(doctor, " ({core} in {count} gap{s}[, ended by {name}])", TS_CORE(group->total_ps),
	       TS_COUNT(group->count), TS_NAME(group->witness.ended_by));
}

/* Those with most time: first what launches waited for, then what else hosts were seen in. */
static size_t choose_events(struct ts_doctor *doctor, enum ts_bucket bucket,
			    const struct ts_gap_group *chosen[MAX_EVENTS])
{
	const struct ts_gaps_facts *gaps = ts_gaps_facts(doctor->ctx);
	double first_ps = 0;
	size_t nr = 0;

	for (size_t i = 0; i < gaps->nr_groups && nr < MAX_EVENTS; i++) {
		const struct ts_gap_group *group = &gaps->groups[i];
		double ps = (double)group->total_ps;

		if (group->witness.event.n == 0 || ps < first_ps * MIN_OF_FIRST ||
		    group->cause != bucket)
			continue;
		first_ps = nr == 0 ? ps : first_ps;
		chosen[nr++] = group;
	}
	return nr;
}

/* How the event that gaps passed in is told. */
enum telling { TOLD_AWAITED, TOLD_MARK, TOLD_MEANWHILE };

static enum telling telling_of(const struct ts_gap_witness *witness)
{
	if (!witness->is_awaited)
		return TOLD_MEANWHILE;
	return witness->is_mark ? TOLD_MARK : TOLD_AWAITED;
}

static void hosts_put_events(struct ts_doctor *doctor, const struct ts_gap_group *const *groups,
			     size_t nr, enum telling telling, const char *words)
{
	size_t put = 0;

	for (size_t i = 0; i < nr; i++) {
		if (telling_of(&groups[i]->witness) != telling)
			continue;
		ts_put(doctor, put++ ? ", " : words);
		put_host_event(doctor, groups[i]);
	}
	ts_put(doctor, put > 0 ? "." : "");
}

void ts_put_host_events(struct ts_doctor *doctor, enum ts_bucket bucket)
{
	const struct ts_gap_group *chosen[MAX_EVENTS];
	size_t nr = choose_events(doctor, bucket, chosen);

	hosts_put_events(doctor, chosen, nr, TOLD_AWAITED, " The launch waited for ");
	hosts_put_events(doctor, chosen, nr, TOLD_MARK,
			 " Before the launch the profile has no host event finer than ");
	hosts_put_events(doctor, chosen, nr, TOLD_MEANWHILE, " Meanwhile the host is in ");
}

#define MOST 0.5 /* of the time of its class: what has less is not what it begins with */

bool ts_doctor_root_at_host(struct ts_doctor *doctor, struct ts_finding *finding,
			    enum ts_bucket bucket)
{
	const struct ts_gap_group *chosen[MAX_EVENTS];
	const struct ts_profile *profile = doctor->ctx->profile;
	struct ts_bytes *chain = ts_arena_array(&doctor->result->owner->arena, 1, sizeof(*chain));

	doctor->failed |= !chain;
	if (!chain || choose_events(doctor, bucket, chosen) == 0 ||
	    telling_of(&chosen[0]->witness) != TOLD_AWAITED ||
	    ts_host_launch_of(chosen[0]->witness.activity) != TS_LAUNCH_NONE ||
	    (double)chosen[0]->total_ps < MOST * (double)doctor->bucket_ps[bucket])
		return false;
	finding->root.kind = "host";
	finding->root.thread = chosen[0]->witness.thread;
	finding->root.host = profile->hosts[hosts_of(doctor, chosen[0]->witness.event).most].name;
	finding->root.event = chosen[0]->witness.event;
	chain[0] = TS_SENTENCE(doctor, "the launch waits for {name}", TS_NAME(finding->root.event));
	finding->root.chain = chain;
	finding->root.nr_chain = 1;
	return true;
}

/* --- what to do about it */

#define IDLE_HOST "idle_host"

static const struct advice_row {
	const char *part; /* of a name */
	const char *advice;
} advice_rows[] = {
	{ "checkpoint", "slow_steps_checkpoint" }, { "Checkpoint", "slow_steps_checkpoint" },
	{ "orbax", "slow_steps_checkpoint" },	   { "save", "slow_steps_checkpoint" },
	{ "Save", "slow_steps_checkpoint" },	   { "metric", "logging_in_steps" },
	{ "Metric", "logging_in_steps" },	   { "summary", "logging_in_steps" },
	{ "Summary", "logging_in_steps" },	   { "add_scalar", "logging_in_steps" },
	{ "logging", "logging_in_steps" },	   { "logger", "logging_in_steps" },
	{ "Logger", "logging_in_steps" },	   { "wandb", "logging_in_steps" },
	{ "tensorboard", "logging_in_steps" },
};

static const char *hosts_advice_of(const struct ts_gap_witness *witness)
{
	if (ts_host_feeds(witness->activity))
		return "input_bound";
	if (ts_host_compiles(witness->activity))
		return "compilation";
	for (size_t i = 0; i < TS_NELEM(advice_rows) && witness->owner != TS_HOST_OF_FRAMEWORK; i++)
		if (ts_bytes_has(witness->event, advice_rows[i].part))
			return advice_rows[i].advice;
	return witness->is_awaited && !witness->is_mark && witness->owner == TS_HOST_OF_USER
		       ? IDLE_HOST
		       : NULL;
}

bool ts_doctor_advise_by_event(struct ts_doctor *doctor, struct ts_finding *finding,
			       const struct ts_gap_witness *witness)
{
	const char *name = hosts_advice_of(witness);
	const struct ts_advice *advice;

	if (!name)
		return false;
	advice = ts_advice_find(doctor->framework, name);
	finding->advice = ts_bytes_of(advice->advice);
	if (strcmp(name, IDLE_HOST) == 0)
		finding->advice = TS_SENTENCE(doctor, "The host is in {name}. {text}",
					      TS_NAME(witness->event), TS_STRING(advice->advice));
	finding->code = ts_bytes_of(advice->code);
	return true;
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
		TS_PUT(doctor,
		       " {count} of {count} steps wait for it, {time} a step and core on average.",
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
	if ((double)least->ps[bucket] > ALIKE * (double)most->ps[bucket])
		return;
	TS_PUT(doctor, " Most on {name} ({time}), least on {name} ({time}).",
	       TS_NAME(hosts_name_of(doctor, most)), TS_TIME(most->ps[bucket]),
	       TS_NAME(hosts_name_of(doctor, least)), TS_TIME(least->ps[bucket]));
}
