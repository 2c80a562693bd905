/* SPDX-License-Identifier: MIT */
/*
 * Where the time went: every moment of every core in one bucket (model/bucket.h), in all and per
 * step. While an op runs, by the innermost; while none runs, by what its host was doing. So the
 * buckets sum to wall time x cores, to the picosecond. An op that works is divided by what explains its
 * time (kit/split.h), each execution by itself.
 *
 * A TPU core runs one op at a time: its line's segments are the moments. A GPU runs streams side by
 * side: there the busy intervals of each bucket are kept (base/spans.h, bounded), and a moment with
 * several belongs to the first in the order compute, rematerialization, below roofline, unexplained,
 * memory, communication, host transfer - what hides a transfer makes it free.
 */
#include "analysis/time/time.h"

#include "base/record.h"
#include "model/op_kind.h"
#include "result/schema/time.def"

#define DRAWN_GAP_PS 100000 /* a shorter gap is drawn as part of what stands before it */

static bool time_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	uint32_t device = ctx->profile->planes[line->plane].device;

	return device != TS_NONE && (line->kind == TS_LINE_OPS || line->kind == TS_LINE_MODULES ||
				     line->kind == TS_LINE_STEPS);
}

/* Categories that XProf's duty cycle does not count as work (xla_op_utils.h, IsOffDutyOp). */
static bool is_on_duty(const struct ts_op *op)
{
	if (TS_OPCODE_IN(op->category_id, TS_OPCODE_INFEED, TS_OPCODE_OUTFEED, TS_XLA_HOST_SEND,
			 TS_XLA_HOST_SEND_DONE, TS_XLA_HOST_RECV, TS_XLA_HOST_RECV_DONE,
			 TS_OPCODE_ASYNC_DONE, TS_XLA_MEGACORE_FUSION))
		return false;
	return true;
}

static void device_init(struct time_device *device)
{
	device->first_ps = device->op_first_ps = INT64_MAX;
	device->last_ps = device->op_last_ps = INT64_MIN;
	device->cut_ps = INT64_MIN;
}

static enum ts_status time_open(void *arg, const struct ts_context *ctx, const struct ts_line *line,
				struct ts_error *err)
{
	struct time_state *state = arg;
	const struct ts_profile *profile = ctx->profile;
	enum ts_status st;

	state->device_index = profile->planes[line->plane].device;
	state->is_core = ts_line_is_core(profile, line);
	state->is_gpu = ts_device_has_streams(&profile->devices[state->device_index]);
	device_init(&state->device);
	if (!state->is_core)
		return TS_OK;
	state->nr_classes = profile->nr_ops;
	state->classes =
		ts_room_array(profile->rooms, profile->nr_ops + 1, sizeof(*state->classes));
	state->ops.nr = profile->nr_ops;
	state->ops.items =
		ts_room_array(profile->rooms, profile->nr_ops + 1, sizeof(*state->ops.items));
	state->device.nr_steps = ts_steps_of(&ctx->outline->steps, state->device_index)->nr;
	state->device.is_open = !state->is_gpu;
	if (!state->classes || !state->ops.items)
		return ts_fail_nomem(err);
	st = ts_time_steps_open(state, ctx, err);
	if (st)
		return st;
	state->device.slices.budget =
		ts_overlay_device_share(ctx, TS_SHARE_TIME, state->device_index);
	return TS_OK;
}

/* Names are searched for this, and a GPU has very many short lines: only ops that run are asked. */
static TS_INLINE const struct time_class *time_class_of(struct time_state *state,
							const struct ts_context *ctx, uint32_t op)
{
	if (!state->classes[op].known) {
		state->classes[op].known = true;
		state->classes[op].on_duty = is_on_duty(&ctx->profile->ops[op]);
		state->classes[op].split =
			ts_split_of(ctx, state->device_index, &ctx->profile->ops[op]);
	}
	return &state->classes[op];
}

/* Kernels whose metadata has no costs say themselves what they did, event by event. */
static void learn_costs(struct time_state *state, const struct ts_context *ctx,
			const struct ts_block *block)
{
	for (size_t i = 0; block->flops && !block->how && i < block->nr_events; i++) {
		uint32_t op = block->op[i];

		if (block->flops[i] == TS_UNKNOWN && block->bytes[i] == TS_UNKNOWN)
			continue;
		time_class_of(state, ctx, op);
		state->classes[op].split =
			ts_split_of_call(ctx, state->device_index, &ctx->profile->ops[op],
					 block->flops[i], block->bytes[i]);
	}
}

