/* SPDX-License-Identifier: MIT */
/*
 * Rates over time: the counters beside each device. FLOPs against the peak (matrix-unit
 * utilization, as modelled as the systolic view), bytes of each memory a second, and which share of
 * HBM's bytes is padding. Each op's work is spread evenly over its time, in at most TS_BINS bins a
 * device; that of an asynchronous copy, of both its halves, from its start to the end of the wait for
 * it, below the peaks where there is room. Its table and its facts say how long those were under way. A copy that the program before makes has
 * no time of its own, and is in no counter.
 */
#include "analysis/analysis.h"
#include "analysis/facts/rates.h"
#include "analysis/kit/cells.h"
#include "base/record.h"
#include "model/cost.h"
#include "model/op_kind.h"
#include "model/traffic.h"
#include "result/impossible.h"
#include "result/schema/rates.def"

#define FIRST_BIN_PS 1000000 /* 1 us; doubled as the run goes on */

/* In the order in which they are drawn. HBM also has the bytes of which the way is unknown. */
enum quantity {
	FLOPS,
	HBM,
	PADDING,
	HBM_READ,
	HBM_WRITTEN,
	VMEM,
	HOST_READ,
	HOST_WRITTEN,
	NR_QUANTITIES
};

static const struct {
	const char *name, *unit, *description;
	const char *capped; /* its name where some of it was above the peak; NULL: it has none */
	const char *axis;   /* of a track */
} counters[] = {
	[FLOPS] = { "MXU utilization (%)", "%",
		    "FLOPs of matrix ops in each moment, of what the matrix units can do",
		    "MXU utilization, cut at the peak (%)" },
	[HBM] = { "HBM bandwidth (GB/s)", "GB/s",
		  "bytes that ops read from and write to HBM, spread over their time",
		  "HBM bandwidth, cut at the peak (GB/s)" },
	[PADDING] = { "Padding waste (%)", "%", "part of those bytes that is padding of tiles" },
	[HBM_READ] = { "HBM read (GB/s)", "GB/s", "bytes that ops read from HBM",
		       "HBM read, cut at the peak (GB/s)" },
	[HBM_WRITTEN] = { "HBM write (GB/s)", "GB/s", "bytes that ops write to HBM",
			  "HBM write, cut at the peak (GB/s)" },
	[VMEM] = { "VMEM bandwidth (GB/s)", "GB/s",
		   "bytes that ops read from and write to vector memory",
		   "VMEM bandwidth, cut at the peak (GB/s)", "VMEM" },
	[HOST_READ] = { "Host link in (GB/s)", "GB/s", "bytes that come from the host's memory",
			"Host link in, cut at the peak (GB/s)", "host link" },
	[HOST_WRITTEN] = { "Host link out (GB/s)", "GB/s", "bytes that go to the host's memory",
			   "Host link out, cut at the peak (GB/s)", "host link" },
};

struct op_work {
	uint32_t partner; /* of an asynchronous pair; TS_NONE */
	bool is_start;
	bool is_early; /* the copy was made before the program began: when is unknown */
	bool counts;   /* it has amounts */
	bool known;    /* worked out: an op is when it is first met */
};

/* From the start of an asynchronous op to the end of the wait for it. */
struct flight {
	bool is_open;
	int64_t started_ps, span_ps, nr;
};

struct device_rates {
	bool used;
	struct ts_bins bins[NR_QUANTITIES];
};

struct rates_state {
	/* of a line */
	uint32_t device_index;
	struct op_work *work;		  /* of each op */
	double (*amounts)[NR_QUANTITIES]; /* likewise, with .own */
	double peak[NR_QUANTITIES];
	struct device_rates *own; /* NULL: no tracks are wanted */
	/* of the sum: what the lines gave, by device */
	struct device_rates **devices;
	size_t nr_devices;
	/* of both */
	struct flight *flights; /* of each op that is a start */
	size_t nr_ops;
};

