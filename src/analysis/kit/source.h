/* SPDX-License-Identifier: MIT */
/* Where a user's code stands, as tables and sentences show it. */
#ifndef TS_ANALYSIS_KIT_SOURCE_H
#define TS_ANALYSIS_KIT_SOURCE_H

#include "model/hlo.h"
#include "result/result.h"

/* "train.py:42", in the results' arena; without a line, below 0, the file alone. .n 0: it is unknown. */
static inline struct ts_bytes ts_source_text(struct ts_result *result, struct ts_bytes file,
					     int64_t line)
{
	if (file.n == 0 || line < 0)
		return file;
	return ts_result_text(result, "%.*s:%lld", TS_ARG(file), (long long)line);
}

/* "train.py:42" of an instruction, in the results' arena; .n 0: it is unknown, or INSTR is NULL. */
static inline struct ts_bytes ts_instr_source(struct ts_result *result,
					      const struct ts_hlo_instr *instr)
{
	if (!instr || instr->source_file.n == 0)
		return (struct ts_bytes){ NULL, 0 };
	return ts_result_text(result, "%.*s:%d", TS_ARG(instr->source_file), instr->source_line);
}

#endif
