/* SPDX-License-Identifier: MIT */
/*
 * What PyTorch's compiler writes about its work in its structured log (TORCH_TRACE): where and why
 * graphs broke, why frames were compiled again, and how long each compilation took. Made by
 * read/torch_trace.
 *
 * Texts are in the profile's arena, the rows die with the profile. Numbers that a record does not have are TS_UNKNOWN; texts
 * are cut to TS_LIMIT_TORCH_TEXT bytes, and what is beyond TS_LIMIT_TORCH_ROWS of a kind is only counted.
 */
#ifndef TS_MODEL_TORCH_LOG_H
#define TS_MODEL_TORCH_LOG_H

#include "base/arena.h"
#include "base/limits.h"
#include "model/torch_event.h"

struct ts_torch_break {
	struct ts_compile_id id;
	int64_t attempt, rank;
	struct ts_bytes file; /* of the user's code; empty: not said */
	int64_t line;
	struct ts_bytes function;
	struct ts_bytes reason, explanation, hint; /* empty: not said */
	struct ts_bytes stack; /* a line a frame, the outermost first: "train.py:12 in forward" */
};

struct ts_torch_recompile {
	struct ts_compile_id id;
	int64_t rank;
	struct ts_bytes reason; /* guards that failed, a line each */
};

struct ts_torch_compilation {
	struct ts_compile_id id;
	int64_t rank;
	bool is_backward;
	struct ts_bytes function, file; /* empty of backward graphs */
	int64_t line;
	int64_t total_ps; /* of it: */
	int64_t backend_ps, inductor_ps, codegen_ps;
	int64_t nr_ops, nr_guards; /* of the graph Dynamo captured */
	struct ts_bytes failure;   /* why it was given up; empty: it was not */
	struct ts_bytes recompile_reason,
		restart_reason; /* restart: versions that do not log breaks */
};

struct ts_torch_log {
	struct ts_torch_break *breaks;
	struct ts_torch_recompile *recompiles;
	struct ts_torch_compilation *compilations;
	size_t nr_breaks, nr_recompiles, nr_compilations;    /* all that there were */
	size_t nr_files;				     /* 0: there is no log */
	struct ts_bytes version;			     /* of PyTorch; empty: not said */
	size_t cap_breaks, cap_recompiles, cap_compilations; /* the reader's own */
};

/* ROW is copied to the end; where as many are there as are kept, it is counted. */
enum ts_status ts_torch_log_break(struct ts_torch_log *log, const struct ts_torch_break *row,
				  struct ts_error *err);
enum ts_status ts_torch_log_recompile(struct ts_torch_log *log,
				      const struct ts_torch_recompile *row, struct ts_error *err);
enum ts_status ts_torch_log_compilation(struct ts_torch_log *log,
					const struct ts_torch_compilation *row,
					struct ts_error *err);
void ts_torch_log_release(struct ts_torch_log *log);

/* How many of NR are kept. */
static inline size_t ts_torch_log_kept(size_t nr)
{
	return TS_MIN(nr, (size_t)TS_LIMIT_TORCH_ROWS);
}

#endif
