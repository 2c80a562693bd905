/* SPDX-License-Identifier: MIT */
/*
 * The gaps analysis' own header: what host threads were seen doing in the longest gaps of the
 * devices. Shared by gaps.c (the pass) and gaps_report.c (the result) only.
 */
#ifndef TS_ANALYSIS_GAPS_H
#define TS_ANALYSIS_GAPS_H

#include "analysis/facts/gaps.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(time)
#include "analysis/kit/needs.h"
#include "model/step_mark.h"

struct gap {
	int64_t start_ps, end_ps;
	int64_t reach_ps; /* the latest end of this gap and those before it */
	uint32_t row;	  /* of the gaps of facts/time.h */
	enum ts_bucket under;
};

/* How well an event says what a gap passed in. On a thread that launches: by where it is, by what it is at
 * before the launch, and by that where it is what the time is put down to. */
enum { GAP_NONE, GAP_WAITS, GAP_ANY, GAP_FRAME, GAP_AWAITED, GAP_CAUSE, GAP_AWAITED_CAUSE };

/* A host event that explains a gap; rank 0: it was not found. */
struct gap_witness {
	int64_t rank;
	uint32_t op, line;
	int64_t start_ps, end_ps;
};

/* Of a gap: what the host was in, and what ended it. Which gap it is stands with it: the gaps that
 * are asked for differ where each host's file is read on a machine of its own. */
struct gap_seen {
	int64_t dur_ps, start_ps;
	uint32_t device;
	struct gap_witness in, ended;
};

struct gaps_state {
	/* of a line */
	struct gap *gaps; /* those of its host, by start */
	size_t nr;
	bool launches, has_launched;
	int64_t launched_ps; /* the latest start of a launch */
	/* of a line and of the sum */
	struct gap_seen *seen; /* by row of the gaps of facts/time.h, in their order */
	size_t nr_rows;
};

/* Is it the mark of a step? It says where the host was, not what it did. */
static inline bool ts_gaps_is_mark(const struct ts_context *ctx, const struct ts_op *op)
{
	return ts_bytes_starts(op->name, "ProfilerStep#") ||
	       ts_step_mark_is_sure(ts_step_mark_of(ctx->profile, op)) ||
	       ts_bytes_is(op->name, ctx->outline->host_steps.made_of);
}

/* gaps_report.c. False: no memory. */
bool ts_gaps_make_facts(const struct gaps_state *sum, const struct ts_context *ctx,
			struct ts_arena *arena, struct ts_gaps_facts *facts);
void ts_gaps_report(const struct ts_gaps_facts *facts, const struct ts_context *ctx,
		    struct ts_result *result);

#endif
