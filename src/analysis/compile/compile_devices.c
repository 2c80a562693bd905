/* SPDX-License-Identifier: MIT */
/*
 * What compiled code ran on the devices: kernels are launched inside a region on the host, and the
 * launch's link leads to them. A backward graph runs on another thread; the sequence number that
 * autograd gave its forward function leads back to the region.
 *
 * The view has no title, so people do not see it by itself: the view compile shows these numbers with
 * its regions.
 */
#include "analysis/analysis.h"
#include "analysis/facts/compile_devices.h"
#include "analysis/kit/keyed.h"
#include "analysis/kit/torch.h"
#include "base/check.h"
#include "base/record.h"
#include "model/launches.h"
#include "result/schema/compile_devices.def"

#define MAX_OPEN 16 /* regions inside one another on a thread; deeper ones count as the last */

struct open_region {
	int64_t end_ps;
	uint32_t what; /* 2 x region, + 1: its backward */
};

struct thread {
	struct open_region open[MAX_OPEN];
	size_t nr;
};

struct compile_devices_state {
	struct thread *threads; /* by line; NULL: nothing to watch yet */
	uint8_t *events;	/* of each op: 1 + enum ts_torch_event; 0: not asked yet */
	struct ts_launches launches, sequences;
	struct ts_compile_device_region *regions;
	size_t nr_regions, cap_regions;
	struct ts_map region_of_key;
	int64_t outside_ps;
};

#define TS_SELF struct ts_compile_device_region
static TS_RECORD(region, TS_NUMBER(1, id.autograd, TS_KEEP), TS_NUMBER(2, id.frame, TS_KEEP),
		 TS_NUMBER(3, id.compile, TS_KEEP), TS_NUMBER(4, nr_launches, TS_ADD),
		 TS_NUMBER(5, nr_kernels, TS_ADD), TS_NUMBER(6, device_ps, TS_ADD),
		 TS_NUMBER(7, backward_ps, TS_ADD));
#undef TS_SELF

static bool compile_devices_state_is_valid(const void *state)
{
	const struct compile_devices_state *loaded = state;

	return ts_keyed_is_valid(&loaded->region_of_key, loaded->nr_regions);
}

#define TS_SELF struct compile_devices_state
static TS_RECORD_WITH(devices, TS_VALID_IF(compile_devices_state_is_valid),
		      TS_LIST(1, regions, region_record, TS_BY_HAND), TS_MAP(2, region_of_key),
		      TS_NUMBER(3, outside_ps, TS_ADD), TS_SCRATCH(threads), TS_SCRATCH(events),
		      TS_SCRATCH(launches.slots), TS_SCRATCH(sequences.slots));
#undef TS_SELF

static bool compile_devices_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	enum ts_plane_kind plane = ctx->profile->planes[line->plane].kind;

	return line->kind == TS_LINE_THREAD || (plane == TS_PLANE_GPU && line->kind == TS_LINE_OPS);
}

static enum ts_status compile_devices_open(void *arg, const struct ts_context *ctx,
					   const struct ts_line *line, struct ts_error *err)
{
	struct compile_devices_state *state = arg;

	state->threads = calloc(ctx->profile->nr_lines + 1, sizeof(*state->threads));
	state->events = calloc(ctx->profile->nr_ops + 1, 1);
	return state->threads && state->events ? TS_OK : ts_fail_nomem(err);
}

/* The region of an id, made when it is new; NULL: no memory. */
static struct ts_compile_device_region *region_get(struct compile_devices_state *state,
						   struct ts_compile_id id)
{
	struct ts_compile_device_region fresh = { .id = id };

	return ts_keyed_row(TS_KEYED(state, regions, region_of_key), ts_compile_id_key(id), &fresh);
}

/* What is open on the thread at this moment; TS_NONE: nothing. */
static uint32_t open_at(struct thread *thread, int64_t at_ps)
{
	while (thread->nr > 0 && thread->open[thread->nr - 1].end_ps <= at_ps)
		thread->nr--;
	return thread->nr > 0 ? thread->open[thread->nr - 1].what : TS_NONE;
}

static void compile_devices_push(struct thread *thread, const struct ts_interleaved *interleaved,
				 size_t i, uint32_t what)
{
	open_at(thread, interleaved->start_ps[i]);
	if (thread->nr < MAX_OPEN)
		thread->open[thread->nr++] = (struct open_region){
			ts_i64_add(interleaved->start_ps[i], interleaved->dur_ps[i]), what
		};
}

static enum ts_status begin_region(struct compile_devices_state *state,
				   const struct ts_interleaved *interleaved, size_t i,
				   struct ts_error *err)
{
	struct ts_compile_device_region *region;
	struct ts_compile_id id;

	ts_compile_id_of(interleaved->profile->ops[interleaved->op[i]].name, &id);
	region = region_get(state, id);
	if (!region)
		return ts_fail_nomem(err);
	compile_devices_push(&state->threads[interleaved->line[i]], interleaved, i,
			     2 * (uint32_t)(region - state->regions));
	return TS_OK;
}

static uint64_t compile_devices_sequence_of(const struct ts_interleaved *interleaved, size_t i)
{
	struct ts_stat stat;

	if (!ts_interleaved_stat(interleaved, i, "Sequence number", &stat) ||
	    stat.type != TS_STAT_INT || stat.number < 0)
		return TS_NO_NUMBER;
	return (uint64_t)stat.number;
}

/* A forward function inside a region: its backward will be that region's. */
static enum ts_status note_function(struct compile_devices_state *state,
				    const struct ts_interleaved *interleaved, size_t i,
				    struct ts_error *err)
{
	uint32_t what = open_at(&state->threads[interleaved->line[i]], interleaved->start_ps[i]);
	uint64_t sequence =
		what == TS_NONE ? TS_NO_NUMBER : compile_devices_sequence_of(interleaved, i);

