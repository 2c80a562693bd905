/* SPDX-License-Identifier: MIT */
/* The signals that end a command which runs until it is told to: one thread waits for them. */
#ifndef TS_CLI_ENDING_H
#define TS_CLI_ENDING_H

#include <signal.h>

/*
 * Blocks them, in this thread and those that it makes from now on, and says in ENDS which they are, for sigwait():
 * SIGINT, SIGTERM, and SIGHUP, but for one that is ignored, as nohup has it: there the command outlives its terminal.
 */
void ts_block_endings(sigset_t *ends);

#endif
