/*
 * Rates over time: the counters beside each device. FLOPs against the peak (matrix-unit
 * utilization, as modelled as the systolic view), bytes of HBM a second, and which share of those
 * bytes is padding. Each op's work is spread evenly over its time, in at most TS_BINS bins a device;
 * that of an asynchronous copy from its start to the end of the wait for it.
 */
#include "analysis/analysis.h"
#include "model/cost.h"
#include "model/op_kind.h"

#define FIRST_BIN_PS 1000000 /* 1 us; doubled as the run goes on */

struct op_work {
	double flops, hbm_bytes, padding_bytes;
	uint32_t partner; /* of an asynchronous pair; TS_NONE */
	bool is_start;
	bool known; /* worked out: an op is when it is first met */
};

struct device_rates {
	bool used;
	struct ts_bins flops, hbm_bytes, padding_bytes;
};

struct rates_state {
	/* of a line */
	uint32_t device_index;
	struct op_work *work; /* of each op */
	int64_t *started_ps;  /* of each op: when the last -start of it began */
	struct device_rates *own;
	/* of the sum: what the lines gave, by device */
	struct device_rates **devices;
	size_t nr_devices;
};

static bool rates_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->overlay_budget > 0 && ts_line_is_core(ctx->profile, line);
}

/* Unknown work is none here: a counter has no other way to say so. */
static double or_zero(double x)
{
	return x > 0 ? x : 0;
}

static struct op_work work_of(const struct ts_profile *profile, const struct ts_op *op)
{
	struct op_work work = { .partner = op->partner,
				.is_start = op->async == TS_ASYNC_START,
				.known = true };
	struct ts_padding padding;

	if (op->kind == TS_OP_CONTROL || op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP)
		return work; /* the ops inside count */
	work.flops = or_zero(ts_op_flops(op));
	work.hbm_bytes = or_zero(ts_op_hbm_bytes(op));
	if (op->instr == TS_NONE)
		return work;
	padding = ts_hlo_padding(&profile->modules[op->module], op->instr);
	if (padding.allocated_bytes > padding.logical_bytes)
		work.padding_bytes = work.hbm_bytes * (1 - (double)padding.logical_bytes /
								   (double)padding.allocated_bytes);
	return work;
}

static enum ts_status rates_open(void *arg, const struct ts_context *ctx,
				 const struct ts_line *line, struct ts_error *err)
{
	struct rates_state *state = arg;
	const struct ts_profile *profile = ctx->profile;

	state->device_index = profile->planes[line->plane].device;
	state->work = calloc(profile->nr_ops + 1, sizeof(*state->work));
	state->started_ps = calloc(profile->nr_ops + 1, sizeof(*state->started_ps));
	state->own = calloc(1, sizeof(*state->own));
	if (!state->work || !state->started_ps || !state->own)
		return ts_fail_nomem(err);
	return TS_OK;
}

static const struct op_work *work_at(struct rates_state *state, const struct ts_profile *profile,
				     uint32_t op)
{
	if (!state->work[op].known)
		state->work[op] = work_of(profile, &profile->ops[op]);
	return &state->work[op];
}

/* All three counters keep the same bins. */
static void begin(struct device_rates *own, int64_t start_ps)
{
	if (own->used)
		return;
	ts_bins_init(&own->flops, start_ps, FIRST_BIN_PS);
	ts_bins_init(&own->hbm_bytes, start_ps, FIRST_BIN_PS);
	ts_bins_init(&own->padding_bytes, start_ps, FIRST_BIN_PS);
	own->used = true;
}

static void add_work(struct device_rates *own, const struct op_work *work, int64_t start_ps,
		     int64_t end_ps)
{
	if (work->flops > 0)
		ts_bins_add(&own->flops, start_ps, end_ps, work->flops);
	if (work->hbm_bytes > 0) {
		ts_bins_add(&own->hbm_bytes, start_ps, end_ps, work->hbm_bytes);
		ts_bins_add(&own->padding_bytes, start_ps, end_ps, work->padding_bytes);
	}
}

static enum ts_status rates_block(void *arg, const struct ts_context *ctx,
				  const struct ts_block *block, struct ts_error *err)
{
	struct rates_state *state = arg;

	(void)err;
	for (size_t i = 0; i < block->nr_events; i++) {
		const struct op_work *work = work_at(state, ctx->profile, block->op[i]);
		int64_t start_ps = block->start_ps[i];
		int64_t end_ps = ts_i64_add(start_ps, block->dur_ps[i]);

		begin(state->own, start_ps);
		if (work->partner == TS_NONE) {
			add_work(state->own, work, start_ps, end_ps);
		} else if (work->is_start) {
			state->started_ps[block->op[i]] = start_ps;
		} else {
			int64_t *started_ps = &state->started_ps[work->partner];

			/* 0: it began before the capture */
			add_work(state->own, work_at(state, ctx->profile, work->partner),
				 *started_ps ? *started_ps : start_ps, end_ps);
			*started_ps = 0;
		}
	}
	return TS_OK;
}

