/* SPDX-License-Identifier: MIT */
/*
 * Names of host events. From profiles of JAX on CPU, GPU and TPU, and from the sources: jax
 * (_src/compiler.py, compilation_cache.py, interpreters/), XLA (service/, pjrt/), torch_xla (runtime/,
 * csrc/), TensorFlow's input pipeline, PyTorch (torch/utils/data/dataloader.py), profiles of Grain, and
 * the launches of CUDA and HIP.
 */
#include "model/host_event.h"

#include <ctype.h>

#include "base/check.h"
#include "model/profile.h"

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
	{ "InfeedEnqueue", TS_PREFIX, TS_HOST_TRANSFER },
	{ "Iterator::", TS_PREFIX, TS_HOST_INPUT },
	{ "IteratorGetNext", TS_PREFIX, TS_HOST_INPUT },
	{ "PrefetchProduce", TS_PREFIX, TS_HOST_INPUT },
	{ "PrefetchConsume", TS_PREFIX, TS_HOST_INPUT },
	{ "ParallelInterleave", TS_PREFIX, TS_HOST_INPUT },
	{ "ParallelMap", TS_PREFIX, TS_HOST_INPUT },
	{ "MapAndBatch", TS_PREFIX, TS_HOST_INPUT },
	{ "H2D Dispatch", TS_PREFIX, TS_HOST_TRANSFER },
	{ "TfrtTpuClient::BufferFromHostBuffer", TS_PREFIX, TS_HOST_TRANSFER },
	{ "shard_args", TS_WHOLE, TS_HOST_TRANSFER },
	{ "Linearize", TS_WHOLE, TS_HOST_TRANSFER },
	{ "XlaLinearize", TS_WHOLE, TS_HOST_TRANSFER },
	{ "TransferH2DRequest", TS_PREFIX, TS_HOST_TRANSFER },
	{ "tpu::System::TransferToDevice", TS_PREFIX, TS_HOST_TRANSFER },
	{ "PjRtComputationClient::TransferToDevice", TS_PREFIX, TS_HOST_TRANSFER },
	{ "MemcpyHToD", TS_PREFIX, TS_HOST_TRANSFER },
	{ "MemcpyH2D", TS_PREFIX, TS_HOST_TRANSFER },
	{ "TransferToDevice", TS_PREFIX, TS_HOST_TRANSFER },
	{ "enumerate(DataLoader)#", TS_PREFIX, TS_HOST_INPUT },
	{ "Threadpool", TS_PART, TS_HOST_WAIT },
	{ "ThreadPool", TS_PART, TS_HOST_WAIT },
	{ "WaitForWork", TS_PART, TS_HOST_WAIT },
	{ "Acquire sem", TS_PART, TS_HOST_WAIT },
	{ "futex", TS_PART, TS_HOST_WAIT },
	{ "EnqueueProgram", TS_PART, TS_HOST_ENQUEUE },
	{ "LaunchKernel", TS_PART, TS_HOST_ENQUEUE },
	{ "GraphLaunch", TS_PART, TS_HOST_ENQUEUE },
	{ "MemcpyAsync", TS_PART, TS_HOST_COPY },
	{ "MemsetAsync", TS_PART, TS_HOST_COPY },
	{ "hipMemcpyWithStream", TS_WHOLE, TS_HOST_COPY },
};

struct pattern {
	const char *name;
	enum ts_match match;
};

static bool fits_any(struct ts_bytes name, const struct pattern *patterns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_match(name, patterns[i].match, patterns[i].name))
			return true;
	return false;
}

/* Names of the user's own, or of a library that the user's program calls as its own: Grain. */
static const struct pattern grain_names[] = {
	{ "DatasetIterator.__next__", TS_SUFFIX },
	{ "MapDataset.__getitem__", TS_SUFFIX },
	{ "Prefetch._getitem", TS_SUFFIX },
	{ "GrainIterator.next", TS_WHOLE },
};

/* What programs call the step that gets a batch: whole words of a name. */
static const char *const input_words[] = { "fetch_batch", "data_loading", "load_batch",
					   "next_batch",  "dataloader",	  "input_pipeline" };

/* Frames of the Python tracer. A frame needs no row where one of the events above says the same. */
struct frame_row {
	const char *file, *function; /* NULL: any */
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
	{ "threading.py", NULL, TS_HOST_WAIT },
	{ "queue.py", NULL, TS_HOST_WAIT },
	{ "selectors.py", NULL, TS_HOST_WAIT },
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
		if (ts_bytes_is(file, frames[i].file) &&
		    (!frames[i].function || ts_bytes_is(function, frames[i].function)))
			return frames[i].activity;
	return TS_HOST_OTHER;
}

