/* What the time analysis says: the sum over devices, per step, the gaps, and the drawn row. */
#include "analysis/time/time.h"

#include "base/units.h"

static const enum ts_bucket gpu_order[] = { TS_BUCKET_COMPUTE, TS_BUCKET_REMATERIALIZATION,
					    TS_BUCKET_MEMORY_WAIT, TS_BUCKET_COMMUNICATION,
					    TS_BUCKET_HOST_TRANSFER };

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
			time_spread(ctx, index, device, spans->items[s].start_ps,
				    spans->items[s].end_ps, gpu_order[i]);
		if (gpu_order[i] != TS_BUCKET_HOST_TRANSFER)
			device->on_duty_ps += ts_spans_total(spans);
	}
	for (size_t s = 0; s < busy.nr; s++) {
		time_spread_gap(ctx, index, device, cut_ps, busy.items[s].start_ps);
		cut_ps = busy.items[s].end_ps;
	}
	time_spread_gap(ctx, index, device, cut_ps, wall.end_ps);
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
		time_spread_gap(ctx, index, device, wall.start_ps, wall.end_ps);
		return;
	}
	time_spread_gap(ctx, index, device, wall.start_ps, device->op_first_ps);
	time_spread_gap(ctx, index, device, device->op_last_ps, wall.end_ps);
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

static const char *const bucket_fields[TS_NR_BUCKETS] = {
	"buckets.compute_ps",
	"buckets.memory_wait_ps",
	"buckets.communication_ps",
	"buckets.host_transfer_ps",
	"buckets.rematerialization_ps",
	"buckets.compilation_ps",
	"buckets.input_ps",
	"buckets.idle_ps",
};

static const char *const bottlenecks[TS_NR_BUCKETS] = {
	[TS_BUCKET_COMPUTE] = "Your workload is compute-bound (good for TPU!)",
	[TS_BUCKET_MEMORY_WAIT] = "Your workload is memory-bound (it waits for HBM)",
	[TS_BUCKET_COMMUNICATION] =
		"Your workload is communication-bound (collectives are exposed)",
	[TS_BUCKET_HOST_TRANSFER] = "Your workload waits for copies to and from the host",
	[TS_BUCKET_REMATERIALIZATION] = "Your workload spends its time on recomputation",
	[TS_BUCKET_COMPILATION] = "Your workload waits for the compiler",
	[TS_BUCKET_INPUT] = "Your workload is input-bound (devices wait for data)",
	[TS_BUCKET_IDLE] = "Your devices are mostly idle (the host does not feed them)",
};

static const char *const gpu_compute = "Your workload is compute-bound (good!)";

static void put_totals(const struct time_state *sum, const struct ts_context *ctx, struct wall wall,
		       struct ts_result *result)
{
	int64_t total[TS_NR_BUCKETS] = { 0 }, on_duty_ps = 0, span_ps = 0;
	int64_t wall_ps = wall.nr_cores ? wall.end_ps - wall.start_ps : 0;
	enum ts_bucket most = TS_BUCKET_COMPUTE;
	bool gpu = ctx->profile->nr_devices > 0 && ctx->profile->devices[0].is_gpu;

	for (size_t i = 0; i < sum->nr_devices; i++) {
		const struct time_device *device = &sum->devices[i];

		for (int b = 0; b < TS_NR_BUCKETS; b++)
			total[b] = ts_i64_add(total[b], device->total_ps[b]);
		on_duty_ps = ts_i64_add(on_duty_ps, device->on_duty_ps);
		if (device->seen)
			span_ps = ts_i64_add(span_ps, device->last_ps - device->first_ps);
	}
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		most = total[b] > total[most] ? (enum ts_bucket)b : most;
	ts_result_field(result, "total_ps",
			wall.nr_cores ? ts_int(ts_i64_mul(wall_ps, (int64_t)wall.nr_cores))
				      : ts_null(),
			TS_MEASURED, NULL);
	ts_result_field(result, "wall_ps", wall.nr_cores ? ts_int(wall_ps) : ts_null(), TS_MEASURED,
			"wall time");
	ts_result_field(result, "wall_start_ps", wall.nr_cores ? ts_int(wall.start_ps) : ts_null(),
			TS_MEASURED, NULL);
	ts_result_field(result, "cores", ts_int((int64_t)wall.nr_cores), TS_MEASURED, "cores");
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		ts_result_field(result, bucket_fields[b],
				wall.nr_cores ? ts_int(total[b]) : ts_null(), TS_MEASURED, NULL);
	ts_result_field(result, "bottleneck",
			!wall.nr_cores ? ts_null()
				       : ts_text(ts_bytes_of(gpu && most == TS_BUCKET_COMPUTE
								     ? gpu_compute
								     : bottlenecks[most])),
			TS_DERIVED, NULL);
	ts_result_field(result, "duty_cycle_pct",
			span_ps > 0 ? ts_share_pct((double)on_duty_ps / (double)span_ps)
				    : ts_null(),
			TS_MEASURED, "duty cycle");
	ts_result_field(result, "compilation_count", ts_int(ctx->outline->nr_compiles), TS_MEASURED,
			"host compilations");
	ts_result_field(result, "compilation_host_ps", ts_int(ctx->outline->compile_ps),
			TS_MEASURED, "host time in compilations");
}

