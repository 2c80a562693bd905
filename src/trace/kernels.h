/* SPDX-License-Identifier: MIT */
/*
 * The launches of a row of a GPU: what kernel, with which grid, blocks and registers. Each stands
 * once, however often it was launched, and so do the form's bytes of it, for as long as the row is
 * at work. Of a row's launches past TS_TRACE_KERNELS nothing is known.
 */
#ifndef TS_TRACE_KERNELS_H
#define TS_TRACE_KERNELS_H

#include "base/map.h"
#include "model/block.h"
#include "trace/perfetto/perfetto.h"

#define TS_TRACE_KERNELS 65536 /* of a row: some 200 bytes each */

struct ts_trace_kernel;

struct ts_trace_kernels {
	struct ts_trace_kernel *items;
	size_t nr, cap;
	struct ts_map numbers;
	struct ts_buf tails;
};

/* A row begins. */
void ts_trace_kernels_clear(struct ts_trace_kernels *kernels);
void ts_trace_kernels_release(struct ts_trace_kernels *kernels);

/* *NUMBER: of the event's launch, from 1 on; 0: it has none. The block has its stats. */
enum ts_status ts_trace_kernels_see(struct ts_trace_kernels *kernels, const struct ts_block *block,
				    size_t i, uint32_t *number, struct ts_error *err);
/* What a slice of launch NUMBER says of it, until the next call; OUT gets what must stand before the
 * first such slice. Failure of memory is .tails' and OUT's. */
struct ts_bytes ts_trace_kernels_tail(struct ts_trace_kernels *kernels, uint32_t number,
				      const struct ts_perfetto_form *form,
				      const struct ts_perfetto_lane *lane,
				      const struct ts_profile *profile, struct ts_buf *out);

#endif
