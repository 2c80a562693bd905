/* SPDX-License-Identifier: MIT */
/* The table of readers. */
#include "base/check.h"
#include "read/list.h"
#include "read/reader.h"

#define DECLARE(name) extern const struct ts_reader ts_reader_##name;
#define ADDRESS(name) &ts_reader_##name,
TS_READERS(DECLARE)
const struct ts_reader *const ts_readers[] = { TS_READERS(ADDRESS) NULL };

const struct ts_reader *ts_reader_for(struct ts_bytes file, struct ts_bytes bytes)
{
	const struct ts_reader *best = NULL;
	int surest = 0;

	TS_ASSERT(file.p || file.n == 0);
	TS_ASSERT(bytes.p || bytes.n == 0);
	for (size_t i = 0; ts_readers[i]; i++) {
		int sure = ts_readers[i]->probe(file, bytes);

		if (sure > surest) {
			surest = sure;
			best = ts_readers[i];
		}
	}
	return best;
}

const struct ts_reader *ts_reader_find(const char *name)
{
	TS_ASSERT(name);
	for (size_t i = 0; ts_readers[i]; i++)
		if (strcmp(ts_readers[i]->name, name) == 0)
			return ts_readers[i];
	return NULL;
}

const struct ts_reader *ts_reader_of(const struct ts_profile *profile, uint32_t host)
{
	TS_ASSERT(host < profile->nr_hosts);
	TS_ASSERT(profile->hosts[host].reader + 1 < TS_NELEM(ts_readers));
	return ts_readers[profile->hosts[host].reader];
}
