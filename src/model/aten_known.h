/* SPDX-License-Identifier: MIT */
/*
 * The work of calls, each worked out once: most say what another one said. A reader that keeps such texts once
 * (read/chrome/args.c) gives them at one place, by which they are known again; others are worked out each time.
 */
#ifndef TS_MODEL_ATEN_KNOWN_H
#define TS_MODEL_ATEN_KNOWN_H

#include "base/map.h"
#include "model/aten_work.h"

struct ts_aten_known { /* zeroed at first */
	struct ts_map places;
	struct ts_aten_work *works;
	size_t nr, cap;
};

/* What is written beside a call: "Input type", "Concrete Inputs"; empty: it is not. */
typedef struct ts_bytes ts_aten_ask(const void *ctx, const char *name);

/* Of a call of operator OP, of which CALL has formula and "Input Dims". Its other texts are asked for where none of the operator
 * with the same dims, in the same place, was met; beyond a bound works are not kept. */
enum ts_status ts_aten_known_work(struct ts_aten_known *known, uint32_t op,
				  struct ts_aten_call *call, ts_aten_ask *ask, const void *ctx,
				  struct ts_aten_work *work, struct ts_error *err);
void ts_aten_known_release(struct ts_aten_known *known);

#endif
