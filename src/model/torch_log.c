/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a compiler's log. */
#include "model/torch_log.h"

#include "base/check.h"

/* Room for one more of NR; false: no memory, or there are enough. */
static bool room(void *items, size_t *cap, size_t nr, size_t size, bool *nomem)
{
	if (nr >= TS_LIMIT_TORCH_ROWS)
		return false;
	*nomem = !ts_grow(items, cap, nr + 1, size);
	return !*nomem;
}

struct ts_torch_break *ts_torch_log_break(struct ts_torch_log *log, bool *nomem)
{
	size_t nr = log->nr_breaks;

	TS_ASSERT(log && nomem);
	*nomem = false;
	if (nr < TS_LIMIT_TORCH_ROWS &&
	    !room(&log->breaks, &log->cap_breaks, nr, sizeof(*log->breaks), nomem))
		return NULL;
	log->nr_breaks++;
	return nr < TS_LIMIT_TORCH_ROWS ? &log->breaks[nr] : NULL;
}

struct ts_torch_recompile *ts_torch_log_recompile(struct ts_torch_log *log, bool *nomem)
{
	size_t nr = log->nr_recompiles;

	TS_ASSERT(log && nomem);
	*nomem = false;
	if (nr < TS_LIMIT_TORCH_ROWS &&
	    !room(&log->recompiles, &log->cap_recompiles, nr, sizeof(*log->recompiles), nomem))
		return NULL;
	log->nr_recompiles++;
	return nr < TS_LIMIT_TORCH_ROWS ? &log->recompiles[nr] : NULL;
}

struct ts_torch_compilation *ts_torch_log_compilation(struct ts_torch_log *log, bool *nomem)
{
	size_t nr = log->nr_compilations;

	TS_ASSERT(log && nomem);
	*nomem = false;
	if (nr < TS_LIMIT_TORCH_ROWS && !room(&log->compilations, &log->cap_compilations, nr,
					      sizeof(*log->compilations), nomem))
		return NULL;
	log->nr_compilations++;
	return nr < TS_LIMIT_TORCH_ROWS ? &log->compilations[nr] : NULL;
}

void ts_torch_log_release(struct ts_torch_log *log)
{
	TS_ASSERT(log);
	free(log->breaks);
	free(log->recompiles);
	free(log->compilations);
	memset(log, 0, sizeof(*log));
}
