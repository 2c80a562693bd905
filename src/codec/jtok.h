/* SPDX-License-Identifier: MIT */
/*
 * Tokens of JSON, read in place: for texts that are too long for a tree (traces), most of which is
 * passed over. Nothing is recursive and nothing is kept.
 *
 *	struct ts_jtok members = ts_jtok_enter(object);
 *
 *	while (ts_jtok_member(&members))
 *		if (ts_bytes_is(members.key, "args"))
 *			read_args(members.value);
 *
 * A token is what stands in the text: a string has its quotes and escapes, an object its braces.
 * Functions that look for the end of a token give NULL when END comes first.
 */
#ifndef TS_CODEC_JTOK_H
#define TS_CODEC_JTOK_H

#include "base/arena.h"

static inline const uint8_t *ts_jtok_space(const uint8_t *p, const uint8_t *end)
{
	while (p < end && *p <= ' ')
		p++;
	return p;
}
/* P is behind the opening quote; gives the closing one. */
const uint8_t *ts_jtok_string_end(const uint8_t *p, const uint8_t *end);
/* Behind the value that starts at P. */
const uint8_t *ts_jtok_value_end(const uint8_t *p, const uint8_t *end);

struct ts_jtok_skip { /* over one value, piece by piece */
	uint64_t depth;
	bool in_string, escaped;
};
/* Goes on over an object or array: true when its end was met, *P is behind it then. */
bool ts_jtok_skip_some(struct ts_jtok_skip *skip, const uint8_t **p, const uint8_t *end);

/* A string's token without its quotes, any other scalar as it is; escapes stay. */
struct ts_bytes ts_jtok_text(struct ts_bytes token);
/* Takes escapes out, into ARENA. .p NULL: no memory. */
struct ts_bytes ts_jtok_unescape(struct ts_arena *arena, struct ts_bytes raw);

/* The double that is nearest to a number of at most 63 characters; false: it is not one. */
bool ts_jtok_real(struct ts_bytes token, double *real);

/* Microseconds, exactly: whole ones and ps. False: it is not a number, or not a finite one. */
struct ts_micros {
	int64_t us, ps;
};
bool ts_jtok_micros(struct ts_bytes token, struct ts_micros *time);

/* The members of an object, one after the other; nothing nested is entered. */
struct ts_jtok {
	const uint8_t *p, *end;
	struct ts_bytes key, value; /* key: its text; value: the token */
};
struct ts_jtok ts_jtok_enter(struct ts_bytes object); /* or array; any other value has no members */
bool ts_jtok_member(struct ts_jtok *members);
bool ts_jtok_element(struct ts_jtok *members); /* of an array, in .value */
/* The value at a dotted name in an object; empty: it is not there. */
struct ts_bytes ts_jtok_at(struct ts_bytes object, const char *name);

#endif
