/*
 * Allocators: what the runtime's own events say of device memory over time. TensorFlow's and XLA's
 * allocators write MemoryAllocation and MemoryDeallocation on host threads, with stats: bytes
 * reserved for the stack, allocated from the heap, available; the address and size of the block.
 *
 * Facts: openxla/xprof, memory_profile (what it calls peak, capacity and active allocations). Held
 * against XProf's own answer. Left out: its cut to the step of the peak; all that the capture saw is
 * taken.
 */
#define TS_NEEDS(X) X(memory_timeline)
#include "analysis/kit/needs.h"

#define MAX_RECORDS 131072 /* a line, and in all; each some 150 bytes */
#define MAX_ROWS    200
#define MAX_NAMED   64	 /* allocators */
#define MAX_POINTS  1024 /* of a counter: past it each is the most of a stretch of time */
#define ORDER	    40	 /* among the counters of a device */

struct record {
	struct ts_bytes allocator, op, region, shape; /* views into the input */
	int64_t number; /* of the device, where the allocator has no name */
	int64_t at_ps, address, nr_bytes, requested;
	int64_t reserved, heap, available, lifetime_peak;
	double fragmentation;
	uint32_t host;
	bool is_free;
};

struct state {
	struct record *records;
	size_t nr, cap;
	uint64_t nr_lost;
	uint32_t host;
};

static bool is_allocation(struct ts_bytes name)
{
	return ts_bytes_is(name, "MemoryAllocation");
}

static bool is_deallocation(struct ts_bytes name)
{
	return ts_bytes_is(name, "MemoryDeallocation");
}

/* Host threads are read for this only where some op has such a name. */
static bool wants(const struct ts_context *ctx, const struct ts_line *line)
{
	if (line->kind != TS_LINE_THREAD || ctx->profile->planes[line->plane].device != TS_NONE)
		return false;
	for (size_t i = 0; i < ctx->profile->nr_ops; i++)
		if (is_allocation(ctx->profile->ops[i].name))
			return true;
	return false;
}

static enum ts_status open_line(void *ptr, const struct ts_context *ctx, const struct ts_line *line,
				struct ts_error *err)
{
	struct state *state = ptr;

	(void)err;
	state->host = ctx->profile->planes[line->plane].host;
	return TS_OK;
}

static int64_t number_of(const struct ts_block *block, size_t i, const char *name)
{
	struct ts_stat stat;

	if (!block->stat || !block->stat(block, i, name, &stat) || stat.type != TS_STAT_INT)
		return 0;
	return stat.number;
}

static struct ts_bytes text_of(const struct ts_block *block, size_t i, const char *name)
{
	struct ts_stat stat;

	if (!block->stat || !block->stat(block, i, name, &stat) || stat.type != TS_STAT_TEXT)
		return (struct ts_bytes){ NULL, 0 };
	return stat.text;
}

static struct record read_record(const struct ts_block *block, size_t i, bool is_free)
{
	struct ts_stat share;
	struct record record = {
		.allocator = text_of(block, i, "allocator_name"),
		.op = text_of(block, i, "tf_op"),
		.region = text_of(block, i, "region_type"),
		.shape = text_of(block, i, "shape"),
		.at_ps = block->start_ps[i],
		.address = number_of(block, i, "addr"),
		.nr_bytes = TS_MAX(number_of(block, i, "allocation_bytes"), 0),
		.requested = TS_MAX(number_of(block, i, "requested_bytes"), 0),
		.reserved = TS_MAX(number_of(block, i, "bytes_reserved"), 0),
		.heap = TS_MAX(number_of(block, i, "bytes_allocated"), 0),
		.available = TS_MAX(number_of(block, i, "bytes_available"), 0),
		.lifetime_peak = TS_MAX(number_of(block, i, "peak_bytes_in_use"), 0),
		.fragmentation = NAN,
		.is_free = is_free,
	};

	record.number = number_of(block, i, "device_ordinal");
	if (record.number == 0)
		record.number = number_of(block, i, "index_on_host");
	if (block->stat && block->stat(block, i, "fragmentation", &share))
		record.fragmentation =
			share.type == TS_STAT_REAL ? share.real : (double)share.number;
	return record;
}

