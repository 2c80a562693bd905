/* SPDX-License-Identifier: MIT */
/*
 * The rematerialization analysis' own header: between the rows (remat.c) and what the compiled
 * module says of them (remat_module.c). No other analysis includes this.
 */
#ifndef TS_ANALYSIS_REMAT_H
#define TS_ANALYSIS_REMAT_H

#define TS_NEEDS(X) X(ops)
#include "analysis/kit/needs.h"

/* A value of the forward pass, by where in the program it is computed. */
struct remat_value {
	uint64_t key;
	uint32_t instr, kernel; /* the op it is, or stands in */
};

/* One module, indexed to be asked about its recomputed ops. */
struct remat_module {
	const struct ts_hlo_module *module;
	uint32_t *kernel_of;	    /* of each computation: the fusion that holds it, or TS_NONE */
	struct remat_value *values; /* of the forward pass, by key */
	size_t nr_values;
	struct ts_strmap names;
	uint32_t *queue; /* scratch: one an instruction */
	uint32_t *seen;	 /* likewise: the round in which it was met */
	uint32_t round;
};

/* When it fails, release it all the same. */
enum ts_status ts_remat_module_init(struct remat_module *remat, const struct ts_hlo_module *module,
				    struct ts_error *err);
void ts_remat_module_release(struct remat_module *remat);

bool ts_remat_is(const struct ts_hlo_instr *instr);
bool ts_remat_is_name(const struct ts_hlo_instr *instr); /* no work: a name, a view, a copy */
/* The op of the forward pass that INSTR repeats, or TS_NONE. */
uint32_t ts_remat_original(const struct remat_module *remat, uint32_t instr);
/* Is what it computes used by an op that is not recomputed itself? */
bool ts_remat_is_used(struct remat_module *remat, uint32_t instr);
int64_t ts_remat_bytes(
	const struct ts_hlo_instr *instr); /* of its result; without marks and tokens */

/* The checkpointed block: its scope up to "rematted_computation", or the scope it stands in. */
struct ts_bytes ts_remat_region(struct ts_bytes scope);

#endif
