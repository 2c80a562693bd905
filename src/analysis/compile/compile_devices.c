/*
 * What compiled code ran on the devices: kernels are launched inside a region on the host, and the
 * launch's link says which they are. A backward graph runs on another thread; the sequence number that
 * autograd gave its forward function says whose it is.
 *
 * Says nothing by itself that people read: "compile" tells it with the regions.
 */
#include "analysis/compile/compile.h"

#include "model/launches.h"

#define MAX_OPEN 16 /* regions inside one another on a thread; deeper ones count as the last */

struct open_region {
	int64_t end_ps;
	uint32_t what; /* 2 x region, + 1: its backward */
};

struct thread {
	struct open_region open[MAX_OPEN];
	size_t nr;
};

struct device_region {
	struct ts_compile_id id;
	int64_t nr_kernels, device_ps, backward_ps, nr_launches;
};

struct devices_state {
	struct thread *threads; /* by line; NULL: nothing to watch yet */
	uint8_t *events;	/* of each op: 1 + enum ts_torch_event; 0: not asked yet */
	struct ts_launches launches, sequences;
	struct device_region *regions;
	size_t nr_regions, cap_regions;
	struct ts_map region_of_key;
	int64_t outside_ps;
};

static bool devices_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	enum ts_plane_kind plane = ctx->profile->planes[line->plane].kind;

	return line->kind == TS_LINE_THREAD || (plane == TS_PLANE_GPU && line->kind == TS_LINE_OPS);
}

static enum ts_status devices_open(void *arg, const struct ts_context *ctx,
				   const struct ts_line *line, struct ts_error *err)
{
	struct devices_state *state = arg;

	(void)line;
	state->threads = calloc(ctx->profile->nr_lines + 1, sizeof(*state->threads));
	state->events = calloc(ctx->profile->nr_ops + 1, 1);
	return state->threads && state->events ? TS_OK : ts_fail_nomem(err);
}

static uint32_t region_get(struct devices_state *state, struct ts_compile_id id)
{
	uint64_t key = ts_compile_id_key(id);
	uint32_t at = ts_map_find(&state->region_of_key, key);

	if (at != TS_NONE)
		return at;
	if (!ts_grow(&state->regions, &state->cap_regions, state->nr_regions + 1,
		     sizeof(*state->regions)) ||
	    !ts_map_set(&state->region_of_key, key, (uint32_t)state->nr_regions))
		return TS_NONE;
	state->regions[state->nr_regions] = (struct device_region){ .id = id };
	return (uint32_t)state->nr_regions++;
}

static enum ts_torch_event event_of(struct devices_state *state, const struct ts_profile *profile,
				    uint32_t index)
{
	const struct ts_op *op = &profile->ops[index];
	uint8_t *known = &state->events[index];

	if (*known == 0)
		*known = 1 + (op->is_event ? (uint8_t)ts_torch_event_of(op->name, op->category)
					   : (uint8_t)TS_TORCH_OTHER);
	return (enum ts_torch_event)(*known - 1);
}

/* What is open on the thread at this moment; TS_NONE: nothing. */
static uint32_t open_at(struct thread *thread, int64_t at_ps)
{
	while (thread->nr > 0 && thread->open[thread->nr - 1].end_ps <= at_ps)
		thread->nr--;
	return thread->nr > 0 ? thread->open[thread->nr - 1].what : TS_NONE;
}

static void push(struct thread *thread, const struct ts_merged *merged, size_t i, uint32_t what)
{
	open_at(thread, merged->start_ps[i]);
	if (thread->nr < MAX_OPEN)
		thread->open[thread->nr++] =
			(struct open_region){ ts_i64_add(merged->start_ps[i], merged->dur_ps[i]),
					      what };
}

static bool begin_region(struct devices_state *state, const struct ts_merged *merged, size_t i)
{
	struct ts_compile_id id;
	uint32_t region;

	ts_compile_id_of(merged->profile->ops[merged->op[i]].name, &id);
	region = region_get(state, id);
	if (region == TS_NONE)
		return false;
	push(&state->threads[merged->line[i]], merged, i, 2 * region);
	return true;
}

static uint64_t sequence_of(const struct ts_merged *merged, size_t i)
{
	struct ts_stat stat;

	if (!ts_merged_stat(merged, i, "Sequence number", &stat) || stat.type != TS_STAT_INT ||
	    stat.number < 0)
		return TS_NO_NUMBER;
	return (uint64_t)stat.number;
}

/* A forward function inside a region: its backward will be that region's. */
static bool note_function(struct devices_state *state, const struct ts_merged *merged, size_t i)
{
	uint32_t what = open_at(&state->threads[merged->line[i]], merged->start_ps[i]);
	uint64_t sequence = what == TS_NONE ? TS_NO_NUMBER : sequence_of(merged, i);

	return sequence == TS_NO_NUMBER || ts_launches_note(&state->sequences, sequence, what);
}

static void begin_backward(struct devices_state *state, const struct ts_merged *merged, size_t i)
{
	uint64_t sequence = state->nr_regions ? sequence_of(merged, i) : TS_NO_NUMBER;
	uint32_t what =
		sequence == TS_NO_NUMBER ? TS_NONE : ts_launches_find(&state->sequences, sequence);

	if (what != TS_NONE)
		push(&state->threads[merged->line[i]], merged, i, what | 1);
}

