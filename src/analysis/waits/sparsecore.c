/* SPDX-License-Identifier: MIT */
/*
 * SparseCores: what they did, and what the TensorCores waited for it. Computation that is handed to a
 * SparseCore pays where the TensorCore has other work meanwhile; where it only waits, the same work at
 * the pace of HBM may be quicker on the TensorCore itself.
 *
 * A profile without SparseCores is not looked at.
 */
#include "analysis/waits/sparsecore.h"

#include "base/record.h"
#include "result/schema/sparsecore.def"

#define TS_SELF struct sparsecore_time
static TS_RECORD(time, TS_NUMBER(1, slot, TS_BY_HAND),
		 TS_INDEX_KNOWN(2, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(3, start_ps, TS_BY_HAND), TS_NUMBER(4, done_ps, TS_BY_HAND),
		 TS_NUMBER(5, end_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct sparsecore_op
static TS_RECORD_WITH(op, TS_EMPTY(occurrences), TS_NUMBER(1, occurrences, TS_ADD),
		      TS_NUMBER(2, self_ps, TS_ADD), TS_NUMBER(3, bytes, TS_ADD),
		      TS_NUMBER(4, bytes_unknown, TS_OR));
#undef TS_SELF

#define TS_SELF struct sparsecore_core
static TS_RECORD(core, TS_NUMBER(1, has_ops, TS_BY_HAND), TS_NUMBER(2, has_modules, TS_BY_HAND),
		 TS_NUMBER(3, busy_ps, TS_BY_HAND), TS_NUMBER(4, module_ps, TS_BY_HAND),
		 TS_NUMBER(5, modules, TS_BY_HAND), TS_STRUCT(6, ops, ts_spans_record),
		 TS_STRUCT(7, unmarked, ts_spans_record), TS_STRUCT(8, slices, ts_slices_record));
#undef TS_SELF

#define TS_SELF struct sparsecore_state
static TS_RECORD(sparsecore, TS_INDEX(1, plane, TS_BY_PLANE, TS_BY_HAND),
		 TS_INDEX(2, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_STRUCT(3, slots, ts_async_slots_record),
		 TS_RECORDS(4, seen, nr_seen, ts_async_seen_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_STRUCT(5, marks, ts_sparsecore_marks_record),
		 TS_LIST(6, times, time_record, TS_BY_HAND), TS_NUMBER(7, is_cut, TS_BY_HAND),
		 TS_RECORDS(8, ops, nr_ops, op_record, TS_BY_OP, TS_BY_HAND),
		 TS_RECORDS(9, cores, nr_cores, core_record, TS_BY_PLANE, TS_BY_HAND),
		 TS_SCRATCH(open_ps));
#undef TS_SELF

static bool is_sparse(const struct ts_line *line)
{
	return line->kind == TS_LINE_SC_OPS || line->kind == TS_LINE_SC_MODULES;
}

static size_t nr_of_host(const struct ts_profile *profile, uint32_t host)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_planes; i++)
		nr += profile->planes[i].kind == TS_PLANE_SPARSECORE &&
		      profile->planes[i].host == host;
	return nr;
}

static bool sparsecore_applies(const struct ts_context *ctx)
{
	return sparsecore_count(ctx->profile) > 0;
}

static bool sparsecore_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	enum ts_plane_kind plane = ctx->profile->planes[line->plane].kind;

	if (plane == TS_PLANE_SPARSECORE)
		return is_sparse(line);
	return plane == TS_PLANE_TPU && ts_line_is_core(ctx->profile, line);
}

/* Copies within the core's own memories have engines of their own. */
static bool waits_sparsecore_is_wanted(const struct ts_op *op)
{
	return (op->partner != TS_NONE || op->async == TS_ASYNC_START) &&
	       !ts_bytes_starts(op->category, "copy-") &&
	       !ts_bytes_starts(op->category, "slice-") &&
	       !ts_bytes_starts(op->category, "dynamic-");
}

/* What may be computed elsewhere, as far as its category says. */
static bool may_be_offloaded(const struct ts_op *op)
{
	static const char *const categories[] = { "async-",	     "call-",
						  "custom-call-",    "all-",
						  "reduce-scatter-", "ragged-all-to-all-",
						  "collective-" };

	for (size_t i = 0; i < TS_NELEM(categories); i++)
		if (ts_bytes_starts(op->category, categories[i]))
			return true;
	return ts_sparsecore_is_named(op);
}

static enum ts_status open_tensor_core(struct sparsecore_state *state, const struct ts_context *ctx,
				       struct ts_error *err)
{
	enum ts_status st =
		ts_async_slots_make(&state->slots, ctx->profile, waits_sparsecore_is_wanted, err);

	state->max_times = SPARSECORE_MAX_TIMES / TS_MAX(ctx->profile->nr_devices, 1);
	if (st)
		return st;
	state->seen = calloc(state->slots.nr + 1, sizeof(*state->seen));
	state->open_ps = malloc((state->slots.nr + 1) * sizeof(*state->open_ps));
	if (!state->seen || !state->open_ps)
		return ts_fail_nomem(err);
	state->nr_seen = state->slots.nr;
	for (size_t i = 0; i < state->slots.nr; i++)
		state->open_ps[i] = INT64_MIN;
	return TS_OK;
}

static enum ts_status sparsecore_open(void *arg, const struct ts_context *ctx,
				      const struct ts_line *line, struct ts_error *err)
{
	struct sparsecore_state *state = arg;
	const struct ts_profile *profile = ctx->profile;

	state->plane = line->plane;
	state->host = profile->planes[line->plane].host;
	state->device = profile->planes[line->plane].device;
	if (!is_sparse(line))
		return open_tensor_core(state, ctx, err);
	state->cores = calloc(1, sizeof(*state->cores));
	state->nr_cores = state->cores ? 1 : 0;
	if (line->kind == TS_LINE_SC_OPS) {
		state->ops =
			ts_room_array(profile->rooms, profile->nr_ops + 1, sizeof(*state->ops));
		state->nr_ops = state->ops ? profile->nr_ops : 0;
	}
	if (!state->cores || (line->kind == TS_LINE_SC_OPS && !state->ops))
		return ts_fail_nomem(err);
	state->cores->ops.max = state->cores->unmarked.max = SPARSECORE_MAX_SPANS;
	state->cores->slices.budget =
		ts_overlay_share(ctx, TS_SHARE_SPARSECORES, nr_of_host(profile, state->host));
	return TS_OK;
}

static bool int_stat(const struct ts_block *block, size_t i, const char *name, int64_t *value)
{
	struct ts_stat stat;

	if (!block->stat || !block->stat(block, i, name, &stat) || stat.type != TS_STAT_INT)
		return false;
	*value = stat.number;
	return true;
}

/* The mark of an event; .core stays 0 where only the id is given. False: it has none. */
static bool waits_sparsecore_mark_of(const struct ts_block *block, size_t i, int64_t *core,
				     int64_t *id)
{
	*core = 0;
	if (!int_stat(block, i, "tc_offload_start_id", id))
		return false;
	int_stat(block, i, "offload_core_id", core);
	return true;
}

static enum ts_status waits_sparsecore_keep_time(struct sparsecore_state *state, uint32_t slot,
						 int64_t done_ps, int64_t dur_ps,
						 struct ts_error *err)
{
	int64_t start_ps = state->open_ps[slot];

	state->open_ps[slot] = INT64_MIN;
	if (start_ps == INT64_MIN)
		return TS_OK;
	if (state->nr_times >= state->max_times) {
		state->is_cut = true;
		return TS_OK;
	}
	if (!ts_grow(&state->times, &state->cap_times, state->nr_times + 1, sizeof(*state->times)))
		return ts_fail_nomem(err);
	state->times[state->nr_times++] =
		(struct sparsecore_time){ slot, state->device, start_ps, done_ps,
					  ts_i64_add(done_ps, dur_ps) };
	return TS_OK;
}

static enum ts_status waits_sparsecore_add_start(struct sparsecore_state *state,
						 const struct ts_block *block, size_t i,
						 uint32_t slot, struct ts_error *err)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	struct sparsecore_mark *mark;
	int64_t core, id;

	state->open_ps[slot] = INT64_MIN;
	if (waits_sparsecore_mark_of(block, i, &core, &id)) {
		mark = ts_sparsecore_mark_of(&state->marks, state->host, core, id);
		if (!mark)
			return ts_fail_nomem(err);
		if (mark->slot == TS_NONE)
			mark->slot = slot;
	} else if (op->partner != TS_NONE && may_be_offloaded(op)) {
		state->open_ps[slot] = block->start_ps[i];
	}
	return TS_OK;
}

static enum ts_status add_tensor_core(struct sparsecore_state *state, const struct ts_block *block,
				      struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; state->slots.nr > 0 && i < block->nr_events && !st; i++) {
		const struct ts_op *op = &block->profile->ops[block->op[i]];
		uint32_t slot = state->slots.of_op[block->op[i]];

		if (slot == TS_NONE)
			continue;
		ts_async_add(&state->seen[slot], op, block->start_ps[i], block->dur_ps[i],
			     block->occurrences ? block->occurrences[i] : 1);
		st = op->async == TS_ASYNC_DONE
			     ? waits_sparsecore_keep_time(state, slot, block->start_ps[i],
							  block->dur_ps[i], err)
			     : waits_sparsecore_add_start(state, block, i, slot, err);
	}
	return st;
}

