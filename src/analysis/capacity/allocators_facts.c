/* SPDX-License-Identifier: MIT */
/* What the events of each allocator come to: its peak and the blocks alive then, and how its heap grows
 * from step to step. */
#include "analysis/capacity/allocators.h"
#include "base/order.h"

#define MAX_ROWS    200 /* blocks that are listed, of an allocator */
#define MAX_NAMED   64	/* allocators */
#define MAX_MOMENTS 512 /* of an allocator */

static int by_allocator(const struct allocator_record *x, const struct allocator_record *y)
{
	int order = ts_bytes_cmp(x->allocator, y->allocator);

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (order != 0)
		return order;
	if (x->allocator.n == 0 && x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return 0;
}

static int allocators_facts_by_time(const void *a, const void *b)
{
	const struct allocator_record *x = a, *y = b;
	int order = by_allocator(x, y);

	if (order != 0)
		return order;
	if (x->at_ps != y->at_ps)
		return x->at_ps < y->at_ps ? -1 : 1;
	if (x->is_free != y->is_free)
		return x->is_free ? 1 : -1;
	return x->address < y->address ? -1 : x->address > y->address;
}

struct allocator_records ts_allocator_records(const struct allocators_state *sum, size_t from)
{
	struct allocator_records of = { &sum->records[from], 0 };

	TS_ASSERT(from <= sum->nr);
	while (from + of.nr < sum->nr && by_allocator(&of.items[0], &of.items[of.nr]) == 0)
		of.nr++;
	return of;
}

static struct ts_bytes allocators_facts_name_of(struct ts_result *result,
						const struct allocator_record *record)
{
	if (record->allocator.n > 0)
		return record->allocator;
	return ts_result_text(result, "%lld", (long long)record->number);
}

/* The first number in the allocator's name (GPU_0_bfc), else the one that it goes by. */
static int64_t ordinal_of(const struct allocator_record *record)
{
	struct ts_bytes name = record->allocator;
	size_t from = 0, n = 0;
	uint64_t value = 0;

	if (name.n == 0)
		return record->number;
	while (from < name.n && (name.p[from] < '0' || name.p[from] > '9'))
		from++;
	while (from + n < name.n && name.p[from + n] >= '0' && name.p[from + n] <= '9')
		n++;
	return n > 0 && n < 9 && ts_bytes_u64(ts_bytes_cut(name, from, n), &value) ? (int64_t)value
										   : -1;
}

static uint32_t allocators_facts_device_of(const struct ts_profile *profile,
					   const struct allocator_record *record)
{
	int64_t ordinal = ordinal_of(record);

	/* cpu, mklcpu, gpu_host_bfc, cuda_host_bfc: memory of the host. */
	if (ts_bytes_has(record->allocator, "cpu") || ts_bytes_has(record->allocator, "CPU") ||
	    ts_bytes_has(record->allocator, "host"))
		return TS_NONE;
	for (uint32_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].host == record->host &&
		    (int64_t)profile->devices[i].ordinal == ordinal)
			return i;
	return TS_NONE;
}

/* --- blocks */

/*
 * The blocks that were taken up to LAST (included) and not freed. Marks them in OPEN, one a record.
 */
static enum ts_status allocators_facts_find_open(const struct allocator_records *of,
						 int64_t last_ps, bool *open, struct ts_error *err)
{
	struct ts_map by_address = { NULL, 0, 0 };
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < of->nr && of->items[i].at_ps <= last_ps; i++) {
		uint64_t address = (uint64_t)of->items[i].address;
		uint32_t at = ts_map_find(&by_address, address);

		if (at != TS_NONE)
			open[at] = false; /* freed, or taken anew: its end was not seen */
		if (of->items[i].is_free)
			continue;
		open[i] = true;
		if (!ts_map_set(&by_address, address, (uint32_t)i)) {
			st = ts_fail_nomem(err);
			break;
		}
	}
	ts_map_release(&by_address);
	return st;
}

/* Blocks that were never freed. */
static enum ts_status sum_unfreed(const struct allocator_records *of, bool *open, int64_t *nr_bytes,
				  struct ts_error *err)
{
	enum ts_status st;

	*nr_bytes = 0;
	memset(open, 0, of->nr * sizeof(*open));
	st = allocators_facts_find_open(of, INT64_MAX, open, err);
	if (st)
		return st;
	for (size_t i = 0; i < of->nr; i++)
		if (open[i])
			*nr_bytes = ts_i64_add(*nr_bytes, of->items[i].nr_bytes);
	return TS_OK;
}

