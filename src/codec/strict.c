/* SPDX-License-Identifier: MIT */
/*
 * A machine of states over bytes: between tokens a byte at a time, inside of strings eight. What stands in a trace is
 * mostly strings, so these are the fast road.
 */
#include "codec/strict.h"

#include "base/check.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

enum state {
	AT_START,  /* the text has not begun */
	AT_VALUE,  /* a value must follow */
	AT_ITEM,   /* a value, or the end of the list */
	AT_KEY,	   /* a key, or the end of the object */
	AT_COLON,  /* a key was there */
	AT_MEMBER, /* a value of a key must follow */
	AT_NEXT,   /* a value was there: a comma or a bracket */
	AT_END,	   /* of the text */
	PAST_END,  /* more text follows, which is left out */
	IN_STRING,
	IN_DEEP, /* too deep: passed over */
};

void ts_strict_init(struct ts_strict *strict, struct ts_buf *out)
{
	TS_ASSERT(strict);
	memset(strict, 0, sizeof(*strict));
	strict->out = out;
}

static void strict_emit(struct ts_strict *strict, struct ts_bytes bytes)
{
	if (strict->out)
		ts_buf_put(strict->out, bytes);
}

static void strict_emits(struct ts_strict *strict, const char *text)
{
	strict_emit(strict, ts_bytes_of(text));
}

/* AT: in the text. */
static void strict_refuse(struct ts_strict *strict, uint64_t at, const char *what)
{
	strict->nr_refused++;
	if (strict->first)
		return;
	strict->first_at = at;
	strict->first = what;
}

static bool strict_in_object(const struct ts_strict *strict)
{
	size_t level = strict->depth - 1;

	return strict->depth > 0 && (strict->is_object[level / 8] >> level % 8 & 1);
}

/* A value is over. */
static void strict_value_done(struct ts_strict *strict)
{
	strict->state = strict->depth > 0 ? AT_NEXT : AT_END;
}

/* The comma that waited, and what stood behind it. */
static void strict_put_comma(struct ts_strict *strict)
{
	if (strict->has_comma)
		strict_emits(strict, ",");
	strict->has_comma = false;
	strict_emit(strict, (struct ts_bytes){ strict->spaces, strict->nr_spaces });
	strict->nr_spaces = 0;
}

/* A key or a value begins AT: whatever should stand before it does. */
static void strict_begin_token(struct ts_strict *strict, uint64_t at)
{
	if (strict->state == AT_NEXT) {
		strict_refuse(strict, at, "a comma is missing");
		strict->has_comma = true;
		strict->state = strict_in_object(strict) ? AT_KEY : AT_ITEM;
	}
	if (strict->state == AT_COLON) {
		strict_refuse(strict, at, "a colon is missing");
		strict_emits(strict, ":");
		strict->state = AT_MEMBER;
	}
	strict_put_comma(strict);
}

static void strict_open(struct ts_strict *strict, uint8_t c)
{
	size_t level = strict->depth;
	uint8_t bit = (uint8_t)(1 << level % 8);

	strict_begin_token(strict, strict->at);
	if (strict->state == AT_KEY) { /* a bracket in the place of a key */
		strict_refuse(strict, strict->at, "a key is missing");
		strict_emits(strict, "\"\":");
	}
	if (level == TS_STRICT_DEPTH) {
		strict_refuse(strict, strict->at, "a value that is nested too deep");
		strict_emits(strict, "null");
		strict->skip = (struct ts_jtok_skip){ .depth = 1 };
		strict->state = IN_DEEP;
		return;
	}
	strict_emit(strict, (struct ts_bytes){ &c, 1 });
	strict->is_object[level / 8] &= (uint8_t)~bit;
	if (c == '{')
		strict->is_object[level / 8] |= bit;
	strict->depth++;
	strict->state = c == '{' ? AT_KEY : AT_ITEM;
}

/* What is missing of a member. */
static void strict_fill_member(struct ts_strict *strict)
{
	if (strict->state != AT_COLON && strict->state != AT_MEMBER)
		return;
	strict_refuse(strict, strict->at, "a value is missing");
	strict_emits(strict, strict->state == AT_COLON ? ":null" : "null");
	strict->state = AT_NEXT;
}