static bool add(struct state *state, const struct record *record)
{
	if (state->nr >= MAX_RECORDS) {
		state->nr_lost++;
		return true;
	}
	if (!ts_grow(&state->records, &state->cap, state->nr + 1, sizeof(*state->records)))
		return false;
	state->records[state->nr++] = *record;
	return true;
}

static enum ts_status add_block(void *ptr, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err)
{
	struct state *state = ptr;

	for (size_t i = 0; i < block->nr_events; i++) {
		struct ts_bytes name = ctx->profile->ops[block->op[i]].name;
		bool is_free = is_deallocation(name);
		struct record record;

		if (!is_free && !is_allocation(name))
			continue;
		record = read_record(block, i, is_free);
		record.host = state->host;
		if (!add(state, &record))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status merge(void *ptr_into, void *ptr_from, const struct ts_context *ctx,
			    struct ts_error *err)
{
	struct state *into = ptr_into, *from = ptr_from;

	(void)ctx;
	into->nr_lost += from->nr_lost;
	for (size_t i = 0; i < from->nr; i++)
		if (!add(into, &from->records[i]))
			return ts_fail_nomem(err);
	return TS_OK;
}

static int by_allocator(const struct record *x, const struct record *y)
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

static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int order = by_allocator(x, y);

	if (order != 0)
		return order;
	if (x->at_ps != y->at_ps)
		return x->at_ps < y->at_ps ? -1 : 1;
	if (x->is_free != y->is_free)
		return x->is_free ? 1 : -1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int64_t in_use(const struct record *record)
{
	return ts_i64_add(record->reserved, record->heap);
}

struct row_sum { /* of one allocator */
	const struct record *records, *peak;
	size_t nr;
	int64_t lifetime_peak, max_heap, unfreed_bytes;
};

static struct ts_bytes name_of(struct ts_result *result, const struct record *record)
{
	if (record->allocator.n > 0)
		return record->allocator;
	return ts_result_text(result, "%lld", (long long)record->number);
}

/*
 * The blocks that were taken up to LAST (included) and not freed. Marks them in OPEN, one a record.
 * False: no memory.
 */
static bool find_open(const struct row_sum *sum, int64_t last_ps, bool *open)
{
	struct ts_map by_address = { NULL, 0, 0 };
	bool good = true;

	for (size_t i = 0; i < sum->nr && good && sum->records[i].at_ps <= last_ps; i++) {
		uint64_t address = (uint64_t)sum->records[i].address;
		uint32_t at = ts_map_find(&by_address, address);

		if (at != TS_NONE)
			open[at] = false; /* freed, or taken anew: its end was not seen */
		if (sum->records[i].is_free)
			continue;
		open[i] = true;
		good = ts_map_set(&by_address, address, (uint32_t)i);
	}
	ts_map_release(&by_address);
	return good;
}

static bool measure(struct row_sum *sum, bool *open)
{
	sum->peak = &sum->records[0];
	for (size_t i = 0; i < sum->nr; i++) {
		const struct record *record = &sum->records[i];

		if (in_use(record) >= in_use(sum->peak))
			sum->peak = record;
		sum->lifetime_peak = TS_MAX(sum->lifetime_peak, record->lifetime_peak);
	}
	if (!find_open(sum, INT64_MAX, open))
		return false;
	for (size_t i = 0; i < sum->nr; i++)
		if (open[i])
			sum->unfreed_bytes =
				ts_i64_add(sum->unfreed_bytes, sum->records[i].nr_bytes);
	memset(open, 0, sum->nr * sizeof(*open));
	return find_open(sum, sum->peak->at_ps, open);
}

/* The first number in the allocator's name (GPU_0_bfc), else the one that it goes by. */
static int64_t ordinal_of(const struct record *record)
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

/* cpu, mklcpu, gpu_host_bfc, cuda_host_bfc: memory of the host. */
static bool is_of_host(struct ts_bytes name)
{
	return ts_bytes_has(name, "cpu") || ts_bytes_has(name, "CPU") || ts_bytes_has(name, "host");
}

static uint32_t device_of(const struct ts_profile *profile, const struct record *record)
{
	int64_t ordinal = ordinal_of(record);

	if (is_of_host(record->allocator))
		return TS_NONE;
	for (uint32_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].host == record->host &&
		    (int64_t)profile->devices[i].ordinal == ordinal)
			return i;
	return TS_NONE;
}

/* The heap where a step of the allocator's device ends, from the first step that had an event. */
struct growth {
	int64_t first, last;
	size_t nr_steps, nr_rising; /* steps that end with more than the one before */
};

static void add_step(struct growth *growth, int64_t heap)
{
	if (growth->nr_steps++ == 0)
		growth->first = heap;
	else
		growth->nr_rising += heap > growth->last;
	growth->last = heap;
}

static struct growth growth_of(const struct ts_context *ctx, const struct row_sum *sum,
			       uint32_t device)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	struct growth growth = { 0, 0, 0, 0 };
	size_t at = 0;

