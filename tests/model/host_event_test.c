/* SPDX-License-Identifier: MIT */
/* What host events' names say: rows of names as profiles and sources have them. */
#include "model/host_event.h"
#include "tests/test.h"

struct name_row {
	const char *name;
	enum ts_host_activity activity;
};

static const struct name_row names[] = {
	{ "backend_compile", TS_HOST_COMPILE },
	{ "backend_compile_and_load", TS_HOST_COMPILE },
	{ "TfrtTpuCompiler::Compile", TS_HOST_BACKEND },
	{ "PjRtCpuClient::Compile", TS_HOST_BACKEND },
	{ "XLAGraphExecutor::Compile", TS_HOST_COMPILE },
	{ "XlaCompile", TS_HOST_BACKEND },
	{ "XlaCompileBackend", TS_HOST_CODEGEN },
	{ "XLA::TPU run hlo passes", TS_HOST_PASSES },
	{ "XLA::TPU run backend", TS_HOST_CODEGEN },
	{ "CpuCompiler::RunBackend", TS_HOST_CODEGEN },
	{ "HLO passes through layout assignment (jit_f)", TS_HOST_PIPELINE },
	{ "PjitFunction(f)", TS_HOST_CALL },
	{ "TfrtTpuLoadedExecutable::Execute", TS_HOST_EXECUTE },
	{ "ExecuteReplicated.__call__", TS_HOST_EXECUTE },
	{ "trace_to_jaxpr_dynamic", TS_HOST_TRACE },
	{ "$partial_eval.py:2268 trace_to_jaxpr", TS_HOST_TRACE },
	{ "lower_sharding_computation", TS_HOST_LOWER },
	{ "$compiler.py:387 compile_or_get_cached", TS_HOST_EXECUTABLE },
	{ "$compilation_cache.py:324 get_executable_and_time", TS_HOST_CACHE_READ },
	{ "$compilation_cache.py:346 put_executable_and_time", TS_HOST_CACHE_WRITE },
	{ "$lru_cache.py:84 get", TS_HOST_CACHE_FILE },
	{ "$gfile_cache.py:45 put", TS_HOST_CACHE_FILE },
	{ "$lru_cache.py:163 _evict_if_needed", TS_HOST_OTHER },
	{ "$my_compiler.py:387 compile_or_get_cached", TS_HOST_OTHER },
	{ "$compiler.py compile_or_get_cached", TS_HOST_OTHER },
	{ "$", TS_HOST_OTHER },
	{ "$:", TS_HOST_OTHER },
	{ "$ :", TS_HOST_OTHER },
	{ "$a.py:1 f (x)", TS_HOST_OTHER },
	{ "shard_args", TS_HOST_INPUT },
	{ "Iterator::Model::Prefetch", TS_HOST_INPUT },
	{ "H2D Dispatch", TS_HOST_INPUT },
	{ "TransferToDevice", TS_HOST_INPUT },
	{ "InfeedEnqueueTuple", TS_HOST_INPUT },
	{ "shard_args_and_more", TS_HOST_OTHER },
	{ "my backend_compile", TS_HOST_OTHER },
	{ "", TS_HOST_OTHER },
};

TEST(names_say_what_a_host_does)
{
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_host_activity_of(ts_bytes_of(names[i].name)) != names[i].activity)
			fail_msg("\"%s\"", names[i].name);
}

TEST(a_compiler_at_work_is_known_and_a_guess_is_none)
{
	assert_true(ts_host_compiles(TS_HOST_COMPILE));
	assert_true(ts_host_compiles(TS_HOST_BACKEND));
	assert_true(ts_host_compiles(TS_HOST_PASSES));
	assert_true(ts_host_compiles(TS_HOST_CODEGEN));
	assert_false(ts_host_compiles(TS_HOST_PIPELINE));
	assert_false(ts_host_compiles(TS_HOST_LOWER));
	assert_false(ts_host_compiles(TS_HOST_OTHER));
}

TEST(a_call_names_its_function)
{
	static const char *const rows[][2] = {
		{ "PjitFunction(f)", "f" },
		{ "PjitFunction(jit(f))", "f" },
		{ "PjitFunction(<lambda>)", "<lambda>" },
		{ "PjitFunction()", "" },
		{ "PjitFunction(", "" },
		{ "PjitFunction(jit()", "jit(" },
		{ "f", "" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (!ts_bytes_is(ts_host_function(ts_bytes_of(rows[i][0])), rows[i][1]))
			fail_msg("\"%s\"", rows[i][0]);
}
