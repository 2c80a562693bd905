/* SPDX-License-Identifier: MIT */
/* What the records of a trace are sorted by (io/sorter.h). */
#include "read/chrome/chrome.h"

#include <stddef.h>

static bool store_before(const void *a, const void *b)
{
	const struct chrome_record *x = a, *y = b;

	return x->at <= y->at;
}

const struct ts_sort_kind ts_chrome_sort_kind = {
	.size = sizeof(struct chrome_record),
	.max = CHROME_RECORDS,
	.merge_bytes = CHROME_MERGE,
	.before = store_before,
	.part_at = offsetof(struct chrome_record, track),
};
