/* SPDX-License-Identifier: MIT */
/*
 * Gains: how much shorter the run would be without what each finding is about, so that no moment counts twice.
 *
 * A finding draws its impact, core time, from pots: one for each op (its own moments) and one for each time class (what of it
 * is in no op of the list), from each in proportion to what it may take there. Of a TPU run, what it drew is then taken out of
 * the graph of what waited for what, which is replayed (replay.h): the gain is what the run got shorter, so time that nobody
 * waited for gives nothing. A finding that knows better what would be different has a cure of its own. Of other runs
 * the gain is the core time that was drawn, over the cores.
 *
 * Each finding is tried alone. Then they are taken one after the other, always the one that gives most of what is left: those
 * that name a cause and their symptoms, then headroom and its. So all together never give back more than the run has. Of an op that they name, all symptoms
 * together may take what it is above its roofline. A symptom that gets nothing becomes a part of the finding
 * that took its time.
 *
 * Severities follow from the gains; a rule that lifts or caps one says why.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/settings_list.h"

#include "base/check.h"

struct budget {
	double *ops;		       /* by fact */
	double *first;		       /* what each had at first */
	double classes[TS_NR_BUCKETS]; /* not in these */
	double first_classes[TS_NR_BUCKETS];
	int64_t left_ps;	 /* of the whole */
	bool *named;		 /* by fact: of the finding that draws */
	struct ts_shares shares; /* what it draws, of what is left */
};

/* The part of the op's time in which it does not wait for others; all, where that is unknown. */
double ts_doctor_own_share(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_run_replay *run = doctor->run;
	size_t at = (size_t)(fact - doctor->facts);

	if (!run->is_known || !(run->op_recorded_ps[at] > 0))
		return 1;
	return fmin(run->op_ps[at] / run->op_recorded_ps[at], 1);
}

static void fill_op(struct budget *budget, const struct ts_doctor *doctor, size_t fact)
{
	enum ts_bucket bucket = doctor->facts[fact].bucket;
	double ps = (double)TS_MAX(doctor->facts[fact].exclusive_ps, 0);

	budget->first[fact] = ps * ts_doctor_own_share(doctor, &doctor->facts[fact]);
	if (bucket < TS_NR_BUCKETS)
		budget->first_classes[bucket] = fmax(budget->first_classes[bucket] - ps, 0);
}

static double gains_left(double first, double had, double left)
{
	return had > 0 ? first * left / had : first;
}

/* What is left of each pot, by what is left in the graph. */
static void gains_fill(struct budget *budget, const struct ts_doctor *doctor)
{
	const struct ts_run_replay *run = doctor->run;

	for (size_t i = 0; i < doctor->nr_facts; i++)
		budget->ops[i] = gains_left(budget->first[i], run->op_ps[i], run->op_left_ps[i]);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		budget->classes[b] = gains_left(budget->first_classes[b], run->class_ps[b],
						run->class_left_ps[b]);
}

static void budget_init(struct budget *budget, struct ts_doctor *doctor)
{
	size_t nr = doctor->nr_facts + 1;

	*budget = (struct budget){ .left_ps = doctor->total_ps };
	budget->ops = ts_arena_array(&doctor->scratch, nr, sizeof(double));
	budget->first = ts_arena_array(&doctor->scratch, nr, sizeof(double));
	budget->shares.ops = ts_arena_array(&doctor->scratch, nr, sizeof(double));
	budget->named = ts_arena_array(&doctor->scratch, nr, sizeof(bool));
	if (!budget->ops || !budget->first || !budget->named || !budget->shares.ops) {
		doctor->failed = true;
		return;
	}
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		budget->first_classes[b] = (double)TS_MAX(doctor->bucket_ps[b], 0);
	for (size_t i = 0; i < doctor->nr_facts; i++)
		fill_op(budget, doctor, i);
	memcpy(budget->ops, budget->first, nr * sizeof(double));
	memcpy(budget->classes, budget->first_classes, sizeof(budget->classes));
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

static double offer_of_op(const struct budget *budget, const struct ts_doctor *doctor,
			  const struct ts_draft *draft, size_t fact)
{
	double least_ps = doctor->work[fact].least_ps;

	if (!budget->named[fact])
		return 0;
	return draft->symptom && !isnan(least_ps) ? fmax(budget->ops[fact] - least_ps, 0)
						  : budget->ops[fact];
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
			offer.total += offer_of_op(budget, doctor, draft, i);
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		offer.classes[b] = fmin(offer.in_class[b], (double)draft->class_ps[b]);
		offer.total += offer.classes[b];
	}
	return offer;
}

