/* SPDX-License-Identifier: MIT */
/*
 * What the time analysis found, as facts: the wall time, the buckets in all, by step and by core, and
 * the longest gaps. The streams of a GPU are laid over one another first: a moment in which several
 * of them run belongs to the first bucket of an order.
 */
#include "analysis/time/time.h"

#include "base/check.h"
#include "base/record.h"
#include "base/order.h"

#define LISTED_GAPS 256 /* of all devices */
#define LEAST_BACK  65536 /* bytes of buckets that are worth giving back */

static const enum ts_bucket gpu_order[] = { TS_BUCKET_COMPUTE,	      TS_BUCKET_REMATERIALIZATION,
					    TS_BUCKET_BELOW_ROOFLINE, TS_BUCKET_UNEXPLAINED,
					    TS_BUCKET_MEMORY_WAIT,    TS_BUCKET_COMMUNICATION,
					    TS_BUCKET_HOST_TRANSFER };

struct wall {
	int64_t start_ps, end_ps; /* start > end: no device event at all */
	size_t nr_cores;
};

static struct wall time_facts_find_wall(const struct time_state *sum,
					const struct ts_outline *outline)
{
	struct wall wall = { INT64_MAX, INT64_MIN, 0 };

	for (size_t i = 0; i < sum->nr_devices; i++) {
		const struct time_device *device = &sum->devices[i];

		if (!device->seen)
			continue;
		wall.nr_cores++;
		wall.start_ps = TS_MIN(wall.start_ps, device->first_ps);
		wall.end_ps = TS_MAX(wall.end_ps, device->last_ps);
	}
	if (outline->has_wall && wall.nr_cores > 0) {
		wall.start_ps = TS_MIN(wall.start_ps, outline->wall_start_ps);
		wall.end_ps = TS_MAX(wall.end_ps, outline->wall_end_ps);
	}
	return wall;
}

/* The drawn row of a GPU: the busy intervals of all buckets, which are disjoint now, in time. */
static enum ts_status draw_gpu(const struct ts_context *ctx, uint32_t index,
			       struct time_device *device, struct ts_error *err)
{
	size_t at[TS_NR_BUCKETS] = { 0 };

	device->slices.budget = ts_overlay_device_share(ctx, TS_SHARE_TIME, index);
	while (device->slices.budget > 0) {
		const struct ts_span *next = NULL;
		uint32_t bucket = 0;

		for (uint32_t b = 0; b < TS_NR_BUCKETS; b++) {
			const struct ts_spans *spans = &device->gpu[b];

			if (at[b] < spans->nr &&
			    (!next || spans->items[at[b]].start_ps < next->start_ps)) {
				next = &spans->items[at[b]];
				bucket = b;
			}
		}
		if (!next)
			break;
		if (!ts_slices_add(&device->slices, next->start_ps, next->end_ps, bucket))
			return ts_fail_nomem(err);
		at[bucket]++;
	}
	ts_slices_keep(&device->slices, ctx->kept);
	return TS_OK;
}

/* A moment in which several streams run belongs to the first bucket of the order. */
static enum ts_status resolve_gpu(const struct ts_context *ctx, uint32_t index,
				  struct time_device *device, struct wall wall,
				  struct ts_error *err)
{
	struct ts_spans busy = { .nr = 0 };
	int64_t cut_ps = wall.start_ps;

	for (size_t i = 0; i < TS_NELEM(gpu_order); i++) {
		struct ts_spans *spans = &device->gpu[gpu_order[i]];

		if (!ts_spans_subtract(spans, &busy) || !ts_spans_union(&busy, spans)) {
			ts_spans_release(&busy);
			return ts_fail_nomem(err);
		}
		for (size_t s = 0; s < spans->nr; s++)
			ts_time_spread(ctx, index, device, spans->items[s].start_ps,
				       spans->items[s].end_ps, gpu_order[i]);
		if (gpu_order[i] != TS_BUCKET_HOST_TRANSFER)
			device->on_duty_ps += ts_spans_total(spans);
	}
	for (size_t s = 0; s < busy.nr; s++) {
		ts_time_spread_gap(ctx, index, device, cut_ps, busy.items[s].start_ps);
		cut_ps = busy.items[s].end_ps;
	}
	ts_time_spread_gap(ctx, index, device, cut_ps, wall.end_ps);
	if (busy.nr > 0) {
		device->op_first_ps = busy.items[0].start_ps;
		device->op_last_ps = busy.items[busy.nr - 1].end_ps;
	}
	ts_spans_release(&busy);
	return draw_gpu(ctx, index, device, err);
}

