/* SPDX-License-Identifier: MIT */
/*
 * Compilations, and the caches that should have spared them: what host threads asked for, what they
 * found, what ran, and which programs are variants of one function.
 *
 * The pass over the hosts also reads the devices' lines of modules, which are short. On a CPU alone
 * this line is missing: the stats of its thunks (XLA's ThunkExecutor) name the program and the run.
 */
#include "analysis/compile/cache.h"

#include "analysis/kit/keyed.h"
#include "base/order.h"
#include "base/record.h"
#include "result/schema/cache.def"

#define TS_SELF struct cache_request
static TS_RECORD(request, TS_NUMBER(1, start_ps, TS_KEEP), TS_NUMBER(2, end_ps, TS_KEEP),
		 TS_NUMBER(3, trace_ps, TS_KEEP), TS_NUMBER(4, lower_ps, TS_KEEP),
		 TS_NUMBER(5, passes_ps, TS_KEEP), TS_NUMBER(6, codegen_ps, TS_KEEP),
		 TS_TEXT(7, module), TS_INDEX(8, call_op, TS_BY_OP, TS_KEEP),
		 TS_INDEX_KNOWN(9, line, TS_BY_LINE, TS_KEEP), TS_NUMBER(10, is_backend, TS_KEEP),
		 TS_NUMBER(11, is_restored, TS_KEEP), TS_NUMBER(12, is_inferred, TS_KEEP));
#undef TS_SELF

#define TS_SELF struct cache_function
static TS_RECORD(function, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_KEEP), TS_NUMBER(2, nr_hits, TS_ADD),
		 TS_NUMBER(3, nr_compiled, TS_ADD), TS_NUMBER(4, nr_restored, TS_ADD),
		 TS_NUMBER(5, compile_ps, TS_ADD));
#undef TS_SELF

/* Cores that run a program together run it once. */
#define TS_SELF struct cache_program
static TS_RECORD(program, TS_NUMBER(1, id, TS_KEEP), TS_INDEX(2, op, TS_BY_OP, TS_KEEP_KNOWN),
		 TS_NUMBER(3, first_ps, TS_MIN_OF), TS_NUMBER(4, nr_runs, TS_MAX_OF),
		 TS_NUMBER(5, time_ps, TS_ADD));
#undef TS_SELF

#define TS_SELF struct cache_run
static TS_RECORD(run, TS_NUMBER(1, program, TS_KEEP), TS_NUMBER(2, run, TS_KEEP),
		 TS_NUMBER(3, start_ps, TS_KEEP), TS_NUMBER(4, end_ps, TS_KEEP));
#undef TS_SELF

#define TS_SELF struct cache_piece
static TS_RECORD(piece, TS_NUMBER(1, activity, TS_KEEP), TS_NUMBER(2, start_ps, TS_KEEP),
		 TS_NUMBER(3, end_ps, TS_KEEP), TS_NUMBER(4, passes_ps, TS_KEEP),
		 TS_NUMBER(5, codegen_ps, TS_KEEP), TS_TEXT(6, module),
		 TS_NUMBER(7, is_restored, TS_KEEP), TS_NUMBER(8, is_inferred, TS_KEEP));
#undef TS_SELF

#define TS_SELF struct cache_counts
static TS_RECORD(counts, TS_NUMBER(1, nr_compiled, TS_ADD), TS_NUMBER(2, compile_ps, TS_ADD),
		 TS_NUMBER(3, nr_restored, TS_ADD), TS_NUMBER(4, nr_inferred, TS_ADD),
		 TS_NUMBER(6, nr_calls, TS_ADD), TS_NUMBER(7, nr_asked, TS_ADD),
		 TS_NUMBER(8, nr_files, TS_ADD), TS_NUMBER(9, nr_events, TS_ADD));
#undef TS_SELF

static bool compile_cache_state_is_valid(const void *state)
{
	const struct cache_state *loaded = state;

	return loaded->line != TS_NONE &&
	       ts_keyed_is_valid(&loaded->function_of_op, loaded->nr_functions) &&
	       ts_keyed_is_valid(&loaded->program_of_id, loaded->nr_programs) &&
	       ts_keyed_is_valid(&loaded->run_of_key, loaded->nr_runs);
}

#define TS_SELF struct cache_state
static TS_RECORD_WITH(cache, TS_VALID_IF(compile_cache_state_is_valid),
		      TS_INDEX(1, line, TS_BY_LINE, TS_BY_HAND),
		      TS_LIST(2, pieces, piece_record, TS_BY_HAND),
		      TS_LIST(3, requests, request_record, TS_BY_HAND),
		      TS_LIST(4, functions, function_record, TS_BY_HAND), TS_MAP(5, function_of_op),
		      TS_LIST(6, programs, program_record, TS_BY_HAND), TS_MAP(7, program_of_id),
		      TS_LIST(8, runs, run_record, TS_BY_HAND), TS_MAP(9, run_of_key),
		      TS_STRUCT(10, counts, counts_record), TS_SCRATCH(thunk));
