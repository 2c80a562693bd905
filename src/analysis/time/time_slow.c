/* SPDX-License-Identifier: MIT */
/* The table of slow steps. */
#include "analysis/time/time.h"
#include "result/schema/time.def"

static struct ts_bytes op_module(const struct ts_profile *profile, uint32_t op)
{
	uint32_t module = op == TS_NONE ? TS_NONE : profile->ops[op].module;

	return module == TS_NONE ? (struct ts_bytes){ NULL, 0 } : profile->modules[module].name;
}

static struct ts_value index_or_null(uint32_t index)
{
	return index == TS_NONE ? ts_null() : ts_int(index);
}

#define IF_OP(value) (slow->op == TS_NONE ? ts_null() : (value))
#define IF_GAP(value) (slow->gap.device == TS_NONE ? ts_null() : (value))
#define GREW(bucket) ts_int(slow->growth_ps[TS_BUCKET_##bucket])

#define SLOW_CELLS(X) \
	X(step, ts_int((int64_t)step->number)) \
	X(start_ps, ts_int(step->start_ps)) \
	X(duration_ps, ts_int(slow->duration_ps)) \
	X(excess_ps, ts_int(slow->excess_ps)) \
	X(excess_pct, ts_share_pct((double)slow->excess_ps / (double)time->median_step_ps)) \
	X(deviations, ts_real((double)slow->excess_ps / (double)time->step_mad_ps)) \
	X(period, ts_int_or_null(slow->period)) \
	X(cause, ts_text(ts_bytes_of(ts_bucket_name(slow->cause)))) \
	X(reason, ts_text(time_slow_reason(result, ctx, slow, &witness))) \
	X(cause_excess_ps, ts_int(slow->cause_excess_ps)) \
	X(device, \
	  slow->device == TS_NONE ? ts_null() : ts_text(profile->devices[slow->device].label)) \
	X(device_id, index_or_null(slow->device)) \
	X(is_straggler, ts_bool(slow->is_straggler)) \
	X(op, IF_OP(ts_text(profile->ops[slow->op].name))) \
	X(module, ts_text_or_null(op_module(profile, slow->op))) \
	X(op_excess_ps, IF_OP(ts_int(slow->op_excess_ps))) \
	X(op_index, index_or_null(slow->op)) \
	X(gap_ps, IF_GAP(ts_int(slow->gap.dur_ps))) \
	X(gap_start_ps, IF_GAP(ts_int(slow->gap.start_ps))) \
	X(gap_device_id, index_or_null(slow->gap.device)) \
	X(host_event, ts_text_or_null(witness.event)) \
	X(host_thread, ts_text_or_null(witness.thread)) \
	X(ended_by, ts_text_or_null(witness.ended_by)) \
	X(compute_excess_ps, GREW(COMPUTE)) \
	X(below_roofline_excess_ps, GREW(BELOW_ROOFLINE)) \
	X(memory_wait_excess_ps, GREW(MEMORY_WAIT)) \
	X(communication_excess_ps, GREW(COMMUNICATION)) \
	X(host_transfer_excess_ps, GREW(HOST_TRANSFER)) \
	X(rematerialization_excess_ps, GREW(REMATERIALIZATION)) \
	X(unexplained_excess_ps, GREW(UNEXPLAINED)) \
	X(compilation_excess_ps, GREW(COMPILATION)) \
	X(input_excess_ps, GREW(INPUT)) \
	X(launch_excess_ps, GREW(LAUNCH)) \
	X(idle_excess_ps, GREW(IDLE))

/* "/device:TPU:2 ran fusion.337 slower; 3 cores waited" */
static struct ts_bytes time_slow_reason(struct ts_result *result, const struct ts_context *ctx,
					const struct ts_slow_step *slow,
					const struct ts_gap_witness *witness)
{
	const struct ts_profile *profile = ctx->profile;
	const char *title = ts_bucket_title(slow->cause);
	struct ts_bytes op = { NULL, 0 }, device = { NULL, 0 };
	size_t others = ts_time_facts(ctx)->nr_cores - 1;

	if (slow->op != TS_NONE)
		op = profile->ops[slow->op].name;
	if (slow->device != TS_NONE)
		device = profile->devices[slow->device].label;
	if (slow->is_straggler && op.n > 0)
		return ts_result_text(result, "%.*s ran %.*s slower; %zu %s waited", TS_ARG(device),
				      TS_ARG(op), others, others == 1 ? "core" : "cores");
	if (slow->is_straggler)
		return ts_result_text(result, "%.*s was late; %zu %s waited", TS_ARG(device),
				      others, others == 1 ? "core" : "cores");
	if (witness->event.n > 0)
		return ts_result_text(result, "%s, with the host in %.*s", title,
				      TS_ARG(witness->event));
	return op.n > 0 ? ts_result_text(result, "%s, most in %.*s", title, TS_ARG(op))
			: ts_result_text(result, "%s", title);
}

void ts_time_put_slow(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	const struct ts_profile *profile = ctx->profile;
	struct ts_table *table;

	if (time->nr_steps == 0)
		return;
	TS_SET(result, time, steps_median_ps, ts_int(time->median_step_ps));
	TS_SET(result, time, steps_mad_ps, ts_int(time->step_mad_ps));
	TS_SET(result, time, steps_slow_count, ts_int(time->nr_slow_steps));
	TS_SET(result, time, steps_slow_period, ts_int_or_null(time->slow_period));
	table = TS_TABLE(result, time_steps_outliers);
	for (size_t i = 0; i < time->nr_slow; i++) {
		const struct ts_slow_step *slow = &time->slow[i];
		const struct ts_time_step *step = &time->steps[slow->step];
		struct ts_gap_witness witness =
			ts_gap_witness_of(ts_gaps_facts(ctx), time, &slow->gap);

		TS_CELLS(result, table, time_steps_outliers, SLOW_CELLS);
	}
}
