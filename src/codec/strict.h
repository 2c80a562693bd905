/* SPDX-License-Identifier: MIT */
/*
 * A text of JSON as strict readers take it (RFC 8259: Python's json, JSON.parse, Perfetto): where they would refuse it, and the
 * same text mended. Our own readers take more (codec/jtok.h), so a text that is read may be one that viewers refuse.
 *
 * The text comes piece by piece, cut anywhere. With .out it goes there: every byte as it is, but for what is
 * refused, which becomes null (a number that is none), an escape (a byte in a text), U+FFFD (a byte that is not
 * UTF-8), the right bracket or comma, or nothing. What comes out is one value of JSON whatever went in; values that are nested
 * deeper than TS_STRICT_DEPTH are null.
 *
 * Memory is this struct. Nothing is recursive.
 */
#ifndef TS_CODEC_STRICT_H
#define TS_CODEC_STRICT_H

#include "base/buf.h"
#include "codec/jtok.h"

#define TS_STRICT_DEPTH 960 /* Python's json.load refuses a thousand */
#define TS_STRICT_TOKEN 512 /* bytes of a number that is cut by a piece's end */

struct ts_strict {
	struct ts_buf *out;  /* NULL: the text is looked at, and not mended */
	uint64_t at;	     /* in the text: of the next byte */
	uint64_t nr_refused; /* places */
	uint64_t first_at;   /* of the first of them, */
	const char *first;   /* and what it is; NULL: there is none */
	bool is_cut;	     /* that is the end of a text that is not over */

	/* From here on: for the code alone. */
	uint8_t state;
	bool has_comma;		       /* one is due before the next item, and */
	uint8_t spaces[64], nr_spaces; /* these stand behind it */
	uint8_t held[6], nr_held;      /* of an escape, or of a character of several bytes, */
	uint8_t nr_wanted;	       /* which has so many; 0: it is an escape */
	bool is_key;		       /* the string is one */
	uint8_t token[TS_STRICT_TOKEN];
	size_t nr_token;
	size_t depth;
	uint8_t is_object[TS_STRICT_DEPTH / 8]; /* a bit a level */
	struct ts_jtok_skip skip;
};

void ts_strict_init(struct ts_strict *strict, struct ts_buf *out);
void ts_strict_put(struct ts_strict *strict, struct ts_bytes piece);
/* In a list: an item of the caller's goes to .out here, with a comma before it where one stood before. */
void ts_strict_seam(struct ts_strict *strict);
/* The text is over: what is open is closed. */
void ts_strict_end(struct ts_strict *strict);

/* All of it for one value; with OUT empty where nothing is refused: then the token is good as it is. */
uint64_t ts_strict_value(struct ts_bytes token, struct ts_buf *out);

#endif
