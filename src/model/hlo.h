/* SPDX-License-Identifier: MIT */
/*
 * Compiled modules: module > computation > instruction, with shapes as the compiler laid them out.
 *
 * Filled by read/hlo/; const after that. Everything lives in the arena given to the reader, and
 * arrays are flat: a computation is a range of module->instrs, operands are indices into it.
 * Unknown numbers are TS_HLO_UNKNOWN.
 *
 * What the reader promises: indices are in range; operands and users stay inside the computation; a
 * computation calls only ones that stand before it, 64 deep at most, and walking into every call
 * from every instruction is bounded by a small multiple of the module's size. So a walk over
 * called computations needs no guard against cycles.
 */
#ifndef TS_MODEL_HLO_H
#define TS_MODEL_HLO_H

#include "base/arena.h"
#include "base/map.h"
#include "model/opcode.h"
#include "model/sharding.h"

#define TS_HLO_UNKNOWN (-1)

/* XLA's PrimitiveType numbers (xla/xla_data.proto). */
enum ts_dtype {
	TS_DTYPE_INVALID = 0,
	TS_PRED = 1,
	TS_S8 = 2,
	TS_S16 = 3,
	TS_S32 = 4,
	TS_S64 = 5,
	TS_U8 = 6,
	TS_U16 = 7,
	TS_U32 = 8,
	TS_U64 = 9,
	TS_F16 = 10,
	TS_F32 = 11,
	TS_F64 = 12,
	TS_TUPLE = 13,
	TS_OPAQUE = 14,
	TS_C64 = 15,
	TS_BF16 = 16,
	TS_TOKEN = 17,
	TS_C128 = 18,
	TS_F8E5M2 = 19,
	TS_F8E4M3FN = 20,
	TS_S4 = 21,
	TS_U4 = 22,
	TS_F8E4M3B11FNUZ = 23,
	TS_F8E5M2FNUZ = 24,
	TS_F8E4M3FNUZ = 25,
	TS_S2 = 26,
	TS_U2 = 27,
	TS_F8E4M3 = 28,
	TS_F8E3M4 = 29,
	TS_S1 = 30,
	TS_U1 = 31,
	TS_F4E2M1FN = 32,
	TS_F8E8M0FNU = 33,
	TS_NR_DTYPES
};

enum ts_memory_space {
	TS_SPACE_HBM = 0,
	TS_SPACE_VMEM = 1,
	TS_SPACE_SYNC = 2,
	TS_SPACE_SMEM = 4,
	TS_SPACE_HOST = 5
};

struct ts_tile {
	const int64_t *dims; /* as written: outermost first; TS_TILE_MERGE for '*' */
	uint32_t nr_dims;
};
#define TS_TILE_MERGE INT64_MIN

struct ts_shape {
	enum ts_dtype dtype;
	uint32_t rank;
	const int64_t *dims;
	bool has_layout;
	bool is_dynamic; /* some dimension is a bound, not a size */
	const uint32_t
		*minor_to_major; /* rank of them, each < rank; NULL when has_layout is false */
	const struct ts_tile *tiles;
	uint32_t nr_tiles;
	int64_t element_bits;	      /* 0: the type's own */
	int64_t tail_alignment;	      /* in elements; 1: none */
	uint32_t split_dim;	      /* dimension spread over memories, in chunks of at most ... */
	int64_t split_size;	      /* ... so many; 0: it is not */
	int64_t memory_space;	      /* enum ts_memory_space, or a number of a newer compiler */
	const struct ts_shape *parts; /* of a tuple */
	uint32_t nr_parts;
	uint32_t nr_leaves;  /* of a tuple: the arrays in it, of tuples within too */
	uint32_t first_leaf; /* of a part: the leaves of the parts before it */
};

enum ts_fusion_kind {
	TS_FUSION_NONE,
	TS_FUSION_LOOP,
	TS_FUSION_INPUT,
	TS_FUSION_OUTPUT,
	TS_FUSION_CUSTOM
};

