/* SPDX-License-Identifier: MIT */
/*
 * Tokens of JSON (RFC 8259), as programs really write traces: NaN and Infinity are values, control
 * bytes and bytes that are not UTF-8 may stand in strings, a comma may stand before a closing
 * bracket. Nothing is recursive: nested values are passed over by counting brackets.
 *
 * Most of a trace is passed over (args), so that is done eight bytes at a time.
 */
#include "codec/jtok.h"

#include "base/check.h"

#include <math.h>

#include "base/units.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t jtok_load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* A high bit for each zero byte; the first one is right, bytes above it may be wrong. */
static inline uint64_t zeros(uint64_t word)
{
	return (word - ONES) & ~word & HIGHS;
}

static inline uint64_t has(uint64_t word, uint8_t c)
{
	return zeros(word ^ (ONES * c));
}

/* The first of the bytes that were found in a word: words are little-endian here (configure.ac). */
static inline size_t first(uint64_t found)
{
	return (size_t)__builtin_ctzll(found) / 8;
}

static inline uint64_t has_string_mark(uint64_t word)
{
	return has(word, '"') | has(word, '\\');
}

const uint8_t *ts_jtok_string_end(const uint8_t *p, const uint8_t *end)
{
	for (;;) {
		uint64_t found = 0;

		while (end - p >= 8 && !(found = has_string_mark(jtok_load(p))))
			p += 8;
		if (found)
			p += first(found);
		while (p < end && *p != '"' && *p != '\\') /* the last few bytes */
			p++;
		if (p >= end)
			return NULL;
		if (*p == '"')
			return p;
		if (end - p < 2)
			return NULL;
		p += 2;
	}
}

/* Quotes and brackets: all four brackets are 0x7f once bits 0x26 are set, and so are few others. */
static inline uint64_t jtok_has_mark(uint64_t word)
{
	return has(word, '"') | zeros((word | ONES * 0x26) ^ (ONES * 0x7f));
}

static inline const uint8_t *next_mark(const uint8_t *p, const uint8_t *end)
{
	uint64_t found = 0;

	while (end - p >= 8 && !(found = jtok_has_mark(jtok_load(p))))
		p += 8;
	if (found)
		return p + first(found);
	while (p < end && *p != '"' && (*p | 0x26) != 0x7f)
		p++;
	return p;
}

/* Leaves the string that P is in; at END it may not be over. */
static const uint8_t *skip_string(struct ts_jtok_skip *skip, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *close;

	if (skip->escaped && p < end) {
		skip->escaped = false;
		p++;
	}
	close = ts_jtok_string_end(p, end);
	if (close) {
		skip->in_string = false;
		return close + 1;
	}
	for (; p < end; p++) /* only at a window's end */
		skip->escaped = !skip->escaped && *p == '\\';
	return end;
}

bool ts_jtok_skip_some(struct ts_jtok_skip *skip, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;

	TS_ASSERT_HOT(skip);
	while (p < end) {
		if (skip->in_string) {
			p = skip_string(skip, p, end);
			continue;
		}
		p = next_mark(p, end);
		if (p >= end)
			break;
		switch (*p++) {
		case '"': skip->in_string = true; break;
		case '{':
		case '[': skip->depth++; break;
		case '}':
		case ']':
			if (--skip->depth == 0) {
				*at = p;
				return true;
			}
			break;
		default: break;
		}
	}
	*at = end;
	return false;
}

static bool ends_scalar(uint8_t c)
{
	return c <= ' ' || c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || c == '[' ||
	       c == '{';
}

const uint8_t *ts_jtok_value_end(const uint8_t *p, const uint8_t *end)
{
	struct ts_jtok_skip skip = { .depth = 0 };
	const uint8_t *close;

	if (p >= end)
		return NULL;
	if (*p == '"') {
		close = ts_jtok_string_end(p + 1, end);
		return close ? close + 1 : NULL;
	}
	if (*p == '{' || *p == '[')
		return ts_jtok_skip_some(&skip, &p, end) ? p : NULL;
	while (p < end && !ends_scalar(*p))
		p++;
	return p < end ? p : NULL;
}

