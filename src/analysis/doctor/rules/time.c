/* SPDX-License-Identifier: MIT */
/*
 * Rules about where the core time goes: collectives that nothing hides, nothing running at all,
 * recomputation, one op that dominates, and very many tiny ones.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/remat.h"
#include "analysis/kit/gpu_idle.h"
#include "analysis/settings_list.h"
#include "base/order.h"

/* The part all bucket rules have: is it above its limit? The title is the caller's. */
static struct ts_finding *report_bucket(struct ts_doctor *doctor, const struct ts_rule *rule,
					enum ts_bucket bucket, double limit_pct)
{
	double share = ts_doctor_bucket_share(doctor, bucket);
	struct ts_finding *finding;

	if (!(share * 100 > limit_pct))
		return NULL;
	finding = ts_doctor_report_run(doctor, rule, doctor->bucket_ps[bucket]);
	ts_doctor_claim_class(doctor, bucket, INT64_MAX);
	return finding;
}

static void rules_time_add_ops(struct ts_doctor *doctor, struct ts_finding *finding,
			       enum ts_bucket bucket)
{
	struct ts_selection ops = ts_doctor_select_in(doctor, bucket, NULL, NULL);

	TS_PUT(doctor, "{core} of {core}[ in {count} execution{s}, most in {ops}].",
	       TS_CORE(doctor->bucket_ps[bucket]), TS_CORE(doctor->total_ps),
	       TS_WHEN(ops.nr > 0, TS_COUNT(ops.occurrences)), TS_OPS(&ops, 4));
	ts_doctor_where(doctor, finding, &ops);
}

/* What compute can cover; where it can cover nothing, fewer bytes are what helps, and that has no
 * bound here. */
static int64_t coverable(const struct ts_doctor *doctor)
{
	struct ts_waits waits = ts_waits_find(doctor, true);
	int64_t all_ps = doctor->bucket_ps[TS_BUCKET_COMMUNICATION];

	if (waits.coverable_ps <= 0)
		return all_ps;
	return ts_i64_add(TS_MAX(ts_i64_sub(all_ps, waits.judged_ps), 0), waits.coverable_ps);
}

/* What collectives take when all have come, of all cores; all of it where that is unknown. */
static int64_t transferred(const struct ts_doctor *doctor)
{
	double own_ps = (double)doctor->bucket_ps[TS_BUCKET_COMMUNICATION];

	for (size_t i = 0; i < doctor->nr_facts; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];
		double ps = (double)TS_MAX(fact->exclusive_ps, 0);

		if (fact->bucket == TS_BUCKET_COMMUNICATION)
			own_ps -= ps * (1 - ts_doctor_own_share(doctor, fact));
	}
	return ts_to_ps(own_ps);
}

static void check_exposed_collectives(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	int64_t all_ps = doctor->bucket_ps[TS_BUCKET_COMMUNICATION], own_ps = transferred(doctor);
	double share = ts_doctor_share(doctor, own_ps);
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->communication_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, own_ps);
	ts_doctor_claim_class(doctor, TS_BUCKET_COMMUNICATION, INT64_MAX);
	finding->title = TS_SENTENCE(doctor, "{share} of device time waits for collectives",
				     TS_SHARE(share));
	rules_time_add_ops(doctor, finding, TS_BUCKET_COMMUNICATION);
	TS_PUT(doctor, "[ In {core} of that cores wait for one that comes later.]",
	       TS_WHEN(own_ps < all_ps, TS_CORE(all_ps - own_ps)));
	ts_put_coverable(doctor);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_gain_at_most(doctor, coverable(doctor));
}

#define MIN_OF_REMAT 0.05 /* of the time in recomputation: less is not worth keeping by itself */
#define MAX_KEPT     2

/* The ops that give most time for the memory they take. */
static size_t cheapest_to_keep(const struct ts_remat_facts *remat,
			       const struct ts_remat_op *best[MAX_KEPT])
{
	double least_ps = MIN_OF_REMAT * (double)remat->time_ps;
	size_t nr = 0;

	for (size_t i = 0; i < remat->nr_ops; i++) {
		const struct ts_remat_op *op = &remat->ops[i];
		size_t at = nr;

		if ((double)op->time_ps < least_ps || !(op->ms_per_kept_mb > 0))
			continue;
		while (at > 0 && op->ms_per_kept_mb > best[at - 1]->ms_per_kept_mb)
			at--;
		if (at == MAX_KEPT)
			continue;
		nr = TS_MIN(nr + 1, MAX_KEPT);
		memmove(&best[at + 1], &best[at], (nr - 1 - at) * sizeof(best[0]));
		best[at] = op;
	}
	return nr;
}

