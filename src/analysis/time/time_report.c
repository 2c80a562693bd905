/* SPDX-License-Identifier: MIT */
/* What the time analysis shows: the sum over devices, per step, the gaps, and the drawn row. */
#include "analysis/time/time.h"

#include <inttypes.h>

#include "analysis/kit/others.h"
#include "analysis/kit/run_steps.h"
#include "base/units.h"
#include "model/trace_class.h"
#include "result/schema/time.def"

struct report {
	const struct time_state *sum;
	const struct ts_context *ctx;
	const struct ts_time_facts *facts;
	struct ts_result *result;
	bool saw_hosts;		 /* else what they compiled and fed is unknown */
	enum ts_origin of_steps; /* where steps come from, if not from markers */
	enum ts_origin of_compute;
};

/* Compute is inferred where most of it is known by the kind of its ops alone. */
static enum ts_origin origin_of_compute(const struct ts_time_facts *facts)
{
	double kind_ps = (double)facts->part_ps[TS_SPLIT_KIND];

	return kind_ps > (double)facts->part_ps[TS_SPLIT_MATRIX] +
				       (double)facts->part_ps[TS_SPLIT_ESTIMATE]
		       ? TS_INFERRED
		       : TS_AS_FIELD;
}

/* A time that is known from events of the hosts alone; where there are none it is in idle. */
static struct ts_value of_hosts(const struct report *report, int64_t ps)
{
	return report->saw_hosts ? ts_int(ps) : ts_null();
}

static struct ts_value of_bucket(const struct report *report, const int64_t ps[TS_NR_BUCKETS],
				 enum ts_bucket bucket)
{
	switch (bucket) {
	case TS_BUCKET_COMPILATION:
	case TS_BUCKET_INPUT:
	case TS_BUCKET_LAUNCH:	    return of_hosts(report, ps[bucket]);
	case TS_BUCKET_COMPUTE:	    return ts_value_from(ts_int(ps[bucket]), report->of_compute);
	default:		    return ts_int(ps[bucket]);
	}
}

#define BUCKET_FIELD(id, name) [TS_BUCKET_##id] = TS_FIELD_AT(time, buckets.name),
static const size_t bucket_fields[TS_NR_BUCKETS] = { TS_EACH_BUCKET(BUCKET_FIELD) };

static const size_t part_fields[TS_SPLIT_BELOW] = {
	[TS_SPLIT_MATRIX] = TS_FIELD_AT(time, explained.matrix_ps),
	[TS_SPLIT_HBM] = TS_FIELD_AT(time, explained.hbm_ps),
	[TS_SPLIT_ESTIMATE] = TS_FIELD_AT(time, explained.estimate_ps),
	[TS_SPLIT_KIND] = TS_FIELD_AT(time, explained.kind_ps),
	[TS_SPLIT_MOVE] = TS_FIELD_AT(time, explained.move_ps),
};

static void time_report_put_totals(const struct report *report)
{
	const struct ts_time_facts *facts = report->facts;
	const struct ts_outline *outline = report->ctx->outline;
	struct ts_result *result = report->result;
	bool ran = facts->nr_cores > 0;

	TS_SET(result, time, total_ps, ran ? ts_int(facts->total_ps) : ts_null());
	TS_SET(result, time, wall_ps, ran ? ts_int(facts->wall_ps) : ts_null());
	TS_SET(result, time, wall_start_ps, ran ? ts_int(facts->wall_start_ps) : ts_null());
	TS_SET(result, time, cores, ts_int((int64_t)facts->nr_cores));
	for (enum ts_bucket b = 0; b < TS_NR_BUCKETS; b++)
		TS_SET_AT(result, time, bucket_fields[b],
			  ran ? of_bucket(report, facts->bucket_ps, b) : ts_null());
	for (int part = 0; part < TS_SPLIT_BELOW; part++)
		TS_SET_AT(result, time, part_fields[part],
			  ran ? ts_int(facts->part_ps[part]) : ts_null());
	TS_SET(result, time, duty_cycle_pct, ts_share_pct(facts->duty_cycle));
	TS_SET(result, time, compilation_count, of_hosts(report, outline->nr_compiles));
	TS_SET(result, time, compilation_host_ps, of_hosts(report, outline->compile_ps));
}

