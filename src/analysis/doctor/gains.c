/* SPDX-License-Identifier: MIT */
/*
 * Gains: what each finding could give back as time of the run, so that no moment counts twice.
 *
 * The core time of the run is a budget, in a pot for each op (its own moments) and one for each time
 * class (what of it is in no op of the list). Each finding draws its impact from the pots that it
 * names, from each in proportion to what it may take there: those that name a cause, the largest
 * impact first, then symptoms. So the first takes the time, the next gets only what is left of the time
 * that it names, and all together never take more than the run has. A finding that names nothing
 * draws from the whole. Of an op that they name, all symptoms together may take what it is above its
 * roofline. A symptom that gets nothing becomes a part of the finding that took its time.
 *
 * Severities follow from the gains; a rule that lifts or caps one says why.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/settings_list.h"

#include "base/check.h"

struct budget {
	double *ops;		       /* by fact */
	double *above;		       /* the roofline: what of it symptoms may take */
	double classes[TS_NR_BUCKETS]; /* not in these */
	int64_t left_ps;	       /* of the whole */
	bool *named;		       /* by fact: of the finding that draws */
};

static void fill_op(struct budget *budget, const struct ts_doctor *doctor, size_t fact)
{
	enum ts_bucket bucket = doctor->facts[fact].bucket;
	double ps = (double)TS_MAX(doctor->facts[fact].exclusive_ps, 0);
	double least_ps = doctor->work[fact].least_ps;

	budget->ops[fact] = ps;
	budget->above[fact] = isnan(least_ps) ? ps : fmax(ps - least_ps, 0);
	if (bucket < TS_NR_BUCKETS)
		budget->classes[bucket] = fmax(budget->classes[bucket] - ps, 0);
}

static void budget_init(struct budget *budget, struct ts_doctor *doctor)
{
	size_t nr = doctor->nr_facts + 1;

	budget->left_ps = doctor->total_ps;
	budget->ops = ts_arena_array(&doctor->scratch, nr, sizeof(double));
	budget->above = ts_arena_array(&doctor->scratch, nr, sizeof(double));
	budget->named = ts_arena_array(&doctor->scratch, nr, sizeof(bool));
	if (!budget->ops || !budget->above || !budget->named) {
		doctor->failed = true;
		return;
	}
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		budget->classes[b] = (double)TS_MAX(doctor->bucket_ps[b], 0);
	for (size_t i = 0; i < doctor->nr_facts; i++)
		fill_op(budget, doctor, i);
}

static bool names_class(const struct ts_draft *draft, enum ts_bucket bucket)
{
	return bucket < TS_NR_BUCKETS && draft->class_ps[bucket] > 0;
}

/* The ops that it names itself. */
static void mark_named(const struct ts_doctor *doctor, const struct ts_draft *draft, bool *named)
{
	memset(named, 0, doctor->nr_facts * sizeof(*named));
	for (size_t i = 0; i < draft->nr_claims; i++)
		named[doctor->claims[draft->first_claim + i]] = true;
}

/* What a finding may take: of each class all ops alike, and of the ops that it names. */
struct offer {
	double classes[TS_NR_BUCKETS], in_class[TS_NR_BUCKETS], total;
};

static double offer_of_op(const struct budget *budget, const struct ts_draft *draft, size_t fact)
{
	if (!budget->named[fact])
		return 0;
	return draft->symptom ? fmin(budget->ops[fact], budget->above[fact]) : budget->ops[fact];
}

static struct offer offer_of(const struct budget *budget, const struct ts_doctor *doctor,
			     const struct ts_draft *draft)
{
	struct offer offer = { .total = 0 };

	memcpy(offer.in_class, budget->classes, sizeof(offer.in_class));
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (names_class(draft, doctor->facts[i].bucket))
			offer.in_class[doctor->facts[i].bucket] += budget->ops[i];
		else
			offer.total += offer_of_op(budget, draft, i);
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		offer.classes[b] = fmin(offer.in_class[b], (double)draft->class_ps[b]);
		offer.total += offer.classes[b];
	}
	return offer;
}

/* SHARE of the offer. */
static void gains_take(struct budget *budget, const struct ts_doctor *doctor,
		       const struct ts_draft *draft, const struct offer *offer, double share)
{
	double keeps[TS_NR_BUCKETS];

	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		keeps[b] = offer->classes[b] > 0
				   ? 1 - share * offer->classes[b] / offer->in_class[b]
				   : 1;
		budget->classes[b] *= keeps[b];
	}
	for (size_t i = 0; i < doctor->nr_facts; i++) {
		double taken = share * offer_of_op(budget, draft, i);

		if (names_class(draft, doctor->facts[i].bucket)) {
			budget->ops[i] *= keeps[doctor->facts[i].bucket];
			continue;
		}
		budget->ops[i] -= taken;
		budget->above[i] -= draft->symptom ? taken : 0;
	}
}

static bool names_any(const struct ts_draft *draft)
{
	bool any = draft->nr_claims > 0;

	for (int b = 0; b < TS_NR_BUCKETS; b++)
		any |= names_class(draft, b);
	return any;
}

