/* SPDX-License-Identifier: MIT */
/* Shapes of ops, bytes of arrays as tiles store them, and how a dimension is stored. */
#include "analysis/matrix/padding.h"

/* "%f.1 = bf16[8,100]{...} fusion(...)": the result's shape stands behind the sign. */
bool ts_padding_shape(struct ts_arena *scratch, const struct ts_op *op, struct ts_shape *shape)
{
	size_t at = ts_bytes_find(op->text, " = ");

	if (op->shape.n > 0 && ts_shape_parse(scratch, op->shape, shape, NULL, NULL) == TS_OK)
		return true;
	return at < op->text.n &&
	       ts_shape_parse(scratch, ts_bytes_cut(op->text, at + 3, op->text.n), shape, NULL,
			      NULL) == TS_OK;
}

struct ts_padding ts_padding_of_shape(const struct ts_shape *shape)
{
	struct ts_padding sum = { 0, 0 };

	if (shape->dtype != TS_TUPLE && shape->memory_space == TS_SPACE_HBM)
		return (struct ts_padding){ ts_shape_logical_bytes(shape), ts_shape_bytes(shape) };
	for (uint32_t i = 0; i < shape->nr_parts; i++) {
		const struct ts_shape *part = &shape->parts[i];

		if (part->dtype == TS_TUPLE || part->memory_space != TS_SPACE_HBM)
			continue;
		sum.logical_bytes = ts_i64_add(sum.logical_bytes, ts_shape_logical_bytes(part));
		sum.allocated_bytes = ts_i64_add(sum.allocated_bytes, ts_shape_bytes(part));
	}
	return sum;
}

static int64_t padding_bytes_round_up(int64_t n, int64_t unit)
{
	int64_t over = n % unit;

	return over ? ts_i64_add(n, unit - over) : n;
}

struct ts_stored ts_padding_stored(const struct ts_shape *shape, uint32_t minor)
{
	const struct ts_tile *tile = shape->nr_tiles > 0 ? &shape->tiles[0] : NULL;
	struct ts_stored out = { .size = 1, .unit = 1 };

	TS_ASSERT(shape);
	if (minor < shape->rank && shape->has_layout && shape->minor_to_major)
		out.size = shape->dims[shape->minor_to_major[minor]];
	if (tile && minor < tile->nr_dims && tile->dims[tile->nr_dims - 1 - minor] > 0)
		out.unit = tile->dims[tile->nr_dims - 1 - minor];
	out.stored = padding_bytes_round_up(out.size, out.unit);
	return out;
}
