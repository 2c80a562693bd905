/* SPDX-License-Identifier: MIT */
#include "base/order.h"

#include "base/check.h"

#define NUMBERS(name, type, compare)                                \
	int name(const void *a, const void *b)                      \
	{                                                           \
		TS_ASSERT_HOT(a && b);                              \
		return compare(*(const type *)a, *(const type *)b); \
	}
NUMBERS(ts_i64_order, int64_t, ts_i64_cmp)
NUMBERS(ts_u64_order, uint64_t, ts_u64_cmp)
NUMBERS(ts_u32_order, uint32_t, ts_u64_cmp)
NUMBERS(ts_double_order, double, ts_double_cmp)
NUMBERS(ts_text_order, char *const, strcmp)
