/* SPDX-License-Identifier: MIT */
/*
 * Byte views: a pointer and a length into memory that another owns. They have no NUL at the end and
 * may hold any bytes. A view lives as long as what it looks at (usually the mapping of an input).
 */
#ifndef TS_BASE_BYTES_H
#define TS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

struct ts_bytes {
	const uint8_t *p;
	size_t n;
};

#define TS_LIT(s) ((struct ts_bytes){ (const uint8_t *)("" s), sizeof(s) - 1 })
/* For printf: "%.*s" with TS_ARG(view). Cuts at 2 GiB, which no message needs. */
#define TS_ARG(b)                                         \
	((int)((b).n > 0x7fffffff ? 0x7fffffff : (b).n)), \
		(const char *)((b).p ? (b).p : (const uint8_t *)"")

#define TS_NELEM(a)  (sizeof(a) / sizeof((a)[0]))
#define TS_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TS_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Of functions that run for every event, where it was measured: left alone, a compiler makes calls of some of them. */
#define TS_INLINE inline __attribute__((always_inline))

/* These run for every event, mostly with a literal, whose length the compiler knows. */
static inline struct ts_bytes ts_bytes_of(const char *s) /* NULL gives an empty view */
{
	return (struct ts_bytes){ (const uint8_t *)s, s ? strlen(s) : 0 };
}

static inline bool ts_bytes_eq(struct ts_bytes a, struct ts_bytes b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool ts_bytes_is(struct ts_bytes a, const char *s)
{
	return ts_bytes_eq(a, ts_bytes_of(s));
}

static inline bool ts_bytes_starts(struct ts_bytes a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.n >= n && (n == 0 || memcmp(a.p, prefix, n) == 0);
}

bool ts_bytes_ends(struct ts_bytes a, const char *suffix);
bool ts_bytes_has(struct ts_bytes a, const char *part);
bool ts_bytes_are_zero(struct ts_bytes a); /* all of them */
/* Which of the four: for tables of names. */
enum ts_match { TS_WHOLE, TS_PREFIX, TS_SUFFIX, TS_PART };
bool ts_bytes_match(struct ts_bytes a, enum ts_match match, const char *s);
/* Offset of the first PART in A, or a.n when there is none. */
size_t ts_bytes_find(struct ts_bytes a, const char *part);
/* Order as memcmp, shorter first: for sorting. */
int ts_bytes_cmp(struct ts_bytes a, struct ts_bytes b);
/* The part from FROM on, N bytes at most; both are cut to what is there. */
struct ts_bytes ts_bytes_cut(struct ts_bytes a, size_t from, size_t n);
/* A whole decimal number (i64: with a minus or without); false when it is anything else or too big. */
bool ts_bytes_u64(struct ts_bytes a, uint64_t *value);
bool ts_bytes_i64(struct ts_bytes a, int64_t *value);

/*
 * Sums and products that saturate: a number that does not fit cannot be right, and must not wrap.
 */
uint64_t ts_u64_add(uint64_t a, uint64_t b);
uint64_t ts_u64_mul(uint64_t a, uint64_t b);
static inline int64_t ts_i64_add(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : b > 0 ? INT64_MAX : INT64_MIN;
}
static inline int64_t ts_i64_sub(int64_t a, int64_t b)
{
	int64_t difference;

	return !__builtin_sub_overflow(a, b, &difference) ? difference
	       : b < 0					  ? INT64_MAX
							  : INT64_MIN;
}
int64_t ts_i64_mul(int64_t a, int64_t b);

#endif
