/* SPDX-License-Identifier: MIT */
/* Any bytes as a memory profile: read, analysed, reported. */
#include "tests/read/pprof_walk.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(pprof)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pprof_whole((struct ts_bytes){ data, n }, NULL);
	return 0;
}
