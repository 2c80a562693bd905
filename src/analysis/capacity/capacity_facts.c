/* SPDX-License-Identifier: MIT */
/* What others read of the programs: their sums, the buffers at their peaks, and the parameters that
 * could give their memory to a result. */
#include "analysis/capacity/capacity.h"

#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "base/order.h"

#define MAX_BUFFERS 500 /* of all programs */
#define MAX_OF_ONE  100
#define MAX_PAIRS   100

/* The first op from POSITION on that is known: events of a heap trace may have no name. */
static const struct ts_hlo_instr *capacity_facts_op_at(const struct program *program,
						       uint32_t position)
{
	for (; position < program->sum.nr_positions; position++)
		if (program->order[position] != TS_NONE)
			return instr_of(program, program->order[position]);
	return NULL;
}

static struct ts_bytes capacity_facts_name_of(const struct ts_hlo_instr *instr)
{
	return instr ? instr->name : (struct ts_bytes){ NULL, 0 };
}

TS_ORDER_AT(capacity_facts_by_size, struct buffer, TS_DOWN(nr_bytes) TS_UP(instr) TS_UP(leaf))

/* Largest first; *NR says how many. NULL: no memory. Free with free(). */
static const struct buffer **list_alive(const struct program *program, size_t *nr)
{
	const struct buffer **list = calloc(program->nr_buffers + 1, sizeof(const struct buffer *));

	*nr = 0;
	for (size_t i = 0; i < program->nr_buffers && list; i++)
		if (ts_capacity_is_alive(program, &program->buffers[i]))
			list[(*nr)++] = &program->buffers[i];
	TS_SORT(list, *nr, capacity_facts_by_size);
	return list;
}

static void capacity_facts_take_shape(struct ts_result *result, const struct ts_hlo_instr *instr,
				      uint32_t leaf, struct ts_peak_buffer *to)
{
	const struct ts_shape *shape =
		instr && leaf != TS_NONE ? ts_shape_leaf(&instr->shape, leaf) : NULL;

	to->logical_bytes = shape ? ts_shape_logical_bytes(shape) : -1;
	if (shape)
		to->shape = ts_shape_cell(result, shape).as.s;
}

static void take_buffer(const struct program *program, const struct buffer *buffer,
			struct ts_result *result, struct ts_peak_buffer *to)
{
	const struct ts_hlo_instr *instr = instr_of(program, buffer->instr);

	*to = (struct ts_peak_buffer){
		.op = part_name(result, instr, buffer->leaf),
		.source = ts_instr_source(result, instr),
		.from_op = capacity_facts_name_of(capacity_facts_op_at(program, buffer->from)),
		.to_op = capacity_facts_name_of(capacity_facts_op_at(program, buffer->to)),
		.kind = buffer->kind,
		.from = buffer->from,
		.to = buffer->to,
		.nr_bytes = buffer->nr_bytes,
	};
	if (instr)
		to->framework_op = instr->op_name;
	capacity_facts_take_shape(result, instr, buffer->leaf, to);
}

static enum ts_status take_buffers(const struct program *program, size_t max,
				   struct ts_result *result, struct ts_capacity_program *to,
				   struct ts_error *err)
{
	size_t nr;
	const struct buffer **alive = list_alive(program, &nr);
	struct ts_peak_buffer *made;

	nr = TS_MIN(nr, max);
	made = ts_arena_array(&result->owner->arena, nr + 1, sizeof(*made));
	for (size_t i = 0; alive && made && i < nr; i++)
		take_buffer(program, alive[i], result, &made[i]);
	free(alive);
	to->buffers = made;
	to->nr_buffers = nr;
	return alive && made ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status capacity_facts_take_program(const struct program *program, size_t max_buffers,
						  size_t max_pairs, struct ts_result *result,
						  struct ts_capacity_program *to,
						  struct ts_error *err)
{
	const struct ts_hlo_instr *op = capacity_facts_op_at(program, program->sum.peak_at);
	enum ts_status st;

	*to = program->sum;
	to->peak_op = capacity_facts_name_of(op);
	to->peak_source = ts_instr_source(result, op);
	st = take_buffers(program, max_buffers, result, to, err);
	if (st)
		return st;
	return ts_capacity_find_donations(to->module, max_pairs, result, to, err);
}

/* The memory of one device; of several kinds, the smallest: all run the same programs. */
static int64_t capacity_facts_hbm_of(const struct ts_context *ctx)
{
	int64_t least = ctx->chip ? ctx->chip->hbm_bytes : -1;

	for (size_t i = 0; i < ctx->profile->nr_devices; i++) {
		int64_t is = ctx->rates ? ctx->rates[i].hbm_bytes : -1;

		if (is > 0 && (least <= 0 || is < least))
			least = is;
	}
	return least > 0 ? least : -1;
}

enum ts_status ts_capacity_make_facts(const struct ts_context *ctx, const struct program *programs,
				      size_t nr, struct ts_result *result,
				      struct ts_capacity_facts *facts, struct ts_error *err)
{
	struct ts_capacity_program *made =
		ts_arena_array(&result->owner->arena, nr + 1, sizeof(*made));
	size_t buffers = MAX_BUFFERS, pairs = MAX_PAIRS;
	enum ts_status st;

	TS_ASSERT(programs || nr == 0);
	if (!made)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		st = capacity_facts_take_program(&programs[i], TS_MIN(buffers, MAX_OF_ONE), pairs,
						 result, &made[i], err);
		if (st)
			return st;
		buffers -= made[i].nr_buffers;
		pairs -= made[i].nr_donations;
	}
	*facts = (struct ts_capacity_facts){
		.programs = made,
		.nr_programs = nr,
		.hbm_bytes = capacity_facts_hbm_of(ctx),
	};
	return TS_OK;
}
