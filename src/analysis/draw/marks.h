/* SPDX-License-Identifier: MIT */
/*
 * The marks' own header: which ops are drawn and what their slices say. Shared by marks.c (the
 * pass) and marks_labels.c only.
 */
#ifndef TS_ANALYSIS_MARKS_H
#define TS_ANALYSIS_MARKS_H

#include "analysis/facts/doctor.h"
#include "analysis/facts/padding.h"

#define TS_NEEDS(X) X(doctor) X(padding)
#include "analysis/kit/needs.h"

enum mark_row { MARK_FINDINGS, MARK_PADDING, NR_MARK_ROWS };

#define MARK_NONE UINT16_MAX

/* The labels of a row in the order of their numbers. They are the same from the same
 * facts: lines make theirs on threads of their own. */
struct mark_label {
	uint32_t op;	/* index into profile->ops */
	uint32_t at;	/* the finding, or the op of facts/padding.h */
	uint32_t where; /* of the finding */
};

struct mark_labels {
	struct mark_label *items[NR_MARK_ROWS];
	size_t nr[NR_MARK_ROWS], cap[NR_MARK_ROWS];
	size_t nr_left_out; /* padded ops for which there is no label any more */
};

enum ts_status ts_marks_list(const struct ts_context *ctx, struct mark_labels *labels,
			     struct ts_error *err);
void ts_marks_list_release(struct mark_labels *labels);

/* With names and args, in the result's arena; NULL: no memory. */
const struct ts_label *ts_marks_labels(const struct ts_context *ctx,
				       const struct mark_labels *labels, enum mark_row row,
				       struct ts_result *result);
/* One label a finding, for those that have a time and no op. */
const struct ts_label *ts_marks_finding_labels(const struct ts_doctor_facts *doctor,
					       struct ts_result *result);

#endif
