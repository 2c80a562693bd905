/* SPDX-License-Identifier: MIT */
/* Terminal-safe text. */
#include "codec/term.h"

#include "base/check.h"
#include "codec/utf8.h"

static bool is_space(uint32_t c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static struct ts_bytes term_between(const uint8_t *start, const uint8_t *end)
{
	return (struct ts_bytes){ start, (size_t)(end - start) };
}

size_t ts_term_width(struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = text.n ? text.p + text.n : text.p;
	size_t width = 0;

	TS_ASSERT_HOT(text.p || text.n == 0);
	for (; p < end; width++)
		ts_utf8_next(&p, end);
	return width;
}

void ts_term_text(struct ts_buf *out, struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = text.n ? text.p + text.n : text.p;

	TS_ASSERT_HOT(out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	while (p < end) {
		const uint8_t *start = p;
		uint32_t c = ts_utf8_next(&p, end);

		if (is_space(c))
			ts_buf_putc(out, ' ');
		else if (c == TS_UTF8_BAD || ts_utf8_is_control(c))
			ts_buf_puts(out, TS_UTF8_REPLACEMENT);
		else
			ts_buf_put(out, term_between(start, p));
	}
}

/* The part from character FROM on, NR characters at most. */
static struct ts_bytes characters(struct ts_bytes text, size_t from, size_t nr)
{
	const uint8_t *p = text.p, *end = text.p + text.n, *start;

	while (from-- > 0 && p < end)
		ts_utf8_next(&p, end);
	start = p;
	while (nr-- > 0 && p < end)
		ts_utf8_next(&p, end);
	return term_between(start, p);
}

struct ts_bytes ts_term_head(struct ts_bytes text, size_t width)
{
	TS_ASSERT_HOT(text.p || text.n == 0);
	return text.n ? characters(text, 0, width) : text;
}

void ts_term_cut(struct ts_buf *out, struct ts_bytes text, size_t width)
{
	size_t full = ts_term_width(text), head = width / 2;

	TS_ASSERT_HOT(out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	if (full <= width) {
		ts_term_text(out, text);
		return;
	}
	if (width == 0)
		return;
	ts_term_text(out, characters(text, 0, head));
	ts_buf_puts(out, TS_TERM_ELLIPSIS);
	ts_term_text(out, characters(text, full - (width - head - 1), width));
}

void ts_term_cell(struct ts_buf *out, struct ts_bytes text, size_t width, enum ts_term_side side)
{
	size_t full = ts_term_width(text), fill = full < width ? width - full : 0;

	TS_ASSERT(out);
	TS_ASSERT(text.p || text.n == 0);
	if (side == TS_TERM_RIGHT)
		ts_buf_pad(out, ' ', fill);
	ts_term_cut(out, text, width);
	if (side == TS_TERM_LEFT)
		ts_buf_pad(out, ' ', fill);
}

/* The next word of *REST, which moves behind it and the space that follows; empty at the end. */
static struct ts_bytes next_word(struct ts_bytes *rest)
{
	size_t from = 0, to;
	struct ts_bytes word;

	while (from < rest->n && is_space(rest->p[from]))
		from++;
	for (to = from; to < rest->n && !is_space(rest->p[to]);)
		to++;
	word = ts_bytes_cut(*rest, from, to - from);
	while (to < rest->n && is_space(rest->p[to]))
		to++;
	*rest = ts_bytes_cut(*rest, to, rest->n);
	return word;
}

static size_t break_line(struct ts_buf *out, size_t indent)
{
	ts_buf_putc(out, '\n');
	ts_buf_pad(out, ' ', indent);
	return indent;
}

/*
 * For a word that does not fit any more: an ellipsis, or as much of it as fits when it is alone on
 * its line.
 */
static size_t give_up(struct ts_buf *out, struct ts_bytes word, size_t at, size_t width, bool begun)
{
	if (begun)
		ts_buf_puts(out, " " TS_TERM_ELLIPSIS);
	else
		ts_term_cut(out, word, width > at ? width - at : 1);
	return begun ? at + 2 : width;
}

size_t ts_term_wrap(struct ts_buf *out, struct ts_bytes text, struct ts_term_wrap how)
{
	size_t at = how.at, line = 1;
	bool begun = false; /* a word stands on this line */

	TS_ASSERT(out);
	TS_ASSERT(text.p || text.n == 0);
	if (how.width == 0)
		how.width = SIZE_MAX;
	while (text.n > 0) {
		struct ts_bytes word = next_word(&text);
		size_t n = ts_term_width(word), more = text.n ? 2 : 0; /* an ellipsis may follow */
		bool fits = at + begun + n + (line == how.lines ? more : 0) <= how.width;

		if (!fits && line != how.lines && (begun || at > how.indent)) {
			at = break_line(out, how.indent);
			begun = false;
			line++;
			fits = at + n + (line == how.lines ? more : 0) <= how.width;
		}
		if (!fits && line == how.lines)
			return give_up(out, word, at, how.width, begun);
		if (begun)
			ts_buf_putc(out, ' ');
		ts_term_text(out, word); /* a word wider than the line is written whole */
		at += begun + n;
		begun = true;
	}
	return at;
}
