/* SPDX-License-Identifier: MIT */
/* Several runs, read and analysed one after the other, that are then held against each other. */
#ifndef TS_CLI_OPEN_RUNS_H
#define TS_CLI_OPEN_RUNS_H

#include "cli/cli.h"
#include "compare/compare.h"
#include "run/run.h"

struct ts_open_runs {
	const struct ts_cli *cli;
	const struct ts_texts *torch_logs; /* one a path; NULL or empty: none */
	const struct ts_texts *labels;	   /* likewise, one a run */
	struct ts_run items[TS_COMPARE_MAX];
	struct ts_compare_run compared[TS_COMPARE_MAX]; /* look into .items and .names */
	struct ts_buf names[TS_COMPARE_MAX];
	size_t nr_runs;
	bool interleave; /* as in struct ts_run_options */
	bool damaged,
		missing; /* something is wrong with a run; one is not there. Both are on the console */
};

void ts_open_runs_init(struct ts_open_runs *runs, const struct ts_cli *cli);
void ts_open_runs_release(struct ts_open_runs *runs);

/*
 * Reads what the command line's paths lead to. Of one path all sessions; of several each must be one,
 * for it must be clear which run is which. TS_NOTFOUND: one is missing. TS_USAGE: there are labels,
 * and not one a run.
 */
enum ts_status ts_open_runs_read(struct ts_open_runs *runs, struct ts_error *err);

#endif
