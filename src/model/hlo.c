/* SPDX-License-Identifier: MIT */
/*
 * Element types and sizes. Facts: XLA's primitive types (openxla/xla, xla/xla_data.proto) and
 * ShapeUtil::ArraySize (xla/shape_util.cc); held against what libtpu allocates.
 */
#include "model/hlo.h"

#include "base/check.h"
#include "base/map.h"

/* Bits as counted in logical sizes; a predicate takes a byte everywhere. */
static const struct {
	const char *name;
	unsigned bits;
} dtypes[TS_NR_DTYPES] = {
	[TS_DTYPE_INVALID] = { "invalid", 0 },
	[TS_PRED] = { "pred", 8 },
	[TS_S1] = { "s1", 1 },
	[TS_S2] = { "s2", 2 },
	[TS_S4] = { "s4", 4 },
	[TS_S8] = { "s8", 8 },
	[TS_S16] = { "s16", 16 },
	[TS_S32] = { "s32", 32 },
	[TS_S64] = { "s64", 64 },
	[TS_U1] = { "u1", 1 },
	[TS_U2] = { "u2", 2 },
	[TS_U4] = { "u4", 4 },
	[TS_U8] = { "u8", 8 },
	[TS_U16] = { "u16", 16 },
	[TS_U32] = { "u32", 32 },
	[TS_U64] = { "u64", 64 },
	[TS_F16] = { "f16", 16 },
	[TS_F32] = { "f32", 32 },
	[TS_F64] = { "f64", 64 },
	[TS_BF16] = { "bf16", 16 },
	[TS_F4E2M1FN] = { "f4e2m1fn", 4 },
	[TS_F8E3M4] = { "f8e3m4", 8 },
	[TS_F8E4M3] = { "f8e4m3", 8 },
	[TS_F8E4M3FN] = { "f8e4m3fn", 8 },
	[TS_F8E4M3B11FNUZ] = { "f8e4m3b11fnuz", 8 },
	[TS_F8E4M3FNUZ] = { "f8e4m3fnuz", 8 },
	[TS_F8E5M2] = { "f8e5m2", 8 },
	[TS_F8E5M2FNUZ] = { "f8e5m2fnuz", 8 },
	[TS_F8E8M0FNU] = { "f8e8m0fnu", 8 },
	[TS_C64] = { "c64", 64 },
	[TS_C128] = { "c128", 128 },
	[TS_TUPLE] = { "tuple", 0 },
	[TS_OPAQUE] = { "opaque", 0 },
	[TS_TOKEN] = { "token", 0 },
};

const char *ts_dtype_name(enum ts_dtype dtype)
{
	if ((unsigned)dtype >= TS_NR_DTYPES)
		return dtypes[TS_DTYPE_INVALID].name;
	return dtypes[dtype].name;
}

unsigned ts_dtype_bits(enum ts_dtype dtype)
{
	return (unsigned)dtype < TS_NR_DTYPES ? dtypes[dtype].bits : 0;
}

uint32_t ts_hlo_find(const struct ts_hlo_module *module, struct ts_bytes name)
{
	TS_ASSERT(module);
	TS_ASSERT(name.p || name.n == 0);
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (ts_bytes_eq(module->instrs[i].name, name))
			return i;
	return TS_NONE;
}

const struct ts_hlo_instr *ts_hlo_sourced(const struct ts_hlo_module *module)
{
	const struct ts_hlo_instr *root = NULL;

	TS_ASSERT(module);
	if (module->entry < module->nr_comps &&
	    module->comps[module->entry].root < module->nr_instrs)
		root = &module->instrs[module->comps[module->entry].root];
	if (root && root->source_file.n > 0)
		return root;
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (module->instrs[i].source_file.n > 0)
			return &module->instrs[i];
	return NULL;
}

