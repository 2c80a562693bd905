/* SPDX-License-Identifier: Apache-2.0 */
/* The table of slow steps. */
#include "analysis/time/time.h"

#include "analysis/kit/table.h"

static struct ts_bytes op_module(const struct ts_profile *profile, uint32_t op)
{
	uint32_t module = op == TS_NONE ? TS_NONE : profile->ops[op].module;

	return module == TS_NONE ? (struct ts_bytes){ NULL, 0 } : profile->modules[module].name;
}

static struct ts_value device_name(const struct ts_profile *profile, uint32_t device)
{
	return device == TS_NONE ? ts_null() : ts_text(profile->devices[device].name);
}

static struct ts_value index_or_null(uint32_t index)
{
	return index == TS_NONE ? ts_null() : ts_int(index);
}

#define IF_OP(value) (slow->op == TS_NONE ? ts_null() : (value))
#define IF_GAP(value) (slow->gap.device == TS_NONE ? ts_null() : (value))
#define GREW(bucket) ts_int(slow->growth_ps[TS_BUCKET_##bucket])

#define SLOW_COLUMNS(X) \
	X(step, TS_MEASURED, "step", ts_int((int64_t)step->number)) \
	X(start_ps, TS_MEASURED, NULL, ts_int(step->start_ps)) \
	X(duration_ps, TS_MEASURED, "duration", ts_int(slow->duration_ps)) \
	X(excess_ps, TS_MEASURED, TS_KEY("over the median"), ts_int(slow->excess_ps)) \
	X(excess_pct, TS_MEASURED, NULL, \
	  ts_share_pct((double)slow->excess_ps / (double)time->median_step_ps)) \
	X(deviations, TS_MEASURED, NULL, \
	  ts_real((double)slow->excess_ps / (double)time->step_mad_ps)) \
	X(period, TS_DERIVED, "every", ts_int_or_null(slow->period)) \
	X(cause, TS_MEASURED, TS_KEY("grew"), ts_text(ts_bytes_of(ts_bucket_name(slow->cause)))) \
	X(cause_excess_ps, TS_MEASURED, TS_KEY("by core time"), ts_int(slow->cause_excess_ps)) \
	X(device, TS_MEASURED, "most on", device_name(profile, slow->device)) \
	X(device_id, TS_DERIVED, NULL, index_or_null(slow->device)) \
	X(is_straggler, TS_DERIVED, NULL, ts_bool(slow->is_straggler)) \
	X(op, TS_MEASURED, "op", IF_OP(ts_text(profile->ops[slow->op].name))) \
	X(module, TS_MEASURED, NULL, ts_text_or_null(op_module(profile, slow->op))) \
	X(op_excess_ps, TS_MEASURED, NULL, IF_OP(ts_int(slow->op_excess_ps))) \
	X(op_index, TS_DERIVED, NULL, index_or_null(slow->op)) \
	X(gap_ps, TS_MEASURED, NULL, IF_GAP(ts_int(slow->gap.dur_ps))) \
	X(gap_start_ps, TS_MEASURED, NULL, IF_GAP(ts_int(slow->gap.start_ps))) \
	X(gap_device_id, TS_DERIVED, NULL, index_or_null(slow->gap.device)) \
	X(host_event, TS_MEASURED, "host was in", ts_text_or_null(witness.event)) \
	X(host_thread, TS_MEASURED, NULL, ts_text_or_null(witness.thread)) \
	X(ended_by, TS_MEASURED, NULL, ts_text_or_null(witness.ended_by)) \
	X(compute_excess_ps, TS_MEASURED, NULL, GREW(COMPUTE)) \
	X(memory_wait_excess_ps, TS_MEASURED, NULL, GREW(MEMORY_WAIT)) \
	X(communication_excess_ps, TS_MEASURED, NULL, GREW(COMMUNICATION)) \
	X(host_transfer_excess_ps, TS_MEASURED, NULL, GREW(HOST_TRANSFER)) \
	X(rematerialization_excess_ps, TS_MEASURED, NULL, GREW(REMATERIALIZATION)) \
	X(unexplained_excess_ps, TS_MODELLED, NULL, GREW(UNEXPLAINED)) \
	X(compilation_excess_ps, TS_MEASURED, NULL, GREW(COMPILATION)) \
	X(input_excess_ps, TS_MEASURED, NULL, GREW(INPUT)) \
	X(idle_excess_ps, TS_MEASURED, NULL, GREW(IDLE))

static const struct ts_column columns[] = { SLOW_COLUMNS(TS_COLUMN) };

static void put_fields(const struct ts_time_facts *time, struct ts_result *result)
{
	ts_result_field(result, "steps_median_ps", ts_int(time->median_step_ps), TS_MEASURED,
			"median step");
	ts_result_field(result, "steps_mad_ps", ts_int(time->step_mad_ps), TS_MEASURED,
			"median deviation from it");
	ts_result_field(result, "steps_slow_count", ts_int(time->nr_slow_steps), TS_MEASURED,
			"slow steps");
	ts_result_field(result, "steps_slow_period", ts_int_or_null(time->slow_period), TS_DERIVED,
			NULL);
}

void ts_time_put_slow(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	const struct ts_profile *profile = ctx->profile;
	struct ts_table *table;

	if (time->nr_steps == 0)
		return;
	put_fields(time, result);
	table = ts_result_table(result, "steps_outliers", "Slow steps", columns, TS_NELEM(columns));
	for (size_t i = 0; i < time->nr_slow; i++) {
		const struct ts_slow_step *slow = &time->slow[i];
		const struct ts_time_step *step = &time->steps[slow->step];
		struct ts_gap_witness witness =
			ts_gap_witness_of(ts_gaps_facts(ctx), time, &slow->gap);

		TS_CELLS(result, table, SLOW_COLUMNS);
	}
}
