/* SPDX-License-Identifier: MIT */
/*
 * The doctor: rules over the facts of the other analyses, ranked by the time of the run that each
 * finding could give back, and one score for the whole run.
 *
 * An impact is its finding's own ceiling, in core time: what would be gained if all of the cause went
 * away and nothing took its place. Impacts of findings that share time overlap; gains do not (gains.c).
 */
#include "analysis/doctor/doctor.h"
#include "analysis/settings_list.h"
#include "result/schema/doctor.def"

#include "base/order.h"
static const struct ts_rule *const rules[] = {
#define ADDRESS(name) &ts_rule_##name,
	TS_RULES(ADDRESS)
#undef ADDRESS
};

static bool is_noise(const struct ts_doctor *doctor, const struct ts_draft *draft)
{
	double share = draft->finding.impact_share;

	if (draft->keep || isnan(share))
		return false;
	return share * 100 < doctor->ctx->settings->finding_min;
}

TS_ORDER(doctor_by_impact, struct ts_draft,
	 TS_DOWN(finding.impact_ps) TS_UP(finding.severity) TS_UP(serial))

/* Drops the noise. The order is the one in which gains are drawn; ranges still name drafts by .serial. */
static void doctor_choose(struct ts_doctor *doctor)
{
	size_t kept = 0;

	for (size_t i = 0; i < doctor->nr_drafts; i++)
		if (!is_noise(doctor, &doctor->drafts[i]))
			doctor->drafts[kept++] = doctor->drafts[i];
	doctor->nr_drafts = kept;
	TS_SORT(doctor->drafts, kept, doctor_by_impact);
}

/* Nothing measured can be larger than what makes all the numbers worthless. */
static int64_t doctor_rank(const struct ts_draft *draft)
{
	if (draft->finding.gain_ps < 0 && draft->finding.severity == TS_CRITICAL)
		return INT64_MAX;
	return draft->finding.gain_ps;
}

TS_ORDER(doctor_by_gain, struct ts_draft,
	 TS_DOWN_BY(doctor_rank) TS_UP(finding.severity) TS_DOWN(finding.impact_ps) TS_UP(serial))

/* By what is shown, the gain, and keeps the largest. */
static void doctor_order(struct ts_doctor *doctor)
{
	size_t max = (size_t)fmin(doctor->ctx->settings->max_findings, 1e6);

	TS_SORT(doctor->drafts, doctor->nr_drafts, doctor_by_gain);
	if (doctor->nr_drafts <= max)
		return;
	ts_result_note(doctor->result, "%zu smaller findings are left out (max_findings)",
		       doctor->nr_drafts - max);
	doctor->nr_drafts = max;
}

/* Two programs of one name have findings of one id: the smaller ones get a number. */
static void part_ids(struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		struct ts_bytes id = doctor->drafts[i].finding.id;
		size_t nr = 1;

		for (size_t j = i + 1; j < doctor->nr_drafts; j++) {
			struct ts_finding *other = &doctor->drafts[j].finding;

			if (!ts_bytes_eq(other->id, id))
				continue;
			other->id = ts_result_text(doctor->result, "%.*s-%zu", TS_ARG(id), ++nr);
		}
	}
}

static void write_findings(struct ts_doctor *doctor, struct ts_doctor_facts *facts)
{
	for (size_t i = 0; i < doctor->nr_drafts; i++) {
		struct ts_finding *finding = ts_result_finding(doctor->result);

		if (!finding) {
			doctor->failed = true;
			return;
		}
		*finding = doctor->drafts[i].finding;
	}
	facts->findings = doctor->result->findings;
	facts->nr_findings = doctor->result->nr_findings;
}

/* Those of the drafts that are left, by their place among these. */
static void list_ranges(struct ts_doctor *doctor, struct ts_doctor_facts *facts)
{
	struct ts_finding_range *listed = ts_arena_array(&doctor->result->owner->arena,
							 doctor->nr_ranges + 1, sizeof(*listed));

	if (!listed) {
		doctor->failed = true;
		return;
	}
	for (uint32_t d = 0; d < doctor->nr_drafts; d++)
		for (size_t i = 0; doctor->drafts[d].nr_ranges > 0 && i < doctor->nr_ranges; i++) {
			const struct ts_range *range = &doctor->ranges[i];

			if (range->draft == doctor->drafts[d].serial)
				listed[facts->nr_ranges++] =
					(struct ts_finding_range){ d, range->device,
								   range->start_ps, range->end_ps };
		}
	facts->ranges = listed;
}