static enum ts_status waits_sparsecore_add_modules(struct sparsecore_state *state,
						   const struct ts_block *block,
						   struct ts_error *err)
{
	struct sparsecore_core *core = state->cores;

	for (size_t i = 0; i < block->nr_events; i++) {
		int64_t core_id, id;

		core->has_modules = true;
		core->modules++;
		core->module_ps = ts_i64_add(core->module_ps, block->dur_ps[i]);
		if (waits_sparsecore_mark_of(block, i, &core_id, &id)) {
			struct sparsecore_mark *mark =
				ts_sparsecore_mark_of(&state->marks, state->host, core_id, id);

			if (!mark)
				return ts_fail_nomem(err);
			mark->executions++;
			mark->busy_ps = ts_i64_add(mark->busy_ps, block->dur_ps[i]);
		} else if (!ts_spans_add(&core->unmarked, block->start_ps[i],
					 ts_i64_add(block->start_ps[i], block->dur_ps[i]))) {
			return ts_fail_nomem(err);
		}
	}
	return TS_OK;
}

static void waits_sparsecore_count_op(struct sparsecore_state *state, const struct ts_block *block,
				      size_t i)
{
	struct sparsecore_op *op = &state->ops[block->op[i]];
	int64_t times = block->occurrences ? block->occurrences[i] : 1, bytes = TS_UNKNOWN;

	if (block->bytes)
		bytes = block->bytes[i];
	if (bytes == TS_UNKNOWN)
		bytes = block->profile->ops[block->op[i]].bytes_accessed;
	op->occurrences = ts_i64_add(op->occurrences, times);
	op->self_ps = ts_i64_add(op->self_ps, block->self_ps[i]);
	if (bytes < 0)
		op->bytes_unknown = true;
	else
		op->bytes = ts_i64_add(op->bytes, ts_i64_mul(bytes, times));
}