static bool take_host_event(struct devices_state *state, const struct ts_merged *merged, size_t i)
{
	enum ts_torch_event event = event_of(state, merged->profile, merged->op[i]);
	uint32_t what;

	if (event == TS_TORCH_REGION)
		return begin_region(state, merged, i);
	if (event == TS_TORCH_FUNCTION)
		return note_function(state, merged, i);
	if (event == TS_TORCH_BACKWARD)
		begin_backward(state, merged, i);
	if (merged->link[i] == TS_NO_LINK ||
	    (event != TS_TORCH_KERNEL_LAUNCH && event != TS_TORCH_GRAPH_LAUNCH))
		return true;
	what = open_at(&state->threads[merged->line[i]], merged->start_ps[i]);
	if (what == TS_NONE)
		return true;
	state->regions[what / 2].nr_launches++;
	return ts_launches_note(&state->launches, merged->link[i], what);
}

static void take_kernel(struct devices_state *state, const struct ts_merged *merged, size_t i)
{
	int64_t dur_ps = TS_MAX(merged->dur_ps[i], 0);
	uint32_t what = merged->link[i] == TS_NO_LINK
				? TS_NONE
				: ts_launches_find(&state->launches, merged->link[i]);
	struct device_region *region = what == TS_NONE ? NULL : &state->regions[what / 2];

	if (!region) {
		state->outside_ps = ts_i64_add(state->outside_ps, dur_ps);
		return;
	}
	region->nr_kernels++;
	region->device_ps = ts_i64_add(region->device_ps, dur_ps);
	if (what & 1)
		region->backward_ps = ts_i64_add(region->backward_ps, dur_ps);
}

static enum ts_status devices_merged(void *arg, const struct ts_context *ctx,
				     const struct ts_merged *merged, struct ts_error *err)
{
	struct devices_state *state = arg;

	for (size_t i = 0; i < merged->nr_events; i++) {
		if (ctx->profile->lines[merged->line[i]].kind == TS_LINE_OPS)
			take_kernel(state, merged, i);
		else if (!take_host_event(state, merged, i))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status devices_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				    struct ts_error *err)
{
	struct devices_state *into = arg_into, *from = arg_from;

	(void)ctx;
	into->outside_ps = ts_i64_add(into->outside_ps, from->outside_ps);
	for (size_t i = 0; i < from->nr_regions; i++) {
		const struct device_region *region = &from->regions[i];
		uint32_t at = region_get(into, region->id);
		struct device_region *to;

		if (at == TS_NONE)
			return ts_fail_nomem(err);
		to = &into->regions[at];
		to->nr_kernels += region->nr_kernels;
		to->nr_launches += region->nr_launches;
		to->device_ps = ts_i64_add(to->device_ps, region->device_ps);
		to->backward_ps = ts_i64_add(to->backward_ps, region->backward_ps);
	}
	return TS_OK;
}

static enum ts_status devices_close(void *arg, const struct ts_context *ctx, void *facts,
				    struct ts_result *result, struct ts_error *err)
{
	static const struct ts_column columns[] = {
		{ "compile_id", TS_MEASURED, NULL },
		{ "launches", TS_MEASURED, NULL },
		{ "kernels", TS_MEASURED, NULL },
		{ "device_time_ps", TS_MEASURED, NULL },
		{ "backward_device_time_ps", TS_MEASURED, NULL },
	};
	const struct devices_state *sum = arg;
	struct ts_table *table;

	if (ctx->profile->nr_devices == 0 || sum->nr_regions == 0)
		return TS_OK;
	ts_result_field(result, "outside_device_time_ps", ts_int(sum->outside_ps), TS_MEASURED,
			NULL);
	table = ts_result_table(result, "regions", NULL, columns, TS_NELEM(columns));
	for (size_t i = 0; table && i < sum->nr_regions; i++) {
		const struct device_region *region = &sum->regions[i];
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return ts_fail_nomem(err);
		cells[0] = compile_id_cell(result, region->id);
		cells[1] = ts_int(region->nr_launches);
		cells[2] = ts_int(region->nr_kernels);
		cells[3] = ts_int(region->device_ps);
		cells[4] = ts_int(region->backward_ps);
	}
	return table ? TS_OK : ts_fail_nomem(err);
}

static void devices_release(void *arg)
{
	struct devices_state *state = arg;

	free(state->threads);
	free(state->events);
	free(state->regions);
	ts_launches_release(&state->launches);
	ts_launches_release(&state->sequences);
	ts_map_release(&state->region_of_key);
}

const struct ts_analysis ts_analysis_compile_devices = {
	.name = "compile_devices",
	.title = "Compiled code on devices",
	.pass = TS_PASS_MERGED,
	.columns = TS_COL_LINK | TS_COL_STATS,
	.state_size = sizeof(struct devices_state),
	.wants = devices_wants,
	.open = devices_open,
	.merged = devices_merged,
	.merge = devices_merge,
	.close = devices_close,
	.release = devices_release,
};
