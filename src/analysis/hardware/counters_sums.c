/* SPDX-License-Identifier: MIT */
/* Sums over devices: counters by op, measured beside modelled, and what throttling cost. */
#include "analysis/hardware/counters.h"

#include <math.h>

#include "base/order.h"
#include "base/units.h"

/* --- by op */

TS_ORDER(by_counter, struct counters_by_op, TS_UP(op) TS_UP(counter))
TS_ORDER(longest_first, struct counters_by_op, TS_DOWN(op_ps) TS_UP(op) TS_UP(counter))

static uint64_t series_key(uint32_t device, uint32_t op)
{
	return (uint64_t)device << 32 | op;
}

static bool index_series(const struct ts_samples_facts *samples, struct ts_map *index_of)
{
	for (size_t i = 0; i < samples->nr_series; i++)
		if (!ts_map_set(index_of,
				series_key(samples->series[i].device, samples->series[i].op),
				(uint32_t)i))
			return false;
	return true;
}

static struct counters_by_op by_op_of(const struct ts_context *ctx, const struct ts_map *index_of,
				      const struct counters_row *row)
{
	uint32_t at = ts_map_find(index_of, series_key(row->device, row->counter));
	const struct ts_series *series = at == TS_NONE ? NULL : &ts_samples_facts(ctx)->series[at];

	return (struct counters_by_op){
		.op = row->op,
		.counter = row->counter,
		.ps = row->ps,
		.amount = row->amount,
		.unit = series ? series->unit : "",
		.is_total = series && series->is_total,
		.clock_hz = ctx->rates[row->device].clock_hz,
	};
}

/* Those of one op and counter become one; then each knows the most of its op. */
static size_t join(struct counters_by_op *items, size_t nr)
{
	size_t nr_joined = 0, first = 0;

	for (size_t i = 0; i < nr; i++) {
		struct counters_by_op *last = nr_joined > 0 ? &items[nr_joined - 1] : NULL;

		if (last && last->op == items[i].op && last->counter == items[i].counter) {
			last->ps = ts_i64_add(last->ps, items[i].ps);
			last->amount += items[i].amount;
			continue;
		}
		items[nr_joined++] = items[i];
	}
	for (size_t i = 0; i < nr_joined; i++) {
		int64_t most_ps = 0;

		if (i > 0 && items[i].op == items[i - 1].op)
			continue;
		for (first = i; first < nr_joined && items[first].op == items[i].op; first++)
			most_ps = TS_MAX(most_ps, items[first].ps);
		for (size_t k = i; k < first; k++)
			items[k].op_ps = most_ps;
	}
	return nr_joined;
}

static enum ts_status sum_by_op(const struct counters_state *sum, const struct ts_context *ctx,
				struct ts_arena *arena, struct ts_counters_facts *facts,
				struct ts_error *err)
{
	struct counters_by_op *items = ts_arena_array(arena, sum->nr_rows + 1, sizeof(*items));
	struct ts_map index_of = { 0 };
	bool good = items && index_series(ts_samples_facts(ctx), &index_of);
	size_t nr = 0;

	for (size_t i = 0; good && i < sum->nr_rows; i++)
		if (sum->rows[i].ps > 0)
			items[nr++] = by_op_of(ctx, &index_of, &sum->rows[i]);
	ts_map_release(&index_of);
	if (!good)
		return ts_fail_nomem(err);
	TS_SORT(items, nr, by_counter);
	nr = join(items, nr);
	TS_SORT(items, nr, longest_first);
	facts->by_op = items;
	facts->nr_by_op = nr;
	return TS_OK;
}

/* --- measured beside modelled */

/* FLOPs and bytes of HBM of all ops, over all cores; NaN: no op has a known cost. */
struct work {
	double flops, hbm_bytes;
};

static void add_work(double *sum, double of_one, int64_t times)
{
	if (isfinite(of_one) && of_one > 0 && times > 0)
		*sum = (isfinite(*sum) ? *sum : 0) + of_one * (double)times;
}

static struct work work_of(const struct ts_ops_facts *ops)
{
	struct work work = { NAN, NAN };

