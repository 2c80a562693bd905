/* SPDX-License-Identifier: MIT */
/*
 * Changes of a tree: nodes go, come twice, change places, take another's place or value. A number
 * may change everywhere where it stands, so that what refers to something still does.
 */
#include "tests/fuzz/mutate/tree.h"

#define MAX_BYTES (4 << 20) /* of the nodes of one tree: a copy of a copy of a copy ends here */
#define MAX_NR	  4	    /* changes at once */
#define MAX_TWICE 6	    /* copies at once */

struct node *tree_node(struct tree *tree, enum node_kind kind, uint32_t tag)
{
	struct node *node = NULL;

	if (tree->arena->total < MAX_BYTES)
		node = ts_arena_zalloc(tree->arena, sizeof(*node));
	if (node) {
		node->kind = kind;
		node->tag = tag;
	}
	return node;
}

struct node *tree_copy(struct tree *tree, const struct node *node)
{
	struct node *copy = tree_node(tree, node->kind, node->tag), **last;

	if (!copy)
		return NULL;
	*copy = *node;
	copy->next = copy->first = NULL;
	last = &copy->first;
	for (const struct node *child = node->first; child; child = child->next) {
		*last = tree_copy(tree, child);
		if (!*last)
			break;
		last = &(*last)->next;
	}
	return copy;
}

struct ts_bytes tree_keep(struct tree *tree, struct ts_buf *text)
{
	struct ts_bytes kept = ts_arena_copy(tree->arena, ts_buf_bytes(text));

	ts_buf_release(text);
	return kept.p ? kept : (struct ts_bytes){ (const uint8_t *)"", 0 };
}

struct ts_bytes tree_bytes(struct tree *tree, struct ts_bytes text)
{
	struct ts_buf changed = TS_BUF_INIT;

	fuzz_bytes(&changed, text);
	return tree_keep(tree, &changed);
}

uint64_t tree_number(struct rng *rng, uint64_t old)
{
	static const uint64_t edges[] = {
		0,	     1,		 127,
		128,	     255,	 256,
		INT32_MAX,   0x80000000, UINT32_MAX,
		0x100000000, 1ULL << 53, INT64_MAX - 1,
		INT64_MAX,   1ULL << 63, UINT64_MAX - 1,
		UINT64_MAX,
	};

	switch (rng_below(rng, 8)) {
	case 0:	 return old + 1;
	case 1:	 return old - 1;
	case 2:	 return old * (2 + rng_below(rng, 1000));
	case 3:	 return old / (2 + rng_below(rng, 1000));
	case 4:	 return old ^ UINT64_C(1) << rng_below(rng, 64);
	case 5:	 return rng_next(rng) >> rng_below(rng, 64);
	default: return edges[rng_below(rng, TS_NELEM(edges))];
	}
}

/* A place in a tree: the pointer that leads to the node, so that the node can be taken out there. */
struct pick {
	struct rng *rng;
	const struct node *like; /* the same tag, and not itself; NULL: any */
	bool leaf;		 /* those that hold no others */
	uint64_t nr;
	struct node **place;
};

static bool fits(const struct pick *pick, const struct node *node)
{
	if (pick->leaf && node->kind == NODE_INNER)
		return false;
	return !pick->like || (node != pick->like && node->tag == pick->like->tag &&
			       node->kind == pick->like->kind);
}

static void pick_from(struct pick *pick, struct node **place)
{
	for (; *place; place = &(*place)->next) {
		if (fits(pick, *place) && rng_below(pick->rng, ++pick->nr) == 0)
			pick->place = place;
		pick_from(pick, &(*place)->first);
	}
}

/* NULL: no node fits. */
static struct node **pick_place(struct tree *tree, struct node *top, const struct node *like)
{
	struct pick pick = { .rng = tree->rng, .like = like };

	pick_from(&pick, &top->first);
	return pick.place;
}

static struct node **any(struct tree *tree)
{
	return pick_place(tree, tree->top, NULL);
}

struct node *tree_any(struct tree *tree)
{
	struct node **place = any(tree);

	return place ? *place : tree->top;
}

static struct node **any_leaf(struct tree *tree)
{
	struct pick pick = { .rng = tree->rng, .leaf = true };

	pick_from(&pick, &tree->top->first);
	return pick.place;
}

static void put_at(struct node **place, struct node *node)
{
	if (node) {
		node->next = *place;
		*place = node;
	}
}

static struct node *take_from(struct node **place)
{
	struct node *node = *place;

	*place = node->next;
	node->next = NULL;
	return node;
}

static void drop(struct tree *tree)
{
	take_from(any(tree));
}

