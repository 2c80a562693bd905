/* Any bytes as a compiled module, and everything asked of it. */
#include "tests/read/hlo_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	walk_bytes((struct ts_bytes){ data, n });
	return 0;
}