/* The steps of a GPU, whose buckets become known one after the other. */
static enum ts_status add_gpu_steps(struct time_state *sum, const struct ts_context *ctx,
				    uint32_t index, struct wall wall, struct ts_error *err)
{
	struct time_device *device = &sum->devices[index];
	enum ts_status st;

	device->step_ps = calloc(device->nr_steps + 1, sizeof(*device->step_ps));
	if (!device->step_ps)
		return ts_fail_nomem(err);
	st = device->slow ? TS_OK : ts_time_slow_open(device, ctx, err);
	if (st)
		return st;
	st = resolve_gpu(ctx, index, device, wall, err);
	for (size_t i = 0; i < device->nr_steps; i++)
		ts_time_put_step(ctx, index, device, device->step_ps[i]);
	free(device->step_ps);
	device->step_ps = NULL;
	return st ? st : ts_time_add_steps(sum, ctx, index, device, err);
}

/* The steps of a core without an op, or of which it is known only now which line is the core's. */
static enum ts_status add_late_steps(struct time_state *sum, const struct ts_context *ctx,
				     uint32_t index, struct ts_error *err)
{
	struct time_device *device = &sum->devices[index];
	const struct ts_device_steps *steps;
	enum ts_status st;

	if (device->is_added || device->nr_steps == 0)
		return TS_OK;
	steps = ts_steps_of(&ctx->outline->steps, index);
	if (steps->nr != device->nr_steps)
		return TS_OK;
	st = device->slow ? TS_OK : ts_time_slow_open(device, ctx, err);
	if (st)
		return st;
	device->is_open = true;
	if (device->op_first_ps > device->op_last_ps)
		ts_time_spread_edge(ctx, index, device, steps->items[0].start_ps,
				    steps->items[steps->nr - 1].end_ps);
	return ts_time_add_steps(sum, ctx, index, device, err);
}

/* Before the first op and after the last one: what lies in steps is known. */
static void resolve_core(const struct ts_context *ctx, uint32_t index, struct time_device *device,
			 struct wall wall)
{
	if (device->op_first_ps > device->op_last_ps) {
		ts_time_spread_gap(ctx, index, device, wall.start_ps, wall.end_ps);
		return;
	}
	ts_time_spread_gap(ctx, index, device, wall.start_ps, device->op_first_ps);
	ts_time_spread_gap(ctx, index, device, device->op_last_ps, wall.end_ps);
}

static enum ts_status resolve(struct time_state *sum, const struct ts_context *ctx,
			      struct wall wall, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < sum->nr_devices && st == TS_OK; i++) {
		if (!sum->devices[i].seen)
			continue;
		if (ts_device_has_streams(&ctx->profile->devices[i])) {
			st = add_gpu_steps(sum, ctx, i, wall, err);
			continue;
		}
		st = add_late_steps(sum, ctx, i, err);
		if (st)
			return st;
		resolve_core(ctx, i, &sum->devices[i], wall);
	}
	return st;
}

/* The totals over all cores. Without a device event everything is unknown. */
static void time_facts_sum_up(const struct time_state *sum, struct wall wall,
			      struct ts_time_facts *facts)
{
	int64_t on_duty_ps = 0, span_ps = 0;

	*facts = (struct ts_time_facts){
		.nr_cores = wall.nr_cores,
		.wall_start_ps = wall.nr_cores ? wall.start_ps : -1,
		.wall_ps = wall.nr_cores ? wall.end_ps - wall.start_ps : -1,
		.total_ps = wall.nr_cores ? ts_i64_mul(wall.end_ps - wall.start_ps,
						       (int64_t)wall.nr_cores)
					  : -1,
		.nr_slow_steps = -1,
		.slow_period = -1,
		.median_step_ps = -1,
		.step_mad_ps = -1,
	};
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		facts->bucket_ps[b] = wall.nr_cores ? 0 : -1;
	for (size_t i = 0; i < sum->nr_devices; i++) {
		const struct time_device *device = &sum->devices[i];

		if (!device->seen)
			continue;
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			facts->bucket_ps[b] = ts_i64_add(facts->bucket_ps[b], device->total_ps[b]);
		on_duty_ps = ts_i64_add(on_duty_ps, device->on_duty_ps);
		span_ps = ts_i64_add(span_ps, device->last_ps - device->first_ps);
	}
	facts->duty_cycle = span_ps > 0 ? (double)on_duty_ps / (double)span_ps : NAN;
}