TS_ORDER_AT(allocators_facts_by_size, struct allocator_record,
	    TS_DOWN(nr_bytes) TS_DOWN(requested) TS_UP(op) TS_UP(region) TS_UP(shape))

/* Those in OPEN, the largest first; *NR says how many. NULL: no memory. Free with free(). */
static const struct allocator_record **sort_open(const struct allocator_records *of,
						 const bool *open, size_t *nr)
{
	const struct allocator_record **blocks =
		malloc((of->nr + 1) * sizeof(const struct allocator_record *));

	*nr = 0;
	for (size_t i = 0; i < of->nr && blocks; i++)
		if (open[i])
			blocks[(*nr)++] = &of->items[i];
	TS_SORT(blocks, *nr, allocators_facts_by_size);
	return blocks;
}

static struct ts_allocator_blocks allocators_facts_blocks_of(const struct allocator_record *record,
							     size_t count)
{
	return (struct ts_allocator_blocks){
		.op = record->op,
		.region = record->region,
		.shape = record->shape,
		.nr_bytes = record->nr_bytes,
		.requested_bytes = record->requested,
		.count = (int64_t)count,
	};
}

/* Equal blocks as one. */
static size_t join_equal(const struct allocator_record *const *blocks, size_t nr,
			 struct ts_allocator_blocks *made)
{
	size_t nr_made = 0;

	for (size_t i = 0, same; i < nr; i += same) {
		for (same = 1;
		     i + same < nr && allocators_facts_by_size(&blocks[i], &blocks[i + same]) == 0;)
			same++;
		made[nr_made++] = allocators_facts_blocks_of(blocks[i], same);
	}
	return nr_made;
}

TS_ORDER(allocators_facts_most_bytes_first, struct ts_allocator_blocks,
	 TS_DOWN_BY(ts_allocator_held_bytes) TS_DOWN(nr_bytes) TS_UP(op) TS_UP(region) TS_UP(shape))

/* The blocks alive at the peak. */
static enum ts_status list_blocks(const struct allocator_records *of, bool *open,
				  struct ts_arena *arena, struct ts_allocator *to,
				  struct ts_error *err)
{
	const struct allocator_record **blocks;
	struct ts_allocator_blocks *made;
	size_t nr;
	enum ts_status st;

	memset(open, 0, of->nr * sizeof(*open));
	st = allocators_facts_find_open(of, to->peak_ps, open, err);
	if (st)
		return st;
	blocks = sort_open(of, open, &nr);
	made = ts_arena_array(arena, nr + 1, sizeof(*made));
	if (blocks && made) {
		to->nr_blocks = join_equal(blocks, nr, made);
		TS_SORT(made, to->nr_blocks, allocators_facts_most_bytes_first);
		to->nr_blocks = TS_MIN(to->nr_blocks, MAX_ROWS);
	}
	to->blocks = made;
	free(blocks);
	return blocks && made ? TS_OK : ts_fail_nomem(err);
}

/* --- over time */

static struct ts_allocator_moment allocators_facts_moment_of(const struct allocator_record *record)
{
	return (struct ts_allocator_moment){ record->at_ps, bytes_in_use(record) };
}

/* The most of each stretch of equally many events, and what is left at the end. */
static enum ts_status allocators_facts_list_moments(const struct allocator_records *of,
						    struct ts_arena *arena, struct ts_allocator *to,
						    struct ts_error *err)
{
	size_t width = (of->nr + MAX_MOMENTS - 1) / MAX_MOMENTS;
	struct ts_allocator_moment *made = ts_arena_array(arena, of->nr / width + 2, sizeof(*made));

	if (!made)
		return ts_fail_nomem(err);
	for (size_t from = 0; from < of->nr; from += width) {
		struct ts_allocator_moment *most = &made[to->nr_moments++];

		*most = allocators_facts_moment_of(&of->items[from]);
		for (size_t i = from + 1; i < TS_MIN(from + width, of->nr); i++)
			most->in_use_bytes =
				TS_MAX(most->in_use_bytes, bytes_in_use(&of->items[i]));
	}
	if (width > 1)
		made[to->nr_moments++] = allocators_facts_moment_of(&of->items[of->nr - 1]);
	to->moments = made;
	return TS_OK;
}

/* --- steps */

static void allocators_facts_add_step(struct ts_heap_growth *growth, int64_t heap)
{
	if (growth->nr_steps++ == 0)
		growth->first_bytes = heap;
	else
		growth->nr_rising += heap > growth->last_bytes;
	growth->last_bytes = heap;
}

