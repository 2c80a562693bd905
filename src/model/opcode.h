/* SPDX-License-Identifier: MIT */
/*
 * What an op is called: XLA's opcodes (TS_OPCODE_), the other words that hlo_category has from XLA and libtpu
 * (TS_XLA_), and Kineto's categories (TS_KINETO_; FIRST: of its first years). Readers look a text up once;
 * everybody else compares the enum. TS_OPCODE_OTHER is a word of a newer writer: its text stands beside the enum.
 */
#ifndef TS_MODEL_OPCODE_H
#define TS_MODEL_OPCODE_H

#include "base/bytes.h"

/* From xla/hlo/ir/hlo_opcode.h, HloInstruction::ToCategory and libkineto/src/ActivityType.cpp, in the order of the bytes. */
/* clang-format off */
#define TS_OPCODES(X) \
	X(TS_KINETO_FIRST_KERNEL, "Kernel") \
	X(TS_KINETO_FIRST_MEMCPY, "Memcpy") \
	X(TS_KINETO_FIRST_MEMSET, "Memset") \
	X(TS_KINETO_FIRST_OPERATOR, "Operator") \
	X(TS_KINETO_FIRST_RUNTIME, "Runtime") \
	X(TS_OPCODE_ABS, "abs") \
	X(TS_OPCODE_ACOS, "acos") \
	X(TS_OPCODE_ACOSH, "acosh") \
	X(TS_OPCODE_ADD, "add") \
	X(TS_OPCODE_ADD_DEPENDENCY, "add-dependency") \
	X(TS_OPCODE_AFTER_ALL, "after-all") \
	X(TS_OPCODE_ALL_GATHER, "all-gather") \
	X(TS_OPCODE_ALL_GATHER_DONE, "all-gather-done") \
	X(TS_OPCODE_ALL_GATHER_START, "all-gather-start") \
	X(TS_OPCODE_ALL_REDUCE, "all-reduce") \
	X(TS_OPCODE_ALL_REDUCE_DONE, "all-reduce-done") \
	X(TS_OPCODE_ALL_REDUCE_START, "all-reduce-start") \
	X(TS_OPCODE_ALL_TO_ALL, "all-to-all") \
	X(TS_XLA_ALL_TO_ALL_DONE, "all-to-all-done") \
	X(TS_XLA_ALL_TO_ALL_START, "all-to-all-start") \
	X(TS_OPCODE_AND, "and") \
	X(TS_OPCODE_ASIN, "asin") \
	X(TS_OPCODE_ASINH, "asinh") \
	X(TS_OPCODE_ASYNC_DONE, "async-done") \
	X(TS_OPCODE_ASYNC_START, "async-start") \
	X(TS_OPCODE_ASYNC_UPDATE, "async-update") \
	X(TS_OPCODE_ATAN, "atan") \
	X(TS_OPCODE_ATAN2, "atan2") \
	X(TS_OPCODE_ATANH, "atanh") \
	X(TS_OPCODE_BATCH_NORM_GRAD, "batch-norm-grad") \
	X(TS_OPCODE_BATCH_NORM_INFERENCE, "batch-norm-inference") \
	X(TS_OPCODE_BATCH_NORM_TRAINING, "batch-norm-training") \
	X(TS_OPCODE_BITCAST, "bitcast") \
	X(TS_OPCODE_BITCAST_CONVERT, "bitcast-convert") \
	X(TS_OPCODE_BROADCAST, "broadcast") \
	X(TS_OPCODE_CALL, "call") \
	X(TS_OPCODE_CBRT, "cbrt") \
	X(TS_OPCODE_CEIL, "ceil") \
	X(TS_OPCODE_CHOLESKY, "cholesky") \
	X(TS_OPCODE_CLAMP, "clamp") \
	X(TS_OPCODE_COLLECTIVE_BROADCAST, "collective-broadcast") \
	X(TS_OPCODE_COLLECTIVE_PERMUTE, "collective-permute") \
	X(TS_OPCODE_COLLECTIVE_PERMUTE_DONE, "collective-permute-done") \
	X(TS_OPCODE_COLLECTIVE_PERMUTE_START, "collective-permute-start") \
	X(TS_OPCODE_COLLECTIVE_REDUCE, "collective-reduce") \
	X(TS_OPCODE_COMPARE, "compare") \
	X(TS_OPCODE_COMPLEX, "complex") \
	X(TS_OPCODE_CONCATENATE, "concatenate") \
	X(TS_KINETO_CONCURRENT_KERNEL, "concurrent_kernel") \
	X(TS_OPCODE_CONDITIONAL, "conditional") \
	X(TS_OPCODE_CONSTANT, "constant") \
	X(TS_OPCODE_CONVERT, "convert") \
	X(TS_OPCODE_CONVOLUTION, "convolution") \
	X(TS_OPCODE_COPY, "copy") \
	X(TS_OPCODE_COPY_DONE, "copy-done") \
	X(TS_OPCODE_COPY_START, "copy-start") \
	X(TS_OPCODE_COSH, "cosh") \
	X(TS_OPCODE_COSINE, "cosine") \
	X(TS_OPCODE_COUNT_LEADING_ZEROS, "count-leading-zeros") \
	X(TS_KINETO_CPU_OP, "cpu_op") \
	X(TS_KINETO_CUDA_DRIVER, "cuda_driver") \
	X(TS_KINETO_CUDA_RUNTIME, "cuda_runtime") \
	X(TS_KINETO_CUDA_SYNC, "cuda_sync") \
	X(TS_XLA_CUSTOM_FUSION, "custom fusion") \
	X(TS_OPCODE_CUSTOM_CALL, "custom-call") \
	X(TS_XLA_DATA_FORMATTING, "data formatting") \
	X(TS_OPCODE_DIVIDE, "divide") \
	X(TS_OPCODE_DOMAIN, "domain") \
	X(TS_OPCODE_DOT, "dot") \
	X(TS_OPCODE_DYNAMIC_RESHAPE, "dynamic-reshape") \
	X(TS_OPCODE_DYNAMIC_SLICE, "dynamic-slice") \
	X(TS_XLA_DYNAMIC_SLICE_DONE, "dynamic-slice-done") \
	X(TS_XLA_DYNAMIC_SLICE_START, "dynamic-slice-start") \
	X(TS_OPCODE_DYNAMIC_UPDATE_SLICE, "dynamic-update-slice") \
	X(TS_XLA_DYNAMIC_UPDATE_SLICE_DONE, "dynamic-update-slice-done") \
	X(TS_XLA_DYNAMIC_UPDATE_SLICE_START, "dynamic-update-slice-start") \
	X(TS_KINETO_DYNAMO_TIMED, "dynamo_timed") \
	X(TS_OPCODE_ERF, "erf") \
	X(TS_OPCODE_EXPONENTIAL, "exponential") \
	X(TS_OPCODE_EXPONENTIAL_MINUS_ONE, "exponential-minus-one") \
	X(TS_OPCODE_FFT, "fft") \
	X(TS_OPCODE_FLOOR, "floor") \
	X(TS_OPCODE_FUSION, "fusion") \
	X(TS_OPCODE_GATHER, "gather") \
	X(TS_OPCODE_GET_DIMENSION_SIZE, "get-dimension-size") \
	X(TS_OPCODE_GET_TUPLE_ELEMENT, "get-tuple-element") \
	X(TS_KINETO_GLOW_RUNTIME, "glow_runtime") \
	X(TS_KINETO_GPU_MEMCPY, "gpu_memcpy") \
	X(TS_KINETO_GPU_MEMSET, "gpu_memset") \
	X(TS_KINETO_GPU_USER_ANNOTATION, "gpu_user_annotation") \
	X(TS_KINETO_HIP_RUNTIME, "hip_runtime") \
	X(TS_XLA_HOST_RECV, "host recv") \
	X(TS_XLA_HOST_RECV_DONE, "host recv-done") \
	X(TS_XLA_HOST_SEND, "host send") \
	X(TS_XLA_HOST_SEND_DONE, "host send-done") \
	X(TS_OPCODE_IMAG, "imag") \
	X(TS_OPCODE_INFEED, "infeed") \
	X(TS_XLA_INPUT_FUSION, "input fusion") \
	X(TS_OPCODE_IOTA, "iota") \
	X(TS_OPCODE_IS_FINITE, "is-finite") \
	X(TS_KINETO_KERNEL, "kernel") \
	X(TS_OPCODE_LOG, "log") \
	X(TS_OPCODE_LOG_PLUS_ONE, "log-plus-one") \
	X(TS_OPCODE_LOGISTIC, "logistic") \
	X(TS_XLA_LOOP_FUSION, "loop fusion") \
	X(TS_OPCODE_MAP, "map") \
	X(TS_OPCODE_MAXIMUM, "maximum") \
	X(TS_XLA_MEGACORE_FUSION, "megacore fusion") \
	X(TS_OPCODE_MINIMUM, "minimum") \
	X(TS_KINETO_MTIA_RUNTIME, "mtia_runtime") \
	X(TS_OPCODE_MULHI, "mulhi") \
	X(TS_OPCODE_MULTIPLY, "multiply") \
	X(TS_OPCODE_NEGATE, "negate") \
	X(TS_XLA_NON_FUSION_ELEMENTWISE, "non-fusion elementwise") \
	X(TS_OPCODE_NOT, "not") \
	X(TS_OPCODE_OPT_BARRIER, "opt-barrier") \
	X(TS_OPCODE_OR, "or") \
	X(TS_OPCODE_OUTFEED, "outfeed") \
	X(TS_XLA_OUTPUT_FUSION, "output fusion") \
	X(TS_KINETO_OVERHEAD, "overhead") \
	X(TS_OPCODE_PAD, "pad") \
	X(TS_OPCODE_PARAMETER, "parameter") \
	X(TS_OPCODE_PARTITION_ID, "partition-id") \
	X(TS_OPCODE_POPCNT, "popcnt") \
	X(TS_OPCODE_POWER, "power") \
	X(TS_KINETO_PRIVATEUSE1_DRIVER, "privateuse1_driver") \
	X(TS_KINETO_PRIVATEUSE1_RUNTIME, "privateuse1_runtime") \
	X(TS_KINETO_PYTHON_FUNCTION, "python_function") \
	X(TS_OPCODE_RAGGED_ALL_TO_ALL, "ragged-all-to-all") \
	X(TS_XLA_RAGGED_ALL_TO_ALL_DONE, "ragged-all-to-all-done") \
	X(TS_XLA_RAGGED_ALL_TO_ALL_START, "ragged-all-to-all-start") \
	X(TS_OPCODE_RAGGED_DOT, "ragged-dot") \
	X(TS_OPCODE_REAL, "real") \
	X(TS_OPCODE_RECV, "recv") \
	X(TS_OPCODE_RECV_DONE, "recv-done") \
	X(TS_OPCODE_REDUCE, "reduce") \
	X(TS_OPCODE_REDUCE_PRECISION, "reduce-precision") \
	X(TS_OPCODE_REDUCE_SCATTER, "reduce-scatter") \
	X(TS_XLA_REDUCE_SCATTER_DONE, "reduce-scatter-done") \
	X(TS_XLA_REDUCE_SCATTER_START, "reduce-scatter-start") \
	X(TS_OPCODE_REDUCE_WINDOW, "reduce-window") \
	X(TS_OPCODE_REMAINDER, "remainder") \
	X(TS_OPCODE_REPLICA_ID, "replica-id") \
	X(TS_OPCODE_RESHAPE, "reshape") \
	X(TS_OPCODE_REVERSE, "reverse") \
	X(TS_OPCODE_RNG, "rng") \
	X(TS_OPCODE_RNG_BIT_GENERATOR, "rng-bit-generator") \
	X(TS_OPCODE_RNG_GET_AND_UPDATE_STATE, "rng-get-and-update-state") \
	X(TS_OPCODE_ROUND_NEAREST_AFZ, "round-nearest-afz") \
	X(TS_OPCODE_ROUND_NEAREST_EVEN, "round-nearest-even") \
	X(TS_OPCODE_RSQRT, "rsqrt") \
	X(TS_OPCODE_SCALED_DOT, "scaled-dot") \
	X(TS_OPCODE_SCAN, "scan") \
	X(TS_OPCODE_SCATTER, "scatter") \
	X(TS_OPCODE_SELECT, "select") \
	X(TS_OPCODE_SELECT_AND_SCATTER, "select-and-scatter") \
	X(TS_OPCODE_SEND, "send") \
	X(TS_OPCODE_SEND_DONE, "send-done") \
	X(TS_OPCODE_SET_DIMENSION_SIZE, "set-dimension-size") \
	X(TS_OPCODE_SHIFT_LEFT, "shift-left") \
	X(TS_OPCODE_SHIFT_RIGHT_ARITHMETIC, "shift-right-arithmetic") \
	X(TS_OPCODE_SHIFT_RIGHT_LOGICAL, "shift-right-logical") \
	X(TS_OPCODE_SHUFFLE, "shuffle") \
	X(TS_OPCODE_SIGN, "sign") \
	X(TS_OPCODE_SINE, "sine") \
	X(TS_OPCODE_SINH, "sinh") \
	X(TS_OPCODE_SLICE, "slice") \
	X(TS_XLA_SLICE_DONE, "slice-done") \
	X(TS_XLA_SLICE_START, "slice-start") \
	X(TS_OPCODE_SORT, "sort") \
	X(TS_OPCODE_SQRT, "sqrt") \
	X(TS_OPCODE_STOCHASTIC_CONVERT, "stochastic-convert") \
	X(TS_OPCODE_SUBTRACT, "subtract") \
	X(TS_OPCODE_TAN, "tan") \
	X(TS_OPCODE_TANH, "tanh") \
	X(TS_OPCODE_TOPK, "topk") \
	X(TS_OPCODE_TRANSPOSE, "transpose") \
	X(TS_OPCODE_TRIANGULAR_SOLVE, "triangular-solve") \
	X(TS_OPCODE_TUPLE, "tuple") \
	X(TS_KINETO_USER_ANNOTATION, "user_annotation") \
	X(TS_OPCODE_WHILE, "while") \
	X(TS_OPCODE_XOR, "xor") \
	X(TS_KINETO_XPU_DRIVER, "xpu_driver") \
	X(TS_KINETO_XPU_RUNTIME, "xpu_runtime")
