/* SPDX-License-Identifier: MIT */
/* Byte views and saturating arithmetic. */
#include "base/bytes.h"

#include "base/check.h"

bool ts_bytes_ends(struct ts_bytes a, const char *suffix)
{
	size_t n = strlen(suffix);

	TS_ASSERT_HOT(suffix);
	TS_ASSERT_HOT(a.p || a.n == 0);
	return a.n >= n && (n == 0 || memcmp(a.p + a.n - n, suffix, n) == 0);
}

size_t ts_bytes_find(struct ts_bytes a, const char *part)
{
	size_t n = strlen(part);

	TS_ASSERT_HOT(part);
	TS_ASSERT_HOT(a.p || a.n == 0);
	if (n == 0)
		return 0;
	for (size_t at = 0; a.n >= n && at <= a.n - n; at++) {
		const uint8_t *hit = memchr(a.p + at, part[0], a.n - n - at + 1);

		if (!hit)
			break;
		at = (size_t)(hit - a.p);
		if (memcmp(hit, part, n) == 0)
			return at;
	}
	return a.n;
}

bool ts_bytes_are_zero(struct ts_bytes a)
{
	size_t i = 0;

	while (i < a.n && !a.p[i])
		i++;
	return i == a.n;
}

bool ts_bytes_has(struct ts_bytes a, const char *part)
{
	TS_ASSERT_HOT(part);
	TS_ASSERT_HOT(a.p || a.n == 0);
	return part[0] == '\0' || ts_bytes_find(a, part) < a.n;
}

bool ts_bytes_match(struct ts_bytes a, enum ts_match match, const char *s)
{
	TS_ASSERT_HOT(s);
	TS_ASSERT_HOT(a.p || a.n == 0);
	switch (match) {
	case TS_WHOLE:	return ts_bytes_is(a, s);
	case TS_PREFIX: return ts_bytes_starts(a, s);
	case TS_SUFFIX: return ts_bytes_ends(a, s);
	case TS_PART:	return ts_bytes_has(a, s);
	}
	return false;
}

int ts_bytes_cmp(struct ts_bytes a, struct ts_bytes b)
{
	size_t n = TS_MIN(a.n, b.n);
	int order = n ? memcmp(a.p, b.p, n) : 0;

	TS_ASSERT_HOT(a.p || a.n == 0);
	TS_ASSERT_HOT(b.p || b.n == 0);
	return order ? order : (a.n > b.n) - (a.n < b.n);
}

struct ts_bytes ts_bytes_cut(struct ts_bytes a, size_t from, size_t n)
{
	TS_ASSERT_HOT(a.p || a.n == 0);
	from = TS_MIN(from, a.n);
	return (struct ts_bytes){ a.p ? a.p + from : a.p, TS_MIN(n, a.n - from) };
}

bool ts_bytes_u64(struct ts_bytes a, uint64_t *value)
{
	uint64_t v = 0;

	TS_ASSERT_HOT(value);
	TS_ASSERT_HOT(a.p || a.n == 0);
	if (a.n == 0)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		unsigned digit = (unsigned)a.p[i] - '0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*value = v;
	return true;
}

bool ts_bytes_i64(struct ts_bytes a, int64_t *value)
{
	bool minus = a.n > 0 && a.p[0] == '-';
	uint64_t v;

	TS_ASSERT_HOT(value);
	TS_ASSERT_HOT(a.p || a.n == 0);
	if (!ts_bytes_u64(ts_bytes_cut(a, minus, a.n), &v))
		return false;
	if (v > (uint64_t)INT64_MAX + minus)
		return false;
	*value = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

uint64_t ts_u64_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t ts_u64_mul(uint64_t a, uint64_t b)
{
	return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

int64_t ts_i64_mul(int64_t a, int64_t b)
{
	bool minus = (a < 0) != (b < 0);
	uint64_t ua = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
	uint64_t ub = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	uint64_t u = ts_u64_mul(ua, ub);

	if (minus)
		return u > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)u;
	return u > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)u;
}
