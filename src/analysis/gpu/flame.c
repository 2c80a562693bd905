/* SPDX-License-Identifier: MIT */
/*
 * Flame graphs: where the host's threads and the devices spend their time, by path of calls.
 *
 * A moment of a thread belongs to the innermost call that is open, the one begun last; so the self
 * times of a thread's frames sum to the time that anything was open on it, whatever the trace. A
 * kernel's time goes below the call that was open when its launch began, on the thread that
 * launched it: launch and kernel know each other by TS_COL_LINK. Kernels without a launch in the
 * trace stand under a frame of their own, so device time sums to that of all kernels.
 *
 * Two trees are made of this. `stacks` has all frames. `modules` has those of nn.Module (of the
 * Python tracer, with_stack=True and with_modules=True); in a trace without them, the user's own
 * ranges (record_function). A third, `scopes`, is made of the names that the framework gave to
 * device ops (flame_scopes.c).
 */
#include "analysis/gpu/flame.h"

#include "base/record.h"
#include "result/schema/flame.def"

#define STACK_MAX 1024 /* open calls of a thread; deeper ones count as the innermost of these */
#define KEEP	  3    /* of a full tree, one node in KEEP is kept */

struct frame {
	int64_t end_ps;
	uint32_t node[FLAME_NR_LIVE];
};

struct thread {
	bool is_wanted;	      /* lines that only other analyses want come along */
	struct frame *frames; /* those that are open, the outermost first */
	size_t nr, cap;
	int64_t clock_ps; /* up to here its time is counted */
	bool has_calls;
};

enum module_source { MODULES_NONE, MODULES_RANGES, MODULES_NN };

struct flame_state {
	struct flame_tree trees[FLAME_NR_LIVE];
	struct thread *threads; /* by line of the profile */
	size_t nr_lines;
	struct flame_links links;
	struct flame_links forward; /* by autograd's sequence number, where it was handed out */
	bool has_backward;
	uint32_t *same; /* names: of each op the first that has the same */
	enum module_source source;
	struct flame_seen seen;
};