	for (size_t i = 0; device < steps->nr_devices && i < steps->devices[device].nr; i++) {
		while (at < sum->nr &&
		       sum->records[at].at_ps <= steps->devices[device].items[i].end_ps)
			at++;
		if (at > 0)
			add_step(&growth, sum->records[at - 1].heap);
	}
	return growth;
}

static void put_growth(struct ts_value *cells, const struct growth *growth)
{
	if (growth->nr_steps < 2)
		return;
	cells[0] = ts_int((int64_t)growth->nr_steps);
	cells[1] = ts_int((int64_t)growth->nr_rising);
	cells[2] = ts_int(growth->first);
	cells[3] = ts_int(growth->last);
}

static void put_allocator(struct ts_result *result, struct ts_table *table,
			  const struct ts_context *ctx, const struct row_sum *sum)
{
	const struct record *peak = sum->peak, *last = &sum->records[sum->nr - 1];
	uint32_t device = device_of(ctx->profile, peak);
	struct ts_value *cells = ts_table_row(result, table);
	struct growth growth;

	if (!cells)
		return;
	cells[0] = ts_text(name_of(result, peak));
	cells[1] = ts_text_or_null(ctx->profile->hosts[peak->host].name);
	cells[2] = ts_int(in_use(peak));
	cells[3] = ts_int(peak->at_ps);
	cells[4] = ts_int(ts_i64_add(in_use(peak), peak->available));
	cells[5] = ts_share_pct(peak->fragmentation);
	cells[6] = ts_int(peak->heap);
	cells[7] = ts_int(peak->reserved);
	cells[8] = ts_int(sum->lifetime_peak);
	cells[9] = ts_int((int64_t)sum->nr);
	cells[10] = ts_int(sum->unfreed_bytes);
	cells[11] = ts_int(ts_i64_sub(last->heap, sum->records[0].heap));
	if (device == TS_NONE)
		return;
	cells[12] = ts_text_or_null(ctx->profile->devices[device].name);
	growth = growth_of(ctx, sum, device);
	put_growth(&cells[13], &growth);
}

static int by_size(const void *a, const void *b)
{
	const struct record *x = *(const struct record *const *)a;
	const struct record *y = *(const struct record *const *)b;
	int order;

	if (x->nr_bytes != y->nr_bytes)
		return x->nr_bytes > y->nr_bytes ? -1 : 1;
	if (x->requested != y->requested)
		return x->requested > y->requested ? -1 : 1;
	order = ts_bytes_cmp(x->op, y->op);
	if (order == 0)
		order = ts_bytes_cmp(x->region, y->region);
	return order ? order : ts_bytes_cmp(x->shape, y->shape);
}

static void put_blocks(struct ts_result *result, struct ts_table *table,
		       const struct record **blocks, size_t nr)
{
	for (size_t i = 0, same; i < nr && table->nr_rows < MAX_ROWS; i += same) {
		struct ts_value *cells = ts_table_row(result, table);

		for (same = 1; i + same < nr && by_size(&blocks[i], &blocks[i + same]) == 0;)
			same++;
		if (!cells)
			return;
		cells[0] = ts_text(name_of(result, blocks[i]));
		cells[1] = ts_text_or_null(blocks[i]->op);
		cells[2] = ts_int(blocks[i]->nr_bytes);
		cells[3] = ts_int(blocks[i]->requested);
		cells[4] = ts_int((int64_t)same);
		cells[5] = ts_text_or_null(blocks[i]->region);
		cells[6] = ts_text_or_null(blocks[i]->shape);
	}
}

