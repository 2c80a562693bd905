/* SPDX-License-Identifier: MIT */
/*
 * Orders for qsort(), from keys: of structs, or (TS_ORDER_AT) of pointers to them.
 *
 *	TS_ORDER(longest_first, struct row, TS_DOWN(time_ps) TS_UP(name) TS_UP(index))
 *
 * A key is a member of whatever depth: a number, an enum, a bool, a pointer into one array, a text or bytes. The first
 * that differs decides. No key is subtracted, so none overflows; a NaN is equal to everything.
 */
#ifndef TS_BASE_ORDER_H
#define TS_BASE_ORDER_H

#include <stdlib.h>

#include "base/bytes.h"

#define TS_ORDER(name, type, keys)                      \
	static int name(const void *first, const void *second) \
	{                                               \
		const type *x = first, *y = second;     \
		int order = 0;                          \
                                                        \
		keys return order;                      \
	}
#define TS_ORDER_AT(name, type, keys)                                                          \
	static int name(const void *first, const void *second)                                 \
	{                                                                                      \
		const type *x = *(const type *const *)first, *y = *(const type *const *)second; \
		int order = 0;                                                                 \
                                                                                               \
		keys return order;                                                             \
	}
#define TS_UP(member)   order = order ? order : TS_COMPARE(x->member, y->member);
#define TS_DOWN(member) order = order ? order : TS_COMPARE(y->member, x->member);

/* By what a function makes of the row or of a member; for TS_ORDER_AT, by the place in the array. */
#define TS_UP_BY(key)           order = order ? order : TS_COMPARE(key(x), key(y));
#define TS_DOWN_BY(key)         order = order ? order : TS_COMPARE(key(y), key(x));
#define TS_UP_OF(key, member)   order = order ? order : TS_COMPARE(key(x->member), key(y->member));
#define TS_DOWN_OF(key, member) order = order ? order : TS_COMPARE(key(y->member), key(x->member));
#define TS_UP_ADDRESS           order = order ? order : ts_address_cmp(x, y);

/* As another order has it, of the row or of a struct in it. */
#define TS_AS(other, member) order = order ? order : other(&x->member, &y->member);

#define TS_COMPARE(a, b)                  \
	_Generic((a),                     \
		struct ts_bytes: ts_bytes_cmp, \
		char *: strcmp,           \
		const char *: strcmp,     \
		double: ts_double_cmp,    \
		bool: ts_i64_cmp,         \
		uint8_t: ts_i64_cmp,      \
		uint16_t: ts_i64_cmp,     \
		int: ts_i64_cmp,          \
		int64_t: ts_i64_cmp,      \
		uint32_t: ts_u64_cmp,     \
		uint64_t: ts_u64_cmp,     \
		default: ts_address_cmp)(a, b)

/* Sorts NR of ITEMS, which may be NULL where there are none. */
#define TS_SORT(items, nr, order) ts_sort((items), (nr), sizeof(*(items)), order)

static inline void ts_sort(void *items, size_t nr, size_t size,
			   int (*order)(const void *x, const void *y))
{
	if (nr > 1)
		qsort(items, nr, size, order);
}

static inline int ts_i64_cmp(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static inline int ts_u64_cmp(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static inline int ts_double_cmp(double a, double b)
{
	return (a > b) - (a < b);
}

static inline int ts_address_cmp(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

/* Of plain numbers, the smallest first, and of texts (const char *). */
int ts_i64_order(const void *a, const void *b);
int ts_u64_order(const void *a, const void *b);
int ts_u32_order(const void *a, const void *b);
int ts_double_order(const void *a, const void *b);
int ts_text_order(const void *a, const void *b);

#endif