struct ts_window_dim {
	int64_t size, stride, pad_low, pad_high, window_dilation, base_dilation;
	bool reversed;
};

struct ts_conv_dims {
	int64_t in_batch, in_feature, kernel_in_feature, kernel_out_feature, out_batch, out_feature;
	uint32_t nr_spatial;
	const int64_t *in_spatial, *kernel_spatial, *out_spatial;
};

struct ts_dot_dims {
	uint32_t nr_lhs_contracting, nr_rhs_contracting, nr_lhs_batch, nr_rhs_batch;
	const int64_t *lhs_contracting, *rhs_contracting, *lhs_batch, *rhs_batch;
};

/* How the slices of a gather's result, or of a scatter's updates, lie in the array. */
struct ts_slice_dims {
	uint32_t nr_window, nr_inserted;
	const int64_t *window;	 /* of the result or the updates: those of one slice */
	const int64_t *inserted; /* of a scatter's array: those of which a slice has one position */
};

/* Numbers from libtpu's backend_config; TS_HLO_UNKNOWN where one is missing. */
struct ts_hlo_backend {
	int64_t estimated_cycles; /* TensorCore cycles of the whole op */
	uint32_t nr_iteration_bounds, nr_output_bounds;
	const int64_t *iteration_bounds; /* trips a loop */
	const int64_t *output_bounds;	 /* output_window_bounds: the tile of a trip */
	struct ts_bytes emitter;	 /* convolution_algorithm_config.emitter */
	int64_t scoped_vmem_bytes;	 /* used_scoped_memory_configs, memory_space 1 */
	int64_t cost_flops;		 /* custom_call_config.cost_estimate */
	int64_t cost_transcendentals;
	int64_t cost_bytes;
	int64_t known_trips; /* of a while loop, where the compiler wrote it down */
};

/*
 * Where a result may stand: part OUTPUT_LEAF in the memory of part OPERAND_LEAF of an operand (of
 * the entry's parameters, when it is the module that says so). Parts are numbered as they are
 * printed, tuples within tuples too; an array has part 0 alone.
 */
struct ts_hlo_alias {
	uint32_t output_leaf, operand, operand_leaf;
};

struct ts_hlo_frame { /* a line of source, innermost first */
	struct ts_bytes file, function;
	int32_t line, column;
};

struct ts_hlo_instr {
	struct ts_bytes name, opcode_text;
	enum ts_opcode opcode;
	int64_t id;
	struct ts_shape shape;
	uint32_t computation; /* that it stands in */
	uint32_t nr_operands, nr_called, nr_users;
	const uint32_t *operands; /* indices into module->instrs */
	const uint32_t *users;	  /* instructions that have it as operand; once for each time */
	const uint32_t *called;	  /* indices into module->comps */
	enum ts_fusion_kind fusion_kind;
	struct ts_bytes op_name;     /* metadata: jit(f)/jit(main)/dot_general */
	struct ts_bytes source_file; /* of the innermost user frame */
	int32_t source_line;
	struct ts_bytes deduplicated_name;
	const struct ts_hlo_frame *frames; /* the stack, innermost first */
	uint32_t nr_frames;
	struct ts_bytes custom_call_target;
	bool is_host_transfer;
	bool has_side_effect;
	int64_t channel_id; /* TS_HLO_UNKNOWN: none */
	/* of a collective: how many devices work together, and how many are in all its groups; 0: unknown */
	int32_t group_size, nr_devices;
	struct ts_device_list group; /* the devices of its first group; .nr 0: unknown */
	bool is_spmd_generated;	     /* the partitioner put it in, as it says itself */
	const struct ts_hlo_sharding
		*sharding;	  /* of an array, before the partitioner; NULL: none */
	int64_t parameter_number; /* of a parameter */
	int64_t tuple_index;	  /* of a get-tuple-element */
	int64_t feature_group_count, batch_group_count;
	uint32_t nr_window;
	const struct ts_window_dim *window;
	const struct ts_conv_dims *conv;    /* NULL: it is not a convolution (cuDNN's calls are) */
	const struct ts_dot_dims *dot;	    /* of cuBLAS calls too */
	const struct ts_slice_dims *slices; /* of gathers and scatters, else NULL */
	bool highest_precision;		    /* an operand asks for PrecisionConfig.HIGHEST */
	bool has_literal;		    /* it is a constant of one whole number, ... */
	int64_t literal;		    /* ... this one */
	struct ts_bytes direction;	    /* of a compare: LT, LE, GT, ... */
	uint32_t nr_dimensions; /* of reduce, transpose, broadcast ...; fft: its lengths */
	const int64_t *dimensions;
	uint32_t nr_aliases; /* output_to_operand_aliasing of fusions and custom calls */
	const struct ts_hlo_alias *aliases;
	uint32_t nr_slice_sizes;    /* dynamic_slice_sizes */
	const int64_t *slice_sizes; /* of a gather: of one slice */
	struct ts_hlo_backend backend;
};

