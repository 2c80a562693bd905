/* SPDX-License-Identifier: MIT */
/*
 * Steps from the marks of step and module lines, and where a GPU has neither from its kernels.
 *
 * When all lines are read (run/outline_marks.h) the steps are made of them (model/steps.h says how).
 */
#ifndef TS_RUN_OUTLINE_STEPS_H
#define TS_RUN_OUTLINE_STEPS_H

#include "base/map.h"
#include "run/outline_marks.h"
#include "model/step_pattern.h"

/* Modules by number: variants of one name have one. */
struct outline_symbols {
	uint32_t *of_op; /* TS_NONE: not asked yet */
	struct ts_bytes *names;
	size_t nr, cap;
	struct ts_strmap by_name;
};

/* What the steps of each device are made of. */
struct ts_outline_steps {
	struct ts_profile *profile;
	struct {		 /* of hosts' threads (run/outline_ranges.h) */
		uint8_t mark;	 /* enum ts_step_mark; TS_MARK_NONE: steps are no ranges */
		uint32_t series; /* the one that marks steps, */
		uint32_t *of_op; /* and of each op its own */
	} ranges;
	struct outline_marks *const *marks; /* one a line of the profile */
	uint32_t *lines; /* of each device: the one that shows its steps, or TS_NONE */
	struct outline_symbols symbols;
	struct ts_step_pattern pattern;
};

/* MARKS: one a line of the profile. Where one marks steps nothing is inferred from executions: theirs are given back. But
 * for those of hosts' threads that the user named, which go before all others. */
void ts_outline_marks_spare(const struct ts_profile *profile, struct outline_marks *const *marks);

/* Looks at all MARKS, which are sorted and stay the caller's. STEPS is zeroed at first, and gets devices without steps.
 * It is closed in any case. */
enum ts_status ts_outline_steps_open(struct ts_outline_steps *finding, struct ts_profile *profile,
				     struct outline_marks *const *marks, struct ts_steps *steps,
				     struct ts_error *err);
/* The steps of a device, which has none; they are not paired yet. */
enum ts_status ts_outline_steps_make(struct ts_outline_steps *finding, uint32_t device,
				     struct ts_steps *steps, struct ts_error *err);
void ts_outline_steps_close(struct ts_outline_steps *finding);

/* All of it; MARKS are given back as they are taken. */
enum ts_status ts_outline_steps_find(struct ts_profile *profile, struct outline_marks *const *marks,
				     struct ts_steps *steps, struct ts_error *err);

#endif
