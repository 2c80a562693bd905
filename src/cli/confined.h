/* SPDX-License-Identifier: MIT */
/* The program gives up what its command does not need, before it reads foreign bytes (io/confine.h). */
#ifndef TS_CLI_CONFINED_H
#define TS_CLI_CONFINED_H

#include "cli/cli.h"

/*
 * To be called once, when options and paths are known and no thread was made. What may be opened
 * from then on: the paths of the command line and what links below them lead to, what options name,
 * and what any program reads. With --verbose it says on stderr what holds.
 */
void ts_confine_command(const struct ts_cli *cli);
/* An option names what the command writes. */
bool ts_names_output(const struct ts_cli *cli);

#endif