#define TS_SELF struct flight
static TS_RECORD_WITH(flight, TS_EMPTY(nr), TS_NUMBER(1, nr, TS_BY_HAND),
		      TS_NUMBER(2, span_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct device_rates
/* All counters keep the same bins. */
static bool rates_is_device(const void *self)
{
	const struct ts_bins *bins = ((const struct device_rates *)self)->bins;

	for (size_t i = 1; i < NR_QUANTITIES; i++)
		if (bins[i].nr != bins[0].nr || bins[i].width_ps != bins[0].width_ps ||
		    bins[i].origin_ps != bins[0].origin_ps)
			return false;
	return true;
}
static TS_RECORD_WITH(device, TS_VALID_IF(rates_is_device), TS_NUMBER(1, used, TS_BY_HAND),
		      TS_STRUCT(2, bins, ts_bins_record));
#undef TS_SELF

#define TS_SELF struct rates_state
static bool rates_is_state(const void *self)
{
	const struct rates_state *state = self;

	return !state->own || state->device_index != TS_NONE;
}
static TS_RECORD_AS(rates_record, state, TS_VALID_IF(rates_is_state),
		    TS_INDEX(1, device_index, TS_BY_DEVICE, TS_BY_HAND),
		    TS_POINTER(2, own, device_record),
		    TS_POINTERS(3, devices, nr_devices, device_record, TS_BY_DEVICE, TS_BY_HAND),
		    TS_RECORDS(4, flights, nr_ops, flight_record, TS_BY_OP, TS_BY_HAND),
		    TS_SCRATCH_ROOM(work), TS_SCRATCH_ROOM(amounts));
#undef TS_SELF

static bool rates_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line);
}

/* Unknown work counts as 0 here: a counter cannot show that it is unknown. */
static double rates_or_zero(double x)
{
	return x > 0 ? x : 0;
}

static double rates_padding_share(const struct ts_profile *profile, const struct ts_op *op)
{
	struct ts_padding padding;

	if (op->instr == TS_NONE)
		return 0;
	padding = ts_hlo_padding(&profile->modules[op->module], op->instr);
	if (padding.allocated_bytes <= padding.logical_bytes)
		return 0;
	return 1 - (double)padding.logical_bytes / (double)padding.allocated_bytes;
}

/* What vector units do is no use of the matrix units: a run without products has no such counter, as the report has no figure
 * of it. A custom call may hold products. */
static double rates_matrix_flops(const struct ts_op *op)
{
	if (op->kind != TS_OP_MATRIX && op->category_id != TS_OPCODE_CUSTOM_CALL)
		return 0;
	return rates_or_zero(ts_op_flops(op));
}

static void rates_add_op(const struct ts_profile *profile, const struct ts_op *op,
			 double amount[NR_QUANTITIES])
{
	struct ts_traffic traffic = ts_op_traffic(profile, op);
	double hbm = (double)ts_traffic_hbm_bytes(&traffic);

	amount[FLOPS] += rates_matrix_flops(op);
	amount[HBM] += hbm;
	amount[PADDING] += hbm > 0 ? hbm * rates_padding_share(profile, op) : 0;
	amount[HBM_READ] += (double)traffic.read_bytes[TS_MEMORY_HBM];
	amount[HBM_WRITTEN] += (double)traffic.written_bytes[TS_MEMORY_HBM];
	amount[VMEM] += (double)traffic.read_bytes[TS_MEMORY_VMEM] +
			(double)traffic.written_bytes[TS_MEMORY_VMEM];
	amount[HOST_READ] += (double)traffic.read_bytes[TS_MEMORY_HOST];
	amount[HOST_WRITTEN] += (double)traffic.written_bytes[TS_MEMORY_HOST];
}

/* The compiler lets the program before this one make the copy: its events say nothing of its time. */
static bool is_prefetched(const struct ts_profile *profile, const struct ts_op *op)
{
	const struct ts_op *start = op->async == TS_ASYNC_DONE ? &profile->ops[op->partner] : op;

	return ts_bytes_has(start->text, "cross_program_prefetch_index");
}

/* A pair's work is that of both halves, and counts with the done. */
static struct op_work rates_work_of(const struct ts_profile *profile, const struct ts_op *op)
{
	struct op_work work = { .partner = op->partner,
				.is_start = op->async == TS_ASYNC_START,
				.known = true };

	if (op->kind == TS_OP_CONTROL || op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP)
		return work; /* the ops inside count */
	work.is_early = work.partner != TS_NONE && is_prefetched(profile, op);
	work.counts = !work.is_early && (work.partner == TS_NONE || !work.is_start);
	return work;
}

