/* SPDX-License-Identifier: MIT */
/*
 * Text of a profile on a terminal: bytes that would steer the terminal or turn the reading
 * direction, or are not UTF-8, are shown as U+FFFD; line ends and tabs as a space. Widths count
 * characters, which is right for all but wide and combining ones.
 */
#ifndef TS_CODEC_TERM_H
#define TS_CODEC_TERM_H

#include "base/buf.h"

#define TS_TERM_ELLIPSIS "\xE2\x80\xA6"

enum ts_term_side { TS_TERM_LEFT, TS_TERM_RIGHT };

size_t ts_term_width(struct ts_bytes text);
struct ts_bytes ts_term_head(struct ts_bytes text, size_t width); /* its first characters, a view */
void ts_term_text(struct ts_buf *out, struct ts_bytes text);
/* At most WIDTH characters: a longer text loses its middle to an ellipsis. */
void ts_term_cut(struct ts_buf *out, struct ts_bytes text, size_t width);
/* As cut, and filled with spaces to WIDTH; the text stands on SIDE. */
void ts_term_cell(struct ts_buf *out, struct ts_bytes text, size_t width, enum ts_term_side side);
/*
 * Words in lines of WIDTH characters (0: one line): the first begins at column AT, where the cursor
 * stands, the others at column INDENT. After LINES lines (0: all) the rest is an ellipsis. White
 * space of the text is one space. Ends without a line end; gives the column it ends at.
 */
struct ts_term_wrap {
	size_t width, at, indent, lines;
};
size_t ts_term_wrap(struct ts_buf *out, struct ts_bytes text, struct ts_term_wrap how);

#endif
