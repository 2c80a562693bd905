/* SPDX-License-Identifier: MIT */
/*
 * The health score: how much of the core time the chip would have needed at its rooflines.
 *
 *	ideal = sum over the ops that compute, or stream operands, of the time that the roofline
 *		gives their FLOPs and bytes, padding not counted
 *	score = 100 x sqrt(least of (ideal, total - what all findings could give back) / total)
 *
 * that is the geometric mean of "how much of the time did useful ops run" and "how near were they
 * to the roofline". Waiting, moving, communicating, recomputing, compiling and idling have no ideal
 * time. Findings of unknown gain bound the score by their severity: critical ones to 50, warnings
 * to 90. The others count by their gains, so that worse runs have lower scores.
 *
 * What a server waits for requests counts in neither.
 *
 * Ops of unknown cost are taken to be as near to the roofline as the known ones; where none is
 * known, ASSUMED_EFFICIENCY of it, and the score says so.
 */
#include "analysis/doctor/doctor.h"

#define ASSUMED_EFFICIENCY 0.6
#define CAP_CRITICAL	   50 /* with a finding of unknown gain, which no time speaks for */
#define CAP_WARNING	   90

struct useful {
	double known_ps, least_ps; /* of ops with a roofline */
	double unknown_ps;
};

/* Waits, copies, and loops around other ops. */
static bool health_only_moves(const struct ts_op *op)
{
	return op->kind == TS_OP_CONTROL || op->kind == TS_OP_MOVE || op->async != TS_ASYNC_NONE;
}

static bool is_useful(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	if (!isnan(ts_fact_work(doctor, fact).least_ps))
		return true; /* only ops that do work were given one */
	return ts_op_fact_works(fact) && !(op && health_only_moves(op));
}

static void health_add(struct useful *sum, const struct ts_op_fact *fact, struct ts_fact_work work)
{
	double padding = work.bound == TS_BOUND_HBM && fact->padding_share > 0
				 ? fmin(fact->padding_share, 1)
				 : 0;

	if (isnan(work.least_ps)) {
		sum->unknown_ps += (double)fact->exclusive_ps;
		return;
	}
	sum->known_ps += (double)fact->exclusive_ps;
	sum->least_ps += work.least_ps * (1 - padding);
}

static double cap_of(const struct ts_doctor *doctor)
{
	double cap = 100;

	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		const struct ts_finding *finding = &doctor->drafts[i].finding;

		if (finding->gain_ps >= 0 || finding->severity == TS_INFO)
			continue;
		cap = fmin(cap, finding->severity == TS_CRITICAL ? CAP_CRITICAL : CAP_WARNING);
	}
	return cap;
}

static double all_gains(const struct ts_doctor *doctor)
{
	double share = 0;

	for (size_t i = 0; i < doctor->nr_drafts; i++)
		if (doctor->drafts[i].finding.gain_ps >= 0)
			share += doctor->drafts[i].finding.gain_share;
	return fmin(share, 1);
}

struct ts_health ts_doctor_health(const struct ts_doctor *doctor)
{
	struct ts_health health = { NAN, NAN, false };
	struct useful sum = { 0, 0, 0 };
	double efficiency, best, total_ps = (double)(doctor->total_ps - doctor->requests_ps);

	if (total_ps <= 0)
		return health;
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (is_useful(doctor, &doctor->facts[i]))
			health_add(&sum, &doctor->facts[i], doctor->work[i]);
	if (doctor->nr_facts == 0) /* buckets alone */
		sum.unknown_ps = (double)TS_MAX(doctor->bucket_ps[TS_BUCKET_COMPUTE], 0);
	health.assumed = sum.known_ps <= 0 && sum.unknown_ps > 0;
	efficiency = sum.known_ps > 0 ? sum.least_ps / sum.known_ps : ASSUMED_EFFICIENCY;
	health.ideal_ps = fmin(sum.least_ps + sum.unknown_ps * efficiency, total_ps);
	best = fmin(health.ideal_ps / total_ps, 1 - all_gains(doctor));
	health.score = fmin(100 * sqrt(best), cap_of(doctor));
	return health;
}
