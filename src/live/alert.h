/* SPDX-License-Identifier: MIT */
/*
 * Alerts: what is wrong with the job for longer than a moment.
 *
 * A rule is a figure against its threshold, or a rule of the doctor that found something in the
 * sample. In a sample a rule holds, does not hold, or is unknown (no host answered, or the figure
 * is unknown). An alert is raised when its rule has held for the hold time. It is cleared when the
 * rule has not held for the clear time; a figure must come back by a tenth of its threshold to
 * count as good. So an alert neither flaps nor repeats: it is reported when it is raised, when it
 * gets more severe, and when it is cleared.
 */
#ifndef TS_LIVE_ALERT_H
#define TS_LIVE_ALERT_H

#include "analysis/analysis.h"
#include "live/metrics.h"

#define TS_MAX_ALERTS	  64
#define TS_ALERT_HOLD_MS  1000
#define TS_ALERT_CLEAR_MS 5000

struct ts_alert {
	char rule[64]; /* a threshold's name, or a rule of the doctor */
	enum ts_severity severity;
	bool is_active;
	int64_t since_ms; /* by ts_now_ms(): when it was raised, or cleared if it is not active */
	double value, threshold;	       /* NaN where there is none, as for a finding */
	struct ts_buf title, evidence, advice; /* of the latest sample in which it held */
	/* The state over time: */
	int64_t held_since_ms, good_since_ms; /* -1: not at present */
	bool is_held;			      /* in this sample */
};

/* Called at every change; the alert is good during the call. */
typedef void ts_alert_fn(void *ctx, const struct ts_alert *alert);

struct ts_alerts {
	const struct ts_settings *settings;
	int64_t hold_ms, clear_ms, now_ms;
	struct ts_alert items[TS_MAX_ALERTS];
	size_t nr;
	uint64_t nr_raised[TS_NR_SEVERITIES]; /* since the start */
	bool failed;			      /* there was no memory: texts are missing */
};

void ts_alerts_init(struct ts_alerts *alerts, const struct ts_settings *settings, int64_t hold_ms,
		    int64_t clear_ms);
void ts_alerts_release(struct ts_alerts *alerts);

/* From here on another subject is judged: no alert is active any more, and none of this is
 * reported. */
void ts_alerts_forget(struct ts_alerts *alerts);

/*
 * One sample: begin, then its conditions, then end. With KNOWN, a rule that was not given as a
 * condition is good; without it, the sample says nothing about the other rules.
 */
void ts_alerts_begin(struct ts_alerts *alerts, int64_t now_ms);
struct ts_condition {
	const char *rule;
	enum ts_severity severity;
	struct ts_bytes title, evidence, advice;
	double value, threshold;
	bool at_once; /* it needs no hold time: its evidence is from several samples */
};
void ts_alerts_hold(struct ts_alerts *alerts, const struct ts_condition *condition);
/* The conditions of the figures, by the table in alert.c. RESULTS of the sample, which may be NULL,
 * give the evidence. */
void ts_alerts_metrics(struct ts_alerts *alerts, const double values[TS_NR_METRICS],
		       const struct ts_results *results);
/* The conditions of the doctor's findings. Left out are findings of severity info, those about
 * the capture itself, those that a figure covers, and, with IS_SAMPLE, those that
 * live/programs.h covers. */
void ts_alerts_findings(struct ts_alerts *alerts, const struct ts_results *results, bool is_sample);
void ts_alerts_end(struct ts_alerts *alerts, bool known, ts_alert_fn *fn, void *ctx);

#endif
