/* SPDX-License-Identifier: MIT */
/*
 * The time breakdown below its heading: a row for each bucket that holds time. What is shown adds up:
 * rows to their total and shares to 100.0 % in the digits on the screen, not only in the numbers
 * behind them (largest remainders are rounded up). One unit for all, chosen from the total: s above
 * 100 s, µs below 0.1 ms, else ms.
 */
#ifndef TS_WRITE_BREAKDOWN_H
#define TS_WRITE_BREAKDOWN_H

#include "result/result.h"

struct ts_breakdown_row {
	const char *label;
	int64_t ps; /* not above 0: no row */
};

#define TS_BREAKDOWN_MAX 16 /* rows; more are left out */

/* BOTTLENECK NULL or empty: no such line; it is wrapped to COLUMNS (0: one line). */
void ts_breakdown_text(struct ts_buf *out, const struct ts_breakdown_row *rows, size_t nr,
		       int64_t total_ps, const char *bottleneck, size_t columns);
/* The breakdown of the result "time", largest bucket first: time of the run, the mean of its cores. False:
 * it has no total; nothing is written. */
bool ts_breakdown_of_time(struct ts_buf *out, const struct ts_result *time, size_t columns);

#endif