static enum ts_status time_draw(struct time_device *device, int64_t start_ps, int64_t end_ps,
				enum ts_bucket bucket, struct ts_error *err)
{
	if (device->slices.budget > 0 &&
	    !ts_slices_add(&device->slices, start_ps, end_ps, (uint32_t)bucket))
		return ts_fail_nomem(err);
	return TS_OK;
}

/* What became of one execution: stretches side by side, whose order inside it is not known. */
struct stretch {
	enum ts_bucket bucket;
	int64_t ps;
};

static void time_count_op(struct ts_time_op *op, int64_t dur_ps, const int64_t parts[TS_NR_SPLITS])
{
	op->split_ps = ts_i64_add(op->split_ps, dur_ps);
	for (int part = 0; part < TS_SPLIT_REST; part++)
		op->part_ps[part] = ts_i64_add(op->part_ps[part], parts[part]);
}

static size_t stretch_out(struct time_state *state, uint32_t op, const struct ts_split *split,
			  int64_t dur_ps, struct stretch out[TS_NR_SPLITS])
{
	/* As they are drawn: what is one bucket's side by side. */
	static const enum ts_split_part order[TS_NR_SPLITS] = { TS_SPLIT_MATRIX, TS_SPLIT_ESTIMATE,
								TS_SPLIT_KIND,	 TS_SPLIT_HBM,
								TS_SPLIT_MOVE,	 TS_SPLIT_BELOW,
								TS_SPLIT_REST };
	int64_t parts[TS_NR_SPLITS];
	size_t nr = 0;

	if (split->whole != TS_NR_BUCKETS) {
		out[0] = (struct stretch){ split->whole, dur_ps };
		return 1;
	}
	ts_split_time(split, dur_ps, parts);
	time_count_op(&state->ops.items[op], dur_ps, parts);
	for (size_t i = 0; i < TS_NR_SPLITS; i++) {
		struct stretch next = { ts_split_bucket(order[i]), parts[order[i]] };

		if (nr > 0 && out[nr - 1].bucket == next.bucket)
			out[nr - 1].ps += next.ps;
		else if (next.ps > 0)
			out[nr++] = next;
	}
	return nr;
}

/* DRAWN_PS: where its slice begins in the drawn row, START_PS or a moment before it. */
static enum ts_status spread_op(struct time_state *state, const struct ts_context *ctx,
				int64_t drawn_ps, int64_t start_ps, const struct stretch *stretches,
				size_t nr, struct ts_error *err)
{
	struct time_device *device = &state->device;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr && st == TS_OK; i++) {
		int64_t end_ps = start_ps + stretches[i].ps;

		ts_time_spread(ctx, state->device_index, device, start_ps, end_ps,
			       stretches[i].bucket);
		st = time_draw(device, drawn_ps, end_ps, stretches[i].bucket, err);
		drawn_ps = start_ps = end_ps;
	}
	return st;
}

/* What of the device's steps lies before its first op. */
static void time_begin_steps(struct time_state *state, const struct ts_context *ctx,
			     int64_t start_ps)
{
	const struct ts_device_steps *steps =
		ts_steps_of(&ctx->outline->steps, state->device_index);

	if (steps->nr > 0)
		ts_time_spread_edge(ctx, state->device_index, &state->device,
				    steps->items[0].start_ps, start_ps);
}

/* And behind its last one, where it had ops. */
static void time_end_steps(struct time_state *state, const struct ts_context *ctx)
{
	const struct ts_device_steps *steps =
		ts_steps_of(&ctx->outline->steps, state->device_index);
	const struct time_device *device = &state->device;

	if (steps->nr > 0 && device->op_first_ps <= device->op_last_ps)
		ts_time_spread_edge(ctx, state->device_index, &state->device, device->op_last_ps,
				    steps->items[steps->nr - 1].end_ps);
}

static enum ts_status core_segments(struct time_state *state, const struct ts_context *ctx,
				    const struct ts_block *block, struct ts_error *err)
{
	struct time_device *device = &state->device;
	uint32_t index = state->device_index;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_segments; i++) {
		int64_t start_ps = block->segment_start_ps[i], end_ps = block->segment_end_ps[i];
		uint32_t op = block->segment_op[i];
		const struct time_class *class = time_class_of(state, ctx, op);
		struct stretch stretches[TS_NR_SPLITS];
		size_t nr = stretch_out(state, op, &class->split, end_ps - start_ps, stretches);
		int64_t drawn_ps = start_ps;

		if (device->cut_ps == INT64_MIN)
			time_begin_steps(state, ctx, start_ps);
		else if (start_ps > device->cut_ps) {
			enum ts_bucket cause =
				ts_time_spread_gap(ctx, index, device, device->cut_ps, start_ps);

			if (start_ps - device->cut_ps < DRAWN_GAP_PS)
				drawn_ps = device->cut_ps;
			else
				st = time_draw(device, device->cut_ps, start_ps, cause, err);
		}
		if (st == TS_OK)
			st = spread_op(state, ctx, drawn_ps, start_ps, stretches, nr, err);
		if (st)
			return st;
		ts_time_steps_add(state, ctx, op, start_ps, end_ps - start_ps);
		if (class->on_duty)
			device->on_duty_ps += end_ps - start_ps;
		device->cut_ps = end_ps;
		device->op_first_ps = TS_MIN(device->op_first_ps, start_ps);
		device->op_last_ps = TS_MAX(device->op_last_ps, end_ps);
	}
	return device->steps.failed ? ts_fail_nomem(err) : TS_OK;
}