/* The heap where a step of the allocator's device ends, from the first step that had an event. */
static struct ts_heap_growth allocators_facts_growth_of(const struct ts_context *ctx,
							const struct allocator_records *of,
							uint32_t device)
{
	const struct ts_steps *all = &ctx->outline->steps;
	struct ts_heap_growth growth = { 0, 0, 0, 0 };
	const struct ts_device_steps *steps;
	size_t at = 0;

	if (device >= all->nr_devices)
		return growth;
	steps = ts_steps_of(all, device);
	for (size_t i = 0; i < steps->nr; i++) {
		while (at < of->nr && of->items[at].at_ps <= steps->items[i].end_ps)
			at++;
		if (at > 0)
			allocators_facts_add_step(&growth, of->items[at - 1].heap);
	}
	return growth;
}

/* --- all of it */

static const struct allocator_record *allocators_facts_peak_of(const struct allocator_records *of)
{
	const struct allocator_record *peak = &of->items[0];

	for (size_t i = 0; i < of->nr; i++)
		if (bytes_in_use(&of->items[i]) >= bytes_in_use(peak))
			peak = &of->items[i];
	return peak;
}

static int64_t lifetime_peak_of(const struct allocator_records *of)
{
	int64_t most = 0;

	for (size_t i = 0; i < of->nr; i++)
		most = TS_MAX(most, of->items[i].lifetime_peak);
	return most;
}

/* All but the blocks. */
static struct ts_allocator allocator_of(const struct ts_context *ctx,
					const struct allocator_records *of,
					struct ts_result *result)
{
	const struct allocator_record *peak = allocators_facts_peak_of(of);
	uint32_t device = allocators_facts_device_of(ctx->profile, peak);

	return (struct ts_allocator){
		.name = allocators_facts_name_of(result, peak),
		.host = peak->host,
		.device = device,
		.peak_bytes = bytes_in_use(peak),
		.peak_ps = peak->at_ps,
		.capacity_bytes = ts_i64_add(bytes_in_use(peak), peak->available),
		.heap_bytes = peak->heap,
		.stack_bytes = peak->reserved,
		.fragmentation = peak->fragmentation,
		.lifetime_peak_bytes = lifetime_peak_of(of),
		.nr_events = (int64_t)of->nr,
		.growth_bytes = ts_i64_sub(of->items[of->nr - 1].heap, of->items[0].heap),
		.growth = allocators_facts_growth_of(ctx, of, device),
	};
}

static size_t count_allocators(const struct allocators_state *sum)
{
	size_t nr = 0;

	for (size_t from = 0; from < sum->nr && nr < MAX_NAMED; nr++)
		from += ts_allocator_records(sum, from).nr;
	return nr;
}

static enum ts_status take_allocators(const struct ts_context *ctx,
				      const struct allocators_state *sum, bool *open,
				      struct ts_result *result, struct ts_allocator *items,
				      size_t nr, struct ts_error *err)
{
	struct ts_arena *arena = &result->owner->arena;
	size_t from = 0;
	enum ts_status st;

	for (size_t i = 0; i < nr; i++) {
		struct allocator_records of = ts_allocator_records(sum, from);

		items[i] = allocator_of(ctx, &of, result);
		st = sum_unfreed(&of, open, &items[i].unfreed_bytes, err);
		if (st)
			return st;
		st = list_blocks(&of, open, arena, &items[i], err);
		if (st)
			return st;
		st = allocators_facts_list_moments(&of, arena, &items[i], err);
		if (st)
			return st;
		from += of.nr;
	}
	return TS_OK;
}

enum ts_status ts_allocators_make_facts(const struct ts_context *ctx, struct allocators_state *sum,
					struct ts_result *result, struct ts_allocators_facts *facts,
					struct ts_error *err)
{
	bool *open = calloc(sum->nr + 1, sizeof(*open));
	struct ts_allocator *items;
	enum ts_status st;

	TS_ASSERT(sum->nr > 0);
	TS_SORT(sum->records, sum->nr, allocators_facts_by_time);
	facts->nr = count_allocators(sum);
	items = ts_arena_array(&result->owner->arena, facts->nr + 1, sizeof(*items));
	facts->items = items;
	st = open && items ? take_allocators(ctx, sum, open, result, items, facts->nr, err)
			   : ts_fail_nomem(err);
	free(open);
	return st;
}
