/* Several runs, read and analysed one after the other, that are then held against each other. */
#ifndef TS_CLI_SIDES_H
#define TS_CLI_SIDES_H

#include "cli/cli.h"
#include "compare/compare.h"
#include "flow/run.h"

struct ts_sides {
	const struct ts_cli *cli;
	const struct ts_texts *torch_logs; /* one a path; NULL or empty: none */
	struct ts_run runs[TS_COMPARE_MAX];
	struct ts_compare_run sides[TS_COMPARE_MAX]; /* look into .runs and .names */
	struct ts_buf names[TS_COMPARE_MAX];
	size_t nr_runs;
	bool merge;	       /* as in struct ts_run_options */
	bool damaged, missing; /* something is wrong with a run; one is not there. It was told */
};

void ts_sides_init(struct ts_sides *sides, const struct ts_cli *cli);
void ts_sides_release(struct ts_sides *sides);

/*
 * Reads what the command line's paths lead to. Of one path all sessions; of several each must be one,
 * or nobody knows which is which. TS_NOTFOUND: one is missing.
 */
enum ts_status ts_sides_read(struct ts_sides *sides, struct ts_error *err);

#endif
