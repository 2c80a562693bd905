/* SPDX-License-Identifier: MIT */
/* Any bytes as the log of PyTorch's compiler: read, analysed, reported. */
#include "tests/run/memory_run.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(log)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t report_size;

	memory_run_whole_as(memory_run_reader("torch_trace"), (struct ts_bytes){ data, n },
			    &report_size);
	return 0;
}
