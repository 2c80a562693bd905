/* SPDX-License-Identifier: MIT */
/*
 * A JSON value, written anew: numbers under known keys as they are, others of more than four digits hashed; texts by the rule
 * of the key they stand under. Text that is not JSON becomes a hash, so that the output is JSON for any input.
 */
#include "codec/json.h"

#include "base/check.h"
#include "base/limits.h"
#include "codec/jtok.h"
#include "copy/digits.h"
#include "copy/redact.h"

struct redacting {
	const struct ts_names *names;
	struct ts_buf *out;
	struct ts_arena arena; /* texts without their escapes */
	struct ts_buf text;
};

static void redact_json_put_text(struct redacting *redacting, struct ts_bytes raw,
				 enum ts_key_kind kind)
{
	struct ts_bytes text = ts_jtok_unescape(&redacting->arena, raw);

	ts_buf_clear(&redacting->text);
	ts_names_value(redacting->names, kind, text, &redacting->text);
	ts_json_quote(redacting->out, ts_buf_bytes(&redacting->text));
	redacting->out->failed |= redacting->text.failed || (raw.n > 0 && !text.p);
}

/* A number of somebody's own: one of many digits may be an id or a date. */
static bool redact_json_tells(struct ts_bytes number)
{
	size_t nr_digits = 0;

	for (size_t i = 0; i < number.n; i++)
		nr_digits += number.p[i] >= '0' && number.p[i] <= '9';
	return nr_digits > TS_DIGITS_MAX;
}

static bool is_literal(struct ts_bytes token)
{
	static const char *const literals[] = { "true", "false",    "null",
						"NaN",	"Infinity", "-Infinity" };

	for (size_t i = 0; i < TS_NELEM(literals); i++)
		if (ts_bytes_is(token, literals[i]))
			return true;
	return false;
}

static void redact_json_put_value(struct redacting *redacting, struct ts_bytes token,
				  enum ts_key_kind kind, unsigned depth);

static void redact_json_put_key(struct redacting *redacting, struct ts_bytes key,
				enum ts_key_kind kind)
{
	if (kind == TS_KEY_UNKNOWN) {
		redact_json_put_text(redacting, key, kind);
		return;
	}
	ts_json_quote(redacting->out, key); /* as the list of keys has it */
}

static void redact_json_put_object(struct redacting *redacting, struct ts_bytes token,
				   unsigned depth)
{
	struct ts_jtok members = ts_jtok_enter(token);
	const char *comma = "";

	ts_buf_putc(redacting->out, '{');
	for (; ts_jtok_member(&members); comma = ", ") {
		struct ts_bytes key = members.key, value = members.value;
		enum ts_key_kind kind = ts_names_key(redacting->names, key);

		ts_buf_puts(redacting->out, comma);
		redact_json_put_key(redacting, key, kind);
		ts_buf_puts(redacting->out, ": ");
		redact_json_put_value(redacting, value, kind, depth + 1);
	}
	ts_buf_putc(redacting->out, '}');
}

static void put_array(struct redacting *redacting, struct ts_bytes token, enum ts_key_kind kind,
		      unsigned depth)
{
	struct ts_jtok elements = ts_jtok_enter(token);
	const char *comma = "";

	ts_buf_putc(redacting->out, '[');
	for (; ts_jtok_element(&elements); comma = ", ") {
		ts_buf_puts(redacting->out, comma);
		redact_json_put_value(redacting, elements.value, kind, depth + 1);
	}
	ts_buf_putc(redacting->out, ']');
}

static void redact_json_put_value(struct redacting *redacting, struct ts_bytes token,
				  enum ts_key_kind kind, unsigned depth)
{
	uint8_t first = token.n > 0 ? token.p[0] : 0;

	if (first == '"')
		redact_json_put_text(redacting, ts_jtok_text(token), kind);
	else if (first == '{' && depth < TS_LIMIT_JSON_DEPTH)
		redact_json_put_object(redacting, token, depth);
	else if (first == '[' && depth < TS_LIMIT_JSON_DEPTH)
		put_array(redacting, token, kind, depth);
	else if (is_literal(token) || (ts_names_is_number(token) &&
				       (kind != TS_KEY_UNKNOWN || !redact_json_tells(token))))
		ts_buf_put(redacting->out, token);
	else
		redact_json_put_text(redacting, token, TS_KEY_UNKNOWN);
}

void ts_redact_json(const struct ts_names *names, struct ts_bytes token, enum ts_key_kind kind,
		    struct ts_buf *out)
{
	struct redacting redacting = { .names = names, .out = out };

	TS_ASSERT_HOT(names && out);
	TS_ASSERT_HOT(token.p || token.n == 0);
	redact_json_put_value(&redacting, token, kind, 0);
	ts_arena_release(&redacting.arena);
	ts_buf_release(&redacting.text);
}
