/* SPDX-License-Identifier: MIT */
/* HTML escapes (WHATWG HTML, 13.1.4 and 13.2.3.5). */
#include "codec/html.h"

#include "base/check.h"
#include "codec/utf8.h"

static const char *entity(uint32_t c)
{
	switch (c) {
	case '&':  return "&amp;";
	case '<':  return "&lt;";
	case '>':  return "&gt;";
	case '"':  return "&quot;";
	case '\'': return "&#39;";
	default:   return NULL;
	}
}

static bool html_is_forbidden(uint32_t c)
{
	return c == TS_UTF8_BAD || (ts_utf8_is_control(c) && c != '\t' && c != '\n' && c != '\r');
}

void ts_html_text(struct ts_buf *out, struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = text.p ? text.p + text.n : text.p;

	TS_ASSERT_HOT(out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	while (p < end) {
		const uint8_t *start = p;
		uint32_t c = ts_utf8_next(&p, end);

		if (entity(c))
			ts_buf_puts(out, entity(c));
		else if (html_is_forbidden(c))
			ts_buf_puts(out, TS_UTF8_REPLACEMENT);
		else
			ts_buf_put(out, (struct ts_bytes){ start, (size_t)(p - start) });
	}
}
