/* SPDX-License-Identifier: MIT */
/*
 * The padding analysis' own header, shared by padding.c (the pass and its ops), padding_bytes.c (how
 * arrays are stored), padding_arrays.c (the table of arrays) and padding_advice.c (what it suggests)
 * only.
 */
#ifndef TS_ANALYSIS_PADDING_H
#define TS_ANALYSIS_PADDING_H

#include "analysis/facts/ops.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(ops) X(time)
#include "analysis/kit/needs.h"
#include "model/op_work.h"

/* What bounds an op, as far as padding can matter. */
enum padding_bound { PADDING_UNKNOWN, PADDING_NEITHER, PADDING_BYTES, PADDING_ARRAY };

/* An op, of the run or of a module alone. Shares 0..1; NaN unknown. */
struct padding_op {
	const struct ts_op *op;		    /* NULL: from a module alone */
	const struct ts_hlo_module *module; /* NULL: not in the profile */
	uint32_t instr;			    /* with .module */
	struct ts_shape shape;		    /* without .module: the result, when .has_shape */
	bool has_shape;
	int dim;		 /* of the matrix unit; 0 unknown */
	int64_t self_ps;	 /* -1 from a module alone */
	struct ts_padding bytes; /* of its arrays in HBM */
	struct ts_op_work work;
	double bytes_share, flops_share; /* wasted */
	enum padding_bound bound;
	double waste_ps; /* NaN: it did not run, or what bounds it is unknown */
};

/* Of such an op, what puts the ops in their order: there may be very many. The op is worked out again where it is
 * shown. */
struct padding_row {
	uint32_t op;		/* index into profile->ops; TS_NONE: from a module alone */
	uint32_t module, instr; /* then */
	bool wastes;
	double waste_ps, wasted_bytes, flops_share;
};

struct padding_list {
	struct padding_row *items; /* those that waste something */
	size_t nr, cap;
	size_t nr_all, nr_loose; /* with the others; without a compiled module */
	bool is_judged;		 /* of some it is known what they waste */
};

/* padding_bytes.c: the result's shape of an op without a module. False: the profile does not say it. */
bool ts_padding_shape(struct ts_arena *scratch, const struct ts_op *op, struct ts_shape *shape);
/* Bytes of an array in HBM; all parts of a tuple that lie there. */
struct ts_padding ts_padding_of_shape(const struct ts_shape *shape);
/* How a dimension is stored: counted from the minor-most, 0, in the layout's order. */
struct ts_stored {
	int64_t size, stored; /* stored: rounded up to the tile */
	int64_t unit;	      /* of the tile; 1: none */
};
struct ts_stored ts_padding_stored(const struct ts_shape *shape, uint32_t minor);

/* padding_advice.c: what to change of an op so that it wastes less of a resource, PADDING_BYTES or PADDING_ARRAY. It gains
 * something where that is what bounds the op. */
struct ts_padding_hint ts_padding_hint(struct ts_result *result, const struct padding_op *row,
				       enum padding_bound resource);
/* No padded array of it takes more than the smallest array would. */
bool ts_padding_is_small(const struct padding_op *row);

/* padding_arrays.c: the arrays of the modules that the noted ops belong to (of all, when nothing was measured), and
 * those ops' own that have no module. NULL: no memory. */
struct padding_arrays;
struct padding_arrays *ts_padding_arrays_new(const struct ts_context *ctx, bool measured);
void ts_padding_arrays_free(struct padding_arrays *arrays);
enum ts_status ts_padding_arrays_note(struct padding_arrays *arrays, const struct padding_op *op,
				      struct ts_error *err);
/* Adds the table "arrays", and sums them up. */
enum ts_status ts_padding_arrays_put(struct padding_arrays *arrays, struct ts_result *result,
				     struct ts_padding *sum, struct ts_error *err);

#endif
