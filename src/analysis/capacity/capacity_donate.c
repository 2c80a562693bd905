/* SPDX-License-Identifier: MIT */
/* The parameters of a program that could give their memory to a result: pairs of equal shapes that
 * the module itself does not name as aliases. */
#include "analysis/capacity/capacity.h"

#include "base/order.h"
#include "analysis/kit/cells.h"

/* A part of the entry's parameters or of its result. */
struct side {
	const struct ts_shape *shape;
	uint32_t instr, leaf; /* of a result: the parameter's place is what it came from */
	struct ts_bytes text;
	bool taken;
};

struct sides {
	struct side *items;
	size_t nr, cap;
	struct ts_map first; /* instruction -> its first side, before they are sorted */
};

static enum ts_status add_sides(struct sides *sides, const struct ts_hlo_module *module,
				uint32_t instr, struct ts_arena *scratch, struct ts_error *err)
{
	const struct ts_shape *whole = &module->instrs[instr].shape;
	uint32_t nr = ts_shape_leaves(whole);

	if (!ts_grow(&sides->items, &sides->cap, sides->nr + nr + 1, sizeof(*sides->items)) ||
	    !ts_map_set(&sides->first, instr, (uint32_t)sides->nr))
		return ts_fail_nomem(err);
	for (uint32_t leaf = 0; leaf < nr; leaf++) {
		struct side *side = &sides->items[sides->nr];

		*side = (struct side){
			ts_shape_leaf(whole, leaf), instr, leaf, { NULL, 0 }, false
		};
		side->text = ts_shape_text(scratch, side->shape);
		if (!side->text.p)
			return ts_fail_nomem(err);
		sides->nr++;
	}
	return TS_OK;
}

static void capacity_donate_take(struct sides *sides, uint32_t instr, uint32_t leaf)
{
	uint32_t first = ts_map_find(&sides->first, instr);
	size_t at = (size_t)first + leaf;

	if (first != TS_NONE && at < sides->nr && sides->items[at].instr == instr)
		sides->items[at].taken = true;
}

static void release_sides(struct sides *sides)
{
	free(sides->items);
	ts_map_release(&sides->first);
}

TS_ORDER(by_text, struct side,
	 TS_DOWN_OF(ts_shape_bytes, shape) TS_UP(text) TS_UP(instr) TS_UP(leaf))

static enum ts_status list_sides(const struct ts_hlo_module *module, struct sides *params,
				 struct sides *outputs, struct ts_arena *scratch,
				 struct ts_error *err)
{
	const struct ts_hlo_comp *entry = &module->comps[module->entry];
	enum ts_status st;

	for (uint32_t i = 0; i < entry->nr_params; i++) {
		if (entry->params[i] == TS_NONE)
			continue;
		st = add_sides(params, module, entry->params[i], scratch, err);
		if (st)
			return st;
	}
	st = add_sides(outputs, module, entry->root, scratch, err);
	if (st)
		return st;
	for (uint32_t i = 0; i < module->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &module->aliases[i];

		if (alias->operand >= entry->nr_params)
			continue;
		capacity_donate_take(params, entry->params[alias->operand], alias->operand_leaf);
		capacity_donate_take(outputs, entry->root, alias->output_leaf);
	}
	TS_SORT(params->items, params->nr, by_text);
	TS_SORT(outputs->items, outputs->nr, by_text);
	return TS_OK;
}

static bool capacity_donate_is_free(const struct side *side)
{
	return !side->taken && side->shape->dtype != TS_TUPLE && ts_shape_bytes(side->shape) > 0 &&
	       (!side->shape->has_layout || side->shape->memory_space == TS_SPACE_HBM);
}

/* A parameter that is itself the result need not be copied back into its own place. */
static bool is_itself(const struct ts_hlo_module *module, const struct side *param,
		      const struct side *output)
{
	const struct ts_hlo_instr *root = &module->instrs[output->instr];

	if (output->instr == param->instr)
		return true;
	return output->leaf < root->nr_operands && root->opcode == TS_OPCODE_TUPLE &&
	       root->operands[output->leaf] == param->instr;
}

/* The pairs of a module in the making. */
struct pairs {
	const struct ts_hlo_module *module;
	struct ts_result *result;
	struct ts_donation *items;
	size_t nr, max;
	int64_t nr_bytes; /* of all, listed or not */
};

static void capacity_donate_add_pair(struct pairs *pairs, const struct side *param,
				     const struct side *output)
{
	const struct ts_hlo_instr *from = &pairs->module->instrs[param->instr];
	int64_t nr_bytes = ts_shape_bytes(param->shape);

	pairs->nr_bytes = ts_i64_add(pairs->nr_bytes, nr_bytes);
	if (pairs->nr >= pairs->max)
		return;
	pairs->items[pairs->nr++] = (struct ts_donation){
		.parameter = from->parameter_number,
		.output = output->leaf,
		.op = part_name(pairs->result, from, param->leaf),
		.framework_op = from->op_name,
		.shape = ts_shape_cell(pairs->result, param->shape).as.s,
		.nr_bytes = nr_bytes,
	};
}

static int by_shape(const struct side *param, const struct side *output)
{
	int64_t p = ts_shape_bytes(param->shape), q = ts_shape_bytes(output->shape);

	if (p != q)
		return p > q ? -1 : 1;
	return ts_bytes_cmp(param->text, output->text);
}

/* Both lists are in one order: pairs of equal shapes are found in one walk. */
static void pair_up(struct pairs *pairs, const struct sides *params, const struct sides *outputs)
{
	for (size_t i = 0, k = 0; i < params->nr && k < outputs->nr;) {
		const struct side *param = &params->items[i], *output = &outputs->items[k];
		int order = by_shape(param, output);

		if (!capacity_donate_is_free(param) || order < 0) {
			i++;
		} else if (!capacity_donate_is_free(output) || order > 0) {
			k++;
		} else {
			if (!is_itself(pairs->module, param, output))
				capacity_donate_add_pair(pairs, param, output);
			i++;
			k++;
		}
	}
}

enum ts_status ts_capacity_find_donations(const struct ts_hlo_module *module, size_t max,
					  struct ts_result *result, struct ts_capacity_program *to,
					  struct ts_error *err)
{
	struct pairs pairs = { .module = module, .result = result };
	struct ts_arena scratch = TS_ARENA_INIT;
	struct sides params = { .items = NULL }, outputs = { .items = NULL };
	enum ts_status st = list_sides(module, &params, &outputs, &scratch, err);

	if (st)
		goto done;
	pairs.max = TS_MIN(max, params.nr);
	pairs.items = ts_arena_array(&result->owner->arena, pairs.max + 1, sizeof(*pairs.items));
	if (!pairs.items) {
		st = ts_fail_nomem(err);
		goto done;
	}
	pair_up(&pairs, &params, &outputs);
	to->donations = pairs.items;
	to->nr_donations = pairs.nr;
	to->donation_bytes = pairs.nr_bytes;
done:
	release_sides(&params);
	release_sides(&outputs);
	ts_arena_release(&scratch);
	return st;
}