	for (size_t i = 0; i < ops->nr; i++) {
		add_work(&work.flops, ops->items[i].flops, ops->items[i].occurrences);
		add_work(&work.hbm_bytes, ops->items[i].hbm_bytes, ops->items[i].occurrences);
	}
	return work;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void sum_pairs(const struct ts_context *ctx, struct ts_counters_facts *facts)
{
	const struct ts_unit_sum *sums = ts_samples_facts(ctx)->sums;
	struct ts_unit_sum mxu = sums[TS_UNIT_MXU], hbm = sums[TS_UNIT_HBM];
	struct ts_unit_sum skipped = sums[TS_UNIT_SKIPPED];
	struct work work = work_of(ts_ops_facts(ctx));
	double cores = (double)ts_time_facts(ctx)->nr_cores;

	facts->mxu.measured = ratio(mxu.achieved, mxu.peak);
	facts->mxu.modelled = ratio(work.flops * ratio(mxu.nr_devices, cores), mxu.flops_peak);
	facts->hbm.measured = hbm.nr_devices > 0 && hbm.peak > 0 ? hbm.achieved : NAN;
	facts->hbm.modelled =
		hbm.nr_devices > 0 ? work.hbm_bytes * ratio(hbm.nr_devices, cores) : NAN;
	facts->hbm_share = ratio(hbm.achieved, hbm.peak);
	facts->skipped_share = ratio(skipped.achieved, skipped.peak);
	facts->skipped_ps = TS_UNKNOWN;
	if (isfinite(facts->skipped_share) && skipped.counted_s < 1e6)
		facts->skipped_ps = llround(facts->skipped_share * skipped.counted_s * TS_PS_PER_S);
}

/* --- throttling */

/* Executions of an op that were not throttled: on this device, else on any. */
struct elsewhere {
	int64_t ps, nr;
};

TS_ORDER(by_op_and_device, struct counters_op, TS_UP(op) TS_UP(device))

static struct elsewhere elsewhere_of(const struct counters_op *ops, size_t nr,
				     const struct counters_op *of)
{
	struct elsewhere all = { 0, 0 };

	if (of->out_nr > 0)
		return (struct elsewhere){ of->out_ps, of->out_nr };
	for (size_t i = 0; i < nr; i++) {
		all.ps = ts_i64_add(all.ps, ops[i].out_ps);
		all.nr += ops[i].out_nr;
	}
	return all;
}

static double throttle_pct(const struct ts_context *ctx)
{
	const struct ts_samples_facts *samples = ts_samples_facts(ctx);
	double most = NAN;

	for (size_t i = 0; i < samples->nr_series; i++) {
		const struct ts_series *series = &samples->series[i];
		struct ts_bytes name = ctx->profile->ops[series->op].name;

		if (ts_bytes_has(name, "Throttle") && ts_bytes_ends(name, "(%)") && series->max > 0)
			most = fmax(most, series->max);
	}
	return most;
}

struct loss {
	double lost_ps, fair_ps; /* against those elsewhere */
	double blind_ps;	 /* of ops that ran nowhere else */
};

static struct loss loss_of(struct counters_op *ops, size_t nr)
{
	struct loss loss = { 0, 0, 0 };

	TS_SORT(ops, nr, by_op_and_device);
	for (size_t from = 0, until; from < nr; from = until) {
		for (until = from; until < nr && ops[until].op == ops[from].op;)
			until++;
		for (size_t i = from; i < until; i++) {
			struct elsewhere other = elsewhere_of(&ops[from], until - from, &ops[i]);
			double fair_ps;

			if (ops[i].in_nr == 0)
				continue;
			if (other.nr == 0) {
				loss.blind_ps += (double)ops[i].in_ps;
				continue;
			}
			fair_ps = (double)other.ps / (double)other.nr * (double)ops[i].in_nr;
			loss.fair_ps += fair_ps;
			loss.lost_ps += (double)ops[i].in_ps - fair_ps;
		}
	}
	return loss;
}

static enum ts_status sum_throttling(const struct counters_state *sum, const struct ts_context *ctx,
				     struct ts_counters_facts *facts, struct ts_error *err)
{
	const struct ts_samples_facts *samples = ts_samples_facts(ctx);
	struct counters_op *ops = calloc(sum->nr_ops + 1, sizeof(*ops));
	struct loss loss;

	if (!ops)
		return ts_fail_nomem(err);
	if (sum->nr_ops > 0)
		memcpy(ops, sum->ops, sum->nr_ops * sizeof(*ops));
	loss = loss_of(ops, sum->nr_ops);
	free(ops);
	facts->throttle_pct = throttle_pct(ctx);
	facts->throttled_ps = samples->nr_throttled > 0 ? 0 : TS_UNKNOWN;
	facts->lost_ps = facts->skipped_ps;
	facts->slower = ratio(loss.lost_ps + loss.fair_ps, loss.fair_ps);
	for (size_t i = 0; i < samples->nr_throttled; i++) {
		const struct ts_throttled *time = &samples->throttled[i];

		facts->throttled_ps = ts_i64_add(
			facts->throttled_ps, ts_i64_sub(time->span.end_ps, time->span.start_ps));
		facts->nr_devices += i == 0 || time->device != time[-1].device;
	}
	if (samples->nr_throttled == 0)
		return TS_OK;
	facts->device = samples->throttled[0].device;
	if (loss.blind_ps > 0 && isfinite(facts->throttle_pct))
		loss.lost_ps += loss.blind_ps * fmin(facts->throttle_pct, 100) / 100;
	facts->lost_ps = llround(fmin(fmax(loss.lost_ps, 0), 9e18));
	return TS_OK;
}

enum ts_status ts_counters_sum(const struct counters_state *sum, const struct ts_context *ctx,
			       struct ts_arena *arena, struct ts_counters_facts *facts,
			       struct ts_error *err)
{
	enum ts_status st = sum_by_op(sum, ctx, arena, facts, err);

	TS_ASSERT(facts);
	sum_pairs(ctx, facts);
	return st == TS_OK ? sum_throttling(sum, ctx, facts, err) : st;
}
