/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a trace's text. A state machine of tokens; nothing is recursive. */
#include "read/walk.h"

#include "base/check.h"

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

bool ts_walk_more(struct ts_walk *walk)
{
	bool got = ts_window_more(&walk->text, &walk->st);

	TS_ASSERT_HOT(walk);
	if (walk->st == TS_NOMEM)
		ts_fail_nomem(walk->err);
	return got;
}

/* The next byte that is not space; false at the end. */
static bool peek(struct ts_walk *walk, uint8_t *c)
{
	do {
		walk->text.p = ts_jtok_space(walk->text.p, walk->text.end);
		if (walk->text.p < walk->text.end) {
			*c = *walk->text.p;
			return true;
		}
	} while (ts_walk_more(walk));
	return false;
}

/* The same where something must follow. */
static bool need(struct ts_walk *walk, uint8_t *c)
{
	if (peek(walk, c))
		return true;
	truncated(walk);
	return false;
}

static bool is_nested(const struct ts_walk *walk)
{
	return walk->text.p < walk->text.end && (*walk->text.p == '{' || *walk->text.p == '[');
}

bool ts_walk_skip(struct ts_walk *walk)
{
	struct ts_jtok_skip skip = { .in_string = false };

	TS_ASSERT(is_nested(walk));
	while (!ts_jtok_skip_some(&skip, &walk->text.p, walk->text.end)) {
		ts_window_forget(&walk->text);
		if (!ts_walk_more(walk))
			return false;
	}
	return true;
}

/*
 * The whole value at the cursor, which moves behind it. .p NULL: it was passed over, or the text
 * has ended.
 */
static struct ts_bytes token(struct ts_walk *walk)
{
	struct ts_bytes found = { NULL, 0 };
	const uint8_t *behind;

	do {
		behind = ts_jtok_value_end(walk->text.p, walk->text.end);
	} while (!behind && ts_walk_more(walk));
	if (behind == walk->text.p) {
		not_json(walk);
	} else if (behind) {
		found = (struct ts_bytes){ walk->text.p, (size_t)(behind - walk->text.p) };
		walk->text.p = behind;
	} else if (walk->st == TS_OK) {
		bool can_skip = !walk->text.ended && is_nested(walk);

		walk->nr_too_long += can_skip;
		if (!can_skip || !ts_walk_skip(walk))
			truncated(walk);
	}
	return found;
}

/* The value of a member that the visitor wants; .p NULL: it was passed over, or cannot be read. */
static struct ts_bytes wanted_value(struct ts_walk *walk, struct ts_bytes key)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	struct ts_bytes none = { NULL, 0 }, value;
	bool wanted = visitor->member && (!visitor->wants || visitor->wants(key));

	if (wanted)
		return token(walk);
	if (!is_nested(walk)) {
		value = token(walk);
		(void)value;
	} else if (!ts_walk_skip(walk)) {
		truncated(walk);
	}
	return none;
}

/* Does the token close with what it opened with? */
static bool is_object(struct ts_bytes token)
{
	return token.n >= 2 && token.p[0] == '{' && token.p[token.n - 1] == '}';
}

static void one_event(struct ts_walk *walk)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	struct ts_bytes event;

	if (visitor->at_event) {
		walk->st = visitor->at_event(visitor->ctx, walk->err);
		return;
	}
	event = token(walk);
	if (!event.p)
		return;
	if (!is_object(event))
		not_event(walk);
	else if (visitor->event)
		walk->st = visitor->event(visitor->ctx, event, walk->err);
	ts_window_forget(&walk->text);
}

/* Behind the '['. The bracket of an array alone may be missing ("Trace Event Format"). */
static void list_ends(struct ts_walk *walk, bool in_object)
{
	walk->list_at = ts_walk_at(walk);
	if (in_object || walk->text.damage.text[0])
		truncated(walk);
	walk->over = true;
}

static void one_of_list(struct ts_walk *walk, uint8_t c)
{
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
		one_event(walk);
		walk->needs_comma |= !walk->over && walk->st == TS_OK;
		break;
	default: not_event(walk); break;
	}
}

static void all_events(struct ts_walk *walk, bool in_object)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	uint8_t c;

	walk->list_at = ts_walk_at(walk);
	walk->needs_comma = walk->list_is_whole = false;
	if (visitor->events_begin)
		walk->st = visitor->events_begin(visitor->ctx, in_object, walk->err);
	while (!walk->list_is_whole && walk->st == TS_OK && !walk->over) {
		if (peek(walk, &c))
			one_of_list(walk, c);
		else if (walk->st == TS_OK)
			list_ends(walk, in_object);
	}
	if (walk->st == TS_OK && visitor->events_end)
		walk->st = visitor->events_end(visitor->ctx, walk->err);
}

