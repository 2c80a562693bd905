/* SPDX-License-Identifier: MIT */
/*
 * Files with a trace for a viewer, by their names: what PyTorch's and JAX's profilers write.
 *
 * A trace stands for the run where there is no xplane of it. PyTorch writes one file a worker and
 * capture (torch.profiler.tensorboard_trace_handler), WORKER.TIME.pt.trace.json, each capture of a
 * worker under a later time.
 */
#ifndef TS_IO_TRACEFILE_H
#define TS_IO_TRACEFILE_H

#include "base/bytes.h"

/* A trace of the user's with our tracks in it, beside the original, which stays as it is. */
#define TS_ANNOTATED_SUFFIX	   ".tpusight.json.gz"
#define TS_ANNOTATED_PFTRACE_SUFFIX ".tpusight.pftrace" /* the same in Perfetto's own form */
#define TS_ANNOTATED_REPORT_SUFFIX ".tpusight.report.json"
#define TS_ANNOTATED_SQL_SUFFIX	   ".tpusight.sql"
#define TS_ANNOTATED_KEY	   "tpusight_annotation" /* names what is put behind its first bracket */
#define TS_ANNOTATED_OBJECT	   "\"" TS_ANNOTATED_KEY "\":{\"generator\":\"tpusight\""
#define TS_ANNOTATED_ARRAY	   "{\"name\":\"" TS_ANNOTATED_KEY "\",\"ph\":\"M\""

bool ts_tracefile_is(struct ts_bytes name);
bool ts_tracefile_is_named(struct ts_bytes name); /* may be one: .json, .trace, packed or not */
/* A log of PyTorch's compiler, as TORCH_TRACE names it: dedicated_log_torch_trace_*.log, or packed. */
bool ts_tracefile_is_torch_log(struct ts_bytes name);
bool ts_tracefile_is_pytorch(struct ts_bytes name); /* one of WORKER.TIME.pt.trace.json[.gz] */
/* RANK of a name that says it, as in rank0.json, rank-0.json.gz, trace_rank_0_step5.json; -1: it does not. */
int64_t ts_tracefile_rank(struct ts_bytes name);
bool ts_tracefile_is_ours(struct ts_bytes name);     /* an annotated copy, or a report beside it */
bool ts_tracefile_is_perfetto(struct ts_bytes name); /* one made for ui.perfetto.dev */
/* The name without what says that it is a trace; the whole name of other files. */
struct ts_bytes ts_tracefile_host(struct ts_bytes name);
/* WORKER of WORKER.TIME: what is left of a host without the number at its end. */
struct ts_bytes ts_tracefile_worker(struct ts_bytes host);
/*
 * TIME of WORKER.TIME in seconds, in whatever unit it was written (the number of its digits shows
 * it); -1: there is no time.
 */
int64_t ts_tracefile_seconds(struct ts_bytes host);
/* The name without .json or .json.gz: what the names of its annotated copy and report begin with. */
struct ts_bytes ts_tracefile_stem(struct ts_bytes name);
/* Is this content, packed or not, an annotated copy that we made? */
bool ts_tracefile_is_annotated(struct ts_bytes bytes, struct ts_error *err);

/* Is this a file that begins with TS_REPORT_HEAD bytes as our report in JSON does? Fewer are a shorter file. */
#define TS_REPORT_HEAD	 256
#define TS_REPORT_FAMILY "tpusight/" /* what the value of its key "schema" begins with */
bool ts_report_is_ours(struct ts_bytes file);

#endif
