/* SPDX-License-Identifier: MIT */
/*
 * Compiled modules as graphs (openxla/xla, xla/service/hlo.proto): instructions refer to others of
 * their computation by id, computations are called by id, and the schedule is a list of ids. Half of
 * the changes here keep the graph right, the others break it on purpose: a circle, an id that two
 * have or that nothing has, a computation that calls itself, an order in which an operand comes
 * late. Modules that are not a graph yet, and half of all others, are changed as protobuf.
 */
#include "codec/pb.h"
#include "tests/fuzz/mutate/proto.h"

#define MAX_NR 4096 /* computations, instructions: more are left alone */

enum {
	PROTO_MODULE = 1,

	MODULE_COMPUTATIONS = 3,
	MODULE_ENTRY_ID = 6,
	MODULE_SCHEDULE = 7,

	COMPUTATION_INSTRUCTIONS = 2,
	COMPUTATION_ID = 5,
	COMPUTATION_ROOT_ID = 6,

	INSTRUCTION_SHAPE = 3,
	INSTRUCTION_ID = 35,
	INSTRUCTION_OPERANDS = 36,
	INSTRUCTION_CONTROL = 37,
	INSTRUCTION_CALLED = 38,

	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
	SEQUENCE_IDS = 1,
};

#define NUMBER(field) ((uint32_t)(field) << 3 | TS_PB_VARINT)
#define INNER(field)  ((uint32_t)(field) << 3 | TS_PB_BYTES)

struct graph {
	struct tree *tree;
	struct node *module;
	struct node *comp;   /* the computation that is changed now */
	struct node *order;  /* its sequence in the schedule; NULL: it has none */
	struct node **comps; /* all of them */
	uint64_t nr_comps;
	struct node **instrs; /* those of .comp */
	uint64_t nr_instrs;
};

static struct node *inside(const struct node *node, uint32_t tag)
{
	struct node *at = node ? node->first : NULL;

	while (at && at->tag != tag)
		at = at->next;
	return at;
}

static struct node **list(struct graph *graph, const struct node *node, uint32_t tag, uint64_t *nr)
{
	struct node **found = ts_arena_array(graph->tree->arena, MAX_NR, sizeof(struct node *));

	*nr = 0;
	for (struct node *at = node->first; found && at && *nr < MAX_NR; at = at->next)
		if (at->tag == tag && at->kind == NODE_INNER)
			found[(*nr)++] = at;
	return found;
}

static uint64_t below(struct graph *graph, uint64_t n)
{
	return rng_below(graph->tree->rng, n);
}

static struct node *any_instr(struct graph *graph)
{
	return graph->instrs[below(graph, graph->nr_instrs)];
}

static uint64_t id_of(const struct node *node, uint32_t field)
{
	const struct node *id = inside(node, NUMBER(field));

	return id ? id->number : 0;
}

/* The field, which is made where it is not there. NULL: no memory. */
static struct node *field_of(struct graph *graph, struct node *node, uint32_t field)
{
	struct node *found = inside(node, NUMBER(field));

	if (!found) {
		found = proto_field(graph->tree, field, TS_PB_VARINT);
		if (found) {
			found->next = node->first;
			node->first = found;
		}
	}
	return found;
}

static void set(struct graph *graph, struct node *node, uint32_t field, uint64_t value)
{
	struct node *found = field_of(graph, node, field);

	if (found)
		found->number = value;
}

/* One of the numbers of a field that is repeated. */
static struct node *any_of(struct graph *graph, const struct node *node, uint32_t field)
{
	struct node *chosen = NULL;
	uint64_t nr = 0;

	for (struct node *at = node->first; at; at = at->next)
		if (at->tag == NUMBER(field) && below(graph, ++nr) == 0)
			chosen = at;
	return chosen;
}

static void each_in(struct node *node, uint32_t field, uint64_t old, uint64_t new)
{
	for (struct node *at = node->first; at; at = at->next)
		if (at->tag == NUMBER(field) && at->number == old)
			at->number = new;
}

/* A number of a repeated field, behind what is in NODE. */
static void put_number(struct graph *graph, struct node *node, uint32_t field, uint64_t number)
{
	struct node *made = proto_field(graph->tree, field, TS_PB_VARINT), **last = &node->first;

	while (*last)
		last = &(*last)->next;
	*last = made;
	if (made)
		made->number = number;
}

