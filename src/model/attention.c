/* SPDX-License-Identifier: MIT */
#include "model/attention.h"

#include "base/check.h"

#define MAX_WALK 128 /* instructions that one walk looks at: what lies between two products of one attention is less */

struct flow {
	const struct ts_hlo_module *module;
	uint32_t *caller; /* of each computation: the fusion that it belongs to, or TS_NONE */
	uint32_t *seen;	  /* of each instruction: the last walk that came by */
	uint8_t *part;	  /* of each instruction: enum ts_attention_part */
	bool *is_scores;  /* of each instruction: a product whose softmax another one takes */
	uint32_t nr_walks;
	bool found;
};

/* What a walk against the flow came by, of so many elements as where it began. */
struct walk {
	bool adds;     /* it goes through sums and differences */
	bool is_mixed; /* it does not, and met one */
	uint32_t nr, nr_exps, nr_products;
	uint32_t at[MAX_WALK], exps[MAX_WALK], products[MAX_WALK];
};

static const struct ts_hlo_instr *instr_of(const struct flow *flow, uint32_t i)
{
	return &flow->module->instrs[i];
}

static bool is_in_fusion(const struct flow *flow, uint32_t i)
{
	return flow->caller[instr_of(flow, i)->computation] != TS_NONE;
}

/* The op that I is in: itself, or the outermost fusion. */
static uint32_t holder(const struct flow *flow, uint32_t i)
{
	while (is_in_fusion(flow, i))
		i = flow->caller[instr_of(flow, i)->computation];
	return i;
}

/* What I really is: a fusion is what its root makes, a parameter of a fusion what that is given. */
static uint32_t resolved(const struct flow *flow, uint32_t i)
{
	for (unsigned n = 0; n < MAX_WALK; n++) {
		const struct ts_hlo_instr *instr = instr_of(flow, i);

		if (instr->opcode == TS_OPCODE_FUSION && instr->nr_called > 0) {
			i = flow->module->comps[instr->called[0]].root;
		} else if (instr->opcode == TS_OPCODE_PARAMETER && is_in_fusion(flow, i)) {
			const struct ts_hlo_instr *fusion =
				instr_of(flow, flow->caller[instr->computation]);

			if (instr->parameter_number < 0 ||
			    instr->parameter_number >= fusion->nr_operands)
				return i;
			i = fusion->operands[instr->parameter_number];
		} else if (instr->opcode == TS_OPCODE_GET_TUPLE_ELEMENT &&
			   instr->nr_operands == 1) {
			const struct ts_hlo_instr *made = instr_of(flow, instr->operands[0]);

			if (made->opcode == TS_OPCODE_FUSION && made->nr_called > 0)
				made = instr_of(flow, flow->module->comps[made->called[0]].root);
			if (made->opcode != TS_OPCODE_TUPLE || instr->tuple_index < 0 ||
			    instr->tuple_index >= made->nr_operands)
				return i;
			i = made->operands[instr->tuple_index];
		} else {
			return i;
		}
	}
	return i;
}

static bool is_product(const struct ts_hlo_instr *instr)
{
	return instr->opcode == TS_OPCODE_DOT || instr->opcode == TS_OPCODE_CONVOLUTION ||
	       instr->dot;
}

/* Does an element of the result come of the elements in its place, or of one that was moved? */
static bool hands_on(const struct ts_hlo_instr *instr, bool adds)
{
	switch (instr->opcode) {
	case TS_OPCODE_BITCAST:
	case TS_OPCODE_CONVERT:
	case TS_OPCODE_COPY:
	case TS_OPCODE_COPY_DONE:
	case TS_OPCODE_COPY_START:
	case TS_OPCODE_DIVIDE:
	case TS_OPCODE_MULTIPLY:
	case TS_OPCODE_RESHAPE:
	case TS_OPCODE_SELECT:
	case TS_OPCODE_TRANSPOSE:   return true;
	case TS_OPCODE_ADD:
	case TS_OPCODE_CLAMP:
	case TS_OPCODE_EXPONENTIAL:
	case TS_OPCODE_MAXIMUM:
	case TS_OPCODE_MINIMUM:
	case TS_OPCODE_NEGATE:
	case TS_OPCODE_SUBTRACT:
	case TS_OPCODE_TANH:	    /* of scores that are capped */ return adds;
	default:		    return false;
	}
}

