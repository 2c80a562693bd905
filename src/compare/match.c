/* SPDX-License-Identifier: MIT */
/*
 * What ops of several runs are known by: the scope in the program (jit(f)/layer/dot_general), the kind of
 * instruction and the shape of what it makes. Never by fusion.12: a compiler counts anew each time. Only what
 * has neither scope nor shape, as kernels in a GPU's trace, is known by its name.
 */
#include "compare/parts.h"

#include "base/check.h"
#include "result/schema/ops.def"

struct ts_bytes ts_compare_bare_shape(struct ts_bytes shape, struct ts_arena *arena)
{
	uint8_t *text = ts_arena_alloc(arena, shape.n + 1);
	size_t n = 0, depth = 0;

	TS_ASSERT(arena);
	for (size_t i = 0; text && i < shape.n; i++) {
		depth += shape.p[i] == '{';
		if (depth == 0)
			text[n++] = shape.p[i];
		depth -= shape.p[i] == '}' && depth > 0;
	}
	return (struct ts_bytes){ text, n };
}

struct ts_bytes ts_compare_bare_scope(struct ts_bytes scope)
{
	while (ts_bytes_starts(scope, "jit(") || ts_bytes_starts(scope, "pjit(")) {
		size_t slash = ts_bytes_find(scope, "/");

		if (slash == scope.n)
			break;
		scope = ts_bytes_cut(scope, slash + 1, scope.n);
	}
	return scope;
}

/* What finds no memory is noted in the arena. */
static struct ts_bytes bare_text(const struct ts_shape *shape, struct ts_arena *arena)
{
	struct ts_bytes text = ts_shape_text(arena, shape);

	arena->failed |= !text.p;
	return ts_compare_bare_shape(text, arena);
}

static struct ts_bytes shape_of(const struct ts_profile *profile, int64_t index,
				struct ts_arena *arena)
{
	const struct ts_hlo_instr *instr;
	const struct ts_op *op;

	if (index < 0 || (size_t)index >= profile->nr_ops)
		return (struct ts_bytes){ NULL, 0 };
	op = &profile->ops[index];
	instr = ts_op_instr(profile, op);
	return instr ? bare_text(&instr->shape, arena) : ts_compare_bare_shape(op->shape, arena);
}

struct op_key ts_compare_op_key(const struct ts_profile *profile, const struct ts_table *ops,
				size_t row, struct ts_arena *arena)
{
	struct op_key key = {
		.module = ts_value_text(TS_CELL_OF(ops, ops_ops, row, module)),
		.scope = ts_value_text(TS_CELL_OF(ops, ops_ops, row, framework_op)),
		.category = ts_value_text(TS_CELL_OF(ops, ops_ops, row, category)),
		.shape = shape_of(profile, ts_value_int(TS_CELL_OF(ops, ops_ops, row, op_index)),
				  arena),
		.name = ts_value_text(TS_CELL_OF(ops, ops_ops, row, name)),
		.source = ts_value_text(TS_CELL_OF(ops, ops_ops, row, source)),
	};

	TS_ASSERT(profile && ops && arena);
	TS_ASSERT(row < ops->nr_rows);
	key.by_name = key.scope.n == 0 && key.shape.n == 0;
	if (key.by_name)
		key.scope = key.name;
	return key;
}

struct ts_bytes ts_compare_parameter(const struct ts_hlo_module *module, uint32_t at,
				     struct ts_arena *arena)
{
	const struct ts_hlo_comp *entry = &module->comps[module->entry];

	TS_ASSERT(module && arena);
	if (at >= entry->nr_params || entry->params[at] == TS_NONE)
		return (struct ts_bytes){ NULL, 0 };
	return bare_text(&module->instrs[entry->params[at]].shape, arena);
}