/* Of steps, cores and hosts alike. */
#define BUCKET_CELLS(X, ps) \
	X(compute_ps, of_bucket(report, ps, TS_BUCKET_COMPUTE)) \
	X(below_roofline_ps, of_bucket(report, ps, TS_BUCKET_BELOW_ROOFLINE)) \
	X(memory_wait_ps, of_bucket(report, ps, TS_BUCKET_MEMORY_WAIT)) \
	X(communication_ps, of_bucket(report, ps, TS_BUCKET_COMMUNICATION)) \
	X(host_transfer_ps, of_bucket(report, ps, TS_BUCKET_HOST_TRANSFER)) \
	X(rematerialization_ps, of_bucket(report, ps, TS_BUCKET_REMATERIALIZATION)) \
	X(unexplained_ps, of_bucket(report, ps, TS_BUCKET_UNEXPLAINED)) \
	X(compilation_ps, of_bucket(report, ps, TS_BUCKET_COMPILATION)) \
	X(input_ps, of_bucket(report, ps, TS_BUCKET_INPUT)) \
	X(launch_ps, of_bucket(report, ps, TS_BUCKET_LAUNCH)) \
	X(idle_ps, of_bucket(report, ps, TS_BUCKET_IDLE))

#define BUCKET_SUMS(X) \
	X(compute_ps) X(below_roofline_ps) X(memory_wait_ps) X(communication_ps) \
	X(host_transfer_ps) X(rematerialization_ps) X(unexplained_ps) X(compilation_ps) \
	X(input_ps) X(launch_ps) X(idle_ps)

#define OF_STEPS(value) ts_value_from(value, report->of_steps)

/* Of all others together: the sum. */
static int64_t duration_of(const struct report *report, const struct ts_time_step *step)
{
	return step == &report->facts->others ? report->facts->others_ps
					      : ts_time_step_duration(step);
}

static struct ts_value time_report_phase(const struct ts_step_work *work)
{
	const char *name = ts_step_phase_name(work->phase);

	return name ? ts_text(ts_bytes_of(name)) : ts_null();
}

static struct ts_value time_report_tokens(const struct ts_step_work *work, uint32_t tokens)
{
	return work->phase == TS_DOES_ANYTHING || tokens == TS_TOKENS_UNKNOWN ? ts_null()
									      : ts_int(tokens);
}

#define STEP_CELLS(X) \
	X(step, OF_STEPS(ts_int((int64_t)step->number))) \
	X(start_ps, OF_STEPS(ts_int(step->start_ps))) \
	X(duration_ps, OF_STEPS(ts_int(duration_of(report, step)))) \
	X(cores, ts_int(step->cores)) \
	X(total_ps, OF_STEPS(ts_int(step->total_ps))) \
	BUCKET_CELLS(X, step->ps) \
	X(phase, time_report_phase(&work)) \
	X(prefill_tokens, time_report_tokens(&work, work.prefill_tokens)) \
	X(decode_tokens, time_report_tokens(&work, work.decode_tokens))

static void time_report_put_step(const struct report *report, struct ts_table *table,
				 const struct ts_time_step *step)
{
	const struct ts_step_work work = ts_steps_work(&report->ctx->outline->steps, step->work);

	TS_CELLS(report->result, table, time_per_step, STEP_CELLS);
}

#define STEP_SUMS(X) X(duration_ps) X(total_ps) BUCKET_SUMS(X)

static void time_report_put_steps(const struct report *report)
{
	struct ts_table *table = TS_TABLE(report->result, time_per_step);
	size_t nr_others = report->facts->nr_steps - report->facts->nr_listed;

	for (size_t i = 0; i < report->facts->nr_listed; i++)
		time_report_put_step(report, table, &report->facts->steps[i]);
	if (nr_others == 0)
		return;
	time_report_put_step(report, table, &report->facts->others);
	TS_END_OTHERS(report->result, table, time_per_step, nr_others, step, STEP_SUMS);
}

static enum ts_status note_phases(const struct report *report, struct ts_error *err)
{
	struct ts_phases phases;
	enum ts_status st = ts_steps_count_phases(&report->ctx->outline->steps, &phases, err);

	if (st || phases.nr_known == 0)
		return st;
	ts_result_note(report->result,
		       "%zu steps are prefill, %zu decode and %zu mixed, by their names: %" PRIu64
		       " tokens of prompts, %" PRIu64 " of answers; a step is compared with those "
		       "of its own kind alone",
		       phases.nr[TS_DOES_PREFILL], phases.nr[TS_DOES_DECODE],
		       phases.nr[TS_DOES_MIXED], phases.prefill_tokens, phases.decode_tokens);
	return TS_OK;
}

static void note_ranges(const struct report *report)
{
	const struct ts_steps *steps = &report->ctx->outline->steps;

	if (steps->source == TS_STEPS_INFERRED)
		ts_result_note(
			report->result,
			"%zu steps, inferred from the ranges %s of the host: the profile has "
			"no step markers (--step-mark names another range)",
			steps->nr_steps, steps->made_of);
	else
		ts_result_note(report->result, "%zu steps, marked on the host as %s",
			       steps->nr_steps, steps->made_of);
}

