/* SPDX-License-Identifier: MIT */
/* JSON (RFC 8259), written. */
#include "codec/json.h"

#include <math.h>

#include "base/check.h"
#include "codec/shortest.h"
#include "codec/utf8.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define HIGH	   EACH(0x80)

/* The high bit of each byte of X that is zero, and perhaps of bytes above the lowest of them. */
static uint64_t zero_bytes(uint64_t x)
{
	return (x - EACH(1)) & ~x & HIGH;
}

static bool codec_json_is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '<';
}

/*
 * How many bytes from AT on need no escape: eight at a time, as most text needs no escape at all.
 */
static size_t plain_run(struct ts_bytes text, size_t at)
{
	size_t from = at;
	uint64_t w;

	for (; text.n - at >= sizeof(w); at += sizeof(w)) {
		memcpy(&w, text.p + at, sizeof(w));
		if ((w & HIGH) | zero_bytes(w & EACH(0xE0)) | zero_bytes(w ^ EACH('"')) |
		    zero_bytes(w ^ EACH('\\')) | zero_bytes(w ^ EACH('<')) |
		    zero_bytes(w ^ EACH(0x7F)))
			break;
	}
	while (at < text.n && codec_json_is_plain(text.p[at]))
		at++;
	return at - from;
}

static void put_unicode(struct ts_buf *out, uint32_t c)
{
	static const char hex[] = "0123456789abcdef";

	ts_buf_puts(out, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		ts_buf_putc(out, hex[c >> shift & 15]);
}

static void codec_json_put_escaped(struct ts_buf *out, uint32_t c)
{
	static const char shorts[][2] = { { '"', '"' },	 { '\\', '\\' }, { '\b', 'b' },
					  { '\f', 'f' }, { '\n', 'n' },	 { '\r', 'r' },
					  { '\t', 't' } };

	for (size_t i = 0; i < TS_NELEM(shorts); i++) {
		if (c != (uint32_t)shorts[i][0])
			continue;
		ts_buf_putc(out, '\\');
		ts_buf_putc(out, shorts[i][1]);
		return;
	}
	put_unicode(out, c);
}

/* One character that is not plain. */
static size_t put_special(struct ts_buf *out, struct ts_bytes text, size_t at)
{
	const uint8_t *p = text.p + at;
	uint32_t c = ts_utf8_next(&p, text.p + text.n);
	size_t n = (size_t)(p - (text.p + at));

	if (c == TS_UTF8_BAD)
		ts_buf_puts(out, TS_UTF8_REPLACEMENT);
	else if (c < 0x80 || ts_utf8_is_control(c))
		codec_json_put_escaped(out, c);
	else
		ts_buf_put(out, (struct ts_bytes){ text.p + at, n });
	return n;
}

void ts_json_quote(struct ts_buf *out, struct ts_bytes text)
{
	size_t at = 0;

	TS_ASSERT_HOT(out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	if (text.n > SIZE_MAX - 2 || !ts_buf_room(out, text.n + 2)) {
		out->failed = true;
		return;
	}
	ts_buf_putc(out, '"');
	while (at < text.n) {
		size_t run = plain_run(text, at);

		ts_buf_put(out, (struct ts_bytes){ text.p + at, run });
		at += run;
		if (at < text.n)
			at += put_special(out, text, at);
	}
	ts_buf_putc(out, '"');
}

/* Digits that a number has before it is written with an exponent; more where it takes more. */
#define PLAIN_DIGITS 15

/* As "%.*g" writes it, with the digits that it takes: 0.001, 12.5, 1200, 1.2e+30. */
static void put_decimal(struct ts_buf *out, struct ts_decimal decimal)
{
	char text[TS_SHORTEST_MAX];
	int nr = 0, first, point;

	for (uint64_t rest = decimal.digits; rest > 0; rest /= 10)
		text[TS_SHORTEST_MAX - ++nr] = (char)('0' + rest % 10);
	first = decimal.exponent + nr - 1; /* of the first digit */
	point = 1;
	if (first >= -4 && first < TS_MAX(nr, PLAIN_DIGITS))
		point = first + 1;
	if (point <= 0) {
		ts_buf_puts(out, "0.");
		ts_buf_pad(out, '0', (size_t)-point);
	}
	for (int i = 0; i < TS_MAX(nr, point); i++) {
		if (i == point && i > 0)
			ts_buf_putc(out, '.');
		ts_buf_putc(out, i < nr ? text[TS_SHORTEST_MAX - nr + i] : '0');
	}
	if (point != first + 1)
		ts_buf_printf(out, "e%c%02d", first < 0 ? '-' : '+', abs(first));
}

void ts_json_number(struct ts_buf *out, double value)
{
	TS_ASSERT_HOT(out);
	if (!isfinite(value)) {
		ts_buf_puts(out, "null");
		return;
	}
	if (value == floor(value) && fabs(value) < 1e15 && !(value == 0 && signbit(value))) {
		ts_buf_i64(out, (int64_t)value);
		return;
	}
	if (signbit(value))
		ts_buf_putc(out, '-');
	if (value == 0)
		ts_buf_putc(out, '0');
	else
		put_decimal(out, ts_shortest(fabs(value)));
}

static void new_line(struct ts_json *json)
{
	if (json->style == TS_JSON_COMPACT)
		return;
	ts_buf_putc(json->out, '\n');
	ts_buf_pad(json->out, ' ', (size_t)json->depth * 2);
}

/* The text between the last item and the next one. */
static void codec_json_next_item(struct ts_json *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->comma)
		ts_buf_putc(json->out, ',');
	if (json->depth > 0)
		new_line(json);
	json->comma = true;
}

static void codec_json_begin(struct ts_json *json, char bracket)
{
	codec_json_next_item(json);
	ts_buf_putc(json->out, bracket);
	json->depth++;
	json->comma = false;
}

static void codec_json_end(struct ts_json *json, char bracket)
{
	TS_ASSERT(json->depth > 0 && !json->after_key);
	json->depth--;
	if (json->comma)
		new_line(json);
	ts_buf_putc(json->out, bracket);
	json->comma = true;
}

void ts_json_object(struct ts_json *json)
{
	TS_ASSERT_HOT(json);
	codec_json_begin(json, '{');
}

void ts_json_object_end(struct ts_json *json)
{
	TS_ASSERT_HOT(json);
	codec_json_end(json, '}');
}

void ts_json_array(struct ts_json *json)
{
	TS_ASSERT_HOT(json);
	codec_json_begin(json, '[');
}

void ts_json_array_end(struct ts_json *json)
{
	TS_ASSERT_HOT(json);
	codec_json_end(json, ']');
}

void ts_json_key_bytes(struct ts_json *json, struct ts_bytes key)
{
	TS_ASSERT(!json->after_key);
	codec_json_next_item(json);
	ts_json_quote(json->out, key);
	ts_buf_puts(json->out, json->style == TS_JSON_COMPACT ? ":" : ": ");
	json->after_key = true;
}

void ts_json_key(struct ts_json *json, const char *key)
{
	TS_ASSERT_HOT(json && key);
	ts_json_key_bytes(json, ts_bytes_of(key));
}

void ts_json_i64(struct ts_json *json, int64_t value)
{
	TS_ASSERT_HOT(json);
	codec_json_next_item(json);
	ts_buf_i64(json->out, value);
}

void ts_json_u64_string(struct ts_json *json, uint64_t value)
{
	TS_ASSERT_HOT(json);
	codec_json_next_item(json);
	ts_buf_putc(json->out, '"');
	ts_buf_u64(json->out, value);
	ts_buf_putc(json->out, '"');
}

void ts_json_double(struct ts_json *json, double value)
{
	TS_ASSERT_HOT(json);
	codec_json_next_item(json);
	ts_json_number(json->out, value);
}

void ts_json_string(struct ts_json *json, struct ts_bytes text)
{
	TS_ASSERT_HOT(json);
	TS_ASSERT_HOT(text.p || text.n == 0);
	codec_json_next_item(json);
	ts_json_quote(json->out, text);
}

void ts_json_text(struct ts_json *json, const char *text)
{
	TS_ASSERT_HOT(json);
	if (text)
		ts_json_string(json, ts_bytes_of(text));
	else
		ts_json_null(json);
}

void ts_json_bool(struct ts_json *json, bool value)
{
	TS_ASSERT_HOT(json);
	codec_json_next_item(json);
	ts_buf_puts(json->out, value ? "true" : "false");
}

void ts_json_null(struct ts_json *json)
{
	TS_ASSERT_HOT(json);
	codec_json_next_item(json);
	ts_buf_puts(json->out, "null");
}

#define PUT(name, type)                                                        \
	void ts_json_put_##name(struct ts_json *json, const char *key, type value) \
	{                                                                      \
		TS_ASSERT_HOT(json && key);                                    \
		ts_json_key(json, key);                                        \
		ts_json_##name(json, value);                                   \
	}
PUT(i64, int64_t)
PUT(double, double)
PUT(bool, bool)
PUT(string, struct ts_bytes)
PUT(text, const char *)

void ts_json_put_count(struct ts_json *json, const char *key, int64_t value)
{
	TS_ASSERT_HOT(json && key);
	ts_json_key(json, key);
	if (value < 0)
		ts_json_null(json);
	else
		ts_json_i64(json, value);
}

void ts_json_put_known(struct ts_json *json, const char *key, struct ts_bytes text)
{
	TS_ASSERT_HOT(json && key);
	ts_json_key(json, key);
	if (text.n > 0)
		ts_json_string(json, text);
	else
		ts_json_null(json);
}

void ts_json_put_given(struct ts_json *json, const char *key, struct ts_bytes text)
{
	TS_ASSERT_HOT(json && key);
	if (text.n > 0)
		ts_json_put_string(json, key, text);
}