/* Of a kernel whose operator is known, each by itself: the same kernel runs for arrays of many sizes. */
static struct ts_split gpu_split(struct time_state *state, const struct ts_context *ctx,
				 const struct ts_block *block, size_t i)
{
	const struct ts_split *class = &time_class_of(state, ctx, block->segment_op[i])->split;

	if (!block->segment_how)
		return *class;
	return ts_split_of_kernel(ctx, state->device_index, class, block->segment_flops[i],
				  block->segment_bytes[i], block->segment_how[i]);
}

static enum ts_status gpu_segments(struct time_state *state, const struct ts_context *ctx,
				   const struct ts_block *block, struct ts_error *err)
{
	for (size_t i = 0; i < block->nr_segments; i++) {
		uint32_t op = block->segment_op[i];
		int64_t start_ps = block->segment_start_ps[i], at_ps = start_ps;
		int64_t dur_ps = block->segment_end_ps[i] - start_ps;
		struct stretch stretches[TS_NR_SPLITS];
		struct ts_split split = gpu_split(state, ctx, block, i);
		size_t nr = stretch_out(state, op, &split, dur_ps, stretches);

		for (size_t s = 0; s < nr; s++) {
			struct ts_spans *spans = &state->device.gpu[stretches[s].bucket];

			if (!ts_spans_add(spans, at_ps, at_ps + stretches[s].ps))
				return ts_fail_nomem(err);
			at_ps += stretches[s].ps;
		}
		ts_time_steps_add(state, ctx, op, start_ps, dur_ps);
	}
	return TS_OK;
}

static enum ts_status time_block(void *arg, const struct ts_context *ctx,
				 const struct ts_block *block, struct ts_error *err)
{
	struct time_state *state = arg;
	struct time_device *device = &state->device;
	int64_t first_ps = device->first_ps, last_ps = device->last_ps;

	for (size_t i = 0; i < block->nr_events; i++) {
		int64_t end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);

		first_ps = TS_MIN(first_ps, block->start_ps[i]);
		last_ps = TS_MAX(last_ps, end_ps);
	}
	device->seen |= block->nr_events > 0;
	device->first_ps = first_ps;
	device->last_ps = last_ps;
	if (!state->is_core)
		return TS_OK;
	learn_costs(state, ctx, block);
	return state->is_gpu ? gpu_segments(state, ctx, block, err)
			     : core_segments(state, ctx, block, err);
}

static enum ts_status time_make_devices(struct time_state *sum, const struct ts_context *ctx,
					struct ts_error *err)
{
	if (sum->devices)
		return TS_OK;
	sum->nr_devices = sum->nr_streams = ctx->profile->nr_devices;
	sum->devices = calloc(sum->nr_devices + 1, sizeof(*sum->devices));
	sum->streams = calloc(sum->nr_devices + 1, sizeof(*sum->streams));
	if (!sum->devices || !sum->streams)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < sum->nr_devices; i++) {
		struct time_device *device = &sum->devices[i];

		device_init(device);
		device->nr_steps = ts_device_steps_nr(&ctx->outline->steps.devices[i]);
	}
	return TS_OK;
}

/* A stream of a GPU; its spans move. */
static enum ts_status merge_stream(struct time_state *sum, struct time_state *line,
				   struct ts_error *err)
{
	struct time_streams **streams = &sum->streams[line->device_index];

	if (!*streams)
		*streams = calloc(1, sizeof(**streams));
	if (!*streams)
		return ts_fail_nomem(err);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (!ts_spans_sum_add(&(*streams)->busy[b], &line->device.gpu[b]))
			return ts_fail_nomem(err);
	return TS_OK;
}