static void note_steps(const struct report *report)
{
	const struct ts_steps *steps = &report->ctx->outline->steps;
	const struct ts_steps *marked = &report->ctx->outline->host_steps;

	if (steps->is_range)
		note_ranges(report);
	else if (steps->source == TS_STEPS_INFERRED)
		ts_result_note(report->result,
			       "%zu steps, inferred from the executions of %s: the profile has no "
			       "step markers",
			       steps->nr_steps, steps->made_of);
	if (steps->source == TS_STEPS_NONE && marked->source == TS_STEPS_MARKED)
		ts_result_note(
			report->result,
			"no steps of devices; the hosts marked %zu as %s: the step times are "
			"of the hosts",
			marked->nr_steps, marked->made_of);
	else if (steps->source == TS_STEPS_NONE)
		ts_result_note(report->result,
			       "no steps: neither markers nor modules that repeat in a pattern");
}

/* Buckets of the cores are shared out to steps by the clock, and add up only over times that do not
 * overlap: the host's marks. */
static void note_marks(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;

	if (report->facts->nr_steps > 0 && ts_profile_is_torch(profile))
		ts_result_note(
			report->result,
			"the classes of a step are of the time between the host's marks; the "
			"step times of the overview are of the work that each step "
			"launched, which ends later");
}

static void note_hosts(const struct report *report)
{
	if (!report->saw_hosts && report->facts->nr_cores > 0)
		ts_result_note(report->result,
			       "the profile has no host events: what was compiled and fed is "
			       "unknown, and time without an op that went to it is in idle");
}

static double duty_of(const struct report *report, uint32_t device)
{
	const struct time_device *of = &report->sum->devices[device];

	return (double)of->on_duty_ps / (double)(of->last_ps - of->first_ps);
}

#define CORE_CELLS(X) \
	X(device, ts_text(device->name)) \
	X(device_id, ts_int(core->device)) \
	X(total_ps, ts_int(report->facts->wall_ps)) \
	X(duty_cycle_pct, ts_share_pct(duty_of(report, core->device))) \
	BUCKET_CELLS(X, core->ps) \
	X(host, ts_text_or_null(profile->hosts[device->host].name))

static void time_report_put_cores(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TABLE(report->result, time_per_core);

	for (size_t i = 0; i < report->facts->nr_cores; i++) {
		const struct ts_time_core *core = &report->facts->cores[i];
		const struct ts_device *device = &profile->devices[core->device];

		TS_CELLS(report->result, table, time_per_core, CORE_CELLS);
	}
}

/* The sum over the cores of one host; .cores 0: it has none. */
struct host_sum {
	int64_t cores, ps[TS_NR_BUCKETS];
};

static struct host_sum sum_of_host(const struct report *report, uint32_t host)
{
	struct host_sum of = { .cores = 0 };

	for (size_t i = 0; i < report->facts->nr_cores; i++) {
		const struct ts_time_core *core = &report->facts->cores[i];

		if (report->ctx->profile->devices[core->device].host != host)
			continue;
		of.cores++;
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			of.ps[b] = ts_i64_add(of.ps[b], core->ps[b]);
	}
	return of;
}

#define HOST_CELLS(X) \
	X(host, ts_text_or_null(profile->hosts[i].name)) \
	X(cores, ts_int(of.cores)) \
	X(total_ps, ts_int(ts_i64_mul(report->facts->wall_ps, of.cores))) \
	BUCKET_CELLS(X, of.ps)

/* The row of a single host repeats the totals: the text view has the table for several hosts only. */
static void time_report_put_hosts(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TITLED_TABLE(report->result, time_per_host,
						 profile->nr_hosts > 1 ? "Hosts" : NULL);

	for (uint32_t i = 0; i < profile->nr_hosts; i++) {
		struct host_sum of = sum_of_host(report, i);

		if (of.cores > 0)
			TS_CELLS(report->result, table, time_per_host, HOST_CELLS);
	}
}

#define GAP_CELLS(X) \
	X(device, ts_text(profile->devices[gap->device].label)) \
	X(start_ps, ts_int(gap->start_ps)) \
	X(duration_ps, ts_int(gap->dur_ps)) \
	X(cause, ts_text(ts_bytes_of(ts_bucket_name(gap->cause)))) \
	X(device_id, ts_int(gap->device)) \
	X(host_event, ts_text_or_null(witness->event)) \
	X(host_thread, ts_text_or_null(witness->thread)) \
	X(ended_by, ts_text_or_null(witness->ended_by))

static void put_gaps(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_gaps_facts *gaps = ts_gaps_facts(report->ctx);
	struct ts_table *table = TS_TABLE(report->result, time_idle_gaps);

	for (size_t i = 0; i < report->facts->nr_gaps; i++) {
		const struct ts_time_gap *gap = &report->facts->gaps[i];
		const struct ts_gap_witness *witness = &gaps->witnesses[i];

		TS_CELLS(report->result, table, time_idle_gaps, GAP_CELLS);
	}
}

