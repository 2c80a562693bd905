/*
 * The names that the user's program gave to stretches of its threads, and the steps it marked there
 * (model/scopes.h, model/steps.h). A line's scopes are gathered block by block; they grow with the
 * names, and with the marked steps.
 */
#ifndef TS_FLOW_OUTLINE_SCOPES_H
#define TS_FLOW_OUTLINE_SCOPES_H

#include "model/block.h"
#include "model/outline.h"

struct scope_mark {
	uint32_t op;
	int64_t start_ps, end_ps;
	uint64_t number; /* step_num; TS_NO_NUMBER: it does not mark a step */
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
	struct ts_map rows; /* of an op: its scope */
	bool is_python;	    /* the thread ran Python */
	int64_t first_ps, last_ps;
	bool is_seen; /* it had events */
};

/* Whose name each op of the profile is: enum ts_host_owner. NULL: no memory. */
uint8_t *ts_outline_owners(const struct ts_profile *profile);

/* False: no memory. */
bool ts_outline_scopes_block(struct outline_scopes *scopes, const struct ts_block *block,
			     const uint8_t *owners);
void ts_outline_scopes_release(struct outline_scopes *scopes);

/* LINES: one a line of the profile; they are used up. False: no memory. */
bool ts_outline_scopes_find(const struct ts_profile *profile, struct outline_scopes *const *lines,
			    struct ts_outline *outline);

#endif
