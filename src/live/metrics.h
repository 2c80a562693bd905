/* SPDX-License-Identifier: MIT */
/*
 * The figures of a sample, which are watched over time. Each is a row of a table; most are fields
 * of the results. An unknown figure is NaN.
 */
#ifndef TS_LIVE_METRICS_H
#define TS_LIVE_METRICS_H

#include "model/outline.h"
#include "result/schema.h"

enum ts_metric {
	TS_METRIC_MXU, /* %, as overview.mxu_utilization_pct */
	TS_METRIC_HBM,
	TS_METRIC_DUTY,
	TS_METRIC_PADDING,
	TS_METRIC_IDLE, /* % of the cores' time */
	TS_METRIC_COMMUNICATION,
	TS_METRIC_INPUT,
	TS_METRIC_COMPILING,	  /* % of the sample in which a host compiled */
	TS_METRIC_COMPILATION,	  /* ms in the last minute, from the share in its samples */
	TS_METRIC_STEP,		  /* ps, the median step in the sample, from start to start */
	TS_METRIC_STEP_MARKED,	  /* ps, the median time within the mark of a step */
	TS_METRIC_STEP_UNSAMPLED, /* ps, of the steps between this sample and the one before */
	TS_METRIC_SAMPLED,	  /* % of the time that was sampled until now */
	TS_METRIC_COST,		  /* %, how much slower that made the job until now */
	TS_METRIC_MEMORY,	  /* bytes in use */
	TS_METRIC_NO_STEP,	  /* ms since the job was last seen to advance */
	TS_METRIC_HEALTH,
	TS_NR_METRICS
};

enum ts_metric_unit {
	TS_METRIC_PCT,
	TS_METRIC_MS,
	TS_METRIC_PS,
	TS_METRIC_BYTES,
	TS_METRIC_POINTS
};

struct ts_metric_row {
	const char *name;  /* its name in the JSON lines */
	const char *label; /* its name on screens */
	enum ts_metric_unit unit;
	/* it is in the plain lines and at the top of the terminal's view */
	bool is_vital;
	const struct ts_schema *result; /* NULL: it is computed from several samples */
	size_t field;			/* of it */
};

extern const struct ts_metric_row ts_metric_rows[TS_NR_METRICS];

/* Fills the figures that come from this sample alone; the others become NaN. */
void ts_metrics_read(double out[TS_NR_METRICS], const struct ts_results *results);

/* "81.2 %", "1.23 ms"; "-" where it is unknown. */
const char *ts_metric_text(char *out, size_t cap, enum ts_metric metric, double value);

#endif