struct ts_hlo_comp {
	struct ts_bytes name;
	int64_t id;
	uint32_t first_instr, nr_instrs;
	uint32_t root; /* index into module->instrs */
	uint32_t nr_params;
	const uint32_t *params; /* by parameter number; TS_NONE where there is none */
	bool is_fusion;
};

/*
 * The buffer assignment, when the proto has one: where the compiler put what the ops make.
 *
 * A logical buffer is one part of an instruction's result. An allocation is a piece of memory; of
 * its buffers each stands at an offset, and those that are not needed at one time may share bytes.
 * A heap trace is the order in which the compiler took and freed the buffers of one allocation.
 */
struct ts_hlo_buffer {
	int64_t id, nr_bytes, space; /* space: enum ts_memory_space (XLA's color) */
	uint32_t instr;		     /* that makes it, or TS_NONE */
	uint32_t leaf;		     /* TS_NONE: the table of a tuple */
};

struct ts_hlo_assigned {
	uint32_t buffer; /* index into buffers */
	int64_t offset, nr_bytes;
};

struct ts_hlo_allocation {
	int64_t nr_bytes, space;
	bool is_parameter, is_output, is_constant, is_thread_local;
	uint32_t first_assigned, nr_assigned;
};

enum ts_heap_kind { TS_HEAP_ALLOC, TS_HEAP_FREE, TS_HEAP_SHARE };
struct ts_hlo_heap_event {
	enum ts_heap_kind kind;
	uint32_t buffer; /* index into buffers */
	uint32_t with;	 /* of TS_HEAP_SHARE: the buffer whose memory it takes */
	uint32_t instr;	 /* that was being placed, or TS_NONE */
};

struct ts_hlo_heap {
	uint32_t first_event, nr_events;
};

struct ts_hlo_buffers {
	bool present;
	/* Sums over the allocations of all memory spaces. */
	int64_t argument_bytes, output_bytes, temp_bytes, constant_bytes;
	const struct ts_hlo_buffer *buffers;
	const struct ts_hlo_allocation *allocations;
	const struct ts_hlo_assigned *assigned;
	const struct ts_hlo_heap *heaps;
	const struct ts_hlo_heap_event *events;
	uint32_t nr_buffers, nr_allocations, nr_assigned, nr_heaps, nr_events;
};

struct ts_hlo_module {
	struct ts_bytes name;
	uint64_t program_id;
	struct ts_bytes file; /* for messages: where it came from */
	uint32_t nr_comps, nr_instrs;
	struct ts_hlo_comp *comps;
	struct ts_hlo_instr *instrs;
	uint32_t entry;	     /* index into comps */
	bool is_scheduled;   /* entry's instrs stand in the order of execution */
	uint32_t nr_aliases; /* results that take a parameter's memory: donated arguments */
	const struct ts_hlo_alias *aliases;
	struct ts_hlo_buffers buffers;
	/* As XLA's partitioner got it and left it, where dumps of both were given (run/dumps.h); or NULL */
	const struct ts_hlo_module *unpartitioned, *partitioned;
	struct ts_bytes proto; /* the bytes it was made from */
	bool is_bare;	       /* they are an HloModuleProto, without an HloProto around it */
};

