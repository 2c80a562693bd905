/* SPDX-License-Identifier: MIT */
/* No step for long, no answer for long: two conditions, from times alone. */
#include "live/stall.h"

#include "base/check.h"
#include "base/units.h"

#define STEPS	     10 /* a pause of so many steps is not one of the job's own */
#define TIMES	     3	/* so many limits are critical */
#define MEDIAN_OF    60
#define ANSWER_TIMES 4 /* a host that took long for its last answer may take so many times that */
#define MAX_NAMED    3 /* hosts in the message */

void ts_stall_reset(struct ts_stall *stall)
{
	TS_ASSERT(stall != NULL);
	*stall = (struct ts_stall){ .limit_ms = stall->limit_ms };
}

bool ts_stall_sample(struct ts_stall *stall, const struct ts_look *look,
		     const struct ts_profile *profile, const double values[TS_NR_METRICS],
		     int64_t now_ms)
{
	TS_ASSERT(stall != NULL && look != NULL && profile != NULL && values != NULL);

	bool advances = look->nr_steps > 0 || look->nr_programs > 0 || values[TS_METRIC_DUTY] > 0;

	if (stall->last_ms == 0)
		stall->last_ms = now_ms;
	stall->lowers = look->lowers || (stall->lowers && !advances);
	if (look->nr_steps > 0) {
		const struct ts_look_step *last = &look->steps[look->nr_steps - 1];

		stall->has_number = true;
		stall->number = last->number;
		snprintf(stall->name, sizeof(stall->name), "%.*s",
			 TS_ARG(profile->ops[last->op].name));
	}
	stall->is_quiet |= !advances;
	if (!advances)
		return false;
	if (stall->is_quiet) {
		stall->is_quiet = false;
		if (now_ms - stall->last_ms > stall->to_ms - stall->from_ms) {
			stall->from_ms = stall->last_ms;
			stall->to_ms = now_ms;
		}
	}
	stall->last_ms = now_ms;
	stall->has_advanced = true;
	return true;
}

bool ts_stall_is_open(const struct ts_stall *stall)
{
	TS_ASSERT(stall != NULL);
	return stall->to_ms > 0;
}

void ts_stall_explain(struct ts_stall *stall, struct ts_ring *ring, uint64_t nr_new, bool is_fresh)
{
	TS_ASSERT(stall != NULL && ring != NULL);
	stall->has_new |= nr_new > 0;
	if (stall->is_quiet || (!stall->has_new && !is_fresh))
		return;
	for (size_t i = 0; stall->has_new && i < ts_ring_count(ring); i++) {
		struct ts_ring_row *row = &ring->rows[(ring->nr - 1 - i) % TS_RING];

		if (row->at_ms <= stall->from_ms)
			break;
		if (row->at_ms <= stall->to_ms && !isfinite(row->values[TS_METRIC_COMPILING]))
			row->values[TS_METRIC_COMPILING] = 100;
	}
	stall->from_ms = stall->to_ms = 0;
	stall->has_new = false;
}

/* Ten of its own steps, where those take longer than the limit. */
static int64_t stall_limit_ms(const struct ts_stall *stall, const struct ts_ring *ring)
{
	double step_ps = ts_ring_median(ring, TS_METRIC_STEP_UNSAMPLED, MEDIAN_OF);

	if (!isfinite(step_ps))
		step_ps = ts_ring_median(ring, TS_METRIC_STEP, MEDIAN_OF);
	if (!(step_ps > 0))
		return stall->limit_ms;
	return TS_MAX(stall->limit_ms, (int64_t)(STEPS * step_ps / (double)TS_PS_PER_MS));
}

static void stall_put_evidence(struct ts_buf *out, const struct ts_stall *stall,
			       const struct ts_told_open *compiling, int64_t now_ms)
{
	char text[TS_UNIT_MAX];

	if (stall->has_number)
		ts_buf_printf(out, "The last step seen is %s %llu.", stall->name,
			      (unsigned long long)stall->number);
	else
		ts_buf_puts(out, stall->has_advanced ? "Programs ran until then."
						     : "Nothing ran since the watch began.");
	if (compiling)
		ts_buf_printf(
			out, " %s has been compiled for %s.", compiling->function,
			ts_fmt_ps(text, ts_i64_mul(now_ms - compiling->start_ms, TS_PS_PER_MS)));
	else if (stall->lowers)
		ts_buf_puts(out, " A function was traced or lowered since: is it being compiled?");
}

