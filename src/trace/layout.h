/* SPDX-License-Identifier: MIT */
/*
 * What stands where in a trace: machines, processes and rows in order, before anything is written.
 *
 *	struct ts_trace_layout layout = { .profile = ..., .results = ..., .plan = ..., .form = ... };
 *	ts_trace_layout_make(&layout, err);
 *	... rows on threads, processes in the head ...
 *	ts_trace_layout_release(&layout);
 */
#ifndef TS_TRACE_LAYOUT_H
#define TS_TRACE_LAYOUT_H

#include "base/arena.h"
#include "trace/row.h"

struct ts_trace_process {
	uint32_t plane; /* TS_NONE: of the findings */
	uint32_t first_row, nr_rows, pid, machine;
	uint32_t order; /* of display: the findings' is above all others */
	struct ts_bytes name;
};

/*
 * Numbers of processes and rows: those of a host depend on its own number in the run and on what it
 * has, so that a host's part of a file can be made where the others are not. What is past them is
 * left out. The findings' follow the last host's; where there is one host alone, all follow each other.
 */
#define TS_TRACE_HOST_NUMBERS 10000

/* What a host has, or what is the run's own: processes, and their rows. */
struct ts_trace_part {
	uint32_t first_process, nr_processes, first_row, nr_rows;
};

struct ts_trace_layout {
	/* The caller's, which outlive it: */
	const struct ts_profile *profile;
	const struct ts_results *results; /* NULL: no rows of ours */
	const struct ts_trace_plan *plan; /* closed */
	const struct ts_perfetto_form *form;
	bool is_part;  /* of .host alone, which others are joined with: without findings */
	uint32_t host; /* of a part */
	const struct ts_track *story; /* of the run, from elsewhere; NULL: made of the results */
	size_t nr_story;
	/* Made: */
	struct ts_arena arena;		      /* names */
	struct ts_perfetto_machine *machines; /* one a host */
	struct ts_trace_process *processes;
	struct ts_trace_row *rows;
	struct ts_trace_part *parts; /* one a host, then the run's */
	struct ts_perfetto_gpu *gpus;
	size_t nr_gpus, nr_processes, cap_processes, nr_rows, cap_rows;
	uint32_t next_process, next_row; /* the numbers that come next */
	uint32_t numbers_end;		 /* of the host at work */
	int64_t shift_ns; /* added to every time of the run, so that none is negative */
};

enum ts_status ts_trace_layout_make(struct ts_trace_layout *layout, struct ts_error *err);
void ts_trace_layout_release(struct ts_trace_layout *layout);

/* What is added to the times of a run whose first event begins there. */
int64_t ts_trace_shift_ns(int64_t first_ps);

/* The run's: of a file of one host the only one. */
static inline const struct ts_perfetto_machine *ts_trace_first_machine(
	const struct ts_trace_layout *layout)
{
	return &layout->machines[layout->plan->host == TS_NONE ? 0 : layout->plan->host];
}

#endif