/* The ops whose time is divided, for those who ask what an op's time went to. */
static enum ts_status time_facts_list_ops(struct time_state *sum, struct ts_arena *arena,
					  struct ts_time_facts *facts, struct ts_error *err)
{
	struct ts_time_op *ops;

	if (!sum->ops.items)
		return TS_OK;
	ops = ts_arena_array(arena, sum->ops.nr + 1, sizeof(*ops));
	if (!ops)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < sum->ops.nr; i++) {
		ops[i] = sum->ops.items[i];
		for (int part = 0; part < TS_SPLIT_REST; part++)
			facts->part_ps[part] =
				ts_i64_add(facts->part_ps[part], ops[i].part_ps[part]);
	}
	facts->ops = ops;
	ts_record_release(&ts_time_ops_record, &sum->ops); /* nobody asks the sum any more */
	return TS_OK;
}

static enum ts_status time_facts_list_cores(const struct time_state *sum, struct ts_arena *arena,
					    struct ts_time_facts *facts, struct ts_error *err)
{
	struct ts_time_core *cores = ts_arena_array(arena, facts->nr_cores + 1, sizeof(*cores));
	size_t nr = 0;

	if (!cores)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < sum->nr_devices; i++) {
		if (!sum->devices[i].seen)
			continue;
		cores[nr].device = i;
		memcpy(cores[nr++].ps, sum->devices[i].total_ps, sizeof(cores->ps));
	}
	facts->cores = cores;
	return TS_OK;
}

/* Steps as facts: those that are listed, and packed all of them where some are not. */
struct listing {
	const struct ts_context *ctx;
	struct ts_time_facts *facts;
	struct ts_time_step *steps, last;
	struct ts_buf one;
	uint8_t *packed; /* NULL: how many bytes it takes is being found out */
	size_t nr_packed;
};

static enum ts_status time_facts_pack(struct listing *listing, const struct ts_time_step *step,
				      struct ts_error *err)
{
	enum ts_status st;

	listing->one.n = 0;
	st = ts_time_pack_step(&listing->one, &listing->last, step, err);
	if (st)
		return st;
	if (listing->packed)
		memcpy(listing->packed + listing->nr_packed, listing->one.p, listing->one.n);
	listing->nr_packed += listing->one.n;
	listing->last = *step;
	return TS_OK;
}

static enum ts_status list_step(struct listing *listing, const struct ts_time_step *step,
				uint32_t row, struct ts_error *err)
{
	struct ts_time_facts *facts = listing->facts;
	const struct ts_run_steps *all = listing->ctx->steps;

	facts->nr_steps++;
	if (ts_run_steps_at(all, row) < all->nr_kept)
		listing->steps[facts->nr_listed++] = *step;
	else {
		struct ts_time_step *others = &facts->others;

		facts->others_ps = ts_i64_add(facts->others_ps, ts_time_step_duration(step));
		others->total_ps = ts_i64_add(others->total_ps, step->total_ps);
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			others->ps[b] = ts_i64_add(others->ps[b], step->ps[b]);
	}
	return listing->packed ? time_facts_pack(listing, step, err) : TS_OK;
}

/* Of a run of very many steps their buckets and the packed steps would stand side by side. */
static void give_back(struct ts_buf *buf, struct ts_bytes *left)
{
	uint8_t *smaller;

	if (buf->n < LEAST_BACK || left->n > buf->n / 2)
		return;
	memmove(buf->p, left->p, left->n);
	buf->n = left->n;
	smaller = realloc(buf->p, left->n + 1);
	if (smaller) {
		buf->p = smaller;
		buf->cap = left->n + 1;
	}
	*left = ts_buf_bytes(buf);
}

/* MEASURES: only how many bytes they take when they are packed. */
static enum ts_status walk_steps(struct listing *listing, struct time_state *sum, bool measures,
				 struct ts_error *err)
{
	struct ts_bytes buckets = ts_buf_bytes(&sum->steps);
	struct ts_steps_walk walk;
	struct ts_run_step of;
	enum ts_status st = ts_steps_walk_open(&walk, &listing->ctx->outline->steps, err);

