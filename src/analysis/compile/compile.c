/* SPDX-License-Identifier: MIT */
/*
 * Compiled code: regions and what they run, compilations and why, graph breaks, and how many ops became
 * how many kernels. PyTorch's compiler is known by the events it leaves on the host's threads
 * (model/torch_event.h); XLA's by the facts of cache and by the modules.
 */
#include "analysis/compile/compile.h"

#include "analysis/kit/keyed.h"
#include "base/record.h"
#include "result/schema/compile.def"

#define TS_SELF struct compile_region
static TS_RECORD(region, TS_NUMBER(1, id.autograd, TS_KEEP), TS_NUMBER(2, id.frame, TS_KEEP),
		 TS_NUMBER(3, id.compile, TS_KEEP), TS_INDEX(4, frame_op, TS_BY_OP, TS_KEEP_KNOWN),
		 TS_NUMBER(5, nr_calls, TS_ADD), TS_NUMBER(6, time_ps, TS_ADD),
		 TS_NUMBER(7, self_ps, TS_ADD), TS_NUMBER(8, first_ps, TS_MIN_OF),
		 TS_NUMBER(9, nr_compiles, TS_ADD), TS_NUMBER(10, compile_ps, TS_ADD),
		 TS_NUMBER(11, nr_restarts, TS_MAX_OF));
#undef TS_SELF

#define TS_SELF struct compile_nesting
static TS_RECORD(nesting, TS_NUMBER(1, parent, TS_KEEP), TS_NUMBER(2, child, TS_KEEP),
		 TS_NUMBER(3, nr, TS_ADD), TS_NUMBER(4, time_ps, TS_ADD));
#undef TS_SELF

#define TS_SELF struct compile_phase
static TS_RECORD(phase, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_KEEP), TS_NUMBER(2, nr, TS_ADD),
		 TS_NUMBER(3, time_ps, TS_ADD), TS_NUMBER(4, self_ps, TS_ADD));
#undef TS_SELF

#define TS_SELF struct compile_kernel
static TS_RECORD(kernel, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_KEEP), TS_NUMBER(2, nr, TS_ADD),
		 TS_NUMBER(3, time_ps, TS_ADD));
#undef TS_SELF

#define TS_SELF struct compile_piece
static TS_RECORD(piece, TS_NUMBER(1, event, TS_KEEP), TS_NUMBER(2, id.autograd, TS_KEEP),
		 TS_NUMBER(3, id.frame, TS_KEEP), TS_NUMBER(4, id.compile, TS_KEEP),
		 TS_NUMBER(5, start_ps, TS_KEEP), TS_NUMBER(6, end_ps, TS_KEEP),
		 TS_NUMBER(7, attempt, TS_KEEP));
#undef TS_SELF

#define TS_SELF struct compile_counts
static TS_RECORD(counts, TS_NUMBER(1, nr_graph_calls, TS_ADD), TS_NUMBER(2, graph_ps, TS_ADD),
		 TS_NUMBER(3, nr_functions, TS_ADD), TS_NUMBER(4, nr_backwards, TS_ADD),
		 TS_NUMBER(5, backward_ps, TS_ADD), TS_NUMBER(6, nr_lookups, TS_ADD),
		 TS_NUMBER(7, lookup_ps, TS_ADD), TS_NUMBER(8, overhead_ps, TS_ADD),
		 TS_NUMBER(9, nr_compiles, TS_ADD), TS_NUMBER(10, compile_ps, TS_ADD),
		 TS_NUMBER(11, nr_graph_launches, TS_ADD),
		 TS_NUMBER(12, nr_kernel_launches, TS_ADD), TS_NUMBER(13, nr_library_ops, TS_ADD),
		 TS_NUMBER(14, max_nested, TS_MAX_OF), TS_NUMBER(15, nr_regions, TS_ADD));
#undef TS_SELF

static bool compile_state_is_valid(const void *state)
{
	const struct compile_state *loaded = state;

	return ts_keyed_is_valid(&loaded->region_of_key, loaded->nr_regions) &&
	       ts_keyed_is_valid(&loaded->nesting_of_key, loaded->nr_nestings) &&
	       ts_keyed_is_valid(&loaded->phase_of_op, loaded->nr_phases) &&
	       ts_keyed_is_valid(&loaded->kernel_of_op, loaded->nr_kernels);
}

#define TS_SELF struct compile_state
static TS_RECORD_WITH(compile, TS_VALID_IF(compile_state_is_valid),
		      TS_LIST(1, pieces, piece_record, TS_BY_HAND),
		      TS_LIST(2, regions, region_record, TS_BY_HAND), TS_MAP(3, region_of_key),
		      TS_LIST(4, nestings, nesting_record, TS_BY_HAND), TS_MAP(5, nesting_of_key),
		      TS_LIST(6, phases, phase_record, TS_BY_HAND), TS_MAP(7, phase_of_op),
		      TS_LIST(8, kernels, kernel_record, TS_BY_HAND), TS_MAP(9, kernel_of_op),
		      TS_STRUCT(10, counts, counts_record), TS_SCRATCH(events));
#undef TS_SELF

#define REGIONS(state)	TS_KEYED(state, regions, region_of_key)
#define NESTINGS(state) TS_KEYED(state, nestings, nesting_of_key)
#define PHASES(state)	TS_KEYED(state, phases, phase_of_op)
#define KERNELS(state)	TS_KEYED(state, kernels, kernel_of_op)

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

/* Threads of a trace have events of a kind of their own; those of an xplane are not looked at. */
static enum ts_status ask(struct compile_state *state, const struct ts_block *block,
			  struct ts_error *err)
{
	if (state->is_asked || block->nr_events == 0)
		return TS_OK;
	state->is_asked = true;
	state->is_trace = block->profile->ops[block->op[0]].is_event;
	if (!state->is_trace)
		return TS_OK;
	state->events = calloc(block->profile->nr_ops + 1, 1);
	return state->events ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status compile_block(void *arg, const struct ts_context *ctx,
				    const struct ts_block *block, struct ts_error *err)
{
	struct compile_state *state = arg;
	enum ts_status st = ask(state, block, err);

	for (size_t i = 0; state->is_trace && i < block->nr_events && !st; i++)
		st = ts_compile_thread_event(state, block, i, err);
	return st;
}

static enum ts_status compile_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				    struct ts_error *err)
{
	struct compile_state *into = arg_into, *from = arg_from;
	enum ts_status st = ts_compile_thread_end(from, err);

	if (!st)
		st = ts_keyed_sum(REGIONS(into), REGIONS(from), &region_record, err);
	if (!st)
		st = ts_keyed_sum(NESTINGS(into), NESTINGS(from), &nesting_record, err);
	if (!st)
		st = ts_keyed_sum(PHASES(into), PHASES(from), &phase_record, err);
	if (!st)
		st = ts_keyed_sum(KERNELS(into), KERNELS(from), &kernel_record, err);
	if (st)
		return st;
	return ts_record_merge(&compile_record, into, from, err);
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
		return ts_compile_report(&report, err);
	ts_compile_report_xla(ctx, facts, result);
	return TS_OK;
}

const struct ts_analysis ts_analysis_compile = {
	.schema = &ts_schema_compile,
	.needs = TS_NEEDED,
	.pass = TS_PASS_SECOND,
	.state = &compile_record,
	.facts_size = sizeof(struct ts_compile_facts),
	.wants = compile_wants,
	.open = compile_open,
	.block = compile_block,
	.merge = compile_merge,
	.close = compile_close,
};
