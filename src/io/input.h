/* SPDX-License-Identifier: MIT */
/*
 * Input: the bytes of one file, whole and in place.
 *
 * A regular file is mapped read-only (privately: nothing of ours can reach the file). What cannot
 * be mapped (a pipe, a file of /proc) is read into memory, TS_LIMIT_STREAM bytes and half of
 * the machine's memory at most. The path "-" is standard input. The bytes live until
 * ts_input_release(); any number of threads may read them. A directory, a device, a missing, an
 * unreadable or an empty file is an error with its cause.
 *
 * A mapped file that another program cuts short during the run raises SIGBUS on the pages that are
 * gone. cli/ installs a handler that says so and ends the program, or asks for
 * ts_input_outlive_cuts(). Code that is about to write something that depends on the bytes first
 * asks ts_input_check(), which catches a file that was changed during the run.
 */
#ifndef TS_IO_INPUT_H
#define TS_IO_INPUT_H

#include "base/bytes.h"
#include "base/limits.h"

struct ts_input {
	struct ts_bytes bytes;
	const char *path; /* the caller's string; "standard input" for "-" */
	int fd;		  /* of a mapped file, for ts_newfile_copy(); -1 when in memory */
	bool mapped;
	int64_t mtime_ns; /* of a mapped file when it was opened, since the epoch */
};

#define TS_INPUT_INIT { { NULL, 0 }, NULL, -1, false, 0 }

/* PATH must live as long as the input. Missing: TS_NOTFOUND; empty: TS_FORMAT; else TS_IO. */
enum ts_status ts_input_open(struct ts_input *in, const char *path, struct ts_error *err);
/* The same of a file that was found in a folder: it must be a plain file, and nothing is waited for. */
enum ts_status ts_input_open_plain(struct ts_input *in, const char *path, struct ts_error *err);
/*
 * Reads the descriptor FD to its end, into memory whatever it is; more than MAX bytes is TS_LIMIT.
 * NAME is for messages and must live as long as the input. FD stays open, and is the caller's.
 */
enum ts_status ts_input_read(struct ts_input *in, int fd, const char *name, uint64_t max,
			     struct ts_error *err);
/* TS_IO when the file has another size or time than when it was opened. Cheap. */
enum ts_status ts_input_check(const struct ts_input *in, struct ts_error *err);
void ts_input_release(struct ts_input *in); /* harmless when not open, or twice */

/*
 * For a program that outlives its inputs: from here on, what was cut off a mapped file reads as
 * zeros, in place of the SIGBUS. The reader must ask ts_input_check() before the result counts.
 * False: the system cannot do that, and nothing has changed.
 */
bool ts_input_outlive_cuts(void);

#endif