/* Core time. */
static int64_t gains_draw(struct budget *budget, const struct ts_doctor *doctor,
			  const struct ts_draft *draft)
{
	int64_t ask_ps = TS_MIN(draft->finding.impact_ps, draft->most_ps);
	int64_t take_ps = TS_MIN(ask_ps, budget->left_ps);
	struct offer offer;

	if (names_any(draft)) {
		mark_named(doctor, draft, budget->named);
		offer = offer_of(budget, doctor, draft);
		take_ps = TS_MIN(take_ps, ts_to_ps(offer.total));
		if (take_ps > 0)
			gains_take(budget, doctor, draft, &offer, (double)take_ps / offer.total);
	}
	budget->left_ps -= take_ps;
	return take_ps;
}

static enum ts_severity severity_by(const struct ts_settings *settings, double share)
{
	if (share * 100 >= settings->impact_critical)
		return TS_CRITICAL;
	return share * 100 >= settings->impact_warning ? TS_WARNING : TS_INFO;
}

static void gains_settle(const struct ts_doctor *doctor, struct ts_draft *draft)
{
	struct ts_finding *finding = &draft->finding;
	enum ts_severity by_gain = severity_by(doctor->ctx->settings, finding->gain_share);

	finding->severity = TS_MAX(TS_MIN(by_gain, draft->lifted), draft->capped);
	if (finding->severity == by_gain)
		finding->severity_reason = NULL;
}

static void draw_all(struct budget *budget, struct ts_doctor *doctor, bool symptoms)
{
	int64_t cores = (int64_t)doctor->time->nr_cores;

	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		struct ts_draft *draft = &doctor->drafts[i];
		int64_t core_ps;

		if (draft->symptom != symptoms)
			continue;
		if (doctor->total_ps > 0 && cores > 0 && draft->finding.impact_ps >= 0) {
			core_ps = gains_draw(budget, doctor, draft);
			draft->finding.gain_ps = core_ps / cores;
			draft->finding.gain_share = ts_doctor_share(doctor, core_ps);
		}
		gains_settle(doctor, draft);
	}
}

static bool took_from(const struct ts_doctor *doctor, const struct ts_draft *draft,
		      const bool *named, const struct ts_draft *symptom)
{
	if (!(draft->finding.gain_share * 100 >= doctor->ctx->settings->finding_min))
		return false; /* the symptom is one of these */
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (names_class(draft, b) && names_class(symptom, b))
			return true;
	for (size_t i = 0; i < draft->nr_claims; i++) {
		uint32_t fact = doctor->claims[draft->first_claim + i];

		if (named[fact] || names_class(symptom, doctor->facts[fact].bucket))
			return true;
	}
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (named[i] && names_class(draft, doctor->facts[i].bucket))
			return true;
	return false;
}

/* The first that drew from what the symptom names, or NULL. */
static struct ts_draft *taker_of(struct ts_doctor *doctor, const struct budget *budget,
				 const struct ts_draft *symptom)
{
	mark_named(doctor, symptom, budget->named);
	for (size_t i = 0; i < doctor->nr_drafts; i++)
		if (took_from(doctor, &doctor->drafts[i], budget->named, symptom))
			return &doctor->drafts[i];
	return NULL;
}

static void merge_into(struct ts_doctor *doctor, struct ts_finding *finding,
		       const struct ts_finding *symptom)
{
	struct ts_merged *merged = ts_arena_array(&doctor->result->owner->arena,
						  finding->nr_merged + 1, sizeof(*merged));

	if (!merged) {
		doctor->failed = true;
		return;
	}
	if (finding->nr_merged > 0)
		memcpy(merged, finding->merged, finding->nr_merged * sizeof(*merged));
	merged[finding->nr_merged++] =
		(struct ts_merged){ symptom->rule, symptom->title, symptom->impact_ps };
	finding->merged = merged;
	finding->evidence = ts_result_text(doctor->result, "%.*s It shows in this too: %.*s.",
					   TS_ARG(finding->evidence), TS_ARG(symptom->title));
}

/* Symptoms of which others took all. */
static void gains_merge(struct ts_doctor *doctor, const struct budget *budget)
{
	double least = doctor->ctx->settings->finding_min / 100;
	size_t kept = 0;

	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		struct ts_draft *draft = &doctor->drafts[i], *taker = NULL;

		if (draft->symptom && draft->finding.gain_share < least)
			taker = taker_of(doctor, budget, draft);
		draft->merged = taker != NULL;
		if (taker)
			merge_into(doctor, &taker->finding, &draft->finding);
	}
	for (size_t i = 0; i < doctor->nr_drafts; i++)
		if (!doctor->drafts[i].merged)
			doctor->drafts[kept++] = doctor->drafts[i];
	doctor->nr_drafts = kept;
}

void ts_doctor_gains(struct ts_doctor *doctor)
{
	struct budget budget;

	if (doctor->failed)
		return;
	budget_init(&budget, doctor);
	if (doctor->failed)
		return;
	draw_all(&budget, doctor, false);
	draw_all(&budget, doctor, true);
	gains_merge(doctor, &budget);
}