static enum ts_status make_flights(struct rates_state *state, const struct ts_context *ctx,
				   struct ts_error *err)
{
	if (state->flights)
		return TS_OK;
	state->nr_ops = ctx->profile->nr_ops;
	state->flights =
		ts_room_array(ctx->profile->rooms, state->nr_ops + 1, sizeof(*state->flights));
	return state->flights ? TS_OK : ts_fail_nomem(err);
}

static double rates_peak_of(const struct ts_rates *chip, enum quantity which)
{
	switch (which) {
	case HBM:
	case HBM_READ:
	case HBM_WRITTEN:  return chip->hbm_bytes_per_s;
	case VMEM:	   return chip->vmem_bytes_per_s;
	case HOST_READ:
	case HOST_WRITTEN: return chip->host_bytes_per_s;
	default:	   return NAN;
	}
}

static enum ts_status rates_open(void *arg, const struct ts_context *ctx,
				 const struct ts_line *line, struct ts_error *err)
{
	struct rates_state *state = arg;
	const struct ts_profile *profile = ctx->profile;
	enum ts_status st = make_flights(state, ctx, err);

	if (st)
		return st;
	state->device_index = profile->planes[line->plane].device;
	state->work = ts_room_array(profile->rooms, profile->nr_ops + 1, sizeof(*state->work));
	if (!state->work)
		return ts_fail_nomem(err);
	if (ctx->overlay_budget == 0)
		return TS_OK;
	for (int i = 0; i < NR_QUANTITIES; i++)
		state->peak[i] = rates_peak_of(&ctx->rates[state->device_index], (enum quantity)i);
	state->own = calloc(1, sizeof(*state->own));
	state->amounts =
		ts_room_array(profile->rooms, profile->nr_ops + 1, sizeof(*state->amounts));
	return state->own && state->amounts ? TS_OK : ts_fail_nomem(err);
}

static const struct op_work *work_at(struct rates_state *state, const struct ts_profile *profile,
				     uint32_t op)
{
	struct op_work *work = &state->work[op];

	if (work->known)
		return work;
	*work = rates_work_of(profile, &profile->ops[op]);
	if (state->own && work->counts)
		rates_add_op(profile, &profile->ops[op], state->amounts[op]);
	if (state->own && work->counts && work->partner != TS_NONE)
		rates_add_op(profile, &profile->ops[work->partner], state->amounts[op]);
	return work;
}

/* All counters keep the same bins. */
static void rates_begin(struct device_rates *own, int64_t start_ps)
{
	if (own->used)
		return;
	for (size_t i = 0; i < NR_QUANTITIES; i++)
		ts_bins_init(&own->bins[i], start_ps, FIRST_BIN_PS);
	own->used = true;
}

/* START_PS of a done that began before the capture: its own. */
static int64_t land(struct flight *flight, int64_t start_ps, int64_t end_ps)
{
	if (flight->is_open)
		start_ps = flight->started_ps;
	flight->is_open = false;
	flight->nr++;
	flight->span_ps = ts_i64_add(flight->span_ps, ts_i64_sub(end_ps, start_ps));
	return start_ps;
}

/* What goes on beside other ops is not even: it waits for them, and for copies before it. */
static void rates_add_work(const struct rates_state *state, uint32_t op, int64_t start_ps,
			   int64_t end_ps)
{
	struct ts_bins *bins = state->own->bins;
	const double *amount = state->amounts[op];

	if (state->work[op].partner == TS_NONE)
		ts_bins_add_each(bins, NR_QUANTITIES, start_ps, end_ps, amount);
	else
		ts_bins_add_below(bins, NR_QUANTITIES, start_ps, end_ps, amount, state->peak);
}

