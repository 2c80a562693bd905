/* SPDX-License-Identifier: MIT */
/*
 * The names that the user's program gave to stretches of its threads, and the steps it marked there
 * (model/scopes.h, model/steps.h). A line's scopes are gathered block by block; they grow with the
 * names, and with the marked steps.
 */
#ifndef TS_RUN_OUTLINE_SCOPES_H
#define TS_RUN_OUTLINE_SCOPES_H

#include "model/block.h"
#include "model/outline.h"

struct scope_mark {
	uint32_t op, parent; /* parent: of the scope around it; TS_NONE: none so far */
	size_t nr_inside;    /* of the open ones: so many in front of it are inside of it */
	int64_t start_ps, end_ps;
	uint64_t number; /* step_num; TS_NO_NUMBER: it does not mark a step */
	int64_t part_ps[TS_NR_PARTS];
};

struct scope_level {
	int64_t part_ps[TS_NR_PARTS];
};

struct scope_marks {
	struct scope_mark *items;
	size_t nr, cap;
};

/* What one line gave; zeroed at first. */
struct outline_scopes {
	struct scope_marks open; /* what an event of the runtime may still turn out to contain */
	struct scope_marks steps;
	struct ts_scopes scopes;
	struct ts_map rows;	    /* of an op: its scope */
	bool is_python;		    /* the thread ran Python */
	struct scope_level *levels; /* by depth: what the events did whose parent is still open */
	size_t nr_levels, cap_levels;
	int64_t first_ps, last_ps;
	bool is_seen; /* it had events */
};

/* What each op of the profile is. */
struct outline_names {
	uint8_t *owners; /* enum ts_host_owner */
	uint8_t *parts;	 /* enum ts_scope_part */
	uint8_t *marks;	 /* enum ts_step_mark */
};

/* ACTIVITY: of each op, enum ts_host_activity. */
enum ts_status ts_outline_names_init(struct outline_names *names, const struct ts_profile *profile,
				     const uint8_t *activity, struct ts_error *err);
void ts_outline_names_release(struct outline_names *names);

/* Of an event that marks a step; TS_NO_NUMBER: it does not. Of ranges that have no numbers TS_STEP_BY_PLACE. */
#define TS_STEP_BY_PLACE (TS_NO_NUMBER - 1)
uint64_t ts_outline_step_number(const struct ts_block *block, size_t i,
				const struct outline_names *names);

enum ts_status ts_outline_scopes_block(struct outline_scopes *scopes, const struct ts_block *block,
				       const struct outline_names *names, struct ts_error *err);
/* Behind the last block: nothing will contain what is open. */
enum ts_status ts_outline_scopes_end(struct outline_scopes *scopes,
				     const struct ts_profile *profile, struct ts_error *err);
void ts_outline_scopes_release(struct outline_scopes *scopes);

/* LINES: one a line of the profile; they are used up. */
enum ts_status ts_outline_scopes_find(const struct ts_profile *profile,
				      struct outline_scopes *const *lines,
				      struct ts_outline *outline, struct ts_error *err);

#endif
