/* SPDX-License-Identifier: MIT */
/* Nothing is recursive: what is nested is passed over by counting brackets. */
#include "io/jsonhead.h"

#include "base/check.h"

static struct ts_bytes jsonhead_rest(struct ts_bytes text, size_t at)
{
	return ts_bytes_cut(text, at, text.n);
}

static struct ts_bytes jsonhead_space(struct ts_bytes text)
{
	size_t at = 0;

	while (at < text.n && text.p[at] <= ' ')
		at++;
	return jsonhead_rest(text, at);
}

/* How much of TEXT is the string that it begins with, quotes and all. */
static size_t jsonhead_string(struct ts_bytes text)
{
	size_t at = 1;

	while (at < text.n && text.p[at] != '"')
		at += text.p[at] == '\\' ? 2 : 1;
	return TS_MIN(at + 1, text.n);
}

static bool jsonhead_is(uint8_t c, const char *of)
{
	return c && strchr(of, c);
}

/* How much of TEXT is the value that it begins with. */
static size_t jsonhead_value(struct ts_bytes text)
{
	size_t at = 0, depth = 0;

	while (at < text.n) {
		uint8_t c = text.p[at];

		if (depth == 0 && at > 0 && (jsonhead_is(c, ",}]") || c <= ' '))
			break;
		depth += jsonhead_is(c, "{[");
		at += c == '"' ? jsonhead_string(jsonhead_rest(text, at)) : 1;
		if (jsonhead_is(c, "]}") && depth > 0)
			depth--;
		if (depth == 0 && jsonhead_is(c, "]}\""))
			break;
	}
	return at;
}

static struct ts_bytes jsonhead_unquote(struct ts_bytes token)
{
	bool is_closed = token.n > 1 && token.p[token.n - 1] == '"';

	if (token.n == 0 || token.p[0] != '"')
		return token;
	return ts_bytes_cut(token, 1, token.n - 1 - is_closed);
}

struct ts_bytes ts_jsonhead_start(struct ts_bytes head)
{
	TS_ASSERT(head.p || head.n == 0);
	return jsonhead_space(jsonhead_rest(head, ts_bytes_starts(head, "\xef\xbb\xbf") ? 3 : 0));
}

struct ts_jsonhead ts_jsonhead_of(struct ts_bytes head)
{
	struct ts_bytes text = ts_jsonhead_start(head);
	bool is_object = ts_bytes_starts(text, "{");

	TS_ASSERT(head.p || head.n == 0);
	return (struct ts_jsonhead){ .rest = jsonhead_rest(text, is_object ? 1 : text.n) };
}

bool ts_jsonhead_next(struct ts_jsonhead *members)
{
	struct ts_bytes text = jsonhead_space(members->rest);
	size_t n;

	TS_ASSERT(members);
	members->rest = jsonhead_rest(text, text.n);
	if (ts_bytes_starts(text, ","))
		text = jsonhead_space(jsonhead_rest(text, 1));
	if (!ts_bytes_starts(text, "\""))
		return false;
	n = jsonhead_string(text);
	members->key = jsonhead_unquote(ts_bytes_cut(text, 0, n));
	text = jsonhead_space(jsonhead_rest(text, n));
	if (!ts_bytes_starts(text, ":"))
		return false;
	text = jsonhead_space(jsonhead_rest(text, 1));
	n = jsonhead_value(text);
	members->value = jsonhead_unquote(ts_bytes_cut(text, 0, n));
	members->rest = jsonhead_rest(text, n);
	return true;
}

struct ts_bytes ts_jsonhead_find(struct ts_bytes head, const char *key)
{
	struct ts_jsonhead members = ts_jsonhead_of(head);

	TS_ASSERT(key);
	while (ts_jsonhead_next(&members))
		if (ts_bytes_is(members.key, key))
			return members.value;
	return (struct ts_bytes){ NULL, 0 };
}
