/* SPDX-License-Identifier: MIT */
/*
 * Manual pages (roff, man(7)) and completions of shells, made of the tables of commands and options. What they print depends
 * on the program alone, and not on the machine: the build keeps it in manual/ (files.mk), and a tarball brings it along.
 */
#ifndef TS_CLI_MANUAL_MANUAL_H
#define TS_CLI_MANUAL_MANUAL_H

#include "base/buf.h"
#include "cli/cli.h"

/* What a shell can say of an option's value. */
enum ts_completed {
	TS_COMPLETE_NONE,  /* it has none */
	TS_COMPLETE_ANY,   /* a number, a time, a text */
	TS_COMPLETE_NAMES, /* ts_option_name() */
	TS_COMPLETE_FILES,
	TS_COMPLETE_SETTINGS, /* NAME=VALUE of a threshold */
};
enum ts_completed ts_completed_by(const struct ts_option *option, const struct ts_command *command);
/* May the option be given several times? */
bool ts_option_repeats(const struct ts_option *option);

/* Calls VISIT for each option of COMMAND: its own, then those of all commands. */
typedef void ts_visit_option(struct ts_buf *out, const struct ts_option *option,
			     const struct ts_command *command);
void ts_each_option(struct ts_buf *out, const struct ts_command *command, ts_visit_option *visit);

/* The commands are a list with NULL at its end, as ts_commands, which is not named here: it names the command manual. */
typedef const struct ts_command *const ts_command_list[];
void ts_manual_program(struct ts_buf *out, ts_command_list commands); /* tpusight.1 */
/* tpusight-NAME.1; annotate is a program, too. */
void ts_manual_command(struct ts_buf *out, const struct ts_command *command);

/* A shell: its name for --completion, and its script. */
struct ts_shell {
	const char *name;
	void (*put)(struct ts_buf *out, ts_command_list commands);
};
extern const struct ts_shell ts_shells[]; /* without a name at the end */
void ts_complete_bash(struct ts_buf *out, ts_command_list commands);
void ts_complete_zsh(struct ts_buf *out, ts_command_list commands);
void ts_complete_fish(struct ts_buf *out, ts_command_list commands);

#endif