static void strict_close(struct ts_strict *strict, uint8_t c)
{
	uint8_t right = strict_in_object(strict) ? '}' : ']';

	strict_fill_member(strict);
	if (strict->depth == 0) {
		strict_refuse(strict, strict->at, "a bracket that closes nothing");
		return;
	}
	if (strict->has_comma)
		strict_refuse(strict, strict->at, "a comma before a closing bracket");
	strict->has_comma = false;
	strict_put_comma(strict);
	if (c != right)
		strict_refuse(strict, strict->at, "a bracket of the other kind");
	strict_emit(strict, (struct ts_bytes){ &right, 1 });
	strict->depth--;
	strict_value_done(strict);
}

static void strict_comma(struct ts_strict *strict)
{
	strict_fill_member(strict);
	if (strict->state != AT_NEXT) {
		strict_refuse(strict, strict->at, "a comma too many");
		return;
	}
	strict->has_comma = true;
	strict->state = strict_in_object(strict) ? AT_KEY : AT_ITEM;
}

static void strict_colon(struct ts_strict *strict)
{
	if (strict->state != AT_COLON) {
		strict_refuse(strict, strict->at, "a colon too many");
		return;
	}
	strict_emits(strict, ":");
	strict->state = AT_MEMBER;
}

static void strict_space(struct ts_strict *strict, uint8_t c)
{
	if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
		strict_refuse(strict, strict->at, "a control byte");
	else if (!strict->has_comma)
		strict_emit(strict, (struct ts_bytes){ &c, 1 });
	else if (strict->nr_spaces < sizeof(strict->spaces))
		strict->spaces[strict->nr_spaces++] = c;
}

/* --- scalars */

static bool strict_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static size_t strict_digits(struct ts_bytes token, size_t at)
{
	while (at < token.n && strict_digit(token.p[at]))
		at++;
	return at;
}

/* The parts of a number, as far as TOKEN is one: whole digits, those behind the point, the exponent with its letter. */
struct number {
	bool is_negative, has_point;
	struct ts_bytes whole, part, exponent;
	bool is_number;
};

static struct number strict_number(struct ts_bytes token)
{
	struct number number = { .is_negative = token.n > 0 && token.p[0] == '-' };
	size_t at = number.is_negative || (token.n > 0 && token.p[0] == '+'), from = at, digits;

	at = strict_digits(token, from);
	number.whole = ts_bytes_cut(token, from, at - from);
	number.has_point = at < token.n && token.p[at] == '.';
	from = at + number.has_point;
	at = strict_digits(token, from);
	number.part = ts_bytes_cut(token, from, at - from);
	number.is_number = number.whole.n + number.part.n > 0;
	if (at == token.n || (token.p[at] != 'e' && token.p[at] != 'E')) {
		number.is_number &= at == token.n;
		return number;
	}
	from = at++;
	at += at < token.n && (token.p[at] == '-' || token.p[at] == '+');
	digits = strict_digits(token, at);
	number.exponent = ts_bytes_cut(token, from, digits - from);
	number.is_number &= digits > at && digits == token.n;
	return number;
}

static bool strict_is_scalar(struct ts_bytes token)
{
	struct number number;

	if (ts_bytes_is(token, "null") || ts_bytes_is(token, "true") || ts_bytes_is(token, "false"))
		return true;
	number = strict_number(token);
	return number.is_number && token.p[0] != '+' && number.whole.n > 0 &&
	       (number.whole.n == 1 || number.whole.p[0] != '0') &&
	       number.has_point == (number.part.n > 0);
}

/* 007, 1., .5 and +1 are numbers to those who wrote them; what is none is null. */
static void strict_mend_scalar(struct ts_strict *strict, struct ts_bytes token)
{
	struct number number = strict_number(token);

	if (!number.is_number) {
		strict_emits(strict, "null");
		return;
	}
	while (number.whole.n > 1 && number.whole.p[0] == '0')
		number.whole = ts_bytes_cut(number.whole, 1, number.whole.n);
	strict_emits(strict, number.is_negative ? "-" : "");
	strict_emit(strict, number.whole);
	strict_emits(strict, number.whole.n == 0 ? "0" : "");
	strict_emits(strict, number.part.n > 0 ? "." : "");
	strict_emit(strict, number.part);
	strict_emit(strict, number.exponent);
}

