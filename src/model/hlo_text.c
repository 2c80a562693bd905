/* SPDX-License-Identifier: MIT */
/*
 * Shapes as text, both ways: bf16[8,128]{1,0:T(8,128)(2,1)S(1)}. The form is that of XLA's printer
 * (openxla/xla, xla/shape_util.cc, xla/layout.cc). Which of several dimensions is a bound ("<=") is
 * not kept, so it is not printed. Read and passed over: D, #, *, P and M of a layout.
 */
#include "base/buf.h"

#include "base/check.h"
#include "base/limits.h"
#include "model/hlo.h"

#define MAX_DIMS  64
#define MAX_TILES 16

static void print_tile(struct ts_buf *out, const struct ts_tile *tile)
{
	ts_buf_putc(out, '(');
	for (uint32_t i = 0; i < tile->nr_dims; i++) {
		if (i > 0)
			ts_buf_putc(out, ',');
		if (tile->dims[i] == TS_TILE_MERGE)
			ts_buf_putc(out, '*');
		else
			ts_buf_i64(out, tile->dims[i]);
	}
	ts_buf_putc(out, ')');
}

static void print_number(struct ts_buf *out, const char *name, int64_t number)
{
	ts_buf_puts(out, name);
	ts_buf_putc(out, '(');
	ts_buf_i64(out, number);
	ts_buf_putc(out, ')');
}

static void print_attributes(struct ts_buf *out, const struct ts_shape *shape)
{
	if (shape->nr_tiles > 0)
		ts_buf_putc(out, 'T');
	for (uint32_t i = 0; i < shape->nr_tiles; i++)
		print_tile(out, &shape->tiles[i]);
	if (shape->tail_alignment > 1)
		print_number(out, "L", shape->tail_alignment);
	if (shape->element_bits > 0)
		print_number(out, "E", shape->element_bits);
	if (shape->memory_space != 0)
		print_number(out, "S", shape->memory_space);
}

static void print_layout(struct ts_buf *out, const struct ts_shape *shape)
{
	bool more = shape->nr_tiles > 0 || shape->tail_alignment > 1 || shape->element_bits > 0 ||
		    shape->memory_space != 0;

	if (shape->rank == 0 && !more)
		return;
	ts_buf_putc(out, '{');
	for (uint32_t i = 0; i < shape->rank; i++) {
		if (i > 0)
			ts_buf_putc(out, ',');
		ts_buf_u64(out, shape->minor_to_major[i]);
	}
	if (more)
		ts_buf_putc(out, ':');
	print_attributes(out, shape);
	ts_buf_putc(out, '}');
}

static void print_parts(struct ts_buf *out, const struct ts_shape *shape)
{
	ts_buf_putc(out, '(');
	for (uint32_t i = 0; i < shape->nr_parts; i++) {
		if (i > 0)
			ts_buf_puts(out, ", ");
		ts_shape_print(out, &shape->parts[i]);
	}
	ts_buf_putc(out, ')');
}

void ts_shape_print(struct ts_buf *out, const struct ts_shape *shape)
{
	TS_ASSERT(out && shape);
	if (shape->dtype == TS_TUPLE) {
		print_parts(out, shape);
		return;
	}
	ts_buf_puts(out, ts_dtype_name(shape->dtype));
	ts_buf_putc(out, '[');
	for (uint32_t i = 0; i < shape->rank; i++) {
		if (i > 0)
			ts_buf_putc(out, ',');
		ts_buf_i64(out, shape->dims[i]);
	}
	ts_buf_putc(out, ']');
	if (shape->has_layout)
		print_layout(out, shape);
}

struct ts_bytes ts_shape_text(struct ts_arena *arena, const struct ts_shape *shape)
{
	struct ts_bytes text = { NULL, 0 };
	struct ts_buf buf = TS_BUF_INIT;

	TS_ASSERT(arena && shape);
	ts_shape_print(&buf, shape);
	if (!buf.failed)
		text = ts_arena_copy(arena, ts_buf_bytes(&buf));
	ts_buf_release(&buf);
	return text;
}

/* Text that is being read; each function takes what it names from the front of it. */
struct text {
	const uint8_t *p, *end;
	struct ts_arena *arena;
};

static bool hlo_text_take(struct text *text, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(text->end - text->p) < n || memcmp(text->p, word, n) != 0)
		return false;
	text->p += n;
	return true;
}

static bool at_digit(const struct text *text)
{
	return text->p < text->end && *text->p >= '0' && *text->p <= '9';
}

