/* SPDX-License-Identifier: MIT */
/* Reporting: a rule's finding becomes a draft with an id, a severity and its rule's advice, then
 * gets places and times. */
#include "analysis/doctor/doctor.h"

#include "base/check.h"

#define ALL_OF_IT "all of the core time that the finding names, as if its cause went away"

/* Fingerprints in module names change from compile to compile: "jit_f(1234)" is "jit_f". */
static struct ts_bytes stem(struct ts_bytes module)
{
	return ts_bytes_cut(module, 0, ts_bytes_find(module, "("));
}

static struct ts_bytes make_id(struct ts_doctor *doctor, const struct ts_rule *rule,
			       struct ts_bytes module, struct ts_bytes op)
{
	uint64_t hash = ts_hash(op, ts_hash(stem(module), 0));
	struct ts_bytes id;

	if (module.n + op.n == 0)
		id = ts_arena_copy(&doctor->result->owner->arena, ts_bytes_of(rule->name));
	else
		id = ts_result_text(doctor->result, "%s-%08x", rule->name,
				    (unsigned)(hash & 0xffffffff));
	doctor->failed |= !id.p;
	return id;
}

struct ts_finding *ts_doctor_report(struct ts_doctor *doctor, const struct ts_rule *rule,
				    struct ts_bytes module, struct ts_bytes op, int64_t impact_ps)
{
	const struct ts_advice *advice = ts_advice_find(doctor->framework, rule->name);
	struct ts_draft *draft;
	struct ts_finding *finding;

	TS_ASSERT(rule->name && rule->confidence < TS_NR_CONFIDENCES && advice);
	if (doctor->failed ||
	    !ts_grow(&doctor->drafts, &doctor->cap_drafts, doctor->nr_drafts + 1, sizeof(*draft))) {
		doctor->failed = true;
		doctor->spare = (struct ts_finding){ .impact_ps = -1,
						     .gain_ps = -1,
						     .gain_alone_ps = -1,
						     .gain_low_ps = -1,
						     .gain_high_ps = -1 };
		return &doctor->spare;
	}
	if (doctor->total_ps >= 0)
		impact_ps = TS_MIN(impact_ps, doctor->total_ps);
	draft = &doctor->drafts[doctor->nr_drafts];
	*draft = (struct ts_draft){ .keep = rule->keep,
				    .symptom = rule->symptom,
				    .is_rest = rule->is_rest,
				    .serial = doctor->nr_drafts++,
				    .first_claim = doctor->nr_claims,
				    .most_ps = INT64_MAX,
				    .lifted = TS_INFO,
				    .capped = TS_CRITICAL };
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		draft->class_ps[b] = rule->classes & TS_CLASS(b) ? INT64_MAX : 0;
	finding = &draft->finding;
	finding->id = make_id(doctor, rule, module, op);
	finding->rule = rule->name;
	finding->impact_ps = impact_ps < 0 ? -1 : impact_ps;
	finding->impact_share = ts_doctor_share(doctor, finding->impact_ps);
	finding->gain_ps = finding->gain_alone_ps = -1;
	finding->gain_low_ps = finding->gain_high_ps = -1;
	finding->is_headroom = rule->is_headroom;
	finding->gain_share = NAN;
	finding->severity = TS_INFO; /* until its gain is known */
	finding->confidence = rule->confidence;
	if (finding->impact_ps >= 0)
		finding->ceiling = rule->ceiling ? rule->ceiling : ALL_OF_IT;
	finding->advice = ts_bytes_of(advice->advice);
	finding->code = ts_bytes_of(advice->code);
	return finding;
}

struct ts_finding *ts_doctor_report_run(struct ts_doctor *doctor, const struct ts_rule *rule,
					int64_t impact_ps)
{
	struct ts_bytes none = { NULL, 0 };

	return ts_doctor_report(doctor, rule, none, none, impact_ps);
}

static struct ts_draft *last_draft(struct ts_doctor *doctor)
{
	return doctor->failed || doctor->nr_drafts == 0 ? NULL
							: &doctor->drafts[doctor->nr_drafts - 1];
}

void ts_doctor_claim(struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	struct ts_draft *draft = last_draft(doctor);

	if (!draft || !fact)
		return;
	if (!ts_grow(&doctor->claims, &doctor->cap_claims, doctor->nr_claims + 1,
		     sizeof(*doctor->claims))) {
		doctor->failed = true;
		return;
	}
	doctor->claims[doctor->nr_claims++] = (uint32_t)(fact - doctor->facts);
	draft->nr_claims++;
}

void ts_doctor_claim_class(struct ts_doctor *doctor, enum ts_bucket bucket, int64_t ps)
{
	struct ts_draft *draft = last_draft(doctor);

	TS_ASSERT(bucket < TS_NR_BUCKETS);
	if (draft)
		draft->class_ps[bucket] = ts_i64_add(draft->class_ps[bucket], TS_MAX(ps, 0));
}

