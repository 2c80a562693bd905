/*
 * The async analysis' own header: between the pass (async.c), what could hide a wait (async_cover.c)
 * and the rows (async_report.c). No other analysis includes this.
 */
#ifndef TS_ANALYSIS_ASYNC_H
#define TS_ANALYSIS_ASYNC_H

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
	struct async_device *devices;
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

bool async_schedule_init(struct async_schedule *schedule, const struct ts_context *ctx,
			 uint32_t module);
void async_schedule_release(struct async_schedule *schedule);
/* START and DONE are one where an op stands for itself. */
struct async_cover async_cover_of(struct async_schedule *schedule, uint32_t start, uint32_t done);

enum ts_status async_report(struct async_state *sum, const struct ts_context *ctx,
			    struct ts_result *result, struct ts_error *err);

#endif
