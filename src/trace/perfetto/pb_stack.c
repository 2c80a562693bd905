/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of ops, the outermost frame first: their lines of source where the profile has them,
 * else the scopes of the framework's op, else that there is neither, and the category.
 */
#include "trace/perfetto/pb.h"

enum stack_kind { STACK_OF_LINES, STACK_OF_SCOPES, STACK_OF_NONE };

static bool ends_with_number(struct ts_bytes text)
{
	size_t n = text.n;

	while (n > 0 && text.p[n - 1] >= '0' && text.p[n - 1] <= '9')
		n--;
	return n < text.n && n > 0 && text.p[n - 1] == ':';
}

/* "train.py:12:3" is its line alone. */
static struct ts_bytes without_column(struct ts_bytes text)
{
	struct ts_bytes line = text;

	if (!ends_with_number(text))
		return text;
	while (line.p[line.n - 1] != ':')
		line.n--;
	line.n--;
	return ends_with_number(line) ? line : text;
}

/* Where the first line ends, or the first scope: a slash within brackets belongs to a name. */
static size_t end_of_frame(struct ts_bytes text, enum stack_kind kind)
{
	size_t at = 0, depth = 0;

	for (; at < text.n; at++) {
		uint8_t c = text.p[at];

		if (kind == STACK_OF_LINES ? c == '\n' : c == '/' && depth == 0)
			break;
		depth += c == '(';
		depth -= c == ')' && depth > 0;
	}
	return at;
}

static uint64_t pb_stack_frame_of(struct ts_perfetto_interning *interning, struct ts_bytes text)
{
	bool is_new;
	uint64_t iid =
		ts_perfetto_pb_iid(interning, &interning->row->seen->frames, text, 1, &is_new);
	struct ts_buf *out;
	size_t frame;

	if (!is_new)
		return iid;
	ts_perfetto_pb_intern(interning, INTERNED_FUNCTION_NAMES, iid, text);
	out = ts_perfetto_pb_interning(interning);
	frame = ts_pbw_begin(out, INTERNED_FRAMES);
	ts_pbw_u64(out, FRAME_IID, iid);
	ts_pbw_u64(out, FRAME_FUNCTION, iid);
	ts_pbw_end(out, frame);
	return iid;
}

/* A frame for which there is no room is left out of the stack. */
static void pb_stack_put_frame(struct ts_perfetto_interning *interning, struct ts_buf *stack,
			       struct ts_bytes text)
{
	uint64_t iid = text.n ? pb_stack_frame_of(interning, text) : 0;

	if (iid)
		ts_pbw_u64(stack, CALLSTACK_FRAMES, iid);
}

static void pb_stack_put_frames(struct ts_perfetto_interning *interning, struct ts_buf *stack,
				struct ts_bytes text, enum stack_kind kind)
{
	if (kind == STACK_OF_NONE) {
		pb_stack_put_frame(interning, stack, TS_LIT("(no source)"));
		pb_stack_put_frame(interning, stack, text);
		return;
	}
	while (text.n > 0) {
		size_t end = end_of_frame(text, kind);
		struct ts_bytes frame = ts_bytes_cut(text, 0, end);

		pb_stack_put_frame(interning, stack,
				   kind == STACK_OF_LINES ? without_column(frame) : frame);
		text = ts_bytes_cut(text, end + 1, text.n);
	}
}

static enum stack_kind pb_stack_kind_of(const struct ts_op *op, struct ts_bytes *text)
{
	if (op->source_stack.n) {
		*text = ts_perfetto_cut(op->source_stack);
		return STACK_OF_LINES;
	}
	if (op->framework_op.n) {
		*text = ts_perfetto_cut(op->framework_op);
		return STACK_OF_SCOPES;
	}
	*text = ts_perfetto_cut(op->category.n ? op->category : op->name);
	return STACK_OF_NONE;
}

uint64_t ts_perfetto_pb_stack(struct ts_perfetto_interning *interning, const struct ts_op *op)
{
	struct ts_perfetto_seen *seen = interning->row->seen;
	struct ts_bytes text;
	enum stack_kind kind = pb_stack_kind_of(op, &text);
	struct ts_buf *out;
	size_t stack;
	bool is_new;
	uint64_t iid = ts_perfetto_pb_iid(interning, &seen->stacks[kind], text, 1, &is_new);

	if (iid == 0)
		return 0;
	iid = iid * TS_NELEM(seen->stacks) + kind; /* kinds share one numbering */
	if (!is_new)
		return iid;
	ts_buf_clear(&seen->scratch);
	pb_stack_put_frames(interning, &seen->scratch, text, kind);
	out = ts_perfetto_pb_interning(interning);
	stack = ts_pbw_begin(out, INTERNED_CALLSTACKS);
	ts_pbw_u64(out, CALLSTACK_IID, iid);
	ts_buf_put(out, ts_buf_bytes(&seen->scratch));
	ts_pbw_end(out, stack);
	out->failed |= seen->scratch.failed;
	return iid;
}
