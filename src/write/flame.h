/* SPDX-License-Identifier: MIT */
/*
 * The flame graph's outputs: one tree of call paths (the tables of the result `flame`), cut to what is
 * worth a frame, in the forms that viewers of flame graphs read. Private to write/flame*.c, but for the
 * outputs themselves (write/flame_outputs.h).
 */
#ifndef TS_WRITE_FLAME_H
#define TS_WRITE_FLAME_H

#include "write/flame_outputs.h"

#define FLAME_NR_KINDS 3
extern const char *const ts_flame_kinds[FLAME_NR_KINDS]; /* tables of the result */

enum flame_weight { FLAME_CPU, FLAME_GPU, FLAME_COUNT, FLAME_NR_WEIGHTS };
extern const char *const ts_flame_weights[FLAME_NR_WEIGHTS]; /* cpu, device, count */

struct flame_frame {
	struct ts_bytes name;
	const char *category;
	uint32_t parent, depth; /* parent TS_NONE: a root, of depth 0 */
	int64_t self[FLAME_NR_WEIGHTS], total[FLAME_NR_WEIGHTS]; /* ps; calls */
};

/*
 * Frames stand parents first, below each the children one after the other with all that is below them.
 * What is cut away counts as its parent's own; names look into the results.
 */
struct flame_graph {
	const char *kind;
	struct flame_frame *frames;
	size_t nr, cap;
	int64_t total[FLAME_NR_WEIGHTS];
};

/* A kind that is not there has no frames; nor has a tree that memory was out for. */
enum ts_status ts_flame_graph_read(struct flame_graph *tree, const struct ts_results *results,
				   const char *kind, const struct ts_report *report,
				   struct ts_error *err);
void ts_flame_graph_release(struct flame_graph *tree);

/* The kind that the report wants, else the first that is there; NULL and TS_USAGE: none is. */
const char *ts_flame_graph_kind(const struct ts_results *results, const struct ts_report *report,
				struct ts_error *err);
/* As wanted; else CPU time of stacks, device time of the others, where there is any. */
enum flame_weight ts_flame_graph_weight(const struct flame_graph *tree,
					const struct ts_report *report);

#endif