/* The blocks alive at the peak, equal ones in one row. False: no memory. */
static bool put_active(struct ts_result *result, struct ts_table *table, const struct row_sum *sum,
		       const bool *open)
{
	const struct record **blocks = malloc((sum->nr + 1) * sizeof(const struct record *));
	size_t nr = 0;

	if (!blocks)
		return false;
	for (size_t i = 0; i < sum->nr; i++)
		if (open[i])
			blocks[nr++] = &sum->records[i];
	if (nr > 1)
		qsort(blocks, nr, sizeof(const struct record *), by_size);
	put_blocks(result, table, blocks, nr);
	free(blocks);
	return true;
}

static double share_value(const struct record *record)
{
	return isfinite(record->fragmentation) ? 100 * record->fragmentation : 0;
}

static double gib_value(const struct record *record)
{
	return (double)in_use(record) / (double)(INT64_C(1) << 30);
}

static const struct counter {
	const char *name, *unit, *description;
	double (*value)(const struct record *record);
} counters[] = {
	{ "Allocated memory (GiB)", "GiB",
	  "what the runtime's allocator has reserved and allocated, after each of its events",
	  gib_value },
	{ "Fragmentation (%)", "%", "of the free memory, as the runtime's allocator says",
	  share_value },
};

static bool put_counter(struct ts_result *result, const struct row_sum *sum, uint32_t device,
			const struct counter *counter)
{
	struct ts_track *track = ts_result_track(result, TS_TRACK_COUNTER, counter->name, device,
						 ORDER + (int)(counter - counters));
	size_t width = (sum->nr + MAX_POINTS - 1) / MAX_POINTS;
	struct ts_point *points;

	points = ts_arena_array(&result->owner->arena, sum->nr / width + 1, sizeof(*points));
	if (!track || !points)
		return false;
	track->unit = counter->unit;
	track->description = counter->description;
	track->points = points;
	for (size_t i = 0; i < sum->nr; i += width) {
		struct ts_point *point = &points[track->nr_points++];

		*point = (struct ts_point){ sum->records[i].at_ps,
					    counter->value(&sum->records[i]) };
		for (size_t k = i + 1; k < i + width && k < sum->nr; k++)
			point->value = fmax(point->value, counter->value(&sum->records[k]));
	}
	return true;
}

static bool put_counters(struct ts_result *result, const struct ts_context *ctx,
			 const struct row_sum *sum)
{
	uint32_t device = device_of(ctx->profile, sum->peak);

	for (size_t i = 0; i < TS_NELEM(counters); i++)
		if (ctx->overlay_budget > 0 && device != TS_NONE &&
		    !put_counter(result, sum, device, &counters[i]))
			return false;
	return true;
}

static void put_mb(struct ts_result *result, const char *mb, const char *bytes, int64_t value)
{
	ts_result_field(result, mb, ts_real((double)value / (1 << 20)), TS_MEASURED, NULL);
	ts_result_field(result, bytes, ts_int(value), TS_MEASURED, "peak");
}

/* The memory timeline of a profile without events of PyTorch: the fullest device's peak. */
static void tell_timeline(const struct ts_context *ctx, const struct row_sum *sums, size_t nr)
{
	struct ts_result *result = ts_results_edit(ctx->results, "memory_timeline");
	const struct record *most = NULL;

	for (size_t i = 0; i < nr; i++)
		if (device_of(ctx->profile, sums[i].peak) != TS_NONE &&
		    (!most || in_use(sums[i].peak) > in_use(most)))
			most = sums[i].peak;
	if (!most || !result || ts_result_find_table(result, "devices"))
		return;
	ts_result_field(result, "source", ts_text(TS_LIT("events of the runtime's allocators")),
			TS_MEASURED, NULL);
	ts_result_field(result, "device",
			ts_text(ctx->profile->devices[device_of(ctx->profile, most)].name),
			TS_MEASURED, "device");
	put_mb(result, "peak_memory_mb", "peak_bytes", in_use(most));
	ts_result_field(result, "reserved_memory_mb", ts_null(), TS_MEASURED, NULL);
	ts_result_field(result, "reserved_bytes", ts_null(), TS_MEASURED, NULL);
	ts_result_field(result, "peak_time_ps", ts_int(most->at_ps), TS_MEASURED, "peak at");
}

