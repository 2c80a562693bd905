/*
 * Compiled code: regions and what they run, compilations and why, graph breaks, and how many ops became
 * how many kernels. PyTorch's compiler is known by the events it leaves on the host's threads
 * (model/torch_event.h); XLA's by the facts of cache and by the modules.
 */
#include "analysis/compile/compile.h"

static bool compile_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return line->kind == TS_LINE_THREAD;
}

static enum ts_status compile_open(void *arg, const struct ts_context *ctx,
				   const struct ts_line *line, struct ts_error *err)
{
	struct compile_state *state = arg;

	for (size_t i = 0; i < TS_NELEM(state->last_op); i++)
		state->last_op[i] = TS_NONE;
	return TS_OK;
}

/* Threads of a trace have events of a kind of their own; those of an xplane tell nothing here. */
static bool ask(struct compile_state *state, const struct ts_block *block)
{
	if (state->is_asked || block->nr_events == 0)
		return true;
	state->is_asked = true;
	state->is_trace = block->profile->ops[block->op[0]].is_event;
	if (state->is_trace)
		state->events = calloc(block->profile->nr_ops + 1, 1);
	return !state->is_trace || state->events;
}

static enum ts_status compile_block(void *arg, const struct ts_context *ctx,
				    const struct ts_block *block, struct ts_error *err)
{
	struct compile_state *state = arg;
	bool good = ask(state, block);

	for (size_t i = 0; state->is_trace && i < block->nr_events && good; i++)
		good = ts_compile_thread_event(state, block, i);
	return good ? TS_OK : ts_fail_nomem(err);
}

static bool merge_regions(struct compile_state *into, const struct compile_state *from)
{
	for (size_t i = 0; i < from->nr_regions; i++) {
		const struct compile_region *region = &from->regions[i];
		struct compile_region *to = ts_compile_region_get(into, region->id);

		if (!to)
			return false;
		to->frame_op = to->frame_op == TS_NONE ? region->frame_op : to->frame_op;
		to->nr_calls += region->nr_calls;
		to->time_ps = ts_i64_add(to->time_ps, region->time_ps);
		to->self_ps = ts_i64_add(to->self_ps, region->self_ps);
		to->first_ps = TS_MIN(to->first_ps, region->first_ps);
		to->nr_compiles += region->nr_compiles;
		to->compile_ps = ts_i64_add(to->compile_ps, region->compile_ps);
		to->nr_restarts = TS_MAX(to->nr_restarts, region->nr_restarts);
	}
	return true;
}

static bool merge_rows(struct compile_state *into, const struct compile_state *from)
{
	for (size_t i = 0; i < from->nr_nestings; i++) {
		const struct compile_nesting *nesting = &from->nestings[i];
		struct compile_nesting *to =
			ts_compile_nesting_get(into, nesting->parent, nesting->child);

		if (!to)
			return false;
		to->nr += nesting->nr;
		to->time_ps = ts_i64_add(to->time_ps, nesting->time_ps);
	}
	for (size_t i = 0; i < from->nr_phases; i++) {
		struct compile_phase *to = ts_compile_phase_get(into, from->phases[i].op);

		if (!to)
			return false;
		to->nr += from->phases[i].nr;
		to->time_ps = ts_i64_add(to->time_ps, from->phases[i].time_ps);
		to->self_ps = ts_i64_add(to->self_ps, from->phases[i].self_ps);
	}
	for (size_t i = 0; i < from->nr_kernels; i++) {
		struct compile_kernel *to = ts_compile_kernel_get(into, from->kernels[i].op);

		if (!to)
			return false;
		to->nr += from->kernels[i].nr;
		to->time_ps = ts_i64_add(to->time_ps, from->kernels[i].time_ps);
	}
	return true;
}

static void merge_counts(struct compile_counts *into, const struct compile_counts *from)
{
	into->nr_graph_calls += from->nr_graph_calls;
	into->graph_ps = ts_i64_add(into->graph_ps, from->graph_ps);
	into->nr_functions += from->nr_functions;
	into->nr_backwards += from->nr_backwards;
	into->backward_ps = ts_i64_add(into->backward_ps, from->backward_ps);
	into->nr_lookups += from->nr_lookups;
	into->lookup_ps = ts_i64_add(into->lookup_ps, from->lookup_ps);
	into->overhead_ps = ts_i64_add(into->overhead_ps, from->overhead_ps);
	into->nr_compiles += from->nr_compiles;
	into->compile_ps = ts_i64_add(into->compile_ps, from->compile_ps);
	into->nr_graph_launches += from->nr_graph_launches;
	into->nr_kernel_launches += from->nr_kernel_launches;
	into->nr_library_ops += from->nr_library_ops;
	into->max_nested = TS_MAX(into->max_nested, from->max_nested);
	into->nr_regions += from->nr_regions;
}

static enum ts_status compile_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				    struct ts_error *err)
{
	struct compile_state *into = arg_into, *from = arg_from;
	bool good =
		ts_compile_thread_end(from) && merge_regions(into, from) && merge_rows(into, from);

	merge_counts(&into->counts, &from->counts);
	return good ? TS_OK : ts_fail_nomem(err);
}

/* Did PyTorch's compiler leave anything here, or is it a trace of PyTorch's, with kernels? */
static bool is_torch(const struct compile_state *sum, const struct ts_profile *profile)
{
	return ts_compile_is_seen(sum, profile) ||
	       sum->counts.nr_kernel_launches + sum->counts.nr_graph_launches > 0;
}

static enum ts_status compile_close(void *arg, const struct ts_context *ctx, void *facts,
				    struct ts_result *result, struct ts_error *err)
{
	struct compile_report report = { .sum = arg, .ctx = ctx, .facts = facts, .result = result };

	*report.facts = (struct ts_compile_facts){ .nr_breaks = -1,
						   .nr_recompiles = -1,
						   .nr_cuda_graph_launches = -1 };
	if (ctx->profile->nr_hosts + ctx->profile->torch_log.nr_files == 0)
		return TS_OK; /* modules alone: nothing was called */
	if (is_torch(arg, ctx->profile))
		return ts_compile_report(&report) ? TS_OK : ts_fail_nomem(err);
	ts_compile_report_xla(ctx, facts, result);
	return TS_OK;
}

static void compile_release(void *arg)
{
	struct compile_state *state = arg;

	free(state->events);
	free(state->pieces);
	free(state->regions);
	free(state->nestings);
	free(state->phases);
	free(state->kernels);
	ts_map_release(&state->region_of_key);
	ts_map_release(&state->nesting_of_key);
	ts_map_release(&state->phase_of_op);
	ts_map_release(&state->kernel_of_op);
}

const struct ts_analysis ts_analysis_compile = {
	.name = "compile",
	.title = "Compiled code",
	.needs = TS_NEEDED,
	.pass = TS_PASS_SECOND,
	.state_size = sizeof(struct compile_state),
	.facts_size = sizeof(struct ts_compile_facts),
	.wants = compile_wants,
	.open = compile_open,
	.block = compile_block,
	.merge = compile_merge,
	.close = compile_close,
	.release = compile_release,
};