/* SHARE of the offer, as shares of what is left. */
static void gains_share(struct budget *budget, const struct ts_doctor *doctor,
			const struct ts_draft *draft, const struct offer *offer, double share)
{
	double *classes = budget->shares.classes;

	for (int b = 0; b < TS_NR_BUCKETS; b++)
		classes[b] =
			offer->classes[b] > 0 ? share * offer->classes[b] / offer->in_class[b] : 0;
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (names_class(draft, doctor->facts[i].bucket))
			budget->shares.ops[i] = classes[doctor->facts[i].bucket];
		else if (budget->ops[i] > 0)
			budget->shares.ops[i] =
				share * offer_of_op(budget, doctor, draft, i) / budget->ops[i];
		else
			budget->shares.ops[i] = 0;
}

static bool names_any(const struct ts_draft *draft)
{
	bool any = draft->nr_claims > 0;

	for (int b = 0; b < TS_NR_BUCKETS; b++)
		any |= names_class(draft, b);
	return any;
}

/* The core time that it may draw, and which shares of the pots that is. */
static int64_t gains_draw(struct budget *budget, const struct ts_doctor *doctor,
			  const struct ts_draft *draft)
{
	int64_t ask_ps = TS_MIN(draft->finding.impact_ps, draft->most_ps);
	int64_t take_ps = TS_MIN(ask_ps, budget->left_ps);
	struct offer offer;

	memset(budget->shares.ops, 0, doctor->nr_facts * sizeof(double));
	memset(budget->shares.classes, 0, sizeof(budget->shares.classes));
	if (!names_any(draft))
		return take_ps;
	mark_named(doctor, draft, budget->named);
	offer = offer_of(budget, doctor, draft);
	take_ps = TS_MIN(take_ps, ts_to_ps(offer.total));
	if (take_ps > 0)
		gains_share(budget, doctor, draft, &offer, (double)take_ps / offer.total);
	return take_ps;
}

static bool is_replayed(const struct ts_doctor *doctor, const struct ts_draft *draft)
{
	return doctor->run->is_known && (draft->cure.kind != TS_CURE_NONE || names_any(draft));
}

/* The most that the run may lose by a finding for which CORE_PS was drawn. */
static int64_t gains_most(const struct ts_draft *draft, int64_t cores, int64_t core_ps)
{
	switch (draft->cure.kind) {
	case TS_CURE_NONE:  return core_ps;
	case TS_CURE_STEPS: return draft->finding.impact_ps / cores;
	default:	    return INT64_MAX;
	}
}

/*
 * Time of the run; the graph is changed, and CORE_PS is what was drawn, which is the most that the run may lose: kernels of several
 * streams that get closer would run at once, where nothing says that they fit. What makes the run longer is undone.
 */
static int64_t gains_try(struct budget *budget, struct ts_doctor *doctor,
			 const struct ts_draft *draft, int64_t *core_ps)
{
	int64_t cores = (int64_t)TS_MAX(doctor->time->nr_cores, 1), length_ps, gain_ps;

	*core_ps = gains_draw(budget, doctor, draft);
	if (!is_replayed(doctor, draft))
		return *core_ps / cores;
	if (draft->cure.kind != TS_CURE_NONE)
		ts_doctor_cure(doctor, draft);
	else
		ts_run_replay_take(doctor->run, &budget->shares);
	length_ps = ts_run_replay_length(doctor->run);
	if (length_ps > doctor->run->length_ps)
		ts_run_replay_undo(doctor->run);
	gain_ps = TS_MAX(doctor->run->length_ps - length_ps, 0);
	return TS_MIN(gain_ps, gains_most(draft, cores, *core_ps));
}