/* The array that an instruction makes: of a copy that is under way, the copy. */
static int64_t elements(const struct ts_hlo_instr *instr)
{
	const struct ts_shape *shape =
		instr->shape.nr_parts > 0 ? &instr->shape.parts[0] : &instr->shape;

	return ts_shape_elements(shape);
}

static void visit(struct flow *flow, struct walk *walk, uint32_t i, int64_t nr_elements)
{
	const struct ts_hlo_instr *instr;

	i = resolved(flow, i);
	instr = instr_of(flow, i);
	if (flow->seen[i] == flow->nr_walks || walk->nr == MAX_WALK ||
	    elements(instr) != nr_elements)
		return;
	flow->seen[i] = flow->nr_walks;
	walk->is_mixed |= !walk->adds &&
			  (instr->opcode == TS_OPCODE_ADD || instr->opcode == TS_OPCODE_SUBTRACT);
	if (is_product(instr))
		walk->products[walk->nr_products++] = i;
	if (instr->opcode == TS_OPCODE_EXPONENTIAL)
		walk->exps[walk->nr_exps++] = i;
	if (is_product(instr) || hands_on(instr, walk->adds) ||
	    instr->opcode == TS_OPCODE_EXPONENTIAL)
		walk->at[walk->nr++] = i;
}

/* Against the flow from I, through what hands elements on. */
static void walk_from(struct flow *flow, struct walk *walk, uint32_t i, bool adds)
{
	int64_t nr_elements = elements(instr_of(flow, resolved(flow, i)));

	walk->adds = adds;
	walk->is_mixed = false;
	walk->nr = walk->nr_exps = walk->nr_products = 0;
	flow->nr_walks++;
	if (nr_elements > 1)
		visit(flow, walk, i, nr_elements);
	for (uint32_t n = 0; n < walk->nr; n++) {
		const struct ts_hlo_instr *instr = instr_of(flow, walk->at[n]);

		for (uint32_t k = 0; hands_on(instr, adds) && k < instr->nr_operands; k++)
			visit(flow, walk, instr->operands[k], nr_elements);
	}
}

static void mark(struct flow *flow, uint32_t i, enum ts_attention_part part)
{
	uint8_t *at = &flow->part[holder(flow, i)];

	*at = TS_MAX(*at, (uint8_t)part);
}

static void mark_softmax(struct flow *flow, const struct walk *walk)
{
	for (uint32_t n = 0; n < walk->nr; n++)
		mark(flow, walk->at[n], TS_ATTENTION_SOFTMAX);
}

/* The product that makes the scores whose exponential EXP is, in another op than VALUES; TS_NONE: there is none. */
static uint32_t scores_of(struct flow *flow, struct walk *walk, uint32_t exp, uint32_t values)
{
	walk_from(flow, walk, instr_of(flow, exp)->operands[0], true);
	for (uint32_t n = 0; n < walk->nr_products; n++)
		if (holder(flow, walk->products[n]) != holder(flow, values))
			return walk->products[n];
	return TS_NONE;
}

/* The exponential that I comes of, with nothing added in between; TS_NONE: there is none. */
static uint32_t exp_of(struct flow *flow, struct walk *walk, uint32_t i)
{
	walk_from(flow, walk, i, false);
	return !walk->is_mixed && walk->nr_exps > 0 &&
			       instr_of(flow, walk->exps[0])->nr_operands > 0
		       ? walk->exps[0]
		       : TS_NONE;
}

