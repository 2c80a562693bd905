/* SPDX-License-Identifier: MIT */
/* A profile's name, whatever its form. */
#include "io/xplanefile.h"

#include "base/check.h"
#include "io/wire.h"

/* tsl/profiler/protobuf/xplane.proto */
#define XSPACE_ERRORS	 TS_WIRE_BYTES(2)
#define XSPACE_WARNINGS	 TS_WIRE_BYTES(3)
#define XSPACE_HOSTNAMES TS_WIRE_BYTES(4)

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

bool ts_xplanefile_is_empty(struct ts_bytes bytes)
{
	struct ts_bytes value;
	uint64_t tag;

	TS_ASSERT(bytes.p || bytes.n == 0);
	while (bytes.n > 0) /* what is neither is a plane, or damage, for the reader to say */
		if (!ts_wire_field(&bytes, &tag, &value) ||
		    (tag != XSPACE_ERRORS && tag != XSPACE_WARNINGS && tag != XSPACE_HOSTNAMES))
			return false;
	return true;
}
