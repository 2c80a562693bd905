/* SPDX-License-Identifier: MIT */
/* A profile's name, whatever its form. */
#include "io/xplanefile.h"

#include "base/check.h"

struct ts_bytes ts_xplanefile_host(struct ts_bytes name)
{
	static const char *const suffixes[] = { TS_XPLANE_SUFFIX, TS_RIEGELI_SUFFIX };

	TS_ASSERT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(suffixes); i++)
		if (ts_bytes_ends(name, suffixes[i]))
			return ts_bytes_cut(name, 0, name.n - strlen(suffixes[i]));
	return name;
}

bool ts_xplanefile_is(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	return ts_xplanefile_host(name).n < name.n;
}