/* Is an exponential of SCORES summed along some of its dimensions? It may be another one: fusions compute it again. */
static bool is_summed(struct flow *flow, struct walk *walk, uint32_t scores, uint32_t values)
{
	const struct ts_hlo_module *module = flow->module;

	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];
		uint32_t exp;

		if (instr->opcode != TS_OPCODE_REDUCE || instr->nr_operands == 0 ||
		    elements(instr) >= elements(instr_of(flow, scores)))
			continue;
		exp = exp_of(flow, walk, instr->operands[0]);
		if (exp != TS_NONE && scores_of(flow, walk, exp, values) == scores)
			return true;
	}
	return false;
}

/* VALUES is a product. Do its operands hold the softmax of another product's result? */
static void look_at(struct flow *flow, struct walk *walk, uint32_t values)
{
	const struct ts_hlo_instr *product = instr_of(flow, values);

	for (uint32_t k = 0; k < product->nr_operands && k < 2; k++) {
		uint32_t exp = exp_of(flow, walk, product->operands[k]), scores;

		if (exp == TS_NONE)
			continue;
		scores = scores_of(flow, walk, exp, values);
		if (scores == TS_NONE || !is_summed(flow, walk, scores, values))
			continue;
		flow->found = true;
		mark(flow, values, TS_ATTENTION_PRODUCT);
		mark(flow, scores, TS_ATTENTION_PRODUCT);
		flow->is_scores[scores] = true;
		walk_from(flow, walk, product->operands[k], true);
		mark_softmax(flow, walk);
	}
}

static bool has_scores(const struct flow *flow, const struct walk *walk)
{
	for (uint32_t n = 0; n < walk->nr_products; n++)
		if (flow->is_scores[walk->products[n]])
			return true;
	return false;
}

/* What else works on the scores: sums and maxima over them, and the products of the backward pass. */
static void follow(struct flow *flow, struct walk *walk, uint32_t i)
{
	const struct ts_hlo_instr *instr = instr_of(flow, i);

	for (uint32_t k = 0; k < instr->nr_operands && k < 2; k++) {
		walk_from(flow, walk, instr->operands[k], true);
		if (!has_scores(flow, walk))
			continue;
		mark(flow, i, is_product(instr) ? TS_ATTENTION_PRODUCT : TS_ATTENTION_SOFTMAX);
		mark_softmax(flow, walk);
		for (uint32_t n = 0; n < walk->nr_products; n++)
			mark(flow, walk->products[n], TS_ATTENTION_PRODUCT);
	}
}

static bool flow_begin(struct flow *flow, struct ts_arena *scratch)
{
	const struct ts_hlo_module *module = flow->module;

	flow->caller = ts_arena_array(scratch, module->nr_comps, sizeof(*flow->caller));
	flow->seen = ts_arena_zalloc(scratch, module->nr_instrs * sizeof(*flow->seen));
	flow->part = ts_arena_zalloc(scratch, module->nr_instrs * sizeof(*flow->part));
	flow->is_scores = ts_arena_zalloc(scratch, module->nr_instrs * sizeof(*flow->is_scores));
	if (!flow->caller || !flow->seen || !flow->part || !flow->is_scores)
		return false;
	for (uint32_t i = 0; i < module->nr_comps; i++)
		flow->caller[i] = TS_NONE;
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (module->instrs[i].opcode == TS_OPCODE_FUSION && module->instrs[i].nr_called > 0)
			flow->caller[module->instrs[i].called[0]] = i;
	return true;
}

const uint8_t *ts_hlo_attention(struct ts_arena *scratch, const struct ts_hlo_module *module)
{
	struct flow flow = { .module = module };
	struct walk walk;

	if (module->nr_instrs == 0 || !flow_begin(&flow, scratch))
		return NULL;
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (is_product(&module->instrs[i]))
			look_at(&flow, &walk, i);
	for (uint32_t i = 0; flow.found && i < module->nr_instrs; i++)
		if (is_product(&module->instrs[i]) || module->instrs[i].opcode == TS_OPCODE_REDUCE)
			follow(&flow, &walk, i);
	return flow.found ? flow.part : NULL;
}
