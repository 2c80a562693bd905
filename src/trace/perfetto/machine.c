/* SPDX-License-Identifier: MIT */
/* Machines of Perfetto's model: which number stands for a host. */
#include "base/map.h"
#include "trace/perfetto/perfetto.h"

uint32_t ts_perfetto_machine_id(const struct ts_host *host)
{
	uint64_t session = (uint64_t)host->start_unix_ns * 31 + (uint64_t)host->rank;

	TS_ASSERT(host);
	return TS_MACHINE_MIN +
	       (uint32_t)(ts_hash(host->name, session) % (UINT32_MAX - TS_MACHINE_MIN));
}

struct ts_bytes ts_perfetto_machine_name(const struct ts_host *host, struct ts_arena *arena)
{
	TS_ASSERT(host && arena);
	if (host->rank == TS_UNKNOWN)
		return host->name;
	return ts_arena_printf(arena, "rank %lld", (long long)host->rank);
}
