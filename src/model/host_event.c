/*
 * Names of host events. From profiles of JAX on CPU, GPU and TPU, and from the sources: jax
 * (_src/compiler.py, compilation_cache.py, interpreters/), XLA (service/, pjrt/), torch_xla (runtime/,
 * csrc/), TensorFlow's input pipeline, PyTorch (torch/utils/data/dataloader.py).
 */
#include "model/host_event.h"

enum match { WHOLE, PREFIX, PART };

struct name_row {
	const char *name;
	enum match match;
	enum ts_host_activity activity;
};

/* The first that fits counts. */
static const struct name_row names[] = {
	{ "PjitFunction(", PREFIX, TS_HOST_CALL },
	{ "SyncTensorsGraph", WHOLE, TS_HOST_CALL },
	{ "ExecuteReplicated", PREFIX, TS_HOST_EXECUTE },
	{ "LoadedExecutable::Execute", PART, TS_HOST_EXECUTE },
	{ "PJRT_LoadedExecutable_Execute", WHOLE, TS_HOST_EXECUTE },
	{ "PjRtComputationClient::Execute", PREFIX, TS_HOST_EXECUTE },
	{ "trace_to_jaxpr", PREFIX, TS_HOST_TRACE },
	{ "lower_sharding_computation", WHOLE, TS_HOST_LOWER },
	{ "backend_compile", PREFIX, TS_HOST_COMPILE },
	{ "PjRtComputationClient::Compile", PREFIX, TS_HOST_COMPILE },
	{ "XLAGraphExecutor::Compile", PREFIX, TS_HOST_COMPILE },
	{ "TfrtTpuCompiler::Compile", PREFIX, TS_HOST_BACKEND },
	{ "PjRtCpuClient::Compile", PREFIX, TS_HOST_BACKEND },
	{ "TfrtCpuClient::Compile", PREFIX, TS_HOST_BACKEND },
	{ "PjRtStreamExecutorClient::Compile", PREFIX, TS_HOST_BACKEND },
	{ "XlaCompileBackend", PREFIX, TS_HOST_CODEGEN },
	{ "XlaCompileGpuAsm", PREFIX, TS_HOST_CODEGEN },
	{ "XlaCompile", PREFIX, TS_HOST_BACKEND },
	{ "XlaPass", PREFIX, TS_HOST_PASSES },
	{ "CpuCompiler::RunBackend", WHOLE, TS_HOST_CODEGEN },
	{ "GpuCompiler::RunBackend", WHOLE, TS_HOST_CODEGEN },
	{ "XLA::TPU run hlo passes", PREFIX, TS_HOST_PASSES },
	{ "XLA::TPU HLO optimization", PREFIX, TS_HOST_PASSES },
	{ "XLA::TPU", PREFIX, TS_HOST_CODEGEN },
	{ "Client::DeserializeExecutable", PART, TS_HOST_CACHE_READ },
	{ "Client::LoadSerializedExecutable", PART, TS_HOST_CACHE_READ },
	{ "InfeedEnqueue", PREFIX, TS_HOST_INPUT },
	{ "Iterator::", PREFIX, TS_HOST_INPUT },
	{ "IteratorGetNext", PREFIX, TS_HOST_INPUT },
	{ "PrefetchProduce", PREFIX, TS_HOST_INPUT },
	{ "PrefetchConsume", PREFIX, TS_HOST_INPUT },
	{ "ParallelInterleave", PREFIX, TS_HOST_INPUT },
	{ "ParallelMap", PREFIX, TS_HOST_INPUT },
	{ "MapAndBatch", PREFIX, TS_HOST_INPUT },
	{ "H2D Dispatch", PREFIX, TS_HOST_INPUT },
	{ "TfrtTpuClient::BufferFromHostBuffer", PREFIX, TS_HOST_INPUT },
	{ "shard_args", WHOLE, TS_HOST_INPUT },
	{ "Linearize", WHOLE, TS_HOST_INPUT },
	{ "XlaLinearize", WHOLE, TS_HOST_INPUT },
	{ "TransferH2DRequest", PREFIX, TS_HOST_INPUT },
	{ "tpu::System::TransferToDevice", PREFIX, TS_HOST_INPUT },
	{ "PjRtComputationClient::TransferToDevice", PREFIX, TS_HOST_INPUT },
	{ "MemcpyHToD", PREFIX, TS_HOST_INPUT },
	{ "MemcpyH2D", PREFIX, TS_HOST_INPUT },
	{ "TransferToDevice", PREFIX, TS_HOST_INPUT },
	{ "enumerate(DataLoader)#", PREFIX, TS_HOST_INPUT },
};

/* Frames of the Python tracer. What one of the events above says as well needs no row. */
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

static bool fits(const struct name_row *row, struct ts_bytes name)
{
	switch (row->match) {
	case WHOLE:
		return ts_bytes_is(name, row->name);
	case PREFIX:
		return ts_bytes_starts(name, row->name);
	case PART:
		return ts_bytes_has(name, row->name);
	}
	return false;
}

enum ts_host_activity ts_host_activity_of(struct ts_bytes name)
{
	if (ts_bytes_starts(name, "$"))
		return frame_activity(name);
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (fits(&names[i], name))
			return names[i].activity;
	if (ts_bytes_ends(name, ")") && ts_bytes_has(name, " ("))
		return TS_HOST_PIPELINE;
	return TS_HOST_OTHER;
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

	if (!ts_bytes_starts(name, "PjitFunction(") || !ts_bytes_ends(name, ")"))
		return (struct ts_bytes){ NULL, 0 };
	inner = ts_bytes_cut(name, strlen("PjitFunction("), name.n - strlen("PjitFunction()"));
	if (ts_bytes_starts(inner, "jit(") && ts_bytes_ends(inner, ")"))
		inner = ts_bytes_cut(inner, strlen("jit("), inner.n - strlen("jit()"));
	return inner;
}
