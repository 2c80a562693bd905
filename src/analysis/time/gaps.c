/* SPDX-License-Identifier: MIT */
/*
 * What the hosts did while devices had nothing to run: for each of the longest gaps (time.idle_gaps)
 * the host event it passed in, and the one that ended it. A second pass over host threads alone.
 *
 * The event a gap passed in: of those that cover half of it or more the innermost, which is the
 * shortest. What a thread that launches (run/outline.c) does before the launch comes before what other threads
 * do meanwhile, one in the compiler or the input pipeline before others where that is the gap's cause,
 * and one that only waits for other threads after all others. What holds a launch, as a step does, is not what
 * that waited for. The event that ended it: the call
 * that started last before the device ran again, of those in progress in the gap (a jitted
 * function's before the runtime's own); without any the event that ended last in the gap.
 *
 * Names: JAX (jax/_src/pjit.py, jaxlib xla), PJRT, PyTorch/XLA, and the launches of CUDA and HIP.
 */
#include "analysis/time/gaps.h"

#include "base/record.h"
#include "model/step_mark.h"
#include "base/order.h"
#include "result/schema/gaps.def"

enum { ENDED_NONE, ENDED_ANY, ENDED_RUNTIME, ENDED_CALL }; /* of one that ended it */

#define TS_SELF struct gap_witness
/* Indices may be TS_NONE where nothing was found. */
static bool is_witness(const void *self)
{
	const struct gap_witness *witness = self;

	return witness->rank == GAP_NONE ||
	       (witness->rank > GAP_NONE && witness->rank <= GAP_AWAITED_CAUSE &&
		witness->op != TS_NONE && witness->line != TS_NONE);
}
static TS_RECORD_WITH(witness, TS_VALID_IF(is_witness), TS_NUMBER(1, rank, TS_BY_HAND),
		      TS_INDEX(2, op, TS_BY_OP, TS_BY_HAND),
		      TS_INDEX(3, line, TS_BY_LINE, TS_BY_HAND), TS_NUMBER(4, start_ps, TS_BY_HAND),
		      TS_NUMBER(5, end_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct gap_seen
static TS_RECORD(seen, TS_STRUCT(1, in, witness_record), TS_STRUCT(2, ended, witness_record),
		 TS_NUMBER(3, dur_ps, TS_BY_HAND), TS_NUMBER(4, start_ps, TS_BY_HAND),
		 TS_INDEX_KNOWN(5, device, TS_BY_DEVICE, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct gaps_state
static TS_RECORD(gaps, TS_RECORDS(1, seen, nr_rows, seen_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_SCRATCH(gaps));
#undef TS_SELF

static bool gaps_has_any(struct ts_bytes name, const char *const *parts)
{
	for (size_t i = 0; parts[i]; i++)
		if (ts_bytes_has(name, parts[i]))
			return true;
	return false;
}

static int rank_of_call(struct ts_bytes name, enum ts_host_activity activity)
{
	static const char *const calls[] = { "PjitFunction(", "XLAGraphExecutor::", "StepTrace",
					     NULL };
	static const char *const runtime[] = { "Executable::Execute", "ExecuteReplicated",
					       "Executable_Execute",  "ExecuteComputation",
					       "LaunchKernel",	      "GraphLaunch",
					       "InfeedEnqueue",	      NULL };

	if (activity == TS_HOST_CALL || gaps_has_any(name, calls))
		return ENDED_CALL;
	return ts_host_launch_of(activity) || gaps_has_any(name, runtime) ? ENDED_RUNTIME
									  : ENDED_ANY;
}

static bool gaps_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return line->kind == TS_LINE_THREAD &&
	       ctx->profile->planes[line->plane].device == TS_NONE &&
	       ts_time_facts(ctx)->nr_gaps > 0;
}

TS_ORDER(gaps_by_start, struct gap, TS_UP(start_ps) TS_UP(row))

static void read_gaps(struct gaps_state *state, const struct ts_context *ctx, uint32_t host)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);

	for (size_t i = 0; i < time->nr_gaps; i++) {
		const struct ts_time_gap *gap = &time->gaps[i];

		if (ctx->profile->devices[gap->device].host != host)
			continue;
		state->gaps[state->nr++] = (struct gap){
			.start_ps = gap->start_ps,
			.end_ps = ts_i64_add(gap->start_ps, gap->dur_ps),
			.row = (uint32_t)i,
			.under = gap->cause,
		};
	}
	TS_SORT(state->gaps, state->nr, gaps_by_start);
	for (size_t i = 0; i < state->nr; i++)
		state->gaps[i].reach_ps =
			i == 0 ? state->gaps[i].end_ps
			       : TS_MAX(state->gaps[i].end_ps, state->gaps[i - 1].reach_ps);
}

static enum ts_status make_witnesses(struct gaps_state *state, const struct ts_context *ctx,
				     struct ts_error *err)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);

	state->seen = calloc(time->nr_gaps + 1, sizeof(*state->seen));
	if (!state->seen)
		return ts_fail_nomem(err);
	state->nr_rows = time->nr_gaps;
	for (size_t i = 0; i < time->nr_gaps; i++) {
		state->seen[i].dur_ps = time->gaps[i].dur_ps;
		state->seen[i].start_ps = time->gaps[i].start_ps;
		state->seen[i].device = time->gaps[i].device;
	}
	return TS_OK;
}