static bool hlo_text_take_number(struct text *text, int64_t *number)
{
	const uint8_t *start = text->p;

	while (at_digit(text))
		text->p++;
	return ts_bytes_i64((struct ts_bytes){ start, (size_t)(text->p - start) }, number);
}

/* Spaces, and the comments that stand in long tuples: a count of the parts before. */
static void skip_space(struct text *text)
{
	for (;;) {
		if (hlo_text_take(text, " "))
			continue;
		if (!hlo_text_take(text, "/*"))
			return;
		while (text->p < text->end && !hlo_text_take(text, "*/"))
			text->p++;
	}
}

static bool take_dtype(struct text *text, enum ts_dtype *dtype)
{
	struct ts_bytes name = { text->p, 0 };

	while (text->p < text->end && *text->p != '[' && name.n < 16) {
		text->p++;
		name.n++;
	}
	for (int i = 1; i < TS_NR_DTYPES; i++) {
		if (!ts_bytes_is(name, ts_dtype_name((enum ts_dtype)i)))
			continue;
		*dtype = (enum ts_dtype)i;
		return i != TS_TUPLE;
	}
	return false;
}

/* 2,<=3,? up to the bracket. */
static bool take_dims(struct text *text, struct ts_shape *shape)
{
	int64_t dims[MAX_DIMS];
	uint32_t n = 0;

	if (!hlo_text_take(text, "["))
		return false;
	while (!hlo_text_take(text, "]")) {
		if (n == MAX_DIMS || (n > 0 && !hlo_text_take(text, ",")))
			return false;
		dims[n] = 0;
		if (hlo_text_take(text, "?") || hlo_text_take(text, "<="))
			shape->is_dynamic = true;
		if (text->p[-1] != '?' && !hlo_text_take_number(text, &dims[n]))
			return false;
		n++;
	}
	shape->rank = n;
	shape->dims = ts_arena_dup(text->arena, dims, n, sizeof(*dims));
	return shape->dims != NULL;
}

/* 3,1,0,2 up to the colon or brace: each dimension once. */
static bool take_order(struct text *text, struct ts_shape *shape)
{
	uint32_t order[MAX_DIMS], n = 0;
	uint64_t seen = 0;
	int64_t dim;

	while (at_digit(text)) {
		if (n == shape->rank || !hlo_text_take_number(text, &dim) || dim >= shape->rank ||
		    seen >> dim & 1)
			return false;
		seen |= UINT64_C(1) << dim;
		order[n++] = (uint32_t)dim;
		if (!hlo_text_take(text, ","))
			break;
	}
	if (n != shape->rank)
		return false;
	shape->minor_to_major = ts_arena_dup(text->arena, order, n, sizeof(*order));
	return shape->minor_to_major != NULL;
}

/* 8,128) behind an open parenthesis. */
static bool take_tile(struct text *text, struct ts_tile *tile)
{
	int64_t dims[MAX_DIMS];
	uint32_t n = 0;

	do {
		if (n == MAX_DIMS)
			return false;
		if (hlo_text_take(text, "*"))
			dims[n] = TS_TILE_MERGE;
		else if (!hlo_text_take_number(text, &dims[n]))
			return false;
		n++;
	} while (hlo_text_take(text, ","));
	tile->nr_dims = n;
	tile->dims = ts_arena_dup(text->arena, dims, n, sizeof(*dims));
	return tile->dims && hlo_text_take(text, ")");
}

static bool take_tiles(struct text *text, struct ts_shape *shape)
{
	struct ts_tile tiles[MAX_TILES];
	uint32_t n = 0;

	while (hlo_text_take(text, "("))
		if (n == MAX_TILES || !take_tile(text, &tiles[n++]))
			return false;
	shape->nr_tiles = n;
	shape->tiles = ts_arena_dup(text->arena, tiles, n, sizeof(*tiles));
	return n > 0 && shape->tiles;
}

/* SC(1:256,512): dimension 1, split before 256 and 512. The largest piece counts. */
static bool take_split(struct text *text, struct ts_shape *shape)
{
	int64_t dim, at, last = 0;

	if (!hlo_text_take_number(text, &dim) || dim >= shape->rank || !hlo_text_take(text, ":"))
		return false;
	do {
		if (!hlo_text_take_number(text, &at))
			return false;
		shape->split_size = TS_MAX(shape->split_size, ts_i64_sub(at, last));
		last = at;
	} while (hlo_text_take(text, ","));
	shape->split_size = TS_MAX(shape->split_size, ts_i64_sub(shape->dims[dim], last));
	shape->split_dim = (uint32_t)dim;
	return hlo_text_take(text, ")");
}

