/* SPDX-License-Identifier: MIT */
/*
 * UTF-8, one character at a time, over bytes that may hold anything.
 */
#ifndef TS_CODEC_UTF8_H
#define TS_CODEC_UTF8_H

#include "base/bytes.h"

#define TS_UTF8_BAD	    UINT32_MAX	   /* not the start of a character */
#define TS_UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD, what is shown for it */

/*
 * The character at *P, which is before END, and moves *P behind it. TS_UTF8_BAD: overlong, cut off,
 * a surrogate or past U+10FFFF; *P is then behind the part that could have begun a character, so
 * that one replacement stands for each of these parts (Unicode 15, section 3.9).
 */
uint32_t ts_utf8_next(const uint8_t **p, const uint8_t *end);

/*
 * True for a character that steers a terminal or turns the reading direction: C0, DEL, C1, bidi
 * controls.
 */
bool ts_utf8_is_control(uint32_t c);

#endif
