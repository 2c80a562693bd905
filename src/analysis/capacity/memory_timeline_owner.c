/*
 * Who is at work on a thread: the calls that are open, and what an allocation among them is told by.
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
	enum mt_role role;
};

/* By what the name begins with, in categories of operators and ranges. */
static const struct row beginnings[] = {
	{ "aten::empty", MT_ALLOCATING },   { "aten::new_empty", MT_ALLOCATING },
	{ "aten::resize_", MT_ALLOCATING }, { "autograd::engine::evaluate_function", MT_BACKWARD },
	{ "Optimizer.", MT_OPTIMIZER },	    { "enumerate(DataLoader)", MT_INPUT },
	{ "ProfilerStep#", MT_STEP },	    { NULL, MT_NOTHING },
};

/* The categories, the capital ones those of Kineto's first years; what they are by themselves. */
static const struct row categories[] = {
	{ "cpu_op", MT_OPERATOR },
	{ "Operator", MT_OPERATOR },
	{ "user_annotation", MT_ANNOTATION },
	{ "python_function", MT_PYTHON },
};

/* "train.py(42): step" of the user's: no library's, nothing that Python made itself. */
static bool is_source(struct ts_bytes name)
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

static enum mt_role role_of_python(struct ts_bytes name)
{
	if (ts_bytes_starts(name, "nn.Module: "))
		return MT_MODULE;
	return is_source(name) ? MT_SOURCE : MT_PYTHON;
}

static enum mt_role role_by(const struct row *rows, struct ts_bytes name, enum mt_role otherwise)
{
	for (; rows->name; rows++)
		if (ts_bytes_starts(name, rows->name))
			return rows->role;
	return otherwise;
}

static enum mt_role role_of(const struct ts_op *op)
{
	if (ts_bytes_is(op->name, "[memory]"))
		return MT_BLOCK;
	if (ts_bytes_is(op->name, "[OutOfMemory]"))
		return MT_OOM;
	for (size_t i = 0; i < TS_NELEM(categories); i++) {
		enum mt_role role = categories[i].role;

		if (!ts_bytes_is(op->category, categories[i].name))
			continue;
		if (role == MT_PYTHON)
			return role_of_python(op->name);
		return role_by(beginnings, op->name, role);
	}
	if (ts_trace_class_of_category(op->category) == TS_TRACE_RUNTIME &&
	    ts_alloc_call_of(op->name))
		return MT_CALL;
	return MT_NOTHING;
}

uint8_t *mt_roles(const struct ts_profile *profile)
{
	uint8_t *roles = calloc(profile->nr_ops + 1, sizeof(*roles));

	for (size_t i = 0; roles && i < profile->nr_ops; i++)
		if (profile->ops[i].is_event)
			roles[i] = (uint8_t)role_of(&profile->ops[i]);
	return roles;
}

static const struct mt_owner nobody = { TS_NONE, TS_NONE, TS_NONE, TS_NONE, TS_NONE, MT_NO_PHASE };

static void be_operator(struct mt_owner *owner, uint32_t op)
{
	owner->op = op;
	if (owner->outer_op == TS_NONE)
		owner->outer_op = op;
}

/* What the innermost call adds to what those around it say. */
static void inherit(struct mt_owner *owner, uint32_t op, enum mt_role role)
{
	switch (role) {
	case MT_OPERATOR: be_operator(owner, op); break;
	case MT_ALLOCATING:
		if (owner->op == TS_NONE)
			be_operator(owner, op);
		break;
	case MT_BACKWARD:
		be_operator(owner, op);
		owner->phase = MT_IN_BACKWARD;
		break;
	case MT_MODULE:
		owner->module = op;
		if (owner->phase == MT_NO_PHASE)
			owner->phase = MT_FORWARD;
		break;
	case MT_SOURCE: owner->source = op; break;
	case MT_OPTIMIZER:
	case MT_INPUT:
		owner->phase = role == MT_INPUT ? MT_IN_INPUT : MT_IN_OPTIMIZER;
		owner->annotation = op;
		break;
	case MT_ANNOTATION: owner->annotation = op; break;
	default:	    break;
	}
}

bool mt_thread_enter(struct mt_thread *thread, uint32_t op, enum mt_role role, int64_t start_ps,
		     int64_t end_ps)
{
	struct mt_open *open;

	while (thread->nr > 0 && (thread->open[thread->nr - 1].end_ps < end_ps ||
				  thread->open[thread->nr - 1].end_ps <= start_ps))
		thread->nr--;
	if (thread->nr >= MT_DEPTH)
		return true; /* deeper than any program calls: its caller stands for it */
	if (!ts_grow(&thread->open, &thread->cap, thread->nr + 1, sizeof(*thread->open)))
		return false;
	open = &thread->open[thread->nr];
	open->owner = thread->nr > 0 ? thread->open[thread->nr - 1].owner : nobody;
	open->end_ps = end_ps;
	thread->nr++;
	inherit(&open->owner, op, role);
	return true;
}

struct mt_owner mt_thread_owner(struct mt_thread *thread, int64_t at_ps)
{
	while (thread->nr > 0 && thread->open[thread->nr - 1].end_ps < at_ps)
		thread->nr--;
	return thread->nr > 0 ? thread->open[thread->nr - 1].owner : nobody;
}
