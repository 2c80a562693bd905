/* SPDX-License-Identifier: MIT */
/*
 * Stories that PyTorch's compiler tells: why a graph broke, and which guards failed. From torch/_dynamo/
 * symbolic_convert.py, exc.py and guards.py of 2.5 to 2.15. A story has lines like
 *
 *	Graph break in user code at FILE:LINE
 *	Graph Break Reason: REASON			("Reason:" until 2.8)
 *	  Explanation: ...
 *	  Hint: ...
 *	User code traceback:
 *	  File "FILE", line LINE, in FUNCTION
 *
 * and where a reason ends with a colon, it only says what was being traced: the reason follows it.
 */
#include "read/torch_trace/torch_trace.h"

#include "base/check.h"
#include "base/buf.h"

enum part { PART_HEAD, PART_REASON, PART_STACK, PART_END };

struct story {
	struct ts_arena *arena;
	struct ts_torch_break *row;
	struct ts_buf hint, stack;
	enum part part;
};

struct ts_bytes ts_torch_trace_cut(struct ts_bytes text)
{
	size_t n = TS_MIN(text.n, (size_t)TS_LIMIT_TORCH_TEXT);

	TS_ASSERT(text.p || text.n == 0);
	while (n > 0 && n < text.n && (text.p[n] & 0xc0) == 0x80)
		n--;
	return ts_bytes_cut(text, 0, n);
}

static struct ts_bytes reasons_trimmed(struct ts_bytes line)
{
	while (line.n > 0 && line.p[0] <= ' ')
		line = ts_bytes_cut(line, 1, line.n);
	while (line.n > 0 && line.p[line.n - 1] <= ' ')
		line.n--;
	return line;
}

/* What follows PREFIX in the line; false: the line does not begin with it. */
static bool reasons_behind(struct ts_bytes line, const char *prefix, struct ts_bytes *rest)
{
	if (!ts_bytes_starts(line, prefix))
		return false;
	*rest = reasons_trimmed(ts_bytes_cut(line, strlen(prefix), line.n));
	return true;
}

static enum ts_status reasons_keep(struct story *story, struct ts_bytes text,
				   struct ts_bytes *where, struct ts_error *err)
{
	*where = ts_arena_copy(story->arena, ts_torch_trace_cut(text));
	return where->p ? TS_OK : ts_fail_nomem(err);
}

/* "FILE:LINE" */
static enum ts_status reasons_take_place(struct story *story, struct ts_bytes text,
					 struct ts_error *err)
{
	size_t at = text.n;
	int64_t line;

	while (at > 0 && text.p[at - 1] != ':')
		at--;
	if (at == 0 || !ts_bytes_i64(ts_bytes_cut(text, at, text.n), &line))
		return TS_OK;
	story->row->line = line;
	return reasons_keep(story, ts_bytes_cut(text, 0, at - 1), &story->row->file, err);
}

static bool reasons_is_own(struct ts_bytes file)
{
	return ts_bytes_has(file, "/site-packages/torch/") ||
	       ts_bytes_has(file, "/dist-packages/torch/") || ts_bytes_starts(file, "torch/");
}

/* File "FILE", line LINE, in FUNCTION: of the user's frames. */
static enum ts_status take_frame(struct story *story, struct ts_bytes line, struct ts_error *err)
{
	struct ts_bytes rest, file, number;
	size_t quote, comma;

	if (!reasons_behind(line, "File \"", &rest))
		return TS_OK;
	quote = ts_bytes_find(rest, "\", line ");
	file = ts_bytes_cut(rest, 0, quote);
	if (quote == rest.n || reasons_is_own(file))
		return TS_OK;
	number = ts_bytes_cut(rest, quote + strlen("\", line "), rest.n);
	comma = ts_bytes_find(number, ", in ");
	if (comma == number.n)
		return TS_OK;
	rest = ts_bytes_cut(number, comma + strlen(", in "), number.n);
	number = ts_bytes_cut(number, 0, comma);
	ts_buf_printf(&story->stack, "%s%.*s:%.*s in %.*s", story->stack.n ? "\n" : "",
		      TS_ARG(file), TS_ARG(number), TS_ARG(rest));
	return reasons_keep(story, rest, &story->row->function, err);
}

