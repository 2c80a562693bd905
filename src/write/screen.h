/* SPDX-License-Identifier: MIT */
/*
 * A report on one screen: what was profiled, key figures, the verdict, where the time went, and the first findings with what to do.
 *
 *	run/session
 *	1 host · 4 x TPU v6e · 395.1 ms · 20 steps, median 16.9 ms · jit_train_step · 2026-01-01 00:00:00 UTC
 *	health 50/100   device busy 87.6 % (good)   MXU 19.5 % (poor)   HBM 43.8 % (fair)
 *
 *	Nothing dominates: compute 30 %, communication 22 %, waiting for memory 21 %
 *	device time: compute 29.7 % · communication 22.2 % · ...
 *
 *	Findings, by the time they could save:
 *	1 warning    54.4 ms  Rematerialization takes 14 % of device time (model.py:26)
 *	   do: save more of what is cheap to keep
 *
 * Read from the results "overview" (or whichever is top-level), "capture", "time" and "doctor"; what is not
 * there is left out.
 */
#ifndef TS_WRITE_SCREEN_H
#define TS_WRITE_SCREEN_H

#include "write/output.h"

#define TS_SCREEN_WIDTH 80 /* where the terminal does not say */

/* In report->width columns; with report->top so many findings. */
void ts_screen_text(struct ts_buf *out, const struct ts_results *results,
		    const struct ts_report *report);

#endif
