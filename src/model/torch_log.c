/* SPDX-License-Identifier: MIT */
/* Rows of a compiler's log. */
#include "model/torch_log.h"

#include "base/check.h"

/* One more of ROWS, as long as there are not enough; the number goes on. */
static enum ts_status torch_log_add(void *rows, size_t *cap, size_t *nr, const void *row,
				    size_t size, struct ts_error *err)
{
	size_t at = *nr;
	char *items;

	if (at < TS_LIMIT_TORCH_ROWS) {
		if (!ts_grow(rows, cap, at + 1, size))
			return ts_fail_nomem(err);
		memcpy(&items, rows, sizeof(items));
		memcpy(items + at * size, row, size);
	}
	++*nr;
	return TS_OK;
}

enum ts_status ts_torch_log_break(struct ts_torch_log *log, const struct ts_torch_break *row,
				  struct ts_error *err)
{
	TS_ASSERT(log && row);
	return torch_log_add(&log->breaks, &log->cap_breaks, &log->nr_breaks, row, sizeof(*row),
			     err);
}

enum ts_status ts_torch_log_recompile(struct ts_torch_log *log,
				      const struct ts_torch_recompile *row, struct ts_error *err)
{
	TS_ASSERT(log && row);
	return torch_log_add(&log->recompiles, &log->cap_recompiles, &log->nr_recompiles, row,
			     sizeof(*row), err);
}

enum ts_status ts_torch_log_compilation(struct ts_torch_log *log,
					const struct ts_torch_compilation *row,
					struct ts_error *err)
{
	TS_ASSERT(log && row);
	return torch_log_add(&log->compilations, &log->cap_compilations, &log->nr_compilations, row,
			     sizeof(*row), err);
}

void ts_torch_log_release(struct ts_torch_log *log)
{
	TS_ASSERT(log);
	free(log->breaks);
	free(log->recompiles);
	free(log->compilations);
	memset(log, 0, sizeof(*log));
}
