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
	{ "shard_args", TS_HOST_TRANSFER },
	{ "Iterator::Model::Prefetch", TS_HOST_INPUT },
	{ "H2D Dispatch", TS_HOST_TRANSFER },
	{ "TransferToDevice", TS_HOST_TRANSFER },
	{ "InfeedEnqueueTuple", TS_HOST_TRANSFER },
	{ "shard_args_and_more", TS_HOST_OTHER },
	{ "PrefetchDatasetIterator.__next__", TS_HOST_INPUT },
	{ "_BatchDatasetIterator.__next__", TS_HOST_INPUT },
	{ "SourceMapDataset.__getitem__", TS_HOST_INPUT },
	{ "_ShuffleMapDataset.__getitem__", TS_HOST_INPUT },
	{ "Prefetch._getitem", TS_HOST_INPUT },
	{ "GrainIterator.next", TS_HOST_INPUT },
	{ "DatasetIterator.__next__ier", TS_HOST_OTHER },
	{ "fetch_batch", TS_HOST_INPUT },
	{ "## load_batch ##", TS_HOST_INPUT },
	{ "train/next_batch", TS_HOST_INPUT },
	{ "data_loading (3)", TS_HOST_PIPELINE },
	{ "dataloader", TS_HOST_INPUT },
	{ "the input_pipeline: one", TS_HOST_INPUT },
	{ "prefetch_batch fetch_batch", TS_HOST_INPUT },
	{ "prefetch_batch", TS_HOST_OTHER },
	{ "fetch_batches", TS_HOST_OTHER },
	{ "PjitFunction(fetch_batch)", TS_HOST_CALL },
	{ "$train.py:3 fetch_batch", TS_HOST_OTHER },
	{ "write_checkpoint", TS_HOST_OTHER },
	{ "$queue.py:171 get", TS_HOST_WAIT },
	{ "$threading.py:355 wait", TS_HOST_WAIT },
	{ "ThreadpoolListener::Region", TS_HOST_WAIT },
	{ "cudaLaunchKernelExC", TS_HOST_ENQUEUE },
	{ "hipGraphLaunch", TS_HOST_ENQUEUE },
	{ "DoEnqueueProgram", TS_HOST_ENQUEUE },
	{ "cudaMemcpyAsync", TS_HOST_COPY },
	{ "hipMemcpyWithStream", TS_HOST_COPY },
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

TEST(what_is_listed_is_known_whole_or_by_its_beginning)
{
	struct ts_bytes listed = TS_LIT("read_records\nmy_*\n");

	assert_true(ts_host_is_named(TS_LIT("read_records"), listed));
	assert_true(ts_host_is_named(TS_LIT("my_"), listed));
	assert_true(ts_host_is_named(TS_LIT("my_reader"), listed));
	assert_false(ts_host_is_named(TS_LIT("read_record"), listed));
	assert_false(ts_host_is_named(TS_LIT("read_records2"), listed));
	assert_false(ts_host_is_named(TS_LIT("my"), listed));
	assert_false(ts_host_is_named(TS_LIT(""), listed));
	assert_false(ts_host_is_named(TS_LIT("read_records"), TS_LIT("")));
}

/* Of a user's own names these are input, and still the user's. */
TEST(input_that_the_user_named_is_the_users)
{
	assert_int_equal(ts_host_owner_of(TS_LIT("fetch_batch")), TS_HOST_OF_USER);
	assert_int_equal(ts_host_owner_of(TS_LIT("PrefetchDatasetIterator.__next__")),
			 TS_HOST_OF_USER);
	assert_int_equal(ts_host_owner_of(TS_LIT("IteratorGetNext")), TS_HOST_OF_RUNTIME);
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
