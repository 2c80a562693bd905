/* SPDX-License-Identifier: MIT */
/* The tables of the allocators, and counters under the devices that they serve. */
#include "analysis/capacity/allocators.h"

#include "base/order.h"
#include "analysis/kit/growth.h"
#include "result/schema/allocators.def"

#define MAX_POINTS 1024 /* of a counter: past it each is the most of a stretch of time */
#define MAX_BLOCKS 200	/* rows of blocks */
#define ORDER	   40	/* among the counters of a device */

static struct ts_value allocators_report_device_name(const struct ts_context *ctx, uint32_t device)
{
	return device == TS_NONE ? ts_null() : ts_text_or_null(ctx->profile->devices[device].name);
}

#define ALLOCATOR_CELLS(X) \
	X(allocator, ts_text(of->name)) \
	X(host, ts_text_or_null(ctx->profile->hosts[of->host].name)) \
	X(peak_bytes, ts_int(of->peak_bytes)) \
	X(peak_time_ps, ts_int(of->peak_ps)) \
	X(capacity_bytes, ts_int(of->capacity_bytes)) \
	X(fragmentation_pct, ts_share_pct(of->fragmentation)) \
	X(heap_bytes, ts_int(of->heap_bytes)) \
	X(reserved_bytes, ts_int(of->stack_bytes)) \
	X(lifetime_peak_bytes, ts_int(of->lifetime_peak_bytes)) \
	X(events, ts_int(of->nr_events)) \
	X(unfreed_bytes, ts_int(of->unfreed_bytes)) \
	X(growth_bytes, ts_int(of->growth_bytes)) \
	X(device, allocators_report_device_name(ctx, of->device)) \
	TS_GROWTH_CELLS(X, &of->growth)

static void put_allocators(const struct ts_context *ctx, const struct ts_allocators_facts *facts,
			   struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, allocators_allocators);

	for (size_t i = 0; i < facts->nr; i++) {
		const struct ts_allocator *of = &facts->items[i];

		TS_CELLS(result, table, allocators_allocators, ALLOCATOR_CELLS);
	}
}

#define BLOCK_CELLS(X) \
	X(allocator, ts_text(row->of->name)) \
	X(framework_op, ts_text_or_null(blocks->op)) \
	X(bytes, ts_int(blocks->nr_bytes)) \
	X(requested_bytes, ts_int(blocks->requested_bytes)) \
	X(count, ts_int(blocks->count)) \
	X(total_bytes, ts_int(ts_allocator_held_bytes(blocks))) \
	X(region, ts_text_or_null(blocks->region)) \
	X(shape, ts_text_or_null(blocks->shape))

struct block_row {
	const struct ts_allocator *of;
	const struct ts_allocator_blocks *blocks;
	size_t at; /* in the order of the allocators */
};

TS_ORDER(allocators_report_most_bytes_first, struct block_row,
	 TS_DOWN_OF(ts_allocator_held_bytes, blocks) TS_UP(at))

/* Of all allocators, those that hold most first. NULL: no memory. */
static struct block_row *sort_blocks(const struct ts_allocators_facts *facts,
				     struct ts_arena *arena, size_t *nr)
{
	struct block_row *rows;
	size_t n = 0;

	*nr = 0;
	for (size_t i = 0; i < facts->nr; i++)
		n += facts->items[i].nr_blocks;
	rows = ts_arena_array(arena, n + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < facts->nr; i++)
		for (size_t k = 0; k < facts->items[i].nr_blocks; k++, (*nr)++)
			rows[*nr] = (struct block_row){ &facts->items[i],
							&facts->items[i].blocks[k], *nr };
	if (rows)
		TS_SORT(rows, n, allocators_report_most_bytes_first);
	return rows;
}

static enum ts_status allocators_report_put_blocks(const struct ts_allocators_facts *facts,
						   struct ts_result *result, struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(result, allocators_allocations);
	size_t nr;
	const struct block_row *rows = sort_blocks(facts, &result->owner->arena, &nr);

	if (!rows)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < TS_MIN(nr, MAX_BLOCKS); i++) {
		const struct block_row *row = &rows[i];
		const struct ts_allocator_blocks *blocks = row->blocks;

		TS_CELLS(result, table, allocators_allocations, BLOCK_CELLS);
	}
	return TS_OK;
}

static double share_value(const struct allocator_record *record)
{
	return isfinite(record->fragmentation) ? 100 * record->fragmentation : 0;
}

static double gib_value(const struct allocator_record *record)
{
	return (double)bytes_in_use(record) / (double)(INT64_C(1) << 30);
}

static const struct counter {
	const char *name, *unit, *description;
	double (*value)(const struct allocator_record *record);
} counters[] = {
	{ "Allocated memory (GiB)", "GiB",
	  "what the runtime's allocator has reserved and allocated, after each of its events",
	  gib_value },
	{ "Fragmentation (%)", "%", "of the free memory, as the runtime's allocator says",
	  share_value },
};

/* The most of each stretch of WIDTH records. */
static void allocators_report_put_points(const struct allocator_records *of, size_t width,
					 const struct counter *counter, struct ts_track *track)
{
	for (size_t i = 0; i < of->nr; i += width) {
		struct ts_point *point = &track->points[track->nr_points++];

		*point = (struct ts_point){ of->items[i].at_ps, counter->value(&of->items[i]) };
		for (size_t k = i + 1; k < i + width && k < of->nr; k++)
			point->value = fmax(point->value, counter->value(&of->items[k]));
	}
}

static enum ts_status allocators_report_put_counter(struct ts_result *result,
						    const struct allocator_records *of,
						    uint32_t device, const struct counter *counter,
						    struct ts_error *err)
{
	struct ts_track *track = ts_result_track(result, TS_TRACK_COUNTER, counter->name, device,
						 ORDER + (int)(counter - counters));
	size_t width = (of->nr + MAX_POINTS - 1) / MAX_POINTS;
	struct ts_point *points =
		ts_arena_array(&result->owner->arena, of->nr / width + 1, sizeof(*points));

	if (!track || !points)
		return ts_fail_nomem(err);
	track->unit = counter->unit;
	track->description = counter->description;
	track->points = points;
	allocators_report_put_points(of, width, counter, track);
	return TS_OK;
}

static enum ts_status allocators_report_put_counters(const struct ts_context *ctx,
						     const struct allocators_state *sum,
						     const struct ts_allocators_facts *facts,
						     struct ts_result *result, struct ts_error *err)
{
	size_t from = 0;
	enum ts_status st;

	for (size_t i = 0; i < facts->nr && ctx->overlay_budget > 0; i++) {
		struct allocator_records of = ts_allocator_records(sum, from);
		uint32_t device = facts->items[i].device;

		for (size_t k = 0; k < TS_NELEM(counters) && device != TS_NONE; k++) {
			st = allocators_report_put_counter(result, &of, device, &counters[k], err);
			if (st)
				return st;
		}
		from += of.nr;
	}
	return TS_OK;
}

enum ts_status ts_allocators_report(const struct ts_context *ctx,
				    const struct allocators_state *sum,
				    const struct ts_allocators_facts *facts,
				    struct ts_result *result, struct ts_error *err)
{
	enum ts_status st;

	put_allocators(ctx, facts, result);
	st = allocators_report_put_blocks(facts, result, err);
	if (st)
		return st;
	if (sum->nr_lost > 0)
		ts_result_note(result,
			       "%llu more events of allocators were left out: peaks are lower "
			       "bounds.",
			       (unsigned long long)sum->nr_lost);
	return allocators_report_put_counters(ctx, sum, facts, result, err);
}