static enum ts_status gaps_open(void *arg, const struct ts_context *ctx, const struct ts_line *line,
				struct ts_error *err)
{
	struct gaps_state *state = arg;
	enum ts_status st;

	state->gaps = calloc(ts_time_facts(ctx)->nr_gaps + 1, sizeof(*state->gaps));
	if (!state->gaps)
		return ts_fail_nomem(err);
	st = make_witnesses(state, ctx, err);
	if (st)
		return st;
	state->launches = ts_outline_launches(ctx->outline, (uint32_t)(line - ctx->profile->lines));
	read_gaps(state, ctx, ctx->profile->planes[line->plane].host);
	return TS_OK;
}

static int64_t gaps_length(const struct gap_witness *witness)
{
	return ts_i64_sub(witness->end_ps, witness->start_ps);
}

/* The first that was seen stays where two are equal: results do not depend on threads. */
static void take_in(struct gap_witness *kept, const struct gap_witness *seen)
{
	if (seen->rank > kept->rank ||
	    (seen->rank == kept->rank && gaps_length(seen) < gaps_length(kept)))
		*kept = *seen;
}

static void take_ended(struct gap_witness *kept, const struct gap_witness *seen)
{
	int64_t x = kept->rank > ENDED_ANY ? kept->start_ps : kept->end_ps;
	int64_t y = seen->rank > ENDED_ANY ? seen->start_ps : seen->end_ps;

	if (seen->rank != kept->rank ? seen->rank > kept->rank
				     : y > x || (y == x && gaps_length(seen) > gaps_length(kept)))
		*kept = *seen;
}

/* Is such an event what the gap is put down to? */
static bool explains(enum ts_bucket under, enum ts_host_activity activity)
{
	if (under == TS_BUCKET_COMPILATION)
		return ts_host_compiles(activity);
	if (under == TS_BUCKET_LAUNCH)
		return ts_host_launch_of(activity) > TS_LAUNCH_COPY;
	return under == TS_BUCKET_INPUT && ts_host_feeds(activity);
}

static int64_t time_in(const struct gap *gap, int64_t start_ps, int64_t end_ps)
{
	return TS_MIN(end_ps, gap->end_ps) - TS_MAX(start_ps, gap->start_ps);
}

/* Calls hold what the gap passes in, on this thread or on others. Of an event that holds launches it is what is
 * behind the last of them: what came before was not waited for by what comes next. */
static bool is_awaited(const struct gaps_state *state, const struct gap *gap,
		       const struct gap_witness *seen, enum ts_host_activity activity)
{
	int64_t start_ps =
		state->has_launched ? TS_MAX(seen->start_ps, state->launched_ps) : seen->start_ps;

	return state->launches && activity != TS_HOST_CALL && activity != TS_HOST_EXECUTE &&
	       time_in(gap, start_ps, seen->end_ps) >= (gap->end_ps - gap->start_ps) / 2;
}

/* A mark of a step says where the thread is, as a frame does. */
static bool is_place(const struct ts_context *ctx, const struct ts_op *op)
{
	return ts_host_owner_of_op(op) == TS_HOST_OF_TRACER || ts_gaps_is_mark(ctx, op);
}

static int rank_of(const struct gaps_state *state, const struct ts_context *ctx,
		   const struct gap *gap, const struct gap_witness *seen,
		   enum ts_host_activity activity)
{
	if (explains(gap->under, activity))
		return state->launches ? GAP_AWAITED_CAUSE : GAP_CAUSE;
	if (activity == TS_HOST_WAIT)
		return GAP_WAITS;
	if (!is_awaited(state, gap, seen, activity))
		return GAP_ANY;
	return is_place(ctx, &ctx->profile->ops[seen->op]) ? GAP_FRAME : GAP_AWAITED;
}

static void gaps_meet(struct gaps_state *state, const struct ts_context *ctx, const struct gap *gap,
		      struct gap_witness seen)
{
	enum ts_host_activity activity =
		(enum ts_host_activity)ctx->outline->host_activity[seen.op];

	if (time_in(gap, seen.start_ps, seen.end_ps) >= (gap->end_ps - gap->start_ps) / 2) {
		seen.rank = rank_of(state, ctx, gap, &seen, activity);
		take_in(&state->seen[gap->row].in, &seen);
	}
	seen.rank = rank_of_call(ctx->profile->ops[seen.op].name, activity);
	if (seen.rank == ENDED_ANY && (seen.end_ps > gap->end_ps || activity == TS_HOST_WAIT))
		return;
	take_ended(&state->seen[gap->row].ended, &seen);
}

