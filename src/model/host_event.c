/* SPDX-License-Identifier: MIT */
/*
 * Names of host events. From profiles of JAX on CPU, GPU and TPU, and from the sources: jax
 * (_src/compiler.py, compilation_cache.py, interpreters/), XLA (service/, pjrt/), torch_xla (runtime/,
 * csrc/), TensorFlow's input pipeline, PyTorch (torch/utils/data/dataloader.py).
 */
#include "model/host_event.h"

#include "base/check.h"

struct name_row {
	const char *name;
	enum ts_match match;
	enum ts_host_activity activity;
};

/* The first that fits counts. */
static const struct name_row names[] = {
	{ "PjitFunction(", TS_PREFIX, TS_HOST_CALL },
	{ "SyncTensorsGraph", TS_WHOLE, TS_HOST_CALL },
	{ "ExecuteReplicated", TS_PREFIX, TS_HOST_EXECUTE },
	{ "LoadedExecutable::Execute", TS_PART, TS_HOST_EXECUTE },
	{ "PJRT_LoadedExecutable_Execute", TS_WHOLE, TS_HOST_EXECUTE },
	{ "PjRtComputationClient::Execute", TS_PREFIX, TS_HOST_EXECUTE },
	{ "trace_to_jaxpr", TS_PREFIX, TS_HOST_TRACE },
	{ "lower_sharding_computation", TS_WHOLE, TS_HOST_LOWER },
	{ "backend_compile", TS_PREFIX, TS_HOST_COMPILE },
	{ "PjRtComputationClient::Compile", TS_PREFIX, TS_HOST_COMPILE },
	{ "XLAGraphExecutor::Compile", TS_PREFIX, TS_HOST_COMPILE },
	{ "TfrtTpuCompiler::Compile", TS_PREFIX, TS_HOST_BACKEND },
	{ "PjRtCpuClient::Compile", TS_PREFIX, TS_HOST_BACKEND },
	{ "TfrtCpuClient::Compile", TS_PREFIX, TS_HOST_BACKEND },
	{ "PjRtStreamExecutorClient::Compile", TS_PREFIX, TS_HOST_BACKEND },
	{ "XlaCompileBackend", TS_PREFIX, TS_HOST_CODEGEN },
	{ "XlaCompileGpuAsm", TS_PREFIX, TS_HOST_CODEGEN },
	{ "XlaCompile", TS_PREFIX, TS_HOST_BACKEND },
	{ "XlaPass", TS_PREFIX, TS_HOST_PASSES },
	{ "CpuCompiler::RunBackend", TS_WHOLE, TS_HOST_CODEGEN },
	{ "GpuCompiler::RunBackend", TS_WHOLE, TS_HOST_CODEGEN },
	{ "XLA::TPU run hlo passes", TS_PREFIX, TS_HOST_PASSES },
	{ "XLA::TPU HLO optimization", TS_PREFIX, TS_HOST_PASSES },
	{ "XLA::TPU", TS_PREFIX, TS_HOST_CODEGEN },
	{ "Client::DeserializeExecutable", TS_PART, TS_HOST_CACHE_READ },
	{ "Client::LoadSerializedExecutable", TS_PART, TS_HOST_CACHE_READ },
	{ "InfeedEnqueue", TS_PREFIX, TS_HOST_INPUT },
	{ "Iterator::", TS_PREFIX, TS_HOST_INPUT },
	{ "IteratorGetNext", TS_PREFIX, TS_HOST_INPUT },
	{ "PrefetchProduce", TS_PREFIX, TS_HOST_INPUT },
	{ "PrefetchConsume", TS_PREFIX, TS_HOST_INPUT },
	{ "ParallelInterleave", TS_PREFIX, TS_HOST_INPUT },
	{ "ParallelMap", TS_PREFIX, TS_HOST_INPUT },
	{ "MapAndBatch", TS_PREFIX, TS_HOST_INPUT },
	{ "H2D Dispatch", TS_PREFIX, TS_HOST_INPUT },
	{ "TfrtTpuClient::BufferFromHostBuffer", TS_PREFIX, TS_HOST_INPUT },
	{ "shard_args", TS_WHOLE, TS_HOST_INPUT },
	{ "Linearize", TS_WHOLE, TS_HOST_INPUT },
	{ "XlaLinearize", TS_WHOLE, TS_HOST_INPUT },
	{ "TransferH2DRequest", TS_PREFIX, TS_HOST_INPUT },
	{ "tpu::System::TransferToDevice", TS_PREFIX, TS_HOST_INPUT },
	{ "PjRtComputationClient::TransferToDevice", TS_PREFIX, TS_HOST_INPUT },
	{ "MemcpyHToD", TS_PREFIX, TS_HOST_INPUT },
	{ "MemcpyH2D", TS_PREFIX, TS_HOST_INPUT },
	{ "TransferToDevice", TS_PREFIX, TS_HOST_INPUT },
	{ "enumerate(DataLoader)#", TS_PREFIX, TS_HOST_INPUT },
};

/* Frames of the Python tracer. A frame needs no row where one of the events above says the same. */
struct frame_row {
	const char *file, *function;
	enum ts_host_activity activity;
};