	return sequence == TS_NO_NUMBER ? TS_OK
					: ts_launches_note(&state->sequences, sequence, what, err);
}

static void begin_backward(struct compile_devices_state *state,
			   const struct ts_interleaved *interleaved, size_t i)
{
	uint64_t sequence =
		state->nr_regions ? compile_devices_sequence_of(interleaved, i) : TS_NO_NUMBER;
	uint32_t what =
		sequence == TS_NO_NUMBER ? TS_NONE : ts_launches_find(&state->sequences, sequence);

	if (what != TS_NONE)
		compile_devices_push(&state->threads[interleaved->line[i]], interleaved, i,
				     what | 1);
}

static enum ts_status compile_devices_take_host_event(struct compile_devices_state *state,
						      const struct ts_interleaved *interleaved,
						      size_t i, struct ts_error *err)
{
	enum ts_torch_event event = ts_torch_event_once(
		&state->events[interleaved->op[i]], &interleaved->profile->ops[interleaved->op[i]]);
	uint32_t what;

	if (event == TS_TORCH_REGION)
		return begin_region(state, interleaved, i, err);
	if (event == TS_TORCH_FUNCTION)
		return note_function(state, interleaved, i, err);
	if (event == TS_TORCH_BACKWARD)
		begin_backward(state, interleaved, i);
	if (interleaved->link[i] == TS_NO_LINK ||
	    (event != TS_TORCH_KERNEL_LAUNCH && event != TS_TORCH_GRAPH_LAUNCH))
		return TS_OK;
	what = open_at(&state->threads[interleaved->line[i]], interleaved->start_ps[i]);
	if (what == TS_NONE)
		return TS_OK;
	state->regions[what / 2].nr_launches++;
	return ts_launches_note(&state->launches, interleaved->link[i], what, err);
}

static void compile_devices_take_kernel(struct compile_devices_state *state,
					const struct ts_interleaved *interleaved, size_t i)
{
	int64_t dur_ps = TS_MAX(interleaved->dur_ps[i], 0);
	uint32_t what = interleaved->link[i] == TS_NO_LINK
				? TS_NONE
				: ts_launches_find(&state->launches, interleaved->link[i]);
	struct ts_compile_device_region *region =
		what == TS_NONE ? NULL : &state->regions[what / 2];

	if (!region) {
		state->outside_ps = ts_i64_add(state->outside_ps, dur_ps);
		return;
	}
	region->nr_kernels++;
	region->device_ps = ts_i64_add(region->device_ps, dur_ps);
	if (what & 1)
		region->backward_ps = ts_i64_add(region->backward_ps, dur_ps);
}

static enum ts_status compile_devices_interleaved(void *arg, const struct ts_context *ctx,
						  const struct ts_interleaved *interleaved,
						  struct ts_error *err)
{
	struct compile_devices_state *state = arg;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && !st; i++) {
		if (ctx->profile->lines[interleaved->line[i]].kind == TS_LINE_OPS)
			compile_devices_take_kernel(state, interleaved, i);
		else
			st = compile_devices_take_host_event(state, interleaved, i, err);
	}
	return st;
}

static enum ts_status compile_devices_merge(void *arg_into, void *arg_from,
					    const struct ts_context *ctx, struct ts_error *err)
{
	struct compile_devices_state *into = arg_into, *from = arg_from;
	enum ts_status st =
		ts_keyed_sum(TS_KEYED(into, regions, region_of_key),
			     TS_KEYED(from, regions, region_of_key), &region_record, err);

	return st ? st : ts_record_merge(&devices_record, into, from, err);
}

#define REGION_CELLS(X) \
	X(compile_id, ts_text_or_null(ts_compile_id_text(result, region->id))) \
	X(launches, ts_int(region->nr_launches)) \
	X(kernels, ts_int(region->nr_kernels)) \
	X(device_time_ps, ts_int(region->device_ps)) \
	X(backward_device_time_ps, ts_int(region->backward_ps))

static void compile_devices_put_regions(const struct ts_compile_devices_facts *facts,
					struct ts_result *result)
{
	struct ts_table *table;

	TS_SET(result, compile_devices, outside_device_time_ps, ts_int(facts->outside_ps));
	table = TS_TABLE(result, compile_devices_regions);
	for (size_t i = 0; i < facts->nr_regions; i++) {
		const struct ts_compile_device_region *region = &facts->regions[i];

		TS_CELLS(result, table, compile_devices_regions, REGION_CELLS);
	}
}

static enum ts_status compile_devices_close(void *arg, const struct ts_context *ctx, void *facts,
					    struct ts_result *result, struct ts_error *err)
{
	const struct compile_devices_state *sum = arg;
	struct ts_compile_devices_facts *found = facts;
	struct ts_compile_device_region *regions;

	if (ctx->profile->nr_devices == 0 || sum->nr_regions == 0)
		return TS_OK;
	regions = ts_arena_dup(&result->owner->arena, sum->regions, sum->nr_regions,
			       sizeof(*regions));
	if (!regions)
		return ts_fail_nomem(err);
	*found = (struct ts_compile_devices_facts){ regions, sum->nr_regions, sum->outside_ps };
	compile_devices_put_regions(found, result);
	return TS_OK;
}

const struct ts_analysis ts_analysis_compile_devices = {
	.schema = &ts_schema_compile_devices,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK | TS_COL_STATS,
	.state = &devices_record,
	.facts_size = sizeof(struct ts_compile_devices_facts),
	.wants = compile_devices_wants,
	.open = compile_devices_open,
	.interleaved = compile_devices_interleaved,
	.merge = compile_devices_merge,
	.close = compile_devices_close,
};