static const char *strict_scalar_word(struct ts_bytes token)
{
	struct ts_bytes text = token;

	if (text.n > 0 && (text.p[0] == '-' || text.p[0] == '+'))
		text = ts_bytes_cut(text, 1, text.n);
	if (ts_bytes_starts(text, "nan") || ts_bytes_starts(text, "NaN") ||
	    ts_bytes_starts(text, "NAN"))
		return "nan, which is no number of JSON";
	if (ts_bytes_starts(text, "inf") || ts_bytes_starts(text, "Inf") ||
	    ts_bytes_starts(text, "INF"))
		return "inf, which is no number of JSON";
	return strict_number(token).is_number
		       ? "a number with digits or a sign that JSON does not have"
		       : "a word that is no value of JSON";
}

/* TOKEN ends before the next byte; it began so many bytes before. */
static void strict_scalar(struct ts_strict *strict, struct ts_bytes token)
{
	bool is_good = strict_is_scalar(token), is_key;

	strict_begin_token(strict, strict->at - token.n);
	is_key = strict->state == AT_KEY;
	if (is_key || !is_good)
		strict_refuse(strict, strict->at - token.n,
			      is_key ? "a key without quotes" : strict_scalar_word(token));
	if (is_key) {
		strict_emits(strict, "\"\"");
		strict->state = AT_COLON;
		return;
	}
	if (is_good)
		strict_emit(strict, token);
	else
		strict_mend_scalar(strict, token);
	strict_value_done(strict);
}

static bool strict_ends_scalar(uint8_t c)
{
	return c <= ' ' || c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || c == '[' ||
	       c == '{';
}

/* A scalar is put off to its end: it may be in two pieces. STATE is what was before it. */
static const uint8_t *strict_in_scalar(struct ts_strict *strict, const uint8_t *p,
				       const uint8_t *end)
{
	const uint8_t *from = p;
	struct ts_bytes token;
	size_t n;

	while (p < end && !strict_ends_scalar(*p))
		p++;
	token = (struct ts_bytes){ from, (size_t)(p - from) };
	strict->at += token.n;
	if (strict->nr_token == 0 && p < end) {
		strict_scalar(strict, token);
		return p;
	}
	n = TS_MIN(token.n, sizeof(strict->token) - strict->nr_token);
	memcpy(strict->token + strict->nr_token, token.p, n);
	strict->nr_token += n;
	if (p < end) {
		token = (struct ts_bytes){ strict->token, strict->nr_token };
		strict->nr_token = 0;
		strict_scalar(strict, token);
	}
	return p;
}

/* --- strings */

static inline uint64_t strict_zeros(uint64_t word)
{
	return (word - ONES) & ~word & HIGHS;
}

/* A high bit for some byte at least where one is a quote, a backslash, a control byte, or not of ASCII. */
static inline uint64_t strict_special(uint64_t word)
{
	return strict_zeros(word ^ ONES * '"') | strict_zeros(word ^ ONES * '\\') |
	       ((word - ONES * 0x20) & ~word & HIGHS) | (word & HIGHS);
}

static const uint8_t *strict_plain_end(const uint8_t *p, const uint8_t *end)
{
	uint64_t word;

	while (end - p >= 8) {
		memcpy(&word, p, sizeof(word));
		if (strict_special(word))
			break;
		p += 8;
	}
	while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
		p++;
	return p;
}

static void strict_put_control(struct ts_strict *strict, uint8_t c)
{
	static const char digits[] = "0123456789abcdef";
	char text[] = "\\u0000";

	strict_refuse(strict, strict->at, "a control byte in a text");
	text[4] = digits[c >> 4];
	text[5] = digits[c & 15];
	strict_emits(strict, text);
}

/* The bytes held are neither an escape nor a character: the byte that follows is read afresh. */
static void strict_break_held(struct ts_strict *strict)
{
	bool is_escape = strict->nr_wanted == 0;

	strict_refuse(strict, strict->at - strict->nr_held,
		      is_escape ? "an escape that is none" : "a byte that is not UTF-8");
	strict_emits(strict, is_escape ? "\\\\" : "\\ufffd");
	if (is_escape)
		strict_emit(strict,
			    (struct ts_bytes){ strict->held + 1, strict->nr_held - (size_t)1 });
	strict->nr_held = 0;
}