/* Of steps, cores and hosts alike; in the order of enum ts_bucket. */
#define BUCKET_COLUMNS                                                \
	{ "compute_ps", TS_MEASURED, "compute" },                     \
		{ "memory_wait_ps", TS_MEASURED, "memory wait" },     \
		{ "communication_ps", TS_MEASURED, "communication" }, \
		{ "host_transfer_ps", TS_MEASURED, "host transfer" }, \
		{ "rematerialization_ps", TS_MEASURED, "remat" },     \
		{ "compilation_ps", TS_MEASURED, "compilation" },     \
		{ "input_ps", TS_MEASURED, "input" }, { "idle_ps", TS_MEASURED, "idle" }

static const struct ts_column step_columns[] = {
	{ "step", TS_MEASURED, "step" },
	{ "start_ps", TS_MEASURED, "start" },
	{ "duration_ps", TS_MEASURED, "duration" },
	{ "cores", TS_MEASURED, NULL },
	{ "total_ps", TS_MEASURED, NULL },
	BUCKET_COLUMNS,
};
#define FIRST_BUCKET_COLUMN 5

static void add_step(struct time_step *sum, const struct ts_step *step,
		     const int64_t ps[TS_NR_BUCKETS])
{
	if (sum->cores == 0)
		*sum = (struct time_step){ .number = step->number, .start_ps = step->start_ps };
	sum->cores++;
	sum->start_ps = TS_MIN(sum->start_ps, step->start_ps);
	sum->total_ps = ts_i64_add(sum->total_ps, step->end_ps - step->start_ps);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		sum->ps[b] = ts_i64_add(sum->ps[b], ps[b]);
}

static void put_step(const struct time_step *sum, struct ts_value *row)
{
	row[0] = ts_int((int64_t)sum->number);
	row[1] = ts_int(sum->start_ps);
	row[2] = ts_int(sum->total_ps / sum->cores);
	row[3] = ts_int(sum->cores);
	row[4] = ts_int(sum->total_ps);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		row[FIRST_BUCKET_COLUMN + b] = ts_int(sum->ps[b]);
}

static enum ts_status put_steps(const struct time_state *sum, const struct ts_context *ctx,
				struct ts_result *result, struct ts_error *err)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	struct ts_table *table =
		ts_result_table(result, "per_step", "Steps", step_columns, TS_NELEM(step_columns));
	struct time_step *sums = calloc(steps->nr_steps + 1, sizeof(*sums));
	enum ts_status st;

	if (!sums)
		return ts_fail_nomem(err);
	for (size_t d = 0; d < sum->nr_devices; d++)
		for (size_t i = 0; sum->devices[d].seen && i < sum->devices[d].nr_steps; i++)
			add_step(&sums[steps->devices[d].items[i].row], &steps->devices[d].items[i],
				 sum->devices[d].step_ps[i]);
	for (size_t i = 0; i < steps->nr_steps; i++) {
		struct ts_value *row = sums[i].cores > 0 ? ts_table_row(result, table) : NULL;

		if (row)
			put_step(&sums[i], row);
	}
	st = time_outliers(sum, ctx, sums, result, err);
	free(sums);
	if (st)
		return st;
	if (steps->source == TS_STEPS_INFERRED)
		ts_result_note(result,
			       "%zu steps, inferred from the executions of %s: the profile has no "
			       "step markers",
			       steps->nr_steps, steps->made_of);
	if (steps->source == TS_STEPS_NONE)
		ts_result_note(result,
			       "no steps: neither markers nor modules that repeat in a pattern");
	return TS_OK;
}

static const struct ts_column core_columns[] = {
	{ "device", TS_MEASURED, "device" },
	{ "device_id", TS_DERIVED, NULL },
	{ "total_ps", TS_MEASURED, NULL },
	{ "duty_cycle_pct", TS_MEASURED, "duty cycle" },
	BUCKET_COLUMNS,
	{ "host", TS_MEASURED, NULL },
};
#define FIRST_CORE_BUCKET 4
#define CORE_HOST	  12

