/* SPDX-License-Identifier: MIT */
/* Texts in Markdown, for places that have no links. */
#include "codec/markdown.h"

#include "base/check.h"

void ts_markdown_put_unlinked(struct ts_buf *out, const char *text)
{
	struct ts_bytes rest = ts_bytes_of(text);
	size_t close = ts_bytes_find(rest, "](");

	TS_ASSERT(out);
	while (close < rest.n) {
		size_t open = close;

		while (open > 0 && rest.p[open] != '[')
			open--;
		ts_buf_put(out, ts_bytes_cut(rest, 0, open));
		ts_buf_put(out, ts_bytes_cut(rest, open + 1, close - open - 1));
		rest = ts_bytes_cut(rest, close, rest.n);
		rest = ts_bytes_cut(rest, ts_bytes_find(rest, ")") + 1, rest.n);
		close = ts_bytes_find(rest, "](");
	}
	ts_buf_put(out, rest);
}
