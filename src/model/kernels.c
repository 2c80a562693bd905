/* SPDX-License-Identifier: MIT */
/*
 * Kernels and the arrays between them. Names are seen through by the rules of XLA's instructions
 * (xla/hlo/ir/hlo_instruction.cc); a loop's value is what went in, when it does not change, else what
 * its last trip made. Left out: which branch of a conditional made its result.
 */
#include "model/kernels.h"

#include "base/check.h"
#include "base/map.h"

#define MAX_HOPS 256 /* steps back to its maker: names an array may go by */
#define WHOLE	 TS_HLO_WHOLE

bool ts_hlo_is_name(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	if (TS_OPCODE_IN(instr->opcode, TS_OPCODE_PARAMETER, TS_OPCODE_CONSTANT, TS_OPCODE_TUPLE,
			 TS_OPCODE_BITCAST, TS_OPCODE_DOMAIN, TS_OPCODE_GET_TUPLE_ELEMENT,
			 TS_OPCODE_OPT_BARRIER, TS_OPCODE_AFTER_ALL, TS_OPCODE_ADD_DEPENDENCY,
			 TS_OPCODE_PARTITION_ID, TS_OPCODE_REPLICA_ID))
		return true;
	/* Memory is set apart, or joined without being moved (libtpu's modules). */
	return ts_bytes_is(instr->custom_call_target, "AllocateBuffer") ||
	       ts_bytes_is(instr->custom_call_target, "ConcatBitcast");
}

bool ts_hlo_is_control(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_WHILE, TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL);
}

bool ts_hlo_is_done(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	return ts_opcode_phase(instr->opcode) == TS_PHASE_DONE ||
	       instr->opcode == TS_OPCODE_ASYNC_UPDATE;
}

uint32_t *ts_hlo_callers(const struct ts_hlo_module *module)
{
	uint32_t *caller = malloc(((size_t)module->nr_comps + 1) * sizeof(*caller));

	TS_ASSERT(module);
	for (uint32_t i = 0; caller && i < module->nr_comps; i++)
		caller[i] = TS_NONE;
	for (uint32_t i = 0; caller && i < module->nr_instrs; i++)
		for (uint32_t j = 0; j < module->instrs[i].nr_called; j++)
			caller[module->instrs[i].called[j]] = i;
	return caller;
}

static const struct ts_hlo_instr *instr_at(const struct ts_hlo_trace *trace)
{
	return &trace->module->instrs[trace->place.instr];
}

/* One name further back inside the computation; false when it is not a name. */
static bool step_name(struct ts_hlo_trace *trace)
{
	const struct ts_hlo_instr *instr = instr_at(trace);

	if (instr->nr_operands == 0)
		return false;
	if (instr->opcode == TS_OPCODE_GET_TUPLE_ELEMENT && trace->place.leaf == WHOLE) {
		trace->place = (struct ts_hlo_place){ instr->operands[0], instr->tuple_index };
		return true;
	}
	if (instr->opcode == TS_OPCODE_TUPLE && trace->place.leaf >= 0 &&
	    trace->place.leaf < instr->nr_operands) {
		trace->place = (struct ts_hlo_place){ instr->operands[trace->place.leaf], WHOLE };
		return true;
	}
	if (!TS_OPCODE_IN(instr->opcode, TS_OPCODE_BITCAST, TS_OPCODE_OPT_BARRIER,
			  TS_OPCODE_ADD_DEPENDENCY))
		return false;
	trace->place.instr = instr->operands[0];
	return true;
}

/* While's computations: the body, then the condition (xla/hlo/ir/hlo_instruction.cc). */
static bool to_body_root(struct ts_hlo_trace *trace, const struct ts_hlo_instr *loop)
{
	if (loop->nr_called == 0)
		return false;
	trace->place.instr = trace->module->comps[loop->called[0]].root;
	return true;
}