static enum ts_status rates_block(void *arg, const struct ts_context *ctx,
				  const struct ts_block *block, struct ts_error *err)
{
	struct rates_state *state = arg;

	for (size_t i = 0; i < block->nr_events; i++) {
		const struct op_work *work = work_at(state, ctx->profile, block->op[i]);
		int64_t start_ps = block->start_ps[i];
		int64_t end_ps = ts_i64_add(start_ps, block->dur_ps[i]);

		if (state->own)
			rates_begin(state->own, start_ps);
		if (work->is_early)
			continue;
		if (work->partner != TS_NONE && work->is_start) {
			state->flights[block->op[i]].started_ps = start_ps;
			state->flights[block->op[i]].is_open = true;
			continue;
		}
		if (work->partner != TS_NONE)
			start_ps = land(&state->flights[work->partner], start_ps, end_ps);
		if (state->own)
			rates_add_work(state, block->op[i], start_ps, end_ps);
	}
	return TS_OK;
}

static void add_bins(struct device_rates *into, const struct device_rates *from)
{
	const struct ts_bins *first = &from->bins[0];
	double amount[NR_QUANTITIES];

	for (size_t i = 0; i < first->nr; i++) {
		int64_t at = ts_i64_add(first->origin_ps, ts_i64_mul((int64_t)i, first->width_ps));

		for (size_t k = 0; k < NR_QUANTITIES; k++)
			amount[k] = from->bins[k].amount[i];
		ts_bins_add_each(into->bins, NR_QUANTITIES, at, ts_i64_add(at, first->width_ps),
				 amount);
	}
}

static enum ts_status rates_make_devices(struct rates_state *sum, const struct ts_context *ctx,
					 struct ts_error *err)
{
	if (sum->devices)
		return TS_OK;
	sum->nr_devices = ctx->profile->nr_devices;
	sum->devices = calloc(sum->nr_devices + 1, sizeof(struct device_rates *));
	return sum->devices ? TS_OK : ts_fail_nomem(err);
}

static void merge_flights(struct rates_state *sum, const struct rates_state *line)
{
	for (size_t i = 0; i < line->nr_ops; i++) {
		struct flight *into = &sum->flights[i];
		const struct flight *from = &line->flights[i];

		if (from->nr == 0)
			continue;
		into->nr = ts_i64_add(into->nr, from->nr);
		into->span_ps = ts_i64_add(into->span_ps, from->span_ps);
	}
}

static enum ts_status rates_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct rates_state *sum = arg_into, *line = arg_from;
	enum ts_status st = make_flights(sum, ctx, err);
	struct device_rates **into;

	if (st == TS_OK)
		st = rates_make_devices(sum, ctx, err);
	if (st)
		return st;
	merge_flights(sum, line);
	if (!line->own || !line->own->used)
		return TS_OK;
	into = &sum->devices[line->device_index];
	if (!*into) {
		*into = line->own;
		line->own = NULL;
		return TS_OK;
	}
	add_bins(*into, line->own);
	return TS_OK;
}

static bool any(const struct ts_bins *bins)
{
	for (size_t i = 0; i < bins->nr; i++)
		if (bins->amount[i] > 0)
			return true;
	return false;
}

/* What is above the peak cannot be true, and is not drawn: the track ends there and says so in its name,
 * and in its description how often. */
static enum ts_status rates_cut(struct ts_result *result, struct ts_track *track,
				enum quantity which, double peak, struct ts_error *err)
{
	struct ts_bytes about;
	size_t nr_cut = 0;

	for (size_t i = 0; i < track->nr_points; i++) {
		struct ts_point *point = &track->points[i];

		nr_cut += ts_is_impossible(point->value, peak);
		if (point->value > peak)
			point->value = peak;
	}
	if (nr_cut == 0)
		return TS_OK;
	about = ts_result_text(
		result,
		"%s; %zu of %zu points are above the peak of %.6g %s, which no chip can do: "
		"they are drawn at the peak",
		track->description, nr_cut, track->nr_points, peak, track->unit);
	track->name = counters[which].capped;
	track->description = (const char *)about.p;
	return about.p ? TS_OK : ts_fail_nomem(err);
}

/* PEAK in the unit of the counter; NaN: there is none. */
static enum ts_status rates_put_counter(struct ts_result *result, enum quantity which,
					uint32_t device, const struct ts_bins *bins, double scale,
					double peak, struct ts_error *err)
{
	struct ts_track *track =
		ts_result_track(result, TS_TRACK_COUNTER, counters[which].name, device, (int)which);

	if (!track)
		return ts_fail_nomem(err);
	track->unit = counters[which].unit;
	track->description = counters[which].description;
	track->axis = counters[which].axis;
	if (!ts_bins_finish(bins, result, track, scale))
		return ts_fail_nomem(err);
	return rates_cut(result, track, which, peak, err);
}