static bool strict_is_hex(uint8_t c)
{
	return strict_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Can C be the next byte of the escape that is held? *IS_WHOLE: it is its last. */
static bool strict_escape_takes(const struct ts_strict *strict, uint8_t c, bool *is_whole)
{
	if (strict->nr_held == 1) {
		*is_whole = c != 'u';
		return c && strchr("\"\\/bfnrtu", c);
	}
	*is_whole = strict->nr_held == 5;
	return strict_is_hex(c);
}

/* The same of a character of several bytes (RFC 3629): no surrogates, nothing longer than needed. */
static bool strict_char_takes(const struct ts_strict *strict, uint8_t c, bool *is_whole)
{
	static const struct {
		uint8_t lead, least, most; /* of the second byte */
	} second[] = { { 0xe0, 0xa0, 0xbf },
		       { 0xed, 0x80, 0x9f },
		       { 0xf0, 0x90, 0xbf },
		       { 0xf4, 0x80, 0x8f } };
	uint8_t least = 0x80, most = 0xbf;

	for (size_t i = 0; i < TS_NELEM(second) && strict->nr_held == 1; i++)
		if (strict->held[0] == second[i].lead) {
			least = second[i].least;
			most = second[i].most;
		}
	*is_whole = strict->nr_held + 1 == strict->nr_wanted;
	return c >= least && c <= most;
}

static uint8_t strict_char_length(uint8_t lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

/* A byte while others are held. False: it was not taken. */
static bool strict_hold(struct ts_strict *strict, uint8_t c)
{
	bool is_whole = false;
	bool takes = strict->nr_wanted == 0 ? strict_escape_takes(strict, c, &is_whole)
					    : strict_char_takes(strict, c, &is_whole);

	if (!takes) {
		strict_break_held(strict);
		return false;
	}
	strict->held[strict->nr_held++] = c;
	strict->at++;
	if (is_whole) {
		strict_emit(strict, (struct ts_bytes){ strict->held, strict->nr_held });
		strict->nr_held = 0;
	}
	return true;
}

static void strict_end_string(struct ts_strict *strict)
{
	strict_emits(strict, "\"");
	if (strict->is_key)
		strict->state = AT_COLON;
	else
		strict_value_done(strict);
}

/* A byte of a string that is not plain. */
static void strict_special_byte(struct ts_strict *strict, uint8_t c)
{
	if (c == '"') {
		strict_end_string(strict);
	} else if (c < 0x20) {
		strict_put_control(strict, c);
	} else {
		strict->held[0] = c;
		strict->nr_held = 1;
		strict->nr_wanted = c == '\\' ? 0 : strict_char_length(c);
	}
	strict->at++;
	if (strict->nr_held == 1 && strict->nr_wanted == 1)
		strict_break_held(strict);
}

static const uint8_t *strict_in_string(struct ts_strict *strict, const uint8_t *p,
				       const uint8_t *end)
{
	const uint8_t *from = p;

	if (strict->nr_held > 0)
		return strict_hold(strict, *p) ? p + 1 : p;
	p = strict_plain_end(p, end);
	strict_emit(strict, (struct ts_bytes){ from, (size_t)(p - from) });
	strict->at += (uint64_t)(p - from);
	if (p == end)
		return p;
	strict_special_byte(strict, *p);
	return p + 1;
}

static void strict_begin_string(struct ts_strict *strict)
{
	strict_begin_token(strict, strict->at);
	strict->is_key = strict->state == AT_KEY;
	strict_emits(strict, "\"");
	strict->state = IN_STRING;
}

/* --- the text */

/* A mark of the byte order may stand in front; readers are free to refuse it. */
static const uint8_t *strict_start(struct ts_strict *strict, const uint8_t *p)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };

	if (strict->at < sizeof(mark) && *p == mark[strict->at]) {
		if (strict->at++ == 0)
			strict_refuse(strict, 0, "a byte-order mark");
		return p + 1;
	}
	strict->state = AT_VALUE;
	return p;
}

static const uint8_t *strict_between(struct ts_strict *strict, const uint8_t *p, const uint8_t *end)
{
	uint8_t c = *p;

	if (strict->state == AT_END && c > ' ') {
		strict_refuse(strict, strict->at, "text behind the end");
		strict->state = PAST_END;
	}
	if (strict->state == PAST_END) {
		strict->at += (uint64_t)(end - p);
		return end;
	}
	switch (c) {
	case '"': strict_begin_string(strict); break;
	case ',': strict_comma(strict); break;
	case ':': strict_colon(strict); break;
	case '{':
	case '[': strict_open(strict, c); break;
	case '}':
	case ']': strict_close(strict, c); break;
	default:
		if (c > ' ')
			return strict_in_scalar(strict, p, end);
		strict_space(strict, c);
		break;
	}
	strict->at++;
	return p + 1;
}

