/* SPDX-License-Identifier: MIT */
/*
 * Allocators: what the runtime's own events say of device memory over time. TensorFlow's and XLA's
 * allocators write MemoryAllocation and MemoryDeallocation on host threads, with stats: bytes
 * reserved for the stack, allocated from the heap, available; the address and size of the block.
 *
 * Facts: openxla/xprof, memory_profile (what it calls peak, capacity and active allocations). Held
 * against XProf's own answer. Left out: its cut to the step of the peak; all that the capture saw is
 * taken.
 */
#include "analysis/capacity/allocators.h"

#include "base/record.h"
#include "result/schema/allocators.def"

#define MAX_RECORDS 131072 /* a line, and in all; each some 150 bytes */

#define TS_SELF struct allocator_record
static TS_RECORD(event, TS_TEXT(1, allocator), TS_TEXT(2, op), TS_TEXT(3, region),
		 TS_TEXT(4, shape), TS_NUMBER(5, number, TS_KEEP), TS_NUMBER(6, at_ps, TS_KEEP),
		 TS_NUMBER(7, address, TS_KEEP), TS_NUMBER(8, nr_bytes, TS_KEEP),
		 TS_NUMBER(9, requested, TS_KEEP), TS_NUMBER(10, reserved, TS_KEEP),
		 TS_NUMBER(11, heap, TS_KEEP), TS_NUMBER(12, available, TS_KEEP),
		 TS_NUMBER(13, lifetime_peak, TS_KEEP), TS_NUMBER(14, fragmentation, TS_KEEP),
		 TS_INDEX(15, host, TS_BY_HOST, TS_KEEP), TS_NUMBER(16, is_free, TS_KEEP));
#undef TS_SELF

/* .merge appends the records, up to a limit. */
#define TS_SELF struct allocators_state
static TS_RECORD(allocators,
		 TS_RECORDS_CAP(1, records, nr, cap, event_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_NUMBER(2, nr_lost, TS_BY_HAND));
#undef TS_SELF

static bool is_allocation(struct ts_bytes name)
{
	return ts_bytes_is(name, "MemoryAllocation");
}

/* Host threads are read for this only where some op has such a name. */
static bool allocators_applies(const struct ts_context *ctx)
{
	for (size_t i = 0; i < ctx->profile->nr_ops; i++)
		if (is_allocation(ctx->profile->ops[i].name))
			return true;
	return false;
}

static bool allocators_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return line->kind == TS_LINE_THREAD && ctx->profile->planes[line->plane].device == TS_NONE;
}

static enum ts_status allocators_open(void *arg, const struct ts_context *ctx,
				      const struct ts_line *line, struct ts_error *err)
{
	struct allocators_state *state = arg;

	state->host = ctx->profile->planes[line->plane].host;
	return TS_OK;
}

static int64_t allocators_number_of(const struct ts_block *block, size_t i, const char *name)
{
	struct ts_stat stat;

	if (!block->stat || !block->stat(block, i, name, &stat) || stat.type != TS_STAT_INT)
		return 0;
	return stat.number;
}

static struct ts_bytes allocators_text_of(const struct ts_block *block, size_t i, const char *name)
{
	struct ts_stat stat;

	if (!block->stat || !block->stat(block, i, name, &stat) || stat.type != TS_STAT_TEXT)
		return (struct ts_bytes){ NULL, 0 };
	return stat.text;
}

static struct allocator_record read_record(const struct ts_block *block, size_t i, bool is_free)
{
	struct ts_stat share;
	struct allocator_record record = {
		.allocator = allocators_text_of(block, i, "allocator_name"),
		.op = allocators_text_of(block, i, "tf_op"),
		.region = allocators_text_of(block, i, "region_type"),
		.shape = allocators_text_of(block, i, "shape"),
		.at_ps = block->start_ps[i],
		.address = allocators_number_of(block, i, "addr"),
		.nr_bytes = TS_MAX(allocators_number_of(block, i, "allocation_bytes"), 0),
		.requested = TS_MAX(allocators_number_of(block, i, "requested_bytes"), 0),
		.reserved = TS_MAX(allocators_number_of(block, i, "bytes_reserved"), 0),
		.heap = TS_MAX(allocators_number_of(block, i, "bytes_allocated"), 0),
		.available = TS_MAX(allocators_number_of(block, i, "bytes_available"), 0),
		.lifetime_peak = TS_MAX(allocators_number_of(block, i, "peak_bytes_in_use"), 0),
		.fragmentation = NAN,
		.is_free = is_free,
	};

	record.number = allocators_number_of(block, i, "device_ordinal");
	if (record.number == 0)
		record.number = allocators_number_of(block, i, "index_on_host");
	if (block->stat && block->stat(block, i, "fragmentation", &share))
		record.fragmentation =
			share.type == TS_STAT_REAL ? share.real : (double)share.number;
	return record;
}

static enum ts_status allocators_add(struct allocators_state *state,
				     const struct allocator_record *record, struct ts_error *err)
{
	if (state->nr >= MAX_RECORDS) {
		state->nr_lost++;
		return TS_OK;
	}
	if (!ts_grow(&state->records, &state->cap, state->nr + 1, sizeof(*state->records)))
		return ts_fail_nomem(err);
	state->records[state->nr++] = *record;
	return TS_OK;
}

static enum ts_status allocators_block(void *arg, const struct ts_context *ctx,
				       const struct ts_block *block, struct ts_error *err)
{
	struct allocators_state *state = arg;
	enum ts_status st;

	for (size_t i = 0; i < block->nr_events; i++) {
		struct ts_bytes name = ctx->profile->ops[block->op[i]].name;
		bool is_free = ts_bytes_is(name, "MemoryDeallocation");
		struct allocator_record record;

		if (!is_free && !is_allocation(name))
			continue;
		record = read_record(block, i, is_free);
		record.host = state->host;
		st = allocators_add(state, &record, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status allocators_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				       struct ts_error *err)
{
	struct allocators_state *into = arg_into, *from = arg_from;
	enum ts_status st;

	into->nr_lost += from->nr_lost;
	for (size_t i = 0; i < from->nr; i++) {
		st = allocators_add(into, &from->records[i], err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status allocators_close(void *arg, const struct ts_context *ctx, void *facts,
				       struct ts_result *result, struct ts_error *err)
{
	struct allocators_state *sum = arg;
	enum ts_status st;

	TS_ASSERT(sum && facts && result);
	if (sum->nr == 0)
		return TS_OK;
	st = ts_allocators_make_facts(ctx, sum, result, facts, err);
	if (st)
		return st;
	return ts_allocators_report(ctx, sum, facts, result, err);
}

const struct ts_analysis ts_analysis_allocators = {
	.schema = &ts_schema_allocators,
	.pass = TS_PASS_SECOND,
	.columns = TS_COL_STATS,
	.state = &allocators_record,
	.facts_size = sizeof(struct ts_allocators_facts),
	.applies = allocators_applies,
	.wants = allocators_wants,
	.open = allocators_open,
	.block = allocators_block,
	.merge = allocators_merge,
	.close = allocators_close,
};