struct ts_bytes ts_jtok_text(struct ts_bytes token)
{
	TS_ASSERT_HOT(token.p || token.n == 0);
	if (token.n >= 2 && token.p[0] == '"')
		return ts_bytes_cut(token, 1, token.n - 2);
	return token;
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four digits behind "\u"; -1: none. */
static int32_t code_unit(struct ts_bytes raw, size_t at)
{
	int32_t code = 0;

	if (raw.n < at + 4)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		int digit = hex_digit(raw.p[at + i]);

		if (digit < 0)
			return -1;
		code = code << 4 | digit;
	}
	return code;
}

static uint8_t *jtok_put_utf8(uint8_t *to, int32_t code)
{
	if (code < 0x80) {
		*to++ = (uint8_t)code;
	} else if (code < 0x800) {
		*to++ = (uint8_t)(0xc0 | code >> 6);
		*to++ = (uint8_t)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (uint8_t)(0xe0 | code >> 12);
		*to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
		*to++ = (uint8_t)(0x80 | (code & 0x3f));
	} else {
		*to++ = (uint8_t)(0xf0 | code >> 18);
		*to++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
		*to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
		*to++ = (uint8_t)(0x80 | (code & 0x3f));
	}
	return to;
}

/* "\uXXXX" at AT, one code unit or a pair of them; half a pair is U+FFFD. Steps over it. */
static uint8_t *jtok_put_code(uint8_t *to, struct ts_bytes raw, size_t *at)
{
	int32_t code = code_unit(raw, *at + 2), low;

	if (code < 0) {
		*to++ = raw.p[(*at)++]; /* not an escape: as it stands */
		return to;
	}
	*at += 6;
	if (code >= 0xd800 && code < 0xdc00 && *at + 6 <= raw.n && raw.p[*at] == '\\' &&
	    raw.p[*at + 1] == 'u') {
		low = code_unit(raw, *at + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			*at += 6;
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	if (code >= 0xd800 && code < 0xe000)
		code = 0xfffd;
	return jtok_put_utf8(to, code);
}

struct ts_bytes ts_jtok_unescape(struct ts_arena *arena, struct ts_bytes raw)
{
	static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
	struct ts_bytes copy = ts_arena_copy(arena, raw);
	uint8_t *to = (uint8_t *)(uintptr_t)copy.p;
	size_t at = 0;

	TS_ASSERT_HOT(arena);
	TS_ASSERT_HOT(raw.p || raw.n == 0);
	if (!copy.p || !raw.n || !memchr(raw.p, '\\', raw.n))
		return copy;
	while (at < raw.n) { /* what an escape stands for is never longer than it */
		const char *known;

		if (raw.p[at] != '\\' || at + 1 >= raw.n) {
			*to++ = raw.p[at++];
		} else if (raw.p[at + 1] == 'u') {
			to = jtok_put_code(to, raw, &at);
		} else {
			known = memchr(from, raw.p[at + 1], sizeof(from) - 1);
			*to++ = known ? (uint8_t)into[known - from] : raw.p[at + 1];
			at += 2;
		}
	}
	copy.n = (size_t)(to - copy.p);
	return copy;
}

bool ts_jtok_real(struct ts_bytes token, double *real)
{
	struct ts_bytes text = ts_jtok_text(token);
	char copy[64];
	char *rest;

	TS_ASSERT_HOT(real);
	TS_ASSERT_HOT(token.p || token.n == 0);
	if (text.n >= sizeof(copy))
		return false;
	if (text.n > 0)
		memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	*real = strtod(copy, &rest);
	return rest == copy + text.n && rest != copy && isfinite(*real);
}

/* A number with an exponent, or one that does not fit into 64 bits, goes through a double. */
static bool rough_time(struct ts_bytes text, struct ts_micros *time)
{
	double us, whole;

	if (!ts_jtok_real(text, &us) || !(fabs(us) < 9e18))
		return false;
	whole = floor(us);
	time->us = (int64_t)whole;
	time->ps = (int64_t)((us - whole) * (double)TS_PS_PER_US);
	return true;
}

/* Digits behind the point: ps of a us, what is finer is cut. Gives where they end. */
static const uint8_t *fraction(const uint8_t *p, const uint8_t *end, int64_t *ps)
{
	int64_t unit = TS_PS_PER_US;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		unit /= 10;
		*ps += unit * (*p - '0');
	}
	return p;
}

bool ts_jtok_micros(struct ts_bytes token, struct ts_micros *time)
{
	struct ts_bytes text = ts_jtok_text(token);
	const uint8_t *p, *end, *digits;
	uint64_t us = 0;
	bool negative;

	TS_ASSERT_HOT(time);
	TS_ASSERT_HOT(token.p || token.n == 0);
	time->ps = 0;
	if (text.n == 0)
		return false;
	negative = *text.p == '-';
	digits = p = text.p + negative;
	end = text.p + text.n;
	for (; p < end && *p >= '0' && *p <= '9' && p - digits < 18; p++)
		us = us * 10 + (uint64_t)(*p - '0');
	if (p == digits)
		return false;
	time->us = (int64_t)us;
	if (p < end && *p == '.')
		p = fraction(p + 1, end, &time->ps);
	if (p < end)
		return rough_time(text, time);
	if (negative) {
		time->us = -time->us;
		time->ps = -time->ps;
	}
	return true;
}

struct ts_jtok ts_jtok_enter(struct ts_bytes object)
{
	struct ts_jtok members = { .p = NULL };

	TS_ASSERT_HOT(object.p || object.n == 0);
	if (object.n < 2 || (object.p[0] != '{' && object.p[0] != '['))
		return members;
	members.p = object.p + 1;
	members.end = object.p + object.n;
	return members;
}

/* The value at the cursor, and the comma behind it. */
static bool jtok_take_value(struct ts_jtok *members)
{
	const uint8_t *p = ts_jtok_space(members->p, members->end), *behind;

	behind = ts_jtok_value_end(p, members->end);
	if (!behind || behind == p) {
		members->p = NULL;
		return false;
	}
	members->value = (struct ts_bytes){ p, (size_t)(behind - p) };
	p = ts_jtok_space(behind, members->end);
	members->p = p < members->end && *p == ',' ? p + 1 : p;
	return true;
}

bool ts_jtok_element(struct ts_jtok *members)
{
	TS_ASSERT_HOT(members);
	return members->p && jtok_take_value(members);
}

bool ts_jtok_member(struct ts_jtok *members)
{
	const uint8_t *p, *close;

	TS_ASSERT_HOT(members);
	if (!members->p)
		return false;
	p = ts_jtok_space(members->p, members->end);
	if (p >= members->end || *p != '"')
		return false;
	close = ts_jtok_string_end(p + 1, members->end);
	if (!close)
		return false;
	members->key = (struct ts_bytes){ p + 1, (size_t)(close - p - 1) };
	p = ts_jtok_space(close + 1, members->end);
	if (p >= members->end || *p != ':')
		return false;
	members->p = p + 1;
	return jtok_take_value(members);
}

struct ts_bytes ts_jtok_at(struct ts_bytes object, const char *name)
{
	for (;;) {
		const char *dot = strchr(name, '.');
		struct ts_bytes key = { (const uint8_t *)name,
					dot ? (size_t)(dot - name) : strlen(name) };
		struct ts_jtok members = ts_jtok_enter(object);
		bool is_there = false;

		while (!is_there && ts_jtok_member(&members))
			is_there = ts_bytes_eq(members.key, key);
		if (!is_there)
			return (struct ts_bytes){ NULL, 0 };
		if (!dot)
			return members.value;
		object = members.value;
		name = dot + 1;
	}
}
