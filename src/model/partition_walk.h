/* SPDX-License-Identifier: MIT */
/* The inside of model/partition.h: walks over the module as the partitioner got it. */
#ifndef TS_MODEL_PARTITION_WALK_H
#define TS_MODEL_PARTITION_WALK_H

#include "model/partition.h"

/*
 * No walk is longer than this, whatever a module says: operands or users of one op, ops of one place, ops that are followed. What lies
 * behind is not found.
 */
#define TS_PARTITION_MOST 64
#define TS_PARTITION_ALIKE 1024
#define TS_PARTITION_STEPS 4096

/* Its result has the dimensions of its operands, each element made of the elements at its place. */
bool ts_partition_is_elementwise(const struct ts_hlo_instr *instr);
/* Says who asks for what .value is resharded to, what it was and becomes, and what to ask for instead. */
void ts_partition_walk(const struct ts_partition *partition, const struct ts_hlo_instr *collective,
		       struct ts_resharding *found);

#endif
