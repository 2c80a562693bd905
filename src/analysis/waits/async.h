/* SPDX-License-Identifier: MIT */
/*
 * The async analysis' own header, shared by async.c (the pass), async_cover.c (what could hide a
 * wait), async_facts.c (a row a transfer) and async_report.c (the tables) only.
 */
#ifndef TS_ANALYSIS_ASYNC_H
#define TS_ANALYSIS_ASYNC_H

#include "analysis/facts/async.h"
#include "analysis/facts/ops.h"

#define TS_NEEDS(X) X(ops)
#include "analysis/kit/needs.h"
#include "model/async.h"

/* Two accounts of a core's asynchronous ops. */
struct async_device {
	int64_t interval_ps; /* by starts and dones */
	int64_t line_ps;     /* by the line Async XLA Ops; 0: it has none */
};

struct async_state {
	/* of a line */
	bool is_core;
	uint32_t device;
	int64_t line_ps;
	/* of a line, and of the sum */
	struct ts_async_slots slots;
	struct ts_async_seen *seen; /* of each slot */
	size_t nr_seen;
	/* of the sum */
	struct async_device *devices;
	size_t nr_devices;
};

/* What one wait has beside it in the schedule of its computation. Times are those of one execution
 * of it, the means of the run. */
struct async_cover {
	bool known;	    /* the module is there, with its schedule */
	int64_t between_ps; /* compute between the start and the done now */
	uint32_t between;   /* the longest of it, an instruction; TS_NONE */
	int64_t free_ps;    /* compute before and after that neither feeds nor uses it */
	uint32_t free;
	uint32_t nr_free;
};

/* A computation whose ops are asked about, with what each instruction of the module takes. */
struct async_schedule {
	const struct ts_hlo_module *module;
	int64_t *mean_ps; /* of each instruction of the module; 0: no compute, or not run */
	uint8_t *marks;	  /* scratch: one an instruction */
	uint32_t *queue;  /* likewise */
	bool *is_free;	  /* that could hide some wait so far */
};

enum ts_status ts_async_schedule_init(struct async_schedule *schedule, const struct ts_context *ctx,
				      uint32_t module, struct ts_error *err);
void ts_async_schedule_release(struct async_schedule *schedule);
/* START and DONE are one where an op stands for itself. */
struct async_cover ts_async_cover_of(struct async_schedule *schedule, uint32_t start,
				     uint32_t done);

/* A slot over all cores. */
struct async_row {
	uint32_t op;
	struct ts_async_seen seen;
	struct async_cover cover;
	int64_t coverable_ps; /* of the exposed time; -1: unknown */
};

#define ASYNC_MAX_COVERED 512 /* rows for which it is asked what could hide them */
#define ASYNC_MAX_LISTED  1000 /* rows in the table and the facts */

struct async_rows {
	struct async_row *items; /* the most exposed first */
	size_t nr;
};

/* async_facts.c: fills ROWS, whose items the caller frees, and FACTS. */
enum ts_status ts_async_read(const struct async_state *sum, const struct ts_context *ctx,
			     struct ts_arena *arena, struct async_rows *rows,
			     struct ts_async_facts *facts, struct ts_error *err);

/* async_report.c */
void ts_async_report(const struct async_state *sum, const struct ts_context *ctx,
		     const struct async_rows *rows, const struct ts_async_facts *facts,
		     struct ts_result *result);

#endif