/* Does the loop hand on this leaf as it came? Through the loops in its body too; fuel ends it. */
static bool is_invariant(struct ts_hlo_trace *from, const struct ts_hlo_instr *loop)
{
	struct ts_hlo_trace trace = *from;
	bool is_same =
		loop->nr_operands > 0 && from->place.leaf != WHOLE && to_body_root(&trace, loop);

	while (is_same && trace.fuel-- > 0) {
		const struct ts_hlo_instr *instr = instr_at(&trace);

		if (step_name(&trace))
			continue;
		if (instr->opcode != TS_OPCODE_WHILE || !is_invariant(&trace, instr))
			break;
		trace.place.instr = instr->operands[0];
	}
	from->fuel = trace.fuel;
	return is_same && instr_at(&trace)->opcode == TS_OPCODE_PARAMETER &&
	       trace.place.leaf == from->place.leaf &&
	       instr_at(&trace)->computation == loop->called[0];
}

/* A loop's value: what went in, when it does not change, else what its last trip made. */
static bool step_loop(struct ts_hlo_trace *trace, const struct ts_hlo_instr *loop, bool inside)
{
	if (is_invariant(trace, loop)) {
		trace->place.instr = loop->operands[0];
		trace->crosses |= inside;
		return true;
	}
	if (trace->place.leaf == WHOLE || (inside && trace->carried))
		return false;
	trace->carried |= inside;
	trace->crosses |= !inside;
	return to_body_root(trace, loop);
}

/* A parameter of a called computation is what its caller hands over. */
static bool model_kernels_step_out(struct ts_hlo_trace *trace)
{
	const struct ts_hlo_instr *param = instr_at(trace), *by;
	uint32_t caller = trace->caller[param->computation];
	int64_t at = param->parameter_number;

	if (caller == TS_NONE)
		return false;
	by = &trace->module->instrs[caller];
	if (by->opcode == TS_OPCODE_WHILE)
		return step_loop(trace, by, true);
	for (uint32_t i = 0; by->opcode == TS_OPCODE_CONDITIONAL && i < by->nr_called; i++)
		if (by->called[i] == param->computation)
			at = (int64_t)i + 1;
	if (!ts_hlo_is_control(by) || at < 0 || at >= by->nr_operands)
		return false;
	trace->place.instr = by->operands[at];
	trace->crosses = true;
	return true;
}

static bool step_in(struct ts_hlo_trace *trace)
{
	const struct ts_hlo_instr *instr = instr_at(trace);

	if (instr->opcode == TS_OPCODE_WHILE)
		return step_loop(trace, instr, false);
	if (instr->opcode != TS_OPCODE_CALL || instr->nr_called == 0)
		return false;
	trace->crosses = true;
	trace->place.instr = trace->module->comps[instr->called[0]].root;
	return true;
}

bool ts_hlo_trace_back(struct ts_hlo_trace *trace)
{
	TS_ASSERT(trace);
	trace->fuel = MAX_HOPS;
	while (trace->fuel-- > 0) {
		const struct ts_hlo_instr *instr = instr_at(trace);

		if (step_name(trace))
			continue;
		if (instr->opcode == TS_OPCODE_PARAMETER ? model_kernels_step_out(trace)
							 : step_in(trace))
			continue;
		return !ts_hlo_is_name(instr) && instr->opcode != TS_OPCODE_WHILE &&
		       instr->opcode != TS_OPCODE_CALL &&
		       ts_opcode_phase(instr->opcode) != TS_PHASE_START &&
		       instr->opcode != TS_OPCODE_ASYNC_UPDATE;
	}
	return false;
}

const struct ts_shape *ts_hlo_place_shape(const struct ts_hlo_module *module,
					  struct ts_hlo_place place)
{
	const struct ts_shape *shape = &module->instrs[place.instr].shape;

	TS_ASSERT(module);
	if (place.leaf != WHOLE) {
		if (shape->dtype != TS_TUPLE || place.leaf < 0 || place.leaf >= shape->nr_parts)
			return NULL;
		shape = &shape->parts[place.leaf];
	}
	return shape->dtype == TS_TUPLE ? NULL : shape;
}
