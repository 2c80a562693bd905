/*
 * The scopes of device ops as a tree: jit(step)/while/body/dot_general, and the ops below it, by the
 * op table. A slash inside parentheses parts nothing: transpose(jvp(a/b)) is one scope.
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

	return id == TS_NONE ? TS_NONE : flame_tree_child(tree, parent, id | flag);
}

static bool put_op(struct flame_tree *tree, struct naming *naming, const struct ts_table *ops,
		   size_t row)
{
	struct ts_bytes path = ts_cell_text(ops, row, "framework_op");
	struct ts_bytes name = ts_cell_text(ops, row, "name");
	uint32_t at = TS_NONE;

	if (path.n == 0)
		path = TS_LIT("(no scope)");
	while (path.n > 0) {
		struct ts_bytes part = next_part(&path);

		if (part.n == 0)
			continue;
		at = child(tree, naming, at, part, 0);
		if (at == TS_NONE)
			return false;
	}
	at = child(tree, naming, at, name, FLAME_DEVICE);
	if (at == TS_NONE)
		return false;
	tree->nodes[at].device_ps = ts_i64_add(tree->nodes[at].device_ps,
					       TS_MAX(ts_cell_int(ops, row, "self_time_ps"), 0));
	tree->nodes[at].count += (uint64_t)TS_MAX(ts_cell_int(ops, row, "occurrences"), 0);
	return true;
}

static bool put_ops(struct flame_tree *tree, struct naming *naming, const struct ts_table *ops)
{
	bool good = true;

	for (size_t i = 0; i < ops->nr_rows && good; i++) {
		uint32_t *moved = NULL;

		if (tree->nr >= FLAME_NODES)
			good = flame_tree_shrink(tree, FLAME_NODES / 2, &moved);
		free(moved);
		if (good && ts_cell_int(ops, i, "occurrences") > 0)
			good = put_op(tree, naming, ops, i);
	}
	return good;
}

static bool has_scopes(const struct ts_table *ops)
{
	for (size_t i = 0; ops && i < ops->nr_rows; i++)
		if (ts_cell_text(ops, i, "framework_op").n > 0)
			return true;
	return false;
}

enum ts_status flame_scopes(const struct ts_context *ctx, struct flame_tree *tree,
			    struct ts_bytes **texts, struct ts_error *err)
{
	const struct ts_result *result = ts_results_find(ctx->results, "ops");
	const struct ts_table *ops = result ? ts_result_find_table(result, "ops") : NULL;
	struct naming naming = { .nr = 0 };
	bool good = !has_scopes(ops) || put_ops(tree, &naming, ops);

	ts_strmap_release(&naming.ids);
	*texts = naming.texts;
	return good ? TS_OK : ts_fail_nomem(err);
}
