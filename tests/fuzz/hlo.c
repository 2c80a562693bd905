/* SPDX-License-Identifier: MIT */
/* Any bytes as a compiled module, and everything asked of it. */
#include "tests/read/hlo_walk.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(hlo)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	walk_bytes((struct ts_bytes){ data, n });
	return 0;
}
