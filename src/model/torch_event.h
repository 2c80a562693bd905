/* SPDX-License-Identifier: MIT */
/*
 * What PyTorch's compiler leaves in a trace, by the names of events and kernels: regions of compiled
 * code, time spent compiling, generated kernels and the ATen ops in their names.
 *
 * A name is all that is looked at, so it works for any trace that kept PyTorch's names. What the
 * compiler decided, and why, is not in the trace but in its own log (read/torch_trace).
 */
#ifndef TS_MODEL_TORCH_EVENT_H
#define TS_MODEL_TORCH_EVENT_H

#include "base/map.h"
#include "model/opcode.h"

enum ts_torch_event {
	TS_TORCH_OTHER,
	TS_TORCH_REGION,       /* a call of compiled code: "Torch-Compiled Region: 0/1" */
	TS_TORCH_GRAPH,	       /* Inductor's code of one graph: "## Call CompiledFxGraph KEY ##" */
	TS_TORCH_FUNCTION,     /* CompiledFunction: AOTAutograd's forward */
	TS_TORCH_BACKWARD,     /* CompiledFunctionBackward */
	TS_TORCH_LOOKUP,       /* guards are checked: TorchDynamo Cache Lookup */
	TS_TORCH_OVERHEAD,     /* Pregraph bytecode, AOTDispatcher's prologue */
	TS_TORCH_COMPILE,      /* the compiler is at work */
	TS_TORCH_PHASE,	       /* likewise, one of its phases: "Scheduler.codegen (dynamo_timed)" */
	TS_TORCH_ABOUT,	       /* what such an event is about: "dynamo_data: compile_id=0/0" */
	TS_TORCH_KERNEL,       /* generated code: graph_0_cpp_fused_mul_relu_0 */
	TS_TORCH_OP,	       /* an op that computes: aten::addmm */
	TS_TORCH_GRAPH_LAUNCH, /* cudaGraphLaunch, hipGraphLaunch */
	TS_TORCH_KERNEL_LAUNCH, /* cudaLaunchKernel and its like */
};

/* NAME and CATEGORY as in the trace; an event of another program's trace is TS_TORCH_OTHER. */
enum ts_torch_event ts_torch_event_of(struct ts_bytes name, enum ts_opcode category);

/* Which compilation: the frame, how often it had been compiled before, and, of compiled autograd, which
 * of its graphs; -1: not said. */
struct ts_compile_id {
	int64_t autograd, frame, compile;
};

#define TS_COMPILE_ID_NONE ((struct ts_compile_id){ -1, -1, -1 })

/* "0/1", "!3", "!3/0/1"; false: it is not an id. */
bool ts_compile_id_parse(struct ts_bytes text, struct ts_compile_id *id);
/* Of a region's name, or of what an event is about; false: there is no id in it. */
bool ts_compile_id_of(struct ts_bytes name, struct ts_compile_id *id);
/* A number that is the same for the same id alone. */
uint64_t ts_compile_id_key(struct ts_compile_id id);

/* Phase of a TS_TORCH_PHASE: its name without the ending. */
struct ts_bytes ts_torch_phase(struct ts_bytes name);

/* A frame of the Python tracer (category python_function): "train.py(12): forward". */
struct ts_torch_frame {
	struct ts_bytes file, function;
	int64_t line;
};
bool ts_torch_frame_of(struct ts_bytes name, struct ts_torch_frame *frame);
/* A frame of Python in which activation checkpointing runs a forward pass once more (torch/utils/checkpoint.py). */
bool ts_torch_computes_again(struct ts_bytes name);
/* Of torch_dynamo_resume_in_forward_at_17: forward and 17; false: it is not such a function. */
bool ts_torch_resume_of(struct ts_bytes function, struct ts_bytes *broken, int64_t *line);

/* The ATen ops in the name of a kernel that Inductor made (triton_poi_fused_add_relu_0: 2), each
 * counted once, at least 1; 0: Inductor did not make it. A template's product is one of them. */
int64_t ts_torch_fused_ops(struct ts_bytes kernel);
/* The first op of what ts_torch_fused_part() gave, taken off it; empty: it was the last. */
struct ts_bytes ts_torch_next_op(struct ts_bytes *rest);
/*
 * What stands between "fused_" and the number at the end; empty: nothing, or not a kernel of
 * Inductor's.
 */
struct ts_bytes ts_torch_fused_part(struct ts_bytes kernel);

/* The longest ATen or prims op with an inner underscore that NAME begins with, up to an underscore
 * or the end: its length, or 0 (aten_names.c). */
size_t ts_aten_prefix(struct ts_bytes name);

#endif