#undef TS_SELF

#define FUNCTIONS(state) TS_KEYED(state, functions, function_of_op)
#define PROGRAMS(state)	 TS_KEYED(state, programs, program_of_id)

static bool cache_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	enum ts_plane_kind plane = ctx->profile->planes[line->plane].kind;

	if (plane == TS_PLANE_TPU || plane == TS_PLANE_GPU)
		return line->kind == TS_LINE_MODULES;
	return line->kind == TS_LINE_THREAD;
}

static enum ts_status cache_open(void *arg, const struct ts_context *ctx,
				 const struct ts_line *line, struct ts_error *err)
{
	struct cache_state *state = arg;

	state->line = (uint32_t)(line - ctx->profile->lines);
	state->is_thread = line->kind == TS_LINE_THREAD;
	state->activity = ctx->outline->host_activity;
	state->file_ps = INT64_MIN;
	if (!state->is_thread || ctx->profile->nr_devices > 0)
		return TS_OK;
	state->thunk = calloc(ctx->profile->nr_ops + 1, 1);
	return state->thunk ? TS_OK : ts_fail_nomem(err);
}

static uint64_t run_key(uint64_t program, uint64_t run)
{
	uint64_t both[2] = { program, run };

	return ts_hash((struct ts_bytes){ (const uint8_t *)both, sizeof(both) }, 0);
}

static enum ts_status compile_cache_add_run(struct cache_state *state, const struct cache_run *run,
					    struct ts_error *err)
{
	uint64_t key = run_key(run->program, run->run);
	struct cache_run *known;

	if (state->nr_runs >= CACHE_MAX_RUNS && ts_map_find(&state->run_of_key, key) == TS_NONE)
		return TS_OK;
	known = ts_keyed_row(TS_KEYED(state, runs, run_of_key), key, run);
	if (!known)
		return ts_fail_nomem(err);
	known->start_ps = TS_MIN(known->start_ps, run->start_ps);
	known->end_ps = TS_MAX(known->end_ps, run->end_ps);
	return TS_OK;
}

/* All events of one name are thunks, or all are not. */
static enum ts_status add_thunk(struct cache_state *state, const struct ts_block *block, size_t i,
				struct ts_error *err)
{
	uint8_t *thunk = &state->thunk[block->op[i]];
	struct ts_stat program, run;

	if (*thunk == 1)
		return TS_OK;
	if (!block->stat || !block->stat(block, i, "program_id", &program) ||
	    !block->stat(block, i, "run_id", &run) || program.type != TS_STAT_INT ||
	    run.type != TS_STAT_INT) {
		*thunk = *thunk ? *thunk : 1;
		return TS_OK;
	}
	*thunk = 2;
	return compile_cache_add_run(
		state,
		&(struct cache_run){ (uint64_t)program.number, (uint64_t)run.number,
				     block->start_ps[i],
				     ts_i64_add(block->start_ps[i], block->dur_ps[i]) },
		err);
}

static enum ts_status add_execution(struct cache_state *state, const struct ts_block *block,
				    size_t i, struct ts_error *err)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	struct cache_program *program;

	if (!op->has_program)
		return TS_OK;
	program = ts_cache_program_get(state, op->program_id);
	if (!program)
		return ts_fail_nomem(err);
	program->op = block->op[i];
	program->first_ps = TS_MIN(program->first_ps, block->start_ps[i]);
	program->nr_runs++;
	program->time_ps = ts_i64_add(program->time_ps, block->dur_ps[i]);
	return TS_OK;
}

static enum ts_status cache_block(void *arg, const struct ts_context *ctx,
				  const struct ts_block *block, struct ts_error *err)
{
	struct cache_state *state = arg;
	enum ts_status st = TS_OK;

	if (state->is_thread)
		state->counts.nr_events += (int64_t)block->nr_events;
	for (size_t i = 0; i < block->nr_events && !st; i++) {
		uint8_t activity = state->activity ? state->activity[block->op[i]] : TS_HOST_OTHER;

		activity = activity == TS_HOST_TORCH ? TS_HOST_OTHER : activity; /* see "compile" */
		st = !state->is_thread ? add_execution(state, block, i, err)
				       : ts_cache_thread_event(state, block, i, activity, err);
		if (!st && state->thunk && activity == TS_HOST_OTHER)
			st = add_thunk(state, block, i, err);
	}
	return st;
}

