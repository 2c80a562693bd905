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

struct gap {
	int64_t start_ps, end_ps;
	int64_t reach_ps; /* the latest end of this gap and those before it */
	uint32_t row;	  /* of the gaps of facts/time.h */
	enum ts_host_activity under;
};

/* A host event that explains a gap; rank 0: none was found. */
struct gap_witness {
	int rank;
	uint32_t op, line;
	int64_t start_ps, end_ps;
};

struct gaps_state {
	struct gap *gaps; /* of a line: those of its host, by start */
	size_t nr;
	struct gap_witness *in;	   /* by row: what the host was in */
	struct gap_witness *ended; /* by row: what ended the gap */
	size_t nr_rows;
};

/* gaps_report.c. False: no memory. */
bool gaps_facts(const struct gaps_state *sum, const struct ts_context *ctx, struct ts_arena *arena,
		struct ts_gaps_facts *facts);
void gaps_report(const struct ts_gaps_facts *facts, const struct ts_context *ctx,
		 struct ts_result *result);

#endif
