/* SPDX-License-Identifier: MIT */
/* The memory at the peak of a program by the line of source that asked for it. */
#include "analysis/capacity/capacity.h"

#include "analysis/kit/source.h"
#include "base/order.h"
#include "result/schema/capacity.def"

#define MAX_LINES 200

/* What one line of source has at the peak. */
struct line {
	struct ts_bytes source; /* empty: no line is known */
	const struct buffer *largest;
	int64_t nr_bytes, nr_buffers;
};

struct lines {
	struct line *items;
	size_t nr, cap;
	struct ts_strmap by_source;
};

static enum ts_status add_to_line(struct lines *lines, struct ts_bytes source,
				  const struct buffer *buffer, struct ts_error *err)
{
	uint32_t at = ts_strmap_find(&lines->by_source, source);
	struct line *line;

	if (at == TS_NONE) {
		at = (uint32_t)lines->nr;
		if (!ts_grow(&lines->items, &lines->cap, lines->nr + 1, sizeof(*lines->items)) ||
		    !ts_strmap_set(&lines->by_source, source, at))
			return ts_fail_nomem(err);
		lines->items[lines->nr++] = (struct line){ .source = source };
	}
	line = &lines->items[at];
	line->nr_bytes = ts_i64_add(line->nr_bytes, buffer->nr_bytes);
	line->nr_buffers++;
	if (!line->largest || buffer->nr_bytes > line->largest->nr_bytes)
		line->largest = buffer;
	return TS_OK;
}

TS_ORDER(by_line_bytes, struct line, TS_DOWN(nr_bytes) TS_UP(source))

static struct ts_bytes capacity_lines_largest_of(const struct program *program,
						 const struct line *line, struct ts_result *result)
{
	return part_name(result, instr_of(program, line->largest->instr), line->largest->leaf);
}

#define LINE_CELLS(X) \
	X(source, ts_text_or_null(line->source)) \
	X(module, ts_text_or_null(program->sum.module->name)) \
	X(bytes, ts_int(line->nr_bytes)) \
	X(buffers, ts_int(line->nr_buffers)) \
	X(largest, ts_text_or_null(capacity_lines_largest_of(program, line, result)))

static void capacity_lines_put_lines(const struct program *program, const struct lines *lines,
				     struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, capacity_lines);

	for (size_t i = 0; i < lines->nr && i < MAX_LINES; i++) {
		const struct line *line = &lines->items[i];

		TS_CELLS(result, table, capacity_lines, LINE_CELLS);
	}
}

static enum ts_status sum_lines(const struct program *program, struct ts_result *result,
				struct lines *lines, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < program->nr_buffers; i++) {
		const struct buffer *buffer = &program->buffers[i];
		struct ts_bytes source;

		if (!ts_capacity_is_alive(program, buffer))
			continue;
		source = ts_instr_source(result, instr_of(program, buffer->instr));
		st = add_to_line(lines, source, buffer, err);
		if (st)
			return st;
	}
	TS_SORT(lines->items, lines->nr, by_line_bytes);
	return TS_OK;
}

/* Parameters are from the caller: they have no line. */
enum ts_status ts_capacity_put_lines(const struct program *program, struct ts_result *result,
				     struct ts_error *err)
{
	struct lines lines = { .items = NULL };
	enum ts_status st = sum_lines(program, result, &lines, err);

	if (st == TS_OK)
		capacity_lines_put_lines(program, &lines, result);
	free(lines.items);
	ts_strmap_release(&lines.by_source);
	return st;
}
