/* SPDX-License-Identifier: MIT */
/* Any bytes as a profile: read, analysed, reported, with the overlay's planes. */
#include "tests/run/memory_run.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(proto)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t report_size;

	memory_run_whole((struct ts_bytes){ data, n }, &report_size);
	return 0;
}
