/* SPDX-License-Identifier: MIT */
/* Trips of loops. A while loop calls its body and its condition, in this order. */
#include "model/trips.h"

#include "base/check.h"

#define FUEL 32 /* ops between a number and where it comes from */

/* Ops that give on the number that they are given. */
static bool trips_hands_on(const struct ts_hlo_instr *instr)
{
	return instr->nr_operands == 1 &&
	       TS_OPCODE_IN(instr->opcode, TS_OPCODE_COPY, TS_OPCODE_COPY_DONE,
			    TS_OPCODE_COPY_START, TS_OPCODE_BITCAST, TS_OPCODE_CONVERT);
}

static const struct ts_hlo_instr *trips_origin_of(const struct ts_hlo_module *module,
						  const struct ts_hlo_instr *instr)
{
	for (int fuel = FUEL; fuel > 0 && trips_hands_on(instr); fuel--)
		instr = &module->instrs[instr->operands[0]];
	return instr;
}

/* The part of the loop's tuple that INSTR, of its body or condition, is; -1: it is none. */
static int64_t trips_part_of(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr)
{
	instr = trips_origin_of(module, instr);
	if (instr->opcode != TS_OPCODE_GET_TUPLE_ELEMENT || instr->nr_operands != 1 ||
	    module->instrs[instr->operands[0]].opcode != TS_OPCODE_PARAMETER)
		return -1;
	return instr->tuple_index;
}

/* What comes to be part PART of the tuple TUPLE; NULL: it is not made there. */
static const struct ts_hlo_instr *made_of(const struct ts_hlo_module *module,
					  const struct ts_hlo_instr *tuple, int64_t part)
{
	if (tuple->opcode != TS_OPCODE_TUPLE || part < 0 || part >= tuple->nr_operands)
		return NULL;
	return trips_origin_of(module, &module->instrs[tuple->operands[part]]);
}

struct loop {
	const struct ts_hlo_module *module;
	const struct ts_hlo_instr *given; /* the tuple that it starts with */
	const struct ts_hlo_instr *last;  /* that a trip ends with */
};

/* A number that is the same in all trips: a constant, or a part that is handed on and began as one. */
static bool constant_of(const struct loop *loop, const struct ts_hlo_instr *instr, int64_t *value)
{
	int64_t part = trips_part_of(loop->module, instr);

	instr = trips_origin_of(loop->module, instr);
	if (part >= 0) {
		const struct ts_hlo_instr *next = made_of(loop->module, loop->last, part);

		if (!next || trips_part_of(loop->module, next) != part)
			return false;
		instr = made_of(loop->module, loop->given, part);
	}
	if (!instr || !instr->has_literal)
		return false;
	*value = instr->literal;
	return true;
}

/* What the counter, part PART, grows by in a trip. */
static bool trips_step_of(const struct loop *loop, int64_t part, int64_t *step)
{
	const struct ts_hlo_instr *next = made_of(loop->module, loop->last, part);

	if (!next || next->opcode != TS_OPCODE_ADD || next->nr_operands != 2)
		return false;
	for (int i = 0; i < 2; i++) {
		const struct ts_hlo_instr *counter = &loop->module->instrs[next->operands[i]];
		const struct ts_hlo_instr *by = &loop->module->instrs[next->operands[1 - i]];

		if (trips_part_of(loop->module, counter) == part && constant_of(loop, by, step))
			return *step > 0;
	}
	return false;
}

static int64_t count_trips(const struct loop *loop, const struct ts_hlo_instr *condition)
{
	bool or_equal = ts_bytes_is(condition->direction, "LE");
	const struct ts_hlo_instr *counter, *start;
	int64_t bound, from, step, left;

	if (condition->opcode != TS_OPCODE_COMPARE || condition->nr_operands != 2 ||
	    (!or_equal && !ts_bytes_is(condition->direction, "LT")))
		return TS_HLO_UNKNOWN;
	counter = &loop->module->instrs[condition->operands[0]];
	start = made_of(loop->module, loop->given, trips_part_of(loop->module, counter));
	if (!start || !start->has_literal ||
	    !constant_of(loop, &loop->module->instrs[condition->operands[1]], &bound) ||
	    !trips_step_of(loop, trips_part_of(loop->module, counter), &step))
		return TS_HLO_UNKNOWN;
	from = start->literal;
	left = ts_i64_add(ts_i64_sub(bound, from), or_equal);
	return left <= 0 ? 0 : (left - 1) / step + 1;
}

int64_t ts_hlo_trips(const struct ts_hlo_module *module, uint32_t index)
{
	const struct ts_hlo_instr *instr = &module->instrs[index];
	struct loop loop = { .module = module };

	TS_ASSERT(module);
	TS_ASSERT(index < module->nr_instrs);
	if (instr->backend.known_trips > 0)
		return instr->backend.known_trips;
	if (instr->nr_called != 2 || instr->nr_operands != 1)
		return TS_HLO_UNKNOWN;
	loop.given = &module->instrs[instr->operands[0]];
	loop.last = &module->instrs[module->comps[instr->called[0]].root];
	/* The compare that decides, inside a fusion too. */
	return count_trips(
		&loop,
		trips_origin_of(module, &module->instrs[module->comps[instr->called[1]].root]));
}
