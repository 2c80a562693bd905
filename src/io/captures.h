/* SPDX-License-Identifier: MIT */
/*
 * Captures: which traces of one folder belong together.
 *
 * In a session of TensorBoard's layout all do, unless a worker is in it twice: then its second traces are
 * the next capture. In any other folder (torch.profiler.tensorboard_trace_handler writes into the log
 * directory itself) there may be traces of many runs, each process a worker of its own. There,
 * traces are the ranks of one job where all of this holds:
 *  - their heads say so: distributedInfo with the same world_size, more than one, and other ranks; or, in
 *    heads without it, their names (rank_0.json);
 *  - their heads do not name devices of two kinds (deviceProperties);
 *  - their names are of other workers, and of times no further apart than TS_CAPTURE_S, or of none.
 * A trace that names no job is a capture by itself.
 */
#ifndef TS_IO_CAPTURES_H
#define TS_IO_CAPTURES_H

#include "io/rundir.h"

#define TS_CAPTURE_S 60

/*
 * CAPTURE[i] gets the number of FILES[i]'s capture, from 0 in the order of their times. Where
 * a folder that is not a session has several files, their heads are read.
 */
enum ts_status ts_captures_tell(const struct ts_hostfile *files, size_t nr, bool is_session,
				uint32_t *capture, struct ts_error *err);

/*
 * Is the file PATH of this NAME the trace of a rank, although its name is not that of a profiler's trace?
 * HTA's users name them so: rank_0.json, or any .json[.gz] whose head is Kineto's. Its head
 * is read; ANY_NAME: of names without a rank, too.
 */
enum ts_status ts_captures_is_rank(const char *path, struct ts_bytes name, bool any_name,
				   bool *is_rank, struct ts_error *err);

#endif
