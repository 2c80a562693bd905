/* SPDX-License-Identifier: MIT */
/* Findings, padding and ops of the matrix units, by their members. */
#include "pod/saved_results.h"

#include "analysis/facts/doctor.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/systolic.h"
#include "base/check.h"
#include "base/limits.h"
#include "pod/saved.h"
#include "pod/saved_story.h"
#include "run/state.h"

#define TS_NEEDS(X) X(doctor) X(padding) X(systolic)
#include "analysis/kit/needs.h"

#define TS_SELF struct ts_where
static TS_RECORD(where, TS_TEXT(1, op), TS_TEXT(2, module), TS_TEXT(3, source),
		 TS_INDEX(4, op_index, TS_BY_OP, TS_BY_HAND), TS_NUMBER(5, own_ps, TS_BY_HAND),
		 TS_NUMBER(6, own_share, TS_BY_HAND), TS_NUMBER(7, mxu_share, TS_BY_HAND),
		 TS_NUMBER(8, hbm_share, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_when
static TS_RECORD(when, TS_INDEX(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(2, is_example, TS_BY_HAND), TS_NUMBER(3, start_ps, TS_BY_HAND),
		 TS_NUMBER(4, end_ps, TS_BY_HAND));
#undef TS_SELF

/* What its slices and XProf's suggestions show. The name of the rule is a text of the program; here it is one of the file. */
struct saved_finding {
	struct ts_finding finding;
	struct ts_where *where;
	struct ts_when *when;
	struct ts_bytes rule;
	size_t nr_where, nr_when;
};

#define TS_SELF struct saved_finding
static bool is_finding(const void *self)
{
	const struct saved_finding *saved = self;

	return saved->rule.p && saved->finding.severity < TS_NR_SEVERITIES &&
	       saved->finding.confidence < TS_NR_CONFIDENCES;
}
static TS_RECORD_WITH(finding, TS_VALID_IF(is_finding), TS_TEXT(1, finding.id), TS_TEXT(2, rule),
		      TS_NUMBER(3, finding.severity, TS_BY_HAND),
		      TS_NUMBER(4, finding.confidence, TS_BY_HAND), TS_TEXT(5, finding.title),
		      TS_TEXT(6, finding.evidence), TS_TEXT(7, finding.advice),
		      TS_NUMBER(8, finding.impact_ps, TS_BY_HAND),
		      TS_NUMBER(9, finding.impact_share, TS_BY_HAND),
		      TS_NUMBER(10, finding.gain_ps, TS_BY_HAND),
		      TS_NUMBER(11, finding.gain_share, TS_BY_HAND),
		      TS_RECORDS(12, where, nr_where, where_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_TEXT(13, finding.code), TS_TEXT(14, finding.links.xprof),
		      TS_TEXT(15, finding.links.xprof_trace),
		      TS_RECORDS(16, when, nr_when, when_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_finding_range
static TS_RECORD(range, TS_NUMBER(1, finding, TS_BY_HAND),
		 TS_INDEX(2, device, TS_BY_DEVICE, TS_BY_HAND), TS_NUMBER(3, start_ps, TS_BY_HAND),
		 TS_NUMBER(4, end_ps, TS_BY_HAND));
#undef TS_SELF

/* What marks read of it. */
#define TS_SELF struct ts_padded_op
static TS_RECORD(padded, TS_INDEX(1, op, TS_BY_OP, TS_BY_HAND),
		 TS_NUMBER(2, bytes_share, TS_BY_HAND), TS_NUMBER(3, flops_share, TS_BY_HAND),
		 TS_NUMBER(4, waste_ps, TS_BY_HAND), TS_TEXT(5, best.text),
		 TS_NUMBER(6, best.gain_ps, TS_BY_HAND), TS_NUMBER(7, is_small, TS_BY_HAND));
#undef TS_SELF

/* What the heat map reads of it. */
#define TS_SELF struct ts_matrix_op
static TS_RECORD(matrix, TS_INDEX(1, op, TS_BY_OP, TS_BY_HAND), TS_TEXT(2, name),
		 TS_TEXT(3, module), TS_NUMBER(4, utilization, TS_BY_HAND));
#undef TS_SELF

/* The key is a text of the program, too. */
struct saved_fact {
	struct ts_bytes key, text;
	int64_t number;
};

#define TS_SELF struct saved_fact
static bool is_fact(const void *self)
{
	return ts_trace_fact_key(((const struct saved_fact *)self)->key) != NULL;
}
static TS_RECORD_WITH(fact, TS_VALID_IF(is_fact), TS_TEXT(1, key), TS_TEXT(2, text),
		      TS_NUMBER(3, number, TS_BY_HAND));
#undef TS_SELF

struct saved_results {
	struct saved_finding *findings;
	struct ts_finding_range *ranges;
	struct ts_padded_op *padded;
	struct ts_matrix_op *matrix;
	struct saved_fact *facts;
	size_t nr_findings, nr_ranges, nr_padded, nr_matrix, nr_facts;
	struct ts_trace_wants wants;
	struct ts_saved_story story;
	bool is_damaged;
};

#define TS_SELF struct saved_results
static bool are_results(const void *self)
{
	const struct saved_results *saved = self;

	for (size_t i = 0; i < saved->nr_ranges; i++)
		if (saved->ranges[i].finding >= saved->nr_findings)
			return false;
	return saved->nr_matrix <= TS_MATRIX_DRAWN && saved->nr_facts <= TS_TRACE_FACTS;
}
static TS_RECORD_WITH(results, TS_VALID_IF(are_results),
		      TS_RECORDS(1, findings, nr_findings, finding_record, TS_BY_NOTHING,
				 TS_BY_HAND),
		      TS_RECORDS(2, ranges, nr_ranges, range_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_RECORDS(3, padded, nr_padded, padded_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(4, is_damaged, TS_BY_HAND),
		      TS_RECORDS(5, matrix, nr_matrix, matrix_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_STRUCT(6, wants, ts_trace_wants_record),
		      TS_RECORDS(7, facts, nr_facts, fact_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_STRUCT(8, story, ts_saved_story_record));
#undef TS_SELF

/* ---- out */

static struct saved_finding *findings_of(const struct ts_doctor_facts *doctor)
{
	struct saved_finding *saved = calloc(doctor->nr_findings + 1, sizeof(*saved));

	for (size_t i = 0; saved && i < doctor->nr_findings; i++) {
		const struct ts_finding *finding = &doctor->findings[i];

		saved[i].finding = *finding;
		saved[i].rule = ts_bytes_of(finding->rule);
		saved[i].where = (struct ts_where *)(uintptr_t)finding->where;
		saved[i].nr_where = finding->nr_where;
		saved[i].when = (struct ts_when *)(uintptr_t)finding->when;
		saved[i].nr_when = finding->nr_when;
	}
	return saved;
}

static struct saved_fact *saved_results_facts_of(const struct ts_saved_known *known)
{
	struct saved_fact *saved = calloc(known->nr_facts + 1, sizeof(*saved));

	for (size_t i = 0; saved && i < known->nr_facts; i++) {
		const struct ts_perfetto_fact *fact = &known->facts[i];

		saved[i] = (struct saved_fact){ ts_bytes_of(fact->key), fact->text, fact->number };
	}
	return saved;
}

void ts_saved_put_results(struct ts_buf *out, const struct ts_saved_known *known,
			  const void *const *facts)
{
	const struct ts_doctor_facts *doctor = facts[ts_id_doctor];
	const struct ts_padding_facts *padding = facts[ts_id_padding];
	const struct ts_systolic_facts *systolic = facts[ts_id_systolic];
	struct saved_results saved = { .findings = findings_of(doctor),
				       .nr_findings = doctor->nr_findings,
				       .ranges =
					       (struct ts_finding_range *)(uintptr_t)doctor->ranges,
				       .nr_ranges = doctor->nr_ranges,
				       .padded = (struct ts_padded_op *)(uintptr_t)padding->items,
				       .nr_padded = padding->nr,
				       .matrix = (struct ts_matrix_op *)(uintptr_t)systolic->items,
				       .nr_matrix = TS_MIN(systolic->nr, TS_MATRIX_DRAWN),
				       .facts = saved_results_facts_of(known),
				       .nr_facts = known->nr_facts,
				       .wants = known->wants,
				       .is_damaged = known->is_damaged };

	bool has_story = ts_saved_story_of(known->story, known->nr_story, &saved.story);

	TS_ASSERT(out && known && facts);
	if (saved.findings && saved.facts && has_story)
		ts_record_save(&results_record, &saved, out);
	else
		out->failed = true;
	ts_saved_story_drop(&saved.story);
	free(saved.findings);
	free(saved.facts);
}

/* ---- and in */

static const struct ts_finding *load_findings(const struct saved_results *saved,
					      struct ts_arena *arena)
{
	struct ts_finding *findings =
		ts_arena_array(arena, saved->nr_findings + 1, sizeof(*findings));

	for (size_t i = 0; findings && i < saved->nr_findings; i++) {
		const struct saved_finding *from = &saved->findings[i];

		findings[i] = from->finding;
		findings[i].rule = (const char *)from->rule.p;
		findings[i].where =
			ts_arena_dup(arena, from->where, from->nr_where, sizeof(*from->where));
		findings[i].nr_where = from->nr_where;
		findings[i].when =
			ts_arena_dup(arena, from->when, from->nr_when, sizeof(*from->when));
		findings[i].nr_when = from->nr_when;
		if (!findings[i].where || !findings[i].when)
			return NULL;
	}
	return findings;
}

static enum ts_status check_size(const struct saved_results *saved, struct ts_error *err)
{
	size_t nr_where = 0, nr_when = 0;

	for (size_t i = 0; i < saved->nr_findings; i++) {
		nr_where += saved->findings[i].nr_where;
		nr_when += saved->findings[i].nr_when;
	}
	if (nr_where > TS_LIMIT_FINDING_PLACES || saved->nr_findings > TS_LIMIT_FINDING_PLACES)
		return ts_fail(
			err, TS_LIMIT,
			"more ops of findings than a run has " TS_OVER(TS_LIMIT_FINDING_PLACES));
	if (saved->nr_ranges > TS_LIMIT_FINDING_TIMES || nr_when > TS_LIMIT_FINDING_TIMES)
		return ts_fail(
			err, TS_LIMIT,
			"more times of findings than a run has " TS_OVER(TS_LIMIT_FINDING_TIMES));
	return TS_OK;
}

static enum ts_status saved_results_keep(const struct saved_results *saved, struct ts_arena *arena,
					 const void **facts, struct ts_error *err)
{
	struct ts_doctor_facts *doctor = ts_arena_zalloc(arena, sizeof(*doctor));
	struct ts_padding_facts *padding = ts_arena_zalloc(arena, sizeof(*padding));
	struct ts_systolic_facts *systolic = ts_arena_zalloc(arena, sizeof(*systolic));

	if (!doctor || !padding || !systolic)
		return ts_fail_nomem(err);
	doctor->findings = load_findings(saved, arena);
	doctor->nr_findings = saved->nr_findings;
	doctor->ranges =
		ts_arena_dup(arena, saved->ranges, saved->nr_ranges, sizeof(*saved->ranges));
	doctor->nr_ranges = saved->nr_ranges;
	padding->items =
		ts_arena_dup(arena, saved->padded, saved->nr_padded, sizeof(*saved->padded));
	padding->nr = saved->nr_padded;
	systolic->items =
		ts_arena_dup(arena, saved->matrix, saved->nr_matrix, sizeof(*saved->matrix));
	systolic->nr = saved->nr_matrix;
	if (!doctor->findings || !doctor->ranges || !padding->items || !systolic->items)
		return ts_fail_nomem(err);
	facts[ts_id_doctor] = doctor;
	facts[ts_id_padding] = padding;
	facts[ts_id_systolic] = systolic;
	return TS_OK;
}

/* What was loaded moves there. */
static void take_known(struct saved_results *saved, struct ts_saved_known *known)
{
	known->is_damaged = saved->is_damaged;
	known->wants = saved->wants;
	saved->wants = (struct ts_trace_wants){ .nr = 0 };
	known->nr_facts = saved->nr_facts;
	for (size_t i = 0; i < saved->nr_facts; i++)
		known->facts[i] =
			(struct ts_perfetto_fact){ .key = ts_trace_fact_key(saved->facts[i].key),
						   .text = saved->facts[i].text,
						   .number = saved->facts[i].number };
}

enum ts_status ts_saved_check_damage(const struct ts_saved_known *known, const char *path,
				     struct ts_error *err)
{
	TS_ASSERT(known && path);
	if (!known->is_damaged)
		return TS_OK;
	return ts_fail(err, TS_FORMAT,
		       "%s: a file of its run is damaged, so nothing of the run is annotated (the "
		       "report names the file; copy it again)",
		       path);
}

void ts_saved_known_release(struct ts_saved_known *known)
{
	TS_ASSERT(known);
	ts_record_release(&ts_trace_wants_record, &known->wants);
}

enum ts_status ts_saved_load_results(struct ts_bytes bytes, struct ts_profile *profile,
				     const void **facts, struct ts_saved_known *known,
				     struct ts_error *err)
{
	const struct ts_record_limits limits = ts_state_limits(profile);
	struct saved_results saved = { .nr_findings = 0 };
	enum ts_status st =
		ts_record_load(&results_record, &saved, bytes, &limits, &profile->arena, err);

	TS_ASSERT(facts && known);
	if (st == TS_OK && saved.wants.nr != profile->nr_hosts)
		st = ts_fail(err, TS_FORMAT, "it does not have the hosts of its run");
	if (st == TS_OK)
		st = check_size(&saved, err);
	if (st == TS_OK)
		st = saved_results_keep(&saved, &profile->arena, facts, err);
	if (st == TS_OK)
		take_known(&saved, known);
	if (st == TS_OK) {
		known->nr_story = saved.story.nr;
		known->story = ts_saved_story_tracks(&saved.story, &profile->arena);
		st = known->story ? TS_OK : ts_fail_nomem(err);
	}
	ts_record_release(&results_record, &saved);
	return st;
}
