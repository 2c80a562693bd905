/* SPDX-License-Identifier: MIT */
/*
 * The analysis capture's own header: what hosts and devices did while the profile was taken, and
 * the causes for doubt it may have. Shared by the files capture*.c only: capture.c makes the pass,
 * capture_clocks.c the table of clocks, capture_checks.h has what looks at the numbers.
 */
#ifndef TS_ANALYSIS_CAPTURE_H
#define TS_ANALYSIS_CAPTURE_H

#include "analysis/facts/capture.h"
#include "analysis/facts/collectives.h"
#include "analysis/facts/ops.h"
#include "analysis/facts/time.h"
#include "analysis/run/capture_links.h"

#define TS_NEEDS(X) X(time) X(ops) X(collectives)
#include "analysis/kit/needs.h"

#define CAPTURE_CALLS 64 /* latest calls of jitted functions that are kept of a host */

#define CAPTURE_OPEN  16 /* latest events of a work that are kept of a thread */

/* Of a thread, then of a host. */
struct capture_work {
	uint64_t nr;
	int64_t total_ps;
	int64_t start_ps[CAPTURE_OPEN], dur_ps[CAPTURE_OPEN]; /* the latest, in the order of ends */
	size_t nr_kept;
};

struct capture_host {
	uint64_t nr_events,
		nr_calls; /* calls: of jitted functions; one inside another does not count */
	int64_t call_ps[CAPTURE_CALLS]; /* starts of the latest, in the order of time */
	size_t nr_kept;
	uint64_t nr_cpu_runs;			 /* executions by XLA's executor for CPUs */
	uint64_t nr_operators, nr_runtime_calls; /* of PyTorch; of the device's runtime */
	bool ran_on_cpu, ran_on_tpu; /* XLA's executor for CPUs, the TPU's runtime was at work */
	struct capture_work works[TS_NR_HOST_WORKS];
	struct capture_links launches, kernels;
};

struct capture_device {
	int64_t first_ps, last_ps; /* hull of what it ran; first > last: nothing */
	bool has_ops;
	uint64_t nr_modules; /* executions */
	uint64_t nr_most;    /* of the module that ran most often */
};

struct capture_state {
	/* of a line */
	uint32_t plane;
	uint8_t *classes;  /* of each op, worked out when it is first met */
	uint32_t *runs;	   /* of each op: executions of a module */
	bool is_recording; /* the thread puts into a graph what it launches */
	struct capture_host host;
	struct capture_device device;
	/* of the sum */
	struct capture_host *hosts;
	struct capture_device *devices;
	size_t nr_hosts, nr_devices;
};

/* capture_causes.c */
enum ts_status ts_capture_report(const struct capture_state *sum, const struct ts_context *ctx,
				 struct ts_capture_facts *facts, struct ts_result *result,
				 struct ts_error *err);

/* capture_clocks.c: where several hosts have cores. */
void ts_capture_put_clocks(const struct ts_context *ctx, struct ts_result *result);

#endif
