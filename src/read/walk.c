/* SPDX-License-Identifier: MIT */
/* The walk over a trace's text. A state machine of tokens; nothing is recursive. */
#include "read/walk.h"

#include "base/check.h"

#define AT_END (-1) /* in place of a byte: the text has no more */

void ts_walk_damaged(struct ts_walk *walk, const uint8_t *p, const char *cause)
{
	TS_ASSERT(p >= walk->text.start && p <= walk->text.end);
	walk->over = true;
	if (walk->damage[0])
		return;
	walk->damage_at = ts_window_at(&walk->text, p);
	snprintf(walk->damage, sizeof(walk->damage), "%s",
		 walk->text.damage.text[0] ? walk->text.damage.text : cause);
}

static void not_json(struct ts_walk *walk)
{
	ts_walk_damaged(walk, walk->text.p, "this is no JSON");
}

static void not_event(struct ts_walk *walk)
{
	ts_walk_damaged(walk, walk->text.p, "no trace event stands here");
}

static void truncated(struct ts_walk *walk)
{
	ts_walk_damaged(walk, walk->text.end, "the trace ends in the middle");
}

/* The next byte that is not space, or AT_END. */
static TS_INLINE enum ts_status peek(struct ts_walk *walk, int *c, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	bool more = true;

	*c = AT_END;
	while (st == TS_OK && more) {
		walk->text.p = ts_jtok_space(walk->text.p, walk->text.end);
		if (walk->text.p < walk->text.end) {
			*c = *walk->text.p;
			break;
		}
		st = ts_window_more(&walk->text, &more, err);
	}
	return st;
}

/* The same where something must follow. */
static enum ts_status walk_need(struct ts_walk *walk, int *c, struct ts_error *err)
{
	enum ts_status st = peek(walk, c, err);

	if (st == TS_OK && *c == AT_END)
		truncated(walk);
	return st;
}

static bool is_nested(const struct ts_walk *walk)
{
	return walk->text.p < walk->text.end && (*walk->text.p == '{' || *walk->text.p == '[');
}

enum ts_status ts_walk_skip(struct ts_walk *walk, struct ts_error *err)
{
	struct ts_jtok_skip skip = { .in_string = false };
	enum ts_status st = TS_OK;
	bool more = true;

	TS_ASSERT(is_nested(walk));
	while (st == TS_OK && more && !ts_jtok_skip_some(&skip, &walk->text.p, walk->text.end)) {
		ts_window_forget(&walk->text);
		st = ts_window_more(&walk->text, &more, err);
	}
	if (!more)
		truncated(walk);
	return st;
}

/*
 * The whole value at the cursor, which moves behind it. .p NULL: it was passed over, or the text
 * has ended.
 */
static enum ts_status token(struct ts_walk *walk, struct ts_bytes *found, struct ts_error *err)
{
	const uint8_t *behind;
	bool more = true;

	*found = (struct ts_bytes){ NULL, 0 };
	while (!(behind = ts_jtok_value_end(walk->text.p, walk->text.end)) && more) {
		enum ts_status st = ts_window_more(&walk->text, &more, err);

		if (st)
			return st;
	}
	if (behind == walk->text.p) {
		not_json(walk);
	} else if (behind) {
		*found = (struct ts_bytes){ walk->text.p, (size_t)(behind - walk->text.p) };
		walk->text.p = behind;
	} else if (walk->text.ended || !is_nested(walk)) {
		truncated(walk);
	} else {
		walk->nr_too_long++;
		return ts_walk_skip(walk, err);
	}
	return TS_OK;
}

/* Does the token close with what it opened with? */
static bool walk_is_object(struct ts_bytes token)
{
	return token.n >= 2 && token.p[0] == '{' && token.p[token.n - 1] == '}';
}

static enum ts_status one_event(struct ts_walk *walk, struct ts_error *err)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	struct ts_bytes event;
	enum ts_status st;

	if (visitor->at_event)
		return visitor->at_event(visitor->ctx, err);
	st = token(walk, &event, err);
	if (st || !event.p)
		return st;
	if (!walk_is_object(event))
		not_event(walk);
	else if (visitor->event)
		st = visitor->event(visitor->ctx, event, err);
	ts_window_forget(&walk->text);
	return st;
}

static enum ts_status one_of_list(struct ts_walk *walk, int c, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	walk->list_at = ts_walk_at(walk);
	switch (c) {
	case ']':
		walk->list_is_whole = true;
		walk->text.p++;
		break;
	case ',':
		walk->needs_comma = false;
		walk->text.p++;
		break;
	case '{':
		st = one_event(walk, err);
		walk->needs_comma |= !walk->over && st == TS_OK;
		walk->has_items |= walk->needs_comma;
		break;
	default: not_event(walk); break;
	}
	return st;
}

static enum ts_status all_events(struct ts_walk *walk, bool in_object, struct ts_error *err)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	enum ts_status st = TS_OK;
	int c;

	walk->list_at = ts_walk_at(walk);
	walk->needs_comma = walk->has_items = walk->list_is_whole = false;
	if (visitor->events_begin)
		st = visitor->events_begin(visitor->ctx, in_object, err);
	while (st == TS_OK && !walk->list_is_whole && !walk->over) {
		st = peek(walk, &c, err);
		if (st)
			return st;
		if (c == AT_END) {
			/* the bracket of an array alone may be missing ("Trace Event Format") */
			walk->list_at = ts_walk_at(walk);
			if (in_object || walk->text.damage.text[0])
				truncated(walk);
			walk->over = true;
		} else {
			st = one_of_list(walk, c, err);
		}
	}
	return st || !visitor->events_end ? st : visitor->events_end(visitor->ctx, err);
}