static enum ts_status waits_sparsecore_add_ops(struct sparsecore_state *state,
					       const struct ts_block *block, struct ts_error *err)
{
	struct sparsecore_core *core = state->cores;

	core->has_ops |= block->nr_events > 0;
	for (size_t i = 0; i < block->nr_events; i++)
		waits_sparsecore_count_op(state, block, i);
	for (size_t i = 0; i < block->nr_segments; i++) {
		int64_t start_ps = block->segment_start_ps[i], end_ps = block->segment_end_ps[i];

		core->busy_ps = ts_i64_add(core->busy_ps, ts_i64_sub(end_ps, start_ps));
		if (!ts_spans_add(&core->ops, start_ps, end_ps) ||
		    (core->slices.budget > 0 && !ts_slices_add(&core->slices, start_ps, end_ps, 0)))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status sparsecore_block(void *arg, const struct ts_context *ctx,
				       const struct ts_block *block, struct ts_error *err)
{
	struct sparsecore_state *state = arg;

	if (block->line->kind == TS_LINE_SC_OPS)
		return waits_sparsecore_add_ops(state, block, err);
	if (block->line->kind == TS_LINE_SC_MODULES)
		return waits_sparsecore_add_modules(state, block, err);
	return add_tensor_core(state, block, err);
}

/* Whether a state is one of this profile; a saved one may be of another. NR_SEEN: for each device. */
static bool waits_sparsecore_is_of(const struct sparsecore_state *state,
				   const struct ts_profile *profile, size_t nr_slots,
				   size_t nr_seen)
{
	for (size_t i = 0; i < state->nr_times; i++)
		if (state->times[i].slot >= nr_slots)
			return false;
	for (size_t i = 0; i < state->marks.nr; i++)
		if (state->marks.items[i].slot != TS_NONE && state->marks.items[i].slot >= nr_slots)
			return false;
	return (state->nr_seen == 0 || state->nr_seen == nr_seen) &&
	       (state->nr_ops == 0 || state->nr_ops == profile->nr_ops);
}

static enum ts_status waits_sparsecore_make_arrays(struct sparsecore_state *sum,
						   const struct ts_profile *profile,
						   struct ts_error *err)
{
	size_t nr_seen = profile->nr_devices * sum->slots.nr;

	sum->seen = calloc(nr_seen + 1, sizeof(*sum->seen));
	sum->cores = calloc(profile->nr_planes + 1, sizeof(*sum->cores));
	sum->ops = ts_room_array(profile->rooms, profile->nr_ops + 1, sizeof(*sum->ops));
	sum->nr_seen = sum->seen ? nr_seen : 0;
	sum->nr_cores = sum->cores ? profile->nr_planes : 0;
	sum->nr_ops = sum->ops ? profile->nr_ops : 0;
	return sum->seen && sum->cores && sum->ops ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status waits_sparsecore_make_sum(struct sparsecore_state *sum,
						const struct ts_context *ctx, struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	enum ts_status st;

	if (sum->slots.of_op)
		return TS_OK;
	st = ts_async_slots_make(&sum->slots, profile, waits_sparsecore_is_wanted, err);
	if (st)
		return st;
	if (!sum->cores)
		return waits_sparsecore_make_arrays(sum, profile, err);
	if (sum->nr_cores != profile->nr_planes || sum->nr_ops != profile->nr_ops ||
	    sum->nr_seen != profile->nr_devices * sum->slots.nr ||
	    !waits_sparsecore_is_of(sum, profile, sum->slots.nr,
				    profile->nr_devices * sum->slots.nr))
		return ts_fail(err, TS_FORMAT, "a state of sparsecore is of another profile");
	return TS_OK;
}

static enum ts_status merge_times(struct sparsecore_state *sum, const struct sparsecore_state *line,
				  struct ts_error *err)
{
	sum->is_cut |= line->is_cut;
	if (line->nr_times == 0)
		return TS_OK;
	if (!ts_grow(&sum->times, &sum->cap_times, sum->nr_times + line->nr_times,
		     sizeof(*sum->times)))
		return ts_fail_nomem(err);
	memcpy(&sum->times[sum->nr_times], line->times, line->nr_times * sizeof(*line->times));
	sum->nr_times += line->nr_times;
	return TS_OK;
}

static void merge_tensor_core(struct sparsecore_state *sum, struct sparsecore_state *line)
{
	struct ts_async_seen *into = &sum->seen[line->device * sum->slots.nr];

	for (size_t i = 0; i < sum->slots.nr; i++) {
		ts_async_end(&line->seen[i]);
		ts_async_merge(&into[i], &line->seen[i]);
	}
}

/* A SparseCore has one line of ops and one of modules; of two, the busier one's drawing stays. */
static enum ts_status waits_sparsecore_merge_core(struct sparsecore_core *into,
						  struct sparsecore_core *from,
						  struct ts_error *err)
{
	into->has_ops |= from->has_ops;
	into->has_modules |= from->has_modules;
	into->busy_ps = ts_i64_add(into->busy_ps, from->busy_ps);
	into->module_ps = ts_i64_add(into->module_ps, from->module_ps);
	into->modules += from->modules;
	into->ops.max = into->unmarked.max = SPARSECORE_MAX_SPANS;
	if (from->slices.nr > into->slices.nr) {
		struct ts_slices slices = into->slices;

		into->slices = from->slices;
		from->slices = slices;
	}
	return ts_spans_union(&into->ops, &from->ops) &&
			       ts_spans_union(&into->unmarked, &from->unmarked)
		       ? TS_OK
		       : ts_fail_nomem(err);
}

static enum ts_status sparsecore_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				       struct ts_error *err)
{
	struct sparsecore_state *sum = arg_into, *line = arg_from;
	enum ts_status st = waits_sparsecore_make_sum(sum, ctx, err);

	if (st)
		return st;
	if (!waits_sparsecore_is_of(line, ctx->profile, sum->slots.nr, sum->slots.nr) ||
	    line->plane == TS_NONE)
		return ts_fail(err, TS_FORMAT, "a state of sparsecore is of another profile");
	if (line->nr_seen > 0 && line->device != TS_NONE)
		merge_tensor_core(sum, line);
	for (size_t i = 0; i < line->nr_ops && !st; i++)
		st = ts_record_merge(&op_record, &sum->ops[i], &line->ops[i], err);
	if (st)
		return st;
	st = ts_sparsecore_marks_merge(&sum->marks, &line->marks, err);
	if (st)
		return st;
	st = merge_times(sum, line, err);
	if (st || line->nr_cores == 0)
		return st;
	return waits_sparsecore_merge_core(&sum->cores[line->plane], line->cores, err);
}

static enum ts_status sparsecore_close(void *arg, const struct ts_context *ctx, void *facts,
				       struct ts_result *result, struct ts_error *err)
{
	struct sparsecore_state *sum = arg;
	struct sparsecore_offload *devices;
	enum ts_status st;

	if (sparsecore_count(ctx->profile) == 0)
		return TS_OK;
	st = waits_sparsecore_make_sum(sum, ctx, err);
	if (st)
		return st;
	devices = calloc(ctx->profile->nr_devices + 1, sizeof(*devices));
	if (!devices)
		return ts_fail_nomem(err);
	st = ts_sparsecore_read(sum, ctx, &result->owner->arena, devices, facts, err);
	if (!st)
		st = ts_sparsecore_report(sum, ctx, devices, facts, result, err);
	free(devices);
	return st;
}

const struct ts_analysis ts_analysis_sparsecore = {
	.schema = &ts_schema_sparsecore,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_SEGMENTS | TS_COL_COSTS | TS_COL_STATS,
	.state = &sparsecore_record,
	.facts_size = sizeof(struct ts_sparsecore_facts),
	.applies = sparsecore_applies,
	.wants = sparsecore_wants,
	.open = sparsecore_open,
	.block = sparsecore_block,
	.merge = sparsecore_merge,
	.close = sparsecore_close,
};