static void keep_launch(struct gaps_state *state, int64_t start_ps)
{
	state->launched_ps = state->has_launched ? TS_MAX(state->launched_ps, start_ps) : start_ps;
	state->has_launched = true;
}

/* Gaps that begin before T. */
static size_t begun_before(const struct gaps_state *state, int64_t t)
{
	size_t lo = 0, hi = state->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (state->gaps[mid].start_ps < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static enum ts_status gaps_block(void *arg, const struct ts_context *ctx,
				 const struct ts_block *block, struct ts_error *err)
{
	struct gaps_state *state = arg;

	for (size_t i = 0; state->nr > 0 && i < block->nr_events; i++) {
		struct gap_witness seen = { GAP_NONE, block->op[i], block->line_index,
					    block->start_ps[i],
					    ts_i64_add(block->start_ps[i], block->dur_ps[i]) };

		for (size_t g = begun_before(state, seen.end_ps);
		     g > 0 && state->gaps[g - 1].reach_ps > seen.start_ps; g--)
			if (state->gaps[g - 1].end_ps > seen.start_ps)
				gaps_meet(state, ctx, &state->gaps[g - 1], seen);
		if (ts_host_launch_of((enum ts_host_activity)ctx->outline->host_activity[seen.op]))
			keep_launch(state, seen.start_ps);
	}
	return TS_OK;
}

/* The order of the gaps of facts/time.h. */
static int by_gap(const struct gap_seen *x, const struct gap_seen *y)
{
	if (x->dur_ps != y->dur_ps)
		return x->dur_ps > y->dur_ps ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Did the thread launch something in the gap, behind what it did, or was that a part of the launch? */
static bool is_before_launch(const struct gap_witness *in, const struct gap_witness *ended)
{
	return ended->rank > ENDED_ANY &&
	       (ended->start_ps >= in->start_ps || ended->end_ps >= in->end_ps);
}

/* Else nothing waited for it. */
static int64_t rank_in_run(const struct gap_seen *of_line)
{
	static const int64_t elsewhere[] = {
		[GAP_NONE] = GAP_NONE,		[GAP_WAITS] = GAP_WAITS, [GAP_ANY] = GAP_ANY,
		[GAP_FRAME] = GAP_ANY,		[GAP_AWAITED] = GAP_ANY, [GAP_CAUSE] = GAP_CAUSE,
		[GAP_AWAITED_CAUSE] = GAP_CAUSE
	};

	return is_before_launch(&of_line->in, &of_line->ended) ? of_line->in.rank
							       : elsewhere[of_line->in.rank];
}

static void gaps_take_seen(struct gap_seen *into, const struct gap_seen *from)
{
	struct gap_witness in = from->in;

	in.rank = rank_in_run(from);
	if (in.rank > GAP_NONE)
		take_in(&into->in, &in);
	if (from->ended.rank > ENDED_NONE)
		take_ended(&into->ended, &from->ended);
}

static enum ts_status gaps_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				 struct ts_error *err)
{
	struct gaps_state *sum = arg_into, *line = arg_from;
	size_t row = 0;
	enum ts_status st = sum->seen ? TS_OK : make_witnesses(sum, ctx, err);

	if (st)
		return st;
	for (size_t i = 0; i < line->nr_rows; i++) { /* both are in one order */
		while (row < sum->nr_rows && by_gap(&sum->seen[row], &line->seen[i]) < 0)
			row++;
		if (row < sum->nr_rows && by_gap(&sum->seen[row], &line->seen[i]) == 0)
			gaps_take_seen(&sum->seen[row], &line->seen[i]);
	}
	return TS_OK;
}

static enum ts_status gaps_close(void *arg, const struct ts_context *ctx, void *facts,
				 struct ts_result *result, struct ts_error *err)
{
	struct gaps_state *sum = arg;

	if (ctx->profile->nr_hosts == 0)
		return TS_OK; /* modules alone: there was no time */
	if (!sum->seen) {
		enum ts_status st = make_witnesses(sum, ctx, err);

		if (st)
			return st;
	}
	if (!ts_gaps_make_facts(sum, ctx, &result->owner->arena, facts))
		return ts_fail_nomem(err);
	ts_gaps_report(facts, ctx, result);
	return TS_OK;
}

const struct ts_analysis ts_analysis_gaps = {
	.schema = &ts_schema_gaps,
	.needs = TS_NEEDED,
	.pass = TS_PASS_SECOND,
	.state = &gaps_record,
	.facts_size = sizeof(struct ts_gaps_facts),
	.wants = gaps_wants,
	.open = gaps_open,
	.block = gaps_block,
	.merge = gaps_merge,
	.close = gaps_close,
};
