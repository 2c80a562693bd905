/* SPDX-License-Identifier: MIT */
/* UTF-8 after table 3-7 of the Unicode Standard: which second bytes a first byte allows. */
#include "codec/utf8.h"

struct lead {
	uint8_t first, last; /* of the lead byte */
	uint8_t nr_more;     /* bytes behind it */
	uint8_t bits;	     /* of the lead byte that belong to the character */
	uint8_t lo, hi;	     /* of the second byte; those behind it are 80..BF */
};

static const struct lead leads[] = {
	{ 0xC2, 0xDF, 1, 0x1F, 0x80, 0xBF }, { 0xE0, 0xE0, 2, 0x0F, 0xA0, 0xBF },
	{ 0xE1, 0xEC, 2, 0x0F, 0x80, 0xBF }, { 0xED, 0xED, 2, 0x0F, 0x80, 0x9F },
	{ 0xEE, 0xEF, 2, 0x0F, 0x80, 0xBF }, { 0xF0, 0xF0, 3, 0x07, 0x90, 0xBF },
	{ 0xF1, 0xF3, 3, 0x07, 0x80, 0xBF }, { 0xF4, 0xF4, 3, 0x07, 0x80, 0x8F },
};

static const struct lead *find_lead(uint8_t byte)
{
	for (size_t i = 0; i < TS_NELEM(leads); i++)
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	return NULL;
}

uint32_t ts_utf8_next(const uint8_t **p, const uint8_t *end)
{
	const uint8_t *at = *p;
	const struct lead *lead;
	uint32_t c = *at++;

	*p = at;
	if (c < 0x80)
		return c;
	lead = find_lead((uint8_t)c);
	if (!lead)
		return TS_UTF8_BAD;
	c &= lead->bits;
	for (unsigned i = 0; i < lead->nr_more; i++) {
		uint8_t lo = i ? 0x80 : lead->lo, hi = i ? 0xBF : lead->hi;

		*p = at;
		if (at == end || *at < lo || *at > hi)
			return TS_UTF8_BAD;
		c = c << 6 | (*at++ & 0x3F);
	}
	*p = at;
	return c;
}

bool ts_utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
	       (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}