/* The window moves under a key: a copy, cut to what a key of any writer needs. */
struct key {
	uint8_t text[256];
	size_t n;
};

static void value_of(struct ts_walk *walk, const struct key *key)
{
	struct ts_bytes name = { key->text, key->n }, value;
	uint8_t c;

	if (!need(walk, &c))
		return;
	if (c == '[' && ts_bytes_is(name, "traceEvents")) {
		walk->text.p++;
		all_events(walk, true);
		return;
	}
	value = wanted_value(walk, name);
	if (value.p)
		walk->st = walk->visitor->member(walk->visitor->ctx, name, value, walk->err);
}

/* "KEY": and what follows. */
static void one_member(struct ts_walk *walk)
{
	struct ts_bytes name = ts_jtok_text(token(walk));
	struct key key = { .n = TS_MIN(name.n, sizeof(key.text)) };
	uint8_t c;

	if (walk->over || walk->st)
		return;
	if (key.n > 0)
		memcpy(key.text, name.p, key.n);
	if (!need(walk, &c))
		return;
	if (c != ':') {
		not_json(walk);
		return;
	}
	walk->text.p++;
	value_of(walk, &key);
	if (!walk->over && walk->st == TS_OK)
		walk->good_at = ts_walk_at(walk);
}

static void all_members(struct ts_walk *walk)
{
	uint8_t c;

	while (walk->st == TS_OK && !walk->over && need(walk, &c)) {
		switch (c) {
		case '}':
			walk->over = walk->is_whole = true;
			walk->text.p++;
			break;
		case ',': walk->text.p++; break;
		case '"': one_member(walk); break;
		default:  not_json(walk); break;
		}
	}
}

/* A byte-order mark, which some writers put in front. */
static void pass_mark(struct ts_walk *walk)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };

	while (walk->text.end - walk->text.p < 3 && ts_walk_more(walk))
		;
	if (walk->text.end - walk->text.p >= 3 && memcmp(walk->text.p, mark, 3) == 0)
		walk->text.p += 3;
}

/* Behind the outermost bracket: a second trace would be lost without a word. The end of what was packed has the sum of
 * all bytes. */
static void nothing_behind(struct ts_walk *walk)
{
	uint8_t c;

	if (peek(walk, &c) || walk->text.damage.text[0])
		ts_walk_damaged(walk, walk->text.p, "the trace has ended, and more text follows");
}

enum ts_status ts_walk_run(struct ts_walk *walk)
{
	const struct ts_walk_visitor *visitor = walk->visitor;
	uint8_t c;

	TS_ASSERT(!walk->over && walk->st == TS_OK);
	if (need(walk, &c))
		pass_mark(walk);
	if (walk->st || walk->over || !need(walk, &c))
		return walk->st;
	if (c != '{' && c != '[') {
		not_json(walk);
		return walk->st;
	}
	walk->text.p++;
	if (visitor->begin)
		walk->st = visitor->begin(visitor->ctx, c == '{', walk->err);
	if (walk->st == TS_OK && c == '{')
		all_members(walk);
	else if (walk->st == TS_OK)
		all_events(walk, false);
	if (walk->st == TS_OK && visitor->end)
		walk->st = visitor->end(visitor->ctx, c == '{', walk->err);
	if (walk->st == TS_OK && (c == '{' ? walk->is_whole : walk->list_is_whole))
		nothing_behind(walk);
	return walk->st;
}

enum ts_status ts_walk_open(struct ts_walk *walk, struct ts_bytes bytes, bool mapped,
			    const struct ts_walk_visitor *visitor, struct ts_error *err)
{
	TS_ASSERT(visitor && !(visitor->event && visitor->at_event));
	*walk = (struct ts_walk){ .visitor = visitor, .err = err };
	walk->st = ts_window_open(&walk->text, bytes, mapped, err);
	return walk->st;
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
		st = ts_walk_run(&walk);
	*report = (struct ts_walk_report){ .nr_too_long = walk.nr_too_long };
	if (walk.damage[0])
		ts_fail(&report->damage, TS_FORMAT, "byte %llu: %s",
			(unsigned long long)walk.damage_at, walk.damage);
	ts_walk_release(&walk);
	return st;
}
