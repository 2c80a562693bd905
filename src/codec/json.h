/* SPDX-License-Identifier: MIT */
/*
 * A streaming JSON writer onto a buffer.
 *
 *	struct ts_json json = ts_json_of(&buf, TS_JSON_PRETTY);
 *
 *	ts_json_object(&json);
 *	ts_json_key(&json, "name");
 *	ts_json_string(&json, name);
 *	ts_json_object_end(&json);
 *
 * The writer puts commas, line ends and indentation; the caller sees to it that keys and values
 * alternate. Only the buffer holds memory; when memory runs out, its .failed is set.
 *
 * Text may be any bytes: bytes that are not UTF-8 become U+FFFD; control characters and '<' are
 * escaped, so that the output can stand inside an HTML script element and on a terminal. Numbers do
 * not depend on the locale.
 */
#ifndef TS_CODEC_JSON_H
#define TS_CODEC_JSON_H

#include "base/drain.h"

enum ts_json_style { TS_JSON_COMPACT, TS_JSON_PRETTY /* two spaces a level */ };

struct ts_json {
	struct ts_buf *out;
	enum ts_json_style style;
	unsigned depth;
	bool comma; /* something stands before the next item of this level */
	bool after_key;
	struct ts_drain *drain; /* that rows are offered to; NULL: .out keeps them */
};

static inline struct ts_json ts_json_of(struct ts_buf *out, enum ts_json_style style)
{
	return (struct ts_json){ .out = out, .style = style };
}

void ts_json_object(struct ts_json *json);
void ts_json_object_end(struct ts_json *json);
void ts_json_array(struct ts_json *json);
void ts_json_array_end(struct ts_json *json);
void ts_json_key(struct ts_json *json, const char *key);
void ts_json_key_bytes(struct ts_json *json, struct ts_bytes key);

void ts_json_i64(struct ts_json *json, int64_t value);
void ts_json_u64_string(struct ts_json *json, uint64_t value); /* "18446744073709551615" */
void ts_json_double(struct ts_json *json, double value);       /* NaN, infinities: null */
void ts_json_string(struct ts_json *json, struct ts_bytes text);
void ts_json_text(struct ts_json *json, const char *text); /* NULL: null */
void ts_json_bool(struct ts_json *json, bool value);
void ts_json_null(struct ts_json *json);

/* A key and its value. */
void ts_json_put_i64(struct ts_json *json, const char *key, int64_t value);
void ts_json_put_count(struct ts_json *json, const char *key, int64_t value); /* below 0: null */
void ts_json_put_double(struct ts_json *json, const char *key, double value);
void ts_json_put_bool(struct ts_json *json, const char *key, bool value);
void ts_json_put_string(struct ts_json *json, const char *key, struct ts_bytes text);
void ts_json_put_text(struct ts_json *json, const char *key, const char *text);
void ts_json_put_known(struct ts_json *json, const char *key,
		       struct ts_bytes text); /* .n 0: null */
void ts_json_put_given(struct ts_json *json, const char *key,
		       struct ts_bytes text); /* .n 0: nothing */

/* The pieces alone, for code that writes very many: a string with its quotes, a number. */
void ts_json_quote(struct ts_buf *out, struct ts_bytes text);
/* The fewest digits that read back the same (codec/shortest.h); NaN and infinities as "null". */
void ts_json_number(struct ts_buf *out, double value);

#endif
