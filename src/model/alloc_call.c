/* SPDX-License-Identifier: MIT */
#include "model/alloc_call.h"

#include "base/check.h"

enum ts_alloc_call ts_alloc_call_of(struct ts_bytes name)
{
	static const struct {
		const char *name;
		enum ts_alloc_call call;
	} rows[] = {
		{ "cudaMalloc", TS_ALLOC_BLOCKING },
		{ "cudaFree", TS_ALLOC_BLOCKING },
		{ "cudaMallocHost", TS_ALLOC_BLOCKING },
		{ "cudaHostAlloc", TS_ALLOC_BLOCKING },
		{ "cudaFreeHost", TS_ALLOC_BLOCKING },
		{ "cudaMallocManaged", TS_ALLOC_BLOCKING },
		{ "cudaMallocAsync", TS_ALLOC_GOES_ON },
		{ "cudaFreeAsync", TS_ALLOC_GOES_ON },
		{ "cuMemAlloc", TS_ALLOC_BLOCKING },
		{ "cuMemAlloc_v2", TS_ALLOC_BLOCKING },
		{ "cuMemFree", TS_ALLOC_BLOCKING },
		{ "cuMemFree_v2", TS_ALLOC_BLOCKING },
		{ "cuMemCreate", TS_ALLOC_GOES_ON },
		{ "cuMemRelease", TS_ALLOC_GOES_ON },
		{ "cuMemMap", TS_ALLOC_GOES_ON },
		{ "cuMemUnmap", TS_ALLOC_GOES_ON },
		{ "hipMalloc", TS_ALLOC_BLOCKING },
		{ "hipFree", TS_ALLOC_BLOCKING },
		{ "hipExtMallocWithFlags", TS_ALLOC_BLOCKING },
		{ "hipHostMalloc", TS_ALLOC_BLOCKING },
		{ "hipHostFree", TS_ALLOC_BLOCKING },
		{ "hipMallocManaged", TS_ALLOC_BLOCKING },
		{ "hipMallocAsync", TS_ALLOC_GOES_ON },
		{ "hipFreeAsync", TS_ALLOC_GOES_ON },
		{ "hipMemCreate", TS_ALLOC_GOES_ON },
		{ "hipMemRelease", TS_ALLOC_GOES_ON },
		{ "hipMemMap", TS_ALLOC_GOES_ON },
		{ "hipMemUnmap", TS_ALLOC_GOES_ON },
	};

	TS_ASSERT_HOT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (ts_bytes_is(name, rows[i].name))
			return rows[i].call;
	return TS_ALLOC_NONE;
}
