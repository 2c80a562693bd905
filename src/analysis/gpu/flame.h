/* SPDX-License-Identifier: MIT */
/*
 * The flame graph's own header: trees of call paths, and which launch belongs to which kernel. Only
 * flame*.c include it: flame.c (the pass), flame_tree.c, flame_links.c, flame_names.c,
 * flame_scopes.c and flame_report.c (the result).
 */
#ifndef TS_ANALYSIS_FLAME_H
#define TS_ANALYSIS_FLAME_H

#include "analysis/facts/ops.h"

#define TS_NEEDS(X) X(ops)
#include "analysis/kit/needs.h"

/*
 * A tree of call paths: a node for each distinct path, known by its parent and a name, which is a
 * number of the caller's. Parents stand before their children. Nodes are bounded: a full tree is
 * shrunk, which folds the lightest paths into one node a parent, FLAME_OTHERS, whose weights are
 * theirs. So sums stay exact whatever is folded.
 */
#define FLAME_NODES    131072	   /* a tree that has so many is shrunk */
#define FLAME_DEVICE   0x80000000u /* in a name: what runs on a device, under what launched it */
#define FLAME_OTHERS   0x7fffffffu
#define FLAME_OUTSIDE  0x7ffffffeu /* of modules: what no module did */
#define FLAME_LOST     0x7ffffffdu /* kernels whose launch the trace does not have */
#define FLAME_STEP     0x7ffffffcu /* steps of any number */
#define FLAME_BACKWARD 0x7ffffffbu /* of a module: what autograd did for it */

struct flame_node {
	uint32_t parent, name;	   /* parent TS_NONE: a root */
	int64_t cpu_ps, device_ps; /* its own, without its children's */
	uint64_t count;
};

struct flame_tree {
	struct flame_node *nodes;
	size_t nr, cap;
	struct ts_map children; /* parent and name -> node */
	uint64_t nr_folded;	/* paths, in FLAME_OTHERS */
};

extern const struct ts_record ts_flame_tree_record; /* for states */

/* CHILD: the node NAME under PARENT, made if it is new; under FLAME_OTHERS it is PARENT itself. */
enum ts_status ts_flame_tree_child(struct flame_tree *tree, uint32_t parent, uint32_t name,
				   uint32_t *child, struct ts_error *err);
/* Adds the nodes of FROM. May leave INTO with more nodes than FLAME_NODES. */
enum ts_status ts_flame_tree_add(struct flame_tree *into, const struct flame_tree *from,
				 struct ts_error *err);
/* Keeps the KEEP heaviest paths at most, by their share of all CPU or device time. Where each node
 * went is put into *MOVED (the caller frees it). When it fails the tree is as it was. */
enum ts_status ts_flame_tree_shrink(struct flame_tree *tree, size_t keep, uint32_t **moved,
				    struct ts_error *err);
void ts_flame_tree_release(struct flame_tree *tree);
/* Whether every name is one of these, or an index below NR_OPS. */
bool ts_flame_tree_names_ops(const struct flame_tree *tree, size_t nr_ops);

struct flame_totals { /* with the children's */
	int64_t cpu_ps, device_ps;
};
/* One a node, and behind them the total of all roots; the caller frees them. NULL: no memory. */
struct flame_totals *ts_flame_tree_totals(const struct flame_tree *tree);
/* Of CPU or of device time, whichever is more: a node's is never more than its parent's. */
double ts_flame_share(const struct flame_totals *part, const struct flame_totals *all);

enum flame_kind { FLAME_STACKS, FLAME_MODULES, FLAME_SCOPES, FLAME_NR_KINDS };
#define FLAME_NR_LIVE 2 /* those that are made of events */

/*
 * Launches that wait for their kernel, and kernels that wait for their launch (clocks of host and
 * device differ). One launch may have many kernels. The last FLAME_LAUNCHES launches are known at
 * least; kernels wait until as many do.
 */
#define FLAME_LAUNCHES 65536

struct flame_launch {
	uint64_t link;
	uint32_t node[FLAME_NR_LIVE]; /* where the kernel's time goes; TS_NONE: to the top */
};

struct flame_waiting {
	uint64_t link;
	int64_t dur_ps;	   /* -1: it found its launch */
	uint32_t op, next; /* next: of the same link, or TS_NONE */
};

struct flame_links {
	struct flame_launch *launches[2]; /* the newer, the older */
	size_t nr_launches[2], cap_launches[2];
	struct ts_map by_link[2];
	struct flame_waiting *waiting;
	size_t nr_waiting, cap_waiting;
	struct ts_map waiting_by_link; /* the newest of its link */
};

extern const struct ts_record ts_flame_links_record; /* for states: kernels that wait */

enum ts_status ts_flame_links_add(struct flame_links *links, const struct flame_launch *launch,
				  struct ts_error *err);
const struct flame_launch *ts_flame_links_find(const struct flame_links *links, uint64_t link);
/* A kernel whose launch was not seen yet; the caller keeps .nr_waiting below FLAME_LAUNCHES. */
enum ts_status ts_flame_links_wait(struct flame_links *links, uint64_t link, uint32_t op,
				   int64_t dur_ps, struct ts_error *err);
/* The first item of .waiting that waits for LINK; the others follow by .next. TS_NONE: no item
 * does. */
uint32_t ts_flame_links_waiting(const struct flame_links *links, uint64_t link);
void ts_flame_links_forget_waiting(struct flame_links *links);
void ts_flame_links_moved(struct flame_links *links, enum flame_kind tree, const uint32_t *moved);

/* SAME: of each op the first one that has the same name when the addresses of objects are taken
 * out. */
enum ts_status ts_flame_same_names(const struct ts_profile *profile, uint32_t *same,
				   struct ts_error *err);
struct ts_bytes ts_flame_name(struct ts_result *result, struct ts_bytes name); /* as it is shown */

/* The tree of the scopes of device ops, by the facts of ops. Its names are of *TEXTS (the caller
 * frees it). */
enum ts_status ts_flame_scopes(const struct ts_context *ctx, struct flame_tree *tree,
			       struct ts_bytes **texts, struct ts_error *err);

struct flame_seen { /* beside the trees */
	size_t nr_threads;
	bool has_modules; /* nn.Module; else modules are the user's own ranges */
	uint64_t nr_lost; /* kernels without a launch */
};

enum ts_status ts_flame_report(const struct ts_context *ctx,
			       struct flame_tree trees[FLAME_NR_KINDS],
			       const struct ts_bytes *scopes, const struct flame_seen *seen,
			       struct ts_result *result, struct ts_error *err);

#endif