static void gains_undo(struct ts_doctor *doctor, const struct ts_draft *draft)
{
	if (is_replayed(doctor, draft))
		ts_run_replay_undo(doctor->run);
}

static void gains_take(struct budget *budget, const struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_facts; i++)
		budget->ops[i] *= 1 - budget->shares.ops[i];
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		budget->classes[b] *= 1 - budget->shares.classes[b];
}

/* Of what is drawn alone nothing says that the run gets shorter by it. */
static void gains_set(const struct ts_doctor *doctor, struct ts_finding *finding, int64_t gain_ps,
		      int64_t measured_ps)
{
	int64_t cores = (int64_t)TS_MAX(doctor->time->nr_cores, 1);

	finding->gain_ps = gain_ps;
	finding->gain_share = ts_doctor_share(doctor, ts_i64_mul(gain_ps, cores));
	finding->gain_low_ps = TS_MIN(gain_ps, measured_ps);
	finding->gain_high_ps = TS_MAX(gain_ps, measured_ps);
	if (finding->gain_low_ps < gain_ps && finding->confidence == TS_CERTAIN)
		finding->confidence = TS_LIKELY;
}

/* What was just tried: it gives GAIN_PS of the run for CORE_PS drawn. */
static void gains_accept(struct budget *budget, struct ts_doctor *doctor, struct ts_draft *draft,
			 int64_t gain_ps, int64_t core_ps)
{
	struct ts_run_replay *run = doctor->run;
	int64_t length_ps, measured_ps;

	budget->left_ps -= core_ps;
	if (!is_replayed(doctor, draft)) {
		gains_set(doctor, &draft->finding, gain_ps, 0);
		gains_take(budget, doctor);
		return;
	}
	length_ps = ts_run_replay_length(run);
	measured_ps = ts_run_replay_length_measured(run, length_ps);
	gains_set(doctor, &draft->finding, gain_ps, TS_MAX(run->measured_ps - measured_ps, 0));
	ts_run_replay_keep(run, length_ps, measured_ps);
	gains_fill(budget, doctor);
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

/* A finding that waits for its turn: what it gave when it was tried last. */
struct turn {
	struct ts_draft *draft;
	int64_t gain_ps;
};

static bool has_gain(const struct ts_doctor *doctor, const struct ts_draft *draft)
{
	return doctor->total_ps > 0 && doctor->time->nr_cores > 0 && draft->finding.impact_ps >= 0;
}

static bool gains_is_before(const struct turn *x, const struct turn *y)
{
	return x->gain_ps != y->gain_ps ? x->gain_ps > y->gain_ps
					: x->draft->finding.impact_ps > y->draft->finding.impact_ps;
}

static size_t gains_best(const struct turn *turns, size_t nr)
{
	size_t best = 0;

	for (size_t i = 1; i < nr; i++)
		if (gains_is_before(&turns[i], &turns[best]))
			best = i;
	return best;
}

/*
 * The one that gives most of what is left, again and again. What one gives hardly grows when others are taken, so it is tried anew
 * only when it leads, and taken if it leads still.
 */
static void gains_take_all(struct budget *budget, struct ts_doctor *doctor, struct turn *turns,
			   size_t nr)
{
	while (nr > 0) {
		struct turn *best = &turns[gains_best(turns, nr)];
		int64_t core_ps;

		best->gain_ps = gains_try(budget, doctor, best->draft, &core_ps);
		if (best != &turns[gains_best(turns, nr)]) {
			gains_undo(doctor, best->draft);
			continue;
		}
		gains_accept(budget, doctor, best->draft, best->gain_ps, core_ps);
		*best = turns[--nr];
	}
}

/* What names a cause, then what is left of a class of time, then what shows in other findings. */
enum stage { STAGE_CAUSES, STAGE_REST, STAGE_SYMPTOMS, NR_STAGES };

static enum stage stage_of(const struct ts_draft *draft)
{
	if (draft->symptom)
		return STAGE_SYMPTOMS;
	return draft->is_rest ? STAGE_REST : STAGE_CAUSES;
}

/*
 * What a cause explains is not headroom: an op that is slow on one core alone, or in one step, is compared with itself before it is
 * compared with the chip.
 */
static void gains_take_stage(struct budget *budget, struct ts_doctor *doctor, bool headroom,
			     enum stage stage)
{
	struct turn *turns =
		ts_arena_array(&doctor->scratch, doctor->nr_drafts + 1, sizeof(*turns));
	size_t nr = 0;

	doctor->failed |= !turns;
	for (size_t i = 0; turns && i < doctor->nr_drafts; i++) {
		struct ts_draft *draft = &doctor->drafts[i];

		if (draft->finding.is_headroom == headroom && stage_of(draft) == stage &&
		    has_gain(doctor, draft))
			turns[nr++] = (struct turn){ draft, draft->finding.gain_alone_ps };
	}
	if (turns)
		gains_take_all(budget, doctor, turns, nr);
}

/* Each by itself, before any is taken. */
static void gains_try_alone(struct budget *budget, struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		struct ts_draft *draft = &doctor->drafts[i];
		int64_t core_ps;

		if (!has_gain(doctor, draft))
			continue;
		draft->finding.gain_alone_ps = gains_try(budget, doctor, draft, &core_ps);
		gains_undo(doctor, draft);
	}
}