/* clang-format on */

enum ts_opcode {
	TS_OPCODE_OTHER,
#define TS_OPCODE_ENUM(id, text) id,
	TS_OPCODES(TS_OPCODE_ENUM)
#undef TS_OPCODE_ENUM
		TS_NR_OPCODES
};

/* An asynchronous op begins with its start, may be awaited by updates, and ends with its done. */
enum ts_phase { TS_PHASE_WHOLE, TS_PHASE_START, TS_PHASE_UPDATE, TS_PHASE_DONE };

enum ts_opcode ts_opcode_of(struct ts_bytes text);
const char *ts_opcode_text(enum ts_opcode opcode); /* "" of TS_OPCODE_OTHER */
enum ts_phase ts_opcode_phase(enum ts_opcode opcode);
/* Without its phase: of copy-start it is copy. */
enum ts_opcode ts_opcode_whole(enum ts_opcode opcode);
/* Is it a phase, or the whole, of what devices do together? send and recv are. */
bool ts_opcode_is_collective(enum ts_opcode opcode);

/* Is OPCODE one of those that follow? */
#define TS_OPCODE_IN(opcode, ...)                                          \
	ts_opcode_in((opcode), (const enum ts_opcode[]){ __VA_ARGS__ },    \
		     sizeof((const enum ts_opcode[]){ __VA_ARGS__ }) / sizeof(enum ts_opcode))
static inline bool ts_opcode_in(enum ts_opcode opcode, const enum ts_opcode *set, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (set[i] == opcode)
			return true;
	return false;
}

#endif