/* Padding as a share of the bytes moved, bin by bin: the two keep the same bins. */
static enum ts_status rates_put_padding(struct ts_result *result, uint32_t device,
					const struct device_rates *rates, struct ts_error *err)
{
	struct ts_bins share = rates->bins[PADDING];
	const struct ts_bins *hbm = &rates->bins[HBM];

	for (size_t i = 0; i < share.nr; i++)
		share.amount[i] = hbm->amount[i] > 0 ? share.amount[i] / hbm->amount[i] : 0;
	return rates_put_counter(result, PADDING, device, &share,
				 100 * (double)share.width_ps * 1e-12, NAN, err);
}

static enum ts_status rates_put_device(struct ts_result *result, uint32_t device,
				       const struct ts_rates *chip,
				       const struct device_rates *rates, struct ts_error *err)
{
	double peak = chip->peak_flops_per_s;
	enum ts_status st = TS_OK;

	if (isfinite(peak) && any(&rates->bins[FLOPS]))
		st = rates_put_counter(result, FLOPS, device, &rates->bins[FLOPS], 100 / peak, 100,
				       err);
	for (int i = HBM; st == TS_OK && i < NR_QUANTITIES; i++) {
		if (!any(&rates->bins[i == PADDING ? HBM : i]))
			continue;
		if (i == PADDING)
			st = rates_put_padding(result, device, rates, err);
		else
			st = rates_put_counter(result, (enum quantity)i, device, &rates->bins[i],
					       1e-9, 1e-9 * rates_peak_of(chip, (enum quantity)i),
					       err);
	}
	return st;
}

/* The copies that were under way, for those who ask how fast they were. */
static enum ts_status list_flights(const struct rates_state *sum, struct ts_arena *arena,
				   struct ts_rates_facts *facts, struct ts_error *err)
{
	struct ts_flight *flights;
	size_t nr = 0;

	for (size_t i = 0; i < sum->nr_ops; i++)
		nr += sum->flights[i].nr > 0;
	flights = ts_arena_array(arena, nr + 1, sizeof(*flights));
	if (!flights)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < sum->nr_ops; i++)
		if (sum->flights[i].nr > 0)
			flights[facts->nr_flights++] =
				(struct ts_flight){ i, sum->flights[i].nr,
						    sum->flights[i].span_ps };
	facts->flights = flights;
	return TS_OK;
}

#define FLIGHT_CELLS(X) \
	X(op, ts_text(op->name)) \
	X(module, ts_text_or_null(ts_module_name(ctx->profile, op->module))) \
	X(executions, ts_int(flight->executions)) \
	X(span_ps, ts_int(flight->span_ps)) \
	X(op_index, ts_int(flight->op))

static void put_flights(const struct ts_rates_facts *facts, const struct ts_context *ctx,
			struct ts_result *result)
{
	struct ts_table *table;

	if (facts->nr_flights == 0)
		return;
	table = TS_TABLE(result, rates_async);
	for (size_t i = 0; i < facts->nr_flights; i++) {
		const struct ts_flight *flight = &facts->flights[i];
		const struct ts_op *op = &ctx->profile->ops[flight->op];

		TS_CELLS(result, table, rates_async, FLIGHT_CELLS);
	}
}

static enum ts_status rates_close(void *arg, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	struct rates_state *sum = arg;
	enum ts_status st = list_flights(sum, &result->owner->arena, facts, err);

	if (st)
		return st;
	put_flights(facts, ctx, result);
	for (uint32_t i = 0; i < sum->nr_devices && st == TS_OK; i++)
		if (sum->devices[i])
			st = rates_put_device(result, i, &ctx->rates[i], sum->devices[i], err);
	return st;
}

const struct ts_analysis ts_analysis_rates = {
	.schema = &ts_schema_rates,
	.pass = TS_PASS_FIRST,
	.state = &rates_record,
	.facts_size = sizeof(struct ts_rates_facts),
	.wants = rates_wants,
	.open = rates_open,
	.block = rates_block,
	.merge = rates_merge,
	.close = rates_close,
};
