/* SPDX-License-Identifier: MIT */
/* Words parted by blanks, each with a name and a value. */
#include "model/kernel_details.h"

#include "base/check.h"
#include "model/profile.h"

struct ts_bytes ts_kernel_detail(struct ts_bytes details, const char *name)
{
	size_t n = strlen(name), at = 0, end;

	TS_ASSERT_HOT(name);
	while (at < details.n) {
		for (end = at; end < details.n && details.p[end] > ' '; end++)
			;
		if (end - at > n && details.p[at + n] == ':' &&
		    memcmp(details.p + at, name, n) == 0)
			return ts_bytes_cut(details, at + n + 1, end - at - n - 1);
		at = end + 1;
	}
	return (struct ts_bytes){ NULL, 0 };
}

int64_t ts_kernel_detail_number(struct ts_bytes details, const char *name)
{
	struct ts_bytes part = ts_kernel_detail(details, name);
	int64_t value;

	TS_ASSERT_HOT(name);
	part.n = ts_bytes_find(part, ".");
	return ts_bytes_i64(part, &value) && value >= 0 ? value : TS_UNKNOWN;
}