#define HIDDEN 0.1 /* of its core time over the cores: a finding that gives less has most of it off the critical path */

static void gains_put_hidden(struct ts_doctor *doctor, struct ts_draft *draft)
{
	struct ts_finding *finding = &draft->finding;
	double asked_ps = (double)finding->impact_ps / (double)TS_MAX(doctor->time->nr_cores, 1);
	double least = doctor->ctx->settings->finding_min / 100;

	if (!is_replayed(doctor, draft) || !has_gain(doctor, draft) ||
	    !(finding->impact_share >= least) ||
	    (double)finding->gain_alone_ps >= HIDDEN * asked_ps)
		return;
	finding->evidence = ts_result_text(
		doctor->result,
		"%.*s It is hidden: nothing waits for it, and without it the run takes as long.",
		TS_ARG(finding->evidence));
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

/* What it would give alone, others have. */
static bool gains_is_taken(const struct ts_doctor *doctor, const struct ts_draft *draft)
{
	const struct ts_finding *finding = &draft->finding;
	double least = doctor->ctx->settings->finding_min / 100;

	if (!(finding->gain_share < least))
		return false;
	return draft->symptom ||
	       (is_replayed(doctor, draft) && !draft->keep &&
		(double)finding->gain_alone_ps >= least * (double)doctor->run->recorded_ps);
}

/* Symptoms of which others took all. */
static void gains_merge(struct ts_doctor *doctor, const struct budget *budget)
{
	size_t kept = 0;

	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		struct ts_draft *draft = &doctor->drafts[i], *taker = NULL;

		if (gains_is_taken(doctor, draft))
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
	gains_try_alone(&budget, doctor);
	for (enum stage stage = 0; stage < NR_STAGES; stage++)
		gains_take_stage(&budget, doctor, false, stage);
	for (enum stage stage = 0; stage < NR_STAGES; stage++)
		gains_take_stage(&budget, doctor, true, stage);
	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		gains_settle(doctor, &doctor->drafts[i]);
		gains_put_hidden(doctor, &doctor->drafts[i]);
	}
	gains_merge(doctor, &budget);
}
