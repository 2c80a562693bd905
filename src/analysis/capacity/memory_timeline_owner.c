/* SPDX-License-Identifier: MIT */
/*
 * Who is at work on a thread: the calls that are open, and which of them name an allocation.
 *
 * Facts: what PyTorch's profiler calls things (torch/csrc/profiler, torch/profiler/profiler.py,
 * torch/optim/optimizer.py, torch/utils/data/dataloader.py): "nn.Module: NAME_N" and
 * "FILE(LINE): FUNCTION" in the category python_function, "autograd::engine::evaluate_function:
 * NODE" around each backward node, "Optimizer.step#NAME.step", "enumerate(DataLoader)#...".
 */
#include "analysis/capacity/memory_timeline.h"

#include "model/alloc_call.h"
#include "model/trace_class.h"

struct row {
	const char *name;
	enum heap_role role;
};

/* By what the name begins with, in categories of operators and ranges. */
static const struct row beginnings[] = {
	{ "aten::empty", ROLE_ALLOCATING },
	{ "aten::new_empty", ROLE_ALLOCATING },
	{ "aten::resize_", ROLE_ALLOCATING },
	{ "autograd::engine::evaluate_function", ROLE_BACKWARD },
	{ "Optimizer.", ROLE_OPTIMIZER },
	{ "enumerate(DataLoader)", ROLE_INPUT },
	{ "ProfilerStep#", ROLE_STEP },
	{ NULL, ROLE_NOTHING },
};

/* The categories of events, and what each of them is. Those with a capital letter are from the first
 * years of Kineto. */
static const enum heap_role categories[TS_NR_OPCODES] = {
	[TS_KINETO_CPU_OP] = ROLE_OPERATOR,
	[TS_KINETO_FIRST_OPERATOR] = ROLE_OPERATOR,
	[TS_KINETO_USER_ANNOTATION] = ROLE_ANNOTATION,
	[TS_KINETO_PYTHON_FUNCTION] = ROLE_PYTHON,
};

/* "train.py(42): step" of the user's: not one of a library, and not one that Python made itself. */
static bool memory_timeline_owner_is_source(struct ts_bytes name)
{
	static const char *const libraries[] = { "site-packages", "dist-packages", "lib/python" };

	if (!ts_bytes_has(name, ".py(") || ts_bytes_starts(name, "torch/") ||
	    ts_bytes_starts(name, "<"))
		return false;
	for (size_t i = 0; i < TS_NELEM(libraries); i++)
		if (ts_bytes_has(name, libraries[i]))
			return false;
	return true;
}

static enum heap_role role_by(const struct row *rows, struct ts_bytes name,
			      enum heap_role otherwise)
{
	for (; rows->name; rows++)
		if (ts_bytes_starts(name, rows->name))
			return rows->role;
	return otherwise;
}

static enum heap_role memory_timeline_owner_role_of(const struct ts_op *op)
{
	enum heap_role role = categories[op->category_id];

	if (ts_bytes_is(op->name, "[memory]"))
		return ROLE_BLOCK;
	if (ts_bytes_is(op->name, "[OutOfMemory]"))
		return ROLE_OOM;
	if (role == ROLE_PYTHON) {
		if (ts_bytes_starts(op->name, "nn.Module: "))
			return ROLE_MODULE;
		return memory_timeline_owner_is_source(op->name) ? ROLE_SOURCE : ROLE_PYTHON;
	}
	if (role != ROLE_NOTHING)
		return role_by(beginnings, op->name, role);
	if (ts_trace_class_of_category(op->category_id) == TS_TRACE_RUNTIME &&
	    ts_alloc_call_of(op->name))
		return ROLE_CALL;
	return ROLE_NOTHING;
}

uint8_t *ts_heap_roles(const struct ts_profile *profile)
{
	uint8_t *roles = calloc(profile->nr_ops + 1, sizeof(*roles));

	for (size_t i = 0; roles && i < profile->nr_ops; i++)
		if (profile->ops[i].is_event)
			roles[i] = (uint8_t)memory_timeline_owner_role_of(&profile->ops[i]);
	return roles;
}

static const struct heap_owner unknown = {
	TS_NONE, TS_NONE, TS_NONE, TS_NONE, TS_NONE, PHASE_NONE
};

static void be_operator(struct heap_owner *owner, uint32_t op)
{
	owner->op = op;
	if (owner->outer_op == TS_NONE)
		owner->outer_op = op;
}

/* What the innermost call adds to what those around it say. */
static void inherit(struct heap_owner *owner, uint32_t op, enum heap_role role)
{
	switch (role) {
	case ROLE_OPERATOR: be_operator(owner, op); break;
	case ROLE_ALLOCATING:
		if (owner->op == TS_NONE)
			be_operator(owner, op);
		break;
	case ROLE_BACKWARD:
		be_operator(owner, op);
		owner->phase = PHASE_BACKWARD;
		break;
	case ROLE_MODULE:
		owner->module = op;
		if (owner->phase == PHASE_NONE)
			owner->phase = PHASE_FORWARD;
		break;
	case ROLE_SOURCE: owner->source = op; break;
	case ROLE_OPTIMIZER:
	case ROLE_INPUT:
		owner->phase = role == ROLE_INPUT ? PHASE_INPUT : PHASE_OPTIMIZER;
		owner->annotation = op;
		break;
	case ROLE_ANNOTATION: owner->annotation = op; break;
	default:	      break;
	}
}

enum ts_status ts_heap_thread_enter(struct heap_thread *thread, uint32_t op, enum heap_role role,
				    int64_t start_ps, int64_t end_ps, struct ts_error *err)
{
	struct heap_open *open;

	TS_ASSERT_HOT(role > ROLE_OOM && role < ROLE_STEP);
	while (thread->nr > 0 && (thread->open[thread->nr - 1].end_ps < end_ps ||
				  thread->open[thread->nr - 1].end_ps <= start_ps))
		thread->nr--;
	if (thread->nr >= MAX_DEPTH)
		return TS_OK; /* deeper than any program calls: its caller stands for it */
	if (!ts_grow(&thread->open, &thread->cap, thread->nr + 1, sizeof(*thread->open)))
		return ts_fail_nomem(err);
	open = &thread->open[thread->nr];
	open->owner = thread->nr > 0 ? thread->open[thread->nr - 1].owner : unknown;
	open->end_ps = end_ps;
	thread->nr++;
	inherit(&open->owner, op, role);
	return TS_OK;
}

struct heap_owner ts_heap_thread_owner(struct heap_thread *thread, int64_t at_ps)
{
	while (thread->nr > 0 && thread->open[thread->nr - 1].end_ps < at_ps)
		thread->nr--;
	return thread->nr > 0 ? thread->open[thread->nr - 1].owner : unknown;
}