static void twice(struct tree *tree)
{
	struct node **place = any(tree);

	for (uint64_t nr = 1 + rng_below(tree->rng, MAX_TWICE); nr > 0; nr--)
		put_at(place, tree_copy(tree, *place));
}

static void swap(struct tree *tree)
{
	struct node **place = any(tree), *first = take_from(place);

	if (*place)
		put_at(&(*place)->next, first);
	else
		put_at(place, first);
}

static void move(struct tree *tree)
{
	struct node *node = take_from(any(tree)), **place = any(tree);

	put_at(place ? place : &tree->top->first, node);
}

/* The places of this tree, or of the other input where there is one. */
static struct node *source(struct tree *tree)
{
	return tree->other && rng_below(tree->rng, 4) > 0 ? tree->other : tree->top;
}

static void replace(struct tree *tree)
{
	struct node **place = any(tree), **from = pick_place(tree, source(tree), *place);
	struct node *copy = from ? tree_copy(tree, *from) : NULL;

	if (copy) {
		take_from(place);
		put_at(place, copy);
	}
}

/* A node comes to a place where others like it are. */
static void add(struct tree *tree)
{
	struct node **from = pick_place(tree, source(tree), NULL), **place;

	if (!from)
		return;
	place = pick_place(tree, tree->top, *from);
	if (place)
		put_at(place, tree_copy(tree, *from));
}

static void deepen(struct tree *tree)
{
	struct node **place = any(tree);

	if ((*place)->kind == NODE_INNER)
		put_at(&(*place)->first, tree_copy(tree, *place));
}

static void change(struct tree *tree)
{
	struct node **place = rng_below(tree->rng, 8) > 0 ? any_leaf(tree) : any(tree);

	if (place)
		tree->change(tree, *place);
}

/* A leaf takes the value of another: an id that is in use, a time of another event. */
static void borrow(struct tree *tree)
{
	struct node **place = any_leaf(tree), **from;

	if (!place)
		return;
	from = any_leaf(tree);
	if ((*place)->kind == (*from)->kind) {
		(*place)->number = (*from)->number;
		(*place)->text = (*from)->text;
	}
}

static void rename_in(struct node *node, const struct node *old, const struct node *new)
{
	for (; node; node = node->next) {
		if (node->kind == old->kind && node->kind != NODE_INNER &&
		    node->number == old->number && ts_bytes_eq(node->text, old->text)) {
			node->number = new->number;
			node->text = new->text;
		}
		rename_in(node->first, old, new);
	}
}

/* A value changes wherever it stands. */
static void rename_all(struct tree *tree)
{
	struct node **place = any_leaf(tree), old, new;

	if (!place)
		return;
	old = **place;
	tree->change(tree, *place);
	new = **place;
	if (new.kind == old.kind)
		rename_in(tree->top->first, &old, &new);
}

static void lie(struct tree *tree)
{
	struct node **place = any(tree);

	if (tree->sound)
		change(tree);
	else
		(*place)->lie = 1 + (size_t)rng_below(tree->rng, 300);
}

struct change_row {
	unsigned weight;
	void (*run)(struct tree *tree);
};

static const struct change_row changes[] = {
	{ 10, change }, { 4, borrow },	{ 2, rename_all }, { 3, drop },	  { 3, twice }, { 2, swap },
	{ 2, move },	{ 4, replace }, { 3, add },	   { 1, deepen }, { 1, lie },
};

void tree_change(struct tree *tree)
{
	uint64_t all = 0, at;

	if (!tree->top->first) { /* all of it was dropped */
		if (tree->other && tree->other->first)
			put_at(&tree->top->first, tree_copy(tree, tree->other->first));
		return;
	}
	for (size_t i = 0; i < TS_NELEM(changes); i++)
		all += changes[i].weight;
	at = rng_below(tree->rng, all);
	for (size_t i = 0; i < TS_NELEM(changes); at -= changes[i++].weight)
		if (at < changes[i].weight) {
			changes[i].run(tree);
			return;
		}
}

void tree_changes(struct tree *tree)
{
	for (uint64_t nr = 1 + rng_below(tree->rng, MAX_NR); nr > 0; nr--)
		tree_change(tree);
}

bool tree_apply(const struct tree_format *format, const struct mutation *mutation)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct tree tree = { .arena = &arena,
			     .rng = mutation->rng,
			     .sound = mutation->sound,
			     .change = format->change };

	tree.top = format->parse(&tree, mutation->in);
	tree.other = mutation->other.n ? format->parse(&tree, mutation->other) : NULL;
	if (tree.top) {
		format->changes(&tree);
		format->print(mutation->out, tree.top);
	}
	ts_arena_release(&arena);
	return tree.top != NULL;
}