static enum ts_status cache_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct cache_state *into = arg_into, *from = arg_from;
	enum ts_status st = ts_cache_thread_end(from, err);

	for (size_t i = 0; i < from->nr_requests && !st; i++)
		st = ts_cache_add_request(into, &from->requests[i], err);
	for (size_t i = 0; i < from->nr_runs && !st; i++)
		st = compile_cache_add_run(into, &from->runs[i], err);
	if (!st)
		st = ts_keyed_sum(FUNCTIONS(into), FUNCTIONS(from), &function_record, err);
	if (!st)
		st = ts_keyed_sum(PROGRAMS(into), PROGRAMS(from), &program_record, err);
	if (st)
		return st;
	return ts_record_merge(&cache_record, into, from, err);
}

static enum ts_status compile_cache_count_runs(struct cache_state *sum, struct ts_error *err)
{
	for (size_t i = 0; i < sum->nr_runs; i++) {
		const struct cache_run *run = &sum->runs[i];
		struct cache_program *program = ts_cache_program_get(sum, run->program);

		if (!program)
			return ts_fail_nomem(err);
		program->first_ps = TS_MIN(program->first_ps, run->start_ps);
		program->nr_runs++;
		program->time_ps =
			ts_i64_add(program->time_ps, ts_i64_sub(run->end_ps, run->start_ps));
	}
	return TS_OK;
}

/* A compilation without a name has that of the function that was called. */
static enum ts_status name_requests(struct cache_state *sum, const struct ts_profile *profile,
				    struct ts_arena *arena, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < sum->nr_requests && !st; i++) {
		struct cache_request *request = &sum->requests[i];

		if (request->module.n == 0 && request->call_op != TS_NONE)
			st = ts_cache_module_name(arena, profile->ops[request->call_op].name,
						  &request->module, err);
	}
	return st;
}

static void compile_cache_add_function(struct cache_function *into,
				       const struct cache_function *from)
{
	into->nr_hits = ts_i64_add(into->nr_hits, from->nr_hits);
	into->nr_compiled = ts_i64_add(into->nr_compiled, from->nr_compiled);
	into->nr_restored = ts_i64_add(into->nr_restored, from->nr_restored);
	into->compile_ps = ts_i64_add(into->compile_ps, from->compile_ps);
}

/* JAX has two names for the calls of f: PjitFunction(f) and PjitFunction(jit(f)). They become one
 * row. */
static enum ts_status sum_functions(struct cache_state *sum, const struct ts_profile *profile,
				    struct ts_error *err)
{
	struct ts_map rows = { NULL, 0, 0 };
	enum ts_status st = TS_OK;
	size_t nr = 0;

	for (size_t i = 0; i < sum->nr_functions; i++) {
		const struct cache_function *function = &sum->functions[i];
		struct ts_bytes call = profile->ops[function->op].name;
		struct ts_bytes inner = ts_host_function(call);
		uint64_t key = ts_hash(inner.n ? inner : call, 0);
		uint32_t at = ts_map_find(&rows, key);

		if (at != TS_NONE) {
			compile_cache_add_function(&sum->functions[at], function);
			continue;
		}
		if (!ts_map_set(&rows, key, (uint32_t)nr)) {
			st = ts_fail_nomem(err);
			break;
		}
		sum->functions[nr++] = *function;
	}
	sum->nr_functions = nr;
	ts_map_release(&rows);
	return st;
}

/* What belongs together in the sum: see cache_match.c. */
static enum ts_status compile_cache_match(struct cache_state *sum, const struct ts_context *ctx,
					  struct ts_arena *arena, struct ts_error *err)
{
	enum ts_status st = compile_cache_count_runs(sum, err);

	if (st)
		return st;
	st = sum_functions(sum, ctx->profile, err);
	if (st)
		return st;
	for (size_t i = 0; i < sum->nr_programs; i++)
		sum->programs[i].module = ts_profile_module_of(ctx->profile, sum->programs[i].id);
	ts_cache_match_backends(sum, ctx->profile);
	st = name_requests(sum, ctx->profile, arena, err);
	if (st)
		return st;
	return ts_cache_match_programs(sum, ctx->profile, err);
}

/* Equal ones stand in the order of time. */
TS_ORDER_AT(compile_cache_longest_first, struct cache_request,
	    TS_DOWN_BY(ts_cache_duration) TS_UP_ADDRESS)

/* NULL: no memory. */
static const struct cache_request **by_duration(const struct cache_state *sum)
{
	const struct cache_request **order =
		calloc(sum->nr_requests + 1, sizeof(const struct cache_request *));

	for (size_t i = 0; order && i < sum->nr_requests; i++)
		order[i] = &sum->requests[i];
	if (order)
		TS_SORT(order, sum->nr_requests, compile_cache_longest_first);
	return order;
}