#define RANGE_CELLS(X) \
	X(finding, ts_text(facts->findings[range->finding].id)) \
	X(device, range->device == TS_NONE ? ts_null() : ts_int(range->device)) \
	X(start_ps, ts_int(range->start_ps)) \
	X(end_ps, ts_int(range->end_ps))

static void doctor_put_ranges(const struct ts_doctor_facts *facts, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, doctor_ranges);

	for (size_t i = 0; i < facts->nr_ranges; i++) {
		const struct ts_finding_range *range = &facts->ranges[i];

		TS_CELLS(result, table, doctor_ranges, RANGE_CELLS);
	}
}

static int64_t whole_run(const struct ts_doctor *doctor, double core_ps)
{
	return (int64_t)(core_ps / (double)TS_MAX(doctor->time->nr_cores, 1));
}

static void doctor_put_health(struct ts_doctor *doctor, struct ts_doctor_facts *facts)
{
	struct ts_health health = ts_doctor_health(doctor);
	bool known = !isnan(health.score);

	facts->health_score = known ? (int64_t)lround(health.score) : -1;
	TS_SET(doctor->result, doctor, health_score,
	       ts_value_from(ts_int_or_null(facts->health_score),
			     health.assumed ? TS_ASSUMED : TS_MODELLED));
	TS_SET(doctor->result, doctor, ideal_ps,
	       ts_value_from(known ? ts_int(whole_run(doctor, health.ideal_ps)) : ts_null(),
			     health.assumed ? TS_ASSUMED : TS_MODELLED));
	if (health.assumed)
		ts_result_note(doctor->result,
			       "No op's roofline is known: for the health score, ops "
			       "that compute are taken to reach 60 %% of it.");
	if (doctor->nr_drafts > 0 && doctor->total_ps > 0)
		ts_result_note(doctor->result,
			       "A gain is time of the run and counts no moment twice: a finding "
			       "gets what others leave of its time. Impacts are core time, each "
			       "finding's own ceiling: they overlap.");
}

/* The doctor's own rules first, then those that analyses bring along. */
static void check_all(struct ts_doctor *doctor)
{
	const struct ts_analysis *const *analyses = doctor->ctx->analyses;

	for (size_t i = 0; i < TS_NELEM(rules) && !doctor->failed; i++)
		rules[i]->check(doctor, rules[i]);
	for (size_t a = 0; analyses && analyses[a]; a++) {
		doctor->own = doctor->ctx->facts[a];
		for (size_t i = 0; analyses[a]->rules && analyses[a]->rules[i]; i++)
			if (!doctor->failed)
				analyses[a]->rules[i]->check(doctor, analyses[a]->rules[i]);
	}
}

static enum ts_status doctor_close(void *state, const struct ts_context *ctx, void *facts,
				   struct ts_result *result, struct ts_error *err)
{
	struct ts_run_replay run = { .is_known = false };
	struct ts_doctor doctor = { .ctx = ctx, .result = result, .run = &run };
	bool failed;

	ts_doctor_gather(&doctor);
	if (!doctor.failed)
		ts_doctor_find_requests(&doctor);
	check_all(&doctor);
	doctor_choose(&doctor);
	ts_doctor_gains(&doctor);
	doctor_order(&doctor);
	part_ids(&doctor);
	ts_doctor_places(&doctor);
	doctor_put_health(&doctor, facts);
	ts_doctor_what_if(&doctor);
	ts_doctor_kpis(&doctor, facts);
	write_findings(&doctor, facts);
	list_ranges(&doctor, facts);
	if (!doctor.failed)
		doctor_put_ranges(facts, result);
	failed = doctor.failed || result->owner->failed;
	ts_doctor_release(&doctor);
	return failed ? ts_fail_nomem(err) : TS_OK;
}

const struct ts_analysis ts_analysis_doctor = {
	.schema = &ts_schema_doctor,
	.needs = TS_NEEDED,
	.runs_rules = true,
	.pass = TS_PASS_SECOND,
	.facts_size = sizeof(struct ts_doctor_facts),
	.close = doctor_close,
};