/* Whatever refers to the instruction OLD refers to NEW. */
static void redirect(struct graph *graph, uint64_t old, uint64_t new)
{
	for (uint64_t i = 0; i < graph->nr_instrs; i++) {
		each_in(graph->instrs[i], INSTRUCTION_OPERANDS, old, new);
		each_in(graph->instrs[i], INSTRUCTION_CONTROL, old, new);
	}
	each_in(graph->comp, COMPUTATION_ROOT_ID, old, new);
}

static uint64_t new_id(const struct graph *graph)
{
	uint64_t most = 0;

	for (uint64_t i = 0; i < graph->nr_instrs; i++)
		most = TS_MAX(most, id_of(graph->instrs[i], INSTRUCTION_ID) & UINT32_MAX);
	return most + 1;
}

/* An operand becomes an instruction that stands before: the graph stays right. */
static void rewire(struct graph *graph)
{
	uint64_t i = below(graph, graph->nr_instrs);
	struct node *operand = any_of(graph, graph->instrs[i], INSTRUCTION_OPERANDS);

	if (operand && i > 0)
		operand->number = id_of(graph->instrs[below(graph, i)], INSTRUCTION_ID);
}

/* An operand that comes late, or is the instruction itself. */
static void circle(struct graph *graph)
{
	uint64_t i = below(graph, graph->nr_instrs);
	struct node *operand = any_of(graph, graph->instrs[i], INSTRUCTION_OPERANDS);

	if (operand)
		operand->number = id_of(graph->instrs[i + below(graph, graph->nr_instrs - i)],
					INSTRUCTION_ID);
}

static void dangle(struct graph *graph)
{
	static const uint32_t fields[] = { INSTRUCTION_OPERANDS, INSTRUCTION_CONTROL,
					   INSTRUCTION_CALLED };
	struct node *at = any_of(graph, any_instr(graph), fields[below(graph, TS_NELEM(fields))]);

	if (at)
		at->number = tree_number(graph->tree->rng, at->number);
}

static void more_operands(struct graph *graph)
{
	struct node *instr = any_instr(graph);

	for (uint64_t nr = 1 + below(graph, 8); nr > 0; nr--)
		put_number(graph, instr, INSTRUCTION_OPERANDS,
			   id_of(any_instr(graph), INSTRUCTION_ID));
}

/* A copy with an id of its own behind an instruction; those that used the old one use the new one. */
static void grow(struct graph *graph)
{
	struct node *instr = any_instr(graph), *copy = tree_copy(graph->tree, instr);
	uint64_t old = id_of(instr, INSTRUCTION_ID), new = new_id(graph);

	if (!copy)
		return;
	if (below(graph, 2))
		redirect(graph, old, new);
	set(graph, copy, INSTRUCTION_ID, new);
	copy->next = instr->next;
	instr->next = copy;
	if (graph->order)
		put_number(graph, graph->order, SEQUENCE_IDS, new);
}

static struct node **link_to(struct node *parent, const struct node *node)
{
	struct node **at = &parent->first;

	while (*at && *at != node)
		at = &(*at)->next;
	return at;
}

static void unlink_from(struct node *parent, const struct node *node)
{
	struct node **at = link_to(parent, node);

	if (*at)
		*at = node->next;
}

/* An instruction goes; its first operand takes its place everywhere. */
static void shrink(struct graph *graph)
{
	struct node *instr = any_instr(graph);
	uint64_t id = id_of(instr, INSTRUCTION_ID);
	uint64_t operand = id_of(instr, INSTRUCTION_OPERANDS);

	if (graph->nr_instrs < 2)
		return;
	unlink_from(graph->comp, instr);
	redirect(graph, id, operand);
	for (struct node *at = graph->order ? graph->order->first : NULL; at; at = at->next)
		if (at->number == id)
			unlink_from(graph->order, at);
}

/* Another number for an instruction, wherever it stands. */
static void renumber(struct graph *graph)
{
	struct node *instr = any_instr(graph);
	uint64_t old = id_of(instr, INSTRUCTION_ID), new = tree_number(graph->tree->rng, old);

	redirect(graph, old, new);
	set(graph, instr, INSTRUCTION_ID, new);
	if (graph->order)
		each_in(graph->order, SEQUENCE_IDS, old, new);
}

static void clash(struct graph *graph)
{
	if (below(graph, 2))
		set(graph, any_instr(graph), INSTRUCTION_ID,
		    id_of(any_instr(graph), INSTRUCTION_ID));
	else
		set(graph, graph->comp, COMPUTATION_ID,
		    id_of(graph->comps[below(graph, graph->nr_comps)], COMPUTATION_ID));
}

