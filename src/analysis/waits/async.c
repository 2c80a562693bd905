/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous copies, slices and collectives, and collectives that are not asynchronous: how long
 * each is on its way, how long the core waits for it, and what could be computed meanwhile.
 *
 * The interval is what the core's line says, start to done (model/async.h). The line Async XLA Ops,
 * where a profile has it, is an independent account of the same: its sum stands beside ours. (Its
 * events are all called "async-copy" or the like: they do not say of which op they are.)
 */
#include "analysis/waits/async.h"

#include "base/record.h"
#include "result/schema/async.def"

#define TS_SELF struct async_device
static TS_RECORD(device, TS_NUMBER(1, interval_ps, TS_ADD), TS_NUMBER(2, line_ps, TS_ADD));
#undef TS_SELF

#define TS_SELF struct async_state
static TS_RECORD(async, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(2, line_ps, TS_BY_HAND), TS_STRUCT(3, slots, ts_async_slots_record),
		 TS_RECORDS(4, seen, nr_seen, ts_async_seen_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_RECORDS(5, devices, nr_devices, device_record, TS_BY_DEVICE, TS_BY_HAND));
#undef TS_SELF

static bool waits_async_is_wanted(const struct ts_op *op)
{
	return op->kind == TS_OP_COLLECTIVE || op->partner != TS_NONE;
}

static bool async_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	uint32_t device = ctx->profile->planes[line->plane].device;

	return device != TS_NONE && !ts_device_has_streams(&ctx->profile->devices[device]) &&
	       (ts_line_is_core(ctx->profile, line) || line->kind == TS_LINE_ASYNC);
}

/* A saved state may be of another profile. */
static enum ts_status waits_async_make_slots(struct async_state *state,
					     const struct ts_context *ctx, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (!state->slots.of_op)
		st = ts_async_slots_make(&state->slots, ctx->profile, waits_async_is_wanted, err);
	if (st)
		return st;
	if (state->seen)
		return state->nr_seen == state->slots.nr
			       ? TS_OK
			       : ts_fail(err, TS_FORMAT, "a state of async has other ops");
	state->seen = calloc(state->slots.nr + 1, sizeof(*state->seen));
	if (!state->seen)
		return ts_fail_nomem(err);
	state->nr_seen = state->slots.nr;
	return TS_OK;
}

static enum ts_status waits_async_make_sum(struct async_state *sum, const struct ts_context *ctx,
					   struct ts_error *err)
{
	enum ts_status st = waits_async_make_slots(sum, ctx, err);
	size_t nr = ctx->profile->nr_devices;

	if (st)
		return st;
	if (sum->devices)
		return sum->nr_devices == nr
			       ? TS_OK
			       : ts_fail(err, TS_FORMAT, "a state of async has other devices");
	sum->devices = calloc(nr + 1, sizeof(*sum->devices));
	if (!sum->devices)
		return ts_fail_nomem(err);
	sum->nr_devices = nr;
	return TS_OK;
}

static enum ts_status async_open(void *arg, const struct ts_context *ctx,
				 const struct ts_line *line, struct ts_error *err)
{
	struct async_state *state = arg;

	state->is_core = ts_line_is_core(ctx->profile, line);
	state->device = ctx->profile->planes[line->plane].device;
	return waits_async_make_slots(state, ctx, err);
}

static enum ts_status async_block(void *arg, const struct ts_context *ctx,
				  const struct ts_block *block, struct ts_error *err)
{
	struct async_state *state = arg;

	for (size_t i = 0; state->slots.nr > 0 && i < block->nr_events; i++) {
		uint32_t op = block->op[i], slot = state->slots.of_op[op];

		if (!state->is_core)
			state->line_ps = ts_i64_add(state->line_ps, block->dur_ps[i]);
		else if (slot != TS_NONE)
			ts_async_add(&state->seen[slot], &ctx->profile->ops[op], block->start_ps[i],
				     block->dur_ps[i],
				     block->occurrences ? block->occurrences[i] : 1);
	}
	return TS_OK;
}

static enum ts_status async_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct async_state *sum = arg_into, *line = arg_from;
	struct async_device *device;
	enum ts_status st = waits_async_make_sum(sum, ctx, err);

	if (st)
		return st;
	device = &sum->devices[line->device];
	device->line_ps = ts_i64_add(device->line_ps, line->line_ps);
	for (size_t i = 0; i < TS_MIN(line->nr_seen, sum->slots.nr); i++) {
		ts_async_end(&line->seen[i]);
		ts_async_merge(&sum->seen[i], &line->seen[i]);
		if (ctx->profile->ops[sum->slots.op[i]].partner != TS_NONE)
			device->interval_ps =
				ts_i64_add(device->interval_ps, line->seen[i].interval_ps);
	}
	return TS_OK;
}

static enum ts_status async_close(void *arg, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct async_state *sum = arg;
	struct async_rows rows = { .nr = 0 };
	enum ts_status st = waits_async_make_sum(sum, ctx, err);

	if (st || ctx->profile->nr_devices == 0) /* modules alone, or hosts alone: nothing ran */
		return st;
	st = ts_async_read(sum, ctx, &result->owner->arena, &rows, facts, err);
	if (!st)
		ts_async_report(sum, ctx, &rows, facts, result);
	free(rows.items);
	return st;
}

const struct ts_analysis ts_analysis_async = {
	.schema = &ts_schema_async,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.state = &async_record,
	.facts_size = sizeof(struct ts_async_facts),
	.wants = async_wants,
	.open = async_open,
	.block = async_block,
	.merge = async_merge,
	.close = async_close,
};