/* Index of the instruction of this name in the module, or UINT32_MAX. Linear: for many look-ups
 * use a map of your own. */
uint32_t ts_hlo_find(const struct ts_hlo_module *module, struct ts_bytes name);
/* The instruction that shows where the module comes from: the entry's root, else the first one with a line
 * of source; NULL: there is no source. */
const struct ts_hlo_instr *ts_hlo_sourced(const struct ts_hlo_module *module);
/* The array that a collective gives: of a start it is behind the operands. */
const struct ts_shape *ts_hlo_given(const struct ts_hlo_instr *instr);
/* An instruction of a module of the profile, as a key of maps. */
static inline uint64_t ts_instr_key(uint32_t module, uint32_t instr)
{
	return (uint64_t)module << 32 | instr;
}
/* What variants of one module share: "jit_step.12(345)" and "jit_step_" are "jit_step". */
struct ts_bytes ts_module_stem(struct ts_bytes name);

/* Types. Names as XLA prints them (bf16, f8e4m3fn); bits of one element, 0 for tuples and tokens. */
const char *ts_dtype_name(enum ts_dtype dtype);
unsigned ts_dtype_bits(enum ts_dtype dtype);

/* Sizes. Saturate at INT64_MAX. A tuple is the sum of its parts (without a pointer table). */
int64_t ts_shape_elements(const struct ts_shape *shape);
int64_t ts_shape_logical_bytes(const struct ts_shape *shape); /* elements x bits, no padding */
int64_t ts_shape_stored_dim(const struct ts_shape *shape, uint32_t dim); /* with what tiles add */
int64_t ts_shape_bytes(const struct ts_shape *shape); /* as laid out: ShapeUtil::ArraySize (xla) */
/* Makes it a tuple of PARTS, which are complete and live as long. For those who make shapes. */
void ts_shape_set_parts(struct ts_shape *shape, struct ts_shape *parts, uint32_t nr);
/* The arrays (and tokens) in it: one, or those of a tuple and the tuples within. */
uint32_t ts_shape_leaves(const struct ts_shape *shape);
const struct ts_shape *ts_shape_leaf(const struct ts_shape *shape, uint32_t leaf); /* or NULL */
/*
 * The number of the part at an index path, as XLA writes {1,0}; TS_NONE: it is a tuple, or not a
 * part.
 */
uint32_t ts_shape_leaf_at(const struct ts_shape *shape, const int64_t *path, size_t n);
/* Are they arrays of the same dimensions? Types and layouts do not count. */
bool ts_shape_same_dims(const struct ts_shape *shape, const struct ts_shape *other);
/* Does any part lie in this memory space? */
bool ts_shape_in_space(const struct ts_shape *shape, int64_t space);

/* The shape as XLA prints it: bf16[8,128]{1,0:T(8,128)(2,1)S(1)}. */
struct ts_buf;
void ts_shape_print(struct ts_buf *out, const struct ts_shape *shape);
/* The same, kept in ARENA; .p NULL: no memory. */
struct ts_bytes ts_shape_text(struct ts_arena *arena, const struct ts_shape *shape);

/*
 * Parses a shape as XLA prints it ("f32[2,3]{1,0:T(8,128)}", tuples too) into ARENA; TS_FORMAT: the text
 * is something else. *REST, when not NULL, gets what follows the shape.
 */
enum ts_status ts_shape_parse(struct ts_arena *arena, struct ts_bytes text, struct ts_shape *shape,
			      struct ts_bytes *rest, struct ts_error *err);

#endif
