/* SPDX-License-Identifier: MIT */
/* Lists of plain values inside a cell. */
#ifndef TS_ANALYSIS_KIT_LISTS_H
#define TS_ANALYSIS_KIT_LISTS_H

#include "result/result.h"

/* Null when memory is out, as the results then know. */
struct ts_value ts_text_list(struct ts_result *result, const struct ts_bytes *texts, size_t nr);
struct ts_value ts_int_list(struct ts_result *result, const int64_t *numbers, size_t nr);

#endif