/* A product of a size of several petabytes cannot be right: it saturates, and stays so. */
static int64_t bits_to_bytes(int64_t elements, int64_t bits)
{
	if (elements > (INT64_MAX - 7) / TS_MAX(bits, 1))
		return INT64_MAX;
	return (elements * bits + 7) / 8;
}

static int64_t model_hlo_round_up(int64_t n, int64_t unit)
{
	int64_t rest = unit > 1 ? n % unit : 0;

	return rest ? ts_i64_add(n, unit - rest) : n;
}

static int64_t sum_of_parts(const struct ts_shape *shape, int64_t (*size)(const struct ts_shape *))
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < shape->nr_parts; i++)
		sum = ts_i64_add(sum, size(&shape->parts[i]));
	return sum;
}

int64_t ts_shape_elements(const struct ts_shape *shape)
{
	int64_t n = 1;

	TS_ASSERT_HOT(shape);
	if (shape->nr_parts > 0)
		return sum_of_parts(shape, ts_shape_elements);
	if (ts_dtype_bits(shape->dtype) == 0)
		return 0;
	for (uint32_t i = 0; i < shape->rank; i++)
		n = ts_i64_mul(n, TS_MAX(shape->dims[i], 0));
	return n;
}

int64_t ts_shape_logical_bytes(const struct ts_shape *shape)
{
	TS_ASSERT_HOT(shape);
	if (shape->nr_parts > 0)
		return sum_of_parts(shape, ts_shape_logical_bytes);
	return bits_to_bytes(ts_shape_elements(shape), ts_dtype_bits(shape->dtype));
}

/* The size of the dimension that is the I-th from the minor end; 1 beyond the rank. */
static int64_t minor_dim(const struct ts_shape *shape, uint32_t i)
{
	uint32_t dim;

	if (i >= shape->rank)
		return 1;
	dim = shape->minor_to_major[i];
	if (shape->split_size > 0 && shape->split_dim == dim)
		return shape->split_size;
	return TS_MAX(shape->dims[dim], 0);
}

/* Of the outermost tile, counted from the minor end; 1 where it has no number. */
static int64_t minor_tile(const struct ts_shape *shape, uint32_t i)
{
	const struct ts_tile *tile = shape->nr_tiles > 0 ? &shape->tiles[0] : NULL;

	return tile && i < tile->nr_dims ? tile->dims[tile->nr_dims - 1 - i] : 1;
}

int64_t ts_shape_stored_dim(const struct ts_shape *shape, uint32_t dim)
{
	TS_ASSERT(shape && dim < shape->rank);
	for (uint32_t i = 0; shape->has_layout && i < shape->rank; i++)
		if (shape->minor_to_major[i] == dim)
			return model_hlo_round_up(minor_dim(shape, i), minor_tile(shape, i));
	return TS_MAX(shape->dims[dim], 0);
}

/* Only the outermost tile adds anything: each later one divides the inside of the one before. */
static int64_t laid_out_elements(const struct ts_shape *shape)
{
	uint32_t n = shape->rank;
	int64_t elements = 1;

	if (shape->nr_tiles > 0)
		n = TS_MAX(n, shape->tiles[0].nr_dims);
	for (uint32_t i = 0; i < n; i++) {
		int64_t tile = minor_tile(shape, i), dim = minor_dim(shape, i);

		while (i + 1 < n && minor_tile(shape, i + 1) == TS_TILE_MERGE)
			dim = ts_i64_mul(dim, minor_dim(shape, ++i));
		elements = ts_i64_mul(elements, model_hlo_round_up(dim, tile));
	}
	return shape->nr_tiles > 0 ? model_hlo_round_up(elements, shape->tail_alignment) : elements;
}

