/* SPDX-License-Identifier: MIT */
/*
 * Kernels of a compiled module, and the ops that make the arrays that they read, by whatever names.
 *
 * A kernel is an instruction that runs by itself: of the entry, of a loop's body or of a branch
 * (not inside a fusion, see ts_hlo_inner_comps), and not only a name.
 */
#ifndef TS_MODEL_KERNELS_H
#define TS_MODEL_KERNELS_H

#include "model/hlo.h"

bool ts_hlo_is_name(const struct ts_hlo_instr *instr);	  /* no work: a name, a literal, a view */
bool ts_hlo_is_control(const struct ts_hlo_instr *instr); /* its ops stand in what it calls */
bool ts_hlo_is_done(const struct ts_hlo_instr *instr);	  /* the end of an asynchronous op */

/* Of each computation: the op that runs it, or TS_NONE. From malloc; NULL: no memory. */
uint32_t *ts_hlo_callers(const struct ts_hlo_module *module);

#define TS_HLO_WHOLE (-1)
struct ts_hlo_place {
	uint32_t instr;
	int64_t leaf; /* of its tuple; TS_HLO_WHOLE: it is not a tuple */
};
/* NULL: there is not an array. */
const struct ts_shape *ts_hlo_place_shape(const struct ts_hlo_module *module,
					  struct ts_hlo_place place);

/* An array traced back: the first three are given, the last two found on the way. */
struct ts_hlo_trace {
	const struct ts_hlo_module *module;
	const uint32_t *caller;
	struct ts_hlo_place place;
	int fuel;     /* ends what goes in circles */
	bool crosses; /* into or out of a loop, branch or call */
	bool carried; /* from a loop's trip to the next */
};
/*
 * To the op that makes the array. False: it is not made by an op (then .place is where the search
 * ended: an argument, a constant), or that is unknown.
 */
bool ts_hlo_trace_back(struct ts_hlo_trace *trace);

#endif
