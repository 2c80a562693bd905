/* SPDX-License-Identifier: MIT */
/*
 * A report that fits one screen: what was profiled, the verdict, where the time went, and as many findings
 * as there is room for, the first ones.
 *
 *	run/session
 *	1 host · 4 x TPU v6e · 395.1 ms · 20 steps · jit_train_step · 2026-01-01 00:00:00 UTC
 *	health 50/100   duty cycle 87.6 %   MXU 19.5 %   HBM 43.8 %   padding 1.2 %
 *
 *	Your workload is memory-bound (it waits for HBM)
 *	core time: memory wait 30.4 % · communication 22.2 % · compute 21.0 % · ...
 *
 *	1 critical  The matrix units run at 19 % of their peak over the run: ...
 *
 * Read from the results "overview" (or whichever is top-level), "capture", "time" and "doctor"; what is not
 * there is left out.
 */
#ifndef TS_WRITE_SCREEN_H
#define TS_WRITE_SCREEN_H

#include "write/output.h"

#define TS_SCREEN_WIDTH	 80 /* where the terminal does not say */
#define TS_SCREEN_HEIGHT 24

/* In report->height lines of report->width columns; with report->top so many findings, however high. */
void ts_screen_text(struct ts_buf *out, const struct ts_results *results,
		    const struct ts_report *report);

#endif