static enum ts_host_activity runtime_activity(struct ts_bytes name)
{
	if (ts_bytes_starts(name, "$"))
		return frame_activity(name);
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_bytes_match(name, names[i].match, names[i].name))
			return names[i].activity;
	if (ts_bytes_ends(name, ")") && ts_bytes_has(name, " ("))
		return TS_HOST_PIPELINE;
	return TS_HOST_OTHER;
}

static bool is_word_end(struct ts_bytes name, size_t at)
{
	return at >= name.n || !(isalnum(name.p[at]) || name.p[at] == '_');
}

static bool has_whole_word(struct ts_bytes name, const char *word)
{
	for (size_t from = 0; from < name.n; from++) {
		size_t at = from + ts_bytes_find(ts_bytes_cut(name, from, name.n), word);

		if (at >= name.n)
			return false;
		if ((at == 0 || is_word_end(name, at - 1)) && is_word_end(name, at + strlen(word)))
			return true;
		from = at;
	}
	return false;
}

static bool is_users_input(struct ts_bytes name)
{
	if (ts_bytes_starts(name, "$"))
		return false;
	if (fits_any(name, grain_names, TS_NELEM(grain_names)))
		return true;
	for (size_t i = 0; i < TS_NELEM(input_words); i++)
		if (has_whole_word(name, input_words[i]))
			return true;
	return false;
}

enum ts_host_activity ts_host_activity_of(struct ts_bytes name)
{
	enum ts_host_activity activity = runtime_activity(name);

	TS_ASSERT_HOT(name.p || name.n == 0);
	return activity == TS_HOST_OTHER && is_users_input(name) ? TS_HOST_INPUT : activity;
}

/* Names of what a server does between two requests: a verb of waiting beside the word, or a call that waits for a socket. */
static const char *const waiting_verbs[] = {
	"wait", "get",	   "next",  "poll",   "recv", "pop",
	"take", "receive", "fetch", "listen", "idle", "queue"
};
static const char *const socket_waits[] = { "epoll_wait", "accept", "select" };

static bool has_part_of_any_case(struct ts_bytes name, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= name.n; i++)
		if (strncasecmp((const char *)name.p + i, part, n) == 0)
			return true;
	return false;
}

bool ts_host_awaits_request(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(socket_waits); i++)
		if (has_whole_word(name, socket_waits[i]))
			return true;
	if (!has_part_of_any_case(name, "request"))
		return false;
	for (size_t i = 0; i < TS_NELEM(waiting_verbs); i++)
		if (has_part_of_any_case(name, waiting_verbs[i]))
			return true;
	return false;
}

bool ts_host_is_named(struct ts_bytes name, struct ts_bytes listed)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	while (listed.n > 0) {
		size_t n = ts_bytes_find(listed, "\n");
		struct ts_bytes one = ts_bytes_cut(listed, 0, n);
		bool is_stem = ts_bytes_ends(one, "*");

		one.n -= is_stem;
		if (ts_bytes_eq(is_stem ? ts_bytes_cut(name, 0, one.n) : name, one))
			return true;
		listed = ts_bytes_cut(listed, n + 1, listed.n);
	}
	return false;
}

bool ts_host_feeds(enum ts_host_activity activity)
{
	return activity == TS_HOST_INPUT || activity == TS_HOST_TRANSFER;
}

enum ts_host_launch ts_host_launch_of(enum ts_host_activity activity)
{
	switch (activity) {
	case TS_HOST_CALL:    return TS_LAUNCH_CALL;
	case TS_HOST_EXECUTE: return TS_LAUNCH_EXECUTE;
	case TS_HOST_ENQUEUE: return TS_LAUNCH_ENQUEUE;
	case TS_HOST_COPY:    return TS_LAUNCH_COPY;
	default:	      return TS_LAUNCH_NONE;
	}
}

/*
 * What jax and its runtime call on a thread of Python beside the names above: jax's own functions
 * with annotate_function (_src/array.py, compiler.py, pickle_util.py, interpreters/), jaxlib's
 * bindings, and PJRT where it runs on the caller's thread.
 */
static const struct pattern runtime_rows[] = {
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
	if (name.n == 0 || runtime_activity(name) != TS_HOST_OTHER)
		return TS_HOST_OF_RUNTIME;
	return fits_any(name, runtime_rows, TS_NELEM(runtime_rows)) ? TS_HOST_OF_RUNTIME
								    : TS_HOST_OF_USER;
}

enum ts_host_owner ts_host_owner_of_op(const struct ts_op *op)
{
	TS_ASSERT_HOT(op);
	if (op->has_program && !op->is_event)
		return TS_HOST_OF_RUNTIME;
	if (op->category.n == 0)
		return ts_host_owner_of(op->name);
	if (op->category_id == TS_KINETO_USER_ANNOTATION)
		return TS_HOST_OF_USER;
	return op->category_id == TS_KINETO_PYTHON_FUNCTION ? TS_HOST_OF_TRACER
							    : TS_HOST_OF_FRAMEWORK;
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