	while (st == TS_OK && ts_steps_walk_next(&walk, &of)) {
		struct ts_time_step step = { .number = of.number,
					     .start_ps = of.start_ps,
					     .total_ps = of.total_ps,
					     .cores = of.cores,
					     .work = of.work };

		ts_time_unpack(&buckets, step.ps);
		if (!measures)
			give_back(&sum->steps, &buckets);
		if (step.cores > 0)
			st = measures ? time_facts_pack(listing, &step, err)
				      : list_step(listing, &step, walk.row - 1, err);
	}
	ts_steps_walk_close(&walk);
	return st;
}

static enum ts_status time_facts_make_room(struct listing *listing, struct time_state *sum,
					   struct ts_arena *arena, struct ts_error *err)
{
	enum ts_status st;

	if (!listing->ctx->steps->kept)
		return TS_OK;
	st = walk_steps(listing, sum, true, err);
	if (st)
		return st;
	listing->packed = ts_arena_alloc(arena, listing->nr_packed + 1);
	listing->nr_packed = 0;
	listing->last = (struct ts_time_step){ 0 };
	return listing->packed ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status time_facts_list_steps(struct time_state *sum, const struct ts_context *ctx,
					    struct ts_arena *arena, struct ts_time_facts *facts,
					    struct ts_error *err)
{
	struct listing listing = { .ctx = ctx, .facts = facts };
	enum ts_status st;

	listing.steps = ts_arena_array(arena, ctx->steps->nr_kept + 1, sizeof(*listing.steps));
	if (!listing.steps)
		return ts_fail_nomem(err);
	facts->steps = listing.steps;
	st = time_facts_make_room(&listing, sum, arena, err);
	if (st)
		goto done;
	st = walk_steps(&listing, sum, false, err);
	facts->packed = (struct ts_bytes){ listing.packed, listing.nr_packed };
done:
	ts_buf_release(&sum->steps);
	ts_buf_release(&listing.one);
	return st ? st : ts_time_outliers(sum, ctx, arena, facts, err);
}

TS_ORDER(time_facts_longest_first, struct ts_time_gap,
	 TS_DOWN(dur_ps) TS_UP(device) TS_UP(start_ps))

static enum ts_status list_gaps(const struct time_state *sum, struct ts_arena *arena,
				struct ts_time_facts *facts, struct ts_error *err)
{
	struct ts_time_gap *gaps = calloc(sum->nr_devices * TIME_GAPS + 1, sizeof(*gaps));
	size_t nr = 0;

	if (!gaps)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < sum->nr_devices; i++)
		for (size_t g = 0; g < sum->devices[i].nr_gaps; g++)
			if (sum->devices[i].gaps[g].dur_ps > 0)
				gaps[nr++] =
					(struct ts_time_gap){ i, sum->devices[i].gaps[g].start_ps,
							      sum->devices[i].gaps[g].dur_ps,
							      sum->devices[i].gaps[g].cause };
	TS_SORT(gaps, nr, time_facts_longest_first);
	facts->nr_gaps = TS_MIN(nr, LISTED_GAPS);
	facts->gaps = ts_arena_dup(arena, gaps, facts->nr_gaps, sizeof(*gaps));
	free(gaps);
	return facts->gaps ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_time_make_facts(struct time_state *sum, const struct ts_context *ctx,
				  struct ts_arena *arena, struct ts_time_facts *facts,
				  struct ts_error *err)
{
	struct wall wall = time_facts_find_wall(sum, ctx->outline);
	enum ts_status st;

	TS_ASSERT(facts && sum->nr_devices <= ctx->outline->steps.nr_devices);
	st = resolve(sum, ctx, wall, err);

	time_facts_sum_up(sum, wall, facts);
	if (st || ctx->profile->nr_hosts == 0) /* modules alone: there was no time */
		return st;
	st = time_facts_list_ops(sum, arena, facts, err);
	if (st)
		return st;
	st = time_facts_list_cores(sum, arena, facts, err);
	if (st)
		return st;
	st = list_gaps(sum, arena, facts, err);
	if (st)
		return st;
	return time_facts_list_steps(sum, ctx, arena, facts, err);
}