/* --- the fast road: whole tokens that nobody refuses, with nothing held */

#define SKIM_ROOM 64 /* bytes that are left to the machine at a piece's end: no token is begun there */

static inline const uint8_t *skim_digits(const uint8_t *p, const uint8_t *end)
{
	while (p < end && strict_digit(*p))
		p++;
	return p;
}

/* Behind the number at P; NULL: it is none, or the piece ends in it. */
static inline const uint8_t *skim_number(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from;

	p += *p == '-';
	from = p;
	p = skim_digits(p, end);
	if (p == from || (*from == '0' && p - from > 1))
		return NULL;
	if (p < end && *p == '.') {
		from = ++p;
		p = skim_digits(p, end);
		if (p == from)
			return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '-' || *p == '+');
		from = p;
		p = skim_digits(p, end);
		if (p == from)
			return NULL;
	}
	return p < end && strict_ends_scalar(*p) ? p : NULL;
}

/* The same of the string whose quote is at P. Escapes of one letter are passed over; all else is the machine's. */
static inline const uint8_t *skim_string(const uint8_t *p, const uint8_t *end)
{
	for (p++;;) {
		p = strict_plain_end(p, end);
		if (end - p < 2)
			return NULL;
		if (*p == '"')
			return p + 1;
		if (*p != '\\' || (p[1] != '"' && p[1] != '\\' && p[1] != 'n' && p[1] != '/'))
			return NULL;
		p += 2;
	}
}

static inline const uint8_t *skim_word(const uint8_t *p)
{
	if (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)
		return strict_ends_scalar(p[4]) ? p + 4 : NULL;
	return memcmp(p, "false", 5) == 0 && strict_ends_scalar(p[5]) ? p + 5 : NULL;
}

static inline const uint8_t *skim_scalar(const uint8_t *p, const uint8_t *end)
{
	if (*p == '"')
		return skim_string(p, end);
	return *p == '-' || strict_digit(*p) ? skim_number(p, end) : skim_word(p);
}

/* A bracket is opened or closed, if it may stand here. */
static inline bool skim_bracket(struct ts_strict *strict, uint8_t c, bool may_close)
{
	size_t level = strict->depth;

	if (c == '{' || c == '[') {
		if (level >= TS_STRICT_DEPTH - 1)
			return false;
		strict->is_object[level / 8] &= (uint8_t)~(1 << level % 8);
		strict->is_object[level / 8] |= (uint8_t)((c == '{') << level % 8);
		strict->depth++;
		strict->has_comma = false;
		strict->state = c == '{' ? AT_KEY : AT_ITEM;
		return true;
	}
	if (!may_close || level < 2 || c != (strict_in_object(strict) ? '}' : ']'))
		return false;
	strict->depth--;
	strict->state = AT_NEXT;
	return true;
}

/* The token at P, which is no space; NULL: it is the machine's. */
static inline const uint8_t *skim_token(struct ts_strict *strict, const uint8_t *p,
					const uint8_t *end)
{
	uint8_t c = *p;

	switch (strict->state) {
	case AT_KEY:
		if (c == '}')
			return skim_bracket(strict, c, !strict->has_comma) ? p + 1 : NULL;
		p = c == '"' ? skim_string(p, end) : NULL;
		strict->state = p ? AT_COLON : AT_KEY;
		break;
	case AT_COLON:
		if (c != ':')
			return NULL;
		strict->state = AT_MEMBER;
		return p + 1;
	case AT_ITEM:
	case AT_MEMBER:
		if ((c | 0x26) == 0x7f)
			return skim_bracket(strict, c,
					    strict->state == AT_ITEM && !strict->has_comma)
				       ? p + 1
				       : NULL;
		p = skim_scalar(p, end);
		if (p)
			strict->state = AT_NEXT;
		break;
	case AT_NEXT:
		if (c == ']' || c == '}')
			return skim_bracket(strict, c, true) ? p + 1 : NULL;
		if (c != ',')
			return NULL;
		strict->has_comma = true;
		strict->state = strict_in_object(strict) ? AT_KEY : AT_ITEM;
		return p + 1;
	default: return NULL;
	}
	if (p)
		strict->has_comma = false;
	return p;
}

