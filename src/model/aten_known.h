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

/* Of a call of operator OP whose "Input Dims" stand at DIMS; NULL: it is not known. */
const struct ts_aten_work *ts_aten_known_find(const struct ts_aten_known *known, uint32_t op,
					      struct ts_bytes dims);
/* Beyond a bound they are not kept. */
enum ts_status ts_aten_known_put(struct ts_aten_known *known, uint32_t op, struct ts_bytes dims,
				 const struct ts_aten_work *work, struct ts_error *err);
void ts_aten_known_release(struct ts_aten_known *known);

#endif
