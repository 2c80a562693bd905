/* SPDX-License-Identifier: MIT */
/* Trees of call paths with a bounded number of nodes. */
#include "analysis/gpu/flame.h"

#include "base/check.h"
#include "base/order.h"
#include "base/record.h"

static uint64_t flame_tree_key_of(uint32_t parent, uint32_t name)
{
	return (uint64_t)(parent + 1) << 32 | name; /* of a root 0 */
}

enum ts_status ts_flame_tree_child(struct flame_tree *tree, uint32_t parent, uint32_t name,
				   uint32_t *child, struct ts_error *err)
{
	TS_ASSERT_HOT(parent == TS_NONE || parent < tree->nr);
	*child = parent;
	if (parent != TS_NONE && tree->nodes[parent].name == FLAME_OTHERS)
		return TS_OK;
	*child = ts_map_find(&tree->children, flame_tree_key_of(parent, name));
	if (*child != TS_NONE)
		return TS_OK;
	*child = (uint32_t)tree->nr;
	if (tree->nr >= TS_NONE ||
	    !ts_grow(&tree->nodes, &tree->cap, tree->nr + 1, sizeof(*tree->nodes)) ||
	    !ts_map_set(&tree->children, flame_tree_key_of(parent, name), *child))
		return ts_fail_nomem(err);
	tree->nodes[tree->nr++] = (struct flame_node){ .parent = parent, .name = name };
	return TS_OK;
}

static void add_weights(struct flame_node *into, const struct flame_node *from)
{
	into->cpu_ps = ts_i64_add(into->cpu_ps, from->cpu_ps);
	into->device_ps = ts_i64_add(into->device_ps, from->device_ps);
	into->count = ts_u64_add(into->count, from->count);
}

/* Puts FROM's nodes into INTO, those that are not KEPT as FLAME_OTHERS. KEPT NULL: all are kept. */
static enum ts_status flame_tree_move(struct flame_tree *into, const struct flame_tree *from,
				      const bool *kept, uint32_t *moved, struct ts_error *err)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct flame_node *node = &from->nodes[i];
		uint32_t parent = node->parent == TS_NONE ? TS_NONE : moved[node->parent];
		enum ts_status st = ts_flame_tree_child(
			into, parent, !kept || kept[i] ? node->name : FLAME_OTHERS, &moved[i], err);

		if (st)
			return st;
		add_weights(&into->nodes[moved[i]], node);
		into->nr_folded += kept && !kept[i] && node->name != FLAME_OTHERS;
	}
	into->nr_folded += from->nr_folded;
	return TS_OK;
}

enum ts_status ts_flame_tree_add(struct flame_tree *into, const struct flame_tree *from,
				 struct ts_error *err)
{
	uint32_t *moved = calloc(from->nr + 1, sizeof(*moved));
	enum ts_status st =
		moved ? flame_tree_move(into, from, NULL, moved, err) : ts_fail_nomem(err);

	free(moved);
	return st;
}

struct flame_totals *ts_flame_tree_totals(const struct flame_tree *tree)
{
	struct flame_totals *totals = calloc(tree->nr + 1, sizeof(*totals));

	for (size_t i = tree->nr; totals && i-- > 0;) {
		const struct flame_node *node = &tree->nodes[i];
		struct flame_totals *above =
			&totals[node->parent == TS_NONE ? tree->nr : node->parent];

		totals[i].cpu_ps = ts_i64_add(totals[i].cpu_ps, node->cpu_ps);
		totals[i].device_ps = ts_i64_add(totals[i].device_ps, node->device_ps);
		above->cpu_ps = ts_i64_add(above->cpu_ps, totals[i].cpu_ps);
		above->device_ps = ts_i64_add(above->device_ps, totals[i].device_ps);
	}
	return totals;
}

double ts_flame_share(const struct flame_totals *part, const struct flame_totals *all)
{
	return fmax((double)part->cpu_ps / (double)TS_MAX(all->cpu_ps, 1),
		    (double)part->device_ps / (double)TS_MAX(all->device_ps, 1));
}

