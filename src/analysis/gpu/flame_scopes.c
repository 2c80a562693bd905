/* SPDX-License-Identifier: Apache-2.0 */
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

static uint32_t id_of(struct naming *naming, struct ts_bytes text)
{
	uint32_t id = ts_strmap_find(&naming->ids, text);

	if (id != TS_NONE)
		return id;
	id = (uint32_t)naming->nr;
	if (!ts_grow(&naming->texts, &naming->cap, naming->nr + 1, sizeof(*naming->texts)) ||
	    !ts_strmap_set(&naming->ids, text, id))
		return TS_NONE;
	naming->texts[naming->nr++] = text;
	return id;
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

static uint32_t child(struct flame_tree *tree, struct naming *naming, uint32_t parent,
		      struct ts_bytes text, uint32_t flag)
{
	uint32_t id = id_of(naming, text);

	return id == TS_NONE ? TS_NONE : ts_flame_tree_child(tree, parent, id | flag);
}

/* False: no memory. */
static bool put_op(struct flame_tree *tree, struct naming *naming, const struct ts_op_fact *op)
{
	struct ts_bytes path = op->framework_op.n > 0 ? op->framework_op : TS_LIT("(no scope)");
	uint32_t at = TS_NONE;

	while (path.n > 0) {
		struct ts_bytes part = next_part(&path);

		if (part.n == 0)
			continue;
		at = child(tree, naming, at, part, 0);
		if (at == TS_NONE)
			return false;
	}
	at = child(tree, naming, at, op->name, FLAME_DEVICE);
	if (at == TS_NONE)
		return false;
	tree->nodes[at].device_ps = ts_i64_add(tree->nodes[at].device_ps, TS_MAX(op->self_ps, 0));
	tree->nodes[at].count += (uint64_t)op->occurrences;
	return true;
}

static bool put_ops(struct flame_tree *tree, struct naming *naming, const struct ts_ops_facts *ops)
{
	bool good = true;

	for (size_t i = 0; i < ops->nr && good; i++) {
		uint32_t *moved = NULL;

		if (tree->nr >= FLAME_NODES)
			good = ts_flame_tree_shrink(tree, FLAME_NODES / 2, &moved);
		free(moved);
		if (good && ops->items[i].occurrences > 0)
			good = put_op(tree, naming, &ops->items[i]);
	}
	return good;
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
	bool good = !has_scopes(ops) || put_ops(tree, &naming, ops);

	ts_strmap_release(&naming.ids);
	*texts = naming.texts;
	return good ? TS_OK : ts_fail_nomem(err);
}
