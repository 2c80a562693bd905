/* SPDX-License-Identifier: MIT */
/*
 * An input as a tree: a field, a member of an object, a file of an archive is a node. The changes
 * that need no more than that are here; what a node holds is its format's matter. Nodes live in an
 * arena, texts are views into the input.
 */
#ifndef TESTS_FUZZ_MUTATE_TREE_H
#define TESTS_FUZZ_MUTATE_TREE_H

#include "base/arena.h"
#include "tests/fuzz/mutate/mutator.h"

enum node_kind {
	NODE_INNER,  /* holds others */
	NODE_NUMBER, /* .number */
	NODE_TEXT,   /* .text */
};

struct node {
	struct node *next;  /* behind it, in the same node */
	struct node *first; /* inside it */
	enum node_kind kind;
	uint32_t tag; /* what it is there: nodes with one tag can stand for each other */
	uint32_t wire;
	uint64_t number;
	struct ts_bytes key, text;
	size_t lie; /* the length that is written is wrong by so much; or the end is missing */
};

struct tree {
	struct ts_arena *arena;
	struct rng *rng;
	struct node *top; /* holds all of it */
	struct node *other;
	bool sound;
	/* A leaf gets another value, a node another nature: the format's own. */
	void (*change)(struct tree *tree, struct node *node);
};

/* NULL: no memory, or the tree is very large already. */
struct node *tree_node(struct tree *tree, enum node_kind kind, uint32_t tag);
struct node *tree_copy(struct tree *tree, const struct node *node);
/* A copy of the bytes that lives as long as the tree. */
struct ts_bytes tree_keep(struct tree *tree, struct ts_buf *text);
/* Any node below the top; the top itself where there is not one. */
struct node *tree_any(struct tree *tree);
/* The text after LLVMFuzzerMutate(). */
struct ts_bytes tree_bytes(struct tree *tree, struct ts_bytes text);
/* A number at an edge, beside the old one, or far from it. */
uint64_t tree_number(struct rng *rng, uint64_t old);

/* A format whose inputs are trees. */
struct tree_format {
	struct node *(*parse)(struct tree *tree, struct ts_bytes bytes); /* NULL: not this format */
	void (*print)(struct ts_buf *out, const struct node *top);
	void (*change)(struct tree *tree, struct node *node);
	void (*changes)(struct tree *tree); /* of the whole input, as tree_changes() is */
};

/* What a mutator's .apply does: the input is read, changed and written. */
bool tree_apply(const struct tree_format *format, const struct mutation *mutation);

/* One change, chosen by chance. */
void tree_change(struct tree *tree);
/* A few of them. */
void tree_changes(struct tree *tree);

#endif