/*
 * From P on, as far as all is good. Gives where a token ended that no comma waits behind: what a comma and spaces
 * stand before is looked at again, by the machine.
 */
static const uint8_t *strict_skim(struct ts_strict *strict, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p, *good = p, *behind;
	uint8_t state = strict->state;

	while (end - p > SKIM_ROOM) {
		if (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') {
			p++;
			continue;
		}
		behind = skim_token(strict, p, end);
		if (!behind)
			break;
		p = behind;
		if (!strict->has_comma) {
			good = p;
			state = strict->state;
		}
	}
	strict->has_comma = false;
	strict->state = state;
	strict->at += (uint64_t)(good - from);
	strict_emit(strict, (struct ts_bytes){ from, (size_t)(good - from) });
	return good;
}

static bool strict_can_skim(const struct ts_strict *strict)
{
	return strict->state >= AT_ITEM && strict->state <= AT_NEXT && !strict->has_comma &&
	       strict->nr_token == 0 && strict->depth > 0;
}

static const uint8_t *strict_in_deep(struct ts_strict *strict, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p;

	if (ts_jtok_skip_some(&strict->skip, &p, end))
		strict_value_done(strict);
	strict->at += (uint64_t)(p - from);
	return p;
}

void ts_strict_put(struct ts_strict *strict, struct ts_bytes piece)
{
	const uint8_t *p = piece.p, *end = piece.n ? piece.p + piece.n : p;

	TS_ASSERT_HOT(strict);
	TS_ASSERT_HOT(piece.p || piece.n == 0);
	while (p < end) {
		if (end - p > SKIM_ROOM && strict_can_skim(strict))
			p = strict_skim(strict, p, end);
		if (strict->state == IN_STRING)
			p = strict_in_string(strict, p, end);
		else if (strict->nr_token > 0)
			p = strict_in_scalar(strict, p, end);
		else if (strict->state == IN_DEEP)
			p = strict_in_deep(strict, p, end);
		else if (strict->state == AT_START)
			p = strict_start(strict, p);
		else
			p = strict_between(strict, p, end);
	}
}

/* A string, an escape, a number that the text's end cuts. */
static void strict_end_token(struct ts_strict *strict)
{
	struct ts_bytes token = { strict->token, strict->nr_token };

	if (strict->state == IN_STRING) {
		strict->nr_held = 0;
		strict_end_string(strict);
	} else if (strict->nr_token > 0) {
		strict->nr_token = 0;
		strict_scalar(strict, token);
	} else if (strict->state == IN_DEEP) {
		strict_value_done(strict);
	}
}

void ts_strict_seam(struct ts_strict *strict)
{
	TS_ASSERT(strict);
	strict_end_token(strict);
	strict->has_comma = false; /* the caller's item has its own */
	strict_put_comma(strict);
	strict->state = AT_NEXT;
}

void ts_strict_end(struct ts_strict *strict)
{
	bool was_good = !strict->first;

	TS_ASSERT(strict);
	if (strict->state == IN_STRING || strict->depth > 0 || strict->state == AT_START ||
	    (strict->state == AT_VALUE && strict->nr_token == 0)) {
		strict_refuse(strict, strict->at, "the text ends in the middle");
		strict->is_cut = was_good;
	}
	strict_end_token(strict);
	if (strict->state == AT_COLON || strict->state == AT_MEMBER)
		strict_emits(strict, strict->state == AT_COLON ? ":null" : "null");
	strict->has_comma = false;
	strict->nr_spaces = 0;
	for (; strict->depth > 0; strict->depth--)
		strict_emits(strict, strict_in_object(strict) ? "}" : "]");
	if (strict->state == AT_START || strict->state == AT_VALUE)
		strict_emits(strict, "null");
	strict->state = AT_END;
}

uint64_t ts_strict_value(struct ts_bytes token, struct ts_buf *out)
{
	struct ts_strict strict;

	TS_ASSERT_HOT(token.p || token.n == 0);
	ts_strict_init(&strict, NULL);
	strict.state = AT_VALUE;
	ts_strict_put(&strict, token);
	ts_strict_end(&strict);
	if (strict.nr_refused == 0)
		return 0;
	ts_strict_init(&strict, out);
	strict.state = AT_VALUE;
	ts_strict_put(&strict, token);
	ts_strict_end(&strict);
	return strict.nr_refused;
}