static void put_core(const struct time_device *device, uint32_t index, const struct ts_context *ctx,
		     struct wall wall, struct ts_value *row)
{
	const struct ts_device *of = &ctx->profile->devices[index];
	int64_t span_ps = device->last_ps - device->first_ps;

	row[0] = ts_text(of->name);
	row[1] = ts_int(index);
	row[2] = ts_int(wall.end_ps - wall.start_ps);
	row[3] = ts_share_pct((double)device->on_duty_ps / (double)span_ps);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		row[FIRST_CORE_BUCKET + b] = ts_int(device->total_ps[b]);
	row[CORE_HOST] = ts_text_or_null(ctx->profile->hosts[of->host].name);
}

static bool put_cores(const struct time_state *sum, const struct ts_context *ctx, struct wall wall,
		      struct ts_result *result)
{
	struct ts_table *table =
		ts_result_table(result, "per_core", "Cores", core_columns, TS_NELEM(core_columns));

	for (uint32_t i = 0; i < sum->nr_devices; i++) {
		struct ts_value *row = sum->devices[i].seen ? ts_table_row(result, table) : NULL;

		if (sum->devices[i].seen && !row)
			return false;
		if (row)
			put_core(&sum->devices[i], i, ctx, wall, row);
	}
	return table != NULL;
}

static const struct ts_column host_columns[] = {
	{ "host", TS_MEASURED, "host" },
	{ "cores", TS_MEASURED, "cores" },
	{ "total_ps", TS_MEASURED, "core time" },
	BUCKET_COLUMNS,
};
#define FIRST_HOST_BUCKET 3

/* The sum over the cores of one host; .cores 0: it has none. */
struct host_sum {
	int64_t cores, ps[TS_NR_BUCKETS];
};

static struct host_sum sum_of_host(const struct time_state *sum, const struct ts_context *ctx,
				   uint32_t host)
{
	struct host_sum of = { .cores = 0 };

	for (uint32_t i = 0; i < sum->nr_devices; i++) {
		if (!sum->devices[i].seen || ctx->profile->devices[i].host != host)
			continue;
		of.cores++;
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			of.ps[b] = ts_i64_add(of.ps[b], sum->devices[i].total_ps[b]);
	}
	return of;
}

/* Of one host it says what the whole says: the text has it for several only. */
static bool put_hosts(const struct time_state *sum, const struct ts_context *ctx, struct wall wall,
		      struct ts_result *result)
{
	const struct ts_profile *profile = ctx->profile;
	struct ts_table *table =
		ts_result_table(result, "per_host", profile->nr_hosts > 1 ? "Hosts" : NULL,
				host_columns, TS_NELEM(host_columns));

	for (uint32_t i = 0; table && i < profile->nr_hosts; i++) {
		struct host_sum of = sum_of_host(sum, ctx, i);
		struct ts_value *row = of.cores ? ts_table_row(result, table) : NULL;

		if (of.cores && !row)
			return false;
		if (!row)
			continue;
		row[0] = ts_text_or_null(profile->hosts[i].name);
		row[1] = ts_int(of.cores);
		row[2] = ts_int(ts_i64_mul(wall.end_ps - wall.start_ps, of.cores));
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			row[FIRST_HOST_BUCKET + b] = ts_int(of.ps[b]);
	}
	return table != NULL;
}

static const struct ts_column gap_columns[] = {
	{ "device", TS_MEASURED, "device" },
	{ "start_ps", TS_MEASURED, "start" },
	{ "duration_ps", TS_MEASURED, "duration" },
	{ "cause", TS_MEASURED, "under" },
	{ "device_id", TS_DERIVED, NULL },
	{ "host_event", TS_MEASURED, "host was in" }, /* these by the analysis gaps */
	{ "host_thread", TS_MEASURED, NULL },
	{ "ended_by", TS_MEASURED, "ended by" },
};
#define LISTED_GAPS 256 /* of all devices */

struct named_gap {
	const struct time_gap *gap;
	uint32_t device;
};

static int longest_first(const void *a, const void *b)
{
	const struct named_gap *x = a, *y = b;

	if (x->gap->dur_ps != y->gap->dur_ps)
		return x->gap->dur_ps > y->gap->dur_ps ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->gap->start_ps > y->gap->start_ps) - (x->gap->start_ps < y->gap->start_ps);
}

static enum ts_status put_gaps(const struct time_state *sum, const struct ts_context *ctx,
			       struct ts_result *result, struct ts_error *err)
{
	struct named_gap *gaps = calloc(sum->nr_devices * TIME_GAPS + 1, sizeof(*gaps));
	struct ts_table *table = ts_result_table(result, "idle_gaps", "Longest gaps", gap_columns,
						 TS_NELEM(gap_columns));
	size_t nr = 0;

