/* SPDX-License-Identifier: MIT */
/*
 * What XLA's profilers write of a launch, one text: "regs:32 static_shared:0 dynamic_shared:0
 * grid:16,1,1 block:512,1,1 occ_pct:100" (xla/backends/profiler/gpu); of a copy, "kind:... size:512".
 */
#ifndef TS_MODEL_KERNEL_DETAILS_H
#define TS_MODEL_KERNEL_DETAILS_H

#include "base/bytes.h"

/* The value behind "NAME:"; empty: it is not there. */
struct ts_bytes ts_kernel_detail(struct ts_bytes details, const char *name);
/* The same as a number, a fraction being unread; TS_UNKNOWN. */
int64_t ts_kernel_detail_number(struct ts_bytes details, const char *name);

#endif
