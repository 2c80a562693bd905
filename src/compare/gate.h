/* SPDX-License-Identifier: MIT */
/*
 * A gate: what must not be, for CI. `step_time_ms.mean > 150`, `step_time_ms.median > baseline * 1.05`.
 *
 *	GATE    = PATH OP LIMIT
 *	OP      = > | >= | < | <= | == | !=
 *	LIMIT   = NUMBER | baseline [(* | + | -) NUMBER [%]]
 *
 * PATH is a name of compare/measured.h; baseline is the same figure of the first run. baseline + 5 % and
 * baseline * 105 % are baseline * 1.05. A gate fails when what it says is so, and when that cannot be
 * known. Nothing is allocated: a gate looks into its text.
 */
#ifndef TS_COMPARE_GATE_H
#define TS_COMPARE_GATE_H

#include "compare/measured.h"

enum ts_relation { TS_ABOVE, TS_AT_LEAST, TS_BELOW, TS_AT_MOST, TS_EQUAL, TS_UNEQUAL };

struct ts_gate {
	struct ts_bytes text, path;
	enum ts_relation relation;
	bool of_baseline;
	char sign;     /* behind baseline: * + -, or 0 */
	double number; /* of a percentage, its hundredth */
	bool is_share; /* it was a percentage */
};

/* TS_USAGE: *AT is the offset of what is wrong, the story what should be there. */
enum ts_status ts_gate_parse(const char *text, struct ts_gate *gate, size_t *at,
			     struct ts_error *err);

enum ts_gate_state {
	TS_GATE_HOLDS,	 /* what it says is not so: good */
	TS_GATE_FAILED,	 /* it is so */
	TS_GATE_UNKNOWN, /* the figure, or the baseline's, is not known here */
	TS_GATE_NO_NAME, /* nothing in the report has this name */
};

struct ts_gate_verdict {
	enum ts_gate_state state;
	double value, limit; /* NaN unknown */
};

/* A NaN baseline is an unknown one. */
struct ts_gate_verdict ts_gate_judge(const struct ts_gate *gate, bool has_name, double value,
				     double baseline);
const char *ts_gate_state_name(enum ts_gate_state state);

#endif