	if (!gaps || !table) {
		free(gaps);
		return ts_fail_nomem(err);
	}
	for (uint32_t i = 0; i < sum->nr_devices; i++)
		for (size_t g = 0; g < sum->devices[i].nr_gaps; g++)
			gaps[nr++] = (struct named_gap){ &sum->devices[i].gaps[g], i };
	qsort(gaps, nr, sizeof(*gaps), longest_first);
	for (size_t i = 0; i < TS_MIN(nr, LISTED_GAPS); i++) {
		struct ts_value *row = gaps[i].gap->dur_ps > 0 ? ts_table_row(result, table) : NULL;

		if (!row)
			break;
		row[0] = ts_text(ctx->profile->devices[gaps[i].device].name);
		row[1] = ts_int(gaps[i].gap->start_ps);
		row[2] = ts_int(gaps[i].gap->dur_ps);
		row[3] = ts_text(ts_bytes_of(ts_bucket_name(gaps[i].gap->cause)));
		row[4] = ts_int(gaps[i].device);
	}
	free(gaps);
	return TS_OK;
}

static const char *const explained[TS_NR_BUCKETS] = {
	[TS_BUCKET_COMPUTE] = "ops bound by arithmetic",
	[TS_BUCKET_MEMORY_WAIT] =
		"copies, waits for copies, data formatting, and ops bound by memory",
	[TS_BUCKET_COMMUNICATION] = "collectives that nothing hides",
	[TS_BUCKET_HOST_TRANSFER] = "infeed, outfeed, host send/recv and copies of host memory",
	[TS_BUCKET_REMATERIALIZATION] = "ops that are computed a second time to save memory",
	[TS_BUCKET_COMPILATION] = "no op ran while a host thread was compiling",
	[TS_BUCKET_INPUT] = "no op ran while a host thread prepared or sent input",
	[TS_BUCKET_IDLE] = "no op ran",
};

static bool put_track(struct time_device *device, uint32_t index, struct ts_result *result)
{
	struct ts_label *labels =
		ts_arena_array(&result->owner->arena, TS_NR_BUCKETS, sizeof(*labels));
	struct ts_arg *args = ts_arena_array(&result->owner->arena, TS_NR_BUCKETS, sizeof(*args));
	struct ts_track *track;

	if (device->slices.nr == 0)
		return true;
	track = ts_result_track(result, TS_TRACK_SLICES, "Time classes", index, 0);
	if (!track || !labels || !args)
		return false;
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		args[b] = (struct ts_arg){ "what", ts_bytes_of(explained[b]) };
		labels[b] = (struct ts_label){ ts_bytes_of(ts_bucket_title((enum ts_bucket)b)),
					       &args[b], 1 };
	}
	track->labels = labels;
	track->nr_labels = TS_NR_BUCKETS;
	track->description = "where each moment of this core went";
	return ts_slices_finish(&device->slices, result, track);
}

static void note_coarsening(const struct time_state *sum, const struct ts_context *ctx,
			    struct ts_result *result)
{
	int64_t closed_ps = 0;
	char text[TS_UNIT_MAX];

	for (size_t i = 0; i < ctx->outline->nr_hosts; i++)
		closed_ps =
			ts_i64_add(closed_ps, ts_i64_add(ctx->outline->hosts[i].compile.closed_ps,
							 ctx->outline->hosts[i].input.closed_ps));
	for (size_t i = 0; i < sum->nr_devices; i++)
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			closed_ps = ts_i64_add(closed_ps, sum->devices[i].gpu[b].closed_ps);
	if (closed_ps > 0)
		ts_result_note(result,
			       "to bound memory, gaps of %s in all between short host or stream "
			       "intervals were counted as busy",
			       ts_fmt_ps(text, closed_ps));
}

enum ts_status time_report(struct time_state *sum, const struct ts_context *ctx,
			   struct ts_result *result, struct ts_error *err)
{
	struct wall wall = find_wall(sum);
	enum ts_status st = resolve(sum, ctx, wall, err);

	if (st || ctx->profile->nr_hosts == 0) /* modules alone: there was no time */
		return st;
	put_totals(sum, ctx, wall, result);
	if (!put_cores(sum, ctx, wall, result) || !put_hosts(sum, ctx, wall, result))
		return ts_fail_nomem(err);
	st = put_steps(sum, ctx, result, err);
	if (st == TS_OK)
		st = put_gaps(sum, ctx, result, err);
	if (st)
		return st;
	note_coarsening(sum, ctx, result);
	for (uint32_t i = 0; i < sum->nr_devices; i++)
		if (!put_track(&sum->devices[i], i, result))
			return ts_fail_nomem(err);
	return TS_OK;
}
