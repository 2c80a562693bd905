/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a job, whose traces are a file each, as one trace for Perfetto: the manifest of
 * ALL_RANKS.perfetto.zip (docs/reference/perfetto-manifest.md in google/perfetto, version 1). Each rank is
 * a machine of its own, and all of them count from one moment: the time of day where the traces know it
 * (PyTorch's baseTimeNanoseconds), else where the run began. Copies in Perfetto's own form say both
 * themselves.
 */
#ifndef TS_RUN_RANKS_H
#define TS_RUN_RANKS_H

#include "run/run.h"
#include "overlay/apply.h"

struct ts_ranks {
	struct ts_arena arena;
	struct ts_buf manifest;
	struct ts_overlay_ranks plan;
};

#define TS_RANKS_INIT { TS_ARENA_INIT, TS_BUF_INIT, { { NULL, 0 }, NULL, 0, NULL } }

/* Of the copies of KIND. RUN is of SESSION and analysed. Where there are not several traces of which all could be read,
 * ranks->plan says so. The caller releases in any case. */
enum ts_status ts_ranks_make(struct ts_ranks *ranks, const struct ts_session *session,
			     const struct ts_run *run, enum ts_trace_kind kind, const char *version,
			     struct ts_error *err);
void ts_ranks_release(struct ts_ranks *ranks);

#endif
