/* SPDX-License-Identifier: MIT */
/*
 * The format of a command's output: as --format says, or as the name of the file of -o does.
 *
 * A command takes part when its table has the rows --format and --output. `-o x.html` without --format
 * is HTML; a name whose format the command has not, or that contradicts --format, is wrong usage, and so is
 * a name with another ending without --format. A name without an ending says nothing.
 */
#ifndef TS_CLI_FORMAT_H
#define TS_CLI_FORMAT_H

#include "base/status.h"

struct ts_cli;
struct ts_command;

/* What -o says, of any command; NULL: nothing. */
const char *ts_output_path(const struct ts_cli *cli);

/* After the options are read: fills in the format. TS_USAGE: the file's name is refused. */
enum ts_status ts_format_settle(struct ts_cli *cli, const struct ts_command *command,
				struct ts_error *err);

#endif
