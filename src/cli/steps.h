/* SPDX-License-Identifier: MIT */
/* What map and reduce share: the word of the step, files that a step before wrote, lists of files. */
#ifndef TS_CLI_STEPS_H
#define TS_CLI_STEPS_H

#include "cli/cli.h"
#include "pod/map.h"

/* Takes the first path off, which is the name of one of STEPS (NULL at the end): *STEP is which. */
enum ts_status ts_step_take(struct ts_cli *cli, const char *const *steps, size_t *step,
			    struct ts_error *err);
/* The path on line INDEX of the file LIST, counted from 0, becomes one of the paths. */
enum ts_status ts_step_take_line(struct ts_cli *cli, const char *list, size_t index,
				 struct ts_error *err);
/* Opens a file that a step wrote; it is noted as one that the command reads. */
enum ts_status ts_step_input(const struct ts_cli *cli, const char *path, struct ts_input *input,
			     struct ts_map_input *opened, struct ts_error *err);
enum ts_status ts_step_no_output(struct ts_error *err);

#endif
