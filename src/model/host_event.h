/* SPDX-License-Identifier: MIT */
/*
 * What an event of a host thread is about, by its name: calls of jitted functions, the way from a
 * traced function to an executable, and the input pipeline. One table for all analyses.
 *
 * Names are those that JAX, PyTorch/XLA, TF and XLA's compilers write; frames of the Python tracer
 * ("$compiler.py:387 compile_or_get_cached") are known by file and function.
 */
#ifndef TS_MODEL_HOST_EVENT_H
#define TS_MODEL_HOST_EVENT_H

#include "base/bytes.h"

struct ts_op;

enum ts_host_activity {
	TS_HOST_OTHER,
	TS_HOST_INPUT,	     /* the input pipeline, or the user's own step of it */
	TS_HOST_TRANSFER,    /* a transfer to the device */
	TS_HOST_WAIT,	     /* the thread only waits for other threads */
	TS_HOST_COPY,	     /* the runtime hands a copy to the device */
	TS_HOST_ENQUEUE,     /* likewise a program or a kernel */
	TS_HOST_CALL,	     /* a call of a compiled function: PjitFunction(f) */
	TS_HOST_EXECUTE,     /* an executable is started */
	TS_HOST_TRACE,	     /* a function becomes a jaxpr */
	TS_HOST_LOWER,	     /* a jaxpr becomes a module */
	TS_HOST_COMPILE,     /* a framework asks for a compilation, and waits */
	TS_HOST_BACKEND,     /* a compiler compiles one module; often inside COMPILE */
	TS_HOST_PASSES,	     /* inside it: passes over the HLO */
	TS_HOST_CODEGEN,     /* inside it: from scheduled HLO to code */
	TS_HOST_PIPELINE,    /* "NAME (MODULE)": passes, if its stat "module" says the same */
	TS_HOST_EXECUTABLE,  /* asks the persistent cache, and compiles if it has to */
	TS_HOST_CACHE_READ,  /* looks into the persistent cache */
	TS_HOST_CACHE_WRITE, /* puts an executable there, if there is one */
	TS_HOST_CACHE_FILE,  /* inside these two: the cache's folder is read or written */
	TS_HOST_TORCH, /* PyTorch's compiler is at work (model/torch_event.h); it has many names */
};

enum ts_host_activity ts_host_activity_of(struct ts_bytes name);
/* Is it LISTED, or does it begin as one of the listed that ends in '*'? Each has a newline behind it. */
bool ts_host_is_named(struct ts_bytes name, struct ts_bytes listed);
/* Does the thread wait for somebody to ask for work, as a server does? */
bool ts_host_awaits_request(struct ts_bytes name);
/* Does the thread get something for the device to work on? */
bool ts_host_feeds(enum ts_host_activity activity);
/*
 * Does it start work of the device, and how near to the user's program? The thread that makes the calls
 * decides when a device gets its work; a thread of the runtime passes it on.
 */
enum ts_host_launch {
	TS_LAUNCH_NONE,
	TS_LAUNCH_COPY,
	TS_LAUNCH_ENQUEUE,
	TS_LAUNCH_EXECUTE,
	TS_LAUNCH_CALL,
	TS_LAUNCH_STEPS /* of a thread: it makes calls, and marks steps */
};
enum ts_host_launch ts_host_launch_of(enum ts_host_activity activity);
/* Is a compiler at work during such an event? */
bool ts_host_compiles(enum ts_host_activity activity);
/*
 * Whose name is it? A frame of a Python tracer only says where the program is, and an op of a framework
 * (ATen) may contain what a user named. What stands inside an event of the runtime is the runtime's as
 * well, whatever its name.
 */
enum ts_host_owner { TS_HOST_OF_RUNTIME, TS_HOST_OF_TRACER, TS_HOST_OF_FRAMEWORK, TS_HOST_OF_USER };
/* By the name alone: never TS_HOST_OF_FRAMEWORK, whose events have categories. */
enum ts_host_owner ts_host_owner_of(struct ts_bytes name);
enum ts_host_owner ts_host_owner_of_op(const struct ts_op *op);
/*
 * The function's name: f of "PjitFunction(f)" and of "PjitFunction(jit(f))"; empty: it is not a
 * call.
 */
struct ts_bytes ts_host_function(struct ts_bytes name);

#endif