/* Calls any computation, also the one that it stands in. */
static void call(struct graph *graph)
{
	set(graph, any_instr(graph), INSTRUCTION_CALLED,
	    id_of(graph->comps[below(graph, graph->nr_comps)], COMPUTATION_ID));
}

static void other_root(struct graph *graph)
{
	if (below(graph, 2))
		set(graph, graph->comp, COMPUTATION_ROOT_ID,
		    id_of(any_instr(graph), INSTRUCTION_ID));
	else
		set(graph, graph->module, MODULE_ENTRY_ID, id_of(graph->comp, COMPUTATION_ID));
}

/* A shape of another instruction. */
static void reshape(struct graph *graph)
{
	struct node *to = inside(any_instr(graph), INNER(INSTRUCTION_SHAPE)), *copy;
	const struct node *from = inside(any_instr(graph), INNER(INSTRUCTION_SHAPE));

	copy = to && from ? tree_copy(graph->tree, from) : NULL;
	if (copy) {
		copy->next = to->next;
		*to = *copy;
	}
}

static void reorder(struct graph *graph)
{
	struct node *instr = any_instr(graph), *before = any_instr(graph);

	if (instr == before)
		return;
	unlink_from(graph->comp, instr);
	instr->next = before->next;
	before->next = instr;
}

/* Two ids of the schedule change places; or one of them is another. */
static void reschedule(struct graph *graph)
{
	struct node *one, *two;
	uint64_t id;

	if (!graph->order)
		return;
	one = any_of(graph, graph->order, SEQUENCE_IDS);
	two = any_of(graph, graph->order, SEQUENCE_IDS);
	if (!one || !two)
		return;
	id = one->number;
	one->number = two->number;
	two->number = below(graph, 3) ? id : tree_number(graph->tree->rng, id);
}

static void (*const changes[])(struct graph *graph) = {
	rewire, circle, dangle, more_operands, grow,	shrink,	 renumber,
	clash,	call,	call,	other_root,    reshape, reorder, reschedule,
};

/* The ids that instructions and schedule have, one by one or packed, as compilers write them. */
static void with_ids(struct graph *graph, void (*how)(struct tree *, struct node *, uint32_t))
{
	if (graph->order)
		how(graph->tree, graph->order, SEQUENCE_IDS);
	for (struct node *at = graph->comp->first; at; at = at->next)
		if (at->tag == INNER(COMPUTATION_INSTRUCTIONS))
			for (uint32_t field = INSTRUCTION_OPERANDS; field <= INSTRUCTION_CALLED;
			     field++)
				how(graph->tree, at, field);
}

static struct node *order_of(const struct graph *graph)
{
	const struct node *schedule = inside(graph->module, INNER(MODULE_SCHEDULE));
	struct node *at = schedule ? schedule->first : NULL;

	while (at && id_of(at, ENTRY_KEY) != id_of(graph->comp, COMPUTATION_ID))
		at = at->next;
	return inside(at, INNER(ENTRY_VALUE));
}

static bool choose_comp(struct graph *graph)
{
	graph->comps = list(graph, graph->module, INNER(MODULE_COMPUTATIONS), &graph->nr_comps);
	if (graph->nr_comps == 0)
		return false;
	graph->comp = graph->comps[below(graph, graph->nr_comps)];
	graph->instrs =
		list(graph, graph->comp, INNER(COMPUTATION_INSTRUCTIONS), &graph->nr_instrs);
	graph->order = order_of(graph);
	return graph->nr_instrs > 0;
}

/* False: there is not a graph in it. */
static bool change_graph(struct tree *tree)
{
	struct graph graph = { .tree = tree };

	graph.module = inside(tree->top, INNER(PROTO_MODULE));
	if (!graph.module || !inside(graph.module, INNER(MODULE_COMPUTATIONS)))
		graph.module = tree->top;
	if (!choose_comp(&graph))
		return false;
	with_ids(&graph, proto_unpack);
	changes[below(&graph, TS_NELEM(changes))](&graph);
	with_ids(&graph, proto_pack);
	return true;
}

static void change_module(struct tree *tree)
{
	if (tree->other || rng_below(tree->rng, 2) || !change_graph(tree))
		tree_changes(tree);
	else if (rng_below(tree->rng, 2))
		change_graph(tree);
}

static bool apply(const struct mutator *self, const struct mutation *mutation)
{
	static const struct tree_format format = { proto_parse, proto_print, proto_change,
						   change_module };

	(void)self;
	return tree_apply(&format, mutation);
}

const struct mutator mutator_hlo = { .name = "hlo", .apply = apply };
