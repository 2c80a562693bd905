/*
 * Steps from the events of step and module lines, and where a GPU has neither from its kernels.
 *
 * A line's marks are gathered block by block; they grow with the executions of modules, not with
 * ops. When all lines are read the steps are made of them (model/steps.h says how).
 */
#ifndef TS_FLOW_OUTLINE_STEPS_H
#define TS_FLOW_OUTLINE_STEPS_H

#include "model/block.h"
#include "model/steps.h"

struct outline_mark {
	int64_t start_ps, end_ps;
	uint64_t number;
	uint32_t op; /* of a GPU's execution: its first kernel */
};

/* What one line gave; zeroed at first. */
struct outline_marks {
	struct outline_mark *items;
	size_t nr, cap;
	uint32_t *kernels; /* of a line of ops: how often each op ran */
	bool is_wild;	   /* of a line of ops: its kernels do not show executions */
};

/* False: no memory. */
bool ts_outline_marks_block(struct outline_marks *marks, const struct ts_block *block);
void ts_outline_marks_release(struct outline_marks *marks);

/* MARKS: one a line of the profile; they are sorted. STEPS is zeroed at first. False: no memory. */
bool ts_outline_steps_find(struct ts_profile *profile, struct outline_marks *const *marks,
			   struct ts_steps *steps);

#endif