void ts_doctor_keep(struct ts_doctor *doctor)
{
	struct ts_draft *draft = last_draft(doctor);

	if (draft)
		draft->keep = true;
}

void ts_doctor_cures(struct ts_doctor *doctor, struct ts_cure cure)
{
	struct ts_draft *draft = last_draft(doctor);

	if (draft)
		draft->cure = cure;
}

void ts_doctor_gain_at_most(struct ts_doctor *doctor, int64_t ps)
{
	struct ts_draft *draft = last_draft(doctor);

	if (draft)
		draft->most_ps = TS_MIN(draft->most_ps, ps);
}

void ts_doctor_lift(struct ts_doctor *doctor, enum ts_severity severity, const char *reason)
{
	struct ts_draft *draft = last_draft(doctor);

	TS_ASSERT(severity < TS_NR_SEVERITIES && reason);
	if (!draft)
		return;
	draft->lifted = draft->finding.severity = severity;
	draft->finding.severity_reason = reason;
}

void ts_doctor_cap(struct ts_doctor *doctor, enum ts_severity severity, const char *reason)
{
	struct ts_draft *draft = last_draft(doctor);

	TS_ASSERT(severity < TS_NR_SEVERITIES && reason);
	if (!draft)
		return;
	draft->capped = severity;
	draft->finding.severity_reason = reason;
}

static struct ts_where where_of(struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	struct ts_where where = { .op = fact->name,
				  .module = fact->module,
				  .source = ts_fact_source(doctor, fact),
				  .op_index = fact->op };

	if (fact->exclusive_ps <= 0 || doctor->total_ps <= 0)
		return where;
	where.own_ps = fact->exclusive_ps;
	where.own_share = ts_doctor_share(doctor, fact->exclusive_ps);
	where.mxu_share = fact->mxu_share;
	where.hbm_share =
		fact->hbm_bytes_per_s / doctor->ctx->rates[fact->first_device].hbm_bytes_per_s;
	return where;
}

void ts_doctor_where(struct ts_doctor *doctor, struct ts_finding *finding,
		     const struct ts_selection *ops)
{
	struct ts_where *where;

	TS_ASSERT(finding && ops->nr <= TS_MAX_WHERE && ops->nr <= ops->nr_all);
	for (size_t i = 0; !ops->match && i < ops->nr; i++)
		ts_doctor_claim(doctor, ops->items[i]);
	for (size_t i = 0; ops->match && i < doctor->nr_facts; i++)
		if (ops->match(doctor, &doctor->facts[i], ops->arg))
			ts_doctor_claim(doctor, &doctor->facts[i]);
	if (ops->nr == 0)
		return;
	where = ts_arena_array(&doctor->result->owner->arena, ops->nr, sizeof(*where));
	if (!where) {
		doctor->failed = true;
		return;
	}
	for (size_t i = 0; i < ops->nr; i++)
		where[i] = where_of(doctor, ops->items[i]);
	finding->where = where;
	finding->nr_where = ops->nr;
}

void ts_doctor_where_one(struct ts_doctor *doctor, struct ts_finding *finding,
			 const struct ts_op_fact *fact)
{
	struct ts_selection ops = { .items = { fact }, .nr = fact != NULL, .nr_all = fact != NULL };

	ts_doctor_where(doctor, finding, &ops);
}

void ts_doctor_show_code(struct ts_doctor *doctor, struct ts_finding *finding, struct ts_bytes stem,
			 struct ts_bytes source)
{
	struct ts_where *where;

	if (finding->nr_where > 0 || stem.n == 0 || source.n == 0)
		return;
	for (size_t i = 0; i < doctor->nr_facts; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];

		if (!ts_bytes_eq(ts_module_stem(fact->module), stem) ||
		    !ts_bytes_eq(ts_fact_source(doctor, fact), source))
			continue;
		where = ts_arena_array(&doctor->result->owner->arena, 1, sizeof(*where));
		doctor->failed |= !where;
		if (!where)
			return;
		where[0] = where_of(doctor, fact);
		finding->where = where;
		finding->nr_where = 1;
		return;
	}
}

void ts_doctor_range(struct ts_doctor *doctor, uint32_t device, int64_t start_ps, int64_t end_ps)
{
	struct ts_draft *draft = last_draft(doctor);
	struct ts_range *range;

	if (!draft || end_ps <= start_ps)
		return;
	TS_ASSERT(device == TS_NONE || device < doctor->ctx->profile->nr_devices);
	if (draft->nr_ranges == TS_MAX_RANGES)
		return;
	if (!ts_grow(&doctor->ranges, &doctor->cap_ranges, doctor->nr_ranges + 1, sizeof(*range))) {
		doctor->failed = true;
		return;
	}
	draft->nr_ranges++;
	doctor->ranges[doctor->nr_ranges++] =
		(struct ts_range){ (uint32_t)draft->serial, device, start_ps, end_ps };
}