/* JAX asks for an executable, and offers each new one, whether there is a cache or not: only a file
 * that is read or written shows that there is one. */
static enum ts_cache_use compile_cache_persistent_cache(const struct cache_counts *counts)
{
	if (counts->nr_files > 0 || counts->nr_restored > counts->nr_inferred)
		return TS_CACHE_ON;
	if (counts->nr_asked > 0)
		return TS_CACHE_OFF;
	return counts->nr_inferred > 0 ? TS_CACHE_ON : TS_CACHE_UNKNOWN;
}

/* What was compiled, in the order of time. */
static enum ts_status list_compilations(const struct cache_state *sum, struct ts_arena *arena,
					struct ts_cache_facts *facts, struct ts_error *err)
{
	struct ts_cache_compilation *rows =
		ts_arena_array(arena, sum->nr_requests + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < sum->nr_requests; i++) {
		const struct cache_request *request = &sum->requests[i];
		bool is_again = request->cause == CACHE_AGAIN;

		if (request->is_restored)
			continue;
		rows[facts->nr_compilations++] =
			(struct ts_cache_compilation){ request->module, request->start_ps,
						       ts_cache_duration(request),
						       request->codegen_ps, is_again };
		facts->nr_again += is_again && facts->nr_again >= 0;
	}
	facts->compilations = rows;
	return rows ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status find_families(struct cache_state *sum, const struct ts_profile *profile,
				    struct ts_arena *arena, struct cache_families *families,
				    struct ts_error *err)
{
	enum ts_status st = ts_cache_families_make(families, sum, profile, arena, err);

	if (st)
		return st;
	st = ts_cache_find_again(sum, families, profile, err);
	if (st)
		return st;
	st = ts_cache_families_sum(families, sum, profile, err);
	if (st)
		return st;
	ts_cache_families_choose(families);
	return ts_cache_describe(families, profile, err);
}

static enum ts_status compile_cache_make_facts(const struct cache_report *report,
					       struct cache_state *sum,
					       struct ts_cache_facts *facts, struct ts_error *err)
{
	const struct cache_counts *counts = &sum->counts;
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_arena *arena = &report->result->owner->arena;
	struct ts_cache_compilation *longest = ts_arena_array(arena, 1, sizeof(*longest));
	struct cache_families families;
	enum ts_status st;

	if (!longest)
		return ts_fail_nomem(err);
	st = find_families(sum, profile, arena, &families, err);
	if (st)
		return st;
	if (report->sum->nr_requests > 0)
		*longest = (struct ts_cache_compilation){
			.module = report->longest[0]->module,
			.duration_ps = ts_cache_duration(report->longest[0]),
			.codegen_ps = report->longest[0]->codegen_ps
		};
	*facts = (struct ts_cache_facts){
		.nr_compiled = counts->nr_events > 0 ? counts->nr_compiled : -1,
		.compile_ps = counts->nr_events > 0 ? counts->compile_ps : -1,
		.persistent = compile_cache_persistent_cache(counts),
		.nr_restored = compile_cache_persistent_cache(counts) == TS_CACHE_ON
				       ? counts->nr_restored
				       : -1,
		.longest = report->sum->nr_requests > 0 ? longest : NULL,
		.families = families.items,
		.nr_families = families.nr,
		.nr_again = counts->nr_events > 0 ? 0 : -1,
	};
	return list_compilations(sum, arena, facts, err);
}

static enum ts_status cache_close(void *arg, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct cache_state *sum = arg;
	struct cache_report report = { .sum = sum, .ctx = ctx, .facts = facts, .result = result };
	enum ts_status st;

	if (ctx->profile->nr_hosts == 0) { /* modules alone: nothing was called */
		*(struct ts_cache_facts *)facts = (struct ts_cache_facts){
			.nr_compiled = -1, .compile_ps = -1, .nr_again = -1, .nr_restored = -1
		};
		return TS_OK;
	}
	st = compile_cache_match(sum, ctx, &result->owner->arena, err);
	if (st)
		return st;
	report.attributed_ps = ts_cache_match_waits(sum, ts_time_facts(ctx));
	report.longest = by_duration(sum);
	if (!report.longest)
		return ts_fail_nomem(err);
	st = compile_cache_make_facts(&report, sum, facts, err);
	if (!st)
		st = ts_cache_report(&report, err);
	free(report.longest);
	return st;
}

const struct ts_analysis ts_analysis_cache = {
	.schema = &ts_schema_cache,
	.needs = TS_NEEDED,
	.pass = TS_PASS_SECOND,
	.columns = TS_COL_STATS,
	.state = &cache_record,
	.facts_size = sizeof(struct ts_cache_facts),
	.wants = cache_wants,
	.open = cache_open,
	.block = cache_block,
	.merge = cache_merge,
	.close = cache_close,
};
