/* SPDX-License-Identifier: MIT */
/*
 * Outputs of the result `flame`, beside those of any result. How much of it: struct ts_report's
 * .tree, .weight, .min_duration_ps, .max_depth and .group_small.
 */
#ifndef TS_WRITE_FLAME_OUTPUTS_H
#define TS_WRITE_FLAME_OUTPUTS_H

#include "write/output.h"

extern const struct ts_output ts_output_flame_text;   /* the heaviest paths, and a tree */
extern const struct ts_output ts_output_flame_json;   /* nested, as d3-flame-graph reads it */
extern const struct ts_output ts_output_flame_folded; /* a line a path, as flamegraph.pl reads it */
extern const struct ts_output ts_output_flame_speedscope;

/* Names that struct ts_report's .tree and .weight may be, by number; NULL behind the last. */
const char *ts_flame_tree(size_t index);
const char *ts_flame_weight(size_t index);

#endif
