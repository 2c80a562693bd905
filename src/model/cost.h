/* SPDX-License-Identifier: MIT */
/*
 * What a compiled op costs, worked out from the module alone: FLOPs and bytes as XLA's
 * HloCostAnalysis counts them (openxla/xla, xla/service/hlo_cost_analysis.cc), the matrix products
 * inside, and what tiles add.
 *
 * Unknown is TS_HLO_UNKNOWN, and one unknown part makes the sum unknown only where all other parts
 * are unknown too (an opaque custom call among known ops: see .has_unknown).
 */
#ifndef TS_MODEL_COST_H
#define TS_MODEL_COST_H

#include "model/hlo.h"

/* Where bytes lie: by a layout's memory space, or by the profile. */
enum ts_memory {
	TS_MEMORY_HBM,	 /* S(0) */
	TS_MEMORY_VMEM,	 /* S(1) */
	TS_MEMORY_CMEM,	 /* TPU v4; no layout names it */
	TS_MEMORY_HOST,	 /* S(5) */
	TS_MEMORY_OTHER, /* semaphores, scalars */
	TS_NR_MEMORIES
};
const char *ts_memory_name(enum ts_memory memory); /* HBM, VMEM, CMEM, host, other */
enum ts_memory ts_shape_memory(const struct ts_shape *shape);

struct ts_cost {
	int64_t flops; /* logical elements: padding does not count */
	int64_t transcendentals;
	int64_t bytes_accessed; /* padded, as laid out; VMEM and HBM alike */
	int64_t hbm_bytes;	/* the part whose layout lies in HBM (memory space 0) */
	int64_t read_bytes[TS_NR_MEMORIES], written_bytes[TS_NR_MEMORIES]; /* the same by memory */
	bool has_unknown; /* holds a custom call without a cost estimate */
};

/*
 * One execution of the op; a fusion, call, while (one trip) or conditional (the most expensive
 * branch) by what is inside.
 */
struct ts_cost ts_hlo_cost(const struct ts_hlo_module *module, uint32_t instr);
/* The whole entry computation, as libtpu's cost_analysis() reports it. */
struct ts_cost ts_hlo_module_cost(const struct ts_hlo_module *module);

/* One element of the result comes of one element of each operand: add, convert, copy. */
bool ts_hlo_is_elementwise(const struct ts_hlo_instr *instr);

/* Bytes that INSTR really reads of its OPERANDth operand, an array: of a fusion what it reads
 * inside, of a slice or gather the part that it takes, of an update in place nothing. */
int64_t ts_hlo_read_bytes(const struct ts_hlo_module *module, uint32_t instr, uint32_t operand);

/* A matrix product on the matrix unit: batch x (m x k) x (k x n). */
struct ts_matmul {
	uint32_t instr; /* the convolution or dot itself, maybe inside a fusion */
	int64_t batch, m, n, k;
	int64_t flops; /* 2 x batch x m x n x k; less where taps hang over a border */
	enum ts_dtype lhs, rhs, out;
	bool highest_precision; /* f32 in six bf16 passes */
	int64_t groups;	 /* of a convolution's features, each by itself, in .batch too; 1: none */
	int64_t taps;	 /* positions of a convolution's kernel, in .k; 1: none */
	bool by_channel; /* depthwise: a filter for each channel */
};

/*
 * The products inside an op (fusions and calls entered, while bodies not). Returns their number;
 * writes at most MAX of them, the largest by flops first. Depthwise convolutions are none: their
 * channels lie on lanes. The emitter of the op says which they are; without one, their shape.
 */
size_t ts_hlo_matmuls(const struct ts_hlo_module *module, uint32_t instr, struct ts_matmul *out,
		      size_t max);

size_t ts_hlo_depthwise(const struct ts_hlo_module *module,
			uint32_t instr); /* how many there are */

/* The share of a matrix unit of DIM x DIM that a product can fill at best, 0..1, and the factors it
 * is made of. The better of the two operand orders is taken (XLA may swap them). */
struct ts_fill {
	double share; /* m_share x n_share x k_share */
	double m_share, n_share, k_share;
};
struct ts_fill ts_matmul_fill(const struct ts_matmul *product, int dim);

/* Entry parameters and outputs, as allocated and without padding. Sums of ts_shape_bytes. */
struct ts_module_bytes {
	int64_t parameter_bytes, parameter_logical_bytes;
	int64_t output_bytes, output_logical_bytes;
};
struct ts_module_bytes ts_hlo_module_bytes(const struct ts_hlo_module *module);

/*
 * What tiles add to the arrays an op reads and writes in HBM (its operands and its result, not the
 * inside of a fusion).
 */
struct ts_padding {
	int64_t logical_bytes, allocated_bytes;
};
struct ts_padding ts_hlo_padding(const struct ts_hlo_module *module, uint32_t instr);

#endif