/* A second line of ops on a TPU core would count moments twice: the busier one is the core. */
static void time_take_core(struct time_device *into, struct time_device *from)
{
	struct time_device hull = *into;

	if (from->op_first_ps > from->op_last_ps) /* nothing on it took time */
		return;
	if (into->op_first_ps <= into->op_last_ps &&
	    into->op_last_ps - into->op_first_ps >= from->op_last_ps - from->op_first_ps)
		return;
	free(into->step_ps);
	ts_buf_release(&into->steps);
	free(into->slow);
	ts_slices_release(&into->slices);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		ts_spans_release(&into->gpu[b]);
	*into = *from;
	into->seen = hull.seen || from->seen;
	into->first_ps = TS_MIN(hull.first_ps, from->first_ps);
	into->last_ps = TS_MAX(hull.last_ps, from->last_ps);
	memset(from, 0, sizeof(*from));
}

/* Is there one line alone that says what the core did? Else it is known at the end which one it is. */
static bool has_one_core(const struct ts_profile *profile, uint32_t device)
{
	return profile->planes[profile->devices[device].plane].nr_core_lines == 1;
}

/* The line of a core: its steps go into those of the run as soon as it is known to be the core's. */
static enum ts_status time_merge_core(struct time_state *sum, const struct ts_context *ctx,
				      struct time_state *line, struct ts_error *err)
{
	struct time_device *into = &sum->devices[line->device_index];

	if (!line->device.seen)
		return TS_OK;
	time_end_steps(line, ctx);
	time_take_core(into, &line->device);
	if (into->op_first_ps > into->op_last_ps || !has_one_core(ctx->profile, line->device_index))
		return TS_OK;
	return ts_time_add_steps(sum, ctx, line->device_index, into, err);
}

/* The steps of a core are those of its outline, and the one that is open begins before its last op ends. */
static bool fits_steps(const struct ts_context *ctx, const struct time_state *line)
{
	const struct ts_device_steps *steps = ts_steps_of(&ctx->outline->steps, line->device_index);
	const struct time_device *device = &line->device;

	if (!line->is_core)
		return true;
	if (device->nr_steps != steps->nr)
		return false;
	return !device->is_open || device->open_step == 0 ||
	       (device->open_step < steps->nr &&
		steps->items[device->open_step].start_ps <= device->op_last_ps);
}

static enum ts_status time_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				 struct ts_error *err)
{
	struct time_state *sum = arg_into, *line = arg_from;
	struct time_device *into, *from = &line->device;
	enum ts_status st = time_make_devices(sum, ctx, err);

	if (st)
		return st;
	if (!fits_steps(ctx, line))
		return ts_fail(err, TS_FORMAT, "a state of the time is of another run");
	st = ts_record_merge(&ts_time_ops_record, &sum->ops, &line->ops, err);
	if (st)
		return st;
	into = &sum->devices[line->device_index];
	into->seen |= from->seen;
	into->first_ps = TS_MIN(into->first_ps, from->first_ps);
	into->last_ps = TS_MAX(into->last_ps, from->last_ps);
	st = line->is_gpu ? merge_stream(sum, line, err) : TS_OK;
	if (st)
		return st;
	ts_time_steps_finish(line);
	if (line->is_gpu)
		ts_time_steps_merge(into, from);
	st = line->is_core && !line->is_gpu ? time_merge_core(sum, ctx, line, err) : TS_OK;
	if (st)
		return st;
	ts_slices_keep(&into->slices, ctx->kept);
	return TS_OK;
}

static enum ts_status join_streams(struct time_state *sum, struct ts_error *err)
{
	for (size_t i = 0; i < sum->nr_devices; i++)
		for (int b = 0; sum->streams[i] && b < TS_NR_BUCKETS; b++)
			if (!ts_spans_sum_finish(&sum->streams[i]->busy[b],
						 &sum->devices[i].gpu[b]))
				return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status time_close(void *arg, const struct ts_context *ctx, void *facts,
				 struct ts_result *result, struct ts_error *err)
{
	enum ts_status st = time_make_devices(arg, ctx, err);

	if (st)
		return st;
	st = join_streams(arg, err);
	return st ? st : ts_time_make_facts(arg, ctx, &result->owner->arena, facts, err);
}

const struct ts_analysis ts_analysis_time = {
	.schema = &ts_schema_time,
	.serves_part = true, /* gaps asks for the gaps of its host */
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_SEGMENTS | TS_COL_COSTS,
	.state = &ts_time_record,
	.facts_size = sizeof(struct ts_time_facts),
	.wants = time_wants,
	.open = time_open,
	.block = time_block,
	.merge = time_merge,
	.close = time_close,
	.report = ts_time_report,
	.shows = TS_SHOWN,
};