int64_t ts_shape_bytes(const struct ts_shape *shape)
{
	int64_t bits = ts_dtype_bits(shape->dtype);

	TS_ASSERT_HOT(shape);
	if (shape->nr_parts > 0)
		return sum_of_parts(shape, ts_shape_bytes);
	if (bits == 0)
		return 0;
	bits = shape->element_bits > 0 ? shape->element_bits : (bits + 7) / 8 * 8;
	if (!shape->has_layout)
		return bits_to_bytes(ts_shape_elements(shape), bits);
	return bits_to_bytes(laid_out_elements(shape), bits);
}

void ts_shape_set_parts(struct ts_shape *shape, struct ts_shape *parts, uint32_t nr)
{
	TS_ASSERT(shape && (parts || nr == 0));
	shape->parts = parts;
	shape->nr_parts = nr;
	shape->nr_leaves = 0;
	for (uint32_t i = 0; i < nr; i++) {
		parts[i].first_leaf = shape->nr_leaves;
		shape->nr_leaves += ts_shape_leaves(&parts[i]);
	}
}

uint32_t ts_shape_leaves(const struct ts_shape *shape)
{
	TS_ASSERT_HOT(shape);
	return shape->dtype == TS_TUPLE ? shape->nr_leaves : 1;
}

/* The part that a leaf of a tuple is in: the last that begins at it or before, and is not empty. */
static const struct ts_shape *model_hlo_part_of(const struct ts_shape *shape, uint32_t leaf)
{
	uint32_t low = 0, high = shape->nr_parts;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (shape->parts[middle].first_leaf <= leaf)
			low = middle;
		else
			high = middle;
	}
	return &shape->parts[low];
}

const struct ts_shape *ts_shape_leaf(const struct ts_shape *shape, uint32_t leaf)
{
	TS_ASSERT_HOT(shape);
	while (shape->dtype == TS_TUPLE) {
		if (leaf >= shape->nr_leaves)
			return NULL;
		shape = model_hlo_part_of(shape, leaf);
		leaf -= shape->first_leaf;
	}
	return leaf == 0 ? shape : NULL;
}

uint32_t ts_shape_leaf_at(const struct ts_shape *shape, const int64_t *path, size_t n)
{
	uint32_t leaf = 0;

	TS_ASSERT(shape);
	for (size_t k = 0; k < n; k++) {
		if (shape->dtype != TS_TUPLE || path[k] < 0 || path[k] >= shape->nr_parts)
			return TS_NONE;
		shape = &shape->parts[path[k]];
		leaf += shape->first_leaf;
	}
	return shape->dtype == TS_TUPLE ? TS_NONE : leaf;
}

bool ts_shape_same_dims(const struct ts_shape *shape, const struct ts_shape *other)
{
	TS_ASSERT_HOT(shape && other);
	return shape->rank == other->rank &&
	       (shape->rank == 0 ||
		memcmp(shape->dims, other->dims, shape->rank * sizeof(*shape->dims)) == 0);
}

const struct ts_shape *ts_hlo_given(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	return ts_opcode_phase(instr->opcode) == TS_PHASE_START && instr->shape.nr_parts > 1
		       ? &instr->shape.parts[1]
		       : &instr->shape;
}

bool ts_shape_in_space(const struct ts_shape *shape, int64_t space)
{
	TS_ASSERT_HOT(shape);
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		if (ts_shape_in_space(&shape->parts[i], space))
			return true;
	return shape->nr_parts == 0 && shape->has_layout && shape->memory_space == space;
}

struct ts_bytes ts_module_stem(struct ts_bytes name)
{
	size_t open = ts_bytes_find(name, "("), dot;

	TS_ASSERT(name.p || name.n == 0);
	if (open > 0 && open < name.n && ts_bytes_ends(name, ")"))
		name.n = open;
	dot = name.n;
	while (dot > 0 && name.p[dot - 1] >= '0' && name.p[dot - 1] <= '9')
		dot--;
	if (dot > 1 && dot < name.n && name.p[dot - 1] == '.')
		name.n = dot - 1;
	while (name.n > 1 && name.p[name.n - 1] == '_')
		name.n--;
	return name;
}