static bool put_all(struct ts_result *result, const struct ts_context *ctx,
		    const struct state *state, bool *open)
{
	static const struct ts_column of_allocators[] = {
		{ "allocator", TS_MEASURED, "allocator" },
		{ "host", TS_MEASURED, NULL },
		{ "peak_bytes", TS_MEASURED, "peak" },
		{ "peak_time_ps", TS_MEASURED, "at" },
		{ "capacity_bytes", TS_MEASURED, "of" },
		{ "fragmentation_pct", TS_MEASURED, "fragmentation" },
		{ "heap_bytes", TS_MEASURED, "heap" },
		{ "reserved_bytes", TS_MEASURED, "stack" },
		{ "lifetime_peak_bytes", TS_MEASURED, NULL },
		{ "events", TS_MEASURED, "events" },
		{ "unfreed_bytes", TS_MEASURED, "never freed" },
		{ "growth_bytes", TS_MEASURED, NULL },
		{ "device", TS_MEASURED, NULL },
		{ "steps", TS_MEASURED, NULL },
		{ "rising_steps", TS_MEASURED, NULL },
		{ "first_step_heap_bytes", TS_MEASURED, NULL },
		{ "last_step_heap_bytes", TS_MEASURED, NULL },
	};
	static const struct ts_column of_blocks[] = {
		{ "allocator", TS_MEASURED, "allocator" }, { "framework_op", TS_MEASURED, "op" },
		{ "bytes", TS_MEASURED, "block" },	   { "requested_bytes", TS_MEASURED, NULL },
		{ "count", TS_MEASURED, "times" },	   { "region", TS_MEASURED, "region" },
		{ "shape", TS_MEASURED, "shape" },
	};
	struct row_sum sums[MAX_NAMED];
	struct ts_table *table;
	size_t nr = 0;

	table = ts_result_table(result, "allocators", "Allocators at their peaks", of_allocators,
				TS_NELEM(of_allocators));
	for (size_t from = 0, to; from < state->nr && nr < TS_NELEM(sums) && table; from = to) {
		struct row_sum *sum = &sums[nr++];

		for (to = from + 1; to < state->nr &&
				    by_allocator(&state->records[from], &state->records[to]) == 0;)
			to++;
		*sum = (struct row_sum){ .records = &state->records[from], .nr = to - from };
		if (!measure(sum, &open[from]) || !put_counters(result, ctx, sum))
			return false;
		put_allocator(result, table, ctx, sum);
	}
	tell_timeline(ctx, sums, nr);
	table = ts_result_table(result, "allocations", "Blocks alive at the peak", of_blocks,
				TS_NELEM(of_blocks));
	for (size_t i = 0; i < nr && table; i++)
		if (!put_active(result, table, &sums[i], &open[sums[i].records - state->records]))
			return false;
	return table != NULL;
}

static enum ts_status close_state(void *ptr, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct state *state = ptr;
	bool *open, good;

	if (state->nr == 0)
		return TS_OK;
	open = calloc(state->nr + 1, sizeof(*open));
	if (!open)
		return ts_fail_nomem(err);
	qsort(state->records, state->nr, sizeof(*state->records), by_time);
	good = put_all(result, ctx, state, open);
	free(open);
	if (state->nr_lost > 0)
		ts_result_note(result,
			       "%llu more events of allocators were left out: peaks are lower "
			       "bounds.",
			       (unsigned long long)state->nr_lost);
	return good ? TS_OK : ts_fail_nomem(err);
}

static void release(void *ptr)
{
	struct state *state = ptr;

	free(state->records);
}

const struct ts_analysis ts_analysis_allocators = {
	.name = "allocators",
	.title = "Allocators",
	.needs = TS_NEEDED,
	.pass = TS_PASS_SECOND,
	.columns = TS_COL_STATS,
	.state_size = sizeof(struct state),
	.wants = wants,
	.open = open_line,
	.block = add_block,
	.merge = merge,
	.close = close_state,
	.release = release,
};
