/*
 * Alerts: what is wrong with the job for longer than a moment.
 *
 * A rule is a figure against its threshold, or a rule of the doctor that found something in the
 * sample. Each sample says of a rule that it holds, does not, or nothing (nobody answered, the figure
 * is unknown). It is raised once it has held for its hold time, and cleared once it has not
 * for the clear time; a figure must come back by a tenth of its threshold to count as good. So an
 * alert neither flaps nor repeats: it is told when it is raised, when it gets more severe, and when
 * it is cleared.
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
	int64_t since_ms; /* by ts_now_ms(): when it was raised; of one cleared: when it was */
	double value, threshold;	       /* NaN: a finding has none */
	struct ts_buf title, evidence, advice; /* the latest words */
	/* of the state */
	int64_t held_since_ms, good_since_ms; /* -1: not so now */
	bool is_held;			      /* in this sample */
};

/* Told of every change; the alert is good during the call. */
typedef void ts_alert_fn(void *ctx, const struct ts_alert *alert);

struct ts_alerts {
	const struct ts_settings *settings;
	int64_t hold_ms, clear_ms, now_ms;
	struct ts_alert items[TS_MAX_ALERTS];
	size_t nr;
	uint64_t nr_raised[TS_NR_SEVERITIES]; /* so far */
	bool failed;			      /* memory was out: words are missing */
};

void ts_alerts_init(struct ts_alerts *alerts, const struct ts_settings *settings, int64_t hold_ms,
		    int64_t clear_ms);
void ts_alerts_release(struct ts_alerts *alerts);

/* Another subject is looked at from here on: what is active is so no longer, without a word. */
void ts_alerts_forget(struct ts_alerts *alerts);

/*
 * A sample: begin, any conditions, end. KNOWN: what does not hold in it is good; else nothing was
 * learnt, and only the conditions named count.
 */
void ts_alerts_begin(struct ts_alerts *alerts, int64_t now_ms);
struct ts_condition {
	const char *rule;
	enum ts_severity severity;
	struct ts_bytes title, evidence, advice;
	double value, threshold;
	bool at_once; /* needs no hold time: it has its own evidence over time */
};
void ts_alerts_hold(struct ts_alerts *alerts, const struct ts_condition *condition);
/* Of the figures: the rules of the table in alert.c. RESULTS of the sample say where it comes from;
 * may be NULL. */
void ts_alerts_metrics(struct ts_alerts *alerts, const double values[TS_NR_METRICS],
		       const struct ts_results *results);
/* Of the doctor's findings: all but info, those about the capture itself, and those that a figure
 * tells better, or, of samples of a job, the watch over programs. */
void ts_alerts_findings(struct ts_alerts *alerts, const struct ts_results *results, bool is_sample);
void ts_alerts_end(struct ts_alerts *alerts, bool known, ts_alert_fn *fn, void *ctx);

#endif
