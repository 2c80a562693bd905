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

/* False: there is no such tree, no such weight. */
bool ts_flame_is_tree(const char *name);
bool ts_flame_is_weight(const char *name);

#endif
