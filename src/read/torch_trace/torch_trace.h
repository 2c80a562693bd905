/* SPDX-License-Identifier: MIT */
/*
 * The reader's own header: a payload of the log as text, and what is in it (reasons.c). Only files
 * of src/read/torch_trace include it.
 */
#ifndef TS_READ_TORCH_TRACE_H
#define TS_READ_TORCH_TRACE_H

#include "model/profile.h"
#include "model/torch_log.h"

/* Fills what the story of a graph break says: place, reason, explanation, hint, stack. */
enum ts_status ts_torch_trace_break(struct ts_arena *arena, struct ts_bytes story,
				    struct ts_torch_break *row, struct ts_error *err);
/* Guards that failed, a line each, out of a list in JSON or plain lines. .p NULL: no memory. */
struct ts_bytes ts_torch_trace_guards(struct ts_arena *arena, struct ts_bytes text);
/* Cut where it is too long, without half a character. */
struct ts_bytes ts_torch_trace_cut(struct ts_bytes text);

#endif