void ts_stall_judge(const struct ts_stall *stall, struct ts_alerts *alerts,
		    const struct ts_ring *ring, const struct ts_told *told, int64_t now_ms)
{
	TS_ASSERT(stall != NULL && alerts != NULL && ring != NULL && told != NULL);

	const struct ts_told_open *compiling = ts_told_compiling(told);
	int64_t limit_ms = stall_limit_ms(stall, ring), stood_ms = now_ms - stall->last_ms;
	struct ts_buf title = TS_BUF_INIT, evidence = TS_BUF_INIT;
	struct ts_condition condition = { .rule = "no_step",
					  .severity = TS_WARNING,
					  .value = (double)stood_ms,
					  .threshold = (double)limit_ms,
					  .at_once = true };
	char text[TS_UNIT_MAX];

	if (stall->limit_ms == 0 || stall->last_ms == 0 || stood_ms < limit_ms)
		return;
	/* a compilation that is known ends some time, and a job that has not begun may be at work on that */
	if (stood_ms >= limit_ms * TIMES && stall->has_advanced && !compiling)
		condition.severity = TS_CRITICAL;
	ts_buf_printf(&title, "No step for %s",
		      ts_fmt_ps(text, ts_i64_mul(stood_ms, TS_PS_PER_MS)));
	stall_put_evidence(&evidence, stall, compiling, now_ms);
	alerts->failed |= title.failed || evidence.failed;
	condition.title = ts_buf_bytes(&title);
	condition.evidence = ts_buf_bytes(&evidence);
	condition.advice = TS_LIT("Look at the stacks of the job's threads (py-spy dump --pid "
				  "PID); a host that waits for "
				  "another stands in a collective.");
	ts_alerts_hold(alerts, &condition);
	ts_buf_release(&title);
	ts_buf_release(&evidence);
}

/* Since when it has not answered; 0: it does, or it never did. */
static int64_t stall_gone_ms(const struct ts_service *service, int64_t now_ms)
{
	int64_t gone_ms = now_ms - service->answered_ms;
	int64_t limit_ms = TS_DOWN_MS;

	if (service->nr_samples == 0)
		return 0;
	if (service->state == TS_SERVICE_LATE)
		limit_ms = TS_MAX(limit_ms, ts_i64_mul(service->took_ms, ANSWER_TIMES));
	else if (service->state != TS_SERVICE_DOWN)
		return 0;
	return gone_ms >= limit_ms ? gone_ms : 0;
}

void ts_stall_services(struct ts_alerts *alerts, const struct ts_service *services, size_t nr,
		       int64_t now_ms)
{
	struct ts_buf title = TS_BUF_INIT, names = TS_BUF_INIT;
	struct ts_condition condition = { .rule = "service_down",
					  .severity = TS_CRITICAL,
					  .threshold = TS_DOWN_MS,
					  .at_once = true };
	int64_t longest_ms = 0;
	size_t nr_gone = 0;
	char text[TS_UNIT_MAX];

	TS_ASSERT(alerts != NULL && (services != NULL || nr == 0));
	for (size_t i = 0; i < nr; i++) {
		int64_t gone_ms = stall_gone_ms(&services[i], now_ms);

		if (gone_ms == 0)
			continue;
		longest_ms = TS_MAX(longest_ms, gone_ms);
		if (nr_gone++ < MAX_NAMED)
			ts_buf_printf(&names, "%s%s", nr_gone > 1 ? ", " : "", services[i].address);
	}
	if (nr_gone > MAX_NAMED)
		ts_buf_printf(&names, " and %zu more", nr_gone - MAX_NAMED);
	ts_buf_put(&title, ts_buf_bytes(&names));
	ts_buf_printf(&title,
		      nr_gone == 1 ? " has not answered for %s" : " have not answered for up to %s",
		      ts_fmt_ps(text, ts_i64_mul(longest_ms, TS_PS_PER_MS)));
	alerts->failed |= title.failed || names.failed;
	condition.value = (double)longest_ms;
	condition.title = ts_buf_bytes(&title);
	condition.advice = TS_LIT("Look whether the process still runs, and what it wrote last.");
	if (nr_gone > 0)
		ts_alerts_hold(alerts, &condition);
	ts_buf_release(&title);
	ts_buf_release(&names);
}
