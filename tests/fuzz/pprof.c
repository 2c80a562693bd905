/* Any bytes as a memory profile: read, analysed, reported. */
#include "tests/read/pprof_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pprof_whole((struct ts_bytes){ data, n }, NULL);
	return 0;
}