/* What recomputation saves, and what would be cheapest to keep. */
static void put_remat(struct ts_doctor *doctor)
{
	const struct ts_remat_facts *remat = ts_remat_facts(doctor->ctx);
	const struct ts_remat_op *best[MAX_KEPT];
	size_t nr;

	if (remat->saved_bytes <= 0)
		return;
	TS_PUT(doctor, " It saves about {bytes} of memory on each core.",
	       TS_BYTES(remat->saved_bytes));
	nr = cheapest_to_keep(remat, best);
	for (size_t i = 0; i < nr; i++) {
		ts_put(doctor, i > 0 ? ", then " : " Cheapest to keep: ");
		TS_PUT(doctor, "{name} ({core} for {bytes}[; it repeats {name}][ at {name}])",
		       TS_NAME(best[i]->name), TS_CORE(best[i]->time_ps),
		       TS_BYTES(best[i]->kept_bytes), TS_NAME(best[i]->original),
		       TS_NAME(best[i]->source));
	}
	ts_put(doctor, nr > 0 ? "." : "");
}

static void check_rematerialization(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_finding *finding = report_bucket(doctor, rule, TS_BUCKET_REMATERIALIZATION,
						   doctor->ctx->settings->rematerialization_high);

	if (!finding)
		return;
	finding->title =
		TS_SENTENCE(doctor, "Rematerialization takes {share} of device time",
			    TS_SHARE(ts_doctor_bucket_share(doctor, TS_BUCKET_REMATERIALIZATION)));
	rules_time_add_ops(doctor, finding, TS_BUCKET_REMATERIALIZATION);
	put_remat(doctor);
	finding->evidence = ts_doctor_text(doctor);
}

TS_ORDER(rules_time_longest_first, struct ts_time_gap,
	 TS_DOWN(dur_ps) TS_UP(start_ps) TS_UP(device))

/* Gaps under another class belong to the findings about that. */
static size_t gaps_of(struct ts_doctor *doctor, enum ts_bucket cause, struct ts_time_gap **gaps)
{
	const struct ts_time_facts *time = doctor->time;
	size_t nr = 0;

	*gaps = ts_arena_array(&doctor->scratch, time->nr_gaps + 1, sizeof(**gaps));
	if (!*gaps) {
		doctor->failed = true;
		return 0;
	}
	for (size_t i = 0; i < time->nr_gaps; i++)
		if (time->gaps[i].cause == cause)
			(*gaps)[nr++] = time->gaps[i];
	TS_SORT(*gaps, nr, rules_time_longest_first);
	return nr;
}

static void rules_time_put_longest(struct ts_doctor *doctor, const struct ts_time_gap *gap,
				   size_t nr)
{
	TS_PUT(doctor, "; the {text} lasts {time}, at {time} on {name}",
	       TS_STRING(nr > 1 ? "longest gap" : "gap"), TS_TIME(gap->dur_ps),
	       TS_TIME(gap->start_ps), TS_NAME(doctor->ctx->profile->devices[gap->device].label));
}

#define MIN_OF_LONGEST 0.05 /* gaps of less than this part of the longest are not listed */

static size_t nr_long(const struct ts_time_gap *gaps, size_t nr)
{
	size_t listed = 0;

	while (listed < TS_MIN(nr, TS_MAX_RANGES) &&
	       (double)gaps[listed].dur_ps >= MIN_OF_LONGEST * (double)gaps[0].dur_ps)
		listed++;
	return listed;
}

/* The title's window is the wall time; of GPUs that of the headline stands beside it. */
static void put_idle_of_capture(struct ts_doctor *doctor)
{
	double idle = ts_gpu_idle(doctor->ctx, doctor->time);

	if (!isnan(idle))
		TS_PUT(doctor, " Of the whole capture the GPUs are idle for {share}.",
		       TS_SHARE(idle));
}

