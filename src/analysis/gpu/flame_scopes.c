/* SPDX-License-Identifier: MIT */
/*
 * The scopes of device ops as a tree: jit(step)/while/body/dot_general, and the ops below it, from
 * the facts of ops. A slash inside parentheses does not part a name: transpose(jvp(a/b)) is one
 * scope.
 */
#include "analysis/gpu/flame.h"

struct naming {
	struct ts_strmap ids;
	struct ts_bytes *texts;
	size_t nr, cap;
};

static enum ts_status flame_scopes_id_of(struct naming *naming, struct ts_bytes text, uint32_t *id,
					 struct ts_error *err)
{
	*id = ts_strmap_find(&naming->ids, text);
	if (*id != TS_NONE)
		return TS_OK;
	*id = (uint32_t)naming->nr;
	if (!ts_grow(&naming->texts, &naming->cap, naming->nr + 1, sizeof(*naming->texts)) ||
	    !ts_strmap_set(&naming->ids, text, *id))
		return ts_fail_nomem(err);
	naming->texts[naming->nr++] = text;
	return TS_OK;
}

/* The next part of a path; the rest is left in *PATH. */
static struct ts_bytes next_part(struct ts_bytes *path)
{
	struct ts_bytes part;
	size_t n = 0, depth = 0;

	for (; n < path->n && (depth > 0 || path->p[n] != '/'); n++) {
		depth += path->p[n] == '(';
		depth -= depth > 0 && path->p[n] == ')';
	}
	part = ts_bytes_cut(*path, 0, n);
	*path = ts_bytes_cut(*path, n + 1, path->n);
	return part;
}

/* *AT: the node under which TEXT's is, which it becomes. */
static enum ts_status flame_scopes_enter(struct flame_tree *tree, struct naming *naming,
					 struct ts_bytes text, uint32_t flag, uint32_t *at,
					 struct ts_error *err)
{
	uint32_t id;
	enum ts_status st = flame_scopes_id_of(naming, text, &id, err);

	return st ? st : ts_flame_tree_child(tree, *at, id | flag, at, err);
}
static enum ts_status flame_scopes_put_op(struct flame_tree *tree, struct naming *naming,
					  const struct ts_op_fact *op, struct ts_error *err)
{
	struct ts_bytes path = op->framework_op.n > 0 ? op->framework_op : TS_LIT("(no scope)");
	uint32_t at = TS_NONE;
	enum ts_status st = TS_OK;

	while (path.n > 0 && !st) {
		struct ts_bytes part = next_part(&path);

		if (part.n > 0)
			st = flame_scopes_enter(tree, naming, part, 0, &at, err);
	}
	if (st)
		return st;
	st = flame_scopes_enter(tree, naming, op->name, FLAME_DEVICE, &at, err);
	if (st)
		return st;
	tree->nodes[at].device_ps = ts_i64_add(tree->nodes[at].device_ps, TS_MAX(op->self_ps, 0));
	tree->nodes[at].count += (uint64_t)op->occurrences;
	return TS_OK;
}

static enum ts_status flame_scopes_put_ops(struct flame_tree *tree, struct naming *naming,
					   const struct ts_ops_facts *ops, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < ops->nr && !st; i++) {
		uint32_t *moved = NULL;

		if (tree->nr >= FLAME_NODES)
			st = ts_flame_tree_shrink(tree, FLAME_NODES / 2, &moved, err);
		free(moved);
		if (!st && ops->items[i].occurrences > 0)
			st = flame_scopes_put_op(tree, naming, &ops->items[i], err);
	}
	return st;
}

static bool has_scopes(const struct ts_ops_facts *ops)
{
	for (size_t i = 0; i < ops->nr; i++)
		if (ops->items[i].framework_op.n > 0)
			return true;
	return false;
}

enum ts_status ts_flame_scopes(const struct ts_context *ctx, struct flame_tree *tree,
			       struct ts_bytes **texts, struct ts_error *err)
{
	const struct ts_ops_facts *ops = ts_ops_facts(ctx);
	struct naming naming = { .nr = 0 };
	enum ts_status st = has_scopes(ops) ? flame_scopes_put_ops(tree, &naming, ops, err) : TS_OK;

	ts_strmap_release(&naming.ids);
	*texts = naming.texts;
	return st;
}
