/* SPDX-License-Identifier: MIT */
/* The causes for doubt, a check each, and the verdict: the worst of them. */
#include "analysis/run/capture_checks.h"

#include "base/check.h"
#include "result/schema/capture.def"

static const char *const verdicts[] = {
	[TS_CAPTURE_GOOD] = "good",
	[TS_CAPTURE_USABLE] = "usable",
	[TS_CAPTURE_MISLEADING] = "misleading",
	[TS_CAPTURE_EMPTY] = "empty",
};

/* In the order in which they are reported. */
static void (*const checks[])(struct capture_report *report) = {
	ts_capture_check_annotation,
	ts_capture_check_damage,
	ts_capture_check_lost_kernels,
	ts_capture_check_no_device,
	ts_capture_check_cpus,
	ts_capture_check_counters,
	ts_capture_check_nothing_ran,
	ts_capture_check_compilation,
	ts_capture_check_warm_up,
	ts_capture_check_ops_missing,
	ts_capture_check_not_blocked,
	ts_capture_check_marks,
	ts_capture_check_messages,
	ts_capture_check_impossible_times,
	ts_capture_check_early_kernels,
	ts_capture_check_stand_in,
	ts_capture_check_strict,
	ts_capture_check_windows,
	ts_capture_check_unused_devices,
	ts_capture_check_not_read,
	ts_capture_check_other_device,
	ts_capture_check_host_tracing,
	ts_capture_check_hlo,
	ts_capture_check_impossible,
	ts_capture_check_steps,
	ts_capture_check_steps_missing,
	ts_capture_check_ranks,
	ts_capture_check_devices,
	ts_capture_check_length,
	ts_capture_check_epochs,
};

/* Of devices, by their lines of modules; without devices, of the hosts' own executor. -1: devices or a
 * CPU ran something, and the profile does not say what. */
static int64_t nr_executions(const struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr = 0;
	bool ran = report->nr_ran > 0;

	for (size_t i = 0; i < profile->nr_devices; i++)
		nr += report->sum->devices[i].nr_modules;
	for (size_t i = 0; i < profile->nr_hosts && profile->nr_devices == 0; i++) {
		nr += report->sum->hosts[i].nr_cpu_runs;
		ran |= report->sum->hosts[i].ran_on_cpu;
	}
	return nr == 0 && ran ? TS_UNKNOWN : (int64_t)nr;
}

static void capture_causes_put_fields(struct capture_report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	uint64_t nr_events = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		nr_events += report->sum->hosts[i].nr_events;
	TS_SET(report->result, capture, verdict, ts_text(ts_bytes_of(verdicts[report->verdict])));
	TS_SET(report->result, capture, active_device_count, ts_int((int64_t)report->nr_ran));
	TS_SET(report->result, capture, host_event_count, ts_int((int64_t)nr_events));
	TS_SET(report->result, capture, call_count,
	       nr_events > 0 ? ts_int((int64_t)ts_capture_nr_calls(report)) : ts_null());
	TS_SET(report->result, capture, execution_count, ts_int_or_null(nr_executions(report)));
}

#define CAUSE_CELLS(X) \
	X(id, ts_text(ts_bytes_of(cause->id))) \
	X(severity, ts_text(ts_bytes_of(ts_severity_name(cause->severity)))) \
	X(verdict, ts_text(ts_bytes_of(verdicts[cause->verdict]))) \
	X(confidence, ts_text(ts_bytes_of(ts_confidence_name(cause->confidence)))) \
	X(what, ts_text(cause->what)) \
	X(evidence, ts_text_or_null(cause->evidence)) \
	X(fix, ts_text(cause->fix)) \
	X(code, ts_text_or_null(cause->code))

static void put_causes(const struct ts_capture_facts *facts, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, capture_causes);

	for (size_t i = 0; i < facts->nr_causes; i++) {
		const struct ts_capture_cause *cause = &facts->causes[i];

		TS_CELLS(result, table, capture_causes, CAUSE_CELLS);
	}
}

enum ts_status ts_capture_report(const struct capture_state *sum, const struct ts_context *ctx,
				 struct ts_capture_facts *facts, struct ts_result *result,
				 struct ts_error *err)
{
	struct capture_report report = { .sum = sum, .ctx = ctx, .result = result };
	struct ts_capture_cause *causes =
		ts_arena_array(&result->owner->arena, MAX_CAUSES, sizeof(*causes));

	TS_ASSERT(facts && sum->nr_hosts == ctx->profile->nr_hosts);
	for (size_t i = 0; i < ctx->profile->nr_devices; i++)
		report.nr_ran += capture_has_run(&sum->devices[i]);
	report.pairs = ts_capture_pairs_of(&report);
	for (size_t i = 0; i < TS_NELEM(checks) && !report.failed; i++)
		checks[i](&report);
	ts_buf_release(&report.text);
	if (report.failed || !causes)
		return ts_fail_nomem(err);
	memcpy(causes, report.causes, report.nr_causes * sizeof(*causes));
	*facts = (struct ts_capture_facts){ causes, report.nr_causes, report.verdict,
					    verdicts[report.verdict] };
	for (size_t i = 0; i < sum->nr_hosts; i++)
		for (int w = 0; w < TS_NR_HOST_WORKS; w++) {
			facts->works[w].nr += sum->hosts[i].works[w].nr;
			facts->works[w].total_ps = ts_i64_add(facts->works[w].total_ps,
							      sum->hosts[i].works[w].total_ps);
		}
	put_causes(facts, result);
	ts_capture_put_clocks(ctx, result);
	capture_causes_put_fields(&report);
	return TS_OK;
}
