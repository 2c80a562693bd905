/* SPDX-License-Identifier: MIT */
/*
 * Commands that are programs of their own, as git has them: `tpusight pod ARGS` is `tpusight-pod ARGS`, beside this
 * program or on $PATH. They are listed in the help, and know their options themselves.
 */
#ifndef TS_CLI_EXTERNAL_H
#define TS_CLI_EXTERNAL_H

#include "cli/cli.h"

struct ts_external {
	const char *name, *summary;
	const char *source; /* where the program comes from, in words for people */
};

extern const struct ts_external ts_externals[];		      /* without a name at the end */
const struct ts_external *ts_external_find(const char *name); /* NULL: none has this name */

/* Becomes the program, with ARGV behind its name (ARGV[0] is overwritten). It comes back when that
 * could not be done, which it has said then. The program finds this one in $TPUSIGHT. */
enum ts_exit ts_external_run(const struct ts_external *external, char **argv);

#endif
