/* SPDX-License-Identifier: MIT */
/*
 * The steps of the devices of many hosts: made of what their lines mark, paired and put down a host at a time, so those
 * of all are never in memory together. For the files of pod/map.h.
 */
#ifndef TS_POD_REDUCE_STEPS_H
#define TS_POD_REDUCE_STEPS_H

#include "run/outline_lines.h"

/* STEPS, which is zeroed, gets the sum over all devices, row by row; the marks of LINES are used up. OUT: those of each
 * host, a section of a parcel each. */
enum ts_status ts_reduce_steps(struct ts_profile *profile, struct ts_outline_lines *lines,
			       struct ts_steps *steps, struct ts_buf *out, struct ts_error *err);

#endif