#define TS_SELF struct frame
static TS_RECORD(frame, TS_NUMBER(1, end_ps, TS_BY_HAND), TS_NUMBERS(2, node, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct thread
static TS_RECORD(thread,
		 TS_RECORDS_CAP(1, frames, nr, cap, frame_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_NUMBER(2, clock_ps, TS_BY_HAND), TS_NUMBER(3, has_calls, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct flame_seen
static TS_RECORD(seen, TS_NUMBER(1, nr_threads, TS_BY_HAND), TS_NUMBER(2, has_modules, TS_BY_HAND),
		 TS_NUMBER(3, nr_lost, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct flame_state
static bool is_in_tree(const struct flame_state *state, const struct frame *frame)
{
	for (int tree = 0; tree < FLAME_NR_LIVE; tree++)
		if (frame->node[tree] != TS_NONE && frame->node[tree] >= state->trees[tree].nr)
			return false;
	return true;
}

static bool is_flame(const void *self)
{
	const struct flame_state *state = self;

	for (size_t i = 0; i < state->nr_lines; i++)
		for (size_t k = 0; k < state->threads[i].nr; k++)
			if (!is_in_tree(state, &state->threads[i].frames[k]))
				return false;
	return state->source <= MODULES_NN;
}
static TS_RECORD_WITH(flame, TS_VALID_IF(is_flame), TS_STRUCT(1, trees, ts_flame_tree_record),
		      TS_RECORDS(2, threads, nr_lines, thread_record, TS_BY_LINE, TS_BY_HAND),
		      TS_STRUCT(3, links, ts_flame_links_record),
		      TS_STRUCT(4, forward, ts_flame_links_record),
		      TS_NUMBER(5, source, TS_BY_HAND), TS_STRUCT(6, seen, seen_record),
		      TS_SCRATCH(same));
#undef TS_SELF

static bool is_module(const struct ts_op *op)
{
	return ts_bytes_starts(op->name, "nn.Module: ");
}

static bool flame_is_step(const struct ts_op *op)
{
	return ts_bytes_starts(op->name, "ProfilerStep#");
}

static bool is_backward(const struct ts_op *op)
{
	return ts_bytes_starts(op->name, "autograd::engine::evaluate_function: ");
}

static bool flame_is_range(const struct ts_op *op)
{
	return op->category_id == TS_KINETO_USER_ANNOTATION && !flame_is_step(op);
}

static bool flame_is_gpu(const struct ts_context *ctx, const struct ts_line *line)
{
	const struct ts_device *device = ts_line_device(ctx->profile, line);

	return device && device->is_gpu;
}

static bool flame_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	if (line->kind == TS_LINE_THREAD)
		return !ts_line_device(ctx->profile, line);
	return ts_line_is_core(ctx->profile, line) && flame_is_gpu(ctx, line);
}

static enum module_source flame_source_of(const struct ts_profile *profile)
{
	enum module_source source = MODULES_NONE;

	for (size_t i = 0; i < profile->nr_ops && source != MODULES_NN; i++) {
		if (is_module(&profile->ops[i]))
			source = MODULES_NN;
		else if (flame_is_range(&profile->ops[i]))
			source = MODULES_RANGES;
	}
	return source;
}

static enum ts_status flame_open(void *ptr, const struct ts_context *ctx,
				 const struct ts_line *line, struct ts_error *err)
{
	struct flame_state *state = ptr;

	state->nr_lines = ctx->profile->nr_lines;
	state->threads = calloc(state->nr_lines + 1, sizeof(*state->threads));
	state->source = flame_source_of(ctx->profile);
	for (size_t i = 0; state->source == MODULES_NN && i < ctx->profile->nr_ops; i++)
		state->has_backward |= is_backward(&ctx->profile->ops[i]);
	for (size_t i = 0; state->threads && i < state->nr_lines; i++)
		state->threads[i].is_wanted = flame_wants(ctx, &ctx->profile->lines[i]);
	state->same = calloc(ctx->profile->nr_ops + 1, sizeof(*state->same));
	if (!state->threads || !state->same)
		return ts_fail_nomem(err);
	return ts_flame_same_names(ctx->profile, state->same, err);
}

static void moved_frames(struct flame_state *state, enum flame_kind tree, const uint32_t *moved)
{
	for (size_t t = 0; t < state->nr_lines; t++)
		for (size_t i = 0; i < state->threads[t].nr; i++) {
			uint32_t *node = &state->threads[t].frames[i].node[tree];

			*node = *node == TS_NONE ? TS_NONE : moved[*node];
		}
}

/* Called before nodes are added, so that the indices of new nodes stay right until they are
 * stored. */
static enum ts_status flame_make_room(struct flame_state *state, struct ts_error *err)
{
	for (int tree = 0; tree < FLAME_NR_LIVE; tree++) {
		uint32_t *moved = NULL;
		enum ts_status st;

		if (state->trees[tree].nr < FLAME_NODES)
			continue;
		st = ts_flame_tree_shrink(&state->trees[tree], FLAME_NODES / KEEP, &moved, err);
		if (!st) {
			moved_frames(state, tree, moved);
			ts_flame_links_moved(&state->links, tree, moved);
			ts_flame_links_moved(&state->forward, tree, moved);
		}
		free(moved);
		if (st)
			return st;
	}
	return TS_OK;
}

static void credit(struct flame_state *state, const struct frame *frame, int64_t ps)
{
	for (int tree = 0; tree < FLAME_NR_LIVE; tree++)
		if (frame->node[tree] != TS_NONE) {
			int64_t *cpu_ps = &state->trees[tree].nodes[frame->node[tree]].cpu_ps;

			*cpu_ps = ts_i64_add(*cpu_ps, ps);
		}
}

/* The thread's time up to UNTIL_PS goes to the innermost call; calls that ended by then are
 * closed. */
static void flame_advance(struct flame_state *state, struct thread *thread, int64_t until_ps)
{
	while (thread->nr > 0) {
		const struct frame *top = &thread->frames[thread->nr - 1];
		int64_t end_ps = TS_MIN(top->end_ps, until_ps);

		if (end_ps > thread->clock_ps) {
			credit(state, top, ts_i64_sub(end_ps, thread->clock_ps));
			thread->clock_ps = end_ps;
		}
		if (top->end_ps > until_ps)
			break;
		thread->nr--;
	}
}

/* A node of the tree, which counts once more. */
static enum ts_status count_node(struct flame_tree *tree, uint32_t parent, uint32_t name,
				 uint32_t *node, struct ts_error *err)
{
	enum ts_status st = ts_flame_tree_child(tree, parent, name, node, err);

	if (!st)
		tree->nodes[*node].count++;
	return st;
}

/* NODE: the frame's in the tree of modules: its own, or that of the frame below it. */
static enum ts_status module_node(struct flame_state *state, const struct ts_op *op, uint32_t index,
				  uint32_t below, uint32_t *node, struct ts_error *err)
{
	struct flame_tree *tree = &state->trees[FLAME_MODULES];
	bool is_own = state->source == MODULES_NN ? is_module(op) : flame_is_range(op);

	*node = below;
	if (!is_own && below == TS_NONE)
		return ts_flame_tree_child(tree, TS_NONE, FLAME_OUTSIDE, node, err);
	if (!is_own)
		return TS_OK;
	if (below != TS_NONE && tree->nodes[below].name == FLAME_OUTSIDE)
		below = TS_NONE;
	return count_node(tree, below, index, node, err);
}

static enum ts_status flame_put_frame(struct flame_state *state, const struct ts_op *op,
				      uint32_t index, const struct frame *below,
				      struct frame *frame, struct ts_error *err)
{
	uint32_t *node = frame->node;
	enum ts_status st =
		count_node(&state->trees[FLAME_STACKS], below->node[FLAME_STACKS],
			   flame_is_step(op) ? FLAME_STEP : index, &node[FLAME_STACKS], err);

	node[FLAME_MODULES] = TS_NONE;
	if (st || state->source == MODULES_NONE)
		return st;
	return module_node(state, op, index, below->node[FLAME_MODULES], &node[FLAME_MODULES], err);
}

/* Puts a kernel below the call that launched it. */
static enum ts_status flame_put_kernel(struct flame_state *state, uint32_t op, int64_t dur_ps,
				       const uint32_t *below, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (int i = 0; i < FLAME_NR_LIVE; i++) {
		struct flame_tree *tree = &state->trees[i];
		uint32_t parent = below[i], at;

		if (i == FLAME_MODULES && state->source == MODULES_NONE)
			continue;
		if (i == FLAME_MODULES && parent == TS_NONE)
			st = ts_flame_tree_child(tree, TS_NONE, FLAME_OUTSIDE, &parent, err);
		if (st)
			return st;
		st = count_node(tree, parent, op | FLAME_DEVICE, &at, err);
		if (st)
			return st;
		tree->nodes[at].device_ps = ts_i64_add(tree->nodes[at].device_ps, dur_ps);
	}
	return TS_OK;
}

static enum ts_status put_lost(struct flame_state *state, uint32_t op, int64_t dur_ps,
			       struct ts_error *err)
{
	uint32_t below[FLAME_NR_LIVE] = { TS_NONE, TS_NONE };
	enum ts_status st = flame_make_room(state, err);

	if (st)
		return st;
	state->seen.nr_lost++;
	for (int tree = 0; tree < FLAME_NR_LIVE; tree++) {
		if (tree == FLAME_MODULES && state->source == MODULES_NONE)
			continue;
		st = ts_flame_tree_child(&state->trees[tree], TS_NONE, FLAME_LOST, &below[tree],
					 err);
		if (st)
			return st;
	}
	return flame_put_kernel(state, op, dur_ps, below, err);
}

/* The trace does not have their launches. */
static enum ts_status lose_waiting(struct flame_state *state, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < state->links.nr_waiting && !st; i++) {
		const struct flame_waiting *waiting = &state->links.waiting[i];

		if (waiting->dur_ps >= 0)
			st = put_lost(state, waiting->op, waiting->dur_ps, err);
	}
	if (!st)
		ts_flame_links_forget_waiting(&state->links);
	return st;
}

static enum ts_status flame_take_waiting(struct flame_state *state,
					 const struct flame_launch *launch, struct ts_error *err)
{
	uint32_t at = ts_flame_links_waiting(&state->links, launch->link), next;
	enum ts_status st = TS_OK;

	for (; at != TS_NONE; at = next) {
		struct flame_waiting *waiting = &state->links.waiting[at];

		if (waiting->dur_ps >= 0)
			st = flame_put_kernel(state, waiting->op, waiting->dur_ps, launch->node,
					      err);
		if (st)
			return st;
		next = waiting->next;
		waiting->dur_ps = -1;
		waiting->next = TS_NONE;
	}
	return TS_OK;
}

static enum ts_status flame_take_kernel(struct flame_state *state, uint64_t link, uint32_t op,
					int64_t dur_ps, struct ts_error *err)
{
	const struct flame_launch *launch;
	enum ts_status st;

	if (link == TS_NO_LINK)
		return put_lost(state, op, dur_ps, err);
	launch = ts_flame_links_find(&state->links, link);
	if (launch)
		return flame_put_kernel(state, op, dur_ps, launch->node, err);
	st = state->links.nr_waiting >= FLAME_LAUNCHES ? lose_waiting(state, err) : TS_OK;
	if (st)
		return st;
	return ts_flame_links_wait(&state->links, link, op, dur_ps, err);
}

/*
 * Autograd runs the backward of an op on a thread of its own, where no module is open. Both ops
 * have the sequence number of the forward op, so the module gets a frame for what its backward did.
 * *MODULE: the module that is open, which becomes that frame.
 */
static enum ts_status flame_find_module(struct flame_state *state,
					const struct ts_interleaved *interleaved, size_t i,
					uint32_t *module, struct ts_error *err)
{
	struct flame_tree *tree = &state->trees[FLAME_MODULES];
	const struct ts_op *op = &interleaved->profile->ops[interleaved->op[i]];
	bool in_module = *module != TS_NONE && tree->nodes[*module].name != FLAME_OUTSIDE;
	const struct flame_launch *forward;
	struct flame_launch here = { .node = { TS_NONE, *module } };
	struct ts_stat number;

	if (in_module == is_backward(op) || op->category_id != TS_KINETO_CPU_OP ||
	    !ts_interleaved_stat(interleaved, i, "Sequence number", &number) ||
	    number.type != TS_STAT_INT)
		return TS_OK;
	here.link = (uint64_t)number.number;
	if (in_module)
		return ts_flame_links_add(&state->forward, &here, err);
	forward = ts_flame_links_find(&state->forward, here.link);
	if (!forward)
		return TS_OK;
	return count_node(tree, forward->node[FLAME_MODULES], FLAME_BACKWARD, module, err);
}

static enum ts_status flame_take_call(struct flame_state *state,
				      const struct ts_interleaved *interleaved, size_t i,
				      struct ts_error *err)
{
	struct thread *thread = &state->threads[interleaved->line[i]];
	struct frame frame = { 0, { TS_NONE, TS_NONE } }, below = frame;
	enum ts_status st = TS_OK;

	thread->has_calls = true;
	flame_advance(state, thread, interleaved->start_ps[i]);
	thread->clock_ps = interleaved->start_ps[i];
	if (!ts_grow(&thread->frames, &thread->cap, thread->nr + 1, sizeof(*thread->frames)))
		return ts_fail_nomem(err);
	if (thread->nr > 0)
		below = thread->frames[thread->nr - 1];
	if (interleaved->link[i] != TS_NO_LINK) {
		struct flame_launch launch = { .link = interleaved->link[i] };

		memcpy(launch.node, below.node, sizeof(launch.node));
		st = ts_flame_links_add(&state->links, &launch, err);
		if (st)
			return st;
		st = flame_take_waiting(state, &launch, err);
		if (st)
			return st;
	}
	if (thread->nr >= STACK_MAX)
		return TS_OK;
	if (state->has_backward)
		st = flame_find_module(state, interleaved, i, &below.node[FLAME_MODULES], err);
	if (st)
		return st;
	frame.end_ps = ts_i64_add(interleaved->start_ps[i], interleaved->dur_ps[i]);
	st = flame_put_frame(state, &interleaved->profile->ops[interleaved->op[i]],
			     state->same[interleaved->op[i]], &below, &frame, err);
	if (st)
		return st;
	thread->frames[thread->nr++] = frame;
	return TS_OK;
}

static enum ts_status flame_interleaved(void *ptr, const struct ts_context *ctx,
					const struct ts_interleaved *interleaved,
					struct ts_error *err)
{
	struct flame_state *state = ptr;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && !st; i++) {
		const struct ts_line *line = &ctx->profile->lines[interleaved->line[i]];

		st = flame_make_room(state, err);
		if (st || !state->threads[interleaved->line[i]].is_wanted)
			continue;
		if (line->kind == TS_LINE_THREAD)
			st = flame_take_call(state, interleaved, i, err);
		else
			st = flame_take_kernel(state, interleaved->link[i], interleaved->op[i],
					       TS_MAX(interleaved->dur_ps[i], 0), err);
	}
	return st;
}

static enum ts_status flame_finish(struct flame_state *state, struct ts_error *err)
{
	for (size_t i = 0; i < state->nr_lines; i++) {
		struct thread *thread = &state->threads[i];

		state->seen.nr_threads += thread->has_calls;
		flame_advance(state, thread, INT64_MAX);
		free(thread->frames);
		*thread = (struct thread){ .nr = 0 };
	}
	return lose_waiting(state, err);
}

static enum ts_status flame_merge(void *ptr_into, void *ptr_from, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct flame_state *into = ptr_into, *from = ptr_from;
	enum ts_status st = flame_finish(from, err);

	if (st)
		return st;
	for (int tree = 0; tree < FLAME_NR_LIVE; tree++) {
		st = ts_flame_tree_add(&into->trees[tree], &from->trees[tree], err);
		if (st)
			return st;
	}
	into->source = from->source;
	into->seen.nr_threads += from->seen.nr_threads;
	into->seen.nr_lost += from->seen.nr_lost;
	return flame_make_room(into, err);
}

static enum ts_status flame_close(void *ptr, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct flame_state *state = ptr;
	struct flame_tree trees[FLAME_NR_KINDS] = { { .nr = 0 } };
	struct ts_bytes *scopes = NULL;
	enum ts_status st;

	for (int i = 0; i < FLAME_NR_LIVE; i++)
		if (!ts_flame_tree_names_ops(&state->trees[i], ctx->profile->nr_ops))
			return ts_fail(err, TS_FORMAT, "a saved state is of another profile");
	st = ts_flame_scopes(ctx, &trees[FLAME_SCOPES], &scopes, err);
	memcpy(trees, state->trees, sizeof(state->trees));
	memset(state->trees, 0, sizeof(state->trees));
	state->seen.has_modules = state->source == MODULES_NN;
	if (st == TS_OK)
		st = ts_flame_report(ctx, trees, scopes, &state->seen, result, err);
	for (int i = 0; i < FLAME_NR_KINDS; i++)
		ts_flame_tree_release(&trees[i]);
	free(scopes);
	return st;
}

const struct ts_analysis ts_analysis_flame = {
	.schema = &ts_schema_flame,
	.needs = TS_NEEDED,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK | TS_COL_STATS,
	.state = &flame_record,
	.wants = flame_wants,
	.open = flame_open,
	.interleaved = flame_interleaved,
	.merge = flame_merge,
	.close = flame_close,
};
