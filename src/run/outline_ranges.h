/* SPDX-License-Identifier: MIT */
/*
 * Where no line of a device marks steps: ranges of the hosts' threads that do (model/step_mark.h). In this order:
 *
 *   what --step-mark names, then what a server or a framework writes once a step: marked;
 *   a range of the user's that repeats on one thread and holds the launches, the one with most of them that does:
 *   inferred from it;
 *   Optimizer.step, which torch writes: a step lasts from the end of one to the end of the next. It goes before a
 *   range that repeats more often than it, as that of a micro-batch does.
 */
#ifndef TS_RUN_OUTLINE_RANGES_H
#define TS_RUN_OUTLINE_RANGES_H

#include "model/step_mark.h"
#include "run/outline_steps.h"

/* Of each device the line of its host that marks steps, into FINDING; none: .ranges.mark is TS_MARK_NONE. */
enum ts_status ts_outline_ranges_find(struct ts_outline_steps *finding, struct ts_steps *steps,
				      struct ts_error *err);
/* The steps of one device. */
enum ts_status ts_outline_ranges_make(const struct ts_outline_steps *finding, uint32_t line,
				      struct ts_steps *steps, struct ts_device_steps *of,
				      struct ts_error *err);

#endif
