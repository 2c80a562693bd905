/* SPDX-License-Identifier: MIT */
/*
 * Redacting a trace: each event and each member of the outermost object is rewritten as it comes.
 * An event's members are those of "Trace Event Format"; args are known by their names, like stats.
 */
#include "copy/redact.h"

#include "base/check.h"
#include "read/walk.h"

struct redacting {
	const struct ts_names *names;
	struct ts_copy_out *out;
	struct ts_buf text;
	bool comma, events_comma;
};

/* Hands over what was made of a piece of text. */
static enum ts_status redact_trace_put(struct redacting *redacting, struct ts_error *err)
{
	if (redacting->text.failed)
		return ts_fail_nomem(err);
	ts_copy_put(redacting->out, ts_buf_bytes(&redacting->text));
	return TS_OK;
}

static void begin_item(struct redacting *redacting, bool *comma)
{
	ts_buf_clear(&redacting->text);
	ts_buf_puts(&redacting->text, *comma ? ",\n" : "\n");
	*comma = true;
}

static enum ts_status redact_trace_take_begin(void *ctx, bool is_object, struct ts_error *err)
{
	struct redacting *redacting = ctx;

	if (is_object)
		ts_copy_puts(redacting->out, "{");
	return TS_OK;
}

static enum ts_status redact_trace_take_member(void *ctx, struct ts_bytes key,
					       struct ts_bytes value, struct ts_error *err)
{
	struct redacting *redacting = ctx;
	enum ts_key_kind kind = ts_names_key(redacting->names, key);

	begin_item(redacting, &redacting->comma);
	ts_buf_putc(&redacting->text, '"');
	if (kind == TS_KEY_UNKNOWN)
		ts_names_secret(redacting->names, key, &redacting->text);
	else
		ts_buf_put(&redacting->text, key);
	ts_buf_puts(&redacting->text, "\": ");
	ts_redact_json(redacting->names, value, kind, &redacting->text);
	return redact_trace_put(redacting, err);
}

static enum ts_status take_events_begin(void *ctx, bool is_object, struct ts_error *err)
{
	struct redacting *redacting = ctx;

	ts_buf_clear(&redacting->text);
	if (is_object) {
		begin_item(redacting, &redacting->comma);
		ts_buf_puts(&redacting->text, "\"traceEvents\": ");
	}
	ts_buf_putc(&redacting->text, '[');
	redacting->events_comma = false;
	return redact_trace_put(redacting, err);
}

static enum ts_status redact_trace_take_event(void *ctx, struct ts_bytes event,
					      struct ts_error *err)
{
	struct redacting *redacting = ctx;

	begin_item(redacting, &redacting->events_comma);
	ts_redact_json(redacting->names, event, TS_KEY_UNKNOWN, &redacting->text);
	return redact_trace_put(redacting, err);
}

static enum ts_status take_events_end(void *ctx, struct ts_error *err)
{
	struct redacting *redacting = ctx;

	ts_copy_puts(redacting->out, "\n]");
	return TS_OK;
}

static enum ts_status redact_trace_take_end(void *ctx, bool is_object, struct ts_error *err)
{
	struct redacting *redacting = ctx;

	ts_copy_puts(redacting->out, is_object ? "\n}\n" : "\n");
	return TS_OK;
}

enum ts_status ts_redact_trace(const struct ts_names *names, struct ts_bytes bytes, bool mapped,
			       struct ts_copy_out *out, struct ts_redact_report *report,
			       struct ts_error *err)
{
	struct redacting redacting = { .names = names, .out = out };
	const struct ts_walk_visitor visitor = {
		.ctx = &redacting,
		.begin = redact_trace_take_begin,
		.member = redact_trace_take_member,
		.events_begin = take_events_begin,
		.event = redact_trace_take_event,
		.events_end = take_events_end,
		.end = redact_trace_take_end,
	};
	struct ts_walk_report events;
	enum ts_status st = ts_walk_all(bytes, mapped, &visitor, &events, err);

	TS_ASSERT(names && out);
	TS_ASSERT(bytes.p || bytes.n == 0);
	*report = (struct ts_redact_report){ .nr_left_out = events.nr_too_long,
					     .damage = events.damage };
	ts_buf_release(&redacting.text);
	return st;
}