static const struct frame_row frames[] = {
	{ "partial_eval.py", "trace_to_jaxpr", TS_HOST_TRACE },
	{ "partial_eval.py", "trace_to_jaxpr_dynamic", TS_HOST_TRACE },
	{ "compiler.py", "compile_or_get_cached", TS_HOST_EXECUTABLE },
	{ "compilation_cache.py", "get_executable_and_time", TS_HOST_CACHE_READ },
	{ "compilation_cache.py", "put_executable_and_time", TS_HOST_CACHE_WRITE },
	{ "lru_cache.py", "get", TS_HOST_CACHE_FILE },
	{ "lru_cache.py", "put", TS_HOST_CACHE_FILE },
	{ "gfile_cache.py", "get", TS_HOST_CACHE_FILE },
	{ "gfile_cache.py", "put", TS_HOST_CACHE_FILE },
};

/* "$FILE:LINE FUNCTION" */
static enum ts_host_activity frame_activity(struct ts_bytes name)
{
	size_t colon = ts_bytes_find(name, ":"), space = ts_bytes_find(name, " ");
	struct ts_bytes file = ts_bytes_cut(name, 1, colon - 1), function;

	if (colon >= space || space == name.n)
		return TS_HOST_OTHER;
	function = ts_bytes_cut(name, space + 1, name.n);
	for (size_t i = 0; i < TS_NELEM(frames); i++)
		if (ts_bytes_is(file, frames[i].file) && ts_bytes_is(function, frames[i].function))
			return frames[i].activity;
	return TS_HOST_OTHER;
}

enum ts_host_activity ts_host_activity_of(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	if (ts_bytes_starts(name, "$"))
		return frame_activity(name);
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_bytes_match(name, names[i].match, names[i].name))
			return names[i].activity;
	if (ts_bytes_ends(name, ")") && ts_bytes_has(name, " ("))
		return TS_HOST_PIPELINE;
	return TS_HOST_OTHER;
}

/*
 * What jax and its runtime call on a thread of Python beside the names above: jax's own functions
 * with annotate_function (_src/array.py, compiler.py, pickle_util.py, interpreters/), jaxlib's
 * bindings, and PJRT where it runs on the caller's thread.
 */
static const struct runtime_row {
	const char *name;
	enum ts_match match;
} runtime_rows[] = {
	{ "::", TS_PART },
	{ "end: ", TS_PREFIX },
	{ "ParseArguments", TS_WHOLE },
	{ "Handle input", TS_PREFIX },
	{ "Wait for ", TS_PREFIX },
	{ "AllocateOutputBuffers", TS_PREFIX },
	{ "MemoryAllocation", TS_WHOLE },
	{ "MemoryDeallocation", TS_WHOLE },
	{ "RecordUsage", TS_WHOLE },
	{ "PJRT_", TS_PREFIX },
	{ "DevicePut", TS_PREFIX },
	{ "BatchedDevicePut", TS_PREFIX },
	{ "BatchedCopyToDevice", TS_PREFIX },
	{ "batched_copy_array_to_devices", TS_PREFIX },
	{ "batched_device_put", TS_WHOLE },
	{ "CopyToDevice", TS_PREFIX },
	{ "cpp_pjit", TS_PREFIX },
	{ "PmapFunction(", TS_PREFIX },
	{ "np.asarray(jax.Array)", TS_WHOLE },
	{ "ArrayImpl.", TS_PREFIX },
	{ "pickle_util.", TS_PREFIX },
	{ "D2H ", TS_PREFIX },
	{ "D2D ", TS_PREFIX },
	{ "H2D ", TS_PREFIX },
	{ "IFRT", TS_PREFIX },
};

enum ts_host_owner ts_host_owner_of(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	if (ts_bytes_starts(name, "$"))
		return TS_HOST_OF_TRACER;
	if (name.n == 0 || ts_host_activity_of(name) != TS_HOST_OTHER)
		return TS_HOST_OF_RUNTIME;
	for (size_t i = 0; i < TS_NELEM(runtime_rows); i++)
		if (ts_bytes_match(name, runtime_rows[i].match, runtime_rows[i].name))
			return TS_HOST_OF_RUNTIME;
	return TS_HOST_OF_USER;
}

bool ts_host_compiles(enum ts_host_activity activity)
{
	return activity == TS_HOST_COMPILE || activity == TS_HOST_BACKEND ||
	       activity == TS_HOST_PASSES || activity == TS_HOST_CODEGEN ||
	       activity == TS_HOST_TORCH;
}

struct ts_bytes ts_host_function(struct ts_bytes name)
{
	struct ts_bytes inner;

	TS_ASSERT_HOT(name.p || name.n == 0);
	if (!ts_bytes_starts(name, "PjitFunction(") || !ts_bytes_ends(name, ")"))
		return (struct ts_bytes){ NULL, 0 };
	inner = ts_bytes_cut(name, strlen("PjitFunction("), name.n - strlen("PjitFunction()"));
	if (ts_bytes_starts(inner, "jit(") && ts_bytes_ends(inner, ")"))
		inner = ts_bytes_cut(inner, strlen("jit("), inner.n - strlen("jit()"));
	return inner;
}