static void add_bins(struct ts_bins *into, const struct ts_bins *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		int64_t at = ts_i64_add(from->origin_ps, ts_i64_mul((int64_t)i, from->width_ps));

		ts_bins_add(into, at, ts_i64_add(at, from->width_ps), from->amount[i]);
	}
}

static enum ts_status make_devices(struct rates_state *sum, const struct ts_context *ctx,
				   struct ts_error *err)
{
	if (sum->devices)
		return TS_OK;
	sum->nr_devices = ctx->profile->nr_devices;
	sum->devices = calloc(sum->nr_devices + 1, sizeof(struct device_rates *));
	return sum->devices ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status rates_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct rates_state *sum = arg_into, *line = arg_from;
	enum ts_status st = make_devices(sum, ctx, err);
	struct device_rates **into;

	if (st || !line->own->used)
		return st;
	into = &sum->devices[line->device_index];
	if (!*into) {
		*into = line->own;
		line->own = NULL;
		return TS_OK;
	}
	add_bins(&(*into)->flops, &line->own->flops);
	add_bins(&(*into)->hbm_bytes, &line->own->hbm_bytes);
	add_bins(&(*into)->padding_bytes, &line->own->padding_bytes);
	return TS_OK;
}

static void rates_release(void *arg)
{
	struct rates_state *state = arg;

	for (size_t i = 0; i < state->nr_devices && state->devices; i++)
		free(state->devices[i]);
	free(state->devices);
	free(state->own);
	free(state->work);
	free(state->started_ps);
}

/* In the order in which they are drawn. */
enum counter { COUNTER_MXU, COUNTER_HBM, COUNTER_PADDING };
static const struct {
	const char *name, *unit, *description;
} counters[] = {
	[COUNTER_MXU] = { "MXU utilization (%)", "%",
			  "arithmetic done in each moment, of what the matrix units can do" },
	[COUNTER_HBM] = { "HBM bandwidth (GB/s)", "GB/s",
			  "bytes that ops read from and write to HBM, spread over their time" },
	[COUNTER_PADDING] = { "Padding waste (%)", "%",
			      "part of those bytes that is padding of tiles" },
};

static bool put_counter(struct ts_result *result, enum counter which, uint32_t device,
			const struct ts_bins *bins, double scale)
{
	struct ts_track *track = ts_result_track(result, TS_TRACK_COUNTER, counters[which].name,
						 device, (int)which);

	if (!track)
		return false;
	track->unit = counters[which].unit;
	track->description = counters[which].description;
	return ts_bins_finish(bins, result, track, scale);
}

/* Padding as a share of the bytes moved, bin by bin: the two keep the same bins. */
static bool put_padding(struct ts_result *result, uint32_t device, const struct device_rates *rates)
{
	struct ts_bins share = rates->padding_bytes;

	for (size_t i = 0; i < share.nr; i++)
		share.amount[i] = rates->hbm_bytes.amount[i] > 0 ?
					  share.amount[i] / rates->hbm_bytes.amount[i] : 0;
	return put_counter(result, COUNTER_PADDING, device, &share,
			   100 * (double)share.width_ps * 1e-12);
}

static enum ts_status rates_close(void *arg, const struct ts_context *ctx, struct ts_result *result,
				  struct ts_error *err)
{
	struct rates_state *sum = arg;

	for (uint32_t i = 0; i < sum->nr_devices; i++) {
		const struct device_rates *rates = sum->devices[i];
		double peak = ctx->rates[i].peak_flops_per_s;
		bool good = true;

		if (!rates)
			continue;
		if (isfinite(peak) && rates->flops.nr > 0)
			good = put_counter(result, COUNTER_MXU, i, &rates->flops, 100 / peak);
		if (rates->hbm_bytes.nr > 0)
			good = good && put_counter(result, COUNTER_HBM, i, &rates->hbm_bytes, 1e-9) &&
			       put_padding(result, i, rates);
		if (!good)
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

const struct ts_analysis ts_analysis_rates = {
	.name = "rates",
	.title = "Rates over time",
	.pass = 1,
	.state_size = sizeof(struct rates_state),
	.wants = rates_wants,
	.open = rates_open,
	.block = rates_block,
	.merge = rates_merge,
	.close = rates_close,
	.release = rates_release,
};