static enum ts_status flame_tree_weigh(const struct flame_tree *tree, double *shares,
				       struct ts_error *err)
{
	struct flame_totals *totals = ts_flame_tree_totals(tree);

	for (size_t i = 0; totals && i < tree->nr; i++)
		shares[i] = ts_flame_share(&totals[i], &totals[tree->nr]);
	if (!totals)
		return ts_fail_nomem(err);
	free(totals);
	return TS_OK;
}

static int by_share(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* Keeps the nodes that are heavier than the first one too many: a parent is never lighter than its
 * child. */
static enum ts_status flame_tree_choose(const struct flame_tree *tree, size_t keep, bool *kept,
					struct ts_error *err)
{
	double *shares = calloc(2 * tree->nr + 1, sizeof(*shares)), *sorted = shares + tree->nr;
	enum ts_status st = shares ? flame_tree_weigh(tree, shares, err) : ts_fail_nomem(err);

	if (st)
		goto done;
	memcpy(sorted, shares, tree->nr * sizeof(*shares));
	TS_SORT(sorted, tree->nr, by_share);
	for (size_t i = 0; i < tree->nr; i++)
		kept[i] = shares[i] > sorted[keep];
done:
	free(shares);
	return st;
}

enum ts_status ts_flame_tree_shrink(struct flame_tree *tree, size_t keep, uint32_t **moved,
				    struct ts_error *err)
{
	struct flame_tree small = { .nr_folded = 0 };
	bool *kept = calloc(tree->nr + 1, sizeof(*kept));
	enum ts_status st = TS_OK;

	*moved = calloc(tree->nr + 1, sizeof(**moved));
	if (!kept || !*moved) {
		st = ts_fail_nomem(err);
		goto done;
	}
	memset(kept, true, tree->nr);
	if (tree->nr > keep)
		st = flame_tree_choose(tree, keep, kept, err);
	if (st)
		goto done;
	st = flame_tree_move(&small, tree, kept, *moved, err);
done:
	free(kept);
	ts_flame_tree_release(st ? &small : tree);
	if (!st)
		*tree = small;
	return st;
}

bool ts_flame_tree_names_ops(const struct flame_tree *tree, size_t nr_ops)
{
	for (size_t i = 0; i < tree->nr; i++) {
		uint32_t name = tree->nodes[i].name;
		bool is_group = name >= FLAME_BACKWARD && name <= FLAME_OTHERS;

		if (!is_group && (name & ~FLAME_DEVICE) >= nr_ops)
			return false;
	}
	return true;
}

#define TS_SELF struct flame_node
static TS_RECORD(node, TS_NUMBER(1, parent, TS_BY_HAND), TS_NUMBER(2, name, TS_BY_HAND),
		 TS_NUMBER(3, cpu_ps, TS_BY_HAND), TS_NUMBER(4, device_ps, TS_BY_HAND),
		 TS_NUMBER(5, count, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct flame_tree
/* Parents stand before their children, and the map finds each node. */
static bool is_tree(const void *self)
{
	const struct flame_tree *tree = self;

	for (uint32_t i = 0; i < tree->nr; i++) {
		const struct flame_node *node = &tree->nodes[i];

		if ((node->parent != TS_NONE && node->parent >= i) ||
		    ts_map_find(&tree->children, flame_tree_key_of(node->parent, node->name)) != i)
			return false;
	}
	return tree->nr < TS_NONE && tree->children.nr == tree->nr;
}
TS_RECORD_AS(ts_flame_tree_record, tree, TS_VALID_IF(is_tree),
	     TS_RECORDS_CAP(1, nodes, nr, cap, node_record, TS_BY_NOTHING, TS_BY_HAND),
	     TS_MAP(2, children), TS_NUMBER(3, nr_folded, TS_BY_HAND));
#undef TS_SELF

void ts_flame_tree_release(struct flame_tree *tree)
{
	ts_record_release(&ts_flame_tree_record, tree);
}
