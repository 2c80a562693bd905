/* SPDX-License-Identifier: MIT */
/* What the analyses of PyTorch's compiler share: ids of compilations as text, and what an op of a trace is
 * to the compiler, asked once an op. */
#ifndef TS_ANALYSIS_KIT_TORCH_H
#define TS_ANALYSIS_KIT_TORCH_H

#include "model/profile.h"
#include "model/torch_event.h"
#include "result/result.h"

/* "0/1", "!3", "!3/0/1", in the results' arena; .n 0: the trace gave no id. */
struct ts_bytes ts_compile_id_text(struct ts_result *result, struct ts_compile_id id);

/* KNOWN is the caller's byte for this op: 0 before the first time. */
enum ts_torch_event ts_torch_event_once(uint8_t *known, const struct ts_op *op);

#endif