static enum ts_status take_reason(struct story *story, struct ts_bytes line, struct ts_error *err)
{
	struct ts_torch_break *row = story->row;
	struct ts_bytes rest;

	if (reasons_behind(line, "Explanation:", &rest))
		return row->explanation.n > 0 ? TS_OK
					      : reasons_keep(story, rest, &row->explanation, err);
	if (reasons_behind(line, "Hint:", &rest))
		ts_buf_printf(&story->hint, "%s%.*s", story->hint.n ? "\n" : "", TS_ARG(rest));
	else if (line.n > 0 && row->explanation.n == 0 && ts_bytes_ends(row->reason, ":"))
		return reasons_keep(story, line, &row->reason, err);
	return TS_OK;
}

static enum ts_status reasons_take_line(struct story *story, struct ts_bytes line,
					struct ts_error *err)
{
	static const char user_code[] = "in user code at ";
	size_t place = ts_bytes_find(line, user_code);
	struct ts_bytes rest;

	if (ts_bytes_starts(line, "Traceback (most recent call last)"))
		story->part = PART_END;
	else if (ts_bytes_starts(line, "User code traceback:"))
		story->part = PART_STACK;
	else if (story->part == PART_STACK)
		return take_frame(story, line, err);
	else if (story->part == PART_REASON)
		return take_reason(story, line, err);
	else if (reasons_behind(line, "Graph Break Reason:", &rest) ||
		 reasons_behind(line, "Reason:", &rest)) {
		story->part = PART_REASON;
		return reasons_keep(story, rest, &story->row->reason, err);
	} else if (story->part == PART_HEAD && place < line.n)
		return reasons_take_place(
			story, ts_bytes_cut(line, place + strlen(user_code), line.n), err);
	return TS_OK;
}

/* The next line of TEXT, trimmed; false: the text has ended. */
static bool reasons_next_line(struct ts_bytes *text, struct ts_bytes *line)
{
	size_t n = ts_bytes_find(*text, "\n");

	if (text->n == 0)
		return false;
	*line = reasons_trimmed(ts_bytes_cut(*text, 0, n));
	*text = ts_bytes_cut(*text, n + 1, text->n);
	return true;
}

enum ts_status ts_torch_trace_break(struct ts_arena *arena, struct ts_bytes text,
				    struct ts_torch_break *row, struct ts_error *err)
{
	struct story story = { arena, row, TS_BUF_INIT, TS_BUF_INIT, PART_HEAD };
	struct ts_bytes line;
	enum ts_status st = TS_OK;

	TS_ASSERT(arena && row);
	TS_ASSERT(text.p || text.n == 0);
	while (st == TS_OK && story.part != PART_END && reasons_next_line(&text, &line))
		st = reasons_take_line(&story, line, err);
	if (st == TS_OK && (story.hint.failed || story.stack.failed))
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = reasons_keep(&story, ts_buf_bytes(&story.hint), &row->hint, err);
	if (st == TS_OK)
		st = reasons_keep(&story, ts_buf_bytes(&story.stack), &row->stack, err);
	ts_buf_release(&story.hint);
	ts_buf_release(&story.stack);
	return st;
}

/* A line of a list in JSON: "...", */
static struct ts_bytes unquoted(struct ts_bytes line)
{
	if (ts_bytes_ends(line, ","))
		line.n--;
	if (line.n >= 2 && line.p[0] == '"' && line.p[line.n - 1] == '"')
		line = ts_bytes_cut(line, 1, line.n - 2);
	return line;
}

struct ts_bytes ts_torch_trace_guards(struct ts_arena *arena, struct ts_bytes text)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_bytes line, kept;

	TS_ASSERT(arena);
	TS_ASSERT(text.p || text.n == 0);
	while (reasons_next_line(&text, &line)) {
		line = unquoted(line);
		if (line.n == 0 || ts_bytes_is(line, "[") || ts_bytes_is(line, "]"))
			continue;
		ts_buf_puts(&out, out.n ? "\n" : "");
		ts_buf_put(&out, line);
	}
	kept = out.failed ? (struct ts_bytes){ NULL, 0 }
			  : ts_arena_copy(arena, ts_torch_trace_cut(ts_buf_bytes(&out)));
	ts_buf_release(&out);
	return kept;
}