/* By what launches waited for in most of the gaps, where that is known. */
static void advise_by_gaps(struct ts_doctor *doctor, struct ts_finding *finding)
{
	const struct ts_gaps_facts *gaps = ts_gaps_facts(doctor->ctx);
	size_t i = 0;

	while (i < gaps->nr_groups && gaps->groups[i].cause != TS_BUCKET_IDLE)
		i++;
	if (i < gaps->nr_groups && gaps->groups[i].witness.is_awaited)
		ts_doctor_advise_by_event(doctor, finding, &gaps->groups[i].witness);
}

static void rules_time_range_gaps(struct ts_doctor *doctor, const struct ts_time_gap *gaps,
				  size_t nr)
{
	for (size_t i = 0; i < nr_long(gaps, nr); i++)
		ts_doctor_range(doctor, gaps[i].device, gaps[i].start_ps,
				ts_i64_add(gaps[i].start_ps, gaps[i].dur_ps));
}

static void check_launch_bound(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_finding *finding =
		report_bucket(doctor, rule, TS_BUCKET_LAUNCH, doctor->ctx->settings->launch_high);
	struct ts_time_gap *gaps;
	size_t nr;

	if (!finding)
		return;
	finding->title = TS_SENTENCE(doctor, "Devices wait for launches {share} of the time",
				     TS_SHARE(ts_doctor_bucket_share(doctor, TS_BUCKET_LAUNCH)));
	nr = gaps_of(doctor, TS_BUCKET_LAUNCH, &gaps);
	TS_PUT(doctor, "For {core} of {core} nothing runs while the host launches what runs next.",
	       TS_CORE(doctor->bucket_ps[TS_BUCKET_LAUNCH]), TS_CORE(doctor->total_ps));
	ts_put_host_events(doctor, TS_BUCKET_LAUNCH);
	ts_put_per_step(doctor, TS_BUCKET_LAUNCH);
	ts_put_launches(doctor);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_root_at_host(doctor, finding, TS_BUCKET_LAUNCH);
	rules_time_range_gaps(doctor, gaps, nr);
}

/* Time without an op is much or little as a whole: what waits for launches, and is too little for a finding of its own, counts. */
static double idle_limit(const struct ts_doctor *doctor)
{
	const struct ts_settings *settings = doctor->ctx->settings;
	double launch = 100 * ts_doctor_bucket_share(doctor, TS_BUCKET_LAUNCH);

	return launch > settings->launch_high ? settings->idle_high : settings->idle_high - launch;
}

static void check_idle(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	double share = ts_doctor_bucket_share(doctor, TS_BUCKET_IDLE);
	struct ts_finding *finding =
		report_bucket(doctor, rule, TS_BUCKET_IDLE, idle_limit(doctor));
	struct ts_time_gap *gaps;
	size_t nr;

	if (!finding)
		return;
	finding->title =
		TS_SENTENCE(doctor, "Devices are idle {share} of the time", TS_SHARE(share));
	nr = gaps_of(doctor, TS_BUCKET_IDLE, &gaps);
	TS_PUT(doctor, "{core} of {core}", TS_CORE(doctor->bucket_ps[TS_BUCKET_IDLE]),
	       TS_CORE(doctor->total_ps));
	if (nr > 0)
		rules_time_put_longest(doctor, &gaps[0], nr);
	ts_put(doctor, ".");
	put_idle_of_capture(doctor);
	ts_put_host_events(doctor, TS_BUCKET_IDLE);
	ts_put_per_step(doctor, TS_BUCKET_IDLE);
	if (doctor->ctx->profile->nr_hosts > 1)
		ts_put_cores(doctor, TS_BUCKET_IDLE);
	ts_put_launches(doctor);
	finding->evidence = ts_doctor_text(doctor);
	advise_by_gaps(doctor, finding);
	if (ts_doctor_root_at_host(doctor, finding, TS_BUCKET_IDLE))
		finding->title = TS_SENTENCE(
			doctor, "Devices are idle {share} of the time: the launch waits for {name}",
			TS_SHARE(share), TS_NAME(finding->root.event));
	rules_time_range_gaps(doctor, gaps, nr);
}

/* Waits have rules of their own; this is for an op that works. */
static const struct ts_op_fact *largest_work(const struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (ts_op_fact_works(&doctor->facts[i]))
			return &doctor->facts[i];
	return NULL;
}

