/* SPDX-License-Identifier: MIT */
/*
 * Programs that hlo cannot read itself: StableHLO and files of jax.export, which must be compiled, modules as text, and
 * folders of dumps. tpusight-before makes protos of them, and asks hlo again, with these and the same options.
 */
#ifndef TS_CLI_HLO_PROGRAMS_H
#define TS_CLI_HLO_PROGRAMS_H

#include "cli/cli.h"

/*
 * Becomes tpusight-before where one of the paths is such a program. True: it could not, and *CODE says why; false: there
 * is none. SLICE: "v5e:2x4", or empty.
 */
bool ts_hlo_programs_hand_over(const struct ts_cli *cli, const char *slice, enum ts_exit *code);

#endif
