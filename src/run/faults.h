/* SPDX-License-Identifier: MIT */
/* What is said of events whose times cannot be (enum ts_fault): a damage each kind of a line, with the first of them. */
#ifndef TS_RUN_FAULTS_H
#define TS_RUN_FAULTS_H

#include "base/buf.h"
#include "model/block.h"

/* The damage; false: the line has no such fault. Its cause is in TEXT, which the caller looks at for .failed. */
bool ts_fault_tell(const struct ts_profile *profile, uint32_t line, const struct ts_faults *faults,
		   enum ts_fault fault, struct ts_buf *text, struct ts_damage *damage);

#endif
