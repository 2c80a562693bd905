/* The walk over a trace's text. A state machine of tokens; nothing is recursive. */
#include "copy/events.h"

struct walk {
	struct ts_window text;
	const struct ts_events_visitor *visitor;
	struct ts_events_report *report;
	enum ts_status st; /* memory, disk, or what the visitor said */
	struct ts_error *err;
	bool over; /* the text is read, or makes no sense any more */
};

static void damaged(struct walk *walk, const char *cause)
{
	struct ts_error *damage = &walk->report->damage;

	walk->over = true;
	if (damage->text[0] == '\0')
		ts_fail(damage, TS_FORMAT, "byte %llu: %s",
			(unsigned long long)ts_window_at(&walk->text, walk->text.p),
			walk->text.damage.text[0] ? walk->text.damage.text : cause);
}

static void truncated(struct walk *walk)
{
	walk->text.p = walk->text.end;
	damaged(walk, "the trace ends in the middle");
}

static bool more(struct walk *walk)
{
	bool got = ts_window_more(&walk->text, &walk->st);

	if (walk->st == TS_NOMEM)
		ts_fail_nomem(walk->err);
	return got;
}

/* The next byte that is no space; 0 at the end. */
static uint8_t peek(struct walk *walk)
{
	do {
		walk->text.p = ts_jtok_space(walk->text.p, walk->text.end);
		if (walk->text.p < walk->text.end)
			return *walk->text.p;
	} while (more(walk));
	return 0;
}

/* Over an object or array that is longer than a window. */
static bool pass_over(struct walk *walk)
{
	struct ts_jtok_skip skip = { .in_string = false };

	walk->report->nr_too_long++;
	while (!ts_jtok_skip_some(&skip, &walk->text.p, walk->text.end)) {
		ts_window_forget(&walk->text);
		if (!more(walk))
			return false;
	}
	return true;
}

/* The whole value at the cursor, which moves behind it. .p NULL: it was passed over, or there is no
 * more to be read. */
static struct ts_bytes token(struct walk *walk)
{
	struct ts_bytes none = { NULL, 0 }, found;
	const uint8_t *behind;
	bool nested;

	do {
		behind = ts_jtok_value_end(walk->text.p, walk->text.end);
	} while (!behind && more(walk));
	nested = walk->text.p < walk->text.end && (*walk->text.p == '{' || *walk->text.p == '[');
	if (!behind && walk->st == TS_OK && (walk->text.ended || !nested || !pass_over(walk)))
		truncated(walk);
	if (!behind)
		return none;
	if (behind == walk->text.p) {
		damaged(walk, "this is no JSON");
		return none;
	}
	found = (struct ts_bytes){ walk->text.p, (size_t)(behind - walk->text.p) };
	walk->text.p = behind;
	return found;
}

/* Is what the token names whole: does it close with what it opened with? */
static bool is_object(struct ts_bytes token)
{
	return token.n >= 2 && token.p[0] == '{' && token.p[token.n - 1] == '}';
}

static void one_event(struct walk *walk)
{
	struct ts_bytes event = token(walk);

	if (!event.p)
		return;
	if (!is_object(event))
		damaged(walk, "no trace event stands here");
	else
		walk->st = walk->visitor->event(walk->visitor->ctx, event, walk->err);
	ts_window_forget(&walk->text);
}

/* Behind the '['. The bracket of an array alone may be missing ("Trace Event Format"). */
static void all_events(struct walk *walk, bool in_object)
{
	const struct ts_events_visitor *visitor = walk->visitor;
	bool open = true;

	if (visitor->events_begin)
		walk->st = visitor->events_begin(visitor->ctx, in_object, walk->err);
	while (open && walk->st == TS_OK && !walk->over) {
		switch (peek(walk)) {
		case ']':
			open = false;
			walk->text.p++;
			break;
		case ',': walk->text.p++; break;
		case '{': one_event(walk); break;
		case 0:
			open = false;
			if (walk->text.p >= walk->text.end && !in_object &&
			    !walk->text.damage.text[0])
				walk->over = true;
			else if (walk->text.p >= walk->text.end)
				truncated(walk);
			else
				damaged(walk, "no trace event stands here");
			break;
		default: damaged(walk, "no trace event stands here"); break;
		}
	}
	if (walk->st == TS_OK && visitor->events_end)
		walk->st = visitor->events_end(visitor->ctx, walk->err);
}

/* The window moves under a key: a copy, cut to what a key of any writer needs. */
struct key {
	uint8_t text[256];
	size_t n;
};

static void value_of(struct walk *walk, const struct key *key)
{
	const struct ts_events_visitor *visitor = walk->visitor;
	struct ts_bytes name = { key->text, key->n }, value;

	if (peek(walk) == '[' && ts_bytes_is(name, "traceEvents")) {
		walk->text.p++;
		all_events(walk, true);
		return;
	}
	if (walk->text.p >= walk->text.end) {
		truncated(walk);
		return;
	}
	value = token(walk);
	if (value.p && visitor->member)
		walk->st = visitor->member(visitor->ctx, name, value, walk->err);
}

/* "KEY": and what follows. */
static void one_member(struct walk *walk)
{
	struct ts_bytes name = ts_jtok_text(token(walk));
	struct key key = { .n = TS_MIN(name.n, sizeof(key.text)) };

	if (walk->over || walk->st)
		return;
	if (key.n > 0)
		memcpy(key.text, name.p, key.n);
	if (peek(walk) == ':') {
		walk->text.p++;
		value_of(walk, &key);
	} else if (walk->text.p >= walk->text.end) {
		truncated(walk);
	} else {
		damaged(walk, "this is no JSON");
	}
}

static void all_members(struct walk *walk)
{
	while (walk->st == TS_OK && !walk->over) {
		switch (peek(walk)) {
		case '}': walk->over = true; break;
		case ',': walk->text.p++; break;
		case '"': one_member(walk); break;
		default:
			if (walk->text.p >= walk->text.end)
				truncated(walk);
			else
				damaged(walk, "this is no JSON");
			break;
		}
	}
}

/* A byte-order mark, which some writers put in front. */
static void pass_mark(struct walk *walk)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };

	while (walk->text.end - walk->text.p < 3 && more(walk))
		;
	if (walk->text.end - walk->text.p >= 3 && memcmp(walk->text.p, mark, 3) == 0)
		walk->text.p += 3;
}

static void whole_text(struct walk *walk)
{
	const struct ts_events_visitor *visitor = walk->visitor;
	uint8_t c;

	pass_mark(walk);
	c = peek(walk);
	if (walk->st)
		return;
	if (c != '{' && c != '[') {
		damaged(walk, "this is no JSON");
		return;
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
}

enum ts_status ts_events_walk(struct ts_bytes bytes, bool mapped,
			      const struct ts_events_visitor *visitor,
			      struct ts_events_report *report, struct ts_error *err)
{
	struct walk walk = { .visitor = visitor, .report = report, .err = err };

	*report = (struct ts_events_report){ .damage = TS_ERROR_INIT };
	walk.st = ts_window_open(&walk.text, bytes, mapped, err);
	if (walk.st == TS_OK)
		whole_text(&walk);
	ts_window_release(&walk.text);
	return walk.st;
}