/* All text in parentheses, nested ones included. */
static bool skip_group(struct text *text)
{
	unsigned open = 1;

	while (text->p < text->end && open > 0) {
		open += *text->p == '(';
		open -= *text->p == ')';
		text->p++;
	}
	return open == 0;
}

static bool take_attribute(struct text *text, struct ts_shape *shape)
{
	if (hlo_text_take(text, "T"))
		return take_tiles(text, shape);
	if (hlo_text_take(text, "SC("))
		return take_split(text, shape);
	if (hlo_text_take(text, "S("))
		return hlo_text_take_number(text, &shape->memory_space) && hlo_text_take(text, ")");
	if (hlo_text_take(text, "E("))
		return hlo_text_take_number(text, &shape->element_bits) && hlo_text_take(text, ")");
	if (hlo_text_take(text, "L("))
		return hlo_text_take_number(text, &shape->tail_alignment) &&
		       hlo_text_take(text, ")");
	while (text->p < text->end && strchr("DPM#*", *text->p) && *text->p)
		text->p++;
	return hlo_text_take(text, "(") && skip_group(text);
}

static bool take_layout(struct text *text, struct ts_shape *shape)
{
	if (!take_order(text, shape))
		return false;
	if (hlo_text_take(text, ":"))
		while (text->p < text->end && *text->p != '}')
			if (!take_attribute(text, shape))
				return false;
	shape->has_layout = true;
	return hlo_text_take(text, "}");
}

static bool take_array(struct text *text, struct ts_shape *shape)
{
	if (!take_dtype(text, &shape->dtype) || !take_dims(text, shape))
		return false;
	shape->has_layout =
		shape->rank == 0 && ts_dtype_bits(shape->dtype) > 0; /* f32[] has but one */
	return !hlo_text_take(text, "{") || take_layout(text, shape);
}

static enum ts_status not_a_shape(struct ts_error *err)
{
	return ts_fail(err, TS_FORMAT, "this is no shape as XLA prints it");
}

static enum ts_status hlo_text_take_shape(struct text *text, struct ts_shape *shape, unsigned depth,
					  struct ts_error *err);

/* A tuple's parts, behind its open parenthesis. */
static enum ts_status take_parts(struct text *text, struct ts_shape *shape, unsigned depth,
				 struct ts_error *err)
{
	struct ts_shape *parts = NULL, *kept = NULL;
	size_t cap = 0, n = 0;
	enum ts_status st = TS_OK;

	shape->dtype = TS_TUPLE;
	while (st == TS_OK && !hlo_text_take(text, ")")) {
		if (n > 0 && !hlo_text_take(text, ","))
			st = not_a_shape(err);
		else if (!ts_grow(&parts, &cap, n + 1, sizeof(*parts)))
			st = ts_fail_nomem(err);
		else
			st = hlo_text_take_shape(text, &parts[n++], depth + 1, err);
		skip_space(text);
	}
	if (st == TS_OK) {
		kept = ts_arena_dup(text->arena, parts, n, sizeof(*parts));
		st = kept ? TS_OK : ts_fail_nomem(err);
	}
	free(parts);
	if (kept)
		ts_shape_set_parts(shape, kept, (uint32_t)n);
	return st;
}

static enum ts_status hlo_text_take_shape(struct text *text, struct ts_shape *shape, unsigned depth,
					  struct ts_error *err)
{
	*shape = (struct ts_shape){ .tail_alignment = 1 };
	skip_space(text);
	if (depth > TS_LIMIT_HLO_SHAPE_DEPTH)
		return not_a_shape(err);
	if (hlo_text_take(text, "("))
		return take_parts(text, shape, depth, err);
	return take_array(text, shape) ? TS_OK : not_a_shape(err);
}

enum ts_status ts_shape_parse(struct ts_arena *arena, struct ts_bytes text, struct ts_shape *shape,
			      struct ts_bytes *rest, struct ts_error *err)
{
	struct text in = { text.p, text.p + text.n, arena };
	enum ts_status st;

	TS_ASSERT(arena && shape);
	TS_ASSERT(text.p || text.n == 0);
	st = text.n > 0 ? hlo_text_take_shape(&in, shape, 1, err) : not_a_shape(err);
	if (st == TS_OK && rest)
		*rest = (struct ts_bytes){ in.p, (size_t)(in.end - in.p) };
	return st;
}