/* The window moves under a key: a copy, cut to what a key of any writer needs. */
struct key {
	uint8_t text[256];
	size_t n;
};

static enum ts_status walk_value_of(struct ts_walk *walk, const struct key *key,
				    struct ts_error *err)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	struct ts_bytes name = { key->text, key->n }, value;
	bool is_wanted = visitor->member && (!visitor->wants || visitor->wants(name));
	enum ts_status st;
	int c;

	st = walk_need(walk, &c, err);
	if (st || c == AT_END)
		return st;
	if (c == '[' && ts_bytes_is(name, "traceEvents")) {
		walk->text.p++;
		return all_events(walk, true, err);
	}
	if (!is_wanted && is_nested(walk))
		return ts_walk_skip(walk, err);
	st = token(walk, &value, err);
	if (st || !is_wanted || !value.p)
		return st;
	return visitor->member(visitor->ctx, name, value, err);
}

/* "KEY": and what follows. */
static enum ts_status one_member(struct ts_walk *walk, struct ts_error *err)
{
	struct ts_bytes name;
	struct key key;
	enum ts_status st = token(walk, &name, err);
	int c;

	if (st || walk->over)
		return st;
	name = ts_jtok_text(name);
	key.n = TS_MIN(name.n, sizeof(key.text));
	if (key.n > 0)
		memcpy(key.text, name.p, key.n);
	st = walk_need(walk, &c, err);
	if (st || c == AT_END)
		return st;
	if (c != ':') {
		not_json(walk);
		return TS_OK;
	}
	walk->text.p++;
	st = walk_value_of(walk, &key, err);
	if (st == TS_OK && !walk->over)
		walk->good_at = ts_walk_at(walk);
	return st;
}

static enum ts_status all_members(struct ts_walk *walk, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	int c;

	while (st == TS_OK && !walk->over) {
		st = walk_need(walk, &c, err);
		if (st || c == AT_END)
			break;
		switch (c) {
		case '}':
			walk->over = walk->is_whole = true;
			walk->text.p++;
			break;
		case ',': walk->text.p++; break;
		case '"': st = one_member(walk, err); break;
		default:  not_json(walk); break;
		}
	}
	return st;
}

/* A byte-order mark, which some writers put in front. */
static enum ts_status pass_mark(struct ts_walk *walk, struct ts_error *err)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
	enum ts_status st = TS_OK;
	bool more = true;

	while (st == TS_OK && more && walk->text.end - walk->text.p < 3)
		st = ts_window_more(&walk->text, &more, err);
	if (walk->text.end - walk->text.p >= 3 && memcmp(walk->text.p, mark, 3) == 0)
		walk->text.p += 3;
	return st;
}

/* Behind the outermost bracket: a second trace would be lost without a word. The end of what was packed has the sum of
 * all bytes. */
static enum ts_status nothing_behind(struct ts_walk *walk, struct ts_error *err)
{
	int c;
	enum ts_status st = peek(walk, &c, err);

	if (st == TS_OK && (c != AT_END || walk->text.damage.text[0]))
		ts_walk_damaged(walk, walk->text.p, "the trace has ended, and more text follows");
	return st;
}

enum ts_status ts_walk_run(struct ts_walk *walk, struct ts_error *err)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	enum ts_status st;
	int c;

	TS_ASSERT(!walk->over);
	st = walk_need(walk, &c, err);
	if (st == TS_OK && !walk->over)
		st = pass_mark(walk, err);
	if (st == TS_OK && !walk->over)
		st = walk_need(walk, &c, err);
	if (st || walk->over)
		return st;
	if (c != '{' && c != '[') {
		not_json(walk);
		return TS_OK;
	}
	walk->text.p++;
	if (visitor->begin)
		st = visitor->begin(visitor->ctx, c == '{', err);
	if (st == TS_OK)
		st = c == '{' ? all_members(walk, err) : all_events(walk, false, err);
	if (st == TS_OK && visitor->end)
		st = visitor->end(visitor->ctx, c == '{', err);
	if (st == TS_OK && (c == '{' ? walk->is_whole : walk->list_is_whole))
		st = nothing_behind(walk, err);
	return st;
}

enum ts_status ts_walk_open(struct ts_walk *walk, struct ts_bytes bytes, bool mapped,
			    const struct ts_walk_visitor *visitor, struct ts_error *err)
{
	TS_ASSERT(visitor && !(visitor->event && visitor->at_event));
	*walk = (struct ts_walk){ .visitor = visitor };
	return ts_window_open(&walk->text, bytes, mapped, err);
}

void ts_walk_release(struct ts_walk *walk)
{
	TS_ASSERT(walk);
	ts_window_release(&walk->text);
}

enum ts_status ts_walk_all(struct ts_bytes bytes, bool mapped,
			   const struct ts_walk_visitor *visitor, struct ts_walk_report *report,
			   struct ts_error *err)
{
	struct ts_walk walk;
	enum ts_status st = ts_walk_open(&walk, bytes, mapped, visitor, err);

	TS_ASSERT(visitor);
	TS_ASSERT(bytes.p || bytes.n == 0);
	if (st == TS_OK)
		st = ts_walk_run(&walk, err);
	*report = (struct ts_walk_report){ .nr_too_long = walk.nr_too_long };
	if (walk.damage[0])
		ts_fail(&report->damage, TS_FORMAT, "byte %llu: %s",
			(unsigned long long)walk.damage_at, walk.damage);
	ts_walk_release(&walk);
	return st;
}