static const char *const explained[TS_NR_BUCKETS] = {
	[TS_BUCKET_COMPUTE] =
		("what the matrix units need at their peak, what the compiler adds for "
		 "other units, and ops that compute what is not known"),
	[TS_BUCKET_BELOW_ROOFLINE] = "what ops of known work took beyond what they need",
	[TS_BUCKET_MEMORY_WAIT] =
		"what HBM needs at its peak beyond the matrix units, and waits for copies",
	[TS_BUCKET_COMMUNICATION] = "collectives that nothing hides",
	[TS_BUCKET_HOST_TRANSFER] = "infeed, outfeed, host send/recv and copies of host memory",
	[TS_BUCKET_REMATERIALIZATION] = "ops that are computed a second time to save memory",
	[TS_BUCKET_UNEXPLAINED] = "an op ran, and neither its work nor its kind explains its time",
	[TS_BUCKET_COMPILATION] = "no op ran while a host thread was compiling",
	[TS_BUCKET_INPUT] = "no op ran while a host thread prepared or sent input",
	[TS_BUCKET_LAUNCH] = "no op ran while a host thread launched what runs next",
	[TS_BUCKET_IDLE] = "no op ran",
};

static enum ts_status time_report_put_track(struct time_device *device, uint32_t index,
					    struct ts_result *result, struct ts_error *err)
{
	struct ts_label *labels =
		ts_arena_array(&result->owner->arena, TS_NR_BUCKETS, sizeof(*labels));
	struct ts_arg *args = ts_arena_array(&result->owner->arena, TS_NR_BUCKETS, sizeof(*args));
	struct ts_track *track;

	if (device->slices.nr == 0)
		return TS_OK;
	track = ts_result_track(result, TS_TRACK_SLICES, "Time classes", index, 0);
	if (!track || !labels || !args)
		return ts_fail_nomem(err);
	track->is_of_classes = true;
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		args[b] = (struct ts_arg){ "what", ts_text(ts_bytes_of(explained[b])) };
		labels[b] = (struct ts_label){ ts_bytes_of(ts_bucket_title((enum ts_bucket)b)),
					       &args[b], 1 };
	}
	track->labels = labels;
	track->nr_labels = TS_NR_BUCKETS;
	track->description = "where the time of this core went; the classes inside one op are "
			     "drawn side by side, "
			     "because their order is not known";
	return ts_slices_finish(&device->slices, result, track) ? TS_OK : ts_fail_nomem(err);
}

static void note_coarsening(const struct report *report)
{
	const struct ts_outline *outline = report->ctx->outline;
	int64_t closed_ps = 0;
	char text[TS_UNIT_MAX];

	for (size_t i = 0; i < outline->nr_hosts; i++)
		closed_ps = ts_i64_add(ts_i64_add(closed_ps, outline->hosts[i].launch.closed_ps),
				       ts_i64_add(outline->hosts[i].compile.closed_ps,
						  outline->hosts[i].input.closed_ps));
	for (size_t i = 0; i < report->sum->nr_devices; i++)
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			closed_ps = ts_i64_add(closed_ps, report->sum->devices[i].gpu[b].closed_ps);
	if (closed_ps > 0)
		ts_result_note(report->result,
			       "to bound memory, gaps of %s in all between short host or stream "
			       "intervals were counted as busy",
			       ts_fmt_ps(text, closed_ps));
}

enum ts_status ts_time_report(void *state, const struct ts_context *ctx, struct ts_result *result,
			      struct ts_error *err)
{
	struct time_state *sum = state;
	struct report report = { sum,
				 ctx,
				 ts_time_facts(ctx),
				 result,
				 ts_profile_has_threads(ctx->profile),
				 ctx->outline->steps.source == TS_STEPS_INFERRED ? TS_INFERRED
										 : TS_AS_FIELD,
				 origin_of_compute(ts_time_facts(ctx)) };
	enum ts_status st;

	if (ctx->profile->nr_hosts == 0) /* modules alone: there was no time */
		return TS_OK;
	time_report_put_totals(&report);
	st = ts_time_put_verdict(ctx, result, err);
	if (st)
		return st;
	time_report_put_cores(&report);
	time_report_put_hosts(&report);
	time_report_put_steps(&report);
	ts_time_put_slow(ctx, result);
	note_steps(&report);
	st = note_phases(&report, err);
	if (st)
		return st;
	note_marks(&report);
	note_hosts(&report);
	put_gaps(&report);
	note_coarsening(&report);
	for (uint32_t i = 0; i < sum->nr_devices && st == TS_OK; i++)
		st = time_report_put_track(&sum->devices[i], i, result, err);
	return st;
}