static void check_dominant_op(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_op_fact *fact = largest_work(doctor);
	double least = fact ? fmax(ts_fact_work(doctor, fact).least_ps, 0) : 0;
	struct ts_finding *finding;

	if (!fact || !(ts_doctor_share(doctor, fact->exclusive_ps) * 100 >
		       doctor->ctx->settings->dominant_op_high))
		return;
	/* Without a roofline it is not known what of it could be saved. */
	finding = ts_doctor_report(doctor, rule, fact->module, fact->name,
				   ts_profile_is_of_cpus(doctor->ctx->profile)
					   ? -1
					   : ts_to_ps((double)fact->exclusive_ps - least));
	finding->title = TS_SENTENCE(doctor, "{name} alone takes {share} of device time",
				     TS_NAME(fact->name),
				     TS_SHARE(ts_doctor_share(doctor, fact->exclusive_ps)));
	finding->evidence = TS_SENTENCE(
		doctor, "{core} in {count} execution{s}[; by the roofline it needs {core}].",
		TS_CORE(fact->exclusive_ps), TS_COUNT(TS_MAX(fact->occurrences, 0)),
		TS_WHEN(least > 0, TS_CORE(ts_to_ps(least))));
	ts_doctor_where_one(doctor, finding, fact);
}

/* Its size does not hold it back. */
static bool is_near_roofline(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	return ts_fact_work(doctor, fact).least_ps >=
	       doctor->ctx->settings->hbm_bandwidth_low / 100 * (double)fact->exclusive_ps;
}

/* A loop's own time is between the ops in it, which are what is tiny. */
static bool match_small(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			const void *arg)
{
	double limit_ps = doctor->ctx->settings->small_op_time * (double)TS_PS_PER_US;
	const struct ts_op *op = ts_fact_op(doctor, fact);

	if (fact->occurrences <= 0 || fact->exclusive_ps <= 0)
		return false;
	if (!ts_op_fact_works(fact) || (op && op->kind == TS_OP_CONTROL) ||
	    is_near_roofline(doctor, fact))
		return false;
	return (double)fact->exclusive_ps / (double)fact->occurrences < limit_ps;
}

static void check_small_ops(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_selection ops = ts_doctor_select(doctor, match_small, NULL);
	double share = ts_doctor_share(doctor, ops.exclusive_ps);
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->small_ops_high) || ops.occurrences <= 0)
		return;
	finding = ts_doctor_report_run(doctor, rule,
				       ts_to_ps((double)ops.exclusive_ps - ops.least_ps));
	finding->title =
		TS_SENTENCE(doctor, "Tiny ops take {share} of device time", TS_SHARE(share));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} ops run {count} times, {time} each on average; most time in {ops}.",
		TS_COUNT(ops.nr_all), TS_COUNT(ops.occurrences),
		TS_TIME(ops.exclusive_ps / ops.occurrences), TS_OPS(&ops, 3));
	ts_doctor_where(doctor, finding, &ops);
}

const struct ts_rule ts_rule_exposed_collectives = {
	.name = "exposed_collectives",
	.confidence = TS_LIKELY,
	.symptom = true,
	.check = check_exposed_collectives,
	.ceiling = "the core time of collectives that nothing hides; what waits for a slower core "
		   "is in it",
};
const struct ts_rule ts_rule_rematerialization = {
	.name = "rematerialization",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = check_rematerialization,
	.ceiling = "the core time of what is computed again",
};
const struct ts_rule ts_rule_launch_bound = {
	.name = "launch_bound",
	.confidence = TS_LIKELY,
	.is_rest = true,
	.check = check_launch_bound,
	.ceiling = "the core time with nothing to run while the host launches",
};
const struct ts_rule ts_rule_idle = {
	.name = "idle",
	.confidence = TS_LIKELY,
	.is_rest = true,
	.check = check_idle,
	.ceiling = "the core time with nothing to run and no cause that another finding tells",
};
const struct ts_rule ts_rule_dominant_op = {
	.name = "dominant_op",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.symptom = true,
	.check = check_dominant_op,
	.ceiling = "the op's core time less what it needs by the roofline",
};
const struct ts_rule ts_rule_small_ops = {
	.name = "small_ops",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.check = check_small_ops,
	.ceiling = "the core time of these ops less what they need by the roofline",
};
