/*
 * What the time analysis found, as facts: the wall time, the buckets in all, by step and by core, and
 * the longest gaps. The streams of a GPU are laid over one another first: a moment in which several
 * of them run belongs to the first bucket of an order.
 */
#include "analysis/time/time.h"

#include "base/check.h"

#define LISTED_GAPS 256 /* of all devices */

static const enum ts_bucket gpu_order[] = { TS_BUCKET_COMPUTE,	     TS_BUCKET_REMATERIALIZATION,
					    TS_BUCKET_UNEXPLAINED,   TS_BUCKET_MEMORY_WAIT,
					    TS_BUCKET_COMMUNICATION, TS_BUCKET_HOST_TRANSFER };

struct wall {
	int64_t start_ps, end_ps; /* start > end: no device event at all */
	size_t nr_cores;
};

static struct wall find_wall(const struct time_state *sum)
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
	return wall;
}

/* The drawn row of a GPU: the busy intervals of all buckets, which are disjoint now, in time. */
static bool draw_gpu(const struct ts_context *ctx, struct time_device *device)
{
	size_t at[TS_NR_BUCKETS] = { 0 };

	device->slices.budget = ts_overlay_share(ctx, TS_SHARE_TIME, ctx->profile->nr_devices);
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
			return false;
		at[bucket]++;
	}
	return true;
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
	return draw_gpu(ctx, device) ? TS_OK : ts_fail_nomem(err);
}

/* Before the first op and after the last one. */
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
		if (ctx->profile->devices[i].is_gpu)
			st = resolve_gpu(ctx, i, &sum->devices[i], wall, err);
		else
			resolve_core(ctx, i, &sum->devices[i], wall);
	}
	return st;
}

/* The totals over all cores. Without a device event everything is unknown. */
static void sum_up(const struct time_state *sum, struct wall wall, struct ts_time_facts *facts)
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
static bool list_ops(const struct time_state *sum, struct ts_arena *arena,
		     struct ts_time_facts *facts)
{
	struct ts_time_op *ops;

	if (!sum->ops.items)
		return true;
	ops = ts_arena_array(arena, sum->ops.nr + 1, sizeof(*ops));
	for (size_t i = 0; ops && i < sum->ops.nr; i++) {
		ops[i] = sum->ops.items[i];
		for (int part = 0; part < TS_SPLIT_REST; part++)
			facts->need_ps[part] =
				ts_i64_add(facts->need_ps[part], ops[i].need_ps[part]);
	}
	facts->ops = ops;
	return ops != NULL;
}

static bool list_cores(const struct time_state *sum, struct ts_arena *arena,
		       struct ts_time_facts *facts)
{
	struct ts_time_core *cores = ts_arena_array(arena, facts->nr_cores + 1, sizeof(*cores));
	size_t nr = 0;

	for (uint32_t i = 0; i < sum->nr_devices && cores; i++) {
		if (!sum->devices[i].seen)
			continue;
		cores[nr].device = i;
		memcpy(cores[nr++].ps, sum->devices[i].total_ps, sizeof(cores->ps));
	}
	facts->cores = cores;
	return cores != NULL;
}

static void add_step(struct ts_time_step *sum, const struct ts_step *step,
		     const int64_t ps[TS_NR_BUCKETS])
{
	if (sum->cores == 0)
		*sum = (struct ts_time_step){ .number = step->number, .start_ps = step->start_ps };
	sum->cores++;
	sum->start_ps = TS_MIN(sum->start_ps, step->start_ps);
	sum->total_ps = ts_i64_add(sum->total_ps, step->end_ps - step->start_ps);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		sum->ps[b] = ts_i64_add(sum->ps[b], ps[b]);
}

/* Steps by row of the outline first; then those that ran, side by side, for the facts. */
static enum ts_status list_steps(const struct time_state *sum, const struct ts_context *ctx,
				 struct ts_arena *arena, struct ts_time_facts *facts,
				 struct ts_error *err)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	struct ts_time_step *rows = calloc(steps->nr_steps + 1, sizeof(*rows)), *ran;
	enum ts_status st;

	if (!rows)
		return ts_fail_nomem(err);
	for (size_t d = 0; d < sum->nr_devices; d++)
		for (size_t i = 0; sum->devices[d].seen && i < sum->devices[d].nr_steps; i++)
			add_step(&rows[steps->devices[d].items[i].row], &steps->devices[d].items[i],
				 sum->devices[d].step_ps[i]);
	for (size_t i = 0; i < steps->nr_steps; i++)
		facts->nr_steps += rows[i].cores > 0;
	ran = ts_arena_array(arena, facts->nr_steps + 1, sizeof(*ran));
	for (size_t i = 0, nr = 0; i < steps->nr_steps && ran; i++)
		if (rows[i].cores > 0)
			ran[nr++] = rows[i];
	facts->steps = ran;
	st = ran ? ts_time_outliers(sum, ctx, rows, arena, facts, err) : ts_fail_nomem(err);
	free(rows);
	return st;
}

static int longest_first(const void *a, const void *b)
{
	const struct ts_time_gap *x = a, *y = b;

	if (x->dur_ps != y->dur_ps)
		return x->dur_ps > y->dur_ps ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static bool list_gaps(const struct time_state *sum, struct ts_arena *arena,
		      struct ts_time_facts *facts)
{
	struct ts_time_gap *gaps = calloc(sum->nr_devices * TIME_GAPS + 1, sizeof(*gaps)), *listed;
	size_t nr = 0;

	if (!gaps)
		return false;
	for (uint32_t i = 0; i < sum->nr_devices; i++)
		for (size_t g = 0; g < sum->devices[i].nr_gaps; g++)
			if (sum->devices[i].gaps[g].dur_ps > 0)
				gaps[nr++] =
					(struct ts_time_gap){ i, sum->devices[i].gaps[g].start_ps,
							      sum->devices[i].gaps[g].dur_ps,
							      sum->devices[i].gaps[g].cause };
	qsort(gaps, nr, sizeof(*gaps), longest_first);
	facts->nr_gaps = TS_MIN(nr, LISTED_GAPS);
	listed = ts_arena_array(arena, facts->nr_gaps + 1, sizeof(*listed));
	if (listed)
		memcpy(listed, gaps, facts->nr_gaps * sizeof(*listed));
	facts->gaps = listed;
	free(gaps);
	return listed != NULL;
}

enum ts_status ts_time_make_facts(struct time_state *sum, const struct ts_context *ctx,
				  struct ts_arena *arena, struct ts_time_facts *facts,
				  struct ts_error *err)
{
	struct wall wall = find_wall(sum);
	enum ts_status st;

	TS_ASSERT(facts && sum->nr_devices <= ctx->outline->steps.nr_devices);
	st = resolve(sum, ctx, wall, err);

	sum_up(sum, wall, facts);
	if (st || ctx->profile->nr_hosts == 0) /* modules alone: there was no time */
		return st;
	if (!list_ops(sum, arena, facts) || !list_cores(sum, arena, facts) ||
	    !list_gaps(sum, arena, facts))
		return ts_fail_nomem(err);
	return list_steps(sum, ctx, arena, facts, err);
}
